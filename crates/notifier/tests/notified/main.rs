//! Programs whose calls are answered: they reach one another by a daemon that has no SCTP.
//!
//! It has no harness: the program starts itself anew as the parent of what it runs.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a program of tests speaks and stops")]

#[cfg(target_os = "linux")]
mod daemon;
#[cfg(target_os = "linux")]
mod programs;

fn main() {
    #[cfg(target_os = "linux")]
    programs::main();
}
