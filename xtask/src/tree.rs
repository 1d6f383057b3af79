//! The checkout as the rules see it: every file that `.gitignore` lets through, read once.
//!
//! The tree is walked rather than asked from git, so that the checks work on an unpacked archive and on a
//! checkout that belongs to another user.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// A file of text.
#[derive(Clone, Debug)]
pub(crate) struct TextFile {
    /// Relative to the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Part of the name behind the last dot, or the whole name if it has none (`Makefile`).
    pub(crate) fn kind(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.rsplit('.').next().unwrap_or(name)
    }

    /// The lines, counted from 1.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// All files of the project.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) texts: Vec<TextFile>,
    /// Every file and directory, text or not; the root is the empty path.
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads what lies under `root`.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let ignored = Ignored::parse(&fs::read_to_string(root.join(".gitignore"))?);
        let mut tree = Self::default();
        tree.paths.insert(String::new());
        tree.read_directory(root, "", &ignored)?;
        tree.texts.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// A tree that a test writes down.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        tree.paths.insert(String::new());
        for (path, text) in files {
            tree.texts.push(TextFile { path: (*path).into(), text: (*text).into() });
            let mut prefix = *path;
            while let Some((parent, _)) = prefix.rsplit_once('/') {
                tree.paths.insert(parent.into());
                prefix = parent;
            }
            tree.paths.insert((*path).into());
        }
        tree
    }

    /// Tells if a file or directory of this path is part of the project.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&TextFile> {
        self.texts.iter().find(|file| file.path == path)
    }

    /// The files whose name ends in `.kind`.
    pub(crate) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a TextFile> {
        self.texts.iter().filter(move |file| file.kind() == kind)
    }

    fn read_directory(&mut self, root: &Path, directory: &str, ignored: &Ignored) -> io::Result<()> {
        for entry in fs::read_dir(root.join(directory))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            let is_directory = entry.file_type()?.is_dir();
            if name == ".git" || ignored.matches(&path, &name, is_directory) {
                continue;
            }
            self.paths.insert(path.clone());
            if is_directory {
                self.read_directory(root, &path, ignored)?;
            } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                self.texts.push(TextFile { path, text });
            }
        }
        Ok(())
    }
}

/// The forms of `.gitignore` that the project uses: `/path/`, `name/`, `*.suffix`, `name`.
#[derive(Debug)]
struct Ignored(Vec<String>);

impl Ignored {
    fn parse(text: &str) -> Self {
        Self(
            text.lines()
                .map(str::trim)
                .filter(|l| !l.is_empty() && !l.starts_with('#'))
                .map(Into::into)
                .collect(),
        )
    }

    fn matches(&self, path: &str, name: &str, is_directory: bool) -> bool {
        self.0.iter().any(|pattern| {
            let (pattern, wants_directory) = match pattern.strip_suffix('/') {
                Some(stem) => (stem, true),
                None => (pattern.as_str(), false),
            };
            let hit = match (pattern.strip_prefix('/'), pattern.strip_prefix('*')) {
                (Some(rooted), _) => path == rooted,
                (None, Some(suffix)) => name.ends_with(suffix),
                (None, None) => name == pattern,
            };
            hit && (is_directory || !wants_directory)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignore_patterns_match_what_git_would_ignore() {
        let ignored = Ignored::parse("/target/\n__pycache__/\n*.so\n# a remark\n/fuzz/Cargo.lock\n");
        assert!(ignored.matches("target", "target", true));
        assert!(ignored.matches("python/x/__pycache__", "__pycache__", true));
        assert!(ignored.matches("python/x/_native.so", "_native.so", false));
        assert!(ignored.matches("fuzz/Cargo.lock", "Cargo.lock", false));
        assert!(!ignored.matches("Cargo.lock", "Cargo.lock", false));
        assert!(!ignored.matches("crates/target", "target", true));
        assert!(!ignored.matches("target", "target", false));
    }

    #[test]
    fn the_kind_of_a_file_is_its_suffix_or_its_name() {
        let kind = |path: &str| TextFile { path: path.into(), text: String::new() }.kind().to_owned();
        assert_eq!(kind("crates/base/src/time.rs"), "rs");
        assert_eq!(kind("Makefile"), "Makefile");
        assert_eq!(kind(".ci/run"), "run");
    }
}
