//! Packets under skies that move, held against the contact plan: where they go, how long they take, and what becomes of
//! them at handovers.

use std::net::IpAddr;

use proptest::prelude::*;
use slantpath_base::{Angle, DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{
    self as net, AtHandover, Change, Delay, DirectionConfig, LinkId, Network, NetworkBuilder, NodeId,
    QueueConfig, QueueLimit, WhileDown,
};
use slantpath_orbit::Site;
use slantpath_orbit::constellation::{Constellation, Payload};
use slantpath_orbit::contact::{ContactCause, ContactId, ContactPlan};
use slantpath_orbit::ground::{Antenna, GroundPolicy, Handover as HandoverPolicy};
use slantpath_orbit::route;
use slantpath_orbit::topology::{RouteChoice, Timeline, follow};
use slantpath_sat::{AccessLinks, AntennaHandover, InterSatelliteLinks, Sky, SkyLinks, SkySource, Stand};
use slantpath_wire::Packet;

use crate::fixture::{self, UNREACHABLE, address, iridium, site};

/// Far more than any of these runs has, so that one whose time stands still fails.
const EVENTS_MAX: u64 = 5_000_000;

/// Instant of arrival, and tag of the packet.
type Arrival = (Instant, u32);
type Scripted = fixture::Scripted<Arrival>;

impl fixture::Arrival for Arrival {
    fn of(now: Instant, packet: &Packet) -> Self {
        (now, u32::from_be_bytes(packet.contiguous()[24..28].try_into().unwrap()))
    }
}

const LENGTH: usize = 100;

/// One that no router answers.
fn packet(source: IpAddr, destination: IpAddr, tag: u32) -> Packet {
    let front = u64::from(UNREACHABLE) << 56 | u64::from(tag);
    fixture::packet(source, destination, LENGTH, front)
}

fn antenna(policy: GroundPolicy) -> Antenna {
    Antenna::new(Angle::from_degrees(8.2)).with_policy(policy)
}

fn london_and_boston(policy: GroundPolicy) -> Vec<Site> {
    fixture::london_and_boston(&[antenna(policy)])
}

fn plan(constellations: Vec<Constellation>, sites: Vec<Site>, span: Duration) -> ContactPlan {
    fixture::plan(constellations, sites, Vec::new(), span)
}

/// Properties of every link of a sky, and the fate of queued packets.
#[derive(Clone, Copy)]
struct Links {
    rate: DataRate,
    up: AtHandover,
    down: AtHandover,
    is_shared: bool,
}

impl Links {
    fn fast() -> Self {
        let rate = DataRate::from_bits_per_sec(1_000_000_000);
        Self { rate, up: AtHandover::Held, down: AtHandover::HandedOver, is_shared: false }
    }

    fn direction(self, at_handover: AtHandover) -> DirectionConfig {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
        let mut config = DirectionConfig::new(self.rate, Duration::ZERO, queue);
        if at_handover == AtHandover::Held {
            config.while_down = WhileDown::Hold;
        }
        config
    }

    fn time_to_send(self) -> Duration {
        Duration::from_nanos(LENGTH as u64 * 8_000_000_000 / self.rate.as_bits_per_sec())
    }
}

/// Hosts at the sites of a plan, in their order, with the addresses 1, 2 and so on.
struct World {
    graph: slantpath_net::NetworkGraph,
    sky: Sky,
    hosts: Vec<NodeId>,
}

impl World {
    fn new(plan: &ContactPlan, links: Links) -> Self {
        Self::with_script(plan, links, &[])
    }

    /// With changes of all links of an antenna in one direction, each at a second of the run.
    fn with_script(plan: &ContactPlan, links: Links, script: &[(u64, usize, bool, Change)]) -> Self {
        let mut builder = NetworkBuilder::new();
        let sites = plan.satellite_count()..plan.names().len();
        let hosts: Vec<NodeId> =
            plan.names()[sites].iter().map(|name| builder.host(&format!("host-{name}"))).collect();
        let stands: Vec<Stand> =
            hosts.iter().enumerate().map(|(site, &node)| Stand { site, node, antennas: 1 }).collect();
        let access = AccessLinks {
            uplink: links.direction(links.up),
            uplink_at_handover: links.up,
            downlink: links.direction(links.down),
            downlink_at_handover: links.down,
            is_downlink_shared: links.is_shared,
        };
        let isls = InterSatelliteLinks {
            direction: links.direction(AtHandover::HandedOver),
            at_handover: AtHandover::HandedOver,
        };
        let links = SkyLinks {
            access: &[access],
            access_of: &|_, _| 0,
            isls: &[isls],
            isls_of: &|_| Some(0),
            group_of_antenna: &|_, _| "sky".to_owned(),
            group_of_satellite: &|_| "sky".to_owned(),
            name_of: &|site, antenna| format!("sky.{site}.{antenna}"),
            cables: &[],
            to_come: None,
        };
        let sky = Sky::declare(&mut builder, plan, &stands, &links);
        for antenna in sky.antennas() {
            let number = u8::try_from(antenna.site + 1).unwrap();
            builder.address(antenna.links[0].first(), address(number));
        }
        for &(at, antenna, is_up, change) in script {
            for link in &sky.antennas()[antenna].links {
                let direction = if is_up { link.forward() } else { link.reverse() };
                builder.change(Instant::from_secs(at), direction, change);
            }
        }
        Self { graph: builder.build().unwrap(), sky, hosts }
    }

    fn network<'p>(&'p self, plan: &'p ContactPlan) -> Network<Scripted, SkySource<'p>> {
        let source = SkySource::new(plan, &self.sky, &self.graph, route::RouteConfig::default());
        let hosts = vec![Scripted::default(); self.hosts.len()];
        Network::with_source(self.graph.clone(), Seed::new(1, 0), hosts, source)
    }

    /// A packet every so often from the first host to the second, tagged by its number.
    fn send(&self, network: &mut Network<Scripted, SkySource<'_>>, every: Duration, count: u32) {
        let interface = self.graph.interfaces(self.hosts[0])[0];
        network.command(self.hosts[0], |host, _| {
            for tag in 0..count {
                let at = Instant::from_nanos(every.as_nanos() * u64::from(tag));
                host.to_send.push_back((at, interface, packet(address(1), address(2), tag)));
            }
        });
    }

    /// Packets dropped for a reason on all links of the sky.
    fn dropped(&self, network: &Network<Scripted, SkySource<'_>>, reason: net::DropReason) -> u64 {
        let links = self.graph.links().flat_map(|link: LinkId| [link.forward(), link.reverse()]);
        links.map(|direction| network.counters(direction).dropped(reason).packets).sum()
    }
}

/// Gives the instant at which a packet arrives that leaves at an instant and finds no queue, along the path of that
/// instant.
fn expected(plan: &ContactPlan, timeline: &Timeline, sent: Instant, per_link: Duration) -> Option<Instant> {
    let path = timeline.leg_at(sent)?.path.as_ref()?;
    Some(path.nodes.iter().zip(&path.contacts).fold(sent, |at, (&sender, &contact)| {
        let repeats = plan.payload(sender) == Some(Payload::BentPipe);
        let departure = if repeats { at } else { at + per_link };
        departure + plan.delay(contact).at(departure)
    }))
}

#[test]
fn a_packet_takes_the_delay_of_the_plan_on_every_link_over_iridium_and_geo() {
    let span = Duration::from_secs(3_600);
    for constellations in [iridium(), vec![Constellation::geostationary("geo", &[-30.0])]] {
        let plan = plan(constellations, london_and_boston(GroundPolicy::default()), span);
        let ends = ["london", "boston"].map(|name| plan.node(name).unwrap());
        let timeline = follow(&plan, ends[0], ends[1], &RouteChoice::LeastDelay);
        let links = Links::fast();
        let world = World::new(&plan, links);
        let mut network = world.network(&plan);
        let every = Duration::from_millis(250);
        world.send(&mut network, every, 14_000);
        assert!(
            network.run_at_most(EVENTS_MAX, Instant::START + span - Duration::from_secs(1)),
            "events do not end"
        );
        let arrived = &network.host(world.hosts[1]).received;
        let mut compared = 0;
        for &(at, tag) in arrived {
            let sent = Instant::from_nanos(every.as_nanos() * u64::from(tag));
            let leg = timeline.leg_at(sent).unwrap();
            // One that a change overtakes on its way goes by two paths.
            if at >= leg.end {
                continue;
            }
            let expected = expected(&plan, &timeline, sent, links.time_to_send()).unwrap();
            let off = at.as_nanos().abs_diff(expected.as_nanos());
            // Rounded to a nanosecond on every link, on either side.
            assert!(off <= leg.path.as_ref().unwrap().contacts.len() as u64, "{tag}: {off} ns");
            compared += 1;
        }
        assert!(compared > 13_900, "{compared}");
        let lost = 14_000 - arrived.len() as u64;
        assert_eq!(lost, world.dropped(&network, net::DropReason::Handover), "nothing is lost otherwise");
    }
}

#[test]
fn every_packet_is_accounted_for_over_a_hundred_handovers() {
    let span = Duration::from_secs(40_000);
    let plan = plan(iridium(), london_and_boston(GroundPolicy::default()), span);
    // 6,400 bit/s: a packet takes 125 ms, and with one every 130 ms a handover always meets some.
    let rate = DataRate::from_bits_per_sec(6_400);
    for (up, down, is_shared) in [
        (AtHandover::Held, AtHandover::HandedOver, false),
        (AtHandover::Held, AtHandover::HandedOver, true),
        (AtHandover::Lost, AtHandover::Lost, true),
    ] {
        let world = World::new(&plan, Links { rate, up, down, is_shared });
        let mut network = world.network(&plan);
        let count = 300_000;
        world.send(&mut network, Duration::from_millis(130), count);
        assert!(
            network.run_at_most(EVENTS_MAX, Instant::START + span - Duration::from_secs(1)),
            "events do not end"
        );
        let received = network.host(world.hosts[1]).received.len() as u64;
        let dropped: u64 = net::DropReason::ALL.iter().map(|&reason| world.dropped(&network, reason)).sum();
        let waiting = network.packets_under_way() as u64;
        assert_eq!(received + dropped + waiting, u64::from(count));
        assert_eq!(waiting, 0);
        let handovers: Vec<AntennaHandover> = network.source_mut().take_handovers();
        let real = handovers.iter().filter(|handover| handover.from.is_some());
        assert!(real.clone().count() > 100, "{}", real.count());
        let lost: u64 = handovers.iter().map(|handover| handover.uplink.lost + handover.downlink.lost).sum();
        let lost_on_isls: u64 = world
            .sky
            .isls()
            .iter()
            .flat_map(|&(_, _, link)| [link.forward(), link.reverse()])
            .map(|direction| network.counters(direction).dropped(net::DropReason::Handover).packets)
            .sum();
        assert_eq!(lost + lost_on_isls, world.dropped(&network, net::DropReason::Handover));
        assert!(lost > 0);
    }
}

#[test]
fn make_before_break_loses_nothing_and_break_before_make_what_comes_in_the_gap() {
    let span = Duration::from_secs(7_200);
    let overlap = HandoverPolicy::MakeBeforeBreak { overlap: Duration::from_secs(2) };
    let gap = HandoverPolicy::BreakBeforeMake { gap: Duration::from_secs(2) };
    for (handover, loses) in [(overlap, false), (gap, true)] {
        let policy = GroundPolicy { handover, ..GroundPolicy::default() };
        let plan = plan(iridium(), london_and_boston(policy), span);
        let rate = DataRate::from_bits_per_sec(64_000);
        let links = Links { rate, up: AtHandover::Lost, down: AtHandover::Lost, is_shared: false };
        let world = World::new(&plan, links);
        let mut network = world.network(&plan);
        world.send(&mut network, Duration::from_millis(15), 479_000);
        assert!(
            network.run_at_most(EVENTS_MAX, Instant::START + span - Duration::from_secs(1)),
            "events do not end"
        );
        let antennas = world.sky.antennas().iter().flat_map(|antenna| antenna.links.clone());
        let lost: u64 = antennas
            .flat_map(|link| [link.forward(), link.reverse()])
            .map(|direction| network.counters(direction).dropped_in_all().packets)
            .sum();
        let handovers = network.source_mut().take_handovers();
        if loses {
            // Two seconds of packets at each handover of the sender.
            let sender = handovers.iter().filter(|handover| handover.antenna == 0 && handover.to.is_none());
            let expected = sender.count() as u64 * 133;
            let no_contact = world.dropped(&network, net::DropReason::NoContact);
            assert!(no_contact.abs_diff(expected) <= expected / 50, "{no_contact} {expected}");
            assert!(handovers.iter().any(|handover| handover.from.is_none() && handover.to.is_some()));
        } else {
            assert_eq!(lost, 0);
            assert!(handovers.iter().filter(|handover| handover.from.is_some()).count() > 15);
            assert!(handovers.iter().all(|handover| handover.to.is_some()));
        }
    }
}

#[test]
fn an_antenna_has_as_many_links_as_contacts_at_once_with_the_delay_of_its_first() {
    let overlap = HandoverPolicy::MakeBeforeBreak { overlap: Duration::from_secs(2) };
    let gap = HandoverPolicy::BreakBeforeMake { gap: Duration::from_secs(2) };
    for (handover, channels) in [(overlap, ["", " (2)"].as_slice()), (gap, &[""])] {
        let policy = GroundPolicy { handover, ..GroundPolicy::default() };
        let plan = plan(iridium(), london_and_boston(policy), Duration::from_secs(3_600));
        let world = World::new(&plan, Links::fast());
        for antenna in world.sky.antennas() {
            let names: Vec<&str> = antenna.links.iter().map(|&link| world.graph.link_name(link)).collect();
            let expected: Vec<String> =
                channels.iter().map(|channel| format!("sky.{}.0{channel}", antenna.site)).collect();
            assert_eq!(names, expected);
            let site = slantpath_orbit::ContactNodeId::new(plan.satellite_count() + antenna.site);
            let first = plan.contacts().iter().position(|contact| contact.b == site).unwrap();
            let start = plan.contacts()[first].start;
            let delay = plan.delay(ContactId(u32::try_from(first).unwrap())).at(start);
            for direction in antenna.links.iter().flat_map(|link| [link.forward(), link.reverse()]) {
                assert_eq!(world.graph.direction(direction).delay, Delay::Constant(delay));
            }
        }
    }
}

#[test]
fn handovers_are_those_of_the_plan_with_their_causes() {
    let span = Duration::from_secs(3_600);
    let plan = plan(iridium(), london_and_boston(GroundPolicy::default()), span);
    let world = World::new(&plan, Links::fast());
    let mut network = world.network(&plan);
    assert!(
        network.run_at_most(EVENTS_MAX, Instant::START + span - Duration::from_secs(1)),
        "events do not end"
    );
    let handovers = network.source_mut().take_handovers();
    for (place, antenna) in world.sky.antennas().iter().enumerate() {
        let site = slantpath_orbit::ContactNodeId::new(plan.satellite_count() + antenna.site);
        let own: Vec<_> = plan.contacts().iter().filter(|contact| contact.b == site).collect();
        let seen: Vec<&AntennaHandover> =
            handovers.iter().filter(|handover| handover.antenna == place).collect();
        assert_eq!(seen.len(), own.len());
        let first = seen[0];
        assert_eq!((first.at, first.from, first.cause), (Instant::START, None, ContactCause::SpanBegins));
        for (handover, contacts) in seen[1..].iter().zip(own.windows(2)) {
            assert_eq!((handover.from, handover.to), (Some(contacts[0].a), Some(contacts[1].a)));
            assert_eq!((handover.at, handover.cause), (contacts[1].start, contacts[0].closes));
        }
    }
}

#[test]
fn a_satellite_that_repeats_adds_nothing_but_its_two_distances() {
    let mut geo = Constellation::geostationary("geo", &[-30.0]);
    geo.payload = Payload::BentPipe;
    let span = Duration::from_secs(60);
    let plan = plan(vec![geo], london_and_boston(GroundPolicy::default()), span);
    let links = Links { rate: DataRate::from_bits_per_sec(64_000), ..Links::fast() };
    let world = World::new(&plan, links);
    let mut network = world.network(&plan);
    world.send(&mut network, Duration::from_secs(1), 1);
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    let (at, _) = network.host(world.hosts[1]).received[0];
    let [up, down] = [0, 1].map(|contact| plan.delay(ContactId(contact)));
    let departure = Instant::START + links.time_to_send();
    let over = departure + up.at(departure);
    let expected = over + down.at(over);
    assert!(at.as_nanos().abs_diff(expected.as_nanos()) <= 3, "{at} {expected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn under_any_sky_and_policy_every_packet_is_accounted_for_and_runs_are_alike(
        latitudes in (-60.0..60.0_f64, -60.0..60.0_f64),
        longitudes in (-180.0..180.0_f64, -180.0..180.0_f64),
        overlaps in any::<bool>(),
        seconds in 0_u64..5,
        up in prop_oneof![Just(AtHandover::Held), Just(AtHandover::Lost)],
        down in prop_oneof![Just(AtHandover::HandedOver), Just(AtHandover::Lost)],
        is_shared in any::<bool>(),
        kilobits in 20_u64..200,
        script in prop::collection::vec(
            (0_u64..1_700, 0..2_usize, any::<bool>(), prop_oneof![
                Just(Change::Down),
                Just(Change::Up),
                Just(Change::Loss(Probability::new(0.1).unwrap())),
                Just(Change::Loss(Probability::NEVER)),
            ]),
            0..20,
        ),
    ) {
        let time = Duration::from_secs(seconds);
        let handover = if overlaps {
            HandoverPolicy::MakeBeforeBreak { overlap: time }
        } else {
            HandoverPolicy::BreakBeforeMake { gap: time }
        };
        let policy = GroundPolicy { handover, ..GroundPolicy::default() };
        let sites = vec![
            site("one", latitudes.0, longitudes.0, vec![antenna(policy)]),
            site("two", latitudes.1, longitudes.1, vec![antenna(policy)]),
        ];
        let span = Duration::from_secs(1_800);
        let plan = plan(iridium(), sites, span);
        let rate = DataRate::from_bits_per_sec(1_000 * kilobits);
        let world = World::with_script(&plan, Links { rate, up, down, is_shared }, &script);
        let run = || {
            let mut network = world.network(&plan);
            world.send(&mut network, Duration::from_millis(17), 100_000);
            assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(1_700)), "events do not end");
            network
        };
        let network = run();
        let received = network.host(world.hosts[1]).received.len() as u64;
        let dropped: u64 = net::DropReason::ALL.iter().map(|&reason| world.dropped(&network, reason)).sum();
        prop_assert_eq!(received + dropped + network.packets_under_way() as u64, 100_000);
        for direction in world.graph.links().flat_map(|link| [link.forward(), link.reverse()]) {
            let counters = network.counters(direction);
            let at_far_end = [net::DropReason::BitError, net::DropReason::HopLimit];
            let of_link = net::DropReason::ALL.into_iter().filter(|reason| !at_far_end.contains(reason));
            let on_link: u64 = of_link.map(|reason| counters.dropped(reason).packets).sum();
            // What a node finds unreachable has been carried to it.
            let unreachable = counters.dropped(net::DropReason::Unreachable).packets;
            let gone = counters.carried.packets + on_link - unreachable + counters.handed_over.packets;
            prop_assert!(gone <= counters.offered.packets);
        }
        prop_assert_eq!(network.digest(), run().digest());
    }
}
