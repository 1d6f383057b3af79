//! Messages longer than the receive buffer: delivered in parts (RFC 9260, section 6.9; RFC 6458, section 8.1.21).

use super::*;
use PartPlace::{First, Last, Middle};

fn buffer_of(receive_buffer_bytes: u32) -> SctpConfig {
    SctpConfig { receive_buffer_bytes, ..quiet() }
}

/// A fragment of message `sequence` of a stream for end 0, as number `tsn` of all chunks.
fn fragment(tsn: u32, stream: u16, sequence: u16, flags: DataFlags, len: usize) -> Chunk {
    let payload: Vec<u8> = vec![tsn as u8; len];
    Chunk::Data(Data {
        flags,
        tsn: Tsn(6).plus(tsn),
        stream: StreamId(stream),
        sequence: StreamSequence(sequence),
        ppid: Ppid(0),
        payload: payload.into(),
    })
}

#[test]
fn a_message_of_a_megabyte_arrives_whole_through_a_buffer_of_256_kib() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..1, 1_000_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    let parts = wire.parts(1);
    // Half the buffer at a time, in chunks of 1,452 bytes.
    let at_a_time = 131_072_usize.div_ceil(1_452) * 1_452;
    assert_eq!(parts[0], (First, 0, at_a_time));
    assert!(parts[1..parts.len() - 1].iter().all(|part| *part == (Middle, 0, at_a_time)), "{parts:?}");
    assert_eq!(*parts.last().unwrap(), (Last, 0, 1_000_000 - (parts.len() - 1) * at_a_time));
    // The window never closes: no SACK says less than half of it.
    let least = wire.log.iter().filter_map(|sent| sent.sack()).map(|sack| sack.a_rwnd).min();
    assert!(least > Some(131_072 - 2 * 1_452), "{least:?}");
}

#[test]
fn a_long_message_arrives_whole_in_spite_of_loss() {
    for lost in [&[0_u32][..], &[1, 3], &[5, 6, 7], &[13]] {
        let mut wire = Wire::new(1, buffer_of(8_000));
        lose_first(&mut wire, lost);
        wire.send(0, 0..1, 40_000);
        wire.send(0, 1..3, 100);
        wire.run_to_rest();
        assert_eq!(wire.received(1), [0, 1, 2], "{lost:?}");
        assert_eq!(wire.ends[1].snapshot().receive_buffered, 0);
    }
}

#[test]
fn a_message_up_to_the_partial_delivery_point_is_delivered_whole() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(4_000), ..buffer_of(100_000) };
    let mut wire = Wire::new(1, config);
    wire.send(0, 0..1, 4_000);
    wire.run_to_rest();
    assert_eq!((wire.parts(1), wire.received(1)), (vec![], vec![0]));
    // Three chunks of 1,452 bytes reach it, and a fourth follows.
    wire.send(0, 1..2, 4_400);
    wire.run_to_rest();
    assert_eq!(wire.parts(1), [(First, 1, 3 * 1_452), (Last, 1, 4_400 - 3 * 1_452)]);
}

#[test]
fn a_point_beyond_the_buffer_counts_as_the_buffer() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(u32::MAX), ..buffer_of(8_000) };
    let mut wire = Wire::new(1, config);
    wire.send(0, 0..1, 20_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    // After five chunks 740 bytes are free, less than a packet: the window is closed.
    assert_eq!(wire.parts(1)[0], (First, 0, 5 * 1_452));
}

#[test]
fn whole_messages_of_other_streams_come_between_and_those_of_its_own_wait() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..quiet() };
    let mut wire = Wire::new(1, config);
    let whole = |tsn, stream, sequence| fragment(tsn, stream, sequence, DataFlags::WHOLE, 8);
    let (beginning, ending) = (DataFlags::BEGINNING, DataFlags::ENDING);
    wire.inject(0, 0, &[fragment(0, 0, 0, beginning, 200)]);
    wire.inject(0, 0, &[whole(2, 0, 1), whole(3, 1, 0)]);
    let unordered = fragment(4, 0, 0, DataFlags::WHOLE.with(DataFlags::UNORDERED), 8);
    wire.inject(0, 0, &[unordered]);
    let order = |wire: &Wire| {
        let told = wire.events[0].iter().map(|event| match event {
            Event::Received(message) => (message.stream.0, message.sequence.0, message.payload[0]),
            Event::ReceivedPart(part) => (part.stream.0, part.sequence.0, part.payload[0]),
            other => panic!("{other:?}"),
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(order(&wire), [(0, 0, 0), (1, 0, 3), (0, 0, 4)]);
    wire.inject(0, 0, &[fragment(1, 0, 0, ending, 9)]);
    assert_eq!(order(&wire), [(0, 0, 0), (1, 0, 3), (0, 0, 4), (0, 0, 1), (0, 1, 2)]);
    assert_eq!(wire.parts(0), [(First, 0, 200), (Last, 0, 9)]);
}

#[test]
fn only_one_message_is_delivered_in_parts_at_a_time() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..quiet() };
    let mut wire = Wire::new(1, config);
    let (beginning, middle, ending) = (DataFlags::BEGINNING, DataFlags::MIDDLE, DataFlags::ENDING);
    wire.inject(0, 0, &[fragment(5, 1, 0, beginning, 200)]);
    wire.inject(0, 0, &[fragment(0, 0, 0, beginning, 200), fragment(1, 0, 0, middle, 200)]);
    assert_eq!(wire.parts(0), [(First, 0, 200)]);
    wire.inject(0, 0, &[fragment(6, 1, 0, ending, 20)]);
    assert_eq!(wire.parts(0), [(First, 0, 200), (Last, 0, 20)]);
    wire.inject(0, 0, &[fragment(2, 0, 0, middle, 20)]);
    assert_eq!(wire.parts(0)[2..], [(First, 0, 420)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
}

#[test]
fn a_message_whose_turn_has_not_come_is_not_delivered_in_parts_until_it_has() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..buffer_of(8_000) };
    let mut wire = Wire::new(1, config);
    wire.inject(0, 0, &[fragment(1, 0, 1, DataFlags::BEGINNING, 4_000)]);
    wire.inject(0, 0, &[fragment(2, 0, 1, DataFlags::MIDDLE, 4_000)]);
    assert_eq!((wire.parts(0), wire.ends[0].snapshot().receive_buffered), (vec![], 8_000));
    // The buffer is full: the message is passed on as soon as the one before it has been.
    wire.inject(0, 0, &[fragment(0, 0, 0, DataFlags::WHOLE, 8)]);
    assert_eq!(wire.parts(0), [(First, 1, 8_000)]);
    assert!(matches!(wire.events[0][0], Event::Received(_)), "{:?}", wire.events[0]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
}

#[test]
fn what_can_never_be_delivered_and_fills_the_buffer_ends_the_association() {
    let mut wire = Wire::new(1, buffer_of(8_000));
    // Message 0 of the stream is never sent.
    wire.inject(0, 0, &[fragment(0, 0, 1, DataFlags::BEGINNING, 7_000)]);
    assert_eq!(wire.ends[0].state(), AssociationState::Established);
    wire.inject(0, 0, &[fragment(1, 0, 1, DataFlags::MIDDLE, 1_000)]);
    assert_eq!(wire.ends[0].state(), AssociationState::Established, "there was room for that");
    wire.inject(0, 0, &[fragment(2, 0, 1, DataFlags::MIDDLE, 1)]);
    assert_eq!(wire.events[0], [Event::Closed(CloseReason::Aborted(Cause::OutOfResource))]);
}

#[test]
fn the_number_of_a_message_in_parts_is_not_used_again() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..quiet() };
    for is_unordered in [false, true] {
        let mut wire = Wire::new(1, config.clone());
        wire.inject(0, 0, &[fragment(0, 0, 0, DataFlags::BEGINNING, 200)]);
        let flags = if is_unordered { DataFlags::WHOLE.with(DataFlags::UNORDERED) } else { DataFlags::WHOLE };
        wire.inject(0, 0, &[fragment(2, 0, 0, flags, 8)]);
        assert_eq!(wire.ends[0].state() == AssociationState::Closed, !is_unordered);
    }
}

#[test]
fn the_end_of_the_association_ends_a_delivery_in_parts_and_says_so() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..quiet() };
    for flags in [DataFlags::BEGINNING, DataFlags::BEGINNING.with(DataFlags::UNORDERED)] {
        let mut wire = Wire::new(1, config.clone());
        wire.inject(0, 0, &[fragment(0, 2, 0, flags, 200), fragment(2, 1, 0, DataFlags::BEGINNING, 200)]);
        wire.inject(0, 0, &[Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() })]);
        let [Event::ReceivedPart(_), aborted, Event::Closed(_)] = &wire.events[0][..] else {
            panic!("{:?}", wire.events[0])
        };
        let is_unordered = flags.is_unordered();
        let (stream, sequence) = (StreamId(2), StreamSequence(0));
        assert_eq!(*aborted, Event::PartialDeliveryAborted { stream, sequence, is_unordered });
    }
}

#[test]
fn a_paused_reader_gets_parts_only_when_it_goes_on() {
    let mut wire = Wire::new(1, buffer_of(8_000));
    wire.ends[1].pause_delivery();
    wire.send(0, 0..1, 20_000);
    wire.run_until(Instant::from_secs(5));
    assert!(wire.events[1].is_empty(), "{:?}", wire.events[1]);
    let sacks: Vec<u32> = wire.log.iter().filter_map(|sent| sent.sack()).map(|sack| sack.a_rwnd).collect();
    assert_eq!(sacks.last(), Some(&0), "the window closes");
    let before = wire.log.len();
    wire.ends[1].resume_delivery();
    wire.drain();
    let update = wire.log[before].sack().expect("the window is told to be open");
    assert_eq!((wire.log.len() - before, update.a_rwnd), (1, 8_000));
    // The sixth, a probe, found some room left.
    assert_eq!(wire.parts(1), [(First, 0, 6 * 1_452)]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
}

#[test]
fn the_last_part_fills_the_buffer_of_a_reader_that_pauses() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..buffer_of(8_000) };
    let mut wire = Wire::new(1, config);
    wire.inject(0, 0, &[fragment(0, 0, 0, DataFlags::BEGINNING, 200)]);
    wire.ends[0].pause_delivery();
    wire.inject(0, 0, &[fragment(1, 0, 0, DataFlags::ENDING, 300)]);
    assert_eq!(wire.parts(0), [(First, 0, 200)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 300);
    wire.ends[0].resume_delivery();
    wire.drain();
    assert_eq!(wire.parts(0), [(First, 0, 200), (Last, 0, 300)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
}

#[test]
fn a_part_that_opens_the_window_by_a_quarter_is_acknowledged_at_once() {
    let config = SctpConfig { sack_frequency: 3, ..buffer_of(8_000) };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.inject(0, 0, &[fragment(0, 0, 0, DataFlags::BEGINNING, 1_000)]);
    for tsn in 1..5 {
        wire.inject(0, 0, &[fragment(tsn, 0, 0, DataFlags::MIDDLE, 1_000)]);
    }
    // The third packet is acknowledged, the fourth completes a part, and the fifth may wait.
    assert_eq!(wire.parts(0), [(First, 0, 4_000)]);
    let sacks: Vec<u32> = wire.log.iter().filter_map(|sent| sent.sack()).map(|sack| sack.a_rwnd).collect();
    assert_eq!(sacks, [5_000, 8_000]);
}

#[test]
fn a_full_buffer_gives_no_part_of_nothing() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(100), ..buffer_of(8_000) };
    let mut wire = Wire::new(1, config);
    wire.inject(0, 0, &[fragment(0, 0, 0, DataFlags::BEGINNING, 200)]);
    // Message 0 of the other stream is missing.
    for number in 1..6 {
        wire.inject(0, 0, &[fragment(2 + number, 1, number as u16, DataFlags::WHOLE, 1_452)]);
    }
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 5 * 1_452);
    assert_eq!(wire.parts(0), [(First, 0, 200)]);
    // What follows is passed on however little it is, since there is no room to keep it.
    wire.inject(0, 0, &[fragment(1, 0, 0, DataFlags::MIDDLE, 8)]);
    assert_eq!(wire.parts(0), [(First, 0, 200), (Middle, 0, 8)]);
}
