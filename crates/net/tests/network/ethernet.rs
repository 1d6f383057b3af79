//! Links between two outside nodes that carry frames: as they came, with all that a link does to packets.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_net::{
    BeyondMax, CongestionSignal, DirectionConfig, DropReason, GraphError, HeaderCompression, InjectError,
    LinkId, Network, NetworkBuilder, Precedence, QueueConfig, QueueLimit, QueueMeasure, RedConfig,
    RedThresholds, SendingConfig,
};
use slantpath_wire::checksum;
use slantpath_wire::pcapng::{Block, Blocks, CapturedKind};

use crate::fixture::{Scripted, address, byte_a_millisecond, clean, millis, packet};

struct Wire {
    network: Network<Scripted>,
    link: LinkId,
}

impl Wire {
    fn new(config: &DirectionConfig) -> Self {
        let mut builder = NetworkBuilder::new();
        let (near, far) = (builder.outside("near"), builder.outside("far"));
        let link = builder.link("wire", near, far, config.clone(), config.clone());
        builder.address(link.first(), address(1)).address(link.second(), address(2)).carry_frames(link);
        let network = Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), Vec::new());
        Self { network, link }
    }

    fn send(&mut self, at: u64, frame: &[u8]) {
        self.network.inject(millis(at), self.link.first(), frame.to_vec()).expect("it is one");
    }

    /// Frames that come out at the far end, with the instants in milliseconds.
    fn come_out(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.network.run_until(Instant::from_millis(100_000));
        let far = self.link.second();
        std::iter::from_fn(|| self.network.poll_outside())
            .inspect(|out| assert_eq!(out.interface, far))
            .map(|out| (out.at.as_nanos() / 1_000_000, out.packet.observed()))
            .collect()
    }
}

fn frame(tags: &[[u8; 4]], kind: u16, content: &[u8]) -> Vec<u8> {
    let addresses = [0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1];
    [&addresses[..], tags.as_flattened(), &kind.to_be_bytes(), content].concat()
}

/// A tag of this priority and of the virtual LAN 100.
const fn tagged(priority: u8) -> [u8; 4] {
    [0x81, 0x00, priority << 5, 100]
}

fn v4(class: u8, length: usize) -> Vec<u8> {
    let mut bytes = packet(address(1), address(2), length, 7).contiguous().to_vec();
    bytes[1] = class;
    bytes[10..12].fill(0);
    let sum = checksum::internet([&bytes[..20]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

const LLDP: u16 = 0x88cc;

#[test]
fn whatever_one_end_sends_comes_to_the_other_as_it_came_after_the_time_of_what_it_carries() {
    let mut wire = Wire::new(&clean(byte_a_millisecond(), Duration::from_millis(10), 10));
    let frames = [
        frame(&[], LLDP, &[1; 46]),
        // A length in place of a type, as IS-IS has it.
        frame(&[], 46, &[0xfe; 46]),
        frame(&[tagged(3)], 0x0806, &[2; 28]),
        // A packet to nobody that the network knows, whose hops are all but over.
        frame(&[], 0x0800, &v4(0, 40)),
        frame(&[], LLDP, &[]),
    ];
    for frame in &frames {
        wire.send(5, frame);
    }
    let mut at = 5;
    let expected = frames.iter().zip([46, 46, 28, 40, 0]).map(|(frame, carried)| {
        at += carried;
        (at + 10, frame.clone())
    });
    assert_eq!(wire.come_out(), expected.collect::<Vec<_>>());
    let counters = wire.network.counters(wire.link.forward());
    assert_eq!((counters.carried.packets, counters.carried.bytes), (5, 160));
    assert_eq!(wire.network.packets_under_way(), 0);
}

#[test]
fn a_frame_is_as_long_as_what_it_carries_and_a_longer_one_than_the_mtu_is_dropped() {
    let mtu = DirectionConfig { mtu_bytes: 100, ..clean(byte_a_millisecond(), Duration::ZERO, 10) };
    let mut wire = Wire::new(&mtu);
    let whole = frame(&[tagged(0), tagged(0)], 0x0800, &v4(0, 100));
    wire.send(1, &whole);
    wire.send(1, &frame(&[], 0x0800, &v4(0, 101)));
    // Nobody is told, and nothing is cut.
    assert_eq!(wire.come_out(), [(101, whole)]);
    assert_eq!(wire.network.counters(wire.link.forward()).dropped(DropReason::Mtu).packets, 1);
    let short = wire.network.inject(millis(200_000), wire.link.first(), vec![0; 13]);
    assert_eq!(short, Err(InjectError::NotFrame { len: 13 }));
}

#[test]
fn the_class_is_that_of_the_tag_or_of_the_packet() {
    let queue = QueueConfig::Priority(QueueLimit::Packets(10));
    let mut wire = Wire::new(&DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue));
    let frames = [
        frame(&[], LLDP, &[1; 20]),
        frame(&[], LLDP, &[2; 20]),
        frame(&[tagged(2)], LLDP, &[3; 20]),
        frame(&[], 0x0800, &v4(0xb8, 20)),
        frame(&[tagged(7)], 0x0800, &v4(0, 20)),
    ];
    for frame in &frames {
        wire.send(1, frame);
    }
    // The first is being sent when the others come.
    let [first, last, third, second, before] = frames;
    let order: Vec<Vec<u8>> = wire.come_out().into_iter().map(|(_, frame)| frame).collect();
    assert_eq!(order, [first, before, second, third, last]);
}

#[test]
fn a_mark_is_written_into_the_packet_of_a_frame_and_a_frame_without_one_is_dropped() {
    let thresholds = RedThresholds { min: 10, max: 1_000, max_probability: Probability::ALWAYS };
    let queue = QueueConfig::Red(RedConfig {
        limit: QueueLimit::Unlimited,
        measure: QueueMeasure::Bytes,
        precedence: Precedence::Ignored(thresholds),
        weight: 1.0,
        typical_bytes: 1,
        beyond_max: BeyondMax::Drop,
        signal: CongestionSignal::Mark,
    });
    let mut wire = Wire::new(&DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue));
    for kind in [0x0800, 0x0800, 0x0800, LLDP] {
        wire.send(1, &frame(&[tagged(1)], kind, &v4(0x2a, 40)));
    }
    let out = wire.come_out();
    let classes: Vec<u8> = out.iter().map(|(_, frame)| frame[19]).collect();
    assert_eq!(classes.last(), Some(&0x2b), "{classes:x?}");
    for (_, frame) in &out {
        assert_eq!((frame[14], checksum::internet([&frame[18..38]])), (1 << 5, 0));
    }
    assert_eq!(out.len(), 3);
}

#[test]
fn bit_errors_hit_what_a_frame_carries_and_headers_are_not_compressed() {
    let errors = Probability::new(0.01).expect("a probability");
    let mut wire =
        Wire::new(&DirectionConfig { bit_errors: errors, ..clean(byte_a_millisecond(), Duration::ZERO, 10) });
    let sent = frame(&[tagged(1)], 0x0800, &v4(0, 1_000));
    wire.send(1, &sent);
    let out = wire.come_out().remove(0).1;
    assert_eq!((&out[..18], out.len()), (&sent[..18], sent.len()));
    assert!(out != sent);

    let compression = HeaderCompression {
        header_bytes: 40,
        compressed_bytes: 4,
        refresh_packets: 100,
        refresh_interval: Duration::from_secs(100),
        losses_survived: 0,
        contexts: 1,
    };
    let mut wire = Wire::new(&DirectionConfig {
        sending: SendingConfig::Compressed(compression),
        ..clean(byte_a_millisecond(), Duration::ZERO, 10)
    });
    // An address that begins as an IP packet does.
    let mut like_ip = frame(&[], 0x0800, &v4(0, 100));
    like_ip[0] = 0x45;
    for at in [0, 1_000, 2_000] {
        wire.send(at, &like_ip);
    }
    let instants: Vec<u64> = wire.come_out().iter().map(|(at, _)| *at).collect();
    assert_eq!(instants, [100, 1_100, 2_100]);
}

#[test]
fn a_capture_of_frames_is_one_of_ethernet() {
    let mut wire = Wire::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
    let capture = wire.network.capture(&[wire.link.forward()]);
    let sent = frame(&[tagged(1)], LLDP, &[1, 2, 3]);
    wire.send(1, &sent);
    wire.come_out();
    let file = wire.network.take_capture(capture);
    let blocks: Vec<Block<'_>> = Blocks::new(&file).collect::<Result<_, _>>().expect("sound blocks");
    assert!(matches!(blocks[1], Block::Interface { link_type: CapturedKind::Ethernet, .. }));
    assert!(matches!(blocks[2], Block::Packet { bytes, .. } if bytes == sent));
}

#[test]
fn both_ends_of_a_link_of_frames_are_outside() {
    let mut builder = NetworkBuilder::new();
    let (near, router) = (builder.outside("near"), builder.router("router"));
    let config = clean(byte_a_millisecond(), Duration::ZERO, 10);
    let link = builder.link("wire", near, router, config.clone(), config);
    builder.carry_frames(link).address(link.first(), IpAddr::from([10, 0, 0, 1]));
    let (link, node) = ("wire".to_owned(), "router".to_owned());
    assert_eq!(builder.build().err(), Some(GraphError::NotOfFrames { link, node }));
}
