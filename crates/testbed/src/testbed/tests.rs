//! Two nodes with a link that carries all at once: what one leaves, the other has.

use slantpath_base::Duration;
use slantpath_live::{Peer, PortAssociations, Received};
use slantpath_relay::HostInterface;
use slantpath_wire::{Checksum, fragment};

use super::*;

const NOW: Instant = Instant::START;

fn address(node: u8) -> IpAddr {
    [10, 0, 0, node + 1].into()
}

/// Two nodes, whose link carries frames or IP packets.
fn testbed(carries_frames: bool) -> Testbed {
    let node = |own: u8| HostConfig {
        name: ["near", "far"][usize::from(own)].to_owned(),
        interfaces: vec![HostInterface {
            id: InterfaceId::new(own.into()),
            addresses: vec![address(own)],
            mtu_bytes: 1_500,
            carries_frames,
        }],
        reaches: vec![(address(1 - own), ["far", "near"][usize::from(own)].to_owned(), 0)],
    };
    Testbed::new(vec![node(0), node(1)], TcpConfig::default(), Seed::new(1, 0))
}

/// Carries packets until there are none; gives what has happened.
fn exchange(testbed: &mut Testbed, now: Instant) -> Vec<TestbedEvent> {
    exchange_over(testbed, now, |packet| vec![packet])
}

/// Variant of [`exchange`] over a router that makes several packets of one.
fn exchange_over(
    testbed: &mut Testbed,
    now: Instant,
    router: impl Fn(Packet) -> Vec<Packet>,
) -> Vec<TestbedEvent> {
    testbed.handle_deadline(now);
    while let Some((interface, packet)) = testbed.poll_packet(now) {
        let other = if interface == InterfaceId::new(0) { InterfaceId::new(1) } else { InterfaceId::new(0) };
        for packet in router(packet) {
            testbed.handle_packet(now, other, packet);
        }
    }
    testbed.has_event();
    std::iter::from_fn(|| testbed.poll_event()).collect()
}

#[test]
fn a_connection_carries_bytes_both_ways_and_ends_at_both_ends() {
    for carries_frames in [false, true] {
        let mut testbed = testbed(carries_frames);
        let port = testbed.listen(1, 80).unwrap();
        let server = SocketAddr::new(address(1), port);
        let (caller, local) = testbed.connect(NOW, 0, (None, 0), server).unwrap();
        assert_eq!(local, SocketAddr::new(address(0), 49_152));
        let accepted = TestbedStream(1);
        assert_eq!(
            exchange(&mut testbed, NOW),
            [
                TestbedEvent::Connected(caller),
                TestbedEvent::Accepted { node: 1, stream: accepted, local: server, remote: local },
            ]
        );
        testbed.write(NOW, caller, Bytes::from_static(b"ask")).unwrap();
        assert_eq!(exchange(&mut testbed, NOW), [TestbedEvent::Data(accepted, Bytes::from_static(b"ask"))]);
        testbed.close(NOW, caller);
        assert_eq!(exchange(&mut testbed, NOW), [TestbedEvent::PeerClosed(accepted)]);
        testbed.close(NOW, accepted);
        let ended = exchange(&mut testbed, NOW);
        assert!(ended.contains(&TestbedEvent::PeerClosed(caller)), "{ended:?}");
        assert!(ended.contains(&TestbedEvent::Closed(accepted)), "{ended:?}");
    }
}

#[test]
fn a_port_that_has_stopped_listening_refuses_and_may_listen_anew() {
    let mut testbed = testbed(false);
    let server = SocketAddr::new(address(1), 80);
    assert_eq!(testbed.listen(1, 80), Ok(80));
    let in_use = SocketError::InUse { node: "far".to_owned(), protocol: "TCP", port: 80 };
    assert_eq!(testbed.listen(1, 80), Err(in_use));
    testbed.stop_listening(1, 80);
    let (refused, _) = testbed.connect(NOW, 0, (None, 0), server).unwrap();
    assert_eq!(exchange(&mut testbed, NOW), [TestbedEvent::Reset(refused, ResetCause::Refused)]);
    assert_eq!(testbed.listen(1, 80), Ok(80));
    let (taken, _) = testbed.connect(NOW, 0, (None, 0), server).unwrap();
    assert!(exchange(&mut testbed, NOW).contains(&TestbedEvent::Connected(taken)));
}

#[test]
fn a_datagram_comes_to_an_open_port_alone_with_the_number_of_its_sender() {
    let mut testbed = testbed(false);
    let server = SocketAddr::new(address(1), 53);
    let port = testbed.open_udp(0, 0).unwrap();
    let payload = Bytes::from_static(b"who?");
    let sent = testbed.send_datagram(0, (None, port), server, payload.clone()).unwrap();
    assert_eq!(sent, (address(0), Some(1)));
    assert_eq!(exchange(&mut testbed, NOW), []);
    testbed.open_udp(1, 53).unwrap();
    testbed.send_datagram(0, (None, port), server, payload.clone()).unwrap();
    let remote = SocketAddr::new(address(0), port);
    let identification = Some(2);
    assert_eq!(
        exchange(&mut testbed, NOW),
        [TestbedEvent::Datagram { node: 1, local: server, remote, identification, payload }]
    );
    let nowhere = SocketAddr::new([192, 0, 2, 1].into(), 53);
    let unreachable = SocketError::Unreachable { node: "near".to_owned(), destination: nowhere.ip() };
    assert_eq!(testbed.send_datagram(0, (None, port), nowhere, Bytes::new()), Err(unreachable));
}

#[test]
fn ports_of_sctp_carry_messages_in_ip_and_in_udp() {
    let udp = |local_port, remote_port| SctpCarriage::Udp { local_port, remote_port };
    for (near, far) in [(SctpCarriage::Ip, SctpCarriage::Ip), (udp(0, 9_899), udp(9_899, 1))] {
        for carries_frames in [false, true] {
            let mut testbed = testbed(carries_frames);
            let open = |testbed: &mut Testbed, node, carriage, port| {
                let ports = testbed.add_sctp(node, Vec::new(), carriage).unwrap();
                let (settings, associations) = (SctpConfig::default(), AssociationsConfig::default());
                (ports, testbed.open_sctp(ports, port, settings, associations).unwrap().0)
            };
            let (near, caller) = open(&mut testbed, 0, near, 0);
            let (far, server) = open(&mut testbed, 1, far, 5_000);
            let peer = Peer { addresses: vec![address(1)], port: 5_000 };
            let station = &mut testbed.sctp_mut(near).unwrap().station;
            let call = station.program.connect(NOW, &mut station.host, caller, &peer).unwrap();
            let news = exchange(&mut testbed, NOW);
            assert_eq!(news, [TestbedEvent::Associations(near), TestbedEvent::Associations(far)]);
            let accepted = testbed.sctp_mut(far).unwrap().station.program.accept(server).unwrap();
            let station = &mut testbed.sctp_mut(near).unwrap().station;
            let message = slantpath_live::MessageOptions::default().message(3, Bytes::from_static(b"hello"));
            station.program.send(NOW, &mut station.host, call, message).unwrap();
            exchange(&mut testbed, NOW);
            let station = &mut testbed.sctp_mut(far).unwrap().station;
            let received = PortAssociations::receive(&mut station.program, NOW, &mut station.host, accepted);
            let Received::Message(message) = received else { panic!("{received:?}") };
            assert_eq!(message.payload, &b"hello"[..]);
        }
    }
}

/// Fragments of a packet, as of one that may be cut, the last one first.
fn fragments(mut packet: Packet) -> Vec<Packet> {
    packet.complete();
    let bytes = packet.contiguous();
    let (header, header_len) = IpHeader::parse_header(&bytes).unwrap();
    let header = IpHeader { fragmentation: Fragmentation::Allowed { identification: 7 }, ..header };
    let mut packet = Packet::shared(bytes.slice(header_len..), Checksum::Complete);
    header.emit(packet.prepend(header_len));
    let mut fragments = fragment::cut(&packet.contiguous(), 576, 7).unwrap();
    fragments.reverse();
    fragments
}

#[test]
fn fragments_of_sctp_come_to_the_port_that_the_first_of_them_names() {
    let mut testbed = testbed(false);
    let open = |testbed: &mut Testbed, node, port| {
        let ports = testbed.add_sctp(node, Vec::new(), SctpCarriage::Ip).unwrap();
        let (settings, associations) = (SctpConfig::default(), AssociationsConfig::default());
        (ports, testbed.open_sctp(ports, port, settings, associations).unwrap().0)
    };
    let (near, caller) = open(&mut testbed, 0, 0);
    open(&mut testbed, 1, 4_999);
    let (far, server) = open(&mut testbed, 1, 5_000);
    let peer = Peer { addresses: vec![address(1)], port: 5_000 };
    let station = &mut testbed.sctp_mut(near).unwrap().station;
    let call = station.program.connect(NOW, &mut station.host, caller, &peer).unwrap();
    exchange(&mut testbed, NOW);
    let accepted = testbed.sctp_mut(far).unwrap().station.program.accept(server).unwrap();
    let station = &mut testbed.sctp_mut(near).unwrap().station;
    let message = slantpath_live::MessageOptions::default().message(3, Bytes::from(vec![7; 1_300]));
    station.program.send(NOW, &mut station.host, call, message).unwrap();
    exchange_over(&mut testbed, NOW, fragments);
    let station = &mut testbed.sctp_mut(far).unwrap().station;
    let received = PortAssociations::receive(&mut station.program, NOW, &mut station.host, accepted);
    let Received::Message(message) = received else { panic!("{received:?}") };
    assert_eq!(message.payload, vec![7; 1_300]);
}

#[test]
fn an_own_address_of_the_other_version_of_ip_leads_nowhere() {
    let [v4, v6]: [IpAddr; 2] = [address(0), "fd00::1".parse().unwrap()];
    let far: IpAddr = "fd00::2".parse().unwrap();
    let interface = HostInterface {
        id: InterfaceId::new(0),
        addresses: vec![v4, v6],
        mtu_bytes: 1_500,
        carries_frames: false,
    };
    let reaches = vec![(far, "far".to_owned(), 0)];
    let node = HostConfig { name: "near".to_owned(), interfaces: vec![interface], reaches };
    let mut testbed = Testbed::new(vec![node], TcpConfig::default(), Seed::new(1, 0));
    let server = SocketAddr::new(far, 53);
    let unreachable = SocketError::Unreachable { node: "near".to_owned(), destination: far };
    let sent = testbed.send_datagram(0, (Some(v4), 1), server, Bytes::new());
    assert_eq!(sent, Err(unreachable.clone()));
    assert_eq!(testbed.connect(NOW, 0, (Some(v4), 0), server), Err(unreachable));
    assert_eq!(testbed.send_datagram(0, (None, 1), server, Bytes::new()), Ok((v6, None)));
}

#[test]
fn a_port_of_sctp_that_nobody_has_refuses_whoever_calls() {
    let mut testbed = testbed(false);
    let near = testbed.add_sctp(0, Vec::new(), SctpCarriage::Ip).unwrap();
    let settings = (SctpConfig::default(), AssociationsConfig::default());
    let (caller, _) = testbed.open_sctp(near, 0, settings.0, settings.1).unwrap();
    let peer = Peer { addresses: vec![address(1)], port: 5_000 };
    let station = &mut testbed.sctp_mut(near).unwrap().station;
    let call = station.program.connect(NOW, &mut station.host, caller, &peer).unwrap();
    exchange(&mut testbed, NOW + Duration::from_millis(1));
    let standing = testbed.sctp_mut(near).unwrap().station.program.standing(call);
    assert!(matches!(standing, Some(Err(_))), "{standing:?}");
}
