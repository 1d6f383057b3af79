//! Groups D, A, M and RT of TS 102 369: data and its acknowledgement, unknown chunks, the retransmission timer.

use bytes::Bytes;
use slantpath_sctp::chunk::DataFlags;
use slantpath_sctp::{Cause, Chunk, CloseReason, Event, PartPlace, SctpConfig, SendError};

use crate::tester::{Tester, config, data, message};

/// The most that one packet of 1,500 bytes carries of a message.
const FULL: usize = 1_452;

#[test]
fn v_8_1_a_message_that_fits_one_packet_is_one_chunk() {
    let mut tester = Tester::active(config());
    tester.send(FULL);
    let sent = tester.next_sent();
    // A packet of 1,500 bytes with its IP header.
    assert_eq!((tester.describe(&sent).as_str(), sent.len), ("DATA(BE tsn 0 sid 0 ssn 0 len 1452)", 1_480));
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect_alive();
}

#[test]
fn v_8_2_a_message_that_fits_no_packet_is_several_chunks_with_numbers_in_sequence() {
    let mut tester = Tester::active(config());
    tester.send(2 * FULL + 1);
    tester.expect_all(&[
        "DATA(B tsn 0 sid 0 ssn 0 len 1452)",
        "DATA( tsn 1 sid 0 ssn 0 len 1452)",
        "DATA(E tsn 2 sid 0 ssn 0 len 1)",
    ]);
}

#[test]
fn v_8_3_the_fragments_of_a_message_become_one_message() {
    let mut tester = Tester::active(config());
    for (place, flags) in [(0, DataFlags::BEGINNING), (1, DataFlags::MIDDLE), (2, DataFlags::ENDING)] {
        let mut chunk = data(place, 0);
        chunk.flags = flags;
        tester.receive(&[Chunk::Data(chunk)]);
    }
    tester.expect_message(0, 300);
}

#[test]
fn v_8_4_only_what_a_sack_acknowledges_is_not_sent_again() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    tester.wait_ms(60_000);
    tester.expect_silence();
    tester.send(1_000);
    tester.expect("DATA(BE tsn 1 sid 0 ssn 1 len 1000)");
    tester.expire_after_ms(1_000);
    tester.expect("DATA(BE tsn 1 sid 0 ssn 1 len 1000)");
}

#[test]
fn i_8_5_data_that_is_not_acknowledged_is_sent_again_when_t3_rtx_expires() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.expire_after_ms(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.wait_ms(60_000);
    tester.expect_silence();
}

#[test]
fn o_8_6_duplicates_are_reported_once_and_not_delivered() {
    let mut tester = Tester::active(config());
    tester.receive(&[message(0, 0)]);
    tester.expect_message(0, 100);
    tester.skip();
    tester.wait_ms(100);
    tester.receive(&[message(1, 1)]);
    tester.expect_message(1, 100);
    tester.skip();
    tester.receive(&[message(1, 1)]);
    tester.expect("SACK(cum 1 rwnd 262144 dup 1)");
    tester.expect_silence();
    tester.receive(&[message(2, 2)]);
    tester.expect_message(2, 100);
    tester.expire_after_ms(200);
    tester.expect("SACK(cum 2 rwnd 262144)");
    tester.expect_silence();
}

#[test]
fn o_8_7_a_closed_window_is_probed_by_one_chunk_that_backs_off() {
    let mut tester = Tester::active(config());
    tester.send(FULL);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1452)");
    tester.receive(&[tester.sack(0, 0, &[])]);
    tester.send(FULL);
    tester.send(FULL);
    tester.expect_silence();
    let probe = "DATA(BE tsn 1 sid 0 ssn 1 len 1452)";
    // The probe itself waits for an RTO (section 6.1, rule A), and is then retransmitted as any chunk.
    for timeout in [1_000, 1_000, 2_000, 4_000] {
        tester.expire_after_ms(timeout);
        tester.expect(probe);
        tester.expect_silence();
    }
    tester.receive(&[tester.sack(1, 1_500, &[])]);
    tester.expect("DATA(BE tsn 2 sid 0 ssn 2 len 1452)");
    tester.receive(&[tester.sack(2, 1_500, &[])]);
    tester.expect_alive();
}

#[test]
fn o_8_8_a_closed_window_is_probed_by_one_fragment_that_backs_off() {
    let mut tester = Tester::active(config());
    tester.offer.a_rwnd = 1_500;
    tester.send(3_000);
    tester.skip();
    tester.receive(&[tester.sack(0, 0, &[])]);
    let probe = "DATA( tsn 1 sid 0 ssn 0 len 1452)";
    for timeout in [1_000, 2_000, 4_000] {
        tester.expire_after_ms(timeout);
        tester.expect(probe);
        tester.receive(&[tester.sack(0, 0, &[])]);
        tester.expect_silence();
    }
    tester.receive(&[tester.sack(1, 1_500, &[])]);
    tester.expect("DATA(E tsn 2 sid 0 ssn 0 len 96)");
    tester.receive(&[tester.sack(2, 1_500, &[])]);
    tester.expect_alive();
}

#[test]
fn v_8_9_what_is_sent_again_goes_before_what_is_new() {
    let mut tester = Tester::active(SctpConfig { initial_cwnd_bytes: Some(4_380), ..config() });
    for _ in 0..3 {
        tester.send(FULL);
    }
    tester.expect_all(&[
        "DATA(BE tsn 0 sid 0 ssn 0 len 1452)",
        "DATA(BE tsn 1 sid 0 ssn 1 len 1452)",
        "DATA(BE tsn 2 sid 0 ssn 2 len 1452)",
    ]);
    tester.send(FULL);
    tester.expect_silence();
    // The window is one packet after a timeout, and what was lost has it.
    tester.expire_after_ms(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1452)");
    tester.expect_silence();
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    tester.expect_all(&["DATA(BE tsn 1 sid 0 ssn 1 len 1452)", "DATA(BE tsn 2 sid 0 ssn 2 len 1452)"]);
    tester.receive(&[tester.sack(2, 100_000, &[])]);
    tester.expect("DATA(BE tsn 3 sid 0 ssn 3 len 1452)");
}

#[test]
fn v_8_10_a_sack_from_another_address_of_the_peer_counts() {
    let mut tester = Tester::active_over(config(), 2);
    tester.send(100);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 100)");
    tester.receive_over(1, &[tester.sack(0, 1_500, &[])]);
    tester.wait_ms(1_000);
    tester.expect_silence();
    tester.send(100);
    tester.expect("DATA(BE tsn 1 sid 0 ssn 1 len 100)");
}

#[test]
fn i_8_11_data_without_user_data_ends_the_association() {
    let mut tester = Tester::active(config());
    let mut chunk = data(0, 0);
    chunk.payload = Bytes::new();
    let tsn = chunk.tsn;
    tester.receive(&[Chunk::Data(chunk)]);
    tester.expect("ABORT cause 9");
    tester.expect_end(CloseReason::Aborted(Cause::NoUserData(tsn)));
    tester.expect_gone();
}

#[test]
fn o_8_12_a_sack_that_was_overtaken_is_discarded() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.send(1_000);
    tester.expect("DATA(BE tsn 1 sid 0 ssn 1 len 1000)");
    // It would acknowledge the second message.
    tester.receive(&[tester.sack(-1, 1_500, &[(2, 2)])]);
    tester.expire_after_ms(1_000);
    tester.expect("DATA(BE tsn 1 sid 0 ssn 1 len 1000)");
    tester.receive(&[tester.sack(1, 1_500, &[])]);
    tester.expect_alive();
}

/// Whole fragments of a message of `len` bytes to the endpoint.
fn receive_long(tester: &mut Tester, len: usize) {
    let chunks = len.div_ceil(FULL);
    for place in 0..chunks {
        let mut chunk = data(u32::try_from(place).unwrap(), 0);
        chunk.payload = vec![0xa5; FULL.min(len - place * FULL)].into();
        chunk.flags = match place {
            0 => DataFlags::BEGINNING,
            _ if place + 1 == chunks => DataFlags::ENDING,
            _ => DataFlags::MIDDLE,
        };
        tester.receive(&[Chunk::Data(chunk)]);
    }
}

/// As much as is held of a message before it is delivered in parts.
const HELD: usize = 65_536;

fn with_delivery_point() -> Tester {
    Tester::active(SctpConfig { partial_delivery_point_bytes: Some(65_536), ..config() })
}

#[test]
fn v_8_13_a_message_as_long_as_one_may_be_is_received_whole() {
    let mut tester = with_delivery_point();
    receive_long(&mut tester, HELD);
    tester.expect_message(0, HELD);
}

#[test]
fn v_8_14_a_message_as_long_as_one_may_be_is_sent() {
    let mut tester = Tester::active(SctpConfig { send_buffer_bytes: 10_000, ..config() });
    assert_eq!(tester.try_send(10_001), Err(SendError::TooLong { len: 10_001, limit: 10_000 }));
    tester.expect_silence();
    tester.send(10_000);
    tester.expect_all(&[
        "DATA(B tsn 0 sid 0 ssn 0 len 1452)",
        "DATA( tsn 1 sid 0 ssn 0 len 1452)",
        "DATA( tsn 2 sid 0 ssn 0 len 1452)",
    ]);
    tester.receive(&[tester.sack(2, 100_000, &[])]);
    tester.expect_all(&[
        "DATA( tsn 3 sid 0 ssn 0 len 1452)",
        "DATA( tsn 4 sid 0 ssn 0 len 1452)",
        "DATA( tsn 5 sid 0 ssn 0 len 1452)",
        "DATA(E tsn 6 sid 0 ssn 0 len 1288)",
    ]);
}

#[test]
fn v_8_15_a_message_that_is_longer_than_what_is_held_is_received_in_parts() {
    let mut tester = with_delivery_point();
    receive_long(&mut tester, HELD + FULL);
    let mut places = Vec::new();
    let mut len = 0;
    while let Event::ReceivedPart(part) = tester.skip_event() {
        len += part.payload.len();
        places.push(part.place);
        if part.place == PartPlace::Last {
            break;
        }
    }
    assert_eq!(len, HELD + FULL);
    assert_eq!((places[0], places[places.len() - 1]), (PartPlace::First, PartPlace::Last));
}

#[test]
fn v_9_1_the_first_data_of_an_association_is_acknowledged_at_once() {
    let mut tester = Tester::passive(config());
    tester.receive(&[message(0, 0)]);
    tester.expect("SACK(cum 0 rwnd 262144)");
    tester.expect_message(0, 100);
    // The next may wait for another.
    tester.receive(&[message(1, 1)]);
    tester.expect_message(1, 100);
    tester.expire_after_ms(200);
    tester.expect("SACK(cum 1 rwnd 262144)");
}

#[test]
fn v_9_2_one_sack_acknowledges_all_chunks_of_a_packet() {
    let mut tester = Tester::passive(config());
    tester.receive(&[message(0, 0), message(1, 1), message(2, 2)]);
    tester.expect("SACK(cum 2 rwnd 262144)");
    for sequence in 0..3 {
        tester.expect_message(sequence, 100);
    }
    tester.expect_silence();
}

#[test]
fn o_9_3_a_gap_is_reported_at_once() {
    let mut tester = Tester::passive(config());
    tester.receive(&[message(0, 0)]);
    tester.expect_message(0, 100);
    tester.skip();
    tester.receive(&[message(2, 2)]);
    // 100 bytes wait for their turn.
    let Some(line) = tester.next_line() else { panic!("no SACK") };
    assert!(line.starts_with("SACK(cum 0 rwnd 26") && line.ends_with(" gap 2-2)"), "{line}");
    tester.expect_silence();
    tester.receive(&[message(1, 1)]);
    tester.expect_message(1, 100);
    tester.expect_message(2, 100);
    tester.expire_after_ms(200);
    tester.expect("SACK(cum 2 rwnd 262144)");
}

/// A packet with an unknown chunk in front of DATA.
fn unknown_chunk(kind: u8) -> Tester {
    let mut tester = Tester::active(config());
    let unknown = Chunk::Unknown { kind, flags: 0, value: Bytes::from_static(&[1]) };
    tester.receive(&[unknown, message(0, 0)]);
    tester
}

#[test]
fn i_10_1_an_unknown_chunk_with_bits_11_is_reported_and_skipped() {
    let mut tester = unknown_chunk(0xef);
    tester.expect("ERROR cause 6 SACK(cum 0 rwnd 262144)");
    tester.expect_message(0, 100);
    tester.expect_alive();
}

#[test]
fn i_10_2_an_unknown_chunk_with_bits_00_ends_the_packet() {
    let mut tester = unknown_chunk(0x2f);
    tester.wait_ms(1_000);
    tester.expect_alive();
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
}

#[test]
fn i_10_3_an_unknown_chunk_with_bits_01_is_reported_and_ends_the_packet() {
    let mut tester = unknown_chunk(0x6f);
    tester.expect("ERROR cause 6");
    tester.wait_ms(1_000);
    tester.expect_alive();
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
}

#[test]
fn i_10_4_an_unknown_chunk_with_bits_10_is_skipped() {
    let mut tester = unknown_chunk(0xaf);
    tester.expect("SACK(cum 0 rwnd 262144)");
    tester.expect_message(0, 100);
    tester.expect_alive();
    tester.shut_down();
    tester.expect("SHUTDOWN(cum 0)");
}

#[test]
fn i_11_1_the_rto_doubles_with_each_expiry_up_to_rto_max() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    let data = "DATA(BE tsn 0 sid 0 ssn 0 len 1000)";
    tester.expect(data);
    for timeout in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
        tester.expire_after_ms(timeout);
        tester.expect(data);
    }
}

#[test]
fn i_11_2_a_new_measurement_ends_the_back_off() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    for timeout in [1_000, 2_000] {
        tester.expire_after_ms(timeout);
        tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    }
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    for (sequence, rto) in [(1, 4_000), (2, 1_000)] {
        let data = format!("DATA(BE tsn {sequence} sid 0 ssn {sequence} len 1000)");
        tester.send(1_000);
        tester.expect(&data);
        assert_eq!(tester.path(0).rto.as_millis(), rto);
        tester.receive(&[tester.sack(sequence, 100_000, &[])]);
    }
}

#[test]
fn i_11_3_each_address_has_an_rto_of_its_own() {
    let mut tester = Tester::active_over(config(), 2);
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    for (timeout, network) in [(1_000, 1), (1_000, 0), (2_000, 1), (2_000, 0), (4_000, 1), (4_000, 0)] {
        tester.expire_after_ms(timeout);
        let to = if network == 1 { "> 10.0.1.2 " } else { "" };
        tester.expect(&format!("{to}DATA(BE tsn 0 sid 0 ssn 0 len 1000)"));
    }
}
