//! One terminal of a signalling link: the procedures of Q.703 put together. Requests of level 3, both directions of the
//! line and the steps of the two tables have a file each.

mod reception;
mod requests;
mod steps;
mod transmission;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, TimerTable};

use self::reception::{Following, Incoming};
pub use self::transmission::Transmission;
use self::transmission::{Fill, Line};
use super::alignment::{ALIGNMENT, AlignmentInput, AlignmentState};
use super::config::{Config, ConfigError};
use super::counters::Counters;
use super::link_state::{LINK_STATE, LinkInput, LinkState};
use super::monitor::ErrorMonitor;
use super::receiver::Receiver;
use super::sender::Sender;
use super::unit::LinkStatus;
use crate::link::{LinkIndication, OutOfServiceReason};

/// Outputs of a terminal, for its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Level 3 is to be told.
    Indication(LinkIndication),
    /// A unit goes on the line.
    Transmit(Transmission),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

/// Timers of Q.703, section 12.3, as slots.
#[derive(Clone, Copy)]
enum Timer {
    T1,
    T2,
    T3,
    T4,
    T5,
    T6,
    T7,
}

const TIMERS: [Timer; 7] = [Timer::T1, Timer::T2, Timer::T3, Timer::T4, Timer::T5, Timer::T6, Timer::T7];

/// Ends of the link with a processor outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outages {
    local: bool,
    remote: bool,
}

/// The first end of a unit at or after `now`: the first one's, or that of a copy.
fn next_end(first: Instant, period: Option<Duration>, now: Instant) -> Instant {
    match period {
        Some(period) if now > first => {
            let copies = (now - first).as_nanos().div_ceil(period.as_nanos());
            first + period * copies
        }
        _ => first.max(now),
    }
}

/// Terminal of a signalling link, MTP level 2.
#[derive(Clone, Debug)]
pub struct Link {
    config: Config,
    state: LinkState,
    alignment: AlignmentState,
    /// Level 3 wants the emergency proving period.
    wants_emergency: bool,
    /// True if the emergency proving period holds: level 3 or the peer wants it.
    is_emergency: bool,
    proving_attempts_left: u32,
    outages: Outages,
    failure: OutOfServiceReason,
    fill: Fill,
    /// Reception is congested: the backward number stays at this value, and SIB is sent.
    busy_since: Option<u8>,
    is_sib_due: bool,
    sender: Sender,
    receiver: Receiver,
    monitor: ErrorMonitor,
    timers: TimerTable<7>,
    line: Line,
    incoming: Incoming,
    congestion: u8,
    indications: VecDeque<LinkIndication>,
    counters: Counters,
}

impl Link {
    /// A terminal that is out of service and sends SIOS.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            state: LINK_STATE.initial,
            alignment: ALIGNMENT.initial,
            wants_emergency: false,
            is_emergency: false,
            proving_attempts_left: 0,
            outages: Outages::default(),
            failure: OutOfServiceReason::Stopped,
            fill: Fill::Status(LinkStatus::OutOfService),
            busy_since: None,
            is_sib_due: false,
            sender: Sender::new(config.error_correction),
            receiver: Receiver::new(config.error_correction),
            monitor: ErrorMonitor::new(&config),
            timers: TimerTable::default(),
            line: Line { first_end: Instant::START, repeating: None },
            incoming: Incoming { last_end: Instant::START, following: Following::Flags, read_again: None },
            congestion: 0,
            indications: VecDeque::new(),
            counters: Counters::default(),
            config,
        })
    }

    /// Gives the state of the link.
    pub const fn state(&self) -> LinkState {
        self.state
    }

    /// Gives the counters of the terminal, those of its two halves among them.
    pub fn counters(&self) -> Counters {
        let sent = self.sender.history();
        Counters {
            negative_acknowledgements_sent: self.receiver.negative_acknowledgements(),
            forced_retransmissions: sent.forced_retransmissions,
            messages_acknowledged: sent.acknowledged,
            acknowledged_after: sent.acknowledged_after,
            ..self.counters
        }
    }

    /// Messages in the transmit and retransmit buffers.
    pub fn queued(&self) -> usize {
        self.sender.queued()
    }

    fn fail(&mut self, now: Instant, reason: OutOfServiceReason) {
        self.failure = reason;
        self.link_input(now, LinkInput::Failure);
    }

    fn start(&mut self, now: Instant, timer: Timer, duration: Duration) {
        self.timers.start(timer as usize, now + duration);
    }

    fn expire(&mut self, now: Instant, timer: Timer) {
        match timer {
            Timer::T1 => self.link_input(now, LinkInput::T1Expired),
            Timer::T2 => self.alignment_input(now, AlignmentInput::T2Expired),
            Timer::T3 => self.alignment_input(now, AlignmentInput::T3Expired),
            Timer::T4 => self.alignment_input(now, AlignmentInput::T4Expired),
            Timer::T5 => {
                self.is_sib_due = true;
                self.start(now, Timer::T5, self.config.t5);
            }
            Timer::T6 => self.fail(now, OutOfServiceReason::PeerBusy),
            Timer::T7 => self.fail(now, OutOfServiceReason::AcknowledgementTimeout),
        }
    }

    /// Gives the next output of the terminal. Deadlines that have come are worked off first.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        loop {
            if let Some(indication) = self.indications.pop_front() {
                return Output::Indication(indication);
            }
            if let Some(timer) = self.timers.take_expired(now) {
                self.expire(now, TIMERS[timer]);
                continue;
            }
            if self.incoming.read_again.is_some_and(|at| at <= now) {
                self.incoming.read_again = None;
                if let Following::Copies(unit, _) = self.incoming.following.clone() {
                    self.read(now, unit);
                }
                continue;
            }
            if self.octets_counted_at().is_some_and(|at| at <= now) {
                self.count_octets(now);
                continue;
            }
            return self.poll_line(now);
        }
    }
}
