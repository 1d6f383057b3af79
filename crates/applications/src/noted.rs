//! Sockets with something for somebody outside of the host.

use std::collections::VecDeque;

use slantpath_host::SocketId;

/// Sockets that have something to be taken, each at most once, in the order in which they began to.
#[derive(Debug, Default)]
pub(crate) struct Noted(VecDeque<SocketId>);

impl Noted {
    /// Notes a socket if it begins to have something.
    #[inline]
    pub(crate) fn note(&mut self, socket: SocketId, begins: impl FnOnce() -> bool) {
        if begins() {
            self.0.push_back(socket);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn first(&self) -> Option<SocketId> {
        self.0.front().copied()
    }

    /// Forgets the first: it has nothing more.
    pub(crate) fn pop(&mut self) {
        self.0.pop_front();
    }
}
