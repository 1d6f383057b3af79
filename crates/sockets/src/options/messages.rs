//! Options about messages and notifications: what is wanted, and what holds where a program says nothing.

use slantpath_requests::{Errno, SendInfo};

use super::table::SctpOption;
use super::{Call, assoc_value};
use crate::layout::{Given, Told};
use crate::notifications::{BASE, KINDS, Kind, Kinds};
use crate::socket::Socket;
use crate::sockets::Sockets;

/// Length of `struct sctp_sndrcvinfo`.
const SNDRCVINFO_LEN: usize = 32;
/// Length of `struct sctp_sndinfo`.
const SNDINFO_LEN: usize = 16;

impl Sockets {
    /// Reads an option about messages.
    pub(super) fn get_message(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        let given = call.given;
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        let choices = &socket.choices;
        let flag = |is_on: bool| Ok(Told::default().u32(is_on.into()));
        match option {
            SctpOption::AutoClose if socket.is_one_to_one() => Err(Errno::EOPNOTSUPP),
            SctpOption::AutoClose => Ok(Told::default().u32(choices.autoclose_s)),
            SctpOption::AutoAsconf => flag(choices.tells_own_addresses && has_all(socket)),
            SctpOption::DisableFragments => flag(choices.has_no_fragments),
            SctpOption::Events => {
                let told =
                    (0..KINDS).fold(Told::default(), |told, kind| told.u8(choices.events.has(kind).into()));
                Ok(told)
            }
            SctpOption::FragmentInterleave => Ok(Told::default().u32(choices.interleave)),
            SctpOption::MappedAddr => flag(choices.maps_addresses),
            SctpOption::NoDelay => flag(choices.has_no_delay),
            SctpOption::RecvNxtInfo => flag(choices.wants_next_info),
            SctpOption::RecvRcvInfo => flag(choices.wants_receive_info),
            SctpOption::ReusePort => flag(choices.reuses_port),
            SctpOption::Event => {
                let association = given.at_least(8)?.i32(0)?;
                let id = self.named(call.number, association)?;
                let of = id.and_then(|id| self.associations.get(id));
                let events = of.map_or(choices.events, |of| of.events);
                let kind = kind_of(given.u16(4)?)?;
                let told = Told::default().i32(association).u16(BASE + kind);
                Ok(told.u8(events.has(kind).into()).padded_to(8))
            }
            SctpOption::Context => {
                let association = given.at_least(8)?.i32(0)?;
                let id = self.named(call.number, association)?;
                let of = id.and_then(|id| self.associations.get(id));
                Ok(assoc_value(association, of.map_or(choices.context, |of| of.context)))
            }
            SctpOption::DefaultSendParam => {
                let association = given.at_least(SNDRCVINFO_LEN)?.i32(28)?;
                let info = self.defaults(call.number, association)?;
                let told = Told::default().u16(info.stream).u16(0).u16(info.flags).u16(0);
                let told = told.u32(info.payload_protocol).u32(info.context).u32(info.policy_value);
                Ok(told.u32(0).u32(0).i32(association))
            }
            SctpOption::DefaultSndInfo => {
                let association = given.at_least(SNDINFO_LEN)?.i32(12)?;
                let info = self.defaults(call.number, association)?;
                let told = Told::default().u16(info.stream).u16(info.flags);
                Ok(told.u32(info.payload_protocol).u32(info.context).i32(association))
            }
            SctpOption::DefaultPrInfo => {
                let association = given.at_least(12)?.i32(0)?;
                let info = self.defaults(call.number, association)?;
                let told = Told::default().i32(association).u32(info.policy_value);
                Ok(told.u16(info.policy).padded_to(12))
            }
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// Options with which messages are sent where a program says nothing.
    fn defaults(&self, number: crate::SocketNumber, association: i32) -> Result<SendInfo, Errno> {
        let id = self.named(number, association)?;
        let of = id.and_then(|id| self.associations.get(id));
        match of {
            Some(of) => Ok(of.defaults),
            None => Ok(self.open.get(&number).ok_or(Errno::EBADF)?.choices.defaults),
        }
    }

    /// Sets an option about messages.
    pub(super) fn set_message(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given;
        match option {
            SctpOption::Event => {
                let (association, kind) = (given.exactly(8)?.i32(0)?, kind_of(given.u16(4)?)?);
                let is_on = given.u8(6)? != 0;
                return self.change_events(call, association, |events| events.set(kind, is_on));
            }
            SctpOption::Events => {
                let wanted = given.0;
                if wanted.len() > usize::from(KINDS) {
                    return Err(Errno::EINVAL);
                }
                let association = super::ALL;
                return self.change_events(call, association, |events| {
                    *events = Kinds::default();
                    for (kind, is_on) in (0..).zip(wanted) {
                        events.set(kind, *is_on != 0);
                    }
                });
            }
            SctpOption::Context => {
                let (association, context) = (given.exactly(8)?.i32(0)?, given.u32(4)?);
                let targets = self.targets(call.number, association)?;
                for id in targets.ids {
                    if let Some(of) = self.associations.get_mut(id) {
                        of.context = context;
                    }
                }
                if targets.is_future {
                    self.open.get_mut(&call.number).ok_or(Errno::EBADF)?.choices.context = context;
                }
                return Ok(());
            }
            SctpOption::DefaultSendParam | SctpOption::DefaultSndInfo | SctpOption::DefaultPrInfo => {
                let (association, wanted) = default_info(given, option)?;
                return self.change_defaults(call.number, association, |info| match option {
                    SctpOption::DefaultPrInfo => {
                        (info.policy, info.policy_value) = (wanted.policy, wanted.policy_value);
                    }
                    SctpOption::DefaultSendParam => *info = wanted,
                    _ => {
                        let (policy, policy_value) = (info.policy, info.policy_value);
                        *info = SendInfo { policy, policy_value, ..wanted };
                    }
                });
            }
            _ => {}
        }
        // A socket of the other kind has none, whatever is given.
        if option == SctpOption::AutoClose && self.open.get(&call.number).is_some_and(Socket::is_one_to_one) {
            return Err(Errno::EOPNOTSUPP);
        }
        let value =
            given.exactly(4).or_else(|_| given.at_least(8))?.u32(if given.0.len() == 4 { 0 } else { 4 })?;
        let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
        let (is_one_to_one, has_all) = (socket.is_one_to_one(), has_all(socket));
        let choices = &mut socket.choices;
        let is_on = value != 0;
        match option {
            SctpOption::AutoClose => choices.autoclose_s = value,
            SctpOption::AutoAsconf if is_on && !has_all => return Err(Errno::EINVAL),
            SctpOption::AutoAsconf => choices.tells_own_addresses = is_on,
            SctpOption::DisableFragments => choices.has_no_fragments = is_on,
            SctpOption::FragmentInterleave if value > 2 => return Err(Errno::EINVAL),
            SctpOption::FragmentInterleave => choices.interleave = value,
            SctpOption::MappedAddr => choices.maps_addresses = is_on,
            SctpOption::NoDelay => choices.has_no_delay = is_on,
            SctpOption::RecvNxtInfo => choices.wants_next_info = is_on,
            SctpOption::RecvRcvInfo => choices.wants_receive_info = is_on,
            SctpOption::ReusePort if !is_one_to_one => return Err(Errno::EOPNOTSUPP),
            SctpOption::ReusePort if socket.bound.is_some() => return Err(Errno::EFAULT),
            SctpOption::ReusePort => choices.reuses_port = is_on,
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    fn change_events(
        &mut self,
        call: &mut Call<'_>,
        association: i32,
        change: impl Fn(&mut Kinds),
    ) -> Result<(), Errno> {
        let mut targets = self.targets(call.number, association)?;
        let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
        // What an accepted socket asks for holds for it as a whole.
        targets.is_future |= socket.is_one_to_one();
        if targets.is_future {
            change(&mut socket.choices.events);
        }
        let is_dry_wanted = socket.choices.events.contains(Kind::SenderDry);
        if is_dry_wanted && !socket.config.report_acknowledged {
            self.change_future(call.host, call.number, |config| config.report_acknowledged = true)?;
        }
        for id in targets.ids {
            let Some(of) = self.associations.get_mut(id) else { continue };
            let was_dry_wanted = of.events.contains(Kind::SenderDry);
            change(&mut of.events);
            if of.events.contains(Kind::SenderDry) && !was_dry_wanted {
                if let Some((endpoint, id)) = call.host.sctp_association(id) {
                    endpoint.change_settings(id, |config| config.report_acknowledged = true);
                }
                // Told at once if there is nothing to wait for.
                self.note_acknowledged(call.host, id);
            }
        }
        Ok(())
    }

    fn change_defaults(
        &mut self,
        number: crate::SocketNumber,
        association: i32,
        change: impl Fn(&mut SendInfo),
    ) -> Result<(), Errno> {
        let targets = self.targets(number, association)?;
        for id in targets.ids {
            if let Some(of) = self.associations.get_mut(id) {
                change(&mut of.defaults);
            }
        }
        if targets.is_future {
            change(&mut self.open.get_mut(&number).ok_or(Errno::EBADF)?.choices.defaults);
        }
        Ok(())
    }
}

/// Tells if a socket is bound to all addresses of the host.
fn has_all(socket: &Socket) -> bool {
    socket.bound.as_ref().is_some_and(|bound| bound.addresses.is_empty())
}

/// The kind of notification of a number, counted from the first.
fn kind_of(number: u16) -> Result<u16, Errno> {
    number.checked_sub(BASE).filter(|kind| *kind < KINDS && *kind > 0).ok_or(Errno::EINVAL)
}

/// Bits of flags that stand for a policy (`SCTP_PR_SCTP_MASK`).
const POLICY: u16 = 0x30;
/// Flags that a default may have: unordered, another address, to be acknowledged at once, and the two ends.
const FLAGS: u16 = 0x1 | 0x2 | 0x4 | 0x8 | 0x200;

fn default_info(given: Given<'_>, option: SctpOption) -> Result<(i32, SendInfo), Errno> {
    let (association, info) = match option {
        SctpOption::DefaultPrInfo => {
            given.exactly(12)?;
            let (policy, policy_value) = (given.u16(8)?, given.u32(4)?);
            if policy & !POLICY != 0 {
                return Err(Errno::EINVAL);
            }
            let policy_value = if policy == 0 { 0 } else { policy_value };
            (given.i32(0)?, SendInfo { policy, policy_value, ..SendInfo::default() })
        }
        SctpOption::DefaultSendParam => {
            given.exactly(SNDRCVINFO_LEN)?;
            let (flags, lifetime) = (given.u16(4)?, given.u32(16)?);
            let policy = match flags & POLICY {
                // A lifetime by itself is that policy.
                0 if lifetime != 0 => 0x10,
                policy => policy,
            };
            let info = SendInfo {
                stream: given.u16(0)?,
                flags: flags & !POLICY,
                payload_protocol: given.u32(8)?,
                context: given.u32(12)?,
                policy,
                policy_value: lifetime,
                ..SendInfo::default()
            };
            (given.i32(28)?, info)
        }
        _ => {
            given.exactly(SNDINFO_LEN)?;
            let info = SendInfo {
                stream: given.u16(0)?,
                flags: given.u16(2)?,
                payload_protocol: given.u32(4)?,
                context: given.u32(8)?,
                ..SendInfo::default()
            };
            (given.i32(12)?, info)
        }
    };
    if info.flags & !FLAGS != 0 { Err(Errno::EINVAL) } else { Ok((association, info)) }
}
