//! Programs that another one takes over: `execve` and its kin. The kernel closes sockets then that are marked so, and
//! the daemon is to know that nobody was killed.
//!
//! A child marks only what it has made itself: what it shares, its parent goes on with.

use std::ffi::c_char;
use std::os::fd::BorrowedFd;

use libc::c_int;
use rustix::io::FdFlags;

use crate::next::next;
use crate::table;

type Words = *const *const c_char;

/// Marks the sockets that this process has made and that do not outlive it as closed in order.
fn mark_closed() {
    for descriptor in table::all_own() {
        // SAFETY: If it is closed by now, the calls give an error, which nobody needs.
        let pair = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let is_closed = rustix::io::fcntl_getfd(pair).is_ok_and(|flags| flags.contains(FdFlags::CLOEXEC));
        if is_closed && slantpath_door::is_pair(pair) {
            slantpath_door::close_with_patience(pair);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn execve(path: *const c_char, words: Words, environment: Words) -> c_int {
    mark_closed();
    next!(execve as fn(path: *const c_char, words: Words, environment: Words) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn execv(path: *const c_char, words: Words) -> c_int {
    mark_closed();
    next!(execv as fn(path: *const c_char, words: Words) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn execvp(file: *const c_char, words: Words) -> c_int {
    mark_closed();
    next!(execvp as fn(file: *const c_char, words: Words) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn execvpe(file: *const c_char, words: Words, environment: Words) -> c_int {
    mark_closed();
    next!(execvpe as fn(file: *const c_char, words: Words, environment: Words) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn execveat(
    directory: c_int,
    path: *const c_char,
    words: Words,
    environment: Words,
    flags: c_int,
) -> c_int {
    mark_closed();
    next!(
        execveat
            as fn(
                directory: c_int,
                path: *const c_char,
                words: Words,
                environment: Words,
                flags: c_int,
            ) -> c_int
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fexecve(file: c_int, words: Words, environment: Words) -> c_int {
    mark_closed();
    next!(fexecve as fn(file: c_int, words: Words, environment: Words) -> c_int)
}
