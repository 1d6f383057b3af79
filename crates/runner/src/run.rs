//! One run: a scenario, a number, and what comes out.

mod access_record;
mod announced;
mod attached;
mod course;
mod datagrams;
mod delays;
mod diversions_record;
mod drops_record;
mod failover_sums;
mod intervals;
mod live_seat;
mod parts;
mod path_failovers;
mod programs;
mod recorder;
mod service_record;
mod sessions_record;
mod signalling_record;
mod sky_course;
mod sky_record;
mod tables;
mod trace;

use core::ops::ControlFlow;
use std::sync::Arc;

use slantpath_applications::record::Finality;
use slantpath_base::{Instant, Seed};
use slantpath_net::{CaptureId, DirectionId, Network, Sampling};
use slantpath_results::Column;
use slantpath_sat::OnDemand;
use slantpath_scenario::SkyPieces;
use slantpath_scenario::build::{
    Attached, BuildError, Plan, PlannedFlow, PlannedLink, Roles, RunNetwork, RunSource, access_systems, plan,
};

use crate::observer::{Collector, Observer};
use crate::output::{FlowFailure, RunOutput};
use crate::scenario::Scenario;
use announced::Recorded;
use attached::attachments;
use course::Course;
use recorder::Recorder;
use sky_course::SkyCourse;
use tables::signalling::SignallingTable;
use tables::tables;
use trace::Tracing;

pub(crate) use attached::Inside;
pub use attached::{
    AskedChange, AttachedInterface, Attachment, InterfaceCounts, InterfaceReport, Outside, SkyHandover, Turn,
    Work, run_attached_collected, run_attached_stored, run_attached_without_records,
};
pub use live_seat::{EntityEnd, EntityError, EntityRequest};
pub use programs::{FlowRequest, ProgramEnd, RequestError, run_with_programs};
pub use tables::script::{ScriptEvent, script_events};
pub use tables::signalling::signalling_load_table;
pub use trace::{TraceError, TraceRequest, TraceSink, run_traced};

/// Options that may differ from run to run of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// In place of the scenario's seed.
    pub seed: Option<u64>,
    /// The number of the replication. All random streams derive from the seed, this number and the path of
    /// their component, so that a run of one number draws alike in every case of a sweep.
    pub run: u64,
    /// Links to be captured besides those that the scenario names.
    pub captures: Vec<String>,
}

/// Why a run cannot be made. What a check can see beforehand is not among it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The network cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A link that is to be captured does not exist.
    #[error("there is no link `{link}` to capture; links: {links}")]
    UnknownLink {
        /// The name that was given.
        link: String,
        /// The names there are.
        links: String,
    },
    /// Failure of what stands outside of the network.
    #[error("{0}")]
    Outside(
        /// Why, and what it is about.
        String,
    ),
    /// The observer cannot keep what the run gives.
    #[error("results cannot be kept: {0}")]
    Results(
        /// Why, with the file that it is about.
        String,
    ),
}

#[expect(clippy::needless_pass_by_value, reason = "it is called by `map_err`")]
fn of_outside(error: std::io::Error) -> RunError {
    RunError::Outside(error.to_string())
}

impl From<std::io::Error> for RunError {
    fn from(error: std::io::Error) -> Self {
        Self::Results(error.to_string())
    }
}

/// Events between two questions whether a run is to go on: a few milliseconds of work.
const EVENTS_BETWEEN_QUESTIONS: u64 = 4_096;

/// Makes one run.
pub fn run(scenario: &Scenario, options: &RunOptions) -> Result<RunOutput, RunError> {
    let output = run_while(scenario, options, &mut |_| ControlFlow::Continue(()))?;
    Ok(output.expect("nobody stopped the run"))
}

/// Makes one run as long as `go_on` says so, which is asked every few milliseconds of work with the simulated time
/// that has come. `Ok(None)` if it was stopped. How often it is asked and what it takes changes nothing of what
/// the run gives.
pub fn run_while(
    scenario: &Scenario,
    options: &RunOptions,
    go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<RunOutput>, RunError> {
    let mut collector = Collector::default();
    let output = run_observed(scenario, options, &mut collector, go_on)?;
    Ok(output.map(|output| collector.complete(output)))
}

/// Makes one run like [`run_while`], and hands what grows with its length to `observer` as it comes. The output has the
/// other tables: flows, hosts, links and those of signalling.
pub fn run_observed(
    scenario: &Scenario,
    options: &RunOptions,
    observer: &mut dyn Observer,
    go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<RunOutput>, RunError> {
    let pace = Pace { question: EVENTS_BETWEEN_QUESTIONS, collection: EVENTS_BETWEEN_QUESTIONS };
    run_at_pace(pace, scenario, options, observer, None, Drive::Free(go_on))
}

/// Pace of a run.
enum Drive<'a> {
    /// Goes as fast as it can, as long as this says so.
    Free(&'a mut dyn FnMut(Instant) -> ControlFlow<()>),
    /// Attached nodes are outside, and set its pace.
    Outside(&'a mut dyn Outside),
}

impl Drive<'_> {
    const fn attached(&self) -> Attached {
        match self {
            Self::Free(_) => Attached::Simulated,
            Self::Outside(_) => Attached::Outside,
        }
    }

    fn changes_links(&self) -> bool {
        match self {
            Self::Free(_) => false,
            Self::Outside(outside) => outside.changes_links(),
        }
    }
}

/// Number of events between two of something, at least.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Questions whether to go on.
    question: u64,
    /// Collections of what has become final.
    collection: u64,
}

fn run_at_pace(
    pace: Pace,
    scenario: &Scenario,
    options: &RunOptions,
    observer: &mut dyn Observer,
    traces: Option<(&[String], TraceSink<'_>)>,
    mut drive: Drive<'_>,
) -> Result<Option<RunOutput>, RunError> {
    if let Drive::Free(go_on) = &mut drive
        && go_on(Instant::START).is_break()
    {
        return Ok(None);
    }
    let seed_number = options.seed.unwrap_or(*scenario.scenario.seed);
    let seed = Seed::new(seed_number, options.run);
    let roles = Roles {
        vacant: None,
        traced: traces.as_ref().map_or(&[], |(flows, _)| *flows),
        attached: drive.attached(),
    };
    let Plan { graph, hosts, links, flows, sessions, mut signalling, sky, ways, paths, .. } =
        plan(scenario, seed, roles)?;
    let links_change = graph.changes_in_a_run() || drive.changes_links();
    let (sky, pieces) = (sky.map(Arc::new), SkyPieces::of(scenario));
    let mut source = RunSource::new(scenario, sky.as_deref(), &graph);
    source.follow(&graph, ways.iter().map(|(.., way)| *way));
    let source = OnDemand::new(source, access_systems(scenario, &links, seed));
    let mut network = Network::with_source(graph, seed, hosts, source);
    if *scenario.probes.messages && flows.iter().any(PlannedFlow::tells_journeys) {
        network.watch_journeys();
    }
    if *scenario.probes.host_pairs {
        network.count_host_pairs();
    }
    if announced::keeps_drops(scenario) {
        network.record_drops();
    }
    let captures = start_captures(scenario, options, &links, &mut network)?;
    // Nobody looks at each of thousands of links between satellites over time.
    let watched = tables::of_nodes(&links);
    if let Some(sampling) = scenario.probes.queues.0 {
        probe_queues(sampling, watched, &mut network);
    }
    let recorded = Recorded {
        scenario,
        links: watched,
        flows: &flows,
        sessions: &sessions,
        sky: sky.as_deref(),
        ways: &ways,
        paths: &paths,
        links_change,
    };
    let mut recorder = Recorder::new(recorded, &mut network, signalling.as_ref(), captures, observer)?;
    recorder
        .trace(traces.map(|(names, sink)| Tracing::new(names, scenario, &flows, signalling.as_ref(), sink)));
    let sky_course = SkyCourse::new(scenario, sky.as_ref(), pieces.as_ref());
    let mut course = Course::new(
        scenario,
        (&links, &flows),
        &mut network,
        signalling.as_mut(),
        (&mut recorder, sky_course),
        pace,
    );
    let mut attached = None;
    match drive {
        Drive::Free(go_on) => {
            if !course.run_to(Instant::START + *scenario.scenario.duration, go_on)? {
                return Ok(None);
            }
        }
        Drive::Outside(outside) => {
            let attachments = attachments(scenario, &links, course.network.graph());
            course.run_with(&attachments, outside)?;
            attached = Some(tables::attached::table(&attachments, &outside.end().map_err(of_outside)?));
        }
    }
    let Course { at_warm_up, asked, .. } = course;
    let end = network.now();
    recorder.collect(&mut network, Finality::Over)?;
    let delays = recorder.delays(end)?;
    let sums: Vec<_> = delays.into_iter().zip(recorder.failovers()).collect();
    let mut tables = tables(scenario, &mut network, &links, &flows, (&at_warm_up, &asked), &sums);
    tables.extend(recorder.delay_tables());
    tables.extend(recorder.datagram_tables());
    if *scenario.probes.host_pairs {
        tables.push(tables::host_pairs::table(&network));
    }
    tables.extend(recorder.totals(&mut network)?);
    tables.extend(attached);
    if let Some(sky) = &sky {
        tables.extend(tables::sky::tables(scenario, sky, &mut network, &links));
        if let (Some(every), Some(plan)) = (scenario.probes.sky.quantity(), scenario.sky_plan()) {
            tables.extend(tables::sky_places::tables(plan, every, end));
        }
    }
    let mut digest = network.digest().to_string();
    if let Some((signalling, record)) = signalling.as_mut().zip(recorder.signalling()) {
        let own = tables::signalling::tables(scenario, signalling, record, end);
        digest = with_tables(&digest, &own, &mut recorder)?;
        tables.extend(own.into_iter().filter_map(|table| match table {
            SignallingTable::HandedOver { .. } => None,
            SignallingTable::Held(table) => Some(table),
        }));
    }
    tables.sort_by(|one, other| one.name().cmp(other.name()));
    Ok(Some(RunOutput {
        seed: seed_number,
        run: options.run,
        digest,
        events: network.events(),
        packet_hops: network.packet_hops(),
        failures: FlowFailure::all(&tables),
        tables,
        captures: Vec::new(),
    }))
}

/// The digest of a run whose signalling network has events of its own: its tables hold what came of them.
fn with_tables(
    digest: &str,
    tables: &[SignallingTable],
    recorder: &mut Recorder<'_>,
) -> Result<String, RunError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(digest.as_bytes());
    let mut add = |column: &Column| {
        for row in 0..column.len() {
            hasher.update(format!("{}={:?};", column.name(), column.at(row)).as_bytes());
        }
    };
    for table in tables {
        match table {
            // Column by column, whether or not the rows are here.
            SignallingTable::HandedOver { table, columns } => {
                for column in 0..*columns {
                    recorder.read_again(*table, &mut |rows| add(&rows.columns()[column]))?;
                }
            }
            SignallingTable::Held(table) => table.columns().iter().for_each(&mut add),
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn start_captures(
    scenario: &Scenario,
    options: &RunOptions,
    links: &[PlannedLink],
    network: &mut RunNetwork<'_>,
) -> Result<Vec<(String, CaptureId)>, RunError> {
    let mut names: Vec<&String> = scenario.probes.captures.iter().chain(&options.captures).collect();
    names.sort();
    names.dedup();
    let start = |name: &String| {
        // An antenna that holds several satellites at a time has a link for each.
        let named: Vec<DirectionId> = links
            .iter()
            .filter(|link| link.is_called(name))
            .flat_map(|link| [link.id.forward(), link.id.reverse()])
            .collect();
        if named.is_empty() {
            let links: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            return Err(RunError::UnknownLink { link: name.clone(), links: links.join(", ") });
        }
        Ok((name.clone(), network.capture(&named)))
    };
    names.into_iter().map(start).collect()
}

fn probe_queues(sampling: Sampling, links: &[PlannedLink], network: &mut RunNetwork<'_>) {
    for link in links {
        for (direction, _) in
            [link.id.forward(), link.id.reverse()].into_iter().zip(link.has_queue).filter(|&(_, has)| has)
        {
            network.probe_queue(direction, sampling);
        }
    }
}

#[cfg(test)]
mod tests;
