//! The tables of all runs of a sweep as one of each name, and the means of each point.

use std::collections::BTreeMap;

use slantpath_results::{Column, Table, TableError, TypedColumn};

use super::Sweep;
use super::varied::Varied;
use crate::output::{RunOutput, TableKind};
use crate::summary::means;

impl Sweep {
    /// Lays the tables of all runs below each other, in the order of the grid, with one column for each varied path
    /// and `run` in front; and so the means over the runs of each point, of the tables that have any.
    pub(super) fn join(
        &self,
        mut output: impl FnMut(usize) -> Option<RunOutput>,
    ) -> Result<Vec<Table>, TableError> {
        let varied: Vec<Varied> = self.varied().map(|(path, values)| Varied::new(path, values)).collect();
        let repetitions = self.repetitions() as usize;
        let mut parts = BTreeMap::<String, Vec<Table>>::new();
        for point in 0..self.points() {
            let places = self.places(point);
            let keys = |rows: usize| {
                varied.iter().zip(&places).map(move |(path, place)| path.column(*place, rows)).collect()
            };
            let jobs = point * repetitions..(point + 1) * repetitions;
            let outputs: Vec<RunOutput> = jobs.filter_map(&mut output).collect();
            for kind in self.tables().iter().filter_map(|name| TableKind::of_name(name)) {
                if let Some(means) = means(kind, &outputs) {
                    let keys: Vec<Column> = keys(means.rows());
                    parts.entry(means.name().to_owned()).or_default().push(means.keyed(keys)?);
                }
            }
            for output in outputs {
                for table in output.tables {
                    let mut keys: Vec<Column> = keys(table.rows());
                    keys.push(TypedColumn::<u64>::repeated("run", output.run, table.rows()).into());
                    parts.entry(table.name().to_owned()).or_default().push(table.keyed(keys)?);
                }
            }
        }
        parts.into_iter().map(|(name, parts)| Table::stacked(name, parts)).collect()
    }
}
