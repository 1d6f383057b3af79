//! `Probability`: a number between 0 and 1, drawn against without a float.

use core::fmt;
use core::str::FromStr;

use crate::quantity::{QuantityError, split};

/// A probability. Written `"1 %"`, `"1e-6"` or `"0.01"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Probability of zero: the event never happens.
    pub const NEVER: Self = Self(0.0);
    /// Probability of one: the event always happens.
    pub const ALWAYS: Self = Self(1.0);

    /// From a number in `0.0..=1.0`; `None` outside of it and for not-a-number.
    pub fn new(value: f64) -> Option<Self> {
        // `+ 0.0` turns a negative zero into zero, so that equal probabilities print alike.
        (0.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// The number in `0.0..=1.0`.
    pub const fn as_f64(self) -> f64 {
        self.0
    }

    /// Tells if the probability is zero.
    pub fn is_never(self) -> bool {
        self.0 == 0.0
    }

    /// Tells if the probability is one.
    pub fn is_always(self) -> bool {
        self.0 == 1.0
    }

    /// The probability that at least one of `trials` independent trials happens: `1 − (1 − p)^n`, exact for
    /// the bit error rates of 1e-9 where the naive form loses all digits.
    #[must_use]
    pub fn of_any(self, trials: u64) -> Self {
        Self(-libm::expm1(trials as f64 * libm::log1p(-self.0)))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 >= 1e-3 { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

impl FromStr for Probability {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let what = "a probability";
        let trimmed = text.trim();
        let not_a_number =
            || QuantityError::NotANumber { text: text.to_owned(), what, example: "1 %` or `0.01` or `1e-6" };
        let (number, percent) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (trimmed, false),
        };
        // Rust's own float grammar would let `inf`, `nan` and `+1` through.
        if split(number).0.is_empty() && !number.starts_with('-') {
            return Err(not_a_number());
        }
        let value: f64 = number.parse().map_err(|_| not_a_number())?;
        let value = if percent { value / 100.0 } else { value };
        Self::new(value).ok_or_else(|| QuantityError::OutOfRange {
            text: text.to_owned(),
            what,
            low: "0 %",
            high: "100 %",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percent_and_number_agree() {
        assert_eq!("1 %".parse::<Probability>(), "0.01".parse());
        assert_eq!("1e-6".parse::<Probability>().unwrap().as_f64(), 1e-6);
    }

    #[test]
    fn impossible_ones_are_refused_with_the_range() {
        for text in ["120 %", "-1 %", "1.0001", "-0.5"] {
            assert!(matches!(text.parse::<Probability>(), Err(QuantityError::OutOfRange { .. })), "{text}");
        }
        for text in ["nan", "inf", "", "%", "one"] {
            assert!(matches!(text.parse::<Probability>(), Err(QuantityError::NotANumber { .. })), "{text}");
        }
    }

    #[test]
    fn small_bit_error_rates_keep_their_digits() {
        let p = Probability::new(1e-12).unwrap().of_any(8_000).as_f64();
        assert!((p - 8e-9).abs() < 1e-16, "{p}");
    }

    proptest! {
        #[test]
        fn text_round_trips(value in 0.0_f64..=1.0) {
            let p = Probability::new(value).unwrap();
            prop_assert_eq!(p.to_string().parse(), Ok(p));
        }
    }
}
