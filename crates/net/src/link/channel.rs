//! Impairments: what the way from the transmitter to the far end does to a packet.
//!
//! Each kind draws from a stream of its own, named after the direction, and only while it is switched on.

use slantpath_base::{Duration, Instant, Probability, Seed, Stream};

use crate::link::bit_errors::{BitErrors, Flips};
use crate::link::bursts::{Bursts, GilbertElliott};
use crate::link::reordering::Reordering;
use crate::link::service::Transmission;
use crate::parcel::{Fate, PacketId, Parcel};

/// Settings of a channel at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelConfig {
    /// The chance of each packet to vanish.
    pub(crate) loss: Probability,
    /// The chance of each bit to be flipped.
    pub(crate) bit_errors: Probability,
    /// Loss and bit errors in bursts, beside those.
    pub(crate) bursts: Option<GilbertElliott>,
    /// The chance of each packet that arrives to arrive twice.
    pub(crate) duplication: Probability,
    /// Extra delay of some packets.
    pub(crate) reordering: Reordering,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    loss: Probability,
    loss_stream: Stream,
    bit_errors: BitErrors,
    /// If errors come in bursts, too.
    bursts: Option<Box<Bursts>>,
    flips: Flips,
    duplication: Probability,
    duplication_stream: Stream,
    reordering: Reordering,
    reordering_stream: Stream,
}

impl Channel {
    pub(crate) fn new(config: ChannelConfig, seed: Seed, path: &str) -> Self {
        let stream = |kind: &str| seed.stream(&format!("{path}/{kind}"));
        Self {
            loss: config.loss,
            loss_stream: stream("loss"),
            bit_errors: BitErrors::new(config.bit_errors, stream("bit_errors")),
            bursts: config.bursts.map(|bursts| Box::new(Bursts::new(bursts, seed, path))),
            flips: Flips::default(),
            duplication: config.duplication,
            duplication_stream: stream("duplication"),
            reordering: config.reordering,
            reordering_stream: stream("reordering"),
        }
    }

    /// Tells if the channel does nothing to any packet.
    pub(crate) fn is_clean(&self) -> bool {
        let chances =
            [self.loss, self.bit_errors.probability(), self.duplication, self.reordering.probability];
        self.bursts.is_none() && chances.into_iter().all(Probability::is_never)
    }

    /// Tells if it loses every packet, or breaks every bit.
    pub(crate) fn loses_all(&self) -> bool {
        self.loss.is_always() || self.bit_errors.probability().is_always()
    }

    /// Decides what becomes of a packet. Every bit of it passes the channel, also if the packet is lost. No packet will
    /// ask for an instant before `settled`.
    #[inline]
    pub(crate) fn fate(&mut self, parcel: Parcel, transmission: Transmission, settled: Instant) -> Fate {
        let (packet, bits) = (parcel.packet(), u64::from(parcel.length()) * 8);
        let mut is_damaged = self.bit_errors.pass(packet, 0, bits, &mut self.flips);
        let mut is_lost = !self.loss.is_never() && self.loss_stream.happens(self.loss);
        if let Some(bursts) = &mut self.bursts {
            let hit = bursts.pass(packet, bits, transmission, settled, &mut self.flips);
            is_damaged |= hit.is_damaged;
            is_lost |= hit.is_lost;
        }
        match (is_lost, is_damaged) {
            (true, true) => {
                self.flips.forget(packet);
                Fate::Lost
            }
            (true, false) => Fate::Lost,
            (false, true) => Fate::Damaged,
            (false, false) => Fate::Arrives,
        }
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

    pub(crate) const fn loss(&self) -> Probability {
        self.loss
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
        self.flips.forget(packet);
    }

    /// Flips the bits in `bytes` that were noted for `packet`.
    pub(crate) fn damage(&mut self, packet: PacketId, bytes: &mut [u8]) {
        self.flips.damage(packet, bytes);
    }
}
