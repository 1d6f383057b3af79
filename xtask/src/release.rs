//! `cargo xtask release TAG`: the rule for tags. A tag is `v` and the version of Cargo.toml, which is the newest
//! heading of CHANGELOG.md as well; nothing is left under `## Unreleased`, and each crate that is published
//! says where its sources are.

use crate::finding::Finding;
use crate::tidy::published_version;
use crate::tree::Tree;

const CHANGELOG: &str = "CHANGELOG.md";
const HOME: &str = "Cargo.toml";

pub(crate) fn check(tree: &Tree, tag: &str) -> Result<Vec<Finding>, String> {
    let version = published_version(tree).ok_or("Cargo.toml has no workspace.package.version")?;
    let changelog = tree.text(CHANGELOG).ok_or("CHANGELOG.md is missing")?;
    let mut findings = Vec::new();
    if tag.strip_prefix('v') != Some(&version) {
        findings.push(Finding::on_file(
            HOME,
            format!("the version is {version}: its tag is v{version}, not {tag}"),
        ));
    }
    let mut heading = "";
    let mut newest = None;
    for (number, line) in changelog.numbered_lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
            newest = newest.or_else(|| text.split_once(" - ").map(|(released, _)| (number, released)));
        } else if heading == "Unreleased" && line.starts_with("- ") {
            let message = format!("a change that {tag} would leave out: move it under `## {version} - DATE`");
            findings.push(Finding::on_line(CHANGELOG, number, message));
            // The first tells enough.
            heading = "";
        }
    }
    match newest {
        Some((_, released)) if released == version => {}
        Some((number, released)) => {
            let message = format!("the newest release is {released}, and Cargo.toml has version {version}");
            findings.push(Finding::on_line(CHANGELOG, number, message));
        }
        None => findings.push(Finding::on_file(CHANGELOG, format!("no heading `## {version} - DATE`"))),
    }
    findings.extend(without_address(tree));
    Ok(findings)
}

/// Manifests that do not say where the sources are: that of the workspace, and those of crates that are published.
fn without_address(tree: &Tree) -> impl Iterator<Item = Finding> {
    let is_published = |text: &str| text.lines().any(|line| line == "publish = true");
    tree.of_kind("toml").filter_map(move |file| {
        let wanted = if file.path == HOME {
            "repository = \"https://"
        } else if is_published(&file.text) {
            "repository.workspace = true"
        } else {
            return None;
        };
        let is_told = file.text.lines().any(|line| line.starts_with(wanted));
        (!is_told).then(|| {
            Finding::on_file(&file.path, format!("a registry has no link to the sources: `{wanted}`"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "repository = \"https://forge.org/p\"\n";
    const INHERITED: &str = "repository.workspace = true\n";

    fn told(tag: &str, changelog: &str) -> Vec<String> {
        told_of(tag, changelog, ADDRESS, INHERITED)
    }

    fn told_of(tag: &str, changelog: &str, address: &str, inherited: &str) -> Vec<String> {
        let home = format!("[workspace.package]\nversion = \"1.2.3\"\n{address}");
        let published = format!("[package]\n{inherited}publish = true\n");
        let kept = "[package]\npublish.workspace = true\n";
        let tree = Tree::of(&[
            ("Cargo.toml", &home),
            ("CHANGELOG.md", changelog),
            ("crates/net/Cargo.toml", kept),
            ("crates/tokio/Cargo.toml", &published),
        ]);
        check(&tree, tag).unwrap().into_iter().map(|finding| finding.to_string()).collect()
    }

    const RIGHT: &str = "# Changelog\n## Unreleased\n## 1.2.3 - 2026-12-01\n### Added\n- A.\n";

    #[test]
    fn a_tag_is_the_version_and_the_newest_heading() {
        assert_eq!(told("v1.2.3", RIGHT), Vec::<String>::new());
        let version = ["Cargo.toml: the version is 1.2.3: its tag is v1.2.3, not v1.2.4"];
        assert_eq!(told("v1.2.4", RIGHT), version);
        assert_eq!(told("1.2.3", RIGHT).len(), 1);
        let older = RIGHT.replace("1.2.3", "1.2.2");
        let wanted = ["CHANGELOG.md:3: the newest release is 1.2.2, and Cargo.toml has version 1.2.3"];
        assert_eq!(told("v1.2.3", &older), wanted);
        let none = ["CHANGELOG.md: no heading `## 1.2.3 - DATE`"];
        assert_eq!(told("v1.2.3", "# Changelog\n## Unreleased\n"), none);
    }

    #[test]
    fn no_change_is_left_out() {
        let left = RIGHT.replace("## Unreleased\n", "## Unreleased\n### Added\n- B.\n");
        let wanted = "CHANGELOG.md:4: a change that v1.2.3 would leave out: move it under `## 1.2.3 - DATE`";
        assert_eq!(told("v1.2.3", &left), [wanted]);
    }

    #[test]
    fn crates_that_are_published_say_where_their_sources_are() {
        let wanted = [
            "Cargo.toml: a registry has no link to the sources: `repository = \"https://`",
            "crates/tokio/Cargo.toml: a registry has no link to the sources: `repository.workspace = true`",
        ];
        let mut told = told_of("v1.2.3", RIGHT, "", "");
        told.sort();
        assert_eq!(told, wanted);
    }
}
