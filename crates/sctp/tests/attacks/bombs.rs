//! A peer that knows the tag, and sends what makes much work or is to be kept.

use bytes::Bytes;
use slantpath_sctp::chunk::{Data, DataFlags, Heartbeat};
use slantpath_sctp::{Cause, Chunk, CloseReason, Event, SctpConfig, StreamId, StreamSequence, Tsn};

use crate::tester::{PEER_TSN, Tester, config, cookie_ack, data, error, message};

/// The longest packet that an IPv4 packet can carry, filled with copies of a chunk.
fn bomb(chunk: &Chunk) -> Vec<Chunk> {
    let len = chunk.to_bytes().len().next_multiple_of(4);
    vec![chunk.clone(); (65_535 - 20 - 12) / len]
}

/// Response to a packet full of one chunk: packets, their bytes, and the number of chunks that were left unanswered.
fn struck(chunk: &Chunk) -> (usize, usize, u64) {
    let mut tester = Tester::active(config());
    tester.receive(&bomb(chunk));
    let (mut packets, mut bytes) = (0, 0);
    while let Some(sent) = tester.take_any() {
        packets += 1;
        bytes += sent.len;
    }
    let stats = tester.endpoint.association(tester.id.unwrap()).unwrap().snapshot().stats;
    (packets, bytes, stats.responses_omitted)
}

#[test]
fn a_packet_full_of_heartbeats_is_answered_by_one_packet() {
    let (packets, bytes, omitted) = struck(&Chunk::Heartbeat(Heartbeat::new(Bytes::new())));
    assert_eq!((packets, omitted), (1, 8_187 - 181));
    assert!(bytes <= 1_480, "{bytes} bytes");
}

#[test]
fn a_packet_full_of_unknown_chunks_is_answered_by_one_packet() {
    let (packets, bytes, omitted) = struck(&Chunk::Unknown { kind: 0xff, flags: 0, value: Bytes::new() });
    // 16,375 chunks of four bytes, each of which would be quoted in twelve.
    assert_eq!((packets, omitted), (1, 16_375 - 121));
    assert!(bytes <= 1_480, "{bytes} bytes");
}

#[test]
fn a_packet_full_of_data_on_streams_that_do_not_exist_is_answered_by_one_packet_and_a_sack() {
    let mut tester = Tester::active(config());
    let chunks: Vec<Chunk> = (0..3_000)
        .map(|place| {
            Chunk::Data(Data { stream: StreamId(9), payload: Bytes::from_static(b"x"), ..data(place, 0) })
        })
        .collect();
    tester.receive(&chunks);
    let lines: Vec<String> = std::iter::from_fn(|| tester.next_line()).collect();
    assert!(lines.len() <= 2, "{} packets", lines.len());
    assert!(lines.concat().ends_with("SACK(cum 2999 rwnd 262144)"));
    tester.expect_silence();
}

#[test]
fn a_packet_full_of_chunks_that_say_nothing_is_answered_by_nothing() {
    for chunk in [
        cookie_ack(),
        Chunk::Unknown { kind: 0x80, flags: 0, value: Bytes::new() },
        error(Cause::StaleCookie { staleness_us: 1 }),
    ] {
        let mut tester = Tester::active(config());
        tester.receive(&bomb(&chunk));
        tester.expect_alive();
    }
}

#[test]
fn of_duplicates_without_end_64_are_reported() {
    let mut tester = Tester::active(config());
    tester.receive(&[message(0, 0)]);
    tester.skip();
    tester.receive(&bomb(&message(0, 0)));
    let line = tester.next_line().unwrap();
    assert_eq!(line, format!("SACK(cum 0 rwnd 262144{})", " dup 0".repeat(64)));
    tester.expect_silence();
}

#[test]
fn tsns_out_of_reach_are_not_kept() {
    let mut tester = Tester::active(config());
    for step in 0..10_000 {
        let mut chunk = data(0, 0);
        chunk.tsn = Tsn(PEER_TSN).plus(65_535 + 200_000 * step);
        tester.receive(&[Chunk::Data(chunk)]);
        tester.expect("SACK(cum -1 rwnd 262144)");
    }
    let snapshot = tester.endpoint.association(tester.id.unwrap()).unwrap().snapshot();
    assert_eq!((snapshot.receive_buffered, snapshot.cumulative_tsn_received), (0, Tsn(PEER_TSN - 1)));
    tester.expect_alive();
}

/// Sends one chunk after another behind a gap until the window is closed: how many are kept, and their payload.
fn kept(receive_buffer_bytes: u32, chunk: impl Fn(u32) -> Data) -> (u32, u64) {
    let mut tester = Tester::active(SctpConfig { receive_buffer_bytes, ..config() });
    let mut kept = 0;
    for place in 1..60_000 {
        tester.receive(&[Chunk::Data(chunk(place))]);
        let snapshot = tester.endpoint.association(tester.id.unwrap()).unwrap().snapshot();
        if snapshot.receive_buffered == u64::from(kept) {
            return (kept, snapshot.receive_buffered);
        }
        kept = u32::try_from(snapshot.receive_buffered).unwrap();
        tester.skip();
    }
    panic!("everything is kept");
}

#[test]
fn messages_of_a_byte_behind_a_gap_are_kept_until_they_cost_twice_the_buffer() {
    let byte = |place: u32| Data { payload: Bytes::from_static(b"x"), ..data(place, 1) };
    // A message costs 320 bytes beside its own, and its TSN joins the others'.
    let (messages, bytes) = kept(100_000, |place| Data {
        sequence: StreamSequence(u16::try_from(place).unwrap()),
        ..byte(place)
    });
    assert_eq!(u64::from(messages), bytes);
    assert_eq!(messages, 623);
    // A fragment that no other joins costs 32 more, for its gap.
    let (fragments, _) = kept(100_000, |place| Data { flags: DataFlags::MIDDLE, ..byte(2 * place) });
    assert_eq!(fragments, 567);
}

#[test]
fn messages_on_65_536_streams_keep_nothing() {
    let mut tester = Tester::active(config());
    for place in 0..65_536 {
        let stream = StreamId(u16::try_from(place).unwrap());
        tester.receive(&[Chunk::Data(Data { stream, ..data(place, 0) })]);
        // Four streams were agreed on.
        let line = tester.next_line();
        let is_reported = line.as_deref().is_some_and(|line| line.starts_with("ERROR cause 1"));
        assert_eq!(is_reported, place >= 4, "{line:?}");
        tester.skip();
    }
    let snapshot = tester.endpoint.association(tester.id.unwrap()).unwrap().snapshot();
    assert_eq!(snapshot.receive_buffered, 0);
    tester.expect_alive();
}

#[test]
fn a_window_of_one_byte_gets_whole_packets_one_at_a_time() {
    let mut tester = Tester::active(config());
    for _ in 0..10 {
        tester.send(1_452);
    }
    let mut packets = 0;
    let mut acknowledged = -1;
    while acknowledged < 9 {
        while let Some(line) = tester.next_line() {
            assert!(line.ends_with("len 1452)"), "{line}");
            packets += 1;
            acknowledged += 1;
        }
        tester.receive(&[tester.sack(acknowledged, 1, &[])]);
        tester.wait_ms(1_000);
    }
    assert_eq!(packets, 10);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_ends_the_association() {
    for (cumulative, gaps) in [(1, &[][..]), (-1, &[(2, 3)]), (1_000_000, &[]), (0, &[(1, 65_535)])] {
        let mut tester = Tester::active(config());
        tester.send(100);
        tester.skip();
        tester.receive(&[tester.sack(cumulative, 100_000, gaps)]);
        let line = tester.next_line();
        assert_eq!(line.as_deref(), Some("ABORT cause 13"), "{cumulative} {gaps:?}");
        assert!(matches!(tester.skip_event(), Event::SendFailed { .. }));
        let Event::Closed(CloseReason::Aborted(cause)) = tester.skip_event() else { panic!("it goes on") };
        assert_eq!(cause.code(), 13);
        assert_eq!(tester.endpoint.association_count(), 0);
    }
}
