//! Bytes on the wire: packets, readers, TLVs, checksums, headers of IP, ICMP and UDP, fragments, captures.
//!
//! Parsing is total: any bytes give a value or a [`WireError`], never a panic. Emitting panics only where a
//! doc comment says so, on a caller's mistake. What a chunk or a message means is left to the crates above.

mod buffers;
pub mod checksum;
pub mod fragment;
pub mod icmp;
pub mod ip;
mod packet;
pub mod pcapng;
mod reader;
pub mod reassembly;
pub mod tlv;
pub mod udp;

pub use buffers::PacketBuffers;
pub use packet::{Checksum, Packet};
pub use reader::{Reader, WireError};
