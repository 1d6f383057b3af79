//! Duties of whoever drives an endpoint: how long to poll it, and when to wake it.

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_cc::Algorithm;
use slantpath_tcp::{
    ChecksumPolicy, ConnectionId, DelayedAck, Endpoint, Event, Input, LossDetection, Output, ResetCause,
    Segment, TcpConfig, TcpReports,
};
use slantpath_testkit::{Wire, WireFaults};
use slantpath_wire::Packet;
use slantpath_wire::ip::{Envelope, IpFields};

use crate::pair::{PORT, Pair, chance, pattern};

/// The next output with what it has written.
fn poll(endpoint: &mut Endpoint, now: Instant) -> (Output, Packet) {
    let mut packet = Packet::default();
    (endpoint.poll_output(now, &mut packet), packet)
}

/// Hands the next packet that one endpoint sends to the other.
fn pass(now: Instant, from: &mut Endpoint, to: &mut Endpoint) {
    let (Output::Transmit(Envelope { source, destination, .. }), mut packet) = poll(from, now) else {
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
fn packets_and_events_polled_apart_come_in_the_order_of_all_output() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (now, [left, right]) = (pair.now, [&mut pair.left, &mut pair.right]);
    let [sender, receiver] = [left.id(), right.id()];
    let mut packet = Packet::default();
    let data = |len: usize| Some((receiver, Event::Data(Bytes::from(vec![0; len]))));
    // One segment is acknowledged later, two at once.
    for (len, acknowledges) in [(100, false), (100, true)] {
        left.endpoint.write(now, sender, Bytes::from(vec![0; len])).unwrap();
        pass(now, &mut left.endpoint, &mut right.endpoint);
        assert_eq!(right.endpoint.poll_event(), None, "a packet may come before it");
        let sent = right.endpoint.poll_transmit(now, &mut packet).map(|envelope| envelope.destination);
        assert_eq!(sent, acknowledges.then_some(left.address));
        assert!(!right.endpoint.is_idle());
        assert_eq!(right.endpoint.poll_event(), data(len));
        assert_eq!(right.endpoint.poll_event(), None);
        assert!(right.endpoint.is_idle());
    }
}

#[test]
fn an_endpoint_is_idle_while_what_has_come_waits_for_a_reader_that_is_held() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (now, [left, right]) = (pair.now, [&mut pair.left, &mut pair.right]);
    let [sender, receiver] = [left.id(), right.id()];
    let mut packet = Packet::default();
    right.endpoint.hold(now, receiver).unwrap();
    left.endpoint.write(now, sender, Bytes::from_static(b"data")).unwrap();
    pass(now, &mut left.endpoint, &mut right.endpoint);
    assert!(right.endpoint.poll_transmit(now, &mut packet).is_none());
    assert_eq!((right.endpoint.poll_event(), right.endpoint.is_idle()), (None, true));
    right.endpoint.release(now, receiver).unwrap();
    let window = right.endpoint.poll_transmit(now, &mut packet);
    assert!(window.is_some(), "it is larger than that of the handshake");
    assert_eq!(right.endpoint.poll_event(), Some((receiver, Event::Data(Bytes::from_static(b"data")))));
}

#[test]
fn an_endpoint_is_idle_with_the_last_packet_that_its_window_lets_out() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (id, endpoint) = (pair.left.id(), &mut pair.left.endpoint);
    // The wake-up of the handshake has come, and was not needed.
    let now = Instant::from_secs(1);
    assert_eq!(endpoint.take_due(now), Some(id));
    assert!(endpoint.postpone(now, id));
    endpoint.write(now, id, Bytes::from(vec![0; 100_000])).unwrap();
    let mut sent = 0;
    while !endpoint.is_idle() {
        assert!(matches!(poll(endpoint, now).0, Output::Transmit(_)), "after {sent} packets");
        sent += 1;
    }
    assert_eq!((sent, endpoint.deadline()), (10, Some(now + Duration::from_secs(1))));
}

#[test]
fn an_endpoint_is_idle_with_what_is_written_behind_a_waiting_segment_and_not_with_what_fills_one() {
    let config = TcpConfig { nagle: true, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, TcpConfig::default());
    let (now, id, endpoint) = (pair.now, pair.left.id(), &mut pair.left.endpoint);
    let write = |endpoint: &mut Endpoint, len: usize| {
        endpoint.write(now, id, Bytes::from(vec![0; len])).unwrap();
        let was_idle = endpoint.is_idle();
        let mut sent = 0;
        while !endpoint.is_idle() {
            sent += usize::from(matches!(poll(endpoint, now).0, Output::Transmit(_)));
        }
        (was_idle, sent)
    };
    assert_eq!(write(endpoint, 100), (false, 1));
    assert_eq!(write(endpoint, 100), (false, 0), "less than a segment waits for the one before");
    assert_eq!(write(endpoint, 1_460), (false, 1), "it fills that segment");
    assert_eq!(write(endpoint, 100_000), (false, 8), "the rest waits for the window");
    assert_eq!(write(endpoint, 100_000), (true, 0));
}

#[test]
fn an_endpoint_that_finds_losses_by_time_is_idle_with_that_packet_too() {
    let config = TcpConfig { loss_detection: LossDetection::Rack, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    let (id, now, endpoint) = (pair.left.id(), pair.now, &mut pair.left.endpoint);
    endpoint.write(now, id, Bytes::from(vec![0; 100_000])).unwrap();
    let mut sent = 0;
    while !endpoint.is_idle() {
        assert!(matches!(poll(endpoint, now).0, Output::Transmit(_)), "after {sent} packets");
        sent += 1;
    }
    // A probe is due after two round trips of 100 ms.
    assert_eq!((sent, endpoint.deadline()), (10, Some(now + Duration::from_millis(200))));
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
        if let (Output::Transmit(_), packet) = poll(&mut right.endpoint, now) {
            destinations.push(u16::from_be_bytes([packet.head()[2], packet.head()[3]]));
        }
    }
    assert_eq!(destinations, [PORT + 1, PORT]);
}

#[test]
fn a_packet_is_for_its_own_connection_whichever_its_driver_has_in_mind() {
    let config = TcpConfig { checksum: ChecksumPolicy::Omit, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    let (now, Pair { left, right, .. }) = (pair.now, &mut pair);
    let first = right.id();
    let from = (left.address, PORT + 1).into();
    let second =
        left.endpoint.connect(now, from, right.socket(), config, &mut left.stream).expect("the port is free");
    pass(now, &mut left.endpoint, &mut right.endpoint);
    pass(now, &mut right.endpoint, &mut left.endpoint);
    pass(now, &mut left.endpoint, &mut right.endpoint);
    let mut accepted = None;
    while !right.endpoint.is_idle() {
        if let (Output::Event(id, Event::Connected), _) = poll(&mut right.endpoint, now) {
            accepted = Some(id);
        }
    }
    while !left.endpoint.is_idle() {
        poll(&mut left.endpoint, now);
    }
    let accepted = accepted.expect("the second connection is accepted");
    let mut packet = Packet::default();
    for likely in [Some(first), Some(accepted), None] {
        for (sender, receiver) in [(left.id.expect("it is connected"), first), (second, accepted)] {
            left.endpoint.write(now, sender, Bytes::from_static(b"data")).unwrap();
            let envelope = *left.endpoint.poll_transmit(now, &mut packet).expect("it is sent");
            let strange = [
                Envelope { source: "10.9.9.9".parse().unwrap(), ..envelope },
                Envelope { destination: "10.9.9.9".parse().unwrap(), ..envelope },
            ];
            for envelope in strange {
                right.endpoint.handle_packet(now, likely, &envelope, &mut packet.clone());
                let mut is_silent = || right.endpoint.poll_transmit(now, &mut Packet::default()).is_none();
                assert!((0..100).any(|_| is_silent()), "it does not stop sending");
                assert_eq!(right.endpoint.poll_event(), None, "{envelope:?}");
            }
            right.endpoint.handle_packet(now, likely, &envelope, &mut packet);
            let (output, mut answer) = poll(&mut right.endpoint, now);
            let output = if let Output::Transmit(envelope) = output {
                left.endpoint.handle_packet(now, None, &envelope, &mut answer);
                poll(&mut right.endpoint, now).0
            } else {
                output
            };
            assert!(matches!(output, Output::Event(id, Event::Data(_)) if id == receiver), "{output:?}");
            while !right.endpoint.is_idle() {
                poll(&mut right.endpoint, now);
            }
        }
    }
}

#[test]
fn one_that_has_told_all_speaks_again_after_a_packet_for_it() {
    let config = TcpConfig { checksum: ChecksumPolicy::Omit, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    let (now, [left, right]) = (pair.now, [&mut pair.left, &mut pair.right]);
    let [sender, receiver] = [left.id(), right.id()];
    let mut packet = Packet::default();
    for _ in 0..4 {
        left.endpoint.write(now, sender, Bytes::from_static(b"data")).unwrap();
        let envelope = *left.endpoint.poll_transmit(now, &mut packet).expect("it is sent");
        right.endpoint.handle_packet(now, Some(receiver), &envelope, &mut packet);
        assert!(!right.endpoint.is_idle());
        if let Some(envelope) = right.endpoint.poll_transmit(now, &mut packet).copied() {
            left.endpoint.handle_packet(now, Some(sender), &envelope, &mut packet);
        }
        assert_eq!(right.endpoint.poll_event(), Some((receiver, Event::Data(Bytes::from_static(b"data")))));
        assert!(right.endpoint.is_idle());
    }
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
    assert!(matches!(poll(&mut pair.left.endpoint, second).0, Output::Transmit(_)), "it is retransmitted");
}

/// Hands everything that one endpoint sends to the other.
fn pass_all(now: Instant, from: &mut Endpoint, to: &mut Endpoint) {
    let mut packet = Packet::default();
    // Far more than any of these tests sends at once.
    for _ in 0..10_000 {
        match from.poll_output(now, &mut packet) {
            Output::Event(..) => {}
            Output::Transmit(Envelope { source, destination, .. }) => {
                let (ip, packet) = (IpFields::default(), &mut packet);
                to.handle_input(now, Input::Packet { source, destination, ip, packet });
            }
            Output::Wait(_) => return,
        }
    }
    panic!("it does not stop sending");
}

/// A pair whose left side has called, while the right side has yet to tell that it is connected.
fn called(config: TcpConfig) -> (Pair, ConnectionId) {
    let mut pair = Pair::new(1, WireFaults::none(Duration::ZERO));
    pair.right.endpoint.listen(PORT, config, chance()).unwrap();
    let id = call(&mut pair, config);
    (pair, id)
}

fn call(pair: &mut Pair, config: TcpConfig) -> ConnectionId {
    let Pair { now, left, right, .. } = pair;
    let (from, to) = (left.socket(), right.socket());
    let id = left.endpoint.connect(*now, from, to, config, &mut left.stream).unwrap();
    pass(*now, &mut left.endpoint, &mut right.endpoint);
    pass(*now, &mut right.endpoint, &mut left.endpoint);
    pass_all(*now, &mut left.endpoint, &mut right.endpoint);
    id
}

/// Events that an endpoint tells, and whether it is idle after each.
fn reported(endpoint: &mut Endpoint, now: Instant) -> Vec<(Event, bool)> {
    let mut told = Vec::new();
    loop {
        match poll(endpoint, now).0 {
            Output::Event(_, event) => told.push((event, endpoint.is_idle())),
            Output::Transmit(_) => {}
            Output::Wait(_) => return told,
        }
    }
}

#[test]
fn an_endpoint_is_idle_with_the_last_of_several_events_and_not_before() {
    let config = TcpConfig {
        delayed_ack: DelayedAck::Off,
        reports: TcpReports { acked: true, ..TcpReports::default() },
        ..TcpConfig::default()
    };
    let (mut pair, id) = called(config);
    let (now, Pair { left, right, .. }) = (pair.now, &mut pair);
    left.endpoint.write(now, id, Bytes::from_static(b"data")).unwrap();
    pass_all(now, &mut left.endpoint, &mut right.endpoint);
    pass(now, &mut right.endpoint, &mut left.endpoint);
    left.endpoint.write(now, id, Bytes::from_static(b"more")).unwrap();
    pass(now, &mut left.endpoint, &mut right.endpoint);
    pass(now, &mut right.endpoint, &mut left.endpoint);
    let acked = |up_to_bytes| Event::Acked { up_to_bytes };
    assert_eq!(reported(&mut left.endpoint, now), [(acked(4), false), (acked(8), true)]);
    left.endpoint.close(now, id).unwrap();
    pass_all(now, &mut left.endpoint, &mut right.endpoint);
    let data = |bytes| Event::Data(Bytes::from_static(bytes));
    assert_eq!(
        reported(&mut right.endpoint, now),
        [
            (Event::Connected, false),
            (data(b"data"), false),
            (data(b"more"), false),
            (Event::PeerClosed, true)
        ]
    );
}

#[test]
fn a_connection_that_is_over_is_let_go_before_the_next_packet() {
    let (mut pair, id) = called(TcpConfig::default());
    let now = pair.now;
    pair.left.endpoint.abort(now, id).unwrap();
    pass_all(now, &mut pair.left.endpoint, &mut pair.right.endpoint);
    // The last event does not make it idle: the connection is to be let go.
    let reset = Event::Reset(ResetCause::ByPeer);
    assert_eq!(reported(&mut pair.right.endpoint, now), [(Event::Connected, false), (reset, false)]);
    assert!(pair.right.endpoint.is_idle());
    // The same port calls again.
    call(&mut pair, TcpConfig::default());
    assert_eq!(reported(&mut pair.right.endpoint, now), [(Event::Connected, true)]);
}

#[test]
fn each_connection_has_the_configuration_that_it_was_given() {
    let mut pair = Pair::new(1, WireFaults::none(Duration::ZERO));
    let (left, now) = (&mut pair.left, pair.now);
    for (port, mss_bytes) in [(PORT, 1_000), (PORT + 1, 1_000), (PORT + 2, 1_200), (PORT + 3, 1_000)] {
        let config = TcpConfig { mss_bytes, ..TcpConfig::default() };
        let (from, to) = ((left.address, port).into(), (left.address, 9).into());
        left.endpoint.connect(now, from, to, config, &mut left.stream).unwrap();
        let (_, packet) = poll(&mut left.endpoint, now);
        let (segment, _) = Segment::parse(&packet, left.address, left.address).unwrap();
        assert_eq!(segment.options.mss_bytes, Some(mss_bytes as u16));
        while !left.endpoint.is_idle() {
            poll(&mut left.endpoint, now);
        }
    }
}

#[test]
fn a_header_that_cannot_be_read_is_counted() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (source, destination) = (pair.left.address, pair.right.address);
    for count in 1..=2 {
        let syn = pair.left.sent[0].segment;
        let mut packet = syn.emit(Bytes::new(), source, destination, ChecksumPolicy::Omit);
        // The length of the first option.
        packet.head_mut()[21] = 0;
        let ip = IpFields::default();
        let input = Input::Packet { source, destination, ip, packet: &mut packet };
        pair.right.endpoint.handle_input(pair.now, input);
        assert_eq!(pair.right.endpoint.statistics().malformed, count);
    }
}

#[test]
fn what_is_paced_wakes_its_endpoint_once_for_each_quantum_and_leaves_no_wake_up_of_a_timer_behind() {
    let config = TcpConfig {
        congestion_control: Algorithm::Hybla,
        receive_buffer_bytes: 60_000,
        send_buffer_bytes: 2_000_000,
        ..TcpConfig::default()
    };
    let mut pair = Pair::connected(config, config);
    // Acknowledgements come a little early or late, so that what they let out is often held.
    let jitter = WireFaults {
        reordering: Probability::ALWAYS,
        extra_delay_max: Duration::from_millis(4),
        ..WireFaults::none(Duration::from_millis(50))
    };
    pair.leftwards = Wire::new(jitter, Seed::new(1, 0).stream("jitter"));
    pair.write_left(pattern(1_000_000));
    let (mut with_packets, mut without) = (0, 0);
    while let Some(next) = pair.next_time().filter(|next| *next < Instant::from_secs(4)) {
        let sent_before = pair.left.sent.len();
        let is_woken =
            pair.left.endpoint.deadline() == Some(next) && pair.leftwards.next_arrival() != Some(next);
        pair.step();
        match (is_woken, pair.left.sent.len() > sent_before) {
            (true, true) => with_packets += 1,
            (true, false) => without += 1,
            (false, _) => {}
        }
    }
    // The others are the retransmission timer's, which is put off each time.
    assert_eq!((with_packets, without), (104, 3));
}
