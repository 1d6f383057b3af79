//! A directory of results belongs to one command at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::sink::{is_at, remove_abandoned};

/// Name of the file whose lock is that of its directory.
const NAME: &str = ".slantpath.lock";

/// Why a directory cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another command writes into it.
    #[error("{}: another command writes into it", .0.display())]
    Held(PathBuf),
    /// Nothing can be written into it.
    #[error("nothing can be written into {}: {error}", path.display())]
    Unwritable {
        /// Path of the directory.
        path: PathBuf,
        /// Reason for which nothing can be written.
        error: io::Error,
    },
}

/// The right to write into a directory, until it is dropped or its process ends, however that ends.
///
/// It belongs to the process that took it. One that is begun does not hold it; one that is forked lets go of
/// [its copy](Self::release_copy). Where the file system has no locks, nobody is refused.
#[derive(Debug)]
pub struct DirectoryLock {
    path: PathBuf,
    file: Option<File>,
    process: u32,
}

impl DirectoryLock {
    /// Locks a directory, which is made if it is not there, and removes what killed processes left of files in it, and
    /// in the `stores` below it.
    pub fn take(directory: &Path, stores: &[&str]) -> Result<Self, LockError> {
        let unwritable = |error| LockError::Unwritable { path: directory.to_owned(), error };
        fs::create_dir_all(directory).map_err(unwritable)?;
        let path = directory.join(NAME);
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(unwritable)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(directory.to_owned())),
                Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                    return Err(unwritable(error));
                }
                // Who held it before takes its file away in the end: then the lock is that of no name any more.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) | Err(TryLockError::Error(_)) => {
                    remove_abandoned(directory, stores).map_err(unwritable)?;
                    return Ok(Self { path, file: Some(file), process: std::process::id() });
                }
            }
        }
    }

    /// Lets a forked process go of its copy, which would keep the directory locked beyond the process that took it.
    pub fn release_copy(&mut self) {
        if self.process != std::process::id() {
            self.file = None;
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Nothing of it stays among the results. Elsewhere the system cannot tell whether the name is still that of the
        // file that is locked, so that the file, which is empty, stays.
        if cfg!(unix) && self.file.is_some() && self.process == std::process::id() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn scratch(test: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("slantpath-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        directory
    }

    #[test]
    fn a_directory_is_of_one_at_a_time_and_nothing_of_it_stays() {
        let directory = scratch("lock");
        let first = DirectoryLock::take(&directory.join("deep"), &[]).unwrap();
        let second = DirectoryLock::take(&directory.join("deep"), &[]).unwrap_err();
        let place = directory.join("deep").display().to_string();
        assert_eq!(second.to_string(), format!("{place}: another command writes into it"));
        assert!(DirectoryLock::take(&directory, &[]).is_ok(), "another directory");
        drop(first);
        assert_eq!(fs::read_dir(directory.join("deep")).unwrap().count(), 0);
        assert!(DirectoryLock::take(&directory.join("deep"), &[]).is_ok());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_a_dead_process_left_is_no_obstacle_and_goes() {
        let directory = scratch("stale-lock");
        fs::create_dir_all(directory.join("runs")).unwrap();
        for name in [NAME, ".table.csv.0.partial", "runs/.0.run.1.partial"] {
            fs::write(directory.join(name), "x").unwrap();
        }
        let lock = DirectoryLock::take(&directory, &["runs"]).unwrap();
        let left = || fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left().filter(|name| name != "runs").collect::<Vec<_>>(), [NAME]);
        assert_eq!(fs::read_dir(directory.join("runs")).unwrap().count(), 0);
        drop(lock);
        assert_eq!(left().collect::<Vec<_>>(), ["runs"]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_copy_in_a_forked_process_neither_holds_it_nor_takes_its_file_away() {
        let directory = scratch("forked-lock");
        let lock = DirectoryLock::take(&directory, &[]).unwrap();
        let copy = lock.file.as_ref().unwrap().try_clone().unwrap();
        let mut copy = DirectoryLock { path: lock.path.clone(), file: Some(copy), process: 0 };
        copy.release_copy();
        assert!(copy.file.is_none());
        drop(copy);
        assert!(matches!(DirectoryLock::take(&directory, &[]), Err(LockError::Held(_))));
        drop(lock);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_place_where_nothing_can_be_written_is_named() {
        let file = scratch("no-lock");
        fs::write(&file, "a file, not a directory").unwrap();
        let error = DirectoryLock::take(&file, &[]).unwrap_err();
        assert!(matches!(&error, LockError::Unwritable { path, .. } if *path == file), "{error}");
        fs::remove_file(file).unwrap();
    }
}
