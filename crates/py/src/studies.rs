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
        "mixed-traffic",
        "studies/mixed-traffic/scenario.toml",
        include_str!("../../../studies/mixed-traffic/scenario.toml"),
    ),
    (
        "multi-link",
        "studies/multi-link/scenario.toml",
        include_str!("../../../studies/multi-link/scenario.toml"),
    ),
];

/// Files of studies that are made of more than one.
const TEXTS: &[(&str, &str, &str)] = &[
    ("ftp-qos", "geo-sky.toml", include_str!("../../../studies/ftp-qos/geo-sky.toml")),
    ("ftp-qos", "geo.toml", include_str!("../../../studies/ftp-qos/geo.toml")),
    ("ftp-qos", "leo-sky.toml", include_str!("../../../studies/ftp-qos/leo-sky.toml")),
    ("ftp-qos", "leo.toml", include_str!("../../../studies/ftp-qos/leo.toml")),
    ("soip", "data.toml", include_str!("../../../studies/soip/data.toml")),
    ("soip", "emulator.toml", include_str!("../../../studies/soip/emulator.toml")),
    ("soip", "gateways.toml", include_str!("../../../studies/soip/gateways.toml")),
    ("soip", "satellite.toml", include_str!("../../../studies/soip/satellite.toml")),
    ("soip", "second.toml", include_str!("../../../studies/soip/second.toml")),
    (
        "sctp-over-satellites",
        "scenario.toml",
        include_str!("../../../studies/sctp-over-satellites/scenario.toml"),
    ),
    ("sctp-over-satellites", "sky.toml", include_str!("../../../studies/sctp-over-satellites/sky.toml")),
];

/// The text of a file of a study, which places it among others before it is read.
#[pyfunction]
pub(crate) fn study_text(study: &str, file: &str) -> PyResult<&'static str> {
    let found = TEXTS.iter().find(|(own, name, _)| (*own, *name) == (study, file));
    let Some((.., text)) = found else {
        return Err(PyKeyError::new_err(format!("study `{study}` has no file `{file}`")));
    };
    Ok(text)
}

/// The scenario of a study.
#[pyfunction]
pub(crate) fn study_scenario(py: Python<'_>, study: &str) -> PyResult<Scenario> {
    let Some((_, file, text)) = SCENARIOS.iter().find(|(name, ..)| *name == study) else {
        let names: Vec<&str> = SCENARIOS.iter().map(|(name, ..)| *name).collect();
        return Err(PyKeyError::new_err(format!("there is no study `{study}`: {}", names.join(", "))));
    };
    Scenario::read(py, Source::of_text(file, text, None), None)
}
