//! Takes the samples that are wanted at an interval.

use slantpath_base::{Duration, Instant};

use crate::DirectionId;
use crate::link::LinkDirection;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    probes: Vec<Periodic>,
}

#[derive(Clone, Copy, Debug)]
struct Periodic {
    direction: DirectionId,
    interval: Duration,
    next: Instant,
}

impl Sampler {
    /// Samples a queue from `now` on; returns when the next sample of all is due.
    pub(crate) fn add(&mut self, direction: DirectionId, interval: Duration, now: Instant) -> Instant {
        assert!(!interval.is_zero(), "samples are taken at an interval");
        self.probes.retain(|probe| probe.direction != direction);
        self.probes.push(Periodic { direction, interval, next: now });
        self.next_sample()
    }

    /// Takes the samples of `now`; returns when the next one is due.
    pub(crate) fn run(&mut self, now: Instant, directions: &mut [LinkDirection]) -> Instant {
        for probe in &mut self.probes {
            if probe.next <= now {
                directions[probe.direction.index()].sample(now);
                probe.next = now.saturating_add(probe.interval);
            }
        }
        self.next_sample()
    }

    fn next_sample(&self) -> Instant {
        self.probes.iter().map(|probe| probe.next).min().unwrap_or(Instant::FAR_FUTURE)
    }
}
