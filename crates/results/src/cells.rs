//! The cells of a column: plain values or texts coded by a dictionary, any of which may be missing.

use std::collections::HashMap;
use std::sync::Arc;

use crate::validity::Validity;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Flags: true or false.
    Bool(Numbers<bool>),
    /// Floating point numbers: means, times in seconds.
    F64(Numbers<f64>),
    /// Whole numbers that may be negative.
    I64(Numbers<i64>),
    /// Strings, of names and the like.
    Text(TextValues),
    /// Counts: whole numbers without sign.
    U64(Numbers<u64>),
}

/// Cells of one plain type, some of which may be missing.
#[derive(Clone, Debug, Default)]
pub struct Numbers<T> {
    /// A missing cell holds the type's default.
    cells: Vec<T>,
    validity: Validity,
}

/// Texts coded by a dictionary in the order of first use; some may be missing.
#[derive(Clone, Debug, Default)]
pub struct TextValues {
    dictionary: Vec<Arc<str>>,
    code_of: HashMap<Arc<str>, u32>,
    codes: Numbers<u32>,
}

/// A type that the cells of a [`TypedColumn`](crate::TypedColumn) can have: `bool`, `f64`, `i64`, `u64`.
pub trait Cell: Copy + Default + private::Sealed {
    /// Equality of results: bit by bit for floats, so that a table equals itself whatever it holds.
    fn is_same(self, other: Self) -> bool;
    /// The cells as a column's values.
    fn values(numbers: Numbers<Self>) -> Values;
}

mod private {
    pub trait Sealed {}
}

impl Values {
    /// The type of the cells: `bool`, `f64`, `i64`, `text`, `u64`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::F64(_) => "f64",
            Self::I64(_) => "i64",
            Self::Text(_) => "text",
            Self::U64(_) => "u64",
        }
    }
}

impl<T: Cell> FromIterator<T> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = T>>(cells: I) -> Self {
        cells.into_iter().map(Some).collect()
    }
}

impl<T: Cell> FromIterator<Option<T>> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(cells: I) -> Self {
        let mut numbers = Self::default();
        for cell in cells {
            numbers.push(cell);
        }
        numbers
    }
}

impl<T: Copy + Default> Numbers<T> {
    pub(crate) fn push(&mut self, cell: Option<T>) {
        self.validity.push(cell.is_some());
        self.cells.push(cell.unwrap_or_default());
    }

    pub(crate) fn append(&mut self, other: &Self) {
        for cell in other.iter() {
            self.push(cell);
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Tells whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All cells; a missing one holds the type's default.
    pub fn cells(&self) -> &[T] {
        &self.cells
    }

    /// The cell of a row, or nothing where it is missing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn at(&self, row: usize) -> Option<T> {
        let cell = self.cells[row];
        self.validity.is_present(row).then_some(cell)
    }

    /// The cells in order, `None` where one is missing.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> + '_ {
        (0..self.cells.len()).map(|row| self.at(row))
    }

    /// Number of cells that are missing.
    pub fn missing(&self) -> usize {
        self.validity.missing()
    }

    /// One bit a cell, least significant bit first, set where a value is; nothing if none is missing.
    pub(crate) fn validity_bitmap(&self) -> Option<&[u8]> {
        self.validity.bitmap()
    }
}

impl<T: Cell> PartialEq for Numbers<T> {
    fn eq(&self, other: &Self) -> bool {
        self.validity == other.validity
            && self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(|(ours, theirs)| ours.is_same(*theirs))
    }
}

impl TextValues {
    /// Ready codes and their dictionary. Nothing if a code is none of its, or a string stands in it twice.
    pub(crate) fn of_parts(dictionary: Vec<Arc<str>>, codes: Numbers<u32>) -> Option<Self> {
        let code_of: HashMap<Arc<str>, u32> = dictionary.iter().cloned().zip(0..).collect();
        let is_known = |code: u32| usize::try_from(code).is_ok_and(|code| code < dictionary.len());
        (code_of.len() == dictionary.len() && codes.iter().flatten().all(is_known)).then_some(Self {
            dictionary,
            code_of,
            codes,
        })
    }

    pub(crate) fn push(&mut self, text: Option<&str>) {
        let code = text.map(|text| self.intern(text));
        self.codes.push(code);
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(code) = self.code_of.get(text) {
            return *code;
        }
        let code = u32::try_from(self.dictionary.len()).expect("fewer than 2^32 distinct texts");
        let text: Arc<str> = text.into();
        self.dictionary.push(Arc::clone(&text));
        self.code_of.insert(text, code);
        code
    }

    pub(crate) fn append(&mut self, other: &Self) {
        let codes: Vec<u32> = other.dictionary.iter().map(|text| self.intern(text)).collect();
        for code in other.codes.iter() {
            self.codes.push(code.map(|code| codes[code as usize]));
        }
    }

    /// The distinct texts, in the order of their first use.
    pub fn dictionary(&self) -> impl ExactSizeIterator<Item = &str> {
        self.dictionary.iter().map(AsRef::as_ref)
    }

    /// For each cell its text's place in the dictionary.
    pub fn codes(&self) -> &Numbers<u32> {
        &self.codes
    }

    /// The text of a row, or nothing where it is missing.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn at(&self, row: usize) -> Option<&str> {
        self.codes.at(row).map(|code| &*self.dictionary[code as usize])
    }
}

impl PartialEq for TextValues {
    // Codes count up from the first use, so equal texts have equal codes.
    fn eq(&self, other: &Self) -> bool {
        self.dictionary == other.dictionary
            && self.codes.validity == other.codes.validity
            && self.codes.cells == other.codes.cells
    }
}

macro_rules! cell {
    ($type:ty, $variant:ident, |$ours:ident, $theirs:ident| $same:expr) => {
        impl private::Sealed for $type {}
        impl Cell for $type {
            fn is_same(self, other: Self) -> bool {
                let ($ours, $theirs) = (self, other);
                $same
            }
            fn values(numbers: Numbers<Self>) -> Values {
                Values::$variant(numbers)
            }
        }
    };
}

cell!(bool, Bool, |ours, theirs| ours == theirs);
cell!(f64, F64, |ours, theirs| ours.to_bits() == theirs.to_bits());
cell!(i64, I64, |ours, theirs| ours == theirs);
cell!(u64, U64, |ours, theirs| ours == theirs);
