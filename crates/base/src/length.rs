//! `Length`: metres inside, metres or kilometres in text.

use core::fmt;
use core::str::FromStr;

use crate::quantity::QuantityError;

/// A length, a height or a distance. Written `"780 km"`, `"24 m"` or `"-430.5 m"`; it keeps its sign.
///
/// It is printed as the shortest decimal that reads as the same length, in kilometres from 10 km on.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Length(f64);

impl Length {
    /// Length of zero metres.
    pub const ZERO: Self = Self(0.0);

    /// Length of so many metres.
    pub const fn from_metres(metres: f64) -> Self {
        Self(metres)
    }

    /// Length of so many kilometres.
    pub const fn from_kilometres(kilometres: f64) -> Self {
        Self(kilometres * 1e3)
    }

    /// Value in metres.
    pub const fn as_metres(self) -> f64 {
        self.0
    }

    /// Value in kilometres.
    pub const fn as_kilometres(self) -> f64 {
        self.0 / 1e3
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_kilometres = format!("{} km", self.as_kilometres());
        if self.0.abs() >= 10e3 && in_kilometres.parse() == Ok(*self) {
            f.write_str(&in_kilometres)
        } else {
            write!(f, "{} m", self.0)
        }
    }
}

impl FromStr for Length {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (what, example) = ("a length", "780 km");
        let trimmed = text.trim();
        let end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
        let not_a_number = || QuantityError::NotANumber { text: text.to_owned(), what, example };
        let value: f64 = number.parse().map_err(|_| not_a_number())?;
        let units = || "`m`, `km`".to_owned();
        let length = match unit {
            "m" => Self(value),
            "km" => Self::from_kilometres(value),
            "" => {
                return Err(QuantityError::NoUnit { text: text.to_owned(), what, example, units: units() });
            }
            other => {
                let unit = other.to_owned();
                return Err(QuantityError::WrongUnit { unit, what, example, units: units() });
            }
        };
        if length.0.is_finite() { Ok(length) } else { Err(not_a_number()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_length_is_printed_as_it_was_written() {
        for text in ["780 km", "24 m", "-430.5 m", "0 m", "35786.03 km"] {
            assert_eq!(text.parse::<Length>().unwrap().to_string(), text);
        }
        assert_eq!("0.5 km".parse::<Length>().unwrap().to_string(), "500 m");
    }

    #[test]
    fn a_length_without_a_unit_of_length_is_refused() {
        for text in ["780", "780 s", "km", "1-2 m", ""] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_as_the_same_length(metres in -1e9..1e9_f64) {
            let length = Length::from_metres(metres);
            prop_assert_eq!(length.to_string().parse(), Ok(length));
        }
    }
}
