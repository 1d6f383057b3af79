//! The peer's changes of addresses, and what is under way at an address that goes (RFC 5061, section 5.2).

use super::*;
use crate::chunk::{AsconfRequest, Shutdown};
use AddressChange::SetPrimary;

/// Request `number` of end 1, as a chunk.
fn asconf(number: u32, by: usize, changes: &[AddressChange]) -> Chunk {
    let requests =
        (1..).zip(changes).map(|(correlation, change)| AsconfRequest { correlation, change: change.clone() });
    let serial = AsconfSerial(tcb(1, 1, &quiet()).local_initial_tsn.0).plus(number);
    Chunk::Asconf(Asconf { serial, address: address(1, by), requests: requests.collect() })
}

fn ask(wire: &mut Wire, number: u32, by: usize, changes: &[AddressChange]) {
    wire.inject(0, by, &[asconf(number, by, changes)]);
}

/// The numbers of the answers that end 0 has sent.
fn answered(wire: &Wire) -> Vec<u32> {
    let chunks = wire.log.iter().filter(|sent| sent.from == 0).flat_map(|sent| &sent.chunks);
    let numbers = chunks.filter_map(|chunk| match chunk {
        Chunk::AsconfAck(ack) => Some(ack.serial.0.wrapping_sub(tcb(1, 1, &quiet()).local_initial_tsn.0)),
        _ => None,
    });
    numbers.collect()
}

/// Events about the peer's addresses that end 0 was told.
fn news(wire: &Wire) -> Vec<AddressEvent> {
    let found = wire.events[0].iter().filter_map(|event| match event {
        Event::Addresses(event) => Some(event.clone()),
        _ => None,
    });
    found.collect()
}

/// Answers the last HEARTBEAT that end 0 has sent by `path`.
fn answer_heartbeat(wire: &mut Wire, path: usize) {
    let sent = wire.log.iter().filter(|sent| sent.from == 0 && sent.path == path);
    let heartbeats = sent.flat_map(|sent| &sent.chunks).filter_map(|chunk| match chunk {
        Chunk::Heartbeat(heartbeat) => Some(heartbeat.clone()),
        _ => None,
    });
    let last = heartbeats.last().expect("a HEARTBEAT");
    wire.inject(0, path, &[Chunk::HeartbeatAck(last.into_ack())]);
}

#[test]
fn our_request_is_repeated_elsewhere_if_the_address_that_it_was_sent_to_is_deleted() {
    let mut wire = wire(2);
    change(&mut wire, &[Add(new_address(0))]).unwrap();
    ask(&mut wire, 0, 1, &[Delete(address(1, 0))]);
    wire.run_until(Instant::from_millis(1_500));
    let sent: Vec<_> = requests(&wire).iter().map(|(at, path, _)| (*at, *path)).collect();
    assert_eq!(sent, [(0, 0), (1_000, 1)]);
    answer(&mut wire, 0, &[]);
    assert_eq!(wire.path(0, 0).error_count, 0);
}

#[test]
fn what_is_queued_for_an_address_that_goes_leaves_for_another_but_for_what_probes_it() {
    let mut wire = wire(2);
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.hand_in(0, 0, &[Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"well?")))]);
    wire.hand_in(0, 1, &[asconf(0, 1, &[Delete(address(1, 0))])]);
    wire.drain();
    assert!(wire.log.iter().all(|sent| sent.path == 1));
    let chunks: Vec<_> = wire.log.iter().flat_map(|sent| &sent.chunks).collect();
    assert!(matches!(chunks[..], [Chunk::AsconfAck(_), Chunk::HeartbeatAck(_)]), "{chunks:?}");
}

/// Section 5.4: an address becomes primary once it is confirmed, if it is still there.
#[test]
fn a_wish_for_a_primary_address_waits_for_its_confirmation_and_goes_with_the_address() {
    for (gone, is_followed) in [(1, true), (2, false)] {
        let mut wire = wire(2);
        ask(&mut wire, 0, 0, &[Add(address(1, 2)), SetPrimary(address(1, 2))]);
        ask(&mut wire, 1, 0, &[Delete(address(1, gone))]);
        let before = news(&wire);
        assert_eq!(
            before,
            [AddressEvent::PeerAdded(address(1, 2)), AddressEvent::PeerRemoved(address(1, gone))]
        );
        if is_followed {
            answer_heartbeat(&mut wire, 2);
        } else {
            assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
            wire.drain();
            answer_heartbeat(&mut wire, 0);
        }
        let expected = [AddressEvent::PeerPrimary(address(1, 2))];
        assert_eq!(news(&wire)[2..], expected[..usize::from(is_followed)]);
        wire.send(0, 0..1, 100);
        assert_eq!(data_packets(&wire, 0)[0].path, if is_followed { 2 } else { 0 });
    }
}

/// E2: what was answered is answered again; more than one packet brings is not kept.
#[test]
fn the_last_four_requests_of_a_packet_are_answered_again_and_none_from_before_it() {
    let mut wire = wire(1);
    ask(&mut wire, 0, 0, &[]);
    let together: Vec<_> = (1..7).map(|number| asconf(number, 0, &[])).collect();
    wire.inject(0, 0, &together);
    let mut numbers = answered(&wire);
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
    wire.log.clear();
    for number in 0..7 {
        ask(&mut wire, number, 0, &[]);
    }
    assert_eq!(answered(&wire), [3, 4, 5, 6]);
}

/// Section 5.1.1, C4.
#[test]
fn a_request_is_answered_until_shutdown_ack_is_sent() {
    let shutdown = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 4) });
    for (has_data, shuts_down, peer_shuts_down, is_answered) in [
        (false, false, false, true),
        (true, true, false, true),
        (false, true, false, true),
        (true, false, true, true),
        (false, false, true, false),
    ] {
        let mut wire = wire(1);
        if has_data {
            wire.send(0, 0..1, 100);
        }
        if shuts_down {
            wire.ends[0].shutdown(wire.now);
        }
        if peer_shuts_down {
            wire.hand_in(0, 0, std::slice::from_ref(&shutdown));
        }
        wire.drain();
        ask(&mut wire, 0, 0, &[]);
        assert_eq!(answered(&wire).len(), usize::from(is_answered), "{:?}", wire.ends[0].state());
    }
}

/// The last answer of end 0: where it went, and which requests it mentions, each with the codes of what went wrong.
fn last_answer(wire: &Wire) -> (usize, Vec<(u32, Vec<u16>)>) {
    let answers =
        wire.log.iter().filter(|sent| sent.from == 0).filter_map(|sent| match sent.chunks.first() {
            Some(Chunk::AsconfAck(ack)) => Some((sent.path, ack)),
            _ => None,
        });
    let (path, ack) = answers.last().expect("an answer");
    let codes = |response: &AsconfResponse| response.causes.iter().map(Cause::code).collect();
    (path, ack.responses.iter().map(|response| (response.correlation, codes(response))).collect())
}

fn destinations(wire: &Wire) -> Vec<IpAddr> {
    wire.ends[0].path_snapshots(wire.now).map(|path| path.destination).collect()
}

const ANY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

/// Requests, the answers by correlation with their causes, and the number of addresses afterwards.
type AnswersCase<'a> = (&'a [AddressChange], &'a [(u32, &'a [u16])], usize);

/// Nothing is said of what was done, unless something in front of it was not: A7 would have it undone.
#[test]
fn each_request_behind_a_failure_is_answered() {
    let unusable = IpAddr::from([224, 0, 0, 1]);
    let unknown = |kind| AddressChange::Unknown { kind, value: bytes::Bytes::new() };
    let (new, other) = (address(1, 2), address(1, 9));
    let cases: [AnswersCase<'_>; 8] = [
        (&[Add(new), SetPrimary(new)], &[], 3),
        (&[SetPrimary(other), Add(new)], &[(1, &[5]), (2, &[])], 3),
        // Adding and deleting are refused from the first such failure on; other requests are not.
        (&[Add(unusable), Add(new), SetPrimary(address(1, 1))], &[(1, &[0xa1]), (2, &[0xa1]), (3, &[])], 2),
        (&[Add(new), Delete(address(1, 0)), Delete(new)], &[(2, &[0xa2]), (3, &[0xa1])], 3),
        // Adding what is there and deleting what is not is done without doing anything.
        (&[Add(address(1, 1)), Delete(other)], &[], 2),
        // 11: skip and report. 10: skip.
        (&[unknown(0xc123), Add(new)], &[(1, &[8]), (2, &[])], 3),
        (&[unknown(0x8123), Add(new)], &[], 3),
        (&[Delete(address(1, 1)), Delete(address(1, 0)), Add(new)], &[(2, &[0xa0]), (3, &[0xa1])], 1),
    ];
    for (changes, expected, paths) in cases {
        let mut wire = wire(2);
        ask(&mut wire, 0, 0, changes);
        let expected: Vec<_> = expected.iter().map(|(number, codes)| (*number, codes.to_vec())).collect();
        assert_eq!(last_answer(&wire).1, expected, "{changes:?}");
        assert_eq!(destinations(&wire).len(), paths, "{changes:?}");
    }
}

/// RFC 9260, section 3.2.1: 01 and 00, with and without a report.
#[test]
fn what_follows_an_unknown_request_is_not_read_if_its_type_says_so() {
    for (kind, codes) in [(0x4123, &[(1, vec![8])][..]), (0x0123, &[])] {
        let mut wire = wire(1);
        let unknown = AddressChange::Unknown { kind, value: bytes::Bytes::new() };
        ask(&mut wire, 0, 0, &[unknown, Add(address(1, 2))]);
        assert_eq!((last_answer(&wire), destinations(&wire).len()), ((0, codes.to_vec()), 1));
    }
}

#[test]
fn an_address_that_is_there_is_not_probed_or_told_again() {
    let mut wire = wire(2);
    ask(&mut wire, 0, 0, &[Add(address(1, 1)), Delete(address(1, 9))]);
    assert_eq!(news(&wire), []);
    assert_eq!(wire.log.len(), 1);
    assert_eq!(wire.ends[0].take_new_addresses(), None);
    ask(&mut wire, 1, 0, &[Add(address(1, 2))]);
    let all = [0, 1, 2].map(|path| address(1, path));
    assert_eq!(wire.ends[0].take_new_addresses().as_deref(), Some(&all[..]));
    assert_eq!(wire.ends[0].take_new_addresses(), None);
}

/// Sections 4.2.1, 4.2.2 and 4.2.4.
#[test]
fn a_wildcard_is_the_source_or_all_but_the_source() {
    let mut wire = wire(3);
    ask(&mut wire, 0, 1, &[SetPrimary(ANY), Delete(ANY)]);
    assert_eq!(destinations(&wire), [address(1, 1)]);
    let gone = [0, 2].map(|path| AddressEvent::PeerRemoved(address(1, path)));
    assert_eq!(news(&wire), [vec![AddressEvent::PeerPrimary(address(1, 1))], gone.to_vec()].concat());
    assert_eq!(last_answer(&wire), (1, vec![]));
    // From an address that is none of the peer's nothing would be left.
    ask(&mut wire, 1, 7, &[Delete(ANY), Add(ANY)]);
    assert_eq!(last_answer(&wire), (1, vec![(1, vec![0xa0]), (2, vec![0xa1])]));
    assert_eq!(destinations(&wire), [address(1, 1)]);
    ask(&mut wire, 2, 2, &[Add(ANY)]);
    assert_eq!(destinations(&wire), [address(1, 1), address(1, 2)]);
    assert_eq!(last_answer(&wire), (2, vec![]));
}

#[test]
fn as_many_addresses_as_are_allowed_are_taken() {
    for (most, expected) in [(2, vec![(2, vec![0xa1])]), (3, vec![])] {
        let extensions = Extensions::of(&[Extension::DynamicAddresses]);
        let config =
            SctpConfig { max_peer_addresses: most, extensions, unauthenticated_addresses: true, ..quiet() };
        let mut wire = Wire::new(1, config);
        wire.decide(|_| is_lost());
        ask(&mut wire, 0, 0, &[Add(address(1, 1)), Add(address(1, 2))]);
        assert_eq!((last_answer(&wire).1, destinations(&wire).len()), (expected, most));
    }
}

/// Alone an unconfirmed address is left: what was in flight goes there once it has been found.
#[test]
fn what_was_in_flight_to_an_address_that_goes_waits_for_the_confirmation_of_the_only_one_left() {
    let mut wire = wire(1);
    wire.send(0, 0..1, 100);
    assert_eq!(data_packets(&wire, 0).len(), 1);
    ask(&mut wire, 0, 0, &[Add(address(1, 2))]);
    ask(&mut wire, 1, 2, &[Delete(address(1, 0))]);
    wire.run_until(Instant::from_millis(10));
    assert_eq!(data_packets(&wire, 0).len(), 1);
    answer_heartbeat(&mut wire, 2);
    let sent = data_packets(&wire, 0);
    assert_eq!((sent.len(), sent[1].destination, sent[1].at), (2, address(1, 2), Instant::from_millis(10)));
}

/// An active address is preferred, though it is not the next.
#[test]
fn what_was_in_flight_to_an_address_that_goes_is_sent_to_an_active_one() {
    let mut wire = wire(2);
    ask(&mut wire, 0, 1, &[Add(address(1, 2))]);
    wire.send(0, 0..1, 100);
    ask(&mut wire, 1, 1, &[Delete(address(1, 0))]);
    let sent: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.path).collect();
    assert_eq!(sent, [0, 1]);
}

#[test]
fn what_was_given_up_is_told_again_if_the_address_that_it_was_told_to_is_deleted() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses, Extension::PartialReliability]);
    let mut wire = Wire::new(2, SctpConfig { extensions, unauthenticated_addresses: true, ..quiet() });
    wire.decide(|_| is_lost());
    let options = Some(Box::new(SendOptions {
        reliability: Reliability::Retransmissions(0),
        ..SendOptions::default()
    }));
    wire.ends[0].send(wire.now, Message { options, ..message(0, 0, 100) }).unwrap();
    wire.drain();
    let told = |wire: &Wire| {
        let of = |sent: &&Sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ForwardTsn(_)));
        wire.log.iter().filter(of).map(|sent| (sent.at, sent.path)).collect::<Vec<_>>()
    };
    wire.run_until(Instant::from_millis(1_200));
    let &[(at, path)] = &told(&wire)[..] else { panic!("{:?}", told(&wire)) };
    assert_eq!(at, Instant::from_secs(1));
    ask(&mut wire, 0, 1 - path, &[Delete(address(1, path))]);
    assert_eq!(told(&wire)[1..], [(wire.now, 1 - path)]);
}
