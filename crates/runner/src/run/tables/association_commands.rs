//! `association_commands`: what ends of associations were asked to do, and what became of it.

use slantpath_base::Instant;
use slantpath_host::{AssociationCommand, CommandOutcome, CommandRecord};
use slantpath_results::{Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{PlannedFlow, RunNetwork, action_of};

use crate::output::TableKind;

/// `None` if no flow has a script.
pub(in crate::run) fn table(network: &RunNetwork<'_>, flows: &[PlannedFlow]) -> Option<Table> {
    if flows.iter().all(|flow| flow.flow.script.is_empty()) {
        return None;
    }
    let [mut flow, mut end, mut action, mut streams, mut outcome] =
        ["flow", "end", "action", "streams", "outcome"].map(TextColumn::new);
    let [mut at, mut over, mut took] = ["at_s", "over_s", "took_s"].map(TypedColumn::<f64>::new);
    for planned in flows {
        for (name, node, socket) in
            [("sender", planned.from, planned.sender), ("receiver", planned.to, planned.receiver)]
        {
            let records = network.host(node).command_records();
            for record in records.iter().filter(|record| record.socket == socket) {
                let seconds = |instant: Instant| instant.since_start().as_secs_f64();
                flow.push(&planned.name);
                end.push(name);
                at.push(seconds(record.given));
                action.push(action_of(&record.command).as_str());
                streams.push(&named(&record.command));
                over.push_optional(record.over.map(seconds));
                took.push_optional(record.over.map(|at| at.saturating_since(record.given).as_secs_f64()));
                outcome.push(&outcome_text(record));
            }
        }
    }
    Some(TableKind::AssociationCommands.table([
        flow.into(),
        at.into(),
        end.into(),
        action.into(),
        streams.into(),
        over.into(),
        took.into(),
        outcome.into(),
    ]))
}

/// The streams that a reset names, or how many are added; nothing for all.
fn named(command: &AssociationCommand) -> String {
    match command {
        AssociationCommand::AddStreams { outbound, inbound } => format!("+{outbound} out, +{inbound} in"),
        AssociationCommand::ResetStreams { streams, .. } => {
            let numbers: Vec<String> = streams.iter().map(|stream| stream.0.to_string()).collect();
            numbers.join(" ")
        }
        AssociationCommand::ResetAssociation | AssociationCommand::UseKey(_) => String::new(),
    }
}

fn outcome_text(record: &CommandRecord) -> String {
    match &record.outcome {
        CommandOutcome::Answered(result) => format!("answered: {result:?}"),
        CommandOutcome::Done => "done".to_owned(),
        CommandOutcome::Refused(reason) => format!("refused: {reason}"),
        CommandOutcome::Waiting => "not answered".to_owned(),
    }
}
