//! Set of the components that have something to do, taken in rounds.

/// The components that have something to do, each at most once.
///
/// They are taken in rounds, and within a round in the order of their numbers: the same order in which a loop over
/// all of them, again and again until none has anything to do, comes to them. So what one does to another in the same
/// round or in the next does not depend on how many others are idle, which cost nothing.
#[derive(Clone, Debug)]
pub struct Rounds {
    count: usize,
    /// A bit for each component, which is set where it has something to do.
    marked: Vec<u64>,
    /// A bit for each word of these, which is set where one of its bits is: thousands of idle components are passed
    /// over at once.
    words: Vec<u64>,
    /// The first component that the present round has not come to.
    coming: usize,
}

impl Rounds {
    /// For components 0 to `count - 1`, none of them with anything to do.
    pub fn new(count: usize) -> Self {
        let words = count.div_ceil(BITS);
        Self { count, marked: vec![0; words], words: vec![0; words.div_ceil(BITS)], coming: 0 }
    }

    /// A component has something to do.
    ///
    /// # Panics
    /// If there is no such component.
    #[inline]
    pub fn mark(&mut self, component: usize) {
        assert!(component < self.count, "there is no component {component} of {}", self.count);
        let word = component / BITS;
        self.marked[word] |= 1 << (component % BITS);
        self.words[word / BITS] |= 1 << (word % BITS);
    }

    /// Takes the next component, which may be marked again from now on. `None` ends the round when nothing is left.
    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        // What the present round has passed waits for the next one.
        let component = self.marked_from(self.coming).or_else(|| self.marked_from(0));
        self.coming = component.map_or(0, |component| component + 1);
        let component = component?;
        let word = component / BITS;
        self.marked[word] &= !(1 << (component % BITS));
        if self.marked[word] == 0 {
            self.words[word / BITS] &= !(1 << (word % BITS));
        }
        Some(component)
    }

    /// The first marked component from `from` on.
    #[inline]
    fn marked_from(&self, from: usize) -> Option<usize> {
        let word = from / BITS;
        if let Some(bit) = self.marked.get(word).and_then(|&marked| lowest_from(marked, from % BITS)) {
            return Some(word * BITS + bit);
        }
        let word = word + 1;
        let mut first = word % BITS;
        for (place, &words) in self.words.iter().enumerate().skip(word / BITS) {
            if let Some(bit) = lowest_from(words, first) {
                let word = place * BITS + bit;
                return lowest_from(self.marked[word], 0).map(|bit| word * BITS + bit);
            }
            first = 0;
        }
        None
    }
}

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// The lowest set bit from `from` on, which is less than 64.
#[inline]
fn lowest_from(word: u64, from: usize) -> Option<usize> {
    let left = word & (u64::MAX << from);
    (left != 0).then(|| left.trailing_zeros() as usize)
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

    #[test]
    #[should_panic(expected = "there is no component 70 of 70")]
    fn a_component_that_is_not_there_is_told() {
        Rounds::new(70).mark(70);
    }

    /// More than one word of words knows.
    const COUNT: usize = 2 * 4096 + 70;

    /// Components beside each other, and those at the edges of words.
    fn component() -> impl Strategy<Value = usize> {
        prop_oneof![0_usize..9, 62_usize..67, 4094_usize..4099, 8190_usize..8196, COUNT - 3..COUNT]
    }

    proptest! {
        /// Each component, when its turn comes, marks others; the model looks at all of them in turn.
        #[test]
        fn the_order_is_that_of_a_loop_over_all(
            first in prop::collection::vec(component(), 1..5),
            marks in prop::collection::vec(prop::collection::vec(component(), 0..3), 0..40),
        ) {
            let mut rounds = Rounds::new(COUNT);
            let mut is_dirty = [false; COUNT];
            for component in first {
                rounds.mark(component);
                is_dirty[component] = true;
            }
            let mut coming = marks.iter();
            let (mut expected, mut taken) = (Vec::new(), Vec::new());
            while is_dirty.contains(&true) {
                for component in 0..COUNT {
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
