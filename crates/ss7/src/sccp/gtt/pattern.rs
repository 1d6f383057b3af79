//! Patterns for the digits of an address: literal digits, `?` for any one, `*` at the end for any rest.

use core::fmt;

use crate::sccp::Digits;

/// One place of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternPlace {
    /// Exactly this digit.
    Digit(u8),
    /// Any one digit: `?`.
    Any,
}

/// A pattern of digits, such as `49171*`, `26201??????????` or `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DigitPattern {
    places: Vec<PatternPlace>,
    is_open: bool,
}

/// Why a string is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A character that is neither a digit nor a wildcard.
    #[error(
        "`{character}` in `{text}` is no digit: write 0-9, a-f, `?` for any one digit, `*` at the end for any rest"
    )]
    NotADigit {
        /// The whole text.
        text: String,
        /// Character that was found.
        character: char,
    },
    /// A star before the end.
    #[error("`{0}` has a `*` before its end: a star stands for all that follows, so nothing can follow it")]
    StarBeforeTheEnd(String),
    /// More digits than [`DigitPattern::LONGEST`].
    #[error(
        "`{text}` has {places} digits, more than the {} that an address pattern may have",
        DigitPattern::LONGEST
    )]
    TooLong {
        /// The whole text.
        text: String,
        /// Number of its digits and question marks.
        places: usize,
    },
}

impl DigitPattern {
    /// The most places of a pattern; E.164 has 15, E.214 and E.212 too.
    pub const LONGEST: usize = 32;

    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (body, is_open) = match text.strip_suffix('*') {
            Some(body) => (body, true),
            None => (text, false),
        };
        if body.contains('*') {
            return Err(PatternError::StarBeforeTheEnd(text.to_owned()));
        }
        let places = body
            .chars()
            .map(|character| match character {
                '?' => Ok(PatternPlace::Any),
                _ => Digits::parse(character.encode_utf8(&mut [0; 4]))
                    .map(|digits| PatternPlace::Digit(digits.values()[0]))
                    .map_err(|_| PatternError::NotADigit { text: text.to_owned(), character }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if places.len() > Self::LONGEST {
            return Err(PatternError::TooLong { text: text.to_owned(), places: places.len() });
        }
        Ok(Self { places, is_open })
    }

    /// Gives the places of the pattern, without the star.
    pub fn places(&self) -> &[PatternPlace] {
        &self.places
    }

    /// Tells if the pattern ends with a star: any digits may follow, or none.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Tells if digits are as the pattern says.
    pub fn matches(&self, digits: &[u8]) -> bool {
        let is_long_enough =
            if self.is_open { digits.len() >= self.places.len() } else { digits.len() == self.places.len() };
        is_long_enough
            && self.places.iter().zip(digits).all(|(place, digit)| match place {
                PatternPlace::Any => true,
                PatternPlace::Digit(wanted) => wanted == digit,
            })
    }

    /// Tells if every number that another pattern fits is fitted by this one, too.
    pub fn covers(&self, other: &Self) -> bool {
        let is_long_enough = if self.is_open {
            other.places.len() >= self.places.len()
        } else {
            !other.is_open && other.places.len() == self.places.len()
        };
        let fits = |(own, other): (&PatternPlace, &PatternPlace)| *own == PatternPlace::Any || own == other;
        is_long_enough && self.places.iter().zip(&other.places).all(fits)
    }
}

impl fmt::Display for DigitPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.places {
            match place {
                PatternPlace::Any => write!(f, "?")?,
                PatternPlace::Digit(digit) => write!(f, "{digit:x}")?,
            }
        }
        if self.is_open { write!(f, "*") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, digits: &str) -> bool {
        DigitPattern::parse(pattern).unwrap().matches(Digits::parse(digits).unwrap().values())
    }

    #[test]
    fn wildcards_mean_one_digit_and_any_rest() {
        assert!(matches("49171*", "49171"));
        assert!(matches("49171*", "491712345"));
        assert!(!matches("49171*", "4917"));
        assert!(matches("4?1", "491"));
        assert!(!matches("4?1", "4911"));
        assert!(matches("*", ""));
        assert!(!matches("", "1"));
    }

    #[test]
    fn a_pattern_covers_those_that_fit_nothing_else() {
        let covers = |one: &str, other: &str| {
            DigitPattern::parse(one).unwrap().covers(&DigitPattern::parse(other).unwrap())
        };
        for (one, other) in [("*", "49*"), ("49*", "491"), ("4?*", "49*"), ("4?", "49"), ("49", "49")] {
            assert!(covers(one, other), "{one} {other}");
        }
        for (one, other) in [("49*", "4*"), ("49*", "4?*"), ("49", "49*"), ("49", "491"), ("4?", "4?*")] {
            assert!(!covers(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let error = |text| DigitPattern::parse(text).unwrap_err();
        assert_eq!(error("4*9"), PatternError::StarBeforeTheEnd("4*9".into()));
        assert_eq!(error("4x"), PatternError::NotADigit { text: "4x".into(), character: 'x' });
        assert!(matches!(error(&"1".repeat(33)), PatternError::TooLong { places: 33, .. }));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(text in "[0-9a-f?]{0,32}[*]?") {
            prop_assert_eq!(DigitPattern::parse(&text).unwrap().to_string(), text);
        }

        #[test]
        fn any_text_gives_a_pattern_or_an_error(text: String) {
            let _ = DigitPattern::parse(&text);
        }
    }
}
