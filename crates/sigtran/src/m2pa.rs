//! M2PA (RFC 4165): a signalling link of SS7 over an association instead of a wire.
//!
//! [`Link`] gives MTP3 the service of MTP2 ([`slantpath_ss7::link`]) and speaks [`Message`]s to its peer: alignment
//! and proving, 24-bit sequence numbers and acknowledgements, processor outage, flow control, retrieval for
//! changeover. Which addresses and ports carry the link, and bringing the association up again after it was lost,
//! are left to whoever drives it.

mod message;
mod sequence;

pub use message::{
    Body, HEADER_LEN, LinkStatus, Message, MessageError, PAYLOAD_PROTOCOL, Priority, SHORTEST_MSU, UserData,
};
pub use sequence::SequenceNumber;
