//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file: creates the directories on the way, writes beside the name, and renames when all is on the
/// disk. Whoever opens `path` sees the old content or the new, never a part. On an error nothing is left.
pub fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let partial = Partial::create(path)?;
    let mut out = BufWriter::new(partial.file.try_clone()?);
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(|error| about(path, &error)).and_then(|()| partial.take_name())
}

/// A file that is being written. It has another name until it is whole, and is removed if it never is.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) file: File,
    path: PathBuf,
    /// What it is called meanwhile; nothing once it has its name.
    meanwhile: Option<PathBuf>,
}

impl Partial {
    /// A new file beside the one that it will be. Directories on the way are created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let created = fs::create_dir_all(directory).and_then(|()| create_beside(path, directory));
        let (file, meanwhile) = created.map_err(|error| about(path, &error))?;
        Ok(Self { file, path: path.to_owned(), meanwhile: Some(meanwhile) })
    }

    /// Has everything on the disk, then takes the name, in place of what was called so.
    pub(crate) fn take_name(mut self) -> io::Result<()> {
        let Some(meanwhile) = &self.meanwhile else { return Ok(()) };
        let named = self.file.sync_all().and_then(|()| fs::rename(meanwhile, &self.path));
        named.map_err(|error| about(&self.path, &error))?;
        self.meanwhile = None;
        Ok(())
    }
}

impl Drop for Partial {
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
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut attempt = 0_u32;
    loop {
        let partial = directory.join(format!(".{}.{attempt}.partial", name.to_string_lossy()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < u32::MAX => attempt += 1,
            opened => return opened.map(|file| (file, partial)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(test: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("slantpath-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        directory
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
        fs::remove_dir_all(directory).unwrap();
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
