//! Every file of `tests/broken` is wrong in the way that its name says, and the whole message is kept: the
//! place, what is wrong and what would be right.

use std::path::{Path, PathBuf};

use slantpath_scenario::{LoadError, Scenario};

fn broken() -> Vec<PathBuf> {
    scenarios("tests/broken")
}

fn scenarios(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("it lies here").flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn faults_of(path: &Path) -> String {
    match Scenario::load(path, &[]) {
        Err(LoadError::Invalid(diagnostics)) => diagnostics.to_string(),
        Err(error) => panic!("{}: {error}", path.display()),
        Ok(scenario) => panic!("{} is taken for right:\n{}", path.display(), scenario.merged()),
    }
}

#[test]
fn each_broken_scenario_is_told_its_fault_place_and_cure() {
    let files = broken();
    assert!(files.len() > 50, "the broken scenarios are gone");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let directory = format!("{}/", file.parent().unwrap().display());
        insta::assert_snapshot!(name, faults_of(&file).replace(&directory, ""));
    }
}

#[test]
fn each_doubtful_scenario_is_told_its_warnings() {
    let files = scenarios("tests/warned");
    assert!(!files.is_empty(), "the doubtful scenarios are gone");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let directory = format!("{}/", file.parent().unwrap().display());
        let scenario = Scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.warnings().is_empty(), "{name}: no warning");
        let warnings: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(format!("warned-{name}"), warnings.join("\n").replace(&directory, ""));
    }
}

#[test]
fn each_message_names_a_line_and_a_cure() {
    for file in broken() {
        let Err(LoadError::Invalid(diagnostics)) = Scenario::load(&file, &[]) else { unreachable!() };
        for diagnostic in &diagnostics {
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
