//! Contacts against what needs no solver: dense sampling, exact orbits, counting, and turning the whole
//! world.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::constellation::{IslPattern, Seam};
use slantpath_orbit::contact::{Cause, Contact, ContactId, ContactKind, ContactPlan, Pass, Planner};
use slantpath_orbit::elements::Checksums;
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::site::Look;
use slantpath_orbit::site::{Horizon, Place, Relay};
use slantpath_orbit::{Constellation, ElementSet, Geodetic, Network, NodeId, Orbit, Site, Utc};

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn site(name: &str, latitude: f64, longitude: f64, antenna: Antenna) -> Site {
    Site {
        name: name.into(),
        place: Place::Fixed(Geodetic::new(latitude, longitude, 0.0)),
        antennas: vec![antenna],
        horizon: Horizon::default(),
        relay: Relay::None,
    }
}

fn degrees(value: f64) -> Angle {
    Angle::from_degrees(value)
}

fn london_boston(policy: GroundPolicy) -> Network {
    let mut network = Network::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    let antenna = Antenna::new(degrees(8.2)).with_policy(policy);
    network.sites = vec![site("london", 51.53, 0.0, antenna.clone()), site("boston", 42.3, -71.1, antenna)];
    network
}

fn plan(network: &Network, span: Duration) -> ContactPlan {
    Planner::new(network, span).unwrap().plan(&mut |_, _| {}).unwrap()
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}

#[test]
fn passes_begin_and_end_when_10_ms_sampling_says() {
    let network = london_boston(GroundPolicy::default());
    let span = Duration::from_secs(5_400);
    let passes = Planner::new(&network, span).unwrap().passes(0).unwrap();
    let stance = network.sites[0].place.at(Instant::START);
    for (node, satellite) in network.satellites().enumerate().step_by(13) {
        let visible = |ms: u64| {
            let fixed = satellite.orbit.fixed(epoch().after(Duration::from_millis(ms))).unwrap();
            stance.look(fixed.position).elevation >= 8.2_f64.to_radians()
        };
        let mut edges = Vec::new();
        let mut before = visible(0);
        for ms in (10..=span.as_millis()).step_by(10) {
            let now = visible(ms);
            if now != before {
                edges.push(ms as f64 / 1e3 - 0.005);
            }
            before = now;
        }
        let solved: Vec<f64> = passes
            .of_antenna(0)
            .iter()
            .filter(|pass| pass.satellite as usize == node)
            .flat_map(|pass| [pass.start_seconds(), pass.end_seconds()])
            .filter(|&t| t > 0.0 && t < span.as_secs_f64())
            .collect();
        assert_eq!(edges.len(), solved.len(), "{}", satellite.name);
        for (sampled, solved) in edges.iter().zip(&solved) {
            assert!((sampled - solved).abs() <= 0.005_1, "{}: {sampled} {solved}", satellite.name);
        }
    }
}

#[test]
fn a_pass_is_highest_when_sampling_every_tenth_of_a_second_says() {
    let mut network = london_boston(GroundPolicy::default());
    let journey = "0 s, 45, -60, 10000\n90 min, 51, 0, 10000\n";
    let journey = slantpath_orbit::site::Track::read(journey, "flight.csv").unwrap();
    network.sites[1].place = Place::Track(journey);
    let sets = slantpath_orbit::elements::read(include_str!("data/elements.tle"), "", Checksums::Verify);
    network.constellations.push(Constellation::from_elements("flown", sets.unwrap(), epoch()).unwrap());
    let planner = Planner::new(&network, Duration::from_secs(5_400)).unwrap();
    for site in [0, 1] {
        let passes = planner.passes(site).unwrap();
        assert!(passes.of_antenna(0).len() > 20);
        for pass in passes.of_antenna(0) {
            let orbit = &network.satellites().nth(pass.satellite as usize).unwrap().orbit;
            let elevation = |t: f64| {
                let after = Duration::from_secs_f64(t);
                let stance = network.sites[site].place.at(Instant::START + after);
                stance.look(orbit.fixed(epoch().after(after)).unwrap().position).elevation.to_degrees()
            };
            let (at, highest) = planner.culmination(site, pass);
            assert!((pass.start_seconds()..=pass.end_seconds()).contains(&at), "{at} {pass:?}");
            assert!((elevation(at) - highest.as_degrees()).abs() < 1e-4, "{highest:?} {}", elevation(at));
            let tenths = std::iter::successors(Some(pass.start_seconds()), |t| Some(t + 0.1));
            let sampled = tenths.take_while(|&t| t <= pass.end_seconds()).map(elevation);
            let sampled = sampled.fold(-90.0, f64::max);
            assert!((-1e-4..0.1).contains(&(highest.as_degrees() - sampled)), "{highest:?} {sampled}");
        }
    }
}

#[test]
fn a_horizon_mask_cuts_passes_where_10_ms_sampling_says() {
    let mut network = london_boston(GroundPolicy::default());
    let points = [(0.0, 5.0), (90.0, 30.0), (120.0, 10.0), (200.0, 45.0), (201.0, 5.0), (330.0, 20.0)];
    let points = points.map(|(azimuth, elevation)| (degrees(azimuth), degrees(elevation)));
    network.sites[0].horizon = Horizon::new(&points).unwrap();
    let span = Duration::from_secs(5_400);
    let passes = Planner::new(&network, span).unwrap().passes(0).unwrap();
    let stance = network.sites[0].place.at(Instant::START);
    let mut cut = 0;
    for (node, satellite) in network.satellites().enumerate().step_by(9) {
        let visible = |ms: u64| {
            let fixed = satellite.orbit.fixed(epoch().after(Duration::from_millis(ms))).unwrap();
            let look = stance.look(fixed.position);
            look.elevation >= network.sites[0].horizon.at(look.azimuth).max(8.2_f64.to_radians())
        };
        let seen: Vec<bool> = (0..=span.as_millis()).step_by(10).map(visible).collect();
        let changes = (1..seen.len()).filter(|&k| seen[k] != seen[k - 1]);
        let edges: Vec<f64> = changes.map(|k| k as f64 / 100.0 - 0.005).collect();
        let solved: Vec<f64> = passes
            .of_antenna(0)
            .iter()
            .filter(|pass| pass.satellite as usize == node)
            .flat_map(|pass| [pass.start_seconds(), pass.end_seconds()])
            .filter(|&t| t > 0.0 && t < span.as_secs_f64())
            .collect();
        assert_eq!(edges.len(), solved.len(), "{}: {edges:?} {solved:?}", satellite.name);
        for (sampled, solved) in edges.iter().zip(&solved) {
            assert!((sampled - solved).abs() <= 0.005_2, "{}: {sampled} {solved}", satellite.name);
        }
        cut += edges.len();
    }
    assert!(cut > 4, "the mask was hardly met");
}

#[test]
fn an_aircraft_gains_and_loses_satellites_when_10_ms_sampling_says() {
    let mut network = london_boston(GroundPolicy::default());
    let flight =
        "0 s, 51.5, -0.5, 0\n20 min, 52.5, -3, 11000\n45 min, 54, -9, 11500\n90 min, 56, -22, 11500\n";
    let track = slantpath_orbit::site::Track::read(flight, "flight.csv").unwrap();
    network.sites[0].place = Place::Track(track);
    let span = Duration::from_secs(5_400);
    let passes = Planner::new(&network, span).unwrap().passes(0).unwrap();
    let mut met = 0;
    for (node, satellite) in network.satellites().enumerate().step_by(9) {
        let visible = |ms: u64| {
            let at = Instant::from_millis(ms);
            let fixed = satellite.orbit.fixed(epoch().at(at)).unwrap();
            network.sites[0].place.at(at).look(fixed.position).elevation >= 8.2_f64.to_radians()
        };
        let seen: Vec<bool> = (0..=span.as_millis()).step_by(10).map(visible).collect();
        let changes = (1..seen.len()).filter(|&k| seen[k] != seen[k - 1]);
        let edges: Vec<f64> = changes.map(|k| k as f64 / 100.0 - 0.005).collect();
        let solved: Vec<f64> = passes
            .of_antenna(0)
            .iter()
            .filter(|pass| pass.satellite as usize == node)
            .flat_map(|pass| [pass.start_seconds(), pass.end_seconds()])
            .filter(|&t| t > 0.0 && t < span.as_secs_f64())
            .collect();
        assert_eq!(edges.len(), solved.len(), "{}: {edges:?} {solved:?}", satellite.name);
        assert!(edges.iter().zip(&solved).all(|(sampled, solved)| (sampled - solved).abs() <= 0.005_1));
        met += edges.len();
    }
    assert!(met > 4, "{met}");
}

#[test]
fn links_open_and_close_when_10_ms_sampling_says() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.seam = Seam::Closed;
    let span = Duration::from_secs(3_100);
    let plan = plan(&network, span);
    let orbits: Vec<&Orbit> = network.satellites().map(|satellite| &satellite.orbit).collect();
    let (mut edges, mut seams) = (0, 0);
    for contact in plan.contacts() {
        let (a, b) = (orbits[contact.a.index()], orbits[contact.b.index()]);
        let open = |at: Instant| {
            let [a, b] = [a, b].map(|orbit| orbit.fixed(epoch().at(at)).unwrap().position);
            // The limb by brute force: the lowest of many points of the line, over the raised ellipsoid.
            let raised = (6_378_137.0 + 80e3) / (6_356_752.314_245 + 80e3);
            let lowest = (0..=500).map(|k| {
                let p = a + (b - a) * (f64::from(k) / 500.0);
                (p.x * p.x + p.y * p.y + p.z * p.z * raised * raised).sqrt()
            });
            let low = [a, b].iter().all(|p| p.z.abs() / p.norm() <= libm::sin(60.0_f64.to_radians()));
            let planes =
                [contact.a, contact.b].map(|node| network.constellations[0].satellites[node.index()].plane);
            (low || planes[0] == planes[1]) && lowest.fold(f64::MAX, f64::min) >= 6_378_137.0 + 80e3
        };
        let moment = Duration::from_millis(10);
        if contact.opens != Cause::SpanBegins {
            assert!(!open(contact.start - moment) && open(contact.start + moment), "{contact:?}");
            edges += 1;
            seams += usize::from(contact.opens == Cause::LineOfSight);
        }
        if contact.closes != Cause::SpanEnds {
            assert!(open(contact.end - moment) && !open(contact.end + moment), "{contact:?}");
            edges += 1;
        }
    }
    assert!(edges > 100 && seams > 3, "{edges} {seams}");
}

#[test]
fn every_iridium_satellite_has_exactly_two_links_in_its_plane_at_all_times() {
    let network = london_boston(GroundPolicy::default());
    let plan = plan(&network, hours(3));
    let plane = |node: NodeId| network.constellations[0].satellites[node.index()].plane;
    let mut count = vec![0; plan.satellite_count()];
    for contact in plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite) {
        if plane(contact.a) == plane(contact.b) {
            assert_eq!((contact.opens, contact.closes), (Cause::SpanBegins, Cause::SpanEnds));
            count[contact.a.index()] += 1;
            count[contact.b.index()] += 1;
        }
    }
    assert!(count.iter().all(|&links| links == 2), "{count:?}");
}

#[test]
fn links_between_planes_join_neighbours_and_leave_the_seam_open() {
    let network = london_boston(GroundPolicy::default());
    let plan = plan(&network, hours(2));
    let of = |node: NodeId| &network.constellations[0].satellites[node.index()];
    for contact in plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite) {
        let (a, b) = (of(contact.a).plane, of(contact.b).plane);
        assert!(a.abs_diff(b) <= 1, "{a} and {b}");
        if a != b {
            // Neighbours are half a spacing out of step, never more: 4,400 km at the cut-off is 14.7 ms.
            assert!(plan.delay(id(&plan, contact)).at(contact.start) < Duration::from_millis(15));
        }
    }
}

fn id(plan: &ContactPlan, contact: &Contact) -> ContactId {
    let index = plan.contacts().iter().position(|other| other == contact).unwrap();
    ContactId(u32::try_from(index).unwrap())
}

#[test]
fn a_dynamic_seam_follows_the_nearest_and_a_closed_one_does_not_hand_over() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.seam = Seam::Dynamic;
    let dynamic = plan(&network, hours(2));
    let plane = |node: NodeId| network.constellations[0].satellites[node.index()].plane;
    let across: Vec<_> = dynamic.contacts().iter().filter(|c| plane(c.a).abs_diff(plane(c.b)) == 5).collect();
    assert!(across.iter().any(|c| c.closes == Cause::Neighbour) && across.len() > 50, "{}", across.len());
    // One terminal for the seam on each satellite: never two at once.
    for contact in &across {
        let at = contact.start + Duration::from_millis(1);
        for node in [contact.a, contact.b] {
            let links = across.iter().filter(|c| c.holds_at(at) && (c.a == node || c.b == node)).count();
            assert!(links <= 1, "{contact:?}");
        }
        // And it is the nearest of the other plane.
        let orbits: Vec<_> =
            network.satellites().map(|s| s.orbit.fixed(epoch().at(at)).unwrap().position).collect();
        let distance = |a: NodeId, b: usize| (orbits[a.index()] - orbits[b]).norm();
        let nearest =
            (0..66).filter(|&b| plane(NodeId::new(b)) == plane(contact.b)).map(|b| distance(contact.a, b));
        let least = nearest.fold(f64::MAX, f64::min);
        assert!((distance(contact.a, contact.b.index()) - least).abs() < 100.0);
    }
}

#[test]
fn acquisition_delays_every_link_that_opens() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    let at_once = plan(&network, hours(1));
    network.constellations[0].isl.acquisition = Duration::from_secs(10);
    let later = plan(&network, hours(1));
    let opening = |plan: &ContactPlan| -> Vec<(NodeId, NodeId, Instant)> {
        let opened = plan.contacts().iter().filter(|contact| contact.opens != Cause::SpanBegins);
        let mut starts: Vec<_> = opened.map(|contact| (contact.a, contact.b, contact.start)).collect();
        starts.sort_unstable();
        starts
    };
    let (a, b) = (opening(&at_once), opening(&later));
    assert!(a.len() > 30);
    for (a, b) in a.iter().filter(|(.., at)| at.since_start() < hours(1) - Duration::from_secs(10)).zip(&b) {
        assert_eq!((a.0, a.1, a.2 + Duration::from_secs(10)), *b);
    }
}

#[test]
fn delay_is_within_a_microsecond_of_the_orbits_and_without_a_step() {
    let mut network = london_boston(GroundPolicy::default());
    network.constellations.extend(Preset::EuroSkyWay.build(epoch()).unwrap());
    // Half a day round on a long ellipse, through its perigee; and low, dragged and slightly eccentric.
    let set = |name: &str, turns_per_day, eccentricity, anomaly, bstar| ElementSet {
        name: name.into(),
        catalogue_number: 1,
        designator: String::new(),
        epoch: epoch(),
        inclination: degrees(63.4),
        right_ascension: degrees(200.0),
        eccentricity,
        argument_of_perigee: degrees(270.0),
        mean_anomaly: degrees(anomaly),
        mean_motion_rev_per_day: turns_per_day,
        bstar,
        mean_motion_dot: 0.0,
        source: slantpath_orbit::elements::Source::default(),
    };
    let sets = [set("molniya", 2.006, 0.74, 330.0, 0.0), set("low", 15.2, 0.002, 0.0, 1e-4)];
    for set in sets {
        let name = set.name.clone();
        network.constellations.push(Constellation::from_elements(&name, vec![set], epoch()).unwrap());
    }
    let flight = "0 s, 51.5, -0.5, 0\n20 min, 52.5, -3, 11000\n90 min, 56, -22, 11500\n";
    network.sites[0].place = Place::Track(slantpath_orbit::site::Track::read(flight, "flight.csv").unwrap());
    for name in ["iridium", "euroskyway", "molniya", "low"] {
        let antenna = Antenna::new(degrees(8.2)).of(name);
        network.sites[0].antennas.push(antenna.clone());
        network.sites[1].antennas.push(antenna);
    }
    let plan = plan(&network, hours(12));
    for name in ["euroskyway-1", "molniya", "low"] {
        let node = plan.node(name).unwrap();
        assert!(plan.contacts().iter().any(|contact| contact.a == node && plan.is_site(contact.b)), "{name}");
    }
    let orbits: Vec<&Orbit> = network.satellites().map(|satellite| &satellite.orbit).collect();
    let position = |node: NodeId, at: Instant| match orbits.get(node.index()) {
        Some(orbit) => orbit.fixed(epoch().at(at)).unwrap().position,
        None => network.sites[node.index() - orbits.len()].place.at(at).position,
    };
    let (mut worst, mut pieces) = (0.0_f64, 0);
    for (index, contact) in plan.contacts().iter().enumerate() {
        let curve = plan.delay(ContactId(u32::try_from(index).unwrap()));
        pieces += curve.piece_count();
        let life = (contact.end - contact.start).as_nanos();
        for k in 0..=40 {
            let at = contact.start + Duration::from_nanos(life / 40 * k);
            let exact = (position(contact.a, at) - position(contact.b, at)).norm() / 299_792_458.0 * 1e9;
            worst = worst.max((curve.nanos_at(at) - exact).abs());
        }
    }
    println!("worst {worst:.1} ns over {} contacts and {pieces} pieces", plan.contacts().len());
    assert!(worst < 150.0, "{worst} ns");
}

fn policies() -> Vec<GroundPolicy> {
    let grid = Reselect::Grid { period: Duration::from_secs(15), offset: Duration::ZERO };
    let mut policies = Vec::new();
    for criterion in
        [Criterion::Nearest, Criterion::Highest, Criterion::LongestRemaining, Criterion::LeastLoaded]
    {
        for reselect in [Reselect::OnLoss, Reselect::Always, grid] {
            policies.push(GroundPolicy { criterion, reselect, handover: Handover::default() });
        }
    }
    policies
}

#[test]
fn every_policy_holds_one_visible_satellite_and_never_idles_while_one_is_visible() {
    for policy in policies() {
        let network = london_boston(policy);
        let span = hours(2);
        let plan = plan(&network, span);
        for site in 0..2 {
            let node = network.site_node(site);
            let stance = network.sites[site].place.at(Instant::START);
            let mut held: Vec<_> = plan.contacts().iter().filter(|contact| contact.b == node).collect();
            held.sort_by_key(|contact| contact.start);
            assert!(held.windows(2).all(|pair| pair[0].end <= pair[1].start), "{policy:?}");
            let mut served = Duration::ZERO;
            for contact in &held {
                served += contact.end - contact.start;
                let orbit = &network.satellites().nth(contact.a.index()).unwrap().orbit;
                for at in [contact.start + Duration::from_millis(1), contact.end - Duration::from_millis(1)] {
                    let look = stance.look(orbit.fixed(epoch().at(at)).unwrap().position);
                    assert!(look.elevation.to_degrees() > 8.199, "{policy:?} {contact:?}");
                }
            }
            let visible: f64 = plan.site_passes(site).iter().map(|(start, end)| end - start).sum();
            let idle = visible - served.as_secs_f64();
            // On a grid, what sets between two ticks is replaced at the next one.
            let is_grid = matches!(policy.reselect, Reselect::Grid { .. });
            let most = if is_grid { 15.0 * held.len() as f64 } else { 1e-3 };
            assert!(idle > -1e-3 && idle < most, "{policy:?} {idle}");
        }
    }
}

#[test]
fn always_nearest_and_always_highest_hold_the_best_at_every_instant() {
    for criterion in [Criterion::Nearest, Criterion::Highest] {
        let policy = GroundPolicy { criterion, reselect: Reselect::Always, handover: Handover::default() };
        let network = london_boston(policy);
        let plan = plan(&network, hours(1));
        let stance = network.sites[0].place.at(Instant::START);
        let node = network.site_node(0);
        for second in 1..3_599 {
            let at = Instant::from_millis(second * 1_000 + 137);
            let looks =
                network.satellites().map(|s| stance.look(s.orbit.fixed(epoch().at(at)).unwrap().position));
            let score = |look: Look| {
                if criterion == Criterion::Nearest { look.range_m } else { -look.elevation }
            };
            let scores: Vec<f64> = looks.map(score).collect();
            let best = scores.iter().copied().fold(f64::MAX, f64::min);
            let held =
                plan.contacts().iter().find(|contact| contact.b == node && contact.holds_at(at)).unwrap();
            assert!(
                scores[held.a.index()] <= best + 1e-9 + 1e-3 * f64::from(criterion == Criterion::Nearest)
            );
        }
    }
}

#[test]
fn longest_remaining_takes_the_satellite_that_sets_last() {
    let policy = GroundPolicy { criterion: Criterion::LongestRemaining, ..GroundPolicy::default() };
    let network = london_boston(policy);
    let span = hours(2);
    let planner = Planner::new(&network, span).unwrap();
    let passes = planner.passes(0).unwrap();
    let plan = planner.plan(&mut |_, _| {}).unwrap();
    let node = network.site_node(0);
    for contact in plan.contacts().iter().filter(|contact| contact.b == node) {
        let start = contact.start.since_start().as_secs_f64();
        let under_way = |pass: &&Pass| pass.start_seconds() <= start && pass.end_seconds() > start + 1e-3;
        let last = passes.of_antenna(0).iter().filter(under_way).map(Pass::end_seconds).fold(0.0, f64::max);
        assert!(
            (contact.end.since_start().as_secs_f64() - last).abs() < 1e-3
                || contact.closes == Cause::SpanEnds
        );
    }
}

#[test]
fn breaks_pause_and_overlaps_overlap() {
    let held = |handover| {
        let policy = GroundPolicy { handover, ..GroundPolicy::default() };
        let network = london_boston(policy);
        let plan = plan(&network, hours(3));
        let node = network.site_node(0);
        let mut held: Vec<_> = plan.contacts().iter().filter(|c| c.b == node).copied().collect();
        held.sort_by_key(|contact| contact.start);
        held
    };
    let gap = Duration::from_millis(250);
    let broken = held(Handover::BreakBeforeMake { gap });
    assert!(broken.len() > 8);
    assert!(broken.windows(2).all(|pair| pair[1].start.saturating_since(pair[0].end) == gap));
    let overlap = Duration::from_secs(5);
    let made = held(Handover::MakeBeforeBreak { overlap });
    let both = |pair: &[Contact]| pair[0].end.saturating_since(pair[1].start);
    assert!(made.windows(2).all(|pair| both(pair).abs_diff(overlap) <= Duration::from_micros(1)), "{made:?}");
}

#[test]
fn loads_spread_where_the_policy_asks_for_it() {
    let busiest = |criterion| {
        let policy = GroundPolicy { criterion, reselect: Reselect::Always, handover: Handover::default() };
        let mut network = Network::new(epoch(), Preset::StarlinkShell1.build(epoch()).unwrap());
        let antenna = Antenna::new(degrees(25.0)).with_policy(policy);
        network.sites =
            (0..12).map(|k| site(&format!("s{k}"), 48.0, 0.01 * f64::from(k), antenna.clone())).collect();
        let plan = plan(&network, Duration::from_secs(300));
        let at = Instant::from_secs(150);
        let mut load = vec![0; plan.satellite_count()];
        for contact in plan.contacts().iter().filter(|c| c.holds_at(at) && plan.is_site(c.b)) {
            load[contact.a.index()] += 1;
        }
        load.into_iter().max().unwrap()
    };
    assert_eq!(busiest(Criterion::Highest), 12);
    assert!(busiest(Criterion::LeastLoaded) <= 2);
}

#[test]
fn nobody_who_balances_loads_could_do_better_by_moving() {
    // Sites so far apart that satellites rise and set for each at its own times.
    let mut network = london_boston(GroundPolicy::default());
    let policy = GroundPolicy {
        criterion: Criterion::LeastLoaded,
        reselect: Reselect::Always,
        handover: Handover::default(),
    };
    let antenna = Antenna::new(degrees(8.2)).with_policy(policy);
    let place = |k: u32| (35.0 + 3.0 * f64::from(k % 6), -10.0 + 4.0 * f64::from(k));
    network.sites =
        (0..16).map(|k| site(&format!("s{k}"), place(k).0, place(k).1, antenna.clone())).collect();
    let planner = Planner::new(&network, Duration::from_secs(3_000)).unwrap();
    let passes: Vec<_> = (0..16).map(|site| planner.passes(site).unwrap()).collect();
    let plan = planner.finish(&passes).unwrap();
    let mut moves = 0;
    for ms in (500..2_999_000).step_by(7_321) {
        let at = Instant::from_millis(ms);
        let mut load = vec![0_u32; plan.satellite_count()];
        let held: Vec<&Contact> =
            plan.contacts().iter().filter(|c| c.holds_at(at) && plan.is_site(c.b)).collect();
        for contact in &held {
            load[contact.a.index()] += 1;
        }
        for contact in held {
            let site = contact.b.index() - plan.satellite_count();
            for pass in passes[site].of_antenna(0) {
                let t = ms as f64 / 1e3;
                if pass.start_seconds() < t && t < pass.end_seconds() {
                    let (here, there) = (load[contact.a.index()], load[pass.satellite as usize]);
                    assert!(
                        there + 2 > here,
                        "{contact:?} at {at}: {here} here, {there} on {}",
                        pass.satellite
                    );
                }
            }
        }
    }
    for contact in plan.contacts().iter().filter(|contact| plan.is_site(contact.b)) {
        moves += usize::from(contact.opens == Cause::Preferred);
    }
    assert!(moves > 20, "{moves}");
}

#[test]
fn an_outage_ends_contacts_and_another_satellite_takes_over() {
    let mut network = london_boston(GroundPolicy::default());
    let before = plan(&network, hours(1));
    let node = network.site_node(0);
    let first = before.contacts().iter().find(|contact| contact.b == node).unwrap();
    let name = &before.names()[first.a.index()];
    let script = format!("100 s, 200 s, {name}\n");
    network.outages = slantpath_orbit::outage::read(&script, "outages.csv").unwrap();
    let after = plan(&network, hours(1));
    let held: Vec<_> = after.contacts().iter().filter(|contact| contact.b == node).collect();
    assert_eq!((held[0].end, held[0].closes), (Instant::from_secs(100), Cause::Outage));
    assert_eq!((held[1].start, held[1].opens), (Instant::from_secs(100), Cause::Replacement));
    let during = Instant::from_secs(150);
    let touches = |c: &&Contact| c.a == first.a || c.b == first.a;
    assert_eq!(after.contacts().iter().filter(touches).filter(|c| c.holds_at(during)).count(), 0);
}

#[test]
fn a_site_that_never_sees_a_satellite_is_told_so() {
    let mut network = Network::new(epoch(), Preset::Clarke.build(epoch()).unwrap());
    network.sites = vec![site("pole", 89.0, 0.0, Antenna::new(degrees(8.2)))];
    let error = Planner::new(&network, hours(1)).unwrap().plan(&mut |_, _| {}).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "site `pole` never sees a satellite of any constellation above 8.2 deg: the highest comes to"
        ),
        "{error}"
    );
}

#[test]
fn nearest_neighbours_link_each_satellite_at_most_once_per_side() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.pattern = IslPattern::Nearest;
    network.constellations[0].isl.cut_off_latitude = None;
    let plan = plan(&network, hours(1));
    let plane = |node: NodeId| network.constellations[0].satellites[node.index()].plane;
    for second in (30..3_600).step_by(97) {
        let at = Instant::from_secs(second);
        for node in (0..66).map(NodeId::new) {
            for side in 0..6 {
                let is = |c: &&Contact| {
                    c.holds_at(at)
                        && (c.a == node || c.b == node)
                        && plane(c.peer_of(node)) == side
                        && plane(node) != side
                };
                assert!(plan.contacts().iter().filter(is).count() <= 1);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn turning_the_world_turns_no_distance(turn in -180.0..180.0_f64, latitude in -60.0..60.0_f64) {
        // Sites, nodes and slots turned together about the axis: every contact keeps its times and delays.
        use slantpath_orbit::constellation::shell::FirstNode;
        let build = |turn: f64| {
            let mut shell = Preset::Iridium.shells().remove(0);
            shell.first_node = FirstNode::Longitude(degrees(turn));
            let mut network = Network::new(epoch(), vec![shell.build(epoch()).unwrap()]);
            network.sites = vec![site("s", latitude, turn + 10.0, Antenna::new(degrees(8.2)))];
            plan(&network, Duration::from_secs(1_500))
        };
        let (still, turned) = (build(0.0), build(turn));
        prop_assert_eq!(still.contacts().len(), turned.contacts().len());
        // Events that are simultaneous by symmetry may come in another order.
        let ids = |plan: &ContactPlan| {
            let count = u32::try_from(plan.contacts().len()).unwrap();
            let mut ids: Vec<ContactId> = (0..count).map(ContactId).collect();
            ids.sort_by_key(|&id| (plan.contact(id).a, plan.contact(id).b, plan.contact(id).start));
            ids
        };
        for (x, y) in ids(&still).into_iter().zip(ids(&turned)) {
            let (a, b) = (still.contact(x), turned.contact(y));
            prop_assert!(a.start.since_start().abs_diff(b.start.since_start()) < Duration::from_micros(10));
            let middle = a.start + (a.end - a.start) / 2;
            let (here, there) = (still.delay(x).nanos_at(middle), turned.delay(y).nanos_at(middle));
            prop_assert!((here - there).abs() < 1.0, "{a:?} {here} {b:?} {there}");
        }
    }

    #[test]
    fn any_site_anywhere_gets_a_plan_or_a_reason(
        latitude in -90.0..90.0_f64, longitude in -180.0..180.0_f64, elevation in 0.0..80.0_f64, pick in 0..12_usize,
    ) {
        let mut network = Network::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
        let antenna = Antenna::new(degrees(elevation)).with_policy(policies()[pick]);
        network.sites = vec![site("s", latitude, longitude, antenna)];
        if let Ok(plan) = Planner::new(&network, Duration::from_secs(1_200)).unwrap().plan(&mut |_, _| {}) {
            for contact in plan.contacts() {
                prop_assert!(contact.start < contact.end && contact.a < contact.b);
            }
        }
    }
}
