//! Sockets that a seat's associations have had, for whoever keeps what they tell apart.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_host::SocketId;
use slantpath_sigtran::transport::AssociationNumber;

/// Number of sockets that are kept while nobody asks for them.
const SOCKETS_MAX: usize = 4_096;

/// An association has this socket from an instant on. Sockets are used again when they are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketTaken {
    /// Instant from which on it has it.
    pub at: Instant,
    /// Number of the association: that of one that goes on is the same after a reload.
    pub association: AssociationNumber,
    /// Socket that it has.
    pub socket: SocketId,
}

/// Sockets of traced associations, oldest first.
#[derive(Debug, Default)]
pub(crate) struct TracedSockets(VecDeque<SocketTaken>);

impl TracedSockets {
    pub(crate) fn note(&mut self, taken: SocketTaken) {
        // Who does not ask does not make it grow.
        if self.0.len() < SOCKETS_MAX {
            self.0.push_back(taken);
        }
    }

    pub(crate) fn poll(&mut self) -> Option<SocketTaken> {
        self.0.pop_front()
    }
}
