//! Result of serving an application.

use slantpath_base::Instant;

/// Consequence of serving an application.
pub(crate) enum Served {
    /// The socket has been told something: drain the transport, and serve again.
    Again,
    /// Nothing to do until this time, or until an event.
    Idle(Option<Instant>),
}

/// State of the other sockets of the host: idle, or waiting to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// None does: as long as the transports have nothing to do, it would be the same one's turn again at once.
    Idle,
    /// Some do: after one thing it is their turn.
    Wait,
}

/// Consequence of an event that an application was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The application goes on waiting for what it has been waiting for.
    None,
    /// The application may have something to do: serve it.
    Serve,
}

/// The earlier of two deadlines, where none is later than all.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
