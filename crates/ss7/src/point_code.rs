//! Point codes: the addresses of SS7, in the three sizes that the world uses.

use core::fmt;

/// Formats of point codes, by the standard that a network keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointCodeFormat {
    /// ANSI T1.111: 24 bits, written network-cluster-member, 8-8-8.
    Ansi,
    /// ITU-T Q.704: 14 bits, written zone-area-point, 3-8-3 (Q.708).
    Itu,
    /// TTC JT-Q704: 16 bits, written main-sub-point, 5-4-7.
    Ttc,
}

impl PointCodeFormat {
    /// Gives the number of bits of a point code.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Ansi => 24,
            Self::Itu => 14,
            Self::Ttc => 16,
        }
    }

    /// The bits of the three parts of the written form.
    const fn parts(self) -> [u32; 3] {
        match self {
            Self::Ansi => [8, 8, 8],
            Self::Itu => [3, 8, 3],
            Self::Ttc => [5, 4, 7],
        }
    }
}

/// A point code: the number alone. Its format belongs to the network, not to each of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointCode(pub u32);

/// Why a string is not a point code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointCodeError {
    /// Neither a number nor three numbers with dashes.
    #[error("`{0}` is no point code: write a number, or three with dashes such as 2-15-3")]
    NotAPointCode(String),
    /// A part, or the whole, needs more bits than the format has.
    #[error("`{text}` does not fit {bits} bits")]
    TooLarge {
        /// Text that was given.
        text: String,
        /// The bits that there are.
        bits: u32,
    },
}

impl PointCode {
    /// Reads `2-15-3` or a plain number in the given format.
    pub fn parse(text: &str, format: PointCodeFormat) -> Result<Self, PointCodeError> {
        let number = |digits: &str, bits: u32| {
            let digits = digits.trim();
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !plain {
                return Err(PointCodeError::NotAPointCode(text.to_owned()));
            }
            let too_large = || PointCodeError::TooLarge { text: digits.to_owned(), bits };
            let value: u32 = digits.parse().map_err(|_| too_large())?;
            if value >> bits == 0 { Ok(value) } else { Err(too_large()) }
        };
        let mut pieces = text.split('-');
        let (first, second, third, more) = (pieces.next(), pieces.next(), pieces.next(), pieces.next());
        match (first, second, third, more) {
            (Some(whole), None, _, _) => number(whole, format.bits()).map(Self),
            (Some(high), Some(middle), Some(low), None) => {
                let [high_bits, middle_bits, low_bits] = format.parts();
                let high = number(high, high_bits)?;
                let middle = number(middle, middle_bits)?;
                let low = number(low, low_bits)?;
                Ok(Self(high << (middle_bits + low_bits) | middle << low_bits | low))
            }
            _ => Err(PointCodeError::NotAPointCode(text.to_owned())),
        }
    }

    /// The written form of the given format, such as `2-15-3`.
    pub fn display(self, format: PointCodeFormat) -> impl fmt::Display {
        let [_, middle_bits, low_bits] = format.parts();
        let high = self.0 >> (middle_bits + low_bits);
        let middle = self.0 >> low_bits & ((1 << middle_bits) - 1);
        let low = self.0 & ((1 << low_bits) - 1);
        fmt::from_fn(move |f| write!(f, "{high}-{middle}-{low}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_formats_read_as_they_are_written() {
        assert_eq!(PointCode::parse("2-15-3", PointCodeFormat::Itu), Ok(PointCode(2 << 11 | 15 << 3 | 3)));
        assert_eq!(PointCode::parse("5-1-9", PointCodeFormat::Ansi), Ok(PointCode(5 << 16 | 1 << 8 | 9)));
        assert_eq!(PointCode::parse("16383", PointCodeFormat::Itu), Ok(PointCode(16_383)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in ["16384", "8-0-0", "0-256-0", "1-2", "1-2-3-4", "", "a-b-c", "-1", "+1-0-0"] {
            assert!(PointCode::parse(text, PointCodeFormat::Itu).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(value: u32, format in prop_oneof![
            Just(PointCodeFormat::Ansi), Just(PointCodeFormat::Itu), Just(PointCodeFormat::Ttc),
        ]) {
            let code = PointCode(value >> (32 - format.bits()));
            prop_assert_eq!(PointCode::parse(&code.display(format).to_string(), format), Ok(code));
        }
    }
}
