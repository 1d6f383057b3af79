//! Columns: typed while they are filled, one enum once they stand in a table.

use std::collections::HashMap;
use std::sync::Arc;

use slantpath_base::{Duration, Instant};

use crate::unit::Unit;
use crate::validity::Validity;

/// A column of numbers or flags that is being filled.
///
/// ```
/// use slantpath_results::{Table, TextColumn, TypedColumn};
/// let mut flow = TextColumn::new("flow");
/// let mut delay = TypedColumn::<f64>::new("delay_s");
/// flow.push("sctp");
/// delay.push(0.25);
/// flow.push("sctp");
/// delay.push_optional(None); // not delivered
/// let table = Table::new("messages", [flow.into(), delay.into()])?;
/// assert_eq!(table.rows(), 2);
/// # Ok::<(), slantpath_results::TableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedColumn<T> {
    name: String,
    numbers: Numbers<T>,
}

/// A column of texts that is being filled; each distinct text is stored once.
#[derive(Clone, Debug)]
pub struct TextColumn {
    name: String,
    values: TextValues,
}

/// A named column of one type. Its unit is the end of its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: String,
    values: Values,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Flags.
    Bool(Numbers<bool>),
    /// Floating point numbers: means, times in seconds.
    F64(Numbers<f64>),
    /// Whole numbers that may be negative.
    I64(Numbers<i64>),
    /// Texts.
    Text(TextValues),
    /// Counts.
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

/// One cell of any column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A flag.
    Bool(bool),
    /// A floating point number.
    F64(f64),
    /// A whole number that may be negative.
    I64(i64),
    /// Nothing: not measured, not delivered.
    Missing,
    /// A text.
    Text(&'a str),
    /// A count.
    U64(u64),
}

/// A type that the cells of a [`TypedColumn`] can have: `bool`, `f64`, `i64`, `u64`.
pub trait Cell: Copy + Default + private::Sealed {
    /// Equality of results: bit by bit for floats, so that a table equals itself whatever it holds.
    fn is_same(self, other: Self) -> bool;
    /// The cells as a column's values.
    fn values(numbers: Numbers<Self>) -> Values;
}

mod private {
    pub trait Sealed {}
}

impl<T: Cell> TypedColumn<T> {
    /// An empty column. `name` ends in its unit: `delay_s`, `size_bytes`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), numbers: Numbers::default() }
    }

    /// A column of `rows` equal cells: what tells the rows of one run from another's.
    pub fn repeated(name: impl Into<String>, cell: T, rows: usize) -> Self {
        let mut column = Self::new(name);
        for _ in 0..rows {
            column.push(cell);
        }
        column
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: T) {
        self.numbers.push(Some(cell));
    }

    /// Adds a cell, or a missing one.
    pub fn push_optional(&mut self, cell: Option<T>) {
        self.numbers.push(cell);
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.numbers.cells.len()
    }

    /// Whether there is no cell yet.
    pub fn is_empty(&self) -> bool {
        self.numbers.cells.is_empty()
    }
}

impl TypedColumn<f64> {
    /// Adds the seconds from the start of the run to `instant`.
    pub fn push_instant(&mut self, instant: Instant) {
        self.push(instant.since_start().as_secs_f64());
    }

    /// Adds a length of time in seconds.
    pub fn push_duration(&mut self, duration: Duration) {
        self.push(duration.as_secs_f64());
    }
}

impl TextColumn {
    /// An empty column.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: TextValues::default() }
    }

    /// A column of `rows` equal texts.
    pub fn repeated(name: impl Into<String>, text: &str, rows: usize) -> Self {
        let mut column = Self::new(name);
        for _ in 0..rows {
            column.push(text);
        }
        column
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.push_optional(Some(text));
    }

    /// Adds a text, or a missing one.
    pub fn push_optional(&mut self, text: Option<&str>) {
        let code = text.map(|text| self.values.intern(text));
        self.values.codes.push(code);
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.values.codes.cells.len()
    }

    /// Whether there is no cell yet.
    pub fn is_empty(&self) -> bool {
        self.values.codes.cells.is_empty()
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
    fn push(&mut self, cell: Option<T>) {
        self.validity.push(cell.is_some());
        self.cells.push(cell.unwrap_or_default());
    }

    fn append(&mut self, other: &Self) {
        for cell in other.iter() {
            self.push(cell);
        }
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

    /// How many cells are missing.
    pub fn missing(&self) -> usize {
        self.validity.missing()
    }

    /// One bit a cell, least significant bit first, set where a value is; nothing if none is missing.
    pub fn validity_bitmap(&self) -> Option<&[u8]> {
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

    fn append(&mut self, other: &Self) {
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

impl Column {
    /// A column of ready values. `name` ends in its unit.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values }
    }

    /// The name, unit last.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit, which is the end of the name.
    pub fn unit(&self) -> Unit {
        Unit::of_name(&self.name)
    }

    /// The cells.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Bool(numbers) => numbers.cells.len(),
            Values::F64(numbers) => numbers.cells.len(),
            Values::I64(numbers) => numbers.cells.len(),
            Values::Text(texts) => texts.codes.cells.len(),
            Values::U64(numbers) => numbers.cells.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many cells are missing.
    pub fn missing(&self) -> usize {
        match &self.values {
            Values::Bool(numbers) => numbers.missing(),
            Values::F64(numbers) => numbers.missing(),
            Values::I64(numbers) => numbers.missing(),
            Values::Text(texts) => texts.codes.missing(),
            Values::U64(numbers) => numbers.missing(),
        }
    }

    /// One cell.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn at(&self, row: usize) -> Value<'_> {
        match &self.values {
            Values::Bool(numbers) => numbers.at(row).map_or(Value::Missing, Value::Bool),
            Values::F64(numbers) => numbers.at(row).map_or(Value::Missing, Value::F64),
            Values::I64(numbers) => numbers.at(row).map_or(Value::Missing, Value::I64),
            Values::Text(texts) => texts.at(row).map_or(Value::Missing, Value::Text),
            Values::U64(numbers) => numbers.at(row).map_or(Value::Missing, Value::U64),
        }
    }

    /// Adds the cells of `other` behind its own; false, and nothing changed, if they are of another type.
    pub(crate) fn append(&mut self, other: &Self) -> bool {
        match (&mut self.values, &other.values) {
            (Values::Bool(ours), Values::Bool(theirs)) => ours.append(theirs),
            (Values::F64(ours), Values::F64(theirs)) => ours.append(theirs),
            (Values::I64(ours), Values::I64(theirs)) => ours.append(theirs),
            (Values::Text(ours), Values::Text(theirs)) => ours.append(theirs),
            (Values::U64(ours), Values::U64(theirs)) => ours.append(theirs),
            _ => return false,
        }
        true
    }

    /// A column's numbers as floats, without the missing cells; nothing for texts.
    pub fn as_f64(&self) -> Option<Vec<f64>> {
        match &self.values {
            Values::Bool(numbers) => {
                Some(numbers.iter().flatten().map(|flag| if flag { 1.0 } else { 0.0 }).collect())
            }
            Values::F64(numbers) => Some(numbers.iter().flatten().collect()),
            Values::I64(numbers) => Some(numbers.iter().flatten().map(|cell| cell as f64).collect()),
            Values::Text(_) => None,
            Values::U64(numbers) => Some(numbers.iter().flatten().map(|cell| cell as f64).collect()),
        }
    }
}

impl<T: Cell> From<TypedColumn<T>> for Column {
    fn from(column: TypedColumn<T>) -> Self {
        Self { name: column.name, values: T::values(column.numbers) }
    }
}

impl From<TextColumn> for Column {
    fn from(column: TextColumn) -> Self {
        Self { name: column.name, values: Values::Text(column.values) }
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
