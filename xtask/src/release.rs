//! `cargo xtask release TAG`: the rule for tags. A tag is `v` and the version of Cargo.toml, which is the newest
//! heading of CHANGELOG.md as well; nothing is left under `## Unreleased`, and the project's address is a real one.

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
    if tree.text(HOME).is_some_and(|home| home.text.contains(".example/")) {
        findings.push(Finding::on_file(HOME, "`repository` is no real address"));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tag: &str, changelog: &str, repository: &str) -> Vec<String> {
        let home =
            format!("[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://{repository}/p\"\n");
        let tree = Tree::of(&[("Cargo.toml", &home), ("CHANGELOG.md", changelog)]);
        check(&tree, tag).unwrap().into_iter().map(|finding| finding.to_string()).collect()
    }

    const RIGHT: &str = "# Changelog\n## Unreleased\n## 1.2.3 - 2026-12-01\n### Added\n- A.\n";

    #[test]
    fn a_tag_is_the_version_and_the_newest_heading() {
        assert_eq!(told("v1.2.3", RIGHT, "forge.org"), Vec::<String>::new());
        let version = ["Cargo.toml: the version is 1.2.3: its tag is v1.2.3, not v1.2.4"];
        assert_eq!(told("v1.2.4", RIGHT, "forge.org"), version);
        assert_eq!(told("1.2.3", RIGHT, "forge.org").len(), 1);
        let older = RIGHT.replace("1.2.3", "1.2.2");
        let wanted = ["CHANGELOG.md:3: the newest release is 1.2.2, and Cargo.toml has version 1.2.3"];
        assert_eq!(told("v1.2.3", &older, "forge.org"), wanted);
        let none = ["CHANGELOG.md: no heading `## 1.2.3 - DATE`"];
        assert_eq!(told("v1.2.3", "# Changelog\n## Unreleased\n", "forge.org"), none);
    }

    #[test]
    fn no_change_is_left_out_and_the_address_is_real() {
        let left = RIGHT.replace("## Unreleased\n", "## Unreleased\n### Added\n- B.\n");
        let wanted = "CHANGELOG.md:4: a change that v1.2.3 would leave out: move it under `## 1.2.3 - DATE`";
        assert_eq!(told("v1.2.3", &left, "forge.org"), [wanted]);
        assert_eq!(told("v1.2.3", RIGHT, "forge.example"), ["Cargo.toml: `repository` is no real address"]);
    }
}
