//! The machine's clocks, timers and the scheduling of the calling thread.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// Time since the machine was started (`CLOCK_MONOTONIC`), which never goes back.
pub fn monotonic() -> Duration {
    since_zero(clock_gettime(ClockId::Monotonic))
}

/// Time since the machine was started, with the time for which it was suspended (`CLOCK_BOOTTIME`).
pub fn with_suspension() -> Duration {
    since_zero(clock_gettime(ClockId::Boottime))
}

/// Time since 1970 (`CLOCK_REALTIME`), by which the kernel stamps frames. It may be set.
pub fn realtime() -> Duration {
    since_zero(clock_gettime(ClockId::Realtime))
}

/// Processor time of the calling thread.
pub fn thread_time() -> Duration {
    since_zero(clock_gettime(ClockId::ThreadCPUTime))
}

/// Has the calling thread wait.
pub fn rest(time: Duration) {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    // One that is woken early rests less.
    let _ = rustix::thread::nanosleep(&Timespec { tv_sec, tv_nsec: time.subsec_nanos().into() });
}

/// Share of each processor's time that threads of real-time priority may use, in parts of a million: 950,000 unless it
/// is set.
pub fn real_time_share_ppm() -> u64 {
    let setting = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse::<i64>().ok()
    };
    let (runtime, period) = (setting("sched_rt_runtime_us"), setting("sched_rt_period_us"));
    share_ppm(runtime.unwrap_or(950_000), period.unwrap_or(1_000_000))
}

/// A runtime below zero is no limit.
fn share_ppm(runtime: i64, period: i64) -> u64 {
    let limit = u64::try_from(runtime).ok().zip(u64::try_from(period).ok());
    let share = limit.and_then(|(runtime, period)| runtime.checked_mul(1_000_000)?.checked_div(period));
    share.unwrap_or(1_000_000).min(1_000_000)
}

fn since_zero(time: Timespec) -> Duration {
    // A clock before its zero is not set yet.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Timer on the clock [`monotonic`] whose descriptor can be read once its time has come.
#[derive(Debug)]
pub struct TimerFd(OwnedFd);

impl TimerFd {
    /// Opens a timer that is not set.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Sets it to an instant of [`monotonic`], in place of what it was set to. One that is past has come at once.
    pub fn set(&self, at: Duration) -> io::Result<()> {
        // Zero would mean that it is not set.
        self.arm(at.max(Duration::from_nanos(1)))
    }

    /// Takes back what it was set to, and that it has come.
    pub fn clear(&self) -> io::Result<()> {
        self.arm(Duration::ZERO)
    }

    fn arm(&self, at: Duration) -> io::Result<()> {
        let tv_sec = i64::try_from(at.as_secs()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let it_value = Timespec { tv_sec, tv_nsec: at.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }
}

impl AsFd for TimerFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sets how many nanoseconds later the kernel may wake the calling thread than it asked for: 50,000 unless it is set.
pub fn set_timer_slack(nanoseconds: NonZeroU64) -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(Some(nanoseconds))?)
}

/// Schedules the calling thread before all that have no real-time priority (`SCHED_FIFO`, from 1 to 99). Programs and
/// threads that it starts are scheduled as others are. The system refuses it to whom has no right to it.
pub fn schedule_fifo(priority: i32) -> io::Result<()> {
    // The kernel's parameter is the priority alone. It is called itself: musl's function refuses everything, and its
    // structure has fields that no kernel reads.
    let policy = libc::c_long::from(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
    let caller: libc::c_long = 0;
    #[expect(unsafe_code, reason = "no library has a safe call")]
    // SAFETY: The kernel reads one integer, which outlives the call; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, caller, policy, &raw const priority) };
    Errno::result(result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::Poll;

    #[test]
    fn clocks_go_on_and_tell_today() {
        let before = monotonic();
        assert!(monotonic() >= before);
        // What counts suspension is never behind what does not.
        let before = monotonic();
        assert!(with_suspension() >= before);
        // 2020 has begun.
        assert!(realtime() > Duration::from_hours(24 * 365 * 50));
    }

    #[test]
    fn a_timer_comes_once_it_is_due_and_not_before() {
        let timer = TimerFd::new().unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add(&timer, 7).unwrap();
        let now = Some(Duration::ZERO);
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        timer.set(monotonic() + Duration::from_secs(1_000)).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        for past in [Duration::ZERO, monotonic()] {
            timer.set(past).unwrap();
            assert_eq!(poll.wait(now).unwrap(), [7]);
            // Until it is taken back.
            assert_eq!(poll.wait(now).unwrap(), [7]);
            timer.clear().unwrap();
            assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        }
        let soon = monotonic() + Duration::from_millis(2);
        timer.set(soon).unwrap();
        assert_eq!(poll.wait(None).unwrap(), [7]);
        assert!(monotonic() >= soon);
        assert!(timer.set(Duration::MAX).is_err());
    }

    #[test]
    fn the_time_of_a_thread_goes_on_while_it_works_and_not_while_it_rests() {
        let before = (thread_time(), monotonic());
        rest(Duration::from_millis(20));
        assert!(monotonic().saturating_sub(before.1) >= Duration::from_millis(20));
        assert!(thread_time().saturating_sub(before.0) < Duration::from_millis(20));
        let working = thread_time();
        while thread_time() == working {}
    }

    #[test]
    fn the_share_of_real_time_threads_is_a_part_of_a_million() {
        for (runtime, period, share) in [
            (950_000, 1_000_000, 950_000),
            (-1, 1_000_000, 1_000_000),
            (0, 1_000_000, 0),
            (500, 2_000, 250_000),
            (3, 2, 1_000_000),
            (1, 0, 1_000_000),
            (i64::MAX, 1, 1_000_000),
        ] {
            assert_eq!(share_ppm(runtime, period), share, "{runtime} {period}");
        }
        assert!((1..=1_000_000).contains(&real_time_share_ppm()));
    }

    #[test]
    fn the_scheduler_refuses_a_priority_that_there_is_not() {
        let error = schedule_fifo(100).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EINVAL as i32));
    }

    #[test]
    fn the_slack_of_a_thread_is_its_own() {
        set_timer_slack(NonZeroU64::new(1_234).unwrap()).unwrap();
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1_234);
    }
}
