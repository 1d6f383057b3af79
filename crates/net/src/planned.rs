//! The source of a plan: a script of changes, and shortest paths that follow it or not.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use slantpath_base::{Duration, Instant};

use crate::graph::{NetworkGraph, Routing};
use crate::routes::Routes;
use crate::script::{Change, Script};
use crate::source::{Changeable, Links, Source};
use crate::{DestinationId, DirectionId, LinkEnd, LinkId, NodeId};

/// The changes that were [declared](crate::NetworkBuilder::change), and the [shortest paths](Routes).
#[derive(Clone, Debug)]
pub struct Planned {
    script: Script,
    routing: Routing,
    routes: Routes,
    /// Directions of which the routes know an old state: they learn the new one when a link goes down or comes up.
    stale: Vec<DirectionId>,
    /// Directions whose delay follows a curve, which are always stale.
    curved: Vec<DirectionId>,
    /// The declared delays of directions that exist in contacts and that the script changes: for routes they keep them.
    in_contacts: BTreeMap<DirectionId, Duration>,
    /// Directions by which nobody is reached at present: for routes they are so long that any other way is taken.
    idle: FxHashSet<DirectionId>,
}

/// Length added to a direction while nobody is reached by it: more than any way, so that it is taken if there is no
/// other, and what waits for its next contact still finds it.
const IDLE: Duration = Duration::from_secs(1_000_000);

impl Planned {
    /// The source that a plan describes.
    pub fn new(graph: &NetworkGraph) -> Self {
        let directions = graph.links().flat_map(|link| [link.forward(), link.reverse()]);
        let contacts: FxHashSet<LinkId> = graph.contact_links.iter().copied().collect();
        let changed = graph.changes.iter().map(|&(_, direction, _)| direction);
        let in_contacts = changed.filter(|direction| contacts.contains(&direction.sender().link()));
        let in_contacts = in_contacts.map(|id| (id, graph.direction(id).delay.at(Instant::START))).collect();
        Self {
            in_contacts,
            script: Script::new(graph.changes.clone()),
            routing: graph.routing,
            routes: Routes::new(graph),
            stale: Vec::new(),
            idle: FxHashSet::default(),
            curved: directions.filter(|&id| graph.direction(id).delay.is_curve()).collect(),
        }
    }

    /// True if routes follow links that go down and come up.
    pub fn is_dynamic(&self) -> bool {
        self.routing == Routing::Dynamic
    }

    /// Has routes prefer any other way to a direction while it is `idle`: one of a contact that leads to nobody.
    pub fn set_idle(&mut self, direction: DirectionId, idle: bool) {
        let changed = if idle { self.idle.insert(direction) } else { self.idle.remove(&direction) };
        let Some(known) = self.routes.delay(direction).filter(|_| changed) else { return };
        let delay = if idle { known.saturating_add(IDLE) } else { known.saturating_sub(IDLE) };
        self.routes.set_delay(direction, Some(delay));
    }
}

impl Changeable for Planned {
    fn add_change(&mut self, graph: &NetworkGraph, at: Instant, direction: DirectionId, change: Change) {
        if graph.contact_links.contains(&direction.sender().link()) {
            let declared = || graph.direction(direction).delay.at(Instant::START);
            self.in_contacts.entry(direction).or_insert_with(declared);
        }
        self.script.insert(at, direction, change);
    }
}

impl Source for Planned {
    fn next_change(&self) -> Instant {
        self.script.next_change()
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        let mut reroute = false;
        while let Some((direction, change)) = self.script.take_due(now) {
            links.change(direction, change);
            match change {
                Change::Down | Change::Up => reroute = true,
                Change::Delay(_) => {}
                _ => continue,
            }
            if self.routing == Routing::Dynamic {
                self.stale.push(direction);
            }
        }
        if reroute && self.routing == Routing::Dynamic {
            for &direction in self.stale.iter().chain(&self.curved) {
                let declared = self.in_contacts.get(&direction).copied();
                let idle = if self.idle.contains(&direction) { IDLE } else { Duration::ZERO };
                let delay = links
                    .is_up(direction)
                    .then(|| declared.unwrap_or_else(|| links.delay(direction)).saturating_add(idle));
                self.routes.set_delay(direction, delay);
            }
            self.stale.clear();
        }
    }

    #[inline]
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        self.routes.next(node, destination)
    }
}
