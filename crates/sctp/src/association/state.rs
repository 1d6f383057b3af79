//! The state of an association whose handshake is behind it (RFC 9260, section 4).

use slantpath_base::{Instant, Timer};

use crate::chunk::Chunk;
use crate::path::PathId;

/// The state as others may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssociationState {
    /// Messages flow.
    Established,
    /// The layer above has asked for the end; what is queued is still delivered.
    ShutdownPending,
    /// Everything has been acknowledged, and SHUTDOWN sent.
    ShutdownSent,
    /// The peer has asked for the end; what is queued is still delivered.
    ShutdownReceived,
    /// SHUTDOWN ACK has been sent.
    ShutdownAckSent,
    /// Ended association, or none.
    Closed,
}

/// T2-shutdown, which repeats SHUTDOWN or SHUTDOWN ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum T2 {
    /// The chunk has to go out to `path`.
    Due { path: PathId },
    /// Sent to `path`, and to be repeated at `deadline`.
    Running { path: PathId, deadline: Instant },
}

/// The state with what exists only in it. Which it is has a byte of its own, since every packet asks for it several
/// times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    Established,
    ShutdownPending,
    ShutdownSent {
        t2: T2,
        /// T5-shutdown-guard.
        guard: Instant,
    },
    ShutdownReceived {
        /// Path that the SHUTDOWN came by: the peer may have left the one in use here.
        reply: PathId,
    },
    ShutdownAckSent {
        t2: T2,
    },
    Closed {
        /// The last chunk to the peer, if it has not gone out yet.
        farewell: Option<Box<(PathId, Chunk)>>,
        /// Instant at which it was shut down, if it has ended so: then both ends know that everything has been
        /// delivered.
        in_order: Option<Instant>,
    },
}

impl T2 {
    /// The path that is, or was last, used.
    pub(super) const fn path(self) -> PathId {
        match self {
            Self::Due { path } | Self::Running { path, .. } => path,
        }
    }

    const fn deadline(self) -> Timer {
        match self {
            Self::Due { .. } => Timer::OFF,
            Self::Running { deadline, .. } => Timer::set(deadline),
        }
    }
}

impl State {
    pub(super) const fn public(&self) -> AssociationState {
        match self {
            Self::Established => AssociationState::Established,
            Self::ShutdownPending => AssociationState::ShutdownPending,
            Self::ShutdownSent { .. } => AssociationState::ShutdownSent,
            Self::ShutdownReceived { .. } => AssociationState::ShutdownReceived,
            Self::ShutdownAckSent { .. } => AssociationState::ShutdownAckSent,
            Self::Closed { .. } => AssociationState::Closed,
        }
    }

    /// Tells if DATA may be sent and SACKs are processed.
    pub(super) const fn may_send_data(&self) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6
        //# Data transmission MUST only happen in the ESTABLISHED, SHUTDOWN-
        //# PENDING, and SHUTDOWN-RECEIVED states.
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived { .. })
    }

    /// Tells if DATA is received.
    pub(super) const fn may_receive_data(&self) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6
        //# DATA chunks MUST only be received according to the rules below in
        //# ESTABLISHED, SHUTDOWN-PENDING, and SHUTDOWN-SENT states.
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownSent { .. })
    }

    /// Tells if HEARTBEATs are answered.
    pub(super) const fn answers_heartbeats(&self) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# up until reaching
        //# the SHUTDOWN-SENT state (sender of the SHUTDOWN chunk) or the
        //# SHUTDOWN-ACK-SENT state (receiver of the SHUTDOWN chunk).
        self.may_send_data()
    }

    /// Tells if idle addresses are probed: until SHUTDOWN or SHUTDOWN ACK has been sent.
    pub(super) const fn may_send_heartbeats(&self) -> bool {
        self.may_send_data()
    }

    pub(super) const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// T2-shutdown, if there is one.
    pub(super) const fn t2(&self) -> Option<T2> {
        match self {
            Self::ShutdownSent { t2, .. } | Self::ShutdownAckSent { t2 } => Some(*t2),
            Self::Established
            | Self::ShutdownPending
            | Self::ShutdownReceived { .. }
            | Self::Closed { .. } => None,
        }
    }

    /// Whatever is repeated on one path goes to another from now on.
    pub(super) fn replace_path(&mut self, from: PathId, to: PathId) {
        if let Some(T2::Due { path } | T2::Running { path, .. }) = self.t2_mut()
            && *path == from
        {
            *path = to;
        }
        if let Self::ShutdownReceived { reply } = self
            && *reply == from
        {
            *reply = to;
        }
    }

    pub(super) const fn t2_mut(&mut self) -> Option<&mut T2> {
        match self {
            Self::ShutdownSent { t2, .. } | Self::ShutdownAckSent { t2 } => Some(t2),
            Self::Established
            | Self::ShutdownPending
            | Self::ShutdownReceived { .. }
            | Self::Closed { .. } => None,
        }
    }

    /// The earlier of T2-shutdown and T5-shutdown-guard.
    pub(super) fn next_deadline(&self) -> Timer {
        match self {
            Self::ShutdownSent { t2, guard } => t2.deadline().or_earlier(Timer::set(*guard)),
            Self::ShutdownAckSent { t2 } => t2.deadline(),
            Self::Established
            | Self::ShutdownPending
            | Self::ShutdownReceived { .. }
            | Self::Closed { .. } => Timer::OFF,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_on_a_path_that_goes_is_repeated_on_another() {
        let [kept, gone, instead] = [0, 1, 2].map(PathId);
        let timers: [fn(PathId) -> T2; 2] =
            [|path| T2::Due { path }, |path| T2::Running { path, deadline: Instant::START }];
        let states: [fn(T2) -> State; 2] =
            [|t2| State::ShutdownSent { t2, guard: Instant::START }, |t2| State::ShutdownAckSent { t2 }];
        for timer in timers {
            for state in states {
                for (before, after) in [(gone, instead), (kept, kept)] {
                    let mut at_hand = state(timer(before));
                    at_hand.replace_path(gone, instead);
                    assert_eq!(at_hand, state(timer(after)));
                    let mut at_hand = State::ShutdownReceived { reply: before };
                    at_hand.replace_path(gone, instead);
                    assert_eq!(at_hand, State::ShutdownReceived { reply: after });
                }
            }
        }
    }
}
