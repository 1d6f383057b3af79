//! Requests of a socket, as calls of the program make them.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::OnceLock;

use slantpath_door::Replied;
use slantpath_requests as requests;
use slantpath_requests::{Errno, Reply};

use crate::table::{Ours, style};
use crate::waiting;

/// `SOL_SOCKET`, whose options a daemon answers, too.
pub(crate) const SOL_SOCKET: i32 = libc::SOL_SOCKET;
/// `SOL_SCTP`.
pub(crate) const SOL_SCTP: i32 = libc::IPPROTO_SCTP;

/// Name of the daemon's socket, as the environment had it at the first question.
pub(crate) fn name() -> Option<&'static [u8]> {
    static NAME: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    NAME.get_or_init(|| std::env::var_os(slantpath_door::DAEMON).map(OsString::into_vec)).as_deref()
}

/// Asks, and waits for the reply. A failed one is an error.
pub(crate) fn ask(pair: impl AsFd, request: &requests::Request) -> Result<Reply, Errno> {
    let Replied { reply, .. } = ask_whole(pair, request, false)?;
    match reply.error {
        Some(error) => Err(error),
        None => Ok(reply),
    }
}

/// Asks, and waits for the reply, whatever it says.
pub(crate) fn ask_whole(
    pair: impl AsFd,
    request: &requests::Request,
    is_interruptible: bool,
) -> Result<Replied, Errno> {
    let pending = slantpath_door::ask(pair, request, true)?;
    if is_interruptible { waiting::for_reply(&pending) } else { pending.wait(false) }
}

/// Value of an option that is a number.
pub(crate) fn number_of(ours: Ours, level: i32, name: i32) -> Result<i32, Errno> {
    let request = requests::Request::GetOption { level, name, room: 4, value: vec![0; 4], waits: false };
    let reply = ask(ours.pair, &request)?;
    Ok(reply.value.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes)))
}

/// Style of a socket.
pub(crate) fn style_of(ours: Ours) -> Result<u8, Errno> {
    use std::sync::atomic::Ordering::Relaxed;
    let known = ours.known.style.load(Relaxed);
    if known != style::UNKNOWN {
        return Ok(known);
    }
    let is_many = number_of(ours, SOL_SOCKET, libc::SO_TYPE)? == libc::SOCK_SEQPACKET;
    let style = if is_many { style::ONE_TO_MANY } else { style::ONE_TO_ONE };
    ours.known.style.store(style, Relaxed);
    Ok(style)
}

/// True if a call on a socket may wait, by its descriptor's flags.
pub(crate) fn may_wait(pair: impl AsFd) -> bool {
    rustix::fs::fcntl_getfl(pair).is_ok_and(|flags| !flags.contains(rustix::fs::OFlags::NONBLOCK))
}
