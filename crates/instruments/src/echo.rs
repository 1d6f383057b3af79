//! A server that sends every message back, or throws it away.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use slantpath_applications::{Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs, Refused};
use slantpath_base::{Duration, Instant, Stream};
use slantpath_host::SocketId;
use slantpath_live::{BySocket, Lost, Program};
use slantpath_sctp::Extension;

use crate::news::news_of;

/// Treatment of the messages that a server receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EchoMode {
    /// Mode in which each message is discarded.
    Discard,
    /// Mode in which each message goes back as it came, on the stream with its number (RFC 862).
    #[default]
    Echo,
}

/// Settings of an echo server.
#[derive(Clone, Debug)]
pub struct EchoConfig {
    /// The port; it listens.
    pub port: ProgramConfig,
    /// Treatment of the messages that it receives.
    pub mode: EchoMode,
    /// After how many associations that have ended it stops by itself.
    pub associations: Option<u64>,
    /// Time that associations have to end in order, once it is to stop.
    pub patience: Duration,
}

/// Counts of what a server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EchoReport {
    /// Associations that came up.
    pub associations: u64,
    /// Associations among these whose peer has offered authenticated chunks (RFC 4895), too.
    pub authenticated: u64,
    /// Associations among these that ended otherwise than in order.
    pub failed: u64,
    /// Messages that came.
    pub messages: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Messages that were sent back.
    pub echoed: u64,
    /// Messages that could not be sent back: the association had ended.
    pub dropped: u64,
}

/// An association of the server's.
#[derive(Debug)]
struct Caller {
    peer: Option<SocketAddr>,
    outbound_streams: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    /// Until then associations may end in order.
    Stopping(Instant),
    /// Phase in which all associations that were left have been aborted.
    Over,
}

/// A server that sends every message back, or throws it away.
#[derive(Debug)]
pub struct Echo {
    config: EchoConfig,
    callers: BySocket<Caller>,
    /// Messages for which the send buffers of some associations had no room, oldest first. While there is any, nothing
    /// more is taken in.
    waiting: BTreeMap<SocketId, VecDeque<ProgramMessage>>,
    phase: Phase,
    ended: u64,
    report: EchoReport,
    news: VecDeque<String>,
}

impl Echo {
    /// A server at a host. All its chance comes from `stream`.
    ///
    /// # Panics
    /// If its port is in use at the host.
    pub fn open(config: EchoConfig, host: &mut Host, stream: Stream) -> Self {
        host.add_program(&config.port, stream);
        Self {
            config,
            callers: BySocket::default(),
            waiting: BTreeMap::new(),
            phase: Phase::Serving,
            ended: 0,
            report: EchoReport::default(),
            news: VecDeque::new(),
        }
    }

    /// Counts of what it has done.
    pub const fn report(&self) -> &EchoReport {
        &self.report
    }

    /// Number of associations that are open.
    pub fn open_associations(&self) -> usize {
        self.callers.len()
    }

    /// Takes the next event, as one line of text, oldest first.
    pub fn poll_news(&mut self) -> Option<String> {
        self.news.pop_front()
    }

    fn tell(&mut self, news: String) {
        // Who does not listen does not make it grow.
        if self.news.len() < NEWS_MAX {
            self.news.push_back(news);
        }
    }

    fn answer(&mut self, now: Instant, host: &mut Host, socket: SocketId, message: ProgramMessage) {
        if let Some(waiting) = self.waiting.get_mut(&socket) {
            waiting.push_back(message);
            return;
        }
        match host.send(now, socket, message.clone()) {
            Ok(()) => self.report.echoed += 1,
            Err(Refused::Full) => {
                self.waiting.entry(socket).or_default().push_back(message);
                host.pause(now, socket);
            }
            Err(Refused::Never(_)) => self.report.dropped += 1,
        }
    }

    fn answer_waiting(&mut self, now: Instant, host: &mut Host, socket: SocketId) {
        let Some(waiting) = self.waiting.get_mut(&socket) else { return };
        while let Some(message) = waiting.front() {
            match host.send(now, socket, message.clone()) {
                Ok(()) => self.report.echoed += 1,
                Err(Refused::Full) => return,
                Err(Refused::Never(_)) => self.report.dropped += 1,
            }
            waiting.pop_front();
        }
        self.waiting.remove(&socket);
        host.resume(now, socket);
    }

    fn ended(&mut self, now: Instant, host: &mut Host, socket: SocketId, lost: Option<Lost>) {
        let Some(caller) = self.callers.remove(socket) else { return };
        self.ended += 1;
        self.report.failed += u64::from(lost.is_some());
        self.report.dropped += self.waiting.remove(&socket).map_or(0, |waiting| waiting.len()) as u64;
        let how = lost.map_or_else(|| "ended".to_owned(), |lost| format!("failed: {lost}"));
        self.tell(format!("{} {how}", name(caller.peer)));
        if self.config.associations.is_some_and(|most| self.ended >= most) && self.phase == Phase::Serving {
            self.stop(now, host);
        }
    }
}

/// Number of lines of news that are kept while nobody asks for them.
const NEWS_MAX: usize = 1_024;

fn name(peer: Option<SocketAddr>) -> String {
    peer.map_or_else(|| "a peer".to_owned(), |peer| peer.to_string())
}

impl Program for Echo {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { outbound_streams, .. } => {
                let peer = host.peer(socket);
                let is_authenticated = host.sctp_extensions(socket).contain(Extension::Authentication);
                self.report.authenticated += u64::from(is_authenticated);
                let offered = self.config.port.sctp.extensions.contain(Extension::Authentication);
                let how = match (offered, is_authenticated) {
                    (false, _) => "",
                    (true, true) => ", authenticated",
                    (true, false) => ", not authenticated",
                };
                self.tell(format!("{} has come{how}", name(peer)));
                self.report.associations += 1;
                self.callers.insert(socket, Caller { peer, outbound_streams });
                if self.phase != Phase::Serving {
                    host.shut_down(now, socket);
                }
            }
            ProgramEvent::Message(mut message) => {
                self.report.messages += 1;
                self.report.bytes += message.payload.len() as u64;
                // Who it is from matters to an answer alone.
                if self.config.mode == EchoMode::Echo {
                    let Some(caller) = self.callers.get(socket) else { return };
                    message.stream %= caller.outbound_streams.max(1);
                    self.answer(now, host, socket, message);
                }
            }
            ProgramEvent::Writable => self.answer_waiting(now, host, socket),
            ProgramEvent::Ended { failure, reason, .. } => {
                let lost = Lost::of_end(failure, reason);
                self.ended(now, host, socket, lost);
                host.release(socket);
            }
            ProgramEvent::Path { address, kind } => {
                let peer = self.callers.get(socket).and_then(|caller| caller.peer);
                self.tell(format!("{}: path to {address}: {}", name(peer), kind.name()));
            }
            ProgramEvent::Restarted => {
                // What its former self was owed is of no use to it.
                self.waiting.remove(&socket);
                let peer = self.callers.get(socket).and_then(|caller| caller.peer);
                host.resume(now, socket);
                self.tell(format!("{} has begun anew", name(peer)));
            }
            ProgramEvent::Abandoned | ProgramEvent::Transmitted(_) => {}
            ProgramEvent::Sctp(event) => {
                if let Some(news) = news_of(&event) {
                    let peer = self.callers.get(socket).and_then(|caller| caller.peer);
                    self.tell(format!("{}: {news}", name(peer)));
                }
            }
        }
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        if matches!(self.phase, Phase::Stopping(until) if until <= now) {
            self.phase = Phase::Over;
            for (socket, _) in self.callers.iter() {
                host.abort(now, socket);
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Stopping(until) => Some(until),
            Phase::Over | Phase::Serving => None,
        }
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        if self.phase == Phase::Serving {
            self.phase = Phase::Stopping(now.saturating_add(self.config.patience));
            for (socket, _) in self.callers.iter() {
                host.shut_down(now, socket);
            }
        } else {
            self.phase = Phase::Stopping(now);
            self.handle_deadline(now, host);
        }
    }

    fn is_over(&self) -> bool {
        match self.phase {
            Phase::Serving => false,
            Phase::Stopping(_) => self.callers.is_empty(),
            Phase::Over => true,
        }
    }
}
