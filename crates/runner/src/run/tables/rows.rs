//! Tables whose rows are made one by one: names, counts, seconds.

use slantpath_base::Duration;
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use crate::output::TableKind;

/// A table in the making.
pub(super) struct Rows {
    kind: TableKind,
    texts: Vec<TextColumn>,
    counts: Vec<TypedColumn<u64>>,
    seconds: Vec<TypedColumn<f64>>,
}

impl Rows {
    pub(super) fn new(kind: TableKind, texts: &[&str], counts: &[String], seconds: &[&str]) -> Self {
        Self {
            kind,
            texts: texts.iter().map(|name| TextColumn::new(*name)).collect(),
            counts: counts.iter().map(|name| TypedColumn::new(name.clone())).collect(),
            seconds: seconds.iter().map(|name| TypedColumn::new(*name)).collect(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has other cells than the table has columns.
    pub(super) fn push<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
        counts: impl IntoIterator<Item = u64>,
        seconds: impl IntoIterator<Item = Duration>,
    ) {
        let mut cells = texts.into_iter();
        self.texts.iter_mut().for_each(|column| column.push(cells.next().expect("a text for each column")));
        assert!(cells.next().is_none(), "{}: a text without a column", self.kind.name());
        let mut cells = counts.into_iter();
        self.counts.iter_mut().for_each(|column| column.push(cells.next().expect("a count for each column")));
        assert!(cells.next().is_none(), "{}: a count without a column", self.kind.name());
        let mut cells = seconds.into_iter();
        self.seconds
            .iter_mut()
            .for_each(|column| column.push_duration(cells.next().expect("a time for each column")));
        assert!(cells.next().is_none(), "{}: a time without a column", self.kind.name());
    }

    pub(super) fn finish(self) -> Table {
        let mut columns: Vec<Column> = self.texts.into_iter().map(Column::from).collect();
        columns.extend(self.counts.into_iter().map(Column::from));
        columns.extend(self.seconds.into_iter().map(Column::from));
        self.kind.table(columns)
    }
}
