//! Every orbit as an element set of one date: Hypatia starts its clock at the epoch of the first set, and refuses
//! sets of different epochs.

use slantpath_base::Angle;

use crate::earth::{EQUATORIAL_RADIUS, GRAVITATION, J2};
use crate::elements::{ElementSet, ElementSource};
use crate::orbit::{Orbit, mean_motion};
use crate::sgp4::{PropagationFault, Sgp4};
use crate::utc::{SECONDS_PER_DAY, Utc};
use crate::vector::{State, Vec3};

/// Corrections of mean elements: each leaves some thousandth of the one before it.
const CORRECTIONS: usize = 20;

/// The elements of a date. Those of a circle or slot are made, those of another epoch are moved.
pub(super) fn at(orbit: &Orbit, number: usize, date: Utc) -> Result<ElementSet, PropagationFault> {
    match orbit {
        Orbit::ElementSet(set, _) if set.epoch == date => Ok((**set).clone()),
        Orbit::ElementSet(set, propagator) => moved(set, propagator, date),
        Orbit::Circular(_) | Orbit::Slot(_) => circle(orbit, number, date),
    }
}

/// A circle's elements: it begins where the circle does, and keeps its rate along the way. SGP4 adds the turning
/// of the perigee and of the node to the mean motion (Kozai's), so that both are taken off here (Vallado,
/// *Fundamentals of Astrodynamics and Applications*, section 9.6: the rates by J2 at no eccentricity).
fn circle(orbit: &Orbit, number: usize, date: Utc) -> Result<ElementSet, PropagationFault> {
    let state = orbit.inertial(date)?;
    let normal = state.position.cross(state.velocity);
    let node = libm::atan2(normal.x, -normal.y);
    let inclination = libm::atan2(libm::hypot(normal.x, normal.y), normal.z);
    let along_node = Vec3::new(libm::cos(node), libm::sin(node), 0.0);
    let across = normal.cross(along_node) * (1.0 / normal.norm());
    let argument = libm::atan2(state.position.dot(across), state.position.dot(along_node));
    let radius = state.position.norm();
    let along = normal.norm() / (radius * radius);
    let oblateness = J2 * (EQUATORIAL_RADIUS / radius) * (EQUATORIAL_RADIUS / radius) * mean_motion(radius);
    let cosine = libm::cos(inclination);
    let perigee_rate = 0.75 * oblateness * (5.0 * cosine * cosine - 1.0);
    let node_rate = -1.5 * oblateness * cosine;
    let rate = along - perigee_rate - node_rate * cosine;
    Ok(ElementSet {
        name: number.to_string(),
        catalogue_number: u32::try_from(number + 1).unwrap_or(u32::MAX),
        designator: "00000A".to_owned(),
        epoch: date,
        inclination: Angle::from_radians(inclination),
        right_ascension: Angle::from_radians(turned(node)),
        eccentricity: 1e-7,
        argument_of_perigee: Angle::ZERO,
        mean_anomaly: Angle::from_radians(turned(argument)),
        mean_motion_rev_per_day: rate * SECONDS_PER_DAY / core::f64::consts::TAU,
        bstar: 0.0,
        mean_motion_dot: 0.0,
        source: ElementSource::default(),
    })
}

/// The set that SGP4 places at `date` where it places the given one then: mean elements are corrected by what
/// the osculating ones lack.
fn moved(set: &ElementSet, propagator: &Sgp4, date: Utc) -> Result<ElementSet, PropagationFault> {
    let wanted = Equinoctial::of_state(&propagator.at(date)?);
    let mut mean = wanted;
    for _ in 0..CORRECTIONS {
        let here = Sgp4::new(&mean.set(set, date)).map_err(|error| error.fault)?.at(date)?;
        mean = mean.corrected(&wanted, &Equinoctial::of_state(&here));
    }
    Ok(mean.set(set, date))
}

/// Elements that are smooth for circles and at the equator (Broucke and Cefola, *On the equinoctial orbit
/// elements*, Celestial Mechanics 5, 1972).
#[derive(Clone, Copy, Debug)]
struct Equinoctial {
    /// Semi-major axis, metres.
    axis: f64,
    /// Eccentricity times sine and cosine of the longitude of perigee.
    eccentricity: (f64, f64),
    /// Tangent of half the inclination, times sine and cosine of the node.
    tilt: (f64, f64),
    /// Mean longitude, radians.
    longitude: f64,
}

impl Equinoctial {
    fn of_state(state: &State) -> Self {
        let (r, v) = (state.position, state.velocity);
        let radius = r.norm();
        let normal = r.cross(v);
        let w = normal * (1.0 / normal.norm());
        let tilt = (w.x / (1.0 + w.z), -w.y / (1.0 + w.z));
        let (p, q) = tilt;
        let scale = 1.0 / (1.0 + p * p + q * q);
        let f = Vec3::new(1.0 - p * p + q * q, 2.0 * p * q, -2.0 * p) * scale;
        let g = Vec3::new(2.0 * p * q, 1.0 + p * p - q * q, 2.0 * q) * scale;
        let axis = 1.0 / (2.0 / radius - v.dot(v) / GRAVITATION);
        let towards_perigee = v.cross(normal) * (1.0 / GRAVITATION) - r * (1.0 / radius);
        let (h, k) = (towards_perigee.dot(g), towards_perigee.dot(f));
        let root = libm::sqrt((1.0 - h * h - k * k).max(0.0));
        let beta = 1.0 / (1.0 + root);
        let (x, y) = (r.dot(f), r.dot(g));
        let cosine = k + ((1.0 - k * k * beta) * x - h * k * beta * y) / (axis * root);
        let sine = h + ((1.0 - h * h * beta) * y - h * k * beta * x) / (axis * root);
        let longitude = libm::atan2(sine, cosine) + h * cosine - k * sine;
        Self { axis, eccentricity: (h, k), tilt, longitude }
    }

    fn corrected(self, wanted: &Self, found: &Self) -> Self {
        let pair = |mean: (f64, f64), a: (f64, f64), b: (f64, f64)| (mean.0 + a.0 - b.0, mean.1 + a.1 - b.1);
        let lacking = turned(wanted.longitude - found.longitude + core::f64::consts::PI);
        Self {
            axis: self.axis + wanted.axis - found.axis,
            eccentricity: pair(self.eccentricity, wanted.eccentricity, found.eccentricity),
            tilt: pair(self.tilt, wanted.tilt, found.tilt),
            longitude: self.longitude + lacking - core::f64::consts::PI,
        }
    }

    /// These elements under the name and drag of a set.
    fn set(&self, of: &ElementSet, epoch: Utc) -> ElementSet {
        let node = libm::atan2(self.tilt.0, self.tilt.1);
        let perigee = libm::atan2(self.eccentricity.0, self.eccentricity.1);
        let radians = |angle: f64| Angle::from_radians(turned(angle));
        ElementSet {
            epoch,
            inclination: Angle::from_radians(2.0 * libm::atan(libm::hypot(self.tilt.0, self.tilt.1))),
            right_ascension: radians(node),
            eccentricity: libm::hypot(self.eccentricity.0, self.eccentricity.1),
            argument_of_perigee: radians(perigee - node),
            mean_anomaly: radians(self.longitude - perigee),
            mean_motion_rev_per_day: mean_motion(self.axis) * SECONDS_PER_DAY / core::f64::consts::TAU,
            ..of.clone()
        }
    }
}

/// An angle within a turn.
fn turned(angle: f64) -> f64 {
    let turn = core::f64::consts::TAU;
    libm::fmod(libm::fmod(angle, turn) + turn, turn)
}
