//! The SCTP of one host: any number of ports, each on one or more addresses, and all their associations.
//!
//! A port is what RFC 9260 calls an endpoint. It is bound with settings and a stream of chance, which its associations
//! share unless they are opened with their own; which port and association a packet belongs to is looked up, and what
//! is due and what has something to say is kept in order, so that nothing here costs more for there being many.
//!
//! The endpoint sorts packets to associations, answers INITs without keeping state, resolves collisions and
//! restarts, and answers what belongs to nobody. What happens within an established association is left to
//! [`Association`].
//!
//! It is driven like every protocol object here: a command or [`handle_input`](Endpoint::handle_input)
//! changes it, then [`poll_output`](Endpoint::poll_output) is called until it says [`Output::Wait`].

mod addresses;
mod connect;
mod cookie_echo;
mod delivery;
mod early;
mod ended;
mod icmp;
mod initiation;
mod keys;
mod mib;
mod outbox;
mod port;
mod ports;
mod receive;
mod reconfiguration;
mod routes;
mod send;
mod send_pool;
mod settings;
mod stats;
mod stray;
mod table;

pub use connect::{ConnectError, ConnectOptions};
pub use mib::MibCounters;
pub use port::{Acceptance, BindError, PortConfig, PortId};
pub use stats::EndpointStats;
pub use table::AssociationId;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Deadlines, Duration, Instant, Stream};
use slantpath_wire::Packet;
use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::{Envelope, IpFields};
use smallvec::SmallVec;

use crate::address::{in_scope, is_usable, source_for};
use crate::association::{Association, Departing};
use crate::cause::Cause;
use crate::chunk::{Abort, Chunk};
use crate::cookie::TieTags;
use crate::event::{CloseReason, Event};
use crate::handshake::{CookieWait, EarlyRequests, LocalStart};
use crate::packet::IpFragmentation;
use crate::path::PathSnapshot;
use crate::types::{StreamId, VerificationTag};

use outbox::Outbox;
use port::Port;
use routes::Questions;
use table::{Entry, State, Table};

/// The other end of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssociationPeer<'a> {
    /// Port of the peer.
    pub port: u16,
    /// Addresses of the peer: those that were connected to or that its INIT came from, then those that it has listed.
    /// The state of the path tells if the peer has been found at an address ([`PathSnapshot::state`]).
    pub addresses: &'a [IpAddr],
}

/// Input to an endpoint from below.
#[derive(Clone, Debug)]
pub enum Input {
    /// The time that [`Output::Wait`] asked for has come.
    Deadline,
    /// A packet, from the SCTP common header on.
    Packet {
        /// The IP header's source.
        source: IpAddr,
        /// The IP header's destination, one of the endpoint's addresses.
        destination: IpAddr,
        /// Other fields of the IP header.
        ip: IpFields,
        /// Packet from the SCTP common header on.
        packet: Packet,
    },
    /// An ICMP message about a packet of this endpoint.
    Icmp {
        /// Source of the packet that the message is about.
        source: IpAddr,
        /// Destination of that packet.
        destination: IpAddr,
        /// Error that was reported for the packet.
        error: IcmpError,
        /// As much of it as the message quotes, from the SCTP common header on.
        quote: Bytes,
    },
}

/// Action that the driver of the endpoint has to take.
#[derive(Clone, Debug)]
pub enum Output {
    /// The packet that has been written, from the SCTP common header on, is to be sent.
    Transmit {
        /// One of the endpoint's addresses.
        source: IpAddr,
        /// The peer's address.
        destination: IpAddr,
        /// Permission for IP to fragment the packet.
        fragmentation: IpFragmentation,
        /// Other fields for the IP header.
        ip: IpFields,
    },
    /// News for the layer above.
    Event(AssociationId, Event),
    /// Nothing until the next input, or until this time.
    Wait(Option<Instant>),
}

/// The SCTP of one host.
#[derive(Debug, Default)]
pub struct Endpoint {
    /// In the order in which they were bound.
    ports: Vec<Port>,
    /// First port of each number.
    by_number: FxHashMap<u16, u32>,
    /// True if an INIT to a port at an address that it has not is answered.
    refuses_misdirected: bool,
    table: Table,
    deadlines: Deadlines<u32>,
    /// Slots whose associations may have output; each at most once.
    pending: VecDeque<u32>,
    /// True if the first of these has nothing more to say, and its deadline is set: it stays there only in case its
    /// user answers what it was told last.
    is_first_settled: bool,
    /// Of the peer of the association whose tag, or a cookie of ours, the packet that came last bore.
    verified_peer_tag: Option<VerificationTag>,
    /// True while associations wait for room in what all of a port may hold.
    is_crowded: bool,
    outbox: Outbox,
    questions: Questions,
    stats: EndpointStats,
    /// Counts that associations that have ended leave to the counters of the MIB, and those that count once for each
    /// association.
    ended: MibCounters,
    /// Of the association that ended last: the instant at which the newest packet left that the peer has answered.
    last_end: Option<(AssociationId, Option<Instant>)>,
}

impl Endpoint {
    /// Begins to use a port, which does not listen yet. All its chance comes from `stream`: the secret of its cookies,
    /// and tags, TSNs and nonces.
    ///
    /// # Panics
    /// If it has no address, or an address that names no single host, or port zero; or if its thresholds contradict
    /// each other, which [`FailoverThresholds::check`](crate::FailoverThresholds::check) tells beforehand.
    pub fn bind(&mut self, port: PortConfig, stream: Stream) -> Result<(), BindError> {
        if self.by_number.contains_key(&port.port) {
            return Err(BindError::InUse(port.port));
        }
        self.bind_beside(port, stream);
        Ok(())
    }

    /// Counts of received packets, and of what was done with them.
    pub const fn stats(&self) -> &EndpointStats {
        &self.stats
    }

    /// Number of associations, in whatever state.
    pub const fn association_count(&self) -> usize {
        self.table.len()
    }

    /// The established association, in whatever state of shutting down, to look at; `None` while it is being
    /// set up, or if there is none.
    pub fn association(&self, id: AssociationId) -> Option<&Association> {
        match &self.table.find(id)?.state {
            State::Established(association) => Some(association),
            State::CookieWait(_) | State::CookieEchoed(_) => None,
        }
    }

    /// Instant at which the newest packet left that the peer has answered, on whatever path: of DATA, only what was
    /// sent once. It is known until another association has ended, too. `None` if there is none.
    pub fn last_answered(&self, id: AssociationId) -> Option<Instant> {
        match self.association(id) {
            Some(association) => association.last_answered(),
            None => self.last_end.filter(|(ended, _)| *ended == id)?.1,
        }
    }

    /// Gives the peer of an association, in whatever state; `None` if there is no such association.
    pub fn peer(&self, id: AssociationId) -> Option<AssociationPeer<'_>> {
        let entry = self.table.find(id)?;
        Some(AssociationPeer { port: entry.peer_port, addresses: &entry.peer_addresses })
    }

    /// The own port of an association, in whatever state; `None` if there is no such association.
    pub fn local_port(&self, id: AssociationId) -> Option<u16> {
        self.table.find(id).map(|entry| self.ports[entry.port as usize].number)
    }

    /// STATUS of each path of an association, in the order in which the peer listed its addresses; none
    /// before the association is established.
    pub fn path_snapshots(
        &mut self,
        now: Instant,
        id: AssociationId,
    ) -> impl Iterator<Item = PathSnapshot> + '_ {
        let association = match self.table.find_mut(id).map(|entry| &mut entry.state) {
            Some(State::Established(association)) => Some(association),
            Some(State::CookieWait(_) | State::CookieEchoed(_)) | None => None,
        };
        association.into_iter().flat_map(move |association| association.path_snapshots(now))
    }

    /// ASSOCIATE: begins an association. Messages may be sent at once; they leave with the COOKIE ECHO.
    pub fn connect(&mut self, now: Instant, options: &ConnectOptions) -> Result<AssociationId, ConnectError> {
        let unbound = ConnectError::NotBound(options.local_port);
        let PortId(place) = options.own.or_else(|| self.port(options.local_port)).ok_or(unbound)?;
        let destinations = self.destinations(place, options)?;
        let port = &mut self.ports[place as usize];
        if !port.has_room() {
            return Err(ConnectError::TooManyAssociations);
        }
        let config = options.config.clone().unwrap_or_else(|| Arc::clone(&port.config));
        let config = port.pool.within(config);
        let mut own = options.stream.clone();
        let stream = own.as_mut().unwrap_or(&mut port.stream);
        let start = LocalStart::draw(stream, &config);
        let tie_tags = TieTags::random(stream);
        let told = in_scope(&port.addresses, destinations.iter().copied());
        let handshake = CookieWait::begin(now, start, destinations.clone(), &told, &config);
        let id = self.insert(Entry {
            state: State::CookieWait(Box::new(handshake)),
            port: place,
            own_port: options.local_port,
            peer_port: options.peer_port,
            held: 0,
            peer_addresses: destinations,
            config,
            stream: own.map(Box::new),
            tie_tags,
        });
        self.send_init(id.slot());
        Ok(id)
    }

    /// Sets the priority or weight of an outbound stream of an established association, as
    /// [`SctpConfig::stream_values`](crate::SctpConfig::stream_values) does from the beginning (RFC 8260, section
    /// 4.3.3). `false` if there is none.
    pub fn set_stream_value(&mut self, id: AssociationId, stream: StreamId, value: u16) -> bool {
        let Some(State::Established(association)) = self.table.find_mut(id).map(|entry| &mut entry.state)
        else {
            return false;
        };
        association.set_stream_value(stream, value);
        true
    }

    /// SHUTDOWN: ends the association once all messages have been delivered. `false` if there is none.
    pub fn shutdown(&mut self, now: Instant, id: AssociationId) -> bool {
        let Some(entry) = self.table.find_mut(id) else { return false };
        match &mut entry.state {
            State::CookieWait(handshake) => handshake.early_requests.shut_down(),
            State::CookieEchoed(handshake) => handshake.early_requests().shut_down(),
            State::Established(association) => {
                association.shutdown(now);
                self.wake(id.slot());
            }
        }
        true
    }

    /// ABORT: ends the association at once, and tells the peer `reason`. `false` if there is none.
    pub fn abort(&mut self, now: Instant, id: AssociationId, reason: Bytes) -> bool {
        let Some(entry) = self.table.find_mut(id) else { return false };
        let cause = Cause::UserInitiatedAbort(reason);
        match &mut entry.state {
            State::Established(association) => {
                association.abort(now, cause);
                self.wake(id.slot());
            }
            // The peer has nothing yet that an ABORT could end.
            State::CookieWait(_) => self.fail(id.slot(), CloseReason::Aborted(cause)),
            State::CookieEchoed(handshake) => {
                let tag = handshake.tcb.peer_tag;
                let (_, destination) = handshake.echo();
                let abort = Chunk::Abort(Abort::because(cause.clone()));
                self.transmit_to_peer(id.slot(), destination, tag, &[abort]);
                self.fail(id.slot(), CloseReason::Aborted(cause));
            }
        }
        true
    }

    /// SET PRIMARY: lets new DATA go to this address of the peer. `false` if it is none of its confirmed
    /// addresses, or the association is not established.
    pub fn set_primary(&mut self, now: Instant, id: AssociationId, address: IpAddr) -> bool {
        self.with_established(id, |association| association.set_primary(now, address))
    }

    /// REQUEST HEARTBEAT: probes an address of the peer now. `false` if it is none, or the association is not
    /// established.
    pub fn request_heartbeat(&mut self, now: Instant, id: AssociationId, address: IpAddr) -> bool {
        self.with_established(id, |association| association.request_heartbeat(now, address))
    }

    /// CHANGE HEARTBEAT: sets HB.interval of an address of the peer, or turns its HEARTBEATs off (`None`).
    /// `false` if it is none of the peer's addresses, or the association is not established.
    pub fn set_heartbeat_interval(
        &mut self,
        now: Instant,
        id: AssociationId,
        address: IpAddr,
        interval: Option<Duration>,
    ) -> bool {
        self.with_established(id, |association| association.set_heartbeat_interval(now, address, interval))
    }

    /// Takes what comes in from below. Several packets may be handed in before output is polled: each releases as many
    /// packets, up to Max.Burst, as it would have alone.
    #[expect(clippy::needless_pass_by_value, reason = "what comes in is over once it has been taken in")]
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        match input {
            Input::Packet { source, destination, ip, ref packet } => {
                self.handle_packet(now, &Envelope { source, destination, fields: ip }, packet);
            }
            Input::Deadline => {
                while let Some(id) = self.take_due(now) {
                    self.handle_due(now, id);
                }
            }
            Input::Icmp { source, destination, error, ref quote } => {
                self.handle_icmp(now, source, destination, error, quote);
            }
        }
    }

    /// The next association whose deadline has come, the earliest first. Nothing has happened to it yet: whoever
    /// serves many users says by [`handle_due`](Self::handle_due) when it is its turn.
    pub fn take_due(&mut self, now: Instant) -> Option<AssociationId> {
        let slot = self.deadlines.take_due(now)?;
        self.table.set_due(slot, true);
        // Others may be due before it is its turn.
        self.table.prefetch(slot);
        Some(self.table.id(slot))
    }

    /// Asks the processor for the memory of an association that is going to be served.
    pub fn prefetch(&self, id: AssociationId) {
        if self.table.find(id).is_some() {
            self.table.prefetch(id.slot());
        }
    }

    /// Does what is due for an association that [`take_due`](Self::take_due) has given; nothing for any other.
    pub fn handle_due(&mut self, now: Instant, id: AssociationId) {
        if self.table.find(id).is_some() && self.table.set_due(id.slot(), false) {
            self.handle_deadline(now, id.slot());
        }
    }

    /// The earliest deadline, once all output has been polled.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// Tells if there is nothing to poll.
    pub fn is_idle(&self) -> bool {
        let is_quiet = match self.pending.len() {
            0 => true,
            1 => self.is_first_settled,
            _ => false,
        };
        is_quiet && self.outbox.is_empty()
    }

    /// Gives the next action; a packet to send is written over `packet`. Call it until it returns [`Output::Wait`].
    pub fn poll_output(&mut self, now: Instant, packet: &mut Packet) -> Output {
        if self.is_idle() {
            return Output::Wait(self.deadlines.earliest());
        }
        if let Some(Departing { envelope, fragmentation }) = self.poll_transmit(now, packet) {
            let Envelope { source, destination, fields: ip } = envelope;
            return Output::Transmit { source, destination, fragmentation, ip };
        }
        match self.poll_event() {
            Some((id, event)) => Output::Event(id, event),
            None => Output::Wait(self.deadlines.earliest()),
        }
    }

    /// Writes the next packet to send over `packet`, if it comes before the next event, and says where it goes. Who
    /// polls packets and events apart goes on until [`is_idle`](Self::is_idle) says that there is neither.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it gives is large to move")]
    pub fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<Departing> {
        if !self.outbox.is_empty() {
            return self.outbox.pop_packet(packet);
        }
        if core::mem::take(&mut self.is_first_settled) {
            // Its user has not answered.
            self.dismiss_first();
        }
        while let Some(&slot) = self.pending.front() {
            if let Some(State::Established(association)) =
                self.table.get_mut(slot).map(|entry| &mut entry.state)
                && let Some(departing) = association.poll_transmit(now, self.outbox.builder(), packet)
            {
                if !association.has_output() {
                    let deadline = association.next_deadline();
                    self.settle_first(slot, deadline);
                }
                return Some(departing);
            }
            if self.has_event_of(slot) {
                return None;
            }
        }
        None
    }

    /// Tells if the first of those that were to be looked at, the one in `slot`, has an event, since it has no packet.
    /// If not, it has nothing more to say.
    #[inline(never)]
    fn has_event_of(&mut self, slot: u32) -> bool {
        if self.is_crowded {
            self.count_held(slot);
        }
        let deadline = match self.table.get_mut(slot).map(|entry| &mut entry.state) {
            None => None,
            Some(State::CookieWait(handshake)) => Some(handshake.deadline()),
            Some(State::CookieEchoed(handshake)) => Some(handshake.deadline()),
            Some(State::Established(association)) => {
                if association.next_event().is_some() {
                    return true;
                }
                association.next_deadline()
            }
        };
        self.deadlines.set(slot, deadline);
        self.dismiss_first();
        false
    }

    /// The next event, if it comes before the next packet.
    #[inline]
    pub fn poll_event(&mut self) -> Option<(AssociationId, Event)> {
        if !self.outbox.is_empty() {
            return self.poll_event_of_outbox();
        }
        // Asked here, since packets leave most often without an event behind them.
        if self.is_first_settled { None } else { self.poll_event_of_first() }
    }

    /// The oldest event that is not an association's own. Behind the last one of an association that has never been up
    /// its slot may be another's.
    #[cold]
    fn poll_event_of_outbox(&mut self) -> Option<(AssociationId, Event)> {
        let (id, event) = self.outbox.pop_event()?;
        if matches!(event, Event::Closed(_)) {
            self.table.vacate(id.slot());
        }
        Some((id, event))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "an event is large to move")]
    fn poll_event_of_first(&mut self) -> Option<(AssociationId, Event)> {
        let slot = *self.pending.front()?;
        let id = self.table.id(slot);
        let State::Established(association) = &mut self.table.get_mut(slot)?.state else { return None };
        match association.next_event()? {
            Event::Closed(_) => {
                let end = association.poll_event();
                self.last_end = Some((id, association.last_answered()));
                if let Some(Event::Closed(reason)) = &end {
                    self.ended.count_end(reason);
                }
                self.remove(slot);
                self.table.vacate(slot);
                return Some((id, end?));
            }
            _ if association.has_one_event() => {
                self.deadlines.set(slot, association.next_deadline());
                self.is_first_settled = true;
            }
            _ => {}
        }
        // Moved once, to where it is asked for.
        Some((id, association.poll_event()?))
    }

    /// The first of those that were to be looked at, the one in `slot`, says nothing more unless its user does
    /// something.
    #[inline]
    fn settle_first(&mut self, slot: u32, deadline: Option<Instant>) {
        self.deadlines.set(slot, deadline);
        // What was given up instead of sent may make room for others, and for itself.
        self.is_first_settled = !(self.is_crowded && self.has_found_room(slot));
    }

    /// The first of those that were to be looked at has nothing more to say.
    #[inline]
    fn dismiss_first(&mut self) {
        if let Some(slot) = self.pending.pop_front() {
            self.table.set_pending(slot, false);
        }
    }

    fn destinations(
        &self,
        place: u32,
        options: &ConnectOptions,
    ) -> Result<SmallVec<[IpAddr; 2]>, ConnectError> {
        let port = options.peer_port;
        let mut destinations = SmallVec::new();
        for &address in &options.peer_addresses {
            if !is_usable(address) || port == 0 {
                return Err(ConnectError::Unusable { address, port });
            }
            if let Some(slot) = self.table.confirmed_slot_of(place, options.local_port, address, port) {
                let is_ending = self.table[slot].state.is_ending();
                let refused = if is_ending { ConnectError::Ending } else { ConnectError::AlreadyAssociated };
                return Err(refused(address));
            }
            if source_for(address, &self.ports[place as usize].addresses).is_some()
                && !destinations.contains(&address)
            {
                destinations.push(address);
            }
        }
        if let Some(primary) = options.primary {
            let place = destinations.iter().position(|address| *address == primary);
            let place = place.ok_or(ConnectError::UnknownPrimary(primary))?;
            destinations[..=place].rotate_right(1);
        }
        if destinations.is_empty() { Err(ConnectError::Unreachable) } else { Ok(destinations) }
    }

    /// Takes an association in.
    fn insert(&mut self, entry: Entry) -> AssociationId {
        self.ports[entry.port as usize].associations += 1;
        self.table.insert(entry)
    }

    /// Stream of random numbers that an association draws from.
    fn stream_of(&mut self, slot: u32) -> &mut Stream {
        let entry = &mut self.table[slot];
        match &mut entry.stream {
            Some(stream) => stream,
            None => &mut self.ports[entry.port as usize].stream,
        }
    }

    fn with_established(&mut self, id: AssociationId, act: impl FnOnce(&mut Association) -> bool) -> bool {
        let Some(Entry { state: State::Established(association), .. }) = self.table.find_mut(id) else {
            return false;
        };
        let is_done = act(association);
        self.wake(id.slot());
        is_done
    }

    fn handle_deadline(&mut self, now: Instant, slot: u32) {
        if let State::Established(association) = &mut self.table[slot].state {
            association.handle_deadline(now);
            return self.wake(slot);
        }
        self.give_up_early(now, slot);
        let entry = &mut self.table[slot];
        let config = Arc::clone(&entry.config);
        match &mut entry.state {
            State::Established(_) => {}
            State::CookieWait(handshake) if !handshake.is_due(now) => {}
            State::CookieEchoed(handshake) if !handshake.is_due(now) => {}
            State::CookieWait(handshake) => {
                if handshake.expire(now, &config) {
                    self.send_init(slot);
                } else {
                    self.fail(slot, CloseReason::PeerUnreachable);
                }
            }
            State::CookieEchoed(handshake) => {
                if handshake.expire(now, &config) {
                    self.send_cookie_echo(now, slot);
                } else {
                    self.fail(slot, CloseReason::PeerUnreachable);
                }
            }
        }
    }

    /// Has the slot looked at by the next poll.
    #[inline(never)]
    fn wake(&mut self, slot: u32) {
        self.wake_behind_packet(slot);
    }

    /// Variant of [`wake`](Self::wake) for a slot whose held bytes have been counted.
    #[inline(never)]
    fn wake_counted(&mut self, slot: u32) {
        self.look_at(slot);
    }

    /// Variant of [`wake`](Self::wake) behind a packet, each of which passes it.
    #[expect(clippy::inline_always, reason = "it is little more than a call")]
    #[inline(always)]
    fn wake_behind_packet(&mut self, slot: u32) {
        self.count_held(slot);
        self.look_at(slot);
    }

    /// Variant of [`wake`](Self::wake) for a slot whose held bytes have not changed.
    #[expect(clippy::inline_always, reason = "it is little more than a call")]
    #[inline(always)]
    fn look_at(&mut self, slot: u32) {
        if core::mem::take(&mut self.is_first_settled) {
            if self.pending.front() == Some(&slot) {
                return;
            }
            // One that has said all stands in nobody's way.
            self.dismiss_first();
        }
        if self.table.set_pending(slot, true) {
            self.pending.push_back(slot);
        }
    }

    /// Forgets the association in the slot.
    fn remove(&mut self, slot: u32) -> Option<Entry> {
        self.deadlines.set(slot, None);
        let id = self.table.id(slot);
        let entry = self.table.remove(slot)?;
        self.ended.assoc_t1expireds += u64::from(entry.state.t1_expiries_in_setup());
        if let State::Established(association) = &entry.state {
            self.ended.add(association);
        }
        let port = &mut self.ports[entry.port as usize];
        port.associations -= 1;
        port.pool.forget(id, entry.held);
        if self.is_crowded {
            self.offer_room(entry.port);
        }
        Some(entry)
    }

    /// Ends an association that is being set up: gives its messages back and says why.
    fn fail(&mut self, slot: u32, reason: CloseReason) {
        let id = self.table.id(slot);
        let Some(entry) = self.remove(slot) else { return };
        self.ended.count_end(&reason);
        let early_requests = match entry.state {
            State::CookieWait(handshake) => handshake.early_requests,
            State::CookieEchoed(handshake) => handshake.into_parts().1,
            State::Established(_) => EarlyRequests::default(),
        };
        for (message, was_sent) in early_requests.into_messages().map(|message| (message, false)) {
            self.outbox.push_event(id, Event::SendFailed { message, was_sent });
        }
        self.outbox.push_event(id, Event::Closed(reason));
    }

    /// Sends chunks in a packet of their own to an address of an association's peer.
    fn transmit_to_peer(&mut self, slot: u32, destination: IpAddr, tag: VerificationTag, chunks: &[Chunk]) {
        let (port, peer_port) = (&self.ports[self.table[slot].port as usize], self.table[slot].peer_port);
        if let Some(source) = source_for(destination, &port.addresses) {
            self.outbox.transmit(port.sender(), source, destination, peer_port, tag, chunks);
        }
    }
}

#[cfg(test)]
mod tests;
