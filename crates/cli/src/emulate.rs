//! Command `slantpath emulate`: the network of a scenario in real time, with real programs at its attached nodes.
//!
//! # Map
//!
//! - [`placed`][]: attached nodes as places of Linux. [`commands`]: the programs there. [`existing`]: places that
//!   exist already.
//! - [`relayed`][]: attached nodes as ports of this machine, on any system. [`machine_program`]: the program there.
//!   [`descriptors`]: what their sockets need.
//! - [`state`][]: the end and the reasons for it, of both. [`quick`]: the scenario. [`control`]: commands while it
//!   runs. [`told`]: its words.

#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod control;
mod descriptors;
#[cfg(target_os = "linux")]
mod existing;
mod machine_program;
#[cfg(target_os = "linux")]
mod placed;
mod quick;
mod relayed;
mod state;
mod told;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use slantpath_base::Duration;
use slantpath_runner::{
    EmulationRecording, Outside, OwnKinds, RunOptions, Scenario, Store, Work, run_attached_stored,
    run_attached_without_records,
};

use crate::arguments::EmulateArguments;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::files;

/// Time that programs have to end by themselves once they are asked to.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) fn main(arguments: &EmulateArguments, own: &OwnKinds) -> Result<(), Failure> {
    if !arguments.relay.is_empty() {
        return relayed::main(arguments, own);
    }
    #[cfg(target_os = "linux")]
    return placed::main(arguments, own);
    #[cfg(not(target_os = "linux"))]
    Err(Failure::Failed(
        "without --relay emulate needs Linux: its places are namespaces; `--relay 5000:far:6000 --delay '250 ms'` \
         carries a port of this machine"
            .to_owned(),
    ))
}

/// Makes the run, and records it if that is asked for.
fn run(arguments: &EmulateArguments, scenario: &Scenario, outside: &mut dyn Outside) -> Result<(), Failure> {
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let Some(path) = &arguments.record else {
        return made(arguments, scenario, &options, outside).map(drop);
    };
    let file = File::create(path).map_err(Failure::of_file(path.clone()))?;
    let mut recording = EmulationRecording::begin(scenario, &directory(arguments), file, outside)
        .map_err(Failure::of_file(path.clone()))?;
    let digest = made(arguments, scenario, &options, &mut recording)?;
    recording.finish(&digest).map_err(Failure::of_file(path.clone()))
}

/// Has work done by a thread of its own.
fn beside(work: Work) {
    // Threads that one of real-time priority starts have none. Without a thread the work is not done in time, which
    // makes the run void.
    let _ = std::thread::Builder::new().name("sky".to_owned()).spawn(work);
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
