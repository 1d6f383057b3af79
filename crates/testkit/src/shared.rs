//! Data that others wrote, in the folder `shared/data` beside the checkout.

use std::path::{Path, PathBuf};

use crate::skip;

/// A file or folder by its path below `shared/data`; nothing, loudly, where it is missing.
pub fn path(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        skip(&format!("there is no shared {name} here"));
        return None;
    }
    Some(path)
}

/// The octets of a file; nothing, loudly, where it is missing.
///
/// # Panics
/// If it is there and cannot be read.
pub fn octets(name: &str) -> Option<Vec<u8>> {
    let path = path(name)?;
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// A file that is text; nothing, loudly, where it is missing.
///
/// # Panics
/// If it is there and is no text.
pub fn text(name: &str) -> Option<String> {
    Some(String::from_utf8(octets(name)?).unwrap_or_else(|error| panic!("{name}: {error}")))
}
