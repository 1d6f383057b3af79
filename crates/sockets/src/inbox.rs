//! Pieces that have come for a program and have not been handed to it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_live::SocketId;
use slantpath_requests::{MessageInfo, PIECE_MAX, ToProgram};

use crate::news::SocketNumber;

/// ForProgram for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForProgram {
    /// Header of the piece.
    pub header: ToProgram,
    /// Bytes that follow it.
    pub bytes: Bytes,
    /// Socket that has been accepted: its descriptor goes beside the piece.
    pub socket: Option<SocketNumber>,
}

/// Something for a program to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Accepted {
        socket: SocketNumber,
        peer: SocketAddr,
    },
    Message(Arrived),
    /// Notification about an association.
    Notification {
        association: SocketId,
        source: SocketAddr,
        bytes: Bytes,
    },
}

/// A message, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) association: SocketId,
    pub(crate) info: MessageInfo,
    pub(crate) source: SocketAddr,
    pub(crate) bytes: Bytes,
    pub(crate) is_end: bool,
}

/// All that a program has not read of a socket, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    items: VecDeque<Item>,
    /// Message of which parts are in and the end is not: association, stream, and if it is unordered.
    open: Option<(SocketId, u16, bool)>,
    /// Items that may not come between the parts of that message.
    behind: VecDeque<Item>,
    /// Memory that the items take, about.
    held_bytes: usize,
}

/// Memory of an item beside its bytes, about.
const ITEM_BYTES: usize = 128;

impl Item {
    fn held_bytes(&self) -> usize {
        ITEM_BYTES
            + match self {
                Self::Accepted { .. } => 0,
                Self::Message(arrived) => arrived.bytes.len(),
                Self::Notification { bytes, .. } => bytes.len(),
            }
    }
}

impl Inbox {
    /// Memory of what has not been read.
    pub(crate) const fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Puts an item in. `interleave` is the level of `SCTP_FRAGMENT_INTERLEAVE`: what may come between the parts of a
    /// message.
    pub(crate) fn push(&mut self, item: Item, interleave: u32) {
        self.held_bytes += item.held_bytes();
        self.put(item, interleave);
    }

    fn put(&mut self, item: Item, interleave: u32) {
        if self.is_behind(&item, interleave) {
            self.behind.push_back(item);
            return;
        }
        let mut closes = false;
        if let Item::Message(arrived) = &item
            && interleave < 2
        {
            let of = (arrived.association, arrived.info.stream, arrived.info.flags & 1 != 0);
            closes = arrived.is_end && self.open == Some(of);
            if !arrived.is_end {
                self.open = Some(of);
            }
        }
        self.items.push_back(item);
        if closes {
            self.release(interleave);
        }
    }

    /// Tells if an item may not come yet.
    fn is_behind(&self, item: &Item, interleave: u32) -> bool {
        let Some(open) = self.open.filter(|_| interleave < 2) else { return false };
        match item {
            Item::Accepted { .. } => false,
            Item::Message(arrived) => {
                let of = (arrived.association, arrived.info.stream, arrived.info.flags & 1 != 0);
                of != open && (interleave == 0 || arrived.association == open.0)
            }
            Item::Notification { association, .. } => interleave == 0 || *association == open.0,
        }
    }

    /// The message of which parts are in has ended, or never will: what was behind it comes.
    pub(crate) fn release(&mut self, interleave: u32) {
        self.open = None;
        for item in std::mem::take(&mut self.behind) {
            self.put(item, interleave);
        }
    }

    /// Ends the message of an association of which parts are in, if there is one: the rest never comes.
    pub(crate) fn abandon(&mut self, association: SocketId, interleave: u32) {
        if self.open.is_some_and(|open| open.0 == association) {
            self.release(interleave);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.behind.is_empty()
    }

    /// Tells if it has bytes of messages.
    pub(crate) fn has_messages(&self) -> bool {
        self.items.iter().chain(&self.behind).any(|item| matches!(item, Item::Message(_)))
    }

    /// Takes out what is of an association.
    pub(crate) fn split_off(&mut self, association: SocketId) -> Self {
        let is_of_it = |item: &Item| match item {
            Item::Message(arrived) => arrived.association == association,
            Item::Notification { association: of, .. } => *of == association,
            Item::Accepted { .. } => false,
        };
        let mut taken = Self::default();
        let all = std::mem::take(&mut self.items).into_iter().chain(std::mem::take(&mut self.behind));
        self.held_bytes = 0;
        for item in all {
            let to = if is_of_it(&item) { &mut taken } else { &mut *self };
            to.held_bytes += item.held_bytes();
            to.items.push_back(item);
        }
        if self.open.is_some_and(|open| open.0 == association) {
            taken.open = self.open.take();
        }
        taken
    }

    /// Sockets that have been accepted and not been handed over.
    pub(crate) fn take_accepted(&mut self) -> Vec<SocketNumber> {
        let accepted = self.items.iter().filter_map(|item| match item {
            Item::Accepted { socket, .. } => Some(*socket),
            Item::Message(_) | Item::Notification { .. } => None,
        });
        let accepted: Vec<SocketNumber> = accepted.collect();
        self.held_bytes -= accepted.len() * ITEM_BYTES;
        self.items.retain(|item| !matches!(item, Item::Accepted { .. }));
        accepted
    }

    /// Takes the next piece; of a message, also whose it is.
    pub(crate) fn next(&mut self) -> Option<(ForProgram, Option<SocketId>)> {
        let (piece, of, is_last) = match self.items.front_mut()? {
            Item::Message(Arrived { association, info, source, bytes, is_end }) => {
                let piece = bytes.split_to(bytes.len().min(PIECE_MAX));
                let is_last = bytes.is_empty();
                let header = ToProgram::Data { is_end: is_last && *is_end, info: *info, source: *source };
                (ForProgram { header, bytes: piece, socket: None }, Some(*association), is_last)
            }
            Item::Notification { source, bytes, .. } => {
                let piece = bytes.split_to(bytes.len().min(PIECE_MAX));
                let is_end = bytes.is_empty();
                let header = ToProgram::Notification { is_end, source: *source };
                (ForProgram { header, bytes: piece, socket: None }, None, is_end)
            }
            &mut Item::Accepted { socket, peer } => {
                let header = ToProgram::Accepted { peer };
                (ForProgram { header, bytes: Bytes::new(), socket: Some(socket) }, None, true)
            }
        };
        self.held_bytes -= piece.bytes.len();
        if is_last {
            self.items.pop_front();
            self.held_bytes -= ITEM_BYTES;
        }
        Some((piece, of))
    }
}
