//! Replays the corpus: inputs that once were interesting stay harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use slantpath_fuzz_bodies::{BODIES, scenarios, seeds};

fn fuzz_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names_in(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fuzz_directory().join(directory)).expect("the directory is there");
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    entries.filter_map(|entry| stem(entry.expect("readable").path())).collect()
}

/// Inputs of a body that `fuzz/corpus` keeps.
fn kept(name: &str) -> Vec<PathBuf> {
    let directory = fuzz_directory().join("corpus").join(name);
    // Git keeps no directory in which nothing is.
    if !directory.exists() {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("readable").path()).collect()
}

#[test]
fn every_body_survives_its_corpus() {
    for (name, body) in BODIES {
        let scenarios = scenarios(name).expect("the scenarios are readable");
        let scenarios: Vec<PathBuf> = scenarios.into_iter().map(|(path, _)| path).collect();
        let inputs = [kept(name), scenarios].concat();
        assert!(!inputs.is_empty(), "{name} has no input");
        for path in inputs {
            // Shown if the body panics.
            eprintln!("{}", path.display());
            body(&fs::read(&path).expect("readable"));
        }
    }
}

#[test]
fn scenarios_and_topologies_are_inputs_of_their_bodies() {
    let count = |target| scenarios(target).expect("the scenarios are readable").len();
    let files = fs::read_dir(fuzz_directory().join("../scenarios")).expect("the directory is there");
    let is_toml = |path: PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let files = files.filter(|entry| is_toml(entry.as_ref().expect("readable").path())).count();
    assert!(count("scenario") > count("topology") && count("topology") > 0, "one has none");
    assert_eq!(count("scenario") + count("topology"), files);
    assert_eq!(count("quantity"), 0);
}

#[test]
fn bodies_targets_and_corpora_belong_together() {
    let bodies: BTreeSet<String> = BODIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in("fuzz_targets"), bodies);
    let strays: Vec<String> = names_in("corpus").difference(&bodies).cloned().collect();
    assert!(strays.is_empty(), "fuzz/corpus has {strays:?}, which are no bodies");
}

#[test]
fn the_seeds_are_those_that_our_encoders_give() {
    let mut stored = BTreeMap::new();
    for target in names_in("corpus") {
        for path in kept(&target) {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            if name.starts_with("seed-") {
                stored.insert(format!("{target}/{name}"), fs::read(&path).expect("readable"));
            }
        }
    }
    let given = seeds();
    let places: BTreeSet<&String> = given.keys().chain(stored.keys()).collect();
    let stale: Vec<_> = places.into_iter().filter(|place| given.get(*place) != stored.get(*place)).collect();
    assert!(
        stale.is_empty(),
        "stale in fuzz/corpus: {stale:?}; `cargo run -p slantpath-fuzz-bodies --example seed_corpus` writes them"
    );
}
