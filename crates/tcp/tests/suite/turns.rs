//! What an endpoint asks of whoever drives it: how long to poll it, and when to wake it.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_tcp::{Endpoint, Event, Input, Output, TcpConfig};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpFields;

use crate::pair::{PORT, Pair};

/// The next output with what it has written.
fn poll(endpoint: &mut Endpoint, now: Instant) -> (Output, Packet) {
    let mut packet = Packet::default();
    (endpoint.poll_output(now, &mut packet), packet)
}

/// Hands the next packet that one endpoint sends to the other.
fn pass(now: Instant, from: &mut Endpoint, to: &mut Endpoint) {
    let (Output::Transmit { source, destination, .. }, mut packet) = poll(from, now) else {
        panic!("nothing is sent")
    };
    let (ip, packet) = (IpFields::default(), &mut packet);
    to.handle_input(now, Input::Packet { source, destination, ip, packet });
}

#[test]
fn an_endpoint_is_idle_with_its_last_event_and_sends_what_its_user_answers() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (now, [left, right]) = (pair.now, [&mut pair.left, &mut pair.right]);
    let [sender, receiver] = [left.id(), right.id()];
    for round in 1..=2 {
        left.endpoint.write(now, sender, Bytes::from_static(b"question")).unwrap();
        pass(now, &mut left.endpoint, &mut right.endpoint);
        while !left.endpoint.is_idle() {
            poll(&mut left.endpoint, now);
        }
        let (output, _) = poll(&mut right.endpoint, now);
        assert!(matches!(output, Output::Event(id, Event::Data(_)) if id == receiver), "{output:?}");
        assert!(right.endpoint.is_idle(), "nothing follows in round {round}");
        let delayed_ack = now + Duration::from_millis(200);
        assert_eq!(right.endpoint.deadline(), Some(delayed_ack), "its wake-up is noted already");
        right.endpoint.write(now, receiver, Bytes::from_static(b"answer")).unwrap();
        assert!(!right.endpoint.is_idle());
        pass(now, &mut right.endpoint, &mut left.endpoint);
        while !right.endpoint.is_idle() {
            poll(&mut right.endpoint, now);
        }
    }
}

#[test]
fn one_that_has_told_all_does_not_go_before_others() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (now, Pair { left, right, .. }) = (pair.now, &mut pair);
    let first = right.id();
    // A second connection from the left to the right.
    let from = (left.address, PORT + 1).into();
    left.endpoint.connect(now, from, right.socket(), TcpConfig::default(), &mut left.stream).unwrap();
    pass(now, &mut left.endpoint, &mut right.endpoint);
    pass(now, &mut right.endpoint, &mut left.endpoint);
    pass(now, &mut left.endpoint, &mut right.endpoint);
    while !left.endpoint.is_idle() {
        poll(&mut left.endpoint, now);
    }
    let mut accepted = None;
    while !right.endpoint.is_idle() {
        if let (Output::Event(id, Event::Connected), _) = poll(&mut right.endpoint, now) {
            accepted = Some(id);
        }
    }
    let accepted = accepted.expect("the second connection is accepted");
    // The first connection tells of its data, and then has told all.
    left.endpoint.write(now, left.id.unwrap(), Bytes::from_static(b"data")).unwrap();
    pass(now, &mut left.endpoint, &mut right.endpoint);
    assert!(matches!(poll(&mut right.endpoint, now).0, Output::Event(id, Event::Data(_)) if id == first));
    assert!(right.endpoint.is_idle());
    // What is touched next speaks first.
    right.endpoint.write(now, accepted, Bytes::from_static(b"one")).unwrap();
    right.endpoint.write(now, first, Bytes::from_static(b"other")).unwrap();
    let mut destinations = Vec::new();
    while !right.endpoint.is_idle() {
        if let (Output::Transmit { .. }, packet) = poll(&mut right.endpoint, now) {
            destinations.push(u16::from_be_bytes([packet.head()[2], packet.head()[3]]));
        }
    }
    assert_eq!(destinations, [PORT + 1, PORT]);
}

#[test]
fn a_wake_up_whose_timer_was_put_off_is_noted_anew() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let id = pair.left.id();
    pair.write_left(Bytes::from_static(b"first"));
    let first = pair.left.endpoint.deadline().expect("the retransmission timer runs");
    // It is acknowledged, and what is written later starts the timer anew.
    pair.run_for(Duration::from_millis(500));
    let before = pair.now;
    pair.write_left(Bytes::from_static(b"second"));
    assert_eq!(pair.left.endpoint.deadline(), Some(first), "the first wake-up is kept");

    assert_eq!(pair.left.endpoint.take_due(first), Some(id));
    assert!(pair.left.endpoint.postpone(first, id), "nothing is due at {first}");
    assert!(pair.left.endpoint.is_idle());
    let second = pair.left.endpoint.deadline().expect("the timer runs");
    assert_eq!(second, before + Duration::from_secs(1));

    assert_eq!(pair.left.endpoint.take_due(second), Some(id));
    assert!(!pair.left.endpoint.postpone(second, id), "the timer expires");
    pair.left.endpoint.handle_due(second, id);
    assert!(matches!(poll(&mut pair.left.endpoint, second).0, Output::Transmit { .. }), "it is sent again");
}
