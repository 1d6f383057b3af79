//! Events of associations, told to their sockets.

use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_live::{Host, ProgramEvent, Programs, SocketId};
use slantpath_requests::{Errno, MessageInfo};
use slantpath_sctp as sctp;

use crate::association::{Association, Stage};
use crate::inbox::{Arrived, Item};
use crate::news::SocketNumber;
use crate::outcome;
use crate::sending::UNORDERED;
use crate::sockets::Sockets;

/// From how many bytes of messages on that a program has not read an association takes no more from SCTP, so that the
/// receive buffer fills and its window closes.
const READ_AHEAD_BYTES: usize = 65_536;

impl Sockets {
    /// The host tells of an association.
    pub(crate) fn note_event(&mut self, now: Instant, host: &mut Host, id: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { listener, outbound_streams } => {
                self.note_up(now, host, id, listener, outbound_streams);
            }
            ProgramEvent::Ended { reason, .. } => self.note_end(host, id, reason.as_deref()),
            ProgramEvent::Writable => self.note_room(now, host, id),
            ProgramEvent::Sctp(event) => self.note_sctp(now, host, id, *event),
            // It is told in SCTP's own words.
            ProgramEvent::Abandoned
            | ProgramEvent::Message(_)
            | ProgramEvent::Path { .. }
            | ProgramEvent::Restarted => {}
        }
    }

    fn note_up(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        listener: Option<SocketId>,
        outbound_streams: u16,
    ) {
        let inbound_streams = host.sctp_mib_association(id).map_or(0, |row| row.in_streams);
        if self.associations.get(id).is_none() && !self.accept(now, host, id, listener) {
            host.abort_because(now, id, Bytes::new());
            return;
        }
        let Some(association) = self.associations.get_mut(id) else { return };
        let was_opening = association.stage == Stage::Opening;
        (association.outbound_streams, association.inbound_streams) = (outbound_streams, inbound_streams);
        if was_opening {
            association.stage = Stage::Up;
        }
        let owner = association.owner;
        match owner {
            None => {
                host.abort_because(now, id, Bytes::new());
            }
            Some(number) if was_opening => self.answer_connecting(number, id, Ok(())),
            Some(_) => {}
        }
        self.note_room(now, host, id);
    }

    /// An association has come to a listening port. `false` if nobody takes it.
    fn accept(&mut self, _: Instant, host: &mut Host, id: SocketId, listener: Option<SocketId>) -> bool {
        let Some(peer) = host.peer(id) else { return false };
        let place = self.places.iter().find(|(_, place)| Some(place.id) == listener);
        let Some((&port, place)) = place else { return false };
        let Some(number) = place.listener else { return false };
        let Some(socket) = self.open.get(&number) else { return false };
        let limit = socket.backlog.unwrap_or_default() as usize;
        if self.is_stopping || socket.inbox.accepted_count() > limit {
            return false;
        }
        let mut association = Association::opening(self.next_association(), Some(number), peer);
        association.stage = Stage::Up;
        self.by_number.insert(association.number, id);
        if let Some(socket) = self.open.get_mut(&number) {
            if socket.is_one_to_one() {
                let accepted = socket.accepted(id);
                let told = socket.address_for(peer);
                let new = self.insert(accepted);
                association.owner = Some(new);
                if let Some(place) = self.places.get_mut(&port) {
                    place.users.insert(new);
                }
                if let Some(socket) = self.open.get_mut(&number) {
                    socket.inbox.push(Item::Accepted { socket: new, peer: told });
                }
                self.tell_readable(number);
            } else {
                socket.associations.insert(id);
            }
        }
        self.associations.insert(id, association);
        true
    }

    fn note_end(&mut self, host: &mut Host, id: SocketId, reason: Option<&sctp::CloseReason>) {
        let Some(association) = self.associations.remove(id) else {
            host.release(id);
            return;
        };
        self.by_number.remove(&association.number);
        let was_up = association.stage != Stage::Opening;
        let error = outcome::of_end(reason, was_up);
        if let Some(number) = association.owner {
            if !was_up {
                self.answer_connecting(number, id, Err(error.unwrap_or(Errno::ECONNREFUSED)));
            }
            if let Some(socket) = self.open.get_mut(&number) {
                socket.associations.remove(&id);
                if socket.is_one_to_one() {
                    socket.is_over = was_up;
                    if was_up {
                        socket.error = error;
                        socket.is_reading_shut = true;
                        socket.is_writing_shut = true;
                    }
                }
            }
            self.tell_end(number);
        }
        host.release(id);
    }

    fn note_sctp(&mut self, now: Instant, host: &mut Host, id: SocketId, event: sctp::Event) {
        match event {
            sctp::Event::Received(message) => {
                let info = MessageInfo {
                    stream: message.stream.0,
                    ssn: message.sequence.0,
                    flags: if message.is_unordered { UNORDERED } else { 0 },
                    payload_protocol: u32::from_le_bytes(message.ppid.0.to_be_bytes()),
                    ..MessageInfo::default()
                };
                self.note_message(now, host, id, info, message.payload, true);
            }
            sctp::Event::ReceivedPart(part) => {
                let info = MessageInfo {
                    stream: part.stream.0,
                    ssn: part.sequence.0,
                    flags: if part.is_unordered { UNORDERED } else { 0 },
                    payload_protocol: u32::from_le_bytes(part.ppid.0.to_be_bytes()),
                    ..MessageInfo::default()
                };
                let is_end = part.place == sctp::PartPlace::Last;
                self.note_message(now, host, id, info, part.payload, is_end);
            }
            sctp::Event::ShutdownReceived => self.note_shutdown(id),
            _ => {}
        }
    }

    /// The peer has begun to shut an association down: nothing follows what has come.
    fn note_shutdown(&mut self, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        association.stage = Stage::Ending;
        let Some(number) = association.owner else { return };
        if let Some(socket) = self.open.get_mut(&number).filter(|socket| socket.is_one_to_one()) {
            socket.is_reading_shut = true;
        }
        self.tell_end(number);
    }

    fn note_message(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        info: MessageInfo,
        bytes: Bytes,
        is_end: bool,
    ) {
        let cumulative_tsn = host.sctp_snapshot(id).map_or(0, |snapshot| snapshot.cumulative_tsn_received.0);
        let Some(association) = self.associations.get_mut(id) else { return };
        let Some(number) = association.owner else { return };
        let Some(socket) = self.open.get_mut(&number) else { return };
        if socket.is_reading_shut && socket.is_end_told {
            return;
        }
        association.unread_bytes += bytes.len();
        if !association.is_paused && association.unread_bytes >= READ_AHEAD_BYTES {
            association.is_paused = true;
            host.pause(now, id);
        }
        let info =
            MessageInfo { tsn: cumulative_tsn, cumulative_tsn, association: association.number.0, ..info };
        let source: SocketAddr = socket.address_for(association.peer);
        socket.inbox.push(Item::Message(Arrived { association: id, info, source, bytes, is_end }));
        self.tell_readable(number);
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

    /// Number of the socket that has an association.
    pub fn owner(&self, id: SocketId) -> Option<SocketNumber> {
        self.associations.get(id)?.owner
    }
}
