//! `Angle`: radians inside, degrees in text.

use core::fmt;
use core::str::FromStr;

use crate::quantity::QuantityError;

/// A plane angle. Written `"8.2 deg"`, `"8.2°"` or `"-0.5 rad"`; it keeps its sign and does not wrap.
///
/// It is printed as the shortest decimal of degrees that reads as the same angle, in radians if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Angle(f64);

impl Angle {
    /// Angle of zero degrees.
    pub const ZERO: Self = Self(0.0);

    /// Angle of so many radians.
    pub const fn from_radians(radians: f64) -> Self {
        Self(radians)
    }

    /// Angle of so many degrees.
    pub const fn from_degrees(degrees: f64) -> Self {
        Self(degrees.to_radians())
    }

    /// Value in radians.
    pub const fn as_radians(self) -> f64 {
        self.0
    }

    /// Value in degrees.
    pub const fn as_degrees(self) -> f64 {
        self.0.to_degrees()
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_PLACES: usize = 15;
        let degrees = self.as_degrees();
        let reads_as_self = |text: &String| text.parse().map(Self::from_degrees) == Ok(*self);
        match (0..=MOST_PLACES).map(|places| format!("{degrees:.places$}")).find(reads_as_self) {
            Some(shortest) => write!(f, "{shortest} deg"),
            None => write!(f, "{} rad", self.0),
        }
    }
}

impl FromStr for Angle {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (what, example) = ("an angle", "8.2 deg");
        let trimmed = text.trim();
        let end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
        let value: f64 =
            number.parse().map_err(|_| QuantityError::NotANumber { text: text.to_owned(), what, example })?;
        let units = || "`deg`, `°`, `rad`".to_owned();
        if !value.is_finite() {
            return Err(QuantityError::NotANumber { text: text.to_owned(), what, example });
        }
        match unit {
            "deg" | "°" => Ok(Self::from_degrees(value)),
            "rad" => Ok(Self::from_radians(value)),
            "" => Err(QuantityError::NoUnit { text: text.to_owned(), what, example, units: units() }),
            other => Err(QuantityError::WrongUnit { unit: other.to_owned(), what, example, units: units() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_angle_is_printed_as_it_was_written() {
        for text in ["3 deg", "8.2 deg", "-33.45 deg", "0 deg", "359.9999 deg"] {
            assert_eq!(text.parse::<Angle>().unwrap().to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_as_the_same_angle(radians in -1e3..1e3_f64) {
            let angle = Angle::from_radians(radians);
            prop_assert_eq!(angle.to_string().parse(), Ok(angle));
        }
    }

    #[test]
    fn degrees_and_radians_read_alike() {
        let right: Angle = "90 deg".parse().unwrap();
        assert_eq!(right, "90°".parse().unwrap());
        assert!((right.as_radians() - core::f64::consts::FRAC_PI_2).abs() < 1e-15);
        assert!("90".parse::<Angle>().is_err());
        assert!("90 m".parse::<Angle>().is_err());
        assert!("deg".parse::<Angle>().is_err());
    }
}
