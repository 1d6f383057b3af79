//! Common parts of stores of finished work on disk: a directory of files of one ending, each whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

/// Why finished work cannot be stored, or a store not be cleared.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct StoreError {
    /// The file, or the directory.
    pub path: PathBuf,
    /// Reason for the failure.
    pub error: io::Error,
}

/// Removes the files of a store, by how their names end, what a killed program left of one, and the directory if
/// nothing else is in it.
pub fn clear_store(directory: &Path, extension: &str) -> Result<(), StoreError> {
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
        clear_store(&directory, "run").unwrap();
        let left: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
        std::fs::remove_file(directory.join("notes.txt")).unwrap();
        clear_store(&directory, "run").unwrap();
        assert!(!directory.exists());
        clear_store(&directory, "run").unwrap();
    }

    #[test]
    fn what_cannot_be_cleared_is_an_error() {
        let directory = std::env::temp_dir().join(format!("slantpath-no-store-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("a.run");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(clear_store(&file, "run").unwrap_err().path, file);
        // The system does not remove a directory by this name.
        assert!(clear_store(&directory.join("."), "run").is_err());
        assert!(!file.exists());
        std::fs::remove_dir(&directory).unwrap();
    }
}
