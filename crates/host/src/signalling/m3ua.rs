//! M3UA in a signalling network: gateways with their interworking function, application server processes, and the
//! points whose user parts are above M3UA.
//!
//! A gateway's MTP3 serves the point codes of its application servers: what comes for them goes through the gateway's
//! process to an active ASP, and back. What MTP3 says of destinations becomes DUNA, DAVA and SCON; what the process
//! says of application servers becomes TFP, TFA and TFC.

mod config;
mod drive;
mod interworking;
mod process;
mod record;

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_sigtran::m3ua::{Asp, Counters, Sgp};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

pub use config::{
    AdaptationConfig, AspConfig, AspId, GatewayConfig, GatewayId, M3uaConfig, ServedPointConfig,
    ServedPointId, ServerConfig, ServerId,
};
pub use record::{AdaptationEvent, AdaptationEventKind, AdaptationTally, Witness};

use super::config::{AdaptationId, NetworkConfigError, PointConfig, PointId, Side};
use super::network::sccp_node;
use interworking::Gateway;
use process::Process;

/// Everything that speaks M3UA.
#[derive(Debug)]
pub(super) struct M3ua {
    config: M3uaConfig,
    pub(super) gateways: Vec<Gateway>,
    pub(super) processes: Vec<Process>,
    pub(super) points: Vec<ServedPoint>,
    tallies: Vec<[AdaptationTally; 2]>,
    events: Vec<AdaptationEvent>,
}

/// A point whose user parts are above M3UA.
#[derive(Debug)]
pub(super) struct ServedPoint {
    pub(super) code: PointCode,
    pub(super) sccp: Option<sccp::Node>,
    /// The destinations that users were told of, with whether they can be reached.
    told: BTreeMap<PointCode, bool>,
    /// Messages that came to a user and belong to no load.
    pub(super) strangers: u64,
    pub(super) deadline: Option<Instant>,
}

impl M3ua {
    pub(super) fn new(config: M3uaConfig, points: &[PointConfig]) -> Result<Self, NetworkConfigError> {
        let wrong = |name: &str| {
            let name = name.to_owned();
            move |error| NetworkConfigError::M3ua { name, error }
        };
        let mut gateways = Vec::new();
        for (number, gateway) in config.gateways.iter().enumerate() {
            let id = GatewayId(number);
            let mtp3 = &points[gateway.point.0].mtp3;
            let sgp = Sgp::new(config.sgp(id, mtp3.congestion)).map_err(wrong(&gateway.name))?;
            gateways.push(Gateway::new(
                gateway.point,
                mtp3,
                sgp,
                config.network_of(id),
                config.codes_behind(id),
            ));
        }
        let codes: Vec<PointCode> = points.iter().map(|point| point.mtp3.point_code).collect();
        let mut processes = Vec::new();
        for (number, asp) in config.asps.iter().enumerate() {
            let id = AspId(number);
            let process = Asp::new(config.process(id, &codes)).map_err(wrong(&asp.name))?;
            processes.push(Process::new(id, process, &config));
        }
        let served = |point: &ServedPointConfig| {
            Ok(ServedPoint {
                code: point.code,
                sccp: point.sccp.clone().map(|sccp| sccp_node(sccp, &point.name)).transpose()?,
                told: BTreeMap::new(),
                strangers: 0,
                deadline: None,
            })
        };
        Ok(Self {
            gateways,
            processes,
            points: config.points.iter().map(served).collect::<Result<_, _>>()?,
            tallies: vec![Default::default(); config.associations.len()],
            events: Vec::new(),
            config,
        })
    }

    /// The gateway at a point, if there is one.
    pub(super) fn gateway_at(&self, point: PointId) -> Option<usize> {
        self.gateways.iter().position(|gateway| gateway.point == point)
    }

    pub(super) fn events(&self) -> &[AdaptationEvent] {
        &self.events
    }

    pub(super) fn tally(&self, association: AdaptationId, side: Side) -> AdaptationTally {
        self.tallies[association.0][side as usize]
    }

    pub(super) fn counters(&self, witness: Witness) -> (&Counters, usize) {
        match witness {
            Witness::Asp(asp) => (self.processes[asp.0].asp().counters(), 0),
            Witness::Gateway(gateway) => {
                let sgp = &self.gateways[gateway.0].sgp;
                (sgp.counters(), sgp.waiting())
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let gateways = self.gateways.iter().map(|gateway| gateway.deadline);
        let processes = self.processes.iter().map(|process| process.deadline);
        let points = self.points.iter().map(|point| point.deadline);
        gateways.chain(processes).chain(points).flatten().min()
    }

    /// The network of a served point's codes.
    fn network_of(&self, point: ServedPointId) -> Option<u32> {
        self.config.servers.iter().find(|server| server.point == point)?.network_appearance
    }

    /// Whether user parts of a served point can reach a destination: over any process that serves it.
    pub(super) fn is_accessible(&self, point: ServedPointId, destination: PointCode) -> bool {
        let network = self.network_of(point);
        let mut serving = self.processes.iter().filter(|process| process.serves(point));
        serving.any(|process| process.reaches((network, destination)))
    }

    /// A user part of a served point sends: by an active process of an application server of that traffic. Several
    /// share by signalling link selection. Says whether it was taken.
    pub(super) fn transfer(&mut self, point: ServedPointId, transfer: &Transfer) -> bool {
        let network = self.network_of(point);
        let service = transfer.service.indicator.value();
        let candidates = || {
            let matching = self.config.servers.iter().enumerate().filter(move |(_, server)| {
                server.point == point && (server.services.is_empty() || server.services.contains(&service))
            });
            matching.flat_map(|(number, server)| server.asps.iter().map(move |asp| (*asp, ServerId(number))))
        };
        let place = (network, transfer.label.dpc);
        let active: Vec<AspId> = candidates()
            .filter(|(asp, server)| {
                let process = &self.processes[asp.0];
                process.is_active(&self.config, *server) && process.reaches(place)
            })
            .map(|(asp, _)| asp)
            .collect();
        let turn = usize::from(transfer.label.sls.0).checked_rem(active.len());
        // Without an active one, the first counts why it cannot go.
        let chosen = turn.map(|turn| active[turn]).or_else(|| candidates().next().map(|(asp, _)| asp));
        let Some(asp) = chosen else { return false };
        let asp = self.processes[asp.0].asp_mut();
        let before = asp.counters().dropped_in_all();
        asp.transfer(network, transfer.clone());
        asp.counters().dropped_in_all() == before
    }

    /// What a process tells of a destination, for the user parts of the points that it serves: a point has lost a
    /// destination when none of its processes reaches it.
    fn derive(
        &mut self,
        process: AspId,
        indication: &TransferIndication,
    ) -> Vec<(ServedPointId, TransferIndication)> {
        let served = (0..self.points.len()).map(ServedPointId);
        let served: Vec<_> = served.filter(|point| self.processes[process.0].serves(*point)).collect();
        let mut told = Vec::new();
        for point in served {
            match indication {
                TransferIndication::Pause(code) | TransferIndication::Resume(code) => {
                    let is_accessible = self.is_accessible(point, *code);
                    let before = self.points[point.0].told.insert(*code, is_accessible);
                    if before != Some(is_accessible) {
                        told.push((
                            point,
                            if is_accessible {
                                TransferIndication::Resume(*code)
                            } else {
                                TransferIndication::Pause(*code)
                            },
                        ));
                    }
                }
                TransferIndication::Status { .. } => told.push((point, indication.clone())),
                TransferIndication::Transfer(transfer) if self.points[point.0].code == transfer.label.dpc => {
                    told.push((point, indication.clone()));
                }
                TransferIndication::Transfer(_) => {}
            }
        }
        told
    }

    fn note(
        &mut self,
        at: Instant,
        witness: Witness,
        association: Option<AdaptationId>,
        routing_context: Option<u32>,
        kind: AdaptationEventKind,
    ) {
        let mut servers = self.config.servers.iter();
        let server = routing_context
            .and_then(|context| servers.position(|server| server.routing_context == context).map(ServerId));
        self.events.push(AdaptationEvent { at, witness, association, server, kind });
    }
}

/// Which user part a message is for.
const fn user_of(transfer: &Transfer) -> ServiceIndicator {
    transfer.service.indicator
}
