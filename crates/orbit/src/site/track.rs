//! A moving site: waypoints with times, great circles of the vertical between them.

use core::str::FromStr;

use slantpath_base::{Duration, Instant, QuantityError};

use super::Stance;
use crate::earth::{EQUATORIAL_RADIUS, Geodetic, surface_point};
use crate::vector::Vec3;

/// One point of a journey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Instant at which it is passed.
    pub at: Instant,
    /// Place of the waypoint.
    pub point: Geodetic,
}

/// A journey. Before the first waypoint and after the last the site stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    waypoints: Vec<Waypoint>,
    /// Time of the journey that has elapsed when the network starts.
    begin: Duration,
}

/// A track that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrackError {
    /// A time that does not rise.
    #[error("{file}:{line}: waypoint at {at} is not after the one before it: sort the track by time")]
    Order {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Time of the waypoint.
        at: Instant,
    },
    /// File without a waypoint.
    #[error("{0}: the track has no waypoint: write lines of `time, latitude, longitude, height`")]
    Empty(String),
    /// A line that is not four fields.
    #[error(
        "{file}:{line}: `{text}` is no waypoint: write `time, latitude deg, longitude deg, \
         height m`, as in `90 s, 51.5, -0.1, 10000`"
    )]
    Fields {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// A time without unit or sense.
    #[error("{file}:{line}: {error}")]
    Time {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Fault of the time.
        error: QuantityError,
    },
    /// A height that no site has.
    #[error(
        "{file}:{line}: no site is at {height_m} m: give the height above the ellipsoid in metres, up to 50 km"
    )]
    Height {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Height that was given, metres.
        height_m: f64,
    },
    /// A way that nothing below orbit goes so fast.
    #[error(
        "{file}:{line}: the site comes here at {kilometres_per_s:.1} km/s, faster than anything below orbit: look at \
         the unit of the time"
    )]
    Speed {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Speed to the waypoint from the one before.
        kilometres_per_s: f64,
    },
    /// Two waypoints that are antipodes: no one way leads from one to the other.
    #[error("{file}:{line}: the waypoint is opposite the one before it on the globe: put one between them")]
    Antipodes {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
    },
}

impl Track {
    /// Reads a track file: lines `time, latitude, longitude, height`, `#` for comments, and a first line of
    /// headings if it holds no digit.
    pub fn read(text: &str, file: &str) -> Result<Self, TrackError> {
        let mut waypoints: Vec<Waypoint> = Vec::new();
        let mut is_first = true;
        for (index, row) in text.lines().enumerate() {
            let (line, row) = (index + 1, row.trim());
            if row.is_empty() || row.starts_with('#') {
                continue;
            }
            let is_heading = is_first && !row.contains(|letter: char| letter.is_ascii_digit());
            is_first = false;
            if is_heading {
                continue;
            }
            let waypoint = waypoint(row, file, line)?;
            if let Some(before) = waypoints.last() {
                if waypoint.at <= before.at {
                    return Err(TrackError::Order { file: file.to_owned(), line, at: waypoint.at });
                }
                if before.point.up().dot(waypoint.point.up()) < -0.999_999 {
                    return Err(TrackError::Antipodes { file: file.to_owned(), line });
                }
                let speed = speed(before, &waypoint);
                if speed > SPEED_MAX {
                    let kilometres_per_s = speed / 1e3;
                    return Err(TrackError::Speed { file: file.to_owned(), line, kilometres_per_s });
                }
            }
            waypoints.push(waypoint);
        }
        if waypoints.is_empty() {
            Err(TrackError::Empty(file.to_owned()))
        } else {
            Ok(Self { waypoints, begin: Duration::ZERO })
        }
    }

    /// The waypoints, in order of time, from the start of the journey.
    pub fn waypoints(&self) -> &[Waypoint] {
        &self.waypoints
    }

    pub(super) fn corners(&self) -> Vec<Instant> {
        let start = Instant::START + self.begin;
        let ahead = self.waypoints.iter().filter(|waypoint| waypoint.at >= start);
        ahead.map(|waypoint| Instant::START + (waypoint.at - start)).collect()
    }

    pub(super) fn speed_max(&self) -> f64 {
        self.waypoints.windows(2).map(|pair| speed(&pair[0], &pair[1])).fold(0.0, f64::max)
    }

    /// Journey of which this much more lies behind at the start.
    pub(super) fn after(&self, time: Duration) -> Self {
        Self { begin: self.begin.saturating_add(time), ..self.clone() }
    }

    pub(super) fn at(&self, now: Instant) -> Stance {
        let now = now + self.begin;
        let index = self.waypoints.partition_point(|waypoint| waypoint.at <= now);
        if index == 0 || index == self.waypoints.len() {
            let point = self.waypoints[index.saturating_sub(1)].point;
            let up = point.up();
            let position = surface_point(up, point.height_m);
            return Stance { position, velocity: Vec3::ZERO, up, up_rate: Vec3::ZERO };
        }
        let (from, to) = (self.waypoints[index - 1], self.waypoints[index]);
        let seconds = (to.at - from.at).as_secs_f64();
        let elapsed = (now - from.at).as_secs_f64();
        let leg = Leg { from: from.point, to: to.point, seconds };
        leg.stance(elapsed)
    }
}

/// The greatest speed between two waypoints, m/s.
fn speed(from: &Waypoint, to: &Waypoint) -> f64 {
    let (seconds, angle) = ((to.at - from.at).as_secs_f64(), angle_between(from.point.up(), to.point.up()));
    let over_ground = angle * (EQUATORIAL_RADIUS * 1.01 + from.point.height_m.max(to.point.height_m));
    (over_ground + libm::fabs(to.point.height_m - from.point.height_m)) / seconds
}

/// The fastest journey, m/s: nothing below orbit is faster, and a unit of time that slipped is.
const SPEED_MAX: f64 = 8e3;
/// The highest point of a journey, metres: sights are worked out for sites below it.
const HEIGHT_MAX: f64 = 50e3;

struct Leg {
    from: Geodetic,
    to: Geodetic,
    seconds: f64,
}

impl Leg {
    fn vertical(&self, elapsed: f64) -> (Vec3, Vec3) {
        let (a, b) = (self.from.up(), self.to.up());
        let angle = angle_between(a, b);
        if angle < 1e-12 {
            return (a, Vec3::ZERO);
        }
        let side = (b - a * libm::cos(angle)) * (1.0 / libm::sin(angle));
        let rate = angle / self.seconds;
        let (sine, cosine) = libm::sincos(rate * elapsed);
        (a * cosine + side * sine, (side * cosine - a * sine) * rate)
    }

    fn stance(&self, elapsed: f64) -> Stance {
        let (up, up_rate) = self.vertical(elapsed);
        let climb = (self.to.height_m - self.from.height_m) / self.seconds;
        let height = self.from.height_m + climb * elapsed;
        let position = surface_point(up, height);
        // The ellipsoid's point moves smoothly with the vertical: a central difference of half a metre is
        // exact enough (1e-9 of the speed), and simpler than the derivative of the normal's length.
        let step = 0.5 / (up_rate.norm() * EQUATORIAL_RADIUS).max(1e-3);
        let (ahead, behind) = (up + up_rate * step, up - up_rate * step);
        let along =
            (surface_point(ahead.unit(), height) - surface_point(behind.unit(), height)) * (0.5 / step);
        Stance { position, velocity: along + up * climb, up, up_rate }
    }
}

fn angle_between(a: Vec3, b: Vec3) -> f64 {
    libm::atan2(a.cross(b).norm(), a.dot(b))
}

fn waypoint(row: &str, file: &str, line: usize) -> Result<Waypoint, TrackError> {
    let fields = || TrackError::Fields { file: file.to_owned(), line, text: row.to_owned() };
    let mut parts = row.split(',').map(str::trim);
    let mut next = || parts.next().ok_or_else(fields);
    let time = Duration::from_str(next()?).map_err(|error| TrackError::Time {
        file: file.to_owned(),
        line,
        error,
    })?;
    let mut number = |limit: f64| {
        let value = next()?.parse::<f64>().map_err(|_| fields())?;
        if libm::fabs(value) <= limit { Ok(value) } else { Err(fields()) }
    };
    let point = Geodetic::new(number(90.0)?, number(360.0)?, number(f64::MAX)?);
    if !(-1e3..=HEIGHT_MAX).contains(&point.height_m) {
        return Err(TrackError::Height { file: file.to_owned(), line, height_m: point.height_m });
    }
    match parts.next() {
        None => Ok(Waypoint { at: Instant::START + time, point }),
        Some(_) => Err(fields()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLIGHT: &str = "time, latitude, longitude, height\n# over the date line\n\
        0 s, 50, 170, 10000\n3600 s, 52, -178, 11000\n2 h, 50, -170, 0\n";

    #[test]
    fn a_flight_takes_the_short_way_over_the_date_line() {
        let track = Track::read(FLIGHT, "flight.csv").unwrap();
        let middle = Geodetic::from_fixed(track.at(Instant::from_secs(1_800)).position);
        assert!((middle.height_m - 10_500.0).abs() < 1.0);
        assert!((middle.longitude.as_degrees() - 175.9).abs() < 0.5, "{middle:?}");
        assert!(track.speed_max() > 200.0 && track.speed_max() < 300.0);
        assert_eq!(track.at(Instant::from_secs(9_000)).velocity, Vec3::ZERO);
    }

    #[test]
    fn a_broken_track_names_file_line_and_cure() {
        let error = |text: &str| Track::read(text, "t.csv").unwrap_err().to_string();
        assert!(error("0 s, 1, 2").starts_with("t.csv:1: `0 s, 1, 2` is no waypoint"));
        assert!(error("0, 1, 2, 3").starts_with("t.csv:1: "));
        assert!(error("5 s, 1, 2, 3\n5 s, 1, 2, 3").contains("sort the track"));
        assert!(error("0 s, 91, 2, 3").contains("no waypoint"));
        assert!(error("0 s, 0, 0, 0\n9 s, 0, 180, 0").contains("opposite"));
        assert!(error("\n").contains("no waypoint"));
        // Only one line of headings may come first, and it has no numbers.
        assert!(error("-5 s, 51.5, -0.1, 0\n10 s, 1, 2, 3").starts_with("t.csv:1: "));
        assert!(error("oops s, 51.5, -0.1, 0\n10 s, 1, 2, 3").starts_with("t.csv:1: "));
        assert!(error("time, lat, lon, height\nthen, a, b, c\n10 s, 1, 2, 3").starts_with("t.csv:2: "));
        assert!(error("0 s, 1, 2, 60000").contains("50 km"));
        assert!(error("0 s, 51.5, -0.1, 0\n1 s, 42.3, -71.1, 0").contains("faster than"));
    }

    proptest! {
        #[test]
        fn reading_any_text_is_total(text in "[0-9a-z,. \n#-]{0,80}") {
            let _ = Track::read(&text, "t");
        }

        #[test]
        fn velocity_is_the_derivative_of_position(second in 1..3_500_u64) {
            let track = Track::read(FLIGHT, "flight.csv").unwrap();
            let at = |ms| track.at(Instant::from_millis(ms));
            let (before, now, after) = (at(second * 1_000 - 100), at(second * 1_000), at(second * 1_000 + 100));
            let slope = (after.position - before.position) * 5.0;
            prop_assert!((slope - now.velocity).norm() < 1e-3, "{slope:?} {now:?}");
            let turning = (after.up - before.up) * 5.0;
            prop_assert!((turning - now.up_rate).norm() < 1e-9);
            prop_assert!(now.velocity.norm() <= track.speed_max());
        }
    }
}
