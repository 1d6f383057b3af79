//! Errors of the operating system as Python raises them.

use std::io;
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The error with its number and file, of which Python makes a `FileNotFoundError`, a `PermissionError` and so on.
pub(crate) fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let path = path.as_os_str().to_owned();
    let Some(code) = error.raw_os_error() else {
        // Told with its file where it came about.
        return io::Error::new(error.kind(), error.to_string()).into();
    };
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text).to_owned();
    if cfg!(windows) {
        // There the code is not an errno: Python translates it.
        return PyOSError::new_err((0, text, path, code));
    }
    PyOSError::new_err((code, text, path))
}
