//! A point that is asked for: what it needs to be live, checked before anything is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_base::{Instant, Stream};
use slantpath_gateway::{Seat, SeatAssociation, SeatConfig};
use slantpath_live::{
    Carriage, LiveConfig, Peer, ProgramConfig, SctpConfig, Station, check_addresses, host_of,
};
use slantpath_runner::{EntityEnd, EntityRequest, Scenario};

use super::PATIENCE;
use crate::arguments::SeatArguments;
use crate::failure::Failure;
use crate::live::settings::{live, not_opened};
use crate::terminal;

/// An entity of a scenario with its ends on this machine's network.
pub(in crate::live) struct Prepared {
    pub(super) scenario: Scenario,
    pub(super) request: EntityRequest,
    pub(super) carriage: Carriage,
    pub(super) associations: Vec<SeatAssociation>,
    /// Own addresses of all associations, in their order.
    pub(super) own: Vec<IpAddr>,
    /// Numbers of the loads that send from here, by name.
    pub(super) loads: BTreeMap<String, usize>,
}

impl Prepared {
    /// Reads the scenario, warns of what is hardly meant, and finds what is asked for.
    pub(in crate::live) fn of(arguments: &SeatArguments, is_traced: bool) -> Result<Self, Failure> {
        let mut overrides = arguments.set.clone();
        overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
        let scenario = Scenario::load(&arguments.scenario, &overrides)?;
        Self::within(scenario, arguments, is_traced)
    }

    /// Finds in a scenario what is asked for.
    pub(in crate::live) fn within(
        scenario: Scenario,
        arguments: &SeatArguments,
        is_traced: bool,
    ) -> Result<Self, Failure> {
        for warning in scenario.warnings() {
            terminal::warn(warning)?;
        }
        let request = scenario.signalling_entity(&arguments.point);
        let request = request.map_err(|error| Failure::Misused(error.to_string()))?;
        let carriage = match arguments.udp {
            None => Carriage::Raw,
            Some(port) => Carriage::Udp { local_port: port, remote_port: port },
        };
        let nodes = addresses_of_nodes(&arguments.at, &scenario)?;
        let associations = associations(&request, &nodes, carriage, is_traced);
        associations.iter().try_for_each(check_ends)?;
        let own = own_addresses(&associations);
        let loads = loads(&arguments.loads, &request)?;
        check_addresses(&own).map_err(|error| not_opened(&error))?;
        Ok(Self { scenario, request, carriage, associations, own, loads })
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

    /// Settings of the sockets.
    pub(super) fn live(&self) -> LiveConfig {
        let ports: BTreeSet<u16> = self.associations.iter().map(|own| own.port.local_port).collect();
        live(&self.own, self.carriage, ports.into_iter().collect())
    }

    /// Hash of the scenario.
    pub(in crate::live) fn hash(&self) -> String {
        self.scenario.hash()
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

/// Addresses that nodes have on the real network, in place of those of the scenario.
fn addresses_of_nodes(
    given: &[String],
    scenario: &Scenario,
) -> Result<BTreeMap<String, Vec<IpAddr>>, Failure> {
    let mut nodes = BTreeMap::new();
    for text in given {
        let wrong = |why: &str| {
            let form = "write `--at NODE=ADDRESS`, and further addresses behind commas";
            Failure::Misused(format!("--at {text}: {why}; {form}"))
        };
        let (node, addresses) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        if scenario.nodes.find(node).is_none() {
            return Err(Failure::Misused(format!("--at {text}: the scenario has no node `{node}`")));
        }
        let addresses: Result<Vec<IpAddr>, _> =
            addresses.split(',').map(|text| text.trim().parse()).collect();
        let addresses = addresses.map_err(|_| wrong("an address is not one of IP"))?;
        check_addresses(&addresses).map_err(|error| Failure::Misused(format!("--at {text}: {error}")))?;
        if nodes.insert(node.to_owned(), addresses).is_some() {
            return Err(wrong("the node has addresses already"));
        }
    }
    Ok(nodes)
}

/// Associations of the entity, with the addresses that nodes have on the real network.
fn associations(
    request: &EntityRequest,
    nodes: &BTreeMap<String, Vec<IpAddr>>,
    carriage: Carriage,
    is_traced: bool,
) -> Vec<SeatAssociation> {
    let association = |end: &EntityEnd| {
        let config = &end.own.config;
        let own = nodes.get(&end.own.node).unwrap_or(&config.local_addresses);
        let far = nodes.get(&end.far_node).unwrap_or(&end.peer.addresses);
        let sctp = SctpConfig { trace: is_traced, trace_messages: false, ..(*config.sctp).clone() };
        SeatAssociation {
            name: end.own.name.clone(),
            carried: end.own.end.carried,
            port: ProgramConfig {
                sctp: Box::new(carriage.settings(sctp)),
                local_addresses: own.clone(),
                local_port: config.local_port,
                peer: Some(Peer { addresses: far.clone(), port: end.peer.port }),
            },
            opens: end.opens,
            reopen_after: config.reopen_after,
        }
    };
    request.ends.iter().map(association).collect()
}

/// Refuses an association that nobody could ever open: to the caller itself, or over no common family.
fn check_ends(association: &SeatAssociation) -> Result<(), Failure> {
    let SeatAssociation { name, port: ProgramConfig { local_addresses: own, peer, .. }, .. } = association;
    let far = peer.as_ref().map(|peer| &peer.addresses[..]).unwrap_or_default();
    let why = if let Some(address) = own.iter().find(|address| far.contains(address)) {
        format!("{address} is at both ends")
    } else if !own.iter().any(|own| far.iter().any(|far| own.is_ipv4() == far.is_ipv4())) {
        "one end has addresses of IPv4 alone, and the other of IPv6".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::Misused(format!("association `{name}`: {why}; give its nodes others by `--at`")))
}

/// Own addresses of all associations, in their order.
fn own_addresses(associations: &[SeatAssociation]) -> Vec<IpAddr> {
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
