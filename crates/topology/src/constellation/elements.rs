//! Satellites from files of element sets: which of them are taken, what they are called, and what is left out.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::Constellation;
use slantpath_orbit::elements::{self, ElementError, ElementSet, Validity};
use slantpath_orbit::network::apogee_beyond_routes;
use slantpath_orbit::{Orbit, Utc};
use slantpath_reader::{Fault, Faults, Files, Place, Setting};

use crate::check::MOST_SATELLITES;
use crate::files as named_files;
use crate::schema::InvalidSets;
use crate::written::Elements;

/// For when element sets are used.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    /// The first date.
    pub(crate) from: Utc,
    /// Length of time for which the sets are used.
    pub(crate) span: Duration,
    /// Limits of the time from their epoch for which the sets may be used.
    pub(crate) validity: Validity,
}

/// The shells of a file, and the satellites in none of them.
pub(super) fn shells(
    name: &str,
    table: &mut Elements,
    use_of_sets: Use,
    files: &Files,
    faults: &mut Faults,
) -> Option<Vec<Constellation>> {
    let text = named_files::read(&table.file, &mut table.digest, files, faults)?;
    let reading = Reading { file: table.file.as_str(), text: &text, place: table.file.place() };
    let refused = |error: &ElementError, faults: &mut Faults| {
        let place = reading.line(error.line, faults);
        faults.report(place, named_files::element_fault(error));
    };
    let read = elements::read_each(&text, reading.file, table.checksums.policy());
    let read = read.map_err(|error| refused(&error, faults)).ok()?;
    let mut left_out = LeftOut::default();
    let mut sets = Vec::with_capacity(read.len());
    let leaves_out = *table.on_invalid == InvalidSets::LeaveOut;
    for set in read {
        match set {
            Ok(set) => sets.push(set),
            Err(error) if leaves_out => left_out.add("altered, cut or not whole", &error.object),
            Err(error) => {
                refused(&error, faults);
                return None;
            }
        }
    }
    take_wanted(table, &mut sets);
    if leaves_out {
        sets = usable(sets, *table.epoch_spread, use_of_sets, &mut left_out);
    }
    count_is_right(table, sets.len(), &left_out, faults)?;
    elements::require_one_epoch(&sets, *table.epoch_spread).map_err(|error| refused(&error, faults)).ok()?;
    name_apart(&mut sets, &reading, faults)?;
    left_out.warn(&reading, sets.len(), faults);
    let built = Constellation::shells_from_elements(name, sets, use_of_sets.from);
    let fell = |error: &slantpath_orbit::sgp4::PropagationError, faults: &mut Faults| {
        let place = reading.line(error.line, faults);
        let help = "take a newer element set, or leave the object out";
        faults.report(place, Fault::new(format!("{}: {}", error.object, error.fault)).help(help));
    };
    built.map_err(|error| fell(&error, faults)).ok()
}

/// A file that is being read.
struct Reading<'a> {
    file: &'a str,
    text: &'a str,
    /// Place at which the file's name stands.
    place: Place,
}

impl Reading<'_> {
    fn line(&self, line: usize, faults: &mut Faults) -> Place {
        named_files::line(self.file, self.text, line, faults)
    }
}

fn count_is_right(table: &Elements, count: usize, left_out: &LeftOut, faults: &mut Faults) -> Option<()> {
    let place = table.names.as_ref().map_or(table.file.place(), Setting::place);
    let (message, help) = if count > MOST_SATELLITES {
        ("these are too many satellites".to_owned(), format!("take at most {MOST_SATELLITES}"))
    } else if count > 0 {
        return Some(());
    } else if left_out.reasons.is_empty() {
        ("no satellite of the file is wanted".to_owned(), "give names or numbers that it has".to_owned())
    } else {
        (
            format!("no satellite of the file can be used: {left_out}"),
            "take newer elements, or move the span".to_owned(),
        )
    };
    faults.report(place, Fault::new(message).help(help));
    None
}

/// The sets that can be used over the whole span. Of two sets of one object the newer one is.
fn usable(sets: Vec<ElementSet>, epoch_spread: Duration, of: Use, left_out: &mut LeftOut) -> Vec<ElementSet> {
    let mut newest: BTreeMap<u32, (Utc, usize)> = BTreeMap::new();
    for (index, set) in sets.iter().enumerate() {
        let known = newest.entry(set.catalogue_number).or_insert((set.epoch, index));
        if set.epoch > known.0 {
            *known = (set.epoch, index);
        }
    }
    let is_newest = |index: usize, set: &ElementSet| newest[&set.catalogue_number].1 == index;
    let mut kept = Vec::with_capacity(sets.len());
    for (index, set) in sets.into_iter().enumerate() {
        let until = of.from.at(Instant::START + of.span);
        if !is_newest(index, &set) {
            left_out.add("there is a newer set of the object", &set.name);
        } else if of.validity.check(&set, of.from, until).is_err() {
            left_out.add("too far from their epoch", &set.name);
        } else if apogee_beyond_routes(&set).is_some() {
            left_out.add("too high", &set.name);
        } else if Orbit::from_elements(set.clone())
            .map_or(true, |orbit| orbit.check_over(of.from, of.span).is_err())
        {
            left_out.add("decayed", &set.name);
        } else {
            kept.push(set);
        }
    }
    let other: Vec<usize> = elements::of_another_epoch(&kept, epoch_spread).map(|(index, _)| index).collect();
    for &index in other.iter().rev() {
        left_out.add("of another time than the others", &kept.remove(index).name);
    }
    kept
}

/// Element sets that were left out, by reason: their number, and the first names.
#[derive(Default)]
struct LeftOut {
    reasons: BTreeMap<&'static str, (usize, Vec<String>)>,
}

/// So many names are told of each reason.
const NAMES_TOLD: usize = 3;

impl LeftOut {
    fn add(&mut self, reason: &'static str, name: &str) {
        let (count, names) = self.reasons.entry(reason).or_default();
        *count += 1;
        if names.len() < NAMES_TOLD {
            names.push(name.to_owned());
        }
    }

    fn count(&self) -> usize {
        self.reasons.values().map(|(count, _)| count).sum()
    }

    /// One warning for all of them.
    fn warn(&self, reading: &Reading<'_>, kept: usize, faults: &mut Faults) {
        let count = self.count();
        if count == 0 {
            return;
        }
        let are = if count == 1 { "is" } else { "are" };
        let message =
            format!("{count} of {} objects of `{}` {are} left out: {self}", count + kept, reading.file);
        let help = "`on_invalid = \"refuse\"` tells of each where it stands";
        faults.warn(reading.place, Fault::new(message).help(help));
    }
}

impl core::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (index, (reason, (count, names))) in self.reasons.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            write!(f, "{comma}{count} {reason} ({}", names.join(", "))?;
            let more = count - names.len();
            if more > 0 { write!(f, " and {more} more)")? } else { f.write_str(")")? }
        }
        Ok(())
    }
}

/// Tells objects that share a name apart by their catalogue numbers. One object twice is a fault.
fn name_apart(sets: &mut [ElementSet], reading: &Reading<'_>, faults: &mut Faults) -> Option<()> {
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for set in &*sets {
        if let Some(earlier) = numbers.insert(set.catalogue_number, set.source.line) {
            let place = reading.line(set.source.line, faults);
            let fault = Fault::new(format!("{} is already in line {earlier}", set.name));
            faults.report(place, fault.help("leave one of the two sets out"));
            return None;
        }
        *names.entry(set.name.clone()).or_default() += 1;
    }
    for set in sets.iter_mut().filter(|set| names[&set.name] > 1) {
        set.name = format!("{} ({})", set.name, set.catalogue_number);
    }
    Some(())
}

/// Leaves the sets that are asked for by name or number, all if none is, without those that are excluded.
fn take_wanted(table: &Elements, sets: &mut Vec<ElementSet>) {
    let takes_all = table.names.is_none() && table.catalogue_numbers.is_none();
    let names: &[String] = table.names.as_deref().map_or(&[], Vec::as_slice);
    let numbers: &[u32] = table.catalogue_numbers.as_deref().map_or(&[], Vec::as_slice);
    let excluded: &[String] = table.exclude.as_deref().map_or(&[], Vec::as_slice);
    sets.retain(|set| {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &set.name));
        let number = set.catalogue_number.to_string();
        let is_excluded = named(excluded) || excluded.contains(&number);
        (takes_all || named(names) || numbers.contains(&set.catalogue_number)) && !is_excluded
    });
}

/// Tells whether a name matches a pattern in which `*` stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_letters() {
        for pattern in ["*", "IRIDIUM*", "*106", "I*M*6", "IRIDIUM 106", "IRIDIUM 106*"] {
            assert!(matches(pattern, "IRIDIUM 106"), "{pattern}");
        }
        for pattern in ["", "IRIDIUM", "106", "I*M*7", "*106 ", "IRIDIUM 106*6"] {
            assert!(!matches(pattern, "IRIDIUM 106"), "{pattern}");
        }
    }
}
