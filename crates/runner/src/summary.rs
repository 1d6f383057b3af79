//! Means over replications and how far they can be trusted.

use std::collections::BTreeMap;

use slantpath_results::{CellValue, Column, Moments, Quantiles, Table, TextColumn, TypedColumn};

use crate::output::{RunOutput, TableKind};

/// The confidence level of all intervals, the papers' own.
pub const LEVEL: f64 = 0.99;

/// Runs that it takes at least to tell what 99 % of them do not exceed.
pub const FEWEST_FOR_P99: usize = 100;

/// For each flow and each number in the runs' `flows` tables, its mean over the runs and the interval of 99 %
/// that their independence allows: columns `flow`, `measure`, `mean`, `half_width`, `low`, `high`, `median`, `p99`,
/// `runs`. `half_width` is missing for a single run, which tells nothing of the spread, and `p99` for fewer than
/// [`FEWEST_FOR_P99`].
pub fn summary(outputs: &[RunOutput]) -> Table {
    means_called("summary", TableKind::Flows, outputs)
}

/// Variant of [`summary`] for another table: its keys in place of `flow`. `None` where runs have no such table, and
/// where a row of one run is not the same thing as a row of another, as with messages and samples.
pub fn means(kind: TableKind, outputs: &[RunOutput]) -> Option<Table> {
    let is_there = outputs.iter().any(|output| output.table(kind.name()).is_some());
    (is_there && !kind.keys().is_empty())
        .then(|| means_called(&format!("{}_summary", kind.name()), kind, outputs))
}

fn means_called(name: &str, kind: TableKind, outputs: &[RunOutput]) -> Table {
    let keys = kind.keys();
    // Rows in the order in which they come, whatever they are called: the moments of each by the table's columns.
    let mut places = BTreeMap::<Vec<String>, usize>::new();
    let mut rows: Vec<(Vec<String>, Vec<Vec<f64>>)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for table in outputs.iter().filter_map(|output| output.table(kind.name())) {
        let is_key: Vec<bool> = table.columns().iter().map(|column| keys.contains(&column.name())).collect();
        if names.len() < is_key.len() {
            names = table.columns().iter().map(Column::name).collect();
        }
        let key_cells: Vec<Option<&Column>> = keys.iter().map(|key| table.column(key)).collect();
        for row in 0..table.rows() {
            let key: Vec<String> = key_cells.iter().map(|column| text(*column, row)).collect();
            let place = *places.entry(key).or_insert_with_key(|key| {
                rows.push((key.clone(), vec![Vec::new(); is_key.len()]));
                rows.len() - 1
            });
            let measures = &mut rows[place].1;
            measures.resize(measures.len().max(is_key.len()), Vec::new());
            for ((column, is_key), sample) in table.columns().iter().zip(&is_key).zip(measures) {
                let Some(number) = column.at(row).number().filter(|_| !is_key) else { continue };
                sample.push(number);
            }
        }
    }
    let mut key_columns: Vec<TextColumn> = keys.iter().map(|key| TextColumn::new(*key)).collect();
    let mut measure_column = TextColumn::new("measure");
    let [mut mean, mut half_width, mut low, mut high, mut median, mut p99] =
        ["mean", "half_width", "low", "high", "median", "p99"].map(TypedColumn::<f64>::new);
    let mut runs = TypedColumn::<u64>::new("runs");
    for (key, measures) in &rows {
        for (measure, sample) in names.iter().zip(measures) {
            let mut moments = Moments::default();
            moments.extend(sample.iter().copied());
            let Some(interval) = moments.interval(LEVEL) else { continue };
            key_columns.iter_mut().zip(key).for_each(|(column, cell)| column.push(cell));
            measure_column.push(measure);
            mean.push(interval.mean);
            let bounded = interval.half_width.is_finite();
            half_width.push_optional(bounded.then_some(interval.half_width));
            low.push_optional(bounded.then(|| interval.low()));
            high.push_optional(bounded.then(|| interval.high()));
            let quantiles = Quantiles::of(sample.iter().copied());
            median.push_optional(quantiles.at(0.5));
            p99.push_optional(quantiles.at(0.99).filter(|_| quantiles.count() >= FEWEST_FOR_P99));
            runs.push(moments.count());
        }
    }
    let mut columns: Vec<Column> = key_columns.into_iter().map(Column::from).collect();
    columns.extend([
        measure_column.into(),
        mean.into(),
        half_width.into(),
        low.into(),
        high.into(),
        median.into(),
        p99.into(),
        runs.into(),
    ]);
    Table::new(name, columns).expect("columns of one length and different names")
}

/// A key as a string.
fn text(column: Option<&Column>, row: usize) -> String {
    match column.map(|column| column.at(row)) {
        Some(CellValue::Text(text)) => text.to_owned(),
        Some(CellValue::U64(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(delays: &[Option<f64>]) -> RunOutput {
        let mut flow = TextColumn::new("flow");
        let mut delay = TypedColumn::<f64>::new("delay_mean_s");
        for (number, cell) in delays.iter().enumerate() {
            flow.push(&format!("f.{number}"));
            delay.push_optional(*cell);
        }
        let flows = Table::new("flows", [flow.into(), delay.into()]).unwrap();
        RunOutput {
            seed: 1,
            run: 0,
            digest: String::new(),
            events: 0,
            packet_hops: 0,
            failures: Vec::new(),
            tables: vec![flows],
            captures: Vec::new(),
        }
    }

    #[test]
    fn three_runs_have_the_interval_of_their_spread() {
        let outputs = [output(&[Some(1.0)]), output(&[Some(2.0)]), output(&[Some(3.0)])];
        let table = summary(&outputs);
        // t(0.995, 2) = 9.925; s = 1; 9.925 / sqrt 3 = 5.730.
        let CellValue::F64(half_width) = table.column("half_width").unwrap().at(0) else {
            panic!("a number")
        };
        assert!((half_width - 5.730).abs() < 1e-3, "{half_width}");
        assert_eq!(table.column("mean").unwrap().at(0), CellValue::F64(2.0));
    }

    #[test]
    fn medians_are_told_of_few_runs_and_percentiles_of_a_hundred() {
        let outputs: Vec<RunOutput> = (0..100).map(|run| output(&[Some(f64::from(run * run))])).collect();
        let cell = |runs: usize, name: &str| match summary(&outputs[..runs]).column(name).unwrap().at(0) {
            CellValue::F64(number) => Some(number),
            _ => None,
        };
        assert_eq!((cell(3, "median"), cell(99, "p99")), (Some(1.0), None));
        // Between 98² and 99², a hundredth of the way.
        assert!((cell(100, "p99").unwrap() - 9_605.97).abs() < 1e-6);
    }

    #[test]
    fn one_run_has_no_interval_and_a_missing_cell_is_no_observation() {
        let table = summary(&[output(&[Some(1.0), None])]);
        assert_eq!(table.rows(), 1);
        assert_eq!(table.column("half_width").unwrap().at(0), CellValue::Missing);
        assert_eq!(table.column("runs").unwrap().at(0), CellValue::U64(1));
    }

    #[test]
    fn rows_are_told_apart_by_their_keys_and_keep_the_order_of_the_runs() {
        let links = |rows: &[(&str, &str, u64)]| {
            let [mut link, mut direction] = ["link", "direction"].map(TextColumn::new);
            let mut offered = TypedColumn::<u64>::new("offered_packets");
            for (name, way, packets) in rows {
                link.push(name);
                direction.push(way);
                offered.push(*packets);
            }
            let table = TableKind::Links.table([link.into(), direction.into(), offered.into()]);
            RunOutput { tables: vec![table], ..output(&[]) }
        };
        let outputs = [
            links(&[("sky", "forward", 1), ("sky", "reverse", 10)]),
            links(&[("sky", "reverse", 30), ("sky", "forward", 3), ("earth", "forward", 7)]),
        ];
        let table = means(TableKind::Links, &outputs).unwrap();
        assert_eq!(table.name(), "links_summary");
        let rows: Vec<Vec<CellValue<'_>>> = (0..table.rows())
            .map(|row| {
                ["link", "direction", "measure", "mean", "runs"]
                    .map(|name| table.column(name).unwrap().at(row))
                    .to_vec()
            })
            .collect();
        let row = |link, way, mean, runs| {
            vec![
                CellValue::Text(link),
                CellValue::Text(way),
                CellValue::Text("offered_packets"),
                CellValue::F64(mean),
                CellValue::U64(runs),
            ]
        };
        let wanted =
            [row("sky", "forward", 2.0, 2), row("sky", "reverse", 20.0, 2), row("earth", "forward", 7.0, 1)];
        assert_eq!(rows, wanted);
        assert_eq!(means(TableKind::Flows, &outputs), None);
        assert_eq!(means(TableKind::Messages, &outputs), None);
    }
}
