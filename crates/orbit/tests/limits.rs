//! What is answered at the edges: sites that are out of service.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::Planner;
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::site::{Horizon, Place, Relay};
use slantpath_orbit::{Geodetic, Network, Site, Utc};

const HOUR: Duration = Duration::from_secs(3_600);

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

#[test]
fn a_site_that_is_out_of_service_has_a_gap_and_no_error() {
    let mut network = Network::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    network.sites = vec![Site {
        name: "boston".into(),
        place: Place::Fixed(Geodetic::new(42.3, -71.1, 0.0)),
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
