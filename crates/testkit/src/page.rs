//! Files of the checkout that code writes: pages of the documents, schemas, tables. A test holds each to what the code
//! writes now, and with `SLANTPATH_UPDATE=1` in the environment it writes the file.

use std::fs;
use std::path::{Path, PathBuf};

/// Tells if files are to be written rather than compared.
pub fn is_update() -> bool {
    std::env::var_os("SLANTPATH_UPDATE").is_some()
}

/// A path of the checkout.
pub fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// Holds a file, by its path in the checkout, to what the code gives; or writes it.
///
/// # Panics
/// If the file differs, with the first line that does; or if it cannot be written.
#[track_caller]
pub fn hold(file: &str, given: &str) {
    let path = path(file);
    if is_update() {
        fs::write(&path, given).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = difference(&kept, given) {
        panic!(
            "{file} is not what the code gives: {difference}\nIf it is meant: SLANTPATH_UPDATE=1 and this test"
        );
    }
}

/// The first line in which two texts differ.
fn difference(kept: &str, given: &str) -> Option<String> {
    if kept == given {
        return None;
    }
    let (mut kept, mut given) = (kept.split_inclusive('\n'), given.split_inclusive('\n'));
    for number in 1.. {
        let (kept, given) = (kept.next(), given.next());
        if kept != given {
            let shown = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("{line:?}"));
            return Some(format!("line {number} has {}, the code gives {}", shown(kept), shown(given)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let told = |kept, given| difference(kept, given).expect("they differ");
        assert_eq!(told("a\nb\n", "a\nc\n"), r#"line 2 has "b\n", the code gives "c\n""#);
        assert_eq!(told("a\n", "a\nc\n"), r#"line 2 has nothing, the code gives "c\n""#);
        assert_eq!(told("a\nb\n", "a\n"), r#"line 2 has "b\n", the code gives nothing"#);
        assert_eq!(told("a\nb\n", "a\nb"), r#"line 2 has "b\n", the code gives "b""#);
        assert_eq!(told("", "a"), r#"line 1 has nothing, the code gives "a""#);
    }

    #[test]
    fn a_path_is_that_of_the_checkout() {
        assert!(path("crates/testkit/Cargo.toml").exists());
    }
}
