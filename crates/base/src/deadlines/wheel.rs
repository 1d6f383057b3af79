//! Deadlines that are not near: in buckets by time, unsorted.

use super::{ABSENT, Component};

/// The buckets of the lowest level are of 1 ms (2^20 ns).
const TICK_BITS: u32 = 20;

/// Each bucket of a level is as long as all of the level below: 1.07 s, and 18 min. What is 13 days ahead is not held.
const LEVELS: usize = 3;
const BUCKET_BITS: usize = 10;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Largest capacity that a bucket keeps when it is empty. A larger one gives its memory back, which would otherwise
/// follow the most entries that were ever in each bucket.
const KEPT_CAPACITY: usize = 256;

/// Place of a component in the wheel: larger than any place in the heap, less than [`ABSENT`]. The bucket's number is
/// in the upper bits, the place in the bucket in the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FarPlace(u32);

const INDEX_BITS: u32 = 19;

impl FarPlace {
    const FIRST: u32 = 1 << 31;

    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^12 buckets of at most 2^19 entries")]
    const fn new(bucket: usize, index: usize) -> Self {
        Self(Self::FIRST | (bucket as u32) << INDEX_BITS | index as u32)
    }

    /// A place that is none in the heap.
    #[inline]
    pub(super) const fn of(place: u32) -> Option<Self> {
        if place >= Self::FIRST && place != ABSENT { Some(Self(place)) } else { None }
    }

    const fn bucket(self) -> usize {
        ((self.0 & !Self::FIRST) >> INDEX_BITS) as usize
    }

    const fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// Components that are due at or after a horizon, in a hierarchy of wheels (Varghese and Lauck, 1987, scheme 7):
/// putting one in or taking it out touches its bucket alone. Which is the first is not known before its bucket has been
/// taken.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// The first tick that is held here.
    tick: u64,
    /// By level. A bucket holds what is due in one turn of the level alone: its next one, the one at hand among them.
    buckets: Vec<Vec<u32>>,
    /// The buckets of each level that hold something.
    occupied: [Slots; LEVELS],
    len: usize,
}

impl Wheel {
    /// One that takes what is due a tick after `first`, in nanoseconds, and later.
    pub(super) fn behind(first: u64) -> Self {
        let buckets = vec![Vec::new(); LEVELS * BUCKETS];
        Self { tick: (first >> TICK_BITS) + 1, buckets, occupied: [Slots::NONE; LEVELS], len: 0 }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes, being empty, what is due a tick after `first` and later.
    pub(super) const fn restart_behind(&mut self, first: u64) {
        self.tick = (first >> TICK_BITS) + 1;
    }

    /// The last nanosecond before what may be held here; the last of all if nothing is.
    #[inline]
    pub(super) const fn near_until(&self) -> u64 {
        if self.is_empty() { u64::MAX } else { (self.tick << TICK_BITS) - 1 }
    }

    /// Puts a component where its deadline belongs; `false` if that is before the horizon, or too far behind it, or if
    /// its bucket is full.
    #[inline]
    pub(super) fn insert(&mut self, components: &mut [Component], number: u32) -> bool {
        let component = &mut components[number as usize];
        let tick = component.deadline >> TICK_BITS;
        if tick < self.tick {
            return false;
        }
        let level = if tick - self.tick < BUCKETS as u64 {
            0
        } else {
            // It is in another bucket than the tick, of this level or a higher one.
            let is_within =
                |level: &usize| turns_by(tick, *level) - turns_by(self.tick, *level) < BUCKETS as u64;
            let Some(level) = (1..LEVELS).find(is_within) else { return false };
            level
        };
        let slot = slot_of(tick, level);
        let bucket = &mut self.buckets[level * BUCKETS + slot];
        let index = bucket.len();
        if index >> INDEX_BITS != 0 {
            return false;
        }
        bucket.push(number);
        component.place = FarPlace::new(level * BUCKETS + slot, index).0;
        self.occupied[level].insert(slot);
        self.len += 1;
        true
    }

    /// Takes a component out.
    #[inline]
    pub(super) fn remove(&mut self, components: &mut [Component], place: FarPlace) {
        let number = place.bucket();
        let bucket = &mut self.buckets[number];
        bucket.swap_remove(place.index());
        self.len -= 1;
        if let Some(other) = bucket.get(place.index()) {
            components[*other as usize].place = place.0;
        } else if bucket.is_empty() {
            self.occupied[number / BUCKETS].remove(number % BUCKETS);
            if bucket.capacity() > KEPT_CAPACITY {
                *bucket = Vec::new();
            }
        }
    }

    /// Takes out what is due in the earliest tick, and moves the horizon behind that.
    pub(super) fn take_earliest(
        &mut self,
        components: &mut [Component],
        mut take: impl FnMut(&mut [Component], u32),
    ) {
        while let Some((tick, level)) = self.next_bucket() {
            self.tick = tick;
            let number = level * BUCKETS + slot_of(tick, level);
            let mut bucket = core::mem::take(&mut self.buckets[number]);
            self.occupied[level].remove(number % BUCKETS);
            self.len -= bucket.len();
            if level == 0 {
                self.tick += 1;
            }
            for number in bucket.drain(..) {
                // What is of a longer time comes to a level below.
                if level == 0 || !self.insert(components, number) {
                    take(components, number);
                }
            }
            if bucket.capacity() <= KEPT_CAPACITY {
                self.buckets[number] = bucket;
            }
            if level == 0 {
                return;
            }
        }
    }

    /// The bucket that begins first, by its first tick and its level; of those that begin together the longest, which
    /// may hold what is due before all that the others hold.
    fn next_bucket(&self) -> Option<(u64, usize)> {
        let mut next: Option<(u64, usize)> = None;
        for level in 0..LEVELS {
            let Some(ahead) = self.occupied[level].next_from(slot_of(self.tick, level)) else { continue };
            // The tick at hand is within the bucket that it belongs to.
            let begins = (turns_by(self.tick, level) + ahead as u64) << (level * BUCKET_BITS);
            let tick = begins.max(self.tick);
            if next.is_none_or(|(earliest, _)| tick <= earliest) {
                next = Some((tick, level));
            }
        }
        next
    }
}

/// Number of buckets of a level that have begun by a tick.
#[inline]
const fn turns_by(tick: u64, level: usize) -> u64 {
    tick >> (level * BUCKET_BITS)
}

/// Bucket of a level that a tick belongs to.
#[expect(clippy::cast_possible_truncation, reason = "less than 2^10")]
#[inline]
const fn slot_of(tick: u64, level: usize) -> usize {
    (turns_by(tick, level) % BUCKETS as u64) as usize
}

/// A set of the slots of a level.
#[derive(Clone, Copy, Debug)]
struct Slots {
    words: [u64; BUCKETS / 64],
    /// Set of the words that are not zero, one bit each.
    summary: u16,
}

impl Slots {
    const NONE: Self = Self { words: [0; BUCKETS / 64], summary: 0 };

    #[inline]
    const fn insert(&mut self, slot: usize) {
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
    }

    const fn remove(&mut self, slot: usize) {
        let word = &mut self.words[slot / 64];
        *word &= !(1 << (slot % 64));
        if *word == 0 {
            self.summary &= !(1 << (slot / 64));
        }
    }

    /// Distance from a slot to the next one of the set, ahead and round the level: 0 for the slot itself.
    #[expect(clippy::cast_possible_truncation, reason = "there are 16 words")]
    fn next_from(&self, slot: usize) -> Option<usize> {
        let (own, bit) = (slot / 64, slot % 64);
        let ahead = self.words[own] >> bit;
        if ahead != 0 {
            return Some(ahead.trailing_zeros() as usize);
        }
        // The words behind the slot's come first, the slot's own last, for what is before the slot in it.
        let others = self.summary.rotate_right(own as u32 + 1);
        if others == 0 {
            return None;
        }
        let word = (own + 1 + others.trailing_zeros() as usize) % self.words.len();
        let next = word * 64 + self.words[word].trailing_zeros() as usize;
        Some((next + BUCKETS - slot) % BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A wheel behind tick 0, and components that are due in these ticks.
    fn wheel_with(ticks: &[u64]) -> (Wheel, Vec<Component>, Vec<bool>) {
        let due = |tick: &u64| Component { deadline: *tick << TICK_BITS, place: ABSENT };
        let (mut wheel, mut components) = (Wheel::behind(0), ticks.iter().map(due).collect::<Vec<_>>());
        let are_taken_in =
            (0..).take(ticks.len()).map(|number| wheel.insert(&mut components, number)).collect();
        (wheel, components, are_taken_in)
    }

    fn take(wheel: &mut Wheel, components: &mut [Component]) -> Vec<u32> {
        let mut taken = Vec::new();
        wheel.take_earliest(components, |_, number| taken.push(number));
        taken
    }

    #[test]
    fn ticks_come_in_order_from_every_level() {
        let ticks = [
            1,
            2,
            1_023,
            1_024,
            1_025,
            1_026,
            2_047,
            2_048,
            1 << 20,
            (1 << 20) + 1,
            (1 << 20) + 1_024,
            (1 << 30) - 1,
        ];
        for first in 0..ticks.len() {
            // From each in turn, so that they come to their buckets in another order.
            let turned: Vec<u64> = ticks[first..].iter().chain(&ticks[..first]).copied().collect();
            let (mut wheel, mut components, are_taken_in) = wheel_with(&turned);
            assert_eq!(are_taken_in, [true; 12]);
            for tick in ticks {
                let taken = take(&mut wheel, &mut components);
                assert_eq!(taken.iter().map(|number| turned[*number as usize]).collect::<Vec<_>>(), [tick]);
                assert_eq!(wheel.tick, tick + 1);
            }
            assert_eq!(wheel.near_until(), u64::MAX);
        }
    }

    #[test]
    fn what_is_too_near_or_too_far_is_not_taken_in() {
        let (wheel, components, are_taken_in) =
            wheel_with(&[0, 1, 1 << 30, (1 << 30) - 1, u64::MAX >> TICK_BITS]);
        assert_eq!(are_taken_in, [false, true, false, true, false]);
        let is_far = |component: &Component| FarPlace::of(component.place).is_some();
        assert_eq!(components.iter().map(is_far).collect::<Vec<_>>(), are_taken_in);
        assert_eq!((wheel.len, wheel.near_until()), (2, (1 << TICK_BITS) - 1));
    }

    #[test]
    fn the_last_of_a_bucket_takes_the_place_of_one_that_goes() {
        let (mut wheel, mut components, _) = wheel_with(&[5, 5, 5, 300_000]);
        let [first, _, last, other] = [0, 1, 2, 3].map(|number: usize| components[number].place);
        wheel.remove(&mut components, FarPlace::of(first).unwrap());
        assert_eq!(components[2].place, first);
        wheel.remove(&mut components, FarPlace::of(other).unwrap());
        assert_eq!(take(&mut wheel, &mut components), [2, 1]);
        assert_eq!(take(&mut wheel, &mut components), []);
        assert_ne!(first, last);
        assert_eq!([0, 7, FarPlace::FIRST - 1, ABSENT].map(FarPlace::of), [None; 4]);
    }

    #[test]
    fn memory_is_given_back() {
        let capacity = |wheel: &Wheel| wheel.buckets.iter().map(Vec::capacity).sum::<usize>();
        let (mut wheel, mut components, _) = wheel_with(&[0; 1_000]);
        for turn in 1..100_u64 {
            // All of them come through a bucket of each level.
            for number in 0..1_000 {
                components[number as usize].deadline = (turn << 20 | turn << 10 | turn) << TICK_BITS;
                assert!(wheel.insert(&mut components, number));
            }
            assert_eq!(take(&mut wheel, &mut components).len(), 1_000);
        }
        assert_eq!(capacity(&wheel), 0);
        for number in 0..1_000 {
            components[number as usize].deadline = 1 << 49;
            wheel.insert(&mut components, number);
        }
        assert!(capacity(&wheel) >= 1_000);
        for number in 0..1_000 {
            let place = FarPlace::of(components[number].place).unwrap();
            wheel.remove(&mut components, place);
        }
        assert_eq!(capacity(&wheel), 0);
    }

    proptest! {
        #[test]
        fn the_next_slot_is_found_round_the_level(
            slots in prop::collection::btree_set(0..BUCKETS, 0..20),
            removed in prop::collection::vec(0..BUCKETS, 0..4),
            from in 0..BUCKETS,
        ) {
            let mut set = Slots::NONE;
            for slot in &slots {
                set.insert(*slot);
            }
            let mut left: BTreeSet<usize> = slots;
            for slot in removed.into_iter().chain(left.first().copied()) {
                set.remove(slot);
                left.remove(&slot);
            }
            let next = (0..BUCKETS).find(|ahead| left.contains(&((from + ahead) % BUCKETS)));
            prop_assert_eq!(set.next_from(from), next);
        }
    }
}
