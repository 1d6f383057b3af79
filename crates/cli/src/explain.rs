//! `slantpath explain`: what a trace or a capture tells in words, and what another setting would have done.

mod captured;
mod origin;
mod what_if;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::IpAddr;

use slantpath_capture::is_capture;
use slantpath_trace::{Story, StorySelection, TraceOrigin, TraceReader, tell};

use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use slantpath_runner::OwnKinds;

pub(crate) fn main(
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let place = arguments.trace.display();
    let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
    let mut file = File::open(&arguments.trace).map_err(|error| misused(error.to_string()))?;
    let mut first = Vec::new();
    (&mut file).take(4).read_to_end(&mut first).map_err(|error| misused(error.to_string()))?;
    let magic: Option<[u8; 4]> = first.as_slice().try_into().ok();
    let file = first.as_slice().chain(file);
    if magic.is_some_and(is_capture) {
        if arguments.what_if.is_empty() {
            return captured::main(file, arguments, own, out);
        }
        return what_if::captured::main(file, arguments, own, out);
    }
    if arguments.rto_min.is_some() {
        return Err(misused(
            "`--rto-min` is for captures: a trace knows which timers have expired".to_owned(),
        ));
    }
    if arguments.point_codes.is_some() {
        return Err(misused("`--point-codes` is for captures: a trace has no point codes".to_owned()));
    }
    if arguments.direction.is_some() {
        return Err(misused("`--direction` is for captures: a trace is of one sender".to_owned()));
    }
    let reader = TraceReader::open(BufReader::new(file)).map_err(|error| misused(error.to_string()))?;
    let header = reader.header().clone();
    if !arguments.what_if.is_empty()
        && let TraceOrigin::Live { command } = &header.origin
    {
        return what_if::live::main(reader, command, arguments, own, out);
    }
    let mut story = Story::new(header, arguments.idle).asking(arguments.message);
    for record in reader {
        story.follow(&record.map_err(|error| misused(error.to_string()))?);
    }
    story.finish();
    if !arguments.what_if.is_empty() {
        return what_if::simulated::main(&story, arguments, own, out);
    }
    let selection = selection(&story, arguments, own)?;
    if arguments.json {
        writeln!(out, "{:#}", story.json(selection))?;
    } else {
        tell(&story, selection, out)?;
    }
    Ok(())
}

/// Part of a story that is asked for. A path or a message that it does not tell of is refused.
fn selection(story: &Story, arguments: &ExplainArguments, own: &OwnKinds) -> Result<StorySelection, Failure> {
    let place = arguments.trace.display();
    let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
    let path = arguments.path.as_ref().map(|given| path_called(given, story, arguments, own)).transpose()?;
    if let Some(message) = arguments.message {
        let latest = story.associations.values().filter_map(|of| of.latest_message).max();
        if latest.is_none_or(|latest| message > latest) {
            return Err(misused(match latest {
                Some(latest) => format!("it tells of no message {message}; the last is {latest}"),
                None => format!("it tells of no message {message}, nor of any other by its number"),
            }));
        }
    }
    Ok(StorySelection { message: arguments.message, path, all: arguments.all })
}

/// The path to an address, or over a link of the trace's scenario at whose far end it is.
fn path_called(
    given: &str,
    story: &Story,
    arguments: &ExplainArguments,
    own: &OwnKinds,
) -> Result<IpAddr, Failure> {
    let place = arguments.trace.display();
    let known: BTreeSet<IpAddr> =
        story.associations.values().flat_map(|of| &of.paths).map(|path| path.address).collect();
    let told = |what: String, paths: Vec<String>| {
        Failure::Misused(format!("{place}: {what}; paths: {}", paths.join(", ")))
    };
    let addresses = || known.iter().map(ToString::to_string).collect();
    if let Ok(address) = given.parse() {
        let refused = || told(format!("it tells of no path to {given}"), addresses());
        return known.get(&address).copied().ok_or_else(refused);
    }
    if !matches!(story.header.origin, TraceOrigin::Simulated { .. }) {
        let what = format!("--path: `{given}` is no address, and outside of scenarios links have no names");
        return Err(told(what, addresses()));
    }
    let (scenario, _) = origin::scenario(&story.header, arguments, own)?;
    let links = || known.iter().map(|address| (*address, origin::link_of(&scenario, *address)));
    links().find(|(_, link)| *link == Some(given)).map(|(address, _)| address).ok_or_else(|| {
        let called = |(address, link): (IpAddr, Option<&str>)| match link {
            Some(link) => format!("{address} ({link})"),
            None => address.to_string(),
        };
        told(
            format!("--path: `{given}` is neither an address nor the last link of a path"),
            links().map(called).collect(),
        )
    })
}
