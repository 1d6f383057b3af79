//! The house's rules as executable checks: `cargo xtask tidy`, `rfc`, `conformance` and `notices`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

mod conformance;
mod finding;
mod notices;
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
  tidy          floors, file lengths, forbidden words, documents, links and licences
  rfc           count the RFC citations per section and check each quote against the RFC's text
  notices       write the licences of what is linked into the Python package anew
  conformance   run the tests that stand for published test purposes, and print them by identifier
";

fn main() -> ExitCode {
    let check = std::env::args().nth(1);
    let outcome = match check.as_deref() {
        Some("tidy") => tree().and_then(|tree| tidy::run(&tree)),
        Some("rfc") => tree().and_then(|tree| rfc::run(&tree, &project_root().join("../shared/rfc"))),
        Some("conformance") => tree().and_then(|tree| conformance::run(&tree)),
        Some("notices") => notices::write(&project_root()),
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
