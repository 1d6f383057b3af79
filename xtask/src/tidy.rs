//! `cargo xtask tidy`: the rules of CONTRIBUTING.md that the compiler and clippy do not know.

mod changelog;
mod circles;
mod doc_comments;
mod documents;
mod floors;
mod links;
mod manifests;
mod published;
mod sentences;
mod sources;
mod type_names;

use std::process::Command;

pub(crate) use published::version as published_version;

use crate::finding::Finding;
use crate::tree::Tree;

/// Applies every rule to the project.
pub(crate) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let metadata = workspace_metadata()?;
    let mut findings = floors::check(&metadata)?;
    findings.extend(published::check(&metadata, tree)?);
    findings.extend(manifests::check(tree));
    findings.extend(sources::check(tree));
    findings.extend(circles::check(tree));
    findings.extend(doc_comments::check(tree));
    findings.extend(documents::check(tree));
    findings.extend(sentences::check(tree));
    findings.extend(changelog::check(tree));
    findings.extend(links::check(tree));
    findings.extend(type_names::check(tree));
    findings.extend(crate::conformance::check(tree));
    findings.extend(crate::notices::check(tree)?);
    findings.sort();
    if findings.is_empty() {
        println!("tidy: {} files keep the rules", tree.texts.len());
    }
    Ok(findings)
}

fn workspace_metadata() -> Result<serde_json::Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(crate::project_root())
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata speaks no JSON: {error}"))
}
