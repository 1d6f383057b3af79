//! Offset from which a Unix socket is peeked at: each peek moves it on by what it has read, for all processes.
//!
//! These calls go to the kernel by their number: whoever replaces the C library's functions may use them, too.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::libc;

/// Length of an offset, in the layout of its C type.
const LEN: libc::socklen_t = 4;

/// Bytes before the place where the next peek begins; negative where peeks always begin at the front.
///
/// # Errors
/// If it is no Unix socket.
pub fn offset(socket: impl AsFd) -> io::Result<i32> {
    let mut value: libc::c_int = 0;
    let mut len = LEN;
    let socket = libc::c_long::from(socket.as_fd().as_raw_fd());
    let (level, name) = (libc::c_long::from(libc::SOL_SOCKET), libc::c_long::from(libc::SO_PEEK_OFF));
    #[expect(unsafe_code, reason = "no library has a safe call")]
    // SAFETY: The kernel writes at most `len` bytes to `value`, which has so many; any number is valid there.
    let result =
        unsafe { libc::syscall(libc::SYS_getsockopt, socket, level, name, &raw mut value, &raw mut len) };
    Errno::result(result).map(|_| value).map_err(io::Error::from)
}

/// Sets the place where the next peek begins.
///
/// # Errors
/// If it is no Unix socket.
pub fn set_offset(socket: impl AsFd, offset: i32) -> io::Result<()> {
    let len = libc::c_long::from(LEN);
    let socket = libc::c_long::from(socket.as_fd().as_raw_fd());
    let (level, name) = (libc::c_long::from(libc::SOL_SOCKET), libc::c_long::from(libc::SO_PEEK_OFF));
    #[expect(unsafe_code, reason = "no library has a safe call")]
    // SAFETY: The kernel copies `len` bytes from `offset`, which has so many, and keeps no pointer.
    let result = unsafe { libc::syscall(libc::SYS_setsockopt, socket, level, name, &raw const offset, len) };
    Errno::result(result).map(|_| ()).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn an_offset_is_read_as_it_was_set_and_moves_with_each_peek() {
        let (near, far) = UnixDatagram::pair().unwrap();
        assert_eq!(offset(&near).unwrap(), -1);
        set_offset(&near, 0).unwrap();
        far.send(b"abcdef").unwrap();
        let mut two = [0; 2];
        let peek =
            |bytes: &mut [u8]| rustix::net::recv(&near, bytes, rustix::net::RecvFlags::PEEK).unwrap().0;
        assert_eq!((peek(&mut two), two), (2, *b"ab"));
        assert_eq!((peek(&mut two), two), (2, *b"cd"));
        assert_eq!(offset(&near).unwrap(), 4);
    }
}
