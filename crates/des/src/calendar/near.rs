//! The few keys that come next, in order.

use crate::calendar::slot_of;

/// How many keys there may be; a power of two.
const ROOM: usize = 64;

/// A sorted ring. A link with the delay of its neighbours is due last of all when it is set, one that sends a
/// packet after the other soon again: so a key looks for its place from the nearer end.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    ring: [u128; ROOM],
    /// Where the first key is.
    head: usize,
    len: usize,
}

impl Near {
    pub(crate) const fn new() -> Self {
        Self { ring: [0; ROOM], head: 0, len: 0 }
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.len == ROOM
    }

    /// The key at a place in the order.
    #[inline]
    fn at(&self, place: usize) -> u128 {
        self.ring[(self.head + place) % ROOM]
    }

    #[inline]
    fn put(&mut self, place: usize, key: u128) {
        self.ring[(self.head + place) % ROOM] = key;
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<u128> {
        (self.len > 0).then(|| self.at(0))
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<u128> {
        (self.len > 0).then(|| self.at(self.len - 1))
    }

    /// Whether the first key is that of a slot.
    #[inline]
    pub(crate) fn is_first(&self, slot: usize) -> bool {
        self.len > 0 && slot_of(self.at(0)) == slot
    }

    /// Puts a key in its place. There must be room.
    #[inline]
    pub(crate) fn insert(&mut self, key: u128) {
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
    pub(crate) fn replace_first(&mut self, key: u128) {
        if self.len == 1 {
            self.put(0, key);
        } else if self.at(self.len / 2) < key {
            self.put_towards_end(key);
            self.head = (self.head + 1) % ROOM;
        } else {
            self.put_towards_front(key);
        }
    }

    /// Makes room for a key behind the last, and puts it in its place from there. The one in the middle must be less,
    /// so that the way ends there.
    #[inline]
    fn put_towards_end(&mut self, key: u128) {
        // Places run past the end of the ring and are masked where it is read: one addition less a step.
        let mut place = self.head + self.len;
        loop {
            let before = self.ring[(place - 1) % ROOM];
            if before < key {
                break;
            }
            self.ring[place % ROOM] = before;
            place -= 1;
        }
        self.ring[place % ROOM] = key;
    }

    /// Puts a key in its place from the front, where there is room for it. One behind that room must be greater, so
    /// that the way ends there.
    #[inline]
    fn put_towards_front(&mut self, key: u128) {
        let mut place = self.head;
        loop {
            let behind = self.ring[(place + 1) % ROOM];
            if behind > key {
                break;
            }
            self.ring[place % ROOM] = behind;
            place += 1;
        }
        self.ring[place % ROOM] = key;
    }

    /// Takes a slot's key out, which must be there. Most often it has just happened, and is the first.
    #[inline]
    pub(crate) fn remove(&mut self, slot: usize) {
        if !self.is_first(slot) {
            self.bring_to_front(slot);
        }
        self.head = (self.head + 1) % ROOM;
        self.len -= 1;
    }

    /// Moves what is before a slot's key back by one place, where it is found.
    #[inline(never)]
    fn bring_to_front(&mut self, slot: usize) {
        let mut place = 0;
        while slot_of(self.at(place)) != slot {
            place += 1;
            assert!(place < self.len, "slot {slot} is not among the next");
        }
        while place > 0 {
            self.put(place, self.at(place - 1));
            place -= 1;
        }
    }

    /// Takes the last key out.
    #[inline]
    pub(crate) fn pop_last(&mut self) -> Option<u128> {
        let last = self.last()?;
        self.len -= 1;
        Some(last)
    }

    /// The key of a slot, if it is here.
    pub(crate) fn key(&self, slot: usize) -> Option<u128> {
        (0..self.len).map(|place| self.at(place)).find(|&key| slot_of(key) == slot)
    }
}
