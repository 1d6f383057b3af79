//! Measures over many runs: medians, percentiles, and how often limits are kept.

use std::io::{self, Write};

use slantpath_results::Quantiles;
use slantpath_runner::{FEWEST_FOR_P99, LEVEL, RunOutput};

use super::number;
use crate::arguments::RunArguments;
use crate::criteria::{Kept, MeasureName, Precise};
use crate::table::TextTable;

/// Measures of which a promise is made: their headings, and their short names.
const PROMISED: [(&str, &str); 2] = [("longest failover", "failover"), ("longest gap", "gap")];

/// Prints medians and percentiles over runs, of flows that may fail over, and of signalling that has.
pub(super) fn print_quantiles(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    if outputs.len() < 2 {
        return Ok(());
    }
    let failovers = MeasureName::of("failovers");
    let mut lines = TextTable::default();
    lines.row(["flow", "over runs", "runs", "median", "99 %", "at most"].map(str::to_owned));
    lines.row(["", "", "", "ms", "ms", "ms"].map(str::to_owned));
    let mut is_empty = true;
    for of in crate::criteria::subjects(outputs) {
        let is_told = |value: Option<f64>| value.is_some_and(|count| of.is_flow() || count > 0.0);
        if !failovers.values(outputs, &of).any(is_told) {
            continue;
        }
        for (heading, name) in PROMISED {
            let values = MeasureName::of(name);
            let sample = Quantiles::of(values.values(outputs, &of).flatten());
            if sample.count() == 0 && !of.is_flow() {
                continue;
            }
            let quantile =
                |share: f64| sample.at(share).map_or_else(|| "–".to_owned(), |value| number(value * 1e3));
            let p99 = if sample.count() < FEWEST_FOR_P99 { "–".to_owned() } else { quantile(0.99) };
            let count = sample.count().to_string();
            lines.row([of.name.clone(), heading.to_owned(), count, quantile(0.5), p99, quantile(1.0)]);
            is_empty = false;
        }
    }
    if is_empty {
        return Ok(());
    }
    writeln!(out)?;
    lines.print(2, out)
}

/// Answers `--within` and `--until`.
pub(crate) fn print_criteria(
    arguments: &RunArguments,
    outputs: &[RunOutput],
    out: &mut impl Write,
) -> io::Result<()> {
    if !arguments.within.is_empty() || arguments.until.is_some() {
        writeln!(out)?;
    }
    for within in &arguments.within {
        let shares = within.shares(outputs);
        if shares.is_empty() {
            writeln!(out, "{}: {}", within.words(), within.unmeasured(outputs.len()))?;
        }
        for Kept { flow, share } in shares {
            let [mean, low, high] = [share.share(), share.low, share.high].map(|share| number(share * 100.0));
            writeln!(
                out,
                "{flow}: {} within {} in {} of {} runs: {mean} % ({:.0} % interval {low} to {high} %)",
                within.measure.asked,
                within.words,
                share.successes,
                share.trials,
                LEVEL * 100.0
            )?;
        }
    }
    if let Some(until) = arguments.until.as_ref().filter(|until| until.judge(outputs) == Precise::Reached) {
        writeln!(out, "{}: reached by {} runs", until.words(), outputs.len())?;
    }
    Ok(())
}
