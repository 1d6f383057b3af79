//! Command `slantpath emulate`: the network of a scenario in real time, with real programs at its attached nodes.
//!
//! # Map
//!
//! - [`placed`][]: attached nodes as places of Linux. [`commands`]: the programs there. [`existing`]: places that
//!   exist already.
//! - [`relayed`][]: attached nodes as ports of this machine, on any system.
//! - [`quick`][]: the scenario. [`control`]: commands while it runs. [`told`]: its words.

#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod existing;
#[cfg(target_os = "linux")]
mod placed;
mod quick;
mod relayed;
mod told;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use slantpath_base::Duration;
use slantpath_runner::{
    Outside, RunOptions, Scenario, Store, run_attached_stored, run_attached_without_records,
};

use crate::arguments::EmulateArguments;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::files;

/// Time that programs have to end by themselves once they are asked to.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) fn main(arguments: &EmulateArguments) -> Result<(), Failure> {
    if !arguments.relay.is_empty() {
        return relayed::main(arguments);
    }
    #[cfg(target_os = "linux")]
    return placed::main(arguments);
    #[cfg(not(target_os = "linux"))]
    Err(Failure::Failed(
        "without --relay emulate needs Linux: its places are namespaces; `--relay 5000:far:6000 --delay '250 ms'` \
         carries a port of this machine"
            .to_owned(),
    ))
}

/// Makes the run, and gives its digest.
fn made(
    arguments: &EmulateArguments,
    scenario: &Scenario,
    options: &RunOptions,
    outside: &mut dyn Outside,
) -> Result<String, Failure> {
    let Some(out) = &arguments.out else {
        return Ok(run_attached_without_records(scenario, options, outside)?.digest);
    };
    let captures = scenario.probes.captures.iter().chain(&arguments.pcap);
    let mut directory = Directory::open(out, files::of_run(captures))?;
    let store = Store::new(&directory.path().join("unfinished"));
    let (output, records) = run_attached_stored(scenario, options, &store, outside)?;
    let digest = output.digest.clone();
    files::write_run(scenario, &[output], &[records], &mut directory, &AtomicBool::new(false))?;
    store.clear().map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(digest)
}

/// The directory to which names of files in the scenario are relative, from wherever the record is repeated.
fn directory(arguments: &EmulateArguments) -> String {
    let parent = arguments.scenario.as_deref().and_then(Path::parent);
    let directory = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let absolute = std::path::absolute(directory);
    absolute.map_or_else(|_| ".".to_owned(), |absolute| absolute.display().to_string())
}
