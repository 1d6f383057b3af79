//! A live seat, and a peer at the other end of its association that says what a test has it say.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_applications::{Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs as _};
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_control::GatewayStatus;
use slantpath_gateway::{Seat, SeatAssociation, SeatConfig, SignallingEntity, Successor};
use slantpath_host::{Peer, SocketId};
use slantpath_live::{Program, Station};
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit};
use slantpath_sctp::SctpConfig;
use slantpath_signalling::network::{AdaptationId, Carried, NetworkConfig, SignallingLinkId};
use slantpath_sigtran::m3ua;

use super::fixture::sctp;

const SEED: Seed = Seed::new(3, 0);

/// Ports of M2PA and M3UA, at either end.
pub(crate) const M2PA: u16 = 3_565;
pub(crate) const M3UA: u16 = 2_905;

/// A seat, or who speaks with it.
#[derive(Debug)]
enum Actor {
    Seat(Box<Seat>),
    Tester(Tester),
}

/// A program that does nothing by itself but to open an association, or to take one.
#[derive(Debug)]
struct Tester {
    port: SocketId,
    calls: Option<Peer>,
    socket: Option<SocketId>,
    heard: Vec<ProgramMessage>,
    streams: u16,
}

impl Program for Tester {
    fn handle_event(&mut self, _: Instant, _: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { outbound_streams, .. } => {
                self.socket = Some(socket);
                self.streams = outbound_streams;
            }
            ProgramEvent::Ended { .. } => self.socket = None,
            ProgramEvent::Message(message) => self.heard.push(message),
            _ => {}
        }
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        if let Some(peer) = self.calls.take() {
            host.connect(now, self.port, &peer).unwrap();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.calls.as_ref().map(|_| Instant::from_millis(10))
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}

    fn is_over(&self) -> bool {
        false
    }
}

impl Program for Actor {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match self {
            Self::Seat(seat) => seat.handle_event(now, host, socket, event),
            Self::Tester(tester) => tester.handle_event(now, host, socket, event),
        }
    }

    fn handle_all_told(&mut self, now: Instant, host: &mut Host) {
        match self {
            Self::Seat(seat) => seat.handle_all_told(now, host),
            Self::Tester(_) => {}
        }
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        match self {
            Self::Seat(seat) => seat.handle_deadline(now, host),
            Self::Tester(tester) => tester.handle_deadline(now, host),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Seat(seat) => seat.deadline(),
            Self::Tester(tester) => tester.deadline(),
        }
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        match self {
            Self::Seat(seat) => seat.stop(now, host),
            Self::Tester(tester) => tester.stop(now, host),
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Self::Seat(seat) => seat.is_over(),
            Self::Tester(tester) => tester.is_over(),
        }
    }
}

/// A seat with an association to a tester, and one to the exchange of the network, which is a seat as well.
pub(crate) struct Bench {
    network: Network<Station<Actor>>,
    nodes: Vec<NodeId>,
    occupant: SignallingEntity,
    associations: Vec<SeatAssociation>,
}

/// The port at which the tester is, and the side that opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TesterAt {
    /// A caller at this port of the seat.
    Calling(u16),
    /// The seat calls it at M3UA's.
    Called,
}

impl Bench {
    /// The seat of an occupant of a network. Lines to the exchange have this rate.
    pub(crate) fn new(
        config: &NetworkConfig,
        occupant: SignallingEntity,
        tester: TesterAt,
        exchange: Option<(NetworkConfig, SignallingEntity, DataRate)>,
    ) -> Self {
        Self::with_sctp(config, occupant, tester, exchange, *sctp())
    }

    /// Variant of [`new`](Self::new) with settings of the tester's SCTP.
    pub(crate) fn with_sctp(
        config: &NetworkConfig,
        occupant: SignallingEntity,
        tester: TesterAt,
        exchange: Option<(NetworkConfig, SignallingEntity, DataRate)>,
        own: SctpConfig,
    ) -> Self {
        // No more than a link takes while its acknowledgements are waited for.
        let trunk = SctpConfig { send_buffer_bytes: 20_000, ..*sctp() };
        Self::of(config, occupant, tester, exchange, [own, trunk])
    }

    /// Variant of [`new`](Self::new) with settings of SCTP below the link to the exchange.
    pub(crate) fn with_trunk(
        config: &NetworkConfig,
        occupant: SignallingEntity,
        exchange: (NetworkConfig, SignallingEntity, DataRate),
        trunk: SctpConfig,
    ) -> Self {
        Self::of(config, occupant, TesterAt::Calling(M3UA), Some(exchange), [*sctp(), trunk])
    }

    fn of(
        config: &NetworkConfig,
        occupant: SignallingEntity,
        tester: TesterAt,
        exchange: Option<(NetworkConfig, SignallingEntity, DataRate)>,
        [own, below_link]: [SctpConfig; 2],
    ) -> Self {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
        let delay: Duration = "5 ms".parse().unwrap();
        let slow = exchange.as_ref().map_or("1 Mbit/s".parse().unwrap(), |(.., rate)| *rate);
        let mut builder = NetworkBuilder::new();
        let nodes: Vec<NodeId> = ["seat", "tester", "exchange"].map(|name| builder.host(name)).into();
        let mut hosts: Vec<Vec<_>> = vec![Vec::new(); 3];
        for (far, rate) in [(1, "100 Mbit/s".parse().unwrap()), (2, slow)] {
            let way = DirectionConfig::new(rate, delay, queue.clone());
            let link = builder.link(&format!("link-{far}"), nodes[0], nodes[far], way.clone(), way);
            let ends = [(0, link.first(), address(0, far)), (far, link.second(), address(far, far))];
            for (node, interface, own) in ends {
                builder.address(interface, own);
                hosts[node].push((interface, own, address(if node == 0 { far } else { 0 }, far)));
            }
        }
        let graph = builder.build().unwrap();
        let host = |node: usize| {
            let mut host =
                Host::new(hosts[node].iter().map(|(interface, own, _)| (*own, *interface)).collect());
            for (interface, _, far) in &hosts[node] {
                host.add_route(*far, *interface).unwrap();
            }
            host
        };
        let m2pa_from = if tester == TesterAt::Calling(M2PA) { 1 } else { 2 };
        let mut trunk = end(Carried::Link(SignallingLinkId(0)), 0, m2pa_from, M2PA, false);
        trunk.port.sctp = Box::new(below_link.clone());
        let adaptation = end(Carried::Adaptation(AdaptationId(0)), 0, 1, M3UA, tester == TesterAt::Called);
        let associations = match occupant {
            SignallingEntity::Point(_) => vec![trunk, adaptation],
            SignallingEntity::Process(_) => vec![adaptation],
        };
        let mut stations = vec![seat(host(0), config, occupant, associations.clone())];
        stations.push(tester_station(host(1), tester, own));
        let (other, exchange) = match exchange {
            Some((config, occupant, _)) => (config, occupant),
            None => (config.clone(), SignallingEntity::Point(slantpath_signalling::network::PointId(0))),
        };
        let mut far = end(Carried::Link(SignallingLinkId(0)), 2, 0, M2PA, true);
        far.port.local_addresses = vec![address(2, 2)];
        far.port.sctp = Box::new(below_link);
        stations.push(seat(host(2), &other, exchange, vec![far]));
        Self { network: Network::new(graph, SEED, stations), nodes, occupant, associations }
    }

    /// Gives the seat another configuration.
    pub(crate) fn reload(&mut self, config: &NetworkConfig) {
        let own = seat_config(config, self.occupant, self.associations.clone());
        let successor = Successor::prepare(own, &self.seat().running()).unwrap();
        self.network.command(self.nodes[0], |station, now| {
            let Station { host, program: Actor::Seat(seat) } = station else {
                unreachable!("the first is a seat")
            };
            seat.reload(now, host, successor).unwrap();
        });
    }

    pub(crate) fn run_until(&mut self, at: Instant) {
        self.network.run_until(at);
    }

    pub(crate) fn go_on(&mut self, seconds: u64) {
        let at = self.network.now().saturating_add(Duration::from_secs(seconds));
        self.network.run_until(at);
    }

    fn tester(&mut self) -> &mut Tester {
        match &mut self.network.host_mut(self.nodes[1]).program {
            Actor::Tester(tester) => tester,
            Actor::Seat(_) => unreachable!("the second is the tester"),
        }
    }

    fn seat_at(&mut self, node: usize) -> &mut Seat {
        match &mut self.network.host_mut(self.nodes[node]).program {
            Actor::Seat(seat) => seat,
            Actor::Tester(_) => unreachable!("the others are seats"),
        }
    }

    pub(crate) fn seat(&mut self) -> &mut Seat {
        self.seat_at(0)
    }

    pub(crate) fn exchange(&mut self) -> &mut Seat {
        self.seat_at(2)
    }

    pub(crate) fn status(&mut self) -> GatewayStatus {
        let now = self.network.now();
        let Station { host, program: Actor::Seat(seat) } = self.network.host_mut(self.nodes[0]) else {
            unreachable!("the first is a seat")
        };
        seat.status(now, host)
    }

    /// Number of streams that the tester may send on.
    pub(crate) fn streams(&mut self) -> u16 {
        self.tester().streams
    }

    /// Sends octets as they are; `false` if there is no room.
    pub(crate) fn say(&mut self, stream: u16, payload_protocol: u32, octets: &Bytes) -> bool {
        let socket = self.tester().socket.expect("the association is up");
        let mut is_sent = false;
        self.network.command(self.nodes[1], |Station { host, .. }, now| {
            let message = ProgramMessage {
                stream,
                payload_protocol,
                is_unordered: false,
                payload: octets.clone(),
                options: None,
                ip: None,
            };
            is_sent = host.send(now, socket, message).is_ok();
        });
        is_sent
    }

    /// Sends a message of M3UA as it ought to be.
    pub(crate) fn tell(&mut self, message: &m3ua::Message) {
        assert!(self.say(stream_of(message), 3, &octets_of(message)), "{message:?}");
    }

    /// Sends one message so many times, as fast as it is taken.
    pub(crate) fn flood(&mut self, count: usize, message: &m3ua::Message) {
        let octets = octets_of(message);
        for _ in 0..count {
            while !self.say(stream_of(message), 3, &octets) {
                let at = self.network.now().saturating_add(Duration::from_millis(1));
                self.network.run_until(at);
            }
        }
    }

    /// Takes what the tester has heard since this was last asked.
    pub(crate) fn heard(&mut self) -> Vec<ProgramMessage> {
        std::mem::take(&mut self.tester().heard)
    }

    /// Messages of M3UA that the tester has heard since this was last asked.
    pub(crate) fn told(&mut self) -> Vec<m3ua::Message> {
        self.heard().iter().map(|message| m3ua::Message::parse(&message.payload).unwrap()).collect()
    }

    /// True while the tester's association is up.
    pub(crate) fn is_up(&mut self) -> bool {
        self.tester().socket.is_some()
    }
}

pub(crate) fn octets_of(message: &m3ua::Message) -> Bytes {
    let mut octets = Vec::new();
    message.emit(&mut octets);
    octets.into()
}

fn stream_of(message: &m3ua::Message) -> u16 {
    u16::from(matches!(message, m3ua::Message::Data(_)))
}

/// Address of a node on the link to the tester or to the exchange.
fn address(node: usize, link: usize) -> IpAddr {
    let [link, node] = [link, node].map(|number| u8::try_from(number).unwrap());
    IpAddr::from([10, 0, link, node + 1])
}

fn end(carried: Carried, own: usize, far: usize, port: u16, opens: bool) -> SeatAssociation {
    let link = own.max(far);
    let peer = Peer { addresses: vec![address(far, link)], port };
    SeatAssociation {
        name: format!("port-{port}"),
        carried,
        port: ProgramConfig {
            sctp: sctp(),
            local_addresses: vec![address(own, link)],
            local_port: port,
            peer: Some(peer),
        },
        opens,
        reopen_after: Duration::from_secs(1),
    }
}

fn seat_config(
    network: &NetworkConfig,
    occupant: SignallingEntity,
    associations: Vec<SeatAssociation>,
) -> SeatConfig {
    SeatConfig {
        network: network.clone(),
        occupant,
        associations,
        loads: [].into(),
        seed: SEED,
        patience: Duration::from_secs(5),
    }
}

fn seat(
    mut host: Host,
    network: &NetworkConfig,
    occupant: SignallingEntity,
    associations: Vec<SeatAssociation>,
) -> Station<Actor> {
    let config = seat_config(network, occupant, associations);
    let name = format!("{occupant:?}");
    let seat = Seat::open(Instant::START, config, &mut host, SEED.stream(&name)).unwrap();
    Station { host, program: Actor::Seat(Box::new(seat)) }
}

fn tester_station(mut host: Host, at: TesterAt, sctp: SctpConfig) -> Station<Actor> {
    let (port, calls) = match at {
        TesterAt::Calling(port) => (port, Some(Peer { addresses: vec![address(0, 1)], port })),
        TesterAt::Called => (M3UA, None),
    };
    let config = ProgramConfig {
        sctp: Box::new(sctp),
        local_addresses: vec![address(1, 1)],
        local_port: port,
        peer: None,
    };
    let port = host.add_program(&config, SEED.stream("tester"));
    let tester = Tester { port, calls, socket: None, heard: Vec::new(), streams: 0 };
    Station { host, program: Actor::Tester(tester) }
}
