//! Replays the corpus: inputs that once were interesting stay harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use slantpath_fuzz_bodies::BODIES;

fn fuzz_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names_in(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fuzz_directory().join(directory)).expect("the directory is there");
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    entries.filter_map(|entry| stem(entry.expect("readable").path())).collect()
}

#[test]
fn every_body_survives_its_corpus() {
    for (name, body) in BODIES {
        let mut inputs = 0;
        for entry in fs::read_dir(fuzz_directory().join("corpus").join(name)).expect("a corpus for each body")
        {
            let path = entry.expect("readable").path();
            // Shown if the body panics.
            eprintln!("{}", path.display());
            body(&fs::read(&path).expect("readable"));
            inputs += 1;
        }
        assert!(inputs > 0, "the corpus of {name} is empty");
    }
}

#[test]
fn bodies_targets_and_corpora_belong_together() {
    let bodies: BTreeSet<String> = BODIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in("fuzz_targets"), bodies);
    assert_eq!(names_in("corpus"), bodies);
}

#[test]
fn the_seeds_are_those_that_our_encoders_and_scenarios_give() {
    let mut kept = BTreeMap::new();
    for target in names_in("corpus") {
        for entry in fs::read_dir(fuzz_directory().join("corpus").join(&target)).expect("a directory") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            if name.starts_with("seed-") {
                kept.insert(format!("{target}/{name}"), fs::read(&path).expect("readable"));
            }
        }
    }
    let given = slantpath_fuzz_bodies::seeds().expect("the scenarios are readable");
    let places: BTreeSet<&String> = given.keys().chain(kept.keys()).collect();
    let stale: Vec<_> = places.into_iter().filter(|place| given.get(*place) != kept.get(*place)).collect();
    assert!(
        stale.is_empty(),
        "stale in fuzz/corpus: {stale:?}; `cargo run -p slantpath-fuzz-bodies --example seed_corpus` writes them"
    );
}
