//! Counters of what a node has done, and of what it discarded and why.

use std::collections::BTreeMap;

use crate::mtp3::ManagementMessage;

/// Why a message was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DiscardReason {
    /// Message that names another network.
    #[error("it names another network")]
    WrongNetwork,
    /// Message for another point, and this one transfers nothing.
    #[error("it is for another point")]
    NotForThisPoint,
    /// No route is known to its destination.
    #[error("no route is known to its destination")]
    UnknownDestination,
    /// Message whose destination cannot be reached now.
    #[error("its destination cannot be reached now")]
    InaccessibleDestination,
    /// Message that would go back to where it came from.
    #[error("it would go back where it came from")]
    BackWhereItCameFrom,
    /// Message that has this point's own code as its origin and came from elsewhere: the network has a loop.
    #[error("it came back to its origin")]
    CircularRoute,
    /// Message whose user part is not here.
    #[error("its user part is not here")]
    UserPartUnavailable,
    /// Message whose priority is too low for a congested link.
    #[error("its priority is too low for a congested link")]
    CongestedLink,
    /// Too many messages wait for a changeover, changeback or rerouting.
    #[error("too many messages wait for traffic to be diverted")]
    TooManyHeld,
    /// Message that cannot be read.
    #[error("it cannot be read")]
    Malformed,
    /// A management or test message that speaks of no link or destination that is here.
    #[error("it speaks of no link or destination that is here")]
    UnknownSubject,
    /// A management message that the state does not expect.
    #[error("nothing expects it now")]
    Unexpected,
    /// The point restarts and takes management and test messages only.
    #[error("the point restarts")]
    Restarting,
    /// A link test, or a management message that cannot be read, that came back from a failed link.
    #[error("it came back from a failed link and is of no use elsewhere")]
    RetrievedManagement,
}

const REASONS: usize = DiscardReason::RetrievedManagement as usize + 1;

impl DiscardReason {
    /// All of them.
    pub const ALL: [Self; REASONS] = [
        Self::WrongNetwork,
        Self::NotForThisPoint,
        Self::UnknownDestination,
        Self::InaccessibleDestination,
        Self::BackWhereItCameFrom,
        Self::CircularRoute,
        Self::UserPartUnavailable,
        Self::CongestedLink,
        Self::TooManyHeld,
        Self::Malformed,
        Self::UnknownSubject,
        Self::Unexpected,
        Self::Restarting,
        Self::RetrievedManagement,
    ];

    /// Gives the name of the reason in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrongNetwork => "wrong-network",
            Self::NotForThisPoint => "not-for-this-point",
            Self::UnknownDestination => "unknown-destination",
            Self::InaccessibleDestination => "inaccessible-destination",
            Self::BackWhereItCameFrom => "back-where-it-came-from",
            Self::CircularRoute => "circular-route",
            Self::UserPartUnavailable => "user-part-unavailable",
            Self::CongestedLink => "congested-link",
            Self::TooManyHeld => "too-many-held",
            Self::Malformed => "malformed",
            Self::UnknownSubject => "unknown-subject",
            Self::Unexpected => "unexpected",
            Self::Restarting => "restarting",
            Self::RetrievedManagement => "retrieved-management",
        }
    }
}

/// Counts since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that users gave and that were accepted.
    pub accepted: u64,
    /// Messages given to users, and to the interworking function of a gateway.
    pub delivered: u64,
    /// Messages taken from one link for another.
    pub transferred: u64,
    /// Messages of users and other points handed to links, including those handed over again after a changeover.
    pub sent: u64,
    /// Messages that came back from failed links.
    pub retrieved: u64,
    /// Changeovers in which the peer's number was known, so that nothing was lost or repeated.
    pub sequenced_changeovers: u64,
    /// Changeovers without the peer's number: what was on its way is lost, if it did not arrive.
    pub unsequenced_changeovers: u64,
    /// Changeovers by time alone.
    pub timed_changeovers: u64,
    /// Links whose buffers were thrown away after a long processor outage.
    pub flushed_links: u64,
    /// Changebacks that ended without an acknowledgement.
    pub unacknowledged_changebacks: u64,
    /// Restarts of this point.
    pub restarts: u64,
    /// Management messages sent, by their three-letter names.
    pub management_sent: BTreeMap<&'static str, u64>,
    /// Management messages received that could be read.
    pub management_received: BTreeMap<&'static str, u64>,
    discarded: [u64; REASONS],
}

impl Counters {
    /// Gives the number of messages that were discarded for this reason.
    pub const fn discarded(&self, reason: DiscardReason) -> u64 {
        self.discarded[reason as usize]
    }

    /// Gives the number of messages that were discarded for any reason.
    pub fn discarded_in_all(&self) -> u64 {
        self.discarded.iter().sum()
    }

    pub(super) fn management_sent(&mut self, message: ManagementMessage) {
        *self.management_sent.entry(message.name()).or_default() += 1;
    }

    pub(super) fn management_received(&mut self, message: ManagementMessage) {
        *self.management_received.entry(message.name()).or_default() += 1;
    }

    pub(super) fn discard(&mut self, reason: DiscardReason) {
        self.discarded[reason as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_in_the_list_under_a_name_of_its_own() {
        let mut names: Vec<_> = DiscardReason::ALL.iter().map(|reason| reason.name()).collect();
        assert!(DiscardReason::ALL.iter().enumerate().all(|(place, reason)| *reason as usize == place));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REASONS);
    }
}
