//! What of a scenario makes sense together. Completes what is left to defaults and assignment, so that the
//! merged form says everything, and reports all that cannot be.

mod extent;
mod flows;
mod links;
mod paths;
mod profiles;
mod script;
mod signalling;
mod topology;
mod traces;

use slantpath_base::Duration;

pub(crate) use signalling::node_of;
pub(crate) use traces::{Files, Traces};

use crate::diagnostic::{Fault, Faults, Place, suggest};
use crate::schema::{File, Interval, Sampling, Transport};
use crate::section::{AllKnown, Lookup, Setting, Tables};

/// Checks and completes a scenario. Returns the traces that it names.
pub(crate) fn check(file: &mut File, all_known: AllKnown, files: Files<'_>, faults: &mut Faults) -> Traces {
    head(file, faults);
    profiles::check(file, faults);
    let joined = links::check(file, faults);
    // Where a node or a link is in doubt, nothing can be said about what is not joined.
    if joined && all_known.0 && file.nodes.all_whole() && file.links.all_whole() {
        topology::check(file, faults);
    }
    let mut traces = flows::check(file, files, faults);
    script::check(file, faults);
    signalling::check(file, files, &mut traces, faults);
    captures(file, faults);
    if faults.is_empty() {
        extent::check(file, &traces, faults);
        paths::check(file, faults);
    }
    traces
}

fn head(file: &File, faults: &mut Faults) {
    let Some(head) = file.scenario.whole() else { return };
    if head.duration.is_zero() {
        let fault = Fault::new("a run of no length shows nothing").help("write `duration = \"60 s\"`");
        faults.report(head.duration.place(), fault);
    } else if *head.warm_up >= *head.duration {
        let message =
            format!("the warm-up of {} leaves nothing of the run of {}", *head.warm_up, *head.duration);
        faults.report(head.warm_up.place(), Fault::new(message).help("let it end before `duration`"));
    }
    let is_signalling = file.signalling.whole().is_none_or(|signalling| !signalling.load.is_empty());
    if file.flows.is_empty() && !is_signalling {
        let help = "add a table `[flows.<name>]` that says who sends what to whom";
        faults.report(head.name.place(), Fault::new("the scenario has no flow").help(help));
    }
}

fn captures(file: &File, faults: &mut Faults) {
    let Some(probes) = file.probes.whole() else { return };
    for link in &*probes.captures {
        resolve(&file.links, link, "link", probes.captures.place(), faults);
    }
    for flow in &*probes.timelines {
        let found = resolve(&file.flows, flow, "flow", probes.timelines.place(), faults);
        if found.is_some_and(|flow| *flow.transport == Transport::Tcp) {
            let fault = Fault::new(format!("flow `{flow}` goes over TCP, which has one path"));
            faults.report(probes.timelines.place(), fault.help("name flows over SCTP"));
        }
    }
    let help = "write an interval like \"100 ms\"";
    if *probes.queues == Sampling::Every(Duration::ZERO) {
        let fault = Fault::new("a probe cannot sample all the time").help(help);
        faults.report(probes.queues.place(), fault);
    }
    if *probes.paths == Interval::Every(Duration::ZERO) {
        let fault = Fault::new("a probe cannot sample all the time").help(help);
        faults.report(probes.paths.place(), fault);
    }
}

/// The table that a name refers to; reports a name that refers to nothing.
fn resolve<'a, S>(
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
fn before_the_end(file: &File, at: &Setting<Duration>, what: &str, faults: &mut Faults) {
    let Some(head) = file.scenario.whole() else { return };
    if **at >= *head.duration && !head.duration.is_zero() {
        let message = format!("{what} at {} lies after the end of the run at {}", **at, *head.duration);
        let help = "let it happen earlier, or make `scenario.duration` longer";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}

fn positive(value: &Setting<Duration>, what: &str, faults: &mut Faults) {
    if value.is_zero() {
        faults.report(value.place(), Fault::new(format!("{what} of zero is none")).help("let it be longer"));
    }
}
