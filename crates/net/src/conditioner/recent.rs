//! A table whose size is bounded however many keys come: what has not been asked for in a long time is forgotten.

use core::hash::Hash;

use rustc_hash::FxHashMap;

/// The entries that were asked for last, at least [`KEPT`] and at most twice as many.
#[derive(Clone, Debug)]
pub(crate) struct Recent<K, V> {
    young: FxHashMap<K, V>,
    old: FxHashMap<K, V>,
}

/// Once so many entries have been asked for, those that were not since the last such moment are forgotten.
const KEPT: usize = 65_536;

impl<K: Eq + Hash + Copy, V> Recent<K, V> {
    /// The entry of a key, made anew if there is none any more.
    pub(crate) fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let Self { young, old } = self;
        if young.len() >= KEPT && !young.contains_key(&key) {
            *old = core::mem::take(young);
        }
        young.entry(key).or_insert_with(|| old.remove(&key).unwrap_or_else(make))
    }
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { young: FxHashMap::default(), old: FxHashMap::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_is_asked_for_stays_and_one_that_is_not_is_forgotten() {
        let mut recent = Recent::<usize, usize>::default();
        for key in 0..10 * KEPT {
            recent.entry(key, || key);
            assert_eq!(*recent.entry(0, || 7), 0, "after {key} others");
            assert!(recent.young.len() + recent.old.len() <= 2 * KEPT);
        }
        assert_eq!(*recent.entry(1, || 7), 7);
        let latest = 10 * KEPT - 1;
        assert_eq!(*recent.entry(latest - KEPT + 2, || 7), latest - KEPT + 2, "the last {KEPT} are there");
    }
}
