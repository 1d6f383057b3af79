//! The machine's clock as instants of a run, and waiting until one of them.

use std::io;

use slantpath_base::{Duration, Instant};

pub(crate) use system::RunClock;

/// Wait for sockets until `due` has come; none without a limit.
pub(crate) fn wait(
    poll: &mut mio::Poll,
    events: &mut mio::Events,
    clock: &RunClock,
    due: Instant,
) -> io::Result<()> {
    let left = due.saturating_since(clock.now());
    let timeout = clock.timeout(left)?;
    match poll.poll(events, timeout) {
        // A signal: whoever waits looks what it was for.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        waited => waited,
    }
}

/// Token of what ends a wait in time.
pub(crate) const TIMER: mio::Token = mio::Token(usize::MAX);

/// Linux has milliseconds for a wait on sockets; a timer that is one of them has nanoseconds.
#[cfg(target_os = "linux")]
mod system {
    use std::num::NonZeroU64;
    use std::os::fd::{AsFd as _, AsRawFd as _};
    use std::time;

    use mio::unix::SourceFd;
    use slantpath_emulate::{Suspension, suspension_reading};
    use slantpath_system::clock::{TimerFd, monotonic, set_timer_slack};

    use super::{Duration, Instant, TIMER, io};

    #[derive(Debug)]
    pub(crate) struct RunClock {
        origin: time::Duration,
        timer: TimerFd,
        suspension: Suspension,
    }

    impl RunClock {
        pub(crate) fn start(poll: &mio::Poll) -> io::Result<Self> {
            let timer = TimerFd::new()?;
            let raw = timer.as_fd().as_raw_fd();
            poll.registry().register(&mut SourceFd(&raw), TIMER, mio::Interest::READABLE)?;
            set_timer_slack(NonZeroU64::MIN)?;
            Ok(Self { origin: monotonic(), timer, suspension: Suspension::new(suspension_reading()) })
        }

        /// Time for which the machine was suspended since this was last asked, if it was.
        pub(crate) fn suspended(&mut self) -> Option<Duration> {
            self.suspension.look(suspension_reading())
        }

        /// Begins the run: this is its start.
        pub(crate) fn restart(&mut self) {
            self.origin = monotonic();
            self.suspension = Suspension::new(suspension_reading());
        }

        pub(crate) fn now(&self) -> Instant {
            let elapsed = monotonic().saturating_sub(self.origin);
            Instant::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
        }

        pub(super) fn timeout(&self, left: Duration) -> io::Result<Option<time::Duration>> {
            if left == Duration::ZERO {
                return Ok(Some(time::Duration::ZERO));
            }
            self.timer.set(monotonic() + time::Duration::from_nanos(left.as_nanos()))?;
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time;

    use super::{Duration, Instant, io};

    #[expect(
        clippy::disallowed_types,
        reason = "the clock is read here, and handed on as instants of the run"
    )]
    type Origin = time::Instant;

    #[derive(Debug)]
    pub(crate) struct RunClock {
        origin: Origin,
    }

    impl RunClock {
        #[expect(clippy::unnecessary_wraps, reason = "elsewhere the system may refuse a timer")]
        pub(crate) fn start(_: &mio::Poll) -> io::Result<Self> {
            Ok(Self { origin: Origin::now() })
        }

        /// Begins the run: this is its start.
        pub(crate) fn restart(&mut self) {
            self.origin = Origin::now();
        }

        /// Time for which the machine was suspended: not known here.
        #[expect(clippy::unused_self, reason = "elsewhere clocks tell it")]
        pub(crate) const fn suspended(&mut self) -> Option<Duration> {
            None
        }

        pub(crate) fn now(&self) -> Instant {
            Instant::from_nanos(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
        }

        #[expect(
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "elsewhere the system may refuse a timer, which is the clock's"
        )]
        pub(super) fn timeout(&self, left: Duration) -> io::Result<Option<time::Duration>> {
            Ok(Some(time::Duration::from_nanos(left.as_nanos())))
        }
    }
}
