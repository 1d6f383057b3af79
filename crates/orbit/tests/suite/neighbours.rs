//! Neighbours of satellites that do not fill a whole circle, or are listed in no order.

use slantpath_base::{Angle, Duration};
use slantpath_orbit::constellation::shell::Shell;
use slantpath_orbit::constellation::{Arrangement, IslConfig, IslPattern, Payload};
use slantpath_orbit::contact::Planner;
use slantpath_orbit::{Constellation, ContactNetwork, Utc};

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn links(pattern: IslPattern) -> IslConfig {
    IslConfig { pattern, ..IslConfig::default() }
}

/// The names at both ends of each link of an hour.
fn linked(constellation: Constellation) -> Vec<(String, String)> {
    let network = ContactNetwork::new(epoch(), vec![constellation]);
    let plan = Planner::new(&network, Duration::from_secs(3_600)).unwrap().plan(&mut |_, _| {}).unwrap();
    let name = |node: slantpath_orbit::ContactNodeId| plan.names()[node.index()].clone();
    plan.contacts().iter().map(|contact| (name(contact.a), name(contact.b))).collect()
}

#[test]
fn the_last_plane_of_part_of_a_circle_is_no_neighbour_of_the_first() {
    let across = |spread: f64, pattern| {
        let mut shell = Shell::new("s", Arrangement::Delta, (6, 11), 780.0, 60.0);
        shell.spread = Some(Angle::from_degrees(spread));
        shell.isl = links(pattern);
        let links = linked(shell.build(epoch()).unwrap());
        assert!(links.iter().any(|(a, b)| a.starts_with("s-5-") && b.starts_with("s-6-")));
        links.iter().filter(|(a, b)| a.starts_with("s-1-") && b.starts_with("s-6-")).count()
    };
    for pattern in [IslPattern::Grid, IslPattern::Nearest] {
        assert!(across(360.0, pattern) > 5);
        assert_eq!(across(90.0, pattern), 0);
        assert_eq!(across(200.0, pattern), 0);
    }
}

#[test]
fn slots_are_linked_along_the_equator_however_they_are_listed() {
    let ring = |longitudes: &[f64]| {
        let ring = Constellation::geostationary("g", longitudes).with_payload(Payload::Regenerative);
        let mut found: Vec<(f64, f64)> = Vec::new();
        for (a, b) in linked(ring.with_isl(links(IslPattern::IntraPlane))) {
            let longitude = |name: &str| {
                longitudes[name.strip_prefix("g-").unwrap().parse::<usize>().unwrap() - 1].rem_euclid(360.0)
            };
            let (a, b) = (longitude(&a), longitude(&b));
            found.push((a.min(b), a.max(b)));
        }
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        found
    };
    let in_order = ring(&[-30.0, 42.0, 114.0, 186.0, 258.0]);
    assert_eq!(in_order.len(), 5);
    assert_eq!(ring(&[-30.0, 114.0, 42.0, -174.0, -102.0]), in_order);
}
