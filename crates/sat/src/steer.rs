//! By which antenna a packet goes up, and by which way from there, where a site has a choice.

use slantpath_net::{DestinationId, DirectionId, Leaving, LinkEnd, NetworkGraph, NodeId, Source};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::route::Hop;

use crate::source::{Landing, SkySource};
use crate::steering::{Balance, Balancer, Goal, Label, SiteRoute, Steering, Ways};

impl SkySource<'_> {
    /// Has sites of the plan spread what they send over their antennas to one sky, and what comes down to them, and
    /// packets between two sites take routes of their own. What antennas receive is spread where packets go up; of
    /// gateways that relay it is not.
    #[must_use]
    pub fn steering(
        mut self,
        graph: &NetworkGraph,
        balances: &[(usize, Balance)],
        routes: &[SiteRoute],
    ) -> Self {
        if !balances.is_empty() || !routes.is_empty() {
            let sites = self.plan.names().len() - self.plan.satellite_count();
            let columns = self.fellows.iter().map(Vec::len).max().unwrap_or(0);
            let counts = (sites, self.sky.groups.len(), columns);
            self.steering = Steering::new(graph, counts, balances, routes);
        }
        self
    }

    /// The directions of which it decides for every packet: those of antennas from which a route leads, and all to the
    /// satellites of an antenna whose site spreads its packets.
    pub(crate) fn steered(&self) -> Vec<DirectionId> {
        if self.steering.is_idle() {
            return Vec::new();
        }
        let pinned: Vec<ContactNodeId> = self.steering.pinned_sites().collect();
        let places = 0..self.sky.antennas().len();
        let balances = |place: usize| self.balancer(self.site_of(place)).is_some();
        let is_spread: Vec<bool> = (0..self.sky.groups.len())
            .map(|group| {
                places.clone().any(|place| self.sky.group_of_antenna[place] == group && balances(place))
            })
            .collect();
        let is_steered = |&place: &usize| {
            is_spread[self.sky.group_of_antenna[place]] || pinned.contains(&self.site_of(place))
        };
        places.filter(is_steered).map(|place| self.uplink(place)).collect()
    }

    fn site_of(&self, antenna: usize) -> ContactNodeId {
        ContactNodeId::new(self.plan.satellite_count() + self.sky.antennas()[antenna].site)
    }

    pub(crate) fn balancer(&self, site: ContactNodeId) -> Option<Balancer> {
        *self.steering.balancers.get(site.index() - self.plan.satellite_count())?
    }

    /// Finds the place at which packets for a destination come down.
    pub(crate) fn goal(&mut self, destination: DestinationId, group: usize) -> Option<&mut Goal> {
        let is_known =
            |goals: &Vec<Option<Goal>>| goals.get(destination.index()).is_some_and(Option::is_some);
        if !self.steering.goals.get(group).is_some_and(is_known) {
            self.find_goal(destination, group)?;
        }
        self.steering.goals[group][destination.index()].as_mut()
    }

    #[cold]
    fn find_goal(&mut self, destination: DestinationId, group: usize) -> Option<()> {
        let Landing { antenna, foot, site, tree } = self.land(destination, group)?;
        let mut columns = Vec::new();
        // Trees to a gateway that relays are not told apart by its antennas, nor are those to what is behind cables.
        if site == foot && self.balancer(site).is_some() && !self.plan.relays(site) {
            for fellow in self.fellows[antenna as usize].clone() {
                let only = u16::try_from(self.sky.antennas()[fellow as usize].antenna).ok();
                columns.push(self.tree(site, only));
            }
        }
        let goals = &mut self.steering.goals[group];
        if goals.len() <= destination.index() {
            goals.resize(destination.index() + 1, None);
        }
        goals[destination.index()] = Some(Goal { site, tree, columns, turn: 0 });
        Some(())
    }

    /// The satellite by which an antenna sends.
    fn satellite(&self, antenna: u32) -> Option<ContactNodeId> {
        self.held[antenna as usize].last().map(|&id| self.plan.contact(id).a)
    }

    /// Sends a packet up.
    pub(crate) fn steer_up(&mut self, leaving: &Leaving<'_>) -> Option<(DirectionId, DestinationId)> {
        let (given, labelled) = (leaving.direction(), leaving.destination());
        let antenna = self.sky.antenna_of[&given.sender().link()];
        let read = self.steering.read(labelled);
        let destination = read.map_or(labelled, |(destination, _)| destination);
        let (site, group) = (self.site_of(antenna as usize), self.sky.group_of_antenna[antenna as usize]);
        let balancer = self.balancer(site);
        let Some(goal) = self.goal(destination, group) else { return Some((given, destination)) };
        let (goal_site, goal_tree) = (goal.site, goal.tree);
        let ways = self.steering.ways(&self.router, self.route_revision, (site, goal_site));
        if let Some(Ways::Fixed(way)) = ways {
            return self.up_by_way(site, way, destination);
        }
        let chosen = match balancer {
            Some(balancer) => {
                self.choose_antenna(leaving, (antenna, site), balancer, |sky, antenna| match ways {
                    Some(ways) => {
                        sky.way_of(ways, antenna).is_some_and(|way| sky.steering.way(way).path.is_some())
                    }
                    None => sky.leads(site, antenna, goal_tree),
                })
            }
            None => antenna,
        };
        if let Some(way) = ways.and_then(|ways| self.way_of(ways, chosen))
            && let Some(sent) = self.up_by_way(site, way, destination)
        {
            return Some(sent);
        }
        // On its way over the ground a packet keeps the antenna by which it is to come down.
        if balancer.is_none() && matches!(read, Some((_, Label::Column(_)))) {
            return Some((given, labelled));
        }
        let label = self.choose_column(leaving, chosen, destination, group);
        Some((self.uplink(chosen as usize), label))
    }

    fn way_of(&self, ways: Ways, antenna: u32) -> Option<usize> {
        ways.of_antenna(self.sky.antennas()[antenna as usize].antenna)
    }

    /// Sends a packet up by a labelled way, if that has a path.
    fn up_by_way(
        &self,
        site: ContactNodeId,
        way: usize,
        destination: DestinationId,
    ) -> Option<(DirectionId, DestinationId)> {
        let path = self.steering.way(way).path.as_ref()?;
        let hop = Hop { contact: path.contacts[0], next: path.nodes[1] };
        Some((self.direction_over(site, hop)?, self.steering.label(destination, Label::Way(way))))
    }

    /// Tells if the satellite of an antenna leads to the root of a tree, and not back by the same site.
    fn leads(&self, site: ContactNodeId, antenna: u32, tree: usize) -> bool {
        let Some(distance) =
            self.satellite(antenna).and_then(|satellite| self.router.distance(satellite, tree))
        else {
            return false;
        };
        // What relays sends only to where it is nearer: so nothing goes round.
        !self.plan.relays(site) || self.router.distance(site, tree).is_some_and(|own| distance < own)
    }

    /// The antenna by which a packet goes up; that by which it would have gone if none may.
    fn choose_antenna(
        &mut self,
        leaving: &Leaving<'_>,
        (given, site): (u32, ContactNodeId),
        balancer: Balancer,
        may: impl Fn(&Self, u32) -> bool,
    ) -> u32 {
        let own = &self.fellows[given as usize];
        let mut usable = in_turn(own.len(), balancer.turn).filter(|&place| may(self, own[place]));
        let chosen = match balancer.balance {
            Balance::ByBacklog => {
                usable.min_by_key(|&place| leaving.wait_at(self.uplink(own[place] as usize)))
            }
            Balance::PerFlow => usable.max_by_key(|&place| leaving.flow_hash(place as u64)),
            Balance::PerPacket => usable.next(),
        };
        let Some(place) = chosen else { return given };
        let chosen = own[place];
        let site = site.index() - self.plan.satellite_count();
        if let Some(balancer) = &mut self.steering.balancers[site] {
            balancer.turn = place + 1;
        }
        chosen
    }

    /// By which antenna of its goal a packet comes down that goes up by another: its label.
    fn choose_column(
        &mut self,
        leaving: &Leaving<'_>,
        antenna: u32,
        destination: DestinationId,
        group: usize,
    ) -> DestinationId {
        let Some(satellite) = self.satellite(antenna) else { return destination };
        let Some(Some(goal)) = self.steering.goals[group].get_mut(destination.index()) else {
            return destination;
        };
        let Some(balancer) = self.steering.balancers[goal.site.index() - self.plan.satellite_count()] else {
            return destination;
        };
        let leads = |&place: &usize| self.router.distance(satellite, goal.columns[place]).is_some();
        let mut usable = in_turn(goal.columns.len(), goal.turn).filter(leads);
        let chosen = match balancer.balance {
            // What waits at another satellite is not known here.
            Balance::ByBacklog | Balance::PerPacket => usable.next(),
            Balance::PerFlow => usable.max_by_key(|&place| leaving.flow_hash(place as u64)),
        };
        let Some(place) = chosen else { return destination };
        goal.turn = place + 1;
        self.steering.label(destination, Label::Column(place))
    }

    /// Gives the way of a packet by a direction where two sites have routes for each other: the direction, the label,
    /// and how many nodes two ways share. Nothing while a fixed route is away.
    pub(crate) fn pinned_way(
        &mut self,
        direction: DirectionId,
        labelled: DestinationId,
    ) -> Option<(DirectionId, DestinationId, Option<u32>)> {
        let link = direction.sender().link();
        let Some(&antenna) = self.sky.antenna_of.get(&link).filter(|_| direction == link.forward()) else {
            return Some((direction, labelled, None));
        };
        let (site, group) = (self.site_of(antenna as usize), self.sky.group_of_antenna[antenna as usize]);
        let destination = self.steering.read(labelled).map_or(labelled, |(destination, _)| destination);
        if self.steering.is_idle() {
            return Some((direction, labelled, None));
        }
        let Some(goal) = self.goal(destination, group).map(|goal| goal.site) else {
            return Some((direction, destination, None));
        };
        let ways = self.steering.ways(&self.router, self.route_revision, (site, goal));
        let way = ways.and_then(|ways| self.way_of(ways, antenna));
        let sent = way.and_then(|way| self.up_by_way(site, way, destination));
        match (ways, sent) {
            (Some(Ways::Disjoint { shared, .. }), Some((direction, label))) => {
                Some((direction, label, shared))
            }
            (Some(Ways::Fixed(_)), sent) => sent.map(|(direction, label)| (direction, label, None)),
            _ => Some((direction, destination, None)),
        }
    }

    /// The next hop of a packet on a labelled way. Beside it, it takes the shortest route, if it may.
    #[cold]
    pub(crate) fn next_hop_of_way(
        &mut self,
        from: ContactNodeId,
        group: usize,
        (label, way): (DestinationId, usize),
    ) -> Option<DirectionId> {
        let way = self.steering.way(way);
        let on_path = way.path.as_ref().and_then(|path| {
            let place = path.nodes.iter().position(|&node| node == from)?;
            Some(Hop { contact: *path.contacts.get(place)?, next: path.nodes[place + 1] })
        });
        match on_path {
            Some(hop) => self.direction_over(from, hop),
            None if way.may_leave => self.next_hop_otherwise(from, group, label),
            None => None,
        }
    }

    /// The next hop of a packet to which its label leads no more.
    #[cold]
    pub(crate) fn next_hop_otherwise(
        &mut self,
        from: ContactNodeId,
        group: usize,
        label: DestinationId,
    ) -> Option<DirectionId> {
        let (destination, _) = self.steering.read(label)?;
        self.next_hop_in_sky(from, group, destination)
    }

    /// The direction by which a node on the ground sends a packet on, whatever its label.
    #[inline]
    pub(crate) fn hop_on_the_ground(&mut self, node: NodeId, label: DestinationId) -> Option<DirectionId> {
        match self.wires.next_hop(node, label) {
            Some(direction) => Some(direction),
            None => self.labelled_hop_on_the_ground(node, label),
        }
    }

    #[cold]
    fn labelled_hop_on_the_ground(&mut self, node: NodeId, label: DestinationId) -> Option<DirectionId> {
        let (destination, _) = self.steering.read(label)?;
        self.wires.next_hop(node, destination)
    }
}

/// So many places, from one on and round.
fn in_turn(count: usize, first: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| (first + step) % count)
}
