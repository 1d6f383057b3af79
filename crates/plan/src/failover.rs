//! Time that SCTP takes to leave a path.

use slantpath_base::Duration;

/// Sum of `retransmissions` + 1 time-outs, which double from `rto` on up to `rto_max` (RFC 9260, sections 6.3.3 and
/// 8.2).
pub(crate) fn detection(rto: Duration, rto_max: Duration, retransmissions: u32) -> Duration {
    let mut sum = Duration::ZERO;
    let mut next = rto;
    for _ in 0..=retransmissions {
        sum = sum.saturating_add(next);
        next = next.saturating_mul(2).min(rto_max.max(rto));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn time_outs_double_up_to_the_greatest() {
        let after = |retransmissions| detection(millis(250), millis(800), retransmissions);
        assert_eq!([0, 1, 2, 3].map(after), [millis(250), millis(750), millis(1_550), millis(2_350)]);
        // A greatest that is below the least counts as that.
        assert_eq!(detection(millis(250), millis(100), 3), millis(1_000));
    }
}
