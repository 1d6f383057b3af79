//! Sites: where on (or above) the Earth a host stands, what it can see from there, and how it moves.

mod track;

pub use track::{Track, TrackError, Waypoint};

use slantpath_base::{Angle, Duration, Instant};

use crate::earth::{Geodetic, surface_point};
use crate::ground::Antenna;
use crate::vector::Vec3;

/// A host's place and antennas.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Name of the site, unique in a network.
    pub name: String,
    /// Place of the site, over time.
    pub place: SitePosition,
    /// Antennas of the site; each holds one satellite at a time.
    pub antennas: Vec<Antenna>,
    /// Mask of the sky that the surroundings hide; an antenna's own minimum elevation comes on top.
    pub horizon: Horizon,
    /// Role of the site for others: a gateway takes a path down and up again.
    pub relay: Relay,
}

/// Permission for paths between other sites to pass through a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relay {
    /// The site forwards for others.
    Gateway,
    /// Paths only begin and end here.
    #[default]
    None,
}

/// A site's position over time.
#[derive(Clone, Debug, PartialEq)]
pub enum SitePosition {
    /// A fixed point.
    Fixed(Geodetic),
    /// A journey.
    Track(Track),
}

/// Position and motion of a place at one instant in the fixed frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stance {
    /// Position, metres.
    pub position: Vec3,
    /// Velocity in m/s.
    pub velocity: Vec3,
    /// The local vertical: normal of the ellipsoid.
    pub up: Vec3,
    /// Rate of change of the vertical, 1/s.
    pub up_rate: Vec3,
}

impl SitePosition {
    /// Position, velocity and vertical at an instant.
    pub fn at(&self, now: Instant) -> Stance {
        match self {
            Self::Fixed(point) => {
                let up = point.up();
                let position = surface_point(up, point.height_m);
                Stance { position, velocity: Vec3::ZERO, up, up_rate: Vec3::ZERO }
            }
            Self::Track(track) => track.at(now),
        }
    }

    /// Place that keeps its dates in a network that starts later by `time`.
    pub(crate) fn after(&self, time: Duration) -> Self {
        match self {
            Self::Fixed(point) => Self::Fixed(*point),
            Self::Track(track) => Self::Track(track.after(time)),
        }
    }

    /// The point, if it stands still.
    pub fn fixed(&self) -> Option<&Geodetic> {
        match self {
            Self::Fixed(point) => Some(point),
            Self::Track(_) => None,
        }
    }

    /// The greatest speed over the ground, m/s.
    pub fn speed_max(&self) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Track(track) => track.speed_max(),
        }
    }

    /// Instants at which the motion has a corner, in order.
    pub fn corners(&self) -> Vec<Instant> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Track(track) => track.corners(),
        }
    }
}

/// The elevation below which the surroundings hide the sky, by azimuth. Between the given azimuths it runs
/// straight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Horizon {
    /// Azimuth and elevation, radians, azimuths rising within 0..2π. Empty: nothing hides anything.
    points: Vec<(f64, f64)>,
}

/// A horizon mask that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HorizonError {
    /// An azimuth that does not rise or lies outside a turn.
    #[error(
        "azimuth {0} deg of the horizon mask is not above the one before it, or not in \
         0 to below 360: sort the mask by azimuth"
    )]
    Azimuth(f64),
    /// An elevation outside −90° to 90°.
    #[error("elevation {0} deg of the horizon mask is not in -90 to 90")]
    Elevation(f64),
}

impl Horizon {
    /// From pairs of azimuth (from north through east, rising, 0° to below 360°) and elevation.
    pub fn new(points: &[(Angle, Angle)]) -> Result<Self, HorizonError> {
        let mut before = -1.0;
        for &(azimuth, elevation) in points {
            let azimuth = azimuth.as_degrees();
            if !(0.0..360.0).contains(&azimuth) || azimuth <= before {
                return Err(HorizonError::Azimuth(azimuth));
            }
            if !(-90.0..=90.0).contains(&elevation.as_degrees()) {
                return Err(HorizonError::Elevation(elevation.as_degrees()));
            }
            before = azimuth;
        }
        Ok(Self { points: points.iter().map(|(a, e)| (a.as_radians(), e.as_radians())).collect() })
    }

    /// Tells if the surroundings hide nothing.
    pub fn is_open(&self) -> bool {
        self.points.is_empty()
    }

    /// The corners of the mask: azimuth, rising, and elevation, radians.
    pub fn corners(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The elevation hidden at an azimuth, radians; −π/2 where there is no mask.
    pub fn at(&self, azimuth: f64) -> f64 {
        let (Some(&first), Some(&last)) = (self.points.first(), self.points.last()) else {
            return -core::f64::consts::FRAC_PI_2;
        };
        let turn = core::f64::consts::TAU;
        let azimuth = azimuth - turn * libm::floor(azimuth / turn);
        let index = self.points.partition_point(|point| point.0 <= azimuth);
        let left = if index == 0 { (last.0 - turn, last.1) } else { self.points[index - 1] };
        let right = self.points.get(index).copied().unwrap_or((first.0 + turn, first.1));
        left.1 + (right.1 - left.1) * (azimuth - left.0) / (right.0 - left.0)
    }

    /// The lowest and the highest point of the mask, radians.
    pub fn range(&self) -> (f64, f64) {
        let half = core::f64::consts::FRAC_PI_2;
        let start = if self.is_open() { (-half, -half) } else { (half, -half) };
        self.points.iter().fold(start, |(low, high), point| (low.min(point.1), high.max(point.1)))
    }

    /// The steepest slope, elevation per azimuth.
    pub(crate) fn slope_max(&self) -> f64 {
        let turn = core::f64::consts::TAU;
        let next = |index: usize| {
            let wraps = index + 1 == self.points.len();
            let point = self.points[if wraps { 0 } else { index + 1 }];
            (point.0 + if wraps { turn } else { 0.0 }, point.1)
        };
        let slope = |index: usize| {
            let (from, to) = (self.points[index], next(index));
            libm::fabs((to.1 - from.1) / (to.0 - from.0))
        };
        (0..self.points.len()).map(slope).fold(0.0, f64::max)
    }
}

/// A direction and distance from a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// From north through east, radians in 0..2π.
    pub azimuth: f64,
    /// Above the local horizontal, radians; geometric, without refraction.
    pub elevation: f64,
    /// Distance, metres.
    pub range_m: f64,
}

impl Stance {
    /// Direction and distance at which a point of the fixed frame is seen.
    pub fn look(&self, target: Vec3) -> Look {
        let line = target - self.position;
        let range_m = line.norm();
        // East is square to the axis. At a pole the vertical leans by the rounding of its cosine, so that the longitude
        // says where north is; on the axis itself it is that of longitude zero.
        let east = Vec3::new(-self.up.y, self.up.x, 0.0);
        let east = if east.norm_squared() > 0.0 { east.unit() } else { Vec3::new(0.0, 1.0, 0.0) };
        let north = self.up.cross(east);
        let azimuth = libm::atan2(line.dot(east), line.dot(north));
        // A hair west of north would round to a whole turn.
        let turn = core::f64::consts::TAU;
        let azimuth = if azimuth < 0.0 { azimuth + turn } else { azimuth };
        let azimuth = if azimuth < turn { azimuth } else { 0.0 };
        let upward = line.dot(self.up);
        let level = (range_m * range_m - upward * upward).max(0.0).sqrt();
        Look { azimuth, elevation: libm::atan2(upward, level), range_m }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn degrees(points: &[(f64, f64)]) -> Result<Horizon, HorizonError> {
        let points: Vec<_> =
            points.iter().map(|&(a, e)| (Angle::from_degrees(a), Angle::from_degrees(e))).collect();
        Horizon::new(&points)
    }

    #[test]
    fn at_a_pole_azimuth_counts_from_the_meridian_of_the_site() {
        // A satellite over 30 degrees east and north, and a site on a meridian: at the North Pole north leads on
        // to the other half of it, at the South Pole back along it.
        let satellite = Geodetic::new(30.0, 30.0, 20_000e3).to_fixed();
        for (latitude, longitude, azimuth) in [
            (90.0, 0.0, 150.0),
            (90.0, 30.0, 180.0),
            (90.0, 120.0, 270.0),
            (90.0, -90.0, 60.0),
            (-90.0, 0.0, 30.0),
            (-90.0, 30.0, 0.0),
            (-90.0, 120.0, 270.0),
            (-90.0, -90.0, 120.0),
        ] {
            let look = |latitude| {
                let place = SitePosition::Fixed(Geodetic::new(latitude, longitude, 0.0));
                place.at(Instant::START).look(satellite)
            };
            let off = |found: f64| {
                let off = found.to_degrees() - azimuth;
                (off - 360.0 * libm::round(off / 360.0)).abs()
            };
            assert!(off(look(latitude).azimuth) < 1e-6, "{latitude} {longitude}: {:?}", look(latitude));
            // As it is close by.
            assert!(off(look(latitude * 0.999_999_99).azimuth) < 1e-4);
        }
    }

    #[test]
    fn a_mask_runs_straight_between_its_points_and_round_the_north() {
        let mask = degrees(&[(90.0, 10.0), (270.0, 20.0)]).unwrap();
        let at = |azimuth: f64| mask.at(azimuth.to_radians()).to_degrees();
        for (azimuth, elevation) in
            [(90.0, 10.0), (180.0, 15.0), (270.0, 20.0), (0.0, 15.0), (360.0, 15.0), (45.0, 12.5)]
        {
            assert!((at(azimuth) - elevation).abs() < 1e-9, "{azimuth}");
        }
        assert!(degrees(&[(90.0, 0.0), (80.0, 0.0)]).is_err());
        assert!(degrees(&[(90.0, 91.0)]).is_err());
    }

    #[test]
    fn a_hair_west_of_north_is_north() {
        let stance = SitePosition::Fixed(Geodetic::new(10.0, 0.0, 0.0)).at(Instant::START);
        let north = stance.up.cross(Vec3::new(0.0, 1.0, 0.0)) * 1e6;
        let look = stance.look(stance.position + north - Vec3::new(0.0, 1e-12, 0.0));
        assert!((0.0..core::f64::consts::TAU).contains(&look.azimuth), "{}", look.azimuth);
    }

    proptest! {
        #[test]
        fn looking_finds_what_was_placed(
            lat in -89.0..89.0_f64, lon in -180.0..180.0_f64, az in 0.0..6.2_f64, el in -1.5..1.5_f64,
            range in 1e3..4e7_f64,
        ) {
            let stance = SitePosition::Fixed(Geodetic::new(lat, lon, 100.0)).at(Instant::START);
            let east = Vec3::new(-stance.up.y, stance.up.x, 0.0).unit();
            let north = stance.up.cross(east);
            let (sin_a, cos_a) = libm::sincos(az);
            let (sin_e, cos_e) = libm::sincos(el);
            let line = (north * cos_a + east * sin_a) * cos_e + stance.up * sin_e;
            let look = stance.look(stance.position + line * range);
            prop_assert!((look.azimuth - az).abs() < 1e-6 && (look.elevation - el).abs() < 1e-6);
            prop_assert!((look.range_m - range).abs() < 1e-6);
        }
    }
}
