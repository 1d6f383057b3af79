//! Choice of satellites by a site's antenna: criteria, when they are applied, and how a handover is made.

use slantpath_base::{Angle, Duration};

/// One antenna of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Antenna {
    /// The constellation that it follows; any where none is named.
    pub constellation: Option<String>,
    /// Satellites below this elevation are not used.
    pub min_elevation: Angle,
    /// Policy by which the antenna chooses.
    pub policy: GroundPolicy,
}

/// Policy by which a satellite is chosen and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroundPolicy {
    /// Criterion that decides which of the visible satellites is best.
    pub criterion: Criterion,
    /// Times at which the choice is made.
    pub reselect: Reselect,
    /// Way in which the change is made.
    pub handover: Handover,
}

/// Criterion that decides which of the visible satellites is best. Equals are decided for the lower node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// The highest above the horizon.
    Highest,
    /// The one that serves the fewest antennas; among equals the highest. With [`Reselect::Always`] also when
    /// antennas elsewhere change its load: it is left for one that serves at least two fewer.
    LeastLoaded,
    /// The one that stays visible longest.
    LongestRemaining,
    /// The shortest distance.
    #[default]
    Nearest,
}

/// Times at which a satellite is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reselect {
    /// At every instant: as soon as another is better, it is taken.
    Always,
    /// At fixed times only: every `period`, beginning at `offset` after the start. A satellite is taken that
    /// stays visible to the next such time, if there is one. Starlink reconfigures every 15 s.
    Grid {
        /// Time between choices.
        period: Duration,
        /// The first choice.
        offset: Duration,
    },
    /// As ns-2's terminals do: every `interval` there is a look at the satellite that is held, beginning at `offset`
    /// after the start. It is kept until a look finds it below the minimum elevation; then the one that comes up behind
    /// it in its plane is taken if it is in sight, otherwise the best by the criterion, which is the highest in ns-2.
    Periodic {
        /// Time between looks.
        interval: Duration,
        /// The first look.
        offset: Duration,
    },
    /// Choice at the time when the last satellite sets.
    #[default]
    OnLoss,
}

impl Reselect {
    /// Choice that keeps its dates in a network that starts later by `time`.
    pub(crate) fn after(self, time: Duration) -> Self {
        match self {
            Self::Grid { period, offset } => Self::Grid { period, offset: first_after(time, offset, period) },
            Self::Periodic { interval, offset } => {
                Self::Periodic { interval, offset: first_after(time, offset, interval) }
            }
            Self::Always | Self::OnLoss => self,
        }
    }
}

/// Time from `time` until the next of the instants `offset`, `offset + period` and so on.
fn first_after(time: Duration, offset: Duration, period: Duration) -> Duration {
    let behind = time.as_nanos().saturating_sub(offset.as_nanos());
    match behind.checked_rem(period.as_nanos()) {
        Some(0) | None => offset.saturating_sub(time),
        Some(since_last) => Duration::from_nanos(period.as_nanos() - since_last),
    }
}

/// Transition from the old satellite to the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The old link ends, and the new one carries traffic after a pause.
    BreakBeforeMake {
        /// Length of the pause.
        gap: Duration,
    },
    /// Both links stand for a while, as far as both satellites are visible.
    MakeBeforeBreak {
        /// For how long both stand.
        overlap: Duration,
    },
}

impl Default for Handover {
    /// At once, without pause or overlap.
    fn default() -> Self {
        Self::BreakBeforeMake { gap: Duration::ZERO }
    }
}

impl Antenna {
    /// An antenna for any constellation, that keeps the nearest satellite until it sets.
    pub fn new(min_elevation: Angle) -> Self {
        Self { constellation: None, min_elevation, policy: GroundPolicy::default() }
    }

    /// Antenna that differs in following one constellation.
    #[must_use]
    pub fn of(mut self, constellation: &str) -> Self {
        self.constellation = Some(constellation.to_owned());
        self
    }

    /// Antenna that differs in its policy alone.
    #[must_use]
    pub fn with_policy(mut self, policy: GroundPolicy) -> Self {
        self.policy = policy;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_keep_their_dates_when_the_start_is_later() {
        let seconds = Duration::from_secs;
        let (offset, period) = (seconds(7), seconds(15));
        // Before the first, at the first, between two, at the second.
        for (start, first) in [(0, 7), (4, 3), (7, 0), (8, 14), (21, 1), (22, 0), (23, 14)] {
            let later = Reselect::Grid { period, offset }.after(seconds(start));
            assert_eq!(later, Reselect::Grid { period, offset: seconds(first) }, "{start}");
            let periodic = Reselect::Periodic { interval: period, offset }.after(seconds(start));
            assert_eq!(periodic, Reselect::Periodic { interval: period, offset: seconds(first) }, "{start}");
        }
        assert_eq!(Reselect::Always.after(seconds(9)), Reselect::Always);
    }
}
