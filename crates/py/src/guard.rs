//! A panic of the engine as an exception: PyO3's own is no `Exception`, so that `except Exception` lets it pass.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Does `work`, and raises a `RuntimeError` if it panics. Nobody uses again what it may have left half done.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| PyRuntimeError::new_err(told(&*panic)))
}

fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it says no more");
    format!("a fault of Slantpath itself, please report it: {text}")
}
