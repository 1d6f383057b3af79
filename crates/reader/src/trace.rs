//! Trace files: lines in order of time.

use slantpath_base::Duration;

use crate::{Fault, Faults, Files, Place};

/// Reads a trace line by line: `parse` takes a line and the message of the one before it. `example` is a line.
pub fn read<T>(
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

/// Warns of a trace whose messages, or what else it has, are due when whoever sends them has ended.
pub fn behind_the_end(
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

/// Refuses a time before that of the line before it.
pub fn in_order(at: Duration, last: Option<Duration>) -> Result<(), Fault> {
    match last.filter(|earlier| at < *earlier) {
        None => Ok(()),
        Some(earlier) => {
            let message = format!("{at} is earlier than the line before it, {earlier}");
            Err(Fault::new(message).help("sort the lines by time"))
        }
    }
}
