//! The most that values of a topology may be, each with its reason. A bound is wide: it keeps out what nobody can mean
//! or wait for; [`mod@crate::check`] says what makes sense together.

use slantpath_base::{Angle, Duration, Length};
use slantpath_reader::AtMost;
pub use slantpath_reader::bounds::{DELAY, RUN};

use crate::schema::PhasingMost;

const DAY: Duration = Duration::from_secs(86_400);

/// A handover, and the grid of times at which handovers begin.
pub const HANDOVER: AtMost<Duration> = AtMost::new(DAY, "no terminal waits a day for its next satellite");
/// Satellites of a shell.
pub const SATELLITES: AtMost<u32> = AtMost::new(100_000, "no constellation is larger");
/// Antennas that a satellite serves.
pub const BEAMS: AtMost<u32> = AtMost::new(1_000_000, "no satellite has more beams");
/// A satellite's number in a catalogue.
pub const CATALOGUE: AtMost<u32> = AtMost::new(999_999_999, "catalogues have nine digits");
/// An angle of whatever sign.
pub const ANGLE: AtMost<Angle> = AtMost::new(Angle::from_degrees(360.0), "that is a full turn");
/// Phase by which neighbouring planes are out of step.
pub const PHASING: AtMost<PhasingMost> = AtMost::new(
    PhasingMost { walker: 100_000, angle: Angle::from_degrees(360.0) },
    "Walker's F is less than the planes, and an angle at most a full turn",
);
/// A height or a distance.
pub const LENGTH: AtMost<Length> =
    AtMost::new(Length::from_kilometres(1_000_000.0), "farther out the Earth holds no satellite");
/// Turns of a satellite in a day.
pub const TURNS: AtMost<f64> = AtMost::new(100.0, "a satellite at the ground makes 17");
/// Distance in time of element sets from their epoch, and length of a topology.
pub const AGE: AtMost<Duration> =
    AtMost::new(Duration::from_secs(36_525 * 86_400), "in a century nothing of an orbit is left");
