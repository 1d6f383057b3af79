//! First transmissions: which TSNs of SCTP, and which bytes of TCP, a capture has not shown before.
//!
//! Both keep what lies between the first number that is missing and the last one seen, within bounds: what falls out
//! of them counts as missing.

use std::collections::VecDeque;

use slantpath_sctp::Tsn;

/// Most TSNs behind the first missing one: more than any window holds.
const TSNS_MAX: u32 = 65_536;
/// Most gaps between bytes of TCP.
const GAPS_MAX: usize = 64;

/// TSNs of one direction of an association.
#[derive(Clone, Debug)]
pub(crate) struct Tsns {
    /// First TSN that was not seen.
    next: Tsn,
    /// From `next` on, 64 TSNs a word, one bit for each that was seen.
    seen: VecDeque<u64>,
    /// TSNs that were given up.
    missing: u64,
}

impl Tsns {
    /// Begins with the first TSN that the capture shows.
    pub(crate) const fn new(first: Tsn) -> Self {
        Self { next: first, seen: VecDeque::new(), missing: 0 }
    }

    /// Takes a TSN; true if it is the first time.
    pub(crate) fn is_first(&mut self, tsn: Tsn) -> bool {
        if tsn == self.next && self.seen.is_empty() {
            self.next = tsn.next();
            return true;
        }
        if tsn.is_before(self.next) {
            return false;
        }
        let mut distance = tsn.distance_from(self.next);
        if distance >= TSNS_MAX {
            // Either the capture lacks a great deal, or this is another association: it begins anew here.
            self.missing += u64::from(distance.min(TSNS_MAX)) - self.held();
            *self = Self { next: tsn.next(), seen: VecDeque::new(), missing: self.missing };
            return true;
        }
        let word = distance as usize / 64;
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        distance %= 64;
        let is_first = self.seen[word] >> distance & 1 == 0;
        self.seen[word] |= 1 << distance;
        while self.seen.front() == Some(&u64::MAX) {
            self.seen.pop_front();
            self.next = self.next.plus(64);
        }
        // With nothing held that is not in order, the usual case is one comparison again.
        if let (Some(first), 1) = (self.seen.front(), self.seen.len())
            && first.leading_zeros() + first.trailing_ones() == 64
        {
            self.next = self.next.plus(first.trailing_ones());
            self.seen.clear();
        }
        is_first
    }

    /// Number of TSNs that were never seen, though later ones were.
    pub(crate) fn missing(&self) -> u64 {
        let last = self.seen.iter().rposition(|word| *word != 0);
        let holes = last.map_or(0, |last| {
            let before: u64 = self.seen.iter().take(last).map(|word| u64::from(word.count_zeros())).sum();
            let word = self.seen[last];
            before + u64::from(word.count_zeros() - word.leading_zeros())
        });
        self.missing + holes
    }

    fn held(&self) -> u64 {
        self.seen.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Bytes of one direction of a connection of TCP.
#[derive(Clone, Debug)]
pub(crate) struct Bytestream {
    /// Number behind the last byte seen.
    next: u32,
    /// Bytes before it that were not seen: first, and behind the last; in order.
    gaps: VecDeque<(u32, u32)>,
    missing: u64,
}

impl Bytestream {
    /// Begins with the number of the first byte that the capture shows.
    pub(crate) const fn new(first: u32) -> Self {
        Self { next: first, gaps: VecDeque::new(), missing: 0 }
    }

    /// Takes the bytes of a segment, and gives how many of them were not seen before.
    pub(crate) fn first_bytes(&mut self, sequence: u32, len: u32) -> u32 {
        if sequence == self.next {
            self.next = sequence.wrapping_add(len);
            return len;
        }
        let end = sequence.wrapping_add(len);
        if is_before(self.next, sequence) {
            self.gaps.push_back((self.next, sequence));
            if self.gaps.len() > GAPS_MAX
                && let Some((first, behind)) = self.gaps.pop_front()
            {
                self.missing += u64::from(behind.wrapping_sub(first));
            }
            self.next = end;
            return len;
        }
        let beyond = if is_before(self.next, end) { end.wrapping_sub(self.next) } else { 0 };
        self.next = self.next.wrapping_add(beyond);
        beyond + if self.gaps.is_empty() { 0 } else { self.fill(sequence, end) }
    }

    /// Takes bytes out of the gaps, and gives how many.
    fn fill(&mut self, sequence: u32, end: u32) -> u32 {
        let mut filled = 0;
        let mut left = VecDeque::with_capacity(self.gaps.len() + 1);
        for (first, behind) in self.gaps.drain(..) {
            let from = if is_before(first, sequence) { sequence } else { first };
            let until = if is_before(end, behind) { end } else { behind };
            if !is_before(from, until) {
                left.push_back((first, behind));
                continue;
            }
            filled += until.wrapping_sub(from);
            left.extend(
                [(first, from), (until, behind)].into_iter().filter(|(first, behind)| first != behind),
            );
        }
        self.gaps = left;
        filled
    }

    /// Number of bytes that were never seen, though later ones were.
    pub(crate) fn missing(&self) -> u64 {
        let open = self.gaps.iter().map(|(first, behind)| u64::from(behind.wrapping_sub(*first)));
        self.missing + open.sum::<u64>()
    }
}

/// Order of sequence numbers (RFC 9293, section 3.4).
const fn is_before(first: u32, second: u32) -> bool {
    let distance = second.wrapping_sub(first);
    distance != 0 && distance < 1 << 31
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tsn_is_first_once_and_what_never_came_is_missing() {
        let mut tsns = Tsns::new(Tsn(u32::MAX));
        assert!(tsns.is_first(Tsn(u32::MAX)) && tsns.is_first(Tsn(0)));
        assert!(!tsns.is_first(Tsn(u32::MAX)) && !tsns.is_first(Tsn(0)));
        assert!(tsns.is_first(Tsn(3)) && !tsns.is_first(Tsn(3)));
        assert_eq!(tsns.missing(), 2);
        assert!(tsns.is_first(Tsn(1)));
        assert_eq!(tsns.missing(), 1);
        assert!(tsns.is_first(Tsn(2)));
        assert_eq!((tsns.missing(), tsns.next), (0, Tsn(4)));
        assert!(tsns.is_first(Tsn(4 + TSNS_MAX)));
        assert_eq!((tsns.missing(), tsns.next), (u64::from(TSNS_MAX), Tsn(5 + TSNS_MAX)));
    }

    #[test]
    fn bytes_are_new_once_and_gaps_are_filled() {
        let mut bytes = Bytestream::new(u32::MAX - 9);
        assert_eq!(bytes.first_bytes(u32::MAX - 9, 20), 20);
        assert_eq!(bytes.first_bytes(5, 10), 5);
        assert_eq!(bytes.first_bytes(30, 10), 10);
        assert_eq!(bytes.missing(), 15);
        assert_eq!(bytes.first_bytes(20, 15), 10);
        assert_eq!(bytes.missing(), 5);
        assert_eq!(bytes.first_bytes(0, 100), 65);
        assert_eq!(bytes.missing(), 0);
    }

    proptest! {
        #[test]
        fn tsns_are_first_as_a_set_says(start: u32, steps in proptest::collection::vec(0_u32..400, 1..300)) {
            let mut tsns = Tsns::new(Tsn(start));
            let mut set = BTreeSet::new();
            for step in steps {
                prop_assert_eq!(tsns.is_first(Tsn(start).plus(step)), set.insert(step));
                let last = set.last().copied().unwrap_or(0);
                prop_assert_eq!(tsns.missing(), u64::from(last) + 1 - set.len() as u64);
            }
        }

        #[test]
        fn bytes_are_new_as_a_set_says(
            start: u32,
            segments in proptest::collection::vec((0_u32..300, 0_u32..30), 1..60),
        ) {
            let mut bytes = Bytestream::new(start);
            let mut set = BTreeSet::new();
            for (offset, len) in segments {
                let new = (offset..offset + len).filter(|byte| set.insert(*byte)).count();
                let told = bytes.first_bytes(start.wrapping_add(offset), len);
                prop_assert_eq!(told as usize, new);
            }
        }
    }
}
