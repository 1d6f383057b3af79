//! Messages that an adaptation layer discards: never without a reason and a count.

use std::collections::BTreeMap;

/// Why a message was thrown away, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The ASP is not active for the traffic.
    AspNotActive,
    /// There is no association to send it on.
    AssociationDown,
    /// Message whose connection was reset while it was queued or in flight.
    ConnectionReset,
    /// The peer asked for its traffic to be discarded.
    DiscardRequested,
    /// The hop counter has run out.
    HopCounterViolation,
    /// An ERR or COERR answered it: malformed, not expected, or for something that is not configured.
    Refused,
    /// No ASP is active for the traffic, nor expected back.
    NoActiveAsp,
    /// Nothing says where it should go.
    NoRoute,
    /// The link or connection that it is for is not in service.
    NotInService,
    /// Too many messages wait already.
    QueueFull,
    /// Message that was queued until T(r) expired.
    RecoveryExpired,
    /// Message whose segments did not all come, in order and in time and with room for them, or a segment of such a
    /// message.
    SegmentLost,
    /// Message that is longer than what can carry it.
    TooLong,
    /// Message that acknowledges what was not sent, or comes in a state that has no place for it.
    Unexpected,
    /// Message that belongs to no known connection.
    UnknownConnection,
    /// The transport says that it is another protocol's.
    WrongPayloadProtocol,
}

/// Number of messages that were discarded, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops(BTreeMap<DropReason, u64>);

impl Drops {
    /// Counts one discarded message.
    pub(crate) fn count(&mut self, reason: DropReason) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// Gives the number of messages that were discarded for that reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0.get(&reason).copied().unwrap_or_default()
    }

    /// Gives the number of discarded messages for all reasons together.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Every reason that there was, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}
