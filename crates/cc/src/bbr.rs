//! BBR, version 1, as Linux has it (`tcp_bbr.c`; Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016): a rate and a window
//! from the greatest delivery rate and the least round trip of late.
//!
//! The sender paces at the rate times a gain. In Startup the gain doubles what is sent each round until the rate has
//! not grown by a quarter in three; Drain empties the queue that this has left; then ProbeBW goes round eight phases
//! of a round trip, one faster by a quarter, one slower by as much, six at the rate. If no round trip has been as
//! short as the least for ten seconds, ProbeRTT leaves four segments in flight for 200 ms. Loss has no say in the
//! rate; in the first round of a recovery no more is sent than arrives.
//!
//! Left out is the detection of policers ("long-term bandwidth sampling"), since no model of this project polices a
//! flow at less than its link. The first phase of ProbeBW is drawn from the time of entry to the nanosecond, which
//! differs between flows of one bottleneck, in place of a generator. Amounts are bytes, where Linux counts segments.

use slantpath_base::{DataRate, Duration, Instant};

use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, Spacing, TimedOut};
use crate::delivery::{LostSegment, rate_of};
use crate::least_round_trip::LeastRoundTrip;
use crate::pacing::Pacing;
use crate::probe_rtt::{ProbeRtt, is_limited};
use crate::terms::{Selectable, Terms};
use crate::windowed::WindowedMax;

/// Gains are multiples of this.
const UNIT: u64 = 256;
/// 2 / ln 2, rounded up: the least that doubles what is sent each round.
const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
/// Reciprocal of [`HIGH_GAIN`]: the queue of Startup is gone after a round.
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// The window against the product, for acknowledgements that come late and together.
const CWND_GAIN: u64 = 2 * UNIT;
/// The pacing gains of ProbeBW.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Rounds that the greatest rate is remembered for.
const RATE_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// Time for which the least round trip is trusted.
const ROUND_TRIP_TIME: Duration = Duration::from_secs(10);
/// The least window, in segments.
const LEAST_WINDOW: u64 = 4;
/// The rate has grown if it is so much, in quarters, of what it was.
const GROWTH: u64 = 5;
/// Rounds without such growth after which the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// Rounds after which the older half of what is remembered of aggregation is forgotten.
const AGGREGATION_ROUNDS: u32 = 5;
/// Limit of the addition to the window for aggregation, in time at the rate.
const GREATEST_AGGREGATION: Duration = Duration::from_millis(100);
/// Below this rate a quantum is one segment, above it two at least.
const SLOW: DataRate = DataRate::from_bits_per_sec(1_200_000);
/// A quantum is what the rate carries in this time (2^-10 s).
const QUANTUM_TIME: Duration = Duration::from_nanos(1_000_000_000 >> 10);

/// The choices of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrConfig {
    /// The longest segment, as the transport counts bytes. Not zero.
    pub segment_bytes: u64,
    /// The window before the first acknowledgement.
    pub initial_cwnd_bytes: u64,
    /// cwnd never exceeds this.
    pub max_cwnd_bytes: u64,
}

impl BbrConfig {
    pub(crate) const fn on(terms: &Terms) -> Self {
        let &Terms { segment_bytes, initial_cwnd_bytes, max_cwnd_bytes, .. } = terms;
        Self { segment_bytes, initial_cwnd_bytes, max_cwnd_bytes }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Which it is stands in front of it, since each acknowledgement asks several times.
#[repr(u8)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since: Instant },
    ProbeRtt(ProbeRtt),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    Open,
    /// As much is sent as arrives, for a round.
    Conserving,
    /// Up to twice as much.
    Growing,
}

/// State of Startup's search for the rate of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pipe {
    Filling { rate: u64, rounds: u32 },
    Full,
}

/// A product that has been reckoned.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// From this rate and gain, and the least round trip; zero if that has changed.
    of: (u64, u64),
    product: u64,
    /// Number of bytes that the rate carries in [`GREATEST_AGGREGATION`].
    most_extra: u64,
}

/// Excess of the data that arrives together over what the rate explains.
#[derive(Clone, Copy, Debug)]
struct Aggregation {
    since: Instant,
    acked: u64,
    greatest: [u64; 2],
    rounds: u32,
}

/// The window and the rate of one path.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    cwnd: u64,
    /// The window before a recovery or ProbeRTT.
    prior_cwnd: u64,
    pacing: Option<Pacing>,
    /// Number of bytes that may leave together at that rate.
    quantum: u64,
    /// The rate of the path and the gain that the rate is made of; zero before.
    paced_by: (u64, u64),
    mode: Mode,
    recovery: Recovery,
    pipe: Pipe,
    /// In bits a second, by rounds.
    rates: WindowedMax,
    rounds: u64,
    /// A round ends with the arrival of what was sent when so much had been delivered.
    round_ends_at: u64,
    least_round_trip: LeastRoundTrip,
    known: Known,
    /// A window before it was made whole pairs of segments, and what it came to.
    known_even: (u64, u64),
    aggregation: Aggregation,
    /// Samples of what is sent until so much is delivered say less than the rate: ProbeRTT limits them.
    limited_until: u64,
    is_restarting: bool,
    /// Bytes lost since the last acknowledgement.
    newly_lost: u64,
    /// Bytes delivered.
    delivered: u64,
}

impl Bbr {
    /// A controller before any transmission.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: BbrConfig) -> Self {
        assert!(config.segment_bytes > 0, "a segment carries at least one byte");
        Self {
            config,
            cwnd: config.initial_cwnd_bytes.max(config.segment_bytes).min(config.max_cwnd_bytes),
            prior_cwnd: 0,
            pacing: None,
            quantum: 2 * config.segment_bytes,
            paced_by: (0, 0),
            mode: Mode::Startup,
            recovery: Recovery::Open,
            pipe: Pipe::Filling { rate: 0, rounds: 0 },
            rates: WindowedMax::default(),
            rounds: 0,
            round_ends_at: 0,
            least_round_trip: LeastRoundTrip::NONE,
            known: Known { of: (0, 0), product: 0, most_extra: 0 },
            known_even: (0, 0),
            aggregation: Aggregation { since: Instant::START, acked: 0, greatest: [0; 2], rounds: 0 },
            limited_until: 0,
            is_restarting: false,
            newly_lost: 0,
            delivered: 0,
        }
    }

    const fn is_full(&self) -> bool {
        matches!(self.pipe, Pipe::Full)
    }

    fn least_window(&self) -> u64 {
        LEAST_WINDOW * self.config.segment_bytes
    }

    const fn rate(&self) -> DataRate {
        DataRate::from_bits_per_sec(self.rates.get())
    }

    const fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw { phase, .. } => (CYCLE[phase], CWND_GAIN),
            Mode::ProbeRtt(_) => (UNIT, UNIT),
        }
    }

    /// The product times a gain.
    fn product(&self, gain: u64) -> u64 {
        let Some(round_trip) = self.least_round_trip.known() else { return self.config.initial_cwnd_bytes };
        let bytes = self.rate().size_in(round_trip).as_bytes();
        if let Some(scaled) = bytes.checked_mul(gain) {
            return scaled.div_ceil(UNIT);
        }
        let scaled = u128::from(bytes) * u128::from(gain);
        u64::try_from(scaled.div_ceil(u128::from(UNIT))).unwrap_or(u64::MAX)
    }

    /// The product times a gain, which most acknowledgements ask for while rate, round trip and gain are as they were.
    fn known(&mut self, gain: u64) -> Known {
        if self.known.of != (self.rates.get(), gain) {
            self.reckon(gain);
        }
        self.known
    }

    #[inline(never)]
    fn reckon(&mut self, gain: u64) {
        let most_extra = self.rate().size_in(GREATEST_AGGREGATION).as_bytes();
        self.known = Known { of: (self.rates.get(), gain), product: self.product(gain), most_extra };
    }

    /// A window for such a product, with room for what hosts hold back.
    fn with_room(&self, bytes: u64) -> u64 {
        self.with_probe(self.even(self.room(bytes)))
    }

    /// Variant of [`Self::with_room`] that keeps its last result, since most acknowledgements ask for the same as the
    /// last one.
    fn with_known_room(&mut self, bytes: u64) -> u64 {
        let room = self.room(bytes);
        if self.known_even.0 != room {
            self.known_even = (room, self.even(room));
        }
        self.with_probe(self.known_even.1)
    }

    fn room(&self, bytes: u64) -> u64 {
        bytes.saturating_add(3 * self.quantum)
    }

    /// Whole pairs of segments.
    #[inline(never)]
    fn even(&self, room: u64) -> u64 {
        let pair = 2 * self.config.segment_bytes;
        room.div_ceil(pair).saturating_mul(pair)
    }

    fn with_probe(&self, even: u64) -> u64 {
        let probes = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        even.saturating_add(if probes { 2 * self.config.segment_bytes } else { 0 })
    }

    fn in_flight_at(&self, gain: u64) -> u64 {
        self.with_room(self.product(gain))
    }

    /// Takes in rate and round. Returns whether a round begins.
    fn update_rate(&mut self, acknowledged: &Acknowledged) -> bool {
        let Some(newest) = acknowledged.counts.newest else { return false };
        let starts_round = newest.delivered() >= self.round_ends_at;
        if starts_round {
            self.round_ends_at = acknowledged.counts.delivered;
            self.rounds += 1;
            if self.recovery == Recovery::Conserving {
                self.recovery = Recovery::Growing;
            }
        }
        let Some(sample) = acknowledged.delivery else { return starts_round };
        let rate = sample.rate().as_bits_per_sec();
        if !is_limited(acknowledged, self.limited_until) || rate >= self.rates.get() {
            self.rates.update(RATE_ROUNDS, self.rounds, rate);
        }
        starts_round
    }

    fn update_aggregation(&mut self, acknowledged: &Acknowledged, starts_round: bool) {
        let newly_delivered = acknowledged.counts.newly_delivered;
        if newly_delivered == 0 || acknowledged.delivery.is_none() {
            return;
        }
        let (rate, cwnd) = (self.rate(), self.cwnd);
        let seen = &mut self.aggregation;
        if starts_round {
            seen.rounds += 1;
            if seen.rounds >= AGGREGATION_ROUNDS {
                seen.rounds = 0;
                seen.greatest = [0, seen.greatest[0]];
            }
        }
        let mut expected = rate.size_in(acknowledged.now.saturating_since(seen.since)).as_bytes();
        if seen.acked <= expected {
            (seen.acked, seen.since, expected) = (0, acknowledged.now, 0);
        }
        seen.acked += newly_delivered;
        seen.greatest[0] = seen.greatest[0].max((seen.acked - expected).min(cwnd));
    }

    fn update_phase(&mut self, acknowledged: &Acknowledged) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let Some(round_trip) = self.least_round_trip.known() else { return };
        let has_lasted = acknowledged.now.saturating_since(since) > round_trip;
        let in_flight = acknowledged.in_flight_before;
        let is_over = match CYCLE[phase] {
            UNIT => has_lasted,
            gain if gain > UNIT => {
                has_lasted && (self.newly_lost > 0 || in_flight >= self.in_flight_at(gain))
            }
            _ => has_lasted || in_flight <= self.in_flight_at(UNIT),
        };
        if is_over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: acknowledged.now };
        }
    }

    fn update_pipe(&mut self, acknowledged: &Acknowledged, starts_round: bool) {
        let Pipe::Filling { rate, rounds } = self.pipe else { return };
        if !starts_round || is_limited(acknowledged, self.limited_until) {
            return;
        }
        let found = self.rates.get();
        self.pipe = if found >= rate.saturating_mul(GROWTH) / 4 {
            Pipe::Filling { rate: found, rounds: 0 }
        } else if rounds + 1 >= FULL_ROUNDS {
            Pipe::Full
        } else {
            Pipe::Filling { rate, rounds: rounds + 1 }
        };
    }

    fn update_drain(&mut self, acknowledged: &Acknowledged) {
        if matches!(self.mode, Mode::ProbeBw { .. } | Mode::ProbeRtt(_)) {
            return;
        }
        if self.is_full() {
            self.mode = Mode::Drain;
        }
        if matches!(self.mode, Mode::Drain) && acknowledged.in_flight <= self.in_flight_at(UNIT) {
            self.enter_probe_bw(acknowledged.now);
        }
    }

    /// Any phase may be the first but the slow one.
    fn enter_probe_bw(&mut self, now: Instant) {
        let draw = usize::try_from(scattered(now) % 7).expect("less than seven");
        self.mode = Mode::ProbeBw { phase: (CYCLE.len() - draw) % CYCLE.len(), since: now };
    }

    fn update_round_trip(&mut self, acknowledged: &Acknowledged, starts_round: bool) {
        let now = acknowledged.now;
        let is_stale = self.least_round_trip.is_older_than(ROUND_TRIP_TIME, now);
        if let Some(round_trip) = acknowledged.round_trip
            && (self.least_round_trip.is_above(round_trip) || is_stale)
        {
            self.least_round_trip = LeastRoundTrip::measured(round_trip, now);
            self.known.of = (0, 0);
        }
        if is_stale {
            self.start_probe_rtt();
        }
        if let Mode::ProbeRtt(before) = self.mode {
            self.limited_until = acknowledged.counts.delivered + acknowledged.in_flight;
            let after = before.advance(acknowledged, self.least_window(), starts_round);
            self.mode = Mode::ProbeRtt(after);
            if before == ProbeRtt::Falling && after != before {
                self.round_ends_at = acknowledged.counts.delivered;
            }
            if after.has_lasted_a_round() {
                self.leave_probe_rtt(now);
            }
        }
        if acknowledged.counts.newly_delivered > 0 {
            self.is_restarting = false;
        }
    }

    #[cold]
    fn start_probe_rtt(&mut self) {
        if !self.is_restarting && !matches!(self.mode, Mode::ProbeRtt(_)) {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt(ProbeRtt::Falling);
        }
    }

    fn leave_probe_rtt(&mut self, now: Instant) {
        if !matches!(self.mode, Mode::ProbeRtt(probe) if probe.is_over(now)) {
            return;
        }
        self.least_round_trip.renew(now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.is_full() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_cwnd(&mut self) {
        let is_good = self.recovery == Recovery::Open && !matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn set_pacing(&mut self, acknowledged: &Acknowledged, gain: u64) {
        if self.pacing.is_none()
            && let Some(round_trip) = acknowledged.smoothed_round_trip.or(acknowledged.round_trip)
        {
            self.set_rate(paced(rate_of(self.cwnd, round_trip), HIGH_GAIN, UNIT));
        }
        self.pace(gain);
    }

    fn pace(&mut self, gain: u64) {
        // Most acknowledgements leave both as they are.
        if self.paced_by != (self.rates.get(), gain) {
            self.pace_anew(gain);
        }
    }

    #[inline(never)]
    fn pace_anew(&mut self, gain: u64) {
        let rate = paced(self.rate(), gain, UNIT);
        if rate.as_bits_per_sec() > 0
            && (self.is_full() || self.pacing.is_some_and(|pacing| rate > pacing.rate()))
        {
            self.set_rate(rate);
            self.paced_by = (self.rates.get(), gain);
        }
    }

    fn set_rate(&mut self, rate: DataRate) {
        let segment = self.config.segment_bytes;
        self.quantum = quantum_at(rate, segment);
        self.pacing = Some(Pacing::new(rate, segment, self.quantum));
    }

    fn set_cwnd(&mut self, acknowledged: &Acknowledged, gain: u64) {
        let acked = acknowledged.counts.newly_delivered;
        self.newly_lost = 0;
        if acked > 0 {
            let mut cwnd = self.cwnd;
            if self.recovery == Recovery::Conserving {
                cwnd = cwnd.max(acknowledged.in_flight + acked);
            } else {
                let Known { product, most_extra, .. } = self.known(gain);
                let [one, other] = self.aggregation.greatest;
                let extra = if self.is_full() { one.max(other).min(most_extra) } else { 0 };
                let target = self.with_known_room(product.saturating_add(extra));
                if self.is_full() {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || acknowledged.counts.delivered < self.config.initial_cwnd_bytes {
                    cwnd += acked;
                }
                cwnd = cwnd.max(self.least_window());
            }
            self.cwnd = cwnd;
        }
        self.cwnd = self.cwnd.min(self.config.max_cwnd_bytes);
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(self.least_window());
        }
    }
}

/// Number of bytes that leave together at a rate: those that it carries in a millisecond, in whole segments.
#[inline(never)]
fn quantum_at(rate: DataRate, segment: u64) -> u64 {
    let least = if rate < SLOW { 1 } else { 2 };
    (rate.size_in(QUANTUM_TIME).as_bytes() / segment).max(least).min(65_535 / segment.min(65_535)) * segment
}

/// A rate times a gain in such units, less a hundredth part so that queues shrink.
pub(crate) fn paced(rate: DataRate, gain: u64, unit: u64) -> DataRate {
    let (rate, factor) = (rate.as_bits_per_sec(), gain * 99);
    if let Some(scaled) = rate.checked_mul(factor) {
        return DataRate::from_bits_per_sec(scaled / (100 * unit));
    }
    let bits = u128::from(rate) * u128::from(factor) / u128::from(100 * unit);
    DataRate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
}

/// A number that says nothing of the time that it is made of (the finalizer of SplitMix64).
pub(crate) fn scattered(now: Instant) -> u64 {
    let mut bits = now.as_nanos().wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl Selectable for Bbr {
    const NEEDS_LOSS_TIMES: bool = true;
    const HEEDS_MARKS: bool = false;

    fn on(terms: &Terms) -> Self {
        Self::new(BbrConfig::on(terms))
    }
}

impl CongestionControl for Bbr {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        if self.is_full() { self.in_flight_at(UNIT) } else { u64::MAX }
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        self.pacing.map(|pacing| pacing.rate())
    }

    #[inline]
    fn spacing(&self, bytes: u64) -> Option<Spacing> {
        self.pacing.as_ref().map(|pacing| pacing.spacing(bytes))
    }

    fn send_quantum(&self) -> u64 {
        self.quantum
    }

    fn rules_recovery(&self) -> bool {
        true
    }

    #[inline]
    fn on_sent(&mut self, sent: Sent) {
        // With a recovery open it is not the application that has paused.
        if sent.in_flight_before > 0 || self.recovery != Recovery::Open {
            return;
        }
        self.is_restarting = true;
        self.aggregation.since = sent.now;
        self.aggregation.acked = 0;
        match self.mode {
            Mode::ProbeBw { .. } => self.pace(UNIT),
            Mode::ProbeRtt(_) => self.leave_probe_rtt(sent.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.delivered = acknowledged.counts.delivered;
        let starts_round = self.update_rate(acknowledged);
        self.update_aggregation(acknowledged, starts_round);
        self.update_phase(acknowledged);
        self.update_pipe(acknowledged, starts_round);
        self.update_drain(acknowledged);
        self.update_round_trip(acknowledged, starts_round);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_pacing(acknowledged, pacing_gain);
        self.set_cwnd(acknowledged, cwnd_gain);
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.newly_lost += lost.bytes;
        // Now and not with the next acknowledgement, or the room that it leaves would be filled before.
        if self.recovery != Recovery::Open {
            self.cwnd = self.cwnd.saturating_sub(lost.bytes).max(self.config.segment_bytes);
        }
    }

    fn on_lost(&mut self, congestion: Congestion) {
        self.save_cwnd();
        self.recovery = Recovery::Conserving;
        self.round_ends_at = self.delivered;
        // What was lost has left the network, and as much may be sent as arrives.
        let in_flight = congestion.in_flight.saturating_sub(self.newly_lost);
        self.newly_lost = 0;
        self.cwnd = in_flight.max(self.config.segment_bytes).min(self.cwnd);
    }

    fn on_recovered(&mut self, _: Instant) {
        self.recovery = Recovery::Open;
        self.cwnd = self.cwnd.max(self.prior_cwnd).min(self.config.max_cwnd_bytes);
    }

    fn on_spurious(&mut self, now: Instant) {
        if let Pipe::Filling { rate, rounds } = &mut self.pipe {
            (*rate, *rounds) = (0, 0);
        }
        self.on_recovered(now);
    }

    fn on_timed_out(&mut self, _: TimedOut) {
        self.save_cwnd();
        self.recovery = Recovery::Growing;
        if let Pipe::Filling { rate, .. } = &mut self.pipe {
            *rate = 0;
        }
        self.newly_lost = 0;
        self.cwnd = self.config.segment_bytes;
    }

    fn on_marked(&mut self, _: Congestion) {
        // Version 1 is deaf to ECN.
    }

    fn on_idle(&mut self, _: u64) {
        // The window stays, since what it lets out is paced.
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.segment_bytes = segment_bytes;
        self.known_even = (0, 0);
        match self.pacing {
            Some(pacing) => self.set_rate(pacing.rate()),
            None => self.quantum = 2 * segment_bytes,
        }
    }
}

#[cfg(test)]
mod tests;
