//! One end of an association that carries signalling, at a program's port.
//!
//! One end opens it, and again whenever it is lost; the other waits until the peer that it knows calls. A message that
//! SCTP's send buffer refuses is kept until there is room, and the layer above is told at once. That layer then keeps
//! its own messages, or users answer to congestion: what follows nevertheless waits here, up to a limit.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use slantpath_applications::{GivenBack, Host, ProgramConfig, ProgramMessage, Programs, REFUSED_MAX};
use slantpath_base::{Duration, Instant};
use slantpath_host::SocketId;
use slantpath_live::SctpSendError as SendError;
use slantpath_signalling::network::Carried;
use slantpath_sigtran::transport::{Transmit, TransportInput};

use crate::passage::Passage;
use crate::standstill::Standstill;

/// An association of a seat.
#[derive(Clone, Debug)]
pub struct SeatAssociation {
    /// Name of the link or the association.
    pub name: String,
    /// Signalling that it carries.
    pub carried: Carried,
    /// Own port with its settings, and the peer at the other end: whoever calls is known by its addresses.
    pub port: ProgramConfig,
    /// True if this end opens it.
    pub opens: bool,
    /// Time from a loss, or a failed attempt, until it is opened again.
    pub reopen_after: Duration,
}

impl SeatAssociation {
    /// Tells if an association goes on as the other one: whoever is at either end, and SCTP's settings, are the same.
    /// Either end may have got further addresses, and lost others, as long as the two reach each other by those that
    /// stay.
    pub(crate) fn goes_on_as(&self, other: &Self) -> bool {
        let of_own = staying(&self.port.local_addresses, &other.port.local_addresses);
        let is_same_peer = match (&self.port.peer, &other.port.peer) {
            (Some(own), Some(next)) => {
                let of_peer = staying(&own.addresses, &next.addresses);
                let mut ways = of_own.iter().flat_map(|from| of_peer.iter().map(move |to| (from, to)));
                own.port == next.port && ways.any(|(from, to)| from.is_ipv4() == to.is_ipv4())
            }
            (own, next) => own.is_none() && next.is_none() && !of_own.is_empty(),
        };
        (&self.name, self.opens, self.port.local_port) == (&other.name, other.opens, other.port.local_port)
            && is_same_peer
            && self.port.sctp == other.port.sctp
    }
}

/// Addresses that are among the others, too.
pub(crate) fn staying(addresses: &[IpAddr], others: &[IpAddr]) -> Vec<IpAddr> {
    addresses.iter().copied().filter(|own| others.contains(own)).collect()
}

/// Counts of an association's messages, and of its ups and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationCounts {
    /// Messages given to SCTP.
    pub sent: u64,
    /// Octets of these.
    pub sent_octets: u64,
    /// Messages received.
    pub received: u64,
    /// Octets of these.
    pub received_octets: u64,
    /// Messages that were thrown away: the association was down, or had no such stream.
    pub discarded_down: u64,
    /// Messages that had not been sent when the association was lost or began anew, and went back to the layer above.
    pub returned: u64,
    /// Messages that had been sent then and were not acknowledged: whether they arrived is not known.
    pub in_doubt: u64,
    /// Messages that were thrown away because too many waited for room.
    pub discarded_full: u64,
    /// Number of times that it came up.
    pub times_up: u64,
    /// Number of times that it was lost.
    pub times_lost: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Down,
    /// Association that is being set up from here.
    Opening(SocketId),
    Up(SocketId),
}

/// Conduct of an end that opens the association when that is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Always,
    /// Not before it is asked to.
    Held,
}

#[derive(Debug)]
pub(crate) struct Association {
    pub(crate) config: SeatAssociation,
    /// Number of it among those of the seat.
    number: usize,
    /// Socket of its port.
    pub(crate) port: SocketId,
    state: State,
    opening: Opening,
    /// Instant at which it is opened.
    open_at: Option<Instant>,
    /// Messages that wait for room, with the numbers by which the entity wants to know when they are sent.
    waiting: VecDeque<(ProgramMessage, Option<u32>)>,
    /// Messages that SCTP has and that were not sent yet, by their numbers there and at the entity, if it is told.
    unsent: VecDeque<(u32, u32)>,
    counts: AssociationCounts,
    /// Streams that it had to send on when it came up last.
    pub(crate) outbound_streams: u16,
    pub(crate) standstill: Standstill,
}

impl Association {
    pub(crate) fn new(now: Instant, number: usize, config: SeatAssociation, port: SocketId) -> Self {
        let open_at = config.opens.then_some(now);
        let counts = AssociationCounts::default();
        let (state, opening) = (State::Down, Opening::Always);
        let (waiting, unsent) = (VecDeque::new(), VecDeque::new());
        let (outbound_streams, standstill) = (0, Standstill::default());
        Self {
            config,
            number,
            port,
            state,
            opening,
            open_at,
            waiting,
            unsent,
            counts,
            outbound_streams,
            standstill,
        }
    }

    /// Goes on under another configuration, which has the same ends.
    pub(crate) fn with(self, number: usize, config: SeatAssociation) -> Self {
        Self { config, number, ..self }
    }

    pub(crate) const fn counts(&self) -> AssociationCounts {
        self.counts
    }

    /// Name of its state, for who operates it.
    pub(crate) fn state_name(&self) -> &'static str {
        match self.state {
            State::Up(_) => "up",
            State::Opening(_) => "opening",
            State::Down if self.opening == Opening::Held => "held",
            State::Down => "down",
        }
    }

    /// Messages that wait for room in SCTP's buffer.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) const fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.open_at
    }

    /// Socket of the association, if it is up or being set up.
    pub(crate) const fn socket(&self) -> Option<SocketId> {
        match self.state {
            State::Down => None,
            State::Opening(socket) | State::Up(socket) => Some(socket),
        }
    }

    /// Tells if whoever called the port from there is the peer.
    pub(crate) fn is_with(&self, caller: SocketAddr) -> bool {
        !self.config.opens
            && self.config.port.peer.as_ref().is_none_or(|peer| peer.addresses.contains(&caller.ip()))
    }

    /// Tells if whoever called the port from there is the peer at its own port: of several at one address the one.
    pub(crate) fn is_with_exactly(&self, caller: SocketAddr) -> bool {
        self.is_with(caller) && self.config.port.peer.as_ref().is_some_and(|peer| peer.port == caller.port())
    }

    /// Opens it if it is time to. Gives the socket that it has then.
    pub(crate) fn open(&mut self, now: Instant, host: &mut Host) -> Option<Result<SocketId, String>> {
        self.open_at.filter(|at| *at <= now)?;
        self.open_at = None;
        let peer = self.config.port.peer.as_ref().filter(|_| self.state == State::Down)?;
        match host.connect(now, self.port, peer) {
            Ok(socket) => {
                self.state = State::Opening(socket);
                Some(Ok(socket))
            }
            Err(error) => {
                self.open_at = Some(now.saturating_add(self.config.reopen_after));
                Some(Err(error.to_string()))
            }
        }
    }

    /// Notes that it is up on this socket. Gives the one that it had before, which is to be aborted: the peer has begun
    /// anew without a word.
    pub(crate) fn connected(&mut self, socket: SocketId) -> Option<SocketId> {
        let before = std::mem::replace(&mut self.state, State::Up(socket));
        self.counts.times_up += 1;
        match before {
            State::Up(former) | State::Opening(former) if former != socket => Some(former),
            _ => None,
        }
    }

    /// Takes what waits for room out, as the last of what is given back.
    pub(crate) fn take_waiting(&mut self) -> Vec<ProgramMessage> {
        self.unsent.clear();
        self.waiting.drain(..).map(|(message, _)| message).collect()
    }

    /// Notes that SCTP has sent a message for the first time. Gives what the entity is to be told, if anything.
    pub(crate) fn transmitted(&mut self, number: u32) -> Option<TransportInput> {
        let place = self.unsent.iter().position(|(own, _)| *own == number)?;
        self.unsent.remove(place).map(|(_, report)| TransportInput::Transmitted(report))
    }

    /// Gives the entity back what was never sent, in its order.
    pub(crate) fn take_back(&mut self, given_back: GivenBack) -> Vec<TransportInput> {
        self.counts.in_doubt += given_back.in_doubt;
        self.counts.returned += given_back.unsent.len() as u64;
        given_back.unsent.into_iter().map(|message| TransportInput::Unsent(message.payload)).collect()
    }

    /// The association on this socket has ended. Tells if the entity had it; `None` if it is another one by now.
    pub(crate) fn ended(&mut self, now: Instant, socket: SocketId) -> Option<bool> {
        if self.socket() != Some(socket) {
            return None;
        }
        let was_up = self.is_up();
        self.state = State::Down;
        self.counts.times_lost += u64::from(was_up);
        if self.config.opens && self.opening == Opening::Always {
            self.open_at = Some(now.saturating_add(self.config.reopen_after));
        }
        Some(was_up)
    }

    /// Keeps it closed from now on, or from its end.
    pub(crate) fn hold(&mut self) {
        self.opening = Opening::Held;
        self.open_at = None;
    }

    /// Has it end in order, and keeps it closed. One that is only being set up ends at once.
    pub(crate) fn shut_down(&mut self, now: Instant, host: &mut Host) {
        self.hold();
        if let State::Up(socket) = self.state {
            host.shut_down(now, socket);
        } else {
            self.abort(now, host);
        }
    }

    /// Has it end at once.
    pub(crate) fn abort(&self, now: Instant, host: &mut Host) {
        if let Some(socket) = self.socket() {
            host.abort(now, socket);
        }
    }

    /// Lets it be opened after it was held.
    pub(crate) fn release(&mut self, now: Instant) {
        if std::mem::replace(&mut self.opening, Opening::Always) == Opening::Held && self.config.opens {
            self.open_at = Some(now);
        }
    }

    /// The entity sends. Gives what it is to be told, if anything.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        host: &mut Host,
        transmit: Transmit,
        passage: &mut Passage,
    ) -> Option<TransportInput> {
        let State::Up(socket) = self.state else {
            self.counts.discarded_down += 1;
            return None;
        };
        let report = transmit.report;
        let message = ProgramMessage {
            stream: transmit.stream.0,
            payload_protocol: transmit.payload_protocol,
            is_unordered: false,
            payload: transmit.octets,
            options: None,
            ip: None,
        };
        let was_empty = self.waiting.is_empty();
        if was_empty {
            self.offer(now, host, socket, (message, report), passage);
        } else if self.waiting.len() < REFUSED_MAX {
            self.waiting.push_back((message, report));
        } else {
            self.counts.discarded_full += 1;
        }
        let is_congested = was_empty && !self.waiting.is_empty();
        is_congested.then_some(TransportInput::Congested(true))
    }

    /// There is room in the send buffer again. Gives what the entity is to be told, if anything.
    pub(crate) fn writable(
        &mut self,
        now: Instant,
        host: &mut Host,
        passage: &mut Passage,
    ) -> Option<TransportInput> {
        let State::Up(socket) = self.state else { return None };
        if self.waiting.is_empty() {
            return None;
        }
        while let Some(message) = self.waiting.pop_front() {
            if !self.offer(now, host, socket, message, passage) {
                return None;
            }
        }
        Some(TransportInput::Congested(false))
    }

    pub(crate) const fn received(&mut self, octets: usize) {
        self.counts.received += 1;
        self.counts.received_octets += octets as u64;
    }

    /// Gives a message to SCTP, or keeps it in front of all others; `false` if there is no room.
    fn offer(
        &mut self,
        now: Instant,
        host: &mut Host,
        socket: SocketId,
        (message, report): (ProgramMessage, Option<u32>),
        passage: &mut Passage,
    ) -> bool {
        match host.send_sctp(now, socket, message.clone()) {
            Ok(number) => {
                self.unsent.extend(report.map(|report| (number, report)));
                self.counts.sent += 1;
                self.counts.sent_octets += message.payload.len() as u64;
                passage.left(now, self.number, &message);
            }
            // Of an association that ends, which is told next, it goes back to the entity.
            Err(SendError::BufferFull { .. } | SendError::NoAssociation | SendError::ShuttingDown) => {
                self.waiting.push_front((message, report));
                return false;
            }
            // It has no such stream.
            Err(_) => self.counts.discarded_down += 1,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use slantpath_host::Peer;
    use slantpath_signalling::network::AdaptationId;
    use slantpath_sigtran::transport::{AssociationNumber, StreamNumber};

    use super::*;

    const SOCKET: SocketId = SocketId(3);

    fn config(local: &[&str], peer: &[&str], opens: bool) -> SeatAssociation {
        let addresses = |words: &[&str]| words.iter().map(|word| word.parse().unwrap()).collect();
        let port = ProgramConfig {
            sctp: Box::default(),
            local_addresses: addresses(local),
            local_port: 2_905,
            peer: Some(Peer { addresses: addresses(peer), port: 2_906 }),
        };
        let (name, carried) = ("first".to_owned(), Carried::Adaptation(AdaptationId(0)));
        SeatAssociation { name, carried, port, opens, reopen_after: Duration::from_secs(2) }
    }

    fn association(opens: bool) -> Association {
        Association::new(Instant::START, 0, config(&["192.0.2.1"], &["192.0.2.2"], opens), SocketId(0))
    }

    fn transmit() -> Transmit {
        Transmit {
            association: AssociationNumber(0),
            stream: StreamNumber(0),
            payload_protocol: 3,
            octets: vec![7; 9].into(),
            report: None,
        }
    }

    #[test]
    fn an_association_goes_on_while_its_ends_reach_each_other_at_the_same_ports() {
        let both = ["192.0.2.1", "fd00::1"];
        let own = config(&both, &["192.0.2.2"], true);
        assert!(own.goes_on_as(&config(&["192.0.2.1"], &["192.0.2.2", "192.0.2.3"], true)));
        // What stays of the own addresses is of another version of IP than what stays of the peer's.
        assert!(!own.goes_on_as(&config(&["fd00::1"], &["192.0.2.2"], true)));
        assert!(!own.goes_on_as(&config(&both, &["192.0.2.3"], true)));
        assert!(!own.goes_on_as(&config(&both, &["192.0.2.2"], false)));
        let mut elsewhere = own.clone();
        elsewhere.port.peer.as_mut().unwrap().port += 1;
        assert!(!own.goes_on_as(&elsewhere));
        elsewhere = own.clone();
        elsewhere.port.local_port += 1;
        assert!(!own.goes_on_as(&elsewhere));
    }

    #[test]
    fn a_caller_is_known_where_the_peer_is_waited_for_and_of_several_by_its_port() {
        let [own, other, stranger]: [SocketAddr; 3] =
            ["192.0.2.2:2906", "192.0.2.2:9", "192.0.2.3:2906"].map(|at| at.parse().unwrap());
        let waiting = association(false);
        let known = |end: &Association| [own, other, stranger].map(|caller| end.is_with(caller));
        assert_eq!((known(&waiting), known(&association(true))), ([true, true, false], [false; 3]));
        assert_eq!([own, other].map(|caller| waiting.is_with_exactly(caller)), [true, false]);
    }

    #[test]
    fn a_loss_is_of_one_that_was_up_and_one_that_is_held_stays_closed() {
        let now = Instant::from_secs(5);
        let mut end = association(true);
        end.state = State::Opening(SOCKET);
        assert_eq!((end.ended(now, SocketId(9)), end.ended(now, SOCKET)), (None, Some(false)));
        assert_eq!((end.counts().times_lost, end.deadline()), (0, Some(Instant::from_secs(7))));
        assert_eq!((end.connected(SOCKET), end.ended(now, SOCKET)), (None, Some(true)));
        assert_eq!((end.counts().times_up, end.counts().times_lost), (1, 1));
        end.connected(SOCKET);
        end.hold();
        end.ended(now, SOCKET);
        assert_eq!((end.deadline(), end.state_name()), (None, "held"));
        end.release(now);
        assert_eq!(end.deadline(), Some(now));
    }

    #[test]
    fn what_is_thrown_away_is_counted_by_its_cause() {
        let (mut host, now) = (Host::new(Vec::new()), Instant::START);
        let mut end = association(true);
        assert_eq!(end.send(now, &mut host, transmit(), &mut Passage::default()), None);
        end.state = State::Up(SOCKET);
        // The host has no such socket: the first message waits, and so does what comes behind it.
        assert_eq!(
            end.send(now, &mut host, transmit(), &mut Passage::default()),
            Some(TransportInput::Congested(true))
        );
        for _ in 0..REFUSED_MAX {
            assert_eq!(end.send(now, &mut host, transmit(), &mut Passage::default()), None);
        }
        let counts = end.counts();
        assert_eq!((counts.discarded_down, counts.discarded_full, counts.sent), (1, 1, 0));
        assert_eq!(end.waiting(), REFUSED_MAX);
    }
}
