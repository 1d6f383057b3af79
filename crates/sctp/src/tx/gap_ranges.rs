//! Changes of a SACK's Gap Ack Blocks against those before.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::steps::Steps;
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

/// TSNs counted on without wrapping, from the first to the last.
type Span = (u64, u64);

/// Ranges that Gap Ack Blocks have acknowledged beyond the cumulative TSN ack.
///
/// What a SACK costs is its own length, what it acknowledges for the first time, and a constant: a peer that
/// acknowledges half the window in one SACK and the other half in the next could otherwise have all of it looked at
/// each time. So a SACK revokes a few TSNs, the lowest, and what it leaves out beyond them stands until the next, or
/// until T3-rtx expires.
#[derive(Clone, Debug, Default)]
pub(crate) struct GapRanges {
    cumulative: Option<Tsn>,
    /// The cumulative TSN ack, counted on without wrapping.
    base: u64,
    /// Ranges that have been acknowledged and not been revoked: last by first, isolated.
    acked: BTreeMap<u64, u64>,
    /// The blocks of the last SACK, ascending and isolated.
    reported: Vec<Span>,
    /// The blocks that were compared last.
    scratch: Vec<Span>,
    pub(super) steps: Steps,
}

impl GapChanges {
    /// Tells if TSNs are revoked and none is acknowledged.
    pub(crate) fn only_revoke(&self) -> bool {
        self.newly_acked.is_empty() && !self.revoked.is_empty()
    }
}

impl GapRanges {
    /// Number of TSNs that one SACK can revoke.
    pub(crate) const REVOKED_AT_ONCE: u32 = 32;

    /// The highest TSN that the last SACK acknowledged by a block.
    pub(crate) fn highest(&self) -> Option<Tsn> {
        let &(_, stop) = self.reported.last().filter(|(_, stop)| *stop > self.base)?;
        Some(self.tsn(stop))
    }

    /// The TSNs in `first..=last` that no block acknowledges.
    pub(crate) fn holes(&self, first: Tsn, last: Tsn) -> impl Iterator<Item = TsnRange> + '_ {
        let (mut at, end) = (self.position(first), self.position(last));
        let mut spans = self.acked.range(self.span_at(at)..).map(|(start, stop)| (*start, *stop));
        core::iter::from_fn(move || {
            while at <= end {
                let (start, stop) = spans.next().unwrap_or((end + 1, end));
                let hole = (at, end.min(start.saturating_sub(1)));
                at = at.max(stop + 1);
                if hole.0 <= hole.1 {
                    return Some(hole);
                }
            }
            None
        })
        .map(move |(start, stop)| self.range(start, stop))
    }

    /// Follows the cumulative TSN ack where no blocks are told, as in a SHUTDOWN.
    #[inline(never)]
    pub(crate) fn advance(&mut self, cumulative: Tsn) -> GapChanges {
        let mut changes = GapChanges::default();
        self.rebase(cumulative);
        let next = self.base + 1;
        if self.acked.contains_key(&next) {
            changes.revoked.push(self.range(next, next));
            self.remove(next, next);
        }
        changes
    }

    /// Tells if no block has acknowledged anything that stands.
    pub(crate) fn is_empty(&self) -> bool {
        self.acked.is_empty()
    }

    /// Variant of [`compare`](Self::compare) and [`commit`](Self::commit) for a SACK without blocks while nothing has
    /// been acknowledged by any: nothing changes.
    #[inline]
    pub(crate) fn follow(&mut self, cumulative: Tsn) {
        debug_assert!(self.acked.is_empty(), "what was acknowledged is left out now");
        self.move_base(cumulative);
        self.reported.clear();
    }

    /// Gives the changes by the blocks of a SACK whose cumulative TSN ack is not older than the last one. The ranges
    /// follow with [`commit`](Self::commit).
    #[inline(never)]
    pub(crate) fn compare(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) -> GapChanges {
        self.rebase(cumulative);
        self.steps.take(blocks.len());
        read_blocks(self.base, blocks, &mut self.scratch);
        let mut changes = GapChanges::default();
        let mut reported = self.reported.iter().copied().peekable();
        for &(start, stop) in &self.scratch {
            // What the last SACK reported just so has been acknowledged, and most blocks are repeated.
            while reported.next_if(|&(_, last)| last < start).is_some() {}
            if reported.peek() == Some(&(start, stop)) {
                continue;
            }
            let mut at = start;
            for (&held_start, &held_stop) in self.acked.range(self.span_at(start)..=stop) {
                self.steps.take(1);
                if held_start > at {
                    changes.newly_acked.push(self.range(at, held_start - 1));
                }
                at = at.max(held_stop + 1);
            }
            if at <= stop {
                changes.newly_acked.push(self.range(at, stop));
            }
        }
        changes.revoked = self.left_out(&self.scratch, Self::REVOKED_AT_ONCE.into());
        changes
    }

    /// Takes over the blocks that were compared last.
    #[inline(never)]
    pub(crate) fn commit(&mut self, changes: &GapChanges) {
        for range in &changes.newly_acked {
            self.insert(self.position(range.first), self.position(range.last));
        }
        for range in &changes.revoked {
            self.remove(self.position(range.first), self.position(range.last));
        }
        core::mem::swap(&mut self.reported, &mut self.scratch);
    }

    /// Revokes all that the last SACK left out, however much that is.
    pub(crate) fn revoke_unreported(&mut self) -> SmallVec<[TsnRange; 2]> {
        let unreported = self.left_out(&self.reported, u64::MAX);
        for range in &unreported {
            self.remove(self.position(range.first), self.position(range.last));
        }
        unreported
    }

    /// The lowest TSNs, at most `limit`, that have been acknowledged and are not in `told`.
    fn left_out(&self, reported: &[Span], limit: u64) -> SmallVec<[TsnRange; 2]> {
        let mut left = limit;
        let mut out = SmallVec::new();
        let mut reported = reported.iter().copied().peekable();
        for (&first, &last) in &self.acked {
            let mut at = first;
            while at <= last {
                self.steps.take(1);
                while reported.next_if(|&(_, stop)| stop < at).is_some() {}
                let (start, stop) =
                    reported.peek().copied().filter(|&(start, _)| start <= last).unwrap_or((last + 1, last));
                if start > at {
                    let end = (start - 1).min(at.saturating_add(left - 1));
                    out.push(self.range(at, end));
                    left -= end - at + 1;
                    if left == 0 {
                        return out;
                    }
                }
                at = stop + 1;
            }
        }
        out
    }

    /// Adds what is not in any span yet, and joins it with its neighbours.
    fn insert(&mut self, mut start: u64, mut stop: u64) {
        if let Some((&before, _)) =
            self.acked.range(..start).next_back().filter(|(_, last)| **last + 1 == start)
        {
            start = before;
        }
        if let Some(last) = self.acked.remove(&(stop + 1)) {
            stop = last;
        }
        self.acked.insert(start, stop);
    }

    /// Takes out a part of one span.
    fn remove(&mut self, start: u64, stop: u64) {
        let first = self.span_at(start);
        let Some(last) = self.acked.remove(&first) else { return };
        if first < start {
            self.acked.insert(first, start - 1);
        }
        if stop < last {
            self.acked.insert(stop + 1, last);
        }
    }

    /// Start of the span that holds `at`; `at` itself if none does.
    fn span_at(&self, at: u64) -> u64 {
        let before = self.acked.range(..=at).next_back();
        before.filter(|(_, last)| **last >= at).map_or(at, |(first, _)| *first)
    }

    /// Follows the cumulative TSN ack.
    fn rebase(&mut self, cumulative: Tsn) {
        self.move_base(cumulative);
        while let Some(first) = self.acked.first_entry().filter(|first| *first.key() <= self.base) {
            let last = first.remove();
            self.steps.take(1);
            if last > self.base {
                self.acked.insert(self.base + 1, last);
            }
        }
    }

    #[inline]
    fn move_base(&mut self, cumulative: Tsn) {
        let step = self.cumulative.map_or(0, |before| cumulative.distance_from(before));
        self.cumulative = Some(cumulative);
        self.base += u64::from(step);
    }

    fn tsn(&self, position: u64) -> Tsn {
        let offset = u32::try_from(position - self.base).expect("blocks reach 65,535 TSNs at most");
        self.cumulative.unwrap_or(Tsn(0)).plus(offset)
    }

    fn range(&self, start: u64, stop: u64) -> TsnRange {
        TsnRange { first: self.tsn(start), last: self.tsn(stop) }
    }

    fn position(&self, tsn: Tsn) -> u64 {
        self.base + u64::from(self.cumulative.map_or(0, |cumulative| tsn.distance_from(cumulative)))
    }
}

/// Reads blocks into ascending, isolated spans. A block that ends before it starts says nothing and is left
/// out; blocks that overlap or touch are joined. That the TSN right behind the cumulative TSN ack has arrived
/// is a contradiction and not believed: a chunk that is never acknowledged cumulatively must stay in flight.
fn read_blocks(base: u64, blocks: &[GapAckBlock], spans: &mut Vec<Span>) {
    spans.clear();
    let mut is_sorted = true;
    for block in blocks {
        let (start, stop) = (base + u64::from(block.start.max(2)), base + u64::from(block.end));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    impl GapRanges {
        fn update(&mut self, cumulative: Tsn, blocks: &[GapAckBlock]) -> GapChanges {
            if blocks.is_empty() && self.is_empty() {
                self.follow(cumulative);
                return GapChanges::default();
            }
            let changes = self.compare(cumulative, blocks);
            self.commit(&changes);
            changes
        }
    }

    /// Moves a block to its place behind a cumulative TSN ack that is so much higher; without meaning if that has
    /// reached it.
    fn move_block((start, end): &mut (u16, u16), step: u32) {
        let step = u16::try_from(step).expect("a few TSNs");
        (*start, *end) = (start.saturating_sub(step), end.saturating_sub(step));
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
        assert_eq!(ranges.acked, BTreeMap::from([(2, 5)]));
        assert_eq!(ranges.update(Tsn(10), &[block(2, 5)]), GapChanges::default());
    }

    #[test]
    fn blocks_that_touch_or_overlap_are_one() {
        for blocks in [[block(4, 5), block(2, 3)], [block(2, 3), block(4, 5)], [block(2, 4), block(3, 5)]] {
            let changes = GapRanges::default().update(Tsn(10), &blocks);
            assert_eq!(changes.newly_acked[..], [TsnRange { first: Tsn(12), last: Tsn(15) }], "{blocks:?}");
        }
        let changes = GapRanges::default().update(Tsn(10), &[block(5, 6), block(2, 3)]);
        let apart = [(12, 13), (15, 16)].map(|(first, last)| TsnRange { first: Tsn(first), last: Tsn(last) });
        assert_eq!(changes.newly_acked[..], apart);
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
    fn of_a_block_that_the_cumulative_ack_reaches_nothing_is_left() {
        let mut ranges = GapRanges::default();
        ranges.update(Tsn(10), &[block(2, 3), block(5, 6)]);
        ranges.update(Tsn(13), &[block(2, 3)]);
        assert_eq!(ranges.acked, BTreeMap::from([(5, 6)]));
        ranges.update(Tsn(15), &[]);
        assert_eq!(ranges.acked, BTreeMap::new());
        assert_eq!(ranges.highest(), None);
    }

    #[test]
    fn one_sack_revokes_the_lowest_32_and_an_expiry_the_rest() {
        let mut ranges = GapRanges::default();
        let range = |first, last| TsnRange { first: Tsn(first), last: Tsn(last) };
        ranges.update(Tsn(u32::MAX), &[block(2, 11), block(21, 100)]);
        let changes = ranges.update(Tsn(u32::MAX), &[block(101, 101)]);
        assert_eq!(changes.revoked[..], [range(1, 10), range(20, 41)]);
        // What it left out and did not revoke is acknowledged as it was.
        let changes = ranges.update(Tsn(u32::MAX), &[block(40, 45)]);
        assert_eq!(changes.newly_acked[..], [range(39, 41)]);
        assert_eq!(changes.revoked[..], [range(45, 76)]);
        assert_eq!(ranges.highest(), Some(Tsn(44)));
        assert_eq!(ranges.revoke_unreported()[..], [range(77, 100)]);
        assert_eq!(ranges.revoke_unreported()[..], []);
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
                (0_u32..6, proptest::collection::vec((0_u16..40, 0_u16..40), 0..6), 0_u8..4),
                1..12,
            ),
        ) {
            let mut ranges = GapRanges::default();
            let mut cumulative = 0;
            let mut known = BTreeSet::new();
            let mut last_blocks: Vec<(u16, u16)> = Vec::new();
            for (step, mut blocks, kind) in sacks {
                cumulative += step;
                for block in &mut last_blocks {
                    move_block(block, step);
                }
                if kind == 0 {
                    // A SHUTDOWN.
                    let changes = ranges.advance(Tsn(base).plus(cumulative));
                    known.retain(|tsn| *tsn > cumulative);
                    let revoked: BTreeSet<u32> = known.take(&(cumulative + 1)).into_iter().collect();
                    prop_assert_eq!(set(base, &changes.revoked), revoked);
                    continue;
                }
                if kind == 1 {
                    // What the last one reported, and more.
                    blocks.extend(last_blocks.iter().filter(|(start, _)| *start > 0));
                }
                last_blocks.clone_from(&blocks);
                let reported: BTreeSet<u32> = blocks
                    .iter()
                    .filter(|(start, _)| *start > 0)
                    .flat_map(|&(start, end)| (start.max(2)..=end).map(|offset| cumulative + u32::from(offset)))
                    .collect();
                known.retain(|tsn| *tsn > cumulative);
                let blocks: Vec<_> = blocks.iter().map(|&(start, end)| block(start, end)).collect();
                let changes = ranges.update(Tsn(base).plus(cumulative), &blocks);
                let newly: BTreeSet<u32> = reported.difference(&known).copied().collect();
                let revoked = known.difference(&reported).copied();
                let revoked: BTreeSet<u32> = revoked.take(GapRanges::REVOKED_AT_ONCE as usize).collect();
                prop_assert_eq!(set(base, &changes.newly_acked), newly);
                prop_assert_eq!(set(base, &changes.revoked), revoked.clone());
                let highest = ranges.highest().map(|tsn| tsn.distance_from(Tsn(base)));
                prop_assert_eq!(highest, reported.last().copied());
                for (from, to) in [(1, 45), (3, 3), (5, 20), (39, 41)] {
                    let (from, to) = (cumulative + from, cumulative + to);
                    let holes: Vec<_> = ranges.holes(Tsn(base).plus(from), Tsn(base).plus(to)).collect();
                    let is_revoked = |tsn: &u32| !known.contains(tsn) || revoked.contains(tsn);
                    let is_hole = |tsn: &u32| !reported.contains(tsn) && is_revoked(tsn);
                    let expected: BTreeSet<u32> = (from..=to).filter(is_hole).collect();
                    prop_assert_eq!(set(base, &holes), expected);
                }
                let mut last = ranges.base;
                for (&start, &stop) in &ranges.acked {
                    prop_assert!(last + 1 < start && start <= stop, "isolated, and none empty");
                    last = stop;
                }
                let stays = |tsn: &&u32| reported.contains(tsn) || !revoked.contains(tsn);
                known = known.union(&reported).filter(stays).copied().collect();
            }
        }
    }
}
