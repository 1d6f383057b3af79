//! Contents of the receive buffer, and the cost of keeping them.

use bytes::Bytes;

/// Payload that is kept, and in how many pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Payload, in bytes.
    pub(crate) payload: u64,
    /// Allocations that hold it: fragments, or messages.
    pub(crate) pieces: u64,
}

impl Held {
    /// Cost of a piece besides its payload, in bytes: a run with its queue in a tree whose nodes are half full, and the
    /// allocation of a short payload.
    pub(crate) const OVERHEAD: u64 = 320;

    /// Cost of all of it, in bytes.
    pub(crate) const fn size(self) -> u64 {
        self.payload + Self::OVERHEAD * self.pieces
    }

    /// Takes in a piece of `len` bytes.
    pub(crate) const fn add(&mut self, len: usize) {
        self.payload += len as u64;
        self.pieces += 1;
    }

    /// Gives back `pieces` pieces of `len` bytes together.
    pub(crate) const fn release(&mut self, len: usize, pieces: usize) {
        self.payload -= len as u64;
        self.pieces -= pieces as u64;
    }
}

impl core::ops::Add for Held {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { payload: self.payload + other.payload, pieces: self.pieces + other.pieces }
    }
}

/// Payload that is to be kept, from a packet of `packet_len` bytes: a copy if it is the lesser part of the packet, all
/// of which a slice would keep.
pub(crate) fn to_keep(payload: Bytes, packet_len: usize) -> Bytes {
    if 2 * payload.len() < packet_len { Bytes::copy_from_slice(&payload) } else { payload }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_part_of_a_packet_is_copied_and_the_greater_is_not() {
        let packet = Bytes::from(vec![0; 1_000]);
        for (len, is_copied) in [(1, true), (499, true), (500, false), (1_000, false)] {
            let kept = to_keep(packet.slice(..len), packet.len());
            assert_eq!(kept.as_ptr() != packet.as_ptr(), is_copied, "{len} bytes of 1,000");
            assert_eq!(kept.len(), len);
        }
    }
}
