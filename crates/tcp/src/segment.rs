//! One TCP segment: header, options, data (RFC 9293, section 3.1).

use core::fmt;
use core::ops::BitOr;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::serial_number;
use slantpath_wire::ip::{Envelope, IpFields, protocol};
use slantpath_wire::{Checksum, Packet, WireError, checksum};

use crate::config::ChecksumPolicy;
use crate::options::{MAX_OPTIONS_LEN, Options};

serial_number! {
    /// A sequence number on the wire, modulo 2³².
    pub struct SequenceNumber(u32)
}

/// The header's length without options.
pub(crate) const HEADER_LEN: usize = 20;

/// The control bits, in the order of the header's octet.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push function (PSH).
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo: a segment has come with a mark of congestion.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);

    /// Tells if all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Tells if any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
        let set = NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        let names: Vec<&str> = set.map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join("|"))
    }
}

/// A segment's header and options. The urgent pointer is neither read nor sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Of the first byte of data, or of the SYN.
    pub sequence: SequenceNumber,
    /// The next sequence number that the sender expects; significant with ACK.
    pub acknowledgment: SequenceNumber,
    /// The control bits.
    pub flags: Flags,
    /// The window field, unscaled.
    pub window: u16,
    /// Options of the segment.
    pub options: Options,
}

impl Segment {
    #[inline]
    pub(crate) const fn new(fixed: FixedHeader, options: Options) -> Self {
        let FixedHeader { source_port, destination_port, sequence, acknowledgment, flags, window } = fixed;
        Self { source_port, destination_port, sequence, acknowledgment, flags, window, options }
    }

    const fn fixed(&self) -> FixedHeader {
        FixedHeader {
            source_port: self.source_port,
            destination_port: self.destination_port,
            sequence: self.sequence,
            acknowledgment: self.acknowledgment,
            flags: self.flags,
            window: self.window,
        }
    }

    /// Reads a packet from the TCP header on, and its data, which is not copied where it lies in the packet's
    /// tail. Verifies the checksum unless the sender left it out.
    pub fn parse(packet: &Packet, source: IpAddr, destination: IpAddr) -> Result<(Self, Bytes), WireError> {
        let head = packet.head();
        let holds_header =
            header_len(head).is_ok_and(|len| len <= head.len() && head.len().is_multiple_of(2));
        if packet.padding() != 0 || !(head.is_empty() || holds_header) {
            // No stack builds such a packet, but any bytes may lie anywhere.
            let whole = Packet::shared(packet.contiguous(), packet.checksum());
            return Self::parse(&whole, source, destination);
        }
        let (first, second): (&[u8], &[u8]) =
            if head.is_empty() { (packet.tail(), &[]) } else { (head, packet.tail()) };
        if packet.checksum() == Checksum::Complete {
            verify(first, second, source, destination)?;
        }
        let header_len = header_len(first)?;
        let segment = Self::parse_header(first, header_len)?;
        let data = if head.is_empty() {
            packet.tail().slice(header_len..)
        } else if head.len() == header_len {
            packet.tail().clone()
        } else {
            [&head[header_len..], packet.tail()].concat().into()
        };
        Ok((segment, data))
    }

    /// The header of a packet as [`emit`](Self::emit) makes them, without a checksum: inline, the data behind it. Its
    /// options are a part of their own.
    #[inline]
    pub(crate) fn usual_header(packet: &Packet) -> Option<(&[u8; HEADER_LEN], &[u8])> {
        let head = packet.head();
        let (fixed, options) = head.split_first_chunk()?;
        let is_usual = packet.padding() == 0
            && packet.checksum() == Checksum::Omitted
            && usize::from(fixed[12] >> 4) * 4 == head.len();
        is_usual.then_some((fixed, options))
    }

    /// Reads the header, the first `header_len` of `bytes`.
    fn parse_header(bytes: &[u8], header_len: usize) -> Result<Self, WireError> {
        let header = bytes.get(..header_len);
        let header = header.ok_or(WireError::Truncated { wanted: header_len, left: bytes.len() })?;
        let truncated = WireError::Truncated { wanted: HEADER_LEN, left: header_len };
        let (fixed, options) = header.split_first_chunk().ok_or(truncated)?;
        Ok(Self::new(FixedHeader::read(fixed), Options::parse(options)?))
    }

    /// The packet of this header and `data`, which is not copied.
    pub fn emit(
        &self,
        data: Bytes,
        source: IpAddr,
        destination: IpAddr,
        checksum_policy: ChecksumPolicy,
    ) -> Packet {
        let mut packet = Packet::default();
        let envelope = Envelope { source, destination, fields: IpFields::default() };
        self.emit_into(data, &envelope, checksum_policy, &mut packet);
        packet
    }

    /// Variant of [`Segment::emit`] that writes in place of `packet`.
    #[inline]
    pub(crate) fn emit_into(
        &self,
        data: Bytes,
        envelope: &Envelope,
        checksum_policy: ChecksumPolicy,
        packet: &mut Packet,
    ) {
        self.fixed().emit_with(data, envelope, checksum_policy, packet, |place| self.options.emit(place));
    }
}

/// A segment that has come, without its data. Its options, which most have none of, lie elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: SequenceNumber,
    pub(crate) acknowledgment: SequenceNumber,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    pub(crate) options: &'a Options,
}

impl<'a> Received<'a> {
    #[inline]
    pub(crate) const fn new(fixed: FixedHeader, options: &'a Options) -> Self {
        let FixedHeader { source_port, destination_port, sequence, acknowledgment, flags, window } = fixed;
        Self { source_port, destination_port, sequence, acknowledgment, flags, window, options }
    }

    /// Length of the segment in sequence space: its data, and one each for SYN and FIN.
    #[inline]
    pub(crate) fn sequence_len(self, data: &Bytes) -> u32 {
        // A packet is far below 4 GiB.
        let len = u32::try_from(data.len()).unwrap_or(u32::MAX);
        len + u32::from(self.flags.contains(Flags::SYN)) + u32::from(self.flags.contains(Flags::FIN))
    }
}

impl<'a> From<&'a Segment> for Received<'a> {
    fn from(segment: &'a Segment) -> Self {
        Self::new(segment.fixed(), &segment.options)
    }
}

/// Fields of every header, in front of the options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedHeader {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: SequenceNumber,
    pub(crate) acknowledgment: SequenceNumber,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
}

impl FixedHeader {
    #[inline]
    pub(crate) const fn read(octets: &[u8; HEADER_LEN]) -> Self {
        let &[s0, s1, d0, d1, q0, q1, q2, q3, a0, a1, a2, a3, _, flags, w0, w1, ..] = octets;
        Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            sequence: SequenceNumber(u32::from_be_bytes([q0, q1, q2, q3])),
            acknowledgment: SequenceNumber(u32::from_be_bytes([a0, a1, a2, a3])),
            flags: Flags(flags),
            window: u16::from_be_bytes([w0, w1]),
        }
    }

    /// Writes the packet of this header without options, and `data`, in place of `packet`. A checksum covers the
    /// addresses, too.
    #[inline]
    pub(crate) fn emit_into(
        self,
        data: Bytes,
        envelope: &Envelope,
        checksum_policy: ChecksumPolicy,
        packet: &mut Packet,
    ) {
        self.emit_with(data, envelope, checksum_policy, packet, |_| 0);
    }

    /// Variant of [`FixedHeader::emit_into`] with options: `write_options` returns how many bytes they take.
    #[inline]
    pub(crate) fn emit_with(
        self,
        data: Bytes,
        envelope: &Envelope,
        checksum_policy: ChecksumPolicy,
        packet: &mut Packet,
        write_options: impl FnOnce(&mut [u8]) -> usize,
    ) {
        let checksum = match checksum_policy {
            ChecksumPolicy::Complete => Checksum::Complete,
            ChecksumPolicy::Omit => Checksum::Omitted,
        };
        packet.compose(data, 0, checksum, |head, data| {
            let (fixed, options) = head.split_first_chunk_mut().expect("the inline part holds a header");
            let len = HEADER_LEN + write_options(&mut options[..MAX_OPTIONS_LEN]);
            self.write(fixed, len);
            if checksum == Checksum::Complete {
                let parts: [&[u8]; 2] = [&head[..len], data];
                let Envelope { source, destination, .. } = *envelope;
                let sum = checksum::with_pseudo_header(source, destination, protocol::TCP, &parts);
                head[16..18].copy_from_slice(&sum.to_be_bytes());
            }
            len
        });
    }

    /// Writes it with zero for its checksum, as that of a header of `len` bytes.
    #[inline]
    fn write(self, octets: &mut [u8; HEADER_LEN], len: usize) {
        octets[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        octets[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        octets[4..8].copy_from_slice(&self.sequence.0.to_be_bytes());
        octets[8..12].copy_from_slice(&self.acknowledgment.0.to_be_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "at most 60 bytes are 15 words")]
        let words = (len / 4) as u8;
        octets[12] = words << 4;
        octets[13] = self.flags.0;
        octets[14..16].copy_from_slice(&self.window.to_be_bytes());
        // The checksum and the urgent pointer.
        octets[16..20].fill(0);
    }
}

/// The header's length in bytes as its data offset says.
#[inline]
fn header_len(bytes: &[u8]) -> Result<usize, WireError> {
    let truncated = WireError::Truncated { wanted: HEADER_LEN, left: bytes.len() };
    let offset = bytes.get(12).ok_or(truncated)? >> 4;
    if offset < 5 {
        return Err(WireError::BadValue { field: "TCP data offset", value: offset.into() });
    }
    Ok(usize::from(offset) * 4)
}

//= https://www.rfc-editor.org/rfc/rfc9293#section-3.1
//# The TCP checksum is never optional.  The sender MUST generate it
//# (MUST-2) and the receiver MUST check it (MUST-3).
fn verify(first: &[u8], second: &[u8], source: IpAddr, destination: IpAddr) -> Result<(), WireError> {
    let sum = checksum::with_pseudo_header(source, destination, protocol::TCP, &[first, second]);
    if sum == 0 {
        return Ok(());
    }
    let found = first.get(16..18).map_or(0, |field| u32::from(u16::from_be_bytes([field[0], field[1]])));
    // One's complement: what the field should have held is found + sum.
    Err(WireError::BadChecksum { found, computed: (found + u32::from(sum)) % 0xffff })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const DESTINATION: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

    fn segment() -> Segment {
        Segment {
            source_port: 0x1234,
            destination_port: 80,
            sequence: SequenceNumber(0x0102_0304),
            acknowledgment: SequenceNumber(0xa0b0_c0d0),
            flags: Flags::PSH | Flags::ACK,
            window: 0xfedc,
            options: Options::default(),
        }
    }

    #[test]
    fn the_header_lies_as_in_rfc_9293_section_3_1() {
        let packet = segment().emit(Bytes::from_static(b"hi"), SOURCE, DESTINATION, ChecksumPolicy::Omit);
        let bytes = packet.contiguous();
        let expected = [
            0x12, 0x34, 0x00, 0x50, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0, 0x50, 0x18, 0xfe, 0xdc, 0, 0, 0, 0,
            b'h', b'i',
        ];
        assert_eq!(bytes[..], expected);
        assert_eq!(format!("{:?} {:?}", segment().flags, Flags::default()), "PSH|ACK none");
        assert_eq!(Flags::ACK | Flags::ACK | Flags::PSH, Flags(0x18));
    }

    #[test]
    fn data_is_not_copied_on_its_way() {
        let data = Bytes::from(vec![1; 1_000]);
        let packet = segment().emit(data.clone(), SOURCE, DESTINATION, ChecksumPolicy::Complete);
        let (_, received) = Segment::parse(&packet, SOURCE, DESTINATION).unwrap();
        assert_eq!(received.as_ptr(), data.as_ptr());
    }

    #[test]
    fn a_bad_checksum_tells_what_would_be_right() {
        let packet = segment().emit(Bytes::new(), SOURCE, DESTINATION, ChecksumPolicy::Complete);
        let right = u32::from(u16::from_be_bytes([packet.head()[16], packet.head()[17]]));
        let mut bad = packet.clone();
        bad.head_mut()[16] ^= 0x40;
        let Err(WireError::BadChecksum { found, computed }) = Segment::parse(&bad, SOURCE, DESTINATION)
        else {
            panic!("the checksum is wrong");
        };
        assert_eq!((found, computed), (right ^ 0x4000, right));
        assert!(Segment::parse(&packet, SOURCE, SOURCE).is_err(), "the addresses count");
    }

    #[test]
    fn a_usual_packet_has_its_header_inline_and_nothing_but_data_behind_it() {
        let emit = |policy| segment().emit(Bytes::from_static(b"hi"), SOURCE, DESTINATION, policy);
        let is_usual = |packet: &Packet| Segment::usual_header(packet).is_some();
        let whole = emit(ChecksumPolicy::Omit).contiguous();
        let held = |cut: usize, padding| {
            Packet::with_tail(&whole[..cut], whole.slice(cut..), padding, Checksum::Omitted)
        };
        assert!(is_usual(&emit(ChecksumPolicy::Omit)));
        assert!(is_usual(&held(20, 0)));
        assert!(!is_usual(&emit(ChecksumPolicy::Complete)));
        for (cut, padding) in [(20, 1), (0, 0), (19, 0), (21, 0)] {
            assert!(!is_usual(&held(cut, padding)), "{cut} bytes inline, {padding} of padding");
        }
        let mut short = held(16, 0);
        short.head_mut()[12] = 4 << 4;
        assert!(!is_usual(&short), "a header has at least twenty bytes");
    }

    proptest! {
        #[test]
        fn segments_round_trip_however_their_bytes_are_held(
            ports: (u16, u16),
            numbers: (u32, u32),
            flags: u8,
            window: u16,
            options in crate::options::tests::options(),
            data in proptest::collection::vec(any::<u8>(), 0..200),
            is_v6: bool,
            cut in 0_usize..60,
        ) {
            let (source, destination) = if is_v6 {
                (IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::UNSPECIFIED))
            } else {
                (SOURCE, DESTINATION)
            };
            let segment = Segment {
                source_port: ports.0,
                destination_port: ports.1,
                sequence: SequenceNumber(numbers.0),
                acknowledgment: SequenceNumber(numbers.1),
                flags: Flags(flags),
                window,
                options,
            };
            let data = Bytes::from(data);
            let packet = segment.emit(data.clone(), source, destination, ChecksumPolicy::Complete);
            let expected = Ok((segment, data));
            prop_assert_eq!(&Segment::parse(&packet, source, destination), &expected);
            let whole = packet.contiguous();
            let shared = Packet::shared(whole.clone(), Checksum::Complete);
            prop_assert_eq!(&Segment::parse(&shared, source, destination), &expected);
            let cut = cut.min(whole.len());
            let split = Packet::with_tail(&whole[..cut], whole.slice(cut..), 0, Checksum::Complete);
            prop_assert_eq!(&Segment::parse(&split, source, destination), &expected);
        }

        #[test]
        fn any_bytes_are_a_segment_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..120),
            cut in 0_usize..80,
            padding in 0_u8..4,
        ) {
            let cut = cut.min(bytes.len());
            let tail = Bytes::copy_from_slice(&bytes[cut..]);
            for checksum in [Checksum::Complete, Checksum::Omitted] {
                let packet = Packet::with_tail(&bytes[..cut], tail.clone(), padding, checksum);
                let _ = Segment::parse(&packet, SOURCE, DESTINATION);
            }
        }
    }
}
