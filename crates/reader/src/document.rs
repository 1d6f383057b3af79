//! A TOML text as a tree in which every key and value knows its place, with overrides laid over it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostics, Fault, Faults, InputSource, Place};
use crate::file_kind::FileKind;
use crate::value::KeyValue;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct ValueNode {
    /// Position of the value.
    pub place: Place,
    /// Type of the value, with its content.
    pub data: ValueData,
}

/// Content of a value, by its type. Numbers keep their text: a quantity is parsed exactly or not at all.
#[derive(Clone, Debug)]
pub enum ValueData {
    /// A list.
    Array(Vec<ValueNode>),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, as it was written.
    Datetime(String),
    /// A number with a fraction, as it was written.
    Float(String),
    /// A whole number.
    Integer(i64),
    /// A string in quotes.
    Text(String),
    /// A table.
    Table(Entries),
}

/// Keys in alphabetical order: the order of a file's tables means nothing.
pub type Entries = BTreeMap<String, Entry>;

/// A key's place and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Position of the key.
    pub key: Place,
    /// Value that stands behind the key.
    pub node: ValueNode,
}

impl ValueNode {
    /// Name of the value's type, with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self.data {
            ValueData::Array(_) => "a list",
            ValueData::Boolean(_) => "a boolean",
            ValueData::Datetime(_) => "a date",
            ValueData::Float(_) | ValueData::Integer(_) => "a number",
            ValueData::Table(_) => "a table",
            ValueData::Text(_) => "a string",
        }
    }

    /// Gives the name by which a fault calls the value where numbers are wanted: a number is quoted, since its type
    /// alone would not tell what is wrong; any other value is named by its type.
    pub(crate) fn number_or_kind(&self) -> String {
        match self.data {
            ValueData::Float(_) | ValueData::Integer(_) => format!("`{}`", self.to_toml()),
            _ => self.kind().to_owned(),
        }
    }

    /// The value as TOML again, on one line.
    pub fn to_toml(&self) -> String {
        match &self.data {
            ValueData::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            ValueData::Boolean(flag) => flag.to_string(),
            ValueData::Datetime(text) | ValueData::Float(text) => text.clone(),
            ValueData::Integer(number) => number.to_string(),
            ValueData::Table(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, entry)| format!("{key} = {}", entry.node.to_toml())).collect();
                format!("{{ {} }}", entries.join(", "))
            }
            ValueData::Text(text) => text.write(),
        }
    }
}

/// A string that was read, with what was laid over it. Sections are read from its [entries](Document::entries).
#[derive(Clone, Debug, Default)]
pub struct Document {
    entries: Entries,
    faults: Faults,
}

impl Document {
    /// Reads a whole text, which faults call `name`. Every fault of syntax is kept until the entries are asked for.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut faults = Faults::default();
        let entries = parse(name, text, &mut faults);
        Self { entries, faults }
    }

    /// Lays `path=value` over it: `links.satellite.loss=3 %`, `flows.a.application.kind="bulk"`. The value is TOML if
    /// it reads as such, and a string if not, so that quantities need no quotes. Faults call the assignment `name`.
    pub fn set(&mut self, name: &str, assignment: &str) {
        set(&mut self.entries, name, assignment, &mut self.faults);
    }

    /// Lays values of another source over it: each a path, the place of its key, and the value.
    pub fn insert(&mut self, source: &Arc<InputSource>, values: &[(Vec<&str>, Place, ValueNode)]) {
        let source = self.faults.share_source(Arc::clone(source));
        for (path, place, value) in values {
            let mut value = value.clone();
            move_to_source(&mut value, source);
            insert(&mut self.entries, path, Place { source, ..*place }, value, &mut self.faults);
        }
    }

    /// The keys of the whole, and where to report what is wrong with them. Broken TOML has none: what was recovered
    /// from it says nothing about what was meant.
    pub fn entries(self) -> Result<(Entries, Faults), Diagnostics> {
        let Self { entries, faults } = self;
        if faults.is_empty() {
            return Ok((entries, faults));
        }
        faults.into_result().map(|()| unreachable!("there are faults"))
    }

    /// Variant of [`entries`](Self::entries) that refuses a file of another kind, with one fault.
    pub fn entries_of(self, kind: FileKind) -> Result<(Entries, Faults), Diagnostics> {
        let (entries, mut faults) = self.entries()?;
        if !kind.refuse_other(&entries, &mut faults) {
            return Ok((entries, faults));
        }
        faults.into_result().map(|()| unreachable!("there is a fault"))
    }
}

/// Reads a whole text. Faults of syntax are reported, and what could be read is handed on.
pub(crate) fn parse(name: &str, text: &str, faults: &mut Faults) -> Entries {
    let source = faults.add_source(name, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let place = Place::new(source, error.span().unwrap_or(0..0));
        faults.report(place, Fault::new(format!("this is not TOML: {}", error.message())));
    }
    entries(source, table.into_inner(), faults)
}

fn set(tree: &mut Entries, name: &str, assignment: &str, faults: &mut Faults) {
    let source = faults.add_source(name, assignment);
    let whole = Place::new(source, 0..assignment.len());
    let Some((path, text)) = assignment.split_once('=') else {
        let help = "write it like `links.satellite.loss=3 %`";
        faults.report(whole, Fault::new(format!("`{assignment}` sets nothing")).help(help));
        return;
    };
    let value_start = path.len() + 1;
    let place = Place::new(source, value_start..assignment.len());
    let value = value_at(source, place, text, faults);
    let keys: Vec<&str> = path.trim().split('.').map(str::trim).collect();
    let key = Place::new(source, 0..path.len());
    if keys.iter().any(|key| key.is_empty()) {
        let help = "write it like `links.satellite.loss`, table and key joined by dots";
        faults.report(key, Fault::new(format!("`{path}` is no path")).help(help));
        return;
    }
    insert(tree, &keys, key, value, faults);
}

/// Lays a value over entries, at a path whose tables are made where they are missing. The value is TOML if `text` reads
/// as such, and the text itself if not, so that quantities need no quotes. Faults call it `name`.
pub fn assign(entries: &mut Entries, path: &[&str], name: &str, text: &str, faults: &mut Faults) {
    let source = faults.add_source(name, text);
    let place = Place::new(source, 0..text.len());
    let value = value_at(source, place, text, faults);
    insert(entries, path, place, value, faults);
}

/// Reads a value that stands as a whole at one place.
fn value_at(source: usize, place: Place, text: &str, faults: &mut Faults) -> ValueNode {
    let trimmed = text.trim();
    let data = match DeValue::parse(trimmed) {
        Ok(value) => node(source, value, faults).data,
        Err(_) => ValueData::Text(trimmed.to_owned()),
    };
    let mut value = ValueNode { place, data };
    relocate(&mut value, place);
    value
}

/// Lays a value that another input holds (a point of a sweep's grid) over the tree.
fn insert(tree: &mut Entries, keys: &[&str], place: Place, value: ValueNode, faults: &mut Faults) {
    let [first, rest @ ..] = keys else { return };
    if rest.is_empty() {
        tree.insert((*first).to_owned(), Entry { key: place, node: value });
        return;
    }
    let absent = || Entry { key: place, node: ValueNode { place, data: ValueData::Table(Entries::new()) } };
    let entry = tree.entry((*first).to_owned()).or_insert_with(absent);
    match &mut entry.node.data {
        ValueData::Table(inner) => insert(inner, rest, place, value, faults),
        ValueData::Array(items) => {
            let count = items.len();
            match (rest[0].parse().ok().and_then(|index: usize| items.get_mut(index)), &rest[1..]) {
                (Some(item), []) => *item = value,
                (Some(ValueNode { data: ValueData::Table(inner), .. }), deeper) => {
                    insert(inner, deeper, place, value, faults);
                }
                (Some(_), _) => {
                    faults.report(place, Fault::new(format!("`{first}.{}` has no keys", rest[0])));
                }
                (None, _) => {
                    let message = format!("`{first}` is a list of {count}: `{}` is none of them", rest[0]);
                    faults.report(place, Fault::new(message).help("items are numbered from 0"));
                }
            }
        }
        _ => {
            let message = format!("`{first}` is {}: it has no key `{}`", entry.node.kind(), rest[0]);
            faults.report(place, Fault::new(message));
        }
    }
}

/// The value at a path, if there is one.
#[cfg(test)]
pub(crate) fn find<'a>(tree: &'a Entries, keys: &[&str]) -> Option<&'a ValueNode> {
    let [first, rest @ ..] = keys else { return None };
    let node = &tree.get(*first)?.node;
    match (&node.data, rest) {
        (_, []) => Some(node),
        (ValueData::Table(inner), _) => find(inner, rest),
        _ => None,
    }
}

/// Says that a value stands in another of the sources, at the same bytes.
fn move_to_source(node: &mut ValueNode, source: u32) {
    node.place.source = source;
    match &mut node.data {
        ValueData::Array(items) => items.iter_mut().for_each(|item| move_to_source(item, source)),
        ValueData::Table(entries) => entries.values_mut().for_each(|entry| {
            entry.key.source = source;
            move_to_source(&mut entry.node, source);
        }),
        _ => {}
    }
}

fn relocate(node: &mut ValueNode, place: Place) {
    node.place = place;
    match &mut node.data {
        ValueData::Array(items) => items.iter_mut().for_each(|item| relocate(item, place)),
        ValueData::Table(entries) => entries.values_mut().for_each(|entry| {
            entry.key = place;
            relocate(&mut entry.node, place);
        }),
        _ => {}
    }
}

fn entries(source: usize, table: DeTable<'_>, faults: &mut Faults) -> Entries {
    let mut entries = Entries::new();
    for (key, value) in table {
        let place = Place::new(source, key.span());
        let entry = Entry { key: place, node: node(source, value, faults) };
        entries.insert(key.into_inner().into_owned(), entry);
    }
    entries
}

fn node(source: usize, value: Spanned<DeValue<'_>>, faults: &mut Faults) -> ValueNode {
    let place = Place::new(source, value.span());
    let data = match value.into_inner() {
        DeValue::Array(items) => {
            ValueData::Array(items.into_iter().map(|item| node(source, item, faults)).collect())
        }
        DeValue::Boolean(value) => ValueData::Boolean(value),
        DeValue::Datetime(value) => ValueData::Datetime(value.to_string()),
        DeValue::Float(value) => ValueData::Float(value.as_str().to_owned()),
        DeValue::Integer(value) => {
            if let Ok(value) = i64::from_str_radix(value.as_str(), value.radix()) {
                ValueData::Integer(value)
            } else {
                let message = format!("`{}` does not fit into 64 bits", value.as_str());
                faults.report(place, Fault::new(message).help("whole numbers reach 9223372036854775807"));
                ValueData::Integer(0)
            }
        }
        DeValue::String(value) => ValueData::Text(value.into_owned()),
        DeValue::Table(table) => ValueData::Table(entries(source, table, faults)),
    };
    ValueNode { place, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Entries, Faults) {
        let mut faults = Faults::default();
        (parse("t.toml", text, &mut faults), faults)
    }

    #[test]
    fn values_know_their_places() {
        let text = "[links.a]\nrate = \"1 Mbit/s\"\n";
        let (tree, faults) = parsed(text);
        let node = find(&tree, &["links", "a", "rate"]).unwrap();
        assert_eq!(faults.text_at(node.place), "\"1 Mbit/s\"");
        assert!(faults.into_result().is_ok());
    }

    #[test]
    fn several_faults_of_syntax_are_reported_together() {
        let (_, faults) = parsed("a = = 1\nb = \"x\nc = 3\n");
        assert!(faults.into_result().unwrap_err().len() >= 2);
    }

    #[test]
    fn an_override_makes_the_tables_on_its_way_and_needs_no_quotes() {
        let (mut tree, mut faults) = parsed("[links.a]\nrate = \"1 Mbit/s\"\n");
        set(&mut tree, "--set", "links.a.loss=3 %", &mut faults);
        set(&mut tree, "--set", "flows.x.streams = 4", &mut faults);
        assert!(
            matches!(&find(&tree, &["links", "a", "loss"]).unwrap().data, ValueData::Text(t) if t == "3 %")
        );
        assert!(matches!(find(&tree, &["flows", "x", "streams"]).unwrap().data, ValueData::Integer(4)));
        assert!(faults.into_result().is_ok());
    }

    #[test]
    fn a_value_is_laid_at_a_path_under_a_name_of_its_own() {
        let (mut tree, mut faults) = parsed("[sctp.a]\nrto_min = \"1 s\"\n");
        for (key, text) in [("rto_min", "200 ms"), ("max_burst", " 7"), ("extensions", "[\"nr-sack\"]")] {
            assign(&mut tree, &["sctp", "a", key], &format!("--sctp {key}"), text, &mut faults);
        }
        let value = |key| find(&tree, &["sctp", "a", key]).unwrap();
        assert!(matches!(&value("rto_min").data, ValueData::Text(text) if text == "200 ms"));
        assert!(matches!(value("max_burst").data, ValueData::Integer(7)));
        assert!(matches!(&value("extensions").data, ValueData::Array(items) if items.len() == 1));
        assert_eq!(faults.line_of(value("max_burst").place), ("--sctp max_burst", 1));
        assert_eq!(faults.text_at(value("rto_min").place), "200 ms");
        assert!(faults.into_result().is_ok());
    }

    #[test]
    fn an_override_of_an_item_counts_from_zero() {
        let (mut tree, mut faults) = parsed("[[script]]\nat = \"1 s\"\n");
        set(&mut tree, "--set", "script.0.at=2 s", &mut faults);
        set(&mut tree, "--set", "script.1.at=2 s", &mut faults);
        set(&mut tree, "--set", "nonsense", &mut faults);
        set(&mut tree, "--set", "a..b=1", &mut faults);
        let text = faults.into_result().unwrap_err().to_string();
        assert!(text.contains("`script` is a list of 1: `1` is none of them"), "{text}");
        assert!(text.contains("`nonsense` sets nothing") && text.contains("`a..b` is no path"), "{text}");
    }
}
