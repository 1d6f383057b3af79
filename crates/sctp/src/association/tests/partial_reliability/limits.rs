//! Rules of giving up at their limits: how much room is made, what FORWARD TSN lists and when it is repeated, and what
//! its answer says of a path.

use super::*;

fn offer(wire: &mut Wire, message: Message) -> bool {
    let is_taken = wire.ends[0].send(wire.now, message).is_ok();
    wire.drain();
    is_taken
}

/// RFC 7496, section 3.2: what counts for less makes room.
#[test]
fn room_is_made_to_the_byte_and_no_message_more_is_given_up() {
    // 1,452 bytes are on their way and 4,000 wait, so that 4,548 are free.
    for (len, is_taken, given_up) in [
        (4_548, true, &[][..]),
        (4_549, true, &[2]),
        (6_548, true, &[2]),
        (6_549, true, &[2, 1]),
        (8_548, true, &[2, 1]),
        (8_549, false, &[]),
    ] {
        let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(1), ..partial() };
        let mut wire = Wire::new(1, config);
        wire.decide(|_| is_lost());
        send(&mut wire, message(0, 0, 1_452));
        for context in [1, 2] {
            send(&mut wire, with(Reliability::Priority(1), message(0, context, 2_000)));
        }
        assert_eq!(offer(&mut wire, message(0, 3, len)), is_taken, "{len} bytes");
        let expected: Vec<_> = given_up.iter().map(|&context| (context, false)).collect();
        assert_eq!(abandoned(&wire), expected, "{len} bytes");
    }
}

#[test]
fn a_priority_gives_nothing_up_where_the_peer_has_not_agreed_to_that() {
    let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(1), ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    send(&mut wire, message(0, 0, 1_452));
    send(&mut wire, with(Reliability::Priority(1), message(0, 1, 4_000)));
    assert!(!offer(&mut wire, message(0, 2, 8_548)));
    assert_eq!(abandoned(&wire), []);
}

#[test]
fn what_has_expired_makes_room_whatever_the_priority_of_who_needs_it() {
    let config = SctpConfig { send_buffer_bytes: 10_000, initial_cwnd_bytes: Some(1), ..partial() };
    for (len, is_taken) in [(8_548, true), (8_549, false)] {
        let mut wire = Wire::new(1, config.clone());
        wire.decide(|_| is_lost());
        send(&mut wire, message(0, 0, 1_452));
        send(&mut wire, with(lifetime_ms(100), message(0, 1, 4_000)));
        wire.run_until(Instant::from_millis(99));
        // No timer has told the association yet that the time has come.
        wire.now = Instant::from_millis(100);
        assert_eq!(offer(&mut wire, with(Reliability::Priority(u32::MAX), message(0, 2, len))), is_taken);
        assert_eq!(abandoned(&wire), [(1, false)]);
    }
}

#[test]
fn what_is_given_up_is_handed_back_without_its_options() {
    let mut wire = Wire::new(1, partial());
    send(&mut wire, with(lifetime_ms(0), message(1, 7, 100)));
    let told = wire.events[0].iter().find_map(|event| match event {
        Event::Abandoned { message, .. } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(told, Some(message(1, 7, 100)));
}

/// RFC 3758, section 3.5: a duplicate waits for a full RTT.
#[test]
fn a_forward_tsn_is_repeated_by_a_sack_once_more_than_a_round_trip_has_passed() {
    let mut wire = Wire::new(1, partial());
    wire.decide(|_| is_lost());
    send(&mut wire, message(1, 0, 1_000));
    wire.run_until(Instant::from_millis(100));
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(100)));
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 1, 1_000)));
    for context in 2..5 {
        send(&mut wire, message(0, context, 1_000));
    }
    for last in [2, 3, 4] {
        wire.inject(0, 0, &[sack(1, &[(2, last)])]);
    }
    let told = |at_ms| (at_ms, 1, vec![(0, 0)]);
    assert_eq!(forwards(&wire), [told(100)]);
    for at_ms in [150, 200, 201, 202] {
        wire.run_until(Instant::from_millis(at_ms));
        wire.inject(0, 0, &[sack(1, &[(2, 4)])]);
    }
    assert_eq!(forwards(&wire), [told(100), told(201)]);
}

/// RFC 3758, section 3.2.
#[test]
fn what_was_unordered_is_skipped_without_an_entry() {
    let mut wire = Wire::new(1, partial());
    wire.decide(|_| is_lost());
    let unordered = Message { is_unordered: true, ..message(1, 0, 100) };
    send(&mut wire, with(Reliability::Retransmissions(0), unordered));
    send(&mut wire, with(Reliability::Retransmissions(0), message(2, 1, 100)));
    wire.run_until(Instant::from_secs(1));
    assert_eq!(forwards(&wire), [(1_000, 1, vec![(2, 0)])]);
}

/// RFC 3758, section 3.5, C3 and C4: the list covers what is skipped now.
#[test]
fn a_stream_is_listed_until_the_last_of_it_that_was_given_up_is_acknowledged() {
    for (acked, expected) in [(1, vec![(0, 1), (1, 0)]), (2, vec![(1, 0)])] {
        let mut wire = Wire::new(1, partial());
        wire.decide(|_| is_lost());
        for (stream, context) in [(0, 0), (0, 1), (1, 2)] {
            send(&mut wire, with(Reliability::Retransmissions(0), message(stream, context, 100)));
        }
        wire.run_until(Instant::from_secs(1));
        assert_eq!(forwards(&wire), [(1_000, 2, vec![(0, 1), (1, 0)])]);
        // They have come after all, at least some.
        wire.inject(0, 0, &[sack(acked, &[])]);
        wire.run_until(Instant::from_secs(4));
        let forwards = forwards(&wire);
        assert_eq!(forwards[1], (forwards[1].0, 2, expected));
    }
}

/// RFC 9260, section 8.2, for FORWARD TSN: whether an answer tells which of two paths works.
#[test]
fn an_answer_to_a_forward_tsn_clears_the_errors_of_a_path_only_if_it_can_have_gone_no_other() {
    let run = |limit: u32, primaries: &[(u64, usize)], path: usize| {
        let mut wire = Wire::new(2, partial());
        wire.decide(|_| is_lost());
        send(&mut wire, with(Reliability::Retransmissions(limit), message(0, 0, 100)));
        for &(at_ms, path) in primaries {
            wire.run_until(Instant::from_millis(at_ms));
            assert!(wire.ends[0].set_primary(wire.now, address(1, path)));
        }
        wire.run_until(Instant::from_millis(7_500));
        let told_on: Vec<_> = wire
            .log
            .iter()
            .filter(|sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ForwardTsn(_))))
            .map(|sent| sent.path)
            .collect();
        let before = wire.path(0, path).error_count;
        wire.inject(0, 0, &[sack(1, &[])]);
        (told_on, before, wire.path(0, path).error_count)
    };
    // DATA and FORWARD TSN have gone to one address.
    assert_eq!(run(0, &[], 0), (vec![0, 0, 0], 3, 0));
    // FORWARD TSN has gone to the other in between.
    assert_eq!(run(0, &[(1_500, 1), (3_500, 0)], 0), (vec![0, 1, 0], 2, 2));
    // DATA has gone to both.
    assert_eq!(run(1, &[(1_500, 1)], 1), (vec![1, 1], 2, 2));
}

/// RFC 3758, section 3.5, C3: a point that has advanced is told whatever was told before.
#[test]
fn what_is_given_up_behind_a_forward_tsn_is_told_at_once() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(5_000), ..partial() });
    wire.decide(|_| is_lost());
    send(&mut wire, with(Reliability::Retransmissions(0), message(0, 0, 1_000)));
    send(&mut wire, with(lifetime_ms(150), message(1, 1, 100_000)));
    wire.run_until(Instant::from_millis(100));
    for last in [2, 3, 4] {
        wire.inject(0, 0, &[sack(0, &[(2, last)])]);
    }
    wire.run_until(Instant::from_millis(199));
    assert_eq!(abandoned(&wire), [(0, true), (1, true)]);
    let sent = forwards(&wire);
    let [(100, 0, first), (150, up_to, second)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((&first[..], &second[..]), (&[(0, 0)][..], &[(0, 0), (1, 0)][..]));
    assert!(*up_to > 3, "all that was sent, and the rest");
}
