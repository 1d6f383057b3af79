//! Order in which the network of a scenario is built and judged.

use slantpath_net::Routes;
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::Checked;
use slantpath_scenario::network::{self, Attached};

use crate::signalling::{servers, timing};
use crate::{buffers, path};

/// Called when all else is right.
pub(crate) fn check(checked: &Checked, faults: &mut Faults) {
    let built = match network::build(checked, checked.sky_plan(), Attached::Simulated) {
        Ok(built) => built,
        Err(error) => {
            let help = "this is beyond what the checks before it see; please report it";
            faults.report(checked.scenario.name.place(), Fault::new(error.to_string()).help(help));
            return;
        }
    };
    let mut routes = Routes::new(&built.graph);
    path::check(checked, &built, &mut routes, faults);
    buffers::check(checked, &built, &mut routes, faults);
    timing::check(checked, &built, &mut routes, faults);
    servers::check(checked, &built, &mut routes, faults);
}
