//! Dumbbell of the benchmark in ns-2.35, if it is installed.

use std::path::PathBuf;
use std::process::Command;

use super::Case;
use crate::rounds::Failure;

/// Tells if there is an `ns` to run.
pub fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("ns").is_file())
}

/// Runs the case with counters and returns its packet-hops.
///
/// # Errors
/// If ns fails or prints something else.
pub fn packet_hops(case: &Case) -> Result<f64, Failure> {
    let output = command(case).arg("count").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_packet_hops(&text).ok_or_else(|| {
        format!("ns printed no packet-hops: {text}{}", String::from_utf8_lossy(&output.stderr)).into()
    })
}

/// Runs the case without counters, for its time.
///
/// # Errors
/// If ns fails.
pub fn run(case: &Case) -> Result<(), Failure> {
    let status = command(case).status()?;
    if status.success() { Ok(()) } else { Err(format!("ns ended with {status}").into()) }
}

fn command(case: &Case) -> Command {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "peers", "ns2", "dumbbell.tcl"].iter().collect();
    let mut command = Command::new("ns");
    command.arg(script).arg(case.protocol.name());
    command.args([case.flows.to_string(), case.delay_ms.to_string(), case.seconds.to_string()]);
    command
}

fn parse_packet_hops(text: &str) -> Option<f64> {
    text.strip_prefix("packet-hops ")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_first_number() {
        assert_eq!(
            parse_packet_hops("packet-hops 2612754 drops 8347 delivered-bytes 1\n"),
            Some(2_612_754.0)
        );
        assert_eq!(parse_packet_hops("no such agent\n"), None);
    }
}
