//! Set of the components that have something to do, taken in rounds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The components that have something to do, each at most once.
///
/// They are taken in rounds, and within a round in the order of their numbers: the same order in which a loop over
/// all of them, again and again until none has anything to do, comes to them. So what one does to another in the same
/// round or in the next does not depend on how many others are idle, which cost nothing.
#[derive(Clone, Debug)]
pub struct Rounds {
    is_queued: Vec<bool>,
    /// Of the present round, lowest number first.
    present: BinaryHeap<Reverse<usize>>,
    /// Marked too late for the present round.
    next: BinaryHeap<Reverse<usize>>,
    /// The component that was taken last in the present round.
    last: Option<usize>,
}

impl Rounds {
    /// For components 0 to `count - 1`, none of them with anything to do.
    pub fn new(count: usize) -> Self {
        let (present, next) = (BinaryHeap::new(), BinaryHeap::new());
        Self { is_queued: vec![false; count], present, next, last: None }
    }

    /// A component has something to do.
    ///
    /// # Panics
    /// If there is no such component.
    pub fn mark(&mut self, component: usize) {
        if std::mem::replace(&mut self.is_queued[component], true) {
            return;
        }
        let is_past = self.last.is_some_and(|last| component <= last);
        let round = if is_past { &mut self.next } else { &mut self.present };
        round.push(Reverse(component));
    }

    /// Takes the next component, which may be marked again from now on. `None` ends the round when nothing is left.
    pub fn take(&mut self) -> Option<usize> {
        if self.present.is_empty() {
            std::mem::swap(&mut self.present, &mut self.next);
            self.last = None;
        }
        let Reverse(component) = self.present.pop()?;
        self.is_queued[component] = false;
        self.last = Some(component);
        Some(component)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_marked_behind_the_present_component_waits_for_the_next_round() {
        let mut rounds = Rounds::new(5);
        for component in [3, 1] {
            rounds.mark(component);
        }
        assert_eq!(rounds.take(), Some(1));
        for component in [4, 1, 0, 3] {
            rounds.mark(component);
        }
        let rest: Vec<_> = std::iter::from_fn(|| rounds.take()).collect();
        assert_eq!(rest, [3, 4, 0, 1]);
    }

    proptest! {
        /// Each component, when its turn comes, marks others; the model looks at all of them in turn.
        #[test]
        fn the_order_is_that_of_a_loop_over_all(
            first in prop::collection::vec(0_usize..9, 1..5),
            marks in prop::collection::vec(prop::collection::vec(0_usize..9, 0..3), 0..40),
        ) {
            let mut rounds = Rounds::new(9);
            let mut is_dirty = [false; 9];
            for component in first {
                rounds.mark(component);
                is_dirty[component] = true;
            }
            let mut coming = marks.iter();
            let (mut expected, mut taken) = (Vec::new(), Vec::new());
            while is_dirty.contains(&true) {
                for component in 0..9 {
                    if std::mem::take(&mut is_dirty[component]) {
                        expected.push(component);
                        coming.next().into_iter().flatten().for_each(|other| is_dirty[*other] = true);
                    }
                }
            }
            let mut coming = marks.iter();
            while let Some(component) = rounds.take() {
                taken.push(component);
                coming.next().into_iter().flatten().for_each(|other| rounds.mark(*other));
            }
            prop_assert_eq!(taken, expected);
        }
    }
}
