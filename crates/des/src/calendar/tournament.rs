//! A tournament tree: the least of a fixed number of deadlines, any of which may change.

use slantpath_base::Instant;

use crate::calendar::{idle, key, slot_of};

/// Deadlines, one a slot; idle ones lose against all others, and of equal ones that of the lower slot wins.
///
/// A deadline is a leaf, an inner node holds the earlier of its two children. To change a deadline is to replay the
/// matches on the way from its leaf to the root, up to the first whose result stays.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// Node 1 is the final, in which nodes 2 and 3 met, and so on down to the second half, where the slots are. Node 0
    /// is not used.
    nodes: Vec<Instant>,
    /// Who won the final: it is asked for with every event, and changes far less often.
    least: u128,
}

impl Tournament {
    pub(crate) fn new(slots: usize) -> Self {
        Self { nodes: vec![Instant::FAR_FUTURE; 2 * slots.next_power_of_two().max(2)], least: idle(0) }
    }

    /// Sets when a slot is due; [`Instant::FAR_FUTURE`] for never.
    #[inline(never)]
    pub(crate) fn set(&mut self, slot: usize, deadline: Instant) {
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
        self.nodes[self.nodes.len() / 2 + slot]
    }

    /// The least deadline and its slot, as a key; an idle one if all are.
    #[inline]
    pub(crate) const fn least(&self) -> u128 {
        self.least
    }
}
