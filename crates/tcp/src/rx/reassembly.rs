//! Data that arrived ahead of a gap, as islands, and the SACK blocks that report them.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::line::Line;
use crate::tx::Range;

/// Data without a gap, from `start` up to `end`.
#[derive(Debug)]
struct Island {
    start: u64,
    end: u64,
    pieces: VecDeque<Bytes>,
}

/// Out-of-order data by offset. No byte is held twice.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// In order, without contact.
    islands: VecDeque<Island>,
    /// Ranges of the islands that changed last, newest first.
    recent: [Option<Range>; Reassembly::REMEMBERED],
    /// Pieces in all islands.
    pieces: usize,
    /// The memory of one that was taken, for the next.
    spare: VecDeque<Bytes>,
}

impl Reassembly {
    /// As many islands are remembered in the order of their changes as one segment can report.
    const REMEMBERED: usize = 4;
    /// No more pieces are held: enough for 40 MB of full segments, while a peer that sends crumbs cannot fill the
    /// memory with their bookkeeping.
    const MAX_PIECES: usize = 1 << 15;
    /// The memory of so many pieces, a few kilobytes, is kept when they are taken.
    const SPARE: usize = 128;

    /// Tells if no data is kept behind a gap.
    pub(crate) fn is_empty(&self) -> bool {
        self.islands.is_empty()
    }

    /// Takes in `data`, which is not empty, at `start`. What is already held is left out, and so is everything
    /// when too many pieces are held already: the peer will send it again. It is moved out of its place or shared with
    /// it. Returns the first part that was held.
    pub(crate) fn insert(&mut self, start: u64, data: &mut Bytes) -> Option<Range> {
        if let Some(last) = self.islands.back_mut()
            && last.end == start
            && let [Some(newest), ..] = &mut self.recent
            && newest.end == start
            && self.pieces < Self::MAX_PIECES
        {
            // Behind the last island, which changed last: so comes most of what follows a gap.
            last.end += data.len() as u64;
            newest.end = last.end;
            last.pieces.push_back(core::mem::take(data));
            self.pieces += 1;
            return None;
        }
        self.insert_anywhere(start, data)
    }

    #[inline(never)]
    fn insert_anywhere(&mut self, start: u64, data: &Bytes) -> Option<Range> {
        let end = start + data.len() as u64;
        let mut at = start;
        let mut duplicate = None;
        while at < end && self.pieces < Self::MAX_PIECES {
            let index = self.index_after(at);
            let gap_end = match self.islands.get(index) {
                Some(island) if island.start <= at => {
                    duplicate = duplicate.or(Some(Range { start: at, end: island.end.min(end) }));
                    at = island.end;
                    continue;
                }
                Some(island) => island.start.min(end),
                None => end,
            };
            self.place(index, at, data.slice(usize_of(at - start)..usize_of(gap_end - start)));
            at = gap_end;
        }
        self.remember(start);
        duplicate
    }

    /// Puts a piece that overlaps no island in front of the island at `index`.
    fn place(&mut self, index: usize, start: u64, piece: Bytes) {
        let end = start + piece.len() as u64;
        self.pieces += 1;
        let touches_next = self.islands.get(index).is_some_and(|next| next.start == end);
        if let Some(before) = index.checked_sub(1)
            && self.islands[before].end == start
        {
            self.islands[before].pieces.push_back(piece);
            self.islands[before].end = end;
            if touches_next && let Some(mut next) = self.islands.remove(index) {
                self.islands[before].end = next.end;
                self.islands[before].pieces.append(&mut next.pieces);
            }
        } else if touches_next {
            self.islands[index].pieces.push_front(piece);
            self.islands[index].start = start;
        } else {
            let mut pieces = core::mem::take(&mut self.spare);
            pieces.push_back(piece);
            self.islands.insert(index, Island { start, end, pieces });
        }
    }

    /// Puts the pieces of the first island behind what is `ready` if it starts at `nxt`, and returns where it ends.
    pub(crate) fn take_from(&mut self, nxt: u64, ready: &mut Line<Bytes>) -> Option<u64> {
        if self.islands.front()?.start != nxt {
            return None;
        }
        let Island { end, mut pieces, .. } = self.islands.pop_front()?;
        self.pieces -= pieces.len();
        self.recall(|other| other.end != end, None);
        ready.append(&mut pieces);
        if pieces.capacity() <= Self::SPARE {
            self.spare = pieces;
        }
        Some(end)
    }

    /// The islands to report, the one that changed last first.
    //= https://www.rfc-editor.org/rfc/rfc2018#section-4
    //# The first SACK block (i.e., the one immediately following the
    //# kind and length fields in the option) MUST specify the contiguous
    //# block of data containing the segment which triggered this ACK,
    pub(crate) const fn recent(&self) -> &[Option<Range>] {
        &self.recent
    }

    /// Index of the first island that ends after `offset`. Most segments belong to the last one, or behind it.
    fn index_after(&self, offset: u64) -> usize {
        let Some(last) = self.islands.len().checked_sub(1) else { return 0 };
        if self.islands[last].end <= offset {
            last + 1
        } else if self.islands[last].start <= offset {
            last
        } else {
            self.islands.partition_point(|island| island.end <= offset)
        }
    }

    /// Puts the island at `offset` first, and forgets those that it has taken in.
    fn remember(&mut self, offset: u64) {
        if let Some(&Island { start, end, .. }) = self.islands.get(self.index_after(offset))
            && start <= offset
        {
            self.recall(|other| other.start < start || end < other.end, Some(Range { start, end }));
        }
    }

    /// Remembers the islands for which `holds`, in their order, behind another one.
    fn recall(&mut self, holds: impl Fn(&Range) -> bool, newest: Option<Range>) {
        let mut recent = [None; Self::REMEMBERED];
        let others = self.recent.into_iter().flatten().filter(holds);
        for (slot, island) in recent.iter_mut().zip(newest.into_iter().chain(others)) {
            *slot = Some(island);
        }
        self.recent = recent;
    }
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).expect("a position within memory")
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(len: usize) -> Bytes {
        Bytes::from(vec![7; len])
    }

    fn reported(reassembly: &Reassembly) -> Vec<(u64, u64)> {
        reassembly.recent().iter().flatten().map(|block| (block.start, block.end)).collect()
    }

    #[test]
    fn rfc_2018_section_7_case_2_and_3_blocks() {
        // The first of eight segments of 500 bytes is lost.
        let mut reassembly = Reassembly::default();
        for segment in 1..8_u64 {
            reassembly.insert(segment * 500, &mut bytes(500));
            assert_eq!(reported(&reassembly), [(500, 500 * (segment + 1))]);
        }
        // The first, third, fifth and seventh are lost.
        let mut reassembly = Reassembly::default();
        for segment in [1, 3, 5, 7_u64] {
            reassembly.insert(segment * 500, &mut bytes(500));
        }
        assert_eq!(reported(&reassembly), [(3_500, 4_000), (2_500, 3_000), (1_500, 2_000), (500, 1_000)]);
        // The third arrives, and joins the second and fourth.
        reassembly.insert(1_000, &mut bytes(500));
        assert_eq!(reported(&reassembly), [(500, 2_000), (3_500, 4_000), (2_500, 3_000)]);
        let mut ready = Line::default();
        assert_eq!(reassembly.take_from(0, &mut ready), None);
        assert_eq!(reassembly.take_from(500, &mut ready), Some(2_000));
        assert_eq!(core::iter::from_fn(|| ready.pop()).count(), 3);
        assert_eq!(reported(&reassembly), [(3_500, 4_000), (2_500, 3_000)]);
    }

    #[test]
    fn the_block_that_changed_last_comes_first() {
        let mut reassembly = Reassembly::default();
        for start in [10, 30, 50, 70, 90, 31] {
            reassembly.insert(start, &mut bytes(5));
        }
        assert_eq!(reported(&reassembly), [(30, 36), (90, 95), (70, 75), (50, 55)]);
    }

    #[test]
    fn no_more_pieces_are_held_than_the_limit_and_what_is_taken_makes_room() {
        let mut reassembly = Reassembly::default();
        for at in 0..Reassembly::MAX_PIECES as u64 {
            reassembly.insert(at, &mut bytes(1));
        }
        let end = Reassembly::MAX_PIECES as u64;
        reassembly.insert(end, &mut bytes(1));
        reassembly.insert(end + 10, &mut bytes(1));
        assert_eq!(reported(&reassembly), [(0, end)]);
        assert_eq!(reassembly.take_from(0, &mut Line::default()), Some(end));
        for at in 0..10 {
            reassembly.insert(end + 10 + 2 * at, &mut bytes(1));
        }
        assert_eq!((reassembly.pieces, reassembly.islands.len()), (10, 10));
        assert_eq!(reassembly.take_from(end + 10, &mut Line::default()), Some(end + 11));
        assert_eq!(reassembly.pieces, 9);
    }

    proptest! {
        #[test]
        fn pieces_in_any_order_and_overlap_give_the_stream(
            mut cuts in proptest::collection::vec((0_usize..200, 1_usize..40), 1..40),
        ) {
            let stream: Vec<u8> = (0..240).collect();
            let mut reassembly = Reassembly::default();
            let mut is_held = [false; 240];
            cuts.push((0, 1));
            for (start, len) in cuts {
                reassembly.insert(start as u64, &mut Bytes::copy_from_slice(&stream[start..start + len]));
                is_held[start..start + len].fill(true);
                let newest = reassembly.recent()[0].unwrap();
                prop_assert!((newest.start..newest.end).contains(&(start as u64)));
                for block in reassembly.recent().iter().flatten() {
                    let (from, to) = (block.start as usize, block.end as usize);
                    prop_assert!(is_held[from..to].iter().all(|held| *held) && !is_held[to]);
                    prop_assert!(from == 0 || !is_held[from - 1]);
                }
            }
            let mut ready = Line::default();
            let end = reassembly.take_from(0, &mut ready).unwrap() as usize;
            let joined: Vec<u8> = core::iter::from_fn(|| ready.pop()).flatten().collect();
            prop_assert_eq!(&joined[..], &stream[..end]);
            prop_assert!(!is_held[end]);
        }
    }
}
