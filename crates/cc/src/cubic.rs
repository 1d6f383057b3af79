//! CUBIC (RFC 9438), for TCP and SCTP alike: after a loss the window returns to where it was along a cubic of the time
//! since, whatever the round trip, and probes beyond.
//!
//! Windows are bytes here, where the RFC counts segments; times in its formulas are seconds.

use slantpath_base::{Duration, Instant};

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, TimedOut};
use crate::new_reno::AvoidanceIncrease;
use crate::sctp::decayed;
use crate::slow_start::{Arrival, ByteCounting, Departure, Opening, SlowStart, Verdict};
use crate::terms::{Selectable, Terms};

/// The multiplicative decrease factor.
//= https://www.rfc-editor.org/rfc/rfc9438#section-4.6
//# SHOULD be set to 0.7, which is different from
//# the multiplicative decrease factor used in [RFC5681]
const BETA: f64 = 0.7;
/// The additive increase, in segments a round trip, with which a window that falls to [`BETA`] is on average as large
/// as Reno's.
//= https://www.rfc-editor.org/rfc/rfc9438#section-4.3
//# which achieves approximately the same average window size as Reno in
//# many cases.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Steepness of the cubic, in segments per cubic second.
//= https://www.rfc-editor.org/rfc/rfc9438#section-5.1
//# SHOULD be set to 0.4.
const C: f64 = 0.4;

/// Treatment of a window while nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleWindow {
    /// Window that falls to half once a timeout, down to four segments (RFC 9260, section 7.2.1).
    Halve,
    /// After one timeout it is no larger than the initial one (RFC 5681, section 4.1).
    Restart,
}

/// The choices of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicConfig {
    /// The longest segment, as the transport counts bytes. Not zero.
    pub segment_bytes: u64,
    /// The window before the first acknowledgement.
    pub initial_cwnd_bytes: u64,
    /// The slow start threshold before the first loss; `None` is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
    /// cwnd never exceeds this.
    pub max_cwnd_bytes: u64,
    /// Rule by which the first slow start ends.
    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.10
    //# SHOULD use the HyStart++ slow start
    //# algorithm
    pub slow_start: SlowStart,
    /// By how many segments one acknowledgement may open the window in standard slow start (L of RFC 3465); after a
    /// timeout it is one.
    pub byte_counting_limit: u64,
    /// Choice of whether an acknowledgement of two segments opens the window in congestion avoidance twice as far as
    /// one of one.
    pub avoidance_increase: AvoidanceIncrease,
    /// True if a flow that is losing ground gives way faster.
    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.7
    //# In network environments with only a single CUBIC flow
    //# and without any other traffic, Fast Convergence SHOULD be disabled.
    pub fast_convergence: bool,
    /// Treatment of the window while nothing is sent.
    pub idle_window: IdleWindow,
}

/// One stage of congestion avoidance, from its first acknowledgement to the next sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    /// Time that the stage has lasted, without the times in which the window was not used.
    elapsed: Duration,
    /// Up to when that has been counted.
    counted_to: Instant,
    /// K: the seconds that the cubic takes to its plateau.
    plateau_after: f64,
    /// W_max in bytes: the plateau.
    plateau: f64,
    /// C in bytes per cubic second.
    steepness: f64,
    /// W_est in bytes: what Reno's window would be on average.
    reno: f64,
}

impl Stage {
    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.2
    //# CUBIC uses the following window increase function:
    fn window_at(&self, seconds: f64) -> f64 {
        let from_plateau = seconds - self.plateau_after;
        self.steepness * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

/// cwnd and ssthresh of one path under CUBIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Cubic {
    config: CubicConfig,
    cwnd: u64,
    /// The part of a byte by which the window is larger.
    fraction: f64,
    ssthresh: u64,
    opening: Opening,
    byte_counting: ByteCounting,
    /// W_max in bytes, unless there has been no congestion since the start or the last timeout.
    plateau: Option<f64>,
    /// cwnd_prior in bytes: the window before ssthresh was set last.
    cwnd_prior: u64,
    stage: Option<Stage>,
}

impl Cubic {
    /// A controller before any transmission.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: CubicConfig) -> Self {
        assert!(config.segment_bytes > 0, "a segment carries at least one byte");
        let cwnd = config.initial_cwnd_bytes.max(config.segment_bytes).min(config.max_cwnd_bytes);
        let ssthresh = config.initial_ssthresh_bytes.unwrap_or(u64::MAX);
        let opening = Opening::new(config.slow_start, Departure::Clocked);
        Self {
            config,
            cwnd,
            fraction: 0.0,
            ssthresh,
            opening,
            byte_counting: ByteCounting::Configured,
            plateau: None,
            cwnd_prior: cwnd,
            stage: None,
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.10
    //# CUBIC MUST employ a slow-start algorithm
    const fn is_in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// The stage at hand, which begins now unless it has begun.
    fn stage(&mut self, now: Instant) -> &mut Stage {
        let (cwnd, segment) = (self.cwnd as f64, self.config.segment_bytes as f64);
        let plateau = self.plateau;
        self.stage.get_or_insert_with(|| {
            let steepness = C * segment;
            // The first stage after a timeout has K = 0 and W_max = cwnd_epoch (RFC 9438, section 4.8): no plateau is
            // known.
            let plateau = plateau.map_or(cwnd, |plateau| plateau.max(cwnd));
            Stage {
                elapsed: Duration::ZERO,
                counted_to: now,
                plateau_after: libm::cbrt((plateau - cwnd) / steepness),
                plateau,
                steepness,
                reno: cwnd,
            }
        })
    }

    /// Opens the window in congestion avoidance.
    fn avoid(&mut self, acknowledged: &Acknowledged, is_full: bool) {
        let segment = self.config.segment_bytes as f64;
        let (cwnd, cwnd_prior) = (self.cwnd as f64 + self.fraction, self.cwnd_prior as f64);
        let stage = self.stage(acknowledged.now);
        let since = acknowledged.now.saturating_since(stage.counted_to);
        stage.counted_to = acknowledged.now;
        // The elapsed time leaves out what passes while the application, and not the window, is the limit (RFC 9438,
        // section 4.2).
        if !is_full {
            return;
        }
        stage.elapsed = stage.elapsed.saturating_add(since);
        let segments_acked = acknowledged.bytes as f64 / segment;
        //= https://www.rfc-editor.org/rfc/rfc9438#section-4.3
        //# to 1 to ensure that it can achieve the same congestion window
        //# increment rate as Reno
        let alpha = if stage.reno >= cwnd_prior { 1.0 } else { ALPHA };
        stage.reno += alpha * segments_acked / cwnd * segment * segment;
        let seconds = stage.elapsed.as_secs_f64();
        let window = if stage.window_at(seconds) < stage.reno {
            //= https://www.rfc-editor.org/rfc/rfc9438#section-4.3
            //# so, CUBIC is in the Reno-friendly region and
            stage.reno.max(cwnd)
        } else {
            let round_trip = acknowledged.smoothed_round_trip.unwrap_or(Duration::ZERO).as_secs_f64();
            // The bounds keep the increase from being negative and below that of slow start.
            let target = stage.window_at(seconds + round_trip).clamp(cwnd, 1.5 * cwnd);
            // The increase is that of one segment, so that the target is met once a window is acknowledged. Where a
            // receiver acknowledges every second segment, the letter of the RFC goes half as far.
            //= https://www.rfc-editor.org/rfc/rfc9438#section-4.4
            //# MUST be incremented
            //# by
            let times = match self.config.avoidance_increase {
                AvoidanceIncrease::ByteCounting => segments_acked,
                AvoidanceIncrease::PerAck => 1.0,
            };
            (cwnd + times * segment * (target - cwnd) / cwnd).min(target)
        };
        self.set_cwnd(window);
    }

    fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = whole(bytes);
        self.fraction = bytes - self.cwnd as f64;
        if self.cwnd >= self.config.max_cwnd_bytes {
            self.limit_cwnd(self.config.max_cwnd_bytes);
        }
    }

    /// A sign of congestion, which leaves so many segments at least.
    fn reduce(&mut self, congestion: Congestion, least_segments: u64) {
        let cwnd = self.cwnd as f64;
        //= https://www.rfc-editor.org/rfc/rfc9438#section-4.7
        //# updated as follows, before the window reduction described in
        //# Section 4.6.
        let gives_way = self.config.fast_convergence && self.plateau.is_some_and(|plateau| cwnd < plateau);
        self.plateau = Some(if gives_way { cwnd * (1.0 + BETA) / 2.0 } else { cwnd });
        let reduced = self.reduce_ssthresh(congestion.in_flight);
        self.cwnd = reduced.max(least_segments * self.config.segment_bytes);
        self.fraction = 0.0;
        self.stage = None;
    }

    /// Sets the threshold for what was in flight, and gives what it would be without a floor.
    fn reduce_ssthresh(&mut self, in_flight: u64) -> u64 {
        // With SACK, what is not acknowledged cumulatively grows up to two windows while a hole is repaired, so that a
        // loss that follows at once would open the window. Linux takes cwnd alone (RFC 9438, section 4.6).
        let reduced = whole(in_flight.min(self.cwnd) as f64 * BETA);
        self.opening.end();
        self.cwnd_prior = self.cwnd;
        self.ssthresh = reduced.max(2 * self.config.segment_bytes);
        reduced
    }
}

impl Selectable for Cubic {
    fn on(terms: &Terms) -> Self {
        Self::new(CubicConfig {
            segment_bytes: terms.segment_bytes,
            initial_cwnd_bytes: terms.initial_cwnd_bytes,
            initial_ssthresh_bytes: terms.initial_ssthresh_bytes,
            max_cwnd_bytes: terms.max_cwnd_bytes,
            slow_start: terms.slow_start,
            byte_counting_limit: terms.byte_counting_limit,
            avoidance_increase: terms.avoidance_increase,
            fast_convergence: terms.fast_convergence,
            idle_window: terms.idle_window,
        })
    }
}

impl CongestionControl for Cubic {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_sent(&mut self, sent: Sent) {
        // The time in which nothing was in flight is none in which the window was probed.
        if sent.in_flight_before == 0
            && let Some(stage) = &mut self.stage
        {
            stage.counted_to = sent.now;
        }
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if acknowledged.is_recovering || acknowledged.bytes == 0 {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9438#section-5.8
        //# CUBIC does not increase its congestion window if a flow is
        //# application-limited.
        let is_full = acknowledged.in_flight_before + self.config.segment_bytes > self.cwnd;
        if !self.is_in_slow_start() {
            self.byte_counting = ByteCounting::Configured;
            self.avoid(acknowledged, is_full);
            return;
        }
        if is_full {
            let segment = self.config.segment_bytes;
            let limit = self.byte_counting.limit(self.config.byte_counting_limit, segment);
            let cwnd = self.cwnd + self.opening.growth(acknowledged.bytes, segment, limit);
            self.cwnd = cwnd.min(self.config.max_cwnd_bytes);
        }
        if self.opening.observe(Arrival::of(acknowledged), self.cwnd, self.config.segment_bytes)
            == Verdict::Over
        {
            self.ssthresh = self.cwnd;
            self.cwnd_prior = self.cwnd;
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.6
    //# reduction on loss, cwnd is at least 2 MSS
    fn on_lost(&mut self, congestion: Congestion) {
        self.reduce(congestion, 2);
    }

    //= https://www.rfc-editor.org/rfc/rfc9438#section-4.6
    //# reduction on ECE, cwnd is at least 1 MSS
    fn on_marked(&mut self, congestion: Congestion) {
        self.reduce(congestion, 1);
    }

    // The window is that of RFC 5681 after a timeout, the threshold CUBIC's own (RFC 9438, section 4.8).
    fn on_timed_out(&mut self, timed_out: TimedOut) {
        if timed_out.loss == LossEvent::New {
            self.reduce_ssthresh(timed_out.in_flight);
        }
        self.byte_counting = ByteCounting::AfterTimeout;
        self.cwnd = self.config.segment_bytes;
        self.fraction = 0.0;
        self.plateau = None;
        self.stage = None;
    }

    fn on_idle(&mut self, timeouts: u64) {
        let cwnd = match self.config.idle_window {
            IdleWindow::Halve => {
                let Some(cwnd) = decayed(self.cwnd, timeouts, self.config.segment_bytes) else { return };
                self.ssthresh = self.cwnd;
                cwnd
            }
            IdleWindow::Restart => self.config.initial_cwnd_bytes.max(self.config.segment_bytes),
        };
        self.limit_cwnd(cwnd);
        self.stage = None;
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        if self.cwnd >= at_most {
            self.cwnd = at_most;
            self.fraction = 0.0;
        }
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.segment_bytes = segment_bytes;
        // The cubic is one of segments: it begins anew where it stands.
        self.stage = None;
    }
}

/// Whole bytes of a window.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window is not negative, and below 2^53"
)]
const fn whole(bytes: f64) -> u64 {
    bytes as u64
}

#[cfg(test)]
pub(crate) mod tests;
