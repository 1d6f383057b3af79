//! Rank of a way over time, and the time at which another becomes better.

use crate::contact::ephemeris::Ephemeris;
use crate::contact::root::{RESOLUTION, Sample};
use crate::contact::visibility::{Viewpoint, sight};
use crate::ground::Criterion;

/// Quantity that a criterion makes great: the least of some smooth functions of time. By distance it is one, the whole
/// length of the way below nothing; by height there is one for each link, the sine of its elevation.
pub(super) struct Rank<'a> {
    pub(super) ephemeris: &'a Ephemeris,
    pub(super) criterion: Criterion,
    pub(super) sights: Vec<(&'a Viewpoint<'a>, usize)>,
    pub(super) cables_m: f64,
}

/// A crossing is located to this, seconds.
const PRECISION: f64 = 1e-7;

impl Rank<'_> {
    /// The greater the better.
    pub(super) fn value(&self, t: f64) -> f64 {
        self.parts(t).iter().map(|part| part.value).fold(f64::INFINITY, f64::min)
    }

    fn parts(&self, t: f64) -> Vec<Sample> {
        let sights = self
            .sights
            .iter()
            .map(|&(viewpoint, satellite)| sight(&viewpoint.stance(t), &self.ephemeris.state(satellite, t)));
        match self.criterion {
            Criterion::Highest => sights
                .map(|sight| Sample {
                    value: sight.upward / sight.range,
                    slope: (sight.upward_rate - sight.upward * sight.range_rate / sight.range) / sight.range,
                })
                .collect(),
            Criterion::LeastLoaded | Criterion::LongestRemaining | Criterion::Nearest => {
                let start = Sample { value: -self.cables_m, slope: 0.0 };
                vec![sights.fold(start, |sum, sight| Sample {
                    value: sum.value - sight.range,
                    slope: sum.slope - sight.range_rate,
                })]
            }
        }
    }

    /// Bounds the second derivative of every part.
    fn curvature(&self) -> f64 {
        let of = |&(viewpoint, satellite): &(&Viewpoint<'_>, usize)| {
            let bounds = viewpoint.relative_bounds(self.ephemeris.bounds(satellite));
            match self.criterion {
                Criterion::Highest => {
                    // The direction turns no faster than speed over distance; the vertical turns as well.
                    let turn = bounds.speed / bounds.range_min;
                    bounds.acceleration / bounds.range_min
                        + 3.0 * turn * turn
                        + 2.0 * turn * bounds.turning
                        + bounds.turning * bounds.turning
                }
                Criterion::LeastLoaded | Criterion::LongestRemaining | Criterion::Nearest => {
                    bounds.range_curvature()
                }
            }
        };
        let each = self.sights.iter().map(of);
        match self.criterion {
            Criterion::Highest => each.fold(0.0, f64::max),
            Criterion::LeastLoaded | Criterion::LongestRemaining | Criterion::Nearest => each.sum(),
        }
    }
}

/// The first time at which one way is better than another that is better now.
pub(super) fn first_better(other: &Rank<'_>, current: &Rank<'_>, (from, until): (f64, f64)) -> Option<f64> {
    let curvature = (other.curvature() + current.curvature()).max(1e-12);
    let mut here = from;
    while here < until {
        let Some(safe) = safe_for(other, current, curvature, here) else { return Some(here) };
        let next = (here + safe.max(RESOLUTION)).min(until);
        if safe_for(other, current, curvature, next).is_none() {
            let (mut left, mut right) = (here, next);
            while right - left > PRECISION {
                let middle = 0.5 * (left + right);
                let is_better = safe_for(other, current, curvature, middle).is_none();
                if is_better { right = middle } else { left = middle }
            }
            return Some(right);
        }
        here = next;
    }
    None
}

/// For how long one way surely stays worse than another; `None` if it is not worse. It is worse as long as one part
/// of it lies below all parts of the other.
fn safe_for(other: &Rank<'_>, current: &Rank<'_>, curvature: f64, t: f64) -> Option<f64> {
    let (others, currents) = (other.parts(t), current.parts(t));
    let below = |part: &Sample| {
        let gap = |held: &Sample| {
            let (value, slope) = (held.value - part.value, held.slope - part.slope);
            let stays = (slope + libm::sqrt(slope * slope + 2.0 * curvature * value.max(0.0))) / curvature;
            if value > 0.0 { Some(stays) } else { None }
        };
        currents.iter().map(gap).try_fold(f64::INFINITY, |least, stays| stays.map(|stays| least.min(stays)))
    };
    others.iter().filter_map(below).max_by(f64::total_cmp)
}
