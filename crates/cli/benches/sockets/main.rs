//! SCTP sockets of programs, by either door: what iperf3 carries, what it costs beside SCTP within one process and
//! beside usrsctp, how many requests are answered, and what other calls pay.
//!
//! It needs root for namespaces, a C compiler, and iperf3; usrsctp is left out where Debian's `libusrsctp-dev` is not
//! installed. Words name the cases: `iperf3`, `requests`, `calls`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark prints its figures, lasts in real time and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod place;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("sockets: it needs Linux: left out");
}

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    measure::all(&words);
}
