//! Messages to the daemon, and the mark of the end.

use std::io::IoSlice;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as KernelErrno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use slantpath_requests::{Errno, FromProgram, PIECE_MAX, SendInfo};
use std::net::SocketAddr;

use crate::failure::errno;
use crate::gather;

/// Wait between tries to mark an end, and their number: three seconds in all.
const CLOSE_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
const CLOSE_TRIES: u32 = 300;

/// Sends a message whole. One of several pieces must not be cut by another thread's: the caller sees to that if the
/// message is longer than [`PIECE_MAX`]. Its later pieces wait for room, since the first cannot be taken back.
///
/// # Errors
/// If it would have to wait and may not (`EAGAIN`), or the daemon is no more (`ECONNRESET`).
pub fn send(
    pair: impl AsFd,
    info: Option<SendInfo>,
    destination: Option<SocketAddr>,
    message: &[IoSlice<'_>],
    may_wait: bool,
) -> Result<usize, Errno> {
    let len = gather::length(message);
    if len <= PIECE_MAX {
        let piece = FromProgram::Data { is_more: false, info, destination };
        put(&pair, &piece, message, may_wait, true)?;
        return Ok(len);
    }
    let mut sent = 0;
    while sent < len {
        let next = (len - sent).min(PIECE_MAX);
        let piece = FromProgram::Data { is_more: sent + next < len, info, destination };
        put(&pair, &piece, &gather::part(message, sent, next), may_wait || sent > 0, sent == 0)?;
        sent += next;
    }
    Ok(len)
}

/// Sends one piece of a message, and never waits.
///
/// # Errors
/// If it would have to wait (`EAGAIN`), or the daemon is no more (`ECONNRESET`).
pub fn send_piece(pair: impl AsFd, piece: &FromProgram, bytes: &[IoSlice<'_>]) -> Result<(), Errno> {
    put(pair, piece, bytes, false, false)
}

/// Marks that a process closes a descriptor of the socket, or ends, in order. False: there was no room for the mark.
pub fn close(pair: impl AsFd) -> bool {
    let header = FromProgram::Closing.header();
    let marked = rustix::net::send(pair, &header, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    !matches!(marked, Err(KernelErrno::AGAIN | KernelErrno::INTR))
}

/// Marks the end as [`close`] does, and waits a while for room: without the mark the daemon takes it for a kill.
pub fn close_with_patience(pair: impl AsFd) {
    for _ in 0..CLOSE_TRIES {
        if close(&pair) {
            return;
        }
        // It says writable later than there is room for a mark.
        let _ = poll(&mut [PollFd::new(&pair, PollFlags::OUT)], Some(&CLOSE_WAIT));
    }
}

/// Marks that a process has accepted the association of a socket. Its pair is fresh, and has room.
pub(crate) fn note_accepted(pair: impl AsFd) {
    let header = FromProgram::Accepted.header();
    // Without a daemon there is no queue.
    let _ = rustix::net::send(pair, &header, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// Puts a piece in.
fn put(
    pair: impl AsFd,
    piece: &FromProgram,
    bytes: &[IoSlice<'_>],
    may_wait: bool,
    is_interruptible: bool,
) -> Result<(), Errno> {
    let header = piece.header();
    let flags = if may_wait { SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL | SendFlags::DONTWAIT };
    gather::sending(&header, bytes, |all| {
        loop {
            match sendmsg(&pair, all, &mut SendAncillaryBuffer::default(), flags) {
                Ok(_) => return Ok(()),
                Err(KernelErrno::INTR) if !is_interruptible => {}
                // The end of an association is told by replies: the daemon itself is no more.
                Err(KernelErrno::PIPE) => return Err(Errno::ECONNRESET),
                Err(error) => return Err(errno(error)),
            }
        }
    })
}
