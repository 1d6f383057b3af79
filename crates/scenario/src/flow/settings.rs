//! Settings of the transport that flows and sessions run over, once the profile that they name is found.

use std::sync::Arc;

use slantpath_host::{DatagramConfig, Protocol};
use slantpath_reader::{Setting, Tables};
use slantpath_sctp::SctpConfig;
use slantpath_tcp::TcpConfig;

use crate::network::node::{NamedDscp, Node, ip_fields};
use crate::schema::{SctpProfile, TcpProfile};

/// Settings of a transport, from a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// Echoes of ICMP.
    Icmp,
    /// Profile of SCTP.
    Sctp(Arc<SctpProfile>),
    /// Profile of TCP.
    Tcp(Arc<TcpProfile>),
    /// Datagrams of UDP.
    Udp,
}

impl Settings {
    /// The transport at a node, whose packets may have a DSCP of their own; over SCTP with so many streams.
    pub(crate) fn protocol(
        &self,
        nodes: &Tables<Node>,
        node: &str,
        dscp: Option<Setting<NamedDscp>>,
        streams: u16,
    ) -> Protocol {
        let ip = ip_fields(nodes, node, dscp);
        match self {
            Self::Sctp(profile) => Protocol::Sctp(Box::new(SctpConfig { ip, ..profile.config(streams) })),
            Self::Tcp(profile) => Protocol::Tcp(Box::new(TcpConfig { ip, ..profile.config() })),
            // Whoever knows the ends and the network fills in the rest.
            Self::Icmp => Protocol::Echo(Box::new(DatagramConfig { ip, source_mtu: u16::MAX, peer_port: 0 })),
            Self::Udp => Protocol::Udp(Box::new(DatagramConfig { ip, source_mtu: u16::MAX, peer_port: 0 })),
        }
    }
}
