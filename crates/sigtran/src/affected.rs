//! Affected Point Code: what the messages about destinations name, in M3UA and in SUA (RFC 4666, section 3.4.1).

use slantpath_ss7::PointCode;

/// The point codes that a message affects, as intervals in order that do not overlap: what looking for one costs does
/// not grow with how often the message names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffectedCodes(Vec<(u32, u32)>);

impl AffectedCodes {
    /// Of affected ranges, whose mask counts the low bits that may be anything.
    pub fn of(ranges: &[(u8, PointCode)]) -> Self {
        let mut intervals: Vec<(u32, u32)> = ranges.iter().map(|range| Self::interval(*range)).collect();
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

    /// The first and the last point code of an affected range.
    pub fn interval((mask, affected): (u8, PointCode)) -> (u32, u32) {
        // A point code has 24 bits here: more masked bits than that are all of them.
        let low_bits = (1 << mask.min(24)) - 1;
        (affected.0 & !low_bits, affected.0 | low_bits)
    }

    /// Tells whether the message affects that point code.
    pub fn contains(&self, code: PointCode) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= code.0);
        after.checked_sub(1).is_some_and(|at| code.0 <= self.0[at].1)
    }
}

/// Greatest number of point codes that one message lists: it stays below the size that every transport carries at once.
pub const CODES_MAX: usize = 256;

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
}
