//! Descriptors that a process has inherited.

use std::io;

use nix::errno::Errno;
use nix::libc;

/// First descriptor behind the standard streams.
const OTHERS: libc::c_uint = 3;

/// Marks all descriptors but the standard streams as closed by `exec`. It allocates nothing.
pub(crate) fn close_on_exec() -> io::Result<()> {
    range(OTHERS, libc::CLOSE_RANGE_CLOEXEC)
}

/// Closes all descriptors. It allocates nothing.
///
/// # Safety
/// No value of the process that owns one may be used or dropped any more.
#[expect(unsafe_code, reason = "descriptors are closed under their owners")]
pub(crate) unsafe fn close_all() -> io::Result<()> {
    range(0, 0)
}

fn range(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    #[expect(unsafe_code, reason = "no library has a safe call")]
    // SAFETY: The call has numbers alone. That descriptors are closed is upon `close_all`; the flag closes none now.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    Errno::result(result).map(|_| ()).map_err(io::Error::from)
}
