//! Every scenario gives what it gave: the digest of a run is a hash over each of its events.
//!
//! A change that is not to change results is held to that by `tests/digests.txt`, and for the scenarios of the tests by
//! `tests/digests-of-bases.txt`. One that is to: make both files anew with `SLANTPATH_UPDATE=1`, and say in the commit
//! why.

use std::fmt::Write;
use std::path::Path;

use slantpath_runner::{RunOptions, Scenario, files_in, run};

#[test]
fn every_scenario_gives_what_it_gave() {
    hold("../../scenarios", "digests.txt");
}

/// Checks the digests of scenarios in which queues stand at handovers, packets are lost, policies are not the usual
/// ones, directions are unequal, antennas share a satellite, and paths, lines and processes fail and come again.
#[test]
fn every_scenario_of_the_tests_gives_what_it_gave() {
    hold("tests/effects/bases", "digests-of-bases.txt");
}

fn hold(folder: &str, kept: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = root.join(folder);
    let entries = std::fs::read_dir(&scenarios).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    let mut digests = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // A topology has no duration, and is not run.
        if text.contains("[topology]") {
            continue;
        }
        let name = file.file_name().unwrap().to_str().unwrap();
        let scenario = Scenario::parse(name, &text, &[], files_in(&scenarios)).unwrap();
        let output = run(&scenario, &RunOptions::default()).unwrap();
        writeln!(digests, "{} {:>9} {name}", output.digest, output.packet_hops).unwrap();
    }
    let kept = root.join("tests").join(kept);
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(&kept, &digests).unwrap();
    }
    let kept = std::fs::read_to_string(&kept).unwrap();
    let changed: Vec<&str> =
        digests.lines().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    assert!(changed.is_empty(), "changed, or new:\n{}", changed.join("\n"));
    assert_eq!(kept.lines().count(), digests.lines().count(), "a scenario is gone");
}
