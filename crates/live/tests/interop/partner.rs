//! Our end of an association: sends messages by the pattern of `peers/sctp-sockets`, reads as many and checks every
//! byte.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_applications::{ProgramEvent, ProgramMessage, Programs as _, Refused};
use slantpath_base::{Duration, Instant, Stream};
use slantpath_host::SocketId;
use slantpath_live::{Host, Program, ProgramConfig, Reliability, SctpSendOptions};
use slantpath_sctp as sctp;

/// A message begins with its number, 8 bytes, and as many that are its sender's.
const HEAD: usize = 16;
/// The filling of message n begins at byte n % SHIFTS of the pattern.
const SHIFTS: usize = 256;

/// Task of one end.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) send: u64,
    pub(crate) expect: u64,
    /// The lengths of messages, one after the other.
    pub(crate) lengths: Vec<usize>,
    pub(crate) streams: u16,
    /// Number of messages in a row that are of one stream and one length.
    pub(crate) block: u64,
    /// Address that messages of streams with an odd number go to first, if there is such an address.
    pub(crate) directed_to: Option<IpAddr>,
    /// Number of messages that go before [`Partner::go_on`], and number of streams for those behind them.
    pub(crate) hold_after: Option<u64>,
    pub(crate) later_streams: u16,
    /// Reliability with which every second message is sent, if it may be given up.
    pub(crate) partial: Option<Reliability>,
    /// True if the peer is asked to acknowledge each message at once.
    pub(crate) sack_immediately: bool,
    /// Time for which nothing is read once the association is up.
    pub(crate) pause: Duration,
    /// The time between messages.
    pub(crate) every: Duration,
    /// True if this end ends the association once all has been sent and read.
    pub(crate) closes: bool,
}

/// Findings of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) sent: u64,
    /// Of those that may not be given up, and of those that may.
    pub(crate) messages: u64,
    pub(crate) partial: u64,
    /// Messages of this end that were given up.
    pub(crate) abandoned: u64,
    pub(crate) wrong: u64,
    pub(crate) disordered: u64,
    /// Number of times that the association has begun.
    pub(crate) begun: u32,
    pub(crate) outbound_streams: u16,
    /// Events of paths, with their addresses.
    pub(crate) paths: Vec<(IpAddr, &'static str)>,
    /// Events that extensions have told.
    pub(crate) told: Vec<sctp::Event>,
    /// Once it is over: in order, or for this reason.
    pub(crate) end: Option<Result<(), String>>,
}

/// One end of an exchange.
#[derive(Debug)]
pub(crate) struct Partner {
    plan: Plan,
    filling: Vec<u8>,
    socket: Option<SocketId>,
    next: Vec<u64>,
    due: Instant,
    is_waiting: bool,
    goes_on: bool,
    resume: Option<Instant>,
    pub(crate) found: Found,
}

impl Partner {
    pub(crate) fn open(plan: Plan, config: &ProgramConfig, host: &mut Host, stream: Stream) -> Self {
        host.add_program(config, stream);
        let longest = plan.lengths.iter().max().copied().unwrap_or_default();
        let next = vec![0; usize::from(plan.streams.max(plan.later_streams))];
        Self {
            plan,
            filling: pattern(longest + SHIFTS),
            socket: None,
            next,
            due: Instant::START,
            is_waiting: false,
            goes_on: false,
            resume: None,
            found: Found::default(),
        }
    }

    /// The socket of its association.
    pub(crate) const fn socket(&self) -> Option<SocketId> {
        self.socket
    }

    fn begin(&mut self, now: Instant, socket: SocketId) {
        self.socket = Some(socket);
        self.next.fill(0);
        self.due = now;
        self.is_waiting = false;
        let Found { begun, outbound_streams, .. } = self.found;
        let paths = std::mem::take(&mut self.found.paths);
        self.found = Found { begun: begun + 1, outbound_streams, paths, ..Found::default() };
    }

    /// Sends what has been held.
    pub(crate) fn go_on(&mut self, now: Instant, host: &mut Host) {
        self.goes_on = true;
        self.due = now;
        self.send(now, host);
    }

    /// Number of messages that may have been sent by now.
    fn most(&self) -> u64 {
        self.plan.hold_after.filter(|_| !self.goes_on).unwrap_or(self.plan.send).min(self.plan.send)
    }

    fn stream(&self, number: u64) -> u16 {
        let is_later = self.plan.hold_after.is_some_and(|hold| number >= hold);
        let streams = if is_later { self.plan.later_streams } else { self.plan.streams };
        u16::try_from(number / self.plan.block % u64::from(streams)).unwrap()
    }

    /// Tells if a message may be given up, at either end.
    fn is_partial(&self, number: u64) -> bool {
        self.plan.partial.is_some() && number % 2 == 1
    }

    fn options(&self, number: u64) -> Option<Box<SctpSendOptions>> {
        let reliability = self.plan.partial.filter(|_| self.is_partial(number)).unwrap_or_default();
        let sack_immediately = self.plan.sack_immediately;
        let destination = self.plan.directed_to.filter(|_| self.stream(number) % 2 == 1);
        SctpSendOptions { sack_immediately, destination, reliability }.for_message()
    }

    fn length(&self, number: u64) -> usize {
        let place = usize::try_from(number / self.plan.block).unwrap();
        self.plan.lengths[place % self.plan.lengths.len()]
    }

    fn filling(&self, number: u64) -> &[u8] {
        let from = usize::try_from(number).unwrap() % SHIFTS;
        &self.filling[from..from + self.length(number) - HEAD]
    }

    fn send(&mut self, now: Instant, host: &mut Host) {
        let Some(socket) = self.socket else { return };
        while !self.is_waiting && self.found.sent < self.most() && self.due <= now {
            let number = self.found.sent;
            let mut payload = Vec::with_capacity(self.length(number));
            payload.extend_from_slice(&number.to_be_bytes());
            payload.extend_from_slice(&[0; HEAD - 8]);
            payload.extend_from_slice(self.filling(number));
            let (stream, options) = (self.stream(number), self.options(number));
            let payload = Bytes::from(payload);
            let message = ProgramMessage {
                stream,
                payload_protocol: 0,
                is_unordered: false,
                payload,
                options,
                ip: None,
            };
            match host.send(now, socket, message) {
                Ok(()) => {
                    self.found.sent += 1;
                    self.due = self.due.saturating_add(self.plan.every);
                }
                Err(Refused::Full) => self.is_waiting = true,
                Err(Refused::Never(reason)) => panic!("message {number}: {reason}"),
            }
        }
        self.close(now, host);
    }

    fn close(&mut self, now: Instant, host: &mut Host) {
        let is_done = self.found.sent == self.plan.send && self.found.messages == self.plan.expect;
        if let Some(socket) = self.socket.filter(|_| is_done && self.plan.closes) {
            host.shut_down(now, socket);
        }
    }

    fn check(&mut self, message: &ProgramMessage) {
        let ProgramMessage { stream, payload, .. } = message;
        let Some((head, filling)) = payload.split_first_chunk::<HEAD>() else {
            self.found.wrong += 1;
            return;
        };
        let number = u64::from_be_bytes(*head.first_chunk().unwrap());
        if self.is_partial(number) {
            self.found.partial += 1;
        } else {
            self.found.messages += 1;
        }
        let is_right = payload.len() == self.length(number)
            && *stream == self.stream(number)
            && filling == self.filling(number);
        self.found.wrong += u64::from(!is_right);
        if let Some(next) = self.next.get_mut(usize::from(*stream)) {
            // One that was given up leaves a gap.
            self.found.disordered += u64::from(number < *next);
            *next = number + 1;
        }
    }
}

impl Program for Partner {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { outbound_streams, .. } => {
                self.begin(now, socket);
                self.found.outbound_streams = outbound_streams;
                if !self.plan.pause.is_zero() {
                    host.pause(now, socket);
                    self.resume = Some(now.saturating_add(self.plan.pause));
                }
                self.send(now, host);
            }
            ProgramEvent::Message(message) => {
                self.check(&message);
                self.close(now, host);
            }
            ProgramEvent::Writable => {
                self.is_waiting = false;
                self.send(now, host);
            }
            ProgramEvent::Ended { failure, .. } => self.found.end = Some(failure.map_or(Ok(()), Err)),
            ProgramEvent::Path { address, kind } => self.found.paths.push((address, kind.name())),
            ProgramEvent::Abandoned => self.found.abandoned += 1,
            ProgramEvent::Transmitted(_) => {}
            ProgramEvent::Sctp(event) => self.found.told.push(*event),
            ProgramEvent::Restarted => {
                self.begin(now, socket);
                self.send(now, host);
            }
        }
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        if self.resume.is_some_and(|resume| resume <= now) {
            self.resume = None;
            if let Some(socket) = self.socket {
                host.resume(now, socket);
            }
        }
        self.send(now, host);
    }

    fn deadline(&self) -> Option<Instant> {
        let is_sending = self.socket.is_some()
            && !self.is_waiting
            && self.found.sent < self.most()
            && self.found.end.is_none();
        match (self.resume, is_sending.then_some(self.due)) {
            (Some(resume), Some(due)) => Some(resume.min(due)),
            (resume, due) => resume.or(due),
        }
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        if let Some(socket) = self.socket {
            host.abort(now, socket);
        }
    }

    fn is_over(&self) -> bool {
        self.found.end.is_some()
    }
}

/// Bytes that no shift maps onto themselves.
fn pattern(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}
