//! Modules of a crate, and the files that the names in them are defined in.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Module, Path};

/// Steps from an alias to the next: more are a circle of re-exports, which the compiler refuses.
const MOST_STEPS: usize = 32;

/// A crate as its modules.
#[derive(Debug)]
pub(super) struct Crate {
    /// By the path from the root: the number of the file, and the names.
    modules: BTreeMap<Path, (usize, Module)>,
    /// Numbers of the files that are left out: the root's.
    roots: BTreeSet<usize>,
    files: usize,
}

impl Crate {
    /// Reads the files, each with its path below `src` and without suffix.
    pub(super) fn read(files: &[(&str, &str)]) -> Self {
        let mut read = Self { modules: BTreeMap::new(), roots: BTreeSet::new(), files: files.len() };
        for (number, (path, text)) in files.iter().enumerate() {
            let is_root = ["lib", "main"].contains(path);
            if is_root {
                read.roots.insert(number);
            }
            let path = if is_root { Path::new() } else { path.split('/').map(Into::into).collect() };
            // A crate that is a library and a program has two roots; names of the library count.
            if !is_root || *files[number].0 == *"lib" || !read.modules.contains_key(&path) {
                read.insert(path, number, Module::read(text));
            }
        }
        read
    }

    fn insert(&mut self, path: Path, file: usize, mut module: Module) {
        for (name, inner) in core::mem::take(&mut module.inline) {
            let inside = joined(&path, &name);
            module.children.insert(name);
            self.insert(inside, file, inner);
        }
        self.modules.insert(path, (file, module));
    }

    /// Numbers of the files that each file points at.
    pub(super) fn arrows(&self) -> Vec<Vec<usize>> {
        let mut arrows = vec![BTreeSet::new(); self.files];
        for (at, (file, module)) in &self.modules {
            if self.roots.contains(file) {
                continue;
            }
            let imported =
                module.imports.iter().filter(|import| !import.is_given_on && import.name.is_some());
            let paths = module.used.iter().chain(imported.map(|import| &import.path));
            for path in paths {
                if let Some(to) = self.home_of(at, path, 0)
                    && to != *file
                    && !self.roots.contains(&to)
                {
                    arrows[*file].insert(to);
                }
            }
        }
        arrows.into_iter().map(|each| each.into_iter().collect()).collect()
    }

    /// Finds the file that defines what a path names in a module, if that is in this crate.
    fn home_of(&self, at: &Path, path: &[String], steps: usize) -> Option<usize> {
        if steps > MOST_STEPS {
            return None;
        }
        let (first, rest) = path.split_first()?;
        match &**first {
            "crate" => return self.home_of_inner(&Path::new(), rest, steps + 1),
            "self" => return self.home_of_inner(at, rest, steps + 1),
            "super" => {
                let (_, above) = at.split_last()?;
                return self.home_of_super(&above.to_vec(), rest, steps + 1);
            }
            _ => {}
        }
        self.home_of_inner(at, path, steps)
    }

    fn home_of_super(&self, at: &Path, path: &[String], steps: usize) -> Option<usize> {
        if path.first().is_some_and(|first| first == "super") {
            return self.home_of(at, path, steps);
        }
        self.home_of_inner(at, path, steps)
    }

    /// Finds it for a path that begins with a name of the module.
    fn home_of_inner(&self, at: &Path, path: &[String], steps: usize) -> Option<usize> {
        if steps > MOST_STEPS {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (file, module) = self.modules.get(at)?;
        if module.items.contains(first) {
            return Some(*file);
        }
        if module.children.contains(first) {
            return self.home_of_inner(&joined(at, first), rest, steps + 1);
        }
        let named = module.imports.iter().find(|import| import.name.as_ref() == Some(first));
        if let Some(import) = named {
            let onwards: Path = import.path.iter().chain(rest).cloned().collect();
            // An import of the same name from elsewhere would lead back here.
            return (onwards.first() != Some(first) || onwards.len() != path.len())
                .then(|| self.home_of(at, &onwards, steps + 1))
                .flatten();
        }
        module.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
            let onwards: Path = import.path.iter().chain(path).cloned().collect();
            self.home_of(at, &onwards, steps + 1)
        })
    }
}

fn joined(path: &Path, name: &str) -> Path {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let all = Crate::read(files).arrows();
        let pairs = all.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to)));
        pairs.map(|(from, to)| (files[from].0.to_owned(), files[to].0.to_owned())).collect()
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let root = ("lib", "mod a; mod b;");
        for used in [
            "use crate::b::T; fn f(_: T) {}",
            "use super::b::T as U; fn f(_: U) {}",
            "use crate::b; fn f(_: b::T) {}",
            "use crate::b::{self}; fn f() { b::T::new(); }",
            "use crate::b::*; fn f(_: T) {}",
            "fn f() { crate::b::g(); }",
            "fn f() { vec![x.y, crate::b::T]; }",
            "mod inner { use super::super::b::T; fn f(_: T) {} }",
            "impl crate::b::Tell for u8 {}",
        ] {
            let b = ("b", "pub struct T; pub fn g() {} pub trait Tell {}");
            let expected = vec![("a".to_owned(), "b".to_owned())];
            assert_eq!(arrows(&[root, ("a", used), b]), expected, "{used}");
        }
    }

    #[test]
    fn re_exports_are_followed_and_are_no_use_themselves() {
        let files = [
            ("lib", "mod a; mod b; pub use b::T;"),
            ("a", "use crate::T; use crate::b::V; fn f(_: T, _: V) {}"),
            ("b", "mod c; pub(crate) use c::{T, U as V};"),
            ("b/c", "pub struct T; pub struct U;"),
        ];
        assert_eq!(arrows(&files), [("a".to_owned(), "b/c".to_owned())]);
    }

    #[test]
    fn tests_the_root_other_crates_and_own_names_count_nothing() {
        let files = [
            ("lib", "mod a; mod b; pub struct Root;"),
            (
                "a",
                "use std::fmt; use syn::b::T; use crate::Root; struct Own; \
                 fn f(_: Own, _: Root, _: fmt::Error, x: X) { x.T; } \
                 #[cfg(test)] mod tests { use crate::b::T; } #[cfg(test)] use crate::b::T;",
            ),
            ("b", "pub struct T;"),
        ];
        assert_eq!(arrows(&files), []);
    }
}
