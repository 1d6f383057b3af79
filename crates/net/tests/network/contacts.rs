//! Links that exist in contacts: where and when packets arrive, and what an end leaves behind.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{
    ArqConfig, ArqOrder, AtHandover, Change, DelayPiece, DestinationId, DirectionConfig, DirectionCounters,
    DirectionId, DropReason, HeaderCompression, LeftBehind, LinkContact, LinkEnd, LinkId, Links, Network,
    NetworkBuilder, NodeId, OutageCause, SendingConfig, SharedPortId, Source, Way, WhileDown,
};

use crate::fixture::{Scripted, address, byte_a_millisecond, clean, millis, packet_with, tag};

/// Step to be taken at an instant.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// With the delay at the start of the run, in milliseconds; it grows by one in a second.
    Begin(DirectionId, LinkContact, f64),
    Change(DirectionId, Change),
    End(DirectionId, NodeId, AtHandover),
    Route(NodeId, DestinationId, DirectionId),
}

/// Carries out steps in the order of time.
#[derive(Default)]
struct Schedule {
    steps: Vec<(Instant, Step)>,
    routes: BTreeMap<(NodeId, DestinationId), DirectionId>,
    left_behind: Vec<LeftBehind>,
}

impl Source for Schedule {
    fn begin(&mut self, links: &mut Links<'_>) {
        self.apply(millis(0), links);
    }

    fn next_change(&self) -> Instant {
        self.steps.first().map_or(Instant::FAR_FUTURE, |&(at, _)| at)
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        while self.next_change() <= now {
            match self.steps.remove(0).1 {
                Step::Begin(direction, contact, delay_ms) => {
                    let piece = |end: u64, centre: u64, start_ms: f64| DelayPiece {
                        end: millis(end),
                        centre: millis(centre),
                        per_nano: 1e-9,
                        coefficients: [1e6 * start_ms, 1e6, 0.0, 0.0, 0.0, 0.0],
                    };
                    // Two pieces of the same line.
                    let pieces = [piece(250, 0, delay_ms), piece(2_000, 500, delay_ms + 0.5)];
                    links.begin_contact(direction, contact, pieces.into_iter());
                }
                Step::Change(direction, change) => links.change(direction, change),
                Step::End(direction, sender, at_handover) => {
                    let left = links.end_contact(direction, sender, at_handover);
                    self.left_behind.push(left);
                }
                Step::Route(node, destination, direction) => {
                    self.routes.insert((node, destination), direction);
                }
            }
        }
    }

    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        self.routes.get(&(node, destination)).copied()
    }
}

/// Two terminals, each with a slow antenna; two satellites, joined by a fast wire and each by another to a far host.
/// `1`, `2` and `3` are the addresses of the first terminal, the far host and the second terminal.
struct Sky {
    ground: NodeId,
    other: NodeId,
    far: NodeId,
    west: NodeId,
    east: NodeId,
    antenna: LinkId,
    other_antenna: LinkId,
    isl: LinkId,
    /// From either satellite to the far host.
    feeders: [LinkId; 2],
    port: SharedPortId,
    to: [DestinationId; 3],
    graph: slantpath_net::NetworkGraph,
}

const FAST: DataRate = DataRate::from_bits_per_sec(8_000_000_000);

impl Sky {
    fn new(while_down: WhileDown) -> Self {
        let slow = clean(byte_a_millisecond(), Duration::ZERO, 10);
        Self::with(&DirectionConfig { while_down, ..slow })
    }

    /// With antennas like that.
    fn with(slow: &DirectionConfig) -> Self {
        let mut builder = NetworkBuilder::new();
        let [ground, other, far] = ["ground", "other", "far"].map(|name| builder.host(name));
        let [west, east] = ["west", "east"].map(|name| builder.router(name));
        let fast = clean(FAST, Duration::from_millis(1), 10);
        let mut antenna = |name, node| builder.contact_link(name, node, west, slow.clone(), slow.clone());
        let [antenna, other_antenna] = [antenna("antenna", ground), antenna("other-antenna", other)];
        let mut wire = |name, from, to| builder.link(name, from, to, fast.clone(), fast.clone());
        let isl = wire("isl", west, east);
        let feeders = [wire("west-feeder", west, far), wire("east-feeder", east, far)];
        let port =
            builder.shared_port("west", DirectionConfig { sending: SendingConfig::Plain, ..slow.clone() });
        builder.address(antenna.first(), address(1)).address(other_antenna.first(), address(3));
        builder.address(feeders[0].second(), address(2));
        let graph = builder.build().expect("a sound plan");
        let to = [1, 2, 3].map(|number| graph.destination(address(number)).expect("an address of a host"));
        Self { ground, other, far, west, east, antenna, other_antenna, isl, feeders, port, to, graph }
    }

    /// Carries out steps, given in milliseconds, while a node sends packets of 100 bytes to some addresses.
    fn run(&self, steps: &[(u64, Step)], from: NodeId, sent: &[(u64, u8)]) -> Network<Scripted, Schedule> {
        let tagged: Vec<(u64, u8, u8)> = (0..).zip(sent).map(|(tag, &(at, to))| (at, to, tag)).collect();
        self.run_tagged(steps, from, &tagged)
    }

    /// Variant of [`run`](Self::run) with a tag for each packet, which stands in the place of a port.
    fn run_tagged(
        &self,
        steps: &[(u64, Step)],
        from: NodeId,
        sent: &[(u64, u8, u8)],
    ) -> Network<Scripted, Schedule> {
        let mut network = self.start(steps, from, sent);
        network.run_until(millis(2_000));
        network
    }

    /// Variant of [`run_tagged`](Self::run_tagged) that stops before anything has happened.
    fn start(
        &self,
        steps: &[(u64, Step)],
        from: NodeId,
        sent: &[(u64, u8, u8)],
    ) -> Network<Scripted, Schedule> {
        let steps = steps.iter().map(|&(at, step)| (millis(at), step)).collect();
        let source = Schedule { steps, ..Schedule::default() };
        let hosts = vec![Scripted::default(); 3];
        let mut network = Network::with_source(self.graph.clone(), Seed::new(1, 0), hosts, source);
        let interface = self.graph.interfaces(from)[0];
        network.command(from, |host, _| {
            for &(at, to, tag) in sent {
                let packet = packet_with(address(9), address(to), 100, tag, 3);
                host.send(millis(at), interface, packet);
            }
        });
        network
    }
}

/// A contact that leads to a node, by the direction's own transmitter.
fn to(receiver: NodeId) -> LinkContact {
    LinkContact { receiver, port: None }
}

/// Packets that a host got: the instant in microseconds, the link and the tag of each.
fn received(network: &Network<Scripted, Schedule>, node: NodeId) -> Vec<(u64, LinkId, u8)> {
    let received = network.host(node).received.iter();
    received.map(|(at, by, packet)| (at.as_nanos() / 1_000, by.link(), tag(packet))).collect()
}

fn handover(counters: &DirectionCounters) -> u64 {
    counters.dropped(DropReason::Handover).packets
}

/// West from the start, 50 ms away.
fn up(sky: &Sky) -> Vec<(u64, Step)> {
    let [west, east] = [sky.west, sky.east];
    vec![
        (0, Step::Route(west, sky.to[1], sky.feeders[0].forward())),
        (0, Step::Route(east, sky.to[1], sky.feeders[1].forward())),
        (0, Step::Begin(sky.antenna.forward(), to(west), 50.0)),
    ]
}

#[test]
fn a_packet_arrives_where_its_departure_leads_after_the_delay_of_that_instant() {
    let sky = Sky::new(WhileDown::Drop);
    let mut steps = up(&sky);
    // While the second packet is being sent, the antenna changes over to a satellite that is nearer.
    steps.push((150, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0)));
    let network = sky.run(&steps, sky.ground, &[(0, 2), (0, 2), (0, 2)]);
    let [west, east] = sky.feeders;
    // Sent at 100, 200 and 300 ms; delays of 50.1, 50.2 and 5.3 ms; 1 ms and 0.1 µs of feeder.
    let expected = [(151_100, west, 0), (251_200, west, 1), (306_300, east, 2)];
    assert_eq!(received(&network, sky.far), expected);
    assert_eq!(network.counters(sky.antenna.forward()).carried.packets, 3);
}

#[test]
fn what_is_being_sent_at_the_end_of_a_contact_is_lost_and_what_waits_is_treated_as_asked() {
    for (at_handover, while_down, expected, left) in [
        (AtHandover::Lost, WhileDown::Drop, vec![0], (0, 0, 2)),
        (AtHandover::Held, WhileDown::Hold, vec![0, 2, 3], (0, 1, 1)),
    ] {
        let sky = Sky::new(while_down);
        let mut steps = up(&sky);
        steps.push((150, Step::End(sky.antenna.forward(), sky.ground, at_handover)));
        steps.push((400, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0)));
        // The last packet comes while there is no contact.
        let network = sky.run(&steps, sky.ground, &[(0, 2), (0, 2), (0, 2), (300, 2)]);
        let tags: Vec<u8> = received(&network, sky.far).iter().map(|&(_, _, tag)| tag).collect();
        assert_eq!(tags, expected, "{at_handover:?}");
        let counters = network.counters(sky.antenna.forward());
        assert_eq!(handover(counters), left.2);
        assert_eq!(counters.dropped(DropReason::NoContact).packets, u64::from(while_down == WhileDown::Drop));
        assert_eq!(counters.held.packets, left.1);
        let (handed_over, held, lost) = left;
        assert_eq!(network.source().left_behind, [LeftBehind { handed_over, held, lost }]);
        if at_handover == AtHandover::Held {
            // Sent anew from 400 ms on.
            let at: Vec<u64> = received(&network, sky.far).iter().map(|&(at, ..)| at).collect();
            assert_eq!(at, [151_100, 506_500, 606_600]);
        }
    }
}

#[test]
fn what_a_link_has_to_repeat_goes_to_the_next_satellite_as_if_it_had_not_been_sent() {
    let slow = DirectionConfig {
        loss: Probability::ALWAYS,
        sending: SendingConfig::Repeated(ArqConfig { tries: 2, order: ArqOrder::InOrder }),
        while_down: WhileDown::Hold,
        ..clean(byte_a_millisecond(), Duration::ZERO, 10)
    };
    let sky = Sky::with(&slow);
    let mut steps = up(&sky);
    // Sent until 100 ms, it would be retransmitted at 200.
    steps.push((150, Step::End(sky.antenna.forward(), sky.ground, AtHandover::Held)));
    steps.push((400, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0)));
    let mut network = sky.run(&steps, sky.ground, &[(0, 2)]);
    let counters = *network.counters(sky.antenna.forward());
    assert_eq!((counters.held.packets, counters.held.bytes), (1, 100));
    // Twice over the second one.
    assert_eq!((counters.repeated.packets, counters.dropped(DropReason::GivenUp).packets), (1, 1));
    assert_eq!(network.queue_statistics(sky.antenna.forward()).busy, Duration::from_millis(300));
    assert_eq!(network.packets_under_way(), 0);
}

#[test]
fn another_satellite_knows_no_context_and_gets_full_headers_first() {
    let sending = SendingConfig::Compressed(HeaderCompression {
        header_bytes: 20,
        compressed_bytes: 10,
        refresh_packets: 100,
        refresh_interval: Duration::from_secs(10),
        losses_survived: 0,
        contexts: 1,
    });
    let slow = clean(byte_a_millisecond(), Duration::ZERO, 10);
    let sky = Sky::with(&DirectionConfig { sending, while_down: WhileDown::Hold, ..slow });
    // Packets of one flow.
    let sent = [(0, 2, 0); 5];
    let at = |steps: &[(u64, Step)]| -> Vec<u64> {
        let network = sky.run_tagged(steps, sky.ground, &sent);
        assert_eq!(network.packets_under_way(), 0);
        received(&network, sky.far).iter().map(|&(at, ..)| at).collect()
    };
    // A full header takes 100 ms with its packet, a compressed one 90; the way 50 ms and 0.1 % of the time gone, and a
    // feeder 1 ms and 0.1 µs.
    let alone = at(&up(&sky));
    assert_eq!(alone, [151_100, 241_190, 331_280, 421_370, 511_460]);
    // The third packet leaves by the satellite to which it is being sent at 250 ms, the fourth by the other one.
    let mut over = up(&sky);
    over.push((250, Step::Begin(sky.antenna.forward(), to(sky.east), 50.0)));
    assert_eq!(at(&over), [151_100, 241_190, 331_280, 431_380, 521_470]);
    // The third is cut off. Of the last two, which have waited for the same satellite, the first has a full header.
    let mut away = up(&sky);
    away.push((250, Step::End(sky.antenna.forward(), sky.ground, AtHandover::Held)));
    away.push((400, Step::Begin(sky.antenna.forward(), to(sky.west), 50.0)));
    assert_eq!(at(&away), [151_100, 241_190, 551_500, 641_590]);
}

#[test]
fn before_its_first_contact_a_link_carries_nothing() {
    let sky = Sky::new(WhileDown::Drop);
    let network = sky.run(&[], sky.ground, &[(0, 2)]);
    assert_eq!(network.counters(sky.antenna.forward()).dropped(DropReason::NoContact).packets, 1);
    assert_eq!(network.packets_under_way(), 0);
}

/// Both terminals are served by the western satellite, 50 and 60 ms away, by one transmitter.
fn down(sky: &Sky, port: Option<SharedPortId>) -> Vec<(u64, Step)> {
    let contact = |receiver| LinkContact { receiver, port };
    vec![
        (0, Step::Begin(sky.antenna.reverse(), contact(sky.ground), 50.0)),
        (0, Step::Begin(sky.other_antenna.reverse(), contact(sky.other), 60.0)),
        (0, Step::Route(sky.west, sky.to[0], sky.antenna.reverse())),
        (0, Step::Route(sky.west, sky.to[2], sky.other_antenna.reverse())),
    ]
}

#[test]
fn what_a_satellite_has_left_over_goes_to_the_terminal_by_its_new_satellite() {
    let sky = Sky::new(WhileDown::Drop);
    let mut steps = down(&sky, None);
    steps.extend([
        (150, Step::End(sky.antenna.reverse(), sky.west, AtHandover::HandedOver)),
        (150, Step::Begin(sky.antenna.reverse(), to(sky.ground), 5.0)),
        (150, Step::Route(sky.west, sky.to[0], sky.isl.forward())),
        (150, Step::Route(sky.east, sky.to[0], sky.antenna.reverse())),
    ]);
    let network = sky.run(&steps, sky.far, &[(0, 1), (0, 1), (0, 1), (0, 1)]);
    // The first came 1 ms and 0.1 µs after the start and took 100 ms. The second is cut off at 150 ms; the others go
    // over the other satellite, which has them 1 ms later, and one byte takes 1 ns on the fast wire.
    let expected = [(151_101, sky.antenna, 0), (256_251, sky.antenna, 2), (356_351, sky.antenna, 3)];
    let rounded: Vec<_> = received(&network, sky.ground);
    assert_eq!(rounded, expected);
    let counters = network.counters(sky.antenna.reverse());
    assert_eq!((handover(counters), counters.handed_over.packets, counters.offered.packets), (1, 2, 6));
    assert_eq!(network.source().left_behind, [LeftBehind { handed_over: 2, held: 0, lost: 1 }]);
    // No hop was counted for being handed over: three of the far host, less two routers for those, one for the first.
    let hop_limits: Vec<u8> =
        network.host(sky.ground).received.iter().map(|(.., packet)| packet.contiguous_header()).collect();
    assert_eq!(hop_limits, [2, 1, 1]);
}

#[test]
fn packets_for_two_terminals_wait_for_each_other_at_a_shared_transmitter() {
    let sky = Sky::new(WhileDown::Drop);
    let network = sky.run(&down(&sky, Some(sky.port)), sky.far, &[(0, 1), (0, 3), (0, 1), (0, 3)]);
    // From 1 ms on one packet every 100 ms, with the delay of its own way.
    assert_eq!(received(&network, sky.ground), [(151_101, sky.antenna, 0), (351_301, sky.antenna, 2)]);
    let other = sky.other_antenna;
    assert_eq!(received(&network, sky.other), [(261_201, other, 1), (461_401, other, 3)]);
}

type Steps = Vec<(u64, Step)>;

#[test]
fn the_time_of_a_shared_transmitter_is_counted_for_whom_it_sends() {
    let sky = Sky::new(WhileDown::Drop);
    let [own, other] = [sky.antenna.reverse(), sky.other_antenna.reverse()];
    let sent = [(0, 1, 0), (0, 3, 1), (0, 1, 2), (0, 3, 3)];
    let change = |at, change| (at, Step::Change(own, change));
    let end = |at, at_handover| (at, Step::End(own, sky.west, at_handover));
    // The first packet, for the one antenna, is sent from 1.0001 ms on, the others, in turn, each for 100 ms.
    let twice = change(20, Change::Duplication(Probability::ALWAYS));
    let cases: [(Steps, [(u64, u64); 4]); 6] = [
        (vec![], [(48_999, 0), (100_000, 48_999), (148_999, 100_000), (200_000, 200_000)]),
        // Whether they arrive does not matter, nor whether they do so twice.
        (
            vec![change(50, Change::Loss(Probability::ALWAYS))],
            [(48_999, 0), (100_000, 48_999), (148_999, 100_000), (200_000, 200_000)],
        ),
        (vec![twice], [(48_999, 0), (100_000, 48_999), (148_999, 100_000), (200_000, 200_000)]),
        // What is cut off has been sent until then; what waits is not sent.
        (
            vec![end(40, AtHandover::Lost)],
            [(38_999, 0), (38_999, 48_999), (38_999, 148_999), (38_999, 200_000)],
        ),
        (
            vec![end(140, AtHandover::HandedOver)],
            [(48_999, 0), (100_000, 48_999), (100_000, 148_999), (100_000, 200_000)],
        ),
        (
            vec![change(40, Change::Down)],
            [(38_999, 0), (38_999, 48_999), (38_999, 148_999), (38_999, 200_000)],
        ),
    ];
    for (more, wanted) in cases {
        let steps = [down(&sky, Some(sky.port)), more].concat();
        let mut network = sky.start(&steps, sky.far, &sent);
        let mut anew = sky.start(&steps, sky.far, &sent);
        anew.run_until(millis(50));
        anew.restart_statistics();
        for (at, busy) in [50, 150, 250, 2_000].into_iter().zip(wanted) {
            let micros = |network: &mut Network<Scripted, Schedule>| {
                network.run_until(millis(at));
                let [own, other] = [own, other].map(|direction| network.busy(direction));
                (own.as_nanos() / 1_000, other.as_nanos() / 1_000)
            };
            assert_eq!(micros(&mut network), busy, "at {at} ms of {steps:?}");
            // What was sent before the statistics were started anew does not count.
            let (own, other) = micros(&mut anew);
            assert!(own.abs_diff(busy.0 - wanted[0].0) <= 1, "{own} at {at} ms of {steps:?}");
            assert_eq!(other, busy.1, "at {at} ms of {steps:?}");
        }
    }
}

#[test]
fn a_terminal_that_leaves_a_shared_transmitter_takes_only_its_own_packets_with_it() {
    let sky = Sky::new(WhileDown::Drop);
    // While the first packet, for the one that leaves, is being sent; or the second, for the other.
    for (end, own, arrivals) in [(50, vec![], [261_201, 361_301]), (150, vec![0], [261_201, 361_301])] {
        let mut steps = down(&sky, Some(sky.port));
        steps.push((end, Step::End(sky.antenna.reverse(), sky.west, AtHandover::Lost)));
        let network = sky.run(&steps, sky.far, &[(0, 1), (0, 3), (0, 1), (0, 3)]);
        let tags: Vec<u8> = received(&network, sky.ground).iter().map(|&(_, _, tag)| tag).collect();
        assert_eq!(tags, own);
        let others: Vec<u64> = received(&network, sky.other).iter().map(|&(at, ..)| at).collect();
        assert_eq!(others, arrivals);
        let lost = handover(network.counters(sky.antenna.reverse()));
        assert_eq!(lost, 2 - own.len() as u64);
        assert_eq!(network.source().left_behind, [LeftBehind { handed_over: 0, held: 0, lost }]);
        assert_eq!(handover(network.counters(sky.other_antenna.reverse())), 0);
        assert_eq!(network.packets_under_way(), 0);
    }
}

#[test]
fn a_script_takes_a_link_down_beside_its_contacts() {
    let (held, at) = (Sky::new(WhileDown::Hold), |steps: &[(u64, Step)], sky: &Sky| {
        let network = sky.run(steps, sky.ground, &[(0, 2), (0, 2), (0, 2), (300, 2)]);
        assert_eq!(network.packets_under_way(), 0);
        let counters = *network.counters(sky.antenna.forward());
        let dropped = [DropReason::Down, DropReason::NoContact, DropReason::Handover];
        let dropped = dropped.map(|reason| counters.dropped(reason).packets);
        let at: Vec<u64> = received(&network, sky.far).iter().map(|&(at, ..)| at).collect();
        (at, dropped)
    });
    let with = |sky: &Sky, more: &[(u64, Step)]| [up(sky), more.to_vec()].concat();
    let change = |sky: &Sky, at, change| (at, Step::Change(sky.antenna.forward(), change));
    let end = |sky: &Sky, at| (at, Step::End(sky.antenna.forward(), sky.ground, AtHandover::Held));
    let begin = |sky: &Sky, at| (at, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0));
    // Within a contact: the second packet is cut off, the others wait until 400 ms.
    let (down, up_again) = (change(&held, 150, Change::Down), change(&held, 400, Change::Up));
    let within = with(&held, &[down, up_again]);
    assert_eq!(at(&within, &held), (vec![151_100, 551_500, 651_600], [1, 0, 0]));
    // A contact that begins meanwhile carries nothing, with a gap before it or none, until the script lets it.
    for steps in [
        with(&held, &[down, begin(&held, 250), up_again]),
        with(&held, &[down, end(&held, 200), begin(&held, 250), up_again]),
    ] {
        assert_eq!(at(&steps, &held), (vec![151_100, 506_500, 606_600], [1, 0, 0]));
    }
    // The script lets it send again while there is no contact: it sends when one begins.
    let apart = with(&held, &[down, end(&held, 200), change(&held, 250, Change::Up), begin(&held, 400)]);
    assert_eq!(at(&apart, &held), (vec![151_100, 506_500, 606_600], [1, 0, 0]));
    // It is taken down while there is none, and said to be up twice.
    let [down, up_again] = [change(&held, 200, Change::Down), change(&held, 400, Change::Up)];
    let none = with(&held, &[end(&held, 150), down, begin(&held, 250), up_again, up_again]);
    assert_eq!(at(&none, &held), (vec![151_100, 506_500, 606_600], [0, 0, 1]));
    // What waits is dropped, and what comes is, too: as down while it is, else for want of a contact.
    let lossy = Sky::new(WhileDown::Drop);
    let down = change(&lossy, 150, Change::Down);
    assert_eq!(at(&with(&lossy, &[down]), &lossy), (vec![151_100], [3, 0, 0]));
    assert_eq!(at(&with(&lossy, &[down, end(&lossy, 200)]), &lossy), (vec![151_100], [3, 0, 0]));
    let up_again = change(&lossy, 250, Change::Up);
    let apart = with(&lossy, &[down, end(&lossy, 200), up_again]);
    assert_eq!(at(&apart, &lossy), (vec![151_100], [2, 1, 0]));
}

#[test]
fn a_terminal_whose_downlink_is_taken_down_leaves_the_shared_transmitter_to_the_others() {
    let sky = Sky::new(WhileDown::Drop);
    let sent = [(0, 1), (0, 3), (0, 1), (0, 3), (300, 1), (500, 1)];
    // While a packet for it is being sent, or one for the other.
    for (down_at, own, others) in [(50, vec![5], [261_201, 361_301]), (150, vec![0, 5], [261_201, 361_301])] {
        let mut steps = down(&sky, Some(sky.port));
        let change = |change| Step::Change(sky.antenna.reverse(), change);
        steps.extend([(down_at, change(Change::Down)), (down_at, change(Change::Down))]);
        steps.push((450, change(Change::Up)));
        let network = sky.run(&steps, sky.far, &sent);
        let tags: Vec<u8> = received(&network, sky.ground).iter().map(|&(_, _, tag)| tag).collect();
        assert_eq!(tags, own);
        let at: Vec<u64> = received(&network, sky.other).iter().map(|&(at, ..)| at).collect();
        assert_eq!(at, others);
        let counters = network.counters(sky.antenna.reverse());
        assert_eq!(counters.dropped(DropReason::Down).packets, 4 - own.len() as u64);
        assert_eq!(counters.offered.packets, 4);
        assert_eq!(network.packets_under_way(), 0);
    }
}

#[test]
fn a_fade_at_a_terminal_decides_anew_what_waits_for_it_at_a_shared_transmitter() {
    let sky = Sky::new(WhileDown::Drop);
    let mut steps = down(&sky, Some(sky.port));
    // The third packet has not begun to be sent; the first has.
    steps.push((50, Step::Change(sky.antenna.reverse(), Change::Loss(Probability::ALWAYS))));
    let network = sky.run(&steps, sky.far, &[(0, 1), (0, 3), (0, 1), (0, 3)]);
    assert_eq!(received(&network, sky.ground), [(151_101, sky.antenna, 0)]);
    let others: Vec<u64> = received(&network, sky.other).iter().map(|&(at, ..)| at).collect();
    assert_eq!(others, [261_201, 461_401]);
    assert_eq!(network.counters(sky.antenna.reverse()).dropped(DropReason::Loss).packets, 1);
    assert_eq!(network.packets_under_way(), 0);
}

#[test]
fn a_repeater_counts_no_hop() {
    let mut builder = NetworkBuilder::new();
    let (first, second) = (builder.host("first"), builder.host("second"));
    let repeater = builder.repeater("repeater");
    let fast = clean(FAST, Duration::from_millis(1), 10);
    let antenna = builder.contact_link("antenna", first, repeater, fast.clone(), fast.clone());
    let feeder = builder.link("feeder", repeater, second, fast.clone(), fast);
    builder.address(antenna.first(), address(1)).address(feeder.second(), address(2));
    let graph = builder.build().expect("a sound plan");
    let destination = graph.destination(address(2)).expect("an address of a host");
    let steps = vec![
        (millis(0), Step::Begin(antenna.forward(), to(repeater), 50.0)),
        (millis(0), Step::Route(repeater, destination, feeder.forward())),
    ];
    let source = Schedule { steps, ..Schedule::default() };
    let mut network = Network::with_source(graph, Seed::new(1, 0), vec![Scripted::default(); 2], source);
    network.command(first, |host, _| {
        host.send(millis(1), antenna.first(), packet_with(address(1), address(2), 100, 7, 1));
    });
    network.run_until(millis(100));
    assert_eq!(received(&network, second), [(52_001, feeder, 7)]);
    assert_eq!(network.host(second).received[0].2.contiguous_header(), 1);
}

#[test]
fn a_second_link_of_an_antenna_is_received_as_the_first() {
    let mut builder = NetworkBuilder::new();
    let (first, second) = (builder.host("first"), builder.host("second"));
    let fast = clean(FAST, Duration::from_millis(1), 10);
    let link = builder.contact_link("one", first, second, fast.clone(), fast.clone());
    let other = builder.contact_link("other", first, second, fast.clone(), fast);
    builder.address(link.second(), address(2)).receive_as(other.second(), link.second());
    let graph = builder.build().expect("a sound plan");
    let steps = vec![(millis(0), Step::Begin(other.forward(), to(second), 5.0))];
    let source = Schedule { steps, ..Schedule::default() };
    let mut network = Network::with_source(graph, Seed::new(1, 0), vec![Scripted::default(); 2], source);
    network.command(first, |host, _| {
        host.send(millis(1), other.first(), packet_with(address(1), address(2), 100, 7, 1));
    });
    network.run_until(millis(100));
    let by: Vec<LinkId> = received(&network, second).iter().map(|&(_, link, _)| link).collect();
    assert_eq!(by, [link]);
}

/// The hop limit in a packet's header.
trait HopLimit {
    fn contiguous_header(&self) -> u8;
}

impl HopLimit for slantpath_wire::Packet {
    fn contiguous_header(&self) -> u8 {
        self.contiguous()[8]
    }
}

#[test]
fn a_watched_way_carries_nothing_without_a_contact_and_over_a_handover_it_does() {
    let sky = Sky::new(WhileDown::Drop);
    let mut steps = up(&sky);
    steps.push((150, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0)));
    steps.push((200, Step::End(sky.antenna.forward(), sky.ground, AtHandover::Lost)));
    steps.push((400, Step::Begin(sky.antenna.forward(), to(sky.west), 5.0)));
    // Of one instant, nothing is seen in between.
    steps.push((500, Step::End(sky.antenna.forward(), sky.ground, AtHandover::Lost)));
    steps.push((500, Step::Begin(sky.antenna.forward(), to(sky.east), 5.0)));
    let mut network = sky.start(&steps, sky.ground, &[]);
    let way = Way { leaving: sky.antenna.first(), destination: sky.to[1], to: sky.far };
    network.watch_ways(vec![way]);
    network.run_until(millis(2_000));
    let seen: Vec<_> = network
        .take_way_changes()
        .into_iter()
        .map(|change| (change.at, change.outage.map(|outage| outage.cause)))
        .collect();
    assert_eq!(seen, [(millis(200), Some(OutageCause::NoContact)), (millis(400), None)]);
}
