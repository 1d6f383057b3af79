//! Numbers of SCTP descriptors: a range beside those that a program has otherwise.

use std::ops::Range;

/// Number of SCTP descriptors that one process may have.
const MOST: u32 = 16_384;
/// Fewest with which a program is started.
const FEWEST: u32 = 16;
/// First number of the range, at most: programs that use `select` can wait for 256 of them. A program that has more
/// other files has some in the range, too; calls on these are notified, and run as they are.
const GREATEST_FIRST: u32 = 768;

/// Range of numbers, and the limit of open files that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorRange {
    /// Numbers of SCTP descriptors.
    pub(crate) numbers: Range<u32>,
    /// Limit that is to be set, if the present one is too low.
    pub(crate) limit: Option<u64>,
}

/// Chooses the range for limits of open files; `None` if they are too low. It begins in the last quarter of what a
/// program may have, and goes on behind it where the limit may be raised.
pub(crate) fn choose(soft: Option<u64>, hard: Option<u64>) -> Option<DescriptorRange> {
    let bounded = |limit: Option<u64>| limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(u32::MAX);
    let (soft, hard) = (bounded(soft), bounded(hard));
    let first = (soft - soft / 4).min(GREATEST_FIRST);
    let end = (first + MOST).min(hard);
    let limit = (end > soft).then_some(u64::from(end));
    (end - first >= FEWEST).then_some(DescriptorRange { numbers: first..end, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_begins_where_select_reaches_it() {
        let chosen = |soft, hard| choose(soft, hard).map(|range| (range.numbers, range.limit));
        assert_eq!(chosen(Some(1_024), Some(524_288)), Some((768..17_152, Some(17_152))));
        assert_eq!(chosen(Some(1_024), Some(1_100)), Some((768..1_100, Some(1_100))));
        assert_eq!(chosen(Some(1_024), Some(1_024)), Some((768..1_024, None)), "the last quarter");
        assert_eq!(chosen(Some(256), Some(4_096)), Some((192..4_096, Some(4_096))));
        assert_eq!(chosen(Some(20_000), Some(20_000)), Some((768..17_152, None)));
        assert_eq!(chosen(None, None), Some((768..17_152, None)));
        assert_eq!(chosen(Some(40), Some(40)), None);
    }
}
