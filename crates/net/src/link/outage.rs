//! Treatment of packets while a direction cannot send.

/// Treatment of packets that wait for a transmitter when its contact ends. The one that is being sent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtHandover {
    /// They are given back to their node, which sends them on by the routes that hold then.
    HandedOver,
    /// They go on waiting, for the next contact. What comes before it waits or is dropped as
    /// [`WhileDown`] says.
    Held,
    /// They are dropped.
    Lost,
}

/// Treatment of packets while a direction is down. Those that left the transmitter before arrive; the one that was
/// being transmitted is lost in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhileDown {
    /// Waiting packets and new ones are dropped.
    Drop,
    /// Packets wait, as far as the queue has room, and are sent when the direction comes up again.
    Hold,
}
