//! Single rules of RFC 6525, and what becomes of a change of streams when the association ends.

use super::*;

/// Section 5.2.7, H5: the peer counts from the new number on as soon as it has answered, and the answer may be lost.
#[test]
fn what_is_acknowledged_while_an_association_reset_is_on_its_way_is_no_fault() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    wire.ends[0].reset_association(wire.now).unwrap();
    wire.drain();
    let next = Tsn(u32::MAX - 3).plus(1_000);
    let Chunk::Sack(sack) = sack(1_000, &[]) else { unreachable!() };
    assert_eq!(sack.cumulative_tsn_ack.next(), next);
    wire.inject(0, 0, &[Chunk::Sack(sack)]);
    assert_eq!(wire.ends[0].state(), AssociationState::Established);
    let next_tsns = Some(NextTsns { sender: Tsn(6), receiver: next });
    let performed = Parameter::Response { response: first_request(0), result: Outcome::Performed, next_tsns };
    inject(&mut wire, 0, vec![performed]);
    wire.send(0, 0..1, 100);
    assert_eq!(data_packets(&wire, 0)[0].tsns(), [next.0]);
}

/// Section 5.1.2: only the streams that are reset have to be at rest.
#[test]
fn a_request_does_not_wait_for_what_it_does_not_concern() {
    let ask: [fn(&mut Wire); 3] = [
        |wire| reset(wire, 0, ResetDirection::Outbound, &[1]),
        |wire| reset(wire, 0, ResetDirection::Inbound, &[2]),
        |wire| {
            wire.ends[0].add_streams(wire.now, 1, 1).unwrap();
            wire.drain();
        },
    ];
    for ask in ask {
        let mut wire = wire();
        wire.decide(|_| is_lost());
        send_on(&mut wire, 0, 2, 0..1);
        ask(&mut wire);
        assert_eq!(sent_by(&wire, 0).len(), 1);
    }
}

/// Section 5.2.3: a reset that the peer asks for can be put off, and is not if each end would wait for the other.
#[test]
fn a_reset_that_the_peer_asks_for_waits_for_our_request_unless_that_waits_for_the_peer() {
    let incoming = Parameter::IncomingSsnReset { request: first_request(1), streams: vec![StreamId(1)] };
    let with_a_request = |ask: fn(&mut Wire)| {
        let mut wire = wire();
        send_on(&mut wire, 0, 1, 0..1);
        wire.run_to_rest();
        wire.decide(|_| is_lost());
        ask(&mut wire);
        inject(&mut wire, 0, vec![incoming.clone()]);
        wire
    };
    let wire = with_a_request(|wire| reset(wire, 0, ResetDirection::Inbound, &[2]));
    assert_eq!(outcomes(&wire, 0), [Outcome::AlreadyInProgress]);
    let mut wire = with_a_request(|wire| {
        wire.ends[0].add_streams(wire.now, 1, 0).unwrap();
        wire.drain();
    });
    assert_eq!(outcomes(&wire, 0), [Outcome::InProgress]);
    let added =
        Parameter::Response { response: first_request(0), result: Outcome::Performed, next_tsns: None };
    inject(&mut wire, 0, vec![added]);
    let (_, last) = sent_by(&wire, 0).pop().unwrap();
    let expected = Parameter::OutgoingSsnReset {
        request: first_request(0).next(),
        response: first_request(1),
        last_assigned_tsn: Tsn(u32::MAX - 3),
        streams: vec![StreamId(1)],
    };
    assert_eq!(last, [expected]);
}

fn shutdown_from_peer(wire: &mut Wire) {
    // It acknowledges nothing.
    wire.inject(0, 0, &[Chunk::Shutdown(crate::chunk::Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 4) })]);
}

#[test]
fn an_association_reset_that_was_put_off_is_denied_when_the_peer_shuts_down() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    send_on(&mut wire, 0, 0, 0..1);
    let request = first_request(1);
    inject(&mut wire, 0, vec![Parameter::SsnTsnReset { request }]);
    shutdown_from_peer(&mut wire);
    let answer = |result| Parameter::Response { response: request, result, next_tsns: None };
    let sent: Vec<_> = sent_by(&wire, 0).into_iter().flat_map(|(_, parameters)| parameters).collect();
    assert_eq!(sent, [answer(Outcome::InProgress), answer(Outcome::Denied)]);
}

#[test]
fn nothing_is_asked_or_told_again_once_shutdown_has_been_sent() {
    let begin: [fn(&mut Wire); 2] = [
        |wire| reset(wire, 0, ResetDirection::Outbound, &[1]),
        |wire| inject(wire, 0, vec![Parameter::SsnTsnReset { request: first_request(1) }]),
    ];
    for begin in begin {
        let mut wire = wire();
        wire.decide(|_| is_lost());
        begin(&mut wire);
        wire.ends[0].shutdown(wire.now);
        wire.drain();
        wire.run_until(Instant::from_secs(8));
        assert_eq!(sent_by(&wire, 0).len(), 1);
        // T2-shutdown has run for 1, 2 and 4 s, and no other timer has expired.
        let shutdowns = wire.log.iter().filter(|sent| matches!(sent.chunks[..], [Chunk::Shutdown(_)]));
        assert_eq!(shutdowns.count(), 4);
        assert_eq!(wire.ends[0].snapshot().error_count, 3);
    }
}

#[test]
fn a_reset_that_waits_for_the_peers_data_is_carried_out_after_our_shutdown() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    let reset = Parameter::OutgoingSsnReset {
        request: first_request(1),
        response: first_request(0).minus(1),
        last_assigned_tsn: Tsn(6),
        streams: vec![StreamId(0)],
    };
    inject(&mut wire, 0, vec![reset]);
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.inject(0, 0, &[data(6, b"12345678")]);
    assert_eq!(changes(&wire, 0), [Event::StreamsChanged(StreamsChanged::InboundReset(listed(&[0])))]);
    assert_eq!(outcomes(&wire, 0), [Outcome::InProgress, Outcome::Performed]);
}

#[test]
fn a_request_is_not_repeated_by_a_timer_that_is_not_its_own() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
    wire.run_until(Instant::from_millis(500));
    wire.ends[0].handle_deadline(wire.now);
    wire.drain();
    assert_eq!((sent_by(&wire, 0).len(), wire.ends[0].snapshot().error_count), (1, 0));
}

/// Rule of RFC 6525, section 5.1.4.
#[test]
fn an_association_is_reset_again_30_seconds_after_it_was_and_no_sooner() {
    let mut wire = wire();
    wire.ends[0].reset_association(wire.now).unwrap();
    wire.drain();
    wire.run_to_rest();
    let reset_at = Instant::START + DELAY * 2;
    let too_soon = reset_at + Duration::from_nanos(29_999_999_999);
    assert_eq!(wire.ends[0].reset_association(too_soon), Err(ReconfigurationError::TooSoon));
    assert_eq!(wire.ends[0].reset_association(reset_at + Duration::from_secs(30)), Ok(()));
}

#[test]
fn a_request_that_is_under_way_when_the_peer_shuts_down_is_still_answered() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    send_on(&mut wire, 0, 2, 0..1);
    reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
    shutdown_from_peer(&mut wire);
    assert_eq!(changes(&wire, 0), []);
    let performed =
        Parameter::Response { response: first_request(0), result: Outcome::Performed, next_tsns: None };
    inject(&mut wire, 0, vec![performed]);
    let answered = answered(StreamChange::ResetOutbound(listed(&[1])), Outcome::Performed);
    let reset = Event::StreamsChanged(StreamsChanged::OutboundReset(listed(&[1])));
    assert_eq!(changes(&wire, 0), [reset, answered]);
}
