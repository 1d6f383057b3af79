//! From a scenario to a network with hosts and flows, ready to run.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_host::message::Content;
use slantpath_host::{FlowEndId, Host, ReceiverConfig, SenderConfig, WhenBlocked, Workload};
use slantpath_net::{InterfaceId, NodeId, Routes, Topology};
use slantpath_simulation::SignallingSimulation;

use super::transport::{self, Ends};
use super::{RunError, signalling};
use crate::scenario::Scenario;
use crate::schema::application::{Application, Total};
use crate::schema::{self, Flow};
use crate::topology::{self, Built, PlannedLink};

/// A network to be run, and what its parts are called.
pub(super) struct Plan {
    pub(super) topology: Topology,
    pub(super) hosts: Vec<Host>,
    pub(super) links: Vec<PlannedLink>,
    pub(super) flows: Vec<PlannedFlow>,
    pub(super) signalling: Option<SignallingSimulation>,
}

/// A flow and where its ends are.
pub(super) struct PlannedFlow {
    /// `files`, or `files.3` if there are several.
    pub(super) name: String,
    pub(super) flow: Flow,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) sender: FlowEndId,
    pub(super) receiver: FlowEndId,
}

pub(super) fn plan(scenario: &Scenario, seed: Seed) -> Result<Plan, RunError> {
    let Built { topology, links, nodes } = topology::build(scenario)?;
    let mut hosts = hosts(&topology, &links);
    let routes = Routes::new(&topology);
    let mut flows = Vec::new();
    for (name, flow) in scenario.flows.iter() {
        let (from, to) = (nodes[flow.from.as_str()], nodes[flow.to.as_str()]);
        for (here, there) in [(from, to), (to, from)] {
            join(&topology, &routes, &mut hosts, here, there)?;
        }
        let is_watched = scenario.probes.timelines.iter().any(|watched| watched == name);
        for number in 0..*flow.count {
            let name = if *flow.count == 1 { name.to_owned() } else { format!("{name}.{number}") };
            let mut place = Placement {
                scenario,
                seed,
                links: &links,
                topology: &topology,
                routes: &routes,
                hosts: &mut hosts,
                is_watched,
            };
            let (sender, receiver) = place.flow(&name, flow, from, to, flows.len());
            flows.push(PlannedFlow { name, flow: Flow::clone(flow), from, to, sender, receiver });
        }
    }
    let mut site =
        Site { links: &links, topology: &topology, routes: &routes, nodes: &nodes, hosts: &mut hosts };
    let signalling = signalling::plan(scenario, seed, &mut site)?;
    Ok(Plan { topology, hosts, links, flows, signalling })
}

/// The network while it is furnished with associations.
pub(super) struct Site<'a> {
    links: &'a [PlannedLink],
    topology: &'a Topology,
    routes: &'a Routes,
    pub(super) nodes: &'a BTreeMap<String, NodeId>,
    hosts: &'a mut [Host],
}

impl Site<'_> {
    /// Lets two hosts reach each other.
    pub(super) fn join_both(&mut self, one: NodeId, other: NodeId) -> Result<(), RunError> {
        join(self.topology, self.routes, self.hosts, one, other)?;
        join(self.topology, self.routes, self.hosts, other, one)
    }

    pub(super) fn host(&mut self, node: NodeId) -> &mut Host {
        &mut self.hosts[host_place(self.topology, node)]
    }

    /// The addresses of both ends of an association whose primary path leads over a link of `to`.
    pub(super) fn addresses(&self, primary: &str, from: NodeId, to: NodeId) -> [Vec<IpAddr>; 2] {
        addresses(self.links, self.topology, self.routes, primary, from, to)
    }
}

fn hosts(topology: &Topology, links: &[PlannedLink]) -> Vec<Host> {
    let addresses = |node: NodeId| {
        let own = |interface: &InterfaceId| {
            let [first, second] = links[interface.link().index()].addresses;
            let is_first = *interface == interface.link().first();
            (if is_first { first } else { second }, *interface)
        };
        topology.interfaces(node).iter().map(own).collect()
    };
    topology.hosts().iter().map(|node| Host::new(addresses(*node))).collect()
}

/// Gives `here` a route to every address of `there` that one leads to.
fn join(
    topology: &Topology,
    routes: &Routes,
    hosts: &mut [Host],
    here: NodeId,
    there: NodeId,
) -> Result<(), RunError> {
    let place = host_place(topology, here);
    for interface in topology.interfaces(there) {
        for address in topology.addresses(*interface) {
            if let Ok(leaving) = routes.route(topology, here, *address)
                && topology.addresses(leaving).iter().any(|own| own.is_ipv4() == address.is_ipv4())
            {
                hosts[place].add_route(*address, leaving)?;
            }
        }
    }
    Ok(())
}

fn host_place(topology: &Topology, node: NodeId) -> usize {
    topology.hosts().iter().position(|host| *host == node).expect("a check lets flows end at hosts")
}

/// Ports from which senders and receivers take theirs, one a flow.
const SENDER_PORTS: u16 = 20_000;
const RECEIVER_PORTS: u16 = 40_000;

struct Placement<'a> {
    scenario: &'a Scenario,
    seed: Seed,
    links: &'a [PlannedLink],
    topology: &'a Topology,
    routes: &'a Routes,
    hosts: &'a mut [Host],
    /// Whether the flow's paths are watched.
    is_watched: bool,
}

impl Placement<'_> {
    /// Adds both ends of a flow to their hosts.
    fn flow(
        &mut self,
        name: &str,
        flow: &Flow,
        from: NodeId,
        to: NodeId,
        number: usize,
    ) -> (FlowEndId, FlowEndId) {
        let ends = self.ends(flow, from, to, number);
        let records = *self.scenario.probes.messages && *flow.content == schema::Content::Stamped;
        let (sending, receiving) = transport::configs(self.scenario, flow, ends);
        let origin = Instant::START + self.jitter(name, flow);
        let config = SenderConfig {
            connect: origin + **flow.connect.as_ref().expect("a check says when to connect"),
            start: origin + *flow.start,
            stop: flow.end.map(|end| Instant::START + *end),
            workload: workload(self.scenario, &flow.application),
            when_blocked: match *flow.when_blocked {
                schema::WhenBlocked::Queue => WhenBlocked::Queue,
                schema::WhenBlocked::Wait => WhenBlocked::Wait,
            },
            content: content(flow),
            streams: *flow.streams,
            unordered: *flow.unordered,
            record_messages: records,
            record_timeline: self.is_watched,
            sample_paths: self.scenario.probes.paths.quantity(),
        };
        let path = format!("flows/{name}");
        let host = &mut self.hosts[host_place(self.topology, from)];
        let sender = host.add_sender(sending, config, self.seed, &path);
        let config = ReceiverConfig {
            content: content(flow),
            streams: *flow.streams,
            unordered: *flow.unordered,
            record_messages: records,
        };
        let host = &mut self.hosts[host_place(self.topology, to)];
        let receiver = host.add_receiver(receiving, config, self.seed, &path);
        (sender, receiver)
    }
}

impl Placement<'_> {
    /// By how much the flow connects and starts later in this run. Flows that start apart connect apart too: the
    /// handshakes of many at one instant would overflow a queue that their load never fills.
    fn jitter(&self, name: &str, flow: &Flow) -> Duration {
        if flow.start_jitter.is_zero() {
            return Duration::ZERO;
        }
        let mut stream = self.seed.stream(&format!("flows/{name}/start"));
        Duration::from_nanos(stream.below(flow.start_jitter.as_nanos()))
    }

    /// Where the ends of flow `number` are.
    fn ends(&self, flow: &Flow, from: NodeId, to: NodeId, number: usize) -> Ends {
        let number = u16::try_from(number).expect("a check limits the number of flows");
        let primary = flow.primary.as_ref().expect("a check gives every flow a primary link");
        let [sender, receiver] = addresses(self.links, self.topology, self.routes, primary, from, to);
        Ends { sender_port: SENDER_PORTS + number, receiver_port: RECEIVER_PORTS + number, sender, receiver }
    }
}

/// The addresses of two hosts that reach each other; the one on the primary link of `to` first, and that from which
/// it is reached.
fn addresses(
    links: &[PlannedLink],
    topology: &Topology,
    routes: &Routes,
    primary: &str,
    from: NodeId,
    to: NodeId,
) -> [Vec<IpAddr>; 2] {
    let link = links.iter().find(|link| link.name == primary).expect("a check resolves links");
    let is_second = topology.node_of(link.id.second()) == to;
    let primary = link.addresses[usize::from(is_second)];
    let leaving = routes.route(topology, from, primary);
    let nearest = leaving.ok().and_then(|interface| topology.addresses(interface).first().copied());
    let sender = reachable(topology, routes, to, from, nearest.unwrap_or(primary));
    [sender, reachable(topology, routes, from, to, primary)]
}

/// The addresses of `there` to which a route leads from `here`, `first` in front.
fn reachable(
    topology: &Topology,
    routes: &Routes,
    here: NodeId,
    there: NodeId,
    first: IpAddr,
) -> Vec<IpAddr> {
    let all = topology.interfaces(there).iter().flat_map(|own| topology.addresses(*own));
    let reached = |address: &&IpAddr| routes.route(topology, here, **address).is_ok();
    let mut addresses: Vec<IpAddr> = all.filter(reached).copied().collect();
    addresses.sort_by_key(|address| *address != first);
    addresses
}

fn content(flow: &Flow) -> Content {
    match *flow.content {
        schema::Content::Pattern => Content::Pattern,
        schema::Content::Stamped => Content::Stamped,
    }
}

fn workload(scenario: &Scenario, application: &Application) -> Workload {
    match application {
        Application::Bulk(bulk) => Workload::Bulk {
            message: *bulk.message_size,
            total: match *bulk.total {
                Total::Unlimited => None,
                Total::Bytes(total) => Some(total),
            },
        },
        Application::Bursts(bursts) => Workload::Bursts {
            message: *bursts.message_size,
            messages_per_burst: u32::try_from(bursts.burst_size.as_bytes() / bursts.message_size.as_bytes())
                .unwrap_or(u32::MAX),
            interval: *bursts.interval,
            jitter: *bursts.jitter,
        },
        Application::ConstantRate(constant) => {
            Workload::ConstantRate { message: *constant.message_size, interval: constant.spacing() }
        }
        Application::Poisson(poisson) => {
            Workload::Poisson { message: *poisson.message_size, mean_interval: poisson.spacing() }
        }
        Application::Trace(trace) => Workload::Trace { messages: scenario.trace(&trace.file).to_vec() },
    }
}
