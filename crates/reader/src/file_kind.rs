//! Kinds of the files that commands read. Each is told by tables that no other kind has, so that a file in the place
//! of another is named as what it is, and not by each of its keys.

use crate::diagnostic::{Fault, Faults, Place};
use crate::document::Entries;

/// Kind of a file, with the command that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Scenario, which is run.
    Scenario,
    /// Sweep, a grid of scenarios.
    Sweep,
    /// Topology, which is asked for paths.
    Topology,
    /// Question of the planner.
    Plan,
}

impl FileKind {
    /// All kinds, of which the first that a file may be is the one that it is.
    pub const ALL: [Self; 4] = [Self::Scenario, Self::Sweep, Self::Topology, Self::Plan];

    /// Name of the kind, with its article.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Scenario => "a scenario",
            Self::Sweep => "a sweep",
            Self::Topology => "a topology",
            Self::Plan => "a plan",
        }
    }

    /// Name of the command that reads it. Python's function has the same.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Scenario => "run",
            Self::Sweep => "sweep",
            Self::Topology => "topology",
            Self::Plan => "plan",
        }
    }

    /// Tables that only files of this kind have.
    const fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Scenario => &["scenario", "nodes", "flows"],
            Self::Sweep => &["sweep", "axis"],
            Self::Topology => &["topology", "constellations", "sites"],
            Self::Plan => &["path", "band"],
        }
    }

    /// Kind of a file, if one of its tables tells it.
    pub fn of(entries: &Entries) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.told_by(entries).is_some())
    }

    /// Place of the table that tells this kind. Overrides make tables, too, and tell nothing.
    fn told_by(self, entries: &Entries) -> Option<Place> {
        let told = self.tables().iter().filter_map(|table| entries.get(*table));
        told.map(|entry| entry.key).find(|key| key.source == 0)
    }

    /// Cure where a file of this kind, by this name, stands in the place of another.
    pub fn taken_by(self, name: &str) -> String {
        format!("`slantpath {} {name}` takes it", self.command())
    }

    /// Reports a file that is of another kind, and tells if it is. One that may be either is left to its keys.
    pub(crate) fn refuse_other(self, entries: &Entries, faults: &mut Faults) -> bool {
        if self.told_by(entries).is_some() {
            return false;
        }
        let mut others = Self::ALL.into_iter().filter(|other| *other != self);
        let Some((other, place)) = others.find_map(|other| Some((other, other.told_by(entries)?))) else {
            return false;
        };
        let fault = Fault::new(format!("this is {}, not {}", other.words(), self.words()));
        let help = other.taken_by(&faults.source(0).name);
        faults.report(place, fault.help(help));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    /// A file of each kind, as short as it tells it.
    const FILES: [(FileKind, &str); 8] = [
        (FileKind::Scenario, "[scenario]\nname = \"x\"\n[signalling]\n"),
        (FileKind::Scenario, "[flows.x]\n"),
        (FileKind::Sweep, "[sweep]\nscenario = \"x.toml\"\n"),
        (FileKind::Sweep, "[[axis]]\n\"a.b\" = [1]\n"),
        (FileKind::Topology, "[topology]\nname = \"x\"\n[paths.x]\n"),
        (FileKind::Topology, "[sites.london]\n"),
        (FileKind::Plan, "[path]\nloss = 0.1\n[signalling]\n"),
        (FileKind::Plan, "[band]\n"),
    ];

    #[test]
    fn a_file_of_another_kind_has_one_fault_that_names_its_command() {
        for (kind, text) in FILES {
            for wanted in FileKind::ALL {
                let mut document = Document::parse("x.toml", text);
                // What is laid over a file does not make it another.
                document.set("--set", "scenario.seed=1");
                let read = document.entries_of(wanted);
                if wanted == kind {
                    assert!(read.is_ok(), "{text}");
                    continue;
                }
                let faults = read.unwrap_err().to_string();
                let (is, not, command) = (kind.words(), wanted.words(), kind.command());
                let told = format!(
                    "x.toml:1:{}: this is {is}, not {not}\n  help: `slantpath {command} x.toml` takes it",
                    if text.starts_with("[[") { 3 } else { 2 },
                );
                assert_eq!(faults, told);
            }
        }
    }

    #[test]
    fn a_file_that_may_be_either_or_neither_is_left_to_its_keys() {
        for text in ["", "[signalling]\n", "[limits]\n", "[paths.x]\n"] {
            let (entries, _) = Document::parse("x.toml", text).entries().unwrap();
            assert_eq!(FileKind::of(&entries), None);
            assert!(
                FileKind::ALL.iter().all(|kind| Document::parse("x.toml", text).entries_of(*kind).is_ok())
            );
        }
        let both = "[scenario]\n[sweep]\n";
        assert!(Document::parse("x.toml", both).entries_of(FileKind::Scenario).is_ok());
        assert!(Document::parse("x.toml", both).entries_of(FileKind::Sweep).is_ok());
        assert!(Document::parse("x.toml", both).entries_of(FileKind::Plan).is_err());
    }
}
