//! Counts of what a direction of a link has carried and dropped.

use core::ops::{Deref, DerefMut};

use slantpath_base::Instant;

use crate::DirectionId;
use crate::conditioner::Colour;
use crate::packets::PacketStore;
use crate::parcel::Parcel;

/// Packets and their bytes, from the IP header on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl PacketCount {
    #[inline]
    pub(crate) fn add(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }

    /// Counts several at once.
    pub(crate) fn add_all(&mut self, packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
    }

    /// Takes back what was counted too early. The count may have been started anew since.
    pub(crate) fn remove(&mut self, length: u32) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(u64::from(length));
    }
}

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The node at the far end found its IP header broken by a bit error.
    BitError,
    /// A CoDel queue dropped it, since packets had waited for too long.
    CoDel,
    /// The direction was or went down.
    Down,
    /// A queue that drops at random dropped it, before it was full.
    Early,
    /// A queue that drops at random has been too long on average.
    Forced,
    /// An error hit it each time that the link sent it.
    GivenUp,
    /// The contact over which it was to leave ended while it waited or was being sent.
    Handover,
    /// The far end could not read its compressed header, for what it had lost before.
    HeaderContext,
    /// The node at the far end found its TTL or hop limit used up.
    HopLimit,
    /// The packet was lost on the way.
    Loss,
    /// The packet was longer than the MTU, and was not to be cut.
    Mtu,
    /// There was no contact over which it could leave.
    NoContact,
    /// A traffic conditioner dropped it, since it was out of its profile.
    Policed,
    /// There was no room to wait.
    QueueFull,
    /// No node has its destination address, or no route leads there: found by the sending host, or by the
    /// node at the far end.
    Unreachable,
}

impl DropReason {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 15] = [
        Self::BitError,
        Self::CoDel,
        Self::Down,
        Self::Early,
        Self::Forced,
        Self::GivenUp,
        Self::Handover,
        Self::HeaderContext,
        Self::HopLimit,
        Self::Loss,
        Self::Mtu,
        Self::NoContact,
        Self::Policed,
        Self::QueueFull,
        Self::Unreachable,
    ];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        self.comment().trim_start_matches("dropped: ")
    }

    /// Tells if any link may drop for this reason, whatever its settings.
    pub const fn is_of_any_link(self) -> bool {
        let is_of_some = self.is_of_managed_queue()
            || self.is_of_contacts()
            || self.is_of_repetition()
            || self.is_of_header_compression()
            || self.is_of_conditioner();
        !is_of_some
    }

    /// Tells if only a queue drops for this reason that [does more than](crate::QueueConfig::is_managed) refuse what
    /// finds no room.
    pub const fn is_of_managed_queue(self) -> bool {
        matches!(self, Self::CoDel | Self::Early | Self::Forced)
    }

    /// Tells if only a link that exists in contacts drops for this reason.
    pub const fn is_of_contacts(self) -> bool {
        matches!(self, Self::Handover | Self::NoContact)
    }

    /// Tells if only a link that [repeats](crate::ArqConfig) drops for this reason.
    pub const fn is_of_repetition(self) -> bool {
        matches!(self, Self::GivenUp)
    }

    /// Tells if only a link that [compresses headers](crate::HeaderCompression) drops for this reason.
    pub const fn is_of_header_compression(self) -> bool {
        matches!(self, Self::HeaderContext)
    }

    /// Tells if only a direction with a [conditioner](crate::ConditioningRule) drops for this reason.
    pub const fn is_of_conditioner(self) -> bool {
        matches!(self, Self::Policed)
    }

    /// As it is written in captures.
    pub(crate) const fn comment(self) -> &'static str {
        match self {
            Self::BitError => "dropped: bit error",
            Self::CoDel => "dropped: codel",
            Self::Down => "dropped: link down",
            Self::Early => "dropped: early",
            Self::Forced => "dropped: forced",
            Self::GivenUp => "dropped: given up",
            Self::Handover => "dropped: handover",
            Self::HeaderContext => "dropped: header context",
            Self::HopLimit => "dropped: hop limit",
            Self::Loss => "dropped: loss",
            Self::Mtu => "dropped: mtu",
            Self::NoContact => "dropped: no contact",
            Self::Policed => "dropped: policed",
            Self::QueueFull => "dropped: queue full",
            Self::Unreachable => "dropped: unreachable",
        }
    }
}

/// Counts of the packets of one direction, by their fate. At any instant `offered` is the sum of `carried`, of what was
/// dropped as down, lost, given up, not to be read, policed, too long, at a handover or for want of room or of a
/// contact, of what the sender found unreachable, of what was handed over, and of what is still on the link;
/// `duplicated` come on top. What the far end dropped had been carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Handed to the link by its sender.
    pub offered: PacketCount,
    /// Arrived at the far end, whole or damaged, copies included.
    pub carried: PacketCount,
    /// Of those carried, the ones with a flipped bit.
    pub damaged: PacketCount,
    /// Copies that the link made.
    pub duplicated: PacketCount,
    /// Packets that the sender cut because they were longer than the MTU. They were not offered; their fragments
    /// were.
    pub fragmented: PacketCount,
    /// The fragments that it made of them.
    pub fragments: PacketCount,
    /// Packets that come through with a compressed header, counted as they are sent, and the bytes that it saved.
    pub compressed: PacketCount,
    /// Packets that the link retransmitted; each time counts.
    pub repeated: PacketCount,
    /// Packets that waited when a contact ended and were given back to their node, which sent them on by another way.
    pub handed_over: PacketCount,
    /// Packets that waited when a contact ended and went on waiting for the next one; each time counts.
    pub held: PacketCount,
    /// Packets that the queue marked where it would have dropped others (RFC 3168), but for those that came marked.
    pub marked: PacketCount,
    /// Packets that a conditioner metered, by [colour](Colour).
    coloured: [PacketCount; Colour::ALL.len()],
    dropped: [PacketCount; DropReason::ALL.len()],
}

impl DirectionCounters {
    /// Count of what was dropped for `reason`.
    pub const fn dropped(&self, reason: DropReason) -> PacketCount {
        self.dropped[reason as usize]
    }

    /// Count of all drops, whatever their reason.
    pub fn dropped_in_all(&self) -> PacketCount {
        self.dropped.iter().fold(PacketCount::default(), |sum, count| PacketCount {
            packets: sum.packets + count.packets,
            bytes: sum.bytes + count.bytes,
        })
    }

    /// Count of what a conditioner metered as of a colour.
    pub const fn coloured(&self, colour: Colour) -> PacketCount {
        self.coloured[colour as usize]
    }

    pub(crate) fn colour(&mut self, colour: Colour, length: u32) {
        self.coloured[colour as usize].add(length);
    }

    #[inline]
    pub(crate) fn drop(&mut self, reason: DropReason, length: u32) {
        self.dropped[reason as usize].add(length);
    }
}

/// The counters of a direction of a link, with whose they are: the one place where a drop is counted and, if somebody
/// [asked](crate::Network::record_drops), recorded.
#[derive(Clone, Debug)]
pub(crate) struct DirectionTally {
    direction: DirectionId,
    counters: DirectionCounters,
}

impl DirectionTally {
    pub(crate) fn new(direction: DirectionId) -> Self {
        Self { direction, counters: DirectionCounters::default() }
    }

    /// Counts a packet that goes no further; its bytes are still in the store.
    #[inline]
    pub(crate) fn drop(
        &mut self,
        now: Instant,
        reason: DropReason,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) {
        self.counters.drop(reason, parcel.length());
        if packets.is_observed() {
            packets.note_drop(now, self.direction, reason, parcel);
        }
    }

    /// Starts the counts anew.
    pub(crate) fn restart(&mut self) {
        self.counters = DirectionCounters::default();
    }
}

impl Deref for DirectionTally {
    type Target = DirectionCounters;

    #[inline]
    fn deref(&self) -> &DirectionCounters {
        &self.counters
    }
}

impl DerefMut for DirectionTally {
    #[inline]
    fn deref_mut(&mut self) -> &mut DirectionCounters {
        &mut self.counters
    }
}
