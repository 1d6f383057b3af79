//! The few deadlines that come next, in order.

use slantpath_base::Instant;

/// Greatest number of keys in the ring; a power of two.
const ROOM: usize = 64;
/// Number of bits of a key that are its slot.
const SLOT_BITS: u32 = 20;
/// Greatest time between the first and the last, in nanoseconds: some five hours. No key is the greatest number.
const SPAN: u64 = (1 << (u64::BITS - SLOT_BITS)) - 1;
/// Step between the instants at which spans may begin, in nanoseconds.
const STEP: u64 = SPAN / 4;

/// A deadline and its slot as one word, in their order: the time since the span began in the upper bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u64);

impl Key {
    #[inline]
    const fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }
}

/// The keys below it are before a deadline that may lie anywhere and be of any slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound(u64);

/// Behind every deadline: what the first place of an empty ring holds.
const NONE: Key = Key(u64::MAX);

/// A sorted ring. A link with the delay of its neighbours is due last of all when it is set, one that sends a
/// packet after the other soon again: so a key looks for its place from the nearer end.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    ring: [Key; ROOM],
    /// Index of the first key, or of [`NONE`] if there is no key: nobody who looks at it has to ask for the number of
    /// keys.
    head: usize,
    len: usize,
    /// Beginning of the span of time that keys can tell, in nanoseconds.
    begin: u64,
    /// Instant from which on deadlines have no key.
    limit: Instant,
    /// Time from the beginning to the end of the span, or to the limit, in nanoseconds.
    span: u64,
}

impl Near {
    /// Slots from this one on have no keys.
    pub(crate) const SLOTS_MAX: usize = 1 << SLOT_BITS;

    pub(crate) const fn new() -> Self {
        Self { ring: [NONE; ROOM], head: 0, len: 0, begin: 0, limit: Instant::FAR_FUTURE, span: SPAN }
    }

    /// Has deadlines from an instant on have no keys from now on: there must be none of them.
    pub(crate) const fn set_limit(&mut self, limit: Instant) {
        self.limit = limit;
        let until = limit.as_nanos().saturating_sub(self.begin);
        self.span = if until < SPAN { until } else { SPAN };
    }

    /// The key of a deadline, if it lies in the span and before the limit. [`Instant::FAR_FUTURE`] never does.
    #[inline]
    pub(crate) const fn key(&self, deadline: Instant, slot: usize) -> Option<Key> {
        // What is before the span wraps around, and is beyond it too.
        let since = deadline.as_nanos().wrapping_sub(self.begin);
        if since < self.span { Some(Key(since << SLOT_BITS | slot as u64)) } else { None }
    }

    /// Variant of [`key`](Self::key) for a deadline out of the span, which is moved for it if all others then still are
    /// within.
    #[cold]
    pub(crate) fn key_after_move(&mut self, deadline: Instant, slot: usize) -> Option<Key> {
        if deadline >= self.limit {
            return None;
        }
        let earliest = self.first().map_or(deadline, |(first, _)| first.min(deadline));
        let begin = (earliest.as_nanos() / STEP * STEP).min(u64::MAX - SPAN);
        let latest = self.last().map_or(deadline, |last| self.deadline(last).max(deadline));
        if latest.as_nanos() - begin >= SPAN {
            return None;
        }
        let by = begin.wrapping_sub(self.begin) << SLOT_BITS;
        for key in &mut self.ring {
            *key = Key(key.0.wrapping_sub(by));
        }
        self.mark_if_empty();
        self.begin = begin;
        self.set_limit(self.limit);
        self.key(deadline, slot)
    }

    #[inline]
    const fn deadline(&self, key: Key) -> Instant {
        Instant::from_nanos(self.begin + (key.0 >> SLOT_BITS))
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.len == ROOM
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The deadline that half of all are not before.
    pub(crate) fn middle(&self) -> Option<Instant> {
        (self.len > 0).then(|| self.deadline(self.at(self.len / 2)))
    }

    /// The key at a place in the order.
    #[inline]
    fn at(&self, place: usize) -> Key {
        self.ring[(self.head + place) % ROOM]
    }

    #[inline]
    fn put(&mut self, place: usize, key: Key) {
        self.ring[(self.head + place) % ROOM] = key;
    }

    /// The next deadline and its slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        self.first_before(Bound(u64::MAX))
    }

    /// Variant of [`first`](Self::first) that gives it only if it is before a [bound](Self::bound).
    #[inline]
    pub(crate) fn first_before(&self, bound: Bound) -> Option<(Instant, usize)> {
        let first = self.at(0);
        (first.0 < bound.0).then(|| (self.deadline(first), first.slot()))
    }

    /// The bound of a deadline, for as long as the span stays where it is.
    #[inline]
    pub(crate) fn bound(&self, deadline: Instant, slot: usize) -> Bound {
        match deadline.as_nanos().checked_sub(self.begin) {
            // Of equal deadlines those of the lower slots are before it.
            Some(since) if since < SPAN => Bound((since << SLOT_BITS) + slot.min(Self::SLOTS_MAX) as u64),
            Some(_) => Bound(u64::MAX),
            None => Bound(0),
        }
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<Key> {
        (self.len > 0).then(|| self.at(self.len - 1))
    }

    /// Tells if the first key is that of a slot.
    #[inline]
    pub(crate) fn is_first(&self, slot: usize) -> bool {
        let first = self.at(0);
        first.slot() == slot && first != NONE
    }

    /// Puts a key in its place. There must be room.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key) {
        debug_assert!(!self.is_full());
        if self.len == 0 {
            self.put(0, key);
        } else if self.at(self.len / 2) < key {
            self.put_towards_end(key);
        } else {
            self.head = (self.head + ROOM - 1) % ROOM;
            self.put_towards_front(key);
        }
        self.len += 1;
    }

    /// Puts a key in the place of the first, which is no later: one that has just happened is due again.
    #[inline]
    pub(crate) fn replace_first(&mut self, key: Key) {
        if self.at(self.len / 2) <= key {
            self.put_towards_end(key);
            self.head = (self.head + 1) % ROOM;
        } else {
            self.put_towards_front(key);
        }
    }

    /// Makes room for a key behind the last, and puts it in its place from there. The one in the middle must not be
    /// greater, so that the way ends there.
    #[inline]
    fn put_towards_end(&mut self, key: Key) {
        let mut place = (self.head + self.len) % ROOM;
        loop {
            let place_before = place.wrapping_sub(1) % ROOM;
            let before = self.ring[place_before];
            if before <= key {
                break;
            }
            self.ring[place] = before;
            place = place_before;
        }
        self.ring[place] = key;
    }

    /// Puts a key in its place from the front, where there is room for it. One behind that room must be greater, so
    /// that the way ends there.
    #[inline]
    fn put_towards_front(&mut self, key: Key) {
        // Masked, so that nobody has to see whether it lies in the ring.
        let mut place = self.head % ROOM;
        loop {
            let place_behind = (place + 1) % ROOM;
            let behind = self.ring[place_behind];
            if behind > key {
                break;
            }
            self.ring[place] = behind;
            place = place_behind;
        }
        self.ring[place] = key;
    }

    /// Takes a slot's key out, which must be there. Most often it has just happened, and is the first.
    #[inline]
    pub(crate) fn remove(&mut self, slot: usize) {
        if !self.is_first(slot) {
            self.bring_to_front(slot);
        }
        self.pop_first();
    }

    /// Takes the first key out, which must be there.
    #[inline]
    pub(crate) const fn pop_first(&mut self) {
        self.head = (self.head + 1) % ROOM;
        self.len -= 1;
        self.mark_if_empty();
    }

    #[inline]
    const fn mark_if_empty(&mut self) {
        if self.len == 0 {
            self.ring[self.head % ROOM] = NONE;
        }
    }

    /// Moves what is before a slot's key back by one place, where it is found.
    #[inline(never)]
    fn bring_to_front(&mut self, slot: usize) {
        let mut place = 0;
        while self.at(place).slot() != slot {
            place += 1;
            assert!(place < self.len, "slot {slot} is not among the next");
        }
        while place > 0 {
            self.put(place, self.at(place - 1));
            place -= 1;
        }
    }

    /// Takes the last deadline out, with its slot.
    #[inline]
    pub(crate) fn pop_last(&mut self) -> Option<(Instant, usize)> {
        let last = self.last()?;
        self.len -= 1;
        self.mark_if_empty();
        Some((self.deadline(last), last.slot()))
    }

    /// Variant of [`pop_last`](Self::pop_last) that takes it only if it is not before an instant.
    pub(crate) fn pop_last_from(&mut self, from: Instant) -> Option<(Instant, usize)> {
        let last = self.last()?;
        if self.deadline(last) < from { None } else { self.pop_last() }
    }

    /// Instant at which a slot is due, if its deadline is here.
    pub(crate) fn deadline_of(&self, slot: usize) -> Option<Instant> {
        let found = (0..self.len).map(|place| self.at(place)).find(|key| key.slot() == slot);
        found.map(|key| self.deadline(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_parts_what_is_before_a_deadline_from_what_is_not_wherever_that_lies_and_whose_it_is() {
        let mut near = Near::new();
        let at = Instant::from_nanos(7);
        let key = near.key(at, 5).expect("it lies in the span");
        near.insert(key);
        let next = Some((at, 5));
        let first_before = |nanos, slot| near.first_before(near.bound(Instant::from_nanos(nanos), slot));
        assert_eq!([6, 7, 8].map(|nanos| first_before(nanos, 5)), [None, None, next]);
        assert_eq!([4, 6].map(|slot| first_before(7, slot)), [None, next]);
        // Slots that have no keys, and times that keys cannot tell.
        assert_eq!((first_before(6, Near::SLOTS_MAX + 9), first_before(7, Near::SLOTS_MAX)), (None, next));
        assert_eq!(first_before(u64::MAX, 0), next);
        near.pop_first();
        assert_eq!(
            (near.first(), near.is_first(5), near.is_first(Near::SLOTS_MAX - 1)),
            (None, false, false)
        );
        near.begin = 3;
        assert_eq!(near.first_before(near.bound(Instant::from_nanos(2), 9)), None);
    }

    #[test]
    fn an_empty_ring_has_no_first_whatever_it_held() {
        let mut near = Near::new();
        let empty = (None, [false; 2]);
        let first = |near: &Near| (near.first(), [5, Near::SLOTS_MAX - 1].map(|slot| near.is_first(slot)));
        for round in 0..2 * ROOM as u64 {
            near.insert(near.key(Instant::from_nanos(round), 5).expect("it lies in the span"));
            assert_eq!(first(&near), (Some((Instant::from_nanos(round), 5)), [true, false]));
            if round % 3 == 0 {
                near.pop_last();
            } else {
                near.pop_first();
            }
            assert_eq!(first(&near), empty);
        }
        assert!(near.key_after_move(Instant::from_nanos(3 * SPAN), 5).is_some());
        assert_eq!(first(&near), empty);
    }
}
