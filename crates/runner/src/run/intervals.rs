//! Rows for each interval of a run, made from what counters say at its end: within an interval nothing is done for
//! them.

use std::collections::BTreeMap;
use std::io;

use slantpath_applications::record::{ReceiverReport, SenderReport};
use slantpath_applications::{AssociationCounters, Associations};
use slantpath_base::{Duration, Instant};
use slantpath_net::{
    self as net, DirectionCounters, PacketCount, QueueStatistics, SharedPortId, SharedPortStatistics,
};
use slantpath_orbit::constellation::Payload;
use slantpath_sat::Sky;
use slantpath_scenario::build::{PlannedFlow, PlannedLink, RunNetwork};
use slantpath_signalling::EndCounters;
use slantpath_simulation::{AssociationPlace, Carried, Side, SignallingLinkId, SignallingSimulation};

use super::delays::FlowDelays;
use super::failover_sums::FailoverSums;
use super::tables::flows::counts_messages;
use super::tables::intervals::{
    AssociationIntervals, FlowIntervals, LinkIntervals, SharedDownlinkIntervals, SignallingLinkIntervals,
};
use super::tables::network::directions;
use super::tables::{receiver_report, sender_report};
use crate::observer::Observer;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Counts at the beginning of the present interval.
#[derive(Debug)]
pub(super) struct Intervals {
    period: Duration,
    /// Instant at which the present interval began.
    start: Instant,
    tables: Places,
    flows: Vec<FlowCounts>,
    /// Of both directions of each link.
    links: Vec<LinkCounts>,
    /// Of the transmitters that antennas share.
    shared_downlinks: Vec<SharedDownlink>,
    /// Of both ends of each signalling link.
    signalling_links: Vec<SignallingLinkCounts>,
    /// With what they are called.
    associations: Vec<(String, AssociationCounts)>,
}

/// The places of the tables among those announced; none of what the scenario has not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) associations: Option<usize>,
    pub(super) flows: usize,
    pub(super) links: usize,
    pub(super) shared_downlinks: Option<usize>,
    pub(super) signalling_links: Option<usize>,
}

/// Sources of the rows of an interval.
pub(super) struct Sources<'a, 'p> {
    pub(super) scenario: &'a Scenario,
    pub(super) flows: &'a [PlannedFlow],
    pub(super) links: &'a [PlannedLink],
    pub(super) delays: &'a mut [FlowDelays],
    pub(super) network: &'a mut RunNetwork<'p>,
    pub(super) signalling: Option<&'a SignallingSimulation>,
    pub(super) failovers: IntervalFailovers,
}

/// Failovers of an interval.
#[derive(Debug, Default)]
pub(super) struct IntervalFailovers {
    /// Sums of each flow; `None` of one that has one path.
    pub(super) flows: Vec<Option<FailoverSums>>,
    /// Sums of each end of what carries signalling.
    pub(super) signalling: BTreeMap<(Carried, Side), FailoverSums>,
}

impl IntervalFailovers {
    fn of(&self, carried: Carried, side: Side) -> FailoverSums {
        self.signalling.get(&(carried, side)).copied().unwrap_or_default()
    }
}

/// A transmitter of a satellite, and what it had counted.
#[derive(Debug)]
struct SharedDownlink {
    satellite: String,
    /// The table that makes antennas share it.
    access: String,
    port: SharedPortId,
    counters: DirectionCounters,
    /// Packets that it had taken in.
    taken: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkCounts {
    counters: DirectionCounters,
    busy: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowCounts {
    messages_sent: u64,
    messages_delivered: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    retransmissions: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct SignallingLinkCounts {
    end: EndCounters,
    sent_bytes: u64,
    received_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct AssociationCounts {
    messages: AssociationCounters,
    retransmissions: u64,
}

impl FlowCounts {
    fn of(sender: &SenderReport, receiver: &ReceiverReport) -> Self {
        Self {
            messages_sent: sender.messages_sent,
            messages_delivered: receiver.messages_delivered,
            sent_bytes: sender.bytes_sent,
            delivered_bytes: receiver.bytes_delivered,
            retransmissions: sender.retransmissions,
        }
    }
}

/// Bits a second, of bytes within an interval.
fn rate(bytes: u64, (start, end): (Instant, Instant)) -> f64 {
    8.0 * bytes as f64 / (end - start).as_secs_f64()
}

/// Mean time that each of this many packets waited, in seconds. Little's law: the mean number that waits is the number
/// that passes in a time, for as long as each waits.
fn mean_wait(queue: &QueueStatistics, packets: u64) -> Option<f64> {
    (packets > 0).then(|| queue.mean_packets * queue.span.as_secs_f64() / packets as f64)
}

/// Packets that a transmitter has taken in, to wait or to be sent.
fn taken_in(counters: &DirectionCounters) -> u64 {
    let at_the_door = [
        net::DropReason::Down,
        net::DropReason::Early,
        net::DropReason::Forced,
        net::DropReason::Mtu,
        net::DropReason::NoContact,
        net::DropReason::Policed,
        net::DropReason::QueueFull,
    ];
    let refused: u64 = at_the_door.iter().map(|&reason| counters.dropped(reason).packets).sum();
    counters.offered.packets.saturating_sub(refused)
}

/// The mean in seconds of so many times; `None` of none.
fn mean_s(sum: Duration, count: u64) -> Option<f64> {
    (count > 0).then(|| sum.as_secs_f64() / count as f64)
}

impl Intervals {
    pub(super) fn new(period: Duration, tables: Places, flows: usize, links: usize) -> Self {
        Self {
            period,
            start: Instant::START,
            tables,
            flows: vec![FlowCounts::default(); flows],
            links: vec![LinkCounts::default(); 2 * links],
            shared_downlinks: Vec::new(),
            signalling_links: Vec::new(),
            associations: Vec::new(),
        }
    }

    /// Has transmitters that antennas share have rows, too, but for satellites that only repeat: these have none.
    pub(super) fn watch_sky(&mut self, scenario: &Scenario, sky: &Sky) {
        let (Some(table), Some(plan)) = (&scenario.sky, scenario.sky_plan()) else { return };
        let access: Vec<&str> = table.access.iter().map(|(name, _)| name).collect();
        let shared = sky.shared_downlinks().into_iter();
        let shared = shared.filter(|&(body, ..)| plan.contacts.payload(body) != Some(Payload::BentPipe));
        let shared = shared.map(|(body, table, port)| SharedDownlink {
            satellite: plan.contacts.names()[body.index()].clone(),
            access: access[table].to_owned(),
            port,
            counters: DirectionCounters::default(),
            taken: 0,
        });
        self.shared_downlinks = shared.collect();
    }

    /// Instant at which the present interval ends, unless something ends it before.
    pub(super) fn end(&self) -> Instant {
        self.start.saturating_add(self.period)
    }

    /// Hands over the rows of the interval that ends at `now`, if it has lasted any time; the next one begins.
    pub(super) fn close(
        &mut self,
        now: Instant,
        sources: &mut Sources<'_, '_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let span = (self.start, now);
        if self.start >= now {
            return Ok(());
        }
        self.start = now;
        self.close_flows(span, sources, observer)?;
        self.close_links(span, sources, observer)?;
        self.close_shared_downlinks(span, sources, observer)?;
        let Some(signalling) = sources.signalling else { return Ok(()) };
        self.close_signalling_links(span, sources, signalling, observer)?;
        self.close_associations(span, sources, signalling, observer)
    }

    /// Counters of links have been started anew.
    pub(super) fn restart_links(&mut self) {
        self.links.fill(LinkCounts::default());
        for shared in &mut self.shared_downlinks {
            (shared.counters, shared.taken) = (DirectionCounters::default(), 0);
        }
    }

    fn close_flows(
        &mut self,
        span: (Instant, Instant),
        sources: &mut Sources<'_, '_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let mut rows = FlowIntervals::new();
        for (place, flow) in sources.flows.iter().enumerate() {
            let network = &mut *sources.network;
            let now = FlowCounts::of(sender_report(network, flow), receiver_report(network, flow));
            let before = std::mem::replace(&mut self.flows[place], now);
            let delays = sources.delays[place].end_interval();
            let congestion = network.host_mut(flow.from).congestion(span.1, flow.sender);
            let delivered_bytes = now.delivered_bytes - before.delivered_bytes;
            let delivered = counts_messages(flow).then(|| now.messages_delivered - before.messages_delivered);
            let srtt = congestion.and_then(|congestion| congestion.srtt);
            rows.flow.push(&flow.name);
            rows.span.push(span);
            rows.messages_sent.push(now.messages_sent - before.messages_sent);
            rows.messages_delivered.push_optional(delivered);
            rows.sent_bytes.push(now.sent_bytes - before.sent_bytes);
            rows.delivered_bytes.push(delivered_bytes);
            rows.retransmissions.push(now.retransmissions - before.retransmissions);
            rows.cwnd_bytes.push_optional(congestion.map(|congestion| congestion.cwnd_bytes));
            rows.outstanding_bytes.push_optional(congestion.map(|congestion| congestion.outstanding_bytes));
            rows.throughput_bit_per_s.push(rate(delivered_bytes, span));
            rows.delay_mean_s.push_optional(delays.mean_s());
            rows.delay_max_s.push_optional(delays.max.map(Duration::as_secs_f64));
            rows.srtt_s.push_optional(srtt.map(Duration::as_secs_f64));
            let failovers = sources.failovers.flows.get(place).copied().flatten();
            rows.failovers.push_optional(failovers.map(|sums| sums.real));
            let longest = failovers.and_then(|sums| sums.longest);
            rows.failover_max_s.push_optional(longest.map(Duration::as_secs_f64));
        }
        observer.rows(self.tables.flows, 0, rows.finish(TableKind::FlowIntervals))
    }

    fn close_links(
        &mut self,
        span: (Instant, Instant),
        sources: &mut Sources<'_, '_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let mut rows = LinkIntervals::new();
        for (place, link) in sources.links.iter().enumerate() {
            for (side, (direction, id)) in directions(link).into_iter().enumerate() {
                let queue = link.has_queue[side].then(|| sources.network.end_queue_window(id));
                let counted =
                    LinkCounts { counters: *sources.network.counters(id), busy: sources.network.busy(id) };
                let counted_before = std::mem::replace(&mut self.links[2 * place + side], counted);
                let (now, before) = (counted.counters, counted_before.counters);
                let since = |now: PacketCount, before: PacketCount| PacketCount {
                    packets: now.packets - before.packets,
                    bytes: now.bytes - before.bytes,
                };
                let offered = since(now.offered, before.offered);
                let carried = since(now.carried, before.carried);
                let marks = sources.network.graph().direction(id).queue.marks();
                let busy = (counted.busy - counted_before.busy).as_secs_f64();
                let utilisation = link.has_transmitter[side].then(|| busy / (span.1 - span.0).as_secs_f64());
                let taken = taken_in(&now).saturating_sub(taken_in(&before));
                rows.link.push(&link.name);
                rows.direction.push(direction);
                rows.span.push(span);
                rows.offered_packets.push(offered.packets);
                rows.offered_bytes.push(offered.bytes);
                rows.carried_packets.push(carried.packets);
                rows.carried_bytes.push(carried.bytes);
                rows.dropped_packets.push(since(now.dropped_in_all(), before.dropped_in_all()).packets);
                rows.queue_max_packets.push_optional(queue.as_ref().map(|queue| queue.max_packets));
                let marked = since(now.marked, before.marked).packets;
                rows.marked_packets.push_optional(marks.then_some(marked));
                rows.throughput_bit_per_s.push(rate(carried.bytes, span));
                rows.utilisation_ratio.push_optional(utilisation);
                rows.queue_mean_packets.push_optional(queue.as_ref().map(|queue| queue.mean_packets));
                rows.wait_mean_s.push_optional(queue.and_then(|queue| mean_wait(&queue, taken)));
                let terms = sources.network.carriage_terms(id);
                let rate = link.has_transmitter[side].then(|| terms.rate.as_bits_per_sec());
                rows.rate_bit_per_s.push_optional(rate.map(|bits| bits as f64));
                rows.delay_s.push_optional(terms.is_carrying.then(|| terms.delay.as_secs_f64()));
                rows.loss_ratio.push(if terms.is_carrying { terms.loss.as_f64() } else { 1.0 });
            }
        }
        observer.rows(self.tables.links, 0, rows.finish(TableKind::LinkIntervals))
    }

    /// Rows of transmitters to which something was offered, or which had something waiting: large constellations have
    /// thousands of which that is not so.
    fn close_shared_downlinks(
        &mut self,
        span: (Instant, Instant),
        sources: &mut Sources<'_, '_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let Some(table) = self.tables.shared_downlinks else { return Ok(()) };
        let mut rows = SharedDownlinkIntervals::new();
        for shared in &mut self.shared_downlinks {
            let SharedPortStatistics { counters: now, queue, taken, .. } =
                sources.network.end_shared_queue_window(shared.port);
            let before = std::mem::replace(&mut shared.counters, now);
            let taken = taken - std::mem::replace(&mut shared.taken, taken);
            if now.offered.packets == before.offered.packets && queue.max_packets == 0 && queue.busy.is_zero()
            {
                continue;
            }
            rows.satellite.push(&shared.satellite);
            rows.access.push(&shared.access);
            rows.span.push(span);
            rows.offered_packets.push(now.offered.packets - before.offered.packets);
            rows.offered_bytes.push(now.offered.bytes - before.offered.bytes);
            rows.dropped_packets.push(now.dropped_in_all().packets - before.dropped_in_all().packets);
            rows.handed_over_packets.push(now.handed_over.packets - before.handed_over.packets);
            rows.queue_max_packets.push(queue.max_packets);
            rows.marked_packets.push(now.marked.packets - before.marked.packets);
            rows.utilisation_ratio.push(queue.busy.as_secs_f64() / queue.span.as_secs_f64());
            rows.queue_mean_packets.push(queue.mean_packets);
            rows.wait_mean_s.push_optional(mean_wait(&queue, taken));
        }
        observer.rows(table, 0, rows.finish(TableKind::SharedDownlinkIntervals))
    }

    fn close_signalling_links(
        &mut self,
        span: (Instant, Instant),
        sources: &Sources<'_, '_>,
        signalling: &SignallingSimulation,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let Some(table) = self.tables.signalling_links else { return Ok(()) };
        let network = signalling.signalling();
        let scenario = sources.scenario;
        let ends = 2 * scenario.signalling.links.iter().count();
        self.signalling_links.resize_with(ends, Default::default);
        let mut rows = SignallingLinkIntervals::new();
        for (number, (link, keys)) in scenario.signalling.links.iter().enumerate() {
            for (side, at) in Side::BOTH.into_iter().zip([&keys.between.0, &keys.between.1]) {
                let id = SignallingLinkId(number);
                let measured = network.link_measurements(id, side);
                let now = SignallingLinkCounts {
                    end: network.link_counters(id, side),
                    sent_bytes: measured.sent_octets,
                    received_bytes: measured.received_octets,
                };
                let before = std::mem::replace(&mut self.signalling_links[2 * number + side as usize], now);
                let received_bytes = now.received_bytes - before.received_bytes;
                let taken = now.end.acknowledged - before.end.acknowledged;
                let after = now.end.acknowledged_after - before.end.acknowledged_after;
                rows.link.push(link);
                rows.point.push(at);
                rows.span.push(span);
                rows.given_messages.push(now.end.given - before.end.given);
                rows.refused_messages.push(now.end.refused - before.end.refused);
                rows.sent_messages.push(now.end.sent - before.end.sent);
                rows.repeated_messages.push(now.end.repeated - before.end.repeated);
                rows.received_messages.push(now.end.received - before.end.received);
                rows.discarded_messages.push(now.end.discarded - before.end.discarded);
                rows.sent_bytes.push(now.sent_bytes - before.sent_bytes);
                rows.received_bytes.push(received_bytes);
                rows.queued_messages.push(network.link_queue(id, side) as u64);
                rows.acknowledged_messages.push(taken);
                rows.throughput_bit_per_s.push(rate(received_bytes, span));
                rows.acknowledgement_delay_mean_s.push_optional(mean_s(after, taken));
                let failovers = sources.failovers.of(Carried::Link(id), side);
                rows.failovers.push(failovers.real);
                rows.failover_max_s.push_optional(failovers.longest.map(Duration::as_secs_f64));
            }
        }
        observer.rows(table, 0, rows.finish(TableKind::SignallingLinkIntervals))
    }

    fn close_associations(
        &mut self,
        span: (Instant, Instant),
        sources: &mut Sources<'_, '_>,
        signalling: &SignallingSimulation,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let Some(table) = self.tables.associations else { return Ok(()) };
        let mut rows = AssociationIntervals::new();
        if self.associations.is_empty() {
            let called = |place| (association_name(sources.scenario, place), AssociationCounts::default());
            self.associations = signalling.places().iter().map(called).collect();
        }
        for (place, (name, before)) in signalling.places().iter().zip(&mut self.associations) {
            let host = sources.network.host_mut(place.node);
            let congestion = host.congestion(span.1, place.association);
            let messages = host.association_counters(place.association).unwrap_or_default();
            let queued = host.association_waiting(place.association).unwrap_or_default();
            let retransmissions = congestion.map_or(0, |congestion| congestion.retransmissions);
            // An association that was opened anew has counted from zero.
            let repeated = retransmissions.checked_sub(before.retransmissions).unwrap_or(retransmissions);
            let earlier = std::mem::replace(before, AssociationCounts { messages, retransmissions }).messages;
            let discarded = |counters: AssociationCounters| counters.discarded_down + counters.discarded_full;
            let received_bytes = messages.received_bytes - earlier.received_bytes;
            let acknowledged = messages.acknowledged - earlier.acknowledged;
            let after = messages.acknowledged_after - earlier.acknowledged_after;
            let srtt = congestion.and_then(|congestion| congestion.srtt);
            rows.association.push(name);
            rows.host.push(sources.network.graph().node_name(place.node));
            rows.span.push(span);
            rows.sent_messages.push(messages.sent - earlier.sent);
            rows.received_messages.push(messages.received - earlier.received);
            rows.discarded_messages.push(discarded(messages) - discarded(earlier));
            rows.sent_bytes.push(messages.sent_bytes - earlier.sent_bytes);
            rows.received_bytes.push(received_bytes);
            rows.queued_messages.push(queued as u64);
            rows.times_lost.push(messages.times_lost - earlier.times_lost);
            rows.retransmissions.push(repeated);
            rows.cwnd_bytes.push_optional(congestion.map(|congestion| congestion.cwnd_bytes));
            rows.outstanding_bytes.push_optional(congestion.map(|congestion| congestion.outstanding_bytes));
            rows.acknowledged_messages.push(acknowledged);
            rows.throughput_bit_per_s.push(rate(received_bytes, span));
            rows.srtt_s.push_optional(srtt.map(Duration::as_secs_f64));
            rows.acknowledgement_delay_mean_s.push_optional(mean_s(after, acknowledged));
            let failovers = sources.failovers.of(place.end.carried, place.end.side);
            rows.failovers.push(failovers.real);
            rows.failover_max_s.push_optional(failovers.longest.map(Duration::as_secs_f64));
        }
        observer.rows(table, 0, rows.finish(TableKind::AssociationIntervals))
    }
}

/// The tables that a scenario has rows for, in alphabetical order.
pub(super) fn kinds(
    signalling: Option<&SignallingSimulation>,
    scenario: &Scenario,
) -> [Option<TableKind>; 5] {
    let has_associations = signalling.is_some_and(|signalling| !signalling.places().is_empty());
    let has_links = !scenario.signalling.links.is_empty();
    let mut access = scenario.sky.iter().flat_map(|sky| sky.access.iter());
    let has_shared = access.any(|(_, table)| *table.shared_downlink);
    [
        has_associations.then_some(TableKind::AssociationIntervals),
        Some(TableKind::FlowIntervals),
        Some(TableKind::LinkIntervals),
        has_shared.then_some(TableKind::SharedDownlinkIntervals),
        has_links.then_some(TableKind::SignallingLinkIntervals),
    ]
}

/// An association is called as the link or the association that it carries.
pub(super) fn association_name(scenario: &Scenario, place: &AssociationPlace) -> String {
    let signalling = &scenario.signalling;
    let name = match place.end.carried {
        Carried::Adaptation(id) => signalling.associations.iter().nth(id.0).map(|(name, _)| name),
        Carried::Link(id) => signalling.links.iter().nth(id.0).map(|(name, _)| name),
    };
    name.expect("what is carried has its place in the file").to_owned()
}
