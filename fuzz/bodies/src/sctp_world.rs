//! Whole associations: two endpoints, and a network that does with their packets whatever the input says.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sctp::chunk::{Data, DataFlags, GapAckBlock, Sack};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{
    Acceptance, Algorithm, AssociationId, ChecksumPolicy, Chunk, CommonHeader, ConnectOptions, Endpoint,
    ErrorDetectionMethod, Event, Extension, Extensions, Input, LossDetection, Message, Multipath, Output,
    PacketBuilder, PartialMessage, PathMtuDiscovery, PortConfig, PotentiallyFailed, Ppid, ReceivedMessage,
    SctpConfig, SendOptions, StreamId, StreamScheduling, StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::{Ecn, IpFields};
use slantpath_wire::{Checksum, Packet};

const PORT: u16 = 5_000;
const STREAMS: u16 = 4;
/// A step of time that the network takes for a packet.
const HOP: Duration = Duration::from_millis(1);
/// What one input may bring about at most.
const MOST_OUTPUTS: usize = 20_000;

/// A packet under way.
#[derive(Clone)]
struct UnderWay {
    /// Who has sent it.
    from: usize,
    source: IpAddr,
    destination: IpAddr,
    ip: IpFields,
    packet: Packet,
}

struct End {
    endpoint: Endpoint,
    id: Option<AssociationId>,
    deadline: Option<Instant>,
    is_closed: bool,
    partial: PartialMessage,
    /// How many ordered messages each stream has been given.
    sent: BTreeMap<u16, u32>,
    /// How many ordered messages of each stream have come from the other.
    received: BTreeMap<u16, u32>,
    /// Unordered messages that were given, and those that have come.
    sent_unordered: u32,
    received_unordered: BTreeSet<u32>,
}

/// Two endpoints that begin one association.
struct World {
    now: Instant,
    ends: [End; 2],
    under_way: VecDeque<UnderWay>,
    config: SctpConfig,
    /// Whether what is received has been sent: not if packets are made up.
    is_honest: bool,
}

/// Loss, repetition, reordering and bit errors between two honest ends, and the commands of their users: each step is
/// four bytes, and what is left behind the last says more of the settings. Every stream keeps its order, nothing is
/// delivered twice, and once the network is whole again everything arrives, unless somebody has ended the association.
pub fn pair(data: &[u8]) {
    let Some((&options, steps)) = data.split_first() else { return };
    let mut world = World::new(options, steps.chunks_exact(4).remainder(), true);
    for step in steps.chunks_exact(4).take(300) {
        world.step([step[0] % 14, step[1], step[2], step[3]]);
    }
    world.settle();
}

/// The same with packets that neither end has sent, and that bear the right tags: nothing panics, no step is without
/// end, and what is kept stays bounded.
pub fn hostile(data: &[u8]) {
    let Some((&options, steps)) = data.split_first() else { return };
    let mut world = World::new(options, steps.chunks_exact(4).remainder(), false);
    let mut steps = steps.chunks_exact(4).take(300);
    while let Some(step) = steps.next() {
        match step[0] % 20 {
            14 => world.inject_data(step),
            15 => world.inject_sack(step, steps.next().unwrap_or(&[])),
            16..=19 => {
                // As many steps as it says are chunks as they are.
                let raw: Vec<u8> =
                    steps.by_ref().take(usize::from(step[1] % 32)).flatten().copied().collect();
                world.inject_raw(usize::from(step[2] & 1), step[3], &raw);
            }
            op => world.step([op, step[1], step[2], step[3]]),
        }
        world.check_bounds();
    }
}

fn address(network: u8, end: usize) -> IpAddr {
    [10, 0, network, if end == 0 { 1 } else { 2 }].into()
}

/// The settings of an endpoint. `more` is up to three bytes, of which each missing one is zero: the scheduler, what is
/// offered beyond the extensions, and the congestion control.
fn config(options: u8, more: &[u8]) -> SctpConfig {
    let is_set = |bit: u8| options >> bit & 1 == 1;
    let [scheduler, offered, control] = [0, 1, 2].map(|place| more.get(place).copied().unwrap_or(0));
    let default = SctpConfig::default();
    let schedulers = [
        StreamScheduling::FirstComeFirstServed,
        StreamScheduling::RoundRobin,
        StreamScheduling::RoundRobinPerPacket,
        StreamScheduling::Priority,
        StreamScheduling::FairCapacity,
        StreamScheduling::WeightedFairQueueing,
    ];
    let controls = [
        Algorithm::Standard,
        Algorithm::Cubic,
        Algorithm::Hybla,
        Algorithm::Bbr,
        Algorithm::Bbr3,
        Algorithm::Backlog,
    ];
    let multipaths = [Multipath::Off, Multipath::Concurrent, Multipath::PooledV1, Multipath::PooledV2];
    SctpConfig {
        stream_values: (0..STREAMS).map(|stream| (StreamId(stream), stream)).collect(),
        congestion_control: controls[usize::from(control) % controls.len()],
        multipath: multipaths[usize::from(offered & 3)],
        path_mtu_discovery: if offered & 4 == 0 { PathMtuDiscovery::Off } else { PathMtuDiscovery::Probing },
        zero_checksum: (offered & 8 != 0).then_some(ErrorDetectionMethod::DTLS),
        heartbeat_interval: is_set(7).then_some(Duration::from_secs(30)),
        loss_detection: if is_set(1) { LossDetection::Rack } else { LossDetection::MissIndications },
        ecn: is_set(2),
        receive_buffer_bytes: if is_set(3) { 3_000 } else { default.receive_buffer_bytes },
        potentially_failed: if is_set(4) { PotentiallyFailed::Above(0) } else { PotentiallyFailed::Off },
        stream_scheduling: schedulers[(usize::from(scheduler) + usize::from(is_set(5))) % schedulers.len()],
        extensions: if is_set(6) { Extensions::of(&Extension::ALL) } else { Extensions::NONE },
        outbound_streams: STREAMS,
        send_buffer_bytes: 50_000,
        ..default
    }
}

impl World {
    /// The options are bits: two networks, and what [`config`] makes of them and of `more`.
    fn new(options: u8, more: &[u8], is_honest: bool) -> Self {
        let networks = 1 + (options & 1);
        let config = config(options, more);
        let ends = [0, 1].map(|end| {
            let addresses = (0..networks).map(|network| address(network, end)).collect();
            let mut endpoint = Endpoint::default();
            let port = PortConfig { port: PORT, addresses, config: config.clone() };
            endpoint.bind(port, Seed::new(1, end as u64).stream("end")).expect("a free port");
            assert!(endpoint.listen(PORT, Acceptance::ByPeer));
            End {
                endpoint,
                id: None,
                deadline: None,
                is_closed: false,
                partial: PartialMessage::new(u64::MAX),
                sent: BTreeMap::new(),
                received: BTreeMap::new(),
                sent_unordered: 0,
                received_unordered: BTreeSet::new(),
            }
        });
        let mut world = Self { now: Instant::START, ends, under_way: VecDeque::new(), config, is_honest };
        let options = ConnectOptions {
            local_port: PORT,
            peer_addresses: (0..networks).map(|network| address(network, 1)).collect(),
            peer_port: PORT,
            ..ConnectOptions::default()
        };
        world.ends[0].id =
            Some(world.ends[0].endpoint.connect(world.now, &options).expect("the peer is there"));
        world.drain(0);
        world
    }

    /// One step: what, and three numbers.
    fn step(&mut self, [op, a, b, c]: [u8; 4]) {
        let end = usize::from(a & 1);
        let place = usize::from(b) % self.under_way.len().max(1);
        match op {
            0 | 1 => self.deliver(place),
            2 => drop(self.under_way.remove(place)),
            3 => {
                if let Some(copy) = self.under_way.get(place).cloned() {
                    self.under_way.push_back(copy);
                }
            }
            // A bit error, which the checksum finds, or what stands in for it below: that drops the packet.
            4 if self.config.zero_checksum.is_some() => drop(self.under_way.remove(place)),
            4 => {
                if let Some(damaged) = self.under_way.get_mut(place) {
                    let mut bytes = damaged.packet.contiguous().to_vec();
                    let at = usize::from(c) % bytes.len();
                    bytes[at] ^= 1 << (a >> 5);
                    damaged.packet = Packet::copied(&bytes, Checksum::Complete);
                }
            }
            5 => {
                if let Some(marked) = self.under_way.get_mut(place)
                    && marked.ip.ecn != Ecn::NotCapable
                {
                    marked.ip.ecn = Ecn::CongestionExperienced;
                }
            }
            6..=8 => self.send(end, a >> 1, u16::from_be_bytes([b, c])),
            9 => self.advance(Duration::from_millis(u64::from(b) * u64::from(c))),
            10 => {
                for _ in 0..b % 16 {
                    self.deliver(0);
                }
            }
            11 => self.command(end, b, c),
            12 => {
                let quote = self
                    .under_way
                    .get(place)
                    .map(|packet| (packet.from, packet.destination, packet.packet.contiguous()));
                if let Some((from, destination, quote)) = quote {
                    let error = IcmpError::PacketTooBig { mtu_bytes: u32::from(a) * 8 };
                    let quote = quote.slice(..quote.len().min(40));
                    self.input(from, Input::Icmp { destination, error, quote });
                }
            }
            // From the other address of its sender.
            _ => {
                if let Some(packet) = self.under_way.get_mut(place) {
                    packet.source = address(c & 1, packet.from);
                }
            }
        }
    }

    fn command(&mut self, end: usize, what: u8, c: u8) {
        let Some(id) = self.ends[end].id else { return };
        let (now, other) = (self.now, address(c & 1, 1 - end));
        let endpoint = &mut self.ends[end].endpoint;
        // Whether there was anything to do does not matter.
        let _is_done = match what % 16 {
            0 => endpoint.shutdown(now, id),
            1 if c == 0 => endpoint.abort(now, id, Bytes::from_static(b"enough")),
            2..=4 => endpoint.pause_delivery(id),
            5..=8 => endpoint.resume_delivery(id),
            9 | 10 => endpoint.set_primary(now, id, other),
            11 | 12 => endpoint.request_heartbeat(now, id, other),
            _ => endpoint.set_heartbeat_interval(now, id, other, Some(Duration::from_secs(u64::from(c)))),
        };
        self.drain(end);
    }

    /// A message whose first bytes say which one it is.
    fn send(&mut self, from: usize, how: u8, len: u16) {
        let end = &mut self.ends[from];
        let Some(id) = end.id else { return };
        let (stream, is_unordered) = (u16::from(how) % STREAMS, how & 0x10 != 0);
        let number = if is_unordered {
            end.sent_unordered
        } else {
            end.sent.get(&stream).copied().unwrap_or_default()
        };
        let mut payload = vec![how; usize::from(len % 20_000) + 4];
        payload[..4].copy_from_slice(&number.to_be_bytes());
        let options = (how & 0x20 != 0)
            .then(|| Box::new(SendOptions { sack_immediately: true, ..SendOptions::default() }));
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(number),
            payload: payload.into(),
            is_unordered,
            context: u64::from(number),
            options,
        };
        if end.endpoint.send(self.now, id, message).is_ok() {
            if is_unordered {
                end.sent_unordered += 1;
            } else {
                *end.sent.entry(stream).or_default() += 1;
            }
        }
        self.drain(from);
    }

    fn deliver(&mut self, place: usize) {
        let Some(UnderWay { from, source, destination, ip, packet }) = self.under_way.remove(place) else {
            return;
        };
        self.now += HOP;
        self.expire();
        self.input(1 - from, Input::Packet { source, destination, ip, packet });
    }

    fn advance(&mut self, span: Duration) {
        self.now += span;
        self.expire();
    }

    fn expire(&mut self) {
        for end in 0..2 {
            if self.ends[end].deadline.is_some_and(|deadline| deadline <= self.now) {
                self.input(end, Input::Deadline);
            }
        }
    }

    fn input(&mut self, end: usize, input: Input) {
        self.ends[end].endpoint.handle_input(self.now, input);
        self.drain(end);
    }

    fn drain(&mut self, from: usize) {
        for _ in 0..MOST_OUTPUTS {
            let mut packet = Packet::default();
            match self.ends[from].endpoint.poll_output(self.now, &mut packet) {
                Output::Transmit { source, destination, ip, .. } => {
                    // What is written can be read, and lacks its checksum only where that has been agreed on.
                    let bytes = packet.contiguous();
                    let may_lack = self.config.zero_checksum.is_some() && bytes[8..12] == [0; 4];
                    assert!(may_lack || ParsedPacket::parse(&packet).is_ok());
                    let written = Packet::shared(bytes, Checksum::Omitted);
                    let parsed = ParsedPacket::parse(&written).expect("a packet that can be read");
                    assert!(parsed.chunks().all(|chunk| chunk.is_ok()));
                    self.under_way.push_back(UnderWay { from, source, destination, ip, packet });
                }
                Output::Event(id, event) => self.hear(from, id, event),
                Output::Wait(deadline) => {
                    self.ends[from].deadline = deadline;
                    return;
                }
            }
        }
        panic!("a step without end");
    }

    fn hear(&mut self, at: usize, id: AssociationId, event: Event) {
        let end = &mut self.ends[at];
        match event {
            Event::Established { .. } => end.id = Some(id),
            Event::Closed(_) if end.id == Some(id) => {
                end.is_closed = true;
                end.id = None;
            }
            Event::Restarted => {
                assert!(!self.is_honest, "nobody has restarted");
                end.partial = PartialMessage::new(u64::MAX);
            }
            Event::Received(message) => self.take(at, &message),
            Event::ReceivedPart(part) => {
                if let Some(message) = end.partial.push(part).expect("no message is too long") {
                    self.take(at, &message);
                }
            }
            _ => {}
        }
    }

    /// What arrives has been sent, once, and in its order.
    fn take(&mut self, at: usize, message: &ReceivedMessage) {
        if !self.is_honest {
            return;
        }
        let number = message.ppid.0;
        assert_eq!(message.payload[..4], number.to_be_bytes(), "not what was sent");
        let [this, other] = self.ends.get_disjoint_mut([at, 1 - at]).expect("two ends");
        if message.is_unordered {
            assert!(number < other.sent_unordered && this.received_unordered.insert(number), "twice");
        } else {
            let next = this.received.entry(message.stream.0).or_default();
            assert_eq!(number, *next, "stream {} is out of order", message.stream);
            *next += 1;
            assert!(*next <= other.sent[&message.stream.0]);
        }
    }

    /// The network is whole again: everything arrives, or the association has ended.
    fn settle(&mut self) {
        for end in 0..2 {
            if let Some(id) = self.ends[end].id {
                self.ends[end].endpoint.resume_delivery(id);
                self.drain(end);
            }
        }
        for _ in 0..50_000 {
            if !self.under_way.is_empty() {
                self.deliver(0);
                continue;
            }
            if self.is_at_rest() {
                break;
            }
            let next = self.ends.iter().filter_map(|end| end.deadline).min();
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            self.expire();
        }
        assert!(self.is_at_rest(), "the association does not come to rest");
        if self.ends.iter().any(|end| end.is_closed || end.id.is_none()) {
            return;
        }
        for at in 0..2 {
            let [this, other] = self.ends.get_disjoint_mut([at, 1 - at]).expect("two ends");
            assert_eq!(
                this.received.values().sum::<u32>(),
                other.sent.values().sum::<u32>(),
                "messages are missing"
            );
            assert_eq!(u32::try_from(this.received_unordered.len()).expect("few"), other.sent_unordered);
        }
    }

    /// Nothing waits to be sent or acknowledged, and no setup or shutdown is under way.
    fn is_at_rest(&self) -> bool {
        self.ends.iter().all(|end| {
            let Some(id) = end.id else { return end.endpoint.association_count() == 0 };
            end.endpoint.association(id).is_some_and(|association| {
                let snapshot = association.snapshot();
                snapshot.send_buffered == 0 && snapshot.state == slantpath_sctp::AssociationState::Established
            })
        })
    }

    /// What is kept for the other end is bounded, whatever that sends.
    fn check_bounds(&self) {
        for end in &self.ends {
            assert!(end.endpoint.association_count() <= 2, "an association for each peer");
            let Some(association) = end.id.and_then(|id| end.endpoint.association(id)) else { continue };
            let snapshot = association.snapshot();
            let buffer = u64::from(self.config.receive_buffer_bytes);
            assert!(snapshot.receive_buffered <= 2 * buffer + 65_535, "{snapshot:?}");
            assert!(snapshot.send_buffered <= self.config.send_buffer_bytes, "{snapshot:?}");
        }
    }

    /// The tag that an end wants to see, and what has come to it.
    fn known(&self, end: usize) -> Option<(VerificationTag, Tsn, Tsn)> {
        let association = self.ends[end].endpoint.association(self.ends[end].id?)?;
        let snapshot = association.snapshot();
        Some((association.local_tag(), snapshot.cumulative_tsn_received, snapshot.cumulative_tsn_acked))
    }

    fn inject(&mut self, end: usize, network: u8, chunks: &[Chunk]) {
        let Some((tag, ..)) = self.known(end) else { return };
        let header = CommonHeader { source_port: PORT, destination_port: PORT, verification_tag: tag };
        let mut builder = PacketBuilder::default();
        builder.start(header, usize::MAX);
        for chunk in chunks {
            builder.push(chunk);
        }
        let packet = builder.finish(ChecksumPolicy::Omit);
        self.arrive(end, network, packet);
    }

    fn arrive(&mut self, end: usize, network: u8, packet: Packet) {
        let (source, destination) = (address(network & 1, 1 - end), address(network & 1, end));
        self.input(end, Input::Packet { source, destination, ip: IpFields::default(), packet });
    }

    /// A DATA chunk near to what is expected.
    fn inject_data(&mut self, step: &[u8]) {
        let end = usize::from(step[1] & 1);
        let Some((_, received, _)) = self.known(end) else { return };
        let flags = [DataFlags::MIDDLE, DataFlags::BEGINNING, DataFlags::ENDING, DataFlags::WHOLE];
        let unordered = if step[1] & 8 == 0 { DataFlags::MIDDLE } else { DataFlags::UNORDERED };
        let data = Data {
            flags: flags[usize::from(step[1] >> 1 & 3)].with(unordered),
            tsn: received.plus(u32::from(step[2] % 32)),
            stream: StreamId(u16::from(step[1] >> 4) % (STREAMS + 1)),
            sequence: StreamSequence(u16::from(step[2] >> 5)),
            ppid: Ppid(0),
            payload: vec![step[3]; usize::from(step[3]) * 8].into(),
        };
        self.inject(end, step[1] >> 7, &[Chunk::Data(data)]);
    }

    /// A SACK near to what has been acknowledged, with blocks.
    fn inject_sack(&mut self, step: &[u8], blocks: &[u8]) {
        let end = usize::from(step[1] & 1);
        let Some((_, _, acked)) = self.known(end) else { return };
        let block = |pair: &[u8]| GapAckBlock { start: pair[0].into(), end: pair[1].into() };
        let sack = Sack {
            cumulative_tsn_ack: acked.plus(u32::from(step[2] % 8)).minus(u32::from(step[1] >> 6)),
            a_rwnd: u32::from(step[3]) * 100,
            gap_ack_blocks: blocks.chunks_exact(2).map(block).collect(),
            duplicates: [].into_iter().collect(),
        };
        self.inject(end, step[1] >> 1, &[Chunk::Sack(sack)]);
    }

    /// Chunks as they are, behind a header with the tag of the end, with zero, or with any.
    fn inject_raw(&mut self, end: usize, how: u8, raw: &[u8]) {
        let tag = match how % 4 {
            0 => 0,
            1 => u32::from(how),
            _ => self.known(end).map_or(0, |(tag, ..)| tag.0),
        };
        let mut bytes = Vec::new();
        bytes.extend(PORT.to_be_bytes());
        bytes.extend(PORT.to_be_bytes());
        bytes.extend(tag.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(raw);
        self.arrive(end, how >> 2, Packet::copied(&bytes, Checksum::Omitted));
    }
}
