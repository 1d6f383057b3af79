//! What a SACK's Gap Ack Blocks say that the last SACK's did not.

use smallvec::SmallVec;

use crate::chunk::GapAckBlock;
use crate::types::Tsn;

/// TSNs from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TsnRange {
    pub(crate) first: Tsn,
    pub(crate) last: Tsn,
}

impl TsnRange {
    pub(crate) fn iter(self) -> impl Iterator<Item = Tsn> {
        (0..=self.last.distance_from(self.first)).map(move |step| self.first.plus(step))
    }
}

/// The differences between two SACKs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GapChanges {
    /// Acknowledged now and not before, ascending.
    pub(crate) newly_acked: SmallVec<[TsnRange; 4]>,
    /// Acknowledged before and not now, ascending.
    pub(crate) revoked: SmallVec<[TsnRange; 2]>,
}

/// A block as offsets from the cumulative TSN ack.
type Span = (u32, u32);

/// The ranges that the last SACK acknowledged beyond its cumulative TSN ack.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapRanges {
    cumulative: Option<Tsn>,
    spans: Vec<Span>,
    /// The blocks that were compared last.
    scratch: Vec<Span>,
}

impl GapChanges {
    /// Whether TSNs are taken back and none is acknowledged.
    pub(crate) fn only_revoke(&self) -> bool {
        self.newly_acked.is_empty() && !self.revoked.is_empty()
    }
}

impl GapRanges {
    /// The highest TSN acknowledged by a block.
    pub(crate) fn highest(&self) -> Option<Tsn> {
        Some(self.cumulative?.plus(self.spans.last()?.1))
    }

    /// The TSNs in `first..=last` that no block acknowledges.
    pub(crate) fn holes(&self, first: Tsn, last: Tsn) -> impl Iterator<Item = TsnRange> + '_ {
        let base = self.cumulative.unwrap_or(first);
        let (mut at, end) = (first.distance_from(base), last.distance_from(base));
        let skip = self.spans.partition_point(|span| span.1 < at);
        let mut spans = self.spans[skip..].iter();
        core::iter::from_fn(move || {
            while at <= end {
                let Some(&(start, stop)) = spans.next() else {
                    let hole = (at, end);
                    at = end + 1;
                    return Some(hole);
                };
                let hole = (at, end.min(start.saturating_sub(1)));
                at = at.max(stop + 1);
                if hole.0 <= hole.1 && start > hole.0 {
                    return Some(hole);
                }
            }
            None
        })
        .map(move |(start, stop)| TsnRange { first: base.plus(start), last: base.plus(stop) })
    }

    /// Follows the cumulative TSN ack where no blocks are told, as in a SHUTDOWN.
    pub(crate) fn advance(&mut self, cumulative: Tsn) -> GapChanges {
        let mut changes = GapChanges::default();
        self.rebase(cumulative);
        if let Some((start, stop)) = self.spans.first_mut()
            && *start == 1
        {
            let next = cumulative.next();
            changes.revoked.push(TsnRange { first: next, last: next });
            *start = 2;
            if *stop == 1 {
                self.spans.remove(0);
            }
        }
        changes
    }

    /// What the blocks of a SACK change, whose cumulative TSN ack is not older than the last one. The ranges
    /// follow with [`commit`](Self::commit).
    pub(crate) fn compare(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) -> GapChanges {
        let mut changes = GapChanges::default();
        self.rebase(cumulative);
        if blocks.is_empty() && self.spans.is_empty() {
            self.scratch.clear();
        } else {
            read_blocks(blocks, &mut self.scratch);
            compare(cumulative, &self.spans, &self.scratch, &mut changes);
        }
        changes
    }

    /// Takes over the blocks that were compared last.
    pub(crate) fn commit(&mut self) {
        core::mem::swap(&mut self.spans, &mut self.scratch);
    }

    /// Expresses the spans as offsets from a later cumulative TSN ack.
    fn rebase(&mut self, cumulative: Tsn) {
        let step = self.cumulative.map_or(0, |before| cumulative.distance_from(before));
        self.cumulative = Some(cumulative);
        if step == 0 || self.spans.is_empty() {
            return;
        }
        self.spans.retain_mut(|(start, stop)| {
            *start = start.saturating_sub(step).max(1);
            *stop = stop.saturating_sub(step);
            *stop > 0
        });
    }
}

/// Reads blocks into ascending, isolated spans. A block that ends before it starts says nothing and is left
/// out; blocks that overlap or touch are joined. That the TSN right behind the cumulative TSN ack has arrived
/// is a contradiction and not believed: a chunk that is never acknowledged cumulatively must stay in flight.
fn read_blocks(blocks: &[GapAckBlock], spans: &mut Vec<Span>) {
    spans.clear();
    let mut is_sorted = true;
    for block in blocks {
        let (start, stop) = (u32::from(block.start.max(2)), u32::from(block.end));
        if block.start == 0 || start > stop {
            continue;
        }
        is_sorted &= spans.last().is_none_or(|&(_, last)| start > last + 1);
        spans.push((start, stop));
    }
    if is_sorted {
        return;
    }
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let touches = later.0 <= earlier.1 + 1;
        if touches {
            earlier.1 = earlier.1.max(later.1);
        }
        touches
    });
}

/// Walks both lists once.
fn compare(base: Tsn, old: &[Span], new: &[Span], changes: &mut GapChanges) {
    let range = |start: u32, stop: u32| TsnRange { first: base.plus(start), last: base.plus(stop) };
    let mut old = old.iter().copied();
    let mut held = old.next();
    for &(start, stop) in new {
        let mut at = start;
        while let Some((held_start, held_stop)) = held
            && held_start <= stop
        {
            if held_start < start {
                changes.revoked.push(range(held_start, held_stop.min(start - 1)));
            }
            if held_start > at {
                changes.newly_acked.push(range(at, held_start - 1));
            }
            at = at.max(held_stop + 1);
            if held_stop > stop {
                held = Some((stop + 1, held_stop));
                break;
            }
            held = old.next();
        }
        if at <= stop {
            changes.newly_acked.push(range(at, stop));
        }
    }
    changes.revoked.extend(held.into_iter().chain(old).map(|(start, stop)| range(start, stop)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    impl GapRanges {
        fn update(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) -> GapChanges {
            let changes = self.compare(cumulative, blocks);
            self.commit();
            changes
        }
    }

    fn block(start: u16, end: u16) -> GapAckBlock {
        GapAckBlock { start, end }
    }

    #[test]
    fn a_block_that_grows_acknowledges_only_what_is_new() {
        let mut ranges = GapRanges::default();
        ranges.update(Tsn(10), &[block(2, 3)]);
        let changes = ranges.update(Tsn(10), &[block(2, 5)]);
        assert_eq!(changes.newly_acked[..], [TsnRange { first: Tsn(14), last: Tsn(15) }]);
        assert!(changes.revoked.is_empty());
        assert_eq!(ranges.update(Tsn(10), &[block(2, 5)]), GapChanges::default());
    }

    #[test]
    fn a_block_that_disappears_is_revoked() {
        let mut ranges = GapRanges::default();
        ranges.update(Tsn(10), &[block(2, 3), block(5, 9)]);
        let changes = ranges.update(Tsn(10), &[block(5, 7)]);
        let revoked =
            [(12, 13), (18, 19)].map(|(first, last)| TsnRange { first: Tsn(first), last: Tsn(last) });
        assert_eq!(changes.revoked[..], revoked);
    }

    #[test]
    fn what_follows_the_cumulative_ack_is_never_acknowledged_by_a_block() {
        let mut ranges = GapRanges::default();
        let changes = ranges.update(Tsn(10), &[block(1, 1)]);
        assert_eq!(changes, GapChanges::default());
        ranges.update(Tsn(10), &[block(3, 4)]);
        let changes = ranges.advance(Tsn(12));
        assert_eq!(changes.revoked[..], [TsnRange { first: Tsn(13), last: Tsn(13) }]);
        assert_eq!(ranges.highest(), Some(Tsn(14)));
    }

    fn set(base: u32, ranges: &[TsnRange]) -> BTreeSet<u32> {
        ranges.iter().flat_map(|range| range.iter()).map(|tsn| tsn.distance_from(Tsn(base))).collect()
    }

    proptest! {
        #[test]
        fn changes_agree_with_sets(
            base: u32,
            sacks in proptest::collection::vec(
                (0_u32..6, proptest::collection::vec((0_u16..40, 0_u16..40), 0..6)),
                1..12,
            ),
        ) {
            let mut ranges = GapRanges::default();
            let mut cumulative = 0;
            let mut known = BTreeSet::new();
            for (step, blocks) in sacks {
                cumulative += step;
                let told: BTreeSet<u32> = blocks
                    .iter()
                    .filter(|(start, _)| *start > 0)
                    .flat_map(|&(start, end)| (start.max(2)..=end).map(|offset| cumulative + u32::from(offset)))
                    .collect();
                known.retain(|tsn| *tsn > cumulative);
                let blocks: Vec<_> = blocks.iter().map(|&(start, end)| block(start, end)).collect();
                let changes = ranges.update(Tsn(base).plus(cumulative), &blocks);
                let newly: BTreeSet<u32> = told.difference(&known).copied().collect();
                let revoked: BTreeSet<u32> = known.difference(&told).copied().collect();
                prop_assert_eq!(set(base, &changes.newly_acked), newly);
                prop_assert_eq!(set(base, &changes.revoked), revoked);
                let highest = ranges.highest().map(|tsn| tsn.distance_from(Tsn(base)));
                prop_assert_eq!(highest, told.last().copied());
                for (from, to) in [(1, 45), (3, 3), (5, 20), (39, 41)] {
                    let (from, to) = (cumulative + from, cumulative + to);
                    let holes: Vec<_> = ranges.holes(Tsn(base).plus(from), Tsn(base).plus(to)).collect();
                    let expected: BTreeSet<u32> = (from..=to).filter(|tsn| !told.contains(tsn)).collect();
                    prop_assert_eq!(set(base, &holes), expected);
                }
                known = told;
            }
        }
    }
}
