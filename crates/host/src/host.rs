//! A host: IP below, SCTP and TCP in the middle, sockets for applications on top.

mod associations;
mod datagrams;
mod handover;
mod script;
mod unbound;

use std::net::IpAddr;

pub use handover::AddressHandover;
use script::Script;
use slantpath_base::{Instant, Stream};
use slantpath_interface::{AddressNews, InterfaceId, Journey};
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::icmp::{IcmpError, IcmpMessage};
use slantpath_wire::ip::{Envelope, Fragment, Fragmentation, IPV4_HEADER_LEN, IpFields, IpHeader, protocol};
use slantpath_wire::reassembly::{Reassembler, ReassemblyCounters};
use slantpath_wire::{Checksum, Packet};

use crate::application::Application;
use crate::ids::SocketId;
use crate::interfaces::{Interfaces, NoSourceAddress};
use crate::reports::Reports;
use crate::sample::CongestionSample;
use crate::socket::{Peers, PortUse, Socket, SocketState, Stack};
use crate::sockets::Sockets;
use crate::trace::TraceRecord;
use crate::transport::{Protocol, TransportConfig};
use unbound::UnboundPorts;

/// Packets that a host threw away, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostDrops {
    /// The IP header does not parse or fails its checksum.
    pub bad_header: u64,
    /// For an address that is not the host's.
    pub not_ours: u64,
    /// For a protocol and port that nobody listens on.
    pub no_port: u64,
    /// To a destination that the host has no route to.
    pub no_route: u64,
    /// An ICMP message about a packet that the host cannot have sent.
    pub forged_reports: u64,
    /// Handovers of associations that were not there, or whose peers know nothing of changes of addresses.
    pub refused_handovers: u64,
}

/// Application whose hosts open sockets by themselves, as what all of them share says.
pub trait Opener: Application {
    /// Instant at which [`Opener::open_due`] is to be called.
    fn next_opening(_shared: &Self::Shared) -> Option<Instant> {
        None
    }

    /// Opens the sockets that are due.
    fn open_due(_host: &mut SocketHost<Self>, _now: Instant) {}

    /// Tells if applications have ended of which [`Opener::follow_ended`] has not heard.
    fn has_ended(_shared: &Self::Shared) -> bool {
        false
    }

    /// Does what follows from the end of applications. It is called when nothing is left to send or to serve.
    fn follow_ended(_host: &mut SocketHost<Self>, _now: Instant) {}
}

/// An end system with the sockets that are open at it.
#[derive(Debug)]
pub struct SocketHost<A: Application> {
    interfaces: Interfaces,
    reassembler: Reassembler,
    stack: Stack,
    sockets: Sockets<A>,
    script: Script,
    /// Treatment of packets to a port that nobody has.
    unbound_ports: UnboundPorts,
    drops: HostDrops,
}

impl<A: Application> SocketHost<A> {
    /// A host with these addresses, each at an interface.
    pub fn new(addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        let interfaces = Interfaces::new(addresses);
        Self {
            interfaces,
            reassembler: Reassembler::default(),
            stack: Stack::default(),
            sockets: Sockets::default(),
            script: Script::default(),
            unbound_ports: UnboundPorts::default(),
            drops: HostDrops::default(),
        }
    }

    /// Sends what goes to `destination` out by `interface`. Packets to a destination without a route are
    /// dropped and counted.
    pub fn add_route(&mut self, destination: IpAddr, interface: InterfaceId) -> Result<(), NoSourceAddress> {
        self.interfaces.add_route(destination, interface)
    }

    /// Adds a socket with a port of its own for an application, which is served at once. With `peers` it listens; else
    /// the application opens it. `stream` is for the chance that the transport draws.
    ///
    /// # Panics
    /// If the port is in use, or there is no local address.
    pub fn add(
        &mut self,
        transport: TransportConfig,
        peers: Option<Peers>,
        reports: Reports,
        stream: Stream,
        application: A,
    ) -> SocketId {
        let protocol = protocol_of(&transport.protocol);
        let port_use = match self.sockets.at_port(protocol, transport.local_port) {
            Some(_) if self.sockets.is_free(protocol, transport.local_port) => PortUse::Again,
            _ => PortUse::First,
        };
        let transport = self.with_nearest_address_first(transport);
        let mut state = SocketState::bind(port_use, &mut self.stack, transport, stream, reports);
        if let Some(peers) = peers {
            state.listen(&mut self.stack, peers);
        }
        self.sockets.add(state, application, &self.stack)
    }

    /// Tells if a port is nobody's, or that of a socket whose application is over.
    pub fn is_port_free(&self, protocol: &Protocol, port: u16) -> bool {
        self.sockets.is_free(protocol_of(protocol), port)
    }

    /// The application of a socket; `None` if there is no such socket, or its application is over.
    #[inline]
    pub fn application(&self, id: SocketId) -> Option<&A> {
        self.sockets.application(id)
    }

    /// Variant of [`SocketHost::application`] that gives it mutably, with what all share, to take what it has kept: it
    /// is not served for that.
    #[inline]
    pub fn application_mut(&mut self, id: SocketId) -> Option<(&mut A, &mut A::Shared)> {
        self.sockets.application_mut(id)
    }

    /// Applications of the sockets, in the order of these.
    pub fn applications(&self) -> impl Iterator<Item = &A> {
        self.sockets.applications()
    }

    /// Shows each application with its socket, in the order of these. Nothing of the run changes.
    pub fn visit(&mut self, visit: impl FnMut(&A, &mut Socket<'_>)) {
        self.sockets.visit(&mut self.stack, visit);
    }

    /// A socket with its application and what all share, in the hands of whoever commands it; it is served afterwards.
    /// `None` if there is no such socket, or its application is over.
    pub fn command(&mut self, id: SocketId) -> Option<(&mut A, Socket<'_>, &mut A::Shared)> {
        let (application, socket, shared) = self.sockets.command(id, &mut self.stack)?;
        Some((application?, socket, shared))
    }

    /// State that the applications share.
    #[inline]
    pub const fn shared(&self) -> &A::Shared {
        &self.sockets.shared
    }

    /// Variant of [`SocketHost::shared`] that gives it mutably.
    #[inline]
    pub const fn shared_mut(&mut self) -> &mut A::Shared {
        &mut self.sockets.shared
    }

    /// Has a socket of TCP or of datagrams that will connect send from the address of the interface towards its peer.
    fn with_nearest_address_first(&self, mut transport: TransportConfig) -> TransportConfig {
        let towards =
            transport.peer.as_ref().and_then(|peer| self.interfaces.source_towards(*peer.addresses.first()?));
        let place = transport.local_addresses.iter().position(|own| Some(*own) == towards);
        let is_of_sctp = matches!(transport.protocol, Protocol::Sctp(_));
        if let (false, Some(place)) = (is_of_sctp, place) {
            transport.local_addresses.swap(0, place);
        }
        transport
    }

    /// Counts of the packets that the host dropped.
    pub const fn drops(&self) -> HostDrops {
        self.drops
    }

    /// Congestion state of a socket's association or connection now; `None` without one. Nothing of the run changes.
    pub fn congestion(&mut self, now: Instant, id: SocketId) -> Option<CongestionSample> {
        self.sockets.congestion(now, id, &mut self.stack)
    }

    /// Instant at which the newest packet left that the peer of a socket's association has answered, or that of one
    /// before it: DATA that was sent once, a HEARTBEAT or a probe. `None` if none was, or there is no such socket.
    pub fn last_answered(&self, id: SocketId) -> Option<Instant> {
        self.sockets.last_answered(id, &self.stack)
    }

    /// Fields of the IP header of the packet that came last for a socket's TCP connection; `None` if none has come, or
    /// there is no such socket. With SCTP each message has its own ([`SocketEvent::Message`](crate::SocketEvent)).
    pub fn received_ip(&self, id: SocketId) -> Option<IpFields> {
        self.sockets.received_ip(id, &self.stack)
    }

    /// Takes what traced associations have told since this was last asked, oldest first, and how many records had to be
    /// dropped because more than [`TRACE_RECORDS_MAX`](crate::TRACE_RECORDS_MAX) waited. Nothing of the run changes.
    pub fn take_trace(&mut self) -> (Vec<TraceRecord>, u64) {
        self.stack.trace.take()
    }

    /// Counters of the reassembly of fragments that came in.
    pub const fn reassembly(&self) -> &ReassemblyCounters {
        self.reassembler.counters()
    }

    /// Number of fragments that the host has made of packets of its own: of IPv6 packets, since IPv4's are cut where
    /// the link is that does not carry them.
    pub const fn fragments_sent(&self) -> u64 {
        self.interfaces.fragments_sent()
    }

    /// Tells if there is nothing to send, to tell or to serve.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.stack.is_idle() && !self.sockets.is_any_ready() && !self.interfaces.has_fragment()
    }

    /// The next packet of the transports; what they have to tell goes up to the applications on the way.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is called from one place")]
    fn poll_stack(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        while !self.stack.sctp.is_idle() {
            let mut sent = None;
            if let Some(departing) = self.stack.sctp.poll_transmit(now, packet) {
                let sctp::Departing { envelope, fragmentation } = &departing;
                sent = self.interfaces.encapsulate(envelope, *fragmentation, protocol::SCTP, packet);
                self.drops.no_route += u64::from(sent.is_none());
            }
            // What an association reports behind its last packet is handled with it: nobody has to poll for that alone.
            while let Some((id, event)) = self.stack.sctp.poll_event() {
                self.sockets.handle_sctp(now, &mut self.stack, id, event);
            }
            if sent.is_some() {
                return sent;
            }
        }
        while !self.stack.tcp.is_idle() {
            let mut sent = None;
            if let Some(envelope) = self.stack.tcp.poll_transmit(now, packet) {
                sent = self.interfaces.encapsulate_whole(envelope, protocol::TCP, packet);
                self.drops.no_route += u64::from(sent.is_none());
            }
            // So is what a connection reports behind its last segment.
            while let Some((id, event)) = self.stack.tcp.poll_event() {
                self.sockets.handle_tcp(now, &mut self.stack, id, event);
            }
            if sent.is_some() {
                return sent;
            }
        }
        if self.stack.datagrams.is_idle() { None } else { self.poll_datagrams(now, packet) }
    }

    /// A router has something to say of a packet that this host sent. What follows from it is for the transport.
    fn handle_icmp(&mut self, now: Instant, header: &IpHeader, packet: &Packet) {
        let bytes = packet.contiguous();
        let Ok(message) = IcmpMessage::parse(header, &bytes) else {
            self.drops.bad_header += 1;
            return;
        };
        let Ok((quoted, quoted_len)) = IpHeader::parse_header(message.quote) else { return };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-10
        //# ICMP5)  An implementation MUST use the payload of the ICMP message
        //# (v4 or v6) to locate the association that sent the message to
        //# which ICMP is responding.
        // What it quotes must be a packet that this host can have sent.
        if !self.interfaces.owns(quoted.source) || !self.interfaces.reaches(quoted.destination) {
            self.drops.forged_reports += 1;
            return;
        }
        if let Fragmentation::Fragment(Fragment { offset_bytes: 1.., .. }) = quoted.fragmentation {
            // It has no transport header. The first fragment is as long, and is reported, too.
            return;
        }
        let segment = &message.quote[quoted_len..];
        let Some(port) = port(segment, 0) else { return };
        let quote = bytes.slice_ref(segment);
        let IpHeader { source, destination, .. } = quoted;
        // Whether the message is about what was really sent is for the transport to judge.
        let Some(socket) = self.sockets.at_port(quoted.protocol, port) else { return };
        match (quoted.protocol, message.error) {
            (protocol::SCTP, error) => {
                let input = sctp::Input::Icmp { source, destination, error, quote };
                self.stack.sctp.handle_input(now, input);
            }
            // All else is left to the connection's own timers (RFC 5461).
            (protocol::TCP, IcmpError::PacketTooBig { mtu_bytes }) => {
                let input = tcp::Input::PacketTooBig { source, destination, mtu_bytes, quote };
                self.stack.tcp.handle_input(now, input);
            }
            _ => {}
        }
        self.sockets.touch(socket);
    }

    /// Takes in what a transport of the peer has sent, from its header on.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the envelope stays where it has been read")]
    fn handle_segment(&mut self, now: Instant, protocol: u8, envelope: &Envelope, packet: &mut Packet) {
        let segment = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
        let port = port(segment, 2);
        let Some(socket) = port.and_then(|port| self.sockets.find_at_port(protocol, port)) else {
            if protocol == protocol::UDP {
                return self.handle_udp(now, envelope, packet);
            }
            self.drops.no_port += 1;
            match protocol {
                protocol::SCTP if self.unbound_ports.answers_sctp() => {
                    self.stack.sctp.handle_stray(now, envelope, packet);
                }
                // No connection and no listener has the port.
                protocol::TCP if self.unbound_ports.answers_tcp() => {
                    self.stack.tcp.handle_packet(now, None, envelope, packet);
                }
                _ => {}
            }
            return;
        };
        if protocol == protocol::SCTP {
            self.stack.sctp.handle_packet(now, envelope, packet);
        } else {
            let likely = self.sockets.connection(socket);
            self.stack.tcp.handle_packet(now, likely, envelope, packet);
        }
        self.sockets.note_packet(now, socket);
    }

    /// Takes in a packet whose header says more, or may say anything.
    #[inline(never)]
    fn handle_unusual(&mut self, now: Instant, packet: &mut Packet) {
        let Some((mut header, header_len)) = read_header(packet) else {
            self.drops.bad_header += 1;
            return;
        };
        if !self.interfaces.owns(header.destination) {
            self.drops.not_ours += 1;
            return;
        }
        packet.strip(header_len);
        if let Fragmentation::Fragment(fragment) = header.fragmentation {
            match self.reassemble(now, &header, fragment, packet) {
                Some(whole) => (header, *packet) = whole,
                None => return,
            }
        }
        if matches!(header.protocol, protocol::ICMP | protocol::ICMPV6) {
            if !self.handle_echo(now, &header, packet) {
                self.handle_icmp(now, &header, packet);
            }
            return;
        }
        let IpHeader { source, destination, protocol, .. } = header;
        let envelope = Envelope { source, destination, fields: IpFields::of(&header) };
        self.handle_segment(now, protocol, &envelope, packet);
    }

    /// Takes in a fragment. Gives the packet that is whole by it, without its IP header.
    #[cold]
    fn reassemble(
        &mut self,
        now: Instant,
        header: &IpHeader,
        fragment: Fragment,
        packet: &Packet,
    ) -> Option<(IpHeader, Packet)> {
        let payload = packet.contiguous();
        let (whole, payload) = self.reassembler.handle_fragment(now, header, fragment, &payload)?;
        Some((whole, Packet::shared(payload, packet.checksum())))
    }
}

impl<A: Opener> SocketHost<A> {
    /// The next packet of a host that is not quiet.
    #[inline(never)]
    fn poll_busy(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        if let Some(interface) = self.interfaces.poll_fragment(packet) {
            return Some(interface);
        }
        loop {
            if let Some(interface) = self.poll_stack(now, packet) {
                return Some(interface);
            }
            if !self.sockets.serve_next(now, &mut self.stack) && self.stack.is_idle() {
                if !A::has_ended(self.shared()) {
                    return None;
                }
                A::follow_ended(self, now);
            }
        }
    }
}

impl<A: Opener> slantpath_interface::EndSystem for SocketHost<A> {
    fn handle_packet(&mut self, now: Instant, _interface: InterfaceId, packet: &mut Packet) {
        if let Some((protocol, envelope)) = read_usual_header(packet) {
            if self.interfaces.owns(envelope.destination) {
                packet.strip(IPV4_HEADER_LEN);
                self.handle_segment(now, protocol, &envelope, packet);
            } else {
                self.drops.not_ours += 1;
            }
            return;
        }
        self.handle_unusual(now, packet);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.stack.journey = Some(journey);
    }

    fn verified_peer_tag(&self) -> Option<u32> {
        self.stack.sctp.verified_peer_tag().map(|tag| tag.0)
    }

    fn handle_address(&mut self, now: Instant, news: AddressNews) {
        match news {
            AddressNews::Added(address, interface) => {
                self.interfaces.add_address(address, interface);
                self.stack.sctp.add_host_address(now, address);
            }
            AddressNews::Down(address) => self.stack.sctp.local_address_is_down(now, address),
            AddressNews::Back(address) => self.stack.sctp.local_address_is_back(now, address),
            // It stays known: packets of associations that keep it still leave by its interface once it is back.
            AddressNews::Removed(address) => self.stack.sctp.remove_host_address(now, address),
        }
    }

    fn ask_for_routes(&mut self) {
        self.stack.sctp.ask_for_routes();
    }

    fn route_question(&self) -> Option<&[IpAddr]> {
        self.stack.sctp.route_question()
    }

    fn answer_routes(&mut self, now: Instant, sources: &[Vec<IpAddr>]) {
        self.stack.sctp.answer_routes(now, sources);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.reassembler.handle_deadline(now);
        if A::next_opening(self.shared()).is_some_and(|earliest| earliest <= now) {
            A::open_due(self, now);
        }
        if self.script.deadline().is_some_and(|at| at <= now) {
            self.follow_script(now);
        }
        self.sockets.handle_deadline(now, &mut self.stack);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        // Asked here, where whoever drives the host polls it: half of all polls find nothing.
        if self.is_quiet() { None } else { self.poll_busy(now, packet) }
    }

    fn deadline(&self) -> Option<Instant> {
        let latest = |deadline: Option<Instant>| deadline.unwrap_or(Instant::FAR_FUTURE);
        let transports = latest(self.stack.sctp.deadline()).min(latest(self.stack.tcp.deadline()));
        let own = latest(self.sockets.deadline()).min(latest(self.reassembler.deadline()));
        let own = own.min(latest(A::next_opening(self.shared()))).min(latest(self.script.deadline()));
        Some(transports.min(own)).filter(|deadline| *deadline != Instant::FAR_FUTURE)
    }
}

/// The number of a transport in the IP header.
const fn protocol_of(transport: &Protocol) -> u8 {
    match transport {
        Protocol::Sctp(_) => protocol::SCTP,
        Protocol::Tcp(_) => protocol::TCP,
        Protocol::Udp(_) => protocol::UDP,
        // Nothing has a port of ICMP.
        Protocol::Echo(_) => protocol::ICMP,
    }
}

/// Reads the header of a packet as nearly all are: a whole one of IPv4 for SCTP, TCP or UDP, without IP options and
/// without checksums. `None` for all others, right or wrong.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the envelope stays where it has been read")]
fn read_usual_header(packet: &Packet) -> Option<(u8, Envelope)> {
    let octets: &[u8; IPV4_HEADER_LEN] = packet.head().first_chunk()?;
    let &[
        first,
        traffic_class,
        l0,
        l1,
        _,
        _,
        f0,
        f1,
        hop_limit,
        protocol,
        _,
        _,
        s0,
        s1,
        s2,
        s3,
        d0,
        d1,
        d2,
        d3,
    ] = octets;
    let is_whole = u16::from_be_bytes([f0, f1]) & !DONT_FRAGMENT == 0;
    let is_usual = first == 0x45
        && is_whole
        && matches!(protocol, protocol::SCTP | protocol::TCP | protocol::UDP)
        && packet.checksum() == Checksum::Omitted
        && usize::from(u16::from_be_bytes([l0, l1])) == packet.len();
    if !is_usual {
        return None;
    }
    let [source, destination] = [[s0, s1, s2, s3], [d0, d1, d2, d3]].map(IpAddr::from);
    Some((
        protocol,
        Envelope { source, destination, fields: IpFields::from_octets(hop_limit, traffic_class) },
    ))
}

/// The flag of an IPv4 header that forbids routers to cut the packet.
const DONT_FRAGMENT: u16 = 0x4000;

/// The header of a packet, if it is right, with its length in bytes.
fn read_header(packet: &Packet) -> Option<(IpHeader, usize)> {
    let octets = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
    let (header, header_len) = IpHeader::parse_header(octets).ok()?;
    if packet.checksum() == Checksum::Complete {
        header.verify(&octets[..header_len]).ok()?;
    }
    (header_len + usize::from(header.payload_len) == packet.len()).then_some((header, header_len))
}

/// The port at an offset of a transport header: source at 0, destination at 2, in SCTP as in TCP.
fn port(segment: &[u8], offset: usize) -> Option<u16> {
    segment.get(offset..offset + 2).map(|octets| u16::from_be_bytes([octets[0], octets[1]]))
}
