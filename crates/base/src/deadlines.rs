//! The next deadlines of numbered components, one each: the earliest at hand, a change at the cost of a logarithm at
//! most.

mod wheel;

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use crate::Instant;
use wheel::{FarPlace, Wheel};

/// Deadlines of many components, in a heap: setting a deadline costs at most the logarithm of the number that are set,
/// and a component without one costs nothing. Of very many, those that are not near lie in a wheel, where a change
/// costs the same however many there are: most timers are set anew before they expire.
///
/// The order is total: by time, then by number. [`Instant::FAR_FUTURE`] never comes.
#[derive(Clone, Debug)]
pub struct Deadlines<N> {
    /// A binary heap: no entry is before its parent. (With four entries below each it has half the levels, and takes
    /// more instructions.)
    heap: Vec<Key>,
    /// State of each component, by its number; the list grows with the numbers that are set.
    components: Vec<Component>,
    root: Root,
    /// The earliest entry; [`Key::NONE`] if there is none.
    first: Key,
    /// Once there have been many, those that are due later than the heap's, but for some that stand in the heap.
    far: Option<Box<Wheel>>,
    /// The last nanosecond before whatever is in the wheel.
    near_until: u64,
    numbers: PhantomData<N>,
}

/// Deadline of a component, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Component {
    /// Instant at which it is due, in nanoseconds; [`NEVER`] without a deadline.
    deadline: u64,
    /// Place of its entry in the heap or in the wheel; [`ABSENT`] without a deadline.
    place: u32,
}

impl Component {
    const IDLE: Self = Self { deadline: NEVER, place: ABSENT };
}

const NEVER: u64 = Instant::FAR_FUTURE.as_nanos();
const ABSENT: u32 = u32::MAX;

/// With more in the heap there is a wheel from then on.
const MANY: usize = 128;

/// A time and a component, as one number in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    /// Behind all others.
    const NONE: Self = Self(u128::MAX);

    const fn new(deadline: u64, component: usize) -> Self {
        Self((deadline as u128) << 64 | component as u128)
    }

    const fn nanos(self) -> u64 {
        (self.0 >> 64) as u64
    }

    const fn component(self) -> usize {
        self.0 as usize
    }
}

/// State of the root of the heap. A component that was due mostly has its next deadline soon: its entry is left as a
/// vacancy for that, since moving the last entry there and the new one up would pass through all levels twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Root {
    /// The first entry, if there is one.
    #[default]
    Entry,
    /// Vacancy left by an entry that was taken.
    Vacancy,
}

/// Type of the numbers of components.
pub trait Number: Copy + Ord {
    /// Place of the number in a list.
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
        Self {
            heap: Vec::new(),
            components: Vec::new(),
            root: Root::default(),
            first: Key::NONE,
            far: None,
            near_until: u64::MAX,
            numbers: PhantomData,
        }
    }
}

impl<N: Number> Deadlines<N> {
    /// Sets when a component is due, whatever was set before; `None` for never.
    #[inline]
    pub fn set(&mut self, component: N, deadline: Option<Instant>) {
        let number = component.index();
        let deadline = deadline.map_or(NEVER, Instant::as_nanos);
        // Most often it is the same, or that of the only component.
        if let Some(component) = self.components.get_mut(number) {
            if component.deadline == deadline {
                return;
            }
            if let [only] = &mut self.heap[..]
                && component.place == 0
                && deadline < self.near_until
            {
                component.deadline = deadline;
                *only = Key::new(deadline, number);
                self.first = *only;
                return;
            }
        }
        self.reset(number, deadline);
    }

    #[inline(never)]
    fn reset(&mut self, component: usize, deadline: u64) {
        if self.components.len() <= component {
            self.components.resize(component + 1, Component::IDLE);
        }
        self.components[component].deadline = deadline;
        if self.far.is_some() && self.set_far(component) {
            return;
        }
        let place = self.components[component].place;
        match (place, deadline) {
            (ABSENT, NEVER) => {}
            (ABSENT, _) if self.root == Root::Vacancy => {
                self.root = Root::Entry;
                put(&mut self.heap, &mut self.components, 0, Key::new(deadline, component));
                self.sink(0);
            }
            (ABSENT, _) => self.push(component),
            (_, NEVER) => {
                self.components[component].place = ABSENT;
                self.fill(place as usize);
            }
            _ => {
                self.heap[place as usize] = Key::new(deadline, component);
                self.settle(place as usize);
            }
        }
        self.find_first();
    }

    /// Takes a component out of the wheel, or puts it there if that is where its deadline belongs; `false` if the rest
    /// is the heap's.
    #[inline(never)]
    fn set_far(&mut self, component: usize) -> bool {
        let Some(far) = &mut self.far else { return false };
        let Component { deadline, place } = self.components[component];
        if let Some(place) = FarPlace::of(place) {
            far.remove(&mut self.components, place);
            self.components[component].place = ABSENT;
        }
        if far.is_empty() && self.first != Key::NONE {
            far.restart_behind(self.first.nanos());
        }
        let is_far = deadline != NEVER && far.insert(&mut self.components, number(component));
        self.near_until = far.near_until();
        if !is_far {
            return false;
        }
        if place < number(self.heap.len()) {
            self.fill(place as usize);
            self.find_first();
        } else if self.first.nanos() > self.near_until {
            self.bring_near();
        }
        true
    }

    /// The earliest deadline.
    pub fn earliest(&self) -> Option<Instant> {
        let nanos = self.first.nanos();
        (nanos != NEVER).then(|| Instant::from_nanos(nanos))
    }

    /// Takes the deadline of the first component that is due by `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<N> {
        if self.first.nanos() > now.as_nanos() || self.first.nanos() == NEVER {
            return None;
        }
        let component = self.first.component();
        if core::mem::take(&mut self.root) == Root::Vacancy {
            self.fill(0);
        }
        self.root = Root::Vacancy;
        self.components[component] = Component::IDLE;
        self.find_first();
        Some(N::at(component))
    }

    #[inline]
    fn find_first(&mut self) {
        self.first = match self.root {
            Root::Entry => self.heap.first().copied().unwrap_or(Key::NONE),
            // Below the vacancy are two heaps.
            Root::Vacancy => least_below(&self.heap, 0).map_or(Key::NONE, |(least, _)| least),
        };
        if self.first.nanos() > self.near_until {
            self.bring_near();
        }
    }

    /// Takes from the wheel what may be earlier than all that the heap holds.
    #[inline(never)]
    fn bring_near(&mut self) {
        let Self { heap, components, root, far: Some(far), .. } = self else { return };
        far.take_earliest(components, |components, component| {
            let key = Key::new(components[component as usize].deadline, component as usize);
            let place = heap.len();
            heap.push(key);
            components[component as usize].place = number(place);
            rise(heap, components, *root, place);
        });
        self.near_until = far.near_until();
        self.find_first();
    }

    /// Puts a component that stands nowhere into the heap.
    fn push(&mut self, component: usize) {
        let place = self.heap.len();
        self.heap.push(Key::new(self.components[component].deadline, component));
        self.components[component].place = number(place);
        rise(&mut self.heap, &mut self.components, self.root, place);
        if place == MANY && self.far.is_none() {
            self.far = Some(Box::new(Wheel::behind(self.first.nanos())));
        }
    }

    /// Puts the last entry in the place of one that is gone.
    fn fill(&mut self, place: usize) {
        self.heap.swap_remove(place);
        if let Some(&entry) = self.heap.get(place) {
            self.components[entry.component()].place = number(place);
            self.settle(place);
        }
    }

    /// Brings an entry that may be too early or too late for its place to where it belongs.
    fn settle(&mut self, place: usize) {
        if rise(&mut self.heap, &mut self.components, self.root, place) == place {
            self.sink(place);
        }
    }

    /// Moves an entry down to where it belongs.
    fn sink(&mut self, from: usize) {
        let (heap, components) = (&mut self.heap[..], &mut self.components[..]);
        let entry = heap[from];
        let mut place = from;
        while let Some((least, child)) = least_below(heap, place)
            && least < entry
        {
            put(heap, components, place, least);
            place = child;
        }
        if place != from {
            put(heap, components, place, entry);
        }
    }
}

/// Moves an entry up to where it belongs, and says where that is.
fn rise(heap: &mut [Key], components: &mut [Component], root: Root, from: usize) -> usize {
    let entry = heap[from];
    let mut place = from;
    while place > 0 {
        let parent = (place - 1) / 2;
        let is_vacant = parent == 0 && root == Root::Vacancy;
        if is_vacant || heap[parent] < entry {
            break;
        }
        put(heap, components, place, heap[parent]);
        place = parent;
    }
    if place != from {
        put(heap, components, place, entry);
    }
    place
}

#[inline]
fn put(heap: &mut [Key], components: &mut [Component], place: usize, entry: Key) {
    heap[place] = entry;
    components[entry.component()].place = number(place);
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

/// A place in the heap, which is no longer than the list of components, or the number of a component.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^31 components")]
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

    #[test]
    fn what_is_set_when_none_is_left_is_the_earliest() {
        let mut queue = Deadlines::<usize>::default();
        for component in 0..MANY * 2 {
            queue.set(component, Some(Instant::from_secs(component as u64)));
        }
        while queue.take_due(Instant::from_secs(1_000)).is_some() {}
        assert!(queue.far.is_some());
        queue.set(3, Some(Instant::from_secs(5_000)));
        assert_eq!(queue.earliest(), Some(Instant::from_secs(5_000)));
        queue.set(3, None);
        assert_eq!(queue.earliest(), None);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Set(usize, Option<u64>),
        /// So many nanoseconds after the earliest deadline.
        Take(u64),
    }

    /// Times on all levels of the wheel, within and beyond it.
    fn times() -> impl Strategy<Value = u64> {
        (0_u32..52, any::<u64>()).prop_map(|(bits, random)| random >> (63 - bits))
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let set = (0..MANY * 2, prop::option::weighted(0.9, times()))
            .prop_map(|(component, at)| Step::Set(component, at));
        prop::collection::vec(prop_oneof![3 => set, 2 => (0_u64..1 << 28).prop_map(Step::Take)], 0..600)
    }

    proptest! {
        /// Against a set that is searched, with more than the heap has alone. Times are after the last that was taken.
        #[test]
        fn many_come_in_the_order_of_a_sorted_set(first in prop::collection::vec(times(), MANY * 2), steps in steps()) {
            let (mut queue, mut model) = (Deadlines::default(), BTreeSet::new());
            let mut now = 0;
            let filling = first.into_iter().enumerate().map(|(component, at)| Step::Set(component, Some(at)));
            for step in filling.chain(steps) {
                match step {
                    Step::Set(component, at) => {
                        let deadline = at.map(|at| Instant::from_nanos(now + at));
                        queue.set(component, deadline);
                        model.retain(|(_, other)| *other != component);
                        model.extend(deadline.map(|deadline| (deadline, component)));
                    }
                    Step::Take(after) => {
                        let Some((earliest, _)) = model.first() else { continue };
                        now = earliest.as_nanos() + after;
                        let is_due = |(deadline, _): &(Instant, usize)| deadline.as_nanos() <= now;
                        // Others may be set between two that are due.
                        let expected = model.first().copied().filter(is_due).map(|entry| {
                            model.remove(&entry);
                            entry.1
                        });
                        prop_assert_eq!(queue.take_due(Instant::from_nanos(now)), expected);
                    }
                }
                prop_assert_eq!(queue.earliest(), model.first().map(|(deadline, _)| *deadline));
            }
            prop_assert!(queue.far.is_some());
            let rest = std::iter::from_fn(|| queue.take_due(Instant::FAR_FUTURE)).collect::<Vec<_>>();
            prop_assert_eq!(rest, model.into_iter().map(|(_, component)| component).collect::<Vec<_>>());
        }

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
