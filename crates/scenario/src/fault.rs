//! Faults that checks of several tables report.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Lookup, Place, Setting, Tables, suggest};

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

/// Reports a time that lies at or after the end of a run of this length, if that is known.
pub(crate) fn before_the_end(
    duration: Option<Duration>,
    at: &Setting<Duration>,
    what: &str,
    faults: &mut Faults,
) {
    let Some(duration) = duration.filter(|duration| !duration.is_zero()) else { return };
    if **at >= duration {
        let message = format!("{what} at {} lies after the end of the run at {duration}", **at);
        let help = "let it happen earlier, or make `scenario.duration` longer";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}
