//! The end of an association (RFC 9260, section 9).

use super::*;
use crate::chunk::{Shutdown, ShutdownAck};

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
    wire.inject(
        0,
        0,
        &[Chunk::HeartbeatAck(crate::chunk::Heartbeat::new(bytes::Bytes::from_static(b"old")).into_ack())],
    );
    wire.run_until(Instant::from_millis(1_899));
    assert_eq!(wire.log.len(), 1);
    wire.run_until(Instant::from_millis(1_900));
    assert_eq!(wire.log.len(), 2);
}
