//! A live signalling gateway under load on this machine: processor time of a message by the kernel's account of the
//! gateway's process alone, delay through it, what a reload takes, and instructions beside those of a run.
//!
//! Three to five programs of one file, over the loopback and SCTP in UDP. Loads are open: they send at their rate, and
//! what of it arrived is told beside the time. Words name some of the cases. `--program FILE` measures another build of
//! `slantpath`.

#![allow(
    clippy::format_push_string,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark prints its figures, lasts in real time and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod figures;
#[cfg(target_os = "linux")]
mod instructions;
#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod point;
#[cfg(target_os = "linux")]
mod text;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("gateway: it needs Linux: left out");
}

#[cfg(target_os = "linux")]
fn main() {
    use std::path::PathBuf;

    use lab::{Found, Lab};

    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let mut program = PathBuf::from(env!("CARGO_BIN_EXE_slantpath"));
    if let Some(at) = words.iter().position(|word| word == "--program") {
        program = words.remove(at + 1).into();
        words.remove(at);
    }
    let is_asked = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let cases = [
        ("titles-120", Lab::servers(120, 90_000.0, 10), 100_000.0),
        ("titles-270", Lab::servers(270, 50_000.0, 10), 60_000.0),
        ("rules-10000", Lab::servers(120, 90_000.0, 10_000), 83_000.0),
        ("idle-1000", Lab::servers(120, 90_000.0, 10_000).beside_idle(100, 10), 83_000.0),
        ("alone", Lab::links(120, 10_000.0), 30_000.0),
    ];
    let mut plain: Option<Found> = None;
    if cases.iter().any(|(name, ..)| is_asked(name)) {
        println!(
            "| gateway | offered a second | through, of 100 | µs user | µs system | MSU a CPU second | asked | of \
             titles-120 |"
        );
        println!("|---|---|---|---|---|---|---|---|");
    }
    for (name, lab, asked) in cases {
        if !is_asked(name) {
            continue;
        }
        let found = lab.measure(&program);
        let ratio = plain.as_ref().map(|plain| format!("{:.2}", found.each_us() / plain.each_us()));
        println!(
            "| {name} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0} | {asked:.0} | {} |",
            lab.rate,
            100.0 * found.arrived / found.offered,
            found.user_us,
            found.system_us,
            1e6 / found.each_us(),
            ratio.unwrap_or_default(),
        );
        if name == "titles-120" {
            plain = Some(found);
        }
    }
    if is_asked("delay") {
        let lab = Lab::servers(120, 45_000.0, 10);
        let delays = lab.delays(&program);
        println!(
            "delay: {:.0} messages a second; 99 % of {} within {} (5 ms are asked), the latest within {}",
            lab.rate,
            delays.count(),
            delays.bound_of(0.99),
            delays.bound_of(1.0),
        );
    }
    if is_asked("reload-10000") {
        let lab = Lab::servers(120, 20_000.0, 10_000);
        let reload = lab.reload(&program);
        println!(
            "reload-10000: {:.1} ms from its beginning to its end (50 ms are asked), {:.0} ms from SIGHUP on; the \
             latest of {} messages meanwhile within {} (5 ms are asked)",
            reload.lasts_ms,
            reload.from_signal_ms,
            reload.delays.count(),
            reload.delays.bound_of(1.0),
        );
    }
    if is_asked("instructions") {
        match instructions::compare(&program) {
            Ok(told) => println!("{told}"),
            Err(why) => println!("instructions: {why}: left out"),
        }
    }
}
