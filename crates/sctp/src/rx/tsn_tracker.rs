//! Which TSNs have been received: the Cumulative TSN Ack Point, the ranges beyond it, the duplicates.

use std::collections::VecDeque;

use crate::types::Tsn;

/// How a TSN stands to what has been received before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The one right after the Cumulative TSN Ack Point.
    Next,
    /// New, behind a gap.
    Ahead,
    /// Received before.
    Duplicate,
    /// So far ahead that no Gap Ack Block could report it.
    OutOfReach,
}

/// A run of received TSNs, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: Tsn,
    last: Tsn,
}

/// The received TSNs of one direction.
#[derive(Clone, Debug)]
pub(crate) struct TsnTracker {
    cumulative: Tsn,
    /// Beyond `cumulative + 1`, ascending, isolated from each other.
    ranges: VecDeque<Range>,
    /// Since the last SACK, as often as each came again; at most [`MAX_DUPLICATES`](Self::MAX_DUPLICATES).
    duplicates: Vec<Tsn>,
}

impl TsnTracker {
    /// Gap Ack Blocks are 16-bit offsets from the Cumulative TSN Ack.
    const REACH: u32 = u16::MAX as u32;
    /// A peer that repeats itself gets a SACK at once, so that few are ever waiting.
    const MAX_DUPLICATES: usize = 64;

    /// Expects `initial` as the first TSN.
    pub(crate) fn new(initial: Tsn) -> Self {
        Self { cumulative: initial.minus(1), ranges: VecDeque::new(), duplicates: Vec::new() }
    }

    /// The last TSN before the first gap.
    pub(crate) const fn cumulative(&self) -> Tsn {
        self.cumulative
    }

    /// The largest TSN received.
    pub(crate) fn highest(&self) -> Tsn {
        self.ranges.back().map_or(self.cumulative, |range| range.last)
    }

    /// Whether a TSN is missing in front of a received one.
    pub(crate) fn has_gaps(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// How `tsn` would count, without recording it.
    pub(crate) fn classify(&self, tsn: Tsn) -> Arrival {
        let ahead = tsn.distance_from(self.cumulative);
        match ahead {
            1 => Arrival::Next,
            _ if tsn.is_at_or_before(self.cumulative) => Arrival::Duplicate,
            _ if ahead > Self::REACH => Arrival::OutOfReach,
            _ => match self.locate(tsn) {
                Ok(_) => Arrival::Duplicate,
                Err(_) => Arrival::Ahead,
            },
        }
    }

    /// Records a TSN that was classified as `Next` or `Ahead`.
    pub(crate) fn record(&mut self, tsn: Tsn) {
        if tsn == self.cumulative.next() {
            self.cumulative = tsn;
            if let Some(range) = self.ranges.front()
                && range.first == tsn.next()
            {
                self.cumulative = range.last;
                self.ranges.pop_front();
            }
            return;
        }
        let Err(index) = self.locate(tsn) else { return };
        let joins_before = index > 0 && self.ranges[index - 1].last.next() == tsn;
        let joins_after = index < self.ranges.len() && self.ranges[index].first == tsn.next();
        match (joins_before, joins_after) {
            (true, true) => {
                self.ranges[index - 1].last = self.ranges[index].last;
                self.ranges.remove(index);
            }
            (true, false) => self.ranges[index - 1].last = tsn,
            (false, true) => self.ranges[index].first = tsn,
            (false, false) => self.ranges.insert(index, Range { first: tsn, last: tsn }),
        }
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

    /// How many Gap Ack Blocks there are.
    pub(crate) fn gap_block_count(&self) -> usize {
        self.ranges.len()
    }

    /// The Gap Ack Blocks, lowest first, as offsets from the Cumulative TSN Ack.
    pub(crate) fn gap_blocks(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let offset = |tsn: Tsn| {
            u16::try_from(tsn.distance_from(self.cumulative)).expect("what is out of reach is not recorded")
        };
        self.ranges.iter().map(move |range| (offset(range.first), offset(range.last)))
    }

    /// The index of the range that holds `tsn`, or where a new one would go.
    fn locate(&self, tsn: Tsn) -> Result<usize, usize> {
        let at = tsn.distance_from(self.cumulative);
        // Bulk data behind one loss extends the last range.
        match self.ranges.back() {
            None => return Err(0),
            Some(range) if at > range.last.distance_from(self.cumulative) => return Err(self.ranges.len()),
            Some(_) => {}
        }
        let index = self.ranges.partition_point(|range| range.last.distance_from(self.cumulative) < at);
        if self.ranges[index].first.distance_from(self.cumulative) <= at { Ok(index) } else { Err(index) }
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
        assert_eq!(tracker.highest(), Tsn(4));
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
