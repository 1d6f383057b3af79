//! Messages of programs.

use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use slantpath_base::{Duration, Instant};
use slantpath_live::{Host, SocketId};
use slantpath_requests::{Errno, FromProgram, SendInfo};
use slantpath_sctp as sctp;

use crate::association::{AssociationNumber, Stage};
use crate::news::{News, SocketNumber};
use crate::outcome;
use crate::sockets::Sockets;
use crate::told::Told;

/// Outcome of handing a piece over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The message has ended its association, and others may follow.
    Ended,
    /// The piece has been taken; no other is to be handed over before [`News::Writable`].
    Full,
    /// The message cannot be sent. A program has asked before and knows that it may not; or its association has ended
    /// since.
    Refused(Errno),
    /// The piece has been taken, and others may follow.
    Taken,
}

impl Sockets {
    /// Takes a piece of a message ([`FromProgram::Data`]).
    pub fn take(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        header: FromProgram,
        bytes: &[u8],
    ) -> Taken {
        self.log.note(&Told::Sent(number, header, bytes));
        let FromProgram::Data { is_more, info, destination } = header else {
            return Taken::Refused(Errno::EINVAL);
        };
        let Some(socket) = self.open.get_mut(&number) else { return Taken::Refused(Errno::EBADF) };
        let (info, destination, payload) = match socket.unfinished.take() {
            None if !is_more => (info, destination, Bytes::copy_from_slice(bytes)),
            before => {
                let (first, mut collected) = before.unwrap_or_else(|| (header, BytesMut::new()));
                if collected.len() as u64 + bytes.len() as u64 <= socket.config.send_buffer_bytes {
                    collected.extend_from_slice(bytes);
                }
                if is_more {
                    socket.unfinished = Some((first, collected));
                    return Taken::Taken;
                }
                let FromProgram::Data { info, destination, .. } = first else {
                    return Taken::Refused(Errno::EINVAL);
                };
                (info, destination, collected.freeze())
            }
        };
        let ends = info.is_some_and(|info| info.flags & (flag::EOF | flag::ABORT) != 0);
        match self.send(now, host, number, info, destination, payload) {
            Ok(()) if ends => Taken::Ended,
            Ok(()) => Taken::Taken,
            Err(Errno::EAGAIN) => {
                if let Some(socket) = self.open.get_mut(&number) {
                    socket.is_full = true;
                }
                Taken::Full
            }
            Err(error) => Taken::Refused(error),
        }
    }

    /// Sends a message. What has no room is held.
    fn send(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        info: Option<SendInfo>,
        destination: Option<SocketAddr>,
        payload: Bytes,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let is_one_to_one = socket.is_one_to_one() && !socket.is_peeled_off;
        let flags = info.map_or(0, |info| info.flags);
        if flags & (flag::EOF | flag::ABORT) != 0 && is_one_to_one {
            return Err(Errno::EINVAL);
        }
        if flags & flag::EOF != 0 && !payload.is_empty() {
            return Err(Errno::EINVAL);
        }
        if flags & (flag::EOF | flag::ABORT) == 0 && payload.is_empty() {
            return Err(Errno::EINVAL);
        }
        if flags & flag::SENDALL != 0 && !socket.is_one_to_one() {
            let ids: Vec<SocketId> = socket.associations.iter().copied().collect();
            for id in ids {
                // As Linux does: who cannot be sent to is passed over.
                let _ = self.send_on(now, host, id, number, info, None, payload.clone());
            }
            return Ok(());
        }
        let wanted = info.map_or_else(|| socket.choices.defaults.association, |info| info.association);
        let id = self.association_for(now, host, number, wanted, destination)?;
        self.send_on(now, host, id, number, info, destination, payload)
    }

    /// Sends a message on an association, or ends that.
    #[expect(clippy::too_many_arguments, reason = "a message has many properties")]
    fn send_on(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        number: SocketNumber,
        info: Option<SendInfo>,
        destination: Option<SocketAddr>,
        payload: Bytes,
    ) -> Result<(), Errno> {
        let association = self.associations.get_mut(id).ok_or(Errno::EPIPE)?;
        let defaults = association.defaults;
        let info = match info {
            None => defaults,
            Some(info) if info.policy == 0 && info.policy_value == 0 => {
                SendInfo { policy: defaults.policy, policy_value: defaults.policy_value, ..info }
            }
            Some(info) => info,
        };
        if info.flags & flag::ABORT != 0 {
            host.abort_because(now, id, payload);
            return Ok(());
        }
        if association.stage == Stage::Ending {
            return Err(Errno::ESHUTDOWN);
        }
        if info.flags & flag::EOF != 0 {
            self.shut_down(now, host, id);
            return Ok(());
        }
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let destination = match destination.filter(|_| info.flags & flag::ADDR_OVER != 0) {
            Some(destination) => Some(socket.address_from(destination)?.ip()),
            None => None,
        };
        let options = sctp::SendOptions {
            sack_immediately: info.flags & flag::SACK_IMMEDIATELY != 0,
            destination,
            reliability: reliability(info.policy, info.policy_value),
        };
        let message = sctp::Message {
            stream: sctp::StreamId(info.stream),
            // The program's bytes go to the wire as they are.
            ppid: sctp::Ppid(u32::from_be_bytes(info.payload_protocol.to_le_bytes())),
            payload,
            is_unordered: info.flags & UNORDERED != 0,
            context: u64::from(info.context) << 32 | u64::from(association.sent),
            options: options.for_message(),
        };
        association.sent = association.sent.wrapping_add(1);
        association.is_wet = true;
        self.note_use(now, id);
        self.hand_over(now, host, id, message)
    }

    /// Hands a message to SCTP, or keeps it if there is no room.
    pub(crate) fn hand_over(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        message: sctp::Message,
    ) -> Result<(), Errno> {
        let (endpoint, sctp_id) = host.sctp_association(id).ok_or(Errno::EPIPE)?;
        match endpoint.send(now, sctp_id, message.clone()) {
            Ok(()) => Ok(()),
            Err(error) => {
                let errno = outcome::of_send(&error);
                if errno == Errno::EAGAIN
                    && let Some(association) = self.associations.get_mut(id)
                {
                    association.held = Some(message);
                }
                Err(errno)
            }
        }
    }

    /// The association that a message is for, which may have to be begun.
    fn association_for(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        wanted: i32,
        destination: Option<SocketAddr>,
    ) -> Result<SocketId, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.is_writing_shut || (socket.is_one_to_one() && socket.backlog.is_some()) {
            return Err(Errno::EPIPE);
        }
        if let Some(id) = socket.association() {
            return Ok(id);
        }
        if let Some(destination) = destination.filter(|_| !socket.is_peeled_off) {
            let peer = socket.address_from(destination)?;
            if let Some(id) = self.association_with(number, peer) {
                return Ok(id);
            }
            return match self.begin(now, host, number, &[destination]) {
                // There is one, by another address of the peer.
                Err(Errno::EISCONN) => self.association_at(now, host, number, peer).ok_or(Errno::EISCONN),
                begun => begun,
            };
        }
        let id = self.by_number.get(&AssociationNumber(wanted)).copied();
        id.filter(|id| socket.associations.contains(id)).ok_or(Errno::EPIPE)
    }

    /// There is room for what was held.
    pub(crate) fn note_room(&mut self, now: Instant, host: &mut Host, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        let owner = association.owner;
        if let Some(message) = association.held.take()
            && self.hand_over(now, host, id, message) == Err(Errno::EAGAIN)
        {
            return;
        }
        if self.associations.get(id).is_some_and(|association| association.is_end_wanted) {
            host.shut_down(now, id);
        }
        if let Some(number) = owner
            && let Some(socket) = self.open.get_mut(&number)
            && std::mem::take(&mut socket.is_full)
        {
            self.tell(number, News::Writable);
        }
    }
}

/// Reliability that a policy of RFC 7496 asks for.
fn reliability(policy: u16, value: u32) -> sctp::Reliability {
    match policy & flag::POLICY {
        flag::POLICY_RTX => sctp::Reliability::Retransmissions(value),
        flag::POLICY_PRIO => sctp::Reliability::Priority(value),
        flag::POLICY_TTL => sctp::Reliability::Lifetime(Duration::from_millis(value.into())),
        // A lifetime by itself (RFC 6458, section 5.3.2).
        _ if value != 0 => sctp::Reliability::Lifetime(Duration::from_millis(value.into())),
        _ => sctp::Reliability::Full,
    }
}

/// `SCTP_UNORDERED`.
pub(crate) const UNORDERED: u16 = 1;

/// Flags of a message (`enum sctp_sinfo_flags`).
mod flag {
    pub(super) const ADDR_OVER: u16 = 1 << 1;
    pub(super) const ABORT: u16 = 1 << 2;
    pub(super) const SACK_IMMEDIATELY: u16 = 1 << 3;
    pub(super) const POLICY: u16 = 0x30;
    pub(super) const POLICY_TTL: u16 = 0x10;
    pub(super) const POLICY_RTX: u16 = 0x20;
    pub(super) const POLICY_PRIO: u16 = 0x30;
    pub(super) const SENDALL: u16 = 1 << 6;
    pub(super) const EOF: u16 = 0x200;
}
