//! `association_commands`: what ends of associations were asked to do, and what became of it.

use slantpath_base::Instant;
use slantpath_host::{AssociationCommand, CommandOutcome, CommandRecord};
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, RunNetwork, action_of};

use crate::columns::{Number, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `association_commands`.
    pub(super) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Time at which the end was told.
        at_s: Number,
        /// End that was told: `sender` or `receiver`.
        end: Text,
        /// Action, as the script names it.
        action: Text,
        /// Streams that the action names, nothing for all; of `add-streams` how many.
        streams: Text,
        /// Time at which the peer had answered.
        over_s: Number,
        /// Time from the command until then.
        took_s: Number,
        /// Outcome: `done`, `answered: …` with another answer of the peer, `refused: …` with the reason for which the
        /// association did not take it, or `not answered`.
        outcome: Text,
    }
}

/// `None` if no flow has a script.
pub(in crate::run) fn table(network: &RunNetwork<'_>, flows: &[PlannedFlow]) -> Option<Table> {
    if flows.iter().all(|flow| flow.flow.script.is_empty()) {
        return None;
    }
    let mut columns = Columns::new();
    for planned in flows {
        for (name, node, socket) in
            [("sender", planned.from, planned.sender), ("receiver", planned.to, planned.receiver)]
        {
            let records = network.host(node).command_records();
            for record in records.iter().filter(|record| record.socket == socket) {
                let seconds = |instant: Instant| instant.since_start().as_secs_f64();
                let took = record.over.map(|at| at.saturating_since(record.given).as_secs_f64());
                columns.flow.push(&planned.name);
                columns.at_s.push(seconds(record.given));
                columns.end.push(name);
                columns.action.push(action_of(&record.command).as_str());
                columns.streams.push(&named(&record.command));
                columns.over_s.push_optional(record.over.map(seconds));
                columns.took_s.push_optional(took);
                columns.outcome.push(&outcome_text(record));
            }
        }
    }
    Some(columns.finish(TableKind::AssociationCommands))
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
