//! Finished runs on disk, one file each, whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use slantpath_results::{StoreError, clear_store, write_file};

use super::codec;
use crate::output::RunOutput;
use crate::spooled::{RunRecords, RunSpool};

/// Extension of the names of the files.
const EXTENSION: &str = "run";

/// A finished run of a sweep as bytes, which another process may have made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeRun(Vec<u8>);

impl MadeRun {
    /// These tables of a run, as many as it has.
    pub fn of(output: RunOutput, tables: &[String]) -> Self {
        Self(codec::encode_asked(&output.select(tables), tables))
    }

    /// The run that another process has sent, if these are the whole bytes of one.
    pub fn read(bytes: Vec<u8>) -> Option<Self> {
        codec::decode_asked(&bytes).is_some().then_some(Self(bytes))
    }

    /// Bytes to send.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn output(&self) -> Option<RunOutput> {
        codec::decode(&self.0)
    }
}

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

    /// Tells whether a run is there and whole, with all of these tables that it has.
    pub(crate) fn has(&self, key: &str, tables: &[String]) -> bool {
        self.get(key, tables).is_some()
    }

    /// These tables of a run, if it is there and they were asked for when it was made. A torn or foreign file is as
    /// good as none.
    pub(crate) fn get(&self, key: &str, tables: &[String]) -> Option<RunOutput> {
        let (output, asked) = codec::decode_asked(&std::fs::read(self.path(key)).ok()?)?;
        tables.iter().all(|table| asked.contains(table)).then(|| output.select(tables))
    }

    /// Keeps a run of which these tables were asked for.
    pub(crate) fn put(&self, key: &str, made: &MadeRun) -> Result<(), StoreError> {
        let path = self.path(key);
        write_file(&path, |file| file.write_all(&made.0)).map_err(|error| StoreError { path, error })
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
