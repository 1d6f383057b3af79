//! `map_nodes`, `map_links`, `map_tracks` and `positions`: where satellites are, for maps.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::Arrangement;
use slantpath_orbit::contact::ContactKind;
use slantpath_orbit::{ContactNodeId, Geodetic, Utc};
use slantpath_results::{Table, TableError};

use super::Answer;
use super::declared;
use super::paths::leg_at;
use super::rows::Rows;
use crate::schema::{ArrangementName, Positions};

/// A ground track is drawn with points this far apart.
const TRACK_STEP: Duration = Duration::from_secs(20);

impl Answer<'_> {
    /// `map_nodes`: the place of every satellite and site at the instant of the map.
    pub(super) fn map_nodes(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::MAP_NODES);
        let network = self.topology.network();
        let now = self.map_instant();
        let mut node = 0;
        for constellation in &network.constellations {
            let in_planes = constellation.arrangement != Arrangement::Loose;
            for satellite in &constellation.satellites {
                let place = place_of(satellite, network.epoch.at(now));
                let on = self.paths_over(ContactNodeId::new(node), now);
                rows.push([
                    satellite.name.as_str().into(),
                    "satellite".into(),
                    constellation.name.as_str().into(),
                    ArrangementName::of(constellation.arrangement).as_str().into(),
                    in_planes.then_some(satellite.plane + 1).into(),
                    in_planes.then_some(satellite.slot + 1).into(),
                    place.map(|place| place.latitude.as_degrees()).into(),
                    place.map(|place| place.longitude.as_degrees()).into(),
                    place.map(|place| place.height_m / 1e3).into(),
                    on.as_deref().into(),
                ]);
                node += 1;
            }
        }
        for site in &network.sites {
            let place = Geodetic::from_fixed(site.place.at(now).position);
            let on = self.paths_over(ContactNodeId::new(node), now);
            rows.push([
                site.name.as_str().into(),
                "site".into(),
                None::<&str>.into(),
                None::<&str>.into(),
                None::<usize>.into(),
                None::<usize>.into(),
                place.latitude.as_degrees().into(),
                place.longitude.as_degrees().into(),
                (place.height_m / 1e3).into(),
                on.as_deref().into(),
            ]);
            node += 1;
        }
        rows.finish()
    }

    /// `map_links`: the contacts that hold at the instant of the map, and which of them a path takes.
    pub(super) fn map_links(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::MAP_LINKS);
        let now = self.map_instant();
        for (index, contact) in self.plan.contacts().iter().enumerate() {
            if !contact.holds_at(now) {
                continue;
            }
            let id = super::paths::contact_id(index);
            let seam = contact.kind == ContactKind::InterSatellite && self.crosses_seam(contact.a, contact.b);
            let on = self.paths_with(now, |path| path.contacts.contains(&id));
            rows.push([
                contact.kind.as_str().into(),
                self.name(contact.a).into(),
                self.name(contact.b).into(),
                seam.into(),
                self.plan.delay(id).at(now).into(),
                on.as_deref().into(),
            ]);
        }
        rows.finish()
    }

    /// `map_tracks`: the points below the satellites of the paths around the instant of the map.
    pub(super) fn map_tracks(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::MAP_TRACKS);
        let now = self.map_instant();
        let reach = *self.topology.map.tracks;
        let end = Instant::START + self.plan.span();
        for (node, satellite) in self.topology.network().satellites().enumerate() {
            if self.paths_over(ContactNodeId::new(node), now).is_none() {
                continue;
            }
            let first = Instant::START + now.since_start().saturating_sub(reach);
            let last = (now + reach).min(end);
            let mut at = first;
            loop {
                self.push_place(&mut rows, satellite, at);
                if at >= last {
                    break;
                }
                at = (at + TRACK_STEP).min(last);
            }
        }
        rows.finish()
    }

    /// `positions`: the points below all satellites at regular times, if they are wanted.
    pub(super) fn positions(&self) -> Result<Option<Table>, TableError> {
        let every = match *self.topology.topology.positions_every {
            Positions::Every(every) => every.as_nanos(),
            Positions::Off => return Ok(None),
        };
        let mut rows = Rows::of(&declared::POSITIONS);
        let steps = self.plan.span().as_nanos() / every;
        for satellite in self.topology.network().satellites() {
            for step in 0..=steps {
                self.push_place(&mut rows, satellite, Instant::from_nanos(step * every));
            }
        }
        rows.finish().map(Some)
    }

    fn push_place(
        &self,
        rows: &mut Rows,
        satellite: &slantpath_orbit::constellation::Satellite,
        at: Instant,
    ) {
        let place = place_of(satellite, self.topology.network().epoch.at(at));
        rows.push([
            satellite.name.as_str().into(),
            at.into(),
            place.map(|place| place.latitude.as_degrees()).into(),
            place.map(|place| place.longitude.as_degrees()).into(),
            place.map(|place| place.height_m / 1e3).into(),
        ]);
    }

    pub(super) fn map_instant(&self) -> Instant {
        Instant::START + *self.topology.map.at
    }

    /// The names of the paths that pass a node at an instant, if any does.
    fn paths_over(&self, node: ContactNodeId, now: Instant) -> Option<String> {
        self.paths_with(now, |path| path.nodes.contains(&node))
    }

    fn paths_with(
        &self,
        now: Instant,
        wanted: impl Fn(&slantpath_orbit::route::Path) -> bool,
    ) -> Option<String> {
        let on = self
            .paths
            .iter()
            .filter(|followed| leg_at(followed, now).and_then(|leg| leg.path.as_ref()).is_some_and(&wanted));
        let names: Vec<&str> = on.map(|followed| followed.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }

    /// Tells whether two satellites are of the first and the last plane of a star.
    fn crosses_seam(&self, a: ContactNodeId, b: ContactNodeId) -> bool {
        let network = self.topology.network();
        let mut first = 0;
        for constellation in &network.constellations {
            let satellites = &constellation.satellites;
            let (Some(a), Some(b)) = (a.index().checked_sub(first), b.index().checked_sub(first)) else {
                return false;
            };
            if let (Some(a), Some(b)) = (satellites.get(a), satellites.get(b)) {
                let last = constellation.plane_count().saturating_sub(1);
                let (low, high) = (a.plane.min(b.plane), a.plane.max(b.plane));
                return constellation.arrangement == Arrangement::Star
                    && last > 1
                    && low == 0
                    && high == last;
            }
            first += satellites.len();
        }
        false
    }
}

/// The point below a satellite. Its motion was followed over the whole span when the contacts were solved, so
/// that it is missing nowhere in it.
fn place_of(satellite: &slantpath_orbit::constellation::Satellite, date: Utc) -> Option<Geodetic> {
    satellite.orbit.fixed(date).ok().map(|state| Geodetic::from_fixed(state.position))
}
