//! Flow control: windows that limit, close, open and scale; delayed acknowledgements.

use slantpath_base::Duration;
use slantpath_tcp::{DelayedAck, Event, Flags, ResetCause, TcpConfig, Timestamps, WindowLimit};

use crate::pair::{Pair, data_segments, pattern};

#[test]
fn a_held_reader_closes_the_window_and_a_probe_finds_it_open_again() {
    let right = TcpConfig { receive_buffer_bytes: 10_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(TcpConfig::default(), right);
    let id = pair.right.id();
    pair.right.endpoint.hold(pair.now, id).unwrap();
    pair.write_left(pattern(50_000));
    pair.run_for(Duration::from_secs(10));
    assert!(pair.right.received.is_empty());
    assert_eq!(pair.left.snapshot().peer_window_bytes, 0);
    assert_eq!(pair.right.snapshot().received_bytes, 10_000);
    let probes = pair.left.sent.iter().filter(|traced| traced.len == 1).count();
    assert!((2..=5).contains(&probes), "{probes} probes, backed off from 1 s");
    // The update is lost: the next probe learns of it.
    pair.leftwards.lose(pair.leftwards.sent());
    pair.right.endpoint.release(pair.now, id).unwrap();
    pair.drain();
    pair.run_for(Duration::from_secs(60));
    assert!(pair.right.received == pattern(50_000));
    assert_eq!(pair.left.snapshot().timeouts, 0, "a probe is no loss");
}

#[test]
fn a_window_that_comes_with_data_counts_although_nothing_is_acknowledged_by_it() {
    let right = TcpConfig { receive_buffer_bytes: 10_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(TcpConfig::default(), right);
    let id = pair.right.id();
    pair.right.endpoint.hold(pair.now, id).unwrap();
    pair.write_left(pattern(9_000));
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.left.snapshot().peer_window_bytes, 1_000);
    pair.leftwards.lose(pair.leftwards.sent());
    pair.right.endpoint.release(pair.now, id).unwrap();
    pair.drain();
    // The update is lost; data of the other direction brings it, while nothing is in flight in this one.
    pair.right.endpoint.write(pair.now, id, pattern(100)).unwrap();
    pair.drain();
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.left.snapshot().peer_window_bytes, 10_000);
}

#[test]
fn a_window_may_stay_closed_for_hours() {
    let right = TcpConfig { receive_buffer_bytes: 5_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(TcpConfig::default(), right);
    let id = pair.right.id();
    pair.right.endpoint.hold(pair.now, id).unwrap();
    pair.write_left(pattern(20_000));
    pair.run_for(Duration::from_secs(7_200));
    pair.right.endpoint.release(pair.now, id).unwrap();
    pair.drain();
    pair.run_for(Duration::from_secs(10));
    assert!(pair.right.received == pattern(20_000));
}

#[test]
fn a_closed_window_that_nobody_answers_for_ends_the_connection() {
    let left = TcpConfig { data_retransmission_limit: 3, ..TcpConfig::default() };
    let right = TcpConfig { receive_buffer_bytes: 5_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, right);
    let id = pair.right.id();
    pair.right.endpoint.hold(pair.now, id).unwrap();
    pair.write_left(pattern(20_000));
    pair.run_for(Duration::from_secs(1_000));
    assert_eq!(pair.left.events, [Event::Connected], "as long as the peer answers");
    pair.leftwards.cut();
    pair.run_for(Duration::from_secs(1_000));
    assert_eq!(pair.left.events, [Event::Connected, Event::Reset(ResetCause::TimedOut)]);
}

#[test]
fn what_waits_for_a_held_reader_comes_before_the_end() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (left, right) = (pair.left.id(), pair.right.id());
    pair.right.endpoint.hold(pair.now, right).unwrap();
    pair.write_left(pattern(5_000));
    pair.left.endpoint.close(pair.now, left).unwrap();
    pair.right.endpoint.close(pair.now, right).unwrap();
    pair.drain();
    pair.run_for(Duration::from_secs(300));
    assert_eq!(pair.right.events, [Event::Connected]);
    pair.right.endpoint.release(pair.now, right).unwrap();
    pair.drain();
    assert!(pair.right.received == pattern(5_000));
    assert_eq!(pair.right.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
}

#[test]
fn the_window_limit_bounds_the_flight_to_whole_segments() {
    let left =
        TcpConfig { mss_bytes: 1_000, window_limit: Some(WindowLimit::Segments(30)), ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig::default());
    pair.write_left(pattern(400_000));
    let mut most = 0;
    while pair.right.received.len() < 400_000 {
        assert!(pair.step());
        most = most.max(pair.left.snapshot().flight_bytes);
    }
    assert_eq!(most, 30_000);
}

#[test]
fn a_buffer_beyond_64_kib_is_used_by_scaling() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(3_000_000));
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.right.received.len(), 3_000_000);
    let left = TcpConfig { window_scaling: false, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig::default());
    pair.write_left(pattern(3_000_000));
    let mut most = 0;
    while pair.right.received.len() < 3_000_000 {
        assert!(pair.step());
        most = most.max(pair.left.snapshot().flight_bytes);
    }
    assert!((64_000..=65_535).contains(&most), "{most}");
}

#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
    let left = TcpConfig { mss_bytes: 1_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig::default());
    let before = pair.right.sent.len();
    pair.write_left(pattern(4_000));
    pair.run_for(Duration::from_millis(110));
    assert_eq!(pair.right.sent.len() - before, 2);
    pair.write_left(pattern(500));
    let start = pair.now;
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.right.sent.len() - before, 3);
    assert_eq!(pair.right.sent.last().unwrap().at - start, Duration::from_millis(250));
}

#[test]
fn without_delay_each_segment_is_acknowledged() {
    let left = TcpConfig { mss_bytes: 1_000, ..TcpConfig::default() };
    let right = TcpConfig { delayed_ack: DelayedAck::Off, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, right);
    let before = pair.right.sent.len();
    pair.write_left(pattern(4_000));
    pair.run_for(Duration::from_millis(110));
    assert_eq!(pair.right.sent.len() - before, 4);
}

#[test]
fn nagle_holds_a_small_segment_only_while_one_is_unacknowledged() {
    for (nagle, expected) in
        [(false, vec![(0, 100), (100, 100), (200, 100)]), (true, vec![(0, 100), (100, 200)])]
    {
        let mut pair = Pair::connected(TcpConfig { nagle, ..TcpConfig::default() }, TcpConfig::default());
        for at in 0..3 {
            pair.write_left(pattern(300).slice(at * 100..(at + 1) * 100));
        }
        pair.run_for(Duration::from_secs(2));
        assert_eq!(data_segments(&pair.left.sent), expected);
        assert!(pair.right.received == pattern(300));
    }
}

#[test]
fn the_writer_is_told_when_half_of_its_buffer_is_free() {
    let left = TcpConfig { send_buffer_bytes: 40_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig::default());
    let id = pair.left.id();
    assert_eq!(pair.left.endpoint.writable_bytes(id), 40_000);
    pair.write_left(pattern(40_000));
    assert_eq!(pair.left.endpoint.writable_bytes(id), 0);
    while !pair.left.events.contains(&Event::Writable) {
        assert!(pair.step());
    }
    let free = pair.left.endpoint.writable_bytes(id);
    assert!(free >= 20_000, "{free}");
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.left.events.iter().filter(|event| **event == Event::Writable).count(), 1);
}

#[test]
fn chunks_that_cross_segments_arrive_as_one_stream() {
    let mut pair = Pair::connected(TcpConfig { nagle: true, ..TcpConfig::default() }, TcpConfig::default());
    let whole = pattern(30_000);
    let mut at = 0;
    for len in (1..).step_by(37) {
        let end = (at + len).min(whole.len());
        pair.write_left(whole.slice(at..end));
        at = end;
        if at == whole.len() {
            break;
        }
    }
    pair.run_for(Duration::from_secs(10));
    assert!(pair.right.received == whole);
}

#[test]
fn timestamps_ride_on_every_segment_when_both_offer_them() {
    let config = TcpConfig { timestamps: true, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    pair.write_left(pattern(100_000));
    pair.run_for(Duration::from_secs(3));
    assert!(pair.right.received == pattern(100_000));
    for traced in pair.left.sent.iter().chain(&pair.right.sent) {
        assert!(traced.segment.options.timestamps.is_some());
        assert!(traced.len <= 1_448);
    }
    let srtt = pair.left.snapshot().srtt.unwrap();
    assert!((Duration::from_millis(100)..Duration::from_millis(125)).contains(&srtt), "{srtt}");
    let mut pair = Pair::connected(config, TcpConfig::default());
    pair.write_left(pattern(10_000));
    pair.run_for(Duration::from_secs(3));
    assert!(pair.right.sent.iter().all(|traced| traced.segment.options.timestamps.is_none()));
    assert!(pair.right.received == pattern(10_000));
}

/// RFC 7323, section 4.3: what is echoed is the time of the segment that the last acknowledgement waited for.
#[test]
fn the_time_of_a_segment_ahead_of_a_gap_is_not_echoed() {
    let config = TcpConfig { timestamps: true, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    let mut segment = pair.right.sent.last().unwrap().segment;
    let Timestamps { value, echo } = segment.options.timestamps.unwrap();
    segment.flags = Flags::ACK;
    let next = segment.sequence.plus(1);
    for (offset, value, echoed) in [
        (1_000, value + 50, value),
        (0, value + 40, value + 40),
        (2_001, value + 70, value + 40),
        (2_000, value + 60, value + 60),
    ] {
        segment.sequence = next.plus(offset);
        segment.options.timestamps = Some(Timestamps { value, echo });
        let len = if offset == 2_001 { 999 } else { 1_000 };
        pair.inject_left(&segment, pattern(len));
        let answer = pair.left.sent.last().unwrap().segment.options.timestamps.unwrap();
        assert_eq!(answer.echo, echoed, "the segment at {offset}");
    }
}
