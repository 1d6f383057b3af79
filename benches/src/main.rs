//! `make bench`: every comparison, one table after the other.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

use std::process::ExitCode;

use slantpath_benches::pair::dcsctp::Dcsctp;
use slantpath_benches::pair::sctp_proto::SctpProto;
use slantpath_benches::pair::slantpath::Slantpath;
use slantpath_benches::pair::{Endpoint, Pair, Settings, Side};
use slantpath_benches::rounds::{Contestant, Failure, Work, medians};
use slantpath_benches::table::{Row, Table};

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    match pairs() {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn pairs() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for (bytes, count) in [(1_024, 200_000), (100, 500_000)] {
        let mut contestants = [
            contestant("slantpath", bytes, count, Slantpath::new),
            contestant("dcsctp", bytes, count, Dcsctp::new),
            contestant("sctp-proto", bytes, count, SctpProto::new),
        ];
        let speeds = medians(&mut contestants, ROUNDS)?;
        for (peer, speed) in contestants.iter().zip(&speeds).skip(1) {
            let peer = Some((peer.name.to_owned(), *speed));
            rows.push(Row { case: format!("messages of {bytes} bytes"), ours: speeds[0], peer });
        }
    }
    Ok(Table { unit: "messages".into(), rows })
}

fn contestant<E: Endpoint + 'static>(
    name: &'static str,
    bytes: usize,
    count: usize,
    new: fn(Side, &Settings) -> E,
) -> Contestant<'static> {
    let work = move || {
        let settings = Settings::default();
        let mut pair = Pair::connected(new(Side::Client, &settings), new(Side::Server, &settings))?;
        pair.transfer(bytes, count, &settings)?;
        Ok(Work::Here { units: count as f64 })
    };
    Contestant { name, work: Box::new(work) }
}
