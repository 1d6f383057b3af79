//! The ends of flows at the hosts of a run.

use std::sync::Arc;

use slantpath_applications::message;
use slantpath_applications::{
    FlowAdaptation, Flows, Measurement, MessageClass, MessageRecords, ReceiverConfig, SenderConfig,
    WhenBlocked, Workload, workload_stream,
};
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_host::{AddressHandover, Protocol, SocketId, TransportConfig};
use slantpath_net::{NetworkGraph, NodeId};
use slantpath_reader::Named;
use slantpath_simulation::FLOW_M3UA;

use super::application::{Application, Total};
use super::message::{Destinations, options_of, options_of_kind};
use super::ports::{ports, service};
use super::script;
use super::transport::{self, Ends};
use crate::build_error::BuildError;
use crate::checked::Checked;
use crate::network::node::HostNumber;
use crate::network::site::Site;
use crate::schema::{self, Flow};

/// A flow and where its ends are.
pub struct PlannedFlow {
    /// `files`, or `files.3` if there are several.
    pub name: String,
    /// Table of which it was made.
    pub flow: Flow,
    /// Node of the sender.
    pub from: NodeId,
    /// Node of the receiver.
    pub to: NodeId,
    /// Socket of the sender, at its host.
    pub sender: SocketId,
    /// Socket of the receiver, at its host.
    pub receiver: SocketId,
}

impl PlannedFlow {
    /// Tells whether the receiver knows by which packet a message came: not below M3UA, nor of messages without stamps.
    pub fn tells_journeys(&self) -> bool {
        *self.flow.content == schema::Content::Stamped && *self.flow.adaptation != schema::Adaptation::M3ua
    }
}

/// Adds both ends of every flow to their hosts, in the order of names, but for those of a flow that is left to others.
/// Of the flows `traced` the sender's association is traced.
pub(crate) fn place(
    scenario: &Checked,
    seed: Seed,
    vacant: Option<&str>,
    traced: &[String],
    site: &mut Site<'_>,
) -> Result<(Vec<PlannedFlow>, Option<Seats>), BuildError> {
    let mut flows = Vec::new();
    let mut seats = None;
    let source_mtu = source_mtu(scenario, site.graph);
    for (name, flow) in scenario.flows.iter() {
        if !site.are_simulated(*flow.hosts) {
            continue;
        }
        site.join_both(*flow.hosts)?;
        if vacant == Some(name) {
            let place = &mut Placement {
                scenario,
                seed,
                site,
                source_mtu,
                is_watched: false,
                is_traced: false,
                later: Duration::ZERO,
            };
            let ends = place.ends(flow, flow.numbers.start)?;
            let (sending, receiving) = transport::configs(&scenario.nodes, flow, ends);
            seats = Some(Seats { hosts: *flow.hosts, configs: [sending, receiving] });
            continue;
        }
        let is_watched = scenario.probes.timelines.iter().any(|watched| watched == name);
        let [from, to] = flow.hosts.map(|host| site.node(host));
        for ((own, name), number) in (0..).zip(names(name, *flow.count)).zip(flow.numbers.0.clone()) {
            let is_traced = traced.contains(&name);
            let later = flow.staggered_by(own);
            let mut place = Placement { scenario, seed, site, source_mtu, is_watched, is_traced, later };
            let (sender, receiver) = place.flow(&name, flow, number)?;
            flows.push(PlannedFlow { name, flow: Flow::clone(flow), from, to, sender, receiver });
        }
    }
    Ok((flows, seats))
}

/// The longest packet that every link carries: a host that sends a longer one of IPv6 cuts it. Asked for only if there
/// are datagrams, which nothing else adapts to their way.
fn source_mtu(scenario: &Checked, graph: &NetworkGraph) -> u16 {
    if !scenario.flows.iter().any(|(_, flow)| flow.transport.is_of_datagrams()) {
        return u16::MAX;
    }
    let directions = graph.links().flat_map(|link| [link.forward(), link.reverse()]);
    let least = directions.map(|direction| graph.direction(direction).mtu_bytes).min();
    least.and_then(|mtu| u16::try_from(mtu).ok()).unwrap_or(u16::MAX)
}

/// The names of flows that one table makes: its own, or numbered if there are several.
fn names(name: &str, count: u32) -> impl Iterator<Item = String> {
    (0..count).map(move |own| if count == 1 { name.to_owned() } else { format!("{name}.{own}") })
}

/// Path that names a flow among all that draws in a run.
fn path(name: &str) -> String {
    format!("flows/{name}")
}

/// Random streams from which the flows of a table draw the instants of their messages, one for each flow.
pub fn workload_streams(seed: Seed, name: &str, flow: &Flow) -> Vec<Stream> {
    names(name, *flow.count).map(|name| workload_stream(seed, &path(&name))).collect()
}

/// The ends of a flow that is left to others.
pub struct Seats {
    /// Hosts of the sending end and of the receiving one.
    pub hosts: [HostNumber; 2],
    /// Of the sending end and of the receiving one.
    pub configs: [TransportConfig; 2],
}

struct Placement<'a, 'site> {
    scenario: &'a Checked,
    seed: Seed,
    site: &'a mut Site<'site>,
    /// Longest packet that every link carries, in bytes.
    source_mtu: u16,
    /// True if the flow's paths are watched.
    is_watched: bool,
    /// True if the sender's association is traced.
    is_traced: bool,
    /// By how much the flow starts later than the first of its table.
    later: Duration,
}

impl Placement<'_, '_> {
    /// Adds both ends of a flow to their hosts.
    fn flow(&mut self, name: &str, flow: &Flow, number: u16) -> Result<(SocketId, SocketId), BuildError> {
        let ends = self.ends(flow, number)?;
        let [from, to] = *flow.hosts;
        let probes = &self.scenario.probes;
        let is_stamped = *flow.content == schema::Content::Stamped;
        let records = *probes.messages && is_stamped;
        let has_delays = probes.delays.quantity().is_some() || probes.deadline.quantity().is_some();
        let measurement = if probes.intervals.quantity().is_some() {
            Measurement::DelaysAndRetransmissions
        } else if has_delays || self.is_traced {
            // A trace tells when each message was offered and delivered.
            Measurement::Delays
        } else if flow.transport.is_of_datagrams() {
            // What becomes of datagrams is always counted.
            Measurement::Delays
        } else {
            Measurement::Off
        };
        let (mut sending, receiving) = transport::configs(&self.scenario.nodes, flow, ends);
        if let Protocol::Sctp(sctp) = &mut sending.protocol {
            sctp.trace = self.is_traced;
        }
        let handover = self.handover(flow, from, &mut sending);
        let origin = Instant::START + self.later + self.jitter(name, flow);
        let (mut workload, mut options) = (workload(flow), options_of(flow));
        Destinations::of(flow)
            .resolve(&mut workload, &mut options, |link| self.site.address_on(link, self.site.node(to)));
        let config = SenderConfig {
            connect: origin + *flow.connect,
            start: origin + *flow.start,
            stop: flow.end.map(|end| Instant::START + *end),
            workload,
            when_blocked: when_blocked(flow),
            content: content(flow),
            streams: *flow.streams,
            unordered: *flow.unordered,
            record_messages: records,
            measurement,
            record_timeline: self.is_watched,
            sample_paths: probes.paths.quantity(),
            options,
            adaptation: adaptation(flow, number),
        };
        let path = path(name);
        let host = self.site.host(from);
        let destinations = sending.peer.as_ref().map(|peer| peer.addresses.clone()).unwrap_or_default();
        let has_paths = destinations.len() > 1;
        let sender = host.add_sender(sending, config, self.seed, &path);
        if let Some(handover) = handover {
            for destination in destinations {
                host.leave_from(destination, handover.from);
            }
            host.add_handover(sender, handover);
        }
        let end_is = |end: schema::End| move |event: &&Named<schema::AssociationEvent>| *event.end == end;
        for event in flow.script.iter().filter(end_is(schema::End::Sender)) {
            let (at, command) = script::command(event);
            host.add_command(sender, at, command);
        }
        let config = ReceiverConfig {
            content: content(flow),
            // A check limits those that are added.
            streams: u16::try_from(u32::from(*flow.streams) + script::streams_added(flow))
                .unwrap_or(u16::MAX),
            unordered: *flow.unordered,
            may_skip: may_skip(flow),
            records: match (records, measurement) {
                (true, _) => MessageRecords::TimesAndJourneys,
                // A failover is told with the arrival of the first message that went by the other path.
                (false, Measurement::Off) if has_paths && is_stamped => MessageRecords::Times,
                (false, Measurement::Off) => MessageRecords::Nothing,
                (false, _) if is_stamped => MessageRecords::Times,
                (false, _) => MessageRecords::Nothing,
            },
            read_rate: flow.read_rate.map(|rate| *rate),
            adaptation: adaptation(flow, number),
        };
        let host = self.site.host(to);
        let receiver = host.add_receiver(receiving, config, self.seed, &path);
        for event in flow.script.iter().filter(end_is(schema::End::Receiver)) {
            let (at, command) = script::command(event);
            host.add_command(receiver, at, command);
        }
        Ok((sender, receiver))
    }
}

impl Placement<'_, '_> {
    /// By how much the flow connects and starts later in this run. Flows that start apart connect apart too: the
    /// handshakes of many at one instant would overflow a queue that their load never fills.
    fn jitter(&self, name: &str, flow: &Flow) -> Duration {
        if flow.start_jitter.is_zero() {
            return Duration::ZERO;
        }
        let mut stream = self.seed.stream(&format!("flows/{name}/start"));
        Duration::from_nanos(stream.below(flow.start_jitter.as_nanos()))
    }

    /// Gives the instant at which the sender moves to another of its links; until then it has one address, which is not
    /// on that link.
    fn handover(
        &self,
        flow: &Flow,
        from: HostNumber,
        sending: &mut TransportConfig,
    ) -> Option<AddressHandover> {
        let (at, link) = (flow.handover_at.as_ref()?, flow.handover_to.as_ref()?);
        let to = self.site.address_on(link, self.site.node(from))?;
        sending.local_addresses.retain(|address| *address != to);
        sending.local_addresses.truncate(1);
        let from = *sending.local_addresses.first()?;
        Some(AddressHandover { at: Instant::START + **at, from, to })
    }

    /// Ports and addresses of the ends of flow `number`.
    fn ends(&mut self, flow: &Flow, number: u16) -> Result<Ends, BuildError> {
        let [sender_port, receiver_port] = ports(service(flow), number);
        let [sender, receiver] = self.site.addresses(&flow.primary, *flow.hosts)?;
        Ok(Ends { sender_port, receiver_port, sender, receiver, source_mtu: self.source_mtu })
    }
}

/// Behaviour of the sender while its send buffer is full.
pub fn when_blocked(flow: &Flow) -> WhenBlocked {
    match *flow.when_blocked {
        schema::BlockedBehaviour::Queue => WhenBlocked::Queue,
        schema::BlockedBehaviour::Wait => WhenBlocked::Wait,
    }
}

/// Tells whether messages may be missing, or go on any stream.
fn may_skip(flow: &Flow) -> bool {
    let is_mixed = matches!(flow.application.0, Application::Mixed(_));
    let gives_up = flow.lifetime.is_some() || flow.max_retransmissions.is_some();
    flow.transport.is_of_datagrams() || is_mixed || gives_up || script::streams_added(flow) > 0
}

/// The layer of flow `number`.
fn adaptation(flow: &Flow, number: u16) -> FlowAdaptation {
    // Tunnel 0 is no subscriber's.
    let id = u32::from(number) + 1;
    match *flow.adaptation {
        schema::Adaptation::GtpU => FlowAdaptation::GtpU { tunnel: id },
        schema::Adaptation::Rtp => FlowAdaptation::Rtp { source: id },
        schema::Adaptation::M3ua => FlowAdaptation::Signalling(&FLOW_M3UA),
        schema::Adaptation::None => FlowAdaptation::None,
    }
}

fn content(flow: &Flow) -> message::Content {
    match *flow.content {
        schema::Content::Pattern => message::Content::Pattern,
        schema::Content::Stamped => message::Content::Stamped,
    }
}

/// Messages that a flow sends, and their times.
pub fn workload(flow: &Flow) -> Workload {
    match &flow.application.0 {
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
        Application::Mixed(mixed) => {
            let classes = mixed.classes.iter().map(|(_, class)| MessageClass {
                stream: *class.stream,
                message: *class.message_size,
                messages: *class.messages,
                interval: *class.interval,
                options: options_of_kind(flow, class),
                unordered: class.unordered.map_or(*flow.unordered, |unordered| *unordered),
            });
            Workload::Mixed { classes: classes.collect() }
        }
        Application::Ping(ping) => Workload::Ping {
            message: *ping.message_size,
            interval: *ping.interval,
            count: ping.count.map(|count| *count),
        },
        Application::Voice(voice) => Workload::Voice {
            message: *voice.message_size,
            interval: *voice.interval,
            mean_talk: *voice.mean_talk,
            mean_silence: *voice.mean_silence,
        },
        Application::Poisson(poisson) => {
            Workload::Poisson { message: *poisson.message_size, mean_interval: poisson.spacing() }
        }
        Application::Trace(trace) => Workload::Trace { messages: Arc::clone(&trace.messages) },
    }
}
