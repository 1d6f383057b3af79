//! Paths over the sky and antennas, held against the contacts of a run.

mod causes;
pub(crate) mod detour;
mod gaps;
mod idle;

use slantpath_reader::Faults;
use slantpath_scenario::schema::File;
use slantpath_scenario::{SkyPlan, Watch};

/// Holds flows and antennas against contacts. Fixed routes that never hold have said so themselves; what else has no
/// path is looked for where all of them do.
pub(crate) fn check(file: &File, plan: &SkyPlan, watch: Watch<'_>, faults: &mut Faults) {
    if faults.is_empty() {
        gaps::check(file, plan, watch.stop, faults);
    }
    causes::cures(file, plan, watch, faults);
    idle::check(file, plan, faults);
}
