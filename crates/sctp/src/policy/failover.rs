//! Thresholds of a path's error counter at which it stops carrying new DATA (RFC 9260, section 8.2; RFC 7829).

use crate::path::PathState;

/// SCTP-PF: whether a path that has missed a few answers is passed over before it counts as inactive (RFC 7829,
/// section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PotentiallyFailed {
    /// From this many consecutive timeouts on, one not included: PotentiallyFailed.Max.Retrans. RFC 7829, section 6,
    /// recommends 0.
    Above(u32),
    /// RFC 9260: there is no such state.
    #[default]
    Off,
}

/// Primary Path Switchover: whether the path that takes over becomes the primary one (RFC 7829, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimarySwitchover {
    /// Beyond this many consecutive timeouts on the primary path: Primary.Switchover.Max.Retrans.
    Above(u32),
    /// New DATA returns to the primary path as soon as it answers.
    //= https://www.rfc-editor.org/rfc/rfc7829#section-5
    //# It MUST be possible to disable the Primary Path Switchover
    //# operation and obtain the standard switchback operation of
    //# [RFC4960].
    #[default]
    Off,
}

/// Thresholds that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Primary.Switchover.Max.Retrans of {given} is less than {least}, where the path stops carrying new data: \
     let it be {least} or more"
)]
pub struct SwitchoverTooEarly {
    /// Value that was asked for.
    pub given: u32,
    /// The least that RFC 7829, section 5, allows.
    pub least: u32,
}

/// The thresholds of every path of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailoverThresholds {
    /// Path.Max.Retrans.
    pub path_max_retrans: u32,
    /// PotentiallyFailed.Max.Retrans.
    pub potentially_failed: PotentiallyFailed,
    /// Primary.Switchover.Max.Retrans.
    pub primary_switchover: PrimarySwitchover,
}

impl FailoverThresholds {
    /// Refuses a switchover before the path stops carrying new DATA.
    pub fn check(&self) -> Result<(), SwitchoverTooEarly> {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-5
        //# For SCTP-PF
        //# implementations, the PSMR MUST be set greater than or equal to
        //# the PFMR value.  For implementations of [RFC4960], the PSMR MUST
        //# be set greater than or equal to the PMR value.  Implementations
        //# MUST reject any other values of PSMR.
        let least = match self.potentially_failed {
            PotentiallyFailed::Above(limit) => limit,
            PotentiallyFailed::Off => self.path_max_retrans,
        };
        match self.primary_switchover {
            PrimarySwitchover::Above(given) if given < least => Err(SwitchoverTooEarly { given, least }),
            PrimarySwitchover::Above(_) | PrimarySwitchover::Off => Ok(()),
        }
    }

    /// The state of a confirmed path after so many consecutive timeouts.
    pub(crate) const fn state_after(&self, error_count: u32) -> PathState {
        if error_count > self.path_max_retrans {
            return PathState::Inactive;
        }
        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# When the value in
        //# the destination address error counter exceeds PFMR, the endpoint
        //# MUST mark the destination address as in the PF state.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# If PFMR is set to be greater than or equal to PMR, the
        //# resulting PF threshold will be so high that the destination
        //# address will reach the inactive state before it can be
        //# classified as PF.
        match self.potentially_failed {
            PotentiallyFailed::Above(limit) if error_count > limit => PathState::PotentiallyFailed,
            PotentiallyFailed::Above(_) | PotentiallyFailed::Off => PathState::Active,
        }
    }

    /// Tells if the primary path gives its rank to the one that carries new DATA after so many timeouts.
    pub(crate) const fn switches_after(&self, error_count: u32) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-5
        //# When the path error counter on a set primary path exceeds PSMR,
        //# the SCTP implementation MUST autonomously select and set a new
        //# primary path.
        matches!(self.primary_switchover, PrimarySwitchover::Above(limit) if error_count > limit)
    }

    /// Value at which the error counter of a path stops.
    pub(crate) const fn last_counted(&self) -> u32 {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //= type=exception
        //= reason=Once all paths are inactive, only the counters tell which may still work (RFC 7829, section 4).
        //# After this, the endpoint SHOULD continue
        //# sending HEARTBEAT chunks on this destination address but SHOULD stop
        //# increasing the counter.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-4.1
        //# The exact limit to
        //# apply is not specified in this document, but it is considered
        //# reasonable enough to require that the limit be an order of
        //# magnitude higher than the PMR value.
        let limit = self.path_max_retrans.saturating_add(1).saturating_mul(10);
        match self.primary_switchover {
            PrimarySwitchover::Above(switchover) if switchover >= limit => switchover.saturating_add(1),
            PrimarySwitchover::Above(_) | PrimarySwitchover::Off => limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn thresholds(potentially_failed: PotentiallyFailed) -> FailoverThresholds {
        FailoverThresholds {
            path_max_retrans: 2,
            potentially_failed,
            primary_switchover: PrimarySwitchover::Off,
        }
    }

    #[test]
    fn a_path_goes_from_active_over_potentially_failed_to_inactive() {
        use PathState::{Active, Inactive, PotentiallyFailed as Failing};
        let states = |of: FailoverThresholds| [0, 1, 2, 3].map(|count| of.state_after(count));
        assert_eq!(states(thresholds(PotentiallyFailed::Off)), [Active, Active, Active, Inactive]);
        assert_eq!(states(thresholds(PotentiallyFailed::Above(0))), [Active, Failing, Failing, Inactive]);
        assert_eq!(states(thresholds(PotentiallyFailed::Above(1))), [Active, Active, Failing, Inactive]);
        assert_eq!(states(thresholds(PotentiallyFailed::Above(2))), [Active, Active, Active, Inactive]);
    }

    #[test]
    fn a_switchover_before_the_path_is_given_up_is_refused() {
        let check = |potentially_failed, at| {
            let primary_switchover = PrimarySwitchover::Above(at);
            FailoverThresholds { primary_switchover, ..thresholds(potentially_failed) }.check().is_ok()
        };
        assert_eq!([0, 1, 2, 3].map(|at| check(PotentiallyFailed::Off, at)), [false, false, true, true]);
        assert_eq!([0, 1, 2].map(|at| check(PotentiallyFailed::Above(1), at)), [false, true, true]);
        assert!(thresholds(PotentiallyFailed::Off).check().is_ok());
    }

    #[test]
    fn the_counter_goes_on_beyond_every_threshold_and_then_stops() {
        let stops = |primary_switchover| {
            FailoverThresholds { primary_switchover, ..thresholds(PotentiallyFailed::Off) }.last_counted()
        };
        assert_eq!(stops(PrimarySwitchover::Off), 30);
        assert_eq!(stops(PrimarySwitchover::Above(5)), 30);
        assert_eq!(stops(PrimarySwitchover::Above(29)), 30);
        assert_eq!(stops(PrimarySwitchover::Above(30)), 31);
        assert_eq!(thresholds(PotentiallyFailed::Above(0)).last_counted(), 30);
    }
}
