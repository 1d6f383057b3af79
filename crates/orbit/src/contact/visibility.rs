//! Passes: when a site sees a satellite above its minimum elevation and its horizon mask.

use slantpath_base::Angle;

use super::ephemeris::Ephemeris;
use super::root::{Sample, positive_intervals};
use super::stretch::{ContactCause, Stretch, of_condition};
use crate::earth::EQUATORIAL_RADIUS;
use crate::orbit::MotionBounds;
use crate::site::{Horizon, SitePosition, Stance};
use crate::vector::State;
use slantpath_base::Instant;

/// One satellite in sight of one site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The satellite's node.
    pub satellite: u32,
    pub(crate) stretch: Stretch,
}

impl Pass {
    /// Seconds after the start of the span at which it begins.
    pub fn start_seconds(&self) -> f64 {
        self.stretch.start
    }

    /// Seconds after the start of the span at which it ends.
    pub fn end_seconds(&self) -> f64 {
        self.stretch.end
    }

    /// Why it begins and ends.
    pub fn causes(&self) -> (ContactCause, ContactCause) {
        (self.stretch.opens, self.stretch.closes)
    }
}

/// A site as the passes see it: its place, and its standing where that never changes.
pub(crate) struct Viewpoint<'s> {
    place: &'s SitePosition,
    still: Option<Stance>,
    corners: Vec<f64>,
    speed: f64,
}

/// No site of use stands, sails or flies higher than this, metres; it bounds the least distance to a
/// satellite.
const SITE_HEIGHT_MAX: f64 = 50e3;
/// Between looks for the highest point of a pass, seconds: below the time in which a low satellite crosses the
/// zenith.
const CULMINATION_STEP: f64 = 60.0;
/// The highest point of a pass is found to this, seconds.
const CULMINATION_RESOLUTION: f64 = 1e-3;
/// The least radius of curvature of the ellipsoid, metres: bounds how fast a moving site's vertical turns.
const CURVATURE_RADIUS_MIN: f64 = 6.33e6;

impl<'s> Viewpoint<'s> {
    pub(crate) fn new(place: &'s SitePosition) -> Self {
        let still = match place {
            SitePosition::Fixed(_) => Some(place.at(Instant::START)),
            SitePosition::Track(_) => None,
        };
        let corners = place.corners().iter().map(|at| at.since_start().as_secs_f64()).collect();
        Self { place, still, corners, speed: place.speed_max() }
    }

    /// Position and vertical, seconds after the start.
    #[inline]
    pub(crate) fn stance(&self, t: f64) -> Stance {
        self.still
            .unwrap_or_else(|| self.place.at(Instant::START + slantpath_base::Duration::from_secs_f64(t)))
    }

    /// Speed and acceleration bounds of a satellite relative to this site, and its least and greatest
    /// distance.
    pub(crate) fn relative_bounds(&self, bounds: &MotionBounds) -> RelativeBounds {
        let turning = self.speed / CURVATURE_RADIUS_MIN;
        RelativeBounds {
            speed: bounds.speed_max + self.speed,
            acceleration: bounds.acceleration_max + self.speed * turning * 1.05,
            range_min: (bounds.radius_min - EQUATORIAL_RADIUS - SITE_HEIGHT_MAX).max(50e3),
            range_max: bounds.radius_max + EQUATORIAL_RADIUS,
            turning,
        }
    }

    /// Splits the span at the corners of a track, where the bounds of the march do not hold.
    fn legs(&self, span: f64) -> Vec<(f64, f64)> {
        let inner = self.corners.iter().copied().filter(|&at| at > 0.0 && at < span);
        let edges: Vec<f64> = core::iter::once(0.0).chain(inner).chain([span]).collect();
        edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

/// Bounds of the relative motion of a satellite and a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeBounds {
    pub(crate) speed: f64,
    pub(crate) acceleration: f64,
    pub(crate) range_min: f64,
    pub(crate) range_max: f64,
    pub(crate) turning: f64,
}

impl RelativeBounds {
    /// Bound of the second derivative of the height over the horizontal plane.
    pub(crate) fn upward_curvature(&self) -> f64 {
        self.acceleration + 2.0 * self.turning * self.speed + self.turning * self.turning * self.range_max
    }

    /// Bound of the second derivative of the distance.
    pub(crate) fn range_curvature(&self) -> f64 {
        self.acceleration + self.speed * self.speed / self.range_min
    }
}

/// Height over the horizontal plane and distance, each with its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    pub(crate) upward: f64,
    pub(crate) upward_rate: f64,
    pub(crate) range: f64,
    pub(crate) range_rate: f64,
}

#[inline]
pub(crate) fn sight(stance: &Stance, satellite: &State) -> Sight {
    let line = satellite.position - stance.position;
    let motion = satellite.velocity - stance.velocity;
    let range = line.norm();
    Sight {
        upward: line.dot(stance.up),
        upward_rate: motion.dot(stance.up) + line.dot(stance.up_rate),
        range,
        range_rate: line.dot(motion) / range,
    }
}

/// The stretches in which a satellite is above the minimum elevation and the mask.
pub(crate) fn stretches(
    viewpoint: &Viewpoint<'_>,
    horizon: &Horizon,
    min_elevation: Angle,
    ephemeris: &Ephemeris,
    satellite: usize,
) -> Vec<Stretch> {
    let bounds = viewpoint.relative_bounds(ephemeris.bounds(satellite));
    let (mask_low, mask_high) = horizon.range();
    let lowest = min_elevation.as_radians().max(mask_low);
    let sine = libm::sin(lowest);
    let curvature = (bounds.upward_curvature() + libm::fabs(sine) * bounds.range_curvature()).max(1e-9);
    let above = |t: f64| {
        let sight = sight(&viewpoint.stance(t), &ephemeris.state(satellite, t));
        Sample {
            value: sight.upward - sine * sight.range,
            slope: sight.upward_rate - sine * sight.range_rate,
        }
    };
    let mut intervals: Vec<(f64, f64)> = Vec::new();
    for leg in viewpoint.legs(ephemeris.span()) {
        append_joined(&mut intervals, positive_intervals(above, curvature, leg));
    }
    if !horizon.is_open() && mask_high > lowest {
        let mask = MaskMarch { viewpoint, horizon, ephemeris, satellite, mask_high, bounds };
        intervals = intervals.into_iter().flat_map(|interval| mask.visible(interval)).collect();
    }
    of_condition(intervals, (ContactCause::Rises, ContactCause::Sets), ephemeris.span())
}

/// Time of a pass at which the satellite is highest, seconds after the start, and its elevation then: at an end, or
/// where its height stops growing.
pub(crate) fn culmination(viewpoint: &Viewpoint<'_>, ephemeris: &Ephemeris, pass: &Pass) -> (f64, Angle) {
    let satellite = pass.satellite as usize;
    let (start, end) = (pass.stretch.start, pass.stretch.end);
    let at = |t: f64| sight(&viewpoint.stance(t), &ephemeris.state(satellite, t));
    // The sine of the elevation, and the sign of its rate.
    let sine = |t: f64| {
        let sight = at(t);
        sight.upward / sight.range
    };
    let grows = |t: f64| {
        let sight = at(t);
        sight.upward_rate * sight.range > sight.upward * sight.range_rate
    };
    let steps = libm::ceil((end - start) / CULMINATION_STEP).max(2.0);
    let step = (end - start) / steps;
    let mut best = (start, sine(start));
    let mut count = 1.0;
    while count <= steps {
        let t = start + count * step;
        let here = sine(t);
        if here > best.1 {
            best = (t, here);
        }
        count += 1.0;
    }
    let (mut left, mut right) = ((best.0 - step).max(start), (best.0 + step).min(end));
    if grows(left) && !grows(right) {
        while right - left > CULMINATION_RESOLUTION {
            let middle = 0.5 * (left + right);
            if grows(middle) { left = middle } else { right = middle }
        }
        best = (left, sine(left));
    }
    (best.0, Angle::from_radians(libm::asin(best.1.clamp(-1.0, 1.0))))
}

/// Appends intervals of a later leg; what reaches the corner on both sides is one interval.
fn append_joined(intervals: &mut Vec<(f64, f64)>, more: Vec<(f64, f64)>) {
    for (start, end) in more {
        match intervals.last_mut() {
            Some(last) if last.1 >= start => last.1 = end,
            _ => intervals.push((start, end)),
        }
    }
}

/// The march along a horizon mask, which has corners: steps follow from how fast a direction can turn.
struct MaskMarch<'a> {
    viewpoint: &'a Viewpoint<'a>,
    horizon: &'a Horizon,
    ephemeris: &'a Ephemeris,
    satellite: usize,
    mask_high: f64,
    bounds: RelativeBounds,
}

/// A satellite behind a mask's edge for less than this, seconds, may be overlooked; the edge itself is found
/// to 1e-5 s.
const MASK_RESOLUTION: f64 = 2e-3;

impl MaskMarch<'_> {
    /// Height above the mask, radians, and the least time for which its sign lasts.
    fn clearance(&self, t: f64) -> (f64, f64) {
        let target = self.ephemeris.position(self.satellite, t);
        let look = self.viewpoint.stance(t).look(target);
        let clearance = look.elevation - self.horizon.at(look.azimuth);
        // A direction turns no faster than speed over distance; an azimuth faster by the cosine of the
        // elevation.
        let turning = self.bounds.speed / self.bounds.range_min + self.bounds.turning;
        let safe = if look.elevation > self.mask_high {
            (look.elevation - self.mask_high) / turning
        } else {
            let slope = self.horizon.slope_max() / libm::cos(self.mask_high).max(0.02);
            libm::fabs(clearance) / (turning * (1.0 + slope))
        };
        (clearance, safe)
    }

    fn visible(&self, (from, to): (f64, f64)) -> Vec<(f64, f64)> {
        let mut found = Vec::new();
        let mut here = from;
        let (mut value, mut safe) = self.clearance(here);
        let mut began = from;
        while here < to {
            let next = (here + safe.max(MASK_RESOLUTION)).min(to);
            let (beyond, beyond_safe) = self.clearance(next);
            if (value >= 0.0) != (beyond >= 0.0) {
                let edge = self.edge((here, next), value >= 0.0);
                if value >= 0.0 {
                    found.push((began, edge));
                } else {
                    began = edge;
                }
            }
            (here, value, safe) = (next, beyond, beyond_safe);
        }
        if value >= 0.0 && to > began {
            found.push((began, to));
        }
        found
    }

    fn edge(&self, (mut left, mut right): (f64, f64), positive: bool) -> f64 {
        while right - left > 1e-5 {
            let middle = 0.5 * (left + right);
            if (self.clearance(middle).0 >= 0.0) == positive { left = middle } else { right = middle }
        }
        right
    }
}
