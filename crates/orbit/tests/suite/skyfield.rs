//! Azimuth, elevation, range and visibility against Skyfield: vectors written by
//! `tests/data/write_skyfield_vectors.py`.

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::contact::Planner;
use slantpath_orbit::elements::{Checksums, tle};
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{Constellation, ContactNetwork, ElementSet, Geodetic, Orbit, Site, Utc};

fn elements() -> Vec<ElementSet> {
    tle::read(include_str!("../data/elements.tle"), "elements.tle", Checksums::Verify).unwrap()
}

fn set(name: &str) -> ElementSet {
    elements().into_iter().find(|set| set.name == name).unwrap()
}

fn start() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

#[test]
fn directions_and_ranges_agree() {
    let mut compared = 0;
    for row in rows(include_str!("../data/skyfield_look_angles.csv")) {
        let number = |index: usize| row[index].parse::<f64>().unwrap();
        let orbit = Orbit::from_elements(set(row[0])).unwrap();
        let date = start().after(Duration::from_secs(row[1].parse().unwrap()));
        let place = SitePosition::Fixed(Geodetic::new(number(2), number(3), number(4)));
        let look = place.at(Instant::START).look(orbit.fixed(date).unwrap().position);
        let (azimuth, elevation, range_km) = (number(5), number(6), number(7));
        // Within a centimetre across and along the line of sight.
        let across = look.range_m.max(4e5);
        let turn = (look.azimuth.to_degrees() - azimuth + 540.0).rem_euclid(360.0) - 180.0;
        let level = libm::cos(look.elevation);
        assert!(turn.to_radians().abs() * level * across < 0.01, "{row:?}: {}", look.azimuth.to_degrees());
        assert!((look.elevation - elevation.to_radians()).abs() * across < 0.01, "{row:?}");
        assert!((look.range_m / 1e3 - range_km).abs() < 1e-5, "{row:?}: {}", look.range_m / 1e3);
        compared += 1;
    }
    assert_eq!(compared, 300);
}

#[test]
fn rises_and_sets_agree() {
    let mut compared = 0;
    let all: Vec<Vec<&str>> = rows(include_str!("../data/skyfield_events.csv")).collect();
    for group in all.chunk_by(|a, b| a[..4] == b[..4]) {
        let number = |index: usize| group[0][index].parse::<f64>().unwrap();
        let constellation = Constellation::from_elements("one", vec![set(group[0][0])], start()).unwrap();
        let mut network = ContactNetwork::new(start(), vec![constellation]);
        network.sites = vec![Site {
            name: "site".into(),
            place: SitePosition::Fixed(Geodetic::new(number(1), number(2), 0.0)),
            antennas: vec![Antenna::new(Angle::from_degrees(number(3)))],
            horizon: Horizon::default(),
            relay: Relay::None,
        }];
        let planner = Planner::new(&network, Duration::from_secs(86_400)).unwrap();
        let passes = planner.passes(0).unwrap();
        let edges = |pass: &slantpath_orbit::contact::Pass| {
            [("rise", pass.start_seconds()), ("set", pass.end_seconds())]
        };
        let ours: Vec<(&str, f64)> = passes
            .of_antenna(0)
            .iter()
            .flat_map(edges)
            .filter(|(_, at)| *at > 0.0 && *at < 86_400.0)
            .collect();
        assert_eq!(ours.len(), group.len(), "{group:?} {ours:?}");
        for ((event, at), row) in ours.iter().zip(group) {
            let theirs: f64 = row[5].parse().unwrap();
            assert_eq!(*event, row[4]);
            // The vectors have four digits.
            assert!((at - theirs).abs() < 1e-4, "{row:?}: {at}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}
