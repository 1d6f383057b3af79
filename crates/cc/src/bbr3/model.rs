//! Model of the path as BBR estimates it: rates, round trips, rounds, aggregation, and what losses say of the last
//! round.

use slantpath_base::{DataRate, Duration, Instant};

use super::BETA;
use crate::control::Acknowledged;
use crate::delivery::LostSegment;
use crate::least_round_trip::LeastRoundTrip;
use crate::windowed::WindowedMax;

/// BBR.MinRTTFilterLen.
const ROUND_TRIP_TIME: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// BBR.ExtraAckedFilterLen, in rounds, and in Startup.
const AGGREGATION_ROUNDS: u64 = 10;
const STARTUP_AGGREGATION_ROUNDS: u64 = 1;
/// Rounds without a rate greater by a quarter after which the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// BBR.LossThresh, as a divisor: 2 %.
const LOSS_THRESHOLD: u64 = 50;

/// Tells if so much lost of what was in flight exceeds the threshold.
pub(super) const fn is_too_high(lost: u64, in_flight: u64) -> bool {
    lost.saturating_mul(LOSS_THRESHOLD) > in_flight
}

/// Number of bytes in flight when losses crossed the threshold, by the loss of a segment of so many bytes with which so
/// much was (InflightAtLoss).
pub(super) fn in_flight_at_loss(in_flight: u64, lost: u64, bytes: u64) -> u64 {
    let before = in_flight.saturating_sub(bytes);
    let lost_before = lost.saturating_sub(bytes);
    // (threshold * before - lost before) / (1 - threshold), which is less than nothing if it was crossed earlier.
    let prefix =
        (before / LOSS_THRESHOLD).saturating_sub(lost_before) * LOSS_THRESHOLD / (LOSS_THRESHOLD - 1);
    before + prefix
}

/// State of the search for a full pipe, in which a rate that is pushed stops to grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pipe {
    rate: u64,
    rounds: u32,
    /// True if it has stopped since this was last looked for (BBR.full_bw_now).
    pub(super) is_now: bool,
    /// True if it has ever stopped (BBR.full_bw_reached).
    pub(super) is_reached: bool,
}

impl Pipe {
    pub(super) fn reset(&mut self, rate: u64) {
        *self = Self { rate, is_reached: self.is_reached, ..Self::default() };
    }

    fn observe(&mut self, rate: u64) {
        if self.is_now {
            return;
        }
        if rate >= self.rate.saturating_add(self.rate / 4) {
            self.reset(rate);
            return;
        }
        self.rounds += 1;
        self.is_now = self.rounds >= FULL_ROUNDS;
        self.is_reached |= self.is_now;
    }
}

/// Reading of the acknowledgement at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// In bits a second; zero if it does not tell.
    pub(super) rate: u64,
    pub(super) starts_round: bool,
    pub(super) ends_loss_round: bool,
    /// True if the loss in the flight of its newest segment exceeds the threshold, at the end of a loss round.
    pub(super) is_loss_high: bool,
}

/// The path as it is estimated. Rates are in bits a second.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The greatest of this cycle of probes and of the last one.
    rates: [u64; 2],
    pub(super) sample: Sample,
    short_term_rate: u64,
    pub(super) short_term_in_flight: u64,
    /// BBR.bw: what the rates above come to.
    rate: u64,
    /// BBR.min_rtt, and when it was.
    round_trip: LeastRoundTrip,
    /// BBR.bdp: what the rate and the round trip come to, once there is one. Most acknowledgements change neither.
    product: u64,
    /// Value that counts as the product before there is a round trip.
    initial_product: u64,
    /// BBR.probe_rtt_min_delay, likewise.
    probe_round_trip: LeastRoundTrip,
    pub(super) rounds: u64,
    pub(super) round_ends_at: u64,
    delivered: u64,
    pub(super) pipe: Pipe,
    /// BBR.bw_latest and BBR.inflight_latest.
    latest_rate: u64,
    pub(super) latest_in_flight: u64,
    loss_round_ends_at: u64,
    pub(super) is_loss_in_round: bool,
    /// Acknowledgements with losses in this round.
    pub(super) losses_in_round: u32,
    aggregation_since: Instant,
    aggregated: u64,
    aggregations: WindowedMax,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            rates: [0; 2],
            sample: Sample::default(),
            short_term_rate: u64::MAX,
            short_term_in_flight: u64::MAX,
            rate: 0,
            round_trip: LeastRoundTrip::NONE,
            product: 0,
            initial_product: 0,
            probe_round_trip: LeastRoundTrip::NONE,
            rounds: 0,
            round_ends_at: 0,
            delivered: 0,
            pipe: Pipe::default(),
            latest_rate: 0,
            latest_in_flight: 0,
            loss_round_ends_at: 0,
            is_loss_in_round: false,
            losses_in_round: 0,
            aggregation_since: Instant::START,
            aggregated: 0,
            aggregations: WindowedMax::default(),
        }
    }
}

impl Model {
    /// Model before any acknowledgement: nothing is known but the initial window, in bytes.
    pub(super) fn new(initial_cwnd_bytes: u64) -> Self {
        Self { product: initial_cwnd_bytes, initial_product: initial_cwnd_bytes, ..Self::default() }
    }

    fn greatest_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }

    /// Bandwidth `BBR.bw`, as the draft has it.
    pub(super) const fn rate(&self) -> u64 {
        self.rate
    }

    /// BBR.bdp, or the window that it begins with before there is a round trip.
    pub(super) const fn product(&self) -> u64 {
        self.product
    }

    /// A rate or the round trip has changed.
    #[inline(never)]
    fn reckon(&mut self) {
        self.rate = self.greatest_rate().min(self.short_term_rate);
        let rate = DataRate::from_bits_per_sec(self.rate);
        let product = self.round_trip.known().map(|round_trip| rate.size_in(round_trip).as_bytes());
        self.product = product.unwrap_or(self.initial_product);
    }

    pub(super) const fn extra_acked(&self) -> u64 {
        self.aggregations.get()
    }

    pub(super) const fn start_round(&mut self) {
        self.round_ends_at = self.delivered;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.short_term_rate = u64::MAX;
        self.short_term_in_flight = u64::MAX;
        self.reckon();
    }

    /// BBR.bw_shortterm and BBR.inflight_shortterm.
    pub(super) const fn short_term(&self) -> (u64, u64) {
        (self.short_term_rate, self.short_term_in_flight)
    }

    /// Loss that was none had lowered the bounds, which were these before.
    pub(super) fn raise_short_term(&mut self, (rate, in_flight): (u64, u64)) {
        self.short_term_rate = self.short_term_rate.max(rate);
        self.short_term_in_flight = self.short_term_in_flight.max(in_flight);
        self.reckon();
    }

    pub(super) const fn reset_signals(&mut self) {
        self.is_loss_in_round = false;
        self.latest_rate = 0;
        self.latest_in_flight = 0;
    }

    /// A cycle of probes is over (AdvanceMaxBwFilter).
    pub(super) fn advance_rates(&mut self) {
        if self.rates[0] > 0 {
            self.rates = [0, self.rates[0]];
            self.reckon();
        }
    }

    pub(super) const fn restart_aggregation(&mut self, now: Instant) {
        self.aggregation_since = now;
        self.aggregated = 0;
    }

    /// Takes in rate, round, loss and aggregation of an acknowledgement.
    #[expect(clippy::inline_always, reason = "it is called at one place, and each acknowledgement passes it")]
    #[inline(always)]
    pub(super) fn observe(&mut self, acknowledged: &Acknowledged, is_limited: impl Fn() -> bool, cwnd: u64) {
        let counts = &acknowledged.counts;
        self.delivered = counts.delivered;
        let (rate, volume) = acknowledged
            .delivery
            .map_or((0, 0), |sample| (sample.rate().as_bits_per_sec(), sample.delivered));
        self.sample = Sample { rate, ..Sample::default() };
        self.latest_rate = self.latest_rate.max(self.sample.rate);
        self.latest_in_flight = self.latest_in_flight.max(volume);
        if counts.newly_lost > 0 {
            self.losses_in_round += 1;
        }
        if let Some(newest) = counts.newest {
            if newest.delivered() >= self.loss_round_ends_at {
                self.loss_round_ends_at = counts.delivered;
                self.sample.ends_loss_round = true;
                self.sample.is_loss_high = is_too_high(newest.lost_since(counts.lost), newest.in_flight());
            }
            if newest.delivered() >= self.round_ends_at {
                self.start_round();
                self.rounds += 1;
                self.sample.starts_round = true;
            }
        }
        if rate > self.rates[0] && (rate >= self.rates[1] || !is_limited()) {
            self.rates[0] = rate;
            self.reckon();
        }
        self.observe_aggregation(acknowledged, cwnd);
        if self.sample.starts_round && rate > 0 && !is_limited() {
            self.pipe.observe(rate);
        }
    }

    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    fn observe_aggregation(&mut self, acknowledged: &Acknowledged, cwnd: u64) {
        let interval = acknowledged.now.saturating_since(self.aggregation_since);
        let mut expected = DataRate::from_bits_per_sec(self.rate).size_in(interval).as_bytes();
        if self.aggregated <= expected {
            self.restart_aggregation(acknowledged.now);
            expected = 0;
        }
        self.aggregated += acknowledged.counts.newly_delivered;
        let extra = (self.aggregated - expected).min(cwnd);
        let window = if self.pipe.is_reached { AGGREGATION_ROUNDS } else { STARTUP_AGGREGATION_ROUNDS };
        self.aggregations.update(window, self.rounds, extra);
    }

    /// The end of a round with a loss outside of a probe (AdaptLowerBoundsFromCongestion).
    pub(super) fn lower_short_term(&mut self, cwnd: u64) {
        if self.short_term_rate == u64::MAX {
            self.short_term_rate = self.greatest_rate();
        }
        if self.short_term_in_flight == u64::MAX {
            self.short_term_in_flight = cwnd;
        }
        self.short_term_rate = self.latest_rate.max(self.short_term_rate / 10 * BETA);
        self.short_term_in_flight = self.latest_in_flight.max(self.short_term_in_flight / 10 * BETA);
        self.reckon();
    }

    /// A round's losses have been answered.
    pub(super) const fn end_signals(&mut self) {
        if self.sample.ends_loss_round {
            self.is_loss_in_round = false;
            self.losses_in_round = 0;
        }
    }

    pub(super) fn advance_latest(&mut self, acknowledged: &Acknowledged) {
        if self.sample.ends_loss_round {
            self.latest_rate = self.sample.rate;
            self.latest_in_flight = acknowledged.delivery.map_or(0, |sample| sample.delivered);
        }
    }

    pub(super) const fn note_loss(&mut self, lost: &LostSegment) {
        if !self.is_loss_in_round {
            self.loss_round_ends_at = lost.delivered;
        }
        self.is_loss_in_round = true;
    }

    /// UpdateMinRTT. Returns whether none has been as short for so long that it is to be looked for.
    pub(super) fn observe_round_trip(&mut self, acknowledged: &Acknowledged) -> bool {
        let now = acknowledged.now;
        let is_stale = self.probe_round_trip.is_older_than(PROBE_RTT_INTERVAL, now);
        if let Some(round_trip) = acknowledged.round_trip
            && (self.probe_round_trip.is_above(round_trip) || is_stale)
        {
            self.probe_round_trip = LeastRoundTrip::measured(round_trip, now);
        }
        let known = self.round_trip;
        if known.is_above_that_of(self.probe_round_trip) || known.is_older_than(ROUND_TRIP_TIME, now) {
            self.round_trip = self.probe_round_trip;
            self.reckon();
        }
        is_stale
    }

    /// The round trip has been looked for.
    pub(super) const fn renew_round_trip(&mut self, now: Instant) {
        self.probe_round_trip.renew(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{DeliveryMeter, DeliverySample};

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// An acknowledgement of 1,000 bytes that were sent when as much had been delivered, with a sample of such a rate.
    fn acknowledged(rate: Option<u64>) -> Acknowledged {
        let mut meter = DeliveryMeter::default();
        let departure = meter.depart(at(1), true, 1_000);
        meter.deliver(1_000, &departure);
        meter.read(at(100), None);
        let departure = meter.depart(at(100), false, 1_000);
        meter.deliver(1_000, &departure);
        let counts = meter.read(at(200), None).counts;
        let delivery = rate.map(|bits| DeliverySample {
            delivered: bits / 8,
            interval: Duration::from_secs(1),
            is_application_limited: false,
        });
        Acknowledged { delivery, counts, ..Acknowledged::of(at(200), 1_000, 1_000) }
    }

    #[test]
    fn a_pipe_is_full_after_three_rates_that_are_less_than_a_quarter_greater() {
        let observed = |rate| {
            let mut pipe = Pipe { rate: 1_000, ..Pipe::default() };
            pipe.observe(rate);
            (pipe.rate, pipe.rounds)
        };
        assert_eq!([1_249, 1_250].map(observed), [(1_000, 1), (1_250, 0)]);
    }

    #[test]
    fn the_rate_is_the_greatest_of_two_cycles_of_probes() {
        let mut model = Model { rates: [70, 90], ..Model::default() };
        model.reckon();
        assert_eq!(model.rate(), 90);
        model.advance_rates();
        assert_eq!((model.rates, model.rate()), ([0, 70], 70));
        model.advance_rates();
        assert_eq!(model.rates, [0, 70], "a cycle without a sample is none");
    }

    #[test]
    fn a_limited_sample_counts_only_if_it_is_as_great() {
        let rates = |known, is_limited| {
            let mut model = Model { rates: [0, known], ..Model::default() };
            model.observe(&acknowledged(Some(80_000)), || is_limited, 10_000);
            model.rates[0]
        };
        assert_eq!([79_999, 80_000, 80_001].map(|known| rates(known, true)), [80_000, 80_000, 0]);
        assert_eq!([79_999, 80_001].map(|known| rates(known, false)), [80_000, 80_000]);
    }

    #[test]
    fn a_pipe_is_told_of_the_first_sample_of_a_round_unless_it_is_limited() {
        let counted = |round_ends_at, rate, is_limited| {
            let mut model = Model { round_ends_at, ..Model::default() };
            model.pipe.reset(80_000);
            model.observe(&acknowledged(rate), || is_limited, 10_000);
            (model.pipe.rounds, model.sample.starts_round, model.rounds)
        };
        assert_eq!(counted(1_000, Some(80_000), false), (1, true, 1));
        assert_eq!(counted(1_001, Some(80_000), false), (0, false, 0));
        assert_eq!(counted(1_000, Some(80_000), true), (0, true, 1));
        assert_eq!(counted(1_000, None, false), (0, true, 1));
    }

    #[test]
    fn a_round_ends_with_what_was_sent_after_it_began() {
        let mut model = Model { delivered: 9_000, ..Model::default() };
        model.start_round();
        assert_eq!(model.round_ends_at, 9_000);
    }

    #[test]
    fn acknowledgements_with_losses_are_counted_until_their_round_ends() {
        let mut model = Model { loss_round_ends_at: u64::MAX, is_loss_in_round: true, ..Model::default() };
        let mut counted = |newly_lost, loss_round_ends_at| {
            let mut acknowledged = acknowledged(None);
            acknowledged.counts.newly_lost = newly_lost;
            model.loss_round_ends_at = loss_round_ends_at;
            model.observe(&acknowledged, || false, 10_000);
            let counted = model.losses_in_round;
            model.end_signals();
            (counted, model.losses_in_round, model.is_loss_in_round)
        };
        assert_eq!([1, 0, 5].map(|lost| counted(lost, u64::MAX)), [(1, 1, true), (1, 1, true), (2, 2, true)]);
        assert_eq!(counted(0, 1_000), (2, 0, false));
    }

    #[test]
    fn aggregation_is_what_arrives_beyond_what_the_rate_explains() {
        // 1,000 bytes a millisecond.
        let mut model = Model { rates: [8_000_000, 0], aggregation_since: at(1_000), ..Model::default() };
        model.reckon();
        let mut arrive = |millis, newly_delivered| {
            let mut acknowledged = Acknowledged::of(at(millis), 0, 0);
            acknowledged.counts.newly_delivered = newly_delivered;
            model.observe_aggregation(&acknowledged, 1 << 20);
            model.extra_acked()
        };
        assert_eq!([arrive(1_010, 15_000), arrive(1_015, 20_000)], [15_000, 30_000]);
    }

    #[test]
    fn a_loss_lowers_the_bounds_by_three_tenths_until_they_are_reset() {
        let mut model = Model { rates: [100_000, 0], ..Model::default() };
        let mut lower = || {
            model.lower_short_term(50_000);
            (model.rate(), model.short_term_in_flight)
        };
        assert_eq!([lower(), lower()], [(70_000, 35_000), (49_000, 24_500)]);
        (model.latest_rate, model.latest_in_flight) = (60_000, 30_000);
        model.lower_short_term(50_000);
        assert_eq!((model.short_term_rate, model.short_term_in_flight), (60_000, 30_000));
        model.is_loss_in_round = true;
        model.reset_signals();
        assert_eq!((model.latest_rate, model.latest_in_flight, model.is_loss_in_round), (0, 0, false));
        model.reset_short_term();
        assert_eq!((model.short_term(), model.rate()), ((u64::MAX, u64::MAX), 100_000));
        model.lower_short_term(50_000);
        model.raise_short_term((80_000, 60_000));
        assert_eq!((model.short_term(), model.rate()), ((80_000, 60_000), 80_000));
        model.raise_short_term((1, 1));
        assert_eq!(model.short_term(), (80_000, 60_000));
    }

    #[test]
    fn the_first_loss_of_a_round_says_when_it_ends() {
        let ends_at = |is_loss_in_round| {
            let mut model = Model { is_loss_in_round, loss_round_ends_at: 3_000, ..Model::default() };
            let mut meter = DeliveryMeter::default();
            let departure = meter.depart(at(1), true, 1_000);
            meter.deliver(7_000, &departure);
            model.note_loss(&meter.lose(1_000, &departure));
            (model.loss_round_ends_at, model.is_loss_in_round)
        };
        assert_eq!([false, true].map(ends_at), [(7_000, true), (3_000, true)]);
    }

    #[test]
    fn a_round_trip_is_looked_for_after_more_than_five_seconds_and_forgotten_after_ten() {
        let after = |known: (u64, u64), dip: (u64, u64), now, round_trip| {
            let pair = |(millis, since)| LeastRoundTrip::measured(ms(millis), at(since));
            let mut model =
                Model { round_trip: pair(known), probe_round_trip: pair(dip), ..Model::default() };
            let round_trip = Some(ms(round_trip));
            let is_stale =
                model.observe_round_trip(&Acknowledged { round_trip, ..Acknowledged::of(at(now), 0, 0) });
            let LeastRoundTrip { round_trip: least, at: since } = model.round_trip;
            (is_stale, least.as_millis(), since.since_start().as_millis())
        };
        assert_eq!(after((100, 1_000), (100, 1_000), 2_000, 99), (false, 99, 2_000));
        assert_eq!(after((100, 1_000), (100, 2_000), 7_000, 100), (false, 100, 1_000));
        assert_eq!(after((100, 1_000), (100, 2_000), 7_001, 110), (true, 100, 1_000));
        assert_eq!(after((100, 1_000), (110, 9_000), 11_000, 120), (false, 100, 1_000));
        assert_eq!(after((100, 1_000), (110, 9_000), 11_001, 120), (false, 110, 9_000));
    }

    #[test]
    fn a_round_trip_that_was_looked_for_is_trusted_for_five_seconds_more() {
        let mut model =
            Model { probe_round_trip: LeastRoundTrip::measured(ms(100), at(1_000)), ..Model::default() };
        model.renew_round_trip(at(4_000));
        assert_eq!(model.probe_round_trip, LeastRoundTrip::measured(ms(100), at(4_000)));
    }
}
