//! Messages of programs.

use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use slantpath_base::Instant;
use slantpath_live::{Host, SocketId};
use slantpath_requests::{Errno, FromProgram, SendInfo};
use slantpath_sctp as sctp;

use crate::association::{AssociationNumber, Stage};
use crate::news::{News, SocketNumber};
use crate::outcome;
use crate::sockets::Sockets;

/// Outcome of handing a piece over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The piece has been taken; no other is to be handed over before [`News::Writable`](crate::News::Writable).
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
        match self.send(now, host, number, info, destination, payload) {
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
        let info = info.unwrap_or_default();
        let id = self.association_for(now, host, number, info.association, destination)?;
        let association = self.associations.get_mut(id).ok_or(Errno::EPIPE)?;
        if association.stage == Stage::Ending {
            return Err(Errno::ESHUTDOWN);
        }
        let message = sctp::Message {
            stream: sctp::StreamId(info.stream),
            // The program's bytes go to the wire as they are.
            ppid: sctp::Ppid(u32::from_be_bytes(info.payload_protocol.to_le_bytes())),
            payload,
            is_unordered: info.flags & UNORDERED != 0,
            context: u64::from(info.context) << 32 | u64::from(association.sent),
            options: None,
        };
        association.sent = association.sent.wrapping_add(1);
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
        if let Some(destination) = destination {
            let peer = socket.address_from(destination)?;
            return match self.association_with(number, peer) {
                Some(id) => Ok(id),
                None => self.begin(now, host, number, &[destination]),
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

/// `SCTP_UNORDERED`.
pub(crate) const UNORDERED: u16 = 1;
