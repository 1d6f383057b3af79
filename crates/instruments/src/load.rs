//! A client that loads a server with messages, and measures what becomes of them.

mod caller;
mod ending;
mod measure;
mod stamp;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_applications::{
    Failover, Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs, Refused, Schedule, WhenBlocked,
    Workload,
};
use slantpath_base::{Duration, Instant, Stream};
use slantpath_host::SocketId;
use slantpath_live::{Lost, Program};
use slantpath_sctp::{self as sctp, AssociationState, SendOptions};

use crate::news::news_of;
use caller::{Caller, Standing};
use measure::Measure;
pub use measure::{KindReport, LoadReport, PathReport};
use stamp::Stamp;

/// Settings of a load.
#[derive(Clone, Debug)]
pub struct LoadClientConfig {
    /// Whom to connect to, and from where. Each further association has the next port.
    pub port: ProgramConfig,
    /// Number of associations.
    pub associations: u16,
    /// Messages of each association, and their times: no message is shorter than
    /// [`LoadClientConfig::LEAST_MESSAGE_BYTES`], and there are no more than [`LoadClientConfig::MOST_KINDS`] kinds. Of
    /// a bulk transfer a message is due once there is room for it.
    pub workload: Workload,
    /// Random streams from which the associations draw the instants of their messages; an association without one here
    /// draws from the load's own.
    pub draws: Vec<Stream>,
    /// Behaviour of a source while the send buffer is full.
    pub when_blocked: WhenBlocked,
    /// Over how many streams messages go, one after the other, unless their kind has one.
    pub streams: u16,
    /// True if messages may overtake each other, unless their kind says otherwise.
    pub is_unordered: bool,
    /// Options with which messages are sent, unless their kind has its own.
    pub options: SendOptions,
    /// Number of messages that are sent on each association at most.
    pub messages: Option<u64>,
    /// For how long they are sent at most, from when the first association is up, or all are
    /// ([`LoadClientConfig::waits_for_all`]).
    pub duration: Option<Duration>,
    /// True if the server sends the messages back.
    pub is_echoed: bool,
    /// True if nothing is sent before every association is up, or has failed: of very many, the first would else keep a
    /// server that is busy with them from hearing of the last.
    pub waits_for_all: bool,
    /// Longest time for which answers, and ends of associations, are awaited, once all has been sent.
    pub patience: Duration,
}

impl LoadClientConfig {
    /// A message holds its number, its kind and when it was due.
    pub const LEAST_MESSAGE_BYTES: usize = Stamp::LEN;
    /// A message has 16 bits for its kind.
    pub const MOST_KINDS: usize = 1 << 16;

    /// The message that is due.
    fn next_message(
        &self,
        now: Instant,
        schedule: &Schedule,
        streams: u16,
        filling: &[u8],
    ) -> ProgramMessage {
        let number = schedule.taken();
        let due = match self.workload {
            Workload::Bulk { .. } => now,
            _ => schedule.counts_from(now),
        };
        let kind = u16::try_from(schedule.next_kind()).unwrap_or(u16::MAX);
        let in_turn = u16::try_from(number % u64::from(streams)).unwrap_or(0);
        let (stream, is_unordered, options) = match schedule.next_class() {
            None => (in_turn, self.is_unordered, self.options),
            Some(class) => (class.stream, class.unordered, class.options),
        };
        ProgramMessage {
            stream,
            payload_protocol: 0,
            is_unordered,
            payload: Stamp { number, kind, due }.message(schedule.next_bytes(), filling),
            options: options.for_message(),
            ip: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the first association is up.
    Opening,
    /// Until then, if there is an end.
    Sending(Option<Instant>),
    /// Phase in which answers are awaited, until this instant.
    Awaiting(Instant),
    Closing(Instant),
    Over,
}

/// A client that loads a server with messages.
#[derive(Debug)]
pub struct LoadClient {
    config: LoadClientConfig,
    callers: BTreeMap<SocketId, Caller>,
    /// Random stream from which all chance of the load comes.
    stream: Stream,
    /// Number of associations that have been begun.
    begun: u16,
    /// Number of these that are being set up.
    opening: usize,
    /// Instants at which associations send next, of those that wait for nothing else.
    due_times: BTreeSet<(Instant, SocketId)>,
    /// Number of associations that are not over, with those that have not been begun.
    left: usize,
    phase: Phase,
    /// Bytes that fill a message behind its number.
    filling: Box<[u8]>,
    measure: Measure,
    news: VecDeque<String>,
}

impl LoadClient {
    /// A client at a host. All its chance comes from `stream`.
    ///
    /// # Panics
    /// If a port is in use at the host when its turn comes, if there is nothing to send, if messages are shorter than
    /// they may be or of more kinds, or if there is nobody to connect to.
    pub fn open(config: LoadClientConfig, host: &mut Host, stream: Stream) -> Self {
        let sizes = config.workload.sizes().expect("there is something to send");
        let [shortest, longest] = sizes.map(|size| usize::try_from(size.as_bytes()).unwrap_or(usize::MAX));
        assert!(shortest >= LoadClientConfig::LEAST_MESSAGE_BYTES, "a message holds its number");
        assert!(config.workload.classes().len() <= LoadClientConfig::MOST_KINDS, "a message holds its kind");
        assert!(config.port.peer.is_some(), "there is a peer");
        let left = usize::from(config.associations);
        let measure = Measure::new(config.workload.classes().len(), config.is_echoed);
        let mut load = Self {
            config,
            callers: BTreeMap::new(),
            stream,
            begun: 0,
            opening: 0,
            due_times: BTreeSet::new(),
            left,
            phase: if left == 0 { Phase::Over } else { Phase::Opening },
            filling: vec![0x5a; longest].into(),
            measure,
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
            let draws = match self.config.draws.get(usize::from(number)) {
                Some(draws) => draws.clone(),
                None => self.stream.fork(&format!("{number}/gaps")),
            };
            self.callers.insert(socket, Caller::new(draws));
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

    /// Gives what has been measured so far.
    pub fn report(&self, host: &mut Host, now: Instant) -> LoadReport {
        let paths = self.callers.keys().next().map(|first| host.sctp_paths(now, *first)).unwrap_or_default();
        self.measure.report(&paths)
    }

    /// Numbers of messages that have been sent, and that have come back.
    pub const fn progress(&self) -> (u64, u64) {
        self.measure.progress()
    }

    /// Takes the next event, as one line of text, oldest first.
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
        self.send_due(now, host, socket);
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        let next = caller.next(self.config.messages.unwrap_or(u64::MAX));
        let noted = std::mem::replace(&mut caller.noted, next);
        if noted != next {
            if let Some(due) = noted {
                self.due_times.remove(&(due, socket));
            }
            self.due_times.extend(next.map(|due| (due, socket)));
        }
    }

    fn send_due(&mut self, now: Instant, host: &mut Host, socket: SocketId) {
        let config = &self.config;
        let most = config.messages.unwrap_or(u64::MAX);
        let Some(caller) = self.callers.get_mut(&socket).filter(|caller| caller.is_up()) else { return };
        let streams = caller.streams;
        let schedule = caller.source.begin(now, config);
        while schedule.taken() < most && schedule.may_offer() && schedule.due().is_some_and(|due| due <= now)
        {
            let bytes = schedule.next_bytes();
            let kind = schedule.next_kind();
            let message = config.next_message(now, schedule, streams, &self.filling);
            match host.send(now, socket, message) {
                Ok(()) => {
                    schedule.take(now);
                    self.measure.sent(now, bytes, kind);
                }
                Err(Refused::Full) => schedule.refuse(now),
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
            let is_all_sent = || {
                let most = self.config.messages.unwrap_or(u64::MAX);
                self.begun == self.config.associations
                    && self.callers.values().all(|caller| caller.has_sent(most))
            };
            let comes_to_an_end = self.config.messages.is_some() || self.config.workload.has_end();
            let is_done = (comes_to_an_end && is_all_sent()) || end.is_some_and(|end| end <= now);
            if is_done {
                self.phase = Phase::Awaiting(now.saturating_add(self.config.patience));
                self.begin_no_more();
            }
        }
        if let Phase::Awaiting(until) = self.phase {
            let answered = |caller: &Caller| !caller.is_up() || caller.settled >= caller.sent();
            if !self.config.is_echoed || until <= now || self.callers.values().all(answered) {
                self.close(now, host);
            }
        }
        if let Phase::Closing(until) = self.phase
            && until <= now
        {
            let why = format!("the association did not end within {}", self.config.patience);
            self.abort_all(now, host, &why);
        }
    }

    fn connected(&mut self, now: Instant, host: &mut Host, socket: SocketId, outbound_streams: u16) {
        let (extensions, omits_checksums) = (host.sctp_extensions(socket), host.sctp_omits_checksums(socket));
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        if std::mem::replace(&mut caller.standing, Standing::Up) == Standing::Opening {
            self.opening -= 1;
        }
        caller.streams = self.config.streams.clamp(1, outbound_streams.max(1));
        self.measure.connected(now);
        self.measure.agreed(extensions, omits_checksums);
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
            let all: Vec<SocketId> = self.callers.keys().copied().collect();
            for socket in all {
                self.offer(now, host, socket);
            }
        }
    }

    fn ended(&mut self, now: Instant, socket: SocketId, lost: Option<Lost>) {
        let Some(caller) = self.callers.get_mut(&socket) else { return };
        if let Some(due) = caller.noted.take() {
            self.due_times.remove(&(due, socket));
        }
        let before = std::mem::replace(&mut caller.standing, Standing::Over);
        match before {
            Standing::Opening => (self.left, self.opening) = (self.left - 1, self.opening - 1),
            Standing::Up => self.left -= 1,
            Standing::Over => {}
        }
        match lost {
            // Why has been said.
            _ if before == Standing::Over => {}
            // The same whether SCTP says so there or the system by ICMP.
            Some(Lost::PeerAborted(causes)) if before == Standing::Opening && causes.is_empty() => {
                self.measure.failed("nobody takes associations at that port of the server".to_owned());
            }
            Some(lost) => self.measure.failed(lost.to_string()),
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
        let Some(stamp) = Stamp::read(payload) else { return self.measure.foreign() };
        let kind = usize::from(stamp.kind);
        let workload = &self.config.workload;
        let is_of_workload = stamp.number < caller.sent() && kind < workload.classes().len().max(1);
        let bytes = workload.message_bytes(stamp.number, kind);
        if !is_of_workload || !Stamp::is_whole(payload, bytes, &self.filling) {
            return self.measure.foreign();
        }
        caller.settled += 1;
        self.measure.echoed(now, stamp.due, payload.len(), kind);
    }
}

/// Number of associations that are set up at a time. More INITs at once than the peer's buffer holds are lost, all of
/// them are retransmitted at the same time after T1-init, and again after twice that: of 50,000 some needed minutes.
/// Where a program may not ask for more, Linux's buffer of 212,992 bytes holds some 550 small packets.
const OPENING_MAX: usize = 256;
/// Number of lines of news that are kept while nobody asks for them.
const NEWS_MAX: usize = 1_024;

impl Program for LoadClient {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { outbound_streams, .. } => {
                self.connected(now, host, socket, outbound_streams);
                self.begin_to_send(now, host);
                self.offer(now, host, socket);
            }
            ProgramEvent::Message(message) => self.echoed(now, socket, &message.payload),
            ProgramEvent::Writable => {
                if let Some(caller) = self.callers.get_mut(&socket) {
                    caller.try_again();
                }
                self.offer(now, host, socket);
            }
            ProgramEvent::Ended { failure, reason, unacknowledged } => {
                self.measure.unacknowledged(unacknowledged);
                let lost = Lost::of_end(failure, reason);
                self.ended(now, socket, lost);
                self.begin_to_send(now, host);
            }
            ProgramEvent::Path { address, kind } => {
                self.measure.path_event(now, address, kind.name());
                let at = self.measure.since_connected(now);
                self.tell(format!("at {at}: path to {address}: {}", kind.name()));
            }
            ProgramEvent::Restarted => self.tell("the server has begun anew".to_owned()),
            ProgramEvent::Transmitted(_) => {}
            ProgramEvent::Abandoned => {
                self.measure.abandoned();
                if let Some(caller) = self.callers.get_mut(&socket) {
                    caller.settled += 1;
                }
            }
            ProgramEvent::Sctp(event) => {
                if let sctp::Event::Notice(notice) = &*event
                    && let Some(failover) = Failover::of(now, notice)
                {
                    self.measure.failed_over(&failover);
                }
                if let Some(news) = news_of(&event) {
                    self.tell(format!("the server: {news}"));
                }
            }
        }
        self.begin_more(host);
        self.advance(now, host);
    }

    /// Looks at associations that are being closed: queued messages still leave, and are acknowledged, after the
    /// command to end.
    fn note_packet(&mut self, now: Instant, host: &mut Host) {
        if let Phase::Closing(_) = self.phase {
            for socket in self.measure.kept() {
                let snapshot = host.sctp_snapshot(socket);
                if snapshot.is_some_and(|now| now.state != AssociationState::ShutdownPending) {
                    self.look_at(now, host, socket);
                }
            }
        }
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        let due: Vec<SocketId> =
            self.due_times.iter().take_while(|(due, _)| *due <= now).map(|&(_, socket)| socket).collect();
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
                let due = self.due_times.first().map(|(due, _)| *due);
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
                self.begin_no_more();
                self.abort_all(now, host, "the association was aborted here: by its user");
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
    use slantpath_applications::MessageClass;
    use slantpath_base::{DataSize, Seed};
    use slantpath_host::Peer;
    use slantpath_interface::{EndSystem as _, InterfaceId};
    use slantpath_live::{Station, host_of};
    use slantpath_sctp::SctpConfig;
    use slantpath_wire::Packet;
    use std::net::IpAddr;

    const NOW: Instant = Instant::START;
    const ALL: u16 = 600;

    fn ends(waits_for_all: bool) -> (Station<LoadClient>, Station<Echo>) {
        ends_of(ALL, waits_for_all, |_| {})
    }

    fn ends_of(
        associations: u16,
        waits_for_all: bool,
        change: impl FnOnce(&mut LoadClientConfig),
    ) -> (Station<LoadClient>, Station<Echo>) {
        let [own, peer] = [1, 2].map(|end| IpAddr::from([10, 0, 0, end]));
        let port = |address, local_port, peer| ProgramConfig {
            sctp: Box::default(),
            local_addresses: vec![address],
            local_port,
            peer,
        };
        let mut config = LoadClientConfig {
            port: port(own, 20_000, Some(Peer { addresses: vec![peer], port: 7 })),
            associations,
            workload: Workload::Bulk { message: DataSize::from_bytes(100), total: None },
            draws: Vec::new(),
            when_blocked: WhenBlocked::Queue,
            streams: 1,
            is_unordered: false,
            options: SendOptions::default(),
            messages: Some(2),
            duration: None,
            is_echoed: true,
            waits_for_all,
            patience: Duration::from_secs(1),
        };
        change(&mut config);
        let mut host = host_of(&[own]);
        let program = LoadClient::open(config, &mut host, Seed::new(1, 0).stream("load"));
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
    fn what_comes_back_is_known_by_its_number_and_its_kind_and_anything_else_is_foreign() {
        let (mut load, mut echo) = ends_of(1, false, |config| {
            let class = |stream, bytes| MessageClass {
                stream,
                message: DataSize::from_bytes(bytes),
                messages: 1,
                interval: Duration::from_secs(1),
                options: SendOptions::default(),
                unordered: false,
            };
            config.workload = Workload::Mixed { classes: vec![class(0, 16), class(0, 40)] };
        });
        for _ in 0..2 {
            let there = packets(&mut load);
            take_in(&mut echo, there);
            let back = packets(&mut echo);
            take_in(&mut load, back);
        }
        // What it sends once it is up is lost.
        packets(&mut load);
        assert_eq!(load.program.progress(), (2, 0));
        let socket = *load.program.callers.keys().next().unwrap();
        let mut come = |number, kind, bytes| {
            let message = Stamp { number, kind, due: NOW }.message(bytes, &[0x5a; 64]);
            load.program.echoed(NOW, socket, &message);
            let report = load.program.report(&mut load.host, NOW);
            (report.echoed, report.foreign)
        };
        // As long as the other kind is, of no kind, and not sent yet.
        assert_eq!([come(1, 1, 16), come(1, 2, 16), come(2, 1, 40)], [(0, 1), (0, 2), (0, 3)]);
        assert_eq!([come(0, 0, 16), come(1, 1, 40)], [(1, 3), (2, 3)]);
        let kinds = load.program.report(&mut load.host, NOW).kinds;
        assert_eq!(kinds.iter().map(|kind| (kind.sent, kind.echoed)).collect::<Vec<_>>(), [(1, 1); 2]);
    }

    #[test]
    fn what_had_not_been_acknowledged_when_an_association_was_lost_is_counted() {
        let (mut load, mut echo) = ends_of(1, false, |_| {});
        for _ in 0..2 {
            let there = packets(&mut load);
            take_in(&mut echo, there);
            let back = packets(&mut echo);
            take_in(&mut load, back);
        }
        // What it sends once it is up is lost.
        packets(&mut load);
        let socket = *load.program.callers.keys().next().unwrap();
        assert_eq!(load.program.report(&mut load.host, NOW).unacknowledged, 0);
        load.host.abort(NOW, socket);
        packets(&mut load);
        let report = load.program.report(&mut load.host, NOW);
        assert_eq!((report.sent, report.unacknowledged, report.failures.len()), (2, 2, 1));
    }

    #[test]
    fn an_echo_whose_buffer_is_full_time_and_again_answers_all() {
        const MESSAGES: u64 = 400;
        let (mut load, _) = ends_of(1, false, |config| {
            config.messages = Some(MESSAGES);
            // No timer expires here: each packet is acknowledged at once.
            config.port.sctp.sack_frequency = 1;
        });
        let address = IpAddr::from([10, 0, 0, 2]);
        // Of messages of 100 bytes one has room.
        let sctp = SctpConfig { send_buffer_bytes: 150, ..SctpConfig::default() };
        let port =
            ProgramConfig { sctp: Box::new(sctp), local_addresses: vec![address], local_port: 7, peer: None };
        let patience = Duration::from_secs(1);
        let config = EchoConfig { port, mode: EchoMode::Echo, associations: None, patience };
        let mut host = host_of(&[address]);
        let program = Echo::open(config, &mut host, Seed::new(1, 0).stream("echo"));
        let mut echo = Station { host, program };
        let mut turns = 0;
        while !load.program.is_over() {
            turns += 1;
            assert!(turns < 10 * MESSAGES, "{:?}", echo.program.report());
            let there = packets(&mut load);
            take_in(&mut echo, there);
            let back = packets(&mut echo);
            take_in(&mut load, back);
        }
        let report = load.program.report(&mut load.host, NOW);
        assert_eq!((report.echoed, report.foreign, report.failures), (MESSAGES, 0, Vec::new()));
        assert_eq!(echo.program.report().dropped, 0);
        assert!(turns > MESSAGES, "one at a time: {turns}");
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
