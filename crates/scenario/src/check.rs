//! What of a scenario makes sense together. Completes what is left to defaults and assignment, so that the
//! merged form says everything, and reports all that cannot be.

use slantpath_base::Duration;
use slantpath_reader::{AllKnown, Fault, Faults, Lookup, Place, Setting, Tables, suggest};

use crate::flow::trace::{Files, Traces};
use crate::schema::{File, Interval, Sampling, Transport};
use crate::{extent, flow, link, network, script, sctp, signalling};

/// Checks and completes a scenario. Returns the traces that it names.
pub(crate) fn check(file: &mut File, all_known: AllKnown, files: Files<'_>, faults: &mut Faults) -> Traces {
    head(file, faults);
    sctp::check::check(file, faults);
    let joined = link::check::check(file, faults);
    // Where a node or a link is in doubt, nothing can be said about what is not joined.
    if joined && all_known.0 && file.nodes.all_whole() && file.links.all_whole() {
        network::graph::check(file, faults);
    }
    let mut traces = flow::check::check(file, files, faults);
    script::check::check(file, faults);
    signalling::check(file, files, &mut traces, faults);
    captures(file, faults);
    if faults.is_empty() {
        extent::check(file, &traces, faults);
        network::path::check(file, faults);
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
