//! Random networks under random faults: whatever happens, every packet is accounted for and the run can be
//! repeated.

use proptest::prelude::*;
use slantpath_base::{DataRate, DataSize, Declaration, Duration, Instant, Probability, Seed, Stream};
use slantpath_net::{
    BeyondMax, Change, CoDelConfig, CongestionSignal, DirectionConfig, DirectionCounters, DirectionId,
    DropReason, DroppedPacket, DrrClass, DrrConfig, FqCoDelConfig, InterfaceId, Network, NetworkBuilder,
    NodeId, OwnQueue, OwnQueueConfig, PieConfig, Precedence, QueueConfig, QueueControl, QueueLimit,
    QueueMeasure, QueueState, QueuedPacket, RedConfig, RedThresholds, Reordering, Routing, SendingConfig,
    ShaperConfig, WhileDown,
};
use slantpath_wire::ip::IpHeader;

use crate::fixture::{Scripted, address, millis, packet};

#[derive(Clone, Debug)]
struct Plan {
    routers: usize,
    /// Links between routers beyond the line that joins them, by their ends.
    chords: Vec<(usize, usize)>,
    hosts: usize,
    directions: Vec<DirectionConfig>,
    changes: Vec<(u64, usize, Change)>,
    sends: Vec<(u64, usize, usize, usize)>,
    is_dynamic: bool,
    seed: u64,
}

/// A queue of a program's own that does all that one may, at random.
#[derive(Clone, Debug)]
struct Capricious {
    waiting: Vec<QueuedPacket>,
    stream: Stream,
}

impl Capricious {
    fn config(limit: QueueLimit) -> QueueConfig {
        let declaration = Declaration::new("capricious", "All that a queue may do, at random.");
        let queue = OwnQueue::new(declaration, |_, stream| Self { waiting: Vec::new(), stream });
        let chosen = queue.chosen(&[]).expect("it has no parameters");
        QueueConfig::Own(OwnQueueConfig { limit, chosen })
    }

    fn any(&mut self) -> Option<QueuedPacket> {
        if self.waiting.is_empty() {
            return None;
        }
        let place = self.stream.below(self.waiting.len() as u64);
        Some(self.waiting.swap_remove(usize::try_from(place).expect("few wait")))
    }
}

impl QueueControl for Capricious {
    fn admit(&mut self, _: Instant, packet: &mut QueuedPacket, state: QueueState) -> bool {
        assert_eq!(state.packets == 0, state.bytes == 0);
        packet.mark();
        self.stream.uniform() < 0.9
    }

    fn push(&mut self, _: Instant, packet: QueuedPacket) {
        self.waiting.push(packet);
    }

    fn pop(&mut self, _: Instant, dropped: &mut Vec<QueuedPacket>) -> Option<QueuedPacket> {
        while self.waiting.len() > 1 && self.stream.uniform() < 0.2 {
            dropped.extend(self.any());
        }
        let mut packet = self.any()?;
        packet.mark();
        Some(packet)
    }

    fn take(&mut self) -> Vec<QueuedPacket> {
        std::mem::take(&mut self.waiting)
    }

    fn copied(&self) -> Box<dyn QueueControl> {
        Box::new(self.clone())
    }
}

fn any_probability() -> impl Strategy<Value = Probability> {
    // Swarm: a fault is switched off as often as it is on.
    prop_oneof![Just(0.0), 0.0..0.5, Just(1.0)]
        .prop_map(|value| Probability::new(value).expect("a probability"))
}

fn any_direction() -> impl Strategy<Value = DirectionConfig> {
    let limit = prop_oneof![
        (0_u32..6).prop_map(QueueLimit::Packets),
        (0_u64..5_000).prop_map(|bytes| QueueLimit::Bytes(DataSize::from_bytes(bytes))),
        Just(QueueLimit::Unlimited),
    ];
    let queue = (limit, 0_usize..8).prop_map(|(limit, discipline)| {
        let thresholds = RedThresholds { min: 1, max: 4, max_probability: Probability::ALWAYS };
        let red = RedConfig {
            limit,
            measure: QueueMeasure::Packets,
            precedence: Precedence::Coupled([thresholds; 3]),
            weight: 0.5,
            typical_bytes: 1_000,
            beyond_max: BeyondMax::Gentle,
            signal: CongestionSignal::Drop,
        };
        let impatient = CoDelConfig {
            limit,
            target: Duration::from_millis(1),
            interval: Duration::from_millis(20),
            signal: CongestionSignal::Drop,
        };
        [
            QueueConfig::CoDel(impatient),
            QueueConfig::DropTail(limit),
            QueueConfig::Drr(DrrConfig {
                classes: vec![DrrClass { dscps: Vec::new(), quantum_bytes: 400, limit }; 2],
            }),
            QueueConfig::FqCoDel(FqCoDelConfig { codel: impatient, quantum_bytes: 400, queues: 3 }),
            QueueConfig::Pie(PieConfig {
                target: Duration::from_millis(1),
                update_interval: Duration::from_millis(5),
                max_burst: Duration::ZERO,
                ..PieConfig::new(limit)
            }),
            QueueConfig::Priority(limit),
            QueueConfig::Red(red),
            Capricious::config(limit),
        ][discipline]
            .clone()
    });
    let shaper = (any::<bool>(), 5_000_u64..1_000_000, 1_600_u64..5_000);
    let faults = (any_probability(), any_probability(), any_probability(), 0_u32..3);
    (10_000_u64..10_000_000, 0_u64..300, queue, faults, 500_u32..1_600, any::<bool>(), shaper).prop_map(
        |(rate, delay, queue, (loss, duplication, reordering, bit_errors), mtu_bytes, holds, shaper)| {
            let (shapes, tokens, burst) = shaper;
            let is_red = matches!(queue, QueueConfig::Red(_));
            DirectionConfig {
                sending: if shapes && !is_red {
                    SendingConfig::Shaped(ShaperConfig {
                        rate: DataRate::from_bits_per_sec(tokens),
                        burst: DataSize::from_bytes(burst),
                    })
                } else {
                    SendingConfig::Plain
                },
                mtu_bytes,
                loss,
                // None, one in 10⁵, one in 10³.
                bit_errors: Probability::new([0.0, 1e-5, 1e-3][bit_errors as usize]).expect("a probability"),
                duplication,
                reordering: Reordering {
                    probability: reordering,
                    extra_delay_max: Duration::from_millis(100),
                },
                while_down: if holds { WhileDown::Hold } else { WhileDown::Drop },
                ..DirectionConfig::new(DataRate::from_bits_per_sec(rate), Duration::from_millis(delay), queue)
            }
        },
    )
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any_probability().prop_map(Change::Loss),
        any_probability().prop_map(Change::Duplication),
        (0.0..1e-3).prop_map(|value| Change::BitErrors(Probability::new(value).expect("a probability"))),
        (0_u64..500).prop_map(|delay| Change::Delay(Duration::from_millis(delay))),
        (10_000_u64..1_000_000).prop_map(|rate| Change::Rate(DataRate::from_bits_per_sec(rate))),
        Just(Change::Down),
        Just(Change::Up),
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (1_usize..6, 2_usize..5).prop_flat_map(|(routers, hosts)| {
        let ends = (0..routers, 0..routers);
        let chords = proptest::collection::vec(ends, 0..4);
        // Two directions for each of the line's links, each chord, and each host's access.
        let directions = 2 * (routers - 1 + 4 + hosts);
        (
            chords,
            proptest::collection::vec(any_direction(), directions),
            proptest::collection::vec((0_u64..3_000, 0..directions, any_change()), 0..12),
            proptest::collection::vec((0_u64..3_000, 0..hosts, 0..hosts, 21_usize..1_700), 0..120),
            any::<bool>(),
            any::<u64>(),
        )
            .prop_map(move |(chords, directions, changes, sends, is_dynamic, seed)| Plan {
                routers,
                chords,
                hosts,
                directions,
                changes,
                sends,
                is_dynamic,
                seed,
            })
    })
}

/// The network of a plan, with the interface and the number of packets sent of each host.
fn build(plan: &Plan) -> (Network<Scripted>, Vec<(NodeId, InterfaceId)>, Vec<DirectionId>) {
    let mut builder = NetworkBuilder::new();
    let routers: Vec<NodeId> = (0..plan.routers).map(|n| builder.router(&format!("router-{n}"))).collect();
    let mut configs = plan.directions.iter().cloned();
    let mut config = || configs.next().expect("one for each direction");
    let mut directions = Vec::new();
    let line = (1..plan.routers).map(|n| (n - 1, n));
    let chords = plan.chords.iter().copied().filter(|(a, b)| a != b);
    for (n, (a, b)) in line.chain(chords).enumerate() {
        let link = builder.link(&format!("trunk-{n}"), routers[a], routers[b], config(), config());
        directions.extend([link.forward(), link.reverse()]);
    }
    let mut hosts = Vec::new();
    for n in 0..plan.hosts {
        let node = builder.host(&format!("host-{n}"));
        let link = builder.link(&format!("access-{n}"), node, routers[n % plan.routers], config(), config());
        builder.address(link.first(), address(u8::try_from(n + 1).expect("few")));
        directions.extend([link.forward(), link.reverse()]);
        hosts.push((node, link.first()));
    }
    if plan.is_dynamic {
        builder.routing(Routing::Dynamic);
    }
    for &(at, direction, change) in &plan.changes {
        builder.change(millis(at), directions[direction % directions.len()], change);
    }
    for &direction in &directions {
        // What is held is let go at last.
        builder.change(millis(60_000), direction, Change::Up);
    }
    let graph = builder.build().expect("a sound plan");
    let scripted = vec![Scripted::default(); plan.hosts];
    let mut network = Network::new(graph, Seed::new(plan.seed, 0), scripted);
    let mut sends = plan.sends.clone();
    sends.sort_by_key(|&(at, ..)| at);
    for (at, from, to, length) in sends {
        let [source, destination] = [from, to].map(|n| address(u8::try_from(n + 1).expect("few")));
        let packet = packet(source, destination, length, 1);
        let (node, interface) = hosts[from];
        network.command(node, |host, _| host.send(millis(at), interface, packet));
    }
    (network, hosts, directions)
}

/// Tells if all that came into a direction came out of it or was dropped on it.
fn is_balanced(counters: &DirectionCounters, sent_unreachable: u64) -> bool {
    let on_the_link = [
        DropReason::CoDel,
        DropReason::Down,
        DropReason::Early,
        DropReason::Forced,
        DropReason::GivenUp,
        DropReason::HeaderContext,
        DropReason::Loss,
        DropReason::Mtu,
        DropReason::Policed,
        DropReason::QueueFull,
    ];
    let dropped: u64 = on_the_link.iter().map(|&reason| counters.dropped(reason).packets).sum();
    counters.offered.packets + counters.duplicated.packets
        == counters.carried.packets + dropped + sent_unreachable
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_packet_is_accounted_for(plan in any_plan()) {
        let (mut network, hosts, directions) = build(&plan);
        prop_assert!(network.run_to_rest(1_000_000), "it comes to rest");
        prop_assert_eq!(network.packets_under_way(), 0);
        for &direction in &directions {
            let counters = network.counters(direction);
            prop_assert!(is_balanced(counters, 0), "{direction:?}: {counters:?}");
        }
        let hops: u64 = directions
            .iter()
            .map(|&direction| network.counters(direction))
            .map(|counters| counters.carried.packets + counters.dropped(DropReason::Loss).packets)
            .sum();
        prop_assert_eq!(network.packet_hops(), hops);
        for &(node, interface) in &hosts {
            let damaged = directions.iter().any(|&direction| network.counters(direction).damaged.packets > 0);
            for (_, arrived_by, packet) in &network.host(node).received {
                prop_assert_eq!(*arrived_by, interface);
                let header = IpHeader::parse(&packet.contiguous());
                prop_assert!(damaged || header.is_ok(), "{header:?}");
            }
        }
    }

    #[test]
    fn every_drop_that_is_counted_is_recorded_once_and_the_run_is_the_same(plan in any_plan()) {
        let (mut network, _, directions) = build(&plan);
        let (mut plain, ..) = build(&plan);
        network.record_drops();
        let mut drops = Vec::new();
        for stop in [500, 2_000] {
            network.run_until(millis(stop));
            drops.extend(network.take_drops());
        }
        let _ = (network.run_to_rest(1_000_000), plain.run_to_rest(1_000_000));
        drops.extend(network.take_drops());
        prop_assert_eq!(network.digest(), plain.digest());
        prop_assert!(drops.is_sorted_by_key(|drop| drop.time));
        for &direction in &directions {
            for reason in DropReason::ALL {
                let of_it = |drop: &&DroppedPacket| (drop.direction, drop.reason) == (direction, reason);
                let (packets, bytes) = drops
                    .iter()
                    .filter(of_it)
                    .fold((0, 0), |(packets, bytes), drop| (packets + 1, bytes + u64::from(drop.bytes)));
                let counted = network.counters(direction).dropped(reason);
                prop_assert_eq!((packets, bytes), (counted.packets, counted.bytes), "{:?}", reason);
            }
        }
        let damaged = directions.iter().any(|&direction| network.counters(direction).damaged.packets > 0);
        prop_assert!(damaged || drops.iter().all(|drop| drop.flow.is_some()));
    }

    /// The parts of a journey are durations, which cannot be negative: [`Journey::queueing`] would say so.
    #[test]
    fn a_watched_run_is_the_same_and_every_journey_adds_up(plan in any_plan()) {
        let outcome = |is_watched: bool| {
            let (mut network, hosts, _) = build(&plan);
            if is_watched {
                network.watch_journeys();
            }
            let _ = network.run_to_rest(1_000_000);
            let ends = hosts.iter().map(|&(node, _)| network.host(node).clone());
            (network.digest(), network.packet_hops(), ends.collect::<Vec<_>>())
        };
        let (digest, hops, plain) = outcome(false);
        let (watched_digest, watched_hops, watched) = outcome(true);
        prop_assert_eq!((digest, hops), (watched_digest, watched_hops));
        for (plain, watched) in plain.iter().zip(&watched) {
            prop_assert_eq!(&plain.received, &watched.received);
            prop_assert_eq!(plain.journeys.len(), 0);
            for journey in &watched.journeys {
                let parts = journey.transmission + journey.propagation + journey.repetition;
                prop_assert_eq!(parts + journey.queueing(), journey.arrived - journey.sent);
                prop_assert!(journey.transmission > Duration::ZERO);
                prop_assert!(watched.arrivals().contains(&journey.arrived));
            }
        }
    }

    #[test]
    fn every_run_can_be_repeated(plan in any_plan()) {
        let outcome = |stops: &[u64]| {
            let (mut network, hosts, _) = build(&plan);
            for &stop in stops {
                network.run_until(millis(stop));
            }
            let _ = network.run_to_rest(1_000_000);
            let received: Vec<_> = hosts.iter().map(|&(node, _)| network.host(node).received.clone()).collect();
            (network.digest(), network.packet_hops(), received)
        };
        prop_assert_eq!(outcome(&[]), outcome(&[1, 500, 501, 2_000]));
    }
}

#[test]
fn a_network_may_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Network<Scripted>>();
}
