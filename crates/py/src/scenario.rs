//! `slantpath.Scenario`: a checked scenario.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use slantpath_scenario::Diagnostics;

use crate::toml_text::toml_text;

pyo3::import_exception!(slantpath.errors, ScenarioError);

/// A scenario in which every value is in place and nothing contradicts.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Scenario {
    name: String,
    text: String,
    overrides: Vec<String>,
    /// Where the traces lie that it names.
    directory: PathBuf,
    pub(crate) checked: slantpath_scenario::Scenario,
}

impl Scenario {
    pub(crate) fn read(
        name: String,
        text: String,
        overrides: Vec<String>,
        directory: PathBuf,
    ) -> PyResult<Self> {
        let files = slantpath_scenario::trace_files(&directory);
        let checked = slantpath_scenario::Scenario::parse(&name, &text, &overrides, files)
            .map_err(|faults| scenario_error(&faults))?;
        Ok(Self { name, text, overrides, directory, checked })
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file. Traces that it names are looked for beside it.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::read(path.display().to_string(), text, Vec::new(), directory)
    }

    /// Reads a text. Errors call it `file_name`; traces that it names are looked for in `directory`.
    #[classmethod]
    #[pyo3(signature = (text, file_name = "<text>", directory = None))]
    fn parse(
        _class: &Bound<'_, PyType>,
        text: &str,
        file_name: &str,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        Self::read(file_name.to_owned(), text.to_owned(), Vec::new(), directory.unwrap_or_default())
    }

    /// The scenario with other values: `{"links.satellite.loss": "2 %"}`. A dict as a value is a whole table.
    fn with_values(&self, values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let added = values
            .iter()
            .map(|(path, value)| Ok(format!("{}={}", path.extract::<String>()?, toml_text(&value)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let checked = self.checked.with(&added).map_err(|faults| scenario_error(&faults))?;
        Ok(Self {
            name: self.name.clone(),
            text: self.text.clone(),
            overrides: [&self.overrides[..], &added].concat(),
            directory: self.directory.clone(),
            checked,
        })
    }

    /// The merged scenario as TOML: every value written out, with a comment where nobody wrote it.
    fn merged(&self) -> String {
        self.checked.merged()
    }

    /// The hash of the merged scenario, which names its runs.
    #[getter]
    fn hash(&self) -> String {
        self.checked.hash()
    }

    /// What the scenario is called.
    #[getter]
    fn name(&self) -> &str {
        &self.checked.scenario.name
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {} {}>", *self.checked.scenario.name, &self.checked.hash()[..12])
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().checked.canonical() == self.checked.canonical())
    }

    fn __hash__(&self) -> u64 {
        let hash = self.checked.hash();
        u64::from_str_radix(&hash[..16], 16).expect("a hash is written in hexadecimal digits")
    }

    /// How to pickle it: by its text and what replaced parts of it.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.get_type::<Self>().getattr("_rebuild")?;
        (rebuild, (&self.name, &self.text, &self.overrides, &self.directory)).into_pyobject(py)
    }

    #[classmethod]
    fn _rebuild(
        _class: &Bound<'_, PyType>,
        name: String,
        text: String,
        overrides: Vec<String>,
        directory: PathBuf,
    ) -> PyResult<Self> {
        Self::read(name, text, overrides, directory)
    }
}

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
