//! Lengths of generated messages.

use slantpath_base::Stream;

/// Lengths of message signal units in octets on the line: flag, sequence numbers, length indicator, service
/// information, signalling information and check bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Lengths {
    /// All of one length; 60, 120 and 270 are usual.
    Fixed(usize),
    /// Several, each with its weight.
    Mix(Vec<(usize, f64)>),
    /// Length that the trace of arrivals gives for each message.
    Trace,
}

impl Lengths {
    /// The lengths of a real generator of ISUP calls: 5,265 messages, of which IAM 22 %, ACM 21 %, ANM 22 %, REL and
    /// RLC 35 %.
    pub fn isup_calls() -> Self {
        Self::Mix(vec![(15, 1_858.0), (17, 1_145.0), (19, 1_113.0), (37, 18.0), (38, 1_131.0)])
    }

    /// The mean in octets; 0 where a trace says them, which brings its own times.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Trace => 0.0,
            Self::Fixed(octets) => *octets as f64,
            Self::Mix(mix) => {
                let total: f64 = mix.iter().map(|(_, weight)| weight).sum();
                mix.iter().map(|(octets, weight)| *octets as f64 * weight).sum::<f64>() / total
            }
        }
    }

    /// Every length there may be, but for those of a trace.
    pub(super) fn all(&self) -> Vec<usize> {
        match self {
            Self::Fixed(octets) => vec![*octets],
            Self::Mix(mix) => mix.iter().map(|(octets, _)| *octets).collect(),
            Self::Trace => Vec::new(),
        }
    }

    /// Tells if every weight is a number from 0 on, and at least one is above it.
    pub(super) fn has_weights(&self) -> bool {
        match self {
            Self::Fixed(_) | Self::Trace => true,
            Self::Mix(mix) => {
                mix.iter().all(|(_, weight)| weight.is_finite() && *weight >= 0.0)
                    && mix.iter().any(|(_, weight)| *weight > 0.0)
            }
        }
    }

    /// The length of the next message, of which a trace may say one.
    pub(super) fn draw(&self, stream: &mut Stream, traced: Option<usize>) -> usize {
        match self {
            Self::Fixed(octets) => *octets,
            Self::Trace => traced.unwrap_or_default(),
            Self::Mix(mix) => {
                let total: f64 = mix.iter().map(|(_, weight)| weight).sum();
                let mut left = stream.uniform() * total;
                let chosen = mix.iter().find(|(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                chosen.or(mix.last()).map_or(0, |(octets, _)| *octets)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    #[test]
    fn draws_have_the_mean_of_the_mix() {
        let lengths = Lengths::isup_calls();
        let mut stream = Seed::new(1, 0).stream("lengths");
        let mean = (0..100_000).map(|_| lengths.draw(&mut stream, None) as f64).sum::<f64>() / 100_000.0;
        // The standard error is 0.03.
        assert!((mean - lengths.mean()).abs() < 0.1, "{mean} beside {}", lengths.mean());
    }
}
