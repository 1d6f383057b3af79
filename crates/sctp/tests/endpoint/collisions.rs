//! Setup chunks where an association exists already: collisions, restarts, old packets (RFC 9260, section
//! 5.2).

use crate::net::{self, Net, Sent, describe, parse, v4};
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{CookieAck, CookieEcho, InitAck};
use slantpath_sctp::{
    Cause, Chunk, CloseReason, ConnectOptions, Event, Parameter, PathState, SctpConfig, VerificationTag,
};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

fn associated() -> (Net, usize, usize) {
    let (net, _, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    (net, 0, 1)
}

/// Sends the packets again, as a network may.
fn replay(net: &mut Net, packets: &[Sent]) {
    for sent in packets {
        net.inject(sent.route, sent.packet.clone());
    }
}

/// The answers to what was sent before.
fn answers(net: &Net, first: usize) -> Vec<String> {
    net.sent[first..].iter().map(|sent| describe(&sent.packet)).collect()
}

/// Data flows both ways.
fn assert_alive(net: &mut Net, a: usize, z: usize) {
    for (from, to) in [(a, z), (z, a)] {
        let id = net.hosts[from].last.unwrap();
        net.events(to);
        net.send(from, id, 0, format!("from {from}"));
        net.run_for(Duration::from_secs(5));
        let payloads: Vec<_> = net.received(to).into_iter().map(|message| message.payload).collect();
        assert_eq!(payloads, [format!("from {from}")], "{}", net.trace(0));
    }
}

#[test]
fn two_sides_that_begin_at_once_get_one_association() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.connect(a, z);
    net.connect(z, a);
    net.run_for(Duration::from_secs(5));
    for host in [a, z] {
        assert!(net.established(host).is_some(), "{}", net.trace(0));
        assert_eq!(net.hosts[host].endpoint.association_count(), 1);
        let ups =
            net.hosts[host].events.iter().filter(|(_, event)| matches!(event, Event::Established { .. }));
        assert_eq!(ups.count(), 1);
    }
    assert_alive(&mut net, a, z);
}

/// Whatever of the eight packets of a simultaneous setup is lost.
#[test]
fn a_simultaneous_setup_survives_the_loss_of_any_packet() {
    for lost in 0..8 {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        let (at_a, at_z) = (net.connect(a, z), net.connect(z, a));
        net.lose(lost);
        net.send(a, at_a, 0, "from a");
        net.send(z, at_z, 0, "from z");
        net.run_for(Duration::from_secs(30));
        for (host, expected) in [(a, "from z"), (z, "from a")] {
            assert!(net.established(host).is_some(), "packet {lost} lost\n{}", net.trace(0));
            let payloads: Vec<_> = net.received(host).into_iter().map(|message| message.payload).collect();
            assert_eq!(payloads, [expected], "packet {lost} lost\n{}", net.trace(0));
        }
    }
}

/// Table 12, action B: the peer's INIT is older than ours, and its cookie has a tag that we do not know.
#[test]
fn a_setup_that_crosses_a_slower_one_takes_the_peers_new_tag() {
    for head_start in [1, 9, 10, 11, 15, 19, 20, 21, 25, 29, 30] {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        net.listen(z);
        net.connect(a, z);
        net.run_for(Duration::from_millis(head_start));
        let options = ConnectOptions {
            local_port: net.hosts[z].port,
            peer_addresses: vec![v4(1, 1)],
            peer_port: 5_000,
            ..ConnectOptions::default()
        };
        let connected = net.hosts[z].endpoint.connect(net.now, &options);
        net.drain(z);
        net.run_for(Duration::from_secs(10));
        assert_eq!(connected.is_ok(), head_start < 30, "{head_start} ms");
        for host in [a, z] {
            assert!(net.established(host).is_some(), "{head_start} ms\n{}", net.trace(0));
        }
        assert_alive(&mut net, a, z);
    }
}

/// Table 12, action A.
#[test]
fn a_peer_that_restarts_gets_its_association_anew() {
    let (mut net, a, z) = associated();
    net.add(&[v4(1, 1)], 5_000, config());
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(answers(&net, 0), ["INIT", "INIT-ACK", "COOKIE-ECHO", "COOKIE-ACK"]);
    let events: Vec<_> = net.hosts[z].events.iter().map(|(_, event)| event.clone()).collect();
    assert_eq!(events, [Event::Restarted]);
    assert_eq!(net.hosts[z].endpoint.association_count(), 1);
    assert_alive(&mut net, a, z);
}

#[test]
fn a_restart_gives_back_what_the_peer_had_not_acknowledged() {
    let (mut net, _, at_z) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let (a, z) = (0, 1);
    net.add(&[v4(1, 1)], 5_000, config());
    net.cut(v4(1, 2), v4(1, 1));
    net.send(z, at_z, 0, "lost");
    net.mend();
    net.connect(a, z);
    net.run_for(Duration::from_millis(200));
    let events = net.events(z);
    assert!(
        matches!(&events[0], Event::SendFailed { message, .. } if message.payload == "lost"),
        "{events:?}"
    );
    assert_eq!(events[1], Event::Restarted);
}

#[test]
fn an_init_for_a_restart_does_not_touch_the_association() {
    let (mut net, at_a, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let (a, z) = (0, 1);
    // The INIT of a new endpoint at the same address, whose association the old one goes on with.
    let mut other = Net::calm();
    let twin = other.add(&[v4(1, 1)], 5_000, config());
    other.add(&[v4(1, 2)], 2_905, config());
    other.connect(twin, 1);
    replay(&mut net, &other.sent);
    assert_eq!(answers(&net, 0), ["INIT-ACK"]);
    net.drop_under_way();
    net.send(a, at_a, 0, "still here");
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.received(z).len(), 1);
}

/// Rule of RFC 9260, section 5.2.2.
#[test]
fn a_restart_with_new_addresses_is_aborted_and_the_association_stays() {
    let (mut net, a, z) = associated();
    let before = net.hosts[z].endpoint.association_count();
    net.add(&[v4(1, 1), v4(2, 1)], 5_000, config());
    let peer = ConnectOptions {
        local_port: net.hosts[a].port,
        peer_addresses: vec![v4(1, 2)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    };
    net.hosts[a].endpoint.connect(net.now, &peer).unwrap();
    net.drain(a);
    net.run_for(Duration::from_secs(1));
    assert_eq!(answers(&net, 0), ["INIT", "ABORT[11]"]);
    let (_, chunks) = parse(&net.sent[1].packet);
    let [Chunk::Abort(abort)] = &chunks[..] else { panic!("{chunks:?}") };
    let Cause::RestartWithNewAddresses(addresses) = &abort.causes[0] else { panic!("{abort:?}") };
    assert_eq!(addresses[..], [0, 5, 0, 8, 10, 0, 2, 1]);
    assert_eq!(net.hosts[z].endpoint.association_count(), before);
    assert_eq!(net.events(z), []);
    let closed = net.events(a);
    assert!(matches!(&closed[..], [Event::Closed(CloseReason::PeerAborted(_))]), "{closed:?}");
}

/// An attacker lists the victim's address to get at its association.
#[test]
fn an_init_from_elsewhere_that_lists_a_peers_address_is_aborted() {
    let (mut net, _, z) = associated();
    let mallory = net.add(&[v4(1, 9), v4(1, 1)], 5_000, config());
    let peer = ConnectOptions {
        local_port: net.hosts[mallory].port,
        peer_addresses: vec![v4(1, 2)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    };
    net.hosts[mallory].endpoint.connect(net.now, &peer).unwrap();
    let id = net.hosts.len() - 1;
    assert_eq!(id, mallory);
    let mut packet = slantpath_wire::Packet::default();
    while let slantpath_sctp::Output::Transmit { destination, .. } =
        net.hosts[mallory].endpoint.poll_output(net.now, &mut packet)
    {
        net.inject((v4(1, 9), destination), packet.clone());
    }
    assert_eq!(answers(&net, 0), ["ABORT[11]"]);
    assert_eq!(net.events(z), []);
}

/// Section 5.1.5: it is refused as that of a newcomer is.
#[test]
fn a_stale_cookie_of_a_restart_is_refused() {
    let (mut net, _, z) = associated();
    let route = (v4(1, 1), v4(1, 2));
    net.inject_chunks(route, net::header(5_000, 2_905, 0), &[crate::security::init(77)]);
    let (echo, tag) = last_cookie(&net);
    net.drop_under_way();
    net.run_for(Duration::from_secs(61));
    let first = net.sent.len();
    net.inject_chunks(route, net::header(5_000, 2_905, tag), &[echo]);
    assert_eq!(answers(&net, first), ["ERROR[3]"]);
    assert_eq!(net.events(z), []);
    assert_eq!(net.hosts[z].endpoint.stats().stale_cookies, 1);
}

/// Packets that carry our tag from elsewhere are the peer's; after a restart the tag is another.
#[test]
fn a_restart_brings_another_tag_of_ours() {
    let (mut net, _, at_z) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let route = (v4(1, 1), v4(1, 2));
    let tag = |net: &Net| net.hosts[1].endpoint.association(at_z).unwrap().local_tag().0;
    let before = tag(&net);
    crate::delivery::restart(&mut net, route, 5_000);
    let after = tag(&net);
    for (tag, expected) in [(before, vec!["ABORT(T)[]"]), (after, vec![])] {
        let first = net.sent.len();
        let probe = slantpath_sctp::chunk::Heartbeat::new(bytes::Bytes::from_static(b"?"));
        net.inject_chunks((v4(1, 9), v4(1, 2)), net::header(5_000, 2_905, tag), &[Chunk::Heartbeat(probe)]);
        assert_eq!(answers(&net, first), expected);
    }
}

/// Table 12, action D, and section 5.2, item E: the COOKIE ACK was lost.
#[test]
fn a_repeated_cookie_echo_is_acknowledged_again_and_changes_nothing() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    let cookie_echo = net.sent[2].clone();
    net.events(z);
    // Even when its life is over long since.
    for later in [1, 600] {
        net.run_for(Duration::from_secs(later));
        let first = net.sent.len();
        replay(&mut net, std::slice::from_ref(&cookie_echo));
        assert_eq!(answers(&net, first), ["COOKIE-ACK"]);
        assert_eq!(net.events(z), []);
    }
    assert_eq!(net.hosts[z].endpoint.stats().stale_cookies, 0);
}

/// A copy of it that was long under way would have DATA behind it delivered once more.
#[test]
fn the_cookie_of_an_ended_association_begins_no_other() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    let id = net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    let cookie_echo = net.sent[2].clone();
    net.shutdown(a, id);
    net.run_for(Duration::from_secs(1));
    net.events(z);
    let first = net.sent.len();
    // It has ended in order, and an ABORT could end the peer's end of it otherwise.
    let before = net.hosts[z].endpoint.stats().unexpected_chunks;
    replay(&mut net, std::slice::from_ref(&cookie_echo));
    assert_eq!(answers(&net, first), [""; 0]);
    assert_eq!(net.events(z), []);
    assert_eq!(net.hosts[z].endpoint.stats().unexpected_chunks, before + 1);
    // A new one comes about as ever.
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_alive(&mut net, a, z);
}

#[test]
fn the_cookie_of_an_ended_association_is_remembered_when_others_have_ended_since() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    let mut echoes = Vec::new();
    for _ in 0..3 {
        let first = net.sent.len();
        let id = net.connect(a, z);
        net.run_for(Duration::from_secs(1));
        echoes.push(net.sent[first + 2].clone());
        net.abort(a, id, "enough");
        net.run_for(Duration::from_secs(1));
    }
    for echo in echoes {
        let first = net.sent.len();
        replay(&mut net, &[echo]);
        assert_eq!(answers(&net, first), ["ABORT[]"]);
    }
}

#[test]
fn the_number_of_an_ended_association_names_no_other() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    let old = net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    net.abort(a, old, "enough");
    net.run_for(Duration::from_secs(1));
    let new = net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    let endpoint = &mut net.hosts[a].endpoint;
    assert_ne!(old, new);
    assert!(endpoint.association(old).is_none() && endpoint.association(new).is_some());
    assert!(!endpoint.shutdown(net.now, old) && endpoint.shutdown(net.now, new));
}

/// Sections 5.2.3 and 5.2.5.
#[test]
fn an_old_init_ack_and_an_old_cookie_ack_are_dropped() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    let old = [net.sent[1].clone(), net.sent[3].clone()];
    let first = net.sent.len();
    net.events(a);
    replay(&mut net, &old);
    net.run_for(Duration::from_secs(1));
    assert_eq!(answers(&net, first), Vec::<String>::new());
    assert_eq!(net.events(a), []);
    assert_alive_after(&mut net, a, z);
}

fn assert_alive_after(net: &mut Net, a: usize, z: usize) {
    let id = net.established(z).unwrap();
    net.events(z);
    net.send(z, id, 0, "alive");
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.received(a).len(), 1);
}

/// Table 12, action C: an INIT of the peer, then its answer to our INIT, then its cookie.
#[test]
fn the_cookie_of_an_old_init_does_not_disturb() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(a);
    net.listen(z);
    // A's setup comes as far as its COOKIE ECHO, which is held back.
    net.connect(a, z);
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    let old_cookie_echo = net.sent[2].clone();
    // Then A restarts, and all goes well.
    net.add(&[v4(1, 1)], 5_000, config());
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert!(net.established(z).is_some());
    let first = net.sent.len();
    net.events(z);
    replay(&mut net, &[old_cookie_echo]);
    assert_eq!(answers(&net, first), Vec::<String>::new());
    assert_eq!(net.hosts[z].endpoint.stats().unexpected_chunks, 1);
}

/// An old cookie of a former restart must not bring the association down a second time.
#[test]
fn the_cookie_of_a_restart_works_once() {
    let (mut net, a, z) = associated();
    net.add(&[v4(1, 1)], 5_000, config());
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    let restart = net.sent[2].clone();
    net.events(z);
    net.add(&[v4(1, 1)], 5_000, config());
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(z), [Event::Restarted]);
    replay(&mut net, &[restart]);
    assert_eq!(net.events(z), []);
}

#[test]
fn a_shutdown_ack_in_cookie_wait_is_completed_and_the_setup_goes_on() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net.connect(a, z);
    let first = net.sent.len();
    let old = net::header(2_905, 5_000, 0x5555);
    net.inject_chunks((v4(1, 2), v4(1, 1)), old, &[Chunk::ShutdownAck(slantpath_sctp::chunk::ShutdownAck)]);
    assert_eq!(answers(&net, first), ["SHUTDOWN-COMPLETE(T)"]);
    assert_eq!(parse(&net.sent[first].packet).0.verification_tag, VerificationTag(0x5555));
    net.run_for(Duration::from_secs(1));
    assert!(net.established(a).is_some());
}

/// Section 9.2: the peer has forgotten the association that waits for its SHUTDOWN COMPLETE.
#[test]
fn an_init_in_shutdown_ack_sent_is_answered_by_the_shutdown_ack() {
    let (mut net, at_a, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let (a, z) = (0, 1);
    net.shutdown(a, at_a);
    // SHUTDOWN arrives, the SHUTDOWN ACK does not.
    net.run_for(Duration::from_millis(10));
    net.drop_under_way();
    assert_eq!(answers(&net, 0), ["SHUTDOWN", "SHUTDOWN-ACK"]);
    net.add(&[v4(1, 1)], 5_000, config());
    net.connect(a, z);
    net.run_for(Duration::from_millis(500));
    assert_eq!(answers(&net, 2), ["INIT", "SHUTDOWN-ACK", "SHUTDOWN-COMPLETE(T)"]);
    net.run_for(Duration::from_secs(5));
    let closed = net.events(z).contains(&Event::Closed(CloseReason::ShutdownComplete));
    assert!(closed, "{}", net.trace(0));
    assert!(net.established(a).is_some(), "{}", net.trace(0));
}

/// RFC 9260, section 6.4: the peer calls from its other address, since the first way no longer leads to it.
#[test]
fn a_shutdown_ack_goes_to_where_the_peer_calls_from() {
    for is_cookie in [false, true] {
        let peers = [v4(1, 1), v4(2, 1)];
        let (mut net, at_a, _) = Net::associated(&config(), [&peers, &[v4(1, 2), v4(2, 2)]]);
        net.run_for(Duration::from_secs(2));
        let route = (peers[1], v4(2, 2));
        let Chunk::Init(mut init) = crate::security::init(77) else { panic!() };
        init.parameters = peers.map(Parameter::Address).to_vec();
        let mut call = (0, Chunk::Init(init));
        if is_cookie {
            net.inject_chunks(route, net::header(5_000, 2_905, 0), &[call.1]);
            let (echo, tag) = last_cookie(&net);
            call = (tag, echo);
        }
        net.shutdown(0, at_a);
        net.run_for(Duration::from_millis(10));
        net.drop_under_way();
        assert_eq!(net.sent.last().unwrap().route, (v4(1, 2), peers[0]));
        net.inject_chunks(route, net::header(5_000, 2_905, call.0), &[call.1]);
        let last = net.sent.last().unwrap();
        assert_eq!((describe(&last.packet).as_str(), last.route), ("SHUTDOWN-ACK", (v4(2, 2), peers[1])));
    }
}

/// The cookie in the INIT ACK that was sent last, and the tag that its COOKIE ECHO must have.
fn last_cookie(net: &Net) -> (Chunk, u32) {
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let [Parameter::StateCookie(cookie), ..] = &ack.parameters[..] else { panic!("{ack:?}") };
    (Chunk::CookieEcho(CookieEcho { cookie: cookie.clone() }), ack.fields.initiate_tag.0)
}

/// Section 5.2.4, action B, in ESTABLISHED: our INIT has been answered by one who had a tag of its own, and the cookie
/// for the INIT that crossed ours comes back after that.
#[test]
fn a_cookie_with_our_tag_and_another_of_the_peer_brings_the_peers_new_tag() {
    let mut net = Net::calm();
    let a = v4(1, 1);
    let z = net.add(&[v4(1, 2)], 2_905, config());
    let options = ConnectOptions {
        local_port: net.hosts[z].port,
        peer_addresses: vec![a],
        peer_port: 5_000,
        ..ConnectOptions::default()
    };
    let id = net.hosts[z].endpoint.connect(net.now, &options).unwrap();
    net.drain(z);
    let route = (a, v4(1, 2));
    let Chunk::Init(init) = crate::security::init(77) else { panic!() };
    net.inject_chunks(route, net::header(5_000, 2_905, 0), &[Chunk::Init(init.clone())]);
    let (echo, our_tag) = last_cookie(&net);
    let header = net::header(5_000, 2_905, our_tag);
    let fields = slantpath_sctp::chunk::InitFields { initiate_tag: VerificationTag(55), ..init.fields };
    let parameters = vec![Parameter::StateCookie("of the other".into())];
    net.inject_chunks(route, header, &[Chunk::InitAck(InitAck { fields, parameters })]);
    net.inject_chunks(route, header, &[Chunk::CookieAck(CookieAck)]);
    assert_eq!(net.hosts[z].endpoint.association(id).unwrap().peer_tag(), VerificationTag(55));
    let first = net.sent.len();
    net.inject_chunks(route, header, &[echo]);
    assert_eq!(answers(&net, first), ["COOKIE-ACK"]);
    assert_eq!(parse(&net.sent[first].packet).0.verification_tag, VerificationTag(77));
    net.send(z, id, 0, "from now on");
    assert_eq!(parse(&net.sent[first + 1].packet).0.verification_tag, VerificationTag(77));
}

/// Case of a cookie in COOKIE-ECHOED: it ends the setup, and addresses that the layer above has named are confirmed in
/// the association that comes of it.
#[test]
fn a_cookie_in_cookie_echoed_confirms_the_addresses_that_were_named() {
    let mut net = Net::calm();
    let peers = [v4(1, 1), v4(2, 1), v4(3, 1)];
    let z = net.add(&[v4(1, 2), v4(2, 2), v4(3, 2)], 2_905, config());
    let options = ConnectOptions {
        local_port: net.hosts[z].port,
        peer_addresses: peers[..2].to_vec(),
        peer_port: 5_000,
        ..ConnectOptions::default()
    };
    let id = net.hosts[z].endpoint.connect(net.now, &options).unwrap();
    net.drain(z);
    let route = (peers[0], v4(1, 2));
    let Chunk::Init(mut init) = crate::security::init(77) else { panic!() };
    init.parameters = peers.map(Parameter::Address).to_vec();
    net.inject_chunks(route, net::header(5_000, 2_905, 0), &[Chunk::Init(init.clone())]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let Parameter::StateCookie(cookie) = &ack.parameters[0] else { panic!("{ack:?}") };
    let header = net::header(5_000, 2_905, ack.fields.initiate_tag.0);
    let fields = slantpath_sctp::chunk::InitFields { initiate_tag: VerificationTag(55), ..init.fields };
    let parameters = vec![Parameter::StateCookie("of the other".into())];
    net.inject_chunks(route, header, &[Chunk::InitAck(InitAck { fields, parameters })]);
    net.shutdown(z, id);
    assert!(net.hosts[z].endpoint.association(id).is_none(), "it is in COOKIE-ECHOED");
    net.inject_chunks(route, header, &[Chunk::CookieEcho(CookieEcho { cookie: cookie.clone() })]);
    let association = net.hosts[z].endpoint.association(id).expect("it is established");
    let states: Vec<_> =
        association.path_snapshots(net.now).map(|path| (path.destination, path.state)).collect();
    let [first, second, third] = peers;
    let expected = [(first, PathState::Active), (second, PathState::Active), (third, PathState::Unconfirmed)];
    assert_eq!(states, expected);
    assert_eq!(association.state(), slantpath_sctp::AssociationState::ShutdownSent);
}

/// Section 5.2.4: no new association grows out of one that waits for its SHUTDOWN COMPLETE.
#[test]
fn the_cookie_of_a_restart_in_shutdown_ack_sent_is_refused() {
    let (mut net, at_a, at_z) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let (a, z) = (0, 1);
    let route = (v4(1, 1), v4(1, 2));
    net.inject_chunks(route, net::header(5_000, 2_905, 0), &[crate::security::init(77)]);
    let (echo, tag) = last_cookie(&net);
    net.shutdown(a, at_a);
    net.run_for(Duration::from_millis(10));
    net.drop_under_way();
    let first = net.sent.len();
    net.inject_chunks(route, net::header(5_000, 2_905, tag), &[echo]);
    assert_eq!(answers(&net, first), ["ERROR[10]", "SHUTDOWN-ACK"]);
    assert_eq!(net.events(z), [Event::ShutdownReceived]);
    let state = net.hosts[z].endpoint.association(at_z).map(slantpath_sctp::Association::state);
    assert_eq!(state, Some(slantpath_sctp::AssociationState::ShutdownAckSent));
}
