//! Names of types: one name is one type for whoever reads a crate that imports it.
//!
//! A name that is declared `pub` once is imported and written bare. A name that is declared several times is written
//! behind its module or its crate by every other crate (`mtp2::Link`, `sctp::Event`), and these two words belong to one
//! crate. A search for a name then finds its type, or tells which is meant.
//!
//! Structs, enums, traits, aliases and unions of `crates/*/src` count, those within a macro's call too. A crate and its
//! own tests write its own names as they like, and `pub use` gives a name on.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::finding::Finding;
use crate::tree::Tree;

const PREFIX: &str = "slantpath_";
const KINDS: &[&str] = &["enum", "struct", "trait", "type", "union"];

/// Crates that declare each name, as paths write them, each with the file.
type Declared<'a> = BTreeMap<String, BTreeSet<(String, &'a str)>>;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut declared = Declared::new();
    for file in tree.of_kind("rs") {
        if let Some(own) = crate_of(&file.path).filter(|_| is_product(&file.path))
            && let Ok(tokens) = file.text.parse()
        {
            declarations(tokens, &mut |name| {
                declared.entry(name).or_default().insert((own.clone(), &*file.path));
            });
        }
    }
    declared.retain(|_, places| places.len() > 1);
    let mut findings = Vec::new();
    let mut forms: BTreeMap<(String, String), Vec<Written>> = BTreeMap::new();
    for file in tree.of_kind("rs").filter(|file| file.text.contains(PREFIX)) {
        let Ok(parsed) = syn::parse_file(&file.text) else { continue };
        let mut reading = Reading {
            declared: &declared,
            own: crate_of(&file.path),
            modules: BTreeMap::new(),
            bare: Vec::new(),
            paths: Vec::new(),
        };
        reading.visit_file(&parsed);
        for (line, path) in reading.bare.drain(..) {
            findings.push(Finding::on_line(&file.path, line, told(&path, &declared)));
        }
        for (line, form, home) in reading.behind_modules() {
            forms.entry(form).or_default().push(Written { path: &file.path, line, home });
        }
    }
    for ((module, name), places) in &forms {
        let homes: BTreeSet<&str> = places.iter().map(|place| &*place.home).collect();
        if homes.len() > 1 {
            let homes = listed(homes);
            let message =
                format!("`{module}::{name}` is a type of {homes}: rename one, or write more of the path");
            findings.extend(places.iter().map(|place| Finding::on_line(place.path, place.line, &*message)));
        }
    }
    findings
}

/// A place where a name stands behind a module of another crate.
#[derive(Debug)]
struct Written<'a> {
    path: &'a str,
    line: usize,
    home: String,
}

/// The crate of a file, as paths write it.
fn crate_of(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    let name = match parts.next()? {
        "crates" => parts.next()?.replace('-', "_"),
        "fuzz" => format!("fuzz_{}", parts.next()?),
        other => other.to_owned(),
    };
    Some(format!("{PREFIX}{name}"))
}

fn is_product(path: &str) -> bool {
    let Some((_, inside)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) else {
        return false;
    };
    inside.split('/').all(|part| part != "tests" && part != "tests.rs")
}

/// Finds `pub`, a kind and a name, wherever they stand.
fn declarations(tokens: TokenStream, found: &mut impl FnMut(String)) {
    let mut before: [String; 2] = Default::default();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if before[0] == "pub" && KINDS.contains(&&*before[1]) {
                    found(word.clone());
                }
                if word != "unsafe" {
                    before = [core::mem::take(&mut before[1]), word];
                }
            }
            TokenTree::Group(group) => {
                before = Default::default();
                declarations(group.stream(), found);
            }
            TokenTree::Literal(_) | TokenTree::Punct(_) => before = Default::default(),
        }
    }
}

fn told(path: &[String], declared: &Declared<'_>) -> String {
    let (Some(name), Some(module)) = (path.last(), path.iter().rev().nth(1)) else { return String::new() };
    let module = module.strip_prefix(PREFIX).unwrap_or(module);
    let places: Vec<&(String, &str)> = declared.get(name).into_iter().flatten().collect();
    let homes = listed(places.iter().map(|(home, _)| &**home).collect());
    let count = places.len();
    format!(
        "`{name}` is the name of {count} public types, of {homes}: import its module and write `{module}::{name}`, \
         or rename all but one"
    )
}

fn listed(crates: BTreeSet<&str>) -> String {
    let mut names: Vec<&str> =
        crates.into_iter().map(|each| each.strip_prefix(PREFIX).unwrap_or(each)).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last.to_owned() } else { format!("{} and {last}", names.join(", ")) }
}

/// Names of other crates in one file.
#[derive(Debug)]
struct Reading<'a> {
    declared: &'a Declared<'a>,
    own: Option<String>,
    /// The crate of each module that is imported, by the name that it has here.
    modules: BTreeMap<String, String>,
    /// Imports of a name that is declared several times, with their lines.
    bare: Vec<(usize, Vec<String>)>,
    /// Paths of more than one word, with their lines.
    paths: Vec<(usize, Vec<String>)>,
}

impl Reading<'_> {
    fn import(&mut self, before: &mut Vec<String>, tree: &syn::UseTree, is_given_on: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(before, &path.tree, is_given_on);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|each| self.import(before, each, is_given_on));
            }
            syn::UseTree::Name(name) => self.leaf(before, &name.ident, &name.ident, is_given_on),
            syn::UseTree::Rename(renamed) => self.leaf(before, &renamed.ident, &renamed.rename, is_given_on),
            syn::UseTree::Glob(_) => {}
        }
    }

    fn leaf(&mut self, before: &[String], name: &syn::Ident, here: &syn::Ident, is_given_on: bool) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        let (Some(home), Some(last)) = (path.first(), path.last()) else { return };
        if !home.starts_with(PREFIX) || Some(home) == self.own.as_ref() {
            return;
        }
        let is_variant = path[path.len().saturating_sub(2)].starts_with(char::is_uppercase);
        let is_shared = path.len() > 1 && !is_variant && self.declared.contains_key(last);
        if is_shared && !is_given_on && here != "_" {
            self.bare.push((name.span().start().line, path));
        } else if !is_shared {
            let here = if here == "self" { last.clone() } else { here.to_string() };
            self.modules.insert(here, home.clone());
        }
    }

    /// Module and name of each path to a type whose name is declared several times, with its crate.
    fn behind_modules(&self) -> impl Iterator<Item = (usize, (String, String), String)> {
        self.paths.iter().filter_map(|(line, path)| {
            let at = path.iter().position(|each| self.declared.contains_key(each)).filter(|at| *at > 0)?;
            let first = &path[0];
            let home = self.modules.get(first).or_else(|| first.starts_with(PREFIX).then_some(first))?;
            // A crate that gives the name on is not the one that it is of.
            let is_own = self
                .declared
                .get(&path[at])
                .is_some_and(|places| places.iter().any(|(each, _)| each == home));
            let form = (path[at - 1].clone(), path[at].clone());
            is_own.then(|| (*line, form, home.clone()))
        })
    }
}

impl<'a> Visit<'a> for Reading<'_> {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let is_given_on = matches!(item.vis, syn::Visibility::Public(_));
        self.import(&mut Vec::new(), &item.tree, is_given_on);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.segments.len() > 1 {
            let line = path.span().start().line;
            let words = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.paths.push((line, words));
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SS7: (&str, &str) = ("crates/ss7/src/mtp2.rs", "pub struct Link; pub struct SignalUnit;");
    const SCENARIO: (&str, &str) =
        ("crates/scenario/src/link.rs", "section! { pub struct Link { delay: Time } }");

    fn messages(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[SS7, SCENARIO, (path, text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_that_two_crates_declare_is_not_imported_bare() {
        let expected = "crates/a/src/b.rs:1: `Link` is the name of 2 public types, of scenario and ss7: import its \
                        module and write `mtp2::Link`, or rename all but one";
        for import in [
            "use slantpath_ss7::mtp2::Link;",
            "use slantpath_ss7::{PointCode, mtp2::{Link, SignalUnit}};",
            "use slantpath_ss7::mtp2::Link as Mtp2Link;",
            "pub(crate) use slantpath_ss7::mtp2::Link;",
            "fn f() { use slantpath_ss7::mtp2::Link; }",
            "#[cfg(test)] mod tests { use slantpath_ss7::mtp2::Link; }",
        ] {
            assert_eq!(messages("crates/a/src/b.rs", import), [expected], "{import}");
        }
        assert_eq!(messages("benches/src/a.rs", "use slantpath_ss7::mtp2::Link;").len(), 1);
        assert_eq!(messages("crates/a/tests/b.rs", "use slantpath_ss7::mtp2::Link;").len(), 1);
        let of_crate = messages("crates/a/src/b.rs", "use slantpath_ss7::Link;");
        assert!(of_crate[0].contains("write `ss7::Link`"), "{of_crate:?}");
    }

    #[test]
    fn a_name_that_one_crate_declares_twice_is_not_imported_bare() {
        let twice = ("crates/ss7/src/mtp3.rs", "pub enum SignalUnit {}");
        let import = ("crates/a/src/b.rs", "use slantpath_ss7::mtp2::SignalUnit;");
        let findings = check(&Tree::of(&[SS7, twice, import]));
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].message.starts_with("`SignalUnit` is the name of 2 public types, of ss7:"),
            "{findings:?}"
        );
    }

    #[test]
    fn a_name_behind_its_module_or_its_crate_passes() {
        for text in [
            "use slantpath_ss7::mtp2; fn f(_: mtp2::Link) {}",
            "use slantpath_ss7::mtp2::{self, SignalUnit}; fn f(_: mtp2::Link) {}",
            "use slantpath_ss7 as ss7; fn f(_: ss7::Link) {}",
            "fn f(_: slantpath_ss7::mtp2::Link) {}",
            "use slantpath_ss7::mtp2::SignalUnit;",
            "use other::mtp2::Link;",
            "use crate::mtp2::Link;",
            "use slantpath_ss7::mtp2::Link as _;",
            "pub use slantpath_ss7::mtp2::Link;",
            "use slantpath_ss7::mtp2::Part::Link;",
        ] {
            assert_eq!(messages("crates/a/src/b.rs", text), [""; 0], "{text}");
        }
        assert_eq!(messages("crates/ss7/tests/b.rs", "use slantpath_ss7::mtp2::Link;"), [""; 0]);
        assert_eq!(messages("fuzz/bodies/tests/b.rs", "use slantpath_fuzz_bodies::Link;"), [""; 0]);
        assert_eq!(messages("benches/examples/b.rs", "use slantpath_benches::Link;"), [""; 0]);
    }

    #[test]
    fn what_no_other_crate_declares_for_all_is_no_brother() {
        for text in [
            "struct SignalUnit;",
            "pub(crate) enum SignalUnit {}",
            "pub fn signal_unit() {} impl A for B { type SignalUnit = C; }",
            "macro_rules! a { ($A:ident) => { pub struct $A; } } a!(SignalUnit);",
        ] {
            let files = [
                SS7,
                ("crates/a/src/lib.rs", text),
                ("crates/b/src/lib.rs", "use slantpath_ss7::SignalUnit;"),
            ];
            assert_eq!(check(&Tree::of(&files)), [], "{text}");
        }
        for (path, text) in [
            ("crates/a/tests/b.rs", "pub struct SignalUnit;"),
            ("crates/a/src/tests/b.rs", "pub struct SignalUnit;"),
            ("benches/src/b.rs", "pub struct SignalUnit;"),
        ] {
            let files = [SS7, (path, text), ("crates/b/src/lib.rs", "use slantpath_ss7::SignalUnit;")];
            assert_eq!(check(&Tree::of(&files)), [], "{path}");
        }
        for text in [
            "pub unsafe trait SignalUnit {}",
            "pub type SignalUnit = u8;",
            "m!(x { pub enum SignalUnit {} });",
        ] {
            let files = [
                SS7,
                ("crates/a/src/lib.rs", text),
                ("crates/b/src/lib.rs", "use slantpath_ss7::SignalUnit;"),
            ];
            assert_eq!(check(&Tree::of(&files)).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_module_and_a_name_are_of_one_crate() {
        let ours = ("crates/a/src/lib.rs", "use slantpath_ss7::link; fn f(_: link::Link) {}");
        let theirs = ("crates/b/src/lib.rs", "fn f(_: slantpath_scenario::link::Link) {}");
        let findings = check(&Tree::of(&[SS7, SCENARIO, ours, theirs]));
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        let message = "`link::Link` is a type of scenario and ss7: rename one, or write more of the path";
        assert_eq!(
            told,
            [format!("crates/a/src/lib.rs:1: {message}"), format!("crates/b/src/lib.rs:1: {message}")]
        );
        // A crate that gives the module on is no third one.
        let given_on = ("crates/b/src/lib.rs", "fn f(_: slantpath_runner::link::Link) {}");
        assert_eq!(check(&Tree::of(&[SS7, SCENARIO, ours, given_on])), []);
    }
}
