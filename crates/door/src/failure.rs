//! Errors of the kernel, as the numbers that a program sees.

use std::io;

use slantpath_requests::Errno;

/// Number of an error of the kernel.
pub(crate) fn errno(error: rustix::io::Errno) -> Errno {
    Errno(u16::try_from(error.raw_os_error()).unwrap_or(Errno::EIO.0))
}

/// Number of an error that came by way of the standard library.
pub(crate) fn of_io(error: &io::Error) -> Errno {
    let number = error.raw_os_error().and_then(|number| u16::try_from(number).ok());
    number.map_or(Errno::EIO, Errno)
}
