//! `cargo xtask notices`: the licences of the crates that are linked into the Python package, as one file beside ours.
//!
//! Most of these licences ask that their text, with the names of those who hold the rights, goes with every copy. The
//! texts are those that the crates carry; which licences may be linked at all is said in `deny.toml`.

mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde_json::Value;

use crate::finding::Finding;
use crate::tree::Tree;
use licence::{Licence, is_allowed};

/// Path of the notices that are written.
const FILE: &str = "THIRD-PARTY-NOTICES.txt";

/// Path of the licences of what is bundled into the page of `slantpath view`, which stand last in the notices.
const BUNDLED: &str = "python/slantpath/view/bundle/licences.txt";

/// Path of the rules: the licences and the sources that are allowed.
const RULES: &str = "deny.toml";

/// The package that is handed out.
const PACKAGE: &str = "slantpath-py";

/// Platform that wheels are made for. Other platforms link a few other crates.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Beginnings of the names of files that state rights.
const STATING: &[&str] = &["COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE"];

/// Writes the notices anew.
pub(crate) fn write(root: &Path) -> Result<Vec<Finding>, String> {
    let bundled =
        fs::read_to_string(root.join(BUNDLED)).map_err(|error| format!("cannot read {BUNDLED}: {error}"))?;
    let text = text_of(&linked(&metadata()?)?)? + &bundled;
    fs::write(root.join(FILE), text).map_err(|error| format!("cannot write {FILE}: {error}"))?;
    println!("notices: {FILE} is written");
    Ok(Vec::new())
}

/// Checks that the notices are those of what is linked now, and that the source and the licence of every package are
/// allowed.
pub(crate) fn check(tree: &Tree) -> Result<Vec<Finding>, String> {
    let metadata = metadata()?;
    let rules = tree.text(RULES).ok_or_else(|| format!("{RULES} is missing"))?;
    let mut findings = check_packages(&metadata, &Rules::parse(&rules.text)?)?;
    let bundled = tree.text(BUNDLED).ok_or_else(|| format!("{BUNDLED} is missing"))?;
    let wanted = text_of(&linked(&metadata)?)? + &bundled.text;
    if tree.text(FILE).is_none_or(|file| file.text != wanted) {
        findings.push(Finding::on_file(FILE, "other crates are linked by now: cargo xtask notices"));
    }
    Ok(findings)
}

/// All packages of the workspace and those that they need, for tests too.
fn metadata() -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", TARGET])
        .current_dir(crate::project_root())
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata speaks no JSON: {error}"))
}

/// Licences and registries that `deny.toml` allows.
#[derive(Debug)]
struct Rules {
    licences: BTreeSet<String>,
    registries: BTreeSet<String>,
}

impl Rules {
    fn parse(text: &str) -> Result<Self, String> {
        let rules: toml::Table = text.parse().map_err(|error| format!("{RULES}: {error}"))?;
        let list = |table: &str, key: &str| -> Result<BTreeSet<String>, String> {
            let list = rules.get(table).and_then(|table| table.get(key)).and_then(toml::Value::as_array);
            let list = list.ok_or_else(|| format!("{RULES} has no list `{key}` in [{table}]"))?;
            Ok(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
        };
        Ok(Self { licences: list("licenses", "allow")?, registries: list("sources", "allow-registry")? })
    }
}

/// Holds every package from outside to the rules.
fn check_packages(metadata: &Value, rules: &Rules) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for package in packages(metadata)? {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let Some(source) = package["source"].as_str() else { continue };
        if source.strip_prefix("registry+").is_none_or(|registry| !rules.registries.contains(registry)) {
            let message = format!("{name} {version} comes from {source}, which {RULES} does not allow");
            findings.push(Finding::on_file("Cargo.lock", message));
        }
        let expression = text(package, "license");
        if !is_allowed(expression, &rules.licences) {
            let message = format!("{name} {version} is under `{expression}`, which {RULES} does not allow");
            findings.push(Finding::on_file("Cargo.lock", message));
        }
    }
    Ok(findings)
}

/// A package that is linked, and the texts that state its rights.
#[derive(Debug)]
struct Linked {
    /// Name and version.
    name: String,
    licence: String,
    /// The texts by the names of their files.
    texts: Vec<(String, String)>,
}

/// Packages that are linked into the package: those that it needs to run. Macros run when it is built, and stay behind.
fn linked(metadata: &Value) -> Result<Vec<Linked>, String> {
    let packages: BTreeMap<&str, &Value> =
        packages(metadata)?.iter().map(|package| (text(package, "id"), package)).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().ok_or("cargo metadata resolves nothing")?;
    let needs: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(node, "id"), &node["deps"])).collect();
    let root = packages.values().find(|package| text(package, "name") == PACKAGE);
    let mut waiting = vec![text(root.ok_or_else(|| format!("there is no package {PACKAGE}"))?, "id")];
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if is_macro(packages[id]) || !found.insert(id) {
            continue;
        }
        for need in needs[id].as_array().into_iter().flatten() {
            let kinds = need["dep_kinds"].as_array();
            if kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null())) {
                waiting.push(text(need, "pkg"));
            }
        }
    }
    let mut linked = found
        .into_iter()
        .map(|id| packages[id])
        .filter(|package| package["source"].is_string())
        .map(read_texts)
        .collect::<Result<Vec<_>, String>>()?;
    linked.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(linked)
}

fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets
        .flat_map(|target| target["kind"].as_array().into_iter().flatten())
        .any(|kind| kind == "proc-macro")
}

fn read_texts(package: &Value) -> Result<Linked, String> {
    let name = format!("{} {}", text(package, "name"), text(package, "version"));
    let directory = Path::new(text(package, "manifest_path")).parent().unwrap_or(Path::new(""));
    let texts = stating_files(directory).map_err(|error| format!("the source of {name}: {error}"))?;
    let licence = text(package, "license").to_owned();
    let names: Vec<&str> = texts.iter().map(|(file, _)| file.as_str()).collect();
    let chosen = Licence::parse(&licence).chosen_files(&names);
    let texts: Vec<_> = texts.iter().filter(|(file, _)| chosen.contains(&file.as_str())).cloned().collect();
    if texts.is_empty() {
        return Err(format!("{name} ({licence}) carries no text of its licence"));
    }
    Ok(Linked { name, licence, texts })
}

fn stating_files(directory: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && STATING.iter().any(|start| name.to_uppercase().starts_with(start))
        {
            files.push((name, tidied(&String::from_utf8_lossy(&fs::read(entry.path())?))));
        }
    }
    files.sort();
    Ok(files)
}

/// A string without what differs between systems and editors.
fn tidied(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The whole file: what is linked, then every text once, with those whose it is.
fn text_of(linked: &[Linked]) -> Result<String, String> {
    let mut owners = BTreeMap::<&str, Vec<&str>>::new();
    for package in linked {
        for (_, text) in &package.texts {
            let names = owners.entry(text).or_default();
            if !names.contains(&package.name.as_str()) {
                names.push(&package.name);
            }
        }
    }
    let mut sections: Vec<(Vec<&str>, &str)> =
        owners.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort();
    let mut out = format!(
        "Slantpath's Python package has these Rust crates linked in ({TARGET}).\nWritten by `cargo xtask notices`.\n\n"
    );
    let rule = "=".repeat(80);
    let mut write = |line: &str| writeln!(out, "{line}").map_err(|error| error.to_string());
    for package in linked {
        write(&format!("{}: {}", package.name, package.licence))?;
    }
    for (names, text) in sections {
        write(&format!("\n{rule}\n{}\n{rule}\n\n{text}", names.join(", ")))?;
    }
    Ok(out)
}

fn packages(metadata: &Value) -> Result<&Vec<Value>, String> {
    metadata["packages"].as_array().ok_or_else(|| "cargo metadata lists no packages".to_owned())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RULES_OF_TEST: &str = r#"
        [licenses]
        allow = ["MIT"]
        [sources]
        allow-registry = ["https://example.org/index"]
    "#;

    fn complaints(source: &Value, licence: &Value) -> Vec<String> {
        let package = json!({"name": "a", "version": "1.0.0", "source": source, "license": licence});
        let rules = Rules::parse(RULES_OF_TEST).unwrap();
        let findings = check_packages(&json!({"packages": [package]}), &rules).unwrap();
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn packages_come_from_where_and_under_what_is_allowed() {
        let known = json!("registry+https://example.org/index");
        assert_eq!(complaints(&known, &json!("MIT OR Apache-2.0")), [""; 0]);
        assert_eq!(complaints(&Value::Null, &Value::Null), [""; 0]);
        let copyleft = "a 1.0.0 is under `GPL-3.0-only`, which deny.toml does not allow";
        assert_eq!(complaints(&known, &json!("GPL-3.0-only")), [copyleft]);
        assert_eq!(complaints(&known, &Value::Null), ["a 1.0.0 is under ``, which deny.toml does not allow"]);
        let elsewhere = "a 1.0.0 comes from git+https://example.org/a, which deny.toml does not allow";
        assert_eq!(complaints(&json!("git+https://example.org/a"), &json!("MIT")), [elsewhere]);
    }

    #[test]
    fn rules_without_their_lists_are_refused() {
        assert_eq!(Rules::parse("").unwrap_err(), "deny.toml has no list `allow` in [licenses]");
    }

    #[test]
    fn what_is_linked_are_the_needs_of_a_run_without_macros() {
        let package = |name: &str, kind: &str| {
            let targets = json!([{"kind": [kind]}]);
            json!({"id": name, "name": name, "source": null, "targets": targets})
        };
        let need = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package(PACKAGE, "cdylib"), package("macro", "proc-macro"), package("test", "lib")],
            "resolve": {"nodes": [
                {"id": PACKAGE, "deps": [need("macro", Value::Null), need("test", json!("dev"))]},
                {"id": "macro", "deps": []},
                {"id": "test", "deps": []},
            ]},
        });
        assert!(linked(&metadata).unwrap().is_empty());
        let mut from_outside = metadata.clone();
        from_outside["packages"][0]["source"] = json!("registry+x");
        from_outside["packages"][0]["manifest_path"] = json!("nowhere/Cargo.toml");
        assert!(linked(&from_outside).unwrap_err().starts_with("the source of slantpath-py "));
    }

    #[test]
    fn a_text_that_several_carry_stands_once() {
        let of = |name: &str, text: &str| Linked {
            name: name.to_owned(),
            licence: "MIT".to_owned(),
            texts: vec![("LICENSE".to_owned(), tidied(text))],
        };
        let text =
            text_of(&[of("a 1.0.0", "same\r\n"), of("b 2.0.0", "\nsame  "), of("c 3.0.0", "other")]).unwrap();
        assert_eq!(text.matches("same").count(), 1);
        assert!(text.contains("\na 1.0.0: MIT\nb 2.0.0: MIT\nc 3.0.0: MIT\n"));
        assert!(text.contains("\na 1.0.0, b 2.0.0\n"));
    }
}
