//! The Python extension module `slantpath._native`.
//!
//! Thin: it turns Python values into those of the engine and back. What users see is `python/slantpath`.

#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive by value")]

mod arrow;
mod statistics;
mod table;

use pyo3::prelude::*;

/// The engine of Slantpath.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::statistics::{mean_interval, quantile};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
