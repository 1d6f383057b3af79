//! Tracking of the TSNs that have been received: the Cumulative TSN Ack Point, the ranges beyond it, the duplicates.

use std::collections::BTreeMap;

use crate::types::Tsn;

/// A TSN counted without wrapping, from the one before the first: positions order where TSNs do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(pub(crate) u64);

impl Position {
    /// The position after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Relation of a TSN to what has been received before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The one right after the Cumulative TSN Ack Point.
    Next,
    /// New, behind a gap.
    Ahead,
    /// TSN received before.
    Duplicate,
    /// So far ahead that no Gap Ack Block could report it.
    OutOfReach,
}

/// The received TSNs of one direction.
#[derive(Clone, Debug)]
pub(crate) struct TsnTracker {
    cumulative: Tsn,
    /// Position of `cumulative`, counted without wrapping.
    cumulative_at: Position,
    /// Runs of received TSNs beyond `cumulative + 1`, isolated from each other: the first of each with the last. A
    /// tree, since the peer chooses the order in which they come.
    ranges: BTreeMap<Position, Position>,
    /// Since the last SACK, as often as each came again; at most [`MAX_DUPLICATES`](Self::MAX_DUPLICATES).
    duplicates: Vec<Tsn>,
}

impl TsnTracker {
    /// Gap Ack Blocks are 16-bit offsets from the Cumulative TSN Ack.
    const REACH: u32 = u16::MAX as u32;
    /// Cost of a range in bytes, in a tree whose nodes are half full.
    const RANGE_COST: u64 = 32;
    /// A peer that repeats itself gets a SACK at once, so that few are ever waiting.
    const MAX_DUPLICATES: usize = 64;

    /// Expects `initial` as the first TSN.
    pub(crate) const fn new(initial: Tsn) -> Self {
        Self {
            cumulative: initial.minus(1),
            cumulative_at: Position(0),
            ranges: BTreeMap::new(),
            duplicates: Vec::new(),
        }
    }

    /// The last TSN before the first gap.
    pub(crate) const fn cumulative(&self) -> Tsn {
        self.cumulative
    }

    /// Tells if `tsn`, which is new, is larger than all that have been received.
    pub(crate) fn is_highest(&self, tsn: Tsn) -> bool {
        self.ranges.last_key_value().is_none_or(|(_, last)| self.position(tsn) > *last)
    }

    /// Tells if a TSN is missing in front of a received one.
    pub(crate) fn has_gaps(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Classifies `tsn` without recording it.
    pub(crate) fn classify(&self, tsn: Tsn) -> Arrival {
        let ahead = tsn.distance_from(self.cumulative);
        match ahead {
            1 => Arrival::Next,
            _ if tsn.is_at_or_before(self.cumulative) => Arrival::Duplicate,
            _ if ahead > Self::REACH => Arrival::OutOfReach,
            _ => {
                let at = self.position(tsn);
                match self.ranges.range(..=at).next_back() {
                    Some((_, last)) if at <= *last => Arrival::Duplicate,
                    _ => Arrival::Ahead,
                }
            }
        }
    }

    /// Records the TSN right after the Cumulative TSN Ack Point, while there are no gaps.
    pub(crate) fn advance(&mut self) {
        debug_assert!(self.ranges.is_empty(), "what follows a gap is joined by recording it");
        self.cumulative = self.cumulative.next();
        self.cumulative_at = self.cumulative_at.next();
    }

    /// TSNs go on with `next`, whatever is missing. No position follows one that was used before. What has come already
    /// does not come again.
    pub(crate) fn restart(&mut self, next: Tsn) {
        if next.is_at_or_before(self.cumulative.next()) {
            return;
        }
        let last = self.ranges.last_key_value().map_or(self.cumulative_at, |(_, last)| *last);
        *self = Self { cumulative_at: last.next(), ..Self::new(next) };
    }

    /// Records a TSN that was classified as `Next` or `Ahead`, and says where it is.
    pub(crate) fn record(&mut self, tsn: Tsn) -> Position {
        let at = self.position(tsn);
        let last = self.ranges.remove(&at.next()).unwrap_or(at);
        if at == self.cumulative_at.next() {
            let joined = u32::try_from(last.0 - at.0).expect("a range is within reach");
            self.cumulative = tsn.plus(joined);
            self.cumulative_at = last;
        } else if let Some((_, end)) = self.ranges.range_mut(..at).next_back()
            && end.next() == at
        {
            *end = last;
        } else {
            self.ranges.insert(at, last);
        }
        at
    }

    /// Counts everything up to `tsn` as received, and says where that is. `None` if all of it has been, or if it is out
    /// of reach.
    pub(crate) fn skip_to(&mut self, tsn: Tsn) -> Option<Position> {
        if !tsn.is_after(self.cumulative) || tsn.distance_from(self.cumulative) > Self::REACH {
            return None;
        }
        let skipped = self.position(tsn);
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# the data receiver MUST first update
        //# its cumulative TSN point to the value carried in the FORWARD TSN
        //# chunk, and then MUST further advance its cumulative TSN point locally
        //# if possible
        let mut last = skipped;
        while let Some(range) = self.ranges.first_entry().filter(|range| *range.key() <= last.next()) {
            last = last.max(range.remove());
        }
        let advance = u32::try_from(last.0 - self.cumulative_at.0).expect("ranges are within reach");
        self.cumulative = self.cumulative.plus(advance);
        self.cumulative_at = last;
        Some(skipped)
    }

    /// Notes that `tsn` came again, for the next SACK.
    pub(crate) fn record_duplicate(&mut self, tsn: Tsn) {
        if self.duplicates.len() < Self::MAX_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// The duplicates since the last SACK.
    pub(crate) fn duplicates(&self) -> &[Tsn] {
        &self.duplicates
    }

    /// Forgets the duplicates: a SACK has reported them.
    pub(crate) fn clear_duplicates(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.4
        //# The duplicate count is reinitialized to zero
        //# after sending each SACK chunk.
        self.duplicates.clear();
    }

    /// Cost of remembering the gaps, in bytes.
    pub(crate) fn size(&self) -> u64 {
        Self::RANGE_COST * self.ranges.len() as u64
    }

    /// Number of Gap Ack Blocks that there are.
    pub(crate) fn gap_block_count(&self) -> usize {
        self.ranges.len()
    }

    /// The Gap Ack Blocks, lowest first, as offsets from the Cumulative TSN Ack.
    pub(crate) fn gap_blocks(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let offset = |at: Position| {
            let ahead = at.0 - self.cumulative_at.0;
            u16::try_from(ahead).expect("what is out of reach is not recorded")
        };
        self.ranges.iter().map(move |(first, last)| (offset(*first), offset(*last)))
    }

    /// Position of `tsn`, which lies beyond the cumulative one.
    fn position(&self, tsn: Tsn) -> Position {
        Position(self.cumulative_at.0 + u64::from(tsn.distance_from(self.cumulative)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn receive(tracker: &mut TsnTracker, tsns: impl IntoIterator<Item = u32>) {
        for tsn in tsns {
            assert!(matches!(tracker.classify(Tsn(tsn)), Arrival::Next | Arrival::Ahead), "{tsn}");
            tracker.record(Tsn(tsn));
        }
    }

    #[test]
    fn rfc_9260_section_3_3_4_example_gives_two_gap_blocks() {
        let mut tracker = TsnTracker::new(Tsn(10));
        receive(&mut tracker, [10, 11, 12, 14, 15, 17]);
        assert_eq!(tracker.cumulative(), Tsn(12));
        assert_eq!(tracker.gap_blocks().collect::<Vec<_>>(), [(2, 3), (5, 5)]);
    }

    #[test]
    fn filling_a_gap_joins_what_lies_on_both_sides() {
        let mut tracker = TsnTracker::new(Tsn(u32::MAX - 1));
        receive(&mut tracker, [u32::MAX - 1, 0, 2, 1, 4]);
        assert_eq!(tracker.gap_blocks().collect::<Vec<_>>(), [(2, 4), (6, 6)]);
        receive(&mut tracker, [u32::MAX]);
        assert_eq!(tracker.cumulative(), Tsn(2));
        assert_eq!(tracker.gap_blocks().collect::<Vec<_>>(), [(2, 2)]);
        assert!(!tracker.is_highest(Tsn(3)) && tracker.is_highest(Tsn(5)));
    }

    #[test]
    fn a_tsn_beyond_the_reach_of_gap_blocks_is_refused() {
        let tracker = TsnTracker::new(Tsn(1));
        assert_eq!(tracker.classify(Tsn(65_535)), Arrival::Ahead);
        assert_eq!(tracker.classify(Tsn(65_536)), Arrival::OutOfReach);
        assert_eq!(tracker.classify(Tsn(0)), Arrival::Duplicate);
        assert_eq!(tracker.classify(Tsn(u32::MAX)), Arrival::Duplicate);
    }

    proptest! {
        #[test]
        fn the_tracker_agrees_with_a_set(
            initial: u32,
            offsets in proptest::collection::vec(0_u32..60, 0..200),
        ) {
            let mut tracker = TsnTracker::new(Tsn(initial));
            let mut received = BTreeSet::new();
            for offset in offsets {
                let tsn = Tsn(initial).plus(offset);
                let was_new = received.insert(offset);
                let arrival = tracker.classify(tsn);
                prop_assert_eq!(was_new, matches!(arrival, Arrival::Next | Arrival::Ahead));
                if was_new {
                    tracker.record(tsn);
                }
                let first_missing = (0..61).find(|offset| !received.contains(offset)).unwrap();
                prop_assert_eq!(tracker.cumulative(), Tsn(initial).plus(first_missing).minus(1));
                let reported: BTreeSet<u32> = tracker
                    .gap_blocks()
                    .flat_map(|(first, last)| first..=last)
                    .map(|offset| first_missing + u32::from(offset) - 1)
                    .collect();
                let beyond: BTreeSet<u32> = received.range(first_missing..).copied().collect();
                prop_assert_eq!(reported, beyond);
                let mut edge = 0;
                for (first, last) in tracker.gap_blocks() {
                    prop_assert!(first > edge + 1 && first <= last, "blocks are isolated and ascend");
                    edge = last;
                }
            }
        }
    }
}
