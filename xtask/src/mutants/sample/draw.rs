//! Which sites are tried: lines of product code are drawn, each as likely as any other, and of the sites that begin on
//! a line each as likely as any other. Equal seeds draw equally.

use std::collections::{BTreeMap, BTreeSet};

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

use crate::rust_text;
use crate::tree::Tree;

use super::site::{self, Site};

/// The sites of some crates by the lines on which they begin.
#[derive(Debug, Default)]
pub(super) struct Field {
    /// Files with sites, and these.
    pub(super) files: Vec<(String, Vec<Site>)>,
    /// Each line of product code: its file, and the sites on it.
    lines: Vec<(usize, Vec<usize>)>,
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
        let file = self.files.len();
        for (number, line) in (1..).zip(rust_text::code_only(text).lines()) {
            if !line.trim().is_empty() && !tests.iter().any(|range| range.contains(&number)) {
                self.lines.push((file, on_line.remove(&number).unwrap_or_default()));
            }
        }
        self.files.push((path.to_owned(), sites));
    }

    /// Up to so many places in the order in which a seed draws them, none twice, and none that overlaps one that was
    /// drawn before.
    pub(super) fn draw(&self, seed: u64, wanted: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let sites: usize = self.files.iter().map(|(_, sites)| sites.len()).sum();
        if self.lines.is_empty() || sites == 0 {
            return places;
        }
        let mut random = Pcg64::new(u128::from(seed), 0x6d75_7461_6e74);
        // A field of few sites is exhausted before that.
        for _ in 0..200 * wanted {
            if places.len() == wanted {
                break;
            }
            let (file, on_line) = &self.lines[below(&mut random, self.lines.len())];
            if on_line.is_empty() {
                continue;
            }
            let place = Place { file: *file, site: on_line[below(&mut random, on_line.len())] };
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

fn below(random: &mut Pcg64, bound: usize) -> usize {
    let product = u128::from(random.next_u64()) * bound as u128;
    usize::try_from(product >> 64).unwrap_or_default()
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
