//! Delay as a function of time: pieces of the fifth degree, right to 0.1 µs, evaluated in nanoseconds of real
//! time.

use slantpath_base::{Duration, Instant};

use super::quintic::coefficients;
use crate::earth::SPEED_OF_LIGHT;

/// A piece is halved until it is right to this, seconds of delay: a tenth of the 1 µs that the plan promises.
const TOLERANCE: f64 = 5e-8;
/// The first piece tried, seconds.
const FIRST_PIECE: f64 = 120.0;

/// One polynomial over a stretch of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// End of the piece, nanoseconds.
    end: u64,
    /// Middle of the piece, nanoseconds.
    centre: u64,
    /// Inverse of half its length, per nanosecond.
    per_nano: f64,
    /// Coefficients of u⁰ to u⁵, nanoseconds of delay.
    c: [f64; 6],
}

/// The delay over a part of a contact, for those who evaluate it elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// Until when it holds.
    pub end: Instant,
    /// Instant at which its variable `u` is 0.
    pub centre: Instant,
    /// Growth of `u` in a nanosecond; it lies between -1 and 1.
    pub per_nano: f64,
    /// Coefficients of u⁰ to u⁵, nanoseconds of delay.
    pub coefficients: [f64; 6],
}

/// The delay of one contact over its life: a view into a plan.
#[derive(Clone, Copy, Debug)]
pub struct ContactDelayCurve<'p> {
    pieces: &'p [Piece],
}

impl<'p> ContactDelayCurve<'p> {
    pub(crate) const fn new(pieces: &'p [Piece]) -> Self {
        Self { pieces }
    }

    /// The one-way delay at an instant of the contact; before and after, that at its ends.
    #[inline]
    pub fn at(&self, now: Instant) -> Duration {
        Duration::from_secs_f64(self.nanos_at(now) * 1e-9)
    }

    /// As [`Self::at`], in nanoseconds with their fraction.
    #[inline]
    pub fn nanos_at(&self, now: Instant) -> f64 {
        let nanos = now.as_nanos();
        let index = self.pieces.partition_point(|piece| piece.end <= nanos);
        self.pieces[index.min(self.pieces.len() - 1)].nanos_at(nanos)
    }

    /// As [`Self::nanos_at`] for times that mostly run forwards: `piece` is where the last one was found, and is
    /// moved to where this one is.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a contact has below four thousand million pieces")]
    pub(crate) fn nanos_onwards(&self, now: Instant, piece: &mut u32) -> f64 {
        let nanos = now.as_nanos();
        let mut index = *piece as usize;
        if index > 0 && self.pieces[index - 1].end > nanos {
            index = 0;
        }
        while index + 1 < self.pieces.len() && self.pieces[index].end <= nanos {
            index += 1;
        }
        *piece = index as u32;
        self.pieces[index].nanos_at(nanos)
    }

    /// The polynomials that it consists of, in the order of time.
    pub fn polynomials(&self) -> impl Iterator<Item = Polynomial> + use<'p> {
        self.pieces.iter().map(|piece| Polynomial {
            end: Instant::from_nanos(piece.end),
            centre: Instant::from_nanos(piece.centre),
            per_nano: piece.per_nano,
            coefficients: piece.c,
        })
    }

    /// Tells if two curves have the same polynomials up to an instant.
    pub(crate) fn agrees_with(&self, other: ContactDelayCurve<'_>, until: Instant) -> bool {
        let upto = |pieces: &[Piece]| {
            let count = pieces.partition_point(|piece| piece.end <= until.as_nanos());
            (count + 1).min(pieces.len())
        };
        let (own, others) = (upto(self.pieces), upto(other.pieces));
        self.pieces[..own] == other.pieces[..others]
    }

    /// Number of polynomials of the curve.
    pub fn piece_count(&self) -> usize {
        self.pieces.len()
    }
}

impl Piece {
    #[inline]
    fn nanos_at(&self, nanos: u64) -> f64 {
        let offset =
            if nanos >= self.centre { (nanos - self.centre) as f64 } else { -((self.centre - nanos) as f64) };
        let u = (offset * self.per_nano).clamp(-1.0, 1.0);
        let [a, b, c, d, e, f] = self.c;
        a + u * (b + u * (c + u * (d + u * (e + u * f))))
    }
}

/// Lays pieces over a contact. `range` gives distance (m) and its rate (m/s) at a time in seconds.
pub(crate) fn fit(range: impl Fn(f64) -> (f64, f64), (start, end): (f64, f64), pieces: &mut Vec<Piece>) {
    let mut here = start;
    let mut length = FIRST_PIECE;
    while here < end {
        length = length.min(end - here);
        let (piece, error) = fit_one(&range, here, length);
        if error > TOLERANCE && length > 0.1 {
            length *= 0.5;
            continue;
        }
        pieces.push(piece);
        here = if end - (here + length) < 1e-9 { end } else { here + length };
        if error < TOLERANCE / 128.0 {
            length *= 2.0;
        }
    }
}

fn fit_one(range: &impl Fn(f64) -> (f64, f64), start: f64, length: f64) -> (Piece, f64) {
    let half = 0.5 * length;
    let at = |u: f64| {
        let (metres, rate) = range(start + half * (1.0 + u));
        (metres / SPEED_OF_LIGHT, rate * half / SPEED_OF_LIGHT)
    };
    let nodes = [-1.0, 0.0, 1.0].map(at);
    let c = coefficients(nodes.map(|node| node.0), nodes.map(|node| node.1));
    // The remainder is largest where u (u² − 1) is: at ±1/√3.
    let error = |u: f64| {
        let fitted = c.iter().rev().fold(0.0, |sum, c| sum * u + c);
        libm::fabs(fitted - at(u).0)
    };
    let worst = error(-0.577_350_27).max(error(0.577_350_27));
    let nanos = |seconds: f64| Duration::from_secs_f64(seconds).as_nanos();
    let piece = Piece {
        end: nanos(start + length),
        centre: nanos(start + half),
        per_nano: 1e-9 / half,
        c: c.map(|c| c * 1e9),
    };
    (piece, worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_fly_past_is_followed_within_a_tenth_of_a_microsecond(
            closest in 3e5..2e6_f64, speed in 1e3..1.5e4_f64, middle in 0.0..600.0_f64, length in 0.01..900.0_f64,
        ) {
            let range = |t: f64| {
                let along = speed * (t - middle);
                let metres = libm::hypot(closest, along);
                (metres, speed * along / metres)
            };
            let mut pieces = Vec::new();
            fit(range, (0.0, length), &mut pieces);
            let curve = ContactDelayCurve::new(&pieces);
            for k in 0..=500 {
                let t = length * f64::from(k) / 500.0;
                let now = Instant::START + Duration::from_secs_f64(t);
                let exact = range(now.since_start().as_secs_f64().min(length)).0 / SPEED_OF_LIGHT * 1e9;
                prop_assert!((curve.nanos_at(now) - exact).abs() < 120.0, "{} {exact}", curve.nanos_at(now));
            }
            prop_assert!(pieces.len() < 60, "{}", pieces.len());
        }
    }
}
