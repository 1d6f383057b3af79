//! `slantpath.Scenario`: a checked scenario.

use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use slantpath_runner::{Diagnostics, OwnKinds, Progress, Scenario as Checked, Watch, is_of_unused};

use crate::controller::PythonKinds;
use crate::guard::guarded;
use crate::source::{Source, VALUES, assignments, doubts, scenario_error, warn};
use crate::topology::while_signals_are_heard;

/// Reads a scenario without holding the interpreter, and calls `progress` with how many sites of its sky have their
/// contacts and how many there are. What that raises is raised in the end, and so is what a signal raises, such as
/// Ctrl-C, which ends it.
fn observed(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    read: impl FnOnce(Watch<'_>) -> Result<Checked, Diagnostics> + Send,
) -> PyResult<Checked> {
    let stop = AtomicBool::new(false);
    let (read, raised) = py.detach(|| {
        while_signals_are_heard(&stop, || {
            let first = RefCell::new(None);
            let progress = |made: Progress| {
                if let Some(progress) = &progress
                    && first.borrow().is_none()
                {
                    let called = Python::attach(|py| progress.call1(py, (made.done, made.all)).map(drop));
                    *first.borrow_mut() = called.err();
                    if first.borrow().is_some() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            };
            let read = guarded(|| read(Watch { progress: &progress, stop: &stop, pieces: None }));
            (read, first.into_inner())
        })
    })?;
    match raised {
        Some(error) => Err(error),
        None => read?.map_err(|faults| scenario_error(&faults)),
    }
}

/// A scenario in which every value is in place and nothing contradicts.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Scenario {
    source: Source,
    pub(crate) checked: Checked,
    /// Controllers of the caller's own.
    own: Option<PythonKinds>,
}

impl Scenario {
    fn read(
        py: Python<'_>,
        source: Source,
        controllers: Option<&Bound<'_, PyDict>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let own = controllers.map(PythonKinds::new).transpose()?;
        let kinds = own.as_ref().map_or_else(OwnKinds::none, |own| own.kinds.clone());
        let checked = observed(py, progress, |watch| {
            source.parse(
                |name, text, overrides, files| {
                    Checked::parse_observed(name, text, overrides, files, &kinds, watch)
                },
                |read, name, overrides| read.with_observed(name, overrides, watch),
            )
        })?;
        Ok(Self { source, checked, own })
    }

    /// This scenario with assignments over it, which give `checked`.
    pub(crate) fn varied(&self, py: Python<'_>, assignments: &[String], checked: Checked) -> Self {
        let own = self.own.as_ref().map(|own| own.clone_ref(py));
        Self { source: self.source.with(assignments), checked, own }
    }

    fn read_and_warn(
        py: Python<'_>,
        source: Source,
        controllers: Option<&Bound<'_, PyDict>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let scenario = Self::read(py, source, controllers, progress)?;
        // A file may have profiles for its variants: what it does not use itself is in its warnings alone.
        let told: Vec<_> =
            scenario.checked.warnings().iter().filter(|doubt| !is_of_unused(doubt)).cloned().collect();
        warn(py, &doubts(py, &told)?)?;
        Ok(scenario)
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file. Traces that it names are looked for beside it. It may name `controllers`, a dict of classes.
    /// `progress` hears of the contacts of its sky.
    #[classmethod]
    #[pyo3(signature = (path, *, controllers = None, progress = None))]
    fn load(
        class: &Bound<'_, PyType>,
        path: PathBuf,
        controllers: Option<&Bound<'_, PyDict>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Self::read_and_warn(class.py(), Source::load(&path)?, controllers, progress)
    }

    /// Reads a string. Errors call it `file_name`; traces that it names are looked for in `directory`. It may name
    /// `controllers`, a dict of classes. `progress` hears of the contacts of its sky.
    #[classmethod]
    #[pyo3(signature = (text, file_name = "<text>", directory = None, *, controllers = None, progress = None))]
    fn parse(
        class: &Bound<'_, PyType>,
        text: &str,
        file_name: &str,
        directory: Option<PathBuf>,
        controllers: Option<&Bound<'_, PyDict>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Self::read_and_warn(class.py(), Source::of_text(file_name, text, directory), controllers, progress)
    }

    /// The scenario with these controllers, a dict of classes, for it and its values to name.
    fn with_controllers(&self, controllers: &Bound<'_, PyDict>) -> PyResult<Self> {
        let own = PythonKinds::new(controllers)?;
        let checked = observed(controllers.py(), None, |watch| self.checked.extended(&own.kinds, watch))?;
        Ok(Self { source: self.source.clone(), checked, own: Some(own) })
    }

    /// The scenario with other values: `{"links.satellite.loss": "2 %"}`. A dict as a value is a whole table.
    /// `progress` hears of the contacts of its sky, if these values change them.
    #[pyo3(signature = (values, *, progress = None))]
    fn with_values(&self, values: &Bound<'_, PyDict>, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let added = assignments(values)?;
        let checked =
            observed(values.py(), progress, |watch| self.checked.with_observed(VALUES, &added, watch))?;
        // Of what was doubtful before, its reader has heard; a profile that is not used now, another variant uses.
        let before = self.checked.warnings();
        let new: Vec<_> = checked
            .warnings()
            .iter()
            .filter(|doubt| !before.contains(doubt) && !is_of_unused(doubt))
            .cloned()
            .collect();
        warn(values.py(), &doubts(values.py(), &new)?)?;
        let own = self.own.as_ref().map(|own| own.clone_ref(values.py()));
        Ok(Self { source: self.source.with(&added), checked, own })
    }

    /// Warnings of values that can be run and are probably a mistake, such as a timer that one lost packet lets expire.
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

    /// Name of the scenario.
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

    /// Gives the parts of a pickle: the text, the replacements of its parts, and the classes of controllers.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.get_type::<Self>().getattr("_rebuild")?;
        let controllers = self.own.as_ref().map(|own| own.classes.clone_ref(py));
        (rebuild, (&self.source, controllers)).into_pyobject(py)
    }

    #[classmethod]
    fn _rebuild(
        class: &Bound<'_, PyType>,
        source: Source,
        controllers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Self::read(class.py(), source, controllers, None)
    }
}
