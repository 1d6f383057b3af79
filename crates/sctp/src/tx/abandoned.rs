//! Counts of messages that were given up, by stream and by policy.

use std::collections::BTreeMap;

use crate::reliability::ReliabilityPolicy;
use crate::types::StreamId;

/// Numbers of messages of a stream that were given up by one policy (RFC 7496, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamAbandonment {
    /// Stream of the messages.
    pub stream: StreamId,
    /// By which rule.
    pub policy: ReliabilityPolicy,
    /// Messages of which no part had been sent.
    pub unsent: u64,
    /// Messages of which a part had been sent.
    pub sent: u64,
}

/// The counts of a sender: an entry for each stream and policy by which anything was given up.
#[derive(Clone, Debug, Default)]
pub(super) struct Abandoned {
    /// Unsent and sent.
    counts: BTreeMap<(StreamId, ReliabilityPolicy), [u64; 2]>,
}

impl Abandoned {
    //= https://www.rfc-editor.org/rfc/rfc7496#section-4.4
    //# Please note that an abandoned large user message requiring SCTP-level
    //# fragmentation is reported in the sprstat_abandoned_sent counter as
    //# soon as at least one fragment of it has been sent.  Therefore, each
    //# abandoned user message is counted in either sprstat_abandoned_unsent
    //# or sprstat_abandoned_sent.
    pub(super) fn count(&mut self, stream: StreamId, policy: ReliabilityPolicy, was_sent: bool) {
        self.counts.entry((stream, policy)).or_default()[usize::from(was_sent)] += 1;
    }

    /// All messages: unsent and sent.
    pub(super) fn total(&self) -> [u64; 2] {
        self.counts.values().fold([0; 2], |[unsent, sent], of| [unsent + of[0], sent + of[1]])
    }

    pub(super) fn by_stream(&self) -> impl Iterator<Item = StreamAbandonment> + '_ {
        self.counts.iter().map(|(&(stream, policy), &[unsent, sent])| StreamAbandonment {
            stream,
            policy,
            unsent,
            sent,
        })
    }
}
