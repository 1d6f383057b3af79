//! State of a seat, for who operates it.

use std::collections::BTreeMap;

use slantpath_applications::Host;
use slantpath_base::{Duration, Instant};
use slantpath_control::{
    AssociationStatus, GatewayStatus, NamedCounts, PathStatus, ProcessStatus, RouteStatus, ServerStatus,
    SignallingLinkStatus, TitleStatus,
};
use slantpath_live::PathState;
use slantpath_signalling::SignallingPoint;
use slantpath_signalling::network::{Carried, SignallingEntity};
use slantpath_sigtran::asp::{AsState, AspState};
use slantpath_sigtran::m3ua;
use slantpath_ss7::mtp3::node::{
    DiscardReason, LinkActivity, LocalInhibition, Mtp3LinkId, RemoteInhibition, RouteState,
};
use slantpath_ss7::{PointCode, sccp};

use super::{Phase, Seat};

/// Names of points by their codes.
pub(super) struct PointNames<'a>(BTreeMap<PointCode, &'a str>);

impl PointNames<'_> {
    /// Name of the point of a code; the number of one that nobody has.
    pub(super) fn of(&self, code: PointCode) -> String {
        self.0.get(&code).map_or_else(|| code.0.to_string(), |name| (*name).to_owned())
    }
}

impl Seat {
    /// Gives its state at `now`.
    pub fn status(&self, now: Instant, host: &mut Host) -> GatewayStatus {
        GatewayStatus {
            at_s: now.since_start().as_secs_f64(),
            gateway: self.own_name().to_owned(),
            phase: match self.phase {
                Phase::Serving => "serving",
                Phase::Leaving(_) => "leaving",
                Phase::Closing(_) => "closing",
                Phase::Over => "over",
            },
            links: self.entity.as_point().map(|point| self.link_states(point)).unwrap_or_default(),
            routes: self.route_states(),
            associations: self.association_states(now, host),
            application_servers: self.server_states(),
            titles: self.sccps().map(|(name, counters)| (name, titles(counters))).collect(),
            counters: self.counters().into_iter().collect(),
            discards: self.discards().into_iter().collect(),
        }
    }

    /// Name of the point or the process.
    pub(super) fn own_name(&self) -> &str {
        match self.named {
            SignallingEntity::Point(id) => &self.network.points[id.0].mtp3.name,
            SignallingEntity::Process(id) => &self.network.m3ua.asps[id.0].name,
        }
    }

    /// Name of a link by its number in MTP3.
    pub(super) fn link_name(&self, link: Mtp3LinkId) -> &str {
        &self.network.links[self.links[usize::from(link.0)].0].name
    }

    /// Names of points by their codes, kept.
    pub(super) fn points_by_code(&self) -> BTreeMap<PointCode, String> {
        self.point_names().0.into_iter().map(|(code, name)| (code, name.to_owned())).collect()
    }

    /// Names of points by their codes.
    pub(super) fn point_names(&self) -> PointNames<'_> {
        // Of two with one code the first.
        PointNames(self.named_points().rev().collect())
    }

    /// Name of the point of a code; the number of one that nobody has.
    pub(super) fn point_name(&self, code: PointCode) -> String {
        let name = self.named_points().find(|(own, _)| *own == code).map(|(_, name)| name);
        name.map_or_else(|| code.0.to_string(), str::to_owned)
    }

    fn named_points(&self) -> impl DoubleEndedIterator<Item = (PointCode, &str)> {
        let points = self.network.points.iter().map(|point| (point.mtp3.point_code, &point.mtp3.name[..]));
        points.chain(self.network.m3ua.points.iter().map(|point| (point.code, &point.name[..])))
    }

    /// Name of the process at either end of an association of M3UA; `None` of one that carries a link.
    pub(super) fn process_of(&self, place: usize) -> Option<&str> {
        match self.associations[place].config.carried {
            Carried::Adaptation(id) => {
                let asp = self.network.m3ua.associations[id.0].asp;
                Some(&self.network.m3ua.asps[asp.0].name)
            }
            Carried::Link(_) => None,
        }
    }

    /// SCCP of the point, or of each point that a process serves, by the point's name.
    pub(super) fn sccps(&self) -> impl Iterator<Item = (String, &sccp::Counters)> {
        let own = self.entity.as_point().and_then(|point| point.sccp_counters());
        let own = own.map(|counters| (self.own_name().to_owned(), counters));
        let names = self.point_names();
        let served = self.entity.served().iter();
        let served =
            served.filter_map(move |(.., point)| Some((names.of(point.code()), point.sccp_counters()?)));
        own.into_iter().chain(served)
    }

    /// Counts of M3UA, and the number of messages that wait there.
    pub(super) fn m3ua(&self) -> Option<(&m3ua::Counters, usize)> {
        let of_process = || self.entity.as_process().map(|process| (process.counters(), 0));
        self.entity.as_point().and_then(SignallingPoint::gateway_counters).or_else(of_process)
    }

    fn link_states(&self, point: &SignallingPoint) -> Vec<SignallingLinkStatus> {
        let (mtp3, names) = (point.mtp3(), self.point_names());
        let mut states = Vec::new();
        let sets = mtp3.config().link_sets.iter();
        let links = sets.flat_map(|set| set.links.iter().map(move |_| set));
        for (set, link) in links.zip((0..).map(Mtp3LinkId)) {
            let (here, there) = mtp3.inhibition(link);
            let inhibited = [
                (here != LocalInhibition::Uninhibited, "here"),
                (there != RemoteInhibition::Uninhibited, "there"),
            ];
            let measured = mtp3.link_measurements(link);
            states.push(SignallingLinkStatus {
                link: self.link_name(link).to_owned(),
                link_set: set.name.clone(),
                adjacent: names.of(set.adjacent),
                state: activity_name(mtp3.link_activity(link)),
                is_available: mtp3.is_link_available(link),
                inhibited: inhibited.into_iter().filter_map(|(is_so, end)| is_so.then_some(end)).collect(),
                sent_msus: measured.sent_msus,
                received_msus: measured.received_msus,
                queued_msus: point.link_queue(link) as u64,
            });
        }
        states
    }

    fn route_states(&self) -> Vec<RouteStatus> {
        let Some(point) = self.entity.as_point() else { return self.destinations_of_process() };
        let (mtp3, names) = (point.mtp3(), self.point_names());
        let state = |route: slantpath_ss7::mtp3::node::RouteMeasurements| RouteStatus {
            destination: names.of(route.destination),
            is_accessible: mtp3.is_accessible(route.destination),
            over: mtp3.config().link_sets.get(usize::from(route.link_set.0)).map(|set| set.name.clone()),
            priority: route.priority,
            state: route_name(route.state),
        };
        mtp3.route_measurements().map(state).collect()
    }

    /// Destinations of a process: it may speak to every point but those that it serves.
    fn destinations_of_process(&self) -> Vec<RouteStatus> {
        let served: Vec<PointCode> = self.entity.served().iter().map(|(.., point)| point.code()).collect();
        let names = self.point_names();
        let network = self.entity.served().first().and_then(|(_, network, _)| *network);
        let points = self.network.points.iter().map(|point| point.mtp3.point_code);
        let all = points.chain(self.network.m3ua.points.iter().map(|point| point.code));
        let state = |code| {
            let is_accessible =
                self.entity.as_process().is_some_and(|process| process.reaches((network, code)));
            RouteStatus {
                destination: names.of(code),
                is_accessible,
                over: None,
                priority: 0,
                state: route_name(if is_accessible { RouteState::Allowed } else { RouteState::Prohibited }),
            }
        };
        all.filter(|code| !served.contains(code)).map(state).collect()
    }

    fn association_states(&self, now: Instant, host: &mut Host) -> Vec<AssociationStatus> {
        let state = |end: &super::Association| {
            let counts = end.counts();
            let paths = end.socket().map(|socket| host.sctp_paths(now, socket)).unwrap_or_default();
            let path = |path: slantpath_live::PathSnapshot| PathStatus {
                path: path.destination,
                source: path.source,
                state: path_name(path.state),
                is_primary: path.is_primary,
                srtt_s: path.srtt.map(Duration::as_secs_f64),
                rto_s: path.rto.as_secs_f64(),
            };
            AssociationStatus {
                association: end.config.name.clone(),
                state: end.state_name(),
                sent: counts.sent,
                received: counts.received,
                waiting: end.waiting() as u64,
                discarded_down: counts.discarded_down,
                discarded_full: counts.discarded_full,
                returned: counts.returned,
                in_doubt: counts.in_doubt,
                takes_nothing: end.standstill.is_on(),
                standstills: end.standstill.times(),
                standstill_s: end.standstill.lasted(now).as_secs_f64(),
                times_up: counts.times_up,
                times_lost: counts.times_lost,
                paths: paths.into_iter().map(path).collect(),
            }
        };
        self.associations.iter().map(state).collect()
    }

    pub(super) fn server_states(&self) -> Vec<ServerStatus> {
        let gateway = self.entity.as_point().and_then(SignallingPoint::gateway_process);
        let mut states = Vec::new();
        for server in &self.network.m3ua.servers {
            let context = server.routing_context;
            let state = gateway.and_then(|gateway| gateway.as_state(context));
            let is_own = match self.named {
                SignallingEntity::Point(_) => state.is_some(),
                SignallingEntity::Process(id) => server.asps.contains(&id),
            };
            if !is_own {
                continue;
            }
            let process = |(place, end): (usize, &super::Association)| {
                let Carried::Adaptation(id) = end.config.carried else { return None };
                let serves = server.asps.contains(&self.network.m3ua.associations[id.0].asp);
                let number = self.number(place);
                let state = match (gateway, self.entity.as_process()) {
                    (Some(gateway), _) => gateway.asp_state(number, context),
                    (None, Some(process)) => process.state(number, context),
                    (None, None) => AspState::Down,
                };
                let asp = self.process_of(place)?.to_owned();
                let association = end.config.name.clone();
                serves.then(|| ProcessStatus { asp, association, state: asp_name(state) })
            };
            states.push(ServerStatus {
                application_server: server.name.clone(),
                routing_context: context,
                state: state.map(as_name),
                processes: self.associations.iter().enumerate().filter_map(process).collect(),
            });
        }
        states
    }

    fn counters(&self) -> Vec<(&'static str, NamedCounts)> {
        let named = |counts: &[(&str, u64)]| {
            counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<NamedCounts>()
        };
        let mut all = Vec::new();
        if let Some(point) = self.entity.as_point() {
            let own = point.mtp3().counters();
            let counts = [
                ("accepted", own.accepted),
                ("delivered", own.delivered),
                ("retrieved", own.retrieved),
                ("sent", own.sent),
                ("transferred", own.transferred),
                ("waiting", point.mtp3().waiting() as u64),
            ];
            all.push(("mtp3", named(&counts)));
        }
        if let Some((own, waiting)) = self.m3ua() {
            let counts = [
                ("errors_received", own.errors_received),
                ("errors_sent", own.errors_sent),
                ("forwarded", own.forwarded),
                ("ignored", own.ignored),
                ("indicated", own.indicated),
                ("malformed", own.malformed),
                ("received", own.received),
                ("requested", own.requested),
                ("returned", own.returned),
                ("waiting", waiting as u64),
            ];
            all.push(("m3ua", named(&counts)));
        }
        let mut sccp = NamedCounts::new();
        for (_, own) in self.sccps() {
            for (name, count) in [
                ("delivered", own.delivered),
                ("received", own.received),
                ("relayed", own.relayed),
                ("returned", own.returned.values().sum()),
                ("sent", own.sent),
            ] {
                *sccp.entry(name.to_owned()).or_default() += count;
            }
        }
        if !sccp.is_empty() {
            all.push(("sccp", sccp));
        }
        all.push(("users", named(&[("arrived", self.arrived), ("strangers_refused", self.strangers)])));
        all
    }

    /// Messages that were discarded, by the layer and its reason; reasons without any are left out.
    pub(super) fn discards(&self) -> Vec<(&'static str, NamedCounts)> {
        let mut all = self.discarded_before.clone();
        let mut add = |layer, reason: String, count: u64| {
            if count > 0 {
                *all.entry(layer).or_default().entry(reason).or_default() += count;
            }
        };
        if let Some(point) = self.entity.as_point() {
            let counters = point.mtp3().counters();
            for reason in DiscardReason::ALL {
                add("mtp3", reason.name().to_owned(), counters.discarded(reason));
            }
            for link in (0..).map(Mtp3LinkId).take(self.links.len()) {
                let (layer, reasons) = point.link_discards(link);
                for (reason, count) in reasons {
                    add(layer, reason.to_owned(), count);
                }
            }
        }
        if let Some((counters, _)) = self.m3ua() {
            for reason in m3ua::DropReason::ALL {
                add("m3ua", reason.name().to_owned(), counters.dropped(reason));
            }
            add("m3ua", "payload-protocol".to_owned(), counters.wrong_payload_protocol);
        }
        for (_, counters) in self.sccps() {
            for (reason, count) in &counters.discarded {
                add("sccp", reason.name(), *count);
            }
        }
        for end in &self.associations {
            let counts = end.counts();
            add("association", "down".to_owned(), counts.discarded_down);
            add("association", "no-room".to_owned(), counts.discarded_full);
        }
        all.into_iter().collect()
    }

    /// Goes on counting what had been discarded before a reload, by links and associations that are no more.
    pub(super) fn keep_discards(&mut self, before: Vec<(&'static str, NamedCounts)>) {
        let left: BTreeMap<_, _> = self.discards().into_iter().collect();
        for (layer, reasons) in before {
            for (reason, count) in reasons {
                let left = left.get(layer).and_then(|own| own.get(&reason)).copied().unwrap_or_default();
                if count > left {
                    let kept = self.discarded_before.entry(layer).or_default();
                    *kept.entry(reason).or_default() += count - left;
                }
            }
        }
    }
}

fn titles(counters: &sccp::Counters) -> TitleStatus {
    let untranslated = counters.untranslated.iter().map(|(cause, count)| (cause.name("-"), *count));
    TitleStatus { translated: counters.translated, untranslated: untranslated.collect() }
}

pub(super) const fn activity_name(activity: LinkActivity) -> &'static str {
    match activity {
        LinkActivity::Aligning => "aligning",
        LinkActivity::Available => "available",
        LinkActivity::Deactivating => "deactivating",
        LinkActivity::Inactive => "inactive",
        LinkActivity::Retrieving => "retrieving",
        LinkActivity::Testing => "testing",
        LinkActivity::Waiting => "waiting",
    }
}

const fn route_name(state: RouteState) -> &'static str {
    match state {
        RouteState::Allowed => "allowed",
        RouteState::Prohibited => "prohibited",
        RouteState::Restricted => "restricted",
    }
}

const fn path_name(state: PathState) -> &'static str {
    match state {
        PathState::Active => "active",
        PathState::Inactive => "inactive",
        PathState::PotentiallyFailed => "potentially-failed",
        PathState::Unconfirmed => "unconfirmed",
    }
}

const fn as_name(state: AsState) -> &'static str {
    match state {
        AsState::Active => "active",
        AsState::Down => "down",
        AsState::Inactive => "inactive",
        AsState::Pending => "pending",
    }
}

const fn asp_name(state: AspState) -> &'static str {
    match state {
        AspState::Active => "active",
        AspState::Down => "down",
        AspState::Inactive => "inactive",
    }
}
