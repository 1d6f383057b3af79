//! The trace of a simulated run: the run again, beside the same run with another setting.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_base::Instant;
use slantpath_runner::{OwnKinds, RunOptions, Scenario, run_traced};
use slantpath_trace::{Record, Story, TraceHeader, TraceOrigin};

use crate::arguments::ExplainArguments;
use crate::explain::origin;
use crate::failure::Failure;
use crate::interrupt;

pub(in super::super) fn main(
    recorded: &Story,
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.trace.display()));
    let (as_it_was, path) = origin::scenario(&recorded.header, arguments, own)?;
    let TraceOrigin::Simulated { set, seed, run, flow, .. } = &recorded.header.origin else {
        return Err(misused("it is of no simulated run".to_owned()));
    };
    let changed: Vec<String> = set.iter().chain(&arguments.what_if).cloned().collect();
    let otherwise = Scenario::load_observed(&path, &changed, own, &|_| {})?;
    let options = RunOptions { seed: Some(*seed), run: *run, captures: Vec::new() };
    // A value may concern the seed itself.
    let other_seed = RunOptions { seed: seed_of(&otherwise, &as_it_was).or(Some(*seed)), ..options.clone() };
    let again = story(&as_it_was, &options, flow, &recorded.header, arguments)?;
    let outcome = again.outcome();
    if recorded.is_whole && recorded.dropped == 0 && outcome != recorded.outcome() {
        return Err(misused(
            "this program makes another run of the scenario than that of the trace".to_owned(),
        ));
    }
    let header = TraceHeader { origin: recorded.header.origin.clone(), ..recorded.header.clone() };
    let other = story(&otherwise, &other_seed, flow, &header, arguments)?.outcome();
    if arguments.json {
        let both =
            json!({ "what_if": arguments.what_if, "as_it_was": outcome.json(), "otherwise": other.json() });
        writeln!(out, "{both:#}")?;
        return Ok(());
    }
    writeln!(
        out,
        "{} in {}: as it was, and with {}\n",
        recorded.header.origin.subject().unwrap_or_default(),
        path.display(),
        arguments.what_if.join(", ")
    )?;
    super::print(&[("as it was", &outcome), ("what if", &other)], out)?;
    if outcome == other {
        writeln!(out, "\nThe setting makes no difference to what is counted here.")?;
    }
    Ok(())
}

/// The other scenario's seed, if it has another one.
fn seed_of(otherwise: &Scenario, as_it_was: &Scenario) -> Option<u64> {
    let (other, was) = (*otherwise.scenario.seed, *as_it_was.scenario.seed);
    (other != was).then_some(other)
}

/// Makes a run, and follows the trace of the flow.
pub(super) fn story(
    scenario: &Scenario,
    options: &RunOptions,
    flow: &str,
    header: &TraceHeader,
    arguments: &ExplainArguments,
) -> Result<Story, Failure> {
    let request = scenario.trace_request(&[flow.to_owned()]);
    let request = request.map_err(|error| Failure::Misused(error.to_string()))?;
    let mut story = Story::new(header.clone(), arguments.idle);
    let mut sink = |_: usize, records: &[Record]| {
        for record in records {
            story.follow(record);
        }
        Ok(())
    };
    let stop = interrupt::flag();
    let mut go_on = |_: Instant| {
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let output = run_traced(scenario, options, &request, &mut sink, &mut go_on)?;
    if output.is_none() {
        return Err(Failure::Interrupted("interrupted before both runs were made".to_owned()));
    }
    story.finish();
    Ok(story)
}
