//! What an application says when it has been served.

use slantpath_base::Instant;

/// What follows from serving an application.
pub(crate) enum Served {
    /// The socket has been told something: drain the transport, and serve again.
    Again,
    /// Nothing to do until this time, or until an event.
    Idle(Option<Instant>),
}

/// Whether other sockets of the host wait to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// None does: as long as the transports have nothing to do, it would be the same one's turn again at once.
    Idle,
    /// Some do: after one thing it is their turn.
    Wait,
}

/// What follows from an event that an application was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// It goes on waiting for what it has been waiting for.
    None,
    /// It may have something to do: serve it.
    Serve,
}

/// The earlier of two deadlines, where none is later than all.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
