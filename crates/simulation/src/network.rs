//! Points, links and loads put together: what one gives is handed to the next until nothing is left to do.

use std::collections::VecDeque;

use slantpath_base::{Instant, Seed};
use slantpath_sigtran::m3ua;
use slantpath_sigtran::transport::{Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, LinkId};
use slantpath_ss7::mtp3::{self, ServiceIndicator};
use slantpath_ss7::sccp::{self, Indication};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::config::{
    AdaptationId, AssociationSide, Carried, NetworkConfig, NetworkConfigError, PointConfig, PointId, Side,
    SignallingLinkId, UserPlace,
};
use super::link::{EndCounters, Link, Wanted};
use super::load::{Load, LoadReport};
use super::m3ua::{AdaptationEvent, AdaptationTally, M3ua, Witness};
use super::record::Event;

/// What a network asks of its driver.
#[derive(Debug)]
pub enum Output {
    /// An association is to end at once; who opened it opens it again.
    Abort(AssociationSide),
    /// An association is to end at once, and to stay closed.
    Close(AssociationSide),
    /// An association that was closed is to be opened again.
    Open(AssociationSide),
    /// A message for an association.
    Transmit(AssociationSide, Transmit),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

#[derive(Debug)]
pub(super) struct Point {
    code: PointCode,
    pub(super) mtp3: mtp3::Node,
    pub(super) sccp: Option<sccp::Node>,
    /// By the numbers of MTP3: which link, and which end of it is here.
    pub(super) links: Vec<(SignallingLinkId, Side)>,
    deadline: Option<Instant>,
    /// Messages that came to a user and belong to no load.
    strangers: u64,
}

/// A network of signalling points under load.
#[derive(Debug)]
pub struct SignallingNetwork {
    pub(super) points: Vec<Point>,
    pub(super) m3ua: M3ua,
    pub(super) links: Vec<Link>,
    /// When each end of each link wants to be called.
    deadlines: Vec<[Option<Instant>; 2]>,
    pub(super) loads: Vec<Load>,
    pub(super) events: Vec<Event>,
    pub(super) outputs: VecDeque<Output>,
}

impl SignallingNetwork {
    /// Makes a network whose links begin to align when it is first polled. Random streams derive from `seed` and the
    /// names of links and loads.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Panics
    /// If a link names a point that is not there, or a link that the point's MTP3 does not know.
    pub fn new(config: NetworkConfig, seed: Seed) -> Result<Self, NetworkConfigError> {
        let NetworkConfig { points, links, m3ua, loads } = config;
        let m3ua = M3ua::new(m3ua, &points)?;
        let mut points = points.into_iter().map(Point::new).collect::<Result<Vec<_>, _>>()?;
        for (number, link) in links.iter().enumerate() {
            for (end, side) in link.ends.iter().zip(Side::BOTH) {
                let places = &mut points[end.point.0].links;
                places[usize::from(end.link.0)] = (SignallingLinkId(number), side);
            }
        }
        let deadlines = vec![[None; 2]; links.len()];
        let links = links.into_iter().enumerate().map(|(number, link)| Link::new(link, number, seed));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        let load = |config: super::LoadConfig| {
            let name = config.name.clone();
            Load::new(config, seed).map_err(|error| NetworkConfigError::Generator { load: name, error })
        };
        let loads = loads.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let mut network =
            Self { points, m3ua, links, deadlines, loads, events: Vec::new(), outputs: VecDeque::new() };
        for point in 0..network.points.len() {
            let count = u16::try_from(network.points[point].links.len()).unwrap_or(u16::MAX);
            for link in 0..count {
                network.points[point].mtp3.activate(Instant::START, LinkId(link));
            }
        }
        Ok(network)
    }

    /// An association tells something to what it carries.
    pub fn handle_transport(&mut self, now: Instant, end: AssociationSide, input: TransportInput) {
        match end.carried {
            Carried::Adaptation(id) => self.handle_adaptation(now, id, end.side, input),
            Carried::Link(link) => self.links[link.0].handle_transport(now, end.side, input),
        }
    }

    /// A line breaks; both terminals hear it. Says whether there was a line that worked: an association breaks with the
    /// paths below it.
    pub fn fail_line(&mut self, now: Instant, link: SignallingLinkId) -> bool {
        self.links[link.0].fail(now)
    }

    /// A line works again. Says whether there was a broken one.
    pub fn restore_line(&mut self, now: Instant, link: SignallingLinkId) -> bool {
        self.links[link.0].restore(now)
    }

    /// Management at both ends takes a link out of service: traffic changes over in order.
    pub fn deactivate(&mut self, now: Instant, link: SignallingLinkId) {
        for end in self.links[link.0].ends {
            self.points[end.point.0].mtp3.deactivate(now, end.link);
        }
    }

    /// Management at both ends brings a link back into service.
    pub fn activate(&mut self, now: Instant, link: SignallingLinkId) {
        for end in self.links[link.0].ends {
            self.points[end.point.0].mtp3.activate(now, end.link);
        }
    }

    /// Does all there is to do by `now`, and says what to send next, or until when nothing is to be done.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            if !self.turn(now) {
                return Output::Wait(self.deadline());
            }
        }
    }

    /// What happened so far, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What an end of a link has counted.
    pub fn link_counters(&self, link: SignallingLinkId, side: Side) -> EndCounters {
        self.links[link.0].counters(side)
    }

    /// What the message transfer part of a point has counted.
    pub fn mtp3_counters(&self, point: PointId) -> &node::Counters {
        self.points[point.0].mtp3.counters()
    }

    /// What the SCCP of a point has counted, if it has one.
    pub fn sccp_counters(&self, point: PointId) -> Option<&sccp::Counters> {
        self.points[point.0].sccp.as_ref().map(sccp::Node::counters)
    }

    /// What happened to gateways, processes and application servers so far, in order.
    pub fn adaptation_events(&self) -> &[AdaptationEvent] {
        self.m3ua.events()
    }

    /// What an end of an association between a gateway and a process has sent and received.
    pub fn adaptation_tally(&self, association: AdaptationId, side: Side) -> AdaptationTally {
        self.m3ua.tally(association, side)
    }

    /// What M3UA of a gateway or a process has counted, and how many messages wait there.
    pub fn m3ua_counters(&self, witness: Witness) -> (&m3ua::Counters, usize) {
        self.m3ua.counters(witness)
    }

    /// Messages that came to a user of any point and belong to no load.
    pub fn strangers(&self) -> u64 {
        let served = self.m3ua.points.iter().map(|point| point.strangers);
        self.points.iter().map(|point| point.strangers).chain(served).sum()
    }

    /// Messages that came to a user of a point and belong to no load.
    pub fn strangers_at(&self, point: PointId) -> u64 {
        self.points[point.0].strangers
    }

    /// The message transfer part of a point, for what it has measured.
    pub fn mtp3(&self, point: PointId) -> &mtp3::Node {
        &self.points[point.0].mtp3
    }

    /// The links at a point, by the numbers of its MTP3: which link, and which end of it is there.
    pub fn links_at(&self, point: PointId) -> &[(SignallingLinkId, Side)] {
        &self.points[point.0].links
    }

    /// What level 2 at an end of a link has refused or thrown away, by reason, and its name.
    pub fn link_discards(
        &self,
        link: SignallingLinkId,
        side: Side,
    ) -> (&'static str, Vec<(&'static str, u64)>) {
        self.links[link.0].discards(side)
    }

    /// What became of a load's messages up to `now`, for each of its links.
    pub fn load_reports(&mut self, now: Instant, load: usize) -> Vec<LoadReport> {
        self.loads.get_mut(load).map(|load| load.reports(now)).unwrap_or_default()
    }

    /// One round through everything. Says whether something was handed on.
    fn turn(&mut self, now: Instant) -> bool {
        let mut is_busy = false;
        for link in 0..self.links.len() {
            for side in Side::BOTH {
                is_busy |= self.drain_link(now, link, side);
            }
        }
        for point in 0..self.points.len() {
            is_busy |= self.drain_point(now, point);
        }
        is_busy |= self.turn_m3ua(now);
        for load in 0..self.loads.len() {
            is_busy |= self.drain_load(now, load);
        }
        is_busy
    }

    fn deadline(&self) -> Option<Instant> {
        let links = self.deadlines.iter().flatten().copied();
        let lines = self.links.iter().map(Link::next_arrival);
        let points = self.points.iter().map(|point| point.deadline);
        let loads = self.loads.iter().map(Load::deadline);
        links.chain(lines).chain(points).chain(loads).chain([self.m3ua.deadline()]).flatten().min()
    }

    fn drain_link(&mut self, now: Instant, number: usize, side: Side) -> bool {
        let mut is_busy = false;
        loop {
            let link = &mut self.links[number];
            match link.poll(now, side) {
                Wanted::Indication(indication) => {
                    let end = link.ends[side as usize];
                    self.points[end.point.0].mtp3.handle_link(now, end.link, indication);
                }
                Wanted::Transmit(transmit) => {
                    let end = AssociationSide { carried: Carried::Link(SignallingLinkId(number)), side };
                    self.outputs.push_back(Output::Transmit(end, transmit));
                }
                Wanted::Wait(deadline) => {
                    self.deadlines[number][side as usize] = deadline;
                    return is_busy;
                }
            }
            is_busy = true;
        }
    }

    fn drain_point(&mut self, now: Instant, number: usize) -> bool {
        let mut is_busy = false;
        loop {
            let point = &mut self.points[number];
            match point.mtp3.poll_output(now) {
                node::Output::Link(link, request) => {
                    let (link, side) = point.links[usize::from(link.0)];
                    self.links[link.0].request(now, side, request);
                }
                node::Output::Indication(user, indication) => self.indicate(now, number, user, indication),
                node::Output::Management(event) => self.note(now, number, event),
                node::Output::Wait(deadline) => {
                    let Some(sccp) = point.sccp.as_mut() else {
                        point.deadline = deadline;
                        return is_busy;
                    };
                    match sccp.poll_output(now) {
                        // What MTP3 refuses it has counted under its reason.
                        sccp::Output::Transfer(transfer) => drop(point.mtp3.transfer(now, &transfer)),
                        sccp::Output::Indication { ssn, indication } => {
                            let code = point.code;
                            if let Indication::Unitdata { data, .. } = &indication {
                                self.arrived_unitdata(
                                    now,
                                    UserPlace::Point(PointId(number)),
                                    code,
                                    ssn,
                                    data,
                                );
                            } else {
                                self.coordinate(now, number, ssn, &indication);
                            }
                        }
                        sccp::Output::Wait(own) => {
                            point.deadline = deadline.into_iter().chain(own).min();
                            return is_busy;
                        }
                    }
                }
            }
            is_busy = true;
        }
    }

    /// MTP3 tells a user of a point something.
    pub(super) fn indicate(
        &mut self,
        now: Instant,
        point: usize,
        user: ServiceIndicator,
        indication: TransferIndication,
    ) {
        let gateway = self.m3ua.gateway_at(PointId(point));
        if gateway.is_some_and(|gateway| self.m3ua.gateways[gateway].handle_mtp3(now, &indication)) {
            return;
        }
        if !matches!(indication, TransferIndication::Transfer(_)) {
            let place = UserPlace::Point(PointId(point));
            let own = self.loads.iter_mut().filter(|load| load.from == place);
            own.filter(|load| load.service() == user).for_each(|load| load.tell(now, &indication));
        }
        match (&mut self.points[point].sccp, &indication) {
            (Some(sccp), _) if user == ServiceIndicator::SCCP => sccp.handle_indication(now, indication),
            (_, TransferIndication::Transfer(transfer)) => {
                self.arrived(now, UserPlace::Point(PointId(point)), transfer);
            }
            _ => {}
        }
    }

    /// A unitdata came to a subsystem of a point.
    pub(super) fn arrived_unitdata(
        &mut self,
        now: Instant,
        place: UserPlace,
        at: PointCode,
        ssn: sccp::Ssn,
        data: &[u8],
    ) {
        let is_known = self.loads.iter_mut().any(|load| load.arrived_unitdata(now, at, ssn, data));
        *self.strangers_of(place) += u64::from(!is_known);
    }

    /// A message came to a user part of a point.
    pub(super) fn arrived(&mut self, now: Instant, place: UserPlace, transfer: &Transfer) {
        let is_known = self.loads.iter_mut().any(|load| load.arrived(now, transfer));
        *self.strangers_of(place) += u64::from(!is_known);
    }

    fn strangers_of(&mut self, place: UserPlace) -> &mut u64 {
        match place {
            UserPlace::Point(point) => &mut self.points[point.0].strangers,
            UserPlace::Served(point) => &mut self.m3ua.points[point.0].strangers,
        }
    }

    fn drain_load(&mut self, now: Instant, number: usize) -> bool {
        let load = &mut self.loads[number];
        let mut is_busy = false;
        for destination in load.begin(now).into_iter().flatten() {
            let is_accessible = match load.from {
                UserPlace::Point(point) => self.points[point.0].mtp3.is_accessible(destination),
                UserPlace::Served(point) => self.m3ua.is_accessible(point, destination),
            };
            if !is_accessible {
                load.tell(now, &TransferIndication::Pause(destination));
            }
            is_busy = true;
        }
        while let Some(message) = load.poll(now) {
            let is_taken = match load.from {
                UserPlace::Point(point) => self.points[point.0].mtp3.transfer(now, &message.transfer).is_ok(),
                UserPlace::Served(point) => self.m3ua.transfer(point, &message.transfer),
            };
            if !is_taken {
                load.refused(&message);
            }
            is_busy = true;
        }
        is_busy
    }
}

impl Point {
    fn new(config: PointConfig) -> Result<Self, NetworkConfigError> {
        let name = config.mtp3.name.clone();
        let code = config.mtp3.point_code;
        let count = config.mtp3.link_sets.iter().map(|link_set| link_set.links.len()).sum();
        let mtp3 = mtp3::Node::new(config.mtp3).map_err(|errors| {
            let error = errors.into_iter().next().expect("a refusal has a fault");
            NetworkConfigError::Mtp3 { point: name.clone(), error }
        })?;
        let sccp = config.sccp.map(|sccp| sccp_node(sccp, &name)).transpose()?;
        let links = vec![(SignallingLinkId(usize::MAX), Side::First); count];
        Ok(Self { code, mtp3, sccp, links, deadline: None, strangers: 0 })
    }
}

/// SCCP of the point of that name, with its subsystems in service.
pub(super) fn sccp_node(config: sccp::NodeConfig, name: &str) -> Result<sccp::Node, NetworkConfigError> {
    let subsystems: Vec<_> = config.subsystems.keys().copied().collect();
    let wrong = |error| NetworkConfigError::Sccp { point: name.to_owned(), error };
    let mut node = sccp::Node::new(config).map_err(wrong)?;
    for ssn in subsystems {
        let is_known = node.set_subsystem(Instant::START, ssn, true);
        debug_assert_eq!(is_known, Ok(()), "the subsystems are the node's own");
    }
    Ok(node)
}
