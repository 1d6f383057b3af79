//! Constellations: satellites with their place in planes, however their orbits are known.

pub mod planes;
pub mod presets;
pub mod shell;

use slantpath_base::{Angle, Duration};

use crate::elements::ElementSet;
use crate::orbit::{Orbit, Slot};
use crate::sgp4::PropagationError;
use crate::utc::Utc;
use planes::PlaneSet;

/// One satellite of a constellation.
#[derive(Clone, Debug)]
pub struct Satellite {
    /// Name of the satellite, unique in a network.
    pub name: String,
    /// Motion of the satellite.
    pub orbit: Orbit,
    /// The plane it belongs to, counted eastwards by ascending node.
    pub plane: usize,
    /// Place of the satellite in the plane, counted in the direction of flight.
    pub slot: usize,
}

/// Treatment of signals that a satellite receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Repeats the signal at once: no queue, no switching, no link to another satellite.
    BentPipe,
    /// Receives packets and sends them on, to the ground or to another satellite.
    #[default]
    Regenerative,
}

/// Arrangement of the planes around the Earth, as far as links between them care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Planes over the full circle: the last is the neighbour of the first.
    Delta,
    /// Satellites that form no planes, each on a way of its own.
    Loose,
    /// One ring, as over the equator.
    Ring,
    /// Planes over half the circle: the last and the first fly against each other, and between them is the
    /// seam.
    Star,
}

/// Pattern of the links between satellites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IslPattern {
    /// The next and the previous in the plane, and one in each neighbouring plane, always the same ones.
    Grid,
    /// The next and the previous in the plane only.
    IntraPlane,
    /// As the grid, but in each neighbouring plane whichever satellite is nearest, where both prefer each
    /// other.
    Nearest,
    /// No links between satellites.
    #[default]
    None,
}

/// Links between the first and the last plane of a star.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seam {
    /// Linked like any other two planes: the same two satellites as long as they see each other.
    Closed,
    /// Linked to whichever satellite of the other plane is nearest at the time.
    Dynamic,
    /// Not linked: satellites there fly past each other at twice the orbital speed.
    #[default]
    Open,
}

/// Links between the satellites of a constellation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IslConfig {
    /// Pattern of the links.
    pub pattern: IslPattern,
    /// The seam of a star.
    pub seam: Seam,
    /// Links between planes are off while either end is beyond this (geocentric) latitude.
    pub cut_off_latitude: Option<Angle>,
    /// A line of sight keeps above the ellipsoid by this much, metres: below some 80 km the air bends and
    /// absorbs it.
    pub grazing_altitude_m: f64,
    /// The longest link, metres, where the terminals have a limit.
    pub range_max_m: Option<f64>,
    /// Time that pointing and acquisition take before a link that has become possible carries anything.
    pub acquisition: Duration,
}

impl Default for IslConfig {
    /// No links; where some are switched on, they clear 80 km and are acquired at once.
    fn default() -> Self {
        Self {
            pattern: IslPattern::None,
            seam: Seam::Open,
            cut_off_latitude: None,
            grazing_altitude_m: 80e3,
            range_max_m: None,
            acquisition: Duration::ZERO,
        }
    }
}

/// A named set of satellites that work together.
#[derive(Clone, Debug)]
pub struct Constellation {
    /// Name of the constellation. Shells that an antenna follows as one share it.
    pub name: String,
    /// The satellites, plane by plane.
    pub satellites: Vec<Satellite>,
    /// Arrangement of the planes.
    pub arrangement: Arrangement,
    /// Payload of its satellites.
    pub payload: Payload,
    /// Number of antennas on the ground that one satellite serves at once, gateways included, where there is a limit.
    pub beams: Option<u32>,
    /// The links between its satellites.
    pub isl: IslConfig,
}

/// A constellation whose numbers contradict one another, or make no constellation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name}: {claim}, but {implied}: {cure}")]
pub struct Contradiction {
    /// Name of the constellation.
    pub name: String,
    /// Claim that is contradicted.
    pub claim: String,
    /// Value that follows from the rest.
    pub implied: String,
    /// Change that resolves the contradiction.
    pub cure: String,
}

impl Constellation {
    /// A ring of geostationary slots, in any order: neighbours are those along the equator, east of the first.
    pub fn geostationary(name: &str, longitudes_deg: &[f64]) -> Self {
        let east = |index: usize| (longitudes_deg[index] - longitudes_deg[0]).rem_euclid(360.0);
        let mut along: Vec<usize> = (0..longitudes_deg.len()).collect();
        along.sort_by(|&a, &b| east(a).total_cmp(&east(b)).then(a.cmp(&b)));
        let mut slots = vec![0; along.len()];
        for (slot, index) in along.into_iter().enumerate() {
            slots[index] = slot;
        }
        let satellite = |(index, &longitude): (usize, &f64)| Satellite {
            name: format!("{name}-{}", index + 1),
            orbit: Orbit::Slot(Slot::new(Angle::from_degrees(longitude))),
            plane: 0,
            slot: slots[index],
        };
        Self {
            name: name.to_owned(),
            satellites: longitudes_deg.iter().enumerate().map(satellite).collect(),
            arrangement: Arrangement::Ring,
            payload: Payload::BentPipe,
            beams: None,
            isl: IslConfig::default(),
        }
    }

    /// The shells of element sets, each sorted into planes ([`planes::shells_of`]), and last the satellites that are in
    /// none, if there are any: these form no planes.
    pub fn shells_from_elements(
        name: &str,
        sets: Vec<ElementSet>,
        at: Utc,
    ) -> Result<Vec<Self>, PropagationError> {
        let found = planes::shells_of(&sets, at);
        let mut sets: Vec<Option<ElementSet>> = sets.into_iter().map(Some).collect();
        let mut take = |indices: Vec<usize>| -> Vec<ElementSet> {
            indices.into_iter().filter_map(|index| sets[index].take()).collect()
        };
        let mut shells = Vec::with_capacity(found.shells.len() + 1);
        for shell in found.shells {
            shells.push(Self::from_elements(name, take(shell), at)?);
        }
        let loose = take(found.loose);
        if !loose.is_empty() {
            shells.push(Self::loose(name, loose)?);
        }
        Ok(shells)
    }

    /// Satellites that form no planes: nobody is linked to them.
    fn loose(name: &str, sets: Vec<ElementSet>) -> Result<Self, PropagationError> {
        let satellite = |(slot, set): (usize, ElementSet)| {
            let name = set.name.clone();
            Ok(Satellite { name, orbit: Orbit::from_elements(set)?, plane: 0, slot })
        };
        Ok(Self {
            name: name.to_owned(),
            satellites: sets.into_iter().enumerate().map(satellite).collect::<Result<_, _>>()?,
            arrangement: Arrangement::Loose,
            payload: Payload::default(),
            beams: None,
            isl: IslConfig::default(),
        })
    }

    /// The satellites of the element sets of one shell, sorted into planes by their nodes at a date.
    pub fn from_elements(name: &str, sets: Vec<ElementSet>, at: Utc) -> Result<Self, PropagationError> {
        let found = PlaneSet::of(&sets, at);
        let mut sets: Vec<Option<ElementSet>> = sets.into_iter().map(Some).collect();
        let mut satellites = Vec::with_capacity(sets.len());
        for (plane, members) in found.planes.iter().enumerate() {
            for (slot, member) in members.members.iter().enumerate() {
                let Some(set) = sets[member.index].take() else { continue };
                let name = set.name.clone();
                satellites.push(Satellite { name, orbit: Orbit::from_elements(set)?, plane, slot });
            }
        }
        let arrangement = found.arrangement();
        Ok(Self {
            name: name.to_owned(),
            satellites,
            arrangement,
            payload: Payload::default(),
            beams: None,
            isl: IslConfig::default(),
        })
    }

    /// The number of planes.
    pub fn plane_count(&self) -> usize {
        self.satellites.iter().map(|satellite| satellite.plane + 1).max().unwrap_or(0)
    }

    /// The indices of a plane's satellites, by slot.
    pub fn plane(&self, plane: usize) -> Vec<usize> {
        let mut members: Vec<usize> =
            (0..self.satellites.len()).filter(|&index| self.satellites[index].plane == plane).collect();
        members.sort_by_key(|&index| self.satellites[index].slot);
        members
    }

    /// Constellation that differs in its links alone.
    #[must_use]
    pub fn with_isl(mut self, isl: IslConfig) -> Self {
        self.isl = isl;
        self
    }

    /// Constellation that differs in its payload alone.
    #[must_use]
    pub fn with_payload(mut self, payload: Payload) -> Self {
        self.payload = payload;
        self
    }

    /// Refuses what cannot work: links between satellites that only repeat.
    pub fn check(&self) -> Result<(), Contradiction> {
        let fail = |claim: &str, implied: &str, cure: &str| {
            let (name, claim) = (self.name.clone(), claim.to_owned());
            Err(Contradiction { name, claim, implied: implied.to_owned(), cure: cure.to_owned() })
        };
        if self.satellites.is_empty() {
            return fail(
                "it is a constellation",
                "it has no satellites",
                "give it planes, slots or an element-set file",
            );
        }
        if self.payload == Payload::BentPipe && self.isl.pattern != IslPattern::None {
            return fail(
                "its satellites are linked to each other",
                "a bent pipe cannot switch",
                "make the payload regenerative, or the pattern of links none",
            );
        }
        Ok(())
    }
}
