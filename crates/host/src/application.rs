//! The user of a socket: what a host tells it and asks of it, and what it may answer.

use std::fmt::Debug;
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::Instant;

use crate::ids::SocketId;
use crate::socket::Socket;
use crate::socket::event::SocketEvent;

/// User of one socket. It opens or listens, offers messages and is told when it may go on, pauses what comes in and
/// closes.
///
/// A host has applications of one type, known when it is compiled: an enumeration if there are several kinds.
pub trait Application: Debug + Sized {
    /// State that all applications of a host share.
    type Shared: Debug + Default;

    /// Handles an event of its socket, whose name is `own`.
    fn handle_event(
        &mut self,
        now: Instant,
        own: SocketId,
        event: SocketEvent,
        socket: &mut Socket<'_>,
        shared: &mut Self::Shared,
    ) -> Reaction;

    /// Does the next thing that the application wants of its socket, or several if nobody else waits.
    fn serve(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served;

    /// Handles the instant that [`Application::serve`] has named. It is served afterwards.
    fn handle_deadline(&mut self, _now: Instant) {}

    /// Until when it has nothing to do unless it is told something, if it was served last and then waited for
    /// `deadline`.
    fn idle_until(&self, deadline: Option<Instant>) -> Instant {
        deadline.unwrap_or(Instant::FAR_FUTURE)
    }

    /// Notes in the shared state what being served has left to somebody outside of the host.
    fn note_served(&mut self, _own: SocketId, _shared: &mut Self::Shared) {}

    /// Tells if it is over, and then leaves its record in the shared state: the host drops it. The socket is nobody's
    /// from then on, and what still comes for its association or connection is between that and its peer.
    fn retire(
        &mut self,
        _now: Instant,
        _own: SocketId,
        _socket: &mut Socket<'_>,
        _shared: &mut Self::Shared,
    ) -> bool {
        false
    }

    /// Application of an association or connection that has come to the port that this one, `own`, listens at: it is a
    /// socket of its own. `None` if this one serves it itself.
    fn accept(&self, _own: SocketId) -> Option<Self> {
        None
    }

    /// Answers a datagram that has come to a port that is open to all, from there. `None` if it does not.
    fn answer(&mut self, _from: SocketAddr, _datagram: Bytes) -> Option<Bytes> {
        None
    }

    /// Tells if it is served before those of which this is false, and in the order in which it was added; those are
    /// served in the opposite order.
    fn is_served_first(&self) -> bool {
        false
    }

    /// Asks the processor for its memory: it is going to be served.
    fn prefetch(&self) {}
}

/// Consequence of serving an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The socket has been told something: drain the transport, and serve again.
    Again,
    /// Nothing to do until this time, or until an event.
    Idle(Option<Instant>),
}

/// State of the other sockets of the host: idle, or waiting to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// None does: as long as the transports have nothing to do, it would be the same one's turn again at once.
    Idle,
    /// Some do: after one thing it is their turn.
    Wait,
}

/// Consequence of an event that an application was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The application goes on waiting for what it has been waiting for.
    None,
    /// The application may have something to do: serve it.
    Serve,
}
