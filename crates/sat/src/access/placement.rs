//! Placement of bursts by McNaughton's rule (Management Science 6(1), 1959). Slots are given one after the other,
//! carrier by carrier; a terminal that comes to the end of one carrier goes on at the beginning of the next. No
//! terminal has more slots than a carrier, so that the two parts of such a one do not overlap in time.

use slantpath_net::{SlotRun, SlotRuns};

/// The slots of each terminal, of carriers with `slots` each, the first `kept` of which nobody has: no two terminals
/// have the same one, and none sends on two carriers at a time. Which carrier a burst is on follows from the order.
pub(super) fn place(grants: &[u32], slots: u32, kept: u32) -> Vec<SlotRuns> {
    let mut next = kept % slots;
    let runs = grants.iter().map(|&granted| {
        let first = next % slots;
        next = (first + granted) % slots;
        let before_end = granted.min(slots - first);
        let (late, early) =
            (SlotRun { first, slots: before_end }, SlotRun { first: 0, slots: granted - before_end });
        if early.slots == 0 { [late, early] } else { [early, late] }
    });
    runs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn covered(bursts: &SlotRuns) -> Vec<u32> {
        bursts.iter().flat_map(|run| run.first..run.first + run.slots).collect()
    }

    #[test]
    fn a_burst_that_comes_to_the_end_of_a_carrier_goes_on_at_the_beginning_of_the_next() {
        let run = |first, slots| SlotRun { first, slots };
        let placed = place(&[6, 7, 0, 7, 1], 10, 0);
        assert_eq!(placed[0], [run(0, 6), run(0, 0)]);
        assert_eq!(placed[1], [run(0, 3), run(6, 4)]);
        assert_eq!(placed[3], [run(3, 7), run(0, 0)]);
        assert_eq!(placed[4], [run(0, 1), run(0, 0)]);
        assert!(covered(&placed[2]).is_empty());
    }

    #[test]
    fn the_slots_for_requests_are_the_first_ones_of_the_first_carrier() {
        let run = |first, slots| SlotRun { first, slots };
        assert_eq!(place(&[6, 4], 10, 3), [[run(3, 6), run(0, 0)], [run(0, 3), run(9, 1)]]);
        // A carrier of nothing else.
        assert_eq!(place(&[6], 10, 10), [[run(0, 6), run(0, 0)]]);
    }

    proptest! {
        #[test]
        fn no_slot_is_given_twice_and_none_sends_on_two_carriers_at_a_time(
            slots in 1_u32..40,
            kept in 0_u32..40,
            grants in prop::collection::vec(0_u32..40, 1..60),
        ) {
            let kept = kept.min(slots);
            let grants: Vec<u32> = grants.into_iter().map(|grant| grant.min(slots)).collect();
            let carriers = (kept + grants.iter().sum::<u32>()).div_ceil(slots);
            let placed = place(&grants, slots, kept);
            let mut used: Vec<u32> = (0..slots).map(|slot| u32::from(slot < kept)).collect();
            for (granted, bursts) in grants.iter().zip(&placed) {
                let mut slots_of_one = covered(bursts);
                prop_assert_eq!(slots_of_one.len(), *granted as usize);
                prop_assert!(slots_of_one.is_sorted(), "the earlier run first");
                slots_of_one.dedup();
                prop_assert_eq!(slots_of_one.len(), *granted as usize, "not twice at a time");
                for slot in slots_of_one {
                    prop_assert!(slot < slots);
                    used[slot as usize] += 1;
                }
            }
            // At each time as many send as there are carriers at most.
            prop_assert!(used.iter().all(|&senders| senders <= carriers));
        }
    }
}
