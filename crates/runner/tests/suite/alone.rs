//! Scenarios in a test's own text, which need no other file.

use std::path::Path;

use slantpath_runner::{RunOptions, RunOutput, Scenario, files_in, run};

pub(crate) fn parse(text: &str) -> Scenario {
    Scenario::parse("alone", text, &[], files_in(Path::new("nowhere")))
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn run_text(text: &str) -> RunOutput {
    run(&parse(text), &RunOptions::default()).unwrap()
}
