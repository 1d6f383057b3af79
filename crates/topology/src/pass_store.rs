//! Passes of sites on disk, so that an interrupted answer goes on where it was.

use std::io::Write;
use std::path::{Path, PathBuf};

use slantpath_orbit::contact::SitePasses;
use slantpath_results::{StoreError, clear_store, write_file};

const MAGIC: &[u8; 8] = b"slntpas1";

/// Extension of the names of the files.
const EXTENSION: &str = "passes";

/// A directory of passes, one file a site, each whole or not at all.
#[derive(Clone, Debug)]
pub struct PassStore {
    directory: PathBuf,
}

impl PassStore {
    /// The store in a directory, which is made when the first passes are stored.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// The passes of a site of a topology. A torn or foreign file is as good as none.
    pub(super) fn get(&self, hash: &str, site: usize) -> Option<SitePasses> {
        let bytes = std::fs::read(self.path(hash, site)).ok()?;
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<32>()?;
        if blake3::hash(body) != *sum {
            return None;
        }
        SitePasses::from_bytes(body)
    }

    pub(super) fn put(&self, hash: &str, site: usize, passes: &SitePasses) -> Result<(), StoreError> {
        let path = self.path(hash, site);
        let body = passes.to_bytes();
        let sum = blake3::hash(&body);
        let write = |file: &mut dyn Write| {
            file.write_all(MAGIC)?;
            file.write_all(sum.as_bytes())?;
            file.write_all(&body)
        };
        write_file(&path, |file| write(file)).map_err(|error| StoreError { path, error })
    }

    /// Throws away all that is stored. A store without a directory is empty already; one that holds files of others
    /// keeps those.
    pub fn clear(self) -> Result<(), StoreError> {
        clear_store(&self.directory, EXTENSION)
    }

    /// The file of a site. Another version of the program is another answer.
    fn path(&self, hash: &str, site: usize) -> PathBuf {
        let name = blake3::hash(format!("{} {hash} {site}", env!("CARGO_PKG_VERSION")).as_bytes()).to_hex();
        self.directory.join(&name.as_str()[..32]).with_extension(EXTENSION)
    }
}
