//! Results of the mutants of one file, kept from one run to the next.
//!
//! cargo-mutants writes one list of names for each result, as it goes; a later run with `--iterate` leaves out what an
//! earlier one caught or could not build. The lists of all runs are joined here, until the file changes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Result of trying a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    /// A test failed.
    Caught,
    /// A test did not end in time, as where a loop never does. On a busy machine it may be the time that was short, so
    /// that it is tried again by the next run.
    TimedOut,
    /// No test noticed.
    Survived,
    /// Mutant that did not compile.
    Unviable,
}

/// The lists that cargo-mutants writes.
const LISTS: [(&str, Result); 4] = [
    ("caught", Result::Caught),
    ("timeout", Result::TimedOut),
    ("missed", Result::Survived),
    ("unviable", Result::Unviable),
];

#[derive(Debug)]
pub(crate) struct Ledger {
    directory: PathBuf,
    results: BTreeMap<String, Result>,
}

impl Ledger {
    /// Opens the results of the file with this text. Those of another text are discarded.
    pub(crate) fn open(directory: &Path, text: &str) -> io::Result<Self> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let fingerprint = format!("{:016x}\n", hasher.finish());
        let source = directory.join("source");
        if fs::read_to_string(&source).ok().as_deref() != Some(&fingerprint) {
            if directory.exists() {
                fs::remove_dir_all(directory)?;
            }
            fs::create_dir_all(directory)?;
            fs::write(&source, fingerprint)?;
        }
        let mut ledger = Self { directory: directory.to_owned(), results: BTreeMap::new() };
        let kept = ledger.directory.join("results");
        ledger.join(&kept)?;
        // A run that was ended has left lists that nobody took in.
        ledger.take_in()?;
        Ok(ledger)
    }

    /// Takes in what a run has found, keeps it, and returns all that is known.
    pub(crate) fn close(&mut self) -> io::Result<BTreeMap<String, Result>> {
        self.take_in()?;
        Ok(self.results.clone())
    }

    fn take_in(&mut self) -> io::Result<()> {
        let lists = self.directory.join("mutants.out");
        self.join(&lists)?;
        let kept = self.directory.join("results");
        fs::create_dir_all(&kept)?;
        for (list, result) in LISTS {
            let names = self.results.iter().filter(|(_, other)| **other == result);
            let mut text: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
            text.push("");
            fs::write(kept.join(list).with_extension("txt"), text.join("\n"))?;
        }
        Ok(())
    }

    /// Joins the lists of a directory; those that are not there are empty.
    fn join(&mut self, lists: &Path) -> io::Result<()> {
        for (list, result) in LISTS {
            let text = match fs::read_to_string(lists.join(list).with_extension("txt")) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            self.results.extend(text.lines().map(|name| (name.to_owned(), result)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("slantpath-ledger-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        directory
    }

    fn run(directory: &Path, caught: &str, missed: &str) {
        let lists = directory.join("mutants.out");
        fs::create_dir_all(&lists).unwrap();
        fs::write(lists.join("caught.txt"), caught).unwrap();
        fs::write(lists.join("missed.txt"), missed).unwrap();
    }

    #[test]
    fn what_survived_once_and_is_caught_later_is_caught() {
        let directory = directory("twice");
        let mut ledger = Ledger::open(&directory, "text").unwrap();
        run(&directory, "one\n", "two\nthree\n");
        assert_eq!(ledger.close().unwrap()["two"], Result::Survived);
        let mut ledger = Ledger::open(&directory, "text").unwrap();
        run(&directory, "two\n", "three\n");
        let expected = [("one", Result::Caught), ("three", Result::Survived), ("two", Result::Caught)];
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(name, result)| (name.to_owned(), result)).collect();
        assert_eq!(ledger.close().unwrap(), expected);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_took_too_long_once_is_what_a_later_run_says() {
        let directory = directory("slow");
        let mut ledger = Ledger::open(&directory, "text").unwrap();
        run(&directory, "", "");
        fs::write(directory.join("mutants.out/timeout.txt"), "one\ntwo\n").unwrap();
        assert_eq!(ledger.close().unwrap()["one"], Result::TimedOut);
        let mut ledger = Ledger::open(&directory, "text").unwrap();
        fs::remove_dir_all(directory.join("mutants.out")).unwrap();
        run(&directory, "", "two\n");
        let expected = [("one", Result::TimedOut), ("two", Result::Survived)];
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(name, result)| (name.to_owned(), result)).collect();
        assert_eq!(ledger.close().unwrap(), expected);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_run_that_was_ended_is_taken_in_and_another_text_forgets_it() {
        let directory = directory("ended");
        Ledger::open(&directory, "text").unwrap();
        run(&directory, "one\n", "");
        assert_eq!(Ledger::open(&directory, "text").unwrap().results.len(), 1);
        assert_eq!(Ledger::open(&directory, "other").unwrap().results.len(), 0);
        fs::remove_dir_all(&directory).unwrap();
    }
}
