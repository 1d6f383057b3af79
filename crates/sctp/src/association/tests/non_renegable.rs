//! NR-SACKs: what the peer has for good leaves the send buffer.

use super::*;
use crate::chunk::NrSack;
use crate::extension::{Extension, Extensions};

fn config() -> SctpConfig {
    SctpConfig { extensions: Extensions::of(&[Extension::NonRenegableSack]), ..quiet() }
}

/// An NR-SACK for end 0 whose cumulative ack is `acked` of its chunks.
fn nr_sack(acked: u32, gaps: &[(u16, u16)], non_renegable: &[(u16, u16)]) -> Chunk {
    let blocks =
        |blocks: &[(u16, u16)]| blocks.iter().map(|&(start, end)| GapAckBlock { start, end }).collect();
    Chunk::NrSack(NrSack {
        cumulative_tsn_ack: Tsn(u32::MAX - 4).plus(acked),
        a_rwnd: 100_000,
        gap_ack_blocks: blocks(gaps),
        non_renegable_blocks: blocks(non_renegable),
        duplicates: SmallVec::new(),
    })
}

/// An end whose chunks nobody takes, so that only what is injected acknowledges them.
fn unheard(config: SctpConfig, messages: u64) -> Wire {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(100_000), ..config });
    wire.decide(|_| is_lost());
    wire.send(0, 0..messages, 1_000);
    wire
}

fn buffered(wire: &Wire) -> u64 {
    wire.ends[0].snapshot().send_buffered
}

#[test]
fn what_stands_for_good_leaves_the_send_buffer_before_it_is_acknowledged_cumulatively() {
    let mut wire = unheard(config(), 5);
    assert_eq!(buffered(&wire), 5_000);
    wire.inject(0, 0, &[nr_sack(0, &[(2, 2)], &[(3, 4)])]);
    assert_eq!(buffered(&wire), 3_000);
    // The same once more, and the other for good now.
    wire.inject(0, 0, &[nr_sack(0, &[], &[(2, 4)])]);
    assert_eq!((buffered(&wire), wire.path(0, 0).flight_size), (2_000, 2 * 1_016));
    wire.inject(0, 0, &[nr_sack(4, &[], &[])]);
    assert_eq!(buffered(&wire), 1_000);
    wire.inject(0, 0, &[sack(5, &[])]);
    assert_eq!((buffered(&wire), wire.ends[0].snapshot().outstanding_chunks), (0, 0));
}

#[test]
fn what_stands_for_good_is_not_taken_back_and_never_sent_again() {
    let mut wire = unheard(config(), 4);
    wire.inject(0, 0, &[nr_sack(0, &[(2, 2)], &[(4, 4)])]);
    wire.inject(0, 0, &[nr_sack(0, &[(3, 3)], &[])]);
    // The second is in flight again, the fourth not.
    assert_eq!((buffered(&wire), wire.path(0, 0).flight_size), (3_000, 2 * 1_016));
    let before = wire.log.len();
    wire.run_until(Instant::from_secs(20));
    let again: Vec<u32> = wire.log[before..].iter().flat_map(Sent::tsns).collect();
    assert!(again.contains(&(u32::MAX - 3)) && !again.contains(&0), "{again:?}");
    wire.inject(0, 0, &[nr_sack(0, &[], &[(2, 4)])]);
    assert_eq!(buffered(&wire), 1_000);
    wire.inject(0, 0, &[sack(4, &[])]);
    assert_eq!(buffered(&wire), 0);
}

#[test]
fn a_peer_that_never_acknowledges_what_it_has_for_good_is_aborted() {
    let mut wire = unheard(config(), 4);
    wire.inject(0, 0, &[nr_sack(0, &[], &[(3, 4)])]);
    wire.inject(0, 0, &[sack(2, &[])]);
    assert!(matches!(wire.events[0].last(), Some(Event::Closed(CloseReason::Aborted(_)))));
    // Both messages that the peer had were received, and are not reported as failed.
    assert!(!wire.events[0].iter().any(|event| matches!(event, Event::SendFailed { .. })));
}

#[test]
fn a_receiver_tells_all_that_has_arrived_for_good_and_a_short_buffer_is_enough_for_a_long_gap() {
    for (extensions, blocked) in [(Extensions::NONE, true), (config().extensions, false)] {
        let config = SctpConfig { extensions, send_buffer_bytes: 8_000, ..config() };
        let mut wire = Wire::new(1, config);
        lose_first(&mut wire, &[0]);
        wire.send(0, 0..8, 1_000);
        wire.run_until(Instant::from_millis(110));
        let is_refused = wire.ends[0].send(wire.now, message(0, 8, 1_000)).is_err();
        assert_eq!(is_refused, blocked);
        let nr_sacks = wire.log.iter().flat_map(|sent| &sent.chunks);
        let is_told =
            nr_sacks.filter(|chunk| matches!(chunk, Chunk::NrSack(sack) if sack.gap_ack_blocks.is_empty()));
        assert_eq!(is_told.count() > 0, !blocked);
        wire.drain();
        wire.run_to_rest();
        assert_eq!(wire.received(1), (0..if blocked { 8 } else { 9 }).collect::<Vec<_>>());
    }
}

#[test]
fn an_nr_sack_that_was_not_agreed_on_is_as_unknown_as_ever() {
    let mut wire = unheard(quiet(), 2);
    wire.inject(0, 0, &[nr_sack(2, &[], &[]), sack(1, &[])]);
    assert_eq!(buffered(&wire), 2_000, "neither it nor what follows it is read");
}

proptest::proptest! {
    /// Whatever a peer says, and takes back, the books of the sender are in order.
    #[test]
    fn any_blocks_leave_the_sender_consistent(
        script in proptest::collection::vec(
            (0_u32..4, proptest::collection::vec((0_u16..24, 0_u16..6), 0..4), 0_usize..5),
            0..20,
        ),
    ) {
        let mut wire = unheard(config(), 20);
        let mut acked = 0;
        for (step, blocks, split) in script {
            acked = (acked + step).min(20);
            let room = u16::try_from(20 - acked).unwrap();
            let blocks: Vec<_> =
                blocks.iter().map(|&(start, len)| (start.min(room), (start + len).min(room))).collect();
            let (gaps, non_renegable) = blocks.split_at(split.min(blocks.len()));
            if !wire.ends[0].state.is_closed() {
                wire.inject(0, 0, &[nr_sack(acked, gaps, non_renegable)]);
            }
            let next = wire.now + Duration::from_millis(700);
            wire.run_until(next);
        }
    }
}

#[test]
fn a_message_that_stands_for_good_when_all_ends_is_said_to_have_arrived() {
    let config = SctpConfig { report_acknowledged: true, ..config() };
    let mut wire = unheard(config, 3);
    wire.inject(0, 0, &[nr_sack(0, &[], &[(2, 2)])]);
    wire.inject(0, 0, &[Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() })]);
    let fates: Vec<(u64, bool)> = wire.events[0]
        .iter()
        .filter_map(|event| match event {
            Event::Acknowledged { context } => Some((*context, true)),
            Event::SendFailed { message, .. } => Some((message.context, false)),
            _ => None,
        })
        .collect();
    assert_eq!(fates, [(1, true), (0, false), (2, false)]);
}
