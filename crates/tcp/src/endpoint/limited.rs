//! Bound of the connections that a listener has at once: a flood of calls takes no memory beyond it.

use std::collections::{BTreeSet, VecDeque};

use super::{ConnectionId, Endpoint};
use crate::connection::Connection;

/// Connections of a listener that takes so many at once.
#[derive(Debug)]
pub(super) struct Limited {
    most: usize,
    /// All that are not over.
    open: BTreeSet<ConnectionId>,
    /// Connections that were not up when they were noted, the oldest first.
    opening: VecDeque<ConnectionId>,
}

/// Room for one more connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    None,
    /// Once this one is removed, which is not up.
    Of(ConnectionId),
}

impl Limited {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, open: BTreeSet::new(), opening: VecDeque::new() }
    }

    /// Notes a connection that a call has made.
    pub(super) fn note(&mut self, id: ConnectionId) {
        self.open.insert(id);
        self.opening.push_back(id);
    }

    /// Forgets one that is over.
    pub(super) fn forget(&mut self, id: ConnectionId) {
        self.open.remove(&id);
    }

    /// Looks for room.
    //= https://www.rfc-editor.org/rfc/rfc4987#section-3.4
    //# Once the entire backlog is exhausted, some implementations allow
    //# incoming SYNs to overwrite the oldest half-open TCB entry.
    pub(super) fn make_room(&mut self, is_opening: impl Fn(ConnectionId) -> bool) -> Room {
        // Connections come up and end while an old one stays: the line is no longer than what it stands for.
        if self.opening.len() > 2 * self.most {
            self.opening.retain(|id| is_opening(*id));
        }
        if self.open.len() < self.most {
            return Room::Free;
        }
        while let Some(id) = self.opening.pop_front() {
            if is_opening(id) {
                return Room::Of(id);
            }
        }
        Room::None
    }
}

impl Endpoint {
    /// Lets a port on which others call have at most so many connections at once, from now on. At the limit one that
    /// has not come up gives way to a new call, the oldest first; if all have, the call is dropped, and the peer
    /// repeats it.
    pub fn limit(&mut self, port: u16, most: usize) {
        if let Some(listener) = self.listeners.get_mut(&port) {
            listener.limited = Some(Limited::new(most));
        }
    }

    /// Drops a connection; its identifier names nothing from now on.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        let Some(local) = self.connections.get(id).map(Connection::local) else { return };
        self.connections.remove(id);
        let listener = self.listeners.get_mut(&local.port());
        if let Some(limited) = listener.and_then(|listener| listener.limited.as_mut()) {
            limited.forget(id);
        }
    }

    /// Makes room for one more connection at a port. `false` if there is none.
    pub(super) fn make_room(&mut self, port: u16) -> bool {
        let listener = self.listeners.get_mut(&port);
        let Some(limited) = listener.and_then(|listener| listener.limited.as_mut()) else { return true };
        let connections = &self.connections;
        let is_opening = |id| connections.get(id).is_some_and(|connection| connection.state().is_opening());
        match limited.make_room(is_opening) {
            Room::Free => true,
            Room::None => false,
            Room::Of(oldest) => {
                // Nobody was told of it.
                self.remove(oldest);
                true
            }
        }
    }
}
