//! DATA that the peer has received for good, as NR-SACKs tell (draft-natarajan-tsvwg-sctp-nrsack): it leaves the send
//! buffer at once, though it keeps its place in the window until it is acknowledged cumulatively.
//!
//! To all else, a non-renegable block is a Gap Ack Block: it acknowledges, opens windows and shows losses. What a
//! later SACK leaves out of it stands all the same; that it is taken back is not believed.

use smallvec::SmallVec;

use super::Sender;
use super::gap_ranges::{GapRanges, TsnRange};
use super::outstanding::OutstandingChunk;
use super::sack::SackFault;
use crate::chunk::GapAckBlock;
use crate::types::Tsn;

/// TSNs that an NR-SACK has acknowledged for good.
#[derive(Clone, Debug, Default)]
pub(super) struct NonRenegable {
    ranges: GapRanges,
}

impl Sender {
    /// Frees what blocks acknowledge for good for the first time.
    #[inline(never)]
    pub(super) fn free_non_renegable(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) {
        let known = self.non_renegable.get_or_insert_default();
        let mut changes = known.ranges.compare(cumulative, blocks);
        changes.revoked.clear();
        known.ranges.commit(&changes);
        for tsn in changes.newly_acked.into_iter().flat_map(TsnRange::iter) {
            self.steps.take(1);
            let is_last = self.outstanding.find(tsn).is_some_and(|chunk| chunk.data.flags.is_ending());
            if let Some(payload_len) = self.outstanding.free(tsn) {
                self.release(payload_len, is_last);
            }
        }
    }

    /// Ranges among those that a SACK revokes which may be revoked.
    pub(super) fn renegable(&self, revoked: &[TsnRange]) -> SmallVec<[TsnRange; 2]> {
        let mut out: SmallVec<[TsnRange; 2]> = SmallVec::new();
        let is_free = |tsn: Tsn| self.outstanding.find(tsn).is_some_and(OutstandingChunk::is_freed);
        for tsn in revoked.iter().copied().flat_map(TsnRange::iter).filter(|tsn| !is_free(*tsn)) {
            match out.last_mut() {
                Some(range) if range.last.next() == tsn => range.last = tsn,
                Some(_) | None => out.push(TsnRange { first: tsn, last: tsn }),
            }
        }
        out
    }

    /// Refuses a peer that says it has a chunk for good and never acknowledges it cumulatively: nothing could be
    /// retransmitted.
    pub(super) fn check_first_is_kept(&self) -> Result<(), SackFault> {
        match self.outstanding.first() {
            Some(chunk) if chunk.is_freed() => Err(SackFault),
            Some(_) | None => Ok(()),
        }
    }
}
