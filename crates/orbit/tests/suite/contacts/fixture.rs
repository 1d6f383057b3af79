//! Networks that the tests look at: sites, and London and Boston below Iridium.

use slantpath_base::{Angle, Duration};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{ContactPlan, Planner};
use slantpath_orbit::ground::{Antenna, GroundPolicy};
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{ContactNetwork, Geodetic, Site, Utc};

pub(crate) fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn site(name: &str, latitude: f64, longitude: f64, antenna: Antenna) -> Site {
    Site {
        name: name.into(),
        place: SitePosition::Fixed(Geodetic::new(latitude, longitude, 0.0)),
        antennas: vec![antenna],
        horizon: Horizon::default(),
        relay: Relay::None,
    }
}

pub(crate) fn degrees(value: f64) -> Angle {
    Angle::from_degrees(value)
}

pub(crate) fn london_boston(policy: GroundPolicy) -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    let antenna = Antenna::new(degrees(8.2)).with_policy(policy);
    network.sites = vec![site("london", 51.53, 0.0, antenna.clone()), site("boston", 42.3, -71.1, antenna)];
    network
}

pub(crate) fn plan(network: &ContactNetwork, span: Duration) -> ContactPlan {
    Planner::new(network, span).unwrap().plan(&mut |_, _| {}).unwrap()
}

pub(crate) fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}
