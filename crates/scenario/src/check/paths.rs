//! Paths of flows through the network: the primary one must lead there, and TCP's segments must fit it.

use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_net::{InterfaceId, NodeId, Routes, Topology};

use crate::diagnostic::{Fault, Faults};
use crate::schema::{File, Flow, TcpProfile, Transport};
use crate::section::Origin;
use crate::topology::{self, Built};

/// Called when all else is right.
pub(super) fn check(file: &File, faults: &mut Faults) {
    let built = match topology::build(file) {
        Ok(built) => built,
        Err(error) => {
            let help = "this is beyond what the checks before it see; please report it";
            faults.report(file.scenario.name.place(), Fault::new(error.to_string()).help(help));
            return;
        }
    };
    let routes = Routes::new(&built.topology);
    for (_, flow) in file.flows.iter() {
        flow_path(file, &built, &routes, flow, faults);
    }
    super::signalling::timing(file, &built, &routes, faults);
    super::signalling::server_timing(file, &built, &routes, faults);
}

fn flow_path(file: &File, built: &Built, routes: &Routes, flow: &Flow, faults: &mut Faults) {
    let Some(primary) = &flow.primary else { return };
    let Some(link) = built.links.iter().find(|link| link.name == **primary) else { return };
    let (from, to) = (built.nodes[flow.from.as_str()], built.nodes[flow.to.as_str()]);
    let is_second = built.topology.node_of(link.id.second()) == to;
    let address = link.addresses[usize::from(is_second)];
    let Some(path) = path(&built.topology, routes, from, to, address) else {
        let message =
            format!("no route leads from `{}` to `{}` over link `{}`", *flow.from, *flow.to, **primary);
        let help = "name another link of the receiver as `primary`, or join this one to the sender";
        faults.report(primary.place(), Fault::new(message).help(help));
        return;
    };
    let profile = flow.profile.as_ref().and_then(|profile| file.tcp.find(profile));
    if let (Transport::Tcp, Some(profile)) = (*flow.transport, profile) {
        segments_fit(built, &path, address, flow, profile, faults);
    }
}

/// The interfaces by which packets leave the nodes on their way.
pub(super) fn path(
    topology: &Topology,
    routes: &Routes,
    from: NodeId,
    to: NodeId,
    address: IpAddr,
) -> Option<Vec<InterfaceId>> {
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        let interface = routes.route(topology, node, address).ok()?;
        path.push(interface);
        node = topology.node_of(interface.peer());
    }
    Some(path)
}

/// The delay there and back over such a path.
pub(super) fn round_trip(topology: &Topology, path: &[InterfaceId]) -> Duration {
    let both = path.iter().map(|interface| {
        let forward = topology.direction(interface.outbound()).delay;
        forward + topology.direction(interface.peer().outbound()).delay
    });
    both.fold(Duration::ZERO, |sum, delay| sum + delay)
}

fn segments_fit(
    built: &Built,
    path: &[InterfaceId],
    address: IpAddr,
    flow: &Flow,
    profile: &TcpProfile,
    faults: &mut Faults,
) {
    let headers: u64 = if address.is_ipv4() { 20 + 20 } else { 40 + 20 };
    let mtu = |interface: &&InterfaceId| built.topology.direction(interface.outbound()).mtu_bytes;
    let Some(narrowest) = path.iter().min_by_key(mtu) else { return };
    let room = u64::from(mtu(&narrowest)).saturating_sub(headers);
    if profile.mss.as_bytes() > room {
        let link = built.topology.link_name(narrowest.link());
        let message = format!(
            "segments of {} bytes do not fit link `{link}`, whose MTU is {} bytes with {headers} of headers",
            profile.mss.as_bytes(),
            mtu(&narrowest),
        );
        let at =
            if profile.mss.origin() == Origin::Given { profile.mss.place() } else { flow.transport.place() };
        let name = flow.profile.as_ref().map_or("default", |profile| profile);
        let help = format!("write `mss = \"{room} B\"` in `[tcp.{name}]`, or make `mtu` of the link larger");
        faults.report(at, Fault::new(message).help(help));
    }
}
