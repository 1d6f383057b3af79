//! The host stack on this machine's sockets.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod namespaces;
mod raw;
mod udp;
