//! A tournament tree: the least of a fixed number of keys, any of which may change.

use crate::calendar::idle;

/// Keys, one a slot; idle ones lose against all others.
///
/// A key is a leaf, an inner node holds the smaller of its two children. To change a key is to replay the
/// matches on the way from its leaf to the root, up to the first whose winner stays.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// Matches, each with its two opponents. Match 1 is the final, its opponents won matches 2 and 3, and so
    /// on down to the second half, where the opponents are the slots themselves. Match 0 is not played.
    matches: Vec<[u128; 2]>,
    /// Who won the final: it is asked for with every event, and changes far less often.
    least: u128,
}

impl Tournament {
    pub(crate) fn new(slots: usize) -> Self {
        let places = slots.next_power_of_two().max(2);
        let mut matches = vec![[idle(0); 2]; places];
        for (number, pair) in matches[places / 2..].iter_mut().enumerate() {
            *pair = [idle(2 * number), idle(2 * number + 1)];
        }
        for number in (1..places / 2).rev() {
            let winner = |number: usize| matches[number][0].min(matches[number][1]);
            matches[number] = [winner(2 * number), winner(2 * number + 1)];
        }
        let least = matches[1][0].min(matches[1][1]);
        Self { matches, least }
    }

    /// Changes a slot's key. A host sets its deadline after each of its packets, mostly to what it was.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, key: u128) {
        if self.key(slot) != key {
            self.replay(slot, key);
        }
    }

    fn replay(&mut self, slot: usize, key: u128) {
        let mut winner = key;
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
        self.least = winner;
    }

    #[inline]
    pub(crate) fn key(&self, slot: usize) -> u128 {
        self.matches[self.matches.len() / 2 + slot / 2][slot % 2]
    }

    /// The least key; an idle one if all are.
    #[inline]
    pub(crate) const fn least(&self) -> u128 {
        self.least
    }
}
