//! London to Boston hop for hop against ns-2.35: which satellites, and how long each hop takes. The page
//! `docs/models/orbit-routes.md` explains what differs.

use std::collections::BTreeMap;
use std::process::Command;

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::shell::{FirstNode, Phasing, Shell};
use slantpath_orbit::constellation::{Arrangement, IslConfig, IslPattern, Seam};
use slantpath_orbit::contact::{Contact, ContactPlan, Planner};
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Reselect};
use slantpath_orbit::orbit::Perturbation;
use slantpath_orbit::route::{RouteConfig, Router};
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::topology::{RouteChoice, follow};
use slantpath_orbit::{Constellation, ContactNetwork, ContactNodeId, Geodetic, Site, Utc, Vec3};
use slantpath_testkit::needs_program;

/// ns-2's sphere, metres.
const EARTH_RADIUS_M: f64 = 6_378e3;
const ELEVATION_DEG: f64 = 8.2;
/// 210 bytes and 16 of the link's header at 1.5 Mbit/s on the ground links and 25 Mbit/s between satellites.
const GROUND_SERIALISATION_S: f64 = 226.0 * 8.0 / 1.5e6;
const ISL_SERIALISATION_S: f64 = 226.0 * 8.0 / 25e6;

/// One packet's way through ns-2.
struct Flight {
    /// ns-2's numbers of the nodes: satellites first, then London and Boston.
    nodes: Vec<usize>,
    /// Times at which each hop was left, and times that it took, seconds, as exact as the trace: to 0.1 ms.
    hops: Vec<(f64, f64)>,
    /// From end to end, seconds, to the nanosecond.
    total_s: f64,
}

impl Flight {
    fn serialisation_s(&self) -> f64 {
        2.0 * GROUND_SERIALISATION_S + (self.hops.len() - 2) as f64 * ISL_SERIALISATION_S
    }
}

/// Runs the script; `None` where ns-2 is not installed.
fn ns(arguments: &[&str]) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/ns2/sky.tcl");
    match Command::new("ns").arg(script).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            needs_program(&error, "apt-get install ns2");
            None
        }
    }
}

/// The packets that came through, by the time at which they were sent.
fn flights(trace: &str) -> Vec<(f64, Flight)> {
    let mut sent: BTreeMap<u32, f64> = BTreeMap::new();
    let mut left: BTreeMap<u32, f64> = BTreeMap::new();
    let mut flights: BTreeMap<u32, Flight> = BTreeMap::new();
    for line in trace.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["arrived", number, at] => {
                let number: u32 = number.parse().unwrap();
                if let Some(flight) = flights.get_mut(&number) {
                    flight.total_s = at.parse::<f64>().unwrap() - sent[&number];
                }
            }
            [kind @ ("-" | "r"), at, from, to, ..] => {
                let (at, number): (f64, u32) = (at.parse().unwrap(), words[11].parse().unwrap());
                if kind == "-" {
                    sent.entry(number).or_insert(at);
                    left.insert(number, at);
                    continue;
                }
                let flight = flights.entry(number).or_insert_with(|| Flight {
                    nodes: vec![from.parse().unwrap()],
                    hops: Vec::new(),
                    total_s: 0.0,
                });
                flight.nodes.push(to.parse().unwrap());
                flight.hops.push((left[&number], at - left[&number]));
            }
            _ => {}
        }
    }
    let boston = flights.values().flat_map(|flight| flight.nodes.clone()).max().unwrap();
    let through = |(number, flight): (u32, Flight)| {
        (flight.nodes.last() == Some(&boston)).then_some((sent[&number], flight))
    };
    flights.into_iter().filter_map(through).collect()
}

/// A site on ns-2's sphere. The place is a point of the sphere; its vertical is the ellipsoid's, up to 0.19°
/// off, so that a mask stands in for the minimum elevation over the sphere's horizon.
fn site(name: &str, latitude: f64, longitude: f64) -> Site {
    let up = Geodetic::new(latitude, longitude, 0.0).up();
    let point = Geodetic::from_fixed(up * EARTH_RADIUS_M);
    let stance = SitePosition::Fixed(point).at(Instant::START);
    let east = Vec3::new(-up.y, up.x, 0.0).unit();
    let north = up.cross(east);
    let (sin_e, cos_e) = libm::sincos(ELEVATION_DEG.to_radians());
    let edge = |azimuth: u32| {
        let (sin_a, cos_a) = libm::sincos((f64::from(azimuth) + 0.5).to_radians());
        let line = (north * cos_a + east * sin_a) * cos_e + up * sin_e;
        let look = stance.look(stance.position + line * 1e6);
        (Angle::from_radians(look.azimuth), Angle::from_radians(look.elevation))
    };
    let mut edges: Vec<(Angle, Angle)> = (0..360).map(edge).collect();
    edges.sort_by(|a, b| a.0.as_radians().total_cmp(&b.0.as_radians()));
    // Over a sphere the highest of satellites of one altitude is the nearest; over the ellipsoid's vertical it
    // may be another.
    let policy =
        GroundPolicy { criterion: Criterion::Nearest, reselect: Reselect::OnLoss, ..GroundPolicy::default() };
    Site {
        name: name.into(),
        place: SitePosition::Fixed(point),
        antennas: vec![Antenna::new(Angle::from_degrees(ELEVATION_DEG - 0.3)).with_policy(policy)],
        horizon: Horizon::new(&edges).unwrap(),
        relay: Relay::None,
    }
}

fn network(constellation: Constellation, epoch: Utc) -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch, vec![constellation]);
    network.sites = vec![site("london", 51.53, 0.0), site("boston", 42.3, -71.1)];
    network
}

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

/// Iridium as the script has it: no oblateness, the first node over Greenwich at the start.
fn iridium() -> ContactNetwork {
    let isl = IslConfig {
        pattern: IslPattern::Grid,
        seam: Seam::Open,
        cut_off_latitude: Some(Angle::from_degrees(60.0)),
        ..IslConfig::default()
    };
    let altitude_km = 780.0 + (EARTH_RADIUS_M - 6_378_137.0) / 1e3;
    let shell = Shell {
        plane_separation: Some(Angle::from_degrees(31.6)),
        phasing: Phasing::Alternate,
        first_node: FirstNode::Longitude(Angle::ZERO),
        perturbation: Perturbation::None,
        isl,
        ..Shell::new("iridium", Arrangement::Star, (6, 11), altitude_km, 86.4)
    };
    network(shell.build(epoch()).unwrap(), epoch())
}

/// The propagation delay of a hop at a time, by the orbits themselves.
fn propagation_s(network: &ContactNetwork, places: &[Vec3], (from, to): (usize, usize), at: f64) -> f64 {
    let date = network.epoch.after(Duration::from_secs_f64(at));
    let position = |node: usize| match network.satellites().nth(node) {
        Some(satellite) => satellite.orbit.fixed(date).unwrap().position,
        None => places[node - network.satellite_count()],
    };
    (position(from) - position(to)).norm() / 299_792_458.0
}

fn places(network: &ContactNetwork) -> Vec<Vec3> {
    network.sites.iter().map(|site| site.place.at(Instant::START).position).collect()
}

/// Every hop of every flight against our orbits: the greatest difference of a hop (the trace's resolution is
/// 0.1 ms) and of a whole flight, seconds.
fn compare_hops(network: &ContactNetwork, flights: &[(f64, Flight)]) -> (f64, f64) {
    let places = places(network);
    let (mut worst_hop, mut worst_flight) = (0.0_f64, 0.0_f64);
    for (_, flight) in flights {
        let mut sum = flight.serialisation_s();
        for (hop, pair) in flight.hops.iter().zip(flight.nodes.windows(2)) {
            let ends = (pair[0], pair[1]);
            let ours = propagation_s(network, &places, ends, hop.0);
            let on_ground = ends.0.max(ends.1) >= network.satellite_count();
            let serialisation = if on_ground { GROUND_SERIALISATION_S } else { ISL_SERIALISATION_S };
            worst_hop = worst_hop.max((hop.1 - serialisation - ours).abs());
            sum += ours;
        }
        worst_flight = worst_flight.max((flight.total_s - sum).abs());
    }
    (worst_hop, worst_flight)
}

fn ranges(flights: &[(f64, Flight)]) -> String {
    let milliseconds = |flight: &Flight| (flight.total_s - flight.serialisation_s()) * 1e3;
    let fold = |pick: fn(f64, f64) -> f64, start: f64| {
        flights.iter().map(|(_, flight)| milliseconds(flight)).fold(start, pick)
    };
    let links = || flights.iter().map(|(_, flight)| flight.hops.len());
    format!(
        "{} packets, {:.1} to {:.1} ms of propagation, {} to {} links",
        flights.len(),
        fold(f64::min, f64::MAX),
        fold(f64::max, 0.0),
        links().min().unwrap(),
        links().max().unwrap()
    )
}

#[test]
fn a_geostationary_hop_takes_what_ns_says() {
    let Some(trace) = ns(&["geo", "100", "10", "0", "0"]) else { return };
    let flights = flights(&trace);
    let network = network(Constellation::geostationary("geo", &[-30.0]), epoch());
    let (_, worst) = compare_hops(&network, &flights);
    let total = flights[0].1.total_s * 1e3;
    println!("geostationary: ns {total:.4} ms with serialisations, ours within {:.3} us", worst * 1e6);
    assert_eq!(flights.len(), 2);
    // 170 m of radius and the last digits of the speed of light.
    assert!(worst < 2e-6, "{worst}");
}

#[test]
fn every_hop_of_a_day_takes_what_ns_says() {
    // As ns's own example has it: looks spread around every 10 s, the next satellite of the plane first.
    let Some(trace) = ns(&["iridium", "86400", "10", "1", "1"]) else { return };
    let (flights, network) = (flights(&trace), iridium());
    let (worst_hop, worst) = compare_hops(&network, &flights);
    println!("as ns's example: {}", ranges(&flights));
    println!("  a hop differs by {:.1} us at most, a path by {:.2} us", worst_hop * 1e6, worst * 1e6);
    assert!(flights.len() > 1_400);
    assert!(worst_hop < 1.1e-4 && worst < 1e-5, "{worst_hop} {worst}");
    let (least, most) = flights.iter().fold((usize::MAX, 0), |(least, most), (_, flight)| {
        (least.min(flight.hops.len()), most.max(flight.hops.len()))
    });
    assert_eq!((least, most), (4, 10));
}

fn path_at<'p>(router: &mut Router<'p>, plan: &'p ContactPlan, at: f64) -> Option<Vec<usize>> {
    router.advance(Instant::START + Duration::from_secs_f64(at));
    router.rebuild();
    let path = router.path(plan.node("london").unwrap(), 0)?;
    Some(path.nodes.iter().map(|node: &ContactNodeId| node.index()).collect())
}

/// The page's rule as a policy: looks every ten seconds, the satellite behind in the plane first, else the highest.
#[test]
fn paths_of_a_day_are_those_of_ns_when_terminals_look_as_its_do() {
    let Some(trace) = ns(&["iridium", "86400", "10", "0", "1"]) else { return };
    let (flights, mut network) = (flights(&trace), iridium());
    for site in &mut network.sites {
        let reselect = Reselect::Periodic { interval: Duration::from_secs(10), offset: Duration::ZERO };
        site.antennas[0].policy.reselect = reselect;
    }
    let plan = Planner::new(&network, Duration::from_secs(86_400)).unwrap().plan(&mut |_, _| {}).unwrap();
    let boston = plan.node("boston").unwrap();
    let mut router = Router::new(&plan, &[boston], RouteConfig::default());
    let (mut same, mut ends, mut others) = (0, 0, Vec::new());
    for (at, flight) in &flights {
        let ours = path_at(&mut router, &plan, *at);
        let serving = |nodes: &[usize]| (nodes[1], nodes[nodes.len() - 2]);
        ends += usize::from(ours.as_ref().map(|ours| serving(ours)) == Some(serving(&flight.nodes)));
        if ours.as_ref() == Some(&flight.nodes) {
            same += 1;
        } else {
            others.push((*at, ours, flight.nodes.clone()));
        }
    }
    println!("ns looking every ten seconds, the next in the plane first: {}", ranges(&flights));
    println!("  of {} paths {same} are ours, of the satellites at both ends {ends}", flights.len());
    for (at, ours, theirs) in others.iter().take(12) {
        println!("  {at} s: ours {ours:?}, ns {theirs:?}");
    }
    // Links between satellites, which ns looks at as rarely, change between looks for none of these packets.
    assert_eq!((same, ends), (flights.len(), flights.len()));
}

/// The contact on either path that changed since ns looked last: the one thing that may tell them apart. Its
/// constants differ from ours in the seventh digit, so that by the evening its satellites are 0.08 s ahead.
fn changed_since_the_last_look<'p>(
    plan: &'p ContactPlan,
    at: f64,
    paths: [&[usize]; 2],
) -> Option<&'p Contact> {
    let now = Instant::START + Duration::from_secs_f64(at + 0.1);
    let last_look = Instant::START + Duration::from_secs_f64(at.floor() - 0.1);
    let is_on = |contact: &&Contact| {
        let (a, b) = (contact.a.index(), contact.b.index());
        paths.iter().any(|path| path.windows(2).any(|pair| pair == [a, b] || pair == [b, a]))
    };
    let is_new = |contact: &&Contact| {
        [contact.start, contact.end].iter().any(|&change| last_look < change && change <= now)
    };
    plan.contacts().iter().filter(is_on).find(is_new)
}

#[test]
fn paths_of_a_day_are_those_of_ns_when_it_looks_every_second() {
    let Some(trace) = ns(&["iridium", "86400", "1", "0", "0"]) else { return };
    let (flights, network) = (flights(&trace), iridium());
    let plan = Planner::new(&network, Duration::from_secs(86_400)).unwrap().plan(&mut |_, _| {}).unwrap();
    let boston = plan.node("boston").unwrap();
    let mut router = Router::new(&plan, &[boston], RouteConfig::default());
    let (mut same, mut others) = (0, Vec::new());
    for (at, flight) in &flights {
        let ours = path_at(&mut router, &plan, *at);
        if ours.as_ref() == Some(&flight.nodes) { same += 1 } else { others.push((*at, ours, flight)) }
    }
    println!("ns looking every second, the highest first: {}", ranges(&flights));
    println!("  of {} paths {same} are ours", flights.len());
    let timeline = follow(&plan, plan.node("london").unwrap(), boston, &RouteChoice::LeastDelay);
    let summary = timeline.summary(&plan);
    println!(
        "  ours at every instant: {:.1} to {:.1} ms, {} to {} links",
        summary.delay_min.as_millis_f64(),
        summary.delay_max.as_millis_f64(),
        summary.hops_min,
        summary.hops_max
    );
    for (at, ours, flight) in &others {
        let ours = ours.as_ref().unwrap();
        let contact = changed_since_the_last_look(&plan, *at, [ours, &flight.nodes]).unwrap();
        let (from, to) = (contact.start.since_start(), contact.end.since_start());
        println!("  {at} s: ours {ours:?}, ns {:?}, which has not seen {from} or {to}", flight.nodes);
    }
    // A packet is sent a fiftieth of a second after a look.
    assert!(others.len() < 5, "{}", others.len());
}
