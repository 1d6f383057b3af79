//! Rows as they are written.

use super::figure::{Figure, Value};

/// A value of a file, and what must move with it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The file of rows, and the line.
    pub place: String,
    /// The line as it holds at this place of the file.
    pub text: String,
    /// The name of the file that is changed.
    pub base: String,
    /// Settings that the run compared with has, too.
    pub given: Vec<String>,
    /// `KEY = VALUE`.
    pub assignment: String,
    pub(super) check: Check,
    /// True if the row is tried at several places, of which some lack the key.
    pub is_of_places: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Check {
    /// Refused without the value, and not with it.
    Mends(String),
    Moves {
        figures: Vec<Figure>,
        way: Way,
    },
    Refused(String),
}

#[derive(Clone, Debug)]
pub(super) enum Way {
    Down,
    To(String),
    Differs,
    Up,
}

/// Place at which rows with an `@` are tried.
struct Place {
    base: String,
    prefix: String,
    figures: Vec<String>,
}

impl Way {
    pub(super) fn holds(&self, old: Option<&Value>, new: Option<&Value>) -> bool {
        let number = |value: Option<&Value>| match value {
            None => Some(0.0),
            Some(Value::Number(number)) => Some(*number),
            Some(Value::Text(_)) => None,
        };
        let numbers = number(old).zip(number(new));
        match self {
            Self::Down => new.is_some() && numbers.is_some_and(|(old, new)| new < old),
            Self::Up => numbers.is_some_and(|(old, new)| new > old),
            Self::Differs => old != new,
            Self::To(wanted) => old != new && new.is_some_and(|value| value.to_string() == *wanted),
        }
    }
}

/// The rows of a file called `name`.
///
/// # Panics
/// If a line is neither a row nor a setting of rows.
pub fn rows(name: &str, text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut base = String::new();
    let mut given: Vec<String> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let at = format!("{name}:{number}");
        if line.is_empty() || line.starts_with('#') {
        } else if let Some(file) = line.strip_prefix("base:") {
            file.trim().clone_into(&mut base);
            given.clear();
        } else if let Some(setting) = line.strip_prefix("with:") {
            match setting.trim() {
                "" => given.clear(),
                setting => given.push(setting.to_owned()),
            }
        } else if let Some(place) = line.strip_prefix("place:") {
            places.push(Place::read(place).unwrap_or_else(|| panic!("{at}: no place: {line}")));
        } else {
            let uses_places = line.contains('@') || given.iter().any(|setting| setting.contains('@'));
            let row = |base: &str, given: Vec<String>, line: &str| {
                let read = read(line).unwrap_or_else(|| panic!("{at}: no row: {line}"));
                Row {
                    place: at.clone(),
                    text: line.to_owned(),
                    base: base.to_owned(),
                    given,
                    assignment: read.0,
                    check: read.1,
                    is_of_places: uses_places,
                }
            };
            if uses_places {
                let (line, except) = line.split_once(" | except ").unwrap_or((line, ""));
                let is_there = |place: &&Place| except.is_empty() || place.prefix != except.trim();
                rows.extend(places.iter().filter(is_there).map(|place| {
                    let given = given.iter().map(|setting| place.fill(setting)).collect();
                    row(&place.base, given, &place.fill(line))
                }));
            } else {
                rows.push(row(&base, given.clone(), line));
            }
        }
    }
    rows
}

impl Row {
    /// True if its value is refused.
    pub fn is_refused(&self) -> bool {
        matches!(self.check, Check::Refused(_))
    }
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        let (place, figures) = text.split_once('=').unwrap_or((text, "run.all"));
        let (base, prefix) = place.trim().split_once(' ')?;
        let figures = figures.split(';').map(|figure| figure.trim().to_owned()).collect();
        Some(Self { base: base.to_owned(), prefix: prefix.trim().to_owned(), figures })
    }

    /// Tells whether it has no figures of its own, so that the run must differ and no more.
    fn is_plain(&self) -> bool {
        self.figures == ["run.all"]
    }

    /// A line as it is here: `@.column` becomes the column of each figure of the place.
    fn fill(&self, line: &str) -> String {
        let (setting, check) = line.split_once(" | ").unwrap_or((line, ""));
        let setting = setting.replace('@', &self.prefix);
        if check.is_empty() {
            return setting;
        }
        if self.is_plain() && !["refused", "mends"].iter().any(|told| check.starts_with(told)) {
            return format!("{setting} | run.all !=");
        }
        let (figures, way) = check.rsplit_once(' ').unwrap_or((check, ""));
        let figures: Vec<String> = match figures.strip_prefix('@') {
            Some(column) => self.figures.iter().map(|figure| format!("{figure}{column}")).collect(),
            None => vec![figures.replace('@', &self.figures[0])],
        };
        format!("{setting} | {} {way}", figures.join("; "))
    }
}

fn read(line: &str) -> Option<(String, Check)> {
    let (assignment, check) = line.split_once(" | ")?;
    let assignment = assignment.trim().to_owned();
    let check = check.trim();
    if let Some(reason) = check.strip_prefix("mends") {
        return Some((assignment, Check::Mends(reason.trim().to_owned())));
    }
    if let Some(reason) = check.strip_prefix("refused") {
        return Some((assignment, Check::Refused(reason.trim().to_owned())));
    }
    let (figures, way) = if let Some((figures, text)) = check.split_once(" = ") {
        (figures, Way::To(text.trim().to_owned()))
    } else {
        let (figures, way) = check.rsplit_once(' ')?;
        let way = match way {
            "<" => Way::Down,
            ">" => Way::Up,
            "!=" => Way::Differs,
            _ => return None,
        };
        (figures, way)
    };
    let figures: Option<Vec<Figure>> = figures.split(';').map(|text| Figure::parse(text.trim())).collect();
    Some((assignment, Check::Moves { figures: figures?, way }))
}
