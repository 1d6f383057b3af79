//! One dumbbell, ours alone, for a profiler: `cargo run --release -p slantpath-benches --example dumbbell --
//! tcp|sctp FLOWS DELAY_MS SECONDS`.

#![allow(clippy::print_stdout, reason = "a command speaks through its streams")]

use slantpath_benches::cpu_time::CpuTime;
use slantpath_benches::dumbbell::{self, Case, Governed, Protocol};
use slantpath_benches::rounds::Failure;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, flows, delay_ms, seconds] = &arguments[..] else {
        return Err("usage: dumbbell tcp|sctp FLOWS DELAY_MS SECONDS".into());
    };
    let protocol = match protocol.as_str() {
        "sctp" => Protocol::Sctp,
        "tcp" => Protocol::Tcp,
        other => return Err(format!("the protocol is tcp or sctp, not {other}").into()),
    };
    let case = Case {
        protocol,
        governed: Governed::ByTheRfcs,
        flows: flows.parse()?,
        delay_ms: delay_ms.parse()?,
        seconds: seconds.parse()?,
    };
    let before = CpuTime::read()?;
    let hops = dumbbell::slantpath::run(&case).packet_hops();
    let seconds = CpuTime::read()?.own - before.own;
    println!("{}: {hops} packet-hops in {seconds:.2} s of CPU time", case.title());
    Ok(())
}
