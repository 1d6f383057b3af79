//! The machine's sockets of relays, and the loop that keeps the pace.
//!
//! A turn hands on what has left the network, waits for sockets or for what is due, and reads what has come. A packet
//! comes at the instant at which it is read. All sockets are non-blocking, and tell once that they become ready: that
//! is remembered here until a call says that there is no more.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};

use bytes::Bytes;
use mio::net::{TcpListener, TcpStream, UdpSocket};
use mio::{Interest, Token};
use slantpath_base::{Duration, Instant};
use slantpath_emulate::{DepartureLateness, DoorCounters, DoorReport, Void};
use slantpath_interface::InterfaceId;
use slantpath_wire::Packet;
use slantpath_wire::ethernet;
use socket2::SockRef;

use crate::clock::{RunClock, TIMER, wait};
use crate::config::{RelayConfig, RelayProtocol};
use crate::relays::{RelaySocket, Relays, SocketAction};

/// Packets that leave the network by relays, and those that they give it, with the machine's sockets.
#[derive(Debug)]
pub struct RelayDoors {
    poll: mio::Poll,
    events: mio::Events,
    clock: RunClock,
    relays: Relays,
    sockets: BTreeMap<RelaySocket, MachineSocket>,
    /// Sockets that may have something to read.
    readable: BTreeSet<RelaySocket>,
    /// Ports that could not take a connection, and are tried once more.
    full: BTreeSet<RelaySocket>,
    /// Addresses of the relays' ports.
    bound: Vec<SocketAddr>,
    doors: Vec<RelayDoor>,
    departed: VecDeque<(Instant, usize, Packet)>,
    limit: Duration,
    spin: Duration,
    void: Option<Void>,
    /// Instant at which a suspension was looked for last.
    suspension_looked: Instant,
    buffer: Vec<u8>,
}

/// An interface of a node for which a host stands.
#[derive(Debug)]
struct RelayDoor {
    /// Place of its node.
    node: usize,
    id: InterfaceId,
    carries_frames: bool,
    counters: DoorCounters,
    lateness: DepartureLateness,
}

#[derive(Debug)]
enum MachineSocket {
    /// A port of TCP that programs connect to.
    Listener(TcpListener),
    /// A port of UDP to which programs send.
    Port(UdpSocket),
    /// A socket of UDP that is connected to a server.
    Server(UdpSocket),
    Stream(Stream),
}

#[derive(Debug)]
struct Stream {
    socket: TcpStream,
    /// False while it is being connected.
    is_up: bool,
    /// True if it may take more.
    is_writable: bool,
    /// True if it may have more.
    is_readable: bool,
}

/// Datagrams and connections that are taken from a socket before others have their turn.
const BUDGET: usize = 64;
/// Bytes that are read from a stream before others have their turn.
const BYTES_BUDGET: usize = 256 << 10;
/// Longest time for which a turn waits: that in which a program that has ended, or Ctrl-C, is noticed.
const PULSE: Duration = Duration::from_millis(20);
/// Lateness of a turn from which on it says that the process was stopped, where packets may not be later than that.
const STOPPED_AT_LEAST: Duration = Duration::from_millis(25);
/// Sockets that one wait tells of.
const EVENTS: usize = 256;
/// Longest datagram, in bytes.
const DATAGRAM_MAX: usize = 65_535;

impl RelayDoors {
    /// Opens the ports of relays. `interfaces` are those of the nodes for which hosts stand, each with the place of its
    /// node, and whether its link carries frames. A packet that leaves later than by `limit` makes the run void.
    ///
    /// # Errors
    /// If a port cannot be had, with its relay.
    pub fn open(
        relays: Relays,
        configs: &[RelayConfig],
        interfaces: &[(usize, InterfaceId, bool)],
        limit: Duration,
    ) -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let clock = RunClock::start(&poll)?;
        let (mut sockets, mut bound) = (BTreeMap::new(), Vec::new());
        for (place, config) in configs.iter().enumerate() {
            let failed = |error: io::Error| {
                io::Error::new(error.kind(), format!("--relay {config}: {}: {error}", config.listen))
            };
            let socket = RelaySocket(place);
            let opened = match config.protocol {
                RelayProtocol::Tcp => TcpListener::bind(config.listen).and_then(|mut listener| {
                    poll.registry().register(&mut listener, Token(place), Interest::READABLE)?;
                    bound.push(listener.local_addr()?);
                    Ok(MachineSocket::Listener(listener))
                }),
                RelayProtocol::Udp => UdpSocket::bind(config.listen).and_then(|mut port| {
                    poll.registry().register(&mut port, Token(place), Interest::READABLE)?;
                    bound.push(port.local_addr()?);
                    Ok(MachineSocket::Port(port))
                }),
            };
            sockets.insert(socket, opened.map_err(failed)?);
        }
        let door = |&(node, id, carries_frames): &(usize, InterfaceId, bool)| RelayDoor {
            node,
            id,
            carries_frames,
            counters: DoorCounters::default(),
            lateness: DepartureLateness::new(limit),
        };
        Ok(Self {
            poll,
            events: mio::Events::with_capacity(EVENTS),
            clock,
            relays,
            sockets,
            readable: BTreeSet::new(),
            full: BTreeSet::new(),
            bound,
            doors: interfaces.iter().map(door).collect(),
            departed: VecDeque::new(),
            limit,
            spin: Duration::ZERO,
            void: None,
            suspension_looked: Instant::START,
            buffer: vec![0; DATAGRAM_MAX],
        })
    }

    /// Has the thread not sleep for so long before each event.
    pub const fn spin_for(&mut self, spin: Duration) {
        self.spin = spin;
    }

    /// Addresses of the relays' ports, in their order: those that were to be any are known.
    pub fn bound(&self) -> &[SocketAddr] {
        &self.bound
    }

    /// Begins the run: this is its start.
    pub fn start(&mut self) {
        self.clock.restart();
    }

    /// Present instant of the run.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Reason for which the run says nothing any more: the first that there was.
    pub const fn void(&self) -> Option<Void> {
        self.void
    }

    /// Relays of these doors, with their counts.
    pub const fn relays(&self) -> &Relays {
        &self.relays
    }

    /// Reports of all interfaces, in the order in which they were given.
    pub fn reports(&self) -> Vec<DoorReport> {
        let report = |door: &RelayDoor| {
            let lateness = door.lateness.summary();
            DoorReport { counters: door.counters, lateness: (lateness.count > 0).then_some(lateness) }
        };
        self.doors.iter().map(report).collect()
    }

    /// Takes a packet that has come to an attached node.
    pub fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) {
        if let Some(door) = self.doors.iter().position(|door| door.id == interface) {
            self.departed.push_back((at, door, packet));
        }
    }

    /// Waits until something comes from a program or `next` is due, and gives packets for the network to `take`. Gives
    /// the instant up to which the network may run, whose present is `network_now`.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn turn(
        &mut self,
        network_now: Instant,
        next: Option<Instant>,
        take: &mut dyn FnMut(Instant, InterfaceId, Packet),
    ) -> io::Result<Instant> {
        self.hand_over();
        let now = self.now();
        let is_more_to_come = self.settle(now, take) || !self.readable.is_empty();
        let next = next.unwrap_or(Instant::FAR_FUTURE);
        let next = self.relays.deadline().map_or(next, |deadline| next.min(deadline));
        let due = if is_more_to_come { now } else { next.min(now + PULSE) };
        self.wait(now, due, next)?;
        let now = self.now();
        for event in &self.events {
            let socket = RelaySocket(event.token().0);
            let is_for_reading =
                event.is_readable() || event.is_read_closed() || event.is_error() || event.is_write_closed();
            if event.token() != TIMER && is_for_reading {
                self.readable.insert(socket);
            }
            if let Some(MachineSocket::Stream(stream)) = self.sockets.get_mut(&socket) {
                stream.is_writable |= event.is_writable() || event.is_error() || event.is_write_closed();
                stream.is_readable |= is_for_reading;
            }
        }
        let writable: Vec<RelaySocket> = self
            .events
            .iter()
            .filter(|event| event.is_writable() || event.is_error() || event.is_write_closed())
            .map(|event| RelaySocket(event.token().0))
            .collect();
        for socket in writable {
            self.write(now, socket);
        }
        self.readable.append(&mut self.full);
        for socket in std::mem::take(&mut self.readable) {
            self.read(now, socket);
        }
        self.relays.handle_deadline(now);
        self.settle(now, take);
        Ok(now.max(network_now))
    }

    /// Hands what has left the network to the hosts, and counts how late that is.
    fn hand_over(&mut self) {
        while let Some((at, place, packet)) = self.departed.pop_front() {
            let now = self.now();
            let door = &mut self.doors[place];
            let late = now.saturating_since(at);
            door.lateness.record(late);
            if late > self.limit {
                self.void.get_or_insert(Void::Late { at, late });
            }
            door.counters.packets_out += 1;
            door.counters.bytes_out += length(door.carries_frames, &packet);
            let (node, id) = (door.node, door.id);
            self.relays.handle_packet(now, node, id, packet);
        }
    }

    /// Waits until a socket is ready or `due` has come.
    fn wait(&mut self, now: Instant, due: Instant, next: Instant) -> io::Result<()> {
        let spin = if due == next { self.spin } else { Duration::ZERO };
        let wake = Instant::START + due.saturating_since(Instant::START).saturating_sub(spin);
        wait(&mut self.poll, &mut self.events, &self.clock, wake.max(now))?;
        while self.events.is_empty() && due > now && self.now() < due && spin > Duration::ZERO {
            wait(&mut self.poll, &mut self.events, &self.clock, Instant::START)?;
        }
        let (woken, most) = (self.now(), self.limit.max(STOPPED_AT_LEAST));
        // As often as anybody looks: the clocks cost as much as a wait.
        if woken >= self.suspension_looked + PULSE {
            self.suspension_looked = woken;
            if let Some(time) = self.clock.suspended() {
                self.void.get_or_insert(Void::Suspended { at: woken, time });
            }
        }
        let late = woken.saturating_since(due.max(now));
        if late > most {
            self.void.get_or_insert(Void::Stopped { at: due, time: late });
        }
        Ok(())
    }

    /// Gives the network all that the hosts send, and does all that they ask for. True if there was anything for the
    /// network.
    fn settle(&mut self, now: Instant, take: &mut dyn FnMut(Instant, InterfaceId, Packet)) -> bool {
        let mut has_sent = false;
        loop {
            while let Some((interface, packet)) = self.relays.poll_packet(now) {
                if let Some(door) = self.doors.iter_mut().find(|door| door.id == interface) {
                    door.counters.packets_in += 1;
                    door.counters.bytes_in += length(door.carries_frames, &packet);
                }
                take(now, interface, packet);
                has_sent = true;
            }
            let Some(action) = self.relays.poll_action() else { return has_sent };
            self.act(now, action);
        }
    }

    fn act(&mut self, now: Instant, action: SocketAction) {
        match action {
            SocketAction::Close(socket) => self.close(socket),
            SocketAction::Connect { socket, protocol, server } => {
                if self.connect(socket, protocol, server).is_err() {
                    self.close(socket);
                    self.relays.handle_broken(now, socket);
                }
            }
            SocketAction::Look(socket) => {
                self.write(now, socket);
                // There may be room for what waits in the socket.
                self.read(now, socket);
            }
            SocketAction::Reset(socket) => self.reset(socket),
            SocketAction::Send { socket, to, payload } => {
                let sent = match (self.sockets.get(&socket), to) {
                    (Some(MachineSocket::Port(port)), Some(to)) => port.send_to(&payload, to),
                    (Some(MachineSocket::Server(server)), _) => server.send(&payload),
                    _ => return,
                };
                if sent.is_err_and(|error| is_full(&error)) {
                    self.note_refused(now, socket);
                }
            }
        }
    }

    /// Notes a datagram for which a socket had no room.
    fn note_refused(&mut self, now: Instant, socket: RelaySocket) {
        let node = self.relays.node_of(socket);
        if let Some(door) = self.doors.iter_mut().find(|door| Some(door.node) == node) {
            door.counters.refused += 1;
        }
        self.void.get_or_insert(Void::Refused { at: now, packets: 1 });
    }

    fn connect(
        &mut self,
        socket: RelaySocket,
        protocol: RelayProtocol,
        server: SocketAddr,
    ) -> io::Result<()> {
        let opened = match protocol {
            RelayProtocol::Tcp => {
                let mut stream = TcpStream::connect(server)?;
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut stream, Token(socket.0), interest)?;
                MachineSocket::Stream(Stream {
                    socket: stream,
                    is_up: false,
                    is_writable: false,
                    is_readable: false,
                })
            }
            RelayProtocol::Udp => {
                let any = match server.ip() {
                    IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                    IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
                };
                let mut port = UdpSocket::bind(SocketAddr::new(any, 0))?;
                port.connect(server)?;
                self.poll.registry().register(&mut port, Token(socket.0), Interest::READABLE)?;
                MachineSocket::Server(port)
            }
        };
        self.sockets.insert(socket, opened);
        Ok(())
    }

    fn close(&mut self, socket: RelaySocket) {
        self.readable.remove(&socket);
        self.sockets.remove(&socket);
    }

    /// Closes a stream so that its peer is told of a reset.
    fn reset(&mut self, socket: RelaySocket) {
        if let Some(MachineSocket::Stream(stream)) = self.sockets.get(&socket) {
            reset_on_close(&stream.socket);
        }
        self.close(socket);
    }

    /// Notes that a stream is broken, with its connection.
    fn fail(&mut self, now: Instant, socket: RelaySocket) {
        self.reset(socket);
        self.relays.handle_broken(now, socket);
    }

    /// Writes what waits for a stream, as far as it takes it.
    fn write(&mut self, now: Instant, socket: RelaySocket) {
        let Some(MachineSocket::Stream(stream)) = self.sockets.get_mut(&socket) else { return };
        if !stream.is_up {
            if !stream.is_writable {
                return;
            }
            match is_connected(&stream.socket) {
                Ok(true) => {
                    // Small messages of programs do not wait for each other.
                    let _ = stream.socket.set_nodelay(true);
                    (stream.is_up, stream.is_readable) = (true, true);
                    self.readable.insert(socket);
                }
                Ok(false) => {
                    stream.is_writable = false;
                    return;
                }
                Err(_) => return self.fail(now, socket),
            }
        }
        while stream.is_writable
            && let Some(bytes) = self.relays.next_bytes(socket)
        {
            match stream.socket.write(bytes) {
                Ok(len) => self.relays.handle_written(now, socket, len),
                Err(error) if error.kind() == ErrorKind::WouldBlock => stream.is_writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.fail(now, socket),
            }
        }
        if self.relays.next_bytes(socket).is_none() && self.relays.take_end(socket) {
            // A peer that has gone already is told no more.
            let _ = stream.socket.shutdown(Shutdown::Write);
        }
    }

    /// Reads what has come to a socket, or takes who has come to a port.
    fn read(&mut self, now: Instant, socket: RelaySocket) {
        match self.sockets.get_mut(&socket) {
            Some(MachineSocket::Listener(_)) => self.accept(now, socket),
            Some(MachineSocket::Port(_) | MachineSocket::Server(_)) => self.receive(now, socket),
            Some(MachineSocket::Stream(_)) => self.read_stream(now, socket),
            None => {}
        }
    }

    fn accept(&mut self, now: Instant, port: RelaySocket) {
        for _ in 0..BUDGET {
            if !self.relays.has_room(port.0) {
                self.full.insert(port);
                return;
            }
            let Some(MachineSocket::Listener(listener)) = self.sockets.get(&port) else { return };
            let mut stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Who has called is gone.
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) =>
                {
                    continue;
                }
                // No descriptor is left: it waits in the port.
                Err(_) => {
                    self.full.insert(port);
                    return;
                }
            };
            let _ = stream.set_nodelay(true);
            let Some(socket) = self.relays.handle_accepted(now, port.0) else {
                reset_on_close(&stream);
                continue;
            };
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self.poll.registry().register(&mut stream, Token(socket.0), interest);
            let own = Stream { socket: stream, is_up: true, is_writable: true, is_readable: true };
            self.sockets.insert(socket, MachineSocket::Stream(own));
            if registered.is_err() {
                self.fail(now, socket);
            }
        }
        self.readable.insert(port);
    }

    fn receive(&mut self, now: Instant, socket: RelaySocket) {
        for _ in 0..BUDGET {
            let received = match self.sockets.get(&socket) {
                Some(MachineSocket::Port(port)) => {
                    port.recv_from(&mut self.buffer).map(|(len, at)| (len, Some(at)))
                }
                Some(MachineSocket::Server(server)) => server.recv(&mut self.buffer).map(|len| (len, None)),
                _ => return,
            };
            match received {
                Ok((len, from)) => {
                    let payload = Bytes::copy_from_slice(&self.buffer[..len]);
                    match from {
                        Some(from) => self.relays.handle_from_program(now, socket.0, from, payload),
                        None => self.relays.handle_from_server(now, socket, payload),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // An earlier datagram has found nobody: as over any network, the sender is not told by UDP.
                Err(_) => {}
            }
        }
        self.readable.insert(socket);
    }

    fn read_stream(&mut self, now: Instant, socket: RelaySocket) {
        let mut left = BYTES_BUDGET;
        loop {
            let Some(MachineSocket::Stream(stream)) = self.sockets.get_mut(&socket) else { return };
            if !stream.is_up || !stream.is_readable {
                return;
            }
            let room = self.relays.room(socket).min(left);
            if room == 0 {
                // What is left is read when there is room, which is told; a reset is seen meanwhile.
                if matches!(stream.socket.take_error(), Ok(Some(_)) | Err(_)) {
                    return self.fail(now, socket);
                }
                if left == 0 {
                    self.readable.insert(socket);
                }
                return;
            }
            match stream.socket.read(&mut self.buffer[..room.min(DATAGRAM_MAX)]) {
                Ok(0) => {
                    self.relays.handle_end(now, socket);
                    return;
                }
                Ok(len) => {
                    left -= len;
                    let bytes = Bytes::copy_from_slice(&self.buffer[..len]);
                    self.relays.handle_bytes(now, socket, bytes);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    stream.is_readable = false;
                    return;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.fail(now, socket),
            }
        }
    }
}

/// Bytes of a packet, or of what a frame carries.
fn length(carries_frames: bool, packet: &Packet) -> u64 {
    let len = if carries_frames { ethernet::content_len(&packet.contiguous()) } else { packet.len() };
    len as u64
}

fn reset_on_close(stream: &TcpStream) {
    // Where the system refuses it, the peer is told of an end.
    let _ = SockRef::from(stream).set_linger(Some(std::time::Duration::ZERO));
}

/// Tells if a stream that was being connected is; why it will never be.
fn is_connected(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells if a socket had no room. That nobody is at the other end is no lack of room.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory)
}
