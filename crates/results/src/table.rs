//! A table: a name and columns of equal length.

use crate::column::{CellValue, Column};

/// Columns of equal length under one name. Equal tables have equal names, columns, order and cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<Column>,
}

/// Why columns do not make a table, or two tables do not make one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A part whose columns differ in name, order or type from the first part's.
    #[error("part {part} of table `{table}` has other columns than the first: {found}, not {wanted}")]
    DifferentColumns {
        /// Name of the table.
        table: String,
        /// Number of the part, counted from zero.
        part: usize,
        /// Columns of the part.
        found: String,
        /// The columns of the first.
        wanted: String,
    },
    /// Two columns of one name.
    #[error("table `{table}` has two columns `{column}`")]
    DuplicateColumn {
        /// Name of the table.
        table: String,
        /// The name that occurs twice.
        column: String,
    },
    /// A column that is longer or shorter than the first.
    #[error("column `{column}` of table `{table}` has {cells} cells, the first column has {rows}")]
    UnequalLength {
        /// Name of the table.
        table: String,
        /// The column that differs.
        column: String,
        /// Length of the column, in cells.
        cells: usize,
        /// The length of the first column.
        rows: usize,
    },
}

impl Table {
    /// A table of columns, which must differ in name and agree in length.
    pub fn new(
        name: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Self, TableError> {
        let (table, columns) = (name.into(), Vec::from_iter(columns));
        let rows = columns.first().map_or(0, Column::len);
        for (place, column) in columns.iter().enumerate() {
            let name = || column.name().to_owned();
            if column.len() != rows {
                return Err(TableError::UnequalLength { table, column: name(), cells: column.len(), rows });
            }
            if columns[..place].iter().any(|earlier| earlier.name() == column.name()) {
                return Err(TableError::DuplicateColumn { table, column: name() });
            }
        }
        Ok(Self { name: table, columns })
    }

    /// The rows of all parts one below the other, under the columns that the parts share.
    pub fn stacked(
        name: impl Into<String>,
        parts: impl IntoIterator<Item = Self>,
    ) -> Result<Self, TableError> {
        let mut parts = parts.into_iter();
        let mut whole =
            Self { name: name.into(), columns: parts.next().map_or_else(Vec::new, |part| part.columns) };
        for (place, part) in parts.enumerate() {
            if !whole.append(&part) {
                return Err(TableError::DifferentColumns {
                    part: place + 1,
                    found: described(&part.columns),
                    wanted: described(&whole.columns),
                    table: whole.name,
                });
            }
        }
        Ok(whole)
    }

    /// Adds the rows of `other` below its own; false, and nothing changed, if it has other columns.
    pub fn append(&mut self, other: &Self) -> bool {
        let is_alike = self.has_columns_of(other);
        if is_alike {
            for (ours, theirs) in self.columns.iter_mut().zip(&other.columns) {
                assert!(ours.append(theirs), "columns that are alike are of one type");
            }
        }
        is_alike
    }

    /// Tells whether both have columns of the same names and types in the same order.
    pub(crate) fn has_columns_of(&self, other: &Self) -> bool {
        let alike = |(ours, theirs): (&Column, &Column)| {
            ours.name() == theirs.name() && ours.values().type_name() == theirs.values().type_name()
        };
        self.columns.len() == other.columns.len() && self.columns.iter().zip(&other.columns).all(alike)
    }

    /// A table of the same columns without rows.
    #[must_use]
    pub fn header(&self) -> Self {
        Self { name: self.name.clone(), columns: self.columns.iter().map(Column::emptied).collect() }
    }

    /// The table with `keys` in front of its columns, to tell its rows from those of others before
    /// [`Table::stacked`] lays them together.
    pub fn keyed(self, keys: impl IntoIterator<Item = Column>) -> Result<Self, TableError> {
        Self::new(self.name, keys.into_iter().chain(self.columns))
    }

    /// Name of the table, which says what its rows are: `messages`, `links`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// One row, in the order of the columns.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = CellValue<'_>> {
        self.columns.iter().map(move |column| column.at(row))
    }
}

/// Names and types of columns, as an error shows them.
fn described(columns: &[Column]) -> String {
    let described: Vec<String> = columns
        .iter()
        .map(|column| format!("`{}` ({})", column.name(), column.values().type_name()))
        .collect();
    described.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{TextColumn, TypedColumn};
    use crate::unit::ColumnUnit;

    fn numbers(name: &str, cells: &[Option<f64>]) -> Column {
        let mut column = TypedColumn::<f64>::new(name);
        for cell in cells {
            column.push_optional(*cell);
        }
        column.into()
    }

    fn texts(name: &str, cells: &[Option<&str>]) -> Column {
        let mut column = TextColumn::new(name);
        for cell in cells {
            column.push_optional(*cell);
        }
        column.into()
    }

    #[test]
    fn a_table_gives_back_its_cells() {
        let table = Table::new(
            "messages",
            [numbers("delay_s", &[Some(0.25), None]), texts("path", &[None, Some("satellite")])],
        )
        .unwrap();
        assert_eq!(table.rows(), 2);
        assert_eq!(table.row(0).collect::<Vec<_>>(), [CellValue::F64(0.25), CellValue::Missing]);
        assert_eq!(table.row(1).collect::<Vec<_>>(), [CellValue::Missing, CellValue::Text("satellite")]);
        assert_eq!(table.column("delay_s").unwrap().unit(), ColumnUnit::Seconds);
        assert_eq!(table.column("delay_s").unwrap().missing(), 1);
        assert_eq!(table.column("delay_s").unwrap().as_f64(), Some(vec![0.25]));
        assert!(table.column("delay").is_none());
    }

    #[test]
    fn columns_of_unequal_length_are_refused() {
        let error = Table::new("t", [numbers("a", &[Some(1.0)]), numbers("b", &[])]).unwrap_err();
        assert_eq!(error.to_string(), "column `b` of table `t` has 0 cells, the first column has 1");
    }

    #[test]
    fn parts_are_stacked_in_order_and_keep_their_texts() {
        let part = |run: u64, path: &str, delay| {
            Table::new("messages", [texts("path", &[Some(path)]), numbers("delay_s", &[delay])])
                .and_then(|table| table.keyed([TypedColumn::<u64>::repeated("run", run, 1).into()]))
                .unwrap()
        };
        let stacked = Table::stacked("all", [part(0, "b", Some(1.0)), part(1, "a", None)]).unwrap();
        assert_eq!(
            stacked.row(0).collect::<Vec<_>>(),
            [CellValue::U64(0), CellValue::Text("b"), CellValue::F64(1.0)]
        );
        assert_eq!(
            stacked.row(1).collect::<Vec<_>>(),
            [CellValue::U64(1), CellValue::Text("a"), CellValue::Missing]
        );
    }

    #[test]
    fn parts_of_other_columns_are_refused() {
        let ours = Table::new("t", [numbers("a", &[])]).unwrap();
        let theirs = Table::new("t", [texts("a", &[])]).unwrap();
        assert_eq!(
            Table::stacked("t", [ours, theirs]).unwrap_err().to_string(),
            "part 1 of table `t` has other columns than the first: `a` (text), not `a` (f64)"
        );
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let error = Table::new("t", [numbers("a", &[]), numbers("a", &[])]).unwrap_err();
        assert_eq!(error.to_string(), "table `t` has two columns `a`");
    }

    #[test]
    fn equality_is_bit_by_bit_and_tells_missing_from_zero() {
        let of = |cells| Table::new("t", [numbers("a", cells)]).unwrap();
        assert_eq!(of(&[Some(f64::NAN)]), of(&[Some(f64::NAN)]));
        assert_ne!(of(&[Some(0.0)]), of(&[Some(-0.0)]));
        assert_ne!(of(&[Some(0.0)]), of(&[None]));
    }

    #[test]
    fn texts_are_stored_once_in_the_order_of_first_use() {
        let column = texts("path", &[Some("b"), Some("a"), None, Some("b")]);
        let crate::Values::Text(values) = column.values() else { panic!("texts") };
        assert_eq!(values.dictionary().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(values.codes().iter().collect::<Vec<_>>(), [Some(0), Some(1), None, Some(0)]);
    }
}
