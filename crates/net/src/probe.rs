//! Probes: what a run may record beside its counters.

use slantpath_base::{Duration, Instant};

/// Times at which a queue's length is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// At the start of the run and after every such interval.
    Every(Duration),
    /// Whenever it changes; of several changes at one instant the last.
    OnChange,
}

/// Length of a queue at one instant, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Instant of the sample.
    pub time: Instant,
    /// Packets that waited.
    pub packets: u64,
    /// Bytes that waited.
    pub bytes: u64,
}

/// The length of one queue over time.
#[derive(Clone, Debug)]
pub struct QueueProbe {
    sampling: Sampling,
    samples: Vec<QueueSample>,
}

impl QueueProbe {
    pub(crate) const fn new(sampling: Sampling) -> Self {
        Self { sampling, samples: Vec::new() }
    }

    /// Times at which it samples.
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Samples that it has recorded, in the order of time, without those that were taken.
    pub fn samples(&self) -> &[QueueSample] {
        &self.samples
    }

    /// Takes out what is recorded, but for the last sample, which the next change may still replace.
    pub(crate) fn take_settled(&mut self) -> Vec<QueueSample> {
        self.samples.drain(..self.samples.len().saturating_sub(1)).collect()
    }

    /// The queue has changed.
    pub(crate) fn observe(&mut self, time: Instant, packets: u64, bytes: u64) {
        if self.sampling != Sampling::OnChange {
            return;
        }
        let sample = QueueSample { time, packets, bytes };
        match self.samples.as_mut_slice() {
            [.., last] if last.time == time => *last = sample,
            [.., last] if (last.packets, last.bytes) == (packets, bytes) => {}
            _ => self.samples.push(sample),
        }
    }

    /// The interval is over.
    pub(crate) fn sample(&mut self, time: Instant, packets: u64, bytes: u64) {
        self.samples.push(QueueSample { time, packets, bytes });
    }
}
