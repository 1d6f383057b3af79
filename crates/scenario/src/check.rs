//! Checks of the parts of a scenario against each other. They complete what is left to defaults and assignment, so that
//! the merged form says everything, and report all that cannot be.

use slantpath_reader::{AllKnown, Entries, Faults, Files, Section};

use crate::draft::Draft;
use crate::flow::trace::Traces;
use crate::schema::File;
use crate::sky_links::topology::Bodies;
use crate::{
    access, flow, head, link, network, probes, script, sessions, signalling, sky_links, zero_checksum,
};

/// Reads the entries of a file, checks and completes them. What it gives holds if there is no fault.
pub fn read(entries: &Entries, files: &Files, faults: &mut Faults) -> Option<Draft> {
    let (mut file, all_known) = File::read_root(entries, "a scenario", faults)?;
    let (traces, bodies) = check(&mut file, all_known, files, faults);
    Some(Draft::new(file, traces, bodies))
}

/// Checks and completes a scenario. Gives what its traces say, and the bodies of its sky, if it has one.
fn check(
    file: &mut File,
    all_known: AllKnown,
    files: &Files,
    faults: &mut Faults,
) -> (Traces, Option<Bodies>) {
    let has_emulators = file.wan_emulators.all_whole();
    link::wan_emulator::expand(&mut file.wan_emulators, &mut file.links, faults);
    if let Some(head) = file.scenario.whole() {
        head::check(head, faults);
        let is_signalling = file.signalling.whole().is_none_or(|signalling| !signalling.load.is_empty());
        if file.flows.is_empty() && file.sessions.is_empty() && !is_signalling {
            head::nothing_sent(head, faults);
        }
    }
    let bodies = sky_links::check::check(file, all_known, files, faults);
    slantpath_profiles::sctp::check(&file.sctp, faults);
    slantpath_profiles::tcp::check(&file.tcp, faults);
    let joined = link::check::check(file, faults);
    access::check::check(file, bodies.as_ref().map(|bodies| &bodies.network), faults);
    // Where a node or a link is in doubt, nothing can be said about what is not joined.
    if joined && has_emulators && all_known.0 && file.nodes.all_whole() && file.links.all_whole() {
        network::graph::check(file, faults);
    }
    let mut traces = flow::check::check(file, files, faults);
    sessions::check::check(file, files, &mut traces, faults);
    link::delay_trace::check(file, files, &mut traces, faults);
    link::fade_trace::check(file, files, &mut traces, faults);
    script::check::check(file, faults);
    zero_checksum::check(file, &traces, faults);
    if let Some(bodies) = &bodies {
        sky_links::changes::check(file, bodies, &traces, faults);
    }
    signalling::check(file, files, &mut traces, faults);
    probes::check::check(file, faults);
    (traces, bodies)
}
