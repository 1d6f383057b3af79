//! One host with many flows of the same total load: `cargo run --release -p slantpath-benches --example one_host --
//! tcp|sctp FLOWS SECONDS`. The time is that of the seconds after all flows are there. For instructions, run it under
//! `perf stat -e instructions:u` or callgrind with two numbers of seconds, and divide the difference.

#![allow(clippy::print_stdout, reason = "a command speaks through its streams")]

use slantpath_base::Duration;
use slantpath_benches::cpu_time::CpuTime;
use slantpath_benches::dumbbell::Protocol;
use slantpath_benches::one_host::{self, Case};
use slantpath_benches::rounds::Failure;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, flows, seconds] = &arguments[..] else {
        return Err("usage: one_host tcp|sctp FLOWS SECONDS".into());
    };
    let protocol = match protocol.as_str() {
        "sctp" => Protocol::Sctp,
        "tcp" => Protocol::Tcp,
        other => return Err(format!("the protocol is tcp or sctp, not {other}").into()),
    };
    let mut network = one_host::opened(Case { protocol, flows: flows.parse()? });
    let (hops, before) = (network.packet_hops(), CpuTime::read()?);
    network.run_until(network.now().saturating_add(Duration::from_secs(seconds.parse()?)));
    let (hops, seconds) = (network.packet_hops() - hops, CpuTime::read()?.own - before.own);
    println!(
        "{flows} flows: {hops} packet-hops in {seconds:.3} s of CPU time, {:.0} ns each",
        seconds * 1e9 / hops as f64
    );
    Ok(())
}
