//! The command `slantpath`, for the entry point that pip installs.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// Runs the command with its arguments, the program's name first; gives its exit status. `draw` is called with a
/// directory of tables to draw their figures into and with what says whether to stop, and gives the names of the files.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>, draw: Py<PyAny>) -> u8 {
    let draw = |directory: &Path, stop: &'static AtomicBool| {
        let is_stopped =
            move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| stop.load(Ordering::Relaxed);
        Python::attach(|py| {
            let is_stopped = PyCFunction::new_closure(py, None, None, is_stopped)?;
            draw.call1(py, (directory, is_stopped))?.extract::<Vec<String>>(py)
        })
        .map_err(|error: PyErr| format!("the figures cannot be drawn: {error}"))
    };
    py.detach(|| slantpath_cli::main(args, Some(&draw)))
}
