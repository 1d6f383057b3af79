//! Finished runs on disk, one file each, whole or not at all.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use slantpath_results::write_file;

use super::codec;
use crate::output::RunOutput;

/// A directory of finished runs.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// Why a run cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl Store {
    /// The store in a directory, which is made when the first run is kept.
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

    /// Throws away all that is kept. A store without a directory is empty already.
    pub fn clear(self) -> Result<(), StoreError> {
        match std::fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError { path: self.directory, error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The file of a run. Another version of the program is another run.
    fn path(&self, key: &str) -> PathBuf {
        let name = blake3::hash(format!("{} {key}", env!("CARGO_PKG_VERSION")).as_bytes()).to_hex();
        self.directory.join(&name.as_str()[..32]).with_extension("run")
    }
}
