//! The next deadlines of numbered components, one each: the earliest at hand, a change at the cost of a logarithm.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use crate::Instant;

/// When each of many components is next due, in a heap: setting a deadline costs the logarithm of how many
/// are set at most, and a component without one costs nothing.
///
/// The order is total: by time, then by number.
#[derive(Clone, Debug)]
pub struct Deadlines<N> {
    /// A binary heap: no entry is before its parent. (With four entries below each it has half the levels, and takes
    /// more instructions.)
    heap: Vec<Key>,
    /// Where each component stands in the heap; [`ABSENT`] without a deadline. It grows with the numbers that are set.
    places: Vec<u32>,
    root: Root,
    /// The earliest entry; [`Key::NONE`] if there is none.
    first: Key,
    numbers: PhantomData<N>,
}

const ABSENT: u32 = u32::MAX;

/// A time and a component, as one number in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    /// Behind all others.
    const NONE: Self = Self(u128::MAX);

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
        let (heap, places) = (Vec::new(), Vec::new());
        Self { heap, places, root: Root::default(), first: Key::NONE, numbers: PhantomData }
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
        if let (Some(deadline), Some(key)) = (deadline, self.heap.get_mut(place as usize))
            && (is_alone || key.deadline() == deadline)
        {
            *key = Key::new(deadline, component);
            if is_alone {
                self.first = *key;
            }
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
                put(&mut self.heap, &mut self.places, 0, Key::new(deadline, component));
                self.sink(0);
            }
            (ABSENT, Some(deadline)) => {
                let place = self.heap.len();
                self.heap.push(Key::new(deadline, component));
                self.places[component] = number(place);
                self.rise(place);
            }
            (_, None) => {
                self.places[component] = ABSENT;
                self.fill(place as usize);
            }
            (_, Some(deadline)) => {
                self.heap[place as usize] = Key::new(deadline, component);
                self.settle(place as usize);
            }
        }
        self.find_first();
    }

    /// The earliest deadline.
    pub fn earliest(&self) -> Option<Instant> {
        (self.first != Key::NONE).then(|| self.first.deadline())
    }

    /// Takes the deadline of the first component that is due by `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<N> {
        if self.first.deadline() > now || self.first == Key::NONE {
            return None;
        }
        let component = self.first.component();
        if core::mem::take(&mut self.root) == Root::Vacancy {
            self.fill(0);
        }
        self.root = Root::Vacancy;
        self.places[component] = ABSENT;
        self.find_first();
        Some(N::at(component))
    }

    fn find_first(&mut self) {
        self.first = match self.root {
            Root::Entry => self.heap.first().copied().unwrap_or(Key::NONE),
            // Below the vacancy are two heaps.
            Root::Vacancy => least_below(&self.heap, 0).map_or(Key::NONE, |(least, _)| least),
        };
    }

    /// Puts the last entry in the place of one that is gone.
    fn fill(&mut self, place: usize) {
        self.heap.swap_remove(place);
        if let Some(&entry) = self.heap.get(place) {
            self.places[entry.component()] = number(place);
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
        let (heap, places) = (&mut self.heap[..], &mut self.places[..]);
        let entry = heap[from];
        let mut place = from;
        while place > 0 {
            let parent = (place - 1) / 2;
            let is_vacant = parent == 0 && self.root == Root::Vacancy;
            if is_vacant || heap[parent] < entry {
                break;
            }
            put(heap, places, place, heap[parent]);
            place = parent;
        }
        if place != from {
            put(heap, places, place, entry);
        }
        place
    }

    /// Moves an entry down to where it belongs.
    fn sink(&mut self, from: usize) {
        let (heap, places) = (&mut self.heap[..], &mut self.places[..]);
        let entry = heap[from];
        let mut place = from;
        while let Some((least, child)) = least_below(heap, place)
            && least < entry
        {
            put(heap, places, place, least);
            place = child;
        }
        if place != from {
            put(heap, places, place, entry);
        }
    }
}

#[inline]
fn put(heap: &mut [Key], places: &mut [u32], place: usize, entry: Key) {
    heap[place] = entry;
    places[entry.component()] = number(place);
}

/// The least of what stands below a place, and where it stands.
#[inline]
fn least_below(heap: &[Key], place: usize) -> Option<(Key, usize)> {
    let first = 2 * place + 1;
    let &left = heap.get(first)?;
    let Some(&right) = heap.get(first + 1) else { return Some((left, first)) };
    // Which it is cannot be foretold: it is selected, and not branched to.
    let is_right = right < left;
    Some((select_unpredictable(is_right, right, left), first + usize::from(is_right)))
}

/// A place in the heap, which is no longer than the list of components.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 components")]
const fn number(place: usize) -> u32 {
    place as u32
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
