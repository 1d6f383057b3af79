//! One entity of a scenario's signalling network, for whoever has it live: all else is the world outside.

use std::collections::BTreeMap;

use slantpath_base::Seed;
use slantpath_host::Peer;
use slantpath_scenario::build::{Attached, BuildError, PlannedAssociation, Roles, plan};
use slantpath_scenario::signalling::{asp_node, gateway_point, is_served, node_of, with_mtp3};
use slantpath_signalling::network::{
    self, AspId, Carried, LinkCarrier, NetworkConfig, Side, SignallingEntity, UserPlace,
};

use crate::scenario::Scenario;

/// One entity of a signalling network, with what it has to know of all others.
#[derive(Clone, Debug)]
pub struct EntityRequest {
    /// Name of the point or the process.
    pub name: String,
    /// Entity that it is.
    pub entity: SignallingEntity,
    /// Name of its node.
    pub node: String,
    /// The whole network.
    pub network: NetworkConfig,
    /// Ends of the entity's associations.
    pub ends: Vec<EntityEnd>,
    /// Loads that send from it: their numbers, by name.
    pub loads: BTreeMap<String, usize>,
    /// Seed of the scenario's first run.
    pub seed: Seed,
}

/// An end of an association of the entity.
#[derive(Clone, Debug)]
pub struct EntityEnd {
    /// The end, with its addresses and its port.
    pub own: PlannedAssociation,
    /// Name of the node at the other end.
    pub far_node: String,
    /// Addresses and port at the other end.
    pub peer: Peer,
    /// True if this end opens it.
    pub opens: bool,
}

impl EntityEnd {
    /// Tells if it carries M2PA, and M3UA if not.
    pub const fn is_of_m2pa(&self) -> bool {
        matches!(self.own.end.carried, Carried::Link(_))
    }
}

/// Why an entity cannot be taken out of a scenario.
#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// The network cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Nothing is called so.
    #[error("there is no signalling point or process `{name}`; there are {known}")]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// The scenario has no signalling network.
    #[error("the scenario has no signalling network: add `[signalling.points.<name>]`")]
    None,
    /// Link of it that no association carries.
    #[error(
        "link `{link}` of `{name}` is a line of MTP2, for which no machine has a socket: take `carrier` M2PA"
    )]
    Line {
        /// Name of the point.
        name: String,
        /// Name of the link.
        link: String,
    },
}

impl Scenario {
    /// Gives one entity of the signalling network: the point of a name, that of a gateway of the name, or the process.
    /// A point whose users are above M3UA is the process that alone serves it.
    ///
    /// # Errors
    /// Why there is none, with what there is.
    pub fn signalling_entity(&self, name: &str) -> Result<EntityRequest, EntityError> {
        let seed = Seed::new(*self.scenario.seed, 0);
        let Some(signalling) = self.signalling_plan() else { return Err(EntityError::None) };
        let (name, entity, node) = self.entity_of(name).ok_or_else(|| EntityError::Unknown {
            name: name.to_owned(),
            known: self.entities().join(", "),
        })?;
        let network = signalling.network.clone();
        if let SignallingEntity::Point(id) = entity {
            let lines = network.links_at(id).into_iter().map(|(link, _)| &network.links[link.0]);
            let is_line = |link: &&network::LinkConfig| matches!(link.carrier, LinkCarrier::Line(_));
            if let Some(line) = lines.into_iter().find(is_line) {
                return Err(EntityError::Line { name, link: line.name.clone() });
            }
        }
        let roles = Roles { vacant: None, traced: &[], attached: Attached::Simulated };
        let planned = plan(self, seed, roles)?.associations;
        let mut ends = Vec::new();
        for own in planned.iter().filter(|end| is_end_of(&network, end, entity)) {
            let far = planned
                .iter()
                .find(|far| far.end.carried == own.end.carried && far.end.side == own.end.side.far());
            let far = far.expect("an association has two ends");
            let addresses = far.config.local_addresses.clone();
            ends.push(EntityEnd {
                far_node: far.node.clone(),
                peer: Peer { addresses, port: far.config.local_port },
                opens: own.config.peer.is_some(),
                own: own.clone(),
            });
        }
        let loads = network.loads.iter().enumerate();
        let loads = loads.filter(|(_, load)| sends_from(&network, load.from, entity));
        let loads = loads.map(|(number, load)| (load.name.clone(), number)).collect();
        Ok(EntityRequest { name, entity, node, network, ends, loads, seed })
    }

    /// Names of all points with MTP3 and of all processes.
    pub fn entities(&self) -> Vec<String> {
        let points = with_mtp3(&self.signalling).map(|(_, name)| name.to_owned());
        points.chain(self.signalling.asps.iter().map(|(name, _)| name.to_owned())).collect()
    }

    /// Names of the entities at which users of a point are: the point itself, or all processes that serve it.
    pub fn entities_of_users(&self, point: &str) -> Vec<String> {
        let signalling = &self.signalling;
        if !is_served(signalling, point) {
            return vec![point.to_owned()];
        }
        let servers = signalling.application_servers.iter().filter(|(_, server)| *server.dpc == point);
        let mut asps: Vec<String> = servers.flat_map(|(_, server)| server.asps.iter().cloned()).collect();
        asps.sort_unstable();
        asps.dedup();
        asps
    }

    /// The entity of a name, with its own name and that of its node.
    fn entity_of(&self, name: &str) -> Option<(String, SignallingEntity, String)> {
        let signalling = &self.signalling;
        let of_point = |point: &str| {
            let (id, own) = with_mtp3(signalling).find(|(_, own)| *own == point)?;
            Some((own.to_owned(), SignallingEntity::Point(id), node_of(signalling, own).to_string()))
        };
        let of_process = |asp: &str| {
            let id = AspId(signalling.asps.position(asp)?);
            Some((asp.to_owned(), SignallingEntity::Process(id), asp_node(signalling, asp).to_owned()))
        };
        let by_gateway = || {
            signalling.gateways.find(name)?;
            of_point(gateway_point(signalling, name))
        };
        let by_service = || {
            let servers = signalling.application_servers.iter().filter(|(_, server)| *server.dpc == name);
            let mut asps: Vec<&String> = servers.flat_map(|(_, server)| server.asps.iter()).collect();
            asps.dedup();
            match asps[..] {
                [asp] if is_served(signalling, name) => of_process(asp),
                _ => None,
            }
        };
        of_point(name).or_else(by_gateway).or_else(|| of_process(name)).or_else(by_service)
    }
}

/// Tells if an end of an association is the entity's.
fn is_end_of(network: &NetworkConfig, end: &PlannedAssociation, entity: SignallingEntity) -> bool {
    let side = end.end.side;
    match (end.end.carried, entity) {
        (Carried::Link(link), SignallingEntity::Point(id)) => {
            network.links[link.0].ends[side as usize].point == id
        }
        (Carried::Adaptation(number), SignallingEntity::Point(id)) => {
            let gateway = network.m3ua.associations[number.0].gateway;
            side == Side::First && network.gateway_at(id) == Some(gateway)
        }
        (Carried::Adaptation(number), SignallingEntity::Process(asp)) => {
            side == Side::Second && network.m3ua.associations[number.0].asp == asp
        }
        (Carried::Link(_), SignallingEntity::Process(_)) => false,
    }
}

/// Tells if the user parts of a place are the entity's.
fn sends_from(network: &NetworkConfig, from: UserPlace, entity: SignallingEntity) -> bool {
    match (from, entity) {
        (UserPlace::Point(from), SignallingEntity::Point(own)) => from == own,
        (UserPlace::Served(point), SignallingEntity::Process(asp)) => {
            network.m3ua.servers.iter().any(|server| server.point == point && server.asps.contains(&asp))
        }
        _ => false,
    }
}
