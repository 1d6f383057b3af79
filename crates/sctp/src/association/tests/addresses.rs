//! Our own changes of addresses, one request and one answer at a time (RFC 5061, section 5.1).

mod peer;

use super::*;
use crate::addressing::{AddressError, AddressEvent};
use crate::chunk::{AddressChange, Asconf, AsconfAck, AsconfResponse, AsconfSerial, Heartbeat, kind};
use crate::event::SendOptions;
use crate::extension::{Extension, Extensions};
use crate::reliability::Reliability;
use AddressChange::{Add, Delete};

/// Two ends with so many addresses each, between which nothing arrives.
fn wire(paths: usize) -> Wire {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let mut wire = Wire::new(paths, SctpConfig { extensions, unauthenticated_addresses: true, ..quiet() });
    wire.decide(|_| is_lost());
    wire
}

fn change(wire: &mut Wire, changes: &[AddressChange]) -> Result<(), AddressError> {
    let result = wire.ends[0].change_addresses(wire.now, changes);
    wire.drain();
    result
}

/// The serial number of request `number` of end 0.
fn serial(number: u32) -> AsconfSerial {
    AsconfSerial(tcb(0, 1, &quiet()).local_initial_tsn.0).plus(number)
}

/// Responses to single changes: the correlation identifier of each, and the causes for which it was not done.
type Responses<'a> = &'a [(u32, &'a [Cause])];

/// End 1 answers request `number`, with what it says of single changes.
fn answer(wire: &mut Wire, number: u32, responses: Responses<'_>) {
    let of =
        |&(correlation, causes): &(u32, &[Cause])| AsconfResponse { correlation, causes: causes.to_vec() };
    let responses = responses.iter().map(of).collect();
    wire.inject(0, 0, &[Chunk::AsconfAck(AsconfAck { serial: serial(number), responses })]);
}

/// The requests that end 0 has sent: when in milliseconds, by which path, and the chunk.
fn requests(wire: &Wire) -> Vec<(u64, usize, Asconf)> {
    let chunks = wire.log.iter().filter(|sent| sent.from == 0);
    let found = chunks.flat_map(|sent| {
        sent.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Asconf(asconf) => {
                Some(((sent.at - Instant::START).as_millis(), sent.path, asconf.clone()))
            }
            _ => None,
        })
    });
    found.collect()
}

/// Changes that have been answered, and if they were accepted.
fn answers(wire: &Wire) -> Vec<(AddressChange, bool)> {
    let found = wire.events[0].iter().filter_map(|event| match event {
        Event::Addresses(AddressEvent::Answered { change, is_accepted }) => {
            Some((change.clone(), *is_accepted))
        }
        _ => None,
    });
    found.collect()
}

fn new_address(number: usize) -> IpAddr {
    address(0, 10 + number)
}

fn shortage() -> Cause {
    Cause::ResourceShortage(bytes::Bytes::new())
}

#[test]
fn sixteen_changes_wait_for_the_answer_to_the_one_before_and_no_more() {
    let adds = |numbers: std::ops::Range<usize>| numbers.map(new_address).map(Add).collect::<Vec<_>>();
    let mut wire = wire(1);
    assert_eq!(change(&mut wire, &adds(0..17)), Err(AddressError::TooMany));
    assert_eq!(requests(&wire).len(), 0);
    assert_eq!(change(&mut wire, &adds(0..1)), Ok(()));
    assert_eq!(change(&mut wire, &adds(1..11)), Ok(()));
    assert_eq!(change(&mut wire, &adds(11..17)), Ok(()));
    assert_eq!(change(&mut wire, &adds(17..18)), Err(AddressError::TooMany));
    answer(&mut wire, 0, &[]);
    let [first, second] = &requests(&wire)[..] else { panic!("two requests") };
    assert_eq!((first.2.serial, second.2.serial), (serial(0), serial(1)));
    let correlations: Vec<_> = second.2.requests.iter().map(|request| request.correlation).collect();
    assert_eq!(correlations, (2..18).collect::<Vec<_>>());
}

#[test]
fn an_address_can_be_deleted_while_another_is_being_deleted() {
    let mut wire = wire(3);
    assert_eq!(change(&mut wire, &[Delete(address(0, 2))]), Ok(()));
    assert_eq!(change(&mut wire, &[Delete(address(0, 1))]), Ok(()));
    let last = address(0, 0);
    assert_eq!(change(&mut wire, &[Delete(last)]), Err(AddressError::Last(last)));
    assert_eq!(requests(&wire).len(), 1, "one at a time");
    answer(&mut wire, 0, &[]);
    answer(&mut wire, 1, &[]);
    assert_eq!(answers(&wire), [(Delete(address(0, 2)), true), (Delete(address(0, 1)), true)]);
}

/// B3 and B4: the RTO of the address is doubled, and another one is tried.
#[test]
fn a_request_that_is_not_answered_is_repeated_on_the_other_path_after_an_rto_that_doubles() {
    let mut wire = wire(2);
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    wire.run_until(Instant::from_millis(500));
    // A timer of something else.
    wire.ends[0].handle_deadline(wire.now);
    wire.drain();
    wire.run_until(Instant::from_secs(7));
    let sent: Vec<_> = requests(&wire).iter().map(|(at, path, _)| (*at, *path)).collect();
    assert_eq!(sent, [(0, 0), (1_000, 1), (2_000, 0), (4_000, 1), (6_000, 0)]);
    assert_eq!(wire.ends[0].snapshot().error_count, 4);
    assert_eq!([0, 1].map(|path| wire.path(0, path).error_count), [2, 2]);
    // A5.
    answer(&mut wire, 0, &[]);
    assert_eq!(wire.ends[0].snapshot().error_count, 0);
    assert_eq!([0, 1].map(|path| wire.path(0, path).error_count), [0, 2]);
    wire.run_until(Instant::from_secs(100));
    assert_eq!(requests(&wire).len(), 5);
}

/// F0 speaks of an answer to nothing; another one than the awaited is passed over.
#[test]
fn an_answer_with_another_number_than_that_of_the_request_says_nothing() {
    let mut wire = wire(1);
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    for wrong in [1, u32::MAX] {
        answer(&mut wire, wrong, &[]);
        assert_eq!(wire.ends[0].state(), AssociationState::Established);
    }
    assert_eq!(answers(&wire), []);
    answer(&mut wire, 0, &[]);
    assert_eq!(answers(&wire), [(Add(new_address(0)), true)]);
}

/// Rule A7 of RFC 5061, section 5.1.
#[test]
fn what_is_not_mentioned_was_done_in_front_of_the_first_failure_and_not_behind_it() {
    let failed = [shortage()];
    let cases: [(Responses<'_>, [bool; 3]); 4] = [
        (&[], [true, true, true]),
        (&[(2, &failed)], [true, false, false]),
        (&[(2, &failed), (3, &[])], [true, false, true]),
        (&[(1, &failed)], [false, false, false]),
    ];
    for (responses, expected) in cases {
        let mut wire = wire(1);
        let changes = [0, 1, 2].map(new_address).map(Add);
        change(&mut wire, &changes).unwrap();
        answer(&mut wire, 0, responses);
        let results: Vec<_> = answers(&wire).iter().map(|(_, is_accepted)| *is_accepted).collect();
        assert_eq!(results, expected, "{responses:?}");
        // What has been taken is one of ours from then on.
        for (add, is_accepted) in changes.iter().zip(expected) {
            let again = change(&mut wire, core::slice::from_ref(add));
            assert_eq!(again.is_err(), is_accepted);
        }
    }
}

#[test]
fn a_peer_that_does_not_know_what_is_asked_for_is_asked_no_more() {
    let unknown = Cause::UnrecognizedParameters(bytes::Bytes::new());
    for (cause, is_last) in [(unknown, true), (shortage(), false)] {
        let mut wire = wire(1);
        change(&mut wire, &[Add(new_address(0))]).unwrap();
        answer(&mut wire, 0, &[(1, &[cause])]);
        let again = change(&mut wire, &[Add(new_address(0))]);
        assert_eq!(again, if is_last { Err(AddressError::NotSupported) } else { Ok(()) });
    }
}

/// Rule A9 of RFC 5061, section 5.1.
#[test]
fn only_a_report_about_asconf_ends_the_asking_and_what_waits_with_it() {
    for (kind, is_over) in [(kind::RE_CONFIG, false), (kind::ASCONF, true)] {
        let mut wire = wire(1);
        for number in 0..2 {
            change(&mut wire, &[Add(new_address(number))]).unwrap();
        }
        let unknown = Cause::UnrecognizedChunkType(vec![kind, 0, 0, 4].into());
        wire.inject(0, 0, &[Chunk::Error(crate::chunk::Error::because(unknown))]);
        let refused = [0, 1].map(|number| (Add(new_address(number)), false));
        assert_eq!(answers(&wire), if is_over { &refused[..] } else { &[] });
        wire.run_until(Instant::from_secs(2));
        assert_eq!(requests(&wire).len(), if is_over { 1 } else { 2 });
    }
}

/// C4, but for SHUTDOWN-SENT, in which nothing could be gained by it.
#[test]
fn no_request_is_repeated_or_begun_behind_a_shutdown() {
    let mut wire = wire(2);
    change(&mut wire, &[Delete(address(0, 1))]).unwrap();
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    assert_eq!(wire.ends[0].state(), AssociationState::ShutdownSent);
    wire.run_until(Instant::from_secs(5));
    assert_eq!(requests(&wire).len(), 1);
    assert_eq!(change(&mut wire, &[Add(new_address(1))]), Err(AddressError::NotEstablished));
    answer(&mut wire, 0, &[]);
    assert_eq!(requests(&wire).len(), 1);
}

/// While the only address is replaced no packet but the request has one to leave from.
#[test]
fn what_answers_the_peer_while_nothing_may_leave_is_kept_up_to_a_limit() {
    let mut wire = wire(1);
    change(&mut wire, &[Add(new_address(0)), Delete(address(0, 0))]).unwrap();
    assert_eq!(wire.log.last().unwrap().source, new_address(0));
    wire.log.clear();
    for number in 0..40_u8 {
        let heartbeat = Heartbeat::new(vec![number].into());
        wire.inject(0, 0, &[Chunk::Heartbeat(heartbeat)]);
    }
    wire.send(0, 0..1, 100);
    assert!(wire.log.is_empty());
    answer(&mut wire, 0, &[]);
    let chunks = || wire.log.iter().flat_map(|sent| &sent.chunks);
    assert_eq!(chunks().filter(|chunk| matches!(chunk, Chunk::HeartbeatAck(_))).count(), 16);
    assert_eq!(data_packets(&wire, 0).len(), 1);
    assert!(wire.log.iter().all(|sent| sent.source == new_address(0)));
}

#[test]
fn an_address_that_names_no_single_host_or_is_asked_for_twice_is_refused_without_a_word_to_the_peer() {
    let mut wire = wire(1);
    let two = [Add(new_address(0)), Add(new_address(0))];
    assert_eq!(change(&mut wire, &two), Err(AddressError::Unusable(new_address(0))));
    for address in [[0, 0, 0, 0], [224, 0, 0, 1], [255, 255, 255, 255]].map(IpAddr::from) {
        assert_eq!(change(&mut wire, &[Add(address)]), Err(AddressError::Unusable(address)));
    }
    let unknown = AddressChange::Unknown { kind: 0xc123, value: bytes::Bytes::new() };
    assert_eq!(change(&mut wire, &[unknown]), Err(AddressError::NotSupported));
    assert_eq!(requests(&wire).len(), 0);
    // What is asked for counts from then on, before the peer has answered.
    let both = [Add(new_address(0)), AddressChange::SetPrimary(new_address(0))];
    assert_eq!(change(&mut wire, &both), Ok(()));
    assert_eq!(change(&mut wire, &both[..1]), Err(AddressError::Unusable(new_address(0))));
    assert_eq!(change(&mut wire, &both[1..]), Ok(()));
}

#[test]
fn nothing_is_asked_for_by_an_empty_list_or_where_nothing_waits() {
    let mut wire = wire(1);
    assert_eq!(change(&mut wire, &[]), Ok(()));
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    answer(&mut wire, 0, &[]);
    assert_eq!(requests(&wire).len(), 1);
    wire.run_to_rest();
    assert_eq!(wire.now, Instant::START, "T4-RTO has been stopped");
}

/// The last address stays, since the other one was refused: there is nothing left to ask for, and no number is used.
#[test]
fn what_is_left_of_changes_behind_a_refusal_is_asked_for_by_the_next_number() {
    let mut wire = wire(1);
    let (first, second) = (address(0, 0), new_address(0));
    change(&mut wire, &[Add(second)]).unwrap();
    change(&mut wire, &[Delete(first)]).unwrap();
    answer(&mut wire, 0, &[(1, &[shortage()])]);
    assert_eq!(answers(&wire), [(Add(second), false), (Delete(first), false)]);
    assert_eq!(requests(&wire).len(), 1);
    // With another one in front of it, it is asked for.
    change(&mut wire, &[Add(second), Delete(first)]).unwrap();
    let requests = requests(&wire);
    assert_eq!((requests.len(), requests[1].2.serial), (2, serial(1)));
    let asked: Vec<_> = requests[1].2.requests.iter().map(|it| (it.correlation, it.change.clone())).collect();
    assert_eq!(asked, [(2, Add(second)), (3, Delete(first))]);
    assert_eq!(requests[1].2.address, first, "one that the peer knows");
}

/// Two addresses, of which the first is being deleted: paths leave from the other one meanwhile.
#[test]
fn an_address_is_no_source_while_it_is_being_deleted_and_is_one_again_if_the_peer_keeps_it() {
    let sources = |wire: &mut Wire| {
        wire.log.clear();
        for path in 0..2 {
            assert!(wire.ends[0].request_heartbeat(wire.now, address(1, path)));
        }
        wire.drain();
        wire.log.iter().map(|sent| sent.source).collect::<Vec<_>>()
    };
    let (first, second) = (address(0, 0), address(0, 1));
    let both = [first, second];
    let others = [second, second];
    let deleting = || {
        let mut wire = wire(2);
        assert_eq!(sources(&mut wire), both);
        change(&mut wire, &[Delete(first)]).unwrap();
        assert_eq!(wire.log.last().unwrap().source, second, "F6");
        assert_eq!(sources(&mut wire), others);
        wire
    };
    let mut wire = deleting();
    answer(&mut wire, 0, &[]);
    assert_eq!(sources(&mut wire), others);
    assert_eq!(change(&mut wire, &[Delete(second)]), Err(AddressError::Last(second)));
    let mut wire = deleting();
    answer(&mut wire, 0, &[(1, &[shortage()])]);
    assert_eq!(sources(&mut wire), both);
    assert_eq!(change(&mut wire, &[Delete(second)]), Ok(()), "the other one is left");
    let mut wire = deleting();
    let unknown = Cause::UnrecognizedChunkType(vec![kind::ASCONF, 0, 0, 4].into());
    wire.inject(0, 0, &[Chunk::Error(crate::chunk::Error::because(unknown))]);
    assert_eq!(sources(&mut wire), both);
}

#[test]
fn what_the_peer_does_not_know_does_not_leave_any_more_and_what_else_is_queued_does() {
    let mut wire = wire(1);
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.ends[0].change_addresses(wire.now, &[Add(new_address(0))]).unwrap();
    let unknown = Cause::UnrecognizedChunkType(vec![kind::ASCONF, 0, 0, 4].into());
    wire.inject(0, 0, &[Chunk::Error(crate::chunk::Error::because(unknown))]);
    let chunks: Vec<_> = wire.log.iter().flat_map(|sent| &sent.chunks).collect();
    assert!(matches!(chunks[..], [Chunk::Heartbeat(_)]), "{chunks:?}");
}

/// A repetition that has not left takes the place of the request before it.
#[test]
fn a_request_that_is_due_again_is_queued_once_and_in_front() {
    let mut wire = wire(1);
    wire.ends[0].change_addresses(wire.now, &[Add(new_address(0))]).unwrap();
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.now = Instant::from_secs(1);
    wire.ends[0].handle_deadline(wire.now);
    wire.drain();
    let chunks: Vec<_> = wire.log.iter().flat_map(|sent| &sent.chunks).collect();
    assert!(matches!(chunks[..], [Chunk::Asconf(_), Chunk::Heartbeat(_)]), "{chunks:?}");
}

/// Checks that an address that is being deleted when the association begins to end is ours again.
#[test]
fn a_shutdown_gives_up_a_request_when_it_would_be_repeated() {
    let mut wire = wire(2);
    change(&mut wire, &[Delete(address(0, 0))]).unwrap();
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    assert_eq!(wire.log.last().unwrap().source, address(0, 1));
    wire.run_until(Instant::from_millis(1_000));
    assert_eq!((requests(&wire).len(), wire.ends[0].snapshot().error_count), (1, 1), "of the SHUTDOWN");
    assert!(wire.ends[0].ignores_aborts_at(address(0, 0)));
    // The peer may have deleted the address, and its answer be lost: nothing leaves from there again.
    wire.log.clear();
    wire.run_until(Instant::from_millis(20_000));
    let sources: Vec<IpAddr> =
        wire.log.iter().filter(|sent| sent.from == 0).map(|sent| sent.source).collect();
    assert!(sources.len() > 2 && sources.iter().all(|source| *source == address(0, 1)), "{sources:?}");
}

#[test]
fn a_shutdown_that_gives_up_the_replacement_of_the_only_address_goes_on_from_that() {
    let mut wire = wire(1);
    change(&mut wire, &[Add(new_address(0)), Delete(address(0, 0))]).unwrap();
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.log.clear();
    wire.run_until(Instant::from_millis(20_000));
    let sources: Vec<IpAddr> =
        wire.log.iter().filter(|sent| sent.from == 0).map(|sent| sent.source).collect();
    assert!(sources.len() > 2 && sources.iter().all(|source| *source == address(0, 0)), "{sources:?}");
}

/// While the only address is replaced: COOKIE ACK, ASCONF and the answers to the peer's leave, and nothing else.
#[test]
fn what_may_leave_from_an_address_that_the_peer_does_not_know_yet_is_one_packet() {
    let mut wire = wire(1);
    wire.ends[0].change_addresses(wire.now, &[Add(new_address(0)), Delete(address(0, 0))]).unwrap();
    let now = wire.now;
    wire.ends[0].acknowledge_cookie(now, address(1, 0));
    wire.ends[0].acknowledge_cookie(now, address(1, 0));
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    let theirs = AsconfSerial(tcb(1, 1, &quiet()).local_initial_tsn.0);
    let asks = [0, 1].map(|number| {
        Chunk::Asconf(Asconf { serial: theirs.plus(number), address: address(1, 0), requests: Vec::new() })
    });
    wire.inject(0, 0, &asks);
    let kinds = |wire: &Wire| -> Vec<Vec<u8>> {
        wire.log.iter().map(|sent| sent.chunks.iter().map(Chunk::kind).collect()).collect()
    };
    let together = vec![kind::COOKIE_ACK, kind::ASCONF, kind::ASCONF_ACK, kind::ASCONF_ACK];
    assert_eq!(kinds(&wire), [together]);
    assert_eq!(wire.ends[0].snapshot().stats.control_chunks_sent, 4);
    // The rest follows the answer.
    answer(&mut wire, 0, &[]);
    assert_eq!(kinds(&wire)[1..], [vec![kind::HEARTBEAT]]);
    assert_eq!(wire.ends[0].snapshot().stats.control_chunks_sent, 5);
}

#[test]
fn of_the_deletions_behind_a_refusal_the_one_that_would_leave_nothing_is_not_asked_for() {
    let mut wire = wire(2);
    let (first, second) = (address(0, 0), address(0, 1));
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    change(&mut wire, &[Delete(first), Delete(second)]).unwrap();
    answer(&mut wire, 0, &[(1, &[shortage()])]);
    assert_eq!(answers(&wire), [(Add(new_address(0)), false), (Delete(second), false)]);
    let asked: Vec<_> = requests(&wire)[1].2.requests.iter().map(|request| request.change.clone()).collect();
    assert_eq!(asked, [Delete(first)]);
}

#[test]
fn an_address_that_the_peer_has_not_taken_is_not_ours_once_its_deletion_is_refused() {
    let mut wire = wire(1);
    let (never, other) = (new_address(0), new_address(1));
    change(&mut wire, &[Add(never)]).unwrap();
    change(&mut wire, &[Add(other), Delete(never)]).unwrap();
    answer(&mut wire, 0, &[(1, &[shortage()])]);
    answer(&mut wire, 1, &[(2, &[shortage()]), (3, &[shortage()])]);
    assert_eq!(answers(&wire).len(), 3);
    assert_eq!(change(&mut wire, &[Delete(never)]), Err(AddressError::Unknown(never)));
}

#[test]
fn a_message_that_expires_while_nothing_may_be_sent_is_given_up_when_something_may() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses, Extension::PartialReliability]);
    let mut wire = Wire::new(1, SctpConfig { extensions, unauthenticated_addresses: true, ..quiet() });
    wire.decide(|_| is_lost());
    // The only address is replaced.
    change(&mut wire, &[Add(new_address(1)), Delete(address(0, 0))]).unwrap();
    let reliability = Reliability::Lifetime(Duration::from_millis(30));
    let options = Some(Box::new(SendOptions { reliability, ..SendOptions::default() }));
    wire.ends[0].send(wire.now, Message { options, ..message(0, 7, 100) }).unwrap();
    wire.drain();
    let abandoned =
        |wire: &Wire| wire.events[0].iter().filter(|event| matches!(event, Event::Abandoned { .. })).count();
    // The next thing to happen is that the ASCONF is retransmitted.
    assert_eq!(wire.next_at(), Some(Instant::from_secs(1)));
    wire.run_until(Instant::from_millis(500));
    assert_eq!(abandoned(&wire), 0);
    answer(&mut wire, 0, &[]);
    assert_eq!(abandoned(&wire), 1);
}

#[test]
fn an_address_that_is_deleted_and_cannot_be_added_again_is_not_used() {
    let mut wire = wire(2);
    let own = address(0, 0);
    change(&mut wire, &[Delete(own), Add(own), Delete(own)]).unwrap();
    let causes = [Cause::OutOfResource];
    answer(&mut wire, 0, &[(2, &causes), (3, &causes)]);
    assert_eq!(answers(&wire), [(Delete(own), true), (Add(own), false), (Delete(own), false)]);
    assert_eq!(wire.ends[0].tcb.local_addresses[..], [address(0, 1)]);
}
