//! Paths of flows through the network: the primary one must lead there in as many links as packets pass, and what is
//! sent first should fit it.

use std::net::IpAddr;

use slantpath_base::{DataRate, Duration};
use slantpath_host::HOP_LIMIT;
use slantpath_net::{InterfaceId, LinkEnd, NetworkGraph, NodeId, Routes, SendingConfig};
use slantpath_profiles::congestion::{Capacity, capacity_fault};
use slantpath_profiles::sctp::LEAST_PATH_MTU;
use slantpath_reader::{Fault, Faults, Origin, Place, Setting};
use slantpath_scenario::network::{Built, find_link};
use slantpath_scenario::network::{address_on, addresses};
use slantpath_scenario::schema::{File, Flow, SctpProfile, Sessions, TcpProfile, Transport};
use slantpath_sctp::PathMtuDiscovery;

use crate::load::{datagrams_fit, load_fits};

/// Holds flows and sessions against their ways.
pub(crate) fn check(file: &File, built: &Built, routes: &mut Routes, faults: &mut Faults) {
    for (name, flow) in file.flows.iter() {
        let flow: &Flow = flow;
        flow_path(file, built, routes, (name, flow), faults);
    }
    for (name, sessions) in file.sessions.iter() {
        sessions_path(file, built, routes, (name, sessions), faults);
    }
}

fn flow_path(
    file: &File,
    built: &Built,
    routes: &mut Routes,
    (name, flow): (&str, &Flow),
    faults: &mut Faults,
) {
    let primary = &flow.primary;
    let (from, to) = (built.nodes[flow.from.as_str()], built.nodes[flow.to.as_str()]);
    let Some(way) = way_over(built, routes, from, to, primary) else {
        let message =
            format!("no route leads from `{}` to `{}` over link `{}`", *flow.from, *flow.to, **primary);
        let help = "name another link of the receiver as `primary`, or join this one to the sender";
        faults.report(primary.place(), Fault::new(message).help(help));
        return;
    };
    let what = format!("flow `{name}`");
    hops_fit(built, routes, &what, (from, to), &way, primary.place(), faults);
    let has_one_path = *flow.transport != Transport::Sctp;
    source_fits(built, routes, &what, (from, to), primary, has_one_path, faults);
    comes_from_another_link(built, routes, flow, (from, to), primary, faults);
    let profile = flow.profile.as_ref().map_or("", |profile| profile.as_str());
    match *flow.transport {
        Transport::Icmp | Transport::Udp => {
            if let Some(slowest) = slowest(built, &way) {
                datagrams_fit(name, flow, slowest, is_ipv6(built, &way), faults);
            }
        }
        Transport::Tcp => {
            if let Some(tcp) = file.tcp.find(profile) {
                segments_fit(built, &way, flow, profile, tcp, faults);
                capacity_fits(built, &way, &tcp.known_capacity, &format!("flow `{name}`"), faults);
            }
        }
        Transport::Sctp => {
            let links = built.graph.interfaces(to).iter().map(|own| built.graph.link_name(own.link()));
            let others = links.filter(|link| *link != primary.as_str());
            let others = others.filter_map(|link| Some((link, way_over(built, routes, from, to, link)?)));
            let others: Vec<(&str, Vec<InterfaceId>)> = others.collect();
            for (link, way) in &others {
                other_hops_fit(name, link, way, flow.to.place(), faults);
            }
            if let Some(sctp) = file.sctp.find(profile) {
                for way in std::iter::once(&way).chain(others.iter().map(|(_, way)| way)) {
                    packets_fit(built, way, flow, profile, sctp, faults);
                    capacity_fits(built, way, &sctp.known_capacity, &format!("flow `{name}`"), faults);
                }
            }
        }
    }
}

fn sessions_path(
    file: &File,
    built: &Built,
    routes: &mut Routes,
    (name, sessions): (&str, &Sessions),
    faults: &mut Faults,
) {
    let primary = &sessions.primary;
    let (from, to) = (built.nodes[sessions.from.as_str()], built.nodes[sessions.to.as_str()]);
    let Some(way) = way_over(built, routes, from, to, primary) else {
        let message = format!(
            "no route leads from `{}` to `{}` over link `{}`",
            *sessions.from, *sessions.to, **primary
        );
        let help = "name another link of the receiver as `primary`, or join this one to the sender";
        faults.report(primary.place(), Fault::new(message).help(help));
        return;
    };
    let what = format!("sessions `{name}`");
    hops_fit(built, routes, &what, (from, to), &way, primary.place(), faults);
    let is_tcp = *sessions.transport == Transport::Tcp;
    source_fits(built, routes, &what, (from, to), primary, is_tcp, faults);
    let carrying = match sessions.requests {
        Some(_) => way_back(&built.graph, routes, (from, to), &way).unwrap_or(way),
        None => way,
    };
    if let Some(slowest) = slowest(built, &carrying) {
        load_fits(name, sessions, slowest, faults);
    }
    let profile = sessions.profile.as_str();
    let capacity = match *sessions.transport {
        Transport::Tcp => file.tcp.find(profile).map(|tcp| &tcp.known_capacity),
        Transport::Sctp => file.sctp.find(profile).map(|sctp| &sctp.known_capacity),
        Transport::Icmp | Transport::Udp => None,
    };
    if let Some(capacity) = capacity {
        capacity_fits(built, &carrying, capacity, &format!("sessions `{name}`"), faults);
    }
}

/// Warns of a capacity that the slowest link on the way of a flow, sessions or an association contradicts.
pub(crate) fn capacity_fits(
    built: &Built,
    way: &[InterfaceId],
    capacity: &Setting<Capacity>,
    whose: &str,
    faults: &mut Faults,
) {
    let fault = slowest(built, way).and_then(|slowest| capacity_fault(capacity, slowest, whose));
    if let Some(fault) = fault {
        faults.warn_of_kind("capacity", capacity.place(), fault);
    }
}

/// The interfaces by which packets to the address that `to` has on a link leave the nodes on their way.
pub(crate) fn way_over(
    built: &Built,
    routes: &mut Routes,
    from: NodeId,
    to: NodeId,
    link: &str,
) -> Option<Vec<InterfaceId>> {
    let link = find_link(&built.links, link)?;
    let is_second = built.graph.node_of(link.id.second()) == to;
    path(&built.graph, routes, from, to, link.addresses[usize::from(is_second)]?)
}

/// Reports a path whose sender has no address of the version of IP that the receiver's has: TCP sends from the one by
/// which packets leave, SCTP from any that it is reached at.
pub(crate) fn source_fits(
    built: &Built,
    routes: &mut Routes,
    what: &str,
    (from, to): (NodeId, NodeId),
    primary: &Setting<String>,
    is_tcp: bool,
    faults: &mut Faults,
) {
    let Some([senders, receivers]) = addresses(&built.links, &built.graph, routes, primary, from, to) else {
        return;
    };
    let Some(receiver) = receivers.first() else { return };
    let usable = if is_tcp { &senders[..senders.len().min(1)] } else { &senders[..] };
    if usable.iter().any(|sender| sender.is_ipv4() == receiver.is_ipv4()) {
        return;
    }
    let (version, family) = if receiver.is_ipv4() { ("IPv4", "ipv4") } else { ("IPv6", "ipv6") };
    let node = built.graph.node_name(from);
    let message = format!("{what}: `{node}` has no address of {version} to send to `{receiver}` from");
    let help = format!(
        "give both ends addresses of one version: `family = \"{family}\"`, or `addresses`, of the links of `{node}`"
    );
    faults.report(primary.place(), Fault::new(message).help(help));
}

/// Reports a flow that goes over to the only link by which it is reached.
fn comes_from_another_link(
    built: &Built,
    routes: &mut Routes,
    flow: &Flow,
    (from, to): (NodeId, NodeId),
    primary: &str,
    faults: &mut Faults,
) {
    let Some(link) = &flow.handover_to else { return };
    let Some(target) = address_on(&built.graph, &built.links, link, from) else { return };
    let Some([senders, _]) = addresses(&built.links, &built.graph, routes, primary, from, to) else {
        return;
    };
    if senders.iter().any(|sender| *sender != target) {
        return;
    }
    let message =
        format!("`{}` is reached over link `{}` alone: there is none to go over from", *flow.from, **link);
    let help = format!("join `{}` by another link, or leave `handover_at` and `handover_to` out", *flow.from);
    faults.report(link.place(), Fault::new(message).help(help));
}

/// The interfaces by which packets leave the nodes on their way back to the address from which others left `from`.
fn way_back(
    graph: &NetworkGraph,
    routes: &mut Routes,
    (from, to): (NodeId, NodeId),
    way: &[InterfaceId],
) -> Option<Vec<InterfaceId>> {
    let source = graph.addresses(*way.first()?).first()?;
    path(graph, routes, to, from, *source)
}

/// Reports a path, there or back, that is longer than the hop limit lets packets go.
pub(crate) fn hops_fit(
    built: &Built,
    routes: &mut Routes,
    what: &str,
    (from, to): (NodeId, NodeId),
    way: &[InterfaceId],
    place: Place,
    faults: &mut Faults,
) {
    let graph = &built.graph;
    let back = way_back(graph, routes, (from, to), way).unwrap_or_default();
    for (from, to, hops) in [(from, to, way.len()), (to, from, back.len())] {
        if hops > usize::from(HOP_LIMIT) {
            let (from, to) = (graph.node_name(from), graph.node_name(to));
            let message = format!(
                "{what}: the path from `{from}` to `{to}` has {hops} links, of which packets pass {HOP_LIMIT}"
            );
            let help = "a packet's hop limit is 64: leave routers out, or join them by fewer links";
            faults.report(place, Fault::new(message).help(help));
            return;
        }
    }
}

/// Warns of another path of an association that is too long.
fn other_hops_fit(name: &str, link: &str, way: &[InterfaceId], place: Place, faults: &mut Faults) {
    if way.len() > usize::from(HOP_LIMIT) {
        let hops = way.len();
        let message = format!(
            "flow `{name}`: the path over link `{link}` has {hops} links, of which packets pass {HOP_LIMIT}: \
             it carries nothing"
        );
        let help = "a packet's hop limit is 64: leave routers out, or join them by fewer links";
        faults.warn(place, Fault::new(message).help(help));
    }
}

/// The interfaces by which packets leave the nodes on their way.
pub(crate) fn path(
    graph: &NetworkGraph,
    routes: &mut Routes,
    from: NodeId,
    to: NodeId,
    address: IpAddr,
) -> Option<Vec<InterfaceId>> {
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        let interface = routes.route(graph, node, address).ok()?;
        path.push(interface);
        node = graph.node_of(interface.peer());
    }
    Some(path)
}

/// The delay there and back over such a path.
pub(crate) fn round_trip(graph: &NetworkGraph, path: &[InterfaceId]) -> Duration {
    let both = path.iter().map(|interface| {
        let longest = |interface: InterfaceId| graph.direction(interface.outbound()).delay.max();
        longest(*interface) + longest(interface.peer())
    });
    both.fold(Duration::ZERO, |sum, delay| sum + delay)
}

/// The link on a path that carries the least, and how much.
fn narrowest<'a>(built: &'a Built, way: &[InterfaceId]) -> Option<(&'a str, u32)> {
    let graph = &built.graph;
    let mtu = |interface: &InterfaceId| graph.direction(interface.outbound()).mtu_bytes;
    let narrowest = way.iter().min_by_key(|interface| mtu(interface))?;
    Some((graph.link_name(narrowest.link()), mtu(narrowest)))
}

/// The link on a path whose transmitter, or shaper, is the slowest, and its rate.
pub(crate) fn slowest<'a>(built: &'a Built, way: &[InterfaceId]) -> Option<(&'a str, DataRate)> {
    let graph = &built.graph;
    let rate = |interface: &InterfaceId| {
        let direction = graph.direction(interface.outbound());
        match direction.sending {
            SendingConfig::Shaped(shaper) => shaper.rate.min(direction.rate),
            _ => direction.rate,
        }
    };
    let slowest = way.iter().min_by_key(|interface| rate(interface))?;
    Some((graph.link_name(slowest.link()), rate(slowest)))
}

fn is_ipv6(built: &Built, way: &[InterfaceId]) -> bool {
    way.last().is_some_and(|last| built.graph.addresses(last.peer()).iter().all(IpAddr::is_ipv6))
}

/// Warns of segments that are longer than the path carries: TCP finds that out, and the first window of them is sent in
/// vain.
fn segments_fit(
    built: &Built,
    way: &[InterfaceId],
    flow: &Flow,
    name: &str,
    profile: &TcpProfile,
    faults: &mut Faults,
) {
    let headers: u64 = if is_ipv6(built, way) { 40 + 20 } else { 20 + 20 };
    let Some((link, mtu)) = narrowest(built, way) else { return };
    let room = u64::from(mtu).saturating_sub(headers);
    if profile.mss.as_bytes() > room {
        let message = format!(
            "segments of {} bytes do not fit link `{link}`, whose MTU is {mtu} bytes with {headers} of headers: \
             the first are sent in vain",
            profile.mss.as_bytes(),
        );
        let at =
            if profile.mss.origin() == Origin::Given { profile.mss.place() } else { flow.transport.place() };
        let help = format!("write `mss = \"{room} B\"` in `[tcp.{name}]`, or make `mtu` of the link larger");
        faults.warn(at, Fault::new(message).help(help));
    }
}

/// Warns of a path MTU that is larger than a path's: SCTP finds that out, and the first long packets are sent in vain.
fn packets_fit(
    built: &Built,
    way: &[InterfaceId],
    flow: &Flow,
    name: &str,
    profile: &SctpProfile,
    faults: &mut Faults,
) {
    let Some((link, mtu)) = narrowest(built, way) else { return };
    // Probes find out before a message needs it.
    let is_probed = profile.path_mtu_discovery() == PathMtuDiscovery::Probing;
    if profile.initial_path_mtu.as_bytes() <= mtu.into() || is_probed {
        return;
    }
    let setting = &profile.initial_path_mtu;
    let at = if setting.origin() == Origin::Given { setting.place() } else { flow.transport.place() };
    let given = setting.as_bytes();
    let (becomes, help) = if u64::from(mtu) < LEAST_PATH_MTU.as_bytes() {
        let help = format!("make `mtu` of the link {} B at least", LEAST_PATH_MTU.as_bytes());
        ("longer ones are cut into fragments", help)
    } else {
        let help = format!(
            "write `initial_path_mtu = \"{mtu} B\"` in `[sctp.{name}]`, or make `mtu` of the link larger"
        );
        ("the first longer ones are sent in vain", help)
    };
    let message =
        format!("packets of {given} bytes do not fit link `{link}`, whose MTU is {mtu} bytes: {becomes}");
    faults.warn(at, Fault::new(message).help(help));
}
