//! The bytes that the application wrote and the peer has not acknowledged, as the chunks they came in.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

#[derive(Debug)]
struct Chunk {
    /// Offset past its last byte.
    end: u64,
    bytes: Bytes,
}

impl Chunk {
    fn start(&self) -> u64 {
        self.end - self.bytes.len() as u64
    }
}

/// The send stream. Offsets count bytes since the start of the connection's stream.
#[derive(Debug, Default)]
// In this order in memory: a receiver asks for the end, too.
#[repr(C)]
pub(crate) struct SendStream {
    end: u64,
    acknowledged: u64,
    chunks: VecDeque<Chunk>,
    /// Index of the chunk from which the last cut was made: the next one nearly always follows it.
    cursor: usize,
}

impl SendStream {
    /// Appends a chunk, uncopied.
    pub(crate) fn write(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.end += bytes.len() as u64;
        self.chunks.push_back(Chunk { end: self.end, bytes });
    }

    /// Offset past the last byte written.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are held.
    pub(crate) const fn held(&self) -> u64 {
        self.end - self.acknowledged
    }

    /// Lets go of everything before `offset`.
    pub(crate) fn release(&mut self, offset: u64) {
        self.acknowledged = self.acknowledged.max(offset.min(self.end));
        while self.chunks.front().is_some_and(|chunk| chunk.end <= offset) {
            self.chunks.pop_front();
            self.cursor = self.cursor.saturating_sub(1);
        }
    }

    /// The bytes from `start` up to `end`: a slice of one chunk, or a copy where they cross chunks.
    ///
    /// # Panics
    /// If they are not all held.
    #[inline]
    pub(crate) fn slice(&mut self, start: u64, end: u64) -> Bytes {
        if start == end {
            return Bytes::new();
        }
        if let Some(chunk) = self.chunks.get(self.cursor)
            && chunk.start() <= start
            && end <= chunk.end
        {
            let from = usize_of(start - chunk.start());
            return chunk.bytes.slice(from..from + usize_of(end - start));
        }
        self.slice_elsewhere(start, end)
    }

    /// Variant of [`Self::slice`] where the chunk of the last cut does not hold all of it.
    #[inline(never)]
    fn slice_elsewhere(&mut self, start: u64, end: u64) -> Bytes {
        let holds = |chunk: &Chunk| chunk.start() <= start && start < chunk.end;
        if !self.chunks.get(self.cursor).is_some_and(holds) {
            self.cursor += 1;
            if !self.chunks.get(self.cursor).is_some_and(holds) {
                self.cursor = self.chunks.partition_point(|chunk| chunk.end <= start);
            }
        }
        let chunk = &self.chunks[self.cursor];
        let from = usize_of(start - chunk.start());
        if end <= chunk.end {
            return chunk.bytes.slice(from..from + usize_of(end - start));
        }
        let mut copy = BytesMut::with_capacity(usize_of(end - start));
        copy.extend_from_slice(&chunk.bytes[from..]);
        for chunk in self.chunks.range(self.cursor + 1..) {
            let wanted = usize_of(end - start) - copy.len();
            copy.extend_from_slice(&chunk.bytes[..wanted.min(chunk.bytes.len())]);
            if chunk.end >= end {
                break;
            }
        }
        copy.freeze()
    }
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).expect("a position within memory")
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_segment_within_a_chunk_is_not_copied_and_one_across_chunks_is() {
        let mut stream = SendStream::default();
        let first = Bytes::from(vec![1; 10]);
        stream.write(first.clone());
        stream.write(Bytes::from_static(&[2; 10]));
        assert_eq!(stream.slice(2, 9).as_ptr(), first[2..].as_ptr());
        assert_eq!(stream.slice(8, 13)[..], [1, 1, 2, 2, 2]);
        let second = Bytes::from(vec![3; 10]);
        stream.write(second.clone());
        assert_eq!(stream.slice(10, 20)[..], [2; 10]);
        assert_eq!(stream.slice(20, 30).as_ptr(), second.as_ptr(), "right behind the last cut");
        stream.release(10);
        assert_eq!((stream.held(), stream.slice(10, 20).len()), (20, 10));
    }

    proptest! {
        #[test]
        fn any_slice_is_that_of_the_joined_chunks(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 1..20),
            cuts in proptest::collection::vec((0.0..1.0, 0.0..1.0), 1..20),
        ) {
            let whole = chunks.concat();
            let mut stream = SendStream::default();
            for chunk in chunks {
                stream.write(chunk.into());
            }
            let mut released = 0;
            for (from, to) in cuts {
                let at = |part: f64| (part * (whole.len() - released) as f64) as usize + released;
                let (start, end) = (at(from).min(at(to)), at(from).max(at(to)));
                prop_assert_eq!(&stream.slice(start as u64, end as u64)[..], &whole[start..end]);
                released = (released + 1).min(start);
                stream.release(released as u64);
                prop_assert_eq!(stream.held(), (whole.len() - released) as u64);
            }
        }
    }
}
