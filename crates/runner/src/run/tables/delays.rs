//! `delays` and `delay_bins`: the delays of each flow, from histograms.

use slantpath_results::{Histogram, Table};

use crate::columns::{Count, Number, Text, columns, family, push_each};
use crate::output::TableKind;

columns! {
    /// Columns of `delays`.
    pub(super) struct DelayColumns {
        /// Name of the flow.
        flow: Text,
        /// Messages that were counted: those that were sent after the warm-up and delivered.
        messages: Count,
        /// Mean of the delays.
        delay_mean_s: Number,
        /// Shortest of the delays.
        delay_min_s: Number,
        /// Longest of the delays.
        delay_max_s: Number,
        /// Standard deviation of delays.
        delay_deviation_s: Number,
        /// Percentiles of delays.
        percentiles: Vec<Number> = family(PERCENTILES, |(name, share)| {
            (name.to_owned(), format!("Delay that {} % of them do not exceed.", (share * 1e3).round() / 10.0))
        }),
        /// Share of a delay within which percentiles are exact.
        precision_ratio: Number,
    }
}

columns! {
    /// Columns of `delay_bins`.
    pub(super) struct BinColumns {
        /// Name of the flow.
        flow: Text,
        /// Shortest delay of the bin.
        from_s: Number,
        /// End of the bin, where the next one begins.
        to_s: Number,
        /// Messages with such a delay.
        messages: Count,
    }
}

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
    let mut columns = DelayColumns::new();
    for (flow, histogram) in flows {
        columns.flow.push(flow);
        columns.messages.push(histogram.count());
        columns.delay_mean_s.push_optional(histogram.mean().map(seconds));
        columns.delay_min_s.push_optional(histogram.least().map(|least| seconds(least as f64)));
        columns.delay_max_s.push_optional(histogram.greatest().map(|greatest| seconds(greatest as f64)));
        columns.delay_deviation_s.push_optional(histogram.standard_deviation().map(seconds));
        let percentiles = PERCENTILES.map(|(_, share)| histogram.quantile(share).map(seconds));
        push_each(&mut columns.percentiles, percentiles);
        columns.precision_ratio.push(histogram.precision().ratio());
    }
    columns.finish(TableKind::Delays)
}

/// One row for each bin in which there is a message.
fn bins<'a>(flows: impl Iterator<Item = (&'a str, &'a Histogram)>) -> Table {
    let mut columns = BinColumns::new();
    for (flow, histogram) in flows {
        for bin in histogram.bins() {
            columns.flow.push(flow);
            columns.from_s.push(seconds(*bin.numbers.start() as f64));
            columns.to_s.push(seconds(*bin.numbers.end() as f64 + 1.0));
            columns.messages.push(bin.count);
        }
    }
    columns.finish(TableKind::DelayBins)
}
