//! Fate of packets on their way over a link: errors, and what the link itself does about them. Links of the network and
//! of a sky have the same keys.

use slantpath_base::Probability;
use slantpath_net::{DirectionConfig, SendingConfig};
use slantpath_reader::{Faults, Later, Nested, Place, Setting, Stage, Written, section};

use super::arq::Arq;
use super::gilbert_elliott::GilbertElliott;
use super::header_compression::HeaderCompression;

section! {
    /// Errors and repetitions that packets meet on their way.
    pub struct Channel<S> {
        /// Probability that a packet is lost. Never if absent.
        loss: Later<S, Setting<Probability>>;
        /// Probability that a bit arrives wrong. Never if absent.
        bit_error_rate: Later<S, Setting<Probability>>;
        /// Errors in bursts, beside those. None if absent.
        gilbert_elliott: Option<Nested<GilbertElliott>>;
        /// The link itself repeats what an error hits. It does not if absent.
        arq: Option<Nested<Arq>>;
        /// The link compresses headers. It does not if absent.
        header_compression: Option<Nested<HeaderCompression>>;
    }
}

impl Channel<Written> {
    /// Gives the values that one direction sets itself, or else those that are set for both, or the default.
    pub(crate) fn completed(&self, both: &Self, place: Place) -> Self {
        let never = Setting::default(Probability::NEVER, place).into();
        Self {
            loss: self.loss.or(both.loss).or(never),
            bit_error_rate: self.bit_error_rate.or(both.bit_error_rate).or(never),
            gilbert_elliott: self.gilbert_elliott.clone().or_else(|| both.gilbert_elliott.clone()),
            arq: self.arq.clone().or_else(|| both.arq.clone()),
            header_compression: self.header_compression.clone().or_else(|| both.header_compression.clone()),
        }
    }

    /// Tells whether it hands on packets with bits that have arrived wrong, which a link that repeats does not.
    pub(crate) fn flips_bits(&self) -> bool {
        let in_bursts = self.gilbert_elliott.as_ref().is_some_and(|bursts| {
            [&bursts.0.good.0, &bursts.0.bad.0].into_iter().any(|state| !state.bit_error_rate.is_never())
        });
        self.arq.is_none() && (in_bursts || self.bit_error_rate.is_some_and(|rate| !rate.is_never()))
    }
}

impl<S: Stage> Channel<S> {
    /// Reports what cannot be, or not together.
    pub(crate) fn check(&self, faults: &mut Faults) {
        if let Some(bursts) = &self.gilbert_elliott {
            bursts.0.check(faults);
        }
        if let Some(arq) = &self.arq {
            arq.0.check(faults);
        }
        if let Some(compression) = &self.header_compression {
            compression.0.check(faults);
            if self.arq.is_some() {
                compression.0.not_with_arq(faults);
            }
        }
    }

    /// Keys of its features that number packets: none is doubled, and none overtakes by chance.
    pub(crate) fn keeping_order(&self) -> impl Iterator<Item = &'static str> {
        let features =
            [("arq", self.arq.is_some()), ("header_compression", self.header_compression.is_some())];
        features.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key)
    }
}

impl Channel {
    /// Writes it down for `net`.
    pub(crate) fn configure(&self, config: &mut DirectionConfig) {
        config.loss = *self.loss;
        config.bit_errors = *self.bit_error_rate;
        config.bursts = self.gilbert_elliott.as_ref().map(|bursts| bursts.0.config());
        if let Some(arq) = &self.arq {
            config.sending = SendingConfig::Repeated(arq.0.config());
        } else if let Some(compression) = &self.header_compression {
            config.sending = SendingConfig::Compressed(compression.0.config());
        }
    }
}
