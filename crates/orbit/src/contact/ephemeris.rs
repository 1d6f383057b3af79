//! Every satellite's way through a span, sampled once and read off as often as wished.

use core::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::Duration;

use super::quintic::{slope_weights, value_weights};
use crate::network::{ContactNetwork, NetworkError};
use crate::orbit::{MotionBounds, Orbit};
use crate::sgp4::PropagationFault;
use crate::utc::Utc;
use crate::vector::{State, Vec3};

/// Half a piece is this much of a radian of the fastest part of an orbit: the error is then below 2 mm in low
/// orbit.
const HALF_PIECE_RADIANS: f64 = 0.1;

/// The ways of all satellites of a network, in the fixed frame, over a span that begins at the network's
/// epoch.
pub(crate) struct Ephemeris {
    ways: Vec<Way>,
    nodes: Vec<State>,
    span: f64,
}

struct Way {
    first: usize,
    pieces: usize,
    /// Time between nodes, seconds, and its inverse.
    step: f64,
    per_step: f64,
    bounds: MotionBounds,
}

impl Ephemeris {
    /// Samples every satellite over a span up to some time of it, if nobody sets `stop` meanwhile. The states are those
    /// of the whole span.
    pub(crate) fn new(
        network: &ContactNetwork,
        (span, until): (Duration, Duration),
        stop: &AtomicBool,
    ) -> Result<Self, NetworkError> {
        let (seconds, end) = (span.as_secs_f64(), until.min(span).as_secs_f64());
        let mut ephemeris = Self { ways: Vec::new(), nodes: Vec::new(), span: end };
        for satellite in network.satellites() {
            if stop.load(Ordering::Relaxed) {
                return Err(NetworkError::Stopped);
            }
            let bounds = satellite.orbit.bounds();
            let pieces = pieces(&satellite.orbit, &bounds, seconds);
            let step = seconds / (2 * pieces) as f64;
            let first = ephemeris.nodes.len();
            let per_step = 1.0 / step;
            // The end itself is read in the last piece.
            let pieces = pieces.min(to_usize(end * per_step * 0.5) + 1);
            ephemeris.ways.push(Way { first, pieces, step, per_step, bounds });
            for node in 0..=2 * pieces {
                let date = network.epoch.after(Duration::from_secs_f64(step * node as f64));
                let state = node_state(&satellite.orbit, date).map_err(|fault| {
                    let (name, source) = satellite.orbit.source().unwrap_or((&satellite.name, &NO_SOURCE));
                    fault.of(name, source)
                })?;
                ephemeris.nodes.push(state);
            }
        }
        Ok(ephemeris)
    }

    /// The state of a satellite, seconds after the start of the span.
    #[inline]
    pub(crate) fn state(&self, satellite: usize, t: f64) -> State {
        let (nodes, u, way) = self.piece(satellite, t);
        let (values, slopes) = (value_weights(u), slope_weights(u));
        let weigh = |w: &[f64; 6], scale: f64| {
            let [a, b, c] = [&nodes[0], &nodes[1], &nodes[2]];
            a.position * w[0]
                + b.position * w[2]
                + c.position * w[4]
                + (a.velocity * w[1] + b.velocity * w[3] + c.velocity * w[5]) * scale
        };
        let position = weigh(&values, way.step);
        let velocity = weigh(&slopes, way.step) * way.per_step;
        State { position, velocity }
    }

    /// The position of a satellite, seconds after the start of the span.
    #[inline]
    pub(crate) fn position(&self, satellite: usize, t: f64) -> Vec3 {
        let (nodes, u, way) = self.piece(satellite, t);
        let w = value_weights(u);
        let [a, b, c] = [&nodes[0], &nodes[1], &nodes[2]];
        a.position * w[0]
            + b.position * w[2]
            + c.position * w[4]
            + (a.velocity * w[1] + b.velocity * w[3] + c.velocity * w[5]) * way.step
    }

    #[inline]
    fn piece(&self, satellite: usize, t: f64) -> (&[State], f64, &Way) {
        let way = &self.ways[satellite];
        let steps = t * way.per_step;
        let piece = to_usize(steps * 0.5).min(way.pieces - 1);
        let u = steps - (2 * piece + 1) as f64;
        let at = way.first + 2 * piece;
        (&self.nodes[at..at + 3], u, way)
    }

    pub(crate) fn bounds(&self, satellite: usize) -> &MotionBounds {
        &self.ways[satellite].bounds
    }

    /// The length of the span, seconds.
    pub(crate) fn span(&self) -> f64 {
        self.span
    }
}

/// Into how many pieces a way of some seconds is cut.
fn pieces(orbit: &Orbit, bounds: &MotionBounds, seconds: f64) -> usize {
    let longest = HALF_PIECE_RADIANS / bounds.angular_rate_max;
    let is_still = matches!(orbit, Orbit::Slot(_));
    if is_still { 1 } else { to_usize(libm::ceil(seconds / (2.0 * longest))).max(1) }
}

/// The states that the ways of a network's satellites over a span are kept by.
pub(crate) fn states_of(network: &ContactNetwork, span: Duration) -> usize {
    let seconds = span.as_secs_f64();
    let states = |orbit: &Orbit| 2_usize.saturating_mul(pieces(orbit, &orbit.bounds(), seconds));
    network.satellites().fold(0, |sum, satellite| sum.saturating_add(states(&satellite.orbit)))
}

/// The most of them: 5 GB.
pub(crate) const MOST_STATES: usize = 100_000_000;

/// A state whose velocity is the derivative of the positions. SGP4's own velocity is not, by up to a
/// centimetre per second: between nodes two minutes apart that would bend the way by some 15 cm, and move a
/// flat pass by milliseconds.
fn node_state(orbit: &Orbit, date: Utc) -> Result<State, PropagationFault> {
    let state = orbit.fixed(date)?;
    if !matches!(orbit, Orbit::ElementSet(..)) {
        return Ok(state);
    }
    let aside = |nanos: i64| Ok(orbit.fixed(Utc::from_nanos(date.as_nanos() + nanos))?.position);
    let difference = aside(ASIDE_NANOS)? - aside(-ASIDE_NANOS)?;
    Ok(State { velocity: difference * (0.5e9 / ASIDE_NANOS as f64), ..state })
}

/// A twentieth of a second: the third derivative then counts for 4 µm/s, rounding for as much.
const ASIDE_NANOS: i64 = 50_000_000;

static NO_SOURCE: crate::elements::ElementSource =
    crate::elements::ElementSource { file: String::new(), line: 0 };

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and times are positive"
)]
fn to_usize(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constellation::presets::Preset;

    #[test]
    fn a_part_has_the_states_of_the_whole() {
        let network = ContactNetwork::new(Utc::J2000, Preset::Iridium.build(Utc::J2000).unwrap());
        let [part, whole] = [1_000, 7_001].map(Duration::from_secs);
        let of = |until| Ephemeris::new(&network, (whole, until), &AtomicBool::new(false)).unwrap();
        let (part, whole) = (of(part), of(whole));
        assert_eq!(part.span(), 1_000.0);
        assert!(part.nodes.len() * 4 < whole.nodes.len());
        for satellite in 0..network.satellites().count() {
            for t in [0.0, 1.5, 999.0, 1_000.0] {
                assert_eq!(part.state(satellite, t), whole.state(satellite, t));
            }
        }
    }

    #[test]
    fn what_is_read_off_is_within_two_millimetres_of_the_orbit() {
        for preset in [Preset::Iridium, Preset::O3b, Preset::EuroSkyWay, Preset::Kuiper] {
            let network = ContactNetwork::new(Utc::J2000, preset.build(Utc::J2000).unwrap());
            let span = Duration::from_secs(7_000);
            let ephemeris = Ephemeris::new(&network, (span, span), &AtomicBool::new(false)).unwrap();
            for (index, satellite) in network.satellites().enumerate().step_by(37) {
                for k in 0..700_u64 {
                    let date = Utc::J2000.after(Duration::from_millis(k * 9_999));
                    let (read, exact) =
                        (ephemeris.state(index, k as f64 * 9.999), satellite.orbit.fixed(date).unwrap());
                    let error = (read.position - exact.position).norm();
                    assert!(error < 2e-3, "{preset} {index}: {error}");
                    assert!((read.velocity - exact.velocity).norm() < 2e-3);
                    assert!((ephemeris.position(index, k as f64 * 9.999) - read.position).norm() < 1e-6);
                }
            }
        }
    }
}
