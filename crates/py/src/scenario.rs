//! `slantpath.Scenario`: a checked scenario.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::source::{Source, VALUES, assignments, doubts, scenario_error, warn};

/// A scenario in which every value is in place and nothing contradicts.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Scenario {
    source: Source,
    pub(crate) checked: slantpath_scenario::Scenario,
}

impl Scenario {
    pub(crate) fn read(source: Source) -> PyResult<Self> {
        let checked =
            source.parse(slantpath_scenario::Scenario::parse, slantpath_scenario::Scenario::with)?;
        Ok(Self { source, checked })
    }

    fn read_and_warn(py: Python<'_>, source: Source) -> PyResult<Self> {
        let scenario = Self::read(source)?;
        warn(py, &scenario.warnings(py)?)?;
        Ok(scenario)
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file. Traces that it names are looked for beside it.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        Self::read_and_warn(class.py(), Source::load(&path)?)
    }

    /// Reads a text. Errors call it `file_name`; traces that it names are looked for in `directory`.
    #[classmethod]
    #[pyo3(signature = (text, file_name = "<text>", directory = None))]
    fn parse(
        class: &Bound<'_, PyType>,
        text: &str,
        file_name: &str,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        Self::read_and_warn(class.py(), Source::of_text(file_name, text, directory))
    }

    /// The scenario with other values: `{"links.satellite.loss": "2 %"}`. A dict as a value is a whole table.
    fn with_values(&self, values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let added = assignments(values)?;
        let checked = self.checked.with(VALUES, &added).map_err(|faults| scenario_error(&faults))?;
        // Of what was doubtful before, its reader has heard.
        let before = self.checked.warnings();
        let new: Vec<_> =
            checked.warnings().iter().filter(|doubt| !before.contains(doubt)).cloned().collect();
        warn(values.py(), &doubts(values.py(), &new)?)?;
        Ok(Self { source: self.source.with(&added), checked })
    }

    /// What can be run and is hardly meant, such as a timer that one lost packet lets expire.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        doubts(py, self.checked.warnings())
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
        (rebuild, (&self.source,)).into_pyobject(py)
    }

    #[classmethod]
    fn _rebuild(_class: &Bound<'_, PyType>, source: Source) -> PyResult<Self> {
        Self::read(source)
    }
}
