//! Sites that spread their packets over several antennas, and routes of two sites of their own: which way each packet
//! takes, and in which order they arrive.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slantpath_base::{Angle, DataRate, Duration, Instant, Seed};
use slantpath_net::{
    self as net, AtHandover, DirectionConfig, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit, Way,
    WhileDown,
};
use slantpath_orbit::constellation::{Constellation, Payload};
use slantpath_orbit::contact::ContactPlan;
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::outage::{Failing, Outage};
use slantpath_orbit::route::{self, Router};
use slantpath_orbit::site::Relay;
use slantpath_orbit::{ContactNodeId, Site};
use slantpath_sat::{
    AccessLinks, Balance, InterSatelliteLinks, PathChange, SiteRoute, Sky, SkyLinks, SkySource, Stand,
};
use slantpath_wire::Packet;

use crate::fixture::{self, UNREACHABLE, address, iridium, plan};

/// Far more than any of these runs has, so that one whose time stands still fails.
const EVENTS_MAX: u64 = 5_000_000;

/// Instant of arrival, flow of the packet, and its number in that flow.
type Arrival = (Instant, u16, u32);
type Scripted = fixture::Scripted<Arrival>;

impl fixture::Arrival for Arrival {
    fn of(now: Instant, packet: &Packet) -> Self {
        let bytes = packet.contiguous();
        let flow = u16::from_be_bytes(bytes[20..22].try_into().unwrap());
        (now, flow, u32::from_be_bytes(bytes[24..28].try_into().unwrap()))
    }
}

const LENGTH: usize = 100;
/// A packet takes a millisecond.
const RATE: DataRate = DataRate::from_bits_per_sec(800_000);

/// A flow of packets that no router answers.
const SILENT: u16 = u16::from_be_bytes([UNREACHABLE, 0]);

/// From antenna 0 of the first site, whose address is 1. Its antenna 1 has 2, those of the second site 11 and 12.
fn packet(to: u8, flow: u16, number: u32) -> Packet {
    let front = u64::from(flow) << 48 | u64::from(number);
    fixture::packet(address(1), address(to), LENGTH, front)
}

fn antennas(count: usize) -> Vec<Antenna> {
    vec![Antenna::new(Angle::from_degrees(5.0)); count]
}

fn site(name: &str, latitude: f64, longitude: f64, count: usize) -> Site {
    fixture::site(name, latitude, longitude, antennas(count))
}

fn london_and_boston(count: usize) -> Vec<Site> {
    fixture::london_and_boston(&antennas(count))
}

/// Two satellites over the equator, and two sites that see both.
fn two_slots(longitudes: [f64; 2], antennas: [usize; 2]) -> ContactPlan {
    let sites = vec![site("near", 0.0, 0.0, antennas[0]), site("far", 40.0, 0.0, antennas[1])];
    plan(vec![Constellation::geostationary("geo", &longitudes)], sites, Vec::new(), Duration::from_secs(60))
}

fn outage(name: &str, from: u64, until: u64) -> Outage {
    let (from, until) = (Instant::from_secs(from), Instant::from_secs(until));
    Outage { what: Failing::Node(name.to_owned()), from, until }
}

/// Owners of the antennas of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Antennas {
    /// A host.
    OfHosts,
    /// A router to which a host is joined.
    OfGateways,
}

/// A host at each site of a plan, or behind it.
struct World {
    graph: slantpath_net::NetworkGraph,
    sky: Sky,
    hosts: Vec<NodeId>,
}

impl World {
    fn new(plan: &ContactPlan, antennas: [usize; 2]) -> Self {
        Self::with(plan, antennas, Antennas::OfHosts)
    }

    fn with(plan: &ContactPlan, antennas: [usize; 2], whose: Antennas) -> Self {
        let mut builder = NetworkBuilder::new();
        let hosts: Vec<NodeId> = ["near", "far"].map(|name| builder.host(name)).into();
        let at_sites = match whose {
            Antennas::OfHosts => hosts.clone(),
            Antennas::OfGateways => ["gateway-near", "gateway-far"].map(|name| builder.router(name)).into(),
        };
        let mut stands: Vec<Stand> = at_sites
            .iter()
            .enumerate()
            .map(|(site, &node)| Stand { site, node, antennas: antennas[site] })
            .collect();
        // A third site is a router between these.
        if plan.names().len() - plan.satellite_count() == 3 {
            stands.push(Stand { site: 2, node: builder.router("middle"), antennas: 3 });
        }
        let direction = |rate, at_handover| {
            let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
            let mut config = DirectionConfig::new(rate, Duration::ZERO, queue);
            if at_handover == AtHandover::Held {
                config.while_down = WhileDown::Hold;
            }
            config
        };
        let access = AccessLinks {
            uplink: direction(RATE, AtHandover::Held),
            uplink_at_handover: AtHandover::Held,
            downlink: direction(RATE, AtHandover::HandedOver),
            downlink_at_handover: AtHandover::HandedOver,
            is_downlink_shared: true,
        };
        let isls = InterSatelliteLinks {
            direction: direction(DataRate::from_bits_per_sec(1_000_000_000), AtHandover::HandedOver),
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
        match whose {
            Antennas::OfHosts => {
                for antenna in sky.antennas() {
                    let number = u8::try_from(10 * antenna.site + antenna.antenna + 1).unwrap();
                    builder.address(antenna.links[0].first(), address(number));
                }
            }
            Antennas::OfGateways => {
                let wire = direction(DataRate::from_bits_per_sec(1_000_000_000), AtHandover::Lost);
                for (place, number) in [(0, 1), (1, 11)] {
                    let (host, gateway) = (hosts[place], at_sites[place]);
                    let link = builder.link(
                        ["wire-near", "wire-far"][place],
                        host,
                        gateway,
                        wire.clone(),
                        wire.clone(),
                    );
                    builder.address(link.first(), address(number));
                }
            }
        }
        Self { graph: builder.build().unwrap(), sky, hosts }
    }

    fn network<'p>(
        &'p self,
        plan: &'p ContactPlan,
        balances: &[(usize, Balance)],
        routes: &[SiteRoute],
    ) -> Network<Scripted, SkySource<'p>> {
        let source = SkySource::new(plan, &self.sky, &self.graph, route::RouteConfig::default());
        let mut source = source.steering(&self.graph, balances, routes);
        let destination = |number| self.graph.destination(address(number)).unwrap();
        let interfaces = self.graph.interfaces(self.hosts[0]);
        let way = |(&leaving, number)| Way { leaving, destination: destination(number), to: self.hosts[1] };
        let ways: Vec<Way> =
            interfaces.iter().zip(11..).take(self.graph.interfaces(self.hosts[1]).len()).map(way).collect();
        source.follow(&self.graph, &ways);
        Network::with_source(self.graph.clone(), Seed::new(1, 0), vec![Scripted::default(); 2], source)
    }

    /// Packets from an antenna of the first host to an address of the second.
    fn send(
        &self,
        network: &mut Network<Scripted, SkySource<'_>>,
        (antenna, to): (usize, u8),
        packets: impl Iterator<Item = (Instant, u16, u32)>,
    ) {
        let interface = self.graph.interfaces(self.hosts[0])[antenna];
        network.command(self.hosts[0], |host, _| {
            host.to_send.extend(packets.map(|(at, flow, number)| (at, interface, packet(to, flow, number))));
        });
    }

    /// Packets that each antenna has sent up, and that have come down to it.
    fn carried(&self, network: &Network<Scripted, SkySource<'_>>) -> Vec<(u64, u64)> {
        let sum = |directions: &mut dyn Iterator<Item = slantpath_net::DirectionId>| {
            directions.map(|direction| network.counters(direction).carried.packets).sum()
        };
        let antennas = self.sky.antennas().iter();
        antennas
            .map(|antenna| {
                let up = sum(&mut antenna.links.iter().map(|link| link.forward()));
                (up, sum(&mut antenna.links.iter().map(|link| link.reverse())))
            })
            .collect()
    }

    fn dropped(&self, network: &Network<Scripted, SkySource<'_>>) -> u64 {
        let directions = self.graph.links().flat_map(|link| [link.forward(), link.reverse()]);
        let all = directions
            .flat_map(|direction| net::DropReason::ALL.iter().map(move |&reason| (direction, reason)));
        all.map(|(direction, reason)| network.counters(direction).dropped(reason).packets).sum()
    }
}

/// So many packets at once, of so many flows in turn.
fn burst(count: u32, flows: u16) -> impl Iterator<Item = (Instant, u16, u32)> {
    (0..count).map(move |number| (Instant::START, u16::try_from(number % u32::from(flows)).unwrap(), number))
}

/// Sends 200 packets at once from the near site to the far one, and gives what antennas carried and what arrived.
fn burst_over(
    longitudes: [f64; 2],
    (antennas, whose): ([usize; 2], Antennas),
    balances: &[(usize, Balance)],
    flows: u16,
) -> (Vec<(u64, u64)>, Vec<Arrival>) {
    let plan = two_slots(longitudes, antennas);
    let world = World::with(&plan, antennas, whose);
    let mut network = world.network(&plan, balances, &[]);
    world.send(&mut network, (0, 11), burst(200, flows));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    let received = network.host(world.hosts[1]).received.clone();
    assert_eq!((received.len(), world.dropped(&network)), (200, 0));
    (world.carried(&network), received)
}

fn last(received: &[(Instant, u16, u32)]) -> f64 {
    received.iter().map(|(at, ..)| at.since_start().as_secs_f64()).fold(0.0, f64::max)
}

const BOTH: fn(Balance) -> [(usize, Balance); 2] = |balance| [(0, balance), (1, balance)];

#[test]
fn two_antennas_at_either_end_take_half_the_time_packet_by_packet_and_by_backlog() {
    for whose in [Antennas::OfHosts, Antennas::OfGateways] {
        let (carried, received) = burst_over([-20.0, 20.0], ([2, 2], whose), &[], 1);
        assert_eq!(carried, [(200, 0), (0, 0), (0, 200), (0, 0)]);
        let one = last(&received);
        for balance in [Balance::PerPacket, Balance::ByBacklog] {
            let (carried, received) = burst_over([-20.0, 20.0], ([2, 2], whose), &BOTH(balance), 1);
            assert_eq!(carried, [(100, 0), (100, 0), (0, 100), (0, 100)], "{whose:?} {balance:?}");
            // 200 packets of a millisecond each, one after the other or two at a time; the second waits 800 ns for the
            // first on a gateway's wire.
            assert!((one - last(&received) - 0.1).abs() < 1e-6, "{balance:?}: {one} {}", last(&received));
        }
    }
}

#[test]
fn packets_overtake_each_other_exactly_where_delays_differ() {
    let is_sorted = |received: &[(Instant, u16, u32)]| received.is_sorted_by_key(|&(_, _, number)| number);
    let overtakes = |longitudes, balance| {
        let (_, received) = burst_over(longitudes, ([2, 2], Antennas::OfHosts), &BOTH(balance), 1);
        !is_sorted(&received)
    };
    assert!(!overtakes([-20.0, 20.0], Balance::PerPacket), "both ways are as long");
    assert!(overtakes([-20.0, 30.0], Balance::PerPacket));
}

#[test]
fn each_flow_keeps_its_order_and_its_antenna() {
    let (carried, received) =
        burst_over([-20.0, 30.0], ([2, 2], Antennas::OfHosts), &BOTH(Balance::PerFlow), 20);
    // A flow has ten packets.
    for (up, down) in carried {
        assert!(up % 10 == 0 && down % 10 == 0, "{up} {down}");
        assert!(up + down >= 50 && up + down <= 150, "{up} {down}");
    }
    let mut by_flow = BTreeMap::<u16, Vec<u32>>::new();
    for &(_, flow, number) in &received {
        by_flow.entry(flow).or_default().push(number);
    }
    assert_eq!(by_flow.len(), 20);
    assert!(by_flow.values().all(|numbers| numbers.len() == 10 && numbers.is_sorted()));
    // Flows overtake each other, so that the test sees an order that is not kept.
    assert!(!received.is_sorted_by_key(|&(_, _, number)| number));
}

#[test]
fn what_a_site_with_one_antenna_sends_comes_down_by_all_that_a_satellite_leads_to() {
    // Either satellite leads to one of the far antennas only: nothing can be spread.
    let (carried, _) = burst_over([-20.0, 20.0], ([1, 2], Antennas::OfHosts), &[(1, Balance::PerPacket)], 1);
    assert_eq!(carried[0], (200, 0));
    assert_eq!(carried[1].1 + carried[2].1, 200);
    assert!(carried[1].1 == 0 || carried[2].1 == 0, "{carried:?}");
    // Over links between satellites, every antenna can be reached.
    let plan = plan(iridium(), london_and_boston(2), Vec::new(), Duration::from_secs(60));
    let world = World::new(&plan, [2, 2]);
    let mut network = world.network(&plan, &[(1, Balance::PerPacket)], &[]);
    world.send(&mut network, (0, 11), burst(200, 1));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    assert_eq!(world.carried(&network), [(200, 0), (0, 0), (0, 100), (0, 100)]);
}

#[test]
fn a_packet_that_a_gateway_relays_keeps_the_antenna_by_which_it_is_to_come_down() {
    // The near site sees the first satellite alone, the far one the other two, and the middle all of them.
    let mut sites =
        vec![site("near", 0.0, -100.0, 1), site("far", 0.0, 100.0, 2), site("middle", 0.0, 0.0, 3)];
    sites[2].relay = Relay::Gateway;
    let constellation = Constellation {
        payload: Payload::Regenerative,
        ..Constellation::geostationary("geo", &[-60.0, 40.0, 60.0])
    };
    let plan = plan(vec![constellation], sites, Vec::new(), Duration::from_secs(60));
    let world = World::with(&plan, [1, 2], Antennas::OfGateways);
    let mut network = world.network(&plan, &[(1, Balance::PerPacket)], &[]);
    // An odd number, so that taking turns again in the middle would find the other's turn.
    world.send(&mut network, (0, 11), burst(201, 1));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    assert_eq!(network.host(world.hosts[1]).received.len(), 201);
    let carried = world.carried(&network);
    assert_eq!(carried[..3], [(201, 0), (0, 101), (0, 100)]);
    // The middle has sent each up once.
    assert_eq!(carried[3..].iter().map(|(up, _)| up).sum::<u64>(), 201);
}

#[test]
fn a_site_with_one_satellite_left_sends_all_by_that_antenna() {
    let sites = vec![site("near", 0.0, 0.0, 2), site("far", 40.0, 0.0, 2)];
    let plan = plan(
        vec![Constellation::geostationary("geo", &[-20.0, 20.0])],
        sites,
        vec![outage("geo-1", 20, 40)],
        Duration::from_secs(60),
    );
    for balance in [Balance::PerPacket, Balance::ByBacklog, Balance::PerFlow] {
        let world = World::new(&plan, [2, 2]);
        let mut network = world.network(&plan, &BOTH(balance), &[]);
        let at = Instant::from_secs(30);
        world.send(&mut network, (0, 11), (0..100).map(|number| (at, number, number.into())));
        assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(35)), "events do not end");
        assert_eq!(network.host(world.hosts[1]).received.len(), 100, "{balance:?}");
        let used = world.carried(&network).iter().filter(|(up, down)| up + down == 100).count();
        assert_eq!(used, 2, "{balance:?}: one antenna at either end");
    }
}

/// The sites of a plan with their first two antennas each.
fn disjoint(plan: &ContactPlan) -> [SiteRoute; 1] {
    let ends = [0, 1].map(|site| (ContactNodeId::new(plan.satellite_count() + site), [0, 1]));
    [SiteRoute::Disjoint { ends }]
}

/// The path that a way has at a time.
fn path_at(changes: &[PathChange], way: usize, at: u64) -> &PathChange {
    let of_way = |change: &&PathChange| change.way == way && change.at <= Instant::from_secs(at);
    changes.iter().rfind(of_way).unwrap()
}

#[test]
fn a_satellite_that_fails_breaks_one_of_two_disjoint_routes_and_the_other_stays() {
    let span = Duration::from_secs(90);
    let whole = plan(iridium(), london_and_boston(2), Vec::new(), span);
    let world = World::new(&whole, [2, 2]);
    let mut network = world.network(&whole, &[], &disjoint(&whole));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(60)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let [one, other] = [0, 1].map(|way| path_at(&changes, way, 30).path.clone().unwrap());
    assert!(one.iter().all(|node| !other.contains(node)), "{one:?} {other:?}");
    assert!(one.len() > 2 && other.len() > 2, "there are satellites between those at the ends");
    assert_eq!(path_at(&changes, 0, 30).shared, Some(0));
    // A satellite in the middle of the first path fails.
    let failing = &whole.names()[one[1].index()];
    let broken = plan(iridium(), london_and_boston(2), vec![outage(failing, 30, 60)], span);
    let world = World::new(&broken, [2, 2]);
    let mut network = world.network(&broken, &[], &disjoint(&broken));
    let every = |number: u32| Instant::from_nanos(u64::from(number) * 50_000_000);
    world.send(&mut network, (0, 11), (0..1_000).map(|number| (every(number), 1, number)));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(29)), "events do not end");
    let (first, second) = (world.carried(&network)[0].0, world.carried(&network)[1].0);
    assert_eq!((first, second), (580, 0), "what leaves by the first antenna stays there");
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(60)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let of = |way, at| path_at(&changes, way, at).path.clone();
    assert_eq!((of(0, 29), of(1, 29)), (Some(one.clone()), Some(other.clone())));
    assert_ne!(of(0, 30), Some(one.clone()), "the first is another");
    let [new, second] = [0, 1].map(|way| of(way, 30).unwrap());
    assert!(!new.contains(&one[1]) && new.iter().all(|node| !second.contains(node)));
    assert_eq!(second, other, "the second is untouched");
    let received = network.host(world.hosts[1]).received.len() as u64;
    assert_eq!(received + world.dropped(&network), 1_000);
    assert!(received >= 998, "{received}");
}

#[test]
fn what_comes_behind_a_packet_that_meets_a_broken_route_takes_the_new_one() {
    let span = Duration::from_secs(90);
    let whole = plan(iridium(), london_and_boston(2), Vec::new(), span);
    let world = World::new(&whole, [2, 2]);
    let mut network = world.network(&whole, &[], &disjoint(&whole));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(30)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let failing = path_at(&changes, 0, 30).path.clone().unwrap()[1];
    let broken = outage(&whole.names()[failing.index()], 30, 60);
    let broken = plan(iridium(), london_and_boston(2), vec![broken], span);
    let world = World::new(&broken, [2, 2]);
    // Nobody follows the routes: they are found anew by the first packet that is sent after the change, and one that is
    // on its way up by then is still sent on by the old one.
    let source = SkySource::new(&broken, &world.sky, &world.graph, route::RouteConfig::default());
    let source = source.steering(&world.graph, &[], &disjoint(&broken));
    let hosts = vec![Scripted::default(); 2];
    let mut network = Network::with_source(world.graph.clone(), Seed::new(1, 0), hosts, source);
    let every = |number: u32| Instant::from_nanos(29_904_900_000 + u64::from(number) * 5_000_000);
    world.send(&mut network, (0, 11), (0..100).map(|number| (every(number), 1, number)));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(31)), "events do not end");
    let received = network.host(world.hosts[1]).received.len() as u64;
    assert_eq!(received + world.dropped(&network), 100);
    // Of 80 that are sent after the change none is lost.
    assert!((90..100).contains(&received), "{received}");
}

#[test]
fn routes_that_cannot_be_disjoint_share_as_little_as_can_be_and_say_so() {
    let sites = || london_and_boston(2);
    let span = Duration::from_secs(60);
    let whole = plan(iridium(), sites(), Vec::new(), span);
    let world = World::new(&whole, [2, 2]);
    let mut network = world.network(&whole, &[], &disjoint(&whole));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let [one, other] = [0, 1].map(|way| path_at(&changes, way, 0).path.clone().unwrap());
    // The last satellite of the second path loses its links to others: both come down by that of the first.
    let lonely = *other.last().unwrap();
    let between = whole.contacts().iter().filter(|contact| contact.b.index() < whole.satellite_count());
    let lost = between.filter(|contact| [contact.a, contact.b].contains(&lonely));
    let name = |body: ContactNodeId| whole.names()[body.index()].clone();
    let outages = lost.map(|contact| Outage {
        what: Failing::Link(name(contact.a), name(contact.b)),
        from: Instant::START,
        until: Instant::from_secs(60),
    });
    let narrow = plan(iridium(), sites(), outages.collect(), span);
    let world = World::new(&narrow, [2, 2]);
    let mut network = world.network(&narrow, &[], &disjoint(&narrow));
    world.send(&mut network, (1, 12), burst(50, 1));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(10)), "events do not end");
    assert_eq!(network.host(world.hosts[1]).received.len(), 50);
    let changes = network.source_mut().take_path_changes();
    let [first, second] = [0, 1].map(|way| path_at(&changes, way, 0));
    assert_eq!(first.path, Some(one.clone()));
    let beside = second.path.clone().unwrap();
    assert_eq!((beside[0], beside.last()), (other[0], one.last()));
    assert!(one[..one.len() - 1].iter().all(|node| !beside.contains(node)), "{one:?} {beside:?}");
    assert_eq!((first.shared, second.shared), (Some(1), Some(1)));
}

#[test]
fn a_fixed_route_carries_while_its_hops_hold_and_nothing_beside_it() {
    let span = Duration::from_secs(90);
    let whole = plan(iridium(), london_and_boston(1), Vec::new(), span);
    let world = World::new(&whole, [1, 1]);
    let mut network = world.network(&whole, &[], &[]);
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(60)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let least = path_at(&changes, 0, 60).path.clone().unwrap();
    let ends = [0, 1].map(|site| ContactNodeId::new(whole.satellite_count() + site));
    let nodes: Vec<ContactNodeId> = [&ends[..1], &least[..], &ends[1..]].concat();
    // A satellite in its middle fails for ten seconds.
    let broken =
        plan(iridium(), london_and_boston(1), vec![outage(&whole.names()[least[1].index()], 30, 40)], span);
    let world = World::new(&broken, [1, 1]);
    let mut network = world.network(&broken, &[], &[SiteRoute::Fixed(nodes)]);
    let every = |number: u32| Instant::from_nanos(u64::from(number) * 100_000_000 + 97_000_000);
    world.send(&mut network, (0, 11), (0..600).map(|number| (every(number), 1, number)));
    assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(61)), "events do not end");
    let changes = network.source_mut().take_path_changes();
    let of: Vec<(u64, Option<Vec<ContactNodeId>>)> =
        changes.iter().map(|change| (change.at.as_nanos() / 1_000_000_000, change.path.clone())).collect();
    assert_eq!(of, [(0, Some(least.clone())), (30, None), (40, Some(least))]);
    let received = network.host(world.hosts[1]).received.len();
    // A hundred are sent while it is away. One is on its way up as the satellite behind the next fails: it goes nowhere
    // else.
    assert_eq!(received, 499);
    assert_eq!(world.dropped(&network), 101);
    let up = world.sky.antennas()[0].links[0].forward();
    assert_eq!(network.counters(up).dropped(net::DropReason::NoContact).packets, 100);
}

#[test]
fn routes_worked_out_at_an_interval_are_never_longer_than_those_of_changes() {
    // One antenna that is far from its next change: between changes only the interval finds a shorter path.
    let span = Duration::from_secs(600);
    let plan = plan(iridium(), london_and_boston(1), Vec::new(), span);
    let ends = [0, 1].map(|site| ContactNodeId::new(plan.satellite_count() + site));
    let world = World::new(&plan, [1, 1]);
    let changes_of = |interval: Option<Duration>| {
        let source = SkySource::new(&plan, &world.sky, &world.graph, route::RouteConfig::default());
        let mut source = match interval {
            Some(interval) => source.recomputing_every(interval),
            None => source,
        };
        let destination = world.graph.destination(address(11)).unwrap();
        let leaving = world.graph.interfaces(world.hosts[0])[0];
        source.follow(&world.graph, &[Way { leaving, destination, to: world.hosts[1] }]);
        let hosts = vec![Scripted::default(); 2];
        let mut network = Network::with_source(world.graph.clone(), Seed::new(1, 0), hosts, source);
        assert!(
            network.run_at_most(EVENTS_MAX, Instant::START + span - Duration::from_secs(1)),
            "events do not end"
        );
        network.source_mut().take_path_changes()
    };
    let (seldom, often) = (changes_of(None), changes_of(Some(Duration::from_secs(1))));
    let of_plan = |change: &&PathChange| plan.changes().iter().any(|known| known.at == change.at);
    assert!(seldom.iter().all(|change| of_plan(&change)));
    let between: Vec<&PathChange> = often.iter().filter(|change| !of_plan(change)).collect();
    assert!(!between.is_empty(), "{}", often.len());
    for change in &between {
        assert!(change.at.as_nanos().is_multiple_of(1_000_000_000), "{}", change.at);
    }
    // Whenever either changes, the path of the interval is the shortest there is.
    for change in between {
        let path = change.path.as_ref().unwrap();
        let mut router = Router::new(&plan, &[ends[1]], route::RouteConfig::default());
        router.advance(change.at);
        router.rebuild();
        let shortest = router.path(ends[0], 0).unwrap();
        assert_eq!(path[..], shortest.nodes[1..shortest.nodes.len() - 1]);
    }
}

fn balance() -> impl Strategy<Value = Option<Balance>> {
    prop::option::of(prop_oneof![Just(Balance::ByBacklog), Just(Balance::PerFlow), Just(Balance::PerPacket)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_packet_is_accounted_for_whatever_a_sky_and_its_sites_do(
        (latitude, longitude) in (-60.0..60.0_f64, -180.0..180.0_f64),
        antennas in (1..4_usize, 1..4_usize),
        balances in (balance(), balance()),
        is_disjoint: bool,
        failing in prop::collection::vec((0..66_usize, 0..250_u64), 0..40),
        every_ms in 1..60_u64,
    ) {
        let antennas = [antennas.0, antennas.1];
        let constellations = iridium();
        let names: Vec<String> =
            constellations[0].satellites.iter().map(|satellite| satellite.name.clone()).collect();
        let outages: Vec<Outage> = failing
            .iter()
            .map(|&(place, from)| outage(&names[place % names.len()], from, from + 40))
            .collect();
        let sites =
            vec![site("near", 10.0, 0.0, antennas[0]), site("far", latitude, longitude, antennas[1])];
        let span = Duration::from_secs(310);
        let plan = plan(constellations, sites, outages, span);
        let balances: Vec<(usize, Balance)> = [balances.0, balances.1]
            .into_iter()
            .enumerate()
            .filter_map(|(site, balance)| Some((site, balance?)))
            .collect();
        let may = antennas.iter().all(|&count| count > 1);
        let routes = if is_disjoint && may { disjoint(&plan).to_vec() } else { Vec::new() };
        let once = || {
            let world = World::new(&plan, antennas);
            let mut network = world.network(&plan, &balances, &routes);
            let packets = (0..40_000_u32).map(|number| {
                let at = Instant::from_nanos(u64::from(number) * every_ms * 1_000_000);
                (at, SILENT, number)
            });
            world.send(&mut network, (0, 11), packets.take_while(|(at, ..)| *at < Instant::from_secs(290)));
            let sent = 290_000_u64.div_ceil(every_ms).min(40_000);
            assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(309)), "events do not end");
            let received = network.host(world.hosts[1]).received.len() as u64;
            (sent, received + world.dropped(&network) + network.packets_under_way() as u64, network.digest())
        };
        let (sent, accounted, digest) = once();
        prop_assert_eq!(sent, accounted);
        prop_assert_eq!(digest, once().2);
    }
    #[test]
    fn what_gateways_relay_never_goes_round(
        (latitude, longitude) in (-60.0..60.0_f64, -180.0..180.0_f64),
        near in -70.0..70.0_f64,
        antennas in (1..4_usize, 1..4_usize),
        balances in (balance(), balance()),
        failing in prop::collection::vec((0..66_usize, 0..50_u64), 0..50),
    ) {
        let antennas = [antennas.0, antennas.1];
        let mut sites = vec![site("near", near, 0.0, antennas[0]), site("far", latitude, longitude, antennas[1])];
        for site in &mut sites {
            site.relay = Relay::Gateway;
        }
        let constellations = iridium();
        let name = |place: usize| constellations[0].satellites[place].name.clone();
        let outages = failing.iter().map(|&(place, from)| outage(&name(place), from, from + 40)).collect();
        let plan = plan(constellations, sites, outages, Duration::from_secs(110));
        let balances: Vec<(usize, Balance)> = [balances.0, balances.1]
            .into_iter()
            .enumerate()
            .filter_map(|(site, balance)| Some((site, balance?)))
            .collect();
        let world = World::with(&plan, antennas, Antennas::OfGateways);
        let mut network = world.network(&plan, &balances, &[]);
        let at = |number: u32| Instant::from_nanos(u64::from(number) * 10_000_000);
        world.send(&mut network, (0, 11), (0..9_000).map(|number| (at(number), SILENT, number)));
        assert!(network.run_at_most(EVENTS_MAX, Instant::from_secs(109)), "events do not end");
        let received = network.host(world.hosts[1]).received.len() as u64;
        let all = received + world.dropped(&network) + network.packets_under_way() as u64;
        prop_assert_eq!(all, 9_000);
        let directions = world.graph.links().flat_map(|link| [link.forward(), link.reverse()]);
        for direction in directions {
            prop_assert_eq!(network.counters(direction).dropped(net::DropReason::HopLimit).packets, 0);
        }
    }
}
