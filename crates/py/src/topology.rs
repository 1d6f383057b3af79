//! `slantpath.Topology`: a checked topology, and its answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use slantpath_runner::Workers;
use slantpath_topology::FollowError;

use crate::guard::guarded;
use crate::run::heed_signals;
use crate::source::{Source, VALUES, assignments, scenario_error};
use crate::table::Table;

pyo3::import_exception!(slantpath.errors, RunError);

/// Time within which Ctrl-C is heard.
const HEARD_WITHIN: Duration = Duration::from_millis(100);

/// Satellites, sites and the questions about them, in which every value is in place and nothing contradicts.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Topology {
    source: Source,
    checked: slantpath_topology::Topology,
}

impl Topology {
    fn read(source: Source) -> PyResult<Self> {
        let checked = guarded(|| {
            source.parse(slantpath_topology::Topology::parse, slantpath_topology::Topology::with)
        })?
        .map_err(|faults| scenario_error(&faults))?;
        Ok(Self { source, checked })
    }
}

#[pymethods]
impl Topology {
    /// Reads a file. Files that it names are looked for beside it.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        Self::read(Source::load(&path)?)
    }

    /// Reads a string. Errors call it `file_name`; files that it names are looked for in `directory`.
    #[classmethod]
    #[pyo3(signature = (text, file_name = "<text>", directory = None))]
    fn parse(
        _class: &Bound<'_, PyType>,
        text: &str,
        file_name: &str,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        Self::read(Source::of_text(file_name, text, directory))
    }

    /// The topology with other values: `{"ground.min_elevation": "20 deg"}`. A dict as a value is a whole table.
    fn with_values(&self, values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let added = assignments(values)?;
        let checked =
            guarded(|| self.checked.with(VALUES, &added))?.map_err(|faults| scenario_error(&faults))?;
        Ok(Self { source: self.source.with(&added), checked })
    }

    /// The merged topology as TOML: every value written out, with a comment where nobody wrote it.
    fn merged(&self) -> String {
        self.checked.merged()
    }

    /// Azimuth, elevation and range of a satellite from a site, at times in seconds after the start.
    fn look_angles(&self, py: Python<'_>, site: &str, satellite: &str, at_s: Vec<f64>) -> PyResult<Table> {
        py.detach(|| self.checked.look_angles(site, satellite, &at_s))
            .map(Table)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The hash of the merged topology, which names its answer.
    #[getter]
    fn hash(&self) -> String {
        self.checked.hash()
    }

    /// Name of the topology.
    #[getter]
    fn name(&self) -> &str {
        &self.checked.topology.name
    }

    fn __repr__(&self) -> String {
        format!("<Topology {} {}>", *self.checked.topology.name, &self.checked.hash()[..12])
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().checked.canonical() == self.checked.canonical())
    }

    fn __hash__(&self) -> u64 {
        let hash = self.checked.hash();
        u64::from_str_radix(&hash[..16], 16).expect("a hash is written in hexadecimal digits")
    }

    /// Gives the parts of a pickle: the text and the replacements of its parts.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.get_type::<Self>().getattr("_rebuild")?;
        (rebuild, (&self.source,)).into_pyobject(py)
    }

    #[classmethod]
    fn _rebuild(_class: &Bound<'_, PyType>, source: Source) -> PyResult<Self> {
        Self::read(source)
    }
}

/// Works the answer of a topology out on `workers` threads, 0 for one on each processor: its tables, and warnings.
#[pyfunction]
pub(crate) fn follow(
    py: Python<'_>,
    topology: &Bound<'_, Topology>,
    workers: usize,
) -> PyResult<(Vec<Table>, Vec<String>)> {
    let checked = &topology.get().checked;
    let stop = AtomicBool::new(false);
    let answer = py.detach(|| {
        let workers = Workers { stop: &stop, ..Workers::new(workers) };
        guarded(|| {
            while_signals_are_heard(&stop, || slantpath_topology::follow(checked, None, workers, &|_| {}))
        })?
    })?;
    let answer = answer.map_err(|error| match error {
        FollowError::Invalid(faults) => scenario_error(&faults),
        other => RunError::new_err(other.to_string()),
    })?;
    let answer = answer.expect("whoever stops it raises an error");
    let read = checked.warnings().iter().map(ToString::to_string);
    let warnings = read.chain(answer.warning_lines()).collect();
    Ok((answer.tables.into_iter().map(Table).collect(), warnings))
}

/// Does `work` on another thread; Ctrl-C sets `stop`, which is to end it.
pub(crate) fn while_signals_are_heard<T: Send>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            // Dropped with the outcome, and when the work panics.
            let _done = done;
            work()
        });
        let mut raised = None;
        while ended.recv_timeout(HEARD_WITHIN) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = heed_signals() {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let outcome = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map_or(Ok(outcome), Err)
    })
}
