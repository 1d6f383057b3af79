//! The hybrid slow start of Ha and Rhee (Taming the elephants: new TCP slow start, Computer Networks 55, 2011, section
//! 4), with the constants of Linux's CUBIC.
//!
//! A round leaves in a burst, and the bottleneck spaces it. Once its acknowledgements come back in a train that lasts
//! as long as half the least round trip, the window is about half of what the path holds or more: this ends slow start
//! before a queue has to overflow, or even to be seen.

use slantpath_base::{Duration, Instant};

use super::{Arrival, Verdict};

/// The window from which on slow start may end, in segments (`hystart_low_window` of Linux).
const LOW_WINDOW: u64 = 16;
/// Acknowledgements of a train are no further apart (`hystart_ack_delta_us` of Linux).
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Of a [`Train::OfLongPath`] they may be this part of the least round trip apart.
const ACK_DELTA_DIVISOR: u64 = 64;
/// Round trips of a round, of which the least counts (`HYSTART_MIN_SAMPLES` of Linux).
const SAMPLES: u32 = 8;
/// Excess of the least round trip of a round over the least of all that ends slow start: an eighth of it, as a divisor,
/// but not less nor more than the bounds below (`HYSTART_DELAY_THRESH` of Linux).
const DELAY_DIVISOR: u64 = 8;
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

/// Pattern in which the segments of a round leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// As acknowledgements come: a train of half a round trip is the bottleneck's.
    Clocked,
    /// Spread over the round trip: only a train of a whole one is.
    Paced,
}

/// Acknowledgements that count as a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Train {
    /// Acknowledgements that are at most 2 ms apart, as in Linux: two segments of 1,500 bytes need a link of 12 Mbit/s
    /// for that.
    AsInLinux,
    /// Or a sixty-fourth of the round trip: a window that fills the way is as many segments long over a slow link.
    OfLongPath,
}

/// State of the hybrid slow start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HyStart {
    departure: Departure,
    counts: Train,
    /// Of all; [`Duration::MAX`] is none, as below.
    least: Duration,
    /// Instants at which the first and the last acknowledgement of the train came. The train begins with the round.
    train: Option<(Instant, Instant)>,
    /// The least round trip of this round, and how many were taken.
    least_of_round: Duration,
    samples: u32,
}

impl HyStart {
    pub(super) const fn new(departure: Departure, counts: Train) -> Self {
        Self {
            departure,
            counts,
            least: Duration::MAX,
            train: None,
            least_of_round: Duration::MAX,
            samples: 0,
        }
    }

    /// Takes in an acknowledgement that has left a window of so many segments.
    pub(super) fn observe(&mut self, arrival: Arrival, window_segments: u64) -> Verdict {
        let Arrival { now, starts_round, round_trip } = arrival;
        if let Some(round_trip) = round_trip {
            self.least = self.least.min(round_trip);
        }
        if window_segments < LOW_WINDOW || self.least == Duration::MAX {
            return Verdict::GoesOn;
        }
        if starts_round || self.train.is_none() {
            self.train = Some((now, now));
            self.least_of_round = Duration::MAX;
            self.samples = 0;
        }
        if self.is_train_long(now) || self.is_delay_long(round_trip) {
            return Verdict::Over;
        }
        Verdict::GoesOn
    }

    fn is_train_long(&mut self, now: Instant) -> bool {
        let Some((begun, last)) = &mut self.train else { return false };
        let most_apart = match self.counts {
            Train::AsInLinux => ACK_DELTA,
            Train::OfLongPath => ACK_DELTA.max(self.least / ACK_DELTA_DIVISOR),
        };
        if now.saturating_since(*last) > most_apart {
            return false;
        }
        *last = now;
        let limit = match self.departure {
            Departure::Clocked => self.least / 2,
            Departure::Paced => self.least,
        };
        now.saturating_since(*begun) > limit
    }

    fn is_delay_long(&mut self, round_trip: Option<Duration>) -> bool {
        let Some(round_trip) = round_trip else { return false };
        self.least_of_round = self.least_of_round.min(round_trip);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least_of_round > self.least + (self.least / DELAY_DIVISOR).clamp(DELAY_MIN, DELAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement at that time of what took so long; both in milliseconds.
    fn at(now: u64, round_trip: u64) -> Arrival {
        let round_trip = Some(Duration::from_millis(round_trip));
        Arrival { now: Instant::from_millis(now), starts_round: false, round_trip }
    }

    fn starting(arrival: Arrival) -> Arrival {
        Arrival { starts_round: true, ..arrival }
    }

    /// The time of the acknowledgement that ends slow start, of a round that begins at 1,000 ms, when these come.
    fn ended_at(departure: Departure, round_trip: u64, times: impl IntoIterator<Item = u64>) -> Option<u64> {
        ended_by(Train::AsInLinux, departure, round_trip, times)
    }

    fn ended_by(
        counts: Train,
        departure: Departure,
        round_trip: u64,
        times: impl IntoIterator<Item = u64>,
    ) -> Option<u64> {
        let mut hystart = HyStart::new(departure, counts);
        hystart.observe(starting(at(1_000, round_trip)), LOW_WINDOW);
        times.into_iter().find(|time| hystart.observe(at(*time, round_trip), LOW_WINDOW) == Verdict::Over)
    }

    #[test]
    fn a_train_of_more_than_half_a_round_trip_ends_slow_start() {
        assert_eq!(ended_at(Departure::Clocked, 100, (1_001..).step_by(2).take(40)), Some(1_051));
        assert_eq!(ended_at(Departure::Clocked, 100, (1_002..=1_050).step_by(2)), None);
        assert_eq!(ended_at(Departure::Paced, 100, (1_002..).step_by(2).take(90)), Some(1_102));
    }

    #[test]
    fn a_pause_of_more_than_two_milliseconds_ends_the_train_of_a_round() {
        let with_a_pause = (1_002..=1_040).step_by(2).chain((1_043..).take(90));
        assert_eq!(ended_at(Departure::Clocked, 100, with_a_pause), None);
        // The next round has a train of its own.
        let mut hystart = HyStart::new(Departure::Clocked, Train::AsInLinux);
        hystart.observe(starting(at(1_000, 100)), LOW_WINDOW);
        hystart.observe(at(1_040, 100), LOW_WINDOW);
        hystart.observe(starting(at(1_100, 100)), LOW_WINDOW);
        let mut times = (1_102..).step_by(2);
        assert_eq!(
            times.find(|time| hystart.observe(at(*time, 100), LOW_WINDOW) == Verdict::Over),
            Some(1_152)
        );
    }

    #[test]
    fn over_a_long_way_a_train_may_have_pauses_of_a_sixty_fourth_of_it() {
        let long = |pause: usize, round_trip| {
            let times = (1_000 + pause as u64..).step_by(pause).take(90);
            ended_by(Train::OfLongPath, Departure::Clocked, round_trip, times)
        };
        assert_eq!((long(10, 640), long(11, 640)), (Some(1_330), None));
        // Two milliseconds are always few enough.
        assert_eq!((long(2, 64), long(3, 64)), (Some(1_034), None));
        assert_eq!(ended_at(Departure::Clocked, 640, (1_010..).step_by(10).take(90)), None, "not in Linux");
    }

    #[test]
    fn windows_of_less_than_sixteen_segments_go_on_opening_whatever_comes() {
        let mut hystart = HyStart::new(Departure::Clocked, Train::AsInLinux);
        for time in 0..500 {
            let round_trip = if time == 0 { 10 } else { 400 };
            assert_eq!(hystart.observe(at(time, round_trip), LOW_WINDOW - 1), Verdict::GoesOn);
        }
        // Nor does anything end without a round trip.
        let mut unmeasured = HyStart::new(Departure::Clocked, Train::AsInLinux);
        for time in 0..500 {
            let none = Arrival { round_trip: None, ..at(time, 1) };
            assert_eq!(unmeasured.observe(none, 100), Verdict::GoesOn);
        }
    }

    #[test]
    fn a_round_whose_least_round_trip_is_longer_by_an_eighth_ends_slow_start_after_eight_of_them() {
        for (least, stays, ends) in [(80, 90, 91), (16, 20, 21), (400, 416, 417)] {
            let ended_after = |round_trip: u64| {
                let mut hystart = HyStart::new(Departure::Clocked, Train::AsInLinux);
                hystart.observe(starting(at(0, least)), LOW_WINDOW);
                // Too far apart for a train.
                hystart.observe(starting(at(10_000, round_trip)), LOW_WINDOW);
                (2..40).find(|count| {
                    hystart.observe(at(10_000 * count, round_trip), LOW_WINDOW) == Verdict::Over
                })
            };
            assert_eq!((ended_after(stays), ended_after(ends)), (None, Some(9)), "{least}");
        }
    }

    #[test]
    fn one_short_round_trip_of_a_round_is_enough_to_go_on() {
        let mut hystart = HyStart::new(Departure::Clocked, Train::AsInLinux);
        hystart.observe(starting(at(0, 80)), LOW_WINDOW);
        hystart.observe(starting(at(10_000, 200)), LOW_WINDOW);
        hystart.observe(at(20_000, 80), LOW_WINDOW);
        for count in 3..40 {
            assert_eq!(hystart.observe(at(10_000 * count, 200), LOW_WINDOW), Verdict::GoesOn);
        }
        // Of the next round it is not.
        hystart.observe(starting(at(1_000_000, 200)), LOW_WINDOW);
        let ended = (1..40)
            .find(|count| hystart.observe(at(1_000_000 + 10_000 * count, 200), LOW_WINDOW) == Verdict::Over);
        assert_eq!(ended, Some(8));
    }
}
