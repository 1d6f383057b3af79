//! Names that stand for tables.

use super::{Lookup, Tables};
use crate::diagnostic::{Fault, Faults, Place, suggest};

/// The table that a name refers to; reports a name that refers to nothing.
pub fn resolve<'a, S>(
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
