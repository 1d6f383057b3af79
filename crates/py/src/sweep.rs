//! A sweep whose runs Python's executors make: the grid, the store and the results of the command.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyFileExistsError, PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slantpath_cli::{ResultsError, SweepResults};
use slantpath_runner::{LoadError, MadeRun, RunOptions, StoreError, TABLES, Watch};

use crate::guard::guarded;
use crate::os_error::os_error;
use crate::run::{Stop, stoppable};
use crate::scenario::Scenario;
use crate::source::{doubts, scenario_error, warn};
use crate::table::Table;
use crate::toml_text::{quoted, toml_text};
use crate::topology::while_signals_are_heard;

/// Name by which errors call the grid.
const GRID: &str = "grid";

/// A checked grid over a scenario. Its jobs are the runs of each point, in the order of the grid.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Sweep {
    base: Py<Scenario>,
    grid: slantpath_runner::Sweep,
    /// Scenario of the point that was asked for last: the runs of a point share it.
    latest: Mutex<Option<(usize, Py<Scenario>)>>,
}

#[pymethods]
impl Sweep {
    /// A grid of paths and the values that they take; `tables` are those that are joined, all if absent.
    #[new]
    #[pyo3(signature = (base, grid, runs, first_run, tables))]
    fn new(
        py: Python<'_>,
        base: Py<Scenario>,
        grid: &Bound<'_, PyDict>,
        runs: u64,
        first_run: u64,
        tables: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let text = text_of(grid, runs, first_run, tables)?;
        let checked = &base.get().checked;
        let stop = AtomicBool::new(false);
        let grid = py
            .detach(|| {
                while_signals_are_heard(&stop, || {
                    let base = |_: &str, _: &dyn Fn(_)| Ok(checked.clone());
                    let watch = Watch { progress: &|_| {}, stop: &stop, pieces: None };
                    guarded(|| slantpath_runner::Sweep::parse_observed(GRID, &text, base, watch))
                })
            })??
            .map_err(|error| match error {
                LoadError::Invalid(faults) => scenario_error(&faults),
                LoadError::Unreadable { path, error } => os_error(&error, &path),
            })?;
        let before = checked.warnings();
        let new: Vec<_> = grid.warnings().iter().filter(|doubt| !before.contains(doubt)).cloned().collect();
        warn(py, &doubts(py, &new)?)?;
        Ok(Self { base, grid, latest: Mutex::default() })
    }

    /// Number of runs in all.
    fn __len__(&self) -> usize {
        self.grid.jobs()
    }

    /// Scenario of a job, which can be sent to another process, and the number of its run.
    fn job(&self, py: Python<'_>, job: usize) -> PyResult<(Py<Scenario>, u64)> {
        if job >= self.grid.jobs() {
            return Err(PyIndexError::new_err(format!("job {job} of {}", self.grid.jobs())));
        }
        let (point, run) = self.grid.job(job);
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let scenario = if let Some((_, scenario)) = latest.filter(|(of, _)| *of == point) {
            scenario
        } else {
            let values = self.grid.values(point);
            let values: Vec<String> = values.iter().map(|(path, value)| format!("{path}={value}")).collect();
            let checked = py.detach(|| guarded(|| self.grid.scenario(point)))?;
            Py::new(py, self.base.get().varied(py, &values, checked))?
        };
        let kept = Some((point, scenario.clone_ref(py)));
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok((scenario, run))
    }

    /// Tables that are joined.
    #[getter]
    fn tables(&self) -> Vec<String> {
        self.grid.tables().to_vec()
    }

    /// Joins runs that [`made`] gave, by their jobs.
    fn join(&self, py: Python<'_>, runs: Vec<Vec<u8>>) -> PyResult<Vec<Table>> {
        let joined = py.detach(|| {
            let runs = runs.into_iter().map(MadeRun::read).collect::<Option<Vec<_>>>()?;
            Some(self.grid.join_made(|job| runs.get(job)))
        });
        let joined = joined.ok_or_else(|| PyValueError::new_err("these are not the bytes of a run"))?;
        let (tables, _) = joined.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(tables.into_iter().map(Table).collect())
    }
}

/// The grid as the file of a sweep.
fn text_of(
    grid: &Bound<'_, PyDict>,
    runs: u64,
    first_run: u64,
    tables: Option<Vec<String>>,
) -> PyResult<String> {
    let tables = tables.unwrap_or_else(|| TABLES.iter().map(|name| (*name).to_owned()).collect());
    let tables = tables.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "[sweep]\nscenario = \"\"\nrepetitions = {runs}\nfirst_run = {first_run}\ntables = [{tables}]\n"
    );
    for (path, values) in grid.iter() {
        let (path, values) = (toml_text(&path)?, toml_text(&values)?);
        write!(text, "\n[[axis]]\n{path} = {values}\n").expect("a string takes everything");
    }
    Ok(text)
}

/// Makes a run and gives it as bytes, with those of the tables that it has. It ends early as
/// [`run`](crate::run::run) does.
#[pyfunction]
#[pyo3(signature = (scenario, number, tables, stop))]
pub(crate) fn made<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    number: u64,
    tables: Vec<String>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = RunOptions { run: number, ..RunOptions::default() };
    let output = stoppable(py, &scenario.get().checked, &options, stop)?;
    Ok(PyBytes::new(py, MadeRun::of(output, &tables).as_bytes()))
}

/// Directory of a sweep's finished runs and results. Its caller holds the lock on it.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct SweepDirectory(Mutex<SweepResults>);

impl SweepDirectory {
    fn with<T>(&self, work: impl FnOnce(&mut SweepResults) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl SweepDirectory {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        SweepResults::open(&path)
            .map(|results| Self(Mutex::new(results)))
            .map_err(|error| results_error(&error))
    }

    /// Tells whether the run of a job is finished, with the tables that are joined.
    fn is_kept(&self, py: Python<'_>, sweep: &Bound<'_, Sweep>, job: usize) -> bool {
        let sweep = sweep.get();
        py.detach(|| self.with(|results| sweep.grid.is_kept(&results.store(), job)))
    }

    /// Keeps the run of a job, from the bytes that [`made`] gave.
    fn keep(&self, py: Python<'_>, sweep: &Bound<'_, Sweep>, job: usize, run: Vec<u8>) -> PyResult<()> {
        let sweep = sweep.get();
        let run = MadeRun::read(run);
        let run = run.ok_or_else(|| PyValueError::new_err("these are not the bytes of a run"))?;
        py.detach(|| self.with(|results| sweep.grid.keep(&results.store(), job, &run)))
            .map_err(|StoreError { path, error }| os_error(&error, &path))
    }

    /// Joins the runs, which are all kept, and writes the files of the command; gives the tables.
    fn write(&self, py: Python<'_>, sweep: &Bound<'_, Sweep>) -> PyResult<Vec<Table>> {
        let sweep = sweep.get();
        let stop = AtomicBool::new(false);
        let write = || {
            self.with(|results| {
                let (tables, runs) = sweep
                    .grid
                    .join_kept(&results.store())
                    .map_err(|error| ResultsError::Failed(error.to_string()))?;
                results.write(&sweep.grid, &tables, &runs, &stop)?;
                Ok(tables)
            })
        };
        let written = py.detach(|| while_signals_are_heard(&stop, write))?;
        let tables = written.map_err(|error: ResultsError| results_error(&error))?;
        Ok(tables.into_iter().map(Table).collect())
    }
}

fn results_error(error: &ResultsError) -> PyErr {
    match error {
        ResultsError::Refused(why) => PyFileExistsError::new_err(why.clone()),
        ResultsError::Failed(why) => PyOSError::new_err(why.clone()),
    }
}
