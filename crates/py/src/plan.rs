//! `slantpath.plan`: the planner, which needs no simulator.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use slantpath_plan::{Question, plan as answer, print};

use crate::guard::guarded;
use crate::source::{assignments, scenario_error};

/// The answer to a question as JSON, and as a scenario. Values are laid over the text: `{"band.permanent": "2048
/// kbit/s"}`.
#[pyfunction]
pub(crate) fn plan(text: &str, file_name: &str, values: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let sets = assignments(values)?;
    let answered = guarded(|| {
        let question = Question::parse(file_name, text, &sets)?;
        let found = answer(&question);
        Ok((print::json(&found).to_string(), print::scenario(&question, &found)))
    })?;
    answered.map_err(|faults| scenario_error(&faults))
}
