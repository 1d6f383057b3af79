//! The signalling tables of `make bench` alone.

#![allow(clippy::print_stdout, reason = "a command speaks through its streams")]

use slantpath_benches::rounds::Failure;
use slantpath_benches::signalling::{m3ua, network};

fn main() -> Result<(), Failure> {
    println!("{}", m3ua::codec()?);
    println!("{}", m3ua::forwarding()?);
    println!("{}", m3ua::delays()?);
    println!("{}", network::lines()?);
    println!("{}", network::associations()?);
    Ok(())
}
