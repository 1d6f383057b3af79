//! Every value of a file reaches its place: tables of one row a key say what must move, and which way.
//!
//! The rows are in `tests/effects/*.rows` (`slantpath_effects` says how they read), the files that they change
//! in `tests/effects/bases`. A key of the schema without a row fails, but for those
//! that `without_a_row.txt` lists with the reason.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use slantpath_effects::{FileOutcome, Keys, PlainColumn, PlainTable, Row, failures, rows};
use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, Scenario, files_in, json_schema, run};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/effects")
}

fn rows_of(section: &str) -> Vec<Row> {
    let name = format!("{section}.rows");
    let text = std::fs::read_to_string(folder().join(&name)).unwrap();
    let keys = Keys::new(&json_schema());
    let mut rows = rows(&name, &text);
    // Not every place of a link has every key.
    rows.retain(|row| !row.is_of_places || keys.set_by(&row.assignment, &|_| None).is_some());
    rows
}

pub(crate) fn base(name: &str) -> String {
    std::fs::read_to_string(folder().join("bases").join(format!("{name}.toml"))).unwrap()
}

pub(crate) fn plain(table: &Table) -> PlainTable {
    let column = |column: &slantpath_results::Column| {
        let cells = (0..column.len()).map(|row| column.at(row));
        let is_text = column.values().type_name() == "text";
        let plain = if is_text {
            let text = |value| match value {
                CellValue::Text(text) => Some(text.to_owned()),
                _ => None,
            };
            PlainColumn::Texts(cells.map(text).collect())
        } else {
            let number = |value| match value {
                CellValue::Bool(flag) => Some(f64::from(u8::from(flag))),
                CellValue::F64(number) => Some(number),
                CellValue::I64(number) => Some(number as f64),
                CellValue::U64(number) => Some(number as f64),
                CellValue::Missing | CellValue::Text(_) => None,
            };
            PlainColumn::Numbers(cells.map(number).collect())
        };
        (column.name().to_owned(), plain)
    };
    PlainTable { name: table.name().to_owned(), columns: table.columns().iter().map(column).collect() }
}

fn hash_of(content: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Tables of a run's results beside its own tables: `run.digest`, `run.packet_hops` and so on, and `captures`;
/// `run.all` stands for any of their figures.
fn beside(scenario: &Scenario, output: &RunOutput, tables: &[PlainTable]) -> [PlainTable; 2] {
    let number = |number: u64| PlainColumn::Numbers(vec![Some(number as f64)]);
    let text = |text: &str| PlainColumn::Texts(vec![Some(text.to_owned())]);
    let columns = [
        ("all", text(&hash_of(&format!("{tables:?}")))),
        ("digest", text(&output.digest)),
        ("events", number(output.events)),
        ("failures", number(output.failures.len() as u64)),
        ("merged", text(&scenario.canonical())),
        ("packet_hops", number(output.packet_hops)),
        ("seed", text(&output.seed.to_string())),
        ("warnings", number(scenario.warnings().len() as u64)),
    ];
    let columns = columns.map(|(name, column)| (name.to_owned(), column)).into();
    let links = output.captures.iter().map(|capture| Some(capture.link.clone())).collect();
    let bytes = output.captures.iter().map(|capture| Some(capture.pcapng.len() as f64)).collect();
    let contents = output.captures.iter().map(|capture| Some(hash_of(&capture.pcapng))).collect();
    let captures = vec![
        ("link".to_owned(), PlainColumn::Texts(links)),
        ("bytes".to_owned(), PlainColumn::Numbers(bytes)),
        ("hash".to_owned(), PlainColumn::Texts(contents)),
    ];
    [
        PlainTable { name: "run".to_owned(), columns },
        PlainTable { name: "captures".to_owned(), columns: captures },
    ]
}

pub(crate) fn run_base(name: &str, settings: &[String]) -> FileOutcome {
    let files = files_in(&folder().join("bases"));
    let scenario =
        Scenario::parse(name, &base(name), settings, files).map_err(|faults| faults.to_string())?;
    let output = run(&scenario, &RunOptions::default()).map_err(|error| error.to_string())?;
    let tables: Vec<PlainTable> = output.tables.iter().map(plain).collect();
    let beside = beside(&scenario, &output, &tables);
    Ok(tables.into_iter().chain(beside).collect())
}

#[track_caller]
fn hold(section: &str) {
    let rows = rows_of(section);
    let failures = failures(&rows, &run_base);
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// The words at a path, as the row's file has them with all that is given and `set`.
fn word_at(row: &Row, set: &[&String], path: &[&str]) -> Option<String> {
    slantpath_effects::word_at(&base(&row.base), row.given.iter().chain(set.iter().copied()), path)
}

/// Files of rows that keys and choices are looked for in: not `refusals`, which shows no effect.
const SECTIONS: &[&str] = &[
    "access",
    "access_refused",
    "choices",
    "directions",
    "flows",
    "links",
    "probes",
    "sctp",
    "sessions",
    "signalling",
    "signalling_links",
    "signalling_points",
    "signalling_servers",
    "signalling_timers",
    "sky",
    "tcp",
];

#[test]
fn every_key_of_a_scenario_has_a_row() {
    let keys = Keys::new(&json_schema());
    let rows: Vec<Row> = SECTIONS.iter().flat_map(|section| rows_of(section)).collect();
    let mut set = BTreeSet::new();
    for row in &rows {
        let kind = |path: &[&str]| word_at(row, &[&row.assignment], &[path, &["kind"]].concat());
        let key = keys.set_by(&row.assignment, &kind);
        set.insert(key.unwrap_or_else(|| panic!("{}: no key of a scenario: {}", row.place, row.text)));
        let path: Vec<&str> = row.assignment.split('=').next().unwrap().trim().split('.').collect();
        let before = word_at(row, &[], &path);
        let [after, before] = keys.choices_compared(&row.assignment, &kind, before.as_deref());
        set.extend(after);
        if !row.is_refused() {
            set.extend(before);
        }
    }
    let listed = std::fs::read_to_string(folder().join("without_a_row.txt")).unwrap();
    let lines = listed.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let listed: BTreeSet<String> = lines
        .map(|line| line.split_once(" | ").unwrap_or_else(|| panic!("no reason: {line}")).0.trim().to_owned())
        .collect();
    let all = keys.all();
    let unknown: Vec<&String> =
        listed.iter().filter(|key| !all.contains(*key) || set.contains(*key)).collect();
    assert!(unknown.is_empty(), "listed without need: {unknown:?}");
    let missing: Vec<String> = all.difference(&set).filter(|key| !listed.contains(*key)).cloned().collect();
    assert!(missing.is_empty(), "{} keys have no row:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn each_value_of_capacity_on_demand_reaches_its_place() {
    hold("access");
}

#[test]
fn each_choice_of_a_value_reaches_its_place() {
    hold("choices");
}

#[test]
fn each_value_of_directions_of_links_reaches_its_place() {
    hold("directions");
}

#[test]
fn each_value_of_flows_reaches_its_place() {
    hold("flows");
}

#[test]
fn each_value_of_links_reaches_its_place() {
    hold("links");
}

#[test]
fn each_value_of_probes_reaches_its_place() {
    hold("probes");
}

#[test]
fn what_crates_below_refuse_is_refused_before_they_are_asked() {
    hold("refusals");
}

#[test]
fn each_value_of_sctp_reaches_its_place() {
    hold("sctp");
}

#[test]
fn each_value_of_sessions_reaches_its_place() {
    hold("sessions");
}

#[test]
fn each_value_of_signalling_reaches_its_place() {
    hold("signalling");
}

#[test]
fn each_value_of_signalling_links_reaches_its_place() {
    hold("signalling_links");
}

#[test]
fn each_value_of_signalling_points_reaches_its_place() {
    hold("signalling_points");
}

#[test]
fn each_value_of_signalling_servers_reaches_its_place() {
    hold("signalling_servers");
}

#[test]
fn each_timer_of_signalling_reaches_its_place() {
    hold("signalling_timers");
}

#[test]
fn each_value_of_sky_reaches_its_place() {
    hold("sky");
}

#[test]
fn each_value_of_tcp_reaches_its_place() {
    hold("tcp");
}

#[test]
fn each_terminal_that_cannot_be_is_refused() {
    hold("access_refused");
}
