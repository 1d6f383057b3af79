//! `slantpath run`.

use std::io::Write;
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_scenario::{RunOptions, RunOutput, Scenario, Workers, replicate, summary};

use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::{files, interrupt, progress};

pub(crate) fn main(arguments: &RunArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut overrides = arguments.common.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    let scenario = Scenario::load(&arguments.scenario, &overrides)?;
    if arguments.show {
        write!(out, "{}", scenario.merged())?;
        writeln!(out, "\n# hash {}", scenario.hash())?;
        return Ok(());
    }
    let outputs = outputs(&scenario, arguments)?;
    let written = match &arguments.out {
        Some(directory) => files::write_run(&scenario, &outputs, directory)?,
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
    let bar = progress::bar(reps);
    let update = |done: usize, _: usize| progress::update(&bar, done);
    let workers = Workers { threads: arguments.common.jobs, progress: &update, stop: &stop };
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let outputs = replicate(scenario, &options, reps, workers);
    bar.finish_and_clear();
    let outputs: Vec<RunOutput> = outputs?.into_iter().flatten().collect();
    if outputs.len() < reps || stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
    }
    Ok(outputs)
}

fn print_json(
    scenario: &Scenario,
    outputs: &[RunOutput],
    written: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let summary = summary(outputs);
    let mut rows = Vec::new();
    slantpath_results::write_json_lines(&summary, &mut rows)?;
    let rows: Vec<serde_json::Value> = String::from_utf8_lossy(&rows)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON lines is JSON"))
        .collect();
    let mut manifest = files::manifest(scenario, outputs);
    manifest["summary"] = json!(rows);
    manifest["files"] = json!(written);
    serde_json::to_writer_pretty(&mut *out, &manifest).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
