//! The scenarios of the studies, compiled in: an installed package needs no checkout to repeat them.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::scenario::Scenario;
use crate::source::Source;

const SCENARIOS: &[(&str, &str, &str)] = &[
    ("failover", "studies/failover/scenario.toml", include_str!("../../../studies/failover/scenario.toml")),
    (
        "long-paths",
        "studies/long-paths/scenario.toml",
        include_str!("../../../studies/long-paths/scenario.toml"),
    ),
    (
        "multi-link",
        "studies/multi-link/scenario.toml",
        include_str!("../../../studies/multi-link/scenario.toml"),
    ),
];

/// The scenario of a study.
#[pyfunction]
pub(crate) fn study_scenario(study: &str) -> PyResult<Scenario> {
    let Some((_, file, text)) = SCENARIOS.iter().find(|(name, ..)| *name == study) else {
        let names: Vec<&str> = SCENARIOS.iter().map(|(name, ..)| *name).collect();
        return Err(PyKeyError::new_err(format!("there is no study `{study}`: {}", names.join(", "))));
    };
    Scenario::read(Source::of_text(file, text, None))
}
