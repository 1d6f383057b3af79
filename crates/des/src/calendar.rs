//! The calendar: which of a fixed set of components is due next.
//!
//! The order is total: by time, then by slot number. It depends on nothing else, above all not on the order
//! in which deadlines were set, so that a run is the same however its components came to their deadlines.
//!
//! A network has two kinds of components: links, whose next arrival is mostly near and mostly happens, and
//! hosts, whose timers are mostly far and mostly set anew before they expire. So the deadlines of the former
//! go into a short sorted ring while there is room, and otherwise those that come later into a wheel of buckets, from
//! where the ring is filled again. Those of the latter are in a tournament tree, and whatever is too far away for both.
//! Which kind a slot is of decides about speed and not about order.

mod near;
mod tournament;
mod wheel;

use slantpath_base::Instant;

use crate::calendar::near::{Bound, Key, Near};
use crate::calendar::tournament::Tournament;
use crate::calendar::wheel::Wheel;

/// The next deadlines of a fixed number of slots, one each.
#[derive(Clone, Debug)]
pub struct Calendar {
    near: Near,
    /// Deadlines behind the ring's limit; the ring has no limit while the wheel is empty.
    wheel: Wheel,
    /// Place of the deadline of each slot that may be in the ring or on the wheel; slots behind these never are.
    places: Vec<Place>,
    far: Tournament,
    /// Bound before which a deadline in the ring is next: the least of the others, as the ring tells time.
    bound: Bound,
}

/// Place of the deadline of a slot that may be in the ring or on the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Far,
    /// The slot is idle.
    Nowhere,
    Near,
    Wheel,
}

/// The ring is filled from the wheel up to so many deadlines at least: more do not make a look at it worth less, but
/// take longer to be sorted in.
const REFILL: usize = 8;

impl Calendar {
    /// A calendar of `slots` idle slots, numbered from zero. The first `prompt` of them are expected to be
    /// due soon after they are set, the others to be set anew before.
    pub fn new(prompt: usize, slots: usize) -> Self {
        let places = vec![Place::Nowhere; prompt.min(Near::SLOTS_MAX)];
        let (near, wheel, far) = (Near::new(), Wheel::new(places.len()), Tournament::new(slots));
        let bound = near.bound(time_of(far.least()), slot_of(far.least()));
        Self { near, wheel, places, far, bound }
    }

    /// Sets when `slot` is due, whatever was set before. [`Instant::FAR_FUTURE`] makes it idle.
    ///
    /// # Panics
    /// If there is no such slot.
    #[expect(clippy::inline_always, reason = "it is little more than a call, and two of three hops pass it")]
    #[inline(always)]
    pub fn set(&mut self, slot: usize, deadline: Instant) {
        match self.places.get(slot) {
            Some(Place::Nowhere) => self.set_idle(slot, deadline),
            Some(&place) => self.set_prompt(slot, place, deadline),
            None => self.set_far(slot, deadline),
        }
    }

    /// Variant of [`set`](Self::set) for a slot whose deadline has just happened; the new one is no earlier than that.
    /// Quicker, if the slot was the next.
    #[expect(clippy::inline_always, reason = "each hop passes it, at one place")]
    #[inline(always)]
    pub fn set_again(&mut self, slot: usize, deadline: Instant) {
        if self.near.is_first(slot) {
            if let Some(key) = self.near.key(deadline, slot) {
                self.near.replace_first(key);
                return;
            }
            if deadline == Instant::FAR_FUTURE {
                return self.clear_first(slot);
            }
            return self.move_first(slot, deadline);
        }
        self.set_anew(slot, deadline);
    }

    /// Makes the slot idle that is first in the ring.
    #[inline(never)]
    fn clear_first(&mut self, slot: usize) {
        self.near.pop_first();
        self.places[slot] = Place::Nowhere;
    }

    /// Sets when the slot is due that is first in the ring, to what has no key there.
    #[inline(never)]
    fn move_first(&mut self, slot: usize, deadline: Instant) {
        self.near.pop_first();
        self.places[slot] = self.place_behind(slot, deadline);
    }

    /// Puts a deadline that has no place in the ring where it belongs.
    #[inline]
    fn place_behind(&mut self, slot: usize, deadline: Instant) -> Place {
        if deadline == Instant::FAR_FUTURE {
            Place::Nowhere
        } else if !self.wheel.is_empty() && self.wheel.insert(deadline, slot) {
            Place::Wheel
        } else {
            self.put(slot, deadline)
        }
    }

    #[inline(never)]
    fn set_anew(&mut self, slot: usize, deadline: Instant) {
        self.set(slot, deadline);
    }

    /// Sets when a slot is due that is not in the ring. A host sets its deadline after each of its packets, mostly to
    /// what it was, or to later.
    #[inline]
    fn set_far(&mut self, slot: usize, deadline: Instant) {
        if self.far.deadline(slot) != deadline && self.far.set(slot, deadline) {
            self.find_bound();
        }
    }

    #[inline]
    fn find_bound(&mut self) {
        let least = self.far.least();
        self.bound = self.near.bound(time_of(least), slot_of(least));
    }

    #[inline(never)]
    fn set_prompt(&mut self, slot: usize, place: Place, deadline: Instant) {
        match place {
            Place::Nowhere => {}
            Place::Near => self.near.remove(slot),
            Place::Far => self.set_far(slot, Instant::FAR_FUTURE),
            Place::Wheel => self.leave_wheel(slot),
        }
        self.places[slot] = Place::Nowhere;
        self.set_idle(slot, deadline);
    }

    /// Sets when a slot is due that has no deadline.
    #[inline(never)]
    fn set_idle(&mut self, slot: usize, deadline: Instant) {
        match self.near.key(deadline, slot) {
            Some(key) if !self.near.is_full() => {
                self.near.insert(key);
                self.places[slot] = Place::Near;
            }
            _ => self.set_behind(slot, deadline),
        }
    }

    /// Sets when a slot is due that has no deadline, to what has no place in the ring.
    #[inline(never)]
    fn set_behind(&mut self, slot: usize, deadline: Instant) {
        self.places[slot] = self.place_behind(slot, deadline);
    }

    fn leave_wheel(&mut self, slot: usize) {
        self.wheel.remove(slot);
        if self.wheel.is_empty() {
            self.near.set_limit(Instant::FAR_FUTURE);
        }
    }

    /// Puts the deadline of a slot that has none where it belongs, if that is not on the wheel as it stands.
    #[cold]
    fn put(&mut self, slot: usize, deadline: Instant) -> Place {
        if self.near.is_full() && self.wheel.is_empty() && self.begin_wheel() {
            self.set_idle(slot, deadline);
            return self.places[slot];
        }
        let near = self.near.key(deadline, slot).or_else(|| self.near.key_after_move(deadline, slot));
        self.find_bound();
        let Some(near) = near.filter(|near| !self.near.is_full() || self.make_room(*near)) else {
            self.set_far(slot, deadline);
            return Place::Far;
        };
        self.near.insert(near);
        Place::Near
    }

    /// Moves the later half of a full ring to the wheel, unless all are in one bucket.
    fn begin_wheel(&mut self) -> bool {
        let (Some((first, _)), Some(middle)) = (self.near.first(), self.near.middle()) else { return false };
        let limit = self.wheel.begin_at(middle);
        if first >= limit {
            return false;
        }
        while let Some((deadline, slot)) = self.near.pop_last_from(limit) {
            self.places[slot] = if self.wheel.insert(deadline, slot) {
                Place::Wheel
            } else {
                self.set_far(slot, deadline);
                Place::Far
            };
        }
        self.near.set_limit(limit);
        true
    }

    /// Fills an empty ring from the wheel.
    #[inline(never)]
    fn refill(&mut self) {
        let Self { near, wheel, places, far, .. } = self;
        near.set_limit(Instant::FAR_FUTURE);
        let mut limit = Instant::FAR_FUTURE;
        while near.len() < REFILL && !wheel.is_empty() {
            limit = wheel.take_bucket(|deadline, slot| {
                let key = near.key(deadline, slot).or_else(|| near.key_after_move(deadline, slot));
                places[slot] = if let Some(key) = key.filter(|_| !near.is_full()) {
                    near.insert(key);
                    Place::Near
                } else {
                    far.set(slot, deadline);
                    Place::Far
                };
            });
        }
        near.set_limit(if wheel.is_empty() { Instant::FAR_FUTURE } else { limit });
        self.find_bound();
    }

    /// Sends the last of a full ring away if a new key is before it.
    #[cold]
    fn make_room(&mut self, new: Key) -> bool {
        if self.near.last().is_some_and(|last| last < new) {
            return false;
        }
        if let Some((deadline, slot)) = self.near.pop_last() {
            self.places[slot] = Place::Far;
            self.set_far(slot, deadline);
        }
        true
    }

    /// Makes `slot` idle.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, Instant::FAR_FUTURE);
    }

    /// Instant at which `slot` is due; [`Instant::FAR_FUTURE`] if it is idle.
    pub fn deadline(&self, slot: usize) -> Instant {
        match self.places.get(slot) {
            Some(Place::Near) => self.near.deadline_of(slot).expect("it is in the ring"),
            Some(Place::Nowhere) => Instant::FAR_FUTURE,
            Some(Place::Wheel) => self.wheel.deadline(slot),
            Some(Place::Far) | None => self.far.deadline(slot),
        }
    }

    /// The next deadline and its slot, or `None` if all are idle. Nothing changes by it but what is found sooner.
    #[inline]
    pub fn next_due(&mut self) -> Option<(Instant, usize)> {
        if self.near.first_before(self.bound).is_none() {
            self.settle();
        }
        self.near.first_before(self.bound).or_else(|| {
            let least = self.far.least();
            (!is_idle(least)).then(|| (time_of(least), slot_of(least)))
        })
    }

    /// Finds out what is next if it is perhaps not in the ring.
    #[inline(never)]
    fn settle(&mut self) {
        if self.near.len() == 0 && !self.wheel.is_empty() {
            self.refill();
        }
        while !self.far.is_settled() && self.near.first_before(self.bound).is_none() {
            self.far.settle();
            self.find_bound();
        }
    }
}

/// Time in the upper bits, slot in the lower 32: one comparison settles both parts of the order.
#[inline]
fn key(time: Instant, slot: usize) -> u128 {
    u128::from(time.as_nanos()) << 32 | slot as u128
}

/// The key of a slot without a deadline.
#[inline]
fn idle(slot: usize) -> u128 {
    key(Instant::FAR_FUTURE, slot)
}

#[inline]
fn is_idle(key: u128) -> bool {
    time_of(key) == Instant::FAR_FUTURE
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "96 bits are in use")]
fn time_of(key: u128) -> Instant {
    Instant::from_nanos((key >> 32) as u64)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are the slot")]
fn slot_of(key: u128) -> usize {
    key as u32 as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Duration;

    #[test]
    fn equal_times_are_served_by_slot_number() {
        let at = Instant::from_millis(5);
        let mut calendar = Calendar::new(2, 5);
        for slot in [3, 0, 4, 1] {
            calendar.set(slot, at);
        }
        let mut order = Vec::new();
        while let Some((time, slot)) = calendar.next_due() {
            assert_eq!(time, at);
            order.push(slot);
            calendar.clear(slot);
        }
        assert_eq!(order, [0, 1, 3, 4]);
    }

    #[test]
    fn a_calendar_of_one_slot_or_none_works() {
        assert_eq!(Calendar::new(0, 0).next_due(), None);
        let mut calendar = Calendar::new(1, 1);
        assert_eq!(calendar.next_due(), None);
        calendar.set(0, Instant::START);
        assert_eq!(calendar.next_due(), Some((Instant::START, 0)));
    }

    /// Number of slots in the ring, on the wheel and in the tree.
    fn shares(calendar: &Calendar) -> [usize; 3] {
        [Place::Near, Place::Wheel, Place::Far]
            .map(|place| calendar.places.iter().filter(|of_slot| **of_slot == place).count())
    }

    #[test]
    fn what_has_no_room_in_the_ring_waits_on_the_wheel_and_not_in_the_tree() {
        let mut calendar = Calendar::new(SLOTS, SLOTS);
        for slot in 0..SLOTS {
            calendar.set(slot, Instant::from_nanos(100_000 * (slot as u64 * 7 % 300)));
        }
        // Of the ring that was full the later half has gone, and later ones have followed. When it is full again the
        // last of those before them go to the tree, until they are due.
        let [near, on_wheel, far] = shares(&calendar);
        assert!(near == 64 && on_wheel >= 32 && far < SLOTS / 4, "{near}, {on_wheel}, {far}");
        let mut last = Instant::START;
        for event in 0..2_000 {
            let (now, slot) = calendar.next_due().expect("all are due for ever");
            assert!(now >= last);
            last = now;
            calendar.set_again(slot, now + Duration::from_millis(30));
            let [near, on_wheel, far] = shares(&calendar);
            assert!(near <= 64 && near + on_wheel + far == SLOTS);
            assert!(event < SLOTS || far == 0, "{near}, {on_wheel}, {far}");
        }
        // Once all have left the wheel before they are due, the ring takes what comes again, however far it is.
        for slot in 0..SLOTS {
            calendar.clear(slot);
        }
        assert_eq!(shares(&calendar), [0; 3]);
        for slot in 0..10 {
            calendar.set(slot, last + Duration::from_secs(3_600));
        }
        assert_eq!(shares(&calendar), [10, 0, 0]);
    }

    #[test]
    fn of_a_crowd_in_one_bucket_the_rest_is_in_the_tree() {
        let mut calendar = Calendar::new(SLOTS, SLOTS);
        for slot in 0..SLOTS {
            calendar.set(slot, Instant::from_nanos(40_000_000 + slot as u64));
        }
        assert_eq!(shares(&calendar), [64, 0, SLOTS - 64]);
        for slot in 0..SLOTS {
            let due = Instant::from_nanos(40_000_000 + slot as u64);
            assert_eq!(calendar.next_due(), Some((due, slot)));
            calendar.clear(slot);
        }
    }

    /// A slot and a deadline: often equal ones, often within what the wheel takes, often any, often some of which not
    /// all fit into the ring's span, now and then none.
    fn any_move() -> impl Strategy<Value = (usize, u64)> {
        let time = prop_oneof![
            4 => 0_u64..8,
            8 => any_millis(),
            4 => any::<u64>(),
            4 => any_hours(),
            1 => Just(u64::MAX),
        ];
        (0_usize..SLOTS, time)
    }

    /// Many more than the ring holds.
    const SLOTS: usize = 300;

    /// Up to 200 ms, of which the wheel takes some, or in one bucket of its.
    fn any_millis() -> impl Strategy<Value = u64> {
        prop_oneof![3 => 0_u64..200_000_000, 1 => 40_000_000_u64..40_020_000]
    }

    /// Up to a day in steps of half an hour.
    fn any_hours() -> impl Strategy<Value = u64> {
        (0_u64..40).prop_map(|number| number << 41)
    }

    /// The least of all deadlines, found the long way.
    fn least(deadlines: &[Instant]) -> Option<(Instant, usize)> {
        let due = |&(_, time): &(usize, Instant)| time != Instant::FAR_FUTURE;
        let least =
            deadlines.iter().copied().enumerate().filter(due).min_by_key(|&(slot, time)| (time, slot));
        least.map(|(slot, time)| (time, slot))
    }

    proptest! {
        #[test]
        fn the_next_is_always_the_least_by_time_and_slot(
            slots in 1_usize..SLOTS,
            prompt in 0_usize..SLOTS,
            moves in proptest::collection::vec((any_move(), any::<bool>()), 0..800),
        ) {
            let mut calendar = Calendar::new(prompt.min(slots), slots);
            let mut plain = vec![Instant::FAR_FUTURE; slots];
            for ((slot, time), is_asked) in moves {
                let (slot, time) = (slot % slots, Instant::from_nanos(time));
                calendar.set(slot, time);
                plain[slot] = time;
                if is_asked {
                    prop_assert_eq!(calendar.next_due(), least(&plain));
                }
                prop_assert_eq!(calendar.deadline(slot), time);
            }
            prop_assert_eq!(calendar.next_due(), least(&plain));
        }

        #[test]
        fn what_has_happened_is_due_again_in_its_turn(
            slots in 1_usize..SLOTS,
            prompt in 0_usize..SLOTS,
            first in proptest::collection::vec(prop_oneof![0_u64..8, any_millis()], SLOTS),
            moves in proptest::collection::vec(
                (
                    prop_oneof![4 => 0_u64..8, 8 => any_millis(), 1 => any_hours(), 1 => Just(u64::MAX)],
                    0_usize..SLOTS,
                    prop_oneof![4 => 0_u64..8, 8 => any_millis(), 1 => any_hours()],
                ),
                0..800,
            ),
        ) {
            let mut calendar = Calendar::new(prompt.min(slots), slots);
            let mut plain = vec![Instant::FAR_FUTURE; slots];
            for (slot, time) in first.into_iter().enumerate().take(slots) {
                plain[slot] = Instant::from_nanos(time);
                calendar.set(slot, plain[slot]);
            }
            for (again, other, other_after) in moves {
                let Some((now, slot)) = calendar.next_due() else { break };
                let after = |nanos| now.saturating_add(Duration::from_nanos(nanos));
                plain[slot] = after(again);
                calendar.set_again(slot, plain[slot]);
                plain[other % slots] = after(other_after);
                calendar.set(other % slots, plain[other % slots]);
                prop_assert_eq!(calendar.next_due(), least(&plain));
            }
        }
    }
}
