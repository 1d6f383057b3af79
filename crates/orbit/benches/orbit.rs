//! Cost of the sky: propagation, plans and routes, in CPU time, with its target and its ratio to it.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and stops at the first surprise"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use slantpath_base::{Angle, Duration, Seed};
use slantpath_orbit::constellation::Constellation;
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{ContactPlan, Planner};
use slantpath_orbit::elements::{Checksums, tle};
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::route::{Refresh, RouteConfig, Router};
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{ContactNetwork, ContactNodeId, Geodetic, Site, Utc};

/// CPU time of this thread so far, in seconds, as the kernel's scheduler counts it: other work on the machine
/// does not. The count moves in steps of some milliseconds, so that only long stretches are measured by it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// The mean CPU time of a piece of work over as many runs as it takes to fill a stretch.
fn mean_seconds(runs: u32, mut work: impl FnMut()) -> f64 {
    let start = cpu_seconds();
    for _ in 0..runs {
        work();
    }
    (cpu_seconds() - start) / f64::from(runs)
}

fn report(what: &str, seconds: f64, target: f64) {
    println!(
        "{what:<62} {:>10.3} ms   target {:>9.3} ms   {:>6.2} of it",
        seconds * 1e3,
        target * 1e3,
        seconds / target
    );
}

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn with_sites(constellations: Vec<Constellation>, count: usize, antenna: &Antenna) -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch(), constellations);
    let mut stream = Seed::new(1, 0).stream("bench/sites");
    network.sites = (0..count)
        .map(|index| Site {
            name: format!("site-{index}"),
            place: SitePosition::Fixed(Geodetic::new(
                stream.uniform() * 100.0 - 50.0,
                stream.uniform() * 360.0 - 180.0,
                0.0,
            )),
            antennas: vec![antenna.clone()],
            horizon: Horizon::default(),
            relay: Relay::None,
        })
        .collect();
    network
}

fn site_nodes(plan: &ContactPlan) -> Vec<ContactNodeId> {
    (plan.satellite_count()..plan.names().len()).map(ContactNodeId::new).collect()
}

fn propagate() {
    // The first shell as element sets, so that it goes through SGP4.
    let text: Vec<String> = (0..1_584)
        .flat_map(|k| {
            let (plane, slot) = (k / 22, k % 22);
            let set = slantpath_orbit::ElementSet {
                name: k.to_string(),
                catalogue_number: 40_000 + k,
                designator: String::new(),
                epoch: epoch(),
                inclination: Angle::from_degrees(53.0),
                right_ascension: Angle::from_degrees(f64::from(plane) * 5.0),
                eccentricity: 0.000_1,
                argument_of_perigee: Angle::from_degrees(90.0),
                mean_anomaly: Angle::from_degrees(f64::from(slot) * 360.0 / 22.0),
                mean_motion_rev_per_day: 15.06,
                bstar: 1e-4,
                mean_motion_dot: 0.0,
                source: slantpath_orbit::elements::ElementSource::default(),
            };
            tle::write(&set)
        })
        .collect();
    let sets = tle::read(&text.join("\n"), "bench", Checksums::Verify).unwrap();
    let network =
        ContactNetwork::new(epoch(), vec![Constellation::from_elements("starlink", sets, epoch()).unwrap()]);
    let mut states = Vec::new();
    let mut second = 0;
    let seconds = mean_seconds(2_000, || {
        second += 1;
        network.fixed_states(epoch().after(Duration::from_secs(second)), &mut states).unwrap();
        black_box(&states);
    });
    report("1,584 satellites through SGP4 into the fixed frame", seconds, 0.5e-3);
    let prepared: Vec<sgp4::Constants> =
        network.satellites().map(|satellite| reference(&satellite.orbit)).collect();
    let reference = mean_seconds(500, || {
        for constants in &prepared {
            black_box(constants.propagate(sgp4::MinutesSinceEpoch(100.0)).unwrap());
        }
    });
    println!("  of what the sgp4 crate takes without the change of frame: {:>33.2}", seconds / reference);
}

fn reference(orbit: &slantpath_orbit::Orbit) -> sgp4::Constants {
    let slantpath_orbit::Orbit::ElementSet(set, _) = orbit else { panic!("a shell of element sets") };
    let [inclination, node, perigee, anomaly] =
        [set.inclination, set.right_ascension, set.argument_of_perigee, set.mean_anomaly]
            .map(Angle::as_radians);
    let motion = set.mean_motion_rev_per_day * std::f64::consts::PI / 720.0;
    let elements = sgp4::Orbit::from_kozai_elements(
        &sgp4::WGS72,
        inclination,
        node,
        set.eccentricity,
        perigee,
        anomaly,
        motion,
    );
    let years = set.epoch.days_since_j2000() / 365.25;
    sgp4::Constants::new(sgp4::WGS72, sgp4::iau_epoch_to_sidereal_time, years, set.bstar, elements.unwrap())
        .unwrap()
}

/// The textbook's search towards one site, over a binary heap: what the router is measured against.
fn heap_dijkstra(links: &[Vec<(u32, u32)>], to: ContactNodeId, distance: &mut [u32]) {
    distance.fill(u32::MAX);
    distance[to.index()] = 0;
    let mut heap = BinaryHeap::from([Reverse((0_u32, to.0))]);
    while let Some(Reverse((here, node))) = heap.pop() {
        if here > distance[node as usize] {
            continue;
        }
        for &(peer, weight) in &links[node as usize] {
            if here + weight < distance[peer as usize] {
                distance[peer as usize] = here + weight;
                heap.push(Reverse((here + weight, peer)));
            }
        }
    }
}

fn day_of_iridium() {
    let antenna = Antenna::new(Angle::from_degrees(8.2));
    let mut network = with_sites(Preset::Iridium.build(epoch()).unwrap(), 2, &antenna);
    network.sites[0].place = SitePosition::Fixed(Geodetic::new(51.53, 0.0, 0.0));
    network.sites[1].place = SitePosition::Fixed(Geodetic::new(42.3, -71.1, 0.0));
    let mut changes = 0;
    let seconds = mean_seconds(5, || {
        let planner = Planner::new(&network, Duration::from_secs(86_400)).unwrap();
        let plan = planner.plan(&mut |_, _| {}).unwrap();
        let nodes = site_nodes(&plan);
        let mut router = Router::new(&plan, &nodes, RouteConfig::default());
        changes = 0;
        while router.step().is_some() {
            changes += 1;
        }
    });
    report(&format!("a day of Iridium between two sites ({changes} changes)"), seconds, 1.0);
}

fn routes() {
    let policy = GroundPolicy {
        criterion: Criterion::Nearest,
        reselect: Reselect::OnLoss,
        handover: Handover::default(),
    };
    let antenna = Antenna::new(Angle::from_degrees(25.0)).with_policy(policy);
    let network = with_sites(Preset::StarlinkShell1.build(epoch()).unwrap(), 100, &antenna);
    let planner = Planner::new(&network, Duration::from_secs(3_600)).unwrap();
    let mut plan = None;
    let seconds = mean_seconds(1, || plan = Some(planner.plan(&mut |_, _| {}).unwrap()));
    let plan = plan.unwrap();
    println!(
        "an hour of Starlink, 100 sites: {:.2} s, {} contacts, {} changes, {:.1} MB",
        seconds,
        plan.contacts().len(),
        plan.changes().len(),
        plan.memory_bytes() as f64 / 1e6
    );
    for refresh in [Refresh::All, Refresh::AtMostEvery(Duration::from_secs(1)), Refresh::Changed] {
        let mut router =
            Router::new(&plan, &site_nodes(&plan), RouteConfig { refresh, ..RouteConfig::default() });
        let scratch = mean_seconds(50, || router.rebuild());
        report("routes of Starlink 72 x 22 towards 100 sites, from scratch", scratch, 10e-3);
        let mut links = vec![Vec::new(); plan.names().len()];
        for (a, b, weight) in router.links() {
            links[a.index()].push((b.0, weight));
            links[b.index()].push((a.0, weight));
        }
        let mut distance = vec![0; links.len()];
        let plain = mean_seconds(20, || {
            for &node in &site_nodes(&plan) {
                heap_dijkstra(&links, node, &mut distance);
                black_box(&distance);
            }
        });
        println!("  of what a plain heap Dijkstra takes: {:>54.2}", scratch / plain);
        let mean = mean_seconds(1_500, || {
            black_box(router.step());
        });
        report(&format!("  after one contact change, mean of 1,500, {refresh:?}"), mean, 1e-3);
    }
}

fn day_of_starlink() {
    let grid = Reselect::Grid { period: Duration::from_secs(15), offset: Duration::ZERO };
    let policy =
        GroundPolicy { criterion: Criterion::Highest, reselect: grid, handover: Handover::default() };
    let antenna = Antenna::new(Angle::from_degrees(25.0)).with_policy(policy);
    let network = with_sites(Preset::StarlinkShell1.build(epoch()).unwrap(), 100, &antenna);
    let mut last = (0, 0, 0);
    let seconds = mean_seconds(1, || {
        let planner = Planner::new(&network, Duration::from_secs(86_400)).unwrap();
        let plan = planner.plan(&mut |_, _| {}).unwrap();
        last = (plan.contacts().len(), plan.memory_bytes(), 0);
        let mut router = Router::new(&plan, &site_nodes(&plan), RouteConfig::default());
        while router.step().is_some() {
            last.2 += 1;
        }
    });
    report(
        &format!(
            "a day of Starlink, 100 sites ({} contacts, {} MB, {} steps)",
            last.0,
            last.1 / 1_000_000,
            last.2
        ),
        seconds,
        240.0,
    );
}

fn ten_thousand() {
    use slantpath_orbit::constellation::{Arrangement, IslConfig, IslPattern, shell::Shell};
    let mut shell = Shell::new("huge", Arrangement::Delta, (100, 100), 550.0, 53.0);
    shell.isl = IslConfig { pattern: IslPattern::Grid, ..IslConfig::default() };
    let network =
        with_sites(vec![shell.build(epoch()).unwrap()], 10, &Antenna::new(Angle::from_degrees(25.0)));
    let seconds = mean_seconds(1, || {
        let plan = Planner::new(&network, Duration::from_secs(3_600)).unwrap().plan(&mut |_, _| {}).unwrap();
        black_box(
            Router::new(&plan, &site_nodes(&plan), RouteConfig::default()).distance(ContactNodeId::new(0), 0),
        );
    });
    report("an hour of 10,000 satellites, 10 sites", seconds, 60.0);
}

fn main() {
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let parts: [(&str, fn()); 5] = [
        ("propagate", propagate),
        ("iridium", day_of_iridium),
        ("routes", routes),
        ("ten-thousand", ten_thousand),
        ("starlink-day", day_of_starlink),
    ];
    for (name, part) in parts {
        // The day of Starlink takes minutes: it runs only when it is asked for.
        if only.as_deref().map_or(name != "starlink-day", |only| only == name) {
            part();
        }
    }
}
