//! Loss recovery: when it starts and ends, and what it does to the window. RFC 5681 and 6582 without SACK, RFC
//! 6675 with it.

use core::num::NonZeroU64;

use slantpath_base::Instant;
use slantpath_cc::control::{self, LossEvent, TimedOut};
use slantpath_cc::{CongestionControl, InflatedWindow, ProportionalWindow};

use super::{LossRecovery, Tx, Urgent};
use crate::config::SackRecovery;

/// Phase of the sender's loss recovery. Points are offsets: the recovery lasts until everything before its point is
/// acknowledged.
#[derive(Debug)]
pub(crate) enum Recovery {
    /// Repairing what duplicate ACKs or SACK showed to be lost.
    Fast(Box<Fast>),
    /// No loss is being repaired.
    Open {
        /// Duplicate ACKs since the last progress.
        duplicates: u32,
        /// Bytes sent on them, which do not count when the window is halved.
        limited_transmit: u64,
    },
    /// Repairing everything after a timeout, in slow start; or what was too long for the path, in whatever window there
    /// is.
    Timeout {
        /// SND.NXT at the timeout, or when segments became shorter.
        point: u64,
    },
}

/// A fast recovery.
#[derive(Debug)]
pub(crate) struct Fast {
    point: u64,
    has_had_partial_ack: bool,
    pub(super) window: FastWindow,
    /// SND.UNA must have reached this offset for the one rescue retransmission, if it is still to come.
    pub(super) rescue_from: Option<u64>,
}

/// Window that limits the data in flight while a fast recovery lasts.
#[derive(Debug)]
pub(crate) enum FastWindow {
    /// The window that the controller has reduced, against `pipe` (RFC 6675).
    Controlled,
    /// Without SACK, the same inflated by duplicates (RFC 6582).
    Inflated(InflatedWindow),
    /// A window that shrinks while segments arrive (RFC 6937).
    Proportional(ProportionalWindow),
}

impl Recovery {
    const NONE: Self = Self::Open { duplicates: 0, limited_transmit: 0 };
}

impl Default for Recovery {
    fn default() -> Self {
        Self::NONE
    }
}

impl Tx {
    /// `count` offsets were newly acknowledged. Returns whether the retransmission timer restarts.
    pub(super) fn recover_with(&mut self, now: Instant, count: u64) -> bool {
        let una = self.board.una();
        match &mut self.recovery {
            Recovery::Open { .. } => self.recovery = Recovery::NONE,
            Recovery::Timeout { point } => {
                if una >= *point {
                    self.recovery = Recovery::NONE;
                    self.board.on_recovery_ended();
                    self.control.on_recovered(now);
                }
            }
            //= https://www.rfc-editor.org/rfc/rfc6675#section-5
            //# (A) An incoming cumulative ACK for a sequence number greater than
            //# RecoveryPoint signals the end of loss recovery, and the loss
            //# recovery phase MUST be terminated.
            Recovery::Fast(fast) if una >= fast.point => self.end_fast(now),
            Recovery::Fast(fast) => {
                let FastWindow::Inflated(window) = &mut fast.window else { return true };
                match self.config.loss_recovery {
                    LossRecovery::NewReno => {
                        // Only the first partial ACK restarts the timer, so that many losses in one window end
                        // in a timeout rather than in as many round trips (RFC 6582, section 4, "Impatient").
                        let is_first = !fast.has_had_partial_ack;
                        fast.has_had_partial_ack = true;
                        window.on_partial_ack(count, self.mss);
                        self.urgent = Urgent::First;
                        return is_first;
                    }
                    LossRecovery::Reno => self.end_fast(now),
                }
            }
        }
        true
    }

    fn end_fast(&mut self, now: Instant) {
        self.end_inflation();
        self.recovery = Recovery::NONE;
        self.board.on_recovery_ended();
        self.control.on_recovered(now);
    }

    /// Gives the window back to the controller, lest what it was inflated by leave in a burst.
    pub(super) fn end_inflation(&mut self) {
        if let Recovery::Fast(fast) = &self.recovery
            && let FastWindow::Inflated(_) = fast.window
        {
            self.control.limit_cwnd(InflatedWindow::limit_at_end(self.board.flight(), self.mss));
        }
    }

    /// A duplicate ACK came: with SACK, one that told something new.
    pub(super) fn handle_duplicate(&mut self) {
        let threshold = self.config.duplicate_ack_threshold;
        let control = &mut self.control;
        self.board.detect_losses(threshold, self.mss, |lost| control.on_segment_lost(&lost));
        match &mut self.recovery {
            Recovery::Open { duplicates, .. } => {
                *duplicates += 1;
                let is_lost = *duplicates >= threshold || (self.sack && self.board.is_first_lost());
                if is_lost && self.may_enter() {
                    self.enter();
                }
            }
            Recovery::Fast(fast) => {
                if let FastWindow::Inflated(window) = &mut fast.window {
                    window.inflate(1, self.mss);
                }
            }
            Recovery::Timeout { .. } => {}
        }
    }

    /// Without SACK, duplicates of an ACK that ends a recovery may be of its own needless retransmissions.
    //= https://www.rfc-editor.org/rfc/rfc6582#section-3.2
    //# checks the value of recover to see if the Cumulative
    //# Acknowledgment field covers more than recover.
    fn may_enter(&self) -> bool {
        self.sack || self.recover.is_none_or(|recover| self.board.una() > recover.get())
    }

    pub(super) fn enter(&mut self) {
        let Recovery::Open { duplicates, limited_transmit } = self.recovery else { return };
        let point = self.set_recovery_point();
        self.timing.probe.forget();
        // What limited transmit sent does not count (RFC 5681, section 3.2, step 2).
        let in_flight = self.board.flight() - limited_transmit;
        if !self.is_reduced_for_mark() {
            self.control.on_lost(control::Congestion { in_flight });
        }
        let window = match (self.sack, self.config.sack_recovery) {
            (true, _) if self.control.rules_recovery() => FastWindow::Controlled,
            (true, SackRecovery::Proportional) => {
                FastWindow::Proportional(ProportionalWindow::new(self.control.cwnd(), in_flight))
            }
            (true, SackRecovery::Rfc6675) => FastWindow::Controlled,
            (false, _) => {
                FastWindow::Inflated(InflatedWindow::new(self.control.cwnd(), duplicates.into(), self.mss))
            }
        };
        let rescue_from = self.board.first_end();
        let fast = Fast { point, has_had_partial_ack: false, window, rescue_from };
        self.recovery = Recovery::Fast(Box::new(fast));
        //= https://www.rfc-editor.org/rfc/rfc6675#section-5
        //# (4.3) Retransmit the first data segment presumed dropped -- the
        //# segment starting with sequence number HighACK + 1.  To
        //# prevent repeated retransmission of the same data or a
        //# premature rescue retransmission, set both HighRxt and
        // Found by time, it may have been retransmitted in the recovery before.
        if !self.board.is_timed() || self.board.next_lost().is_some() {
            self.urgent = Urgent::First;
        }
        self.counters.fast_recoveries += 1;
    }

    /// A recovery begins, which lasts until all that has been sent by now is acknowledged.
    fn set_recovery_point(&mut self) -> u64 {
        let point = self.board.nxt();
        self.recover = NonZeroU64::new(point);
        self.marks.on_reduced();
        self.timing.on_recovery_begins();
        point
    }

    /// The retransmission timer expired on data: the window falls to one segment and everything counts as lost.
    pub(super) fn collapse(&mut self, now: Instant) {
        if self.board.is_timed() {
            self.early = None;
            self.timing.probe.forget();
            if self.timeouts_in_a_row == 1 {
                self.remember_window();
            }
        }
        let outstanding = match self.recovery {
            Recovery::Open { limited_transmit, .. } => self.board.flight() - limited_transmit,
            // The flight goes on growing behind the hole, by what is SACKed and so has left the network. The
            // window was halved at the start, and the same loss does not open it again.
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# the value of ssthresh MUST be set to no more
            //# than the value given in equation (4):
            Recovery::Fast(_) => self.board.flight().min(self.control.ssthresh().saturating_mul(2)),
            // What an earlier timeout gave up is not in flight, though not acknowledged.
            Recovery::Timeout { .. } => self.board.pipe(),
        };
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //# In addition, the TCP source should not
        //# decrease the slow-start threshold, ssthresh, if it has been decreased
        //# within the last round trip time.
        let is_new = self.timeouts_in_a_row == 1 && !self.is_reduced_for_mark();
        let loss = if is_new { LossEvent::New } else { LossEvent::Known };
        self.control.on_timed_out(TimedOut { in_flight: outstanding, loss });
        //= https://www.rfc-editor.org/rfc/rfc6675#section-5.1
        //# If an RTO occurs during loss recovery as specified in this document,
        //# RecoveryPoint MUST be set to HighData.
        let point = self.set_recovery_point();
        self.recovery = Recovery::Timeout { point };
        let (control, srtt) = (&mut self.control, self.rtt.srtt());
        self.board.on_timeout(now, srtt, |lost| control.on_segment_lost(&lost));
        if self.board.is_timed() {
            // What may still arrive leaves no room in the window.
            self.urgent = Urgent::First;
        }
    }
}
