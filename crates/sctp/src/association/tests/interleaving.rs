//! Messages of different streams are interleaved (RFC 8260, section 2): chunks, their reassembly, parts of several
//! messages at once, and what is given up.

use super::*;
use crate::chunk::{ForwardTsn, FragmentPlace, IData, IForwardTsn, SkippedMessages};
use crate::event::SendOptions;
use crate::extension::{Extension, Extensions};
use crate::policy::StreamScheduling;
use crate::reliability::Reliability;
use crate::types::{FragmentSequence, MessageId};

fn interleaving() -> SctpConfig {
    SctpConfig {
        extensions: Extensions::of(&[Extension::Interleaving]),
        stream_scheduling: StreamScheduling::RoundRobin,
        ..quiet()
    }
}

fn combined() -> SctpConfig {
    let extensions = Extensions::of(&[Extension::Interleaving, Extension::PartialReliability]);
    SctpConfig { extensions, ..interleaving() }
}

/// Hands messages over at one moment: of each the stream and the length.
fn send_at_once(wire: &mut Wire, messages: &[(u16, usize)]) {
    for (context, &(stream, len)) in messages.iter().enumerate() {
        let now = wire.now;
        wire.ends[0].send(now, message(stream, context as u64, len)).unwrap();
    }
    wire.drain();
}

/// The chunks that end 0 has sent: stream, message and fragment of each.
fn places(wire: &Wire) -> Vec<(u16, u32, u32)> {
    let chunks = wire.log.iter().filter(|sent| sent.from == 0).flat_map(|sent| &sent.chunks);
    let places = chunks.filter_map(|chunk| match chunk {
        Chunk::IData(it) => Some((it.stream.0, it.place.message_id.0, it.place.fragment.0)),
        _ => None,
    });
    places.collect()
}

fn chunk(tsn: u32, (stream, id, fragment): (u16, u32, u32), flags: DataFlags) -> Chunk {
    Chunk::IData(IData {
        flags,
        tsn: Tsn(6).plus(tsn),
        stream: StreamId(stream),
        place: FragmentPlace { message_id: MessageId(id), fragment: FragmentSequence(fragment) },
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(b"payload!"),
    })
}

fn i_forward_tsn(up_to: u32, entries: &[(u16, bool, u32)]) -> Chunk {
    let skipped = entries.iter().map(|&(stream, is_unordered, id)| SkippedMessages {
        stream: StreamId(stream),
        is_unordered,
        message_id: MessageId(id),
    });
    Chunk::IForwardTsn(IForwardTsn { new_cumulative_tsn: Tsn(6).plus(up_to), skipped: skipped.collect() })
}

fn aborted_for_violation(wire: &Wire) -> bool {
    matches!(
        wire.events[0].last(),
        Some(Event::Closed(CloseReason::Aborted(Cause::ProtocolViolation { .. })))
    )
}

const FIRST: DataFlags = DataFlags::BEGINNING;
const MIDDLE: DataFlags = DataFlags::MIDDLE;
const LAST: DataFlags = DataFlags::ENDING;
const WHOLE: DataFlags = DataFlags::WHOLE;

/// Figure 2 of RFC 8260.
#[test]
fn a_round_robin_over_three_streams_sends_what_figure_2_shows() {
    let mut wire = Wire::new(1, interleaving());
    let long = 2 * 1_448 + 100;
    send_at_once(&mut wire, &[(0, long), (1, 100), (1, 1_448), (1, 1_448), (2, long)]);
    wire.run_to_rest();
    let expected =
        [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 1, 0), (2, 0, 1), (0, 0, 2), (1, 2, 0), (2, 0, 2)];
    assert_eq!(places(&wire), expected);
    let mut received = wire.received(1);
    received.sort_unstable();
    assert_eq!(received, [0, 1, 2, 3, 4]);
}

#[test]
fn a_short_message_overtakes_a_long_one_of_another_stream() {
    for (extensions, is_overtaken) in [(Extensions::NONE, false), (interleaving().extensions, true)] {
        let mut wire = Wire::new(1, SctpConfig { extensions, ..interleaving() });
        send_at_once(&mut wire, &[(0, 200_000), (1, 100)]);
        wire.run_to_rest();
        assert_eq!(wire.received(1), if is_overtaken { [1, 0] } else { [0, 1] });
    }
}

#[test]
fn long_messages_of_several_streams_pass_a_small_buffer_in_parts_at_the_same_time() {
    for lost in [&[][..], &[2, 3], &[7]] {
        let mut wire = Wire::new(1, SctpConfig { receive_buffer_bytes: 20_000, ..interleaving() });
        lose_first(&mut wire, lost);
        send_at_once(&mut wire, &[(0, 100_000), (1, 100_000), (2, 100_000)]);
        wire.run_to_rest();
        let mut received = wire.received(1);
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2], "{lost:?}");
        assert_eq!(wire.ends[1].snapshot().receive_buffered, 0);
    }
}

#[test]
fn the_parts_of_two_messages_come_in_turn() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(10), ..interleaving() };
    let mut wire = Wire::new(1, config);
    let all = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
    for (tsn, (stream, fragment)) in all.into_iter().enumerate() {
        let flags = [FIRST, MIDDLE, LAST][fragment as usize];
        wire.inject(0, 0, &[chunk(tsn as u32, (stream, 0, fragment), flags)]);
    }
    let parts: Vec<_> = wire.events[0]
        .iter()
        .filter_map(|event| match event {
            Event::ReceivedPart(part) => Some((part.stream.0, part.place, part.payload.len())),
            _ => None,
        })
        .collect();
    let (first, last) = (PartPlace::First, PartPlace::Last);
    assert_eq!(parts, [(0, first, 16), (1, first, 16), (0, last, 8), (1, last, 8)]);
    // Either stream goes on.
    wire.inject(0, 0, &[chunk(6, (0, 1, 0), WHOLE), chunk(7, (1, 1, 0), WHOLE)]);
    assert_eq!(wire.messages(0).len(), 4);
}

#[test]
fn of_the_unordered_messages_of_a_stream_one_at_a_time_is_delivered_in_parts() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(10), ..interleaving() };
    let mut wire = Wire::new(1, config);
    let all = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
    for (tsn, (id, fragment)) in all.into_iter().enumerate() {
        let flags = [FIRST, MIDDLE, LAST][fragment as usize].with(DataFlags::UNORDERED);
        wire.inject(0, 0, &[chunk(tsn as u32, (0, id, fragment), flags)]);
    }
    let got: Vec<_> = wire.events[0]
        .iter()
        .filter_map(|event| match event {
            Event::ReceivedPart(part) => Some((part.sequence.0, Some(part.place), part.payload.len())),
            Event::Received(message) => Some((message.sequence.0, None, message.payload.len())),
            _ => None,
        })
        .collect();
    assert_eq!(got, [(0, Some(PartPlace::First), 16), (0, Some(PartPlace::Last), 8), (1, None, 24)]);
}

#[test]
fn fragments_in_any_order_make_their_messages_which_keep_the_order_of_their_stream() {
    let mut wire = Wire::new(1, interleaving());
    wire.inject(0, 0, &[chunk(5, (0, 1, 1), LAST), chunk(2, (0, 0, 2), LAST), chunk(4, (0, 1, 0), FIRST)]);
    wire.inject(0, 0, &[chunk(3, (1, 0, 0), WHOLE), chunk(1, (0, 0, 1), MIDDLE)]);
    let got = |wire: &Wire| -> Vec<(u16, u16, usize)> {
        wire.messages(0).iter().map(|it| (it.stream.0, it.sequence.0, it.payload.len())).collect()
    };
    assert_eq!(got(&wire), [(1, 0, 8)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 32);
    wire.inject(0, 0, &[chunk(0, (0, 0, 0), FIRST)]);
    assert_eq!(got(&wire), [(1, 0, 8), (0, 0, 24), (0, 1, 16)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
}

#[test]
fn the_chunk_that_brings_the_last_of_a_message_is_told_whichever_that_is() {
    for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0]] {
        let mut wire = Wire::new(1, SctpConfig { trace_arrivals: true, ..interleaving() });
        for (place, fragment) in order.into_iter().enumerate() {
            let flags = [FIRST, MIDDLE, LAST][fragment as usize].with(DataFlags::UNORDERED);
            wire.inject(0, 0, &[chunk(fragment, (0, 0, fragment), flags)]);
            let told = wire.events[0].iter().filter(|event| matches!(event, Event::Arrived { .. })).count();
            assert_eq!(told, usize::from(place == 2), "{order:?}");
        }
    }
}

#[test]
fn chunks_that_contradict_each_other_end_the_association() {
    let cases: [&[Chunk]; 6] = [
        &[chunk(0, (0, 0, 0), FIRST), chunk(1, (0, 0, 0), FIRST)],
        &[chunk(0, (0, 0, 1), MIDDLE), chunk(1, (0, 0, 1), MIDDLE)],
        &[chunk(0, (0, 0, 0), MIDDLE)],
        &[chunk(0, (0, 0, 2), LAST), chunk(1, (0, 0, 3), MIDDLE)],
        &[chunk(0, (0, 0, 3), MIDDLE), chunk(1, (0, 0, 2), LAST)],
        &[chunk(0, (0, 1, 0), FIRST), chunk(1, (0, 1, 0), WHOLE)],
    ];
    for chunks in cases {
        let mut wire = Wire::new(1, interleaving());
        wire.inject(0, 0, chunks);
        assert!(aborted_for_violation(&wire), "{chunks:?}: {:?}", wire.events[0]);
    }
}

#[test]
fn a_chunk_of_the_format_that_was_not_agreed_on_ends_the_association() {
    let forward = Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn: Tsn(6), skipped: Vec::new() });
    let partial = Extensions::of(&[Extension::PartialReliability]);
    let cases = [
        (interleaving().extensions, data(6, b"data"), true),
        (Extensions::NONE, chunk(0, (0, 0, 0), WHOLE), true),
        (interleaving().extensions, i_forward_tsn(0, &[]), true),
        (combined().extensions, forward, true),
        (partial, i_forward_tsn(0, &[]), true),
        (combined().extensions, i_forward_tsn(0, &[]), false),
        (interleaving().extensions, chunk(0, (0, 0, 0), WHOLE), false),
    ];
    for (extensions, chunk, is_violation) in cases {
        let mut wire = Wire::new(1, SctpConfig { extensions, ..quiet() });
        wire.inject(0, 0, std::slice::from_ref(&chunk));
        assert_eq!(aborted_for_violation(&wire), is_violation, "{chunk:?}");
    }
}

#[test]
fn what_is_given_up_is_told_by_i_forward_tsn_ordered_and_unordered_apart() {
    let mut wire = Wire::new(1, combined());
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    let options = || {
        let reliability = Reliability::Retransmissions(0);
        Some(Box::new(SendOptions { reliability, ..SendOptions::default() }))
    };
    for (context, is_unordered) in [(0, false), (1, true), (2, true)] {
        let now = wire.now;
        let message = Message { options: options(), is_unordered, ..message(1, context, 3_000) };
        wire.ends[0].send(now, message).unwrap();
    }
    wire.drain();
    wire.run_to_rest();
    let told = wire.log.iter().flat_map(|sent| &sent.chunks).filter_map(|chunk| match chunk {
        Chunk::IForwardTsn(forward) => Some(forward),
        _ => None,
    });
    let told: Vec<_> = told.cloned().collect();
    let last = told.last().unwrap();
    let entries: Vec<_> =
        last.skipped.iter().map(|it| (it.stream.0, it.is_unordered, it.message_id.0)).collect();
    assert!(entries.contains(&(1, true, 1)), "{told:?}");
    let snapshot = wire.ends[0].snapshot();
    assert_eq!((snapshot.outstanding_chunks, snapshot.stats.abandoned_sent), (0, 3));
    wire.decide(|_| arrives());
    send_at_once(&mut wire, &[(1, 3_000)]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
}

#[test]
fn an_i_forward_tsn_skips_messages_and_delivers_what_has_waited_behind_them() {
    let mut wire = Wire::new(1, combined());
    let unordered = DataFlags::UNORDERED;
    wire.inject(
        0,
        0,
        &[
            chunk(0, (0, 0, 0), FIRST),
            chunk(2, (0, 2, 0), WHOLE),
            chunk(3, (0, 3, 1), LAST),
            chunk(4, (0, 0, 1), unordered),
            chunk(5, (0, 7, 1), unordered),
        ],
    );
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 40);
    wire.inject(0, 0, &[i_forward_tsn(1, &[(0, false, 1), (0, true, 0), (9, false, 3)])]);
    let got: Vec<_> = wire.messages(0).iter().map(|it| it.sequence.0).collect();
    assert_eq!(got, [2]);
    // What lies behind stays: a fragment of the ordered message 3, and of the unordered message 7.
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 16);
    // A part of a message that was skipped is of no use to anybody.
    wire.inject(0, 0, &[chunk(6, (0, 1, 1), MIDDLE), chunk(7, (0, 3, 0), FIRST)]);
    assert_eq!(wire.messages(0).len(), 2);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 8);
}

#[test]
fn a_message_in_parts_that_is_skipped_is_told_of_before_what_follows() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(1), ..combined() };
    let mut wire = Wire::new(1, config);
    wire.inject(0, 0, &[chunk(0, (2, 0, 0), FIRST), chunk(1, (3, 0, 0), FIRST), chunk(4, (2, 1, 0), WHOLE)]);
    wire.inject(0, 0, &[i_forward_tsn(3, &[(2, false, 0)])]);
    let aborted = Event::PartialDeliveryAborted {
        stream: StreamId(2),
        sequence: StreamSequence(0),
        is_unordered: false,
    };
    let place = wire.events[0].iter().position(|event| *event == aborted).unwrap();
    assert!(matches!(&wire.events[0][place + 1], Event::Received(it) if it.stream == StreamId(2)));
    // The other stream's message goes on.
    wire.inject(0, 0, &[chunk(5, (3, 0, 1), LAST)]);
    assert_eq!(wire.messages(0).len(), 2);
}

#[test]
fn identifiers_and_skipping_go_on_when_they_wrap() {
    let mut wire = Wire::new(1, combined());
    // To the end of the space in three steps, each less than half of it.
    for (tsn, id) in [0x7fff_0000, 0xfffe_0000, u32::MAX - 1].into_iter().enumerate() {
        wire.inject(0, 0, &[i_forward_tsn(tsn as u32, &[(0, false, id)])]);
    }
    wire.inject(0, 0, &[chunk(5, (0, 1, 0), WHOLE), chunk(4, (0, 0, 0), WHOLE)]);
    assert_eq!(wire.messages(0).len(), 0);
    wire.inject(0, 0, &[chunk(3, (0, u32::MAX, 0), WHOLE)]);
    let got: Vec<_> = wire.messages(0).iter().map(|it| it.sequence.0).collect();
    assert_eq!(got, [u16::MAX, 0, 1]);
}
