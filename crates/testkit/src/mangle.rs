//! Damage to objects on a wire.

use slantpath_wire::{Checksum, Packet};

/// Something with bits that a wire may flip and copies that it may make.
pub trait Mangle: Clone {
    /// Number of bits that it has.
    fn bits(&self) -> u64;

    /// Flips one of them, counted from the first bit on the wire.
    fn flip(&mut self, bit: u64);
}

impl Mangle for Vec<u8> {
    fn bits(&self) -> u64 {
        self.len() as u64 * 8
    }

    fn flip(&mut self, bit: u64) {
        let byte = usize::try_from(bit / 8).expect("a bit within the packet");
        self[byte] ^= 0x80 >> (bit % 8);
    }
}

/// A flipped packet claims that its checksums are complete, so that its receiver verifies them. Tests of
/// damage let their senders fill checksums in.
impl Mangle for Packet {
    fn bits(&self) -> u64 {
        self.len() as u64 * 8
    }

    fn flip(&mut self, bit: u64) {
        let mut bytes = self.contiguous().to_vec();
        bytes.flip(bit);
        *self = Self::shared(bytes.into(), Checksum::Complete);
    }
}

/// Something with a label, such as its addresses, that stays whole.
impl<L: Clone, T: Mangle> Mangle for (L, T) {
    fn bits(&self) -> u64 {
        self.1.bits()
    }

    fn flip(&mut self, bit: u64) {
        self.1.flip(bit);
    }
}
