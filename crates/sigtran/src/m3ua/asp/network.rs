//! The routes to destinations and their state (RFC 4666, sections 1.3.2.5 and 4.5.2).

use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use crate::affected::AffectedCodes;
use crate::asp::{AspState, ErrorCode, ServerName};
use crate::m3ua::asp::{Asp, AspOutput, AvailabilityPolicy, Destination};
use crate::m3ua::{
    AffectedDestinations, Availability, DestinationState, Message, NetworkPoint, UnavailabilityCause,
    destination,
};
use crate::transport::AssociationNumber;

/// The routes to one destination, and what users were told of it.
#[derive(Clone, Debug)]
pub(super) struct RouteSet {
    routes: Vec<Route>,
    indicated: DestinationState,
}

/// The way over one gateway.
#[derive(Clone, Copy, Debug)]
struct Route {
    gateway: AssociationNumber,
    priority: u8,
    state: DestinationState,
    audit: Audit,
}

/// State of the audit of a route: what has been asked and answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Audit {
    /// Nothing is asked.
    #[default]
    Idle,
    /// SCON without a level has come: it is to be asked about when the period ends.
    Due,
    /// DAUD was sent. A DAVA or DRST without a SCON before it says that there is no congestion.
    Asked,
}

impl Route {
    /// Tells whether the last news was bad, so that the gateway is asked again.
    fn is_doubtful(self) -> bool {
        self.state.availability != Availability::Available
            || self.state.congestion > 0
            || self.audit == Audit::Due
    }
}

impl RouteSet {
    pub(super) fn new(destination: &Destination) -> (NetworkPoint, Self) {
        let route = |&(gateway, priority): &(AssociationNumber, u8)| Route {
            gateway,
            priority,
            state: DestinationState::default(),
            audit: Audit::Idle,
        };
        let routes = destination.gateways.iter().map(route).collect();
        let place = (destination.network_appearance, destination.point_code);
        (place, Self { routes, indicated: DestinationState::default() })
    }

    /// Routes of another configuration, of which those over the same gateways keep their state.
    pub(super) fn succeeding(destination: &Destination, former: &Self) -> Self {
        let (_, mut own) = Self::new(destination);
        for route in &mut own.routes {
            let before = former.routes.iter().find(|before| before.gateway == route.gateway);
            if let Some(before) = before {
                (route.state, route.audit) = (before.state, before.audit);
            }
        }
        Self { indicated: former.indicated, ..own }
    }

    /// Tells if it leads over a gateway, and did not before.
    pub(super) fn is_new_over(&self, gateway: AssociationNumber, former: Option<&Self>) -> bool {
        let leads = |set: &Self| set.routes.iter().any(|route| route.gateway == gateway);
        leads(self) && !former.is_some_and(leads)
    }

    /// The state of the destination.
    pub(super) const fn state(&self) -> DestinationState {
        self.indicated
    }

    /// The gateway for a signalling link selection: the routes in use share.
    pub(super) fn choose(
        &self,
        sls: u8,
        usable: impl Fn(AssociationNumber) -> bool,
    ) -> Option<AssociationNumber> {
        let count = self.in_use(&usable).count().max(1);
        self.in_use(&usable).nth(usize::from(sls) % count).map(|route| route.gateway)
    }

    /// The routes that carry messages: of the usable ones the available before the restricted, then those of the lowest
    /// priority number.
    fn in_use(&self, usable: impl Fn(AssociationNumber) -> bool) -> impl Iterator<Item = &Route> {
        let rank = |route: &Route| {
            let better = Availability::Available as u8 - route.state.availability as u8;
            (better, route.priority)
        };
        let is_open = move |route: &Route| {
            route.state.availability != Availability::Unavailable && usable(route.gateway)
        };
        let best = self.routes.iter().filter(|route| is_open(route)).map(rank).min();
        self.routes.iter().filter(move |route| Some(rank(route)) == best && is_open(route))
    }
}

impl Asp {
    /// The state of a destination: what its routes make of it. One that is not configured is unavailable.
    pub fn destination(&self, place: NetworkPoint) -> DestinationState {
        self.routes.get(&place).map(RouteSet::state).unwrap_or_default()
    }

    /// Tells the gateways that this process, its host or one of its point codes is congested: 0 not at all, to 3.
    pub fn report_congestion(&mut self, (network, code): NetworkPoint, level: u8) {
        let gateways: Vec<AssociationNumber> = self.gateways.keys().copied().collect();
        for gateway in gateways {
            let contexts = self.active_contexts(gateway, network);
            if self.is_active(gateway, network) {
                let affected = destination::affected(network, &contexts, &[(0, code)]);
                self.send(
                    gateway,
                    &Message::Scon { affected, concerned: None, congestion_level: Some(level) },
                );
            }
        }
    }

    fn is_active(&self, gateway: AssociationNumber, network: Option<u32>) -> bool {
        self.servers_at(gateway).any(|server| {
            server.served.network_appearance == network
                && self.state(gateway, &server.served.name) == AspState::Active
        })
    }

    fn active_contexts(&self, gateway: AssociationNumber, network: Option<u32>) -> Vec<u32> {
        let active = self.servers_at(gateway).filter(|server| {
            server.served.network_appearance == network
                && self.state(gateway, &server.served.name) == AspState::Active
        });
        active.filter_map(|server| server.served.name.key().copied()).collect()
    }

    /// Traffic begins to flow: what the gateway has not told of is assumed, or asked for.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
    //# The ASP is newly ASP-ACTIVE or has been isolated
    //# from an SGP for an extended period.  The ASP MAY request the
    //# availability/congestion status of one or more SS7 destinations
    //# to which it expects to communicate.
    pub(super) fn begin_routes(&mut self, now: Instant, gateway: AssociationNumber, name: &ServerName<u32>) {
        if self.config.availability == AvailabilityPolicy::Assumed {
            let named = self.servers_at(gateway).find(|server| server.served.name == *name);
            let network = named.and_then(|server| server.served.network_appearance);
            for ((of, _), set) in &mut self.routes {
                for route in set.routes.iter_mut().filter(|route| *of == network && route.gateway == gateway)
                {
                    route.state.availability = Availability::Available;
                }
            }
        }
        self.settle_routes();
        self.audit(now, gateway);
    }

    /// A gateway is gone, and what it told with it.
    pub(super) fn forget_routes(&mut self, gateway: AssociationNumber) {
        for set in self.routes.values_mut() {
            for route in set.routes.iter_mut().filter(|route| route.gateway == gateway) {
                route.state = DestinationState::default();
                route.audit = Audit::Idle;
            }
        }
        if let Some(peer) = self.gateways.get_mut(&gateway) {
            peer.audit_at = None;
        }
        self.settle_routes();
    }

    pub(super) fn audit_if_due(&mut self, now: Instant, gateway: AssociationNumber) {
        let is_due = |peer: &mut crate::m3ua::asp::Peer| peer.audit_at.take_if(|at| *at <= now).is_some();
        if self.gateways.get_mut(&gateway).is_some_and(is_due) {
            self.audit(now, gateway);
        }
    }

    /// Asks a gateway for all destinations without good news, and plans to ask again.
    pub(super) fn audit(&mut self, now: Instant, gateway: AssociationNumber) {
        let mut networks: Vec<Option<u32>> = self.routes.keys().map(|(network, _)| *network).collect();
        networks.dedup();
        let mut has_asked = false;
        for network in networks {
            if !self.is_active(gateway, network) {
                continue;
            }
            let mut doubtful = Vec::new();
            for ((of, code), set) in &mut self.routes {
                for route in set.routes.iter_mut().filter(|route| *of == network && route.gateway == gateway)
                {
                    if route.is_doubtful() {
                        route.audit = Audit::Asked;
                        doubtful.push((0, *code));
                    }
                }
            }
            let contexts = self.active_contexts(gateway, network);
            for message in destination::audits(network, &contexts, &doubtful) {
                has_asked = true;
                self.send(gateway, &message);
            }
        }
        let again = has_asked.then_some(now + self.config.audit);
        if let Some(peer) = self.gateways.get_mut(&gateway) {
            peer.audit_at = again;
        }
    }

    /// DUNA, DAVA, DRST, SCON and DUPU of a gateway.
    pub(super) fn handle_network(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        message: &Message,
        octets: &[u8],
    ) {
        if !self.is_up(from) {
            self.counters.ignored += 1;
            return;
        }
        let (Message::Duna(affected)
        | Message::Dava(affected)
        | Message::Drst(affected)
        | Message::Scon { affected, .. }
        | Message::Dupu { affected, .. }) = message
        else {
            // DAUD is for gateways.
            self.send_error(from, ErrorCode::UNEXPECTED_MESSAGE, octets);
            return;
        };
        let unknown = self.unknown_contexts(from, affected);
        if !unknown.is_empty() {
            self.send_context_error(from, &unknown, octets);
            return;
        }
        let network = self.network_of(from, affected);
        let codes = AffectedCodes::of(&affected.point_codes);
        match message {
            Message::Duna(_) => self.each_route(from, network, &codes, |route| {
                route.state = DestinationState::default();
            }),
            Message::Dava(_) => self.set_available(from, network, &codes, Availability::Available),
            Message::Drst(_) => self.set_available(from, network, &codes, Availability::Restricted),
            Message::Scon { congestion_level: Some(level), .. } => {
                self.each_route(from, network, &codes, |route| {
                    route.state.congestion = *level;
                    // Before the answer to DAUD it says that the congestion still holds.
                    route.audit = Audit::Idle;
                });
            }
            Message::Scon { congestion_level: None, .. } => {
                self.pass_congestion(from, network, &codes);
            }
            Message::Dupu { cause, .. } => {
                self.handle_user_part(from, network, &affected.point_codes, *cause, octets);
                return;
            }
            _ => {}
        }
        self.settle_routes();
        //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
        //# A Timer originally set upon receipt of a DUNA, SCON,
        //# or DRST message has expired without a subsequent DAVA, DUNA,
        //# SCON, or DRST message updating the availability/congestion
        //# status of the affected Destination Point Codes.
        let mut routes = self.routes.values().flat_map(|set| &set.routes);
        let is_doubtful = routes.any(|route| route.gateway == from && route.is_doubtful());
        let again = now + self.config.audit;
        if let Some(peer) = self.gateways.get_mut(&from) {
            peer.audit_at = if is_doubtful { peer.audit_at.or(Some(again)) } else { None };
        }
    }

    fn unknown_contexts(&self, from: AssociationNumber, affected: &AffectedDestinations) -> Vec<u32> {
        let is_known = |context: &u32| {
            self.servers_at(from).any(|server| server.served.name.key().is_none_or(|own| own == context))
        };
        affected.routing_contexts.iter().copied().filter(|context| !is_known(context)).collect()
    }

    fn network_of(&self, from: AssociationNumber, affected: &AffectedDestinations) -> Option<u32> {
        let named = |name: &ServerName<u32>| match affected.routing_contexts.first() {
            Some(context) => name.key().is_none_or(|own| own == context),
            None => true,
        };
        let mut servers = self.servers_at(from).filter(|server| named(&server.served.name));
        affected.network_appearance.or_else(|| servers.next()?.served.network_appearance)
    }

    /// Visits the routes over a gateway to affected destinations.
    fn each_route(
        &mut self,
        from: AssociationNumber,
        network: Option<u32>,
        affected: &AffectedCodes,
        visit: impl Fn(&mut Route),
    ) {
        for ((of, code), set) in &mut self.routes {
            if *of == network && affected.contains(*code) {
                set.routes.iter_mut().filter(|route| route.gateway == from).for_each(&visit);
            }
        }
    }

    fn set_available(
        &mut self,
        from: AssociationNumber,
        network: Option<u32>,
        affected: &AffectedCodes,
        availability: Availability,
    ) {
        self.each_route(from, network, affected, |route| {
            if route.audit == Audit::Asked {
                route.state.congestion = 0;
            }
            route.state.availability = availability;
            route.audit = Audit::Idle;
        });
    }

    /// Congestion without a level has no status that lasts: users are told each time, as the message transfer part of
    /// an international network does.
    fn pass_congestion(&mut self, from: AssociationNumber, network: Option<u32>, affected: &AffectedCodes) {
        let of_network = self.routes.iter().filter(|((of, _), _)| *of == network);
        let named = of_network.filter(|((_, code), _)| affected.contains(*code));
        let concerned = named.filter(|(_, set)| {
            let usable = |gateway| self.is_active(gateway, network);
            set.in_use(usable).any(|route| route.gateway == from)
        });
        let codes: Vec<PointCode> = concerned.map(|((_, code), _)| *code).collect();
        self.each_route(from, network, affected, |route| {
            if route.audit == Audit::Idle {
                route.audit = Audit::Due;
            }
        });
        for affected in codes {
            let cause = StatusCause::Congestion(1);
            let indication = TransferIndication::Status { affected, cause };
            self.outputs.push_back(AspOutput::Indication(network, indication));
        }
    }

    fn handle_user_part(
        &mut self,
        from: AssociationNumber,
        network: Option<u32>,
        ranges: &[(u8, PointCode)],
        cause: UnavailabilityCause,
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
        //# The "Invalid Parameter Value" error is sent if a message is received
        //# with an invalid parameter value (e.g., a DUPU message was received
        //# with a Mask value other than "0".
        let user = u8::try_from(cause.user).ok().and_then(ServiceIndicator::new);
        let (&[(0, affected)], Some(user)) = (ranges, user) else {
            self.send_error(from, ErrorCode::INVALID_PARAMETER_VALUE, octets);
            return;
        };
        let reason = match cause.cause {
            1 => UserPartUnavailability::Unequipped,
            2 => UserPartUnavailability::Inaccessible,
            _ => UserPartUnavailability::Unknown,
        };
        let cause = StatusCause::UserPartUnavailable { user, reason };
        self.outputs
            .push_back(AspOutput::Indication(network, TransferIndication::Status { affected, cause }));
    }

    /// Derives the state of each destination from its routes, and tells users what is new.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-1.3.2.5
    //# the
    //# M3UA layer must maintain the status (availability, restriction,
    //# and/or congestion of route to destination) of the individual routes,
    //# derive the overall availability or congestion status of the
    //# destination from the status of the individual routes, and inform the
    //# MTP3 users of this derived status whenever it changes.
    pub(super) fn settle_routes(&mut self) {
        let mut news = Vec::new();
        for (place, set) in &self.routes {
            // Those in use are alike in availability, and of their congestion the worst counts: how free a route is
            // that carries nothing is of no use to anybody.
            let state = set
                .in_use(|gateway| self.is_active(gateway, place.0))
                .map(|route| {
                    let link = self.gateways.get(&route.gateway).and_then(|peer| peer.link);
                    let is_slow = link.is_some_and(|link| link.is_congested);
                    let congestion = route.state.congestion.max(u8::from(is_slow));
                    DestinationState { congestion, ..route.state }
                })
                .max_by_key(|state| state.congestion)
                .unwrap_or_default();
            if state != set.indicated {
                news.push((*place, state));
            }
        }
        for (place, state) in news {
            let Some(set) = self.routes.get_mut(&place) else { continue };
            let before = std::mem::replace(&mut set.indicated, state);
            self.indicate(place, before, state);
        }
    }

    pub(super) fn indicate(
        &mut self,
        (network, code): NetworkPoint,
        before: DestinationState,
        after: DestinationState,
    ) {
        let is_there = |state: DestinationState| state.availability != Availability::Unavailable;
        let mut indicate = |indication| self.outputs.push_back(AspOutput::Indication(network, indication));
        match (is_there(before), is_there(after)) {
            (true, false) => return indicate(TransferIndication::Pause(code)),
            (false, true) => indicate(TransferIndication::Resume(code)),
            _ => {}
        }
        if before.congestion != after.congestion {
            let cause = StatusCause::Congestion(after.congestion);
            indicate(TransferIndication::Status { affected: code, cause });
        }
    }
}
