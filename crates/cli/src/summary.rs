//! The summary that `slantpath run` prints.

pub(crate) mod over_runs;
mod signalling;

use std::io::{self, Write};

use slantpath_results::{CellValue, Column, Moments, Table};
use slantpath_runner::{LEVEL, RunOutput, Scenario};

use crate::table::TextTable;
use crate::terminal::in_one_line;

/// A column of the summary: its heading, its unit, the column of the run's table and the factor to that unit.
struct Measure {
    heading: &'static str,
    unit: &'static str,
    column: &'static str,
    factor: f64,
}

const fn measure(heading: &'static str, unit: &'static str, column: &'static str, factor: f64) -> Measure {
    Measure { heading, unit, column, factor }
}

/// All that is dropped, but what queues and conditioners drop.
const LOST: &str = "lost_packets";

/// Counters of packets that a queue or a conditioner drops, which are no loss on the way.
const DROPPED_BY_CHOICE: [&str; 5] = [
    "dropped_queue_full_packets",
    "dropped_early_packets",
    "dropped_forced_packets",
    "dropped_codel_packets",
    "dropped_policed_packets",
];

const FLOWS: [Measure; 8] = [
    measure("sent", "messages", "messages_sent", 1.0),
    measure("delivered", "messages", "messages_delivered", 1.0),
    measure("retransmitted", "messages", "messages_retransmitted", 1.0),
    measure("throughput", "kbit/s", "throughput_bit_per_s", 1e-3),
    measure("delay", "ms", "delay_mean_s", 1e3),
    measure("median", "ms", "delay_median_s", 1e3),
    measure("99 %", "ms", "delay_p99_s", 1e3),
    measure("of retransmitted", "ms", "retransmitted_delay_mean_s", 1e3),
];

const DELAYS: [Measure; 8] = [
    measure("delays", "messages", "messages", 1.0),
    measure("mean", "ms", "delay_mean_s", 1e3),
    measure("50 %", "ms", "delay_p50_s", 1e3),
    measure("90 %", "ms", "delay_p90_s", 1e3),
    measure("95 %", "ms", "delay_p95_s", 1e3),
    measure("99 %", "ms", "delay_p99_s", 1e3),
    measure("99.9 %", "ms", "delay_p999_s", 1e3),
    measure("at most", "ms", "delay_max_s", 1e3),
];

/// Measures of flows of datagrams.
const DATAGRAMS: [Measure; 8] = [
    measure("sent", "datagrams", "sent_datagrams", 1.0),
    measure("lost", "datagrams", "lost_datagrams", 1.0),
    measure("lost", "%", "lost_ratio", 1e2),
    measure("repeated", "datagrams", "duplicate_datagrams", 1.0),
    measure("reordered", "datagrams", "reordered_datagrams", 1.0),
    measure("delay", "ms", "delay_mean_s", 1e3),
    measure("jitter", "ms", "jitter_s", 1e3),
    measure("at most", "ms", "jitter_max_s", 1e3),
];

/// Measures of flows of echo requests.
const ROUND_TRIPS: [Measure; 7] = [
    measure("requests", "", "sent_requests", 1.0),
    measure("lost", "%", "lost_ratio", 1e2),
    measure("round trip", "ms", "round_trip_mean_s", 1e3),
    measure("at least", "ms", "round_trip_min_s", 1e3),
    measure("median", "ms", "round_trip_median_s", 1e3),
    measure("99 %", "ms", "round_trip_p99_s", 1e3),
    measure("at most", "ms", "round_trip_max_s", 1e3),
];

/// Measures of flows that may fail over.
const FAILOVERS: [Measure; 4] = [
    measure("failovers", "", "failovers", 1.0),
    measure("spurious", "", "spurious_failovers", 1.0),
    measure("longest", "ms", "failover_max_s", 1e3),
    measure("longest gap", "ms", "gap_max_s", 1e3),
];

/// Measures of flows whose messages have a deadline.
const DEADLINES: [Measure; 2] = [
    measure("sent", "messages", "messages_sent", 1.0),
    measure("too late", "messages", "messages_late", 1.0),
];

const LINKS: [Measure; 7] = [
    measure("offered", "packets", "offered_packets", 1.0),
    measure("lost", "packets", LOST, 1.0),
    measure("queue full", "packets", "dropped_queue_full_packets", 1.0),
    measure("throughput", "kbit/s", "throughput_bit_per_s", 1e-3),
    measure("used", "%", "utilisation_ratio", 1e2),
    measure("queue", "packets", "queue_mean_packets", 1.0),
    measure("at most", "packets", "queue_max_packets", 1.0),
];

/// Measures of sessions that are shown.
const SESSIONS: [Measure; 7] = [
    measure("begun", "", "begun_sessions", 1.0),
    measure("completed", "", "completed_sessions", 1.0),
    measure("failed", "", "failed_sessions", 1.0),
    measure("unfinished", "", "unfinished_sessions", 1.0),
    measure("retransmitted", "packets", "retransmissions", 1.0),
    measure("throughput", "kbit/s", "throughput_mean_bit_per_s", 1e-3),
    measure("duration", "s", "duration_mean_s", 1.0),
];

/// Measures of the requests of sessions that are shown.
const REQUESTS: [Measure; 7] = [
    measure("asked", "requests", "asked_requests", 1.0),
    measure("answered", "requests", "answered_requests", 1.0),
    measure("first byte", "ms", "first_delivery_mean_s", 1e3),
    measure("response", "ms", "response_mean_s", 1e3),
    measure("50 %", "ms", "response_p50_s", 1e3),
    measure("90 %", "ms", "response_p90_s", 1e3),
    measure("99 %", "ms", "response_p99_s", 1e3),
];

/// Prints the account of signalling loads alone.
pub(crate) fn print_loads(output: &RunOutput, out: &mut impl Write) -> io::Result<()> {
    signalling::print_loads(std::slice::from_ref(output), out)
}

/// Prints what was run, and tables of flows, their delays, links and signalling.
pub(crate) fn print(scenario: &Scenario, outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    let head = &scenario.scenario;
    let runs = if outputs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", outputs.len()) };
    let hash = &scenario.hash()[..12];
    let name = in_one_line(&head.name);
    writeln!(out, "{name}: {runs} of {}, seed {}, scenario {hash}", *head.duration, *head.seed)?;
    if outputs.len() > 1 {
        writeln!(out, "means ± half the width of their {:.0} % interval", LEVEL * 100.0)?;
    }
    print_table(outputs, "flows", &["flow"], &FLOWS, out)?;
    let has = |name: &'static str| {
        move |table: &Table, row: usize| {
            let column = table.column(name);
            column.is_some_and(|column| !matches!(column.at(row), CellValue::Missing))
        }
    };
    print_rows(outputs, "flows", &["flow"], &FAILOVERS, &has("failovers"), out)?;
    print_rows(outputs, "flows", &["flow"], &DEADLINES, &has("messages_late"), out)?;
    over_runs::print_quantiles(outputs, out)?;
    print_table(outputs, "datagrams", &["flow"], &DATAGRAMS, out)?;
    print_table(outputs, "round_trips", &["flow"], &ROUND_TRIPS, out)?;
    print_table(outputs, "session_sources", &["sessions"], &SESSIONS, out)?;
    print_table(outputs, "request_sources", &["sessions"], &REQUESTS, out)?;
    print_table(outputs, "delays", &["flow"], &DELAYS, out)?;
    let idle = idle_antennas(outputs);
    let is_idle = |table: &Table, row: usize| idle.iter().any(|antenna| is_link_of(table, row, antenna));
    print_rows(outputs, "links", &["link", "direction"], &LINKS, &|table, row| !is_idle(table, row), out)?;
    print_idle(&idle, out)?;
    print_sky(outputs, out)?;
    signalling::print(outputs, out)?;
    print_unconnected(outputs, out)?;
    print_failures(outputs, out)
}

/// True for a row of links that is one of an antenna: its first link is called as it is, others by a number behind it.
fn is_link_of(links: &Table, row: usize, antenna: &str) -> bool {
    let name = text(links, "link", row);
    let other = name.strip_prefix(antenna);
    other.is_some_and(|other| other.is_empty() || other.starts_with(" (") && other.ends_with(')'))
}

/// The antennas to whose links nothing was ever offered, in the order of their names.
fn idle_antennas(outputs: &[RunOutput]) -> Vec<String> {
    let tables = |name: &'static str| outputs.iter().filter_map(move |output| output.table(name));
    let Some(antennas) = tables("antennas").next() else { return Vec::new() };
    let was_offered = |antenna: &str| {
        tables("links").any(|links| {
            (0..links.rows()).any(|row| {
                let offered = links.column("offered_packets").map(|column| column.at(row));
                is_link_of(links, row, antenna) && offered != Some(CellValue::U64(0))
            })
        })
    };
    let mut names: Vec<String> =
        (0..antennas.rows()).map(|row| text(antennas, "link", row).to_owned()).collect();
    names.retain(|antenna| !was_offered(antenna));
    names.sort_unstable();
    names.dedup();
    names
}

/// So many idle antennas are told by their names.
const NAMED: usize = 4;

/// Tells in one line whose rows are left out.
fn print_idle(antennas: &[String], out: &mut impl Write) -> io::Result<()> {
    let named: Vec<&str> = antennas.iter().take(NAMED).map(String::as_str).collect();
    let others = antennas.len() - named.len();
    match (named.as_slice(), others) {
        ([], _) => Ok(()),
        (names, 0) => writeln!(out, "Antennas that carried nothing: {}.", names.join(", ")),
        (names, others) => {
            let others = if others == 1 { "1 other".to_owned() } else { format!("{others} others") };
            writeln!(out, "Antennas that carried nothing: {} and {others}.", names.join(", "))
        }
    }
}

fn text<'a>(table: &'a Table, column: &str, row: usize) -> &'a str {
    match table.column(column).map(|column| column.at(row)) {
        Some(CellValue::Text(text)) => text,
        _ => "",
    }
}

/// Prints the events of the sky, of all runs together.
fn print_sky(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    if outputs.iter().all(|output| output.table("antennas").is_none()) {
        return Ok(());
    }
    let sum = |table: &str, column: &str| -> u64 {
        let columns = outputs.iter().filter_map(|output| output.table(table)?.column(column));
        let cells = columns.flat_map(|column| (0..column.len()).map(|row| column.at(row)));
        cells.map(|cell| if let CellValue::U64(number) = cell { number } else { 0 }).sum()
    };
    let changes = sum("antennas", "handovers");
    let lost = sum("antennas", "uplink_lost_packets") + sum("antennas", "downlink_lost_packets");
    let (held, handed_over) =
        (sum("antennas", "uplink_held_packets"), sum("antennas", "downlink_handed_over_packets"));
    writeln!(
        out,
        "\nAntennas changed their satellites {changes} times. Packets lost by it: {lost}, held: {held}, handed over: \
         {handed_over}."
    )?;
    let (carried, lost) = (
        sum("inter_satellite_links", "carried_packets"),
        sum("inter_satellite_links", "dropped_handover_packets"),
    );
    writeln!(out, "Packets over links between satellites: {carried}, lost as one ended: {lost}.")
}

/// Prints a table behind an empty line; one without rows not at all.
fn print_table(
    outputs: &[RunOutput],
    name: &str,
    keys: &[&str],
    measures: &[Measure],
    out: &mut impl Write,
) -> io::Result<()> {
    print_rows(outputs, name, keys, measures, &|_, _| true, out)
}

/// Prints some rows of a table.
fn print_rows(
    outputs: &[RunOutput],
    name: &str,
    keys: &[&str],
    measures: &[Measure],
    is_shown: &dyn Fn(&Table, usize) -> bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(table) = outputs.first().and_then(|output| output.table(name)) else { return Ok(()) };
    let shown: Vec<usize> = (0..table.rows()).filter(|&row| is_shown(table, row)).collect();
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut lines = TextTable::default();
    let headings = measures.iter().map(|measure| measure.heading.to_owned());
    lines.row(keys.iter().map(|key| (*key).to_owned()).chain(headings));
    lines.row(keys.iter().map(|_| String::new()).chain(measures.iter().map(|m| m.unit.to_owned())));
    for row in shown {
        let key = |key: &&str| match table.column(key).map(|column| column.at(row)) {
            Some(CellValue::Text(text)) => text.to_owned(),
            Some(CellValue::U64(number)) => number.to_string(),
            _ => String::new(),
        };
        let cells = measures.iter().map(|measure| cell(outputs, name, row, measure));
        lines.row(keys.iter().map(key).chain(cells));
    }
    lines.print(keys.len(), out)
}

fn lost(links: &Table, row: usize) -> f64 {
    let is_lost = |column: &&Column| {
        let name = column.name();
        name.starts_with("dropped_") && name.ends_with("_packets") && !DROPPED_BY_CHOICE.contains(&name)
    };
    let counts = links.columns().iter().filter(is_lost).map(|column| match column.at(row) {
        CellValue::U64(count) => count as f64,
        _ => 0.0,
    });
    counts.fold(0.0, |sum, count| sum + count)
}

/// The mean over the runs, with its interval if there are several.
fn cell(outputs: &[RunOutput], table: &str, row: usize, measure: &Measure) -> String {
    let mut moments = Moments::default();
    for output in outputs {
        if measure.column == LOST {
            moments.extend(output.table(table).map(|table| lost(table, row)));
            continue;
        }
        let column = output.table(table).and_then(|table| table.column(measure.column));
        let cell = column.filter(|column| row < column.len()).map(|column| column.at(row));
        moments.extend(cell.and_then(CellValue::number).map(|number| number * measure.factor));
    }
    match moments.interval(LEVEL) {
        None => "–".to_owned(),
        Some(interval) if interval.half_width.is_finite() => {
            format!("{} ± {}", number(interval.mean), number(interval.half_width))
        }
        Some(interval) => number(interval.mean),
    }
}

/// Four digits that count, and all those before the point.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        magnitude if value.fract() == 0.0 && magnitude < 1e15 => 0,
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn print_failures(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    for output in outputs {
        for failure in &output.failures {
            let at = failure.at.map(|at| format!(" at {} s", number(at.as_secs_f64()))).unwrap_or_default();
            writeln!(out, "\nrun {}: flow `{}` failed{at}: {}", output.run, failure.flow, failure.reason)?;
        }
    }
    Ok(())
}

/// Tells which flows never came up: nothing of them was sent, and nothing of them failed either.
fn print_unconnected(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    for output in outputs {
        let Some(flows) = output.table("flows") else { continue };
        for row in 0..flows.rows() {
            let is_missing =
                |name: &str| flows.column(name).is_some_and(|column| column.at(row) == CellValue::Missing);
            let connects = ["sctp", "tcp"].contains(&text(flows, "transport", row));
            if connects && is_missing("connected_s") && is_missing("failure") {
                let flow = text(flows, "flow", row);
                writeln!(out, "\nrun {}: flow `{flow}` was not connected when the run ended", output.run)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_that_count() {
        let texts = [0.0, 12.0, 0.123_456, 12.345_6, 123.456, 1234.56, 9_999_999.9].map(number);
        assert_eq!(texts, ["0", "12", "0.123", "12.35", "123.5", "1235", "10000000"]);
    }
}
