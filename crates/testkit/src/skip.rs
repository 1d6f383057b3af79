//! Tests that cannot judge here say so.

use std::io::Write as _;

/// Says on the standard error output that a test, or a part of it, was skipped for this reason.
pub fn skip(reason: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {reason}").expect("stderr is open");
}

/// Skips for want of a program, which is installed by `install` wherever the environment has `CI` set.
///
/// # Panics
/// Where `CI` is set: a program that judges is not missing there unseen.
pub fn needs_program(error: &std::io::Error, install: &str) {
    assert!(std::env::var_os("CI").is_none(), "{error}: {install}");
    skip(&format!("{error}: {install}"));
}
