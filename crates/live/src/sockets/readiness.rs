//! One descriptor for a host's sockets and its next deadline together, for whoever has an event loop of his own.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// An epoll instance with the sockets in it, and a timer.
#[derive(Debug)]
pub(crate) struct Readiness {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// Instant to which the timer is set, in nanoseconds of the monotonic clock; `None`: not set.
    set_nanos: Option<u64>,
}

impl Readiness {
    pub(crate) fn of<'a>(sockets: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Level-triggered, errors as well: it stays readable until everything has been read.
        epoll::add(&epoll, &timer, DATA, epoll::EventFlags::IN)?;
        let mut readiness = Self { epoll, timer, set_nanos: None };
        for socket in sockets {
            readiness.add(socket)?;
        }
        Ok(readiness)
    }

    /// Stands for one more socket.
    pub(crate) fn add(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, DATA, epoll::EventFlags::IN)?)
    }

    /// Has the descriptor become readable at a time of the monotonic clock, which is `now`. A timer that is set for
    /// earlier is left so: it wakes once in vain, where most deadlines are put off again and again.
    pub(crate) fn wake_at(&mut self, deadline_nanos: Option<u64>, now_nanos: u64) -> io::Result<()> {
        let is_set = match (self.set_nanos, deadline_nanos) {
            // It has expired: setting it anew takes that back.
            (Some(set), _) if set <= now_nanos => false,
            (Some(set), Some(deadline)) => set <= deadline,
            (_, None) => true,
            (None, Some(_)) => false,
        };
        if is_set {
            return Ok(());
        }
        // Zero would stop the timer.
        let at = deadline_nanos.map_or(0, |deadline| deadline.max(1));
        #[expect(clippy::cast_possible_wrap, reason = "584 years at most")]
        let it_value = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as i64 };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval, it_value })?;
        self.set_nanos = deadline_nanos;
        Ok(())
    }
}

/// Nobody asks which descriptor it is.
const DATA: epoll::EventData = epoll::EventData::new_u64(0);

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::time::{ClockId, clock_gettime};
    use std::net::UdpSocket;

    fn now() -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
    }

    /// Tells if the descriptor can be read within so many seconds.
    fn is_readable(readiness: &Readiness, seconds: i64) -> bool {
        let mut fds = [PollFd::new(readiness, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: seconds, tv_nsec: 0 })).unwrap() == 1
    }

    #[test]
    fn it_can_be_read_as_long_as_a_socket_has_something_and_from_the_deadline_on() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut readiness = Readiness::of([socket.as_fd()].into_iter()).unwrap();
        assert!(!is_readable(&readiness, 0));
        socket.send_to(&[1], socket.local_addr().unwrap()).unwrap();
        assert!(is_readable(&readiness, 60) && is_readable(&readiness, 60), "until it is read");
        socket.recv(&mut [0; 8]).unwrap();
        assert!(!is_readable(&readiness, 0));

        let start = now();
        readiness.wake_at(Some(start + 3_600_000_000_000), start).unwrap();
        assert!(!is_readable(&readiness, 0));
        readiness.wake_at(Some(start + 1), start).unwrap();
        assert!(is_readable(&readiness, 60));
        // What has expired is taken back, whatever comes then.
        readiness.wake_at(None, now()).unwrap();
        assert!(!is_readable(&readiness, 0));
        readiness.wake_at(Some(now()), now()).unwrap();
        assert!(is_readable(&readiness, 60));
        readiness.wake_at(Some(now() + 3_600_000_000_000), now()).unwrap();
        assert!(!is_readable(&readiness, 0));
    }

    #[test]
    fn a_deadline_that_is_put_off_costs_no_call_until_the_first_has_come() {
        let mut readiness = Readiness::of(std::iter::empty()).unwrap();
        readiness.wake_at(Some(5_000), 1_000).unwrap();
        readiness.wake_at(Some(9_000), 2_000).unwrap();
        assert_eq!(readiness.set_nanos, Some(5_000));
        readiness.wake_at(Some(4_000), 2_000).unwrap();
        assert_eq!(readiness.set_nanos, Some(4_000));
        readiness.wake_at(Some(9_000), 4_000).unwrap();
        assert_eq!(readiness.set_nanos, Some(9_000));
    }
}
