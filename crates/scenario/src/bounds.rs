//! The most that values of a scenario may be, each with its reason. A bound is wide: it keeps out what
//! nobody can mean or wait for, and [`crate::check`] says what makes sense together. What a topology has, too, is
//! bounded there.

use slantpath_base::{DataSize, Duration};
pub(crate) use slantpath_profiles::bounds::{BUFFER, PACKET, PACKETS, RATE, REPETITIONS, TIMER};
use slantpath_reader::AtMost;
pub(crate) use slantpath_reader::bounds::{DELAY, RUN};
pub(crate) use slantpath_topology::bounds::AGE;

use crate::link::queue_size::QueueMost;

const GIBIBYTE: u64 = 1 << 30;

/// Longest round trip of a WAN emulator.
pub(crate) const WAN_ROUND_TRIP: AtMost<Duration> =
    AtMost::new(Duration::from_millis(700), "the delay line of the trial ends there; a link takes any delay");
/// A buffer of the kernel's TCP.
pub const KERNEL_BUFFER: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(GIBIBYTE), "a window of TCP is no larger");

/// A queue of a link.
pub(crate) const QUEUE: AtMost<QueueMost> = AtMost::new(
    QueueMost { packets: 10_000_000, size: DataSize::from_bytes(16 * GIBIBYTE) },
    "it is held in memory; write \"unlimited\" for one without a limit",
);
/// A bucket of tokens.
pub(crate) const BURST: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(1 << 40), "no meter lets a burst of a terabyte pass");
/// Requests of a session.
pub(crate) const REQUESTS: AtMost<u32> = AtMost::new(100_000, "each has a row in the results");
/// The mean of as many.
pub(crate) const MEAN_REQUESTS: AtMost<f64> = AtMost::new(100_000.0, "each has a row in the results");
/// Slots of a frame.
pub(crate) const SLOTS: AtMost<u32> =
    AtMost::new(100_000, "a slot of a frame of a second would be shorter than its guard time");
/// Carriers of an access system.
pub(crate) const CARRIERS: AtMost<u32> = AtMost::new(10_000, "no transponder has more");
/// The shape of a Pareto distribution.
pub(crate) const SHAPE: AtMost<f64> = AtMost::new(100.0, "with it nearly all sizes are alike");
/// The weight of a queue in its average.
pub(crate) const AVERAGE_WEIGHT: AtMost<f64> = AtMost::new(1.0, "with it the average is the queue itself");
/// A message of a flow.
pub(crate) const MESSAGE: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_536), "the longest message that a flow sends");
/// Most bytes that a flow sends in all.
pub(crate) const TOTAL: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(1_000_000_000_000_000), "at 1 Tbit/s it takes two hours");

/// Flows that have a context for header compression.
pub(crate) const CONTEXTS: AtMost<u32> =
    AtMost::new(256, "a context identifier of RFC 2507 has 8 bits for TCP");
/// Echo requests of a flow.
pub(crate) const ECHOES: AtMost<u32> =
    AtMost::new(1_000_000_000, "at one a microsecond they take a quarter of an hour");
/// Flows of one kind.
pub(crate) const FLOWS: AtMost<u32> = AtMost::new(10_000, "each has ports of its own");
