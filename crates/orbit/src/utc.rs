//! `Utc`: a civil date as nanoseconds from J2000, and the Earth's turning angle.
//!
//! Days have 86,400 seconds here, as SGP4's own arithmetic and every element set assume: a leap second is not
//! counted, so an interval across one is a second short. UT1 is taken for UTC (they differ by less than 0.9
//! s, which turns the Earth by up to 420 m at the equator), and polar motion (some 10 m) is left out.

use core::fmt;
use core::str::FromStr;

use slantpath_base::{Duration, Instant};

const NANOS_PER_DAY: i128 = 86_400 * 1_000_000_000;
const NANOS_PER_HALF_DAY: i128 = NANOS_PER_DAY / 2;
/// Seconds in a day of 24 hours.
pub const SECONDS_PER_DAY: f64 = 86_400.0;

/// A date in UTC: whole nanoseconds from 2000-01-01T12:00:00Z, earlier ones negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utc(i64);

/// Why a string is no date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DateError {
    /// The text does not follow the form.
    #[error(
        "`{0}` is not a date of the form 2025-01-31T12:00:00Z; write year, month, day, `T` and the time in UTC"
    )]
    Form(String),
    /// A field is beyond its calendar.
    #[error("`{text}` has {field} {value}, which does not exist")]
    Calendar {
        /// Text of the date.
        text: String,
        /// The field at fault.
        field: &'static str,
        /// Value of the field.
        value: i64,
    },
}

impl Utc {
    /// 2000-01-01T12:00:00Z.
    pub const J2000: Self = Self(0);

    /// From nanoseconds since J2000.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since J2000.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// From a year, the day of the year (1 January is 1) and nanoseconds of that day: the date of an element
    /// set.
    pub fn from_day_of_year(year: i64, day: i64, nanos_of_day: i64) -> Option<Self> {
        if !(1900..2200).contains(&year) || !(1..=366).contains(&day) {
            return None;
        }
        Self::from_days_and_nanos(days_from_civil(year, 1, 1) + day - 1, i128::from(nanos_of_day))
    }

    /// From calendar fields; `None` if the date does not exist or lies beyond about 1708 to 2292.
    pub fn from_civil(year: i64, month: i64, day: i64, nanos_of_day: i64) -> Option<Self> {
        let exists = (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
        if !exists || !(1600..2400).contains(&year) {
            return None;
        }
        Self::from_days_and_nanos(days_from_civil(year, month, day), i128::from(nanos_of_day))
    }

    fn from_days_and_nanos(days: i64, nanos: i128) -> Option<Self> {
        i64::try_from(i128::from(days) * NANOS_PER_DAY - NANOS_PER_HALF_DAY + nanos).ok().map(Self)
    }

    /// Days since J2000.
    pub fn days_since_j2000(self) -> f64 {
        // Whole days first: the quotient of the nanoseconds alone would lose the last digits.
        let (days, rest) =
            (i128::from(self.0).div_euclid(NANOS_PER_DAY), i128::from(self.0).rem_euclid(NANOS_PER_DAY));
        days as f64 + rest as f64 / NANOS_PER_DAY as f64
    }

    /// The Julian date, good to about 20 microseconds; for print and for peers.
    pub fn julian_date(self) -> f64 {
        2_451_545.0 + self.days_since_j2000()
    }

    /// Seconds from `earlier` to this date, negative if it is in fact later.
    #[inline]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        // Whole seconds first, so that a long time keeps its nanoseconds; the wide arithmetic is only for
        // dates that lie centuries apart.
        let Some(nanos) = self.0.checked_sub(earlier.0) else {
            return (i128::from(self.0) - i128::from(earlier.0)) as f64 * 1e-9;
        };
        (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 * 1e-9
    }

    /// The date that much later.
    ///
    /// # Panics
    /// If that lies beyond the year 2292.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let nanos = i64::try_from(duration.as_nanos()).ok().and_then(|nanos| self.0.checked_add(nanos));
        Self(nanos.expect("a date beyond 2292"))
    }

    /// The date of an instant of a run that starts at this date.
    #[must_use]
    pub fn at(self, instant: Instant) -> Self {
        self.after(instant.since_start())
    }

    /// Greenwich mean sidereal time, radians in 0..2π: the angle from the mean equinox to Greenwich that
    /// turns TEME into the Earth-fixed frame (Vallado et al., AIAA 2006-6753, appendix C; IAU 1982
    /// expression).
    pub fn sidereal_time(self) -> f64 {
        let days = self.days_since_j2000();
        let centuries = days / 36_525.0;
        // The day's own turn is separated so that the large product keeps its digits.
        let turn_seconds = 67_310.548_41
            + (8_640_184.812_866 + (0.093_104 - 6.2e-6 * centuries) * centuries) * centuries
            + (days - libm::floor(days)) * SECONDS_PER_DAY;
        let turns = turn_seconds / SECONDS_PER_DAY;
        (turns - libm::floor(turns)) * core::f64::consts::TAU
    }

    fn civil(self) -> (i64, i64, i64, i64) {
        let shifted = i128::from(self.0) + NANOS_PER_HALF_DAY;
        let days = i64::try_from(shifted.div_euclid(NANOS_PER_DAY)).unwrap_or(i64::MAX);
        let nanos = i64::try_from(shifted.rem_euclid(NANOS_PER_DAY)).unwrap_or(0);
        let (year, month, day) = civil_from_days(days);
        (year, month, day, nanos)
    }

    /// Year and day of the year with its fraction, as an element set writes its epoch.
    pub fn day_of_year(self) -> (i64, f64) {
        let (year, month, day, nanos) = self.civil();
        let day = days_from_civil(year, month, day) - days_from_civil(year, 1, 1) + 1;
        (year, day as f64 + nanos as f64 / NANOS_PER_DAY as f64)
    }
}

impl fmt::Display for Utc {
    /// ISO 8601 with as many digits as the date needs: `2025-01-31T12:00:00Z`, `2025-01-31T12:00:00.25Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, nanos) = self.civil();
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let (h, m, s) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}")?;
        if rest != 0 {
            write!(f, ".{}", format!("{rest:09}").trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

impl FromStr for Utc {
    type Err = DateError;

    /// Reads `2025-01-31`, `2025-01-31T12:00:00`, with or without a fraction and `Z`; a space may stand for
    /// `T`, and the day of the year for month and day, `2025-031` (ISO 8601; CCSDS 301.0-B, ASCII time codes A and B).
    /// OMM's `EPOCH` has no `Z` and is UTC all the same.
    fn from_str(text: &str) -> Result<Self, DateError> {
        let form = || DateError::Form(text.to_owned());
        let body = text.trim();
        let body = body.strip_suffix(['Z', 'z']).unwrap_or(body);
        let (date, time) = body.split_once(['T', ' ']).unwrap_or((body, "00:00:00"));
        let (year, month, day) = match date.split_once('-') {
            Some((year, day)) if !day.contains('-') => {
                let is_whole = year.len() == 4
                    && day.len() == 3
                    && (year.bytes().chain(day.bytes())).all(|b| b.is_ascii_digit());
                let whole = |text: &str| text.parse::<i64>().ok().filter(|_| is_whole).ok_or_else(form);
                let (year, day) = (whole(year)?, whole(day)?);
                let last = 337 + days_in_month(year, 2);
                if !(1..=last).contains(&day) {
                    return Err(DateError::Calendar { text: text.to_owned(), field: "day", value: day });
                }
                civil_from_days(days_from_civil(year, 1, 1) + day - 1)
            }
            _ => fields(date, '-').ok_or_else(form)?.into(),
        };
        let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
        let [hour, minute, second] = fields(clock, ':').ok_or_else(form)?;
        if fraction.len() > 18 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return Err(form());
        }
        let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        let nanos: i64 = digits.parse().map_err(|_| form())?;
        for (field, value, limit) in [("hour", hour, 24), ("minute", minute, 60), ("second", second, 60)] {
            if value >= limit {
                return Err(DateError::Calendar { text: text.to_owned(), field, value });
            }
        }
        let nanos_of_day = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nanos;
        Self::from_civil(year, month, day, nanos_of_day).ok_or_else(|| {
            let (field, value) = match month {
                _ if !(1708..2292).contains(&year) => ("year", year),
                1..=12 => ("day", day),
                _ => ("month", month),
            };
            DateError::Calendar { text: text.to_owned(), field, value }
        })
    }
}

fn fields(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let plain = !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.parse().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 2000-01-01, by counting years that begin in March so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 730_425
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 730_425;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_dates_have_their_julian_date() {
        let noon: Utc = "2000-01-01T12:00:00Z".parse().unwrap();
        assert_eq!(noon, Utc::J2000);
        let date: Utc = "1996-10-26T14:20:00".parse().unwrap();
        assert!((date.julian_date() - 2_450_383.097_222_22).abs() < 1e-8);
        assert_eq!(
            Utc::from_day_of_year(2024, 60, 43_200_000_000_000).unwrap().to_string(),
            "2024-02-29T12:00:00Z"
        );
        assert_eq!("2024-02-29T12:00:00Z".parse::<Utc>().unwrap().day_of_year(), (2024, 60.5));
    }

    #[test]
    fn sidereal_time_agrees_with_the_almanac() {
        // IAU 1982: 6h 41m 50.54841s at J2000, and 236.555 s later each following day.
        assert!((Utc::J2000.sidereal_time().to_degrees() - 280.460_618_375).abs() < 1e-9);
        let next = Utc::J2000.after(Duration::from_secs(86_400)).sidereal_time().to_degrees();
        assert!((next - 280.460_618_375 - 0.985_647_366).abs() < 1e-8, "{next}");
    }

    #[test]
    fn a_date_may_count_the_days_of_its_year() {
        for (ordinal, civil) in [
            ("2022-005T14:02:00.214944", "2022-01-05T14:02:00.214944Z"),
            ("2022-001", "2022-01-01T00:00:00Z"),
            ("2023-059", "2023-02-28T00:00:00Z"),
            ("2023-060T00:00:00Z", "2023-03-01T00:00:00Z"),
            ("2024-060 01:02:03", "2024-02-29T01:02:03Z"),
            ("2024-366T23:59:59.999999999Z", "2024-12-31T23:59:59.999999999Z"),
            ("2023-365", "2023-12-31T00:00:00Z"),
            ("1900-365", "1900-12-31T00:00:00Z"),
            ("2000-366", "2000-12-31T00:00:00Z"),
        ] {
            assert_eq!(
                ordinal.parse::<Utc>().map(|date| date.to_string()),
                Ok(civil.to_owned()),
                "{ordinal}"
            );
        }
        for text in [
            "2023-366",
            "2023-000",
            "1900-366",
            "2023-5",
            "2023-05",
            "2023-0005",
            "23-005",
            "2023-",
            "2023-+05",
        ] {
            assert!(text.parse::<Utc>().is_err(), "{text}");
        }
        assert_eq!(
            "2023-366".parse::<Utc>(),
            Err(DateError::Calendar { text: "2023-366".to_owned(), field: "day", value: 366 })
        );
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2025",
            "2025-02-29",
            "2025-13-01",
            "2025-1-1T24:00:00",
            "2025-01-01T00:60:00",
            "٢٠٢٥-01-01",
            "2025-01-01T00:00:00.x",
            "2025-01-01T00:00",
            "9999-01-01",
        ] {
            assert!(text.parse::<Utc>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(nanos in -6_000_000_000_000_000_000_i64..6_000_000_000_000_000_000) {
            let date = Utc::from_nanos(nanos);
            prop_assert_eq!(date.to_string().parse(), Ok(date));
        }

        #[test]
        fn reading_any_text_is_total(text in ".{0,40}") {
            let _ = text.parse::<Utc>();
        }
    }
}
