//! Time at which one satellite becomes better than another over one site.

use crate::contact::ephemeris::Ephemeris;
use crate::contact::root::Sample;
use crate::contact::visibility::{Viewpoint, sight};
use crate::ground::Criterion;

/// Two satellites over one site.
pub(super) struct Duel<'c> {
    pub(super) viewpoint: &'c Viewpoint<'c>,
    pub(super) ephemeris: &'c Ephemeris,
    pub(super) criterion: Criterion,
    pub(super) current: usize,
    pub(super) other: usize,
}

impl Duel<'_> {
    /// Positive once the other is better than the current one.
    pub(super) fn advantage(&self, t: f64) -> Sample {
        let stance = self.viewpoint.stance(t);
        let a = sight(&stance, &self.ephemeris.state(self.current, t));
        let b = sight(&stance, &self.ephemeris.state(self.other, t));
        match self.criterion {
            // Elevations compare as upward over range: multiplied out, so that nothing is divided.
            Criterion::Highest => Sample {
                value: b.upward * a.range - a.upward * b.range,
                slope: b.upward_rate * a.range + b.upward * a.range_rate
                    - a.upward_rate * b.range
                    - a.upward * b.range_rate,
            },
            Criterion::LeastLoaded | Criterion::LongestRemaining | Criterion::Nearest => Sample {
                value: a.range * a.range - b.range * b.range,
                slope: 2.0 * (a.range * a.range_rate - b.range * b.range_rate),
            },
        }
    }

    pub(super) fn curvature(&self) -> f64 {
        let of = |satellite: usize| self.viewpoint.relative_bounds(self.ephemeris.bounds(satellite));
        let (a, b) = (of(self.current), of(self.other));
        let bound = match self.criterion {
            Criterion::Highest => {
                let (speed_a, speed_b) =
                    (a.speed + a.turning * a.range_max, b.speed + b.turning * b.range_max);
                a.upward_curvature() * b.range_max
                    + b.upward_curvature() * a.range_max
                    + a.range_curvature() * b.range_max
                    + b.range_curvature() * a.range_max
                    + 4.0 * speed_a * speed_b
            }
            Criterion::LeastLoaded | Criterion::LongestRemaining | Criterion::Nearest => {
                2.0 * (a.speed * a.speed
                    + a.range_max * a.acceleration
                    + b.speed * b.speed
                    + b.range_max * b.acceleration)
            }
        };
        bound.max(1e-9)
    }
}
