//! The beginning: the window doubles each round, paced, until it is what the path holds.
//!
//! What that is, the first segments tell, which leave together: a bottleneck spaces them, so that the acknowledgements
//! of such a train come at its rate (Keshav 1991). Where the first window is too small for a train,
//! what comes back while the doubling has a queue wait tells it as well. Where neither does, or the rate is too much, a
//! round trip that grows ends the doubling, as in HyStart++ (RFC 9406).

use slantpath_base::{DataRate, Duration, Instant};

use crate::control::Acknowledged;
use crate::delivery::rate_of;

/// Number of segments that a train must bring after its first acknowledgement to be a measure.
const TRAIN_SEGMENTS: u64 = 4;
/// Windows up to so many segments leave as trains while none has been measured.
const TRAIN_WINDOW: u64 = 16;
/// Acknowledgements in a row whose round trips show a queue.
const QUEUE_SAMPLES: u32 = 4;
/// Bounds of the growth of a round trip that shows a queue: an eighth of it, but not less nor more than these.
const LEAST_GROWTH: Duration = Duration::from_millis(4);
const GREATEST_GROWTH: Duration = Duration::from_millis(16);

#[derive(Clone, Debug, Default)]
pub(super) struct Opening {
    train: Train,
    /// Since when each segment has waited in a queue, and what has arrived since.
    busy: Option<(Instant, u64)>,
    /// The window when the round began.
    window: u64,
    /// Acknowledgements in a row that showed a queue.
    queued: u32,
}

/// Segments that left at one time, as they come back.
#[derive(Clone, Copy, Debug, Default)]
enum Train {
    #[default]
    Awaited,
    Arriving {
        sent_at: Instant,
        first_at: Instant,
        last_at: Instant,
        bytes: u64,
    },
    Measured(DataRate),
}

impl Opening {
    /// Rate of the bottleneck that the train has shown.
    pub(super) const fn train_rate(&self) -> Option<DataRate> {
        match self.train {
            Train::Measured(rate) => Some(rate),
            Train::Arriving { .. } | Train::Awaited => None,
        }
    }

    pub(super) fn observe(
        &mut self,
        acknowledged: &Acknowledged,
        base: Option<Duration>,
        segment_bytes: u64,
    ) {
        self.observe_queue(acknowledged, base, segment_bytes);
        let Some(newest) = acknowledged.counts.newest else { return };
        let (now, begins) = (acknowledged.now, newest.sent_at);
        match &mut self.train {
            Train::Arriving { sent_at, first_at, last_at, bytes } if *sent_at == begins => {
                let (lasted, pause) = (*last_at - *first_at, now - *last_at);
                if *bytes >= TRAIN_SEGMENTS * segment_bytes && !lasted.is_zero() && pause > lasted {
                    // The receiver has held back what it says of an odd segment at the end: no bottleneck spaces so.
                    self.train = Train::Measured(rate_of(*bytes, lasted));
                } else {
                    *last_at = now;
                    *bytes += acknowledged.counts.newly_delivered;
                }
            }
            Train::Arriving { first_at, last_at, bytes, .. } => {
                // The train is over.
                self.train = if *bytes >= TRAIN_SEGMENTS * segment_bytes && *last_at > *first_at {
                    Train::Measured(rate_of(*bytes, *last_at - *first_at))
                } else {
                    Train::Arriving { sent_at: begins, first_at: now, last_at: now, bytes: 0 }
                };
            }
            Train::Awaited => {
                self.train = Train::Arriving { sent_at: begins, first_at: now, last_at: now, bytes: 0 }
            }
            Train::Measured(_) => {}
        }
    }

    /// Measures the rate of the bottleneck, at which queued data leaves it. Nothing is queued but by the doubling once
    /// segments are paced, as all have been that come back a round later.
    fn observe_queue(&mut self, acknowledged: &Acknowledged, base: Option<Duration>, segment_bytes: u64) {
        if self.train_rate().is_some() || self.window <= 2 * TRAIN_WINDOW * segment_bytes {
            return;
        }
        if !base.is_some_and(|base| is_queued(acknowledged, base)) {
            self.busy = None;
            return;
        }
        let (since, bytes) = self.busy.get_or_insert((acknowledged.now, 0));
        if acknowledged.now > *since {
            *bytes += acknowledged.counts.newly_delivered;
        }
        if *bytes >= TRAIN_WINDOW * segment_bytes {
            self.train = Train::Measured(rate_of(*bytes, acknowledged.now - *since));
        }
    }

    /// Tells if round trips have begun to grow.
    pub(super) fn has_queue(&mut self, acknowledged: &Acknowledged, base: Duration) -> bool {
        if acknowledged.round_trip.is_none() {
            return false;
        }
        // A train waits for itself.
        if self.train_rate().is_none() || !is_queued(acknowledged, base) {
            self.queued = 0;
            return false;
        }
        self.queued += 1;
        self.queued >= QUEUE_SAMPLES
    }

    pub(super) const fn start_round(&mut self, window: u64) {
        self.window = window;
    }

    /// Twice the window of the round in a round trip, once a train has been measured.
    pub(super) fn pacing_rate(&self, cwnd: u64, base: Duration, segment_bytes: u64) -> Option<DataRate> {
        let Some(train) = self.train_rate() else {
            return (cwnd > TRAIN_WINDOW * segment_bytes).then(|| rate_of(2 * cwnd, base));
        };
        let doubling = rate_of(2 * self.window.max(cwnd / 2), base);
        Some(
            doubling.min(DataRate::from_bits_per_sec(train.as_bits_per_sec() / 16 + train.as_bits_per_sec())),
        )
    }
}

/// Tells if the data that arrives has been queued on its way.
fn is_queued(acknowledged: &Acknowledged, base: Duration) -> bool {
    let growth = (base / 8).clamp(LEAST_GROWTH, GREATEST_GROWTH);
    acknowledged.round_trip.is_some_and(|round_trip| round_trip >= base + growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{Counts, DeliveryMeter};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A segment of 1,000 bytes that left and arrived at such times.
    fn arrival(sent_at: u64, now: u64) -> Acknowledged {
        let newest = DeliveryMeter::default().depart(Instant::from_millis(sent_at), false, 1_000);
        let counts = Counts { newly_delivered: 1_000, newest: Some(newest), ..Counts::default() };
        Acknowledged { counts, ..Acknowledged::of(Instant::from_millis(now), 1_000, 1_000) }
    }

    /// Rate that trains, each sent at one time, have shown after the last of these arrivals.
    fn shown_by(arrivals: &[(u64, u64)]) -> Option<DataRate> {
        let mut opening = Opening::default();
        for (sent_at, now) in arrivals {
            opening.observe(&arrival(*sent_at, *now), None, 1_000);
        }
        opening.train_rate()
    }

    fn measured() -> Opening {
        Opening { train: Train::Measured(DataRate::from_bits_per_sec(8_000_000)), ..Opening::default() }
    }

    #[test]
    fn four_segments_after_the_first_of_a_train_tell_the_rate_once_it_is_over() {
        let train = [(1, 100), (1, 101), (1, 102), (1, 103), (1, 104), (2, 110)];
        assert_eq!(shown_by(&train[..5]), None);
        assert_eq!(shown_by(&train), Some(DataRate::from_bits_per_sec(8_000_000)));
        assert_eq!(shown_by(&train[1..]), None, "three do not");
        let at_once = [(1, 100), (1, 100), (1, 100), (1, 100), (1, 100), (2, 110)];
        assert_eq!(shown_by(&at_once), None, "nothing has spaced them");
        // What ends a train that was too short begins the next one.
        let second = [(1, 100), (1, 101), (2, 110), (2, 112), (2, 114), (2, 116), (2, 118), (3, 120)];
        assert_eq!(shown_by(&second), Some(DataRate::from_bits_per_sec(4_000_000)));
    }

    #[test]
    fn an_acknowledgement_that_was_held_back_does_not_slow_the_train_down() {
        // Five segments, a millisecond apart, and a sixth of which the receiver says something after 200 ms only.
        let train = [(1, 100), (1, 101), (1, 102), (1, 103), (1, 104)];
        let with_last = |last: u64| shown_by(&[&train[..], &[(1, last)]].concat());
        assert_eq!(with_last(305), Some(DataRate::from_bits_per_sec(8_000_000)));
        // A pause as long as the train may be the bottleneck's.
        assert_eq!([108, 109].map(with_last), [None, Some(DataRate::from_bits_per_sec(8_000_000))]);
        // Three segments after the first are none yet.
        assert_eq!(shown_by(&[&train[..4], &[(1, 305)]].concat()), None);
    }

    #[test]
    fn sixteen_segments_that_waited_tell_the_rate_once_none_of_them_was_part_of_a_train() {
        let rate_after = |window: u64, round_trips: &[u64]| {
            let mut opening = Opening { window, ..Opening::default() };
            for (count, round_trip) in (0..).zip(round_trips) {
                // One in two milliseconds, each sent at a time of its own.
                let sample =
                    Acknowledged { round_trip: Some(ms(*round_trip)), ..arrival(count, 500 + 2 * count) };
                opening.observe(&sample, Some(ms(80)), 1_000);
            }
            opening.train_rate().map(DataRate::as_bits_per_sec)
        };
        assert_eq!(rate_after(32_001, &[90; 17]), Some(4_000_000));
        assert_eq!(rate_after(32_001, &[90; 16]), None);
        assert_eq!(rate_after(32_000, &[90; 17]), None);
        assert_eq!(rate_after(32_001, &[89; 17]), None);
        let with_a_pause: Vec<u64> = [90; 10].into_iter().chain([89]).chain([90; 16]).collect();
        assert_eq!(rate_after(32_001, &with_a_pause), None);
    }

    #[test]
    fn four_round_trips_in_a_row_that_are_longer_by_an_eighth_show_a_queue() {
        let queued_after = |mut opening: Opening, base: u64, round_trip: u64| {
            let sample = Acknowledged { round_trip: Some(ms(round_trip)), ..arrival(1, 500) };
            (1..9).find(|_| opening.has_queue(&sample, ms(base)))
        };
        assert_eq!([89, 90, 91].map(|millis| queued_after(measured(), 80, millis)), [None, Some(4), Some(4)]);
        // Not less than 4 ms nor more than 16.
        assert_eq!([19, 20].map(|millis| queued_after(measured(), 16, millis)), [None, Some(4)]);
        assert_eq!([415, 416].map(|millis| queued_after(measured(), 400, millis)), [None, Some(4)]);
        assert_eq!(queued_after(Opening::default(), 80, 200), None, "a train waits for itself");
        let mut opening = measured();
        let found = [90, 90, 90, 80, 90, 90, 90, 90].map(|millis| {
            let sample = Acknowledged { round_trip: Some(ms(millis)), ..arrival(1, 500) };
            opening.has_queue(&sample, ms(80))
        });
        assert_eq!(found, [false, false, false, false, false, false, false, true]);
    }

    #[test]
    fn twice_the_window_is_paced_once_a_train_is_measured_or_the_window_too_large_for_one() {
        let bits = |opening: &Opening, cwnd| {
            opening.pacing_rate(cwnd, ms(100), 1_000).map(DataRate::as_bits_per_sec)
        };
        assert_eq!([16_000, 16_001].map(|cwnd| bits(&Opening::default(), cwnd)), [None, Some(2_560_160)]);
        let mut opening = measured();
        opening.start_round(30_000);
        // Of the window that the round began with, or half of what it has become; a sixteenth above the train's rate.
        let rates = [40_000, 80_000, 200_000].map(|cwnd| bits(&opening, cwnd).unwrap());
        assert_eq!(rates, [4_800_000, 6_400_000, 8_500_000]);
    }
}
