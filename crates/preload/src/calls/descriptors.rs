//! Descriptors: `dup`, `dup2`, `dup3`, `fcntl`, `ioctl`, `close`, `close_range`, `closefrom`, `fdopen`.
//!
//! `fcntl` and `ioctl` take one more argument of any kind, in a register like any other on these systems.

use std::ffi::{c_char, c_ulong, c_void};

use libc::{c_int, c_uint};
use slantpath_requests::Errno;

use crate::memory;
use crate::next::next;
use crate::outcome::{fail, int};
use crate::table::{all_ours, copied, forget, ours};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn close(descriptor: c_int) -> c_int {
    if let Some(ours) = ours(descriptor) {
        slantpath_door::close_with_patience(ours.pair);
        forget(descriptor);
    }
    next!(close as fn(descriptor: c_int) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if flags.cast_unsigned() & libc::CLOSE_RANGE_CLOEXEC == 0 {
        mark_range(first, last);
    }
    next!(close_range as fn(first: c_uint, last: c_uint, flags: c_int) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn closefrom(first: c_int) {
    mark_range(first.max(0).cast_unsigned(), c_uint::MAX);
    next!(closefrom as fn(first: c_int) -> Nothing);
}

/// Result of a function that has none, as [`next!`](crate::next::next) makes one of an error.
type Nothing = c_int;

/// Marks the sockets whose numbers are about to be closed.
fn mark_range(first: c_uint, last: c_uint) {
    let is_within = |descriptor: &c_int| (first..=last).contains(&descriptor.cast_unsigned());
    for descriptor in all_ours().filter(is_within) {
        if let Some(ours) = ours(descriptor) {
            slantpath_door::close_with_patience(ours.pair);
        }
        forget(descriptor);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup(descriptor: c_int) -> c_int {
    let copy = next!(dup as fn(descriptor: c_int) -> c_int);
    if copy >= 0 {
        copied(descriptor, copy);
    }
    copy
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup2(descriptor: c_int, to: c_int) -> c_int {
    replaced(descriptor, to);
    let copy = next!(dup2 as fn(descriptor: c_int, to: c_int) -> c_int);
    if copy >= 0 && copy != descriptor {
        copied(descriptor, copy);
    }
    copy
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup3(descriptor: c_int, to: c_int, flags: c_int) -> c_int {
    replaced(descriptor, to);
    let copy = next!(dup3 as fn(descriptor: c_int, to: c_int, flags: c_int) -> c_int);
    if copy >= 0 {
        copied(descriptor, copy);
    }
    copy
}

/// Marks a socket whose number is about to become another one's.
fn replaced(descriptor: c_int, to: c_int) {
    if descriptor != to
        && let Some(ours) = ours(to)
    {
        slantpath_door::close_with_patience(ours.pair);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl(descriptor: c_int, command: c_int, argument: c_ulong) -> c_int {
    let result = next!(fcntl as fn(descriptor: c_int, command: c_int, argument: c_ulong) -> c_int);
    note_copy(descriptor, command, result);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fcntl64(descriptor: c_int, command: c_int, argument: c_ulong) -> c_int {
    let result = next!(fcntl64 as fn(descriptor: c_int, command: c_int, argument: c_ulong) -> c_int);
    note_copy(descriptor, command, result);
    result
}

fn note_copy(descriptor: c_int, command: c_int, result: c_int) {
    if result >= 0 && matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        copied(descriptor, result);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ioctl(descriptor: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    match ours(descriptor).filter(|_| request == libc::FIONREAD) {
        // What the kernel would say counts the headers, too.
        Some(ours) => int(slantpath_door::next_len(ours.pair).and_then(|len| {
            memory::write(argument.cast::<c_int>(), c_int::try_from(len).unwrap_or(c_int::MAX)).map(|()| 0)
        })),
        None => {
            next!(ioctl as fn(descriptor: c_int, request: c_ulong, argument: *mut c_void) -> c_int)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fdopen(descriptor: c_int, mode: *const c_char) -> *mut c_void {
    if ours(descriptor).is_some() {
        let said =
            "slantpath: a stream of stdio on an SCTP socket goes past this library: use read and write\n";
        let _ = rustix::io::write(rustix::stdio::stderr(), said.as_bytes());
        fail(Errno::EOPNOTSUPP);
        return std::ptr::null_mut();
    }
    next!(fdopen as fn(descriptor: c_int, mode: *const c_char) -> *mut c_void)
}
