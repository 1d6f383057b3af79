//! The state of signalling destinations, and what the messages about them name.

use slantpath_ss7::PointCode;

use crate::m3ua::{AffectedDestinations, Message};

/// Whether a destination can be reached. One that nobody has told of cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Availability {
    /// It cannot.
    #[default]
    Unavailable,
    /// It can, and another way is better.
    Restricted,
    /// It can.
    Available,
}

/// A destination in a network.
pub type NetworkPoint = (Option<u32>, PointCode);

/// What is known of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationState {
    /// Whether it can be reached.
    pub availability: Availability,
    /// The congestion towards it, 0 to 3.
    pub congestion: u8,
}

/// The point codes that a message affects, as intervals in order that do not overlap: what looking for one costs does
/// not grow with how often the message names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AffectedCodes(Vec<(u32, u32)>);

impl AffectedCodes {
    /// Of affected ranges, whose mask counts the low bits that may be anything.
    pub(super) fn of(ranges: &[(u8, PointCode)]) -> Self {
        let mut intervals: Vec<(u32, u32)> = ranges
            .iter()
            .map(|(mask, affected)| {
                // A point code has 24 bits in M3UA: more masked bits than that are all of them.
                let low_bits = (1 << mask.min(&24)) - 1;
                (affected.0 & !low_bits, affected.0 | low_bits)
            })
            .collect();
        intervals.sort_unstable();
        intervals.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            if overlaps {
                last.1 = last.1.max(next.1);
            }
            overlaps
        });
        Self(intervals)
    }

    pub(super) fn contains(&self, code: PointCode) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= code.0);
        after.checked_sub(1).is_some_and(|at| code.0 <= self.0[at].1)
    }
}

/// How many point codes one message lists at most: it stays below the size that every transport carries at once.
const CODES_MAX: usize = 256;

/// The messages that tell an availability of point codes.
pub(super) fn availability_messages(
    availability: Availability,
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    let tell = |codes: &[(u8, PointCode)]| {
        let affected = affected(network_appearance, routing_contexts, codes);
        match availability {
            Availability::Unavailable => Message::Duna(affected),
            Availability::Restricted => Message::Drst(affected),
            Availability::Available => Message::Dava(affected),
        }
    };
    codes.chunks(CODES_MAX).map(tell).collect()
}

/// The messages that tell the congestion of point codes; no level where networks have only one.
pub(super) fn congestion_messages(
    congestion_level: Option<u8>,
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    let tell = |codes: &[(u8, PointCode)]| {
        let affected = affected(network_appearance, routing_contexts, codes);
        Message::Scon { affected, concerned: None, congestion_level }
    };
    codes.chunks(CODES_MAX).map(tell).collect()
}

/// The messages that ask for the state of point codes.
pub(super) fn audits(
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    let ask =
        |codes: &[(u8, PointCode)]| Message::Daud(affected(network_appearance, routing_contexts, codes));
    codes.chunks(CODES_MAX).map(ask).collect()
}

/// The parameters of a message about point codes.
pub(super) fn affected(
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> AffectedDestinations {
    AffectedDestinations {
        network_appearance,
        routing_contexts: routing_contexts.to_vec(),
        point_codes: codes.to_vec(),
        info: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_mask_counts_low_bits_that_may_be_anything() {
        let is_affected = |range, code| AffectedCodes::of(&[range]).contains(PointCode(code));
        let affected = (3, PointCode(0b1010_1000));
        assert!(is_affected(affected, 0b1010_1111));
        assert!(!is_affected(affected, 0b1011_0000));
        assert!(is_affected((0, PointCode(5)), 5));
        assert!(!is_affected((0, PointCode(5)), 4));
        assert!(is_affected((255, PointCode(5)), 0xff_ffff));
        assert!(!AffectedCodes::of(&[]).contains(PointCode(0)));
    }

    proptest! {
        #[test]
        fn a_code_is_affected_if_any_range_has_it(
            ranges in vec((0_u8..6, 0_u32..256), 0..8),
            code in 0_u32..256,
        ) {
            let expected = ranges.iter().any(|(mask, affected)| affected >> mask == code >> mask);
            let ranges: Vec<_> = ranges.into_iter().map(|(mask, code)| (mask, PointCode(code))).collect();
            prop_assert_eq!(AffectedCodes::of(&ranges).contains(PointCode(code)), expected);
        }
    }

    #[test]
    fn long_lists_are_told_in_several_messages() {
        let codes: Vec<_> = (0..600).map(|code| (0, PointCode(code))).collect();
        assert_eq!(availability_messages(Availability::Available, None, &[1], &codes).len(), 3);
    }
}
