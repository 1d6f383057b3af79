//! The library that is loaded before a program (`preload`), as bytes within whoever uses this.
//!
//! The build script builds it with a Cargo of its own, since a library that the dynamic linker loads is no part of a
//! program: it has its own profile, and the functions that it exports must not be the program's.

/// Bytes of the library; none where the target is not Linux with the GNU C library on 64 bits.
pub const PRELOAD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload"));

// It is in no build, and names the crate for whoever looks for what is used.
#[cfg(any())]
use slantpath_preload as _;
