//! What BBR knows of the path: rates, round trips, rounds, aggregation, and what losses say of the last round.

use slantpath_base::{DataRate, Duration, Instant};

use super::BETA;
use crate::control::Acknowledged;
use crate::delivery::LostSegment;
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

/// Whether so much lost of what was in flight exceeds the threshold.
pub(super) const fn is_too_high(lost: u64, in_flight: u64) -> bool {
    lost > in_flight / LOSS_THRESHOLD
}

/// What was in flight when losses crossed the threshold, by the loss of a segment of so many bytes with which so much
/// was (InflightAtLoss).
pub(super) fn in_flight_at_loss(in_flight: u64, lost: u64, bytes: u64) -> u64 {
    let before = in_flight.saturating_sub(bytes);
    let lost_before = lost.saturating_sub(bytes);
    // (threshold * before - lost before) / (1 - threshold), which is less than nothing if it was crossed earlier.
    let prefix =
        (before / LOSS_THRESHOLD).saturating_sub(lost_before) * LOSS_THRESHOLD / (LOSS_THRESHOLD - 1);
    before + prefix
}

/// Whether a rate that is pushed has stopped to grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pipe {
    rate: u64,
    rounds: u32,
    /// It has since this was last looked for (BBR.full_bw_now).
    pub(super) is_now: bool,
    /// It has ever (BBR.full_bw_reached).
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

/// What the acknowledgement at hand says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// In bits a second; zero if it does not tell.
    pub(super) rate: u64,
    pub(super) starts_round: bool,
    pub(super) ends_loss_round: bool,
    /// Whether what was lost of the flight of its newest segment exceeds the threshold.
    pub(super) is_loss_high: bool,
}

/// The path as it is estimated. Rates are in bits a second.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The greatest of this cycle of probes and of the last one.
    rates: [u64; 2],
    pub(super) sample: Sample,
    pub(super) short_term_rate: u64,
    pub(super) short_term_in_flight: u64,
    /// BBR.min_rtt, and when it was.
    round_trip: Option<(Duration, Instant)>,
    /// BBR.probe_rtt_min_delay, likewise.
    dip_round_trip: Option<(Duration, Instant)>,
    pub(super) rounds: u64,
    round_ends_at: u64,
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
            round_trip: None,
            dip_round_trip: None,
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
    fn greatest_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }

    /// BBR.bw.
    pub(super) fn rate(&self) -> u64 {
        self.greatest_rate().min(self.short_term_rate)
    }

    /// BBR.bdp, once there is a round trip.
    pub(super) fn product(&self) -> Option<u64> {
        let (round_trip, _) = self.round_trip?;
        Some(DataRate::from_bits_per_sec(self.rate()).size_in(round_trip).as_bytes())
    }

    pub(super) const fn extra_acked(&self) -> u64 {
        self.aggregations.get()
    }

    pub(super) const fn start_round(&mut self) {
        self.round_ends_at = self.delivered;
    }

    pub(super) const fn reset_short_term(&mut self) {
        self.short_term_rate = u64::MAX;
        self.short_term_in_flight = u64::MAX;
    }

    pub(super) const fn reset_signals(&mut self) {
        self.is_loss_in_round = false;
        self.latest_rate = 0;
        self.latest_in_flight = 0;
    }

    /// A cycle of probes is over (AdvanceMaxBwFilter).
    pub(super) const fn advance_rates(&mut self) {
        if self.rates[0] > 0 {
            self.rates = [0, self.rates[0]];
        }
    }

    pub(super) const fn restart_aggregation(&mut self, now: Instant) {
        self.aggregation_since = now;
        self.aggregated = 0;
    }

    /// Takes in rate, round, loss and aggregation of an acknowledgement.
    pub(super) fn observe(&mut self, acknowledged: &Acknowledged, is_limited: bool, cwnd: u64) {
        let counts = &acknowledged.counts;
        self.delivered = counts.delivered;
        let rate = acknowledged.delivery.map_or(0, |sample| sample.rate().as_bits_per_sec());
        self.sample = Sample { rate, ..Sample::default() };
        let volume = acknowledged.delivery.map_or(0, |sample| sample.delivered);
        self.latest_rate = self.latest_rate.max(self.sample.rate);
        self.latest_in_flight = self.latest_in_flight.max(volume);
        if counts.newly_lost > 0 {
            self.losses_in_round += 1;
        }
        if let Some(newest) = counts.newest {
            self.sample.is_loss_high = is_too_high(newest.lost_since(counts.lost), newest.in_flight());
            if newest.delivered() >= self.loss_round_ends_at {
                self.loss_round_ends_at = counts.delivered;
                self.sample.ends_loss_round = true;
            }
            if newest.delivered() >= self.round_ends_at {
                self.start_round();
                self.rounds += 1;
                self.sample.starts_round = true;
            }
        }
        if self.sample.rate > 0 && (!is_limited || self.sample.rate >= self.greatest_rate()) {
            self.rates[0] = self.rates[0].max(self.sample.rate);
        }
        self.observe_aggregation(acknowledged, cwnd);
        if self.sample.starts_round && !is_limited && self.sample.rate > 0 {
            self.pipe.observe(self.sample.rate);
        }
    }

    fn observe_aggregation(&mut self, acknowledged: &Acknowledged, cwnd: u64) {
        let interval = acknowledged.now.saturating_since(self.aggregation_since);
        let mut expected = DataRate::from_bits_per_sec(self.rate()).size_in(interval).as_bytes();
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
        let is_stale = self.dip_round_trip.is_some_and(|(_, at)| now > at + PROBE_RTT_INTERVAL);
        if let Some(round_trip) = acknowledged.round_trip
            && (is_stale || self.dip_round_trip.is_none_or(|(least, _)| round_trip < least))
        {
            self.dip_round_trip = Some((round_trip, now));
        }
        if let Some((least, at)) = self.dip_round_trip
            && self.round_trip.is_none_or(|(known, since)| least < known || now > since + ROUND_TRIP_TIME)
        {
            self.round_trip = Some((least, at));
        }
        is_stale
    }

    /// The round trip has been looked for.
    pub(super) const fn renew_round_trip(&mut self, now: Instant) {
        if let Some((_, at)) = &mut self.dip_round_trip {
            *at = now;
        }
    }
}
