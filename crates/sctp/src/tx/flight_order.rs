//! Which chunk in flight to a path has the lowest TSN.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::gap_ranges::TsnRange;
use super::outstanding::{ChunkState, Outstanding, OutstandingChunk};
use super::steps::Steps;
use crate::path::PathId;
use crate::types::Tsn;

/// The TSNs sent to each path, ascending, as ranges: new chunks follow each other. One that is in flight there no more
/// is taken out when it is met at the head, so that each transmission is met once and the window never searched.
#[derive(Clone, Debug, Default)]
pub(super) struct FlightOrder {
    paths: SmallVec<[VecDeque<TsnRange>; 2]>,
}

impl FlightOrder {
    /// `tsn` is in flight to `path` from now on.
    #[expect(clippy::inline_always, reason = "as a rule it is no longer than a call")]
    #[inline(always)]
    pub(super) fn add(&mut self, path: PathId, tsn: Tsn) {
        // As a rule it follows what was sent before.
        match self.paths.get_mut(path.index()).and_then(VecDeque::back_mut) {
            Some(range) if range.last.next() == tsn => range.last = tsn,
            Some(_) | None => self.insert(path, tsn),
        }
    }

    fn insert(&mut self, path: PathId, tsn: Tsn) {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, VecDeque::new);
        }
        let order = &mut self.paths[path.index()];
        match order.back_mut() {
            Some(range) if tsn.is_at_or_before(range.last) => insert(order, tsn),
            Some(_) | None => order.push_back(TsnRange { first: tsn, last: tsn }),
        }
    }

    /// The lowest TSN in flight to `path`.
    pub(super) fn first(&mut self, path: PathId, outstanding: &Outstanding, steps: &Steps) -> Option<Tsn> {
        let order = self.paths.get_mut(path.index())?;
        let stands = |chunk: &OutstandingChunk| chunk.state == ChunkState::InFlight && chunk.path == path;
        let next = outstanding.cumulative_ack().next();
        while let Some(range) = order.front_mut() {
            steps.take(1);
            // What has been acknowledged cumulatively is passed over at once.
            if range.last.is_before(next) {
                order.pop_front();
                continue;
            }
            if range.first.is_before(next) {
                range.first = next;
            }
            if outstanding.find(range.first).is_some_and(stands) {
                return Some(range.first);
            }
            if range.first == range.last {
                order.pop_front();
            } else {
                range.first = range.first.next();
            }
        }
        None
    }

    /// The highest TSN in flight to `path`.
    pub(super) fn last(&mut self, path: PathId, outstanding: &Outstanding, steps: &Steps) -> Option<Tsn> {
        let order = self.paths.get_mut(path.index())?;
        let stands = |chunk: &OutstandingChunk| chunk.state == ChunkState::InFlight && chunk.path == path;
        while let Some(range) = order.back_mut() {
            steps.take(1);
            if outstanding.find(range.last).is_some_and(stands) {
                return Some(range.last);
            }
            if range.first == range.last {
                order.pop_back();
            } else {
                range.last = range.last.minus(1);
            }
        }
        None
    }
}

/// Adds a TSN that does not come after all others.
fn insert(order: &mut VecDeque<TsnRange>, tsn: Tsn) {
    let index = order.partition_point(|range| range.last.is_before(tsn));
    if order[index].first.is_at_or_before(tsn) {
        return;
    }
    if order[index].first == tsn.next() {
        order[index].first = tsn;
    } else {
        order.insert(index, TsnRange { first: tsn, last: tsn });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn chunks_that_follow_each_other_are_one_range() {
        let mut order = FlightOrder::default();
        for tsn in 5..10 {
            order.add(PathId(0), Tsn(tsn));
        }
        assert_eq!(order.paths[0], [TsnRange { first: Tsn(5), last: Tsn(9) }]);
    }

    #[test]
    fn the_highest_in_flight_is_found_behind_what_is_not() {
        use crate::tx::outstanding::tests::with_states;
        let states = [(0, true), (0, true), (1, true), (0, false), (0, false)];
        let outstanding = with_states(Tsn(5), &states);
        let mut order = FlightOrder::default();
        for tsn in 5..10 {
            order.add(PathId(0), Tsn(tsn));
        }
        let mut last = |path| order.last(PathId(path), &outstanding, &Steps::default());
        assert_eq!([last(0), last(0), last(1)], [Some(Tsn(6)), Some(Tsn(6)), None]);
        assert_eq!(order.paths[0], [TsnRange { first: Tsn(5), last: Tsn(6) }]);
        order.add(PathId(0), Tsn(9));
        assert_eq!(order.last(PathId(0), &outstanding, &Steps::default()), Some(Tsn(6)));
    }

    proptest! {
        /// In whatever order chunks are sent again, the ranges are the set of their TSNs.
        #[test]
        fn the_ranges_of_a_path_are_a_set_of_tsns(
            base: u32,
            sent in proptest::collection::vec((0_u32..60, 0_u8..2), 0..120),
        ) {
            let mut order = FlightOrder::default();
            let mut sets = [BTreeSet::new(), BTreeSet::new()];
            for (offset, path) in sent {
                order.add(PathId(path), Tsn(base).plus(offset));
                sets[usize::from(path)].insert(offset);
            }
            for (ranges, set) in order.paths.iter().zip(sets) {
                let tsns: Vec<u32> =
                    ranges.iter().flat_map(|range| range.iter()).map(|tsn| tsn.distance_from(Tsn(base))).collect();
                prop_assert_eq!(tsns, set.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
