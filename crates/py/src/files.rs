//! Files and directories of results, as Python's own code writes them.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use slantpath_results::LockError;

use crate::os_error::os_error;

pyo3::import_exception!(slantpath.errors, InUseError);

/// The right of this process to write into a directory.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct DirectoryLock(Mutex<Option<slantpath_results::DirectoryLock>>);

#[pymethods]
impl DirectoryLock {
    /// Locks a directory, which is made if it is not there, and removes what killed processes left of files in it, and
    /// in the stores below it.
    #[new]
    #[pyo3(signature = (directory, stores))]
    fn new(directory: PathBuf, stores: Vec<String>) -> PyResult<Self> {
        let stores: Vec<&str> = stores.iter().map(String::as_str).collect();
        match slantpath_results::DirectoryLock::take(&directory, &stores) {
            Ok(lock) => Ok(Self(Mutex::new(Some(lock)))),
            Err(LockError::Unwritable { path, error }) => Err(os_error(&error, &path)),
            Err(held @ LockError::Held(_)) => Err(InUseError::new_err(held.to_string())),
        }
    }

    /// Gives it back.
    fn release(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = None;
    }

    /// Lets a forked process go of its copy.
    fn release_copy(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = held.as_mut() {
            lock.release_copy();
        }
    }
}

/// Writes a file, whole or not at all. Directories on the way are created.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    py.detach(|| slantpath_results::write_file(&path, |out| std::io::Write::write_all(out, data)))
        .map_err(|error| os_error(&error, &path))
}
