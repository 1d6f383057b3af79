//! Hosts of attached nodes, with the sockets that programs have opened at them, and what has happened to those.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Instant, Seed, Stream};
use slantpath_interface::{EndSystem as _, InterfaceId};
use slantpath_live::{AssociationsConfig, SctpConfig, SocketId};
use slantpath_relay::{HostConfig, RelayHost, UnsentDatagram, in_frame, out_of_frame};
use slantpath_tcp::{self as tcp, ResetCause, TcpConfig};
use slantpath_wire::Packet;
use slantpath_wire::icmp::IcmpMessage;
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::reassembly::Reassembler;

use crate::sctp::{DYNAMIC_FIRST, Leaving, SctpCarriage, SctpPorts, free_port};

/// Identifier of a connection of TCP: none is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestbedStream(pub u64);

/// Identifier of ports of SCTP that share a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortsId(pub u32);

/// Event that a socket has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestbedEvent {
    /// A connection has come to a port that listens.
    Accepted {
        /// Place of the node.
        node: usize,
        /// Connection that has come.
        stream: TestbedStream,
        /// Own address and port.
        local: SocketAddr,
        /// Address and port of the peer.
        remote: SocketAddr,
    },
    /// News of associations: what may be tried again, or an end.
    Associations(PortsId),
    /// All is acknowledged and both halves have ended. Nothing follows.
    Closed(TestbedStream),
    /// A connection that was called is up.
    Connected(TestbedStream),
    /// The next bytes of the peer's stream.
    Data(TestbedStream, Bytes),
    /// A datagram has come to a port of UDP.
    Datagram {
        /// Place of the node.
        node: usize,
        /// Own address and port.
        local: SocketAddr,
        /// Address and port of the sender.
        remote: SocketAddr,
        /// Number that its sender gave it; IPv6 has none.
        identification: Option<u16>,
        /// Bytes of the datagram.
        payload: Bytes,
    },
    /// The peer's stream has ended.
    PeerClosed(TestbedStream),
    /// The connection is broken. Nothing follows.
    Reset(TestbedStream, ResetCause),
    /// There is room again in the send buffer.
    Writable(TestbedStream),
}

/// Why a socket does not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// Another has the port.
    #[error("port {port} of {protocol} is in use at `{node}`")]
    InUse {
        /// Name of the node.
        node: String,
        /// Protocol of the port.
        protocol: &'static str,
        /// Number of the port.
        port: u16,
    },
    /// All ports are in use.
    #[error("`{node}` has no port of {protocol} that is free")]
    NoPort {
        /// Name of the node.
        node: String,
        /// Protocol of the ports.
        protocol: &'static str,
    },
    /// The connection is over, or its own stream has ended.
    #[error("{0}")]
    Stream(#[from] tcp::CommandError),
    /// The datagram cannot leave.
    #[error("{0}")]
    Unsent(#[from] UnsentDatagram),
    /// No interface leads there.
    #[error("no link leads from `{node}` to {destination}")]
    Unreachable {
        /// Name of the node.
        node: String,
        /// Address of the peer.
        destination: IpAddr,
    },
}

/// A node with its sockets.
#[derive(Debug)]
struct Node {
    host: RelayHost,
    /// Ports of UDP that are open.
    udp: BTreeSet<u16>,
    /// Ports of TCP that accept connections.
    listening: BTreeSet<u16>,
    next_port: u16,
    /// Chance of connections that the node calls.
    calls: Stream,
    /// Chance of connections that come.
    accepts: Stream,
    /// Chance of ports of SCTP.
    sctp: Stream,
    /// Ports of SCTP, in the order in which they were opened.
    ports: Vec<PortsId>,
    /// Answers what comes to a port of SCTP that nobody has.
    unbound: SctpPorts,
    /// Fragments of SCTP: only the first of a packet says for which port it is.
    fragments: Reassembler,
}

/// Hosts of a network's attached nodes, with the sockets of programs.
#[derive(Debug)]
pub struct Testbed {
    nodes: Vec<Node>,
    tcp: TcpConfig,
    streams: BTreeMap<TestbedStream, (usize, tcp::ConnectionId)>,
    by_connection: BTreeMap<(usize, tcp::ConnectionId), TestbedStream>,
    next_stream: u64,
    sctp: BTreeMap<PortsId, (usize, SctpPorts)>,
    next_ports: u32,
    /// Ports of SCTP whose news has been told and not been taken.
    told: BTreeSet<PortsId>,
    events: VecDeque<TestbedEvent>,
}

impl Testbed {
    /// Hosts of these nodes. Connections of TCP have these settings, and all chance comes from `seed`.
    pub fn new(nodes: Vec<HostConfig>, tcp: TcpConfig, seed: Seed) -> Self {
        let node = |config: HostConfig| {
            let stream = |what: &str| seed.stream(&format!("testbed/{}/{what}", config.name));
            let addresses = config.interfaces.iter().flat_map(|own| own.addresses.iter().copied());
            let unbound = SctpPorts::new(&config, addresses.collect(), SctpCarriage::Ip);
            Node {
                udp: BTreeSet::new(),
                listening: BTreeSet::new(),
                next_port: DYNAMIC_FIRST,
                calls: stream("calls"),
                accepts: stream("accepts"),
                sctp: stream("sctp"),
                ports: Vec::new(),
                unbound,
                fragments: Reassembler::default(),
                host: RelayHost::new(config),
            }
        };
        Self {
            nodes: nodes.into_iter().map(node).collect(),
            tcp,
            streams: BTreeMap::new(),
            by_connection: BTreeMap::new(),
            next_stream: 0,
            sctp: BTreeMap::new(),
            next_ports: 0,
            told: BTreeSet::new(),
            events: VecDeque::new(),
        }
    }

    /// Opens a port of UDP; zero: any. Gives its number.
    ///
    /// # Errors
    /// If another has it.
    pub fn open_udp(&mut self, node: usize, port: u16) -> Result<u16, SocketError> {
        let node = &mut self.nodes[node];
        let port = node.own_port(port, "UDP", |node, port| node.udp.contains(&port))?;
        node.udp.insert(port);
        Ok(port)
    }

    /// Closes a port of UDP: what comes to it is dropped.
    pub fn close_udp(&mut self, node: usize, port: u16) {
        self.nodes[node].udp.remove(&port);
    }

    /// Sends a datagram from a port. Without an own address it leaves from that of the interface that leads there.
    /// Gives its address and its number; IPv6 has none.
    ///
    /// # Errors
    /// If it cannot leave.
    pub fn send_datagram(
        &mut self,
        node: usize,
        (address, port): (Option<IpAddr>, u16),
        remote: SocketAddr,
        payload: Bytes,
    ) -> Result<(IpAddr, Option<u16>), SocketError> {
        let node = &mut self.nodes[node];
        let source = node.source(address, remote.ip())?;
        node.host.send_datagram(SocketAddr::new(source, port), remote, payload)?;
        Ok((source, source.is_ipv4().then(|| node.host.identification())))
    }

    /// Accepts connections to a port of TCP; zero: any. Gives its number.
    ///
    /// # Errors
    /// If another does.
    pub fn listen(&mut self, node: usize, port: u16) -> Result<u16, SocketError> {
        let config = self.nodes[node].host.tcp_config(&self.tcp);
        let node = &mut self.nodes[node];
        let port = node.own_port(port, "TCP", |node, port| node.listening.contains(&port))?;
        let chance = tcp::Chance::InTurn(node.accepts.fork(&port.to_string()));
        node.host.tcp.listen(port, config, chance)?;
        node.listening.insert(port);
        Ok(port)
    }

    /// Accepts no more connections to a port; those that there are go on.
    pub fn stop_listening(&mut self, node: usize, port: u16) {
        let node = &mut self.nodes[node];
        node.listening.remove(&port);
        node.host.tcp.stop_listening(port);
    }

    /// Calls a port of TCP. Gives the connection, and its own address.
    ///
    /// # Errors
    /// If no link leads there, or there is a connection of these ports.
    pub fn connect(
        &mut self,
        now: Instant,
        node: usize,
        (address, port): (Option<IpAddr>, u16),
        remote: SocketAddr,
    ) -> Result<(TestbedStream, SocketAddr), SocketError> {
        let place = node;
        let config = self.nodes[node].host.tcp_config(&self.tcp);
        let node = &mut self.nodes[node];
        let local = SocketAddr::new(node.source(address, remote.ip())?, port);
        let connection = node.host.tcp.connect(now, local, remote, config, &mut node.calls)?;
        let local = node.host.tcp.snapshot(connection).map_or(local, |known| known.local);
        Ok((self.know(place, connection), local))
    }

    fn know(&mut self, node: usize, connection: tcp::ConnectionId) -> TestbedStream {
        let stream = TestbedStream(self.next_stream);
        self.next_stream += 1;
        self.streams.insert(stream, (node, connection));
        self.by_connection.insert((node, connection), stream);
        stream
    }

    fn forget(&mut self, stream: TestbedStream) {
        if let Some(known) = self.streams.remove(&stream) {
            self.by_connection.remove(&known);
        }
    }

    fn on_stream<R>(
        &mut self,
        stream: TestbedStream,
        act: impl FnOnce(&mut tcp::Endpoint, tcp::ConnectionId) -> R,
    ) -> Option<R> {
        let &(node, connection) = self.streams.get(&stream)?;
        Some(act(&mut self.nodes[node].host.tcp, connection))
    }

    /// Number of bytes that the send buffer of a connection has room for; none if it is over.
    pub fn room(&self, stream: TestbedStream) -> u64 {
        let known = self.streams.get(&stream);
        known.map_or(0, |(node, connection)| self.nodes[*node].host.tcp.writable_bytes(*connection))
    }

    /// Appends bytes to the stream of a connection.
    ///
    /// # Errors
    /// If it is over, or its own stream has ended.
    pub fn write(&mut self, now: Instant, stream: TestbedStream, bytes: Bytes) -> Result<(), SocketError> {
        let written = self.on_stream(stream, |tcp, connection| tcp.write(now, connection, bytes));
        Ok(written.unwrap_or(Err(tcp::CommandError::NoConnection))?)
    }

    /// Ends the own stream of a connection behind what was written. One that is over stays so.
    pub fn close(&mut self, now: Instant, stream: TestbedStream) {
        self.on_stream(stream, |tcp, connection| tcp.close(now, connection));
    }

    /// Breaks a connection off. No event follows.
    pub fn abort(&mut self, now: Instant, stream: TestbedStream) {
        self.on_stream(stream, |tcp, connection| tcp.abort(now, connection));
        self.forget(stream);
    }

    /// Delivers no more of a connection's data, or does so once more.
    pub fn hold(&mut self, now: Instant, stream: TestbedStream, is_held: bool) {
        self.on_stream(stream, |tcp, connection| {
            if is_held { tcp.hold(now, connection) } else { tcp.release(now, connection) }
        });
    }

    /// Makes a host of SCTP with some of a node's addresses, none: all. Of UDP the local port zero is any.
    ///
    /// # Errors
    /// If another has its port of UDP.
    pub fn add_sctp(
        &mut self,
        node: usize,
        addresses: Vec<IpAddr>,
        carriage: SctpCarriage,
    ) -> Result<PortsId, SocketError> {
        let carriage = match carriage {
            SctpCarriage::Ip => carriage,
            SctpCarriage::Udp { local_port, remote_port } => {
                SctpCarriage::Udp { local_port: self.open_udp(node, local_port)?, remote_port }
            }
        };
        let of_node = &mut self.nodes[node];
        let config = of_node.host.config();
        let all = config.interfaces.iter().flat_map(|own| own.addresses.iter().copied());
        let addresses = if addresses.is_empty() { all.collect() } else { addresses };
        let ports = SctpPorts::new(config, addresses, carriage);
        let id = PortsId(self.next_ports);
        self.next_ports += 1;
        of_node.ports.push(id);
        self.sctp.insert(id, (node, ports));
        Ok(id)
    }

    /// Opens a port of SCTP at such a host; zero: any. Gives its number.
    ///
    /// # Errors
    /// If another has it.
    pub fn open_sctp(
        &mut self,
        id: PortsId,
        port: u16,
        sctp: SctpConfig,
        associations: AssociationsConfig,
    ) -> Result<(SocketId, u16), SocketError> {
        let Some(&(node, _)) = self.sctp.get(&id) else {
            return Err(SocketError::Stream(tcp::CommandError::NoConnection));
        };
        let taken: BTreeSet<u16> = {
            let of_node = self.nodes[node].ports.iter().filter_map(|other| self.sctp.get(other));
            of_node.flat_map(|(_, ports)| ports.numbers().iter().copied()).collect()
        };
        let of_node = &mut self.nodes[node];
        let name = || of_node.host.name().to_owned();
        if taken.contains(&port) {
            return Err(SocketError::InUse { node: name(), protocol: "SCTP", port });
        }
        let number =
            if port == 0 { free_port(&mut of_node.sctp, |port| !taken.contains(&port)) } else { Some(port) };
        let Some(number) = number else {
            return Err(SocketError::NoPort { node: of_node.host.name().to_owned(), protocol: "SCTP" });
        };
        let stream = of_node.sctp.fork("port");
        let (_, ports) = self.sctp.get_mut(&id).expect("it was there");
        Ok((ports.open(number, sctp, associations, stream), number))
    }

    /// Ports of SCTP with their host and associations.
    pub fn sctp_mut(&mut self, id: PortsId) -> Option<&mut SctpPorts> {
        self.sctp.get_mut(&id).map(|(_, ports)| ports)
    }

    /// Notes that the news of these ports has been taken: what comes is told once more.
    pub fn take_news(&mut self, id: PortsId) {
        self.told.remove(&id);
    }

    /// Takes a host of SCTP away. What comes to its ports is answered as to those that nobody has.
    pub fn remove_sctp(&mut self, id: PortsId) -> Option<SctpPorts> {
        let (node, ports) = self.sctp.remove(&id)?;
        self.nodes[node].ports.retain(|own| *own != id);
        if let SctpCarriage::Udp { local_port, .. } = ports.carriage() {
            self.close_udp(node, local_port);
        }
        Some(ports)
    }

    /// Takes a packet, or a frame, that has come to a node by one of its interfaces.
    pub fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: Packet) {
        let has = |node: &Node| node.host.config().interfaces.iter().position(|own| own.id == interface);
        let Some((place, own)) =
            self.nodes.iter().enumerate().find_map(|(place, node)| Some((place, has(node)?)))
        else {
            return;
        };
        let carries_frames = self.nodes[place].host.config().interfaces[own].carries_frames;
        if let Some(mut inner) = if carries_frames { out_of_frame(&packet) } else { Some(packet.clone()) }
            && self.is_for_sctp(place, now, interface, &mut inner)
        {
            return;
        }
        let Some(datagram) = self.nodes[place].host.handle_packet(now, interface, packet) else { return };
        let node = &self.nodes[place];
        let carried = node
            .ports
            .iter()
            .find(|id| self.sctp.get(id).is_some_and(|(_, ports)| ports.takes_datagrams(datagram.local)));
        if let Some((_, ports)) = carried.copied().and_then(|id| self.sctp.get_mut(&id)) {
            let ends = [datagram.remote, datagram.local];
            ports.handle_datagram(now, interface, ends, &datagram.payload);
        } else if node.udp.contains(&datagram.local.port()) {
            self.events.push_back(TestbedEvent::Datagram {
                node: place,
                local: datagram.local,
                remote: datagram.remote,
                identification: datagram.identification,
                payload: datagram.payload,
            });
        }
    }

    /// Takes a packet if it is one of SCTP. A report of a router goes to SCTP as well.
    fn is_for_sctp(
        &mut self,
        place: usize,
        now: Instant,
        interface: InterfaceId,
        packet: &mut Packet,
    ) -> bool {
        let bytes = packet.contiguous();
        let Ok((header, header_len)) = IpHeader::parse_header(&bytes) else { return false };
        let mut payload = bytes.slice(header_len..);
        let is_sctp = header.protocol == protocol::SCTP;
        let is_report = matches!(header.protocol, protocol::ICMP | protocol::ICMPV6)
            && IcmpMessage::parse(&header, &payload).is_ok();
        if !is_sctp && !is_report {
            return false;
        }
        let node = &mut self.nodes[place];
        if let Fragmentation::Fragment(fragment) = header.fragmentation {
            let whole = node.fragments.handle_fragment(now, &header, fragment, &payload);
            let Some((header, whole)) = whole else { return is_sctp };
            *packet = Packet::shared(whole.clone(), packet.checksum());
            header.emit(packet.prepend(header.header_len()));
            payload = whole;
        }
        let number = payload.get(2..4).map_or(0, |port| u16::from_be_bytes([port[0], port[1]]));
        let mut is_taken = false;
        for id in &node.ports {
            if let Some((_, ports)) = self.sctp.get_mut(id)
                && (is_report || ports.takes(header.destination, number))
            {
                ports.handle_packet(now, interface, &mut packet.clone());
                is_taken = true;
            }
        }
        if is_sctp && !is_taken {
            node.unbound.handle_packet(now, interface, packet);
        }
        is_sctp
    }

    /// Does what is due by `now`.
    pub fn handle_deadline(&mut self, now: Instant) {
        let is_due = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        for node in &mut self.nodes {
            if is_due(node.host.deadline()) {
                node.host.handle_deadline(now);
            }
            if is_due(node.unbound.station.deadline()) {
                node.unbound.station.handle_deadline(now);
            }
            if is_due(node.fragments.deadline()) {
                node.fragments.handle_deadline(now);
            }
        }
        for (_, ports) in self.sctp.values_mut() {
            if is_due(ports.station.deadline()) {
                ports.station.handle_deadline(now);
            }
        }
    }

    /// Instant at which [`handle_deadline`](Self::handle_deadline) is to be called, once all packets have been polled.
    pub fn deadline(&self) -> Option<Instant> {
        let nodes = self.nodes.iter().flat_map(|node| {
            [node.host.deadline(), node.unbound.station.deadline(), node.fragments.deadline()]
        });
        nodes.flatten().chain(self.sctp.values().filter_map(|(_, ports)| ports.station.deadline())).min()
    }

    /// The next packet, or frame, that leaves a node by an interface. To be called until there is none, before events
    /// are polled.
    pub fn poll_packet(&mut self, now: Instant) -> Option<(InterfaceId, Packet)> {
        for place in 0..self.nodes.len() {
            loop {
                if let Some(packet) = self.nodes[place].host.poll_packet() {
                    return Some(packet);
                }
                let mut packet = Packet::default();
                match self.nodes[place].host.tcp.poll_output(now, &mut packet) {
                    tcp::Output::Event(connection, event) => self.handle_event(place, connection, event),
                    tcp::Output::Transmit(envelope) => {
                        // A connection has a way, or it would not be.
                        let _ = self.nodes[place].host.send(&envelope, protocol::TCP, packet, false);
                    }
                    tcp::Output::Wait(_) => break,
                }
            }
            let node = &mut self.nodes[place];
            loop {
                let mut all = node.ports.iter();
                let leaving = all.find_map(|id| self.sctp.get_mut(id).and_then(|(_, ports)| ports.poll(now)));
                let Some(leaving) = leaving.or_else(|| node.unbound.poll(now)) else { break };
                // One that has no way is dropped.
                if let Some(packet) = node.leave(leaving) {
                    return Some(packet);
                }
            }
        }
        None
    }

    fn handle_event(&mut self, node: usize, connection: tcp::ConnectionId, event: tcp::Event) {
        let known = self.by_connection.get(&(node, connection)).copied();
        let Some(stream) = known else {
            if event == tcp::Event::Connected
                && let Some(snapshot) = self.nodes[node].host.tcp.snapshot(connection)
            {
                let stream = self.know(node, connection);
                let (local, remote) = (snapshot.local, snapshot.remote);
                self.events.push_back(TestbedEvent::Accepted { node, stream, local, remote });
            }
            return;
        };
        let event = match event {
            tcp::Event::Connected => TestbedEvent::Connected(stream),
            tcp::Event::Data(bytes) => TestbedEvent::Data(stream, bytes),
            tcp::Event::PeerClosed => TestbedEvent::PeerClosed(stream),
            tcp::Event::Writable => TestbedEvent::Writable(stream),
            tcp::Event::Closed => {
                self.forget(stream);
                TestbedEvent::Closed(stream)
            }
            tcp::Event::Reset(cause) => {
                self.forget(stream);
                TestbedEvent::Reset(stream, cause)
            }
            tcp::Event::Acked { .. } | tcp::Event::Arrived { .. } | tcp::Event::Transmitted { .. } => return,
        };
        self.events.push_back(event);
    }

    /// Tells if there is an event.
    pub fn has_event(&mut self) -> bool {
        for (id, (_, ports)) in &self.sctp {
            if ports.station.program.has_news() && self.told.insert(*id) {
                self.events.push_back(TestbedEvent::Associations(*id));
            }
        }
        !self.events.is_empty()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<TestbedEvent> {
        self.events.pop_front()
    }
}

impl Node {
    /// A port that is asked for, or one that is free.
    fn own_port(
        &mut self,
        port: u16,
        protocol: &'static str,
        is_taken: impl Fn(&Self, u16) -> bool,
    ) -> Result<u16, SocketError> {
        let node = self.host.name().to_owned();
        if port != 0 {
            return if is_taken(self, port) {
                Err(SocketError::InUse { node, protocol, port })
            } else {
                Ok(port)
            };
        }
        for _ in DYNAMIC_FIRST..=u16::MAX {
            let port = self.next_port;
            self.next_port = self.next_port.checked_add(1).unwrap_or(DYNAMIC_FIRST);
            if !is_taken(self, port) {
                return Ok(port);
            }
        }
        Err(SocketError::NoPort { node, protocol })
    }

    /// Own address from which something leaves for a destination.
    fn source(&self, address: Option<IpAddr>, destination: IpAddr) -> Result<IpAddr, SocketError> {
        let towards = self.host.source_towards(destination);
        let unreachable = || SocketError::Unreachable { node: self.host.name().to_owned(), destination };
        let towards = towards.ok_or_else(unreachable)?;
        let own = address.filter(|own| self.host.owns(*own)).unwrap_or(towards);
        // No packet has an address of each version of IP.
        if own.is_ipv4() == destination.is_ipv4() { Ok(own) } else { Err(unreachable()) }
    }

    /// Has a packet of SCTP leave, in a frame where its link carries those.
    fn leave(&mut self, leaving: Leaving) -> Option<(InterfaceId, Packet)> {
        match leaving {
            Leaving::Packet(id, packet) => {
                let carries_frames =
                    self.host.config().interfaces.iter().any(|own| own.id == id && own.carries_frames);
                if !carries_frames {
                    return Some((id, packet));
                }
                let bytes = packet.contiguous();
                let (header, _) = IpHeader::parse_header(&bytes).ok()?;
                Some((id, in_frame(packet, [header.source, header.destination])?))
            }
            Leaving::Datagram(local, remote, payload) => {
                self.host.send_datagram(local, remote, payload.contiguous()).ok()?;
                self.host.poll_packet()
            }
        }
    }
}

#[cfg(test)]
mod tests;
