//! Takes out of a running network what has become final, and hands it to the run's observer.

use std::collections::VecDeque;
use std::io;

use slantpath_applications::record::{DeliveredMessage, Finality, SenderRecords, SentMessage};
use slantpath_applications::{Associations, Failover, Flows};
use slantpath_base::{Duration, Instant};
use slantpath_host::SocketId;
use slantpath_net::{CaptureId, NodeId};
use slantpath_results::{Histogram, Moments, Table};
use slantpath_scenario::build::{PlannedFlow, PlannedLink, PlannedPath, RunNetwork, reliabilities};
use slantpath_scenario::schema;
use slantpath_sctp::Reliability;
use slantpath_simulation::{AssociationPlace, SignallingSimulation};

use super::announced::{Recorded, announced, has_several_paths};
use super::datagrams::{DatagramMeasures, WINDOW};
use super::delays::FlowDelays;
use super::diversions_record::DiversionsRecord;
use super::failover_sums::FailoverSums;
use super::intervals::{self, IntervalFailovers, Intervals, Sources};
use super::parts::{self, PartSums, Parts};
use super::path_failovers::PathFailovers;
use super::service_record::ServiceRecord;
use super::sessions_record::{SessionPlaces, SessionsRecord};
use super::signalling_record::SignallingRecord;
use super::sky_record::SkyRecord;
use super::tables::failovers::{self, ToldFailover};
use super::tables::{datagrams, delays, messages, network as links, sender_report, timelines};
use super::trace::Tracing;
use super::{access_record, drops_record};
use crate::observer::{Announcement, Observer};
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Records of a run, on their way to an observer.
pub(super) struct Recorder<'a> {
    scenario: &'a Scenario,
    links: &'a [PlannedLink],
    flows: &'a [PlannedFlow],
    observer: &'a mut dyn Observer,
    captures: Vec<(String, CaptureId)>,
    /// The place of each table among those announced, if it is kept.
    messages: Option<usize>,
    paths: Option<usize>,
    drops: Option<drops_record::DropsRecord>,
    failovers: Option<usize>,
    planned_paths: &'a [PlannedPath],
    service: Option<ServiceRecord<'a>>,
    association_paths: Option<usize>,
    queues: Option<usize>,
    timelines: Option<usize>,
    /// The ends of associations whose paths are sampled.
    ends: Vec<SampledEnd>,
    records: Vec<FlowRecord>,
    /// Of each flow, if a probe needs them without records of messages.
    delays: Vec<FlowDelays>,
    /// Of each flow that is of datagrams.
    datagrams: Vec<Option<DatagramMeasures>>,
    /// Of each flow of echo requests, from these to their replies.
    round_trips: Vec<Option<DatagramMeasures>>,
    intervals: Option<Intervals>,
    signalling: Option<SignallingRecord<'a>>,
    sessions: Option<SessionsRecord<'a>>,
    sky: Option<SkyRecord<'a>>,
    /// The place of `access`, if it is kept.
    access: Option<usize>,
    /// From when on messages count for the statistics of their flow.
    warm_up: Instant,
    tracing: Option<Tracing<'a>>,
}

/// An end of an association that carries signalling.
struct SampledEnd {
    name: String,
    node: NodeId,
    socket: SocketId,
}

impl SampledEnd {
    fn all(scenario: &Scenario, signalling: Option<&SignallingSimulation>) -> Vec<Self> {
        let places = signalling.into_iter().flat_map(SignallingSimulation::places);
        let end = |place: &AssociationPlace| Self {
            name: intervals::association_name(scenario, place),
            node: place.node,
            socket: place.association,
        };
        places.map(end).collect()
    }
}

/// Statistics of the delays of a flow, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelaySummary {
    pub(super) mean: Option<f64>,
    pub(super) median: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) deviation: Option<f64>,
    pub(super) retransmitted_mean: Option<f64>,
    /// Number of messages that were retransmitted, if they are recorded.
    pub(super) retransmitted: Option<u64>,
    /// Number of messages that came too late, if there is a deadline.
    pub(super) late: Option<u64>,
    /// Means of [what delays consist of](Parts).
    pub(super) parts: [Option<f64>; parts::COUNT],
}

/// Moments of the delays of a flow.
#[derive(Clone, Debug, Default)]
struct DelayMoments {
    all: Moments,
    retransmitted: Moments,
    /// Messages that were retransmitted, whether or not they were delivered.
    retransmitted_messages: u64,
    parts: PartSums,
}

/// Messages of a flow, from the first one on whose row may still change.
#[derive(Clone, Debug, Default)]
struct FlowRecord {
    /// The number of that first message.
    first: u64,
    /// True if a message may never be delivered: it is held for [`WINDOW`] later ones, and no longer.
    may_lose: bool,
    /// Messages that the sender has done with.
    sent: VecDeque<SentMessage>,
    /// First deliveries of these messages and of later ones.
    delivered: VecDeque<Option<DeliveredMessage>>,
    delays: DelayMoments,
    /// Names of the flow's paths, once they are known.
    paths: Vec<Option<String>>,
    /// Failovers that have not been told, each with the instant at which its first message was delivered.
    failing_over: VecDeque<(Failover, Option<Instant>)>,
    failovers: FailoverSums,
    /// Failovers since the present interval began.
    recent_failovers: FailoverSums,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        of: Recorded<'a>,
        network: &mut RunNetwork<'_>,
        signalling: Option<&SignallingSimulation>,
        captures: Vec<(String, CaptureId)>,
        observer: &'a mut dyn Observer,
    ) -> io::Result<Self> {
        let Recorded { scenario, links, flows, sessions, sky, ways, paths, links_change: _ } = of;
        let probes = &scenario.probes;
        let ends = SampledEnd::all(scenario, signalling.filter(|_| probes.paths.quantity().is_some()));
        let (tables, places) = announced(&of, signalling, ends.len());
        let names = captures.iter().map(|(link, _)| link.clone()).collect();
        let of_delays = flows.len() + sessions.len();
        observer.announce(&Announcement { tables, captures: names, delays: of_delays })?;
        let period = probes.intervals.quantity();
        let (precision, deadline) = (probes.delays.histogram(), probes.deadline.quantity());
        let delays = match (precision, deadline, period) {
            (None, None, None) => Vec::new(),
            _ => flows.iter().map(|flow| FlowDelays::new(precision, deadline, may_lose(flow))).collect(),
        };
        let mut intervals = period
            .zip(places.intervals)
            .map(|(period, tables)| Intervals::new(period, tables, flows.len(), links.len()));
        if let (Some(intervals), Some(sky)) = (&mut intervals, sky) {
            intervals.watch_sky(scenario, sky);
        }
        let events = places.signalling_events;
        let warm_up = Instant::START + *scenario.scenario.warm_up;
        let diversions = signalling
            .zip(places.signalling_failovers)
            .map(|(simulation, table)| DiversionsRecord::new(scenario, simulation, table, warm_up));
        let of_paths = signalling.zip(places.failovers).map(|(simulation, table)| {
            PathFailovers::new((scenario, links, paths), simulation, (table, flows.len()), network)
        });
        let of_signalling = events.zip(diversions).map(|(events, diversions)| {
            SignallingRecord::new(scenario, events, places.signalling_server_events, diversions, of_paths)
        });
        let of_sessions = places.sessions.map(|table| {
            let places = SessionPlaces { sessions: table, requests: places.requests, delays: flows.len() };
            SessionsRecord::new(scenario, sessions, places)
        });
        let service = places.outages.map(|table| ServiceRecord::new(paths, table, warm_up, network));
        let of_sky = sky.zip(places.sky).map(|(sky, places)| SkyRecord::new(scenario, sky, ways, places));
        Ok(Self {
            scenario,
            links,
            flows,
            observer,
            captures,
            messages: places.messages,
            paths: places.paths,
            drops: places.drops.map(drops_record::DropsRecord::new),
            failovers: places.failovers,
            planned_paths: paths,
            service,
            association_paths: places.association_paths,
            ends,
            queues: places.queues,
            timelines: places.timelines,
            records: flows.iter().map(FlowRecord::new).collect(),
            delays,
            datagrams: flows.iter().map(|flow| counts_datagrams(flow).then(DatagramMeasures::new)).collect(),
            round_trips: flows.iter().map(|flow| has_replies(flow).then(DatagramMeasures::new)).collect(),
            intervals,
            signalling: of_signalling,
            sessions: of_sessions,
            sky: of_sky,
            access: places.access,
            warm_up,
            tracing: None,
        })
    }

    /// Hands over what traced associations tell, too.
    pub(super) fn trace(&mut self, tracing: Option<Tracing<'a>>) {
        self.tracing = tracing;
    }

    /// After how many events it is worth while to collect again: that goes over all flows and links, so that few
    /// events of many flows must not pay for one.
    pub(super) fn events_between_collections(&self) -> u64 {
        let probed = self.queues.map_or(0, |_| 2 * self.links.len());
        16 * (self.flows.len() + self.ends.len() + probed) as u64
    }

    /// Instant at which the present interval ends, if there are intervals.
    pub(super) fn interval_end(&self) -> Option<Instant> {
        self.intervals.as_ref().map(Intervals::end)
    }

    /// Ends the present interval, if there are intervals.
    pub(super) fn close_interval(
        &mut self,
        network: &mut RunNetwork<'_>,
        signalling: Option<&SignallingSimulation>,
    ) -> io::Result<()> {
        if self.intervals.is_none() {
            return Ok(());
        }
        self.service(network)?;
        for place in 0..self.flows.len() {
            self.flow(place, network, Finality::Settled)?;
        }
        let failovers = self.take_recent_failovers();
        let Some(intervals) = &mut self.intervals else { return Ok(()) };
        let now = network.now();
        let (scenario, flows, links, delays) = (self.scenario, self.flows, self.links, &mut self.delays);
        let mut sources = Sources { scenario, flows, links, delays, network, signalling, failovers };
        intervals.close(now, &mut sources, self.observer)
    }

    /// Takes the failovers of the present interval.
    fn take_recent_failovers(&mut self) -> IntervalFailovers {
        let sums = |(flow, record): (&PlannedFlow, &mut FlowRecord)| {
            let recent = std::mem::take(&mut record.recent_failovers);
            has_several_paths(flow, self.planned_paths).then_some(recent)
        };
        let flows = self.flows.iter().zip(&mut self.records).map(sums).collect();
        let signalling = self.signalling.as_mut().map(SignallingRecord::take_recent_failovers);
        IntervalFailovers { flows, signalling: signalling.unwrap_or_default() }
    }

    /// Counters of links have been started anew.
    pub(super) fn restart_links(&mut self) {
        if let Some(intervals) = &mut self.intervals {
            intervals.restart_links();
        }
    }

    /// Hands over what has happened in a signalling network.
    pub(super) fn collect_signalling(
        &mut self,
        network: &mut RunNetwork<'_>,
        simulation: &mut SignallingSimulation,
    ) -> io::Result<()> {
        // What happened to paths, which failovers of the same time follow from.
        self.service(network)?;
        match &mut self.signalling {
            Some(record) => record.collect(simulation, self.service.as_ref(), self.observer),
            None => Ok(()),
        }
    }

    /// Record of the events of the signalling network.
    pub(super) const fn signalling(&self) -> Option<&SignallingRecord<'a>> {
        self.signalling.as_ref()
    }

    /// Goes over the rows of a table that were handed over.
    pub(super) fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        self.observer.read_again(table, each)
    }

    /// Hands over what is final so far, or all that is left.
    pub(super) fn collect(&mut self, network: &mut RunNetwork<'_>, finality: Finality) -> io::Result<()> {
        for (place, (_, capture)) in self.captures.iter().enumerate() {
            let pcapng = network.take_capture(*capture);
            if !pcapng.is_empty() {
                self.observer.packets(place, pcapng)?;
            }
        }
        if let Some(table) = self.queues {
            self.queue_samples(table, network, finality)?;
        }
        drops_record::collect(&mut self.drops, network, self.observer)?;
        if let Some(table) = self.association_paths {
            self.association_samples(table, network)?;
        }
        self.service(network)?;
        if let Some(signalling) = &mut self.signalling {
            let is_over = finality == Finality::Over;
            signalling.collect_paths(network, is_over, self.service.as_ref(), self.observer)?;
        }
        let is_probed = self.messages.or(self.paths).or(self.timelines).or(self.failovers).is_some()
            || !self.delays.is_empty()
            || self.datagrams.iter().any(Option::is_some);
        if is_probed || self.tracing.is_some() {
            for place in 0..self.flows.len() {
                self.flow(place, network, finality)?;
            }
        }
        if let Some(tracing) = &mut self.tracing {
            tracing.collect(network)?;
        }
        if let Some(sessions) = &mut self.sessions {
            sessions.collect(network, finality, self.observer)?;
        }
        if let Some(sky) = &mut self.sky {
            sky.collect(network, self.observer)?;
        }
        if let Some(table) = self.access {
            for system in 0..self.scenario.access.iter().count() {
                if let Some(rows) = access_record::rows(self.scenario, network, system) {
                    self.observer.rows(table, system, rows)?;
                }
            }
        }
        Ok(())
    }

    /// Totals of the sessions of each table and of each antenna, once everything has been handed over.
    pub(super) fn totals(&mut self, network: &mut RunNetwork<'_>) -> io::Result<Vec<Table>> {
        let mut tables = match &self.sessions {
            Some(sessions) => sessions.tables(self.observer)?,
            None => Vec::new(),
        };
        tables.extend(self.sky.as_ref().map(SkyRecord::table));
        tables.extend(self.signalling.as_ref().map(SignallingRecord::service));
        if let Some(service) = &mut self.service {
            tables.push(service.finish(network.now(), network, self.observer)?);
        }
        Ok(tables)
    }

    /// Takes what has happened to paths, which failovers of the same time follow from.
    fn service(&mut self, network: &mut RunNetwork<'_>) -> io::Result<()> {
        match &mut self.service {
            Some(service) => service.collect(network, self.observer),
            None => Ok(()),
        }
    }

    fn association_samples(&mut self, table: usize, network: &mut RunNetwork<'_>) -> io::Result<()> {
        for (place, end) in self.ends.iter().enumerate() {
            let taken = network.host_mut(end.node).take_association_samples(end.socket);
            let (samples, addresses) = taken.expect("the association was put there");
            if !samples.is_empty() {
                let name = |address: &_| failovers::link_of(self.links, *address).map(str::to_owned);
                let names: Vec<_> = addresses.iter().map(name).collect();
                let host = network.graph().node_name(end.node);
                let rows = links::association_paths([&end.name, host], &names, &samples);
                self.observer.rows(table, place, rows)?;
            }
        }
        Ok(())
    }

    fn queue_samples(
        &mut self,
        table: usize,
        network: &mut RunNetwork<'_>,
        finality: Finality,
    ) -> io::Result<()> {
        for (place, link) in self.links.iter().enumerate() {
            for (side, (direction, id)) in links::directions(link).into_iter().enumerate() {
                let mut samples = network.take_queue_samples(id);
                if finality == Finality::Over {
                    let rest = network.queue_probe(id).into_iter();
                    samples.extend(rest.flat_map(slantpath_net::QueueProbe::samples));
                }
                if !samples.is_empty() {
                    let rows = links::queues(&link.name, direction, &samples);
                    self.observer.rows(table, 2 * place + side, rows)?;
                }
            }
        }
        Ok(())
    }

    fn flow(&mut self, place: usize, network: &mut RunNetwork<'_>, finality: Finality) -> io::Result<()> {
        let flow = &self.flows[place];
        let taken = network.host_mut(flow.from).take_sender_records(flow.sender, finality);
        let SenderRecords { messages, sent, replies, samples, timeline, failovers } =
            taken.expect("the flow's sender was put there");
        let deliveries = network.host_mut(flow.to).take_deliveries(flow.receiver);
        let deliveries = deliveries.expect("the flow's receiver was put there");
        if let Some(tracing) = &mut self.tracing {
            tracing.messages(&flow.name, &sent, &deliveries);
        }
        if let Some(Some(measures)) = self.datagrams.get_mut(place) {
            measures.observe(&sent, &deliveries, self.warm_up);
        }
        if let Some(Some(measures)) = self.round_trips.get_mut(place) {
            measures.observe(&sent, &replies, self.warm_up);
        }
        if let Some(delays) = self.delays.get_mut(place) {
            delays.observe(sent, &deliveries, self.warm_up);
        }
        let report = sender_report(network, flow);
        let record = &mut self.records[place];
        if record.paths.is_empty() {
            let name = |address: &_| failovers::link_of(self.links, *address).map(str::to_owned);
            record.paths = report.paths.iter().map(name).collect();
        }
        if let Some(table) = self.paths.filter(|_| !samples.is_empty()) {
            self.observer.rows(table, place, links::paths(&flow.name, &record.paths, &samples))?;
        }
        if let Some(table) = self.timelines.filter(|_| !timeline.is_empty()) {
            self.observer.rows(table, place, timelines::rows(&flow.name, &record.paths, &timeline))?;
        }
        if let Some(table) = self.failovers {
            for failover in failovers {
                let failed = self
                    .service
                    .as_ref()
                    .and_then(|service| service.failure([flow.from, flow.to], &failover));
                record.recent_failovers.add(failed.map(|(at, _)| at), failover.at);
                record.failing_over.push_back((failover, None));
            }
            let told = record.tell_failovers(&deliveries, finality);
            let mut rows = failovers::Columns::new();
            for (failover, arrived) in &told {
                let ends = [flow.from, flow.to];
                let failed = self.service.as_ref().and_then(|service| service.failure(ends, failover));
                let told = ToldFailover { failover: *failover, failed, arrived: *arrived };
                let name = |address| failovers::link_of(self.links, address);
                rows.push(&flow.name, [name(failover.from), name(failover.to)], &told);
                if failover.at >= self.warm_up {
                    record.failovers.add(failed.map(|(at, _)| at), failover.at);
                }
            }
            if !told.is_empty() {
                self.observer.rows(table, place, rows.finish(TableKind::Failovers))?;
            }
        }
        if let Some(table) = self.messages {
            record.add(messages, deliveries, report.messages_sent);
            let mut rows = messages::Columns::new();
            let mut delays = Vec::new();
            while let Some((number, sent, delivered)) = record.next_final(finality) {
                rows.push(&flow.name, number, &sent, delivered, &record.paths);
                delays.extend(record.count(self.warm_up, &sent, delivered));
            }
            if !rows.is_empty() {
                self.observer.rows(table, place, rows.table())?;
            }
            if !delays.is_empty() {
                self.observer.delays(place, &delays)?;
            }
        }
        Ok(())
    }

    /// Statistics of the delays of all flows, once everything has been handed over: of their messages, or of histograms
    /// if messages are not recorded.
    pub(super) fn delays(&mut self, now: Instant) -> io::Result<Vec<DelaySummary>> {
        let Self { observer, records, delays, messages, flows, warm_up, .. } = self;
        let summary = |(place, record): (usize, &FlowRecord)| {
            let of_flow = delays.get(place);
            let is_stamped = *flows[place].flow.content == schema::Content::Stamped;
            let late = of_flow.filter(|_| is_stamped).and_then(|delays| delays.late(*warm_up, now));
            let histogram = of_flow.and_then(FlowDelays::histogram);
            if let (None, Some(histogram)) = (*messages, histogram) {
                return Ok(DelaySummary { late, ..DelaySummary::of_histogram(histogram) });
            }
            let quantiles = observer.delay_quantiles(place, &[0.5, 0.99])?;
            let [median, p99] = [0, 1].map(|share| quantiles.get(share).copied().flatten());
            let DelayMoments { all, retransmitted, retransmitted_messages, parts } = &record.delays;
            let retransmits = is_stamped && !flows[place].flow.transport.is_of_datagrams();
            Ok::<_, io::Error>(DelaySummary {
                mean: all.mean(),
                median,
                p99,
                max: all.greatest(),
                deviation: all.standard_deviation(),
                retransmitted_mean: retransmitted.mean(),
                retransmitted: messages.filter(|_| retransmits).map(|_| *retransmitted_messages),
                late,
                parts: parts.means_s(),
            })
        };
        records.iter().enumerate().map(summary).collect()
    }

    /// Sums over the failovers of all flows, once everything has been handed over; `None` of one that has one path.
    pub(super) fn failovers(&self) -> Vec<Option<FailoverSums>> {
        let sums = |(flow, record): (&PlannedFlow, &FlowRecord)| {
            has_several_paths(flow, self.planned_paths).then_some(record.failovers)
        };
        self.flows.iter().zip(&self.records).map(sums).collect()
    }

    /// The tables of flows of datagrams and of echo requests, if there are any.
    pub(super) fn datagram_tables(&self) -> impl Iterator<Item = Table> {
        let names = || self.flows.iter().map(|flow| flow.name.as_str());
        let datagrams = names().zip(&self.datagrams).filter_map(|(flow, own)| Some((flow, own.as_ref()?)));
        let echoes = names().zip(&self.round_trips).filter_map(|(flow, own)| Some((flow, own.as_ref()?)));
        [datagrams::table(datagrams), datagrams::round_trips(echoes)].into_iter().flatten()
    }

    /// The tables of histograms of delays, if those are kept.
    pub(super) fn delay_tables(&self) -> Vec<Table> {
        let names = self.flows.iter().map(|flow| flow.name.as_str());
        let histograms =
            names.zip(&self.delays).filter_map(|(flow, delays)| Some((flow, delays.histogram()?)));
        if histograms.clone().next().is_none() {
            return Vec::new();
        }
        delays::tables(histograms).to_vec()
    }
}

/// Tells if a message of a flow may never be delivered, although nothing fails: a datagram, or one that is given up.
fn may_lose(flow: &PlannedFlow) -> bool {
    let gives_up = |(_, reliability)| reliability != Reliability::Full;
    flow.flow.transport.is_of_datagrams() || reliabilities(&flow.flow).any(gives_up)
}

/// Tells if a flow is of datagrams that can be told apart.
fn counts_datagrams(flow: &PlannedFlow) -> bool {
    flow.flow.transport.is_of_datagrams() && *flow.flow.content == schema::Content::Stamped
}

/// Tells if the messages of a flow are answered.
fn has_replies(flow: &PlannedFlow) -> bool {
    *flow.flow.transport == schema::Transport::Icmp && counts_datagrams(flow)
}

impl DelaySummary {
    fn of_histogram(histogram: &Histogram) -> Self {
        let quantile = |share| histogram.quantile(share).map(delays::seconds);
        Self {
            mean: histogram.mean().map(delays::seconds),
            median: quantile(0.5),
            p99: quantile(0.99),
            max: histogram.greatest().map(|greatest| delays::seconds(greatest as f64)),
            deviation: histogram.standard_deviation().map(delays::seconds),
            retransmitted_mean: None,
            retransmitted: None,
            late: None,
            parts: [None; parts::COUNT],
        }
    }
}

impl FlowRecord {
    fn new(flow: &PlannedFlow) -> Self {
        Self { may_lose: may_lose(flow), ..Self::default() }
    }

    /// Takes the failovers whose first message has been delivered, each with the instant; all if the run is over. They
    /// come in the order of time: one whose message is not delivered holds up those behind it.
    fn tell_failovers(
        &mut self,
        delivered: &[DeliveredMessage],
        finality: Finality,
    ) -> Vec<(Failover, Option<Instant>)> {
        for (failover, arrived) in self.failing_over.iter_mut().filter(|(_, arrived)| arrived.is_none()) {
            let is_it = |message: &&DeliveredMessage| Some(message.number) == failover.message;
            *arrived = delivered.iter().find(is_it).map(|message| message.delivered);
        }
        let has_arrived = |(_, arrived): &&(Failover, Option<Instant>)| arrived.is_some();
        let told = match finality {
            Finality::Over => self.failing_over.len(),
            Finality::Settled => self.failing_over.iter().take_while(has_arrived).count(),
        };
        self.failing_over.drain(..told).collect()
    }

    fn add(&mut self, sent: Vec<SentMessage>, delivered: Vec<DeliveredMessage>, messages_sent: u64) {
        self.sent.extend(sent);
        for message in delivered {
            let number = u64::from(message.number);
            // A receiver that counts on its transport to deliver once would hide that it did not: the first delivery
            // stands, and the receiver's own counters tell the rest.
            let Some(place) = number.checked_sub(self.first).filter(|_| number < messages_sent) else {
                continue;
            };
            let place = usize::try_from(place).expect("what is outstanding is in memory");
            if self.delivered.len() <= place {
                self.delivered.resize(place + 1, None);
            }
            self.delivered[place].get_or_insert(message);
        }
    }

    /// The next message of which nothing more will be heard: its sender has done with it, and it was delivered.
    fn next_final(&mut self, finality: Finality) -> Option<(u64, SentMessage, Option<DeliveredMessage>)> {
        let delivered = self.delivered.front().copied().flatten();
        let is_lost = self.may_lose && self.sent.len() > WINDOW;
        if delivered.is_none() && finality == Finality::Settled && !is_lost {
            return None;
        }
        let sent = self.sent.pop_front()?;
        self.delivered.pop_front();
        self.first += 1;
        Some((self.first - 1, sent, delivered))
    }

    /// Counts a message for the statistics of its flow, and gives its delay, if it was delivered and sent after the
    /// warm-up.
    fn count(
        &mut self,
        warm_up: Instant,
        sent: &SentMessage,
        delivered: Option<DeliveredMessage>,
    ) -> Option<Duration> {
        if sent.sent < warm_up {
            return None;
        }
        self.delays.retransmitted_messages += u64::from(sent.retransmissions > 0);
        let DeliveredMessage { delivered, journey, .. } = delivered?;
        let delay = delivered.saturating_since(sent.sent);
        if let Some(parts) = Parts::of(sent, delivered, journey) {
            self.delays.parts.add(parts);
        }
        let seconds = delay.as_secs_f64();
        self.delays.all.push(seconds);
        if sent.retransmissions > 0 {
            self.delays.retransmitted.push(seconds);
        }
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(at: u64) -> SentMessage {
        SentMessage {
            size: 100,
            sent: Instant::from_millis(at),
            first_transmitted: None,
            last_part_transmitted: None,
            first_path: 0,
            last_path: 0,
            retransmitted: None,
            retransmissions: 0,
        }
    }

    fn delivered(number: u32, at: u64) -> DeliveredMessage {
        DeliveredMessage { number, delivered: Instant::from_millis(at), journey: None }
    }

    fn taken(record: &mut FlowRecord, finality: Finality) -> Vec<(u64, Option<u64>)> {
        let next = || record.next_final(finality);
        core::iter::from_fn(next)
            .map(|(number, _, at)| (number, at.map(|at| at.delivered.as_nanos() / 1_000_000)))
            .collect()
    }

    #[test]
    fn a_row_is_final_when_both_ends_have_done_with_its_message_and_all_before_it() {
        let mut record = FlowRecord::default();
        record.add(vec![sent(0)], vec![delivered(1, 5)], 3);
        assert_eq!(taken(&mut record, Finality::Settled), []);
        record.add(vec![], vec![delivered(0, 7)], 3);
        assert_eq!(taken(&mut record, Finality::Settled), [(0, Some(7))]);
        // The first delivery stands, and a number that was never sent is none.
        record.add(vec![sent(1), sent(2)], vec![delivered(1, 8), delivered(0, 8), delivered(3, 9)], 3);
        assert_eq!(taken(&mut record, Finality::Settled), [(1, Some(5))]);
        assert_eq!(taken(&mut record, Finality::Over), [(2, None)]);
        assert_eq!(record.delivered.len(), 0);
    }

    #[test]
    fn a_row_of_what_may_be_lost_is_final_after_so_many_later_ones() {
        for (may_lose, rows) in [(true, 2), (false, 0)] {
            let mut record = FlowRecord { may_lose, ..FlowRecord::default() };
            let count = WINDOW as u64 + 1;
            // The first is lost, and the second has come. Nothing is known of the others.
            record.add((0..count).map(sent).collect(), vec![delivered(1, 5)], count);
            let expected = [(0, None), (1, Some(5))];
            assert_eq!(taken(&mut record, Finality::Settled), expected[..rows]);
        }
    }
}
