//! A gateway between a line of SS7 and application server processes over SCTP.

use slantpath_applications::{AssociationConfig, Associations, Host};
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_host::Peer;
use slantpath_net::{Network, NetworkBuilder};
use slantpath_sctp::SctpConfig;
use slantpath_signalling::network::{
    self, AdaptationConfig, AdaptationId, AspId, AssociationSide, Carried, GatewayId, LinkChange, LoadConfig,
    M3uaConfig, ManagementChange, NetworkConfig, PointId, ServedPointId, ServerRegistration, Side,
    SignallingLinkId, SignallingProcess, UserPlace,
};
use slantpath_signalling::{M3uaEventKind as Kind, ProcessChange};
use slantpath_sigtran::asp::{self, AsState, AspState, ProcessConfig, Status, TrafficMode};
use slantpath_sigtran::m3ua::{self, QueueLimits};
use slantpath_simulation::{AssociationPlace, SignallingNetwork, SignallingSimulation};
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::load::{ByCode, Report};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::mtp3::node::{self, CongestionMethod, DestinationConfig, Function, SequenceNumbers};

use crate::fixture::{code, direction, line, link, load, point, settle};

/// The code of the point behind the gateway: after the exchange and the gateway.
const BEHIND: usize = 2;
const GATEWAY: SignallingProcess = SignallingProcess::Gateway(GatewayId(0));

/// An exchange with a line to a gateway, and two processes of one application server; load both ways.
fn config(traffic_mode: TrafficMode) -> NetworkConfig {
    let mut exchange = point(0, &[(1, 1, SequenceNumbers::Bits7)]);
    let route = node::RouteConfig { link_set: "to-1".to_owned(), priority: 0 };
    exchange.mtp3.destinations = vec![DestinationConfig { point_code: code(BEHIND), routes: vec![route] }];
    let mut gateway = point(1, &[(0, 1, SequenceNumbers::Bits7)]);
    gateway.mtp3.function = Function::TransferPoint;
    gateway.mtp3.served = vec![code(BEHIND)];
    let process = |name: &str| network::AspConfig {
        name: name.to_owned(),
        process: ProcessConfig::default(),
        audit: Duration::from_secs(30),
    };
    let m3ua = M3uaConfig {
        gateways: vec![network::GatewayConfig {
            point: PointId(1),
            name: "gateway".to_owned(),
            gateway: asp::GatewayConfig::default(),
            queue: QueueLimits::default(),
            format: PointCodeFormat::Itu,
            dynamic_servers: 0,
        }],
        asps: vec![process("a"), process("b")],
        points: vec![network::ServedPointConfig {
            name: "behind".to_owned(),
            code: code(BEHIND),
            sccp: None,
        }],
        servers: vec![network::ServerConfig {
            name: "server".to_owned(),
            routing_context: 100,
            network_appearance: None,
            point: ServedPointId(0),
            opcs: Vec::new(),
            services: vec![ServiceIndicator::ISUP.value()],
            traffic_mode,
            needed_active: 1,
            asps: vec![AspId(0), AspId(1)],
            registration: ServerRegistration::Static,
        }],
        associations: vec![
            AdaptationConfig { gateway: GatewayId(0), asp: AspId(0) },
            AdaptationConfig { gateway: GatewayId(0), asp: AspId(1) },
        ],
    };
    let (there, back) = (load(4, 0.1, "25 s", "80 s"), load(4, 0.1, "25 s", "80 s"));
    let to = |load: &LoadConfig, name: &str, from, origin: usize, destination: usize| {
        let mut load = LoadConfig { name: name.to_owned(), from, ..load.clone() };
        load.generator.origin = code(origin);
        load.generator.routing = slantpath_ss7::load::Routing::PointCode(ByCode {
            destinations: vec![code(destination)],
            service: ServiceIndicator::ISUP,
        });
        load.destinations = vec![code(destination)];
        load
    };
    NetworkConfig {
        points: vec![exchange, gateway],
        links: vec![link(0, line("5 ms", 0.0))],
        m3ua,
        loads: vec![
            to(&there, "there", UserPlace::Point(PointId(0)), 0, BEHIND),
            to(&back, "back", UserPlace::Served(ServedPointId(0)), BEHIND, 0),
        ],
    }
}

struct Run {
    simulation: SignallingSimulation,
    network: Network<Host>,
}

impl Run {
    fn reports(&mut self, load: usize) -> Vec<Report> {
        let now = self.network.now();
        let reports = self.simulation.signalling_mut().load_reports(now, load);
        reports.into_iter().map(|report| report.report).collect()
    }

    /// Sent, lost, repeated and out of sequence of both loads.
    fn settle(&mut self) -> [[u64; 4]; 2] {
        [0, 1].map(|load| settle(&self.reports(load)))
    }

    /// Events of one kind, with their times.
    fn times(&self, process: SignallingProcess, kind: Kind) -> Vec<Duration> {
        let events = self.simulation.signalling().adaptation_events().iter();
        let own = events.filter(|event| event.process == process && event.kind == kind);
        own.map(|event| event.at - Instant::START).collect()
    }

    /// Number of DATA messages that each process was given.
    fn data_received(&self) -> [u64; 2] {
        [0, 1].map(|number| {
            self.simulation.signalling().adaptation_tally(AdaptationId(number), Side::Second).data_received
        })
    }

    fn dropped(&self, process: SignallingProcess, reason: m3ua::DropReason) -> u64 {
        self.simulation.signalling().m3ua_counters(process).0.dropped(reason)
    }

    /// Everything that came to a gateway or a process went on, was dropped for a reason, or waits.
    fn balance(&self) {
        for process in [GATEWAY, SignallingProcess::Asp(AspId(0)), SignallingProcess::Asp(AspId(1))] {
            let (counters, waiting) = self.simulation.signalling().m3ua_counters(process);
            let came = counters.received + counters.requested;
            let went = counters.forwarded + counters.indicated + counters.dropped_in_all();
            assert_eq!(came, went + u64::try_from(waiting).unwrap(), "{process:?}: {counters:?}");
        }
    }
}

fn run(config: NetworkConfig, delay: &str, script: &[(&str, ManagementChange)], end: &str) -> Run {
    let seed = Seed::new(1, 0);
    let signalling = SignallingNetwork::new(config, seed).unwrap();
    let mut builder = NetworkBuilder::new();
    let nodes = [builder.host("gateway"), builder.host("a"), builder.host("b")];
    let (mut hosts, mut places) = (Vec::new(), Vec::new());
    let ways: Vec<_> = [1, 2]
        .map(|end: usize| {
            let way = direction("2 Mbit/s", delay);
            let link = builder.link(["", "to-a", "to-b"][end], nodes[0], nodes[end], way.clone(), way);
            let addresses = [0, 1].map(|side| format!("10.0.{end}.{}", side + 1).parse().unwrap());
            builder.address(link.first(), addresses[0]).address(link.second(), addresses[1]);
            (link, addresses)
        })
        .into();
    let graph = builder.build().unwrap();
    hosts.push(Host::new(ways.iter().map(|(link, [own, _])| (*own, link.first())).collect()));
    for (link, [gateway, own]) in &ways {
        hosts[0].add_route(*own, link.first()).unwrap();
        let mut host = Host::new(vec![(*own, link.second())]);
        host.add_route(*gateway, link.second()).unwrap();
        hosts.push(host);
    }
    for (number, (_, addresses)) in ways.iter().enumerate() {
        let port = 2_905 + u16::try_from(number).unwrap();
        for side in Side::BOTH {
            let peer = (side == Side::Second).then(|| Peer { addresses: vec![addresses[0]], port });
            let config = AssociationConfig {
                sctp: Box::new(SctpConfig { outbound_streams: 17, ..SctpConfig::default() }),
                local_addresses: vec![addresses[side as usize]],
                local_port: port,
                peer,
                reopen_after: Duration::from_secs(1),
                sample_paths: None,
                measures_delay: false,
            };
            let node = if side == Side::First { 0 } else { number + 1 };
            let association = hosts[node].add_association(&config, seed, &format!("{number}/{node}"));
            let end = AssociationSide { carried: Carried::Adaptation(AdaptationId(number)), side };
            places.push(AssociationPlace { end, node: nodes[node], association });
        }
    }
    let at = |text: &str| Instant::START + text.parse::<Duration>().unwrap();
    let script = script.iter().map(|(when, change)| (at(when), *change)).collect();
    let mut network = Network::new(graph, seed, hosts);
    let mut simulation = SignallingSimulation::new(signalling, places, script);
    simulation.run_until(&mut network, at(end));
    Run { simulation, network }
}

const fn process(number: usize, change: ProcessChange) -> ManagementChange {
    ManagementChange::Process(AspId(number), change)
}

fn times_of_data(rate: DataRate, octets: u64) -> Duration {
    Duration::from_secs_f64(8.0 * octets as f64 / rate.as_bits_per_sec() as f64)
}

#[test]
fn processes_share_the_load_and_every_message_arrives_once_and_in_turn() {
    let mut run = run(config(TrafficMode::Loadshare), "20 ms", &[], "100 s");
    let [[there, lost @ ..], [back, lost_back @ ..]] = run.settle();
    assert!(there > 1_500 && back > 1_500, "{there} {back}");
    assert_eq!((lost, lost_back), ([0; 3], [0; 3]));
    // Link selections 0 to 3 take turns.
    let shares = run.data_received();
    assert!(shares.iter().all(|share| *share > there / 3), "{shares:?}");
    run.balance();
    for report in run.reports(0) {
        // The line with its own serialisation, then the association.
        let least = Duration::from_millis(25) + times_of_data(crate::fixture::KBIT_64, 60);
        assert!(report.delay_min.unwrap() >= least, "{report:?}");
    }
}

#[test]
fn in_override_mode_the_other_process_takes_over_and_gives_back() {
    let script = [("40 s", process(0, ProcessChange::Fail)), ("55 s", process(0, ProcessChange::Restore))];
    let mut run = run(config(TrafficMode::Override), "20 ms", &script, "100 s");
    let [[_, lost, repeated, misplaced], [_, lost_back, ..]] = run.settle();
    // What the dead process had been sent and not read is gone; what came after waited for the other.
    assert!(lost <= 8 && lost_back <= 8, "{lost} {lost_back}");
    assert_eq!((repeated, misplaced), (0, 0));
    let seen = |kind| run.times(GATEWAY, kind);
    let between = |times: Vec<Duration>, from: u64, to: u64| {
        times.iter().filter(|at| (Duration::from_secs(from)..Duration::from_secs(to)).contains(at)).count()
    };
    assert_eq!(between(seen(Kind::As(AsState::Pending)), 40, 41), 1);
    assert_eq!(between(seen(Kind::As(AsState::Active)), 40, 41), 1);
    assert_eq!(
        run.times(SignallingProcess::Asp(AspId(1)), Kind::Notified(Status::ALTERNATE_ASP_ACTIVE)).len(),
        1
    );
    assert_eq!(between(run.times(SignallingProcess::Asp(AspId(0)), Kind::Asp(AspState::Active)), 55, 57), 1);
    let [first, second] = run.data_received();
    assert!(first > second && second > 300, "{first} {second}");
    run.balance();
}

#[test]
fn when_nobody_comes_back_what_waited_is_dropped_and_the_network_told() {
    let script = [
        ("40 s", process(0, ProcessChange::Fail)),
        ("40 s", process(1, ProcessChange::Fail)),
        ("60 s", process(1, ProcessChange::Restore)),
    ];
    let mut run = run(config(TrafficMode::Loadshare), "20 ms", &script, "100 s");
    let [[_, lost, ..], [_, lost_back, ..]] = run.settle();
    let expired = run.dropped(GATEWAY, m3ua::DropReason::RecoveryExpired);
    // T(r) of 2 s at 53 messages a second.
    assert!((80..120).contains(&expired), "{expired}");
    assert!(lost > expired + 300 && lost_back > 300, "{lost} {lost_back}");
    let refused: u64 = run.reports(0).iter().map(|report| report.refused).sum();
    // After TFP the exchange sends no more, so that nearly all that is lost was refused there.
    assert!(refused + expired + 10 >= lost, "{refused} and {expired} of {lost}");
    let back: u64 = run.reports(1).iter().map(|report| report.refused).sum();
    assert!(back + 10 >= lost_back, "{back} of {lost_back}");
    let unavailable = run.reports(0)[0].unavailable;
    assert!((Duration::from_secs(17)..Duration::from_secs(20)).contains(&unavailable), "{unavailable}");
    run.balance();
}

#[test]
fn processes_hear_of_what_the_ss7_side_loses_and_finds() {
    let line = |change| ManagementChange::Link(SignallingLinkId(0), change);
    let script = [("40 s", line(LinkChange::Fail)), ("50 s", line(LinkChange::Restore))];
    let mut run = run(config(TrafficMode::Loadshare), "20 ms", &script, "100 s");
    for asp in [0, 1].map(|number| SignallingProcess::Asp(AspId(number))) {
        let pauses = run.times(asp, Kind::Pause(code(0)));
        let resumes = run.times(asp, Kind::Resume(code(0)));
        assert_eq!((pauses.len(), resumes.len()), (1, 2), "{pauses:?} {resumes:?}");
        assert!((40.0..41.0).contains(&pauses[0].as_secs_f64()), "{pauses:?}");
        assert!(resumes[1] > Duration::from_millis(50_500), "emergency alignment comes first: {resumes:?}");
    }
    let [[_, lost, ..], [_, lost_back, ..]] = run.settle();
    assert!(lost > 300 && lost_back > 300, "{lost} {lost_back}");
    let refused: u64 = run.reports(1).iter().map(|report| report.refused).sum();
    assert!(refused + 10 >= lost_back, "{refused} of {lost_back}");
    run.balance();
}

/// The load of the processes is twice what the line to the exchange takes. An international network tells of it again
/// and again while it lasts, and keeps no status (RFC 4666, section 4.5.3); a national one tells its end, too.
#[test]
fn processes_hear_of_congestion_as_their_network_tells_of_it() {
    for (method, indicates_the_end) in
        [(CongestionMethod::International, false), (CongestionMethod::National, true)]
    {
        let mut config = config(TrafficMode::Loadshare);
        for point in &mut config.points {
            point.mtp3.congestion = method;
        }
        config.loads.remove(0);
        config.loads[0].generator.erlang_per_link = 0.5;
        let mut run = run(config, "20 ms", &[], "140 s");
        let asp = SignallingProcess::Asp(AspId(0));
        let onsets = run.times(asp, Kind::Congestion(code(0), 1));
        assert!(onsets[0] < Duration::from_secs(80), "{method:?}: {onsets:?}");
        let ends = run.times(asp, Kind::Congestion(code(0), 0));
        assert_eq!(!ends.is_empty(), indicates_the_end, "{method:?}: {ends:?}");
        if !indicates_the_end {
            let again = onsets.iter().filter(|at| (40.0..80.0).contains(&at.as_secs_f64())).count();
            assert!(again > 10, "indicated {again} times");
            assert!(
                onsets.last().unwrap() < &Duration::from_secs(120),
                "the line is empty by then: {onsets:?}"
            );
        }
        let report = &run.reports(0)[0];
        assert!(report.sent > 0, "{report:?}");
        run.balance();
    }
}

#[test]
fn broadcast_gives_every_message_to_both_and_repeats_are_the_copies() {
    let mut run = run(config(TrafficMode::Broadcast), "20 ms", &[], "100 s");
    let [[there, lost, repeated, misplaced], [_, rest @ ..]] = run.settle();
    assert_eq!((lost, repeated, misplaced, rest), (0, there, 0, [0; 3]));
    assert_eq!(run.data_received(), [there, there]);
}

#[test]
fn a_process_that_management_deactivates_leaves_its_traffic_to_the_other() {
    let script =
        [("40 s", process(0, ProcessChange::Deactivate)), ("50 s", process(0, ProcessChange::Activate))];
    let mut run = run(config(TrafficMode::Loadshare), "20 ms", &script, "100 s");
    let [[_, lost, repeated, _], [_, lost_back, repeated_back, _]] = run.settle();
    assert_eq!((repeated, repeated_back), (0, 0));
    // What was on its way to the process when it became inactive is thrown away there, and counted.
    let dropped = run.dropped(SignallingProcess::Asp(AspId(0)), m3ua::DropReason::AspNotActive);
    assert_eq!((lost, lost_back), (dropped, 0));
    run.balance();
}
