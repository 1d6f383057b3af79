//! `--export`: files for other programs.

use std::io;
use std::path::Path;

use slantpath_base::Duration;
use slantpath_orbit::export::{czml, hypatia};
use slantpath_scenario::{Topology, TopologyOutput};

use crate::failure::Failure;
use crate::files;

/// A viewer interpolates between positions this far apart.
const SCENE_STEP: Duration = Duration::from_secs(60);

/// Writes a CZML scene for each path, or one of the contacts alone, and Hypatia's files. Returns how many files.
pub(super) fn write(
    topology: &Topology,
    output: &TopologyOutput,
    directory: &Path,
    step: Duration,
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
    for (name, text) in hypatia::files(network, &output.plan, step).map_err(failed)? {
        // Not each whole or not at all as results are: a day has hundreds of thousands of these, and to wait
        // for the disk after each would take hours.
        let path = directory.join(name);
        put(&path, &text).map_err(Failure::of_file(path))?;
        count += 1;
    }
    Ok(count)
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}
