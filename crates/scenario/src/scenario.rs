//! A checked scenario: from text to values, and back to its merged form.

use std::io;
use std::path::{Path, PathBuf};

use core::ops::Deref;

use slantpath_base::{DataSize, Duration};

use crate::check::{self, Traces};
use crate::diagnostic::{Diagnostics, Faults};
use crate::document::{self, Entries};
use crate::schema::File;
use crate::section::{Output, Section};

/// A scenario in which every value is in place and nothing contradicts.
#[derive(Clone, Debug)]
pub struct Scenario {
    file: File,
    traces: Traces,
}

/// Why there is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is wrong.
    #[error("{0}")]
    Invalid(Diagnostics),
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Scenario {
    /// Reads a file, lays the overrides `path=value` over it in turn, and checks the whole.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, LoadError> {
        let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        let files = move |name: &str| std::fs::read_to_string(directory.join(name));
        let name = path.display().to_string();
        Self::parse(&name, &text, overrides, &files).map_err(LoadError::Invalid)
    }

    /// Reads a text as [`Scenario::load`] reads a file. `files` hands out the traces that it names.
    pub fn parse(
        name: &str,
        text: &str,
        overrides: &[String],
        files: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Self, Diagnostics> {
        let mut faults = Faults::default();
        let mut tree = document::parse(name, text, &mut faults);
        for assignment in overrides {
            document::set(&mut tree, "--set", assignment, &mut faults);
        }
        Self::from_tree(&tree, faults, files)
    }

    pub(crate) fn from_tree(
        tree: &Entries,
        mut faults: Faults,
        files: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Self, Diagnostics> {
        if !faults.is_empty() {
            // What was recovered from broken TOML says nothing about what was meant.
            faults.into_result()?;
            unreachable!("there are faults");
        }
        let root = File::read_root(tree, &mut faults);
        let checked = root.map(|(mut file, all_known)| {
            let traces = check::check(&mut file, all_known, files, &mut faults);
            Self { file, traces }
        });
        faults.into_result()?;
        Ok(checked.expect("a file without fault is whole"))
    }

    /// The merged scenario as TOML: every value written out, with a comment where nobody wrote it.
    pub fn merged(&self) -> String {
        self.print(true)
    }

    /// The merged scenario without comments: equal for equal scenarios, and itself a scenario.
    pub fn canonical(&self) -> String {
        self.print(false)
    }

    /// BLAKE3 of [`Scenario::canonical`]: the name of a run, together with its number.
    pub fn hash(&self) -> String {
        blake3::hash(self.canonical().as_bytes()).to_hex().to_string()
    }

    /// The messages of a trace that a flow names: offset from the flow's start, and size.
    ///
    /// # Panics
    /// If no flow names it.
    pub fn trace(&self, name: &str) -> &[(Duration, DataSize)] {
        &self.traces[name]
    }

    fn print(&self, with_origins: bool) -> String {
        let mut output = Output::default();
        self.file.write_fields(&mut output);
        output.print(with_origins)
    }
}

/// The tables of the file.
impl Deref for Scenario {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}
