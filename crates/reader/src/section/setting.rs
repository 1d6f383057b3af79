//! A value with its place and where it came from.

use core::ops::Deref;

use crate::diagnostic::Place;

/// A value with its place and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Setting<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
    pub(super) place: Place,
}

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody wrote it: the default.
    Default,
    /// Worked out from the rest of the scenario.
    Derived(&'static str),
    /// The file or an override says so.
    Given,
}

impl<T> Setting<T> {
    /// Origin of the value.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// A value that follows from the rest of the file: `how`.
    pub fn derived(value: T, how: &'static str, place: Place) -> Self {
        Self { value, origin: Origin::Derived(how), place }
    }

    /// A value that nobody wrote, in the table at `place`.
    pub fn default(value: T, place: Place) -> Self {
        Self { value, origin: Origin::Default, place }
    }

    /// Puts a value in the place of one that stands for it.
    pub fn complete(&mut self, value: T) {
        self.value = value;
    }

    /// Position of the value; for a value that nobody wrote, the table that could have held it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Settings are equal when their values are, wherever those came from.
impl<T: PartialEq> PartialEq for Setting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Deref for Setting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
