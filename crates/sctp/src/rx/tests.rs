//! The receiving half by itself: what arrives, and what the next SACK says.
#![expect(clippy::cast_possible_truncation, reason = "numbers in tests are small")]

use bytes::Bytes;

use super::*;
use crate::PartPlace;
use crate::chunk::{FragmentPlace, IData};
use crate::types::{FragmentSequence, MessageId, Ppid, StreamSequence};

const FIRST: u32 = 1_000;

fn config(receive_buffer_bytes: u32) -> SctpConfig {
    SctpConfig { receive_buffer_bytes, ..SctpConfig::default() }
}

fn receiver(receive_buffer_bytes: u32) -> Receiver {
    Receiver::new(Tsn(FIRST), u16::MAX, Extensions::NONE, &config(receive_buffer_bytes))
}

/// A whole message in chunk number `number` of all, the one of this number in stream 0.
fn whole(number: u32, sequence: u16, len: usize) -> Data {
    Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(FIRST).plus(number),
        stream: StreamId(0),
        sequence: StreamSequence(sequence),
        ppid: Ppid(0),
        payload: vec![number as u8; len].into(),
    }
}

fn fragment(number: u32, len: usize) -> Data {
    Data { flags: DataFlags::MIDDLE, ..whole(number, 0, len) }
}

/// Hands over a chunk in a packet of its own and gives what is delivered.
fn hand(receiver: &mut Receiver, data: Data) -> Result<Vec<Event>, DataFault> {
    let mut events = Vec::new();
    receiver.on_data(data, 0, None, IpFields::default(), |event| events.push(event))?;
    receiver.on_packet_end(Instant::START, &config(0));
    Ok(events)
}

fn a_rwnd(receiver: &mut Receiver) -> u32 {
    receiver.take_sack(1_000).a_rwnd
}

#[test]
fn a_chunk_out_of_reach_is_dropped_and_answered_at_once() {
    let mut receiver = receiver(100_000);
    assert_eq!(hand(&mut receiver, whole(65_535, 1, 10)), Ok(vec![]));
    assert!(receiver.is_ack_due());
    let sack = receiver.take_sack(1_000);
    assert_eq!((sack.cumulative_tsn_ack, sack.gap_ack_blocks.len()), (Tsn(FIRST - 1), 0));
    assert_eq!(hand(&mut receiver, whole(65_534, 1, 10)), Ok(vec![]));
    assert_eq!(receiver.take_sack(1_000).gap_ack_blocks.len(), 1);
}

#[test]
fn a_receiver_without_a_buffer_takes_no_message() {
    let mut receiver = receiver(0);
    assert_eq!(hand(&mut receiver, whole(0, 0, 10)), Ok(vec![]));
    assert!(receiver.is_ack_due());
    let unordered = Data { flags: DataFlags::WHOLE.with(DataFlags::UNORDERED), ..whole(0, 0, 10) };
    assert_eq!(hand(&mut receiver, unordered), Ok(vec![]));
    assert_eq!(receiver.take_sack(1_000).cumulative_tsn_ack, Tsn(FIRST - 1));
}

#[test]
fn what_the_layer_above_has_not_read_closes_the_window_and_opens_it_when_it_is_read() {
    let mut receiver = receiver(3_000);
    assert_eq!(hand(&mut receiver, whole(0, 0, 1_000)).unwrap().len(), 1);
    receiver.set_unread(1_000);
    assert_eq!(a_rwnd(&mut receiver), 2_000);
    assert_eq!(hand(&mut receiver, whole(1, 1, 2_000)).unwrap().len(), 1);
    receiver.set_unread(3_000);
    assert_eq!(a_rwnd(&mut receiver), 0);
    assert_eq!(hand(&mut receiver, fragment(2, 100)), Ok(vec![]), "dropped, and nothing is over");
    assert_eq!(receiver.take_sack(1_000).cumulative_tsn_ack, Tsn(FIRST + 1));
    receiver.set_unread(2_999);
    assert!(!receiver.is_ack_due(), "too little to tell");
    receiver.set_unread(0);
    assert!(receiver.is_ack_due());
    assert_eq!(a_rwnd(&mut receiver), 3_000);
}

/// Numbers of the messages that are delivered.
fn numbers(events: &[Event]) -> Vec<u8> {
    let number = |event: &Event| match event {
        Event::Received(message) => message.payload[0],
        other => panic!("{other:?}"),
    };
    events.iter().map(number).collect()
}

#[test]
fn a_message_that_skips_a_sequence_number_waits_although_no_chunk_is_missing() {
    let mut receiver = receiver(100_000);
    let mut delivered = |number, sequence| numbers(&hand(&mut receiver, whole(number, sequence, 1)).unwrap());
    assert_eq!(delivered(0, 0), [0]);
    assert_eq!(delivered(1, 3), []);
    assert_eq!(delivered(2, 2), []);
    assert_eq!(delivered(3, 1), [3, 2, 1]);
    assert_eq!(delivered(4, 4), [4]);
}

#[test]
fn a_whole_message_behind_a_fragment_that_is_not_the_last_ends_the_association() {
    let mut receiver = receiver(100_000);
    hand(&mut receiver, whole(0, 0, 10)).unwrap();
    let beginning = Data { flags: DataFlags::BEGINNING, ..whole(1, 1, 10) };
    assert_eq!(hand(&mut receiver, beginning), Ok(vec![]));
    let fault = hand(&mut receiver, whole(2, 1, 10)).unwrap_err();
    assert_eq!(fault, DISAGREE);
}

#[test]
fn gap_blocks_come_before_duplicates_where_a_sack_has_no_room_for_both() {
    let mut receiver = receiver(100_000);
    for number in [1, 3, 5, 1, 3, 5, 5] {
        hand(&mut receiver, whole(number, number as u16, 10)).unwrap();
    }
    assert_eq!(receiver.sack_len(), Sack::FIXED_LEN + 4 * (3 + 4));
    for (entries, blocks, duplicates) in [(0, 0, 0), (2, 2, 0), (3, 3, 0), (5, 3, 2), (7, 3, 4), (9, 3, 4)] {
        let sack = receiver.clone().take_sack(Sack::FIXED_LEN + 4 * entries + 3);
        assert_eq!((sack.gap_ack_blocks.len(), sack.duplicates.len()), (blocks, duplicates), "{entries}");
    }
}

#[test]
fn a_duplicate_is_reported_once_and_of_many_the_first_64() {
    let mut receiver = receiver(100_000);
    hand(&mut receiver, whole(0, 0, 10)).unwrap();
    for _ in 0..3 {
        hand(&mut receiver, whole(0, 0, 10)).unwrap();
    }
    assert_eq!(receiver.take_sack(1_000).duplicates[..], [Tsn(FIRST); 3]);
    assert_eq!(receiver.take_sack(1_000).duplicates[..], []);
    for _ in 0..65 {
        hand(&mut receiver, whole(0, 0, 10)).unwrap();
    }
    assert_eq!(receiver.take_sack(1_000).duplicates.len(), 64);
}

/// Receiver's side of the silly window syndrome.
#[test]
fn a_window_that_has_closed_opens_by_a_packet_at_least() {
    for (buffer, freed, expected) in [
        (10_000, 1_452, 1_452),
        (10_000, 1_451, 0),
        // Half of a buffer that is smaller than two packets.
        (2_000, 1_000, 1_000),
        (2_000, 999, 0),
    ] {
        let mut receiver = receiver(buffer);
        hand(&mut receiver, whole(1, 1, freed)).unwrap();
        hand(&mut receiver, whole(3, 3, buffer as usize - freed)).unwrap();
        assert_eq!(a_rwnd(&mut receiver), 0);
        // The message that the first one waits for.
        hand(&mut receiver, whole(0, 0, 1)).unwrap();
        assert_eq!(a_rwnd(&mut receiver), expected, "{freed} bytes of {buffer} are free again");
    }
}

#[test]
fn what_becomes_free_while_little_of_the_window_is_left_does_not_open_it() {
    let mut receiver = receiver(10_000);
    hand(&mut receiver, whole(1, 1, 500)).unwrap();
    hand(&mut receiver, whole(3, 3, 8_500)).unwrap();
    assert_eq!(a_rwnd(&mut receiver), 1_000);
    hand(&mut receiver, whole(4, 4, 500)).unwrap();
    assert_eq!(hand(&mut receiver, whole(0, 0, 1)).unwrap().len(), 2, "500 bytes are free again");
    assert_eq!(a_rwnd(&mut receiver), 1_000 - 500 - 1);
}

/// A receiver of I-DATA that passes on no part before its buffer is full.
fn interleaving() -> Receiver {
    let config = SctpConfig { partial_delivery_point_bytes: Some(10_000), ..config(10_000) };
    Receiver::new(Tsn(FIRST), u16::MAX, Extensions::of(&[Extension::Interleaving]), &config)
}

/// Hands over chunk number `number`, the beginning of a message or all of it, and gives how much is delivered.
fn hand_i_data(
    receiver: &mut Receiver,
    number: u32,
    flags: DataFlags,
    place: (u16, u32),
    len: usize,
) -> usize {
    let chunk = IData {
        flags,
        tsn: Tsn(FIRST).plus(number),
        stream: StreamId(place.0),
        place: FragmentPlace { message_id: MessageId(place.1), fragment: FragmentSequence(0) },
        ppid: Ppid(0),
        payload: vec![0; len].into(),
    };
    let mut delivered = 0;
    receiver.on_i_data(chunk, 0, None, IpFields::default(), |_| delivered += 1).unwrap();
    delivered
}

#[test]
fn a_part_of_an_interleaved_message_is_passed_on_as_soon_as_less_than_a_packet_is_free() {
    for (len, parts, window) in [(8_048, 0, 1_452), (8_049, 1, 10_000 - 500)] {
        let mut receiver = interleaving();
        // A message that waits for the one before it, whose beginning comes then.
        assert_eq!(hand_i_data(&mut receiver, 1, DataFlags::WHOLE, (0, 1), 500), 0);
        assert_eq!(hand_i_data(&mut receiver, 0, DataFlags::BEGINNING, (0, 0), len), parts, "{len} bytes");
        assert_eq!(a_rwnd(&mut receiver), window, "{len} bytes");
    }
}

#[test]
fn what_i_data_takes_of_a_window_that_is_nearly_closed_counts_though_it_is_passed_on() {
    let mut receiver = interleaving();
    hand_i_data(&mut receiver, 1, DataFlags::WHOLE, (0, 1), 9_000);
    assert_eq!(a_rwnd(&mut receiver), 1_000);
    assert_eq!(hand_i_data(&mut receiver, 2, DataFlags::WHOLE, (1, 0), 300), 1);
    assert_eq!((receiver.buffered_bytes(), a_rwnd(&mut receiver)), (9_000, 700));
}

/// A peer may have sent into all of it before it hears of what is missing.
#[test]
fn what_the_peer_was_told_of_is_not_taken_back_however_little_is_left() {
    for sack_for_each in [true, false] {
        let mut receiver = receiver(4_096);
        for number in 1..=8 {
            hand(&mut receiver, whole(number, number as u16, 512)).unwrap();
            if sack_for_each {
                assert_eq!(a_rwnd(&mut receiver), 4_096 - 512 * number);
            }
        }
        assert_eq!(receiver.buffered_bytes(), 4_096);
        hand(&mut receiver, whole(9, 9, 512)).unwrap();
        assert_eq!(receiver.buffered_bytes(), 4_096, "beyond what it was told of");
        let delivered = hand(&mut receiver, whole(0, 0, 512)).unwrap();
        assert_eq!((delivered.len(), a_rwnd(&mut receiver)), (9, 4_096));
    }
}

#[test]
fn what_fills_a_gap_is_kept_up_to_twice_the_buffer_and_what_comes_next_always() {
    let mut receiver = receiver(10_000);
    hand(&mut receiver, whole(9, 9, 10_000)).unwrap();
    receiver.take_sack(1_000);
    hand(&mut receiver, whole(10, 10, 1)).unwrap();
    assert_eq!(receiver.buffered_bytes(), 10_000, "beyond all others, into a closed window");
    assert!(receiver.is_ack_due());
    hand(&mut receiver, whole(3, 3, 9_999)).unwrap();
    hand(&mut receiver, whole(4, 4, 2)).unwrap();
    assert_eq!(receiver.buffered_bytes(), 19_999);
    hand(&mut receiver, whole(4, 4, 1)).unwrap();
    assert_eq!(receiver.buffered_bytes(), 20_000);
    hand(&mut receiver, whole(5, 5, 1)).unwrap();
    assert_eq!(receiver.take_sack(1_000).gap_ack_blocks.len(), 2, "3 to 4, and 9");
    let delivered = hand(&mut receiver, whole(0, 0, 30_000)).unwrap();
    assert_eq!(delivered.len(), 1);
}

#[test]
fn what_comes_next_and_is_never_delivered_ends_the_association_before_memory_does() {
    let mut receiver = receiver(10_000);
    hand(&mut receiver, whole(0, 1, 1)).unwrap();
    hand(&mut receiver, whole(60_000, 60_000, 1)).unwrap();
    // Message 0 of the stream never comes, so that all that fills the gap must wait.
    let mut number = 0;
    let fault = loop {
        number += 1;
        if let Err(fault) = hand(&mut receiver, whole(number, number as u16 + 1, 1_000)) {
            break fault;
        }
    };
    assert_eq!(fault, DataFault::NoRoomForMessage);
    let size = receiver.held().size();
    assert!((40_000 + 65_535 - 32..40_000 + 65_535 + 1_400).contains(&size), "{size}");
}

#[test]
fn what_is_never_delivered_may_cost_four_buffers_and_a_message_and_no_byte_more() {
    const LIMIT: u64 = 40_000 + 65_535;
    for beyond in [0, 1] {
        let mut receiver = receiver(10_000);
        hand(&mut receiver, whole(0, 1, 1)).unwrap();
        hand(&mut receiver, whole(60_000, 60_000, 1)).unwrap();
        hand(&mut receiver, whole(1, 2, 60_000)).unwrap();
        let left = LIMIT - receiver.size_with(receiver.held());
        let last = whole(2, 3, (left - Held::OVERHEAD + beyond) as usize);
        assert_eq!(hand(&mut receiver, last).is_ok(), beyond == 0);
        assert_eq!(receiver.size_with(receiver.held()), LIMIT + beyond);
    }
}

#[test]
fn a_pausing_reader_is_given_no_more_than_fits() {
    let mut receiver = receiver(10_000);
    receiver.pause();
    hand(&mut receiver, whole(60_000, 60_000, 1)).unwrap();
    for number in 0..40 {
        assert_eq!(hand(&mut receiver, whole(number, number as u16, 1_000)), Ok(vec![]));
    }
    // Ten close the window. The others fill the gap, up to twice the buffer.
    assert_eq!(receiver.buffered_bytes(), 19_001);
    let mut delivered = 0;
    receiver.resume(|_| delivered += 1);
    assert_eq!((delivered, receiver.is_ack_due(), a_rwnd(&mut receiver)), (19, true, 9_999));
}

#[test]
fn short_chunks_close_the_window_by_what_keeping_them_costs() {
    let mut receiver = receiver(20_000);
    let mut kept = 0;
    while a_rwnd(&mut receiver) > 0 {
        // Every third one, so that each is a run, and a gap, by itself.
        hand(&mut receiver, fragment(3 * kept + 1, 1)).unwrap();
        kept += 1;
    }
    // Nothing of 40,000 bytes is left. A gap costs 32 bytes.
    assert_eq!(u64::from(kept), 40_000_u64.div_ceil(1 + Held::OVERHEAD + 32));
    hand(&mut receiver, fragment(3 * kept + 1, 1)).unwrap();
    assert_eq!(receiver.buffered_bytes(), u64::from(kept), "the next one is dropped");
    // Those in between are let in as long as all of it costs at most four buffers.
    for number in (2..3 * kept).filter(|number| number % 3 != 1) {
        hand(&mut receiver, fragment(number, 1)).unwrap();
    }
    let size = receiver.size_with(receiver.held());
    assert!((80_000 - 353..=80_000).contains(&size), "{size}");
}

#[test]
fn gaps_between_messages_that_were_delivered_close_the_window_too() {
    let mut receiver = receiver(20_000);
    let unordered = DataFlags::WHOLE.with(DataFlags::UNORDERED);
    let mut gaps = 0;
    while a_rwnd(&mut receiver) > 0 {
        let message = Data { flags: unordered, ..whole(2 * gaps + 1, 0, 8) };
        assert_eq!(hand(&mut receiver, message).map(|delivered| delivered.len()), Ok(1));
        gaps += 1;
    }
    assert_eq!((gaps, receiver.buffered_bytes()), (40_000 / 32, 0));
}

#[test]
fn chunks_as_long_as_packets_cost_their_payload() {
    let mut receiver = receiver(200_000);
    for number in 1..=100 {
        hand(&mut receiver, whole(number, number as u16, 1_452)).unwrap();
        assert_eq!(a_rwnd(&mut receiver), 200_000 - 1_452 * number);
    }
}

#[test]
fn a_message_says_what_ip_said_of_the_packet_that_brought_the_last_of_it() {
    let ip = |hop_limit| IpFields { hop_limit, ..IpFields::default() };
    let mut receiver = receiver(100_000);
    let mut told = Vec::new();
    let mut take = |receiver: &mut Receiver, hop_limit, data| {
        let deliver = |event| match event {
            Event::Received(message) => told.push((message.sequence.0, message.ip.hop_limit)),
            other => panic!("{other:?}"),
        };
        receiver.on_data(data, 0, None, ip(hop_limit), deliver).unwrap();
    };
    take(&mut receiver, 60, whole(0, 0, 10));
    // One that waits for its turn keeps what was said of its own packet.
    take(&mut receiver, 61, whole(4, 2, 10));
    let fragment = |tsn, flags| Data { flags, ..whole(tsn, 1, 10) };
    take(&mut receiver, 62, fragment(1, DataFlags::BEGINNING));
    take(&mut receiver, 63, fragment(3, DataFlags::ENDING));
    take(&mut receiver, 64, fragment(2, DataFlags::default()));
    take(&mut receiver, 65, whole(5, 3, 10));
    assert_eq!(told, [(0, 60), (1, 64), (2, 61), (3, 65)]);
}

#[test]
fn an_interleaved_message_says_so_too_and_a_part_what_was_said_of_the_last_packet() {
    let ip = |hop_limit| IpFields { hop_limit, ..IpFields::default() };
    let mut receiver = interleaving();
    let mut told = Vec::new();
    let mut take = |receiver: &mut Receiver, number: u8, (id, at): (u32, u32), flags, len: usize| {
        let chunk = IData {
            flags,
            tsn: Tsn(FIRST).plus(number.into()),
            stream: StreamId(0),
            place: FragmentPlace { message_id: MessageId(id), fragment: FragmentSequence(at) },
            ppid: Ppid(0),
            payload: vec![0; len].into(),
        };
        let deliver = |event| match event {
            Event::Received(message) => told.push((message.sequence.0, None, message.ip.hop_limit)),
            Event::ReceivedPart(part) => told.push((part.sequence.0, Some(part.place), part.ip.hop_limit)),
            other => panic!("{other:?}"),
        };
        receiver.on_i_data(chunk, 0, None, ip(60 + number), deliver).unwrap();
    };
    take(&mut receiver, 0, (0, 0), DataFlags::WHOLE, 10);
    take(&mut receiver, 1, (2, 0), DataFlags::WHOLE, 10);
    take(&mut receiver, 2, (1, 0), DataFlags::BEGINNING, 10);
    take(&mut receiver, 3, (1, 1), DataFlags::ENDING, 10);
    // Longer than the buffer.
    take(&mut receiver, 4, (3, 0), DataFlags::BEGINNING, 9_000);
    take(&mut receiver, 5, (3, 1), DataFlags::ENDING, 10);
    let parts = [(3, Some(PartPlace::First), 64), (3, Some(PartPlace::Last), 65)];
    assert_eq!(told[..3], [(0, None, 60), (1, None, 63), (2, None, 61)]);
    assert_eq!(told[3..], parts);
}

#[test]
fn what_is_kept_of_a_packet_that_brings_more_is_a_copy() {
    let packet = Bytes::from(vec![7; 1_400]);
    let is_of_packet = |payload: &Bytes| packet.as_ptr_range().contains(&payload.as_ptr());
    let kinds = [
        // A message that waits for its turn, and one that a pausing reader is not given.
        ([whole(1, 1, 0), whole(0, 0, 0)], false),
        ([whole(0, 0, 0), whole(1, 1, 0)], true),
    ];
    for (chunks, is_paused) in kinds {
        for (len, is_copied) in [(4, true), (1_200, false)] {
            let mut receiver = receiver(100_000);
            if is_paused {
                receiver.pause();
            }
            let mut payloads = Vec::new();
            for data in chunks.clone() {
                let data = Data { payload: packet.slice(..len), ..data };
                receiver
                    .on_data(data, 1_428, None, IpFields::default(), |event| payloads.push(event))
                    .unwrap();
            }
            receiver.resume(|event| payloads.push(event));
            let Event::Received(kept) = &payloads[1] else { panic!("{payloads:?}") };
            assert_eq!(is_of_packet(&kept.payload), !is_copied, "{len} bytes, paused: {is_paused}");
            let Event::Received(first) = &payloads[0] else { panic!("{payloads:?}") };
            assert!(is_paused || is_of_packet(&first.payload), "what is delivered at once is not copied");
        }
    }
}

#[test]
fn a_window_update_is_due_when_the_window_opens_by_a_quarter_of_the_buffer() {
    for (len, is_due) in [(2_499, false), (2_500, true)] {
        let mut receiver = receiver(10_000);
        receiver.pause();
        hand(&mut receiver, whole(0, 0, len)).unwrap();
        assert_eq!(a_rwnd(&mut receiver), 10_000 - len as u32);
        let mut delivered = 0;
        receiver.resume(|_| delivered += 1);
        assert_eq!((delivered, receiver.is_ack_due()), (1, is_due), "{len} bytes");
    }
}

#[test]
fn a_message_may_break_off_where_partial_reliability_has_been_agreed_on_alone() {
    let begun = Data { flags: DataFlags::BEGINNING, ..whole(0, 0, 10) };
    for (extensions, may) in
        [(Extensions::NONE, false), (Extensions::of(&[Extension::PartialReliability]), true)]
    {
        let mut receiver = Receiver::new(Tsn(FIRST), u16::MAX, extensions, &config(100_000));
        assert_eq!(hand(&mut receiver, begun.clone()), Ok(vec![]));
        assert_eq!(hand(&mut receiver, whole(1, 1, 10)).is_ok(), may);
    }
}

#[test]
fn a_path_that_has_gone_brought_no_data() {
    for (gone, left) in [(1, None), (0, Some(PathId(1)))] {
        let mut receiver = receiver(100_000);
        receiver.on_data(whole(0, 0, 10), 0, Some(PathId(1)), IpFields::default(), |_| {}).unwrap();
        assert_eq!(receiver.data_path(), Some(PathId(1)));
        receiver.forget_path(PathId(gone));
        assert_eq!(receiver.data_path(), left);
    }
}

/// An association reset: what has been agreed, set and counted stays, and what has numbers begins anew.
#[test]
fn numbers_that_begin_anew_leave_what_is_no_number() {
    let next = Tsn(FIRST).plus(1 << 31);
    let at = |place: u32, flags: DataFlags, sequence: u16| Data {
        tsn: next.plus(place),
        flags,
        ..whole(0, sequence, 10)
    };
    for gives_up in [true, false] {
        let extensions =
            if gives_up { Extensions::of(&[Extension::PartialReliability]) } else { Extensions::NONE };
        let config = SctpConfig { trace_arrivals: true, ..config(100_000) };
        let mut receiver = Receiver::new(Tsn(FIRST), 3, extensions, &config);
        receiver.add_streams(2);
        hand(&mut receiver, Data { flags: DataFlags::BEGINNING, ..whole(0, 0, 10) }).unwrap();
        hand(&mut receiver, Data { flags: DataFlags::ENDING, ..whole(1, 0, 10) }).unwrap();
        hand(&mut receiver, Data { flags: DataFlags::BEGINNING, ..whole(2, 1, 10) }).unwrap();
        let mut told = Vec::new();
        receiver.restart_numbers(next, |event| told.push(event));
        assert_eq!(told, []);
        assert_eq!((receiver.cumulative_tsn(), receiver.buffered_bytes()), (next.minus(1), 0));
        assert_eq!((receiver.stream_count(), receiver.messages_reassembled()), (5, 1));
        assert!(!receiver.is_ack_owed());
        // A message that breaks off is tolerated where that was agreed on, and nowhere else.
        hand(&mut receiver, at(0, DataFlags::BEGINNING, 0)).unwrap();
        let behind = hand(&mut receiver, at(1, DataFlags::WHOLE, 0));
        assert_eq!(behind.is_ok(), gives_up, "{behind:?}");
        if let Ok(events) = behind {
            assert!(matches!(&events[..], [Event::Arrived { .. }, Event::Received(_)]), "{events:?}");
        }
    }
}

#[test]
fn a_reader_that_pauses_is_told_behind_its_parts_that_numbers_have_begun_anew() {
    let config =
        SctpConfig { receive_buffer_bytes: 1_000, partial_delivery_point_bytes: Some(5), ..config(1_000) };
    let mut receiver = Receiver::new(Tsn(FIRST), 3, Extensions::NONE, &config);
    let first = hand(&mut receiver, Data { flags: DataFlags::BEGINNING, ..whole(0, 0, 10) }).unwrap();
    assert!(matches!(&first[..], [Event::ReceivedPart(_)]), "{first:?}");
    receiver.pause();
    let mut told = Vec::new();
    receiver.restart_numbers(Tsn(FIRST).plus(1 << 31), |event| told.push(event));
    assert!(receiver.is_paused());
    assert_eq!(told, []);
    receiver.resume(|event| told.push(event));
    let (stream, sequence) = (StreamId(0), StreamSequence(0));
    assert_eq!(told, [Event::PartialDeliveryAborted { stream, sequence, is_unordered: false }]);
}
