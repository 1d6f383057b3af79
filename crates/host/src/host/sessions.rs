//! The sessions of a host: their sources and servers, and which may begin.

use std::net::SocketAddr;

use slantpath_base::{DataSize, Instant, Seed};
use slantpath_wire::ip::protocol;

use super::Host;
use crate::admission::{Admission, Refusal};
use crate::application::{Accepts, Application, Listener};
use crate::ids::SessionSourceId;
use crate::ids::SocketId;
use crate::message::Content;
use crate::receiver::{MessageRecords, ReceiverConfig};
use crate::record::{OpenedSession, SessionRecords};
use crate::sessions::{NewSession, Opening, Session, SessionSource, SessionsConfig};
use crate::socket::{MessageReports, Peers, PortUse, SocketState, Traces};
use crate::transport::{Protocol, TransportConfig};

impl Host {
    /// Adds a source of sessions, whose streams of chance derive from `seed` and `path`.
    pub fn add_session_source(&mut self, config: SessionsConfig, seed: Seed, path: &str) -> SessionSourceId {
        let id = SessionSourceId(u32::try_from(self.sources.len()).expect("fewer than 2^32 sources"));
        let source = SessionSource::new(config, seed, path);
        self.source_deadlines.set(id.0, source.deadline());
        self.sources.push(source);
        id
    }

    /// Adds a port at which any number of sessions may come in: each draws chance that depends on no other.
    ///
    /// # Panics
    /// If its port is in use.
    pub fn add_session_server(&mut self, transport: TransportConfig, seed: Seed, path: &str) -> SocketId {
        self.serve_sessions(transport, Accepts::Sessions, Traces::default(), seed, path)
    }

    /// Variant of [`Host::add_session_server`] for sessions that ask: answers are handed to the transport in messages
    /// of `message`.
    ///
    /// # Panics
    /// If its port is in use, or no message has that size.
    pub fn add_request_server(
        &mut self,
        transport: TransportConfig,
        message: DataSize,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let message_len = usize::try_from(message.as_bytes()).expect("a message is at most 64 KiB");
        // TCP knows at its end what it has retransmitted, SCTP has forgotten it.
        let messages = MessageReports::all_if(matches!(transport.protocol, Protocol::Sctp(_)));
        let traces = Traces { messages, ..Traces::default() };
        self.serve_sessions(transport, Accepts::SessionsThatAsk { message_len }, traces, seed, path)
    }

    fn serve_sessions(
        &mut self,
        transport: TransportConfig,
        accepts: Accepts,
        traces: Traces,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let receiver = ReceiverConfig {
            content: Content::Pattern,
            streams: 1,
            unordered: false,
            may_skip: false,
            records: MessageRecords::Nothing,
            read_rate: None,
        };
        let listener = Listener { receiver, accepts };
        let application = Application::Listener(Box::new(listener));
        self.listen(transport, Peers::Many, traces, application, seed, path)
    }

    /// Takes the records of sessions that are over: the host has forgotten them.
    pub fn take_sessions(&mut self) -> SessionRecords {
        self.sockets.take_sessions()
    }

    /// Sessions that have come in and are not over: their server, where they come from, and when they came.
    pub fn accepted_sessions(&self) -> impl Iterator<Item = (SocketId, SocketAddr, Instant)> {
        self.sockets.accepted_sessions()
    }

    /// Records of the sessions that are not over.
    pub fn unfinished_sessions(&mut self, now: Instant) -> SessionRecords {
        let mut records = self.sockets.unfinished_sessions(now, &mut self.stack);
        for (number, source) in (0..).zip(&self.sources) {
            let waiting = source.admission.iter().flat_map(Admission::waiting);
            records.sent.extend(waiting.map(|new| new.unopened(SessionSourceId(number), None)));
        }
        records
    }

    /// Begins the sessions that are due, and looks at those that wait.
    #[cold]
    pub(super) fn begin_sessions(&mut self, now: Instant) {
        while let Some(number) = self.source_deadlines.take_due(now) {
            let id = SessionSourceId(number);
            self.admit_waiting(now, id);
            while let Some(new) = self.source(id).begin(now) {
                let judged = match &self.source(id).admission {
                    Some(admission) if admission.has_waiting() => Err(Refusal::Behind),
                    _ => self.judge(now, id),
                };
                match (judged, &mut self.source(id).admission) {
                    (Err(refusal), Some(admission)) => {
                        if let Err((new, refusal)) = admission.defer(now, new, refusal) {
                            self.sockets.refuse_session(new.unopened(id, Some(refusal.to_string())));
                        }
                    }
                    _ => self.open_session(now, id, new),
                }
            }
            let deadline = self.source(id).deadline();
            self.source_deadlines.set(number, deadline);
        }
    }

    fn source(&mut self, id: SessionSourceId) -> &mut SessionSource {
        &mut self.sources[id.0 as usize]
    }

    /// Decides if another session may begin, by the congestion states of those under way.
    fn judge(&mut self, now: Instant, id: SessionSourceId) -> Result<(), Refusal> {
        let Self { sources, sockets, stack, .. } = self;
        let Some(admission) = &sources[id.0 as usize].admission else { return Ok(()) };
        admission.judge(admission.live().iter().filter_map(|live| sockets.congestion(now, *live, stack)))
    }

    /// Opens the first session that waits, if it may begin, and those behind it that may.
    fn admit_waiting(&mut self, now: Instant, id: SessionSourceId) {
        while self.source(id).admission.as_ref().is_some_and(Admission::has_waiting) {
            if self.judge(now, id).is_err() {
                break;
            }
            let Some(admission) = &mut self.source(id).admission else { break };
            let admits_several = admission.admits_several();
            if let Some(new) = admission.take_waiting() {
                self.open_session(now, id, new);
            }
            if !admits_several {
                break;
            }
        }
        if let Some(admission) = &mut self.source(id).admission {
            admission.end_check(now);
        }
    }

    /// Tells sources which of their sessions have ended: another may begin in their place.
    #[cold]
    pub(super) fn note_ended_sessions(&mut self, now: Instant) {
        while let Some((id, socket)) = self.sockets.take_ended_session() {
            if let Some(admission) = &mut self.source(id).admission {
                admission.remove(socket);
                self.admit_waiting(now, id);
                let deadline = self.source(id).deadline();
                self.source_deadlines.set(id.0, deadline);
            }
        }
    }

    fn open_session(&mut self, now: Instant, id: SessionSourceId, new: NewSession) {
        let source = &mut self.sources[id.0 as usize];
        let of = source.protocol();
        let Some(opening) = source.open(now, new, |port| self.sockets.is_free(of, port)) else {
            self.sockets.refuse_session(new.unopened(id, Some("no port is free".to_owned())));
            return;
        };
        let Opening { new, sender, workload, requests, transport, stream } = opening;
        let port = match self.sockets.at_port(of, transport.local_port) {
            Some(_) => PortUse::Again,
            None => PortUse::First,
        };
        let traces = Traces { messages: MessageReports::all_if(of == protocol::SCTP), ..Traces::default() };
        let transport = self.with_nearest_address_first(transport);
        let state = SocketState::bind_for(port, &mut self.stack, transport, stream, traces);
        let session = Session::opener(id, new, sender, workload, requests);
        let number = new.number;
        self.sockets.note_opened_session(OpenedSession { source: id, number, port: state.port(), at: now });
        let socket = self.sockets.add(state, Application::Session(Box::new(session)), &self.stack);
        if let Some(admission) = &mut self.source(id).admission {
            admission.add(socket);
        }
    }
}
