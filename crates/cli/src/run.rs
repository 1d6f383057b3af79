//! Command `slantpath run`.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use slantpath_results::Table;
use slantpath_runner::{
    LoadError, OwnKinds, RunOptions, RunOutput, RunRecords, Scenario, Store, TABLES, TableKind, Workers,
    means, replicate_stored, replicate_without_records,
};

use crate::arguments::RunArguments;
use crate::criteria::{Kept, Precise};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::progress::{Bar, ContactsBar};
use crate::trace::{self, TraceFiles};
use crate::{files, interrupt, terminal};

pub(crate) fn main(arguments: &RunArguments, own: &OwnKinds, out: &mut impl Write) -> Result<(), Failure> {
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    let scenario = load(&arguments.scenario, &overrides, own)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    if arguments.show {
        write!(out, "{}", scenario.merged())?;
        writeln!(out, "\n# hash {}", scenario.hash())?;
        return Ok(());
    }
    check_captures(&scenario, arguments)?;
    let first = RunOptions::default();
    let traces = TraceFiles::create(&scenario, &arguments.scenario, &overrides, &first, &arguments.trace)?;
    let stop = interrupt::flag();
    let captures = scenario.probes.captures.iter().chain(&arguments.pcap);
    let directory = arguments.out.as_ref().map(|out| Directory::open(out, files::of_run(captures)));
    let mut directory = directory.transpose()?;
    let mut written = Vec::new();
    let outputs = match &mut directory {
        None => outputs(&scenario, arguments, stop)?,
        Some(directory) => {
            let store = Store::new(&directory.path().join("unfinished"));
            let (outputs, records) = stored_outputs(&scenario, arguments, &store, stop)?;
            written = files::write_run(&scenario, &outputs, &records, directory, stop)?;
            store.clear().map_err(|error| Failure::Failed(error.to_string()))?;
            outputs
        }
    };
    if let Some(output) = outputs.first().filter(|_| !arguments.trace.is_empty()) {
        trace::write(traces, &scenario, &first, &output.digest, stop)?;
    }
    if arguments.json {
        print_json(&scenario, &outputs, arguments, &written, out)?;
    } else {
        crate::summary::print(&scenario, &outputs, out)?;
        crate::summary::over_runs::print_criteria(arguments, &outputs, out)?;
        if let Some(directory) = &directory {
            writeln!(out, "\n{} files in {}", written.len(), directory.path().display())?;
        }
    }
    failed_flows(&outputs)?;
    match arguments.until.as_ref().map(|until| (until, until.judge(&outputs))) {
        None | Some((_, Precise::Reached)) => Ok(()),
        Some((until, Precise::Unmeasured)) => Err(Failure::Unreached(until.unmeasured(outputs.len()))),
        Some((until, Precise::Wanted(runs))) => Err(Failure::Unreached(format!(
            "`{}` is not reached by {} runs: some {runs} would do, by `--reps {runs}`",
            until.words(),
            outputs.len()
        ))),
    }
}

/// Reads the scenario, under a bar if there is a sky whose contacts are to be worked out.
fn load(path: &Path, overrides: &[String], own: &OwnKinds) -> Result<Scenario, LoadError> {
    let bar = ContactsBar::default();
    Scenario::load_observed(path, overrides, own, &|progress| bar.update(progress))
}

fn check_captures(scenario: &Scenario, arguments: &RunArguments) -> Result<(), Failure> {
    if let (Some(link), None) = (arguments.pcap.first(), &arguments.out) {
        let message =
            format!("--pcap: `{link}.pcapng` is written into a directory of results: add `--out DIR`");
        return Err(Failure::Misused(message));
    }
    let links = scenario.link_names();
    let Some(link) = arguments.pcap.iter().find(|link| !links.contains(&link.as_str())) else {
        return Ok(());
    };
    Err(Failure::Misused(format!("--pcap: there is no link `{link}`; links: {}", links.join(", "))))
}

/// Runs that `--until` makes at most, if `--reps` does not say so.
const MOST_RUNS: u32 = 10_000;

/// Number of runs that are made in all after these: as many as there are if they are enough.
fn runs_wanted(arguments: &RunArguments, made: &[RunOutput]) -> usize {
    let Some(until) = &arguments.until else { return arguments.reps.unwrap_or(1) as usize };
    let most = arguments.reps.unwrap_or(MOST_RUNS) as usize;
    match until.judge(made) {
        Precise::Reached | Precise::Unmeasured => made.len(),
        Precise::Wanted(runs) => usize::try_from(runs).map_or(most, |runs| runs.min(most)),
    }
}

/// All runs, without what grows with their length.
fn outputs(
    scenario: &Scenario,
    arguments: &RunArguments,
    stop: &AtomicBool,
) -> Result<Vec<RunOutput>, Failure> {
    let mut made: Vec<RunOutput> = Vec::new();
    loop {
        let wanted = runs_wanted(arguments, &made);
        if wanted <= made.len() {
            return Ok(made);
        }
        let options = RunOptions { run: made.len() as u64, ..options(arguments) };
        let outputs = with_bar(arguments, stop, |workers| {
            replicate_without_records(scenario, &options, wanted - made.len(), workers)
        });
        made.extend(outputs?.into_iter().flatten());
        if made.len() < wanted || stop.load(Ordering::Relaxed) {
            let text = "interrupted: nothing was written; with --out, finished runs are kept";
            return Err(Failure::Interrupted(text.to_owned()));
        }
    }
}

/// All runs; what grows with their length lies in the store, where finished runs wait for the others.
fn stored_outputs(
    scenario: &Scenario,
    arguments: &RunArguments,
    store: &Store,
    stop: &AtomicBool,
) -> Result<(Vec<RunOutput>, Vec<RunRecords>), Failure> {
    let (mut made, mut records) = (Vec::new(), Vec::new());
    loop {
        let wanted = runs_wanted(arguments, &made);
        if wanted <= made.len() {
            return Ok((made, records));
        }
        let runs = with_bar(arguments, stop, |workers| {
            replicate_stored(scenario, &options(arguments), wanted, store, workers)
        });
        (made, records) = runs?.into_iter().flatten().unzip();
        if made.len() < wanted || stop.load(Ordering::Relaxed) {
            let out = arguments.out.as_deref().unwrap_or(Path::new(".")).display();
            let finished = made.len();
            return Err(Failure::Interrupted(format!(
                "interrupted: {finished} of {wanted} runs are kept in {out}; the same command goes on"
            )));
        }
    }
}

fn options(arguments: &RunArguments) -> RunOptions {
    RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() }
}

/// Has workers make runs under a bar.
fn with_bar<T, E: Into<Failure>>(
    arguments: &RunArguments,
    stop: &AtomicBool,
    work: impl FnOnce(Workers<'_>) -> Result<T, E>,
) -> Result<T, Failure> {
    let bar = Bar::of_runs(arguments.out.as_deref());
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    work(workers).map_err(Into::into)
}

/// The manifest, with the means of every table that has any under its name; those of flows are the `summary`.
fn print_json(
    scenario: &Scenario,
    outputs: &[RunOutput],
    arguments: &RunArguments,
    written: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut manifest = files::manifest(scenario, outputs);
    manifest["files"] = json!(written);
    if let Some(until) = &arguments.until {
        let is_reached = until.judge(outputs) == Precise::Reached;
        manifest["until"] =
            json!({ "precision": until.words(), "reached": is_reached, "runs": outputs.len() });
    }
    if !arguments.within.is_empty() {
        let rows = arguments.within.iter().flat_map(|within| {
            within.shares(outputs).into_iter().map(|Kept { flow, share }| {
                json!({
                    "flow": flow, "measure": within.measure.asked, "limit": within.words,
                    "runs_within": share.successes, "runs": share.trials,
                    "share": share.share(), "low": share.low, "high": share.high,
                })
            })
        });
        manifest["within"] = rows.collect();
    }
    let limits = arguments.within.iter().filter(|within| within.shares(outputs).is_empty());
    let unmeasured: Vec<_> = limits
        .map(|within| json!({ "question": within.words(), "why": within.unmeasured(outputs.len()) }))
        .collect();
    if !unmeasured.is_empty() {
        manifest["unmeasured"] = json!(unmeasured);
    }
    let kinds = TABLES.iter().filter_map(|name| TableKind::of_name(name));
    let tables: Vec<(&str, Table)> = kinds
        .filter_map(|kind| {
            let name = if kind == TableKind::Flows { "summary" } else { kind.name() };
            Some((name, means(kind, outputs)?))
        })
        .collect();
    let tables: Vec<(&str, Option<&Table>)> =
        tables.iter().map(|(name, table)| (*name, Some(table))).collect();
    writeln!(out, "{}", files::json_with_tables(&manifest, &tables)?)?;
    Ok(())
}

/// Says so if flows failed, now that all else is done.
fn failed_flows(outputs: &[RunOutput]) -> Result<(), Failure> {
    let failed = outputs.iter().filter(|output| !output.failures.is_empty()).count();
    match (failed, outputs.len()) {
        (0, _) => Ok(()),
        (_, 1) => {
            let flows: Vec<&str> = outputs
                .iter()
                .flat_map(|output| &output.failures)
                .map(|failure| failure.flow.as_str())
                .collect();
            Err(Failure::Flows(format!("flows failed: {}", flows.join(", "))))
        }
        (_, runs) => Err(Failure::Flows(format!("flows failed in {failed} of {runs} runs"))),
    }
}
