//! Sessions: transfers that begin one after the other, each over an association or connection of its own, and end when
//! all of it has been delivered. Their openers send, or ask for one thing after the other ([`RequestsConfig`]).
//!
//! A [`SessionSource`] at one host opens them; a server at the other takes any number of them. What remains of one that
//! is over is its record.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use slantpath_base::{DataSize, Duration, Instant, Seed, Stream};
use slantpath_host::{Others, Protocol, Reaction, Served, Socket, SocketEvent, SocketId, TransportConfig};
use slantpath_sctp::SendOptions;

use crate::adaptation::FlowAdaptation;
use crate::admission::{Admission, AdmissionConfig};
use crate::earlier::earlier;
use crate::flow_end::FlowEnd;
use crate::ids::SessionSourceId;
use crate::message::Content;
use crate::receiver::ReceiverConfig;
use crate::record::{Answers, ReceivedSession, SentSession, SessionRecords};
use crate::requests::{Client, RequestPlan, RequestsConfig, Server};
use crate::sender::{Measurement, SenderConfig};
use crate::workload::{WhenBlocked, Workload};

/// A source of sessions.
#[derive(Clone, Debug)]
pub struct SessionsConfig {
    /// Configuration that each of them is opened with. The local port is taken from `ports`.
    pub transport: TransportConfig,
    /// The ports that sessions take in turn. One that is in use is passed over.
    pub ports: RangeInclusive<u16>,
    /// Instants at which sessions begin, and the size of each.
    pub load: SessionLoad,
    /// Instant at which the source begins.
    pub start: Instant,
    /// Instant until which a session may begin; `None` goes on as long as the run.
    pub stop: Option<Instant>,
    /// Size of the messages handed to the transport.
    pub message: DataSize,
    /// Requests that sessions make: each answer has a size of the load. `None` if they send what they carry themselves.
    pub requests: Option<RequestsConfig>,
    /// Conditions under which each may begin; `None` lets all.
    pub admission: Option<AdmissionConfig>,
}

/// Instants at which sessions begin, counted from the start of their source, and size of each.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionLoad {
    /// Drawn, each from a stream of its own: with other sizes sessions begin at the same instants.
    Drawn {
        /// Distribution of the times between the beginnings of sessions.
        arrivals: SessionArrivals,
        /// Distribution of the sizes of sessions.
        sizes: SessionSizes,
    },
    /// As they are given, in order of time. What asks is not given so.
    Trace(Arc<[(Duration, DataSize)]>),
}

/// From the beginning of a session to that of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SessionArrivals {
    /// Always as long. The first session begins with its source.
    Constant {
        /// Time between two sessions.
        interval: Duration,
    },
    /// Exponential: a Poisson process.
    Poisson {
        /// Mean of the intervals.
        mean_interval: Duration,
    },
}

/// Size of the data that a session carries: a byte at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SessionSizes {
    /// An exponential distribution.
    Exponential {
        /// Mean of the distribution.
        mean: DataSize,
    },
    /// Always as much.
    Fixed {
        /// Size of each session.
        size: DataSize,
    },
    /// A Pareto distribution: P(X > x) = (m / x)^shape for x ≥ m, where m = mean (shape − 1) / shape.
    Pareto {
        /// Mean of the distribution.
        mean: DataSize,
        /// Shape of the distribution, more than one, without which there is no mean.
        shape: f64,
    },
}

impl SessionArrivals {
    /// Time from the start of the source to the beginning of the first session.
    fn first(&self, stream: &mut Stream) -> Duration {
        match *self {
            Self::Constant { .. } => Duration::ZERO,
            Self::Poisson { mean_interval } => stream.exponential(mean_interval),
        }
    }

    fn next(&self, stream: &mut Stream) -> Duration {
        match *self {
            Self::Constant { interval } => interval,
            Self::Poisson { mean_interval } => stream.exponential(mean_interval),
        }
    }
}

impl SessionSizes {
    /// The size below which a share `u` of all sessions lies, 0 ≤ u < 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest integer"
    )]
    pub fn quantile(&self, u: f64) -> DataSize {
        let bytes = match *self {
            Self::Exponential { mean } => -libm::log1p(-u) * mean.as_bytes() as f64,
            Self::Fixed { size } => return size,
            Self::Pareto { mean, shape } => {
                let least = mean.as_bytes() as f64 * (shape - 1.0) / shape;
                least * libm::pow(1.0 - u, -1.0 / shape)
            }
        };
        DataSize::from_bytes((bytes.round() as u64).max(1))
    }
}

/// A source in a run.
#[derive(Debug)]
pub(crate) struct SessionSource {
    config: SessionsConfig,
    seed: Seed,
    path: String,
    arrivals: Stream,
    sizes: Stream,
    /// Number of sessions that have begun.
    begun: u32,
    /// Instant at which the next one begins; `None` if there is none.
    next: Option<Instant>,
    /// The port that is tried next.
    next_port: u16,
    /// If not every session may begin.
    pub(crate) admission: Option<Admission>,
}

/// A session that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewSession {
    pub(crate) number: u32,
    pub(crate) begun: Instant,
    pub(crate) size: DataSize,
}

/// Parts that a session is opened with.
pub(crate) struct Opening {
    pub(crate) new: NewSession,
    pub(crate) sender: SenderConfig,
    /// For its workload.
    pub(crate) workload: Stream,
    /// Requests that it makes, instead of sending.
    pub(crate) requests: Option<RequestPlan>,
    pub(crate) transport: TransportConfig,
    /// Of its transport.
    pub(crate) stream: Stream,
}

impl SessionSource {
    /// `seed` and `path` name the source, from which all streams of chance of its sessions derive.
    pub(crate) fn new(config: SessionsConfig, seed: Seed, path: &str) -> Self {
        let [arrivals, sizes] = ["arrivals", "sizes"].map(|part| seed.stream(&format!("{path}/{part}")));
        let next_port = *config.ports.start();
        let admission = config.admission.map(Admission::new);
        let mut source = Self {
            config,
            seed,
            path: path.to_owned(),
            arrivals,
            sizes,
            begun: 0,
            next: None,
            next_port,
            admission,
        };
        let first = match &source.config.load {
            SessionLoad::Drawn { arrivals, .. } => Some(arrivals.first(&mut source.arrivals)),
            SessionLoad::Trace(sessions) => sessions.first().map(|&(offset, _)| offset),
        };
        source.plan(first.map(|offset| source.config.start.saturating_add(offset)));
        source
    }

    /// The transport of its sessions.
    pub(crate) const fn protocol(&self) -> &Protocol {
        &self.config.transport.protocol
    }

    fn plan(&mut self, next: Option<Instant>) {
        self.next = next.filter(|next| self.config.stop.is_none_or(|stop| *next < stop));
    }

    /// Earliest instant at which the next session begins, or waiting ones are looked at.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        earlier(self.next, self.admission.as_ref().and_then(Admission::next_check))
    }

    /// The session that is due, if one is.
    pub(crate) fn begin(&mut self, now: Instant) -> Option<NewSession> {
        let begun = self.next.filter(|next| *next <= now)?;
        let number = self.begun;
        self.begun += 1;
        let (size, next) = match &self.config.load {
            SessionLoad::Drawn { arrivals, sizes } => {
                let size = match self.plan_requests(number) {
                    Some(plan) => plan.total(),
                    None => sizes.quantile(self.sizes.uniform()),
                };
                (size, Some(begun.saturating_add(arrivals.next(&mut self.arrivals))))
            }
            SessionLoad::Trace(sessions) => {
                let next = sessions.get(number as usize + 1);
                let next = next.map(|&(offset, _)| self.config.start.saturating_add(offset));
                (sessions[number as usize].1, next)
            }
        };
        self.plan(next);
        Some(NewSession { number, begun, size })
    }

    /// Plan of the requests of session `number`, if sessions ask.
    fn plan_requests(&self, number: u32) -> Option<RequestPlan> {
        let SessionLoad::Drawn { sizes, .. } = self.config.load else { return None };
        let stream = || self.seed.stream(&format!("{}/{number}/requests", self.path));
        self.config.requests.map(|config| RequestPlan::new(config, sizes, stream()))
    }

    /// With what a session is opened on the first port from the next on that is free; `None` if there is none.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        new: NewSession,
        is_free: impl Fn(u16) -> bool,
    ) -> Option<Opening> {
        let local_port = self.take_port(is_free)?;
        let transport = TransportConfig { local_port, ..self.config.transport.clone() };
        let requests = self.plan_requests(new.number);
        let sender = SenderConfig {
            stop: None,
            streams: 1,
            unordered: false,
            content: Content::Pattern,
            when_blocked: WhenBlocked::Wait,
            measurement: Measurement::Off,
            record_messages: false,
            record_timeline: false,
            connect: now,
            start: now,
            workload: Workload::Bulk { message: self.config.message, total: Some(new.size) },
            sample_paths: None,
            options: SendOptions::default(),
            adaptation: FlowAdaptation::None,
        };
        let [stream, workload] = ["transport", "workload"]
            .map(|part| self.seed.stream(&format!("{}/{}/{part}", self.path, new.number)));
        Some(Opening { new, sender, workload, requests, transport, stream })
    }

    /// The next port that is free.
    fn take_port(&mut self, is_free: impl Fn(u16) -> bool) -> Option<u16> {
        let (first, last) = (*self.config.ports.start(), *self.config.ports.end());
        let port = (self.next_port..=last).chain(first..self.next_port).find(|&port| is_free(port))?;
        self.next_port = if port == last { first } else { port + 1 };
        Some(port)
    }
}

/// One end of a session.
#[derive(Debug)]
pub(crate) struct Session {
    work: Work,
    role: Role,
    state: State,
    /// As the transport had it at the end.
    retransmissions: Option<u64>,
}

/// Work of an end of a session.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a session is boxed already")]
enum Work {
    /// This end answers requests.
    Answer(Server),
    /// This end makes requests.
    Ask(Client),
    /// This end sends, or receives.
    Transfer(FlowEnd),
}

#[derive(Debug)]
enum Role {
    Receiver { server: SocketId, accepted: Option<Accepted> },
    Sender { source: SessionSourceId, new: NewSession, admitted: Instant },
}

/// Arrival of a session: its instant and its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accepted {
    at: Instant,
    peer: Option<SocketAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    /// State of a session that is over, and has its record taken.
    Over,
}

impl NewSession {
    /// The record of one that was not opened: because of `failure`, or not yet.
    pub(crate) fn unopened(&self, source: SessionSourceId, failure: Option<String>) -> SentSession {
        SentSession {
            ended: failure.as_ref().map(|_| self.begun),
            failure,
            ..SentSession::new(source, self.number, self.begun, self.size)
        }
    }
}

impl Session {
    /// The end of a session that sends, or asks for what is planned.
    pub(crate) fn opener(
        source: SessionSourceId,
        new: NewSession,
        sender: SenderConfig,
        workload: Stream,
        requests: Option<RequestPlan>,
    ) -> Self {
        let admitted = sender.connect;
        let work = match requests {
            Some(plan) => Work::Ask(Client::new(admitted, plan)),
            None => Work::Transfer(FlowEnd::sender(sender, workload)),
        };
        Self::new(work, Role::Sender { source, new, admitted })
    }

    /// The end of a session that `server` has accepted.
    pub(crate) fn receiver(server: SocketId, config: ReceiverConfig) -> Self {
        let work = Work::Transfer(FlowEnd::receiver(config));
        Self::new(work, Role::Receiver { server, accepted: None })
    }

    /// The end of a session that `server` has accepted, if it is asked.
    pub(crate) fn server(server: SocketId, message_len: usize) -> Self {
        Self::new(Work::Answer(Server::new(message_len)), Role::Receiver { server, accepted: None })
    }

    fn new(work: Work, role: Role) -> Self {
        Self { work, role, state: State::Live, retransmissions: None }
    }

    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: SocketEvent,
        socket: &mut Socket<'_>,
    ) -> Reaction {
        let is_end = matches!(event, SocketEvent::Ended { .. });
        if let Role::Receiver { accepted, .. } = &mut self.role {
            accepted.get_or_insert_with(|| Accepted { at: now, peer: socket.peer() });
        }
        let reaction = match &mut self.work {
            Work::Answer(server) => server.handle_event(now, event, socket),
            Work::Ask(client) => client.handle_event(now, event),
            Work::Transfer(flow) => flow.handle_event(now, event, socket),
        };
        if is_end {
            // TCP forgets it with its next input, SCTP has forgotten it, and has told what it retransmitted.
            self.retransmissions = retransmissions(now, socket).or(self.reported_retransmissions());
            self.state = State::Over;
            return Reaction::Serve;
        }
        reaction
    }

    fn reported_retransmissions(&self) -> Option<u64> {
        match &self.work {
            Work::Answer(server) => Some(server.retransmissions()),
            Work::Ask(client) => Some(client.report().retransmissions),
            Work::Transfer(flow) => flow.sender_report().map(|report| report.retransmissions),
        }
    }

    pub(crate) fn serve(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served {
        let (served, is_over) = match &mut self.work {
            Work::Answer(server) => (server.serve(now, socket), server.is_aborted()),
            Work::Ask(client) => (client.serve(now, socket), client.report().ended.is_some()),
            Work::Transfer(flow) => {
                let served = flow.serve(now, others, socket);
                (served, flow.sender_report().is_some_and(|report| report.ended.is_some()))
            }
        };
        // What could not even be opened, and what was broken off, has ended without an event.
        if is_over {
            self.state = State::Over;
        }
        served
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The server of a session that has come in, where it comes from, and when it came.
    pub(crate) fn accepted(&self) -> Option<(SocketId, SocketAddr, Instant)> {
        match &self.role {
            Role::Receiver { server, accepted } => {
                let Accepted { at, peer } = (*accepted)?;
                Some((*server, peer?, at))
            }
            Role::Sender { .. } => None,
        }
    }

    /// The source of a session that is opened here.
    pub(crate) const fn source(&self) -> Option<SessionSourceId> {
        match self.role {
            Role::Receiver { .. } => None,
            Role::Sender { source, .. } => Some(source),
        }
    }

    /// Writes down what is known of it.
    pub(crate) fn record(&self, now: Instant, socket: &mut Socket<'_>, records: &mut SessionRecords) {
        let retransmissions = self.retransmissions.or_else(|| retransmissions(now, socket));
        match self.role {
            Role::Sender { source, new, admitted } => {
                let opened = SentSession {
                    admitted: Some(admitted),
                    port: Some(socket.port()),
                    retransmissions,
                    ..new.unopened(source, None)
                };
                records.sent.push(self.complete(opened));
            }
            Role::Receiver { server, accepted } => {
                let (report, retransmissions) = match &self.work {
                    Work::Answer(server) => (Some(server.report()), retransmissions),
                    Work::Ask(_) => (None, None),
                    Work::Transfer(flow) => (flow.receiver_report(), None),
                };
                records.received.push(ReceivedSession {
                    server,
                    peer: accepted.and_then(|accepted| accepted.peer),
                    accepted: accepted.map(|accepted| accepted.at),
                    bytes_delivered: report.map_or(0, |report| report.bytes_delivered),
                    last_delivery: report.and_then(|report| report.last_delivery),
                    retransmissions,
                });
            }
        }
    }

    /// Adds to the record of its opener what that knows.
    fn complete(&self, opened: SentSession) -> SentSession {
        match &self.work {
            Work::Answer(_) => opened,
            Work::Ask(client) => {
                let report = client.report().clone();
                SentSession {
                    connected: report.connected,
                    bytes_sent: report.bytes_sent,
                    ended: report.ended,
                    failure: report.failure,
                    answers: Some(Answers {
                        bytes_delivered: report.bytes_delivered,
                        last_delivery: report.last_delivery,
                        requests: report.requests,
                    }),
                    ..opened
                }
            }
            Work::Transfer(flow) => {
                let report = flow.sender_report().cloned().unwrap_or_default();
                SentSession {
                    connected: report.connected,
                    bytes_sent: report.bytes_sent,
                    ended: report.ended,
                    failure: report.failure,
                    ..opened
                }
            }
        }
    }
}

/// Number of retransmissions, as long as the transport knows it.
fn retransmissions(now: Instant, socket: &mut Socket<'_>) -> Option<u64> {
    socket.congestion(now).map(|sample| sample.retransmissions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    const MEGABYTE: DataSize = DataSize::from_bytes(1_000_000);

    fn source(load: SessionLoad, stop: Option<Instant>, seed: u64) -> SessionSource {
        let transport = TransportConfig {
            protocol: Protocol::Tcp(Box::default()),
            local_addresses: vec![IpAddr::from([10, 0, 0, 1])],
            local_port: 0,
            peer: None,
        };
        let (ports, start) = (100..=102, Instant::from_secs(1));
        let config = SessionsConfig {
            transport,
            ports,
            load,
            start,
            stop,
            message: DataSize::from_bytes(1_000),
            requests: None,
            admission: None,
        };
        SessionSource::new(config, Seed::new(seed, 0), "sessions/test")
    }

    /// Instants at which the sessions begin and their sizes, until the source stops.
    fn sessions(source: &mut SessionSource) -> Vec<(Instant, DataSize)> {
        let mut begun = Vec::new();
        while let Some(due) = source.deadline() {
            let new = source.begin(due).expect("it is due");
            assert_eq!((new.number as usize, new.begun), (begun.len(), due));
            begun.push((due, new.size));
        }
        begun
    }

    fn poisson() -> SessionArrivals {
        SessionArrivals::Poisson { mean_interval: Duration::from_millis(100) }
    }

    #[test]
    fn a_pareto_distribution_has_the_quantiles_of_its_closed_form() {
        let pareto = SessionSizes::Pareto { mean: MEGABYTE, shape: 1.27 };
        // m = mean * 0.27 / 1.27.
        assert_eq!(pareto.quantile(0.0), DataSize::from_bytes(212_598));
        for u in [0.1, 0.5, 0.9, 0.999] {
            let beyond = libm::pow(212_598.4 / pareto.quantile(u).as_bytes() as f64, 1.27);
            assert!((beyond - (1.0 - u)).abs() < 1e-5, "{beyond} lie above the quantile of {u}");
        }
        assert_eq!(SessionSizes::Fixed { size: MEGABYTE }.quantile(0.7), MEGABYTE);
        let exponential = SessionSizes::Exponential { mean: MEGABYTE };
        assert_eq!(exponential.quantile(0.5), DataSize::from_bytes(693_147));
        assert_eq!(exponential.quantile(0.0), DataSize::from_bytes(1), "a session carries something");
    }

    #[test]
    fn sizes_have_the_mean_that_their_distribution_has() {
        // Of a Pareto distribution the mean below its quantile u: what is above is heavy.
        let shape = 1.27_f64;
        let below = |u: f64| shape / (shape - 1.0) * (1.0 - libm::pow(1.0 - u, 1.0 - 1.0 / shape)) / u;
        let least = 1e6 * (shape - 1.0) / shape;
        let pareto = SessionSizes::Pareto { mean: MEGABYTE, shape };
        let n = 100_000;
        let sum: u64 = (0..n * 9 / 10)
            .map(|place| pareto.quantile((f64::from(place) + 0.5) / f64::from(n)).as_bytes())
            .sum();
        let mean = sum as f64 / f64::from(n * 9 / 10);
        assert!((mean / (least * below(0.9)) - 1.0).abs() < 1e-4, "{mean} is not {}", least * below(0.9));
    }

    #[test]
    fn sessions_begin_by_a_poisson_process_until_their_source_stops() {
        let sizes = SessionSizes::Fixed { size: MEGABYTE };
        let load = SessionLoad::Drawn { arrivals: poisson(), sizes };
        let begun = sessions(&mut source(load, Some(Instant::from_secs(1_001)), 1));
        // 10 a second for 1,000 s: 10,000, with a standard deviation of 100.
        assert!((9_600..10_400).contains(&begun.len()), "{}", begun.len());
        assert!(begun.iter().all(|(at, _)| (Instant::from_secs(1)..Instant::from_secs(1_001)).contains(at)));
        let gaps: Vec<f64> = begun.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64()).collect();
        let long = gaps.iter().filter(|&&gap| gap > 0.1).count() as f64 / gaps.len() as f64;
        assert!((long - libm::exp(-1.0)).abs() < 0.02, "{long} of all gaps are longer than their mean");
    }

    #[test]
    fn sizes_and_instants_are_drawn_apart() {
        let load = |sizes| SessionLoad::Drawn { arrivals: poisson(), sizes };
        let stop = Some(Instant::from_secs(20));
        let begun = |sizes| sessions(&mut source(load(sizes), stop, 1));
        let pareto = begun(SessionSizes::Pareto { mean: MEGABYTE, shape: 1.27 });
        let fixed = begun(SessionSizes::Fixed { size: MEGABYTE });
        let instants = |begun: &[(Instant, DataSize)]| begun.iter().map(|&(at, _)| at).collect::<Vec<_>>();
        assert_eq!(instants(&pareto), instants(&fixed));
        assert!(pareto.windows(2).any(|pair| pair[0].1 != pair[1].1));
        assert_ne!(
            instants(&sessions(&mut source(load(SessionSizes::Fixed { size: MEGABYTE }), stop, 2))),
            instants(&fixed)
        );
    }

    #[test]
    fn a_trace_is_played_as_it_is_and_at_a_constant_interval_the_first_is_at_the_start() {
        let trace = [(Duration::from_secs(2), MEGABYTE), (Duration::from_secs(2), DataSize::from_bytes(5))];
        let begun = sessions(&mut source(SessionLoad::Trace(trace.into()), None, 1));
        assert_eq!(
            begun,
            [(Instant::from_secs(3), MEGABYTE), (Instant::from_secs(3), DataSize::from_bytes(5))]
        );
        let arrivals = SessionArrivals::Constant { interval: Duration::from_secs(5) };
        let load = SessionLoad::Drawn { arrivals, sizes: SessionSizes::Fixed { size: MEGABYTE } };
        let begun = sessions(&mut source(load, Some(Instant::from_secs(11)), 1));
        assert_eq!(begun.iter().map(|(at, _)| at.as_nanos() / 1_000_000_000).collect::<Vec<_>>(), [1, 6]);
    }

    #[test]
    fn ports_are_taken_in_turn_and_one_in_use_is_passed_over() {
        let arrivals = SessionArrivals::Constant { interval: Duration::from_secs(1) };
        let load = SessionLoad::Drawn { arrivals, sizes: SessionSizes::Fixed { size: MEGABYTE } };
        let mut source = source(load, None, 1);
        let mut port = |is_free: fn(u16) -> bool| {
            let now = Instant::from_secs(100);
            let new = source.begin(now).expect("it is due");
            source.open(now, new, is_free).map(|opening| opening.transport.local_port)
        };
        assert_eq!([port(|_| true), port(|_| true)], [Some(100), Some(101)]);
        assert_eq!([port(|port| port != 102), port(|_| true)], [Some(100), Some(101)]);
        assert_eq!([port(|_| false), port(|_| true)], [None, Some(102)]);
    }
}
