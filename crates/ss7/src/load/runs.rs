//! A set of numbers that mostly follow each other, as runs: what is lost is mostly lost in a row.

use std::collections::BTreeMap;

/// The set: the last number of each run by its first.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(BTreeMap<u64, u64>);

impl Runs {
    /// Adds a number that is greater than all before it.
    pub(super) fn insert(&mut self, number: u64) {
        match self.0.last_entry() {
            Some(mut last) if *last.get() + 1 == number => {
                last.insert(number);
            }
            _ => {
                self.0.insert(number, number);
            }
        }
    }

    /// Takes a number out, and says whether it was in.
    pub(super) fn remove(&mut self, number: u64) -> bool {
        let run = self.0.range(..=number).next_back().filter(|(_, last)| **last >= number);
        let Some((&first, &last)) = run else { return false };
        if first == number {
            self.0.remove(&first);
        } else {
            self.0.insert(first, number - 1);
        }
        if number < last {
            self.0.insert(number + 1, last);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn runs_hold_what_a_set_holds(
            inserted in proptest::collection::btree_set(0_u64..40, 0..30),
            removed in proptest::collection::vec(0_u64..40, 0..60),
        ) {
            let mut runs = Runs::default();
            for number in &inserted {
                runs.insert(*number);
            }
            let mut set: BTreeSet<u64> = inserted;
            for number in removed {
                prop_assert_eq!(runs.remove(number), set.remove(&number));
            }
        }
    }

    #[test]
    fn a_row_of_numbers_is_one_run() {
        let mut runs = Runs::default();
        for number in 5..1_000 {
            runs.insert(number);
        }
        assert_eq!(runs.0.len(), 1);
    }
}
