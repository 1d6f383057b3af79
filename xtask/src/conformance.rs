//! `cargo xtask conformance`: every test purpose of every suite, with the result of the test that stands for it, and
//! where the suite comes from. The suites are `crates/*/conformance/*.toml`.

mod suite;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use crate::finding::Finding;
use crate::tree::Tree;

use suite::{Fate, Suite};

/// Runs every suite, prints the table, and returns what did not pass.
pub(crate) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    let mut results = BTreeMap::new();
    let suites = suites(tree)?;
    for suite in &suites {
        let target = (suite.package.clone(), suite.target.clone());
        if !results.contains_key(&target) {
            results.insert(target.clone(), run_target(&suite.package, &suite.target)?);
        }
        let results = &results[&target];
        print!("{}", table(suite, results));
        for purpose in &suite.purposes {
            if let Fate::Test(test) = &purpose.fate
                && results.get(test).map(String::as_str) != Some("ok")
            {
                let message = format!("{} does not pass: see the test {test}", purpose.id);
                findings.push(Finding::on_file(&suite.path, message));
            }
        }
    }
    Ok(findings)
}

/// Checks for `tidy`, without running anything, that each table is whole, and names each of its tests once and no
/// other.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut named: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut directories = BTreeMap::new();
    for file in tree.texts.iter().filter(|file| is_suite(&file.path)) {
        let suite = match Suite::parse(&file.path, &file.text) {
            Ok(suite) => suite,
            Err(message) => {
                findings.push(Finding::on_file(&file.path, message));
                continue;
            }
        };
        let directory = suite.crate_directory();
        let present = tests::of_target(tree, &directory, &suite.target);
        let mut ids = BTreeSet::new();
        let tests = named.entry((directory.clone(), suite.target.clone())).or_default();
        directories.insert((directory, suite.target.clone()), file.path.clone());
        for purpose in suite.purposes {
            if !ids.insert(purpose.id.clone()) {
                findings.push(Finding::on_file(&file.path, format!("{} is listed twice", purpose.id)));
            }
            let Fate::Test(test) = purpose.fate else { continue };
            if !present.contains(&test) {
                let message = format!("{}: there is no test {test} in {}", purpose.id, suite.target);
                findings.push(Finding::on_file(&file.path, message));
            }
            if !tests.insert(test.clone()) {
                findings.push(Finding::on_file(&file.path, format!("{test} stands for two purposes")));
            }
        }
    }
    for ((directory, target), tests) in &named {
        for test in tests::of_target(tree, directory, target).difference(tests) {
            let path = &directories[&(directory.clone(), target.clone())];
            findings.push(Finding::on_file(path, format!("the test {test} stands for no purpose: list it")));
        }
    }
    findings
}

fn is_suite(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates")
        && parts.nth(1) == Some("conformance")
        && parts.next().and_then(|name| name.strip_suffix(".toml")).is_some()
        && parts.next().is_none()
}

fn suites(tree: &Tree) -> Result<Vec<Suite>, String> {
    let files = tree.texts.iter().filter(|file| is_suite(&file.path));
    files
        .map(|file| {
            Suite::parse(&file.path, &file.text).map_err(|message| format!("{}: {message}", file.path))
        })
        .collect()
}

/// Builds and runs one integration test, and reads libtest's lines: the name of each test
/// and its result.
fn run_target(package: &str, target: &str) -> Result<BTreeMap<String, String>, String> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--package", package, "--test", target])
        .current_dir(crate::project_root())
        .output()
        .map_err(|error| format!("cannot start cargo test: {error}"))?;
    let results = results(&String::from_utf8_lossy(&output.stdout));
    if results.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the tests of {package}, {target}, did not run:\n{said}"));
    }
    Ok(results)
}

fn results(said: &str) -> BTreeMap<String, String> {
    let line = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let name = name.trim_end_matches(" - should panic");
        Some((name.to_owned(), result.split(' ').next()?.to_lowercase().trim_end_matches(',').to_owned()))
    };
    said.lines().filter_map(line).collect()
}

fn table(suite: &Suite, results: &BTreeMap<String, String>) -> String {
    let width = suite.purposes.iter().map(|purpose| purpose.id.len()).max().unwrap_or(0);
    let mut text = format!("{}  {}\n  Source: {}\n", suite.name, suite.title, suite.source);
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for purpose in &suite.purposes {
        let (result, words) = match &purpose.fate {
            Fate::Test(test) => (results.get(test).map_or("missing", String::as_str), purpose.words.clone()),
            Fate::NotApplicable(why) => ("n/a", format!("{} ({why})", purpose.words)),
        };
        *totals.entry(result).or_default() += 1;
        let _ = writeln!(text, "  {:width$}  {result:7}  {words}", purpose.id);
    }
    let totals: Vec<String> = totals.iter().map(|(result, count)| format!("{count} {result}")).collect();
    let _ = writeln!(text, "  {} purposes: {}\n", suite.purposes.len(), totals.join(", "));
    text
}

#[cfg(test)]
mod test {
    use super::*;

    const SUITE: &str = "suite = \"TS 1\"\ntitle = \"T\"\nsource = \"S\"\npackage = \"slantpath-a\"\n\
                         target = \"t\"\n[[purpose]]\nid = \"A\"\npurpose = \"a does\"\ntest = \"m::a\"\n\
                         [[purpose]]\nid = \"B\"\npurpose = \"b does\"\nnot_applicable = \"no b\"\n";

    fn complaints(suite: &str, module: &str) -> Vec<String> {
        let files = [
            ("crates/a/conformance/t.toml", suite),
            ("crates/a/tests/t.rs", "#[path = \"t/m.rs\"]\nmod m;\n"),
            ("crates/a/tests/t/m.rs", module),
        ];
        check(&Tree::of(&files)).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_table_that_names_its_tests_passes() {
        assert!(complaints(SUITE, "#[test]\nfn a() {}\nfn b() {}\n").is_empty());
    }

    #[test]
    fn a_test_that_is_not_there_and_one_that_is_not_listed_are_found() {
        let found = complaints(SUITE, "#[test]\nfn b() {}\n");
        assert_eq!(found, ["A: there is no test m::a in t", "the test m::b stands for no purpose: list it"]);
    }

    #[test]
    fn an_identifier_that_is_listed_twice_is_found() {
        let found = complaints(&SUITE.replace("\"B\"", "\"A\""), "#[test]\nfn a() {}\n");
        assert_eq!(found, ["A is listed twice"]);
    }

    #[test]
    fn the_lines_of_libtest_become_a_table_with_totals() {
        let results =
            results("running 2 tests\ntest m::a ... FAILED\ntest m::c ... ok\n\ntest result: FAILED.\n");
        let suite = Suite::parse("crates/a/conformance/t.toml", SUITE).unwrap();
        let expected = "TS 1  T\n  Source: S\n  A  failed   a does\n  B  n/a      b does (no b)\n  \
                        2 purposes: 1 failed, 1 n/a\n\n";
        assert_eq!(table(&suite, &results), expected);
    }
}
