//! The operating system's clock as the project's instants.

use rustix::time::{ClockId, clock_gettime};
use slantpath_base::Instant;

/// The monotonic clock, from the instant at which it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start_nanos: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start_nanos: monotonic_nanos() }
    }

    /// An instant as the monotonic clock has it.
    pub(crate) const fn monotonic(self, instant: Instant) -> u64 {
        self.start_nanos.saturating_add(instant.as_nanos())
    }

    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(monotonic_nanos() - self.start_nanos)
    }
}

/// Nanoseconds since some instant before the program began: 64 bits hold 584 years.
#[expect(clippy::cast_sign_loss, reason = "the monotonic clock counts from zero")]
fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_the_start_and_never_goes_back() {
        let clock = Clock::start();
        let mut last = Instant::START;
        for _ in 0..1_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
