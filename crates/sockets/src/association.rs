//! State of one association.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use slantpath_base::Instant;
use slantpath_requests::SendInfo;
use slantpath_sctp as sctp;

use crate::news::SocketNumber;
use crate::notifications::Kinds;
use crate::socket::Choices;

/// Number of an association, as sockets tell it: it is never one of Linux's words for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AssociationNumber(pub(crate) i32);

/// Numbers up to here stand for several associations: future, current, all.
pub(crate) const LAST_WORD: i32 = 2;

/// Stage that an association has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Opening,
    /// Stage in which messages pass.
    Up,
    /// The peer has begun to shut it down, or this end has.
    Ending,
}

/// An association of a socket.
#[derive(Debug)]
pub(crate) struct Association {
    pub(crate) number: AssociationNumber,
    /// Socket that has it; `None` once that is closed.
    pub(crate) owner: Option<SocketNumber>,
    /// Place of the association.
    pub(crate) place: sctp::PortId,
    /// First address of the peer.
    pub(crate) peer: SocketAddr,
    pub(crate) stage: Stage,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    /// Messages sent, which begins at 0 anew after 2^32: it names each message in a trace.
    pub(crate) sent: u32,
    /// Bytes of messages that the program has not read.
    pub(crate) unread_bytes: usize,
    /// True if SCTP has been asked to hold messages back.
    pub(crate) is_paused: bool,
    /// A message that had no room in the send buffer.
    pub(crate) held: Option<sctp::Message>,
    /// Messages that have failed and have not been told of, each with the truth that it was sent.
    pub(crate) failed: Vec<(sctp::Message, bool)>,
    /// Notifications that it tells.
    pub(crate) events: Kinds,
    /// Options of messages where the program says nothing.
    pub(crate) defaults: SendInfo,
    /// Context of what is received.
    pub(crate) context: u32,
    /// Numbers of keys that were taken out of use.
    pub(crate) retired_keys: BTreeSet<u16>,
    /// Instant of its last message, if it is shut down when it idles.
    pub(crate) used_at: Instant,
    /// True if a message that is sent may still have to be acknowledged.
    pub(crate) is_wet: bool,
    /// True if it is to be shut down once what is held is sent.
    pub(crate) is_end_wanted: bool,
}

impl Association {
    pub(crate) fn opening(
        now: Instant,
        number: AssociationNumber,
        owner: SocketNumber,
        ends: (sctp::PortId, SocketAddr),
        choices: &Choices,
    ) -> Self {
        Self {
            number,
            owner: Some(owner),
            place: ends.0,
            peer: ends.1,
            stage: Stage::Opening,
            outbound_streams: 0,
            inbound_streams: 0,
            sent: 0,
            unread_bytes: 0,
            is_paused: false,
            held: None,
            failed: Vec::new(),
            events: choices.events,
            defaults: choices.defaults,
            context: choices.context,
            retired_keys: choices.retired_keys.clone(),
            used_at: now,
            is_wet: false,
            is_end_wanted: false,
        }
    }
}
