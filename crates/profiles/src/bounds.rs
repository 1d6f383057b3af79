//! The most that values of a profile may be, each with its reason. A bound is wide: it keeps out what nobody can mean
//! or wait for.

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_reader::AtMost;

const GIBIBYTE: u64 = 1 << 30;

/// A timer of a protocol.
pub const TIMER: AtMost<Duration> =
    AtMost::new(Duration::from_secs(86_400), "no protocol waits longer than a day");
/// The rate of a transmitter or of a source.
pub const RATE: AtMost<DataRate> =
    AtMost::new(DataRate::from_bits_per_sec(1_000_000_000_000_000), "no fibre carries more");
/// Longest time for which an acknowledgement is held back.
pub const SACK_DELAY: AtMost<Duration> = AtMost::new(Duration::from_millis(500), "RFC 9260, section 6.2");
/// An IP packet.
pub const PACKET: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_535), "a packet has 16 bits for its length");
/// Data in a segment of TCP.
pub const SEGMENT: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_495), "a packet of 65535 bytes holds no more");
/// Memory that a buffer or a message may take.
pub const BUFFER: AtMost<DataSize> = AtMost::new(DataSize::from_bytes(16 * GIBIBYTE), "it is held in memory");
/// A window that SCTP advertises.
pub const SCTP_WINDOW: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(u32::MAX as u64), "a_rwnd has 32 bits");
/// A window that TCP advertises: 16 bits shifted by 14 (RFC 7323, section 2.3).
pub const TCP_WINDOW: AtMost<DataSize> =
    AtMost::new(DataSize::from_bytes(65_535 << 14), "a window has 16 bits, scaled by 14 (RFC 7323)");
/// Number of times that something is repeated before it is given up.
pub const REPETITIONS: AtMost<u32> = AtMost::new(10_000, "at a time-out of a minute that is a week");
/// Packets, reports or acknowledgements that are counted.
pub const PACKETS: AtMost<u32> = AtMost::new(1_000_000, "more packets are in no window");
/// Segments for which one ACK of TCP may open the window.
//= https://www.rfc-editor.org/rfc/rfc3465#section-2.3
//# This document specifies that TCP implementations MAY use L=2*SMSS
//# bytes and MUST NOT use L > 2*SMSS bytes.
pub const BYTE_COUNTING: AtMost<u32> = AtMost::new(2, "RFC 3465, section 2.3, allows no more");
/// Addresses of a peer.
pub const ADDRESSES: AtMost<u32> = AtMost::new(10_000, "an INIT holds no more of them");
/// Factor by which an expiry lengthens a time-out, in percent.
pub const BACK_OFF_PERCENT: AtMost<u32> = AtMost::new(10_000, "a hundredfold passes any maximum at once");
/// The power of two by which an average is weighted.
pub const SHIFT: AtMost<u32> = AtMost::new(16, "an average that heeds less never moves");
