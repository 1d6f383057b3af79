//! Every file of `tests/broken` is wrong in the way that its name says, and the whole message is kept at its end: the
//! place, what is wrong and what would be right. So are the warnings of `tests/warned`. `SLANTPATH_UPDATE=1` writes
//! them.

use std::path::Path;

use slantpath_runner::{Diagnostics, LoadError, Scenario, files_in};
use slantpath_testkit::{Told, page};

use crate::project;

const BROKEN: &str = "crates/runner/tests/broken";
const WARNED: &str = "crates/runner/tests/warned";

fn read(file: &Told, directory: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(file.name(), &file.text, &[], files_in(&page::path(directory)))
}

fn faults_of(file: &Told) -> Diagnostics {
    match read(file, BROKEN) {
        Err(diagnostics) => diagnostics,
        Ok(scenario) => panic!("{} is taken for right:\n{}", file.name(), scenario.merged()),
    }
}

/// All of them: as one text, diagnostics are the first twenty and a count.
fn texts(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_broken_scenario_is_told_its_fault_place_and_cure() {
    let files = Told::files_in(BROKEN);
    assert!(files.len() > 50, "the broken scenarios are gone");
    for file in files {
        file.hold(&texts(&faults_of(&file)));
    }
}

#[test]
fn each_doubtful_scenario_is_told_its_warnings() {
    let files = Told::files_in(WARNED);
    assert!(!files.is_empty(), "the doubtful scenarios are gone");
    for file in files {
        let scenario = read(&file, WARNED).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.warnings().is_empty(), "{}: no warning", file.name());
        let warnings: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
        file.hold(&warnings.join("\n"));
    }
}

#[test]
fn each_message_names_a_line_and_a_cure() {
    for file in Told::files_in(BROKEN) {
        for diagnostic in &faults_of(&file) {
            let lines = diagnostic.source.text.lines().count();
            assert!((1..=lines + 1).contains(&diagnostic.line), "{diagnostic}");
            assert!(diagnostic.span.end <= diagnostic.source.text.len(), "{diagnostic}");
            let syntax = diagnostic.message.starts_with("this is not TOML");
            assert!(diagnostic.help.is_some() || syntax, "no cure: {diagnostic}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Scenario::load(Path::new("no/such.toml"), &[]).unwrap_err();
    assert!(error.to_string().starts_with("no/such.toml: "), "{error}");
}

/// Checks that the examples in the README give no warnings beside their results.
#[test]
fn no_scenario_that_readme_shows_has_a_warning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there is a README");
    let files = std::fs::read_dir(root.join("scenarios")).expect("it lies there");
    let shown = files.map(|entry| entry.expect("readable").path()).filter(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
        let is_toml = file.extension().is_some_and(|extension| extension == "toml");
        is_toml && readme.contains(&format!("scenarios/{name}"))
    });
    let mut scenarios = 0;
    for file in shown {
        let text = std::fs::read_to_string(&file).expect("it was listed");
        if text.contains("[topology]") {
            continue;
        }
        let scenario = Scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        let warnings: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
        assert!(warnings.is_empty(), "{}:\n{}", file.display(), warnings.join("\n"));
        scenarios += 1;
    }
    assert!(scenarios >= 3, "README shows {scenarios} scenarios");
}

#[test]
fn an_override_of_what_is_not_there_is_asked_what_it_meant() {
    let first = project::path("first.toml");
    let told = |assignment: &str| match Scenario::load(&first, &[assignment.to_owned()]) {
        Err(LoadError::Invalid(diagnostics)) => diagnostics.to_string(),
        Err(error) => panic!("{error}"),
        Ok(scenario) => scenario.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    assert_eq!(
        told("links.satelite.loss=2 %"),
        "--set:1:1: there is no `links.satelite`\n  help: did you mean `satellite`?"
    );
    assert_eq!(told("links.satellite.loss=2 %"), "");
    // What is whole by one key is made, with a question; a whole table is meant.
    let joined = |node: &str| {
        let link =
            "links.more={ ends = [\"exchange\", \"stations\"], rate = \"1 Mbit/s\", delay = \"1 ms\" }";
        let overrides = [node, link].map(str::to_owned);
        let scenario = Scenario::load(&first, &overrides).unwrap_or_else(|error| panic!("{error}"));
        scenario.warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        joined("nodes.stations.kind=router"),
        [
            "--set:1:1: `nodes.stations` is a table that the file does not have\n  help: did you mean `station`?"
        ]
    );
    assert_eq!(joined("nodes.stations={ kind = \"router\" }"), Vec::<String>::new());
    // A link of its own lacks what a link needs.
    assert!(told("links.cable.loss=2 %").contains("`links.cable` lacks `ends`"));
}
