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
    all.accept(chunk, |event| events.push(event)).expect("it contradicts nothing");
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
    assert_eq!(all.take_part(key(stream, false, 1)).map(|part| part.payload.len()), Some(100));
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
    let insert = |fragment| Partial::default().insert(chunk(0, ORDERED, 0, fragment, 1));
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
    assert!(all.take_part(key(0, true, 0)).is_some());
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
    assert!(all.take_part(key(1, true, 4)).is_some());
    let mut events = Vec::new();
    all.finish(|event| events.push(event));
    let told = [aborted(StreamId(0), MessageId(1), false), aborted(StreamId(1), MessageId(4), true)];
    assert_eq!(events, told);
}

fn skip(all: &mut Interleaved, is_unordered: bool, id: u32) -> Vec<Event> {
    let mut events = Vec::new();
    let message_id = MessageId(id);
    all.skip(SkippedMessages { stream: StreamId(0), is_unordered, message_id }, |event| events.push(event));
    events
}

#[test]
fn a_skip_of_an_unordered_message_in_parts_ends_it_and_lets_another_begin() {
    let mut all = Interleaved::default();
    begin(&mut all, 0, DataFlags::UNORDERED, 1, 10);
    begin(&mut all, 0, ORDERED, 1, 10);
    assert!(all.take_part(key(0, true, 1)).is_some());
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
