//! Account of the messages that an end was given: what became of them, and what the other end makes of them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_sctp::{
    self as sctp, AddressEvent, AssociationId, AssociationState, PartialMessage, ReceivedMessage,
    ReliabilityPolicy, StreamId, StreamsChanged,
};

use super::settings::STREAMS;

/// A message that an end has taken to send.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) stream: u16,
    pub(super) is_unordered: bool,
    /// True if it asks to be given up at some time.
    pub(super) may_be_abandoned: bool,
    pub(super) destination: Option<IpAddr>,
    /// True if it was given before the association was established.
    pub(super) is_early: bool,
    pub(super) fates: Fates,
    pub(super) deliveries: u32,
}

/// Number of times that an end has reported each fate of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fates {
    acknowledged: u32,
    abandoned: u32,
    failed: u32,
}

impl Given {
    pub(super) fn new(stream: u16, is_unordered: bool) -> Self {
        Self {
            stream,
            is_unordered,
            may_be_abandoned: false,
            destination: None,
            is_early: false,
            fates: Fates::default(),
            deliveries: 0,
        }
    }
}

pub(super) struct End {
    pub(super) endpoint: sctp::Endpoint,
    pub(super) id: Option<AssociationId>,
    pub(super) deadline: Option<Instant>,
    pub(super) is_closed: bool,
    /// Number of streams that it may send on.
    pub(super) outbound_streams: u16,
    /// The messages that it has taken, each by its number.
    pub(super) given: Vec<Given>,
    /// Changes of streams and of addresses that it was asked for and that have not been answered.
    pub(super) asked: [u32; 2],
    /// True if it has been given the third key.
    pub(super) has_third_key: bool,
    /// True if it has refused a message for want of room, and has not told of room since.
    pub(super) waits_for_room: bool,
    partial: PartialMessage,
    /// The Stream Sequence Number that each stream goes on with, as it is received.
    next_sequence: BTreeMap<u16, u16>,
    /// The number of the ordered message that each stream brought last.
    last_number: BTreeMap<u16, usize>,
    /// Streams whose resets, outbound and inbound, it has been told of; `None`: all.
    resets: [Vec<Option<u16>>; 2],
}

impl End {
    pub(super) fn new(endpoint: sctp::Endpoint) -> Self {
        Self {
            endpoint,
            id: None,
            deadline: None,
            is_closed: false,
            outbound_streams: STREAMS,
            given: Vec::new(),
            asked: [0, 0],
            has_third_key: false,
            waits_for_room: false,
            partial: PartialMessage::new(u64::MAX),
            next_sequence: BTreeMap::new(),
            last_number: BTreeMap::new(),
            resets: [Vec::new(), Vec::new()],
        }
    }

    /// Nothing waits to be sent, acknowledged, read or answered, and no setup or shutdown is under way.
    pub(super) fn is_at_rest(&self) -> bool {
        let Some(id) = self.id else { return self.endpoint.association_count() == 0 };
        self.endpoint.association(id).is_some_and(|association| {
            let snapshot = association.snapshot();
            snapshot.state == AssociationState::Established
                && snapshot.send_buffered == 0
                // What will not be thrown away by the peer is not kept, but said to be acknowledged in its turn.
                && snapshot.outstanding_chunks == 0
                && snapshot.receive_buffered == 0
                && self.asked == [0, 0]
        })
    }

    /// Takes note of what an end says of what it was asked for; gives a message that has come.
    pub(super) fn hear(&mut self, id: AssociationId, event: sctp::Event) -> Option<ReceivedMessage> {
        match event {
            sctp::Event::Established { outbound_streams, .. } => {
                self.id = Some(id);
                self.outbound_streams = outbound_streams;
            }
            sctp::Event::Closed(_) if self.id == Some(id) => {
                self.is_closed = true;
                self.id = None;
            }
            sctp::Event::Restarted => self.partial = PartialMessage::new(u64::MAX),
            sctp::Event::Received(message) => return Some(message),
            sctp::Event::ReceivedPart(part) => {
                return self.partial.push(part).expect("no message is too long");
            }
            sctp::Event::PartialDeliveryAborted { stream, is_unordered, sequence } => {
                self.partial.abort(stream, is_unordered);
                if !is_unordered {
                    self.next_sequence.insert(stream.0, sequence.0.wrapping_add(1));
                }
            }
            sctp::Event::Acknowledged { context } => self.note_fate(context, |fates| &mut fates.acknowledged),
            sctp::Event::Abandoned { message, .. } => {
                self.note_fate(message.context, |fates| &mut fates.abandoned);
                assert!(
                    self.given[place(message.context)].may_be_abandoned,
                    "{} is given up",
                    message.context
                );
            }
            sctp::Event::SendFailed { message, .. } => {
                self.note_fate(message.context, |fates| &mut fates.failed);
            }
            sctp::Event::SendBufferDrained { .. } => self.waits_for_room = false,
            sctp::Event::StreamsChanged(change) => self.note_streams(change),
            sctp::Event::ReconfigurationAnswered { .. } => self.note_answer(0),
            sctp::Event::Addresses(AddressEvent::Answered { .. }) => self.note_answer(1),
            _ => {}
        }
        None
    }

    fn note_fate(&mut self, context: u64, which: impl FnOnce(&mut Fates) -> &mut u32) {
        let fates = &mut self.given[place(context)].fates;
        *which(fates) += 1;
        assert_eq!(fates.acknowledged + fates.abandoned + fates.failed, 1, "message {context}: {fates:?}");
    }

    fn note_answer(&mut self, to: usize) {
        self.asked[to] = self.asked[to].checked_sub(1).expect("an answer to each request");
    }

    fn note_streams(&mut self, change: StreamsChanged) {
        let (side, streams) = match change {
            StreamsChanged::Added { outbound_streams, .. } => {
                assert!(self.outbound_streams <= outbound_streams, "streams are not taken away");
                self.outbound_streams = outbound_streams;
                return;
            }
            StreamsChanged::AssociationReset => {
                self.next_sequence.clear();
                self.resets.iter_mut().for_each(|side| side.push(None));
                return;
            }
            StreamsChanged::OutboundReset(streams) => (0, streams),
            StreamsChanged::InboundReset(streams) => (1, streams),
        };
        if streams.is_empty() {
            self.resets[side].push(None);
            if side == 1 {
                self.next_sequence.clear();
            }
        }
        for StreamId(stream) in streams {
            self.resets[side].push(Some(stream));
            if side == 1 {
                self.next_sequence.remove(&stream);
            }
        }
    }

    /// Checks that a message which arrives has been sent by the other, once, on its stream and in its order, and that
    /// messages left out there have been given up.
    pub(super) fn take(&mut self, other: &mut Self, message: &ReceivedMessage) {
        let number = message.ppid.0;
        assert_eq!(message.payload[..4], number.to_be_bytes(), "not what was sent");
        let number = place(number.into());
        let given = other.given.get_mut(number).expect("a message that was sent");
        let StreamId(stream) = message.stream;
        assert_eq!((given.stream, given.is_unordered), (stream, message.is_unordered), "message {number}");
        given.deliveries += 1;
        assert_eq!(given.deliveries, 1, "message {number} comes twice");
        if message.is_unordered {
            return;
        }
        let last = self.last_number.insert(stream, number);
        assert!(last.is_none_or(|last| last < number), "{number} of stream {stream} comes behind {last:?}");
        let mut skipped = 0_u16;
        let from = last.map_or(0, |last| last + 1);
        for (between, one) in other.given[from..number].iter().enumerate() {
            if one.stream == stream && !one.is_unordered {
                let is_given_up = one.fates.abandoned + one.fates.failed > 0;
                assert!(is_given_up, "message {} of stream {stream} is left out", from + between);
                skipped += 1;
            }
        }
        let next = self.next_sequence.entry(stream).or_default();
        let gap = message.sequence.0.wrapping_sub(*next);
        assert!(
            gap <= skipped,
            "message {number} of stream {stream} is {}: {next} was due",
            message.sequence
        );
        *next = message.sequence.0.wrapping_add(1);
    }

    /// At rest: each message that was taken has been acknowledged and has arrived, or has been given up as it asks; and
    /// what this end has been told of its streams, the other has been told as well.
    pub(super) fn judge(&self, other: &Self) {
        for (number, given) in self.given.iter().enumerate() {
            let Fates { acknowledged, abandoned, failed } = given.fates;
            assert_eq!(acknowledged + abandoned + failed, 1, "message {number} is forgotten: {given:?}");
            assert!(acknowledged == 0 || given.deliveries == 1, "message {number} is missing");
            // What is to go to an address that is not confirmed when the association begins is handed back.
            let may_fail = given.is_early && given.destination.is_some();
            assert!(failed == 0 || may_fail, "message {number} was not sent");
        }
        let is_reset = |side: &[Option<u16>], stream| side.contains(&None) || side.contains(&Some(stream));
        for stream in 0..STREAMS {
            let is_told = !is_reset(&self.resets[0], stream) || is_reset(&other.resets[1], stream);
            assert!(is_told, "the reset of stream {stream} is not told");
        }
        assert!(!self.waits_for_room, "there is room, and nobody says so");
    }
}

fn place(context: u64) -> usize {
    usize::try_from(context).expect("a place")
}

/// By which rule a message has been given up, if an event says so.
pub(super) fn policy_of(event: &sctp::Event) -> Option<&'static str> {
    let sctp::Event::Abandoned { policy, .. } = event else { return None };
    Some(match policy {
        ReliabilityPolicy::Lifetime => "given up for its lifetime",
        ReliabilityPolicy::Retransmissions => "given up for its retransmissions",
        ReliabilityPolicy::Priority => "given up for its priority",
    })
}
