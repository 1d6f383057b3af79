//! Messages from one end to the other: windows, bundling, fragments, buffers.

use super::*;

#[test]
fn messages_arrive_once_and_in_order() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..200, 1_024);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..200).collect::<Vec<_>>());
    assert_eq!(wire.ends[0].snapshot().send_buffered, 0);
    assert!(wire.log.iter().filter(|sent| sent.has_data()).count() == 200);
}

#[test]
fn small_messages_share_packets() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..100, 100);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..100).collect::<Vec<_>>());
    // The first leaves alone only if it is sent alone; all were handed over at one moment, 12 to a packet.
    assert_eq!(data_packets(&wire, 0).len(), 9);
}

#[test]
fn a_long_message_is_fragmented_and_reassembled() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..3, 50_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2]);
}

#[test]
fn initial_window_lets_three_full_chunks_out() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..20, 1_452);
    assert_eq!(data_packets(&wire, 0).len(), 3);
}

#[test]
fn one_packet_may_exceed_the_window() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..20, 1_200);
    // 1,216 * 4 = 4,864: the fourth starts inside the 4,404 bytes.
    assert_eq!(data_packets(&wire, 0).len(), 4);
}

#[test]
fn every_second_packet_is_acknowledged_and_a_lone_one_after_200_ms() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..3, 1_400);
    wire.run_to_rest();
    let sacks: Vec<_> = wire.log.iter().filter(|sent| sent.from == 1).map(|sent| sent.at).collect();
    assert_eq!(sacks, [Instant::from_millis(50), Instant::from_millis(250)]);
}

#[test]
fn a_closed_window_is_probed_with_back_off_and_costs_no_path() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_secs(400));
    assert!(wire.events[0].is_empty(), "{:?}", wire.events[0]);
    let probes: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.at).collect();
    let gaps: Vec<_> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.last().unwrap() >= &Duration::from_secs(50), "{gaps:?}");
    assert_eq!(wire.ends[0].snapshot().error_count, 0);
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_window_update_opens_a_closed_window_at_once() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_millis(800));
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_until(Instant::from_millis(1_500));
    assert!(wire.received(1).len() > 10, "{:?}", wire.received(1));
}

#[test]
fn a_sack_rides_on_data_that_goes_the_same_way() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_millis(60));
    wire.send(1, 1..2, 100);
    let [Chunk::Sack(_), Chunk::Data(_)] = &wire.log.last().unwrap().chunks[..] else {
        panic!("{:?}", wire.log)
    };
    wire.run_to_rest();
    assert_eq!(wire.log.iter().filter(|sent| sent.from == 1).count(), 1);
}

#[test]
fn a_failed_message_comes_back_as_it_was_given() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 10_000);
    wire.send(0, 1..2, 10);
    let given = [(message(0, 0, 10_000), true), (message(0, 1, 10), false)];
    let given = given.map(|(message, was_sent)| Event::SendFailed { message, was_sent });
    assert_eq!(wire.ends[0].clone().into_remains(), given, "of the second nothing has left");
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.ends[0].clone().into_remains(), given, "one fragment is not the message");
}

#[test]
fn of_messages_in_fragments_and_whole_ones_those_come_back_that_are_not_acknowledged_whole() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(1 << 20), max_burst: 99, ..quiet() });
    wire.decide(|_| is_lost());
    // Chunks 1 to 3, 4, 5 and 6, 7, 8 to 10.
    let lens = [4_000, 10, 2_000, 20, 3_000];
    for (context, len) in (0..).zip(lens) {
        wire.send(0, context..context + 1, len);
    }
    let first_left = [0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 5];
    for (acked, first) in (0..).zip(first_left) {
        wire.inject(0, 0, &[sack(acked, &[])]);
        let left = (0..).zip(lens).skip(first).map(|(context, len)| message(0, context, len));
        let expected: Vec<_> = left.map(|message| Event::SendFailed { message, was_sent: true }).collect();
        let remains = wire.ends[0].clone().into_remains();
        let failed = remains.into_iter().filter(|event| matches!(event, Event::SendFailed { .. }));
        assert_eq!(failed.collect::<Vec<_>>(), expected, "{acked} chunks acknowledged");
    }
}

#[test]
fn the_send_buffer_takes_as_much_as_it_holds() {
    let mut wire = Wire::new(1, SctpConfig { send_buffer_bytes: 5_000, ..quiet() });
    assert_eq!(wire.ends[0].send(wire.now, message(0, 0, 4_000)), Ok(()));
    let full = SendError::BufferFull { wanted: 1_001, free: 1_000 };
    assert_eq!(wire.ends[0].send(wire.now, message(0, 1, 1_001)), Err(full));
    assert_eq!(wire.ends[0].send(wire.now, message(0, 1, 1_000)), Ok(()));
    let mut wire = Wire::new(1, SctpConfig { send_buffer_bytes: 5_000, ..quiet() });
    assert_eq!(wire.ends[0].send(wire.now, message(0, 0, 5_000)), Ok(()));
}

#[test]
fn two_chunks_that_fill_a_packet_to_its_last_byte_share_it() {
    // 732 and 736 bytes are PMDCS; one byte more is padded to four.
    for (len, packets) in [(720, 1), (721, 2)] {
        let mut wire = Wire::new(1, quiet());
        wire.ends[0].send(wire.now, message(0, 0, 716)).unwrap();
        wire.send(0, 1..2, len);
        assert_eq!(wire.log.len(), packets, "{len} bytes");
    }
}

#[test]
fn the_send_buffer_has_a_limit_and_says_when_there_is_room_again() {
    let mut wire = Wire::new(1, SctpConfig { send_buffer_bytes: 5_000, ..quiet() });
    wire.send(0, 0..5, 1_000);
    let full = SendError::BufferFull { wanted: 1_000, free: 0 };
    assert_eq!(wire.ends[0].send(wire.now, message(0, 5, 1_000)), Err(full));
    let long = SendError::TooLong { len: 5_001, limit: 5_000 };
    assert_eq!(wire.ends[0].send(wire.now, message(0, 5, 5_001)), Err(long));
    let stream = SendError::NoSuchStream { stream: StreamId(4), available: 4 };
    assert_eq!(wire.ends[0].send(wire.now, message(4, 5, 10)), Err(stream));
    wire.run_to_rest();
    assert!(matches!(wire.events[0][..], [Event::SendBufferDrained { .. }]), "{:?}", wire.events[0]);
}

#[test]
fn every_transmission_is_traced_with_its_path_and_number() {
    let config = SctpConfig { trace_messages: true, report_acknowledged: true, ..quiet() };
    let mut wire = Wire::new(2, config);
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 7..8, 100);
    wire.run_to_rest();
    let tsn = Tsn(u32::MAX - 3);
    let traced =
        |destination, transmission| Event::Transmitted { context: 7, tsn, destination, transmission };
    let acknowledged = Event::Acknowledged { context: 7 };
    assert_eq!(wire.events[0], [traced(address(1, 0), 1), traced(address(1, 1), 2), acknowledged]);
}

#[test]
fn a_smaller_mtu_is_obeyed_by_what_is_cut_afterwards() {
    let mut wire = Wire::new(2, quiet());
    wire.ends[0].handle_packet_too_big(wire.now, address(1, 1), 600);
    wire.send(0, 0..4, 1_400);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2, 3]);
    let longest =
        data_packets(&wire, 0).iter().flat_map(|sent| &sent.chunks).map(|chunk| chunk.to_bytes().len()).max();
    assert!(longest <= Some(600 - 32), "chunks fit every path: {longest:?}");
}

#[test]
fn one_burst_is_at_most_four_packets() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..100, 1_400);
    wire.run_to_rest();
    let soon = wire.now + Duration::from_millis(10);
    wire.run_until(soon);
    let before = wire.log.len();
    wire.send(0, 100..150, 1_400);
    assert_eq!(wire.log.len() - before, 4);
    wire.run_to_rest();
    assert_eq!(wire.received(1).len(), 150);
}

#[test]
fn sacks_handed_in_together_release_what_they_do_one_by_one() {
    let config = SctpConfig { initial_cwnd_bytes: Some(100_000), ..quiet() };
    for is_together in [false, true] {
        let mut wire = Wire::new(1, config.clone());
        wire.decide(|_| is_lost());
        wire.send(0, 0..30, 1_400);
        assert_eq!(data_packets(&wire, 0).len(), 4);
        wire.now = Instant::from_millis(100);
        for acked in 1..4 {
            wire.hand_in(0, 0, &[sack(acked, &[])]);
            if !is_together {
                wire.drain();
            }
        }
        wire.drain();
        assert_eq!(data_packets(&wire, 0).len(), 4 + 3 * 4, "together: {is_together}");
    }
}

#[test]
fn a_burst_that_was_not_used_up_is_not_added_to_the_next() {
    let config = SctpConfig { initial_cwnd_bytes: Some(100_000), ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..2, 1_400);
    wire.inject(0, 0, &[sack(1, &[])]);
    wire.inject(0, 0, &[sack(2, &[])]);
    wire.send(0, 2..30, 1_400);
    assert_eq!(data_packets(&wire, 0).len(), 2 + 4);
}

/// RFC 9260, section 5.4: nothing but probes goes to an address that is not confirmed.
#[test]
fn data_from_an_unconfirmed_address_is_acknowledged_to_a_confirmed_one() {
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &quiet()));
    tcbs[0].peer_addresses[1].is_confirmed = false;
    let mut wire = Wire::with_tcbs(tcbs, [quiet(), quiet()]);
    wire.decide(|_| is_lost());
    let before = wire.log.len();
    for tsn in [6, 7] {
        wire.inject(0, 1, &[data(tsn, b"from the second address")]);
    }
    let sacks: Vec<_> = wire.log[before..].iter().filter(|sent| sent.sack().is_some()).collect();
    assert_eq!(sacks.iter().map(|sent| sent.path).collect::<Vec<_>>(), [0]);
}

#[test]
fn the_report_of_an_unknown_chunk_fills_a_packet_at_most() {
    for (len, packet_len) in [(100, 12 + 4 + 4 + 104), (1_456, 1_480), (3_000, 1_480)] {
        let mut wire = Wire::new(1, quiet());
        let chunk = Chunk::Unknown { kind: 0xc5, flags: 0, value: vec![1; len].into() };
        wire.inject(0, 0, &[chunk]);
        let [report] = &wire.log[..] else { panic!("{:?}", wire.log) };
        assert!(matches!(report.chunks[..], [Chunk::Error(_)]));
        assert_eq!(report.packet.len(), packet_len, "a chunk of {len} bytes");
    }
}
