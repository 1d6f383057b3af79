//! Numbers of slots, found by keys that the slots hold.

use hashbrown::HashTable;

/// Finds slots by the hashes of their keys. The keys stay in the slots, whose owner says whether one has the key that
/// is looked for: a table of very many takes little memory, and what is read of a slot is mostly needed next anyway.
///
/// A slot may have several keys. Each takes nine bytes, in a table of which from an eighth to somewhat more than half
/// stands vacant.
#[derive(Clone, Debug, Default)]
pub struct SlotIndex {
    table: HashTable<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Of the key.
    hash: u32,
    slot: u32,
}

impl Entry {
    const fn new(hash: u64, slot: u32) -> Self {
        Self { hash: folded(hash), slot }
    }

    /// Hash that the table uses: the stored hash multiplied, since the table takes the highest bits and the lowest.
    const fn spread(self) -> u64 {
        (self.hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// As much of a hash as is kept.
#[expect(clippy::cast_possible_truncation, reason = "the upper half is in the lower one")]
const fn folded(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl SlotIndex {
    /// The slot that is listed under this hash and for which `is_it` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let wanted = Entry::new(hash, 0);
        let found = self.table.find(wanted.spread(), |entry| entry.hash == wanted.hash && is_it(entry.slot));
        found.map(|entry| entry.slot)
    }

    /// Lists a slot under the hash of one of its keys, which no other has.
    pub fn insert(&mut self, hash: u64, slot: u32) {
        let entry = Entry::new(hash, slot);
        self.table.insert_unique(entry.spread(), entry, |entry| entry.spread());
    }

    /// Lists a slot no more under a hash, if it is.
    pub fn remove(&mut self, hash: u64, slot: u32) {
        let entry = Entry::new(hash, slot);
        if let Ok(listed) = self.table.find_entry(entry.spread(), |other| *other == entry) {
            listed.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    use proptest::prelude::*;

    use super::*;

    /// Of keys of which many have the same hash.
    fn hash(key: u16) -> u64 {
        u64::from(key % 7) << 40
    }

    proptest! {
        /// Against a map of the keys.
        #[test]
        fn it_finds_what_a_map_finds(steps in prop::collection::vec((0_u16..60, any::<bool>()), 0..400)) {
            let (mut index, mut model) = (SlotIndex::default(), BTreeMap::new());
            // The key of each slot.
            let mut keys = Vec::new();
            for (key, is_added) in steps {
                if !is_added {
                    let slot = model.remove(&key).unwrap_or(u32::MAX);
                    index.remove(hash(key), slot);
                } else if let Entry::Vacant(vacant) = model.entry(key) {
                    let slot = u32::try_from(keys.len()).unwrap();
                    keys.push(key);
                    index.insert(hash(key), slot);
                    vacant.insert(slot);
                }
                for key in 0..60 {
                    let found = index.find(hash(key), |slot| keys[slot as usize] == key);
                    prop_assert_eq!(found, model.get(&key).copied());
                }
            }
        }
    }

    #[test]
    fn nobody_is_asked_about_a_slot_of_another_hash() {
        let mut index = SlotIndex::default();
        for key in 0..1_000_u32 {
            index.insert(u64::from(key), key);
        }
        for key in 0..1_000_u32 {
            let mut asked = Vec::new();
            index.find(u64::from(key), |slot| {
                asked.push(slot);
                false
            });
            assert_eq!(asked, [key]);
        }
    }
}
