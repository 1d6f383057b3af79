//! The beginning: the window doubles each round, paced, until it is what the path holds.
//!
//! What that is, the first segments tell, which leave together: a bottleneck spaces them, so that the acknowledgements
//! of such a train come at its rate (Keshav 1991). Where there is no such train, or it tells of too much, a round trip
//! that grows ends the doubling, as in HyStart++ (RFC 9406).

use slantpath_base::{DataRate, Duration, Instant};

use crate::control::Acknowledged;
use crate::delivery::rate_of;

/// What a train must bring after its first acknowledgement to be a measure, in segments.
const TRAIN_SEGMENTS: u64 = 4;
/// Windows up to so many segments leave as trains while none has been measured.
const TRAIN_WINDOW: u64 = 16;
/// Acknowledgements in a row whose round trips show a queue.
const QUEUE_SAMPLES: u32 = 4;
/// What a round trip must grow by to show one: an eighth, but not less nor more than this.
const LEAST_GROWTH: Duration = Duration::from_millis(4);
const GREATEST_GROWTH: Duration = Duration::from_millis(16);

#[derive(Clone, Debug, Default)]
pub(super) struct Opening {
    train: Train,
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
    /// What the train has shown the bottleneck's rate to be.
    pub(super) const fn train_rate(&self) -> Option<DataRate> {
        match self.train {
            Train::Measured(rate) => Some(rate),
            Train::Arriving { .. } | Train::Awaited => None,
        }
    }

    pub(super) fn observe(&mut self, acknowledged: &Acknowledged, segment_bytes: u64) {
        let Some(newest) = acknowledged.counts.newest else { return };
        let (now, begins) = (acknowledged.now, newest.sent_at);
        match &mut self.train {
            Train::Arriving { sent_at, last_at, bytes, .. } if *sent_at == begins => {
                *last_at = now;
                *bytes += acknowledged.counts.newly_delivered;
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

    /// Whether round trips have begun to grow.
    pub(super) fn has_queue(&mut self, acknowledged: &Acknowledged, base: Duration) -> bool {
        let Some(round_trip) = acknowledged.round_trip else { return false };
        let growth = (base / 8).clamp(LEAST_GROWTH, GREATEST_GROWTH);
        // A train waits for itself.
        if self.train_rate().is_none() || round_trip < base + growth {
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
