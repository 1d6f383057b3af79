//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Length of the part of a file's name that its temporary name keeps, so that this one is not too long where the other
/// is not.
const KEPT_OF_NAME: usize = 100;

/// Writes a file: creates the directories on the way, writes beside the name, and renames when all is on the
/// disk. Whoever opens `path` sees the old content or the new, never a part. On an error nothing is left.
pub fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let partial = PartialFile::create(path)?;
    let mut out = BufWriter::new(partial.file.try_clone()?);
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(|error| about(path, &error)).and_then(|()| partial.take_name())
}

/// A file that is being written. It has another name until it is whole, and is removed if it never is.
///
/// It is locked meanwhile. The lock ends with the process, so that whoever comes next tells a part that is being
/// written from one that a killed process left, and removes the latter. What is no file, such as a terminal or a
/// pipe, is written as it is.
#[derive(Debug)]
pub struct PartialFile {
    pub(crate) file: File,
    path: PathBuf,
    /// Temporary path of the file; nothing once it has its name.
    meanwhile: Option<PathBuf>,
}

impl PartialFile {
    /// A new file beside the one that it will be. Directories on the way are created.
    pub fn create(path: &Path) -> io::Result<Self> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            let opened = OpenOptions::new().write(true).open(path).map_err(|error| about(path, &error))?;
            return Ok(Self { file: opened, path: path.to_owned(), meanwhile: None });
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let created = fs::create_dir_all(directory).and_then(|()| create_beside(path, directory));
        let (file, meanwhile) = created.map_err(|error| about(path, &error))?;
        Ok(Self { file, path: path.to_owned(), meanwhile: Some(meanwhile) })
    }

    /// The file, to write into.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Has everything on the disk, then takes the name, in place of what was called so.
    pub fn take_name(mut self) -> io::Result<()> {
        let Some(meanwhile) = &self.meanwhile else { return Ok(()) };
        let named = self.file.sync_all().and_then(|()| fs::rename(meanwhile, &self.path));
        named.map_err(|error| about(&self.path, &error))?;
        self.meanwhile = None;
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(meanwhile) = &self.meanwhile {
            // Who drops it knows why it is not whole; that it stays is no second error.
            let _ = fs::remove_file(meanwhile);
        }
    }
}

/// The error with the file that it is about.
pub(crate) fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A new file of a name that nobody else has, in the directory where the whole one will stand.
fn create_beside(path: &Path, directory: &Path) -> io::Result<(File, PathBuf)> {
    let name =
        path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?.to_string_lossy();
    let kept = &name[..name.floor_char_boundary(KEPT_OF_NAME)];
    let mut attempt = 0_u32;
    loop {
        let partial = directory.join(format!(".{kept}.{attempt}.partial"));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < u32::MAX => {
                if !remove_if_abandoned(&partial) {
                    attempt += 1;
                }
            }
            Err(error) => return Err(error),
            Ok(file) => {
                // Somebody who looks for abandoned parts may have been faster than the lock, and have taken it away.
                let is_held = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                if is_held && is_at(&file, &partial) {
                    return Ok((file, partial));
                }
            }
        }
    }
}

/// Removes the parts that killed processes left in a directory, and in the stores below it, whatever their depth. Parts
/// that are being written stay, and so does every file that is no part.
pub(crate) fn remove_abandoned(directory: &Path, stores: &[&str]) -> io::Result<()> {
    for store in stores {
        remove_abandoned_below(&directory.join(store), true)?;
    }
    remove_abandoned_below(directory, false)
}

fn remove_abandoned_below(directory: &Path, whatever_depth: bool) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| about(directory, &error))?,
    };
    for entry in entries {
        let entry = entry.map_err(|error| about(directory, &error))?;
        let kind = entry.file_type().map_err(|error| about(&entry.path(), &error))?;
        if kind.is_dir() && whatever_depth {
            remove_abandoned_below(&entry.path(), whatever_depth)?;
        } else if kind.is_file() && is_part(&entry.file_name().to_string_lossy()) {
            remove_if_abandoned(&entry.path());
        }
    }
    Ok(())
}

/// Tells whether a name is that of a part: `.NAME.NUMBER.partial`.
fn is_part(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial"));
    inner.and_then(|inner| inner.rsplit_once('.')).is_some_and(|(_, number)| number.parse::<u32>().is_ok())
}

/// Removes a part that nobody is writing. Says whether it is gone.
fn remove_if_abandoned(partial: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(partial) else { return false };
    file.try_lock().is_ok() && is_at(&file, partial) && fs::remove_file(partial).is_ok()
}

/// Tells whether an open file is the one of that name, and not an earlier one.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |of: io::Result<fs::Metadata>| of.map(|of| (of.dev(), of.ino())).ok();
    identity(file.metadata()).is_some_and(|own| identity(fs::symlink_metadata(path)) == Some(own))
}

/// Tells whether there is a file of that name: the system tells no two apart.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(test: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("slantpath-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        directory
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = scratch("failed-write");
        let path = directory.join("deep/er/table.csv");
        write_file(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_file(&path, |out| {
            out.write_all(b"half of the n")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert!(error.to_string().ends_with("table.csv: the disk is full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_part_that_a_dead_process_left_is_no_obstacle() {
        let directory = scratch("stale-part");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(".table.csv.0.partial"), b"stale").unwrap();
        write_file(&directory.join("table.csv"), |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(directory.join("table.csv")).unwrap(), b"new");
        assert_eq!(names(&directory), ["table.csv"], "and does not stay");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn parts_of_dead_processes_are_removed_and_nothing_else() {
        let directory = scratch("abandoned");
        let runs = directory.join("runs/deep");
        fs::create_dir_all(&runs).unwrap();
        fs::create_dir_all(directory.join("mine")).unwrap();
        let living = PartialFile::create(&directory.join("a.csv")).unwrap();
        let files = [
            ".b.csv.0.partial",
            ".a.csv.7.partial",
            "notes.0.partial",
            ".notes.partial",
            ".x.one.partial",
            "runs/deep/.c.run.3.partial",
            "runs/deep/c.run",
            "mine/.d.csv.0.partial",
        ];
        for file in files {
            fs::write(directory.join(file), "x").unwrap();
        }
        remove_abandoned(&directory, &["runs", "unfinished"]).unwrap();
        let kept =
            [".a.csv.0.partial", ".notes.partial", ".x.one.partial", "mine", "notes.0.partial", "runs"];
        assert_eq!(names(&directory), kept);
        assert_eq!(names(&runs), ["c.run"]);
        assert_eq!(names(&directory.join("mine")), [".d.csv.0.partial"], "a directory that is no store");
        living.take_name().unwrap();
        assert_eq!(names(&directory)[2..], ["a.csv", "mine", "notes.0.partial", "runs"]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn two_at_once_have_a_part_each_and_the_last_to_end_has_the_name() {
        let directory = scratch("two-parts");
        let path = directory.join("table.csv");
        let parts = [PartialFile::create(&path).unwrap(), PartialFile::create(&path).unwrap()];
        assert_eq!(names(&directory), [".table.csv.0.partial", ".table.csv.1.partial"]);
        let [mut first, mut second] = parts;
        first.file.write_all(b"first").unwrap();
        second.file.write_all(b"second").unwrap();
        second.take_name().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        first.take_name().unwrap();
        assert_eq!(
            (names(&directory), fs::read(&path).unwrap()),
            (vec!["table.csv".to_owned()], b"first".to_vec())
        );
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_name_as_long_as_the_system_takes_is_written_and_a_longer_one_named() {
        let directory = scratch("long-name");
        // Two bytes a letter: the name meanwhile is cut between letters.
        let name = format!("{}a.csv", "ä".repeat(125));
        assert_eq!(name.len(), 255);
        write_file(&directory.join(&name), |out| out.write_all(b"x")).unwrap();
        assert_eq!(names(&directory), std::slice::from_ref(&name));
        let error = write_file(&directory.join(format!("b{name}")), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("aa.csv: ") || error.to_string().contains("äa.csv: "), "{error}");
        assert_eq!(names(&directory), [name]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_written_as_it_is() {
        use std::os::unix::fs::FileTypeExt as _;
        write_file(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn an_error_names_the_file() {
        let directory = scratch("no-directory");
        fs::write(&directory, b"a file, not a directory").unwrap();
        let error = write_file(&directory.join("table.csv"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("table.csv"), "{error}");
        fs::remove_file(directory).unwrap();
    }
}
