//! What a checked file was read from: enough to read it again, in another process or with other values.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slantpath_scenario::{Diagnostics, TraceFiles, trace_files};

use crate::toml_text::toml_text;

pyo3::import_exception!(slantpath.errors, ScenarioError);

/// A text, what replaces parts of it, and the directory in which the files lie that it names. A pickle keeps it as
/// a dict of its fields.
#[derive(Clone, Debug, FromPyObject, IntoPyObjectRef)]
#[pyo3(from_item_all)]
pub(crate) struct Source {
    /// What errors call the text.
    name: String,
    text: String,
    /// Assignments `path=value`, each over those before it.
    overrides: Vec<String>,
    directory: PathBuf,
}

/// What reads a text: by its name, with overrides, and with the files that it names.
type Parse<T> = fn(&str, &str, &[String], TraceFiles) -> Result<T, Diagnostics>;

impl Source {
    /// The text of a file, which looks beside itself for the files that it names.
    pub(crate) fn load(path: &Path) -> PyResult<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
        Ok(Self::of_text(&path.display().to_string(), &text, path.parent().map(Path::to_owned)))
    }

    /// A text that errors call `name`, which looks in `directory`, or where the program runs.
    pub(crate) fn of_text(name: &str, text: &str, directory: Option<PathBuf>) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            overrides: Vec::new(),
            directory: directory.unwrap_or_default(),
        }
    }

    /// What `parse` makes of it.
    pub(crate) fn parse<T>(&self, parse: Parse<T>) -> PyResult<T> {
        parse(&self.name, &self.text, &self.overrides, trace_files(&self.directory))
            .map_err(|faults| scenario_error(&faults))
    }

    /// This source with more assignments over it.
    pub(crate) fn with(&self, assignments: &[String]) -> Self {
        Self { overrides: [&self.overrides, assignments].concat(), ..self.clone() }
    }
}

/// A dict of paths and values as assignments.
pub(crate) fn assignments(values: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    values
        .iter()
        .map(|(path, value)| Ok(format!("{}={}", path.extract::<String>()?, toml_text(&value)?)))
        .collect()
}

/// All that is wrong with a text, each fault with its place.
pub(crate) fn scenario_error(faults: &Diagnostics) -> PyErr {
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| {
            let (file, message) = (fault.source.name.clone(), fault.message.clone());
            (file, fault.line, fault.column, message, fault.help.clone())
        })
        .collect();
    ScenarioError::new_err((faults,))
}
