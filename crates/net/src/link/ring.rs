//! A queue in one block of memory, for the few words that a link keeps of each packet.

/// A queue that grows. Its room is a power of two, so that a mask finds a place: a link takes several looks at its
/// queues for each packet, and `VecDeque`, whose room may be any number, needs a comparison and a branch for each.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// As many as there is room for; a power of two, or none.
    places: Vec<T>,
    /// Number of items ever taken off the front, modulo 2⁶⁴: the place of the front, once masked.
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Number of items that the first growth makes room for.
    const FIRST_ROOM: usize = 8;

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Position of an item among the places.
    #[inline]
    const fn place(&self, index: usize) -> usize {
        self.head.wrapping_add(index) & self.places.len().wrapping_sub(1)
    }

    /// The item at an index, which must be there.
    #[inline]
    fn at(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        self.places[self.place(index)]
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(self.at(0)) }
    }

    pub(crate) fn back(&self) -> Option<T> {
        Some(self.at(self.len.checked_sub(1)?))
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.places[place] = item;
        self.len += 1;
    }

    /// Doubles the room. The item that is to come stays out of this, so that it need not be in memory before it is in
    /// its place.
    #[cold]
    fn grow(&mut self) {
        let room = (2 * self.len).max(Self::FIRST_ROOM);
        let mut places = Vec::with_capacity(room);
        places.extend(self.iter());
        places.resize_with(room, T::default);
        self.places = places;
        self.head = 0;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let front = self.front()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(front)
    }

    /// Puts an item before the one at an index, or behind the last.
    pub(crate) fn insert(&mut self, index: usize, item: T) {
        self.push(item);
        for later in (index..self.len - 1).rev() {
            let place = self.place(later + 1);
            self.places[place] = self.at(later);
        }
        let place = self.place(index);
        self.places[place] = item;
    }

    /// Keeps the first `len` items only.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Number of items at the front for which an ordered property holds.
    pub(crate) fn partition_point(&self, holds: impl Fn(T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low.midpoint(high);
            if holds(self.at(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).map(|index| self.at(index))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(usize),
        Pop,
        Push,
        Truncate(usize),
    }

    proptest! {
        #[test]
        fn a_ring_is_a_queue_whatever_is_done_to_it(
            steps in proptest::collection::vec(
                prop_oneof![
                    4 => Just(Step::Push),
                    3 => Just(Step::Pop),
                    1 => (0_usize..40).prop_map(Step::Insert),
                    1 => (0_usize..40).prop_map(Step::Truncate),
                ],
                0..300,
            ),
        ) {
            let (mut ring, mut plain) = (Ring::default(), VecDeque::new());
            for (item, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(index) => {
                        let index = index.min(plain.len());
                        ring.insert(index, item);
                        plain.insert(index, item);
                    }
                    Step::Pop => prop_assert_eq!(ring.pop(), plain.pop_front()),
                    Step::Push => {
                        ring.push(item);
                        plain.push_back(item);
                    }
                    Step::Truncate(len) => {
                        ring.truncate(len);
                        plain.truncate(len);
                    }
                }
                prop_assert_eq!(ring.len(), plain.len());
                prop_assert_eq!((ring.front(), ring.back()), (plain.front().copied(), plain.back().copied()));
                prop_assert!(ring.iter().eq(plain.iter().copied()));
            }
        }

        #[test]
        fn a_point_is_found_in_any_ring(
            items in proptest::collection::btree_set(0_u32..50, 0..20),
            bound in 0_u32..50,
        ) {
            let mut ring = Ring::default();
            for item in &items {
                ring.push(*item);
            }
            prop_assert_eq!(ring.partition_point(|item| item < bound), items.range(..bound).count());
        }
    }
}
