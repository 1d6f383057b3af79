//! Requests that the peer may make, the states in which it may, and their answers (RFC 6525, section 5.2).

use super::*;
use crate::chunk::Shutdown;

fn incoming(streams: &[u16]) -> Vec<Parameter> {
    let streams = streams.iter().copied().map(StreamId).collect();
    vec![Parameter::IncomingSsnReset { request: first_request(1), streams }]
}

fn association_reset(request: RequestSequence) -> Vec<Parameter> {
    vec![Parameter::SsnTsnReset { request }]
}

/// On which paths end 0 has sent RE-CONFIGs.
fn answered_on(wire: &Wire) -> Vec<usize> {
    let is_meant = |sent: &&Sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ReConfig(_)));
    wire.log.iter().filter(|sent| sent.from == 0).filter(is_meant).map(|sent| sent.path).collect()
}

#[test]
fn a_request_is_answered_where_it_has_come_from_but_not_at_an_address_that_is_not_confirmed() {
    for (is_confirmed, path) in [(true, 1), (false, 0)] {
        let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config()));
        tcbs[0].peer_addresses[1].is_confirmed = is_confirmed;
        let mut wire = Wire::with_tcbs(tcbs, [config(), config()]);
        wire.decide(|_| is_lost());
        let request = Parameter::AddOutgoingStreams { request: first_request(1), count: 1 };
        wire.inject(0, 1, &[Chunk::ReConfig(ReConfig { parameters: vec![request] })]);
        assert_eq!(answered_on(&wire), [path]);
    }
}

/// Our own request, by which a reset that the peer asks for begins, has to fit into a packet.
#[test]
fn the_peer_may_name_as_many_streams_as_our_own_request_can() {
    let wire = || {
        let tcbs = [0, 1].map(|end| Tcb { outbound_streams: 1_000, ..tcb(end, 1, &config()) });
        let mut wire = Wire::with_tcbs(tcbs, [config(), config()]);
        wire.decide(|_| is_lost());
        wire
    };
    let all: Vec<_> = (0..1_000).collect();
    let streams: Vec<_> = all.iter().copied().map(StreamId).collect();
    let error = wire().ends[0].reset_streams(Instant::START, ResetDirection::Outbound, &streams);
    let Err(ReconfigurationError::ListTooLong(most)) = error else { panic!("1,000 do not fit") };
    let asked_for = |count: usize| {
        let mut wire = wire();
        wire.send(0, 0..1, 100);
        inject(&mut wire, 0, incoming(&all[..count]));
        wire.inject(0, 0, &[sack(1, &[])]);
        sent_by(&wire, 0).pop().unwrap().1
    };
    let request = asked_for(most);
    let [Parameter::OutgoingSsnReset { streams, .. }] = &request[..] else { panic!("{request:?}") };
    assert_eq!(streams.len(), most);
    let denied = Parameter::Response { response: first_request(1), result: Outcome::Denied, next_tsns: None };
    assert_eq!(asked_for(most + 1), [denied]);
}

/// Section 5.2.2, E1, and section 5.2.3: what we have asked for is done whatever the policy says of others' wishes.
#[test]
fn a_reset_that_we_have_asked_for_is_taken_from_a_peer_whose_own_wishes_are_not() {
    let policy = ReconfigurationPolicy { resets_streams: false, ..ReconfigurationPolicy::default() };
    let refusing = SctpConfig { reconfiguration: policy, ..config() };
    for (answers, outcome) in
        [(first_request(0), Outcome::Performed), (first_request(0).minus(1), Outcome::Denied)]
    {
        let mut wire = Wire::new(1, refusing.clone());
        wire.decide(|_| is_lost());
        reset(&mut wire, 0, ResetDirection::Inbound, &[1]);
        let request = Parameter::OutgoingSsnReset {
            request: first_request(1),
            response: answers,
            last_assigned_tsn: Tsn(5),
            streams: vec![StreamId(1)],
        };
        inject(&mut wire, 0, vec![request]);
        assert_eq!(outcomes(&wire, 0), [outcome]);
        let told = changes(&wire, 0);
        let is_over = told.iter().any(|event| matches!(event, Event::ReconfigurationAnswered { .. }));
        assert_eq!(is_over, outcome == Outcome::Performed, "the request is over if that was its answer");
    }
}

#[test]
fn a_peer_may_reset_the_association_again_after_20_seconds() {
    let mut wire = wire();
    let first = first_request(1);
    inject(&mut wire, 0, association_reset(first));
    // The next request confirms that the answer has come.
    wire.run_until(Instant::from_nanos(19_999_999_999));
    inject(&mut wire, 0, association_reset(first.next()));
    wire.run_until(Instant::from_secs(20));
    inject(&mut wire, 0, association_reset(first.next().next()));
    let results: Vec<_> = outcomes(&wire, 0);
    assert_eq!(results, [Outcome::Performed, Outcome::Denied, Outcome::Performed]);
}

/// End 0 in each state that it passes through when one end shuts down, with what its own data has to wait for.
fn in_states() -> Vec<(Wire, AssociationState)> {
    let cases = [
        (AssociationState::Established, false, false, false),
        (AssociationState::ShutdownPending, true, true, false),
        (AssociationState::ShutdownSent, false, true, false),
        (AssociationState::ShutdownReceived, true, false, true),
        (AssociationState::ShutdownAckSent, false, false, true),
    ];
    let in_state = |(state, has_data, shuts_down, peer_shuts_down)| {
        let mut wire = wire();
        send_on(&mut wire, 0, 2, 0..1);
        wire.run_to_rest();
        wire.decide(|_| is_lost());
        if has_data {
            send_on(&mut wire, 0, 0, 1..2);
        }
        if shuts_down {
            wire.ends[0].shutdown(wire.now);
        }
        if peer_shuts_down {
            let cumulative_tsn_ack = Tsn(u32::MAX - 3);
            wire.hand_in(0, 0, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack })]);
        }
        wire.drain();
        assert_eq!(wire.ends[0].state(), state);
        (wire, state)
    };
    cases.into_iter().map(in_state).collect()
}

/// Requests that ask us to send more, or to count anew, come too late once one end shuts down; those that concern the
/// peer's own streams hold as long as its data is taken. SHUTDOWN ACK is the last word.
#[test]
fn each_request_is_answered_as_the_state_allows() {
    let request = first_request(1);
    let wishes = [
        incoming(&[2]),
        association_reset(request),
        vec![Parameter::AddIncomingStreams { request, count: 1 }],
    ];
    for wish in wishes {
        for (mut wire, state) in in_states() {
            inject(&mut wire, 0, wish.clone());
            let expected: &[Outcome] = match state {
                AssociationState::ShutdownAckSent => &[],
                // Its answer is what was asked for.
                AssociationState::Established => continue,
                _ => &[Outcome::Denied],
            };
            assert_eq!(outcomes(&wire, 0), expected, "{wish:?} in {state:?}");
        }
    }
    for (mut wire, state) in in_states() {
        inject(&mut wire, 0, vec![Parameter::AddOutgoingStreams { request, count: 1 }]);
        let answers = usize::from(state != AssociationState::ShutdownAckSent);
        assert_eq!(outcomes(&wire, 0), vec![Outcome::Performed; answers], "{state:?}");
    }
}

/// Section 5.2.1: a SACK comes with the answer, whether or not one is due, but not with the answer that gives TSNs
/// their new meaning.
#[test]
fn a_sack_comes_with_each_answer_but_the_one_from_which_on_its_number_means_nothing() {
    let request = first_request(1);
    let cases = [
        (vec![Parameter::AddOutgoingStreams { request, count: 1 }], true),
        (association_reset(request), false),
    ];
    for (parameters, is_acknowledged) in cases {
        for has_arrived in [true, false] {
            let mut wire = wire();
            wire.decide(|_| is_lost());
            if has_arrived {
                wire.inject(0, 0, &[data(6, b"12345678")]);
                assert!(wire.log.is_empty(), "a SACK waits for a second packet");
            }
            inject(&mut wire, 0, parameters.clone());
            let has_sack = wire.log.iter().any(|sent| sent.sack().is_some());
            assert_eq!((outcomes(&wire, 0).len(), has_sack), (1, is_acknowledged), "{parameters:?}");
        }
    }
}

/// Section 5.2.3: two ends that ask for the same at once.
#[test]
fn a_reset_that_our_own_request_covers_is_nothing_to_do() {
    let cases: [(&[u16], &[u16], Outcome); 5] = [
        (&[1, 2], &[1], Outcome::NothingToDo),
        (&[1, 2], &[1, 3], Outcome::InProgress),
        (&[], &[1, 3], Outcome::NothingToDo),
        (&[], &[], Outcome::NothingToDo),
        (&[1], &[], Outcome::InProgress),
    ];
    for (ours, asked, outcome) in cases {
        let mut wire = wire();
        for stream in 1..4 {
            send_on(&mut wire, 0, stream, 0..1);
        }
        wire.run_to_rest();
        wire.decide(|_| is_lost());
        reset(&mut wire, 0, ResetDirection::Outbound, ours);
        inject(&mut wire, 0, incoming(asked));
        assert_eq!(outcomes(&wire, 0), [outcome], "we reset {ours:?}, the peer asks for {asked:?}");
    }
}

/// Section 5.2.7, H5: all streams are reset then, and what the peer's reset has waited for never comes.
#[test]
fn a_reset_that_was_put_off_is_done_when_the_numbers_begin_anew() {
    let mut wire = wire();
    wire.decide(|_| is_lost());
    let reset = Parameter::OutgoingSsnReset {
        request: first_request(1),
        response: first_request(0).minus(1),
        last_assigned_tsn: Tsn(8),
        streams: vec![StreamId(0)],
    };
    inject(&mut wire, 0, vec![reset]);
    wire.ends[0].reset_association(wire.now).unwrap();
    wire.drain();
    // It should be the next, which is behind what was waited for in any case, but need not.
    let sender = Tsn(7);
    let next_tsns = Some(NextTsns { sender, receiver: Tsn(600) });
    let performed = Parameter::Response { response: first_request(0), result: Outcome::Performed, next_tsns };
    inject(&mut wire, 0, vec![performed]);
    assert_eq!(outcomes(&wire, 0), [Outcome::InProgress, Outcome::Performed]);
    let Chunk::Data(first) = data(6, b"12345678") else { unreachable!() };
    wire.inject(0, 0, &[Chunk::Data(Data { tsn: sender, ..first })]);
    assert_eq!(wire.messages(0).len(), 1);
}

/// The peer would take DATA with new numbers for old ones, acknowledge it, and throw it away when it hears the answer.
#[test]
fn a_heartbeat_of_its_own_does_not_confirm_that_the_answer_has_arrived() {
    let mut wire = wire();
    let mut is_first = true;
    wire.decide(move |sent| {
        let is_answer = sent.from == 0 && sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ReConfig(_)));
        if is_answer && core::mem::take(&mut is_first) { is_lost() } else { arrives() }
    });
    wire.ends[1].reset_association(wire.now).unwrap();
    wire.drain();
    wire.run_until(Instant::from_millis(100));
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    send_on(&mut wire, 0, 0, 0..1);
    wire.run_until(Instant::from_millis(1_000));
    assert!(data_packets(&wire, 0).is_empty());
    wire.run_to_rest();
    let [Event::StreamsChanged(StreamsChanged::AssociationReset), _, Event::Received(_)] =
        &wire.events[1][..]
    else {
        panic!("{:?}", wire.events[1]);
    };
}

#[test]
fn a_shutdown_waits_for_the_answer_to_an_association_reset_and_shows_that_it_has_come() {
    let mut wire = wire();
    send_on(&mut wire, 0, 0, 0..2);
    wire.run_until(Instant::from_secs(1));
    // Neither the first answers arrive nor that the last one has.
    wire.decide(|sent| {
        let is = |kind: fn(&Chunk) -> bool| sent.chunks.iter().any(kind);
        let is_answer = sent.from == 0 && is(|chunk| matches!(chunk, Chunk::ReConfig(_)));
        let is_lost_answer = is_answer && sent.at < Instant::from_secs(3);
        if is_lost_answer || is(|chunk| matches!(chunk, Chunk::HeartbeatAck(_))) {
            is_lost()
        } else {
            arrives()
        }
    });
    wire.ends[1].reset_association(wire.now).unwrap();
    wire.drain();
    wire.run_until(Instant::from_millis(1_100));
    send_on(&mut wire, 0, 0, 2..5);
    wire.ends[1].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2, 3, 4]);
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    }
}

/// Checks that messages handed over behind a reset in both directions wait for both answers.
#[test]
fn a_reset_that_the_peer_has_asked_for_and_that_waits_is_denied_when_all_shuts_down() {
    let mut wire = wire();
    wire.decide(|sent| {
        let is_request = sent.chunks.iter().any(|chunk| {
            matches!(chunk, Chunk::ReConfig(ReConfig { parameters }) if parameters[0].request().is_some())
        });
        if sent.from == 0 && is_request { is_lost() } else { arrives() }
    });
    send_on(&mut wire, 0, 1, 0..1);
    wire.run_until(Instant::from_millis(300));
    // Ours goes on first, and the peer does not hear of it.
    reset(&mut wire, 0, ResetDirection::Outbound, &[2]);
    reset(&mut wire, 1, ResetDirection::Both, &[1]);
    send_on(&mut wire, 1, 1, 10..11);
    wire.run_until(Instant::from_millis(500));
    assert_eq!(outcomes(&wire, 0), [Outcome::Performed, Outcome::InProgress]);
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(outcomes(&wire, 0)[2..], [Outcome::Denied]);
    assert_eq!((wire.received(0), wire.received(1)), (vec![10], vec![0]));
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    }
}

/// Section 5.2.6: a peer may answer our wish for streams of its own by adding them, and by nothing else. But it may add
/// streams of its own accord and never have heard of the wish, whose number it then still expects.
#[test]
fn streams_that_the_peer_adds_by_itself_do_not_answer_a_wish_that_was_lost() {
    let mut wire = wire();
    let mut asked = 0;
    wire.decide(move |sent| {
        let is_wish = sent.from == 0 && sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ReConfig(_)));
        asked += u32::from(is_wish);
        if is_wish && asked == 1 { is_lost() } else { arrives() }
    });
    wire.ends[0].add_streams(wire.now, 0, 1).unwrap();
    wire.drain();
    wire.ends[1].add_streams(wire.now, 2, 0).unwrap();
    wire.drain();
    wire.run_to_rest();
    // Asked again as soon as the peer has its own answer, not after an RTO.
    assert!(wire.now < Instant::from_secs(1), "{}", wire.now);
    wire.ends[0].add_streams(wire.now, 1, 0).unwrap();
    wire.drain();
    wire.run_to_rest();
    let answers = changes(&wire, 0).into_iter().filter(|event| !matches!(event, Event::StreamsChanged(_)));
    let expected = [
        answered(StreamChange::AddInbound(1), Outcome::Performed),
        answered(StreamChange::AddOutbound(1), Outcome::Performed),
    ];
    assert_eq!(answers.collect::<Vec<_>>(), expected);
    let added = Event::StreamsChanged(StreamsChanged::Added { outbound_streams: 7, inbound_streams: 5 });
    assert_eq!(changes(&wire, 1).last(), Some(&added));
}
