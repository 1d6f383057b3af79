//! Loads that are asked for, and the entities at which they are sent and arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, UdpSocket};

use slantpath_gateway::{BenchConfig, BenchSeat, Clocks, FarEnd, SeatAssociation, SeatConfig};
use slantpath_live::{Carriage, LiveConfig, check_addresses};
use slantpath_runner::{OwnKinds, Scenario};

use crate::arguments::{ClockRelation, TrafficArguments};
use crate::failure::Failure;
use crate::live::gateway::PATIENCE;
use crate::live::gateway::prepared::{own_addresses, read_scenario};
use crate::live::nodes::{Nodes, PeerUdpPorts};
use crate::live::settings::{live, not_opened};
use crate::terminal;

/// Entities with their ends on this machine's network, and the loads that they have.
pub(super) struct PreparedTraffic {
    pub(super) scenario: Scenario,
    pub(super) bench: BenchConfig,
    /// Names of the entities, in the order of the bench.
    pub(super) names: Vec<String>,
    /// Loads by their names.
    pub(super) loads: BTreeMap<String, Part>,
    pub(super) carriage: Carriage,
    pub(super) udp_ports: PeerUdpPorts,
}

/// Part that this program has in a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Keeps the account of what arrives. The number of the load.
    Receives(usize),
    /// Sends the load, which arrives there.
    Sends(usize, FarEnd),
}

impl Part {
    pub(super) const fn number(self) -> usize {
        match self {
            Self::Receives(number) | Self::Sends(number, _) => number,
        }
    }
}

/// An entity that a load needs here.
struct Candidate {
    name: String,
    associations: Vec<SeatAssociation>,
    udp_ports: PeerUdpPorts,
    carriage: Carriage,
    seat: SeatConfig,
}

impl Candidate {
    fn addresses(&self) -> Vec<IpAddr> {
        own_addresses(&self.associations)
    }

    /// Tells if this machine has its addresses.
    fn is_here(&self) -> bool {
        self.addresses().iter().all(|address| UdpSocket::bind((*address, 0)).is_ok())
    }
}

impl PreparedTraffic {
    pub(super) fn of(arguments: &TrafficArguments, own: &OwnKinds) -> Result<Self, Failure> {
        let scenario = read_scenario(&arguments.scenario, &arguments.set, arguments.seed, own)?;
        let nodes = Nodes::of(&scenario, &arguments.at, arguments.udp)?;
        let candidate = |name: &str| {
            let request = scenario.signalling_entity(name);
            let request = request.map_err(|error| Failure::Misused(error.to_string()))?;
            let (associations, udp_ports) = nodes.associations(&request, false)?;
            let seat = SeatConfig {
                network: request.network,
                occupant: request.entity,
                associations: associations.clone(),
                loads: BTreeSet::new(),
                seed: request.seed,
                patience: PATIENCE,
            };
            let carriage = nodes.carriage(&request.node);
            Ok(Candidate { name: request.name, associations, udp_ports, carriage, seat })
        };
        // Those of the points that are here: all of them if none is, so that opening says what is wrong.
        let of_points = |points: &[String], must: bool| {
            let names = points.iter().flat_map(|point| scenario.entities_of_users(point));
            let all = names.map(|name| candidate(&name)).collect::<Result<Vec<_>, Failure>>()?;
            let is_any = all.iter().any(Candidate::is_here);
            Ok::<_, Failure>(
                all.into_iter().filter(|one| one.is_here() || must && !is_any).collect::<Vec<_>>(),
            )
        };
        let mut seats: BTreeMap<String, Candidate> = BTreeMap::new();
        let mut loads = BTreeMap::new();
        for (name, does) in asked(arguments, &scenario)? {
            let number = scenario.signalling.load.position(&name).unwrap_or_default();
            let load = scenario.signalling.load.find(&name).ok_or_else(|| unknown(&name, &scenario))?;
            let mut own = Vec::new();
            if does != Does::Receives {
                own.extend(of_points(&[(*load.from).clone()], true)?);
            }
            let far = match does {
                Does::Sends => Vec::new(),
                Does::Both => of_points(&load.to, false)?,
                Does::Receives => of_points(&load.to, true)?,
            };
            let part = match does {
                Does::Receives => Part::Receives(number),
                _ if far.is_empty() => Part::Sends(number, FarEnd::Elsewhere),
                _ => Part::Sends(number, FarEnd::Here),
            };
            if (does, part) == (Does::Both, Part::Sends(number, FarEnd::Elsewhere)) {
                terminal::warn(&format!(
                    "load `{name}` arrives elsewhere: here it is known what was sent; `slantpath traffic {} --receive \
                     {name}` there keeps the account",
                    arguments.scenario.display()
                ))?;
            }
            own.extend(far);
            seats.extend(own.into_iter().map(|one| (one.name.clone(), one)));
            loads.insert(name, part);
        }
        let bench = bench(&seats, &loads, arguments)?;
        let carriage = one_carriage(&seats)?;
        let udp_ports = seats.values().flat_map(|seat| seat.udp_ports.iter().cloned()).collect();
        let names = seats.into_keys().collect();
        Ok(Self { scenario, bench, names, loads, carriage, udp_ports })
    }

    /// Settings of the sockets.
    pub(super) fn live(&self) -> LiveConfig {
        let associations = self.bench.seats.iter().flat_map(|own| &own.seat.associations);
        let ports: BTreeSet<u16> = associations.map(|own| own.port.local_port).collect();
        live(&self.addresses(), self.carriage, ports.into_iter().collect())
    }

    fn addresses(&self) -> Vec<IpAddr> {
        self.bench.seats.iter().flat_map(|own| own.addresses.iter().copied()).collect()
    }
}

/// Carrier of the packets of all entities, which share the program's sockets.
fn one_carriage(seats: &BTreeMap<String, Candidate>) -> Result<Carriage, Failure> {
    let mut all = seats.iter();
    let Some((first, Candidate { carriage, .. })) = all.next() else { return Ok(Carriage::Raw) };
    match all.find(|(_, other)| other.carriage != *carriage) {
        None => Ok(*carriage),
        Some((other, _)) => Err(Failure::Misused(format!(
            "`{first}` and `{other}` are not in UDP at one port: let their nodes have the same `udp_port`, or take a \
             program for each by `--send` and `--receive`"
        ))),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Both,
    Receives,
    Sends,
}

/// Loads that are asked for, each with what is to be done here.
fn asked(arguments: &TrafficArguments, scenario: &Scenario) -> Result<BTreeMap<String, Does>, Failure> {
    let named = [
        (&arguments.loads, Does::Both),
        (&arguments.sends, Does::Sends),
        (&arguments.receives, Does::Receives),
    ];
    let mut asked = BTreeMap::new();
    for (name, does) in named.into_iter().flat_map(|(names, does)| names.iter().map(move |name| (name, does)))
    {
        if asked.insert(name.clone(), does).is_some_and(|before| before != does) {
            return Err(Failure::Misused(format!(
                "load `{name}` is asked for twice: `--load` sends it and keeps its account, `--send` and `--receive` \
                 are for two programs"
            )));
        }
    }
    if asked.is_empty() {
        asked.extend(scenario.signalling.load.iter().map(|(name, _)| (name.to_owned(), Does::Both)));
    }
    if asked.is_empty() {
        return Err(Failure::Misused("the scenario has no load: add `[signalling.load.<name>]`".to_owned()));
    }
    Ok(asked)
}

fn unknown(name: &str, scenario: &Scenario) -> Failure {
    let known: Vec<&str> = scenario.signalling.load.iter().map(|(name, _)| name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::Misused(format!("there is no load `{name}`; there are {known}"))
}

/// Settings of the bench, once no two of its entities are at one address.
fn bench(
    seats: &BTreeMap<String, Candidate>,
    loads: &BTreeMap<String, Part>,
    arguments: &TrafficArguments,
) -> Result<BenchConfig, Failure> {
    let mut of_address: BTreeMap<IpAddr, &str> = BTreeMap::new();
    for seat in seats.values() {
        for address in seat.addresses() {
            if let Some(other) = of_address.insert(address, &seat.name) {
                return Err(Failure::Misused(format!(
                    "`{other}` and `{}` are both at {address}: give their nodes addresses of their own by `--at`, or \
                     take a program for each",
                    seat.name
                )));
            }
        }
        check_addresses(&seat.addresses()).map_err(|error| not_opened(&error))?;
    }
    let (mut sends, mut follows) = (BTreeMap::new(), BTreeSet::new());
    for part in loads.values() {
        match *part {
            Part::Receives(number) => drop(follows.insert(number)),
            Part::Sends(number, far) => drop(sends.insert(number, far)),
        }
    }
    let seat = |own: &Candidate| BenchSeat { seat: own.seat.clone(), addresses: own.addresses() };
    Ok(BenchConfig {
        seats: seats.values().map(seat).collect(),
        sends,
        follows,
        clocks: match arguments.clocks {
            ClockRelation::Apart => Clocks::Apart,
            ClockRelation::Together => Clocks::Together,
        },
    })
}
