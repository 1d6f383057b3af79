//! Draw of the sites that are tried: lines of product code, each as likely as any other, and of the sites that begin on
//! a line each as likely as any other. Equal seeds draw equally. The order is a hash of seed, file and text of each
//! line, so that a change elsewhere in the project moves no draw.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::rust_text;
use crate::tree::Tree;

use super::site::{self, Site};

/// The sites of some crates by the lines on which they begin.
#[derive(Debug, Default)]
pub(super) struct Field {
    /// Files with sites, and these.
    pub(super) files: Vec<(String, Vec<Site>)>,
    /// Each line of product code that has sites.
    lines: Vec<Line>,
}

/// A line with the sites that begin on it.
#[derive(Debug)]
struct Line {
    file: usize,
    text: String,
    /// Lines of this text before it in its file.
    before: usize,
    sites: Vec<usize>,
}

impl Line {
    /// The sites in the order in which a seed has them, with the rank of each among all of the field.
    fn ranked(&self, path: &str, seed: u64) -> impl Iterator<Item = ((usize, u64), Place)> {
        let hash = |site: Option<usize>| {
            let mut hasher = DefaultHasher::new();
            (seed, path, &self.text, self.before, site).hash(&mut hasher);
            hasher.finish()
        };
        let mut sites: Vec<(u64, usize)> =
            self.sites.iter().enumerate().map(|(at, &site)| (hash(Some(at)), site)).collect();
        sites.sort_unstable();
        let (rank, file) = (hash(None), self.file);
        sites.into_iter().enumerate().map(move |(round, (_, site))| ((round, rank), Place { file, site }))
    }
}

impl Field {
    /// Reads the product code of these crates.
    pub(super) fn read(tree: &Tree, crates: &[String]) -> Self {
        let is_source = |path: &str| {
            let mut parts = path.split('/');
            parts.next() == Some("crates")
                && parts.next().is_some_and(|name| crates.iter().any(|other| other == name))
                && parts.next() == Some("src")
                && parts.next() != Some("main.rs")
        };
        let sources: Vec<_> = tree.of_kind("rs").filter(|file| is_source(&file.path)).collect();
        let mut apart = BTreeSet::new();
        for file in &sources {
            let directory = match file.path.strip_suffix("/lib.rs") {
                Some(root) => root,
                None => file.path.trim_end_matches(".rs"),
            };
            apart
                .extend(site::test_modules(&file.text).into_iter().map(|name| format!("{directory}/{name}")));
        }
        let is_apart = |path: &str| {
            let module = path.trim_end_matches(".rs");
            apart.iter().any(|test| {
                module
                    .strip_prefix(test.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut field = Self::default();
        for file in sources.iter().filter(|file| !is_apart(&file.path)) {
            field.add(&file.path, &file.text);
        }
        field
    }

    fn add(&mut self, path: &str, text: &str) {
        let sites = site::sites(text);
        let mut on_line: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, site) in sites.iter().enumerate() {
            on_line.entry(site.line).or_default().push(index);
        }
        let tests = site::test_lines(text);
        let (file, mut seen) = (self.files.len(), BTreeMap::<&str, usize>::new());
        let code = rust_text::code_only(text);
        for (number, line) in (1..).zip(code.lines()) {
            let Some(sites) = on_line.remove(&number) else { continue };
            if tests.iter().any(|range| range.contains(&number)) {
                continue;
            }
            let line = line.trim();
            let before = seen.entry(line).or_default();
            self.lines.push(Line { file, text: line.to_owned(), before: *before, sites });
            *before += 1;
        }
        self.files.push((path.to_owned(), sites));
    }

    /// Up to so many places in the order in which a seed draws them, none twice, and none that overlaps one that was
    /// drawn before. A line's second site comes after the first ones of all lines.
    pub(super) fn draw(&self, seed: u64, wanted: usize) -> Vec<Place> {
        let mut ranked: Vec<_> =
            self.lines.iter().flat_map(|line| line.ranked(&self.files[line.file].0, seed)).collect();
        ranked.sort_unstable();
        let mut places: Vec<Place> = Vec::new();
        for (_, place) in ranked {
            if places.len() == wanted {
                break;
            }
            if places.iter().all(|other| !self.overlap(*other, place)) {
                places.push(place);
            }
        }
        places
    }

    pub(super) fn site(&self, place: Place) -> &Site {
        &self.files[place.file].1[place.site]
    }

    /// The name of a mutant, as cargo-mutants writes them.
    pub(super) fn name(&self, place: Place) -> String {
        let site = self.site(place);
        format!("{}:{}: {}", self.files[place.file].0, site.line, site.mutation)
    }

    pub(super) fn overlap(&self, one: Place, other: Place) -> bool {
        let (a, b) = (&self.site(one).range, &self.site(other).range);
        one.file == other.file && a.start <= b.end && b.start <= a.end
    }
}

/// One site of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) site: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field() -> Field {
        let functions = (0..90).map(|number| format!("fn f{number}() {{ g{number}(); }}\n"));
        let long = functions.collect::<Vec<_>>().concat();
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod probe;\nfn f() { g(); }\n// no code\n\n"),
            ("crates/a/src/probe.rs", "fn f() { g(); }\n"),
            ("crates/a/src/probe/deep.rs", "fn f() { g(); }\n"),
            ("crates/a/src/long.rs", &long),
            ("crates/b/src/lib.rs", "fn f() { g(); }\n"),
            ("crates/a/tests/t.rs", "fn f() { g(); }\n"),
        ]);
        Field::read(&tree, &["a".to_owned()])
    }

    #[test]
    fn product_code_of_the_named_crates_is_the_field() {
        let files: Vec<_> = field().files.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(files, ["crates/a/src/lib.rs", "crates/a/src/long.rs"]);
        // The attribute and the module it is on are of the tests; comments and blank lines are no code.
        assert_eq!(field().lines.len(), 91);
    }

    #[test]
    fn a_change_elsewhere_moves_no_draw() {
        let lines = |from: u32| (from..90).map(|number| format!("fn f{number}() {{ g{number}(); }}\n"));
        let drawn = |text: String| {
            let field = Field::read(&Tree::of(&[("crates/a/src/lib.rs", &text)]), &["a".to_owned()]);
            let text: Vec<&str> = text.lines().collect();
            let line = |place: Place| text[field.site(place).line - 1].to_owned();
            field.draw(1, 20).into_iter().map(line).collect::<Vec<_>>()
        };
        let (whole, less) = (drawn(lines(0).collect()), drawn(lines(3).collect()));
        let gone = |line: &String| lines(0).take(3).any(|other| other.trim_end() == line);
        let left: Vec<String> = whole.into_iter().filter(|line| !gone(line)).collect();
        assert_eq!(left[..], less[..left.len()]);
    }

    #[test]
    fn equal_seeds_draw_equally_and_others_differ() {
        let field = field();
        assert_eq!(field.draw(1, 20), field.draw(1, 20));
        assert_ne!(field.draw(1, 20), field.draw(2, 20));
        assert_eq!(field.draw(1, 20)[..5], field.draw(1, 5));
    }

    #[test]
    fn nothing_is_drawn_twice_and_nothing_within_another() {
        let field = field();
        let mut places = field.draw(7, 1000);
        assert!(places.len() > 91, "{}", places.len());
        for (at, one) in places.iter().enumerate() {
            assert!(places[..at].iter().all(|other| !field.overlap(*one, *other)));
        }
        places.sort_unstable();
        places.dedup();
        assert!(places.iter().any(|place| place.file == 0));
    }
}
