//! Waiting for descriptors.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use std::{fmt, io};

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;

/// Number of descriptors that are told at one time, at most; the others are told the next time.
const BATCH: usize = 64;

/// Cause for which a descriptor is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollCause {
    /// Something can be read, or its end has come.
    Input,
    /// There is room to write to it.
    Room,
}

impl PollCause {
    const fn once(self) -> epoll::EventFlags {
        let cause = match self {
            Self::Input => epoll::EventFlags::IN,
            Self::Room => epoll::EventFlags::OUT,
        };
        cause.union(epoll::EventFlags::ONESHOT)
    }
}

/// Descriptors of which one waits for any, each with a token. They are told as long as they are ready.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    tokens: Vec<u64>,
    ended: Vec<u64>,
}

impl fmt::Debug for Poll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoll, tokens, ended, events: _ } = self;
        let mut told = f.debug_struct("Poll");
        told.field("epoll", epoll).field("tokens", tokens).field("ended", ended).finish_non_exhaustive()
    }
}

impl Poll {
    /// Opens one without descriptors.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let (events, tokens) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Ok(Self { epoll, events, tokens, ended: Vec::new() })
    }

    /// Waits for a descriptor from now on: until it can be read, is at its end or has an error. A process by its
    /// descriptor is ready once it has ended. Closing the descriptor takes it out.
    pub fn add(&self, descriptor: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(token), epoll::EventFlags::IN)?)
    }

    /// Waits for room to write to a descriptor as well, or no more.
    pub fn wait_for_room(&self, descriptor: impl AsFd, token: u64, is_waited_for: bool) -> io::Result<()> {
        let room = if is_waited_for { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
        let events = epoll::EventFlags::IN | room;
        Ok(epoll::modify(&self.epoll, descriptor, epoll::EventData::new_u64(token), events)?)
    }

    /// Waits for a descriptor from now on, which is told once for each thing that comes, and at its end: it is read
    /// until nothing is left, or without being told anew. One that always has something to read can be waited for, too.
    pub fn add_once_for_each(&self, descriptor: impl AsFd, token: u64) -> io::Result<()> {
        let events = epoll::EventFlags::IN | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(token), events)?)
    }

    /// Variant of [`wait_for_room`](Self::wait_for_room) for a descriptor that is told once for each thing that comes.
    pub fn wait_for_room_once(
        &self,
        descriptor: impl AsFd,
        token: u64,
        is_waited_for: bool,
    ) -> io::Result<()> {
        let room = if is_waited_for { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
        let events = epoll::EventFlags::IN | epoll::EventFlags::ET | room;
        Ok(epoll::modify(&self.epoll, descriptor, epoll::EventData::new_u64(token), events)?)
    }

    /// Waits for a descriptor until it is told once. It stays here, silent, until it is [awaited](Self::await_again)
    /// again or taken out.
    pub fn add_for_one(&self, descriptor: impl AsFd, token: u64, cause: PollCause) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(token), cause.once())?)
    }

    /// Waits once more for a descriptor that is here, with another token and for another cause.
    pub fn await_again(&self, descriptor: impl AsFd, token: u64, cause: PollCause) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, descriptor, epoll::EventData::new_u64(token), cause.once())?)
    }

    /// Takes a descriptor out.
    pub fn remove(&self, descriptor: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, descriptor)?)
    }

    /// Waits until a descriptor is ready, a signal is caught or the time is over: for ever without one. It gives the
    /// tokens of those that are ready. The time is rounded up to milliseconds; [`crate::clock::TimerFd`] is exact.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<&[u64]> {
        let timeout = timeout.map(timespec);
        self.forget();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) => {
                for event in &self.events {
                    self.tokens.push(event.data.u64());
                    let flags = event.flags;
                    if flags.contains(epoll::EventFlags::HUP) {
                        self.ended.push(event.data.u64());
                    }
                }
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(&self.tokens)
    }

    /// Waits as [`wait`](Self::wait) does, for one more descriptor beside its own. True if that one can be read, or is
    /// at its end. Who makes it ready may choose the processor that the caller runs on: behind an `epoll` the kernel
    /// chooses.
    pub fn wait_beside(&mut self, one: impl AsFd, timeout: Option<Duration>) -> io::Result<bool> {
        let mut asked =
            [&one.as_fd(), &self.epoll.as_fd()].map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
        let told = poll(&mut asked, timeout.map(timespec).as_ref());
        let [is_one, is_own] = asked.map(|asked| !asked.revents().is_empty());
        match told {
            Ok(0) | Err(Errno::INTR) => {
                self.forget();
                return Ok(false);
            }
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        if is_own {
            self.wait(Some(Duration::ZERO))?;
        } else {
            self.forget();
        }
        Ok(is_one)
    }

    fn forget(&mut self) {
        self.events.clear();
        self.tokens.clear();
        self.ended.clear();
    }

    /// Tokens of the last [wait](Self::wait).
    pub fn told(&self) -> &[u64] {
        &self.tokens
    }

    /// Tokens among those of the last [wait](Self::wait) whose other ends are closed in all processes.
    pub fn ended(&self) -> &[u64] {
        &self.ended
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_descriptor_is_told_as_long_as_it_is_ready() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add(&reader, u64::MAX).unwrap();
        let now = Some(Duration::ZERO);
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        writer.write_all(b"a").unwrap();
        for _ in 0..2 {
            assert_eq!(poll.wait(now).unwrap(), [u64::MAX]);
        }
        reader.read_exact(&mut [0]).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        drop(writer);
        assert_eq!(poll.wait(now).unwrap(), [u64::MAX]);
        poll.remove(&reader).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
    }

    #[test]
    fn what_comes_and_the_end_are_told_once_each_although_nothing_is_read() {
        let (one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add_once_for_each(&one, 7).unwrap();
        let now = Some(Duration::ZERO);
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        for _ in 0..2 {
            other.write_all(b"a").unwrap();
            assert_eq!(poll.wait(now).unwrap(), [7]);
            assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        }
        poll.wait_for_room_once(&one, 7, true).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [7]);
        drop(other);
        assert_eq!(poll.wait(now).unwrap(), [7]);
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
    }

    #[test]
    fn a_descriptor_beside_is_told_apart_from_those_within() {
        let (within, mut to_within) = io::pipe().unwrap();
        let (beside, mut to_beside) = io::pipe().unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add(&within, 5).unwrap();
        let now = Some(Duration::ZERO);
        assert!(!poll.wait_beside(&beside, now).unwrap());
        assert!(poll.told().is_empty());
        to_within.write_all(b"a").unwrap();
        assert!(!poll.wait_beside(&beside, None).unwrap());
        assert_eq!(poll.told(), [5]);
        to_beside.write_all(b"a").unwrap();
        assert!(poll.wait_beside(&beside, None).unwrap());
        assert_eq!(poll.told(), [5]);
        poll.remove(&within).unwrap();
        assert!(poll.wait_beside(&beside, None).unwrap());
        assert!(poll.told().is_empty(), "what was told before");
        let (end, writer) = io::pipe().unwrap();
        drop(writer);
        assert!(poll.wait_beside(&end, None).unwrap());
    }

    #[test]
    fn what_is_awaited_is_told_once_until_it_is_awaited_again() {
        let (mut one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut poll = Poll::new().unwrap();
        let now = Some(Duration::ZERO);
        other.write_all(b"ab").unwrap();
        poll.add_for_one(&one, 1, PollCause::Input).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [1]);
        one.read_exact(&mut [0]).unwrap();
        other.write_all(b"c").unwrap();
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        for (token, cause) in [(2, PollCause::Input), (3, PollCause::Room)] {
            poll.await_again(&one, token, cause).unwrap();
            assert_eq!(poll.wait(now).unwrap(), [token]);
        }
        one.read_exact(&mut [0; 2]).unwrap();
        poll.await_again(&one, 4, PollCause::Input).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [0; 0]);
        assert!(poll.ended().is_empty());
        drop(other);
        assert_eq!(poll.wait(now).unwrap(), [4]);
        assert_eq!(poll.ended(), [4]);
    }

    #[test]
    fn room_is_told_while_it_is_waited_for() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add(&one, 1).unwrap();
        let now = Some(Duration::ZERO);
        for (is_waited_for, told) in [(true, &[1][..]), (false, &[])] {
            poll.wait_for_room(&one, 1, is_waited_for).unwrap();
            assert_eq!(poll.wait(now).unwrap(), told);
        }
        poll.remove(&one).unwrap();
        poll.add_for_one(&one, 2, PollCause::Room).unwrap();
        assert_eq!(poll.wait(now).unwrap(), [2]);
    }
}
