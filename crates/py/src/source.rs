//! Source of a checked file: enough to read it again, in another process or with other values.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use slantpath_runner::{Diagnostic, Diagnostics, Files, TEXT_MAX, files_in, read_bounded, without_mark};

use crate::os_error::os_error;
use crate::toml_text::toml_text;

pyo3::import_exception!(slantpath.errors, ScenarioError);

/// Name by which faults call the values that Python laid over a file.
pub(crate) const VALUES: &str = "with_values";

/// A string, what replaces parts of it, and the directory in which the files lie that it names. A pickle keeps it as
/// a dict of its fields.
#[derive(Clone, Debug, FromPyObject, IntoPyObjectRef)]
#[pyo3(from_item_all)]
pub(crate) struct Source {
    /// Name by which errors call the text.
    name: String,
    text: String,
    /// Assignments `path=value`, each over those before it.
    overrides: Vec<String>,
    directory: PathBuf,
}

impl Source {
    /// The text of a file, which looks beside itself for the files that it names.
    pub(crate) fn load(path: &Path) -> PyResult<Self> {
        let bytes = read_bounded(path, TEXT_MAX).map_err(|error| os_error(&error, path))?;
        let name = path.display().to_string();
        let text = without_mark(String::from_utf8(bytes).map_err(|error| not_utf8(&name, &error))?);
        Ok(Self::of_text(&name, &text, path.parent().map(Path::to_owned)))
    }

    /// A string that errors call `name`, which looks in `directory`, or where the program runs.
    pub(crate) fn of_text(name: &str, text: &str, directory: Option<PathBuf>) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            overrides: Vec::new(),
            directory: directory.unwrap_or_default(),
        }
    }

    /// Parses the text with `parse`, and lays the assignments over the result with `with`.
    pub(crate) fn parse<T>(
        &self,
        parse: impl FnOnce(&str, &str, &[String], Files) -> Result<T, Diagnostics>,
        with: impl FnOnce(&T, &str, &[String]) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        let plain = parse(&self.name, &self.text, &[], files_in(&self.directory));
        plain.and_then(|read| match self.overrides.as_slice() {
            [] => Ok(read),
            overrides => with(&read, VALUES, overrides),
        })
    }

    /// This source with more assignments over it.
    pub(crate) fn with(&self, assignments: &[String]) -> Self {
        Self { overrides: [&self.overrides, assignments].concat(), ..self.clone() }
    }
}

/// A dict of paths and values as assignments.
pub(crate) fn assignments(values: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let assignment = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let path = path.extract::<String>()?;
        if path.contains('=') {
            // Behind it, the value would begin.
            let right = "write it like `links.satellite.loss`, table and key joined by dots".to_owned();
            let fault: Fault = (VALUES.to_owned(), None, None, format!("`{path}` is no path"), Some(right));
            return Err(ScenarioError::new_err((vec![fault],)));
        }
        Ok(format!("{path}={}", toml_text(&value)?))
    };
    values.iter().map(assignment).collect()
}

/// All that is wrong with a string, each fault with its place.
pub(crate) fn scenario_error(faults: &Diagnostics) -> PyErr {
    ScenarioError::new_err((faults.iter().map(fault).collect::<Vec<_>>(),))
}

/// Variant of [`scenario_error`] for settings of live endpoints, of which those of these names have no line.
#[cfg(target_os = "linux")]
pub(crate) fn settings_error(faults: &Diagnostics, settings: &[&str]) -> PyErr {
    let of_setting = |found: &Diagnostic| match fault(found) {
        (name, _, _, wrong, right) if settings.contains(&name.as_str()) => (name, None, None, wrong, right),
        elsewhere => elsewhere,
    };
    ScenarioError::new_err((faults.iter().map(of_setting).collect::<Vec<_>>(),))
}

/// Doubts about a string that can be used, as `slantpath.errors.Fault`s.
pub(crate) fn doubts<'py>(py: Python<'py>, doubts: &[Diagnostic]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let class = py.import("slantpath.errors")?.getattr("Fault")?;
    doubts.iter().map(|doubt| class.call1(fault(doubt))).collect()
}

/// Warns of doubts as Python does, at the line that called the library.
pub(crate) fn warn(py: Python<'_>, doubts: &[Bound<'_, PyAny>]) -> PyResult<()> {
    let warn = py.import("slantpath.errors")?.getattr("warn")?;
    doubts.iter().try_for_each(|doubt| warn.call1((doubt.str()?,)).map(drop))
}

/// File, line, column, what is wrong, what would be right.
type Fault = (String, Option<usize>, Option<usize>, String, Option<String>);

fn fault(found: &Diagnostic) -> Fault {
    let (message, help) = (found.message.clone(), found.help.clone());
    if found.source.name == VALUES {
        // A value has no line: it is quoted.
        let quoted = quoted(&found.source.text);
        return (VALUES.to_owned(), None, None, format!("{quoted}: {message}"), help);
    }
    (found.source.name.clone(), Some(found.line), Some(found.column), message, help)
}

/// An assignment as a fault quotes it: whole, or as much of it as finds it again.
fn quoted(assignment: &str) -> Cow<'_, str> {
    const LONGEST: usize = 200;
    match assignment.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(assignment),
        Some((end, _)) => Cow::Owned(format!("{}…", &assignment[..end])),
    }
}

/// A file in another encoding, with the place of its first such byte.
fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> PyErr {
    let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let text = String::from_utf8_lossy(valid).into_owned();
    let source = slantpath_runner::InputSource { name: name.to_owned(), text };
    let (line, column) = source.line_and_column(valid.len());
    let fault: Fault = (
        name.to_owned(),
        Some(line),
        Some(column),
        "this is not UTF-8".to_owned(),
        Some("save the file as UTF-8".to_owned()),
    );
    ScenarioError::new_err((vec![fault],))
}
