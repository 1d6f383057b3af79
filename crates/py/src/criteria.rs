//! Questions to many runs, as the command's `--until` and `--within` ask them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slantpath_cli::Precise;

/// Precision that the mean of a measure is to have.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Until(slantpath_cli::Until);

/// Limit that a measure is to keep.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Within(slantpath_cli::Within);

#[pymethods]
impl Until {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        slantpath_cli::Until::parse(text).map(Self).map_err(PyValueError::new_err)
    }

    /// Column of `flows` and `signalling_service` that is measured.
    #[getter]
    fn column(&self) -> &str {
        self.0.column()
    }

    /// The question in words.
    #[getter]
    fn words(&self) -> String {
        self.0.words()
    }

    /// Tells that nothing has the measure in so many runs, and what would give it one.
    fn unmeasured(&self, runs: usize) -> String {
        self.0.unmeasured(runs)
    }

    /// Number of runs in all that are wanted, by the values that each flow has in those that were made; as many as
    /// these if they are enough, nothing if no flow has the measure.
    fn wanted(&self, made: u64, flows: Vec<Vec<f64>>) -> Option<u64> {
        match self.0.judge_values(made, flows) {
            Precise::Reached => Some(made),
            Precise::Wanted(runs) => Some(runs),
            Precise::Unmeasured => None,
        }
    }
}

#[pymethods]
impl Within {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        slantpath_cli::Within::parse(text).map(Self).map_err(PyValueError::new_err)
    }

    /// Column of `flows` and `signalling_service` that is limited.
    #[getter]
    fn column(&self) -> &str {
        self.0.column()
    }

    /// The question in words.
    #[getter]
    fn words(&self) -> String {
        self.0.words()
    }

    /// Tells that nothing has the measure in so many runs, and what would give it one.
    fn unmeasured(&self, runs: usize) -> String {
        self.0.unmeasured(runs)
    }

    /// Runs in which a flow keeps the limit, runs that count, and the least and the greatest share that they allow. A
    /// run is the flow's value and whether it failed.
    fn share(&self, runs: Vec<(Option<f64>, bool)>) -> Option<(u64, u64, f64, f64)> {
        let share = self.0.share(runs)?;
        Some((share.successes, share.trials, share.low, share.high))
    }
}
