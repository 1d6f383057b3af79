//! Every scenario gives what it gave: the digest of a run is a hash over each of its events.
//!
//! A change that is not to change results is held to that by `tests/digests.txt`. One that is to: make the file anew
//! with `SLANTPATH_UPDATE=1`, and say in the commit why.

use std::fmt::Write;
use std::path::Path;

use slantpath_scenario::{RunOptions, Scenario, files_in, run};

#[test]
fn every_scenario_gives_what_it_gave() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = root.join("../../scenarios");
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
    let kept = root.join("tests/digests.txt");
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(&kept, &digests).unwrap();
    }
    let kept = std::fs::read_to_string(&kept).unwrap();
    let changed: Vec<&str> =
        digests.lines().filter(|line| !kept.lines().any(|known| known == *line)).collect();
    assert!(changed.is_empty(), "changed, or new:\n{}", changed.join("\n"));
    assert_eq!(kept.lines().count(), digests.lines().count(), "a scenario is gone");
}
