//! The most that values may be, each with its reason. A bound is wide: it keeps out what nobody can mean or wait for.

use slantpath_base::{DataRate, DataSize};
pub(crate) use slantpath_profiles::bounds::{BUFFER, RATE, TIMER};
use slantpath_reader::AtMost;
pub(crate) use slantpath_reader::bounds::{DELAY, RUN};

/// The rate of a line with MTP2.
pub(crate) const LINE_RATE: AtMost<DataRate> =
    AtMost::new(DataRate::from_bits_per_sec(100_000_000), "MTP2 is made for 2 Mbit/s");
/// A message of SCCP between two nodes.
pub(crate) const SCCP_MESSAGE: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_535), "the length of a long unitdata has 16 bits");
/// Load on a line, in Erlang.
pub(crate) const ERLANG: AtMost<f64> =
    AtMost::new(100.0, "1 fills a line, and a hundred overload it a hundredfold");
/// Links between two points.
pub(crate) const LINK_SET: AtMost<u32> =
    AtMost::new(16, "a link set has no more: join the rest to another point (Q.704, section 2.2)");
/// Messages that wait.
pub(crate) const MESSAGES: AtMost<u32> =
    AtMost::new(1_000_000, "a million messages wait for hours on a link");
/// Application servers that register at a gateway.
pub(crate) const SERVERS: AtMost<u32> = AtMost::new(1_000_000, "no network has so many users of a gateway");
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
