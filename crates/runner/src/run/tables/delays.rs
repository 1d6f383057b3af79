//! `delays` and `delay_bins`: the delays of each flow, from histograms.

use slantpath_results::{Column, Histogram, Table, TextColumn, TypedColumn};

use crate::output::TableKind;

/// The percentiles that have columns.
const PERCENTILES: [(&str, f64); 5] = [
    ("delay_p50_s", 0.5),
    ("delay_p90_s", 0.9),
    ("delay_p95_s", 0.95),
    ("delay_p99_s", 0.99),
    ("delay_p999_s", 0.999),
];

/// Nanoseconds in seconds.
pub(crate) fn seconds(nanos: f64) -> f64 {
    nanos / 1e9
}

/// Both, of flows with their names.
pub(crate) fn tables<'a>(flows: impl Iterator<Item = (&'a str, &'a Histogram)> + Clone) -> [Table; 2] {
    [bins(flows.clone()), delays(flows)]
}

/// One row for each flow.
fn delays<'a>(flows: impl Iterator<Item = (&'a str, &'a Histogram)>) -> Table {
    let mut name = TextColumn::new("flow");
    let mut messages = TypedColumn::<u64>::new("messages");
    let mut moments =
        ["delay_mean_s", "delay_min_s", "delay_max_s", "delay_deviation_s"].map(TypedColumn::<f64>::new);
    let mut percentiles = PERCENTILES.map(|(column, _)| TypedColumn::<f64>::new(column));
    let mut precision = TypedColumn::<f64>::new("precision_ratio");
    for (flow, histogram) in flows {
        name.push(flow);
        messages.push(histogram.count());
        let cells = [
            histogram.mean(),
            histogram.least().map(|least| least as f64),
            histogram.greatest().map(|greatest| greatest as f64),
            histogram.standard_deviation(),
        ];
        for (column, cell) in moments.iter_mut().zip(cells) {
            column.push_optional(cell.map(seconds));
        }
        for (column, (_, share)) in percentiles.iter_mut().zip(PERCENTILES) {
            column.push_optional(histogram.quantile(share).map(seconds));
        }
        precision.push(histogram.precision().ratio());
    }
    let mut columns: Vec<Column> = vec![name.into(), messages.into()];
    columns.extend(moments.into_iter().chain(percentiles).map(Column::from));
    columns.push(precision.into());
    TableKind::Delays.table(columns)
}

/// One row for each bin in which there is a message.
fn bins<'a>(flows: impl Iterator<Item = (&'a str, &'a Histogram)>) -> Table {
    let mut name = TextColumn::new("flow");
    let [mut from, mut to] = ["from_s", "to_s"].map(TypedColumn::<f64>::new);
    let mut messages = TypedColumn::<u64>::new("messages");
    for (flow, histogram) in flows {
        for bin in histogram.bins() {
            name.push(flow);
            from.push(seconds(*bin.numbers.start() as f64));
            // The bin ends where the next one begins.
            to.push(seconds(*bin.numbers.end() as f64 + 1.0));
            messages.push(bin.count);
        }
    }
    TableKind::DelayBins.table([name.into(), from.into(), to.into(), messages.into()])
}
