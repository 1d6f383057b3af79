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

/// One plane of satellites.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPlane {
    /// Mean right ascension of the nodes at the date, radians in 0..2π.
    pub node: f64,
    /// Satellites of the plane by argument of latitude.
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

/// Eccentricities of one shell lie closer together than this; those of GPS are spread over 0.025.
const ECCENTRICITY_GAP: f64 = 0.02;

/// Altitudes of one shell lie closer together than this share of them, and never need to be closer than
/// [`ALTITUDE_GAP_LEAST`]: OneWeb keeps its planes 4 km apart in height at 1,200 km, Iridium its spares 30 km below at
/// 780 km.
const ALTITUDE_GAP_RATIO: f64 = 0.01;
/// Metres.
const ALTITUDE_GAP_LEAST: f64 = 4e3;

/// So many satellites that are alike are a shell; of fewer than twice as many, half are.
const LEAST_OF_A_SHELL: usize = 20;

/// Satellites that fly at an altitude together are at least one of so many of their inclination: those that climb or
/// sink past it are fewer.
const LEAST_SHARE: usize = 20;

/// Fewer sets than this are not told apart by inclination: the planes of a small constellation, such as GPS, drift to
/// inclinations of their own.
const FEW_SETS: usize = 60;

/// A plane has at least one for so many satellites of the planes in which most fly. Fewer are lone spares, or on their
/// way from one plane to another.
const LEAST_OF_A_PLANE: usize = 4;

/// Element sets told apart: shells, and satellites that are in none. By index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shells {
    /// The satellites of each shell, by rising inclination and then altitude.
    pub shells: Vec<Vec<usize>>,
    /// Satellites outside: on their way up or down or to another plane, spares, and those that belong to none.
    pub loose: Vec<usize>,
}

/// The shells in element sets: satellites of one inclination, altitude and eccentricity, in planes at a date.
/// Planes of shells that cross one another, or fly above one another, are told apart by nothing else.
pub fn shells_of(sets: &[ElementSet], at: Utc) -> Shells {
    let mut found = Shells::default();
    let by = |value: &dyn Fn(&ElementSet) -> f64, group: &[usize]| -> Vec<(f64, usize)> {
        let mut sorted: Vec<(f64, usize)> = group.iter().map(|&index| (value(&sets[index]), index)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        sorted
    };
    let least = |count: usize| LEAST_OF_A_SHELL.min(count.div_ceil(2));
    let all: Vec<usize> = (0..sets.len()).collect();
    let alike: Vec<Vec<usize>> = if sets.len() < FEW_SETS {
        vec![all]
    } else {
        let sorted = by(&|set| set.inclination.as_radians(), &all);
        let groups = sorted.chunk_by(|a, b| b.0 - a.0 < INCLINATION_GAP);
        groups.map(|group| group.iter().map(|&(_, index)| index).collect()).collect()
    };
    for group in alike {
        if group.len() < least(sets.len()) {
            found.loose.extend(group);
            continue;
        }
        let altitude = |set: &ElementSet| semi_major_axis_m(set) - EQUATORIAL_RADIUS;
        let gap = |altitude: f64| (ALTITUDE_GAP_RATIO * altitude).max(ALTITUDE_GAP_LEAST);
        let many = least(group.len()).max(group.len() / LEAST_SHARE);
        for level in dense(&by(&altitude, &group), gap, many, &mut found.loose) {
            let sorted = by(&|set| set.eccentricity, &level);
            for shell in dense(&sorted, |_| ECCENTRICITY_GAP, least(level.len()), &mut found.loose) {
                let (shell, strays) = without_strays(sets, shell, at);
                found.shells.push(shell);
                found.loose.extend(strays);
            }
        }
    }
    found.loose.sort_unstable();
    found
}

/// Finds the places at which values, in order, lie so densely that `many` of them are within a gap of one another: the
/// indices of each such place. The others go to `loose`.
fn dense(
    sorted: &[(f64, usize)],
    gap: impl Fn(f64) -> f64,
    many: usize,
    loose: &mut Vec<usize>,
) -> Vec<Vec<usize>> {
    let within = |value: f64| {
        let from = sorted.partition_point(|other| other.0 < value - gap(value));
        let until = sorted.partition_point(|other| other.0 <= value + gap(value));
        until - from
    };
    let core: Vec<f64> = sorted.iter().map(|entry| entry.0).filter(|&value| within(value) >= many).collect();
    let places: Vec<(f64, f64)> =
        core.chunk_by(|a, b| b - a <= gap(*a)).map(|place| (place[0], place[place.len() - 1])).collect();
    let mut found = vec![Vec::new(); places.len()];
    for &(value, index) in sorted {
        let near = |&(low, high): &(f64, f64)| value >= low - gap(low) && value <= high + gap(high);
        match places.iter().position(near) {
            Some(place) => found[place].push(index),
            None => loose.push(index),
        }
    }
    for place in &mut found {
        place.sort_unstable();
    }
    found
}

/// A shell without the satellites of planes that are none: so small that nobody keeps them.
fn without_strays(sets: &[ElementSet], shell: Vec<usize>, at: Utc) -> (Vec<usize>, Vec<usize>) {
    let own: Vec<ElementSet> = shell.iter().map(|&index| sets[index].clone()).collect();
    let planes = PlaneSet::of(&own, at).planes;
    // The size of the plane in which the satellite in the middle flies: lone ones do not make planes small.
    let mut sizes: Vec<usize> = planes.iter().map(|plane| plane.members.len()).collect();
    sizes.sort_unstable();
    let mut before = 0;
    let middle = sizes.iter().find(|&&size| {
        before += size;
        2 * before >= own.len()
    });
    let least = middle.map_or(0, |size| size.div_ceil(LEAST_OF_A_PLANE));
    let is_stray: Vec<bool> = {
        let mut strays = vec![false; own.len()];
        for member in
            planes.iter().filter(|plane| plane.members.len() < least).flat_map(|plane| &plane.members)
        {
            strays[member.index] = true;
        }
        strays
    };
    let (strays, kept): (Vec<_>, Vec<_>) =
        shell.into_iter().zip(is_stray).partition(|&(_, is_stray)| is_stray);
    let indices = |list: Vec<(usize, bool)>| list.into_iter().map(|(index, _)| index).collect();
    (indices(kept), indices(strays))
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
