//! The calendar: which of a fixed set of components is due next.
//!
//! The order is total: by time, then by slot number. It depends on nothing else, above all not on the order
//! in which deadlines were set, so that a run is the same however its components came to their deadlines.
//!
//! It is a tournament tree. A deadline is a leaf, an inner node holds the smaller of its two children, the
//! root is the next event. To move a deadline is to replay the matches on the way from leaf to root: their
//! opponents' addresses are known beforehand, so that the loads overlap and no branch depends on data.

use slantpath_base::Instant;

/// The next deadlines of a fixed number of slots, one each.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Matches, each with its two opponents as [`key`] makes them. Match 1 is the final, its opponents won matches 2 and
    /// 3, and so on down to the second half, where the opponents are the slots themselves. Match 0 is not played.
    matches: Vec<[u128; 2]>,
}

impl Calendar {
    /// A calendar of `slots` idle slots, numbered from zero.
    pub fn new(slots: usize) -> Self {
        let places = slots.next_power_of_two().max(2);
        let idle = |slot| key(Instant::FAR_FUTURE, slot);
        let mut matches = vec![[idle(0); 2]; places];
        for (number, pair) in matches[places / 2..].iter_mut().enumerate() {
            *pair = [idle(2 * number), idle(2 * number + 1)];
        }
        for number in (1..places / 2).rev() {
            let winner = |number: usize| matches[number][0].min(matches[number][1]);
            matches[number] = [winner(2 * number), winner(2 * number + 1)];
        }
        Self { matches }
    }

    /// Sets when `slot` is due, whatever was set before. [`Instant::FAR_FUTURE`] makes it idle.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn set(&mut self, slot: usize, deadline: Instant) {
        let mut winner = key(deadline, slot);
        let mut place = self.matches.len() + slot;
        while place > 1 {
            let pair = &mut self.matches[place / 2];
            let opponent = pair[(place % 2) ^ 1];
            if pair[place % 2] == winner {
                return;
            }
            pair[place % 2] = winner;
            winner = winner.min(opponent);
            place /= 2;
        }
    }

    /// Makes `slot` idle.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, Instant::FAR_FUTURE);
    }

    /// When `slot` is due; [`Instant::FAR_FUTURE`] if it is idle.
    #[inline]
    pub fn deadline(&self, slot: usize) -> Instant {
        time_of(self.matches[self.matches.len() / 2 + slot / 2][slot % 2])
    }

    /// The next deadline and its slot, or `None` if all are idle.
    #[inline]
    pub fn next(&self) -> Option<(Instant, usize)> {
        let [first, second] = self.matches[1];
        let root = first.min(second);
        let time = time_of(root);
        #[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are the slot")]
        let slot = root as u32 as usize;
        (time != Instant::FAR_FUTURE).then_some((time, slot))
    }
}

/// Time in the upper bits, slot in the lower 32: one comparison settles both parts of the order.
#[inline]
fn key(time: Instant, slot: usize) -> u128 {
    u128::from(time.as_nanos()) << 32 | slot as u128
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "96 bits are in use")]
fn time_of(key: u128) -> Instant {
    Instant::from_nanos((key >> 32) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_are_served_by_slot_number() {
        let at = Instant::from_millis(5);
        let mut calendar = Calendar::new(5);
        for slot in [3, 0, 4, 1] {
            calendar.set(slot, at);
        }
        let mut order = Vec::new();
        while let Some((time, slot)) = calendar.next() {
            assert_eq!(time, at);
            order.push(slot);
            calendar.clear(slot);
        }
        assert_eq!(order, [0, 1, 3, 4]);
    }

    #[test]
    fn a_calendar_of_one_slot_or_none_works() {
        assert_eq!(Calendar::new(0).next(), None);
        let mut calendar = Calendar::new(1);
        assert_eq!(calendar.next(), None);
        calendar.set(0, Instant::START);
        assert_eq!(calendar.next(), Some((Instant::START, 0)));
    }

    proptest! {
        #[test]
        fn the_next_is_always_the_least_by_time_and_slot(
            slots in 1_usize..40,
            moves in proptest::collection::vec((0_usize..40, prop_oneof![0_u64..8, Just(u64::MAX)]), 0..200),
        ) {
            let mut calendar = Calendar::new(slots);
            let mut plain = vec![Instant::FAR_FUTURE; slots];
            for (slot, time) in moves {
                let (slot, time) = (slot % slots, Instant::from_nanos(time));
                calendar.set(slot, time);
                plain[slot] = time;
                let due = |&(_, time): &(usize, Instant)| time != Instant::FAR_FUTURE;
                let least = plain.iter().copied().enumerate().filter(due).min_by_key(|&(slot, time)| (time, slot));
                prop_assert_eq!(calendar.next(), least.map(|(slot, time)| (time, slot)));
                prop_assert_eq!(calendar.deadline(slot), time);
            }
        }
    }
}
