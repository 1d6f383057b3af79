//! Terminals that send in bursts over a link to a hub: when packets arrive, and when what was asked for is there.

use proptest::prelude::*;
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    self as net, Change, DirectionConfig, FrameConfig, InterfaceId, LinkEnd, Network, NetworkBuilder, NodeId,
    Planned, QueueConfig, QueueLimit, SendingConfig, WhileDown,
};
use slantpath_sat::{
    Access, AccessConfig, AccessRequests, AccessSample, Ask, ContentionConfig, OnDemand, TerminalConfig,
};
use slantpath_wire::Packet;

use crate::fixture::{self, address};

/// Instant of arrival, and length of the packet in bytes.
type Arrival = (Instant, usize);
type Scripted = fixture::Scripted<Arrival>;

impl fixture::Arrival for Arrival {
    fn of(now: Instant, packet: &Packet) -> Self {
        (now, packet.len())
    }
}

fn packet(from: u8, length: usize) -> Packet {
    fixture::packet(address(from), address(200 + from), length, 0)
}

/// Frames of 10 ms with ten slots, of which 0.1 ms is guard time; a byte takes 9 µs in the rest.
const FRAME: FrameConfig = FrameConfig {
    length: Duration::from_millis(10),
    slots: 10,
    slot_overhead: Duration::from_micros(100),
    slot_payload_bytes: 100,
};

/// Slots that a terminal has for good and at most, and what it asks for.
#[derive(Clone, Copy, Debug)]
struct Terminal {
    permanent_slots: u32,
    most_slots: u32,
    ask: Ask,
    release_after: Duration,
    interruption: Duration,
}

/// Carriers, and how requests come to the controller.
#[derive(Clone, Copy, Debug)]
struct System {
    carriers: u32,
    requests: AccessRequests,
    gives_free_slots: bool,
}

const fn carriers(carriers: u32) -> System {
    System { carriers, requests: AccessRequests::Assigned, gives_free_slots: false }
}

struct World {
    network: Network<Scripted, OnDemand<Planned>>,
    terminals: Vec<(NodeId, InterfaceId)>,
    hub: NodeId,
}

/// Terminals on these carriers with 250 ms to the hub, which is also where the controller is. They look every 100 ms,
/// it plans as often, takes 20 ms for it, and has plans be known 30 ms before they hold.
fn world(terminals: &[Terminal], system: System) -> World {
    world_with(terminals, system, &[])
}

/// Variant of [`world`] with changes of what the first terminal sends by, in microseconds.
fn world_with(terminals: &[Terminal], system: System, changes: &[(u64, Change)]) -> World {
    let mut builder = NetworkBuilder::new();
    let hub = builder.host("hub");
    let (mut places, mut configs) = (Vec::new(), Vec::new());
    for (number, terminal) in (1_u8..).zip(terminals) {
        let name = format!("terminal-{number}");
        let node = builder.host(&name);
        let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
        let rate = DataRate::from_bits_per_sec(888_888);
        let down = DirectionConfig::new(rate, Duration::from_millis(250), queue);
        let up = DirectionConfig {
            sending: SendingConfig::InFrames(FRAME),
            overhead_bytes: 10,
            while_down: WhileDown::Hold,
            ..down.clone()
        };
        let link = builder.link(&format!("satellite-{number}"), node, hub, up, down);
        builder.address(link.first(), address(number)).address(link.second(), address(200 + number));
        places.push((node, link.first()));
        configs.push(TerminalConfig {
            direction: link.forward(),
            permanent_slots: terminal.permanent_slots,
            most_slots: terminal.most_slots,
            ask: terminal.ask,
            release_after: terminal.release_after,
            interruption: terminal.interruption,
        });
    }
    for &(at, change) in changes {
        builder.change(micros(at), configs[0].direction, change);
    }
    let graph = builder.build().unwrap();
    let System { carriers, requests, gives_free_slots } = system;
    let chance = (0..terminals.len()).map(|place| Seed::new(1, 0).stream(&format!("terminals/{place}")));
    let config = AccessConfig {
        frame: FRAME,
        carriers,
        ask_every: Duration::from_millis(100),
        hop: Duration::from_millis(250),
        plan_every: Duration::from_millis(100),
        processing: Duration::from_millis(20),
        lead: Duration::from_millis(30),
        requests,
        gives_free_slots,
        terminals: configs,
    };
    let mut access = Access::new(config, chance.collect());
    access.record();
    let source = OnDemand::new(Planned::new(&graph), vec![access]);
    let hosts = vec![Scripted::default(); terminals.len() + 1];
    World { network: Network::with_source(graph, Seed::new(1, 0), hosts, source), terminals: places, hub }
}

impl World {
    fn send(&mut self, terminal: u8, at: Instant, length: usize) {
        let (node, interface) = self.terminals[usize::from(terminal) - 1];
        let packet = packet(terminal, length);
        self.network.command(node, |host, _| host.to_send.push_back((at, interface, packet)));
    }

    /// Gives the instants at which packets had left, as they arrive 250 ms later, and their lengths; nothing is under
    /// way by `end`.
    fn departures(&mut self, end: Instant) -> Vec<(Instant, usize)> {
        self.network.run_until(end);
        let arrived = self.network.host(self.hub).received.iter();
        arrived.map(|&(at, length)| (at - Duration::from_millis(250), length)).collect()
    }

    fn samples(&mut self) -> Vec<AccessSample> {
        self.network.source_mut().systems_mut()[0].take_samples()
    }
}

fn micros(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

const fn terminal(permanent_slots: u32, most_slots: u32, ask: Ask) -> Terminal {
    let (release_after, interruption) = (Duration::ZERO, Duration::ZERO);
    Terminal { permanent_slots, most_slots, ask, release_after, interruption }
}

#[test]
fn packets_leave_in_the_slots_of_their_terminal() {
    let mut world = world(&[terminal(2, 2, Ask::Never), terminal(3, 3, Ask::Never)], carriers(1));
    // With a header of 10 bytes, 100 in all: a slot.
    for length in [90, 90, 240] {
        world.send(1, micros(0), length);
    }
    // The second has slots 2 to 4. It comes as the first of them is half over: 50 bytes go there.
    world.send(2, micros(2_550), 90);
    world.send(2, micros(11_000), 290);
    let departures = world.departures(Instant::from_secs(2));
    // Those of the first end with slots 0 and 1, and in the middle of the third slot after them.
    let expected = [(1_000, 90), (2_000, 90), (3_550, 90), (15_000, 290), (20_550, 240)];
    assert_eq!(departures, expected.map(|(at, length)| (micros(at), length)));
}

#[test]
fn a_packet_that_comes_while_another_is_sent_follows_it_and_one_that_is_cut_off_is_lost() {
    for (changes, expected) in [
        // 55 bytes of the first go in what is left of its slot, and 45 in the next, and so on.
        (vec![], vec![(1_505, 90), (2_505, 90)]),
        (vec![(700, Change::Down), (5_000, Change::Up)], vec![(6_000, 90)]),
    ] {
        let mut world = world_with(&[terminal(10, 10, Ask::Never)], carriers(1), &changes);
        world.send(1, micros(500), 90);
        world.send(1, micros(600), 90);
        let departures = world.departures(Instant::from_secs(2));
        let expected: Vec<_> = expected.into_iter().map(|(at, length)| (micros(at), length)).collect();
        assert_eq!(departures, expected);
        let (_, interface) = world.terminals[0];
        let lost = world.network.counters(interface.outbound()).dropped(net::DropReason::Down).packets;
        assert_eq!((lost, world.network.packets_under_way()), (2 - expected.len() as u64, 0));
    }
}

#[test]
fn what_is_asked_for_is_there_after_the_loop() {
    for (interruption, resumes) in [(0, 1_700), (500, 2_200)] {
        let interruption = Duration::from_millis(interruption);
        let release_after = Duration::from_secs(1);
        let ask = Ask::Rate { drain: Duration::from_secs(1) };
        let mut world =
            world(&[Terminal { release_after, interruption, ..terminal(1, 8, ask) }], carriers(1));
        // A hundred packets of a slot each, as it has just looked.
        for _ in 0..100 {
            world.send(1, micros(1_000_001), 90);
        }
        let departures = world.departures(Instant::from_secs(9));
        assert_eq!(departures.len(), 100);
        // It looks after 100 ms and asks for all that it may have. That is at the controller 250 ms later, which plans
        // 50 ms after that; the plan is there 270 ms later, and holds 30 ms after that: 700 ms after the step.
        let per_frame = |frame: u64| {
            let frame = Instant::from_millis(10 * frame)..=Instant::from_millis(10 * (frame + 1));
            departures.iter().filter(|(at, _)| frame.contains(at) && *at > *frame.start()).count()
        };
        assert!((100..170).all(|frame| per_frame(frame) == 1), "one slot until then");
        let resumed = resumes / 10;
        assert!((170..resumed).all(|frame| per_frame(frame) == 0), "nothing while it is interrupted");
        assert_eq!([0, 1, 2].map(|after| per_frame(resumed + after)), [8, 8, 8]);
        // It needs less from 1.2 s on, asks for less after a second of that, and has less 600 ms later.
        let with_more = world.samples().into_iter().filter(|sample| sample.slots == 8);
        let with_more: Vec<u64> = with_more.map(|sample| sample.at.since_start().as_millis()).collect();
        assert_eq!((with_more.len(), with_more[0], with_more[10]), (11, 1_700, 2_700));
    }
}

#[test]
fn a_volume_is_carried_whole_and_no_slot_is_kept() {
    let mut world = world(&[terminal(0, 10, Ask::Volume)], carriers(1));
    for number in 0..300 {
        world.send(1, micros(1_000_001 + 2_000 * number), 90);
    }
    let departures = world.departures(Instant::from_secs(9));
    assert_eq!(departures.len(), 300);
    // It looks at 1.1 s; the first slots are there at 1.7.
    assert_eq!(departures[0].0, micros(1_701_000));
    let samples = world.samples();
    let last = samples.last().unwrap();
    assert_eq!((last.slots, last.backlog_bytes), (0, 0));
    // What slots could carry beside what was asked for is little.
    let given: u64 = samples.iter().map(|sample| 1_000 * u64::from(sample.slots)).sum();
    assert!((30_000..45_000).contains(&given), "{given} bytes for 30,000");
}

#[test]
fn equal_terminals_carry_as_much_however_few_slots_there_are() {
    let drain = Duration::from_millis(500);
    for ask in [Ask::Rate { drain }, Ask::Volume, Ask::AbsoluteVolume] {
        for interruption in [Duration::ZERO, Duration::from_millis(20)] {
            let each = Terminal { interruption, ..terminal(0, 10, ask) };
            let mut world = world(&[each; 12], carriers(1));
            for number in 1..=12 {
                for _ in 0..2_000 {
                    world.send(number, Instant::from_millis(1), 90);
                }
            }
            world.network.run_until(Instant::from_secs(20));
            let waiting = world.samples().into_iter().rev().take(12).map(|sample| sample.backlog_bytes);
            let carried: Vec<u64> = waiting.map(|backlog| 200_000 - backlog).collect();
            // Ten slots of 100 bytes in 10 ms, from 0.7 s on: 161 kB for each, but for what interruptions take.
            let least = if interruption.is_zero() { 158_000 } else { 140_000 };
            let (min, max) = (carried.iter().min().unwrap(), carried.iter().max().unwrap());
            assert!(*min > least && *max < 163_000 && max - min < 3_000, "{ask:?}: {carried:?}");
        }
    }
}

/// Terminals that all have packets of a slot each from one moment on, and share two slots of requests.
fn contending(terminals: u8, per_frame: u32, packets: u64) -> World {
    let contention = ContentionConfig { per_frame, slots: 2, backoff_frames: 8 };
    let requests = AccessRequests::Contention(contention);
    let system = System { requests, ..carriers(1) };
    let mut world = world(&vec![terminal(0, 8, Ask::AbsoluteVolume); usize::from(terminals)], system);
    for terminal in 1..=terminals {
        for _ in 0..packets {
            world.send(terminal, Instant::from_millis(1), 90);
        }
    }
    world
}

#[test]
fn requests_that_meet_are_not_heard_and_repeated_until_they_are() {
    // One terminal alone is heard at once: it looks after 100 ms, and asks in that frame or the next.
    let mut alone = contending(1, 1, 5);
    assert_eq!(alone.departures(Instant::from_secs(20)).len(), 5);
    let samples = alone.samples();
    assert_eq!(samples.iter().map(|sample| (sample.requests, sample.collided)).max(), Some((1, 0)));
    // Ten look within 100 ms, each in a frame of its own; two requests in each frame's only room meet.
    let mut all = contending(10, 1, 5);
    assert_eq!(all.departures(Instant::from_secs(60)).len(), 50);
    assert!(all.samples().iter().all(|sample| sample.collided == 0));
    // Of thirty, three choose each room: all that are sent at first meet, and are heard later.
    let mut crowd = contending(30, 1, 5);
    assert_eq!(crowd.departures(Instant::from_secs(60)).len(), 150);
    let samples = crowd.samples();
    let early = samples.iter().filter(|sample| sample.at < Instant::from_millis(400));
    let (sent, collided) =
        early.fold((0, 0), |(sent, met), sample| (sent + sample.requests, met + sample.collided));
    assert_eq!((sent, collided), (30, 30));
}

#[test]
fn a_terminal_without_a_slot_cannot_ask_by_its_bursts_and_a_free_slot_lets_it() {
    for (gives_free_slots, arrived) in [(false, 0), (true, 20)] {
        let system = System { requests: AccessRequests::Piggybacked, gives_free_slots, ..carriers(1) };
        let mut world = world(&[terminal(0, 8, Ask::Volume), terminal(2, 2, Ask::Never)], system);
        for _ in 0..20 {
            world.send(1, Instant::from_millis(1), 90);
        }
        assert_eq!(world.departures(Instant::from_secs(9)).len(), arrived);
    }
}

#[test]
fn requests_take_slots_that_carry_nothing_else() {
    let mut world = contending(1, 8, 400);
    let departures = world.departures(Instant::from_secs(20));
    assert_eq!(departures.len(), 400);
    for (at, _) in departures {
        let in_frame = at.since_start().as_nanos() % 10_000_000;
        assert!(in_frame == 0 || in_frame > 2_000_000, "{at} is in the first two slots");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_arrives_in_order_and_none_while_others_send(
        terminals in prop::collection::vec((0_u32..3, 1_u32..=10, 0_usize..4, 0_u64..200), 1..5),
        carriers in 2_u32..4,
        requests in 0_usize..3,
        gives_free_slots: bool,
        sent in prop::collection::vec((1_u8..5, 0_u64..3_000, 30_usize..400), 1..120),
    ) {
        let rate = Ask::Rate { drain: Duration::from_millis(300) };
        let asks = [Ask::Never, rate, Ask::Volume, Ask::AbsoluteVolume];
        let contention = ContentionConfig { per_frame: 2, slots: 1, backoff_frames: 4 };
        let all = [AccessRequests::Assigned, AccessRequests::Contention(contention), AccessRequests::Piggybacked];
        // Who asks in its bursts has some, for good or in its turn.
        let gives_free_slots = gives_free_slots || requests == 2;
        let system = System { carriers, requests: all[requests], gives_free_slots };
        let terminals: Vec<Terminal> = terminals
            .into_iter()
            .map(|(permanent, most, ask, interruption)| Terminal {
                // One that never asks has something.
                permanent_slots: if ask == 0 { permanent + 1 } else { permanent },
                most_slots: most.max(permanent + 1),
                ask: asks[ask],
                release_after: Duration::from_millis(interruption),
                // Slots for a volume would be over before it is.
                interruption: Duration::from_millis(if ask > 1 || gives_free_slots { 0 } else { interruption }),
            })
            .collect();
        let mut world = world(&terminals, system);
        let mut sent = sent;
        sent.sort_by_key(|&(_, at, _)| at);
        sent.retain(|&(terminal, _, _)| usize::from(terminal) <= terminals.len());
        for &(terminal, at, length) in &sent {
            world.send(terminal, Instant::from_millis(at), length);
        }
        let departures = world.departures(Instant::from_secs(60));
        prop_assert_eq!(departures.len(), sent.len());
        prop_assume!(!departures.is_empty());
        // One carrier sends a byte in 9 µs, and all of them so many in that time.
        let (first, last) = (departures[0].0, departures[departures.len() - 1].0);
        let bytes: usize = departures[1..].iter().map(|(_, length)| length + 10).sum();
        let carried = (last - first).as_nanos() as f64 / 9_000.0 * f64::from(carriers);
        prop_assert!(bytes as f64 <= carried + 500.0 * f64::from(carriers), "{} of {}", bytes, carried);
        prop_assert_eq!(world.network.packets_under_way(), 0);
    }
}
