//! The command `slantpath`, as a library: the program and Python's entry point are both thin callers.

use std::ffi::OsString;

/// Runs the command with its arguments, the program's name first, and returns its exit status:
/// 0 done, 1 failed, 2 misused.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let _ = args.into_iter();
    0
}
