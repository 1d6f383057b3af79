//! Pair of one socket, with what waits on it in either direction.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, OwnedFd};

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_requests::{self as requests, FromProgram, HEADER_LEN};
use slantpath_sockets::{Closing, Token};
use slantpath_system::pair::OwnEnd;

/// Own end of a socket's pair.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is of one direction, and none excludes another")]
pub(crate) struct ProgramEnd {
    pub(crate) own: OwnEnd,
    /// Pieces of the program behind a message that had no room, in order.
    pub(crate) held: VecDeque<Held>,
    /// Bytes of messages among these.
    held_bytes: usize,
    /// True after a message that took the last room, until there is some.
    pub(crate) is_full: bool,
    /// True while a message of the program is not whole: its door waits for room in the midst of it.
    is_in_message: bool,
    /// True once the program has ended an association: what follows waits until packets to this machine itself have
    /// passed.
    pub(crate) is_settling: bool,
    /// Piece for which the pair has no room now.
    unsent: Option<Unsent>,
    /// True once nothing follows what has been written.
    is_ending: bool,
    /// Instant of the last thing that a program has said, if that was that it closes a descriptor in order.
    marked_at: Option<Instant>,
    /// True if messages, and not notifications alone, were written to the program.
    pub(crate) has_messages: bool,
    /// True if the program has closed its end with something unread in it.
    pub(crate) was_unread: bool,
    /// True if the program had just said so when it closed its end.
    was_in_order: bool,
    /// True once the program has closed its end, and all that came of it has been read.
    pub(crate) is_closed: bool,
    /// True while the poll waits for room.
    pub(crate) waits_for_room: bool,
}

/// Piece that waits for room in the host.
#[derive(Debug)]
pub(crate) enum Held {
    Data(FromProgram, Bytes),
    Request(Token, requests::Request),
}

#[derive(Debug)]
struct Unsent {
    header: [u8; HEADER_LEN],
    bytes: Bytes,
    beside: Option<OwnedFd>,
}

/// Bytes that are read ahead of a full association, so that requests behind them are answered.
const READ_AHEAD_BYTES: usize = 262_144;
/// Time for which the mark of an end holds. It is the mark of another copy if the pair is open still: a parent closes
/// its copy of what its child goes on with, and that child may be killed.
const MARK_HOLDS: Duration = Duration::from_secs(2);
/// Pieces that are held, at most.
const HELD_MAX: usize = 1_024;

impl ProgramEnd {
    pub(crate) fn new(own: OwnEnd) -> Self {
        Self {
            own,
            held: VecDeque::new(),
            held_bytes: 0,
            is_full: false,
            is_in_message: false,
            is_settling: false,
            unsent: None,
            is_ending: false,
            marked_at: None,
            has_messages: false,
            was_unread: false,
            was_in_order: false,
            is_closed: false,
            waits_for_room: false,
        }
    }

    /// Tells if pieces wait, so that those that follow have to wait as well.
    pub(crate) fn is_holding(&self) -> bool {
        self.is_full || self.is_settling || !self.held.is_empty()
    }

    /// Tells if the pair is to be read.
    pub(crate) fn is_to_be_read(&self) -> bool {
        let has_room = self.held_bytes < READ_AHEAD_BYTES && self.held.len() < HELD_MAX;
        !self.is_closed && (has_room || self.is_in_message)
    }

    /// Notes a piece that has come.
    pub(crate) fn note(&mut self, piece: &FromProgram, now: Instant) {
        self.marked_at = (*piece == FromProgram::Closing).then_some(now);
        if let FromProgram::Data { is_more, .. } = piece {
            self.is_in_message = *is_more;
        }
    }

    pub(crate) fn hold(&mut self, piece: Held) {
        if let Held::Data(_, bytes) = &piece {
            self.held_bytes += bytes.len();
        }
        self.held.push_back(piece);
    }

    pub(crate) fn next_held(&mut self) -> Option<Held> {
        if self.is_full || self.is_settling {
            return None;
        }
        let piece = self.held.pop_front()?;
        if let Held::Data(_, bytes) = &piece {
            self.held_bytes -= bytes.len();
        }
        Some(piece)
    }

    /// Notes that the program has closed its end in all its processes.
    pub(crate) fn note_closed(&mut self, now: Instant) {
        self.was_in_order |= self.marked_at.is_some_and(|at| now.saturating_since(at) < MARK_HOLDS);
        self.is_closed = true;
    }

    /// Way in which the program has closed the socket.
    pub(crate) const fn closing(&self) -> Closing {
        match (self.was_in_order, self.was_unread && self.has_messages) {
            (false, _) => Closing::Killed,
            (true, true) => Closing::Unread,
            (true, false) => Closing::InOrder,
        }
    }

    /// Writes what had no room. `true`: nothing is left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        if let Some(unsent) = &self.unsent {
            let parts = [IoSlice::new(&unsent.header), IoSlice::new(&unsent.bytes)];
            if !self.own.send(&parts, unsent.beside.as_ref().map(|beside| beside.as_fd()))? {
                return Ok(false);
            }
            self.unsent = None;
        }
        if self.is_ending {
            self.own.end()?;
        }
        Ok(true)
    }

    /// Writes a piece, or keeps it until there is room. `true`: there is room for more.
    pub(crate) fn write(
        &mut self,
        header: [u8; HEADER_LEN],
        bytes: Bytes,
        beside: Option<OwnedFd>,
    ) -> io::Result<bool> {
        self.unsent = Some(Unsent { header, bytes, beside });
        self.flush()
    }

    /// Tells the program that nothing follows, once what is unsent has been written.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.is_ending = true;
        self.flush().map(|_| ())
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.unsent.is_some()
    }

    /// Forgets what cannot be written any more.
    pub(crate) fn forget_unsent(&mut self) {
        self.unsent = None;
    }
}

#[cfg(test)]
mod tests {
    use slantpath_system::pair::{self, PairConfig};

    use super::*;

    #[test]
    fn the_mark_of_an_end_holds_for_the_end_that_follows_it_and_for_no_later_one() {
        for (marked_s, spoken_s, closed_s, closing) in [
            (Some(1), None, 1, Closing::InOrder),
            (Some(1), None, 2, Closing::InOrder),
            (Some(1), None, 9, Closing::Killed),
            (Some(1), Some(1), 1, Closing::Killed),
            (None, Some(1), 1, Closing::Killed),
        ] {
            let name = format!("slantpath-program-end-{}-{closed_s}", std::process::id());
            let config = PairConfig { name: name.as_bytes(), buffer_bytes: 4_096, filler_bytes: 0 };
            let mut end = ProgramEnd::new(pair::pair(&config).unwrap().0);
            let at = |seconds| Instant::START + Duration::from_secs(seconds);
            if let Some(s) = marked_s {
                end.note(&FromProgram::Closing, at(s));
            }
            if let Some(s) = spoken_s {
                end.note(&FromProgram::Request, at(s));
            }
            end.note_closed(at(closed_s));
            assert_eq!(end.closing(), closing, "{marked_s:?} {spoken_s:?} {closed_s}");
        }
    }
}
