//! `slantpath run`.

use std::io::Write;
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_scenario::{
    RunOptions, RunOutput, Scenario, Store, Workers, replicate, replicate_kept, summary,
};

use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{files, interrupt};

pub(crate) fn main(arguments: &RunArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut overrides = arguments.common.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    let scenario = Scenario::load(&arguments.scenario, &overrides)?;
    for warning in scenario.warnings() {
        writeln!(std::io::stderr(), "warning: {warning}")?;
    }
    if arguments.show {
        write!(out, "{}", scenario.merged())?;
        writeln!(out, "\n# hash {}", scenario.hash())?;
        return Ok(());
    }
    let outputs = outputs(&scenario, arguments)?;
    let written = match &arguments.out {
        Some(directory) => {
            let written = files::write_run(&scenario, &outputs, directory)?;
            unfinished(arguments)
                .map_or(Ok(()), Store::clear)
                .map_err(|error| Failure::Failed(error.to_string()))?;
            written
        }
        None => Vec::new(),
    };
    if arguments.json {
        print_json(&scenario, &outputs, &written, out)
    } else {
        crate::summary::print(&scenario, &outputs, out)?;
        if let (Some(directory), false) = (&arguments.out, written.is_empty()) {
            writeln!(out, "\n{} files in {}", written.len(), directory.display())?;
        }
        Ok(())
    }
}

/// Where finished runs wait for the others, if there is a place for them.
fn unfinished(arguments: &RunArguments) -> Option<Store> {
    arguments.out.as_ref().map(|out| Store::new(&out.join("unfinished")))
}

fn outputs(scenario: &Scenario, arguments: &RunArguments) -> Result<Vec<RunOutput>, Failure> {
    if let Some(link) = arguments.pcap.iter().find(|link| scenario.links.find(link).is_none()) {
        let links: Vec<&str> = scenario.links.iter().map(|(name, _)| name).collect();
        return Err(Failure::Misused(format!(
            "--pcap: there is no link `{link}`; links: {}",
            links.join(", ")
        )));
    }
    let stop = interrupt::flag();
    let reps = arguments.reps as usize;
    let bar = Bar::new("runs");
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let store = unfinished(arguments);
    let outputs = match &store {
        Some(store) => replicate_kept(scenario, &options, reps, store, workers).map_err(Failure::from),
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

fn print_json(
    scenario: &Scenario,
    outputs: &[RunOutput],
    written: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let summary = summary(outputs);
    let mut manifest = files::manifest(scenario, outputs);
    manifest["summary"] = json!(files::json_rows(&summary)?);
    manifest["files"] = json!(written);
    serde_json::to_writer_pretty(&mut *out, &manifest).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
