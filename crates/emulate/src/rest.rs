//! Rests of a thread of real-time priority, which the kernel would otherwise stop for long.
//!
//! Of each second such threads may use 950 ms (`/proc/sys/kernel/sched_rt_runtime_us`). Whatever uses all of it is then
//! stopped for 50 ms at one time. A thread that rests for less than a millisecond, and often, uses as much and is
//! never stopped: no packet waits for 50 ms.

use slantpath_base::Duration;

/// Time between two looks at what was used.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Looks in a row that found the thread busy, after which that is told: half a second.
const BUSY_LOOKS: u32 = 50;
/// Parts of a million that are left of what the kernel allows: for real-time threads of others.
const MARGIN_PPM: u64 = 20_000;
/// All of a processor, in parts of a million.
pub(crate) const ALL_PPM: u64 = 1_000_000;

/// Account of the processor time of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rests {
    /// Share of the time that may be used, in parts of a million.
    share_ppm: u64,
    busy_looks: u32,
}

impl Rests {
    /// Account of a thread of which the kernel allows this share, in parts of a million.
    pub(crate) fn new(allowed_ppm: u64) -> Self {
        let allowed_ppm = allowed_ppm.min(ALL_PPM);
        Self { share_ppm: allowed_ppm.saturating_sub(MARGIN_PPM).max(allowed_ppm / 2).max(1), busy_looks: 0 }
    }

    /// Takes what was `used` of the time that has `elapsed` since the last look. Gives the time to rest, if more of it
    /// was used than may be.
    pub(crate) fn look(&mut self, elapsed: Duration, used: Duration) -> Option<Duration> {
        let needed = u128::from(used.as_nanos()) * u128::from(ALL_PPM) / u128::from(self.share_ppm);
        let needed = Duration::from_nanos(u64::try_from(needed).unwrap_or(u64::MAX));
        let rest = needed.saturating_sub(elapsed);
        if rest == Duration::ZERO {
            self.busy_looks = 0;
            return None;
        }
        self.busy_looks = self.busy_looks.saturating_add(1);
        // Who was held up by a clock that jumped is not held up for long.
        Some(rest.min(LOOK_EVERY))
    }

    /// Tells if the thread has been busy for half a second without a pause: it cannot carry more.
    pub(crate) const fn is_overloaded(&self) -> bool {
        self.busy_looks >= BUSY_LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_thread_that_is_always_busy_uses_less_than_it_may() {
        let mut rests = Rests::new(950_000);
        let (mut used, mut elapsed, mut longest) = (0, 0, 0);
        while elapsed < 1_000 * MILLISECOND {
            let rest = rests.look(millis(10), millis(10)).unwrap().as_nanos();
            used += 10 * MILLISECOND;
            elapsed += 10 * MILLISECOND + rest;
            longest = longest.max(rest);
        }
        let share = used as f64 / elapsed as f64;
        assert!((0.929..0.931).contains(&share), "{share}");
        assert!(longest < MILLISECOND, "{longest}");
    }

    #[test]
    fn a_thread_that_waits_enough_does_not_rest() {
        let mut rests = Rests::new(950_000);
        assert_eq!(rests.look(Duration::from_micros(10_000), Duration::from_micros(9_300)), None);
        assert!(rests.look(Duration::from_micros(10_000), Duration::from_micros(9_301)).is_some());
        // A look that came late: the time that it took counts.
        assert_eq!(rests.look(millis(100), millis(93)), None);
        assert_eq!(rests.look(millis(0), millis(0)), None);
    }

    #[test]
    fn half_a_second_without_a_pause_is_told() {
        let mut rests = Rests::new(950_000);
        for _ in 0..49 {
            assert!(rests.look(millis(10), millis(10)).is_some());
            assert!(!rests.is_overloaded());
        }
        rests.look(millis(10), millis(10));
        assert!(rests.is_overloaded());
        rests.look(millis(10), millis(1));
        assert!(!rests.is_overloaded());
    }

    #[test]
    fn no_share_and_no_time_make_a_rest_that_does_not_end() {
        for allowed in [0, 1, 1_000, 20_000, u64::MAX] {
            let rest = Rests::new(allowed).look(millis(10), Duration::MAX).unwrap();
            assert_eq!(rest, LOOK_EVERY, "{allowed}");
        }
        assert!(Rests::new(u64::MAX).look(millis(100), millis(98)).is_none());
    }
}
