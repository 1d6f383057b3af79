//! A host: IP below, SCTP and TCP in the middle, sockets and their applications on top.

mod handover;
mod programs;
mod script;
mod sessions;

use std::net::IpAddr;

pub use handover::Handover;
pub(crate) use script::CommandLog;
use script::Script;
pub use script::{AssociationCommand, CommandOutcome, CommandRecord};
use slantpath_base::{Deadlines, Instant, Seed};
use slantpath_interface::{AddressNews, InterfaceId, Journey};
use slantpath_sctp as sctp;
use slantpath_sigtran::transport::{Transmit, TransportInput};
use slantpath_tcp as tcp;
use slantpath_wire::icmp::{IcmpError, IcmpMessage};
use slantpath_wire::ip::{Envelope, Fragment, Fragmentation, IPV4_HEADER_LEN, IpFields, IpHeader, protocol};
use slantpath_wire::reassembly::{Reassembler, ReassemblyCounters};
use slantpath_wire::{Checksum, Packet};

use crate::application::Application;
use crate::carrier::{AssociationConfig, AssociationCounters, Carrier};
use crate::flow_end::FlowEnd;
use crate::ids::SocketId;
use crate::interfaces::{Interfaces, NoSourceAddress};
use crate::receiver::{MessageRecords, ReceiverConfig};
use crate::record::{
    CongestionSample, DeliveredMessage, Finality, PathSample, ReceiverReport, SenderRecords, SenderReport,
};
use crate::sender::SenderConfig;
use crate::sessions::SessionSource;
use crate::socket::{MessageReports, Peers, Socket, SocketState, Stack, Traces};
use crate::sockets::Sockets;
use crate::trace::TraceRecord;
use crate::transport::{Adaptation, Protocol, TransportConfig};
use crate::workload::workload_stream;

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

/// An end system with the sockets that are open at it.
#[derive(Debug)]
pub struct Host {
    interfaces: Interfaces,
    reassembler: Reassembler,
    stack: Stack,
    sockets: Sockets,
    sources: Vec<SessionSource>,
    /// Instants at which sources begin sessions.
    source_deadlines: Deadlines<u32>,
    script: Script,
    /// Treatment of SCTP packets to a port that nobody has.
    unbound_ports: UnboundPorts,
    drops: HostDrops,
}

/// Treatment of a packet to a port that nobody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UnboundPorts {
    /// SCTP answers it as one out of the blue.
    Answered,
    #[default]
    Dropped,
}

impl Host {
    /// A host with these addresses, each at an interface.
    pub fn new(addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        let interfaces = Interfaces::new(addresses);
        Self {
            interfaces,
            reassembler: Reassembler::default(),
            stack: Stack::default(),
            sockets: Sockets::default(),
            sources: Vec::new(),
            source_deadlines: Deadlines::default(),
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

    /// Adds a sending end. `seed` and `path` name the flow, from which its streams of chance derive.
    ///
    /// # Panics
    /// If its port is in use.
    pub fn add_sender(
        &mut self,
        transport: TransportConfig,
        config: SenderConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let stream = seed.stream(&format!("{path}/sender/transport"));
        let workload = workload_stream(seed, path);
        let adaptation = transport.adaptation;
        let transport = self.with_nearest_address_first(transport);
        let state = SocketState::bind(&mut self.stack, transport, stream, FlowEnd::traces(&config));
        let flow = FlowEnd::sender(adaptation, config, workload);
        self.sockets.add(state, Application::Flow(Box::new(flow)), &self.stack)
    }

    /// Adds a receiving end for one peer, which listens from the start of the run.
    ///
    /// # Panics
    /// If its port is in use.
    pub fn add_receiver(
        &mut self,
        transport: TransportConfig,
        config: ReceiverConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        // With an adaptation layer, messages of SCTP are not those of the flow.
        let arrivals =
            config.records == MessageRecords::TimesAndJourneys && transport.adaptation == Adaptation::None;
        let flow = FlowEnd::receiver(transport.adaptation, config);
        let traces = Traces { arrivals, ..Traces::default() };
        self.listen(transport, Peers::One, traces, Application::Flow(Box::new(flow)), seed, path)
    }

    /// Has a TCP socket that will connect send from the address of the interface towards its peer.
    fn with_nearest_address_first(&self, mut transport: TransportConfig) -> TransportConfig {
        let towards =
            transport.peer.as_ref().and_then(|peer| self.interfaces.source_towards(*peer.addresses.first()?));
        let place = transport.local_addresses.iter().position(|own| Some(*own) == towards);
        if let (Protocol::Tcp(_), Some(place)) = (&transport.protocol, place) {
            transport.local_addresses.swap(0, place);
        }
        transport
    }

    fn listen(
        &mut self,
        transport: TransportConfig,
        peers: Peers,
        traces: Traces,
        application: Application,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let stream = seed.stream(&format!("{path}/receiver/transport"));
        let mut state = SocketState::bind(&mut self.stack, transport, stream, traces);
        state.listen(&mut self.stack, peers);
        self.sockets.add(state, application, &self.stack)
    }

    /// Adds an end of an association that an adaptation layer drives. `path` names it for its stream of chance.
    ///
    /// # Panics
    /// If its port is in use.
    pub fn add_association(&mut self, config: &AssociationConfig, seed: Seed, path: &str) -> SocketId {
        let traces = Traces {
            messages: match (config.sctp.trace_messages, config.measures_delay) {
                (true, _) => MessageReports::All,
                (false, true) => MessageReports::Acknowledged,
                (false, false) => MessageReports::Nothing,
            },
            timers: config.sctp.trace_timers,
            arrivals: false,
        };
        let mut state = SocketState::bind(&mut self.stack, config.transport(), seed.stream(path), traces);
        if config.peer.is_none() {
            state.listen(&mut self.stack, Peers::One);
        }
        self.sockets.add(state, Application::Carrier(Box::new(Carrier::new(config))), &self.stack)
    }

    /// Lets a socket's application take nothing more that comes in, so that it fills the receive buffer and closes the
    /// peer's window. `false` if there is no such socket.
    pub fn pause(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket)| socket.pause(now)).is_some()
    }

    /// Lets it take what has come in meanwhile, and all that follows. `false` if there is no such socket.
    pub fn resume(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket)| socket.resume(now)).is_some()
    }

    /// Tells if any association has an input for the layer above.
    pub fn has_association_inputs(&self) -> bool {
        self.sockets.has_inputs()
    }

    /// Takes the next input of an association for the layer above: all of one association, oldest first, before the
    /// next.
    pub fn next_association_input(&mut self) -> Option<(SocketId, TransportInput)> {
        self.sockets.next_input()
    }

    /// Sends a message on an association, in order on its stream. One that is down throws it away and counts it.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn send_on_association(&mut self, now: Instant, id: SocketId, transmit: Transmit) {
        self.command(id, |carrier, socket| carrier.send(now, transmit, socket));
    }

    /// Ends an association at once. The end that opened it opens it again.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn abort_association(&mut self, now: Instant, id: SocketId) {
        self.command(id, |_, socket| socket.abort(now));
    }

    /// Ends an association at once, and leaves it closed until [`Host::reopen_association`].
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn close_association(&mut self, now: Instant, id: SocketId) {
        self.command(id, |carrier, socket| carrier.close(now, socket));
    }

    /// Opens an association that was closed, if this end opens it.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn reopen_association(&mut self, now: Instant, id: SocketId) {
        self.command(id, |carrier, _| carrier.open_again(now));
    }

    /// Counters of an association; `None` if there is no such association.
    pub fn association_counters(&self, id: SocketId) -> Option<AssociationCounters> {
        self.carrier(id).map(Carrier::counters)
    }

    /// Messages of an association that wait for SCTP's buffer; `None` if there is no such association.
    pub fn association_waiting(&self, id: SocketId) -> Option<usize> {
        self.carrier(id).map(Carrier::waiting)
    }

    /// Takes the samples of an association's paths that were kept since this was last asked, and the addresses that the
    /// paths lead to, which they are numbered by; `None` if there is no such association.
    pub fn take_association_samples(&mut self, id: SocketId) -> Option<(Vec<PathSample>, &[IpAddr])> {
        let samples = match self.sockets.application_mut(id)? {
            Application::Carrier(carrier) => carrier.take_samples(),
            _ => return None,
        };
        Some((samples, self.sockets.paths(id)?))
    }

    pub(crate) fn carrier(&self, id: SocketId) -> Option<&Carrier> {
        match self.sockets.application(id)? {
            Application::Carrier(carrier) => Some(carrier),
            _ => None,
        }
    }

    fn command(&mut self, id: SocketId, act: impl FnOnce(&mut Carrier, &mut Socket<'_>)) {
        match self.sockets.command(id, &mut self.stack) {
            Some((Application::Carrier(carrier), mut socket)) => act(carrier, &mut socket),
            _ => {
                panic!("the host has no association {}", id.0)
            }
        }
        self.sockets.note_inputs(id);
    }

    fn flow(&self, id: SocketId) -> Option<&FlowEnd> {
        match self.sockets.application(id)? {
            Application::Flow(flow) => Some(flow),
            _ => None,
        }
    }

    fn flow_mut(&mut self, id: SocketId) -> Option<&mut FlowEnd> {
        match self.sockets.application_mut(id)? {
            Application::Flow(flow) => Some(flow),
            _ => None,
        }
    }

    /// Report of the sender of a flow; `None` for any other socket.
    pub fn sender_report(&self, id: SocketId) -> Option<&SenderReport> {
        self.flow(id)?.sender_report()
    }

    /// Report of the receiver of a flow; `None` for any other socket.
    pub fn receiver_report(&self, id: SocketId) -> Option<&ReceiverReport> {
        self.flow(id)?.receiver_report()
    }

    /// Takes records of the sender of a flow, which forgets them; `None` for a receiver. Nothing of the run changes.
    pub fn take_sender_records(&mut self, id: SocketId, finality: Finality) -> Option<SenderRecords> {
        self.flow_mut(id)?.take_sender_records(finality)
    }

    /// Takes the deliveries that the receiver of a flow has recorded and forgets; `None` for a sender.
    pub fn take_deliveries(&mut self, id: SocketId) -> Option<Vec<DeliveredMessage>> {
        self.flow_mut(id)?.take_deliveries()
    }

    /// Counts of the packets that the host dropped.
    pub const fn drops(&self) -> HostDrops {
        self.drops
    }

    /// Congestion state of a socket's association or connection now; `None` without one. Nothing of the run changes.
    pub fn congestion(&mut self, now: Instant, id: SocketId) -> Option<CongestionSample> {
        self.sockets.congestion(now, id, &mut self.stack)
    }

    /// Fields of the IP header of the packet that came last for a socket's TCP connection; `None` if none has come, or
    /// there is no such socket. With SCTP each message has its own ([`ProgramMessage::ip`](crate::ProgramMessage::ip)).
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
                if !self.sockets.has_ended_session() {
                    return None;
                }
                self.note_ended_sessions(now);
            }
        }
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
        None
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
                self.stack.sctp.handle_input(now, sctp::Input::Icmp { destination, error, quote });
            }
            // All else is left to the connection's own timers (RFC 5461).
            (_, IcmpError::PacketTooBig { mtu_bytes }) => {
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
            self.drops.no_port += 1;
            if protocol == protocol::SCTP && self.unbound_ports == UnboundPorts::Answered {
                self.stack.sctp.handle_stray(now, envelope, packet);
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
            self.handle_icmp(now, &header, packet);
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

impl slantpath_interface::Host for Host {
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
        if self.source_deadlines.earliest().is_some_and(|earliest| earliest <= now) {
            self.begin_sessions(now);
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
        let own = own.min(latest(self.source_deadlines.earliest())).min(latest(self.script.deadline()));
        Some(transports.min(own)).filter(|deadline| *deadline != Instant::FAR_FUTURE)
    }
}

/// Reads the header of a packet as nearly all are: a whole one of IPv4 for SCTP or TCP, without IP options and without
/// checksums. `None` for all others, right or wrong.
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
        && matches!(protocol, protocol::SCTP | protocol::TCP)
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
