//! Queues: whether a packet that comes may wait.

use slantpath_base::{DataSize, Instant};

use crate::link::class::Class;
use crate::link::codel::CoDelConfig;
use crate::link::drr::DrrConfig;
use crate::link::fq_codel::FqCoDelConfig;
use crate::link::red::{Red, RedConfig};
use crate::parcel::Parcel;

/// A queue's discipline.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; packets are dropped when they leave, if all have waited for too long.
    CoDel(CoDelConfig),
    /// First in, first out; a packet that finds no room is dropped.
    DropTail(QueueLimit),
    /// Classes by the DSCP, which share the transmitter in proportion to their quanta.
    Drr(DrrConfig),
    /// Flows share the transmitter alike, each with CoDel.
    FqCoDel(FqCoDelConfig),
    /// Eight classes by the upper three bits of the DSCP, each with such a limit. A packet waits for all those of
    /// higher classes, but interrupts none.
    Priority(QueueLimit),
    /// First in, first out; packets are dropped at random before the queue is full.
    Red(RedConfig),
}

impl QueueConfig {
    /// Tells if packets are dropped for other reasons than want of room.
    pub const fn is_managed(&self) -> bool {
        matches!(self, Self::CoDel(_) | Self::FqCoDel(_) | Self::Red(_))
    }

    /// Tells if packets are marked in place of being dropped.
    pub const fn marks(&self) -> bool {
        match self {
            Self::CoDel(CoDelConfig { signal, .. })
            | Self::FqCoDel(FqCoDelConfig { codel: CoDelConfig { signal, .. }, .. })
            | Self::Red(RedConfig { signal, .. }) => {
                matches!(signal, CongestionSignal::Mark)
            }
            Self::DropTail(_) | Self::Drr(_) | Self::Priority(_) => false,
        }
    }
}

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

    /// Variant of [`admits`](Self::admits) for a class that is queued, beside a packet that has left it and still
    /// waits.
    pub(crate) fn admits_beside(&self, class: &Class, held: Option<Parcel>, arrival: Parcel) -> bool {
        let held_bytes = held.map_or(0, |held| u64::from(held.length()));
        let (packets, bytes) = (class.packets() + u64::from(held.is_some()), class.bytes() + held_bytes);
        self.admits(packets, bytes, arrival.length())
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

/// The admission of a first-in, first-out queue with its state. What waits lies with the transmitter, which asks.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(QueueLimit),
    Red(Box<Red>),
}

impl Queue {
    /// Notes a packet that was admitted before and [forgotten](Self::forget_waiting) since.
    pub(crate) fn readmit(&mut self, start: Instant, parcel: Parcel) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.readmit(start, parcel),
        }
    }

    /// Forgets what waits, since it was withdrawn.
    pub(crate) fn forget_waiting(&mut self) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.forget_waiting(),
        }
    }
}
