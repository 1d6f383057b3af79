//! The relays of an emulation without its sockets: hosts at attached nodes, and what joins them to programs.
//!
//! Sans-IO: whoever has the sockets hands in what programs and servers send, and follows the [`SocketAction`]s. A
//! connection that a program makes is one of ours to the far node, where another socket calls the server. A datagram is
//! one of ours, whose port stands for the program's own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Stream, StreamFamily};
use slantpath_interface::InterfaceId;
use slantpath_tcp::{self as tcp, TcpConfig};
use slantpath_wire::Packet;
use slantpath_wire::ip::protocol;

use crate::config::{RelayConfig, RelayError, RelayProtocol};
use crate::host::{ArrivedDatagram, HostConfig, RelayHost};
use crate::joint::Joint;

/// A socket of the machine, by a number that no other has: first the ports of the relays, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelaySocket(pub usize);

/// Work for whoever has the sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketAction {
    /// To close a socket.
    Close(RelaySocket),
    /// To open a socket, of TCP or UDP, that is connected to a server.
    Connect {
        /// Number of the socket.
        socket: RelaySocket,
        /// Protocol of the socket.
        protocol: RelayProtocol,
        /// Address of the server.
        server: SocketAddr,
    },
    /// To write [what waits](Relays::next_bytes) for a stream, to end it where [that is due](Relays::take_end), and to
    /// read from it if there is [room](Relays::room).
    Look(RelaySocket),
    /// To break a stream off with a reset.
    Reset(RelaySocket),
    /// To send a datagram from a socket: from a relay's port to the address given, else to the server.
    Send {
        /// Number of the socket.
        socket: RelaySocket,
        /// Address of the program.
        to: Option<SocketAddr>,
        /// Content of the datagram.
        payload: Bytes,
    },
}

/// Counts of what relays could not carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelayCounters {
    /// Connections of programs that have been carried.
    pub connections: u64,
    /// Connections among these that a reset has ended: of the program, of the server, or since none was there.
    pub resets: u64,
    /// Datagrams that no IP packet is long enough for, or that had no way.
    pub unsent: u64,
    /// Programs whose return path was given to another, since there were too many at once.
    pub displaced: u64,
}

/// Connections that a relay has at once.
pub const RELAY_CONNECTIONS_MAX: usize = 1_024;
/// Senders of datagrams that a relay knows at once, each with a return path.
pub const RELAY_SENDERS_MAX: usize = 1_024;
/// Time after which the return path of a sender is given up.
//
// RFC 4787, REQ-5: at least two minutes, and five are recommended.
const SILENCE_MAX: Duration = Duration::from_secs(300);
/// Time between two looks for senders that are silent.
const SILENCE_LOOK: Duration = Duration::from_secs(30);
/// First port that stands for a program whose own is taken.
const FIRST_PORT: u16 = 49_152;
/// Bytes that are read from a socket at one time.
const READ_MAX: usize = 64 << 10;

/// A relay that is set up.
#[derive(Debug)]
struct Relay {
    protocol: RelayProtocol,
    /// Place of the host at which programs enter the network.
    near: usize,
    /// Address and port in the network to which it goes.
    target: SocketAddr,
    /// Own address at the near host.
    source: SocketAddr,
    /// Place of the host at which the server's socket is, and the server; none if the target is a simulated host.
    far: Option<(usize, SocketAddr)>,
    connections: usize,
}

/// Return path of a sender of datagrams.
#[derive(Clone, Copy, Debug)]
enum Path {
    /// At the near host: a program, whose place there a port has.
    Program { relay: usize, program: SocketAddr, port: u16 },
    /// At the far host: a socket towards the server, for one sender in the network.
    Server { relay: usize, local: SocketAddr, remote: SocketAddr },
}

/// A path with the instant at which something passed it last.
#[derive(Debug)]
struct KnownPath {
    path: Path,
    used: Instant,
}

/// All relays, with the hosts that they need.
#[derive(Debug)]
pub struct Relays {
    hosts: Vec<RelayHost>,
    all: Vec<Relay>,
    joints: BTreeMap<RelaySocket, Joint>,
    by_connection: BTreeMap<(usize, tcp::ConnectionId), RelaySocket>,
    paths: BTreeMap<RelaySocket, KnownPath>,
    /// Paths by the program at a relay.
    by_program: BTreeMap<(usize, SocketAddr), RelaySocket>,
    /// Paths by the port at a near host.
    by_port: BTreeMap<(usize, u16), RelaySocket>,
    /// Paths by the sender at a relay's far host.
    by_sender: BTreeMap<(usize, SocketAddr), RelaySocket>,
    next_socket: usize,
    next_port: u16,
    silence_looked: Instant,
    actions: VecDeque<SocketAction>,
    looked: BTreeSet<RelaySocket>,
    tcp: TcpConfig,
    chance: Stream,
    counters: RelayCounters,
}

impl Relays {
    /// Sets relays up over hosts in the place of attached nodes. Their TCP is as `tcp` says, and draws from `chance`.
    ///
    /// # Errors
    /// If a node does not exist or is not reached, or two relays need one port of a host.
    pub fn new(
        nodes: Vec<HostConfig>,
        configs: &[RelayConfig],
        tcp: TcpConfig,
        mut chance: Stream,
    ) -> Result<Self, RelayError> {
        let mut hosts: Vec<RelayHost> = nodes.into_iter().map(RelayHost::new).collect();
        let mut relays: Vec<Relay> = Vec::new();
        for config in configs {
            let place = |node: &str| hosts.iter().position(|host| host.name() == node);
            let near = place(&config.from).ok_or_else(|| RelayError::NoNode { node: config.from.clone() })?;
            let unreached = || RelayError::Unreached { from: config.from.clone(), to: config.to.clone() };
            let address = hosts[near].address_of(&config.to).ok_or_else(unreached)?;
            let source = hosts[near].source_towards(address).ok_or_else(unreached)?;
            let far = place(&config.to);
            let target = SocketAddr::new(address, config.server.port());
            if far.is_none() && !config.is_server_implied {
                return Err(RelayError::NoServerThere { node: config.to.clone() });
            }
            let relay = Relay {
                protocol: config.protocol,
                near,
                target,
                source: SocketAddr::new(source, 0),
                far: far.map(|far| (far, config.server)),
                connections: 0,
            };
            if let Some((far, server)) = relay.far {
                let alike = |other: &&Relay| {
                    other.protocol == relay.protocol
                        && other.far.is_some_and(|(host, at)| host == far && at.port() == server.port())
                };
                match relays.iter().find(alike).and_then(|other| other.far) {
                    Some((_, other)) if other != server => {
                        let (node, port) = (config.to.clone(), server.port());
                        return Err(RelayError::TwoServers { node, port, servers: [other, server] });
                    }
                    None if relay.protocol == RelayProtocol::Tcp => {
                        let host = &mut hosts[far];
                        let settings = host.tcp_config(&tcp);
                        let family = tcp::Chance::ByPeer(StreamFamily::new(&mut chance));
                        // Nobody else listens at a host that is made here.
                        let _ = host.tcp.listen(server.port(), settings, family);
                    }
                    Some(_) | None => {}
                }
            }
            relays.push(relay);
        }
        Ok(Self {
            next_socket: relays.len(),
            hosts,
            all: relays,
            joints: BTreeMap::new(),
            by_connection: BTreeMap::new(),
            paths: BTreeMap::new(),
            by_program: BTreeMap::new(),
            by_port: BTreeMap::new(),
            by_sender: BTreeMap::new(),
            next_port: FIRST_PORT,
            silence_looked: Instant::START,
            actions: VecDeque::new(),
            looked: BTreeSet::new(),
            tcp,
            chance,
            counters: RelayCounters::default(),
        })
    }

    /// Counts of what has been carried, and what could not be.
    pub const fn counters(&self) -> &RelayCounters {
        &self.counters
    }

    /// Place of the node at which a socket's data leaves the network.
    pub fn node_of(&self, socket: RelaySocket) -> Option<usize> {
        if let Some(relay) = self.all.get(socket.0) {
            return Some(relay.near);
        }
        match self.paths.get(&socket).map(|known| known.path) {
            Some(Path::Program { relay, .. }) => Some(self.all[relay].near),
            Some(Path::Server { relay, .. }) => self.all[relay].far.map(|(far, _)| far),
            None => self.joints.get(&socket).map(|joint| joint.host),
        }
    }

    /// Tells if a relay takes one more connection.
    pub fn has_room(&self, relay: usize) -> bool {
        self.all.get(relay).is_some_and(|relay| relay.connections < RELAY_CONNECTIONS_MAX)
    }

    /// Notes that a program has connected to a relay's port, and calls the far node. Gives the number of its socket, or
    /// nothing if it is to be reset: no port is left.
    pub fn handle_accepted(&mut self, now: Instant, relay: usize) -> Option<RelaySocket> {
        if !self.has_room(relay) {
            return None;
        }
        let own = self.all.get_mut(relay)?;
        let host = &mut self.hosts[own.near];
        let config = host.tcp_config(&self.tcp);
        let connection = host.tcp.connect(now, own.source, own.target, config, &mut self.chance).ok()?;
        own.connections += 1;
        let host = own.near;
        self.counters.connections += 1;
        Some(self.join(host, connection, relay))
    }

    fn new_socket(&mut self) -> RelaySocket {
        self.next_socket += 1;
        RelaySocket(self.next_socket - 1)
    }

    fn join(&mut self, host: usize, connection: tcp::ConnectionId, relay: usize) -> RelaySocket {
        let socket = self.new_socket();
        self.joints.insert(socket, Joint::new(host, connection, relay));
        self.by_connection.insert((host, connection), socket);
        socket
    }

    /// Number of bytes that may be read from a stream's socket now.
    pub fn room(&self, socket: RelaySocket) -> usize {
        let Some(joint) = self.joints.get(&socket).filter(|joint| joint.is_readable()) else { return 0 };
        let room = self.hosts[joint.host].tcp.writable_bytes(joint.connection);
        usize::try_from(room).unwrap_or(READ_MAX).min(READ_MAX)
    }

    /// Takes what has been read from a stream's socket.
    pub fn handle_bytes(&mut self, now: Instant, socket: RelaySocket, bytes: Bytes) {
        if let Some(joint) = self.joints.get(&socket) {
            // One that is over has told so, and its socket follows.
            let _ = self.hosts[joint.host].tcp.write(now, joint.connection, bytes);
        }
    }

    /// Notes that a stream's socket has come to its end: its other half goes on.
    pub fn handle_end(&mut self, now: Instant, socket: RelaySocket) {
        if let Some(joint) = self.joints.get_mut(&socket)
            && joint.end_inward()
        {
            let _ = self.hosts[joint.host].tcp.close(now, joint.connection);
        }
        self.settle(socket);
    }

    /// Notes that a socket is broken, or could not be opened: its connection is reset.
    pub fn handle_broken(&mut self, now: Instant, socket: RelaySocket) {
        self.forget_path(socket);
        let Some(joint) = self.remove(socket) else { return };
        self.note_reset(&joint);
        let _ = self.hosts[joint.host].tcp.abort(now, joint.connection);
    }

    /// Counts a reset at the end where it was begun or where it came to: that of the program.
    fn note_reset(&mut self, joint: &Joint) {
        self.counters.resets += u64::from(joint.host == self.all[joint.relay].near);
    }

    fn remove(&mut self, socket: RelaySocket) -> Option<Joint> {
        let joint = self.joints.remove(&socket)?;
        self.by_connection.remove(&(joint.host, joint.connection));
        let relay = &mut self.all[joint.relay];
        // At the far host the listener counts.
        relay.connections -= usize::from(relay.near == joint.host && relay.connections > 0);
        Some(joint)
    }

    /// Next bytes for a stream's socket.
    pub fn next_bytes(&self, socket: RelaySocket) -> Option<&Bytes> {
        self.joints.get(&socket)?.front()
    }

    /// Takes off what the socket has taken of [the next bytes](Self::next_bytes).
    pub fn handle_written(&mut self, now: Instant, socket: RelaySocket, len: usize) {
        if let Some(joint) = self.joints.get_mut(&socket)
            && joint.advance(len)
        {
            let _ = self.hosts[joint.host].tcp.release(now, joint.connection);
        }
    }

    /// Tells, once, that the stream to a socket has ended: nothing more will be written to it.
    pub fn take_end(&mut self, socket: RelaySocket) -> bool {
        let is_due = self.joints.get_mut(&socket).is_some_and(Joint::take_end);
        if is_due {
            self.settle(socket);
        }
        is_due
    }

    /// Lets go of a stream whose both halves have ended.
    fn settle(&mut self, socket: RelaySocket) {
        if self.joints.get(&socket).is_some_and(Joint::is_over) {
            self.remove(socket);
            self.actions.push_back(SocketAction::Close(socket));
        }
    }

    /// Takes a datagram that a program has sent to a relay's port.
    pub fn handle_from_program(&mut self, now: Instant, relay: usize, program: SocketAddr, payload: Bytes) {
        let Some(&Relay { near, target, source, .. }) = self.all.get(relay) else { return };
        let known = self.by_program.get(&(relay, program)).copied();
        let socket = known.or_else(|| self.know_program(now, relay, near, program));
        let sent = socket.and_then(|socket| {
            let known = self.paths.get_mut(&socket)?;
            known.used = now;
            let Path::Program { port, .. } = known.path else { return None };
            let local = SocketAddr::new(source.ip(), port);
            self.hosts[near].send_datagram(local, target, payload).ok()
        });
        self.counters.unsent += u64::from(sent.is_none());
    }

    /// A path for a program, by its own port where that is free.
    fn know_program(
        &mut self,
        now: Instant,
        relay: usize,
        near: usize,
        program: SocketAddr,
    ) -> Option<RelaySocket> {
        self.make_room(relay, |path| matches!(path, Path::Program { .. }));
        let dynamic = FIRST_PORT..=u16::MAX;
        let count = dynamic.len();
        let mut port = program.port();
        // Ports of servers at this host are theirs.
        let is_servers = |port: u16| {
            self.all.iter().any(|other| other.far.is_some_and(|(host, at)| host == near && at.port() == port))
        };
        let mut tried = 0;
        while port == 0 || self.by_port.contains_key(&(near, port)) || is_servers(port) {
            if tried > count {
                return None;
            }
            tried += 1;
            port = self.next_port;
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_PORT);
        }
        let socket = self.new_socket();
        self.by_program.insert((relay, program), socket);
        self.by_port.insert((near, port), socket);
        self.paths.insert(socket, KnownPath { path: Path::Program { relay, program, port }, used: now });
        Some(socket)
    }

    /// Gives up the path of a kind that was used least lately, if a relay has as many as it may.
    fn make_room(&mut self, relay: usize, is_of_kind: impl Fn(&Path) -> bool) {
        let own = |known: &KnownPath| {
            let (Path::Program { relay: of, .. } | Path::Server { relay: of, .. }) = known.path;
            of == relay && is_of_kind(&known.path)
        };
        let mut alike =
            self.paths.iter().filter(|(_, known)| own(known)).map(|(id, known)| (known.used, *id));
        // As long as there are few in all there are few of one relay.
        if self.paths.len() < RELAY_SENDERS_MAX || alike.clone().count() < RELAY_SENDERS_MAX {
            return;
        }
        let first = alike.next();
        if let Some((_, oldest)) = alike.chain(first).min() {
            self.counters.displaced += 1;
            self.give_up_path(oldest);
        }
    }

    /// Takes a datagram that a server has sent to the socket that was opened towards it.
    pub fn handle_from_server(&mut self, now: Instant, socket: RelaySocket, payload: Bytes) {
        let Some(known) = self.paths.get_mut(&socket) else { return };
        let Path::Server { relay, local, remote } = known.path else { return };
        known.used = now;
        let Some((far, _)) = self.all[relay].far else { return };
        let sent = self.hosts[far].send_datagram(local, remote, payload);
        self.counters.unsent += u64::from(sent.is_err());
    }

    /// Takes a packet, or a frame, that has come to an attached node by one of its interfaces.
    pub fn handle_packet(&mut self, now: Instant, node: usize, interface: InterfaceId, packet: Packet) {
        let Some(host) = self.hosts.get_mut(node) else { return };
        if let Some(datagram) = host.handle_packet(now, interface, packet) {
            self.handle_datagram(now, node, datagram);
        }
    }

    fn handle_datagram(&mut self, now: Instant, node: usize, datagram: ArrivedDatagram) {
        let ArrivedDatagram { local, remote, payload, identification: _ } = datagram;
        if let Some(&socket) = self.by_port.get(&(node, local.port()))
            && let Some(known) = self.paths.get_mut(&socket)
            && let Path::Program { relay, program, .. } = known.path
        {
            // Others than the one that was asked have nothing to answer.
            if self.all[relay].target == remote {
                known.used = now;
                let action = SocketAction::Send { socket: RelaySocket(relay), to: Some(program), payload };
                self.actions.push_back(action);
            }
            return;
        }
        let is_at = |relay: &Relay| {
            relay.protocol == RelayProtocol::Udp
                && relay.far.is_some_and(|(host, server)| host == node && server.port() == local.port())
        };
        // Several relays may lead to one server.
        let Some(relay) = self.all.iter().position(is_at) else { return };
        let Some((_, server)) = self.all[relay].far else { return };
        let known = self.by_sender.get(&(relay, remote)).copied();
        let socket = known.unwrap_or_else(|| {
            self.make_room(relay, |path| matches!(path, Path::Server { .. }));
            let socket = self.new_socket();
            self.by_sender.insert((relay, remote), socket);
            let path = Path::Server { relay, local, remote };
            self.paths.insert(socket, KnownPath { path, used: now });
            self.actions.push_back(SocketAction::Connect { socket, protocol: RelayProtocol::Udp, server });
            socket
        });
        if let Some(known) = self.paths.get_mut(&socket) {
            known.used = now;
        }
        self.actions.push_back(SocketAction::Send { socket, to: None, payload });
    }

    /// Forgets a path. True if it had a socket of its own.
    fn forget_path(&mut self, socket: RelaySocket) -> bool {
        let Some(known) = self.paths.remove(&socket) else { return false };
        match known.path {
            Path::Program { relay, program, port } => {
                self.by_program.remove(&(relay, program));
                self.by_port.remove(&(self.all[relay].near, port));
                false
            }
            Path::Server { relay, remote, .. } => {
                self.by_sender.remove(&(relay, remote));
                true
            }
        }
    }

    fn give_up_path(&mut self, socket: RelaySocket) {
        if self.forget_path(socket) {
            self.actions.push_back(SocketAction::Close(socket));
        }
    }

    /// Does what is due by `now`.
    pub fn handle_deadline(&mut self, now: Instant) {
        for host in &mut self.hosts {
            host.handle_deadline(now);
        }
        if now >= self.silence_looked + SILENCE_LOOK {
            self.silence_looked = now;
            let is_silent = |known: &KnownPath| now.saturating_since(known.used) >= SILENCE_MAX;
            let silent = self.paths.iter().filter(|(_, known)| is_silent(known)).map(|(id, _)| *id);
            for socket in silent.collect::<Vec<_>>() {
                self.give_up_path(socket);
            }
        }
    }

    /// Instant at which [`handle_deadline`](Self::handle_deadline) is to be called, once all else has been polled.
    pub fn deadline(&self) -> Option<Instant> {
        let silence = (!self.paths.is_empty()).then(|| self.silence_looked + SILENCE_LOOK);
        self.hosts.iter().filter_map(RelayHost::deadline).chain(silence).min()
    }

    /// The next packet, or frame, that leaves a node by an interface. To be called until there is none, before actions
    /// are polled.
    pub fn poll_packet(&mut self, now: Instant) -> Option<(InterfaceId, Packet)> {
        for place in 0..self.hosts.len() {
            if let Some(packet) = self.hosts[place].poll_packet() {
                return Some(packet);
            }
            let mut packet = Packet::default();
            loop {
                let host = &mut self.hosts[place];
                match host.tcp.poll_output(now, &mut packet) {
                    tcp::Output::Event(connection, event) => self.handle_event(now, place, connection, event),
                    tcp::Output::Transmit(envelope) => {
                        // A connection has a way, or it would not be.
                        let _ = host.send(&envelope, protocol::TCP, std::mem::take(&mut packet), false);
                        if let Some(packet) = host.poll_packet() {
                            return Some(packet);
                        }
                    }
                    tcp::Output::Wait(_) => break,
                }
            }
        }
        None
    }

    fn handle_event(&mut self, now: Instant, host: usize, connection: tcp::ConnectionId, event: tcp::Event) {
        let known = self.by_connection.get(&(host, connection)).copied();
        let Some(socket) = known.or_else(|| self.accept(host, connection, &event)) else { return };
        match event {
            tcp::Event::Data(bytes) => {
                if let Some(joint) = self.joints.get_mut(&socket)
                    && joint.push(bytes)
                {
                    let _ = self.hosts[host].tcp.hold(now, connection);
                }
                self.look(socket);
            }
            tcp::Event::PeerClosed => {
                if let Some(joint) = self.joints.get_mut(&socket) {
                    joint.end_outward();
                }
                self.look(socket);
            }
            tcp::Event::Connected => {
                if self.joints.get_mut(&socket).is_some_and(Joint::rise) {
                    let _ = self.hosts[host].tcp.close(now, connection);
                }
                self.look(socket);
            }
            tcp::Event::Writable => self.look(socket),
            tcp::Event::Reset(_) => {
                if let Some(joint) = self.remove(socket) {
                    self.note_reset(&joint);
                    self.actions.push_back(SocketAction::Reset(socket));
                }
            }
            // Both halves have been told of.
            tcp::Event::Closed
            | tcp::Event::Acked { .. }
            | tcp::Event::Arrived { .. }
            | tcp::Event::Transmitted { .. } => {}
        }
    }

    /// Has the server called for a connection that has come to the far host.
    fn accept(
        &mut self,
        host: usize,
        connection: tcp::ConnectionId,
        event: &tcp::Event,
    ) -> Option<RelaySocket> {
        if *event != tcp::Event::Connected {
            return None;
        }
        let port = self.hosts[host].tcp.snapshot(connection)?.local.port();
        let is_at = |relay: &Relay| {
            relay.protocol == RelayProtocol::Tcp
                && relay.far.is_some_and(|(far, server)| far == host && server.port() == port)
        };
        let relay = self.all.iter().position(is_at)?;
        let (_, server) = self.all[relay].far?;
        let socket = self.join(host, connection, relay);
        self.actions.push_back(SocketAction::Connect { socket, protocol: RelayProtocol::Tcp, server });
        Some(socket)
    }

    fn look(&mut self, socket: RelaySocket) {
        if self.looked.insert(socket) {
            self.actions.push_back(SocketAction::Look(socket));
        }
    }

    /// Next work for whoever has the sockets.
    pub fn poll_action(&mut self) -> Option<SocketAction> {
        let action = self.actions.pop_front()?;
        if let SocketAction::Look(socket) = &action {
            self.looked.remove(socket);
        }
        Some(action)
    }
}

#[cfg(test)]
mod tests;
