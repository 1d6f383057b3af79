//! Tables of the file, each declared once: the declaration reads it, refuses what it does not know, writes
//! its merged form and describes it to an editor, so that none of these can drift from another.
//!
//! serde's derived readers stop at the first fault and know no places of what is absent; here all faults of
//! a file are reported together, and every value, also one that nobody wrote, knows where it came from.

mod bound;
mod member;
mod output;
mod resolve;
mod setting;
mod stage;
mod tables;
#[cfg(test)]
mod tests;

pub use bound::{AtMost, UpperBound, needs_no_bound};
pub use member::{Flat, Nested, OneOf, OneOfOrOwn, OwnTagged, Part};
pub use member::{Member, WriteMember};
pub use output::{MergedOutput, ObjectSchema, joined};
pub use resolve::resolve;
pub use setting::{Origin, Setting};
pub use stage::{
    Awaited, Complete, Finish, Gone, Kept, Later, Model, Open, Passing, Resolved, Spent, Stage, Written,
    finished,
};
pub use tables::Lookup;
pub use tables::{Counted, Named, Tables};

use serde_json::Value as Json;

use crate::diagnostic::{Fault, Faults, Place, suggest};
use crate::document::{Entries, Entry, ValueData};
use crate::value::KeyValue;

/// Writer of a table's keys.
pub trait WriteFields {
    /// Writes every key.
    fn write_fields(&self, output: &mut MergedOutput);
}

/// A table whose keys are declared.
pub trait Section: WriteFields + Sized {
    /// Description of the table, for its schema.
    const ABOUT: &'static str;
    /// Keys that it refuses with a reason of their own, each with the reason: words that follow the key.
    const REFUSED: &'static [(&'static str, &'static str)];

    /// Every key that it knows.
    fn names() -> Vec<&'static str>;
    /// Reads the keys. `None` if one is at fault, which is then reported.
    fn read_fields(reader: &mut TableReader<'_>) -> Option<Self>;
    /// Describes every key.
    fn schema_fields(schema: &mut ObjectSchema);

    /// Reads a whole table and refuses keys that it does not know.
    fn read(entries: &Entries, path: &str, place: Place, faults: &mut Faults) -> Option<Self> {
        let mut reader = TableReader { entries, path, whole: "", place, faults, broken: false };
        let section = Self::read_fields(&mut reader);
        reader.refuse_unknown(&Self::names(), Self::REFUSED);
        if reader.broken { None } else { section }
    }

    /// The whole file, of which every part that is right is handed on.
    /// `whole` is what the file is, with its article.
    fn read_root(entries: &Entries, whole: &'static str, faults: &mut Faults) -> Option<(Self, AllKnown)> {
        let place = Place::default();
        let mut reader = TableReader { entries, path: "", whole, place, faults, broken: false };
        let section = Self::read_fields(&mut reader)?;
        reader.broken = false;
        reader.refuse_unknown(&Self::names(), Self::REFUSED);
        Some((section, AllKnown(!reader.broken)))
    }

    /// The JSON Schema of the table.
    fn schema() -> Json {
        let mut schema = ObjectSchema::default();
        Self::schema_fields(&mut schema);
        schema.finish(Self::ABOUT)
    }
}

/// True if the file has no unknown table. An unknown one may have been meant as one that is missing.
#[derive(Clone, Copy, Debug)]
pub struct AllKnown(pub bool);

/// Reads the keys of one table.
pub struct TableReader<'a> {
    entries: &'a Entries,
    path: &'a str,
    /// Kind of the whole file, with its article, where these are its tables.
    whole: &'static str,
    place: Place,
    faults: &'a mut Faults,
    broken: bool,
}

impl TableReader<'_> {
    /// The value of a key, if it is there and right.
    pub fn optional<T: KeyValue>(&mut self, name: &'static str) -> Option<Setting<T>> {
        let node = &self.entries.get(name)?.node;
        match T::read(node) {
            Ok(value) => Some(Setting { value, origin: Origin::Given, place: node.place }),
            Err(fault) => {
                self.fail(node.place, fault);
                None
            }
        }
    }

    /// The value of a key that must be there.
    pub fn required<T: KeyValue>(&mut self, name: &'static str) -> Option<Setting<T>> {
        if !self.entries.contains_key(name) {
            let fault = Fault::new(format!("`{}` lacks `{name}`", self.path)).help(match example::<T>() {
                Some(example) => format!("write `{name} = {example}`, with the value you mean"),
                None => format!("write `{name} = …`"),
            });
            self.fail(self.place, fault);
        }
        self.optional(name)
    }

    /// The value of a key, or its default.
    pub fn value_or<T: KeyValue>(&mut self, name: &'static str, default: impl Fn() -> T) -> Setting<T> {
        self.optional(name).unwrap_or_else(|| Setting::default(default(), self.place))
    }

    fn fail(&mut self, place: Place, fault: Fault) {
        self.broken = true;
        self.faults.report(place, fault);
    }

    fn refuse_unknown(&mut self, names: &[&'static str], refused: &[(&'static str, &'static str)]) {
        for (key, entry) in self.entries {
            if let Some((_, why)) = refused.iter().find(|(refused, _)| refused == key) {
                self.fail(entry.key, Fault::new(format!("`{key}` {why}")).help("take the key away"));
            } else if !names.contains(&key.as_str()) {
                let (owner, keys) = match self.path {
                    "" => (self.whole.to_owned(), "its tables".to_owned()),
                    path => (format!("`{path}`"), "its keys".to_owned()),
                };
                let help = suggest(key, &keys, names);
                self.fail(entry.key, Fault::new(format!("{owner} has no key `{key}`")).help(help));
            }
        }
    }
}

fn example<T: KeyValue>() -> Option<String> {
    let schema = T::schema();
    let first =
        schema.get("examples").and_then(|list| list.get(0)).or_else(|| schema.pointer("/oneOf/0/const"))?;
    Some(first.to_string())
}

/// A table that is written once, as `kind` says: one of several sections.
pub trait Tagged: WriteFields + Sized {
    /// Description of the table, for its schema.
    const ABOUT: &'static str;
    /// Reads the section that the kind names.
    fn read(kind: &str, place: Place, reader: &mut TableReader<'_>) -> Option<Self>;
    /// Every kind with the names of its keys.
    fn names(kind: &str) -> Option<Vec<&'static str>>;
    /// Names of all kinds.
    fn kinds() -> &'static [&'static str];
    /// The schemas of all kinds.
    fn schemas() -> Vec<Json>;
}

impl TableReader<'_> {
    /// Refuses a kind that no section has.
    pub fn refuse_kind(&mut self, kind: &str, place: Place, kinds: &[&str]) {
        let message = format!("`{}` has no kind `{kind}`", self.path);
        self.fail(place, Fault::new(message).help(suggest(kind, "kinds", kinds)));
    }
}

fn table<'a>(entry: &'a Entry, path: &str, faults: &mut Faults) -> Option<&'a Entries> {
    if let ValueData::Table(entries) = &entry.node.data {
        return Some(entries);
    }
    let fault = Fault::new(format!("`{path}` is {}", entry.node.kind()))
        .help(format!("it is a table: begin it with `[{path}]`"));
    faults.report(entry.node.place, fault);
    None
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Declares a section. A field is `name: Member;`, or `name: Setting<T> = default;`, whose default may use
/// the fields before it that have a default too. What its type does not bound has `, at most BOUND` at its end.
/// Keys that are refused with a reason follow the fields: `refuses "has no use": key, other;`.
///
/// A section `Name<S>` has a stage: keys that a check gives a value are declared as `Later<S, …>`, those that it puts
/// into others as `Spent<S, …>`. It is read as `Name<Written>`; `Name` alone is complete.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $Name:ident $(<$S:ident>)? {
            $( $(#[doc = $doc:literal])+ $field:ident : $type:ty $(= $default:expr)? $(, at most $most:expr)? ; )*
        }
        $( refuses $why:literal : $($refused:ident),+ ; )?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name $(<$S: $crate::Stage = $crate::Complete>)? {
            $( $(#[doc = $doc])+ $vis $field: $type, )*
        }

        impl $(<$S: $crate::Stage>)? $crate::WriteFields for $Name $(<$S>)? {
            fn write_fields(&self, output: &mut $crate::MergedOutput) {
                $( $crate::WriteMember::write(&self.$field, output, stringify!($field)); )*
            }
        }

        $crate::section!(@finish $Name [$($S)?] $($field)*);

        impl $crate::Section for $Name $(<$crate::section!(@written $S)>)? {
            const ABOUT: &'static str = concat!($($about, "\n"),+);
            const REFUSED: &'static [(&'static str, &'static str)] =
                &[$( $( (stringify!($refused), $why), )+ )?];

            fn names() -> Vec<&'static str> {
                $( type $S = $crate::Written; )?
                let mut names = Vec::new();
                $( names.extend(<$type as $crate::Member>::names(stringify!($field))); )*
                names
            }

            fn read_fields(reader: &mut $crate::TableReader<'_>) -> Option<Self> {
                $( type $S = $crate::Written; )?
                $(
                    $crate::section!(@read reader $field $type $(= $default)?);
                    $crate::section!(@bound reader $field $type $(, $most)?);
                )*
                Some(Self { $( $field: $crate::section!(@take $field $($default)?), )* })
            }

            fn schema_fields(schema: &mut $crate::ObjectSchema) {
                $( type $S = $crate::Written; )?
                $(
                    $crate::section!(
                        @schema schema $field $type, $crate::joined(&[$($doc),+]) $(, $default)?
                    );
                    $( schema.at_most(stringify!($field), &$most); )?
                )*
            }
        }
    };
    (@written $S:ident) => { $crate::Written };
    (@finish $Name:ident [] $($field:ident)*) => {
        impl $crate::Finish for $Name {
            type Finished = Self;

            fn finish(self) -> Result<Self, $crate::Open> {
                Ok(self)
            }
        }
    };
    (@finish $Name:ident [$S:ident] $($field:ident)*) => {
        impl $crate::Finish for $Name<$crate::Written> {
            type Finished = $Name;

            fn finish(self) -> Result<$Name, $crate::Open> {
                Ok($Name {
                    $(
                        $field: $crate::Finish::finish(self.$field)
                            .map_err(|open| open.within(stringify!($field)))?,
                    )*
                })
            }
        }
    };
    (@read $reader:ident $field:ident $type:ty = $default:expr) => {
        let $field = $reader.value_or(stringify!($field), || $default);
    };
    (@read $reader:ident $field:ident $type:ty) => {
        let $field = <$type as $crate::Member>::read($reader, stringify!($field));
    };
    (@bound $reader:ident $field:ident $type:ty, $most:expr) => {
        $reader.at_most(stringify!($field), &$field, &$most);
    };
    (@bound $reader:ident $field:ident $type:ty) => {
        $crate::needs_no_bound::<$type>();
    };
    (@take $field:ident $default:expr) => { $field };
    (@take $field:ident) => { $field? };
    (@schema $schema:ident $field:ident $type:ty, $doc:expr, $default:expr) => {
        let $field: $type = $crate::Setting::default($default, $crate::Place::default());
        $schema.property_with_default(stringify!($field), &*$field, &$doc);
    };
    (@schema $schema:ident $field:ident $type:ty, $doc:expr) => {
        <$type as $crate::Member>::schema($schema, stringify!($field), &$doc);
    };
}

/// Declares a table of one of several kinds, each a section.
#[macro_export]
macro_rules! tagged {
    (
        $(#[doc = $about:literal])+
        pub enum $Name:ident $(<$S:ident>)? {
            $( $(#[doc = $doc:literal])+ $Variant:ident $(<$V:ident>)? = $kind:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name $(<$S: $crate::Stage = $crate::Complete>)? {
            $( $(#[doc = $doc])+ $Variant($Variant $(<$V>)?), )+
        }

        impl $(<$S: $crate::Stage>)? $crate::WriteFields for $Name $(<$S>)? {
            fn write_fields(&self, output: &mut $crate::MergedOutput) {
                match self {
                    $( Self::$Variant(section) => {
                        output.plain("kind", &$kind.to_owned());
                        $crate::WriteFields::write_fields(section, output);
                    } )+
                }
            }
        }

        impl $crate::Finish for $Name $(<$crate::section!(@written $S)>)? {
            type Finished = $Name;

            fn finish(self) -> Result<$Name, $crate::Open> {
                match self {
                    $( Self::$Variant(section) => $crate::Finish::finish(section).map($Name::$Variant), )+
                }
            }
        }

        impl $crate::Tagged for $Name $(<$crate::section!(@written $S)>)? {
            const ABOUT: &'static str = concat!($($about, "\n"),+);

            fn read(
                kind: &str,
                place: $crate::Place,
                reader: &mut $crate::TableReader<'_>,
            ) -> Option<Self> {
                use $crate::Section;
                $( type $S = $crate::Written; )?
                match kind {
                    $( $kind => <$Variant $(<$V>)?>::read_fields(reader).map(Self::$Variant), )+
                    _ => {
                        reader.refuse_kind(kind, place, Self::kinds());
                        None
                    }
                }
            }

            fn names(kind: &str) -> Option<Vec<&'static str>> {
                use $crate::Section;
                $( type $S = $crate::Written; )?
                match kind {
                    $( $kind => Some(<$Variant $(<$V>)?>::names()), )+
                    _ => None,
                }
            }

            fn kinds() -> &'static [&'static str] {
                &[$($kind),+]
            }

            fn schemas() -> Vec<$crate::Json> {
                use $crate::Section;
                $( type $S = $crate::Written; )?
                vec![$({
                    let mut schema = $crate::ObjectSchema::default();
                    schema.tag($kind);
                    <$Variant $(<$V>)?>::schema_fields(&mut schema);
                    schema.finish(&$crate::joined(&[$($doc),+]))
                },)+]
            }
        }
    };
}
