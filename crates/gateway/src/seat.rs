//! The program: an entity, what carries its signalling, and its users.

mod addresses;
pub(crate) mod captured;
pub(crate) mod metrics;
mod orders;
mod reload;
mod status;
mod title;
mod trace;
mod users;
mod watch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slantpath_applications::{Host, ProgramEvent, ProgramMessage, Programs};
use slantpath_base::{Deadlines, Duration, Instant, Seed, Stream};
use slantpath_control::NamedCounts;
use slantpath_host::SocketId;
use slantpath_live::{BySocket, Lost, Program};
use slantpath_signalling::network::{
    Carried, NetworkConfig, NetworkConfigError, ServedPointId, SignallingEntity, SignallingLinkId, UserPlace,
};
use slantpath_signalling::{
    M3uaEvent, M3uaEventKind, PointEvent, PointEventKind, ScreenedCopy, ScreeningCounts, ServedPoint,
};
use slantpath_sigtran::asp::AspState;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::transfer::TransferIndication;
use slantpath_traffic::{LinkLoadReport, Loads};

use crate::association::{Association, AssociationCounts, SeatAssociation};
use crate::copies::{CopiedMessage, Copies};
use crate::entity::{Entity, EntityOutput};
use crate::happening::Happening;
use crate::message_trace::Discards;
use crate::passage::Passage;
use crate::traced::{SocketTaken, TracedSockets};
use reload::{Ports, Reloading};
pub use reload::{ReloadError, RunningSeat, Successor};
pub(crate) use users::UserEvent;

/// Settings of a seat.
#[derive(Clone, Debug)]
pub struct SeatConfig {
    /// The whole network: of all but the occupant it says what the occupant has to know.
    pub network: NetworkConfig,
    /// Entity that is live.
    pub occupant: SignallingEntity,
    /// Ends of the entity's associations. Those at one port are told apart by the peers' addresses.
    pub associations: Vec<SeatAssociation>,
    /// Numbers of the loads that send from here, of those whose place is here.
    pub loads: BTreeSet<usize>,
    /// Seed of the loads.
    pub seed: Seed,
    /// Time that the entity has to leave traffic in order, and its associations to be shut down, each.
    pub patience: Duration,
}

/// Counts of a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeatReport {
    /// Messages that came to user parts.
    pub arrived: u64,
    /// Messages among these that belong to no load of the network.
    pub of_no_load: u64,
    /// Associations that were refused: nobody knows the peer.
    pub strangers: u64,
    /// Counts of each association, with its name.
    pub associations: Vec<(String, AssociationCounts)>,
    /// Counts of each screening rule and rate, with its name.
    pub screening: Vec<(String, ScreeningCounts)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    /// Until then the entity may leave traffic in order.
    Leaving(Instant),
    /// Until then associations may be shut down in order.
    Closing(Instant),
    Over,
}

/// Parts of a seat that have deadlines.
const ENTITY: usize = 0;
const PHASE: usize = 1;
const RELOAD: usize = 2;
const WATCH: usize = 3;
const FIRST_OTHER: usize = 4;

/// Number of happenings that are kept while nobody asks for them.
const HAPPENINGS_MAX: usize = 4_096;

/// An entity of a signalling network at a host.
#[derive(Debug)]
pub struct Seat {
    network: NetworkConfig,
    /// Entity as it was named at the start: loads name it so.
    occupant: SignallingEntity,
    /// Entity as the network names it.
    named: SignallingEntity,
    entity: Entity,
    /// Links of the occupant by the numbers of its MTP3.
    links: Vec<SignallingLinkId>,
    associations: Vec<Association>,
    /// Number of each association for the entity.
    numbers: Vec<AssociationNumber>,
    by_number: BTreeMap<AssociationNumber, usize>,
    by_socket: BySocket<usize>,
    /// Associations whose place another one has taken, and that have not ended yet, with what waited for room. Each is
    /// known by its number, which a reload leaves.
    replaced: BTreeMap<SocketId, (AssociationNumber, Vec<ProgramMessage>)>,
    loads: Loads,
    sending: Vec<usize>,
    deadlines: Deadlines<usize>,
    /// True while associations are looked at, since something was sent.
    is_watching: bool,
    phase: Phase,
    patience: Duration,
    /// Links in service and active parts in application servers: what has to end before associations are shut down.
    in_traffic: BTreeSet<(Option<AssociationNumber>, u32)>,
    arrived: u64,
    of_no_load: u64,
    strangers: u64,
    /// Messages that links and associations had discarded which are no more, by layer and reason.
    discarded_before: BTreeMap<&'static str, NamedCounts>,
    happenings: VecDeque<Happening>,
    traced: TracedSockets,
    /// Everybody who looks on as messages pass.
    passage: Passage,
    /// Messages that had gone no further before traced ones came, while that is not told of these.
    before_traced: Option<Discards>,
    reloading: Reloading,
    /// Events for users that are elsewhere, oldest first.
    outside: Option<VecDeque<UserEvent>>,
    copies: Copies,
}

impl Seat {
    /// An entity at a host, whose associations begin when it is first driven. All chance of SCTP comes from `stream`.
    ///
    /// # Errors
    /// The first thing that is wrong with the entity or the loads.
    ///
    /// # Panics
    /// If a port is in use at the host, or the network has no such entity.
    pub fn open(
        now: Instant,
        config: SeatConfig,
        host: &mut Host,
        stream: Stream,
    ) -> Result<Self, NetworkConfigError> {
        let SeatConfig { network, occupant, associations, loads: own_loads, seed, patience } = config;
        let (entity, links) = match occupant {
            SignallingEntity::Point(id) => {
                let links = network.links_at(id).into_iter().map(|(link, _)| link).collect();
                (Entity::point(&network, id, |network| network.make_point(now, id))?, links)
            }
            SignallingEntity::Process(id) => {
                let process = network.make_process(id)?;
                let make = |config| ServedPoint::new(now, config);
                (Entity::process(&network, id, process, make)?, Vec::new())
            }
        };
        let mut loads = Loads::new(network.loads.clone(), seed)?;
        let mut ports = Ports::new(stream);
        let mut ends = Vec::new();
        for association in associations {
            let port = ports.socket(&association.port, host);
            ends.push(Association::new(now, ends.len(), association, port));
        }
        ports.admit_callers(&ends, host);
        let mut deadlines = Deadlines::default();
        deadlines.set(ENTITY, Some(now));
        for (place, end) in ends.iter().enumerate() {
            deadlines.set(FIRST_OTHER + place, end.deadline());
        }
        let first_load = FIRST_OTHER + ends.len();
        let sending: Vec<usize> = own_loads.into_iter().collect();
        for (place, load) in sending.iter().enumerate() {
            deadlines.set(first_load + place, loads.load_mut(*load).deadline());
        }
        let numbers: Vec<_> = ends.iter().map(|end| network.association(end.config.carried)).collect();
        Ok(Self {
            by_number: numbers.iter().copied().zip(0..).collect(),
            reloading: Reloading::new(&numbers, ports),
            numbers,
            network,
            occupant,
            named: occupant,
            entity,
            links,
            associations: ends,
            by_socket: BySocket::default(),
            replaced: BTreeMap::new(),
            loads,
            sending,
            deadlines,
            is_watching: false,
            phase: Phase::Serving,
            patience,
            in_traffic: BTreeSet::new(),
            arrived: 0,
            of_no_load: 0,
            strangers: 0,
            discarded_before: BTreeMap::new(),
            happenings: VecDeque::new(),
            traced: TracedSockets::default(),
            passage: Passage::default(),
            before_traced: None,
            outside: None,
            copies: Copies::default(),
        })
    }

    /// Takes the next thing that has happened, oldest first.
    pub fn poll_happening(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// Takes the next socket that an association whose SCTP is traced has got, oldest first.
    pub fn poll_socket(&mut self) -> Option<SocketTaken> {
        self.traced.poll()
    }

    /// Gives the counts up to now.
    pub fn report(&self) -> SeatReport {
        let of = |end: &Association| (end.config.name.clone(), end.counts());
        SeatReport {
            arrived: self.arrived,
            of_no_load: self.of_no_load,
            strangers: self.strangers,
            associations: self.associations.iter().map(of).collect(),
            screening: self.entity.screening_counts(),
        }
    }

    /// Reports on a load's messages up to `now`, one for each of its links.
    pub fn load_reports(&mut self, now: Instant, load: usize) -> Vec<LinkLoadReport> {
        self.loads.reports(now, load)
    }

    /// Copies of messages that screening rules ask for, for a sink.
    pub const fn copies_mut(&mut self) -> &mut Copies {
        &mut self.copies
    }

    fn first_load(&self) -> usize {
        FIRST_OTHER + self.associations.len()
    }

    fn tell(
        &mut self,
        at: Instant,
        subjects: Vec<(&'static str, String)>,
        event: &'static str,
        reason: Option<String>,
    ) {
        // Who does not listen does not make it grow.
        if self.happenings.len() < HAPPENINGS_MAX {
            self.happenings.push_back(Happening { at, subjects, event, reason });
        }
    }

    /// Number of the association for the entity.
    fn number(&self, place: usize) -> AssociationNumber {
        self.numbers[place]
    }

    fn input(&mut self, now: Instant, place: usize, input: TransportInput) {
        let number = self.number(place);
        self.entity.handle_transport(now, number, input);
        self.deadlines.set(ENTITY, Some(now));
    }

    /// Does all that is due by `now`.
    fn drive(&mut self, now: Instant, host: &mut Host) {
        while let Some(part) = self.deadlines.take_due(now) {
            match part {
                ENTITY => self.drive_entity(now, host),
                PHASE => self.phase_ends(now, host),
                RELOAD => self.reload_is_late(now, host),
                WATCH => self.watch(now, host),
                part if part < self.first_load() => self.open_association(now, host, part - FIRST_OTHER),
                part => self.send_load(now, part - self.first_load()),
            }
        }
    }

    fn drive_entity(&mut self, now: Instant, host: &mut Host) {
        loop {
            match self.entity.poll_output(now) {
                EntityOutput::Abort(association) => self.abort(now, host, association),
                EntityOutput::Arrived(transfer) => {
                    self.arrived += 1;
                    if self.arrived == 1 {
                        let label = transfer.label;
                        let ends = [("from", label.opc), ("to", label.dpc)];
                        let subjects = ends.map(|(kind, code)| (kind, code.0.to_string()));
                        self.tell(now, subjects.into(), "first-message", None);
                    }
                    self.of_no_load += u64::from(!self.loads.arrived(now, &transfer));
                    self.passage.delivered(now, transfer.service.indicator, &transfer.user_data);
                    self.hand_out(|| UserEvent::Arrived(transfer));
                }
                EntityOutput::ArrivedUnitdata(at, ssn, data) => {
                    self.arrived += 1;
                    if self.arrived == 1 {
                        let ends = [("to", at.0.to_string()), ("subsystem", ssn.0.to_string())];
                        self.tell(now, ends.into(), "first-message", None);
                    }
                    self.of_no_load += u64::from(!self.loads.arrived_unitdata(now, at, ssn, &data));
                    self.passage.delivered_unitdata(now, &data);
                    self.hand_out(|| UserEvent::ArrivedUnitdata(at, ssn, data));
                }
                EntityOutput::Close(association) => {
                    if let Some(place) = self.by_number.get(&association) {
                        self.associations[*place].hold();
                    }
                    self.abort(now, host, association);
                }
                EntityOutput::Copied(ScreenedCopy { rule, octets, .. }) => {
                    let Self { copies, network, named, .. } = self;
                    copies.keep(|| {
                        let rule = rule_name(network, *named, rule);
                        CopiedMessage { at: now, rule, octets }
                    });
                }
                EntityOutput::Indication(served, indication) => {
                    let place = self.place(served);
                    self.loads.indicate(now, place, None, &indication);
                    self.hand_out(|| UserEvent::Indication(place, indication));
                }
                EntityOutput::M3ua(event) => self.note_m3ua(now, event),
                EntityOutput::Open(association) => {
                    if let Some(place) = self.by_number.get(&association).copied() {
                        self.associations[place].release(now);
                        self.deadlines.set(FIRST_OTHER + place, self.associations[place].deadline());
                    }
                }
                EntityOutput::Point(event) => self.note_point(now, event),
                EntityOutput::Transmit(transmit) => self.transmit(now, host, transmit),
                EntityOutput::Wait(deadline) => {
                    self.deadlines.set(ENTITY, deadline);
                    break;
                }
            }
        }
        if matches!(self.phase, Phase::Leaving(_)) && self.in_traffic.is_empty() {
            self.close(now, host);
        }
        self.advance_reload(now, host);
    }

    fn place(&self, served: Option<ServedPointId>) -> UserPlace {
        match (served, self.occupant) {
            (Some(served), _) => UserPlace::Served(served),
            (None, SignallingEntity::Point(id)) => UserPlace::Point(id),
            (None, SignallingEntity::Process(_)) => unreachable!("users of a process are at a served point"),
        }
    }

    fn transmit(&mut self, now: Instant, host: &mut Host, transmit: Transmit) {
        let Some(place) = self.by_number.get(&transmit.association).copied() else { return };
        self.begin_watch(now);
        if let Some(input) = self.associations[place].send(now, host, transmit, &mut self.passage) {
            self.input(now, place, input);
        }
    }

    fn abort(&mut self, now: Instant, host: &mut Host, association: AssociationNumber) {
        if let Some(place) = self.by_number.get(&association) {
            self.associations[*place].abort(now, host);
        }
    }

    /// Has associations end in order, and keeps them closed. They have until the instant that it gives, at which
    /// `part` is due.
    fn shut_down(
        &mut self,
        now: Instant,
        host: &mut Host,
        places: impl IntoIterator<Item = usize>,
        part: usize,
    ) -> Instant {
        for place in places {
            self.associations[place].shut_down(now, host);
            self.deadlines.set(FIRST_OTHER + place, None);
        }
        let until = now.saturating_add(self.patience);
        self.deadlines.set(part, Some(until));
        until
    }

    fn open_association(&mut self, now: Instant, host: &mut Host, place: usize) {
        match self.associations[place].open(now, host) {
            Some(Ok(socket)) => self.give_socket(now, socket, place),
            Some(Err(reason)) => {
                let name = self.associations[place].config.name.clone();
                self.tell(now, vec![("association", name)], "not-opened", Some(reason));
            }
            None => {}
        }
        self.deadlines.set(FIRST_OTHER + place, self.associations[place].deadline());
    }

    /// Sends what is due of a load.
    fn send_load(&mut self, now: Instant, own: usize) {
        let number = self.sending[own];
        let served = match self.loads.load_mut(number).from() {
            UserPlace::Point(_) => None,
            UserPlace::Served(point) => Some(point),
        };
        for destination in self.loads.load_mut(number).begin(now).into_iter().flatten() {
            if !self.entity.is_accessible(served, destination) {
                let pause = TransferIndication::Pause(destination);
                self.loads.load_mut(number).indicate(now, &pause);
            }
        }
        while let Some(message) = self.loads.load_mut(number).poll(now) {
            if !self.entity.transfer(now, served, &message.transfer) {
                self.loads.load_mut(number).refused(&message);
            }
        }
        self.deadlines.set(ENTITY, Some(now));
        let deadline = self.loads.load_mut(number).deadline();
        self.deadlines.set(self.first_load() + own, deadline);
    }

    fn note_point(&mut self, now: Instant, event: PointEvent) {
        let PointEvent { link, kind } = event;
        if let Some(link) = link {
            match kind {
                PointEventKind::Available => {
                    self.in_traffic.insert((None, u32::from(link.0)));
                }
                PointEventKind::Unavailable => {
                    self.in_traffic.remove(&(None, u32::from(link.0)));
                }
                _ => {}
            }
        }
        let name = |link: usize| self.network.links[self.links[link].0].name.clone();
        let subjects = link.map(|link| ("link", name(usize::from(link.0)))).into_iter().collect();
        self.tell(now, subjects, kind.name(), None);
    }

    fn note_m3ua(&mut self, now: Instant, event: M3uaEvent) {
        let M3uaEvent { association, routing_context, kind } = event;
        if let (Some(_), Some(context), M3uaEventKind::Asp(state)) = (association, routing_context, kind)
            && matches!(self.occupant, SignallingEntity::Process(_))
        {
            if state == AspState::Active {
                self.in_traffic.insert((association, context));
            } else {
                self.in_traffic.remove(&(association, context));
            }
        }
        let place = association.and_then(|number| self.by_number.get(&number));
        let association = place.map(|place| ("association", self.associations[*place].config.name.clone()));
        let mut servers = self.network.m3ua.servers.iter();
        let server = servers.find(|server| Some(server.routing_context) == routing_context);
        let server = server.map(|server| ("server", server.name.clone()));
        let destination = kind.destination().map(|code| ("destination", self.point_name(code)));
        let subjects = association.into_iter().chain(server).chain(destination).collect();
        let reason = match kind {
            M3uaEventKind::Congestion(_, level) => Some(format!("level {level}")),
            _ => kind.reason().map(str::to_owned),
        };
        self.tell(now, subjects, kind.name(), reason);
    }

    /// An association is up: one of this end's, or one that came.
    fn connected(&mut self, now: Instant, host: &mut Host, socket: SocketId, listener: Option<SocketId>) {
        let place = match listener {
            None => self.by_socket.get(socket).copied(),
            Some(port) => host.peer(socket).and_then(|caller| {
                let mut own = self.associations.iter();
                let exactly = own.position(|end| end.port == port && end.is_with_exactly(caller));
                let known = |end: &Association| end.port == port && end.is_with(caller);
                exactly.or_else(|| self.associations.iter().position(known))
            }),
        };
        match place {
            Some(place) if matches!(self.phase, Phase::Serving | Phase::Leaving(_)) => {
                self.take(now, host, socket, place);
            }
            Some(_) => {
                host.abort(now, socket);
            }
            None => {
                self.strangers += 1;
                let peer = host.peer(socket).map(|peer| ("peer", peer.to_string()));
                self.tell(now, peer.into_iter().collect(), "stranger-refused", None);
                host.abort(now, socket);
            }
        }
    }

    fn take(&mut self, now: Instant, host: &mut Host, socket: SocketId, place: usize) {
        let was_up = self.associations[place].is_up();
        if let Some(former) = self.associations[place].connected(socket) {
            self.by_socket.remove(former);
            let waiting = self.associations[place].take_waiting();
            self.replaced.insert(former, (self.number(place), waiting));
            host.abort(now, former);
            if was_up {
                self.input(now, place, TransportInput::Down);
            }
        }
        self.give_socket(now, socket, place);
        if let Carried::Link(_) = self.associations[place].config.carried {
            let name = self.associations[place].config.name.clone();
            self.tell(now, vec![("association", name)], "association-up", None);
        }
    }

    fn give_socket(&mut self, now: Instant, socket: SocketId, place: usize) {
        let before = self.by_socket.insert(socket, place);
        if before != Some(place) && self.associations[place].config.port.sctp.trace {
            self.traced.note(SocketTaken { at: now, association: self.number(place), socket });
        }
    }

    /// Gives back to the entity what an association has not sent.
    fn take_back(
        &mut self,
        now: Instant,
        host: &mut Host,
        socket: SocketId,
        place: usize,
        waiting: Vec<ProgramMessage>,
    ) {
        let mut given_back = host.take_given_back(socket);
        given_back.unsent.extend(waiting);
        for input in self.associations[place].take_back(given_back) {
            self.input(now, place, input);
        }
    }

    fn ended(&mut self, now: Instant, host: &mut Host, socket: SocketId, reason: Option<String>) {
        if let Some((number, waiting)) = self.replaced.remove(&socket)
            && let Some(place) = self.by_number.get(&number).copied()
        {
            self.take_back(now, host, socket, place, waiting);
        }
        let Some(place) = self.by_socket.remove(socket) else { return };
        let Some(was_up) = self.associations[place].ended(now, socket) else { return };
        self.deadlines.set(FIRST_OTHER + place, self.associations[place].deadline());
        let name = self.associations[place].config.name.clone();
        let event = if was_up { "association-ended" } else { "not-opened" };
        self.tell(now, vec![("association", name)], event, reason);
        if was_up {
            self.input(now, place, TransportInput::Down);
        }
        let waiting = self.associations[place].take_waiting();
        self.take_back(now, host, socket, place, waiting);
        // A reload may have waited for this.
        self.deadlines.set(ENTITY, Some(now));
    }

    /// The entity has left traffic, or has had its time: associations are shut down.
    fn close(&mut self, now: Instant, host: &mut Host) {
        self.phase = Phase::Closing(self.shut_down(now, host, 0..self.associations.len(), PHASE));
    }

    /// The time of a phase is over.
    fn phase_ends(&mut self, now: Instant, host: &mut Host) {
        match self.phase {
            Phase::Leaving(_) => self.close(now, host),
            Phase::Closing(_) => {
                self.phase = Phase::Over;
                for end in &self.associations {
                    end.abort(now, host);
                }
            }
            Phase::Over | Phase::Serving => {}
        }
    }
}

/// Name of a screening rule of the entity.
fn rule_name(network: &NetworkConfig, entity: SignallingEntity, rule: usize) -> String {
    let SignallingEntity::Point(id) = entity else { return String::new() };
    network.points[id.0].screening.rules.get(rule).map(|rule| rule.name.clone()).unwrap_or_default()
}

impl Program for Seat {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { listener, outbound_streams } => {
                self.connected(now, host, socket, listener);
                if let Some(place) = self.by_socket.get(socket).copied() {
                    self.associations[place].outbound_streams = outbound_streams;
                    self.input(now, place, TransportInput::Up { outbound_streams });
                }
            }
            ProgramEvent::Ended { failure, reason, .. } => {
                let reason = Lost::of_end(failure, reason).map(|lost| lost.to_string());
                self.ended(now, host, socket, reason);
                host.release(socket);
            }
            ProgramEvent::Message(message) => {
                let Some(place) = self.by_socket.get(socket).copied() else { return };
                self.associations[place].received(message.payload.len());
                if self.passage.arrived(now, place, &message) {
                    self.note_before_traced();
                }
                let input = TransportInput::Message {
                    stream: StreamNumber(message.stream),
                    payload_protocol: message.payload_protocol,
                    octets: message.payload,
                };
                self.input(now, place, input);
            }
            ProgramEvent::Path { address, kind } => {
                let Some(place) = self.by_socket.get(socket).copied() else { return };
                let name = self.associations[place].config.name.clone();
                let subjects = vec![("association", name), ("path", address.to_string())];
                self.tell(now, subjects, kind.name(), None);
            }
            ProgramEvent::Restarted => {
                let Some(place) = self.by_socket.get(socket).copied() else { return };
                if self.associations[place].waiting() > 0 {
                    self.input(now, place, TransportInput::Congested(false));
                }
                self.input(now, place, TransportInput::Restart);
                let waiting = self.associations[place].take_waiting();
                self.take_back(now, host, socket, place, waiting);
            }
            ProgramEvent::Writable => {
                let Some(place) = self.by_socket.get(socket).copied() else { return };
                if let Some(input) = self.associations[place].writable(now, host, &mut self.passage) {
                    self.input(now, place, input);
                }
            }
            ProgramEvent::Sctp(event) => self.note_addresses(now, socket, *event),
            ProgramEvent::Transmitted(number) => {
                let Some(place) = self.by_socket.get(socket).copied() else { return };
                if let Some(input) = self.associations[place].transmitted(number) {
                    self.input(now, place, input);
                }
            }
            ProgramEvent::Abandoned => {}
        }
    }

    /// Messages of one packet are all there before any of them is acknowledged: M2PA acknowledges them at once.
    fn handle_all_told(&mut self, now: Instant, host: &mut Host) {
        self.drive(now, host);
        self.settle_traced(now);
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        self.drive(now, host);
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        if self.phase == Phase::Serving {
            let until = now.saturating_add(self.patience);
            self.phase = Phase::Leaving(until);
            self.deadlines.set(PHASE, Some(until));
            self.tell(now, Vec::new(), "stopping", None);
            self.give_up_reload(now);
            for own in 0..self.sending.len() {
                self.deadlines.set(self.first_load() + own, None);
            }
            self.entity.take_out(now);
            self.deadlines.set(ENTITY, Some(now));
            self.drive(now, host);
        } else {
            // Asked a second time: at once.
            self.phase = Phase::Closing(now);
            self.phase_ends(now, host);
        }
    }

    fn is_over(&self) -> bool {
        match self.phase {
            Phase::Serving | Phase::Leaving(_) => false,
            Phase::Closing(_) => self.associations.iter().all(|end| end.socket().is_none()),
            Phase::Over => true,
        }
    }
}
