//! Files of `delay_trace`: read, and told of where nothing of them happens.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};
use slantpath_net::{Delay, DelayCurve};
use slantpath_reader::{Fault, Faults, Files, Place, Tables, fault_of};

use crate::bounds::{DELAY, RUN};
use crate::flow::trace::{check_digest, read, wholly_behind_the_end};
use crate::written::Link;

/// Reads the trace of every direction that has one.
pub(crate) fn check(
    links: &mut Tables<Link>,
    duration: Option<Duration>,
    files: &Files,
    faults: &mut Faults,
) {
    let mut known: BTreeMap<String, Option<(DelayCurve, String)>> = BTreeMap::new();
    let mut begin = Vec::new();
    for (_, link) in links.iter_mut() {
        for parameters in [&mut link.forward.0, &mut link.reverse.0] {
            let constant = parameters.delay.map(|delay| Delay::Constant(*delay));
            let Some(trace) = &mut parameters.delay_trace else {
                parameters.propagation.resolve(constant);
                continue;
            };
            let trace = &mut trace.0;
            let name = (*trace.file).clone();
            let place = trace.file.place();
            let read = known.entry(name.clone()).or_insert_with(|| {
                let (first, curve, digest) = load(&name, place, files, faults)?;
                begin.push((first, place));
                Some((curve, digest))
            });
            if let Some((curve, digest)) = read {
                check_digest(&name, place, &mut trace.digest, digest.clone(), faults);
                parameters.propagation.resolve(Some(Delay::Curve(curve.clone())));
            }
        }
    }
    for (first, place) in begin {
        wholly_behind_the_end(first, duration, place, faults);
    }
}

/// Reads a trace; returns when it begins, its curve and its digest.
fn load(
    name: &str,
    place: Place,
    files: &Files,
    faults: &mut Faults,
) -> Option<(Instant, DelayCurve, String)> {
    let (points, digest) = read(name, "30 s,27.3 ms", place, files, faults, parse_line)?;
    let first = points.first().map_or(Instant::START, |(at, _)| *at);
    Some((first, DelayCurve::new(points)?, digest))
}

fn parse_line(line: &str, last: Option<&(Instant, Duration)>) -> Result<(Instant, Duration), Fault> {
    let help = "a line is a time and the delay from then on, like `30 s,27.3 ms`";
    let (at, delay) =
        line.split_once(',').ok_or_else(|| Fault::new(format!("`{line}` is no delay")).help(help))?;
    let at: Duration = at.trim().parse().map_err(|error| fault_of(&error, help))?;
    let delay: Duration = delay.trim().parse().map_err(|error| fault_of(&error, help))?;
    for (value, most, what) in [(at, RUN.most, "time"), (delay, DELAY.most, "delay")] {
        if value > most {
            let message = format!("a {what} of {value} is more than {most}");
            return Err(Fault::new(message).help(help));
        }
    }
    let at = Instant::START + at;
    match last.filter(|(earlier, _)| at <= *earlier) {
        None => Ok((at, delay)),
        Some((earlier, _)) => {
            let message = format!("{at} is no later than the line before it, {earlier}");
            Err(Fault::new(message).help("sort the lines by time, and give one delay for each"))
        }
    }
}
