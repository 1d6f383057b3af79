//! Messages that are handed over before the association is there, and what is left of their lifetimes once it is.

use crate::net::{Net, describe, parse, v4};
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::Error;
use slantpath_sctp::{
    AssociationId, Cause, Chunk, Event, Extension, Extensions, Message, Ppid, Reliability, ReliabilityPolicy,
    SctpConfig, SendError, SendOptions, StreamId,
};

const A: usize = 0;
const Z: usize = 1;

fn two() -> Net {
    let mut net = Net::calm();
    let config = SctpConfig {
        heartbeat_interval: None,
        send_buffer_bytes: 1_000,
        extensions: Extensions::of(&[Extension::PartialReliability]),
        ..SctpConfig::default()
    };
    net.add(&[v4(1, 1)], 5_000, config.clone());
    net.add(&[v4(1, 2)], 2_905, config);
    net.listen(Z);
    net
}

/// A message of so many bytes, all of which are its number.
fn message(number: u8, len: usize, reliability: Reliability) -> Message {
    let options = SendOptions { reliability, ..SendOptions::default() };
    Message {
        stream: StreamId(0),
        ppid: Ppid(7),
        payload: vec![number; len].into(),
        is_unordered: false,
        context: number.into(),
        options: options.for_message(),
    }
}

const fn millis(lifetime_ms: u64) -> Reliability {
    Reliability::Lifetime(Duration::from_millis(lifetime_ms))
}

fn send(net: &mut Net, host: usize, id: AssociationId, message: Message) -> Result<(), SendError> {
    let result = net.hosts[host].endpoint.send(net.now, id, message);
    net.drain(host);
    result
}

/// The peer says that the cookie that is on its way came too late.
fn refuse_cookie(net: &mut Net) {
    net.drop_under_way();
    let is_init_ack = |sent: &&crate::net::Sent| describe(&sent.packet) == "INIT-ACK";
    let (header, _) = parse(&net.sent.iter().rev().find(is_init_ack).unwrap().packet);
    let stale = Chunk::Error(Error::because(Cause::StaleCookie { staleness_us: 5 }));
    net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[stale]);
}

/// The numbers of the messages that a host has been told of as given up, and by which rule.
fn given_up(events: &[Event]) -> Vec<(u64, ReliabilityPolicy, bool)> {
    let number = |event: &Event| match event {
        Event::Abandoned { message, policy, was_sent } => {
            assert_eq!(message.options, None);
            Some((message.context, *policy, *was_sent))
        }
        _ => None,
    };
    events.iter().filter_map(number).collect()
}

fn arrived(net: &mut Net) -> Vec<u8> {
    net.received(Z).into_iter().map(|message| message.payload[0]).collect()
}

#[test]
fn a_lifetime_ends_while_the_init_is_not_answered() {
    let mut net = two();
    net.cut(v4(1, 1), v4(1, 2));
    let id = net.connect(A, Z);
    net.run_until(Instant::from_millis(5));
    send(&mut net, A, id, message(1, 600, millis(200))).unwrap();
    send(&mut net, A, id, message(2, 300, millis(1_500))).unwrap();
    let full = SendError::BufferFull { wanted: 200, free: 100 };
    assert_eq!(send(&mut net, A, id, message(3, 200, millis(0))), Err(full));
    net.run_until(Instant::from_millis(204));
    assert_eq!(net.events(A), []);
    net.run_until(Instant::from_millis(205));
    assert_eq!(given_up(&net.events(A)), [(1, ReliabilityPolicy::Lifetime, false)]);
    // There is room again, and what is worth nothing is told at once.
    send(&mut net, A, id, message(4, 700, millis(0))).unwrap();
    assert_eq!(given_up(&net.events(A)), [(4, ReliabilityPolicy::Lifetime, false)]);
    send(&mut net, A, id, message(5, 700, Reliability::Full)).unwrap();
    net.run_until(Instant::from_millis(1_505));
    assert_eq!(given_up(&net.events(A)), [(2, ReliabilityPolicy::Lifetime, false)]);
    let inits = net.sent.iter().map(|sent| sent.at).collect::<Vec<_>>();
    assert_eq!(inits, [0, 1_000].map(Instant::from_millis), "T1-init keeps its own time");
    net.mend();
    net.run_until(Instant::from_secs(10));
    assert_eq!(arrived(&mut net), [5]);
    assert_eq!(given_up(&net.events(A)), []);
}

#[test]
fn a_lifetime_ends_while_the_cookie_is_not_answered() {
    let mut net = two();
    let id = net.connect(A, Z);
    net.run_until(Instant::from_millis(20));
    net.cut(v4(1, 1), v4(1, 2));
    net.drop_under_way();
    net.run_until(Instant::from_millis(25));
    send(&mut net, A, id, message(1, 10, millis(30))).unwrap();
    net.run_until(Instant::from_millis(54));
    assert_eq!(net.events(A), []);
    net.run_until(Instant::from_millis(55));
    assert_eq!(given_up(&net.events(A)), [(1, ReliabilityPolicy::Lifetime, false)]);
    net.mend();
    net.run_until(Instant::from_secs(10));
    let echoes = net.sent.iter().filter(|sent| describe(&sent.packet).starts_with("COOKIE-ECHO"));
    let at: Vec<_> = echoes.map(|sent| sent.at).collect();
    assert_eq!(at, [20, 1_020].map(Instant::from_millis), "T1-cookie keeps its own time");
    assert_eq!((arrived(&mut net), given_up(&net.events(A))), (vec![], vec![]));
}

/// The first COOKIE ECHO, at 20 ms, is refused at 25, and the second leaves at 45.
#[test]
fn a_lifetime_goes_on_while_the_setup_begins_anew() {
    for (lifetime_ms, arrives) in [(39, false), (41, true)] {
        let mut net = two();
        let id = net.connect(A, Z);
        net.run_until(Instant::from_millis(5));
        send(&mut net, A, id, message(1, 10, millis(lifetime_ms))).unwrap();
        send(&mut net, A, id, message(2, 10, Reliability::Full)).unwrap();
        net.run_until(Instant::from_millis(25));
        refuse_cookie(&mut net);
        net.run_until(Instant::from_millis(44));
        let told: &[_] = if arrives { &[] } else { &[(1, ReliabilityPolicy::Lifetime, false)] };
        assert_eq!(given_up(&net.events(A)), told, "{lifetime_ms} ms");
        net.run_until(Instant::from_secs(1));
        assert_eq!(given_up(&net.events(A)), [], "{lifetime_ms} ms");
        assert_eq!(arrived(&mut net), if arrives { vec![1, 2] } else { vec![2] }, "{lifetime_ms} ms");
    }
}

/// Checks that a message that does not fit behind the second COOKIE ECHO, at 45 ms, has the rest of its lifetime to
/// wait for the COOKIE ACK, at 65 ms.
#[test]
fn a_setup_that_begins_anew_gives_no_new_lifetime() {
    for (lifetime_ms, expires_at_ms) in [(55, Some(60)), (61, None)] {
        let mut net = two();
        net.hosts.clear();
        for host in [1, 2] {
            let config =
                SctpConfig { heartbeat_interval: None, initial_path_mtu: 568, ..SctpConfig::default() };
            net.add(&[v4(1, host)], 5_000, config);
        }
        net.listen(Z);
        let id = net.connect(A, Z);
        net.run_until(Instant::from_millis(5));
        send(&mut net, A, id, message(1, 450, millis(lifetime_ms))).unwrap();
        net.run_until(Instant::from_millis(25));
        refuse_cookie(&mut net);
        net.run_until(Instant::from_millis(expires_at_ms.unwrap_or(66) - 1));
        assert_eq!(given_up(&net.events(A)), [], "{lifetime_ms} ms");
        net.run_until(Instant::from_secs(1));
        let told: &[_] =
            if expires_at_ms.is_some() { &[(1, ReliabilityPolicy::Lifetime, false)] } else { &[] };
        assert_eq!(given_up(&net.events(A)), told, "{lifetime_ms} ms");
        let came: &[u8] = if expires_at_ms.is_some() { &[] } else { &[1] };
        assert_eq!(arrived(&mut net), came, "{lifetime_ms} ms");
    }
}

/// Checks that a message that has been given up is not handed over anew, where there would be no room for both.
#[test]
fn what_made_room_while_the_cookie_was_on_its_way_does_not_come_back_if_that_was_stale() {
    for (first, policy) in
        [(Reliability::Priority(5), ReliabilityPolicy::Priority), (millis(10), ReliabilityPolicy::Lifetime)]
    {
        let mut net = two();
        let id = net.connect(A, Z);
        net.run_until(Instant::from_millis(25));
        send(&mut net, A, id, message(1, 800, first)).unwrap();
        net.now += Duration::from_millis(10);
        send(&mut net, A, id, message(2, 800, Reliability::Full)).unwrap();
        assert_eq!(given_up(&net.events(A)), [(1, policy, false)], "told at once");
        refuse_cookie(&mut net);
        net.run_until(Instant::from_secs(1));
        let events = net.events(A);
        assert!(matches!(events[..], [Event::Established { .. }]), "{events:?}");
        assert_eq!(arrived(&mut net), [2]);
    }
}

/// The peer begins by itself at 15 ms, has another tag by then than the one in our cookie, and discards that: its own
/// arrives at 45 ms.
#[test]
fn a_setup_that_a_slower_one_crosses_gives_no_new_lifetime() {
    for (lifetime_ms, arrives) in [(44, false), (46, true)] {
        let mut net = two();
        let id = net.connect(A, Z);
        send(&mut net, A, id, message(1, 100, millis(lifetime_ms))).unwrap();
        send(&mut net, A, id, message(2, 100, Reliability::Full)).unwrap();
        net.run_until(Instant::from_millis(15));
        net.connect(Z, A);
        net.run_until(Instant::from_millis(22));
        send(&mut net, A, id, message(3, 100, millis(7))).unwrap();
        net.run_until(Instant::from_millis(29));
        assert_eq!(given_up(&net.events(A)), [(3, ReliabilityPolicy::Lifetime, false)]);
        send(&mut net, A, id, message(4, 100, Reliability::Full)).unwrap();
        net.run_until(Instant::from_secs(5));
        let told: &[_] = if arrives { &[] } else { &[(1, ReliabilityPolicy::Lifetime, false)] };
        assert_eq!(given_up(&net.events(A)), told, "{lifetime_ms} ms");
        let came: &[u8] = if arrives { &[1, 2, 4] } else { &[2, 4] };
        assert_eq!(arrived(&mut net), came, "{lifetime_ms} ms: {}", net.trace(0));
    }
}
