//! The timers of Q.704, section 16.8, and of Q.707, section 5.5, with the ranges that they may be set in.

use core::fmt;
use slantpath_base::Duration;

/// A timer of MTP3 by its name in the Recommendations. T9 of Q.704 is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mtp3Timer {
    /// Delay to avoid mis-sequencing on changeover.
    T1,
    /// Waiting for changeover acknowledgement.
    T2,
    /// Time-controlled diversion: delay to avoid mis-sequencing on changeback.
    T3,
    /// Waiting for changeback acknowledgement, first attempt.
    T4,
    /// Waiting for changeback acknowledgement, second attempt.
    T5,
    /// Delay to avoid mis-sequencing on controlled rerouting.
    T6,
    /// Waiting for signalling data link connection acknowledgement.
    T7,
    /// Transfer prohibited inhibition.
    T8,
    /// Waiting to repeat the signalling route set test.
    T10,
    /// Transfer restricted timer.
    T11,
    /// Waiting for uninhibit acknowledgement.
    T12,
    /// Waiting for force uninhibit.
    T13,
    /// Waiting for inhibition acknowledgement.
    T14,
    /// Waiting to start the signalling route set congestion test.
    T15,
    /// Waiting for route set congestion status update.
    T16,
    /// Delay to avoid oscillation of initial alignment failure and link restart.
    T17,
    /// Restart of a transfer point: links come up and routing information is received.
    T18,
    /// Supervision during restart, against ping-pong of TFP, TFR and TRA.
    T19,
    /// Overall restart timer at the point that restarts.
    T20,
    /// Overall restart timer at a point adjacent to one that restarts.
    T21,
    /// Local inhibit test.
    T22,
    /// Remote inhibit test.
    T23,
    /// Stabilizing after removal of a local processor outage.
    T24,
    /// Q.707's T1: supervision of the signalling link test acknowledgement.
    TestT1,
    /// Q.707's T2: interval between signalling link tests.
    TestT2,
}

impl fmt::Display for Mtp3Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TestT1 => f.write_str("T1 of Q.707"),
            Self::TestT2 => f.write_str("T2 of Q.707"),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// Range of a timer, and its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerRange {
    /// Timer that the range is for.
    pub timer: Mtp3Timer,
    /// The least value.
    pub least: Duration,
    /// The greatest value.
    pub most: Duration,
    /// The value unless set.
    pub default: Duration,
}

const fn ms(timer: Mtp3Timer, least: u64, default: u64, most: u64) -> TimerRange {
    TimerRange {
        timer,
        least: Duration::from_millis(least),
        most: Duration::from_millis(most),
        default: Duration::from_millis(default),
    }
}

/// Every timer with its range. Defaults are the middle of the range, rounded; T24's only value is provisional in
/// the Recommendation, and T18 depends on the network: its range here is what fits inside T20.
pub const TIMER_RANGES: [TimerRange; 25] = [
    ms(Mtp3Timer::T1, 500, 800, 1_200),
    ms(Mtp3Timer::T2, 700, 1_400, 2_000),
    ms(Mtp3Timer::T3, 500, 800, 1_200),
    ms(Mtp3Timer::T4, 500, 800, 1_200),
    ms(Mtp3Timer::T5, 500, 800, 1_200),
    ms(Mtp3Timer::T6, 500, 800, 1_200),
    ms(Mtp3Timer::T7, 1_000, 1_500, 2_000),
    ms(Mtp3Timer::T8, 800, 1_000, 1_200),
    ms(Mtp3Timer::T10, 30_000, 45_000, 60_000),
    ms(Mtp3Timer::T11, 30_000, 60_000, 90_000),
    ms(Mtp3Timer::T12, 800, 1_200, 1_500),
    ms(Mtp3Timer::T13, 800, 1_200, 1_500),
    ms(Mtp3Timer::T14, 2_000, 2_500, 3_000),
    ms(Mtp3Timer::T15, 2_000, 2_500, 3_000),
    ms(Mtp3Timer::T16, 1_400, 1_700, 2_000),
    ms(Mtp3Timer::T17, 800, 1_200, 1_500),
    ms(Mtp3Timer::T18, 2_000, 20_000, 58_000),
    ms(Mtp3Timer::T19, 67_000, 68_000, 69_000),
    ms(Mtp3Timer::T20, 59_000, 60_000, 61_000),
    ms(Mtp3Timer::T21, 63_000, 64_000, 65_000),
    ms(Mtp3Timer::T22, 180_000, 270_000, 360_000),
    ms(Mtp3Timer::T23, 180_000, 270_000, 360_000),
    ms(Mtp3Timer::T24, 500, 500, 500),
    ms(Mtp3Timer::TestT1, 4_000, 8_000, 12_000),
    ms(Mtp3Timer::TestT2, 30_000, 60_000, 90_000),
];

/// Values of all timers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timers([Duration; TIMER_RANGES.len()]);

impl Default for Timers {
    fn default() -> Self {
        Self(TIMER_RANGES.map(|range| range.default))
    }
}

impl Timers {
    /// The value of a timer.
    pub const fn value(&self, timer: Mtp3Timer) -> Duration {
        self.0[timer as usize]
    }

    /// Gives the timers with one of them set. The range is checked with the rest of the configuration.
    #[must_use]
    pub const fn with(mut self, timer: Mtp3Timer, value: Duration) -> Self {
        self.0[timer as usize] = value;
        self
    }

    /// The ranges whose values lie outside, with those values.
    pub fn out_of_range(&self) -> impl Iterator<Item = (TimerRange, Duration)> {
        let values = TIMER_RANGES.into_iter().zip(self.0);
        values.filter(|(range, value)| !(range.least..=range.most).contains(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_names() {
        for (at, range) in TIMER_RANGES.iter().enumerate() {
            assert_eq!(range.timer as usize, at);
        }
    }

    #[test]
    fn defaults_lie_inside_their_ranges_and_other_values_are_told() {
        assert_eq!(Timers::default().out_of_range().count(), 0);
        let timers = Timers::default().with(Mtp3Timer::T2, Duration::from_millis(2_001));
        let outside: Vec<_> = timers.out_of_range().map(|(range, value)| (range.timer, value)).collect();
        assert_eq!(outside, [(Mtp3Timer::T2, Duration::from_millis(2_001))]);
    }

    #[test]
    fn a_timer_is_named_as_its_recommendation_does() {
        assert_eq!(
            (Mtp3Timer::T17.to_string(), Mtp3Timer::TestT2.to_string()),
            ("T17".into(), "T2 of Q.707".into())
        );
    }
}
