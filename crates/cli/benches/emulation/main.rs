//! Emulation on this machine, in real time: how late packets are, what one costs, and how many there may be.
//!
//! Programs of its own stand at both ends of `slantpath emulate`, and of a bare forwarder in its place: what both are
//! compared by is measured in one run. Whoever is root runs all of it as a user without rights. It takes about a minute
//! and a half.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark prints its figures, lasts in real time and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod forwarder;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod programs;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("emulation: it needs Linux: left out");
}

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.split_first() {
        Some((&"program", words)) => programs::run(words),
        Some((&"forward", words)) => forwarder::run(words),
        _ => measure::all(&words),
    }
}
