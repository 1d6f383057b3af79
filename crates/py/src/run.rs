//! One run of a scenario, with the interpreter free for other threads meanwhile.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slantpath_runner::{RunOptions, RunOutput, run_while};

use crate::controller::{begin_run, failure, has_failed};
use crate::guard::guarded;
use crate::scenario::Scenario;
use crate::table::Table;

pyo3::import_exception!(slantpath.errors, RunError);

/// The engine asks every few milliseconds whether to go on; asking the interpreter that often would have a run wait
/// for its other threads.
const QUESTIONS_BETWEEN_SIGNALS: u32 = 8;

/// Ends runs that other threads make.
#[pyclass(module = "slantpath._native", frozen)]
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the runs that were given this.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a scenario once: the seed that was used, the digest, the tables, and pcapng files by link. It ends early when
/// `stop` is set, or with Ctrl-C if there is none.
#[pyfunction]
#[pyo3(signature = (scenario, number, seed, captures, stop))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    number: u64,
    seed: Option<u64>,
    captures: Vec<String>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<(u64, String, Vec<Table>, Bound<'py, PyDict>)> {
    let options = RunOptions { seed, run: number, captures };
    let output = stoppable(py, &scenario.get().checked, &options, stop)?;
    let captured = PyDict::new(py);
    for capture in &output.captures {
        captured.set_item(&capture.link, PyBytes::new(py, &capture.pcapng))?;
    }
    let tables = output.tables.into_iter().map(Table).collect();
    Ok((output.seed, output.digest, tables, captured))
}

/// Makes a run with the interpreter free for other threads, unless it is stopped.
pub(crate) fn stoppable(
    py: Python<'_>,
    scenario: &slantpath_runner::Scenario,
    options: &RunOptions,
    stop: Option<&Bound<'_, Stop>>,
) -> PyResult<RunOutput> {
    let stop = stop.map(|stop| &stop.get().0);
    let mut raised = None;
    begin_run();
    let mut questions = 0_u32;
    let mut go_on = || match stop {
        // One of its controllers has raised something.
        _ if has_failed() => ControlFlow::Break(()),
        Some(stop) if stop.load(Ordering::Relaxed) => ControlFlow::Break(()),
        // Whoever gave it hears of signals: Python has only its main thread handle them.
        Some(_) => ControlFlow::Continue(()),
        None => {
            questions = (questions + 1) % QUESTIONS_BETWEEN_SIGNALS;
            if questions > 0 {
                return ControlFlow::Continue(());
            }
            raised = heed_signals().err();
            if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    let output = py
        .detach(|| guarded(|| run_while(scenario, options, &mut |_| go_on())))?
        .map_err(|error| RunError::new_err(error.to_string()))?;
    if let Some(error) = failure(py) {
        return Err(error);
    }
    output.ok_or_else(|| raised.unwrap_or_else(|| RunError::new_err("the run was stopped")))
}

/// Has the interpreter handle the signals that have come, from a thread that may be detached from it.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime, the closure any")]
pub(crate) fn heed_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}
