//! Packets that routers cut.

use bytes::Bytes;
use slantpath_base::{DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{
    CaptureId, DirectionConfig, DropReason, LinkId, Network, NetworkBuilder, NodeId, PacketCount,
    QueueConfig, QueueLimit,
};
use slantpath_testkit::Tshark;
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::reassembly::Reassembler;
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Packet};

use crate::fixture::{Scripted, address, clean};

struct Line {
    network: Network<Scripted>,
    first: NodeId,
    second: NodeId,
    left: LinkId,
    right: LinkId,
    capture: CaptureId,
}

/// Host, router, host, over links of these MTUs; both directions of the second are captured.
fn line(left_mtu: u32, right: DirectionConfig) -> Line {
    let mut builder = NetworkBuilder::new();
    let (first, router, second) = (builder.host("first"), builder.router("router"), builder.host("second"));
    let wide = clean(DataRate::from_bits_per_sec(1_000_000), Duration::from_millis(1), 9);
    let left_config = DirectionConfig { mtu_bytes: left_mtu, ..wide.clone() };
    let left = builder.link("left", first, router, left_config, wide.clone());
    let right = builder.link("right", router, second, right, wide);
    builder.address(left.first(), address(1)).address(right.second(), address(2));
    let hosts = vec![Scripted::default(), Scripted::default()];
    let mut network = Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
    let capture = network.capture(&[right.forward(), right.reverse()]);
    Line { network, first, second, left, right, capture }
}

fn narrow(mtu_bytes: u32) -> DirectionConfig {
    let wide = clean(DataRate::from_bits_per_sec(1_000_000), Duration::from_millis(1), 9);
    DirectionConfig { mtu_bytes, ..wide }
}

/// A datagram of `payload` bytes whose checksum is left out, and which routers may cut.
fn datagram(payload: usize) -> Packet {
    datagram_that(Fragmentation::Allowed { identification: 9 }, payload)
}

fn datagram_that(fragmentation: Fragmentation, payload: usize) -> Packet {
    let payload: Vec<u8> = (0..=255).cycle().take(payload).collect();
    let ports = UdpHeader { source_port: 40_000, destination_port: 40_001 };
    let head = ports.emit(&[&payload], address(1), address(2), Checksum::Omitted);
    let payload_len = u16::try_from(head.len() + payload.len()).expect("short");
    let mut packet = Packet::with_tail(&head, payload.into(), 0, Checksum::Omitted);
    let header = IpHeader {
        source: address(1),
        destination: address(2),
        protocol: protocol::UDP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation,
    };
    header.emit(packet.prepend(header.header_len()));
    packet
}

impl Line {
    fn send(&mut self, packet: Packet) {
        let interface = self.left.first();
        self.network.command(self.first, |host, now| host.send(now, interface, packet));
        self.network.run_until(self.network.now() + Duration::from_secs(1));
    }

    /// The lengths of what the second host got, and the payload that it makes of them.
    fn arrived(&self) -> (Vec<usize>, Option<Bytes>) {
        let mut reassembler = Reassembler::default();
        let mut whole = None;
        let received = &self.network.host(self.second).received;
        for (_, _, packet) in received {
            let bytes = packet.contiguous();
            let (header, len) = IpHeader::parse(&bytes).expect("a sound header");
            assert_eq!((header.hop_limit, packet.checksum()), (63, Checksum::Complete));
            let Fragmentation::Fragment(fragment) = header.fragmentation else { panic!("{header:?}") };
            whole = whole.or(reassembler.handle_fragment(Instant::START, &header, fragment, &bytes[len..]));
        }
        let lengths = received.iter().map(|(_, _, packet)| packet.len()).collect();
        (lengths, whole.map(|(_, payload)| payload))
    }
}

fn count(packets: u64, bytes: u64) -> PacketCount {
    PacketCount { packets, bytes }
}

#[test]
fn a_router_cuts_a_packet_that_may_be_cut_and_counts_it() {
    let mut line = line(1_500, narrow(576));
    let packet = datagram(1_400);
    let sent = packet.observed();
    line.send(packet);
    let (lengths, whole) = line.arrived();
    assert_eq!(lengths, [572, 572, 324]);
    assert_eq!(whole.as_deref(), Some(&sent[20..]), "checksum and all");
    let counters = line.network.counters(line.right.forward());
    assert_eq!((counters.fragmented, counters.fragments), (count(1, 1_428), count(3, 1_468)));
    assert_eq!((counters.offered, counters.carried), (count(3, 1_468), count(3, 1_468)));
    assert_eq!(counters.dropped_in_all(), count(0, 0));
    assert_eq!(line.network.host(line.first).received.len(), 0, "nobody is told");
    assert_eq!(line.network.packets_under_way(), 0);
}

#[test]
fn a_host_and_a_router_behind_it_cut_one_packet_twice() {
    let mut line = line(1_000, narrow(500));
    let packet = datagram(1_400);
    let sent = packet.observed();
    line.send(packet);
    let (lengths, whole) = line.arrived();
    assert_eq!(lengths, [500, 500, 36, 452]);
    assert_eq!(whole.as_deref(), Some(&sent[20..]));
    let fragments = |link: LinkId| line.network.counters(link.forward()).fragments.packets;
    assert_eq!((fragments(line.left), fragments(line.right)), (2, 3));
}

#[test]
fn fragments_arrive_as_parts_of_what_a_host_has_sent_and_reports_of_routers_do_not() {
    let mut line = line(1_500, narrow(576));
    line.network.count_host_pairs();
    line.send(datagram(1_400));
    let [((from, to), pair)] = line.network.host_pairs() else { panic!("one pair") };
    assert_eq!((*from, *to), (line.first, line.second));
    assert_eq!((pair.sent, pair.received), (count(1, 1_428), count(3, 1_468)));
    // A packet that is too long and must not be cut is answered by the router, in the place where the packet was.
    line.send(datagram_that(Fragmentation::Forbidden, 1_400));
    assert_eq!(line.network.host(line.first).received.len(), 1, "a report");
    let [((from, to), pair)] = line.network.host_pairs() else { panic!("one pair still") };
    assert_eq!((*from, *to, pair.sent.packets, pair.received.packets), (line.first, line.second, 2, 3));
}

#[test]
fn a_fragment_that_finds_no_room_is_dropped_alone() {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1));
    let mut line = line(1_500, DirectionConfig { queue, ..narrow(576) });
    line.send(datagram(1_400));
    let (lengths, whole) = line.arrived();
    assert_eq!((lengths, whole), (vec![572, 572], None));
    let counters = line.network.counters(line.right.forward());
    assert_eq!(counters.dropped(DropReason::QueueFull), count(1, 324));
    assert_eq!(line.network.packets_under_way(), 0);
}

#[test]
fn bit_errors_meet_fragments_as_they_meet_packets() {
    let probability = Probability::new(1e-3).expect("a probability");
    let mut line = line(1_500, DirectionConfig { bit_errors: probability, ..narrow(576) });
    line.send(datagram(1_400));
    let counters = line.network.counters(line.right.forward());
    assert!(counters.damaged.packets > 0);
    let sound = datagram(1_400).observed();
    let received = &line.network.host(line.second).received;
    let differs = |(_, _, packet): &&(_, _, Packet)| {
        let bytes = packet.contiguous();
        !sound[20..].windows(bytes.len() - 20).any(|window| *window == bytes[20..])
            || IpHeader::parse(&bytes).is_err()
    };
    assert_eq!(received.iter().filter(differs).count() as u64, counters.damaged.packets);
}

#[test]
fn tshark_puts_captured_fragments_together() {
    let mut line = line(1_500, narrow(576));
    line.send(datagram(1_400));
    let capture = line.network.take_capture(line.capture);
    let tshark = Tshark::of_octets("fragments", &capture)
        .prefer("ip.defragment:TRUE")
        .prefer("ip.check_checksum:TRUE")
        .prefer("udp.check_checksum:TRUE");
    let Some(lines) = tshark.rows(&["ip.flags.mf", "ip.fragment.count", "udp.length"]) else { return };
    assert_eq!(lines, [["1", "", ""], ["1", "", ""], ["0", "3", "1408"]]);
    let complaint = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0";
    assert_eq!(tshark.print(&["-Y", complaint]).as_deref(), Some(""), "complaints");
    let checked = tshark.print(&["-Y", "udp.checksum.status == 1"]);
    assert!(checked.is_some_and(|checked| !checked.is_empty()), "the checksum is looked at");
}
