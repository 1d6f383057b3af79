//! Counters of every message by what became of it: nothing is dropped without a count and a reason.

use std::collections::BTreeMap;

use crate::sccp::{RefusalCause, ReturnCause, ScmgMessage};

/// Why a message was thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discard {
    /// The message belongs to a connection of another class.
    ClassMismatch,
    /// The network towards the node is congested, and the message of a connection is not important enough.
    Congestion,
    /// The node cannot be reached, and the message belongs to a connection.
    Inaccessible,
    /// Management speaks of a subsystem that this node keeps no state of.
    ManagementUnknownSubsystem,
    /// Octets that are no message of SCCP, or not a whole one.
    Malformed,
    /// A message of management is not a whole one.
    MalformedManagement,
    /// The service indicator is not SCCP's.
    NotForSccp,
    /// Message that could not be delivered, and whose return nobody asked for.
    NotReturnable(ReturnCause),
    /// Message from a node that is not the connection's.
    PointCodeMismatch,
    /// A connection was refused, and the one that asked cannot be told.
    RefusalUndeliverable(RefusalCause),
    /// A returned message could not be delivered either.
    ServiceUndeliverable(ReturnCause),
    /// Message whose source reference is not the connection's.
    SourceReferenceMismatch,
    /// SST asks about a subsystem that is out of service, so that nothing is answered.
    TestNotAnswered,
    /// Message whose destination reference belongs to no connection.
    UnassignedReference,
    /// The connection, or the subsystem, is in no state for it.
    UnexpectedInState,
    /// A segment whose message has not begun.
    UnexpectedSegment,
}

impl Discard {
    /// Gives the name of the reason in results, with the cause where there is one.
    pub fn name(self) -> String {
        let word = match self {
            Self::ClassMismatch => "class-mismatch",
            Self::Congestion => "congestion",
            Self::Inaccessible => "inaccessible",
            Self::ManagementUnknownSubsystem => "management-unknown-subsystem",
            Self::Malformed => "malformed",
            Self::MalformedManagement => "malformed-management",
            Self::NotForSccp => "not-for-sccp",
            Self::NotReturnable(cause) => return format!("not-returnable: {}", cause.name("-")),
            Self::PointCodeMismatch => "point-code-mismatch",
            Self::RefusalUndeliverable(cause) => {
                return format!("refusal-undeliverable: {}", cause.name("-"));
            }
            Self::ServiceUndeliverable(cause) => {
                return format!("service-undeliverable: {}", cause.name("-"));
            }
            Self::SourceReferenceMismatch => "source-reference-mismatch",
            Self::TestNotAnswered => "test-not-answered",
            Self::UnassignedReference => "unassigned-reference",
            Self::UnexpectedInState => "unexpected-in-state",
            Self::UnexpectedSegment => "unexpected-segment",
        };
        word.to_owned()
    }
}

/// Messages by their type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts([u64; MESSAGE_TYPES.len()]);

/// The names of messages in the order of their type codes, from 1 on (Q.713, section 2.1).
pub const MESSAGE_TYPES: [&str; 20] = [
    "CR", "CC", "CREF", "RLSD", "RLC", "DT1", "DT2", "AK", "UDT", "UDTS", "ED", "EA", "RSR", "RSC", "ERR",
    "IT", "XUDT", "XUDTS", "LUDT", "LUDTS",
];

impl MessageCounts {
    /// Each type with its number.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        MESSAGE_TYPES.into_iter().zip(self.0)
    }

    /// Counts a message by its first octet; what is no message has no type.
    pub(super) fn count(&mut self, octets: &[u8]) {
        let code = octets.first().map_or(0, |code| usize::from(*code));
        if let Some(count) = code.checked_sub(1).and_then(|place| self.0.get_mut(place)) {
            *count += 1;
        }
    }
}

/// Counts of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// MTP-TRANSFER indications.
    pub received: u64,
    /// MTP-TRANSFER requests.
    pub sent: u64,
    /// Messages received, by type.
    pub received_types: MessageCounts,
    /// Messages sent, by type.
    pub sent_types: MessageCounts,
    /// Messages of management that this node made, by their three-letter names; one that led nowhere is discarded, too.
    pub management_sent: BTreeMap<&'static str, u64>,
    /// Messages of management received that could be read.
    pub management_received: BTreeMap<&'static str, u64>,
    /// Global titles translated, with a destination that can be reached.
    pub translated: u64,
    /// Global titles for which there is no translation, or none that leads somewhere now.
    pub untranslated: BTreeMap<ReturnCause, u64>,
    /// Messages that were translated too often.
    pub hop_counter_violations: u64,
    /// Messages sent in segments.
    pub segmented: u64,
    /// Number of segments sent.
    pub segments_sent: u64,
    /// Segments received for users of this node.
    pub segments_received: u64,
    /// Messages put together.
    pub reassembled: u64,
    /// Messages of which segments came, and that were never whole.
    pub reassembly_failures: BTreeMap<ReturnCause, u64>,
    /// N-UNITDATA indications.
    pub delivered: u64,
    /// Messages that were translated or passed on for others.
    pub relayed: u64,
    /// Messages that went back to where they came from, or were noticed to the own user.
    pub returned: BTreeMap<ReturnCause, u64>,
    /// Connections that this node refused.
    pub refused: BTreeMap<RefusalCause, u64>,
    /// Messages that were discarded, by reason.
    pub discarded: BTreeMap<Discard, u64>,
    /// Releases that the peer has not confirmed until T(int) expired.
    pub unconfirmed_releases: u64,
}

impl Counters {
    pub(super) fn discard(&mut self, reason: Discard) {
        *self.discarded.entry(reason).or_default() += 1;
    }

    pub(super) fn management_sent(&mut self, message: ScmgMessage) {
        *self.management_sent.entry(message.name()).or_default() += 1;
    }

    pub(super) fn management_received(&mut self, message: ScmgMessage) {
        *self.management_received.entry(message.name()).or_default() += 1;
    }

    pub(super) fn untranslated(&mut self, cause: ReturnCause) {
        *self.untranslated.entry(cause).or_default() += 1;
    }

    pub(super) fn reassembly_failed(&mut self, cause: ReturnCause) {
        *self.reassembly_failures.entry(cause).or_default() += 1;
    }

    /// All that was thrown away.
    pub fn discards(&self) -> u64 {
        self.discarded.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_the_code_of_their_type() {
        let mut counts = MessageCounts::default();
        for octets in [&[9_u8, 1][..], &[17], &[17], &[0], &[21], &[]] {
            counts.count(octets);
        }
        let counted: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [("UDT", 1), ("XUDT", 2)]);
    }

    #[test]
    fn a_discard_is_named_with_its_cause() {
        let discard = Discard::NotReturnable(ReturnCause::NO_TRANSLATION_FOR_ADDRESS);
        assert_eq!(discard.name(), "not-returnable: no-translation-for-address");
        assert_eq!(Discard::ServiceUndeliverable(ReturnCause(99)).name(), "service-undeliverable: 99");
        assert_eq!(Discard::UnexpectedSegment.name(), "unexpected-segment");
    }
}
