//! The Earth: WGS-84 ellipsoid, gravity, rotation, and the way between its two frames.
//!
//! *Inertial* is TEME (true equator, mean equinox of date), the frame of SGP4. *Fixed* turns with the Earth:
//! x through Greenwich, z along the axis. A contact is worked out in the fixed frame, where a site stands
//! still.

use slantpath_base::Angle;

use crate::utc::Utc;
use crate::vector::{State, Vec3};

/// Speed of light in vacuum, m/s (exact).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;
/// Equatorial radius, metres (WGS-84).
pub const EQUATORIAL_RADIUS: f64 = 6_378_137.0;
/// Flattening of the ellipsoid (WGS-84).
pub const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Gravitational parameter of the Earth, m³/s² (WGS-84).
pub const GRAVITATION: f64 = 3.986_004_418e14;
/// Second zonal harmonic of the Earth's field (WGS-84, unnormalised).
pub const J2: f64 = 1.082_629_989_05e-3;
/// Rotation of the Earth against the stars, rad/s (WGS-84); the rate of GMST, so that a frame and its
/// derivative agree, is [`SIDEREAL_RATE`].
pub const ROTATION: f64 = 7.292_115_146_7e-5;
/// Rate of Greenwich mean sidereal time, rad/s: IAU 1982's first derivative at J2000. Over a century it moves
/// by 1e-15.
pub const SIDEREAL_RATE: f64 = 7.292_115_855_3e-5;

/// First eccentricity squared.
const E2: f64 = FLATTENING * (2.0 - FLATTENING);
/// Polar radius, metres.
pub const POLAR_RADIUS: f64 = EQUATORIAL_RADIUS * (1.0 - FLATTENING);

/// The mean radius of the Earth, metres (IUGG's R1): what great circles are measured on.
pub const MEAN_RADIUS: f64 = 6_371_008.8;

/// The length of the great circle between two points of the surface, metres: right to 0.6 %, for the Earth is
/// flattened.
pub fn great_circle_m(a: &Geodetic, b: &Geodetic) -> f64 {
    let (a, b) = (a.up(), b.up());
    MEAN_RADIUS * libm::atan2(a.cross(b).norm(), a.dot(b))
}

/// Angle below the horizontal at which the ground or the sea begins, seen from a height in metres, without air: of the
/// polar radius, where it falls away soonest.
pub fn horizon_dip(height_m: f64) -> Angle {
    Angle::from_radians(libm::acos(POLAR_RADIUS / (POLAR_RADIUS + height_m.max(0.0))))
}

/// A place by WGS-84 latitude, longitude and height above the ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geodetic {
    /// Geodetic latitude, north positive.
    pub latitude: Angle,
    /// Longitude, east positive.
    pub longitude: Angle,
    /// Height above the ellipsoid, metres.
    pub height_m: f64,
}

impl Geodetic {
    /// From degrees and metres.
    pub const fn new(latitude_deg: f64, longitude_deg: f64, height_m: f64) -> Self {
        Self {
            latitude: Angle::from_degrees(latitude_deg),
            longitude: Angle::from_degrees(longitude_deg),
            height_m,
        }
    }

    /// The direction of the local vertical in the fixed frame.
    pub fn up(self) -> Vec3 {
        let (sin_lat, cos_lat) = libm::sincos(self.latitude.as_radians());
        let (sin_lon, cos_lon) = libm::sincos(self.longitude.as_radians());
        Vec3::new(cos_lat * cos_lon, cos_lat * sin_lon, sin_lat)
    }

    /// The position in the fixed frame, metres.
    pub fn to_fixed(self) -> Vec3 {
        surface_point(self.up(), self.height_m)
    }

    /// The place of a position in the fixed frame (Bowring's method, repeated until it stands still: below a
    /// nanometre after three rounds from the surface to beyond GEO).
    pub fn from_fixed(position: Vec3) -> Self {
        let equatorial = libm::hypot(position.x, position.y);
        let longitude = libm::atan2(position.y, position.x);
        let mut reduced = libm::atan2(position.z, (1.0 - FLATTENING) * equatorial);
        let mut latitude = 0.0;
        for _ in 0..4 {
            let (sine, cosine) = libm::sincos(reduced);
            latitude = libm::atan2(
                position.z + E2 / (1.0 - E2) * POLAR_RADIUS * sine * sine * sine,
                equatorial - E2 * EQUATORIAL_RADIUS * cosine * cosine * cosine,
            );
            let (sine, cosine) = libm::sincos(latitude);
            reduced = libm::atan2((1.0 - FLATTENING) * sine, cosine);
        }
        let (sine, cosine) = libm::sincos(latitude);
        let normal = EQUATORIAL_RADIUS / libm::sqrt(1.0 - E2 * sine * sine);
        // Projecting on the vertical stays exact at the poles, where dividing by the cosine does not.
        let height_m = equatorial * cosine + position.z * sine - normal * (1.0 - E2 * sine * sine);
        Self { latitude: Angle::from_radians(latitude), longitude: Angle::from_radians(longitude), height_m }
    }
}

/// The point in the fixed frame at a height above where the ellipsoid's normal is `up`.
pub(crate) fn surface_point(up: Vec3, height_m: f64) -> Vec3 {
    let normal = EQUATORIAL_RADIUS / libm::sqrt(1.0 - E2 * up.z * up.z);
    Vec3::new((normal + height_m) * up.x, (normal + height_m) * up.y, (normal * (1.0 - E2) + height_m) * up.z)
}

/// A state of the inertial frame at `date` as seen from the fixed one.
pub fn inertial_to_fixed(state: State, date: Utc) -> State {
    let (sine, cosine) = libm::sincos(date.sidereal_time());
    turn_to_fixed(state, sine, cosine)
}

/// As [`inertial_to_fixed`], with the sine and cosine of the sidereal time already known.
#[inline]
pub(crate) fn turn_to_fixed(state: State, sine: f64, cosine: f64) -> State {
    let position = state.position.turned_about_z(-sine, cosine);
    let velocity = state.velocity.turned_about_z(-sine, cosine);
    let carried = Vec3::new(-SIDEREAL_RATE * position.y, SIDEREAL_RATE * position.x, 0.0);
    State { position, velocity: velocity - carried }
}

/// A position of the fixed frame at `date` as seen from the inertial one.
pub fn fixed_to_inertial(position: Vec3, date: Utc) -> Vec3 {
    let (sine, cosine) = libm::sincos(date.sidereal_time());
    position.turned_about_z(sine, cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Duration;

    #[test]
    fn the_sea_lies_deeper_the_higher_one_stands() {
        assert_eq!(horizon_dip(-50.0), Angle::ZERO);
        // The mariner's rule: 1.93 minutes of arc times the root of the height in metres.
        assert!((horizon_dip(10_000.0).as_degrees() - 1.93 / 60.0 * 100.0).abs() < 0.02);
    }

    #[test]
    fn the_poles_and_the_equator_are_where_the_ellipsoid_says() {
        assert!((Geodetic::new(90.0, 0.0, 0.0).to_fixed().z - 6_356_752.314_245).abs() < 1e-5);
        assert!((Geodetic::new(0.0, 90.0, 100.0).to_fixed().y - 6_378_237.0).abs() < 1e-9);
        let pole = Geodetic::from_fixed(Vec3::new(0.0, 0.0, -6_356_852.314_245_179));
        assert!((pole.height_m - 100.0).abs() < 1e-6 && (pole.latitude.as_degrees() + 90.0).abs() < 1e-9);
    }

    #[test]
    fn sidereal_rate_is_the_derivative_of_sidereal_time() {
        for text in ["2000-01-01T12:00:00Z", "2026-03-05T01:02:03Z"] {
            let date: Utc = text.parse().unwrap();
            let later = date.after(Duration::from_secs(600));
            let rate = (later.sidereal_time() - date.sidereal_time()) / 600.0;
            assert!((rate - SIDEREAL_RATE).abs() < 1e-13, "{rate}");
        }
    }

    proptest! {
        #[test]
        fn geodetic_round_trips(lat in -90.0..90.0_f64, lon in -180.0..180.0_f64, height in -1e3..4e7_f64) {
            let there = Geodetic::new(lat, lon, height).to_fixed();
            let back = Geodetic::from_fixed(there).to_fixed();
            prop_assert!((there - back).norm() < 1e-6);
        }

        #[test]
        fn frames_keep_distances(
            a in prop::array::uniform3(-4e7..4e7_f64), b in prop::array::uniform3(-4e7..4e7_f64),
            nanos in 0..900_000_000_000_000_000_i64,
        ) {
            let date = Utc::from_nanos(nanos);
            let [a, b] = [a, b].map(|v| Vec3::new(v[0], v[1], v[2]));
            let turn = |p| inertial_to_fixed(State { position: p, velocity: Vec3::ZERO }, date).position;
            let (here, there) = ((a - b).norm(), (turn(a) - turn(b)).norm());
            prop_assert!((here - there).abs() < 1e-7);
            prop_assert!((fixed_to_inertial(turn(a), date) - a).norm() < 1e-7);
        }

        #[test]
        fn fixed_velocity_is_the_derivative_of_fixed_position(
            p in prop::array::uniform3(-4e7..4e7_f64), v in prop::array::uniform3(-8e3..8e3_f64),
        ) {
            let date: Utc = "2025-06-01T00:00:00Z".parse().unwrap();
            let (p, v) = (Vec3::new(p[0], p[1], p[2]), Vec3::new(v[0], v[1], v[2]));
            let at = |seconds: f64| {
                let later = date.after(Duration::from_secs_f64(seconds));
                inertial_to_fixed(State { position: p + v * seconds, velocity: v }, later)
            };
            let slope = (at(2.0).position - at(0.0).position) * 0.5;
            prop_assert!((slope - at(1.0).velocity).norm() < 1e-3);
        }
    }
}
