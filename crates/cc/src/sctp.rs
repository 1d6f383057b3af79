//! SCTP's congestion control over one destination address (RFC 9260, section 7.2), as pure arithmetic.
//!
//! The controller holds `cwnd`, `ssthresh` and `partial_bytes_acked`; it knows neither chunks nor timers. All
//! amounts are bytes of DATA chunks, headers and padding included. `pmdcs` is the Path Maximum DATA Chunk
//! Size: what fits into one packet behind the IP header and SCTP's common header.

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, TimedOut};
use crate::slow_start::{Arrival, Departure, Opening, SlowStart, Verdict};

/// Acknowledgements that may open the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndGrowth {
    /// Any newly acknowledged DATA outside of Fast Recovery (RFC 9260, section 7.2.1).
    #[default]
    AnyNewAcknowledgement,
    /// Only a SACK that advances the Cumulative TSN Ack Point (RFC 2960 and RFC 4960, section 7.2.1).
    CumulativeAdvance,
}

/// Effect of a fast retransmission on the window of the path that the chunk was lost on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRetransmitWindow {
    /// Window that is halved, as after any sign of congestion (RFC 9260, section 7.2.3).
    #[default]
    Halve,
    /// Window that stays. Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 4.3: loss is recovered over the secondary
    /// path "without significant effects on the congestion window". No RFC allows it; their figures need it.
    Keep,
}

/// Policy that governs the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowPolicy {
    /// Slow start and congestion avoidance.
    #[default]
    Adaptive,
    /// A window that neither grows nor shrinks, for links whose capacity is reserved.
    Fixed {
        /// The window in bytes.
        cwnd: u64,
    },
}

/// Choices in the algorithm that are left to policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpPolicy {
    /// Rule by which the first slow start ends.
    pub slow_start: SlowStart,
    /// `L`, the byte counting limit in packets of slow start. RFC 9260 recommends 1; RFC 3465 allows 2.
    pub byte_counting_limit: u32,
    /// Acknowledgements that may open the window.
    pub growth: CwndGrowth,
    /// Effect of a fast retransmission on the window.
    pub fast_retransmit: FastRetransmitWindow,
    /// Choice of whether the window adapts.
    pub window: WindowPolicy,
    /// Limit of the window in bytes; none if `None`. No RFC has one: signalling gateways do.
    pub max_cwnd: Option<u64>,
}

impl Default for SctpPolicy {
    fn default() -> Self {
        Self {
            slow_start: SlowStart::Standard,
            byte_counting_limit: 1,
            growth: CwndGrowth::default(),
            fast_retransmit: FastRetransmitWindow::default(),
            window: WindowPolicy::default(),
            max_cwnd: None,
        }
    }
}

/// Share of one window in the increases and reductions of several that are pooled (CMT/RP: Dreibholz, Becke,
/// Pulinthanath, Rathgeb 2010; Dreibholz et al. 2011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolShare {
    /// Of every increase the window takes this part ...
    pub part: u128,
    /// ... of this whole, which is not zero, rounded up to bytes.
    pub whole: u128,
    /// Reduction of the window by a sign of congestion, in bytes.
    pub reduction: u64,
    /// Least window that a reduction leaves, in bytes.
    pub least: u64,
}

impl PoolShare {
    fn of(&self, bytes: u64) -> u64 {
        u64::try_from((u128::from(bytes) * self.part).div_ceil(self.whole)).unwrap_or(u64::MAX).min(bytes)
    }
}

/// The congestion controller of one destination address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SctpController {
    policy: SctpPolicy,
    pmdcs: u64,
    cwnd: u64,
    ssthresh: u64,
    opening: Opening,
    partial_bytes_acked: u64,
    /// Share of the window, where it is one of several that are pooled.
    pool: Option<PoolShare>,
}

/// The initial `cwnd` in bytes.
pub fn initial_cwnd(pmdcs: u64, is_ipv6: bool) -> u64 {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.1
    //# The initial cwnd before data transmission MUST be set to min(4 *
    //# PMDCS, max(2 * PMDCS, 4404)) bytes if the peer address is an IPv4
    //# address and to min(4 * PMDCS, max(2 * PMDCS, 4344)) bytes if the
    //# peer address is an IPv6 address.
    let floor = if is_ipv6 { 4_344 } else { 4_404 };
    (4 * pmdcs).min((2 * pmdcs).max(floor))
}

/// Window that is left after so many timeouts in which nothing was sent, if it decays.
pub(crate) fn decayed(cwnd: u64, timeouts: u64, pmdcs: u64) -> Option<u64> {
    let floor = 4 * pmdcs;
    // The rule lets a window decay; read to the letter it would also open one that a timeout closed.
    if timeouts == 0 || cwnd <= floor {
        return None;
    }
    let halvings = u32::try_from(timeouts).unwrap_or(u32::MAX);
    Some(cwnd.checked_shr(halvings).unwrap_or(0).max(floor))
}

impl SctpController {
    /// A controller before any transmission. `initial_cwnd` in bytes, usually of [`initial_cwnd`];
    /// `initial_ssthresh` in bytes, usually the peer's advertised window.
    pub fn new(policy: SctpPolicy, pmdcs: u64, initial_cwnd: u64, initial_ssthresh: u64) -> Self {
        let cwnd = match policy.window {
            WindowPolicy::Adaptive => initial_cwnd.min(policy.max_cwnd.unwrap_or(u64::MAX)),
            WindowPolicy::Fixed { cwnd } => cwnd,
        };
        let opening = Opening::new(policy.slow_start, Departure::Clocked);
        Self { policy, pmdcs, cwnd, ssthresh: initial_ssthresh, opening, partial_bytes_acked: 0, pool: None }
    }

    /// Progress towards the next increase in congestion avoidance, in bytes.
    pub const fn partial_bytes_acked(&self) -> u64 {
        self.partial_bytes_acked
    }

    /// Tells if the window grows by slow start.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// Says what the window takes and gives as one of several, until it is said anew; `None`: it stands alone.
    pub const fn set_pool(&mut self, pool: Option<PoolShare>) {
        self.pool = pool;
    }

    fn reduce_ssthresh(&mut self) {
        self.opening.end();
        self.ssthresh = match self.pool {
            Some(pool) => self.cwnd.saturating_sub(pool.reduction).max(pool.least),
            None => (self.cwnd / 2).max(4 * self.pmdcs),
        };
    }

    /// Part of an increase that the window takes.
    fn taken(&self, bytes: u64) -> u64 {
        self.pool.map_or(bytes, |pool| pool.of(bytes))
    }

    const fn is_fixed(&self) -> bool {
        matches!(self.policy.window, WindowPolicy::Fixed { .. })
    }
}

impl CongestionControl for SctpController {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_sent(&mut self, _: Sent) {}

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if self.is_fixed() {
            return;
        }
        let may_grow = !acknowledged.is_recovering
            && match self.policy.growth {
                CwndGrowth::AnyNewAcknowledgement => true,
                CwndGrowth::CumulativeAdvance => acknowledged.advances_cumulative,
            };
        let is_fully_utilized = acknowledged.in_flight_before >= self.cwnd;
        if self.in_slow_start() {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.1
            //# When cwnd is less than or equal to ssthresh, an SCTP endpoint MUST
            //# use the slow-start algorithm to increase cwnd only if the current
            //# congestion window is being fully utilized and the data sender is
            //# not in Fast Recovery.
            if may_grow && is_fully_utilized {
                let limit = u64::from(self.policy.byte_counting_limit) * self.pmdcs;
                let growth = self.opening.growth(acknowledged.bytes, self.pmdcs, limit);
                self.cwnd += self.taken(growth);
            }
            if self.opening.observe(Arrival::of(acknowledged), self.cwnd, self.pmdcs) == Verdict::Over {
                self.ssthresh = self.cwnd;
            }
        } else {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.2
            //# Whenever cwnd is greater than ssthresh, upon each SACK chunk
            //# arrival, increase partial_bytes_acked by the total number of bytes
            //# (including the chunk header and the padding) of all new DATA
            //# chunks acknowledged in that SACK chunk
            self.partial_bytes_acked += acknowledged.bytes;
            if self.partial_bytes_acked > self.cwnd && !is_fully_utilized {
                self.partial_bytes_acked = self.cwnd;
            } else if self.partial_bytes_acked >= self.cwnd && is_fully_utilized && may_grow {
                self.partial_bytes_acked -= self.cwnd;
                self.cwnd += self.taken(self.pmdcs);
            }
        }
        if let Some(most) = self.policy.max_cwnd {
            self.cwnd = self.cwnd.min(most);
        }
        if acknowledged.in_flight == 0 {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.2
            //# When all of the data transmitted by the sender has been
            //# acknowledged by the receiver, partial_bytes_acked is initialized
            //# to 0.
            self.partial_bytes_acked = 0;
        }
    }

    fn on_lost(&mut self, _: Congestion) {
        if self.is_fixed() || self.policy.fast_retransmit == FastRetransmitWindow::Keep {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.3
        //# ssthresh = max(cwnd / 2, 4 * PMDCS)
        //# cwnd = ssthresh
        //# partial_bytes_acked = 0
        self.reduce_ssthresh();
        self.cwnd = self.ssthresh;
        self.partial_bytes_acked = 0;
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        if self.is_fixed() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.3
        //# ssthresh = max(cwnd / 2, 4 * PMDCS)
        //# cwnd = PMDCS
        //# partial_bytes_acked = 0
        // Section 7.2.3 is a SHOULD, and section 7.2.4 has one loss reduce the window once: "one SHOULD NOT reduce the
        // cwnd further due to a subsequent Fast Retransmit". What Fast Recovery has halved ssthresh for and T3-rtx
        // repairs in the end was congested once; cwnd closes for the doubt.
        if timed_out.loss == LossEvent::New {
            self.reduce_ssthresh();
        }
        self.cwnd = self.pmdcs;
        self.partial_bytes_acked = 0;
    }

    /// An ECN-Echo is a loss to it, whatever a fast retransmission does.
    fn on_marked(&mut self, _: Congestion) {
        if self.is_fixed() {
            return;
        }
        self.reduce_ssthresh();
        self.cwnd = self.ssthresh;
        self.partial_bytes_acked = 0;
    }

    fn on_idle(&mut self, timeouts: u64) {
        if self.is_fixed() {
            return;
        }
        let Some(cwnd) = decayed(self.cwnd, timeouts, self.pmdcs) else { return };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.1
        //# While the endpoint does not transmit data on a given transport
        //# address, the cwnd of the transport address SHOULD be adjusted to
        //# max(cwnd / 2, 4 * PMDCS) once per RTO.  Before the first cwnd
        //# adjustment, the ssthresh of the transport address SHOULD be set to
        //# the cwnd.
        self.ssthresh = self.cwnd;
        self.cwnd = cwnd;
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        if !self.is_fixed() {
            self.cwnd = self.cwnd.min(at_most);
        }
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.pmdcs = segment_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Instant;

    const PMDCS: u64 = 1_468;

    fn controller() -> SctpController {
        SctpController::new(SctpPolicy::default(), PMDCS, initial_cwnd(PMDCS, false), 1 << 20)
    }

    fn full(controller: &SctpController, bytes: u64) -> Acknowledged {
        Acknowledged { in_flight: PMDCS, ..Acknowledged::of(Instant::START, bytes, controller.cwnd()) }
    }

    fn timed_out(loss: LossEvent) -> TimedOut {
        TimedOut { in_flight: PMDCS, loss }
    }

    /// SCTP halves the window, whatever is in flight.
    const LOST: Congestion = Congestion { in_flight: PMDCS };

    #[test]
    fn initial_window_is_three_full_chunks_or_4404_bytes() {
        assert_eq!(initial_cwnd(1_468, false), 4_404);
        assert_eq!(initial_cwnd(1_448, true), 4_344);
        assert_eq!(initial_cwnd(500, false), 2_000);
        assert_eq!(initial_cwnd(8_968, false), 17_936);
    }

    #[test]
    fn slow_start_grows_by_what_is_acked_up_to_the_byte_counting_limit() {
        let mut cc = controller();
        cc.on_acknowledged(&full(&cc, 1_000));
        assert_eq!(cc.cwnd(), 5_404);
        cc.on_acknowledged(&full(&cc, 4 * PMDCS));
        assert_eq!(cc.cwnd(), 5_404 + PMDCS);
        let policy = SctpPolicy { byte_counting_limit: 2, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, PMDCS, 4_404, 1 << 20);
        cc.on_acknowledged(&full(&cc, 4 * PMDCS));
        assert_eq!(cc.cwnd(), 4_404 + 2 * PMDCS);
    }

    #[test]
    fn a_pooled_window_takes_its_share_of_an_increase_and_gives_what_all_have_to_give() {
        let mut cc = controller();
        let pool = PoolShare { part: 1, whole: 3, reduction: 3_000, least: 2_000 };
        cc.set_pool(Some(pool));
        cc.on_acknowledged(&full(&cc, 1_000));
        assert_eq!(cc.cwnd(), 4_404 + 334);
        cc.on_lost(LOST);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (2_000, 2_000), "3,000 of 4,738 would leave too little");
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 10_000, 1);
        cc.set_pool(Some(pool));
        cc.on_acknowledged(&full(&cc, 10_000));
        assert_eq!(cc.cwnd(), 10_000 + PMDCS.div_ceil(3));
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (PMDCS, 7_490));
        cc.set_pool(None);
        cc.on_lost(LOST);
        assert_eq!(cc.ssthresh(), 4 * PMDCS);
    }

    #[test]
    fn a_window_that_was_not_full_does_not_grow() {
        let mut cc = controller();
        cc.on_acknowledged(&Acknowledged { in_flight_before: 4_403, ..full(&cc, 1_000) });
        assert_eq!(cc.cwnd(), 4_404);
    }

    #[test]
    fn a_window_does_not_grow_is_recovering() {
        let mut cc = controller();
        cc.on_acknowledged(&Acknowledged { is_recovering: true, ..full(&cc, 1_000) });
        assert_eq!(cc.cwnd(), 4_404);
    }

    #[test]
    fn rfc_4960_growth_waits_for_the_cumulative_tsn() {
        let policy = SctpPolicy { growth: CwndGrowth::CumulativeAdvance, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, PMDCS, 4_404, 1 << 20);
        cc.on_acknowledged(&Acknowledged { advances_cumulative: false, ..full(&cc, 1_000) });
        assert_eq!(cc.cwnd(), 4_404);
        cc.on_acknowledged(&full(&cc, 1_000));
        assert_eq!(cc.cwnd(), 5_404);
    }

    #[test]
    fn a_window_grows_to_its_limit_in_either_phase_and_no_further() {
        let policy = SctpPolicy { max_cwnd: Some(6_000), ..SctpPolicy::default() };
        for ssthresh in [1 << 20, PMDCS] {
            let mut cc = SctpController::new(policy, PMDCS, 4_404, ssthresh);
            for _ in 0..20 {
                assert!(cc.cwnd() <= 6_000);
                cc.on_acknowledged(&full(&cc, PMDCS));
            }
            assert_eq!(cc.cwnd(), 6_000);
        }
        assert_eq!(SctpController::new(policy, PMDCS, 9_000, 1 << 20).cwnd(), 6_000);
    }

    #[test]
    fn congestion_avoidance_adds_one_chunk_per_window_acked() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 10 * PMDCS, PMDCS);
        for _ in 0..9 {
            cc.on_acknowledged(&full(&cc, PMDCS));
        }
        assert_eq!((cc.cwnd(), cc.partial_bytes_acked()), (10 * PMDCS, 9 * PMDCS));
        cc.on_acknowledged(&full(&cc, PMDCS));
        assert_eq!((cc.cwnd(), cc.partial_bytes_acked()), (11 * PMDCS, 0));
    }

    #[test]
    fn partial_bytes_acked_is_capped_while_the_window_is_not_full() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 4 * PMDCS, PMDCS);
        for _ in 0..9 {
            cc.on_acknowledged(&Acknowledged { in_flight_before: PMDCS, ..full(&cc, PMDCS) });
        }
        assert_eq!((cc.cwnd(), cc.partial_bytes_acked()), (4 * PMDCS, 4 * PMDCS));
        cc.on_acknowledged(&Acknowledged { in_flight: 0, in_flight_before: PMDCS, ..full(&cc, PMDCS) });
        assert_eq!(cc.partial_bytes_acked(), 0);
    }

    #[test]
    fn fast_retransmit_halves_and_timeout_closes_the_window() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 20 * PMDCS, 1 << 20);
        cc.on_lost(LOST);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10 * PMDCS, 10 * PMDCS));
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (PMDCS, 5 * PMDCS));
        cc.on_lost(LOST);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (4 * PMDCS, 4 * PMDCS));
    }

    #[test]
    fn slow_start_includes_ssthresh_and_what_exceeds_a_window_counts_towards_the_next() {
        let state = |cc: &SctpController| (cc.cwnd(), cc.ssthresh(), cc.partial_bytes_acked());
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 10 * PMDCS, 10 * PMDCS);
        assert!(cc.in_slow_start());
        cc.on_acknowledged(&full(&cc, PMDCS));
        assert_eq!(state(&cc), (11 * PMDCS, 10 * PMDCS, 0));
        assert!(!cc.in_slow_start());
        cc.on_acknowledged(&full(&cc, 9 * PMDCS));
        assert_eq!(state(&cc), (11 * PMDCS, 10 * PMDCS, 9 * PMDCS));
        cc.on_acknowledged(&full(&cc, 5 * PMDCS));
        assert_eq!(state(&cc), (12 * PMDCS, 10 * PMDCS, 3 * PMDCS));
        let mut twin = cc.clone();
        cc.on_lost(LOST);
        assert_eq!(state(&cc), (6 * PMDCS, 6 * PMDCS, 0));
        twin.on_timed_out(timed_out(LossEvent::New));
        assert_eq!(state(&twin), (PMDCS, 6 * PMDCS, 0));
    }

    #[test]
    fn a_lower_mtu_is_what_the_window_grows_by_and_closes_to() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 20 * PMDCS, 1 << 20);
        cc.set_segment_bytes(1_000);
        cc.on_acknowledged(&full(&cc, 4 * PMDCS));
        assert_eq!(cc.cwnd(), 20 * PMDCS + 1_000);
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000, 10 * PMDCS + 500));
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!(cc.ssthresh(), 4_000);
    }

    #[test]
    fn a_timeout_for_a_known_loss_closes_the_window_and_keeps_ssthresh() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 40 * PMDCS, 1 << 20);
        cc.on_lost(LOST);
        cc.on_timed_out(timed_out(LossEvent::Known));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (PMDCS, 20 * PMDCS));
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (PMDCS, 4 * PMDCS));
    }

    #[test]
    fn an_idle_window_decays_once_per_rto_and_never_opens() {
        let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, 64 * PMDCS, 1 << 20);
        cc.on_idle(2);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (16 * PMDCS, 64 * PMDCS));
        cc.on_idle(1_000);
        assert_eq!(cc.cwnd(), 4 * PMDCS);
        cc.on_timed_out(timed_out(LossEvent::New));
        cc.on_idle(1_000);
        assert_eq!(cc.cwnd(), PMDCS);
    }

    #[test]
    fn a_mark_halves_even_a_window_that_a_fast_retransmission_keeps() {
        let policy = SctpPolicy { fast_retransmit: FastRetransmitWindow::Keep, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, PMDCS, 20 * PMDCS, 1 << 20);
        cc.on_marked(LOST);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10 * PMDCS, 10 * PMDCS));
        cc.limit_cwnd(9 * PMDCS);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (9 * PMDCS, 10 * PMDCS));
    }

    #[test]
    fn longer_round_trips_end_the_first_slow_start_if_the_policy_says_so() {
        let policy = SctpPolicy { slow_start: SlowStart::HyStartPlusPlus, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, 1_000, 10_000, 1 << 30);
        let round = |cc: &mut SctpController, round_trip_ms| {
            for ack in 0..8 {
                let round_trip = Some(slantpath_base::Duration::from_millis(round_trip_ms));
                cc.on_acknowledged(&Acknowledged { round_trip, starts_round: ack == 0, ..full(cc, 1_000) });
            }
        };
        round(&mut cc, 100);
        for _ in 0..5 {
            round(&mut cc, 120);
        }
        assert_eq!((cc.cwnd(), cc.ssthresh()), (34_000, 1 << 30));
        let mut lost = cc.clone();
        cc.on_acknowledged(&Acknowledged { starts_round: true, ..full(&cc, 1_000) });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (34_250, 34_250));
        // After a loss slow start is standard.
        lost.on_timed_out(timed_out(LossEvent::New));
        lost.on_acknowledged(&Acknowledged { starts_round: true, ..full(&lost, 8_000) });
        assert_eq!((lost.cwnd(), lost.ssthresh()), (2_000, 17_000));
    }

    #[test]
    fn a_kept_window_outlives_a_fast_retransmission_but_no_timeout() {
        let policy = SctpPolicy { fast_retransmit: FastRetransmitWindow::Keep, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, PMDCS, 20 * PMDCS, 1 << 20);
        cc.on_lost(LOST);
        assert_eq!(cc.cwnd(), 20 * PMDCS);
        cc.on_timed_out(timed_out(LossEvent::New));
        assert_eq!(cc.cwnd(), PMDCS);
    }

    #[test]
    fn a_fixed_window_stays_whatever_happens() {
        let policy = SctpPolicy { window: WindowPolicy::Fixed { cwnd: 96_000 }, ..SctpPolicy::default() };
        let mut cc = SctpController::new(policy, PMDCS, 4_404, 1 << 20);
        cc.on_acknowledged(&full(&cc, PMDCS));
        cc.on_lost(LOST);
        cc.on_timed_out(timed_out(LossEvent::New));
        cc.on_marked(LOST);
        cc.limit_cwnd(PMDCS);
        cc.on_idle(9);
        assert_eq!(cc.cwnd(), 96_000);
    }

    proptest! {
        #[test]
        fn one_sack_never_adds_more_than_one_chunk(
            cwnd in PMDCS..200 * PMDCS,
            ssthresh in PMDCS..200 * PMDCS,
            sacks in proptest::collection::vec((0..20 * PMDCS, any::<bool>()), 1..50),
        ) {
            let mut cc = SctpController::new(SctpPolicy::default(), PMDCS, cwnd, ssthresh);
            for (newly_acked, is_full) in sacks {
                let before = cc.cwnd();
                let in_flight_before = if is_full { before } else { 0 };
                cc.on_acknowledged(&Acknowledged { in_flight_before, ..full(&cc, newly_acked) });
                prop_assert!(cc.cwnd() <= before + PMDCS && cc.cwnd() >= before);
                prop_assert!(is_full || cc.cwnd() == before);
            }
        }
    }
}
