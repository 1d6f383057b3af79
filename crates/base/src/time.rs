//! `Instant` and `Duration`: 64-bit nanoseconds, 584 years of run time.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::quantity::{QuantityError, Unit, parse_quantity};

const UNITS: &[Unit] = &[
    Unit { name: "ns", scale: 1 },
    Unit { name: "us", scale: 1_000 },
    Unit { name: "µs", scale: 1_000 },
    Unit { name: "ms", scale: 1_000_000 },
    Unit { name: "s", scale: 1_000_000_000 },
    Unit { name: "min", scale: 60_000_000_000 },
    Unit { name: "h", scale: 3_600_000_000_000 },
    Unit { name: "d", scale: 86_400_000_000_000 },
];

/// A length of time in whole nanoseconds. Written `"250 ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length that can be expressed, about 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// From whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// From seconds as a float, to the nearest nanosecond; negative and not-a-number give zero, too large
    /// gives [`Duration::MAX`]. For results of statistics and orbits, never for protocol arithmetic.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(libm::round(secs * 1e9) as u64)
    }

    /// Time in whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds, for statistics and print.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds, for statistics and print.
    pub fn as_millis_f64(self) -> f64 {
        self.as_secs_f64() * 1e3
    }

    /// Tells if the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or [`Duration::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, or [`Duration::MAX`].
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// The distance between two lengths, whichever is larger.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("a duration overflows 584 years"))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a duration is negative"))
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0.checked_mul(factor).expect("a duration overflows 584 years"))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Duration {
    /// The shortest exact text with one unit: `250 ms`, `1.5 s`, `0 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            0 => (1_000_000_000, "s"),
            n if n < 1_000 => (1, "ns"),
            n if n < 1_000_000 => (1_000, "us"),
            n if n < 1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        crate::quantity::write_scaled(f, self.0, scale)?;
        write!(f, " {unit}")
    }
}

impl FromStr for Duration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_quantity(text, "a time", "250 ms", UNITS).map(Self)
    }
}

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run.
    pub const START: Self = Self(0);
    /// Later than everything: the deadline of what waits for nothing.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// From whole nanoseconds since the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From whole milliseconds since the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From whole seconds since the start.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Whole nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time since the start.
    pub const fn since_start(self) -> Duration {
        Duration(self.0)
    }

    /// Time since an earlier instant; zero if `earlier` is in fact later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant that much later, or [`Instant::FAR_FUTURE`].
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(self.0.checked_add(duration.0).expect("an instant overflows 584 years"))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.checked_sub(duration.0).expect("an instant before the start"))
    }
}

impl Sub for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0.checked_sub(earlier.0).expect("time runs backwards"))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_exact() {
        assert_eq!("250 ms".parse(), Ok(Duration::from_millis(250)));
        assert_eq!("250ms".parse(), Ok(Duration::from_millis(250)));
        assert_eq!("1.5 us".parse(), Ok(Duration::from_nanos(1_500)));
        // The sign for micro, and the Greek letter.
        assert_eq!("1.5 \u{b5}s".parse(), Ok(Duration::from_nanos(1_500)));
        assert_eq!("1.5 \u{3bc}s".parse(), Ok(Duration::from_nanos(1_500)));
        assert!("1.5 \u{3bc}".parse::<Duration>().is_err() && "1.5 \u{3bc}ms".parse::<Duration>().is_err());
        assert_eq!("0.1 s".parse(), Ok(Duration::from_millis(100)));
        assert_eq!("2 h".parse(), Ok(Duration::from_secs(7_200)));
    }

    #[test]
    fn what_a_nanosecond_cannot_hold_is_refused() {
        for text in ["0.5 ns", "-1 ms", "1", "ms", "1 parsec", "", "1e3 ms", "1 0 ms", "99999999 d", "٣ s"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(nanos: u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }
    }
}
