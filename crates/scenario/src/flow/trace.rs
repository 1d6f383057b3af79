//! Trace files: lines of `at,size` in order of time.

use slantpath_base::{DataSize, Duration, Instant};
use slantpath_reader::{Awaited, Fault, Faults, Files, Place, Setting, fault_of};

use crate::flow::size::message_size;

/// Reads a trace whose name stands at `place`. Returns its messages and its digest.
pub(crate) fn load(
    name: &str,
    place: Place,
    files: &Files,
    faults: &mut Faults,
) -> Option<(Vec<(Duration, DataSize)>, String)> {
    read(name, "30 ms,1024 B", place, files, faults, parse_line)
}

/// Reads a trace line by line: `parse` takes a line and the message of the one before it. `example` is a line.
pub(crate) fn read<T>(
    name: &str,
    example: &str,
    place: Place,
    files: &Files,
    faults: &mut Faults,
    parse: impl Fn(&str, Option<&T>) -> Result<T, Fault>,
) -> Option<(Vec<T>, String)> {
    let text = match files(name) {
        Ok(text) => text,
        Err(error) => {
            let help = "the name is relative to the directory of the scenario; a packet capture goes through \
                        `slantpath import` first";
            faults.report(place, Fault::new(format!("trace `{name}` cannot be read: {error}")).help(help));
            return None;
        }
    };
    let source = faults.add_source(name, &text);
    let mut messages = Vec::new();
    let mut start = 0;
    let mut whole = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let place = Place::new(source, start..start + content.len());
        start += line.len();
        if content.trim().is_empty() || content.trim_start().starts_with('#') {
            continue;
        }
        match parse(content, messages.last()) {
            Ok(message) => messages.push(message),
            Err(fault) => {
                faults.report(place, fault);
                whole = false;
            }
        }
    }
    if whole && messages.is_empty() {
        let fault = Fault::new(format!("trace `{name}` has no message"))
            .help(format!("write lines like `{example}`"));
        faults.report(place, fault);
        whole = false;
    }
    whole.then(|| (messages, blake3::hash(text.as_bytes()).to_hex().to_string()))
}

/// Notes the digest of a trace, or reports that it is not the one that is given.
pub(crate) fn check_digest(
    name: &str,
    place: Place,
    wanted: &mut Awaited<Setting<String>>,
    digest: String,
    faults: &mut Faults,
) {
    match &**wanted {
        Some(given) if **given != digest => {
            let message = format!("trace `{name}` has changed: its digest is {digest}");
            let help = "remove `digest`, or bring back the file that it was taken from";
            faults.report(given.place(), Fault::new(message).help(help));
        }
        Some(_) => {}
        None => *wanted = Setting::derived(digest, "of the file", place).into(),
    }
}

/// Warns of a trace whose messages, or what else it has, are due when whoever sends them has ended.
pub(crate) fn behind_the_end(
    [what, done]: [&str; 2],
    times: impl Iterator<Item = Duration>,
    end: Duration,
    place: Place,
    faults: &mut Faults,
) {
    let (mut all, mut behind) = (0_u64, 0_u64);
    for at in times {
        all += 1;
        behind += u64::from(at >= end);
    }
    if behind > 0 {
        let message = format!(
            "{behind} of {all} {what} of this trace are due at {end}, the end, or later: they are not {done}"
        );
        faults.warn(place, Fault::new(message).help("end later, or shorten the trace"));
    }
}

/// Warns of a trace of which nothing happens within a run of this length, since its first line is of the end or later.
pub(crate) fn wholly_behind_the_end(
    first: Instant,
    duration: Option<Duration>,
    place: Place,
    faults: &mut Faults,
) {
    let Some(duration) = duration else { return };
    let at = first.since_start();
    if at >= duration && !at.is_zero() {
        let message =
            format!("this trace begins at {at}, and the run ends at {duration}: nothing of it happens");
        faults
            .warn(place, Fault::new(message).help("count its times from the start of the run, or end later"));
    }
}

fn parse_line(line: &str, last: Option<&(Duration, DataSize)>) -> Result<(Duration, DataSize), Fault> {
    let help = "a line is the time and the size of a message, like `30 ms,1024 B`";
    let (at, size) =
        line.split_once(',').ok_or_else(|| Fault::new(format!("`{line}` is no message")).help(help))?;
    let at: Duration = at.trim().parse().map_err(|error| fault_of(&error, help))?;
    let size: DataSize = size.trim().parse().map_err(|error| fault_of(&error, help))?;
    in_order(at, last.map(|(earlier, _)| *earlier))?;
    message_size(size)?;
    Ok((at, size))
}

/// Refuses a time before that of the line before it.
pub(crate) fn in_order(at: Duration, last: Option<Duration>) -> Result<(), Fault> {
    match last.filter(|earlier| at < *earlier) {
        None => Ok(()),
        Some(earlier) => {
            let message = format!("{at} is earlier than the line before it, {earlier}");
            Err(Fault::new(message).help("sort the lines by time"))
        }
    }
}
