//! Finished runs on disk, one file each, whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use slantpath_results::{StoreError, clear_store, write_file};

use super::codec;
use crate::output::RunOutput;
use crate::spooled::{RunRecords, RunSpool};

/// Extension of the names of the files.
const EXTENSION: &str = "run";

/// A directory of finished runs.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in a directory, which is made when the first run is stored.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Tells whether a run is there and whole.
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
        clear_store(&self.directory, EXTENSION)
    }

    /// The file of a run. Another version of the program is another run.
    fn path(&self, key: &str) -> PathBuf {
        let name = blake3::hash(format!("{} {key}", env!("CARGO_PKG_VERSION")).as_bytes()).to_hex();
        self.directory.join(&name.as_str()[..32]).with_extension(EXTENSION)
    }
}
