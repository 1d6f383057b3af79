//! How long SCTP takes to leave a path, and with how many repetitions it may.

use slantpath_base::Duration;

/// What a failure of the path costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// Path.Max.Retrans, or PotentiallyFailed.Max.Retrans of RFC 7829: repetitions on the path before it is left.
    pub repetitions: u32,
    /// Until the other path is taken: the sum of the time-outs.
    pub detection: Duration,
    /// Until what is repeated there arrives: a one-way trip more.
    pub in_all: Duration,
}

/// Repetitions are counted up to here: more of them never end in a time that anybody asks for.
const MOST: u32 = 20;

/// The sum of `repetitions` + 1 time-outs, which double from `rto` on up to `rto_max` (RFC 9260, sections 6.3.3 and
/// 8.2).
pub(crate) fn detection(rto: Duration, rto_max: Duration, repetitions: u32) -> Duration {
    let mut sum = Duration::ZERO;
    let mut next = rto;
    for _ in 0..=repetitions {
        sum = sum.saturating_add(next);
        next = next.saturating_mul(2).min(rto_max.max(rto));
    }
    sum
}

/// The most repetitions that leave the path in time, or `None` if the first time-out is too late already. `one_way` is
/// that of the path that is taken then.
pub fn failover(within: Duration, rto: Duration, rto_max: Duration, one_way: Duration) -> Option<Failover> {
    let cost = |repetitions| {
        let detection = detection(rto, rto_max, repetitions);
        Failover { repetitions, detection, in_all: detection.saturating_add(one_way) }
    };
    (0..=MOST).map(cost).take_while(|cost| cost.in_all <= within).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn time_outs_double_up_to_the_greatest() {
        let after = |repetitions| detection(millis(250), millis(800), repetitions);
        assert_eq!([0, 1, 2, 3].map(after), [millis(250), millis(750), millis(1_550), millis(2_350)]);
        // A greatest that is below the least counts as that.
        assert_eq!(detection(millis(250), millis(100), 3), millis(1_000));
    }

    #[test]
    fn as_many_repetitions_as_there_is_time_for() {
        let within = |within| failover(millis(within), millis(100), millis(400), millis(50));
        assert_eq!(within(149), None);
        assert_eq!(within(150).map(|cost| (cost.repetitions, cost.in_all)), Some((0, millis(150))));
        assert_eq!(within(749).map(|cost| (cost.repetitions, cost.detection)), Some((1, millis(300))));
        assert_eq!(within(750).map(|cost| (cost.repetitions, cost.detection)), Some((2, millis(700))));
        assert_eq!(within(u64::MAX / 2_000_000).map(|cost| cost.repetitions), Some(MOST));
    }
}
