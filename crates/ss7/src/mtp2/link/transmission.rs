//! Our direction of the line: which unit comes next, and until when it takes.

use slantpath_base::{Duration, Instant};

use super::{Link, Output, Timer, next_end};
use crate::mtp2::link_state::LinkState;
use crate::mtp2::unit::{Header, LinkStatus, SignalUnit};

/// A unit on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Unit that is sent.
    pub unit: SignalUnit,
    /// Instant at which the first bit is sent: now.
    pub start: Instant,
    /// Instant at which the last bit has been sent.
    pub end: Instant,
    /// True if the unit is repeated until the next transmission.
    pub repeats: bool,
}

/// Kinds of units that fill the line when there is no message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    FillIn,
    Status(LinkStatus),
}

/// Our direction of the line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Until when the unit now being sent, or its first copy, takes.
    pub(super) first_end: Instant,
    /// Unit that repeats after that, and its period.
    pub(super) repeating: Option<(SignalUnit, Duration)>,
}

impl Line {
    /// Gives the first instant, from `now` on, at which the next unit can begin.
    fn next_boundary(&self, now: Instant) -> Instant {
        next_end(self.first_end, self.repeating.as_ref().map(|(_, period)| *period), now)
    }
}

impl Link {
    /// Reception is congested, or no longer: messages are still accepted, but not acknowledged, and SIB is sent every
    /// T5 (Q.703, section 9).
    pub fn set_busy(&mut self, now: Instant, is_busy: bool) {
        if !is_busy {
            self.busy_since = None;
            self.is_sib_due = false;
            self.timers.stop(Timer::T5 as usize);
        } else if self.busy_since.is_none() && self.state == LinkState::InService {
            self.busy_since = Some(self.receiver.bsn());
            self.is_sib_due = true;
            self.start(now, Timer::T5, self.config.t5);
        }
    }

    pub(super) fn await_acknowledgement(&mut self, now: Instant) {
        let is_due = self.state == LinkState::InService && self.sender.has_unacknowledged();
        if is_due && !self.timers.is_running(Timer::T7 as usize) {
            self.start(now, Timer::T7, self.config.t7);
        }
    }

    pub(super) fn poll_line(&mut self, now: Instant) -> Output {
        let may_send_messages = self.state == LinkState::InService;
        let has_message = may_send_messages && self.sender.has_next();
        let has_single = has_message || self.is_sib_due;
        let filler = self.filler();
        let is_news = has_single || self.line.repeating.as_ref().is_none_or(|(unit, _)| *unit != filler);
        let boundary = self.line.next_boundary(now);
        if !is_news || boundary > now {
            let line = is_news.then_some(boundary);
            let deadlines =
                [line, self.timers.next_deadline(), self.incoming.read_again, self.octets_counted_at()];
            return Output::Wait(deadlines.into_iter().flatten().min());
        }
        let unit = if self.is_sib_due {
            self.is_sib_due = false;
            SignalUnit::Status(self.header(self.sender.fsn()), LinkStatus::Busy)
        } else if has_message {
            self.next_message(now)
        } else {
            filler
        };
        let period = self.config.time_of(unit.octets_on_line());
        let end = now + period;
        let repeating = (!has_single).then(|| (unit.clone(), period));
        self.line = Line { first_end: end, repeating };
        Output::Transmit(Transmission { unit, start: now, end, repeats: !has_single })
    }

    fn next_message(&mut self, now: Instant) -> SignalUnit {
        let sending = self.sender.next().expect("there is a message to send");
        if sending.is_first {
            self.counters.messages_sent += 1;
        } else {
            self.counters.messages_repeated += 1;
        }
        self.await_acknowledgement(now);
        SignalUnit::Message { header: self.header(sending.fsn), spare: 0, body: sending.body }
    }

    fn filler(&self) -> SignalUnit {
        let header = self.header(self.sender.fsn());
        match self.fill {
            Fill::FillIn => SignalUnit::FillIn(header),
            Fill::Status(status) => SignalUnit::Status(header, status),
        }
    }

    fn header(&self, fsn: u8) -> Header {
        let bsn = self.busy_since.unwrap_or_else(|| self.receiver.bsn());
        Header { bsn, bib: self.receiver.bib(), fsn, fib: self.sender.fib() }
    }
}
