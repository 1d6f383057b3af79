//! Service: when a packet whose transmission starts will have been sent.
//!
//! A transmitter asks for nothing else, so that what decides it may be more than a rate: frames and the
//! allocations in them, as a satellite access has them, answer the same question.

use slantpath_base::{DataRate, DataSize, Duration, Instant};

/// Start and end of a packet's transmission: both [`Instant::FAR_FUTURE`] if it waits for the transmitter to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// Instant at which its first bit leaves.
    pub(crate) start: Instant,
    /// Instant at which its last bit has left.
    pub(crate) end: Instant,
}

/// A constant rate, for packets with a header of the link's own.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    rate: DataRate,
    overhead_bytes: u32,
    /// The last length and what it takes at the present rate: most packets are as long as the one before.
    last: (u32, Duration),
}

impl Service {
    pub(crate) const fn new(rate: DataRate, overhead_bytes: u32) -> Self {
        Self { rate, overhead_bytes, last: (0, Duration::ZERO) }
    }

    /// Instant at which the last bit of a packet of `length` bytes leaves whose first bit leaves at `start`.
    #[inline]
    pub(crate) fn finish(&mut self, start: Instant, length: u32) -> Instant {
        if self.last.0 != length {
            self.last = (length, self.time_to_send(length));
        }
        start.saturating_add(self.last.1)
    }

    /// Time that a packet of `length` bytes takes to be sent.
    pub(crate) fn time_to_send(&self, length: u32) -> Duration {
        let bytes = u64::from(length) + u64::from(self.overhead_bytes);
        self.rate.time_to_send(DataSize::from_bytes(bytes))
    }

    pub(crate) const fn rate(&self) -> DataRate {
        self.rate
    }

    /// Changes the rate of what starts from now on.
    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        *self = Self::new(rate, self.overhead_bytes);
    }
}
