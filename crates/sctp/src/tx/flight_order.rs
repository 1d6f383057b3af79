//! Search for the chunk in flight to a path that has the lowest TSN.

use std::collections::VecDeque;

use super::gap_ranges::TsnRange;
use super::outstanding::{Outstanding, OutstandingChunk};
use super::steps::Steps;
use crate::path::PathId;
use crate::types::Tsn;

/// The TSNs sent to each path, ascending, as ranges: new chunks follow each other. One that is in flight there no more
/// is taken out when it is met at the head, so that each transmission is met once and the window never searched.
#[derive(Clone, Debug, Default)]
pub(super) struct FlightOrder {
    /// Of the first path, which most associations have alone.
    first: PathOrder,
    others: Vec<(PathId, PathOrder)>,
}

/// The ranges of one path.
#[derive(Clone, Debug, Default)]
struct PathOrder {
    /// All but the highest.
    lower: VecDeque<TsnRange>,
    /// At hand, since what is new extends it. `None`: there is no range.
    highest: Option<TsnRange>,
}

impl FlightOrder {
    /// `tsn` is in flight to `path` from now on.
    #[expect(clippy::inline_always, reason = "as a rule it is no longer than a call")]
    #[inline(always)]
    pub(super) fn add(&mut self, path: PathId, tsn: Tsn) {
        // As a rule it follows what was sent before.
        match self.path_mut(path).and_then(|order| order.highest.as_mut()) {
            Some(range) if range.last.next() == tsn => range.last = tsn,
            Some(_) | None => self.insert(path, tsn),
        }
    }

    #[inline(never)]
    fn insert(&mut self, path: PathId, tsn: Tsn) {
        if self.path_mut(path).is_none() {
            self.others.push((path, PathOrder::default()));
        }
        if let Some(order) = self.path_mut(path) {
            order.insert(tsn);
        }
    }

    #[inline]
    fn path_mut(&mut self, path: PathId) -> Option<&mut PathOrder> {
        if path == PathId(0) {
            return Some(&mut self.first);
        }
        self.others.iter_mut().find(|(id, _)| *id == path).map(|(_, order)| order)
    }

    /// Forgets a path.
    pub(super) fn remove(&mut self, path: PathId) {
        self.others.retain(|(id, _)| *id != path);
        if path == PathId(0) {
            self.first = PathOrder::default();
        }
    }

    /// The lowest TSN in flight to `path`.
    #[expect(clippy::inline_always, reason = "each SACK passes it")]
    #[inline(always)]
    pub(super) fn first(&mut self, path: PathId, outstanding: &Outstanding, steps: &Steps) -> Option<Tsn> {
        let order = self.path_mut(path)?;
        let stands = |chunk: &OutstandingChunk| chunk.state.is_in_flight() && chunk.path == path;
        let next = outstanding.cumulative_ack().next();
        while let Some(range) = order.lowest_mut() {
            steps.take(1);
            // What has been acknowledged cumulatively is passed over at once.
            if range.last.is_before(next) {
                order.pop_lowest();
                continue;
            }
            if range.first.is_before(next) {
                range.first = next;
            }
            if outstanding.find(range.first).is_some_and(stands) {
                return Some(range.first);
            }
            if range.first == range.last {
                order.pop_lowest();
            } else {
                range.first = range.first.next();
            }
        }
        None
    }

    /// The highest TSN in flight to `path`.
    pub(super) fn last(&mut self, path: PathId, outstanding: &Outstanding, steps: &Steps) -> Option<Tsn> {
        let order = self.path_mut(path)?;
        let stands = |chunk: &OutstandingChunk| chunk.state.is_in_flight() && chunk.path == path;
        while let Some(range) = &mut order.highest {
            steps.take(1);
            if outstanding.find(range.last).is_some_and(stands) {
                return Some(range.last);
            }
            if range.first == range.last {
                order.highest = order.lower.pop_back();
            } else {
                range.last = range.last.minus(1);
            }
        }
        None
    }
}

impl PathOrder {
    /// Adds a TSN that does not follow the highest.
    fn insert(&mut self, tsn: Tsn) {
        let one = TsnRange { first: tsn, last: tsn };
        if self.highest.is_none_or(|range| range.last.is_before(tsn)) {
            self.lower.extend(self.highest.replace(one));
            return;
        }
        let index = self.lower.partition_point(|range| range.last.is_before(tsn));
        let above = self.lower.get_mut(index).or(self.highest.as_mut());
        match above {
            Some(range) if range.first.is_at_or_before(tsn) => {}
            Some(range) if range.first == tsn.next() => range.first = tsn,
            Some(_) | None => self.lower.insert(index, one),
        }
    }

    #[inline]
    fn lowest_mut(&mut self) -> Option<&mut TsnRange> {
        self.lower.front_mut().or(self.highest.as_mut())
    }

    #[inline]
    fn pop_lowest(&mut self) {
        if self.lower.pop_front().is_none() {
            self.highest = None;
        }
    }

    #[cfg(test)]
    fn ranges(&self) -> Vec<TsnRange> {
        self.lower.iter().copied().chain(self.highest).collect()
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
        assert_eq!(order.first.ranges(), [TsnRange { first: Tsn(5), last: Tsn(9) }]);
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
        assert_eq!(order.first.ranges(), [TsnRange { first: Tsn(5), last: Tsn(6) }]);
        order.add(PathId(0), Tsn(9));
        assert_eq!(order.last(PathId(0), &outstanding, &Steps::default()), Some(Tsn(6)));
    }

    proptest! {
        /// In whatever order chunks are retransmitted, the ranges are the set of their TSNs.
        #[test]
        fn the_ranges_of_a_path_are_a_set_of_tsns(
            base: u32,
            sent in proptest::collection::vec((0_u32..60, 0_u8..2), 0..120),
        ) {
            let mut order = FlightOrder::default();
            let mut sets = [BTreeSet::new(), BTreeSet::new()];
            for (offset, path) in sent {
                order.add(PathId(path.into()), Tsn(base).plus(offset));
                sets[usize::from(path)].insert(offset);
            }
            for (id, set) in (0_u16..).map(PathId).zip(sets) {
                let ranges = order.path_mut(id).map_or_else(Vec::new, |path| path.ranges());
                let tsns = ranges.into_iter().flat_map(TsnRange::iter);
                let tsns: Vec<u32> = tsns.map(|tsn| tsn.distance_from(Tsn(base))).collect();
                prop_assert_eq!(tsns, set.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
