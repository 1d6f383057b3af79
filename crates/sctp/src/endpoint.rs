//! One SCTP endpoint: a port on one or more addresses, and all its associations.
//!
//! The endpoint sorts packets to associations, answers INITs without keeping state, resolves collisions and
//! restarts, and answers what belongs to nobody. What happens within an established association is left to
//! [`Association`].
//!
//! It is driven like every protocol object here: a command or [`handle_input`](Endpoint::handle_input)
//! changes it, then [`poll_output`](Endpoint::poll_output) is called until it says [`Output::Wait`].

mod cookie_echo;
mod deadlines;
mod icmp;
mod initiation;
mod outbox;
mod receive;
mod stats;
mod table;

pub use stats::EndpointStats;
pub use table::AssociationId;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Stream};
use slantpath_wire::Packet;
use slantpath_wire::icmp::IcmpError;
use smallvec::SmallVec;

use crate::address::{is_usable, source_for};
use crate::association::{Association, AssociationOutput};
use crate::cause::Cause;
use crate::chunk::{Abort, Chunk};
use crate::config::SctpConfig;
use crate::cookie::{CookieSigner, TieTags};
use crate::event::{CloseReason, Event, Message, SendError};
use crate::handshake::{CookieWait, LocalStart, Wishes};
use crate::packet::Fragmentation;
use crate::path::PathSnapshot;
use crate::types::{Tsn, VerificationTag};

use deadlines::Deadlines;
use outbox::Outbox;
use table::{Entry, State, Table};

/// What an endpoint is made of.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Its port; not zero.
    pub port: u16,
    /// Its addresses, at least one; the first is preferred where nothing else decides.
    pub addresses: Vec<IpAddr>,
    /// The settings of its associations.
    pub config: SctpConfig,
}

/// Whom to connect to.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The peer's addresses, as far as they are known; at least one.
    pub peer_addresses: Vec<IpAddr>,
    /// The peer's port; not zero.
    pub peer_port: u16,
    /// Which address is to be the primary path; `None`: the first.
    pub primary: Option<IpAddr>,
}

/// The other end of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer<'a> {
    /// Its port.
    pub port: u16,
    /// Its addresses: those that were connected to or that its INIT came from, then those that it has listed. Whether
    /// it has been found at one, its path tells ([`PathSnapshot::state`]).
    pub addresses: &'a [IpAddr],
}

/// Why an association cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// There is one with that peer already.
    #[error("there is an association with {0} already")]
    AlreadyAssociated(IpAddr),
    /// An address that names no single host, or port zero.
    #[error("{address}, port {port}, is no address to connect to")]
    Unusable {
        /// The address.
        address: IpAddr,
        /// The port.
        port: u16,
    },
    /// No address was given, or none of an IP version that the endpoint has an address of.
    #[error("no address of the peer is of an IP version that this endpoint has")]
    Unreachable,
    /// The primary address is not among the peer's.
    #[error("the primary address {0} is not among the peer's")]
    UnknownPrimary(IpAddr),
    /// The endpoint holds as many associations as it may.
    #[error("the endpoint holds as many associations as it may")]
    TooManyAssociations,
}

/// What comes in from below.
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
        /// The packet.
        packet: Packet,
    },
    /// An ICMP message about a packet of this endpoint.
    Icmp {
        /// Where that packet was going.
        destination: IpAddr,
        /// What became of it.
        error: IcmpError,
        /// As much of it as the message quotes, from the SCTP common header on.
        quote: Bytes,
    },
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Output {
    /// A packet to send, from the SCTP common header on.
    Transmit {
        /// One of the endpoint's addresses.
        source: IpAddr,
        /// The peer's address.
        destination: IpAddr,
        /// The packet.
        packet: Packet,
        /// Whether IP may cut it.
        fragmentation: Fragmentation,
    },
    /// News for the layer above.
    Event(AssociationId, Event),
    /// Nothing until the next input, or until this time.
    Wait(Option<Instant>),
}

/// An SCTP endpoint.
#[derive(Debug)]
pub struct Endpoint {
    port: u16,
    addresses: SmallVec<[IpAddr; 2]>,
    config: Arc<SctpConfig>,
    is_listening: bool,
    stream: Stream,
    signer: CookieSigner,
    table: Table,
    deadlines: Deadlines,
    /// Slots whose associations may have output; each at most once.
    pending: VecDeque<u32>,
    outbox: Outbox,
    stats: EndpointStats,
}

impl Endpoint {
    /// An endpoint without associations that does not listen. All its chance comes from `stream`: tags, TSNs,
    /// nonces and the secret of its cookies.
    ///
    /// # Panics
    /// If it has no address, or an address that names no single host, or port zero; or if its thresholds contradict
    /// each other, which [`FailoverThresholds::check`](crate::FailoverThresholds::check) tells beforehand.
    pub fn new(endpoint: EndpointConfig, mut stream: Stream) -> Self {
        let EndpointConfig { port, addresses, config } = endpoint;
        assert!(port != 0, "port 0 must not be used");
        assert!(!addresses.is_empty(), "an endpoint has an address");
        assert!(addresses.iter().all(|address| is_usable(*address)), "an address names no single host");
        let thresholds = config.thresholds().check();
        assert!(thresholds.is_ok(), "{thresholds:?}");
        let signer = CookieSigner::new(Instant::START, &mut stream);
        Self {
            port,
            addresses: addresses.into(),
            is_listening: false,
            stream,
            signer,
            table: Table::default(),
            deadlines: Deadlines::default(),
            pending: VecDeque::new(),
            outbox: Outbox::new(port, config.checksum),
            stats: EndpointStats::default(),
            config: Arc::new(config),
        }
    }

    /// The endpoint's port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// What has come in, and what became of it.
    pub const fn stats(&self) -> &EndpointStats {
        &self.stats
    }

    /// How many associations there are, in whatever state.
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

    /// Who the peer of an association is, in whatever state; `None` if there is no such association.
    pub fn peer(&self, id: AssociationId) -> Option<Peer<'_>> {
        let entry = self.table.find(id)?;
        Some(Peer { port: entry.peer_port, addresses: &entry.peer_addresses })
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

    /// Whether INITs of others are accepted from now on.
    pub const fn listen(&mut self, is_listening: bool) {
        self.is_listening = is_listening;
    }

    /// ASSOCIATE: begins an association. Messages may be sent at once; they leave with the COOKIE ECHO.
    pub fn connect(&mut self, now: Instant, options: &ConnectOptions) -> Result<AssociationId, ConnectError> {
        let destinations = self.destinations(options)?;
        if self.table.len() >= self.config.max_associations {
            return Err(ConnectError::TooManyAssociations);
        }
        let start = self.fresh_start();
        let handshake = CookieWait::begin(now, start, destinations.clone(), &self.addresses, &self.config);
        let id = self.table.insert(Entry {
            peer_port: options.peer_port,
            peer_addresses: destinations,
            tie_tags: TieTags::random(&mut self.stream),
            state: State::CookieWait(Box::new(handshake)),
        });
        self.send_init(id.slot());
        Ok(id)
    }

    /// SEND: queues a message.
    pub fn send(&mut self, now: Instant, id: AssociationId, message: Message) -> Result<(), SendError> {
        let entry = self.table.find_mut(id).ok_or(SendError::NoAssociation)?;
        match &mut entry.state {
            State::CookieWait(handshake) => handshake.wishes.send(message, &self.config),
            State::CookieEchoed(handshake) => handshake.send(now, message),
            State::Established(association) => {
                let result = association.send(now, message);
                self.wake(id.slot());
                result
            }
        }
    }

    /// SHUTDOWN: ends the association once all messages have been delivered. `false` if there is none.
    pub fn shutdown(&mut self, now: Instant, id: AssociationId) -> bool {
        let Some(entry) = self.table.find_mut(id) else { return false };
        match &mut entry.state {
            State::CookieWait(handshake) => handshake.wishes.shut_down(),
            State::CookieEchoed(handshake) => handshake.wishes().shut_down(),
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

    /// Holds received messages back, so that they fill the receive buffer and close its window, until
    /// [`resume_delivery`](Self::resume_delivery), or until the association ends. `false` if it is not established.
    pub fn pause_delivery(&mut self, id: AssociationId) -> bool {
        self.with_established(id, |association| {
            association.pause_delivery();
            true
        })
    }

    /// Passes on the messages that were held back, and all that follow; the peer is told at once if that opens the
    /// window by a quarter of the receive buffer. `false` if the association is not established.
    pub fn resume_delivery(&mut self, id: AssociationId) -> bool {
        self.with_established(id, |association| {
            association.resume_delivery();
            true
        })
    }

    /// Takes what comes in from below. Several packets may be handed in before output is polled: each releases as many
    /// packets, up to Max.Burst, as it would have alone.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        match input {
            Input::Packet { source, destination, packet } => {
                self.handle_packet(now, source, destination, &packet);
            }
            Input::Deadline => {
                while let Some(slot) = self.deadlines.take_due(now) {
                    self.handle_deadline(now, slot);
                }
            }
            Input::Icmp { destination, error, quote } => self.handle_icmp(now, destination, error, &quote),
        }
    }

    /// What is to be done next. Call it until it says [`Output::Wait`].
    pub fn poll_output(&mut self, now: Instant) -> Output {
        loop {
            if let Some(output) = self.outbox.pop() {
                return output;
            }
            let Some(&slot) = self.pending.front() else {
                return Output::Wait(self.deadlines.earliest());
            };
            let deadline = match self.table.get_mut(slot).map(|entry| &mut entry.state) {
                None => None,
                Some(State::CookieWait(handshake)) => Some(handshake.deadline()),
                Some(State::CookieEchoed(handshake)) => Some(handshake.deadline()),
                Some(State::Established(association)) => match association.poll_output(now) {
                    AssociationOutput::Transmit { source, destination, packet, fragmentation } => {
                        return Output::Transmit { source, destination, packet, fragmentation };
                    }
                    AssociationOutput::Event(event) => {
                        let id = self.table.id(slot);
                        if matches!(event, Event::Closed(_)) {
                            self.remove(slot);
                        }
                        return Output::Event(id, event);
                    }
                    AssociationOutput::Wait(deadline) => deadline,
                },
            };
            self.deadlines.set(slot, deadline);
            self.pending.pop_front();
            self.table.set_pending(slot, false);
        }
    }

    fn destinations(&self, options: &ConnectOptions) -> Result<SmallVec<[IpAddr; 2]>, ConnectError> {
        let port = options.peer_port;
        let mut destinations = SmallVec::new();
        for &address in &options.peer_addresses {
            if !is_usable(address) || port == 0 {
                return Err(ConnectError::Unusable { address, port });
            }
            if self.table.confirmed_slot_of(address, port).is_some() {
                return Err(ConnectError::AlreadyAssociated(address));
            }
            if source_for(address, &self.addresses).is_some() && !destinations.contains(&address) {
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

    /// A random tag and a random initial TSN.
    fn fresh_start(&mut self) -> LocalStart {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2
        //# Defines the TSN that the sender of the INIT chunk will use
        //# initially.  The valid range is from 0 to 4294967295 and the
        //# Initial TSN SHOULD be set to a random value in that range.
        LocalStart {
            tag: VerificationTag::random(&mut self.stream),
            initial_tsn: Tsn(self.stream.next_u32()),
        }
    }

    /// A stream of its own for an association, so that its draws depend on no other's.
    fn fork_stream(&mut self) -> Stream {
        slantpath_base::Seed::new(self.stream.next_u64(), self.stream.next_u64()).stream("association")
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
        let config = Arc::clone(&self.config);
        match &mut self.table[slot].state {
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
            State::Established(association) => {
                association.handle_deadline(now);
                self.wake(slot);
            }
        }
    }

    /// Has the slot looked at by the next poll.
    fn wake(&mut self, slot: u32) {
        if self.table.set_pending(slot, true) {
            self.pending.push_back(slot);
        }
    }

    /// Forgets the association in the slot.
    fn remove(&mut self, slot: u32) -> Option<Entry> {
        self.deadlines.set(slot, None);
        self.table.remove(slot)
    }

    /// Ends an association that is being set up: gives its messages back and says why.
    fn fail(&mut self, slot: u32, reason: CloseReason) {
        let id = self.table.id(slot);
        let Some(entry) = self.remove(slot) else { return };
        let wishes = match entry.state {
            State::CookieWait(handshake) => handshake.wishes,
            State::CookieEchoed(handshake) => handshake.into_parts().1,
            State::Established(_) => Wishes::default(),
        };
        for message in wishes.into_messages() {
            self.outbox.push_event(id, Event::SendFailed { message });
        }
        self.outbox.push_event(id, Event::Closed(reason));
    }

    /// Sends chunks in a packet of their own to an address of an association's peer.
    fn transmit_to_peer(&mut self, slot: u32, destination: IpAddr, tag: VerificationTag, chunks: &[Chunk]) {
        let peer_port = self.table[slot].peer_port;
        if let Some(source) = source_for(destination, &self.addresses) {
            self.outbox.transmit(source, destination, peer_port, tag, chunks);
        }
    }

    fn send_init(&mut self, slot: u32) {
        if let State::CookieWait(handshake) = &self.table[slot].state {
            let (init, destination) = handshake.init();
            //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5.1
            //# *  The sender MUST set the Verification Tag of the packet to 0.
            self.transmit_to_peer(slot, destination, VerificationTag::ZERO, &[init]);
        }
        self.wake(slot);
    }
}

#[cfg(test)]
mod tests;
