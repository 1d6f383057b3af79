//! Users of sockets that a host may have, as one type: which it is costs no call through a table.

use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::{Deadlines, Instant, prefetch};
use slantpath_host::{Others, Reaction, Served, Socket, SocketEvent, SocketId};

use crate::carrier::Carrier;
use crate::earlier::earlier;
use crate::flow_end::FlowEnd;
use crate::ids::SessionSourceId;
use crate::noted::Noted;
use crate::program::Program;
use crate::receiver::ReceiverConfig;
use crate::record::SessionRecords;
use crate::service::Serving;
use crate::sessions::{Session, SessionSource};

/// Host whose sockets have the applications of this crate.
pub type Host = slantpath_host::SocketHost<Application>;

/// User of a socket.
#[derive(Debug)]
pub struct Application(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    /// Keeps an association up for an adaptation layer outside the host.
    Carrier(Box<Carrier>),
    /// One end of a flow.
    Flow(Box<FlowEnd>),
    /// Accepts whoever comes: each is a socket of its own, whose application is made as the listener says.
    Listener(Box<Listener>),
    /// Hands everything to a program outside the host.
    Program(Box<Program>),
    /// Answers whoever comes.
    Service(Box<Serving>),
    /// One end of a session.
    Session(Box<Session>),
}

/// State that the applications of a host share.
#[derive(Debug, Default)]
pub struct SharedState {
    /// Carriers that have something for the layer above.
    pub(crate) with_inputs: Noted,
    /// Sockets that have something for the program that holds them.
    pub(crate) with_events: Noted,
    /// Of sessions that are over.
    pub(crate) sessions: SessionRecords,
    /// Sessions that are over, of which their sources have not been told.
    pub(crate) ended_sessions: Vec<(SessionSourceId, SocketId)>,
    pub(crate) sources: Vec<SessionSource>,
    /// Instants at which sources begin sessions.
    pub(crate) source_deadlines: Deadlines<u32>,
    /// Associations that services have.
    pub(crate) served: u32,
}

impl slantpath_host::Application for Application {
    type Shared = SharedState;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is no longer than a call, and an event is large to move")]
    fn handle_event(
        &mut self,
        now: Instant,
        own: SocketId,
        event: SocketEvent,
        socket: &mut Socket<'_>,
        shared: &mut SharedState,
    ) -> Reaction {
        match &mut self.0 {
            Kind::Carrier(carrier) => {
                carrier.handle_event(now, event, socket);
                shared.with_inputs.note(own, carrier.inputs());
                Reaction::Serve
            }
            Kind::Flow(flow) => flow.handle_event(now, event, socket),
            // All that happens is told of the sockets that it has accepted.
            Kind::Listener(_) => Reaction::None,
            Kind::Program(program) => {
                program.handle_event(event, socket);
                shared.with_events.note(own, program.events());
                Reaction::None
            }
            Kind::Service(service) => service.handle_event(now, event, socket, shared),
            Kind::Session(session) => session.handle_event(now, event, socket),
        }
    }

    #[inline]
    fn serve(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served {
        let served = match &mut self.0 {
            Kind::Carrier(carrier) => carrier.serve(now, socket),
            Kind::Flow(flow) => flow.serve(now, others, socket),
            Kind::Listener(_) => Served::Idle(None),
            Kind::Program(program) => program.serve(now, socket),
            Kind::Service(service) => service.serve(now, socket),
            Kind::Session(session) => session.serve(now, others, socket),
        };
        match (&mut self.0, &served) {
            (Kind::Carrier(carrier), Served::Idle(_)) => carrier.sample(now, socket),
            (Kind::Flow(flow), Served::Idle(_)) => flow.sample(now, socket),
            _ => {}
        }
        served
    }

    #[inline]
    fn handle_deadline(&mut self, now: Instant) {
        match &mut self.0 {
            Kind::Flow(flow) => flow.handle_deadline(now),
            Kind::Carrier(_) | Kind::Listener(_) | Kind::Program(_) | Kind::Service(_) | Kind::Session(_) => {
            }
        }
    }

    #[inline]
    fn idle_until(&self, deadline: Option<Instant>) -> Instant {
        let next_sample = match &self.0 {
            Kind::Carrier(carrier) => carrier.next_sample(),
            Kind::Flow(flow) => flow.next_sample(),
            Kind::Listener(_) | Kind::Program(_) | Kind::Service(_) | Kind::Session(_) => None,
        };
        earlier(deadline, next_sample).unwrap_or(Instant::FAR_FUTURE)
    }

    #[inline]
    fn note_served(&mut self, own: SocketId, shared: &mut SharedState) {
        match &mut self.0 {
            Kind::Carrier(carrier) => shared.with_inputs.note(own, carrier.inputs()),
            Kind::Program(program) => shared.with_events.note(own, program.events()),
            Kind::Flow(_) | Kind::Listener(_) | Kind::Service(_) | Kind::Session(_) => {}
        }
    }

    /// Takes the record of a session that is over, of which nothing else is kept.
    #[inline]
    fn retire(
        &mut self,
        now: Instant,
        own: SocketId,
        socket: &mut Socket<'_>,
        shared: &mut SharedState,
    ) -> bool {
        let session = match &self.0 {
            Kind::Service(service) => return service.is_over(),
            Kind::Session(session) => session,
            _ => return false,
        };
        if !session.is_over() {
            return false;
        }
        session.record(now, socket, &mut shared.sessions);
        if let Some(source) = session.source() {
            shared.ended_sessions.push((source, own));
        }
        true
    }

    fn accept(&self, own: SocketId) -> Option<Self> {
        let kind = match &self.0 {
            Kind::Listener(listener) => Kind::Session(Box::new(listener.accept(own))),
            Kind::Program(program) => Kind::Program(Box::new(program.accept(own)?)),
            Kind::Service(service) => Kind::Service(Box::new(service.accept())),
            Kind::Carrier(_) | Kind::Flow(_) | Kind::Session(_) => return None,
        };
        Some(Self(kind))
    }

    #[inline]
    fn is_served_first(&self) -> bool {
        matches!(self.0, Kind::Carrier(_))
    }

    #[inline]
    fn prefetch(&self) {
        match &self.0 {
            Kind::Flow(flow) => prefetch(&**flow),
            Kind::Session(session) => prefetch(&**session),
            Kind::Carrier(_) | Kind::Listener(_) | Kind::Program(_) | Kind::Service(_) => {}
        }
    }

    fn answer(&mut self, from: SocketAddr, datagram: Bytes) -> Option<Bytes> {
        match &mut self.0 {
            Kind::Service(service) => service.answer(from, datagram),
            _ => None,
        }
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
    /// The end of the next session.
    /// `own` is the listener's.
    fn accept(&self, own: SocketId) -> Session {
        match &self.accepts {
            Accepts::Sessions => Session::receiver(own, self.receiver),
            Accepts::SessionsThatAsk { message_len } => Session::server(own, *message_len),
        }
    }
}
