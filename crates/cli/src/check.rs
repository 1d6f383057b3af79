//! Command `slantpath check`: what is wrong in a file and what is probably a mistake, without a run.

use std::io::Write;
use std::path::Path;

use serde_json::{Value as Json, json};
use slantpath_plan::Question;
use slantpath_runner::{
    Diagnostic, Document, FileKind, LoadError, OwnKinds, Scenario, Sweep, read_text, topology_remarks,
};
use slantpath_topology::Topology;

use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::progress::ContactsBar;

pub(crate) fn main(arguments: &CheckArguments, own: &OwnKinds, out: &mut impl Write) -> Result<(), Failure> {
    let path = &arguments.file;
    let name = path.display().to_string();
    let kind = kind_of(&name, &read_text(path)?);
    let found = warnings(kind, path, &arguments.set, own);
    if arguments.json {
        let errors: Vec<Json> = match &found {
            Err(LoadError::Invalid(errors)) => errors.iter().map(told).collect(),
            _ => Vec::new(),
        };
        let warnings: Vec<Json> = found.iter().flatten().map(told).collect();
        let report = json!({ "file": name, "kind": kind.command(), "errors": errors, "warnings": warnings });
        writeln!(out, "{report:#}")?;
    }
    let warnings = found?;
    if !arguments.json {
        for warning in &warnings {
            writeln!(out, "warning: {warning}")?;
        }
        let count = match warnings.len() {
            0 => "no warnings".to_owned(),
            1 => "1 warning".to_owned(),
            count => format!("{count} warnings"),
        };
        writeln!(out, "{name}: {}, no errors, {count}", kind.words())?;
    }
    Ok(())
}

/// Kind of a file. What no table tells is read as a scenario, which says what it lacks.
fn kind_of(name: &str, text: &str) -> FileKind {
    let read = Document::parse(name, text).entries().ok();
    read.and_then(|(entries, _)| FileKind::of(&entries)).unwrap_or(FileKind::Scenario)
}

/// Reads a file as the command does that takes it, and gives all that it warns of.
fn warnings(
    kind: FileKind,
    path: &Path,
    set: &[String],
    own: &OwnKinds,
) -> Result<Vec<Diagnostic>, LoadError> {
    let bar = ContactsBar::default();
    Ok(match kind {
        FileKind::Scenario => {
            let scenario = Scenario::load_observed(path, set, own, &|progress| bar.update(progress))?;
            [scenario.warnings(), &scenario.remarks()].concat()
        }
        FileKind::Sweep => {
            let sweep = Sweep::load_observed(path, set, own, &|progress| bar.update(progress))?;
            [sweep.warnings(), &sweep.base().remarks()].concat()
        }
        FileKind::Topology => {
            let topology = Topology::load(path, set)?;
            [topology.warnings(), &topology_remarks(&topology)].concat()
        }
        FileKind::Plan => {
            let name = path.display().to_string();
            let read = Question::read(&name, &read_text(path)?, set);
            read.map(|(_, warnings)| warnings).map_err(LoadError::Invalid)?
        }
    })
}

/// A fault or a warning with its place, for programs.
fn told(diagnostic: &Diagnostic) -> Json {
    json!({
        "file": diagnostic.source.name,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}
