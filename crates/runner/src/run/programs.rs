//! A flow of a scenario whose two ends are the caller's: the network, all other traffic and what is drawn are as in a
//! run. So what measures a real path measures this one, too.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_applications::{Host, ProgramConfig, WhenBlocked, Workload};
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_host::Protocol;
use slantpath_net::{EndSystem, InterfaceId, Journey, Network};
use slantpath_sat::OnDemand;
use slantpath_scenario::build::{
    Attached, Destinations, Plan, Roles, RunSource, Seats, access_systems, address_on, ip_fields, options_of,
    plan, stream_values, when_blocked, workload, workload_streams,
};
use slantpath_scenario::schema::{self, Adaptation, Flow, Transport};
use slantpath_sctp::{SctpConfig, SendOptions};
use slantpath_wire::Packet;

use super::{EVENTS_BETWEEN_QUESTIONS, RunError, RunOptions};
use crate::scenario::Scenario;

/// Requests of a flow of SCTP to whoever takes its place.
#[derive(Clone, Debug)]
pub struct FlowRequest {
    /// Name of the flow.
    pub name: String,
    /// Number of associations.
    pub count: u32,
    /// Messages that are sent, and their times.
    pub workload: Workload,
    /// The names of the kinds of messages, if there are several, in the order of the workload's.
    pub kinds: Vec<String>,
    /// Random streams from which each association draws the instants of its messages: those of the flow itself in run
    /// 0.
    pub draws: Vec<Stream>,
    /// Behaviour of the sender while the send buffer is full.
    pub when_blocked: WhenBlocked,
    /// Options of a message, unless its kind has its own. Neither this nor the workload has a destination yet.
    pub options: SendOptions,
    /// Over which of the receiver's links messages go first.
    pub destinations: Destinations,
    /// The receiver's links, the primary one first, then in the order of their names.
    pub links: Vec<String>,
    /// Over how many streams.
    pub streams: u16,
    /// True if messages may overtake each other.
    pub unordered: bool,
    /// From the first message to the last at most.
    pub lasts: Duration,
    /// SCTP's settings at the sending end and at the receiving one.
    pub sctp: [SctpConfig; 2],
}

/// Why a flow's place cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Nothing is called so.
    #[error("there is no flow `{name}`; flows: {flows}")]
    NoSuchFlow {
        /// Name that was asked for.
        name: String,
        /// The names that there are.
        flows: String,
    },
    /// One of several has to be named.
    #[error("the scenario has several flows of SCTP: name one of {flows}")]
    Several {
        /// Names of the flows.
        flows: String,
    },
    /// There is none.
    #[error("the scenario has no flow of SCTP without an adaptation")]
    None,
    /// Flow that is not of SCTP, or has M3UA above it.
    #[error("flow `{name}` is {what}: programs send messages over SCTP itself")]
    NotSctp {
        /// Name of the flow.
        name: String,
        /// Kind of flow that it is.
        what: &'static str,
    },
    /// Points of a signalling network send of their own accord.
    #[error("the scenario has a signalling network, whose points are not run here")]
    Signalling,
}

impl Scenario {
    /// Gives the requests of a flow: that of a name, or the only one of SCTP.
    ///
    /// # Errors
    /// Why nobody can take its place, with what there is.
    pub fn flow_request(&self, name: Option<&str>) -> Result<FlowRequest, RequestError> {
        if !self.signalling.points.is_empty() {
            return Err(RequestError::Signalling);
        }
        let names = |of_sctp: bool| {
            let flows = self.flows.iter().filter(|(_, flow)| !of_sctp || is_plain_sctp(flow));
            flows.map(|(name, _)| name).collect::<Vec<_>>()
        };
        let of_sctp = names(true);
        let name = match (name, of_sctp.as_slice()) {
            (Some(name), _) => name,
            (None, [only]) => only,
            (None, []) => return Err(RequestError::None),
            (None, several) => return Err(RequestError::Several { flows: several.join(", ") }),
        };
        let Some(flow) = self.flows.find(name) else {
            return Err(RequestError::NoSuchFlow { name: name.to_owned(), flows: names(false).join(", ") });
        };
        let profile = flow.profile.as_ref().and_then(|profile| self.sctp.find(profile));
        let Some(profile) = profile.filter(|_| is_plain_sctp(flow)) else {
            let what = match *flow.transport {
                Transport::Sctp => "one below M3UA",
                Transport::Tcp => "one of TCP",
                Transport::Icmp => "one of ICMP",
                Transport::Udp => "one of UDP",
            };
            return Err(RequestError::NotSctp { name: name.to_owned(), what });
        };
        let end = flow.end.map_or(*self.scenario.duration, |end| *end);
        let config = |node: &str| SctpConfig {
            ip: ip_fields(&self.nodes, node, flow.dscp),
            ..profile.config(*flow.streams)
        };
        let kinds = match &flow.application.0 {
            schema::Application::Mixed(mixed) => {
                mixed.classes.names().into_iter().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let mut links: Vec<String> = self.wiring().links_of(&flow.to).map(str::to_owned).collect();
        links.sort_by_key(|link| *link != **flow.primary);
        let mut sctp = [config(&flow.from), config(&flow.to)];
        sctp[0].stream_values = stream_values(flow);
        Ok(FlowRequest {
            name: name.to_owned(),
            count: *flow.count,
            workload: workload(flow),
            kinds,
            draws: workload_streams(Seed::new(*self.scenario.seed, 0), name, flow),
            when_blocked: when_blocked(flow),
            options: options_of(flow),
            destinations: Destinations::of(flow),
            links,
            streams: *flow.streams,
            unordered: *flow.unordered,
            lasts: end.saturating_sub(*flow.start),
            sctp,
        })
    }
}

fn is_plain_sctp(flow: &Flow) -> bool {
    *flow.transport == Transport::Sctp && *flow.adaptation == Adaptation::None
}

/// A host of the scenario, or one that the caller has put in its place.
enum Seat<F, T> {
    Host(Box<Host>),
    From(F),
    To(T),
}

/// Calls the same of whichever it is.
macro_rules! of_seat {
    ($seat:expr, $host:ident => $call:expr) => {
        match $seat {
            Seat::Host($host) => $call,
            Seat::From($host) => $call,
            Seat::To($host) => $call,
        }
    };
}

impl<F: EndSystem, T: EndSystem> EndSystem for Seat<F, T> {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        of_seat!(self, host => host.handle_packet(now, interface, packet));
    }

    fn note_journey(&mut self, journey: Journey) {
        of_seat!(self, host => host.note_journey(journey));
    }

    fn verified_peer_tag(&self) -> Option<u32> {
        of_seat!(self, host => host.verified_peer_tag())
    }

    fn handle_deadline(&mut self, now: Instant) {
        of_seat!(self, host => host.handle_deadline(now));
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        of_seat!(self, host => host.poll_transmit(now, packet))
    }

    fn deadline(&self) -> Option<Instant> {
        of_seat!(self, host => host.deadline())
    }
}

/// One end of the flow: the host at its node, how it connects or listens, and chance of its own.
#[derive(Debug)]
pub struct ProgramEnd {
    /// The host, with its addresses and routes, and what else the scenario has there.
    pub host: Host,
    /// Ports, addresses and settings; the sending end has a peer.
    pub port: ProgramConfig,
    /// Random stream from which the end draws.
    pub stream: Stream,
    /// The receiving end's addresses on those of its links that messages name.
    pub destinations: BTreeMap<String, IpAddr>,
}

/// Runs a scenario in which the caller's hosts stand at both ends of a flow: `sit` makes them of the scenario's, the
/// sending end first. It ends when `go_on` says so, which is asked every few milliseconds of work with the simulated
/// time and the first of them, so that what it has told can be taken, and gives both back with the time at which it
/// ended.
///
/// # Errors
/// If the network cannot be made.
///
/// # Panics
/// If the scenario has no such flow: `request` is of another one.
pub fn run_with_programs<F: EndSystem, T: EndSystem>(
    scenario: &Scenario,
    request: &FlowRequest,
    options: &RunOptions,
    sit: impl FnOnce([ProgramEnd; 2]) -> (F, T),
    go_on: &mut dyn FnMut(Instant, &mut F) -> ControlFlow<()>,
) -> Result<(F, T, Instant), RunError> {
    let seed = Seed::new(options.seed.unwrap_or(*scenario.scenario.seed), options.run);
    let roles = Roles { vacant: Some(&request.name), traced: &[], attached: Attached::Simulated };
    let Plan { graph, hosts, links, sky, ways, seats, .. } = plan(scenario, seed, roles)?;
    let seats = seats.expect("the flow is one of the scenario");
    let mut source = RunSource::new(scenario, sky.as_ref(), &graph);
    source.follow(&graph, ways.iter().map(|(.., way)| *way));
    let source = OnDemand::new(source, access_systems(scenario, &links, seed));
    let nodes = seats.hosts.map(|host| graph.hosts()[host.0]);
    let on_link = |link: &str| Some((link.to_owned(), address_on(&graph, &links, link, nodes[1])?));
    let destinations = request.destinations.links().filter_map(on_link).collect();
    let hosts = seated(hosts, seats, seed, request, &destinations, sit);
    let mut network = Network::with_source(graph, seed, hosts, source);
    loop {
        let now = network.now();
        let Seat::From(first) = network.host_mut(nodes[0]) else { unreachable!("it sits there") };
        if go_on(now, first).is_break() {
            break;
        }
        // Nothing is left to come: nobody would ever be told to stop.
        if network.run_at_most(EVENTS_BETWEEN_QUESTIONS, Instant::START.saturating_add(Duration::MAX)) {
            break;
        }
    }
    let now = network.now();
    let (mut from, mut to) = (None, None);
    for seat in network.into_hosts() {
        match seat {
            Seat::Host(_) => {}
            Seat::From(host) => from = Some(host),
            Seat::To(host) => to = Some(host),
        }
    }
    let ends = from.zip(to).expect("both sit there");
    Ok((ends.0, ends.1, now))
}

fn seated<F, T>(
    hosts: Vec<Host>,
    seats: Seats,
    seed: Seed,
    request: &FlowRequest,
    destinations: &BTreeMap<String, IpAddr>,
    sit: impl FnOnce([ProgramEnd; 2]) -> (F, T),
) -> Vec<Seat<F, T>> {
    let places = seats.hosts.map(|host| host.0);
    let mut hosts: Vec<Option<Host>> = hosts.into_iter().map(Some).collect();
    let mut ends = ["from", "to"].into_iter().zip(places).zip(seats.configs).map(|((end, place), config)| {
        let Protocol::Sctp(sctp) = config.protocol else { unreachable!("the flow is one of SCTP") };
        ProgramEnd {
            host: hosts[place].take().expect("two hosts"),
            port: ProgramConfig {
                sctp,
                local_addresses: config.local_addresses,
                local_port: config.local_port,
                peer: config.peer,
            },
            stream: seed.stream(&format!("flows/{}/program/{end}", request.name)),
            destinations: destinations.clone(),
        }
    });
    let both = [ends.next().expect("from"), ends.next().expect("to")];
    drop(ends);
    let (from, to) = sit(both);
    let mut seated: Vec<Option<Seat<F, T>>> =
        hosts.into_iter().map(|host| host.map(|host| Seat::Host(Box::new(host)))).collect();
    seated[places[0]] = Some(Seat::From(from));
    seated[places[1]] = Some(Seat::To(to));
    seated.into_iter().map(|seat| seat.expect("all are taken")).collect()
}
