//! Every key of a sweep moves what it is about, as `effects` has it for scenarios.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use slantpath_effects::{FileOutcome, Keys, Row, failures, rows};
use slantpath_runner::{MadeRun, RunOptions, Scenario, Store, Sweep, SweepOutcome, Watch, run, sweep_schema};
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

fn run_sweep(name: &str, settings: &[String]) -> FileOutcome {
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

const SMALL: &str = r#"
[scenario]
name = "small"
duration = "2 s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.l]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "1 ms"
[sctp.default]
[flows.f]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "bulk", message_size = "500 B", total = "1 kB" }
"#;

/// A sweep over the discipline of a link, with these tables.
fn of_disciplines(tables: &str) -> Sweep {
    let text = format!(
        "sweep = {{ scenario = \"small\", tables = {tables} }}\n[[axis]]\n\"links.l.discipline\" = \
         [{{ kind = \"codel\" }}, {{ kind = \"codel\", ecn = true }}]\n"
    );
    let base = |_: &str, _: &dyn Fn(_)| {
        Ok(Scenario::parse("small", SMALL, &[], slantpath_runner::files_in(std::path::Path::new("")))
            .unwrap())
    };
    Sweep::parse_observed("grid", &text, base, Watch::new(&|_| {})).unwrap_or_else(|error| panic!("{error}"))
}

/// The runs of a sweep that a store has, those that were made, and the names of the tables.
fn made(sweep: &Sweep, store: &Store) -> (usize, usize, Vec<String>) {
    let outcome = sweep.run(store, Workers::new(1)).unwrap();
    let SweepOutcome::Finished { tables, found, done, .. } = outcome else { panic!("nobody stops it") };
    (found, done, tables.iter().map(|table| table.name().to_owned()).collect())
}

#[test]
fn runs_are_found_that_have_all_tables_and_others_are_made_anew() {
    let directory = std::env::temp_dir().join(format!("slantpath-covered-{}", std::process::id()));
    let store = Store::new(&directory);
    let first = made(&of_disciplines(r#"["flows", "links"]"#), &store);
    let fewer = made(&of_disciplines(r#"["links"]"#), &store);
    let others = made(&of_disciplines(r#"["links", "hosts"]"#), &store);
    let again = made(&of_disciplines(r#"["hosts"]"#), &store);
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!((first.0, first.1), (0, 2));
    assert_eq!(fewer, (2, 0, vec!["links".to_owned(), "links_summary".to_owned()]));
    assert_eq!((others.0, others.1), (0, 2));
    assert_eq!(again, (2, 0, vec!["hosts".to_owned(), "hosts_summary".to_owned()]));
}

#[test]
fn runs_that_others_made_are_joined_as_those_of_the_sweep() {
    let directory = std::env::temp_dir().join(format!("slantpath-made-{}", std::process::id()));
    let store = Store::new(&directory);
    let sweep = of_disciplines(r#"["flows", "links"]"#);
    let runs: Vec<MadeRun> = (0..sweep.jobs())
        .map(|job| {
            let (point, number) = sweep.job(job);
            let options = RunOptions { run: number, ..RunOptions::default() };
            let output = run(&sweep.scenario(point), &options).unwrap();
            let made = MadeRun::of(output, sweep.tables());
            MadeRun::read(made.as_bytes().to_vec()).expect("the bytes of a run")
        })
        .collect();
    let (tables, swept) = sweep.join_made(|job| runs.get(job)).unwrap();
    for (job, run) in runs.iter().enumerate() {
        assert!(!sweep.is_kept(&store, job));
        sweep.keep(&store, job, run).unwrap();
        assert!(sweep.is_kept(&store, job));
    }
    assert_eq!(sweep.join_kept(&store).unwrap(), (tables.clone(), swept.clone()));
    let outcome = sweep.run(&store, Workers::new(1)).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(outcome, SweepOutcome::Finished { tables, runs: swept, found: 2, done: 0 });
    assert_eq!(MadeRun::read(b"not a run".to_vec()), None);
}

#[test]
fn what_is_stopped_checks_no_point_any_more() {
    let text = "sweep = { scenario = \"small\" }\n[[axis]]\n\"links.l.loss\" = [\"0 %\", \"120 %\"]\n";
    let base = |_: &str, _: &dyn Fn(_)| {
        Ok(Scenario::parse("small", SMALL, &[], slantpath_runner::files_in(std::path::Path::new("")))
            .unwrap())
    };
    let read = |stop: bool| {
        let watch = Watch { progress: &|_| {}, stop: &AtomicBool::new(stop), pieces: None };
        Sweep::parse_observed("grid", text, base, watch).map(drop).unwrap_err().to_string()
    };
    assert!(read(false).contains("120 %"), "{}", read(false));
    assert!(read(true).contains("the points were not all checked"), "{}", read(true));
}

#[test]
fn the_values_of_a_point_are_those_that_its_scenario_has() {
    let sweep = of_disciplines(r#"["links"]"#);
    let values: Vec<_> = (0..2).map(|point| sweep.values(point)).collect();
    assert_eq!(values[0], [("links.l.discipline", r#"{ kind = "codel" }"#.to_owned())]);
    assert_eq!(values[1], [("links.l.discipline", r#"{ ecn = true, kind = "codel" }"#.to_owned())]);
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
