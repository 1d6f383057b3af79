//! Services, and a peer that is another stack: TCP without a host, datagrams written by hand, and SCTP of another host.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_applications::{
    Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs as _, SERVICE_PEERS_MAX, Service,
    Services as _,
};
use slantpath_base::{Duration, Instant, Seed};
use slantpath_host::{DatagramConfig, Peer, Protocol, SocketId, TransportConfig};
use slantpath_interface::{EndSystem as _, InterfaceId};
use slantpath_tcp::{self as tcp, TcpConfig};
use slantpath_wire::icmp::{IcmpError, IcmpMessage, Unreachable};
use slantpath_wire::ip::{Fragmentation, IpFields, IpHeader, protocol};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Packet};

/// Addresses of the peer and of the host, by the version of IP.
fn ends(is_v6: bool) -> [IpAddr; 2] {
    if is_v6 {
        ["fd00::1", "fd00::2"].map(|text| text.parse().unwrap())
    } else {
        ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap())
    }
}

const INTERFACE: InterfaceId = InterfaceId::new(0);

fn host(own: usize, is_v6: bool) -> Host {
    let ends = ends(is_v6);
    let mut host = Host::new(vec![(ends[own], INTERFACE)]);
    host.add_route(ends[1 - own], INTERFACE).unwrap();
    host
}

/// A host that serves, and a peer, joined by a wire that takes no time.
struct Bench {
    host: Host,
    peer: tcp::Endpoint,
    is_v6: bool,
    now: Instant,
    /// Bytes that have come to the peer over each of its connections, and what it was told besides.
    came: Vec<(tcp::ConnectionId, Vec<u8>)>,
    told: Vec<(tcp::ConnectionId, tcp::Event)>,
    /// Other packets that have come to it, with their headers.
    others: Vec<(IpHeader, Bytes)>,
}

impl Bench {
    fn new(is_v6: bool, tcp: TcpConfig) -> Self {
        let mut host = host(1, is_v6);
        host.refuse_strangers();
        for service in [Service::Chargen, Service::Discard, Service::Echo] {
            let datagrams = DatagramConfig { ip: IpFields::default(), source_mtu: 1_500, peer_port: 0 };
            for protocol in [
                Protocol::Sctp(Box::default()),
                Protocol::Tcp(Box::new(tcp)),
                Protocol::Udp(Box::new(datagrams)),
            ] {
                let local_addresses = vec![ends(is_v6)[1]];
                let config = TransportConfig { protocol, local_addresses, local_port: 0, peer: None };
                host.add_service(service, config, Seed::new(1, 0), &format!("{service:?}"));
            }
        }
        let (came, told, others) = (Vec::new(), Vec::new(), Vec::new());
        Self { host, peer: tcp::Endpoint::default(), is_v6, now: Instant::START, came, told, others }
    }

    fn connect(&mut self, from: u16, to: u16) -> tcp::ConnectionId {
        let id = self.call(from, to);
        self.exchange();
        id
    }

    fn call(&mut self, from: u16, to: u16) -> tcp::ConnectionId {
        let [own, host] = ends(self.is_v6);
        let (own, host) = (SocketAddr::new(own, from), SocketAddr::new(host, to));
        let mut stream = Seed::new(7, 0).stream(&from.to_string());
        let config = TcpConfig { receive_buffer_bytes: 100_000, ..TcpConfig::default() };
        self.peer.connect(self.now, own, host, config, &mut stream).unwrap()
    }

    /// Carries packets until there are none.
    fn exchange(&mut self) {
        loop {
            let mut packet = Packet::default();
            if self.host.poll_transmit(self.now, &mut packet).is_some() {
                self.take(&packet);
                continue;
            }
            match self.peer.poll_output(self.now, &mut packet) {
                tcp::Output::Event(id, tcp::Event::Data(data)) => {
                    match self.came.iter_mut().find(|(known, _)| *known == id) {
                        Some((_, came)) => came.extend_from_slice(&data),
                        None => self.came.push((id, data.to_vec())),
                    }
                }
                tcp::Output::Event(id, event) => self.told.push((id, event)),
                tcp::Output::Transmit(envelope) => {
                    self.send(protocol::TCP, &packet.contiguous(), [envelope.source, envelope.destination]);
                }
                tcp::Output::Wait(_) if self.host.poll_transmit(self.now, &mut packet).is_none() => return,
                tcp::Output::Wait(_) => self.take(&packet),
            }
        }
    }

    /// Hands a packet of the peer's to the host.
    fn send(&mut self, protocol: u8, payload: &[u8], [source, destination]: [IpAddr; 2]) {
        let header = IpHeader {
            source,
            destination,
            protocol,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: u16::try_from(payload.len()).unwrap(),
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = vec![0; header.header_len()];
        header.emit(&mut bytes);
        let mut packet = Packet::copied(&[&bytes[..], payload].concat(), Checksum::Complete);
        self.host.handle_packet(self.now, INTERFACE, &mut packet);
    }

    /// Hands a packet of the host's to the peer.
    fn take(&mut self, packet: &Packet) {
        let bytes = Bytes::from(packet.observed());
        let (header, len) = IpHeader::parse(&bytes).unwrap();
        if header.protocol != protocol::TCP {
            self.others.push((header, bytes.slice(len..)));
            return;
        }
        let mut packet = Packet::copied(&bytes[len..], Checksum::Complete);
        let IpHeader { source, destination, .. } = header;
        let input = tcp::Input::Packet { source, destination, ip: IpFields::default(), packet: &mut packet };
        self.peer.handle_input(self.now, input);
    }

    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            self.exchange();
            let next = [self.host.deadline(), self.peer.deadline()].into_iter().flatten().min();
            match next.filter(|next| *next <= until) {
                Some(next) => self.now = next.max(self.now),
                None => break,
            }
            self.host.handle_deadline(self.now);
            self.peer.handle_input(self.now, tcp::Input::Deadline);
        }
        self.now = until;
    }

    fn came(&self, id: tcp::ConnectionId) -> &[u8] {
        self.came.iter().find(|(known, _)| *known == id).map_or(&[], |(_, came)| came)
    }

    fn was_told(&self, id: tcp::ConnectionId, event: &tcp::Event) -> bool {
        self.told.contains(&(id, event.clone()))
    }

    fn datagram(&mut self, [from, to]: [u16; 2], data: &[u8]) -> Vec<(IpHeader, Bytes)> {
        let [own, host] = ends(self.is_v6);
        let header = UdpHeader { source_port: from, destination_port: to };
        let header = header.emit(&[data], own, host, Checksum::Complete);
        self.send(protocol::UDP, &[&header[..], data].concat(), [own, host]);
        self.exchange();
        std::mem::take(&mut self.others)
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|place| u8::try_from((place * 31 + place / 251) % 256).unwrap()).collect()
}

/// The characters of RFC 864, as its section on TCP draws them.
fn characters(len: usize) -> Vec<u8> {
    let line = |number: usize| {
        let printed = (0..72).map(move |column| b' ' + u8::try_from((number + column) % 95).unwrap());
        printed.chain(*b"\r\n")
    };
    (0..).flat_map(line).take(len).collect()
}

#[test]
fn echo_loses_nothing_of_a_peer_that_reads_late_and_has_closed() {
    for is_v6 in [false, true] {
        // A buffer of less than one segment, and a usual one.
        for send_buffer_bytes in [1_000, 50_000] {
            let mut bench = Bench::new(is_v6, TcpConfig { send_buffer_bytes, ..TcpConfig::default() });
            let id = bench.connect(5_000, 7);
            let data = pattern(4_500_000);
            bench.peer.hold(bench.now, id).unwrap();
            bench.peer.write(bench.now, id, Bytes::from(data.clone())).unwrap();
            bench.peer.close(bench.now, id).unwrap();
            bench.wait(Duration::from_secs(20));
            // What has no room at the peer and here is not read.
            let sent = bench.peer.snapshot(id).unwrap().acked_bytes;
            assert!((100_000..4_500_000).contains(&sent), "{sent}");
            bench.peer.release(bench.now, id).unwrap();
            // In the small one a segment waits for the acknowledgement of that before.
            bench.wait(Duration::from_secs(1_000));
            assert!(bench.came(id) == data, "{} came", bench.came(id).len());
            assert!(bench.was_told(id, &tcp::Event::PeerClosed) && bench.was_told(id, &tcp::Event::Closed));
        }
    }
}

#[test]
fn discard_takes_everything_and_ends_with_its_peer() {
    let mut bench = Bench::new(false, TcpConfig::default());
    let id = bench.connect(5_000, 9);
    bench.peer.write(bench.now, id, pattern(300_000).into()).unwrap();
    bench.wait(Duration::from_secs(1));
    assert_eq!(bench.peer.snapshot(id).unwrap().acked_bytes, 300_000);
    bench.peer.close(bench.now, id).unwrap();
    bench.wait(Duration::from_secs(1));
    assert!(bench.was_told(id, &tcp::Event::Closed) && bench.came(id).is_empty());
}

#[test]
fn characters_come_as_long_as_somebody_takes_them() {
    let mut bench = Bench::new(true, TcpConfig { send_buffer_bytes: 50_000, ..TcpConfig::default() });
    // On a wire that takes no time they would never end.
    let id = bench.call(5_000, 19);
    bench.peer.hold(bench.now, id).unwrap();
    bench.wait(Duration::from_secs(100));
    let held = bench.came(id).len();
    bench.wait(Duration::from_secs(100));
    assert_eq!(bench.came(id).len(), held, "it is held");
    assert_eq!(bench.peer.snapshot(id).unwrap().received_bytes, 100_000);
    bench.peer.close(bench.now, id).unwrap();
    bench.peer.release(bench.now, id).unwrap();
    bench.wait(Duration::from_secs(100));
    assert!(bench.came(id).len() > 100_000, "what waited comes, too");
    assert!(bench.was_told(id, &tcp::Event::Closed));
    assert!(bench.came(id) == characters(bench.came(id).len()));
}

#[test]
fn a_datagram_is_answered_from_where_it_went_unless_its_sender_would_answer_that() {
    for is_v6 in [false, true] {
        let mut bench = Bench::new(is_v6, TcpConfig::default());
        let [own, host] = ends(is_v6);
        let data = |answers: &[(IpHeader, Bytes)]| {
            let [(header, payload)] = answers else { return None };
            assert_eq!((header.source, header.destination), (host, own));
            let (ports, data) = UdpHeader::parse(payload, host, own, Checksum::Complete).unwrap();
            Some((ports.source_port, ports.destination_port, data.to_vec()))
        };
        for len in [0, 1, 1_400] {
            let answers = bench.datagram([5_000, 7], &pattern(len));
            assert_eq!(data(&answers), Some((7, 5_000, pattern(len))));
        }
        let mut lengths = Vec::new();
        for _ in 0..100 {
            let answers = bench.datagram([5_000, 19], b"?");
            let (.., characters) = data(&answers).unwrap();
            lengths.push(characters.len());
            let first = characters.first().map_or(0, |first| usize::from(first - b' '));
            let all = self::characters(74 * 110);
            assert!(characters.is_empty() || all[74 * first..].starts_with(&characters));
        }
        lengths.sort_unstable();
        lengths.dedup();
        assert!(lengths.len() > 50 && lengths[lengths.len() - 1] <= 512, "{lengths:?}");
        for silent in [[5_000, 9], [7, 7], [19, 7], [7, 19], [13, 7], [0, 7]] {
            assert_eq!(bench.datagram(silent, b"?"), [], "{silent:?}");
        }
    }
}

#[test]
fn who_asks_where_nobody_listens_is_told() {
    for is_v6 in [false, true] {
        let mut bench = Bench::new(is_v6, TcpConfig::default());
        let [own, host] = ends(is_v6);
        let answers = bench.datagram([5_000, 4_000], b"is there somebody?");
        let [(header, payload)] = &answers[..] else { panic!("{answers:?}") };
        let message = IcmpMessage::parse(header, payload).unwrap();
        assert_eq!(message.error, IcmpError::Unreachable(Unreachable::Port));
        let (quoted, len) = IpHeader::parse_header(message.quote).unwrap();
        assert_eq!((quoted.source, quoted.destination, quoted.protocol), (own, host, protocol::UDP));
        let (ports, data) = UdpHeader::parse(&message.quote[len..], own, host, Checksum::Complete).unwrap();
        assert_eq!((ports.source_port, ports.destination_port), (5_000, 4_000));
        assert_eq!(data, b"is there somebody?");
        let id = bench.connect(5_000, 4_000);
        let refused =
            bench.told.iter().any(|(told, event)| *told == id && matches!(event, tcp::Event::Reset(_)));
        assert!(refused, "{:?}", bench.told);
    }
}

#[test]
fn there_are_so_many_peers_at_once_and_one_of_whom_nothing_is_heard_is_let_go() {
    let mut bench = Bench::new(false, TcpConfig::default());
    let most = u16::try_from(SERVICE_PEERS_MAX).unwrap();
    let peers: Vec<_> = (0..most).map(|number| bench.connect(5_000 + number, 7)).collect();
    assert!(peers.iter().all(|id| bench.was_told(*id, &tcp::Event::Connected)));
    let late = bench.connect(6_000, 7);
    assert!(!bench.was_told(late, &tcp::Event::Connected));
    let other = bench.connect(6_001, 9);
    assert!(bench.was_told(other, &tcp::Event::Connected), "each service has its own");
    bench.peer.close(bench.now, peers[3]).unwrap();
    bench.wait(Duration::from_secs(4));
    assert!(bench.was_told(late, &tcp::Event::Connected), "the call is repeated");
    bench.wait(Duration::from_secs(3_600));
    bench.peer.write(bench.now, peers[5], Bytes::from_static(b"here")).unwrap();
    bench.wait(Duration::from_secs(3_601));
    assert_eq!(bench.came(peers[5]), b"here");
    let is_reset = |id: tcp::ConnectionId| {
        bench.told.iter().any(|(told, event)| *told == id && matches!(event, tcp::Event::Reset(_)))
    };
    let kept: Vec<_> = peers.iter().filter(|id| !is_reset(**id)).collect();
    assert_eq!(kept, [&peers[3], &peers[5]]);
}

/// Calls over SCTP, each from a port of its own.
struct Callers([Host; 2]);

impl Callers {
    fn new() -> Self {
        Self([host(0, false), Bench::new(false, TcpConfig::default()).host])
    }

    fn call(&mut self, from: u16, to: u16) -> SocketId {
        let [own, host] = ends(false);
        let config = ProgramConfig {
            sctp: Box::default(),
            local_addresses: vec![own],
            local_port: from,
            peer: Some(Peer { addresses: vec![host], port: to }),
        };
        let id = self.0[0].add_program(&config, Seed::new(3, 0).stream(&from.to_string()));
        self.exchange();
        id
    }

    /// Carries packets until there are none, or a thousand of them: characters never end.
    fn exchange(&mut self) {
        let mut packet = Packet::default();
        let mut is_quiet = [false; 2];
        for number in (0..1_000).map(|number| number % 2) {
            match self.0[number].poll_transmit(Instant::START, &mut packet) {
                Some(interface) => {
                    is_quiet = [false; 2];
                    self.0[1 - number].handle_packet(Instant::START, interface, &mut packet);
                }
                None => is_quiet[number] = true,
            }
            if is_quiet == [true; 2] {
                return;
            }
        }
    }

    fn events(&mut self) -> Vec<(SocketId, ProgramEvent)> {
        std::iter::from_fn(|| self.0[0].next_program_event()).collect()
    }
}

fn message(payload: Vec<u8>, is_unordered: bool) -> ProgramMessage {
    ProgramMessage {
        stream: 3,
        payload_protocol: 46,
        is_unordered,
        payload: payload.into(),
        options: None,
        ip: None,
    }
}

#[test]
fn a_message_of_sctp_comes_back_as_it_went() {
    let mut callers = Callers::new();
    let id = callers.call(5_000, 7);
    for (len, is_unordered) in [(1, false), (9_000, true)] {
        callers.0[0].send(Instant::START, id, message(pattern(len), is_unordered)).unwrap();
    }
    callers.exchange();
    let events = callers.events();
    let came = events.into_iter().filter_map(|(_, event)| match event {
        ProgramEvent::Message(message) => Some(ProgramMessage { ip: None, ..message }),
        _ => None,
    });
    assert_eq!(came.collect::<Vec<_>>(), [message(pattern(1), false), message(pattern(9_000), true)]);
    let id = callers.call(5_001, 9);
    callers.0[0].send(Instant::START, id, message(pattern(9), false)).unwrap();
    callers.exchange();
    assert!(!callers.events().iter().any(|(_, event)| matches!(event, ProgramEvent::Message(_))));
    let id = callers.call(5_002, 19);
    let mut lines = Vec::new();
    for (from, event) in callers.events() {
        if let (true, ProgramEvent::Message(message)) = (from == id, event) {
            lines.extend_from_slice(&message.payload);
        }
        if lines.len() > 20_000 {
            break;
        }
    }
    assert!(lines.len() > 20_000 && lines == characters(lines.len()));
}

#[test]
fn an_association_too_many_is_aborted_and_one_that_ends_makes_room() {
    let mut callers = Callers::new();
    let most = u16::try_from(SERVICE_PEERS_MAX).unwrap();
    let ids: Vec<_> = (0..most).map(|number| callers.call(5_000 + number, 9)).collect();
    let is_ended = |events: &[(SocketId, ProgramEvent)], id: SocketId| {
        events.iter().any(|(of, event)| *of == id && matches!(event, ProgramEvent::Ended { .. }))
    };
    let events = callers.events();
    assert!(!ids.iter().any(|id| is_ended(&events, *id)));
    let late = callers.call(6_000, 9);
    assert!(is_ended(&callers.events(), late));
    callers.0[0].shut_down(Instant::START, ids[0]);
    callers.exchange();
    let later = callers.call(6_001, 9);
    assert!(!is_ended(&callers.events(), later));
}
