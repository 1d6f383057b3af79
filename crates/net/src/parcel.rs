//! Packets on their way through the network: a few words each, and the store that keeps their bytes.

use slantpath_wire::Packet;

/// Where the bytes of a packet lie in the [`PacketStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketId(u32);

/// Which interface a packet is bound for, as a column of the route tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DestinationId(pub(crate) u32);

/// All that links and routers need to know about a packet, so that a hop touches none of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) packet: PacketId,
    pub(crate) destination: DestinationId,
    /// In bytes, from the IP header on.
    pub(crate) length: u32,
    /// What the header's TTL or hop limit should say by now; it is written there when somebody looks.
    pub(crate) hop_limit: u8,
    pub(crate) condition: Condition,
    /// What becomes of it on the link that it is on.
    pub(crate) fate: Fate,
    pub(crate) role: Role,
}

impl Parcel {
    /// A packet as its sender made it.
    pub(crate) const fn new(
        packet: PacketId,
        destination: DestinationId,
        length: u32,
        hop_limit: u8,
    ) -> Self {
        let (condition, fate, role) = (Condition::Sound, Fate::Arrives, Role::Original);
        Self { packet, destination, length, hop_limit, condition, fate, role }
    }
}

/// The state of a packet's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Bits were flipped: a router has to look at the bytes again.
    Damaged,
    /// As the sender made them.
    Sound,
}

/// What a link does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    /// Arrives with the bits flipped that the channel has noted.
    Damaged,
    Lost,
}

/// Whether a packet went through the transmitter or is a copy that the link made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Copy,
    Original,
}

/// The bytes of all packets in the network. Places are reused, the last one first, so that a run in its
/// steady state allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketStore {
    places: Vec<Option<Packet>>,
    free: Vec<PacketId>,
}

impl PacketStore {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.places[id.0 as usize] = Some(packet);
            return id;
        }
        let id = PacketId(u32::try_from(self.places.len()).expect("fewer than 2^32 packets are under way"));
        self.places.push(Some(packet));
        id
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.places[id.0 as usize].take().expect("a packet leaves the store once")
    }

    pub(crate) fn packet(&self, id: PacketId) -> &Packet {
        self.places[id.0 as usize].as_ref().expect("a packet under way is in the store")
    }

    pub(crate) fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        self.places[id.0 as usize].as_mut().expect("a packet under way is in the store")
    }

    /// How many packets are under way.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
