//! A tournament tree: the least of a fixed number of deadlines, any of which may change.

use slantpath_base::Instant;

use crate::calendar::{idle, key, slot_of, time_of};

/// Deadlines, one a slot; idle ones lose against all others, and of equal ones that of the lower slot wins.
///
/// A leaf stands for a slot, an inner node holds the earlier of its two children. To change a leaf is to replay the
/// matches on the way to the root, up to the first whose result stays. Timers are mostly put off before they expire: so
/// a deadline that becomes later leaves its leaf as it is, too early, until that leaf has won the final.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// Instants at which the slots are due.
    deadlines: Vec<Instant>,
    /// Node 1 is the final, in which nodes 2 and 3 met, and so on down to the second half, where the slots are, none
    /// later than its deadline. Node 0 is not used.
    nodes: Vec<Instant>,
    /// Winner of the final: it is asked for with every event, and changes far less often.
    least: u128,
}

impl Tournament {
    pub(crate) fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(1);
        Self {
            deadlines: vec![Instant::FAR_FUTURE; leaves],
            nodes: vec![Instant::FAR_FUTURE; 2 * leaves],
            least: idle(0),
        }
    }

    /// Sets when a slot is due; [`Instant::FAR_FUTURE`] for never. Says whether the least may have changed.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, deadline: Instant) -> bool {
        self.deadlines[slot] = deadline;
        let is_earlier = deadline < self.nodes[self.nodes.len() / 2 + slot];
        if is_earlier {
            self.replay(slot, deadline);
        }
        is_earlier
    }

    #[inline(never)]
    fn replay(&mut self, slot: usize, deadline: Instant) {
        let mut node = self.nodes.len() / 2 + slot;
        let mut winner = deadline;
        while self.nodes[node] != winner {
            self.nodes[node] = winner;
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
            if node == 0 {
                break;
            }
        }
        let key = key(deadline, slot);
        if key < self.least {
            self.least = key;
        } else if slot == slot_of(self.least) {
            self.least = self.find_least();
        }
    }

    /// Tells if the least is a deadline. Otherwise it is before all of them.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.deadlines[slot_of(self.least)] == time_of(self.least)
    }

    /// Puts the deadline of the least slot in its leaf.
    pub(crate) fn settle(&mut self) {
        let slot = slot_of(self.least);
        self.replay(slot, self.deadlines[slot]);
    }

    /// Goes down from the final to the lowest slot that can have won it.
    fn find_least(&self) -> u128 {
        let (least, leaves) = (self.nodes[1], self.nodes.len() / 2);
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != least);
        }
        key(least, node - leaves)
    }

    #[inline]
    pub(crate) fn deadline(&self, slot: usize) -> Instant {
        self.deadlines[slot]
    }

    /// The least deadline and its slot, as a key, once it is [settled](Self::is_settled); an idle one if all are.
    #[inline]
    pub(crate) const fn least(&self) -> u128 {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_is_looked_at_again_once_it_would_have_been_due() {
        let at = Instant::from_nanos;
        let mut tournament = Tournament::new(2);
        let changed = [(0, 5), (1, 7), (0, 6), (0, 9)].map(|(slot, nanos)| tournament.set(slot, at(nanos)));
        assert_eq!(changed, [true, true, false, false]);
        assert_eq!((tournament.least(), tournament.is_settled()), (key(at(5), 0), false));
        tournament.settle();
        assert_eq!((tournament.least(), tournament.is_settled()), (key(at(7), 1), true));
        assert_eq!(tournament.deadline(0), at(9));
        assert!(tournament.set(0, at(6)), "it is earlier than its leaf now");
        assert_eq!((tournament.least(), tournament.is_settled()), (key(at(6), 0), true));
    }
}
