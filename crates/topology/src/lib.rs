//! The topology file: satellites, sites and the questions about them, from text to a network and to its answer.
//!
//! [`Topology::load`] reads it and builds the network; [`follow`] works its contacts and paths out and gives
//! tables. It knows no packets: a scenario that has a sky reads its satellites and sites with [`check()`], and a
//! program that only asks where satellites stand needs nothing else.
//!
//! # Map
//!
//! - [`constellation`], [`ground`], [`cables`], [`outages`], [`paths`]: declarations and checks.
//! - [`mod@check`][]: completes what presets bring, and builds the network of `slantpath_orbit`.
//! - [`answer`][]: spreads sites and paths over threads; [`pass_store`] holds the passes of finished sites.
//! - [`tables`][]: makes the tables. The command prints and writes them. Python draws them (`sky_figures`, `sky_map`,
//!   `sky_dome`), called back from the command where pip installed it.
//!
//! A *topology* is this file, and in `slantpath_orbit` its answer. The nodes and links of a scenario are a *network*.
//! This crate imports no protocol and no simulator.

mod answer;
pub mod bounds;
mod cables;
mod check;
mod constellation;
mod files;
mod ground;
mod head;
mod look_angles;
mod outages;
mod pass_store;
mod paths;
pub mod schema;
mod tables;
mod values;
mod written;

use core::fmt;
use core::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use slantpath_orbit::ContactNetwork;
use slantpath_reader::{
    Diagnostic, Diagnostics, Document, Fault, FileKind, Files, LoadError, MergedOutput, Section, WriteFields,
    files_beside, finished, json_schema as json_schema_of, print_json, read_text,
};

pub use answer::{AnswerStage, FollowError, FollowedPath, TopologyOutput, follow, warning_lines};
pub use check::check;
pub use constellation::shown::numbers_of_presets;
pub use look_angles::LookAngleError;
pub use pass_store::PassStore;
pub use tables::{ANSWER_TABLES, AnswerColumn, AnswerTable};

use schema::TopologyFile;

/// A topology in which every value is in place and nothing contradicts, and the network that it makes.
#[derive(Clone)]
pub struct Topology {
    file: TopologyFile,
    network: ContactNetwork,
    warnings: Vec<Diagnostic>,
    /// Document of which it was made, so that another can be made of it.
    document: Document,
    files: Files,
}

impl Topology {
    /// Reads a file, lays the overrides `path=value` over it in turn, and checks the whole. Files that it names
    /// are looked for beside it.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, LoadError> {
        let text = read_text(path)?;
        let name = path.display().to_string();
        let files = files_beside(path);
        Self::parse(&name, &text, overrides, files).map_err(LoadError::Invalid)
    }

    /// Reads a string as [`Topology::load`] reads a file. `files` hands out the files that it names.
    pub fn parse(name: &str, text: &str, overrides: &[String], files: Files) -> Result<Self, Diagnostics> {
        Self::overridden(Document::parse(name, text), "--set", overrides, files)
    }

    /// This topology with overrides `path=value` laid over it, which faults call `name`.
    pub fn with(&self, name: &str, overrides: &[String]) -> Result<Self, Diagnostics> {
        Self::overridden(self.document.clone(), name, overrides, Arc::clone(&self.files))
    }

    fn overridden(
        mut document: Document,
        name: &str,
        overrides: &[String],
        files: Files,
    ) -> Result<Self, Diagnostics> {
        for assignment in overrides {
            document.set(name, assignment);
        }
        let (entries, mut faults) = document.clone().entries_of(FileKind::Topology)?;
        let root = written::TopologyFile::read_root(&entries, FileKind::Topology.words(), &mut faults);
        let checked = root.and_then(|(mut file, all_known)| {
            let network = check(&mut file, all_known, &files, &mut faults)?;
            Some((finished(file, "", &mut faults)?, network))
        });
        let warnings = faults.warnings();
        let (file, network) = faults.whole(checked)?;
        Ok(Self { file, network, warnings, document, files })
    }

    /// Gives what was read otherwise than it stands there, such as element sets that are left out.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Faults that others find in paths, by their names, as warnings at their places in the file.
    pub fn warnings_of_paths<'n>(
        &self,
        found: impl IntoIterator<Item = (&'n str, Fault)>,
    ) -> Vec<Diagnostic> {
        let Ok((_, mut faults)) = self.document.clone().entries() else { return Vec::new() };
        for (name, fault) in found {
            if let Some(path) = self.file.paths.find(name) {
                faults.warn(path.to.place(), fault);
            }
        }
        faults.warnings()
    }

    /// The satellites, sites and outages.
    pub fn network(&self) -> &ContactNetwork {
        &self.network
    }

    /// The merged topology as TOML: every value written out, with a comment where nobody wrote it, and in comments the
    /// numbers of presets that no key stands for.
    pub fn merged(&self) -> String {
        self.print(true) + &numbers_of_presets(&self.file.constellations, "constellations.")
    }

    /// The merged topology without comments: equal for equal topologies, and itself a topology.
    pub fn canonical(&self) -> String {
        self.print(false)
    }

    /// BLAKE3 of [`Topology::canonical`]: the name of its answer.
    pub fn hash(&self) -> String {
        hash_of(&self.file)
    }

    fn print(&self, with_origins: bool) -> String {
        print(&self.file, with_origins)
    }
}

/// BLAKE3 of a topology's merged form, which names its answer.
pub fn hash_of<S: slantpath_reader::Stage>(file: &TopologyFile<S>) -> String {
    blake3::hash(print(file, false).as_bytes()).to_hex().to_string()
}

/// JSON Schema (2020-12) of a topology file, made from the declarations that read it.
pub fn json_schema() -> String {
    print_json(&json_schema_of::<written::TopologyFile>("Slantpath topology"))
}

fn print<S: slantpath_reader::Stage>(file: &TopologyFile<S>, with_origins: bool) -> String {
    let mut output = MergedOutput::default();
    file.write_fields(&mut output);
    output.print(with_origins)
}

/// The tables of the file.
impl Deref for Topology {
    type Target = TopologyFile;

    fn deref(&self) -> &TopologyFile {
        &self.file
    }
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topology").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Topologies are equal when their merged forms are.
impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}
