//! Buffers for packets that leave as contiguous bytes, used again once nobody holds a piece of what was in them.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::Packet;

/// Makes packets contiguous without an allocation for each, as long as what was made earlier is dropped again. No two
/// packets share a buffer.
///
/// Whoever keeps a piece of a packet keeps all of its buffer. So buffers have lengths, and a packet goes into one that
/// is at most half as long again, or 128 bytes; one that is longer than all lengths, into one at most twice as long.
#[derive(Debug)]
pub struct PacketBuffers {
    /// Of each of the [`LENGTHS`], the one that was used longest ago first. Those for packets that are longer than all
    /// of these are among the last. Empty before the first use.
    buffers: Vec<VecDeque<Bytes>>,
    most: usize,
}

/// The lengths of buffers in bytes, up to what a packet of an Ethernet takes. A message whose length is a power of two
/// has room for its headers beside it: in buffers of powers of two, thousands of such packets would take twice as much
/// of a cache.
const LENGTHS: [usize; 9] = [128, 192, 288, 384, 576, 768, 1_152, 1_536, 2_048];

impl Default for PacketBuffers {
    /// As many buffers of each length as of the longest carry 256 KiB at a time.
    fn default() -> Self {
        Self::new(128)
    }
}

impl Clone for PacketBuffers {
    /// Buffers are not shared: the clone has none.
    fn clone(&self) -> Self {
        Self::new(self.most)
    }
}

impl PacketBuffers {
    /// Keeps at most `most` buffers of a length, which is how many packets of about the same length may be held at a
    /// time before each costs an allocation.
    ///
    /// # Panics
    /// If that is none.
    pub fn new(most: usize) -> Self {
        assert!(most > 0, "there is a buffer");
        Self { buffers: Vec::new(), most }
    }

    /// The packet's bytes in one piece: its tail itself if that holds them all, else a copy.
    pub fn contiguous(&mut self, packet: &Packet) -> Bytes {
        match packet.padding() {
            0 if packet.head().is_empty() => packet.tail().clone(),
            0 => self.copied([packet.head(), packet.tail()]),
            padding => self.copied([packet.head(), packet.tail(), &[0; 3][..usize::from(padding)]]),
        }
    }

    /// The concatenation of `parts`.
    #[inline]
    pub fn copied<const N: usize>(&mut self, parts: [&[u8]; N]) -> Bytes {
        let len = parts.iter().map(|part| part.len()).sum();
        let place = LENGTHS.iter().position(|length| len <= *length).unwrap_or(LENGTHS.len() - 1);
        let length = LENGTHS[place].max(len);
        if self.buffers.is_empty() {
            self.buffers.resize(LENGTHS.len(), VecDeque::new());
        }
        let buffers = &mut self.buffers[place];
        let mut buffer = take(buffers, length, self.most);
        for part in parts {
            buffer.extend_from_slice(part);
        }
        let bytes = buffer.freeze();
        buffers.push_back(bytes.clone());
        bytes
    }

    /// Tells whether it keeps no buffer.
    pub const fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Keeps none of the buffers any longer.
    pub fn clear(&mut self) {
        self.buffers = Vec::new();
    }
}

/// An empty buffer of at least `length` bytes, one of `buffers`, of which there are `most`.
fn take(buffers: &mut VecDeque<Bytes>, length: usize, most: usize) -> BytesMut {
    // What is looked at in vain is looked at again when all others have been used: so a buffer that is held for good
    // costs its place, and not that of another.
    for _ in 0..2 {
        let Some(oldest) = buffers.pop_front() else { break };
        match oldest.try_into_mut() {
            // One that carried a packet longer than all lengths may be too short for another, or far too long.
            Ok(mut buffer) if (length..=2 * length).contains(&buffer.capacity()) => {
                buffer.clear();
                return buffer;
            }
            Ok(_) => {}
            Err(held) => buffers.push_back(held),
        }
    }
    if buffers.len() >= most {
        buffers.pop_back();
    }
    let mut buffer = BytesMut::with_capacity(length);
    // From now on it counts who holds it, and does not have to begin to.
    drop(buffer.split_to(0));
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checksum;
    use proptest::prelude::*;

    fn kept(buffers: &PacketBuffers) -> usize {
        buffers.buffers.iter().map(VecDeque::len).sum()
    }

    fn packet(mark: u8, tail_len: usize) -> Packet {
        Packet::with_tail(&[mark; 28], Bytes::from(vec![mark; tail_len]), 1, Checksum::Complete)
    }

    #[test]
    fn a_buffer_is_used_again_once_its_packet_is_dropped() {
        let mut buffers = PacketBuffers::new(8);
        let place = buffers.contiguous(&packet(1, 1_999)).as_ptr();
        for mark in 2..100 {
            let bytes = buffers.contiguous(&packet(mark, 1_999));
            assert_eq!((bytes.as_ptr(), bytes.len()), (place, 2_028));
            assert_eq!(kept(&buffers), 1, "one for {mark} packets");
        }
    }

    #[test]
    fn a_buffer_of_which_a_piece_is_held_is_left_alone() {
        let mut buffers = PacketBuffers::new(8);
        let piece = buffers.contiguous(&packet(1, 1_999)).slice(1_000..1_010);
        for mark in 2..100 {
            assert_eq!(buffers.contiguous(&packet(mark, 1_999)), packet(mark, 1_999).contiguous());
        }
        assert_eq!(piece[..], [1; 10]);
        assert_eq!(kept(&buffers), 2);
    }

    #[test]
    fn no_more_buffers_are_kept_than_were_asked_for() {
        let mut buffers = PacketBuffers::new(3);
        let held: Vec<_> = (0..10).map(|mark| buffers.contiguous(&packet(mark, 1_999))).collect();
        assert_eq!(kept(&buffers), 3);
        for (mark, bytes) in (0..).zip(&held) {
            assert_eq!(*bytes, packet(mark, 1_999).contiguous());
        }
    }

    #[test]
    fn the_buffer_of_a_very_long_packet_is_not_used_for_one_of_less_than_half() {
        let mut buffers = PacketBuffers::new(8);
        let place = buffers.contiguous(&packet(1, 8_999)).as_ptr();
        assert_eq!(buffers.contiguous(&packet(2, 4_499)).as_ptr(), place);
        let short = buffers.contiguous(&packet(3, 1_999));
        assert_eq!(kept(&buffers), 1);
        drop(buffers);
        assert_eq!(short.try_into_mut().map(|buffer| buffer.capacity()), Ok(2_048));
    }

    #[test]
    fn a_buffer_is_at_most_half_as_long_again_as_its_packet_or_128_bytes() {
        let mut buffers = PacketBuffers::new(8);
        let lens = [29, 128, 129, 193, 289, 385, 577, 769, 1_153, 1_537, 2_049];
        let held = lens.map(|len| buffers.contiguous(&packet(1, len - 29)));
        drop(buffers);
        let capacities = held.map(|bytes| bytes.try_into_mut().map(|buffer| buffer.capacity()));
        let expected = [128, 128, 192, 288, 384, 576, 768, 1_152, 1_536, 2_048, 2_049];
        assert_eq!(capacities, expected.map(Ok));
    }

    #[test]
    fn packets_of_one_length_leave_the_buffers_of_another_alone() {
        let mut buffers = PacketBuffers::new(1);
        let places = [72, 1_400].map(|len| buffers.contiguous(&packet(1, len)).as_ptr());
        for mark in 2..10 {
            assert_eq!([72, 1_400].map(|len| buffers.contiguous(&packet(mark, len)).as_ptr()), places);
        }
        assert_eq!(kept(&buffers), 2);
    }

    #[test]
    fn what_is_contiguous_is_not_copied() {
        let bytes = Bytes::from(vec![7; 100]);
        let packet = Packet::shared(bytes.clone(), Checksum::Complete);
        assert_eq!(PacketBuffers::new(1).contiguous(&packet).as_ptr(), bytes.as_ptr());
    }

    proptest! {
        #[test]
        fn whatever_is_held_keeps_its_bytes(
            steps in proptest::collection::vec((0_usize..5_000, 0_usize..6), 1..60),
        ) {
            let mut buffers = PacketBuffers::new(4);
            let mut held: VecDeque<(Bytes, Bytes)> = VecDeque::new();
            for (mark, (tail_len, kept)) in (0..).zip(steps) {
                let packet = packet(mark, tail_len);
                held.push_back((buffers.contiguous(&packet), packet.contiguous()));
                while held.len() > kept {
                    held.pop_front();
                }
                for (bytes, expected) in &held {
                    prop_assert_eq!(bytes, expected);
                }
                prop_assert!(buffers.buffers.iter().all(|buffers| buffers.len() <= 4));
            }
        }
    }
}
