//! Routes against a plain Dijkstra that shares no line with the router.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test stops at the first surprise; delays are positive and below a second"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use proptest::prelude::*;
use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{ContactId, ContactKind, ContactPlan, Planner};
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::route::{Metric, Overlap, Path, Refresh, RouteConfig, Router};
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{ContactNetwork, ContactNodeId, Geodetic, Site, Utc};

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn site(name: &str, (latitude, longitude): (f64, f64), antennas: Vec<Antenna>, relay: Relay) -> Site {
    let place = SitePosition::Fixed(Geodetic::new(latitude, longitude, 0.0));
    Site { name: name.into(), place, antennas, horizon: Horizon::default(), relay }
}

fn antenna(reselect: Reselect) -> Antenna {
    let policy = GroundPolicy { criterion: Criterion::Nearest, reselect, handover: Handover::default() };
    Antenna::new(Angle::from_degrees(8.2)).with_policy(policy)
}

/// Iridium with a gateway among hosts, one of them with two antennas.
fn network() -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    let one = || vec![antenna(Reselect::OnLoss)];
    network.sites = vec![
        site("london", (51.53, 0.0), one(), Relay::None),
        site(
            "boston",
            (42.3, -71.1),
            vec![antenna(Reselect::OnLoss), antenna(Reselect::OnLoss)],
            Relay::None,
        ),
        site(
            "tempe",
            (33.4, -111.9),
            vec![antenna(Reselect::Always), antenna(Reselect::Always)],
            Relay::Gateway,
        ),
        site("perth", (-32.0, 115.8), one(), Relay::None),
    ];
    network
}

fn plan(network: &ContactNetwork, span: Duration) -> ContactPlan {
    Planner::new(network, span).unwrap().plan(&mut |_, _| {}).unwrap()
}

fn sites(plan: &ContactPlan) -> Vec<ContactNodeId> {
    (plan.satellite_count()..plan.names().len()).map(ContactNodeId::new).collect()
}

/// Least distances from everywhere to `to`: no queue, no tree, just the nearest unvisited node each time.
fn plain_dijkstra(
    plan: &ContactPlan,
    links: &[(ContactNodeId, ContactNodeId, u32)],
    to: ContactNodeId,
) -> BTreeMap<ContactNodeId, u32> {
    let mut known: BTreeMap<ContactNodeId, u32> = [(to, 0)].into();
    let mut done: BTreeMap<ContactNodeId, u32> = BTreeMap::new();
    while let Some((&node, &distance)) = known.iter().min_by_key(|(node, distance)| (**distance, **node)) {
        known.remove(&node);
        done.insert(node, distance);
        if node != to && !plan.relays(node) {
            continue;
        }
        for &(a, b, weight) in links {
            let peer = if a == node {
                b
            } else if b == node {
                a
            } else {
                continue;
            };
            if !done.contains_key(&peer) {
                let best = known.entry(peer).or_insert(u32::MAX);
                *best = (*best).min(distance + weight);
            }
        }
    }
    done
}

fn agree(router: &Router<'_>, at: Instant) {
    let plan = router.plan();
    let links = router.links();
    for (index, &to) in router.destinations().iter().enumerate() {
        let expected = plain_dijkstra(plan, &links, to);
        for node in (0..plan.names().len()).map(ContactNodeId::new) {
            let (ours, theirs) = (router.distance(node, index), expected.get(&node).copied());
            assert_eq!(ours, theirs, "from {node:?} to {to:?} at {at}");
            if let Some(path) = router.path(node, index) {
                let length: u32 = path
                    .nodes
                    .windows(2)
                    .map(|pair| {
                        let joins = |link: &&(ContactNodeId, ContactNodeId, u32)| {
                            (link.0, link.1) == (pair[0], pair[1]) || (link.1, link.0) == (pair[0], pair[1])
                        };
                        links.iter().filter(joins).map(|link| link.2).min().unwrap()
                    })
                    .sum();
                assert_eq!(Some(length), ours, "{path:?}");
            } else {
                assert_eq!(theirs.filter(|_| node != to), None);
            }
        }
    }
}

#[test]
fn after_every_change_routes_agree_with_a_plain_dijkstra() {
    let network = network();
    let plan = plan(&network, Duration::from_secs(3_000));
    for metric in [Metric::Delay, Metric::Hops] {
        for refresh in [Refresh::All, Refresh::AtMostEvery(Duration::from_secs(60)), Refresh::Changed] {
            let mut router =
                Router::new(&plan, &sites(&plan), RouteConfig { metric, refresh, ..RouteConfig::default() });
            agree(&router, Instant::START);
            let mut steps = 0;
            while let Some(at) = router.step() {
                agree(&router, at);
                steps += 1;
            }
            assert!(steps > 40);
        }
    }
}

/// As [`plain_dijkstra`] over a queue, for large graphs.
fn queued_dijkstra(plan: &ContactPlan, links: &[Vec<(ContactNodeId, u32)>], to: ContactNodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; links.len()];
    distance[to.index()] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, to))]);
    while let Some(Reverse((here, node))) = queue.pop() {
        if here > distance[node.index()] || (node != to && !plan.relays(node)) {
            continue;
        }
        for &(peer, weight) in &links[node.index()] {
            if here + weight < distance[peer.index()] {
                distance[peer.index()] = here + weight;
                queue.push(Reverse((here + weight, peer)));
            }
        }
    }
    distance
}

#[test]
fn in_a_large_shell_every_change_leaves_the_routes_that_a_plain_dijkstra_finds() {
    let mut network = ContactNetwork::new(epoch(), Preset::StarlinkShell1.build(epoch()).unwrap());
    let places = [(51.5, 0.0), (42.3, -71.1), (-33.9, 151.2), (1.3, 103.8), (35.7, 139.7), (-23.5, -46.6)];
    let place = |(index, at): (usize, (f64, f64))| {
        let relay = if index == 4 { Relay::Gateway } else { Relay::None };
        site(&format!("site{index}"), at, vec![Antenna::new(Angle::from_degrees(25.0))], relay)
    };
    network.sites = places.into_iter().enumerate().map(place).collect();
    // Something fails and comes back: whole branches lose their way.
    let script =
        "20 s, 140 s, starlink-1-10-5\n30 s, 245 s, starlink-1-40-12\n130 s, 450 s, starlink-1-41-12\n";
    network.outages = slantpath_orbit::outage::read(script, "outages.csv").unwrap();
    let plan = plan(&network, Duration::from_secs(600));
    let mut router = Router::new(&plan, &sites(&plan), RouteConfig::default());
    let mut steps = 0;
    while let Some(at) = router.step() {
        steps += 1;
        // Weights from the plan itself, not from the router.
        let mut links = vec![Vec::new(); plan.names().len()];
        for (id, contact) in (0..).map(ContactId).zip(plan.contacts()) {
            if contact.holds_at(at) {
                let weight = (plan.delay(id).nanos_at(at) + 0.5) as u32;
                links[contact.a.index()].push((contact.b, weight));
                links[contact.b.index()].push((contact.a, weight));
            }
        }
        for (index, &to) in router.destinations().iter().enumerate() {
            let expected = queued_dijkstra(&plan, &links, to);
            for (node, &expected) in (0..).map(ContactNodeId).zip(&expected) {
                let ours = router.distance(node, index).unwrap_or(u32::MAX);
                assert_eq!(ours, expected, "from {node:?} to {to:?} at {at}");
            }
            for &from in router.destinations() {
                if let Some(path) = router.path(from, index) {
                    let nanos = path.delay_nanos(&plan, at);
                    assert!((nanos - f64::from(expected[from.index()])).abs() <= path.contacts.len() as f64);
                }
            }
        }
    }
    assert!(steps > 15, "{steps}");
}

#[test]
fn links_carry_the_delays_of_the_instant() {
    let network = network();
    let plan = plan(&network, Duration::from_secs(1_000));
    let mut router = Router::new(&plan, &sites(&plan), RouteConfig::default());
    while let Some(at) = router.step() {
        let london = plan.node("london").unwrap();
        let Some(path) = router.path(london, 1) else { continue };
        let nanos = path.delay_nanos(&plan, at);
        assert!((nanos - f64::from(router.distance(london, 1).unwrap())).abs() < path.contacts.len() as f64);
        assert!(at.since_start() >= plan.span() || path.holds_at(&plan, at));
    }
}

#[test]
fn a_second_path_shares_no_satellite_with_the_first() {
    let network = network();
    let plan = plan(&network, Duration::from_secs(6_000));
    let (tempe, boston) = (plan.node("tempe").unwrap(), plan.node("boston").unwrap());
    let mut router = Router::new(&plan, &[boston], RouteConfig::default());
    let mut found = 0;
    while let Some(at) = router.step() {
        let Some(first) = router.path(tempe, 0) else { continue };
        let Some((shorter, second)) = router.disjoint_pair(tempe, boston) else { continue };
        let inner = &shorter.nodes[1..shorter.nodes.len() - 1];
        assert!(second.nodes[1..second.nodes.len() - 1].iter().all(|node| !inner.contains(node)));
        assert_eq!((second.nodes[0], *second.nodes.last().unwrap()), (tempe, boston));
        let delay = |path: &Path| path.delay_nanos(&plan, at);
        assert!(delay(&second) + 10.0 >= delay(&shorter) && delay(&shorter) + 10.0 >= delay(&first));
        found += 1;
    }
    assert!(found > 20, "{found}");
}

#[test]
fn a_fixed_path_stands_while_its_contacts_do() {
    let network = network();
    let plan = plan(&network, Duration::from_secs(3_000));
    let (london, boston) = (plan.node("london").unwrap(), plan.node("boston").unwrap());
    let mut router = Router::new(&plan, &[boston], RouteConfig::default());
    let first = router.path(london, 0).unwrap();
    assert_eq!(router.fixed_path(&first.nodes).as_ref(), Some(&first));
    while let Some(at) = router.step() {
        assert_eq!(router.fixed_path(&first.nodes).is_some(), first.holds_at(&plan, at), "{at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn any_sites_over_any_shell_agree_with_a_plain_dijkstra(
        planes in 3..9_usize, per_plane in 4..12_usize, inclination in 30.0..98.0_f64,
        places in prop::collection::vec((-70.0..70.0_f64, -180.0..180.0_f64), 2..5), all: bool,
    ) {
        use slantpath_orbit::constellation::{Arrangement, IslConfig, IslPattern, shell::Shell};
        let mut shell = Shell::new("s", Arrangement::Delta, (planes, per_plane), 1_400.0, inclination);
        shell.isl = IslConfig { pattern: IslPattern::Grid, ..IslConfig::default() };
        let mut network = ContactNetwork::new(epoch(), vec![shell.build(epoch()).unwrap()]);
        let place = |(index, &at): (usize, &(f64, f64))| {
            let relay = if index % 2 == 0 { Relay::None } else { Relay::Gateway };
            site(&format!("site{index}"), at, vec![antenna(Reselect::Always)], relay)
        };
        network.sites = places.iter().enumerate().map(place).collect();
        let planner = Planner::new(&network, Duration::from_secs(900)).unwrap();
        let Ok(plan) = planner.plan(&mut |_, _| {}) else { return Ok(()) };
        let refresh = if all { Refresh::All } else { Refresh::Changed };
        let mut router = Router::new(&plan, &sites(&plan), RouteConfig { refresh, ..RouteConfig::default() });
        while let Some(at) = router.step() {
            agree(&router, at);
        }
    }
}

#[test]
fn a_destination_may_be_one_antenna_of_a_site() {
    let network = network();
    let plan = plan(&network, Duration::from_secs(3_600));
    let [london, boston] = ["london", "boston"].map(|name| plan.node(name).unwrap());
    let mut router = Router::new(&plan, &[], RouteConfig::default());
    let by_antenna = [0, 1].map(|antenna| (antenna, router.add_destination(boston, Some(antenna))));
    let by_any = router.add_destination(boston, None);
    let mut seen = 0;
    loop {
        let mut nearest = None;
        for (antenna, destination) in by_antenna {
            let Some(path) = router.path(london, destination) else { continue };
            let last = plan.contact(*path.contacts.last().unwrap());
            assert_eq!(last.kind, ContactKind::Ground { antenna });
            nearest = nearest.into_iter().chain(router.distance(london, destination)).min();
            seen += 1;
        }
        assert_eq!(router.distance(london, by_any), nearest);
        if router.step().is_none() {
            break;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn while_an_antenna_holds_two_satellites_routes_lead_by_either_or_by_the_latest() {
    let mut network = network();
    let overlap = Handover::MakeBeforeBreak { overlap: Duration::from_secs(60) };
    for site in &mut network.sites {
        for antenna in &mut site.antennas {
            antenna.policy.handover = overlap;
        }
    }
    let plan = plan(&network, Duration::from_secs(7_200));
    let [london, perth] = ["london", "perth"].map(|name| plan.node(name).unwrap());
    let older_taken = |overlap: Overlap| {
        let mut router = Router::new(&plan, &[perth], RouteConfig { overlap, ..RouteConfig::default() });
        let mut older = 0;
        while router.step().is_some() {
            let Some(path) = router.path(london, 0) else { continue };
            for (site, id) in [(london, path.contacts[0]), (perth, *path.contacts.last().unwrap())] {
                let held = plan
                    .contacts()
                    .iter()
                    .filter(|contact| contact.b == site && contact.holds_at(router.now()));
                older += usize::from(held.map(|contact| contact.start).max() != Some(plan.contact(id).start));
            }
        }
        older
    };
    assert!(older_taken(Overlap::Either) > 0);
    assert_eq!(older_taken(Overlap::Latest), 0);
    // So are fixed routes and pairs: of two satellites that London holds, one leads on.
    let led_by = |overlap: Overlap| {
        let mut router = Router::new(&plan, &[perth], RouteConfig { overlap, ..RouteConfig::default() });
        loop {
            let now = router.now();
            let held = plan.contacts().iter().filter(|known| known.b == london && known.holds_at(now));
            let held: Vec<ContactNodeId> = held.map(|contact| contact.a).collect();
            if held.len() == 2 {
                return held.iter().filter(|&&by| router.fixed_path(&[london, by]).is_some()).count();
            }
            router.step().expect("there are handovers");
        }
    };
    assert_eq!([led_by(Overlap::Either), led_by(Overlap::Latest)], [2, 1]);
}
