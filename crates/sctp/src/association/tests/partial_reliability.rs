//! Messages that are given up (RFC 3758, RFC 7496): what is sent of them, what the peer is told and does, what the
//! layer above hears, and what a hostile peer can do with FORWARD TSN.

mod limits;

use super::*;
use crate::chunk::{ForwardTsn, SkippedStream};
use crate::config::LossDetection;
use crate::event::SendOptions;
use crate::extension::{Extension, Extensions};
use crate::reliability::Reliability;

fn partial() -> SctpConfig {
    SctpConfig { extensions: Extensions::of(&[Extension::PartialReliability]), ..quiet() }
}

fn with(reliability: Reliability, message: Message) -> Message {
    Message { options: Some(Box::new(SendOptions { reliability, ..SendOptions::default() })), ..message }
}

fn lifetime_ms(ms: u64) -> Reliability {
    Reliability::Lifetime(Duration::from_millis(ms))
}

fn send(wire: &mut Wire, message: Message) {
    let now = wire.now;
    wire.ends[0].send(now, message).unwrap();
    wire.drain();
}

/// Messages given up, as end 0 was told: their contexts, and if they had been sent.
fn abandoned(wire: &Wire) -> Vec<(u64, bool)> {
    let told = wire.events[0].iter().filter_map(|event| match event {
        Event::Abandoned { message, was_sent, .. } => Some((message.context, *was_sent)),
        _ => None,
    });
    told.collect()
}

/// Time, new cumulative TSN, and skipped streams with their numbers.
type Told = (u64, u32, Vec<(u16, u16)>);

/// The FORWARD TSN chunks that end 0 has sent: when in milliseconds, up to which of its TSNs, and the streams.
fn forwards(wire: &Wire) -> Vec<Told> {
    let mut all = Vec::new();
    for sent in wire.log.iter().filter(|sent| sent.from == 0) {
        for chunk in &sent.chunks {
            if let Chunk::ForwardTsn(forward) = chunk {
                let streams = forward.skipped.iter().map(|skipped| (skipped.stream.0, skipped.sequence.0));
                let up_to = forward.new_cumulative_tsn.distance_from(Tsn(u32::MAX - 3));
                all.push(((sent.at - Instant::START).as_millis(), up_to, streams.collect()));
            }
        }
    }
    all
}

fn forward_tsn(up_to: u32, streams: &[(u16, u16)]) -> Chunk {
    let skipped = streams.iter().map(|&(stream, sequence)| SkippedStream {
        stream: StreamId(stream),
        sequence: StreamSequence(sequence),
    });
    Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn: Tsn(6).plus(up_to), skipped: skipped.collect() })
}

/// A fragment on a stream for end 0, as number `tsn` of all chunks.
fn fragment(tsn: u32, stream: u16, sequence: u16, flags: DataFlags) -> Chunk {
    Chunk::Data(Data {
        flags,
        tsn: Tsn(6).plus(tsn),
        stream: StreamId(stream),
        sequence: StreamSequence(sequence),
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(b"payload!"),
    })
}

fn drained(wire: &Wire) {
    for end in &wire.ends {
        let snapshot = end.snapshot();
        assert_eq!((snapshot.outstanding_chunks, snapshot.send_buffered), (0, 0), "{snapshot:?}");
        assert_eq!(snapshot.receive_buffered, 0);
    }
}

#[test]
fn a_lost_message_whose_lifetime_is_over_is_skipped_and_what_waited_is_delivered() {
    for loss_detection in [LossDetection::MissIndications, LossDetection::Rack] {
        let mut wire = Wire::new(1, SctpConfig { loss_detection, ..partial() });
        lose_first(&mut wire, &[0]);
        send(&mut wire, with(lifetime_ms(20), message(0, 0, 1_400)));
        for context in 1..6 {
            send(&mut wire, message(0, context, 1_400));
        }
        wire.run_until(Instant::from_millis(600));
        assert_eq!(wire.received(1), [1, 2, 3, 4, 5], "{loss_detection:?}");
        assert_eq!(abandoned(&wire), [(0, true)]);
        let forwards = forwards(&wire);
        assert_eq!(forwards.len(), 1, "{forwards:?}");
        assert_eq!((forwards[0].1, &forwards[0].2), (0, &vec![(0, 0)]));
        let stats = wire.ends[0].snapshot().stats;
        assert_eq!((stats.abandoned_sent, stats.abandoned_unsent, stats.forward_tsns_sent), (1, 0, 1));
        assert_eq!(wire.ends[1].snapshot().stats.forward_tsns_received, 1);
        // The loss counts as one all the same: rule F5.
        assert!(wire.path(0, 0).ssthresh < u64::from(u32::MAX));
        assert_eq!(wire.path(0, 0).stats.retransmissions, 0);
        drained(&wire);
    }
}

#[test]
fn a_lost_message_is_sent_again_while_its_lifetime_lasts() {
    let mut wire = Wire::new(1, partial());
    lose_first(&mut wire, &[0]);
    send(&mut wire, with(lifetime_ms(2_000), message(0, 0, 1_400)));
    wire.run_to_rest();
    assert_eq!((wire.received(1), abandoned(&wire)), (vec![0], vec![]));
    drained(&wire);
}

/// The only message of all is lost: nothing shows it but T3-rtx, and FORWARD TSN runs under it, too.
#[test]
fn a_forward_tsn_that_is_lost_is_repeated_when_t3_rtx_expires() {
    let mut wire = Wire::new(1, partial());
    let mut lost = 0;
    wire.decide(move |sent| {
        if sent.from == 0 && lost < 3 {
            lost += 1;
            return is_lost();
        }
        arrives()
    });
    send(&mut wire, with(lifetime_ms(100), message(2, 0, 100)));
    wire.run_to_rest();
    assert_eq!(abandoned(&wire), [(0, true)]);
    let told = |at_ms| (at_ms, 0, vec![(2, 0)]);
    assert_eq!(forwards(&wire), [told(1_000), told(3_000), told(7_000)]);
    assert_eq!(wire.path(0, 0).stats.timeouts, 3);
    assert_eq!(wire.ends[0].snapshot().error_count, 0, "the answer shows that the peer is there");
    assert_eq!(wire.path(0, 0).error_count, 0);
    drained(&wire);
    // The stream goes on behind what was skipped.
    send(&mut wire, message(2, 1, 100));
    wire.run_to_rest();
    assert_eq!(wire.received(1), [1]);
}

#[test]
fn a_peer_that_never_answers_a_forward_tsn_is_unreachable_in_the_end() {
    let mut wire = Wire::new(1, SctpConfig { association_max_retrans: 2, ..partial() });
    wire.decide(|_| is_lost());
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 0, 100)));
    wire.run_to_rest();
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::PeerUnreachable)));
    assert_eq!(abandoned(&wire), [(0, true)], "and it is not told of twice");
}

#[test]
fn a_message_is_sent_again_as_often_as_its_limit_says() {
    for (limit, transmissions) in [(0, 1), (1, 2), (2, 3)] {
        let mut wire = Wire::new(1, partial());
        wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
        send(&mut wire, with(Reliability::Retransmissions(limit), message(0, 7, 100)));
        wire.run_to_rest();
        assert_eq!(data_packets(&wire, 0).len(), transmissions, "limit {limit}");
        assert_eq!(abandoned(&wire), [(7, true)]);
        drained(&wire);
    }
}

#[test]
fn what_has_arrived_is_not_given_up_whatever_time_has_passed() {
    let mut wire = Wire::new(1, partial());
    send(&mut wire, with(lifetime_ms(10), message(0, 0, 100)));
    wire.run_to_rest();
    assert_eq!((wire.received(1), abandoned(&wire)), (vec![0], vec![]));
}

/// A loss of one fragment makes all others useless, on their way or acknowledged; its own bytes leave the buffer.
#[test]
fn all_fragments_of_a_message_are_given_up_together() {
    let mut wire = Wire::new(1, partial());
    lose_first(&mut wire, &[1]);
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 0, 4_000)));
    for context in 1..4 {
        send(&mut wire, message(1, context, 1_400));
    }
    wire.run_until(Instant::from_millis(900));
    assert_eq!(abandoned(&wire), [(0, true)]);
    // The first fragment is acknowledged; the point goes over the others.
    assert_eq!(forwards(&wire).iter().map(|(_, up_to, _)| *up_to).collect::<Vec<_>>(), [2]);
    assert_eq!(wire.received(1), [1, 2, 3]);
    drained(&wire);
}

/// The window lets only a part of a long message out before its life ends. All of that arrives, so that only a TSN
/// that nobody sends can tell that nothing follows.
#[test]
fn a_message_whose_rest_expires_unsent_is_ended_by_a_tsn_of_its_own() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(3_000), ..partial() });
    send(&mut wire, with(lifetime_ms(150), message(3, 0, 100_000)));
    send(&mut wire, message(3, 1, 100));
    wire.run_to_rest();
    assert_eq!(abandoned(&wire), [(0, true)]);
    let forwards = forwards(&wire);
    let data: usize = data_packets(&wire, 0).iter().map(|sent| sent.tsns().len()).sum();
    let [(at_ms, up_to, streams)] = &forwards[..] else { panic!("{forwards:?}") };
    // All chunks but the one of the second message, and the TSN that stands for the rest.
    assert_eq!((*at_ms, *up_to, &streams[..]), (150, u32::try_from(data).unwrap() - 1, &[(3, 0)][..]));
    assert_eq!(wire.received(1), [1]);
    drained(&wire);
}

#[test]
fn what_waits_expires_at_its_time_and_makes_room() {
    let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(3_000), ..partial() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    for context in 0..6 {
        send(&mut wire, with(lifetime_ms(200), message(0, context, 1_452)));
    }
    let now = wire.now;
    assert!(matches!(wire.ends[0].send(now, message(0, 6, 8_000)), Err(SendError::BufferFull { .. })));
    wire.drain();
    wire.run_until(Instant::from_millis(199));
    assert_eq!(abandoned(&wire), []);
    wire.run_until(Instant::from_millis(200));
    // Three went out when the window was empty.
    assert_eq!(abandoned(&wire), [(3, false), (4, false), (5, false)]);
    assert!(wire.events[0].contains(&Event::SendBufferDrained { free: 10_000 - 3 * 1_452 }));
    assert_eq!(wire.ends[0].snapshot().stats.abandoned_unsent, 3);
}

#[test]
fn a_long_message_that_finds_no_room_in_a_buffer_that_is_half_empty_is_told_of_room_once_something_has_left()
{
    let mut wire = Wire::new(1, SctpConfig { send_buffer_bytes: 6_000, ..partial() });
    send(&mut wire, with(lifetime_ms(5_000), message(0, 0, 1_000)));
    send(&mut wire, message(1, 1, 1_400));
    let rooms = |wire: &Wire| {
        let told = wire.events[0].iter();
        told.filter(|event| matches!(event, Event::SendBufferDrained { .. })).count()
    };
    // Whoever tries again whenever there is said to be room comes to an end.
    for _ in 0..3 {
        assert_eq!(
            wire.ends[0].send(wire.now, message(1, 2, 4_000)),
            Err(SendError::BufferFull { wanted: 4_000, free: 3_600 })
        );
        wire.drain();
        assert_eq!(rooms(&wire), 0);
    }
    wire.run_to_rest();
    assert_eq!(rooms(&wire), 1);
    assert_eq!(wire.ends[0].send(wire.now, message(1, 2, 4_000)), Ok(()));
}

#[test]
fn what_was_given_up_is_counted_by_stream_and_policy_and_told_with_it() {
    use crate::reliability::ReliabilityPolicy;
    let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(3_000), ..partial() };
    let mut wire = Wire::new(1, config);
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    // Three fill the window, and are lost; the others wait.
    send(&mut wire, with(Reliability::Retransmissions(0), message(1, 0, 1_452)));
    send(&mut wire, with(lifetime_ms(200), message(1, 1, 1_452)));
    send(&mut wire, with(lifetime_ms(200), message(2, 2, 1_452)));
    send(&mut wire, with(lifetime_ms(200), message(2, 3, 1_452)));
    send(&mut wire, with(Reliability::Priority(1), message(2, 4, 1_452)));
    assert_eq!(wire.ends[0].abandoned_by_stream().count(), 0);
    // Room for it is made by the last of them.
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 5, 3_000)));
    wire.run_to_rest();
    let counts: Vec<_> =
        wire.ends[0].abandoned_by_stream().map(|of| (of.stream.0, of.policy, of.unsent, of.sent)).collect();
    let (lifetime, again, priority) =
        (ReliabilityPolicy::Lifetime, ReliabilityPolicy::Retransmissions, ReliabilityPolicy::Priority);
    assert_eq!(
        counts,
        [(0, again, 0, 1), (1, lifetime, 0, 1), (1, again, 0, 1), (2, lifetime, 1, 1), (2, priority, 1, 0)]
    );
    let stats = wire.ends[0].snapshot().stats;
    assert_eq!((stats.abandoned_unsent, stats.abandoned_sent), (2, 4));
    let told = wire.events[0].iter().filter_map(|event| match event {
        Event::Abandoned { message, policy, .. } => Some((message.context, *policy)),
        _ => None,
    });
    let mut told: Vec<_> = told.collect();
    told.sort_unstable();
    let expected = [(0, again), (1, lifetime), (2, lifetime), (3, lifetime), (4, priority), (5, again)];
    assert_eq!(told, expected);
}

#[test]
fn a_message_without_a_life_is_never_sent() {
    let mut wire = Wire::new(1, partial());
    send(&mut wire, with(lifetime_ms(0), message(0, 0, 100)));
    assert_eq!((abandoned(&wire), wire.log.len()), (vec![(0, false)], 0));
}

#[test]
fn messages_of_the_lowest_priority_make_room_for_others() {
    let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(1), ..partial() };
    let mut wire = Wire::new(1, config);
    let now = wire.now;
    // One packet is on its way, the rest waits.
    send(&mut wire, message(0, 0, 1_452));
    for (context, priority) in [(1, 5), (2, 1), (3, 5), (4, 3)] {
        send(&mut wire, with(Reliability::Priority(priority), message(0, context, 2_000)));
    }
    let offer = |wire: &mut Wire, message| wire.ends[0].send(now, message).is_ok();
    // Nobody counts for less than one of the lowest priority.
    assert!(!offer(&mut wire, with(Reliability::Priority(5), message(0, 5, 2_000))));
    assert_eq!(abandoned(&wire), []);
    // Of equals the last goes first.
    assert!(offer(&mut wire, with(Reliability::Priority(4), message(0, 6, 2_000))));
    wire.drain();
    assert_eq!(abandoned(&wire), [(3, false)]);
    // What would not be enough is not given up.
    assert!(!offer(&mut wire, with(Reliability::Priority(1), message(0, 7, 6_600))));
    assert!(offer(&mut wire, message(0, 8, 6_000)));
    wire.drain();
    assert_eq!(abandoned(&wire)[1..], [(1, false), (6, false), (4, false)]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 2, 8]);
    drained(&wire);
}

#[test]
fn without_the_agreement_of_the_peer_only_what_was_not_sent_is_given_up() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(1), ..quiet() });
    lose_first(&mut wire, &[0]);
    send(&mut wire, with(lifetime_ms(200), message(0, 0, 1_400)));
    send(&mut wire, with(lifetime_ms(200), message(0, 1, 1_400)));
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 2, 1_400)));
    wire.run_to_rest();
    assert_eq!((wire.received(1), abandoned(&wire)), (vec![0, 2], vec![(1, false)]));
    assert!(forwards(&wire).is_empty());
    drained(&wire);
}

#[test]
fn an_association_that_shuts_down_ends_once_the_peer_knows_what_was_given_up() {
    let mut wire = Wire::new(1, partial());
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    send(&mut wire, with(lifetime_ms(100), message(0, 0, 100)));
    let now = wire.now;
    wire.ends[0].shutdown(now);
    wire.drain();
    wire.run_until(Instant::from_millis(999));
    assert_eq!(wire.ends[0].state(), AssociationState::ShutdownPending);
    wire.run_to_rest();
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    }
    assert_eq!(abandoned(&wire), [(0, true)]);
}

/// Nothing is outstanding and the window of the peer closed: no SACK will come, and the end does not wait for one.
#[test]
fn an_association_that_shuts_down_ends_when_its_last_message_expires_unsent() {
    let config = partial();
    let tcbs = [0, 1].map(|end| Tcb { peer_rwnd: 0, ..tcb(end, 1, &config) });
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    send(&mut wire, with(lifetime_ms(300), message(0, 0, 100)));
    let now = wire.now;
    wire.ends[0].shutdown(now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(abandoned(&wire), [(0, false)]);
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    assert_eq!(wire.now, Instant::from_millis(300) + DELAY + DELAY + DELAY);
}

#[test]
fn a_list_of_streams_that_fills_a_packet_is_told_in_pieces() {
    let config = SctpConfig {
        initial_path_mtu: 576,
        inbound_streams: 400,
        outbound_streams: 400,
        initial_cwnd_bytes: Some(1_000_000),
        max_burst: u32::MAX,
        ..partial()
    };
    let wide = |end| Tcb { outbound_streams: 400, inbound_streams: 400, ..tcb(end, 1, &config) };
    let mut wire = Wire::with_tcbs([wide(0), wide(1)], [config.clone(), config.clone()]);
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    for stream in 0..400 {
        send(&mut wire, with(Reliability::Retransmissions(0), message(stream, stream.into(), 400)));
    }
    wire.run_to_rest();
    assert_eq!(abandoned(&wire).len(), 400);
    let lengths: Vec<usize> = forwards(&wire).iter().map(|(.., streams)| streams.len()).collect();
    // 576 bytes are 136 streams beside IP, SCTP and the chunk's own 8 bytes.
    assert_eq!(lengths, [134, 134, 132]);
    drained(&wire);
}

#[test]
fn a_forward_tsn_delivers_what_waits_and_advances_over_what_has_come() {
    let mut wire = Wire::new(1, partial());
    let whole = |tsn, stream, sequence| fragment(tsn, stream, sequence, DataFlags::WHOLE);
    wire.inject(0, 0, &[whole(1, 0, 1), whole(3, 1, 2), whole(4, 0, 2), whole(6, 1, 4)]);
    assert_eq!(wire.messages(0).len(), 0);
    wire.inject(0, 0, &[forward_tsn(2, &[(0, 0), (1, 1)])]);
    let got: Vec<_> = wire.messages(0).iter().map(|it| (it.stream.0, it.sequence.0)).collect();
    assert_eq!(got, [(0, 1), (0, 2), (1, 2)]);
    assert_eq!(wire.ends[0].receiver.cumulative_tsn(), Tsn(6).plus(4));
    // A skipped chunk that comes after all is a duplicate.
    wire.inject(0, 0, &[whole(0, 0, 0)]);
    let sack = wire.log.last().unwrap().sack().unwrap();
    assert_eq!((sack.duplicates.to_vec(), sack.cumulative_tsn_ack), (vec![Tsn(6)], Tsn(10)));
    assert_eq!(wire.messages(0).len(), 3);
}

#[test]
fn a_sack_answers_a_forward_tsn_as_it_answers_data() {
    let mut wire = Wire::new(1, partial());
    wire.inject(0, 0, &[forward_tsn(0, &[(0, 0)])]);
    assert!(wire.log.is_empty());
    wire.run_until(Instant::from_millis(200));
    assert_eq!(wire.log.last().unwrap().sack().unwrap().cumulative_tsn_ack, Tsn(6));
    // What is out of date is answered at once.
    wire.inject(0, 0, &[forward_tsn(0, &[(0, 5)])]);
    assert_eq!(wire.log.len(), 2);
    // And does nothing else.
    wire.inject(0, 0, &[fragment(1, 0, 1, DataFlags::WHOLE)]);
    assert_eq!(wire.messages(0).len(), 1);
}

#[test]
fn the_message_that_is_being_delivered_in_parts_ends_when_it_is_given_up() {
    let config = SctpConfig { partial_delivery_point_bytes: Some(10), ..partial() };
    let mut wire = Wire::new(1, config);
    let beginning = fragment(0, 0, 0, DataFlags::BEGINNING);
    wire.inject(
        0,
        0,
        &[beginning, fragment(1, 0, 0, DataFlags::MIDDLE), fragment(3, 0, 1, DataFlags::WHOLE)],
    );
    assert_eq!(wire.parts(0), [(PartPlace::First, 0, 16)]);
    wire.inject(0, 0, &[forward_tsn(2, &[(0, 0)])]);
    let (stream, sequence) = (StreamId(0), StreamSequence(0));
    let aborted = Event::PartialDeliveryAborted { stream, sequence, is_unordered: false };
    let place = wire.events[0].iter().position(|event| *event == aborted).unwrap();
    assert!(matches!(&wire.events[0][place + 1], Event::Received(message) if message.sequence.0 == 1));
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
}

#[test]
fn what_there_is_of_a_message_is_forgotten_when_it_is_given_up() {
    let mut wire = Wire::new(1, partial());
    let unordered = DataFlags::UNORDERED;
    let end = unordered.with(DataFlags::ENDING);
    wire.inject(0, 0, &[fragment(1, 0, 0, unordered), fragment(2, 0, 0, end)]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 16);
    wire.inject(0, 0, &[forward_tsn(2, &[])]);
    assert_eq!(wire.ends[0].snapshot().receive_buffered, 0);
    wire.inject(0, 0, &[fragment(3, 0, 0, DataFlags::WHOLE)]);
    assert_eq!(wire.messages(0).len(), 1);
}

#[test]
fn a_forward_tsn_that_was_not_agreed_on_is_an_unknown_chunk() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[fragment(1, 0, 1, DataFlags::WHOLE), forward_tsn(0, &[(0, 0)])]);
    let reported = wire.log.iter().flat_map(|sent| &sent.chunks).find_map(|chunk| match chunk {
        Chunk::Error(error) => Some(error.causes.clone()),
        _ => None,
    });
    let quoted = forward_tsn(0, &[(0, 0)]).to_bytes();
    assert_eq!(reported, Some(vec![Cause::UnrecognizedChunkType(quoted)]));
    assert_eq!((wire.messages(0).len(), wire.ends[0].receiver.cumulative_tsn()), (0, Tsn(5)));
}

/// As far as a Gap Ack Block reaches, and not beyond.
#[test]
fn a_forward_tsn_far_ahead_is_dropped_and_costs_nothing() {
    let mut wire = Wire::new(1, partial());
    for up_to in [65_535, 1 << 30, u32::MAX] {
        wire.inject(0, 0, &[forward_tsn(up_to, &[(0, 7)])]);
        assert_eq!(wire.ends[0].receiver.cumulative_tsn(), Tsn(5), "{up_to}");
    }
    wire.inject(0, 0, &[forward_tsn(65_534, &[(0, 7)])]);
    assert_eq!(wire.ends[0].receiver.cumulative_tsn(), Tsn(5 + 65_535));
    assert!(wire.messages(0).is_empty());
    wire.inject(0, 0, &[fragment(65_535, 0, 8, DataFlags::WHOLE)]);
    assert_eq!(wire.messages(0).len(), 1);
}

#[test]
fn streams_that_do_not_exist_and_ten_thousand_entries_are_skipped_over() {
    let mut wire = Wire::new(1, partial());
    wire.inject(0, 0, &[fragment(1, 3, 10_001, DataFlags::WHOLE)]);
    let entries: Vec<(u16, u16)> =
        (0..10_000).map(|n| if n % 2 == 0 { (3, n) } else { (4 + n, 1) }).collect();
    wire.inject(0, 0, &[forward_tsn(0, &entries)]);
    assert_eq!(wire.messages(0).len(), 0, "10,000 is still missing");
    wire.inject(0, 0, &[fragment(2, 3, 9_999, DataFlags::WHOLE), fragment(3, 3, 10_000, DataFlags::WHOLE)]);
    let got: Vec<u16> = wire.messages(0).iter().map(|it| it.sequence.0).collect();
    assert_eq!(got, [9_999, 10_000, 10_001]);
    assert!(!wire.ends[0].state.is_closed());
}

/// Checks that what was delivered in the meantime is not taken for what lies half the number space ahead.
#[test]
fn an_entry_for_what_was_delivered_long_ago_does_nothing() {
    let mut wire = Wire::new(1, partial());
    let whole = |tsn, sequence| fragment(tsn, 0, sequence, DataFlags::WHOLE);
    wire.inject(0, 0, &[whole(0, 0), whole(1, 1), whole(3, 3)]);
    wire.inject(0, 0, &[forward_tsn(2, &[(0, 0)])]);
    assert_eq!(wire.messages(0).len(), 2);
    wire.inject(0, 0, &[whole(4, 2)]);
    assert_eq!(wire.messages(0).len(), 4);
}
