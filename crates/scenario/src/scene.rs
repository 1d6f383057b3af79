//! Parts of a scenario that flows, sessions and signalling name, and in which their times lie.

use std::sync::Arc;

use slantpath_base::{DataSize, Duration};
use slantpath_profiles::default::name_of;
use slantpath_profiles::fault::before_the_end;
use slantpath_reader::{Faults, Setting, Tables, Written, resolve};

use crate::flow::schema::Transport;
use crate::flow::settings::Settings;
use crate::link::wiring::Wiring;
use crate::network::node::{HostNumber, host_number};
use slantpath_profiles::sctp::SctpProfile;
use slantpath_profiles::tcp::TcpProfile;

/// Nodes, links and profiles that something names, and the length of the run.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) wiring: Wiring<'a, Written>,
    pub(crate) sctp: &'a Tables<SctpProfile>,
    pub(crate) tcp: &'a Tables<TcpProfile>,
    /// Length of the run, unless `[scenario]` is at fault.
    pub(crate) duration: Option<Duration>,
}

impl<'a> Scene<'a> {
    /// Reports a time that lies at or after the end of the run.
    pub(crate) fn before_the_end(self, at: &Setting<Duration>, what: &str, faults: &mut Faults) {
        before_the_end(self.duration, at, what, faults);
    }

    /// Reports a profile that is not there.
    pub(crate) fn has_profile(self, transport: Transport, profile: &Setting<String>, faults: &mut Faults) {
        match transport {
            Transport::Sctp => {
                resolve(self.sctp, profile, "SCTP profile", profile.place(), faults);
            }
            Transport::Tcp => {
                resolve(self.tcp, profile, "TCP profile", profile.place(), faults);
            }
            // It is reported that there is one.
            Transport::Icmp | Transport::Udp => {}
        }
    }

    /// The SCTP profile of this name, or of whoever names none.
    pub(crate) fn sctp_profile(self, profile: Option<&Setting<String>>) -> Option<&'a SctpProfile> {
        self.sctp.find(name_of(profile))
    }

    /// The settings of a profile, or of whoever names none.
    pub(crate) fn settings(
        self,
        transport: Transport,
        profile: Option<&Setting<String>>,
    ) -> Option<Settings> {
        let name = name_of(profile);
        match transport {
            Transport::Sctp => self.sctp.find(name).cloned().map(Arc::new).map(Settings::Sctp),
            Transport::Tcp => self.tcp.find(name).cloned().map(Arc::new).map(Settings::Tcp),
            Transport::Icmp => Some(Settings::Icmp),
            Transport::Udp => Some(Settings::Udp),
        }
    }

    /// The two hosts of these names, if both are hosts.
    pub(crate) fn hosts(self, from: &str, to: &str) -> Option<[HostNumber; 2]> {
        Some([host_number(self.wiring.nodes, from)?, host_number(self.wiring.nodes, to)?])
    }

    /// The send buffer of a profile, or of whoever names none.
    pub(crate) fn send_buffer(
        self,
        transport: Transport,
        profile: Option<&Setting<String>>,
    ) -> Option<&'a Setting<DataSize>> {
        match transport {
            Transport::Sctp => self.sctp.find(name_of(profile)).map(|profile| &profile.send_buffer),
            Transport::Tcp => self.tcp.find(name_of(profile)).map(|profile| &profile.send_buffer),
            Transport::Icmp | Transport::Udp => None,
        }
    }
}
