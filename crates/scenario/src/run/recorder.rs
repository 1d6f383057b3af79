//! Takes out of a running network what has become final, and hands it to the run's observer.

use std::collections::VecDeque;
use std::io;

use slantpath_base::{Duration, Instant};
use slantpath_host::Host;
use slantpath_host::record::{DeliveredMessage, Finality, SenderRecords, SentMessage};
use slantpath_net::{CaptureId, Network};
use slantpath_results::Moments;

use super::tables::{messages, network as links, sender_report, timelines};
use crate::flow::build::PlannedFlow;
use crate::network::PlannedLink;
use crate::observer::{Announcement, GrowingTable, Observer};
use crate::output::TableKind;
use crate::scenario::Scenario;
use crate::schema::Sampling;

/// What is recorded of a run, on its way to an observer.
pub(super) struct Recorder<'a> {
    links: &'a [PlannedLink],
    flows: &'a [PlannedFlow],
    observer: &'a mut dyn Observer,
    captures: Vec<(String, CaptureId)>,
    /// The place of each table among those announced, if it is kept.
    messages: Option<usize>,
    paths: Option<usize>,
    queues: Option<usize>,
    timelines: Option<usize>,
    records: Vec<FlowRecord>,
    /// From when on messages count for the statistics of their flow.
    warm_up: Instant,
}

/// Statistics of the delays of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    pub(super) all: Moments,
    pub(super) retransmitted: Moments,
    pub(super) median: Option<f64>,
    pub(super) p99: Option<f64>,
}

/// Messages of a flow, from the first one on whose row may still change.
#[derive(Clone, Debug, Default)]
struct FlowRecord {
    /// The number of that first message.
    first: u64,
    /// Those that the sender has done with.
    sent: VecDeque<SentMessage>,
    /// When they and later ones were first delivered.
    delivered: VecDeque<Option<Instant>>,
    delays: Delays,
    /// What the flow's paths are called, once they are known.
    paths: Vec<Option<String>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        scenario: &Scenario,
        links: &'a [PlannedLink],
        flows: &'a [PlannedFlow],
        captures: Vec<(String, CaptureId)>,
        observer: &'a mut dyn Observer,
    ) -> io::Result<Self> {
        let probes = &scenario.probes;
        let (of_flows, of_directions) = (flows.len(), 2 * links.len());
        let mut tables = Vec::new();
        let mut keep = |is_kept: bool, kind, header: fn() -> slantpath_results::Table, subjects| {
            is_kept.then(|| {
                tables.push(GrowingTable { kind, header: header(), subjects });
                tables.len() - 1
            })
        };
        let messages = keep(*probes.messages, TableKind::Messages, messages::header, of_flows);
        let is_sampled = probes.paths.quantity().is_some();
        let paths = keep(is_sampled, TableKind::Paths, links::paths_header, of_flows);
        let is_sampled = *probes.queues != Sampling::Off;
        let queues = keep(is_sampled, TableKind::Queues, links::queues_header, of_directions);
        let is_watched = !probes.timelines.is_empty();
        let timelines = keep(is_watched, TableKind::Timelines, timelines::header, of_flows);
        let names = captures.iter().map(|(link, _)| link.clone()).collect();
        observer.announce(&Announcement { tables, captures: names, flows: flows.len() })?;
        let records = vec![FlowRecord::default(); flows.len()];
        let warm_up = Instant::START + *scenario.scenario.warm_up;
        Ok(Self { links, flows, observer, captures, messages, paths, queues, timelines, records, warm_up })
    }

    /// After how many events it is worth while to look again: a look goes over all flows and links, so that few
    /// events of many flows must not pay for one.
    pub(super) fn events_between_looks(&self) -> u64 {
        let probed = self.queues.map_or(0, |_| 2 * self.links.len());
        16 * (self.flows.len() + probed) as u64
    }

    /// Hands over what is final so far, or all that is left.
    pub(super) fn look(&mut self, network: &mut Network<Host>, finality: Finality) -> io::Result<()> {
        for (place, (_, capture)) in self.captures.iter().enumerate() {
            let pcapng = network.take_capture(*capture);
            if !pcapng.is_empty() {
                self.observer.packets(place, pcapng)?;
            }
        }
        if let Some(table) = self.queues {
            self.queue_samples(table, network, finality)?;
        }
        if self.messages.or(self.paths).or(self.timelines).is_some() {
            for place in 0..self.flows.len() {
                self.flow(place, network, finality)?;
            }
        }
        Ok(())
    }

    fn queue_samples(
        &mut self,
        table: usize,
        network: &mut Network<Host>,
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

    fn flow(&mut self, place: usize, network: &mut Network<Host>, finality: Finality) -> io::Result<()> {
        let flow = &self.flows[place];
        let taken = network.host_mut(flow.from).take_sender_records(flow.sender, finality);
        let SenderRecords { messages, samples, timeline } = taken.expect("the flow's sender was put there");
        let deliveries = network.host_mut(flow.to).take_deliveries(flow.receiver);
        let deliveries = deliveries.expect("the flow's receiver was put there");
        let report = sender_report(network, flow);
        let record = &mut self.records[place];
        if record.paths.is_empty() {
            let name = |address: &_| super::tables::link_of(self.links, *address).map(str::to_owned);
            record.paths = report.paths.iter().map(name).collect();
        }
        if let Some(table) = self.paths.filter(|_| !samples.is_empty()) {
            self.observer.rows(table, place, links::paths(&flow.name, &record.paths, &samples))?;
        }
        if let Some(table) = self.timelines.filter(|_| !timeline.is_empty()) {
            self.observer.rows(table, place, timelines::rows(&flow.name, &record.paths, &timeline))?;
        }
        if let Some(table) = self.messages {
            record.add(messages, deliveries, report.messages_sent);
            let mut rows = messages::Columns::default();
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

    /// Statistics of the delays of all flows, once everything has been handed over.
    pub(super) fn delays(self) -> io::Result<Vec<Delays>> {
        let Self { observer, records, .. } = self;
        let quantiles = |(place, record): (usize, FlowRecord)| {
            let quantiles = observer.delay_quantiles(place, &[0.5, 0.99])?;
            let [median, p99] = [0, 1].map(|share| quantiles.get(share).copied().flatten());
            Ok::<_, io::Error>(Delays { median, p99, ..record.delays })
        };
        records.into_iter().enumerate().map(quantiles).collect()
    }
}

impl FlowRecord {
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
            self.delivered[place].get_or_insert(message.delivered);
        }
    }

    /// The next message of which nothing more will be heard: its sender has done with it, and it was delivered.
    fn next_final(&mut self, finality: Finality) -> Option<(u64, SentMessage, Option<Instant>)> {
        let delivered = self.delivered.front().copied().flatten();
        if delivered.is_none() && finality == Finality::Settled {
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
        delivered: Option<Instant>,
    ) -> Option<Duration> {
        let delay = delivered.filter(|_| sent.sent >= warm_up)?.saturating_since(sent.sent);
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
            first_path: 0,
            last_path: 0,
            retransmitted: None,
            retransmissions: 0,
        }
    }

    fn delivered(number: u32, at: u64) -> DeliveredMessage {
        DeliveredMessage { number, delivered: Instant::from_millis(at) }
    }

    fn taken(record: &mut FlowRecord, finality: Finality) -> Vec<(u64, Option<u64>)> {
        let next = || record.next_final(finality);
        core::iter::from_fn(next)
            .map(|(number, _, at)| (number, at.map(|at| at.as_nanos() / 1_000_000)))
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
}
