//! The house's rules as executable checks: `cargo xtask tidy`, `rfc`, `conformance`, `mutants`, `notices` and
//! `release`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

mod conformance;
mod finding;
mod mutants;
mod notices;
mod release;
mod rfc;
mod rust_text;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::finding::Finding;
use crate::tree::Tree;

const USAGE: &str = "\
usage: cargo xtask <check>
  tidy          floors, names of types, file lengths, forbidden words, documents, links and licences
  rfc           count the RFC citations per section and check each quote against the RFC's text
  conformance   run the tests that stand for test purposes, and print them by identifier
  mutants [<crate> ..] [--since <commit>]
                change these crates, and what differs from the commit in all others, in one place at a time, and
                fail where no test notices; goes on where an earlier run was ended
  mutants --sample <n> --seed <s> [--seed <s> ..] <crate>|others ..
                the same with n of the slips that each seed draws in these crates, under the tests of all crates
  notices       write the licences of what is linked into the Python package anew
  release <tag> check that a tag is the version and the changelog's newest heading, and that nothing is left out
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("tidy") => tree().and_then(|tree| tidy::run(&tree)),
        Some("rfc") => tree().and_then(|tree| rfc::run(&tree, &project_root().join("../shared/rfc"))),
        Some("conformance") => tree().and_then(|tree| conformance::run(&tree)),
        Some("mutants") => tree().and_then(|tree| mutants::run(&tree, &arguments[1..])),
        Some("notices") => notices::write(&project_root()),
        Some("release") if arguments.len() == 2 => {
            tree().and_then(|tree| release::check(&tree, &arguments[1]))
        }
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => report(&findings),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn report(findings: &[Finding]) -> ExitCode {
    for finding in findings {
        eprintln!("{finding}");
    }
    eprintln!("{} finding(s)", findings.len());
    ExitCode::FAILURE
}

fn tree() -> Result<Tree, String> {
    let root = project_root();
    Tree::read(&root).map_err(|error| format!("cannot read {}: {error}", root.display()))
}

fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
