//! Columns: typed while they are filled, one enum once they stand in a table.

use slantpath_base::{Duration, Instant};

use crate::cells::{Cell, Numbers, TextValues, Values};
use crate::unit::ColumnUnit;

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

/// One cell of any column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellValue<'a> {
    /// A flag.
    Bool(bool),
    /// A floating point number.
    F64(f64),
    /// A whole number that may be negative.
    I64(i64),
    /// Nothing: not measured, not delivered.
    Missing,
    /// A string.
    Text(&'a str),
    /// A count.
    U64(u64),
}

impl CellValue<'_> {
    /// Number in the cell; `None` of a flag, a string, and of what is missing.
    pub const fn number(self) -> Option<f64> {
        match self {
            Self::F64(number) => Some(number),
            Self::I64(number) => Some(number as f64),
            Self::U64(number) => Some(number as f64),
            Self::Bool(_) | Self::Missing | Self::Text(_) => None,
        }
    }
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

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Tells whether there is no cell yet.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
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

    /// Adds a string.
    pub fn push(&mut self, text: &str) {
        self.push_optional(Some(text));
    }

    /// Adds a string, or a missing one.
    pub fn push_optional(&mut self, text: Option<&str>) {
        self.values.push(text);
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.values.codes().len()
    }

    /// Tells whether there is no cell yet.
    pub fn is_empty(&self) -> bool {
        self.values.codes().is_empty()
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
    pub fn unit(&self) -> ColumnUnit {
        ColumnUnit::of_name(&self.name)
    }

    /// Cells of the column.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Bool(numbers) => numbers.len(),
            Values::F64(numbers) => numbers.len(),
            Values::I64(numbers) => numbers.len(),
            Values::Text(texts) => texts.codes().len(),
            Values::U64(numbers) => numbers.len(),
        }
    }

    /// Tells whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cells that are missing.
    pub fn missing(&self) -> usize {
        match &self.values {
            Values::Bool(numbers) => numbers.missing(),
            Values::F64(numbers) => numbers.missing(),
            Values::I64(numbers) => numbers.missing(),
            Values::Text(texts) => texts.codes().missing(),
            Values::U64(numbers) => numbers.missing(),
        }
    }

    /// One cell.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn at(&self, row: usize) -> CellValue<'_> {
        match &self.values {
            Values::Bool(numbers) => numbers.at(row).map_or(CellValue::Missing, CellValue::Bool),
            Values::F64(numbers) => numbers.at(row).map_or(CellValue::Missing, CellValue::F64),
            Values::I64(numbers) => numbers.at(row).map_or(CellValue::Missing, CellValue::I64),
            Values::Text(texts) => texts.at(row).map_or(CellValue::Missing, CellValue::Text),
            Values::U64(numbers) => numbers.at(row).map_or(CellValue::Missing, CellValue::U64),
        }
    }

    /// A column of the same name and type without cells.
    pub(crate) fn emptied(&self) -> Self {
        let values = match &self.values {
            Values::Bool(_) => Values::Bool(Numbers::default()),
            Values::F64(_) => Values::F64(Numbers::default()),
            Values::I64(_) => Values::I64(Numbers::default()),
            Values::Text(_) => Values::Text(TextValues::default()),
            Values::U64(_) => Values::U64(Numbers::default()),
        };
        Self { name: self.name.clone(), values }
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
