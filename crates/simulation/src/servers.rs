//! Parts above M3UA: application server processes, the points that they serve, and the choice of the process that a
//! message leaves by.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_signalling::{self as signalling, ServedPoint, ServerProcess, ServerProcessInput};
use slantpath_sigtran::m3ua::NetworkPoint;
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use slantpath_signalling::network::{
    self, AdaptationId, AspId, NetworkConfig, NetworkConfigError, ServedPointId, ServerId,
};

#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) processes: Vec<ServerProcess>,
    pub(crate) points: Vec<Served>,
    /// Points that each process serves.
    served_by: Vec<Vec<ServedPointId>>,
    /// Application servers, by their routing contexts.
    by_context: BTreeMap<u32, ServerId>,
}

/// A served point with the processes that serve it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) point: ServedPoint,
    /// Messages that came to a user and belong to no load.
    pub(crate) of_no_load: u64,
    /// The network of the point's codes.
    network: Option<u32>,
    /// By which processes its messages may leave: in the order of application servers, and in theirs.
    exits: Vec<Exit>,
}

/// A process in one of the application servers of a point.
#[derive(Clone, Debug)]
struct Exit {
    process: AspId,
    routing_context: u32,
    /// Only these service indicators; any if there is none.
    services: Vec<u8>,
}

impl Servers {
    pub(crate) fn new(network: &NetworkConfig) -> Result<Self, NetworkConfigError> {
        let config = &network.m3ua;
        let processes = (0..config.asps.len()).map(|number| network.make_process(AspId(number)));
        let processes = processes.collect::<Result<Vec<_>, _>>()?;
        let served = config.points.iter().enumerate().map(|(number, point)| {
            let own = config.servers.iter().filter(|server| server.point == ServedPointId(number));
            Served::new(point, own)
        });
        let mut by_context = BTreeMap::new();
        for (number, server) in config.servers.iter().enumerate() {
            by_context.entry(server.routing_context).or_insert(ServerId(number));
        }
        let points = served.collect::<Result<Vec<_>, _>>()?;
        let served_by = |asp: usize| {
            let is_served = |served: &Served| served.exits.iter().any(|exit| exit.process == AspId(asp));
            let own = points.iter().enumerate().filter(|(_, served)| is_served(served));
            own.map(|(number, _)| ServedPointId(number)).collect()
        };
        let served_by = (0..processes.len()).map(served_by).collect();
        Ok(Self { processes, points, served_by, by_context })
    }

    pub(crate) fn server(&self, routing_context: u32) -> Option<ServerId> {
        self.by_context.get(&routing_context).copied()
    }

    pub(crate) fn process_input(&mut self, now: Instant, asp: AspId, input: ServerProcessInput) {
        self.processes[asp.0].handle_input(now, input);
    }

    /// A process indicates something to a point that it serves.
    pub(crate) fn indicate(&mut self, now: Instant, point: ServedPointId, indication: &TransferIndication) {
        let Served { point, network, exits, .. } = &mut self.points[point.0];
        let processes = &self.processes;
        point.handle_indication(now, indication, |code| is_accessible(exits, processes, (*network, code)));
    }

    /// The points that a process serves.
    pub(crate) fn served_by(&self, asp: AspId) -> &[ServedPointId] {
        &self.served_by[asp.0]
    }

    /// Tells if user parts of a served point can reach a destination: over any process that serves it.
    pub(crate) fn is_accessible(&self, point: ServedPointId, destination: PointCode) -> bool {
        let served = &self.points[point.0];
        is_accessible(&served.exits, &self.processes, (served.network, destination))
    }

    /// A user part of a served point sends: by an active process of an application server of that traffic. Several
    /// share by signalling link selection. Gives the process that has it, and whether it was taken there.
    pub(crate) fn transfer(&mut self, point: ServedPointId, transfer: &Transfer) -> Option<(AspId, bool)> {
        let served = &self.points[point.0];
        let asp = served.exit(&self.processes, transfer)?;
        Some((asp, self.processes[asp.0].transfer(served.network, transfer)))
    }
}

impl Served {
    fn new<'a>(
        config: &network::ServedPointConfig,
        servers: impl Iterator<Item = &'a network::ServerConfig>,
    ) -> Result<Self, NetworkConfigError> {
        let (mut network, mut exits) = (None, Vec::new());
        for (number, server) in servers.enumerate() {
            if number == 0 {
                network = server.network_appearance;
            }
            exits.extend(server.asps.iter().map(|asp| Exit {
                process: *asp,
                routing_context: server.routing_context,
                services: server.services.clone(),
            }));
        }
        let wrong = |error| NetworkConfigError::Sccp { point: config.name.clone(), error };
        let point = signalling::ServedPointConfig { code: config.code, sccp: config.sccp.clone() };
        let point = ServedPoint::new(Instant::START, point).map_err(wrong)?;
        Ok(Self { point, of_no_load: 0, network, exits })
    }

    /// The process by which a message leaves. Without an active one, the first counts why it cannot go.
    fn exit(&self, processes: &[ServerProcess], transfer: &Transfer) -> Option<AspId> {
        let service = transfer.service.indicator.value();
        let place = (self.network, transfer.label.dpc);
        let candidates = || {
            let of_service = |exit: &&Exit| exit.services.is_empty() || exit.services.contains(&service);
            self.exits.iter().filter(of_service)
        };
        let active = || {
            candidates().filter(|exit| {
                let process = &processes[exit.process.0];
                process.is_active(exit.routing_context) && process.reaches(place)
            })
        };
        let turn = usize::from(transfer.label.sls.0).checked_rem(active().count());
        let chosen = turn.and_then(|turn| active().nth(turn)).or_else(|| candidates().next());
        chosen.map(|exit| exit.process)
    }
}

fn is_accessible(exits: &[Exit], processes: &[ServerProcess], place: NetworkPoint) -> bool {
    exits.iter().any(|exit| processes[exit.process.0].reaches(place))
}

/// An association of M3UA by its number among all associations of a network.
pub(crate) fn adaptation(association: u32, first: u32) -> AdaptationId {
    AdaptationId(usize::try_from(association - first).unwrap_or(usize::MAX))
}
