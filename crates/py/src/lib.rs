//! The Python extension module `slantpath._native`.
//!
//! Thin: it turns Python values into those of the engine and back. What users see is `python/slantpath`.
//!
//! In `python/slantpath`, `running` makes runs on any executor and `store` keeps finished ones. `plots` draws result
//! directories. `page` writes HTML. The studies are a package of their own
//! (`studies/slantpath_studies`).

#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive by value")]

mod arrow;
mod command;
mod controller;
mod criteria;
mod files;
mod guard;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod live_settings;
#[cfg(target_os = "linux")]
mod mib;
mod os_error;
mod plan;
mod run;
mod scenario;
mod source;
mod statistics;
mod sweep;
mod table;
#[cfg(target_os = "linux")]
mod testbed;
mod toml_text;
mod topology;

use pyo3::prelude::*;

/// The engine of Slantpath.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::controller::Ack;
    #[pymodule_export]
    use super::criteria::{Until, Within};
    #[pymodule_export]
    use super::files::{DirectoryLock, write_file};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::live::LiveEndpoint;
    #[pymodule_export]
    use super::plan::plan;
    #[pymodule_export]
    use super::run::{Stop, run};
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::statistics::{mean_interval, quantile, student_t_quantile};
    #[pymodule_export]
    use super::sweep::{Sweep, SweepDirectory, made};
    #[pymodule_export]
    use super::table::Table;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::testbed::Testbed;
    #[pymodule_export]
    use super::toml_text::toml_text;
    #[pymodule_export]
    use super::topology::{Topology, follow};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
