//! Linux's SCTP, in a guest kernel, and usrsctp as peers of a live host, over links that lose, double, reorder, fail
//! and are too small. Every byte is checked at both ends.
//!
//! The cases over one of IPv4, IPv6 and UDP share one guest, so that this has a `main` of its own. Words on the command
//! line choose cases whose names have them. What cannot run here is skipped, loudly.

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

use cases::{BESIDE, CASES, Case, Given, Underlay};
use exchange::StandsStill;
use network::Network;
use peer::{Programs, Stack};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if std::env::args().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let (programs, stacks) = Programs::build();
    // Each has a network of its own, whose links its cases share.
    let failed = std::thread::scope(|scope| {
        let over = |underlay| {
            let (words, programs, stacks) = (&words, &programs, &stacks);
            scope.spawn(move || run_over(underlay, words, programs, stacks))
        };
        let running = Underlay::ALL.map(over);
        running.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    println!("{failed} cases have failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the chosen cases: how many have failed.
fn run_over(underlay: Underlay, words: &[String], programs: &Programs, stacks: &[Stack]) -> usize {
    let one_after_the_other = || {
        let others = extensions::CASES.iter().chain(&reconfiguration::CASES).chain(&path_mtu::CASES);
        CASES.iter().chain(others).chain(&multipath::CASES).chain(&scheduling::CASES)
    };
    let is_chosen = |stack: Stack, case: &Case| {
        let name = title(stack, underlay, case);
        words.iter().all(|word| name.contains(word.as_str()))
    };
    let chosen = |stack: Stack| one_after_the_other().chain(&BESIDE).any(|case| is_chosen(stack, case));
    if !stacks.iter().any(|stack| chosen(*stack)) {
        return 0;
    }
    let Some(network) = Network::start(underlay) else { return 0 };
    let network = &network;
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            network.enter();
            let of = |stack| BESIDE.iter().map(move |case| (stack, case));
            let chosen = stacks.iter().copied().flat_map(of).filter(|(stack, case)| is_chosen(*stack, case));
            let runs = chosen.map(|(stack, case)| run(Given { network, programs, stack, underlay }, case));
            runs.filter(|is_right| !is_right).count()
        });
        let mut failed = 0;
        for &stack in stacks {
            for case in one_after_the_other().filter(|case| is_chosen(stack, case)) {
                failed += usize::from(!run(Given { network, programs, stack, underlay }, case));
                network.heal();
            }
        }
        failed + beside.join().unwrap()
    })
}

fn title(stack: Stack, underlay: Underlay, case: &Case) -> String {
    format!("{} over {}: {}", stack.name(), underlay.name(), case.0)
}

/// Runs a case and says how it went.
fn run(given: Given<'_>, case: &Case) -> bool {
    #[expect(clippy::disallowed_types, reason = "how long a case takes is said, and decides nothing")]
    let begun = std::time::Instant::now();
    let is_right = || match catch_unwind(AssertUnwindSafe(|| case.1(given))) {
        Ok(()) => true,
        Err(why) => {
            if let Some(StandsStill(told)) = why.downcast_ref() {
                println!("the peer's program stands still:\n{told}");
            }
            false
        }
    };
    let again = || {
        // Both ends have real clocks, beside whatever else the machine does.
        println!("{} ... failed, and gets one more trial", title(given.stack, given.underlay, case));
        is_right()
    };
    let is_right = is_right() || again();
    if !is_right {
        let guest =
            given.network.guest("uptime; tail -n +3 /proc/net/dev; cat /proc/interrupts; dmesg | tail -n 5");
        println!("the guest: {guest}");
    }
    let how = if is_right { "ok" } else { "FAILED" };
    println!(
        "{} ... {how} ({:.1} s)",
        title(given.stack, given.underlay, case),
        begun.elapsed().as_secs_f64()
    );
    is_right
}
