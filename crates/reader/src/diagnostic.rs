//! Faults of an input: what is wrong, where, and what would be right, as plain data that a front end renders.

use core::fmt::{self, Write};
use core::ops::Range;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::synonyms::meant;

/// A string that an input is made of: the file, an override of the command line, a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSource {
    /// As the user names it: a path, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl InputSource {
    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A string of a message as long as a message may be: of one that quotes more the beginning and the end.
fn bounded(text: Cow<'_, str>) -> String {
    const MOST: usize = 2_000;
    const KEPT: [usize; 2] = [800, 200];
    if text.len() <= MOST {
        return text.into_owned();
    }
    let head = text.floor_char_boundary(KEPT[0]);
    let tail = text.ceil_char_boundary(text.len() - KEPT[1]);
    format!("{} … {}", &text[..head], &text[tail..])
}

/// Tells if a terminal would act on a character instead of showing it: such a character moves the cursor, changes
/// colours or titles, or turns the order of the letters around it (Unicode's explicit directional formatting).
pub fn is_acted_on(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A string of a user as it may be printed: what a [terminal would act on](is_acted_on) is written as in TOML and JSON,
/// `\u001b`. Line feeds and tabs are left, so that whole reports can be passed through.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_wrong = |character: char| is_acted_on(character) && !matches!(character, '\n' | '\t');
    let is_plain = text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'));
    if is_plain || !text.contains(is_wrong) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_wrong(character) {
            write!(escaped, "\\u{:04x}", u32::from(character)).expect("a string takes everything");
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// One fault of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The text in which it stands.
    pub source: Arc<InputSource>,
    /// Range of the faulty bytes in that text.
    pub span: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first character, from 1.
    pub column: usize,
    /// Description of the fault. It may quote the input, [visibly](visible).
    pub message: String,
    /// Advice on what would be right.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", visible(&self.source.name), self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl Diagnostic {
    /// Gives the message and the help, without the place.
    fn fault(&self) -> Fault {
        Fault { message: self.message.clone(), help: self.help.clone() }
    }
}

/// All faults found in one input, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// The faults, at least one.
    pub fn iter(&self) -> core::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Number of faults found.
    #[expect(clippy::len_without_is_empty, reason = "they are never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl Diagnostics {
    /// One fault alone.
    pub fn one(source: Arc<InputSource>, place: Place, fault: Fault) -> Self {
        let mut faults = Faults { sources: vec![source], ..Faults::default() };
        faults.report(Place { source: 0, ..place }, fault);
        Self(faults.into_diagnostics())
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = core::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Diagnostics {
    /// Largest number of faults that are shown: a user who has mended these sees the next ones.
    const SHOWN: usize = 20;

    /// The first ones, and how many more there are: one mistake may stand in ten thousand places.
    pub fn shown(&self) -> (&[Diagnostic], usize) {
        let shown = self.0.len().min(Self::SHOWN);
        (&self.0[..shown], self.0.len() - shown)
    }
}

/// The [first ones](Diagnostics::shown), and how many more there are.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, more) = self.shown();
        for (place, diagnostic) in shown.iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        if more > 0 {
            write!(f, "\nand {more} more")?;
        }
        Ok(())
    }
}

impl core::error::Error for Diagnostics {}

/// Position of a value: a source by its index, and its bytes there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(crate) source: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Place {
    /// The bytes `span` of a source by its [index](Faults::add_source).
    pub fn new(source: usize, span: Range<usize>) -> Self {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { source: narrow(source), start: narrow(span.start), end: narrow(span.end) }
    }
}

/// Fault of a value whose place its reader knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Description of the fault.
    pub message: String,
    /// Advice on what would be right.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without a cure yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// With what would be right.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Warning about a value that is probably a mistake, at its place.
#[derive(Clone, Debug, PartialEq)]
struct Warning {
    place: Place,
    fault: Fault,
    /// Kind that it shares with warnings that say the same of other parts of the input.
    kind: Option<String>,
}

/// Collects faults while an input is read and checked, so that they are reported together.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    sources: Vec<Arc<InputSource>>,
    found: Vec<(Place, Fault)>,
    /// Warnings of values that are not wrong, and yet are probably a mistake.
    warnings: Vec<Warning>,
}

impl Faults {
    /// Another text in which faults may stand. Returns its index.
    pub fn add_source(&mut self, name: &str, text: &str) -> usize {
        self.sources.push(Arc::new(InputSource { name: name.to_owned(), text: text.to_owned() }));
        self.sources.len() - 1
    }

    pub(crate) fn share_source(&mut self, source: Arc<InputSource>) -> u32 {
        self.sources.push(source);
        u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX)
    }

    /// A string by its index; the whole file is the first.
    pub fn source(&self, index: usize) -> &Arc<InputSource> {
        &self.sources[index]
    }

    /// The name of the text in which a place is, and its line there, from 1.
    pub fn line_of(&self, place: Place) -> (&str, usize) {
        let source = &self.sources[place.source as usize];
        (&source.name, source.line_and_column(place.start as usize).0)
    }

    /// Notes what keeps the input from being used.
    pub fn report(&mut self, place: Place, fault: Fault) {
        self.found.push((place, fault));
    }

    /// Notes what does not keep the input from being used.
    pub fn warn(&mut self, place: Place, fault: Fault) {
        self.warnings.push(Warning { place, fault, kind: None });
    }

    /// Variant of [`warn`](Self::warn) for a warning that many parts of an input give at once, such as every link of a
    /// network: of one kind the first is reported, and how many more there are.
    pub fn warn_of_kind(&mut self, kind: impl Into<String>, place: Place, fault: Fault) {
        self.warnings.push(Warning { place, fault, kind: Some(kind.into()) });
    }

    /// Takes over a fault of another input, such as a file that this one names, at its place there.
    pub fn adopt(&mut self, found: &Diagnostic) {
        let place = self.place_in(found);
        self.report(place, found.fault());
    }

    /// Takes over a warning of another input, at its place there.
    pub fn adopt_warning(&mut self, found: &Diagnostic) {
        let place = self.place_in(found);
        self.warn(place, found.fault());
    }

    fn place_in(&mut self, found: &Diagnostic) -> Place {
        let known = self.sources.iter().position(|source| Arc::ptr_eq(source, &found.source));
        let source = known.unwrap_or_else(|| self.share_source(Arc::clone(&found.source)) as usize);
        Place::new(source, found.span.clone())
    }

    /// Gives the faults that were reported since there were so many another cure where one is known that fits better.
    pub fn cure_since(&mut self, count: usize, mut cure: impl FnMut(Place) -> Option<String>) {
        for (place, fault) in self.found.iter_mut().skip(count) {
            fault.help = cure(*place).or(fault.help.take());
        }
    }

    /// The warnings so far, in the order of the text, each kind once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = self.warnings.clone();
        warnings.sort_by_key(|warning| (warning.place.source, warning.place.start));
        warnings.dedup();
        let mut found: Vec<(Place, Fault)> = Vec::new();
        let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for Warning { place, fault, kind } in warnings {
            if let Some(kind) = kind {
                let (_, count) = kinds.entry(kind).or_insert((found.len(), 0));
                *count += 1;
                if *count > 1 {
                    continue;
                }
            }
            found.push((place, fault));
        }
        for (at, count) in kinds.into_values().filter(|(_, count)| *count > 1) {
            let message = &mut found[at].1.message;
            *message = format!("{message} (and {} more like it)", count - 1);
        }
        Self { sources: self.sources.clone(), found, warnings: Vec::new() }.into_diagnostics()
    }

    /// Tells if nothing is at fault. Warnings do not count.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Number of faults reported so far.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Takes back what was reported since there were so many, for a fault that explains all of it.
    pub(crate) fn forget_from(&mut self, count: usize) {
        self.found.truncate(count);
    }

    /// The text that stands at a place.
    #[cfg(test)]
    pub(crate) fn text_at(&self, place: Place) -> &str {
        let text = &self.sources[place.source as usize].text;
        text.get(place.start as usize..place.end as usize).unwrap_or_default()
    }

    /// `Ok` if nothing was found, or all that was found, in the order of the text.
    pub fn into_result(self) -> Result<(), Diagnostics> {
        if self.found.is_empty() { Ok(()) } else { Err(Diagnostics(self.into_diagnostics())) }
    }

    /// Gives the input that was read, if nothing was found and it is whole; else all that was found.
    pub fn whole<T>(mut self, read: Option<T>) -> Result<T, Diagnostics> {
        if let Some(read) = read.filter(|_| self.found.is_empty()) {
            return Ok(read);
        }
        if self.found.is_empty() {
            let fault = Fault::new("the file is not whole, although nothing in it is at fault");
            self.report(Place::default(), fault.help("report this: a check should have found why"));
        }
        Err(Diagnostics(self.into_diagnostics()))
    }

    fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(place, _)| (place.source, place.start));
        self.found.dedup();
        // In the order of the text, so that it is gone through once however many faults it has: source, byte, its line,
        // and where that begins.
        let mut known = (0, 0, 1, 0);
        let diagnostic = |(place, fault): (Place, Fault)| {
            let source = Arc::clone(&self.sources[place.source as usize]);
            let limit = source.text.len();
            let span = (place.start as usize).min(limit)..(place.end as usize).min(limit);
            let at = source.text.floor_char_boundary(span.start);
            let (of, from, line, begins) =
                if known.0 == place.source && known.1 <= at { known } else { (place.source, 0, 1, 0) };
            let passed = &source.text[from..at];
            let line = line + passed.matches('\n').count();
            let begins = passed.rfind('\n').map_or(begins, |newline| from + newline + 1);
            known = (of, at, line, begins);
            let column = source.text[begins..at].chars().count() + 1;
            let message = bounded(visible(&fault.message));
            let help = fault.help.map(|help| bounded(visible(&help)));
            Diagnostic { source, span, line, column, message, help }
        };
        self.found.into_iter().map(diagnostic).collect()
    }
}

/// The candidate that `given` most likely meant, if any is near enough: the one that a word of the field stands for, or
/// one of whose letters at most a third differ, whatever their case, or the only one that begins so. Two letters mean
/// anything.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let letters = given.chars().count();
    let limit = if letters < 3 { 0 } else { letters / 3 };
    let folded = given.to_lowercase();
    if !candidates.iter().any(|candidate| candidate.to_lowercase() == folded)
        && let Some(meant) = meant(given, &candidates)
    {
        return Some(meant);
    }
    let near = candidates
        .iter()
        .map(|candidate| (edit_distance(&folded, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, candidate)| (*distance, edit_distance(given, candidate)))
        .map(|(_, candidate)| candidate);
    near.or_else(|| {
        let begins = |candidate: &&&str| letters >= 3 && candidate.to_lowercase().starts_with(&folded);
        let mut begun = candidates.iter().filter(begins);
        begun.next().filter(|_| begun.next().is_none()).copied()
    })
}

/// `did you mean …?`, or the list of all that may stand there.
pub fn suggest(given: &str, what: &str, candidates: &[&str]) -> String {
    match nearest(given, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if candidates.is_empty() => format!("there are no {what}"),
        None => {
            let quoted: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            format!("{what}: {}", quoted.join(", "))
        }
    }
}

/// Letters to insert, delete, replace or swap with their neighbour (Damerau 1964, restricted).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_line_and_column_in_characters() {
        let source = InputSource { name: "x".to_owned(), text: "a = 1\nµs = 2\n".to_owned() };
        assert_eq!(source.line_and_column(0), (1, 1));
        assert_eq!(source.line_and_column(6), (2, 1));
        assert_eq!(source.line_and_column(9), (2, 3));
        assert_eq!(source.line_and_column(1_000), (3, 1));
    }

    #[test]
    fn a_file_is_whole_if_it_has_been_read_and_nothing_was_found() {
        assert_eq!(Faults::default().whole(Some(1)).unwrap(), 1);
        let mut faults = Faults::default();
        faults.add_source("one", "a = 1");
        let lost = faults.clone().whole(None::<u8>).unwrap_err();
        let messages = lost.iter().map(|found| found.message.as_str()).collect::<Vec<_>>();
        assert_eq!(messages, ["the file is not whole, although nothing in it is at fault"]);
        faults.report(Place::default(), Fault::new("wrong"));
        let found = faults.whole(Some(1)).unwrap_err();
        assert_eq!(found.iter().map(|found| found.message.as_str()).collect::<Vec<_>>(), ["wrong"]);
    }

    #[test]
    fn every_fault_of_many_has_the_line_and_column_that_its_text_alone_gives() {
        let text = "a = 1\nµs = 2, µm = 3\n\nlast";
        let mut faults = Faults::default();
        let (one, other) = (faults.add_source("one", text), faults.add_source("other", text));
        for source in [one, other] {
            // Places beyond the end and inside a letter, too.
            for byte in (0..=text.len() + 2).rev() {
                faults.report(Place::new(source, byte..byte), Fault::new("wrong"));
            }
        }
        let found = faults.into_result().unwrap_err();
        assert_eq!(found.len(), 2 * (text.len() + 3));
        for of in &found {
            assert_eq!((of.line, of.column), of.source.line_and_column(of.span.start), "{of:?}");
        }
    }

    #[test]
    fn the_first_twenty_faults_are_shown_and_the_others_counted() {
        let shown = |count: usize| {
            let mut faults = Faults::default();
            let file = faults.add_source("f.toml", &"x\n".repeat(count));
            for line in 0..count {
                faults.report(Place::new(file, 2 * line..2 * line + 1), Fault::new("wrong"));
            }
            faults.into_result().unwrap_err().to_string()
        };
        let of_twenty = shown(20);
        assert!(of_twenty.ends_with("\nf.toml:20:1: wrong"), "{of_twenty}");
        assert_eq!(shown(22), format!("{of_twenty}\nand 2 more"));
    }

    #[test]
    fn a_message_that_quotes_a_long_text_keeps_its_beginning_and_its_end() {
        let mut faults = Faults::default();
        let file = faults.add_source("f.toml", "x");
        let long = format!("`{}` is no time", "ä".repeat(1_000_000));
        faults.report(Place::new(file, 0..1), Fault::new(long.clone()).help(long));
        let found = faults.into_result().unwrap_err();
        let one = found.iter().next().unwrap();
        let cut = format!("`{} … {}` is no time", "ä".repeat(399), "ä".repeat(94));
        assert_eq!((&one.message, one.help.as_ref()), (&cut, Some(&cut)));
    }

    #[test]
    fn a_near_miss_is_suggested_and_an_unlike_name_is_not() {
        assert_eq!(suggest("SCTP", "choices", &["tcp", "sctp"]), "did you mean `sctp`?");
        assert_eq!(nearest("Sctp", ["SCTP", "sctp"]), Some("sctp"));
        let known = ["delay", "rate", "queue", "loss"];
        assert_eq!(nearest("dealy", known), Some("delay"));
        assert_eq!(nearest("los", known), Some("loss"));
        assert_eq!(nearest("weight", known), None);
        assert_eq!(nearest("sat", ["satellite", "ground"]), Some("satellite"));
        assert_eq!(nearest("sat", ["satellite-1", "satellite-2"]), None, "either may be meant");
        assert_eq!(suggest("weight", "known keys", &["rate"]), "known keys: `rate`");
        assert_eq!(suggest("bandwidth", "known keys", &known), "did you mean `rate`?");
        assert_eq!(
            nearest("Reno", ["new-reno", "reno"]),
            Some("reno"),
            "what differs in case alone is meant"
        );
    }

    #[test]
    fn what_a_terminal_would_act_on_is_made_visible() {
        assert_eq!(visible("a µ\n\tb"), "a µ\n\tb");
        assert_eq!(
            visible("\u{1b}[31m\u{7f}\u{9b}2J\r\u{202e}x\u{2066}"),
            "\\u001b[31m\\u007f\\u009b2J\\u000d\\u202ex\\u2066"
        );
        let mut faults = Faults::default();
        let file = faults.add_source("\u{1b}]0;title\u{7}.toml", "x");
        faults.report(Place::new(file, 0..1), Fault::new("`\u{1b}c` is no name").help("not `\u{1b}c`"));
        let text = faults.into_result().unwrap_err().to_string();
        assert_eq!(text, "\\u001b]0;title\\u0007.toml:1:1: `\\u001bc` is no name\n  help: not `\\u001bc`");
    }

    #[test]
    fn warnings_of_one_kind_are_reported_once_with_their_number() {
        let mut faults = Faults::default();
        let file = faults.add_source("f.toml", "first\nsecond\nthird\n");
        faults.warn_of_kind("late", Place::new(file, 6..12), Fault::new("`b` is late"));
        faults.warn(Place::new(file, 13..18), Fault::new("alone"));
        faults.warn_of_kind("early", Place::new(file, 6..12), Fault::new("`b` is early"));
        faults.warn_of_kind("late", Place::new(file, 0..5), Fault::new("`a` is late"));
        faults.warn_of_kind("late", Place::new(file, 13..18), Fault::new("`c` is late"));
        let found: Vec<String> = faults.warnings().iter().map(ToString::to_string).collect();
        let expected =
            ["f.toml:1:1: `a` is late (and 2 more like it)", "f.toml:2:1: `b` is early", "f.toml:3:1: alone"];
        assert_eq!(found, expected);
    }

    #[test]
    fn faults_of_another_input_are_told_at_their_place_there_behind_those_of_this_one() {
        let mut other = Faults::default();
        let file = other.add_source("sky.toml", "one\ntwo\n");
        other.report(Place::new(file, 4..7), Fault::new("`two` is none").help("cure"));
        other.report(Place::new(file, 0..3), Fault::new("`one` is none"));
        other.warn(Place::new(file, 0..3), Fault::new("`one` is old"));
        let mut faults = Faults::default();
        let own = faults.add_source("f.toml", "sky\n");
        for warning in other.warnings() {
            faults.adopt_warning(&warning);
        }
        for diagnostic in &other.into_result().unwrap_err() {
            faults.adopt(diagnostic);
        }
        faults.report(Place::new(own, 0..3), Fault::new("own"));
        let warnings: Vec<String> = faults.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(warnings, ["sky.toml:1:1: `one` is old"]);
        let text = faults.into_result().unwrap_err().to_string();
        assert_eq!(
            text,
            "f.toml:1:1: own\nsky.toml:1:1: `one` is none\nsky.toml:2:1: `two` is none\n  help: cure"
        );
    }

    #[test]
    fn a_better_cure_takes_the_place_of_those_of_the_latest_faults() {
        let mut faults = Faults::default();
        let file = faults.add_source("f.toml", "first\nsecond\n");
        let (first, second) = (Place::new(file, 0..5), Place::new(file, 6..12));
        faults.report(second, Fault::new("before").help("cure"));
        let count = faults.len();
        faults.report(second, Fault::new("second").help("cure"));
        faults.report(first, Fault::new("first").help("cure"));
        faults.cure_since(count, |place| (place == second).then(|| "better".to_owned()));
        let text = faults.into_result().unwrap_err().to_string();
        assert_eq!(
            text,
            "f.toml:1:1: first\n  help: cure\nf.toml:2:1: before\n  help: cure\nf.toml:2:1: second\n  help: better"
        );
    }

    #[test]
    fn faults_are_reported_in_the_order_of_the_text_and_once() {
        let mut faults = Faults::default();
        let file = faults.add_source("f.toml", "first\nsecond\n");
        faults.report(Place::new(file, 6..12), Fault::new("second").help("cure"));
        faults.report(Place::new(file, 0..5), Fault::new("first"));
        faults.report(Place::new(file, 0..5), Fault::new("first"));
        let text = faults.into_result().unwrap_err().to_string();
        assert_eq!(text, "f.toml:1:1: first\nf.toml:2:1: second\n  help: cure");
    }
}
