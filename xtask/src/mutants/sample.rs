//! `cargo xtask mutants --sample`: a random sample of quiet slips in the product code of some crates.
//!
//! All are built into one copy of the project, each behind a number that the environment turns on. The tests run once
//! as they are, to learn which of them pass which slip; then each slip meets those of its own crate, and what survives
//! them those of the crates above. What is decided is kept, so that a run that was ended goes on where it was.

mod draw;
mod programs;
mod site;
mod switched;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::finding::Finding;
use crate::tree::Tree;

use super::equivalent::Equivalents;
use super::ledger::Result as Outcome;
use draw::{Field, Place};
use programs::{Fault, Program, Verdict};
use switched::Copy;

/// So many of a hundred mutants that were decided are to be noticed, those listed as equivalent left out.
const NOTICED_PERCENT_MIN: usize = 90;

/// Crates that are never sampled: whole runs have the first three; Python's tests hold the next, which cargo does not
/// run; the last two are for tests.
const NEVER: &[&str] = &["cc", "sctp", "tcp", "py", "testkit", "effects"];

/// Stands for every crate that is sampled.
const OTHERS: &str = "others";

/// A sample that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Mutants for each seed.
    pub(super) size: usize,
    pub(super) seeds: Vec<u64>,
}

/// One mutant that compiles.
#[derive(Clone, Debug)]
struct Mutant {
    number: u32,
    place: Place,
    name: String,
    /// The crate that it is in.
    owner: String,
}

/// Tries a sample and says what nobody notices.
pub(super) fn run(tree: &Tree, sample: &Sample, crates: &[String]) -> Result<Vec<Finding>, String> {
    let crates = crates_of(tree, crates)?;
    let field = Field::read(tree, &crates);
    let root = super::root().join("sample");
    let copy = Copy::make(&crate::project_root(), &root.join("tree"), &field, &crates)?;
    let (draws, programs) = built(&copy, &root, &field, sample, &crates)?;
    let mutants = numbered(&field, &draws);
    let ledger = Ledger::open(&root, tree, &mutants);
    let programs = if mutants.iter().all(|mutant| ledger.result(&mutant.name).is_some()) {
        programs
    } else {
        learned(programs, &root)?
    };
    try_all(&mutants, &programs, &ledger, &root)?;
    report(tree, &crates, &field, &draws, &ledger)
}

fn crates_of(tree: &Tree, names: &[String]) -> Result<Vec<String>, String> {
    let there = |name: &str| tree.contains(&format!("crates/{name}/src"));
    let mut crates = BTreeSet::new();
    for name in names {
        if name == OTHERS {
            let all = tree.of_kind("toml").filter_map(|file| {
                let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
                (!NEVER.contains(&name)).then(|| name.to_owned())
            });
            crates.extend(all);
        } else if there(name) {
            crates.insert(name.clone());
        } else {
            return Err(format!("there is no crate {name} below crates/"));
        }
    }
    Ok(crates.into_iter().collect())
}

/// Builds what the seeds draw. What does not compile is left out, and the next that was drawn takes its place.
fn built(
    copy: &Copy,
    root: &Path,
    field: &Field,
    sample: &Sample,
    crates: &[String],
) -> Result<(Vec<Vec<Place>>, Vec<Program>), String> {
    let project = crate::project_root();
    let known = root.join("unviable");
    let mut unviable: BTreeSet<String> =
        fs::read_to_string(&known).unwrap_or_default().lines().map(str::to_owned).collect();
    loop {
        let draws: Vec<Vec<Place>> = sample
            .seeds
            .iter()
            .map(|seed| {
                let drawn = field.draw(*seed, 4 * sample.size + 40).into_iter();
                drawn.filter(|place| !unviable.contains(&field.name(*place))).take(sample.size).collect()
            })
            .collect();
        let mutants: Vec<(u32, Place)> =
            numbered(field, &draws).iter().map(|mutant| (mutant.number, mutant.place)).collect();
        copy.switch(&project, field, &mutants, crates)?;
        eprintln!("building {} mutants", mutants.len());
        match programs::build(copy.root(), &root.join("build"), field, &mutants) {
            Ok(programs) => return Ok((draws, programs)),
            Err(Fault::Other(said)) => return Err(said),
            Err(Fault::Places(places)) => {
                for place in places {
                    eprintln!("does not compile: {}", field.name(place));
                    unviable.insert(field.name(place));
                }
                let names: Vec<&str> = unviable.iter().map(String::as_str).chain([""]).collect();
                let text = names.join("\n");
                fs::write(&known, text).map_err(|error| format!("{}: {error}", known.display()))?;
            }
        }
    }
}

/// The places of all draws, each once. Of two that overlap, drawn by two seeds, the second one stays out.
fn numbered(field: &Field, draws: &[Vec<Place>]) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for place in draws.iter().flatten() {
        if mutants.iter().any(|other| field.overlap(other.place, *place)) {
            continue;
        }
        let name = field.name(*place);
        let owner = name.split('/').nth(1).unwrap_or_default().to_owned();
        let number = u32::try_from(mutants.len()).unwrap_or(u32::MAX);
        mutants.push(Mutant { number, place: *place, name, owner });
    }
    mutants
}

fn learned(mut programs: Vec<Program>, root: &Path) -> Result<Vec<Program>, String> {
    let count = programs.len();
    for (number, program) in (1..).zip(&mut programs) {
        eprintln!("tests as they are: {} ({number} of {count})", program.owner);
        program.learn(&root.join("reached"))?;
    }
    Ok(programs)
}

/// Decides all mutants that are not decided yet, several at a time.
fn try_all(mutants: &[Mutant], programs: &[Program], ledger: &Ledger, root: &Path) -> Result<(), String> {
    let open: Vec<&Mutant> = mutants.iter().filter(|mutant| ledger.result(&mutant.name).is_none()).collect();
    let next = Mutex::new(open.iter().enumerate());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .map(|worker| {
                let (next, open) = (&next, &open);
                scope.spawn(move || -> Result<(), String> {
                    let log = root.join(format!("worker-{worker}.log"));
                    loop {
                        let taken = next.lock().map_err(|_| "another worker failed".to_owned())?.next();
                        let Some((index, mutant)) = taken else { return Ok(()) };
                        let outcome = decide(mutant, programs, &log)?;
                        eprintln!("{} of {}: {outcome:?}: {}", index + 1, open.len(), mutant.name);
                        ledger.keep(&mutant.name, outcome)?;
                    }
                })
            })
            .collect();
        running.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker failed".to_owned())?)
    })
}

/// Runs the tests of a mutant's own crate, then those of others, until one notices it.
fn decide(mutant: &Mutant, programs: &[Program], log: &Path) -> Result<Outcome, String> {
    let (own, others): (Vec<&Program>, Vec<&Program>) = programs
        .iter()
        .filter(|program| program.reaches(mutant.number))
        .partition(|program| program.owner == mutant.owner);
    let mut outcome = Outcome::Survived;
    for program in own.into_iter().chain(others) {
        match program.judge(mutant.number, log)? {
            Verdict::Noticed => return Ok(Outcome::Caught),
            // A time-out is no failure; another program may tell.
            Verdict::Undecided => outcome = Outcome::TimedOut,
            Verdict::Unnoticed => {}
        }
    }
    Ok(outcome)
}

fn report(
    tree: &Tree,
    crates: &[String],
    field: &Field,
    draws: &[Vec<Place>],
    ledger: &Ledger,
) -> Result<Vec<Finding>, String> {
    let (mut findings, mut listed) = (Vec::new(), BTreeSet::new());
    for name in crates {
        let prefix = format!("crates/{name}/");
        let results: BTreeMap<String, Outcome> =
            ledger.results().into_iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
        let unlisted = Equivalents::read(tree, name)?.judge(&results).0;
        let is_unlisted = |survivor: &str| {
            unlisted
                .iter()
                .any(|finding| survivor.starts_with(&format!("{}:{}:", finding.path, finding.line)))
        };
        let survivors = results.iter().filter(|(_, outcome)| **outcome == Outcome::Survived);
        listed.extend(survivors.filter(|(name, _)| !is_unlisted(name)).map(|(name, _)| name.clone()));
        findings.extend(unlisted);
    }
    let drawn = draws.iter().flatten().map(|place| field.name(*place));
    let tally = Tally::of(drawn, &ledger.results(), &listed);
    println!("{tally}");
    if tally.is_enough() { Ok(Vec::new()) } else { Ok(findings) }
}

/// Number of mutants of a sample by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    noticed: usize,
    unnoticed: usize,
    undecided: usize,
    equivalent: usize,
}

impl Tally {
    fn of(
        names: impl Iterator<Item = String>,
        results: &BTreeMap<String, Outcome>,
        listed: &BTreeSet<String>,
    ) -> Self {
        let mut tally = Self::default();
        for name in names {
            match results.get(&name) {
                Some(Outcome::Caught) => tally.noticed += 1,
                Some(Outcome::Survived) if listed.contains(&name) => tally.equivalent += 1,
                Some(Outcome::Survived) => tally.unnoticed += 1,
                // One that overlaps another seed's stays out like one that took too long.
                Some(Outcome::TimedOut | Outcome::Unviable) | None => tally.undecided += 1,
            }
        }
        tally
    }

    fn is_enough(self) -> bool {
        self.noticed * 100 >= NOTICED_PERCENT_MIN * (self.noticed + self.unnoticed + self.undecided)
    }
}

impl core::fmt::Display for Tally {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { noticed, unnoticed, undecided, equivalent } = self;
        let drawn = noticed + unnoticed + undecided;
        write!(
            f,
            "{noticed} of {drawn} noticed, {unnoticed} unnoticed, {undecided} undecided; {equivalent} equivalent"
        )
    }
}

/// Results decided so far, kept in a file for this state of the project.
#[derive(Debug)]
struct Ledger {
    path: PathBuf,
    results: Mutex<BTreeMap<String, Outcome>>,
}

impl Ledger {
    fn open(root: &Path, tree: &Tree, mutants: &[Mutant]) -> Self {
        let mut hasher = DefaultHasher::new();
        for file in tree.texts.iter().filter(|file| matches!(file.kind(), "rs" | "toml" | "txt" | "snap")) {
            (&file.path, &file.text).hash(&mut hasher);
        }
        let path = root.join(format!("results-{:016x}", hasher.finish()));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut results = BTreeMap::new();
        for line in text.lines() {
            let Some((word, name)) = line.split_once(' ') else { continue };
            let outcome = WORDS.iter().find(|(other, _)| *other == word).map(|(_, outcome)| *outcome);
            results.extend(outcome.map(|outcome| (name.to_owned(), outcome)));
        }
        let known = mutants.iter().filter(|mutant| results.contains_key(&mutant.name)).count();
        if known > 0 {
            eprintln!("{known} were decided before");
        }
        Self { path, results: Mutex::new(results) }
    }

    fn result(&self, name: &str) -> Option<Outcome> {
        self.results.lock().ok()?.get(name).copied()
    }

    fn results(&self) -> BTreeMap<String, Outcome> {
        self.results.lock().map(|results| results.clone()).unwrap_or_default()
    }

    fn keep(&self, name: &str, outcome: Outcome) -> Result<(), String> {
        let mut results = self.results.lock().map_err(|_| "another worker failed".to_owned())?;
        let word = WORDS.iter().find(|(_, other)| *other == outcome).map_or("", |(word, _)| word);
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path).map_err(failed)?;
        file.write_all(format!("{word} {name}\n").as_bytes()).map_err(failed)?;
        results.insert(name.to_owned(), outcome);
        Ok(())
    }
}

/// Outcomes as the file has them.
const WORDS: [(&str, Outcome); 3] =
    [("noticed", Outcome::Caught), ("undecided", Outcome::TimedOut), ("unnoticed", Outcome::Survived)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_ten_that_are_no_equivalents_are_enough() {
        let results: BTreeMap<String, Outcome> = (0..12)
            .map(|number| {
                (format!("m{number}"), if number < 9 { Outcome::Caught } else { Outcome::Survived })
            })
            .collect();
        let names = || (0..12).map(|number| format!("m{number}"));
        let none = Tally::of(names(), &results, &BTreeSet::new());
        assert_eq!(none, Tally { noticed: 9, unnoticed: 3, undecided: 0, equivalent: 0 });
        assert!(!none.is_enough());
        let listed = Tally::of(names(), &results, &["m9".to_owned(), "m10".to_owned()].into());
        assert_eq!(listed, Tally { noticed: 9, unnoticed: 1, undecided: 0, equivalent: 2 });
        assert!(listed.is_enough());
    }

    #[test]
    fn what_took_too_long_is_not_noticed() {
        let results = [("a".to_owned(), Outcome::TimedOut)].into();
        let tally = Tally::of(["a".to_owned()].into_iter(), &results, &BTreeSet::new());
        assert_eq!(tally, Tally { undecided: 1, ..Tally::default() });
        assert!(!tally.is_enough());
    }
}
