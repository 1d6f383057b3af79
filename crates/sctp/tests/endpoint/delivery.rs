//! Delivery to the layer above, and its times: parts of messages, pauses, and the senders.

use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::CookieEcho;
use slantpath_sctp::{
    AssociationId, AssociationPeer, Chunk, ConnectOptions, Event, FirstSack, Message, PartPlace, Ppid,
    SctpConfig, StreamId, StreamSequence,
};

use crate::net::{Net, Route, header, parse, v4};

const A: usize = 0;
const Z: usize = 1;

fn associated(receive_buffer_bytes: u32) -> (Net, AssociationId, AssociationId) {
    let first_sack = FirstSack::AsAnyOther;
    let config =
        SctpConfig { receive_buffer_bytes, heartbeat_interval: None, first_sack, ..SctpConfig::default() };
    Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]])
}

/// Advertised window of each SACK.
fn windows(net: &Net, first: usize) -> Vec<u32> {
    let sacks =
        net.sent[first..].iter().flat_map(|sent| parse(&sent.packet).1).filter_map(|chunk| match chunk {
            Chunk::Sack(sack) => Some(sack.a_rwnd),
            _ => None,
        });
    sacks.collect()
}

#[test]
fn the_peer_of_an_accepted_association_is_known_by_its_addresses_and_port() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    let options = ConnectOptions {
        local_port: net.hosts[a].port,
        peer_addresses: vec![v4(1, 2)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    };
    let at_a = net.hosts[a].endpoint.connect(net.now, &options).unwrap();
    net.drain(a);
    let peer = |net: &Net| net.hosts[a].endpoint.peer(at_a).map(|peer| (peer.port, peer.addresses.to_vec()));
    assert_eq!(peer(&net), Some((2_905, vec![v4(1, 2)])), "in COOKIE-WAIT, what was named");
    net.run_for(Duration::from_secs(1));
    assert_eq!(peer(&net), Some((2_905, vec![v4(1, 2), v4(2, 2)])));
    let at_z = net.established(z).unwrap();
    let addresses = &[v4(1, 1), v4(2, 1)][..];
    assert_eq!(net.hosts[z].endpoint.peer(at_z), Some(AssociationPeer { port: 5_000, addresses }));
    net.abort(a, at_a, "over");
    assert_eq!(net.hosts[a].endpoint.peer(at_a), None);
}

#[test]
fn a_paused_reader_closes_the_window_and_opens_it_again() {
    let (mut net, at_a, at_z) = associated(8_000);
    assert!(net.hosts[Z].endpoint.pause_delivery(at_z));
    for number in 0..20_u8 {
        net.send(A, at_a, 0, vec![number; 1_000]);
    }
    net.run_for(Duration::from_millis(500));
    assert_eq!(net.events(Z), []);
    // The last 1,000 bytes are less than a packet, and were promised.
    assert_eq!(windows(&net, 0), [6_000, 4_000, 2_000, 0]);
    let first = net.sent.len();
    assert!(net.hosts[Z].endpoint.resume_delivery(at_z));
    net.drain(Z);
    assert_eq!((net.sent.len() - first, windows(&net, first)), (1, vec![8_000]), "one window update");
    assert_eq!(net.received(Z).len(), 8);
    net.run_for(Duration::from_secs(90));
    let rest: Vec<u8> = net.received(Z).iter().map(|message| message.payload[0]).collect();
    assert_eq!(rest, (8..20).collect::<Vec<_>>());
}

#[test]
fn a_reader_takes_one_message_after_the_other_and_the_window_opens_as_it_does() {
    let (mut net, at_a, at_z) = associated(8_000);
    assert!(net.hosts[Z].endpoint.pause_delivery(at_z));
    for number in 0..8_u8 {
        net.send(A, at_a, 0, vec![number; 1_000]);
    }
    net.run_for(Duration::from_millis(500));
    assert_eq!(net.received(Z), []);
    let first = net.sent.len();
    for taken in 1..=8_u8 {
        // The last one opens the tap.
        assert_eq!(net.hosts[Z].endpoint.deliver_next(at_z), taken < 8);
        net.drain(Z);
        let numbers: Vec<u8> = net.received(Z).iter().map(|message| message.payload[0]).collect();
        assert_eq!(numbers, [taken - 1]);
    }
    // A quarter of the buffer is worth an update.
    assert_eq!(windows(&net, first), [2_000, 4_000, 6_000, 8_000]);
    net.send(A, at_a, 0, vec![8; 1_000]);
    net.run_for(Duration::from_millis(500));
    assert_eq!(net.received(Z).len(), 1);
}

#[test]
fn only_an_established_association_is_paused() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig::default());
    let id = net.connect(a, z);
    let endpoint = &mut net.hosts[a].endpoint;
    assert!(!endpoint.pause_delivery(id) && !endpoint.resume_delivery(id) && !endpoint.deliver_next(id));
}

#[test]
fn a_message_of_a_megabyte_is_delivered_in_parts_and_byte_for_byte() {
    let (mut net, at_a, _) = associated(256 * 1_024);
    let payload: Vec<u8> = (0..1_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    net.send(A, at_a, 3, payload.clone());
    net.run_for(Duration::from_secs(60));
    let events = net.events(Z);
    let parts = events.iter().map(|event| match event {
        Event::ReceivedPart(part) => part,
        other => panic!("{other:?}"),
    });
    let mut parts = parts.collect::<Vec<_>>().into_iter();
    let whole: Vec<u8> = parts.clone().flat_map(|part| part.payload.to_vec()).collect();
    assert!(whole == payload, "{} bytes", whole.len());
    assert!(parts.clone().all(|part| (part.stream, part.sequence) == (StreamId(3), StreamSequence(0))));
    assert_eq!(parts.next().map(|part| part.place), Some(PartPlace::First));
    assert_eq!(parts.next_back().map(|part| part.place), Some(PartPlace::Last));
    assert!(parts.all(|part| part.place == PartPlace::Middle));
}

/// The peer restarts: a new INIT from its address and port, and its cookie.
pub(crate) fn restart(net: &mut Net, route: Route, port: u16) {
    net.inject_chunks(route, header(port, 2_905, 0), &[crate::security::init(4_711)]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let cookie = ack.parameters.iter().find_map(|parameter| match parameter {
        slantpath_sctp::Parameter::StateCookie(cookie) => Some(cookie.clone()),
        _ => None,
    });
    let echo = Chunk::CookieEcho(CookieEcho { cookie: cookie.expect("a cookie") });
    net.inject_chunks(route, header(port, 2_905, ack.fields.initiate_tag.0), &[echo]);
}

#[test]
fn a_restart_passes_on_what_was_held_back_and_leaves_the_reader_paused() {
    let (mut net, at_a, at_z) = associated(100_000);
    net.hosts[Z].endpoint.pause_delivery(at_z);
    net.send(A, at_a, 0, "held back");
    net.run_for(Duration::from_secs(1));
    net.drop_under_way();
    restart(&mut net, (v4(1, 1), v4(1, 2)), 5_000);
    let events = net.events(Z);
    let [Event::Received(held), Event::Restarted] = &events[..] else { panic!("{events:?}") };
    assert_eq!(held.payload, "held back");
    assert!(net.hosts[Z].endpoint.association(at_z).unwrap().is_delivery_paused());
}

#[test]
fn what_was_refused_before_a_restart_is_followed_by_room() {
    let config = SctpConfig { send_buffer_bytes: 1_000, heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, _, at_z) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    let message = |len: usize| Message {
        stream: StreamId(0),
        ppid: Ppid(7),
        payload: vec![7; len].into(),
        is_unordered: false,
        context: 0,
        options: None,
    };
    net.send(Z, at_z, 0, vec![7; 800]);
    net.drop_under_way();
    assert!(net.hosts[Z].endpoint.send(net.now, at_z, message(500)).is_err());
    restart(&mut net, (v4(1, 1), v4(1, 2)), 5_000);
    // What was not acknowledged has come back, so that all of the buffer is free.
    let expected = [
        Event::SendFailed { message: message(800), was_sent: true },
        Event::Restarted,
        Event::SendBufferDrained { free: 1_000 },
    ];
    assert_eq!(net.events(Z), expected);
}

#[test]
fn a_restart_ends_a_delivery_in_parts() {
    let (mut net, at_a, _) = associated(8_000);
    net.send(A, at_a, 2, vec![1; 40_000]);
    net.run_until(net.now + Duration::from_millis(50));
    net.drop_under_way();
    restart(&mut net, (v4(1, 1), v4(1, 2)), 5_000);
    let events = net.events(Z);
    assert!(matches!(events[0], Event::ReceivedPart(_)), "{events:?}");
    let aborted = Event::PartialDeliveryAborted {
        stream: StreamId(2),
        sequence: StreamSequence(0),
        is_unordered: false,
    };
    assert_eq!(events[events.len() - 2..], [aborted, Event::Restarted]);
}

/// A COOKIE ECHO behind an ABORT, in one batch: the association that has ended is not begun anew under its number.
#[test]
fn a_restart_in_one_batch_with_the_end_waits_for_the_end_to_be_told() {
    let (mut net, _, at_z) = associated(8_000);
    net.now = Instant::from_secs(2);
    let endpoint = &mut net.hosts[Z].endpoint;
    let local_tag = endpoint.association(at_z).unwrap().local_tag();
    let route = (v4(1, 1), v4(1, 2));
    let input = |tag, chunk| slantpath_sctp::Input::Packet {
        source: route.0,
        destination: route.1,
        ip: slantpath_wire::ip::IpFields::default(),
        packet: crate::net::packet_of(header(5_000, 2_905, tag), &[chunk]),
    };
    endpoint.handle_input(net.now, input(0, crate::security::init(4_711)));
    let mut packet = slantpath_wire::Packet::default();
    let output = endpoint.poll_output(net.now, &mut packet);
    assert!(matches!(output, slantpath_sctp::Output::Transmit { .. }), "{output:?}");
    let (_, chunks) = parse(&packet);
    let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let Some(slantpath_sctp::Parameter::StateCookie(cookie)) = ack.parameters.first() else { panic!() };
    let abort = Chunk::Abort(slantpath_sctp::chunk::Abort { is_tag_reflected: false, causes: Vec::new() });
    let echo = Chunk::CookieEcho(CookieEcho { cookie: cookie.clone() });
    endpoint.handle_input(net.now, input(local_tag.0, abort));
    endpoint.handle_input(net.now, input(ack.fields.initiate_tag.0, echo));
    net.drain(Z);
    let events = net.events(Z);
    assert!(matches!(events[..], [Event::Closed(_)]), "{events:?}");
    assert_eq!(net.hosts[Z].endpoint.association_count(), 0);
    assert_eq!(net.hosts[Z].endpoint.stats().unexpected_chunks, 1);
}
