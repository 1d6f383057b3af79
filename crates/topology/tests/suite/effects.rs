//! Every value of a topology file moves the answer: a row a key (`slantpath_effects` says how they read).

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use slantpath_effects::{FileOutcome, Keys, PlainColumn, PlainTable, Row, failures, rows, word_at};
use slantpath_reader::files_in;
use slantpath_results::{CellValue, Column, Table};
use slantpath_topology::{Topology, follow, json_schema};
use slantpath_workers::Workers;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/effects")
}

fn base(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap()
}

fn topology_rows() -> Vec<Row> {
    rows("topology.rows", &std::fs::read_to_string(folder().join("topology.rows")).unwrap())
}

fn plain(table: &Table) -> PlainTable {
    let column = |column: &Column| {
        let cells = (0..column.len()).map(|row| column.at(row));
        let number = |value| match value {
            CellValue::Bool(flag) => Some(f64::from(u8::from(flag))),
            CellValue::F64(number) => Some(number),
            CellValue::I64(number) => Some(number as f64),
            CellValue::U64(number) => Some(number as f64),
            CellValue::Missing | CellValue::Text(_) => None,
        };
        let text = |value| match value {
            CellValue::Text(text) => Some(text.to_owned()),
            _ => None,
        };
        let plain = match column.values().type_name() {
            "text" => PlainColumn::Texts(cells.map(text).collect()),
            _ => PlainColumn::Numbers(cells.map(number).collect()),
        };
        (column.name().to_owned(), plain)
    };
    PlainTable { name: table.name().to_owned(), columns: table.columns().iter().map(column).collect() }
}

fn run_base(name: &str, settings: &[String]) -> FileOutcome {
    let topology = Topology::parse(name, &base(name), settings, files_in(&folder()));
    let topology = topology.map_err(|faults| faults.to_string())?;
    let answer = follow(&topology, None, Workers::new(1), &|_| {}).map_err(|error| error.to_string())?;
    let answer = answer.expect("nobody stops it");
    let mut tables: Vec<PlainTable> = answer.tables.iter().map(plain).collect();
    let mut hasher = DefaultHasher::new();
    format!("{tables:?}").hash(&mut hasher);
    let text = |text: String| PlainColumn::Texts(vec![Some(text)]);
    let warnings =
        PlainColumn::Numbers(vec![Some((answer.warnings.len() + topology.warnings().len()) as f64)]);
    let columns = [
        ("all", text(format!("{:016x}", hasher.finish()))),
        ("merged", text(topology.canonical())),
        ("warnings", warnings),
    ];
    let columns = columns.map(|(name, column)| (name.to_owned(), column)).into();
    tables.push(PlainTable { name: "run".to_owned(), columns });
    Ok(tables)
}

#[test]
fn each_value_of_a_topology_reaches_its_place() {
    let rows = topology_rows();
    let failures = failures(&rows, &run_base);
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn every_key_of_a_topology_has_a_row() {
    let keys = Keys::new(&json_schema());
    let mut set = BTreeSet::new();
    for row in topology_rows() {
        let text = base(&row.base);
        let with = |set: &[&String], path: &[&str]| {
            word_at(&text, row.given.iter().chain(set.iter().copied()), path)
        };
        let kind = |path: &[&str]| with(&[&row.assignment], &[path, &["kind"]].concat());
        let key = keys.set_by(&row.assignment, &kind);
        set.insert(key.unwrap_or_else(|| panic!("{}: no key of a topology: {}", row.place, row.text)));
        let path: Vec<&str> = row.assignment.split('=').next().unwrap().trim().split('.').collect();
        let [after, before] = keys.choices_compared(&row.assignment, &kind, with(&[], &path).as_deref());
        set.extend(after);
        if !row.is_refused() {
            set.extend(before);
        }
    }
    let missing: Vec<String> = keys.all().difference(&set).cloned().collect();
    assert!(missing.is_empty(), "{} keys have no row:\n{}", missing.len(), missing.join("\n"));
}
