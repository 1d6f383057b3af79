//! Order of what is outstanding by its last transmission, along which RFC 8985 compares times.
//!
//! Elements are numbered without gaps, as a transport's records are: one is added at the back when something is sent
//! for the first time, and taken from the front when it is acknowledged. An element that is retransmitted moves behind
//! all others; one that has arrived or is lost leaves the order and keeps its number. Every step is of constant cost.

use std::collections::VecDeque;

/// A doubly linked list that lives beside a transport's records.
#[derive(Clone, Debug)]
pub struct SentOrder {
    links: VecDeque<Link>,
    /// The number of the front element.
    first: u64,
    oldest: u64,
    newest: u64,
}

/// The neighbours of an element, by number.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// [`END`] for the oldest, [`OUTSIDE`] for an element that is not in the order.
    older: u64,
    newer: u64,
}

const END: u64 = u64::MAX;
const OUTSIDE: u64 = u64::MAX - 1;

impl Default for SentOrder {
    fn default() -> Self {
        Self { links: VecDeque::new(), first: 0, oldest: END, newest: END }
    }
}

impl SentOrder {
    /// An empty order whose next element has the number `first`.
    pub fn starting_at(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// The next element is sent for the first time.
    pub fn push(&mut self) {
        let number = self.first + self.links.len() as u64;
        self.links.push_back(Link { older: OUTSIDE, newer: END });
        self.append(number);
    }

    /// The next element is outside of the order from the start.
    pub fn push_outside(&mut self) {
        self.links.push_back(Link { older: OUTSIDE, newer: END });
    }

    /// An element that is outside of the order is retransmitted.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn append(&mut self, number: u64) {
        let older = self.newest;
        *self.link(number) = Link { older, newer: END };
        if older == END {
            self.oldest = number;
        } else {
            self.link(older).newer = number;
        }
        self.newest = number;
    }

    /// An element leaves the order. Returns whether it was in it.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn remove(&mut self, number: u64) -> bool {
        let Link { older, newer } = *self.link(number);
        if older == OUTSIDE {
            return false;
        }
        self.link(number).older = OUTSIDE;
        match older {
            END => self.oldest = newer,
            older => self.link(older).newer = newer,
        }
        match newer {
            END => self.newest = older,
            newer => self.link(newer).older = older,
        }
        true
    }

    /// The front element is acknowledged: its number is never used again.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop_front(&mut self) {
        self.remove(self.first);
        self.links.pop_front();
        self.first += 1;
    }

    /// Tells if an element is in the order; elements that were taken from the front are not.
    pub fn contains(&self, number: u64) -> bool {
        let index = number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.links.get(index)).is_some_and(|link| link.older != OUTSIDE)
    }

    /// The element whose last transmission is the oldest.
    pub fn oldest(&self) -> Option<u64> {
        (self.oldest != END).then_some(self.oldest)
    }

    fn link(&mut self, number: u64) -> &mut Link {
        let index = usize::try_from(number - self.first).expect("an index within memory");
        &mut self.links[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The order as it is read by taking the oldest again and again.
    fn drained(mut order: SentOrder) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some(number) = order.oldest() {
            numbers.push(number);
            assert!(order.remove(number));
        }
        numbers
    }

    #[test]
    fn what_is_sent_again_moves_behind_all_others() {
        let mut order = SentOrder::default();
        for _ in 0..4 {
            order.push();
        }
        order.push_outside();
        assert!(order.remove(1));
        order.append(1);
        order.append(4);
        assert!(order.remove(2));
        assert!(!order.remove(2));
        assert_eq!(drained(order), [0, 3, 1, 4]);
    }

    proptest! {
        /// Whatever is done, the order is that of a plain list.
        #[test]
        fn the_order_is_that_of_a_list(
            first in 0_u64..1_000, steps in prop::collection::vec((0_u8..5, any::<prop::sample::Index>()), 0..80),
        ) {
            let mut order = SentOrder::starting_at(first);
            let (mut front, mut past) = (first, first);
            let mut list: Vec<u64> = Vec::new();
            for (step, index) in steps {
                let chosen = (past > front).then(|| index.get(&(front..past).collect::<Vec<_>>()).to_owned());
                match (step, chosen) {
                    (0, _) => {
                        order.push();
                        list.push(past);
                        past += 1;
                    }
                    (1, _) => {
                        order.push_outside();
                        past += 1;
                    }
                    (2, Some(_)) => {
                        order.pop_front();
                        list.retain(|number| *number != front);
                        front += 1;
                    }
                    (3, Some(number)) => {
                        prop_assert_eq!(order.remove(number), list.contains(&number));
                        list.retain(|other| *other != number);
                    }
                    (_, Some(number)) => {
                        order.remove(number);
                        order.append(number);
                        list.retain(|other| *other != number);
                        list.push(number);
                    }
                    _ => {}
                }
                prop_assert_eq!(order.oldest(), list.first().copied());
                for number in front.saturating_sub(2)..past + 2 {
                    prop_assert_eq!(order.contains(number), list.contains(&number));
                }
            }
            prop_assert_eq!(drained(order), list);
        }
    }
}
