//! Messages that come for programs.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_live::{Host, SocketId};
use slantpath_requests::MessageInfo;
use slantpath_sctp as sctp;

use crate::inbox::{Arrived, Item};
use crate::sending::UNORDERED;
use crate::sockets::Sockets;

/// From how many bytes of messages on that a program has not read an association takes no more from SCTP, so that the
/// receive buffer fills and its window closes.
const READ_AHEAD_BYTES: usize = 65_536;
/// From how much memory of what a program has not read on its socket is told nothing more, and takes no more callers.
pub(crate) const INBOX_BYTES_MAX: usize = 4_194_304;

impl Sockets {
    /// A message has come, or a part of one.
    pub(crate) fn note_message(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        part: sctp::ReceivedPart,
    ) {
        let sctp::ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip: _ } = part;
        let cumulative_tsn = host.sctp_snapshot(id).map_or(0, |snapshot| snapshot.cumulative_tsn_received.0);
        self.note_use(now, id);
        let Some(association) = self.associations.get_mut(id) else { return };
        let Some(number) = association.owner else { return };
        let Some(socket) = self.open.get_mut(&number) else { return };
        if socket.is_reading_shut && socket.is_end_told {
            return;
        }
        association.unread_bytes += payload.len();
        if !association.is_paused && association.unread_bytes >= READ_AHEAD_BYTES {
            association.is_paused = true;
            host.pause(now, id);
        }
        let info = MessageInfo {
            stream: stream.0,
            ssn: if is_unordered { 0 } else { sequence.0 },
            flags: if is_unordered { UNORDERED } else { 0 },
            // The bytes of the wire are the program's.
            payload_protocol: u32::from_le_bytes(ppid.0.to_be_bytes()),
            tsn: tsn.0,
            cumulative_tsn,
            context: association.context,
            association: association.number.0,
        };
        let source = socket.address_for(association.peer);
        let is_end = place == sctp::PartPlace::Last;
        let interleave = socket.choices.interleave;
        let arrived = Arrived { association: id, info, source, bytes: payload, is_end };
        socket.inbox.push(Item::Message(arrived), interleave);
        self.tell_readable(number);
    }

    /// Puts a notification about an association into its socket's inbox.
    pub(crate) fn put_notification(&mut self, id: SocketId, bytes: Bytes) {
        let Some(number) = self.owner(id) else { return };
        let peer = self.associations.get(id).map(|association| association.peer);
        if let Some((socket, peer)) = self.open.get_mut(&number).zip(peer) {
            if socket.inbox.held_bytes() >= INBOX_BYTES_MAX {
                // As Linux does where its receive buffer is full: peers that come and go must not fill the memory.
                return;
            }
            let interleave = socket.choices.interleave;
            let source = socket.address_for(peer);
            socket.inbox.push(Item::Notification { association: id, source, bytes }, interleave);
            self.tell_readable(number);
        }
    }

    /// A program has been handed bytes of an association's messages.
    pub(crate) fn note_read(&mut self, now: Instant, host: &mut Host, id: SocketId, bytes: usize) {
        let Some(association) = self.associations.get_mut(id) else { return };
        association.unread_bytes = association.unread_bytes.saturating_sub(bytes);
        if association.is_paused && association.unread_bytes < READ_AHEAD_BYTES {
            association.is_paused = false;
            host.resume(now, id);
        }
    }

    /// A message has passed: an association that is shut down when it idles does not.
    pub(crate) fn note_use(&mut self, now: Instant, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        association.used_at = now;
        let owner = association.owner.and_then(|number| self.open.get(&number));
        let time = owner.map_or(0, |socket| socket.choices.autoclose_s);
        let deadline = (time != 0).then(|| now.saturating_add(Duration::from_secs(time.into())));
        self.idle.set(id.0, deadline);
    }

    /// Shuts associations down that have idled for as long as they may.
    pub(crate) fn close_idle(&mut self, now: Instant, host: &mut Host) {
        while let Some(id) = self.idle.take_due(now) {
            self.shut_down(now, host, SocketId(id));
        }
    }
}
