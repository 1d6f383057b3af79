use super::*;
use crate::types::{FragmentSequence, Tsn};

const ORDERED: DataFlags = DataFlags::MIDDLE;

/// A chunk of so many bytes. Its flags say whether it is unordered, the first or the last of its message.
fn chunk(stream: u16, flags: DataFlags, id: u32, fragment: u32, len: usize) -> IData {
    IData {
        flags,
        tsn: Tsn(0),
        stream: StreamId(stream),
        place: FragmentPlace { message_id: MessageId(id), fragment: FragmentSequence(fragment) },
        ppid: Ppid(0),
        payload: vec![0; len].into(),
    }
}

/// Hands a chunk over and returns what comes of it.
fn accept(all: &mut Interleaved, chunk: IData) -> Vec<Event> {
    let mut events = Vec::new();
    all.accept(chunk, IpFields::default(), |event| events.push(event)).expect("it contradicts nothing");
    events
}

/// The first fragment of a message.
fn begin(all: &mut Interleaved, stream: u16, order: DataFlags, id: u32, len: usize) {
    assert_eq!(accept(all, chunk(stream, order.with(DataFlags::BEGINNING), id, 0, len)), []);
}

fn whole(stream: u16, order: DataFlags, id: u32) -> IData {
    chunk(stream, order.with(DataFlags::WHOLE), id, 0, 70)
}

fn is_message(events: &[Event], id: u16) -> bool {
    matches!(events, [Event::Received(message)] if message.sequence == MessageId(id.into()).stream_sequence())
}

fn key(stream: u16, is_unordered: bool, id: u32) -> Key {
    (StreamId(stream), is_unordered, id)
}

fn is_held(all: &Interleaved, payload: u64, pieces: u64) -> bool {
    (all.held().payload, all.held().pieces) == (payload, pieces)
}

/// Message 0 has been delivered, message 1 is being delivered in parts and has more of it here, message 3 waits.
fn busy(all: &mut Interleaved, stream: u16) {
    assert!(is_message(&accept(all, whole(stream, ORDERED, 0)), 0));
    begin(all, stream, ORDERED, 1, 100);
    assert_eq!(
        all.take_part(key(stream, false, 1), IpFields::default()).map(|part| part.payload.len()),
        Some(100)
    );
    assert_eq!(accept(all, chunk(stream, ORDERED, 1, 1, 50)), []);
    assert_eq!(accept(all, whole(stream, ORDERED, 3)), []);
}

#[test]
fn a_reset_forgets_all_that_the_streams_it_lists_hold_and_nothing_else() {
    let mut all = Interleaved::default();
    busy(&mut all, 0);
    busy(&mut all, 1);
    assert!(is_held(&all, 240, 4));
    let mut events = Vec::new();
    all.reset(&[StreamId(1)], |event| events.push(event));
    assert_eq!(events, [aborted(StreamId(1), MessageId(1), false)]);
    assert!(is_held(&all, 120, 2));
    assert_eq!(all.first_ready(), Some(key(0, false, 1)));
    assert!(is_message(&accept(&mut all, whole(1, ORDERED, 0)), 0), "it begins anew");
    assert_eq!(accept(&mut all, whole(0, ORDERED, 0)), [], "it was delivered");
    all.reset(&[], |event| events.push(event));
    assert_eq!(events[1..], [aborted(StreamId(0), MessageId(1), false)]);
    assert!(is_held(&all, 0, 0));
    assert_eq!(all.first_ready(), None);
    assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
}

#[test]
fn unordered_messages_and_the_next_of_a_stream_are_passed_on_at_once() {
    let all = Interleaved::default();
    let next = [whole(0, ORDERED, 0), whole(0, ORDERED, 1), whole(0, DataFlags::UNORDERED, 1)];
    assert_eq!(next.map(|chunk| all.is_next(&chunk)), [true, false, true]);
}

#[test]
fn a_message_is_completed_by_the_one_chunk_of_it_that_is_missing() {
    let mut all = Interleaved::default();
    assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
    let completes = |all: &Interleaved, chunk: IData| all.is_completed_by(&chunk);
    assert!(!completes(&all, whole(0, ORDERED, 0)), "it has been delivered");
    assert!(completes(&all, whole(0, ORDERED, 1)) && completes(&all, whole(0, DataFlags::UNORDERED, 0)));
    begin(&mut all, 0, ORDERED, 2, 10);
    let last = |fragment| chunk(0, DataFlags::ENDING, 2, fragment, 10);
    assert_eq!([1, 2].map(|fragment| completes(&all, last(fragment))), [true, false]);
    assert!(!completes(&all, chunk(0, ORDERED, 2, 1, 10)), "nobody knows how long it is");
    assert_eq!(accept(&mut all, last(2)), []);
    assert!(completes(&all, chunk(0, ORDERED, 2, 1, 10)));
}

#[test]
fn ordered_and_unordered_messages_of_one_number_are_two() {
    let mut all = Interleaved::default();
    assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
    assert!(is_message(&accept(&mut all, whole(0, DataFlags::UNORDERED, 0)), 0));
    assert_eq!(accept(&mut all, whole(0, ORDERED, 0)), [], "it was given up, and is late");
}

#[test]
fn a_fragment_from_half_the_numbers_ahead_contradicts_and_the_one_before_does_not() {
    let insert = |fragment| Partial::new(Tsn(0)).insert(chunk(0, ORDERED, 0, fragment, 1));
    assert_eq!([(1 << 31) - 1, 1 << 31].map(insert), [Ok(()), Err(Contradiction)]);
}

#[test]
fn what_has_no_beginning_is_not_ready_and_what_has_is_from_its_length_on() {
    let mut all = Interleaved::default();
    assert_eq!(accept(&mut all, chunk(0, ORDERED, 0, 1, 10)), []);
    assert_eq!(all.first_ready(), None);
    begin(&mut all, 0, ORDERED, 0, 10);
    assert_eq!(all.first_ready(), Some(key(0, false, 0)));
    assert_eq!([20, 21].map(|least| all.has_ready(key(0, false, 0), least)), [true, false]);
}

#[test]
fn after_the_last_part_of_an_unordered_message_another_with_a_beginning_is_ready() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, DataFlags::UNORDERED, 0, 10);
    assert!(all.take_part(key(0, true, 0), IpFields::default()).is_some());
    assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 1, 1, 10)), []);
    begin(&mut all, 0, DataFlags::UNORDERED, 2, 10);
    assert_eq!(all.first_ready(), None, "one at a time");
    let end = chunk(0, DataFlags::UNORDERED.with(DataFlags::ENDING), 0, 1, 10);
    assert!(
        matches!(&accept(&mut all, end)[..], [Event::ReceivedPart(part)] if part.place == PartPlace::Last)
    );
    assert_eq!(all.first_ready(), Some(key(0, true, 2)));
}

#[test]
fn a_skip_of_unordered_messages_reaches_half_the_numbers_back() {
    let mut all = Interleaved::default();
    let last = 7_u32;
    let oldest = last.wrapping_sub((1 << 31) - 1);
    for id in [oldest.wrapping_sub(1), oldest, last, last + 1] {
        begin(&mut all, 0, DataFlags::UNORDERED, id, 10);
    }
    let skipped = SkippedMessages { stream: StreamId(0), is_unordered: true, message_id: MessageId(last) };
    all.skip(skipped, |_| ());
    let left: Vec<u32> = all.partial.keys().map(|(.., id)| *id).collect();
    assert_eq!(left, [last + 1, oldest.wrapping_sub(1)]);
    assert!(is_held(&all, 20, 2));
}

#[test]
fn a_skip_of_one_ordered_message_leaves_those_behind_it() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 0, 10);
    begin(&mut all, 0, ORDERED, 5, 10);
    let skipped = SkippedMessages { stream: StreamId(0), is_unordered: false, message_id: MessageId(0) };
    all.skip(skipped, |_| ());
    assert_eq!(all.partial.keys().copied().collect::<Vec<_>>(), [key(0, false, 5)]);
    assert!(is_held(&all, 10, 1));
}

#[test]
fn the_end_tells_of_each_message_whose_rest_will_never_come() {
    let mut all = Interleaved::default();
    busy(&mut all, 0);
    begin(&mut all, 1, DataFlags::UNORDERED, 4, 10);
    assert!(all.take_part(key(1, true, 4), IpFields::default()).is_some());
    let mut events = Vec::new();
    all.finish(|event| events.push(event));
    let told = [aborted(StreamId(0), MessageId(1), false), aborted(StreamId(1), MessageId(4), true)];
    assert_eq!(events, told);
}

/// Fragments of one message: which, whether it is the last, and whether it contradicts those before it.
type Fragments<'a> = &'a [(u32, DataFlags, Result<(), Contradiction>)];

#[test]
fn a_message_begins_with_fragment_zero_ends_once_and_has_each_of_its_fragments_once() {
    const OK: Result<(), Contradiction> = Ok(());
    const NO: Result<(), Contradiction> = Err(Contradiction);
    let cases: [Fragments<'_>; 9] = [
        &[(0, DataFlags::BEGINNING, OK), (0, DataFlags::BEGINNING, NO)],
        &[(0, ORDERED, NO)],
        &[(1, DataFlags::BEGINNING, NO)],
        &[(3, ORDERED, OK), (3, ORDERED, NO)],
        // Behind the last, the last again, another last in front of it and behind it.
        &[
            (5, DataFlags::ENDING, OK),
            (6, ORDERED, NO),
            (5, DataFlags::ENDING, NO),
            (4, DataFlags::ENDING, NO),
        ],
        &[(5, DataFlags::ENDING, OK), (6, DataFlags::ENDING, NO)],
        &[(5, DataFlags::ENDING, OK), (4, ORDERED, OK), (0, DataFlags::BEGINNING, OK)],
        // The last one in front of one that has come, in its place, and behind it.
        &[(5, ORDERED, OK), (4, DataFlags::ENDING, NO)],
        &[(5, ORDERED, OK), (6, DataFlags::ENDING, OK), (1, ORDERED, OK)],
    ];
    for case in cases {
        let mut partial = Partial::new(Tsn(0));
        for &(fragment, flags, expected) in case {
            assert_eq!(partial.insert(chunk(0, flags, 0, fragment, 10)), expected, "{case:?}");
        }
    }
    // The one that stands last may not be called the last again.
    let mut partial = Partial::new(Tsn(0));
    assert_eq!(partial.insert(chunk(0, ORDERED, 0, 5, 10)), OK);
    assert_eq!(partial.insert(chunk(0, DataFlags::ENDING, 0, 5, 10)), NO);
}

/// Fragment Sequence Numbers go on behind the last of 32 bits, and what has been passed on does not come again.
#[test]
fn what_has_been_passed_on_is_counted_from() {
    let mut partial = Partial { next: 1 << 32, missing: 1 << 32, ..Partial::new(Tsn(0)) };
    assert_eq!(partial.insert(chunk(0, ORDERED, 0, u32::MAX, 10)), Err(Contradiction));
    assert_eq!(partial.insert(chunk(0, DataFlags::BEGINNING, 0, 0, 10)), Err(Contradiction));
    assert_eq!(partial.insert(chunk(0, ORDERED, 0, 1, 10)), Ok(()));
    assert_eq!((partial.ready_len, partial.missing), (0, 1 << 32));
    assert_eq!(partial.insert(chunk(0, ORDERED, 0, 0, 7)), Ok(()));
    assert_eq!((partial.ready_len, partial.missing), (17, (1 << 32) + 2));
    assert_eq!(partial.take_ready().1, 2);
    assert_eq!((partial.ready_len, partial.next), (0, (1 << 32) + 2));
    assert_eq!((partial.held().payload, partial.held().pieces), (0, 0));
}

#[test]
fn a_message_is_whole_once_all_up_to_its_last_fragment_has_come() {
    let mut partial = Partial::new(Tsn(0));
    let come = [
        (chunk(0, DataFlags::ENDING, 0, 2, 5), false),
        (chunk(0, DataFlags::BEGINNING, 0, 0, 7), false),
        (chunk(0, ORDERED, 0, 1, 11), true),
    ];
    for (chunk, is_whole) in come {
        partial.insert(chunk).unwrap();
        assert_eq!(partial.is_whole(), is_whole);
    }
    assert_eq!((partial.held().payload, partial.held().pieces), (23, 3));
}

fn contradicts(all: &mut Interleaved, chunk: IData) -> bool {
    all.accept(chunk, IpFields::default(), |event| panic!("{event:?}")).is_err()
}

#[test]
fn one_message_comes_either_whole_or_in_fragments_and_once() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 0, 10);
    assert!(contradicts(&mut all, whole(0, ORDERED, 0)));
    begin(&mut all, 0, DataFlags::UNORDERED, 2, 10);
    assert!(contradicts(&mut all, whole(0, DataFlags::UNORDERED, 2)));
    assert_eq!(accept(&mut all, whole(0, ORDERED, 2)), []);
    assert!(contradicts(&mut all, whole(0, ORDERED, 2)));
    assert!(contradicts(&mut all, chunk(0, DataFlags::BEGINNING, 2, 0, 10)));
    // An unordered one of this number is another message, and one in another stream is as well.
    assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 2, 1, 10)), []);
    begin(&mut all, 1, ORDERED, 2, 10);
}

#[test]
fn messages_in_fragments_are_put_together_and_wait_for_their_turn() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 1, 10);
    assert_eq!(accept(&mut all, chunk(0, DataFlags::ENDING, 1, 1, 20)), []);
    assert!(is_held(&all, 30, 1), "in one piece");
    assert_eq!(accept(&mut all, whole(0, ORDERED, 2)), []);
    begin(&mut all, 0, ORDERED, 0, 5);
    assert!(is_held(&all, 105, 3));
    let events = accept(&mut all, chunk(0, DataFlags::ENDING, 0, 1, 6));
    let lens = events.iter().map(|event| match event {
        Event::Received(message) => (message.sequence.0, message.payload.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(lens.collect::<Vec<_>>(), [(0, 11), (1, 30), (2, 70)]);
    assert!(is_held(&all, 0, 0));
    assert_eq!(all.first_ready(), None);
}

/// The part behind which a message ends lets the next one be delivered, and that in parts, too.
#[test]
fn what_waits_behind_a_message_in_parts_follows_its_last_part() {
    let mut all = Interleaved::default();
    busy(&mut all, 0);
    assert_eq!(accept(&mut all, whole(0, ORDERED, 2)), []);
    begin(&mut all, 0, ORDERED, 4, 33);
    assert_eq!(all.first_ready(), Some(key(0, false, 1)));
    assert_eq!(
        all.take_part(key(0, false, 1), IpFields::default()).map(|part| part.place),
        Some(PartPlace::Middle)
    );
    let events = accept(&mut all, chunk(0, DataFlags::ENDING, 1, 2, 9));
    let [Event::ReceivedPart(last), Event::Received(second), Event::Received(third)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((last.place, last.payload.len(), last.sequence.0), (PartPlace::Last, 9, 1));
    assert_eq!((second.sequence.0, third.sequence.0), (2, 3));
    assert_eq!(all.first_ready(), Some(key(0, false, 4)));
    assert!(all.in_parts.is_empty() && is_held(&all, 33, 1));
    let part = all.take_part(key(0, false, 4), IpFields::default()).unwrap();
    assert_eq!((part.place, part.payload.len(), part.is_unordered), (PartPlace::First, 33, false));
    assert!(is_held(&all, 0, 0));
    assert_eq!(all.take_part(key(0, false, 9), IpFields::default()), None);
}

/// Of ordered messages only the next one of its stream, of unordered ones one at a time.
#[test]
fn a_part_is_passed_on_of_one_message_of_a_stream() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 1, 10);
    assert_eq!(all.first_ready(), None);
    for id in [3, 4] {
        begin(&mut all, 0, DataFlags::UNORDERED, id, 10);
        assert!(all.has_ready(key(0, true, id), 10));
    }
    begin(&mut all, 1, DataFlags::UNORDERED, 7, 10);
    assert!(all.take_part(key(0, true, 4), IpFields::default()).is_some());
    assert!(
        !all.has_ready(key(0, true, 3), 0) && all.has_ready(key(1, true, 7), 10),
        "of another stream it may be"
    );
    assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 3, 1, 10)), []);
    assert!(!all.has_ready(key(0, true, 3), 0));
    assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 4, 1, 10)), []);
    assert!(all.has_ready(key(0, true, 4), 10) && !all.has_ready(key(0, true, 4), 11));
    // What is whole meanwhile is delivered as it is.
    let end = DataFlags::UNORDERED.with(DataFlags::ENDING);
    assert!(is_message(&accept(&mut all, chunk(0, end, 3, 2, 10)), 3));
}

fn skip(all: &mut Interleaved, is_unordered: bool, id: u32) -> Vec<Event> {
    let mut events = Vec::new();
    let message_id = MessageId(id);
    all.skip(SkippedMessages { stream: StreamId(0), is_unordered, message_id }, |event| events.push(event));
    events
}

/// Checks that whole messages among those skipped are delivered, in their order, and those that follow them as well.
#[test]
fn a_skip_passes_on_what_is_whole_and_forgets_what_is_not() {
    let mut all = Interleaved::default();
    // Behind the largest number comes zero.
    let first = u32::MAX - 1;
    all.expected.insert(StreamId(0), MessageId(first));
    for id in [u32::MAX, 1, 3, 5] {
        assert_eq!(accept(&mut all, whole(0, ORDERED, id)), []);
    }
    begin(&mut all, 0, ORDERED, first, 10);
    begin(&mut all, 0, ORDERED, 0, 10);
    begin(&mut all, 0, ORDERED, 4, 12);
    begin(&mut all, 0, DataFlags::UNORDERED, 0, 14);
    assert!(all.take_part(key(0, false, first), IpFields::default()).is_some());
    let events = skip(&mut all, false, 2);
    let stream = StreamId(0);
    assert_eq!(events[0], aborted(stream, MessageId(first), false));
    let delivered = events[1..].iter().map(|event| match event {
        Event::Received(message) => message.sequence.0,
        other => panic!("{other:?}"),
    });
    assert_eq!(delivered.collect::<Vec<_>>(), [u16::MAX, 1, 3]);
    assert_eq!(all.expected(stream), MessageId(4));
    assert_eq!(all.first_ready(), Some(key(0, false, 4)));
    assert!(is_held(&all, 70 + 12 + 14, 3));
    // What has been skipped already, or delivered, says nothing new.
    for id in [3, 2, u32::MAX] {
        assert_eq!(skip(&mut all, false, id), []);
        assert_eq!(all.expected(stream), MessageId(4));
    }
    assert_eq!(skip(&mut all, false, 4).len(), 1);
    assert!(is_held(&all, 14, 1));
}

#[test]
fn a_skip_of_an_unordered_message_in_parts_ends_it_and_lets_another_begin() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, DataFlags::UNORDERED, 1, 10);
    begin(&mut all, 0, ORDERED, 1, 10);
    assert!(all.take_part(key(0, true, 1), IpFields::default()).is_some());
    // Without its beginning one cannot, and what waits behind it can.
    assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 2, 1, 10)), []);
    begin(&mut all, 0, DataFlags::UNORDERED, 3, 10);
    assert_eq!(skip(&mut all, true, 0), []);
    assert_eq!(all.first_ready(), None);
    assert_eq!(skip(&mut all, true, 1), [aborted(StreamId(0), MessageId(1), true)]);
    assert_eq!(all.first_ready(), Some(key(0, true, 3)));
    assert_eq!(skip(&mut all, true, 1), []);
    assert!(is_held(&all, 30, 3), "the ordered one of that number stays");
}

/// Checks which chunk brings the last of a message, as a trace tells: the others have come, in whatever order.
#[test]
fn a_message_in_parts_is_completed_by_its_last_chunk() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 0, 10);
    assert!(all.take_part(key(0, false, 0), IpFields::default()).is_some());
    assert_eq!(accept(&mut all, chunk(0, ORDERED, 0, 1, 10)), []);
    let last = |fragment| chunk(0, DataFlags::ENDING, 0, fragment, 10);
    assert_eq!([1, 2, 3].map(|fragment| all.is_completed_by(&last(fragment))), [false, true, false]);
    assert_eq!(accept(&mut all, last(3)), []);
    assert!(all.is_completed_by(&chunk(0, ORDERED, 0, 2, 10)));
    let unordered = DataFlags::UNORDERED.with(DataFlags::ENDING);
    assert!(!all.is_completed_by(&chunk(0, unordered, 0, 2, 10)), "of another message");
    let mut all = Interleaved::default();
    begin(&mut all, 0, ORDERED, 0, 10);
    assert_eq!(accept(&mut all, last(3)), []);
    assert!(!all.is_completed_by(&chunk(0, ORDERED, 0, 1, 10)), "two are missing");
}

/// Checks that messages stay of which nothing has come, and the streams that are not listed.
#[test]
fn a_reset_leaves_what_is_in_parts_on_other_streams() {
    let mut all = Interleaved::default();
    for stream in 0..2 {
        begin(&mut all, stream, DataFlags::UNORDERED, 0, 10);
        assert!(all.take_part(key(stream, true, 0), IpFields::default()).is_some());
    }
    let mut events = Vec::new();
    all.reset(&[StreamId(0), StreamId(9)], |event| events.push(event));
    assert_eq!(events, [aborted(StreamId(0), MessageId(0), true)]);
    assert_eq!(all.in_parts.keys().copied().collect::<Vec<_>>(), [(StreamId(1), true)]);
}

#[test]
fn what_comes_late_of_an_unordered_message_that_was_given_up_is_not_kept() {
    const UNORDERED: DataFlags = DataFlags::UNORDERED;
    let mut all = Interleaved::default();
    begin(&mut all, 0, UNORDERED, 5, 100);
    let skipped =
        |last| SkippedMessages { stream: StreamId(0), is_unordered: true, message_id: MessageId(last) };
    all.skip(skipped(5), |event| panic!("{event:?}"));
    all.skip(skipped(3), |event| panic!("{event:?}"));
    for late in [4, 5] {
        assert_eq!(accept(&mut all, chunk(0, UNORDERED.with(DataFlags::ENDING), late, 2, 100)), []);
    }
    assert!(is_held(&all, 0, 0));
    // Others are.
    begin(&mut all, 0, UNORDERED, 6, 100);
    begin(&mut all, 1, UNORDERED, 5, 100);
    begin(&mut all, 0, ORDERED, 5, 100);
    assert!(is_held(&all, 300, 3));
    // So are those that come to have the number again, be it after a reset or after all others.
    begin(&mut all, 0, UNORDERED, 5 + (1 << 30) + 1, 100);
    begin(&mut all, 0, UNORDERED, 5, 100);
    assert!(is_held(&all, 500, 5));
    let mut all = Interleaved::default();
    all.skip(skipped(5), |event| panic!("{event:?}"));
    all.reset(&[StreamId(0)], |event| panic!("{event:?}"));
    begin(&mut all, 0, UNORDERED, 5, 100);
    assert!(is_held(&all, 100, 1));
}
