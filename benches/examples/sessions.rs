//! FTP sessions over LEO and GEO beside ns-2.35, alone: `cargo run --release -p slantpath-benches --example sessions`.

#![allow(clippy::print_stdout, reason = "a command speaks through its streams")]

use slantpath_benches::rounds::Failure;
use slantpath_benches::sessions::sessions;

fn main() -> Result<(), Failure> {
    println!("{}", sessions()?);
    Ok(())
}
