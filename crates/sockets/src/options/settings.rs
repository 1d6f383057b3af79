//! Options that are settings of SCTP.

use slantpath_base::Duration;
use slantpath_requests::Errno;
use slantpath_sctp::{Extension, PotentiallyFailed, PrimarySwitchover, SctpConfig, StreamScheduling};

use super::table::SctpOption;
use super::{ALL, CURRENT, Call, FUTURE, assoc_value};
use crate::layout::{Told, narrowed, short};
use crate::sockets::Sockets;

/// Bytes of headers around the payload of a fragment: of IPv4, SCTP and DATA.
const HEADERS: u32 = 20 + 12 + 16;
/// Number for a threshold that never applies.
const NEVER: u16 = 0xffff;

impl Sockets {
    /// Reads a setting.
    pub(super) fn get_setting(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        let given = call.given;
        // These have no identifier of an association.
        let has_no_association = matches!(
            option,
            SctpOption::InitMsg | SctpOption::AdaptationLayer | SctpOption::PartialDeliveryPoint
        );
        let association = match option {
            _ if has_no_association => 0,
            SctpOption::MaxBurst | SctpOption::MaxSeg if given.0.len() < 8 => 0,
            _ => given.at_least(least(option))?.i32(0)?,
        };
        let config = self.config_of(call.host, call.number, association)?;
        let id = self.named(call.number, association)?;
        let extensions = id.map_or(config.extensions, |id| call.host.sctp_extensions(id));
        let has = |extension| assoc_value(association, extensions.contain(extension).into());
        let told = Told::default();
        Ok(match option {
            SctpOption::RtoInfo => told
                .i32(association)
                .u32(narrowed(config.rto_initial.as_millis()))
                .u32(narrowed(config.rto_max.as_millis()))
                .u32(narrowed(config.rto_min.as_millis())),
            SctpOption::AssocInfo => {
                let peers = id.map_or(0, |id| call.host.sctp_paths(call.now, id).len());
                let snapshot = id.and_then(|id| call.host.sctp_snapshot(id));
                told.i32(association)
                    .u16(short(config.association_max_retrans.into()))
                    .u16(short(peers as u64))
                    .u32(snapshot.map_or(0, |now| narrowed(now.peer_rwnd)))
                    .u32(config.receive_buffer_bytes)
                    .u32(narrowed(config.valid_cookie_life.as_millis()))
            }
            SctpOption::InitMsg => told
                .u16(config.outbound_streams)
                .u16(config.inbound_streams)
                .u16(short(config.max_init_retransmits.into()))
                .u16(short(config.rto_max.as_millis())),
            SctpOption::AdaptationLayer => told.u32(config.adaptation_layer.unwrap_or_default()),
            SctpOption::MaxSeg if given.0.len() < 8 => told.u32(self.max_segment(call.number)?),
            SctpOption::MaxSeg => assoc_value(association, self.max_segment(call.number)?),
            SctpOption::MaxBurst if given.0.len() < 8 => told.u32(config.max_burst),
            SctpOption::MaxBurst => assoc_value(association, config.max_burst),
            SctpOption::DelayedSack if given.0.len() < 12 => {
                assoc_value(association, narrowed(config.sack_delay.as_millis()))
            }
            SctpOption::DelayedSack => {
                let delay = narrowed(config.sack_delay.as_millis());
                let frequency = if delay == 0 { 1 } else { config.sack_frequency };
                told.i32(association).u32(delay).u32(frequency)
            }
            SctpOption::PartialDeliveryPoint => {
                let half = config.receive_buffer_bytes / 2;
                told.u32(config.partial_delivery_point_bytes.unwrap_or(half))
            }
            SctpOption::PeerAddrThlds | SctpOption::PeerAddrThldsV2 => {
                let failed = match config.potentially_failed {
                    PotentiallyFailed::Above(count) => short(count.into()),
                    PotentiallyFailed::Off => NEVER,
                };
                let primary = match config.primary_switchover {
                    PrimarySwitchover::Above(count) => short(count.into()),
                    PrimarySwitchover::Off => NEVER,
                };
                let told = told.i32(association).u32(0).bytes(given.tail(8)?.get(..128).unwrap_or_default());
                let told = told.padded_to(136).u16(short(config.path_max_retrans.into())).u16(failed);
                let told = if option == SctpOption::PeerAddrThldsV2 { told.u16(primary) } else { told };
                told.padded_to(144)
            }
            SctpOption::PrSupported => has(Extension::PartialReliability),
            SctpOption::ReconfigSupported => has(Extension::Reconfiguration),
            SctpOption::InterleavingSupported => has(Extension::Interleaving),
            SctpOption::AsconfSupported => has(Extension::DynamicAddresses),
            SctpOption::AuthSupported => has(Extension::Authentication),
            SctpOption::EcnSupported => assoc_value(association, config.ecn.into()),
            SctpOption::ExposePfState => {
                assoc_value(association, if config.expose_potentially_failed { 2 } else { 1 })
            }
            SctpOption::EnableStreamReset => {
                let policy = config.reconfiguration;
                let is_on = config.extensions.contain(Extension::Reconfiguration);
                let bits = u32::from(policy.resets_streams)
                    | u32::from(policy.resets_association) << 1
                    | u32::from(policy.adds_streams) << 2;
                assoc_value(association, if is_on { bits } else { 0 })
            }
            SctpOption::StreamScheduler => assoc_value(association, number_of(config.stream_scheduling)),
            _ => return Err(Errno::ENOPROTOOPT),
        })
    }

    /// Sets a setting.
    pub(super) fn set_setting(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given;
        match option {
            SctpOption::RtoInfo => {
                given.exactly(16)?;
                let [initial, max, min] = [given.u32(4)?, given.u32(8)?, given.u32(12)?];
                self.change_checked(call, given.i32(0)?, |config| {
                    set_millis(&mut config.rto_initial, initial);
                    set_millis(&mut config.rto_max, max);
                    set_millis(&mut config.rto_min, min);
                    config.rto_min <= config.rto_initial && config.rto_initial <= config.rto_max
                })
            }
            SctpOption::AssocInfo => {
                given.exactly(20)?;
                let (retrans, life) = (given.u16(4)?, given.u32(16)?);
                self.change_checked(call, given.i32(0)?, |config| {
                    if retrans != 0 {
                        config.association_max_retrans = retrans.into();
                    }
                    set_millis(&mut config.valid_cookie_life, life);
                    true
                })
            }
            SctpOption::InitMsg => {
                given.exactly(8)?;
                let [out, inbound, attempts, timeout] =
                    [given.u16(0)?, given.u16(2)?, given.u16(4)?, given.u16(6)?];
                self.change_future(call.host, call.number, |config| {
                    set_number(&mut config.outbound_streams, out);
                    set_number(&mut config.inbound_streams, inbound);
                    if attempts != 0 {
                        config.max_init_retransmits = attempts.into();
                    }
                    // The longest timeout of the setup is the longest of all here.
                    if timeout != 0 {
                        config.rto_max = Duration::from_millis(timeout.into()).max(config.rto_min);
                        config.rto_initial = config.rto_initial.min(config.rto_max);
                    }
                })
            }
            SctpOption::AdaptationLayer => {
                let code = given.exactly(4)?.u32(0)?;
                self.change_future(call.host, call.number, |config| config.adaptation_layer = Some(code))
            }
            SctpOption::MaxSeg => {
                let bytes = if given.0.len() == 4 { given.u32(0)? } else { given.exactly(8)?.u32(4)? };
                if bytes != 0 && !(8..=65_484).contains(&bytes) {
                    return Err(Errno::EINVAL);
                }
                let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
                socket.choices.max_segment = bytes;
                if bytes == 0 {
                    return Ok(());
                }
                let mtu = short((bytes + HEADERS).max(576).into());
                self.change_future(call.host, call.number, |config| {
                    config.initial_path_mtu = config.initial_path_mtu.min(mtu);
                    config.max_path_mtu = config.max_path_mtu.min(mtu);
                    config.base_path_mtu = config.base_path_mtu.min(mtu);
                })
            }
            SctpOption::MaxBurst => {
                let (association, packets) = if given.0.len() == 4 {
                    (0, given.u32(0)?)
                } else {
                    (given.i32(0)?, given.exactly(8)?.u32(4)?)
                };
                let packets = if packets == 0 { u32::MAX } else { packets };
                self.change_config(call.host, call.number, association, |config| config.max_burst = packets)
            }
            SctpOption::DelayedSack => {
                let (delay, frequency) = match given.0.len() {
                    12 => (given.u32(4)?, given.u32(8)?),
                    8 => (given.u32(4)?, u32::from(given.u32(4)? == 0)),
                    _ => return Err(Errno::EINVAL),
                };
                if delay > 500 {
                    return Err(Errno::EINVAL);
                }
                self.change_config(call.host, call.number, given.i32(0)?, |config| {
                    set_millis(&mut config.sack_delay, delay);
                    if frequency != 0 {
                        config.sack_frequency = frequency;
                    }
                })
            }
            SctpOption::PartialDeliveryPoint => {
                let bytes = given.exactly(4)?.u32(0)?;
                let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
                // As Linux says it: more would wait for ever.
                if bytes > socket.config.receive_buffer_bytes {
                    return Err(Errno::EINVAL);
                }
                self.change_future(call.host, call.number, |config| {
                    config.partial_delivery_point_bytes = Some(bytes.max(1));
                })
            }
            SctpOption::PeerAddrThlds | SctpOption::PeerAddrThldsV2 => self.set_thresholds(call, option),
            SctpOption::PrSupported => self.set_extension(call, Extension::PartialReliability),
            SctpOption::ReconfigSupported => self.set_extension(call, Extension::Reconfiguration),
            SctpOption::InterleavingSupported => self.set_extension(call, Extension::Interleaving),
            SctpOption::AsconfSupported => self.set_extension(call, Extension::DynamicAddresses),
            SctpOption::AuthSupported => self.set_extension(call, Extension::Authentication),
            SctpOption::EcnSupported => {
                let is_on = given.exactly(8)?.u32(4)? != 0;
                self.change_future(call.host, call.number, |config| config.ecn = is_on)
            }
            SctpOption::ExposePfState => {
                let value = given.exactly(8)?.u32(4)?;
                if value > 2 {
                    return Err(Errno::EINVAL);
                }
                let is_on = value != 1;
                self.change_config(call.host, call.number, given.i32(0)?, |config| {
                    config.expose_potentially_failed = is_on;
                })
            }
            SctpOption::EnableStreamReset => {
                let bits = given.exactly(8)?.u32(4)?;
                if bits & !7 != 0 {
                    return Err(Errno::EINVAL);
                }
                self.change_config(call.host, call.number, given.i32(0)?, |config| {
                    config.reconfiguration.resets_streams = bits & 1 != 0;
                    config.reconfiguration.resets_association = bits & 2 != 0;
                    config.reconfiguration.adds_streams = bits & 4 != 0;
                    if bits != 0 {
                        config.extensions = config.extensions.with(Extension::Reconfiguration);
                    }
                })
            }
            SctpOption::StreamScheduler => {
                let scheduling = scheduling_of(given.exactly(8)?.u32(4)?).ok_or(Errno::EINVAL)?;
                // An association keeps the rule that it began with.
                if self.named(call.number, given.i32(0)?)?.is_some() {
                    return Err(Errno::EOPNOTSUPP);
                }
                self.change_future(call.host, call.number, |config| config.stream_scheduling = scheduling)
            }
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    fn set_thresholds(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given.at_least(least(option))?;
        let (path, failed) = (given.u16(136)?, given.u16(138)?);
        let primary = if option == SctpOption::PeerAddrThldsV2 { given.u16(140)? } else { NEVER };
        self.change_checked(call, given.i32(0)?, |config| {
            if path != 0 {
                config.path_max_retrans = path.into();
            }
            config.potentially_failed = match failed {
                NEVER => PotentiallyFailed::Off,
                count => PotentiallyFailed::Above(count.into()),
            };
            config.primary_switchover = match primary {
                NEVER => PrimarySwitchover::Off,
                count => PrimarySwitchover::Above(count.into()),
            };
            config.thresholds().check().is_ok()
        })
    }

    /// Offers an extension to later associations, or does not.
    fn set_extension(&mut self, call: &mut Call<'_>, extension: Extension) -> Result<(), Errno> {
        let given = call.given.exactly(8)?;
        let is_on = given.u32(4)? != 0;
        if self.named(call.number, given.i32(0)?)?.is_some() {
            return Err(Errno::EINVAL);
        }
        self.change_future(call.host, call.number, |config| {
            let has = config.extensions;
            config.extensions = if is_on { has.with(extension) } else { has.without(extension) };
        })
    }

    /// Changes settings of which not all values go together; `change` tells if these do.
    fn change_checked(
        &mut self,
        call: &mut Call<'_>,
        association: i32,
        change: impl Fn(&mut SctpConfig) -> bool,
    ) -> Result<(), Errno> {
        let named = if [CURRENT, ALL].contains(&association) { FUTURE } else { association };
        let mut tried = (*self.config_of(call.host, call.number, named)?).clone();
        if !change(&mut tried) {
            return Err(Errno::EINVAL);
        }
        self.change_config(call.host, call.number, association, |config| {
            change(config);
        })
    }

    fn max_segment(&self, number: crate::SocketNumber) -> Result<u32, Errno> {
        Ok(self.open.get(&number).ok_or(Errno::EBADF)?.choices.max_segment)
    }
}

/// Least length of the struct of an option.
const fn least(option: SctpOption) -> usize {
    match option {
        SctpOption::RtoInfo => 16,
        SctpOption::AssocInfo => 20,
        SctpOption::PeerAddrThlds | SctpOption::PeerAddrThldsV2 => 144,
        _ => 8,
    }
}

fn set_millis(setting: &mut Duration, millis: u32) {
    if millis != 0 {
        *setting = Duration::from_millis(millis.into());
    }
}

const fn set_number(setting: &mut u16, number: u16) {
    if number != 0 {
        *setting = number;
    }
}

/// Rules in the order of their numbers: those of Linux come first, then those of RFC 8260 that it numbers further on.
const RULES: [StreamScheduling; 6] = [
    StreamScheduling::FirstComeFirstServed,
    StreamScheduling::Priority,
    StreamScheduling::RoundRobin,
    StreamScheduling::FairCapacity,
    StreamScheduling::WeightedFairQueueing,
    StreamScheduling::RoundRobinPerPacket,
];

fn number_of(scheduling: StreamScheduling) -> u32 {
    RULES.iter().zip(0..).find(|(rule, _)| **rule == scheduling).map_or(0, |(_, number)| number)
}

fn scheduling_of(number: u32) -> Option<StreamScheduling> {
    RULES.get(number as usize).copied()
}
