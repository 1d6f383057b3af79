//! Signalling networks in the simulator, from load to account: how much a message costs beside others, and beside
//! what is idle.

use slantpath_applications::{AssociationConfig, Associations, Host};
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_host::Peer;
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit};
use slantpath_sctp::SctpConfig;
use slantpath_signalling::ScreeningConfig;
use slantpath_signalling::network::{
    self, AssociationSide, Carried, LineConfig, LinkCarrier, LoadConfig, NetworkConfig, PointEnd, PointId,
    Side, SignallingLinkId, UserPlace,
};
use slantpath_sigtran::m2pa;
use slantpath_simulation::{AssociationPlace, SignallingNetwork, SignallingSimulation};
use slantpath_ss7::load::{self, ByCode, GeneratorConfig, Lengths, Selection};
use slantpath_ss7::mtp3::node::{self, LinkSetConfig, Mtp3LinkId, Procedure, SequenceNumbers};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation, Slc};
use slantpath_ss7::{PointCode, mtp2};

use crate::rounds::{Contestant, Failure, Work, medians};
use crate::table::{Row, Table};

const ROUNDS: usize = 5;

/// Least number of MSUs per CPU second that M2PA between two hosts is to carry, for each core.
const REQUIRED_MSUS: f64 = 100_000.0;

const LINE_RATE: DataRate = DataRate::from_bits_per_sec(64_000);
/// Octets of a message on the line.
const OCTETS: u8 = 60;
/// Links align before the load begins.
const LOAD_BEGINS: Instant = Instant::from_secs(20);

/// Carrier of the links of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// M2PA, all between the same two hosts; 2,000 messages a second in all.
    Associations,
    /// Lines of MTP2; 300 messages a second in all.
    Lines,
}

/// Pairs of points under a load that is the same however many share it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Carrier of the links.
    pub by: By,
    /// Pairs under load, each with four links.
    pub pairs: usize,
    /// Pairs with a link each and without load.
    pub idle_pairs: usize,
    /// Simulated time of the case.
    pub duration: Duration,
}

impl Case {
    const fn links(self, pair: usize) -> u8 {
        if pair < self.pairs { 4 } else { 1 }
    }

    fn config(self) -> NetworkConfig {
        let mut config = NetworkConfig::default();
        let stop = Instant::START + self.duration - Duration::from_secs(5);
        let messages_per_second = match self.by {
            By::Associations => 2_000.0,
            By::Lines => 300.0,
        };
        for pair in 0..self.pairs + self.idle_pairs {
            let (first, second, links) = (2 * pair, 2 * pair + 1, self.links(pair));
            config.points.extend([self.point(first, second, links), self.point(second, first, links)]);
            config.links.extend((0..links).map(|link| self.link(pair, link)));
            if pair < self.pairs {
                let rate = messages_per_second / self.pairs as f64 / f64::from(links);
                config.loads.push(load(pair, links, rate, stop));
            }
        }
        config
    }

    fn point(self, number: usize, adjacent: usize, links: u8) -> network::PointConfig {
        let mut mtp3 = node::Config::new(&format!("point-{number}"), code(number));
        mtp3.restart = Procedure::Omitted;
        let sequence = match self.by {
            By::Associations => SequenceNumbers::Bits24,
            By::Lines => SequenceNumbers::Bits7,
        };
        let link = |slc: u8| node::LinkConfig { name: format!("link-{slc}"), slc: Slc(slc), sequence };
        mtp3.link_sets.push(LinkSetConfig {
            name: format!("to-{adjacent}"),
            adjacent: code(adjacent),
            links: (0..links).map(link).collect(),
        });
        network::PointConfig { mtp3, sccp: None, processor: None, screening: ScreeningConfig::default() }
    }

    fn link(self, pair: usize, link: u8) -> network::LinkConfig {
        let end = |point| PointEnd { point: PointId(point), link: Mtp3LinkId(link.into()) };
        let carrier = match self.by {
            By::Associations => LinkCarrier::Association(m2pa::LinkConfig::default()),
            By::Lines => LinkCarrier::Line(LineConfig {
                terminal: mtp2::Config::default(),
                delay: Duration::from_millis(5),
                bit_error_rate: 0.0,
            }),
        };
        network::LinkConfig {
            name: format!("link-{pair}-{link}"),
            ends: [end(2 * pair), end(2 * pair + 1)],
            carrier,
        }
    }

    /// Runs the case, and says how many messages were delivered.
    ///
    /// # Errors
    /// If a message is lost, or the network cannot be made.
    pub fn run(self) -> Result<u64, Failure> {
        let (seed, config) = (Seed::new(1, 0), self.config());
        let (links, loads) = (config.links.len(), config.loads.len());
        let associations = if self.by == By::Associations { links } else { 0 };
        let signalling = SignallingNetwork::new(config, seed)?;
        let (mut network, places) = packet_network(associations, seed)?;
        let mut simulation = SignallingSimulation::new(signalling, places, Vec::new());
        let end = Instant::START + self.duration;
        simulation.run_until(&mut network, end);
        let reports = (0..loads).flat_map(|load| simulation.signalling_mut().load_reports(end, load));
        let (mut sent, mut delivered) = (0, 0);
        for report in reports {
            sent += report.report.sent;
            delivered += report.report.delivered;
        }
        if delivered != sent || sent == 0 {
            return Err(format!("{delivered} of {sent} messages arrived").into());
        }
        Ok(delivered)
    }
}

fn code(point: usize) -> PointCode {
    PointCode(u32::try_from(point + 1).unwrap_or(u32::MAX))
}

/// Messages from the first to the second point of a pair, so many a second for each link.
fn load(pair: usize, links: u8, rate: f64, stop: Instant) -> LoadConfig {
    let (from, to) = (2 * pair, code(2 * pair + 1));
    LoadConfig {
        name: format!("load-{pair}"),
        from: UserPlace::Point(PointId(from)),
        generator: GeneratorConfig {
            links: links.into(),
            first_link: 0,
            erlang_per_link: rate * f64::from(OCTETS) * 8.0 / LINE_RATE.as_bits_per_sec() as f64,
            steps: Vec::new(),
            line_rate: LINE_RATE,
            lengths: Lengths::Fixed(OCTETS.into()),
            selection: Selection::Link,
            arrivals: load::Arrivals::Poisson,
            routing: load::Routing::PointCode(ByCode {
                destinations: vec![to],
                service: ServiceIndicator::ISUP,
            }),
            origin: code(from),
            service: ServiceInformation {
                indicator: ServiceIndicator::ISUP,
                network: NetworkIndicator::International,
                priority: 0,
            },
            start: LOAD_BEGINS,
            stop,
        },
        destinations: vec![to],
        subsystem: None,
        give_up_after: Duration::from_secs(30),
    }
}

/// Two hosts with a link of 100 Mbit/s and 5 ms between them, and both ends of so many associations.
fn packet_network(
    associations: usize,
    seed: Seed,
) -> Result<(Network<Host>, Vec<AssociationPlace>), Failure> {
    let mut builder = NetworkBuilder::new();
    let nodes: [NodeId; 2] = [builder.host("first"), builder.host("second")];
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
    let way = DirectionConfig::new(DataRate::from_bits_per_sec(100_000_000), Duration::from_millis(5), queue);
    let link = builder.link("between", nodes[0], nodes[1], way.clone(), way);
    let addresses = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
    let interfaces = [link.first(), link.second()];
    builder.address(interfaces[0], addresses[0]).address(interfaces[1], addresses[1]);
    let graph = builder.build()?;
    let mut hosts = Vec::new();
    for end in [0, 1] {
        let mut host = Host::new(vec![(addresses[end], interfaces[end])]);
        host.add_route(addresses[1 - end], interfaces[end])?;
        hosts.push(host);
    }
    let mut places = Vec::new();
    for (number, port) in (0..associations).zip(3_565..) {
        for side in Side::BOTH {
            let own = side as usize;
            let peer = (side == Side::First).then(|| Peer { addresses: vec![addresses[1]], port });
            let config = AssociationConfig {
                sctp: Box::new(SctpConfig::default()),
                local_addresses: vec![addresses[own]],
                local_port: port,
                peer,
                reopen_after: Duration::from_secs(1),
                sample_paths: None,
                measures_delay: false,
            };
            let association = hosts[own].add_association(&config, seed, &format!("{number}/{own}"));
            let end = AssociationSide { carried: Carried::Link(SignallingLinkId(number)), side };
            places.push(AssociationPlace { end, node: nodes[own], association });
        }
    }
    Ok((Network::new(graph, seed, hosts), places))
}

/// Measures the cost of a message over 60 lines where there were 4, and beside 320 idle pairs of points.
///
/// # Errors
/// If a message is lost.
pub fn lines() -> Result<Table, Failure> {
    let of =
        |pairs, idle_pairs| Case { by: By::Lines, pairs, idle_pairs, duration: Duration::from_secs(420) };
    let cases = [("4 lines", of(1, 0)), ("60 lines", of(15, 0)), ("320 idle pairs", of(1, 320))];
    let mut contestants = cases.map(contestant);
    let speeds = medians(&mut contestants, ROUNDS)?;
    let row = |case: &str, ours| {
        let peer = Some(("4 lines".to_owned(), speeds[0]));
        Row { case: case.to_owned(), ours, peer }
    };
    let rows = vec![row("60 lines of MTP2", speeds[1]), row("4 lines beside 320 idle pairs", speeds[2])];
    Ok(Table { unit: "messages from load to account".into(), rows })
}

/// M2PA between two hosts, with what one core is to carry at least beside it.
///
/// # Errors
/// If a message is lost.
pub fn associations() -> Result<Table, Failure> {
    let of = |pairs| Case { by: By::Associations, pairs, idle_pairs: 0, duration: Duration::from_secs(60) };
    let mut contestants = [("4 links", of(1)), ("60 links", of(15))].map(contestant);
    let speeds = medians(&mut contestants, ROUNDS)?;
    let row = |case: &str, ours| {
        let peer = Some(("required".to_owned(), REQUIRED_MSUS));
        Row { case: case.to_owned(), ours, peer }
    };
    let rows = vec![row("4 links of M2PA", speeds[0]), row("60 links of M2PA", speeds[1])];
    Ok(Table { unit: "messages from load to account".into(), rows })
}

fn contestant((name, case): (&'static str, Case)) -> Contestant<'static> {
    let work = move || Ok(Work::Here { units: case.run()? as f64 });
    Contestant { name, work: Box::new(work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_every_case_arrives() {
        for (by, pairs, idle_pairs) in [(By::Lines, 2, 3), (By::Associations, 2, 0)] {
            let case = Case { by, pairs, idle_pairs, duration: Duration::from_secs(30) };
            let delivered = case.run().expect("no message is lost");
            let expected = match by {
                By::Associations => 9_000..11_000,
                By::Lines => 1_300..1_700,
            };
            assert!(expected.contains(&delivered), "{delivered}");
        }
    }
}
