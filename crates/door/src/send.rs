//! Messages to the daemon, and the mark of the end.

use std::io::IoSlice;
use std::os::fd::AsFd;

use rustix::io::Errno as KernelErrno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use slantpath_requests::{Errno, FromProgram, PIECE_MAX, SendInfo};
use std::net::SocketAddr;

use crate::failure::errno;
use crate::gather;

/// Sends a message whole. One of several pieces must not be cut by another thread's: the caller sees to that if the
/// message is longer than [`PIECE_MAX`]. Its later pieces wait for room, since the first cannot be taken back.
///
/// # Errors
/// If it would have to wait and may not (`EAGAIN`), or the daemon takes nothing more (`EPIPE`).
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

/// Marks that a process closes a descriptor of the socket, or ends, in order. There is nobody to whom a failure could
/// be told.
pub fn close(pair: impl AsFd) {
    let header = FromProgram::Closing.header();
    let _ = rustix::net::send(pair, &header, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// Sends one piece, never waiting.
///
/// # Errors
/// `EAGAIN` if it would have to wait, `EPIPE` if the daemon takes nothing more.
pub fn send_piece(pair: impl AsFd, piece: &FromProgram, bytes: &[IoSlice<'_>]) -> Result<(), Errno> {
    put(pair, piece, bytes, false, true)
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
                Err(error) => return Err(errno(error)),
            }
        }
    })
}
