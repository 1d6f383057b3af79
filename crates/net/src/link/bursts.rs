//! Errors in bursts: a channel that is good for a while and bad for a while (Gilbert 1960, Elliott 1963), in time.
//!
//! The channel changes between two states at instants of its own, whatever is sent: a burst is a stretch of time, and
//! how many packets it hits follows from how many are sent in it. How long the channel stays in a state has an
//! exponential distribution, so that it is a Markov chain in continuous time.
//!
//! The states are drawn as far as packets ask for them. A packet that waits is given its fate before it is sent, and
//! may be withdrawn and sent at another time: so the stretches that a packet may still ask for are kept.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, Probability, Seed, Stream};

use crate::link::bit_errors::{BitErrors, Flips};
use crate::link::service::Transmission;
use crate::parcel::PacketId;

/// A channel that changes between two states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// State of the channel most of the time.
    pub good: ChannelState,
    /// State of the channel in a burst.
    pub bad: ChannelState,
}

/// One state of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelState {
    /// Mean duration of the state; not zero.
    pub mean: Duration,
    /// The chance of a packet to vanish whose last bit is sent in it.
    pub loss: Probability,
    /// The chance of each bit to be flipped that is sent in it.
    pub bit_errors: Probability,
}

/// Effect of the states on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) is_damaged: bool,
    pub(crate) is_lost: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    timeline: Timeline,
    good: Errors,
    bad: Errors,
    loss_stream: Stream,
}

#[derive(Clone, Debug)]
struct Errors {
    loss: Probability,
    bits: BitErrors,
}

impl Bursts {
    /// A channel whose random streams are named by `path`.
    pub(crate) fn new(config: GilbertElliott, seed: Seed, path: &str) -> Self {
        let stream = |kind: &str| seed.stream(&format!("{path}/gilbert_elliott/{kind}"));
        let errors = |state: ChannelState, name: &str| Errors {
            loss: state.loss,
            bits: BitErrors::new(state.bit_errors, stream(name)),
        };
        Self {
            timeline: Timeline::new(config.good.mean, config.bad.mean, stream("state")),
            good: errors(config.good, "good"),
            bad: errors(config.bad, "bad"),
            loss_stream: stream("loss"),
        }
    }

    /// Sends a packet over the channel. Each bit meets the state in which it is sent; whether the packet is lost is for
    /// the state in which its last bit is. No packet will ask for an instant before `settled`.
    pub(crate) fn pass(
        &mut self,
        packet: PacketId,
        bits: u64,
        transmission: Transmission,
        settled: Instant,
        flips: &mut Flips,
    ) -> Hit {
        let mut hit = Hit { is_damaged: false, is_lost: false };
        if transmission.end == Instant::FAR_FUTURE {
            // It waits for the link to come up, and will be sent anew.
            return hit;
        }
        self.timeline.forget_before(settled);
        let mut place = self.timeline.find(transmission.start);
        let mut first = 0;
        loop {
            let stretch = self.timeline.stretches[place];
            let errors = match stretch.state {
                State::Bad => &mut self.bad,
                State::Good => &mut self.good,
            };
            let is_last = transmission.end <= stretch.until;
            let until = if is_last { bits } else { bits_sent(bits, transmission, stretch.until) };
            hit.is_damaged |= errors.bits.pass(packet, first, until - first, flips);
            if is_last {
                hit.is_lost = !errors.loss.is_never() && self.loss_stream.happens(errors.loss);
                return hit;
            }
            first = until;
            place = self.timeline.follow(place);
        }
    }
}

/// Number of a packet's bits that have been sent by `at`, in the midst of its transmission.
fn bits_sent(bits: u64, transmission: Transmission, at: Instant) -> u64 {
    let elapsed = u128::from((at - transmission.start).as_nanos());
    let whole = u128::from((transmission.end - transmission.start).as_nanos());
    u64::try_from(u128::from(bits) * elapsed / whole).expect("no more than all of them")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Bad,
    Good,
}

/// A time in which the state stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: Instant,
    until: Instant,
    state: State,
}

/// The states over time, as far as they have been drawn.
#[derive(Clone, Debug)]
struct Timeline {
    good_mean: Duration,
    bad_mean: Duration,
    stream: Stream,
    /// In the order of time, with gaps where nobody asked for long. Never empty.
    stretches: VecDeque<Stretch>,
    /// After so long without a packet, what the state was says nothing about what it is.
    forgotten_after: Duration,
}

impl Timeline {
    /// After so many times both means the chain has lost its memory but for a part of e⁻⁶⁴, since the sum of both rates
    /// is four over the sum of both means at least. A draw of 53 bits cannot tell.
    const CYCLES: u64 = 16;

    fn new(good_mean: Duration, bad_mean: Duration, stream: Stream) -> Self {
        let forgotten_after = good_mean.saturating_add(bad_mean).saturating_mul(Self::CYCLES);
        let mut timeline = Self { good_mean, bad_mean, stream, stretches: VecDeque::new(), forgotten_after };
        let first = timeline.any_stretch(Instant::START);
        timeline.stretches.push_back(first);
        timeline
    }

    /// A stretch about whose state nothing is known beforehand.
    fn any_stretch(&mut self, from: Instant) -> Stretch {
        let (good, bad) = (self.good_mean.as_secs_f64(), self.bad_mean.as_secs_f64());
        let state = if self.stream.uniform() * (good + bad) < bad { State::Bad } else { State::Good };
        self.stretch(from, state)
    }

    /// Draws a stretch of a state from an instant on: the time that it still lasts does not depend on how long it has.
    fn stretch(&mut self, from: Instant, state: State) -> Stretch {
        let mean = match state {
            State::Bad => self.bad_mean,
            State::Good => self.good_mean,
        };
        let lasts = self.stream.exponential(mean).max(Duration::from_nanos(1));
        Stretch { from, until: from.saturating_add(lasts), state }
    }

    /// Forgets stretches that are over at an instant before which nobody will ask.
    fn forget_before(&mut self, settled: Instant) {
        while self.stretches.get(1).is_some_and(|second| second.from <= settled) {
            self.stretches.pop_front();
        }
    }

    /// The place of the stretch that holds at `at`, which is not before the first one.
    fn find(&mut self, at: Instant) -> usize {
        let mut place = self.stretches.partition_point(|stretch| stretch.from <= at) - 1;
        while self.stretches[place].until <= at {
            place = if at - self.stretches[place].until > self.forgotten_after {
                let anew = self.any_stretch(at);
                self.put_behind(place, anew)
            } else {
                self.follow(place)
            };
        }
        place
    }

    /// The place of the stretch that follows the one at `place` without a gap.
    fn follow(&mut self, place: usize) -> usize {
        let Stretch { until, state, .. } = self.stretches[place];
        if self.stretches.get(place + 1).is_some_and(|next| next.from == until) {
            return place + 1;
        }
        let other = match state {
            State::Bad => State::Good,
            State::Good => State::Bad,
        };
        let next = self.stretch(until, other);
        self.put_behind(place, next)
    }

    /// Puts a stretch behind the one at `place`. What had been drawn beyond a gap was for packets that have been
    /// withdrawn: it is drawn anew.
    fn put_behind(&mut self, place: usize, stretch: Stretch) -> usize {
        self.stretches.truncate(place + 1);
        self.stretches.push_back(stretch);
        place + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::PacketStore;
    use proptest::prelude::*;
    use slantpath_wire::{Checksum, Packet};

    const fn micros(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    fn timeline(good: u64, bad: u64, seed: u64) -> Timeline {
        let stream = Seed::new(seed, 0).stream("state");
        Timeline::new(Duration::from_millis(good), Duration::from_millis(bad), stream)
    }

    /// In its bad state it loses and flips all, in its good one nothing.
    fn always_bad() -> Bursts {
        let state =
            |of_any| ChannelState { mean: Duration::from_millis(1), loss: of_any, bit_errors: of_any };
        let config = GilbertElliott { good: state(Probability::NEVER), bad: state(Probability::ALWAYS) };
        Bursts::new(config, Seed::new(1, 0), "wire")
    }

    /// Bits flipped, and whether the packet is lost, of one of ten bytes that is sent over a known course of states.
    fn pass(stretches: &[(u64, State)], start: u64, end: u64) -> ([u8; 10], Hit) {
        let mut bursts = always_bad();
        let mut from = Instant::START;
        bursts.timeline.stretches.clear();
        for &(until, state) in stretches {
            let until = micros(until);
            bursts.timeline.stretches.push_back(Stretch { from, until, state });
            from = until;
        }
        let packet = PacketStore::default().insert(Packet::copied(&[], Checksum::Complete));
        let (mut bytes, mut flips) = ([0; 10], Flips::default());
        let transmission = Transmission { start: micros(start), end: micros(end) };
        let hit = bursts.pass(packet, 80, transmission, Instant::START, &mut flips);
        flips.damage(packet, &mut bytes);
        (bytes, hit)
    }

    #[test]
    fn each_bit_meets_the_state_in_which_it_is_sent_and_the_packet_that_of_its_last_bit() {
        // A bit takes a microsecond.
        let course = [(30, State::Good), (42, State::Bad), (90, State::Good), (200, State::Bad)];
        let spanning = Hit { is_damaged: true, is_lost: false };
        assert_eq!(pass(&course, 8, 88), ([0, 0, 0b11, 0xff, 0b1100_0000, 0, 0, 0, 0, 0], spanning));
        let whole = ([0; 10], Hit { is_damaged: false, is_lost: false });
        assert_eq!(pass(&course, 42, 90), whole, "the end of the good stretch is the last instant in it");
        let at_the_end = Hit { is_damaged: true, is_lost: true };
        assert_eq!(pass(&course, 11, 91), ([0, 0, 0b1_1111, 0xfe, 0, 0, 0, 0, 0, 1], at_the_end));
    }

    #[test]
    fn what_waits_for_the_link_to_come_up_meets_no_state() {
        let never = Transmission { start: Instant::FAR_FUTURE, end: Instant::FAR_FUTURE };
        let hit = Hit { is_damaged: false, is_lost: false };
        let (mut bursts, packet) = (always_bad(), PacketStore::default().insert(Packet::default()));
        let drawn = bursts.timeline.stretches.clone();
        assert_eq!(bursts.pass(packet, 80, never, Instant::START, &mut Flips::default()), hit);
        assert_eq!(bursts.timeline.stretches, drawn);
    }

    #[test]
    fn stretches_that_nobody_can_ask_for_are_forgotten() {
        let mut timeline = timeline(1, 1, 3);
        timeline.find(Instant::from_millis(30));
        let kept = timeline.stretches.clone();
        assert!(kept.len() > 10, "{} stretches in 30 ms", kept.len());
        timeline.forget_before(kept[5].from);
        assert_eq!(timeline.stretches, kept.range(5..).copied().collect::<VecDeque<_>>());
        timeline.forget_before(Instant::from_secs(1));
        assert_eq!(timeline.stretches.len(), 1);
    }

    #[test]
    fn a_long_silence_costs_one_draw_and_leaves_the_stationary_chances() {
        let mut timeline = timeline(30, 10, 5);
        let mut bad = 0_u32;
        let n = 20_000_u32;
        for second in 1..=u64::from(n) {
            let at = Instant::from_secs(second);
            timeline.forget_before(at);
            let place = timeline.find(at);
            bad += u32::from(timeline.stretches[place].state == State::Bad);
            assert!(timeline.stretches.len() <= 2, "{} stretches", timeline.stretches.len());
        }
        // Binomial at a quarter, inside four standard deviations.
        let (n, p) = (f64::from(n), 0.25);
        assert!((f64::from(bad) - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{bad} of {n}");
    }

    #[test]
    fn stretches_are_as_long_and_states_as_alike_as_the_chain_has_it() {
        let mut timeline = timeline(40, 10, 7);
        // A state each millisecond over 2,000 s: some 40,000 stretches of either kind.
        let mut states = Vec::new();
        let (mut bursts, mut burst_millis) = (0_u32, 0.0);
        for millis in 0..2_000_000 {
            let at = Instant::from_millis(millis);
            let place = timeline.find(at);
            states.push(timeline.stretches[place].state == State::Bad);
        }
        for stretch in timeline.stretches.iter().filter(|stretch| stretch.state == State::Bad) {
            bursts += 1;
            burst_millis += (stretch.until - stretch.from).as_millis_f64();
        }
        let n = f64::from(bursts);
        // The standard deviation of an exponential time is its mean; four of the mean's.
        assert!((burst_millis / n - 10.0).abs() < 4.0 * 10.0 / n.sqrt(), "{} ms", burst_millis / n);
        // A burst begins every 50 ms: a renewal process, with a variance of (40² + 10²) / 50² each.
        let expected = 2_000_000.0 / 50.0;
        assert!((n - expected).abs() < 4.0 * (expected * 1_700.0 / 2_500.0).sqrt(), "{n} bursts");
        // The correlation of two states falls as exp(-t (1/40 + 1/10)). Its estimate over N correlated pairs has a
        // standard deviation below that of N / 16 independent ones, 16 ms being twice the time in which it falls by e.
        let mean = states.iter().filter(|&&bad| bad).count() as f64 / states.len() as f64;
        for lag in [1, 4, 8, 16, 80] {
            let pairs = states.len() - lag;
            let product: f64 = (0..pairs)
                .map(|place| {
                    (f64::from(u8::from(states[place])) - mean)
                        * (f64::from(u8::from(states[place + lag])) - mean)
                })
                .sum();
            let correlation = product / pairs as f64 / (mean * (1.0 - mean));
            let theory = libm::exp(-(lag as f64) * (1.0 / 40.0 + 1.0 / 10.0));
            let deviation = 1.0 / (pairs as f64 / 16.0).sqrt();
            assert!((correlation - theory).abs() < 4.0 * deviation, "lag {lag}: {correlation}, not {theory}");
        }
    }

    proptest! {
        /// Packets ask in order, and again for earlier instants when they are withdrawn.
        #[test]
        fn the_states_are_the_same_whoever_asks(
            asks in proptest::collection::vec((0_u64..8_000, 0_u64..2_000), 1..60),
            good in 100_u64..2_000,
            bad in 10_u64..2_000,
            seed in any::<u64>(),
        ) {
            // The longest silence is shorter than what makes the chain forget.
            prop_assume!(16 * (good + bad) > 8_000);
            let mut known = timeline(good, bad, seed);
            let mut last = 0;
            while known.stretches[last].until < Instant::from_millis(1_000_000) {
                last = known.follow(last);
            }
            let mut asked = timeline(good, bad, seed);
            let mut now = Instant::START;
            for (ahead, pause) in asks {
                // One packet that waits asks for a later instant than now, and is withdrawn; time passes.
                asked.forget_before(now);
                let at = now + Duration::from_millis(ahead);
                let place = asked.find(at);
                let truth = known.stretches.iter().find(|other| at < other.until).unwrap();
                prop_assert_eq!(&asked.stretches[place], truth);
                now += Duration::from_millis(pause);
            }
        }

        #[test]
        fn a_stretch_holds_at_the_instant_that_is_asked_for(
            asks in proptest::collection::vec(0_u64..100_000, 1..60),
            seed in any::<u64>(),
        ) {
            let mut timeline = timeline(20, 5, seed);
            for at in asks {
                let at = Instant::from_millis(at);
                let place = timeline.find(at);
                let Stretch { from, until, .. } = timeline.stretches[place];
                prop_assert!(from <= at && at < until);
                let ordered = timeline.stretches.iter().zip(timeline.stretches.iter().skip(1));
                prop_assert!(ordered.into_iter().all(|(one, next)| one.until <= next.from));
            }
        }
    }
}
