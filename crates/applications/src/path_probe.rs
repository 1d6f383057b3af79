//! A probe of the paths of an association that a carrier keeps up.

use slantpath_base::{Duration, Instant};
use slantpath_host::PathSample;

/// Samples of each path, at most one in an interval, and none that says what the last one said.
#[derive(Clone, Debug)]
pub(crate) struct PathProbe {
    interval: Duration,
    next: Instant,
    /// The last sample of each path.
    last: Vec<PathSample>,
    samples: Vec<PathSample>,
}

impl PathProbe {
    pub(crate) const fn new(interval: Duration) -> Self {
        Self { interval, next: Instant::START, last: Vec::new(), samples: Vec::new() }
    }

    /// Tells if it is time to sample; the next sample is then due an interval later.
    pub(crate) fn begins(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now.saturating_add(self.interval);
        }
        is_due
    }

    /// Earliest instant of the next sample.
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    pub(crate) fn keep(&mut self, sample: PathSample) {
        match self.last.iter_mut().find(|last| last.path == sample.path) {
            Some(last) if PathSample { at: sample.at, ..*last } == sample => return,
            Some(last) => *last = sample,
            None => self.last.push(sample),
        }
        self.samples.push(sample);
    }

    /// Takes what was kept since it was last asked.
    pub(crate) fn take(&mut self) -> Vec<PathSample> {
        std::mem::take(&mut self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: u64, path: u8, cwnd_bytes: u64) -> PathSample {
        PathSample {
            at: at(at_ms),
            path,
            cwnd_bytes,
            ssthresh_bytes: 1,
            outstanding_bytes: 2,
            rto: Duration::from_secs(1),
            srtt: None,
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    #[test]
    fn it_is_time_once_in_an_interval() {
        let mut probe = PathProbe::new(Duration::from_millis(10));
        let due = [0, 9, 10, 11, 25, 34, 35].map(|millis| probe.begins(at(millis)));
        assert_eq!(due, [true, false, true, false, true, false, true]);
    }

    #[test]
    fn what_has_not_changed_on_its_path_is_not_kept_again() {
        let mut probe = PathProbe::new(Duration::from_millis(10));
        for (millis, path, cwnd) in [(0, 0, 5), (0, 1, 7), (10, 0, 5), (10, 1, 8), (20, 0, 6), (20, 1, 7)] {
            probe.keep(sample(millis, path, cwnd));
        }
        let kept = [(0, 0, 5), (0, 1, 7), (10, 1, 8), (20, 0, 6), (20, 1, 7)];
        assert_eq!(probe.take(), kept.map(|(millis, path, cwnd)| sample(millis, path, cwnd)));
        // Nor is what was taken.
        probe.keep(sample(30, 1, 7));
        assert_eq!(probe.take(), []);
    }
}
