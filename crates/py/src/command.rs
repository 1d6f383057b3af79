//! The command `slantpath`, for the entry point that pip installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with its arguments, the program's name first; gives its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| slantpath_cli::main(args, None))
}
