//! The greatest of what was measured lately, in constant space: the filter of Kathleen Nichols, which keeps the best
//! three measurements of a window, each from a later part of it.
//!
//! Time is a count of whatever the caller chooses: round trips, cycles of a probe.

/// A maximum over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowedMax {
    /// The greatest, the greatest after it, and the greatest after that.
    best: [Measured; 3],
    /// The window and the time by which a measurement less than all of these has changed nothing, so that the next such
    /// one of the same time will not either.
    settled: (u64, u64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measured {
    at: u64,
    value: u64,
}

impl WindowedMax {
    /// The maximum; zero before anything was measured.
    pub(crate) const fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Forgets everything but `value`.
    pub(crate) const fn reset(&mut self, at: u64, value: u64) {
        *self = Self { best: [Measured { at, value }; 3], settled: UNSETTLED };
    }

    /// Takes in `value`, measured `at` a time not before that of the last one. What is older than `window` is
    /// forgotten.
    #[inline]
    pub(crate) fn update(&mut self, window: u64, at: u64, value: u64) {
        // Most of what is measured in a round.
        if value >= self.best[2].value || self.settled != (window, at) {
            self.take(window, at, value);
        }
    }

    #[inline(never)]
    fn take(&mut self, window: u64, at: u64, value: u64) {
        let measured = Measured { at, value };
        self.settled = UNSETTLED;
        if value >= self.best[0].value || at - self.best[2].at > window {
            self.reset(at, value);
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = measured;
            self.best[2] = measured;
        } else if value >= self.best[2].value {
            self.best[2] = measured;
        }
        let age = at - self.best[0].at;
        if age > window {
            self.best = [self.best[1], self.best[2], measured];
            if at - self.best[0].at > window {
                self.best = [self.best[1], self.best[2], measured];
            }
        } else if self.best[1].at == self.best[0].at && age > window / 4 {
            // A quarter of the window has passed without a second one: the next best is to come from a later quarter.
            self.best[1] = measured;
            self.best[2] = measured;
        } else if self.best[2].at == self.best[1].at && age > window / 2 {
            self.best[2] = measured;
        } else if value < self.best[2].value {
            self.settled = (window, at);
        }
    }
}

/// No window is empty.
const UNSETTLED: (u64, u64) = (0, 0);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_greatest_of_a_window_stands_until_it_is_older_than_that() {
        let mut filter = WindowedMax::default();
        let after = [(0, 50), (1, 90), (2, 70), (5, 80), (9, 60), (11, 40), (12, 40), (15, 30), (16, 30)]
            .map(|(at, value)| {
                filter.update(10, at, value);
                filter.get()
            });
        assert_eq!(after, [50, 90, 90, 90, 90, 90, 80, 80, 60]);
    }

    /// Measurements that are remembered after such ones within a window of eight.
    fn remembered(measurements: &[(u64, u64)]) -> [(u64, u64); 3] {
        let mut filter = WindowedMax::default();
        filter.reset(0, 50);
        for (at, value) in measurements {
            filter.update(8, *at, *value);
        }
        filter.best.map(|measured| (measured.at, measured.value))
    }

    #[test]
    fn the_second_best_comes_from_the_second_quarter_and_the_third_from_the_second_half() {
        assert_eq!(remembered(&[(1, 10), (2, 10)]), [(0, 50); 3]);
        assert_eq!(remembered(&[(3, 10), (4, 5)]), [(0, 50), (3, 10), (3, 10)]);
        assert_eq!(remembered(&[(3, 10), (5, 5), (8, 1)]), [(0, 50), (3, 10), (5, 5)]);
    }

    #[test]
    fn what_is_as_old_as_the_window_counts_and_what_is_older_does_not() {
        assert_eq!(remembered(&[(3, 10), (5, 5), (11, 1)]), [(3, 10), (5, 5), (11, 1)]);
        assert_eq!(remembered(&[(3, 10), (5, 5), (13, 1)]), [(5, 5), (13, 1), (13, 1)]);
        assert_eq!(remembered(&[(3, 10), (5, 5), (14, 1)]), [(14, 1); 3]);
    }

    proptest! {
        #[test]
        fn what_is_passed_over_would_have_changed_nothing(
            steps in proptest::collection::vec((0_u64..20, 0_u64..12, 1_u64..12), 1..300),
        ) {
            let (mut filter, mut slow, mut at) = (WindowedMax::default(), WindowedMax::default(), 0);
            for (step, value, window) in steps {
                // Most come at the same time as the one before, with the same window.
                at += step.saturating_sub(17);
                let window = if step < 15 { 8 } else { window };
                filter.update(window, at, value);
                slow.take(window, at, value);
                prop_assert_eq!(filter.best, slow.best);
            }
        }

        #[test]
        fn it_is_never_less_than_the_newest_nor_more_than_the_greatest_of_the_window(
            steps in proptest::collection::vec((0_u64..4, 0_u64..1_000), 1..200), window in 1_u64..20,
        ) {
            let mut filter = WindowedMax::default();
            let (mut at, mut all) = (0, Vec::new());
            for (step, value) in steps {
                at += step;
                all.push((at, value));
                filter.update(window, at, value);
                let greatest = all.iter().filter(|(then, _)| at - then <= window).map(|(_, value)| *value).max();
                prop_assert!(filter.get() >= value);
                prop_assert!(Some(filter.get()) <= greatest);
            }
        }
    }
}
