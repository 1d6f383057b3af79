//! The deadlines of many of a kind: the earliest at hand, a change at the cost of a logarithm.

use crate::Instant;

/// A binary heap of slots by deadline that knows where each slot stands. Among equal deadlines the lower
/// slot comes first.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    heap: Vec<(Instant, u32)>,
    /// Where each slot stands in the heap; `ABSENT` if it waits for nothing.
    positions: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Deadlines {
    /// The earliest deadline.
    pub fn earliest(&self) -> Option<Instant> {
        self.heap.first().map(|(deadline, _)| *deadline)
    }

    /// Sets or removes the deadline of a slot.
    pub fn set(&mut self, slot: u32, deadline: Option<Instant>) {
        if self.positions.len() <= slot as usize {
            self.positions.resize(slot as usize + 1, ABSENT);
        }
        let position = self.positions[slot as usize];
        match (position, deadline) {
            (ABSENT, None) => {}
            (ABSENT, Some(deadline)) => {
                self.heap.push((deadline, slot));
                self.settle(self.heap.len() - 1);
            }
            (position, Some(deadline)) => {
                let position = position as usize;
                if self.heap[position].0 != deadline {
                    self.heap[position].0 = deadline;
                    self.settle(position);
                }
            }
            (position, None) => {
                let position = position as usize;
                self.heap.swap_remove(position);
                self.positions[slot as usize] = ABSENT;
                if position < self.heap.len() {
                    self.settle(position);
                }
            }
        }
    }

    /// Removes and returns a slot whose deadline has come, the earliest first.
    pub fn take_due(&mut self, now: Instant) -> Option<u32> {
        let (deadline, slot) = *self.heap.first()?;
        (deadline <= now).then(|| {
            self.set(slot, None);
            slot
        })
    }

    /// Moves the entry at `position` to where it belongs.
    fn settle(&mut self, position: usize) {
        let entry = self.heap[position];
        let mut hole = position;
        while hole > 0 && entry < self.heap[(hole - 1) / 2] {
            self.place(hole, self.heap[(hole - 1) / 2]);
            hole = (hole - 1) / 2;
        }
        loop {
            let left = 2 * hole + 1;
            let Some(mut least) = self.heap.get(left).copied() else { break };
            let mut child = left;
            if let Some(right) = self.heap.get(left + 1).copied().filter(|right| *right < least) {
                (least, child) = (right, left + 1);
            }
            if entry <= least {
                break;
            }
            self.place(hole, least);
            hole = child;
        }
        self.place(hole, entry);
    }

    fn place(&mut self, position: usize, entry: (Instant, u32)) {
        self.heap[position] = entry;
        #[expect(clippy::cast_possible_truncation, reason = "there are at most 2^32 slots")]
        let index = position as u32;
        self.positions[entry.1 as usize] = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_agrees_with_a_map_that_is_searched(
            steps in proptest::collection::vec((0_u32..12, proptest::option::of(0_u64..40)), 0..200),
            now in 0_u64..40,
        ) {
            let mut deadlines = Deadlines::default();
            let mut map = BTreeMap::new();
            for (slot, deadline) in steps {
                let deadline = deadline.map(Instant::from_nanos);
                deadlines.set(slot, deadline);
                match deadline {
                    Some(deadline) => map.insert(slot, deadline),
                    None => map.remove(&slot),
                };
                prop_assert_eq!(deadlines.earliest(), map.values().min().copied());
            }
            let now = Instant::from_nanos(now);
            let mut due: Vec<_> = map.into_iter().filter(|(_, deadline)| *deadline <= now).collect();
            due.sort_by_key(|(slot, deadline)| (*deadline, *slot));
            for (slot, _) in due {
                prop_assert_eq!(deadlines.take_due(now), Some(slot));
            }
            prop_assert_eq!(deadlines.take_due(now), None);
        }
    }
}
