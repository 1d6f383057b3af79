//! Command `slantpath topology`.

mod export;
mod report;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};
use slantpath_runner::Workers;
use slantpath_topology::{AnswerStage, PassStore, Topology, TopologyOutput, follow};

use crate::arguments::TopologyArguments;
use crate::directory::{Contents, Directory};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{Draw, files, interrupt, terminal};

pub(crate) fn main(
    arguments: &TopologyArguments,
    draw: Option<Draw<'_>>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let topology = Topology::load(&arguments.topology, &arguments.set)?;
    if arguments.show {
        write!(out, "{}", topology.merged())?;
        writeln!(out, "\n# hash {}", topology.hash())?;
        return Ok(());
    }
    for warning in topology.warnings() {
        terminal::warn(warning)?;
    }
    let stop = interrupt::flag();
    let directory = arguments.out.as_ref().map(|out| Directory::open(out, [TOPOLOGY.to_owned()]));
    let mut directory = directory.transpose()?;
    let results = directory.as_ref().map(Directory::path);
    let _until_exported = match &arguments.export {
        Some(export) => export::check(&topology, export, arguments.export_step, results)?,
        None => None,
    };
    let output = answer(&topology, arguments, stop)?;
    for warning in output.warning_lines() {
        terminal::warn(&warning)?;
    }
    let mut written = Vec::new();
    if let Some(directory) = &mut directory {
        written = write(&topology, &output, directory, draw, stop)?;
        let cleared = pass_store(arguments).map_or(Ok(()), PassStore::clear);
        cleared.map_err(|error| Failure::Failed(error.to_string()))?;
    }
    let exported = match &arguments.export {
        Some(directory) => export::write(&topology, &output, directory, arguments.export_step, stop)?,
        None => 0,
    };
    if arguments.json {
        print_json(&topology, &output, &written, out)?;
        return exists(&output);
    }
    report::print(&topology, &output, arguments, out)?;
    if let Some(directory) = &arguments.out {
        writeln!(out, "\n{} files in {}", written.len(), directory.display())?;
        if draw.is_none() {
            writeln!(out, "figures are drawn by the Python package (pip install .), from the same command")?;
        }
    }
    if let Some(directory) = &arguments.export {
        let separator = if arguments.out.is_none() { "\n" } else { "" };
        writeln!(out, "{separator}{exported} files for other programs in {}", directory.display())?;
    }
    exists(&output)
}

/// A path that is asked for and never there is no success.
fn exists(output: &TopologyOutput) -> Result<(), Failure> {
    match output.absent().as_slice() {
        [] => Ok(()),
        absent => Err(Failure::Flows(format!("paths that never exist: {}", absent.join(", ")))),
    }
}

/// Store in which the passes of finished sites are kept until the others are done, if there is a place for it.
fn pass_store(arguments: &TopologyArguments) -> Option<PassStore> {
    arguments.out.as_ref().map(|out| PassStore::new(&out.join("unfinished")))
}

fn answer(
    topology: &Topology,
    arguments: &TopologyArguments,
    stop: &AtomicBool,
) -> Result<TopologyOutput, Failure> {
    let bar = Bar::new("sites");
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    let stage = |stage: AnswerStage| {
        bar.show(match stage {
            AnswerStage::Passes => "passes",
            AnswerStage::Contacts => "handovers, links and delays",
            AnswerStage::Paths => "paths and tables",
        });
    };
    let store = pass_store(arguments);
    let output = follow(topology, store.as_ref(), workers, &stage);
    drop(bar);
    output?.ok_or_else(|| {
        Failure::Interrupted(match &arguments.out {
            Some(out) => {
                let out = out.display();
                format!(
                    "interrupted: the passes of finished sites are kept in {out}; the same command goes on"
                )
            }
            None => "interrupted: nothing was written; with --out, the passes of finished sites are kept"
                .to_owned(),
        })
    })
}

/// Name of the merged topology in a directory of results.
const TOPOLOGY: &str = "topology.toml";

/// Writes tables, figures, the merged topology and a manifest, each file whole or not at all. Equal topologies
/// leave equal files. Returns the names of the files.
fn write(
    topology: &Topology,
    output: &TopologyOutput,
    directory: &mut Directory,
    draw: Option<Draw<'_>>,
    stop: &'static AtomicBool,
) -> Result<Vec<String>, Failure> {
    let merged = topology.merged();
    let mut contents = Contents::default();
    contents.tables(&output.tables);
    contents.bytes(TOPOLOGY, merged.as_bytes());
    let mut manifest = manifest(topology, output);
    let mut names = directory.replace(&contents, &mut manifest, stop)?;
    if let Some(draw) = draw {
        // Whoever draws reads what is there by now. The manifest is the last of the names.
        names.pop();
        let drawn = draw(directory.path(), stop);
        if stop.load(Ordering::Relaxed) {
            return Err(directory.interrupted());
        }
        names.extend(drawn.map_err(Failure::Failed)?);
        names = directory.list(names, &mut manifest)?;
    }
    Ok(names)
}

/// Manifest of the results, with their origin. The manifest has no date of today: equal topologies have equal
/// manifests.
fn manifest(topology: &Topology, output: &TopologyOutput) -> Json {
    let warnings: Vec<String> = output.warnings.iter().map(ToString::to_string).collect();
    json!({
        "program": "slantpath",
        "version": env!("CARGO_PKG_VERSION"),
        "topology": *topology.topology.name,
        "hash": topology.hash(),
        "epoch": topology.topology.epoch.to_string(),
        "span_s": topology.topology.span.as_secs_f64(),
        "map_date": topology.topology.epoch.after(*topology.map.at).to_string(),
        "satellites": topology.network().satellite_count(),
        "warnings": warnings,
    })
}

fn print_json(
    topology: &Topology,
    output: &TopologyOutput,
    written: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut manifest = manifest(topology, output);
    manifest["files"] = json!(written);
    let tables = ["summary", "coverage", "gaps"].map(|name| (name, output.table(name)));
    writeln!(out, "{}", files::json_with_tables(&manifest, &tables)?)?;
    Ok(())
}
