//! Crates that are published are `slantpath-tokio` and all that it needs, each ready for a registry; the version has
//! one home, `[workspace.package]` of Cargo.toml, and every other place says the same.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::finding::Finding;
use crate::tree::Tree;

/// Crate that others are meant to depend on.
const ENTRANCE: &str = "slantpath-tokio";
/// Crates that a program with live SCTP has no use for.
const NOT_NEEDED: &[&str] = &["slantpath-des", "slantpath-net", "slantpath-sigtran", "slantpath-ss7"];
/// Keys that a registry shows of a crate.
const SHOWN: &[&str] = &["description", "license", "readme"];

pub(crate) fn check(metadata: &Value, tree: &Tree) -> Result<Vec<Finding>, String> {
    let crates = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let version = version(tree).ok_or("Cargo.toml has no workspace.package.version")?;
    let needed = needed(crates);
    let mut findings = Vec::new();
    for package in crates {
        let name = package["name"].as_str().unwrap_or_default();
        let path = format!("crates/{}/Cargo.toml", name.trim_start_matches("slantpath-"));
        let mut complain = |message: String| findings.push(Finding::on_file(&path, message));
        // `publish = false` is an empty list of registries.
        let is_published = package["publish"].as_array().is_none_or(|registries| !registries.is_empty());
        match (is_published, needed.contains(name)) {
            (true, false) => complain(format!("{ENTRANCE} does not need it: publish.workspace = true")),
            (false, true) => complain(format!("{ENTRANCE} needs it: publish = true")),
            (false, false) => continue,
            (true, true) => {}
        }
        if needed.contains(name) && NOT_NEEDED.contains(&name) {
            complain(format!(
                "{ENTRANCE} has no use for it, and pulls it in: `cargo tree -i {name} -p {ENTRANCE}`"
            ));
        }
        for key in SHOWN.iter().filter(|key| package[**key].as_str().is_none_or(str::is_empty)) {
            complain(format!("a registry shows `{key}`, which is missing"));
        }
        for (dependency, requirement) in needs(package) {
            if requirement != format!("^{version}") {
                complain(format!("needs {dependency} {requirement}, and Cargo.toml has version {version}"));
            }
        }
    }
    findings.extend(elsewhere(tree, &version));
    Ok(findings)
}

/// The version of all crates, from its home.
pub(crate) fn version(tree: &Tree) -> Option<String> {
    let manifest: toml::Table = tree.text("Cargo.toml")?.text.parse().ok()?;
    Some(manifest.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
}

/// The entrance and all crates of the workspace below it.
fn needed(crates: &[Value]) -> BTreeSet<&str> {
    let mut needed = BTreeSet::new();
    let mut open = vec![ENTRANCE];
    while let Some(name) = open.pop() {
        if needed.insert(name)
            && let Some(package) = crates.iter().find(|package| package["name"] == name)
        {
            open.extend(needs(package).map(|(dependency, _)| dependency));
        }
    }
    needed
}

/// Crates of the workspace that a crate needs once it is published, and the versions that do.
fn needs(package: &Value) -> impl Iterator<Item = (&str, &str)> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter(|dependency| !dependency["path"].is_null() && dependency["kind"] != "dev")
        .filter_map(|dependency| Some((dependency["name"].as_str()?, dependency["req"].as_str()?)))
}

/// Other places that name the version.
fn elsewhere(tree: &Tree, version: &str) -> Vec<Finding> {
    let places = [
        ("CITATION.cff", format!("\nversion: {version}\n")),
        ("studies/pyproject.toml", format!("\"slantpath=={version}\"")),
        ("studies/slantpath_studies/__init__.py", format!("__version__ = \"{version}\"")),
    ];
    let differs =
        |(path, words): &(&str, String)| tree.text(path).is_some_and(|file| !file.text.contains(words));
    let told = |(path, words): (&str, String)| {
        Finding::on_file(path, format!("the version is that of Cargo.toml: `{}`", words.trim()))
    };
    places.into_iter().filter(differs).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, is_published: bool, needs: &[(&str, &str)]) -> Value {
        let dependencies: Vec<Value> = needs
            .iter()
            .map(|(name, req)| json!({ "name": name, "req": req, "path": "/there", "kind": null }))
            .collect();
        let registries = if is_published { Value::Null } else { json!([]) };
        json!({
            "name": name, "publish": registries, "dependencies": dependencies, "description": "d",
            "license": "MIT", "readme": "README.md",
        })
    }

    fn told(packages: &[Value], files: &[(&str, &str)]) -> Vec<String> {
        let home = [("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n")];
        let tree = Tree::of(&[&home, files].concat());
        let findings = check(&json!({ "packages": packages }), &tree).unwrap();
        findings.into_iter().map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
    }

    #[test]
    fn the_entrance_and_what_it_needs_are_published_and_nothing_else() {
        let packages = |live, net| {
            vec![
                package("slantpath-tokio", true, &[("slantpath-live", "^1.2.3")]),
                package("slantpath-live", live, &[]),
                package("slantpath-net", net, &[]),
            ]
        };
        assert_eq!(told(&packages(true, false), &[]), Vec::<String>::new());
        assert_eq!(
            told(&packages(false, true), &[]),
            [
                "crates/live/Cargo.toml: slantpath-tokio needs it: publish = true",
                "crates/net/Cargo.toml: slantpath-tokio does not need it: publish.workspace = true",
            ]
        );
    }

    #[test]
    fn what_live_sctp_has_no_use_for_is_not_pulled_in() {
        let packages = vec![
            package("slantpath-tokio", true, &[("slantpath-ss7", "^1.2.3")]),
            package("slantpath-ss7", true, &[]),
        ];
        let told = told(&packages, &[]);
        assert!(told.len() == 1 && told[0].contains("has no use for it"), "{told:?}");
    }

    #[test]
    fn what_a_registry_shows_is_there_and_versions_are_equal() {
        let mut bare = package("slantpath-tokio", true, &[("slantpath-wire", "*")]);
        bare["readme"] = Value::Null;
        assert_eq!(
            told(&[bare, package("slantpath-wire", true, &[])], &[]),
            [
                "crates/tokio/Cargo.toml: a registry shows `readme`, which is missing",
                "crates/tokio/Cargo.toml: needs slantpath-wire *, and Cargo.toml has version 1.2.3",
            ]
        );
    }

    #[test]
    fn a_version_elsewhere_that_is_another_is_found() {
        let of = |version: &str| told(&[], &[("CITATION.cff", &format!("a: b\nversion: {version}\n"))]);
        assert_eq!(of("1.2.3"), Vec::<String>::new());
        assert_eq!(of("1.2.2"), ["CITATION.cff: the version is that of Cargo.toml: `version: 1.2.3`"]);
    }
}
