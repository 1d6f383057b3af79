//! Checks of the parts of a scenario against each other. They complete what is left to defaults and assignment, so that
//! the merged form says everything, and report all that cannot be.

use std::sync::Arc;

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{AllKnown, Fault, Faults, Files, Lookup, Origin, Place, Setting, Tables, suggest};

use crate::flow::trace::Traces;
use crate::scenario::Watch;
use crate::schema::File;
use crate::sky_links::plan::SkyPlan;
use crate::{
    access, extent, flow, head, link, network, probes, profiles, script, sctp, sessions, signalling,
    sky_links, tcp,
};

/// Source of the contacts of a sky.
#[derive(Clone, Copy)]
pub(crate) struct Contacts<'a> {
    /// Contacts of a scenario that this one was made of.
    pub(crate) known: Option<&'a Arc<SkyPlan>>,
    /// Hears of them, and may stop them.
    pub(crate) watch: Watch<'a>,
}

/// Checks and completes a scenario.
pub(crate) fn check(
    file: &mut File,
    all_known: AllKnown,
    files: &Files,
    contacts: Contacts<'_>,
    faults: &mut Faults,
) -> Checked {
    let has_emulators = file.wan_emulators.all_whole();
    link::wan_emulator::expand(file, faults);
    head::check(file, faults);
    let bodies = sky_links::check::check(file, all_known, files, faults);
    sctp::check::check(&file.sctp, faults);
    tcp::check::check(file, faults);
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
    sctp::zero_checksum::check(file, &traces, faults);
    if let Some(bodies) = &bodies {
        sky_links::changes::check(file, bodies, &traces, faults);
    }
    signalling::check(file, files, &mut traces, faults);
    probes::check::check(file, faults);
    if all_known.0 {
        profiles::check(file, faults);
    }
    let mut sky = None;
    if faults.is_empty() {
        extent::check(file, &traces, bodies.as_ref().map(|bodies| &bodies.network), faults);
    }
    // A long run's contacts take their time: not before it is known that the run can be.
    if faults.is_empty() {
        sky = bodies.and_then(|bodies| sky_links::check::plan(file, &bodies, contacts, faults));
        if let Some(sky) = &sky {
            sky_links::changes::check_satellites(file, sky, faults);
        }
        if faults.is_empty() {
            network::path::check(file, &traces, sky.as_deref(), faults);
        }
    }
    Checked { traces, sky }
}

/// Names of a scenario and what follows from them.
pub(crate) struct Checked {
    pub(crate) traces: Traces,
    /// The contacts of its sky, if it has one.
    pub(crate) sky: Option<Arc<SkyPlan>>,
}

/// The table that a name refers to; reports a name that refers to nothing.
pub(crate) fn resolve<'a, S>(
    tables: &'a Tables<S>,
    name: &str,
    what: &str,
    place: Place,
    faults: &mut Faults,
) -> Option<&'a S> {
    match tables.lookup(name) {
        Lookup::Broken => None,
        Lookup::Found(section) => Some(section),
        Lookup::Unknown => {
            let help = suggest(name, &format!("{what}s"), &tables.names());
            faults.report(place, Fault::new(format!("there is no {what} `{name}`")).help(help));
            None
        }
    }
}

/// Reports a time that lies at or after the end of the run.
pub(crate) fn before_the_end(file: &File, at: &Setting<Duration>, what: &str, faults: &mut Faults) {
    let Some(head) = file.scenario.whole() else { return };
    if **at >= *head.duration && !head.duration.is_zero() {
        let message = format!("{what} at {} lies after the end of the run at {}", **at, *head.duration);
        let help = "let it happen earlier, or make `scenario.duration` longer";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}

pub(crate) fn positive(value: &Setting<Duration>, what: &str, faults: &mut Faults) {
    if value.is_zero() {
        faults.report(value.place(), Fault::new(format!("{what} of zero is none")).help("let it be longer"));
    }
}

/// Reports an amount of data outside of its bounds.
pub(crate) fn within(
    name: &str,
    size: &Setting<DataSize>,
    least: DataSize,
    most: DataSize,
    faults: &mut Faults,
) {
    if !(least..=most).contains(&**size) {
        let message = format!("`{name}` of {} cannot be", **size);
        let help = format!("it lies between {} and {} bytes", least.as_bytes(), most.as_bytes());
        faults.report(size.place(), Fault::new(message).help(help));
    }
}

/// Reports retransmission timeouts that no measurement could satisfy.
pub(crate) fn timeouts(
    initial: &Setting<Duration>,
    min: &Setting<Duration>,
    max: &Setting<Duration>,
    faults: &mut Faults,
) {
    if **min > **max {
        let message = format!("`rto_min` is {}, `rto_max` is {}: no time-out satisfies both", **min, **max);
        let at = if min.origin() == Origin::Given { min } else { max };
        faults.report(at.place(), Fault::new(message).help("let `rto_min` be at most `rto_max`"));
        return;
    }
    if !(**min..=**max).contains(&**initial) {
        let message = format!("`rto_initial` is {}, outside of {} to {}", **initial, **min, **max);
        let at = [initial, min, max].into_iter().find(|s| s.origin() == Origin::Given);
        let help = "let it lie between `rto_min` and `rto_max`";
        faults.report(at.unwrap_or(initial).place(), Fault::new(message).help(help));
    }
}
