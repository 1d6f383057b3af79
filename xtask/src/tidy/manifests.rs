//! Each crate keeps the lints of the workspace, names no package that it does not use, and has its examples run.

use crate::finding::Finding;
use crate::tree::{TextFile, Tree};

/// Optional packages of a manifest whose names no source has: they give features to what others use, and bring
/// nothing in.
const FOR_FEATURES: &[(&str, &[&str])] = &[(
    "crates/py/Cargo.toml",
    // Of `as-tested`.
    &["getrandom", "getrandom-0-3", "nix", "rustix", "serde_core", "smallvec"],
)];

/// Tells if a manifest names a package for the sake of features alone.
pub(crate) fn is_for_features(manifest: &str, package: &str) -> bool {
    FOR_FEATURES.iter().any(|(path, packages)| *path == manifest && packages.contains(&package))
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts.iter().filter(|file| {
        file.path.ends_with("/Cargo.toml")
            && file.text.contains("[package]")
            && file.path != "fuzz/Cargo.toml"
    });
    manifests.flat_map(|manifest| check_manifest(tree, manifest)).collect()
}

fn check_manifest(tree: &Tree, manifest: &TextFile) -> Vec<Finding> {
    let directory = manifest.path.trim_end_matches("Cargo.toml");
    let sources: Vec<&TextFile> =
        tree.of_kind("rs").filter(|file| file.path.starts_with(directory)).collect();
    let mut findings = Vec::new();
    if !manifest.text.contains("[lints]\nworkspace = true") {
        findings.push(Finding::on_file(
            &manifest.path,
            "the crate leaves the workspace's lints: add [lints] workspace = true",
        ));
    }
    findings.extend(check_examples(manifest, directory, &sources));
    for (line, package) in dependencies(manifest) {
        let name = package.replace('-', "_");
        let is_used = sources.iter().any(|source| has_word(&source.text, &name));
        let complaint = match is_for_features(&manifest.path, package) {
            true if is_used => "is used, and listed as if it was for features alone",
            false if !is_used => "is not used: remove it",
            _ => continue,
        };
        findings.push(Finding::on_line(&manifest.path, line, format!("{package} {complaint}")));
    }
    findings
}

/// The examples of a library's comments are run where there are some, and only there: a run of none takes seconds.
fn check_examples(manifest: &TextFile, directory: &str, sources: &[&TextFile]) -> Option<Finding> {
    let library = format!("{directory}src/");
    let is_library = sources.iter().any(|source| source.path == format!("{library}lib.rs"));
    let has_examples = sources
        .iter()
        .any(|source| source.path.starts_with(&library) && source.text.lines().any(begins_example));
    let is_off = manifest.text.contains("\ndoctest = false\n");
    let complaint = match (has_examples, is_off) {
        (true, true) => "a comment has an example, which nothing runs: remove doctest = false",
        (false, false) if is_library => "no comment has an example: add [lib] doctest = false",
        _ => return None,
    };
    Some(Finding::on_file(&manifest.path, complaint))
}

fn begins_example(line: &str) -> bool {
    let comment = line.trim_start();
    comment.starts_with("/// ```") || comment.starts_with("//! ```")
}

/// Every package under a `[...dependencies]` heading, with its line.
fn dependencies(manifest: &TextFile) -> Vec<(usize, &str)> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for (number, line) in manifest.numbered_lines() {
        if let Some(heading) = line.strip_prefix('[') {
            is_inside = heading.trim_end_matches(']').ends_with("dependencies");
        } else if is_inside && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            if !name.is_empty() {
                found.push((number, name));
            }
        }
    }
    found
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";

    #[test]
    fn a_crate_that_uses_what_it_names_passes() {
        let manifest = format!("{LINTS}[dependencies]\nslantpath-base.workspace = true\n");
        let tree =
            Tree::of(&[("a/Cargo.toml", &manifest), ("a/src/main.rs", "use slantpath_base::Instant;\n")]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn an_unused_package_is_found_with_its_line() {
        let manifest = format!("{LINTS}[dev-dependencies]\nslantpath-base = {{ path = \"..\" }}\n");
        let tree =
            Tree::of(&[("a/Cargo.toml", &manifest), ("a/src/main.rs", "use slantpath_bases::Instant;\n")]);
        assert_eq!(
            check(&tree),
            [Finding::on_line("a/Cargo.toml", 6, "slantpath-base is not used: remove it")]
        );
    }

    #[test]
    fn a_package_for_features_is_used_nowhere() {
        let manifest = format!("{LINTS}[dependencies]\nserde_core = {{ optional = true }}\n");
        let told = |path: &str, source: &str| {
            let tree = Tree::of(&[(path, &manifest), ("crates/py/src/run.rs", source)]);
            check(&tree).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert!(told("crates/py/Cargo.toml", "").is_empty());
        let used = told("crates/py/Cargo.toml", "use serde_core::Serialize;\n");
        assert_eq!(used, ["serde_core is used, and listed as if it was for features alone"]);
        assert_eq!(told("a/Cargo.toml", ""), ["serde_core is not used: remove it"]);
    }

    #[test]
    fn examples_of_comments_are_run_where_there_are_some() {
        let told = |lib: &str, source: &str| {
            let manifest = format!("{LINTS}{lib}");
            let tree = Tree::of(&[("a/Cargo.toml", &manifest), ("a/src/lib.rs", ""), ("a/src/b.rs", source)]);
            check(&tree).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        let off = "[lib]\ndoctest = false\n";
        let example = "impl A {\n    /// ```\n    /// assert!(true);\n    /// ```\n}\n";
        assert!(told("", example).is_empty());
        assert!(told(off, "// ```\n").is_empty());
        assert_eq!(told("", ""), ["no comment has an example: add [lib] doctest = false"]);
        let unseen = ["a comment has an example, which nothing runs: remove doctest = false"];
        assert_eq!(told(off, example), unseen);
        assert_eq!(told(off, "//! ```\n"), unseen);
    }

    #[test]
    fn a_crate_outside_the_lints_is_found() {
        let tree = Tree::of(&[("a/Cargo.toml", "[package]\nname = \"a\"\n")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
