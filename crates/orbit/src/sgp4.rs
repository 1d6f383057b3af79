//! SGP4: from an element set to a state, with the constants (WGS-72) and the sidereal time that the sets are
//! made with.
//!
//! Near-Earth orbits of small eccentricity, which is every communication constellation, go through
//! `near_earth`, written for throughput; all others through the `sgp4` crate. Both agree with each other
//! and with the verification set of AIAA 2006-6753 (`tests/sgp4_verification.rs`).

mod near_earth;

use near_earth::NearEarth;

use crate::elements::{ElementSet, ElementSource};
use crate::utc::Utc;
use crate::vector::{State, Vec3};

/// Radius of the Earth in SGP4's constants, metres (WGS-72).
pub(crate) const WGS72_RADIUS: f64 = 6_378_135.0;

/// A propagator made ready from one element set.
#[derive(Clone, Debug)]
pub struct Sgp4 {
    epoch: Utc,
    theory: Theory,
}

#[derive(Clone, Debug)]
enum Theory {
    NearEarth(Box<NearEarth>),
    Full(Box<::sgp4::Constants>),
}

/// An object that SGP4 cannot place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {object}: {fault}; take a newer element set, or leave the object out")]
pub struct PropagationError {
    /// Name of the file that the set came from.
    pub file: String,
    /// Line of the set.
    pub line: usize,
    /// The object's name.
    pub object: String,
    /// Fault that SGP4 found.
    pub fault: PropagationFault,
}

/// State of an orbit that SGP4 found impossible.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PropagationFault {
    /// The orbit has come down: its radius is below the Earth's.
    #[error("the object has decayed {minutes:.1} min from its epoch")]
    Decayed {
        /// Minutes from the epoch.
        minutes: f64,
    },
    /// Drag or the Moon and Sun have driven the eccentricity out of 0 to 1.
    #[error(
        "the eccentricity becomes {eccentricity:.4} at {minutes:.1} min from its epoch, as when drag has brought the \
         object down"
    )]
    Eccentricity {
        /// Value of the eccentricity.
        eccentricity: f64,
        /// Minutes from the epoch.
        minutes: f64,
    },
    /// The mean elements are no orbit at their own epoch.
    #[error("its mean elements are no orbit")]
    Elements,
    /// The orbit has no extent left.
    #[error("the semi-latus rectum is negative at {minutes:.1} min from its epoch")]
    SemiLatusRectum {
        /// Minutes from the epoch.
        minutes: f64,
    },
}

impl PropagationFault {
    /// The error that names the object of a set.
    pub fn of(self, object: &str, source: &ElementSource) -> PropagationError {
        PropagationError {
            file: source.file.clone(),
            line: source.line,
            object: object.to_owned(),
            fault: self,
        }
    }
}

impl Sgp4 {
    /// Prepares an element set.
    pub fn new(set: &ElementSet) -> Result<Self, PropagationError> {
        Self::prepare(set).map_err(|fault| fault.of(&set.name, &set.source))
    }

    fn prepare(set: &ElementSet) -> Result<Self, PropagationFault> {
        let mean_motion = set.mean_motion_rev_per_day * core::f64::consts::PI / 720.0;
        let orbit = ::sgp4::Orbit::from_kozai_elements(
            &::sgp4::WGS72,
            set.inclination.as_radians(),
            set.right_ascension.as_radians(),
            set.eccentricity,
            set.argument_of_perigee.as_radians(),
            set.mean_anomaly.as_radians(),
            mean_motion,
        )
        .map_err(|_| PropagationFault::Elements)?;
        let theory = if NearEarth::serves(&orbit) {
            Theory::NearEarth(Box::new(NearEarth::new(&orbit, set.bstar)))
        } else {
            let years = set.epoch.days_since_j2000() / 365.25;
            let constants = ::sgp4::Constants::new(
                ::sgp4::WGS72,
                ::sgp4::iau_epoch_to_sidereal_time,
                years,
                set.bstar,
                orbit,
            )
            .map_err(|_| PropagationFault::Elements)?;
            Theory::Full(Box::new(constants))
        };
        Ok(Self { epoch: set.epoch, theory })
    }

    /// The instant for which the elements hold.
    pub fn epoch(&self) -> Utc {
        self.epoch
    }

    /// The state in TEME at a date.
    pub fn at(&self, date: Utc) -> Result<State, PropagationFault> {
        self.after_epoch(date.seconds_since(self.epoch) / 60.0)
    }

    /// The state in TEME some minutes after the epoch.
    pub fn after_epoch(&self, minutes: f64) -> Result<State, PropagationFault> {
        match &self.theory {
            Theory::NearEarth(orbit) => orbit.state(minutes),
            Theory::Full(constants) => full(constants, minutes),
        }
    }
}

fn full(constants: &::sgp4::Constants, minutes: f64) -> Result<State, PropagationFault> {
    let prediction =
        constants.propagate(::sgp4::MinutesSinceEpoch(minutes)).map_err(|error| match error {
            ::sgp4::Error::NegativeSemiLatusRectum { .. } => PropagationFault::SemiLatusRectum { minutes },
            ::sgp4::Error::OutOfRangeEccentricity { eccentricity, .. }
            | ::sgp4::Error::OutOfRangePerturbedEccentricity { eccentricity, .. } => {
                PropagationFault::Eccentricity { eccentricity, minutes }
            }
        })?;
    let metres = |[x, y, z]: [f64; 3]| Vec3::new(x, y, z) * 1e3;
    let state = State { position: metres(prediction.position), velocity: metres(prediction.velocity) };
    // The crate goes on below the ground; the reference implementation stops there with its error 6.
    if state.position.norm() < WGS72_RADIUS {
        return Err(PropagationFault::Decayed { minutes });
    }
    Ok(state)
}
