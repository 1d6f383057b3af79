//! Beginning and end of a process in order: its sockets are marked, so that they are shut down and not aborted.

use std::os::fd::BorrowedFd;

use crate::{table, turn};

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = mark_all;

extern "C" fn begin() {
    // SAFETY: The function may be called in a child at any time: it adds to a number.
    unsafe { libc::pthread_atfork(None, None, Some(turn::forked)) };
}

/// Marks all sockets of the process as closed in order.
pub(crate) extern "C" fn mark_all() {
    for descriptor in table::all_ours() {
        // SAFETY: If it is closed by now, the call gives an error, which nobody needs.
        let pair = unsafe { BorrowedFd::borrow_raw(descriptor) };
        if slantpath_door::is_pair(pair) {
            slantpath_door::close_with_patience(pair);
        }
    }
}
