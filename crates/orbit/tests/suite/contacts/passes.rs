//! Times at which satellites rise, culminate and set, against dense sampling.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::Planner;
use slantpath_orbit::elements::Checksums;
use slantpath_orbit::ground::{Antenna, GroundPolicy};
use slantpath_orbit::site::{Horizon, SitePosition};
use slantpath_orbit::{Constellation, ContactNetwork, Orbit};

use super::fixture::{degrees, epoch, hours, london_boston, site};

/// Holds the rises and sets of one satellite in so many over the first site to sampling every 10 ms; how many it met.
fn assert_as_sampled(
    network: &ContactNetwork,
    one_in: usize,
    within_s: f64,
    is_visible: impl Fn(&Orbit, Instant) -> bool,
) -> usize {
    let span = Duration::from_secs(5_400);
    let passes = Planner::new(network, span).unwrap().passes(0).unwrap();
    let mut met = 0;
    for (node, satellite) in network.satellites().enumerate().step_by(one_in) {
        let samples = (0..=span.as_millis()).step_by(10).map(Instant::from_millis);
        let seen: Vec<bool> = samples.map(|at| is_visible(&satellite.orbit, at)).collect();
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
            assert!((sampled - solved).abs() <= within_s, "{}: {sampled} {solved}", satellite.name);
        }
        met += edges.len();
    }
    met
}

#[test]
fn passes_begin_and_end_when_10_ms_sampling_says() {
    let network = london_boston(GroundPolicy::default());
    let stance = network.sites[0].place.at(Instant::START);
    assert_as_sampled(&network, 13, 0.005_1, |orbit, at| {
        let fixed = orbit.fixed(epoch().at(at)).unwrap();
        stance.look(fixed.position).elevation >= 8.2_f64.to_radians()
    });
}

#[test]
fn a_pass_is_highest_when_sampling_every_tenth_of_a_second_says() {
    let mut network = london_boston(GroundPolicy::default());
    let journey = "0 s, 45, -60, 10000\n90 min, 51, 0, 10000\n";
    let journey = slantpath_orbit::site::Track::read(journey, "flight.csv").unwrap();
    network.sites[1].place = SitePosition::Track(journey);
    let sets =
        slantpath_orbit::elements::read(include_str!("../../data/elements.tle"), "", Checksums::Verify);
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
    let stance = network.sites[0].place.at(Instant::START);
    let cut = assert_as_sampled(&network, 9, 0.005_2, |orbit, at| {
        let look = stance.look(orbit.fixed(epoch().at(at)).unwrap().position);
        look.elevation >= network.sites[0].horizon.at(look.azimuth).max(8.2_f64.to_radians())
    });
    assert!(cut > 4, "the mask was hardly met");
}

#[test]
fn an_aircraft_gains_and_loses_satellites_when_10_ms_sampling_says() {
    let mut network = london_boston(GroundPolicy::default());
    let flight =
        "0 s, 51.5, -0.5, 0\n20 min, 52.5, -3, 11000\n45 min, 54, -9, 11500\n90 min, 56, -22, 11500\n";
    let track = slantpath_orbit::site::Track::read(flight, "flight.csv").unwrap();
    network.sites[0].place = SitePosition::Track(track);
    let met = assert_as_sampled(&network, 9, 0.005_1, |orbit, at| {
        let fixed = orbit.fixed(epoch().at(at)).unwrap();
        network.sites[0].place.at(at).look(fixed.position).elevation >= 8.2_f64.to_radians()
    });
    assert!(met > 4, "{met}");
}

#[test]
fn a_site_that_never_sees_a_satellite_is_told_so() {
    let mut network = ContactNetwork::new(epoch(), Preset::Clarke.build(epoch()).unwrap());
    network.sites = vec![site("pole", 89.0, 0.0, Antenna::new(degrees(8.2)))];
    let error = Planner::new(&network, hours(1)).unwrap().plan(&mut |_, _| {}).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "site `pole` never sees a satellite of any constellation above 8.2 deg: the highest comes to"
        ),
        "{error}"
    );
}
