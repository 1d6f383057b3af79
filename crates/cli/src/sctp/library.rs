//! Library that stands in front of the C library of a program: carried inside of this one, and written out while it is
//! needed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// File of the library, which goes when this is dropped.
#[derive(Debug)]
pub(super) struct Library {
    directory: PathBuf,
    file: PathBuf,
}

/// Name of the file, which a program's memory map shows.
const NAME: &str = "libslantpath-sctp.so";

impl Library {
    /// Writes the library out, where its user alone may change it.
    pub(super) fn write(bytes: &[u8]) -> io::Result<Self> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
        let places = [runtime.as_deref(), Some(&std::env::temp_dir())].map(|place| place.map(Path::to_owned));
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for place in places.into_iter().flatten() {
            match Self::write_in(&place, bytes) {
                Ok(library) => return Ok(library),
                Err(error) => refused = io::Error::new(error.kind(), format!("{}: {error}", place.display())),
            }
        }
        Err(refused)
    }

    fn write_in(place: &Path, bytes: &[u8]) -> io::Result<Self> {
        let directory = place.join(format!("slantpath-sctp-{}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&directory) {
            // That of a process that had this number and was killed. Another user's cannot be written to.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(directory.join(NAME)).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                })?;
                fs::remove_dir(&directory)?;
                DirBuilder::new().mode(0o700).create(&directory)?;
            }
            made => made?,
        }
        let library = Self { file: directory.join(NAME), directory };
        fs::write(&library.file, bytes)?;
        Ok(library)
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_dir(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_its_owners_alone_and_goes() {
        let place = std::env::temp_dir().join(format!("slantpath-library-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let library = Library::write_in(&place, b"so").unwrap();
        assert_eq!(fs::read(library.path()).unwrap(), b"so");
        let mode = fs::metadata(&library.directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // One that a killed process has left is replaced.
        let left = std::mem::ManuallyDrop::new(library);
        let library = Library::write_in(&place, b"new").unwrap();
        assert_eq!(fs::read(&left.file).unwrap(), b"new");
        drop(library);
        assert!(!left.directory.exists());
        fs::remove_dir(&place).unwrap();
    }
}
