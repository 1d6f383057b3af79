//! Faults that checks of several tables report.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Lookup, Place, Setting, Tables, suggest};

use crate::schema::File;

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

/// Reports a time that lies at or after the end of the run.
pub(crate) fn before_the_end(file: &File, at: &Setting<Duration>, what: &str, faults: &mut Faults) {
    let Some(head) = file.scenario.whole() else { return };
    if **at >= *head.duration && !head.duration.is_zero() {
        let message = format!("{what} at {} lies after the end of the run at {}", **at, *head.duration);
        let help = "let it happen earlier, or make `scenario.duration` longer";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}
