//! Files of TOML whose keys are declared once, by whoever has a model to configure.
//!
//! A declaration ([`section!`], [`tagged!`], [`choice!`]) reads a table, refuses what it does not know, bounds what it
//! reads, writes the table back with every default in place, and describes it to editors as JSON Schema. All faults of
//! a file are reported together as [`Diagnostics`], each with its place and its cure.
//!
//! ```
//! use slantpath_base::Duration;
//! use slantpath_reader::{AtMost, Document, Fault, MergedOutput, Part, Section, Setting, WriteFields, section};
//!
//! const DAY: AtMost<Duration> = AtMost::new(Duration::from_secs(86_400), "a survey ends with the day");
//!
//! section! {
//!     /// When is measured.
//!     pub struct Times {
//!         /// Between two measurements.
//!         every: Setting<Duration> = Duration::from_secs(60), at most DAY;
//!         /// How long in all.
//!         span: Setting<Duration>, at most DAY;
//!     }
//! }
//!
//! section! {
//!     /// A survey.
//!     pub struct Survey {
//!         /// When is measured.
//!         times: Part<Times>;
//!     }
//! }
//!
//! let mut document = Document::parse("survey.toml", "[times]\nspan = \"2 min\"\n");
//! document.set("--set", "times.every=5 min");
//! let (entries, mut faults) = document.entries()?;
//! let (survey, _) = Survey::read_root(&entries, "a survey", &mut faults).expect("every table may be absent");
//! if *survey.times.every > *survey.times.span {
//!     faults.report(survey.times.every.place(), Fault::new("nothing is measured twice").help("let `span` be longer"));
//! }
//! let mut merged = MergedOutput::default();
//! survey.write_fields(&mut merged);
//! assert_eq!(merged.print(true), "[times]\nevery = \"300 s\"\nspan = \"120 s\"\n");
//! let text = faults.into_result().unwrap_err().to_string();
//! assert_eq!(text, "--set:1:13: nothing is measured twice\n  help: let `span` be longer");
//! # Ok::<(), slantpath_reader::Diagnostics>(())
//! ```
//!
//! # Map
//!
//! - [`document`][]: reads a string with the place of every value, and lays overrides over it.
//! - [`mod@section`][]: declares tables; each declaration reads, bounds, writes back and describes itself. Its `stage`
//!   tells a table as it is written from one that checks have completed. [`value`]: what stands behind a key.
//! - [`diagnostic`][]: what is wrong, and where. [`mod@json_schema`]: a whole file, for editors.
//! - [`asked`][]: what a program brings along itself, as a file asks for it.
//! - [`synonyms`][]: words of the field for what a file calls otherwise.
//! - [`files`][]: hands out what a file names. [`file_kind`]: a file in the place of another. [`trace`]: a file of
//!   lines in order of time.
//! - [`bounds`][]: the most that times of any file may be.
//!
//! This reader stands on `toml`'s spanned tree, not on serde: serde stops at the first fault and has no place for a
//! missing key. It knows no model. So a command that plans, serves or asks about a sky reads its files without the
//! simulator.

mod asked;
pub mod bounds;
mod diagnostic;
mod document;
mod file_kind;
mod files;
mod json_schema;
mod section;
mod synonyms;
pub mod trace;
mod value;

pub use asked::Asked;
pub use diagnostic::{
    Diagnostic, Diagnostics, Fault, Faults, InputSource, Place, is_acted_on, nearest, suggest, visible,
};
pub use document::{Document, Entries, Entry, ValueData, ValueNode, assign};
pub use file_kind::FileKind;
pub use files::{Files, LoadError, TEXT_MAX, files_beside, files_in, read_bounded, read_text, without_mark};
pub use json_schema::{json_schema, print_json};
pub use section::{
    AllKnown, AtMost, Awaited, Complete, Counted, Finish, Flat, Gone, Kept, Later, Lookup, Member,
    MergedOutput, Model, Named, Nested, ObjectSchema, OneOf, OneOfOrOwn, Open, Origin, OwnTagged, Part,
    Passing, Resolved, Section, Setting, Spent, Stage, TableReader, Tables, Tagged, UpperBound, WriteFields,
    WriteMember, Written, finished, joined, needs_no_bound, resolve,
};
pub use serde_json::{Value as Json, json};
pub use synonyms::SYNONYMS;
pub use value::{KeyValue, Pair, fault_of};
