//! `make bench`: every comparison, one table after the other.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

use std::process::ExitCode;

use slantpath_benches::pair::dcsctp::Dcsctp;
use slantpath_benches::pair::sctp_proto::SctpProto;
use slantpath_benches::pair::{Endpoint, Pair, Settings};
use slantpath_benches::rounds::{Contestant, Failure, Work, medians};

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    match pairs() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn pairs() -> Result<(), Failure> {
    let settings = Settings::default();
    for (bytes, count) in [(1_024, 100_000), (100, 300_000)] {
        let mut contestants = [
            contestant("dcsctp", bytes, count, || Dcsctp::new("bench", &settings)),
            contestant("sctp-proto", bytes, count, || SctpProto::new(&settings)),
        ];
        let speeds = medians(&mut contestants, ROUNDS)?;
        println!("{bytes} {speeds:?}");
    }
    Ok(())
}

fn contestant<'a, E: Endpoint>(
    name: &'a str,
    bytes: usize,
    count: usize,
    new: impl Fn() -> E + 'a,
) -> Contestant<'a> {
    let work = move || {
        let mut pair = Pair::connected(new(), new())?;
        pair.transfer(bytes, count, &Settings::default())?;
        Ok(Work::Here { units: count as f64 })
    };
    Contestant { name, work: Box::new(work) }
}
