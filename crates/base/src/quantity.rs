//! Numbers with a unit in text, parsed exactly: `"1.536 Mbit/s"` is 1,536,000 and nothing near it.

use core::fmt;

/// A unit's name and how many base units it is.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// As written after the number, for example `ms`.
    pub name: &'static str,
    /// Base units in one of it.
    pub scale: u64,
}

/// Why a string is not a quantity. The message says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// There is no number where one should start.
    #[error("`{text}` does not start with a number: {what} is written like `{example}`")]
    NotANumber {
        /// String that was given.
        text: String,
        /// Quantity that was wanted, for example `a time`.
        what: &'static str,
        /// A right text.
        example: &'static str,
    },
    /// Only a number, without its unit.
    #[error("`{text}` has no unit: {what} is written like `{example}`, with one of {units}")]
    NoUnit {
        /// String that was given.
        text: String,
        /// Quantity that was wanted.
        what: &'static str,
        /// A right text.
        example: &'static str,
        /// The units that may stand there.
        units: String,
    },
    /// A unit of something else.
    #[error("`{unit}` is no unit of {what}: write one of {units}, for example `{example}`")]
    WrongUnit {
        /// The unit that was given.
        unit: String,
        /// Quantity that was wanted.
        what: &'static str,
        /// A right text.
        example: &'static str,
        /// The units that may stand there.
        units: String,
    },
    /// A unit as others write it.
    #[error("`{unit}` is no unit of {what}: did you mean `{meant}`?")]
    SpelledUnit {
        /// The unit that was given.
        unit: String,
        /// Quantity that was wanted.
        what: &'static str,
        /// The unit as it is written here.
        meant: &'static str,
    },
    /// More decimals than the smallest unit can hold.
    #[error("`{text}` is finer than {what} can hold, which is whole `{smallest}`")]
    TooFine {
        /// String that was given.
        text: String,
        /// Quantity that was wanted.
        what: &'static str,
        /// The smallest unit.
        smallest: &'static str,
    },
    /// Beyond 64 bits of the base unit.
    #[error("`{text}` is larger than {what} can be")]
    TooLarge {
        /// String that was given.
        text: String,
        /// Quantity that was wanted.
        what: &'static str,
    },
    /// A number outside the range that has a meaning.
    #[error("`{text}` is out of range: {what} lies between {low} and {high}")]
    OutOfRange {
        /// String that was given.
        text: String,
        /// Quantity that was wanted.
        what: &'static str,
        /// The least that may be written.
        low: &'static str,
        /// The most that may be written.
        high: &'static str,
    },
}

/// Splits `text` into its number and its unit: digits, a point, digits; blanks; the rest.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Parses `text` as a number of base units. `what` and `example` serve the message of an error.
pub fn parse_quantity(
    text: &str,
    what: &'static str,
    example: &'static str,
    units: &'static [Unit],
) -> Result<u64, QuantityError> {
    let given = || text.to_owned();
    let (number, unit_name) = split(text.trim());
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return Err(QuantityError::NotANumber { text: given(), what, example });
    }
    if unit_name.is_empty() {
        return Err(QuantityError::NoUnit { text: given(), what, example, units: names(units) });
    }
    // Keyboards and editors give either letter for micro, and Unicode takes them for one: the Greek one, U+03BC, is
    // read as the sign, U+00B5.
    let sign = unit_name.replace('\u{3bc}', "\u{b5}");
    let Some(unit) = units.iter().find(|unit| unit.name == sign) else {
        let unit = unit_name.to_owned();
        return Err(match meant(&sign, units) {
            Some(meant) => QuantityError::SpelledUnit { unit, what, meant },
            None => QuantityError::WrongUnit { unit, what, example, units: names(units) },
        });
    };
    let too_large = || QuantityError::TooLarge { text: given(), what };
    let scale = u128::from(unit.scale);
    let whole: u128 = whole.parse().map_err(|_| too_large())?;
    let mut total = whole.checked_mul(scale).ok_or_else(too_large)?;
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).map_err(|_| too_large())?;
        let too_fine = || QuantityError::TooFine { text: given(), what, smallest: units[0].name };
        let power = 10_u128.checked_pow(digits).ok_or_else(too_fine)?;
        let part: u128 = fraction.parse().map_err(|_| too_fine())?;
        let scaled = part.checked_mul(scale).ok_or_else(too_fine)?;
        if scaled % power != 0 {
            return Err(too_fine());
        }
        total = total.checked_add(scaled / power).ok_or_else(too_large)?;
    }
    u64::try_from(total).map_err(|_| too_large())
}

/// Words for units that have a short name here.
const WORDS: [(&str, &[&str]); 7] = [
    ("us", &["usec", "microseconds"]),
    ("ms", &["msec", "msecs", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("d", &["day", "days"]),
    ("B", &["octet", "octets"]),
];

/// The unit that a spelling of others most likely means: `Mbps`, `kb/s`, `KB`, `sec`.
fn meant(given: &str, units: &[Unit]) -> Option<&'static str> {
    let mut spelled = given.strip_suffix("ps").map_or_else(|| given.to_owned(), |stem| format!("{stem}/s"));
    for (ends, own) in
        [(["bits/s", "b/s", "bit", "b"], "bit/s"), (["bytes/s", "B/s", "Byte/s", "B"], "byte/s")]
    {
        if let Some(stem) = ends.iter().find_map(|end| spelled.strip_suffix(end)) {
            spelled = format!("{stem}{own}");
            break;
        }
    }
    let lower = given.to_lowercase();
    let word = WORDS.iter().find(|(_, words)| words.contains(&lower.as_str())).map(|(name, _)| *name);
    // As it stands first: `KB` is a size, and of a rate the bytes a second.
    let wanted = [word.unwrap_or(given), &spelled];
    wanted
        .iter()
        .find_map(|wanted| units.iter().map(|unit| unit.name).find(|name| name.eq_ignore_ascii_case(wanted)))
}

fn names(units: &[Unit]) -> String {
    let names: Vec<String> = units.iter().map(|unit| format!("`{}`", unit.name)).collect();
    names.join(", ")
}

/// Writes `value / scale` exactly, without trailing zeros.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, scale: u64) -> fmt::Result {
    write!(f, "{}", value / scale)?;
    let rest = value % scale;
    if rest != 0 {
        let width = scale.ilog10() as usize;
        let digits = format!("{rest:0width$}");
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}
