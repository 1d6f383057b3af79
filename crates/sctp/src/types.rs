//! The numbers of SCTP, each a type of its own.

use core::fmt;

use slantpath_base::{Stream, serial_number};

serial_number! {
    /// Transmission Sequence Number: counts DATA chunks of one direction (RFC 9260, section 1.6).
    pub struct Tsn(u32)
}

serial_number! {
    /// Stream Sequence Number: counts the ordered messages of one stream (RFC 9260, section 6.5).
    pub struct StreamSequence(u16)
}

serial_number! {
    /// Message Identifier: counts the ordered, or the unordered, messages of one stream whose fragments are interleaved
    /// with those of other streams (RFC 8260, section 2.1).
    pub struct MessageId(u32)
}

impl MessageId {
    /// Number that stands for the Message Identifier where the layer above is told a Stream Sequence Number (RFC 8260,
    /// section 4.1).
    pub const fn stream_sequence(self) -> StreamSequence {
        let [.., high, low] = self.0.to_be_bytes();
        StreamSequence(u16::from_be_bytes([high, low]))
    }
}

serial_number! {
    /// Fragment Sequence Number: counts the fragments of one message (RFC 8260, section 2.1).
    pub struct FragmentSequence(u32)
}

/// Stream Identifier: one of the association's unidirectional channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u16);

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Payload Protocol Identifier: what the layer above says that its bytes are. Never interpreted by SCTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppid(pub u32);

impl fmt::Display for Ppid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Verification Tag: the number that a packet must carry to belong to an association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerificationTag(pub u32);

impl VerificationTag {
    /// The tag of a packet that carries an INIT; never the tag of an association.
    pub const ZERO: Self = Self(0);

    /// A tag for a new association: random, and not zero.
    pub fn random(stream: &mut Stream) -> Self {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.3.1
        //# Initiate Tag values SHOULD be selected from the range of 1 to 2^32 -
        //# 1.
        loop {
            let tag = stream.next_u32();
            if tag != 0 {
                return Self(tag);
            }
        }
    }
}

impl fmt::Display for VerificationTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_they_are_written_elsewhere() {
        assert_eq!(format!("{} {} {}", StreamId(17), Ppid(46), VerificationTag(0xbeef)), "17 46 0x0000beef");
    }
}
