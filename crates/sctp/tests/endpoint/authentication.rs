//! Chunks that are accepted only if they are authenticated (RFC 4895).

use slantpath_base::Duration;
use slantpath_sctp::chunk::{Abort, Auth, kind};
use slantpath_sctp::{
    AssociationId, AuthenticationConfig, Cause, Chunk, CloseReason, Event, Extension, Extensions, KeyError,
    SctpConfig, SharedKey,
};

use crate::net::{Net, describe, header, parse, v4};

fn config(chunks: &[u8], keys: &[(u16, &'static [u8])]) -> SctpConfig {
    let keys = keys.iter().map(|(id, key)| (*id, SharedKey::new(*key))).collect();
    SctpConfig {
        extensions: Extensions::of(&[Extension::Authentication]),
        authentication: AuthenticationConfig { chunks: chunks.to_vec(), keys, active_key: 0 },
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
    assert_eq!(received(&mut net, 1), []);
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
