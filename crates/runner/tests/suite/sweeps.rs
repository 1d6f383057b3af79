//! Every key of a sweep moves what it is about, as `effects` has it for scenarios.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use slantpath_effects::{Keys, Outcome, Row, failures, rows};
use slantpath_runner::{Store, Sweep, SweepOutcome, sweep_schema};
use slantpath_workers::Workers;

use crate::effects::{folder, plain};

fn sweep_rows() -> Vec<Row> {
    rows("sweeps.rows", &std::fs::read_to_string(folder().join("sweeps.rows")).unwrap())
}

/// The file with lines of the same key replaced: no setting is laid over a sweep, but over its scenario.
fn with(text: &str, settings: &[String]) -> String {
    let key = |line: &str| line.split_once('=').map(|(key, _)| key.trim().to_owned());
    let is_kept = |line: &&str| !settings.iter().any(|setting| key(setting) == key(line));
    let kept = text.lines().filter(|line| !line.starts_with('#')).filter(is_kept);
    // `axis` has to stand before the tables that dotted keys make.
    let mut lines: Vec<&str> = kept.chain(settings.iter().map(String::as_str)).collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn run_sweep(name: &str, settings: &[String]) -> Outcome {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("slantpath-grid-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let bases = folder().join("sweeps");
    for base in ["base.toml", "other.toml"] {
        std::fs::copy(bases.join(base), directory.join(base)).unwrap();
    }
    let text = std::fs::read_to_string(bases.join(format!("{name}.toml"))).unwrap();
    let path = directory.join("sweep.toml");
    std::fs::write(&path, with(&text, settings)).unwrap();
    let outcome = Sweep::load(&path, &[]).map_err(|error| error.to_string()).map(|sweep| {
        let outcome = sweep.run(&Store::new(&directory.join("store")), Workers::new(1)).unwrap();
        let SweepOutcome::Finished { tables, .. } = outcome else { panic!("nobody stops it") };
        tables.iter().map(plain).collect()
    });
    std::fs::remove_dir_all(&directory).unwrap();
    outcome
}

#[test]
fn each_value_of_a_sweep_reaches_its_place() {
    let rows = sweep_rows();
    let failures = failures(&rows, &run_sweep);
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn every_key_of_a_sweep_has_a_row() {
    let keys = Keys::new(&sweep_schema());
    let key = |row: &Row| {
        let key = keys.set_by(&row.assignment, &|_| None);
        key.unwrap_or_else(|| panic!("{}: no key of a sweep: {}", row.place, row.text))
    };
    let set: BTreeSet<String> = sweep_rows().iter().map(key).collect();
    let missing: Vec<String> = keys.all().difference(&set).cloned().collect();
    assert!(missing.is_empty(), "{} keys have no row:\n{}", missing.len(), missing.join("\n"));
}
