//! Claims: what has come is taken by peeks, and its end by a real receive.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno as KernelErrno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, ReturnFlags, recv, recvmsg};
use slantpath_requests::{Errno, HEADER_LEN, PIECE_MAX, ToProgram};
use slantpath_system::peeking;
use std::net::SocketAddr;

use crate::ask::receive_with_descriptor;
use crate::control::NextInfo;
use crate::failure::{errno, of_io};
use crate::gather;
use crate::send;

/// Turns that another process is given between the claim of a piece's end and its removal.
const TURNS: usize = 50;

/// `SCTP_COMPLETE`: all of the message is there.
const COMPLETE: u16 = 0x0008;
/// `SCTP_NOTIFICATION`: a notification is next.
const NOTIFICATION: u16 = 0x8000;

/// State of what one process has claimed of a socket: whose turn a claim is, the caller sees to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim {
    /// Piece that the last claim has left unfinished, and the peek offset behind that claim.
    unfinished: Option<(ToProgram, i32)>,
}

impl Claim {
    /// True if the last claim has left a piece unfinished.
    pub const fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }
}

/// Knowledge about the piece whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nobody has taken a part of it.
    No,
    /// Somebody may have.
    Perhaps,
}

/// Bytes that have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Number of bytes.
    pub len: usize,
    /// Piece that they are of.
    pub piece: ToProgram,
    /// True if the message or notification ends with them (`MSG_EOR`).
    pub is_end: bool,
}

/// Association that has come to a listener.
#[derive(Debug)]
pub struct Accepted {
    /// Socket of the association.
    pub descriptor: OwnedFd,
    /// Address of its peer.
    pub peer: SocketAddr,
}

/// Takes what is there of a message into the buffers, or reads it and leaves it there (`MSG_PEEK`). A message of many
/// pieces is taken as far as it is there. None: the daemon has said that nothing more will come.
///
/// # Errors
/// `EAGAIN` if nothing is there.
pub fn receive(
    pair: impl AsFd,
    claim: &mut Claim,
    buffers: &mut [IoSliceMut<'_>],
    leaves: bool,
) -> Result<Option<Came>, Errno> {
    receive_by(if leaves { Taking::Peek } else { Taking::Claim }, pair, claim, buffers)
}

/// Variant of [`receive`] for a caller beside whom nobody takes anything of the socket at this moment: a piece that has
/// room for certain is taken by one call of the system, if nobody has begun it.
///
/// # Errors
/// `EAGAIN` if nothing is there.
pub fn receive_alone(
    pair: impl AsFd,
    claim: &mut Claim,
    buffers: &mut [IoSliceMut<'_>],
    begun: Begun,
) -> Result<Option<Came>, Errno> {
    receive_by(Taking::Alone(begun), pair, claim, buffers)
}

/// Way in which bytes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taking {
    /// By real receives where there is room, since nobody else claims anything.
    Alone(Begun),
    /// By peeks that claim.
    Claim,
    /// Not at all.
    Peek,
}

fn receive_by(
    taking: Taking,
    pair: impl AsFd,
    claim: &mut Claim,
    buffers: &mut [IoSliceMut<'_>],
) -> Result<Option<Came>, Errno> {
    let leaves = taking == Taking::Peek;
    let room = gather::room(buffers);
    let begin = if leaves { peeking::offset(&pair).map_err(|error| of_io(&error))? } else { 0 };
    let mut came: Option<Came> = None;
    let mut filled = 0;
    loop {
        let may_be_begun = came.is_none() || !leaves;
        let step = take_piece(taking, &pair, claim, buffers, filled, may_be_begun);
        let part = match (step, came) {
            (Ok(Some(part)), _) => part,
            (Ok(None), None) => return Ok(None),
            (Err(error), None) => return Err(error),
            // What has come is the program's; a failure is seen at its next call.
            (Ok(None) | Err(_), Some(_)) => break,
        };
        filled += part.len;
        let piece = came.map_or(part.piece, |first| first.piece);
        came = Some(Came { len: filled, piece, is_end: part.is_end });
        if part.is_end || filled >= room || claim.unfinished.is_some() {
            break;
        }
    }
    if leaves {
        peeking::set_offset(&pair, begin).map_err(|error| of_io(&error))?;
        claim.unfinished = claim.unfinished.filter(|(_, at)| *at == begin && begin != 0);
    }
    Ok(came)
}

/// Takes bytes of the piece whose turn it is.
fn take_piece(
    taking: Taking,
    pair: impl AsFd,
    claim: &mut Claim,
    buffers: &mut [IoSliceMut<'_>],
    filled: usize,
    may_be_begun: bool,
) -> Result<Option<Came>, Errno> {
    let at = match taking {
        Taking::Alone(Begun::No) => 0,
        _ => peeking::offset(&pair).map_err(|error| of_io(&error))?,
    };
    let goes_on = match claim.unfinished {
        Some((piece, left_at)) if left_at == at && at != 0 => Some(piece),
        // Another process has begun the piece, or takes it away at this moment.
        _ if at > 0 && may_be_begun => {
            if is_taken_away_soon(&pair, at)? {
                return take_piece(taking, pair, claim, buffers, filled, may_be_begun);
            }
            begun_elsewhere(&pair, at)?
        }
        _ => None,
    };
    let mut header = [0; HEADER_LEN];
    let in_front: &mut [u8] = if goes_on.is_some() { &mut [] } else { &mut header };
    let in_front_len = in_front.len();
    let has_room = gather::room(buffers).saturating_sub(filled) >= PIECE_MAX;
    let is_taken = matches!(taking, Taking::Alone(_)) && at == 0 && has_room;
    let (bytes, is_short) = gather::receiving(in_front, buffers, filled, |all| {
        let peek = if is_taken { RecvFlags::empty() } else { RecvFlags::PEEK };
        let flags = peek | RecvFlags::DONTWAIT;
        let came = recvmsg(&pair, all, &mut RecvAncillaryBuffer::default(), flags).map_err(errno)?;
        Ok::<_, Errno>((came.bytes, came.flags.contains(ReturnFlags::TRUNC)))
    })?;
    if bytes < in_front_len || (bytes == 0 && goes_on.is_none()) {
        claim.unfinished = None;
        return if bytes == 0 { Ok(None) } else { Err(Errno::EIO) };
    }
    let piece = match goes_on {
        Some(piece) => piece,
        None => ToProgram::decode(&header).map_err(|_| Errno::EIO)?.0,
    };
    let len = bytes - in_front_len;
    if is_short {
        claim.unfinished = Some((piece, at + i32::try_from(bytes).unwrap_or(i32::MAX)));
    } else {
        claim.unfinished = None;
        if taking != Taking::Peek && !is_taken {
            take_away(&pair)?;
        }
    }
    let ends = match piece {
        ToProgram::Data { is_end, .. } | ToProgram::Notification { is_end, .. } => is_end,
        ToProgram::Accepted { .. } => true,
    };
    Ok(Some(Came { len, piece, is_end: ends && !is_short }))
}

/// True once another process has moved the offset: it had claimed the end of a piece, or claims more of it.
fn is_taken_away_soon(pair: impl AsFd, at: i32) -> Result<bool, Errno> {
    for _ in 0..TURNS {
        if peeking::offset(&pair).map_err(|error| of_io(&error))? != at {
            return Ok(true);
        }
        std::thread::yield_now();
    }
    Ok(false)
}

/// Header of a piece that another process has begun. It stays for this one to go on with.
fn begun_elsewhere(pair: impl AsFd, at: i32) -> Result<Option<ToProgram>, Errno> {
    let mut header = [0; HEADER_LEN];
    let set = |offset| peeking::set_offset(&pair, offset).map_err(|error| of_io(&error));
    set(0)?;
    let peeked = recv(&pair, &mut header, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    set(at)?;
    match peeked {
        Ok((HEADER_LEN, _)) => Ok(ToProgram::decode(&header).ok().map(|(piece, _)| piece)),
        Ok(_) => Ok(None),
        Err(error) => Err(errno(error)),
    }
}

/// Takes a piece away whose end has been claimed.
fn take_away(pair: impl AsFd) -> Result<(), Errno> {
    loop {
        match recv(&pair, &mut [0_u8; 1], RecvFlags::DONTWAIT) {
            Ok(_) => return Ok(()),
            Err(KernelErrno::INTR) => {}
            Err(error) => return Err(errno(error)),
        }
    }
}

/// Looks at the message behind one that was taken to its end, if it is there.
pub fn peek_next(pair: impl AsFd, claim: &Claim) -> Option<NextInfo> {
    if claim.unfinished.is_some() || peeking::offset(&pair).ok()? != 0 {
        return None;
    }
    let mut header = [0; HEADER_LEN];
    let flags = RecvFlags::PEEK | RecvFlags::TRUNC | RecvFlags::DONTWAIT;
    let peeked = recv(&pair, &mut header, flags);
    // The peek has moved it.
    peeking::set_offset(&pair, 0).ok()?;
    let (_, len) = peeked.ok()?;
    let length = u32::try_from(len.checked_sub(HEADER_LEN)?).ok()?;
    let complete = |is_end: bool| if is_end { COMPLETE } else { 0 };
    match ToProgram::decode(&header).ok()?.0 {
        ToProgram::Data { is_end, info, .. } => Some(NextInfo {
            stream: info.stream,
            flags: info.flags | complete(is_end),
            payload_protocol: info.payload_protocol,
            length,
            association: info.association,
        }),
        ToProgram::Notification { is_end, .. } => {
            Some(NextInfo { flags: NOTIFICATION | complete(is_end), length, ..NextInfo::default() })
        }
        ToProgram::Accepted { .. } => None,
    }
}

/// Length of what is left of the piece that comes next (`FIONREAD`); 0 if nothing is there.
///
/// # Errors
/// If it is no socket.
pub fn next_len(pair: impl AsFd) -> Result<usize, Errno> {
    let at = peeking::offset(&pair).map_err(|error| of_io(&error))?;
    let flags = RecvFlags::PEEK | RecvFlags::TRUNC | RecvFlags::DONTWAIT;
    match recv(pair, &mut [0_u8; 0], flags) {
        Ok((_, len)) => Ok(if at == 0 { len.saturating_sub(HEADER_LEN) } else { len }),
        Err(KernelErrno::AGAIN) => Ok(0),
        Err(error) => Err(errno(error)),
    }
}

/// Accepts an association, and tells the daemon so.
///
/// # Errors
/// `EAGAIN` if none is there; `EINVAL` if the daemon has said that none will come, or what comes is none.
pub fn accept(pair: impl AsFd) -> Result<Accepted, Errno> {
    let mut header = [0; HEADER_LEN];
    let mut buffers = [IoSliceMut::new(&mut header)];
    let (len, descriptor) = receive_with_descriptor(pair, &mut buffers, RecvFlags::DONTWAIT)?;
    match (ToProgram::decode(&header[..len]), descriptor) {
        (Ok((ToProgram::Accepted { peer }, _)), Some(descriptor)) => {
            send::note_accepted(&descriptor);
            Ok(Accepted { descriptor, peer })
        }
        (Ok((ToProgram::Accepted { .. }, _)), None) => Err(Errno::EMFILE),
        _ => Err(Errno::EINVAL),
    }
}
