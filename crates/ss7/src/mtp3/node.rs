//! MTP level 3 of one signalling point, without input and output: routing, and all of Q.704's management.
//!
//! The driver brings what links say and what users send, and drains [`Node::poll_output`] until it says when to come
//! again. Each procedure has its file, and its table in `machines`; this one holds them together.

mod changeover;
mod config;
mod congestion;
mod counters;
mod diversion;
mod diverted;
mod held;
mod id;
mod inhibiting;
mod interworking;
mod link;
mod link_test;
mod machines;
mod measurements;
mod measuring;
mod network;
mod reception;
mod reserve;
mod restart;
mod routes;
mod schedule;
mod succession;
mod table;
mod timers;
mod transmission;
mod usual;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::Instant;

pub use config::{
    Config, ConfigError, CongestionMethod, DestinationConfig, Function, LinkConfig, LinkSetConfig, Point,
    Procedure, RouteConfig, SequenceNumbers, Spread,
};
pub use counters::{Counters, DiscardReason};
pub use id::{LinkSetId, Mtp3LinkId};
pub use machines::changeover::{CHANGEOVER, ChangeoverAction, ChangeoverInput, ChangeoverState};
pub use machines::congestion::{
    CONGESTION_TEST, CongestionTestAction, CongestionTestInput, CongestionTestState,
};
pub use machines::diversion::{DIVERSION, DiversionAction, DiversionInput, DiversionState};
pub use machines::inhibiting::{
    InhibitError, LOCAL_INHIBITION, LocalInhibition, LocalInhibitionAction, LocalInhibitionInput,
    REMOTE_INHIBITION, RemoteInhibition, RemoteInhibitionAction, RemoteInhibitionInput,
};
pub use machines::link::{Ends, LINK_ACTIVITY, LinkActivity, LinkActivityAction, LinkActivityInput};
pub use machines::link_test::{LINK_TEST, LinkTestAction, LinkTestInput, LinkTestState};
pub use machines::restart::{
    ADJACENT_RESTART, AdjacentAction, AdjacentInput, AdjacentState, RESTART, RestartAction, RestartInput,
    RestartState,
};
pub use machines::routes::{ROUTE, RouteAction, RouteInput, RouteState};
pub use measurements::{DestinationMeasurements, LinkMeasurements, RouteMeasurements, Spells};
pub use network::{
    DeadAlternative, DeadAlternativeReason, NetworkFault, TimedChangeover, check_alternatives,
    check_changeovers, check_network,
};
pub use timers::{Mtp3Timer, TIMER_RANGES, TimerRange, Timers};
pub use usual::UsualLinks;

use crate::PointCode;
use crate::link::{LinkIndication, LinkRequest};
use crate::mtp3::{ManagementLayout, ServiceIndicator};
use crate::transfer::{StatusCause, Transfer, TransferIndication, UserPartUnavailability};
use diverted::LostTraffic;
use interworking::Served;
use machines::diversion::Diversion;
use machines::link::Link;
use schedule::{Key, Schedule};
use table::{NOWHERE, Table};

/// Outputs of a node, for its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Something for a link.
    Link(Mtp3LinkId, LinkRequest),
    /// Something for a user part; a message for a point code behind this point is for the interworking function.
    Indication(ServiceIndicator, TransferIndication),
    /// Something for people.
    Management(ManagementEvent),
    /// Nothing until the next input, or until this time.
    Wait(Option<Instant>),
}

/// Events that are reported to management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementEvent {
    /// A changeback ended without an acknowledgement: traffic goes to this link by time.
    ChangebackUnacknowledged(Mtp3LinkId),
    /// Traffic left a link without its far end's number: messages may be lost.
    ChangeoverWithoutSequence(Mtp3LinkId),
    /// A message for this destination came back to its origin.
    CircularRoute(PointCode),
    /// The far end does not let a link be inhibited.
    InhibitionDenied(Mtp3LinkId),
    /// The far end does not answer about the inhibition of a link.
    InhibitionUnanswered(Mtp3LinkId),
    /// A link is in service and tested.
    LinkAvailable(Mtp3LinkId),
    /// The congestion status of a link, 0 to 3.
    LinkCongestion(Mtp3LinkId, u8),
    /// A link is kept free of users' traffic.
    LinkInhibited(Mtp3LinkId),
    /// A link set has its first link.
    LinkSetAvailable(LinkSetId),
    /// A link set has no link any more.
    LinkSetUnavailable(LinkSetId),
    /// The test of a link failed twice.
    LinkTestFailed(Mtp3LinkId),
    /// A link has failed or was deactivated.
    LinkUnavailable(Mtp3LinkId),
    /// A link is open to users' traffic again.
    LinkUninhibited(Mtp3LinkId),
    /// The point restarts: no traffic yet.
    RestartBegun,
    /// Traffic flows: the restart of the point is over.
    RestartOver,
    /// The first message that a lost link would have carried has been handed to another one.
    TrafficDiverted {
        /// Link that was lost.
        from: Mtp3LinkId,
        /// Link that carries the message.
        to: Mtp3LinkId,
    },
}

#[derive(Clone, Debug)]
struct LinkSet {
    adjacent: PointCode,
    /// By their codes.
    links: Vec<Mtp3LinkId>,
    state: AdjacentState,
    unavailable: Spells,
}

/// MTP level 3 of one signalling point.
#[derive(Clone, Debug)]
pub struct Node {
    config: Config,
    layout: ManagementLayout,
    links: Vec<Link>,
    link_sets: Vec<LinkSet>,
    table: Table,
    /// Point codes behind this point.
    served: BTreeMap<PointCode, Served>,
    diversions: BTreeMap<u32, Diversion>,
    next_diversion: u32,
    next_changeback: u8,
    /// Of links that are lost.
    lost_traffic: Vec<LostTraffic>,
    /// The count of the next message.
    stamp: u64,
    /// Number of messages that are held.
    held: usize,
    restart: RestartState,
    /// Set while the destinations that a restart opens are gone through.
    is_restart_ending: bool,
    /// Set when what traffic does may not be what it ought to do any more.
    is_unsettled: bool,
    /// Congestion of this point itself, 0 to 3.
    overload: u8,
    schedule: Schedule,
    outputs: VecDeque<Output>,
    counters: Counters,
    now: Instant,
}

impl Node {
    /// A node with every link inactive and every destination inaccessible.
    ///
    /// # Errors
    /// Everything that is wrong with the configuration.
    pub fn new(config: Config) -> Result<Self, Vec<ConfigError>> {
        let faults = config.faults();
        let Some(layout) = ManagementLayout::of(config.format).filter(|_| faults.is_empty()) else {
            return Err(faults);
        };
        let (mut links, mut link_sets) = (Vec::new(), Vec::new());
        for (link_set, id) in config.link_sets.iter().zip(0_u16..) {
            let mut own = Vec::new();
            for link in &link_set.links {
                own.push((link.slc, Mtp3LinkId(u16::try_from(links.len()).unwrap_or(u16::MAX))));
                links.push(Link::new(LinkSetId(id), link.slc, link.sequence));
            }
            own.sort_by_key(|(slc, _)| *slc);
            let links = own.into_iter().map(|(_, id)| id).collect();
            link_sets.push(LinkSet {
                adjacent: link_set.adjacent,
                links,
                state: AdjacentState::Isolated,
                unavailable: Spells::default(),
            });
        }
        Ok(Self {
            table: Table::new(&config),
            served: config.served.iter().map(|code| (*code, Served::default())).collect(),
            config,
            layout,
            links,
            link_sets,
            diversions: BTreeMap::new(),
            next_diversion: 0,
            next_changeback: 0,
            lost_traffic: Vec::new(),
            stamp: 0,
            held: 0,
            restart: RESTART.initial,
            is_restart_ending: false,
            is_unsettled: false,
            overload: 0,
            schedule: Schedule::default(),
            outputs: VecDeque::new(),
            counters: Counters::default(),
            now: Instant::START,
        })
    }

    /// Takes what a link says.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn handle_link(&mut self, now: Instant, link: Mtp3LinkId, indication: LinkIndication) {
        self.now = now;
        self.level_2(now, link, indication);
        self.settle(now);
    }

    /// MTP-TRANSFER request: a user part's message. The origin in its label may be another than this point's own, for
    /// gateways.
    ///
    /// # Errors
    /// Why the message was discarded at once; it is counted under that reason.
    pub fn transfer(&mut self, now: Instant, transfer: &Transfer) -> Result<(), DiscardReason> {
        self.now = now;
        let accepted = self.accept(transfer);
        match accepted {
            Ok(()) => self.counters.accepted += 1,
            Err(reason) => self.counters.discard(reason),
        }
        accepted
    }

    /// The next thing to do, or how long nothing is to be done.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        self.now = now;
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            let Some(key) = self.schedule.take_expired(now) else {
                return Output::Wait(self.schedule.next_deadline());
            };
            self.expired(now, key);
            self.settle(now);
        }
    }

    /// A user part comes or goes. Messages for one that is not there are answered with UPU.
    pub fn equip_user(&mut self, user: ServiceIndicator, is_equipped: bool) {
        self.config.users.retain(|known| *known != user);
        if is_equipped {
            self.config.users.push(user);
        }
    }

    /// Gives the configuration of the node.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the counters of what was done and what was discarded.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Gives the number of messages that are held until a changeover, changeback or rerouting ends.
    pub const fn waiting(&self) -> usize {
        self.held
    }

    /// Tells if a destination can be reached. False for a destination that is not known here.
    pub fn is_accessible(&self, destination: PointCode) -> bool {
        match self.table.find(destination) {
            Some(index) => self.table.destination(index).bundle != NOWHERE,
            None => self.status_of_served(destination) == Some(RouteState::Allowed),
        }
    }

    /// The link that a message to a destination would take now; none if it cannot be reached or its traffic is being
    /// diverted.
    #[inline]
    pub fn link_for(&self, destination: PointCode, sls: crate::mtp3::Sls) -> Option<Mtp3LinkId> {
        let destination = self.table.destination(self.table.find(destination)?);
        let slot = self.table.slot(destination.bundle, sls.0);
        if destination.held.is_some() || slot.held.is_some() { None } else { slot.link }
    }

    fn expired(&mut self, now: Instant, key: Key) {
        match key {
            Key::Link(link, Mtp3Timer::T1) => self.changeover(now, link, ChangeoverInput::T1),
            Key::Link(link, Mtp3Timer::T2) => self.changeover(now, link, ChangeoverInput::T2),
            Key::Link(link, Mtp3Timer::T12) => {
                self.local_inhibition(now, link, LocalInhibitionInput::T12);
            }
            Key::Link(link, Mtp3Timer::T13) => {
                self.remote_inhibition(now, link, RemoteInhibitionInput::T13);
            }
            Key::Link(link, Mtp3Timer::T14) => {
                self.local_inhibition(now, link, LocalInhibitionInput::T14);
            }
            Key::Link(link, Mtp3Timer::T17) => {
                self.link_activity_input(now, link, LinkActivityInput::RestartDelayOver);
            }
            Key::Link(link, Mtp3Timer::T22) => {
                self.local_inhibition(now, link, LocalInhibitionInput::T22);
            }
            Key::Link(link, Mtp3Timer::T23) => {
                self.remote_inhibition(now, link, RemoteInhibitionInput::T23);
            }
            Key::Link(link, Mtp3Timer::T24) => self.local_processor_recovered(now, link),
            Key::Link(link, Mtp3Timer::TestT1) => self.link_test(now, link, LinkTestInput::T1),
            Key::Link(link, Mtp3Timer::TestT2) => self.link_test(now, link, LinkTestInput::T2),
            Key::LinkSet(link_set, Mtp3Timer::T21) => {
                self.adjacent_input(now, link_set, AdjacentInput::T21);
            }
            Key::Diversion(id, Mtp3Timer::T3) => self.diversion_input(now, id, DiversionInput::T3),
            Key::Diversion(id, Mtp3Timer::T4) => self.diversion_input(now, id, DiversionInput::T4),
            Key::Diversion(id, Mtp3Timer::T5) => self.diversion_input(now, id, DiversionInput::T5),
            Key::Diversion(id, Mtp3Timer::T6) => self.diversion_input(now, id, DiversionInput::T6),
            Key::Destination(index, Mtp3Timer::T11) => self.restricted(index),
            Key::Destination(index, Mtp3Timer::T15) => {
                self.congestion_test(now, index, CongestionTestInput::T15);
            }
            Key::Destination(index, Mtp3Timer::T16) => self.congestion_unconfirmed(now, index),
            Key::Node(Mtp3Timer::T18) => self.restart_input(now, RestartInput::T18),
            Key::Node(Mtp3Timer::T20) => self.restart_input(now, RestartInput::T20),
            Key::Route(destination, over) => self.route_input(now, destination, over, RouteInput::T10),
            // T8 and T19 only run: while they do, something is not said again. No other timer belongs to these.
            Key::Prohibited(..)
            | Key::ServedProhibited(..)
            | Key::Link(..)
            | Key::LinkSet(..)
            | Key::Diversion(..)
            | Key::Destination(..)
            | Key::Node(_) => {}
        }
    }

    fn start(&mut self, now: Instant, key: Key, timer: Mtp3Timer) {
        self.schedule.start(key, now.saturating_add(self.config.timers.value(timer)));
    }

    fn link(&self, link: Mtp3LinkId) -> &Link {
        &self.links[usize::from(link.0)]
    }

    fn link_mut(&mut self, link: Mtp3LinkId) -> &mut Link {
        &mut self.links[usize::from(link.0)]
    }

    fn link_set(&self, link_set: LinkSetId) -> &LinkSet {
        &self.link_sets[usize::from(link_set.0)]
    }

    fn link_set_mut(&mut self, link_set: LinkSetId) -> &mut LinkSet {
        &mut self.link_sets[usize::from(link_set.0)]
    }

    fn link_ids(&self) -> impl Iterator<Item = Mtp3LinkId> + use<> {
        (0_u16..).take(self.links.len()).map(Mtp3LinkId)
    }

    fn link_set_ids(&self) -> impl Iterator<Item = LinkSetId> + use<> {
        (0_u16..).take(self.link_sets.len()).map(LinkSetId)
    }

    fn available_links(&self, link_set: LinkSetId) -> impl Iterator<Item = Mtp3LinkId> {
        self.link_set(link_set).links.iter().copied().filter(|link| self.link(*link).is_available())
    }

    /// The point at the far end of a link set.
    ///
    /// # Panics
    /// If the node has no such link set.
    pub fn adjacent_of(&self, link_set: LinkSetId) -> PointCode {
        self.link_set(link_set).adjacent
    }

    /// The point at the far end of a link.
    fn adjacent(&self, link: Mtp3LinkId) -> PointCode {
        self.link_set(self.link(link).set).adjacent
    }

    fn request(&mut self, link: Mtp3LinkId, request: LinkRequest) {
        if let LinkRequest::Transmit(octets) = &request {
            let measured = &mut self.link_mut(link).measured;
            measured.sent_msus += 1;
            measured.sent_octets += octets.len() as u64;
        }
        self.outputs.push_back(Output::Link(link, request));
    }

    fn report(&mut self, event: ManagementEvent) {
        self.outputs.push_back(Output::Management(event));
    }

    fn indicate(&mut self, user: ServiceIndicator, indication: TransferIndication) {
        self.outputs.push_back(Output::Indication(user, indication));
    }

    fn indicate_all(&mut self, indication: &TransferIndication) {
        for at in 0..self.config.users.len() {
            self.indicate(self.config.users[at], indication.clone());
        }
        // The interworking function hears what users do; without one it hears it itself.
        if self.config.users.is_empty() && !self.config.served.is_empty() {
            self.indicate(ServiceIndicator::MANAGEMENT, indication.clone());
        }
    }

    /// A user part is missing at another point: the same user part of the point that is told gets an MTP-STATUS. What
    /// lies behind this point has users that this one does not know.
    fn user_part_unavailable(&mut self, told: PointCode, affected: PointCode, user: u8, cause: u8) {
        let Some(user) = ServiceIndicator::new(user) else {
            return self.counters.discard(DiscardReason::Malformed);
        };
        let reason = match cause {
            1 => UserPartUnavailability::Unequipped,
            2 => UserPartUnavailability::Inaccessible,
            _ => UserPartUnavailability::Unknown,
        };
        let cause = StatusCause::UserPartUnavailable { user, reason };
        if told != self.config.point_code || self.config.users.contains(&user) {
            self.indicate(user, TransferIndication::Status { affected, cause });
        } else {
            self.counters.discard(DiscardReason::UnknownSubject);
        }
    }
}
