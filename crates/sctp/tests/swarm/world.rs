//! Two endpoints, the network between them, and what both ends have been told and have said.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::packet::{IpFragmentation, ParsedPacket};
use slantpath_sctp::{
    Acceptance, AddressEvent, AssociationId, Chunk, CloseReason, ConnectOptions, Endpoint, Event, Input,
    Output, PartialMessage, PathState, PortConfig, StreamChange, StreamId, StreamsChanged,
};
use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::{Ecn, IpFields};
use slantpath_wire::{Checksum, Packet};

use crate::case::{CLEARS, Case, Feature, NETWORKS, Router, STREAMS};
use crate::wire_rules;

pub(crate) const PORT: u16 = 5_000;
const DELAY: Duration = Duration::from_millis(25);

/// A message that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) stream: u16,
    pub(crate) is_unordered: bool,
    pub(crate) sack_immediately: bool,
    pub(crate) destination: Option<IpAddr>,
    /// Numbers of times that it was acknowledged, given up, and handed back.
    pub(crate) fates: [u32; 3],
    pub(crate) deliveries: u32,
    /// True if it was handed over before the association was established.
    pub(crate) is_early: bool,
}

pub(crate) struct End {
    pub(crate) endpoint: Endpoint,
    pub(crate) id: Option<AssociationId>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) closed: Option<CloseReason>,
    pub(crate) outbound_streams: u16,
    /// Messages that this end was given, by their numbers.
    pub(crate) given: Vec<Given>,
    partial: PartialMessage,
    /// The Stream Sequence Number that each stream goes on with, as it is received.
    next_sequence: BTreeMap<u16, u16>,
    /// The number of the ordered message that each stream brought last, by the peer's count.
    last_number: BTreeMap<u16, u64>,
    /// Own resets of all streams, and of each, that have been carried out: outbound, inbound.
    pub(crate) resets: [BTreeMap<Option<u16>, u32>; 2],
    /// Changes of streams and of addresses that were asked for and have not been answered.
    pub(crate) asked: [u32; 2],
    /// Own addresses that the peer has been asked to know, or will be, each as often as that.
    pub(crate) adding: Vec<IpAddr>,
    /// Own addresses that the peer has agreed to forget.
    pub(crate) deleted: BTreeSet<IpAddr>,
    /// Addresses of the peer that have been deleted.
    pub(crate) forgotten: BTreeSet<IpAddr>,
    /// True if a message was refused for want of room, and room has not been announced since.
    pub(crate) waits_for_room: bool,
    /// Packets, DATA chunks and other chunks that were transmitted, and packets that came in.
    pub(crate) transmitted: [u64; 3],
    pub(crate) packets_in: u64,
    /// Packets that came in with a checksum that is wrong.
    pub(crate) damaged_in: u64,
    pub(crate) zero_checksums_out: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct UnderWay {
    pub(crate) from: usize,
    source: IpAddr,
    pub(crate) destination: IpAddr,
    ip: IpFields,
    pub(crate) packet: Packet,
    /// True if the checksum of the packet is wrong.
    pub(crate) is_damaged: bool,
}

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) case: Case,
    pub(crate) ends: [End; 2],
    pub(crate) under_way: BTreeMap<(Instant, u64), UnderWay>,
    /// Reports of routers, and the ends that they are for.
    reports: BTreeMap<(Instant, u64), (usize, Input)>,
    sequence: u64,
    fates: Stream,
    steps: u64,
}

impl World {
    pub(crate) fn new(seed: u64, case: Case) -> Self {
        let ends = [0, 1].map(|end| {
            let addresses = (1..=case.networks[end]).map(|network| case.address(network, end)).collect();
            let mut endpoint = Endpoint::default();
            let port = PortConfig { port: PORT, addresses, config: case.configs[end].clone() };
            endpoint.bind(port, Seed::new(seed, end as u64).stream("endpoint")).expect("a free port");
            assert!(endpoint.listen(PORT, Acceptance::ByPeer));
            End {
                endpoint,
                id: None,
                deadline: None,
                closed: None,
                outbound_streams: STREAMS,
                given: Vec::new(),
                partial: PartialMessage::new(u64::MAX),
                next_sequence: BTreeMap::new(),
                last_number: BTreeMap::new(),
                resets: [BTreeMap::new(), BTreeMap::new()],
                asked: [0, 0],
                adding: Vec::new(),
                deleted: BTreeSet::new(),
                forgotten: BTreeSet::new(),
                waits_for_room: false,
                transmitted: [0; 3],
                packets_in: 0,
                damaged_in: 0,
                zero_checksums_out: 0,
            }
        });
        let peer_addresses = (1..=case.networks[1]).map(|network| case.address(network, 1)).collect();
        let options =
            ConnectOptions { local_port: PORT, peer_addresses, peer_port: PORT, ..ConnectOptions::default() };
        let fates = Seed::new(seed, 2).stream("fates");
        let (under_way, reports) = (BTreeMap::new(), BTreeMap::new());
        let now = Instant::START;
        let mut world = Self { now, case, ends, under_way, reports, sequence: 0, fates, steps: 0 };
        world.ends[0].id =
            Some(world.ends[0].endpoint.connect(world.now, &options).expect("an association is begun"));
        world.drain(0);
        world
    }

    /// The path states of an end by the peer's addresses.
    pub(crate) fn path_states(&mut self, end: usize) -> BTreeMap<IpAddr, PathState> {
        let Some(id) = self.ends[end].id else { return BTreeMap::new() };
        let paths = self.ends[end].endpoint.path_snapshots(self.now, id);
        paths.map(|path| (path.destination, path.state)).collect()
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        let arrival = self.under_way.keys().next().map(|(at, _)| *at);
        let report = self.reports.keys().next().map(|(at, _)| *at);
        let deadlines = self.ends.iter().filter_map(|end| end.deadline);
        arrival.into_iter().chain(report).chain(deadlines).min()
    }

    /// Lets the next thing happen; `false` if nothing ever will.
    pub(crate) fn step(&mut self) -> bool {
        let Some(at) = self.next_at() else { return false };
        self.now = self.now.max(at);
        self.steps += 1;
        assert!(self.steps < 400_000, "it goes on and on");
        if let Some(entry) = self.under_way.first_entry()
            && entry.key().0 <= self.now
        {
            let arrived = entry.remove();
            self.arrive(arrived);
        } else if let Some(entry) = self.reports.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, input) = entry.remove();
            self.ends[to].endpoint.handle_input(self.now, input);
            self.drain(to);
        } else {
            for end in [0, 1] {
                if self.ends[end].deadline.is_some_and(|deadline| deadline <= self.now) {
                    self.ends[end].endpoint.handle_input(self.now, Input::Deadline);
                    self.drain(end);
                    let next = self.ends[end].deadline;
                    assert!(next.is_none_or(|next| next > self.now), "what is due is not done: {next:?}");
                }
            }
        }
        true
    }

    pub(crate) fn run_until(&mut self, until: Instant) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.now = self.now.max(until);
    }

    pub(crate) fn arrive(&mut self, arrived: UnderWay) {
        let UnderWay { from, source, destination, ip, packet, is_damaged } = arrived;
        let to = 1 - from;
        self.ends[to].packets_in += 1;
        let before = self.ends[to].endpoint.stats().bad_checksums;
        // What is without a checksum is taken of an association that is there, or nearly so.
        let is_stray = packet.contiguous()[8..12] == [0; 4] && !self.is_expected(to, source, &packet);
        let wants_sack = !is_damaged && self.wants_sack_at_once(to, &packet);
        self.ends[to].endpoint.handle_input(self.now, Input::Packet { source, destination, ip, packet });
        let is_bad = self.ends[to].endpoint.stats().bad_checksums > before;
        self.ends[to].damaged_in += u64::from(is_bad);
        assert!(
            is_stray || is_bad == is_damaged,
            "a packet is refused for its checksum if that is wrong, and only then"
        );
        let kinds = self.drain(to);
        if wants_sack && self.ends[to].closed.is_none() {
            assert!(kinds.iter().any(|kind| matches!(kind, 3 | 16)), "no SACK at once: {kinds:?}");
        }
        self.check_bounds();
    }

    /// Tells if a packet is of the association of the end that it comes to.
    fn is_expected(&self, to: usize, source: IpAddr, packet: &Packet) -> bool {
        if self.ends[to].forgotten.contains(&source) {
            return false;
        }
        let association = self.ends[to].id.and_then(|id| self.ends[to].endpoint.association(id));
        let tag = association.map(|association| association.local_tag().0.to_be_bytes());
        tag.is_some_and(|tag| packet.contiguous()[4..8] == tag)
    }

    /// Tells if a packet brings DATA with the I bit, to an end that may answer it.
    fn wants_sack_at_once(&self, to: usize, packet: &Packet) -> bool {
        let Some(association) = self.ends[to].id.and_then(|id| self.ends[to].endpoint.association(id)) else {
            return false;
        };
        // What waits for its turn behind a change of addresses or streams is not acknowledged as ever.
        let may_wait = [Feature::DynamicAddresses, Feature::Reconfiguration, Feature::Authentication];
        let is_open = matches!(
            association.state(),
            slantpath_sctp::AssociationState::Established | slantpath_sctp::AssociationState::ShutdownPending
        );
        if !is_open || may_wait.into_iter().any(|feature| self.case.has(feature)) {
            return false;
        }
        let packet = wire_rules::unverified(packet);
        let Ok(parsed) = ParsedPacket::parse(&packet) else { return false };
        parsed.header.verification_tag == association.local_tag()
            && parsed.chunks().flatten().any(|chunk| match chunk {
                Chunk::Data(data) => data.flags.is_immediate(),
                Chunk::IData(data) => data.flags.is_immediate(),
                _ => false,
            })
    }

    /// Polls an end until it waits, and gives the types of the chunks that it has sent.
    pub(crate) fn drain(&mut self, from: usize) -> Vec<u8> {
        let (mut kinds, mut routes) = (Vec::new(), Vec::new());
        for _ in 0..50_000 {
            let mut packet = Packet::default();
            match self.ends[from].endpoint.poll_output(self.now, &mut packet) {
                Output::Transmit { source, destination, ip, fragmentation } => {
                    let found = wire_rules::check(self, from, &packet);
                    kinds.extend_from_slice(&found);
                    routes.push((source, destination, found));
                    let sent = UnderWay { from, source, destination, ip, packet, is_damaged: false };
                    self.send(sent, fragmentation);
                }
                Output::Event(id, event) => self.hear(from, id, event),
                Output::Wait(deadline) => {
                    self.ends[from].deadline = deadline;
                    wire_rules::check_routes(&self.ends[from], &routes);
                    return kinds;
                }
            }
        }
        panic!("end {from} has output without end");
    }

    fn send(&mut self, mut sent: UnderWay, fragmentation: IpFragmentation) {
        let weather = self.case.weather.clone();
        let is_fair = self.now >= CLEARS;
        // The same draws for every packet, whatever becomes of it.
        let [loss, twice, damage, mark] = [(); 4].map(|()| self.fates.uniform());
        let delays =
            [0, 1].map(|_| DELAY + Duration::from_nanos(self.fates.below(weather.jitter.as_nanos())));
        let bit = self.fates.next_u64();
        let is_first_network = sent.destination == self.case.address(1, 1 - sent.from);
        let is_down = is_first_network && weather.outage.0 <= self.now && self.now < weather.outage.1;
        let header_len = if self.case.is_ipv6 { 40 } else { 20 };
        if let Some((from, mtu)) = weather.narrow
            && is_first_network
            && self.now >= from
            && fragmentation == IpFragmentation::Forbidden
            && sent.packet.len() + header_len > usize::from(mtu)
        {
            if weather.router != Router::Silent {
                self.report_too_big(&sent, mtu);
            }
            return;
        }
        if let Router::Lying(mtu) = weather.router
            && !is_fair
            && twice < 0.02
        {
            self.report_too_big(&sent, mtu);
        }
        if !is_fair && (loss < weather.loss || is_down) {
            return;
        }
        if sent.ip.ecn != Ecn::NotCapable && mark < weather.marks && !is_fair {
            sent.ip.ecn = Ecn::CongestionExperienced;
        }
        if !is_fair && twice < weather.duplication {
            self.put(delays[1], sent.clone());
        }
        if !is_fair && damage < weather.bit_errors {
            let mut bytes = sent.packet.contiguous().to_vec();
            let bit = usize::try_from(bit % (8 * bytes.len() as u64)).expect("a place");
            bytes[bit / 8] ^= 1 << (bit % 8);
            sent.packet = Packet::copied(&bytes, Checksum::Complete);
            sent.is_damaged = true;
        }
        self.put(if is_fair { DELAY } else { delays[0] }, sent);
    }

    fn put(&mut self, delay: Duration, packet: UnderWay) {
        self.under_way.insert((self.now + delay, self.sequence), packet);
        self.sequence += 1;
    }

    fn report_too_big(&mut self, sent: &UnderWay, mtu: u16) {
        let quote = sent.packet.contiguous();
        let quote = quote.slice(..quote.len().min(40));
        let error = IcmpError::PacketTooBig { mtu_bytes: mtu.into() };
        let input = Input::Icmp { source: sent.source, destination: sent.destination, error, quote };
        self.reports.insert((self.now + DELAY, self.sequence), (sent.from, input));
        self.sequence += 1;
    }

    fn hear(&mut self, at: usize, id: AssociationId, event: Event) {
        let [this, other] = self.ends.get_disjoint_mut([at, 1 - at]).expect("two ends");
        assert!(this.closed.is_none() || this.id != Some(id), "after its end an association says {event:?}");
        match event {
            Event::Established { outbound_streams, .. } => {
                assert!(this.id.is_none_or(|known| known == id), "one association");
                this.id = Some(id);
                this.outbound_streams = outbound_streams;
            }
            Event::Closed(reason) if this.id == Some(id) => this.closed = Some(reason),
            Event::Restarted => panic!("nobody has restarted"),
            Event::Received(message) => take(this, other, &message),
            Event::ReceivedPart(part) => {
                if let Some(message) = this.partial.push(part).expect("no message is too long") {
                    take(this, other, &message);
                }
            }
            Event::PartialDeliveryAborted { stream, is_unordered, sequence } => {
                this.partial.abort(stream, is_unordered);
                if !is_unordered {
                    this.next_sequence.insert(stream.0, sequence.0.wrapping_add(1));
                }
            }
            Event::Acknowledged { context } => this.given[place(context)].fates[0] += 1,
            Event::Abandoned { message, .. } => this.given[place(message.context)].fates[1] += 1,
            Event::SendFailed { message, .. } => this.given[place(message.context)].fates[2] += 1,
            Event::SendBufferDrained { .. } => this.waits_for_room = false,
            Event::Transmitted { context, destination, transmission: 1, .. } => {
                let asked = this.given[place(context)].destination;
                self.check_destination(at, asked, destination);
            }
            Event::StreamsChanged(change) => note_change(this, change),
            Event::ReconfigurationAnswered { change, .. } => {
                let named = match change {
                    StreamChange::ResetOutbound(streams) => u32::try_from(streams.len().max(1)).expect("few"),
                    _ => 1,
                };
                this.asked[0] = this.asked[0].checked_sub(named).expect("an answer to each request");
            }
            Event::Addresses(AddressEvent::Answered { change, is_accepted }) => {
                this.asked[1] = this.asked[1].checked_sub(1).expect("an answer to each request");
                if let AddressChange::Add(address) = change
                    && let Some(place) = this.adding.iter().position(|one| *one == address)
                {
                    this.adding.swap_remove(place);
                }
                match change {
                    AddressChange::Delete(address) if is_accepted => this.deleted.insert(address),
                    AddressChange::Add(address) if is_accepted => this.deleted.remove(&address),
                    _ => false,
                };
            }
            Event::Addresses(AddressEvent::PeerAdded(address)) => {
                this.forgotten.remove(&address);
            }
            Event::Addresses(AddressEvent::PeerRemoved(address)) => {
                this.forgotten.insert(address);
            }
            _ => {}
        }
    }

    /// Checks that DATA for a certain address goes there if that is active.
    fn check_destination(&mut self, from: usize, asked: Option<IpAddr>, went: IpAddr) {
        let Some(asked) = asked else { return };
        if self.path_states(from).get(&asked) == Some(&PathState::Active) {
            assert_eq!(asked, went, "DATA does not go where it was to go");
        }
    }

    /// Checks that the stored amounts are bounded.
    fn check_bounds(&self) {
        for (end, config) in self.ends.iter().zip(&self.case.configs) {
            assert!(end.endpoint.association_count() <= 1, "one association");
            let Some(association) = end.id.and_then(|id| end.endpoint.association(id)) else { continue };
            let snapshot = association.snapshot();
            let most = 2 * u64::from(config.receive_buffer_bytes) + 65_535;
            assert!(snapshot.receive_buffered <= most, "{snapshot:?}");
            assert!(snapshot.send_buffered <= config.send_buffer_bytes, "{snapshot:?}");
            assert!(
                association.path_snapshots(self.now).count() <= usize::from(NETWORKS),
                "a path for each address"
            );
        }
    }
}

pub(crate) fn place(context: u64) -> usize {
    usize::try_from(context).expect("a place")
}

/// A message arrives that was sent, as it was sent, once, and in its order.
fn take(this: &mut End, other: &mut End, message: &slantpath_sctp::ReceivedMessage) {
    let number = number(&message.payload);
    let given = other.given.get_mut(place(number)).expect("a message that was sent");
    let StreamId(stream) = message.stream;
    assert_eq!((given.stream, given.is_unordered), (stream, message.is_unordered), "message {number}");
    given.deliveries += 1;
    assert_eq!(given.deliveries, 1, "message {number} comes twice");
    if message.is_unordered {
        return;
    }
    let last = this.last_number.insert(stream, number);
    assert!(last.is_none_or(|last| last < number), "{number} of stream {stream} comes behind {last:?}");
    // All between were given up, or lie on other streams.
    let from = last.map_or(0, |last| place(last) + 1);
    let mut skipped = 0_u16;
    for (between, one) in other.given[from..place(number)].iter().enumerate() {
        if one.stream == stream && !one.is_unordered {
            assert!(
                one.fates[1] + one.fates[2] > 0,
                "message {} of stream {stream} is left out",
                from + between
            );
            skipped += 1;
        }
    }
    let next = this.next_sequence.entry(stream).or_default();
    let gap = message.sequence.0.wrapping_sub(*next);
    assert!(gap <= skipped, "message {number} of stream {stream} is {}: {next} was due", message.sequence);
    *next = message.sequence.0.wrapping_add(1);
}

fn note_change(this: &mut End, change: StreamsChanged) {
    let (side, streams) = match change {
        StreamsChanged::Added { outbound_streams, .. } => {
            assert!(this.outbound_streams <= outbound_streams, "streams are not taken away");
            this.outbound_streams = outbound_streams;
            return;
        }
        StreamsChanged::OutboundReset(streams) => (0, streams),
        StreamsChanged::InboundReset(streams) => (1, streams),
        StreamsChanged::AssociationReset => {
            this.next_sequence.clear();
            for side in &mut this.resets {
                *side.entry(None).or_default() += 1;
            }
            return;
        }
    };
    if streams.is_empty() {
        *this.resets[side].entry(None).or_default() += 1;
        if side == 1 {
            this.next_sequence.clear();
        }
    }
    for stream in streams {
        *this.resets[side].entry(Some(stream.0)).or_default() += 1;
        if side == 1 {
            this.next_sequence.remove(&stream.0);
        }
    }
}

/// A message's bytes: its number, then what follows from that.
pub(crate) fn payload(number: u64, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.max(8)).map(|at| (at as u64 ^ number).to_le_bytes()[0]).collect();
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u64 {
    let number = u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"));
    assert_eq!(bytes, payload(number, bytes.len()), "the bytes of message {number}");
    number
}
