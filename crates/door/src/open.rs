//! A pair of one's own, from the daemon's socket.

use rustix::io::Errno as KernelErrno;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, send, socket_with,
};
use slantpath_requests::{Errno, OpenRequest};

use crate::ask::Pending;
use crate::failure::errno;

/// Variable of the environment that says where the daemon is: a path, or `@` and an abstract name.
pub const DAEMON: &str = "SLANTPATH_SCTP";

/// Asks the daemon for a pair. The answer brings its descriptor, which `exec` closes.
///
/// # Errors
/// If no daemon is there, or it takes no more at this moment (`EAGAIN`).
pub fn ask_to_open(daemon: &[u8], request: OpenRequest) -> Result<Pending, Errno> {
    let name = match daemon {
        [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name),
        path => SocketAddrUnix::new(path),
    };
    let flags = SocketFlags::CLOEXEC;
    let channel = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(errno)?;
    let connected = loop {
        match connect(&channel, name.as_ref().map_err(|error| errno(*error))?) {
            Err(KernelErrno::INTR) => {}
            other => break other,
        }
    };
    match connected {
        Ok(()) => {}
        // A kernel without SCTP says just this.
        Err(KernelErrno::CONNREFUSED | KernelErrno::NOENT) => return Err(Errno::EPROTONOSUPPORT),
        Err(error) => return Err(errno(error)),
    }
    send(&channel, &request.encode(), SendFlags::NOSIGNAL).map_err(errno)?;
    Ok(Pending::on(channel))
}
