//! Numbers of SCTP descriptors: a range beside those that a program has otherwise.

use std::ops::Range;

/// Number of SCTP descriptors that one process may have.
const MOST: u32 = 2_048;
/// Fewest with which a program is started.
const FEWEST: u32 = 16;
/// First number of the range, at most: the kernel keeps a table up to the greatest number of a process, and copies it
/// at each fork.
const GREATEST_FIRST: u32 = 16_384;

/// Range of numbers, and the limit of open files that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorRange {
    /// Numbers of SCTP descriptors.
    pub(crate) numbers: Range<u32>,
    /// Limit that is to be set, if the present one is too low.
    pub(crate) limit: Option<u64>,
}

/// Chooses the range for limits of open files; `None` if they are too low. The program's other descriptors stay below
/// it: they keep what the limit was, as far as the hard limit has room.
pub(crate) fn choose(soft: Option<u64>, hard: Option<u64>) -> Option<DescriptorRange> {
    let bounded = |limit: Option<u64>| limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(u32::MAX);
    let (soft, hard) = (bounded(soft), bounded(hard));
    let room = hard.saturating_sub(soft);
    let (first, most) = if soft > GREATEST_FIRST {
        (GREATEST_FIRST, MOST)
    } else if room >= FEWEST {
        (soft, MOST.min(room))
    } else {
        // A quarter of what there is.
        let most = (soft / 4).min(MOST);
        (soft - most, most)
    };
    let end = first.saturating_add(most).min(hard);
    let limit = (end > soft).then_some(u64::from(end));
    (end - first >= FEWEST).then_some(DescriptorRange { numbers: first..end, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_stands_behind_the_limit_where_it_may_be_raised() {
        let chosen = |soft, hard| choose(soft, hard).map(|range| (range.numbers, range.limit));
        assert_eq!(chosen(Some(1_024), Some(524_288)), Some((1_024..3_072, Some(3_072))));
        assert_eq!(chosen(Some(1_024), Some(1_100)), Some((1_024..1_100, Some(1_100))));
        assert_eq!(chosen(Some(1_024), Some(1_024)), Some((768..1_024, None)), "the last quarter");
        assert_eq!(chosen(Some(20_000), Some(20_000)), Some((16_384..18_432, None)));
        assert_eq!(chosen(None, None), Some((16_384..18_432, None)));
        assert_eq!(chosen(Some(40), Some(40)), None);
        assert_eq!(chosen(Some(16_385), Some(16_385)), None, "hardly more than where the range begins");
    }
}
