//! The round trips that a link may have while a scenario runs, and the lines that make them so long.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::Duration;
use slantpath_net::{DirectionId, InterfaceId, LinkEnd, LinkId, NodeId, Routes};
use slantpath_reader::{Faults, Named, Place, Setting};
use slantpath_scenario::network::{Built, PlannedLink, find_link};
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
    let on_the_way: BTreeSet<usize> =
        ways.iter().flat_map(|(_, way)| directions(way)).map(DirectionId::index).collect();
    let mut delays: BTreeMap<usize, (Duration, Place)> = BTreeMap::new();
    for direction in on_the_way {
        delays.insert(direction, scene.delays.start[&direction]);
    }
    let mut all = Vec::new();
    let mut note = |delays: &BTreeMap<usize, (Duration, Place)>, since: Duration| {
        for (over, way) in &ways {
            let on_the_way: Vec<_> = directions(way).map(|direction| delays[&direction.index()]).collect();
            let length = on_the_way.iter().fold(Duration::ZERO, |sum, (delay, _)| sum + *delay);
            let longest = on_the_way.iter().max_by_key(|(delay, _)| *delay);
            let place = longest.map(|(_, place)| *place).unwrap_or_default();
            all.push(RoundTrip { length, over: Some(over.clone()), since, place });
        }
    };
    note(&delays, Duration::ZERO);
    for change in &scene.delays.changes {
        let mut is_on_the_way = false;
        for direction in &change.directions {
            if let Some(delay) = delays.get_mut(direction) {
                *delay = change.delay;
                is_on_the_way = true;
            }
        }
        if is_on_the_way {
            note(&delays, change.at);
        }
    }
    all
}

/// Both directions of every link of a way.
fn directions(way: &[InterfaceId]) -> impl Iterator<Item = DirectionId> {
    way.iter().flat_map(|near| [near.outbound(), near.peer().outbound()])
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
        for planned in scene.delays.links(scene.built, to) {
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

/// Delays of the packet network, each with where it stands.
pub(super) struct Delays {
    /// At the start, by direction.
    start: BTreeMap<usize, (Duration, Place)>,
    /// In the order of time.
    changes: Vec<Change>,
    /// Places of links in the order of their names, by their numbers.
    places: BTreeMap<LinkId, usize>,
}

/// A change of delays by the script.
struct Change {
    at: Duration,
    directions: Vec<usize>,
    delay: (Duration, Place),
}

impl Delays {
    pub(super) fn new(file: &schema::File, built: &Built) -> Self {
        let mut start = BTreeMap::new();
        for planned in &built.links {
            let table = file.links.find(&planned.name);
            let directions = [planned.id.forward(), planned.id.reverse()];
            for (place, direction) in directions.into_iter().enumerate() {
                let delay = built.graph.direction(direction).delay.max();
                let setting = table.and_then(|link| [link.forward.delay, link.reverse.delay][place]);
                let place = setting.as_ref().map(Setting::place).unwrap_or_default();
                start.insert(direction.index(), (delay, place));
            }
        }
        let is_set = |event: &&Named<schema::Event>| *event.action == schema::Action::Set;
        let mut events: Vec<_> = file.script.iter().filter(is_set).collect();
        events.sort_by_key(|event| *event.at);
        let change = |event: &Named<schema::Event>| {
            let (delay, planned) = (event.delay?, find_link(&built.links, &event.link)?);
            let directions = match *event.direction {
                Which::Both => vec![planned.id.forward(), planned.id.reverse()],
                Which::Forward => vec![planned.id.forward()],
                Which::Reverse => vec![planned.id.reverse()],
            };
            let directions = directions.into_iter().map(DirectionId::index).collect();
            Some(Change { at: *event.at, directions, delay: (*delay, delay.place()) })
        };
        let places = built.links.iter().zip(0..).map(|(planned, place)| (planned.id, place)).collect();
        Self { start, changes: events.into_iter().filter_map(change).collect(), places }
    }

    /// Links of a node, in the order of their names.
    fn links<'a>(&self, built: &'a Built, node: NodeId) -> Vec<&'a PlannedLink> {
        let own = built.graph.interfaces(node).iter();
        let mut places: Vec<usize> =
            own.filter_map(|interface| self.places.get(&interface.link()).copied()).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| &built.links[place]).collect()
    }
}
