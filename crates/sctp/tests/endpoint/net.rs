//! Endpoints and the wires between them, in memory: a test says what happens, then looks at what came of it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{
    Acceptance, AssociationId, Chunk, CommonHeader, ConnectOptions, Endpoint, Event, Input, Message, Output,
    PacketBuilder, PartialMessage, PortConfig, Ppid, ReceivedMessage, SctpConfig, StreamId, VerificationTag,
};
use slantpath_testkit::{Wire, WireFaults};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpFields;

/// Source and destination.
pub(crate) type Route = (IpAddr, IpAddr);

/// A packet that was sent, lost or not.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) route: Route,
    pub(crate) ip: IpFields,
    pub(crate) packet: Packet,
}

/// An endpoint and what it has said.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) endpoint: Endpoint,
    pub(crate) port: u16,
    addresses: Vec<IpAddr>,
    /// From where each destination is reached, as far as it is asked for.
    pub(crate) routes: BTreeMap<IpAddr, Vec<IpAddr>>,
    /// The questions that it has asked.
    pub(crate) asked: Vec<Vec<IpAddr>>,
    pub(crate) events: VecDeque<(AssociationId, Event)>,
    deadline: Option<Instant>,
    /// The association that it has spoken of last.
    pub(crate) last: Option<AssociationId>,
}

/// A network in which every address reaches every other by a wire of its own.
#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) now: Instant,
    pub(crate) hosts: Vec<Host>,
    /// All that was sent, in order.
    pub(crate) sent: Vec<Sent>,
    faults: WireFaults,
    seed: u64,
    wires: BTreeMap<Route, Wire<(Route, Packet)>>,
    cut: Vec<Route>,
    to_lose: Vec<usize>,
}

/// The address `10.0.network.host`.
pub(crate) fn v4(network: u8, host: u8) -> IpAddr {
    [10, 0, network, host].into()
}

impl Net {
    pub(crate) fn new(seed: u64, faults: WireFaults) -> Self {
        Self {
            now: Instant::START,
            hosts: Vec::new(),
            sent: Vec::new(),
            faults,
            seed,
            wires: BTreeMap::new(),
            cut: Vec::new(),
            to_lose: Vec::new(),
        }
    }

    /// A network whose only fault is a delay of 10 ms.
    pub(crate) fn calm() -> Self {
        Self::new(1, WireFaults::none(Duration::from_millis(10)))
    }

    /// Puts an endpoint there, instead of any that had its first address.
    pub(crate) fn add(&mut self, addresses: &[IpAddr], port: u16, config: SctpConfig) -> usize {
        let seed = Seed::new(self.seed, self.hosts.len() as u64);
        let stream = seed.stream(&format!("endpoint at {:?} {}", addresses, self.now));
        let bound = PortConfig { port, addresses: addresses.to_vec(), config };
        let mut endpoint = Endpoint::default();
        endpoint.bind(bound, stream).expect("a free port");
        let host = Host {
            endpoint,
            port,
            addresses: addresses.to_vec(),
            routes: BTreeMap::new(),
            asked: Vec::new(),
            events: VecDeque::new(),
            deadline: None,
            last: None,
        };
        let place = self.hosts.iter().position(|host| host.addresses[0] == addresses[0]);
        if let Some(place) = place {
            self.hosts[place] = host;
            return place;
        }
        self.hosts.push(host);
        self.hosts.len() - 1
    }

    /// Gives a host's port another address.
    pub(crate) fn add_address(&mut self, host: usize, address: IpAddr) {
        let Host { endpoint, port, addresses, .. } = &mut self.hosts[host];
        assert!(endpoint.add_port_address(*port, address));
        addresses.push(address);
    }

    /// A host that has all addresses of its machine gets another.
    pub(crate) fn come(&mut self, host: usize, address: IpAddr) {
        let now = self.now;
        let Host { endpoint, addresses, .. } = &mut self.hosts[host];
        endpoint.add_host_address(now, address);
        addresses.push(address);
        self.drain(host);
    }

    /// Removes an address of the host for good.
    pub(crate) fn go(&mut self, host: usize, address: IpAddr) {
        let now = self.now;
        let Host { endpoint, addresses, .. } = &mut self.hosts[host];
        endpoint.remove_host_address(now, address);
        addresses.retain(|one| *one != address);
        self.drain(host);
    }

    /// An address of a host, or its link, is back.
    pub(crate) fn is_back(&mut self, host: usize, address: IpAddr) {
        let now = self.now;
        self.hosts[host].endpoint.local_address_is_back(now, address);
        self.drain(host);
    }

    /// A host learns that an address of its has gone.
    pub(crate) fn is_down(&mut self, host: usize, address: IpAddr) {
        let now = self.now;
        self.hosts[host].endpoint.local_address_is_down(now, address);
        self.drain(host);
    }

    /// Changes addresses of a host in an association.
    pub(crate) fn change_addresses(&mut self, host: usize, id: AssociationId, changes: &[AddressChange]) {
        let now = self.now;
        self.hosts[host].endpoint.change_addresses(now, id, changes).expect("the change is asked for");
        self.drain(host);
    }

    pub(crate) fn listen(&mut self, host: usize) {
        let Host { endpoint, port, .. } = &mut self.hosts[host];
        assert!(endpoint.listen(*port, Acceptance::ByPeer));
    }

    /// Connects to all addresses of the peer.
    pub(crate) fn connect(&mut self, host: usize, peer: usize) -> AssociationId {
        let options = ConnectOptions {
            local_port: self.hosts[host].port,
            peer_addresses: self.hosts[peer].addresses.clone(),
            peer_port: self.hosts[peer].port,
            ..ConnectOptions::default()
        };
        let id = self.hosts[host].endpoint.connect(self.now, &options).expect("the peer can be connected to");
        self.drain(host);
        id
    }

    /// Sends a message, and fails if it is not taken.
    pub(crate) fn send(&mut self, host: usize, id: AssociationId, stream: u16, payload: impl Into<Bytes>) {
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(7),
            payload: payload.into(),
            is_unordered: false,
            context: 0,
            options: None,
        };
        self.hosts[host].endpoint.send(self.now, id, message).expect("the message is taken");
        self.drain(host);
    }

    pub(crate) fn shutdown(&mut self, host: usize, id: AssociationId) {
        assert!(self.hosts[host].endpoint.shutdown(self.now, id));
        self.drain(host);
    }

    pub(crate) fn abort(&mut self, host: usize, id: AssociationId, reason: &'static str) {
        assert!(self.hosts[host].endpoint.abort(self.now, id, Bytes::from_static(reason.as_bytes())));
        self.drain(host);
    }

    /// Loses what is sent from one address to another from now on.
    pub(crate) fn cut(&mut self, from: IpAddr, to: IpAddr) {
        self.cut.push((from, to));
    }

    /// Loses the packet that is sent as number `ordinal` of all.
    pub(crate) fn lose(&mut self, ordinal: usize) {
        self.to_lose.push(ordinal);
    }

    /// Carries everything again.
    pub(crate) fn mend(&mut self) {
        self.cut.clear();
    }

    /// Hands a packet to whoever has the destination address, at once.
    pub(crate) fn inject(&mut self, route: Route, packet: Packet) {
        if let Some(host) = self.host_at(route.1) {
            let input =
                Input::Packet { source: route.0, destination: route.1, ip: IpFields::default(), packet };
            self.hosts[host].endpoint.handle_input(self.now, input);
            self.drain(host);
        }
    }

    /// Hands over a packet made of chunks.
    pub(crate) fn inject_chunks(&mut self, route: Route, header: CommonHeader, chunks: &[Chunk]) {
        let packet = packet_of(header, chunks);
        self.inject(route, packet);
    }

    /// Forgets the packets that are under way.
    pub(crate) fn drop_under_way(&mut self) {
        self.wires.clear();
    }

    /// Goes to the next arrival or deadline; `false` if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let arrivals = self.wires.iter().filter_map(|(route, wire)| Some((wire.next_arrival()?, *route)));
        let arrival = arrivals.min();
        let deadlines = self.hosts.iter().zip(0..).filter_map(|(host, index)| Some((host.deadline?, index)));
        let deadline = deadlines.min();
        match (arrival, deadline) {
            (Some((at, route)), deadline) if deadline.is_none_or(|(then, _)| at <= then) => {
                self.now = self.now.max(at);
                let (route, packet) =
                    self.wires.get_mut(&route).and_then(|wire| wire.receive(at)).expect("it has arrived");
                self.inject(route, packet);
            }
            (_, Some((at, host))) => {
                self.now = self.now.max(at);
                self.hosts[host].endpoint.handle_input(self.now, Input::Deadline);
                self.drain(host);
            }
            (_, None) => return false,
        }
        true
    }

    /// Goes on until a time, which is then now.
    pub(crate) fn run_until(&mut self, end: Instant) {
        for steps in 0.. {
            assert!(steps < 1_000_000, "the network does not come to rest before {end}");
            let arrival = self.wires.values().filter_map(Wire::next_arrival).min();
            let deadline = self.hosts.iter().filter_map(|host| host.deadline).min();
            let next = [arrival, deadline].into_iter().flatten().min();
            if next.is_none_or(|next| next > end) {
                break;
            }
            self.step();
        }
        self.now = end;
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    /// Polls a host's output until it waits.
    pub(crate) fn drain(&mut self, host: usize) {
        for outputs in 0.. {
            assert!(outputs < 100_000, "host {host} has output without end");
            self.answer_routes(host);
            let mut packet = Packet::default();
            match self.hosts[host].endpoint.poll_output(self.now, &mut packet) {
                Output::Transmit { source, destination, ip, .. } => {
                    let route = (source, destination);
                    self.sent.push(Sent { at: self.now, route, ip, packet: packet.clone() });
                    if !self.cut.contains(&route) && !self.to_lose.contains(&(self.sent.len() - 1)) {
                        let (seed, faults) = (Seed::new(self.seed, 0), self.faults);
                        let name = format!("wire from {source} to {destination}");
                        let wire = self.wires.entry(route);
                        wire.or_insert_with(|| Wire::new(faults, seed.stream(&name)))
                            .send(self.now, (route, packet));
                    }
                }
                Output::Event(id, event) => {
                    self.hosts[host].last = Some(id);
                    self.hosts[host].events.push_back((id, event));
                }
                Output::Wait(deadline) => {
                    self.hosts[host].deadline = deadline;
                    return;
                }
            }
        }
    }

    fn answer_routes(&mut self, host: usize) {
        let Host { endpoint, routes, asked, .. } = &mut self.hosts[host];
        while let Some(question) = endpoint.route_question() {
            let question = question.to_vec();
            let sources = question.iter().map(|to| routes.get(to).cloned().unwrap_or_default());
            let sources: Vec<Vec<IpAddr>> = sources.collect();
            asked.push(question);
            endpoint.answer_routes(self.now, &sources);
        }
    }

    fn host_at(&self, address: IpAddr) -> Option<usize> {
        self.hosts.iter().position(|host| host.addresses.contains(&address))
    }

    /// Takes the events of a host.
    pub(crate) fn events(&mut self, host: usize) -> Vec<Event> {
        self.hosts[host].events.drain(..).map(|(_, event)| event).collect()
    }

    /// Takes the events of a host, and keeps the payloads of its messages.
    pub(crate) fn received(&mut self, host: usize) -> Vec<ReceivedMessage> {
        let mut partial = PartialMessage::new(u64::MAX);
        let messages = self.events(host).into_iter().filter_map(|event| match event {
            Event::Received(message) => Some(message),
            Event::ReceivedPart(part) => partial.push(part).expect("no message is too long"),
            _ => None,
        });
        messages.collect()
    }

    /// The id in the first `Established` of a host's events, which stay.
    pub(crate) fn established(&self, host: usize) -> Option<AssociationId> {
        self.hosts[host].events.iter().find_map(|(id, event)| match event {
            Event::Established { .. } => Some(*id),
            _ => None,
        })
    }

    /// All packets sent since the `first`, one line each.
    pub(crate) fn trace(&self, first: usize) -> String {
        let mut text = String::new();
        for sent in &self.sent[first..] {
            let at = sent.at.since_start();
            let (from, to) = sent.route;
            writeln!(text, "{at} {from} > {to} {}", describe(&sent.packet)).unwrap();
        }
        text
    }

    /// Sets two hosts up with an association between them, and forgets how it came about.
    pub(crate) fn associated(
        config: &SctpConfig,
        addresses: [&[IpAddr]; 2],
    ) -> (Self, AssociationId, AssociationId) {
        let mut net = Self::calm();
        let a = net.add(addresses[0], 5_000, config.clone());
        let z = net.add(addresses[1], 2_905, config.clone());
        net.listen(z);
        let at_a = net.connect(a, z);
        net.run_for(Duration::from_secs(1));
        let at_z = net.established(z).expect("the association is established");
        net.events(a);
        net.events(z);
        net.sent.clear();
        (net, at_a, at_z)
    }
}

/// A packet with its checksum.
pub(crate) fn packet_of(header: CommonHeader, chunks: &[Chunk]) -> Packet {
    let mut builder = PacketBuilder::default();
    builder.start(header, usize::MAX);
    for chunk in chunks {
        builder.push(chunk);
    }
    builder.finish(slantpath_sctp::ChecksumPolicy::Compute)
}

pub(crate) fn header(source_port: u16, destination_port: u16, tag: u32) -> CommonHeader {
    CommonHeader { source_port, destination_port, verification_tag: VerificationTag(tag) }
}

/// A packet's header and chunks.
pub(crate) fn parse(packet: &Packet) -> (CommonHeader, Vec<Chunk>) {
    let parsed = ParsedPacket::parse(packet).expect("what is sent can be read");
    (parsed.header, parsed.chunks().map(|chunk| chunk.expect("what is sent can be read")).collect())
}

/// The names of a packet's chunks, with what tells them apart but is not random.
pub(crate) fn describe(packet: &Packet) -> String {
    let (_, chunks) = parse(packet);
    let names = chunks.iter().map(|chunk| match chunk {
        Chunk::Data(data) => format!("DATA({})", data.payload.len()),
        Chunk::Init(_) => "INIT".into(),
        Chunk::InitAck(_) => "INIT-ACK".into(),
        Chunk::Sack(sack) => format!("SACK({} gaps)", sack.gap_ack_blocks.len()),
        Chunk::Heartbeat(_) => "HEARTBEAT".into(),
        Chunk::HeartbeatAck(_) => "HEARTBEAT-ACK".into(),
        Chunk::Abort(abort) => format!(
            "ABORT{}{:?}",
            if abort.is_tag_reflected { "(T)" } else { "" },
            abort.causes.iter().map(slantpath_sctp::Cause::code).collect::<Vec<_>>()
        ),
        Chunk::Shutdown(_) => "SHUTDOWN".into(),
        Chunk::ShutdownAck(_) => "SHUTDOWN-ACK".into(),
        Chunk::Error(error) => {
            format!("ERROR{:?}", error.causes.iter().map(slantpath_sctp::Cause::code).collect::<Vec<_>>())
        }
        Chunk::CookieEcho(_) => "COOKIE-ECHO".into(),
        Chunk::CookieAck(_) => "COOKIE-ACK".into(),
        Chunk::Ecne(_) => "ECNE".into(),
        Chunk::Cwr(_) => "CWR".into(),
        Chunk::ShutdownComplete(complete) => {
            format!("SHUTDOWN-COMPLETE{}", if complete.is_tag_reflected { "(T)" } else { "" })
        }
        Chunk::Pad(pad) => format!("PAD({})", pad.padding_len),
        Chunk::NrSack(sack) => format!("NR-SACK({} gaps)", sack.non_renegable_blocks.len()),
        Chunk::Auth(_) => "AUTH".into(),
        Chunk::Asconf(_) => "ASCONF".into(),
        Chunk::AsconfAck(_) => "ASCONF-ACK".into(),
        Chunk::ReConfig(_) => "RE-CONFIG".into(),
        Chunk::ForwardTsn(_) => "FORWARD-TSN".into(),
        Chunk::IData(data) => format!("I-DATA({})", data.payload.len()),
        Chunk::IForwardTsn(_) => "I-FORWARD-TSN".into(),
        Chunk::Unknown { kind, .. } => format!("UNKNOWN({kind})"),
    });
    names.collect::<Vec<_>>().join(" ")
}
