//! Acceptance of segments, and the answers to the others: RFC 9293, section 3.10.7.4.

use slantpath_base::Duration;
use slantpath_tcp::{
    CommandError, ConnectionState, Event, Flags, ResetCause, Segment, TcpConfig, Timestamps,
};

use crate::pair::{Pair, pattern};

/// A left side with a buffer of 10,000 bytes that has sent 1,000 which do not arrive, and a segment without data that
/// acknowledges nothing of them.
fn sent(timestamps: bool) -> (Pair, Segment) {
    let left = TcpConfig { receive_buffer_bytes: 10_000, timestamps, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig { timestamps, ..TcpConfig::default() });
    let mut segment = pair.right.sent.last().unwrap().segment;
    segment.flags = Flags::ACK;
    segment.sequence = segment.sequence.plus(1);
    pair.rightwards.cut();
    pair.write_left(pattern(1_000));
    (pair, segment)
}

/// Hands `len` bytes from `offset` of the right side's stream to the left side, beside the acknowledgement of `acked`.
/// Returns how many segments that side answers.
fn hear(pair: &mut Pair, like: &Segment, flags: Flags, (offset, len): (i32, usize), acked: u32) -> usize {
    let before = pair.left.sent.len();
    let segment = Segment {
        sequence: like.sequence.plus(offset as u32),
        acknowledgment: like.acknowledgment.plus(acked),
        flags,
        ..*like
    };
    pair.inject_left(&segment, pattern(len));
    pair.left.sent.len() - before
}

#[test]
fn a_segment_counts_if_any_byte_of_it_lies_in_the_window() {
    for (offset, len, acked) in [
        (-10, 10, 0),
        (-10, 11, 400),
        (0, 1, 400),
        (9_999, 1, 400),
        (9_999, 100, 400),
        (10_000, 1, 0),
        (-1, 0, 0),
        (0, 0, 400),
        (9_999, 0, 400),
        (10_000, 0, 0),
    ] {
        let (mut pair, like) = sent(false);
        hear(&mut pair, &like, Flags::ACK, (offset, len), 400);
        assert_eq!(pair.left.snapshot().acked_bytes, acked, "{len} bytes at {offset}");
    }
}

#[test]
fn a_closed_window_takes_acknowledgements_and_no_data() {
    let (mut pair, like) = sent(false);
    let id = pair.left.id();
    pair.left.endpoint.hold(pair.now, id).unwrap();
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (0, 5_000), 0), 0);
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (5_000, 5_000), 0), 1);
    assert_eq!(pair.left.sent.last().unwrap().segment.window, 0);
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (10_000, 0), 100), 0, "right where it should be");
    assert_eq!(pair.left.snapshot().acked_bytes, 100);
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (10_000, 50), 200), 1);
    assert_eq!((pair.left.snapshot().acked_bytes, pair.left.snapshot().received_bytes), (200, 10_000));
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (9_999, 0), 300), 1);
    assert_eq!(hear(&mut pair, &like, Flags::ACK | Flags::SYN, (10_000, 10), 300), 1);
    assert_eq!(pair.left.snapshot().acked_bytes, 200, "neither is of this time");
}

/// RFC 5961, section 7.
#[test]
fn a_segment_without_data_outside_of_the_window_is_answered_twice_a_second() {
    let (mut pair, like) = sent(false);
    let mut answers = Vec::new();
    for wait_nanos in [0, 1, 499_999_998, 1] {
        pair.run_for(Duration::from_nanos(wait_nanos));
        answers.push(hear(&mut pair, &like, Flags::ACK, (20_000, 0), 0));
    }
    assert_eq!(answers, [1, 0, 0, 1]);
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (20_000, 1), 0), 1, "data always");
}

#[test]
fn a_reset_after_both_have_closed_is_no_failure_and_stops_the_timer() {
    let (mut pair, like) = sent(false);
    let id = pair.left.id();
    pair.left.endpoint.hold(pair.now, id).unwrap();
    hear(&mut pair, &like, Flags::ACK | Flags::FIN, (0, 100), 1_000);
    // Past the timers of before.
    pair.run_for(Duration::from_secs(5));
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    assert_eq!(pair.left.snapshot().state, ConnectionState::LastAck);
    assert_eq!(hear(&mut pair, &like, Flags::RST, (101, 0), 0), 0);
    assert_eq!(pair.left.snapshot().state, ConnectionState::Closed);
    // What comes now comes too late.
    assert_eq!(hear(&mut pair, &like, Flags::RST, (101, 0), 0), 0);
    assert_eq!(hear(&mut pair, &like, Flags::ACK, (101, 10), 0), 0);
    pair.run_for(Duration::from_secs(10));
    assert_eq!(pair.left.snapshot().timeouts, 0);
    pair.left.endpoint.release(pair.now, id).unwrap();
    pair.drain();
    assert_eq!(pair.left.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
}

#[test]
fn nothing_can_be_written_after_a_reset() {
    let (mut pair, like) = sent(false);
    let id = pair.left.id();
    hear(&mut pair, &like, Flags::RST, (0, 0), 0);
    assert_eq!(pair.left.events.last(), Some(&Event::Reset(ResetCause::ByPeer)));
    let written = pair.left.endpoint.write(pair.now, id, pattern(1));
    assert_eq!(written, Err(CommandError::ClosedForWriting));
}

/// RFC 7323, section 4.1, and what may be too old to be true.
#[test]
fn an_echo_gives_the_round_trip_time_unless_it_is_older_than_the_connection() {
    // The call went out at 0, the data at 150 ms, and the acknowledgement comes at 250 ms. SRTT was 100 ms.
    for (echo, srtt_micros) in [(150, 100_000), (100, 106_250), (0, 118_750), (u32::MAX, 100_000)] {
        let (mut pair, mut like) = sent(true);
        pair.run_for(Duration::from_millis(100));
        let Timestamps { value, .. } = like.options.timestamps.unwrap();
        like.options.timestamps = Some(Timestamps { value, echo });
        hear(&mut pair, &like, Flags::ACK, (0, 0), 1_000);
        assert_eq!(pair.left.snapshot().srtt, Some(Duration::from_micros(srtt_micros)), "echo {echo}");
    }
}

#[test]
fn the_end_of_what_was_written_is_pushed() {
    let left = TcpConfig { mss_bytes: 1_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig { receive_buffer_bytes: 30_000, ..TcpConfig::default() });
    assert_eq!(pair.left.snapshot().peer_window_bytes, 30_000);
    let before = pair.left.sent.len();
    pair.write_left(pattern(2_500));
    let id = pair.left.id();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    let flags: Vec<Flags> = pair.left.sent[before..].iter().map(|traced| traced.segment.flags).collect();
    let push = Flags::ACK | Flags::PSH;
    assert_eq!(flags, [Flags::ACK, Flags::ACK, push, push | Flags::FIN]);
}
