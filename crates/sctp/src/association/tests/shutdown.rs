//! The end of an association (RFC 9260, section 9).

use super::*;
use crate::chunk::{Heartbeat, Shutdown, ShutdownAck, ShutdownComplete};

#[test]
fn shutdown_delivers_what_is_queued_on_both_sides() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..50, 1_000);
    wire.send(1, 100..150, 1_000);
    wire.ends[0].shutdown(wire.now);
    assert_eq!(wire.ends[0].send(wire.now, message(0, 1, 10)), Err(SendError::ShuttingDown));
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..50).collect::<Vec<_>>());
    assert_eq!(wire.received(0), (100..150).collect::<Vec<_>>());
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)), "end {end}");
    }
}

#[test]
fn the_last_chunk_of_a_shutdown_asks_for_its_sack_at_once() {
    let mut wire = Wire::new(1, quiet());
    wire.ends[0].send(wire.now, message(0, 0, 100)).unwrap();
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(
        wire.now,
        Instant::from_millis(5 * 50),
        "DATA, SACK, SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE"
    );
}

#[test]
fn an_abort_reaches_the_peer_with_its_reason_and_is_not_answered() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..9, 1_000);
    let cause = Cause::UserInitiatedAbort(bytes::Bytes::from_static(b"enough"));
    wire.ends[0].abort(wire.now, cause.clone());
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::Aborted(cause.clone()))));
    assert_eq!(wire.events[1].last(), Some(&Event::Closed(CloseReason::PeerAborted(vec![cause]))));
    assert!(matches!(wire.log.iter().rfind(|sent| sent.from == 0).unwrap().chunks[..], [Chunk::Abort(_)]));
    let failed = wire.events[0].iter().filter(|event| matches!(event, Event::SendFailed { .. })).count();
    assert_eq!(failed, 9);
}

#[test]
fn both_may_shut_down_at_the_same_time() {
    let mut wire = Wire::new(1, quiet());
    for end in [0, 1] {
        wire.ends[end].shutdown(wire.now);
    }
    wire.drain();
    wire.run_to_rest();
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)), "end {end}");
    }
}

#[test]
fn a_lost_shutdown_is_repeated_by_t2() {
    let mut wire = Wire::new(1, quiet());
    let mut count = 0;
    wire.decide(move |_| {
        count += 1;
        if count == 1 { is_lost() } else { arrives() }
    });
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    assert_eq!(wire.log[1].at, Instant::from_secs(1));
}

#[test]
fn the_guard_ends_a_shutdown_that_never_does() {
    let config = SctpConfig { shutdown_guard: Some(Duration::from_secs(30)), ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.now, Instant::from_secs(30));
    assert!(matches!(wire.events[0].last(), Some(Event::Closed(CloseReason::Aborted(_)))));
}

#[test]
fn data_in_shutdown_sent_is_answered_with_shutdown_at_once() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    let before = wire.log.len();
    let first = 6;
    wire.inject(0, 0, &[data(first + 1, b"behind a gap")]);
    let [answer] = &wire.log[before..] else { panic!("{:?}", &wire.log[before..]) };
    assert!(matches!(&answer.chunks[..], [Chunk::Sack(_), Chunk::Shutdown(_)]), "{:?}", answer.chunks);
    wire.inject(0, 0, &[data(first, b"the gap")]);
    let answer = wire.log.last().unwrap();
    let expected = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(first).plus(1) });
    assert_eq!(answer.chunks, [expected]);
}

#[test]
fn a_shutdown_ack_out_of_season_changes_nothing() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[Chunk::ShutdownAck(ShutdownAck)]);
    assert_eq!(wire.ends[0].state(), AssociationState::Established);
    assert!(wire.log.is_empty() && wire.events[0].is_empty());
}

#[test]
fn what_a_pausing_reader_has_not_taken_comes_before_the_end() {
    let mut wire = Wire::new(1, quiet());
    wire.ends[1].pause_delivery();
    wire.send(0, 0..3, 100);
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2]);
    assert_eq!(wire.events[1].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
}

#[test]
fn whatever_the_peer_still_sends_restarts_t2() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_until(Instant::from_millis(900));
    wire.inject(0, 0, &[Chunk::HeartbeatAck(Heartbeat::new(bytes::Bytes::from_static(b"old")).into_ack())]);
    wire.run_until(Instant::from_millis(1_899));
    assert_eq!(wire.log.len(), 1);
    wire.run_until(Instant::from_millis(1_900));
    assert_eq!(wire.log.len(), 2);
}

/// End 0 in each state, with nothing that its peer would have to answer under way.
fn in_each_state() -> Vec<(Wire, AssociationState)> {
    let shutdown = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 4) });
    let cases = [
        (AssociationState::Established, false, false, false),
        (AssociationState::ShutdownPending, true, true, false),
        (AssociationState::ShutdownSent, false, true, false),
        (AssociationState::ShutdownReceived, true, false, true),
        (AssociationState::ShutdownAckSent, false, false, true),
    ];
    let wires = cases.map(|(state, has_data, shuts_down, peer_shuts_down)| {
        let mut wire = Wire::new(1, quiet());
        wire.decide(|_| is_lost());
        if has_data {
            wire.send(0, 0..1, 100);
        }
        if shuts_down {
            wire.ends[0].shutdown(wire.now);
            wire.drain();
        }
        if peer_shuts_down {
            wire.inject(0, 0, std::slice::from_ref(&shutdown));
        }
        assert_eq!(wire.ends[0].state(), state);
        wire.log.clear();
        wire.events[0].clear();
        (wire, state)
    });
    wires.into()
}

#[test]
fn shutdown_complete_counts_in_shutdown_ack_sent_alone() {
    for (mut wire, state) in in_each_state() {
        wire.inject(0, 0, &[Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: false })]);
        let is_closed = wire.ends[0].state() == AssociationState::Closed;
        assert_eq!(is_closed, state == AssociationState::ShutdownAckSent, "{state:?}");
        assert_eq!(wire.events[0].len(), usize::from(is_closed));
    }
}

/// Section 6: DATA is received up to SHUTDOWN-SENT on the side that shuts down, and no longer on the other.
#[test]
fn data_after_the_peers_shutdown_is_neither_delivered_nor_acknowledged() {
    for (mut wire, state) in in_each_state() {
        for tsn in [6, 7] {
            wire.inject(0, 0, &[data(tsn, b"late")]);
        }
        let is_taken =
            !matches!(state, AssociationState::ShutdownReceived | AssociationState::ShutdownAckSent);
        let delivered = if is_taken { 2 } else { 0 };
        assert_eq!(wire.events[0].len(), delivered, "{state:?}");
        assert_eq!(wire.ends[0].snapshot().cumulative_tsn_received, Tsn(5 + delivered as u32));
        assert_eq!(wire.log.is_empty(), !is_taken, "{state:?}: {:?}", wire.log);
    }
}

/// Rule of RFC 9260, section 8.3.
#[test]
fn heartbeats_are_answered_until_shutdown_or_its_answer_is_sent() {
    for (mut wire, state) in in_each_state() {
        wire.inject(0, 0, &[Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"are you there")))]);
        let is_answered =
            !matches!(state, AssociationState::ShutdownSent | AssociationState::ShutdownAckSent);
        let answers = wire.log.iter().flat_map(|sent| &sent.chunks);
        let answers = answers.filter(|chunk| matches!(chunk, Chunk::HeartbeatAck(_))).count();
        assert_eq!(answers, usize::from(is_answered), "{state:?}");
    }
}

#[test]
fn whatever_the_peer_sends_in_shutdown_sent_clears_the_count_of_errors() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    // T2-shutdown runs for 1, 2 and 4 s.
    wire.run_until(Instant::from_secs(7));
    assert_eq!(wire.ends[0].snapshot().error_count, 3);
    wire.inject(0, 0, &[data(6, b"still there")]);
    assert_eq!(wire.ends[0].snapshot().error_count, 0);
}

#[test]
fn a_shutdown_that_is_not_answered_is_repeated_on_the_other_path() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_until(Instant::from_secs(4));
    let sent: Vec<_> = wire.log.iter().map(|sent| (sent.at, sent.path)).collect();
    let at = Instant::from_secs;
    assert_eq!(sent, [(at(0), 0), (at(1), 1), (at(2), 0), (at(4), 1)]);
}

#[test]
fn a_shutdown_acknowledges_what_it_says_it_does() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..3, 100);
    wire.inject(0, 0, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 2) })]);
    assert_eq!((wire.ends[0].snapshot().outstanding_chunks, wire.path(0, 0).flight_size), (1, 116));
    wire.inject(0, 0, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 1) })]);
    assert_eq!(wire.ends[0].state(), AssociationState::ShutdownAckSent);
}

#[test]
fn in_shutdown_sent_the_peer_is_told_that_the_window_has_opened() {
    let config = SctpConfig { receive_buffer_bytes: 5_000, sack_frequency: 1, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    let whole = |number, sequence, len| {
        let payload = vec![0; len].into();
        let (tsn, stream, sequence) = (Tsn(6).plus(number), StreamId(0), StreamSequence(sequence));
        Chunk::Data(Data { flags: DataFlags::WHOLE, tsn, stream, sequence, ppid: Ppid(0), payload })
    };
    wire.inject(0, 0, &[whole(0, 1, 3_400)]);
    assert_eq!(wire.log.last().and_then(Sent::sack).map(|sack| sack.a_rwnd), Some(1_600));
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    // What it has waited for: both are passed on.
    wire.inject(0, 0, &[whole(1, 0, 10)]);
    let Some(Sent { chunks, .. }) = wire.log.last() else { unreachable!("something has been sent") };
    let [Chunk::Sack(sack), last] = &chunks[..] else { panic!("{chunks:?}") };
    let shutdown = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(7) });
    assert_eq!((sack.cumulative_tsn_ack, sack.a_rwnd, last), (Tsn(7), 5_000, &shutdown));
    // It has been told.
    wire.inject(0, 0, &[whole(2, 2, 10)]);
    assert!(matches!(wire.log.last().unwrap().chunks[..], [Chunk::Shutdown(_)]));
}

/// The first path is down both ways. Only end 0 knows, and has left it: end 1 has sent nothing that could tell it.
#[test]
fn a_shutdown_is_answered_on_the_path_that_it_came_by() {
    for is_shutdown_lost in [false, true] {
        let mut wire = Wire::new(2, quiet());
        assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
        let mut count = 0;
        wire.decide(move |sent| {
            count += usize::from(sent.path == 1);
            let is_lost_answer = is_shutdown_lost && count == 2;
            if sent.path == 0 || is_lost_answer { is_lost() } else { arrives() }
        });
        wire.ends[0].shutdown(wire.now);
        wire.drain();
        wire.run_to_rest();
        for end in [0, 1] {
            let reason = CloseReason::ShutdownComplete;
            assert_eq!(wire.events[end].last(), Some(&Event::Closed(reason)), "end {end}");
        }
        let answers = wire.log.iter().filter(|sent| matches!(sent.chunks[..], [Chunk::ShutdownAck(_)]));
        assert_eq!(answers.map(|sent| sent.path).next(), Some(1));
        if !is_shutdown_lost {
            assert_eq!(wire.now, Instant::from_millis(3 * 50), "SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE");
        }
    }
}

#[test]
fn a_shutdown_that_comes_again_by_another_path_is_answered_there() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|_| is_lost());
    for path in [0, 1, 0] {
        wire.inject(1, path, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(0) })]);
        let answer = wire.log.last().unwrap();
        assert!(matches!(answer.chunks[..], [Chunk::ShutdownAck(_)]), "{:?}", answer.chunks);
        assert_eq!((answer.from, answer.path), (1, path));
    }
}
