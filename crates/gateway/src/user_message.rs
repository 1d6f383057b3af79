//! A user's message as an association carries it, over M2PA or M3UA.

use bytes::Bytes;
use slantpath_sigtran::{m2pa, m3ua};
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};
use slantpath_ss7::{PointCode, PointCodeFormat};

/// Service indicator of the first user part: below it are MTP3's own messages (Q.704, section 14.2.1).
const FIRST_OF_USERS: u8 = 3;

/// A message of a user part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserMessage {
    /// Originating point code.
    pub(crate) opc: PointCode,
    /// Destination point code.
    pub(crate) dpc: PointCode,
    pub(crate) user: ServiceIndicator,
    /// Octets of the user part.
    pub(crate) user_part: Bytes,
}

impl UserMessage {
    /// Reads what an association has brought or is given; `None` of what is no user's, as management, or no message.
    pub(crate) fn read(format: PointCodeFormat, payload_protocol: u32, octets: &Bytes) -> Option<Self> {
        let message = if payload_protocol == m2pa::PAYLOAD_PROTOCOL {
            // Class 11, type 1: user data, behind the octet of priority.
            let [_, _, 11, 1, ..] = octets[..] else { return None };
            let msu = Msu::parse(octets.get(m2pa::HEADER_LEN + 1..)?, format).ok()?;
            let user_part = octets.slice_ref(msu.user_part);
            Self { opc: msu.label.opc, dpc: msu.label.dpc, user: msu.service.indicator, user_part }
        } else {
            let [_, _, 1, 1, ..] = octets[..] else { return None };
            let data = m3ua::Data::parse(octets).ok()?.protocol_data;
            let user = ServiceIndicator::new(data.service_indicator)?;
            Self { opc: data.opc, dpc: data.dpc, user, user_part: data.user_data }
        };
        (message.user.value() >= FIRST_OF_USERS).then_some(message)
    }

    /// Hash by which the message is known again ([`known_by`]).
    pub(crate) fn known_by(&self) -> u64 {
        known_by(self.user, &self.user_part)
    }
}

/// Hash by which a message is known again behind MTP3, M3UA and SCCP's translation. Neither of the first two changes
/// the user part; a translation changes the addresses of a unitdata, and not its data.
pub(crate) fn known_by(user: ServiceIndicator, user_part: &[u8]) -> u64 {
    let is_sccp = user == ServiceIndicator::SCCP;
    hash_of(if is_sccp { sccp_data(user_part).unwrap_or(user_part) } else { user_part })
}

/// Hash of octets, never zero. As rustc hashes: what is known by it is no secret, and a collision costs one
/// measurement.
pub(crate) fn hash_of(octets: &[u8]) -> u64 {
    let mut hash = octets.len() as u64;
    let (words, rest) = octets.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for word in words.iter().chain([&last]) {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash | 1
}

/// Data of a UDT or XUDT, behind the addresses (Q.713, sections 4.10 and 4.18).
fn sccp_data(octets: &[u8]) -> Option<&[u8]> {
    let pointer = match octets.first()? {
        0x09 => 4,
        0x11 => 5,
        _ => return None,
    };
    let at = pointer + usize::from(*octets.get(pointer)?);
    let length = usize::from(*octets.get(at)?);
    octets.get(at + 1..at + 1 + length)
}
