//! One signalling connection (Q.714, section 3): its state, its numbers, what waits.

pub(super) mod machine;
pub(super) mod references;
pub(super) mod window;

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Instant, TimerTable};

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::{ConnectionId, LocalReference, OptionalParameters, PartyAddress, ProtocolClass, Ssn};
use machine::{ConnectionState, ResetState};
use window::Window;

/// The timers of a connection, as places in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionTimer {
    Establishment,
    InactivityReceive,
    InactivitySend,
    Interval,
    Release,
    RepeatRelease,
    Reset,
}

impl ConnectionTimer {
    pub(super) const COUNT: usize = 7;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Establishment,
        Self::InactivityReceive,
        Self::InactivitySend,
        Self::Interval,
        Self::Release,
        Self::RepeatRelease,
        Self::Reset,
    ];
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    /// The peer's reference and node, once they are known.
    pub(super) peer: Option<(LocalReference, PointCode)>,
    pub(super) class: u8,
    pub(super) sls: Sls,
    /// Subsystem of the connection's user.
    pub(super) ssn: Ssn,
    pub(super) state: ConnectionState,
    pub(super) reset: ResetState,
    pub(super) timers: TimerTable<{ ConnectionTimer::COUNT }>,
    /// Instant at which the node will look at the timers.
    pub(super) scheduled: Option<Instant>,
    /// Why the connection is released, and the user's data, for every RLSD that says so.
    pub(super) release: Option<(u8, Bytes)>,
    /// The numbers of class 3; of no use in class 2.
    pub(super) window: Window,
    /// Parts of the peer's message until the last one comes.
    pub(super) received: Vec<u8>,
    /// Parts of messages, and whether more follow, that wait for the window.
    pub(super) queue: VecDeque<(bool, Bytes)>,
    /// True if the user was told of congestion: the queue has grown too long.
    pub(super) is_congested: bool,
    /// Expedited data waits for its acknowledgement.
    pub(super) awaits_expedited: bool,
    /// Expedited data that waits its turn.
    pub(super) expedited: VecDeque<Bytes>,
}

impl Connection {
    pub(super) fn new(id: ConnectionId, local: LocalReference, class: u8, ssn: Ssn, credit: u8) -> Self {
        Self {
            id,
            peer: None,
            class,
            // A connection keeps one link selection, and connections share the links.
            sls: Sls((local.0 & 0xf) as u8),
            ssn,
            state: ConnectionState::Idle,
            reset: ResetState::DataTransfer,
            timers: TimerTable::default(),
            scheduled: None,
            release: None,
            window: Window::new(credit),
            received: Vec::new(),
            queue: VecDeque::new(),
            is_congested: false,
            awaits_expedited: false,
            expedited: VecDeque::new(),
        }
    }

    pub(super) const fn protocol_class(&self) -> ProtocolClass {
        ProtocolClass { class: self.class, handling: 0 }
    }

    pub(super) const fn has_flow_control(&self) -> bool {
        self.class == 3
    }

    /// Data under way is lost, and numbers begin at 0 (Q.714, section 3.7.3).
    pub(super) fn clear_data(&mut self) {
        self.window.reset();
        self.received.clear();
        self.queue.clear();
        self.expedited.clear();
        self.awaits_expedited = false;
    }
}

/// Inputs of a step of the machine beside the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) data: Bytes,
    pub(super) cause: u8,
    pub(super) called: PartyAddress,
    pub(super) calling: PartyAddress,
    pub(super) peer: Option<(LocalReference, PointCode)>,
    /// The optional parameters of CR.
    pub(super) parameters: OptionalParameters,
    /// True if the cause is one of refusal rather than of release.
    pub(super) is_refusal: bool,
}
