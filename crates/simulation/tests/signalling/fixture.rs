//! Points in a row, their links, and the packet network that carries the associations.

use slantpath_applications::{AssociationConfig, Associations, Host};
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_host::Peer;
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, QueueConfig, QueueLimit};
use slantpath_sctp::SctpConfig;
use slantpath_signalling::ScreeningConfig;
use slantpath_signalling::network::{
    self, AssociationSide, Carried, LineConfig, LinkCarrier, LinkChange, LoadConfig, ManagementChange,
    NetworkConfig, PointEnd, PointId, Side, SignallingLinkId, UserPlace,
};
use slantpath_sigtran::m2pa;
use slantpath_simulation::{AssociationPlace, SignallingNetwork, SignallingSimulation};
use slantpath_ss7::load::{self, ByCode, GeneratorConfig, Lengths, Report, Selection};
use slantpath_ss7::mtp3::node::{self, LinkSetConfig, Mtp3LinkId, Procedure, SequenceNumbers};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation, Slc};
use slantpath_ss7::{PointCode, mtp2};

pub(crate) const KBIT_64: DataRate = DataRate::from_bits_per_sec(64_000);

pub(crate) fn code(point: usize) -> PointCode {
    PointCode(u32::try_from(point).unwrap() + 1)
}

/// A point with link sets of so many links to these others.
pub(crate) fn point(number: usize, sets: &[(usize, u8, SequenceNumbers)]) -> network::PointConfig {
    let mut mtp3 = node::Config::new(&format!("point-{number}"), code(number));
    // Traffic need not wait a minute for T20 at the start.
    mtp3.restart = Procedure::Omitted;
    for &(adjacent, links, sequence) in sets {
        let link = |slc: u8| node::LinkConfig { name: format!("link-{slc}"), slc: Slc(slc), sequence };
        mtp3.link_sets.push(LinkSetConfig {
            name: format!("to-{adjacent}"),
            adjacent: code(adjacent),
            links: (0..links).map(link).collect(),
        });
    }
    network::PointConfig { mtp3, sccp: None, processor: None, screening: ScreeningConfig::default() }
}

/// Link `number` between the first two points.
pub(crate) fn link(number: u16, carrier: LinkCarrier) -> network::LinkConfig {
    let end = |point: usize| PointEnd { point: PointId(point), link: Mtp3LinkId(number) };
    network::LinkConfig { name: format!("link-{number}"), ends: [end(0), end(1)], carrier }
}

pub(crate) fn line(delay: &str, bit_error_rate: f64) -> LinkCarrier {
    LinkCarrier::Line(LineConfig {
        terminal: mtp2::Config::default(),
        delay: delay.parse().unwrap(),
        bit_error_rate,
    })
}

/// Messages of 60 octets by destination point code.
pub(crate) fn load(links: u16, erlang: f64, from: &str, to: &str) -> LoadConfig {
    let at = |text: &str| Instant::START + text.parse::<Duration>().unwrap();
    let routing =
        load::Routing::PointCode(ByCode { destinations: vec![code(1)], service: ServiceIndicator::ISUP });
    LoadConfig {
        name: "load".to_owned(),
        from: UserPlace::Point(PointId(0)),
        generator: GeneratorConfig {
            links,
            first_link: 0,
            erlang_per_link: erlang,
            steps: Vec::new(),
            line_rate: KBIT_64,
            lengths: Lengths::Fixed(60),
            selection: Selection::Link,
            arrivals: load::Arrivals::Poisson,
            routing,
            origin: code(0),
            service: ServiceInformation {
                indicator: ServiceIndicator::ISUP,
                network: NetworkIndicator::International,
                priority: 0,
            },
            start: at(from),
            stop: at(to),
        },
        destinations: vec![code(1)],
        subsystem: None,
        give_up_after: Duration::from_secs(30),
    }
}

pub(crate) struct Run {
    pub(crate) simulation: SignallingSimulation,
    pub(crate) network: Network<Host>,
}

pub(crate) type Script<'a> = &'a [(&'a str, usize, LinkChange)];

/// Runs a network; links of M2PA go over one packet link between two hosts.
pub(crate) fn run(
    config: NetworkConfig,
    packet_link: &DirectionConfig,
    script: Script<'_>,
    end: &str,
) -> Run {
    let mut run = start(config, &SctpConfig::default(), packet_link, script);
    run.until(end);
    run
}

/// Network of [`run`] before its first event.
pub(crate) fn start(
    config: NetworkConfig,
    sctp: &SctpConfig,
    packet_link: &DirectionConfig,
    script: Script<'_>,
) -> Run {
    let seed = Seed::new(1, 0);
    let associations: Vec<SignallingLinkId> = (0..config.links.len())
        .filter(|number| matches!(config.links[*number].carrier, LinkCarrier::Association(_)))
        .map(SignallingLinkId)
        .collect();
    let signalling = SignallingNetwork::new(config, seed).unwrap();
    let mut builder = NetworkBuilder::new();
    let nodes = [builder.host("first"), builder.host("second")];
    let link = builder.link("satellite", nodes[0], nodes[1], packet_link.clone(), packet_link.clone());
    let addresses = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
    builder.address(link.first(), addresses[0]).address(link.second(), addresses[1]);
    let graph = builder.build().unwrap();
    let interfaces = [link.first(), link.second()];
    let mut hosts = [0, 1].map(|end: usize| {
        let mut host = Host::new(vec![(addresses[end], interfaces[end])]);
        host.add_route(addresses[1 - end], interfaces[end]).unwrap();
        host
    });
    let mut places = Vec::new();
    for link in associations {
        let port = 3_565 + u16::try_from(link.0).unwrap();
        for side in Side::BOTH {
            let end = side as usize;
            let peer = (side == Side::First).then(|| Peer { addresses: vec![addresses[1]], port });
            let config = AssociationConfig {
                sctp: Box::new(sctp.clone()),
                local_addresses: vec![addresses[end]],
                local_port: port,
                peer,
                reopen_after: Duration::from_secs(1),
                sample_paths: None,
                measures_delay: false,
            };
            let association =
                hosts[end].add_association(&config, seed, &format!("signalling/links/{}/{end}", link.0));
            places.push(AssociationPlace {
                end: AssociationSide { carried: Carried::Link(link), side },
                node: nodes[end],
                association,
            });
        }
    }
    let at = |text: &str| Instant::START + text.parse::<Duration>().unwrap();
    let script = script
        .iter()
        .map(|(when, link, change)| (at(when), ManagementChange::Link(SignallingLinkId(*link), *change)));
    let network = Network::new(graph, seed, hosts.into());
    Run { simulation: SignallingSimulation::new(signalling, places, script.collect()), network }
}

pub(crate) fn direction(rate: &str, delay: &str) -> DirectionConfig {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
    DirectionConfig::new(rate.parse().unwrap(), delay.parse().unwrap(), queue)
}

pub(crate) fn m2pa() -> LinkCarrier {
    LinkCarrier::Association(m2pa::LinkConfig::default())
}

impl Run {
    pub(crate) fn until(&mut self, end: &str) {
        let end = Instant::START + end.parse::<Duration>().unwrap();
        self.simulation.run_until(&mut self.network, end);
    }

    /// The reports of the first load, one a link.
    pub(crate) fn reports(&mut self) -> Vec<Report> {
        let now = self.network.now();
        let reports = self.simulation.signalling_mut().load_reports(now, 0);
        reports.into_iter().map(|report| report.report).collect()
    }
}

/// Sent is delivered, late, lost and outstanding; returns the sums of sent, lost, repeated and out of sequence.
pub(crate) fn settle(reports: &[Report]) -> [u64; 4] {
    let mut sums = [0; 4];
    for report in reports {
        let settled = report.delivered + report.late + report.lost;
        assert_eq!(report.sent, settled + report.outstanding, "{report:?}");
        assert_eq!(report.unknown, 0);
        let cells = [report.sent, report.lost + report.outstanding, report.repeated, report.out_of_sequence];
        sums.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
    }
    sums
}
