//! A run of which associations are traced: what their senders decided, and what their readers saw of it.

use core::ops::ControlFlow;
use std::collections::VecDeque;
use std::io;

use slantpath_applications::record::DeliveredMessage;
use slantpath_base::{Duration, Instant};
use slantpath_host::{SocketId, TraceRecord};
use slantpath_net::NodeId;
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, RunNetwork, SignallingEnd, signalling_ends};
use slantpath_scenario::schema::Transport;
use slantpath_simulation::{AssociationPlace, SignallingSimulation};
use slantpath_trace::{Record, TraceHeader, TraceOrigin, TraceSettings, What};

use super::{Drive, EVENTS_BETWEEN_QUESTIONS, Pace, RunError, RunOptions, run_at_pace};
use crate::observer::{Announcement, Observer, Reading};
use crate::output::RunOutput;
use crate::scenario::Scenario;

/// The associations of which traces are made: of flows, and those that carry signalling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    names: Vec<String>,
}

/// Why an association cannot be traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Nothing is called so. One of several flows that are declared together has its number behind it.
    #[error("there is no flow and no association of signalling `{name}`; {known}")]
    NothingSuch {
        /// Name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Flow that goes over another transport.
    #[error("flow `{name}` has `transport = \"{transport}\"`: associations of SCTP are traced")]
    NotSctp {
        /// Name of the flow.
        name: String,
        /// Transport that it has.
        transport: &'static str,
    },
}

/// Takes what a trace tells: the place of the flow in the request, and its next records, in order of time.
pub type TraceSink<'a> = &'a mut dyn FnMut(usize, &[Record]) -> io::Result<()>;

impl Scenario {
    /// Asks for traces of these associations. A flow is called by its name: `files`, or `files.3` where there are
    /// several of that name. A link of M2PA or an association of M3UA is called by its name, and by that of the point,
    /// gateway or ASP whose end is meant: `trunk@london`; without it the first end is.
    ///
    /// # Errors
    /// Which of them cannot be traced, and why.
    pub fn trace_request(&self, names: &[String]) -> Result<TraceRequest, TraceError> {
        let ends = signalling_ends(&self.signalling);
        for name in names {
            let flow = self.traceable().find(|(known, _)| known == name);
            match flow {
                Some((_, transport)) if transport != Transport::Sctp => {
                    let (name, transport) = (name.clone(), transport.as_str());
                    return Err(TraceError::NotSctp { name, transport });
                }
                None if !ends.iter().any(|end| end.is_called(name)) => {
                    return Err(TraceError::NothingSuch {
                        name: name.clone(),
                        known: self.known_names(&ends),
                    });
                }
                Some(_) | None => {}
            }
        }
        Ok(TraceRequest { names: names.to_vec() })
    }

    /// All that can be traced, in words.
    fn known_names(&self, ends: &[SignallingEnd<'_>]) -> String {
        let flows = self.traceable().filter(|(_, transport)| *transport == Transport::Sctp);
        let flows: Vec<String> = flows.map(|(name, _)| name).collect();
        let ends: Vec<String> = ends.iter().map(SignallingEnd::full_name).collect();
        let kinds = [("flows", flows), ("signalling", ends)];
        let told = kinds.iter().filter(|(_, names)| !names.is_empty());
        let told: Vec<String> = told.map(|(kind, names)| format!("{kind}: {}", names.join(", "))).collect();
        if told.is_empty() { "nothing goes over SCTP".to_owned() } else { told.join("; ") }
    }

    /// The flows one by one, with their transports.
    fn traceable(&self) -> impl Iterator<Item = (String, Transport)> + '_ {
        self.flows.iter().flat_map(|(name, flow)| {
            let count = *flow.count;
            let one = move |own| if count == 1 { name.to_owned() } else { format!("{name}.{own}") };
            (0..count).map(move |own| (one(own), *flow.transport))
        })
    }

    /// Header of a trace of an association. `file` is the scenario's, and `set` what replaced values in it.
    ///
    /// # Panics
    /// If the scenario has nothing of that name that goes over SCTP: see [`Scenario::trace_request`].
    pub fn trace_header(&self, file: &str, set: &[String], options: &RunOptions, name: &str) -> TraceHeader {
        let declared = self.flows.iter().find(|(known, declared)| {
            let number = name.strip_prefix(*known).and_then(|rest| rest.strip_prefix('.'));
            *known == name
                || *declared.count > 1 && number.is_some_and(|number| number.parse::<u32>().is_ok())
        });
        let ends = signalling_ends(&self.signalling);
        let is_signalling = declared.is_none();
        let (profile, streams, [from, to]) = if let Some((_, declared)) = declared {
            let profile = declared.profile.as_ref().and_then(|profile| self.sctp.find(profile));
            let profile = profile.expect("a flow of SCTP has a profile");
            (profile, *declared.streams, [declared.from.to_string(), declared.to.to_string()])
        } else {
            let end = ends.iter().find(|end| end.is_called(name));
            let end = end.expect("the name is that of a flow or of signalling");
            (end.profile, end.streams, end.hosts.clone())
        };
        TraceHeader {
            origin: TraceOrigin::Simulated {
                scenario: file.to_owned(),
                hash: self.hash(),
                set: set.to_vec(),
                seed: options.seed.unwrap_or(*self.scenario.seed),
                run: options.run,
                flow: name.to_owned(),
                is_signalling,
                from,
                to,
            },
            settings: TraceSettings::of(&profile.config(streams)),
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
    run_at_pace(pace, scenario, options, &mut observer, Some((&request.names, sink)), Drive::Free(go_on))
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
    /// Host and socket of each association.
    sockets: Vec<Option<(NodeId, SocketId)>>,
    traces: Vec<AssociationTrace>,
    sink: TraceSink<'a>,
}

/// Records of a traced association that are not handed over.
#[derive(Debug, Default)]
struct AssociationTrace {
    records: Vec<Record>,
    /// Associations of the same socket that have ended before. What carries signalling opens another one.
    ended: u32,
    /// Instants at which messages were offered, from number `first` on; `None` for those that have been delivered.
    offered: VecDeque<Option<Instant>>,
    first: u64,
}

impl<'a> Tracing<'a> {
    pub(super) fn new(
        names: &'a [String],
        scenario: &Scenario,
        flows: &[PlannedFlow],
        signalling: Option<&SignallingSimulation>,
        sink: TraceSink<'a>,
    ) -> Self {
        let ends = signalling_ends(&scenario.signalling);
        let places = signalling.map_or(&[][..], SignallingSimulation::places);
        let socket = |name: &String| {
            let flow = flows.iter().find(|flow| flow.name == *name).map(|flow| (flow.from, flow.sender));
            flow.or_else(|| {
                let end = ends.iter().find(|end| end.is_called(name))?;
                let is_its = |place: &&AssociationPlace| {
                    (place.end.carried, place.end.side) == (end.carried, end.side)
                };
                places.iter().find(is_its).map(|place| (place.node, place.association))
            })
        };
        let traces = names.iter().map(|_| AssociationTrace::default()).collect();
        Self { names, sockets: names.iter().map(socket).collect(), traces, sink }
    }

    /// Takes in when messages of a flow were offered, and which were delivered.
    pub(super) fn messages(&mut self, flow: &str, sent: &[Instant], delivered: &[DeliveredMessage]) {
        let traced = self.names.iter().zip(&mut self.traces).filter(|(name, _)| *name == flow);
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

    /// Hands over what the hosts have told of the associations, together with what [`Tracing::messages`] has taken in.
    pub(super) fn collect(&mut self, network: &mut RunNetwork<'_>) -> io::Result<()> {
        let mut nodes: Vec<_> = self.sockets.iter().flatten().map(|(node, _)| *node).collect();
        nodes.sort();
        nodes.dedup();
        let taken: Vec<_> = nodes.iter().map(|node| (*node, network.host_mut(*node).take_trace())).collect();
        for (place, (socket, trace)) in self.sockets.iter().zip(&mut self.traces).enumerate() {
            let Some((at, socket)) = socket else { continue };
            let Some((_, (records, dropped))) = taken.iter().find(|(node, _)| node == at) else { continue };
            for TraceRecord { at, event, .. } in records.iter().filter(|record| record.socket == *socket) {
                let Some(record) = Record::of_event(*at, trace.ended, event) else { continue };
                trace.ended += u32::from(matches!(record.what, What::Closed { .. }));
                trace.records.push(record);
            }
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

impl AssociationTrace {
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
        let mut trace = AssociationTrace { offered, ..AssociationTrace::default() };
        let mut take = |number| trace.take_offered(number).map(|at| at.as_nanos() / 1_000_000);
        assert_eq!(
            [take(1), take(1), take(0), take(0), take(3), take(4)],
            [Some(1), None, Some(0), None, Some(3), None]
        );
        assert_eq!((trace.first, trace.offered.len()), (2, 2));
    }
}
