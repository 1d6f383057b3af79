//! The next deadlines of numbered components, one each: the earliest at hand, a change at the cost of a logarithm.

use core::marker::PhantomData;

use crate::Instant;

/// When each of many components is next due, in a heap: setting a deadline costs the logarithm of how many
/// are set at most, and a component without one costs nothing.
///
/// The order is total: by time, then by number.
#[derive(Clone, Debug)]
pub struct Deadlines<N> {
    /// A binary heap: no entry is before its parent.
    heap: Vec<Key>,
    /// Where each component stands in the heap; [`ABSENT`] without a deadline. It grows with the numbers that are set.
    places: Vec<usize>,
    root: Root,
    numbers: PhantomData<N>,
}

const ABSENT: usize = usize::MAX;

/// A time and a component, as one number in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    const fn new(deadline: Instant, component: usize) -> Self {
        Self((deadline.as_nanos() as u128) << 64 | component as u128)
    }

    const fn deadline(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    const fn component(self) -> usize {
        self.0 as usize
    }
}

/// What is at the root of the heap. A component that was due mostly has its next deadline soon: its entry is left as a
/// vacancy for that, since moving the last entry there and the new one up would pass through all levels twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Root {
    /// The first entry, if there is one.
    #[default]
    Entry,
    /// What is left of an entry that was taken.
    Vacancy,
}

/// What numbers components.
pub trait Number: Copy + Ord {
    /// Its place in a list.
    fn index(self) -> usize;

    /// The number of a place in a list, which was that of a number.
    fn at(index: usize) -> Self;
}

impl Number for u32 {
    fn index(self) -> usize {
        self as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the place was a number of 32 bits")]
    fn at(index: usize) -> Self {
        index as Self
    }
}

impl Number for usize {
    fn index(self) -> usize {
        self
    }

    fn at(index: usize) -> Self {
        index
    }
}

impl<N> Default for Deadlines<N> {
    fn default() -> Self {
        Self { heap: Vec::new(), places: Vec::new(), root: Root::default(), numbers: PhantomData }
    }
}

impl<N: Number> Deadlines<N> {
    /// Sets when a component is due, whatever was set before; `None` for never.
    #[inline]
    pub fn set(&mut self, component: N, deadline: Option<Instant>) {
        let component = component.index();
        // Most often it is the same, or that of the only component.
        let place = self.places.get(component).copied().unwrap_or(ABSENT);
        let is_alone = self.heap.len() == 1;
        if let (Some(deadline), Some(key)) = (deadline, self.heap.get_mut(place))
            && (is_alone || key.deadline() == deadline)
        {
            *key = Key::new(deadline, component);
        } else {
            self.reset(component, deadline);
        }
    }

    #[inline(never)]
    fn reset(&mut self, component: usize, deadline: Option<Instant>) {
        if self.places.len() <= component {
            self.places.resize(component + 1, ABSENT);
        }
        let place = self.places[component];
        match (place, deadline) {
            (ABSENT, None) => {}
            (ABSENT, Some(deadline)) if self.root == Root::Vacancy => {
                self.root = Root::Entry;
                self.put(0, Key::new(deadline, component));
                self.sink(0);
            }
            (ABSENT, Some(deadline)) => {
                let place = self.heap.len();
                self.heap.push(Key::new(deadline, component));
                self.places[component] = place;
                self.rise(place);
            }
            (_, None) => {
                self.places[component] = ABSENT;
                self.fill(place);
            }
            (_, Some(deadline)) => {
                self.heap[place] = Key::new(deadline, component);
                self.settle(place);
            }
        }
    }

    /// The earliest deadline.
    pub fn earliest(&self) -> Option<Instant> {
        self.first().map(Key::deadline)
    }

    /// Takes the deadline of the first component that is due by `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<N> {
        let component = self.first().filter(|first| first.deadline() <= now)?.component();
        if std::mem::replace(&mut self.root, Root::Vacancy) == Root::Vacancy {
            self.fill(0);
        }
        self.places[component] = ABSENT;
        Some(N::at(component))
    }

    fn first(&self) -> Option<Key> {
        match self.root {
            Root::Entry => self.heap.first().copied(),
            // Below the vacancy are two heaps.
            Root::Vacancy => self.heap.iter().skip(1).take(2).copied().min(),
        }
    }

    /// Puts the last entry in the place of one that is gone.
    fn fill(&mut self, place: usize) {
        self.heap.swap_remove(place);
        if let Some(&entry) = self.heap.get(place) {
            self.places[entry.component()] = place;
            self.settle(place);
        }
    }

    /// Brings an entry that may be too early or too late for its place to where it belongs.
    fn settle(&mut self, place: usize) {
        if self.rise(place) == place {
            self.sink(place);
        }
    }

    /// Moves an entry up to where it belongs, and says where that is.
    fn rise(&mut self, from: usize) -> usize {
        let entry = self.heap[from];
        let mut place = from;
        while place > 0 {
            let parent = (place - 1) / 2;
            let is_vacant = parent == 0 && self.root == Root::Vacancy;
            if is_vacant || self.heap[parent] < entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        if place != from {
            self.put(place, entry);
        }
        place
    }

    /// Moves an entry down to where it belongs.
    fn sink(&mut self, from: usize) {
        let entry = self.heap[from];
        let mut place = from;
        loop {
            let mut child = 2 * place + 1;
            let Some(&(mut least)) = self.heap.get(child) else { break };
            if let Some(&right) = self.heap.get(child + 1)
                && right < least
            {
                (child, least) = (child + 1, right);
            }
            if entry < least {
                break;
            }
            self.put(place, least);
            place = child;
        }
        if place != from {
            self.put(place, entry);
        }
    }

    fn put(&mut self, place: usize, entry: Key) {
        self.heap[place] = entry;
        self.places[entry.component()] = place;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const COMPONENTS: usize = 40;

    #[test]
    fn the_earliest_is_taken_first_and_of_equal_ones_the_lowest_number() {
        let mut queue = Deadlines::<usize>::default();
        for (component, seconds) in [(3, 2), (1, 2), (0, 5), (2, 1)] {
            queue.set(component, Some(Instant::from_secs(seconds)));
        }
        queue.set(0, None);
        let due = std::iter::from_fn(|| queue.take_due(Instant::from_secs(2))).collect::<Vec<_>>();
        assert_eq!(due, [2, 1, 3]);
        assert_eq!(queue.earliest(), None);
    }

    proptest! {
        /// Against a set that is searched.
        #[test]
        fn it_gives_what_a_sorted_set_gives(
            steps in prop::collection::vec((0..COMPONENTS, prop::option::of(0_u64..30), 0_u64..40), 0..400),
        ) {
            let mut queue = Deadlines::default();
            let mut model = BTreeSet::new();
            for (component, deadline, now) in steps {
                let (deadline, now) = (deadline.map(Instant::from_secs), Instant::from_secs(now));
                queue.set(component, deadline);
                model.retain(|(_, other)| *other != component);
                model.extend(deadline.map(|deadline| (deadline, component)));
                prop_assert_eq!(queue.earliest(), model.first().map(|(deadline, _)| *deadline));
                let expected = model.first().copied().filter(|(deadline, _)| *deadline <= now);
                prop_assert_eq!(queue.take_due(now), expected.map(|(_, component)| component));
                model.retain(|entry| Some(*entry) != expected);
            }
        }
    }
}
