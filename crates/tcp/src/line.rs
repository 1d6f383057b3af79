//! A queue in which mostly nothing stands behind the first.

use std::collections::VecDeque;

/// Items in their order. The first one is held in place, so that a queue that never holds more has no memory of its
/// own.
#[derive(Debug)]
pub(crate) struct Line<T> {
    first: Option<T>,
    /// Empty if there is no first.
    others: VecDeque<T>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { first: None, others: VecDeque::new() }
    }
}

impl<T> Line<T> {
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Tells if something is queued behind the first.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    #[inline]
    pub(crate) const fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "mostly it writes the first place")]
    pub(crate) fn push(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.others.push_back(item);
        }
    }

    /// Puts items behind the last, and leaves none there. A line with nothing in it takes them over with their memory.
    pub(crate) fn append(&mut self, items: &mut VecDeque<T>) {
        if self.first.is_none() {
            self.first = items.pop_front();
            core::mem::swap(&mut self.others, items);
        } else {
            self.others.append(items);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let front = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        }
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_is_a_queue(
            // How many items come, or that one goes.
            steps in proptest::collection::vec(prop_oneof![Just(None), (0_usize..4).prop_map(Some)], 0..50),
        ) {
            let (mut line, mut plain) = (Line::default(), VecDeque::new());
            for (item, step) in steps.into_iter().enumerate() {
                match step {
                    None => prop_assert_eq!(line.pop(), plain.pop_front()),
                    Some(1) => {
                        line.push(item);
                        plain.push_back(item);
                    }
                    Some(count) => {
                        let mut items: VecDeque<_> = (0..count).map(|place| 10 * item + place).collect();
                        plain.extend(&items);
                        line.append(&mut items);
                        prop_assert!(items.is_empty());
                    }
                }
                prop_assert_eq!((line.is_empty(), line.front()), (plain.is_empty(), plain.front()));
                prop_assert_eq!(line.has_others(), plain.len() > 1);
            }
        }
    }
}
