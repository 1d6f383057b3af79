//! Headers of IP, UDP and ICMP, TLVs and captures.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_base::{Duration, Instant};
use slantpath_wire::icmp::IcmpMessage;
use slantpath_wire::icmp::echo::EchoHeader;
use slantpath_wire::ip::{Fragment, Fragmentation, IpHeader, protocol};
use slantpath_wire::pcapng::Blocks;
use slantpath_wire::reassembly::{BYTES_MAX, FragmentDrop, PACKETS_MAX, Reassembler, TIMEOUT};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Reader, checksum, tlv};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// A header that is read is written as one that reads the same; a checksum only ever takes packets away.
pub fn ip(data: &[u8]) {
    let unverified = IpHeader::parse_unverified(data);
    if let Ok(verified) = IpHeader::parse(data) {
        assert_eq!(unverified, Ok(verified));
    }
    let Ok((header, header_len)) = unverified else { return };
    assert!(header_len + usize::from(header.payload_len) <= data.len());
    let mut buffer = vec![0; header.header_len() + usize::from(header.payload_len)];
    let written = header.emit(&mut buffer);
    assert_eq!(IpHeader::parse(&buffer), Ok((header, written)));
}

/// A datagram that is read is written as one that reads the same.
pub fn udp(data: &[u8]) {
    if let Ok(verified) = UdpHeader::parse(data, HERE, THERE, Checksum::Complete) {
        assert_eq!(UdpHeader::parse(data, HERE, THERE, Checksum::Omitted), Ok(verified));
    }
    let Ok((header, payload)) = UdpHeader::parse(data, HERE, THERE, Checksum::Omitted) else { return };
    let mut written = header.emit(&[payload], HERE, THERE, Checksum::Complete).to_vec();
    written.extend_from_slice(payload);
    assert_eq!(UdpHeader::parse(&written, HERE, THERE, Checksum::Complete), Ok((header, payload)));
}

/// The first byte chooses the version; the checksum is set right, else nothing would get past it.
pub fn icmp(data: &[u8]) {
    let Some((choice, message)) = data.split_first() else { return };
    let mut message = message.to_vec();
    let (source, destination, protocol) = if choice & 1 == 0 {
        (HERE, THERE, protocol::ICMP)
    } else {
        (IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8]), protocol::ICMPV6)
    };
    if let Some(field) = message.get_mut(2..4) {
        field.fill(0);
        let sum = if choice & 1 == 0 {
            checksum::internet([&message[..]])
        } else {
            checksum::with_pseudo_header(source, destination, protocol, &[&message[..]])
        };
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    let payload_len = u16::try_from(message.len()).unwrap_or(u16::MAX);
    let header = IpHeader {
        source,
        destination,
        protocol,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    // An echo that is read is written as the same bytes.
    if let Ok(Some((echo, data))) = EchoHeader::parse(&header, &message) {
        let written = echo.packet(data.to_vec().into(), source, destination);
        assert_eq!(written.contiguous(), message[..]);
    }
    if let Ok(parsed) = IcmpMessage::parse(&header, &message) {
        // What is quoted is foreign bytes again.
        let _quoted = IpHeader::parse_header(parsed.quote);
    }
}

/// Fragments of any place and length stay within the bounds of the reassembler, and each is accounted for. Five bytes
/// make one: the seconds before it, its length in eights, whose it is, and its place.
pub fn reassembly(data: &[u8]) {
    let mut reassembler = Reassembler::default();
    let mut reader = Reader::new(data);
    let mut now = Instant::START;
    while let (Ok([seconds, len, number]), Ok(place)) = (reader.array(), reader.u16()) {
        now += Duration::from_secs(seconds.into());
        let fragment = Fragment {
            identification: u32::from(number >> 1),
            offset_bytes: place & !7,
            is_followed: place & 1 != 0,
        };
        let [source, destination] = if number & 1 == 0 {
            [HERE, THERE]
        } else {
            [IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8])]
        };
        let payload = vec![len; usize::from(len) * 8];
        let header = IpHeader {
            source,
            destination,
            protocol: protocol::SCTP,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: u16::from(len) * 8,
            fragmentation: Fragmentation::Fragment(fragment),
        };
        if let Some((whole, bytes)) = reassembler.handle_fragment(now, &header, fragment, &payload) {
            assert_eq!(usize::from(whole.payload_len), bytes.len());
        }
        assert!(reassembler.charged_bytes() <= BYTES_MAX && reassembler.unfinished() <= PACKETS_MAX);
    }
    reassembler.handle_deadline(now + TIMEOUT);
    let counters = reassembler.counters();
    let dropped: u64 = FragmentDrop::ALL.iter().map(|reason| counters.dropped(*reason)).sum();
    assert_eq!(counters.received, counters.used + dropped);
    assert_eq!((reassembler.charged_bytes(), reassembler.unfinished()), (0, 0));
}

/// Fields that are read are written as ones that read the same.
pub fn tlv(data: &[u8]) {
    let mut reader = Reader::new(data);
    let mut written = Vec::new();
    let mut fields = Vec::new();
    while let Ok(Some(field)) = tlv::read(&mut reader) {
        tlv::write(&mut written, field.kind, |out| out.extend_from_slice(field.value));
        fields.push(field);
    }
    let mut reader = Reader::new(&written);
    for field in fields {
        assert_eq!(tlv::read(&mut reader), Ok(Some(field)));
    }
    assert_eq!(tlv::read(&mut reader), Ok(None));
}

/// The blocks end, whatever they are.
pub fn pcapng(data: &[u8]) {
    // Each block takes at least twelve bytes, and an error ends them.
    assert!(Blocks::new(data).count() <= data.len() / 12 + 1);
}
