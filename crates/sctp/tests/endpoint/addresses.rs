//! Addresses are added, deleted and preferred while associations live (RFC 5061).

#![expect(clippy::cast_possible_truncation, reason = "numbers in tests are small")]

use std::net::IpAddr;

use slantpath_base::{Duration, Probability};
use slantpath_sctp::chunk::{
    Abort, AddressChange, Asconf, AsconfAck, AsconfRequest, AsconfResponse, AsconfSerial, kind,
};
use slantpath_sctp::{
    AddressError, AddressEvent, AssociationId, Cause, Chunk, CloseReason, Event, Extension, Extensions,
    Notice, Parameter, PathId, PathState, SctpConfig,
};
use slantpath_testkit::WireFaults;

use crate::net::{Net, describe, header, parse, v4};

fn config() -> SctpConfig {
    SctpConfig {
        extensions: Extensions::of(&[Extension::DynamicAddresses]),
        unauthenticated_addresses: true,
        heartbeat_interval: None,
        ..SctpConfig::default()
    }
}

fn authenticated() -> SctpConfig {
    SctpConfig {
        extensions: Extensions::of(&[Extension::DynamicAddresses, Extension::Authentication]),
        unauthenticated_addresses: false,
        ..config()
    }
}

/// Host 0 has `addresses` addresses in networks 1, 2 and so on, host 1 as many; both ends of an association.
fn connected(addresses: u8, config: &SctpConfig) -> (Net, [AssociationId; 2]) {
    let mut net = Net::calm();
    for host in [1, 2] {
        let own: Vec<_> = (1..=addresses).map(|network| v4(network, host)).collect();
        net.add(&own, 5_000, config.clone());
    }
    net.listen(1);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(5));
    let other = net.hosts[1].last.expect("an association");
    for host in [0, 1] {
        net.events(host);
    }
    (net, [id, other])
}

fn paths(net: &mut Net, host: usize, id: AssociationId) -> Vec<(PathId, IpAddr, PathState)> {
    let now = net.now;
    let paths = net.hosts[host].endpoint.path_snapshots(now, id);
    paths.map(|path| (path.path, path.destination, path.state)).collect()
}

fn addresses(events: Vec<Event>) -> Vec<AddressEvent> {
    let of = |event| match event {
        Event::Addresses(event) => Some(event),
        _ => None,
    };
    events.into_iter().filter_map(of).collect()
}

fn messages(net: &mut Net, host: usize) -> usize {
    net.events(host).iter().filter(|event| matches!(event, Event::Received(_))).count()
}

fn tag_to(net: &Net, host: u8) -> u32 {
    let sent = net.sent.iter().rev().find(|sent| (1..9).any(|network| sent.route.1 == v4(network, host)));
    parse(&sent.expect("a packet").packet).0.verification_tag.0
}

fn asconf(serial: u32, address: IpAddr, changes: &[AddressChange]) -> Chunk {
    let requests = (1..)
        .zip(changes)
        .map(|(correlation, change)| AsconfRequest { correlation, change: change.clone() })
        .collect();
    Chunk::Asconf(Asconf { serial: AsconfSerial(serial), address, requests })
}

/// The number of the first ASCONF of host 0: its initial TSN.
fn first_serial(net: &Net) -> u32 {
    let init = net.sent.iter().find_map(|sent| match &parse(&sent.packet).1[0] {
        Chunk::Init(init) => Some(init.fields.initial_tsn.0),
        _ => None,
    });
    init.expect("an INIT")
}

#[test]
fn an_address_that_is_added_is_probed_and_then_used() {
    for config in [config(), authenticated()] {
        let (mut net, [id, other]) = connected(1, &config);
        net.add_address(0, v4(3, 1));
        let before = net.sent.len();
        net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1)), AddressChange::SetPrimary(v4(3, 1))]);
        net.run_for(Duration::from_millis(15));
        assert_eq!(paths(&mut net, 1, other)[1].2, PathState::Unconfirmed);
        net.run_for(Duration::from_secs(1));
        let described: Vec<_> =
            net.sent[before..].iter().map(|sent| describe(&sent.packet).replace("AUTH ", "")).collect();
        assert_eq!(described, ["ASCONF", "ASCONF-ACK", "HEARTBEAT", "HEARTBEAT-ACK"]);
        let expected = [(PathId(0), v4(1, 1), PathState::Active), (PathId(1), v4(3, 1), PathState::Active)];
        assert_eq!(paths(&mut net, 1, other), expected);
        let events = addresses(net.events(1));
        assert_eq!(events, [AddressEvent::PeerAdded(v4(3, 1)), AddressEvent::PeerPrimary(v4(3, 1))]);
        let answered = |change| AddressEvent::Answered { change, is_accepted: true };
        let events = addresses(net.events(0));
        let expected = [AddressChange::Add(v4(3, 1)), AddressChange::SetPrimary(v4(3, 1))].map(answered);
        assert_eq!(events, expected);
        net.send(1, other, 0, "to the new one");
        assert_eq!(net.sent.last().unwrap().route.1, v4(3, 1));
        net.run_for(Duration::from_secs(1));
        assert_eq!(messages(&mut net, 0), 1);
        assert_eq!(net.hosts[1].endpoint.peer(other).unwrap().addresses, [v4(1, 1), v4(3, 1)]);
    }
}

#[test]
fn path_identities_survive_an_asconf_that_deletes_one() {
    let (mut net, [id, other]) = connected(3, &config());
    net.change_addresses(0, id, &[AddressChange::Delete(v4(2, 1))]);
    net.run_for(Duration::from_secs(1));
    let left = paths(&mut net, 1, other);
    let expected = [(PathId(0), v4(1, 1), PathState::Active), (PathId(2), v4(3, 1), PathState::Active)];
    assert_eq!(left, expected);
    // The number of what was deleted is not given again, be it the first.
    net.change_addresses(0, id, &[AddressChange::Delete(v4(1, 1)), AddressChange::Add(v4(2, 1))]);
    net.run_for(Duration::from_secs(1));
    let expected = [(PathId(2), v4(3, 1), PathState::Active), (PathId(3), v4(2, 1), PathState::Active)];
    assert_eq!(paths(&mut net, 1, other), expected);
    net.send(1, other, 0, "still here");
    net.run_for(Duration::from_secs(1));
    assert_eq!(messages(&mut net, 0), 1);
}

#[test]
fn what_was_in_flight_to_a_deleted_address_is_sent_elsewhere_at_once() {
    let (mut net, [id, other]) = connected(2, &config());
    net.cut(v4(1, 2), v4(1, 1));
    net.send(1, other, 0, vec![1; 3_000]);
    net.run_for(Duration::from_millis(50));
    let asked_at = net.now;
    net.change_addresses(0, id, &[AddressChange::Delete(v4(1, 1))]);
    net.run_for(Duration::from_millis(100));
    assert_eq!(messages(&mut net, 0), 1);
    let again = net.sent.iter().filter(|sent| sent.route.1 == v4(2, 1) && sent.at > asked_at);
    let with_data = again.filter(|sent| describe(&sent.packet).contains("DATA"));
    assert!(with_data.count() >= 2, "all of it went to the other address, long before T3-rtx");
    net.run_for(Duration::from_secs(1));
    let snapshot = net.hosts[1].endpoint.association(other).unwrap().snapshot();
    assert_eq!((snapshot.outstanding_chunks, snapshot.error_count), (0, 0));
}

#[test]
fn a_host_with_one_address_moves_to_another() {
    for config in [config(), authenticated()] {
        let (mut net, [id, other]) = connected(1, &config);
        net.add_address(0, v4(4, 1));
        // Nothing gets through at the old address any more.
        net.cut(v4(1, 1), v4(1, 2));
        net.cut(v4(1, 2), v4(1, 1));
        let before = net.sent.len();
        net.change_addresses(
            0,
            id,
            &[
                AddressChange::Add(v4(4, 1)),
                AddressChange::Delete(v4(1, 1)),
                AddressChange::SetPrimary(v4(4, 1)),
            ],
        );
        net.send(0, id, 0, "held until the peer has agreed");
        net.send(1, other, 0, "to where nobody is");
        net.run_for(Duration::from_secs(5));
        let first = &net.sent[before];
        assert_eq!(
            (first.route, describe(&first.packet).replace("AUTH ", "")),
            ((v4(4, 1), v4(1, 2)), "ASCONF".into())
        );
        assert_eq!((messages(&mut net, 1), messages(&mut net, 0)), (1, 1));
        assert_eq!(paths(&mut net, 1, other), [(PathId(1), v4(4, 1), PathState::Active)]);
        let early = net.sent[before..].iter().filter(|sent| sent.route.0 == v4(1, 1)).count();
        assert_eq!(early, 0, "the old address is not used while it is being deleted");
    }
}

#[test]
fn an_asconf_that_is_lost_comes_again_and_an_answer_that_is_lost_is_repeated() {
    for lost in [0, 1] {
        let (mut net, [id, other]) = connected(1, &config());
        net.add_address(0, v4(3, 1));
        net.lose(net.sent.len() + lost);
        net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
        net.run_for(Duration::from_secs(5));
        assert_eq!(paths(&mut net, 1, other).len(), 2);
        assert_eq!(addresses(net.events(1)), [AddressEvent::PeerAdded(v4(3, 1))]);
        assert_eq!(addresses(net.events(0)).len(), 1);
    }
}

#[test]
fn a_peer_that_never_answers_an_asconf_is_unreachable() {
    let (mut net, [id, _]) = connected(1, &config());
    net.add_address(0, v4(3, 1));
    net.cut(v4(1, 1), v4(1, 2));
    net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
    net.run_for(Duration::from_secs(600));
    assert_eq!(net.events(0).last(), Some(&Event::Closed(CloseReason::PeerUnreachable)));
}

#[test]
fn the_rules_for_the_last_address_and_the_source_hold() {
    let (mut net, [id, other]) = connected(2, &config());
    let endpoint = &mut net.hosts[0].endpoint;
    let (now, first, second) = (net.now, v4(1, 1), v4(2, 1));
    let delete = AddressChange::Delete;
    assert_eq!(
        endpoint.change_addresses(now, id, &[delete(first), delete(second)]),
        Err(AddressError::Last(second))
    );
    assert_eq!(endpoint.remove_address(now, id, v4(7, 7)), Err(AddressError::Unknown(v4(7, 7))));
    assert_eq!(endpoint.add_address(now, id, first), Err(AddressError::Unusable(first)));
    assert_eq!(endpoint.add_address(now, id, v4(7, 7)), Err(AddressError::Unusable(v4(7, 7))));
    assert_eq!(endpoint.request_peer_primary(now, id, v4(7, 7)), Err(AddressError::Unknown(v4(7, 7))));
    // The same from a peer that does not keep to them.
    let serial = first_serial(&net);
    let to_server = header(5_000, 5_000, tag_to(&net, 2));
    let changes = [delete(second), delete(first), delete(v4(7, 7))];
    net.inject_chunks((first, v4(1, 2)), to_server, &[asconf(serial, first, &changes)]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let Chunk::AsconfAck(AsconfAck { responses, .. }) = &chunks[0] else { panic!("{chunks:?}") };
    let codes: Vec<_> = responses.iter().map(|one| (one.correlation, one.causes[0].code())).collect();
    assert_eq!(codes, [(2, 0xa0), (3, 0xa1)], "the last one, and all that follows a refusal");
    assert_eq!(paths(&mut net, 1, other).len(), 1);
    let (mut net, [_, other]) = connected(2, &config());
    let to_server = header(5_000, 5_000, tag_to(&net, 2));
    let serial = first_serial(&net);
    net.inject_chunks((first, v4(1, 2)), to_server, &[asconf(serial, first, &[delete(first)])]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let Chunk::AsconfAck(AsconfAck { responses, .. }) = &chunks[0] else { panic!("{chunks:?}") };
    assert!(matches!(responses[..], [AsconfResponse { ref causes, .. }] if causes[0].code() == 0xa2));
    assert_eq!(paths(&mut net, 1, other).len(), 2);
}

#[test]
fn a_wildcard_means_the_address_that_the_packet_has_come_from() {
    let (mut net, [_, other]) = connected(2, &config());
    let (serial, any) = (first_serial(&net), IpAddr::from([0, 0, 0, 0]));
    let to_server = header(5_000, 5_000, tag_to(&net, 2));
    // As from behind a translator: the source is not known, the address parameter names the association.
    let changes = [AddressChange::Add(any), AddressChange::Delete(any)];
    net.inject_chunks((v4(6, 1), v4(1, 2)), to_server, &[asconf(serial, v4(1, 1), &changes)]);
    assert_eq!(paths(&mut net, 1, other), [(PathId(2), v4(6, 1), PathState::Unconfirmed)]);
    assert_eq!(net.sent.last().unwrap().route.1, v4(6, 1));
    // Nothing but a probe goes to where nobody has been found.
    let before = net.sent.len();
    net.send(1, other, 0, "not yet");
    net.run_for(Duration::from_millis(500));
    assert_eq!(net.sent.len(), before);
}

#[test]
fn so_many_addresses_of_a_peer_are_taken_and_no_more() {
    let limited = SctpConfig { max_peer_addresses: 3, ..config() };
    let (mut net, [_, other]) = connected(1, &limited);
    let to_server = header(5_000, 5_000, tag_to(&net, 2));
    let mut serial = first_serial(&net);
    for round in 0..50 {
        let changes: Vec<_> = (0..20).map(|host| AddressChange::Add(v4(round + 20, host))).collect();
        net.inject_chunks((v4(1, 1), v4(1, 2)), to_server, &[asconf(serial, v4(1, 1), &changes)]);
        serial = serial.wrapping_add(1);
    }
    assert_eq!(paths(&mut net, 1, other).len(), 3);
    // Deleted and added for ever, they are as few.
    for round in 0..200 {
        let changes = [
            AddressChange::Delete(IpAddr::from([0, 0, 0, 0])),
            AddressChange::Add(v4(round, 9)),
            AddressChange::Add(v4(round, 8)),
        ];
        net.inject_chunks((v4(1, 1), v4(1, 2)), to_server, &[asconf(serial, v4(1, 1), &changes)]);
        serial = serial.wrapping_add(1);
    }
    assert_eq!(paths(&mut net, 1, other).len(), 3);
    assert_eq!(net.hosts[1].endpoint.peer(other).unwrap().addresses.len(), 3);
}

#[test]
fn old_and_future_asconfs_change_nothing() {
    let (mut net, [_, other]) = connected(1, &config());
    let (serial, to_server) = (first_serial(&net), header(5_000, 5_000, tag_to(&net, 2)));
    let before = net.sent.len();
    for wrong in [serial.wrapping_sub(1), serial.wrapping_add(1), serial.wrapping_add(1 << 31)] {
        let add = AddressChange::Add(v4(9, 1));
        net.inject_chunks((v4(1, 1), v4(1, 2)), to_server, &[asconf(wrong, v4(1, 1), &[add])]);
    }
    assert_eq!((paths(&mut net, 1, other).len(), net.sent.len()), (1, before));
}

/// RFC 5062: who does not see the packets of an association cannot turn it to another address.
#[test]
fn a_blind_attacker_turns_nothing_to_itself() {
    let changes = [AddressChange::Add(v4(9, 9)), AddressChange::SetPrimary(v4(9, 9))];
    // The tag is wrong.
    let (mut net, [_, other]) = connected(1, &config());
    let serial = first_serial(&net);
    let guessed = header(5_000, 5_000, tag_to(&net, 2) ^ 1);
    for source in [v4(9, 9), v4(1, 1)] {
        let before = net.sent.len();
        net.inject_chunks((source, v4(1, 2)), guessed, &[asconf(serial, v4(1, 1), &changes)]);
        assert_eq!((net.sent.len(), paths(&mut net, 1, other).len()), (before, 1));
    }
    // Even with tag and number: without AUTH the chunk and the rest of the packet are dropped.
    let (mut net, [_, other]) = connected(1, &authenticated());
    let (serial, known) = (first_serial(&net), header(5_000, 5_000, tag_to(&net, 2)));
    let before = net.sent.len();
    let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() });
    net.inject_chunks((v4(1, 1), v4(1, 2)), known, &[asconf(serial, v4(1, 1), &changes), abort]);
    assert_eq!((net.sent.len(), paths(&mut net, 1, other).len()), (before, 1));
    // Without keys that both ends have been given, dynamic addresses are not used at all unless that is asked for.
    let plain = SctpConfig { unauthenticated_addresses: false, ..config() };
    let (mut net, [id, _]) = connected(1, &plain);
    net.add_address(0, v4(3, 1));
    let now = net.now;
    let result = net.hosts[0].endpoint.add_address(now, id, v4(3, 1));
    assert_eq!(result, Err(AddressError::NotSupported));
}

#[test]
fn answers_to_what_was_never_asked_end_the_association_only_if_they_are_ahead() {
    let (mut net, [_, _]) = connected(1, &config());
    let to_client = header(5_000, 5_000, tag_to(&net, 1));
    let ack = |serial| Chunk::AsconfAck(AsconfAck { serial: AsconfSerial(serial), responses: Vec::new() });
    let serial = first_serial(&net);
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_client, &[ack(serial.wrapping_sub(1))]);
    assert_eq!(net.events(0), []);
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_client, &[ack(serial)]);
    assert_eq!(net.events(0), [Event::Closed(CloseReason::Aborted(Cause::IllegalAsconfAck))]);
}

#[test]
fn a_peer_that_does_not_know_asconf_after_all_is_asked_no_more() {
    let (mut net, [id, _]) = connected(1, &config());
    net.add_address(0, v4(3, 1));
    net.cut(v4(1, 1), v4(1, 2));
    net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
    let to_client = header(5_000, 5_000, tag_to(&net, 1));
    let unknown = Cause::UnrecognizedChunkType(vec![kind::ASCONF, 0, 0, 4].into());
    let error = Chunk::Error(slantpath_sctp::chunk::Error::because(unknown));
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_client, &[error]);
    let change = AddressChange::Add(v4(3, 1));
    assert_eq!(addresses(net.events(0)), [AddressEvent::Answered { change, is_accepted: false }]);
    let before = net.sent.len();
    net.run_for(Duration::from_secs(100));
    assert_eq!(net.sent.len(), before);
    let now = net.now;
    let again = net.hosts[0].endpoint.add_address(now, id, v4(3, 1));
    assert_eq!(again, Err(AddressError::NotSupported));
}

fn answers(events: Vec<Event>) -> Vec<(AddressChange, bool)> {
    let of = |event| match event {
        AddressEvent::Answered { change, is_accepted } => Some((change, is_accepted)),
        _ => None,
    };
    addresses(events).into_iter().filter_map(of).collect()
}

#[test]
fn two_ends_that_move_at_once_agree_to_each_other() {
    for (config, is_one_gone) in [(config(), false), (config(), true), (authenticated(), false)] {
        let (mut net, ids) = connected(1, &config);
        if is_one_gone {
            // One is heard of where the other has been before; that is enough for both.
            net.cut(v4(4, 1), v4(1, 2));
        }
        let moves = |host: u8| [AddressChange::Add(v4(4, host)), AddressChange::Delete(v4(1, host))];
        for (host, number) in [(0, 1), (1, 2)] {
            net.add_address(host, v4(4, number));
            net.change_addresses(host, ids[host], &moves(number));
        }
        // Each has no address but the new one when it hears of the other's.
        net.run_for(Duration::from_secs(5));
        for (host, number, other) in [(0, 1, 2), (1, 2, 1)] {
            assert_eq!(answers(net.events(host)), moves(number).map(|change| (change, true)));
            let expected = [(PathId(1), v4(4, other), PathState::Active)];
            assert_eq!(paths(&mut net, host, ids[host]), expected);
            net.send(host, ids[host], 0, "from the new address to the new one");
            assert_eq!(net.sent.last().unwrap().route, (v4(4, number), v4(4, other)));
        }
        net.run_for(Duration::from_secs(1));
        assert_eq!([0, 1].map(|host| messages(&mut net, host)), [1, 1]);
    }
}

#[test]
fn an_end_that_moves_takes_no_address_of_another_ip_version() {
    let (mut net, ids) = connected(1, &config());
    let six = "fd00::1".parse().unwrap();
    net.add_address(0, six);
    net.add_address(1, v4(4, 2));
    net.change_addresses(1, ids[1], &[AddressChange::Add(v4(4, 2)), AddressChange::Delete(v4(1, 2))]);
    net.change_addresses(0, ids[0], &[AddressChange::Add(six)]);
    net.run_for(Duration::from_secs(5));
    assert_eq!(answers(net.events(0)), [(AddressChange::Add(six), false)]);
    assert!(net.sent.iter().all(|sent| sent.route.0.is_ipv4() && sent.route.1.is_ipv4()));
}

/// Address 3 of network 1 is nearer to the peer's, which is 2, than address 1: it is the source wherever it is ours.
const NEAR: u8 = 3;

#[test]
fn an_address_that_the_peer_has_never_taken_is_no_source_once_its_deletion_is_refused() {
    let limited = SctpConfig { max_peer_addresses: 1, ..config() };
    let (mut net, [id, _]) = connected(1, &limited);
    for address in [v4(1, NEAR), v4(3, 1)] {
        net.add_address(0, address);
    }
    let first = [AddressChange::Add(v4(1, NEAR))];
    let then = [AddressChange::Add(v4(3, 1)), AddressChange::Delete(v4(1, NEAR))];
    net.change_addresses(0, id, &first);
    net.change_addresses(0, id, &then);
    net.run_for(Duration::from_secs(1));
    let expected: Vec<_> = first.into_iter().chain(then).map(|change| (change, false)).collect();
    assert_eq!(answers(net.events(0)), expected);
    net.send(0, id, 0, "from where it is known");
    assert_eq!(net.sent.last().unwrap().route.0, v4(1, 1));
    net.run_for(Duration::from_secs(1));
    assert_eq!(messages(&mut net, 1), 1);
}

#[test]
fn an_address_that_one_asconf_adds_and_deletes_is_no_source() {
    for last in [None, Some(AddressChange::Delete(v4(1, 1)))] {
        let (mut net, [id, other]) = connected(1, &config());
        for address in [v4(1, NEAR), v4(3, 1)] {
            net.add_address(0, address);
        }
        let before = net.sent.len();
        let mut changes = vec![AddressChange::Add(v4(1, NEAR)), AddressChange::Add(v4(3, 1))];
        changes.push(AddressChange::Delete(v4(1, NEAR)));
        changes.extend(last.clone());
        net.change_addresses(0, id, &changes);
        let source = if last.is_none() { v4(1, 1) } else { v4(3, 1) };
        assert_eq!(net.sent[before].route.0, source);
        net.run_for(Duration::from_secs(1));
        assert!(answers(net.events(0)).iter().all(|(_, is_accepted)| *is_accepted));
        assert_eq!(paths(&mut net, 1, other).len(), if last.is_none() { 2 } else { 1 });
        net.send(0, id, 0, "from where it is known");
        assert_eq!(net.sent.last().unwrap().route.0, source);
        net.run_for(Duration::from_secs(1));
        assert_eq!(messages(&mut net, 1), 1);
    }
}

#[test]
fn the_last_address_is_not_asked_to_be_deleted_once_another_has_been_refused() {
    let limited = SctpConfig { max_peer_addresses: 1, ..config() };
    let (mut net, [id, _]) = connected(1, &limited);
    net.add_address(0, v4(3, 1));
    let before = net.sent.len();
    let (add, delete) = (AddressChange::Add(v4(3, 1)), AddressChange::Delete(v4(1, 1)));
    net.change_addresses(0, id, core::slice::from_ref(&add));
    net.change_addresses(0, id, core::slice::from_ref(&delete));
    net.run_for(Duration::from_secs(1));
    assert_eq!(answers(net.events(0)), [(add, false), (delete, false)]);
    let described: Vec<_> = net.sent[before..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(described, ["ASCONF", "ASCONF-ACK"]);
}

#[test]
fn a_move_that_the_peer_does_not_understand_is_undone() {
    let (mut net, [id, _]) = connected(1, &config());
    net.add_address(0, v4(3, 1));
    net.cut(v4(3, 1), v4(1, 2));
    let changes = [AddressChange::Add(v4(3, 1)), AddressChange::Delete(v4(1, 1))];
    net.change_addresses(0, id, &changes);
    let to_client = header(5_000, 5_000, tag_to(&net, 1));
    let unknown = Cause::UnrecognizedChunkType(vec![kind::ASCONF, 0, 0, 4].into());
    let error = Chunk::Error(slantpath_sctp::chunk::Error::because(unknown));
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_client, &[error]);
    assert_eq!(answers(net.events(0)), changes.map(|change| (change, false)));
    net.send(0, id, 0, "from where it was");
    assert_eq!(net.sent.last().unwrap().route.0, v4(1, 1));
    net.run_for(Duration::from_secs(1));
    assert_eq!(messages(&mut net, 1), 1);
}

/// The peer waits for a COOKIE ACK, and takes nothing from an address that it does not know.
#[test]
fn an_end_that_moves_before_its_cookie_ack_has_arrived_is_found() {
    for config in [config(), authenticated()] {
        let mut net = Net::calm();
        for host in [1, 2] {
            net.add(&[v4(1, host)], 5_000, config.clone());
        }
        net.listen(1);
        let id = net.connect(0, 1);
        net.run_for(Duration::from_millis(25));
        net.cut(v4(1, 2), v4(1, 1));
        net.run_for(Duration::from_secs(1));
        let other = net.established(1).expect("an association");
        assert_eq!(net.established(0), None);
        net.add_address(1, v4(4, 2));
        let changes = [AddressChange::Add(v4(4, 2)), AddressChange::Delete(v4(1, 2))];
        net.change_addresses(1, other, &changes);
        net.run_for(Duration::from_secs(10));
        assert_eq!(net.established(0), Some(id));
        assert_eq!(answers(net.events(1)), changes.map(|change| (change, true)));
        net.send(0, id, 0, "to the new address");
        assert_eq!(net.sent.last().unwrap().route, (v4(1, 1), v4(4, 2)));
        net.run_for(Duration::from_secs(1));
        assert_eq!(messages(&mut net, 1), 1);
    }
}

#[test]
fn what_the_layer_above_is_reaches_the_peer_either_way() {
    let with = |code_point| SctpConfig { adaptation_layer: Some(code_point), ..SctpConfig::default() };
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, with(7));
    net.add(&[v4(1, 2)], 5_000, with(9));
    net.listen(1);
    net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    for (host, code_point) in [(0, 9), (1, 7)] {
        assert!(net.events(host).contains(&Notice::AdaptationLayer { code: code_point }.event()));
    }
}

/// Hosts move between networks at random while both send, over wires that lose, double and delay.
#[test]
fn whatever_moves_when_every_message_arrives_once() {
    for seed in 0..300 {
        let mut random = slantpath_base::Seed::new(seed, 0).stream("moves");
        let faults = WireFaults {
            loss: Probability::new([0.0, 0.05, 0.15][random.below(3) as usize]).expect("a probability"),
            ..WireFaults::none(Duration::from_millis(10))
        };
        let config = SctpConfig { association_max_retrans: 60, path_max_retrans: 20, ..config() };
        let mut net = Net::new(seed, faults);
        net.add(&[v4(1, 1)], 5_000, config.clone());
        net.add(&[v4(1, 2)], 5_000, config);
        net.listen(1);
        let id = net.connect(0, 1);
        net.run_for(Duration::from_secs(30));
        let other = net.hosts[1].last.expect("an association");
        let ids = [id, other];
        let mut own = [vec![v4(1, 1)], vec![v4(1, 2)]];
        let mut sent = [0, 0];
        for round in 0..40_u8 {
            let host = random.below(2) as usize;
            let mover = random.below(2) as usize;
            if random.below(3) == 0 {
                let next = v4(10 + round, mover as u8 + 1);
                let last = own[mover].last().copied().expect("an address");
                net.add_address(mover, next);
                let changes = match random.below(3) {
                    0 => vec![AddressChange::Add(next)],
                    1 => vec![AddressChange::Add(next), AddressChange::Delete(last)],
                    _ => vec![
                        AddressChange::Add(next),
                        AddressChange::SetPrimary(next),
                        AddressChange::Delete(last),
                    ],
                };
                let now = net.now;
                if net.hosts[mover].endpoint.change_addresses(now, ids[mover], &changes).is_ok() {
                    if changes.len() > 1 {
                        own[mover].pop();
                    }
                    own[mover].push(next);
                }
                net.drain(mover);
            }
            net.send(host, ids[host], 0, vec![round; 2_000]);
            sent[host] += 1;
            net.run_for(Duration::from_millis(random.below(500)));
        }
        net.run_for(Duration::from_secs(3_000));
        for host in [0, 1] {
            assert_eq!(messages(&mut net, 1 - host), sent[host], "seed {seed}, from host {host}");
        }
    }
}

#[test]
fn an_association_goes_on_at_an_address_that_its_port_has_lost_until_it_deletes_it() {
    for extensions in [Extensions::NONE, config().extensions] {
        let (mut net, [id, other]) = connected(2, &SctpConfig { extensions, ..config() });
        assert!(net.hosts[1].endpoint.remove_port_address(5_000, v4(1, 2)));
        assert!(!net.hosts[1].endpoint.remove_port_address(5_000, v4(2, 2)), "the last one stays");
        net.send(0, id, 0, "to the one that goes");
        net.run_for(Duration::from_secs(1));
        assert_eq!(
            (messages(&mut net, 1), net.sent.last().map(|sent| sent.route)),
            (1, Some((v4(1, 2), v4(1, 1))))
        );
        let now = net.now;
        let removed = net.hosts[1].endpoint.remove_address(now, other, v4(1, 2));
        let is_agreed = extensions != Extensions::NONE;
        assert_eq!(removed, if is_agreed { Ok(()) } else { Err(AddressError::NotSupported) });
        // What was sent before the peer has heard of it arrives as well.
        net.send(0, id, 0, "on its way");
        net.run_for(Duration::from_secs(1));
        assert_eq!(messages(&mut net, 1), 1);
        let own: Vec<_> = paths(&mut net, 0, id).into_iter().map(|(_, to, _)| to).collect();
        assert_eq!(own, if is_agreed { vec![v4(2, 2)] } else { vec![v4(1, 2), v4(2, 2)] });
    }
}

#[test]
fn an_abort_to_an_address_that_is_being_deleted_is_ignored() {
    // The peer no longer knows the address from which a packet has overtaken our ASCONF.
    let reflected = Chunk::Abort(Abort { is_tag_reflected: true, causes: Vec::new() });
    let (mut net, [id, _]) = connected(2, &config());
    let tag = tag_to(&net, 2);
    let abort = |net: &mut Net, to| {
        net.inject_chunks((v4(1, 2), to), header(5_000, 5_000, tag), std::slice::from_ref(&reflected));
        net.events(0).iter().filter(|event| matches!(event, Event::Closed(_))).count()
    };
    net.change_addresses(0, id, &[AddressChange::Delete(v4(1, 1))]);
    assert_eq!(abort(&mut net, v4(1, 1)), 0, "before the answer");
    assert_eq!(net.hosts[0].endpoint.stats().unexpected_chunks, 1);
    net.run_for(Duration::from_secs(1));
    assert_eq!(abort(&mut net, v4(1, 1)), 0, "and behind it");
    assert_eq!(abort(&mut net, v4(2, 1)), 1, "to an address that stays");
}

#[test]
fn an_abort_to_an_address_that_is_being_added_ends_the_association() {
    let reflected = Chunk::Abort(Abort { is_tag_reflected: true, causes: Vec::new() });
    let (mut net, [id, _]) = connected(1, &config());
    net.add_address(0, v4(3, 1));
    net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
    let tag = tag_to(&net, 2);
    net.inject_chunks((v4(1, 2), v4(3, 1)), header(5_000, 5_000, tag), &[reflected]);
    assert!(matches!(net.events(0)[..], [.., Event::Closed(CloseReason::PeerAborted(_))]));
}

#[test]
fn a_wish_for_a_primary_address_in_an_init_comes_back_with_the_cookie_and_is_followed() {
    for (wanted, supported, primary) in
        [(v4(2, 1), true, v4(2, 1)), (v4(3, 1), true, v4(1, 1)), (v4(2, 1), false, v4(1, 1))]
    {
        let config = if supported { config() } else { SctpConfig::default() };
        let mut net = Net::calm();
        net.add(&[v4(1, 1), v4(2, 1)], 5_000, config.clone());
        net.add(&[v4(1, 2), v4(2, 2)], 5_000, config);
        net.listen(1);
        net.connect(0, 1);
        // The INIT, with the wish.
        let (of_init, chunks) = parse(&net.sent[0].packet);
        let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
        let mut init = init.clone();
        init.parameters.push(Parameter::SetPrimary { correlation: 1, address: wanted });
        net.drop_under_way();
        net.inject_chunks((v4(1, 1), v4(1, 2)), of_init, &[Chunk::Init(init)]);
        net.run_for(Duration::from_secs(1));
        let id = net.established(1).expect("an association");
        let now = net.now;
        let found = net.hosts[1].endpoint.path_snapshots(now, id).find(|path| path.is_primary).unwrap();
        assert_eq!(found.destination, primary, "{wanted}, {supported}");
    }
}

#[test]
fn a_wish_for_a_primary_address_in_an_init_ack_is_followed() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1), v4(2, 1)], 5_000, config());
    net.add(&[v4(1, 2), v4(2, 2)], 5_000, config());
    net.listen(1);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_millis(15));
    let sent = net.sent.last().expect("an INIT ACK");
    let (of_ack, chunks) = parse(&sent.packet);
    let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let mut ack = ack.clone();
    ack.parameters.push(Parameter::SetPrimary { correlation: 1, address: v4(2, 2) });
    net.drop_under_way();
    net.inject_chunks((v4(1, 2), v4(1, 1)), of_ack, &[Chunk::InitAck(ack)]);
    net.run_for(Duration::from_secs(5));
    let now = net.now;
    let found = net.hosts[0].endpoint.path_snapshots(now, id).find(|path| path.is_primary).unwrap();
    assert_eq!(found.destination, v4(2, 2));
}
