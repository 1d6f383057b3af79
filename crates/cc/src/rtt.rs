//! The retransmission timeout of TCP (RFC 6298) and of one SCTP path (RFC 9260, section 6.3.1), in whole
//! nanoseconds.

use slantpath_base::Duration;

use crate::BackOff;

/// The constants of the estimator. Both RFCs use the same numbers; they differ in what the clock's
/// granularity does to a variance of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The timeout before the first measurement.
    pub initial: Duration,
    /// No timeout is shorter.
    pub min: Duration,
    /// No timeout is longer, backed off or not.
    pub max: Duration,
    /// One over alpha, the weight of a sample in SRTT. Not zero.
    pub alpha_inverse: u64,
    /// One over beta, the weight of a deviation in RTTVAR. Not zero.
    pub beta_inverse: u64,
    /// K, the factor of RTTVAR in the timeout.
    pub k: u64,
    /// G, the granularity of the clock. A simulated clock ticks in nanoseconds; a coarser value imitates a
    /// system that measures in ticks.
    pub granularity: Duration,
    /// Place of the granularity in the formula of the timeout.
    pub granularity_rule: GranularityRule,
    /// Growth of the timeout when it expires.
    pub back_off: BackOff,
}

/// Quantity that the granularity G keeps from becoming zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GranularityRule {
    /// The term beside SRTT: `max(G, K * RTTVAR)` (RFC 6298, section 2).
    FloorOfMargin,
    /// RTTVAR itself: G in place of zero (RFC 9260, section 6.3.1, rule G1).
    ReplacesZeroVariance,
}

impl RtoConfig {
    /// RFC 6298: 1 s initially and at least, at most 60 s, the shortest maximum that rule 2.5 allows.
    pub const fn tcp() -> Self {
        Self {
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
            alpha_inverse: 8,
            beta_inverse: 4,
            k: 4,
            granularity: Duration::from_nanos(1),
            granularity_rule: GranularityRule::FloorOfMargin,
            back_off: BackOff::Double,
        }
    }

    /// RFC 9260, section 16: RTO.Initial 1 s, RTO.Min 1 s, RTO.Max 60 s, RTO.Alpha 1/8, RTO.Beta 1/4.
    pub const fn sctp() -> Self {
        Self { granularity_rule: GranularityRule::ReplacesZeroVariance, ..Self::tcp() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Smoothed {
    srtt: Duration,
    rttvar: Duration,
}

/// Turns round-trip times into a retransmission timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
// In this order in memory: the timeout is asked for with each packet, the constants once a round trip.
#[repr(C)]
pub struct RttEstimator {
    rto: Duration,
    smoothed: Option<Smoothed>,
    config: RtoConfig,
}

impl RttEstimator {
    /// An estimator without a measurement.
    ///
    /// # Panics
    /// If a weight is one over zero, or the least timeout is longer than the longest.
    pub fn new(config: RtoConfig) -> Self {
        assert!(config.alpha_inverse > 0 && config.beta_inverse > 0, "a weight is one over zero");
        assert!(config.min <= config.max, "the least timeout, {}, exceeds the longest", config.min);
        Self { config, smoothed: None, rto: config.initial.min(config.max) }
    }

    /// Takes in one round-trip time, which must not come from a retransmitted packet (Karn), and ends any
    /// back-off.
    //= https://www.rfc-editor.org/rfc/rfc6298#section-2
    //# RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|
    //# SRTT <- (1 - alpha) * SRTT + alpha * R'
    pub fn sample(&mut self, rtt: Duration) {
        let mut smoothed = match self.smoothed {
            None => Smoothed { srtt: rtt, rttvar: rtt / 2 },
            Some(Smoothed { srtt, rttvar }) => Smoothed {
                // RTTVAR first: it is computed with the SRTT of before.
                rttvar: approach(rttvar, srtt.abs_diff(rtt), self.config.beta_inverse),
                srtt: approach(srtt, rtt, self.config.alpha_inverse),
            },
        };
        if self.config.granularity_rule == GranularityRule::ReplacesZeroVariance && smoothed.rttvar.is_zero()
        {
            smoothed.rttvar = self.config.granularity;
        }
        self.smoothed = Some(smoothed);
        self.rto = self.measured_rto(smoothed);
    }

    /// Backs the timeout off, up to the maximum (RFC 6298, rule 5.5; RFC 9260, section 6.3.3, rule E2).
    pub fn back_off(&mut self) {
        self.rto = self.config.back_off.applied_to(self.rto).min(self.config.max);
    }

    /// Forgets the back-off: the timeout is again what the measurements say, or the initial one.
    pub fn clear_back_off(&mut self) {
        self.rto = match self.smoothed {
            Some(smoothed) => self.measured_rto(smoothed),
            None => self.config.initial.min(self.config.max),
        };
    }

    /// Raises the timeout to at least `floor`, within the maximum, until the next sample.
    //= https://www.rfc-editor.org/rfc/rfc6298#section-5
    //# If the timer expires awaiting the ACK of a SYN segment and the
    //# TCP implementation is using an RTO less than 3 seconds, the RTO
    //# MUST be re-initialized to 3 seconds when data transmission
    //# begins
    pub fn raise_to(&mut self, floor: Duration) {
        self.rto = self.rto.max(floor).min(self.config.max);
    }

    /// The current retransmission timeout, backed off as it may be.
    pub const fn rto(&self) -> Duration {
        self.rto
    }

    /// The smoothed round-trip time, once there is a measurement.
    pub fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed.srtt)
    }

    /// The round-trip time variation, once there is a measurement.
    pub fn rttvar(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed.rttvar)
    }

    /// Estimates by other settings from now on; the timeout that there is keeps within their bounds.
    ///
    /// # Panics
    /// As [`RttEstimator::new`] does.
    pub fn configure(&mut self, config: RtoConfig) {
        assert!(config.min <= config.max, "the least timeout, {}, exceeds the longest", config.min);
        let begins = self.smoothed.is_none() && self.rto == self.config.initial.min(self.config.max);
        self.config = config;
        self.rto =
            if begins { config.initial.min(config.max) } else { self.rto.clamp(config.min, config.max) };
    }

    /// The constants in use.
    pub const fn config(&self) -> &RtoConfig {
        &self.config
    }

    fn measured_rto(&self, Smoothed { srtt, rttvar }: Smoothed) -> Duration {
        let margin = rttvar.saturating_mul(self.config.k);
        let margin = match self.config.granularity_rule {
            GranularityRule::FloorOfMargin => margin.max(self.config.granularity),
            GranularityRule::ReplacesZeroVariance => margin,
        };
        srtt.saturating_add(margin).clamp(self.config.min, self.config.max)
    }
}

/// `(1 - w) * from + w * to` with `w` one over `weight_inverse`, without the overflow of the plain form.
fn approach(from: Duration, to: Duration, weight_inverse: u64) -> Duration {
    let step = from.abs_diff(to) / weight_inverse;
    if to > from { from + step } else { from - step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn without_floor() -> RtoConfig {
        RtoConfig { min: Duration::ZERO, ..RtoConfig::tcp() }
    }

    #[test]
    fn the_first_sample_sets_srtt_to_it_and_the_variation_to_its_half() {
        let mut rtt = RttEstimator::new(without_floor());
        assert_eq!((rtt.srtt(), rtt.rto()), (None, ms(1_000)));
        rtt.sample(ms(500));
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Some(ms(500)), Some(ms(250)), ms(1_500)));
    }

    #[test]
    fn later_samples_weigh_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new(without_floor());
        rtt.sample(ms(800));
        rtt.sample(ms(1_600));
        // RTTVAR = 3/4 * 400 + 1/4 * |800 - 1600|; SRTT = 7/8 * 800 + 1/8 * 1600.
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Some(ms(900)), Some(ms(500)), ms(2_900)));
        rtt.sample(ms(100));
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (Some(ms(800)), Some(ms(575)), ms(3_100)));
    }

    #[test]
    fn the_timeout_stays_between_its_bounds() {
        let mut rtt = RttEstimator::new(RtoConfig::tcp());
        rtt.sample(ms(10));
        assert_eq!(rtt.rto(), ms(1_000));
        rtt.sample(ms(900_000));
        assert_eq!(rtt.rto(), ms(60_000));
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum_and_a_sample_ends_it() {
        let mut rtt = RttEstimator::new(RtoConfig::sctp());
        rtt.sample(ms(500));
        let doubled: Vec<u64> = (0..7)
            .map(|_| {
                rtt.back_off();
                rtt.rto().as_millis()
            })
            .collect();
        assert_eq!(doubled, [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
        rtt.clear_back_off();
        assert_eq!(rtt.rto(), ms(1_500));
        rtt.back_off();
        rtt.sample(ms(500));
        assert_eq!(rtt.rto(), ms(500) + ms(750));
    }

    #[test]
    fn a_lost_syn_raises_the_timeout_to_three_seconds() {
        let mut rtt = RttEstimator::new(RtoConfig::tcp());
        rtt.raise_to(ms(3_000));
        assert_eq!(rtt.rto(), ms(3_000));
        rtt.sample(ms(100));
        assert_eq!(rtt.rto(), ms(1_000));
    }

    #[test]
    fn the_granularity_enters_where_its_rule_says() {
        let coarse = RtoConfig { granularity: ms(10), ..without_floor() };
        let coarse_sctp = RtoConfig { min: coarse.min, granularity: coarse.granularity, ..RtoConfig::sctp() };
        let (mut tcp, mut sctp) = (RttEstimator::new(coarse), RttEstimator::new(coarse_sctp));
        tcp.sample(Duration::ZERO);
        sctp.sample(Duration::ZERO);
        assert_eq!((tcp.rto(), sctp.rto()), (ms(10), ms(40)));
    }

    #[test]
    fn a_constant_round_trip_shrinks_the_margin_to_the_granularity() {
        let mut rtt = RttEstimator::new(without_floor());
        for _ in 0..200 {
            rtt.sample(ms(560));
        }
        assert!(rtt.rto().saturating_sub(ms(560)) < Duration::from_nanos(20), "{}", rtt.rto());
    }

    proptest! {
        #[test]
        fn any_samples_keep_the_timeout_in_its_bounds(
            samples in proptest::collection::vec((any::<u64>(), any::<bool>()), 1..50),
        ) {
            let config = RtoConfig::sctp();
            let mut rtt = RttEstimator::new(config);
            let (mut low, mut high) = (u64::MAX, 0);
            for (nanos, backs_off) in samples {
                rtt.sample(Duration::from_nanos(nanos));
                (low, high) = (low.min(nanos), high.max(nanos));
                if backs_off {
                    rtt.back_off();
                }
                prop_assert!((config.min..=config.max).contains(&rtt.rto()));
                let srtt = rtt.srtt().unwrap().as_nanos();
                prop_assert!((low..=high).contains(&srtt));
            }
        }
    }
}
