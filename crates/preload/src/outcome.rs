//! Results as C functions give them: a number, or -1 and `errno`.

use slantpath_requests::Errno;

/// Sets `errno`, and gives what a failed call returns.
#[cold]
pub(crate) fn fail(error: Errno) -> i32 {
    // SAFETY: It points to the thread's own `errno`.
    unsafe { *libc::__errno_location() = i32::from(error.0) };
    -1
}

/// Result of a function that gives an `int`.
pub(crate) fn int(result: Result<i32, Errno>) -> i32 {
    result.unwrap_or_else(fail)
}

/// Result of a function that gives a number of bytes.
pub(crate) fn size(result: Result<usize, Errno>) -> isize {
    match result {
        Ok(len) => len.cast_signed(),
        Err(error) => fail(error) as isize,
    }
}
