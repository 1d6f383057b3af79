//! The checksums of IP, TCP, UDP and SCTP, and their completion where they were omitted.

mod castagnoli;

use std::net::IpAddr;

use crate::ip::{Fragmentation, IpHeader, protocol};

/// The Internet checksum (RFC 1071) over the concatenation of `parts`, ready for the header field.
///
/// Only the last part may have an odd length.
pub fn internet<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u16 {
    let mut sum = 0_u64;
    for part in parts {
        let (words, rest) = part.as_chunks::<4>();
        for word in words {
            sum += u64::from(u32::from_be_bytes(*word));
        }
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        sum += u64::from(u32::from_be_bytes(last));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    #[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits above")]
    let folded = sum as u16;
    !folded
}

/// The Internet checksum with the pseudo-header of TCP and UDP (RFC 9293, section 3.1; RFC 8200, section 8.1).
pub fn with_pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, segment: &[&[u8]]) -> u16 {
    let length: usize = segment.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let tail = [0, 0, 0, protocol];
    let (mut from, mut to) = ([0; 16], [0; 16]);
    let (from, to) = (octets(source, &mut from), octets(destination, &mut to));
    internet([from, to, &length, &tail].into_iter().chain(segment.iter().copied()))
}

fn octets(address: IpAddr, buffer: &mut [u8; 16]) -> &[u8] {
    match address {
        IpAddr::V4(address) => {
            buffer[..4].copy_from_slice(&address.octets());
            &buffer[..4]
        }
        IpAddr::V6(address) => {
            *buffer = address.octets();
            buffer
        }
    }
}

/// The Internet checksum after one word has changed: equation 3 of RFC 1624.
pub const fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    #[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
    let folded = sum as u16;
    !folded
}

/// SCTP's checksum of the packet that starts with `head`, whatever its checksum field holds, and goes on with `tail`
/// and so many zero bytes: a number whose little-endian bytes go into the field.
///
/// # Panics
/// If `head` is shorter than the common header, 12 bytes.
#[expect(clippy::inline_always, reason = "each packet passes it, and it is little more than a call")]
#[inline(always)]
pub fn sctp(head: &[u8], tail: &[u8], padding: u8) -> u32 {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.8
    //# 2)  Replace the 32 bits of the checksum field in the received SCTP
    //# packet with 0 and calculate a CRC32c checksum value of the whole
    //# received packet.
    castagnoli::sctp(head, tail, padding)
}

/// Fills in the checksums that a simulated stack left out, in one whole IP packet: the IPv4 header's, and
/// that of SCTP, TCP or UDP behind it. Bytes that are no such packet are left alone, and so is what a fragment carries:
/// its checksum covers the whole packet.
pub fn complete(packet: &mut [u8]) {
    let Ok((header, header_len)) = IpHeader::parse_unverified(packet) else { return };
    if header.source.is_ipv4() {
        packet[10..12].fill(0);
        let sum = internet([&packet[..header_len]]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    if let Fragmentation::Fragment(_) = header.fragmentation {
        return;
    }
    let end = packet.len().min(header_len + usize::from(header.payload_len));
    let segment = &mut packet[header_len..end];
    let field = match header.protocol {
        protocol::SCTP if segment.len() >= 12 => 8..12,
        protocol::TCP if segment.len() >= 20 => 16..18,
        protocol::UDP if segment.len() >= 8 => 6..8,
        _ => return,
    };
    if header.protocol == protocol::SCTP {
        let sum = sctp(segment, &[], 0);
        segment[field].copy_from_slice(&sum.to_le_bytes());
    } else {
        segment[field.clone()].fill(0);
        let sum = with_pseudo_header(header.source, header.destination, header.protocol, &[segment]);
        // A UDP checksum of zero would mean "none" (RFC 768).
        let sum = if sum == 0 && header.protocol == protocol::UDP { 0xffff } else { sum };
        segment[field].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rfc_1071_section_3_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet([&bytes[..]]), !0xddf2);
    }

    #[test]
    fn what_the_field_of_an_sctp_packet_holds_does_not_count_in_its_checksum() {
        let packet = *b"12345678....9";
        let expected = crc32c::crc32c(b"12345678\0\0\0\09");
        assert_eq!(sctp(&packet, &[], 0), expected);
        assert_eq!(sctp(&packet[..12], &packet[12..], 0), expected);
    }

    proptest! {
        #[test]
        fn a_message_with_its_checksum_sums_to_zero(mut bytes in proptest::collection::vec(any::<u8>(), 2..200)) {
            if bytes.len() % 2 == 1 {
                bytes.pop();
            }
            bytes[..2].fill(0);
            let sum = internet([&bytes[..]]);
            bytes[..2].copy_from_slice(&sum.to_be_bytes());
            prop_assert_eq!(internet([&bytes[..]]), 0);
        }

        #[test]
        fn parts_of_even_length_sum_like_the_whole(bytes: Vec<u8>, cut in 0_usize..100) {
            let cut = (cut * 2).min(bytes.len() & !1);
            let (front, back) = bytes.split_at(cut);
            prop_assert_eq!(internet([front, back]), internet([&bytes[..]]));
        }

        #[test]
        fn completion_is_total(mut bytes: Vec<u8>) {
            complete(&mut bytes);
        }
    }
}
