//! Paths of a network that was rebuilt, as they are printed.

use std::io::Write;

use serde_json::{Value, json};
use slantpath_base::{DataRate, Instant};
use slantpath_trace::{NetworkEstimate, PathEstimate};

use crate::link_estimate::LinkEstimate;
use crate::table::TextTable;

/// Largest number of outages of a path that are printed.
const OUTAGES_PRINTED: usize = 4;

fn seconds(at: Instant) -> f64 {
    at.since_start().as_secs_f64()
}

pub(super) fn of_path((path, link): (&PathEstimate, &LinkEstimate)) -> Value {
    json!({
        "path": path.address,
        "source": path.source,
        "link": link.name,
        "round_trip_min_s": path.least_round_trip().map(slantpath_base::Duration::as_secs_f64),
        "round_trip_max_s": path.longest_round_trip.map(slantpath_base::Duration::as_secs_f64),
        "packets": path.sent,
        "lost": path.lost,
        "loss": link.loss,
        "rate_bit_per_s": link.rate,
        "outages_s": path.outages.iter().map(|(from, to)| (seconds(*from), to.map(seconds))).collect::<Vec<_>>(),
    })
}

pub(super) fn print_paths(
    network: &NetworkEstimate,
    links: &[LinkEstimate],
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut table = TextTable::default();
    table.row(["path", "link", "round trip", "lost", "carries", "out of service"].map(str::to_owned));
    for (path, link) in network.paths.iter().zip(links) {
        let round_trip = path.least_round_trip().zip(path.longest_round_trip);
        let round_trip = round_trip.map_or_else(
            || "–".to_owned(),
            |(least, longest)| format!("{:.3} to {:.3} ms", least.as_millis_f64(), longest.as_millis_f64()),
        );
        let carries = link.rate.map(|rate| DataRate::from_bits_per_sec(rate).to_string());
        table.row([
            path.address.to_string(),
            link.name.clone(),
            round_trip,
            format!("{:.2} % of {}", 100.0 * link.loss, path.sent),
            carries.unwrap_or_else(|| "was not full".to_owned()),
            outages(path),
        ]);
    }
    table.print(1, out)
}

fn outages(path: &PathEstimate) -> String {
    if path.round_trips.is_empty() {
        return "always".to_owned();
    }
    let span = |(from, to): &(Instant, Option<Instant>)| {
        let to = to.map_or_else(|| "the end".to_owned(), |to| format!("{:.1} s", seconds(to)));
        format!("{:.1} s to {to}", seconds(*from))
    };
    let mut spans: Vec<_> = path.outages.iter().take(OUTAGES_PRINTED).map(span).collect();
    if let Some(more) = path.outages.len().checked_sub(OUTAGES_PRINTED).filter(|more| *more > 0) {
        spans.push(format!("{more} more"));
    }
    if spans.is_empty() { "never".to_owned() } else { spans.join(", ") }
}
