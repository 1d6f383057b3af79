//! Stages of a file: as somebody has written it, and complete.
//!
//! A key that a check may have to give a value is declared as `Later<S, …>` in a section `Name<S>`. In the stage
//! [`Written`] the value may be open; in the stage [`Complete`] it is there. What only stands for other values, such as
//! a key for both directions of a link, is declared as `Spent<S, …>`: a complete file has it no more. [`Finish`] is the
//! one way from the first stage to the second.
//!
//! A check also gives values that no key has, such as what a name stands for: `Later<S, Resolved<…>>`.

use core::fmt::{self, Debug};
use core::ops::{Deref, DerefMut};

use super::{Member, MergedOutput, ObjectSchema, Section, Setting, TableReader, WriteFields, WriteMember};
use crate::diagnostic::{Fault, Faults, Place};

/// Stage of a file, which says whether open values may be in it.
pub trait Stage: Copy + Debug + PartialEq {
    /// A value that a check gives if nobody wrote it.
    type Later<T: Kept>: Kept;
    /// A value that the file alone has: a check puts it into others.
    type Spent<T: Kept>: Kept;

    /// Gives the value, unless it is open.
    fn known<T: Kept>(value: &Self::Later<T>) -> Option<&T>;
}

/// A value that a check gives if nobody wrote it, in a section of stage `S`.
pub type Later<S, T> = <S as Stage>::Later<T>;

/// A value that the file alone has, in a section of stage `S`.
pub type Spent<S, T> = <S as Stage>::Spent<T>;

/// Stage of a file that has been read, and not checked yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Written {}

/// Stage of a file of which no value is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Complete {}

impl Stage for Written {
    type Later<T: Kept> = Awaited<T>;
    type Spent<T: Kept> = Passing<T>;

    fn known<T: Kept>(value: &Awaited<T>) -> Option<&T> {
        value.as_ref()
    }
}

impl Stage for Complete {
    type Later<T: Kept> = T;
    type Spent<T: Kept> = Gone;

    fn known<T: Kept>(value: &T) -> Option<&T> {
        Some(value)
    }
}

/// Bounds of what stands in a section of either stage.
pub trait Kept: Clone + Debug + PartialEq + WriteMember {}

impl<T: Clone + Debug + PartialEq + WriteMember> Kept for T {}

/// A value that a check gives if nobody wrote it: open until then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Awaited<T>(Option<T>);

impl<T> Awaited<T> {
    /// A value that is still open.
    pub const fn open() -> Self {
        Self(None)
    }

    /// This value, or the other one while this is open.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

impl<T> From<T> for Awaited<T> {
    fn from(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> From<Option<T>> for Awaited<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T> Deref for Awaited<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T> DerefMut for Awaited<T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        &mut self.0
    }
}

impl<T: WriteMember> WriteMember for Awaited<T> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write(output, field);
    }
}

impl<T: WriteMember> Member for Awaited<T>
where
    Option<T>: Member,
{
    fn names(field: &'static str) -> Vec<&'static str> {
        <Option<T> as Member>::names(field)
    }

    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        Member::read(reader, field).map(Self)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        <Option<T> as Member>::schema(schema, field, doc);
    }
}

/// A value that the file alone has.
#[derive(Clone, Debug, PartialEq)]
pub struct Passing<T>(pub T);

impl<T> Deref for Passing<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Passing<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: WriteMember> WriteMember for Passing<T> {
    fn write(&self, output: &mut MergedOutput, field: &'static str) {
        self.0.write(output, field);
    }
}

impl<T: Member> Member for Passing<T> {
    fn names(field: &'static str) -> Vec<&'static str> {
        T::names(field)
    }

    fn read(reader: &mut TableReader<'_>, field: &'static str) -> Option<Self> {
        T::read(reader, field).map(Self)
    }

    fn schema(schema: &mut ObjectSchema, field: &'static str, doc: &str) {
        T::schema(schema, field, doc);
    }
}

/// A value that no key has: a check works it out of others, and whoever builds finds it in place. No file tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved<T>(pub T);

impl<T> Deref for Resolved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> WriteMember for Resolved<T> {
    fn write(&self, _: &mut MergedOutput, _: &'static str) {}
}

impl<T> Member for Option<Resolved<T>> {
    fn names(_: &'static str) -> Vec<&'static str> {
        Vec::new()
    }

    fn read(_: &mut TableReader<'_>, _: &'static str) -> Option<Self> {
        Some(None)
    }

    fn schema(_: &mut ObjectSchema, _: &'static str, _: &str) {}
}

impl<T> Awaited<Resolved<T>> {
    /// Gives the value, as far as it could be worked out.
    pub fn resolve(&mut self, value: Option<T>) {
        self.0 = value.map(Resolved);
    }
}

/// A table of which others take what they do not say themselves: what it leaves open stays open in a complete file.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<T>(pub T);

impl<T> Deref for Model<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: WriteFields> WriteFields for Model<T> {
    fn write_fields(&self, output: &mut MergedOutput) {
        self.0.write_fields(output);
    }
}

impl<T: Section> Section for Model<T> {
    const ABOUT: &'static str = T::ABOUT;
    const REFUSED: &'static [(&'static str, &'static str)] = T::REFUSED;

    fn names() -> Vec<&'static str> {
        T::names()
    }

    fn read_fields(reader: &mut TableReader<'_>) -> Option<Self> {
        T::read_fields(reader).map(Self)
    }

    fn schema_fields(schema: &mut ObjectSchema) {
        T::schema_fields(schema);
    }
}

/// Mark in the place of a value that a complete file has no more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gone;

impl WriteMember for Gone {
    fn write(&self, _: &mut MergedOutput, _: &'static str) {}
}

/// Path of a value that no check has given, although it found no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open(String);

impl Open {
    /// Path with the key before it in which this one lies.
    #[must_use]
    pub fn within(self, key: &str) -> Self {
        Self(if self.0.is_empty() { key.to_owned() } else { format!("{key}.{}", self.0) })
    }
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is left without a value", self.0)
    }
}

impl core::error::Error for Open {}

/// Way from the stage [`Written`] to the stage [`Complete`].
pub trait Finish {
    /// Type in which no value is open.
    type Finished;

    /// Gives it in whole.
    ///
    /// # Errors
    /// With the first value that is open.
    fn finish(self) -> Result<Self::Finished, Open>;
}

/// Finishes what checks have completed; reports a value that none of them has given, although nothing is at fault.
pub fn finished<T: Finish>(written: T, path: &str, faults: &mut Faults) -> Option<T::Finished> {
    match written.finish() {
        Ok(finished) => Some(finished),
        Err(open) => {
            let open = if path.is_empty() { open } else { open.within(path) };
            let help = "write it, and report this: a check should have given it one";
            faults.report(Place::default(), Fault::new(open.to_string()).help(help));
            None
        }
    }
}

impl<T> Finish for Awaited<T> {
    type Finished = T;

    fn finish(self) -> Result<T, Open> {
        self.0.ok_or(Open(String::new()))
    }
}

impl<T> Finish for Passing<T> {
    type Finished = Gone;

    fn finish(self) -> Result<Gone, Open> {
        Ok(Gone)
    }
}

impl<T> Finish for Model<T> {
    type Finished = Self;

    fn finish(self) -> Result<Self, Open> {
        Ok(self)
    }
}

impl<T> Finish for Setting<T> {
    type Finished = Self;

    fn finish(self) -> Result<Self, Open> {
        Ok(self)
    }
}

impl<T: Finish> Finish for Option<T> {
    type Finished = Option<T::Finished>;

    fn finish(self) -> Result<Self::Finished, Open> {
        self.map(T::finish).transpose()
    }
}
