//! Summary of a signalling network: loads, links, MTP3 and SCCP of each point, discarded messages.

use std::collections::BTreeMap;
use std::io::{self, Write};

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use super::{Measure, measure, number, print_rows, print_table};
use crate::table::TextTable;

const LOAD: [Measure; 10] = [
    measure("sent", "messages", "sent_messages", 1.0),
    measure("delivered", "messages", "delivered_messages", 1.0),
    measure("late", "messages", "late_messages", 1.0),
    measure("lost", "messages", "lost_messages", 1.0),
    measure("repeated", "messages", "repeated_messages", 1.0),
    measure("misordered", "messages", "out_of_sequence_messages", 1.0),
    measure("delay", "ms", "delay_mean_s", 1e3),
    measure("95 %", "ms", "delay_p95_s", 1e3),
    measure("99 %", "ms", "delay_p99_s", 1e3),
    measure("unavailable", "s", "unavailable_s", 1.0),
];

const LINKS: [Measure; 6] = [
    measure("sent", "messages", "sent_messages", 1.0),
    measure("retransmitted", "messages", "repeated_messages", 1.0),
    measure("received", "messages", "received_messages", 1.0),
    measure("failures", "times", "times_unavailable", 1.0),
    measure("outage", "s", "outage_s", 1.0),
    measure("longest", "s", "outage_max_s", 1.0),
];

const SERVICE: [Measure; 3] = [
    measure("failovers", "", "failovers", 1.0),
    measure("spurious", "", "spurious_failovers", 1.0),
    measure("longest", "ms", "failover_max_s", 1e3),
];

const MTP3: [Measure; 9] = [
    measure("from users", "messages", "accepted_messages", 1.0),
    measure("to users", "messages", "delivered_messages", 1.0),
    measure("through", "messages", "transferred_messages", 1.0),
    measure("discarded", "messages", "discarded_messages", 1.0),
    measure("TFP", "sent", "sent_tfp_messages", 1.0),
    measure("TFR", "sent", "sent_tfr_messages", 1.0),
    measure("TFA", "sent", "sent_tfa_messages", 1.0),
    measure("TFC", "sent", "sent_tfc_messages", 1.0),
    measure("restarts", "times", "restarts", 1.0),
];

const MTP3_LINKS: [Measure; 7] = [
    measure("failures", "times", "failures", 1.0),
    measure("tests failed", "times", "failed_tests", 1.0),
    measure("changeovers", "times", "changeovers", 1.0),
    measure("changebacks", "times", "changebacks", 1.0),
    measure("congested", "times", "times_congested", 1.0),
    measure("congested", "s", "congested_s", 1.0),
    measure("unavailable", "s", "unavailable_s", 1.0),
];

const SCCP: [Measure; 10] = [
    measure("delivered", "messages", "delivered_messages", 1.0),
    measure("passed on", "messages", "relayed_messages", 1.0),
    measure("translated", "titles", "translated_messages", 1.0),
    measure("not", "titles", "untranslated_messages", 1.0),
    measure("hops", "too many", "hop_counter_violations", 1.0),
    measure("returned", "messages", "returned_messages", 1.0),
    measure("discarded", "messages", "discarded_messages", 1.0),
    measure("SST", "sent", "sent_sst_messages", 1.0),
    measure("SSP", "sent", "sent_ssp_messages", 1.0),
    measure("SSA", "sent", "sent_ssa_messages", 1.0),
];

/// Prints its tables, if there is a signalling network.
pub(super) fn print(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    if outputs.first().is_none_or(|output| output.table("signalling_load").is_none()) {
        return Ok(());
    }
    print_loads(outputs, out)?;
    print_table(outputs, "signalling_links", &["link", "point"], &LINKS, out)?;
    let has_failed_over = |_: &Table, row: usize| {
        outputs.iter().filter_map(|output| output.table("signalling_service")).any(|table| {
            let count = |name: &str| table.column(name).map_or(CellValue::Missing, |column| column.at(row));
            ["failovers", "spurious_failovers"].iter().any(|name| !matches!(count(name), CellValue::U64(0)))
        })
    };
    let is_of_paths = |table: &Table| {
        let Some(kinds) = table.column("kind") else { return false };
        (0..kinds.len()).any(|row| kinds.at(row) == CellValue::Text("path"))
    };
    let mut services = outputs.iter().filter_map(|output| output.table("signalling_service"));
    let has_paths = services.any(is_of_paths);
    // A link, and the paths of its association, have one name.
    let keys = if has_paths { &["kind", "name", "point"][..] } else { &["name", "point"] };
    print_rows(outputs, "signalling_service", keys, &SERVICE, &has_failed_over, out)?;
    print_table(outputs, "mtp3", &["point"], &MTP3, out)?;
    print_table(outputs, "mtp3_links", &["point", "link"], &MTP3_LINKS, out)?;
    print_table(outputs, "sccp", &["point"], &SCCP, out)?;
    print_discards(outputs, out)
}

/// Prints the account of loads.
pub(super) fn print_loads(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    // A verdict is one run's: means have none.
    let keys = ["load", "link", "loss_verdict", "missequence_verdict", "unavailability_verdict"];
    let keys = if outputs.len() == 1 { &keys[..] } else { &keys[..2] };
    print_table(outputs, "signalling_load", keys, &LOAD, out)
}

/// Messages that went no further, by where and why: the mean over the runs. Reasons that did not occur have no row.
fn print_discards(outputs: &[RunOutput], out: &mut impl Write) -> io::Result<()> {
    let keys = ["point", "layer", "link", "reason"];
    let mut sums: BTreeMap<[String; 4], u64> = BTreeMap::new();
    for table in outputs.iter().filter_map(|output| output.table("signalling_discards")) {
        let cell = |name: &str, row| table.column(name).map_or(CellValue::Missing, |column| column.at(row));
        for row in 0..table.rows() {
            let key = keys.map(|key| match cell(key, row) {
                CellValue::Text(text) => text.to_owned(),
                _ => "–".to_owned(),
            });
            if let CellValue::U64(messages) = cell("messages", row) {
                *sums.entry(key).or_default() += messages;
            }
        }
    }
    if sums.is_empty() {
        return Ok(());
    }
    let mut lines = TextTable::default();
    lines.row(keys.map(str::to_owned).into_iter().chain(["discarded".to_owned()]));
    lines.row(keys.map(|_| String::new()).into_iter().chain(["messages".to_owned()]));
    for (key, sum) in sums {
        lines.row(key.into_iter().chain([number(sum as f64 / outputs.len() as f64)]));
    }
    writeln!(out)?;
    lines.print(keys.len(), out)
}
