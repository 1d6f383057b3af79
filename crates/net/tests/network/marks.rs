//! Marks of congestion: made by a queue, kept on the way, and seen by the receiver.

use slantpath_base::{Duration, Probability, Seed};
use slantpath_net::{
    BeyondMax, CoDelConfig, CongestionSignal, DirectionConfig, DropReason, LinkId, Network, NetworkBuilder,
    NodeId, Precedence, QueueConfig, QueueLimit, QueueMeasure, RedConfig, RedThresholds,
};
use slantpath_testkit::Tshark;
use slantpath_wire::ip::IpHeader;
use slantpath_wire::pcapng::{Block, Blocks};
use slantpath_wire::{Packet, checksum};

use crate::fixture::{Scripted, address, byte_a_millisecond, clean, millis, packet, tag};

const ECT: u8 = 2;
const CE: u8 = 3;

/// A link with RED that chooses every packet which finds another waiting, from `min_bytes` on.
fn red(signal: CongestionSignal, min_bytes: u64) -> DirectionConfig {
    let thresholds = RedThresholds { min: min_bytes, max: 1_000, max_probability: Probability::ALWAYS };
    let queue = QueueConfig::Red(RedConfig {
        limit: QueueLimit::Unlimited,
        measure: QueueMeasure::Bytes,
        precedence: Precedence::Ignored(thresholds),
        // The average is the queue itself, and a packet is as much longer than a typical one as makes it sure.
        weight: 1.0,
        typical_bytes: 1,
        beyond_max: BeyondMax::Drop,
        signal,
    });
    DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue)
}

struct Line {
    network: Network<Scripted>,
    first: NodeId,
    last: NodeId,
    near: LinkId,
    far: LinkId,
}

/// Host 1, a router, and host 2, with a link of `config` from host 1 on.
fn line(config: DirectionConfig) -> Line {
    let mut builder = NetworkBuilder::new();
    let (first, last) = (builder.host("first"), builder.host("last"));
    let router = builder.router("router");
    let back = clean(byte_a_millisecond(), Duration::ZERO, 1_000);
    let near = builder.link("near", first, router, config, back.clone());
    let far = builder.link("far", router, last, back.clone(), back);
    builder.address(near.first(), address(1)).address(far.second(), address(2));
    let graph = builder.build().expect("a sound plan");
    let network = Network::new(graph, Seed::new(1, 0), vec![Scripted::default(); 2]);
    Line { network, first, last, near, far }
}

impl Line {
    /// Host 1 sends packets of these traffic classes at once, each numbered.
    fn send(&mut self, classes: &[u8]) {
        let interface = self.near.first();
        for (tag, &class) in (0..).zip(classes) {
            let mut packet = packet(address(1), address(2), 100, tag);
            let bytes = packet.head_mut();
            bytes[1] = class;
            bytes[10..12].fill(0);
            let sum = checksum::internet([&bytes[..20]]);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            self.network.command(self.first, |host, _| host.send(millis(0), interface, packet));
        }
    }

    /// Number and traffic class of what host 2 has received, every header whole.
    fn received(&self) -> Vec<(u8, u8)> {
        let class = |packet: &Packet| {
            let (header, _) = IpHeader::parse(&packet.contiguous()).expect("a header whose checksum holds");
            assert_eq!(header.hop_limit, 63);
            header.traffic_class
        };
        let received = &self.network.host(self.last).received;
        received.iter().map(|(_, _, packet)| (tag(packet), class(packet))).collect()
    }
}

#[test]
fn the_mark_is_in_a_sound_header_and_others_are_dropped() {
    let mut marking = line(red(CongestionSignal::Mark, 0));
    // The first is sent at once, the second finds none waiting: the average is 0 for both.
    marking.send(&[ECT, ECT, ECT, 0xb9, 0xb8, CE]);
    marking.network.run_until(millis(2_000));
    assert_eq!(marking.received(), [(0, ECT), (1, ECT), (2, CE), (3, 0xbb), (5, CE)]);
    let counters = marking.network.counters(marking.near.forward());
    assert_eq!((counters.marked.packets, counters.marked.bytes), (2, 200));
    // The last one came with its mark.
    assert_eq!(counters.dropped(DropReason::Early).packets, 1);
    assert_eq!(counters.carried.packets, 5);

    let mut dropping = line(red(CongestionSignal::Drop, 0));
    dropping.send(&[ECT, ECT, ECT, 0xb9, 0xb8, CE]);
    dropping.network.run_until(millis(2_000));
    assert_eq!(dropping.received(), [(0, ECT), (1, ECT)]);
    assert_eq!(dropping.network.counters(dropping.near.forward()).marked.packets, 0);
}

#[test]
fn codel_marks_when_packets_leave() {
    let codel = CoDelConfig {
        target: Duration::from_millis(150),
        interval: Duration::from_millis(250),
        signal: CongestionSignal::Mark,
        ..CoDelConfig::new(QueueLimit::Unlimited)
    };
    let config = DirectionConfig {
        mtu_bytes: 100,
        ..DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, QueueConfig::CoDel(codel))
    };
    let mut line = line(config);
    line.send(&[ECT; 9]);
    line.network.run_until(millis(2_000));
    // Waits of 200 ms and more from the third packet on; 250 ms later is 450 ms, and then 250 ms on. Behind the eighth
    // there is no more than a packet.
    let marked: Vec<u8> =
        line.received().iter().filter(|(_, class)| *class == CE).map(|(tag, _)| *tag).collect();
    assert_eq!(marked, [5]);
    assert_eq!(line.received().len(), 9);
    assert_eq!(line.network.counters(line.near.forward()).marked.packets, 1);
}

#[test]
fn a_mark_is_part_of_the_digest() {
    let run = |min_bytes| {
        let mut line = line(red(CongestionSignal::Mark, min_bytes));
        line.send(&[ECT; 3]);
        line.network.run_until(millis(2_000));
        (line.network.digest(), line.received())
    };
    let ((of_marked, marked), (of_unmarked, unmarked)) = (run(0), run(500));
    assert_eq!(marked, [(0, ECT), (1, ECT), (2, CE)]);
    assert_eq!(unmarked, [(0, ECT), (1, ECT), (2, ECT)]);
    assert_ne!(of_marked, of_unmarked);
}

#[test]
fn a_capture_shows_the_mark_where_it_was_made_and_behind() {
    let mut line = line(red(CongestionSignal::Mark, 0));
    let capture = line.network.capture(&[line.near.forward(), line.far.forward()]);
    line.send(&[ECT; 3]);
    line.network.run_until(millis(2_000));
    let bytes = line.network.take_capture(capture);
    let packets: Vec<(u8, Option<String>)> = Blocks::new(&bytes)
        .filter_map(|block| match block.expect("a sound capture") {
            Block::Packet { interface, bytes, comment, .. } => Some((interface, bytes[1], comment)),
            _ => None,
        })
        .map(|(interface, class, comment)| {
            assert!(comment.is_none() || interface == 0, "it was marked on the first link");
            (class, comment)
        })
        .collect();
    let plain = || (ECT, None);
    let marked = || (CE, Some("marked".to_owned()));
    assert_eq!(packets, [plain(), plain(), marked(), plain(), plain(), (CE, None)]);
    let tshark = Tshark::of_octets("marks", &bytes).prefer("ip.check_checksum:TRUE");
    let Some(rows) = tshark.rows(&["ip.dsfield.ecn", "ip.checksum.status"]) else { return };
    let of_ecn: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(of_ecn, ["2", "2", "3", "2", "2", "3"]);
    assert!(rows.iter().all(|row| row[1] == "1"), "every checksum is good: {rows:?}");
}
