//! `sky_contacts`, `sky_nodes` and `sky_positions`: the sky that a run had, for maps, if that is asked for.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::site::SitePosition;
use slantpath_orbit::{ContactNetwork, Geodetic};
use slantpath_results::Table;
use slantpath_scenario::SkyPlan;

use crate::columns::{Number, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `sky_contacts`.
    pub(in crate::run) struct ContactColumns {
        /// Kind of the contact: `ground`, `inter-satellite` or `terrestrial`.
        kind: Text,
        /// Node at one end.
        a: Text,
        /// Node at the other end.
        b: Text,
        /// Time from which on the two see each other. Contacts that hold before the run begin at 0.
        start_s: Number,
        /// Time up to which they do, at most the end of the run.
        end_s: Number,
    }
}

columns! {
    /// Columns of `sky_nodes`.
    pub(in crate::run) struct NodeColumns {
        /// Name of the satellite or site.
        node: Text,
        /// Kind of the node: `satellite` or `site`.
        kind: Text,
        /// Constellation of a satellite. Missing for sites.
        constellation: Text,
        /// Latitude of the point below it when the run begins.
        latitude_deg: Number,
        /// Longitude of that point.
        longitude_deg: Number,
        /// Height above the ellipsoid.
        altitude_km: Number,
    }
}

columns! {
    /// Columns of `sky_positions`.
    pub(in crate::run) struct PositionColumns {
        /// Name of the satellite, or of a site that travels.
        node: Text,
        /// Time of the sample.
        at_s: Number,
        /// Latitude of the point below it.
        latitude_deg: Number,
        /// Longitude of that point.
        longitude_deg: Number,
        /// Height above the ellipsoid.
        altitude_km: Number,
    }
}

/// All three, with positions at the start, at each multiple of `every` and at the end: that of the run, or of the plan
/// that an emulation had at its start.
pub(in crate::run) fn tables(plan: &SkyPlan, every: Duration, end: Instant) -> [Table; 3] {
    let end = end.min(Instant::START + plan.contacts.span());
    [contacts(plan), nodes(&plan.bodies), positions(&plan.bodies, every, end)]
}

fn contacts(SkyPlan { contacts: plan, .. }: &SkyPlan) -> Table {
    let mut columns = ContactColumns::new();
    for contact in plan.contacts() {
        columns.kind.push(contact.kind.as_str());
        columns.a.push(&plan.names()[contact.a.index()]);
        columns.b.push(&plan.names()[contact.b.index()]);
        columns.start_s.push_instant(contact.start);
        columns.end_s.push_instant(contact.end);
    }
    columns.finish(TableKind::SkyContacts)
}

fn nodes(bodies: &ContactNetwork) -> Table {
    let mut columns = NodeColumns::new();
    let mut push = |node: &str, constellation: Option<&str>, place: Option<Geodetic>| {
        columns.node.push(node);
        columns.kind.push(if constellation.is_some() { "satellite" } else { "site" });
        columns.constellation.push_optional(constellation);
        let [latitude, longitude, altitude] = figures(place);
        columns.latitude_deg.push_optional(latitude);
        columns.longitude_deg.push_optional(longitude);
        columns.altitude_km.push_optional(altitude);
    };
    for constellation in &bodies.constellations {
        for satellite in &constellation.satellites {
            let place = satellite.orbit.fixed(bodies.epoch).ok();
            let place = place.map(|state| Geodetic::from_fixed(state.position));
            push(&satellite.name, Some(&constellation.name), place);
        }
    }
    for site in &bodies.sites {
        let place = Geodetic::from_fixed(site.place.at(Instant::START).position);
        push(&site.name, None, Some(place));
    }
    columns.finish(TableKind::SkyNodes)
}

fn positions(bodies: &ContactNetwork, every: Duration, end: Instant) -> Table {
    let mut columns = PositionColumns::new();
    let instants =
        || core::iter::successors(Some(Instant::START), move |&at| (at < end).then(|| (at + every).min(end)));
    let mut push = |node: &str, at: Instant, place: Option<Geodetic>| {
        columns.node.push(node);
        columns.at_s.push_instant(at);
        let [latitude, longitude, altitude] = figures(place);
        columns.latitude_deg.push_optional(latitude);
        columns.longitude_deg.push_optional(longitude);
        columns.altitude_km.push_optional(altitude);
    };
    for satellite in bodies.satellites() {
        for at in instants() {
            let state = satellite.orbit.fixed(bodies.epoch.at(at)).ok();
            push(&satellite.name, at, state.map(|state| Geodetic::from_fixed(state.position)));
        }
    }
    for site in bodies.sites.iter().filter(|site| matches!(site.place, SitePosition::Track(_))) {
        for at in instants() {
            push(&site.name, at, Some(Geodetic::from_fixed(site.place.at(at).position)));
        }
    }
    columns.finish(TableKind::SkyPositions)
}

/// Latitude, longitude and height. A satellite whose motion cannot be followed is nowhere.
fn figures(place: Option<Geodetic>) -> [Option<f64>; 3] {
    match place {
        Some(place) => [
            Some(place.latitude.as_degrees()),
            Some(place.longitude.as_degrees()),
            Some(place.height_m / 1e3),
        ],
        None => [None; 3],
    }
}
