//! The source of a network under a sky: contacts begin and end as the plan says, and packets take its routes.
//!
//! On the ground packets follow the plan of the network, in which each group of antennas is one router: so they come to
//! the antenna by which they leave, and it is known by which antenna they come down. In between they follow the trees
//! of least delay of `orbit`'s router, which are repaired when a contact changes and at no other time.

use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_net::{
    Change, Changeable, Delay, DelayPiece, DestinationId, DirectionId, Leaving, LeftBehind, LinkContact,
    LinkEnd, LinkId, Links, NetworkGraph, NodeId, Planned, Source, Way,
};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::contact::{ContactCause, ContactId, ContactPlan};
use slantpath_orbit::route::{self, Hop, Overlap, Router};

use crate::handover::AntennaHandover;
use crate::hops::Hops;
use crate::path::{Followed, PathChange};
use crate::sky::{AntennaLink, ContactLink, Sky};
use crate::steering::{Label, Steering};

/// Contacts and routes of a plan over a network.
pub struct SkySource<'p> {
    pub(crate) plan: &'p ContactPlan,
    pub(crate) sky: &'p Sky,
    pub(crate) wires: Planned,
    pub(crate) router: Router<'p>,
    /// Next hops that satellites have asked these routes for.
    hops: Hops,
    /// True for each node that is a host, which takes what comes by the antenna of its address only.
    is_host: Vec<bool>,
    /// Changes of the plan that have been made.
    pub(crate) changes_made: usize,
    /// By antenna: the contacts that it has, in the order in which they began.
    pub(crate) held: Vec<Vec<ContactId>>,
    /// By link between satellites: the contact that it has.
    pub(crate) joined: FxHashMap<LinkId, ContactId>,
    /// By group and destination: which destination of the router it is.
    roots: Vec<Vec<Root>>,
    /// By site, and antenna if it is one only: which destination of the router it is.
    trees: FxHashMap<(ContactNodeId, Option<u16>), usize>,
    /// Changes that the instant has made to antennas so far, and by antenna the place of its turn there.
    turns: Vec<Turn>,
    turn_of: Vec<Option<usize>>,
    handovers: Vec<AntennaHandover>,
    /// Handovers that are to be told soon, if any are.
    pub(crate) told: Option<Vec<AntennaHandover>>,
    /// By direction of the network: the node that receives, and the delay, of those that are no contacts.
    wired: Vec<(NodeId, Delay)>,
    followed: Vec<Followed>,
    path_changes: Vec<PathChange>,
    /// Interval at which routes are worked out besides, and the next instant.
    readings: Option<Readings>,
    /// Number of times that routes have been worked out.
    pub(crate) route_revision: usize,
    /// By antenna: those of its node to the same satellites, itself among them, in their order.
    pub(crate) fellows: Vec<Vec<u32>>,
    pub(crate) steering: Steering,
}

/// Target of packets of a group's satellites for a destination.
pub(crate) struct Landing {
    /// The antenna that the ground's own routes name.
    pub(crate) antenna: u32,
    /// Site of that antenna.
    pub(crate) foot: ContactNodeId,
    /// The site to which routes lead: the same, or one behind cables, to which any gateway may be the nearest.
    pub(crate) site: ContactNodeId,
    /// The tree of these routes.
    pub(crate) tree: usize,
}

/// A destination as the satellites of a group see it.
#[derive(Clone, Copy)]
enum Root {
    /// No way leads there.
    Nowhere,
    /// A destination of the router.
    Tree(usize),
    /// A way of its own.
    Way(usize),
    /// Nobody has sent anything there yet.
    Unknown,
}

/// Times at which routes are worked out beside changes.
#[derive(Clone, Copy, Debug)]
struct Readings {
    interval: Duration,
    next: Instant,
}

/// Changes that one instant makes to an antenna.
#[derive(Clone, Copy)]
struct Turn {
    antenna: usize,
    from: Option<ContactId>,
    uplink: LeftBehind,
    downlink: LeftBehind,
}

impl<'p> SkySource<'p> {
    /// The source of a graph in which a sky was [declared](Sky::declare) over this plan. While an antenna holds two
    /// satellites, routes lead by the one that it took last. Of the plan's sites and cables those count that are nodes
    /// and links of the network.
    pub fn new(
        plan: &'p ContactPlan,
        sky: &'p Sky,
        graph: &NetworkGraph,
        routes: route::RouteConfig,
    ) -> Self {
        Self {
            plan,
            sky,
            wires: Planned::new(graph),
            router: Router::within(
                plan,
                &[],
                route::RouteConfig { overlap: Overlap::Latest, ..routes },
                &|contact| sky.carries(contact),
            ),
            hops: Hops::new(graph.nodes().count()),
            is_host: graph.nodes().map(|node| graph.host_place(node).is_some()).collect(),
            changes_made: 0,
            held: vec![Vec::new(); sky.antennas().len()],
            joined: FxHashMap::default(),
            roots: vec![Vec::new(); sky.groups.len()],
            trees: FxHashMap::default(),
            turns: Vec::new(),
            turn_of: vec![None; sky.antennas().len()],
            handovers: Vec::new(),
            told: None,
            wired: Vec::new(),
            followed: Vec::new(),
            path_changes: Vec::new(),
            readings: None,
            route_revision: 0,
            fellows: sky.fellows(),
            steering: Steering::default(),
        }
    }

    /// Has routes be worked out at an interval, too, with the delays of then.
    ///
    /// # Panics
    /// If the interval is zero.
    #[must_use]
    pub fn recomputing_every(mut self, interval: Duration) -> Self {
        assert!(!interval.is_zero(), "routes are worked out again and again");
        self.readings = Some(Readings { interval, next: Instant::START.saturating_add(interval) });
        self
    }

    /// Follows the paths of ways from the start of the run on.
    pub fn follow(&mut self, graph: &NetworkGraph, ways: &[Way]) {
        let directions = graph.links().flat_map(|link| [link.forward(), link.reverse()]);
        self.wired = directions
            .map(|direction| (graph.node_of(direction.receiver()), graph.direction(direction).delay.clone()))
            .collect();
        self.followed = ways.iter().map(|&way| Followed { way, seen: None }).collect();
    }

    /// Takes the changes of paths since this was last asked, in the order of time. Each way has a change at the start,
    /// which says that there is no path where there is none.
    pub fn take_path_changes(&mut self) -> Vec<PathChange> {
        core::mem::take(&mut self.path_changes)
    }

    /// Takes the handovers of antennas since this was last asked, in the order of time. Each antenna has a handover at
    /// the start, from no satellite to its first one, or to none.
    pub fn take_handovers(&mut self) -> Vec<AntennaHandover> {
        core::mem::take(&mut self.handovers)
    }

    /// Makes all changes of the plan that are due by `now`.
    fn make_changes(&mut self, now: Instant, links: &mut Links<'_>) {
        while let Some(change) = self.plan.changes().get(self.changes_made).filter(|change| change.at <= now)
        {
            self.changes_made += 1;
            let id = change.contact;
            match self.sky.contacts[id.index()] {
                // The network's own script takes cables down and up.
                ContactLink::Cable { .. } | ContactLink::Unused => {}
                ContactLink::InterSatellite { link, table } => {
                    self.change_isl(id, (link, table), change.begins, links);
                }
                ContactLink::Ground { antenna, link } => {
                    let antenna = antenna as usize;
                    let turn = self.turn(antenna);
                    if change.begins {
                        self.begin_ground(id, antenna, link, links);
                    } else {
                        self.end_ground(id, antenna, link, turn, links);
                    }
                }
            }
        }
        let mut reroutes = false;
        for turn in core::mem::take(&mut self.turns) {
            self.turn_of[turn.antenna] = None;
            let had_none = turn.from.is_none();
            if had_none != self.held[turn.antenna].is_empty() {
                reroutes |= self.lead_over_antenna(turn.antenna, had_none);
            }
            let handover = self.handover(now, turn);
            if let Some(told) = &mut self.told {
                told.extend(handover);
            }
            self.handovers.extend(handover);
        }
        if reroutes {
            self.forget_ground();
        }
        while self.router.next_change().is_some_and(|at| at <= now) {
            self.router.step();
        }
        if let Some(readings) = &mut self.readings
            && readings.next <= now
        {
            readings.next = readings.next.saturating_add(readings.interval);
            self.router.reread(now);
        }
        self.route_revision += 1;
        self.hops.forget();
        self.note_paths(now);
    }

    /// Has the ground's own routes count on an antenna that holds a satellite, and lead by any other way while it holds
    /// none; whether they follow what changes.
    fn lead_over_antenna(&mut self, antenna: usize, holds: bool) -> bool {
        if !self.wires.is_dynamic() {
            return false;
        }
        for link in &self.sky.antennas()[antenna].links {
            for direction in [link.forward(), link.reverse()] {
                self.wires.set_idle(direction, !holds);
            }
        }
        true
    }

    /// Forgets where packets come down: what is on the ground may be reached by another gateway now.
    fn forget_ground(&mut self) {
        self.roots.iter_mut().for_each(Vec::clear);
        self.steering.goals.iter_mut().for_each(Vec::clear);
    }

    /// Notes the antennas that begin without a satellite: a gap at the start is seen as any other is.
    fn note_empty_antennas(&mut self) {
        let empty = self.held.iter().enumerate().filter(|(_, held)| held.is_empty());
        let none = LeftBehind::default();
        self.handovers.extend(empty.map(|(antenna, _)| AntennaHandover {
            at: Instant::START,
            antenna,
            from: None,
            to: None,
            cause: ContactCause::SpanBegins,
            uplink: none,
            downlink: none,
        }));
    }

    /// Notes the ways whose paths have changed.
    fn note_paths(&mut self, now: Instant) {
        for place in 0..self.followed.len() {
            let found = self.path(now, self.followed[place].way);
            let (path, delay, shared) = match found {
                Some((path, delay, shared)) => (Some(path), delay, shared),
                None => (None, Duration::ZERO, None),
            };
            let seen = &mut self.followed[place].seen;
            let is_known = seen.as_ref().is_some_and(|known| (&known.0, known.1) == (&path, shared));
            if !is_known {
                let change = PathChange { at: now, way: place, path: path.clone(), delay, shared };
                self.path_changes.push(change);
                *seen = Some((path, shared));
            }
        }
    }

    /// The path of a way at present, its delay, and how many satellites it shares with the other way of two.
    fn path(&mut self, now: Instant, way: Way) -> Option<(Vec<ContactNodeId>, Duration, Option<u32>)> {
        let (mut path, mut delay) = (Vec::new(), Duration::ZERO);
        let (mut direction, mut destination, mut shared) =
            self.pinned_way(way.leaving.outbound(), way.destination)?;
        // A packet passes so many nodes at most.
        for _ in 0..u8::MAX {
            let link = direction.sender().link();
            let (node, hop) = if let Some(&antenna) = self.sky.antenna_of.get(&link) {
                let is_up = direction == link.forward();
                let held = &self.held[antenna as usize];
                let is_of = |id: &&ContactId| {
                    let of = self.sky.contacts[id.index()];
                    matches!(of, ContactLink::Ground { link: own, .. } if own == link)
                };
                let id = if is_up { held.last() } else { held.iter().find(is_of) }.copied()?;
                let contact = self.plan.contact(id);
                let body = if is_up { contact.a } else { contact.b };
                (self.node(body), self.plan.delay(id).at(now))
            } else if let Some(&id) = self.joined.get(&link) {
                let contact = self.plan.contact(id);
                let body = if direction == link.forward() { contact.b } else { contact.a };
                (self.node(body), self.plan.delay(id).at(now))
            } else {
                let (node, delay) = &self.wired[direction.index()];
                (*node, delay.at(now))
            };
            delay = delay.saturating_add(hop);
            if node == way.to {
                return Some((path, delay, shared));
            }
            path.extend(self.sky.bodies.get(node.index()).copied().flatten());
            let next = self.next_hop(node, destination)?;
            let of_way;
            (direction, destination, of_way) = self.pinned_way(next, destination)?;
            shared = of_way.or(shared);
        }
        None
    }

    /// The place of an antenna's turn in the changes of this instant.
    fn turn(&mut self, antenna: usize) -> usize {
        let Self { turns, turn_of, held, .. } = self;
        *turn_of[antenna].get_or_insert_with(|| {
            let (from, none) = (held[antenna].last().copied(), LeftBehind::default());
            turns.push(Turn { antenna, from, uplink: none, downlink: none });
            turns.len() - 1
        })
    }

    fn change_isl(
        &mut self,
        id: ContactId,
        (link, table): (LinkId, usize),
        begins: bool,
        links: &mut Links<'_>,
    ) {
        let contact = self.plan.contact(id);
        if begins {
            self.joined.insert(link, id);
        } else {
            self.joined.remove(&link);
        }
        for (direction, from, to) in
            [(link.forward(), contact.a, contact.b), (link.reverse(), contact.b, contact.a)]
        {
            if begins {
                let to = LinkContact { receiver: self.node(to), port: None };
                links.begin_contact(direction, to, self.delay(id));
            } else {
                links.end_contact(direction, self.node(from), self.sky.isl_at_handover[table]);
            }
        }
    }

    fn begin_ground(&mut self, id: ContactId, antenna: usize, link: LinkId, links: &mut Links<'_>) {
        let contact = self.plan.contact(id);
        let access = self.sky.antennas()[antenna].access;
        let port = self.sky.ports.get(&(contact.a.0, access)).copied();
        let down = LinkContact { receiver: self.node(contact.b), port };
        links.begin_contact(link.reverse(), down, self.delay(id));
        self.held[antenna].push(id);
        self.send_up(id, antenna, links);
    }

    /// Has an antenna send to the satellite of a contact.
    fn send_up(&self, id: ContactId, antenna: usize, links: &mut Links<'_>) {
        let up = LinkContact { receiver: self.node(self.plan.contact(id).a), port: None };
        links.begin_contact(self.uplink(antenna), up, self.delay(id));
    }

    fn end_ground(
        &mut self,
        id: ContactId,
        antenna: usize,
        link: LinkId,
        turn: usize,
        links: &mut Links<'_>,
    ) {
        let contact = self.plan.contact(id);
        let access = &self.sky.access[self.sky.antennas()[antenna].access];
        let left = links.end_contact(link.reverse(), self.node(contact.a), access.downlink_at_handover);
        add(&mut self.turns[turn].downlink, left);
        let held = &mut self.held[antenna];
        let was_last = held.last() == Some(&id);
        held.retain(|&other| other != id);
        if !was_last {
            return;
        }
        if let Some(other) = held.last().copied() {
            return self.send_up(other, antenna, links);
        }
        let site = self.node(contact.b);
        let left = links.end_contact(self.uplink(antenna), site, access.uplink_at_handover);
        add(&mut self.turns[turn].uplink, left);
    }

    /// Gives the handover that an instant has come to for an antenna, if it sends by another satellite than before, or
    /// something was left behind.
    fn handover(&self, at: Instant, turn: Turn) -> Option<AntennaHandover> {
        let to = self.held[turn.antenna].last().copied();
        let left = turn.uplink != LeftBehind::default() || turn.downlink != LeftBehind::default();
        if to == turn.from && !left {
            return None;
        }
        let cause = match (turn.from.map(|from| self.plan.contact(from)), to) {
            (Some(from), _) if from.end <= at => from.closes,
            (_, Some(to)) => self.plan.contact(to).opens,
            (Some(from), None) => from.closes,
            (None, None) => return None,
        };
        let satellite = |id: Option<ContactId>| id.map(|id| self.plan.contact(id).a);
        let Turn { antenna, from, uplink, downlink } = turn;
        Some(AntennaHandover {
            at,
            antenna,
            from: satellite(from),
            to: satellite(to),
            cause,
            uplink,
            downlink,
        })
    }

    pub(crate) fn uplink(&self, antenna: usize) -> DirectionId {
        self.sky.antennas()[antenna].links[0].forward()
    }

    fn node(&self, body: ContactNodeId) -> NodeId {
        self.sky.nodes[body.index()].expect("contacts without a node are left out")
    }

    pub(crate) fn delay(&self, id: ContactId) -> impl Iterator<Item = DelayPiece> + use<'p> {
        self.plan.delay(id).polynomials().map(|piece| DelayPiece {
            end: piece.end,
            centre: piece.centre,
            per_nano: piece.per_nano,
            coefficients: piece.coefficients,
        })
    }

    /// By which antenna, and so by which tree, what is in the hands of a group's satellites comes down.
    #[inline]
    fn root(&mut self, destination: DestinationId, group: usize) -> Root {
        match self.roots[group].get(destination.index()) {
            Some(&root @ (Root::Tree(_) | Root::Nowhere | Root::Way(_))) => root,
            Some(Root::Unknown) | None => self.find_root(destination, group),
        }
    }

    #[cold]
    fn find_root(&mut self, destination: DestinationId, group: usize) -> Root {
        let found = match self.steering.read(destination) {
            None => self.land(destination, group).map(|landing| landing.tree),
            Some((_, Label::Way(way))) => return self.note_root(destination, group, Root::Way(way)),
            Some((destination, Label::Column(column))) => {
                self.goal(destination, group).and_then(|goal| goal.columns.get(column).copied())
            }
        };
        self.note_root(destination, group, found.map_or(Root::Nowhere, Root::Tree))
    }

    fn note_root(&mut self, destination: DestinationId, group: usize, root: Root) -> Root {
        let roots = &mut self.roots[group];
        if roots.len() <= destination.index() {
            roots.resize(destination.index() + 1, Root::Unknown);
        }
        roots[destination.index()] = root;
        root
    }

    /// Finds the target of packets of a group's satellites for a destination.
    pub(crate) fn land(&mut self, destination: DestinationId, group: usize) -> Option<Landing> {
        let last = self.wires.next_hop(self.sky.groups[group], destination)?;
        let antenna = *self.sky.antenna_of.get(&last.sender().link())?;
        let AntennaLink { site, antenna: own, .. } = self.sky.antennas()[antenna as usize];
        let foot = ContactNodeId::new(self.plan.satellite_count() + site);
        let site = self.behind_cables(foot, destination);
        let is_bound =
            site == foot && self.is_host[self.sky.node(site)?.index()] && self.balancer(site).is_none();
        let only = u16::try_from(own).ok().filter(|_| is_bound);
        Some(Landing { antenna, foot, site, tree: self.tree(site, only) })
    }

    /// The site to which the ground's own routes lead from another by cables alone. A host takes what comes by the
    /// cable of its address only, so that they end before it.
    fn behind_cables(&mut self, foot: ContactNodeId, destination: DestinationId) -> ContactNodeId {
        let mut site = foot;
        // No way has a cable twice.
        for _ in 0..self.sky.cables.len() {
            let next = self.sky.node(site).filter(|node| !self.is_host[node.index()]);
            let next = next.and_then(|node| self.sky.along_cable(self.wires.next_hop(node, destination)?));
            match next.and_then(|node| self.site_at(node)) {
                Some(next) => site = next,
                None => break,
            }
        }
        site
    }

    /// The site at which a node stands that sends on what is not for itself.
    fn site_at(&self, node: NodeId) -> Option<ContactNodeId> {
        let body = self.sky.bodies.get(node.index()).copied().flatten();
        body.filter(|_| !self.is_host[node.index()])
    }

    /// The direction by which a site sends a packet on for which the ground's own routes name a cable: that of the
    /// routes over the sky, of which cables are a part.
    #[cold]
    fn hop_by_cable(
        &mut self,
        from: ContactNodeId,
        cable: DirectionId,
        destination: DestinationId,
    ) -> Option<DirectionId> {
        let mut direction = cable;
        let mut group = 0;
        for _ in 0..=self.sky.cables.len() {
            let Some(next) = self.sky.along_cable(direction) else {
                let antenna = self.sky.antenna_of.get(&direction.sender().link());
                group = antenna.map_or(0, |&antenna| self.sky.group_of_antenna[antenna as usize]);
                break;
            };
            match self.hop_on_the_ground(next, destination) {
                Some(further) => direction = further,
                None => break,
            }
        }
        let hop =
            if self.sky.groups.is_empty() { None } else { self.next_hop_in_sky(from, group, destination) };
        hop.or(Some(cable))
    }

    /// The tree towards a site, by any of its antennas or by one.
    pub(crate) fn tree(&mut self, site: ContactNodeId, only: Option<u16>) -> usize {
        let Self { trees, router, .. } = self;
        *trees.entry((site, only)).or_insert_with(|| router.add_destination(site, only))
    }

    /// The direction by which a body of the plan sends a packet on over the sky.
    pub(crate) fn next_hop_in_sky(
        &mut self,
        from: ContactNodeId,
        group: usize,
        destination: DestinationId,
    ) -> Option<DirectionId> {
        match self.root(destination, group) {
            Root::Tree(tree) => {
                let hop = self.router.next_hop(from, tree);
                match hop {
                    Some(hop) => self.direction_over(from, hop),
                    None => self.next_hop_otherwise(from, group, destination),
                }
            }
            Root::Nowhere | Root::Unknown => None,
            Root::Way(way) => self.next_hop_of_way(from, group, (destination, way)),
        }
    }

    /// The direction by which a body sends over a contact.
    pub(crate) fn direction_over(&self, from: ContactNodeId, hop: Hop) -> Option<DirectionId> {
        // A contact's first end is the lower of the two.
        let is_first = from < hop.next;
        match self.sky.contacts[hop.contact.index()] {
            ContactLink::Unused => None,
            ContactLink::Cable { link } => {
                let is_first = self.sky.cables[&link].ends[0] == from;
                Some(if is_first { link.forward() } else { link.reverse() })
            }
            ContactLink::InterSatellite { link, .. } if is_first => Some(link.forward()),
            ContactLink::InterSatellite { link, .. } => Some(link.reverse()),
            ContactLink::Ground { link, .. } if is_first => Some(link.reverse()),
            ContactLink::Ground { antenna, .. } => Some(self.uplink(antenna as usize)),
        }
    }

    /// The direction that a packet takes at a node. A satellite's is kept if all packets for a destination take it.
    #[inline(never)]
    fn find_next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        let body = self.sky.bodies.get(node.index()).copied().flatten();
        match body {
            Some(body) if !self.plan.is_site(body) => {
                let group = self.sky.group_of_satellite[body.index()]?;
                let direction = self.next_hop_in_sky(body, group, destination)?;
                // Ways of labels are worked out when a packet is sent by one, and not when routes change.
                if let Root::Tree(_) = self.root(destination, group) {
                    self.hops.keep(node, destination, direction);
                }
                Some(direction)
            }
            Some(body) => {
                let direction = self.hop_on_the_ground(node, destination)?;
                let Some(&antenna) = self.sky.antenna_of.get(&direction.sender().link()) else {
                    return match self.sky.along_cable(direction) {
                        Some(_) => self.hop_by_cable(body, direction, destination),
                        None => Some(direction),
                    };
                };
                // Of several antennas to one sky, that by which the way is shortest.
                let group = self.sky.group_of_antenna[antenna as usize];
                self.next_hop_in_sky(body, group, destination).or(Some(direction))
            }
            None => self.hop_on_the_ground(node, destination),
        }
    }
}

impl Changeable for SkySource<'_> {
    fn add_change(&mut self, graph: &NetworkGraph, at: Instant, direction: DirectionId, change: Change) {
        self.wires.add_change(graph, at, direction, change);
    }
}

impl Source for SkySource<'_> {
    fn begin(&mut self, links: &mut Links<'_>) {
        for direction in self.steered() {
            links.steer(direction);
        }
        for antenna in 0..self.held.len() {
            self.lead_over_antenna(antenna, false);
        }
        self.make_changes(Instant::START, links);
        self.note_empty_antennas();
    }

    fn next_change(&self) -> Instant {
        let contact =
            self.plan.changes().get(self.changes_made).map_or(Instant::FAR_FUTURE, |change| change.at);
        let reading = self.readings.map_or(Instant::FAR_FUTURE, |readings| readings.next);
        contact.min(self.wires.next_change()).min(reading)
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        if self.wires.next_change() <= now {
            self.wires.apply(now, links);
            self.forget_ground();
        }
        self.make_changes(now, links);
    }

    #[inline]
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        self.hops.get(node, destination).or_else(|| self.find_next_hop(node, destination))
    }

    fn steer(&mut self, leaving: &Leaving<'_>) -> Option<(DirectionId, DestinationId)> {
        self.steer_up(leaving)
    }

    fn leave(
        &mut self,
        direction: DirectionId,
        destination: DestinationId,
    ) -> Option<(DirectionId, DestinationId)> {
        self.pinned_way(direction, destination).map(|(direction, destination, _)| (direction, destination))
    }
}

fn add(sum: &mut LeftBehind, more: LeftBehind) {
    sum.handed_over += more.handed_over;
    sum.held += more.held;
    sum.lost += more.lost;
}
