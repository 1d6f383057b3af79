//! Gateways under load on a simulated network: each at a node of its own, and around them one traffic simulator.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod end;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_applications::ProgramConfig;
use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_gateway::{
    AssociationCounts, BenchConfig, BenchSeat, Clocks, FarEnd, Happening, Seat, SeatAssociation, SeatConfig,
    SignallingEntity, TrafficBench,
};
use slantpath_host::{Peer, SocketId};
use slantpath_live::record::Replayed;
use slantpath_live::{Station, host_from};
use slantpath_net::{
    Change, DirectionConfig, LinkId, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit,
};
use slantpath_signalling::ScreeningConfig;
use slantpath_signalling::network::{
    self, AdaptationConfig, AdaptationId, AspId, Carried, GatewayId, LinkCarrier, LoadConfig, M3uaConfig,
    NetworkConfig, PointEnd, PointId, ServedPointId, Side, SignallingLinkId, UserPlace,
};
use slantpath_sigtran::asp::{self, ProcessConfig, TrafficMode};
use slantpath_sigtran::m3ua::QueueLimits;
use slantpath_ss7::load::{self, ByCode, GeneratorConfig, Lengths, Selection};
use slantpath_ss7::mtp3::node::{
    self, CongestionMethod, DestinationConfig, Function, LinkSetConfig, Mtp3LinkId, Procedure,
    SequenceNumbers,
};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation, Slc};
use slantpath_ss7::{PointCode, PointCodeFormat};

use super::fixture::{behind, server};
use super::patience::Patience;
use super::recorded::Recorded;
use end::{End, Kind};

const SEED: Seed = Seed::new(7, 0);
const PATHS: usize = 2;
/// Loads begin then.
pub(crate) const BEGIN: Instant = Instant::from_secs(5);
/// Octets of each message, on a line.
const OCTETS: usize = 60;
/// Selections of each load.
const SELECTIONS: u16 = 16;

/// Users at the far side of the gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Far {
    /// An exchange, with one link to each gateway.
    Exchange,
    /// So many processes of one application server, in this mode.
    Processes(usize, TrafficMode),
}

/// Plan of a site: an exchange with links to each gateway, and users behind these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) gateways: usize,
    /// Links from the exchange to each gateway.
    pub(crate) links: usize,
    pub(crate) far: Far,
    pub(crate) format: PointCodeFormat,
    /// True for addresses of IPv6.
    pub(crate) is_ipv6: bool,
    /// Messages a second in both directions together.
    pub(crate) rate: u32,
    /// Time for which loads send.
    pub(crate) lasts: Duration,
    /// Room and time for messages that wait.
    pub(crate) patience: Patience,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            gateways: 1,
            links: 2,
            far: Far::Exchange,
            format: PointCodeFormat::Itu,
            is_ipv6: false,
            rate: 20_000,
            lasts: Duration::from_millis(1_500),
            patience: Patience::Long,
        }
    }
}

/// One side of an association: its seat, and its addresses, one for each path.
#[derive(Clone, Debug)]
struct SideOf {
    /// Seat of the bench, or gateway.
    number: usize,
    addresses: Vec<IpAddr>,
}

/// An association, the first side of which is at a gateway.
#[derive(Clone, Debug)]
struct Way {
    name: String,
    carried: Carried,
    port: u16,
    gateway: SideOf,
    user: SideOf,
    links: Vec<LinkId>,
    patience: Patience,
}

/// Fate of a load's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    pub(crate) out_of_sequence: u64,
}

/// Gateways under load.
pub(crate) struct Site {
    network: Network<End>,
    bench: NodeId,
    gateways: Vec<NodeId>,
    ways: Vec<Way>,
    config: NetworkConfig,
    /// Happenings at each gateway, and then at each seat of the bench.
    happened: Vec<Vec<Happening>>,
    users: usize,
}

fn code(point: usize) -> PointCode {
    PointCode(u32::try_from(point).unwrap() + 1)
}

impl Plan {
    /// Number of the point, or the served point, at the far side.
    const fn behind(&self) -> usize {
        self.gateways + 1
    }

    const fn processes(&self) -> usize {
        match self.far {
            Far::Exchange => 0,
            Far::Processes(count, _) => count,
        }
    }

    fn service(&self) -> ServiceInformation {
        let network = match self.format {
            PointCodeFormat::Itu | PointCodeFormat::Ttc => NetworkIndicator::International,
            PointCodeFormat::Ansi => NetworkIndicator::National,
        };
        ServiceInformation { indicator: ServiceIndicator::ISUP, network, priority: 0 }
    }

    fn point(&self, number: usize) -> network::PointConfig {
        let is_gateway = (1..=self.gateways).contains(&number);
        let mut mtp3 = node::Config::new(&format!("point-{number}"), code(number));
        mtp3.format = self.format;
        mtp3.network = self.service().network;
        if self.format == PointCodeFormat::Ansi {
            mtp3.congestion = CongestionMethod::National;
        }
        mtp3.restart = Procedure::Omitted;
        mtp3.held_limit = 1 << 17;
        let links_to = |other: usize, links: usize| LinkSetConfig {
            name: format!("to-{other}"),
            adjacent: code(other),
            links: (0..links)
                .map(|link| node::LinkConfig {
                    name: format!("link-{}-{}-{link}", number.min(other), number.max(other)),
                    slc: Slc(u8::try_from(link).unwrap()),
                    sequence: SequenceNumbers::Bits24,
                })
                .collect(),
        };
        let by = |other: usize| node::RouteConfig { link_set: format!("to-{other}"), priority: 0 };
        if is_gateway {
            mtp3.function = Function::TransferPoint;
            mtp3.link_sets = vec![links_to(0, self.links)];
            match self.far {
                Far::Exchange => mtp3.link_sets.push(links_to(self.behind(), 1)),
                Far::Processes(..) => mtp3.served = vec![code(self.behind())],
            }
        } else {
            let (links, destination) = if number == 0 { (self.links, self.behind()) } else { (1, 0) };
            mtp3.link_sets = (1..=self.gateways).map(|gateway| links_to(gateway, links)).collect();
            let routes = (1..=self.gateways).map(by).collect();
            mtp3.destinations = vec![DestinationConfig { point_code: code(destination), routes }];
        }
        network::PointConfig { mtp3, sccp: None, processor: None, screening: ScreeningConfig::default() }
    }

    fn load(&self, name: &str, from: UserPlace, [origin, destination]: [usize; 2]) -> LoadConfig {
        let each = f64::from(self.rate) / 2.0 / f64::from(SELECTIONS);
        let line_bits = 64_000.0;
        let routing = load::Routing::PointCode(ByCode {
            destinations: vec![code(destination)],
            service: ServiceIndicator::ISUP,
        });
        LoadConfig {
            name: name.to_owned(),
            from,
            generator: GeneratorConfig {
                links: SELECTIONS,
                first_link: 0,
                erlang_per_link: each * (OCTETS * 8) as f64 / line_bits,
                steps: Vec::new(),
                line_rate: "64 kbit/s".parse().unwrap(),
                lengths: Lengths::Fixed(OCTETS),
                selection: Selection::Link,
                arrivals: load::Arrivals::Constant,
                routing,
                origin: code(origin),
                service: self.service(),
                start: BEGIN,
                stop: BEGIN.saturating_add(self.lasts),
            },
            destinations: vec![code(destination)],
            subsystem: None,
            give_up_after: Duration::from_secs(20),
        }
    }

    fn m3ua(&self) -> M3uaConfig {
        let Far::Processes(count, traffic_mode) = self.far else { return M3uaConfig::default() };
        let gateway = |number: usize| network::GatewayConfig {
            point: PointId(number),
            name: format!("point-{number}"),
            gateway: asp::GatewayConfig::default(),
            queue: QueueLimits::of(1 << 17),
            format: self.format,
            dynamic_servers: 0,
        };
        let asp = |number| network::AspConfig {
            name: format!("asp-{number}"),
            process: ProcessConfig::default(),
            audit: Duration::from_secs(30),
        };
        let of_gateway = |gateway| (0..count).map(move |asp| AdaptationConfig { gateway, asp: AspId(asp) });
        M3uaConfig {
            gateways: (1..=self.gateways).map(gateway).collect(),
            asps: (0..count).map(asp).collect(),
            points: vec![behind(code(self.behind()))],
            servers: vec![server(traffic_mode, count)],
            associations: (0..self.gateways).map(GatewayId).flat_map(of_gateway).collect(),
        }
    }

    fn network(&self) -> NetworkConfig {
        let points = if self.far == Far::Exchange { self.gateways + 2 } else { self.gateways + 1 };
        let carrier = self.patience.m2pa();
        let mut links = Vec::new();
        for gateway in 1..=self.gateways {
            let own = |link: usize| Mtp3LinkId(u16::try_from(link).unwrap());
            let mut join = |other: usize, [at_gateway, at_other]: [usize; 2], slc: usize| {
                links.push(network::LinkConfig {
                    name: format!("link-{}-{}-{slc}", gateway.min(other), gateway.max(other)),
                    ends: [
                        PointEnd { point: PointId(gateway), link: own(at_gateway) },
                        PointEnd { point: PointId(other), link: own(at_other) },
                    ],
                    carrier: LinkCarrier::Association(carrier.clone()),
                });
            };
            for link in 0..self.links {
                join(0, [link, (gateway - 1) * self.links + link], link);
            }
            if self.far == Far::Exchange {
                join(self.behind(), [self.links, gateway - 1], 0);
            }
        }
        let (far, behind) = match self.far {
            Far::Exchange => (UserPlace::Point(PointId(self.behind())), self.behind()),
            Far::Processes(..) => (UserPlace::Served(ServedPointId(0)), self.behind()),
        };
        NetworkConfig {
            points: (0..points).map(|number| self.point(number)).collect(),
            links,
            m3ua: self.m3ua(),
            loads: vec![
                self.load("there", UserPlace::Point(PointId(0)), [0, behind]),
                self.load("back", far, [behind, 0]),
            ],
        }
    }

    /// Entities of the bench: the exchange, and those at the far side.
    fn users(&self) -> Vec<SignallingEntity> {
        let mut users = vec![SignallingEntity::Point(PointId(0))];
        match self.far {
            Far::Exchange => users.push(SignallingEntity::Point(PointId(self.behind()))),
            Far::Processes(count, _) => users.extend((0..count).map(AspId).map(SignallingEntity::Process)),
        }
        users
    }

    /// Associations, each with the seat of the bench and the gateway that it joins.
    fn ways(&self, network: &NetworkConfig) -> Vec<Way> {
        let mut ways = Vec::new();
        let mut way = |name: String, carried, user: usize, gateway: usize| {
            let place = ways.len();
            let address = |path: usize, end: usize| -> IpAddr {
                let words = if self.is_ipv6 {
                    format!("fd00:{:x}:{path}::{end}", place + 1)
                } else {
                    format!("10.{}.{path}.{end}", place + 1)
                };
                words.parse().unwrap()
            };
            let side = |number, end| SideOf {
                number,
                addresses: (0..PATHS).map(|path| address(path, end)).collect(),
            };
            let port = 2_905 + u16::try_from(place).unwrap();
            let (gateway, user) = (side(gateway, 1), side(user, 2));
            let (links, patience) = (Vec::new(), self.patience);
            ways.push(Way { name, carried, port, gateway, user, links, patience });
        };
        // Those of one seat behind one another, as the bench numbers its interfaces.
        for (number, link) in network.links.iter().enumerate() {
            let [gateway, other] = link.ends.map(|end| end.point.0);
            if other == 0 {
                way(link.name.clone(), Carried::Link(SignallingLinkId(number)), 0, gateway - 1);
            }
        }
        for (number, link) in network.links.iter().enumerate() {
            let [gateway, other] = link.ends.map(|end| end.point.0);
            if other != 0 {
                way(link.name.clone(), Carried::Link(SignallingLinkId(number)), 1, gateway - 1);
            }
        }
        for asp in 0..self.processes() {
            for (number, own) in network.m3ua.associations.iter().enumerate() {
                if own.asp.0 == asp {
                    let name = format!("asp-{asp}-at-{}", own.gateway.0 + 1);
                    way(name, Carried::Adaptation(AdaptationId(number)), 1 + asp, own.gateway.0);
                }
            }
        }
        ways
    }
}

impl Way {
    /// The association as the side at a gateway or the other one sees it. The user's side opens it.
    fn at(&self, side: Side) -> SeatAssociation {
        let (own, far) = match side {
            Side::First => (&self.gateway, &self.user),
            Side::Second => (&self.user, &self.gateway),
        };
        SeatAssociation {
            name: self.name.clone(),
            carried: self.carried,
            port: ProgramConfig {
                sctp: self.patience.sctp(),
                local_addresses: own.addresses.clone(),
                local_port: self.port,
                peer: Some(Peer { addresses: far.addresses.clone(), port: self.port }),
            },
            opens: side == Side::Second,
            reopen_after: Duration::from_secs(1),
        }
    }
}

fn seat(
    network: &NetworkConfig,
    occupant: SignallingEntity,
    associations: Vec<SeatAssociation>,
) -> SeatConfig {
    SeatConfig {
        network: network.clone(),
        occupant,
        associations,
        loads: BTreeSet::new(),
        seed: SEED,
        patience: Duration::from_secs(5),
    }
}

/// A gateway as it is opened.
fn gateway(network: &NetworkConfig, ways: &[Way], number: usize) -> Recorded {
    let own = ways.iter().filter(|way| way.gateway.number == number);
    let addresses: Vec<IpAddr> = own.flat_map(|way| way.gateway.addresses.clone()).collect();
    let mut host = host_from(0, &addresses);
    let chance = SEED.stream(&format!("gateway {number}"));
    let config = of_gateway(network, ways, number);
    let program = Seat::open(Instant::START, config, &mut host, chance).unwrap();
    Recorded::new(Station { host, program })
}

fn of_gateway(network: &NetworkConfig, ways: &[Way], number: usize) -> SeatConfig {
    let own = ways.iter().filter(|way| way.gateway.number == number);
    let own = own.map(|way| way.at(Side::First)).collect();
    seat(network, SignallingEntity::Point(PointId(number + 1)), own)
}

/// Variant of a seat's settings from a file in which the application servers have another name.
fn renamed(network: &NetworkConfig, ways: &[Way], number: usize, name: &str) -> SeatConfig {
    let mut other = network.clone();
    other.m3ua.servers.iter_mut().for_each(|server| name.clone_into(&mut server.name));
    of_gateway(&other, ways, number)
}

impl Site {
    pub(crate) fn new(plan: &Plan) -> Self {
        let config = plan.network();
        let mut ways = plan.ways(&config);
        let queue = QueueConfig::DropTail(QueueLimit::Packets(100_000));
        let direction = DirectionConfig::new("1 Gbit/s".parse().unwrap(), "5 ms".parse().unwrap(), queue);
        let mut builder = NetworkBuilder::new();
        let bench = builder.host("bench");
        let gateways: Vec<NodeId> =
            (0..plan.gateways).map(|number| builder.host(&format!("gateway-{number}"))).collect();
        let mut interfaces = Vec::new();
        for (place, way) in ways.iter_mut().enumerate() {
            let gateway = way.gateway.number;
            for path in 0..PATHS {
                let name = format!("way-{place}-{path}");
                let (to, from) = (direction.clone(), direction.clone());
                let link = builder.link(&name, bench, gateways[gateway], to, from);
                builder.address(link.first(), way.user.addresses[path]);
                builder.address(link.second(), way.gateway.addresses[path]);
                interfaces.push(link.first());
                way.links.push(link);
            }
        }
        let seat = |occupant, associations| seat(&config, occupant, associations);
        let users = plan.users();
        let mut ends = Vec::new();
        let seats = users.iter().enumerate().map(|(number, user)| {
            let own = || ways.iter().filter(|way| way.user.number == number);
            BenchSeat {
                seat: seat(*user, own().map(|way| way.at(Side::Second)).collect()),
                addresses: own().flat_map(|way| way.user.addresses.clone()).collect(),
            }
        });
        let own = BenchConfig {
            seats: seats.collect(),
            sends: BTreeMap::from([(0, FarEnd::Here), (1, FarEnd::Here)]),
            follows: BTreeSet::new(),
            clocks: Clocks::Together,
        };
        let opened = TrafficBench::open(Instant::START, own, SEED.stream("bench")).unwrap();
        ends.push(End { kind: Kind::Bench(Box::new(opened)), interfaces });
        for number in 0..plan.gateways {
            let of_gateway = ways.iter().filter(|way| way.gateway.number == number);
            let interfaces = of_gateway.flat_map(|way| way.links.iter().map(|link| link.second())).collect();
            let own = gateway(&config, &ways, number);
            ends.push(End { kind: Kind::Gateway(Box::new(own)), interfaces });
        }
        let happened = vec![Vec::new(); plan.gateways + users.len()];
        let network = Network::new(builder.build().unwrap(), SEED, ends);
        Self { network, bench, gateways, ways, config, happened, users: users.len() }
    }

    pub(crate) fn run_until(&mut self, end: Instant) {
        self.network.run_until(end);
        for (place, node) in self.gateways.iter().enumerate() {
            let Kind::Gateway(own) = &mut self.network.host_mut(*node).kind else { continue };
            self.happened[place].extend(std::iter::from_fn(|| own.station.program.poll_happening()));
        }
        let first = self.gateways.len();
        let Kind::Bench(bench) = &mut self.network.host_mut(self.bench).kind else { return };
        for (seat, happened) in bench.seats().zip(&mut self.happened[first..]) {
            happened.extend(std::iter::from_fn(|| seat.poll_happening()));
        }
    }

    fn change(&mut self, at: Instant, way: usize, path: usize, change: &Change) {
        let link = self.ways[way].links[path];
        for direction in [link.forward(), link.reverse()] {
            self.network.change(at, direction, *change);
        }
    }

    /// Number of the association of a name.
    pub(crate) fn way(&self, name: &str) -> usize {
        self.ways.iter().position(|way| way.name == name).unwrap()
    }

    /// A path of an association is cut.
    pub(crate) fn cut_path(&mut self, at: Instant, way: usize, path: usize) {
        self.change(at, way, path, &Change::Down);
    }

    /// All paths of an association are cut.
    pub(crate) fn cut(&mut self, at: Instant, way: usize) {
        (0..PATHS).for_each(|path| self.cut_path(at, way, path));
    }

    /// All paths of an association are back.
    pub(crate) fn mend(&mut self, at: Instant, way: usize) {
        (0..PATHS).for_each(|path| self.change(at, way, path, &Change::Up));
    }

    /// So much of all packets is lost from now on.
    pub(crate) fn lose(&mut self, at: Instant, share: f64) {
        let share = Probability::new(share).unwrap();
        for way in 0..self.ways.len() {
            (0..PATHS).for_each(|path| self.change(at, way, path, &Change::Loss(share)));
        }
    }

    /// All paths have this rate from now on.
    pub(crate) fn narrow(&mut self, at: Instant, rate: &str) {
        let rate = Change::Rate(rate.parse().unwrap());
        for way in 0..self.ways.len() {
            (0..PATHS).for_each(|path| self.change(at, way, path, &rate));
        }
    }

    /// Names of all associations.
    pub(crate) fn names(&self) -> Vec<String> {
        self.ways.iter().map(|way| way.name.clone()).collect()
    }

    /// A gateway takes a file in which the application servers have other names.
    pub(crate) fn reload(&mut self, gateway: usize, name: &str) {
        let config = renamed(&self.config, &self.ways, gateway, name);
        self.network.command(self.gateways[gateway], |end, now| {
            let Kind::Gateway(own) = &mut end.kind else { unreachable!() };
            own.reload(now, name, config);
        });
    }

    /// A record of a gateway is kept, from the beginning on.
    pub(crate) fn record(&mut self, gateway: usize) {
        self.recorded(gateway).record();
    }

    pub(crate) fn end_record(&mut self, gateway: usize) -> Vec<u8> {
        let now = self.now();
        self.recorded(gateway).end_record(now)
    }

    /// A gateway once more, by its record alone.
    pub(crate) fn repeat(&self, number: usize, record: &[u8]) -> (Replayed, Recorded) {
        let mut again = gateway(&self.config, &self.ways, number);
        let replayed = again.repeat(record, |name| renamed(&self.config, &self.ways, number, name));
        (replayed, again)
    }

    /// A gateway is heard of no more.
    pub(crate) fn kill_gateway(&mut self, at: Instant, gateway: usize) {
        for way in 0..self.ways.len() {
            if self.ways[way].gateway.number == gateway {
                self.cut(at, way);
            }
        }
    }

    /// A process, by its number, is heard of no more.
    pub(crate) fn kill_process(&mut self, at: Instant, asp: usize) {
        for way in 0..self.ways.len() {
            if self.ways[way].user.number == asp + 1 {
                self.cut(at, way);
            }
        }
    }

    /// Fates of the messages of both loads.
    pub(crate) fn fates(&mut self) -> [Fate; 2] {
        let now = self.network.now();
        let Kind::Bench(bench) = &mut self.network.host_mut(self.bench).kind else {
            return <[Fate; 2]>::default();
        };
        [0, 1].map(|load| {
            let mut fate = Fate::default();
            for link in bench.load_reports(now, load) {
                fate.sent += link.report.sent;
                fate.lost += link.report.lost + link.report.outstanding;
                fate.repeated += link.report.repeated;
                fate.out_of_sequence += link.report.out_of_sequence;
            }
            fate
        })
    }

    /// Messages that gateways and users' entities have thrown away, whatever the cause.
    pub(crate) fn discards(&mut self) -> u64 {
        self.discards_where(|_| true)
    }

    /// Messages of some causes that were thrown away, whatever the layer.
    pub(crate) fn discards_of(&mut self, causes: &[&str]) -> u64 {
        self.discards_where(|cause| causes.contains(&cause))
    }

    fn discards_where(&mut self, is_counted: impl Fn(&str) -> bool) -> u64 {
        let now = self.network.now();
        let of = |station: &mut Station<Seat>| {
            let discards = station.program.status(now, &mut station.host).discards;
            let causes = discards.values().flatten();
            causes.filter(|(cause, _)| is_counted(cause.as_str())).map(|(_, count)| count).sum::<u64>()
        };
        let at_gateways: u64 = (0..self.gateways.len()).map(|number| of(self.gateway(number))).sum();
        let Kind::Bench(bench) = &mut self.network.host_mut(self.bench).kind else { unreachable!() };
        at_gateways + bench.stations().map(of).sum::<u64>()
    }

    /// Counts of an association at its gateway, and at its other side.
    pub(crate) fn counts(&mut self, way: usize) -> [AssociationCounts; 2] {
        let Way { name, gateway, user, .. } = self.ways[way].clone();
        let of = |seat: &Seat| {
            let report = seat.report();
            report.associations.into_iter().find(|(own, _)| *own == name).unwrap().1
        };
        let at_gateway = of(&self.gateway(gateway.number).program);
        let Kind::Bench(bench) = &mut self.network.host_mut(self.bench).kind else { unreachable!() };
        let seat = bench.seats().nth(user.number).unwrap();
        [at_gateway, of(seat)]
    }

    /// The user's side of an association reads what comes, or lets it fill its buffer.
    pub(crate) fn read(&mut self, way: usize, reads: bool) {
        const SOCKETS: u32 = 64;
        let Way { gateway, user, .. } = self.ways[way].clone();
        self.network.command(self.bench, |end, now| {
            let Kind::Bench(bench) = &mut end.kind else { unreachable!() };
            let host = &mut bench.stations().nth(user.number).unwrap().host;
            for socket in (0..SOCKETS).map(SocketId) {
                if host.peer(socket).is_some_and(|peer| gateway.addresses.contains(&peer.ip())) {
                    assert!(if reads { host.resume(now, socket) } else { host.pause(now, socket) });
                }
            }
        });
    }

    fn recorded(&mut self, number: usize) -> &mut Recorded {
        let node = self.gateways[number];
        let Kind::Gateway(own) = &mut self.network.host_mut(node).kind else { unreachable!() };
        own
    }

    /// Program of a gateway.
    pub(crate) fn gateway(&mut self, number: usize) -> &mut Station<Seat> {
        &mut self.recorded(number).station
    }

    pub(crate) fn now(&self) -> Instant {
        self.network.now()
    }

    /// Happenings at a gateway.
    pub(crate) fn at_gateway(&self, number: usize) -> &[Happening] {
        &self.happened[number]
    }

    /// Happenings at a seat of the bench: the exchange is the first.
    pub(crate) fn at_user(&self, number: usize) -> &[Happening] {
        assert!(number < self.users);
        &self.happened[self.gateways.len() + number]
    }
}
