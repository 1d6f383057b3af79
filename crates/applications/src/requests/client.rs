//! The end of a session that asks.

use slantpath_base::{Duration, Instant};
use slantpath_host::{Offer, OutgoingMessage, Reaction, Served, Socket, SocketEvent};

use super::{PlannedRequest, RequestPlan, request};
use crate::record::Request;

/// Asks for one thing after the other, and thinks between.
#[derive(Debug)]
pub(crate) struct Client {
    phase: Phase,
    connect: Instant,
    /// True if the transport may have room.
    may_offer: bool,
    plan: RequestPlan,
    report: ClientReport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the time to connect.
    Idle,
    Connecting,
    /// A request is to be sent, and has been since `asked`.
    Asking {
        request: PlannedRequest,
        asked: Instant,
    },
    /// So many bytes of the answer have not come.
    Waiting {
        left: u64,
        think: Duration,
    },
    /// The next request is not to be sent yet.
    Thinking {
        until: Instant,
    },
    /// All answers are there.
    Done,
    /// The transport has been told to close.
    Closing,
    Ended,
}

/// Record that a client keeps of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientReport {
    pub(crate) connected: Option<Instant>,
    /// Bytes of requests.
    pub(crate) bytes_sent: u64,
    pub(crate) retransmissions: u64,
    /// Bytes of answers.
    pub(crate) bytes_delivered: u64,
    pub(crate) last_delivery: Option<Instant>,
    pub(crate) requests: Vec<Request>,
    pub(crate) ended: Option<Instant>,
    pub(crate) failure: Option<String>,
}

impl Client {
    pub(crate) fn new(connect: Instant, plan: RequestPlan) -> Self {
        Self { phase: Phase::Idle, connect, may_offer: true, plan, report: ClientReport::default() }
    }

    pub(crate) const fn report(&self) -> &ClientReport {
        &self.report
    }

    pub(crate) fn handle_event(&mut self, now: Instant, event: SocketEvent) -> Reaction {
        match event {
            SocketEvent::Bytes(bytes) => return self.handle_bytes(now, bytes.len()),
            SocketEvent::Message { payload, .. } => return self.handle_bytes(now, payload.len()),
            SocketEvent::Connected { .. } => {
                self.report.connected.get_or_insert(now);
                if self.phase == Phase::Connecting {
                    self.ask(now);
                }
            }
            SocketEvent::Transmitted { again, .. } => {
                self.report.retransmissions += u64::from(again);
                return Reaction::None;
            }
            SocketEvent::Writable => self.may_offer = true,
            SocketEvent::Ended { failure, reason: _ } => {
                let early = || (self.phase != Phase::Closing).then(|| "the server has closed".to_owned());
                let failure = failure.or_else(early);
                self.end(now, failure);
            }
            SocketEvent::Acknowledged(_)
            | SocketEvent::Arrived(_)
            | SocketEvent::Abandoned(_)
            | SocketEvent::Sctp(_)
            | SocketEvent::MessageFailed { .. }
            | SocketEvent::Path { .. }
            | SocketEvent::Restarted => return Reaction::None,
        }
        Reaction::Serve
    }

    fn end(&mut self, now: Instant, failure: Option<String>) {
        self.phase = Phase::Ended;
        self.report.ended.get_or_insert(now);
        if self.report.failure.is_none() {
            self.report.failure = failure;
        }
    }

    /// Makes the next request, if there is one.
    fn ask(&mut self, now: Instant) {
        self.phase = match self.plan.next() {
            Some(request) => Phase::Asking { request, asked: now },
            None => Phase::Done,
        };
    }

    /// The next bytes of the answer have come.
    fn handle_bytes(&mut self, now: Instant, len: usize) -> Reaction {
        self.report.bytes_delivered += len as u64;
        self.report.last_delivery = Some(now);
        let Phase::Waiting { left, think } = &mut self.phase else { return Reaction::None };
        *left = left.saturating_sub(len as u64);
        let is_whole = *left == 0;
        let think = *think;
        if let Some(request) = self.report.requests.last_mut() {
            request.first_delivery.get_or_insert(now);
            request.answered = is_whole.then_some(now);
        }
        if !is_whole {
            return Reaction::None;
        }
        self.phase = if self.plan.is_over() {
            Phase::Done
        } else {
            Phase::Thinking { until: now.saturating_add(think) }
        };
        Reaction::Serve
    }

    /// Does the next thing.
    pub(crate) fn serve(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        match self.phase {
            Phase::Idle if self.connect <= now => {
                self.phase = Phase::Connecting;
                if let Err(failure) = socket.open(now) {
                    self.end(now, Some(failure));
                }
            }
            Phase::Idle => return Served::Idle(Some(self.connect)),
            Phase::Thinking { until } if until <= now => self.ask(now),
            Phase::Thinking { until } => return Served::Idle(Some(until)),
            Phase::Asking { request, asked } if self.may_offer => self.offer(now, request, asked, socket),
            Phase::Done => {
                self.phase = Phase::Closing;
                socket.close(now);
            }
            Phase::Asking { .. }
            | Phase::Connecting
            | Phase::Waiting { .. }
            | Phase::Closing
            | Phase::Ended => return Served::Idle(None),
        }
        Served::Again
    }

    fn offer(&mut self, now: Instant, planned: PlannedRequest, asked: Instant, socket: &mut Socket<'_>) {
        let len = usize::try_from(self.plan.request_size().as_bytes()).unwrap_or(usize::MAX);
        let size = planned.size.as_bytes();
        let payload = request::encode(size, len);
        let number = u32::try_from(self.report.requests.len()).ok();
        let outgoing = OutgoingMessage {
            number,
            stream: 0,
            unordered: false,
            payload_protocol: 0,
            payload,
            options: None,
        };
        match socket.send(now, outgoing) {
            Offer::Accepted => {
                self.report.bytes_sent += len as u64;
                self.report.requests.push(Request {
                    size: planned.size,
                    asked,
                    first_delivery: None,
                    answered: None,
                });
                self.phase = Phase::Waiting { left: size, think: planned.think };
            }
            Offer::Full => self.may_offer = false,
            Offer::Refused(reason) => {
                self.report.failure.get_or_insert(reason);
                self.phase = Phase::Done;
            }
        }
    }
}
