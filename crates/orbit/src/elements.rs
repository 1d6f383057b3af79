//! Element sets: what the public catalogues say about an orbit, read from two-line text or OMM.
//!
//! The numbers are SGP4's mean elements in TEME. They mean nothing to another propagator, and little far from
//! their epoch: see [`Validity`].

pub mod omm;
pub mod tle;

use slantpath_base::{Angle, Duration};

use crate::utc::{SECONDS_PER_DAY, Utc};

/// One object's mean elements at one epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementSet {
    /// The object's name; its catalogue number as text where the file gives none.
    pub name: String,
    /// Catalogue (NORAD) number.
    pub catalogue_number: u32,
    /// International designator, `1998-067A` or `98067A`; empty where the file gives none.
    pub designator: String,
    /// The instant for which the elements hold.
    pub epoch: Utc,
    /// Inclination of the orbit.
    pub inclination: Angle,
    /// Right ascension of the ascending node, from the mean equinox.
    pub right_ascension: Angle,
    /// Eccentricity, 0 to below 1.
    pub eccentricity: f64,
    /// Argument of perigee.
    pub argument_of_perigee: Angle,
    /// Mean anomaly at the epoch.
    pub mean_anomaly: Angle,
    /// Mean motion in Kozai's sense, revolutions per day.
    pub mean_motion_rev_per_day: f64,
    /// Drag term B*, inverse Earth radii.
    pub bstar: f64,
    /// Half the first derivative of the mean motion, rev/day²; SGP4 does not use it, a writer of element sets
    /// does.
    pub mean_motion_dot: f64,
    /// Place where the set was read, for errors that come later.
    pub source: ElementSource,
}

/// The file and line that an element set was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSource {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line of the set's first line, from 1.
    pub line: usize,
}

/// An element set that cannot be taken, with everything needed to find and cure it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {object}: {fault}")]
pub struct ElementError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line at fault, from 1.
    pub line: usize,
    /// The object's name or number, as far as it is known.
    pub object: String,
    /// Fault of the set, and its cure.
    pub fault: ElementFault,
}

/// Fault of an element set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementFault {
    /// The last digit of a line is not the sum of its digits.
    #[error(
        "line {card} ends in checksum {written}, its digits give {computed}: the line was altered or cut; \
         fetch the set again, or read the file with checksums ignored"
    )]
    Checksum {
        /// 1 or 2.
        card: u8,
        /// Character in column 69.
        written: char,
        /// Check digit that the other digits give.
        computed: u8,
    },
    /// A line has fewer than 69 columns.
    #[error("line {card} has {columns} columns of 69: fetch the set again")]
    Length {
        /// 1 or 2.
        card: u8,
        /// Number of columns found.
        columns: usize,
    },
    /// Line 1 without line 2, or line 2 without line 1.
    #[error("line {found} stands without line {missing}: both lines of a set follow each other")]
    Pair {
        /// The line that is there.
        found: u8,
        /// The line that is not.
        missing: u8,
    },
    /// The lines of a set belong to two objects.
    #[error("line 1 is of object {first}, line 2 of object {second}: put each set's two lines together")]
    TwoObjects {
        /// Catalogue number of line 1.
        first: u32,
        /// Catalogue number of line 2.
        second: u32,
    },
    /// A field that is not what it must be.
    #[error("{field} is `{text}`; expected {expected}")]
    Field {
        /// The field's name in the format.
        field: &'static str,
        /// Text of the field.
        text: String,
        /// Form that is expected of it.
        expected: &'static str,
    },
    /// An OMM without a key that SGP4 needs.
    #[error("{0} is missing: export the message with all mean elements")]
    Missing(&'static str),
    /// Elements meant for another theory.
    #[error("the mean elements are of theory `{0}`; only SGP4 is propagated here")]
    Theory(String),
    /// Text that is not the format at all.
    #[error("{0}")]
    Syntax(String),
    /// No element set in the whole file.
    #[error("no element set was found: the file must hold two-line sets, or OMM as JSON or CSV")]
    Empty,
    /// Element sets whose epochs lie too far apart to be one constellation.
    #[error(
        "its epoch {epoch} is {days:.1} days from {reference}, the middle of the file: take sets of one day, \
         or allow a wider spread"
    )]
    MixedEpochs {
        /// The epoch of this object.
        epoch: Utc,
        /// The median epoch of the file.
        reference: Utc,
        /// Distance between the two, in days.
        days: f64,
    },
}

/// Treatment of the check digits of two-line sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// Do not look at them.
    Ignore,
    /// A wrong one is an error.
    #[default]
    Verify,
}

/// Reads a file of element sets in whichever of the formats it is; the first fault ends it.
pub fn read(text: &str, file: &str, checksums: Checksums) -> Result<Vec<ElementSet>, ElementError> {
    read_each(text, file, checksums)?.into_iter().collect()
}

/// As [`read`], each set or what is wrong with it. JSON starts with a bracket, CSV with a heading that names
/// `MEAN_MOTION`, and all else is two-line sets. An error is one of the whole file.
pub fn read_each(
    text: &str,
    file: &str,
    checksums: Checksums,
) -> Result<Vec<Result<ElementSet, ElementError>>, ElementError> {
    let start = text.trim_start();
    let heading = start.lines().next().map(str::to_ascii_uppercase);
    let sets = if start.starts_with(['[', '{']) {
        omm::read_json_each(text, file)?
    } else if heading.is_some_and(|heading| heading.contains("MEAN_MOTION")) {
        omm::read_csv_each(text, file)
    } else {
        tle::read_each(text, file, checksums)
    };
    if sets.is_empty() {
        let (file, object) = (file.to_owned(), "the file".to_owned());
        return Err(ElementError { file, line: 1, object, fault: ElementFault::Empty });
    }
    Ok(sets)
}

/// Refuses element sets whose epochs spread further than `limit` from their median: they are not one
/// constellation at one time, whatever their lines say.
pub fn require_one_epoch(sets: &[ElementSet], limit: Duration) -> Result<(), ElementError> {
    of_another_epoch(sets, limit).next().map_or(Ok(()), |(_, error)| Err(error))
}

/// The sets whose epochs are further than `limit` from the median, by index.
pub fn of_another_epoch(
    sets: &[ElementSet],
    limit: Duration,
) -> impl Iterator<Item = (usize, ElementError)> + '_ {
    let mut epochs: Vec<Utc> = sets.iter().map(|set| set.epoch).collect();
    epochs.sort_unstable();
    let reference = epochs.get(epochs.len() / 2).copied();
    sets.iter().enumerate().filter_map(move |(index, set)| {
        let reference = reference?;
        let seconds = libm::fabs(set.epoch.seconds_since(reference));
        let days = seconds / SECONDS_PER_DAY;
        let fault = ElementFault::MixedEpochs { epoch: set.epoch, reference, days };
        (seconds > limit.as_secs_f64()).then(|| (index, set.error(fault)))
    })
}

impl ElementSet {
    /// The error of this set: its file, line and name with a fault.
    pub fn error(&self, fault: ElementFault) -> ElementError {
        ElementError {
            file: self.source.file.clone(),
            line: self.source.line,
            object: self.name.clone(),
            fault,
        }
    }

    /// Refuses numbers outside the domain of the theory. Every reader ends with this.
    pub(crate) fn check(self) -> Result<Self, ElementError> {
        let fault =
            |field, value: f64, expected| ElementFault::Field { field, text: value.to_string(), expected };
        let inclination = self.inclination.as_degrees();
        let angles =
            [self.right_ascension, self.argument_of_perigee, self.mean_anomaly].map(Angle::as_radians);
        let fault = if !(0.0..1.0).contains(&self.eccentricity) {
            fault("eccentricity", self.eccentricity, "0 to below 1")
        } else if !(0.0..=180.0).contains(&inclination) {
            fault("inclination", inclination, "0 to 180 degrees")
        } else if !(self.mean_motion_rev_per_day > 0.0 && self.mean_motion_rev_per_day < 20.0) {
            fault("mean motion", self.mean_motion_rev_per_day, "revolutions per day above 0 and below 20")
        } else if let Some(&wrong) = angles.iter().chain([&self.bstar]).find(|angle| !angle.is_finite()) {
            fault("an angle or the drag term", wrong, "a finite number")
        } else {
            return Ok(self);
        };
        Err(self.error(fault))
    }
}

/// Distance from its epoch at which an element set may be used.
///
/// The theory's error grows by some 1 to 3 km per day in low orbit (Vallado et al. 2006); after a week the
/// handover times are wrong by about a second, after a month by minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Beyond this distance in time the caller is warned.
    pub warn_after: Duration,
    /// Beyond this distance in time the set is refused.
    pub refuse_after: Duration,
}

impl Default for Validity {
    /// Warns after a week, refuses after thirty days.
    fn default() -> Self {
        Self { warn_after: Duration::from_secs(7 * 86_400), refuse_after: Duration::from_secs(30 * 86_400) }
    }
}

/// An element set used away from its epoch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{file}:{line}: {object}: the element set is of {epoch}, {days:.1} days from {used}; {limit_days:.0} days are the \
     limit: take elements nearer to the span, or move the span"
)]
pub struct Stale {
    /// Name of the file.
    pub file: String,
    /// Line of the set.
    pub line: usize,
    /// Name of the object.
    pub object: String,
    /// Epoch of the set.
    pub epoch: Utc,
    /// The date at which it was to be used.
    pub used: Utc,
    /// Distance between these dates, in days.
    pub days: f64,
    /// The limit that was passed: that of the warning, or that of the refusal.
    pub limit_days: f64,
}

impl Validity {
    /// Checks one use of a set over a span: nothing, a warning to pass on, or a refusal.
    pub fn check(self, set: &ElementSet, from: Utc, to: Utc) -> Result<Option<Stale>, Stale> {
        let (before, after) = (set.epoch.seconds_since(from), to.seconds_since(set.epoch));
        let (seconds, used) = if before > after { (before, from) } else { (after, to) };
        let stale = |limit: Duration| Stale {
            file: set.source.file.clone(),
            line: set.source.line,
            object: set.name.clone(),
            epoch: set.epoch,
            used,
            days: seconds / SECONDS_PER_DAY,
            limit_days: limit.as_secs_f64() / SECONDS_PER_DAY,
        };
        if seconds > self.refuse_after.as_secs_f64() {
            Err(stale(self.refuse_after))
        } else if seconds > self.warn_after.as_secs_f64() {
            Ok(Some(stale(self.warn_after)))
        } else {
            Ok(None)
        }
    }
}
