//! The sessions of a host: their sources and servers, and which may begin.

use std::net::SocketAddr;

use slantpath_base::{DataSize, Instant, Seed};
use slantpath_host::{MessageReports, Opener, Peers, Protocol, Reports, SocketId, TransportConfig};

use crate::adaptation::FlowAdaptation;
use crate::admission::{Admission, Refusal};
use crate::application::{Accepts, Application, Host, Kind, Listener, SharedState};
use crate::ids::SessionSourceId;
use crate::message::Content;
use crate::receiver::{MessageRecords, ReceiverConfig};
use crate::record::{OpenedSession, SessionRecords};
use crate::sessions::{NewSession, Opening, Session, SessionSource, SessionsConfig};

/// Host with sessions.
pub trait HostSessions {
    /// Adds a source of sessions, whose streams of chance derive from `seed` and `path`.
    fn add_session_source(&mut self, config: SessionsConfig, seed: Seed, path: &str) -> SessionSourceId;

    /// Adds a port at which any number of sessions may come in: each draws chance that depends on no other.
    ///
    /// # Panics
    /// If its port is in use.
    fn add_session_server(&mut self, transport: TransportConfig, seed: Seed, path: &str) -> SocketId;

    /// Variant of [`HostSessions::add_session_server`] for sessions that ask: answers are handed to the transport in
    /// messages of `message`.
    ///
    /// # Panics
    /// If its port is in use, or no message has that size.
    fn add_request_server(
        &mut self,
        transport: TransportConfig,
        message: DataSize,
        seed: Seed,
        path: &str,
    ) -> SocketId;

    /// Takes the records of sessions that are over: the host has forgotten them.
    fn take_sessions(&mut self) -> SessionRecords;

    /// Sessions that have come in and are not over: their server, where they come from, and when they came.
    fn accepted_sessions(&self) -> impl Iterator<Item = (SocketId, SocketAddr, Instant)>;

    /// Records of the sessions that are not over.
    fn unfinished_sessions(&mut self, now: Instant) -> SessionRecords;
}

impl HostSessions for Host {
    fn add_session_source(&mut self, config: SessionsConfig, seed: Seed, path: &str) -> SessionSourceId {
        let SharedState { sources, source_deadlines, .. } = self.shared_mut();
        let id = SessionSourceId(u32::try_from(sources.len()).expect("fewer than 2^32 sources"));
        let source = SessionSource::new(config, seed, path);
        source_deadlines.set(id.0, source.deadline());
        sources.push(source);
        id
    }

    fn add_session_server(&mut self, transport: TransportConfig, seed: Seed, path: &str) -> SocketId {
        serve_sessions(self, transport, Accepts::Sessions, Reports::default(), seed, path)
    }

    fn add_request_server(
        &mut self,
        transport: TransportConfig,
        message: DataSize,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let message_len = usize::try_from(message.as_bytes()).expect("a message is at most 64 KiB");
        // TCP knows at its end what it has retransmitted, SCTP has forgotten it.
        let messages = MessageReports::all_if(matches!(transport.protocol, Protocol::Sctp(_)));
        let reports = Reports { messages, ..Reports::default() };
        serve_sessions(self, transport, Accepts::SessionsThatAsk { message_len }, reports, seed, path)
    }

    fn take_sessions(&mut self) -> SessionRecords {
        std::mem::take(&mut self.shared_mut().sessions)
    }

    fn accepted_sessions(&self) -> impl Iterator<Item = (SocketId, SocketAddr, Instant)> {
        self.applications().filter_map(|application| match &application.0 {
            Kind::Session(session) => session.accepted(),
            _ => None,
        })
    }

    fn unfinished_sessions(&mut self, now: Instant) -> SessionRecords {
        let mut records = SessionRecords::default();
        self.visit(|application, socket| {
            if let Kind::Session(session) = &application.0 {
                session.record(now, socket, &mut records);
            }
        });
        for (number, source) in (0..).zip(&self.shared().sources) {
            let waiting = source.admission.iter().flat_map(Admission::waiting);
            records.sent.extend(waiting.map(|new| new.unopened(SessionSourceId(number), None)));
        }
        records
    }
}

impl Opener for Application {
    #[inline]
    fn next_opening(shared: &SharedState) -> Option<Instant> {
        shared.source_deadlines.earliest()
    }

    #[cold]
    fn open_due(host: &mut Host, now: Instant) {
        begin_sessions(host, now);
    }

    #[inline]
    fn has_ended(shared: &SharedState) -> bool {
        !shared.ended_sessions.is_empty()
    }

    #[cold]
    fn follow_ended(host: &mut Host, now: Instant) {
        note_ended_sessions(host, now);
    }
}

fn serve_sessions(
    host: &mut Host,
    transport: TransportConfig,
    accepts: Accepts,
    reports: Reports,
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
        adaptation: FlowAdaptation::None,
    };
    let stream = seed.stream(&format!("{path}/receiver/transport"));
    let listener = Kind::Listener(Box::new(Listener { receiver, accepts }));
    host.add(transport, Some(Peers::Many), reports, stream, Application(listener))
}

/// Begins the sessions that are due, and looks at those that wait.
fn begin_sessions(host: &mut Host, now: Instant) {
    while let Some(number) = host.shared_mut().source_deadlines.take_due(now) {
        let id = SessionSourceId(number);
        admit_waiting(host, now, id);
        while let Some(new) = source(host, id).begin(now) {
            let judged = match &source(host, id).admission {
                Some(admission) if admission.has_waiting() => Err(Refusal::Behind),
                _ => judge(host, now, id),
            };
            match (judged, &mut source(host, id).admission) {
                (Err(refusal), Some(admission)) => {
                    if let Err((new, refusal)) = admission.defer(now, new, refusal) {
                        refuse(host, id, new, refusal.to_string());
                    }
                }
                _ => open_session(host, now, id, new),
            }
        }
        plan(host, id);
    }
}

fn source(host: &mut Host, id: SessionSourceId) -> &mut SessionSource {
    &mut host.shared_mut().sources[id.0 as usize]
}

/// Notes when a source is next to be asked.
fn plan(host: &mut Host, id: SessionSourceId) {
    let SharedState { sources, source_deadlines, .. } = host.shared_mut();
    source_deadlines.set(id.0, sources[id.0 as usize].deadline());
}

/// Keeps the record of a session that could not be opened.
fn refuse(host: &mut Host, id: SessionSourceId, new: NewSession, failure: String) {
    host.shared_mut().sessions.sent.push(new.unopened(id, Some(failure)));
}

/// Lets a source look at its host, which has no sources meanwhile.
fn with_source<R>(
    host: &mut Host,
    id: SessionSourceId,
    act: impl FnOnce(&mut SessionSource, &mut Host) -> R,
) -> R {
    let mut sources = std::mem::take(&mut host.shared_mut().sources);
    let result = act(&mut sources[id.0 as usize], host);
    host.shared_mut().sources = sources;
    result
}

/// Decides if another session may begin, by the congestion states of those under way.
fn judge(host: &mut Host, now: Instant, id: SessionSourceId) -> Result<(), Refusal> {
    with_source(host, id, |source, host| {
        let Some(admission) = &source.admission else { return Ok(()) };
        admission.judge(admission.live().iter().filter_map(|live| host.congestion(now, *live)))
    })
}

/// Opens the first session that waits, if it may begin, and those behind it that may.
fn admit_waiting(host: &mut Host, now: Instant, id: SessionSourceId) {
    while source(host, id).admission.as_ref().is_some_and(Admission::has_waiting) {
        if judge(host, now, id).is_err() {
            break;
        }
        let Some(admission) = &mut source(host, id).admission else { break };
        let admits_several = admission.admits_several();
        if let Some(new) = admission.take_waiting() {
            open_session(host, now, id, new);
        }
        if !admits_several {
            break;
        }
    }
    if let Some(admission) = &mut source(host, id).admission {
        admission.end_check(now);
    }
}

/// Tells sources which of their sessions have ended: another may begin in their place.
fn note_ended_sessions(host: &mut Host, now: Instant) {
    while let Some((id, socket)) = host.shared_mut().ended_sessions.pop() {
        if let Some(admission) = &mut source(host, id).admission {
            admission.remove(socket);
            admit_waiting(host, now, id);
            plan(host, id);
        }
    }
}

fn open_session(host: &mut Host, now: Instant, id: SessionSourceId, new: NewSession) {
    let opening = with_source(host, id, |source, host| {
        let protocol = source.protocol().clone();
        source.open(now, new, |port| host.is_port_free(&protocol, port))
    });
    let Some(opening) = opening else {
        refuse(host, id, new, "no port is free".to_owned());
        return;
    };
    let Opening { new, sender, workload, requests, transport, stream } = opening;
    let messages = MessageReports::all_if(matches!(transport.protocol, Protocol::Sctp(_)));
    let reports = Reports { messages, ..Reports::default() };
    let session = Session::opener(id, new, sender, workload, requests);
    let opened = OpenedSession { source: id, number: new.number, port: transport.local_port, at: now };
    host.shared_mut().sessions.opened.push(opened);
    let application = Application(Kind::Session(Box::new(session)));
    let socket = host.add(transport, None, reports, stream, application);
    if let Some(admission) = &mut source(host, id).admission {
        admission.add(socket);
    }
}
