//! A live signalling gateway under load on this machine: processor time of a message, by the kernel's account of the
//! gateway's process alone.
//!
//! Three or four programs, each a `slantpath gateway` of one file, over the loopback and SCTP in UDP. Loads are open:
//! they send at their rate, and what of it arrived is told beside the time. It takes about a minute.

#![allow(
    clippy::format_push_string,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark prints its figures, lasts in real time and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod point;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("gateway: it needs Linux: left out");
}

#[cfg(target_os = "linux")]
fn main() {
    use lab::Lab;

    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let cases = [
        ("titles-120", Lab::servers(120, 90_000.0, 10), 100_000.0),
        ("titles-270", Lab::servers(270, 50_000.0, 10), 60_000.0),
        ("rules-10000", Lab::servers(120, 90_000.0, 10_000), 83_000.0),
        ("alone", Lab::links(120, 10_000.0), 30_000.0),
    ];
    println!(
        "| gateway | offered a second | through, of 100 | µs user | µs system | MSU a CPU second | asked |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, lab, asked) in cases {
        if words.is_empty() || words.iter().any(|word| word == name) {
            let found = lab.measure();
            println!(
                "| {name} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0} | {asked:.0} |",
                lab.rate,
                100.0 * found.arrived / found.offered,
                found.user_us,
                found.system_us,
                1e6 / (found.user_us + found.system_us),
            );
        }
    }
}
