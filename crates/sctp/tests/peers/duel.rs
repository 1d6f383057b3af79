//! Two stacks and the wires between them.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_testkit::{Wire, WireFaults};

/// A stack under test.
pub(crate) trait Peer {
    fn connect(&mut self, now: Instant);
    fn handle_packet(&mut self, now: Instant, bytes: &[u8]);
    fn handle_deadline(&mut self, now: Instant);
    /// Everything that it wants to send now.
    fn take_packets(&mut self, now: Instant) -> Vec<Vec<u8>>;
    fn next_deadline(&mut self) -> Option<Instant>;
    /// `false`: not now.
    fn send(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool;
    /// Variant of [`send`](Self::send) for a message that is given up rather than retransmitted, if the peer can do so.
    fn send_perishable(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.send(now, stream, payload)
    }
    /// Messages with their streams since the last call.
    fn take_messages(&mut self) -> Vec<(u16, Vec<u8>)>;
    fn shutdown(&mut self, now: Instant);
    fn is_established(&self) -> bool;
    fn is_closed(&self) -> bool;
    /// Number of parts of messages that it was given.
    fn parts(&self) -> u64 {
        0
    }
    /// Tells if it waits for ever when its peer's SHUTDOWN COMPLETE is lost.
    fn needs_the_first_shutdown_complete(&self) -> bool {
        false
    }
}

pub(crate) struct Duel {
    pub(crate) now: Instant,
    pub(crate) peers: [Box<dyn Peer>; 2],
    /// From each peer to the other.
    wires: [Wire<Vec<u8>>; 2],
    received: [BTreeMap<u16, Vec<Vec<u8>>>; 2],
}

const STREAMS: u16 = 4;

/// The message number `index` of a peer: its stream and its bytes, which tell whose and which it is.
fn message(peer: usize, index: usize) -> (u16, Vec<u8>) {
    let len = [1, 3, 100, 1_024, 1_200, 5_000, 17, 20_000][index % 8];
    let mut payload = format!("{peer}/{index}:").into_bytes();
    payload.extend((0..len).map(|at| u8::try_from((at * 7 + index) % 251).unwrap()));
    (u16::try_from(index * 5 % 7).unwrap() % STREAMS, payload)
}

impl Duel {
    pub(crate) fn new(peers: [Box<dyn Peer>; 2], faults: WireFaults, seed: u64) -> Self {
        let wire = |name| Wire::new(faults, Seed::new(seed, 0).stream(name));
        Self {
            now: Instant::START,
            peers,
            wires: [wire("there"), wire("back")],
            received: [BTreeMap::new(), BTreeMap::new()],
        }
    }

    pub(crate) fn connect(&mut self, peer: usize) {
        self.peers[peer].connect(self.now);
    }

    pub(crate) fn shutdown(&mut self, peer: usize) {
        self.peers[peer].shutdown(self.now);
    }

    pub(crate) fn is_established(&self) -> bool {
        self.peers.iter().all(|peer| peer.is_established())
    }

    /// Goes on until `is_done`, for at most `span`; returns whether that came to be.
    pub(crate) fn run(&mut self, span: Duration, is_done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + span;
        loop {
            self.flush();
            if is_done(self) {
                return true;
            }
            let arrivals = self.wires.iter().filter_map(Wire::next_arrival);
            let arrival = arrivals.min();
            let deadline = self.peers.iter_mut().filter_map(|peer| peer.next_deadline()).min();
            let Some(next) = [arrival, deadline].into_iter().flatten().min() else { return false };
            if next > end {
                self.now = end;
                return false;
            }
            self.now = self.now.max(next);
            for side in 0..2 {
                while let Some(bytes) = self.wires[side].receive(self.now) {
                    self.peers[1 - side].handle_packet(self.now, &bytes);
                    self.flush();
                }
                self.peers[side].handle_deadline(self.now);
            }
        }
    }

    fn flush(&mut self) {
        for side in 0..2 {
            for packet in self.peers[side].take_packets(self.now) {
                self.wires[side].send(self.now, packet);
            }
            for (stream, payload) in self.peers[side].take_messages() {
                self.received[side].entry(stream).or_default().push(payload);
            }
        }
    }

    /// Sends messages both ways, most of which are given up rather than retransmitted. Of each stream what arrives must
    /// be in order and come once; what is not given up must arrive. Says how many messages of each peer did not.
    pub(crate) fn transfer_perishable(&mut self, messages: usize, replay: &str) -> [usize; 2] {
        let may_perish = |index: usize| index % 4 != 3;
        let mut next = [0, 0];
        while next != [messages, messages] {
            for (side, index) in next.iter_mut().enumerate() {
                while *index < messages {
                    let (stream, payload) = message(side, *index);
                    let is_taken = if may_perish(*index) {
                        self.peers[side].send_perishable(self.now, stream, &payload)
                    } else {
                        self.peers[side].send(self.now, stream, &payload)
                    };
                    if !is_taken {
                        break;
                    }
                    *index += 1;
                }
            }
            self.run(Duration::from_millis(20), |_| false);
        }
        self.run(Duration::from_secs(600), |_| false);
        let mut missing = [0, 0];
        for (side, missing) in missing.iter_mut().enumerate() {
            let received = std::mem::take(&mut self.received[1 - side]);
            let mut left: BTreeMap<u16, _> =
                received.into_iter().map(|(stream, all)| (stream, all.into_iter().peekable())).collect();
            for index in 0..messages {
                let (stream, payload) = message(side, index);
                let next = left.get_mut(&stream).and_then(|left| left.next_if_eq(&payload));
                assert!(next.is_some() || may_perish(index), "{replay}: peer {side} lost message {index}");
                *missing += usize::from(next.is_none());
            }
            let is_over = left.values_mut().all(|left| left.next().is_none());
            assert!(is_over, "{replay}: peer {side} said what it was not to say, or twice, or out of order");
        }
        missing
    }

    /// Sends messages both ways; each must arrive once, and in order within its stream.
    pub(crate) fn transfer(&mut self, messages: usize, replay: &str) {
        let mut next = [0, 0];
        let end = self.now + Duration::from_secs(3_600);
        loop {
            for (side, index) in next.iter_mut().enumerate() {
                while *index < messages {
                    let (stream, payload) = message(side, *index);
                    if !self.peers[side].send(self.now, stream, &payload) {
                        break;
                    }
                    *index += 1;
                }
            }
            let count = |duel: &Self, side: usize| duel.received[side].values().map(Vec::len).sum::<usize>();
            let before = [count(self, 0), count(self, 1)];
            if before == [messages, messages] {
                break;
            }
            let is_progress = |duel: &Self| [count(duel, 0), count(duel, 1)] != before;
            let span = end.saturating_since(self.now);
            assert!(
                self.run(span, is_progress),
                "{replay}: stuck at {before:?} of {messages}, sent {next:?}"
            );
        }
        for side in 0..2 {
            let mut expected: BTreeMap<u16, Vec<Vec<u8>>> = BTreeMap::new();
            for index in 0..messages {
                let (stream, payload) = message(1 - side, index);
                expected.entry(stream).or_default().push(payload);
            }
            assert!(self.received[side] == expected, "{replay}: peer {side} got other messages");
            self.received[side].clear();
        }
    }
}
