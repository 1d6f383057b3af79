//! Time and transmissions that a message is worth (RFC 3758, section 4; RFC 7496, section 3).

use slantpath_base::Duration;

/// Limit at which a message is given up that the peer has not acknowledged. The layer above is told of it by
/// [`Event::Abandoned`](crate::Event::Abandoned).
///
/// A peer that has not agreed to [`Extension::PartialReliability`](crate::Extension::PartialReliability) cannot be told
/// that something will never come. Then what has been sent once stays reliable, a lifetime ends only what has not been
/// sent (RFC 9260, section 11.1.5), and the other policies do nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliability {
    /// Never given up: fully reliable.
    #[default]
    Full,
    /// As soon as it would be sent, or retransmitted, so long after it was handed over, and at that time if none of it
    /// has been sent: timed reliability (RFC 3758, section 4.1). Nothing of a message with a lifetime of zero is ever
    /// sent.
    Lifetime(Duration),
    /// Given up when one of its DATA chunks would be retransmitted more often than this (RFC 7496, section 3.1).
    Retransmissions(u32),
    /// Given up when none of it has been sent and the send buffer has no room for a message that counts for more: one
    /// with a lesser number here, or without this policy (RFC 7496, section 3.2). A message that has been sent makes
    /// room within a round trip or so anyway.
    Priority(u32),
}

/// By which rule of a [`Reliability`] a message is given up, as RFC 7496, section 4.3, tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReliabilityPolicy {
    /// Limit of the lifetime: it was over.
    Lifetime,
    /// Limit of retransmissions: another one was not allowed.
    Retransmissions,
    /// Priority: the message made room for one that counts for more.
    Priority,
}
