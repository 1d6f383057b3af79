//! One run of a scenario, with the interpreter free for other threads meanwhile.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slantpath_scenario::RunOptions;

use crate::scenario::Scenario;
use crate::table::Table;

pyo3::import_exception!(slantpath.errors, RunError);

/// Runs a scenario once: the seed that was used, the digest, the tables, and pcapng files by link.
#[pyfunction]
#[pyo3(signature = (scenario, number, seed, captures))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    number: u64,
    seed: Option<u64>,
    captures: Vec<String>,
) -> PyResult<(u64, String, Vec<Table>, Bound<'py, PyDict>)> {
    let checked = &scenario.get().checked;
    let options = RunOptions { seed, run: number, captures };
    let output = py
        .detach(|| slantpath_scenario::run(checked, &options))
        .map_err(|error| RunError::new_err(error.to_string()))?;
    let captured = PyDict::new(py);
    for capture in &output.captures {
        captured.set_item(&capture.link, PyBytes::new(py, &capture.pcapng))?;
    }
    let tables = output.tables.into_iter().map(Table).collect();
    Ok((output.seed, output.digest, tables, captured))
}
