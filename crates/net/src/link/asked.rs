//! Work that a direction of a link is asked for, besides keeping packets in order and dropping those without room.

/// Kinds of work that a direction is asked for. It is told of each when that changes, and not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked(u8);

impl Asked {
    /// Every packet that is offered is captured.
    pub(crate) const CAPTURES: Self = Self(1 << 0);
    /// The channel does something to packets.
    pub(crate) const CHANNEL: Self = Self(1 << 1);
    /// Packets are conditioned before they queue.
    pub(crate) const CONDITIONER: Self = Self(1 << 2);
    /// Times that packets' journeys take are noted.
    pub(crate) const JOURNEYS: Self = Self(1 << 3);
    /// Every change of its queue is recorded.
    pub(crate) const QUEUE_CHANGES: Self = Self(1 << 4);
    /// A transmitter that others share serves the direction.
    pub(crate) const SHARED_PORT: Self = Self(1 << 5);
    /// The source of the run says of every packet where it goes.
    pub(crate) const STEERING: Self = Self(1 << 6);
    /// The direction's own queue or transmitter follows more than the plain rule.
    pub(crate) const TRANSMITTER: Self = Self(1 << 7);

    /// All that decides over packets before the lane has them, and does more than the plain rule.
    pub(crate) const MORE_THAN_PLAIN: Self =
        Self(Self::CONDITIONER.0 | Self::SHARED_PORT.0 | Self::TRANSMITTER.0);

    /// Asks for work, or no longer.
    pub(crate) const fn set(&mut self, work: Self, is_asked: bool) {
        self.0 = if is_asked { self.0 | work.0 } else { self.0 & !work.0 };
    }

    /// Tells if any of this work is asked for.
    #[inline]
    pub(crate) const fn has(self, work: Self) -> bool {
        self.0 & work.0 != 0
    }

    /// Tells if nothing is asked for.
    pub(crate) const fn is_nothing(self) -> bool {
        self.0 == 0
    }
}
