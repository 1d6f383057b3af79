//! Talking to a stack that we did not write, in process and without sockets.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test may panic, and its numbers are small"
)]

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Probability, Seed, Stream};
use slantpath_tcp::{Chance, ConnectionId, Endpoint, Event, Input, Output, TcpConfig};
use slantpath_testkit::{Wire, WireFaults};
use slantpath_wire::ip::{Envelope, Fragmentation, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant as PeerInstant;
use smoltcp::wire::{HardwareAddress, IpCidr};

const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const PORT: u16 = 5_000;

/// The peer's network card: whole IP packets in and out.
#[derive(Default)]
struct Card {
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);

struct ToSend<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for ToSend<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Card {
    type RxToken<'a> = Received;
    type TxToken<'a> = ToSend<'a>;

    fn receive(&mut self, _: PeerInstant) -> Option<(Received, ToSend<'_>)> {
        Some((Received(self.received.pop_front()?), ToSend(&mut self.sent)))
    }

    fn transmit(&mut self, _: PeerInstant) -> Option<ToSend<'_>> {
        Some(ToSend(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1_500;
        capabilities
    }
}

/// Our endpoint and theirs, and the wires between them.
struct Duel {
    now: Instant,
    ours: Endpoint,
    stream: Stream,
    id: Option<ConnectionId>,
    events: Vec<Event>,
    received: Vec<u8>,
    wakeup: Option<Instant>,
    card: Card,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    their_received: Vec<u8>,
    to_send: [Bytes; 2],
    to_them: Wire<Vec<u8>>,
    to_us: Wire<Vec<u8>>,
}

fn peer_time(now: Instant) -> PeerInstant {
    PeerInstant::from_micros((now.as_nanos() / 1_000) as i64)
}

impl Duel {
    fn new(seed: u64, faults: WireFaults, to_send: [Bytes; 2]) -> Self {
        let mut card = Card::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut card, peer_time(Instant::START));
        interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(THEIRS.into(), 24)).unwrap());
        let buffer = || SocketBuffer::new(vec![0; 200_000]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Reno);
        socket.set_nagle_enabled(false);
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        let seed = Seed::new(seed, 0);
        Self {
            now: Instant::START,
            ours: Endpoint::default(),
            stream: seed.stream("ours"),
            id: None,
            events: Vec::new(),
            received: Vec::new(),
            wakeup: None,
            card,
            interface,
            sockets,
            handle,
            their_received: Vec::new(),
            to_send,
            to_them: Wire::new(faults, seed.stream("to them")),
            to_us: Wire::new(faults, seed.stream("to us")),
        }
    }

    fn we_call(&mut self, config: TcpConfig) {
        self.sockets.get_mut::<Socket<'_>>(self.handle).listen(PORT).unwrap();
        let (from, to) = (SocketAddr::from((OURS, PORT)), SocketAddr::from((THEIRS, PORT)));
        self.id = Some(self.ours.connect(self.now, from, to, config, &mut self.stream).unwrap());
    }

    fn they_call(&mut self, config: TcpConfig) {
        self.ours.listen(PORT, config, Chance::InTurn(self.stream.clone())).unwrap();
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        socket.connect(self.interface.context(), (OURS, PORT), PORT).unwrap();
    }

    fn serve_ours(&mut self) {
        if let Some(id) = self.id
            && self.events.contains(&Event::Connected)
            && !self.to_send[0].is_empty()
        {
            self.ours.write(self.now, id, std::mem::take(&mut self.to_send[0])).unwrap();
            self.ours.close(self.now, id).unwrap();
        }
        // Far more than a window at once.
        for _ in 0..100_000 {
            let mut packet = Packet::default();
            match self.ours.poll_output(self.now, &mut packet) {
                Output::Event(id, event) => {
                    let is_new = self.id.is_none();
                    self.id = Some(id);
                    match event {
                        Event::Data(bytes) => self.received.extend_from_slice(&bytes),
                        event => self.events.push(event),
                    }
                    if is_new {
                        return self.serve_ours();
                    }
                }
                Output::Transmit(Envelope { source, destination, .. }) => {
                    let header = IpHeader {
                        source,
                        destination,
                        protocol: protocol::TCP,
                        hop_limit: 64,
                        traffic_class: 0,
                        payload_len: packet.len() as u16,
                        fragmentation: Fragmentation::Forbidden,
                    };
                    header.emit(packet.prepend(header.header_len()));
                    self.to_them.send(self.now, packet.observed());
                }
                Output::Wait(deadline) => {
                    self.wakeup = deadline;
                    return;
                }
            }
        }
        panic!("we do not stop sending");
    }

    fn serve_theirs(&mut self) {
        self.interface.poll(peer_time(self.now), &mut self.card, &mut self.sockets);
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        let mut buffer = [0; 4_096];
        while let Ok(len @ 1..) = socket.recv_slice(&mut buffer) {
            self.their_received.extend_from_slice(&buffer[..len]);
        }
        if socket.may_send() {
            while let Ok(len @ 1..) = socket.send_slice(&self.to_send[1]) {
                let _ = self.to_send[1].split_to(len);
            }
            if self.to_send[1].is_empty() {
                socket.close();
            }
        }
        self.interface.poll(peer_time(self.now), &mut self.card, &mut self.sockets);
        while let Some(packet) = self.card.sent.pop_front() {
            self.to_us.send(self.now, packet);
        }
    }

    fn run(&mut self, limit: Duration) {
        let until = self.now + limit;
        loop {
            self.serve_ours();
            self.serve_theirs();
            let their_wakeup = self
                .interface
                .poll_at(peer_time(self.now), &self.sockets)
                .map(|at| Instant::from_nanos(at.total_micros().max(0).cast_unsigned() * 1_000));
            let times = [self.wakeup, their_wakeup, self.to_them.next_arrival(), self.to_us.next_arrival()];
            let Some(next) = times.into_iter().flatten().min() else { return };
            if next > until || self.is_done() {
                return;
            }
            self.now = self.now.max(next);
            while let Some(packet) = self.to_them.receive(self.now) {
                self.card.received.push_back(packet);
            }
            while let Some(bytes) = self.to_us.receive(self.now) {
                self.deliver(&bytes);
            }
            if self.wakeup.is_some_and(|wakeup| wakeup <= self.now) {
                self.ours.handle_input(self.now, Input::Deadline);
            }
        }
    }

    fn deliver(&mut self, bytes: &[u8]) {
        // A damaged header is dropped by the IP layer.
        let Ok((header, header_len)) = IpHeader::parse(bytes) else { return };
        if (header.source, header.destination) != (IpAddr::V4(THEIRS), IpAddr::V4(OURS)) {
            return;
        }
        let end = header_len + usize::from(header.payload_len);
        let mut packet = Packet::shared(Bytes::copy_from_slice(&bytes[header_len..end]), Checksum::Complete);
        let input = Input::Packet {
            source: header.source,
            destination: header.destination,
            ip: slantpath_wire::ip::IpFields::default(),
            packet: &mut packet,
        };
        self.ours.handle_input(self.now, input);
        self.serve_ours();
    }

    fn is_done(&self) -> bool {
        let theirs = self.sockets.get::<Socket<'_>>(self.handle).state();
        self.events.contains(&Event::Closed) && matches!(theirs, State::TimeWait | State::Closed)
    }
}

fn pattern(len: usize, salt: usize) -> Bytes {
    (0..len).map(|at| (at * 31 + at / 251 + salt) as u8).collect::<Vec<u8>>().into()
}

fn chance(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// Both send their streams, close, and everything must have arrived.
fn exchange(seed: u64, faults: WireFaults, we_call: bool, config: TcpConfig, lens: [usize; 2]) {
    let streams = [pattern(lens[0], 0), pattern(lens[1], 7)];
    let mut duel = Duel::new(seed, faults, streams.clone());
    if we_call {
        duel.we_call(config);
    } else {
        duel.they_call(config);
    }
    duel.run(Duration::from_secs(3_000));
    assert!(duel.their_received == streams[0], "seed {seed}: they got {}", duel.their_received.len());
    assert!(duel.received == streams[1], "seed {seed}: we got {}", duel.received.len());
    assert_eq!(duel.events.last(), Some(&Event::Closed), "seed {seed}: {:?}", duel.events);
    assert_eq!(duel.events.first(), Some(&Event::Connected), "seed {seed}");
}

#[test]
fn bulk_both_ways_between_two_stacks() {
    for we_call in [true, false] {
        let faults = WireFaults::none(Duration::from_millis(20));
        exchange(1, faults, we_call, TcpConfig::default(), [1_000_000, 700_000]);
    }
}

#[test]
fn bulk_both_ways_under_loss_reordering_duplication_and_damage() {
    for seed in 0..20 {
        let faults = WireFaults {
            loss: chance(0.01 + 0.002 * seed as f64),
            duplication: chance(0.02),
            reordering: chance(0.05),
            extra_delay_max: Duration::from_millis(15),
            corruption: chance(0.01),
            ..WireFaults::none(Duration::from_millis(10))
        };
        let config = TcpConfig { timestamps: seed % 3 == 0, sack: seed % 4 != 1, ..TcpConfig::default() };
        exchange(seed, faults, seed % 2 == 0, config, [120_000, 80_000]);
    }
}

#[test]
fn without_scaling_and_with_small_segments() {
    let config = TcpConfig {
        window_scaling: false,
        mss_bytes: 300,
        receive_buffer_bytes: 4_000,
        ..TcpConfig::default()
    };
    exchange(
        3,
        WireFaults { loss: chance(0.02), ..WireFaults::none(Duration::from_millis(5)) },
        true,
        config,
        [50_000; 2],
    );
}
