//! Finding the planes in element sets: nodes drifted to one date, sorted, and split where they are far apart.

use core::f64::consts::TAU;

use crate::constellation::Arrangement;
use crate::earth::{EQUATORIAL_RADIUS, GRAVITATION, J2};
use crate::elements::ElementSet;
use crate::utc::{SECONDS_PER_DAY, Utc};

/// One satellite in a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Index of its element set.
    pub index: usize,
    /// Argument of latitude at the date, radians in 0..2π: mean anomaly plus argument of perigee, both
    /// drifted.
    pub latitude_argument: f64,
}

/// One plane.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPlane {
    /// Mean right ascension of the nodes at the date, radians in 0..2π.
    pub node: f64,
    /// Its satellites by argument of latitude.
    pub members: Vec<Member>,
}

/// The planes of a set of satellites, by rising node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaneSet {
    /// The planes. Each begins with the satellite next after the node; the first follows the widest gap
    /// between planes.
    pub planes: Vec<FoundPlane>,
}

/// Nodes further apart than this belong to different planes. Station-keeping holds real planes within a tenth
/// of a degree; the closest planes flown (Starlink's) are 5° apart.
const NODE_GAP: f64 = 1.5 * TAU / 360.0;

/// Inclinations of one shell lie closer together than this; those of Starlink's two shells near 53° are 0.14° apart.
const INCLINATION_GAP: f64 = 0.08 * TAU / 360.0;

/// So many satellites of one inclination are a shell. The planes of a small constellation, such as GPS, drift to
/// inclinations of their own.
const LEAST_OF_A_SHELL: usize = 20;

/// The shells in element sets, as indices of their satellites: by inclination, for the planes of shells that cross one
/// another are told apart by nothing else. Stragglers are with the shell that is nearest in inclination.
pub fn shells_of(sets: &[ElementSet]) -> Vec<Vec<usize>> {
    let inclination = |index: usize| sets[index].inclination.as_radians();
    let mut sorted: Vec<usize> = (0..sets.len()).collect();
    sorted.sort_by(|a, b| inclination(*a).total_cmp(&inclination(*b)));
    let alike = sorted.chunk_by(|a, b| inclination(*b) - inclination(*a) < INCLINATION_GAP);
    let (mut shells, stragglers): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
        alike.map(<[usize]>::to_vec).partition(|shell| shell.len() >= LEAST_OF_A_SHELL);
    if shells.len() < 2 {
        return vec![(0..sets.len()).collect()];
    }
    let reaches: Vec<(f64, f64)> = shells
        .iter()
        .filter_map(|shell| Some((inclination(*shell.first()?), inclination(*shell.last()?))))
        .collect();
    for index in stragglers.into_iter().flatten() {
        let away =
            |(lowest, highest): (f64, f64)| (lowest - inclination(index)).max(inclination(index) - highest);
        let nearest = (0..shells.len()).min_by(|a, b| away(reaches[*a]).total_cmp(&away(reaches[*b])));
        if let Some(nearest) = nearest {
            shells[nearest].push(index);
        }
    }
    for shell in &mut shells {
        shell.sort_unstable();
    }
    shells
}

impl PlaneSet {
    /// Sorts element sets into planes at a date.
    pub fn of(sets: &[ElementSet], at: Utc) -> Self {
        let mut drifted: Vec<(f64, Member)> = sets
            .iter()
            .enumerate()
            .map(|(index, set)| {
                let (node, latitude_argument) = drift(set, at);
                (node, Member { index, latitude_argument })
            })
            .collect();
        drifted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.index.cmp(&b.1.index)));
        if drifted.is_empty() {
            return Self::default();
        }
        // Start after the widest gap, so that no plane is cut by the zero of right ascension and a star's
        // seam comes last.
        let count = drifted.len();
        let gap = |index: usize| {
            let next = drifted[(index + 1) % count].0 + if index + 1 == count { TAU } else { 0.0 };
            next - drifted[index].0
        };
        let widest = (0..count).max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
        let mut planes: Vec<FoundPlane> = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for step in 0..count {
            let index = (widest + 1 + step) % count;
            let (node, member) = drifted[index];
            let unwrapped = node + if index <= widest && widest + 1 < count { TAU } else { 0.0 };
            match planes.last_mut() {
                Some(plane) if unwrapped - before < NODE_GAP => plane.members.push(member),
                _ => planes.push(FoundPlane { node: 0.0, members: vec![member] }),
            }
            before = unwrapped;
        }
        for plane in &mut planes {
            let (sine, cosine) = plane.members.iter().fold((0.0, 0.0), |(sine, cosine), member| {
                let (node, _) = drift(&sets[member.index], at);
                let (s, c) = libm::sincos(node);
                (sine + s, cosine + c)
            });
            plane.node = turned(libm::atan2(sine, cosine));
            plane.members.sort_by(|a, b| a.latitude_argument.total_cmp(&b.latitude_argument));
        }
        Self { planes }
    }

    /// The angles from each plane's node to the next one's, radians; the last reaches the first again.
    pub fn node_gaps(&self) -> Vec<f64> {
        let count = self.planes.len();
        (0..count).map(|i| turned(self.planes[(i + 1) % count].node - self.planes[i].node)).collect()
    }

    /// A star where the nodes fill little more than half a circle, otherwise a delta; a single plane is a
    /// ring.
    pub fn arrangement(&self) -> Arrangement {
        let widest = self.node_gaps().into_iter().fold(0.0, f64::max);
        match self.planes.len() {
            0 | 1 => Arrangement::Ring,
            _ if widest > 0.4 * TAU => Arrangement::Star,
            _ => Arrangement::Delta,
        }
    }
}

/// Node and argument of latitude of an element set drifted to a date, radians in 0..2π: secular J₂ rates and
/// the drag that the set's own mean-motion derivative tells.
pub fn drift(set: &ElementSet, at: Utc) -> (f64, f64) {
    let seconds = at.seconds_since(set.epoch);
    let n = set.mean_motion_rev_per_day * TAU / SECONDS_PER_DAY;
    let axis = semi_major_axis_m(set);
    let p = axis * (1.0 - set.eccentricity * set.eccentricity) / EQUATORIAL_RADIUS;
    let (sine, cosine) = libm::sincos(set.inclination.as_radians());
    let node_rate = -1.5 * J2 * n / (p * p) * cosine;
    let perigee_rate = 0.75 * J2 * n / (p * p) * (4.0 - 5.0 * sine * sine);
    let days = seconds / SECONDS_PER_DAY;
    let anomaly = set.mean_anomaly.as_radians() + n * seconds + TAU * set.mean_motion_dot * days * days;
    let argument = anomaly + set.argument_of_perigee.as_radians() + perigee_rate * seconds;
    (turned(set.right_ascension.as_radians() + node_rate * seconds), turned(argument))
}

/// The semi-major axis that the mean motion of a set implies (Kepler's third law), metres.
pub fn semi_major_axis_m(set: &ElementSet) -> f64 {
    let n = set.mean_motion_rev_per_day * TAU / SECONDS_PER_DAY;
    libm::cbrt(GRAVITATION / (n * n))
}

fn turned(angle: f64) -> f64 {
    angle - TAU * libm::floor(angle / TAU)
}
