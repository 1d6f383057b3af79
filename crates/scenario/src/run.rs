//! One run: a scenario, a number, and what comes out.

mod build;
mod tables;

use core::ops::ControlFlow;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_host::{Host, NoSourceAddress};
use slantpath_net::{CaptureId, Network, TopologyError};
use slantpath_results::Table;
use slantpath_simulation::NetworkConfigError;

use crate::network::PlannedLink;
use crate::output::{Capture, FlowFailure, RunOutput};
use crate::scenario::Scenario;
use crate::schema::Sampling;
use crate::signalling;
use build::{Plan, plan};
use tables::{AtWarmUp, tables};

pub(crate) use build::Site;

/// What may differ from run to run of one scenario.
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
    Topology(#[from] TopologyError),
    /// A host cannot send to an address.
    #[error(transparent)]
    NoSourceAddress(#[from] NoSourceAddress),
    /// The signalling network cannot be built.
    #[error(transparent)]
    Signalling(#[from] NetworkConfigError),
    /// A link that is to be captured does not exist.
    #[error("there is no link `{link}` to capture; links: {links}")]
    UnknownLink {
        /// The name that was given.
        link: String,
        /// The names there are.
        links: String,
    },
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
    run_asking_every(EVENTS_BETWEEN_QUESTIONS, scenario, options, go_on)
}

fn run_asking_every(
    events: u64,
    scenario: &Scenario,
    options: &RunOptions,
    go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<RunOutput>, RunError> {
    if go_on(Instant::START).is_break() {
        return Ok(None);
    }
    let seed_number = options.seed.unwrap_or(*scenario.scenario.seed);
    let seed = Seed::new(seed_number, options.run);
    let Plan { topology, hosts, links, flows, mut signalling } = plan(scenario, seed)?;
    let mut network = Network::new(topology, seed, hosts);
    let captures = start_captures(scenario, options, &links, &mut network)?;
    probe_queues(*scenario.probes.queues, &links, &mut network);
    let end = Instant::START + *scenario.scenario.duration;
    let warm_up = *scenario.scenario.warm_up;
    let mut at_warm_up = AtWarmUp::default();
    let mut run_until = |network: &mut Network<Host>, end: Instant| {
        while !signalling::run_at_most(events, network, signalling.as_mut(), end) {
            go_on(network.now())?;
        }
        ControlFlow::Continue(())
    };
    if warm_up > Duration::ZERO {
        if run_until(&mut network, Instant::START + warm_up).is_break() {
            return Ok(None);
        }
        network.restart_statistics();
        at_warm_up = AtWarmUp::observe(&network, &flows);
    }
    if run_until(&mut network, end).is_break() {
        return Ok(None);
    }
    let captures = captures
        .into_iter()
        .map(|(link, capture)| Capture { link, pcapng: network.take_capture(capture) })
        .collect();
    let mut tables = tables(scenario, &mut network, &links, &flows, &at_warm_up);
    let mut digest = network.digest().to_string();
    if let Some(signalling) = &mut signalling {
        let own = tables::signalling(scenario, signalling, end);
        digest = with_tables(&digest, &own);
        tables.extend(own);
        tables.sort_by(|one, other| one.name().cmp(other.name()));
    }
    Ok(Some(RunOutput {
        seed: seed_number,
        run: options.run,
        digest,
        events: network.events(),
        packet_hops: network.packet_hops(),
        failures: FlowFailure::all(&tables),
        tables,
        captures,
    }))
}

/// The digest of a run whose signalling network has events of its own: its tables hold what came of them.
fn with_tables(digest: &str, tables: &[Table]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(digest.as_bytes());
    for column in tables.iter().flat_map(Table::columns) {
        for row in 0..column.len() {
            hasher.update(format!("{}={:?};", column.name(), column.at(row)).as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn start_captures<H: slantpath_net::Host>(
    scenario: &Scenario,
    options: &RunOptions,
    links: &[PlannedLink],
    network: &mut Network<H>,
) -> Result<Vec<(String, CaptureId)>, RunError> {
    let mut names: Vec<&String> = scenario.probes.captures.iter().chain(&options.captures).collect();
    names.sort();
    names.dedup();
    let start = |name: &String| {
        let Some(link) = links.iter().find(|link| link.name == *name) else {
            let links: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            return Err(RunError::UnknownLink { link: name.clone(), links: links.join(", ") });
        };
        Ok((name.clone(), network.capture(&[link.id.forward(), link.id.reverse()])))
    };
    names.into_iter().map(start).collect()
}

fn probe_queues<H: slantpath_net::Host>(sampling: Sampling, links: &[PlannedLink], network: &mut Network<H>) {
    let sampling = match sampling {
        Sampling::Every(interval) => slantpath_net::Sampling::Every(interval),
        Sampling::Off => return,
        Sampling::OnChange => slantpath_net::Sampling::OnChange,
    };
    for link in links {
        for direction in [link.id.forward(), link.id.reverse()] {
            network.probe_queue(direction, sampling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str, overrides: &[&str]) -> Scenario {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let files = crate::trace_files("../../scenarios".as_ref());
        Scenario::parse("alone.toml", text, &overrides, files).unwrap()
    }

    fn with_signalling() -> Scenario {
        let text = include_str!("../../../scenarios/ss7-over-geo.toml");
        scenario(text, &[])
    }

    fn first() -> Scenario {
        let text = include_str!("../../../scenarios/first.toml");
        scenario(text, &["scenario.warm_up=10 s"])
    }

    #[test]
    fn questions_change_nothing_of_what_a_run_gives() {
        for scenario in [first(), with_signalling()] {
            let whole = run(&scenario, &RunOptions::default()).unwrap();
            for events in [1, 7] {
                let mut times = vec![Instant::START];
                let mut go_on = |now| {
                    assert!(now >= *times.last().unwrap());
                    times.push(now);
                    ControlFlow::Continue(())
                };
                let asked = run_asking_every(events, &scenario, &RunOptions::default(), &mut go_on).unwrap();
                assert_eq!(asked.as_ref(), Some(&whole), "asked every {events} events");
                assert!(times.len() as u64 > 1_000 / events, "asked {} times", times.len());
            }
        }
    }

    #[test]
    fn a_run_is_asked_before_it_begins_and_then_every_so_many_events() {
        let mut questions = 0;
        let mut go_on = |_| {
            questions += 1;
            ControlFlow::Continue(())
        };
        let output = run_asking_every(100, &first(), &RunOptions::default(), &mut go_on).unwrap().unwrap();
        // The warm-up and the rest each have a stretch that is not whole, after which nobody is asked.
        assert!((output.events / 100 - 1..=output.events / 100 + 1).contains(&questions), "{questions}");
    }

    #[test]
    fn a_run_that_is_stopped_gives_nothing() {
        for scenario in [first(), with_signalling()] {
            for last in [1, 2, 5] {
                let mut questions = 0;
                let mut go_on = |_| {
                    questions += 1;
                    if questions == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let output = run_asking_every(100, &scenario, &RunOptions::default(), &mut go_on);
                assert_eq!((output, questions), (Ok(None), last));
            }
        }
    }
}
