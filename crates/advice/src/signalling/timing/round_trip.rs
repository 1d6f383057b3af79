//! The round trips that a link may have while a scenario runs, and the lines that make them so long.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_net::{InterfaceId, LinkEnd, Routes};
use slantpath_reader::{Faults, Place, Setting};
use slantpath_scenario::schema::signalling::{Mtp2, SignallingLink};
use slantpath_scenario::schema::{self, Which};
use slantpath_scenario::signalling::node_of;

use super::scene::Scene;
use crate::path::path;

/// Time that a message and its answer take, queues left out.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) length: Duration,
    /// The link of the packet network that ends at the receiver's address; none below a line.
    pub(crate) over: Option<String>,
    /// From when on.
    pub(crate) since: Duration,
    /// Of the longest delay on the way.
    place: Place,
}

impl RoundTrip {
    /// Says when a link has this round trip, and which line says so: ", once it goes over `two` from 50 s on
    /// (a.toml:18)".
    pub(crate) fn when(&self, primary: &str, faults: &Faults) -> String {
        let over = self.over.as_deref().filter(|over| *over != primary);
        let over = over.map(|over| format!(" once it goes over `{over}`")).unwrap_or_default();
        let since = if self.since.is_zero() { String::new() } else { format!(" from {} on", self.since) };
        let (name, line) = faults.line_of(self.place);
        format!("{over}{since} ({name}:{line})")
    }
}

/// The round trip of a line.
pub(crate) fn of_line(mtp2: &Mtp2) -> RoundTrip {
    RoundTrip { length: *mtp2.delay * 2, over: None, since: Duration::ZERO, place: mtp2.delay.place() }
}

/// Every round trip of an association that either point may see: over each address of the other, primary first, at the
/// start and from each change of a delay on. Empty if there is no way to the primary address.
pub(crate) fn of_association(
    scene: &Scene<'_>,
    routes: &mut Routes,
    link: &SignallingLink,
    primary: &str,
) -> Vec<RoundTrip> {
    let Some(ways) = ways(scene, routes, link, primary) else { return Vec::new() };
    let mut delays = delays(scene);
    let mut all = Vec::new();
    let mut note = |delays: &BTreeMap<usize, (Duration, Place)>, since: Duration| {
        for (over, way) in &ways {
            let directions = way.iter().flat_map(|near| [near.outbound(), near.peer().outbound()]);
            let on_the_way: Vec<_> = directions.map(|direction| delays[&direction.index()]).collect();
            let length = on_the_way.iter().fold(Duration::ZERO, |sum, (delay, _)| sum + *delay);
            let longest = on_the_way.iter().max_by_key(|(delay, _)| *delay);
            let place = longest.map(|(_, place)| *place).unwrap_or_default();
            all.push(RoundTrip { length, over: Some(over.clone()), since, place });
        }
    };
    note(&delays, Duration::ZERO);
    let mut events: Vec<_> =
        scene.file.script.iter().filter(|event| *event.action == schema::Action::Set).collect();
    events.sort_by_key(|event| *event.at);
    for event in events {
        let planned = scene.built.links.iter().find(|planned| planned.name == *event.link);
        let (Some(delay), Some(planned)) = (event.delay, planned) else { continue };
        let directions = match *event.direction {
            Which::Both => vec![planned.id.forward(), planned.id.reverse()],
            Which::Forward => vec![planned.id.forward()],
            Which::Reverse => vec![planned.id.reverse()],
        };
        for direction in directions {
            delays.insert(direction.index(), (*delay, delay.place()));
        }
        note(&delays, *event.at);
    }
    all
}

/// The longest round trip that a link can have.
pub(crate) fn longest(all: &[RoundTrip]) -> Option<&RoundTrip> {
    // Among equals the first, which is the sooner and more usual one.
    all.iter().rev().max_by_key(|round_trip| round_trip.length)
}

/// The ways to every address of each point's host from the other's, that to the primary address first.
fn ways(
    scene: &Scene<'_>,
    routes: &mut Routes,
    link: &SignallingLink,
    primary: &str,
) -> Option<Vec<(String, Vec<InterfaceId>)>> {
    let graph = &scene.built.graph;
    let [first, second] = [&link.between.0, &link.between.1]
        .map(|point| scene.built.nodes[node_of(scene.signalling, point).as_str()]);
    let mut ways = Vec::new();
    for (from, to) in [(first, second), (second, first)] {
        for planned in &scene.built.links {
            let ends = [planned.id.first(), planned.id.second()];
            let at = ends.iter().position(|end| graph.node_of(*end) == to);
            let address = at.and_then(|at| planned.addresses[at]);
            let way = address.and_then(|address| path(graph, routes, from, to, address));
            ways.extend(way.map(|way| (planned.name.clone(), way)));
        }
    }
    let at = ways.iter().position(|(over, _)| over == primary)?;
    ways[..=at].rotate_right(1);
    Some(ways)
}

/// The delay of every direction at the start, and where it stands.
fn delays(scene: &Scene<'_>) -> BTreeMap<usize, (Duration, Place)> {
    let mut delays = BTreeMap::new();
    for planned in &scene.built.links {
        let table = scene.file.links.find(&planned.name);
        let directions = [planned.id.forward(), planned.id.reverse()];
        for (place, direction) in directions.into_iter().enumerate() {
            let delay = scene.built.graph.direction(direction).delay.max();
            let setting = table.and_then(|link| [link.forward.delay, link.reverse.delay][place]);
            let place = setting.as_ref().map(Setting::place).unwrap_or_default();
            delays.insert(direction.index(), (delay, place));
        }
    }
    delays
}
