//! The delay of a contact, against exact orbits.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::ContactId;
use slantpath_orbit::ground::{Antenna, GroundPolicy};
use slantpath_orbit::site::SitePosition;
use slantpath_orbit::{Constellation, ContactNodeId, ElementSet, Orbit};

use super::fixture::{degrees, epoch, hours, london_boston, plan};

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
        source: slantpath_orbit::elements::ElementSource::default(),
    };
    let sets = [set("molniya", 2.006, 0.74, 330.0, 0.0), set("low", 15.2, 0.002, 0.0, 1e-4)];
    for set in sets {
        let name = set.name.clone();
        network.constellations.push(Constellation::from_elements(&name, vec![set], epoch()).unwrap());
    }
    let flight = "0 s, 51.5, -0.5, 0\n20 min, 52.5, -3, 11000\n90 min, 56, -22, 11500\n";
    network.sites[0].place =
        SitePosition::Track(slantpath_orbit::site::Track::read(flight, "flight.csv").unwrap());
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
    let position = |node: ContactNodeId, at: Instant| match orbits.get(node.index()) {
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
