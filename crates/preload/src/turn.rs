//! Locks that a fork takes away from threads that are not in the child.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{Timespec, poll};

/// Number of forks that led to this process. A lock that was taken before the last one has no holder any more.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Notes a fork, in the child.
pub(crate) extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Turns after which a thread sleeps between its tries.
const TRIES: u32 = 200;

/// Value that one thread at a time has.
#[derive(Debug, Default)]
pub(crate) struct Turn<T> {
    /// 0, or one more than twice the number of forks when it was taken.
    taken: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: `have` gives the value to one thread at a time.
unsafe impl<T: Send> Sync for Turn<T> {}

/// Value that is had until this is dropped.
pub(crate) struct Had<'a, T>(&'a Turn<T>);

impl<T> Turn<T> {
    pub(crate) fn have(&self) -> Had<'_, T> {
        let own = FORKS.load(Ordering::Relaxed).wrapping_mul(2) | 1;
        let mut tries = 0;
        loop {
            let seen = self.taken.load(Ordering::Relaxed);
            let is_free = seen != own;
            if is_free && self.taken.compare_exchange(seen, own, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return Had(self);
            }
            tries += 1;
            if tries < TRIES {
                std::thread::yield_now();
            } else {
                pause();
            }
        }
    }
}

/// Waits a moment for a holder that waits itself: one that sends a long message.
fn pause() {
    let moment = Timespec { tv_sec: 0, tv_nsec: 50_000 };
    let _ = poll(&mut [], Some(&moment));
}

impl<T> Deref for Had<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: The thread has the turn.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Had<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: The thread has the turn.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Had<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(0, Ordering::Release);
    }
}
