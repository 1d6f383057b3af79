//! Reach of the peer's SACKs: the TSNs up to which they can tell what has arrived.

use crate::chunk::GapAckBlock;
use crate::types::Tsn;

/// Every receiver reports as many blocks. Linux reports no more (`SCTP_MAX_GABS`); others as many as fit into a
/// packet.
const ALWAYS_FIT: usize = 16;

/// Reach of the last SACK.
///
/// Blocks are reported from the lowest TSN up, as many as there is room for, and the rest is left out (RFC 9260,
/// section 6.7). How many that are only the peer knows: a SACK with more blocks than any before, or as many, may lack
/// some, and what lies above its last block may have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    most_blocks: usize,
    last_told: Option<Tsn>,
}

impl Reports {
    /// A SACK has come. Returns whether it, or the one before, may lack blocks: what it acknowledges may have arrived
    /// long before.
    pub(super) fn take_in(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) -> bool {
        let lacked = self.last_told.is_some();
        self.last_told = None;
        if blocks.len() >= self.most_blocks.max(ALWAYS_FIT) {
            self.most_blocks = blocks.len();
            self.last_told = blocks.last().map(|block| cumulative.plus(block.end.into()));
        }
        lacked || self.last_told.is_some()
    }

    /// The last TSN of which the peer's SACKs tell; `None`: they tell of all.
    pub(super) const fn last_told(&self) -> Option<Tsn> {
        self.last_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many blocks of one chunk each, every second of which is missing.
    fn blocks(count: u16) -> Vec<GapAckBlock> {
        (1..=count).map(|n| GapAckBlock { start: 2 * n, end: 2 * n }).collect()
    }

    #[test]
    fn a_sack_that_is_as_long_as_any_may_lack_blocks_and_so_may_the_one_before_the_next() {
        let mut reports = Reports::default();
        let mut after = |count| {
            let may_have_arrived_before = reports.take_in(Tsn(100), &blocks(count));
            (may_have_arrived_before, reports.last_told().map(|tsn| tsn.0))
        };
        assert_eq!(after(15), (false, None));
        assert_eq!(after(16), (true, Some(132)));
        assert_eq!(after(20), (true, Some(140)));
        assert_eq!(after(19), (true, None));
        assert_eq!(after(19), (false, None));
        assert_eq!(after(20), (true, Some(140)));
        assert_eq!(after(0), (true, None));
    }
}
