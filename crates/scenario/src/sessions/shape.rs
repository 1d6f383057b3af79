//! Shapes of Pareto distributions.

use slantpath_reader::{Fault, Faults, Setting};

/// Reports the shape of a Pareto distribution that has no mean.
pub(super) fn has_mean(shape: &Setting<f64>, found: &str, faults: &mut Faults) {
    if **shape <= 1.0 {
        let fault = Fault::new(format!("a Pareto distribution of shape {} has no mean", **shape));
        faults.report(shape.place(), fault.help(format!("let `shape` be more than 1: {found}")));
    }
}
