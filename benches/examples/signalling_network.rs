//! One case of the signalling network alone, for `valgrind --tool=callgrind`: what carries links (`lines` or
//! `associations`), pairs under load, idle pairs, and seconds.

#![allow(clippy::print_stdout, reason = "a command speaks through its streams")]

use slantpath_base::Duration;
use slantpath_benches::rounds::Failure;
use slantpath_benches::signalling::network::{By, Case};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [by, pairs, idle_pairs, seconds] = &arguments[..] else {
        return Err("four arguments: lines or associations, pairs, idle pairs, seconds".into());
    };
    let by = match by.as_str() {
        "lines" => By::Lines,
        "associations" => By::Associations,
        other => return Err(format!("`{other}`: it can be `lines` or `associations`").into()),
    };
    let duration = Duration::from_secs(seconds.parse()?);
    let case = Case { by, pairs: pairs.parse()?, idle_pairs: idle_pairs.parse()?, duration };
    println!("{} messages", case.run()?);
    Ok(())
}
