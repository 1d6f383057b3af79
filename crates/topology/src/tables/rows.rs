//! Tables that are filled row by row.

use slantpath_base::{Duration, Instant};
use slantpath_results::{Column, Table, TableError, TextColumn, TypedColumn};

use super::declared::{AnswerColumn, AnswerTable, Cells};

/// Cells of a column, by their type.
pub(super) enum Holds {
    Count(TypedColumn<u64>),
    Flag(TypedColumn<bool>),
    Number(TypedColumn<f64>),
    Text(TextColumn),
}

/// A cell, or its absence.
#[derive(Clone, Copy)]
pub(super) enum Cell<'a> {
    Count(u64),
    Flag(bool),
    Missing,
    Number(f64),
    Text(&'a str),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<usize> for Cell<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<Duration> for Cell<'_> {
    fn from(time: Duration) -> Self {
        Self::Number(time.as_secs_f64())
    }
}

impl From<Instant> for Cell<'_> {
    fn from(at: Instant) -> Self {
        Self::Number(at.since_start().as_secs_f64())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

/// A table in the making.
pub(super) struct Rows {
    name: &'static str,
    columns: Vec<Holds>,
}

impl Rows {
    /// A table without rows yet.
    pub(super) fn of(table: &AnswerTable) -> Self {
        let column = |column: &AnswerColumn| match column.cells {
            Cells::Count => Holds::Count(TypedColumn::new(column.name)),
            Cells::Flag => Holds::Flag(TypedColumn::new(column.name)),
            Cells::Number => Holds::Number(TypedColumn::new(column.name)),
            Cells::Text => Holds::Text(TextColumn::new(column.name)),
        };
        Self { name: table.name, columns: table.columns.iter().map(column).collect() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If a cell is not what its column holds.
    pub(super) fn push<const N: usize>(&mut self, cells: [Cell<'_>; N]) {
        assert_eq!(cells.len(), self.columns.len(), "`{}` has another number of columns", self.name);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Holds::Count(column), Cell::Count(count)) => column.push(count),
                (Holds::Count(column), Cell::Missing) => column.push_optional(None),
                (Holds::Flag(column), Cell::Flag(flag)) => column.push(flag),
                (Holds::Flag(column), Cell::Missing) => column.push_optional(None),
                (Holds::Number(column), Cell::Number(number)) => column.push(number),
                (Holds::Number(column), Cell::Missing) => column.push_optional(None),
                (Holds::Text(column), Cell::Text(text)) => column.push(text),
                (Holds::Text(column), Cell::Missing) => column.push_optional(None),
                _ => panic!("a cell of `{}` is not what its column holds", self.name),
            }
        }
    }

    pub(super) fn finish(self) -> Result<Table, TableError> {
        let columns = self.columns.into_iter().map(|column| match column {
            Holds::Count(column) => Column::from(column),
            Holds::Flag(column) => column.into(),
            Holds::Number(column) => column.into(),
            Holds::Text(column) => column.into(),
        });
        Table::new(self.name, columns)
    }
}
