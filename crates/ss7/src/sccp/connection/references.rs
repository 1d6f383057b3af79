//! Local references (Q.714, section 3.3.2): 24 bits each, and none is used again while messages of its last connection
//! may still be under way.

use std::collections::{BTreeSet, VecDeque};

use slantpath_base::{Duration, Instant};

use crate::sccp::LocalReference;

/// There are this many.
const REFERENCES: u32 = 1 << 24;

/// References that are in use or frozen.
#[derive(Clone, Debug)]
pub(in crate::sccp) struct References {
    limit: usize,
    next: u32,
    /// In use and frozen.
    taken: BTreeSet<u32>,
    /// In the order in which they will be free.
    frozen: VecDeque<(Instant, u32)>,
}

impl References {
    /// At most `limit` are in use or frozen at one time.
    pub(in crate::sccp) fn new(limit: usize) -> Self {
        // One stays free, so that looking for it ends.
        let limit = limit.min(REFERENCES as usize - 1);
        Self { limit, next: 0, taken: BTreeSet::new(), frozen: VecDeque::new() }
    }

    /// A reference that nobody has.
    pub(in crate::sccp) fn allocate(&mut self, now: Instant) -> Option<LocalReference> {
        self.thaw(now);
        if self.taken.len() >= self.limit {
            return None;
        }
        loop {
            let reference = self.next;
            self.next = (self.next + 1) % REFERENCES;
            if self.taken.insert(reference) {
                return Some(LocalReference(reference));
            }
        }
    }

    /// The connection has ended: its reference is free after `time`.
    pub(in crate::sccp) fn freeze(
        &mut self,
        now: Instant,
        LocalReference(reference): LocalReference,
        time: Duration,
    ) {
        if self.taken.contains(&reference) {
            self.frozen.push_back((now + time, reference));
        }
    }

    /// Frees what is due.
    fn thaw(&mut self, now: Instant) {
        while let Some((due, reference)) = self.frozen.front().copied()
            && due <= now
        {
            self.frozen.pop_front();
            self.taken.remove(&reference);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reference_is_free_again_when_it_has_thawed() {
        let mut references = References::new(1);
        let first = references.allocate(Instant::START).unwrap();
        references.freeze(Instant::START, first, Duration::from_secs(10));
        assert_eq!(references.allocate(Instant::from_secs(9)), None);
        assert!(references.allocate(Instant::from_secs(10)).is_some());
    }

    proptest! {
        #[test]
        fn no_reference_is_given_twice_while_it_is_in_use_or_frozen(
            steps in proptest::collection::vec((any::<bool>(), 0_u64..5), 1..200),
        ) {
            let mut references = References::new(8);
            let (mut used, mut frozen): (Vec<LocalReference>, Vec<(u64, LocalReference)>) = (vec![], vec![]);
            let mut now = 0;
            for (allocates, passed) in steps {
                now += passed;
                frozen.retain(|(due, _)| *due > now);
                if allocates {
                    if let Some(new) = references.allocate(Instant::from_secs(now)) {
                        prop_assert!(!used.contains(&new));
                        prop_assert!(frozen.iter().all(|(_, frozen)| *frozen != new));
                        used.push(new);
                    } else {
                        prop_assert_eq!(used.len() + frozen.len(), 8);
                    }
                } else if let Some(old) = used.pop() {
                    references.freeze(Instant::from_secs(now), old, Duration::from_secs(10));
                    frozen.push((now + 10, old));
                }
            }
        }
    }
}
