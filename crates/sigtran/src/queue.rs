//! Limits of the messages that wait for a peer, and the number from which on that is congestion.

use crate::asp::ConfigError;

/// Limits of a queue, in messages: abatement is below onset, and onset below the limit, so that congestion is told
/// before anything is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// The most that wait. More are dropped and counted.
    pub max: usize,
    /// From how many on congestion is told, below `max`.
    pub onset: usize,
    /// From how few on its end is told, below `onset`.
    pub abatement: usize,
}

impl QueueLimits {
    /// A limit with usual thresholds: congestion from half of it on, and until no more than a quarter waits.
    pub const fn of(max: usize) -> Self {
        Self { max, onset: max.div_ceil(2), abatement: max / 4 }
    }

    /// Checks that the limits do not contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { max, onset, abatement } = *self;
        in_range("queue limit", max, 2, usize::MAX)?;
        in_range("congestion onset", onset, 1, max - 1)?;
        in_range("congestion abatement", abatement, 0, onset - 1)
    }

    /// Tells whether so many are congestion, after it was or was not: it begins at the onset and ends at the abatement.
    pub const fn is_congested(&self, waiting: usize, was_congested: bool) -> bool {
        if was_congested { waiting > self.abatement } else { waiting >= self.onset }
    }
}

impl Default for QueueLimits {
    /// 4,096 messages are the 2 seconds of T(r) at about 2,000 messages a second.
    fn default() -> Self {
        Self::of(4_096)
    }
}

fn in_range(what: &'static str, value: usize, min: usize, max: usize) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let (value, min, max) = (value as u64, min as u64, max as u64);
    Err(ConfigError::NumberOutOfRange { what, value, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_lie_below_the_limit_and_in_order() {
        let check = |max, onset, abatement| QueueLimits { max, onset, abatement }.check();
        let wrong = |what, value, min, max| Err(ConfigError::NumberOutOfRange { what, value, min, max });
        for max in 2..100 {
            assert_eq!(QueueLimits::of(max).check(), Ok(()));
        }
        assert_eq!(check(1, 1, 0), wrong("queue limit", 1, 2, usize::MAX as u64));
        assert_eq!(check(10, 10, 1), wrong("congestion onset", 10, 1, 9));
        assert_eq!(check(10, 0, 0), wrong("congestion onset", 0, 1, 9));
        assert_eq!(check(10, 9, 9), wrong("congestion abatement", 9, 0, 8));
    }

    #[test]
    fn congestion_lasts_from_the_onset_to_the_abatement() {
        let limits = QueueLimits { max: 10, onset: 6, abatement: 3 };
        let mut is_congested = false;
        let mut status = |waiting| {
            is_congested = limits.is_congested(waiting, is_congested);
            is_congested
        };
        assert_eq!(
            [0, 5, 6, 10, 4, 3, 5, 6].map(&mut status),
            [false, false, true, true, true, false, false, true]
        );
    }
}
