//! Explanation of a global title, from the file alone.

use std::io::Write;

use slantpath_gateway::{TitleError, WrittenTitle, explain_title};
use slantpath_runner::{Scenario, suggest};

use crate::arguments::TitleArguments;
use crate::failure::Failure;

/// Says where a title goes. A title that does not arrive is a failure.
pub(super) fn explain(arguments: &TitleArguments, out: &mut impl Write) -> Result<(), Failure> {
    let scenario = Scenario::load(&arguments.scenario, &arguments.set)?;
    let plan = scenario.signalling_plan();
    let plan = plan.ok_or_else(|| Failure::Misused("the scenario has no signalling network".to_owned()))?;
    let title = WrittenTitle {
        digits: &arguments.digits,
        translation_type: arguments.translation_type.0,
        plan: arguments.plan.0,
        nature: arguments.nature.0,
        subsystem: arguments.subsystem,
        calling: arguments.calling.as_deref(),
    };
    let question = title.asked_at(&plan.network, &arguments.point);
    let question = question.map_err(|error| {
        Failure::Misused(match &error {
            TitleError::UnknownPoint { name, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                format!("there is no point `{name}`: {}", suggest(name, "points", &known))
            }
            error => error.to_string(),
        })
    })?;
    let explanation = explain_title(&plan.network, &question, None);
    for line in &explanation.lines {
        writeln!(out, "{line}")?;
    }
    if explanation.arrives {
        return Ok(());
    }
    Err(Failure::Failed(format!("{} does not arrive everywhere that rules lead it", arguments.digits)))
}
