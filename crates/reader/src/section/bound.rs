//! Upper bounds of values: what a key says cannot be absurd, whatever else stands in the file.
//!
//! A value whose type does not bound it, such as a time or a count, is declared with one: `at most BOUND` behind its
//! type or default. The declaration does not compile without.

use core::fmt;

use serde_json::{Value as Json, json};
use slantpath_base::{Angle, DataRate, DataSize, Duration, Length};

use super::{
    Awaited, Counted, Flat, Named, Nested, OneOf, OneOfOrOwn, OwnTagged, Part, Passing, Resolved, Section,
    Setting, TableReader, Tables, Tagged,
};
use crate::diagnostic::Fault;
use crate::value::KeyValue;

/// The most that a value may be, and why.
#[derive(Clone, Copy, Debug)]
pub struct AtMost<L> {
    /// Largest allowed value.
    pub most: L,
    /// Why: the end of a sentence, behind a colon.
    pub why: &'static str,
}

impl<L> AtMost<L> {
    /// `why` is a sentence's end: it stands behind a colon.
    pub const fn new(most: L, why: &'static str) -> Self {
        Self { most, why }
    }
}

/// Type in which an upper bound is given.
pub trait UpperBound: Copy + PartialOrd + fmt::Display {
    /// The number that JSON Schema knows a bound by, where values are numbers.
    fn number(self) -> Option<Json>;
}

macro_rules! text_limit {
    ($($type:ty),*) => {$(
        impl UpperBound for $type {
            fn number(self) -> Option<Json> {
                None
            }
        }
    )*};
}

text_limit!(Angle, DataRate, DataSize, Duration, Length);

macro_rules! number_limit {
    ($($type:ty),*) => {$(
        impl UpperBound for $type {
            fn number(self) -> Option<Json> {
                Some(json!(self))
            }
        }
    )*};
}

number_limit!(u32, f64);

/// The settings that a field may have, of which a bound holds.
pub trait Bounded {
    /// Type of the settings' values.
    type Value: KeyValue;

    /// The setting, if there is one.
    fn setting(&self) -> Option<&Setting<Self::Value>>;
}

impl<T: KeyValue> Bounded for Setting<T> {
    type Value = T;

    fn setting(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<B: Bounded> Bounded for Option<B> {
    type Value = B::Value;

    fn setting(&self) -> Option<&Setting<B::Value>> {
        self.as_ref().and_then(Bounded::setting)
    }
}

impl<B: Bounded> Bounded for Awaited<B> {
    type Value = B::Value;

    fn setting(&self) -> Option<&Setting<B::Value>> {
        self.as_ref().and_then(Bounded::setting)
    }
}

impl<B: Bounded> Bounded for Passing<B> {
    type Value = B::Value;

    fn setting(&self) -> Option<&Setting<B::Value>> {
        self.0.setting()
    }
}

/// Fields without a bound of their own: tables, and values whose type is bound enough.
pub trait NeedsNoBound {}

impl<T: KeyValue<Most = ()>> NeedsNoBound for Setting<T> {}
impl<T: KeyValue<Most = ()>> NeedsNoBound for Option<Setting<T>> {}
impl<S: Section> NeedsNoBound for Flat<S> {}
impl<S: Section> NeedsNoBound for Nested<S> {}
impl<S: Section> NeedsNoBound for Option<Nested<S>> {}
impl<S: Section> NeedsNoBound for Part<S> {}
impl<S: Section> NeedsNoBound for Tables<S> {}
impl<S: Section> NeedsNoBound for Vec<Named<S>> {}
impl<S: Section> NeedsNoBound for Counted<S> {}
impl<T: Tagged> NeedsNoBound for OneOf<T> {}
impl<T: Tagged> NeedsNoBound for Option<OneOf<T>> {}
impl<T: OwnTagged> NeedsNoBound for Option<OneOfOrOwn<T>> {}
impl<T> NeedsNoBound for Option<Resolved<T>> {}
impl<M> NeedsNoBound for Awaited<M> where Option<M>: NeedsNoBound {}
impl<M: NeedsNoBound> NeedsNoBound for Passing<M> {}

/// Compiles for fields that need no bound.
pub const fn needs_no_bound<M: NeedsNoBound>() {}

impl TableReader<'_> {
    /// Refuses a value above its bound.
    pub fn at_most<B: Bounded>(&mut self, name: &str, field: &B, bound: &AtMost<<B::Value as KeyValue>::Most>)
    where
        <B::Value as KeyValue>::Most: UpperBound,
    {
        let Some(setting) = field.setting() else { return };
        if let Some(beyond) = setting.value.beyond(&bound.most) {
            let help = format!("let it be at most {}: {}", bound.most, bound.why);
            self.fail(setting.place, Fault::new(format!("`{name}` of {beyond} is too large")).help(help));
        }
    }
}

/// Writes a bound into the schema of a value: as a number where JSON Schema has a word for it, and for every reader as
/// `x-at-most` and in words.
pub(super) fn describe<L: UpperBound>(schema: &mut Json, bound: &AtMost<L>) {
    if let Some(number) = bound.most.number() {
        for pointer in ["", "/items", "/items/items", "/anyOf/1"] {
            let numbers = schema.pointer_mut(pointer).and_then(Json::as_object_mut);
            if let Some(numbers) =
                numbers.filter(|at| at.get("type").is_some_and(|kind| kind == "integer" || kind == "number"))
            {
                numbers.insert("maximum".to_owned(), number.clone());
            }
        }
    }
    let Some(object) = schema.as_object_mut() else { return };
    let text = bound.most.to_string();
    let about = object.get("description").and_then(Json::as_str).unwrap_or_default();
    let about = format!("{about} At most {text}: {}.", bound.why);
    object.insert("description".to_owned(), json!(about.trim_start()));
    object.insert("x-at-most".to_owned(), json!(text));
}
