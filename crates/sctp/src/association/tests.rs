//! Two associations talk over a wire in memory whose fate a test decides.
#![expect(clippy::cast_possible_truncation, reason = "numbers in tests are small")]

mod addresses;
mod authentication;
mod bundling;
mod bundling_delay;
mod destination;
mod discovery;
mod ecn;
mod failover;
mod faults;
mod hostile;
mod interleaving;
mod liveness;
mod local_address;
mod multipath;
mod non_renegable;
mod partial_reliability;
mod parts;
mod paths;
mod reconfiguration;
mod recovery;
mod send_buffer;
mod shutdown;
mod status;
mod swarm;
mod tables;
mod timed;
mod too_big;
mod tracing;
mod transfer;
mod window;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slantpath_base::{Duration, Seed};
use slantpath_wire::Packet;
use slantpath_wire::ip::{self, Envelope};
use smallvec::SmallVec;

use super::*;
use crate::chunk::{Data, DataFlags, GapAckBlock, Sack};
use crate::config::FirstSack;
use crate::event::{PartPlace, ReceivedMessage};
use crate::packet::{ChecksumPolicy, IpFragmentation, ParsedPacket};
use crate::partial_message::PartialMessage;
use crate::tcb::PeerAddress;
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

/// A packet that has been sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) at: Instant,
    /// End that sent it: 0 or 1.
    pub(super) from: usize,
    /// Path that it takes: 0, 1 or 2.
    pub(super) path: usize,
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) packet: Packet,
    pub(super) fragmentation: IpFragmentation,
    pub(super) chunks: Vec<Chunk>,
    /// As it arrives.
    pub(super) ecn: ip::Ecn,
}

impl Sent {
    pub(super) fn tsns(&self) -> Vec<u32> {
        self.chunks
            .iter()
            .filter_map(|chunk| match chunk {
                Chunk::Data(data) => Some(data.tsn.0),
                Chunk::IData(data) => Some(data.tsn.0),
                _ => None,
            })
            .collect()
    }

    pub(super) fn has_data(&self) -> bool {
        !self.tsns().is_empty()
    }

    pub(super) fn sack(&self) -> Option<&Sack> {
        self.chunks.iter().find_map(|chunk| if let Chunk::Sack(sack) = chunk { Some(sack) } else { None })
    }
}

/// After how long each copy of a packet arrives; none: it is lost.
pub(super) type Fate = SmallVec<[Duration; 2]>;

type Arriving = Reverse<(Instant, u64, usize)>;

/// Two ends and what lies between them.
pub(super) struct Wire {
    pub(super) now: Instant,
    pub(super) ends: [Association; 2],
    pub(super) events: [Vec<Event>; 2],
    pub(super) log: Vec<Sent>,
    deadlines: [Option<Instant>; 2],
    builder: PacketBuilder,
    arriving: BinaryHeap<Arriving>,
    sequence: u64,
    fate: Box<dyn FnMut(&Sent) -> Fate>,
    /// Choice of the packets to be marked among those that may be.
    marks: Box<dyn FnMut(&Sent) -> bool>,
}

pub(super) const DELAY: Duration = Duration::from_millis(50);

pub(super) fn arrives() -> Fate {
    SmallVec::from_slice(&[DELAY])
}

pub(super) fn is_lost() -> Fate {
    SmallVec::new()
}

/// The usual header with this about congestion.
fn fields(ecn: ip::Ecn) -> ip::IpFields {
    ip::IpFields { ecn, ..ip::IpFields::default() }
}

pub(super) fn address(end: usize, path: usize) -> IpAddr {
    format!("10.{}.0.{}", path + 1, end + 1).parse().unwrap()
}

/// Without heartbeats, so that what is idle comes to rest.
pub(super) fn quiet() -> SctpConfig {
    SctpConfig {
        heartbeat_interval: None,
        checksum: ChecksumPolicy::Omit,
        first_sack: FirstSack::AsAnyOther,
        ..SctpConfig::default()
    }
}

pub(super) fn tcb(end: usize, paths: usize, config: &SctpConfig) -> Tcb {
    let other = 1 - end;
    let start = |end: usize| Tsn((u32::MAX - 3).wrapping_add(10 * end as u32));
    Tcb {
        local_port: 1_000 + end as u16,
        peer_port: 1_000 + other as u16,
        local_tag: VerificationTag(100 + end as u32),
        peer_tag: VerificationTag(100 + other as u32),
        local_initial_tsn: start(end),
        peer_initial_tsn: start(other),
        outbound_streams: 4,
        inbound_streams: 4,
        peer_rwnd: config.receive_buffer_bytes,
        uses_ecn: config.ecn,
        extensions: config.extensions,
        omits_checksum: config.zero_checksum.is_some(),
        authentication: None,
        adaptation_layer: None,
        wanted_primary: None,
        local_addresses: (0..paths).map(|path| address(end, path)).collect(),
        peer_addresses: (0..paths)
            .map(|path| PeerAddress { address: address(other, path), is_confirmed: true })
            .collect(),
        primary: address(other, 0),
        round_trip: None,
    }
}

impl Wire {
    pub(super) fn new(paths: usize, config: SctpConfig) -> Self {
        let tcbs = [0, 1].map(|end| tcb(end, paths, &config));
        Self::with_tcbs(tcbs, [config.clone(), config])
    }

    pub(super) fn with_tcbs(tcbs: [Tcb; 2], configs: [SctpConfig; 2]) -> Self {
        let [first, second] = tcbs;
        let [a, b] = configs;
        let stream = |name| Seed::new(1, 0).stream(name);
        let ends = [
            Association::new(Instant::START, first, Arc::new(a), stream("a")),
            Association::new(Instant::START, second, Arc::new(b), stream("b")),
        ];
        let mut wire = Self {
            now: Instant::START,
            ends,
            events: [Vec::new(), Vec::new()],
            log: Vec::new(),
            deadlines: [None, None],
            builder: PacketBuilder::default(),
            arriving: BinaryHeap::new(),
            sequence: 0,
            fate: Box::new(|_| arrives()),
            marks: Box::new(|_| false),
        };
        wire.drain();
        wire
    }

    /// Decides from now on what happens to each packet.
    pub(super) fn decide(&mut self, fate: impl FnMut(&Sent) -> Fate + 'static) {
        self.fate = Box::new(fate);
    }

    /// Decides from now on which of the packets are marked that may be.
    pub(super) fn mark(&mut self, marks: impl FnMut(&Sent) -> bool + 'static) {
        self.marks = Box::new(marks);
    }

    /// Sends messages of `len` bytes, whose contexts go on counting, without letting time pass.
    pub(super) fn send(&mut self, end: usize, contexts: std::ops::Range<u64>, len: usize) {
        for context in contexts {
            self.ends[end].send(self.now, message(0, context, len)).unwrap();
        }
        self.drain();
    }

    /// Lets both ends speak until they wait.
    pub(super) fn drain(&mut self) {
        for end in self.ends.iter().filter(|end| !end.state.is_closed()) {
            crate::tx::tests::assert_consistent(&end.sender, &end.paths);
        }
        for end in [0, 1] {
            for outputs in 0.. {
                assert!(outputs < 100_000, "end {end} has output without end");
                let mut packet = Packet::default();
                let association = &mut self.ends[end];
                if let Some(departing) = association.poll_transmit(self.now, &mut self.builder, &mut packet) {
                    self.transmit(end, departing, packet);
                } else if let Some(event) = association.poll_event() {
                    self.events[end].push(event);
                } else {
                    self.deadlines[end] = association.next_deadline();
                    break;
                }
            }
        }
    }

    fn transmit(&mut self, from: usize, departing: Departing, packet: Packet) {
        let Departing { envelope: Envelope { source, destination, fields }, fragmentation } = departing;
        // Another address than these is the only one of its test.
        let path = (0..3).find(|path| address(1 - from, *path) == destination).unwrap_or(0);
        let chunks = ParsedPacket::parse(&packet).unwrap().chunks().map(Result::unwrap).collect();
        let most = usize::from(self.ends[from].config.max_path_mtu) - 20;
        assert!(packet.len() <= most, "a packet of {} bytes", packet.len());
        let (at, ecn) = (self.now, fields.ecn);
        let mut sent = Sent { at, from, path, source, destination, packet, fragmentation, chunks, ecn };
        if ecn != ip::Ecn::NotCapable && (self.marks)(&sent) {
            sent.ecn = ip::Ecn::CongestionExperienced;
        }
        for delay in (self.fate)(&sent) {
            self.arriving.push(Reverse((self.now + delay, self.sequence, self.log.len())));
            self.sequence += 1;
        }
        self.log.push(sent);
    }

    /// Instant of the next arrival or deadline.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let arrival = self.arriving.peek().map(|Reverse((at, ..))| *at);
        [arrival, self.deadlines[0], self.deadlines[1]].into_iter().flatten().min()
    }

    /// Lets the next thing happen; `false` if nothing ever will.
    pub(super) fn step(&mut self) -> bool {
        let Some(at) = self.next_at() else { return false };
        self.now = self.now.max(at);
        if let Some(Reverse((at, ..))) = self.arriving.peek()
            && *at <= self.now
        {
            let Reverse((_, _, index)) = self.arriving.pop().unwrap();
            let sent = self.log[index].clone();
            let packet = ParsedPacket::parse(&sent.packet).unwrap();
            self.ends[1 - sent.from].handle_packet(self.now, &packet, sent.source, fields(sent.ecn));
        } else {
            for end in [0, 1] {
                if self.deadlines[end].is_some_and(|deadline| deadline <= self.now) {
                    self.ends[end].handle_deadline(self.now);
                }
            }
        }
        self.drain();
        true
    }

    /// Lets everything happen up to `until`.
    pub(super) fn run_until(&mut self, until: Instant) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.now = self.now.max(until);
    }

    /// Runs until nothing is left to happen.
    ///
    /// # Panics
    /// If that takes longer than a simulated day or a million steps.
    pub(super) fn run_to_rest(&mut self) {
        for _ in 0..1_000_000 {
            assert!(self.now < Instant::from_secs(86_400), "it goes on for days");
            if !self.step() {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    /// Injects chunks into `end`, as if the other had sent them on `path`.
    pub(super) fn inject(&mut self, end: usize, path: usize, chunks: &[Chunk]) {
        self.hand_in(end, path, chunks);
        self.drain();
    }

    /// Variant of [`inject`](Self::inject) that leaves the resulting output to be taken.
    pub(super) fn hand_in(&mut self, end: usize, path: usize, chunks: &[Chunk]) {
        self.hand_in_with(end, path, chunks, ip::Ecn::NotCapable);
    }

    /// Variant of [`hand_in`](Self::hand_in) for a packet that was marked on its way.
    pub(super) fn hand_in_marked(&mut self, end: usize, path: usize, chunks: &[Chunk]) {
        self.hand_in_with(end, path, chunks, ip::Ecn::CongestionExperienced);
    }

    fn hand_in_with(&mut self, end: usize, path: usize, chunks: &[Chunk], ecn: ip::Ecn) {
        let mut builder = PacketBuilder::default();
        let header = crate::packet::CommonHeader {
            source_port: self.ends[end].tcb.peer_port,
            destination_port: self.ends[end].tcb.local_port,
            verification_tag: self.ends[end].tcb.local_tag,
        };
        builder.start(header, usize::MAX);
        for chunk in chunks {
            assert!(builder.push(chunk));
        }
        let packet = builder.finish(ChecksumPolicy::Omit);
        let parsed = ParsedPacket::parse(&packet).unwrap();
        self.ends[end].handle_packet(self.now, &parsed, address(1 - end, path), fields(ecn));
    }

    /// The messages that `end` has received, those in parts put together, in the order of delivery.
    pub(super) fn messages(&self, end: usize) -> Vec<ReceivedMessage> {
        let mut partial = PartialMessage::new(u64::MAX);
        let messages = self.events[end].iter().filter_map(|event| match event {
            Event::Received(message) => Some(message.clone()),
            Event::ReceivedPart(part) => partial.push(part.clone()).unwrap(),
            Event::PartialDeliveryAborted { stream, is_unordered, .. } => {
                partial.abort(*stream, *is_unordered);
                None
            }
            _ => None,
        });
        messages.collect()
    }

    /// The payload numbers that `end` has received, in the order of delivery.
    pub(super) fn received(&self, end: usize) -> Vec<u64> {
        self.messages(end).iter().map(|message| number(&message.payload)).collect()
    }

    /// The parts of messages that `end` has received: each one's place, number and length.
    pub(super) fn parts(&self, end: usize) -> Vec<(PartPlace, u16, usize)> {
        let parts = self.events[end].iter().filter_map(|event| match event {
            Event::ReceivedPart(part) => Some((part.place, part.sequence.0, part.payload.len())),
            _ => None,
        });
        parts.collect()
    }

    pub(super) fn path(&self, end: usize, path: usize) -> crate::path::PathSnapshot {
        self.ends[end].path_snapshots(self.now).nth(path).unwrap()
    }
}

/// A message of `len` bytes that starts with its context and is checked by [`number`].
pub(super) fn message(stream: u16, context: u64, len: usize) -> Message {
    let mut payload: Vec<u8> = (0..len.max(8)).map(|at| (at as u64 ^ context) as u8).collect();
    payload[..8].copy_from_slice(&context.to_be_bytes());
    Message {
        stream: StreamId(stream),
        ppid: Ppid(46),
        payload: payload.into(),
        is_unordered: false,
        context,
        options: None,
    }
}

/// The context of a message whose payload is whole.
pub(super) fn number(payload: &[u8]) -> u64 {
    let context = u64::from_be_bytes(payload[..8].try_into().unwrap());
    for (at, byte) in payload.iter().enumerate().skip(8) {
        assert_eq!(*byte, (at as u64 ^ context) as u8, "byte {at} of message {context}");
    }
    context
}

/// Loses the first transmission of the given TSNs, counted from the first of end 0.
pub(super) fn lose_first(wire: &mut Wire, lost: &'static [u32]) {
    let mut seen = std::collections::BTreeSet::new();
    wire.decide(move |sent| {
        let mut fate = arrives();
        if sent.from == 0 {
            for tsn in sent.tsns() {
                let number = Tsn(tsn).distance_from(Tsn(u32::MAX - 3));
                if lost.contains(&number) && seen.insert(number) {
                    fate = is_lost();
                }
            }
        }
        fate
    });
}

pub(super) fn data_packets(wire: &Wire, from: usize) -> Vec<&Sent> {
    wire.log.iter().filter(|sent| sent.from == from && sent.has_data()).collect()
}

/// A SACK for end 0 whose cumulative ack is `acked` of its chunks, with blocks as offsets from that.
pub(super) fn sack(acked: u32, blocks: &[(u16, u16)]) -> Chunk {
    Chunk::Sack(Sack {
        cumulative_tsn_ack: Tsn(u32::MAX - 4).plus(acked),
        a_rwnd: 100_000,
        gap_ack_blocks: blocks.iter().map(|&(start, end)| GapAckBlock { start, end }).collect(),
        duplicates: SmallVec::new(),
    })
}

pub(super) fn data(tsn: u32, payload: &'static [u8]) -> Chunk {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(tsn),
        stream: StreamId(0),
        sequence: StreamSequence((tsn - 6) as u16),
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(payload),
    })
}
