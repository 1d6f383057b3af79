//! Loads: destinations that can be reached, messages that can be told apart.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Files, Named, Place, Setting, Written};
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::load::{Generator, GeneratorError};
use slantpath_ss7::sccp::Digits;
use slantpath_traffic::number_links;

use super::trace;
use crate::build::{loads, no_seed};
use crate::load::build::generator;
use crate::load::build::routing as routing_of;
use crate::names::{point, resolved};
use crate::network::Reach;
use crate::route::titles::at_most;
use crate::schema::{Arrivals, Congestion, LengthMix, Load, LoadRouting, LoadSelection, Signalling};
use slantpath_profiles::fault::before_the_end;
use slantpath_reader::trace::behind_the_end;

pub(crate) fn names(signalling: &Signalling<Written>, duration: Option<Duration>, faults: &mut Faults) {
    for (name, load) in signalling.load.iter() {
        point(signalling, &load.from, load.from.place(), faults);
        for to in &*load.to {
            point(signalling, to, load.to.place(), faults);
            if *to == *load.from {
                let message = format!("load `{name}` goes from `{to}` to itself");
                faults.report(load.to.place(), Fault::new(message).help("let it go to another point"));
            }
        }
        if load.to.is_empty() {
            let fault = Fault::new("the load has no destination").help("name a point in `to`");
            faults.report(load.to.place(), fault);
        }
        before_the_end(duration, &load.start, "the start of this load", faults);
        if load.give_up_after.is_zero() {
            let message =
                format!("load `{name}` gives every message up at once, so that all of them are late");
            let help = "let `give_up_after` be longer than any delay that still counts; \"10 s\" is usual";
            faults.report(load.give_up_after.place(), Fault::new(message).help(help));
        }
        routing(signalling, load, faults);
        arrivals(load, faults);
        of_trace(load, faults);
        priority(signalling, load, faults);
    }
}

fn routing(signalling: &Signalling<Written>, load: &Named<Load<Written>>, faults: &mut Faults) {
    let by_title = load.routing.is_by_title();
    let keys: [(&str, Option<Place>); 3] = [
        ("translator", load.translator.as_ref().map(Setting::place)),
        ("called", load.called.as_ref().map(Setting::place)),
        ("subsystem", load.subsystem.as_ref().map(Setting::place)),
    ];
    for (key, place) in keys {
        match place {
            None if by_title => {
                let message = format!("routing by global title needs `{key}`");
                faults.report(load.routing.place(), Fault::new(message).help(format!("write `{key} = …`")));
            }
            Some(place) if !by_title => {
                let message = format!("`{key}` has no meaning with `routing = \"{}\"`", *load.routing);
                faults.report(place, Fault::new(message).help("write `routing = \"global-title\"`"));
            }
            _ => {}
        }
    }
    match &load.title_share {
        None if *load.routing == LoadRouting::Shared => {
            let fault = Fault::new("a load that is shared needs `title_share`");
            let help = "write `title_share = \"30 %\"` if three of ten messages go by global title";
            faults.report(load.routing.place(), fault.help(help));
        }
        Some(share) if *load.routing != LoadRouting::Shared => {
            let message = format!("`title_share` has no meaning with `routing = \"{}\"`", *load.routing);
            faults.report(share.place(), Fault::new(message).help("write `routing = \"shared\"`"));
        }
        Some(share) if share.as_f64() <= 0.0 || share.as_f64() >= 1.0 => {
            let message =
                format!("a share of {} by global title leaves one of both ways without messages", **share);
            let help =
                "write `routing = \"point-code\"` or `routing = \"global-title\"`, or a share in between";
            faults.report(share.place(), Fault::new(message).help(help));
        }
        _ => {}
    }
    at_most(&load.plan, 15, "numbering plan", faults);
    at_most(&load.nature, 127, "nature of address", faults);
    if let Some(translator) = &load.translator {
        point(signalling, translator, translator.place(), faults);
    }
    for digits in load.called.iter().flat_map(|called| called.iter()) {
        if let (Err(error), Some(called)) = (Digits::parse(digits), &load.called) {
            let help = "digits are 0 to 9 and a to f";
            faults.report(called.place(), Fault::new(error.to_string()).help(help));
        }
    }
    if let Some(service) =
        load.service.filter(|service| load.routing.is_by_code() && !(4..=15).contains(&**service))
    {
        let message = format!("service indicator {} belongs to MTP3 or SCCP", *service);
        let help = "write 4 to 15, of which 5 is ISUP's";
        faults.report(service.place(), Fault::new(message).help(help));
    }
    let Some(subsystem) = load.subsystem.filter(|_| by_title) else { return };
    for to in load.to.iter().filter_map(|to| Some((to, signalling.points.find(to)?))) {
        if !to.1.subsystems.contains(&*subsystem) {
            let message = format!("`{}` has no subsystem {}", to.0, *subsystem);
            let help = format!("add it to `subsystems` in `[signalling.points.{}]`", to.0);
            faults.report(subsystem.place(), Fault::new(message).help(help));
        }
    }
}

/// The bits are spare where there is one level of congestion.
fn priority(signalling: &Signalling<Written>, load: &Load<Written>, faults: &mut Faults) {
    if *load.priority > 3 {
        let fault = Fault::new(format!("there is no priority {}", *load.priority));
        faults.report(load.priority.place(), fault.help("messages have priority 0, the least, to 3"));
    }
    let from = signalling.points.find(&load.from);
    if *load.priority > 0 && from.is_some_and(|from| *from.congestion == Congestion::International) {
        let message = format!("`{}` indicates congestion without priorities of messages", *load.from);
        let help = format!("write `congestion = \"national\"` in `[signalling.points.{}]`", *load.from);
        faults.report(load.priority.place(), Fault::new(message).help(help));
    }
}

fn arrivals(load: &Load<Written>, faults: &mut Faults) {
    let keys: [(&str, Option<Place>, Arrivals); 4] = [
        ("mean_on", load.mean_on.as_ref().map(Setting::place), Arrivals::OnOff),
        ("mean_off", load.mean_off.as_ref().map(Setting::place), Arrivals::OnOff),
        ("trace", load.trace.as_ref().map(Setting::place), Arrivals::Trace),
        ("trace_digest", load.trace_digest.as_ref().map(Setting::place), Arrivals::Trace),
    ];
    for (key, place, arrivals) in keys {
        match place {
            None if *load.arrivals == arrivals && key != "trace_digest" => {
                let message = format!("arrivals `{arrivals}` need `{key}`");
                faults.report(load.arrivals.place(), Fault::new(message).help(format!("write `{key} = …`")));
            }
            Some(place) if *load.arrivals != arrivals => {
                let message = format!("`{key}` has no meaning with `arrivals = \"{}\"`", *load.arrivals);
                faults.report(place, Fault::new(message).help(format!("write `arrivals = \"{arrivals}\"`")));
            }
            _ => {}
        }
    }
}

/// A trace cannot say anything of messages that come otherwise.
fn of_trace(load: &Load<Written>, faults: &mut Faults) {
    let keys = [
        ("lengths", matches!(*load.lengths, LengthMix::Trace), load.lengths.place()),
        ("selection", *load.selection == LoadSelection::Trace, load.selection.place()),
    ];
    for (key, _, place) in keys.into_iter().filter(|(_, says, _)| *says && *load.arrivals != Arrivals::Trace)
    {
        let message = format!("`{key} = \"trace\"` has no meaning with `arrivals = \"{}\"`", *load.arrivals);
        faults.report(place, Fault::new(message).help("write `arrivals = \"trace\"` and name a `trace`"));
    }
}

/// Ends loads in time, and reads traces.
pub(crate) fn complete(
    signalling: &mut Signalling<Written>,
    duration: Duration,
    files: &Files,
    faults: &mut Faults,
) {
    let services: Vec<u8> = signalling.load.iter().map(|(_, load)| service_for(signalling, load)).collect();
    for ((_, load), service) in signalling.load.iter_mut().zip(services) {
        let why = "of no user part, or of the application servers that take it";
        load.service.get_or_insert_with(|| Setting::derived(service, why, load.from.place()));
    }
    let wanted: Vec<trace::Wanted> =
        signalling.load.iter().map(|(_, load)| wanted(signalling, load)).collect();
    for ((_, load), wanted) in signalling.load.iter_mut().zip(wanted) {
        let latest = duration.saturating_sub(*load.give_up_after);
        let usual = if latest > *load.start { latest } else { duration };
        let why = "so that every message settles";
        load.stop.get_or_insert_with(|| Setting::derived(usual, why, load.from.place()));
        if let Some(stop) = load.stop.filter(|stop| **stop <= *load.start) {
            let message = format!("the load stops at {}, before it starts at {}", *stop, *load.start);
            faults.report(stop.place(), Fault::new(message).help("let `stop` be later than `start`"));
        }
        let Some(file) = &load.trace else {
            load.messages.resolve(Some(Vec::new()));
            continue;
        };
        let Some((messages, digest)) = trace::load(file, file.place(), wanted, files, faults) else {
            continue;
        };
        match &load.trace_digest {
            Some(given) if **given != digest => {
                let message = format!("trace `{}` has changed: its digest is {digest}", **file);
                let help = "remove `trace_digest`, or bring back the file that it was taken from";
                faults.report(given.place(), Fault::new(message).help(help));
            }
            Some(_) => {}
            None => load.trace_digest = Some(Setting::derived(digest, "of the file", file.place())),
        }
        let times = messages.iter().map(|message| message.at.saturating_add(*load.start));
        let stop = load.stop.map_or(duration, |stop| *stop).min(duration);
        behind_the_end(["messages", "sent"], times, stop, file.place(), faults);
        load.messages.resolve(Some(messages));
    }
}

/// The service indicator of a load that names none: 15, which is no user part's, since its stamps are no messages of
/// any; or one that the application servers of both ends take.
fn service_for(signalling: &Signalling<Written>, load: &Load<Written>) -> u8 {
    let concerns = |dpc: &String| *dpc == *load.from || load.to.contains(dpc);
    let servers = signalling.application_servers.iter().map(|(_, server)| server);
    let keys: Vec<&[u8]> = servers
        .filter(|server| concerns(&server.dpc) && !server.si.is_empty())
        .map(|server| &server.si[..])
        .collect();
    let is_taken = |service: &u8| keys.iter().all(|key| key.contains(service));
    let first = || keys.iter().copied().flatten().copied().find(|service| *service > SCCP);
    [NO_USER_PART]
        .into_iter()
        .chain(SCCP + 1..NO_USER_PART)
        .find(is_taken)
        .or_else(first)
        .unwrap_or(NO_USER_PART)
}

/// Service indicators: SCCP's, and one that is spare in networks of ITU-T and free to networks of ANSI.
const SCCP: u8 = 3;
const NO_USER_PART: u8 = 15;

/// Values that a load takes from its trace.
fn wanted(signalling: &Signalling<Written>, load: &Load<Written>) -> trace::Wanted {
    let says_lengths = matches!(*load.lengths, LengthMix::Trace);
    let format = signalling.points.find(&load.from).map(|from| from.format.policy());
    let greatest = if format == Some(PointCodeFormat::Ansi) { u8::MAX } else { 15 };
    trace::Wanted {
        lengths: routing_of(signalling, load)
            .ok()
            .and_then(|routing| routing.lengths())
            .filter(|_| says_lengths),
        selections: (*load.selection == LoadSelection::Trace).then_some(greatest),
    }
}

/// Called when points, links, routes and translations are right. `calls` reports where called titles lead.
pub(crate) fn check(signalling: &Signalling, reach: &Reach<'_>, faults: &mut Faults) {
    for (name, load) in signalling.load.iter() {
        let Some(config) = resolved(generator(signalling, load), faults) else { continue };
        if let Err(error) = Generator::new(config, no_seed(), name) {
            let (place, help) = cure(load, &error);
            faults.report(place, Fault::new(format!("load `{name}`: {error}")).help(help));
        }
        crate::server::check::takes(signalling, name, load, faults);
        for to in load.to.iter().filter(|_| load.routing.is_by_code()) {
            reach.must_lead(&load.from, to, load.to.place(), faults);
        }
        if let Some(translator) = load.translator.as_ref().filter(|_| load.routing.is_by_title()) {
            reach.must_lead(&load.from, translator, translator.place(), faults);
        }
    }
    let Some(mut loads) = resolved(loads(signalling), faults) else { return };
    if let Err(number) = number_links(&mut loads)
        && let Some((name, load)) = signalling.load.iter().nth(number)
    {
        let message = format!(
            "messages of `{name}` and of loads before it cannot be told apart where they arrive: together they have \
             more than 256 links, each load counted up to a multiple of 16"
        );
        let help = "give it another `service`, or with global titles another `subsystem`, or fewer `links`";
        faults.report(load.links.place(), Fault::new(message).help(help));
    }
}

fn step_place(load: &Named<Load>, step: usize) -> Place {
    load.steps.get(step).map_or(load.place(), |step| step.at.place())
}

/// The line that an error of a load is about, and its cure.
fn cure(load: &Named<Load>, error: &GeneratorError) -> (Place, &'static str) {
    match error {
        GeneratorError::Share(_) => {
            let place = load.title_share.as_ref().map_or(load.routing.place(), Setting::place);
            (place, "a share lies between both")
        }
        GeneratorError::FirstLink { .. } => (load.links.place(), "let there be fewer"),
        GeneratorError::Links(_) => (load.links.place(), "each link is a stream of its own"),
        GeneratorError::Erlang(_) => (load.erlang_per_link.place(), "0.2 is usual, and 1 fills a line"),
        GeneratorError::Steps => {
            (step_place(load, 0), "write `arrivals = \"poisson\"`, or leave `steps` out")
        }
        GeneratorError::StepOrder(at) => {
            (step_place(load, *at), "let steps follow one another, the first after `start`")
        }
        GeneratorError::StepErlang { step, .. } => {
            (step_place(load, *step), "0.2 is usual, and 0 sends nothing")
        }
        GeneratorError::LineRate => (load.line_rate.place(), "\"64 kbit/s\" is usual"),
        GeneratorError::Weights => (load.lengths.place(), "write lengths like [{ octets = 60, weight = 3 }]"),
        GeneratorError::Length { .. } => {
            (load.lengths.place(), "octets on the line count flag, check bits, label and addresses")
        }
        GeneratorError::NoDestination => {
            let called = load.called.as_ref().map(Setting::place);
            (called.unwrap_or_else(|| load.to.place()), "name at least one")
        }
        GeneratorError::NoActivity => {
            let mean_on = load.mean_on.as_ref().map(Setting::place);
            (mean_on.unwrap_or_else(|| load.arrivals.place()), "\"1 s\" would do")
        }
        GeneratorError::Trace(_) | GeneratorError::TraceLacks { .. } | GeneratorError::NoTrace(_) => {
            let trace = load.trace.as_ref().map(Setting::place);
            (trace.unwrap_or_else(|| load.arrivals.place()), "sort the file by time")
        }
    }
}
