//! Numbers that name the parts of a network. All are given out by the
//! [`NetworkBuilder`](crate::NetworkBuilder) in the order in which the parts are declared.

use slantpath_interface::InterfaceId;

/// A host or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Place of the node in the order of declaration.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A transmitter that directions of several links share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedPortId(pub(crate) u32);

impl SharedPortId {
    /// Place of the shared transmitter in the order of declaration.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A duplex link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

impl LinkId {
    /// Place of the link in the order of declaration.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The direction from the first end to the second.
    pub const fn forward(self) -> DirectionId {
        DirectionId(2 * self.0)
    }

    /// The direction from the second end to the first.
    pub const fn reverse(self) -> DirectionId {
        DirectionId(2 * self.0 + 1)
    }

    /// The interface of the node at the first end.
    pub const fn first(self) -> InterfaceId {
        InterfaceId::new(2 * self.0)
    }

    /// The interface of the node at the second end.
    pub const fn second(self) -> InterfaceId {
        InterfaceId::new(2 * self.0 + 1)
    }
}

/// An interface of a node as what it is in a simulated network: an end of a link. They are numbered two a link, in the
/// order of the links.
pub trait LinkEnd: Copy {
    /// The link that it is an end of.
    fn link(self) -> LinkId;

    /// The interface at the other end of its link.
    #[must_use]
    fn peer(self) -> Self;

    /// The direction into which it sends.
    fn outbound(self) -> DirectionId;
}

impl LinkEnd for InterfaceId {
    fn link(self) -> LinkId {
        LinkId(self.number() / 2)
    }

    fn peer(self) -> Self {
        Self::new(self.number() ^ 1)
    }

    fn outbound(self) -> DirectionId {
        DirectionId(self.number())
    }
}

/// One direction of a link: a queue, a transmitter and what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectionId(pub(crate) u32);

impl DirectionId {
    /// Place of the direction among all: two a link, in the order of the links.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The interface that sends into it.
    pub const fn sender(self) -> InterfaceId {
        InterfaceId::new(self.0)
    }

    /// The interface that receives from it.
    pub const fn receiver(self) -> InterfaceId {
        InterfaceId::new(self.0 ^ 1)
    }

    /// `forward` or `reverse`.
    pub const fn name(self) -> &'static str {
        if self.0.is_multiple_of(2) { "forward" } else { "reverse" }
    }
}
