//! Tables under names of the user's choice, and lists of tables.

use core::ops::Deref;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{
    Finish, Member, MergedOutput, ObjectSchema, Open, Section, TableReader, WriteFields, WriteMember, join,
    table,
};
use crate::diagnostic::{Fault, Place, nearest};
use crate::document::{Entries, Entry, ValueData, ValueNode};

/// Tables under names of the user's choice, `[links.satellite]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables<S> {
    whole: BTreeMap<String, Named<S>>,
    /// Names whose tables are at fault: what refers to them is not at fault too.
    broken: BTreeSet<String>,
    /// True if the names of the tables are not known, since they could not be read.
    unreadable: bool,
}

/// A table and the place of its name.
#[derive(Clone, Debug)]
pub struct Named<S> {
    section: S,
    place: Place,
}

impl<S: PartialEq> PartialEq for Named<S> {
    fn eq(&self, other: &Self) -> bool {
        self.section == other.section
    }
}

impl<S> Deref for Named<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.section
    }
}

impl<S> Named<S> {
    /// Position of the table's name.
    pub fn place(&self) -> Place {
        self.place
    }

    /// A table whose name stands at `place`.
    pub fn new(section: S, place: Place) -> Self {
        Self { section, place }
    }

    /// The table, to be completed.
    pub fn section_mut(&mut self) -> &mut S {
        &mut self.section
    }
}

/// Result of looking up a name.
pub enum Lookup<'a, S> {
    /// A table that is at fault, or that might be among those that are.
    Broken,
    /// A table.
    Found(&'a S),
    /// No table of that name.
    Unknown,
}

/// Starts without any tables.
impl<S> Default for Tables<S> {
    fn default() -> Self {
        Self { whole: BTreeMap::new(), broken: BTreeSet::new(), unreadable: false }
    }
}

impl<S> Tables<S> {
    /// Names and tables, in alphabetical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Named<S>)> {
        self.whole.iter().map(|(name, section)| (name.as_str(), section))
    }

    /// The table of that name.
    pub fn find(&self, name: &str) -> Option<&S> {
        self.whole.get(name).map(|named| &named.section)
    }

    /// The place of a name among all names in alphabetical order.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.whole.keys().position(|key| key == name)
    }

    /// Tells if every table is whole.
    pub fn all_whole(&self) -> bool {
        self.broken.is_empty() && !self.unreadable
    }

    /// Tells if there is no table.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.broken.is_empty() && !self.unreadable
    }

    /// Names and tables in alphabetical order, to be completed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut S)> {
        self.whole.iter_mut().map(|(name, named)| (name.as_str(), &mut named.section))
    }

    /// Looks up the table of a name.
    pub fn lookup(&self, name: &str) -> Lookup<'_, S> {
        match self.find(name) {
            Some(section) => Lookup::Found(section),
            None if self.unreadable || self.broken.contains(name) => Lookup::Broken,
            None => Lookup::Unknown,
        }
    }

    /// All names, also of tables that are at fault.
    pub fn names(&self) -> Vec<&str> {
        self.whole.keys().chain(&self.broken).map(String::as_str).collect()
    }

    /// Puts others in place of a table.
    ///
    /// # Errors
    /// With a name that is another table's already; then nothing has changed.
    pub fn replace(&mut self, name: &str, others: Vec<(String, S)>) -> Result<(), String> {
        let is_taken =
            |other: &String| other != name && (self.whole.contains_key(other) || self.broken.contains(other));
        if let Some((taken, _)) = others.iter().find(|(other, _)| is_taken(other)) {
            return Err(taken.clone());
        }
        if let Some(named) = self.whole.remove(name) {
            let place = named.place;
            self.whole.extend(others.into_iter().map(|(name, section)| (name, Named { section, place })));
        }
        Ok(())
    }

    /// Adds a table that nobody wrote.
    pub fn add(&mut self, name: &str, section: S, place: Place) {
        self.whole.insert(name.to_owned(), Named::new(section, place));
    }
}

/// For a table that an override or a sweep has made on the way to one of its keys: the one of the file's tables that
/// it most likely meant. Who gives a whole table means a new one.
fn meant<'a>(name: &str, entry: &Entry, entries: &'a Entries) -> Option<&'a str> {
    let is_of_the_file = |entry: &Entry| entry.key.source == 0;
    let is_on_the_way = entry.node.place == entry.key;
    // Comparing names takes longest, and a file may have thousands of tables.
    if is_of_the_file(entry) || !is_on_the_way {
        return None;
    }
    nearest(name, entries.iter().filter(|(_, entry)| is_of_the_file(entry)).map(|(name, _)| name.as_str()))
}

/// Names serve as TOML keys without quotes, as parts of paths and in names of files.
fn check_name(name: &str) -> Result<(), Fault> {
    let right = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(right) {
        return Ok(());
    }
    let help = "names are made of the letters a-z and A-Z, digits, `-` and `_`";
    Err(Fault::new(format!("`{name}` is no name")).help(help))
}

impl<S: WriteFields> WriteMember for Tables<S> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        let parent = output.table(field);
        for (name, named) in &self.whole {
            named.section.write_fields(parent.table(name));
        }
    }
}

impl<S: Section> Member for Tables<S> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let mut tables = Self::default();
        let path = join(reader.path, field);
        let Some(entry) = reader.entries.get(field) else { return Some(tables) };
        let Some(entries) = table(entry, &path, reader.faults) else {
            tables.unreadable = true;
            return Some(tables);
        };
        for (name, entry) in entries {
            let path = join(&path, name);
            let before = reader.faults.len();
            let is_name = check_name(name).map_err(|fault| reader.faults.report(entry.key, fault)).is_ok();
            let own = table(entry, &path, reader.faults);
            let section = own.and_then(|own| S::read(own, &path, entry.key, reader.faults));
            match section {
                Some(section) if is_name => {
                    if let Some(meant) = meant(name, entry, entries) {
                        let fault = Fault::new(format!("`{path}` is a table that the file does not have"));
                        reader.faults.warn(entry.key, fault.help(format!("did you mean `{meant}`?")));
                    }
                    tables.whole.insert(name.clone(), Named { section, place: entry.key });
                }
                _ => {
                    if let Some(meant) = meant(name, entry, entries) {
                        reader.faults.forget_from(before);
                        let fault = Fault::new(format!("there is no `{path}`"));
                        reader.faults.report(entry.key, fault.help(format!("did you mean `{meant}`?")));
                    }
                    tables.broken.insert(name.clone());
                }
            }
        }
        Some(tables)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        let names = json!({ "pattern": "^[A-Za-z0-9_-]+$" });
        let tables = json!({ "type": "object", "propertyNames": names, "additionalProperties": S::schema() });
        schema.property(field, tables, doc);
    }
}

impl<S: WriteFields> WriteMember for Vec<Named<S>> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        for named in self {
            named.section.write_fields(output.item(field));
        }
    }
}

impl<S: Section> Member for Vec<Named<S>> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let path = join(reader.path, field);
        let Some(entry) = reader.entries.get(field) else { return Some(Self::new()) };
        let ValueData::Array(items) = &entry.node.data else {
            let fault = Fault::new(format!("`{path}` is {}", entry.node.kind()))
                .help(format!("it is a list of tables: begin each with `[[{path}]]`"));
            reader.fail(entry.node.place, fault);
            return Some(Self::new());
        };
        let mut sections = Self::new();
        for (index, item) in items.iter().enumerate() {
            let path = join(&path, &index.to_string());
            let entry = Entry { key: item.place, node: item.clone() };
            let entries = table(&entry, &path, reader.faults);
            let section = entries.and_then(|entries| S::read(entries, &path, item.place, reader.faults));
            sections.extend(section.map(|section| Named { section, place: item.place }));
        }
        Some(sections)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, json!({ "type": "array", "items": S::schema() }), doc);
    }
}

/// A list of tables, or the number of equal ones in which nothing is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted<S>(pub Vec<Named<S>>);

/// More than anybody counts out.
const MOST_COUNTED: i64 = 1_000;

impl<S> Deref for Counted<S> {
    type Target = Vec<Named<S>>;

    fn deref(&self) -> &Vec<Named<S>> {
        &self.0
    }
}

impl<S: WriteFields> WriteMember for Counted<S> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write(output, field);
    }
}

impl<S: Section + Clone> Member for Counted<S> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let path = join(reader.path, field);
        let none = |message: String| {
            let help = format!("give a number from 1 to {MOST_COUNTED}, or tables `[[{path}]]`");
            Fault::new(message).help(help)
        };
        let (place, count) = match reader.entries.get(field).map(|entry| &entry.node) {
            Some(ValueNode { place, data: ValueData::Integer(count) }) => (*place, count),
            // Whoever writes a list of none does not mean what is there where nothing is written.
            Some(ValueNode { place, data: ValueData::Array(items) }) if items.is_empty() => {
                reader.fail(*place, none(format!("`{path}` is empty")));
                return None;
            }
            _ => return Vec::read(reader, field).map(Self),
        };
        if !(1..=MOST_COUNTED).contains(count) {
            reader.fail(place, none(format!("`{path}` is {count}")));
            return None;
        }
        let section = S::read(&Entries::new(), &path, place, reader.faults)?;
        Some(Self((0..*count).map(|_| Named { section: section.clone(), place }).collect()))
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        let count = json!({ "type": "integer", "minimum": 1, "maximum": MOST_COUNTED });
        let list = json!({ "type": "array", "items": S::schema(), "minItems": 1 });
        schema.property(field, json!({ "anyOf": [count, list] }), doc);
    }
}

impl<S: Finish> Finish for Tables<S> {
    type Finished = Tables<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        let Self { whole, broken, unreadable } = self;
        let each = whole.into_iter().map(|(name, named)| match named.finish() {
            Ok(finished) => Ok((name, finished)),
            Err(open) => Err(open.within(&name)),
        });
        Ok(Tables { whole: each.collect::<Result<_, _>>()?, broken, unreadable })
    }
}

impl<S: Finish> Finish for Named<S> {
    type Finished = Named<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        Ok(Named { section: self.section.finish()?, place: self.place })
    }
}

impl<S: Finish> Finish for Vec<Named<S>> {
    type Finished = Vec<Named<S::Finished>>;

    fn finish(self) -> Result<Self::Finished, Open> {
        let each = self.into_iter().enumerate();
        each.map(|(index, named)| named.finish().map_err(|open| open.within(&index.to_string()))).collect()
    }
}

impl<S: Finish> Finish for Counted<S> {
    type Finished = Counted<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(Counted)
    }
}
