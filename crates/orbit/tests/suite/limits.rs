//! Answers at the edges: sites that are out of service, satellites that fly too far out, spans that are too long.

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::{Arrangement, presets::Preset, shell::Shell};
use slantpath_orbit::contact::Planner;
use slantpath_orbit::elements::Checksums;
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{Constellation, ContactNetwork, Geodetic, Site, Utc};

const HOUR: Duration = Duration::from_secs(3_600);

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

#[test]
fn a_site_that_is_out_of_service_has_a_gap_and_no_error() {
    let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    network.sites = vec![Site {
        name: "boston".into(),
        place: SitePosition::Fixed(Geodetic::new(42.3, -71.1, 0.0)),
        antennas: vec![Antenna::new(Angle::from_degrees(8.2))],
        horizon: Horizon::default(),
        relay: Relay::None,
    }];
    network.outages = slantpath_orbit::outage::read("0 s, 2 h, boston\n", "outages.csv").unwrap();
    let plan = Planner::new(&network, HOUR).unwrap().plan(&mut |_, _| {}).unwrap();
    let coverage = slantpath_orbit::coverage::of_site(&plan, 0);
    assert_eq!(coverage.gaps, [(Instant::START, Instant::START + HOUR)]);
    assert!(plan.contacts().iter().all(|contact| contact.b != network.site_node(0)));
}

#[test]
fn satellites_whose_delays_no_route_can_hold_are_refused() {
    let shell = |altitude_km| Shell::new("far", Arrangement::Delta, (3, 8), altitude_km, 60.0).build(epoch());
    assert!(shell(140_000.0).is_ok());
    let error = shell(600_000.0).unwrap_err().to_string();
    assert!(error.contains("600000 km") && error.contains("150000 km"), "{error}");
    let text = "FAR\n1 90001U 26001A   26060.00000000  .00000000  00000-0  00000+0 0  9993\n\
                2 90001  86.4000  30.0000 0002000  90.0000  60.0000  0.05000000    00\n";
    let sets = slantpath_orbit::elements::read(text, "far.tle", Checksums::Ignore).unwrap();
    let network =
        ContactNetwork::new(epoch(), vec![Constellation::from_elements("far", sets, epoch()).unwrap()]);
    let error = Planner::new(&network, HOUR).err().unwrap().to_string();
    assert!(error.starts_with("far.tle:2: FAR: ") && error.contains("150000 km"), "{error}");
}

#[test]
fn a_span_whose_orbits_fill_the_memory_is_refused_at_once() {
    let network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    assert!(network.check(HOUR * 24 * 365).is_ok());
    let error = network.check(HOUR * 24 * 36_500).unwrap_err().to_string();
    assert!(
        error.contains("66 satellites") && error.ends_with("make it shorter, or take fewer satellites"),
        "{error}"
    );
}
