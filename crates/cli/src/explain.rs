//! `slantpath explain`: what a trace or a capture tells in words, and what another setting would have done.

mod captured;
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
            return captured::main(file, arguments, out);
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
    let selection = selection(&story, arguments)?;
    if arguments.json {
        writeln!(out, "{:#}", story.json(selection))?;
    } else {
        tell(&story, selection, out)?;
    }
    Ok(())
}

/// Part of a story that is asked for. A path or a message that it does not tell of is refused.
fn selection(story: &Story, arguments: &ExplainArguments) -> Result<StorySelection, Failure> {
    let place = arguments.trace.display();
    let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
    let known: BTreeSet<IpAddr> =
        story.associations.values().flat_map(|of| &of.paths).map(|path| path.address).collect();
    let path = match &arguments.path {
        None => None,
        Some(given) => match given.parse() {
            Ok(address) if known.contains(&address) => Some(address),
            parsed => {
                let what = match parsed {
                    Ok(_) => format!("it tells of no path to {given}"),
                    Err(_) => format!("--path: `{given}` is no address, and paths are called by theirs"),
                };
                let known: Vec<String> = known.iter().map(ToString::to_string).collect();
                return Err(misused(format!("{what}; paths: {}", known.join(", "))));
            }
        },
    };
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
