//! Connections whose two ends both send: what rides on a segment of data.

use slantpath_base::Duration;
use slantpath_cc::InitialWindow;
use slantpath_tcp::{DelayedAck, Flags, Segment, TcpConfig};

use crate::pair::{Pair, pattern};

/// Segments that the left side sends, as bytes of data and SACK blocks, on a segment that acknowledges all it has sent
/// and is the last of `islands` behind a gap. It has `len` bytes to send and a full segment is of 1,000 bytes.
fn answer(timestamps: bool, islands: u32, len: usize) -> Vec<(usize, usize)> {
    let config = TcpConfig {
        mss_bytes: 1_000,
        initial_window: InitialWindow::Segments(1),
        timestamps,
        ..TcpConfig::default()
    };
    let mut pair = Pair::connected(config, TcpConfig { timestamps, ..TcpConfig::default() });
    let mut segment = pair.right.sent.last().unwrap().segment;
    segment.flags = Flags::ACK;
    let (first, acknowledgment) = (segment.sequence.plus(1), segment.acknowledgment);
    let full = if timestamps { 988 } else { 1_000 };
    pair.write_left(pattern(full));
    pair.rightwards.cut();
    let mut before = 0;
    for island in 1..=islands {
        if island == islands {
            pair.write_left(pattern(len));
            segment.acknowledgment = acknowledgment.plus(full as u32);
            before = pair.left.sent.len();
        }
        segment.sequence = first.plus(island * 1_000);
        pair.inject_left(&segment, pattern(100));
    }
    pair.left.sent[before..].iter().map(|traced| (traced.len, traced.segment.options.sack.len())).collect()
}

/// RFC 9293, section 3.7.1. A block takes 8 bytes, and the first of them 4 more.
#[test]
fn sack_blocks_ride_on_data_as_far_as_the_mss_has_room_and_by_themselves_where_it_has_none() {
    for (timestamps, islands, len, expected) in [
        (false, 1, 988, vec![(988, 1)]),
        (false, 1, 989, vec![(989, 0), (0, 1)]),
        (false, 1, 1_000, vec![(1_000, 0), (0, 1)]),
        (false, 3, 972, vec![(972, 3)]),
        (false, 3, 973, vec![(973, 2)]),
        (false, 5, 964, vec![(964, 4)]),
        (true, 5, 960, vec![(960, 3)]),
        (true, 5, 961, vec![(961, 2)]),
        (true, 1, 976, vec![(976, 1)]),
        (true, 1, 977, vec![(977, 0), (0, 1)]),
        (true, 4, 988, vec![(988, 0), (0, 3)]),
    ] {
        assert_eq!(answer(timestamps, islands, len), expected, "{islands} islands, {len} bytes");
    }
}

/// As many bytes as a segment has at most are left to them, for a path that may carry no more.
#[test]
fn blocks_by_themselves_take_no_more_than_the_mss() {
    for (mss_bytes, expected) in [(11, 0), (12, 1), (35, 3), (36, 4), (100, 4)] {
        let config = TcpConfig { mss_bytes, ..TcpConfig::default() };
        let mut pair = Pair::connected(config, TcpConfig::default());
        let mut segment = Segment { flags: Flags::ACK, ..pair.right.sent.last().unwrap().segment };
        let first = segment.sequence.plus(1);
        for island in 1..=5 {
            segment.sequence = first.plus(island * 1_000);
            pair.inject_left(&segment, pattern(10));
        }
        let blocks = pair.left.sent.last().unwrap().segment.options.sack.len();
        assert_eq!(blocks, expected, "MSS {mss_bytes}");
    }
}

#[test]
fn an_acknowledgement_without_blocks_rides_on_data_of_any_length() {
    let config = TcpConfig { mss_bytes: 1_000, ..TcpConfig::default() };
    for len in [1, 1_000] {
        let mut pair = Pair::connected(config, config);
        let mut segment = Segment { flags: Flags::ACK, ..pair.right.sent.last().unwrap().segment };
        segment.sequence = segment.sequence.plus(1);
        pair.inject_left(&segment, pattern(10));
        let (id, before) = (pair.left.id(), pair.left.sent.len());
        // What comes second is to be acknowledged at once.
        pair.left.endpoint.write(pair.now, id, pattern(len)).unwrap();
        segment.sequence = segment.sequence.plus(10);
        pair.inject_left(&segment, pattern(10));
        let sent: Vec<usize> = pair.left.sent[before..].iter().map(|traced| traced.len).collect();
        assert_eq!(sent, [len]);
    }
}

#[test]
fn losses_in_both_directions_are_repaired_by_segments_that_are_no_longer_than_the_mss() {
    for timestamps in [false, true] {
        let config = TcpConfig {
            mss_bytes: 1_000,
            initial_window: InitialWindow::Segments(20),
            delayed_ack: DelayedAck::Off,
            timestamps,
            ..TcpConfig::default()
        };
        let mut pair = Pair::connected(config, config);
        pair.rightwards.lose(pair.rightwards.sent() + 2);
        pair.leftwards.lose(pair.leftwards.sent() + 4);
        pair.write_left(pattern(200_000));
        pair.write_right(pattern(200_000));
        pair.run_for(Duration::from_secs(5));
        assert!(pair.left.received == pattern(200_000) && pair.right.received == pattern(200_000));
        for side in [&pair.left, &pair.right] {
            let snapshot = side.snapshot();
            assert_eq!((snapshot.retransmissions, snapshot.fast_recoveries, snapshot.timeouts), (1, 1, 0));
            for traced in side.sent.iter().filter(|traced| !traced.segment.flags.contains(Flags::SYN)) {
                let options = traced.segment.options;
                let stamps = if options.timestamps.is_some() { 12 } else { 0 };
                let blocks = if options.sack.is_empty() { 0 } else { 4 + 8 * options.sack.len() };
                assert!(traced.len + stamps + blocks <= 1_000, "{traced:?}");
            }
        }
    }
}
