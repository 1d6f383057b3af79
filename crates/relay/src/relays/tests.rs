//! Relays over a link in memory, in virtual time: programs and servers are lists of bytes.

use std::net::IpAddr;

use proptest::prelude::*;
use slantpath_base::{Probability, Seed};
use slantpath_emulate::frames::{FrameKind, classify};

use super::*;
use crate::host::HostInterface;

const DELAY: Duration = Duration::from_millis(20);

/// Stream of a program or of a server, as its socket would have it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen by itself")]
struct Far {
    /// Bytes that it has still to send.
    to_send: VecDeque<u8>,
    /// True if its stream ends behind them.
    ends: bool,
    has_ended: bool,
    received: Vec<u8>,
    is_told_end: bool,
    is_reset: bool,
    is_closed: bool,
    /// Bytes that it still takes.
    appetite: usize,
}

impl Far {
    fn sending(bytes: &[u8]) -> Self {
        Self { to_send: bytes.iter().copied().collect(), ends: true, appetite: usize::MAX, ..Self::default() }
    }
}

/// Two hosts with a link between, and what is at their sockets.
struct World {
    relays: Relays,
    now: Instant,
    flying: BTreeMap<(Instant, u64), (usize, InterfaceId, Packet)>,
    sent: u64,
    longest: usize,
    loss: (Probability, Stream),
    streams: BTreeMap<RelaySocket, Far>,
    /// Stream that the next server has; none if there is no server.
    server: Option<Far>,
    /// Datagrams that sockets were to send.
    datagrams: Vec<(RelaySocket, Option<SocketAddr>, Bytes)>,
    /// Sockets of UDP towards servers.
    open: Vec<(RelaySocket, SocketAddr)>,
    closed: Vec<RelaySocket>,
}

fn hosts(addresses: [&str; 2], carries_frames: bool, mtu_bytes: u32) -> Vec<HostConfig> {
    let parsed = addresses.map(|address| address.parse().unwrap());
    let host = |place: usize, name: &str, other: &str| HostConfig {
        name: name.to_owned(),
        interfaces: vec![HostInterface {
            id: InterfaceId::new(u32::try_from(place).unwrap()),
            addresses: vec![parsed[place]],
            mtu_bytes,
            carries_frames,
        }],
        reaches: vec![(parsed[1 - place], other.to_owned(), 0)],
    };
    vec![host(0, "near", "far"), host(1, "far", "near")]
}

fn relays_of(hosts: Vec<HostConfig>, relays: &[&str]) -> Result<Relays, RelayError> {
    let configs: Vec<_> = relays.iter().map(|text| RelayConfig::parse(text, Some("near")).unwrap()).collect();
    Relays::new(hosts, &configs, TcpConfig::default(), Seed::new(1, 0).stream("relays"))
}

impl World {
    fn new(relays: &[&str], loss: f64) -> Self {
        Self::over(hosts(["10.0.0.1", "10.0.0.2"], true, 1_500), relays, loss)
    }

    fn over(hosts: Vec<HostConfig>, relays: &[&str], loss: f64) -> Self {
        Self {
            relays: relays_of(hosts, relays).unwrap(),
            now: Instant::START,
            flying: BTreeMap::new(),
            sent: 0,
            longest: 0,
            loss: (Probability::new(loss).unwrap(), Seed::new(2, 0).stream("loss")),
            streams: BTreeMap::new(),
            server: Some(Far { appetite: usize::MAX, ..Far::default() }),
            datagrams: Vec::new(),
            open: Vec::new(),
            closed: Vec::new(),
        }
    }

    fn connect(&mut self, program: Far) -> RelaySocket {
        let socket = self.relays.handle_accepted(self.now, 0).unwrap();
        self.streams.insert(socket, program);
        self.settle();
        socket
    }

    /// Stream of the server's socket that was opened last.
    fn server(&self) -> &Far {
        self.streams.last_key_value().unwrap().1
    }

    fn settle(&mut self) {
        loop {
            while let Some((interface, packet)) = self.relays.poll_packet(self.now) {
                self.sent += 1;
                self.longest = self.longest.max(packet.len());
                let (loss, stream) = &mut self.loss;
                if !stream.happens(*loss) {
                    let other = 1 - interface.index();
                    let there = InterfaceId::new(u32::try_from(other).unwrap());
                    self.flying.insert((self.now + DELAY, self.sent), (other, there, packet));
                }
            }
            let Some(action) = self.relays.poll_action() else { return };
            match action {
                SocketAction::Close(socket) => {
                    self.closed.push(socket);
                    if let Some(stream) = self.streams.get_mut(&socket) {
                        stream.is_closed = true;
                    }
                }
                SocketAction::Connect { socket, protocol: RelayProtocol::Tcp, .. } => {
                    match self.server.take() {
                        Some(stream) => drop(self.streams.insert(socket, stream)),
                        None => self.relays.handle_broken(self.now, socket),
                    }
                }
                SocketAction::Connect { socket, server, .. } => self.open.push((socket, server)),
                SocketAction::Look(socket) => self.look(socket),
                SocketAction::Reset(socket) => self.streams.get_mut(&socket).unwrap().is_reset = true,
                SocketAction::Send { socket, to, payload } => self.datagrams.push((socket, to, payload)),
            }
        }
    }

    fn look(&mut self, socket: RelaySocket) {
        let Some(stream) = self.streams.get_mut(&socket) else { return };
        while stream.appetite > 0
            && let Some(bytes) = self.relays.next_bytes(socket)
        {
            let len = bytes.len().min(stream.appetite);
            stream.received.extend_from_slice(&bytes[..len]);
            stream.appetite -= len;
            self.relays.handle_written(self.now, socket, len);
        }
        if self.relays.next_bytes(socket).is_none() && self.relays.take_end(socket) {
            stream.is_told_end = true;
        }
        let len = stream.to_send.len().min(self.relays.room(socket));
        if len > 0 {
            let bytes: Vec<u8> = stream.to_send.drain(..len).collect();
            self.relays.handle_bytes(self.now, socket, bytes.into());
        }
        if stream.to_send.is_empty() && stream.ends && !stream.has_ended {
            stream.has_ended = true;
            self.relays.handle_end(self.now, socket);
        }
    }

    /// Does what comes next, if that is before `end`. False if nothing is.
    fn step(&mut self, end: Instant) -> bool {
        for socket in self.streams.keys().copied().collect::<Vec<_>>() {
            self.look(socket);
        }
        self.settle();
        let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
        let Some(next) = arrival.into_iter().chain(self.relays.deadline()).min().filter(|next| *next <= end)
        else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (node, interface, packet) = entry.remove();
            self.relays.handle_packet(self.now, node, interface, packet);
            self.settle();
        }
        self.relays.handle_deadline(self.now);
        self.settle();
        true
    }

    fn run_for(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while self.step(end) {}
        self.now = end;
    }
}

fn bytes(count: usize, seed: u8) -> Vec<u8> {
    (0..count).map(|place| (place % 251).to_le_bytes()[0] ^ seed).collect()
}

#[test]
fn a_stream_crosses_in_both_directions_and_each_half_ends_by_itself() {
    let (asked, answered) = (bytes(300_000, 1), bytes(200_000, 2));
    let mut world = World::new(&["5000:far:6000"], 0.0);
    world.server = Some(Far { ends: false, ..Far::sending(&answered) });
    let program = world.connect(Far::sending(&asked));
    assert!(!world.streams.contains_key(&RelaySocket(2)), "the far node is asked, and not yet the server");
    world.run_for(10);
    assert_eq!((&world.server().received, world.server().is_told_end), (&asked, true));
    let here = &world.streams[&program];
    // The server has not ended its half, and goes on.
    assert_eq!((&here.received, here.is_told_end, here.is_closed), (&answered, false, false));
    let server = *world.streams.last_key_value().unwrap().0;
    world.streams.get_mut(&server).unwrap().ends = true;
    world.run_for(10);
    assert!(world.streams[&program].is_told_end && world.streams[&program].is_closed);
    assert!(world.server().is_closed);
    assert_eq!(world.relays.counters().resets, 0);
    // A segment and its frame.
    assert_eq!(world.longest, 1_514);
}

#[test]
fn the_first_byte_comes_after_the_handshake_and_a_half_round_trip() {
    let mut world = World::new(&["5000:far:6000"], 0.0);
    world.connect(Far::sending(b"hello"));
    let end = world.now + Duration::from_secs(1);
    while world.streams.len() < 2 || world.server().received.is_empty() {
        assert!(world.step(end));
    }
    assert_eq!(world.now, Instant::START + DELAY + DELAY + DELAY);
}

#[test]
fn a_server_that_is_absent_resets_the_program() {
    let mut world = World::new(&["5000:far:6000"], 0.0);
    world.server = None;
    let program = world.connect(Far { ends: false, ..Far::sending(b"anybody?") });
    world.run_for(1);
    assert!(world.streams[&program].is_reset);
    assert_eq!((world.relays.counters().connections, world.relays.counters().resets), (1, 1));
    // Nothing is kept of it.
    assert!(world.relays.joints.is_empty() && world.relays.by_connection.is_empty());
    assert_eq!(world.relays.all[0].connections, 0);
}

#[test]
fn a_broken_socket_at_either_end_resets_the_other() {
    for breaks_near in [true, false] {
        let mut world = World::new(&["5000:far:6000"], 0.0);
        let program = world.connect(Far { ends: false, ..Far::sending(b"hello") });
        world.run_for(1);
        let server = *world.streams.last_key_value().unwrap().0;
        let (broken, other) = if breaks_near { (program, server) } else { (server, program) };
        world.relays.handle_broken(world.now, broken);
        world.run_for(1);
        assert!(world.streams[&other].is_reset && !world.streams[&broken].is_reset);
        assert_eq!(world.relays.counters().resets, 1);
        assert!(world.relays.joints.is_empty());
    }
}

#[test]
fn who_never_reads_closes_the_window_and_memory_is_bounded() {
    let mut world = World::new(&["5000:far:6000"], 0.0);
    world.server = Some(Far { appetite: 1_000, ..Far::default() });
    let whole = 12_000_000;
    let program = world.connect(Far::sending(&bytes(whole, 3)));
    world.run_for(60);
    let taken = whole - world.streams[&program].to_send.len();
    assert_eq!(world.server().received.len(), 1_000);
    // Send buffer, receive buffer, and what waits for the socket.
    assert!((8 << 20..9 << 20).contains(&taken), "{taken}");
    // Once it reads, all comes.
    let server = *world.streams.last_key_value().unwrap().0;
    world.streams.get_mut(&server).unwrap().appetite = usize::MAX;
    world.run_for(600);
    assert!(world.server().received == bytes(whole, 3) && world.server().is_told_end);
}

#[test]
fn connections_beyond_the_limit_wait_in_the_port() {
    let mut world = World::new(&["5000:far:6000"], 0.0);
    for _ in 0..RELAY_CONNECTIONS_MAX {
        world.server = Some(Far { appetite: usize::MAX, ..Far::default() });
        world.connect(Far { ends: false, ..Far::sending(b"hello") });
        world.run_for(1);
        assert_eq!(world.server().received, b"hello");
    }
    assert!(!world.relays.has_room(0));
    assert_eq!(world.relays.handle_accepted(world.now, 0), None);
    world.relays.handle_broken(world.now, RelaySocket(1));
    assert!(world.relays.has_room(0));
}

#[test]
fn datagrams_of_two_programs_have_paths_of_their_own() {
    let [first, second]: [SocketAddr; 2] =
        ["127.0.0.1:40001", "127.0.0.1:40002"].map(|at| at.parse().unwrap());
    let mut world = World::new(&["5000:far:6000/udp"], 0.0);
    world.relays.handle_from_program(world.now, 0, first, Bytes::from_static(b"one"));
    world.relays.handle_from_program(world.now, 0, second, Bytes::from_static(b"two"));
    world.settle();
    world.run_for(1);
    let server = "127.0.0.1:6000".parse().unwrap();
    let [(one, to_one), (two, to_two)] = world.open[..] else { panic!("{:?}", world.open) };
    assert_eq!([to_one, to_two], [server; 2]);
    let sent = std::mem::take(&mut world.datagrams);
    let text = Bytes::from_static;
    assert_eq!(sent, [(one, None, text(b"one")), (two, None, text(b"two"))]);
    world.relays.handle_from_server(world.now, two, text(b"to two"));
    world.relays.handle_from_server(world.now, one, text(b""));
    world.settle();
    world.run_for(1);
    let port = RelaySocket(0);
    assert_eq!(world.datagrams, [(port, Some(second), text(b"to two")), (port, Some(first), text(b""))]);
}

#[test]
fn a_sender_that_is_silent_for_five_minutes_is_forgotten() {
    let program: SocketAddr = "127.0.0.1:40001".parse().unwrap();
    let mut world = World::new(&["5000:far:6000/udp"], 0.0);
    world.relays.handle_from_program(world.now, 0, program, Bytes::from_static(b"one"));
    world.settle();
    world.run_for(299);
    assert_eq!((world.relays.paths.len(), world.closed.len()), (2, 0));
    world.run_for(60);
    assert_eq!(world.closed, [world.open[0].0]);
    assert!(world.relays.paths.is_empty() && world.relays.by_port.is_empty());
    assert!(world.relays.by_program.is_empty() && world.relays.by_sender.is_empty());
    // An answer that comes after all is nobody's.
    world.relays.handle_from_server(world.now, world.open[0].0, Bytes::from_static(b"late"));
    world.settle();
    assert_eq!(world.relays.poll_packet(world.now), None);
}

#[test]
fn one_sender_too_many_takes_the_path_that_was_used_least_lately() {
    let program = |port: u16| SocketAddr::new([127, 0, 0, 1].into(), port);
    let mut world = World::new(&["5000:far:6000/udp"], 0.0);
    let count = u16::try_from(RELAY_SENDERS_MAX).unwrap();
    for port in 10_000..10_000 + count {
        world.relays.handle_from_program(world.now, 0, program(port), Bytes::from_static(b"x"));
        world.now += Duration::from_millis(1);
    }
    world.relays.handle_from_program(world.now, 0, program(10_000), Bytes::from_static(b"x"));
    world.settle();
    assert_eq!(world.relays.counters().displaced, 0);
    world.relays.handle_from_program(world.now, 0, program(9_999), Bytes::from_static(b"x"));
    assert_eq!(world.relays.counters().displaced, 1);
    let has = |world: &World, port| world.relays.by_program.contains_key(&(0, program(port)));
    assert!(has(&world, 9_999) && has(&world, 10_000) && !has(&world, 10_001));
    world.run_for(1);
    // At the far node the same has happened to the oldest there.
    assert_eq!(world.open.len(), RELAY_SENDERS_MAX + 1);
    assert_eq!(world.closed.len(), 1);
}

#[test]
fn a_long_datagram_crosses_in_fragments_and_one_beyond_ip_is_counted() {
    let program: SocketAddr = "127.0.0.1:40001".parse().unwrap();
    for (addresses, frames, longest) in [
        (["10.0.0.1", "10.0.0.2"], true, 14 + 1_500),
        (["10.0.0.1", "10.0.0.2"], false, 1_500),
        (["fd00::1", "fd00::2"], true, 14 + 1_496),
        (["fd00::1", "fd00::2"], false, 1_496),
    ] {
        let mut world = World::over(hosts(addresses, frames, 1_500), &["5000:far:6000/udp"], 0.0);
        let long = Bytes::from(bytes(20_000, 4));
        world.relays.handle_from_program(world.now, 0, program, long.clone());
        world.settle();
        assert_eq!((world.sent, world.longest), (14, longest), "{addresses:?}");
        world.run_for(1);
        assert_eq!(world.datagrams, [(world.open[0].0, None, long)]);
        world.relays.handle_from_program(world.now, 0, program, vec![0; 65_535].into());
        assert_eq!(world.relays.counters().unsent, 1);
    }
}

#[test]
fn a_relay_that_cannot_be_is_refused() {
    let two = || hosts(["10.0.0.1", "10.0.0.2"], true, 1_500);
    let refused = |hosts, relays: &[&str]| relays_of(hosts, relays).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused(two(), &["5000:nera:far:7"]), "there is no attached node `nera`");
    let unreached =
        "no way leads from `near` to `fra`: they have no addresses of one version of IP, or no links";
    assert_eq!(refused(two(), &["5000:fra:7"]), unreached);
    let twice = refused(two(), &["5000:far:7", "5001:far:10.9.9.9:7"]);
    assert_eq!(twice, "port 7 of `far` cannot be that of two servers, 127.0.0.1:7 and 10.9.9.9:7");
    assert!(relays_of(two(), &["5000:far:7", "5001:far:7", "5001:far:10.9.9.9:7/udp"]).is_ok());
    // Only one of them is attached: the other is simulated.
    let mut one = two();
    one.truncate(1);
    assert!(refused(one.clone(), &["5000:far:10.9.9.9:7"]).starts_with("`far` is simulated"));
    assert!(relays_of(one, &["5000:far:7"]).is_ok());
}

#[test]
fn a_host_answers_an_echo_request_and_shows_the_way_by_its_mac_address() {
    use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
    use slantpath_wire::ip::{Envelope, IpFields, IpHeader};
    let mut hosts: Vec<_> =
        hosts(["10.0.0.1", "10.0.0.2"], true, 1_500).into_iter().map(RelayHost::new).collect();
    let [source, destination] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
    let request = EchoHeader { kind: EchoKind::Request, identifier: 7, sequence: 8 };
    let packet = request.packet(Bytes::from_static(b"ping"), source, destination);
    let envelope = Envelope { source, destination, fields: IpFields::default() };
    hosts[0].send(&envelope, protocol::ICMP, packet, false).unwrap();
    let (_, frame) = hosts[0].poll_packet().unwrap();
    assert_eq!(frame.contiguous()[..14], [2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1, 8, 0]);
    assert_eq!(hosts[1].handle_packet(Instant::START, InterfaceId::new(1), frame), None);
    let (_, frame) = hosts[1].poll_packet().unwrap();
    let bytes = frame.contiguous();
    let FrameKind::Ip { packet } = classify(&bytes) else { panic!("{bytes:?}") };
    let (header, at) = IpHeader::parse(packet).unwrap();
    let reply = EchoHeader { kind: EchoKind::Reply, ..request };
    assert_eq!(EchoHeader::parse(&header, &packet[at..]), Ok(Some((reply, &b"ping"[..]))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn streams_arrive_whole_and_in_order_whatever_is_lost_or_stalls(
        asked in 0_usize..200_000,
        answered in 0_usize..200_000,
        loss in 0_u32..8,
        is_v6: bool,
        carries_frames: bool,
        turns in proptest::collection::vec((any::<bool>(), 0_usize..30_000, 1_u64..400), 0..40),
    ) {
        let addresses = if is_v6 { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] };
        let hosts = hosts(addresses, carries_frames, 1_500);
        let mut world = World::over(hosts, &["5000:far:6000"], f64::from(loss) / 100.0);
        let (asked, answered) = (bytes(asked, 5), bytes(answered, 6));
        world.server = Some(Far { appetite: 0, ..Far::sending(&answered) });
        let program = world.connect(Far { appetite: 0, ..Far::sending(&asked) });
        for (is_program, taken, millis) in turns {
            let mut streams = world.streams.iter_mut();
            let stream = if is_program { streams.next() } else { streams.next_back() };
            stream.unwrap().1.appetite += taken;
            let end = world.now + Duration::from_millis(millis);
            while world.step(end) {}
            world.now = end;
        }
        // A retransmission backs off up to a minute.
        for _ in 0..1_200 {
            for stream in world.streams.values_mut() {
                stream.appetite = usize::MAX;
            }
            if world.streams.len() == 2 && world.streams.values().all(|stream| stream.is_closed) {
                break;
            }
            world.run_for(1);
        }
        prop_assert_eq!(world.streams.len(), 2);
        let (program, server) = (&world.streams[&program], world.server());
        prop_assert!(server.received == asked && program.received == answered);
        prop_assert!(program.is_told_end && server.is_told_end && program.is_closed && server.is_closed);
        prop_assert!(world.relays.joints.is_empty());
    }

    #[test]
    fn any_packet_is_taken_or_dropped(octets: Vec<u8>, carries_frames: bool) {
        let mut host = RelayHost::new(hosts(["10.0.0.1", "10.0.0.2"], carries_frames, 1_500).remove(0));
        host.handle_packet(Instant::START, InterfaceId::new(0), Packet::from(octets));
    }
}
