//! An acknowledgement where losses are found by time: RACK (RFC 8985, section 6), and what was repeated without need.

use slantpath_base::Instant;
use slantpath_cc::{self as cc, CongestionControl, Controller};

use super::recovery::Recovery;
use super::{Acknowledgement, Marked, Range, Tx, Urgent};

/// State of the sending half beside the scoreboard while losses are found by time.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    pub(super) probe: super::probe::Probes,
    /// Data to take back the last reduction.
    pub(super) undo: Option<Box<Undo>>,
    /// Something was lost that was sent after the present recovery began: the next one follows.
    has_later_loss: bool,
}

/// A timer that runs beside that of retransmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// A loss probe (PTO).
    Probe(Instant),
    /// Something outstanding counts as lost unless it is acknowledged before.
    Reordering(Instant),
}

impl Timing {
    /// Whatever has been lost until now is of the recovery that begins.
    pub(super) const fn on_recovery_begins(&mut self) {
        self.has_later_loss = false;
    }

    /// Discards this state, since the data in flight is cut anew: neither does a probe tell of it, nor is the last
    /// reduction to be taken back.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Early {
    pub(super) const fn at(self) -> Instant {
        let (Self::Probe(at) | Self::Reordering(at)) = self;
        at
    }
}

/// The window before a reduction, and what was retransmitted because of it.
#[derive(Debug)]
pub(super) struct Undo {
    /// None if the controller gives back by itself what a reduction has taken.
    control: Option<Controller<cc::NewReno>>,
    /// SND.UNA and SND.NXT at the time.
    from: u64,
    to: u64,
    /// Repetitions of which the peer has not said that they came in vain.
    repetitions: u64,
    /// The first of all.
    first: Option<Repetition>,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
struct Repetition {
    end: u64,
    sent_at: Instant,
}

impl Tx {
    /// Takes in an acknowledgement.
    pub(super) fn handle_ack_by_time(&mut self, now: Instant, input: &Acknowledgement<'_>, was_shut: bool) {
        let in_flight_before = self.board.pipe();
        let duplicate = duplicate_report(input);
        let is_original_echoed = self.is_original_echoed(now, input);
        self.board.begin_ack(now);
        let Marked { newly_sacked, acknowledged, round_trip } = self.mark(now, input);
        let is_spurious = is_original_echoed || self.is_timeout_spurious();
        self.board.end_ack(is_spurious);
        if is_original_echoed && matches!(self.recovery, Recovery::Fast(_)) {
            self.board.on_reordering_seen();
        }
        if let Some(range) = duplicate {
            self.board.on_duplicate_reported();
            self.forgive(now, range);
        }
        let mut delivered = 0;
        if acknowledged + newly_sacked > 0 {
            delivered =
                self.report_acknowledged(now, acknowledged, in_flight_before, round_trip, input.is_echo);
        }
        if is_spurious {
            self.board.restore_lost();
            self.take_back(now);
        }
        let is_plain_duplicate = acknowledged == 0 && input.is_pure && input.sacked.is_empty();
        self.settle_probe(input.ack, duplicate, is_plain_duplicate);
        if acknowledged > 0 {
            self.handle_progress(now, acknowledged);
        } else if was_shut && self.peer.edge() > self.board.una() && !self.board.is_empty() {
            // What was sent into the closed window was refused; it fits now.
            self.urgent = Urgent::First;
            self.rtt.clear_back_off();
            self.start_timer(now);
        }
        self.find_overtaken(now);
        self.shrink_proportionally(delivered);
        self.schedule_probe(now);
    }

    /// Finds what is lost by now, and when the next will be.
    pub(super) fn find_overtaken(&mut self, now: Instant) {
        let (srtt, is_recovering) = (self.rtt.srtt(), self.is_recovering());
        let control = &mut self.control;
        let found =
            self.board.detect_overtaken(now, srtt, is_recovering, |lost| control.on_segment_lost(&lost));
        self.early = found.next_at.map(Early::Reordering);
        match self.recovery {
            Recovery::Open { .. } => {
                let is_due = found.count > 0 || core::mem::take(&mut self.timing.has_later_loss);
                if is_due && !self.board.is_empty() {
                    self.remember_window();
                    self.enter();
                }
            }
            Recovery::Fast(_) | Recovery::Timeout { .. } => {
                // A loss of what the recovery itself retransmitted is of the same congestion (RFC 8985, section 9.3).
                self.timing.has_later_loss |= self.recover.is_some_and(|point| found.end > point.get());
            }
        }
    }

    /// Remembers the window before it is reduced.
    pub(super) fn remember_window(&mut self) {
        self.timing.undo = Some(Box::new(Undo {
            control: (!self.control.rules_recovery()).then(|| self.control.clone()),
            from: self.board.una(),
            to: self.board.nxt(),
            repetitions: 0,
            first: None,
        }));
    }

    /// A segment that ends there was retransmitted.
    pub(super) fn note_repetition(&mut self, now: Instant, end: u64) {
        if let Some(undo) = &mut self.timing.undo {
            undo.repetitions += 1;
            undo.first.get_or_insert(Repetition { end, sent_at: now });
        }
    }

    /// The peer had this already. If nothing that was retransmitted was missing, neither was there a loss.
    fn forgive(&mut self, now: Instant, range: Range) {
        let Some(undo) = &mut self.timing.undo else { return };
        if range.start < undo.from || range.end > undo.to || undo.repetitions == 0 {
            return;
        }
        undo.repetitions -= 1;
        if undo.repetitions == 0 {
            self.take_back(now);
        }
    }

    /// After a timeout the peer tells of something that was sent once, before it: the network goes on delivering, and
    /// nothing was lost but the acknowledgements' time (F-RTO, RFC 5682, with SACK).
    fn is_timeout_spurious(&self) -> bool {
        let Recovery::Timeout { point } = self.recovery else { return false };
        self.timing.undo.is_some() && self.board.first_original().is_some_and(|end| end <= point)
    }

    /// The acknowledgement at hand is the first of what was retransmitted first, and echoes a timestamp from before
    /// that: the original has arrived, late, and what was taken for a loss was none (the Eifel detection algorithm, RFC
    /// 3522, section 3.2). If both went within one tick of that clock, it cannot be told which has arrived.
    fn is_original_echoed(&self, now: Instant, input: &Acknowledgement<'_>) -> bool {
        if !self.is_recovering() {
            return false;
        }
        let Some(Repetition { end, sent_at }) = self.timing.undo.as_ref().and_then(|undo| undo.first) else {
            return false;
        };
        let Some(age) = input.echoed_rtt else { return false };
        let echoed_tick = now.since_start().as_millis().saturating_sub(age.as_millis());
        self.board.una() < end && end <= input.ack && echoed_tick < sent_at.since_start().as_millis()
    }

    /// The last reduction was in error: the window is again what it was, and the recovery is over.
    fn take_back(&mut self, now: Instant) {
        let Some(undo) = self.timing.undo.take() else { return };
        match undo.control {
            None => self.control.on_spurious(now),
            Some(control) if control.cwnd() >= self.control.cwnd() => {
                self.control = control;
                // The path may have become narrower since.
                self.control.set_segment_bytes(self.mss);
            }
            Some(_) => {}
        }
        self.recovery = Recovery::default();
        self.timing.has_later_loss = false;
        self.counters.undone += 1;
    }
}

/// The duplicate that an acknowledgement reports (RFC 2883, section 4): in its first block.
pub(super) fn duplicate_report(input: &Acknowledgement<'_>) -> Option<Range> {
    let (first, others) = input.sacked.split_first()?;
    let is_held = others.first().is_some_and(|other| other.start <= first.start && first.end <= other.end);
    (first.end <= input.ack || is_held).then_some(*first)
}
