//! Chunks that are accepted only if they are authenticated (RFC 4895).

use slantpath_base::Duration;
use slantpath_sctp::chunk::{Abort, Auth, Init, InitFields, kind};
use slantpath_sctp::{
    AssociationId, AuthenticationConfig, AuthenticationEvent, Cause, Chunk, CloseReason, Event, Extension,
    Extensions, KeyError, SctpConfig, SharedKey, Tsn, VerificationTag, WrongKey,
};

use crate::net::{Net, describe, header, parse, v4};

fn config(chunks: &[u8], keys: &[(u16, &'static [u8])]) -> SctpConfig {
    let keys = keys.iter().map(|(id, key)| (*id, SharedKey::new(*key))).collect();
    SctpConfig {
        extensions: Extensions::of(&[Extension::Authentication]),
        authentication: AuthenticationConfig {
            chunks: chunks.to_vec(),
            keys,
            ..AuthenticationConfig::default()
        },
        heartbeat_interval: None,
        ..SctpConfig::default()
    }
}

/// Host 0 with the first configuration has connected to host 1 with the second.
fn connected(configs: [SctpConfig; 2]) -> (Net, AssociationId) {
    let mut net = Net::calm();
    for (host, config) in (1..).zip(configs) {
        net.add(&[v4(1, host)], 5_000, config);
    }
    net.listen(1);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_millis(100));
    (net, id)
}

fn unauthenticated(net: &Net, host: usize, id: AssociationId) -> u64 {
    let association = net.hosts[host].endpoint.association(id).expect("an association");
    association.snapshot().stats.unauthenticated_chunks
}

fn received(net: &mut Net, host: usize) -> Vec<usize> {
    let events = net.events(host);
    let len = |event| match event {
        Event::Received(message) => Some(message.payload.len()),
        _ => None,
    };
    events.into_iter().filter_map(len).collect()
}

#[test]
fn what_each_end_wants_authenticated_comes_so_and_nothing_else_does() {
    let wants = [config(&[kind::SACK], &[]), config(&[kind::DATA], &[])];
    let (mut net, id) = connected(wants);
    let before = net.sent.len();
    net.send(0, id, 0, vec![1; 5_000]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(received(&mut net, 1), [5_000]);
    for sent in &net.sent[before..] {
        let (_, chunks) = parse(&sent.packet);
        assert!(matches!(chunks[0], Chunk::Auth(_)), "{}", describe(&sent.packet));
        assert!(sent.packet.len() <= 1_480);
    }
    let before = net.sent.len();
    let other = net.hosts[1].last.expect("an association");
    net.send(1, other, 0, vec![2; 100]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(received(&mut net, 0), [100]);
    let described: Vec<_> = net.sent[before..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(described, ["DATA(100)", "SACK(0 gaps)"]);
    assert_eq!((unauthenticated(&net, 0, id), unauthenticated(&net, 1, other)), (0, 0));
}

#[test]
fn a_chunk_that_should_be_authenticated_and_is_not_is_dropped_in_silence() {
    let wants = || config(&[kind::ABORT], &[]);
    let (mut net, id) = connected([wants(), wants()]);
    let (own, _) = parse(&net.sent.last().expect("a packet").packet);
    let to_first = header(5_000, 5_000, own.verification_tag.0);
    let before = net.sent.len();
    let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() });
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_first, std::slice::from_ref(&abort));
    let forged = Chunk::Auth(Auth { key: 0, hmac: 3, digest: vec![7; 32].into() });
    net.inject_chunks((v4(1, 2), v4(1, 1)), to_first, &[forged, abort]);
    assert_eq!((unauthenticated(&net, 0, id), net.sent.len()), (2, before));
    // The peer's own is believed.
    let other = net.hosts[1].last.expect("an association");
    net.abort(1, other, "enough");
    net.run_for(Duration::from_millis(100));
    let reason = CloseReason::PeerAborted(vec![Cause::UserInitiatedAbort("enough".into())]);
    assert_eq!(net.events(0).last(), Some(&Event::Closed(reason)));
}

#[test]
fn a_client_without_the_servers_key_gets_no_association() {
    let server = config(&[kind::COOKIE_ECHO], &[(0, b"the server's")]);
    for (key, is_there) in [(b"the server's" as &[u8], true), (b"another", false)] {
        let (net, id) = connected([config(&[], &[(0, key)]), server.clone()]);
        assert_eq!(net.hosts[1].endpoint.association_count() == 1, is_there);
        assert_eq!(net.hosts[1].endpoint.stats().unauthenticated_cookies == 0, is_there);
        assert_eq!(net.hosts[0].endpoint.association(id).is_some(), is_there);
    }
    // Nor does one that authenticates nothing.
    let (net, id) = connected([SctpConfig::default(), server]);
    assert_eq!(net.hosts[1].endpoint.association_count(), 0);
    assert!(net.hosts[0].endpoint.association(id).is_none());
}

#[test]
fn a_key_is_changed_while_the_association_lives() {
    let wants = || config(&[kind::DATA], &[(0, b"first")]);
    let (mut net, id) = connected([wants(), wants()]);
    let other = net.hosts[1].last.expect("an association");
    let second = SharedKey::new(&b"second"[..]);
    for (host, id) in [(0, id), (1, other)] {
        let endpoint = &mut net.hosts[host].endpoint;
        assert_eq!(endpoint.activate_key(id, 9), Err(KeyError::NoSuchKey(9)));
        assert_eq!(endpoint.delete_key(id, 0), Err(KeyError::Active(0)));
        endpoint.add_key(id, 9, &second).unwrap();
    }
    net.hosts[0].endpoint.activate_key(id, 9).unwrap();
    let before = net.sent.len();
    net.send(0, id, 0, vec![1; 10]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(received(&mut net, 1), [10]);
    let (_, chunks) = parse(&net.sent[before].packet);
    assert!(matches!(&chunks[0], Chunk::Auth(auth) if auth.key == 9));
    // Whoever takes the key away hears nothing more by it.
    net.hosts[1].endpoint.delete_key(other, 9).unwrap();
    net.send(0, id, 0, vec![1; 20]);
    net.run_for(Duration::from_secs(1));
    assert!(received(&mut net, 1).is_empty());
    net.hosts[0].endpoint.activate_key(id, 0).unwrap();
    net.run_for(Duration::from_secs(10));
    assert_eq!(received(&mut net, 1), [20]);
    assert_eq!(net.hosts[0].endpoint.add_key(other, 1, &second).is_ok(), other == id);
}

#[test]
fn an_algorithm_that_was_not_offered_is_reported() {
    let (mut net, id) = connected([config(&[], &[]), config(&[], &[])]);
    let (own, _) = parse(&net.sent.last().expect("a packet").packet);
    let auth = Chunk::Auth(Auth { key: 0, hmac: 2, digest: vec![0; 16].into() });
    let before = net.sent.len();
    let header = header(5_000, 5_000, own.verification_tag.0);
    net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[auth]);
    let (_, chunks) = parse(&net.sent[before].packet);
    assert!(matches!(&chunks[..], [Chunk::Error(error)] if error.causes == [Cause::UnsupportedHmac(2)]));
    assert_eq!(unauthenticated(&net, 0, id), 1);
}

#[test]
fn a_packet_that_was_changed_on_its_way_is_dropped_from_auth_on() {
    let wants = || config(&[kind::DATA], &[(0, b"key")]);
    let (mut net, id) = connected([wants(), wants()]);
    let other = net.hosts[1].last.expect("an association");
    net.cut(v4(1, 1), v4(1, 2));
    net.send(0, id, 0, vec![1; 40]);
    let sent = net.sent.last().expect("a packet").clone();
    let (header, mut chunks) = parse(&sent.packet);
    if let Some(Chunk::Data(data)) = chunks.last_mut() {
        data.payload = vec![3; 40].into();
    }
    net.inject_chunks(sent.route, header, &chunks);
    assert_eq!((received(&mut net, 1), unauthenticated(&net, 1, other)), (vec![], 1));
    net.inject(sent.route, sent.packet);
    assert_eq!(received(&mut net, 1), [40]);
}

#[test]
fn a_random_number_of_another_length_ends_the_setup() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, config(&[], &[]));
    net.add(&[v4(1, 2)], 5_000, config(&[], &[]));
    net.listen(1);
    net.cut(v4(1, 1), v4(1, 2));
    net.connect(0, 1);
    let sent = net.sent.last().expect("an INIT").clone();
    let (header, mut chunks) = parse(&sent.packet);
    let Chunk::Init(init) = &mut chunks[0] else { panic!("an INIT") };
    for parameter in &mut init.parameters {
        if let slantpath_sctp::Parameter::Random(random) = parameter {
            *random = vec![1; 31].into();
        }
    }
    net.inject_chunks(sent.route, header, &chunks);
    let described = describe(&net.sent.last().expect("an answer").packet);
    assert_eq!(described, "ABORT[13]");
}

fn authentication_events(events: &[Event]) -> Vec<AuthenticationEvent> {
    let told = |event: &Event| match event {
        Event::Authentication(told) => Some(*told),
        _ => None,
    };
    events.iter().filter_map(told).collect()
}

/// RFC 6458, section 6.1.8, AUTH_NO_AUTH.
#[test]
fn a_peer_that_does_not_offer_authentication_is_served_and_that_is_told() {
    let (mut net, id) = connected([config(&[], &[]), SctpConfig::default()]);
    let told = [AuthenticationEvent::NotOffered];
    let (first, other) = (net.events(0), net.events(1));
    assert_eq!((&authentication_events(&first)[..], authentication_events(&other)), (&told[..], vec![]));
    assert!(matches!(first[0], Event::Established { .. }), "{first:?}");
    net.send(0, id, 0, vec![1; 100]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(received(&mut net, 1), [100]);
    let (mut net, _) = connected([SctpConfig::default(), config(&[], &[])]);
    assert_eq!(authentication_events(&net.events(1)), told);
    let (mut net, _) = connected([config(&[], &[]), config(&[], &[])]);
    assert_eq!(
        (authentication_events(&net.events(0)), authentication_events(&net.events(1))),
        (vec![], vec![])
    );
}

#[test]
fn who_does_not_offer_what_is_required_is_aborted_and_told_what() {
    let requiring = |extension| SctpConfig {
        extensions: Extensions::of(&[extension]),
        required_extensions: Extensions::of(&[extension]),
        unauthenticated_addresses: true,
        ..config(&[], &[])
    };
    for extension in Extension::ALL {
        let words = format!("required and not offered: {}", extension.name());
        let cause = Cause::UserInitiatedAbort(words.into());
        let here = Event::Closed(CloseReason::Aborted(cause.clone()));
        let there = Event::Closed(CloseReason::PeerAborted(vec![cause]));
        // The client requires it: its server has an association until it hears so, at the earliest.
        let (mut net, id) = connected([requiring(extension), SctpConfig::default()]);
        assert_eq!(net.events(0), [here], "{extension:?}");
        assert_eq!((net.hosts[0].endpoint.association(id).is_none(), net.events(1)), (true, vec![]));
        assert_eq!(net.hosts[1].endpoint.association_count(), 0);
        // The server does: nothing has been there.
        let (mut net, id) = connected([SctpConfig::default(), requiring(extension)]);
        assert_eq!(net.events(0), [there], "{extension:?}");
        assert_eq!((net.hosts[0].endpoint.association(id).is_none(), net.events(1)), (true, vec![]));
        // Both do, and begin at the same time.
        let mut net = Net::calm();
        net.add(&[v4(1, 1)], 5_000, requiring(extension));
        net.add(&[v4(1, 2)], 5_000, requiring(extension));
        let (id, other) = (net.connect(0, 1), net.connect(1, 0));
        net.run_for(Duration::from_millis(100));
        for (host, id) in [(0, id), (1, other)] {
            let association = net.hosts[host].endpoint.association(id).expect("an association");
            assert_eq!(association.extensions(), Extensions::of(&[extension]));
        }
    }
}

/// The second of them has restarted, and offers less than before.
#[test]
fn a_peer_that_begins_anew_without_what_is_required_is_aborted_and_the_association_stays() {
    let requiring =
        SctpConfig { required_extensions: Extensions::of(&[Extension::Authentication]), ..config(&[], &[]) };
    let (mut net, id) = connected([requiring.clone(), requiring]);
    net.events(0);
    let init = Init {
        fields: InitFields {
            initiate_tag: VerificationTag(77),
            a_rwnd: 65_536,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
        },
        parameters: Vec::new(),
    };
    let before = net.sent.len();
    net.inject_chunks((v4(1, 2), v4(1, 1)), header(5_000, 5_000, 0), &[Chunk::Init(init)]);
    let (answer, chunks) = parse(&net.sent[before].packet);
    assert_eq!(answer.verification_tag.0, 77);
    let cause = Cause::UserInitiatedAbort("required and not offered: authentication".into());
    assert_eq!(chunks, [Chunk::Abort(Abort { is_tag_reflected: false, causes: vec![cause] })]);
    assert!(net.hosts[0].endpoint.association(id).is_some());
    assert_eq!(net.events(0), []);
}

/// Checks that nothing gets through if the secrets or their numbers differ: that is told here at once, and the peer is
/// told after a second, since the keys may have been on their way.
#[test]
fn a_wrong_key_is_said_at_both_ends() {
    let cases: [(u16, &[u8], WrongKey, &str); 2] = [
        (0, b"another", WrongKey::Different(0), "key 0 is another one here: give both ends the same"),
        (5, b"the one", WrongKey::Unknown(5), "there is no key 5 here: give both ends the same"),
    ];
    for (number, secret, wrong, words) in cases {
        let client = SctpConfig {
            authentication: AuthenticationConfig {
                active_key: number,
                ..config(&[kind::DATA], &[(number, secret)]).authentication
            },
            ..config(&[], &[])
        };
        let (mut net, id) = connected([client, config(&[kind::DATA], &[(0, b"the one")])]);
        net.events(0);
        net.events(1);
        net.send(0, id, 0, vec![1; 100]);
        net.run_for(Duration::from_millis(900));
        assert_eq!(authentication_events(&net.events(1)), [AuthenticationEvent::Failed(wrong)]);
        assert_eq!((net.events(0), net.hosts[1].endpoint.association_count()), (vec![], 1));
        // Retransmitted after RTO.Initial.
        net.run_for(Duration::from_millis(400));
        let cause = Cause::UserInitiatedAbort(words.into());
        assert_eq!(net.events(1).last(), Some(&Event::Closed(CloseReason::Aborted(cause.clone()))));
        assert_eq!(net.events(0).last(), Some(&Event::Closed(CloseReason::PeerAborted(vec![cause]))));
    }
}

#[test]
fn a_key_that_comes_a_little_late_costs_nothing_but_the_time() {
    let (mut net, id) = connected([config(&[kind::DATA], &[(0, b"new")]), config(&[kind::DATA], &[])]);
    net.send(0, id, 0, vec![1; 100]);
    net.run_for(Duration::from_millis(900));
    let wrong = AuthenticationEvent::Failed(WrongKey::Different(0));
    assert_eq!(authentication_events(&net.events(1)), [wrong]);
    let other = net.hosts[1].last.expect("an association");
    net.hosts[1].endpoint.add_key(other, 0, &SharedKey::new(&b"newer"[..])).unwrap();
    // Still another one: its own second begins.
    net.run_for(Duration::from_millis(1_000));
    assert_eq!(authentication_events(&net.events(1)), [wrong]);
    net.hosts[1].endpoint.add_key(other, 0, &SharedKey::new(&b"new"[..])).unwrap();
    net.run_for(Duration::from_secs(3));
    assert_eq!(received(&mut net, 1), [100]);
    // Once something has come that is right, what is not is dropped, and told of once in a row.
    net.hosts[0].endpoint.add_key(id, 0, &SharedKey::new(&b"old"[..])).unwrap();
    net.send(0, id, 0, vec![1; 50]);
    net.run_for(Duration::from_secs(8));
    assert_eq!(authentication_events(&net.events(1)), [wrong]);
    assert!(unauthenticated(&net, 1, other) > 3);
    net.hosts[0].endpoint.add_key(id, 0, &SharedKey::new(&b"new"[..])).unwrap();
    net.run_for(Duration::from_secs(16));
    assert_eq!(received(&mut net, 1), [50]);
}

/// Whoever knows the tag and no key may not end an association that wants ABORT authenticated.
#[test]
fn where_aborts_are_authenticated_a_wrong_key_is_told_here_alone() {
    let wants = |secret| config(&[kind::DATA, kind::ABORT], &[(0, secret)]);
    let (mut net, id) = connected([wants(b"one"), wants(b"two")]);
    net.send(0, id, 0, vec![1; 100]);
    net.run_for(Duration::from_secs(8));
    let told = [AuthenticationEvent::Failed(WrongKey::Different(0))];
    assert_eq!(
        (&authentication_events(&net.events(1))[..], net.hosts[1].endpoint.association_count()),
        (&told[..], 1)
    );
}
