//! Explanation of a global title: from the file alone, or by the point that is live.

use std::io::Write;
use std::path::Path;

use slantpath_control::{Command, Json};
use slantpath_gateway::{TitleError, WrittenTitle, explain_title};
use slantpath_runner::{OwnKinds, Scenario, suggest};

use crate::arguments::TitleArguments;
use crate::failure::Failure;
use crate::set;

/// Says where a title goes. A title that does not arrive is a failure.
pub(super) fn explain(
    arguments: &TitleArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (lines, arrives) = match &arguments.now {
        Some(socket) => by_live(arguments, socket)?,
        None => by_file(arguments, own)?,
    };
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    if arrives {
        return Ok(());
    }
    Err(Failure::Failed(format!("{} does not arrive everywhere that rules lead it", arguments.digits)))
}

/// Lines of the explanation, and whether the title arrives everywhere.
type Told = (Vec<String>, bool);

fn by_file(arguments: &TitleArguments, own: &OwnKinds) -> Result<Told, Failure> {
    let scenario = Scenario::load_observed(&arguments.scenario, &arguments.set, own, &|_| {})?;
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
    Ok((explanation.lines, explanation.arrives))
}

/// Asks the point that is live, which says besides what it does not reach now.
fn by_live(arguments: &TitleArguments, socket: &Path) -> Result<Told, Failure> {
    let TitleArguments { point, digits, translation_type, plan, nature, subsystem, calling, .. } = arguments;
    let number = |value: Option<u8>| value.map(|value| value.to_string());
    let pairs = [
        ("point", Some(point.clone())),
        ("digits", Some(digits.clone())),
        ("translation_type", number(translation_type.0)),
        ("plan", number(plan.0)),
        ("nature", number(nature.0)),
        ("subsystem", number(*subsystem)),
        ("calling", calling.clone()),
    ];
    let pairs = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let told = set::ask(socket, &Command::Explain(pairs.collect()))?;
    let lines = told["lines"].as_array().into_iter().flatten().filter_map(Json::as_str);
    Ok((lines.map(str::to_owned).collect(), told["arrives"] == true))
}
