//! Requests that are made while others are not over: each has its turn, and what lies between two resets stays there.

use super::*;

/// As data channels are closed (RFC 8831, section 6.7): one after the other, with last words on each.
#[test]
fn streams_that_are_reset_in_a_row_are_reset_in_two_requests_each_behind_its_last_message() {
    let mut wire = wire();
    for stream in 0..4 {
        wire.ends[0].send(wire.now, message(stream, u64::from(stream), 100)).unwrap();
        let one = [StreamId(stream)];
        wire.ends[0].reset_streams(wire.now, ResetDirection::Outbound, &one).unwrap();
    }
    wire.drain();
    wire.run_to_rest();
    assert_eq!(received(&wire, 1), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)]);
    let reset = |streams: &[u16]| Event::StreamsChanged(StreamsChanged::OutboundReset(listed(streams)));
    let done = |streams: &[u16]| answered(StreamChange::ResetOutbound(listed(streams)), Outcome::Performed);
    assert_eq!(changes(&wire, 0), [reset(&[0]), done(&[0]), reset(&[1, 2, 3]), done(&[1, 2, 3])]);
    let seen = |streams: &[u16]| Event::StreamsChanged(StreamsChanged::InboundReset(listed(streams)));
    assert_eq!(changes(&wire, 1), [seen(&[0]), seen(&[1, 2, 3])]);
    assert_eq!(sent_by(&wire, 0).len(), 2);
}

#[test]
fn messages_between_two_resets_of_a_stream_stay_between_them() {
    let mut wire = wire();
    for context in 0..3 {
        send_on(&mut wire, 0, 1, 2 * context..2 * context + 2);
        reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
    }
    send_on(&mut wire, 0, 1, 6..7);
    wire.run_to_rest();
    let expected = [(1, 0, 0), (1, 1, 1), (1, 0, 2), (1, 1, 3), (1, 0, 4), (1, 1, 5), (1, 0, 6)];
    assert_eq!(received(&wire, 1), expected);
    assert_eq!(sent_by(&wire, 0).len(), 3);
}

#[test]
fn requests_of_several_kinds_are_sent_one_at_a_time_in_the_order_in_which_they_were_made() {
    let mut wire = wire();
    send_on(&mut wire, 0, 1, 0..1);
    send_on(&mut wire, 1, 2, 1..2);
    reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
    wire.ends[0].add_streams(wire.now, 2, 0).unwrap();
    reset(&mut wire, 0, ResetDirection::Inbound, &[2]);
    wire.ends[0].add_streams(wire.now, 1, 0).unwrap();
    wire.ends[0].reset_association(wire.now).unwrap();
    assert_eq!(wire.ends[0].reset_association(wire.now), Err(ReconfigurationError::TooSoon));
    // Four streams, three more asked for.
    let most = u16::MAX - 7;
    assert_eq!(wire.ends[0].add_streams(wire.now, most + 1, 0), Err(ReconfigurationError::TooManyStreams));
    wire.run_to_rest();
    let kinds: Vec<_> = changes(&wire, 0)
        .into_iter()
        .filter_map(|event| match event {
            Event::ReconfigurationAnswered { change, result: Outcome::Performed } => Some(change),
            _ => None,
        })
        .collect();
    let expected = [
        StreamChange::ResetOutbound(listed(&[1])),
        StreamChange::AddOutbound(2),
        StreamChange::ResetInbound(listed(&[2])),
        StreamChange::AddOutbound(1),
        StreamChange::ResetAssociation,
    ];
    assert_eq!(kinds, expected);
    let added = |outbound_streams| {
        Event::StreamsChanged(StreamsChanged::Added { outbound_streams, inbound_streams: 4 })
    };
    let told = changes(&wire, 0);
    assert!(told.contains(&added(6)) && told.contains(&added(7)), "{told:?}");
}

#[test]
fn what_the_peer_asks_for_comes_before_what_waits() {
    let mut wire = wire();
    send_on(&mut wire, 0, 1, 0..1);
    send_on(&mut wire, 0, 2, 1..2);
    send_on(&mut wire, 0, 3, 2..3);
    for stream in [1, 2] {
        wire.ends[0].reset_streams(wire.now, ResetDirection::Outbound, &[StreamId(stream)]).unwrap();
    }
    // The first waits for its message, so that the peer's request finds both.
    reset(&mut wire, 1, ResetDirection::Inbound, &[3]);
    wire.run_to_rest();
    let seen = |stream| Event::StreamsChanged(StreamsChanged::InboundReset(listed(&[stream])));
    let told: Vec<_> =
        changes(&wire, 1).into_iter().filter(|event| matches!(event, Event::StreamsChanged(_))).collect();
    assert_eq!(told, [seen(1), seen(3), seen(2)]);
}

#[test]
fn a_message_between_two_resets_of_other_streams_is_behind_the_first_that_concerns_it() {
    let mut wire = wire();
    for end in 0..2 {
        send_on(&mut wire, 0, 2, 2 * end..2 * end + 1);
        reset(&mut wire, 0, ResetDirection::Outbound, &[2]);
        reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
        send_on(&mut wire, 0, 2, 2 * end + 1..2 * end + 2);
    }
    wire.run_to_rest();
    assert_eq!(received(&wire, 1), [(2, 0, 0), (2, 0, 1), (2, 1, 2), (2, 0, 3)]);
}

#[test]
fn what_has_not_been_asked_for_is_denied_when_the_peer_shuts_down_and_what_waited_for_it_is_sent() {
    let mut wire = wire();
    wire.decide(|sent| if sent.from == 0 { is_lost() } else { SmallVec::from_slice(&[DELAY]) });
    send_on(&mut wire, 0, 1, 0..1);
    for stream in [1, 1, 2] {
        reset(&mut wire, 0, ResetDirection::Outbound, &[stream]);
    }
    send_on(&mut wire, 0, 1, 1..2);
    wire.ends[1].shutdown(wire.now);
    wire.drain();
    wire.run_until(Instant::from_millis(500));
    wire.decide(|_| SmallVec::from_slice(&[DELAY]));
    wire.run_to_rest();
    let denied = |streams: &[u16]| answered(StreamChange::ResetOutbound(listed(streams)), Outcome::Denied);
    assert_eq!(changes(&wire, 0), [denied(&[1]), denied(&[1, 2])]);
    assert_eq!(received(&wire, 1), [(1, 0, 0), (1, 1, 1)]);
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
}
