//! The tables of all runs of a sweep as one of each name.

use std::collections::BTreeMap;

use slantpath_results::{Column, Table, TableError, TextColumn, TypedColumn};

use super::Sweep;
use crate::document::{Data, Node};
use crate::output::RunOutput;

impl Sweep {
    /// Lays the tables of all runs below each other, in the order of the grid. In front of their columns stand
    /// one for each varied path and `run`.
    pub(super) fn join(&self, output: impl Fn(usize) -> Option<RunOutput>) -> Result<Vec<Table>, TableError> {
        let mut parts = BTreeMap::<String, Vec<Table>>::new();
        for job in 0..self.jobs() {
            let (point, run) = self.job(job);
            let values = self.values(point);
            for table in output(job).into_iter().flat_map(|output| output.tables) {
                let rows = table.rows();
                let mut keys: Vec<Column> =
                    values.iter().map(|(path, _, node)| key(path, node, rows)).collect();
                keys.push(TypedColumn::<u64>::repeated("run", run, rows).into());
                let name = table.name().to_owned();
                parts.entry(name).or_default().push(table.keyed(keys)?);
            }
        }
        parts.into_iter().map(|(name, parts)| Table::stacked(name, parts)).collect()
    }
}

/// A value of an axis as a column: texts, which quantities are, as they are written; lists and tables too.
fn key(path: &str, node: &Node, rows: usize) -> Column {
    match &node.data {
        Data::Text(text) => TextColumn::repeated(path, text, rows).into(),
        Data::Integer(number) => TypedColumn::<i64>::repeated(path, *number, rows).into(),
        Data::Float(number) => match number.replace('_', "").parse() {
            Ok(number) => TypedColumn::<f64>::repeated(path, number, rows).into(),
            Err(_) => TextColumn::repeated(path, number, rows).into(),
        },
        Data::Boolean(flag) => TypedColumn::<bool>::repeated(path, *flag, rows).into(),
        Data::Array(_) | Data::Datetime(_) | Data::Table(_) => {
            TextColumn::repeated(path, &node.to_toml(), rows).into()
        }
    }
}
