//! A run of which associations are traced: what their senders decided, and what their readers saw of it.

use core::ops::ControlFlow;
use std::collections::VecDeque;
use std::io;

use slantpath_applications::record::DeliveredMessage;
use slantpath_base::{Duration, Instant};
use slantpath_host::TraceRecord;
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, RunNetwork};
use slantpath_scenario::schema::Transport;
use slantpath_trace::{Record, TraceHeader, TraceOrigin, TraceSettings, What};

use super::{EVENTS_BETWEEN_QUESTIONS, Pace, RunError, RunOptions, run_at_pace};
use crate::observer::{Announcement, Observer, Reading};
use crate::output::RunOutput;
use crate::scenario::Scenario;

/// The flows of which traces are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    flows: Vec<String>,
}

/// Why a flow cannot be traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Nothing is called so. One of several flows that are declared together has its number behind it.
    #[error("there is no flow `{name}`; flows: {flows}")]
    NoSuchFlow {
        /// Name that was asked for.
        name: String,
        /// The names that there are.
        flows: String,
    },
    /// Flow that goes over TCP.
    #[error("flow `{name}` goes over TCP: associations of SCTP are traced")]
    NotSctp {
        /// Name of the flow.
        name: String,
    },
}

/// Takes what a trace tells: the place of the flow in the request, and its next records, in order of time.
pub type TraceSink<'a> = &'a mut dyn FnMut(usize, &[Record]) -> io::Result<()>;

impl Scenario {
    /// Asks for traces of these flows: `files`, or `files.3` where there are several of that name.
    ///
    /// # Errors
    /// Which of them cannot be traced, and why.
    pub fn trace_request(&self, flows: &[String]) -> Result<TraceRequest, TraceError> {
        for name in flows {
            let found = self.traceable().find(|(known, _)| known == name);
            let Some((_, transport)) = found else {
                let flows = self.traceable().filter(|(_, transport)| *transport == Transport::Sctp);
                let flows: Vec<String> = flows.map(|(name, _)| name).collect();
                return Err(TraceError::NoSuchFlow { name: name.clone(), flows: flows.join(", ") });
            };
            if transport != Transport::Sctp {
                return Err(TraceError::NotSctp { name: name.clone() });
            }
        }
        Ok(TraceRequest { flows: flows.to_vec() })
    }

    /// The flows one by one, with their transports.
    fn traceable(&self) -> impl Iterator<Item = (String, Transport)> + '_ {
        self.flows.iter().flat_map(|(name, flow)| {
            let count = *flow.count;
            let one = move |own| if count == 1 { name.to_owned() } else { format!("{name}.{own}") };
            (0..count).map(move |own| (one(own), *flow.transport))
        })
    }

    /// Header of a trace of this flow. `file` is the scenario's, and `set` what replaced values in it.
    ///
    /// # Panics
    /// If the scenario has no such flow of SCTP: see [`Scenario::trace_request`].
    pub fn trace_header(&self, file: &str, set: &[String], options: &RunOptions, flow: &str) -> TraceHeader {
        let declared = self.flows.iter().find(|(name, declared)| {
            let number = flow.strip_prefix(*name).and_then(|rest| rest.strip_prefix('.'));
            *name == flow || *declared.count > 1 && number.is_some_and(|number| number.parse::<u32>().is_ok())
        });
        let (_, declared) = declared.expect("the flow is one of the scenario");
        let profile = declared.profile.as_ref().and_then(|profile| self.sctp.find(profile));
        let profile = profile.expect("a flow of SCTP has a profile");
        TraceHeader {
            origin: TraceOrigin::Simulated {
                scenario: file.to_owned(),
                hash: self.hash(),
                set: set.to_vec(),
                seed: options.seed.unwrap_or(*self.scenario.seed),
                run: options.run,
                flow: flow.to_owned(),
                from: declared.from.to_string(),
                to: declared.to.to_string(),
            },
            settings: TraceSettings::of(&profile.config(*declared.streams)),
            profile: Some(profile.settings()),
        }
    }
}

/// Makes one run like [`run_while`](super::run_while), and hands what its traces tell to `sink` as it comes. The run is
/// the same as without traces: so is its digest. Of its tables the output has only those that do not grow with its
/// length, without statistics of delays.
pub fn run_traced(
    scenario: &Scenario,
    options: &RunOptions,
    request: &TraceRequest,
    sink: TraceSink<'_>,
    go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<RunOutput>, RunError> {
    let pace = Pace { question: EVENTS_BETWEEN_QUESTIONS, collection: EVENTS_BETWEEN_QUESTIONS };
    let mut observer = OnlyAgain::default();
    run_at_pace(pace, scenario, options, &mut observer, Some((&request.flows, sink)), go_on)
}

/// Keeps what the run itself asks for again, and nothing else.
#[derive(Default)]
struct OnlyAgain {
    kept: Vec<(Reading, Vec<Table>)>,
}

impl Observer for OnlyAgain {
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()> {
        self.kept = announcement.tables.iter().map(|table| (table.reading, Vec::new())).collect();
        Ok(())
    }

    fn rows(&mut self, table: usize, _subject: usize, rows: Table) -> io::Result<()> {
        if let (Reading::Again, kept) = &mut self.kept[table] {
            kept.push(rows);
        }
        Ok(())
    }

    fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        self.kept[table].1.iter().for_each(each);
        Ok(())
    }

    fn packets(&mut self, _capture: usize, _pcapng: Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    fn delays(&mut self, _flow: usize, _delays: &[Duration]) -> io::Result<()> {
        Ok(())
    }

    fn delay_quantiles(&mut self, _flow: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>> {
        Ok(vec![None; shares.len()])
    }
}

/// The traces of a run.
pub(super) struct Tracing<'a> {
    names: &'a [String],
    flows: Vec<FlowTrace>,
    sink: TraceSink<'a>,
}

/// Records of a traced flow that are not handed over.
#[derive(Debug, Default)]
struct FlowTrace {
    records: Vec<Record>,
    /// Instants at which messages were offered, from number `first` on; `None` for those that have been delivered.
    offered: VecDeque<Option<Instant>>,
    first: u64,
}

impl<'a> Tracing<'a> {
    pub(super) fn new(names: &'a [String], sink: TraceSink<'a>) -> Self {
        Self { names, flows: names.iter().map(|_| FlowTrace::default()).collect(), sink }
    }

    /// Takes in when messages of a flow were offered, and which were delivered.
    pub(super) fn messages(&mut self, flow: &str, sent: &[Instant], delivered: &[DeliveredMessage]) {
        let traced = self.names.iter().zip(&mut self.flows).filter(|(name, _)| *name == flow);
        for (_, trace) in traced {
            trace.offered.extend(sent.iter().copied().map(Some));
            for message in delivered {
                if let Some(offered_ns) = trace.take_offered(message.number.into()) {
                    let what = What::Delivered { message: message.number.into(), offered_ns };
                    trace.records.push(Record { at: message.delivered, association: 0, what });
                }
            }
        }
    }

    /// Hands over what the hosts have told of the flows, together with what [`Tracing::messages`] has taken in.
    pub(super) fn collect(&mut self, flows: &[PlannedFlow], network: &mut RunNetwork<'_>) -> io::Result<()> {
        let is_traced = |flow: &&PlannedFlow| self.names.contains(&flow.name);
        let mut nodes: Vec<_> = flows.iter().filter(is_traced).map(|flow| flow.from).collect();
        nodes.sort();
        nodes.dedup();
        let taken: Vec<_> = nodes.iter().map(|node| (*node, network.host_mut(*node).take_trace())).collect();
        for (place, (name, trace)) in self.names.iter().zip(&mut self.flows).enumerate() {
            let Some(flow) = flows.iter().find(|flow| flow.name == *name) else { continue };
            let Some((_, (records, dropped))) = taken.iter().find(|(node, _)| *node == flow.from) else {
                continue;
            };
            let own = records.iter().filter(|record| record.socket == flow.sender);
            let recorded = own.filter_map(|TraceRecord { at, event, .. }| Record::of_event(*at, 0, event));
            trace.records.extend(recorded);
            // What happens at one instant stays in the order in which each end told it.
            trace.records.sort_by_key(|record| record.at);
            if *dropped > 0 {
                let at = network.now();
                trace.records.push(Record { at, association: 0, what: What::Dropped { records: *dropped } });
            }
            if !trace.records.is_empty() {
                (self.sink)(place, &trace.records)?;
                trace.records.clear();
            }
        }
        Ok(())
    }
}

impl FlowTrace {
    /// Takes the instant at which a message was offered, once.
    fn take_offered(&mut self, number: u64) -> Option<Instant> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let offered = self.offered.get_mut(place)?.take();
        while let Some(None) = self.offered.front() {
            self.offered.pop_front();
            self.first += 1;
        }
        offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_delivered_once_and_what_is_behind_all_is_forgotten() {
        let offered = (0..4).map(|ms| Some(Instant::from_millis(ms))).collect();
        let mut trace = FlowTrace { offered, ..FlowTrace::default() };
        let mut take = |number| trace.take_offered(number).map(|at| at.as_nanos() / 1_000_000);
        assert_eq!(
            [take(1), take(1), take(0), take(0), take(3), take(4)],
            [Some(1), None, Some(0), None, Some(3), None]
        );
        assert_eq!((trace.first, trace.offered.len()), (2, 2));
    }
}
