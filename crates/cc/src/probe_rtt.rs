//! ProbeRTT, which both versions of BBR have: for a while so little is in flight that the least round trip shows.

use slantpath_base::{Duration, Instant};

use crate::control::Acknowledged;

/// Time for which no more is in flight, once that little is (BBR.ProbeRTTDuration).
pub(crate) const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// Stage that ProbeRTT has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeRtt {
    /// More is in flight than its window.
    Falling,
    /// Until this time, and for a round.
    Held { until: Instant, has_lasted_a_round: bool },
}

impl ProbeRtt {
    /// Stage after an acknowledgement, which may begin a round.
    pub(crate) fn advance(self, acknowledged: &Acknowledged, window: u64, starts_round: bool) -> Self {
        match self {
            Self::Falling if acknowledged.in_flight <= window => {
                Self::Held { until: acknowledged.now + PROBE_RTT_TIME, has_lasted_a_round: false }
            }
            Self::Falling => self,
            Self::Held { until, has_lasted_a_round } => {
                Self::Held { until, has_lasted_a_round: has_lasted_a_round || starts_round }
            }
        }
    }

    pub(crate) const fn has_lasted_a_round(self) -> bool {
        matches!(self, Self::Held { has_lasted_a_round: true, .. })
    }

    /// Tells if its time is over, although a round may not be.
    pub(crate) fn is_over(self, now: Instant) -> bool {
        matches!(self, Self::Held { until, .. } if now > until)
    }
}

/// Tells if the newest segment that has arrived was sent while the application was the limit, or ProbeRTT, which limits
/// what is sent until so much is delivered.
pub(crate) fn is_limited(acknowledged: &Acknowledged, until_delivered: u64) -> bool {
    acknowledged.delivery.is_some_and(|sample| sample.is_application_limited)
        || acknowledged.counts.newest.is_some_and(|newest| newest.delivered() < until_delivered)
}
