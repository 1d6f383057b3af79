//! Connections of the ASP's users: what there is of each, and what its user asks for.

mod config;
mod data;
mod message;
mod reception;
mod steps;

use std::collections::VecDeque;
use std::collections::btree_map::Entry;

use bytes::Bytes;
use slantpath_base::{Instant, TimerTable};
use slantpath_ss7::sccp::{self, ReleaseCause, ResetCause, ResetInput, ResetState};

use crate::drops::DropReason;
use crate::sua::connection::{ConnectionInput, ConnectionState};
use crate::sua::process::UserProcess;
use crate::sua::{Address, SccpCause};
pub use config::ConnectionConfig;
use message::{Content, cause};

/// A connection, by the reference number of its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// N-CONNECT request: wish for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Address of the called user.
    pub destination: Address,
    /// Of whom, if the peer is to know.
    pub source: Option<Address>,
    /// Class 3 rather than class 2.
    pub with_flow_control: bool,
    /// Data that the peer's user is to have with it.
    pub data: Option<Bytes>,
}

impl ConnectRequest {
    /// A connection of class 2 without options.
    pub const fn new(destination: Address) -> Self {
        Self { destination, source: None, with_flow_control: false, data: None }
    }
}

/// Events of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// N-CONNECT confirm.
    Confirmed {
        /// True if the connection is of class 3: one that was asked for may be granted in class 2.
        with_flow_control: bool,
        /// Data that the peer's user sent with it.
        data: Option<Bytes>,
    },
    /// More than half of what may wait for the window waits, or no longer: send less.
    Congested(bool),
    /// N-DATA indication.
    Data(Bytes),
    /// N-DISCONNECT indication. The connection is no more.
    Disconnected {
        /// Why, if anybody said.
        cause: Option<SccpCause>,
        /// Data that the peer's user sent with it.
        data: Option<Bytes>,
    },
    /// N-EXPEDITED-DATA indication.
    ExpeditedData(Bytes),
    /// N-CONNECT indication: answer with `accept` or `disconnect`.
    Offered {
        /// The application server that it is for.
        routing_context: u32,
        /// Address that was called.
        destination: Address,
        /// Of whom, if the peer said.
        source: Option<Address>,
        /// True if the connection is of class 3.
        with_flow_control: bool,
        /// Data that the peer's user sent with it.
        data: Option<Bytes>,
    },
    /// N-RESET indication: what waited and what was under way is lost. If it is the peer's, answer with
    /// `answer_reset`; if the numbers were wrong, a confirmation follows.
    Reset(ResetCause),
    /// N-RESET confirm: data may flow again.
    ResetConfirmed,
}

/// The timers of a connection, as places in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// T(conn est) or T(rel).
    Answer,
    /// T(iar): inactivity in reception.
    InactivityReceive,
    /// T(ias): inactivity in sending.
    InactivitySend,
    /// T(reset): wait for the reset's confirmation.
    Reset,
}

impl Timer {
    const COUNT: usize = 4;
    const ALL: [Self; Self::COUNT] =
        [Self::Answer, Self::InactivityReceive, Self::InactivitySend, Self::Reset];
}

/// State of one connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    state: ConnectionState,
    reset: ResetState,
    /// 2 or 3.
    class: u8,
    routing_context: u32,
    /// The peer's reference number, as soon as it is known.
    peer: Option<u32>,
    /// Address that asked for an incoming connection, if the peer said: the answer is addressed there.
    calling: Option<Address>,
    timers: TimerTable<{ Timer::COUNT }>,
    /// Content that the user gave when it gave up before the answer, for the release that follows it.
    release: Option<Box<Content>>,
    /// The numbers of class 3; of no use in class 2.
    window: sccp::Window,
    /// Parts of the peer's message until the last one comes.
    received: Vec<u8>,
    /// Parts of messages, and whether more follow, that wait for the window.
    queue: VecDeque<(bool, Bytes)>,
    is_congested: bool,
    /// Expedited data that waits its turn.
    expedited: VecDeque<Bytes>,
    awaits_expedited: bool,
}

impl Connection {
    fn new(routing_context: u32, peer: Option<u32>, class: u8, credit: u8) -> Self {
        Self {
            state: ConnectionState::Idle,
            reset: ResetState::DataTransfer,
            class,
            routing_context,
            peer,
            calling: None,
            timers: TimerTable::default(),
            release: None,
            window: sccp::Window::new(credit),
            received: Vec::new(),
            queue: VecDeque::new(),
            is_congested: false,
            expedited: VecDeque::new(),
            awaits_expedited: false,
        }
    }

    const fn has_flow_control(&self) -> bool {
        self.class == CLASS_3
    }

    /// Tells whether data may be sent and taken.
    const fn carries_data(&self) -> bool {
        matches!((self.state, self.reset), (ConnectionState::Active, ResetState::DataTransfer))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// Forgets what waits and what has come in part, and says how many messages and parts that were.
    fn clear_data(&mut self) -> usize {
        let lost = self.queue.len() + self.expedited.len() + usize::from(!self.received.is_empty());
        self.queue.clear();
        self.expedited.clear();
        self.received.clear();
        self.awaits_expedited = false;
        lost
    }
}

/// Protocol classes of connections.
const CLASS_2: u8 = 2;
const CLASS_3: u8 = 3;

impl UserProcess {
    /// N-CONNECT request. Nothing, and counted, if the ASP has not that traffic, or has too many connections.
    pub fn connect(
        &mut self,
        now: Instant,
        routing_context: u32,
        request: ConnectRequest,
    ) -> Option<ConnectionId> {
        if !self.is_active(routing_context) {
            self.drops.count(DropReason::AspNotActive);
            return None;
        }
        let ConnectRequest { destination, source, with_flow_control, data } = request;
        let class = if with_flow_control { CLASS_3 } else { CLASS_2 };
        let id = self.allocate(routing_context, None, class)?;
        let content = Content { destination: Some(destination), source, data, ..Content::default() };
        self.put_connection(now, id, ConnectionInput::RequestConnect, &content);
        Some(id)
    }

    /// N-CONNECT response to an offered connection.
    pub fn accept(&mut self, now: Instant, id: ConnectionId, data: Option<Bytes>) {
        let content = Content { data, ..Content::default() };
        self.put_connection(now, id, ConnectionInput::ResponseConnect, &content);
    }

    /// N-DISCONNECT request: refuses an offered connection, releases one that is there or asked for. The value is that
    /// of Q.713's refusal or release cause.
    pub fn disconnect(&mut self, now: Instant, id: ConnectionId, value: u8, data: Option<Bytes>) {
        let is_offered = self.state(id) == ConnectionState::Incoming;
        let kind = if is_offered { cause::REFUSAL } else { cause::RELEASE };
        let content = Content { data, ..Content::of_cause(kind, value) };
        if self.state(id) == ConnectionState::Outgoing
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.release = Some(Box::new(content.clone()));
        }
        self.put_connection(now, id, ConnectionInput::RequestDisconnect, &content);
    }

    /// N-RESET request, in class 3: what waits and what is under way is lost at both ends, and a confirmation follows.
    /// False, and counted, if the connection cannot be reset, or is being reset by this end.
    pub fn reset(&mut self, now: Instant, id: ConnectionId) -> bool {
        self.ask_reset(now, id, ResetInput::ResetRequest)
    }

    /// N-RESET response to the peer's reset. False, and counted, if there is none.
    pub fn answer_reset(&mut self, now: Instant, id: ConnectionId) -> bool {
        self.ask_reset(now, id, ResetInput::ResetResponse)
    }

    fn ask_reset(&mut self, now: Instant, id: ConnectionId, input: ResetInput) -> bool {
        let active =
            self.connections.get(&id).filter(|connection| connection.state == ConnectionState::Active);
        let can_be = active.is_some_and(Connection::has_flow_control);
        let is_taken = can_be && self.put_reset(now, id, input, ResetCause::END_USER_ORIGINATED);
        if !is_taken {
            self.drops.count(DropReason::NotInService);
        }
        is_taken
    }

    /// The state of a connection; idle for one that there is not.
    pub fn state(&self, id: ConnectionId) -> ConnectionState {
        self.connections.get(&id).map_or(ConnectionState::Idle, |connection| connection.state)
    }

    /// A reference number that is free, with this ASP's label where it must be.
    fn allocate(&mut self, routing_context: u32, peer: Option<u32>, class: u8) -> Option<ConnectionId> {
        let config = self.config.connections;
        if self.connections.len() >= config.connections_max {
            self.drops.count(DropReason::QueueFull);
            return None;
        }
        // One more than there are connections is enough to find a free one, unless the label leaves too few.
        for _ in 0..=self.connections.len() {
            let counted = self.next_reference;
            self.next_reference = self.next_reference.wrapping_add(1);
            let id = ConnectionId(label(counted, self.config.reference_label));
            if let Entry::Vacant(free) = self.connections.entry(id) {
                free.insert(Connection::new(routing_context, peer, class, config.credit));
                return Some(id);
            }
        }
        self.drops.count(DropReason::QueueFull);
        None
    }

    /// Every connection of an application server is lost.
    pub(super) fn lose_connections(&mut self, now: Instant, routing_context: u32) {
        let of_server =
            self.connections.iter().filter(|(_, connection)| connection.routing_context == routing_context);
        let ids: Vec<ConnectionId> = of_server.map(|(id, _)| *id).collect();
        for id in ids {
            self.put_connection(now, id, ConnectionInput::AspLost, &Content::default());
        }
    }

    pub(super) fn expire_connections(&mut self, now: Instant) {
        let due = |connection: &Connection| connection.deadline().is_some_and(|at| at <= now);
        let ids: Vec<ConnectionId> =
            self.connections.iter().filter(|(_, connection)| due(connection)).map(|(id, _)| *id).collect();
        for id in ids {
            while let Some(expired) =
                self.connections.get_mut(&id).and_then(|connection| connection.timers.take_expired(now))
            {
                self.expire(now, id, Timer::ALL[expired]);
            }
        }
    }

    fn expire(&mut self, now: Instant, id: ConnectionId, timer: Timer) {
        let (input, content) = match timer {
            Timer::Reset => {
                self.put_reset(now, id, ResetInput::ResetExpired, ResetCause::END_USER_ORIGINATED);
                return;
            }
            Timer::Answer if self.state(id) == ConnectionState::Releasing => {
                (ConnectionInput::ReleaseTimeout, Content::default())
            }
            Timer::Answer => (ConnectionInput::ConnectTimeout, Content::default()),
            Timer::InactivityReceive => (
                ConnectionInput::InactivityReceiveTimeout,
                Content::of_cause(cause::RELEASE, ReleaseCause::RECEIVE_INACTIVITY_TIMER.0),
            ),
            Timer::InactivitySend => (ConnectionInput::InactivitySendTimeout, Content::default()),
        };
        self.put_connection(now, id, input, &content);
    }
}

/// A number with a label at its place, in 24 bits.
fn label(number: u32, label: Option<crate::sua::Label>) -> u32 {
    const MASK: u32 = 0x00ff_ffff;
    let Some(label) = label else { return number & MASK };
    let len = u32::from(label.start.saturating_sub(label.end)) + 1;
    let low = number & ((1 << label.end.min(31)) - 1);
    let high = (number >> label.end.min(31)).checked_shl(u32::from(label.end) + len).unwrap_or(0);
    (high | u32::from(label.value) << label.end.min(31) | low) & MASK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sua::Label;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_labelled_reference_is_owned_and_others_differ(
            number in 0_u32..256, other in 0_u32..256, end in 0_u8..16, value in 0_u16..16,
        ) {
            let place = Label { start: end + 3, end, value };
            let own = label(number, Some(place));
            prop_assert!(place.owns(own));
            prop_assert_eq!(own == label(other, Some(place)), number == other);
        }
    }
}
