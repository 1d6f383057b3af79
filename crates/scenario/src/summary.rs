//! Means over replications and how far they can be trusted.

use std::collections::BTreeMap;

use slantpath_results::{Moments, Table, TextColumn, TypedColumn, Value};

use crate::output::RunOutput;

/// The confidence level of all intervals, the papers' own.
pub const LEVEL: f64 = 0.99;

/// For each flow and each number in the runs' `flows` tables, its mean over the runs and the interval of 99 %
/// that their independence allows: columns `flow`, `measure`, `mean`, `half_width`, `low`, `high`, `runs`.
/// `half_width` is missing for a single run, which tells nothing of the spread.
pub fn summary(outputs: &[RunOutput]) -> Table {
    let mut measures = BTreeMap::<(usize, usize), (String, String, Moments)>::new();
    for output in outputs {
        let Some(flows) = output.table("flows") else { continue };
        let Some(names) = flows.column("flow") else { continue };
        for row in 0..flows.rows() {
            let Value::Text(flow) = names.at(row) else { continue };
            for (place, column) in flows.columns().iter().enumerate() {
                let number = match column.at(row) {
                    Value::F64(number) => number,
                    Value::I64(number) => number as f64,
                    Value::U64(number) => number as f64,
                    Value::Bool(_) | Value::Missing | Value::Text(_) => continue,
                };
                let measure = measures
                    .entry((row, place))
                    .or_insert_with(|| (flow.to_owned(), column.name().to_owned(), Moments::default()));
                measure.2.push(number);
            }
        }
    }
    let mut flow_column = TextColumn::new("flow");
    let mut measure_column = TextColumn::new("measure");
    let [mut mean, mut half_width, mut low, mut high] =
        ["mean", "half_width", "low", "high"].map(TypedColumn::<f64>::new);
    let mut runs = TypedColumn::<u64>::new("runs");
    for (flow, measure, moments) in measures.values() {
        let Some(interval) = moments.interval(LEVEL) else { continue };
        flow_column.push(flow);
        measure_column.push(measure);
        mean.push(interval.mean);
        let bounded = interval.half_width.is_finite();
        half_width.push_optional(bounded.then_some(interval.half_width));
        low.push_optional(bounded.then(|| interval.low()));
        high.push_optional(bounded.then(|| interval.high()));
        runs.push(moments.count());
    }
    Table::new(
        "summary",
        [
            flow_column.into(),
            measure_column.into(),
            mean.into(),
            half_width.into(),
            low.into(),
            high.into(),
            runs.into(),
        ],
    )
    .expect("seven columns of one length and different names")
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
            tables: vec![flows],
            captures: Vec::new(),
        }
    }

    #[test]
    fn three_runs_have_the_interval_of_their_spread() {
        let outputs = [output(&[Some(1.0)]), output(&[Some(2.0)]), output(&[Some(3.0)])];
        let table = summary(&outputs);
        // t(0.995, 2) = 9.925; s = 1; 9.925 / sqrt 3 = 5.730.
        let Value::F64(half_width) = table.column("half_width").unwrap().at(0) else { panic!("a number") };
        assert!((half_width - 5.730).abs() < 1e-3, "{half_width}");
        assert_eq!(table.column("mean").unwrap().at(0), Value::F64(2.0));
    }

    #[test]
    fn one_run_has_no_interval_and_a_missing_cell_is_no_observation() {
        let table = summary(&[output(&[Some(1.0), None])]);
        assert_eq!(table.rows(), 1);
        assert_eq!(table.column("half_width").unwrap().at(0), Value::Missing);
        assert_eq!(table.column("runs").unwrap().at(0), Value::U64(1));
    }
}
