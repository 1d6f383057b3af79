//! Check that `slantpath explain` finds in a capture of two Linux ends the failover that their own logs tell: when the
//! path was taken down, and when the first new message came by the other.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use slantpath_testkit::needs_program;

use crate::Guest;

/// Round trip of either path, in seconds: as `peers/linux-failover/ends.py` makes it.
const ROUND_TRIP_S: f64 = 0.5;

/// Fails the first of two paths between two ends in a guest, and holds what is found to what was logged.
pub(crate) fn check(guest: &Guest) {
    const PYTHON: &str = "/usr/bin/python3";
    if !Path::new(PYTHON).exists() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        needs_program(&missing, "apt-get install python3-minimal");
        return;
    }
    let place = std::env::temp_dir().join(format!("slantpath-failover-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory for a capture");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/linux-failover/ends.py");
    let script = script.canonicalize().expect("a script of this repository");
    let mut ends = Command::new(guest.scripts.join("run-in-guest"));
    let said = ends.arg(&guest.name).args([PYTHON.as_ref(), script.as_path(), &place]).output();
    let said = said.expect("a script that starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    let log: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{errors}"));
    let mut explain = Command::new(env!("CARGO_BIN_EXE_slantpath"));
    let explain =
        explain.arg("explain").arg(place.join("failover.pcap")).args(["--rto-min", "500 ms", "--json"]);
    let told = explain.output().expect("the command starts").stdout;
    let told: Value = serde_json::from_slice(&told).expect("JSON");
    let steps = told["associations"].as_array().into_iter().flatten();
    let steps = steps.flat_map(|association| association["steps"].as_array().into_iter().flatten());
    let found: Vec<&Value> = steps.filter(|step| step["step"] == "failed-over").collect();
    let [step] = found[..] else { panic!("one failover: {found:?}\n{log}") };
    assert_eq!((step["former"].as_str(), step["path"].as_str()), (Some("10.84.0.2"), Some("10.84.1.2")));
    // Both number the messages from zero.
    let arrivals = log["arrivals"].as_array().expect("rows");
    let first = arrivals.iter().find(|arrival| arrival[0] == step["message"]).expect("it has come");
    let came = first[1].as_f64().expect("a time");
    // The path failed between these two instants.
    let [longest, shortest] = [0, 1].map(|edge| came - log["failed"][edge].as_f64().expect("a time"));
    let took = told["outcome"]["first_failover_s"].as_f64().expect("a time");
    assert!(
        took > longest - ROUND_TRIP_S && took < shortest + ROUND_TRIP_S,
        "{took} s are explained; by the logs it took {shortest} to {longest} s: {step}"
    );
    // Far more than a round trip is at stake: the silence is that of a time-out.
    assert!(shortest > ROUND_TRIP_S, "{shortest}");
    let _ = std::fs::remove_dir_all(place);
    println!(
        "a failover of a kernel took {shortest:.3} to {longest:.3} s by its logs, and {took:.3} s as explained"
    );
}
