//! `--export`: files for other programs.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::Duration;
use slantpath_orbit::export::{czml, hypatia};
use slantpath_results::{DirectoryLock, write_file};
use slantpath_runner::{Progress, visible};
use slantpath_topology::{Topology, TopologyOutput};

use crate::directory;
use crate::failure::Failure;
use crate::progress::Bar;

/// A viewer interpolates between positions this far apart.
const SCENE_STEP: Duration = Duration::from_secs(60);

/// Files of forwarding states at most. What is less is told beforehand, from so many on that somebody may wonder.
const FILES_MAX: u64 = 1_000_000;
const FILES_WARNED_OF: u64 = 1_000;

/// Refuses, before anything is worked out, a step that makes more files than a directory should hold, and a directory
/// that nothing can be written into. Says how many files there will be if they are many.
///
/// Gives the lock on the directory, unless it is that of `results`, which is locked already.
pub(super) fn check(
    topology: &Topology,
    directory: &Path,
    step: Duration,
    results: Option<&Path>,
) -> Result<Option<DirectoryLock>, Failure> {
    let span = *topology.topology.span;
    let files = 2 * span.as_nanos().div_ceil(step.as_nanos());
    if files > FILES_MAX {
        return Err(Failure::Misused(format!(
            "--export-step: a step of {step} over {span} makes {files} files; {FILES_MAX} are the most: take a longer \
             step or a shorter `topology.span`"
        )));
    }
    let is_same = results.is_some_and(|results| {
        results.canonicalize().is_ok_and(|of| directory.canonicalize().is_ok_and(|own| own == of))
    });
    let lock = if is_same { None } else { Some(directory::lock("--export", directory)?) };
    if files >= FILES_WARNED_OF {
        writeln!(
            io::stderr(),
            "{files} files of forwarding states will be written into {}; a longer --export-step makes fewer",
            visible(&directory.display().to_string())
        )?;
    }
    Ok(lock)
}

/// Writes a CZML scene for each path, or one of the contacts alone, and Hypatia's files. Returns how many files.
pub(super) fn write(
    topology: &Topology,
    output: &TopologyOutput,
    directory: &Path,
    step: Duration,
    stop: &AtomicBool,
) -> Result<usize, Failure> {
    let network = topology.network();
    let failed = |fault: slantpath_orbit::sgp4::PropagationFault| Failure::Failed(fault.to_string());
    let scene = |timeline| czml::scene(network, &output.plan, SCENE_STEP, timeline).map_err(failed);
    let mut count = 0;
    for path in &output.paths {
        let text = scene(Some(&path.timeline))?;
        put_whole(&directory.join(format!("{}.czml", path.name)), &text)?;
        count += 1;
    }
    if output.paths.is_empty() {
        put_whole(&directory.join("contacts.czml"), &scene(None)?)?;
        count += 1;
    }
    let directory = directory.join("hypatia");
    let mut keep = |(name, text): hypatia::HypatiaFile| {
        // Not each whole or not at all as results are: a day has hundreds of thousands of these, and to wait
        // for the disk after each would take hours.
        let path = directory.join(name);
        count += 1;
        put(&path, &text).map_err(Failure::of_file(path))
    };
    hypatia::setting(network, &output.plan).map_err(failed)?.into_iter().try_for_each(&mut keep)?;
    let forwarding = hypatia::Forwarding::new(&output.plan, step);
    let bar = Bar::new("forwarding states");
    let all = forwarding.steps();
    for (done, files) in forwarding.enumerate() {
        if stop.load(Ordering::Relaxed) {
            drop(bar);
            let directory = directory.display();
            return Err(Failure::Interrupted(format!(
                "interrupted: {directory} holds the first {done} states"
            )));
        }
        files.into_iter().try_for_each(&mut keep)?;
        let done = done + 1;
        bar.update(Progress { done, all, share: done as f64 / all as f64 });
    }
    Ok(count)
}

fn put_whole(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, |file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::Failed(error.to_string()))
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}
