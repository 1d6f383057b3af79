//! `count` of the requests of sessions: how many each makes.

use slantpath_applications::RequestCount;
use slantpath_reader::{Fault, Faults, Setting, section, tagged};

use crate::bounds::{MEAN_REQUESTS, REQUESTS};

tagged! {
    /// Number of requests that a session makes.
    pub enum Count {
        /// Always as many.
        Fixed = "fixed",
        /// After each request another one follows with the same chance.
        Geometric = "geometric",
    }
}

section! {
    /// Always as many.
    pub struct Fixed {
        /// Number of requests.
        count: Setting<u32>, at most REQUESTS;
    }
}

section! {
    /// A geometric distribution: after each request another one follows with chance 1 − 1 / mean.
    pub struct Geometric {
        /// Mean of the distribution, 1 or more.
        mean: Setting<f64>, at most MEAN_REQUESTS;
    }
}

impl Count {
    pub(super) fn check(&self, faults: &mut Faults) {
        let (place, is_none) = match self {
            Self::Fixed(fixed) => (fixed.count.place(), *fixed.count == 0),
            Self::Geometric(geometric) => (geometric.mean.place(), *geometric.mean < 1.0),
        };
        if is_none {
            let fault = Fault::new("a session that asks makes one request at least");
            faults.report(place, fault.help("let it make 1 or more"));
        }
    }

    /// Mean number of requests.
    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(fixed) => f64::from(*fixed.count),
            Self::Geometric(geometric) => *geometric.mean,
        }
    }

    pub(super) fn config(&self) -> RequestCount {
        match self {
            Self::Fixed(fixed) => RequestCount::Fixed { count: *fixed.count },
            Self::Geometric(geometric) => RequestCount::Geometric { mean: *geometric.mean },
        }
    }
}
