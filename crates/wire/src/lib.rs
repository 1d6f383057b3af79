//! Bytes on the wire: packets, readers, TLVs, checksums, headers of IP, ICMP and UDP, fragments, captures.
//!
//! Parsing is total: any bytes give a value or a [`WireError`], never a panic. Emitting panics only where a
//! doc comment says so, on a caller's mistake. What a chunk or a message means is left to the crates above.
//!
//! # Map
//!
//! - [`packet`][]: [`Packet`], headers inline and the payload as a shared slice.
//! - [`buffers`][]: [`PacketBuffers`], for packets that leave as contiguous bytes.
//! - [`reader`], [`tlv`]: reading octets.
//! - [`checksum`][]: the Internet checksum and CRC32c. It calls the processor's CRC32c, once the processor has said
//!   that it has it: one of the project's two `unsafe` calls (the other is `prefetch` of `slantpath_base`).
//! - [`ethernet`][]: places and classes in frames.
//! - [`ip`], [`fragment`], [`reassembly`], [`icmp`], [`udp`]: headers, fragments, and packets put together again.
//! - [`transport`][]: the words between a layer of messages and whatever carries them.
//! - [`pcapng`][]: captures. [`record`][]: the container of records, whose content other crates know.

mod buffers;
pub mod checksum;
pub mod ethernet;
pub mod fragment;
pub mod icmp;
pub mod ip;
mod packet;
pub mod pcapng;
mod reader;
pub mod reassembly;
pub mod record;
pub mod tlv;
pub mod transport;
pub mod udp;

pub use buffers::PacketBuffers;
pub use packet::{Checksum, Packet};
pub use reader::{Reader, WireError};
