//! A table: a name and columns of equal length.

use crate::column::{Column, Value};

/// Columns of equal length under one name. Equal tables have equal names, columns, order and cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<Column>,
}

/// Why columns do not make a table, or two tables do not make one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Two columns of one name.
    #[error("table `{table}` has two columns `{column}`")]
    DuplicateColumn {
        /// The table.
        table: String,
        /// The name that occurs twice.
        column: String,
    },
    /// A column that is longer or shorter than the first.
    #[error("column `{column}` of table `{table}` has {cells} cells, the first column has {rows}")]
    UnequalLength {
        /// The table.
        table: String,
        /// The column that differs.
        column: String,
        /// Its length.
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

    /// What the rows are: `messages`, `links`.
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

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// One row, in the order of the columns.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Value<'_>> {
        self.columns.iter().map(move |column| column.at(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{TextColumn, TypedColumn};
    use crate::unit::Unit;

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
        assert_eq!(table.row(0).collect::<Vec<_>>(), [Value::F64(0.25), Value::Missing]);
        assert_eq!(table.row(1).collect::<Vec<_>>(), [Value::Missing, Value::Text("satellite")]);
        assert_eq!(table.column("delay_s").unwrap().unit(), Unit::Seconds);
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
        let crate::column::Values::Text(values) = column.values() else { panic!("texts") };
        assert_eq!(values.dictionary().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(values.codes().iter().collect::<Vec<_>>(), [Some(0), Some(1), None, Some(0)]);
    }
}
