//! Impairments: what the way from the transmitter to the far end does to a packet.
//!
//! Each kind draws from a stream of its own, named after the direction, and only while it is switched on.

use std::collections::VecDeque;

use slantpath_base::{Duration, Probability, Seed, Stream};

use crate::link::config::{DirectionConfig, Reordering};
use crate::parcel::{Fate, PacketId, Parcel};

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    loss: Probability,
    loss_stream: Stream,
    bit_errors: BitErrors,
    duplication: Probability,
    duplication_stream: Stream,
    reordering: Reordering,
    reordering_stream: Stream,
}

impl Channel {
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let stream = |kind: &str| seed.stream(&format!("{path}/{kind}"));
        Self {
            loss: config.loss,
            loss_stream: stream("loss"),
            bit_errors: BitErrors::new(config.bit_errors, stream("bit_errors")),
            duplication: config.duplication,
            duplication_stream: stream("duplication"),
            reordering: config.reordering,
            reordering_stream: stream("reordering"),
        }
    }

    /// Whether it does nothing to any packet.
    pub(crate) fn is_clean(&self) -> bool {
        let chances = [self.loss, self.bit_errors.probability, self.duplication, self.reordering.probability];
        chances.into_iter().all(Probability::is_never)
    }

    /// Decides what becomes of a packet. Every bit of it passes the channel, also if the packet is lost.
    #[inline]
    pub(crate) fn fate(&mut self, parcel: Parcel) -> Fate {
        let is_damaged = self.bit_errors.pass(parcel);
        if !self.loss.is_never() && self.loss_stream.happens(self.loss) {
            if is_damaged {
                self.bit_errors.forget(parcel.packet());
            }
            return Fate::Lost;
        }
        if is_damaged { Fate::Damaged } else { Fate::Arrives }
    }

    #[inline]
    pub(crate) fn duplicates(&mut self) -> bool {
        !self.duplication.is_never() && self.duplication_stream.happens(self.duplication)
    }

    #[inline]
    pub(crate) fn extra_delay(&mut self) -> Duration {
        let Reordering { probability, extra_delay_max } = self.reordering;
        if probability.is_never() || !self.reordering_stream.happens(probability) {
            return Duration::ZERO;
        }
        self.reordering_stream.duration_between(Duration::ZERO, extra_delay_max)
    }

    pub(crate) fn set_loss(&mut self, loss: Probability) {
        self.loss = loss;
    }

    pub(crate) fn set_bit_errors(&mut self, bit_errors: Probability) {
        self.bit_errors.set_probability(bit_errors);
    }

    pub(crate) fn set_duplication(&mut self, duplication: Probability) {
        self.duplication = duplication;
    }

    pub(crate) fn set_reordering(&mut self, reordering: Reordering) {
        self.reordering = reordering;
    }

    /// Takes back what was noted for a packet whose fate is to be decided anew.
    pub(crate) fn forget(&mut self, packet: PacketId) {
        self.bit_errors.forget(packet);
    }

    /// Flips the bits in `bytes` that were noted for `packet`.
    pub(crate) fn damage(&mut self, packet: PacketId, bytes: &mut [u8]) {
        self.bit_errors.damage(packet, bytes);
    }
}

/// Independent bit errors. Not each bit is drawn, but the distance from one error to the next, which has a
/// geometric distribution: a packet without an error costs one subtraction, and the position of each error is
/// exact.
#[derive(Clone, Debug)]
struct BitErrors {
    probability: Probability,
    stream: Stream,
    /// How many good bits come before the next error.
    good_bits: u64,
    /// The flipped bits of the packets under way, by packet in the order of sending.
    noted: VecDeque<(PacketId, u64)>,
}

impl BitErrors {
    fn new(probability: Probability, stream: Stream) -> Self {
        let mut errors = Self { probability, stream, good_bits: 0, noted: VecDeque::new() };
        errors.set_probability(probability);
        errors
    }

    /// The distance to the next error has no memory, so that it may be drawn anew at any bit.
    fn set_probability(&mut self, probability: Probability) {
        self.probability = probability;
        self.good_bits = self.stream.failures_before(probability);
    }

    /// Sends a packet's bits over the channel; returns whether one was flipped.
    #[inline]
    fn pass(&mut self, parcel: Parcel) -> bool {
        let bits = u64::from(parcel.length()) * 8;
        if self.good_bits >= bits {
            // A channel without errors has good bits for ever.
            self.good_bits -= if self.good_bits == u64::MAX { 0 } else { bits };
            return false;
        }
        self.note_errors(parcel.packet(), bits);
        true
    }

    #[cold]
    fn note_errors(&mut self, packet: PacketId, bits: u64) {
        let mut bit = self.good_bits;
        while bit < bits {
            self.noted.push_back((packet, bit));
            bit = (bit + 1).saturating_add(self.stream.failures_before(self.probability));
        }
        self.good_bits = bit - bits;
    }

    fn forget(&mut self, packet: PacketId) {
        self.noted.retain(|&(noted, _)| noted != packet);
    }

    fn damage(&mut self, packet: PacketId, bytes: &mut [u8]) {
        self.noted.retain(|&(noted, bit)| {
            if noted == packet {
                let place = usize::try_from(bit / 8).expect("a bit within a packet");
                bytes[place] ^= 0x80 >> (bit % 8);
            }
            noted != packet
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parcel::{DestinationId, PacketStore};
    use slantpath_wire::{Checksum, Packet};

    fn parcel(length: u32) -> Parcel {
        let packet = PacketStore::default().insert(Packet::copied(&[], Checksum::Complete));
        Parcel::new(packet, DestinationId(0), length, 64, 0)
    }

    fn errors(probability: f64) -> BitErrors {
        BitErrors::new(Probability::new(probability).unwrap(), Seed::new(1, 0).stream("bit_errors"))
    }

    #[test]
    fn bits_are_flipped_as_often_as_their_probability_says() {
        let (probability, packets, length) = (1e-3, 2_000_u32, 500_u32);
        let mut errors = errors(probability);
        let (mut damaged, mut flipped) = (0_u32, 0_u32);
        for _ in 0..packets {
            let mut bytes = vec![0; 500];
            damaged += u32::from(errors.pass(parcel(length)));
            errors.damage(parcel(length).packet(), &mut bytes);
            flipped += bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
        assert!(errors.noted.is_empty());
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
        let mut all = errors(1.0);
        assert!(all.pass(parcel(3)));
        all.damage(parcel(3).packet(), &mut bytes);
        assert_eq!(bytes, [0xff; 3]);
        let mut none = errors(0.0);
        assert!((0..1_000).all(|_| !none.pass(parcel(65_535))));
        assert_eq!(none.good_bits, u64::MAX);
        let mut rare = errors(f64::MIN_POSITIVE);
        assert!((0..1_000).all(|_| !rare.pass(parcel(65_535))));
    }
}
