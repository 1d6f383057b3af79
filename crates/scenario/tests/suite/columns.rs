//! Columns hold what their names say: a number of each is kept, from runs in which no two columns of a table are alike,
//! so that two that are swapped are noticed.
//!
//! `tests/columns.txt` has them: a sum of each column of numbers, the texts of each other one. What is alike, or holds
//! nothing, in all runs of its table is in `tests/columns-alike.txt`: the fewer lines, the better. A change that moves
//! them on purpose makes both files anew with `SLANTPATH_UPDATE=1`, and says in the commit why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use slantpath_effects::{PlainColumn, PlainTable};
use slantpath_scenario::TABLES;
use slantpath_testkit::page;

use crate::effects::run_base;

/// A run, what is set in it, and the tables that are taken from it.
const RUNS: &[(&str, &[&str], &[&str])] = &[
    (
        "unequal",
        &[],
        &[
            "flows",
            "hosts",
            "links",
            "messages",
            "paths",
            "queues",
            "delays",
            "delay_bins",
            "flow_intervals",
            "link_intervals",
            "host_pairs",
            "timelines",
        ],
    ),
    (
        "flows",
        &[
            "flows.f.streams=3",
            "flows.f.lifetime=30 ms",
            "flows.f.script=[{ at = \"1 s\", action = \"add-streams\", outgoing = 2 }, \
             { at = \"2 s\", end = \"receiver\", action = \"reset-outgoing-streams\" }]",
        ],
        &["abandonments", "association_commands"],
    ),
    (
        "fetch",
        &[
            "sessions.s.requests={ size = \"3 kB\", count = { kind = \"fixed\", count = 3 }, \
             think = { kind = \"fixed\", time = \"200 ms\" } }",
            "sessions.s.sizes={ kind = \"exponential\", mean = \"20 kB\" }",
            "sessions.s.admission={ max_sessions = 2, otherwise = \"wait\", max_waiting = 1 }",
        ],
        &["sessions", "session_sources", "requests", "request_sources"],
    ),
    (
        "antennas",
        &[],
        &[
            "antennas",
            "handovers",
            "inter_satellite_links",
            "sky_paths",
            "shared_downlinks",
            "shared_downlink_intervals",
        ],
    ),
    ("vsat", &["links.rate.forward.access={ system = \"inroute\" }", "probes.access=true"], &["access"]),
    (
        "quad",
        &["probes.intervals=10 s"],
        &[
            "mtp3",
            "mtp3_destinations",
            "mtp3_link_sets",
            "mtp3_links",
            "mtp3_routes",
            "sccp",
            "signalling_discards",
            "signalling_events",
            "signalling_link_intervals",
            "signalling_links",
            "signalling_load",
        ],
    ),
    (
        "gateway",
        &["probes.intervals=5 s", "probes.paths=1 s"],
        &[
            "association_intervals",
            "association_paths",
            "signalling_associations",
            "signalling_drops",
            "signalling_processes",
            "signalling_server_events",
            "signalling_servers",
        ],
    ),
];

fn cells(column: &PlainColumn) -> String {
    format!("{column:?}")
}

fn is_empty(column: &PlainColumn) -> bool {
    match column {
        PlainColumn::Numbers(cells) => cells.iter().all(|cell| cell.is_none_or(|number| number == 0.0)),
        PlainColumn::Texts(cells) => cells.iter().all(Option::is_none),
    }
}

fn summed(column: &PlainColumn) -> String {
    match column {
        PlainColumn::Numbers(cells) => {
            let sum: f64 = cells.iter().flatten().sum();
            // Nine digits: sums of floats depend on nothing else.
            format!("{sum:.8e}")
        }
        PlainColumn::Texts(cells) => {
            let texts: BTreeSet<&str> = cells.iter().flatten().map(String::as_str).collect();
            let texts: Vec<&str> = texts.into_iter().take(4).collect();
            texts.join(", ")
        }
    }
}

/// What cannot be told apart in the runs of a table.
#[derive(Default)]
struct Alike {
    seen: BTreeSet<String>,
    /// Columns without a cell other than zero.
    empty: BTreeSet<String>,
    /// Pairs of columns that are equal in every row.
    pairs: BTreeSet<(String, String)>,
}

impl Alike {
    fn take_in(&mut self, table: &PlainTable) {
        for (place, (name, column)) in table.columns.iter().enumerate() {
            let is_new = self.seen.insert(name.clone());
            if !is_empty(column) {
                self.empty.remove(name);
            } else if is_new {
                self.empty.insert(name.clone());
            }
            for (other, cells_of_other) in &table.columns[place + 1..] {
                let pair = (name.clone(), other.clone());
                let is_equal = cells(column) == cells(cells_of_other);
                if !is_equal {
                    self.pairs.remove(&pair);
                } else if is_new && !is_empty(column) {
                    self.pairs.insert(pair);
                }
            }
        }
    }
}

#[test]
fn no_two_columns_are_alike_and_each_holds_what_it_held() {
    let mut page = String::new();
    // By table: what is alike in each run of it that has both columns.
    let mut by_table: BTreeMap<&str, Alike> = BTreeMap::new();
    for (base, settings, wanted) in RUNS {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let tables = run_base(base, &settings).unwrap();
        for &name in *wanted {
            let table = tables.iter().find(|table| table.name == name);
            let table = table.unwrap_or_else(|| panic!("{base} gives no table `{name}`"));
            writeln!(page, "{name} of {base}").unwrap();
            for (column, cells) in &table.columns {
                writeln!(page, "    {column} {}", summed(cells)).unwrap();
            }
            by_table.entry(name).or_default().take_in(table);
        }
    }
    page::hold("crates/scenario/tests/columns.txt", &page);
    let missing: Vec<&&str> = TABLES.iter().filter(|name| !by_table.contains_key(**name)).collect();
    assert!(missing.is_empty(), "tables that no run of this test gives: {missing:?}");
    let mut found = String::new();
    for (table, alike) in &by_table {
        for column in &alike.empty {
            writeln!(found, "{table}: {column} holds nothing").unwrap();
        }
        for (one, other) in &alike.pairs {
            writeln!(found, "{table}: {one} = {other}").unwrap();
        }
    }
    page::hold("crates/scenario/tests/columns-alike.txt", &found);
}
