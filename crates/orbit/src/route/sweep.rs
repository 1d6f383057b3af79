//! All core links in an order in which a processor can compare many of them at once.
//!
//! Links are sorted by how far apart the numbers of their ends are, then by the lower end. In a constellation
//! that is numbered plane by plane nearly all fall into runs along which both ends and the link step by one:
//! distances and weights are then read as they lie in memory, several at a time.

use super::graph::UNREACHABLE;

/// Links of one run that are looked at together: few enough to look at each when one of them asks for it.
const RUN_MAX: usize = 32;

/// The core links of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    runs: Vec<Run>,
    /// Slot and weight of each link, in order of runs.
    slots: Vec<u32>,
    weights: Vec<u32>,
}

/// Links from `a + i` to `b + i`, which are the `first + i`-th of the sweep.
#[derive(Clone, Copy, Debug)]
struct Run {
    a: u32,
    b: u32,
    first: u32,
    length: u32,
}

impl Sweep {
    /// Takes in all links by slot: their ends and their weights, [`UNREACHABLE`] where a slot is empty.
    pub(super) fn lay_out(&mut self, ends: &[(u32, u32)], weights: &[u32]) {
        let mut links: Vec<(u32, u32, u32)> = (0..)
            .zip(ends.iter().zip(weights))
            .filter(|(_, (_, weight))| **weight != UNREACHABLE)
            .map(|(slot, (&(a, b), _))| (b - a, a, slot))
            .collect();
        links.sort_unstable();
        self.runs.clear();
        self.slots.clear();
        for (apart, a, slot) in links {
            let first = self.slots.len();
            self.slots.push(slot);
            if let Some(run) = self.runs.last_mut()
                && (run.a + run.length, run.b - run.a) == (a, apart)
                && (run.length as usize) < RUN_MAX
            {
                run.length += 1;
                continue;
            }
            let first = u32::try_from(first).unwrap_or(u32::MAX);
            self.runs.push(Run { a, b: a + apart, first, length: 1 });
        }
        self.take_weights(weights);
    }

    /// Reads the weights anew.
    pub(super) fn take_weights(&mut self, weights: &[u32]) {
        self.weights.clear();
        self.weights.extend(self.slots.iter().map(|&slot| weights[slot as usize]));
    }

    /// Calls `relax` with the slot and the ends of every link that joins two nodes whose distances differ by more
    /// than its weight. Distances that `relax` changes are seen by the links that follow.
    pub(super) fn find_shortcuts(
        &self,
        distance: &mut [u32],
        mut relax: impl FnMut(&mut [u32], usize, (u32, u32)),
    ) {
        for run in &self.runs {
            let (first, length) = (run.first as usize, run.length as usize);
            let near = &distance[run.a as usize..][..length];
            let far = &distance[run.b as usize..][..length];
            let weights = &self.weights[first..][..length];
            let mut any = 0_u32;
            for ((&a, &b), &weight) in near.iter().zip(far).zip(weights) {
                any |= u32::from(is_shortcut(a, b, weight));
            }
            if any == 0 {
                continue;
            }
            for (offset, ends) in (run.a..).zip(run.b..).take(length).enumerate() {
                let (a, b) = (distance[ends.0 as usize], distance[ends.1 as usize]);
                if is_shortcut(a, b, self.weights[first + offset]) {
                    relax(distance, self.slots[first + offset] as usize, ends);
                }
            }
        }
    }
}

/// Tells if two distances differ by more than a weight, in one comparison: with distances below 2³¹ and weights below
/// 2³⁰ the sum goes below 0, and round to above 2³¹, just when the first is too small.
#[inline]
fn is_shortcut(a: u32, b: u32, weight: u32) -> bool {
    (a + weight).wrapping_sub(b) > 2 * weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_shortcut_is_a_difference_above_the_weight(
            a in 0..=UNREACHABLE, b in 0..=UNREACHABLE, near in -3..=3_i64, weight in 0..1_u32 << 30,
        ) {
            prop_assert_eq!(is_shortcut(a, b, weight), a.abs_diff(b) > weight);
            // And where it is close.
            let b = (i64::from(a) + i64::from(weight) + near).clamp(0, i64::from(UNREACHABLE));
            let b = u32::try_from(b).unwrap();
            prop_assert_eq!(is_shortcut(a, b, weight), a.abs_diff(b) > weight);
            prop_assert_eq!(is_shortcut(b, a, weight), a.abs_diff(b) > weight);
        }

        #[test]
        fn every_link_is_swept_once(
            links in prop::collection::btree_set((0..40_u32, 1..30_u32), 0..200),
            holes in prop::collection::vec(any::<bool>(), 200),
        ) {
            let ends: Vec<(u32, u32)> = links.iter().map(|&(a, apart)| (a, a + apart)).collect();
            let weights: Vec<u32> = holes.iter().map(|&hole| if hole { UNREACHABLE } else { 1 }).collect();
            let mut sweep = Sweep::default();
            sweep.lay_out(&ends, &weights[..ends.len()]);
            // Distances that differ everywhere: every link is a shortcut.
            let mut distance: Vec<u32> = (0..80).map(|node| node * 10).collect();
            let mut found = Vec::new();
            sweep.find_shortcuts(&mut distance, |_, slot, at| found.push((slot, at)));
            found.sort_unstable();
            let expected: Vec<_> =
                ends.iter().copied().enumerate().filter(|&(slot, _)| weights[slot] == 1).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
