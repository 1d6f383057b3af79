//! One signalling network twice: each entity in a seat of its own, and all in one run.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeSet;
use std::net::IpAddr;

use slantpath_applications::{AssociationConfig, Associations as _, Host, ProgramConfig};
use slantpath_base::{Duration, Instant, Seed};
use slantpath_control::{ControlEvent, GatewayStatus, Json, Refusal};
use slantpath_gateway::{
    Happening, Measuring, ReloadError, Seat, SeatAssociation, SeatConfig, SignallingEntity, Successor,
};
use slantpath_host::Peer;
use slantpath_live::Station;
use slantpath_net::{
    DirectionConfig, LinkId, Network, NetworkBuilder, NetworkGraph, NodeId, QueueConfig, QueueLimit,
};
use slantpath_sctp::SctpConfig;
use slantpath_signalling::ScreeningConfig;
use slantpath_signalling::network::{
    self, AdaptationConfig, AdaptationId, AspId, AssociationSide, Carried, GatewayId, LinkCarrier,
    LoadConfig, M3uaConfig, NetworkConfig, PointEnd, PointId, ServedPointId, ServerRegistration, Side,
    SignallingLinkId, SignallingProcess, UserPlace,
};
use slantpath_sigtran::asp::{self, ProcessConfig, TrafficMode};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua::QueueLimits;
use slantpath_simulation::{AssociationPlace, SignallingNetwork, SignallingSimulation};
use slantpath_ss7::load::{self, ByCode, GeneratorConfig, Lengths, Selection};
use slantpath_ss7::mtp3::node::{
    self, DestinationConfig, Function, LinkSetConfig, Mtp3LinkId, Procedure, SequenceNumbers,
};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation, Slc};
use slantpath_ss7::{PointCode, PointCodeFormat};

pub(crate) const END: Instant = Instant::from_secs(60);
/// Number of the point behind the gateway: after the exchange and the gateway.
const BEHIND: usize = 2;
const SEED: Seed = Seed::new(1, 0);

/// An association between two nodes, and the side that opens it.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) carried: Carried,
    nodes: [usize; 2],
    opens: Side,
    port: u16,
    /// Tells if the end that waits knows the address of the other.
    is_known: bool,
}

/// A network in a run, and in seats.
pub(crate) struct Lab {
    simulation: SignallingSimulation,
    run: Network<Host>,
    seats: Network<Station<Seat>>,
    nodes: Vec<NodeId>,
    happened: Vec<Vec<Happening>>,
    config: NetworkConfig,
    occupants: Vec<SignallingEntity>,
    ways: Vec<Way>,
    measuring: Option<Measuring>,
}

pub(crate) fn code(point: usize) -> PointCode {
    PointCode(u32::try_from(point).unwrap() + 1)
}

pub(crate) fn point(number: usize, adjacent: usize) -> network::PointConfig {
    let mut mtp3 = node::Config::new(&format!("point-{number}"), code(number));
    mtp3.restart = Procedure::Omitted;
    let link = node::LinkConfig { name: "trunk".to_owned(), slc: Slc(0), sequence: SequenceNumbers::Bits24 };
    mtp3.link_sets =
        vec![LinkSetConfig { name: format!("to-{adjacent}"), adjacent: code(adjacent), links: vec![link] }];
    network::PointConfig { mtp3, sccp: None, processor: None, screening: ScreeningConfig::default() }
}

fn trunk() -> network::LinkConfig {
    let end = |point| PointEnd { point: PointId(point), link: Mtp3LinkId(0) };
    let carrier = LinkCarrier::Association(m2pa::LinkConfig::default());
    network::LinkConfig { name: "trunk".to_owned(), ends: [end(0), end(1)], carrier }
}

fn load(name: &str, from: UserPlace, origin: usize, destination: usize) -> LoadConfig {
    let routing = load::Routing::PointCode(ByCode {
        destinations: vec![code(destination)],
        service: ServiceIndicator::ISUP,
    });
    LoadConfig {
        name: name.to_owned(),
        from,
        generator: GeneratorConfig {
            links: 1,
            first_link: 0,
            erlang_per_link: 0.3,
            steps: Vec::new(),
            line_rate: "64 kbit/s".parse().unwrap(),
            lengths: Lengths::Fixed(60),
            selection: Selection::Link,
            arrivals: load::Arrivals::Poisson,
            routing,
            origin: code(origin),
            service: ServiceInformation {
                indicator: ServiceIndicator::ISUP,
                network: NetworkIndicator::International,
                priority: 0,
            },
            start: Instant::from_secs(30),
            stop: Instant::from_secs(50),
        },
        destinations: vec![code(destination)],
        subsystem: None,
        give_up_after: Duration::from_secs(30),
    }
}

/// Two points with a link of M2PA and a load from the first to the second.
pub(crate) fn lab_of_m2pa() -> Lab {
    lab_of_two(true)
}

/// Two points with two ways, of which their first configuration has one.
pub(crate) fn lab_to_reload() -> Lab {
    let mut lab = lab_of_two(true);
    let carried = Carried::Link(SignallingLinkId(1));
    let second = Way { carried, nodes: [0, 1], opens: Side::Second, port: 3_566, is_known: true };
    let ways = [lab.ways[0].clone(), second];
    lab = Lab::new(&lab.config, &lab.occupants, &ways);
    lab
}

/// The network with another link, which is the first in the order of names, and a destination behind the second point.
pub(crate) fn with_second_link(config: &NetworkConfig) -> NetworkConfig {
    let mut own = config.clone();
    for (number, point) in own.points.iter_mut().enumerate() {
        let links = &mut point.mtp3.link_sets[0].links;
        let name = "a-second".to_owned();
        links.insert(0, node::LinkConfig { name, slc: Slc(1), sequence: SequenceNumbers::Bits24 });
        if number == 0 {
            let route = node::RouteConfig { link_set: "to-1".to_owned(), priority: 0 };
            let destination = DestinationConfig { point_code: code(BEHIND), routes: vec![route] };
            point.mtp3.destinations = vec![destination];
        }
    }
    let end = |point, link| PointEnd { point: PointId(point), link: Mtp3LinkId(link) };
    own.links[0].ends = [end(0, 1), end(1, 1)];
    let carrier = own.links[0].carrier.clone();
    let second = network::LinkConfig { name: "a-second".to_owned(), ends: [end(0, 0), end(1, 0)], carrier };
    own.links.insert(0, second);
    own
}

/// The network with a point, a served point and a process in front of all others, which has these numbered anew.
pub(crate) fn with_others_in_front(config: &NetworkConfig) -> NetworkConfig {
    const NEW: usize = 70;
    let mut own = config.clone();
    let mut spare = point(NEW, NEW);
    spare.mtp3.link_sets.clear();
    own.points.insert(0, spare);
    for end in own.links.iter_mut().flat_map(|link| &mut link.ends) {
        end.point.0 += 1;
    }
    for load in &mut own.loads {
        match &mut load.from {
            UserPlace::Point(id) => id.0 += 1,
            UserPlace::Served(id) => id.0 += 1,
        }
    }
    let m3ua = &mut own.m3ua;
    m3ua.gateways.iter_mut().for_each(|gateway| gateway.point.0 += 1);
    m3ua.asps.insert(0, network::AspConfig { name: "0".to_owned(), ..m3ua.asps[0].clone() });
    let served = network::ServedPointConfig { name: "0".to_owned(), code: code(NEW + 1), sccp: None };
    m3ua.points.insert(0, served);
    for server in &mut m3ua.servers {
        server.point.0 += 1;
        server.asps.iter_mut().for_each(|asp| asp.0 += 1);
    }
    m3ua.associations.iter_mut().for_each(|association| association.asp.0 += 1);
    own
}

/// Two points of which the second expects its peer elsewhere.
pub(crate) fn lab_of_strangers() -> Lab {
    lab_of_two(false)
}

fn lab_of_two(is_known: bool) -> Lab {
    let config = NetworkConfig {
        points: vec![point(0, 1), point(1, 0)],
        links: vec![trunk()],
        loads: vec![load("there", UserPlace::Point(PointId(0)), 0, 1)],
        ..NetworkConfig::default()
    };
    let carried = Carried::Link(SignallingLinkId(0));
    let ways = [Way { carried, nodes: [0, 1], opens: Side::First, port: 3_565, is_known }];
    Lab::new(&config, &[0, 1].map(|id| SignallingEntity::Point(PointId(id))), &ways)
}

/// Two points with a link of M2PA whose packets have several messages each: more is sent than the path carries.
pub(crate) fn lab_of_bundles() -> Lab {
    let Lab { mut config, occupants, ways, .. } = lab_of_two(true);
    config.loads[0].generator.links = 48;
    config.loads[0].generator.erlang_per_link = 0.9;
    Lab::new(&config, &occupants, &ways)
}

/// A point with two links to what it takes for one point, and is two with one code.
pub(crate) fn lab_of_twins() -> Lab {
    let mut config = lab_of_two(true).config;
    for point in &mut config.points {
        let first = point.mtp3.link_sets[0].links[0].clone();
        let second = node::LinkConfig { name: "trunk-2".to_owned(), slc: Slc(1), ..first };
        point.mtp3.link_sets[0].links.push(second);
    }
    let mut second = config.links[0].clone();
    "trunk-2".clone_into(&mut second.name);
    second.ends = [0, 1].map(|point| PointEnd { point: PointId(point), link: Mtp3LinkId(1) });
    config.links.push(second);
    config.loads[0].generator.links = 16;
    let way = |number, twin, port| Way {
        carried: Carried::Link(SignallingLinkId(number)),
        nodes: [0, twin],
        opens: Side::First,
        port,
        is_known: true,
    };
    let occupants = [0, 1, 1].map(|id| SignallingEntity::Point(PointId(id)));
    Lab::new(&config, &occupants, &[way(0, 1, 3_565), way(1, 2, 3_566)])
}

/// The point behind gateways.
pub(crate) fn behind(code: PointCode) -> network::ServedPointConfig {
    network::ServedPointConfig { name: "behind".to_owned(), code, sccp: None }
}

/// The application server of the point behind gateways, with the first so many processes.
pub(crate) fn server(traffic_mode: TrafficMode, asps: usize) -> network::ServerConfig {
    network::ServerConfig {
        name: "server".to_owned(),
        routing_context: 100,
        network_appearance: None,
        point: ServedPointId(0),
        opcs: Vec::new(),
        services: vec![ServiceIndicator::ISUP.value()],
        traffic_mode,
        needed_active: 1,
        asps: (0..asps).map(AspId).collect(),
        registration: ServerRegistration::Static,
    }
}

/// An exchange, a gateway and a process behind it, with loads both ways.
pub(crate) fn lab_of_m3ua() -> Lab {
    let mut exchange = point(0, 1);
    let route = node::RouteConfig { link_set: "to-1".to_owned(), priority: 0 };
    exchange.mtp3.destinations = vec![DestinationConfig { point_code: code(BEHIND), routes: vec![route] }];
    let mut gateway = point(1, 0);
    gateway.mtp3.function = Function::TransferPoint;
    gateway.mtp3.served = vec![code(BEHIND)];
    let m3ua = M3uaConfig {
        gateways: vec![network::GatewayConfig {
            point: PointId(1),
            name: "gateway".to_owned(),
            gateway: asp::GatewayConfig::default(),
            queue: QueueLimits::default(),
            format: PointCodeFormat::Itu,
            dynamic_servers: 0,
        }],
        asps: vec![network::AspConfig {
            name: "a".to_owned(),
            process: ProcessConfig::default(),
            audit: Duration::from_secs(30),
        }],
        points: vec![behind(code(BEHIND))],
        servers: vec![server(TrafficMode::Override, 1)],
        associations: vec![AdaptationConfig { gateway: GatewayId(0), asp: AspId(0) }],
    };
    let config = NetworkConfig {
        points: vec![exchange, gateway],
        links: vec![trunk()],
        m3ua,
        loads: vec![
            load("there", UserPlace::Point(PointId(0)), 0, BEHIND),
            load("back", UserPlace::Served(ServedPointId(0)), BEHIND, 0),
        ],
    };
    let (link, adaptation) = (Carried::Link(SignallingLinkId(0)), Carried::Adaptation(AdaptationId(0)));
    let ways = [
        Way { carried: link, nodes: [0, 1], opens: Side::First, port: 3_565, is_known: true },
        Way { carried: adaptation, nodes: [1, 2], opens: Side::Second, port: 2_905, is_known: true },
    ];
    let occupants = [
        SignallingEntity::Point(PointId(0)),
        SignallingEntity::Point(PointId(1)),
        SignallingEntity::Process(AspId(0)),
    ];
    Lab::new(&config, &occupants, &ways)
}

/// A link with the addresses at its ends.
type Addressed = (LinkId, [IpAddr; 2]);

/// Nodes with a link for each association, and the addresses at its ends: of IPv4 at the first, of IPv6 at the second.
fn graph(count: usize, ways: &[Way]) -> (NetworkGraph, Vec<NodeId>, Vec<Addressed>) {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
    let direction = DirectionConfig::new("2 Mbit/s".parse().unwrap(), "20 ms".parse().unwrap(), queue);
    let mut builder = NetworkBuilder::new();
    let nodes: Vec<NodeId> = (0..count).map(|number| builder.host(&format!("node-{number}"))).collect();
    let links = ways.iter().enumerate().map(|(number, way)| {
        let [first, second] = way.nodes.map(|node| nodes[node]);
        let link =
            builder.link(&format!("link-{number}"), first, second, direction.clone(), direction.clone());
        let network = if number == 0 { "10.0.0." } else { "fd00::" };
        let addresses: [IpAddr; 2] = [1, 2].map(|end| format!("{network}{end}").parse().unwrap());
        builder.address(link.first(), addresses[0]).address(link.second(), addresses[1]);
        (link, addresses)
    });
    let links = links.collect();
    (builder.build().unwrap(), nodes, links)
}

fn host(node: usize, ways: &[Way], links: &[(LinkId, [IpAddr; 2])]) -> Host {
    let own = || {
        ways.iter().zip(links).flat_map(move |(way, (link, addresses))| {
            let ends = [link.first(), link.second()];
            (0..2).filter(move |end| way.nodes[*end] == node).map(move |end| (end, ends[end], addresses))
        })
    };
    let mut host = Host::new(own().map(|(end, interface, addresses)| (addresses[end], interface)).collect());
    for (end, interface, addresses) in own() {
        host.add_route(addresses[1 - end], interface).unwrap();
    }
    host
}

pub(crate) fn sctp() -> Box<SctpConfig> {
    Box::new(SctpConfig { outbound_streams: 17, ..SctpConfig::default() })
}

impl Lab {
    fn new(config: &NetworkConfig, occupants: &[SignallingEntity], ways: &[Way]) -> Self {
        let count = occupants.len();
        let (run_graph, nodes, links) = graph(count, ways);
        let mut hosts: Vec<Host> = (0..count).map(|node| host(node, ways, &links)).collect();
        let mut places = Vec::new();
        let is_there = |way: &Way| match way.carried {
            Carried::Link(id) => id.0 < config.links.len(),
            Carried::Adaptation(id) => id.0 < config.m3ua.associations.len(),
        };
        for (way, (_, addresses)) in ways.iter().zip(&links).filter(|(way, _)| is_there(way)) {
            for side in Side::BOTH {
                let (own, far) = (side as usize, side.far() as usize);
                let peer =
                    (side == way.opens).then(|| Peer { addresses: vec![addresses[far]], port: way.port });
                let association = AssociationConfig {
                    sctp: sctp(),
                    local_addresses: vec![addresses[own]],
                    local_port: way.port,
                    peer,
                    reopen_after: Duration::from_secs(1),
                    sample_paths: None,
                    measures_delay: false,
                };
                let path = format!("{}/{own}", way.port);
                let socket = hosts[way.nodes[own]].add_association(&association, SEED, &path);
                let end = AssociationSide { carried: way.carried, side };
                places.push(AssociationPlace { end, node: nodes[way.nodes[own]], association: socket });
            }
        }
        let signalling = SignallingNetwork::new(config.clone(), SEED).unwrap();
        let simulation = SignallingSimulation::new(signalling, places, Vec::new());
        let run = Network::new(run_graph, SEED, hosts);
        let (seat_graph, _, links) = graph(count, ways);
        let seats = occupants.iter().enumerate().map(|(node, occupant)| {
            let seat = seat(config, *occupant, node, ways, &links);
            station(Instant::START, host(node, ways, &links), seat, &format!("seat {node}"))
        });
        let seats = Network::new(seat_graph, SEED, seats.collect());
        let happened = vec![Vec::new(); count];
        let (config, occupants, ways) = (config.clone(), occupants.to_vec(), ways.to_vec());
        Self { simulation, run, seats, nodes, happened, config, occupants, ways, measuring: None }
    }

    pub(crate) fn run_until(&mut self, end: Instant) {
        self.simulation.run_until(&mut self.run, end);
        self.seats.run_until(end);
        for (node, happened) in self.nodes.iter().zip(&mut self.happened) {
            let program = &mut self.seats.host_mut(*node).program;
            happened.extend(std::iter::from_fn(|| program.poll_happening()));
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.seats.now()
    }

    pub(crate) const fn loads(&self) -> usize {
        self.config.loads.len()
    }

    /// The machine of a seat with one association begins anew without a word, and calls from this port.
    pub(crate) fn begin_anew(&mut self, number: usize, port: u16) {
        let Self { config, occupants, ways, .. } = &*self;
        let (_, _, links) = graph(occupants.len(), ways);
        let mut seat = seat(config, occupants[number], number, ways, &links);
        seat.associations[0].port.local_port = port;
        let host = host(number, ways, &links);
        self.seats.command(self.nodes[number], |own, now| *own = station(now, host, seat, "anew"));
    }

    pub(crate) fn seat(&mut self, number: usize) -> &mut Seat {
        &mut self.seats.host_mut(self.nodes[number]).program
    }

    pub(crate) fn stop(&mut self, number: usize) {
        self.seats.command(self.nodes[number], Station::stop);
    }

    /// State of a seat as who operates it is told.
    pub(crate) fn status(&mut self, number: usize) -> GatewayStatus {
        let now = self.seats.now();
        let Station { host, program } = self.seats.host_mut(self.nodes[number]);
        program.status(now, host)
    }

    /// Measures a seat for its figures.
    pub(crate) fn measure(&mut self, number: usize) {
        let now = self.seats.now();
        let Station { host, program } = self.seats.host_mut(self.nodes[number]);
        self.measuring = Some(Measuring::begin(now, program, host));
    }

    /// Ends intervals that are over at a seat that is measured.
    pub(crate) fn follow(&mut self, number: usize) {
        let now = self.seats.now();
        let Station { host, program } = self.seats.host_mut(self.nodes[number]);
        self.measuring.as_mut().unwrap().follow(now, program, host);
    }

    /// Figures of a seat that is measured.
    pub(crate) fn figures(&mut self, number: usize) -> String {
        let now = self.seats.now();
        let Station { host, program } = self.seats.host_mut(self.nodes[number]);
        self.measuring.as_ref().unwrap().text(now, program, host)
    }

    /// Orders something of a seat: keys with their values.
    pub(crate) fn order(&mut self, number: usize, keys: &[(&str, &str)]) -> Result<ControlEvent, Refusal> {
        let value = |value: &str| Json::from(value).to_string();
        let pairs = keys.iter().map(|(key, own)| ((*key).to_owned(), value(own))).collect();
        let mut outcome = None;
        self.seats.command(self.nodes[number], |Station { host, program }, now| {
            outcome = Some(program.order(now, host, &pairs));
        });
        outcome.unwrap()
    }

    /// Gives a seat another configuration, and these associations.
    pub(crate) fn reload(
        &mut self,
        number: usize,
        config: &NetworkConfig,
        ways: &[Way],
    ) -> Result<(), ReloadError> {
        self.reload_changed(number, config, ways, |_| {})
    }

    /// Variant of [`reload`](Self::reload) with a further change.
    pub(crate) fn reload_changed(
        &mut self,
        number: usize,
        config: &NetworkConfig,
        ways: &[Way],
        change: impl FnOnce(&mut SeatConfig),
    ) -> Result<(), ReloadError> {
        let successor = self.prepared(number, config, ways, change)?;
        self.take(number, successor)
    }

    /// Makes what a seat would go on with, and leaves it as it is.
    pub(crate) fn prepared(
        &mut self,
        number: usize,
        config: &NetworkConfig,
        ways: &[Way],
        change: impl FnOnce(&mut SeatConfig),
    ) -> Result<Successor, ReloadError> {
        let (_, _, links) = graph(self.occupants.len(), ways);
        let mut own = seat(config, self.occupants[number], number, ways, &links);
        change(&mut own);
        Ok(Successor::prepare(own, &self.seat(number).running())?)
    }

    /// Has a seat take what was made for it.
    pub(crate) fn take(&mut self, number: usize, successor: Successor) -> Result<(), ReloadError> {
        let mut done = Ok(());
        self.seats.command(self.nodes[number], |station, now| {
            done = station.program.reload(now, &mut station.host, successor);
        });
        done
    }

    pub(crate) fn config(&self) -> (NetworkConfig, Vec<Way>) {
        (self.config.clone(), self.ways.clone())
    }

    /// Events of an application server at a seat from an instant on.
    pub(crate) fn of_server(&self, seat: usize, name: &str, from: Instant) -> Vec<&'static str> {
        let is_its = |happening: &&Happening| {
            happening.at >= from && happening.subjects.contains(&("server", name.to_owned()))
        };
        self.happened[seat].iter().filter(is_its).map(|happening| happening.event).collect()
    }

    /// Reason that a seat has told last with an event.
    pub(crate) fn reason(&self, seat: usize, event: &str) -> Option<String> {
        let last = self.happened[seat].iter().rfind(|happening| happening.event == event)?;
        last.reason.clone()
    }

    /// Sent and arrived messages of a load in the run.
    pub(crate) fn in_run(&mut self, load: usize) -> [u64; 2] {
        let now = self.run.now();
        let reports = self.simulation.signalling_mut().load_reports(now, load);
        let sum = |of: fn(&load::Report) -> u64| reports.iter().map(|link| of(&link.report)).sum();
        [sum(|report| report.sent), sum(|report| report.delivered)]
    }

    /// Events of a point in the run.
    pub(crate) fn events_of_point(&self, point: PointId) -> Vec<(Instant, &'static str)> {
        let events = self.simulation.signalling().events().iter().filter(|event| event.point == point);
        events.map(|event| (event.at, event.kind.name())).collect()
    }

    /// Events of a gateway or process in the run.
    pub(crate) fn events_above_m3ua(&self, process: SignallingProcess) -> Vec<(Instant, &'static str)> {
        let events = self.simulation.signalling().adaptation_events().iter();
        let own = events.filter(|event| event.process == process);
        own.map(|event| (event.at, event.kind.name())).collect()
    }

    /// Happenings at a seat that are a point's: those of associations and above M3UA are not.
    pub(crate) fn happened(&self, seat: usize) -> Vec<(Instant, &'static str)> {
        self.filtered(seat, |subjects| {
            !subjects.iter().any(|(kind, _)| matches!(*kind, "association" | "from" | "server"))
        })
    }

    /// Happenings at a seat above M3UA.
    pub(crate) fn happened_above_m3ua(&self, seat: usize) -> Vec<(Instant, &'static str)> {
        let is_meant = |kind: &str| matches!(kind, "association" | "server" | "destination");
        self.filtered(seat, |subjects| {
            subjects.iter().any(|(kind, name)| is_meant(kind) && name != "port-3565")
        })
    }

    fn filtered(
        &self,
        seat: usize,
        is_meant: impl Fn(&[(&'static str, String)]) -> bool,
    ) -> Vec<(Instant, &'static str)> {
        let meant = self.happened[seat].iter().filter(|happening| is_meant(&happening.subjects));
        meant.map(|happening| (happening.at, happening.event)).collect()
    }

    /// Names of all subjects of a kind that a seat has told of.
    pub(crate) fn subjects(&self, seat: usize, kind: &str) -> BTreeSet<&str> {
        let subjects = self.happened[seat].iter().flat_map(|happening| &happening.subjects);
        subjects.filter(|(own, _)| *own == kind).map(|(_, name)| &name[..]).collect()
    }

    /// Events at a seat from an instant on.
    pub(crate) fn happened_at(&self, seat: usize, from: Instant) -> Vec<String> {
        let later = self.happened[seat].iter().filter(|happening| happening.at >= from);
        later.map(|happening| happening.event.to_owned()).collect()
    }
}

fn station(now: Instant, mut host: Host, seat: SeatConfig, chance: &str) -> Station<Seat> {
    let program = Seat::open(now, seat, &mut host, SEED.stream(chance)).unwrap();
    Station { host, program }
}

/// The seat of a node.
fn seat(
    config: &NetworkConfig,
    occupant: SignallingEntity,
    node: usize,
    ways: &[Way],
    links: &[(LinkId, [IpAddr; 2])],
) -> SeatConfig {
    let mut associations = Vec::new();
    for (way, (_, addresses)) in ways.iter().zip(links) {
        let Some(own) = way.nodes.iter().position(|other| *other == node) else { continue };
        if matches!(way.carried, Carried::Link(id) if id.0 >= config.links.len()) {
            continue;
        }
        let elsewhere = IpAddr::from([10, 9, 9, 9]);
        let far = if way.is_known || way.opens as usize == own { addresses[1 - own] } else { elsewhere };
        let far = Peer { addresses: vec![far], port: way.port };
        associations.push(SeatAssociation {
            name: format!("port-{}", way.port),
            carried: way.carried,
            port: ProgramConfig {
                sctp: sctp(),
                local_addresses: vec![addresses[own]],
                local_port: way.port,
                peer: Some(far),
            },
            opens: way.opens as usize == own,
            reopen_after: Duration::from_secs(1),
        });
    }
    let own_loads: BTreeSet<usize> = config
        .loads
        .iter()
        .enumerate()
        .filter(|(_, load)| match (load.from, occupant) {
            (UserPlace::Point(from), SignallingEntity::Point(own)) => from == own,
            (UserPlace::Served(_), SignallingEntity::Process(_)) => true,
            _ => false,
        })
        .map(|(number, _)| number)
        .collect();
    SeatConfig {
        network: config.clone(),
        occupant,
        associations,
        loads: own_loads,
        seed: SEED,
        patience: Duration::from_secs(5),
    }
}
