//! The project's own scenarios.

use std::path::PathBuf;

use slantpath_runner::{RunOptions, RunOutput, Scenario, run};
use slantpath_testkit::page;

pub(crate) fn path(file: &str) -> PathBuf {
    page::path("scenarios").join(file)
}

/// One with other values.
pub(crate) fn load(file: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Scenario::load(&path(file), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn run_file(file: &str, overrides: &[&str]) -> RunOutput {
    run(&load(file, overrides), &RunOptions::default()).unwrap()
}
