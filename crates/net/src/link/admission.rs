//! Words of admission: the limit of a queue, its signal to senders, and the state that a packet finds it in.

use slantpath_base::{DataSize, Instant};

use crate::parcel::Parcel;

/// Signal of a queue to a sender that it is to slow down, before there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionSignal {
    /// The packet is dropped.
    Drop,
    /// The packet is marked and goes on, if its transport understands that; others are dropped.
    Mark,
}

impl CongestionSignal {
    //= https://www.rfc-editor.org/rfc/rfc3168#section-5
    //# When the router's buffer
    //# is not yet full and the router is prepared to drop a packet to inform
    //# end nodes of incipient congestion, the router should first check to
    //# see if the ECT codepoint is set in that packet's IP header.  If so,
    //# then instead of dropping the packet, the router MAY instead set the
    //# CE codepoint in the IP header.
    /// The packet with a mark, or nothing if it has to be dropped.
    pub(crate) fn mark(self, parcel: Parcel) -> Option<Parcel> {
        (self == Self::Mark && parcel.is_ecn_capable()).then(|| parcel.marked())
    }
}

/// Limit of what may be queued. Counted is what waits, without the packet that is being transmitted: one that finds the
/// transmitter idle needs no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// So many bytes, from the IP header on.
    Bytes(DataSize),
    /// So many packets.
    Packets(u32),
    /// No limit at all.
    Unlimited,
}

impl QueueLimit {
    /// Tells if a packet of `length` bytes may join `packets` of `bytes` in all.
    #[inline]
    pub(crate) fn admits(&self, packets: u64, bytes: u64, length: u32) -> bool {
        match self {
            Self::Bytes(limit) => bytes + u64::from(length) <= limit.as_bytes(),
            Self::Packets(limit) => packets < u64::from(*limit),
            Self::Unlimited => true,
        }
    }
}

/// State of the queue that an arriving packet finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Number of packets that are queued, without the one that is being transmitted.
    pub(crate) packets: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Since when the transmitter has been idle, if it is.
    pub(crate) idle_since: Option<Instant>,
    /// Instant at which the packet's transmission will start.
    pub(crate) start: Instant,
}

impl Waiting {
    #[inline]
    pub(crate) const fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }
}
