//! The course of a run: from one stretch to the next, with what is recorded on the way.

use core::ops::ControlFlow;
use std::io;

use slantpath_applications::Flows as _;
use slantpath_applications::record::Finality;
use slantpath_base::{Duration, Instant};
use slantpath_net::{CarriageTerms, InjectError, InterfaceId, LinkEnd as _, OutsidePacket};
use slantpath_reader::{Diagnostics, Named};
use slantpath_scenario::build::{
    PlannedFlow, PlannedLink, RunNetwork, changes_of, event_of_table, events_of_settings,
};
use slantpath_scenario::schema;
use slantpath_simulation::SignallingSimulation;
use slantpath_wire::Packet;

use super::attached::{AskedChange, Attachment, EVENTS_LATE_MOST, Inside, Outside, Turn};
use super::recorder::Recorder;
use super::sky_course::SkyCourse;
use super::tables::AtWarmUp;
use super::tables::script::ScriptEvent;
use super::{Pace, RunError, of_outside};
use crate::scenario::Scenario;

/// A network on its way, with what is recorded of it.
pub(super) struct Course<'c, 'r, 'p> {
    pub(super) network: &'c mut RunNetwork<'p>,
    /// Counts of flows at the end of the warm-up.
    pub(super) at_warm_up: AtWarmUp,
    /// Events that were asked for on the way.
    pub(super) asked: Vec<Named<schema::Event>>,
    scenario: &'c Scenario,
    links: &'c [PlannedLink],
    flows: &'c [PlannedFlow],
    signalling: Option<&'c mut SignallingSimulation>,
    recorder: &'c mut Recorder<'r>,
    sky: SkyCourse<'p>,
    pace: Pace,
    between_collections: u64,
    next_collection: u64,
    /// End of a warm-up that has not ended.
    warm_up: Option<Instant>,
}

impl<'c, 'r, 'p> Course<'c, 'r, 'p> {
    pub(super) fn new(
        scenario: &'c Scenario,
        (links, flows): (&'c [PlannedLink], &'c [PlannedFlow]),
        network: &'c mut RunNetwork<'p>,
        signalling: Option<&'c mut SignallingSimulation>,
        (recorder, sky): (&'c mut Recorder<'r>, SkyCourse<'p>),
        pace: Pace,
    ) -> Self {
        let between_collections = pace.collection.max(recorder.events_between_collections());
        let warm_up = *scenario.scenario.warm_up;
        Self {
            network,
            at_warm_up: AtWarmUp::default(),
            asked: Vec::new(),
            scenario,
            links,
            flows,
            signalling,
            recorder,
            sky,
            pace,
            between_collections,
            next_collection: between_collections,
            warm_up: (warm_up > Duration::ZERO).then_some(Instant::START + warm_up),
        }
    }

    /// Runs to the end as long as `go_on` says so. `false` if it was stopped.
    pub(super) fn run_to(
        &mut self,
        end: Instant,
        go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<bool, RunError> {
        if let Some(reason) = self.sky.prepare(self.network, end, &mut |work| work()) {
            return Err(RunError::Outside(reason));
        }
        if !self.advance(end, &mut |network| go_on(network.now()))? {
            return Ok(false);
        }
        self.recorder.close_interval(self.network, self.signalling.as_deref())?;
        Ok(true)
    }

    /// Runs at the pace of what is outside, until that says that it is over.
    pub(super) fn run_with(
        &mut self,
        attachments: &[Attachment],
        outside: &mut dyn Outside,
    ) -> Result<(), RunError> {
        outside.begin(attachments).map_err(of_outside)?;
        self.sky.watch(attachments, self.network);
        loop {
            let next = self.next_outside();
            let (now, quiet) = (self.network.now(), self.network.quiet());
            let mut turn = Turn { now, next, quiet, inside: self };
            let Some(until) = outside.wait(&mut turn).map_err(of_outside)? else { break };
            if let Some(reason) = self.sky.prepare(self.network, until, &mut |work| outside.beside(work)) {
                outside.fail(now, reason);
            }
            let mut handed: io::Result<()> = Ok(());
            self.advance(until, &mut |network| {
                handed = hand_out(network, outside);
                if handed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            handed.map_err(of_outside)?;
            hand_out(self.network, outside).map_err(of_outside)?;
            let handovers = self.sky.take_handovers(self.network);
            if !handovers.is_empty() {
                outside.handed_over(handovers);
            }
        }
        Ok(self.recorder.close_interval(self.network, self.signalling.as_deref())?)
    }

    /// Runs up to and including `end`. `false` if `go_on`, which is asked between some events, has stopped it.
    fn advance(
        &mut self,
        end: Instant,
        go_on: &mut dyn FnMut(&mut RunNetwork<'p>) -> ControlFlow<()>,
    ) -> Result<bool, RunError> {
        loop {
            let interval_end = self.recorder.interval_end();
            let stretch_end = [interval_end, self.warm_up].into_iter().flatten().fold(end, Instant::min);
            let has_ended = self.run_at_most(stretch_end);
            if let Some(signalling) = &mut self.signalling {
                self.recorder.collect_signalling(self.network, signalling)?;
            }
            if has_ended {
                if interval_end == Some(stretch_end) || self.warm_up == Some(stretch_end) {
                    self.recorder.close_interval(self.network, self.signalling.as_deref())?;
                }
                if self.warm_up == Some(stretch_end) {
                    self.end_warm_up();
                }
                if stretch_end == end {
                    return Ok(true);
                }
            }
            if go_on(self.network).is_break() {
                return Ok(false);
            }
            if self.network.events() >= self.next_collection {
                self.recorder.collect(self.network, Finality::Settled)?;
                self.next_collection = self.network.events().saturating_add(self.between_collections);
            }
        }
    }

    /// Runs the packet network, and the signalling network beside it if there is one, for about so many events as lie
    /// between two questions. Returns whether they came to `end`.
    fn run_at_most(&mut self, end: Instant) -> bool {
        match &mut self.signalling {
            None => self.network.run_at_most(self.pace.question, end),
            Some(signalling) => signalling.run_at_most(self.pace.question, self.network, end),
        }
    }

    /// Instant at which something happens next that is seen outside.
    fn next_outside(&mut self) -> Option<Instant> {
        match &mut self.signalling {
            None => self.network.next_outside(EVENTS_LATE_MOST),
            Some(signalling) => signalling.next_event(self.network),
        }
    }

    fn end_warm_up(&mut self) {
        self.warm_up = None;
        self.network.restart_statistics();
        self.recorder.restart_links();
        self.at_warm_up = AtWarmUp::observe(self.network, self.flows);
        for flow in self.flows {
            self.network.host_mut(flow.to).restart_gap(flow.receiver);
        }
    }
}

impl Inside for Course<'_, '_, '_> {
    fn next_handover(&mut self) -> Option<(Instant, String)> {
        self.sky.next_handover(self.network)
    }

    fn carriage_terms(&self, interface: InterfaceId) -> CarriageTerms {
        // An antenna sends by its first link, whichever satellite it holds.
        self.network.carriage_terms(interface.outbound())
    }

    fn inject(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> Result<(), InjectError> {
        self.network.inject(at, interface, packet)
    }

    fn change(&mut self, at: Instant, asked: &AskedChange<'_>) -> Result<Vec<ScriptEvent>, Diagnostics> {
        let events = match asked {
            AskedChange::Settings(settings) => events_of_settings(self.scenario, at, pairs(settings))?,
            AskedChange::Event(table) => event_of_table(self.scenario, at, pairs(table))?,
        };
        for (direction, change) in events.iter().flat_map(|event| changes_of(event, self.links)) {
            self.network.change(at, direction, change);
        }
        let told = events.iter().map(|event| ScriptEvent::of_link(event)).collect();
        self.asked.extend(events);
        Ok(told)
    }
}

fn pairs(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
}

/// Gives what has come to outside nodes to them.
fn hand_out(network: &mut RunNetwork<'_>, outside: &mut dyn Outside) -> io::Result<()> {
    while let Some(OutsidePacket { at, interface, packet }) = network.poll_outside() {
        outside.depart(at, interface, packet)?;
    }
    Ok(())
}
