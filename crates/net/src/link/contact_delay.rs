//! The delay of a contact: polynomials over stretches of time, as somebody has laid them over the distance between two
//! bodies that move.

use slantpath_base::{Duration, Instant};

/// The delay over one stretch of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayPiece {
    /// Until when it holds.
    pub end: Instant,
    /// The instant at which `u` is 0.
    pub centre: Instant,
    /// Growth of `u` in a nanosecond. Beyond -1 and 1 the delay stays what it is there.
    pub per_nano: f64,
    /// Coefficients of u⁰ to u⁵, in nanoseconds of delay.
    pub coefficients: [f64; 6],
}

impl DelayPiece {
    /// The delay at an instant, to the nearest nanosecond.
    #[inline]
    fn at(&self, instant: Instant) -> Duration {
        // As a signed number, which processors make a float of in one step.
        let offset = instant.as_nanos().wrapping_sub(self.centre.as_nanos()).cast_signed() as f64;
        let u = (offset * self.per_nano).clamp(-1.0, 1.0);
        let nanos = self.coefficients.into_iter().rev().fold(0.0, |sum, coefficient| sum * u + coefficient);
        #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
        Duration::from_nanos(((nanos + 0.5) as i64).max(0).cast_unsigned())
    }
}

/// The delays of a contact, and where packets are on them. What leaves within a contact keeps its order without more:
/// no two bodies come nearer to each other at anything like the speed of light.
///
/// The piece of the last departure stands here itself, in two cache lines that processors fetch together: a hop over
/// one of thousands of links finds neither in its cache, and waits once.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct ContactDelay {
    /// The piece of the last departure: departures mostly rise.
    piece: DelayPiece,
    /// From when on it holds.
    from: Instant,
    /// Until when: the last one does for good.
    until: Instant,
    /// All of them.
    pieces: Vec<DelayPiece>,
}

impl Default for ContactDelay {
    fn default() -> Self {
        Self { piece: DelayPiece::NONE, from: Instant::FAR_FUTURE, until: Instant::START, pieces: Vec::new() }
    }
}

impl DelayPiece {
    /// Piece that has no delay.
    const NONE: Self =
        Self { end: Instant::START, centre: Instant::START, per_nano: 0.0, coefficients: [0.0; 6] };
}

impl ContactDelay {
    /// Takes the pieces of another contact, in the order of their ends, into the same memory.
    pub(crate) fn replace(&mut self, pieces: impl Iterator<Item = DelayPiece>) {
        self.pieces.clear();
        self.pieces.extend(pieces);
        // None is at hand.
        (self.from, self.until) = (Instant::FAR_FUTURE, Instant::START);
    }

    /// Instant at which a packet arrives that leaves at `departure`.
    #[inline]
    pub(crate) fn arrival(&mut self, departure: Instant) -> Instant {
        if departure < self.from || departure >= self.until {
            if departure == Instant::FAR_FUTURE {
                // It waits for a contact, and will be sent anew.
                return departure;
            }
            self.find(departure);
        }
        departure.saturating_add(self.piece.at(departure))
    }

    /// Takes the piece of a departure to hand.
    #[cold]
    fn find(&mut self, departure: Instant) {
        let place = self.pieces.partition_point(|piece| piece.end <= departure);
        let place = place.min(self.pieces.len().saturating_sub(1));
        self.piece = self.pieces.get(place).copied().unwrap_or(DelayPiece::NONE);
        self.from = if place == 0 { Instant::START } else { self.pieces[place - 1].end };
        let is_last = place + 1 >= self.pieces.len();
        self.until = if is_last { Instant::FAR_FUTURE } else { self.piece.end };
    }

    /// The delay of what leaves at an instant.
    pub(crate) fn delay_at(&self, departure: Instant) -> Duration {
        let piece = self.pieces.partition_point(|piece| piece.end <= departure);
        let piece = self.pieces.get(piece).or(self.pieces.last());
        piece.map_or(Duration::ZERO, |piece| piece.at(departure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a second each: 1 ms + u · 100 µs, and the same from there back.
    fn there_and_back() -> ContactDelay {
        let piece = |end: u64, slope: f64| DelayPiece {
            end: Instant::from_millis(end),
            centre: Instant::from_millis(end - 500),
            per_nano: 2e-9,
            coefficients: [1e6, slope, 0.0, 0.0, 0.0, 0.0],
        };
        let mut delay = ContactDelay::default();
        delay.replace([piece(1_000, 1e5), piece(2_000, -1e5)].into_iter());
        delay
    }

    #[test]
    fn a_delay_is_that_of_the_departure_whatever_was_asked_before() {
        let mut delay = there_and_back();
        let asked = [0, 250, 1_000, 1_250, 250, 2_500, 999].map(|at| {
            let departure = Instant::from_millis(at);
            let arrival = delay.arrival(departure);
            assert_eq!(arrival - departure, delay.delay_at(departure));
            (arrival - departure).as_nanos()
        });
        assert_eq!(asked, [900_000, 950_000, 1_100_000, 1_050_000, 950_000, 900_000, 1_099_800]);
    }

    #[test]
    fn what_waits_for_a_contact_has_no_arrival() {
        let mut delay = there_and_back();
        assert_eq!(delay.arrival(Instant::FAR_FUTURE), Instant::FAR_FUTURE);
        assert_eq!(delay.arrival(Instant::from_millis(2_500)), Instant::from_nanos(2_500_900_000));
        assert_eq!(delay.arrival(Instant::FAR_FUTURE), Instant::FAR_FUTURE);
    }

    #[test]
    fn another_contact_has_its_own_delays_from_its_first_departure_on() {
        let mut delay = there_and_back();
        assert_eq!(delay.arrival(Instant::from_millis(250)), Instant::from_nanos(250_950_000));
        let other = DelayPiece {
            end: Instant::from_millis(1_000),
            centre: Instant::from_millis(500),
            per_nano: 2e-9,
            coefficients: [3e6, 0.0, 0.0, 0.0, 0.0, 0.0],
        };
        delay.replace([other].into_iter());
        assert_eq!(delay.arrival(Instant::from_millis(250)), Instant::from_millis(253));
        delay.replace(core::iter::empty());
        assert_eq!(delay.arrival(Instant::from_millis(250)), Instant::from_millis(250));
    }

    #[test]
    fn what_a_hop_reads_lies_in_two_lines_of_a_cache() {
        assert_eq!(size_of::<ContactDelay>(), 128);
    }

    #[test]
    fn every_power_of_u_counts() {
        let coefficients = [1e6, 1e5, 2e4, 3e3, 4e2, 5e1];
        let centre = Instant::from_millis(500);
        let piece = DelayPiece { end: Instant::from_millis(1_000), centre, per_nano: 2e-9, coefficients };
        // At u = 0.5 and u = -1.
        let expected = 1e6 + 5e4 + 5e3 + 375.0 + 25.0 + 1.5625;
        assert_eq!(piece.at(Instant::from_millis(750)).as_nanos() as f64, f64::round(expected));
        assert_eq!(piece.at(Instant::from_millis(0)).as_nanos(), 917_350);
    }
}
