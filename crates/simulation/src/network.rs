//! Points, processes, lines and loads put together: what one gives is handed to the next until nothing is left to do.
//!
//! Whatever has something to do is taken in rounds: lines, points, application server processes, served points, loads,
//! each kind in the order of the configuration.

use slantpath_base::{Deadlines, Instant, Rounds, Seed};
use slantpath_signalling::network::{
    self, AdaptationId, AspId, AssociationSide, Carried, GatewayId, LinkCarrier, NetworkConfig,
    NetworkConfigError, PointEnd, PointId, ServedPointId, Side, SignallingLinkId, SignallingProcess,
    UserPlace,
};
use slantpath_signalling::{
    AssociationTally, EndCounters, LineInput, M3uaEvent, M3uaEventKind, PointEvent, PointEventKind,
    PointInput, PointOutput, ProcessorCounters, ScreeningCounts, ServedPointOutput, ServerProcessInput,
    ServerProcessOutput, SignallingPoint,
};
use slantpath_sigtran::m3ua;
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3;
use slantpath_ss7::mtp3::node::{self, LinkMeasurements, Mtp3LinkId};
use slantpath_ss7::sccp::{self, Ssn};
use slantpath_ss7::transfer::{Transfer, TransferIndication};
use slantpath_traffic::{LinkLoadReport, Loads};

use crate::line::Line;
use crate::record::{AdaptationEvent, DivertedTraffic, Event};
use crate::servers::{self, Servers};

/// Request of a network to those who carry its associations.
#[derive(Debug)]
pub(crate) enum Output {
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

/// Outcome of a component's turn.
enum Step {
    /// Nothing more to do until then, or until something comes.
    Done(Option<Instant>),
    /// The component goes on when this has been taken.
    Output(Output),
}

/// A point with what the network knows of it.
#[derive(Debug)]
struct Member {
    code: PointCode,
    point: SignallingPoint,
    /// By the numbers of MTP3: which link, and which end of it is here.
    links: Vec<(SignallingLinkId, Side)>,
    gateway: Option<GatewayId>,
    /// Messages that came to a user and belong to no load.
    of_no_load: u64,
}

#[derive(Debug)]
struct Link {
    ends: [PointEnd; 2],
    /// Index of its line, if it is not an association.
    line: Option<usize>,
}

/// Whoever has an end of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Point(PointId),
    Process(AspId),
}

/// Something that is taken in rounds.
#[derive(Clone, Copy, Debug)]
enum Component {
    Line(usize),
    Point(PointId),
    Process(AspId),
    Served(ServedPointId),
    Load(usize),
}

/// A network of signalling points under load.
#[derive(Debug)]
pub struct SignallingNetwork {
    points: Vec<Member>,
    links: Vec<Link>,
    pub(crate) lines: Vec<Line>,
    servers: Servers,
    loads: Loads,
    /// The ends of associations: those of links by their numbers, and behind them those of M3UA.
    holders: Vec<[Holder; 2]>,
    events: Vec<Event>,
    diversions: Vec<DivertedTraffic>,
    /// Number of these that hosts were asked about.
    diversions_completed: usize,
    adaptation_events: Vec<AdaptationEvent>,
    work: Rounds,
    /// Whose turn it is, while an output of it is being taken.
    current: Option<usize>,
    deadlines: Deadlines<usize>,
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
        let servers = Servers::new(&config)?;
        let points = (0..config.points.len()).map(|number| Member::new(PointId(number), &config));
        let points = points.collect::<Result<Vec<_>, _>>()?;
        let NetworkConfig { links, m3ua, loads, .. } = config;
        let of_links = links.iter().map(|link| link.ends.map(|end| Holder::Point(end.point)));
        let of_m3ua = m3ua.associations.iter().map(|association| {
            let gateway = m3ua.gateways[association.gateway.0].point;
            [Holder::Point(gateway), Holder::Process(association.asp)]
        });
        let holders = of_links.chain(of_m3ua).collect();
        let mut lines = Vec::new();
        let links = links.into_iter().map(|link| Link::new(link, &mut lines, seed)).collect();
        let loads = Loads::new(loads, seed)?;
        let count = lines.len() + points.len() + servers.processes.len() + servers.points.len() + loads.len();
        let mut work = Rounds::new(count);
        (0..count).for_each(|component| work.mark(component));
        Ok(Self {
            points,
            links,
            lines,
            servers,
            loads,
            holders,
            events: Vec::new(),
            diversions: Vec::new(),
            diversions_completed: 0,
            adaptation_events: Vec::new(),
            work,
            current: None,
            deadlines: Deadlines::default(),
        })
    }

    /// An association brings something to one of its ends.
    pub(crate) fn handle_transport(&mut self, now: Instant, end: AssociationSide, input: TransportInput) {
        let association = self.association(end.carried);
        match self.holders[place(association)][end.side as usize] {
            Holder::Point(point) => self.point_input(now, point, PointInput::Association(association, input)),
            Holder::Process(asp) => {
                self.process_input(now, asp, ServerProcessInput::Association(association, input));
            }
        }
    }

    /// Does what is to be done by `now`, up to the next output. Nobody goes on before it has been taken: an association
    /// that has no room for more says so before its link gives the next message.
    pub(crate) fn poll_output(&mut self, now: Instant) -> Output {
        while let Some(component) = self.deadlines.take_due(now) {
            self.work.mark(component);
        }
        while let Some(component) = self.current.take().or_else(|| self.work.take()) {
            let step = match self.component(component) {
                Component::Line(line) => self.drain_line(now, line),
                Component::Point(point) => self.drain_point(now, point),
                Component::Process(asp) => self.drain_process(now, asp),
                Component::Served(point) => self.drain_served_point(now, point),
                Component::Load(load) => self.drain_load(now, load),
            };
            match step {
                Step::Done(deadline) => self.deadlines.set(component, deadline),
                Step::Output(output) => {
                    self.current = Some(component);
                    return output;
                }
            }
        }
        Output::Wait(self.deadlines.earliest())
    }

    /// Events so far, in order, without those that were taken.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Takes what happened so far, in order: it is forgotten here.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Takes what traffic was diverted so far, in order: it is forgotten here.
    pub fn take_diversions(&mut self) -> Vec<DivertedTraffic> {
        self.diversions_completed = 0;
        std::mem::take(&mut self.diversions)
    }

    /// Diversions since this was asked last: what hosts know of them is to be added.
    pub(crate) fn new_diversions(&mut self) -> &mut [DivertedTraffic] {
        let new = std::mem::replace(&mut self.diversions_completed, self.diversions.len());
        &mut self.diversions[new..]
    }

    /// Counters of an end of a link.
    pub fn link_counters(&self, link: SignallingLinkId, side: Side) -> EndCounters {
        let end = self.link_end(link, side);
        self.points[end.point.0].point.link_counters(end.link)
    }

    /// Messages that wait at an end of a link, or that its far end has not acknowledged.
    pub fn link_queue(&self, link: SignallingLinkId, side: Side) -> usize {
        let end = self.link_end(link, side);
        self.points[end.point.0].point.link_queue(end.link)
    }

    /// Measurements of a link by MTP3 at one of its ends.
    pub fn link_measurements(&self, link: SignallingLinkId, side: Side) -> &LinkMeasurements {
        let end = self.link_end(link, side);
        self.mtp3(end.point).link_measurements(end.link)
    }

    /// Counters of the message transfer part of a point.
    pub fn mtp3_counters(&self, point: PointId) -> &node::Counters {
        self.mtp3(point).counters()
    }

    /// Counters of the SCCP of a point, if it has one.
    pub fn sccp_counters(&self, point: PointId) -> Option<&sccp::Counters> {
        self.points[point.0].point.sccp_counters()
    }

    /// Counters of the processor of a point, if it has one.
    pub fn processor_counters(&self, point: PointId) -> Option<ProcessorCounters> {
        self.points[point.0].point.processor_counters()
    }

    /// Counts of each screening rule and rate of a point, by name.
    pub fn screening_counts(&self, point: PointId) -> impl Iterator<Item = (&str, ScreeningCounts)> {
        self.points[point.0].point.screening_counts()
    }

    /// Events of gateways, processes and application servers so far, in order, without those that were taken.
    pub fn adaptation_events(&self) -> &[AdaptationEvent] {
        &self.adaptation_events
    }

    /// Takes what happened to them so far, in order: it is forgotten here.
    pub fn take_adaptation_events(&mut self) -> Vec<AdaptationEvent> {
        std::mem::take(&mut self.adaptation_events)
    }

    /// Tally of the messages that an end of an association between a gateway and a process has sent and received.
    pub fn adaptation_tally(&self, association: AdaptationId, side: Side) -> AssociationTally {
        let association = self.association(Carried::Adaptation(association));
        let tally = match self.holders[place(association)][side as usize] {
            Holder::Point(point) => self.points[point.0].point.association_tally(association),
            Holder::Process(asp) => self.servers.processes[asp.0].association_tally(association),
        };
        tally.expect("an end of an association has its tally")
    }

    /// Counters of M3UA of a gateway or a process, and number of messages that wait there.
    pub fn m3ua_counters(&self, process: SignallingProcess) -> (&m3ua::Counters, usize) {
        match process {
            SignallingProcess::Asp(asp) => (self.servers.processes[asp.0].counters(), 0),
            SignallingProcess::Gateway(gateway) => {
                let mut points = self.points.iter().filter(|point| point.gateway == Some(gateway));
                let counters = points.next().and_then(|point| point.point.gateway_counters());
                counters.expect("a gateway has its point")
            }
        }
    }

    /// Messages that came to a user of any point and belong to no load.
    pub fn messages_of_no_load(&self) -> u64 {
        let served = self.servers.points.iter().map(|point| point.of_no_load);
        self.points.iter().map(|point| point.of_no_load).chain(served).sum()
    }

    /// Messages that came to a user of a point and belong to no load.
    pub fn messages_of_no_load_at(&self, point: PointId) -> u64 {
        self.points[point.0].of_no_load
    }

    /// The message transfer part of a point, for what it has measured.
    pub fn mtp3(&self, point: PointId) -> &mtp3::Node {
        self.points[point.0].point.mtp3()
    }

    /// The links at a point, by the numbers of its MTP3: which link, and which end of it is there.
    pub fn links_at(&self, point: PointId) -> &[(SignallingLinkId, Side)] {
        &self.points[point.0].links
    }

    /// Name of level 2 at an end of a link, and counts of what it has refused or discarded, by reason.
    pub fn link_discards(
        &self,
        link: SignallingLinkId,
        side: Side,
    ) -> (&'static str, Vec<(&'static str, u64)>) {
        let end = self.link_end(link, side);
        self.points[end.point.0].point.link_discards(end.link)
    }

    /// Reports on a load's messages up to `now`, one for each of its links.
    pub fn load_reports(&mut self, now: Instant, load: usize) -> Vec<LinkLoadReport> {
        self.loads.reports(now, load)
    }

    /// The association that carries a link or M3UA.
    fn association(&self, carried: Carried) -> AssociationNumber {
        match carried {
            Carried::Adaptation(id) => AssociationNumber(number(self.links.len() + id.0)),
            Carried::Link(id) => AssociationNumber(number(id.0)),
        }
    }

    /// The end of an association that somebody has.
    fn side_of(&self, association: AssociationNumber, holder: Holder) -> AssociationSide {
        let at = place(association);
        let carried = match at.checked_sub(self.links.len()) {
            Some(adaptation) => Carried::Adaptation(AdaptationId(adaptation)),
            None => Carried::Link(SignallingLinkId(at)),
        };
        let side = if self.holders[at][0] == holder { Side::First } else { Side::Second };
        AssociationSide { carried, side }
    }

    pub(crate) fn link_end(&self, link: SignallingLinkId, side: Side) -> PointEnd {
        self.links[link.0].ends[side as usize]
    }

    pub(crate) fn line_of(&self, link: SignallingLinkId) -> Option<usize> {
        self.links[link.0].line
    }

    pub(crate) fn point_input(&mut self, now: Instant, point: PointId, input: PointInput) {
        self.points[point.0].point.handle_input(now, input);
        self.work.mark(self.slot(Component::Point(point)));
    }

    pub(crate) fn process_input(&mut self, now: Instant, asp: AspId, input: ServerProcessInput) {
        self.servers.process_input(now, asp, input);
        self.work.mark(self.slot(Component::Process(asp)));
    }

    /// Notes when something next comes to an end of a line.
    pub(crate) fn wait_for_line(&mut self, line: usize) {
        self.deadlines.set(self.slot(Component::Line(line)), self.lines[line].next_arrival());
    }

    /// The number of a component among all.
    fn slot(&self, component: Component) -> usize {
        let processes = self.lines.len() + self.points.len();
        let served = processes + self.servers.processes.len();
        match component {
            Component::Line(line) => line,
            Component::Point(point) => self.lines.len() + point.0,
            Component::Process(asp) => processes + asp.0,
            Component::Served(point) => served + point.0,
            Component::Load(load) => served + self.servers.points.len() + load,
        }
    }

    fn component(&self, slot: usize) -> Component {
        let mut slot = slot;
        for (count, component) in [
            (self.lines.len(), Component::Line as fn(usize) -> Component),
            (self.points.len(), |slot| Component::Point(PointId(slot))),
            (self.servers.processes.len(), |slot| Component::Process(AspId(slot))),
            (self.servers.points.len(), |slot| Component::Served(ServedPointId(slot))),
        ] {
            match slot.checked_sub(count) {
                None => return component(slot),
                Some(rest) => slot = rest,
            }
        }
        Component::Load(slot)
    }

    /// Takes what has come to the ends of a line there.
    fn drain_line(&mut self, now: Instant, number: usize) -> Step {
        for side in Side::BOTH {
            while let Some(arrival) = self.lines[number].poll_arrival(now, side) {
                let end = self.lines[number].ends[side as usize];
                self.point_input(now, end.point, PointInput::Line(end.link, LineInput::Arrival(arrival)));
            }
        }
        Step::Done(self.lines[number].next_arrival())
    }

    fn drain_point(&mut self, now: Instant, id: PointId) -> Step {
        let place = UserPlace::Point(id);
        loop {
            let point = &mut self.points[id.0];
            match point.point.poll_output(now) {
                PointOutput::Abort(association) => {
                    return Step::Output(Output::Abort(self.side_of(association, Holder::Point(id))));
                }
                // Nobody captures what points screen.
                PointOutput::Copied(_) => {}
                PointOutput::Event(PointEvent { link, kind }) => {
                    let link = link.map(|link| point.links[usize::from(link.0)]);
                    if let PointEventKind::TrafficDiverted { to } = kind {
                        let (to, _) = point.links[usize::from(to.0)];
                        self.diversions.extend(link.map(|(from, side)| DivertedTraffic {
                            at: now,
                            from: Carried::Link(from),
                            side,
                            to: Carried::Link(to),
                            answered: None,
                        }));
                        continue;
                    }
                    self.events.push(Event { at: now, point: id, link, kind });
                }
                PointOutput::Indication(_, TransferIndication::Transfer(transfer)) => {
                    self.arrived(now, place, &transfer);
                }
                PointOutput::Indication(user, indication) => {
                    self.loads.indicate(now, place, Some(user), &indication);
                }
                PointOutput::M3uaEvent(event) => {
                    let gateway = point.gateway.expect("events of M3UA come from gateways");
                    self.adaptation_event(now, SignallingProcess::Gateway(gateway), event);
                }
                PointOutput::Transmit(transmit) => return self.transmit(Holder::Point(id), transmit),
                PointOutput::Unit(Mtp3LinkId(link), transmission) => {
                    let (link, side) = point.links[usize::from(link)];
                    let line = self.line_of(link).expect("units go on lines");
                    self.lines[line].carry(side, transmission);
                    self.wait_for_line(line);
                }
                PointOutput::Unitdata { ssn, data } => {
                    let code = point.code;
                    self.arrived_unitdata(now, place, code, ssn, &data);
                }
                PointOutput::Wait(deadline) => return Step::Done(deadline),
            }
        }
    }

    fn drain_process(&mut self, now: Instant, asp: AspId) -> Step {
        let holder = Holder::Process(asp);
        loop {
            match self.servers.processes[asp.0].poll_output(now) {
                ServerProcessOutput::Abort(association) => {
                    return Step::Output(Output::Abort(self.side_of(association, holder)));
                }
                ServerProcessOutput::Close(association) => {
                    return Step::Output(Output::Close(self.side_of(association, holder)));
                }
                ServerProcessOutput::Event(event) => {
                    self.adaptation_event(now, SignallingProcess::Asp(asp), event);
                }
                ServerProcessOutput::Indication(indication) => {
                    for place in 0..self.servers.served_by(asp).len() {
                        let point = self.servers.served_by(asp)[place];
                        self.servers.indicate(now, point, &indication);
                        self.work.mark(self.slot(Component::Served(point)));
                    }
                }
                ServerProcessOutput::Open(association) => {
                    return Step::Output(Output::Open(self.side_of(association, holder)));
                }
                ServerProcessOutput::Transmit(transmit) => return self.transmit(holder, transmit),
                ServerProcessOutput::Wait(deadline) => return Step::Done(deadline),
            }
        }
    }

    fn drain_served_point(&mut self, now: Instant, id: ServedPointId) -> Step {
        let place = UserPlace::Served(id);
        loop {
            match self.servers.points[id.0].point.poll_output(now) {
                ServedPointOutput::Indication(TransferIndication::Transfer(transfer)) => {
                    self.arrived(now, place, &transfer);
                }
                ServedPointOutput::Indication(indication) => {
                    self.loads.indicate(now, place, None, &indication);
                }
                // What goes no further is counted under its reason.
                ServedPointOutput::Transfer(transfer) => _ = self.transfer_above_m3ua(id, &transfer),
                ServedPointOutput::Unitdata { ssn, data } => {
                    let code = self.servers.points[id.0].point.code();
                    self.arrived_unitdata(now, place, code, ssn, &data);
                }
                ServedPointOutput::Wait(deadline) => return Step::Done(deadline),
            }
        }
    }

    fn drain_load(&mut self, now: Instant, number: usize) -> Step {
        let load = self.loads.load_mut(number);
        let from = load.from();
        for destination in load.begin(now).into_iter().flatten() {
            let is_accessible = match from {
                UserPlace::Point(point) => self.points[point.0].point.is_accessible(destination),
                UserPlace::Served(point) => self.servers.is_accessible(point, destination),
            };
            if !is_accessible {
                self.loads.load_mut(number).indicate(now, &TransferIndication::Pause(destination));
            }
        }
        while let Some(message) = self.loads.load_mut(number).poll(now) {
            let is_taken = match from {
                UserPlace::Point(point) => {
                    self.work.mark(self.slot(Component::Point(point)));
                    self.points[point.0].point.transfer(now, &message.transfer).is_ok()
                }
                UserPlace::Served(point) => self.transfer_above_m3ua(point, &message.transfer),
            };
            if !is_taken {
                self.loads.load_mut(number).refused(&message);
            }
        }
        Step::Done(self.loads.load_mut(number).deadline())
    }

    /// A user part of a served point sends. Says whether the message was taken.
    fn transfer_above_m3ua(&mut self, point: ServedPointId, transfer: &Transfer) -> bool {
        let Some((asp, is_taken)) = self.servers.transfer(point, transfer) else { return false };
        self.work.mark(self.slot(Component::Process(asp)));
        is_taken
    }

    fn transmit(&self, holder: Holder, transmit: Transmit) -> Step {
        Step::Output(Output::Transmit(self.side_of(transmit.association, holder), transmit))
    }

    /// A unitdata came to a subsystem of a point.
    fn arrived_unitdata(&mut self, now: Instant, place: UserPlace, at: PointCode, ssn: Ssn, data: &[u8]) {
        let is_known = self.loads.arrived_unitdata(now, at, ssn, data);
        *self.of_no_load_mut(place) += u64::from(!is_known);
    }

    /// A message came to a user part of a point.
    fn arrived(&mut self, now: Instant, place: UserPlace, transfer: &Transfer) {
        let is_known = self.loads.arrived(now, transfer);
        *self.of_no_load_mut(place) += u64::from(!is_known);
    }

    fn of_no_load_mut(&mut self, place: UserPlace) -> &mut u64 {
        match place {
            UserPlace::Point(point) => &mut self.points[point.0].of_no_load,
            UserPlace::Served(point) => &mut self.servers.points[point.0].of_no_load,
        }
    }

    fn adaptation_event(&mut self, at: Instant, process: SignallingProcess, event: M3uaEvent) {
        let M3uaEvent { association, routing_context, kind } = event;
        let first = number(self.links.len());
        let association = association.map(|association| servers::adaptation(association.0, first));
        let server = routing_context.and_then(|context| self.servers.server(context));
        if let M3uaEventKind::TrafficDiverted { to } = kind {
            let to = Carried::Adaptation(servers::adaptation(to.0, first));
            let from = association.map(Carried::Adaptation);
            let side = Side::First;
            self.diversions.extend(from.map(|from| DivertedTraffic { at, from, side, to, answered: None }));
            return;
        }
        self.adaptation_events.push(AdaptationEvent { at, process, association, server, kind });
    }
}

impl Member {
    fn new(id: PointId, config: &NetworkConfig) -> Result<Self, NetworkConfigError> {
        Ok(Self {
            code: config.points[id.0].mtp3.point_code,
            point: config.make_point(Instant::START, id)?,
            links: config.links_at(id),
            gateway: config.gateway_at(id),
            of_no_load: 0,
        })
    }
}

impl Link {
    /// A link, with its line, if it has one, added to the others.
    fn new(config: network::LinkConfig, lines: &mut Vec<Line>, seed: Seed) -> Self {
        let network::LinkConfig { name, ends, carrier } = config;
        let line = match carrier {
            LinkCarrier::Association(_) => None,
            LinkCarrier::Line(config) => {
                lines.push(Line::new(ends, &config, seed, &format!("signalling/links/{name}")));
                Some(lines.len() - 1)
            }
        };
        Self { ends, line }
    }
}

/// The number of an association for layers above.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Index of an association of that number.
fn place(association: AssociationNumber) -> usize {
    usize::try_from(association.0).unwrap_or(usize::MAX)
}
