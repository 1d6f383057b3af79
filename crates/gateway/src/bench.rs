//! The traffic simulator: entities at which loads are sent and arrive, each at a host of its own, behind one set of
//! sockets.
//!
//! Seats have no users here. The bench has the loads of all, so that the account of a load that is sent and arrives
//! here is one. Of a load that another program sends it keeps the account by its generator and the stamps.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_base::{Instant, Stream};
use slantpath_interface::{AddressNews, EndSystem, InterfaceId, Journey};
use slantpath_live::{Program as _, Station, host_from};
use slantpath_signalling::network::{self, NetworkConfigError, SignallingEntity, UserPlace};
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::{Transfer, TransferIndication};
use slantpath_traffic::{Clocks, LinkLoadReport, Loads, StatusCounts};
use slantpath_wire::Packet;

use crate::seat::{Seat, SeatConfig, UserEvent};

/// An entity of a bench, at a host of its own.
#[derive(Clone, Debug)]
pub struct BenchSeat {
    /// Settings of the seat; it has the network that all have.
    pub seat: SeatConfig,
    /// Addresses of its host, which no other host has.
    pub addresses: Vec<IpAddr>,
}

/// Place where the messages of a load arrive that is sent here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// Another program, which keeps the account: here it is known what was sent and refused.
    Elsewhere,
    /// The bench itself.
    Here,
}

/// Settings of a bench.
#[derive(Clone, Debug)]
pub struct BenchConfig {
    /// Entities, at least one.
    pub seats: Vec<BenchSeat>,
    /// Numbers of the loads that are sent here, with the place where they arrive.
    pub sends: BTreeMap<usize, FarEnd>,
    /// Numbers of those that another program sends, and that arrive here.
    pub follows: BTreeSet<usize>,
    /// Relation of other programs' clocks to this one's.
    pub clocks: Clocks,
}

/// Entities at which loads are sent and arrive, with the account of these.
#[derive(Debug)]
pub struct TrafficBench {
    stations: Vec<Station<Seat>>,
    /// Station of each interface.
    by_interface: Vec<usize>,
    /// Stations by which users at a place send.
    by_place: BTreeMap<UserPlace, Vec<usize>>,
    loads: Loads,
    sends: Vec<(usize, FarEnd)>,
    follows: Vec<usize>,
    clocks: Clocks,
    /// Nanoseconds of the clock of stamps at the start.
    epoch: u64,
    /// Station that was handed a packet last.
    at_hand: usize,
    /// Station that is asked first for what it has to send, for all have their turn.
    turn: usize,
    stopped: bool,
    of_no_load: u64,
}

impl TrafficBench {
    /// Entities at their hosts, whose associations begin when they are first driven. All chance of SCTP comes from
    /// `stream`.
    ///
    /// # Errors
    /// The first thing that is wrong with an entity or the loads.
    ///
    /// # Panics
    /// If there is no seat, or the network has no such entity or load.
    pub fn open(now: Instant, config: BenchConfig, mut stream: Stream) -> Result<Self, NetworkConfigError> {
        let BenchConfig { seats, sends, follows, clocks } = config;
        let first = &seats[0].seat;
        let loads = Loads::new(first.network.loads.clone(), first.seed)?;
        let (mut stations, mut by_interface) = (Vec::new(), Vec::new());
        let mut by_place: BTreeMap<UserPlace, Vec<usize>> = BTreeMap::new();
        for (place, BenchSeat { seat, addresses }) in seats.into_iter().enumerate() {
            for users in places_of(&seat) {
                by_place.entry(users).or_default().push(place);
            }
            let first = u32::try_from(by_interface.len()).expect("addresses are few");
            let mut host = host_from(first, &addresses);
            by_interface.extend(addresses.iter().map(|_| place));
            let mut program = Seat::open(now, seat, &mut host, stream.fork(&format!("seat {place}")))?;
            program.hand_users_out();
            stations.push(Station { host, program });
        }
        let mut bench = Self {
            stations,
            by_interface,
            by_place,
            loads,
            sends: sends.into_iter().collect(),
            follows: follows.into_iter().collect(),
            clocks,
            epoch: 0,
            at_hand: 0,
            turn: 0,
            stopped: false,
            of_no_load: 0,
        };
        bench.set_epoch(0);
        Ok(bench)
    }

    /// Says what the clock of stamps read at the start, in nanoseconds, before anything is sent or comes.
    pub fn set_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
        for load in &self.follows {
            self.loads.follow(*load, self.clocks, epoch);
        }
    }

    /// Seats of the bench, in the order in which they were given.
    pub fn seats(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.stations().map(|station| &mut station.program)
    }

    /// Seats with their hosts, in that order.
    pub fn stations(&mut self) -> impl Iterator<Item = &mut Station<Seat>> {
        self.stations.iter_mut()
    }

    /// Reports on a load's messages up to `now`, one for each of its links.
    pub fn load_reports(&mut self, now: Instant, load: usize) -> Vec<LinkLoadReport> {
        let mut reports = self.loads.reports(now, load);
        if self.sends.contains(&(load, FarEnd::Elsewhere)) {
            // Nobody here knows what has become of the others.
            for LinkLoadReport { report, .. } in &mut reports {
                report.lost = report.refused;
                report.outstanding = report.sent - report.refused;
            }
        }
        reports
    }

    /// Counts of what the users of a load that is sent here have been told of its destinations.
    pub fn heard(&self, load: usize) -> StatusCounts {
        self.loads.heard(load)
    }

    /// Messages that came to user parts here and belong to no load.
    pub const fn of_no_load(&self) -> u64 {
        self.of_no_load
    }

    /// Tells if all loads have ended, and their messages have arrived or been given up.
    pub fn is_done(&mut self, now: Instant) -> bool {
        self.is_settled(now) && self.sends.iter().all(|(load, _)| self.loads.deadline(*load).is_none())
    }

    /// Tells if what was sent has arrived or been given up, as far as it arrives here.
    pub fn is_settled(&mut self, now: Instant) -> bool {
        let sent = self.sends.iter().filter(|(_, far)| *far == FarEnd::Here).map(|(load, _)| load);
        sent.chain(&self.follows).all(|load| self.loads.is_settled(now, *load))
    }

    /// No load sends any more; what is on its way may arrive.
    pub const fn halt(&mut self) {
        self.stopped = true;
    }

    /// Has all entities leave traffic in order; asked a second time, at once.
    pub fn stop(&mut self, now: Instant) {
        self.stopped = true;
        for station in &mut self.stations {
            station.stop(now);
        }
    }

    /// Tells if all entities have come to their end.
    pub fn is_over(&self) -> bool {
        self.stations.iter().all(|station| station.program.is_over())
    }

    fn next_load(&self) -> Option<Instant> {
        let due = |(load, _): &(usize, FarEnd)| self.loads.deadline(*load);
        if self.stopped { None } else { self.sends.iter().filter_map(due).min() }
    }

    /// Sends what is due of all loads.
    fn send(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        let clock = self.epoch.saturating_add(now.as_nanos());
        for (number, _) in self.sends.clone() {
            let load = self.loads.load_mut(number);
            let place = load.from();
            for destination in load.begin(now).into_iter().flatten() {
                if !self.is_reached(place, destination) {
                    let pause = TransferIndication::Pause(destination);
                    self.loads.load_mut(number).indicate(now, &pause);
                }
            }
            while let Some(message) = self.loads.load_mut(number).poll_stamped(now, Some(clock)) {
                let exit = self.exit(place, &message.transfer);
                let seat = exit.map(|exit| &mut self.stations[exit].program);
                if !seat.is_some_and(|seat| seat.transfer(now, place, &message.transfer)) {
                    self.loads.load_mut(number).refused(&message);
                }
            }
        }
    }

    /// Tells if users at a place reach a destination by any of their seats.
    fn is_reached(&self, place: UserPlace, destination: PointCode) -> bool {
        let mut own = self.by_place.get(&place).into_iter().flatten();
        own.any(|exit| self.stations[*exit].program.reaches(place, destination))
    }

    /// Station by which a message of users at a place leaves: processes that are active share by link selection.
    /// Without one, the first counts why it cannot go.
    fn exit(&self, place: UserPlace, transfer: &Transfer) -> Option<usize> {
        let all = self.by_place.get(&place)?;
        if let [only] = all[..] {
            return Some(only);
        }
        let active = || all.iter().filter(|exit| self.stations[**exit].program.carries(place, transfer));
        let turn = usize::from(transfer.label.sls.0).checked_rem(active().count());
        turn.and_then(|turn| active().nth(turn)).or_else(|| all.first()).copied()
    }

    /// Hands on what has come for the users of a station.
    fn serve_users(&mut self, now: Instant, station: usize) {
        while let Some(event) = self.stations[station].program.poll_user() {
            match event {
                UserEvent::Arrived(transfer) => {
                    self.of_no_load += u64::from(!self.loads.arrived(now, &transfer));
                }
                UserEvent::ArrivedUnitdata(at, ssn, data) => {
                    self.of_no_load += u64::from(!self.loads.arrived_unitdata(now, at, ssn, &data));
                }
                // Another process may reach it.
                UserEvent::Indication(place, TransferIndication::Pause(destination))
                    if self.is_reached(place, destination) => {}
                UserEvent::Indication(place, indication) => {
                    self.loads.indicate(now, place, None, &indication);
                }
            }
        }
    }
}

/// Places whose users send by a seat.
fn places_of(seat: &SeatConfig) -> BTreeSet<UserPlace> {
    match seat.occupant {
        SignallingEntity::Point(point) => BTreeSet::from([UserPlace::Point(point)]),
        SignallingEntity::Process(asp) => {
            let is_own = |server: &&network::ServerConfig| server.asps.contains(&asp);
            let own = seat.network.m3ua.servers.iter().filter(is_own);
            own.map(|server| UserPlace::Served(server.point)).collect()
        }
    }
}

impl EndSystem for TrafficBench {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.at_hand = self.by_interface[interface.index()];
        self.stations[self.at_hand].handle_packet(now, interface, packet);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.stations[self.at_hand].note_journey(journey);
    }

    fn verified_peer_tag(&self) -> Option<u32> {
        self.stations[self.at_hand].verified_peer_tag()
    }

    fn handle_address(&mut self, now: Instant, news: AddressNews) {
        // Who does not have it makes nothing of it. None is added: each has those that it was given.
        if !matches!(news, AddressNews::Added(..)) {
            for station in &mut self.stations {
                station.handle_address(now, news);
            }
        }
    }

    fn ask_for_routes(&mut self) {
        for station in &mut self.stations {
            station.ask_for_routes();
        }
    }

    fn route_question(&self) -> Option<&[IpAddr]> {
        self.stations.iter().find_map(Station::route_question)
    }

    fn answer_routes(&mut self, now: Instant, sources: &[Vec<IpAddr>]) {
        let asking = self.stations.iter_mut().find(|station| station.route_question().is_some());
        if let Some(station) = asking {
            station.answer_routes(now, sources);
        }
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.send(now);
        for station in &mut self.stations {
            if station.deadline().is_some_and(|deadline| deadline <= now) {
                station.handle_deadline(now);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let count = self.stations.len();
        for step in 0..count {
            let station = (self.turn + step) % count;
            let sent = self.stations[station].poll_transmit(now, packet);
            self.serve_users(now, station);
            if sent.is_some() {
                self.turn = station;
                return sent;
            }
        }
        self.turn = (self.turn + 1) % count;
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let stations = self.stations.iter().filter_map(EndSystem::deadline);
        stations.chain(self.next_load()).min()
    }
}
