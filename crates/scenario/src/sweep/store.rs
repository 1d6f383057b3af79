//! Finished runs on disk, one file each, whole or not at all.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use slantpath_results::write_file;

use super::codec;
use crate::output::RunOutput;
use crate::spooled::{RunRecords, RunSpool};

/// How the names of the files end.
const EXTENSION: &str = "run";

/// A directory of finished runs.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// Why a run cannot be stored.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl Store {
    /// The store in a directory, which is made when the first run is stored.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Whether a run is there and whole.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// A run, if it is there. A torn or foreign file is as good as none.
    pub(crate) fn get(&self, key: &str) -> Option<RunOutput> {
        std::fs::read(self.path(key)).ok().and_then(|bytes| codec::decode(&bytes))
    }

    pub(crate) fn put(&self, key: &str, output: &RunOutput) -> Result<(), StoreError> {
        let path = self.path(key);
        let bytes = codec::encode(output);
        write_file(&path, |file| file.write_all(&bytes)).map_err(|error| StoreError { path, error })
    }

    /// A run whose records stay on the disk, if it is there.
    pub(crate) fn open(&self, key: &str) -> Option<(RunOutput, RunRecords)> {
        RunRecords::open(&self.path(key), codec::decode)
    }

    /// Keeps a run while it is made: `make` has it observed, and gives its output unless it was stopped.
    pub(crate) fn keep<E: From<StoreError>>(
        &self,
        key: &str,
        make: impl FnOnce(&mut RunSpool<'_>) -> Result<Option<RunOutput>, E>,
    ) -> Result<Option<(RunOutput, RunRecords)>, E> {
        let path = self.path(key);
        let mut spool = RunSpool::new(&path);
        let Some(output) = make(&mut spool)? else { return Ok(None) };
        let kept = spool.finish(output, codec::encode);
        Ok(Some(kept.map_err(|error| StoreError { path: path.clone(), error })?))
    }

    /// Removes the directory if nothing is in it: a stopped run may have been the first.
    pub(crate) fn tidy(&self) {
        // It stays where it cannot be removed; what is in it is what counts.
        let _ = std::fs::remove_dir(&self.directory);
    }

    /// Throws away all that is stored. A store without a directory is empty already; one that holds files of others
    /// keeps those.
    pub fn clear(self) -> Result<(), StoreError> {
        clear(&self.directory, EXTENSION)
    }

    /// The file of a run. Another version of the program is another run.
    fn path(&self, key: &str) -> PathBuf {
        let name = blake3::hash(format!("{} {key}", env!("CARGO_PKG_VERSION")).as_bytes()).to_hex();
        self.directory.join(&name.as_str()[..32]).with_extension(EXTENSION)
    }
}

/// Removes the files of a store, by how their names end, what a killed program left of one, and the directory if
/// nothing else is in it.
pub(crate) fn clear(directory: &Path, extension: &str) -> Result<(), StoreError> {
    let remove = || {
        let entries = match std::fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|own| own == extension || own == "partial") {
                std::fs::remove_file(path)?;
            }
        }
        match std::fs::remove_dir(directory) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    };
    remove().map_err(|error| StoreError { path: directory.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_cleared_of_its_own_files_only() {
        let directory = std::env::temp_dir().join(format!("slantpath-store-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for name in ["a.run", ".b.run.0.partial", "notes.txt"] {
            std::fs::write(directory.join(name), "x").unwrap();
        }
        Store::new(&directory).clear().unwrap();
        let left: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
        std::fs::remove_file(directory.join("notes.txt")).unwrap();
        Store::new(&directory).clear().unwrap();
        assert!(!directory.exists());
        Store::new(&directory).clear().unwrap();
    }
}
