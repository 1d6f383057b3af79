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
    Accepted { socket: SocketNumber, peer: SocketAddr },
    Message(Arrived),
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
}

impl Inbox {
    pub(crate) fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Tells if it has bytes of messages.
    pub(crate) fn has_messages(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Message(_)))
    }

    /// Sockets that have been accepted and not been handed over.
    pub(crate) fn take_accepted(&mut self) -> Vec<SocketNumber> {
        let accepted = self.items.iter().filter_map(|item| match item {
            Item::Accepted { socket, .. } => Some(*socket),
            Item::Message(_) => None,
        });
        let accepted = accepted.collect();
        self.items.retain(|item| !matches!(item, Item::Accepted { .. }));
        accepted
    }

    /// Number of sockets that have been accepted and not been handed over.
    pub(crate) fn accepted_count(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Accepted { .. })).count()
    }

    /// Takes the next piece; of a message, also whose it is.
    pub(crate) fn next(&mut self) -> Option<(ForProgram, Option<SocketId>)> {
        match self.items.front_mut()? {
            Item::Message(Arrived { association, info, source, bytes, is_end }) => {
                let piece = bytes.split_to(bytes.len().min(PIECE_MAX));
                let is_last = bytes.is_empty();
                let header =
                    ToProgram::Data { is_end: is_last && *is_end, info: *info, source: *source, next: None };
                let of = Some(*association);
                if is_last {
                    self.items.pop_front();
                }
                Some((ForProgram { header, bytes: piece, socket: None }, of))
            }
            &mut Item::Accepted { socket, peer } => {
                self.items.pop_front();
                let header = ToProgram::Accepted { peer };
                Some((ForProgram { header, bytes: Bytes::new(), socket: Some(socket) }, None))
            }
        }
    }
}
