//! Packets on their way through the network: a few words each. Their bytes lie in the
//! [store](crate::packets::PacketStore).

use slantpath_wire::ip::Dscp;

/// Place of the bytes of a packet in the [store](crate::packets::PacketStore).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketId(u32);

impl PacketId {
    /// The place of this number.
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Number of the place.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Interface of a host that a packet is bound for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DestinationId(pub(crate) u32);

impl DestinationId {
    /// Place of the destination among all, in the order of interfaces.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The destination at a place, or behind the last of them a label: a [`Source`](crate::Source) that
    /// [steers](crate::Source::steer) tells by it on which of several ways to one destination a packet is.
    ///
    /// # Panics
    /// If there are more than 2^32 with it.
    pub fn from_index(place: usize) -> Self {
        Self(u32::try_from(place).expect("fewer than 2^32 destinations and labels"))
    }
}

/// All that links and routers need to know about a packet, so that a hop touches none of its bytes. Two words
/// in all, which travel in registers: a struct of small fields is written to memory piece by piece and read
/// as a whole, for which a processor has to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parcel {
    /// The packet's number in the store, and above it its destination's.
    ids: u64,
    /// The length in bytes, 24 bits, and above it eight bits each of traffic class, hop limit, condition, fate and
    /// role; the highest bit says whether its journey is watched, and the next whether it is a frame.
    state: u64,
}

impl Parcel {
    /// A packet as its sender made it, `length` bytes long from the IP header on.
    #[inline]
    pub(crate) fn new(
        packet: PacketId,
        destination: DestinationId,
        length: u32,
        hop_limit: u8,
        traffic_class: u8,
    ) -> Self {
        debug_assert!(length <= LENGTH_MAX, "{length} bytes are longer than any IP packet");
        let ids = u64::from(packet.0) | u64::from(destination.0) << 32;
        let fields = u64::from(traffic_class) << TRAFFIC_CLASS | u64::from(hop_limit) << HOP_LIMIT;
        Self { ids, state: u64::from(length) | fields | PLAIN }
    }

    /// Place of the packet's bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(crate) const fn packet(self) -> PacketId {
        PacketId(self.ids as u32)
    }

    /// Destination of the packet.
    #[inline]
    pub(crate) const fn destination(self) -> DestinationId {
        DestinationId((self.ids >> 32) as u32)
    }

    /// In bytes, from the IP header on; of a frame what it carries.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(crate) const fn length(self) -> u32 {
        self.state as u32 & LENGTH_MAX
    }

    /// DSCP and, in the lowest two bits, ECN.
    #[inline]
    pub(crate) const fn traffic_class(self) -> u8 {
        self.field(TRAFFIC_CLASS)
    }

    /// Tells if its transport can be told of congestion by a mark: one of the ECT codepoints, or CE already.
    #[inline]
    pub(crate) const fn is_ecn_capable(self) -> bool {
        self.traffic_class() & CONGESTION_EXPERIENCED != 0
    }

    /// Tells if its transport will be told of congestion. The mark is written into the header when somebody looks.
    #[inline]
    pub(crate) const fn is_marked(self) -> bool {
        self.traffic_class() & CONGESTION_EXPERIENCED == CONGESTION_EXPERIENCED
    }

    /// The packet with the mark.
    #[must_use]
    pub(crate) const fn marked(self) -> Self {
        self.with_field(TRAFFIC_CLASS, self.traffic_class() | CONGESTION_EXPERIENCED)
    }

    /// The packet with another codepoint, which is written into the header when somebody looks.
    #[must_use]
    pub(crate) const fn with_dscp(self, dscp: Dscp) -> Self {
        self.with_field(TRAFFIC_CLASS, dscp.number() << 2 | self.traffic_class() & CONGESTION_EXPERIENCED)
    }

    /// Value that the header's TTL or hop limit should have by now; it is written there when somebody looks.
    #[inline]
    pub(crate) const fn hop_limit(self) -> u8 {
        self.field(HOP_LIMIT)
    }

    /// The state of its bytes.
    #[inline]
    pub(crate) const fn condition(self) -> Condition {
        if self.field(CONDITION) == Condition::Damaged as u8 { Condition::Damaged } else { Condition::Sound }
    }

    /// Fate of the packet on the link that it is on.
    #[inline]
    pub(crate) const fn fate(self) -> Fate {
        match self.field(FATE) {
            0 => Fate::Arrives,
            1 => Fate::Damaged,
            2 => Fate::Lost,
            _ => Fate::Undecodable,
        }
    }

    /// Role of the packet: a copy made by the link that it is on, or the original.
    #[inline]
    pub(crate) const fn role(self) -> Role {
        if self.state >> ROLE & 1 == Role::Copy as u64 { Role::Copy } else { Role::Original }
    }

    /// Tells if its bytes are as its sender made them, it is the original and arrives, and nobody watches its journey:
    /// nearly every packet.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        self.state & (0xff << CONDITION | 0xff << FATE | 0xff << ROLE) == PLAIN
    }

    /// Tells if it is [plain](Self::is_plain) but that somebody watches its journey.
    #[inline]
    pub(crate) const fn is_plain_but_watched(self) -> bool {
        Self { state: self.state ^ WATCHED, ..self }.is_plain()
    }

    /// Word that tells this parcel from others in the digest of a run: destination, length and all that has happened to
    /// it, a mark of congestion among it.
    #[inline]
    pub(crate) const fn digest_word(self) -> u64 {
        self.state & !(DSCP << TRAFFIC_CLASS | WATCHED) ^ self.ids & !0xffff_ffff
    }

    #[inline]
    #[must_use]
    pub(crate) const fn with_packet(self, packet: PacketId) -> Self {
        Self { ids: self.ids >> 32 << 32 | packet.0 as u64, ..self }
    }

    #[must_use]
    pub(crate) const fn with_length(self, length: u32) -> Self {
        Self { state: self.state & !(LENGTH_MAX as u64) | length as u64, ..self }
    }

    #[must_use]
    pub(crate) const fn with_destination(self, destination: DestinationId) -> Self {
        Self { ids: (destination.0 as u64) << 32 | self.ids & 0xffff_ffff, ..self }
    }

    #[inline]
    #[must_use]
    pub(crate) const fn with_hop_limit(self, hop_limit: u8) -> Self {
        self.with_field(HOP_LIMIT, hop_limit)
    }

    #[must_use]
    pub(crate) const fn with_traffic_class(self, traffic_class: u8) -> Self {
        self.with_field(TRAFFIC_CLASS, traffic_class)
    }

    #[inline]
    #[must_use]
    pub(crate) const fn with_condition(self, condition: Condition) -> Self {
        self.with_field(CONDITION, condition as u8)
    }

    #[inline]
    #[must_use]
    pub(crate) const fn with_fate(self, fate: Fate) -> Self {
        self.with_field(FATE, fate as u8)
    }

    #[inline]
    #[must_use]
    pub(crate) const fn with_role(self, role: Role) -> Self {
        Self { state: self.state & !(1 << ROLE) | (role as u64) << ROLE, ..self }
    }

    /// Tells if its bytes are a frame of Ethernet.
    #[inline]
    pub(crate) const fn is_frame(self) -> bool {
        self.state & FRAME != 0
    }

    /// The packet as a frame.
    #[must_use]
    pub(crate) const fn as_frame(self) -> Self {
        Self { state: self.state | FRAME, ..self }
    }

    /// Tells if the times that its journey takes are noted.
    #[inline]
    pub(crate) const fn is_watched(self) -> bool {
        self.state & WATCHED != 0
    }

    /// The packet as one whose journey is watched.
    #[must_use]
    pub(crate) const fn watched(self) -> Self {
        Self { state: self.state | WATCHED, ..self }
    }

    #[inline]
    const fn field(self, shift: u32) -> u8 {
        (self.state >> shift & 0xff) as u8
    }

    #[inline]
    const fn with_field(self, shift: u32, value: u8) -> Self {
        Self { state: self.state & !(0xff << shift) | (value as u64) << shift, ..self }
    }
}

/// No IP packet is nearly as long.
pub(crate) const LENGTH_MAX: u32 = 0xff_ffff;

/// CE in the ECN field, and all bits of that field.
pub(crate) const CONGESTION_EXPERIENCED: u8 = 3;
/// The bits of the DSCP in the traffic class.
const DSCP: u64 = 0xfc;

const TRAFFIC_CLASS: u32 = 24;
const HOP_LIMIT: u32 = 32;
const CONDITION: u32 = 40;
const FATE: u32 = 48;
const ROLE: u32 = 56;
const WATCHED: u64 = 1 << 63;
const FRAME: u64 = 1 << 62;
const PLAIN: u64 =
    (Condition::Sound as u64) << CONDITION | (Fate::Arrives as u64) << FATE | (Role::Original as u64) << ROLE;

/// The state of a packet's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Bits were flipped: a router has to look at the bytes again.
    Damaged,
    /// As the sender made them.
    Sound,
}

/// Effect of a link on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    /// Arrives with the bits flipped that the channel has noted.
    Damaged,
    Lost,
    /// Arrives with a header that the far end cannot read any more.
    Undecodable,
}

/// Role of a packet on a link: one that went through the transmitter, or a copy that the link made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Copy,
    Original,
}
