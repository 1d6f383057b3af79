//! Packets without a checksum, where something below SCTP finds errors as well as that would (RFC 9653).
//!
//! An end announces by a parameter of its INIT or INIT ACK that it takes such packets, and which method stands in for
//! the checksum. The two directions are independent of each other.

use core::num::NonZeroU32;

use crate::chunk::kind;
use crate::packet::ParsedPacket;

/// Method that finds errors in place of the checksum, by its number in IANA's registry of Error Detection Methods (RFC
/// 9653, section 9.2). Whoever names it vouches that it is at work below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorDetectionMethod(pub NonZeroU32);

impl ErrorDetectionMethod {
    /// SCTP over DTLS (RFC 8261), whose records are authenticated.
    pub const DTLS: Self = Self(NonZeroU32::MIN);

    /// The method of a parameter; `None` for 0, which is reserved.
    pub(crate) fn from_id(id: u32) -> Option<Self> {
        NonZeroU32::new(id).map(Self)
    }
}

/// Tells if a chunk goes in packets with a checksum only. The receiver of an ASCONF may have to find the association by
/// its contents (RFC 9653, section 5.2); that of a SHUTDOWN ACK may have forgotten the association, and with it that
/// packets may lack the checksum.
pub(crate) const fn keeps_checksum(kind: u8) -> bool {
    matches!(kind, kind::ASCONF | kind::SHUTDOWN_ACK)
}

/// Tells if a packet may be without a checksum, whatever has been agreed on: nothing has been before an INIT has been
/// answered, nor does the receiver of a COOKIE ECHO know anything until it has read the cookie (RFC 9653, section 5.2).
pub(crate) fn may_lack_checksum(packet: &ParsedPacket<'_>) -> bool {
    !packet.chunk_kinds().any(|found| matches!(found, kind::INIT | kind::COOKIE_ECHO))
}
