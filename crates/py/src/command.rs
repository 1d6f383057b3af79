//! The command `slantpath`, for the entry point that pip installs.

use std::ffi::OsString;
use std::path::Path;

use pyo3::prelude::*;

/// Runs the command with its arguments, the program's name first; gives its exit status. `draw` is called with a
/// directory of tables to draw their figures into, and gives the names of the files.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>, draw: Py<PyAny>) -> u8 {
    let draw = |directory: &Path| {
        Python::attach(|py| draw.call1(py, (directory,))?.extract::<Vec<String>>(py))
            .map_err(|error: PyErr| format!("the figures cannot be drawn: {error}"))
    };
    py.detach(|| slantpath_cli::main(args, Some(&draw)))
}
