//! `cargo xtask mutants`: does a test fail when a line is wrong? cargo-mutants changes the code in one place at a time,
//! file by file; every change that no test notices must be listed as equivalent, with the reason, in the crate's
//! `mutants.toml`. What is known of a file is kept below `target/mutants`, so that a run that was ended goes on where
//! it was, and a second run tries again only what survived.

mod equivalent;
mod ledger;
mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::finding::Finding;
use crate::tree::Tree;

use equivalent::Equivalents;
use ledger::{Ledger, Result as Outcome};
use sample::Sample;

/// At most so many of a hundred viable mutants of a crate may survive, listed ones included.
const SURVIVORS_PERCENT_MAX: usize = 5;

/// No test of one crate takes as long, in seconds, even on a busy machine: a mutant that does loops for ever.
const TIMEOUT_SECS: &str = "120";

/// No test, and no compiler, needs as much memory, in KiB: a mutant that does not end may ask for all that there is
/// before its time is up.
const MEMORY_KIB: u32 = 8 << 20;

/// Tests that are left out: they take most of a crate's time, and what they see, faster ones see as well.
const LEFT_OUT: &[(&str, &[&str])] =
    &[("sctp", &["swarm", "storms", "a_thousand"]), ("tcp", &["swarm", "throughput", "linux"])];

/// Choice of the mutants to be tried.
#[derive(Debug, Default, PartialEq, Eq)]
struct Order {
    /// These crates, whole.
    crates: Vec<String>,
    /// Beside them, the lines of all others that differ from this commit.
    since: Option<String>,
    /// In place of all mutants of these crates, some of them.
    sample: Option<Sample>,
}

impl Order {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut order = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--sample" => {
                    order.sample.get_or_insert_default().size = number("--sample", arguments.next())?;
                }
                "--seed" => {
                    let seed = number("--seed", arguments.next())?;
                    order.sample.get_or_insert_default().seeds.push(seed);
                }
                "--since" => {
                    let base = arguments.next().ok_or("--since asks for a commit")?;
                    order.since = Some(base.clone());
                }
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                name => order.crates.push(name.to_owned()),
            }
        }
        if order.crates.is_empty() && order.since.is_none() {
            return Err("name crates, or a commit by --since".to_owned());
        }
        match &order.sample {
            Some(sample) if sample.size == 0 || sample.seeds.is_empty() || order.crates.is_empty() => {
                Err("a sample asks for --sample N, --seed S and crates".to_owned())
            }
            Some(_) if order.since.is_some() => {
                Err("a sample is not of what differs from a commit".to_owned())
            }
            _ => Ok(order),
        }
    }
}

fn number<T: core::str::FromStr>(option: &str, argument: Option<&String>) -> Result<T, String> {
    let number = argument.and_then(|argument| argument.parse().ok());
    number.ok_or_else(|| format!("{option} asks for a whole number"))
}

/// Tries the mutants that were asked for and returns what is wrong with their survivors.
pub(crate) fn run(tree: &Tree, arguments: &[String]) -> Result<Vec<Finding>, String> {
    let order = Order::parse(arguments)?;
    if let Some(sample) = &order.sample {
        return sample::run(tree, sample, &order.crates);
    }
    let mut findings = Vec::new();
    for name in &order.crates {
        findings.extend(try_crate(tree, name)?);
    }
    if let Some(base) = &order.since {
        findings.extend(try_changes(tree, base, &order.crates)?);
    }
    Ok(findings)
}

/// Every file of a crate.
fn try_crate(tree: &Tree, name: &str) -> Result<Vec<Finding>, String> {
    let directory = format!("crates/{name}/src/");
    let files: Vec<&str> = sources(tree).filter(|path| path.starts_with(&directory)).collect();
    if files.is_empty() {
        return Err(format!("there is no crate {name} below crates/"));
    }
    let equivalents = Equivalents::read(tree, name)?;
    check_baseline(name)?;
    let mut results = BTreeMap::new();
    for (number, file) in (1..).zip(&files) {
        eprintln!("{file} ({number} of {})", files.len());
        results.append(&mut try_file(tree, name, file, None)?);
    }
    let (mut findings, survivors) = equivalents.judge(&results);
    findings.extend(equivalents.stale(&results));
    let count = |wanted: Outcome| results.values().filter(|result| **result == wanted).count();
    let (viable, slow) = (results.len() - count(Outcome::Unviable), count(Outcome::TimedOut));
    println!("{name}: {} of {viable} viable mutants survive, {slow} took too long", survivors.len());
    if survivors.len() * 100 > SURVIVORS_PERCENT_MAX * viable {
        let message = format!("more than {SURVIVORS_PERCENT_MAX} % of the crate's viable mutants survive");
        findings.push(Finding::on_file(&format!("crates/{name}"), message));
    }
    Ok(findings)
}

/// The lines of the other crates that differ from `base`.
fn try_changes(tree: &Tree, base: &str, whole: &[String]) -> Result<Vec<Finding>, String> {
    let diff = said_by("git", &["diff", base, "--", "crates"])
        .map_err(|error| format!("{error}\nDoes the commit {base} exist? MUTANTS_BASE names another."))?;
    let patch = root().join("since.diff");
    write(&patch, &diff)?;
    let changed: Vec<&str> = diff.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    let mut findings = Vec::new();
    let mut last = None;
    for file in sources(tree).filter(|file| changed.contains(file)) {
        let Some(name) = file.split('/').nth(1).filter(|name| whole.iter().all(|other| other != name)) else {
            continue;
        };
        if last.replace(name) != Some(name) {
            check_baseline(name)?;
        }
        eprintln!("{file}, what differs from {base}");
        let results = try_file(tree, name, file, Some(&patch))?;
        findings.extend(Equivalents::read(tree, name)?.judge(&results).0);
    }
    Ok(findings)
}

/// The files of Rust that make up the crates.
fn sources(tree: &Tree) -> impl Iterator<Item = &str> {
    let is_source = |path: &&str| path.starts_with("crates/") && path.split('/').nth(2) == Some("src");
    tree.of_kind("rs").map(|file| file.path.as_str()).filter(is_source)
}

/// The mutants of one file, or of its lines in a patch.
fn try_file(
    tree: &Tree,
    name: &str,
    file: &str,
    patch: Option<&Path>,
) -> Result<BTreeMap<String, Outcome>, String> {
    let scope = if patch.is_some() { "since" } else { "whole" };
    let directory = root().join(scope).join(file.replace('/', "__"));
    let text = tree.of_kind("rs").find(|other| other.path == file).map_or("", |file| file.text.as_str());
    let mut ledger = Ledger::open(&directory, text).map_err(|error| in_directory(&directory, &error))?;
    let mut mutants = with_limited_memory(env!("CARGO"));
    mutants.args(["mutants", "--package", &format!("slantpath-{name}"), "--file", file]);
    mutants.args(["--iterate", "--baseline", "skip", "--timeout", TIMEOUT_SECS, "--no-shuffle"]);
    mutants.arg("--output").arg(&directory);
    if let Some(patch) = patch {
        mutants.arg("--in-diff").arg(patch);
    }
    mutants.arg("--").args(test_arguments(name));
    // One place for what is built, whatever the file: the crates that others wrote are built once.
    mutants.env("CARGO_TARGET_DIR", root().join("build")).current_dir(crate::project_root());
    let status = mutants.status().map_err(|error| format!("cannot start cargo mutants: {error}"))?;
    // 2 and 3 say that mutants survived or took too long, which is judged here.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!("cargo mutants did not finish {file}: {status}"));
    }
    ledger.close().map_err(|error| in_directory(&directory, &error))
}

/// Fails unless the tests pass on the code as it is: every mutant would seem to be caught.
fn check_baseline(name: &str) -> Result<(), String> {
    let mut test = Command::new(env!("CARGO"));
    test.args(["test", "--quiet", "--package", &format!("slantpath-{name}")]);
    test.args(test_arguments(name)).stdout(Stdio::null()).current_dir(crate::project_root());
    let status = test.status().map_err(|error| format!("cannot start cargo test: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the tests of {name} fail as it is")) }
}

/// A program that gets no more than so much memory, nor does what it starts, where the shell knows how.
fn with_limited_memory(program: &str) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\""), program]);
    shell
}

/// Arguments that follow `cargo test` and its package.
fn test_arguments(name: &str) -> Vec<&'static str> {
    let Some((_, left_out)) = LEFT_OUT.iter().find(|(other, _)| *other == name) else { return Vec::new() };
    let mut arguments = vec!["--lib", "--tests", "--"];
    arguments.extend(left_out.iter().flat_map(|test| ["--skip", test]));
    arguments
}

fn said_by(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(crate::project_root())
        .output()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| in_directory(directory, &error))
}

fn in_directory(directory: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", directory.display())
}

/// Directory in which everything is kept.
fn root() -> PathBuf {
    crate::project_root().join("target/mutants")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Order, String> {
        Order::parse(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_order_names_crates_and_a_commit() {
        let expected =
            Order { crates: vec!["cc".into(), "tcp".into()], since: Some("v1".into()), sample: None };
        assert_eq!(parse(&["cc", "--since", "v1", "tcp"]), Ok(expected));
    }

    #[test]
    fn a_sample_has_a_size_and_seeds() {
        let sample = parse(&["--sample", "40", "--seed", "1", "--seed", "2", "others"]).unwrap().sample;
        assert_eq!(sample, Some(Sample { size: 40, seeds: vec![1, 2] }));
        for incomplete in [
            &["--sample", "40", "net"][..],
            &["--seed", "1", "net"],
            &["--sample", "0", "--seed", "1", "net"],
            &["--sample", "4", "--seed", "1"],
            &["--sample", "4", "--seed", "x", "net"],
            &["--sample", "4", "--seed", "1", "net", "--since", "v1"],
        ] {
            assert!(parse(incomplete).is_err(), "{incomplete:?}");
        }
    }

    #[test]
    fn an_order_for_nothing_is_refused() {
        assert!(parse(&[]).is_err());
        assert!(parse(&["--since"]).is_err());
        assert!(parse(&["--all"]).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_started_gets_its_arguments_and_no_more_memory_than_that() {
        let output = with_limited_memory("sh").args(["-c", "ulimit -v; echo \"$1\"", "sh", "a b"]).output();
        assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), format!("{MEMORY_KIB}\na b\n"));
    }
}
