//! Our own changes of addresses, one request and one answer at a time (RFC 5061, section 5.1).

mod peer;

use super::*;
use crate::addressing::{AddressError, AddressEvent};
use crate::chunk::{AddressChange, Asconf, AsconfAck, AsconfResponse, AsconfSerial, Heartbeat, kind};
use crate::extension::{Extension, Extensions};
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

/// What is said of single changes: the correlation identifier of each, and why it was not done.
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

/// What became of changes.
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

/// A7.
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

/// A9.
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
