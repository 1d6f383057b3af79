//! `crates/*/mutants.toml`: mutants that no test can tell from the code, each with the reason.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::tree::Tree;

use super::ledger::Result as Outcome;

/// One entry. Lines move, so that it names none; of two mutants with the same words each needs an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Equivalent {
    file: String,
    mutation: String,
}

/// The list of one crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Equivalents {
    path: String,
    entries: Vec<Equivalent>,
}

/// A mutant that survived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Survivor {
    file: String,
    line: usize,
    mutation: String,
}

impl Survivor {
    /// Reads `crates/cc/src/rtt.rs:173:11: replace > with >= in approach`.
    fn parse(name: &str) -> Option<Self> {
        let (place, mutation) = name.split_once(": ")?;
        let mut place = place.split(':');
        let (file, line) = (place.next()?, place.next()?.parse().ok()?);
        Some(Self { file: file.to_owned(), line, mutation: mutation.to_owned() })
    }
}

impl Equivalents {
    /// Reads the list of a crate, which may have none.
    pub(crate) fn read(tree: &Tree, name: &str) -> Result<Self, String> {
        let path = format!("crates/{name}/mutants.toml");
        let text = tree.texts.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
        Self::parse(path, text)
    }

    fn parse(path: String, text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{path}: {error}"))?;
        let directory = path.trim_end_matches("mutants.toml").to_owned();
        let mut entries = Vec::new();
        for entry in table.get("equivalent").and_then(toml::Value::as_array).into_iter().flatten() {
            let text_of = |key: &str| {
                let text = entry.get(key).and_then(toml::Value::as_str).filter(|text| !text.is_empty());
                text.ok_or_else(|| format!("{path}: an entry has no {key}"))
            };
            text_of("why")?;
            let file = format!("{directory}{}", text_of("file")?);
            entries.push(Equivalent { file, mutation: text_of("mutation")?.to_owned() });
        }
        Ok(Self { path, entries })
    }

    /// Gives the survivors, and a finding for each survivor that is not listed.
    pub(crate) fn judge(&self, results: &BTreeMap<String, Outcome>) -> (Vec<Finding>, Vec<Survivor>) {
        let survivors = with_results(results, &[Outcome::Survived]);
        let mut left = self.entries.clone();
        let mut findings = Vec::new();
        for survivor in &survivors {
            if let Some(at) = left.iter().position(|entry| entry.is_of(survivor)) {
                left.swap_remove(at);
            } else {
                let advice = format!("test it, or say in {} why it is equivalent", self.path);
                let message = format!("no test notices \"{}\": {advice}", survivor.mutation);
                findings.push(Finding::on_line(&survivor.file, survivor.line, message));
            }
        }
        (findings, survivors)
    }

    /// A finding for each entry that nothing needs of what a whole crate's mutants have come to. What took too long may
    /// have had too little time, and is no reason to strike its entry.
    pub(crate) fn stale(&self, results: &BTreeMap<String, Outcome>) -> Vec<Finding> {
        let mut left = with_results(results, &[Outcome::Survived, Outcome::TimedOut]);
        let mut findings = Vec::new();
        for entry in &self.entries {
            if let Some(at) = left.iter().position(|survivor| entry.is_of(survivor)) {
                left.swap_remove(at);
            } else {
                let message = format!("{}: \"{}\" does not survive: strike it", entry.file, entry.mutation);
                findings.push(Finding::on_file(&self.path, message));
            }
        }
        findings
    }
}

/// The mutants that have come to one of these.
fn with_results(results: &BTreeMap<String, Outcome>, these: &[Outcome]) -> Vec<Survivor> {
    let names = results.iter().filter(|(_, result)| these.contains(result));
    names.filter_map(|(name, _)| Survivor::parse(name)).collect()
}

impl Equivalent {
    fn is_of(&self, survivor: &Survivor) -> bool {
        self.file == survivor.file && self.mutation == survivor.mutation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[equivalent]]
        file = "src/rtt.rs"
        mutation = "replace > with >= in approach"
        why = "the step is zero"
    "#;

    fn list() -> Equivalents {
        Equivalents::parse("crates/cc/mutants.toml".into(), LIST).unwrap()
    }

    fn survived(names: &[&str]) -> BTreeMap<String, Outcome> {
        names.iter().map(|&name| (name.to_owned(), Outcome::Survived)).collect()
    }

    #[test]
    fn an_entry_excuses_one_survivor_wherever_its_line_is() {
        let results = survived(&[
            "crates/cc/src/rtt.rs:173:11: replace > with >= in approach",
            "crates/cc/src/rtt.rs:180:9: replace > with >= in approach",
        ]);
        let (findings, survivors) = list().judge(&results);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [180]);
        assert_eq!((survivors.len(), list().stale(&results).len()), (2, 0));
    }

    #[test]
    fn what_is_caught_or_cannot_be_built_is_no_survivor_and_needs_no_entry() {
        let name = "crates/cc/src/rtt.rs:173:11: replace > with >= in approach".to_owned();
        for result in [Outcome::Caught, Outcome::Unviable] {
            let results = BTreeMap::from([(name.clone(), result)]);
            let (findings, survivors) = list().judge(&results);
            assert_eq!((findings.len(), survivors.len()), (0, 0));
            assert_eq!(list().stale(&results).len(), 1);
        }
    }

    #[test]
    fn what_took_too_long_is_no_survivor_and_keeps_its_entry() {
        let name = "crates/cc/src/rtt.rs:173:11: replace > with >= in approach".to_owned();
        let results = BTreeMap::from([(name, Outcome::TimedOut)]);
        let (findings, survivors) = list().judge(&results);
        assert_eq!((findings.len(), survivors.len(), list().stale(&results).len()), (0, 0, 0));
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let without = LIST.replace("why", "because");
        assert!(Equivalents::parse("crates/cc/mutants.toml".into(), &without).is_err());
    }
}
