//! The most that values of a scenario may be, each with its reason. A bound is wide: it keeps out what
//! nobody can mean or wait for, and [`crate::check`] says what makes sense together. What a topology has, too, is
//! bounded there.

use slantpath_base::{DataRate, DataSize, Duration};
pub(crate) use slantpath_profiles::bounds::{BUFFER, PACKET, PACKETS, RATE, REPETITIONS, TIMER};
use slantpath_reader::AtMost;
pub(crate) use slantpath_topology::bounds::{AGE, DELAY, RUN};

use crate::link::queue_size::QueueMost;

const GIBIBYTE: u64 = 1 << 30;

/// Longest round trip of a WAN emulator.
pub(crate) const WAN_ROUND_TRIP: AtMost<Duration> =
    AtMost::new(Duration::from_millis(700), "the delay line of the trial ends there; a link takes any delay");
/// A buffer of the kernel's TCP.
pub(crate) const KERNEL_BUFFER: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(GIBIBYTE), "a window of TCP is no larger");
/// The rate of a line with MTP2.
pub(crate) const LINE_RATE: AtMost<DataRate> =
    AtMost::new(DataRate::from_bits_per_sec(100_000_000), "MTP2 is made for 2 Mbit/s");

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
/// A message of SCCP between two nodes.
pub(crate) const SCCP_MESSAGE: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_535), "the length of a long unitdata has 16 bits");
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

/// Load on a line, in Erlang.
pub(crate) const ERLANG: AtMost<f64> =
    AtMost::new(100.0, "1 fills a line, and a hundred overload it a hundredfold");
/// Links between two points.
pub(crate) const LINK_SET: AtMost<u32> =
    AtMost::new(16, "a link set has no more: join the rest to another point (Q.704, section 2.2)");
/// Messages that wait.
pub(crate) const MESSAGES: AtMost<u32> =
    AtMost::new(1_000_000, "a million messages wait for hours on a link");
/// Messages that a processor takes in a second.
pub(crate) const MESSAGES_A_SECOND: AtMost<u32> =
    AtMost::new(1_000_000_000, "it takes a nanosecond at least for each");
/// Octets in the loop of a line.
pub(crate) const LOOP: AtMost<u32> = AtMost::new(1_000_000_000, "no loop of a line holds more");
/// Octets of a message of MTP3.
pub(crate) const MSU: AtMost<u32> = AtMost::new(65_535, "no network has longer messages");
/// Errors and units that a monitor counts.
pub(crate) const UNITS: AtMost<u32> = AtMost::new(1_000_000, "a monitor that counts further watches nothing");
/// The share of one among several.
pub(crate) const WEIGHT: AtMost<u32> =
    AtMost::new(1_000_000, "a smaller share than one in a million is none");
/// Number that names something in a message, where any number is as good.
pub(crate) const NAME: AtMost<u32> = AtMost::new(u32::MAX, "it is a name of 32 bits");
