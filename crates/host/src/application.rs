//! The users of sockets that a host has.

use slantpath_base::{Instant, prefetch};

use crate::carrier::Carrier;
use crate::flow_end::FlowEnd;
use crate::ids::SocketId;
use crate::program::Program;
use crate::receiver::ReceiverConfig;
use crate::served::{Others, Reaction, Served};
use crate::sessions::Session;
use crate::socket::{Socket, SocketEvent};

/// Holder of a socket: the application, or none any more.
#[derive(Debug)]
pub(crate) enum Application {
    /// Keeps an association up for an adaptation layer outside the host.
    Carrier(Box<Carrier>),
    /// One end of a flow.
    Flow(Box<FlowEnd>),
    /// Accepts whoever comes: each is a socket of its own, whose application is made as the listener says.
    Listener(Box<Listener>),
    /// Nothing more: what it was has ended, and its record has been taken.
    Over,
    /// Hands everything to a program outside the host.
    Program(Box<Program>),
    /// One end of a session.
    Session(Box<Session>),
}

impl Application {
    /// Asks the processor for its memory: it is going to be served.
    pub(crate) fn prefetch(&self) {
        match self {
            Self::Flow(flow) => prefetch(&**flow),
            Self::Session(session) => prefetch(&**session),
            Self::Carrier(_) | Self::Listener(_) | Self::Over | Self::Program(_) => {}
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is no longer than a call, and an event is large to move")]
    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: SocketEvent,
        socket: &mut Socket<'_>,
    ) -> Reaction {
        match self {
            Self::Carrier(carrier) => {
                carrier.handle_event(now, event, socket);
                Reaction::Serve
            }
            Self::Flow(flow) => flow.handle_event(now, event, socket),
            // All that happens is told of the sockets that it has accepted.
            Self::Listener(_) | Self::Over => Reaction::None,
            Self::Program(program) => {
                program.handle_event(event, socket);
                Reaction::None
            }
            Self::Session(session) => session.handle_event(now, event, socket),
        }
    }

    /// Until when it has nothing to do unless it is told something, if it was served last and then waited for
    /// `deadline`.
    pub(crate) fn idle_until(&self, deadline: Option<Instant>) -> Instant {
        let deadline = deadline.unwrap_or(Instant::FAR_FUTURE);
        match self {
            // It looks at its association whenever something happens to it.
            Self::Carrier(_) => Instant::START,
            Self::Flow(flow) => deadline.min(flow.next_sample().unwrap_or(Instant::FAR_FUTURE)),
            Self::Listener(_) | Self::Over | Self::Program(_) | Self::Session(_) => deadline,
        }
    }

    /// The time has come that [`Application::serve`] named.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        match self {
            Self::Flow(flow) => flow.handle_deadline(now),
            Self::Carrier(_) | Self::Listener(_) | Self::Over | Self::Program(_) | Self::Session(_) => {}
        }
    }

    /// Does the next thing that the application wants of its socket, or several if nobody else waits.
    #[inline]
    pub(crate) fn serve(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served {
        let served = match self {
            Self::Carrier(carrier) => carrier.serve(now, socket),
            Self::Flow(flow) => flow.serve(now, others, socket),
            Self::Listener(_) | Self::Over => Served::Idle(None),
            Self::Program(program) => program.serve(now, socket),
            Self::Session(session) => session.serve(now, others, socket),
        };
        match (self, &served) {
            (Self::Carrier(carrier), Served::Idle(_)) => carrier.sample(now, socket),
            (Self::Flow(flow), Served::Idle(_)) => flow.sample(now, socket),
            _ => {}
        }
        served
    }
}

/// A listening socket's application.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) receiver: ReceiverConfig,
    pub(crate) accepts: Accepts,
}

/// Use that a listener makes of its peers.
#[derive(Debug)]
pub(crate) enum Accepts {
    /// Sessions that carry something here.
    Sessions,
    /// Sessions that ask, and are answered in messages of so many bytes.
    SessionsThatAsk { message_len: usize },
}

impl Listener {
    /// The application of the next socket.
    /// `own` is the listener's.
    pub(crate) fn accept(&self, own: SocketId) -> Application {
        match &self.accepts {
            Accepts::Sessions => Application::Session(Box::new(Session::receiver(own, self.receiver))),
            Accepts::SessionsThatAsk { message_len } => {
                Application::Session(Box::new(Session::server(own, *message_len)))
            }
        }
    }
}
