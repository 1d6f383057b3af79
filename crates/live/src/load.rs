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
    /// For how long they are sent at most, from when the first association is up, or all are
    /// ([`LoadConfig::waits_for_all`]).
    pub duration: Option<Duration>,
    /// Whether the server sends them back.
    pub is_echoed: bool,
    /// Whether nothing is sent before every association is up, or has failed: of very many, the first would else keep a
    /// server that is busy with them from hearing of the last.
    pub waits_for_all: bool,
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
    /// What all chance comes from.
    stream: Stream,
    /// How many associations have been begun.
    begun: u16,
    /// How many of these are being set up.
    opening: usize,
    /// When which association sends next, of those that wait for nothing else.
    agenda: BTreeSet<(Instant, SocketId)>,
    /// How many associations are not over, with those that have not been begun.
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
    /// If a port is in use at the host when its turn comes, if messages are shorter than they may be, or if there is
    /// nobody to connect to.
    pub fn open(config: LoadConfig, host: &mut Host, stream: Stream) -> Self {
        assert!(config.message_bytes >= LoadConfig::LEAST_MESSAGE_BYTES, "a message holds its number");
        assert!(config.port.peer.is_some(), "there is a peer");
        let filling = Bytes::from(vec![0x5a; config.message_bytes]);
        let left = usize::from(config.associations);
        let mut load = Self {
            config,
            callers: BTreeMap::new(),
            stream,
            begun: 0,
            opening: 0,
            agenda: BTreeSet::new(),
            left,
            phase: if left == 0 { Phase::Over } else { Phase::Opening },
            filling,
            measure: Measure::default(),
            news: VecDeque::new(),
        };
        load.begin_more(host);
        load
    }

    /// Begins associations, as many at a time as may be under way: the next when one is up.
    fn begin_more(&mut self, host: &mut Host) {
        let is_beginning = matches!(self.phase, Phase::Opening | Phase::Sending(_));
        while is_beginning && self.begun < self.config.associations && self.opening < OPENING_MAX {
            let number = self.begun;
            let local_port = self.config.port.local_port + number;
            let port = ProgramConfig { local_port, ..self.config.port.clone() };
            let socket = host.add_program(&port, self.stream.fork(&format!("{number}")));
            let gaps = self.stream.fork(&format!("{number}/gaps"));
            let next = NextMessage::Due(Instant::START);
            let standing = Standing::Opening;
            self.callers.insert(socket, Caller { standing, streams: 1, sent: 0, settled: 0, next, gaps });
            self.begun += 1;
            self.opening += 1;
        }
    }

    /// Nothing more is begun.
    fn begin_no_more(&mut self) {
        self.left -= usize::from(self.config.associations - self.begun);
        self.config.associations = self.begun;
        if self.left == 0 {
            self.phase = Phase::Over;
        }
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
            let all = |most| {
                self.begun == self.config.associations
                    && self.callers.values().all(|caller| caller.has_sent(most))
            };
            let is_done = self.config.messages.is_some_and(all) || end.is_some_and(|end| end <= now);
            if is_done {
                self.phase = Phase::Awaiting(now.saturating_add(self.config.patience));
                self.begin_no_more();
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
        if std::mem::replace(&mut caller.standing, Standing::Up) == Standing::Opening {
            self.opening -= 1;
        }
        caller.streams = self.config.streams.clamp(1, outbound_streams.max(1));
        caller.next = NextMessage::Due(now);
        self.measure.connected(now);
        self.measure.agreed(extensions);
    }

    /// Begins to send, if it is time to.
    fn begin_to_send(&mut self, now: Instant, host: &mut Host) {
        let waits_for_all = self.config.waits_for_all;
        let are_all_settled = || self.begun == self.config.associations && self.opening == 0;
        let is_any_up = || self.callers.values().any(Caller::is_up);
        if self.phase != Phase::Opening || (waits_for_all && !are_all_settled()) || !is_any_up() {
            return;
        }
        self.phase = Phase::Sending(self.config.duration.map(|duration| now.saturating_add(duration)));
        if waits_for_all {
            for caller in self.callers.values_mut() {
                // Not all with the same instant, where each has instants of its own.
                let first = match self.config.pace {
                    Pace::Poisson(mean) => now.saturating_add(caller.gaps.exponential(mean)),
                    Pace::AsFastAsPossible | Pace::Bursts { .. } | Pace::Every(_) => now,
                };
                caller.next = NextMessage::Due(first);
            }
            let all: Vec<SocketId> = self.callers.keys().copied().collect();
            for socket in all {
                self.offer(now, host, socket);
            }
        }
    }

    fn ended(&mut self, now: Instant, socket: SocketId, failure: Option<String>) {
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        if let NextMessage::Due(due) = caller.next {
            self.agenda.remove(&(due, socket));
        }
        match std::mem::replace(&mut caller.standing, Standing::Over) {
            Standing::Opening => (self.left, self.opening) = (self.left - 1, self.opening - 1),
            Standing::Up => self.left -= 1,
            Standing::Over => {}
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

/// How many associations are set up at a time. More INITs at once than the peer's buffer holds are lost, all of them
/// are sent again at the same time after T1-init, and again after twice that: of 50,000 some needed minutes. Where a
/// program may not ask for more, Linux's buffer of 212,992 bytes holds some 550 small packets.
const OPENING_MAX: usize = 256;
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
                self.begin_to_send(now, host);
                self.offer(now, host, socket);
            }
            ProgramEvent::Message(message) => self.echoed(now, socket, &message.payload),
            ProgramEvent::Writable => self.offer(now, host, socket),
            ProgramEvent::Ended { failure, reason: _ } => {
                self.ended(now, socket, failure);
                self.begin_to_send(now, host);
            }
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
        self.begin_more(host);
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
                self.begin_no_more();
                self.advance(now, host);
            }
            Phase::Awaiting(_) => self.close(now, host),
            Phase::Opening | Phase::Closing(_) | Phase::Over => {
                self.phase = Phase::Closing(now);
                self.begin_no_more();
                self.advance(now, host);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::echo::{Echo, EchoConfig, EchoMode};
    use crate::program::{Station, host_of};
    use slantpath_base::Seed;
    use slantpath_host::Peer;
    use slantpath_interface::{Host as _, InterfaceId};
    use slantpath_wire::Packet;
    use std::net::IpAddr;

    const NOW: Instant = Instant::START;
    const ALL: u16 = 600;

    fn ends(waits_for_all: bool) -> (Station<Load>, Station<Echo>) {
        let [own, peer] = [1, 2].map(|end| IpAddr::from([10, 0, 0, end]));
        let port = |address, local_port, peer| ProgramConfig {
            sctp: Box::default(),
            local_addresses: vec![address],
            local_port,
            peer,
        };
        let config = LoadConfig {
            port: port(own, 20_000, Some(Peer { addresses: vec![peer], port: 7 })),
            associations: ALL,
            message_bytes: 100,
            pace: Pace::AsFastAsPossible,
            streams: 1,
            is_unordered: false,
            options: None,
            messages: Some(2),
            duration: None,
            is_echoed: true,
            waits_for_all,
            patience: Duration::from_secs(1),
        };
        let mut host = host_of(&[own]);
        let program = Load::open(config, &mut host, Seed::new(1, 0).stream("load"));
        let load = Station { host, program };
        let mut host = host_of(&[peer]);
        let (port, patience) = (port(peer, 7, None), Duration::from_secs(1));
        let config = EchoConfig { port, mode: EchoMode::Echo, associations: None, patience };
        let program = Echo::open(config, &mut host, Seed::new(1, 0).stream("echo"));
        (load, Station { host, program })
    }

    /// All that one end has to send.
    fn packets(end: &mut Station<impl Program>) -> Vec<Packet> {
        let mut packet = Packet::default();
        let mut packets = Vec::new();
        while end.poll_transmit(NOW, &mut packet).is_some() {
            packets.push(std::mem::take(&mut packet));
        }
        packets
    }

    fn take_in(end: &mut Station<impl Program>, packets: Vec<Packet>) {
        for mut packet in packets {
            end.handle_packet(NOW, InterfaceId::new(0), &mut packet);
        }
    }

    #[test]
    fn no_more_associations_are_set_up_at_a_time_than_a_buffer_holds_and_each_that_is_up_lets_another_begin()
    {
        for waits_for_all in [false, true] {
            let (mut load, mut echo) = ends(waits_for_all);
            let inits = packets(&mut load);
            assert_eq!(inits.len(), OPENING_MAX);
            take_in(&mut echo, inits);
            // INIT ACK, COOKIE ECHO, COOKIE ACK of all but the first bring nothing new.
            let mut answers = packets(&mut echo);
            take_in(&mut load, vec![answers.remove(0)]);
            let echoed = packets(&mut load);
            take_in(&mut echo, echoed);
            take_in(&mut load, answers.drain(..1).collect());
            let acks = packets(&mut echo);
            take_in(&mut load, acks);
            let sent = packets(&mut load);
            // One INIT, one COOKIE ECHO, and the first association's messages unless they wait for the others.
            assert_eq!(sent.len(), if waits_for_all { 2 } else { 3 });
            assert_eq!(load.program.progress().0, if waits_for_all { 0 } else { 2 });
            take_in(&mut echo, sent);
            take_in(&mut load, answers);
            while !load.program.is_over() {
                let there = packets(&mut load);
                take_in(&mut echo, there);
                if waits_for_all && echo.program.report().associations < u64::from(ALL) {
                    assert_eq!(load.program.progress().0, 0);
                }
                let back = packets(&mut echo);
                take_in(&mut load, back);
            }
            assert_eq!(load.program.progress(), (2 * u64::from(ALL), 2 * u64::from(ALL)));
            assert_eq!(echo.program.report().associations, u64::from(ALL));
            let report = load.program.report(&mut load.host, NOW);
            assert_eq!(report.failures, Vec::<String>::new());
        }
    }

    #[test]
    fn one_that_is_stopped_begins_no_more_and_those_that_were_not_begun_are_not_waited_for() {
        let (mut load, _) = ends(false);
        packets(&mut load);
        load.stop(NOW);
        assert!(load.program.is_over());
        assert_eq!(packets(&mut load).len(), 0);
    }
}
