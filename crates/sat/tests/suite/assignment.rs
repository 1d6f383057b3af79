//! Mean delays of packets by the ways in which capacity is assigned: fixed (TDMA), on demand (DAMA), and on demand with
//! what is left given in turn (CFDAMA), held to closed formulas and to what was published of them:
//!
//! - S. S. Lam: Delay Analysis of a Time Division Multiple Access (TDMA) Channel. IEEE Trans. Comm. 25(12), 1977.
//! - T. Le-Ngoc, S. V. Krishnamurthy: Performance of combined free/demand assignment multiple-access schemes in
//!   satellite communications. Int. J. Satellite Communications 14, 1996.
//! - T. Le-Ngoc, I. M. Jahangir: Performance Analysis of CFDAMA-PB Protocol for Packet Satellite Communications. IEEE
//!   Trans. Comm. 46(9), 1998.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    DirectionConfig, EndSystem, FrameConfig, InterfaceId, Network, NetworkBuilder, Planned, QueueConfig,
    QueueLimit, SendingConfig,
};
use slantpath_sat::{Access, AccessConfig, AccessRequests, Ask, ContentionConfig, OnDemand, TerminalConfig};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

/// A slot of a millisecond carries one packet, and a frame has twenty.
const SLOT: f64 = 1e-3;
const SLOTS: u32 = 20;
const FRAME: FrameConfig = FrameConfig {
    length: Duration::from_millis(20),
    slots: SLOTS,
    slot_overhead: Duration::ZERO,
    slot_payload_bytes: 100,
};
/// To a satellite that assigns, and from there; and for packets all the way.
const HOP: Duration = Duration::from_millis(135);
const FLIGHT: f64 = 0.27;

/// Sends packets when they come, and keeps how long those took that arrived.
#[derive(Clone, Debug, Default)]
struct Station {
    to_send: VecDeque<(Instant, InterfaceId)>,
    /// Instants at which packets came that will arrive by each interface, in order.
    expected: HashMap<InterfaceId, VecDeque<Instant>>,
    delays: Vec<f64>,
    /// Instant from which on packets are counted.
    counts_from: Instant,
}

impl EndSystem for Station {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, _packet: &mut Packet) {
        let came = self.expected.get_mut(&interface).and_then(VecDeque::pop_front).unwrap();
        if came >= self.counts_from {
            self.delays.push(now.saturating_since(came).as_secs_f64());
        }
    }

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let (_, interface) = self.to_send.pop_front_if(|(at, _)| *at <= now)?;
        let header = IpHeader {
            source: IpAddr::from([10, 0, 0, 1]),
            destination: IpAddr::from([10, 0, 0, 2]),
            protocol: protocol::UDP,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: 80,
            fragmentation: Fragmentation::Forbidden,
        };
        *packet = Packet::shared(vec![0; 80].into(), Checksum::Complete);
        header.emit(packet.prepend(20));
        Some(interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.to_send.front().map(|(at, _)| *at)
    }
}

/// Scheme by which capacity is assigned.
#[derive(Clone, Copy, Debug)]
struct Scheme {
    permanent_slots: u32,
    ask: Ask,
    ask_every_ms: u64,
    requests: AccessRequests,
    gives_free_slots: bool,
}

/// Every terminal has so many slots for good, and nothing else.
const fn fixed(permanent_slots: u32) -> Scheme {
    let requests = AccessRequests::Assigned;
    Scheme { permanent_slots, ask: Ask::Never, ask_every_ms: 20, requests, gives_free_slots: false }
}

/// Requests have room of their own, each terminal's once in `ask_every_ms`.
const fn on_demand(ask_every_ms: u64) -> Scheme {
    let requests = AccessRequests::Assigned;
    Scheme { permanent_slots: 0, ask: Ask::Volume, ask_every_ms, requests, gives_free_slots: false }
}

const PIGGYBACKED: Scheme =
    Scheme { requests: AccessRequests::Piggybacked, gives_free_slots: true, ..on_demand(20) };

/// Requests contend for `per_frame` rooms, which take a slot.
const fn contending(per_frame: u32) -> Scheme {
    let contention = ContentionConfig { per_frame, slots: 1, backoff_frames: 4 };
    Scheme { requests: AccessRequests::Contention(contention), gives_free_slots: true, ..on_demand(20) }
}

/// The mean delay in seconds of packets that come to terminals at random, all together as many as `load` of the slots
/// carry.
fn mean_delay(terminals: u32, load: f64, scheme: Scheme) -> f64 {
    let (warm_up, end) = (Instant::from_secs(20), Instant::from_secs(140));
    let seed = Seed::new(7, 0);
    let mut builder = NetworkBuilder::new();
    let hub = builder.host("hub");
    let (mut configs, mut nodes, mut interfaces) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..terminals {
        let node = builder.host(&format!("terminal-{number}"));
        let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
        let rate = DataRate::from_bits_per_sec(800_000);
        let down = DirectionConfig::new(rate, Duration::from_secs_f64(FLIGHT), queue);
        let up = DirectionConfig { sending: SendingConfig::InFrames(FRAME), ..down.clone() };
        let link = builder.link(&format!("satellite-{number}"), node, hub, up, down);
        // All links end at the same two addresses: what arrives is told apart by its interface.
        let other =
            IpAddr::from([10, 1, u8::try_from(number / 256).unwrap(), u8::try_from(number % 256).unwrap()]);
        builder.address(link.first(), other);
        if number == 0 {
            builder.address(link.second(), IpAddr::from([10, 0, 0, 2]));
        }
        nodes.push(node);
        interfaces.push(link);
        configs.push(TerminalConfig {
            direction: link.forward(),
            permanent_slots: scheme.permanent_slots,
            most_slots: SLOTS,
            ask: scheme.ask,
            release_after: Duration::ZERO,
            interruption: Duration::ZERO,
        });
    }
    let graph = builder.build().unwrap();
    let chance = (0..terminals).map(|place| seed.stream(&format!("requests/{place}"))).collect();
    let config = AccessConfig {
        frame: FRAME,
        carriers: 1,
        ask_every: Duration::from_millis(scheme.ask_every_ms),
        hop: HOP,
        plan_every: FRAME.length,
        processing: Duration::ZERO,
        lead: Duration::ZERO,
        requests: scheme.requests,
        gives_free_slots: scheme.gives_free_slots,
        terminals: configs,
    };
    let source = OnDemand::new(Planned::new(&graph), vec![Access::new(config, chance)]);
    let hosts = vec![Station { counts_from: warm_up, ..Station::default() }; nodes.len() + 1];
    let mut network = Network::with_source(graph, seed, hosts, source);
    let mean = Duration::from_secs_f64(f64::from(terminals) * SLOT / load);
    for (number, (&node, link)) in nodes.iter().zip(&interfaces).enumerate() {
        let mut chance = seed.stream(&format!("packets/{number}"));
        let mut at = Instant::START + chance.exponential(mean);
        let mut came = VecDeque::new();
        while at < end {
            came.push_back(at);
            at += chance.exponential(mean);
        }
        let to_send = came.iter().map(|&at| (at, link.first())).collect();
        network.command(node, |station, _| station.to_send = to_send);
        network.command(hub, |station, _| station.expected.insert(link.second(), came));
    }
    network.run_until(end);
    let delays = &network.host(hub).delays;
    assert!(delays.len() as f64 > 0.8 * 100.0 * load / SLOT, "most packets arrive: {}", delays.len());
    delays.iter().sum::<f64>() / delays.len() as f64
}

/// Checks that `actual` is within `tolerance` of `expected`, as a share of it.
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() < tolerance, "{actual:.4} s, where {expected:.4} s are expected");
}

#[test]
fn fixed_slots_delay_as_the_formula_of_tdma_has_it() {
    for load in [0.1, 0.5, 0.8, 0.9] {
        // A packet waits for its slot, which comes once a frame, behind those before it; and is sent in one slot. (Lam,
        // equation 14, for packets of one slot.)
        let waits = f64::from(SLOTS) * SLOT / (2.0 * (1.0 - load));
        near(mean_delay(20, load, fixed(1)), FLIGHT + waits + SLOT, 0.02);
    }
}

#[test]
fn on_demand_a_packet_of_an_idle_system_takes_two_flights_and_the_loop() {
    // It waits for a look (10 ms on average), is 135 ms on its way to the satellite, waits for a plan (10), whose
    // answer takes 135, for a frame (10) and for its slot in it, which is among the first.
    let delay = mean_delay(20, 0.01, on_demand(20));
    near(delay, 2.0 * FLIGHT + 3.0 * 0.01 + SLOT, 0.02);
}

#[test]
fn in_an_idle_system_free_slots_save_the_loop() {
    // Each of fifty terminals has a slot once in fifty on average.
    near(mean_delay(50, 0.02, PIGGYBACKED), FLIGHT + 50.0 * SLOT / 2.0 + SLOT, 0.04);
}

/// "For low and medium traffic loads a much shorter delay, while maintaining the high channel utility of demand
/// assignment" (1996); "superior to TDMA and DAMA for a wide range of user population sizes" (1998), in our words.
#[test]
fn combined_assignment_is_better_than_both_that_it_combines() {
    for terminals in [20, 100] {
        for load in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let combined = mean_delay(terminals, load, PIGGYBACKED);
            let demand = mean_delay(terminals, load, on_demand(u64::from(terminals)));
            assert!(combined < demand, "{terminals} at {load}: {combined} s, on demand alone {demand} s");
        }
    }
}

/// Requests in preassigned rooms are best with few terminals, and contention with very many (1996).
#[test]
fn contention_for_requests_is_better_with_very_many_terminals_only() {
    for (terminals, contention_is_better) in [(20, false), (1_000, true)] {
        // Room for ten requests in each frame: a terminal's turn comes every two milliseconds for each of them.
        let assigned = Scheme { gives_free_slots: true, ..on_demand((u64::from(terminals) * 2).max(20)) };
        let by_turns = mean_delay(terminals, 0.2, assigned);
        let by_contention = mean_delay(terminals, 0.2, contending(10));
        assert_eq!(by_contention < by_turns, contention_is_better, "{by_contention} s and {by_turns} s");
    }
}
