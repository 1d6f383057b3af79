//! Events of associations, told to their sockets.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_live::{Host, ProgramEvent, Programs, SocketId};
use slantpath_requests::Errno;
use slantpath_sctp::{self as sctp, notice};

use crate::association::{Association, Stage};
use crate::inbox::Item;
use crate::news::SocketNumber;
use crate::notifications::{self, AddressState, Change, Failed, KeyChange, Kind};
use crate::outcome;
use crate::receiving::INBOX_BYTES_MAX;
use crate::socket::Socket;
use crate::sockets::Sockets;

impl Sockets {
    /// The host tells of an association.
    pub(crate) fn note_event(&mut self, now: Instant, host: &mut Host, id: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { listener, outbound_streams } => {
                self.note_up(now, host, id, listener, outbound_streams);
            }
            ProgramEvent::Ended { reason, .. } => self.note_end(host, id, reason.as_deref()),
            ProgramEvent::Restarted => self.notify_change(id, Change::Restart, 0, &[]),
            ProgramEvent::Writable => self.note_room(now, host, id),
            ProgramEvent::Sctp(event) => self.note_sctp(now, host, id, *event),
            // It is told in SCTP's own words.
            ProgramEvent::Abandoned
            | ProgramEvent::Message(_)
            | ProgramEvent::Path { .. }
            | ProgramEvent::Transmitted(_) => {}
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
        let is_new = self.associations.get(id).is_none();
        if is_new && !self.accept(now, host, id, listener) {
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
        if owner.is_none() {
            host.abort_because(now, id, Bytes::new());
            return;
        }
        if is_new || was_opening {
            if let Some(number) = owner {
                self.note_own_address(now, host, number);
            }
            self.notify_change(id, Change::CommUp, 0, &[]);
            self.tell_unauthenticated(host, id);
        }
        // Messages on streams that the peer does not have.
        self.tell_failed(id, 0);
        if let Some(number) = owner.filter(|_| was_opening) {
            self.answer_connecting(number, id, Ok(()));
        }
        self.note_use(now, id);
        self.note_room(now, host, id);
    }

    /// An association has come to a listening port. `false` if nobody takes it.
    fn accept(&mut self, now: Instant, host: &mut Host, id: SocketId, listener: Option<SocketId>) -> bool {
        let Some(peer) = host.peer(id) else { return false };
        let at = listener.and_then(|_| host.sctp_port_of(id));
        let Some((at, number)) = at.and_then(|at| Some((at, self.places.get(&at)?.listener?))) else {
            return false;
        };
        let next = self.next_association();
        let Some(socket) = self.open.get_mut(&number) else { return false };
        let is_full = socket.inbox.held_bytes() >= INBOX_BYTES_MAX;
        if self.is_stopping || is_full || socket.has_full_queue() {
            return false;
        }
        let mut association = Association::opening(now, next, number, (at, peer), &socket.choices);
        association.stage = Stage::Up;
        if socket.is_one_to_one() {
            let accepted = Socket { queued_at: Some(number), ..socket.accepted(id) };
            let told = socket.address_for(peer);
            let new = self.insert(accepted);
            association.owner = Some(new);
            if let Some(place) = self.places.get_mut(&at) {
                place.users.insert(new);
            }
            if let Some(socket) = self.open.get_mut(&number) {
                socket.inbox.push(Item::Accepted { socket: new, peer: told }, 0);
                socket.queued += 1;
                if socket.has_full_queue() {
                    host.listen_at(at, sctp::Acceptance::QueueFull);
                }
            }
            self.tell_readable(number);
        } else {
            socket.associations.insert(id);
        }
        self.keep(id, association);
        true
    }

    fn note_end(&mut self, host: &mut Host, id: SocketId, reason: Option<&sctp::CloseReason>) {
        let stage = self.associations.get(id).map(|association| association.stage);
        let was_up = stage.is_some_and(|stage| stage != Stage::Opening);
        let error = outcome::of_end(reason, was_up);
        let (code, causes) = if was_up { told_causes(reason) } else { (0, Vec::new()) };
        if stage.is_some() {
            let change = match error {
                None => Change::ShutdownComplete,
                Some(_) if was_up => Change::CommLost,
                Some(_) => Change::CannotStart,
            };
            self.notify_change(id, change, code, &causes);
        }
        self.tell_failed(id, code.into());
        self.idle.set(id.0, None);
        let owner = self.owner(id);
        self.give_to(id, None);
        let Some(association) = self.associations.remove(id) else {
            host.release(id);
            return;
        };
        self.by_number.remove(&association.number);
        if let Some(number) = owner {
            if !was_up {
                self.answer_connecting(number, id, Err(error.unwrap_or(Errno::ECONNREFUSED)));
            }
            if let Some(socket) = self.open.get_mut(&number) {
                socket.associations.remove(&id);
                let interleave = socket.choices.interleave;
                socket.inbox.abandon(id, interleave);
                if socket.is_one_to_one() {
                    socket.is_over = was_up;
                    if was_up {
                        socket.error = error;
                        // The peer has not said that nothing follows: it was told so.
                        let is_told_of = socket.has_peer_ended || socket.is_reading_shut;
                        socket.is_end_own = error.is_none() && !is_told_of;
                        socket.is_reading_shut = true;
                        socket.is_writing_shut = true;
                    }
                }
                if association.held.is_some() && std::mem::take(&mut socket.is_full) {
                    self.tell(number, crate::News::Writable);
                }
            }
            self.tell_end(number);
        }
        host.release(id);
        self.forget_at(association.place);
    }

    fn note_sctp(&mut self, now: Instant, host: &mut Host, id: SocketId, event: sctp::Event) {
        let number = self.associations.get(id).map_or(0, |association| association.number.0);
        match event {
            sctp::Event::Received(message) => {
                let sctp::ReceivedMessage { stream, sequence, ppid, tsn, payload, is_unordered, ip } =
                    message;
                let place = sctp::PartPlace::Last;
                let part =
                    sctp::ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip };
                self.note_message(now, host, id, part);
            }
            sctp::Event::ReceivedPart(part) => self.note_message(now, host, id, part),
            sctp::Event::PartialDeliveryAborted { stream, sequence, .. } => {
                if let Some(socket) = self.owner(id).and_then(|number| self.open.get_mut(&number)) {
                    let interleave = socket.choices.interleave;
                    socket.inbox.abandon(id, interleave);
                }
                self.notify(id, Kind::PartialDelivery, || {
                    notifications::partial_delivery_aborted(stream.0, sequence.0, number)
                });
            }
            sctp::Event::ShutdownReceived => self.note_shutdown(id),
            sctp::Event::Acknowledged { .. } => self.note_acknowledged(host, id),
            sctp::Event::SendFailed { message, was_sent } => {
                if let Some(association) = self.associations.get_mut(id) {
                    association.failed.push((message, was_sent));
                }
            }
            sctp::Event::Abandoned { message, was_sent, .. } => {
                self.note_failed(id, &message, was_sent, 0);
                self.note_acknowledged(host, id);
            }
            sctp::Event::PathChanged { address, state } => {
                let (state, error) = match state {
                    sctp::PathState::Active => (AddressState::Available, HEARTBEAT_SUCCESS),
                    sctp::PathState::Inactive => (AddressState::Unreachable, 0),
                    sctp::PathState::PotentiallyFailed => (AddressState::PotentiallyFailed, 0),
                    sctp::PathState::Unconfirmed => return,
                };
                self.notify_address(id, address, state, error);
            }
            sctp::Event::PrimaryChanged { address } => {
                self.notify_address(id, address, AddressState::MadePrimary, 0);
            }
            sctp::Event::Addresses(sctp::AddressEvent::PeerAdded(address)) => {
                self.notify_address(id, address, AddressState::Added, 0);
            }
            sctp::Event::Addresses(sctp::AddressEvent::PeerRemoved(address)) => {
                self.notify_address(id, address, AddressState::Removed, 0);
            }
            sctp::Event::PeerReported(causes) => {
                for cause in causes {
                    let mut data = Vec::new();
                    cause.write(&mut data);
                    self.notify(id, Kind::RemoteError, || {
                        notifications::remote_error(cause.code(), number, data.get(4..).unwrap_or_default())
                    });
                }
            }
            sctp::Event::Authentication(sctp::AuthenticationEvent::NewKey(key)) => {
                self.notify(id, Kind::Authentication, || {
                    notifications::key_change(KeyChange::New, key, number)
                });
            }
            sctp::Event::Notice(told) => {
                if let notice::Notice::AdaptationLayer { code } = *told {
                    self.notify(id, Kind::Adaptation, || notifications::adaptation(code, number));
                }
            }
            sctp::Event::StreamsChanged(change) => self.note_streams(host, id, &change),
            sctp::Event::ReconfigurationAnswered { change, result } => {
                self.note_refused_streams(id, &change, result);
            }
            _ => {}
        }
    }

    /// Tells that the peer authenticates nothing. As on Linux it is told to whoever wants to know of keys, be
    /// authentication asked for or not.
    fn tell_unauthenticated(&mut self, host: &mut Host, id: SocketId) {
        let number = self.associations.get(id).map_or(0, |association| association.number.0);
        let is_agreed = host.sctp_association(id).is_some_and(|(endpoint, id)| {
            endpoint.association(id).is_some_and(|one| one.authenticated_chunks().is_some())
        });
        if !is_agreed {
            self.notify(id, Kind::Authentication, || {
                notifications::key_change(KeyChange::NoAuthentication, 0, number)
            });
        }
    }

    /// Nothing more is sent by a key that was taken out of use.
    pub(crate) fn note_free_key(&mut self, id: SocketId, key: u16) {
        let number = self.associations.get(id).map_or(0, |association| association.number.0);
        self.notify(id, Kind::Authentication, || notifications::key_change(KeyChange::Free, key, number));
    }

    /// The peer has begun to shut an association down: nothing follows what has come.
    fn note_shutdown(&mut self, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        association.stage = Stage::Ending;
        let (of, Some(number)) = (association.number.0, association.owner) else { return };
        self.notify(id, Kind::Shutdown, || notifications::shutdown(of));
        // One that is told of changes reads that the association is over before the end.
        let is_told = self.associations.get(id).is_some_and(|one| one.events.contains(Kind::AssocChange));
        if let Some(socket) = self.open.get_mut(&number).filter(|socket| socket.is_one_to_one()) {
            socket.has_peer_ended = true;
            socket.is_reading_shut |= !is_told;
        }
        self.tell_end(number);
    }

    /// The peer has acknowledged a message: perhaps all.
    pub(crate) fn note_acknowledged(&mut self, host: &Host, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        let number = association.number.0;
        if host.sctp_snapshot(id).is_some_and(|now| now.send_buffered == 0) {
            association.is_wet = false;
            self.notify(id, Kind::SenderDry, || notifications::sender_dry(number));
        }
    }

    /// Tells of messages that have failed together, with the cause of their association's end.
    fn tell_failed(&mut self, id: SocketId, error: u32) {
        let Some(association) = self.associations.get_mut(id) else { return };
        for (message, was_sent) in std::mem::take(&mut association.failed) {
            self.note_failed(id, &message, was_sent, error);
        }
    }

    fn note_failed(&mut self, id: SocketId, message: &sctp::Message, was_sent: bool, error: u32) {
        let Some(association) = self.associations.get(id) else { return };
        let failed = Failed {
            was_sent,
            error,
            stream: message.stream.0,
            // All of it, from its first byte to its last.
            flags: 0b11 | u16::from(message.is_unordered) << 2,
            payload_protocol: u32::from_le_bytes(message.ppid.0.to_be_bytes()),
            context: u32::try_from(message.context >> 32).unwrap_or_default(),
            association: association.number.0,
            data: &message.payload,
        };
        self.notify(id, Kind::SendFailed, || notifications::send_failed(failed));
        self.notify(id, Kind::SendFailedEvent, || notifications::send_failed_event(failed));
    }

    fn note_streams(&mut self, host: &Host, id: SocketId, change: &sctp::StreamsChanged) {
        let Some(association) = self.associations.get_mut(id) else { return };
        let number = association.number.0;
        match change {
            sctp::StreamsChanged::Added { outbound_streams, inbound_streams } => {
                // As on Linux: those that were added.
                let inbound = inbound_streams.saturating_sub(association.inbound_streams);
                let outbound = outbound_streams.saturating_sub(association.outbound_streams);
                (association.outbound_streams, association.inbound_streams) =
                    (*outbound_streams, *inbound_streams);
                self.notify(id, Kind::StreamChange, || {
                    notifications::stream_change(0, number, inbound, outbound)
                });
            }
            sctp::StreamsChanged::AssociationReset => {
                let now = host.sctp_snapshot(id);
                let tsns = now.map_or([0; 2], |now| {
                    [now.cumulative_tsn_acked.0, now.cumulative_tsn_received.0].map(|tsn| tsn.wrapping_add(1))
                });
                self.notify(id, Kind::AssocReset, || notifications::assoc_reset(0, number, tsns));
            }
            sctp::StreamsChanged::InboundReset(streams) => {
                self.notify(id, Kind::StreamReset, || {
                    notifications::stream_reset(RESET_INCOMING, &numbers(streams), number)
                });
            }
            sctp::StreamsChanged::OutboundReset(streams) => {
                self.notify(id, Kind::StreamReset, || {
                    notifications::stream_reset(RESET_OUTGOING, &numbers(streams), number)
                });
            }
        }
    }

    /// A request to change streams has been answered; if it was carried out, that is told by itself.
    fn note_refused_streams(
        &mut self,
        id: SocketId,
        change: &sctp::StreamChange,
        result: sctp::chunk::ReconfigurationResult,
    ) {
        use sctp::chunk::ReconfigurationResult as Answer;
        let flags = match result {
            Answer::Performed | Answer::NothingToDo => return,
            Answer::Denied => DENIED,
            _ => FAILED,
        };
        let number = self.associations.get(id).map_or(0, |association| association.number.0);
        match change {
            sctp::StreamChange::ResetOutbound(streams) => self.notify(id, Kind::StreamReset, || {
                notifications::stream_reset(RESET_OUTGOING | flags, &numbers(streams), number)
            }),
            sctp::StreamChange::ResetInbound(streams) => self.notify(id, Kind::StreamReset, || {
                notifications::stream_reset(RESET_INCOMING | flags, &numbers(streams), number)
            }),
            sctp::StreamChange::ResetAssociation => {
                self.notify(id, Kind::AssocReset, || notifications::assoc_reset(flags, number, [0; 2]));
            }
            sctp::StreamChange::AddOutbound(streams) => self
                .notify(id, Kind::StreamChange, || notifications::stream_change(flags, number, 0, *streams)),
            sctp::StreamChange::AddInbound(streams) => self
                .notify(id, Kind::StreamChange, || notifications::stream_change(flags, number, *streams, 0)),
        }
    }

    /// Tells the program of an association, if it wants to know.
    fn notify(&mut self, id: SocketId, kind: Kind, notification: impl FnOnce() -> Bytes) {
        if self.associations.get(id).is_some_and(|association| association.events.contains(kind)) {
            self.put_notification(id, notification());
        }
    }

    fn notify_change(&mut self, id: SocketId, change: Change, error: u16, info: &[u8]) {
        let Some(association) = self.associations.get(id) else { return };
        // As Linux has it: one that is over, or never was, has no streams.
        let streams = match change {
            Change::CommUp | Change::Restart => [association.outbound_streams, association.inbound_streams],
            Change::CannotStart | Change::CommLost | Change::ShutdownComplete => [0; 2],
        };
        let number = association.number.0;
        self.notify(id, Kind::AssocChange, || {
            notifications::assoc_change(change, error, streams, number, info)
        });
    }

    fn notify_address(&mut self, id: SocketId, address: IpAddr, state: AddressState, error: i32) {
        let Some(association) = self.associations.get(id) else { return };
        let (number, port) = (association.number.0, association.peer.port());
        let Some(socket) = association.owner.and_then(|owner| self.open.get(&owner)) else { return };
        let told = socket.address_for(SocketAddr::new(address, port));
        self.notify(id, Kind::PeerAddrChange, || notifications::address_change(told, state, error, number));
    }

    /// Number of the socket that has an association.
    pub fn owner(&self, id: SocketId) -> Option<SocketNumber> {
        self.associations.get(id)?.owner
    }
}

/// `SCTP_HEARTBEAT_SUCCESS`.
const HEARTBEAT_SUCCESS: i32 = 2;
/// `SCTP_STREAM_RESET_INCOMING_SSN`.
const RESET_INCOMING: u16 = 1;
/// `SCTP_STREAM_RESET_OUTGOING_SSN`.
const RESET_OUTGOING: u16 = 2;
/// `SCTP_STREAM_RESET_DENIED`.
const DENIED: u16 = 4;
/// `SCTP_STREAM_RESET_FAILED`.
const FAILED: u16 = 8;

fn numbers(streams: &[sctp::StreamId]) -> Vec<u16> {
    streams.iter().map(|stream| stream.0).collect()
}

/// Code of the cause for which an association has ended, and the causes that came as they were on the wire: without
/// the header of their chunk, as Linux has it.
fn told_causes(reason: Option<&sctp::CloseReason>) -> (u16, Vec<u8>) {
    let (mut bytes, mut last_end) = (Vec::new(), 0);
    let causes: &[sctp::Cause] = match reason {
        Some(sctp::CloseReason::PeerAborted(causes)) => causes,
        Some(sctp::CloseReason::Aborted(cause)) => std::slice::from_ref(cause),
        _ => &[],
    };
    if matches!(reason, Some(sctp::CloseReason::PeerAborted(_))) {
        for cause in causes {
            let start = bytes.len();
            cause.write(&mut bytes);
            // The last one has no padding.
            if let Some(length) = bytes.get(start + 2..).and_then(|rest| rest.first_chunk()) {
                last_end = start + usize::from(u16::from_be_bytes(*length));
            }
        }
        bytes.truncate(last_end);
    }
    // As Linux has it: in the order of the network.
    (causes.first().map_or(0, |cause| cause.code().to_be()), bytes)
}
