//! The peer's direction of the line: what its units say, and how often those that repeat have come.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use super::{Link, Timer, next_end};
use crate::link::{LinkIndication, OutOfServiceReason};
use crate::mtp2::alignment::{AlignmentInput, AlignmentState};
use crate::mtp2::link_state::{LinkInput, LinkState};
use crate::mtp2::receiver::Reception;
use crate::mtp2::sender::Acknowledgement;
use crate::mtp2::unit::{Header, LinkStatus, SignalUnit};

/// The peer's direction of the line.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    /// Instant at which the last unit that was reported had come.
    pub(super) last_end: Instant,
    /// Signal that has come since that unit.
    pub(super) following: Following,
    /// Instant at which the copy ends that a new state has to read.
    pub(super) read_again: Option<Instant>,
}

/// Signals that come behind a unit.
#[derive(Clone, Debug)]
pub(super) enum Following {
    /// The unit again and again, with this period.
    Copies(SignalUnit, Duration),
    /// Flags without a unit.
    Flags,
    /// Octets among which no unit is found; when the next run of them counts as an error.
    Octets(Instant),
}

/// N: so many octets without a unit count as one that was damaged (Q.703's octet counting mode).
const OCTETS_OF_ONE_ERROR: usize = 16;

impl Link {
    /// No unit can be told from another any more: the signal is gone, seven ones in a row came, or more octets than a
    /// unit has. Until a good unit comes, octets are counted instead (Q.703's octet counting mode).
    pub fn handle_units_lost(&mut self, now: Instant) {
        if !matches!(self.incoming.following, Following::Octets(_)) {
            self.monitor.count_units(self.copies(now, Duration::ZERO));
            let first = now + self.config.time_of(OCTETS_OF_ONE_ERROR);
            self.incoming = Incoming { last_end: now, following: Following::Octets(first), read_again: None };
        }
    }

    /// Gives the instant at which octets without a unit next count as an error, if errors are counted.
    pub(super) fn octets_counted_at(&self) -> Option<Instant> {
        match self.incoming.following {
            Following::Octets(at) if self.monitor.is_running() => Some(at),
            _ => None,
        }
    }

    pub(super) fn count_octets(&mut self, now: Instant) {
        self.incoming.following = Following::Octets(now + self.config.time_of(OCTETS_OF_ONE_ERROR));
        self.count_error(now);
    }

    /// A damaged unit came.
    pub fn handle_errored_unit(&mut self, now: Instant) {
        let period = match &self.incoming.following {
            Following::Copies(_, period) => *period,
            Following::Flags => Duration::ZERO,
            // Its octets are counted.
            Following::Octets(_) => return,
        };
        self.count_units(now, period);
        self.incoming.last_end = now;
        self.count_error(now);
    }

    fn count_error(&mut self, now: Instant) {
        self.counters.errored_units += 1;
        if !self.monitor.count_error() {
            return;
        }
        if self.alignment == AlignmentState::Proving {
            self.proving_attempts_left -= 1;
            let is_last = self.proving_attempts_left == 0;
            let input = if is_last {
                AlignmentInput::ErrorRateHighLastAttempt
            } else {
                AlignmentInput::ErrorRateHigh
            };
            self.alignment_input(now, input);
        } else {
            self.fail(now, OutOfServiceReason::BearerFailed);
        }
    }

    /// A good unit came; it repeats from now on with this period, or it does not.
    pub fn handle_unit(&mut self, now: Instant, unit: SignalUnit, repeats: Option<Duration>) {
        let duration = self.config.time_of(unit.octets_on_line());
        self.count_units(now, duration);
        let following = repeats.map_or(Following::Flags, |period| Following::Copies(unit.clone(), period));
        self.incoming = Incoming { last_end: now, following, read_again: None };
        self.read(now, unit);
    }

    /// Counts the units since the last one that was told of: copies of what repeats, and this one.
    fn count_units(&mut self, now: Instant, duration: Duration) {
        self.monitor.count_units(self.copies(now, duration) + 1);
    }

    /// Whole copies of what repeats, from the last unit told of until so long ago.
    fn copies(&self, now: Instant, ago: Duration) -> u64 {
        match &self.incoming.following {
            Following::Copies(_, period) => {
                let between = (now - self.incoming.last_end).as_nanos().saturating_sub(ago.as_nanos());
                between / period.as_nanos()
            }
            Following::Flags | Following::Octets(_) => 0,
        }
    }

    pub(super) fn read(&mut self, now: Instant, unit: SignalUnit) {
        let header = unit.header();
        match unit {
            SignalUnit::Status(_, status) => self.read_status(now, header, status),
            SignalUnit::FillIn(_) => {
                self.link_input_from_peer(now);
                self.read_numbers(now, header, None);
            }
            SignalUnit::Message { body, .. } => {
                self.link_input_from_peer(now);
                self.read_numbers(now, header, Some(body));
            }
        }
    }

    fn link_input_from_peer(&mut self, now: Instant) {
        if self.alignment == AlignmentState::Idle {
            self.link_input(now, LinkInput::FillInOrMessage);
        }
    }

    fn read_status(&mut self, now: Instant, header: Header, status: LinkStatus) {
        let (link, alignment) = match status {
            LinkStatus::OutOfAlignment => (LinkInput::PeerLeaves, Some(AlignmentInput::Sio)),
            LinkStatus::OutOfService => (LinkInput::PeerLeaves, Some(AlignmentInput::Sios)),
            LinkStatus::Normal => (LinkInput::PeerProves, Some(AlignmentInput::Sin)),
            LinkStatus::Emergency => (LinkInput::PeerProves, Some(AlignmentInput::Sie)),
            LinkStatus::ProcessorOutage => (LinkInput::Sipo, None),
            LinkStatus::Busy => {
                self.read_busy(now, header);
                return;
            }
        };
        match alignment {
            Some(input) if self.alignment != AlignmentState::Idle => self.alignment_input(now, input),
            _ => self.link_input(now, link),
        }
        if status == LinkStatus::ProcessorOutage {
            self.read_acknowledgement(now, header);
        }
    }

    /// SIB: acknowledgements are withheld on purpose, for at most T6.
    fn read_busy(&mut self, now: Instant, header: Header) {
        if self.state != LinkState::InService {
            return;
        }
        self.read_acknowledgement(now, header);
        if self.sender.has_unacknowledged() {
            self.start(now, Timer::T7, self.config.t7);
        }
        if !self.timers.is_running(Timer::T6 as usize) {
            self.start(now, Timer::T6, self.config.t6);
        }
    }

    fn read_numbers(&mut self, now: Instant, header: Header, message: Option<Bytes>) {
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            self.counters.discarded_not_in_service += u64::from(message.is_some());
            return;
        }
        if self.timers.is_running(Timer::T6 as usize) && self.busy_has_ended(header) {
            self.timers.stop(Timer::T6 as usize);
        }
        if !self.read_acknowledgement(now, header) {
            return;
        }
        if self.state == LinkState::ProcessorOutage {
            self.counters.discarded_not_in_service += u64::from(message.is_some());
            return;
        }
        match self.receiver.handle(header, message.is_some()) {
            Reception::Accepted => {
                self.counters.messages_received += 1;
                self.indications.extend(message.map(LinkIndication::Received));
            }
            Reception::Repeated => self.counters.discarded_repeated += 1,
            Reception::OutOfSequence => self.counters.discarded_out_of_sequence += 1,
            Reception::Nothing => {}
            Reception::Abnormal => self.fail(now, OutOfServiceReason::AbnormalSequence),
        }
    }

    /// Congestion at the peer has ended when it acknowledges again (Q.703, section 9.3).
    fn busy_has_ended(&self, header: Header) -> bool {
        !self.sender.has_unacknowledged()
            || self.sender.would_progress(header.bsn)
            || header.bib != self.sender.fib()
    }

    /// Reads the backward number and indicator; whether the unit may be read on.
    fn read_acknowledgement(&mut self, now: Instant, header: Header) -> bool {
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            return true;
        }
        match self.sender.acknowledge(now, header.bsn) {
            Acknowledgement::Nothing => {}
            Acknowledgement::Progress => {
                self.timers.stop(Timer::T7 as usize);
                self.await_acknowledgement(now);
                self.indicate_congestion();
            }
            Acknowledgement::Unreasonable => return false,
            Acknowledgement::Abnormal => {
                self.fail(now, OutOfServiceReason::AbnormalSequence);
                return false;
            }
        }
        if self.sender.follow_indicator(header.bib) {
            self.counters.negative_acknowledgements_received += 1;
        }
        true
    }

    /// In a new state, what the peer repeats is news: the next whole copy is read.
    pub(super) fn read_repeating_again(&mut self, now: Instant) {
        if let Following::Copies(_, period) = &self.incoming.following {
            let after = now + Duration::from_nanos(1);
            self.incoming.read_again = Some(next_end(self.incoming.last_end, Some(*period), after));
        }
    }
}
