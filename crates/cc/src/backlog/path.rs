//! Model of the path: its round trip without queue, its rate, and its loss.

use slantpath_base::{DataRate, Duration, Instant};

use super::LOSS_UNIT;
use crate::control::Acknowledged;
use crate::windowed::WindowedMax;

/// Rounds that the greatest rate is remembered for.
const RATE_ROUNDS: u64 = 10;
/// Weight of a round in the ratio of loss, as a divisor.
const LOSS_WEIGHT: u64 = 4;

/// For so long, and so many rounds, the round trip without queue is trusted although none has been seen that is as
/// short.
const BASE_TIME: Duration = Duration::from_secs(10);
const BASE_ROUNDS: u64 = 32;
/// A round trip that is longer by less than this part is as short, as a divisor.
const SEEN_WITHIN: u64 = 128;

/// Round trips that differ by less than this part are equal, as a divisor.
const EQUAL: u64 = 256;

/// `value * numerator / denominator`.
pub(super) fn multiplied(value: u64, numerator: Duration, denominator: Duration) -> u64 {
    let product = u128::from(value) * u128::from(numerator.as_nanos());
    u64::try_from(product / u128::from(denominator.as_nanos().max(1))).unwrap_or(u64::MAX)
}

/// The path as it is estimated.
#[derive(Clone, Debug)]
pub(super) struct PathModel {
    base: Option<Duration>,
    /// The least round trip of the last round.
    round_trip: Option<Duration>,
    /// Instant at which, and round in which, a round trip was last as short as `base`.
    seen_at: Instant,
    seen_in: u64,
    rates: WindowedMax,
    rounds: u64,
    /// The ratio of loss over some rounds.
    loss: u64,
    /// Bytes delivered and lost when the round began.
    delivered_before: u64,
    lost_before: u64,
    delivered: u64,
    lost: u64,
    has_lost: bool,
}

impl Default for PathModel {
    fn default() -> Self {
        Self {
            base: None,
            round_trip: None,
            seen_at: Instant::START,
            seen_in: 0,
            rates: WindowedMax::default(),
            rounds: 0,
            loss: 0,
            delivered_before: 0,
            lost_before: 0,
            delivered: 0,
            lost: 0,
            has_lost: false,
        }
    }
}

impl PathModel {
    /// The round trip without queue.
    pub(super) const fn base(&self) -> Option<Duration> {
        self.base
    }

    pub(super) const fn set_base(&mut self, base: Duration) {
        self.base = Some(base);
    }

    /// Tells if no round trip has been as short for so long that it may be another by now.
    pub(super) fn is_base_stale(&self, now: Instant) -> bool {
        now.saturating_since(self.seen_at) > BASE_TIME && self.rounds - self.seen_in > BASE_ROUNDS
    }

    /// The round trip without queue has been looked for.
    pub(super) const fn renew_base(&mut self, now: Instant) {
        self.seen_at = now;
        self.seen_in = self.rounds;
    }

    /// The least round trip of the last round.
    pub(super) const fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// The greatest rate of some rounds, of what was sent.
    pub(super) fn rate(&self) -> Option<DataRate> {
        let delivered = self.rates.get();
        (delivered > 0).then(|| {
            DataRate::from_bits_per_sec(delivered / (LOSS_UNIT - self.loss.min(LOSS_UNIT / 2)) * LOSS_UNIT)
        })
    }

    /// Tells if the last round has lost anything.
    pub(super) const fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// The ratio of loss, in units.
    pub(super) const fn loss(&self) -> u64 {
        self.loss
    }

    /// Excuses losses up to this count, which are not the path's doing.
    pub(super) const fn skip_losses(&mut self, lost: u64) {
        self.lost_before = lost;
    }

    /// Excuses the loss of so many bytes more, of which an acknowledgement will tell.
    pub(super) const fn excuse(&mut self, bytes: u64) {
        self.lost_before += bytes;
    }

    /// Bytes delivered as far as is known.
    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns whether the path has become shorter by an eighth.
    pub(super) fn observe(&mut self, acknowledged: &Acknowledged) -> bool {
        self.delivered = acknowledged.counts.delivered;
        self.lost = acknowledged.counts.lost;
        if let Some(sample) = acknowledged.delivery {
            let rate = sample.rate().as_bits_per_sec();
            if !sample.is_application_limited || rate > self.rates.get() {
                self.rates.update(RATE_ROUNDS, self.rounds, rate);
            }
        }
        let Some(round_trip) = acknowledged.round_trip else { return false };
        if self.base.is_none_or(|base| round_trip <= base + base / SEEN_WITHIN) {
            self.renew_base(acknowledged.now);
        }
        match self.base {
            Some(base) if round_trip >= base => false,
            before => {
                self.base = Some(round_trip);
                before.is_some_and(|before| round_trip < before - before / 8)
            }
        }
    }

    pub(super) fn end_round(&mut self, round: &Round) {
        self.rounds += 1;
        self.round_trip = round.least().map(|(_, round_trip)| round_trip).or(self.round_trip);
        let delivered = self.delivered - self.delivered_before;
        let lost = self.lost.saturating_sub(self.lost_before);
        let ratio = (u128::from(lost) * u128::from(LOSS_UNIT)) / u128::from((delivered + lost).max(1));
        let ratio = u64::try_from(ratio).expect("at most one unit");
        // Rounded down as a whole, so that it comes back to nothing.
        self.loss = (self.loss * (LOSS_WEIGHT - 1) + ratio) / LOSS_WEIGHT;
        self.has_lost = lost > 0;
        self.delivered_before = self.delivered;
        self.lost_before = self.lost;
    }
}

/// The segments of one round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Bytes in flight with the segment that took least, and the time that it took.
    least: Option<(u64, Duration)>,
    greatest: Duration,
}

impl Round {
    /// A round whose segments all left with so much in flight and took so long.
    #[cfg(test)]
    pub(super) const fn of(in_flight: u64, round_trip: Duration) -> Self {
        Self { least: Some((in_flight, round_trip)), greatest: round_trip }
    }

    /// Takes in an acknowledgement of a segment that the application has not limited, of a flow that lets so many bytes
    /// out together.
    pub(super) fn observe(&mut self, acknowledged: &Acknowledged, quantum: u64) {
        let (Some(round_trip), Some(newest)) = (acknowledged.round_trip, acknowledged.counts.newest) else {
            return;
        };
        if newest.is_application_limited() {
            return;
        }
        self.greatest = self.greatest.max(round_trip);
        let in_flight = newest.in_flight();
        self.least = Some(match self.least {
            Some((before, least)) if round_trip.abs_diff(least) <= least / EQUAL => {
                // Of segments that took as long the newest one counts, but for what a small window had less in flight
                // while it waited to be paced.
                let in_flight = if before.saturating_sub(in_flight) <= quantum {
                    before.max(in_flight)
                } else {
                    in_flight
                };
                (in_flight, least.min(round_trip))
            }
            Some((before, least)) if round_trip > least => (before, least),
            _ => (in_flight, round_trip),
        });
    }

    /// Bytes in flight with the segment that took least, and the time that it took.
    pub(super) const fn least(&self) -> Option<(u64, Duration)> {
        self.least
    }

    /// The longest of its round trips.
    pub(super) const fn greatest(&self) -> Duration {
        self.greatest
    }

    /// Number of bytes that would have been in flight without a queue.
    pub(super) fn in_flight_without_queue(&self, base: Duration) -> Option<u64> {
        self.least.map(|(in_flight, round_trip)| multiplied(in_flight, base, round_trip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{DeliveryMeter, DeliverySample};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn trip(now: u64, micros: u64) -> Acknowledged {
        Acknowledged {
            round_trip: Some(Duration::from_micros(micros)),
            ..Acknowledged::of(at(now), 1_000, 1_000)
        }
    }

    /// A sample of a rate in kilobytes a second.
    fn sample(rate: u64, is_application_limited: bool) -> Acknowledged {
        let delivery = DeliverySample { delivered: rate * 100, interval: ms(100), is_application_limited };
        Acknowledged { delivery: Some(delivery), ..Acknowledged::of(at(1), 1_000, 1_000) }
    }

    fn rounds(path: &mut PathModel, count: u32) {
        for _ in 0..count {
            path.end_round(&Round::default());
        }
    }

    #[test]
    fn a_round_trip_is_stale_after_ten_seconds_and_32_rounds_without_one_as_short() {
        let mut path = PathModel::default();
        rounds(&mut path, 5);
        path.observe(&trip(20_000, 100_000));
        rounds(&mut path, 32);
        assert!(!path.is_base_stale(at(40_000)));
        rounds(&mut path, 1);
        assert!(!path.is_base_stale(at(30_000)));
        assert!(path.is_base_stale(at(30_001)));
        // Longer by less than a 128th part is as short.
        path.observe(&trip(30_000, 100_790));
        assert!(path.is_base_stale(at(40_000)));
        path.observe(&trip(30_000, 100_780));
        rounds(&mut path, 33);
        assert!(!path.is_base_stale(at(40_000)));
    }

    #[test]
    fn a_path_has_become_shorter_if_it_is_so_by_more_than_an_eighth() {
        let shortens = |micros| {
            let mut path = PathModel::default();
            assert!(!path.observe(&trip(1, 80_000)));
            path.observe(&trip(2, micros))
        };
        assert_eq!([79_000, 70_000, 69_999].map(shortens), [false, false, true]);
    }

    #[test]
    fn the_round_trip_of_the_last_round_stands_for_rounds_that_tell_of_none() {
        let mut path = PathModel::default();
        assert_eq!(path.round_trip(), None);
        path.end_round(&Round::of(1_000, ms(120)));
        rounds(&mut path, 1);
        assert_eq!(path.round_trip(), Some(ms(120)));
    }

    #[test]
    fn the_rate_is_that_of_what_was_sent() {
        let rate = |loss| {
            let mut path = PathModel { loss, ..PathModel::default() };
            assert_eq!(path.rate(), None);
            path.observe(&sample(1_000, false));
            path.rate().map(DataRate::as_bits_per_sec)
        };
        // In units of 2^16 bit/s: of what is lost, half at most is added.
        assert_eq!([0, 16_384, 60_000].map(rate), [Some(122 << 16), Some(162 << 16), Some(244 << 16)]);
    }

    #[test]
    fn what_the_application_limited_counts_only_if_it_is_greater() {
        let greatest = |samples: &[(u64, u64, bool)]| {
            let mut path = PathModel::default();
            for (round, rate, is_limited) in samples {
                path.rounds = *round;
                path.observe(&sample(*rate, *is_limited));
            }
            path.rates.get() / 8_000
        };
        assert_eq!(greatest(&[(0, 1_000, false), (11, 500, true)]), 1_000);
        assert_eq!(greatest(&[(0, 1_000, false), (11, 500, false)]), 500);
        assert_eq!(greatest(&[(0, 1_000, false), (1, 1_100, true)]), 1_100);
        assert_eq!(greatest(&[(0, 1_000, false), (8, 1_000, true), (11, 500, false)]), 500);
    }

    #[test]
    fn a_quarter_of_what_a_round_loses_counts_in_the_ratio_of_loss() {
        let mut path = PathModel::default();
        let mut end = |delivered, lost, skipped| {
            (path.delivered, path.lost) = (delivered, lost);
            if let Some(skipped) = skipped {
                path.skip_losses(skipped);
            }
            path.end_round(&Round::default());
            (path.loss(), path.has_lost())
        };
        assert_eq!(end(3_000, 1_000, None), (4_096, true));
        assert_eq!(end(6_000, 2_000, None), (7_168, true));
        assert_eq!(end(9_000, 5_000, Some(5_000)), (5_376, false));
        // Nothing is left of it once nothing has been lost for long.
        for _ in 0..40 {
            end(10_000, 5_000, None);
        }
        assert_eq!(end(10_000, 5_000, None), (0, false));
        path.excuse(600);
        (path.delivered, path.lost) = (10_400, 6_000);
        path.end_round(&Round::default());
        assert_eq!(path.loss(), (1 << 16) / 2 / 4, "400 of 800");
    }

    #[test]
    fn of_a_round_the_segment_counts_that_took_least_and_of_equal_ones_the_newest() {
        let mut round = Round::default();
        let mut meter = DeliveryMeter::default();
        let mut least = |in_flight, micros| {
            let mut acknowledged = trip(1_000, micros);
            acknowledged.counts.newest = Some(meter.depart(at(900), false, in_flight));
            round.observe(&acknowledged, 2_000);
            let (in_flight, round_trip) = round.least().unwrap();
            (in_flight, round_trip.as_micros(), round.greatest().as_micros())
        };
        assert_eq!(least(50_000, 100_000), (50_000, 100_000, 100_000));
        assert_eq!(least(60_000, 100_300), (60_000, 100_000, 100_300));
        assert_eq!(least(59_000, 100_000), (60_000, 100_000, 100_300), "a quantum less was yet to leave");
        assert_eq!(least(40_000, 100_000), (40_000, 100_000, 100_300));
        assert_eq!(least(90_000, 110_000), (40_000, 100_000, 110_000));
        assert_eq!(least(30_000, 90_000), (30_000, 90_000, 110_000));
        meter.limit_by_application(0);
        let mut acknowledged = trip(1_000, 10_000);
        acknowledged.counts.newest = Some(meter.depart(at(900), false, 1_000));
        round.observe(&acknowledged, 2_000);
        assert_eq!(round.least(), Some((30_000, ms(90))), "the application was the limit");
    }
}
