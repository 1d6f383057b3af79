//! Sources of texts: a file, and the files that it names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Diagnostics;

/// Hands out the text of a file by the name that another file gives it.
pub type Files = Arc<dyn Fn(&str) -> io::Result<String> + Send + Sync>;

/// The longest text that is read, in bytes: far more than the largest that anybody writes, and little enough to be
/// held.
pub const TEXT_MAX: u64 = 256 << 20;

/// The bytes of a file that holds at most so many: what never ends, such as `/dev/zero`, is refused and not read until
/// memory is gone.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = if most < 1 << 20 { format!("{most} bytes") } else { format!("{} MiB", most >> 20) };
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {text}: none is so long"),
        ));
    }
    Ok(bytes)
}

fn bounded_text(path: &Path) -> io::Result<String> {
    let bytes = read_bounded(path, TEXT_MAX)?;
    String::from_utf8(bytes)
        .map(without_mark)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// Files by their names relative to a directory.
pub fn files_in(directory: &Path) -> Files {
    let directory = directory.to_owned();
    Arc::new(move |name| bounded_text(&directory.join(name)))
}

/// A file without the byte-order mark with which some programs begin it (RFC 3629, section 6): every text that is read
/// from a file goes through here.
pub fn without_mark(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

const MARK: char = '\u{feff}';

/// Files by their names relative to the directory that a file lies in.
pub fn files_beside(path: &Path) -> Files {
    files_in(path.parent().unwrap_or(Path::new("")))
}

/// Why a file gives no value.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// File with faults in its text.
    #[error("{0}")]
    Invalid(Diagnostics),
    /// File that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, LoadError> {
    bounded_text(path).map_err(|error| LoadError::Unreadable { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_files_that_lie_beside_it() {
        let here = Path::new("src/files.rs");
        let own = read_text(here).unwrap();
        assert!(own.contains("a_file_names_files_that_lie_beside_it"));
        assert_eq!(files_beside(here)("files.rs").unwrap(), own);
        assert_eq!(files_beside(Path::new("Cargo.toml"))("src/files.rs").unwrap(), own);
        assert!(files_beside(here)("src/files.rs").is_err());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        for (text, read) in
            [("\u{feff}a\u{feff}b", "a\u{feff}b"), ("a\u{feff}", "a\u{feff}"), ("\u{feff}", ""), ("", "")]
        {
            assert_eq!(without_mark(text.to_owned()), read);
        }
        let directory = std::env::temp_dir().join(format!("slantpath-mark-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("marked.csv");
        std::fs::write(&path, "\u{feff}0 s, 10 ms\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "0 s, 10 ms\n");
        assert_eq!(files_in(&directory)("marked.csv").unwrap(), "0 s, 10 ms\n");
        assert_eq!(files_beside(&directory.join("other.toml"))("marked.csv").unwrap(), "0 s, 10 ms\n");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_file_is_read_up_to_its_bound_and_not_beyond() {
        let own = std::fs::read("Cargo.toml").unwrap();
        let len = own.len() as u64;
        assert_eq!(read_bounded(Path::new("Cargo.toml"), len).unwrap(), own);
        let error = read_bounded(Path::new("Cargo.toml"), len - 1).unwrap_err();
        assert_eq!(error.to_string(), format!("more than {} bytes: none is so long", len - 1));
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_refused() {
        let zero = Path::new("/dev/zero");
        let error = read_bounded(zero, 3 << 20).unwrap_err();
        assert_eq!(error.to_string(), "more than 3 MiB: none is so long");
        assert!(error.kind() == io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = read_text(Path::new("no/such.toml")).unwrap_err();
        assert!(error.to_string().starts_with("no/such.toml: "), "{error}");
    }
}
