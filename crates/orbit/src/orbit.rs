//! Motion of a satellite: a circular orbit, a slot over the equator, or an element set through SGP4.

use slantpath_base::{Angle, Duration};

use crate::earth::{EQUATORIAL_RADIUS, GRAVITATION, J2, inertial_to_fixed, turn_to_fixed};
use crate::elements::{ElementSet, ElementSource};
use crate::sgp4::{PropagationError, PropagationFault, Sgp4};
use crate::trig::sincos;
use crate::utc::Utc;
use crate::vector::{State, Vec3};

/// A satellite's motion, of any of the kinds that this crate knows.
#[derive(Clone, Debug)]
pub enum Orbit {
    /// A circle, turning with the Earth's oblateness or without.
    Circular(Circular),
    /// Mean elements through SGP4.
    ElementSet(Box<ElementSet>, Sgp4),
    /// Standing still over the equator.
    Slot(Slot),
}

/// Forces that a circular orbit follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Perturbation {
    /// The Earth's oblateness turns the node and quickens the satellite, secularly.
    #[default]
    J2,
    /// A point mass: the orbit stays in its plane for ever, as in ns-2.
    None,
}

/// A circular orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circular {
    epoch: Utc,
    radius: f64,
    /// Right ascension of the node at the epoch and its rate, rad and rad/s.
    node: f64,
    node_rate: f64,
    /// Argument of latitude at the epoch and its rate, rad and rad/s.
    latitude_argument: f64,
    latitude_argument_rate: f64,
    inclination_sine: f64,
    inclination_cosine: f64,
}

impl Circular {
    /// A circle of `altitude_m` over the equatorial radius, with its node and its place on the circle (the
    /// argument of latitude, counted from the node) at an epoch.
    ///
    /// Secular rates for a circle (Vallado, Fundamentals of Astrodynamics, section 9.6): the node moves by
    /// −3/2 J₂ n (R/a)² cos i and the argument of latitude by n (1 + 3/2 J₂ (R/a)² (3 − 4 sin² i)).
    pub fn new(
        epoch: Utc,
        altitude_m: f64,
        inclination: Angle,
        node: Angle,
        latitude_argument: Angle,
        perturbation: Perturbation,
    ) -> Self {
        let radius = EQUATORIAL_RADIUS + altitude_m;
        let n = mean_motion(radius);
        let (inclination_sine, inclination_cosine) = libm::sincos(inclination.as_radians());
        let oblateness = match perturbation {
            Perturbation::J2 => 1.5 * J2 * (EQUATORIAL_RADIUS / radius) * (EQUATORIAL_RADIUS / radius),
            Perturbation::None => 0.0,
        };
        Self {
            epoch,
            radius,
            node: node.as_radians(),
            node_rate: -oblateness * n * inclination_cosine,
            latitude_argument: latitude_argument.as_radians(),
            latitude_argument_rate: n
                * (1.0 + oblateness * (3.0 - 4.0 * inclination_sine * inclination_sine)),
            inclination_sine,
            inclination_cosine,
        }
    }

    /// The state in the inertial frame.
    #[inline]
    fn state(&self, date: Utc) -> State {
        let t = date.seconds_since(self.epoch);
        let (sin_u, cos_u) = sincos(self.latitude_argument + self.latitude_argument_rate * t);
        let (sin_n, cos_n) = sincos(self.node + self.node_rate * t);
        let (sin_i, cos_i) = (self.inclination_sine, self.inclination_cosine);
        let position = Vec3::new(
            cos_n * cos_u - sin_n * cos_i * sin_u,
            sin_n * cos_u + cos_n * cos_i * sin_u,
            sin_i * sin_u,
        ) * self.radius;
        let along = Vec3::new(
            -cos_n * sin_u - sin_n * cos_i * cos_u,
            -sin_n * sin_u + cos_n * cos_i * cos_u,
            sin_i * cos_u,
        ) * (self.radius * self.latitude_argument_rate);
        let carried = Vec3::new(-position.y, position.x, 0.0) * self.node_rate;
        State { position, velocity: along + carried }
    }
}

/// A geostationary slot: a longitude, and an altitude that keeps it there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// East longitude of the slot.
    pub longitude: Angle,
    /// Distance from the Earth's centre, metres.
    pub radius_m: f64,
}

impl Slot {
    /// The slot at a longitude.
    pub fn new(longitude: Angle) -> Self {
        Self { longitude, radius_m: geostationary_radius() }
    }
}

/// Radius of the circle whose period is one turn of the Earth against the stars, about 42,164.17 km.
pub fn geostationary_radius() -> f64 {
    libm::cbrt(GRAVITATION / (crate::earth::ROTATION * crate::earth::ROTATION))
}

/// The greatest height over the equatorial radius that a satellite may come to, metres. Routes hold links of up to
/// 320,000 km and paths of 2.1 s: two satellites at this height across the Earth, with a site below each, still fit.
pub const ALTITUDE_MAX: f64 = 150e6;

/// Below this height, metres, drag may bring an object down within weeks.
const NEAR_THE_GROUND: f64 = 350e3;
/// Such an object is looked at this often.
const CLOSE_LOOK: Duration = Duration::from_secs(60);

/// Mean motion of a circle around a point mass, rad/s (Kepler's third law).
pub fn mean_motion(radius_m: f64) -> f64 {
    (GRAVITATION / (radius_m * radius_m * radius_m)).sqrt()
}

/// The shape of a motion over time, from which safe step lengths follow: nothing moves faster or turns
/// harder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionBounds {
    /// The least distance from the Earth's centre, metres.
    pub radius_min: f64,
    /// The greatest distance from the Earth's centre, metres.
    pub radius_max: f64,
    /// The greatest speed in the fixed frame, m/s.
    pub speed_max: f64,
    /// The greatest acceleration in the fixed frame, m/s².
    pub acceleration_max: f64,
    /// The greatest rate of the distance from the Earth's centre, m/s.
    pub radial_speed_max: f64,
    /// The greatest angular rate about the Earth's centre in the inertial frame, rad/s.
    pub angular_rate_max: f64,
}

impl Orbit {
    /// An orbit from an element set.
    pub fn from_elements(set: ElementSet) -> Result<Self, PropagationError> {
        let propagator = Sgp4::new(&set)?;
        Ok(Self::ElementSet(Box::new(set), propagator))
    }

    /// Checks if the orbit can be followed from a date for a span. One that comes near the ground is followed closely,
    /// any other is looked at where the span begins and ends: what has decayed does not come back.
    pub fn check_over(&self, from: Utc, span: Duration) -> Result<(), PropagationFault> {
        let heights = [self.fixed(from)?, self.fixed(from.after(span))?].map(|state| state.position.norm());
        if heights.iter().all(|&height| height > EQUATORIAL_RADIUS + NEAR_THE_GROUND) {
            return Ok(());
        }
        let steps = span.as_nanos() / CLOSE_LOOK.as_nanos();
        (0..=steps).try_for_each(|step| self.fixed(from.after(CLOSE_LOOK * step)).map(|_| ()))
    }

    /// The state in the fixed frame at a date.
    pub fn fixed(&self, date: Utc) -> Result<State, PropagationFault> {
        match self {
            Self::Slot(slot) => Ok(slot.state()),
            Self::Circular(_) | Self::ElementSet(..) => Ok(inertial_to_fixed(self.inertial(date)?, date)),
        }
    }

    /// As [`Self::fixed`] where the caller has the sine and cosine of the sidereal time at `date`.
    #[inline]
    pub(crate) fn fixed_at(&self, date: Utc, sidereal: (f64, f64)) -> Result<State, PropagationFault> {
        let inertial = match self {
            Self::Slot(slot) => return Ok(slot.state()),
            Self::Circular(circle) => circle.state(date),
            Self::ElementSet(_, propagator) => propagator.at(date)?,
        };
        Ok(turn_to_fixed(inertial, sidereal.0, sidereal.1))
    }

    /// The state in the inertial frame (TEME) at a date.
    pub fn inertial(&self, date: Utc) -> Result<State, PropagationFault> {
        match self {
            Self::Circular(circle) => Ok(circle.state(date)),
            Self::ElementSet(_, propagator) => propagator.at(date),
            Self::Slot(slot) => {
                let fixed = slot.state().position;
                let position = crate::earth::fixed_to_inertial(fixed, date);
                let rate = crate::earth::SIDEREAL_RATE;
                Ok(State { position, velocity: Vec3::new(-rate * position.y, rate * position.x, 0.0) })
            }
        }
    }

    /// Bounds that the motion never exceeds, with a margin of some percent for the perturbations.
    pub fn bounds(&self) -> MotionBounds {
        let turning = crate::earth::ROTATION;
        let (radius, eccentricity) = match self {
            Self::Slot(slot) => {
                let none = 0.0;
                return MotionBounds {
                    radius_min: slot.radius_m,
                    radius_max: slot.radius_m,
                    speed_max: none,
                    acceleration_max: none,
                    radial_speed_max: none,
                    angular_rate_max: turning,
                };
            }
            Self::Circular(circle) => (circle.radius, 0.0),
            Self::ElementSet(set, _) => {
                let n = set.mean_motion_rev_per_day * core::f64::consts::TAU / crate::utc::SECONDS_PER_DAY;
                // Short-period and lunisolar effects move the eccentricity; drag over a month lowers the
                // axis.
                (libm::cbrt(GRAVITATION / (n * n)), (set.eccentricity + 0.003).min(0.99))
            }
        };
        let (low, high) = (radius * (1.0 - eccentricity) * 0.99, radius * (1.0 + eccentricity) * 1.01);
        let speed = (GRAVITATION * (2.0 / low - 1.0 / (radius * 1.01))).sqrt();
        MotionBounds {
            radius_min: low,
            radius_max: high,
            speed_max: speed + turning * high,
            acceleration_max: GRAVITATION / (low * low) * 1.01
                + 2.0 * turning * speed
                + turning * turning * high,
            radial_speed_max: (eccentricity + 0.003) * speed,
            angular_rate_max: speed / low,
        }
    }

    /// The set and file that an element-set orbit came from, for errors.
    pub fn source(&self) -> Option<(&str, &ElementSource)> {
        match self {
            Self::ElementSet(set, _) => Some((&set.name, &set.source)),
            Self::Circular(_) | Self::Slot(_) => None,
        }
    }
}

impl Slot {
    fn state(&self) -> State {
        let (sine, cosine) = libm::sincos(self.longitude.as_radians());
        let position = Vec3::new(self.radius_m * cosine, self.radius_m * sine, 0.0);
        State { position, velocity: Vec3::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Duration;

    fn circle(altitude: f64, inclination: f64, node: f64, u: f64, perturbation: Perturbation) -> Orbit {
        let [inclination, node, u] = [inclination, node, u].map(Angle::from_degrees);
        Orbit::Circular(Circular::new(Utc::J2000, altitude, inclination, node, u, perturbation))
    }

    #[test]
    fn geostationary_radius_is_the_published_one() {
        assert!((geostationary_radius() - 42_164_169.6).abs() < 5.0, "{}", geostationary_radius());
    }

    #[test]
    fn a_sun_synchronous_node_turns_once_a_year() {
        let Orbit::Circular(circle) = circle(800e3, 98.603, 0.0, 0.0, Perturbation::J2) else {
            unreachable!()
        };
        let degrees_per_day = circle.node_rate.to_degrees() * 86_400.0;
        assert!((degrees_per_day - 0.985_6).abs() < 2e-3, "{degrees_per_day}");
    }

    proptest! {
        #[test]
        fn velocity_is_the_derivative_and_bounds_hold(
            altitude in 3e5..4e7_f64, incl in 0.0..180.0_f64, node in 0.0..360.0_f64, u in 0.0..360.0_f64,
            at in 0..1_000_000_u64,
        ) {
            let orbit = circle(altitude, incl, node, u, Perturbation::J2);
            let state = |ms: u64| orbit.fixed(Utc::J2000.after(Duration::from_millis(ms))).unwrap();
            let (before, now, after) = (state(at * 1_000), state(at * 1_000 + 50), state(at * 1_000 + 100));
            let slope = (after.position - before.position) * 10.0;
            prop_assert!((slope - now.velocity).norm() < 0.02, "{slope:?} {now:?}");
            let bounds = orbit.bounds();
            let acceleration = ((after.velocity - before.velocity) * 10.0).norm();
            prop_assert!(acceleration < bounds.acceleration_max && now.velocity.norm() < bounds.speed_max);
            let radius = now.position.norm();
            prop_assert!(radius > bounds.radius_min && radius < bounds.radius_max);
        }
    }
}
