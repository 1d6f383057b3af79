//! Waits of calls, at which a thread may be cancelled as at those of the C library: by its own functions. An unwinding
//! that begins in them passes the frames of this library, all of which permit it, and no lock is held here.

use std::os::fd::{AsFd as _, AsRawFd as _};

use libc::{c_int, c_void, nfds_t, pollfd, size_t, ssize_t};
use slantpath_door::{Pending, Replied};
use slantpath_requests::Errno;

use crate::next::next;
use crate::table::Ours;

unsafe extern "C-unwind" {
    fn pthread_testcancel();
}

/// Ends the thread here if it has been cancelled: each call that may wait begins so, whether it waits or not.
pub(crate) fn cancellation_point() {
    // SAFETY: The call has no conditions.
    unsafe { pthread_testcancel() };
}

fn last_error() -> Errno {
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or_default();
    Errno(u16::try_from(number).unwrap_or_default())
}

/// Waits for a piece, or for the end, as a receive of this socket waits: with its time limit, and its signals.
pub(crate) fn for_piece(ours: Ours) -> Result<(), Errno> {
    let (descriptor, bytes, len) = (ours.pair.as_raw_fd(), std::ptr::null_mut::<c_void>(), 0);
    let flags = libc::MSG_PEEK;
    let came = next!(recv as fn(descriptor: c_int, bytes: *mut c_void, len: size_t, flags: c_int) -> ssize_t);
    if came < 0 { Err(last_error()) } else { Ok(()) }
}

/// Waits for a reply, by a call that a signal breaks off: the request itself goes on then.
pub(crate) fn for_reply(pending: &Pending) -> Result<Replied, Errno> {
    loop {
        let mut one = pollfd { fd: pending.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let (all, count, limit) = (&raw mut one, 1, -1);
        if next!(poll as fn(all: *mut pollfd, count: nfds_t, limit: c_int) -> c_int) < 0 {
            return Err(last_error());
        }
        if let Some(replied) = pending.take()? {
            return Ok(replied);
        }
    }
}
