//! Numbers of the tables of a run, for tests that compare them.

use slantpath_results::CellValue;
use slantpath_runner::RunOutput;

/// A column of numbers, a cell that is missing as nothing.
pub(crate) fn cells(output: &RunOutput, table: &str, column: &str) -> Vec<Option<f64>> {
    let column =
        output.table(table).expect("the run has the table").column(column).expect("and that the column");
    let number = |row| match column.at(row) {
        CellValue::F64(number) => Some(number),
        CellValue::U64(number) => Some(number as f64),
        CellValue::Missing => None,
        other => panic!("{other:?} is no number"),
    };
    (0..column.len()).map(number).collect()
}
