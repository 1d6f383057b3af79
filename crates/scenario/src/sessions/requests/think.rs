//! `think` of the requests of sessions: how long the next one waits.

use slantpath_applications::ThinkTime;
use slantpath_base::Duration;
use slantpath_profiles::fault::positive;
use slantpath_reader::{Faults, Setting, section, tagged};

use super::super::shape::has_mean;
use crate::bounds::{RUN, SHAPE};

tagged! {
    /// From the last byte of an answer to the next request.
    pub enum Think {
        /// An exponential distribution.
        Exponential = "exponential",
        /// Always as long.
        Fixed = "fixed",
        /// A Pareto distribution: most are short, and a few are long.
        Pareto = "pareto",
    }
}

section! {
    /// An exponential distribution.
    pub struct Exponential {
        /// Mean of the distribution.
        mean: Setting<Duration>, at most RUN;
    }
}

section! {
    /// Always as long.
    pub struct Fixed {
        /// Time to think; `0 s` for none.
        time: Setting<Duration>, at most RUN;
    }
}

section! {
    /// A Pareto distribution: the chance of more than x is (m / x)^shape, from m = mean (shape − 1) / shape on.
    pub struct Pareto {
        /// Mean of the distribution.
        mean: Setting<Duration>, at most RUN;
        /// Shape of the distribution, more than 1, without which there is no mean. Up to 2 there is no variance.
        shape: Setting<f64>, at most SHAPE;
    }
}

impl Think {
    pub(super) fn check(&self, faults: &mut Faults) {
        match self {
            Self::Exponential(exponential) => positive(&exponential.mean, "a mean", faults),
            Self::Fixed(_) => {}
            Self::Pareto(pareto) => {
                positive(&pareto.mean, "a mean", faults);
                has_mean(&pareto.shape, "1.5 is what times between pages have been found to have", faults);
            }
        }
    }

    pub(super) fn config(&self) -> ThinkTime {
        match self {
            Self::Exponential(exponential) => ThinkTime::Exponential { mean: *exponential.mean },
            Self::Fixed(fixed) => ThinkTime::Fixed { time: *fixed.time },
            Self::Pareto(pareto) => ThinkTime::Pareto { mean: *pareto.mean, shape: *pareto.shape },
        }
    }
}
