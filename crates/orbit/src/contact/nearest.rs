//! Satellite among several that is nearest to one, over time: a lower envelope of distances, solved at its corners.

use super::ephemeris::Ephemeris;
use super::root::{Sample, first_positive};

/// One tenure of being nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tenure {
    pub(crate) satellite: usize,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// After a change, the search goes on this much later, seconds: equal distances must not be found again.
const STEP_OVER: f64 = 1e-5;

/// The nearest of `others` to `from` over the whole span, in order.
pub(crate) fn tenures(ephemeris: &Ephemeris, from: usize, others: &[usize]) -> Vec<Tenure> {
    let span = ephemeris.span();
    let mut found = Vec::new();
    let mut start = 0.0;
    let mut looked = 0.0;
    while let Some(current) = nearest_at(ephemeris, from, others, looked) {
        let mut end = span;
        for &other in others.iter().filter(|&&other| other != current) {
            let curvature = curvature(ephemeris, from, current, other);
            let closer = |t: f64| closer(ephemeris, from, current, other, t);
            if let Some(at) = first_positive(closer, curvature, (looked, end)) {
                end = end.min(at);
            }
        }
        found.push(Tenure { satellite: current, start, end });
        if end >= span {
            break;
        }
        start = end;
        looked = (end + STEP_OVER).min(span);
    }
    found
}

fn nearest_at(ephemeris: &Ephemeris, from: usize, others: &[usize], t: f64) -> Option<usize> {
    let here = ephemeris.position(from, t);
    let distance = |other: usize| (ephemeris.position(other, t) - here).norm_squared();
    others.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
}

/// Positive once `other` is nearer to `from` than `current` is.
fn closer(ephemeris: &Ephemeris, from: usize, current: usize, other: usize, t: f64) -> Sample {
    let here = ephemeris.state(from, t);
    let squared = |satellite: usize| {
        let state = ephemeris.state(satellite, t);
        let (line, motion) = (state.position - here.position, state.velocity - here.velocity);
        (line.norm_squared(), 2.0 * line.dot(motion))
    };
    let ((a, a_rate), (b, b_rate)) = (squared(current), squared(other));
    Sample { value: a - b, slope: a_rate - b_rate }
}

fn curvature(ephemeris: &Ephemeris, from: usize, current: usize, other: usize) -> f64 {
    let here = ephemeris.bounds(from);
    let of = |satellite: usize| {
        let bounds = ephemeris.bounds(satellite);
        let speed = here.speed_max + bounds.speed_max;
        let acceleration = here.acceleration_max + bounds.acceleration_max;
        2.0 * (speed * speed + (here.radius_max + bounds.radius_max) * acceleration)
    };
    (of(current) + of(other)).max(1e-9)
}
