//! The cases of stream schedulers (RFC 8260, section 3): in which order the packets have what waits on several streams.
//!
//! Four streams have their messages handed over one stream after the other, and long before the first of them has been
//! acknowledged: all but a first flight of the first stream's waits, and the scheduler has a choice.

use slantpath_live::Extension;
use slantpath_sctp::{StreamId, StreamScheduling};
use slantpath_testkit::skip;

use crate::cases::{Case, Given};
use crate::extensions::Interleaving;
use crate::network::Way;
use crate::peer::Stack;
use crate::wire::{Sent, kind};

const STREAMS: usize = 4;
/// Number of messages of each stream.
const MESSAGES: u64 = 40;
/// Several of them fit into a packet.
const SHORT: usize = 400;

/// One after the other, as the others.
pub(crate) const CASES: [Case; 6] = [
    ("streams are served in the order of their messages", |given| {
        of(StreamScheduling::FirstComeFirstServed, in_order).run(given);
    }),
    ("streams take turns", |given| of(StreamScheduling::RoundRobin, in_turn).run(given)),
    ("streams take turns packet by packet", |given| {
        // A turn of usrsctp's has up to two packets.
        let theirs = |sent: &[Sent]| packet_by_packet(sent, 2);
        let ours = |sent: &[Sent]| packet_by_packet(sent, 1);
        Schedule { theirs, ..of(StreamScheduling::RoundRobinPerPacket, ours) }.run(given);
    }),
    ("streams are served by their priority", |given| {
        Schedule { values: [3, 2, 1, 0], ..of(StreamScheduling::Priority, by_priority) }.run(given);
    }),
    ("streams have equal shares", |given| {
        let lengths = [3 * SHORT, SHORT, SHORT, 2 * SHORT];
        Schedule { lengths, is_whole: true, ..of(StreamScheduling::FairCapacity, equal_shares) }.run(given);
    }),
    ("streams have shares by their weight", |given| {
        Schedule { values: WEIGHTS, ..of(StreamScheduling::WeightedFairQueueing, weighted_shares) }
            .run(given);
    }),
];

/// A scheduler, what it is given, and how the packets show that it was followed.
struct Schedule {
    scheduling: StreamScheduling,
    /// The priorities or weights of the streams.
    values: [u16; STREAMS],
    /// Lengths of the messages of each stream, in bytes.
    lengths: [usize; STREAMS],
    /// True if messages are so short also where they are interleaved.
    is_whole: bool,
    /// Checks that the chunks that we have sent, and those that the peer has sent, followed it.
    ours: fn(&[Sent]),
    theirs: fn(&[Sent]),
}

const fn of(scheduling: StreamScheduling, check: fn(&[Sent])) -> Schedule {
    let lengths = [SHORT; STREAMS];
    Schedule { scheduling, values: [0; STREAMS], lengths, is_whole: false, ours: check, theirs: check }
}

impl Schedule {
    /// Runs it without and with interleaving, at both ends, if the peer has it.
    fn run(self, given: Given<'_>) {
        for way in [Way::ToPeer, Way::ToUs] {
            given.network.damage(0, way, "delay 150ms");
        }
        self.run_with(given, false);
        let _interleaving = Interleaving::at(given);
        self.run_with(given, true);
    }

    fn run_with(&self, given: Given<'_>, is_interleaved: bool) {
        // Linux numbers fragments of interleaved messages otherwise than RFC 8260.
        let is_cut = is_interleaved && given.stack == Stack::Usrsctp && !self.is_whole;
        let mut exchange = given.exchange(MESSAGES * STREAMS as u64).with_plans(|plan| {
            plan.block = MESSAGES;
            plan.lengths = self.lengths.map(|length| if is_cut { 10 * length } else { length }).to_vec();
        });
        exchange.links = &[0];
        exchange.have_long_timers();
        if is_interleaved {
            exchange.agree(&[Extension::Interleaving]);
        }
        exchange.sctp.stream_scheduling = self.scheduling;
        let values = (0..).map(StreamId).zip(self.values).filter(|(_, value)| *value > 0);
        exchange.sctp.stream_values = values.collect();
        let name = name_at(given.stack, self.scheduling);
        if let Some(name) = name {
            exchange.peer_options.push(("scheduler", name.to_owned()));
            if self.scheduling == StreamScheduling::Priority {
                let values = self.values.iter().map(|value| ("stream-value", value.to_string()));
                exchange.peer_options.extend(values);
            }
        } else {
            skip(&format!("{} has no {:?}", given.stack.name(), self.scheduling));
        }
        let outcome = exchange.run(|_, _| {});
        outcome.is_whole(&exchange);
        let wire = &outcome.wire;
        let (used, other) =
            if is_interleaved { (kind::I_DATA, kind::DATA) } else { (kind::DATA, kind::I_DATA) };
        let [to_peer, to_us] = wire.counts(used);
        assert!(to_peer >= MESSAGES && to_us >= MESSAGES, "{to_peer} and {to_us} chunks");
        assert_eq!(wire.counts(other), [0, 0]);
        (self.ours)(&wire.to_peer.in_order());
        if name.is_some() {
            (self.theirs)(&wire.to_us.in_order());
        }
    }
}

/// Name that a peer has for a scheduler, if it has it.
const fn name_at(stack: Stack, scheduling: StreamScheduling) -> Option<&'static str> {
    match (scheduling, stack) {
        (StreamScheduling::FirstComeFirstServed, _) => Some("first-come-first-served"),
        (StreamScheduling::RoundRobin, _) => Some("round-robin"),
        (StreamScheduling::RoundRobinPerPacket, Stack::Usrsctp) => Some("round-robin-per-packet"),
        (StreamScheduling::Priority, _) => Some("priority"),
        (StreamScheduling::FairCapacity, Stack::Usrsctp) => Some("fair-capacity"),
        _ => None,
    }
}

fn streams(sent: &[Sent]) -> Vec<u16> {
    sent.iter().map(|sent| sent.stream).collect()
}

/// Chunks that were chosen from several streams: those behind the first flight, which is the first stream's.
fn chosen(sent: &[Sent]) -> &[Sent] {
    let first = sent.iter().position(|sent| sent.stream != 0).expect("several streams");
    &sent[first..]
}

/// Chunks among the [`chosen`] ones up to the last at which each stream still has something to send.
fn contended(sent: &[Sent]) -> &[Sent] {
    let chosen = chosen(sent);
    let last = |stream| chosen.iter().rposition(|sent| usize::from(sent.stream) == stream).expect("a stream");
    let end = (0..STREAMS).map(last).min().expect("several streams");
    &chosen[..=end]
}

fn in_order(sent: &[Sent]) {
    assert!(sent.is_sorted_by_key(|sent| sent.stream), "{:?}", streams(sent));
}

/// Any four in a row are of different streams, and each has so many turns or more.
fn take_turns(served: &[u16], least: usize) {
    assert!(served.len() >= least * STREAMS, "{} turns", served.len());
    for (place, four) in served.windows(STREAMS).enumerate() {
        let mut sorted = four.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3], "at turn {place}: {served:?}");
    }
}

fn in_turn(sent: &[Sent]) {
    take_turns(&streams(contended(sent)), 15);
}

/// Each packet is of one stream, and a turn has so many of them at most.
fn packet_by_packet(sent: &[Sent], most: usize) {
    let contended = contended(sent);
    let packets: Vec<&[Sent]> = contended.chunk_by(|one, next| one.packet == next.packet).collect();
    for packet in &packets {
        assert!(packet.iter().all(|sent| sent.stream == packet[0].stream), "{packet:?}");
    }
    let served: Vec<u16> = packets.iter().map(|packet| packet[0].stream).collect();
    let turns: Vec<&[u16]> = served.chunk_by(|one, next| one == next).collect();
    assert!(turns.iter().all(|turn| turn.len() <= most), "{served:?}");
    take_turns(&turns.iter().map(|turn| turn[0]).collect::<Vec<_>>(), 5);
}

fn by_priority(sent: &[Sent]) {
    let chosen = chosen(sent);
    let begun = chosen.iter().filter(|sent| sent.is_beginning).count();
    assert!(begun > 3 * usize::try_from(MESSAGES).unwrap() + 10, "{begun} messages");
    assert!(chosen.is_sorted_by_key(|sent| 3 - sent.stream), "{:?}", streams(chosen));
}

/// Start-time fair queueing: while two streams have something to send, what they are served, over their weights,
/// differs by no more than a message of each (Goyal, Vin, Cheng 1997, theorem 1).
fn shares(sent: &[Sent], weights: [u16; STREAMS]) {
    let contended = contended(sent);
    assert!(contended.len() >= 50, "{} chunks", contended.len());
    let longest: Vec<usize> = (0..STREAMS).map(|stream| length_on(contended, stream)).collect();
    let weights = weights.map(usize::from);
    let mut served = [0; STREAMS];
    for (place, sent) in contended.iter().enumerate() {
        served[usize::from(sent.stream)] += sent.payload_len;
        for one in 0..STREAMS {
            for other in 0..one {
                // Each multiplied by both weights.
                let apart = (served[one] * weights[other]).abs_diff(served[other] * weights[one]);
                let bound = longest[one] * weights[other] + longest[other] * weights[one];
                assert!(apart <= bound, "at chunk {place}: {served:?} of {:?}", streams(contended));
            }
        }
    }
}

fn length_on(sent: &[Sent], stream: usize) -> usize {
    let on = sent.iter().filter(|sent| usize::from(sent.stream) == stream);
    on.map(|sent| sent.payload_len).max().expect("each stream is served")
}

fn equal_shares(sent: &[Sent]) {
    shares(sent, [1; STREAMS]);
}

const WEIGHTS: [u16; STREAMS] = [1, 2, 3, 4];

fn weighted_shares(sent: &[Sent]) {
    shares(sent, WEIGHTS);
}
