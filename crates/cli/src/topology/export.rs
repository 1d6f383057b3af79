//! `--export`: files for other programs.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::Duration;
use slantpath_orbit::export::{czml, hypatia};
use slantpath_scenario::{Progress, Topology, TopologyOutput};

use crate::failure::Failure;
use crate::files;
use crate::progress::Bar;

/// A viewer interpolates between positions this far apart.
const SCENE_STEP: Duration = Duration::from_secs(60);

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
        files::write_bytes(&directory.join(format!("{}.czml", path.name)), text.as_bytes())?;
        count += 1;
    }
    if output.paths.is_empty() {
        files::write_bytes(&directory.join("contacts.czml"), scene(None)?.as_bytes())?;
        count += 1;
    }
    let directory = directory.join("hypatia");
    let mut keep = |(name, text): hypatia::File| {
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

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}
