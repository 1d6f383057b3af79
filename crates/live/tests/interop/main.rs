//! Linux's SCTP, in a guest kernel, and usrsctp as peers of a live host, over links that lose, double, reorder, fail
//! and are too small. Every byte is checked at both ends.
//!
//! All cases share one guest, so that this has a `main` of its own. Words on the command line choose cases whose names
//! have them. What cannot run here is skipped, loudly.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program of tests speaks and stops")]

mod cases;
mod exchange;
mod extensions;
mod multipath;
mod network;
mod partner;
mod path_mtu;
mod peer;
mod reconfiguration;
mod scheduling;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use cases::{BESIDE, CASES, Case, Given};
use network::Network;
use peer::{Programs, Stack};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |stack: Stack, case: &Case| {
        let name = title(stack, case);
        words.iter().all(|word| name.contains(word.as_str()))
    };
    if std::env::args().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let Some(network) = Network::start() else { return ExitCode::SUCCESS };
    let (programs, stacks) = Programs::build();
    let (network, programs) = (&network, &programs);
    let failed: usize = std::thread::scope(|scope| {
        let mut beside = Vec::new();
        for &stack in &stacks {
            for case in BESIDE.iter().filter(|case| is_chosen(stack, case)) {
                beside.push(scope.spawn(move || {
                    network.enter();
                    usize::from(!run(Given { network, programs, stack }, case))
                }));
            }
        }
        let mut failed = 0;
        for &stack in &stacks {
            for case in CASES
                .iter()
                .chain(&extensions::CASES)
                .chain(&reconfiguration::CASES)
                .chain(&path_mtu::CASES)
                .chain(&multipath::CASES)
                .chain(&scheduling::CASES)
                .filter(|case| is_chosen(stack, case))
            {
                failed += usize::from(!run(Given { network, programs, stack }, case));
                network.heal();
            }
        }
        failed + beside.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    println!("{failed} cases have failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn title(stack: Stack, case: &Case) -> String {
    format!("{}: {}", stack.name(), case.0)
}

/// Runs a case and says how it went.
fn run(given: Given<'_>, case: &Case) -> bool {
    #[expect(clippy::disallowed_types, reason = "how long a case takes is said, and decides nothing")]
    let begun = std::time::Instant::now();
    let is_right = catch_unwind(AssertUnwindSafe(|| case.1(given))).is_ok();
    if !is_right {
        let guest =
            given.network.guest("uptime; tail -n +3 /proc/net/dev; cat /proc/interrupts; dmesg | tail -n 5");
        println!("the guest: {guest}");
    }
    let how = if is_right { "ok" } else { "FAILED" };
    println!("{} ... {how} ({:.1} s)", title(given.stack, case), begun.elapsed().as_secs_f64());
    is_right
}
