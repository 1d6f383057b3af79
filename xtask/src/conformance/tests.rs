//! The tests that an integration test holds, read from its source.

use std::collections::BTreeSet;

use crate::rust_text::code_only;
use crate::tree::Tree;

/// The paths of all tests of a target: those of `tests/TARGET.rs`, and those of `tests/TARGET/a/b.rs` as `a::b::name`.
pub(super) fn of_target(tree: &Tree, crate_directory: &str, target: &str) -> BTreeSet<String> {
    let root = format!("{crate_directory}/tests/{target}.rs");
    let modules = format!("{crate_directory}/tests/{target}/");
    let mut found = BTreeSet::new();
    for file in tree.of_kind("rs") {
        let prefix = if file.path == root {
            String::new()
        } else if let Some(module) = file.path.strip_prefix(&modules) {
            module.trim_end_matches(".rs").replace('/', "::") + "::"
        } else {
            continue;
        };
        found.extend(in_source(&file.text).into_iter().map(|name| prefix.clone() + &name));
    }
    found
}

/// The names of the functions under `#[test]`.
fn in_source(text: &str) -> Vec<String> {
    let code = code_only(text);
    let after_attribute = code.split("#[test]").skip(1);
    after_attribute
        .filter_map(|after| {
            let (_, rest) = after.split_once("fn ")?;
            rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().map(str::to_owned)
        })
        .collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn tests_are_found_by_module_and_name() {
        let tree = Tree::of(&[
            ("crates/a/tests/t.rs", "#[test]\nfn top() {}\n// #[test] fn no() {}\n"),
            (
                "crates/a/tests/t/x/y.rs",
                "#[test]\n#[should_panic]\nfn deep() {}\nfn plain() {}\n#[test]\nfn other() -> R {}\n",
            ),
            ("crates/a/tests/u.rs", "#[test]\nfn stranger() {}\n"),
        ]);
        let found: Vec<String> = of_target(&tree, "crates/a", "t").into_iter().collect();
        assert_eq!(found, ["top", "x::y::deep", "x::y::other"]);
    }
}
