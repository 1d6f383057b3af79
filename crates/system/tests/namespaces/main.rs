//! Namespaces as a whole: the test program starts itself anew, by the user who runs it and, if that is root, by one
//! without rights, and works in there.
//!
//! It has no harness: the harness's threads would be in the way of a program that is process 1. Where user namespaces
//! are refused, it says so and passes.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a program of tests speaks and stops")]

#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod lives;
#[cfg(target_os = "linux")]
mod networks;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(target_os = "linux")]
mod programs;

fn main() {
    #[cfg(target_os = "linux")]
    outside::main();
}
