//! Members of a section, behind its keys: a value, a table, a table among others.

use core::ops::Deref;

use serde_json::json;

use super::{
    Finish, MergedOutput, ObjectSchema, Open, Section, Setting, TableReader, Tagged, WriteFields, join, table,
};
use crate::asked::Asked;
use crate::diagnostic::{Fault, Place};
use crate::document::{Entries, ValueData};
use crate::value::KeyValue;

/// Writer of what stands behind a key of a section.
pub trait WriteMember {
    /// Writes it to the output.
    fn write(&self, output: &mut MergedOutput, field: &'static str);
}

/// Type that may stand behind a key of a section.
pub trait Member: WriteMember + Sized {
    /// The keys that it takes.
    fn names(field: &'static str) -> Vec<&'static str> {
        vec![field]
    }

    /// Reads it; `None` if it is at fault.
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self>;
    /// Describes it in the schema of its section.
    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str);
}

impl<T: KeyValue> WriteMember for Setting<T> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        output.value(field, self);
    }
}

impl<M: WriteMember> WriteMember for Option<M> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        if let Some(member) = self {
            member.write(output, field);
        }
    }
}

impl<T: KeyValue> Member for Setting<T> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        reader.required(field)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, T::schema(), doc);
        schema.required.push(field);
    }
}

impl<T: KeyValue> Member for Option<Setting<T>> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        Some(reader.optional(field))
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, T::schema(), doc);
    }
}

/// A table inside a table; one that is absent is read as an empty one.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested<S>(pub S);

impl<S> Deref for Nested<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: WriteFields> WriteMember for Nested<S> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write_fields(output.table(field));
    }
}

impl<S: Section> Member for Nested<S> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let path = join(reader.path, field);
        let empty = Entries::new();
        let (entries, place) = match reader.entries.get(field) {
            None => (&empty, reader.place),
            Some(entry) => (table(entry, &path, reader.faults)?, entry.key),
        };
        S::read(entries, &path, place, reader.faults).map(Self)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, S::schema(), doc);
    }
}

/// A table inside a table that may be absent.
impl<S: Section> Member for Option<Nested<S>> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        if !reader.entries.contains_key(field) {
            return Some(None);
        }
        Nested::read(reader, field).map(Some)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, S::schema(), doc);
    }
}

/// A table of the whole file. One that is at fault does not keep the rest from being checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<S>(Option<S>);

impl<S> Part<S> {
    /// A table that was not read from a file, or one that is at fault.
    pub const fn new(table: Option<S>) -> Self {
        Self(table)
    }

    /// The table, if nothing is wrong in it.
    pub fn into_whole(self) -> Option<S> {
        self.0
    }

    /// The table, if nothing is wrong in it.
    pub fn whole(&self) -> Option<&S> {
        self.0.as_ref()
    }

    /// The table, to be completed.
    pub fn whole_mut(&mut self) -> Option<&mut S> {
        self.0.as_mut()
    }
}

impl<S> Deref for Part<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.0.as_ref().expect("a scenario is handed out only when nothing in it is at fault")
    }
}

impl<S: WriteFields> WriteMember for Part<S> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.write_fields(output.table(field));
    }
}

impl<S: Section> Member for Part<S> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        Some(Self(Nested::read(reader, field).map(|nested| nested.0)))
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, S::schema(), doc);
    }
}

/// The keys of another section among those of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat<S>(pub S);

impl<S> Deref for Flat<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: WriteFields> WriteMember for Flat<S> {
    fn write(&self, output: &mut MergedOutput, _: &'static str) {
        self.0.write_fields(output);
    }
}

impl<S: Section> Member for Flat<S> {
    fn names(_: &'static str) -> Vec<&'static str> {
        S::names()
    }

    fn read(reader: &mut TableReader<'_>, _: &'static str) -> Option<Self> {
        S::read_fields(reader).map(Self)
    }

    fn schema(schema: &mut ObjectSchema, _: &'static str, _: &str) {
        S::schema_fields(schema);
    }
}

/// A required table of one of several kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOf<T>(pub T);

impl<T> Deref for OneOf<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A kind of a program's own among those of a declaration, which a file asks for by its name.
pub trait OwnTagged: Tagged {
    /// The table of an unknown kind, until it is known to the program.
    fn asked(asked: Asked, kind: Place) -> Self;
}

/// A table of one of several kinds, or of one of the program's own, that may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOfOrOwn<T>(pub T);

impl<T> Deref for OneOfOrOwn<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: WriteFields> WriteMember for OneOfOrOwn<T> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write_fields(output.table(field));
    }
}

impl<S: Finish> Finish for OneOfOrOwn<S> {
    type Finished = OneOfOrOwn<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(OneOfOrOwn)
    }
}

impl<T: OwnTagged> Member for Option<OneOfOrOwn<T>> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let kind = reader.entries.get(field).and_then(|entry| match &entry.node.data {
            ValueData::Table(entries) => {
                let node = &entries.get("kind")?.node;
                let kind = String::read(node).ok()?;
                T::names(&kind).is_none().then_some((kind, entries, node.place))
            }
            _ => None,
        });
        let Some((kind, entries, place)) = kind else {
            return Option::<OneOf<T>>::read(reader, field)
                .map(|found| found.map(|found| OneOfOrOwn(found.0)));
        };
        match Asked::of_table(&kind, entries) {
            Ok(asked) => Some(Some(OneOfOrOwn(T::asked(asked, place)))),
            Err(fault) => {
                reader.fail(place, fault);
                None
            }
        }
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        Option::<OneOf<T>>::schema(schema, field, doc);
    }
}

/// A table of one of several kinds that may be absent.
impl<T: Tagged> Member for Option<OneOf<T>> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        if !reader.entries.contains_key(field) {
            return Some(None);
        }
        OneOf::read(reader, field).map(Some)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, json!({ "description": T::ABOUT, "oneOf": T::schemas() }), doc);
    }
}

impl<T: WriteFields> WriteMember for OneOf<T> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write_fields(output.table(field));
    }
}

impl<T: Tagged> Member for OneOf<T> {
    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        let path = join(reader.path, field);
        let Some(entry) = reader.entries.get(field) else {
            let fault = Fault::new(format!("`{}` lacks `{field}`", reader.path))
                .help(format!("add a table `[{path}]` with a `kind`"));
            reader.fail(reader.place, fault);
            return None;
        };
        let entries = table(entry, &path, reader.faults)?;
        let place = entry.key;
        let mut inner = TableReader {
            entries,
            path: &path,
            whole: reader.whole,
            place,
            faults: reader.faults,
            broken: false,
        };
        let kind = inner.required::<String>("kind")?;
        let value = T::read(&kind, kind.place, &mut inner);
        if let Some(mut names) = T::names(&kind) {
            names.push("kind");
            inner.refuse_unknown(&names, &[]);
        }
        if inner.broken { None } else { value.map(Self) }
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        schema.property(field, json!({ "description": T::ABOUT, "oneOf": T::schemas() }), doc);
        schema.required.push(field);
    }
}

impl<S: Finish> Finish for Nested<S> {
    type Finished = Nested<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(Nested)
    }
}

impl<S: Finish> Finish for Flat<S> {
    type Finished = Flat<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(Flat)
    }
}

impl<S: Finish> Finish for OneOf<S> {
    type Finished = OneOf<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(OneOf)
    }
}

impl<S: Finish> Finish for Part<S> {
    type Finished = Part<S::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.0.finish().map(Part)
    }
}
