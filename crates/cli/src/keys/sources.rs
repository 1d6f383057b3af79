//! Entries of the search, from schemas of files, declarations of tables and events, and arguments of commands.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use serde_json::Value as Json;
use slantpath_runner::{FileKind, TABLES, TableKind};

use slantpath_topology::ANSWER_TABLES;
use slantpath_trace::{DescribedRecord, described_records};

use crate::arguments::Arguments;

/// Depth of tables in tables that is searched: no file has deeper ones.
const DEEPEST: usize = 12;

/// A key, a column, a table or a flag.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// Source of the entry: `scenario`, `flags` and so on.
    pub(super) kind: &'static str,
    /// Part of the source: a table of a file, a table of results, a command.
    pub(super) section: String,
    /// Path of the key, name of the column with its table, or flag with its command.
    pub(super) name: String,
    /// Kinds of the table that has the key alone.
    pub(super) only: Vec<String>,
    /// Value that stands there, with its unit.
    pub(super) value: String,
    /// Default, or none.
    pub(super) default: Option<String>,
    /// Meaning in a sentence or two, with that of each choice.
    pub(super) meaning: String,
}

impl Entry {
    /// Value, default and owner in a few words.
    pub(super) fn about(&self) -> String {
        let mut parts = vec![self.kind.to_owned()];
        if !self.only.is_empty() {
            parts.push(format!("kind {}", self.only.join(", ")));
        }
        parts.extend((!self.value.is_empty()).then(|| self.value.clone()));
        parts.extend(self.default.as_ref().map(|default| match default.as_str() {
            REQUIRED => REQUIRED.to_owned(),
            default => format!("default {default}"),
        }));
        format!("({})", parts.join("; "))
    }
}

/// Word in the place of a default for what must be written.
const REQUIRED: &str = "required";

/// All entries: keys of the four files, tables of runs and topologies with their columns, events of traces, flags of
/// all commands.
pub(super) fn entries() -> Vec<Entry> {
    let mut all = Vec::new();
    let read = |schema: String| serde_json::from_str(&schema).expect("a schema is JSON");
    for (kind, root) in [
        (FileKind::Scenario, slantpath_runner::schema_tree()),
        (FileKind::Sweep, read(slantpath_runner::sweep_schema())),
        (FileKind::Topology, read(slantpath_topology::json_schema())),
        (FileKind::Plan, read(slantpath_plan::json_schema())),
    ] {
        let source = match kind {
            FileKind::Scenario => "scenario",
            FileKind::Sweep => "sweep",
            FileKind::Topology => "topology",
            FileKind::Plan => "plan",
        };
        Keys { kind: source, root: &root, begin: 0, all: &mut all }.within(&root, "", &[], DEEPEST);
    }
    columns(&mut all);
    answer_columns(&mut all);
    events(&mut all);
    flags(&mut all);
    all
}

/// Keys of a file, from its schema.
struct Keys<'a> {
    kind: &'static str,
    root: &'a Json,
    /// First entry of the table at the top that is gone through.
    begin: usize,
    all: &'a mut Vec<Entry>,
}

impl<'a> Keys<'a> {
    /// A schema, or the one that it refers to.
    fn resolved(&self, schema: &'a Json) -> &'a Json {
        let reference = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/"));
        reference.map_or(schema, |name| &self.root["$defs"][name])
    }

    /// Adds the keys of a table and of all that is in it. `only` are the kinds of the table that have them.
    fn within(&mut self, schema: &'a Json, path: &str, only: &[String], depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        let schema = self.resolved(schema);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            if key == "kind" && inner.get("const").is_some() {
                continue;
            }
            let inner = self.resolved(inner);
            if path.is_empty() {
                self.begin = self.all.len();
            }
            let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.key(&name, inner, only, required.contains(&key.as_str()));
            self.members(inner, &name, only, deeper);
        }
    }

    /// Adds what stands in the value of a key.
    fn members(&mut self, schema: &'a Json, path: &str, only: &[String], depth: usize) {
        self.within(schema, path, only, depth);
        let Some(depth) = depth.checked_sub(1) else { return };
        for (members, step) in [("additionalProperties", ".<name>"), ("items", "[]")] {
            let inner = &schema[members];
            if inner.is_object() {
                let inner = self.resolved(inner);
                self.members(inner, &format!("{path}{step}"), only, depth);
            }
        }
        for choices in ["oneOf", "anyOf"] {
            for choice in schema[choices].as_array().into_iter().flatten() {
                let choice = self.resolved(choice);
                let kind = choice.pointer("/properties/kind/const").and_then(Json::as_str);
                let only: Vec<String> = kind.map_or_else(|| only.to_vec(), |kind| vec![kind.to_owned()]);
                self.members(choice, path, &only, depth);
            }
        }
    }

    /// Adds a key, or one kind more to those that have it.
    fn key(&mut self, name: &str, schema: &Json, only: &[String], is_required: bool) {
        let default = match schema.get("default") {
            Some(Json::String(text)) => Some(text.clone()),
            Some(default) => Some(default.to_string()),
            None => is_required.then(|| REQUIRED.to_owned()),
        };
        let section = name.split(['.', '[']).next().unwrap_or_default().to_owned();
        let mut entry = Entry {
            kind: self.kind,
            section,
            name: name.to_owned(),
            only: only.to_vec(),
            value: value(schema),
            default,
            meaning: meaning(schema),
        };
        if entry.meaning.is_empty() {
            // Part of a value: that of the whole.
            let whole = self.all.iter().rev().find(|known| entry.name.starts_with(&known.name));
            entry.meaning = whole.map_or_else(String::new, |whole| whole.meaning.clone());
        }
        let same = |known: &&mut Entry| {
            (&known.name, &known.value, &known.default, &known.meaning)
                == (&entry.name, &entry.value, &entry.default, &entry.meaning)
        };
        match self.all[self.begin..].iter_mut().find(same) {
            Some(known) => known.only.extend(entry.only),
            None => self.all.push(entry),
        }
    }
}

/// Meaning of a key, and of each word that may stand there.
fn meaning(schema: &Json) -> String {
    let mut text =
        schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        if let (Some(word), Some(about)) = (choice["const"].as_str(), choice["description"].as_str()) {
            write!(text, " `{word}`: {about}").expect("a string takes everything");
        }
    }
    text
}

/// Value that stands behind a key, by its schema, with the unit that its example has.
fn value(schema: &Json) -> String {
    if let Some(choices) = schema["oneOf"].as_array() {
        let words: Vec<&str> = choices.iter().filter_map(|choice| choice["const"].as_str()).collect();
        if !words.is_empty() {
            return words.join(", ");
        }
    }
    if let Some(examples) = schema["examples"].as_array() {
        let examples: Vec<String> = examples.iter().map(Json::to_string).collect();
        return format!("like {}", examples.join(", "));
    }
    match schema["type"].as_str() {
        Some("array") => match value(&schema["items"]) {
            of if of.is_empty() => "a list".to_owned(),
            of => format!("a list, each {of}"),
        },
        Some("boolean") => "true, false".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("object") => "a table".to_owned(),
        Some(_) => "a string".to_owned(),
        None => String::new(),
    }
}

/// Tables of a run's results, and their columns.
fn columns(all: &mut Vec<Entry>) {
    for kind in TABLES.iter().filter_map(|name| TableKind::of_name(name)) {
        let table = |name: String, value: String, meaning: String| Entry {
            kind: "results",
            section: kind.name().to_owned(),
            name,
            value,
            meaning,
            ..Entry::default()
        };
        let meaning = format!("{} There {}.", kind.row(), kind.given());
        all.push(table(kind.name().to_owned(), "a table, a row each".to_owned(), meaning));
        for column in kind.columns() {
            let unit = column.unit().to_string();
            let value =
                if unit.is_empty() { column.cells.to_owned() } else { format!("{}, {unit}", column.cells) };
            all.push(table(format!("{}.{}", kind.name(), column.name), value, column.meaning));
        }
    }
}

/// Tables of a topology's answer, and their columns.
fn answer_columns(all: &mut Vec<Entry>) {
    for table in &ANSWER_TABLES {
        let entry = |name: String, value: String, meaning: &str| Entry {
            kind: "topology results",
            section: table.name.to_owned(),
            name,
            value,
            meaning: meaning.to_owned(),
            ..Entry::default()
        };
        all.push(entry(table.name.to_owned(), "a table, a row each".to_owned(), table.row));
        for column in table.columns {
            let unit = column.unit().to_string();
            let cells = column.cells();
            let value = if unit.is_empty() { cells.to_owned() } else { format!("{cells}, {unit}") };
            all.push(entry(format!("{}.{}", table.name, column.name), value, column.meaning));
        }
    }
}

/// Events of a trace, and their fields.
fn events(all: &mut Vec<Entry>) {
    for DescribedRecord { name: event, about, fields, .. } in described_records() {
        let entry = |name: String, value: String, meaning: String| Entry {
            kind: "trace",
            section: event.to_owned(),
            name,
            value,
            meaning,
            ..Entry::default()
        };
        all.push(entry(event.to_owned(), "an event".to_owned(), about));
        all.extend(
            fields.into_iter().map(|(name, value, meaning)| entry(format!("{event}.{name}"), value, meaning)),
        );
    }
}

/// Flags and arguments of all commands.
fn flags(all: &mut Vec<Entry>) {
    let mut program = Arguments::command();
    program.build();
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let owner = format!("slantpath {}", command.get_name());
        let arguments = command.get_arguments().filter(|argument| argument.get_id() != "help");
        for argument in arguments {
            let name = match argument.get_long() {
                Some(long) => format!("{owner} --{long}"),
                None => format!("{owner} {}", argument.get_id().as_str().to_uppercase()),
            };
            let help = argument.get_long_help().or_else(|| argument.get_help());
            let help = help.map(ToString::to_string).unwrap_or_default();
            let names = argument.get_value_names().unwrap_or_default();
            let takes = argument.get_action().takes_values();
            let value = if takes { names.join(" ") } else { String::new() };
            let defaults: Vec<String> = argument
                .get_default_values()
                .iter()
                .map(|text| text.to_string_lossy().into_owned())
                .collect();
            all.push(Entry {
                kind: "flag",
                section: owner.clone(),
                name,
                value,
                default: (takes && !defaults.is_empty() && !argument.is_hide_default_value_set())
                    .then(|| defaults.join(" ")),
                meaning: help,
                ..Entry::default()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn the<'a>(all: &'a [Entry], name: &str) -> &'a Entry {
        all.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn keys_of_all_files_columns_and_flags_are_there_with_value_default_and_meaning() {
        let all = entries();
        let rto = the(&all, "sctp.<name>.rto_min");
        assert_eq!(rto.about(), "(scenario; like \"250 ms\"; default 1 s)");
        assert!(rto.meaning.starts_with("RTO.Min: the least"), "{}", rto.meaning);
        let ends = the(&all, "links.<name>.ends");
        assert_eq!(ends.default.as_deref(), Some("required"));
        let transport = the(&all, "flows.<name>.transport");
        let is_told = transport.meaning.contains("`sctp`");
        assert_eq!((transport.value.as_str(), is_told), ("icmp, sctp, tcp, udp", true));
        // A key of several kinds of a table stands once.
        let size = all.iter().filter(|entry| entry.name == "flows.<name>.application.message_size");
        assert!(size.clone().all(|entry| !entry.only.is_empty()));
        assert_eq!(size.count(), 4, "of six kinds, three of which mean the same");
        the(&all, "signalling.points.<name>.point_code");
        the(&all, "script[].at");
        assert_eq!(the(&all, "sweep.repetitions").about(), "(sweep; a whole number; default 1)");
        the(&all, "sites.<name>.latitude");
        assert_eq!(the(&all, "band.on_demand").kind, "plan");
        let delay = the(&all, "flows.delay_mean_s");
        assert_eq!((delay.kind, delay.value.as_str()), ("results", "number, s"));
        let seen = the(&all, "passes.elevation_max_deg");
        assert_eq!((seen.kind, seen.value.as_str()), ("topology results", "number, °"));
        assert_eq!(the(&all, "end").kind, "trace");
        assert_eq!(the(&all, "closed.reason").section, "closed");
        assert_eq!(the(&all, "slantpath load --associations").about(), "(flag; N; default 1)");
        assert!(the(&all, "slantpath run SCENARIO").meaning.contains("scenario"));
    }

    #[test]
    fn no_entry_is_without_meaning_or_there_twice() {
        let all = entries();
        for (place, entry) in all.iter().enumerate() {
            assert!(!entry.meaning.trim().is_empty(), "{}", entry.name);
            assert!(!all[..place].contains(entry), "{}", entry.name);
        }
    }
}
