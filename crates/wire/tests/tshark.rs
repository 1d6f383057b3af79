//! An independent reader judges our captures: tshark must find every packet and nothing to complain about.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_testkit::Tshark;
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::pcapng::{Direction, Writer};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Packet};

/// A UDP packet between two hosts of one version of IP.
fn udp(is_v4: bool, payload: &[u8]) -> Vec<u8> {
    let [source, destination] = if is_v4 {
        [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from)
    } else {
        [[0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2]].map(IpAddr::from)
    };
    let ports = UdpHeader { source_port: 40_000, destination_port: 40_001 };
    let datagram = [&ports.emit(&[payload], source, destination, Checksum::Complete)[..], payload].concat();
    let payload_len = u16::try_from(datagram.len()).expect("short");
    let mut packet = Packet::shared(datagram.into(), Checksum::Complete);
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::UDP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    header.emit(packet.prepend(header.header_len()));
    packet.observed()
}

#[test]
fn tshark_reads_a_capture_without_complaint() {
    let mut writer = Writer::new();
    let forward = writer.interface("links/satellite/forward");
    let reverse = writer.interface("links/satellite/reverse");
    for (index, is_v4) in [true, false].into_iter().enumerate() {
        let packet = udp(is_v4, &[7; 101]);
        let at = |millis: u64| Instant::from_nanos(index as u64 * 1_000_000_000 + millis * 1_000_000 + 7);
        writer.packet(forward, at(1), &packet, Direction::Outbound, None);
        writer.packet(forward, at(2), &packet, Direction::Inbound, Some("dropped: queue full"));
        let router: IpAddr =
            if is_v4 { [10, 0, 0, 9].into() } else { [0x2001, 0xdb8, 0, 0, 0, 0, 0, 9].into() };
        for error in [
            IcmpError::PacketTooBig { mtu_bytes: 1_300 },
            IcmpError::TimeExceeded,
            IcmpError::Unreachable(Unreachable::Port),
        ] {
            let report = error.report(router, &packet, 64).expect("a report").observed();
            writer.packet(reverse, at(3), &report, Direction::Outbound, None);
        }
    }
    let tshark = Tshark::of_octets("wire", &writer.take())
        .prefer("ip.check_checksum:TRUE")
        .prefer("udp.check_checksum:TRUE");
    let fields =
        ["frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "frame.comment"];
    let Some(lines) = tshark.rows(&fields) else { return };
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0], ["0.001000007", "links/satellite/forward", "0x00000002", ""]);
    assert_eq!(lines[1], ["0.002000007", "links/satellite/forward", "0x00000001", "dropped: queue full"]);
    assert_eq!(lines[7], ["1.003000007", "links/satellite/reverse", "0x00000002", ""]);

    let complaint = "_ws.malformed || _ws.expert.severity >= 0x600000 || ip.checksum.status == 0 \
        || udp.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0";
    assert_eq!(tshark.print(&["-Y", complaint]).as_deref(), Some(""), "complaints");
    let seen = tshark.print(&["-Y", "udp.checksum.status == 1 || icmp.checksum.status == 1"]);
    assert!(seen.is_some_and(|seen| !seen.is_empty()), "checksums are looked at");
}
