//! The router: a plan, an instant, and a tree towards each destination.

use std::borrow::Cow;

use slantpath_base::{Duration, Instant};

use super::graph::{Effect, Graph, Metric, Overlap, UNREACHABLE};
use super::tree::{Root, Tree, Via, Workshop};
use super::{disjoint, search};
use crate::contact::{Contact, ContactChange, ContactId, ContactKind, ContactPlan};
use crate::network::ContactNodeId;

/// Links whose delays are read when a contact begins or ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// All links': after every change the routes are shortest for the delays of that instant.
    #[default]
    All,
    /// All links' if that was last done at least this long ago, otherwise those of the links that changed. In
    /// low orbit a link's delay drifts by at most 50 µs in a second: with a second between readings a route
    /// of ten links is the shortest to within a millisecond, and in practice to some tens of microseconds, at
    /// a tenth of the cost in a large constellation.
    AtMostEvery(Duration),
    /// Only those of the links that changed; the others keep the delay with which they began.
    Changed,
}

/// Rules by which routes are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteConfig {
    /// Quantity that is kept small.
    pub metric: Metric,
    /// Links whose delays are read at a change.
    pub refresh: Refresh,
    /// Links that count while an antenna holds two satellites.
    pub overlap: Overlap,
}

/// The next step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The contact to send over.
    pub contact: ContactId,
    /// The node at its other end.
    pub next: ContactNodeId,
}

/// A whole route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The nodes, both ends included.
    pub nodes: Vec<ContactNodeId>,
    /// The contacts between them.
    pub contacts: Vec<ContactId>,
}

impl Path {
    /// The one-way propagation delay at an instant, nanoseconds.
    pub fn delay_nanos(&self, plan: &ContactPlan, now: Instant) -> f64 {
        self.contacts.iter().map(|&contact| plan.delay(contact).nanos_at(now)).sum()
    }

    /// The one-way propagation delay at an instant.
    pub fn delay(&self, plan: &ContactPlan, now: Instant) -> Duration {
        Duration::from_secs_f64(self.delay_nanos(plan, now) * 1e-9)
    }

    /// Tells if all its contacts hold at an instant.
    pub fn holds_at(&self, plan: &ContactPlan, now: Instant) -> bool {
        self.contacts.iter().all(|&contact| plan.contact(contact).holds_at(now))
    }
}

/// Routes towards some destinations, at one instant after another.
pub struct Router<'p> {
    plan: &'p ContactPlan,
    config: RouteConfig,
    pub(super) graph: Graph<'p>,
    trees: Vec<Tree>,
    destinations: Vec<ContactNodeId>,
    shop: Workshop,
    /// The changes of the contacts that it may use.
    changes: Cow<'p, [ContactChange]>,
    next_change: usize,
    now: Instant,
    /// Instant at which all delays were last read.
    read_at: Instant,
}

impl<'p> Router<'p> {
    /// Routes towards destinations (sites, as a rule) at the start of a plan.
    pub fn new(plan: &'p ContactPlan, destinations: &[ContactNodeId], config: RouteConfig) -> Self {
        Self::over(plan, Cow::Borrowed(plan.changes()), destinations, config)
    }

    /// As [`Self::new`], over some of the contacts only.
    pub fn within(
        plan: &'p ContactPlan,
        destinations: &[ContactNodeId],
        config: RouteConfig,
        is_usable: &dyn Fn(&Contact) -> bool,
    ) -> Self {
        let changes = plan.changes().iter().copied();
        let usable = changes.filter(|change| is_usable(plan.contact(change.contact))).collect();
        Self::over(plan, Cow::Owned(usable), destinations, config)
    }

    fn over(
        plan: &'p ContactPlan,
        changes: Cow<'p, [ContactChange]>,
        destinations: &[ContactNodeId],
        config: RouteConfig,
    ) -> Self {
        let graph = Graph::new(plan, config.metric, config.overlap);
        let shop = Workshop::new(plan.names().len());
        let (trees, now) = (Vec::new(), Instant::START);
        let mut router = Self {
            plan,
            config,
            graph,
            trees,
            destinations: Vec::new(),
            shop,
            changes,
            next_change: 0,
            now,
            read_at: now,
        };
        router.take_changes(Instant::START);
        router.rebuild();
        for &node in destinations {
            router.add_destination(node, None);
        }
        router
    }

    /// Finds routes towards one more destination, too, and returns its index. A site may be reached by one of its
    /// antennas (from 0) only, but for a gateway, which takes what comes by any.
    pub fn add_destination(&mut self, node: ContactNodeId, antenna: Option<u16>) -> usize {
        let root = if self.graph.is_core(node) {
            Root::Core(node.0)
        } else {
            Root::Site(node.index() - self.plan.satellite_count(), antenna)
        };
        let mut tree = Tree::new(root, self.plan.names().len());
        self.graph.prepare();
        self.shop.fit(&self.graph);
        tree.build(&self.graph, &mut self.shop);
        self.trees.push(tree);
        self.destinations.push(node);
        self.trees.len() - 1
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &'p ContactPlan {
        self.plan
    }

    /// Follows a longer plan from now on, which [agrees](ContactPlan::agrees_with) with the present one up to now.
    pub fn go_on_over(&mut self, plan: &'p ContactPlan, is_usable: &dyn Fn(&Contact) -> bool) {
        let changes = plan.changes().iter().copied();
        self.changes = changes.filter(|change| is_usable(plan.contact(change.contact))).collect();
        self.plan = plan;
        self.graph.go_on_over(plan);
    }

    /// The instant up to which changes are taken in.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The destinations, in the order in which methods count them.
    pub fn destinations(&self) -> &[ContactNodeId] {
        &self.destinations
    }

    /// Instant at which a contact that it may use changes next.
    pub fn next_change(&self) -> Option<Instant> {
        self.changes.get(self.next_change).map(|change| change.at)
    }

    /// Number of changes of contacts that are taken in, and number of all: for those who tell of progress between
    /// steps.
    pub fn progress(&self) -> (usize, usize) {
        (self.next_change, self.changes.len())
    }

    /// Goes to the next instant at which contacts change, and repairs the routes for it.
    pub fn step(&mut self) -> Option<Instant> {
        let at = self.next_change()?;
        let effects = self.take_changes(at);
        let reads_all = match self.config.refresh {
            Refresh::All => true,
            Refresh::AtMostEvery(pause) => at.saturating_since(self.read_at) >= pause,
            Refresh::Changed => false,
        };
        if reads_all {
            self.graph.refresh(at);
            self.read_at = at;
        }
        self.shop.fit(&self.graph);
        self.graph.prepare();
        let Self { trees, graph, shop, .. } = self;
        for tree in trees.iter_mut() {
            let struck = reads_all || is_struck(tree, graph, &effects);
            if struck {
                tree.repair(graph, shop);
            }
        }
        for effect in effects {
            if let Effect::CoreLost(slot) = effect {
                self.graph.release(slot);
            }
        }
        Some(at)
    }

    /// Reads all delays anew between two changes, and repairs the routes for it.
    pub fn reread(&mut self, at: Instant) {
        self.graph.refresh(at);
        (self.now, self.read_at) = (at, at);
        self.shop.fit(&self.graph);
        self.graph.prepare();
        let Self { trees, graph, shop, .. } = self;
        for tree in trees.iter_mut() {
            tree.repair(graph, shop);
        }
    }

    /// Takes in every change up to an instant, each at its own.
    pub fn advance(&mut self, to: Instant) {
        while self.next_change().is_some_and(|at| at <= to) {
            self.step();
        }
        self.now = self.now.max(to);
    }

    /// Builds every tree anew with the delays of the present: what [`Self::step`] saves.
    pub fn rebuild(&mut self) {
        self.graph.refresh(self.now);
        self.read_at = self.now;
        self.graph.prepare();
        self.shop.fit(&self.graph);
        for tree in &mut self.trees {
            tree.build(&self.graph, &mut self.shop);
        }
    }

    /// Takes in the changes of one instant, without routes.
    fn take_changes(&mut self, at: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(&change) = self.changes.get(self.next_change).filter(|change| change.at <= at) {
            effects.push(if change.begins {
                self.graph.begin(change.contact, at)
            } else {
                self.graph.end(change.contact)
            });
            self.next_change += 1;
        }
        self.now = at;
        effects
    }

    /// The next hop from a node towards a destination (by its index).
    pub fn next_hop(&self, from: ContactNodeId, destination: usize) -> Option<Hop> {
        let tree = &self.trees[destination];
        if from == self.destinations[destination] {
            return None;
        }
        if self.graph.is_core(from) {
            return match tree.via(from.0) {
                Via::Access(contact) => {
                    Some(Hop { contact: ContactId(contact), next: self.destinations[destination] })
                }
                Via::Core(slot) => {
                    let next = ContactNodeId(from.0 ^ self.graph.across[slot as usize]);
                    Some(Hop { contact: self.graph.contact_in(slot), next })
                }
                Via::Nowhere => None,
            };
        }
        let access = &self.graph.access[from.index() - self.plan.satellite_count()];
        let reached = |access: &&super::graph::Access| {
            !access.is_superseded && tree.distance(&self.graph, access.satellite) != UNREACHABLE
        };
        let best = access.iter().filter(reached).min_by_key(|access| {
            (tree.distance(&self.graph, access.satellite) + access.weight, access.satellite)
        })?;
        Some(Hop { contact: best.contact, next: ContactNodeId(best.satellite) })
    }

    /// The length of the route from a node to a destination in the units of the metric, as of the last
    /// refresh; for delay these are nanoseconds.
    pub fn distance(&self, from: ContactNodeId, destination: usize) -> Option<u32> {
        let tree = &self.trees[destination];
        let finite = |distance: u32| (distance != UNREACHABLE).then_some(distance);
        if from == self.destinations[destination] {
            return Some(0);
        }
        if self.graph.is_core(from) {
            return finite(tree.distance(&self.graph, from.0));
        }
        let access = &self.graph.access[from.index() - self.plan.satellite_count()];
        let through = |access: &super::graph::Access| {
            (tree.distance(&self.graph, access.satellite) + access.weight).min(UNREACHABLE)
        };
        access.iter().filter(|access| !access.is_superseded).map(through).min().and_then(finite)
    }

    /// The route from a node to a destination.
    pub fn path(&self, from: ContactNodeId, destination: usize) -> Option<Path> {
        let mut path = Path { nodes: vec![from], contacts: Vec::new() };
        let mut at = from;
        while at != self.destinations[destination] {
            let hop = self.next_hop(at, destination)?;
            path.contacts.push(hop.contact);
            path.nodes.push(hop.next);
            at = hop.next;
            assert!(path.nodes.len() <= self.plan.names().len() + 1, "a route runs in a circle");
        }
        Some(path)
    }

    /// The two routes between two nodes that share no relaying node and whose lengths have the least sum, the
    /// shorter one first: for the two addresses of a multihomed host. The first may be longer than
    /// [`Self::path`], where the shortest leaves no second one, or only a worse one.
    pub fn disjoint_pair(&self, from: ContactNodeId, to: ContactNodeId) -> Option<(Path, Path)> {
        disjoint::pair(&self.graph, from, to)
    }

    /// Two routes between two sites, each by another of two antennas of either end (from 0): the first leaves by
    /// `leaving[0]`, the second by `leaving[1]`, and each may come down by either of `arriving`. They share no relaying
    /// node and have the least sum of lengths, if there are such; else the first is the shortest by its antenna, and
    /// the second passes the fewest nodes of the first.
    pub fn disjoint_by_antenna(
        &self,
        (from, leaving): (ContactNodeId, [u16; 2]),
        (to, arriving): (ContactNodeId, [u16; 2]),
    ) -> [Option<Path>; 2] {
        let is_usable = |end, contact| self.is_of(contact, if end == from { &leaving } else { &arriving });
        if let Some((one, other)) = disjoint::pair_by(&self.graph, from, to, &is_usable) {
            match [&one, &other].map(|path| self.antenna_of(path.contacts[0])) {
                [first, second] if first == second => {}
                [first, _] if first == Some(leaving[0]) => return [Some(one), Some(other)],
                _ => return [Some(other), Some(one)],
            }
        }
        let first = self.route_beside((from, leaving[0]), (to, arriving), &[]);
        let avoided = first.as_ref().map_or(&[][..], |path| &path.nodes);
        let second = self.route_beside((from, leaving[1]), (to, arriving), avoided);
        [first, second]
    }

    /// The route from an antenna of a site to either of two of another that passes the fewest of some nodes, and of
    /// these the shortest.
    pub fn route_beside(
        &self,
        (from, leaving): (ContactNodeId, u16),
        (to, arriving): (ContactNodeId, [u16; 2]),
        avoided: &[ContactNodeId],
    ) -> Option<Path> {
        let leaving = [leaving];
        let is_usable =
            |end, contact| self.is_of(contact, if end == from { &leaving[..] } else { &arriving });
        disjoint::least_shared(&self.graph, from, to, &is_usable, avoided)
    }

    /// Tells if a contact is one of some antennas of its site.
    fn is_of(&self, contact: ContactId, antennas: &[u16]) -> bool {
        self.antenna_of(contact).is_some_and(|own| antennas.contains(&own))
    }

    fn antenna_of(&self, contact: ContactId) -> Option<u16> {
        match self.plan.contact(contact).kind {
            ContactKind::Ground { antenna } => Some(antenna),
            ContactKind::InterSatellite | ContactKind::Terrestrial => None,
        }
    }

    /// The contacts along given nodes, if each follows the last at this instant: a fixed route.
    pub fn fixed_path(&self, nodes: &[ContactNodeId]) -> Option<Path> {
        let contacts = nodes.windows(2).map(|pair| search::contact_between(&self.graph, pair[0], pair[1]));
        let contacts: Vec<ContactId> = contacts.collect::<Option<_>>()?;
        Some(Path { nodes: nodes.to_vec(), contacts })
    }

    /// Every link that holds, with its weight: the graph of the instant, for those who want to judge it
    /// themselves.
    pub fn links(&self) -> Vec<(ContactNodeId, ContactNodeId, u32)> {
        let core = self.graph.ends.iter().zip(&self.graph.weights);
        let core = core.filter(|(_, weight)| **weight != UNREACHABLE);
        let core = core.map(|(&(a, b), &weight)| (ContactNodeId(a), ContactNodeId(b), weight));
        let site = |(site, list): (usize, &Vec<super::graph::Access>)| {
            let node = ContactNodeId::new(self.plan.satellite_count() + site);
            list.iter()
                .map(|access| (ContactNodeId(access.satellite), node, access.weight))
                .collect::<Vec<_>>()
        };
        core.chain(self.graph.access.iter().enumerate().flat_map(site)).collect()
    }
}

fn is_struck(tree: &Tree, graph: &Graph<'_>, effects: &[Effect]) -> bool {
    effects.iter().any(|&effect| match effect {
        Effect::Access(site) => matches!(tree.root, Root::Site(of, _) if of == site),
        Effect::CoreGained(slot) => tree.gains(graph, slot),
        Effect::CoreLost(slot) => tree.uses(graph, slot),
    })
}
