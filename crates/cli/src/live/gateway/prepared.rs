//! A point that is asked for: what it needs to be live, checked before anything is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

use slantpath_base::{Instant, Stream};
use slantpath_gateway::{AssociationNumber, Seat, SeatAssociation, SeatConfig};
use slantpath_live::{Carriage, LiveConfig, Station, check_addresses, host_of};
use slantpath_runner::{EntityRequest, OwnKinds, Scenario, Setting};

use super::{PATIENCE, equipment};
use crate::arguments::SeatArguments;
use crate::failure::Failure;
use crate::live::nodes::{Nodes, PeerUdpPorts};
use crate::live::settings::{live, not_opened};
use crate::terminal;

/// An entity of a scenario with its ends on this machine's network.
pub(in crate::live) struct Prepared {
    pub(super) scenario: Scenario,
    pub(super) request: EntityRequest,
    pub(super) carriage: Carriage,
    pub(super) associations: Vec<SeatAssociation>,
    pub(super) udp_ports: PeerUdpPorts,
    /// Own addresses of all associations, in their order.
    pub(super) own: Vec<IpAddr>,
    /// Numbers of the loads that send from here, by name.
    pub(super) loads: BTreeMap<String, usize>,
    /// Places of its operation that the file names: of `control` and of `metrics`.
    pub(super) operation: BTreeMap<&'static str, String>,
    /// Hash of the scenario.
    pub(in crate::live) hash: String,
}

impl Prepared {
    /// Reads the scenario, warns of what is probably a mistake, and finds what is asked for.
    pub(in crate::live) fn of(
        arguments: &SeatArguments,
        own: &OwnKinds,
        is_traced: bool,
    ) -> Result<Self, Failure> {
        let scenario = loaded(&arguments.scenario, &arguments.set, arguments.seed, own)?;
        match scenario.signalling_entity(&arguments.point) {
            Ok(entity) => warn_of_live(&scenario, &entity.node)?,
            Err(_) => warn(&scenario)?,
        }
        Self::within(scenario, arguments, is_traced)
    }

    /// Finds in a scenario what is asked for.
    pub(in crate::live) fn within(
        mut scenario: Scenario,
        arguments: &SeatArguments,
        is_traced: bool,
    ) -> Result<Self, Failure> {
        let entity = |scenario: &Scenario| {
            scenario.signalling_entity(&arguments.point).map_err(|error| Failure::Misused(error.to_string()))
        };
        let mut request = entity(&scenario)?;
        if let Some(settings) = &arguments.settings {
            scenario = equipment::laid_over(&scenario, &request, settings)?;
            warn_of_live(&scenario, &request.node)?;
            request = entity(&scenario)?;
        }
        let nodes = Nodes::of(&scenario, &arguments.at, arguments.udp)?;
        let carriage = nodes.carriage(&request.node);
        let (associations, udp_ports) = nodes.associations(&request, is_traced)?;
        let own = own_addresses(&associations);
        let loads = loads(&arguments.loads, &request)?;
        check_addresses(&own).map_err(|error| not_opened(&error))?;
        let operation = nodes.table(&request.node).map(|table| {
            let text = |key: &Option<Setting<String>>| key.as_ref().map(|key| (**key).clone());
            [("control", text(&table.control)), ("metrics", text(&table.metrics))]
        });
        let operation = operation.into_iter().flatten().filter_map(|(key, at)| Some((key, at?))).collect();
        let hash = scenario.hash();
        Ok(Self { scenario, request, carriage, associations, udp_ports, own, loads, operation, hash })
    }

    /// A host with the program, whose chance comes from a secret.
    pub(in crate::live) fn station(&self, secret: [u8; 32]) -> Result<Station<Seat>, Failure> {
        let mut host = host_of(&self.own);
        let program = Seat::open(Instant::START, self.seat(), &mut host, Stream::secret(secret));
        let program = program.map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Station { host, program })
    }

    /// Settings of the program.
    pub(super) fn seat(&self) -> SeatConfig {
        SeatConfig {
            network: self.request.network.clone(),
            occupant: self.request.entity,
            associations: self.associations.clone(),
            loads: self.loads.values().copied().collect(),
            seed: self.request.seed,
            patience: PATIENCE,
        }
    }

    /// Associations with the numbers that they have when the point is first live.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (AssociationNumber, &SeatAssociation)> {
        let network = &self.request.network;
        self.associations.iter().map(|own| (network.association(own.carried), own))
    }

    /// Settings of the sockets.
    pub(super) fn live(&self) -> LiveConfig {
        let ports: BTreeSet<u16> = self.associations.iter().map(|own| own.port.local_port).collect();
        live(&self.own, self.carriage, ports.into_iter().collect())
    }

    /// Addresses and carriage, in words.
    pub(super) fn place(&self) -> String {
        let addresses: Vec<String> = self.own.iter().map(IpAddr::to_string).collect();
        match self.carriage {
            Carriage::Raw => format!("{}, in IP", addresses.join(" and ")),
            Carriage::Udp { local_port, .. } => {
                format!("{}, in UDP port {local_port}", addresses.join(" and "))
            }
        }
    }
}

/// Reads the scenario, and warns of what is probably a mistake.
pub(in crate::live) fn read_scenario(
    path: &Path,
    set: &[String],
    seed: Option<u64>,
    own: &OwnKinds,
) -> Result<Scenario, Failure> {
    let scenario = loaded(path, set, seed, own)?;
    warn(&scenario)?;
    Ok(scenario)
}

fn loaded(path: &Path, set: &[String], seed: Option<u64>, own: &OwnKinds) -> Result<Scenario, Failure> {
    let mut overrides = set.to_vec();
    overrides.extend(seed.map(|seed| format!("scenario.seed={seed}")));
    Ok(Scenario::load_observed(path, &overrides, own, &|_| {})?)
}

/// Warns of what is probably a mistake where a node is live: its traffic comes from elsewhere, whether or not the file
/// has a table `[live]` of it.
fn warn_of_live(scenario: &Scenario, node: &str) -> Result<(), Failure> {
    if scenario.live_nodes().find(node).is_some() {
        return warn(scenario);
    }
    warn(&scenario.with("live", &[format!("live.{node}={{}}")]).map_err(Failure::Invalid)?)
}

fn warn(scenario: &Scenario) -> Result<(), Failure> {
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    Ok(())
}

/// Own addresses of all associations, in their order.
pub(in crate::live) fn own_addresses(associations: &[SeatAssociation]) -> Vec<IpAddr> {
    let mut own = Vec::new();
    for address in associations.iter().flat_map(|association| &association.port.local_addresses) {
        if !own.contains(address) {
            own.push(*address);
        }
    }
    own
}

/// Numbers of the loads that are asked for, by name.
fn loads(asked: &[String], request: &EntityRequest) -> Result<BTreeMap<String, usize>, Failure> {
    let number = |name: &String| {
        let number = request.loads.get(name).ok_or_else(|| {
            let known: Vec<&str> = request.loads.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Failure::Misused(format!("`{}` sends no load `{name}`; it sends {known}", request.name))
        })?;
        Ok((name.clone(), *number))
    };
    asked.iter().map(number).collect()
}
