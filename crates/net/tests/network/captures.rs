//! Captures of a run, as our reader and as tshark see them.

use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_net::DirectionConfig;
use slantpath_testkit::Tshark;
use slantpath_wire::pcapng::{Block, Blocks, CapturedKind, Direction};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis};

fn captured(config: &DirectionConfig) -> Vec<u8> {
    let mut pair = Pair::with(config, Seed::new(1, 0), |_, _| {});
    let capture = pair.network.capture(&[pair.link.forward(), pair.link.reverse()]);
    for tag in 0..4 {
        pair.send(millis(1), 100, tag);
    }
    pair.network.run_until(millis(1_000));
    pair.network.take_capture(capture)
}

#[test]
fn a_capture_that_is_taken_in_parts_is_the_whole_file() {
    let config = clean(byte_a_millisecond(), Duration::ZERO, 10);
    let mut pair = Pair::with(&config, Seed::new(1, 0), |_, _| {});
    let capture = pair.network.capture(&[pair.link.forward(), pair.link.reverse()]);
    let mut parts = Vec::new();
    for tag in 0..4 {
        pair.send(millis(1), 100, tag);
        parts.extend(pair.network.take_capture(capture));
    }
    pair.network.run_until(millis(1_000));
    parts.extend(pair.network.take_capture(capture));
    assert_eq!(parts, captured(&config));
}

fn comments(bytes: &[u8]) -> Vec<(Instant, Option<String>)> {
    let blocks: Vec<_> = Blocks::new(bytes).collect::<Result<_, _>>().expect("a sound capture");
    assert_eq!(blocks[0], Block::Section);
    assert_eq!(
        blocks[1],
        Block::Interface { link_type: CapturedKind::Ip, name: Some("links/wire/forward".to_owned()) }
    );
    assert_eq!(
        blocks[2],
        Block::Interface { link_type: CapturedKind::Ip, name: Some("links/wire/reverse".to_owned()) }
    );
    let packet = |block| match block {
        Block::Packet { interface: 0, time, bytes, direction: Some(Direction::Outbound), comment } => {
            assert_eq!(bytes.len(), 100);
            (time, comment)
        }
        other => panic!("{other:?}"),
    };
    blocks.into_iter().skip(3).map(packet).collect()
}

#[test]
fn a_capture_holds_every_packet_and_what_became_of_it() {
    let config = clean(byte_a_millisecond(), Duration::from_millis(10), 1);
    let full = || Some("dropped: queue full".to_owned());
    let expected = [(millis(1), None), (millis(1), None), (millis(1), full()), (millis(1), full())];
    assert_eq!(comments(&captured(&config)), expected);
    let lossy = DirectionConfig { loss: Probability::ALWAYS, ..config.clone() };
    assert_eq!(comments(&captured(&lossy))[0].1.as_deref(), Some("dropped: loss"));
    let noisy = DirectionConfig { bit_errors: Probability::ALWAYS, ..config };
    assert_eq!(comments(&captured(&noisy))[0].1.as_deref(), Some("damaged: bit error"));
}

#[test]
fn captures_of_equal_runs_are_equal_and_do_not_change_the_run() {
    let config = DirectionConfig {
        loss: Probability::new(0.5).expect("a probability"),
        ..clean(byte_a_millisecond(), Duration::from_millis(10), 9)
    };
    assert_eq!(captured(&config), captured(&config));
    let digest = |capture: bool| {
        let mut pair = Pair::new(&config);
        if capture {
            pair.network.capture(&[pair.link.forward()]);
        }
        for tag in 0..100 {
            pair.send(millis(tag), 100, u8::try_from(tag).expect("below 100"));
        }
        pair.network.run_until(millis(1_000));
        pair.network.digest()
    };
    assert_eq!(digest(false), digest(true));
}

#[test]
fn tshark_reads_a_capture_of_a_run() {
    let config = clean(byte_a_millisecond(), Duration::from_millis(10), 1);
    let tshark = Tshark::of_octets("network", &captured(&config)).prefer("ip.check_checksum:TRUE");
    let Some(rows) = tshark.rows(&["frame.interface_name", "ip.checksum.status", "ip.ttl"]) else { return };
    assert_eq!(rows, [["links/wire/forward", "1", "64"]; 4]);
}
