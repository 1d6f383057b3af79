//! A client that loads a server with messages, and measures what becomes of them.

mod measure;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Stream};
use slantpath_host::{Host, ProgramConfig, ProgramEvent, ProgramMessage, Refused, SocketId};
use slantpath_sctp::SendOptions;

use crate::news::news_of;
use crate::program::Program;
use measure::Measure;
pub use measure::{LoadReport, PathReport};

/// When messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As soon as there is room in the send buffer.
    AsFastAsPossible,
    /// One each time this has passed, whether or not those before have been answered. What finds no room waits, and the
    /// time for which it does counts.
    Every(Duration),
    /// As with [`Pace::Every`], at exponential intervals with this mean.
    Poisson(Duration),
    /// So many at once each time this has passed.
    Bursts {
        /// Messages of a burst.
        messages: u32,
        /// From the beginning of one to that of the next.
        every: Duration,
    },
}

/// A load.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// Whom to connect to, and from where. Each further association has the next port.
    pub port: ProgramConfig,
    /// How many associations there are.
    pub associations: u16,
    /// How long a message is, in bytes; at least [`LoadConfig::LEAST_MESSAGE_BYTES`].
    pub message_bytes: usize,
    /// When messages are sent, on each association.
    pub pace: Pace,
    /// Over how many streams they go, one after the other.
    pub streams: u16,
    /// Whether they may overtake each other.
    pub is_unordered: bool,
    /// When messages are given up, and what else few messages ask for.
    pub options: Option<SendOptions>,
    /// How many are sent on each association at most.
    pub messages: Option<u64>,
    /// For how long they are sent at most, from when the first association is up.
    pub duration: Option<Duration>,
    /// Whether the server sends them back.
    pub is_echoed: bool,
    /// How long is waited for answers, and for associations to end, once all has been sent.
    pub patience: Duration,
}

impl LoadConfig {
    /// A message holds its number and when it was due.
    pub const LEAST_MESSAGE_BYTES: usize = 16;
}

/// One association.
#[derive(Debug)]
struct Caller {
    standing: Standing,
    streams: u16,
    sent: u64,
    /// How many have come back, or been given up: one that did both counts twice.
    settled: u64,
    next: NextMessage,
    /// What intervals are drawn from.
    gaps: Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Opening,
    Up,
    Over,
}

impl Caller {
    fn is_up(&self) -> bool {
        self.standing == Standing::Up
    }

    /// Whether all is done that was to be, of so many messages.
    fn has_sent(&self, most: u64) -> bool {
        match self.standing {
            Standing::Opening => false,
            Standing::Up => self.sent >= most,
            Standing::Over => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextMessage {
    /// It is due then.
    Due(Instant),
    /// It has been due since then, and waits for room.
    Waiting(Instant),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the first association is up.
    Opening,
    /// Until then, if there is an end.
    Sending(Option<Instant>),
    /// For answers.
    Awaiting(Instant),
    Closing(Instant),
    Over,
}

/// A client that loads a server with messages.
#[derive(Debug)]
pub struct Load {
    config: LoadConfig,
    callers: BTreeMap<SocketId, Caller>,
    /// When which association sends next, of those that wait for nothing else.
    agenda: BTreeSet<(Instant, SocketId)>,
    /// How many associations are not over.
    left: usize,
    phase: Phase,
    /// What fills a message behind its number.
    filling: Bytes,
    measure: Measure,
    news: VecDeque<String>,
}

impl Load {
    /// A client at a host. All its chance comes from `stream`.
    ///
    /// # Panics
    /// If a port is in use at the host, if messages are shorter than they may be, or if there is nobody to connect to.
    pub fn open(config: LoadConfig, host: &mut Host, mut stream: Stream) -> Self {
        assert!(config.message_bytes >= LoadConfig::LEAST_MESSAGE_BYTES, "a message holds its number");
        assert!(config.port.peer.is_some(), "there is a peer");
        let mut callers = BTreeMap::new();
        for number in 0..config.associations {
            let local_port = config.port.local_port + number;
            let port = ProgramConfig { local_port, ..config.port.clone() };
            let socket = host.add_program(&port, stream.fork(&format!("{number}")));
            let gaps = stream.fork(&format!("{number}/gaps"));
            let next = NextMessage::Due(Instant::START);
            let standing = Standing::Opening;
            callers.insert(socket, Caller { standing, streams: 1, sent: 0, settled: 0, next, gaps });
        }
        let filling = Bytes::from(vec![0x5a; config.message_bytes]);
        let phase = if callers.is_empty() { Phase::Over } else { Phase::Opening };
        let (left, measure, news) = (callers.len(), Measure::default(), VecDeque::new());
        Self { config, callers, agenda: BTreeSet::new(), left, phase, filling, measure, news }
    }

    /// What has been measured.
    pub fn report(&self, host: &mut Host, now: Instant) -> LoadReport {
        let paths = self.callers.keys().next().map(|first| host.sctp_paths(now, *first)).unwrap_or_default();
        self.measure.report(&paths)
    }

    /// How many messages have been sent, and how many have come back.
    pub const fn progress(&self) -> (u64, u64) {
        self.measure.progress()
    }

    /// What has happened, in a line each, oldest first.
    pub fn poll_news(&mut self) -> Option<String> {
        self.news.pop_front()
    }

    fn tell(&mut self, news: String) {
        if self.news.len() < NEWS_MAX {
            self.news.push_back(news);
        }
    }

    fn is_sending(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Sending(end) if end.is_none_or(|end| now < end))
    }

    /// Sends what is due on an association, as far as there is room, and notes when it goes on.
    fn offer(&mut self, now: Instant, host: &mut Host, socket: SocketId) {
        if !self.is_sending(now) {
            return;
        }
        if let Some(NextMessage::Due(due)) = self.callers.get(&socket).map(|caller| caller.next) {
            self.agenda.remove(&(due, socket));
        }
        self.send_due(now, host, socket);
        let most = self.config.messages.unwrap_or(u64::MAX);
        let Some(caller) = self.callers.get(&socket) else { return };
        if let NextMessage::Due(due) = caller.next
            && caller.is_up()
            && caller.sent < most
        {
            self.agenda.insert((due, socket));
        }
    }

    fn send_due(&mut self, now: Instant, host: &mut Host, socket: SocketId) {
        let Some(caller) = self.callers.get_mut(&socket).filter(|caller| caller.is_up()) else { return };
        while self.config.messages.is_none_or(|most| caller.sent < most) {
            let due = match caller.next {
                NextMessage::Due(due) | NextMessage::Waiting(due) => due,
            };
            if due > now {
                caller.next = NextMessage::Due(due);
                return;
            }
            let stamp = if self.config.pace == Pace::AsFastAsPossible { now } else { due };
            let stream = u16::try_from(caller.sent % u64::from(caller.streams)).unwrap_or(0);
            let message = ProgramMessage {
                stream,
                payload_protocol: 0,
                is_unordered: self.config.is_unordered,
                payload: stamped(caller.sent, stamp, &self.filling),
                options: self.config.options.clone().map(Box::new),
            };
            match host.send(now, socket, message) {
                Ok(()) => {
                    caller.sent += 1;
                    self.measure.sent(now, self.config.message_bytes);
                    caller.next = NextMessage::Due(match self.config.pace {
                        Pace::AsFastAsPossible => now,
                        Pace::Every(interval) => due.saturating_add(interval),
                        Pace::Poisson(mean) => due.saturating_add(caller.gaps.exponential(mean)),
                        Pace::Bursts { messages, every } => {
                            let is_whole = caller.sent % u64::from(messages.max(1)) == 0;
                            if is_whole { due.saturating_add(every) } else { due }
                        }
                    });
                }
                Err(Refused::Full) => {
                    caller.next = NextMessage::Waiting(due);
                    return;
                }
                Err(Refused::Never(reason)) => {
                    caller.standing = Standing::Over;
                    self.left -= 1;
                    self.measure.failed(reason);
                    return;
                }
            }
        }
    }

    /// Goes on to the next phase once this one has come to its end.
    fn advance(&mut self, now: Instant, host: &mut Host) {
        if let Phase::Sending(end) = self.phase {
            let all = |most| self.callers.values().all(|caller| caller.has_sent(most));
            let is_done = self.config.messages.is_some_and(all) || end.is_some_and(|end| end <= now);
            if is_done {
                self.phase = Phase::Awaiting(now.saturating_add(self.config.patience));
            }
        }
        if let Phase::Awaiting(until) = self.phase {
            let answered = |caller: &Caller| !caller.is_up() || caller.settled >= caller.sent;
            if !self.config.is_echoed || until <= now || self.callers.values().all(answered) {
                self.close(now, host);
            }
        }
        if let Phase::Closing(until) = self.phase
            && until <= now
        {
            self.phase = Phase::Over;
            for (&socket, caller) in &mut self.callers {
                caller.standing = Standing::Over;
                host.abort(now, socket);
            }
        }
    }

    fn close(&mut self, now: Instant, host: &mut Host) {
        self.phase = Phase::Closing(now.saturating_add(self.config.patience));
        for (&socket, caller) in &self.callers {
            if caller.is_up() && self.measure.keeps_no_paths() {
                self.measure.keep_paths(&host.sctp_paths(now, socket));
            }
            host.shut_down(now, socket);
        }
    }

    fn connected(&mut self, now: Instant, host: &mut Host, socket: SocketId, outbound_streams: u16) {
        let extensions = host.sctp_extensions(socket);
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        caller.standing = Standing::Up;
        caller.streams = self.config.streams.clamp(1, outbound_streams.max(1));
        caller.next = NextMessage::Due(now);
        self.measure.connected(now);
        self.measure.agreed(extensions);
        if self.phase == Phase::Opening {
            self.phase = Phase::Sending(self.config.duration.map(|duration| now.saturating_add(duration)));
        }
    }

    fn ended(&mut self, now: Instant, socket: SocketId, failure: Option<String>) {
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        if let NextMessage::Due(due) = caller.next {
            self.agenda.remove(&(due, socket));
        }
        if std::mem::replace(&mut caller.standing, Standing::Over) != Standing::Over {
            self.left -= 1;
        }
        match failure {
            Some(failure) => self.measure.failed(failure),
            None if matches!(self.phase, Phase::Opening | Phase::Sending(_)) => {
                self.measure.failed("the server has ended the association".to_owned());
            }
            None => {}
        }
        self.measure.ended(now);
        if self.left == 0 {
            self.phase = Phase::Over;
        }
    }

    fn echoed(&mut self, now: Instant, socket: SocketId, payload: &Bytes) {
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        let Some((number, stamp)) = read_stamp(payload) else { return self.measure.foreign() };
        let is_whole = payload.len() == self.config.message_bytes
            && payload[LoadConfig::LEAST_MESSAGE_BYTES..] == self.filling[LoadConfig::LEAST_MESSAGE_BYTES..];
        if number >= caller.sent || !is_whole {
            return self.measure.foreign();
        }
        caller.settled += 1;
        self.measure.echoed(now, stamp, payload.len());
    }
}

/// How much news is kept that nobody asks for.
const NEWS_MAX: usize = 1_024;

fn stamped(number: u64, stamp: Instant, filling: &Bytes) -> Bytes {
    let mut octets = Vec::with_capacity(filling.len());
    octets.extend_from_slice(&number.to_be_bytes());
    octets.extend_from_slice(&stamp.as_nanos().to_be_bytes());
    octets.extend_from_slice(&filling[octets.len()..]);
    octets.into()
}

fn read_stamp(payload: &[u8]) -> Option<(u64, Instant)> {
    let (number, rest) = payload.split_first_chunk()?;
    let (stamp, _) = rest.split_first_chunk()?;
    Some((u64::from_be_bytes(*number), Instant::from_nanos(u64::from_be_bytes(*stamp))))
}

impl Program for Load {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { outbound_streams, .. } => {
                self.connected(now, host, socket, outbound_streams);
                self.offer(now, host, socket);
            }
            ProgramEvent::Message(message) => self.echoed(now, socket, &message.payload),
            ProgramEvent::Writable => self.offer(now, host, socket),
            ProgramEvent::Ended { failure } => self.ended(now, socket, failure),
            ProgramEvent::Path { address, kind } => {
                self.measure.path_event(now, address, kind.name());
                let at = self.measure.since_connected(now);
                self.tell(format!("at {at}: path to {address}: {}", kind.name()));
            }
            ProgramEvent::Restarted => self.tell("the server has begun anew".to_owned()),
            ProgramEvent::Abandoned => {
                self.measure.abandoned();
                if let Some(caller) = self.callers.get_mut(&socket) {
                    caller.settled += 1;
                }
            }
            ProgramEvent::Sctp(event) => {
                if let Some(news) = news_of(&event) {
                    self.tell(format!("the server: {news}"));
                }
            }
        }
        self.advance(now, host);
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        let due: Vec<SocketId> =
            self.agenda.iter().take_while(|(due, _)| *due <= now).map(|&(_, socket)| socket).collect();
        for socket in due {
            self.offer(now, host, socket);
        }
        self.advance(now, host);
    }

    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Opening | Phase::Over => None,
            Phase::Awaiting(until) | Phase::Closing(until) => Some(until),
            Phase::Sending(end) => {
                let due = self.agenda.first().map(|(due, _)| *due);
                match (due, end) {
                    (Some(due), Some(end)) => Some(due.min(end)),
                    (due, end) => due.or(end),
                }
            }
        }
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        match self.phase {
            Phase::Sending(_) => {
                self.phase = Phase::Awaiting(now.saturating_add(self.config.patience));
                self.advance(now, host);
            }
            Phase::Awaiting(_) => self.close(now, host),
            Phase::Opening | Phase::Closing(_) | Phase::Over => {
                self.phase = Phase::Closing(now);
                self.advance(now, host);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}
