//! Growth of the retransmission timeout when it expires.

use slantpath_base::Duration;

/// By how much the timeout grows when it expires. The maximum of the estimator holds in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackOff {
    /// Twofold: RFC 6298, rule 5.5, and RFC 9260, section 6.3.3, rule E2.
    #[default]
    Double,
    /// To this percentage of what it was; 100 and less leave it. Grinnemo, Brunstrom 2005, section 5, propose to
    /// study "a more relaxed RTO backoff mechanism"; no RFC allows less than 200.
    Percent(u32),
}

impl BackOff {
    /// The timeout after an expiry, before the maximum is applied.
    pub(crate) fn applied_to(self, rto: Duration) -> Duration {
        match self {
            Self::Double => rto.saturating_mul(2),
            Self::Percent(percent) => rto.saturating_mul(u64::from(percent.max(100))) / 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_never_shortens_the_timeout() {
        let rto = Duration::from_millis(80);
        let after = |back_off: BackOff| back_off.applied_to(rto).as_millis();
        assert_eq!([BackOff::Double, BackOff::Percent(150), BackOff::Percent(0)].map(after), [160, 120, 80]);
    }
}
