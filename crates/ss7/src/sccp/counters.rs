//! What became of every message: nothing is dropped without a count and a reason.

use std::collections::BTreeMap;

use crate::sccp::{RefusalCause, ReturnCause};

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
    /// It is not a message of SCCP, or not a whole one.
    Malformed,
    /// A message of management is not a whole one.
    MalformedManagement,
    /// The service indicator is not SCCP's.
    NotForSccp,
    /// It could not be delivered, and nobody asked for its return.
    NotReturnable(ReturnCause),
    /// It comes from a node that is not the connection's.
    PointCodeMismatch,
    /// A connection was refused, and the one that asked cannot be told.
    RefusalUndeliverable(RefusalCause),
    /// A returned message could not be delivered either.
    ServiceUndeliverable(ReturnCause),
    /// Its source reference is not the connection's.
    SourceReferenceMismatch,
    /// SST asks about a subsystem that is out of service, so that nothing is answered.
    TestNotAnswered,
    /// Its destination reference belongs to no connection.
    UnassignedReference,
    /// The connection, or the subsystem, is in no state for it.
    UnexpectedInState,
    /// A segment whose message has not begun.
    UnexpectedSegment,
}

/// Counts of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// MTP-TRANSFER indications.
    pub received: u64,
    /// MTP-TRANSFER requests.
    pub sent: u64,
    /// N-UNITDATA indications.
    pub delivered: u64,
    /// Messages that were translated or passed on for others.
    pub relayed: u64,
    /// Messages that went back to where they came from, or were noticed to the own user.
    pub returned: BTreeMap<ReturnCause, u64>,
    /// Connections that this node refused.
    pub refused: BTreeMap<RefusalCause, u64>,
    /// What was thrown away.
    pub discarded: BTreeMap<Discard, u64>,
    /// Releases that the peer has not confirmed until T(int) expired.
    pub unconfirmed_releases: u64,
}

impl Counters {
    pub(super) fn discard(&mut self, reason: Discard) {
        *self.discarded.entry(reason).or_default() += 1;
    }

    /// All that was thrown away.
    pub fn discards(&self) -> u64 {
        self.discarded.values().sum()
    }
}
