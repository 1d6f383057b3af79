//! Meters: how well a stream of packets keeps within its profile, told as one of three colours.
//!
//! Arithmetic over instants and lengths: nothing here knows a packet, a queue or a link.

use slantpath_base::{DataRate, DataSize, Duration, Instant, Stream};

/// Degree to which a packet keeps within the profile of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    /// Within what is committed.
    Green,
    /// Within what is excessive, or below the peak.
    Yellow,
    /// Beyond what is excessive, or above the peak.
    Red,
}

impl Colour {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];
}

/// Treatment by a meter of the colours that packets come with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMode {
    /// A packet gets no better colour than it came with: that of the drop precedence of its AF codepoint, and green if
    /// it has none.
    Aware,
    /// Every packet comes as if it were green.
    Blind,
}

/// A meter. Lengths are those of IP packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeterConfig {
    /// The single rate three colour marker (RFC 2697): two buckets of tokens that one rate fills, the second with what
    /// the first has no room for.
    SingleRate {
        /// CIR, which fills the buckets.
        committed: DataRate,
        /// CBS, the size of the bucket of green tokens.
        committed_burst: DataSize,
        /// EBS, the size of the bucket of yellow tokens.
        excess_burst: DataSize,
        /// Treatment of the colours that packets come with.
        mode: ColourMode,
    },
    /// The two rate three colour marker (RFC 2698): two buckets, each with a rate of its own.
    TwoRate {
        /// CIR, which fills the bucket of green tokens.
        committed: DataRate,
        /// CBS, its size.
        committed_burst: DataSize,
        /// PIR, which fills the bucket that every packet but red ones empties.
        peak: DataRate,
        /// PBS, its size.
        peak_burst: DataSize,
        /// Treatment of the colours that packets come with.
        mode: ColourMode,
    },
    /// The time sliding window three colour marker (RFC 2859): the average rate is estimated, and its parts beyond the
    /// two targets are spread over packets at random. With equal targets it is the two colour marker of D. Clark and
    /// W. Fang (Explicit Allocation of Best-Effort Packet Delivery Service, IEEE/ACM Transactions on Networking 6(4),
    /// 1998): no packet is yellow.
    TimeSlidingWindow {
        /// CTR, the committed target rate.
        committed: DataRate,
        /// PTR, the peak target rate; not below that.
        peak: DataRate,
        /// AVG_INTERVAL, the time over which the rate is averaged; not zero.
        window: Duration,
    },
}

/// A meter's state for one stream of packets.
#[derive(Clone, Debug)]
pub(crate) enum Meter {
    Buckets { green: Tokens, other: Tokens, filled_at: Instant },
    Window { bytes_per_sec: f64, front: Instant },
}

impl Meter {
    /// The state at the first packet of a stream.
    pub(crate) fn new(config: &MeterConfig, now: Instant) -> Self {
        match *config {
            //= https://www.rfc-editor.org/rfc/rfc2697#section-3
            //# The token buckets C and E are initially (at time 0) full, i.e., the
            //# token count Tc(0) = CBS and the token count Te(0) = EBS.
            MeterConfig::SingleRate { committed_burst, excess_burst, .. } => Self::Buckets {
                green: Tokens::full(committed_burst),
                other: Tokens::full(excess_burst),
                filled_at: now,
            },
            //= https://www.rfc-editor.org/rfc/rfc2698#section-3
            //# The token buckets P and C are initially (at time 0) full, i.e., the
            //# token count Tp(0) = PBS and the token count Tc(0) = CBS.
            MeterConfig::TwoRate { committed_burst, peak_burst, .. } => Self::Buckets {
                green: Tokens::full(committed_burst),
                other: Tokens::full(peak_burst),
                filled_at: now,
            },
            MeterConfig::TimeSlidingWindow { committed, .. } => {
                Self::Window { bytes_per_sec: bytes_per_sec(committed), front: now }
            }
        }
    }

    /// The colour of the next packet of the stream, `bytes` long, which came as `before`.
    pub(crate) fn colour(
        &mut self,
        config: &MeterConfig,
        now: Instant,
        bytes: u32,
        before: Colour,
        stream: &mut Stream,
    ) -> Colour {
        match (self, *config) {
            (
                Self::Buckets { green, other, filled_at },
                MeterConfig::SingleRate { committed, committed_burst, excess_burst, mode },
            ) => {
                let over = green.earn(earned(committed, now, *filled_at), committed_burst);
                other.earn(over, excess_burst);
                *filled_at = now;
                single_rate(green, other, bytes, mode.sees(before))
            }
            (
                Self::Buckets { green, other, filled_at },
                MeterConfig::TwoRate { committed, committed_burst, peak, peak_burst, mode },
            ) => {
                green.earn(earned(committed, now, *filled_at), committed_burst);
                other.earn(earned(peak, now, *filled_at), peak_burst);
                *filled_at = now;
                two_rate(green, other, bytes, mode.sees(before))
            }
            (
                Self::Window { bytes_per_sec: average, front },
                MeterConfig::TimeSlidingWindow { committed, peak, window },
            ) => {
                //= https://www.rfc-editor.org/rfc/rfc2859#section-3.0
                //# |      Bytes_in_win = avg-rate * AVG_INTERVAL;                         |
                //# |      New_bytes    = Bytes_in_win + pkt_size;                         |
                //# |      avg-rate     = New_bytes/( now - t-front + AVG_INTERVAL);       |
                //# |      t-front      = now;                                             |
                let window = window.as_secs_f64();
                let elapsed = now.saturating_since(*front).as_secs_f64();
                *average = (*average * window + f64::from(bytes)) / (elapsed + window);
                *front = now;
                spread(*average, bytes_per_sec(committed), bytes_per_sec(peak), || stream.uniform())
            }
            _ => unreachable!("a meter keeps the state of its configuration"),
        }
    }
}

impl ColourMode {
    fn sees(self, before: Colour) -> Colour {
        match self {
            Self::Aware => before,
            Self::Blind => Colour::Green,
        }
    }
}

/// Tokens in billionths of a bit, so that nothing is lost however often a bucket is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens(u128);

/// Billionths of a bit in a byte: a rate in bit/s times nanoseconds gives such.
const PER_BYTE: u128 = 8 * 1_000_000_000;

impl Tokens {
    fn full(size: DataSize) -> Self {
        Self(u128::from(size.as_bytes()) * PER_BYTE)
    }

    /// Takes tokens in as far as there is room, and returns the rest.
    fn earn(&mut self, tokens: u128, size: DataSize) -> u128 {
        let all = self.0 + tokens;
        self.0 = all.min(Self::full(size).0);
        all - self.0
    }

    fn has(self, bytes: u32) -> bool {
        self.0 >= u128::from(bytes) * PER_BYTE
    }

    fn spend(&mut self, bytes: u32) {
        self.0 -= u128::from(bytes) * PER_BYTE;
    }
}

/// The tokens of the time since a bucket was filled.
fn earned(rate: DataRate, now: Instant, filled_at: Instant) -> u128 {
    u128::from(rate.as_bits_per_sec()) * u128::from(now.saturating_since(filled_at).as_nanos())
}

//= https://www.rfc-editor.org/rfc/rfc2697#section-3
//# o If the packet has been precolored as green and Tc(t)-B >= 0, the
//# packet is green and Tc is decremented by B down to the minimum
//# value of 0, else
//
//= https://www.rfc-editor.org/rfc/rfc2697#section-3
//# o If the packet has been precolored as green or yellow and if
//# Te(t)-B >= 0, the packets is yellow and Te is decremented by B
//# down to the minimum value of 0, else
//
//= https://www.rfc-editor.org/rfc/rfc2697#section-3
//# o the packet is red and neither Tc nor Te is decremented.
fn single_rate(committed: &mut Tokens, excess: &mut Tokens, bytes: u32, before: Colour) -> Colour {
    if before == Colour::Green && committed.has(bytes) {
        committed.spend(bytes);
        Colour::Green
    } else if before <= Colour::Yellow && excess.has(bytes) {
        excess.spend(bytes);
        Colour::Yellow
    } else {
        Colour::Red
    }
}

//= https://www.rfc-editor.org/rfc/rfc2698#section-3
//# o If the packet has been precolored as red or if Tp(t)-B < 0, the
//# packet is red, else
//
//= https://www.rfc-editor.org/rfc/rfc2698#section-3
//# o if the packet has been precolored as yellow or if Tc(t)-B < 0,
//# the packet is yellow and Tp is decremented by B, else
//
//= https://www.rfc-editor.org/rfc/rfc2698#section-3
//# o the packet is green and both Tp and Tc are decremented by B.
fn two_rate(committed: &mut Tokens, peak: &mut Tokens, bytes: u32, before: Colour) -> Colour {
    if before == Colour::Red || !peak.has(bytes) {
        return Colour::Red;
    }
    peak.spend(bytes);
    if before == Colour::Yellow || !committed.has(bytes) {
        return Colour::Yellow;
    }
    committed.spend(bytes);
    Colour::Green
}

/// The colour by which a rate's parts beyond the targets are spread over packets. A draw is taken only if chance
/// decides.
//= https://www.rfc-editor.org/rfc/rfc2859#section-4.0
//# - If the estimated average rate is less than or equal to the CTR,
//# packets of the stream are designated green.
fn spread(average: f64, committed: f64, peak: f64, draw: impl FnOnce() -> f64) -> Colour {
    if average <= committed {
        return Colour::Green;
    }
    // The shares of the rate above the peak, and of that above what is committed, of which the first is part.
    let (above_peak, above_committed) = ((average - peak) / average, (average - committed) / average);
    let drawn = draw();
    if drawn < above_peak {
        Colour::Red
    } else if drawn < above_committed {
        Colour::Yellow
    } else {
        Colour::Green
    }
}

fn bytes_per_sec(rate: DataRate) -> f64 {
    rate.as_bits_per_sec() as f64 / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Seed;

    const MBIT: DataRate = DataRate::from_bits_per_sec(1_000_000);
    const KB: DataSize = DataSize::from_bytes(1_000);

    /// A meter that is asked about one packet after the other.
    struct Asked {
        config: MeterConfig,
        state: Meter,
        stream: Stream,
    }

    impl Asked {
        fn new(config: MeterConfig) -> Self {
            Self {
                config,
                state: Meter::new(&config, Instant::START),
                stream: Seed::new(1, 0).stream("meter"),
            }
        }

        fn colour(&mut self, at_us: u64, bytes: u32, before: Colour) -> Colour {
            let now = Instant::START + Duration::from_micros(at_us);
            self.state.colour(&self.config, now, bytes, before, &mut self.stream)
        }

        /// The colours of packets of 500 bytes, green before.
        fn colours<const N: usize>(&mut self, at_us: [u64; N]) -> [Colour; N] {
            at_us.map(|at_us| self.colour(at_us, 500, Green))
        }
    }

    fn single(committed_burst: DataSize, excess_burst: DataSize, mode: ColourMode) -> Asked {
        Asked::new(MeterConfig::SingleRate { committed: MBIT, committed_burst, excess_burst, mode })
    }

    fn two(mode: ColourMode) -> Asked {
        let peak = DataRate::from_bits_per_sec(2_000_000);
        let (committed_burst, peak_burst) = (KB, DataSize::from_bytes(2_000));
        Asked::new(MeterConfig::TwoRate { committed: MBIT, committed_burst, peak, peak_burst, mode })
    }

    use Colour::{Green, Red, Yellow};

    #[test]
    fn a_single_rate_fills_the_second_bucket_with_what_the_first_has_no_room_for() {
        let mut meter = single(KB, KB, ColourMode::Blind);
        assert_eq!(meter.colours([0; 5]), [Green, Green, Yellow, Yellow, Red]);
        // 8 us a byte: one byte is missing, then none.
        assert_eq!(meter.colours([3_992, 4_000]), [Red, Green]);
        // 1,000 bytes of green and then 250 of yellow tokens.
        assert_eq!(meter.colours([14_000, 14_000, 14_000]), [Green, Green, Red]);
        assert_eq!(meter.colours([24_000, 24_000, 24_000, 24_000]), [Green, Green, Yellow, Red]);
    }

    #[test]
    fn a_single_rate_that_is_aware_lets_no_packet_be_better_than_it_was() {
        let mut meter = single(KB, KB, ColourMode::Aware);
        assert_eq!(meter.colour(0, 500, Red), Red);
        assert_eq!(meter.colour(0, 500, Yellow), Yellow);
        assert_eq!(meter.colour(0, 500, Yellow), Yellow);
        assert_eq!(meter.colour(0, 500, Yellow), Red, "green tokens are for green packets");
        assert_eq!(meter.colours([0, 0, 0]), [Green, Green, Red]);
        let mut blind = single(KB, KB, ColourMode::Blind);
        assert_eq!(blind.colour(0, 500, Red), Green);
    }

    #[test]
    fn two_rates_judge_the_peak_first_and_take_no_tokens_for_what_is_beyond_it() {
        let mut meter = two(ColourMode::Blind);
        assert_eq!(meter.colours([0; 5]), [Green, Green, Yellow, Yellow, Red]);
        // After 2 ms, 500 bytes of the peak's and 250 of the others.
        assert_eq!(meter.colours([2_000, 2_000]), [Yellow, Red]);
        // 4 ms: 500 of either.
        assert_eq!(meter.colours([4_000, 4_000]), [Green, Red]);
        // A packet longer than what is there of green tokens takes none of them.
        assert_eq!(meter.colour(10_000, 1_200, Green), Yellow);
        assert_eq!(meter.colour(11_200, 600, Green), Green);
    }

    #[test]
    fn two_rates_that_are_aware_spend_the_tokens_of_the_colour_that_they_give() {
        let mut meter = two(ColourMode::Aware);
        assert_eq!(meter.colour(0, 500, Red), Red);
        assert_eq!(meter.colour(0, 500, Yellow), Yellow);
        assert_eq!(meter.colours([0, 0, 0, 0]), [Green, Green, Yellow, Red]);
    }

    #[test]
    fn a_sliding_window_forgets_the_past_as_its_length_says() {
        let window = Duration::from_secs(1);
        let mut meter = Asked::new(MeterConfig::TimeSlidingWindow { committed: MBIT, peak: MBIT, window });
        let average = |meter: &Asked| match meter.state {
            Meter::Window { bytes_per_sec, .. } => bytes_per_sec,
            Meter::Buckets { .. } => unreachable!("no bucket"),
        };
        assert_eq!(average(&meter), 125_000.0, "it begins with the target");
        meter.colour(1_000_000, 1_000, Green);
        assert_eq!(average(&meter), 126_000.0 / 2.0);
        meter.colour(1_500_000, 1_500, Green);
        assert_eq!(average(&meter), 64_500.0 / 1.5);
    }

    //= https://www.rfc-editor.org/rfc/rfc2859#section-4.0
    //# - If the estimated average rate is greater than the PTR,
    //# packets are designated red with probability P1, designated
    //# yellow with probability P2 and designated green with probability
    //# (1-(P1+P2)).
    #[test]
    fn a_steady_stream_is_marked_in_the_shares_of_its_rate() {
        // 1,000 bytes every 2 ms are 4 Mbit/s: a quarter up to 1 Mbit/s, a half up to 3, a quarter beyond. The average
        // settles at R * (1 + d / w), R + 0.2 % here, for it counts the packet and not the gap behind it.
        let (peak, window) = (DataRate::from_bits_per_sec(3_000_000), Duration::from_secs(1));
        let mut meter = Asked::new(MeterConfig::TimeSlidingWindow { committed: MBIT, peak, window });
        let mut count = [0_u32; 3];
        for packet in 0..110_000_u64 {
            let colour = meter.colour(2_000 * packet, 1_000, Green);
            if packet >= 10_000 {
                count[colour as usize] += 1;
            }
        }
        let rate = 4.0 * (1.0 + 0.002);
        let shares = [1.0 / rate, 2.0 / rate, (rate - 3.0) / rate];
        for (count, share) in count.into_iter().zip(shares) {
            let sigma = f64::sqrt(100_000.0 * share * (1.0 - share));
            let difference = f64::from(count) - 100_000.0 * share;
            assert!(difference.abs() < 4.0 * sigma, "{count} are {share} of 100,000 by {sigma}");
        }
    }

    #[test]
    fn below_its_target_a_sliding_window_draws_nothing_and_equal_targets_know_no_yellow() {
        let no_draw = || unreachable!("nothing is left to chance");
        assert_eq!(spread(100.0, 100.0, 200.0, no_draw), Green);
        assert_eq!(
            [0.0, 0.499, 0.5, 0.99].map(|drawn| spread(200.0, 100.0, 200.0, || drawn)),
            [Yellow, Yellow, Green, Green]
        );
        assert_eq!(
            [0.0, 0.249, 0.25, 0.749, 0.75].map(|drawn| spread(400.0, 100.0, 300.0, || drawn)),
            [Red, Red, Yellow, Yellow, Green]
        );
        assert_eq!([0.0, 0.499, 0.5].map(|drawn| spread(200.0, 100.0, 100.0, || drawn)), [Red, Red, Green]);
    }

    proptest! {
        /// The closed form of a bucket: no interval holds more than its rate's worth and one burst.
        #[test]
        fn green_bytes_keep_within_rate_and_burst_over_every_interval(
            packets in prop::collection::vec((0_u64..20_000, 1_u32..1_500, 0_u8..3), 1..200),
            is_aware: bool,
            has_two_rates: bool,
        ) {
            let mode = if is_aware { ColourMode::Aware } else { ColourMode::Blind };
            let mut meter = if has_two_rates { two(mode) } else { single(KB, KB, mode) };
            let mut at_us = 0;
            let mut green = Vec::new();
            for (gap_us, bytes, before) in packets {
                at_us += gap_us;
                let before = [Green, Yellow, Red][usize::from(before)];
                let colour = meter.colour(at_us, bytes, before);
                prop_assert!(!is_aware || colour >= before, "{colour:?} is better than {before:?}");
                if colour == Green {
                    green.push((at_us, u64::from(bytes)));
                }
            }
            for first in 0..green.len() {
                let mut sum = 0;
                for &(at_us, bytes) in &green[first..] {
                    sum += bytes;
                    prop_assert!(sum * 8 <= 8_000 + (at_us - green[first].0), "{sum} bytes since {first}");
                }
            }
        }
    }
}
