use proptest::prelude::*;

use super::*;
use crate::types::Ppid;

/// A message whose payload has so many bytes.
fn message(stream: u16, context: u64, len: usize) -> Message {
    Message {
        stream: StreamId(stream),
        ppid: Ppid(0),
        payload: vec![7; len].into(),
        is_unordered: false,
        context,
        options: None,
    }
}

fn numbers() -> MessageNumbers {
    MessageNumbers::Sequences(Vec::new())
}

/// Chunks of at most 100 bytes, each packet with room for so many: of each its stream, packet by packet.
fn served(scheduler: &mut Scheduler, chunks_a_packet: usize) -> Vec<Vec<u16>> {
    let mut numbers = numbers();
    let mut packets = Vec::new();
    while scheduler.next_rest() > 0 {
        let mut packet = Vec::new();
        while packet.len() < chunks_a_packet && scheduler.next_rest() > 0 && scheduler.may_follow() {
            packet.push(scheduler.take(100, Tsn(0), &mut numbers).unwrap().data.stream.0);
        }
        scheduler.end_packet();
        packets.push(packet);
    }
    packets
}

/// Three chunks on streams 0 and 2, as one message each, and as three messages on stream 1: the figures of RFC 8260.
fn figure(scheduling: StreamScheduling, interleaves: bool) -> Scheduler {
    let mut scheduler = Scheduler::new(scheduling, interleaves);
    scheduler.push(message(0, 0, 300));
    for context in 1..4 {
        scheduler.push(message(1, context, 100));
    }
    scheduler.push(message(2, 4, 300));
    scheduler
}

#[test]
fn round_robin_is_as_in_figures_1_and_2() {
    let order = |interleaves| served(&mut figure(StreamScheduling::RoundRobin, interleaves), 99).concat();
    assert_eq!(order(false), [0, 0, 0, 1, 2, 2, 2, 1, 1]);
    assert_eq!(order(true), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn first_come_first_served_does_not_interleave() {
    for interleaves in [false, true] {
        let mut scheduler = figure(StreamScheduling::FirstComeFirstServed, interleaves);
        assert_eq!(served(&mut scheduler, 99).concat(), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }
}

#[test]
fn round_robin_per_packet_fills_a_packet_with_one_stream() {
    let packets = |interleaves| served(&mut figure(StreamScheduling::RoundRobinPerPacket, interleaves), 2);
    // A message goes on in the next packet.
    let expected = [vec![0, 0], vec![0], vec![1, 1], vec![2, 2], vec![2], vec![1]];
    assert_eq!(packets(false), expected);
    let expected = [vec![0, 0], vec![1, 1], vec![2, 2], vec![0], vec![1], vec![2]];
    assert_eq!(packets(true), expected);
}

#[test]
fn the_highest_priority_goes_first_and_equals_take_turns() {
    let mut scheduler = Scheduler::new(StreamScheduling::Priority, false);
    scheduler.set_value(StreamId(1), 2);
    scheduler.set_value(StreamId(2), 1);
    for (context, stream) in [1, 2, 3, 2, 1, 3, 4].into_iter().enumerate() {
        scheduler.push(message(stream, context as u64, 100));
    }
    assert_eq!(served(&mut scheduler, 99).concat(), [3, 4, 3, 2, 2, 1, 1]);
}

#[test]
fn a_message_of_high_priority_waits_for_the_end_of_another_only_without_interleaving() {
    for (interleaves, expected) in [(false, [1, 1, 1, 0]), (true, [1, 0, 1, 1])] {
        let mut scheduler = Scheduler::new(StreamScheduling::Priority, interleaves);
        scheduler.set_value(StreamId(1), 9);
        scheduler.push(message(1, 0, 300));
        let mut numbers = numbers();
        let mut order = vec![scheduler.take(100, Tsn(0), &mut numbers).unwrap().data.stream.0];
        scheduler.push(message(0, 1, 100));
        order.extend(served(&mut scheduler, 99).concat());
        assert_eq!(order, expected);
    }
}

#[test]
fn a_priority_that_changes_holds_for_what_waits() {
    let mut scheduler = Scheduler::new(StreamScheduling::Priority, false);
    scheduler.push(message(0, 0, 100));
    scheduler.push(message(1, 1, 100));
    scheduler.set_value(StreamId(0), 1);
    assert_eq!(served(&mut scheduler, 99).concat(), [1, 0]);
}

/// Bytes taken of each stream once the first has sent `until`, with messages of these lengths on streams 0 and 1.
fn shares(scheduling: StreamScheduling, weights: [u16; 2], lengths: [usize; 2], until: usize) -> [usize; 2] {
    let mut scheduler = Scheduler::new(scheduling, false);
    for stream in [0, 1] {
        scheduler.set_value(StreamId(stream), weights[usize::from(stream)]);
        for context in 0..1_000 {
            scheduler.push(message(stream, context, lengths[usize::from(stream)]));
        }
    }
    let (mut taken, mut numbers) = ([0, 0], numbers());
    while taken[0] < until {
        let data = scheduler.take(1_000, Tsn(0), &mut numbers).unwrap().data;
        taken[usize::from(data.stream.0)] += data.payload.len();
    }
    taken
}

#[test]
fn shares_of_the_capacity_are_fair_or_as_weights_say_whatever_the_length_of_messages() {
    let fair = shares(StreamScheduling::FairCapacity, [3, 1], [100, 900], 18_000);
    assert_eq!(fair[0], 18_000);
    assert!(fair[1].abs_diff(18_000) <= 900, "{fair:?}");
    let weighted = shares(StreamScheduling::WeightedFairQueueing, [3, 1], [100, 900], 27_000);
    assert!(weighted[1].abs_diff(9_000) <= 900, "{weighted:?}");
    // A weight of nothing counts as one.
    let weighted = shares(StreamScheduling::WeightedFairQueueing, [2, 0], [500, 500], 20_000);
    assert!(weighted[1].abs_diff(10_000) <= 500, "{weighted:?}");
}

#[test]
fn a_stream_that_was_idle_claims_nothing_for_the_time_before() {
    let mut scheduler = Scheduler::new(StreamScheduling::FairCapacity, false);
    let mut numbers = numbers();
    for context in 0..100 {
        scheduler.push(message(0, context, 100));
    }
    for _ in 0..50 {
        scheduler.take(1_000, Tsn(0), &mut numbers).unwrap();
    }
    for context in 0..10 {
        scheduler.push(message(1, context, 100));
    }
    let order: Vec<u16> =
        (0..8).map(|_| scheduler.take(1_000, Tsn(0), &mut numbers).unwrap().data.stream.0).collect();
    assert_eq!(order, [1, 0, 1, 0, 1, 0, 1, 0]);
}

fn any_scheduling() -> impl Strategy<Value = StreamScheduling> {
    prop_oneof![
        Just(StreamScheduling::FirstComeFirstServed),
        Just(StreamScheduling::RoundRobin),
        Just(StreamScheduling::RoundRobinPerPacket),
        Just(StreamScheduling::Priority),
        Just(StreamScheduling::FairCapacity),
        Just(StreamScheduling::WeightedFairQueueing),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Act {
    DropRest(u16),
    EndPacket,
    Push { stream: u16, len: usize },
    Remove(u64),
    SetValue { stream: u16, value: u16 },
    Take,
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => (0_u16..4).prop_map(Act::DropRest),
        2 => Just(Act::EndPacket),
        4 => (0_u16..4, 1_usize..350).prop_map(|(stream, len)| Act::Push { stream, len }),
        1 => (0_u64..40).prop_map(Act::Remove),
        1 => (0_u16..4, 0_u16..4).prop_map(|(stream, value)| Act::SetValue { stream, value }),
        6 => Just(Act::Take),
    ]
}

proptest! {
    /// Whatever is pushed, taken out and cut: every byte leaves once, and each stream keeps its order.
    #[test]
    fn every_message_leaves_once_and_in_the_order_of_its_stream(
        scheduling in any_scheduling(),
        interleaves: bool,
        acts in proptest::collection::vec(any_act(), 0..120),
    ) {
        let mut scheduler = Scheduler::new(scheduling, interleaves);
        let mut numbers = numbers();
        // Of each message that waits: its stream, and how many bytes of it.
        let mut waiting: BTreeMap<u64, (u16, usize)> = BTreeMap::new();
        let mut begun: BTreeMap<u16, u64> = BTreeMap::new();
        let drain = core::iter::repeat_n(Act::Take, 600);
        for act in acts.into_iter().chain(drain) {
            match act {
                Act::DropRest(stream) => {
                    let dropped = scheduler.drop_rest(StreamId(stream), Tsn(0)).map(|(_, rest)| rest);
                    let expected = begun.remove(&stream).and_then(|arrival| waiting.remove(&arrival));
                    prop_assert_eq!(dropped, expected.map(|(_, rest)| rest));
                }
                Act::EndPacket => scheduler.end_packet(),
                Act::Push { stream, len } => {
                    let arrival = scheduler.push(message(stream, 0, len));
                    waiting.insert(arrival, (stream, len));
                }
                Act::Remove(arrival) => {
                    let stream = waiting.get(&arrival).map_or(0, |(stream, _)| *stream);
                    let is_begun = begun.get(&stream) == Some(&arrival);
                    let removed = scheduler.remove(StreamId(stream), arrival).map(|it| it.payload.len());
                    let expected = if is_begun { None } else { waiting.remove(&arrival) };
                    prop_assert_eq!(removed, expected.map(|(_, len)| len));
                }
                Act::SetValue { stream, value } => scheduler.set_value(StreamId(stream), value),
                Act::Take => {
                    let rest = scheduler.next_rest();
                    let Some(cut) = scheduler.take(100, Tsn(0), &mut numbers) else {
                        prop_assert!(waiting.is_empty() && rest == 0);
                        continue;
                    };
                    let stream = cut.data.stream.0;
                    let first = waiting.iter().find(|(_, (of, _))| *of == stream).map(|(arrival, _)| *arrival);
                    let arrival = first.unwrap();
                    let left = &mut waiting.get_mut(&arrival).unwrap().1;
                    prop_assert_eq!(rest, *left);
                    *left -= cut.data.payload.len();
                    if cut.data.flags.is_ending() {
                        prop_assert_eq!(*left, 0);
                        waiting.remove(&arrival);
                        begun.remove(&stream);
                    } else {
                        begun.insert(stream, arrival);
                        prop_assert!(interleaves || begun.len() == 1);
                    }
                }
            }
        }
        prop_assert!(waiting.is_empty() && scheduler.order.is_empty());
    }
}

/// Takes so many chunks of at most 1,000 bytes, and says of which streams they are.
fn taken(scheduler: &mut Scheduler, chunks: usize) -> Vec<u16> {
    let mut numbers = numbers();
    (0..chunks).map(|_| scheduler.take(1_000, Tsn(0), &mut numbers).expect("a chunk").data.stream.0).collect()
}

/// Ten messages on each of two streams, of these lengths.
fn two_streams(scheduling: StreamScheduling, lengths: [usize; 2]) -> Scheduler {
    let mut scheduler = Scheduler::new(scheduling, false);
    for context in 0..10 {
        for stream in [0, 1] {
            scheduler.push(message(stream, context, lengths[usize::from(stream)]));
        }
    }
    scheduler
}

/// Goyal, Vin, Cheng 1997, section 2: each starts where the one before it ends, and who starts first is served first.
#[test]
fn fair_shares_are_served_by_their_virtual_starts() {
    let mut scheduler = two_streams(StreamScheduling::FairCapacity, [100, 300]);
    let order = [0, 1, 0, 0, 1, 0, 0, 0, 1, 0];
    assert_eq!(taken(&mut scheduler.clone(), 10), order);
    // In the same order they are given back.
    let drained: Vec<_> = scheduler.drain().iter().map(|message| message.stream.0).collect();
    assert_eq!((&drained[..10], drained.len()), (&order[..], 20));
    let mut scheduler = two_streams(StreamScheduling::WeightedFairQueueing, [100, 100]);
    scheduler.set_value(StreamId(0), 3);
    assert_eq!(taken(&mut scheduler, 10), [0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
}

#[test]
fn only_priorities_change_the_order_of_what_waits() {
    for (scheduling, expected) in
        [(StreamScheduling::RoundRobin, [0, 1]), (StreamScheduling::Priority, [1, 1])]
    {
        let mut scheduler = two_streams(scheduling, [100, 100]);
        scheduler.set_value(StreamId(0), 5);
        assert_eq!(taken(&mut scheduler, 2), expected);
    }
    let mut scheduler = Scheduler::new(StreamScheduling::Priority, false);
    scheduler.push(message(0, 0, 100));
    assert_eq!(taken(&mut scheduler, 1), [0]);
    scheduler.set_value(StreamId(0), 5);
    assert_eq!(scheduler.next_rest(), 0, "a stream without messages has no place");
}

#[test]
fn first_come_is_whose_message_is_left_that_came_first() {
    for (scheduling, expected) in
        [(StreamScheduling::FirstComeFirstServed, [1, 0]), (StreamScheduling::RoundRobin, [0, 1])]
    {
        let mut scheduler = Scheduler::new(scheduling, false);
        let first = scheduler.push(message(0, 0, 100));
        scheduler.push(message(1, 1, 100));
        scheduler.push(message(0, 2, 100));
        assert!(scheduler.remove(StreamId(0), first).is_some());
        assert_eq!(served(&mut scheduler, 9), [expected]);
    }
}

#[test]
fn a_stream_without_a_message_has_no_turn() {
    let mut scheduler = Scheduler::new(StreamScheduling::RoundRobin, false);
    let first = scheduler.push(message(0, 0, 100));
    assert!(scheduler.remove(StreamId(0), first).is_some());
    assert!(scheduler.remove(StreamId(0), first).is_none());
    assert!(scheduler.order.is_empty() && scheduler.next_message().is_none());
    assert!(scheduler.take(100, Tsn(0), &mut numbers()).is_none());
    // Behind those that have waited when it has one again.
    scheduler.push(message(1, 1, 100));
    scheduler.push(message(0, 2, 100));
    assert_eq!(served(&mut scheduler, 9), [[1, 0]]);
}

/// Of a message of 300 bytes on stream 0, 100 have been cut elsewhere.
fn resumed(scheduler: &mut Scheduler) {
    let mut in_progress = InProgress::begin(message(0, 7, 300), 0, &mut numbers());
    assert_eq!(in_progress.cut(100, Tsn(0)).data.payload.len(), 100);
    scheduler.resume(in_progress);
}

#[test]
fn what_another_queue_has_begun_is_in_front_and_stays_there() {
    let mut scheduler = Scheduler::new(StreamScheduling::FirstComeFirstServed, false);
    scheduler.push(message(1, 1, 100));
    resumed(&mut scheduler);
    let behind = scheduler.push(message(0, 2, 50));
    assert_eq!(behind, 2, "each has a number of its own");
    assert_eq!(scheduler.lengths().collect::<Vec<_>>(), [200, 50, 100]);
    assert_eq!(scheduler.next_message().map(|message| message.context), Some(7));
    assert_eq!(scheduler.next_rest(), 200);
    // Not even if another message of its stream goes.
    assert!(scheduler.remove(StreamId(0), behind).is_some());
    assert_eq!(served(&mut scheduler, 1), [[0], [0], [1]]);
}

#[test]
fn a_message_in_progress_goes_on_whatever_becomes_of_other_streams() {
    let mut scheduler = Scheduler::new(StreamScheduling::Priority, false);
    scheduler.set_value(StreamId(0), 5);
    scheduler.set_value(StreamId(1), 1);
    scheduler.push(message(0, 0, 300));
    assert!(scheduler.take(100, Tsn(0), &mut numbers()).is_some());
    let one = scheduler.push(message(1, 1, 100));
    scheduler.push(message(2, 2, 100));
    assert!(scheduler.remove(StreamId(1), one).is_some());
    assert_eq!(served(&mut scheduler, 9), [[0, 0, 2]]);
}

#[test]
fn a_packet_of_one_stream_is_not_filled_by_another() {
    let mut scheduler = Scheduler::new(StreamScheduling::RoundRobinPerPacket, false);
    scheduler.push(message(0, 0, 100));
    assert!(scheduler.may_follow());
    assert_eq!(taken(&mut scheduler, 1), [0]);
    scheduler.push(message(1, 1, 100));
    scheduler.push(message(0, 2, 100));
    assert!(!scheduler.may_follow());
    scheduler.end_packet();
    assert!(scheduler.may_follow());
    assert_eq!(served(&mut scheduler, 9), [[1], [0]]);
    // With any other policy it is.
    let mut scheduler = two_streams(StreamScheduling::RoundRobin, [100, 100]);
    assert_eq!(taken(&mut scheduler, 1), [0]);
    assert!(scheduler.may_follow());
    scheduler.end_packet();
    assert_eq!(taken(&mut scheduler, 2), [1, 0]);
}

#[test]
fn what_waits_on_some_streams_is_found() {
    let mut scheduler = Scheduler::new(StreamScheduling::RoundRobin, false);
    scheduler.push(message(3, 0, 150));
    let on = |scheduler: &Scheduler| [2, 3].map(|stream| scheduler.has_on(|other| other.0 == stream));
    assert_eq!(on(&scheduler), [false, true]);
    let mut numbers = numbers();
    scheduler.take(100, Tsn(0), &mut numbers);
    assert_eq!((on(&scheduler), scheduler.lengths().sum::<usize>()), ([false, true], 50));
    scheduler.take(100, Tsn(0), &mut numbers);
    assert_eq!((on(&scheduler), scheduler.lengths().count()), ([false, false], 0));
}

#[test]
fn what_has_been_begun_is_given_back_first() {
    let mut scheduler = two_streams(StreamScheduling::RoundRobin, [150, 150]);
    let mut numbers = numbers();
    for _ in 0..3 {
        scheduler.take(100, Tsn(0), &mut numbers);
    }
    let drained: Vec<_> =
        scheduler.drain().iter().map(|message| (message.stream.0, message.context)).collect();
    assert_eq!((drained[0], drained.len()), ((1, 0), 19));
    for stream in [0, 1] {
        let contexts = drained.iter().filter(|(of, _)| *of == stream).map(|(_, context)| *context);
        assert_eq!(contexts.collect::<Vec<_>>(), (1 - u64::from(stream)..10).collect::<Vec<_>>());
    }
    assert!(scheduler.next_message().is_none() && !scheduler.has_on(|_| true));
}
