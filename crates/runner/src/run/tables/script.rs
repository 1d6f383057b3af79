//! `script`: what the scripts of a scenario do, in the order of time.

use slantpath_base::Duration;
use slantpath_reader::{Named, Setting};
use slantpath_results::Table;
use slantpath_scenario::schema::{self, AssociationEvent, Which};
use slantpath_scenario::signalling::schema::SignallingEvent;

use crate::columns::{Number, Text, columns};
use crate::output::TableKind;
use crate::scenario::Scenario;

columns! {
    /// Columns of `script`.
    pub(super) struct Columns {
        /// Time of the event.
        at_s: Number,
        /// Kind of what it happens to: `link`, `flow`, `signalling link`, `point` or `asp`.
        kind: Text,
        /// Name of what it happens to.
        name: Text,
        /// Part of it: directions of a link, end of a flow, point at whose end of a signalling link, or subsystem of a
        /// point. Missing if it happens to the whole.
        part: Text,
        /// Event, in the words of the script, with what it sets.
        event: Text,
    }
}

/// Something that a script does, in the words of the table `script`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptEvent {
    /// Time of the event, from the start of the run.
    pub at: Duration,
    /// Kind of what it happens to.
    pub kind: &'static str,
    /// Name of what it happens to.
    pub name: String,
    /// Part of it, unless it happens to the whole.
    pub part: Option<String>,
    /// Event, in the words of the script, with what it sets.
    pub event: String,
}

/// The events of the scripts of links, flows and signalling, in the order of time.
pub fn script_events(scenario: &Scenario) -> Vec<ScriptEvent> {
    events(scenario, &[])
}

/// The events of all scripts, and those that were asked for while the network ran.
fn events(scenario: &Scenario, asked: &[Named<schema::Event>]) -> Vec<ScriptEvent> {
    let flows =
        scenario.flows.iter().flat_map(|(name, flow)| flow.script.iter().map(move |event| (name, event)));
    let of_links = scenario.script.iter().chain(asked);
    let mut events: Vec<_> = of_links.map(|event| ScriptEvent::of_link(event)).collect();
    events.extend(flows.map(|(name, event)| of_flow(name, event)));
    events.extend(scenario.signalling.script.iter().map(|event| of_signalling(event)));
    events.sort_by_key(|event| event.at);
    events
}

/// A row for each event. `None` if there is none.
pub(super) fn table(scenario: &Scenario, asked: &[Named<schema::Event>]) -> Option<Table> {
    let rows = events(scenario, asked);
    let mut columns = Columns::new();
    for ScriptEvent { at, kind, name, part, event } in &rows {
        columns.at_s.push(at.as_secs_f64());
        columns.kind.push(kind);
        columns.name.push(name.as_str());
        columns.part.push_optional(part.as_deref());
        columns.event.push(event.as_str());
    }
    (!rows.is_empty()).then(|| columns.finish(TableKind::Script))
}

impl ScriptEvent {
    /// An event of a link.
    pub(in crate::run) fn of_link(event: &schema::Event) -> Self {
        let settings = [
            ("rate", text(event.rate.as_ref())),
            ("delay", text(event.delay.as_ref())),
            ("loss", text(event.loss.as_ref())),
            ("bit_error_rate", text(event.bit_error_rate.as_ref())),
            ("duplicate", text(event.duplicate.as_ref())),
            ("reorder", text(event.reorder.as_ref())),
            ("reorder_delay", text(event.reorder_delay.as_ref())),
        ];
        let part = (*event.direction != Which::Both).then(|| event.direction.to_string());
        let event_words = words(event.action.as_str(), &settings);
        Self { at: *event.at, kind: "link", name: event.link.to_string(), part, event: event_words }
    }
}

/// An action, with the settings that are given beside it.
fn words(action: &str, settings: &[(&str, Option<String>)]) -> String {
    let given = settings.iter().filter_map(|(key, value)| Some(format!("{key} {}", value.as_ref()?)));
    let given: Vec<String> = given.collect();
    if given.is_empty() { action.to_owned() } else { format!("{action} {}", given.join(", ")) }
}

fn of_flow(name: &str, event: &AssociationEvent) -> ScriptEvent {
    let numbers = |streams: &[u16]| streams.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let settings = [
        ("streams", event.streams.as_ref().map(|streams| numbers(streams))),
        ("outgoing", text(event.outgoing.as_ref())),
        ("incoming", text(event.incoming.as_ref())),
        ("key", text(event.key.as_ref())),
    ];
    let event_words = words(event.action.as_str(), &settings);
    let (name, part) = (name.to_owned(), Some(event.end.to_string()));
    ScriptEvent { at: *event.at, kind: "flow", name, part, event: event_words }
}

fn of_signalling(event: &SignallingEvent) -> ScriptEvent {
    let subsystem = event.subsystem.as_ref().map(|subsystem| format!("subsystem {}", **subsystem));
    let (kind, name, part) = match (&event.asp, &event.link, &event.point) {
        (Some(asp), ..) => ("asp", Some(asp), None),
        (None, Some(link), point) => {
            ("signalling link", Some(link), point.as_ref().map(|point| point.to_string()))
        }
        (None, None, point) => ("point", point.as_ref(), subsystem),
    };
    let name = name.map_or_else(String::new, |name| name.to_string());
    ScriptEvent { at: *event.at, kind, name, part, event: event.action.to_string() }
}

fn text<T: ToString>(value: Option<&Setting<T>>) -> Option<String> {
    value.map(|value| (**value).to_string())
}
