//! Walker stars and deltas from the numbers that papers and filings give, refused where those contradict one
//! another.

use slantpath_base::{Angle, Duration};

use super::{Arrangement, Constellation, Contradiction, IslConfig, Payload, Satellite};
use crate::earth::EQUATORIAL_RADIUS;
use crate::orbit::{ALTITUDE_MAX, Circular, Orbit, Perturbation, mean_motion};
use crate::utc::Utc;

/// Phase between neighbouring planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phasing {
    /// Every second plane is ahead by half the spacing of satellites in a plane.
    Alternate,
    /// Each plane is ahead of the one to its west by this angle.
    Offset(Angle),
    /// Walker's F: each plane is ahead of the one to its west by F · 360° / total (Walker 1984).
    Walker(u32),
}

/// Position of the first plane's ascending node at the epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstNode {
    /// At an east longitude: for papers whose map is fixed at the start, as ns-2's is.
    Longitude(Angle),
    /// At a right ascension.
    RightAscension(Angle),
}

/// One shell: equal circles in equal planes. What is optional is redundant, and is checked where it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// The constellation's name; satellites are called `NAME-plane-slot`, both from 1.
    pub name: String,
    /// Star or delta.
    pub arrangement: Arrangement,
    /// Number of planes.
    pub planes: usize,
    /// Satellites in each plane.
    pub per_plane: usize,
    /// All satellites, where given.
    pub total: Option<usize>,
    /// Height over the equatorial radius, metres.
    pub altitude_m: f64,
    /// Time of one turn, where given.
    pub period: Option<Duration>,
    /// Turns per day, where given.
    pub mean_motion_rev_per_day: Option<f64>,
    /// Inclination of the orbits.
    pub inclination: Angle,
    /// Angle between neighbouring planes, where given; otherwise the spread divided by the planes.
    pub plane_separation: Option<Angle>,
    /// Angle between the last plane and the first one's other side (star), where given.
    pub seam_separation: Option<Angle>,
    /// The angle over which the planes are spread: 360° in a delta, about 180° in a star.
    pub spread: Option<Angle>,
    /// Phase from plane to plane.
    pub phasing: Phasing,
    /// Orientation at the epoch.
    pub first_node: FirstNode,
    /// Argument of latitude of the first satellite at the epoch.
    pub first_phase: Angle,
    /// Forces on the satellites.
    pub perturbation: Perturbation,
    /// Payload of the satellites.
    pub payload: Payload,
    /// Links between satellites.
    pub isl: IslConfig,
}

impl Shell {
    /// A shell with the numbers that none can do without.
    pub fn new(
        name: &str,
        arrangement: Arrangement,
        (planes, per_plane): (usize, usize),
        altitude_km: f64,
        inclination_deg: f64,
    ) -> Self {
        Self {
            name: name.to_owned(),
            arrangement,
            planes,
            per_plane,
            total: None,
            altitude_m: altitude_km * 1e3,
            period: None,
            mean_motion_rev_per_day: None,
            inclination: Angle::from_degrees(inclination_deg),
            plane_separation: None,
            seam_separation: None,
            spread: None,
            phasing: Phasing::Walker(0),
            first_node: FirstNode::RightAscension(Angle::ZERO),
            first_phase: Angle::ZERO,
            perturbation: Perturbation::J2,
            payload: Payload::Regenerative,
            isl: IslConfig::default(),
        }
    }

    /// The angle between neighbouring planes, degrees.
    pub fn separation_deg(&self) -> f64 {
        let planes = self.planes as f64;
        let full = if self.arrangement == Arrangement::Star { 180.0 } else { 360.0 };
        match (self.plane_separation, self.spread, self.seam_separation) {
            (Some(separation), _, _) => separation.as_degrees(),
            (None, Some(spread), _) => spread.as_degrees() / planes,
            (None, None, Some(seam)) if self.planes > 1 => (full - seam.as_degrees()) / (planes - 1.0),
            (None, None, _) => full / planes,
        }
    }

    /// Angle by which a plane is ahead of the one to its west, degrees; the alternate stagger counts as that of plane
    /// 1.
    fn offset_deg(&self, plane: usize) -> f64 {
        let spacing = 360.0 / self.per_plane as f64;
        match self.phasing {
            Phasing::Alternate => (plane % 2) as f64 * spacing / 2.0,
            Phasing::Offset(angle) => plane as f64 * angle.as_degrees(),
            Phasing::Walker(f) => plane as f64 * f64::from(f) * spacing / self.planes as f64,
        }
    }

    /// Refuses numbers that contradict one another.
    pub fn check(&self) -> Result<(), Contradiction> {
        let fail = |claim: String, implied: String, cure: &str| {
            Err(Contradiction { name: self.name.clone(), claim, implied, cure: cure.to_owned() })
        };
        if self.planes == 0 || self.per_plane == 0 {
            let claim = format!("{} planes of {}", self.planes, self.per_plane);
            return fail(claim, "that is no satellite".into(), "give at least one plane of one");
        }
        if self.altitude_m > ALTITUDE_MAX {
            let implied = format!("routes are worked out up to {} km", ALTITUDE_MAX / 1e3);
            return fail(format!("an altitude of {} km", self.altitude_m / 1e3), implied, "let it fly lower");
        }
        if self.altitude_m.is_nan() || self.altitude_m < 100e3 {
            let claim = format!("an altitude of {} km", self.altitude_m / 1e3);
            return fail(
                claim,
                "no orbit lasts there".into(),
                "give the height over the equator in km, above 100",
            );
        }
        if !(0.0..=180.0).contains(&self.inclination.as_degrees()) {
            let claim = format!("an inclination of {}", self.inclination);
            return fail(claim, "it lies in 0 to 180 deg".into(), "give the inclination in degrees");
        }
        let count = self.planes * self.per_plane;
        if let Some(total) = self.total.filter(|&total| total != count) {
            let implied = format!("{} planes of {} are {count}", self.planes, self.per_plane);
            return fail(format!("{total} satellites in all"), implied, "correct one of the three");
        }
        if let Phasing::Walker(f) = self.phasing
            && f as usize >= self.planes
        {
            let implied = format!("F is below the number of planes, {}", self.planes);
            return fail(format!("a Walker phasing of {f}"), implied, "take F modulo the planes");
        }
        let minutes = core::f64::consts::TAU / mean_motion(EQUATORIAL_RADIUS + self.altitude_m) / 60.0;
        let given = self.period.map(|period| period.as_secs_f64() / 60.0);
        let from_motion = self.mean_motion_rev_per_day.map(|turns| 1_440.0 / turns);
        for (given, what) in [(given, "period"), (from_motion, "mean motion")] {
            if let Some(given) =
                given.filter(|&given| libm::fabs(given / minutes - 1.0) > PERIOD_TOLERANCE || given.is_nan())
            {
                let claim = format!("an altitude of {} km", self.altitude_m / 1e3);
                let claim = format!("{claim} (one turn in {minutes:.2} min)");
                return fail(
                    claim,
                    format!("its {what} gives {given:.2} min"),
                    "leave one of them out, or correct it",
                );
            }
        }
        self.check_planes()
    }

    fn check_planes(&self) -> Result<(), Contradiction> {
        let fail = |claim: String, implied: String, cure: &str| {
            Err(Contradiction { name: self.name.clone(), claim, implied, cure: cure.to_owned() })
        };
        let separation = self.separation_deg();
        let planes = self.planes as f64;
        let claim = format!("{} planes {separation:.2} deg apart", self.planes);
        if let Some(spread) = self.spread
            && libm::fabs(separation * planes - spread.as_degrees()) > ANGLE_TOLERANCE_DEG
        {
            let implied = format!("they are spread over {spread}, not {:.2}", separation * planes);
            return fail(claim, implied, "leave the spread or the separation out");
        }
        match self.arrangement {
            Arrangement::Ring if self.planes > 1 => {
                let implied = "a ring is one plane".to_owned();
                return fail(claim, implied, "make it a star or a delta, or `planes` one");
            }
            Arrangement::Delta | Arrangement::Ring => {
                if self.seam_separation.is_some() {
                    let implied = "a delta has none";
                    return fail("a seam".into(), implied.into(), "make it a star, or leave the seam out");
                }
                let open = libm::fabs(separation * planes - 360.0) > ANGLE_TOLERANCE_DEG;
                if open && self.planes > 1 && self.spread.is_none() {
                    let implied = format!("a delta fills 360 deg, and they fill {:.1}", separation * planes);
                    return fail(claim, implied, "correct the separation, or give the spread");
                }
            }
            Arrangement::Loose => {
                let implied = "a shell is made of planes";
                return fail(
                    "satellites without planes".into(),
                    implied.into(),
                    "make it a star, a delta or a ring",
                );
            }
            Arrangement::Star => {
                let seam = 180.0 - separation * (planes - 1.0);
                if seam <= 0.0 {
                    let implied = "a star's planes fit into less than 180 deg".to_owned();
                    return fail(claim, implied, "correct the separation, or make it a delta");
                }
                if let Some(given) = self.seam_separation.map(Angle::as_degrees)
                    && libm::fabs(given - seam) > ANGLE_TOLERANCE_DEG
                {
                    let implied = format!("leave a seam of {seam:.2} deg, and it is given as {given:.2}");
                    return fail(claim, implied, "leave one of the two out, or correct it");
                }
            }
        }
        Ok(())
    }

    /// The satellites at an epoch.
    pub fn build(&self, epoch: Utc) -> Result<Constellation, Contradiction> {
        self.check()?;
        let first_node = match self.first_node {
            FirstNode::RightAscension(angle) => angle.as_degrees(),
            FirstNode::Longitude(angle) => angle.as_degrees() + epoch.sidereal_time().to_degrees(),
        };
        let spacing = 360.0 / self.per_plane as f64;
        let mut satellites = Vec::with_capacity(self.planes * self.per_plane);
        for plane in 0..self.planes {
            let node = first_node + plane as f64 * self.separation_deg();
            for slot in 0..self.per_plane {
                let phase = self.first_phase.as_degrees() + slot as f64 * spacing + self.offset_deg(plane);
                let orbit = Circular::new(
                    epoch,
                    self.altitude_m,
                    self.inclination,
                    Angle::from_degrees(node % 360.0),
                    Angle::from_degrees(phase % 360.0),
                    self.perturbation,
                );
                let name = format!("{}-{}-{}", self.name, plane + 1, slot + 1);
                satellites.push(Satellite { name, orbit: Orbit::Circular(orbit), plane, slot });
            }
        }
        let (name, arrangement) = (self.name.clone(), self.arrangement);
        let constellation = Constellation {
            name,
            satellites,
            arrangement,
            payload: self.payload,
            beams: None,
            isl: self.isl,
        };
        constellation.check()?;
        Ok(constellation)
    }
}

/// A published period is rounded to a tenth of a minute and counts nodes where ours counts stars: 0.2 %, some
/// 9 km.
const PERIOD_TOLERANCE: f64 = 2e-3;
/// Published angles are rounded to a tenth, and their sums add up to half a degree.
const ANGLE_TOLERANCE_DEG: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn iridium() -> Shell {
        Shell {
            plane_separation: Some(Angle::from_degrees(31.6)),
            seam_separation: Some(Angle::from_degrees(22.0)),
            period: Some(Duration::from_secs(6_024)),
            ..Shell::new("iridium", Arrangement::Star, (6, 11), 780.0, 86.4)
        }
    }

    #[test]
    fn the_published_iridium_is_consistent() {
        assert_eq!(iridium().check(), Ok(()));
        assert_eq!(iridium().build(Utc::J2000).unwrap().satellites.len(), 66);
    }

    #[test]
    fn a_ring_is_one_plane_at_any_inclination() {
        for inclination in [0.0, 86.4] {
            let ring = Shell::new("ring", Arrangement::Ring, (1, 11), 780.0, inclination);
            assert_eq!(ring.build(Utc::J2000).unwrap().plane_count(), 1, "{inclination}");
        }
    }

    #[test]
    fn a_first_longitude_is_where_the_first_satellite_crosses_the_equator_at_the_epoch() {
        for epoch in ["2000-01-01T00:00:00Z", "2026-03-01T02:30:00Z"] {
            let epoch: Utc = epoch.parse().unwrap();
            for longitude in [-120.0, 0.0, 35.0] {
                for inclination in [53.0, 86.4, 97.6] {
                    let shell = Shell {
                        first_node: FirstNode::Longitude(Angle::from_degrees(longitude)),
                        ..Shell::new("first", Arrangement::Delta, (4, 10), 550.0, inclination)
                    };
                    let built = shell.build(epoch).unwrap();
                    for (plane, longitude) in [longitude, longitude + 90.0].into_iter().enumerate() {
                        let state = built.satellites[10 * plane].orbit.fixed(epoch).unwrap();
                        let place = state.position;
                        let off = libm::atan2(place.y, place.x).to_degrees() - longitude;
                        let off = off - 360.0 * libm::round(off / 360.0);
                        assert!(off.abs() < 1e-6, "{epoch}, {longitude}, {inclination}: {off}");
                        assert!(place.z.abs() < 1.0 && state.velocity.z > 0.0, "it ascends there");
                    }
                }
            }
        }
    }

    #[test]
    fn a_first_right_ascension_is_an_angle_among_the_stars() {
        for epoch in ["2000-01-01T00:00:00Z", "2026-03-01T02:30:00Z"] {
            let epoch: Utc = epoch.parse().unwrap();
            let shell = Shell {
                first_node: FirstNode::RightAscension(Angle::from_degrees(35.0)),
                first_phase: Angle::from_degrees(90.0),
                ..Shell::new("first", Arrangement::Delta, (4, 10), 550.0, 53.0)
            };
            // A quarter turn beyond its node: as far north as the plane is inclined.
            let state = shell.build(epoch).unwrap().satellites[0].orbit.inertial(epoch).unwrap();
            let place = state.position;
            let (right_ascension, declination) =
                (libm::atan2(place.y, place.x), libm::asin(place.z / place.norm()));
            assert!((right_ascension.to_degrees() - 125.0).abs() < 1e-6, "{right_ascension}");
            assert!((declination.to_degrees() - 53.0).abs() < 1e-6, "{declination}");
        }
    }

    #[test]
    fn each_contradiction_is_named() {
        let refused = |change: &dyn Fn(&mut Shell), word: &str| {
            let mut shell = iridium();
            change(&mut shell);
            let error = shell.build(Utc::J2000).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        refused(&|shell| shell.total = Some(72), "6 planes of 11 are 66");
        refused(&|shell| shell.altitude_m = 630e3, "its period gives 100.40 min");
        refused(&|shell| shell.mean_motion_rev_per_day = Some(15.19), "its mean motion gives 94.80 min");
        refused(
            &|shell| shell.seam_separation = Some(Angle::from_degrees(31.6)),
            "leave a seam of 22.00 deg",
        );
        refused(&|shell| shell.plane_separation = Some(Angle::from_degrees(60.0)), "fit into less than 180");
        refused(&|shell| shell.arrangement = Arrangement::Delta, "a delta has none");
        refused(
            &|shell| {
                shell.arrangement = Arrangement::Ring;
                shell.seam_separation = None;
                shell.plane_separation = None;
            },
            "6 planes 60.00 deg apart, but a ring is one plane",
        );
        refused(&|shell| shell.phasing = Phasing::Walker(6), "below the number of planes");
        refused(&|shell| shell.planes = 0, "no satellite");
        refused(&|shell| shell.altitude_m = 780.0, "no orbit lasts there");
        refused(
            &|shell| {
                shell.payload = Payload::BentPipe;
                shell.isl.pattern = crate::constellation::IslPattern::Grid;
            },
            "a bent pipe cannot switch",
        );
    }
}
