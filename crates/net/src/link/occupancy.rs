//! Occupancy of a queue: sums over time, from which means follow exactly.

use slantpath_base::{Duration, Instant};

/// Statistics of a queue's length, over the time since they were started. Counted is what waits, without the packet
/// that is being transmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueStatistics {
    /// The time over which these are.
    pub span: Duration,
    /// Packets, as a mean over time.
    pub mean_packets: f64,
    /// Bytes, as a mean over time.
    pub mean_bytes: f64,
    /// Packets, at most.
    pub max_packets: u64,
    /// Bytes, at most.
    pub max_bytes: u64,
    /// Time for which the transmitter was sending.
    pub busy: Duration,
}

/// Time that packets wait, and time that the transmitter sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    packet_nanos: u128,
    byte_nanos: u128,
    pub(crate) busy: Duration,
}

impl Waits {
    /// No wait, and a transmission that lasts so long.
    pub(crate) const fn of_transmission(busy: Duration) -> Self {
        Self { packet_nanos: 0, byte_nanos: 0, busy }
    }

    /// Adds the time that so many packets of so many bytes wait.
    #[inline]
    pub(crate) fn add(&mut self, packets: u64, bytes: u64, time: Duration) {
        self.packet_nanos += u128::from(packets) * u128::from(time.as_nanos());
        self.byte_nanos += u128::from(bytes) * u128::from(time.as_nanos());
    }

    /// Variant of [`add`](Self::add) for one packet.
    #[inline]
    pub(crate) fn add_packet(&mut self, length: u32, time: Duration) {
        self.packet_nanos += u128::from(time.as_nanos());
        self.byte_nanos += u128::from(length) * u128::from(time.as_nanos());
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            packet_nanos: self.packet_nanos + other.packet_nanos,
            byte_nanos: self.byte_nanos + other.byte_nanos,
            busy: self.busy + other.busy,
        }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            packet_nanos: self.packet_nanos - other.packet_nanos,
            byte_nanos: self.byte_nanos - other.byte_nanos,
            busy: self.busy - other.busy,
        }
    }
}

/// Sums of the waits of packets and bytes in a queue. The integral of a queue's length over time is the sum of the
/// times that its packets wait. A transmitter may add a wait or a transmission as soon as it knows it: the sums then
/// run ahead of time, and the transmitter says by how much when they are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy {
    start: Instant,
    pub(crate) waits: Waits,
    /// Peaks since the start, or since the present window began.
    packets_max: u64,
    bytes_max: u64,
    /// From the end of the first window on.
    window: Option<Box<Window>>,
    /// Until when waits whose end is not known have been added.
    pub(crate) counted_until: Instant,
}

/// A part of the time over which statistics are, and what was before it.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Instant,
    waits_before: Waits,
    packets_max_before: u64,
    bytes_max_before: u64,
}

impl Occupancy {
    /// Notes how much waits.
    #[inline]
    pub(crate) fn note_peak(&mut self, packets: u64, bytes: u64) {
        self.packets_max = self.packets_max.max(packets);
        self.bytes_max = self.bytes_max.max(bytes);
    }

    /// Adds the waits up to `now` of packets that wait for an unknown time.
    pub(crate) fn count_until(&mut self, now: Instant, packets: u64, bytes: u64) {
        self.waits.add(packets, bytes, now.saturating_since(self.counted_until));
        self.counted_until = now;
    }

    /// Starts anew with what waits at `now`; the sums run ahead by `to_come`.
    pub(crate) fn restart(&mut self, now: Instant, to_come: Waits, packets: u64, bytes: u64) {
        *self = Self {
            start: now,
            waits: to_come,
            packets_max: packets,
            bytes_max: bytes,
            window: None,
            counted_until: now,
        };
    }

    /// As of `now`, where the sums run ahead by `to_come`.
    pub(crate) fn statistics(&self, now: Instant, to_come: Waits) -> QueueStatistics {
        let before =
            self.window.as_ref().map_or((0, 0), |own| (own.packets_max_before, own.bytes_max_before));
        let peaks = (self.packets_max.max(before.0), self.bytes_max.max(before.1));
        statistics_over(now.saturating_since(self.start), self.waits.minus(to_come), peaks)
    }

    /// As of `now`, since the last window ended; another one begins with what waits. The sums run ahead by `to_come`.
    pub(crate) fn end_window(
        &mut self,
        now: Instant,
        to_come: Waits,
        packets: u64,
        bytes: u64,
    ) -> QueueStatistics {
        let waits = self.waits.minus(to_come);
        let none = Window {
            start: self.start,
            waits_before: Waits::default(),
            packets_max_before: 0,
            bytes_max_before: 0,
        };
        let window = self.window.get_or_insert_with(|| Box::new(none));
        let span = now.saturating_since(window.start);
        let peaks = (self.packets_max, self.bytes_max);
        let statistics = statistics_over(span, waits.minus(window.waits_before), peaks);
        **window = Window {
            start: now,
            waits_before: waits,
            packets_max_before: window.packets_max_before.max(self.packets_max),
            bytes_max_before: window.bytes_max_before.max(self.bytes_max),
        };
        (self.packets_max, self.bytes_max) = (packets, bytes);
        statistics
    }
}

fn statistics_over(span: Duration, waits: Waits, (max_packets, max_bytes): (u64, u64)) -> QueueStatistics {
    let mean = |sum: u128| if span.is_zero() { 0.0 } else { sum as f64 / span.as_nanos() as f64 };
    QueueStatistics {
        span,
        mean_packets: mean(waits.packet_nanos),
        mean_bytes: mean(waits.byte_nanos),
        max_packets,
        max_bytes,
        busy: waits.busy,
    }
}
