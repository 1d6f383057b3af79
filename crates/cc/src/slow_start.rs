//! Opening of a window before the first loss: standard slow start, HyStart++ (RFC 9406), which leaves it once round
//! trips become longer, or the hybrid slow start of Linux, which also leaves it before.

mod hystart;

use slantpath_base::{Duration, Instant};

use crate::control::Acknowledged;
pub(crate) use hystart::Departure;
use hystart::{HyStart, Train};

/// Rule by which the first slow start of a path ends. Later ones are standard, as RFC 9406 recommends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStart {
    /// By longer round trips as well, after some rounds of slower growth (RFC 9406).
    HyStartPlusPlus,
    /// By a train of acknowledgements as long as half the round trip, or by longer round trips (Ha and Rhee 2011, as in
    /// Linux).
    HyStart,
    /// Variant of [`SlowStart::HyStart`] where acknowledgements of a train may be as far apart as over slow links with
    /// long ways.
    HyStartOfLongPath,
    /// By a loss, a mark or the threshold.
    #[default]
    Standard,
}

/// A slow start while it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Apart, since most paths have none, and a window then takes no more memory.
    Watched(Box<Watch>),
    Standard,
}

/// Detector that ends a slow start before a loss does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    HyStartPlusPlus(HyStartPlusPlus),
    HyStart(HyStart),
}

/// Values that a slow start takes from an acknowledgement. By itself, it does not have the whole of that written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    now: Instant,
    starts_round: bool,
    round_trip: Option<Duration>,
}

impl Arrival {
    #[inline]
    pub(crate) const fn of(acknowledged: &Acknowledged) -> Self {
        let Acknowledged { now, starts_round, round_trip, .. } = *acknowledged;
        Self { now, starts_round, round_trip }
    }
}

/// Decision on whether a slow start goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoesOn,
    /// Congestion avoidance begins with the window that there is.
    Over,
}

impl Opening {
    pub(crate) fn new(policy: SlowStart, departure: Departure) -> Self {
        let watch = match policy {
            SlowStart::HyStartPlusPlus => Watch::HyStartPlusPlus(HyStartPlusPlus::new()),
            SlowStart::HyStart => Watch::HyStart(HyStart::new(departure, Train::AsInLinux)),
            SlowStart::HyStartOfLongPath => Watch::HyStart(HyStart::new(departure, Train::OfLongPath)),
            SlowStart::Standard => return Self::Standard,
        };
        Self::Watched(Box::new(watch))
    }

    /// By how many bytes an acknowledgement of `bytes` opens the window. `limit` is by how much it may at most in a
    /// standard slow start.
    pub(crate) fn growth(&self, bytes: u64, segment_bytes: u64, limit: u64) -> u64 {
        let Self::Watched(watch) = self else { return bytes.min(limit) };
        match &**watch {
            //= https://www.rfc-editor.org/rfc/rfc9406#section-4.2
            //# cwnd = cwnd + min(N, L * SMSS)
            Watch::HyStartPlusPlus(hystart) if hystart.phase == Phase::Slow => bytes.min(L * segment_bytes),
            //= https://www.rfc-editor.org/rfc/rfc9406#section-4.2
            //# cwnd = cwnd + (min(N, L * SMSS) / CSS_GROWTH_DIVISOR)
            Watch::HyStartPlusPlus(_) => bytes.min(L * segment_bytes) / CSS_GROWTH_DIVISOR,
            Watch::HyStart(_) => bytes.min(limit),
        }
    }

    /// Takes in an acknowledgement of a slow start, after the window has grown by it to `cwnd` bytes.
    pub(crate) fn observe(&mut self, arrival: Arrival, cwnd: u64, segment_bytes: u64) -> Verdict {
        let Self::Watched(watch) = self else { return Verdict::GoesOn };
        let verdict = match &mut **watch {
            Watch::HyStartPlusPlus(hystart) => hystart.observe(arrival.starts_round, arrival.round_trip),
            Watch::HyStart(hystart) => hystart.observe(arrival, cwnd / segment_bytes),
        };
        if verdict == Verdict::Over {
            *self = Self::Standard;
        }
        verdict
    }

    /// A sign of congestion has come: every further slow start is standard.
    //= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
    //# An implementation SHOULD use HyStart++ only for the initial slow
    //# start
    pub(crate) fn end(&mut self) {
        *self = Self::Standard;
    }
}

/// By how much an acknowledgement may open the window in standard slow start: L of RFC 3465.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteCounting {
    Configured,
    /// By one segment until congestion avoidance.
    AfterTimeout,
}

impl ByteCounting {
    pub(crate) const fn limit(self, configured_segments: u64, segment_bytes: u64) -> u64 {
        match self {
            Self::Configured => configured_segments * segment_bytes,
            //= https://www.rfc-editor.org/rfc/rfc3465#section-2.3
            //# In this situation, a
            //# TCP MUST use L=1*SMSS as specified in RFC 2581 since ACKs for large
            //# amounts of previously unacknowledged data are common during this
            //# phase of a transfer.
            Self::AfterTimeout => segment_bytes,
        }
    }
}

/// State of HyStart++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HyStartPlusPlus {
    phase: Phase,
    /// The least round trips of the last round and of this one; [`Duration::MAX`] is none.
    last_least: Duration,
    least: Duration,
    /// Round trips taken in this round.
    samples: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Slow,
    /// Conservative slow start (CSS).
    Conservative {
        /// The round trip that began it.
        baseline: Duration,
        /// Rounds that have ended since, the one that it began in included.
        rounds: u32,
    },
}

//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# MIN_RTT_THRESH = 4 msec
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# MAX_RTT_THRESH = 16 msec
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# MIN_RTT_DIVISOR = 8
const MIN_RTT_DIVISOR: u64 = 8;
//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# N_RTT_SAMPLE = 8
const N_RTT_SAMPLE: u32 = 8;
//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# CSS_GROWTH_DIVISOR = 4
const CSS_GROWTH_DIVISOR: u64 = 4;
//= https://www.rfc-editor.org/rfc/rfc9406#section-4.3
//# CSS_ROUNDS = 5
const CSS_ROUNDS: u32 = 5;
/// The byte counting limit of a sender that does not pace (RFC 9406, section 4.3).
const L: u64 = 8;

impl HyStartPlusPlus {
    const fn new() -> Self {
        Self { phase: Phase::Slow, last_least: Duration::MAX, least: Duration::MAX, samples: 0 }
    }

    fn observe(&mut self, starts_round: bool, round_trip: Option<Duration>) -> Verdict {
        if starts_round && self.start_round() == Verdict::Over {
            return Verdict::Over;
        }
        let Some(round_trip) = round_trip else { return Verdict::GoesOn };
        self.least = self.least.min(round_trip);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return Verdict::GoesOn;
        }
        match self.phase {
            Phase::Slow if self.last_least < Duration::MAX => {
                //= https://www.rfc-editor.org/rfc/rfc9406#section-4.2
                //# RttThresh = max(MIN_RTT_THRESH,
                //# min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))
                let threshold = (self.last_least / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.least >= self.last_least + threshold {
                    self.phase = Phase::Conservative { baseline: self.least, rounds: 0 };
                }
            }
            // The delay was no queue's.
            //= https://www.rfc-editor.org/rfc/rfc9406#section-4.2
            //# if (currentRoundMinRTT < cssBaselineMinRtt)
            Phase::Conservative { baseline, .. } if self.least < baseline => self.phase = Phase::Slow,
            Phase::Conservative { .. } | Phase::Slow => {}
        }
        Verdict::GoesOn
    }

    fn start_round(&mut self) -> Verdict {
        self.last_least = self.least;
        self.least = Duration::MAX;
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            //= https://www.rfc-editor.org/rfc/rfc9406#section-4.2
            //# CSS lasts at most CSS_ROUNDS rounds.  If the transition into CSS
            //# happens in the middle of a round, that partial round counts towards
            //# the limit.
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                return Verdict::Over;
            }
        }
        Verdict::GoesOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn acknowledged(round_trip_ms: u64, starts_round: bool) -> Arrival {
        Arrival { now: Instant::START, starts_round, round_trip: Some(Duration::from_millis(round_trip_ms)) }
    }

    /// A round of so many acknowledgements: what the last one adds for 40 segments, and whether slow start is over.
    fn round(opening: &mut Opening, round_trips: &[u64]) -> (u64, Verdict) {
        let mut verdict = Verdict::GoesOn;
        for (index, round_trip) in round_trips.iter().enumerate() {
            if opening.observe(acknowledged(*round_trip, index == 0), 100_000, 1_000) == Verdict::Over {
                verdict = Verdict::Over;
            }
        }
        (opening.growth(40_000, 1_000, 1_000), verdict)
    }

    const SLOW: (u64, Verdict) = (8_000, Verdict::GoesOn);
    const CONSERVATIVE: (u64, Verdict) = (2_000, Verdict::GoesOn);

    #[test]
    fn standard_slow_start_goes_on_however_long_round_trips_are() {
        let mut opening = Opening::new(SlowStart::Standard, Departure::Clocked);
        for round_trip in [50, 500, 5_000] {
            assert_eq!(round(&mut opening, &[round_trip; 8]), (1_000, Verdict::GoesOn));
        }
        assert_eq!(opening.growth(300, 1_000, 1_000), 300);
    }

    #[test]
    fn eight_round_trips_longer_by_an_eighth_begin_conservative_slow_start_which_lasts_five_rounds() {
        let mut opening = Opening::new(SlowStart::HyStartPlusPlus, Departure::Clocked);
        assert_eq!(round(&mut opening, &[80; 8]), SLOW);
        assert_eq!(round(&mut opening, &[89; 8]), SLOW, "80 ms and a tenth of 90");
        assert_eq!(round(&mut opening, &[100; 7]), SLOW, "seven are too few");
        assert_eq!(round(&mut opening, &[112; 8]), SLOW, "an eighth of 100 ms is more than 12");
        assert_eq!(round(&mut opening, &[126; 8]), CONSERVATIVE);
        for _ in 0..4 {
            assert_eq!(round(&mut opening, &[126; 8]), CONSERVATIVE);
        }
        // The round that it began in was the first of five.
        assert_eq!(round(&mut opening, &[126; 8]), (1_000, Verdict::Over));
        assert_eq!(opening, Opening::Standard);
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_ms() {
        for (round_trip, stays, begins) in [(8, 11, 12), (600, 615, 616), (100, 112, 113)] {
            let mut opening = Opening::new(SlowStart::HyStartPlusPlus, Departure::Clocked);
            round(&mut opening, &[round_trip; 8]);
            assert_eq!(round(&mut opening.clone(), &[stays; 8]), SLOW, "{round_trip}");
            assert_eq!(round(&mut opening, &[begins; 8]), CONSERVATIVE, "{round_trip}");
        }
    }

    #[test]
    fn the_least_of_a_round_counts_and_a_shorter_one_resumes_slow_start() {
        let mut opening = Opening::new(SlowStart::HyStartPlusPlus, Departure::Clocked);
        round(&mut opening, &[100; 8]);
        assert_eq!(round(&mut opening, &[200, 200, 200, 200, 100, 200, 200, 200]), SLOW);
        assert_eq!(round(&mut opening, &[150; 8]), CONSERVATIVE);
        assert_eq!(
            round(&mut opening, &[150, 150, 150, 150, 150, 150, 149]),
            CONSERVATIVE,
            "seven are too few"
        );
        assert_eq!(round(&mut opening, &[149; 8]), SLOW);
        // It begins anew: the last round's 149 ms are what the next is held against.
        assert_eq!(round(&mut opening, &[164; 8]), SLOW);
        assert_eq!(round(&mut opening, &[180; 8]), CONSERVATIVE);
    }

    #[test]
    fn a_sign_of_congestion_makes_every_further_slow_start_standard() {
        let mut opening = Opening::new(SlowStart::HyStartPlusPlus, Departure::Clocked);
        round(&mut opening, &[100; 8]);
        opening.end();
        assert_eq!(round(&mut opening, &[900; 8]), (1_000, Verdict::GoesOn));
    }

    #[test]
    fn hystart_opens_as_the_standard_and_ends_once() {
        let mut opening = Opening::new(SlowStart::HyStart, Departure::Clocked);
        assert_eq!(opening.growth(40_000, 1_000, 1_000), 1_000);
        assert_ne!(opening, Opening::new(SlowStart::HyStartOfLongPath, Departure::Clocked));
        let train = |opening: &mut Opening, cwnd| {
            (0..100).find(|millis| {
                let now = Instant::from_millis(*millis);
                let arrival = Arrival { now, ..acknowledged(100, *millis == 0) };
                opening.observe(arrival, cwnd, 1_000) == Verdict::Over
            })
        };
        assert_eq!(train(&mut opening.clone(), 15_999), None);
        assert_eq!(train(&mut opening, 16_000), Some(51));
        assert_eq!((train(&mut opening, 16_000), opening), (None, Opening::Standard));
    }

    proptest! {
        #[test]
        fn round_trips_that_do_not_change_never_end_slow_start(
            round_trip in 1_u64..2_000, rounds in proptest::collection::vec(1_usize..40, 1..30),
        ) {
            let mut opening = Opening::new(SlowStart::HyStartPlusPlus, Departure::Clocked);
            for count in rounds {
                prop_assert_eq!(round(&mut opening, &vec![round_trip; count]), SLOW);
            }
        }
    }
}
