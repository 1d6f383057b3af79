//! Nodes of a scenario on the real network: as its `[live.<node>]` says, and above that as the flags do.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_gateway::SeatAssociation;
use slantpath_live::{
    Carriage, ENCAPSULATION_PORT, EndSystem, Live, Peer, ProgramConfig, SctpConfig, check_addresses,
};
use slantpath_runner::schema::{AdmittedCallers, LiveNode};
use slantpath_runner::{EntityEnd, EntityRequest, Scenario};

use crate::failure::Failure;

/// Nodes on the real network.
pub(super) struct Nodes<'a> {
    scenario: &'a Scenario,
    /// Addresses that `--at` gives.
    given: BTreeMap<String, Vec<IpAddr>>,
    /// Port that `--udp` gives all of them.
    udp: Option<u16>,
}

/// UDP ports of peers that are called: whom, from which own SCTP port, and the port.
pub(super) type PeerUdpPorts = Vec<(Peer, u16, u16)>;

impl<'a> Nodes<'a> {
    pub(super) fn of(scenario: &'a Scenario, at: &[String], udp: Option<u16>) -> Result<Self, Failure> {
        let mut given = BTreeMap::new();
        for text in at {
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
            if given.insert(node.to_owned(), addresses).is_some() {
                return Err(wrong("the node has addresses already"));
            }
        }
        Ok(Self { scenario, given, udp })
    }

    /// Table of a node in the file.
    pub(super) fn table(&self, node: &str) -> Option<&LiveNode> {
        self.scenario.live_nodes().find(node)
    }

    fn addresses(&self, node: &str, of_run: &[IpAddr]) -> Vec<IpAddr> {
        let of_file = || self.table(node).and_then(|table| table.addresses.as_ref()).map(|own| own.to_vec());
        self.given.get(node).cloned().or_else(of_file).unwrap_or_else(|| of_run.to_vec())
    }

    fn udp_port(&self, node: &str) -> Option<u16> {
        self.udp.or_else(|| self.table(node).and_then(|table| table.udp_port.map(|port| *port)))
    }

    /// Carrier of the packets of a node.
    pub(super) fn carriage(&self, node: &str) -> Carriage {
        match self.udp_port(node) {
            None => Carriage::Raw,
            Some(port) => {
                Carriage::Udp { local_port: port, remote_port: self.udp.unwrap_or(ENCAPSULATION_PORT) }
            }
        }
    }

    /// SCTP port of an end at a node.
    fn port(&self, node: &str, end: &EntityEnd, of_run: u16) -> u16 {
        let Some(table) = self.table(node) else { return of_run };
        let port = if end.is_of_m2pa() { table.m2pa_port } else { table.m3ua_port };
        port.map_or(of_run, |port| *port)
    }

    /// Associations of an entity, and the UDP ports at which its peers are called.
    pub(super) fn associations(
        &self,
        request: &EntityRequest,
        is_traced: bool,
    ) -> Result<(Vec<SeatAssociation>, PeerUdpPorts), Failure> {
        let (mut associations, mut udp_ports) = (Vec::new(), Vec::new());
        for end in &request.ends {
            let config = &end.own.config;
            let (own, far) = (&end.own.node, &end.far_node);
            let carriage = self.carriage(own);
            let local_port = self.port(own, end, config.local_port);
            let peer = Peer {
                addresses: self.addresses(far, &end.peer.addresses),
                port: self.port(far, end, end.peer.port),
            };
            match (carriage, self.udp_port(far)) {
                (Carriage::Raw, None) => {}
                (Carriage::Raw, Some(port)) => {
                    let name = &end.own.name;
                    return Err(Failure::Misused(format!(
                        "association `{name}`: `{far}` has UDP port {port}, and `{own}` is in IP: give \
                         `[live.{own}]` a `udp_port`, or take `--udp`"
                    )));
                }
                (Carriage::Udp { .. }, port) => {
                    udp_ports.push((peer.clone(), local_port, port.unwrap_or(ENCAPSULATION_PORT)));
                }
            }
            let sctp = SctpConfig { trace: is_traced, ..(*config.sctp).clone() };
            let admit = self.table(own).map_or(AdmittedCallers::Known, |table| *table.admit);
            let is_anyone = admit == AdmittedCallers::Anyone && !end.opens;
            let is_apart = self.udp_port(own) != self.udp_port(far);
            let addresses = self.addresses(own, &config.local_addresses);
            check_ends(&end.own.name, &addresses, &peer.addresses, is_apart)?;
            associations.push(SeatAssociation {
                name: end.own.name.clone(),
                carried: end.own.end.carried,
                port: ProgramConfig {
                    sctp: Box::new(carriage.settings(sctp)),
                    local_addresses: addresses,
                    local_port,
                    peer: (!is_anyone).then_some(peer),
                },
                opens: end.opens,
                reopen_after: config.reopen_after,
            });
        }
        check_told_apart(&associations)?;
        report_alike(&mut associations);
        Ok((associations, udp_ports))
    }
}

/// Has a port that several associations share report transmissions if one of them asks for that: its settings are one.
fn report_alike(associations: &mut [SeatAssociation]) {
    let asking = associations.iter().filter(|own| own.port.sctp.trace_messages);
    let ports: BTreeSet<u16> = asking.map(|own| own.port.local_port).collect();
    for own in associations {
        own.port.sctp.trace_messages = ports.contains(&own.port.local_port);
    }
}

/// Says behind which UDP ports peers are called.
pub(super) fn call_behind<H: EndSystem>(live: &mut Live<H>, ports: &PeerUdpPorts) {
    for (peer, own_port, udp_port) in ports {
        live.set_udp_port(peer, *own_port, Some(*udp_port));
    }
}

/// Refuses an association that nobody could ever open: to the caller itself, where UDP ports are not apart, or over no
/// common family.
fn check_ends(name: &str, own: &[IpAddr], far: &[IpAddr], is_apart: bool) -> Result<(), Failure> {
    let why = if let Some(address) = own.iter().find(|address| far.contains(address) && !is_apart) {
        format!("{address} is at both ends")
    } else if !own.iter().any(|own| far.iter().any(|far| own.is_ipv4() == far.is_ipv4())) {
        "one end has addresses of IPv4 alone, and the other of IPv6".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::Misused(format!("association `{name}`: {why}; give its nodes others by `--at`")))
}

/// Refuses two associations of which a packet, or a caller, could be of either.
fn check_told_apart(associations: &[SeatAssociation]) -> Result<(), Failure> {
    let mut seen = BTreeMap::new();
    let mut anyone = BTreeSet::new();
    for association in associations {
        let ProgramConfig { local_port, peer, .. } = &association.port;
        let Some(peer) = peer else {
            anyone.insert(*local_port);
            continue;
        };
        for far in &peer.addresses {
            let other = seen.insert((*local_port, *far, peer.port), &association.name);
            if let Some(other) = other.filter(|other| **other != association.name) {
                return Err(Failure::Misused(format!(
                    "associations `{other}` and `{}` are the same to SCTP: both are from port {local_port} to the \
                     same end; let `m2pa_port` and `m3ua_port` of `[live.<node>]` differ, or leave them out",
                    association.name
                )));
            }
        }
    }
    let at =
        |port: &u16| associations.iter().filter(|own| own.port.local_port == *port && !own.opens).count();
    match anyone.iter().find(|port| at(port) > 1) {
        Some(port) => Err(Failure::Misused(format!(
            "anyone is admitted at port {port}, where several associations wait: nobody knows which one calls; take \
             `admit = \"known\"`, or a port for each"
        ))),
        None => Ok(()),
    }
}
