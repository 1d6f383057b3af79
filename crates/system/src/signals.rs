//! Signals of the process as a descriptor that is waited for beside others.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};

use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::signalfd::{SfdFlags, SignalFd};

pub use nix::sys::signal::Signal;

/// Signals that are read and do nothing else, until it is dropped.
///
/// They are held back from the thread that has opened it, and from threads and programs that this one starts from then
/// on; a [`crate::process::NetworkProgram`] has them all the same. Process 1 of a namespace receives them, too, though
/// it has no handler.
#[derive(Debug)]
pub struct Signals {
    descriptor: SignalFd,
    before: SigSet,
    /// The mask of signals belongs to a thread, which has to restore it.
    own_thread: PhantomData<*const ()>,
}

/// Signal that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedSignal {
    /// Number of the signal.
    pub number: i32,
    /// Sent by a program, and not by the kernel, as at Ctrl-C: then every process at the terminal has it, too.
    pub is_from_program: bool,
}

impl Signals {
    /// Takes these signals.
    pub fn open(signals: &[Signal]) -> io::Result<Self> {
        let set: SigSet = signals.iter().copied().collect();
        let descriptor = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let before = SigSet::thread_get_mask()?;
        set.thread_block()?;
        Ok(Self { descriptor, before, own_thread: PhantomData })
    }

    /// Reads one that has come, if any has.
    pub fn read(&self) -> io::Result<Option<ReceivedSignal>> {
        let read = self.descriptor.read_signal()?;
        Ok(read.map(|info| ReceivedSignal {
            number: i32::try_from(info.ssi_signo).unwrap_or_default(),
            // SI_USER, SI_QUEUE and SI_TKILL: those of the kernel are greater than 0.
            is_from_program: info.ssi_code <= libc::SI_USER,
        }))
    }

    /// Calls `act`, which starts a program, with the signals let through as before: a program inherits what its parent
    /// holds back.
    pub fn let_through<T>(&self, act: impl FnOnce() -> T) -> io::Result<T> {
        let held_back = self.before.thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let result = act();
        held_back.thread_set_mask()?;
        Ok(result)
    }

    /// The mask of signals as it was before.
    pub(crate) fn before(&self) -> SigSet {
        self.before
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // It was the mask once, so that it is a valid one.
        let _ = self.before.thread_set_mask();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_a_program_is_read_once_and_told_from_the_kernel_s() {
        let signals = Signals::open(&[Signal::SIGURG]).unwrap();
        assert_eq!(signals.read().unwrap(), None);
        nix::sys::signal::raise(Signal::SIGURG).unwrap();
        let received = ReceivedSignal { number: Signal::SIGURG as i32, is_from_program: true };
        assert_eq!(signals.read().unwrap(), Some(received));
        assert_eq!(signals.read().unwrap(), None);
        let is_held_back = || SigSet::thread_get_mask().unwrap().contains(Signal::SIGURG);
        assert!(!signals.let_through(is_held_back).unwrap() && is_held_back());
        drop(signals);
        assert!(!SigSet::thread_get_mask().unwrap().contains(Signal::SIGURG));
    }
}
