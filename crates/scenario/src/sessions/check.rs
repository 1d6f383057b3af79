//! Sessions: ends that can talk to each other, arrivals and sizes that can be drawn.

use slantpath_applications::SessionLoad;
use slantpath_base::{DataSize, Duration};
use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_profiles::fault::positive;
use slantpath_reader::{Fault, Faults, Files, Named, OneOf, Setting, Tables, fault_of};

use super::ports::Ports;
use super::schema::{Arrivals, Sizes};
use super::shape::has_mean;
use crate::flow::send_buffer;
use crate::flow::size::message_size;
use crate::flow::trace::{behind_the_end, check_digest, in_order, read};
use crate::scene::Scene;
use crate::schema::{Node, NodeKind};
use crate::written::Sessions;
use slantpath_reader::resolve;

/// Each has ports of its own.
const MOST_TABLES: usize = 100;

pub(crate) fn check(tables: &mut Tables<Sessions>, scene: Scene<'_>, files: &Files, faults: &mut Faults) {
    let first_links = scene.wiring.first_links();
    for (name, sessions) in tables.iter() {
        ends(scene.wiring.nodes, name, sessions, faults);
        if let Some(profile) = &*sessions.profile {
            scene.has_profile(*sessions.transport, profile, faults);
        }
        if sessions.transport.is_of_datagrams() {
            let message =
                format!("a session opens an association or a connection, and not {}", *sessions.transport);
            let help = "write `transport = \"sctp\"` or \"tcp\", or a flow of datagrams";
            faults.report(sessions.transport.place(), Fault::new(message).help(help));
        }
        times(sessions, scene, faults);
        load(sessions, faults);
        if let Some(admission) = &sessions.admission {
            admission.0.check(sessions.place(), faults);
        }
        if let Some(requests) = &sessions.requests {
            requests.0.check(faults);
            asked(sessions, faults);
        }
        if let Err(fault) = message_size(*sessions.message_size) {
            faults.report(sessions.message_size.place(), fault);
        }
        let (transport, profile) = (*sessions.transport, sessions.profile.as_ref());
        send_buffer::holds(scene, transport, profile, *sessions.message_size, faults);
        if let Some(primary) = &*sessions.primary {
            scene.wiring.must_end_at(primary, &sessions.to, faults);
        }
    }
    if let Some((_, beyond)) = tables.iter().nth(MOST_TABLES) {
        let fault = Fault::new(format!("more than {MOST_TABLES} tables of sessions have no ports"));
        faults.report(beyond.place(), fault.help("let one table stand for sessions that are alike"));
    }
    let duration = scene.duration.unwrap_or(Duration::MAX);
    let count = tables.iter().len();
    for (number, (_, sessions)) in tables.iter_mut().enumerate() {
        sessions.ports.resolve(Ports::of(number, count));
        sessions.hosts.resolve(scene.hosts(&sessions.from, &sessions.to));
        sessions.settings.resolve(scene.settings(*sessions.transport, sessions.profile.as_ref()));
        let place = sessions.transport.place();
        let first = first_links.get(sessions.to.as_str()).cloned();
        let first = first.map(|first| Setting::derived(first, "first link of the receiver", place));
        sessions.primary = sessions.primary.take().or(first).into();
        sessions.profile.get_or_insert_with(|| Setting::default(DEFAULT_PROFILE.to_owned(), place));
        if let Arrivals::Trace(trace) = &mut sessions.arrivals.0 {
            let read = read(&trace.file, "1.5 s,2 MB", trace.file.place(), files, faults, parse_line);
            if let Some((listed, digest)) = read {
                check_digest(&trace.file, trace.file.place(), &mut trace.digest, digest, faults);
                let end = sessions.end.map_or(duration, |end| *end).min(duration);
                let times = listed.iter().map(|(at, _)| at.saturating_add(*sessions.start));
                behind_the_end(["sessions", "begun"], times, end, trace.file.place(), faults);
                sessions.load.resolve(Some(SessionLoad::Trace(listed.into())));
            }
            continue;
        }
        sessions.load.resolve(drawn(sessions));
    }
}

/// Sessions that are drawn, as far as it is said from what.
fn drawn(sessions: &Sessions) -> Option<SessionLoad> {
    let arrivals = match &sessions.arrivals.0 {
        Arrivals::Constant(constant) => {
            slantpath_applications::SessionArrivals::Constant { interval: *constant.interval }
        }
        Arrivals::Poisson(poisson) => {
            slantpath_applications::SessionArrivals::Poisson { mean_interval: *poisson.mean_interval }
        }
        Arrivals::Trace(_) => return None,
    };
    let sizes = match &sessions.sizes.as_ref()?.0 {
        Sizes::Exponential(exponential) => {
            slantpath_applications::SessionSizes::Exponential { mean: *exponential.mean }
        }
        Sizes::Fixed(fixed) => slantpath_applications::SessionSizes::Fixed { size: *fixed.size },
        Sizes::Pareto(pareto) => {
            slantpath_applications::SessionSizes::Pareto { mean: *pareto.mean, shape: *pareto.shape }
        }
    };
    Some(SessionLoad::Drawn { arrivals, sizes })
}

fn parse_line(line: &str, last: Option<&(Duration, DataSize)>) -> Result<(Duration, DataSize), Fault> {
    let help = "a line is when a session begins and what it carries, like `1.5 s,2 MB`";
    let (at, size) =
        line.split_once(',').ok_or_else(|| Fault::new(format!("`{line}` is no session")).help(help))?;
    let at: Duration = at.trim().parse().map_err(|error| fault_of(&error, help))?;
    let size: DataSize = size.trim().parse().map_err(|error| fault_of(&error, help))?;
    in_order(at, last.map(|(earlier, _)| *earlier))?;
    carries(size)?;
    Ok((at, size))
}

fn ends(nodes: &Tables<Node>, name: &str, sessions: &Sessions, faults: &mut Faults) {
    for (end, verb) in [(&sessions.from, "sends"), (&sessions.to, "listens")] {
        let node = resolve(nodes, end, "node", end.place(), faults);
        if node.is_some_and(|node| *node.kind == NodeKind::Router) {
            let fault = Fault::new(format!("`{}` is a router: nothing on it {verb}", **end));
            faults.report(end.place(), fault.help("let sessions end at a host"));
        }
    }
    if *sessions.from == *sessions.to {
        let fault = Fault::new(format!("sessions `{name}` go from `{}` to itself", *sessions.from));
        faults.report(sessions.to.place(), fault.help("let them go to another host"));
    }
}

fn times(sessions: &Sessions, scene: Scene<'_>, faults: &mut Faults) {
    scene.before_the_end(&sessions.start, "the start of these sessions", faults);
    if let Some(end) = sessions.end.filter(|end| **end <= *sessions.start) {
        let message = format!("no session begins before {}, where they start at {}", *end, *sessions.start);
        faults.report(end.place(), Fault::new(message).help("let `end` be later than `start`"));
    }
}

fn load(sessions: &Named<Sessions>, faults: &mut Faults) {
    match &sessions.arrivals.0 {
        Arrivals::Constant(constant) => positive(&constant.interval, "an interval", faults),
        Arrivals::Poisson(poisson) => positive(&poisson.mean_interval, "an interval", faults),
        Arrivals::Trace(trace) => {
            if sessions.sizes.is_some() {
                let fault = Fault::new("a trace says what each session carries");
                faults.report(trace.file.place(), fault.help("remove `sizes`"));
            }
            return;
        }
    }
    match &sessions.sizes {
        None => {
            let fault = Fault::new("nothing says what these sessions carry");
            let help = "write `sizes = { kind = \"pareto\", mean = \"1 MB\", shape = 1.27 }`, or a size that is fixed";
            faults.report(sessions.place(), fault.help(help));
        }
        Some(OneOf(Sizes::Exponential(exponential))) => size(&exponential.mean, faults),
        Some(OneOf(Sizes::Fixed(fixed))) => size(&fixed.size, faults),
        Some(OneOf(Sizes::Pareto(pareto))) => {
            size(&pareto.mean, faults);
            has_mean(&pareto.shape, "1.27 is what files on the web have been found to have", faults);
        }
    }
}

/// Reports what has no meaning where openers ask.
fn asked(sessions: &Sessions, faults: &mut Faults) {
    if let Arrivals::Trace(trace) = &sessions.arrivals.0 {
        let fault = Fault::new("a trace says what each session carries, and not what is asked");
        let help = "remove `requests`, or let arrivals be drawn";
        faults.report(trace.file.place(), fault.help(help));
    }
    let least = sessions.admission.as_ref().and_then(|admission| admission.0.min_throughput.as_ref());
    if let Some(least) = least {
        let fault = Fault::new("what an opener that asks has outstanding is its requests: no throughput");
        faults.report(least.place(), fault.help("admit by `max_sessions` or `max_round_trip`"));
    }
}

fn size(size: &Setting<DataSize>, faults: &mut Faults) {
    if let Err(fault) = carries(**size) {
        faults.report(size.place(), fault);
    }
}

fn carries(size: DataSize) -> Result<(), Fault> {
    if size.as_bytes() > 0 {
        return Ok(());
    }
    Err(Fault::new("a session that carries nothing is none").help("let it carry a byte at least"))
}
