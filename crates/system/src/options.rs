//! Socket options that no library has a call for, as bytes.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::libc;

/// Sets an option of a socket to a value in the layout of its C type.
pub(crate) fn set(socket: impl AsFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let len = libc::socklen_t::try_from(value.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let socket = socket.as_fd().as_raw_fd();
    #[expect(unsafe_code, reason = "options of packet sockets and netlink have no safe call")]
    // SAFETY: The kernel copies `len` bytes from `value`, which has so many, and keeps no pointer.
    let result = unsafe { libc::setsockopt(socket, level, name, value.as_ptr().cast(), len) };
    Errno::result(result).map(|_| ()).map_err(io::Error::from)
}

/// Reads an option of a socket that has the given length, in the layout of its C type.
pub(crate) fn get<const LEN: usize>(socket: impl AsFd, level: i32, name: i32) -> io::Result<[u8; LEN]> {
    let mut value = [0; LEN];
    let mut len = libc::socklen_t::try_from(LEN).map_err(|_| io::ErrorKind::InvalidInput)?;
    let socket = socket.as_fd().as_raw_fd();
    #[expect(unsafe_code, reason = "options of packet sockets have no safe call")]
    // SAFETY: The kernel writes at most `len` bytes to `value`, which has so many; any bytes are valid there.
    let result = unsafe { libc::getsockopt(socket, level, name, value.as_mut_ptr().cast(), &raw mut len) };
    Errno::result(result)?;
    Ok(value)
}
