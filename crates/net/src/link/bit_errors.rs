//! Bit errors: which bits of which packets are flipped.

use std::collections::VecDeque;

use slantpath_base::{Probability, Stream};

use crate::parcel::PacketId;

/// Independent bit errors. Not each bit is drawn, but the distance from one error to the next, which has a
/// geometric distribution: a packet without an error costs one subtraction, and the position of each error is
/// exact.
#[derive(Clone, Debug)]
pub(crate) struct BitErrors {
    probability: Probability,
    stream: Stream,
    /// Number of good bits that come before the next error.
    good_bits: u64,
}

impl BitErrors {
    pub(crate) fn new(probability: Probability, stream: Stream) -> Self {
        let mut errors = Self { probability, stream, good_bits: 0 };
        errors.set_probability(probability);
        errors
    }

    pub(crate) const fn probability(&self) -> Probability {
        self.probability
    }

    /// The distance to the next error has no memory, so that it may be drawn anew at any bit.
    pub(crate) fn set_probability(&mut self, probability: Probability) {
        self.probability = probability;
        self.good_bits = self.stream.failures_before(probability);
    }

    /// Sends `bits` of a packet over the channel, the first of which is its bit `first`; returns whether one was
    /// flipped.
    #[inline]
    pub(crate) fn pass(&mut self, packet: PacketId, first: u64, bits: u64, flips: &mut Flips) -> bool {
        if self.good_bits >= bits {
            // A channel without errors has good bits for ever.
            self.good_bits -= if self.good_bits == u64::MAX { 0 } else { bits };
            return false;
        }
        self.note_errors(packet, first, bits, flips);
        true
    }

    #[cold]
    fn note_errors(&mut self, packet: PacketId, first: u64, bits: u64, flips: &mut Flips) {
        let mut bit = self.good_bits;
        while bit < bits {
            flips.note(packet, first + bit);
            bit = (bit + 1).saturating_add(self.stream.failures_before(self.probability));
        }
        self.good_bits = bit - bits;
    }
}

/// The flipped bits of the packets under way, by packet in the order of sending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flips(VecDeque<(PacketId, u64)>);

impl Flips {
    fn note(&mut self, packet: PacketId, bit: u64) {
        self.0.push_back((packet, bit));
    }

    /// Takes back what was noted for a packet whose fate is to be decided anew.
    pub(crate) fn forget(&mut self, packet: PacketId) {
        self.0.retain(|&(noted, _)| noted != packet);
    }

    /// Flips the bits in `bytes` that were noted for `packet`, each once however many errors have met it: a packet that
    /// is damaged differs from what was sent.
    pub(crate) fn damage(&mut self, packet: PacketId, bytes: &mut [u8]) {
        let mut bits: Vec<u64> =
            self.0.iter().filter(|(noted, _)| *noted == packet).map(|&(_, bit)| bit).collect();
        self.forget(packet);
        bits.sort_unstable();
        bits.dedup();
        for bit in bits {
            let place = usize::try_from(bit / 8).expect("a bit within a packet");
            bytes[place] ^= 0x80 >> (bit % 8);
        }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::PacketStore;
    use slantpath_base::Seed;
    use slantpath_wire::{Checksum, Packet};

    fn packet() -> PacketId {
        PacketStore::default().insert(Packet::copied(&[], Checksum::Complete))
    }

    fn errors(probability: f64) -> BitErrors {
        BitErrors::new(Probability::new(probability).unwrap(), Seed::new(1, 0).stream("bit_errors"))
    }

    #[test]
    fn bits_are_flipped_as_often_as_their_probability_says() {
        let (probability, packets, length) = (1e-3, 2_000_u32, 500_u32);
        let mut errors = errors(probability);
        let (mut damaged, mut flipped) = (0_u32, 0_u32);
        let mut flips = Flips::default();
        for _ in 0..packets {
            let mut bytes = vec![0; 500];
            damaged += u32::from(errors.pass(packet(), 0, u64::from(length) * 8, &mut flips));
            flips.damage(packet(), &mut bytes);
            flipped += bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
        assert!(flips.is_empty());
        // Binomial counts, inside four standard deviations.
        let bits = f64::from(packets * length * 8);
        let deviation = (bits * probability * (1.0 - probability)).sqrt();
        assert!((f64::from(flipped) - bits * probability).abs() < 4.0 * deviation, "{flipped} bits");
        let of_any = Probability::new(probability).unwrap().of_any(4_000).as_f64();
        let deviation = (f64::from(packets) * of_any * (1.0 - of_any)).sqrt();
        assert!(
            (f64::from(damaged) - f64::from(packets) * of_any).abs() < 4.0 * deviation,
            "{damaged} packets"
        );
    }

    #[test]
    fn extreme_probabilities_flip_every_bit_or_none() {
        let mut bytes = [0; 3];
        let mut flips = Flips::default();
        let mut all = errors(1.0);
        assert!(all.pass(packet(), 0, 24, &mut flips));
        flips.damage(packet(), &mut bytes);
        assert_eq!(bytes, [0xff; 3]);
        let mut none = errors(0.0);
        assert!((0..1_000).all(|_| !none.pass(packet(), 0, 524_280, &mut flips)));
        assert_eq!(none.good_bits, u64::MAX);
        let mut rare = errors(f64::MIN_POSITIVE);
        assert!((0..1_000).all(|_| !rare.pass(packet(), 0, 524_280, &mut flips)));
    }

    #[test]
    fn a_bit_that_two_errors_meet_is_flipped_all_the_same() {
        let mut bytes = [0; 2];
        let mut flips = Flips::default();
        let (mut one, mut other) = (errors(1.0), errors(1.0));
        assert!(one.pass(packet(), 0, 12, &mut flips));
        assert!(other.pass(packet(), 8, 8, &mut flips));
        flips.damage(packet(), &mut bytes);
        assert_eq!(bytes, [0xff; 2]);
    }
}
