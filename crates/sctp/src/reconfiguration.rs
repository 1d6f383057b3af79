//! Requests and events of changes of streams (RFC 6525) that pass between an association and the layer above.

use crate::chunk::ReconfigurationResult;
use crate::types::StreamId;

/// Requests of a peer to change streams that are carried out; the others are denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconfigurationPolicy {
    /// Resets of streams, in either direction.
    pub resets_streams: bool,
    /// Resets of the whole association, whose TSNs begin anew.
    pub resets_association: bool,
    /// Additional streams, in either direction.
    pub adds_streams: bool,
    /// Number of streams that a direction may have at most by a peer's requests. A stream that is used costs two bytes.
    pub max_streams: u16,
}

impl Default for ReconfigurationPolicy {
    /// Everything, since the extension is off unless it is asked for.
    fn default() -> Self {
        Self { resets_streams: true, resets_association: true, adds_streams: true, max_streams: u16::MAX }
    }
}

/// In which direction streams are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetDirection {
    /// Streams that we send on.
    Outbound,
    /// Streams that the peer sends on.
    Inbound,
    /// Streams of both directions.
    Both,
}

/// A request of ours to change streams. An empty list of streams means all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamChange {
    /// Streams that we send on begin again with Stream Sequence Number 0.
    ResetOutbound(Box<[StreamId]>),
    /// Streams that the peer sends on do.
    ResetInbound(Box<[StreamId]>),
    /// All streams do, and TSNs begin anew.
    ResetAssociation,
    /// So many more streams to send on.
    AddOutbound(u16),
    /// So many more streams for the peer to send on.
    AddInbound(u16),
}

/// Change of streams, at the request of either end. An empty list of streams means all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamsChanged {
    /// The next ordered message of each of these streams that we send on has Stream Sequence Number 0.
    OutboundReset(Box<[StreamId]>),
    /// Reset of streams that the peer sends on: their next ordered message has Stream Sequence Number 0.
    InboundReset(Box<[StreamId]>),
    /// Reset of all streams of both directions, whose TSNs have begun anew as well.
    AssociationReset,
    /// Streams have been added.
    Added {
        /// Number of streams that we may send on now.
        outbound_streams: u16,
        /// Number of streams that the peer may send on now.
        inbound_streams: u16,
    },
}

impl StreamsChanged {
    /// Makes one of two resets of which the second follows at once, as seen by who receives. Gives the second back if
    /// it is something else.
    pub(crate) fn absorb(&mut self, later: Self) -> Option<Self> {
        match (&mut *self, later) {
            (Self::AssociationReset, Self::InboundReset(_) | Self::AssociationReset) => {}
            (Self::InboundReset(_), Self::AssociationReset) => *self = Self::AssociationReset,
            (Self::InboundReset(streams), Self::InboundReset(more)) => {
                if streams.is_empty() || more.is_empty() {
                    *streams = Box::default();
                } else {
                    *streams = StreamSet::of(&[&streams[..], &more[..]].concat()).listed;
                }
            }
            (_, later) => return Some(later),
        }
        None
    }
}

/// Why a request to change streams was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReconfigurationError {
    /// No such association, it is not established, or it ends.
    #[error("there is no established association")]
    NotEstablished,
    /// Both ends have to offer the extension.
    #[error("re-configuration was not negotiated with this peer")]
    NotSupported,
    /// A stream was not negotiated.
    #[error("stream {stream} is not one of the {available} streams of its direction")]
    NoSuchStream {
        /// The stream asked for.
        stream: StreamId,
        /// Number of streams of that direction.
        available: u16,
    },
    /// Nothing was asked for.
    #[error("nothing was asked for")]
    Nothing,
    /// A stream identifier has 16 bits, and the largest number of streams is 65,535.
    #[error("there cannot be so many streams")]
    TooManyStreams,
    /// The list does not fit into a packet.
    #[error("a request names at most {0} streams")]
    ListTooLong(usize),
    /// The association was reset less than 30 s ago, or will be.
    #[error("an association is reset once in 30 s")]
    TooSoon,
}

/// Streams of one direction: some, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamSet {
    /// Ascending, each once; none: all.
    listed: Box<[StreamId]>,
}

impl StreamSet {
    pub(crate) fn of(streams: &[StreamId]) -> Self {
        let mut listed = streams.to_vec();
        listed.sort_unstable();
        listed.dedup();
        Self { listed: listed.into() }
    }

    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.listed.is_empty() || self.listed.binary_search(&stream).is_ok()
    }

    /// Tells if the set contains all streams of the other.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_listed = |stream: &StreamId| self.contains(*stream);
        self.listed.is_empty() || (!other.listed.is_empty() && other.listed.iter().all(is_listed))
    }

    /// One that does not exist where there are `count` streams.
    pub(crate) fn beyond(&self, count: u16) -> Option<StreamId> {
        self.listed.last().copied().filter(|stream| stream.0 >= count)
    }

    /// Streams that are listed; none: all.
    pub(crate) const fn listed(&self) -> &[StreamId] {
        &self.listed
    }
}

/// Tells if the answer to a request says that the request holds.
pub(crate) const fn is_success(result: ReconfigurationResult) -> bool {
    matches!(result, ReconfigurationResult::Performed | ReconfigurationResult::NothingToDo)
}
