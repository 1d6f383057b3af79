//! The trace of a live load: its network is gone, so that the load is made again over one like what the trace shows,
//! with the settings as they were and with others. How near the first comes to the trace says what the second is
//! worth.

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use slantpath_base::{DataRate, Instant};
use slantpath_trace::{Estimator, NetworkEstimate, PathEstimate, Story, TraceReader};

use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use crate::live::{LinkEstimate, Rebuilt, load_of};
use crate::table::TextTable;

/// Largest number of outages of a path that are printed.
const OUTAGES_PRINTED: usize = 4;

pub(in super::super) fn main(
    reader: TraceReader<impl BufRead>,
    command: &[String],
    arguments: &ExplainArguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.trace.display()));
    let header = reader.header().clone();
    let load = load_of(command, header.profile.as_ref()).map_err(misused)?;
    let mut estimator = Estimator::new(load.one_way);
    let mut recorded = Story::new(header.clone(), arguments.idle);
    for record in reader {
        let record = record.map_err(|error| misused(error.to_string()))?;
        estimator.follow(&record);
        recorded.follow(&record);
    }
    recorded.finish();
    let network = estimator.finish();
    let rebuilt = Rebuilt::of(&arguments.trace, load, &network, &recorded).map_err(misused)?;
    if let Some(path) = &arguments.rebuilt {
        std::fs::write(path, &rebuilt.scenario).map_err(Failure::of_file(path.clone()))?;
    }
    let was = recorded.outcome();
    let again = rebuilt.run(&[], &header, arguments.idle)?.outcome();
    let other = rebuilt.run(&arguments.what_if, &header, arguments.idle)?.outcome();
    if arguments.json {
        let all = json!({
            "what_if": arguments.what_if,
            "paths": network.paths.iter().zip(&rebuilt.links).map(of_path).collect::<Vec<_>>(),
            "scenario": rebuilt.scenario,
            "as_it_was": was.json(),
            "rebuilt": again.json(),
            "otherwise": other.json(),
        });
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    writeln!(out, "{command}: its network, as the trace shows it\n", command = command.join(" "))?;
    print_paths(&network, &rebuilt.links, out)?;
    let what_if = arguments.what_if.join(", ");
    writeln!(out, "\nthe load as it was, over a network rebuilt of that, and there with {what_if}\n")?;
    super::print(&[("as it was", &was), ("rebuilt", &again), ("what if", &other)], out)?;
    if again == other {
        writeln!(out, "\nThe setting makes no difference to what is counted here.")?;
    }
    if !recorded.is_whole || recorded.dropped > 0 {
        writeln!(out, "\nThe trace is not whole: what is missing in it is not in the network either.")?;
    }
    Ok(())
}

fn seconds(at: Instant) -> f64 {
    at.since_start().as_secs_f64()
}

fn of_path((path, link): (&PathEstimate, &LinkEstimate)) -> Value {
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

fn print_paths(
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
