//! Frames of attached devices.

use std::net::IpAddr;

use slantpath_emulate::Offload;
use slantpath_wire::checksum;
use slantpath_wire::ip::protocol;

use super::{HERE, Seeds, THERE, ip_packet};

/// A header of offloads for segments of eight octets, by its type, without a partial checksum.
fn of_segments(gso_type: u8) -> [u8; 10] {
    let [s0, s1] = 8_u16.to_ne_bytes();
    [0, gso_type, 0, 0, s0, s1, 0, 0, 0, 0]
}

pub(super) fn keep(seeds: &mut Seeds) {
    let [here, there] = [IpAddr::from([0xfd00_u16; 8]), IpAddr::from([0xfd01_u16; 8])];
    let segment = [
        &[0x30, 0x39, 0, 80, 0xff, 0xff, 0xff, 0xf8, 9, 9, 9, 9, 0x50, 0x98, 1, 2, 0, 0, 0, 0][..],
        b"three segments of data",
    ]
    .concat();
    let datagram = [&[0x30, 0x39, 0, 53, 0, 24, 0, 0][..], b"two with 8 bytes"].concat();
    let [tcp_v4, udp_v4] = [(protocol::TCP, &segment), (protocol::UDP, &datagram)]
        .map(|(number, payload)| ip_packet(HERE, THERE, number, payload));
    let tcp_v6 = ip_packet(here, there, protocol::TCP, &segment);
    seeds.keep("offload", "tcp-v4", [&[0][..], &of_segments(0x81), &tcp_v4].concat());
    seeds.keep("offload", "tcp-v6", [&[0][..], &of_segments(4), &tcp_v6].concat());
    seeds.keep("offload", "udp", [&[0][..], &of_segments(5), &udp_v4].concat());
    // The checksum of the datagram, in a frame with a tag.
    let [[start0, start1], [offset0, offset1]] = [38, 6].map(u16::to_ne_bytes);
    let partial = [1, 0, 0, 0, 0, 0, start0, start1, offset0, offset1];
    let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let tagged = [&addresses[..], &[0x81, 0, 0, 7, 0x08, 0x00], &udp_v4].concat();
    seeds.keep("offload", "tagged-datagram", [&[1][..], &partial, &tagged].concat());
    seeds.keep("offload", "none", [&[0][..], &Offload::NONE.to_bytes(), &udp_v4].concat());

    let request = [
        &[0xff; 6][..],
        &addresses[6..],
        &[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1],
        &addresses[6..],
        &[10, 0, 0, 1],
        &[0; 6],
        &[10, 0, 0, 2],
    ]
    .concat();
    seeds.keep("neighbours", "arp", request);
    let mut solicitation = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &[0xfd; 16], &[1, 1], &addresses[6..]].concat();
    let sum = checksum::with_pseudo_header(here, there, protocol::ICMPV6, &[&solicitation]);
    solicitation[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut packet = ip_packet(here, there, protocol::ICMPV6, &solicitation);
    packet[7] = 255;
    let multicast = [0x33, 0x33, 0xff, 0xfd, 0xfd, 0xfd];
    seeds.keep("neighbours", "ndp", [&multicast[..], &addresses[6..], &[0x86, 0xdd], &packet].concat());
    seeds.keep("neighbours", "ip", [&addresses[..], &[0x08, 0x00], &udp_v4].concat());
}
