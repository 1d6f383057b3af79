//! Deadlines that are soon but not next: in buckets of equal time, in no order within one.

use slantpath_base::Instant;

/// Number of buckets; a power of two.
const BUCKETS: usize = 4_096;
/// Binary logarithm of the width of a bucket in nanoseconds: some 33 µs. All together are 134 ms, in which a packet
/// crosses any link on or near the Earth.
const WIDTH_BITS: u32 = 15;
/// Number of buckets that a word of [`Wheel::occupied`] tells of.
const WORD: usize = u64::BITS as usize;

/// Marker of no slot.
const NOBODY: u32 = u32::MAX;

/// A slot's place in the list of its bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    deadline: Instant,
    next: u32,
    previous: u32,
}

const NO_ENTRY: Entry = Entry { deadline: Instant::FAR_FUTURE, next: NOBODY, previous: NOBODY };

/// A wheel of buckets, whose first is the next that may hold a deadline. It takes no memory before the first does.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// Places in the lists of the buckets, by slot.
    entries: Vec<Entry>,
    /// The first slot of each bucket's list.
    first_slots: Vec<u32>,
    /// Bits of the buckets that hold deadlines; `words` has a bit for each word of these that is not zero.
    occupied: [u64; BUCKETS / WORD],
    words: u64,
    /// The number since time began of the bucket from which on deadlines are taken.
    begin: u64,
    slots: usize,
    len: usize,
}

const fn bucket_of(deadline: Instant) -> u64 {
    deadline.as_nanos() >> WIDTH_BITS
}

impl Wheel {
    /// A wheel for slots below `slots`.
    pub(crate) const fn new(slots: usize) -> Self {
        Self {
            entries: Vec::new(),
            first_slots: Vec::new(),
            occupied: [0; BUCKETS / WORD],
            words: 0,
            begin: 0,
            slots,
            len: 0,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Has an empty wheel take deadlines from an instant on, and from no earlier one than that returned.
    #[cold]
    pub(crate) fn begin_at(&mut self, at: Instant) -> Instant {
        debug_assert!(self.is_empty());
        self.entries.resize(self.slots, NO_ENTRY);
        self.first_slots.resize(BUCKETS, NOBODY);
        self.begin = bucket_of(at);
        self.begins()
    }

    /// From when on deadlines are taken.
    const fn begins(&self) -> Instant {
        Instant::from_nanos(self.begin.saturating_mul(1 << WIDTH_BITS))
    }

    /// Takes the deadline of a slot that has none here, if it lies on the wheel as it stands.
    #[inline]
    pub(crate) fn insert(&mut self, deadline: Instant, slot: usize) -> bool {
        let bucket = bucket_of(deadline);
        if bucket.wrapping_sub(self.begin) >= BUCKETS as u64 {
            return false;
        }
        let place = place_of(bucket);
        let next = self.first_slots[place];
        #[expect(
            clippy::cast_possible_truncation,
            reason = "slots that are here are numbered by less than 32 bits"
        )]
        let own = slot as u32;
        self.entries[slot] = Entry { deadline, next, previous: NOBODY };
        if let Some(next) = self.entries.get_mut(next as usize) {
            next.previous = own;
        }
        self.first_slots[place] = own;
        self.occupied[place / WORD] |= 1 << (place % WORD);
        self.words |= 1 << (place / WORD);
        self.len += 1;
        true
    }

    /// Takes out the deadline of a slot, which must be here.
    pub(crate) fn remove(&mut self, slot: usize) {
        let Entry { deadline, next, previous } = core::mem::replace(&mut self.entries[slot], NO_ENTRY);
        let place = place_of(bucket_of(deadline));
        if let Some(next) = self.entries.get_mut(next as usize) {
            next.previous = previous;
        }
        if let Some(previous) = self.entries.get_mut(previous as usize) {
            previous.next = next;
        } else {
            self.first_slots[place] = next;
            if next == NOBODY {
                self.clear(place);
            }
        }
        self.len -= 1;
    }

    /// Instant at which a slot is due whose deadline is here.
    pub(crate) fn deadline(&self, slot: usize) -> Instant {
        self.entries[slot].deadline
    }

    /// Takes out the deadlines of the next bucket that holds any, in no order. Later ones are taken from the end of
    /// that bucket on, which is returned; there must be one.
    #[inline]
    pub(crate) fn take_bucket(&mut self, mut take: impl FnMut(Instant, usize)) -> Instant {
        let place = self.next_occupied();
        let mut slot = core::mem::replace(&mut self.first_slots[place], NOBODY);
        self.clear(place);
        while let Some(&Entry { deadline, next, .. }) = self.entries.get(slot as usize) {
            self.begin = bucket_of(deadline) + 1;
            take(deadline, slot as usize);
            self.len -= 1;
            slot = next;
        }
        self.begins()
    }

    /// The place of the first bucket from the beginning on that holds a deadline.
    fn next_occupied(&self) -> usize {
        let begin = place_of(self.begin);
        let (word, bit) = (begin / WORD, begin % WORD);
        let here = self.occupied[word] >> bit;
        if here != 0 {
            return begin + here.trailing_zeros() as usize;
        }
        // The words behind it, and then from the first on, up to what is in its own below the bit.
        let behind = self.words & !(u64::MAX >> (WORD - 1 - word));
        let words = if behind != 0 { behind } else { self.words };
        let word = words.trailing_zeros() as usize % (BUCKETS / WORD);
        word * WORD + self.occupied[word].trailing_zeros() as usize
    }

    /// Notes that a bucket is empty.
    #[inline]
    fn clear(&mut self, place: usize) {
        self.occupied[place / WORD] &= !(1 << (place % WORD));
        if self.occupied[place / WORD] == 0 {
            self.words &= !(1 << (place / WORD));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "twelve bits")]
const fn place_of(bucket: u64) -> usize {
    bucket as usize % BUCKETS
}

// A bit for each word.
const _: () = assert!(BUCKETS == WORD * WORD);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const WIDTH: u64 = 1 << WIDTH_BITS;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_wheel_takes_what_lies_within_one_turn_from_where_it_begins() {
        let mut wheel = Wheel::new(4);
        assert_eq!(wheel.begin_at(at(5 * WIDTH + 7)), at(5 * WIDTH));
        let end = (5 + BUCKETS as u64) * WIDTH;
        let taken = [5 * WIDTH - 1, 5 * WIDTH, end - 1, end, u64::MAX].map(|nanos| {
            let is_taken = wheel.insert(at(nanos), 1);
            if is_taken {
                assert_eq!(wheel.deadline(1), at(nanos));
                wheel.remove(1);
            }
            is_taken
        });
        assert_eq!(taken, [false, true, true, false, false]);
        assert!(wheel.is_empty());
    }

    #[test]
    fn behind_the_last_bucket_of_all_time_there_is_none() {
        let mut wheel = Wheel::new(1);
        wheel.begin_at(at(u64::MAX - 1));
        assert!(wheel.insert(at(u64::MAX - 1), 0));
        assert_eq!(wheel.take_bucket(|_, _| {}), Instant::FAR_FUTURE);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(usize, u64),
        Remove(usize),
        Take,
    }

    /// Within a few buckets, or a little more than a turn.
    fn any_time() -> impl Strategy<Value = u64> {
        prop_oneof![0..4 * WIDTH, 0..5_000 * WIDTH]
    }

    proptest! {
        #[test]
        fn buckets_come_in_the_order_of_time_and_with_all_that_was_put_in_them(
            begin in prop_oneof![0..10 * BUCKETS as u64 * WIDTH, any::<u32>().prop_map(u64::from)],
            steps in proptest::collection::vec(
                prop_oneof![
                    4 => (0_usize..20, any_time()).prop_map(|(slot, later)| Step::Insert(slot, later)),
                    1 => (0_usize..20).prop_map(Step::Remove),
                    3 => Just(Step::Take),
                ],
                0..200,
            ),
        ) {
            let mut wheel = Wheel::new(20);
            let mut from = wheel.begin_at(at(begin)).as_nanos();
            let mut plain = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Insert(slot, later) if !plain.contains_key(&slot) => {
                        let is_on_it = later < BUCKETS as u64 * WIDTH;
                        prop_assert_eq!(wheel.insert(at(from + later), slot), is_on_it);
                        if is_on_it {
                            plain.insert(slot, from + later);
                        }
                    }
                    Step::Remove(slot) if plain.contains_key(&slot) => {
                        prop_assert_eq!(wheel.deadline(slot), at(plain[&slot]));
                        plain.remove(&slot);
                        wheel.remove(slot);
                    }
                    Step::Take if !plain.is_empty() => {
                        let bucket = plain.values().min().unwrap() / WIDTH;
                        let mut expected = plain.clone();
                        expected.retain(|_, nanos| *nanos / WIDTH == bucket);
                        plain.retain(|_, nanos| *nanos / WIDTH != bucket);
                        let mut taken = BTreeMap::new();
                        let end = wheel.take_bucket(|deadline, slot| {
                            taken.insert(slot, deadline.as_nanos());
                        });
                        prop_assert_eq!(taken, expected);
                        from = (bucket + 1) * WIDTH;
                        prop_assert_eq!(end, at(from));
                    }
                    _ => {}
                }
                prop_assert_eq!(wheel.is_empty(), plain.is_empty());
            }
        }
    }
}
