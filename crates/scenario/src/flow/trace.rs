//! Trace files: lines of `at,size` in order of time.

use slantpath_base::{DataSize, Duration, Instant};
pub(crate) use slantpath_reader::trace::{behind_the_end, in_order, read};
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
