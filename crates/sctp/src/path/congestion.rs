//! The congestion controller of a path: which one, and what it is told.

use std::net::IpAddr;

use slantpath_base::{Instant, Timer};
use slantpath_cc::control::{self, Acknowledged, LossEvent, Sent, TimedOut};
use slantpath_cc::cubic::IdleWindow;
use slantpath_cc::delivery::Departure;
use slantpath_cc::new_reno::AvoidanceIncrease;
use slantpath_cc::sctp::{SctpController, WindowPolicy, initial_cwnd};
use slantpath_cc::{CongestionControl, Controller, Terms};

use super::timing::Recovery;
use super::{Allowance, Path, SackTally};
use crate::config::SctpConfig;
use crate::types::Tsn;

/// The controller of a new path.
pub(super) fn controller(config: &SctpConfig, pmdcs: u64, destination: IpAddr) -> Controller<SctpController> {
    let cwnd = config.initial_cwnd_bytes.unwrap_or_else(|| initial_cwnd(pmdcs, destination.is_ipv6()));
    //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.1
    //# The initial value of ssthresh SHOULD be arbitrarily high (e.g.,
    //# the size of the largest-possible advertised window).
    let largest_window = u64::from(u32::MAX);
    let ssthresh = config.initial_ssthresh_bytes.unwrap_or(largest_window);
    let most = config.congestion.max_cwnd.unwrap_or(largest_window);
    let standard = || SctpController::new(config.congestion, pmdcs, cwnd, ssthresh);
    if let WindowPolicy::Fixed { .. } = config.congestion.window {
        return Controller::Standard(standard());
    }
    let terms = Terms {
        segment_bytes: pmdcs,
        initial_cwnd_bytes: cwnd,
        initial_ssthresh_bytes: Some(ssthresh),
        max_cwnd_bytes: most,
        known_capacity: config.known_capacity,
        slow_start: config.congestion.slow_start,
        byte_counting_limit: config.congestion.byte_counting_limit.into(),
        avoidance_increase: AvoidanceIncrease::ByteCounting,
        fast_convergence: config.fast_convergence,
        idle_window: IdleWindow::Halve,
    };
    Controller::of(config.congestion_control, &terms, standard)
}

impl Path {
    /// Number of bytes that may be in flight now: the controller's window, unless a recovery has one of its own.
    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        match (&self.timing, &self.cc) {
            // Most paths, several times a packet.
            (None, Controller::Standard(standard)) => standard.cwnd(),
            _ => self.window(),
        }
    }

    #[inline(never)]
    fn window(&self) -> u64 {
        self.recovery_window().unwrap_or_else(|| self.cc.cwnd())
    }

    pub(super) fn recovery_window(&self) -> Option<u64> {
        match self.timing.as_ref()?.recovery {
            Recovery::Fast { window: Some(window), .. } => Some(window.bytes()),
            Recovery::Open | Recovery::Fast { window: None, .. } | Recovery::Timeout { .. } => None,
        }
    }

    /// A chunk is sent that takes so many bytes of the window.
    #[inline]
    pub(super) fn on_bytes_sent(&mut self, now: Instant, bytes: u64) {
        // SCTP's own controller neither follows what is sent nor paces it.
        if self.timing.is_some() || !matches!(self.cc, Controller::Standard(_)) {
            self.follow_bytes_sent(now, bytes);
        }
    }

    #[inline(never)]
    fn follow_bytes_sent(&mut self, now: Instant, bytes: u64) {
        self.cc.on_paced(&mut self.pacer, Sent { now, bytes, in_flight_before: self.flight_size });
        if let Some(timing) = &mut self.timing
            && let Recovery::Fast { window: Some(window), .. } = &mut timing.recovery
        {
            window.on_sent(bytes);
        }
    }

    /// Tells if the controller's rate lets nothing out now, though the window would.
    #[expect(clippy::inline_always, reason = "each packet passes it, and it is little more than a call")]
    #[inline(always)]
    pub(crate) fn is_held(&mut self, now: Instant) -> bool {
        if self.is_paced() {
            self.held_until = self.pacer.held_until(now).into();
        }
        !self.held_until.is_off()
    }

    /// Tells if the controller has a rate.
    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        !matches!(self.cc, Controller::Standard(_)) && self.has_rate()
    }

    #[inline(never)]
    fn has_rate(&self) -> bool {
        self.cc.pacing_rate().is_some()
    }

    /// Instant at which held packets may leave.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.held_until.at()
    }

    /// Releases what was held until now.
    pub(crate) fn release(&mut self, now: Instant) {
        if self.held_until.is_due(now) {
            self.pacer.release(now);
            self.held_until = Timer::OFF;
        }
    }

    /// There is nothing to send: if the window would let it out, that is what limits the rate.
    #[inline]
    pub(crate) fn limit_by_application(&mut self) {
        if self.flight_size < self.cwnd() {
            self.delivery.limit_by_application(self.flight_size);
        }
    }

    /// A chunk in flight here counts as lost.
    pub(crate) fn on_chunk_lost(&mut self, wire_len: u64, departure: &Departure) {
        self.on_chunk_left(wire_len);
        let lost = self.delivery.lose(wire_len, departure);
        self.cc.on_segment_lost(&lost);
    }

    /// Tells if the SACK at hand ends a round trip of this path. A SACK that has come back by another path ends none:
    /// the way there may be shorter. But a peer may always answer by that path; one with a path for reports of gaps
    /// (`sack_path`) sends all other SACKs by the path of the DATA, and has answered by it then.
    pub(crate) fn ends_round_trip(&mut self, is_own: bool, has_gaps: bool) -> bool {
        self.has_answered |= is_own && self.tally.newly_acked > 0;
        is_own || !(self.has_answered || has_gaps)
    }

    /// Opens the window by what the SACK at hand acknowledges, and notes when the path has answered last.
    pub(crate) fn grow_window(
        &mut self,
        now: Instant,
        advances_cumulative: bool,
        is_recovering: bool,
        ends_round_trip: bool,
    ) {
        let SackTally { flight_size_before: in_flight_before, newly_acked: bytes, .. } = self.tally;
        if bytes == 0 {
            return;
        }
        self.last_answered = self.last_answered.max(self.tally.answered);
        self.allowance = Allowance::Window;
        let answered_in = self.tally.answered.map(|left| now.saturating_since(left));
        let reading = self.delivery.read(now, answered_in);
        self.cc.on_acknowledged(&Acknowledged {
            now,
            bytes,
            in_flight_before,
            in_flight: self.flight_size,
            advances_cumulative,
            is_recovering,
            round_trip: answered_in.filter(|_| ends_round_trip),
            smoothed_round_trip: self.rtt.srtt(),
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
        });
    }

    /// Closes the window for what the SACK at hand has shown to be lost, unless it is known to be so congested.
    pub(crate) fn reduce_window(&mut self, loss: LossEvent, highest_sent: Tsn) {
        self.reduce_window_from(self.tally.flight_size_before, loss, highest_sent);
    }

    /// Variant of [`reduce_window`](Self::reduce_window) with a given number of bytes in flight before.
    pub(super) fn reduce_window_from(&mut self, in_flight: u64, loss: LossEvent, highest_sent: Tsn) {
        if loss == LossEvent::New {
            self.cc.on_lost(control::Congestion { in_flight });
            self.on_reduced_for_loss(highest_sent);
        }
    }

    /// T3-rtx has expired without an answer: one packet goes out at a time until something is acknowledged.
    pub(crate) fn collapse_window(&mut self, loss: LossEvent) {
        self.cc.on_timed_out(TimedOut { in_flight: self.flight_size, loss });
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.3
        //# ensure that no more than one SCTP packet will be in flight for
        //# that address until the endpoint receives acknowledgement for
        //# successful delivery of data to that address.
        self.allowance = Allowance::OnePacket;
    }
}
