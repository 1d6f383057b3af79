//! Trace files of loads: lines of time, length and signalling link selection, of which the last two may be absent.

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Fault, Faults, Files, Place, fault_of};
use slantpath_ss7::load::TracedArrival;
use slantpath_ss7::mtp3::Sls;

use slantpath_reader::trace::{in_order, read};

/// Values that a load takes from its trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The shortest and the longest length, if the trace is to say lengths.
    pub(crate) lengths: Option<(usize, usize)>,
    /// The greatest signalling link selection, if the trace is to say them.
    pub(crate) selections: Option<u8>,
}

impl Wanted {
    /// A line that says it all.
    const fn example(self) -> &'static str {
        match (self.lengths, self.selections) {
            (_, Some(_)) => "30 ms,120 B,5",
            (Some(_), None) => "30 ms,120 B",
            (None, None) => "30 ms",
        }
    }
}

/// Reads a trace whose name stands at `place`. Returns its messages and its digest.
pub(crate) fn load(
    name: &str,
    place: Place,
    wanted: Wanted,
    files: &Files,
    faults: &mut Faults,
) -> Option<(Vec<TracedArrival>, String)> {
    read(name, wanted.example(), place, files, faults, |line, last: Option<&TracedArrival>| {
        let arrival = parse(line, wanted)?;
        in_order(arrival.at, last.map(|last| last.at))?;
        Ok(arrival)
    })
}

fn parse(line: &str, wanted: Wanted) -> Result<TracedArrival, Fault> {
    let help = format!("a line is like `{}`", wanted.example());
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if fields.len() > 3 {
        let message = format!("`{line}` has {} fields", fields.len());
        return Err(Fault::new(message).help("a line has a time, a length and a signalling link selection"));
    }
    let at: Duration = fields[0].parse().map_err(|error| fault_of(&error, &help))?;
    let octets = match fields.get(1) {
        None => None,
        Some(text) => {
            let size: DataSize = text.parse().map_err(|error| fault_of(&error, &help))?;
            Some(usize::try_from(size.as_bytes()).unwrap_or(usize::MAX))
        }
    };
    if let Some((least, most)) = wanted.lengths {
        let octets =
            octets.ok_or_else(|| Fault::new(format!("`{line}` has no length")).help(help.clone()))?;
        if !(least..=most).contains(&octets) {
            let message = format!("a message of {octets} octets cannot be sent");
            let help = format!("with this routing it can be {least} to {most} on the line");
            return Err(Fault::new(message).help(help));
        }
    }
    let sls = match fields.get(2) {
        None => None,
        Some(text) => {
            let wrong =
                |_| Fault::new(format!("`{text}` is no signalling link selection")).help(help.clone());
            Some(text.parse::<u8>().map_err(wrong)?)
        }
    };
    if let Some(greatest) = wanted.selections {
        let lacks = || Fault::new(format!("`{line}` has no signalling link selection")).help(help.clone());
        let sls = sls.ok_or_else(lacks)?;
        if sls > greatest {
            let message = format!("there is no signalling link selection {sls}");
            return Err(Fault::new(message).help(format!("it can be 0 to {greatest} in this network")));
        }
    }
    Ok(TracedArrival { at, octets, sls: sls.map(Sls) })
}
