//! `slantpath run`.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use slantpath_scenario::{
    RunOptions, RunOutput, Scenario, Store, TABLES, TableKind, Workers, means, replicate, replicate_stored,
};

use crate::arguments::RunArguments;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{files, interrupt, terminal};

pub(crate) fn main(arguments: &RunArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut overrides = arguments.common.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    let scenario = Scenario::load(&arguments.scenario, &overrides)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    if arguments.show {
        write!(out, "{}", scenario.merged())?;
        writeln!(out, "\n# hash {}", scenario.hash())?;
        return Ok(());
    }
    check_captures(&scenario, arguments)?;
    let stop = interrupt::flag();
    let captures = scenario.probes.captures.iter().chain(&arguments.pcap);
    let directory = arguments.out.as_ref().map(|out| Directory::open(out, files::of_run(captures)));
    let mut directory = directory.transpose()?;
    let store = directory.as_ref().map(unfinished);
    let outputs = outputs(&scenario, arguments, store.as_ref(), stop)?;
    let mut written = Vec::new();
    if let Some(directory) = &mut directory {
        written = files::write_run(&scenario, &outputs, directory)?;
    }
    if let Some(store) = store {
        store.clear().map_err(|error| Failure::Failed(error.to_string()))?;
    }
    if arguments.json {
        print_json(&scenario, &outputs, &written, out)?;
    } else {
        crate::summary::print(&scenario, &outputs, out)?;
        if let Some(directory) = &directory {
            writeln!(out, "\n{} files in {}", written.len(), directory.path().display())?;
        }
    }
    failed_flows(&outputs)
}

fn check_captures(scenario: &Scenario, arguments: &RunArguments) -> Result<(), Failure> {
    let Some(link) = arguments.pcap.iter().find(|link| scenario.links.find(link).is_none()) else {
        return Ok(());
    };
    let links: Vec<&str> = scenario.links.iter().map(|(name, _)| name).collect();
    Err(Failure::Misused(format!("--pcap: there is no link `{link}`; links: {}", links.join(", "))))
}

/// Where finished runs wait for the others.
fn unfinished(directory: &Directory) -> Store {
    Store::new(&directory.path().join("unfinished"))
}

fn outputs(
    scenario: &Scenario,
    arguments: &RunArguments,
    store: Option<&Store>,
    stop: &AtomicBool,
) -> Result<Vec<RunOutput>, Failure> {
    let reps = arguments.reps as usize;
    let bar = Bar::new("runs");
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let outputs = match store {
        Some(store) => replicate_stored(scenario, &options, reps, store, workers).map_err(Failure::from),
        None => replicate(scenario, &options, reps, workers).map_err(Failure::from),
    };
    drop(bar);
    let outputs: Vec<RunOutput> = outputs?.into_iter().flatten().collect();
    if outputs.len() == reps && !stop.load(Ordering::Relaxed) {
        return Ok(outputs);
    }
    Err(Failure::Interrupted(match &arguments.out {
        Some(out) => {
            let finished = outputs.len();
            format!(
                "interrupted: {finished} of {reps} runs are kept in {}; the same command goes on",
                out.display()
            )
        }
        None => "interrupted: nothing was written; with --out, finished runs are kept".to_owned(),
    }))
}

/// The manifest, with the means of every table that has any under its name; those of flows are the `summary`.
fn print_json(
    scenario: &Scenario,
    outputs: &[RunOutput],
    written: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut manifest = files::manifest(scenario, outputs);
    for kind in TABLES.iter().filter_map(|name| TableKind::of_name(name)) {
        let Some(means) = means(kind, outputs) else { continue };
        let name = if kind == TableKind::Flows { "summary" } else { kind.name() };
        manifest[name] = json!(files::json_rows(&means)?);
    }
    manifest["files"] = json!(written);
    writeln!(out, "{manifest:#}")?;
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
