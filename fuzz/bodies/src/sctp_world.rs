//! Whole associations: two endpoints, and a network that does with their packets whatever the input says.

mod account;
mod acts;
mod lies;
mod settings;
mod shown;

use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{
    self as sctp, Acceptance, AssociationId, ConnectOptions, Extension, PortConfig, SctpConfig,
};
use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::{Ecn, IpFields};
use slantpath_wire::{Checksum, Packet};

use account::End;
use settings::Settings;

const PORT: u16 = 5_000;
/// A step of time that the network takes for a packet.
const HOP: Duration = Duration::from_millis(1);
/// Largest number of outputs that one input may bring about.
const MOST_OUTPUTS: usize = 20_000;

/// A packet under way.
#[derive(Clone)]
struct UnderWay {
    /// Sender of the packet.
    from: usize,
    source: IpAddr,
    destination: IpAddr,
    ip: IpFields,
    packet: Packet,
}

/// Two endpoints that begin one association.
struct World {
    now: Instant,
    ends: [End; 2],
    under_way: VecDeque<UnderWay>,
    configs: [SctpConfig; 2],
    /// Names of the uses of extensions that the packets and the users have shown.
    shown: BTreeSet<&'static str>,
    /// True if everything that is received has been sent: not if packets are made up.
    is_honest: bool,
}

/// Loss, repetition, reordering and bit errors between two honest ends, and what their users do: each step is four
/// bytes. The first byte, what is left behind the last step, and a first step that begins with 0xff say what the
/// settings are. Every stream keeps its order, nothing is delivered twice, and once the network is whole again
/// everything arrives that has not been given up as it asks, unless somebody has ended the association.
pub fn pair(data: &[u8]) {
    let _shown = shown_by_pair(data);
}

/// Variant of [`pair`] that returns what the ends have shown of each extension: kinds of chunks that they have sent,
/// what they have asked for and why they have given messages up, each by a name.
pub fn shown_by_pair(data: &[u8]) -> BTreeSet<&'static str> {
    let Some(settings) = Settings::read(data) else { return BTreeSet::new() };
    let mut world = World::new(&settings, true);
    for step in settings.steps.chunks_exact(4).take(300) {
        match step[0] {
            0xe0.. => world.act([step[0], step[1], step[2], step[3]]),
            op => world.step([op % 14, step[1], step[2], step[3]]),
        }
    }
    world.settle();
    world.shown
}

/// Variant of [`pair`] with packets that neither end has sent, and that bear the right tags: nothing panics, no step is
/// without end, and the memory held stays bounded.
pub fn hostile(data: &[u8]) {
    let Some(settings) = Settings::read(data) else { return };
    let mut world = World::new(&settings, false);
    let mut steps = settings.steps.chunks_exact(4).take(300);
    while let Some(step) = steps.next() {
        match (step[0], step[0] % 20) {
            (0xf0.., _) => world.act([step[0], step[1], step[2], step[3]]),
            (_, 14) => world.inject_data(step),
            (_, 15) => world.inject_sack(step, steps.next().unwrap_or(&[])),
            (_, 16..=19) => {
                // As many steps as it says are chunks as they are.
                let raw: Vec<u8> =
                    steps.by_ref().take(usize::from(step[1] % 32)).flatten().copied().collect();
                world.inject_raw(usize::from(step[2] & 1), step[3], &raw);
            }
            (_, op) => world.step([op, step[1], step[2], step[3]]),
        }
        world.check_bounds();
    }
}

fn address(network: u8, end: usize) -> IpAddr {
    [10, 0, network, if end == 0 { 1 } else { 2 }].into()
}

impl World {
    fn new(settings: &Settings<'_>, is_honest: bool) -> Self {
        let &Settings { networks, ref configs, .. } = settings;
        let ends = [0, 1].map(|end| {
            let addresses = (0..networks).map(|network| address(network, end)).collect();
            let mut endpoint = sctp::Endpoint::default();
            let port = PortConfig { port: PORT, addresses, config: configs[end].clone() };
            endpoint.bind(port, Seed::new(1, end as u64).stream("end")).expect("a free port");
            assert!(endpoint.listen(PORT, Acceptance::ByPeer));
            End::new(endpoint)
        });
        let mut world = Self {
            now: Instant::START,
            ends,
            under_way: VecDeque::new(),
            configs: configs.clone(),
            shown: BTreeSet::new(),
            is_honest,
        };
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
            4 if self.may_omit_checksums() => drop(self.under_way.remove(place)),
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
                let quote = self.under_way.get(place).map(|packet| {
                    (packet.from, (packet.source, packet.destination), packet.packet.contiguous())
                });
                if let Some((from, (source, destination), quote)) = quote {
                    let error = IcmpError::PacketTooBig { mtu_bytes: u32::from(a) * 8 };
                    let quote = quote.slice(..quote.len().min(40));
                    self.input(from, sctp::Input::Icmp { source, destination, error, quote });
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

    fn deliver(&mut self, place: usize) {
        let Some(UnderWay { from, source, destination, ip, packet }) = self.under_way.remove(place) else {
            return;
        };
        self.now += HOP;
        self.expire();
        self.input(1 - from, sctp::Input::Packet { source, destination, ip, packet });
    }

    fn advance(&mut self, span: Duration) {
        self.now += span;
        self.expire();
    }

    fn expire(&mut self) {
        for end in 0..2 {
            if self.ends[end].deadline.is_some_and(|deadline| deadline <= self.now) {
                self.input(end, sctp::Input::Deadline);
            }
        }
    }

    fn input(&mut self, end: usize, input: sctp::Input) {
        self.ends[end].endpoint.handle_input(self.now, input);
        self.drain(end);
    }

    fn drain(&mut self, from: usize) {
        for _ in 0..MOST_OUTPUTS {
            let mut packet = Packet::default();
            match self.ends[from].endpoint.poll_output(self.now, &mut packet) {
                sctp::Output::Transmit { source, destination, ip, .. } => {
                    self.check_packet(from, &packet);
                    self.under_way.push_back(UnderWay { from, source, destination, ip, packet });
                }
                sctp::Output::Event(id, event) => self.hear(from, id, event),
                sctp::Output::Wait(deadline) => {
                    self.ends[from].deadline = deadline;
                    return;
                }
            }
        }
        panic!("a step without end");
    }

    /// Checks that a written packet can be read, lacks its checksum only where that has been agreed on, and has no
    /// chunk of an extension that has not.
    fn check_packet(&mut self, from: usize, packet: &Packet) {
        let bytes = packet.contiguous();
        let is_without = bytes[8..12] == [0; 4];
        let may_lack = |config: &SctpConfig| config.zero_checksum.is_some();
        let may_lack =
            if self.is_honest { self.configs.iter().all(may_lack) } else { may_lack(&self.configs[from]) };
        assert!(may_lack && is_without || ParsedPacket::parse(packet).is_ok());
        let written = Packet::shared(bytes, Checksum::Omitted);
        let parsed = ParsedPacket::parse(&written).expect("a packet that can be read");
        assert!(parsed.chunks().all(|chunk| chunk.is_ok()));
        if self.is_honest {
            shown::check_agreed(&self.configs, from, &parsed);
        }
        shown::note(&mut self.shown, &parsed);
        if is_without {
            self.shown.insert("a packet without a checksum");
        }
    }

    fn hear(&mut self, at: usize, id: AssociationId, event: sctp::Event) {
        assert!(!self.is_honest || event != sctp::Event::Restarted, "nobody has restarted");
        self.shown.extend(account::policy_of(&event));
        let [this, other] = self.ends.get_disjoint_mut([at, 1 - at]).expect("two ends");
        if let Some(message) = this.hear(id, event)
            && self.is_honest
        {
            this.take(other, &message);
        }
    }

    /// Tells if an end takes packets without a checksum.
    fn may_omit_checksums(&self) -> bool {
        self.configs.iter().any(|config| config.zero_checksum.is_some())
    }

    /// Tells if both ends offer an extension.
    fn agree_on(&self, extension: Extension) -> bool {
        self.configs.iter().all(|config| config.extensions.contain(extension))
    }

    /// The network is whole again: everything arrives, or the association has ended.
    fn settle(&mut self) {
        for end in 0..2 {
            self.restore_links(end);
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
        let [first, second] = &self.ends;
        first.judge(second);
        second.judge(first);
    }

    fn is_at_rest(&self) -> bool {
        self.ends.iter().all(End::is_at_rest)
    }

    /// Checks that the memory held for the other end is bounded, whatever that sends.
    fn check_bounds(&self) {
        for (end, config) in self.ends.iter().zip(&self.configs) {
            assert!(end.endpoint.association_count() <= 2, "an association for each peer");
            let Some(association) = end.id.and_then(|id| end.endpoint.association(id)) else { continue };
            let snapshot = association.snapshot();
            let buffer = u64::from(config.receive_buffer_bytes);
            assert!(snapshot.receive_buffered <= 2 * buffer + 65_535, "{snapshot:?}");
            assert!(snapshot.send_buffered <= config.send_buffer_bytes, "{snapshot:?}");
        }
    }
}
