//! Live SCTP over an emulated network whose first path goes down: it fails over as the simulation of the same file.

use serde_json::Value;

use crate::place::{Outcome, Place};

/// Two machines with two paths between them.
fn lab(ends: [[&str; 2]; 4]) -> String {
    let [out1, in1, out2, in2] = ends;
    format!(
        r#"
[scenario]
name = "lab"
duration = "4 s"
seed = 9

[nodes]
near.kind = "attached"
far.kind = "attached"
first.kind = "router"
second.kind = "router"

[links]
out1 = {{ ends = ["near", "first"], addresses = {out1:?}, rate = "10 Mbit/s", delay = "10 ms" }}
in1 = {{ ends = ["first", "far"], addresses = {in1:?}, rate = "10 Mbit/s", delay = "10 ms" }}
out2 = {{ ends = ["near", "second"], addresses = {out2:?}, rate = "10 Mbit/s", delay = "10 ms" }}
in2 = {{ ends = ["second", "far"], addresses = {in2:?}, rate = "10 Mbit/s", delay = "10 ms" }}

[sctp.quick]
rto_initial = "250 ms"
rto_min = "100 ms"
rto_max = "250 ms"
path_max_retrans = 2
sack_delay = "40 ms"

[flows.signals]
transport = "sctp"
profile = "quick"
from = "near"
to = "far"
primary = "in1"
when_blocked = "queue"
application = {{ kind = "constant-rate", message_size = "250 B", rate = "200 kbit/s" }}

[[script]]
at = "2 s"
link = "in1"
action = "down"
"#
    )
}

/// A number of a summary, by its keys.
fn number(summary: &Value, keys: &[&str]) -> f64 {
    let found = keys.iter().fold(summary, |at, key| &at[key]).as_f64();
    found.unwrap_or_else(|| panic!("{keys:?} in {summary}"))
}

#[test]
fn live_sctp_fails_over_on_an_emulated_network_as_in_the_simulation_of_its_file() {
    let v4 = [
        ["10.9.1.1", "10.9.1.2"],
        ["10.9.3.1", "10.9.3.2"],
        ["10.9.2.1", "10.9.2.2"],
        ["10.9.4.1", "10.9.4.2"],
    ];
    let v6 = [
        ["fd09:1::1", "fd09:1::2"],
        ["fd09:3::1", "fd09:3::2"],
        ["fd09:2::1", "fd09:2::2"],
        ["fd09:4::1", "fd09:4::2"],
    ];
    std::thread::scope(|scope| {
        for (name, ends) in [("v4", v4), ("v6", v6)] {
            scope.spawn(move || fail_over(name, ends));
        }
    });
}

fn fail_over(name: &str, ends: [[&str; 2]; 4]) {
    let place = Place::new(&format!("emulate-failover-{name}"));
    place.write("lab.toml", &lab(ends));
    let program = env!("CARGO_BIN_EXE_slantpath");
    let echo = format!("{program} echo --udp --discard --profile lab.toml --associations 1");
    let load = format!(
        "{program} load {} {} --udp --one-way --like lab.toml --for '3500 ms' --json load.json",
        ends[1][1], ends[3][1]
    );
    let emulated = ["emulate", "lab.toml", "--late", "10 s", "--in", "far", &echo, "--ready", "far:9899"];
    let outcome: Outcome = place
        .command(&[&emulated[..], &["--in", "near", &load]].concat())
        .output()
        .expect("the program runs")
        .into();
    if outcome.is_refused_namespaces() {
        return;
    }
    assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
    let summary = std::fs::read(place.path().join("load.json")).expect("a summary");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    assert_eq!(summary["failovers"], 1, "{summary}");
    let [live_s, simulated_s] = [&[][..], &["simulated"]]
        .map(|of: &[&str]| number(&summary, &[of, &["longest_failover_s"]].concat()));
    // Three time-outs at their least: nothing makes them shorter. A SACK is late by its delay at most, and what a busy
    // machine adds is told.
    let late_s = 4.0 * number(&summary, &["machine", "lateness_max_s"]);
    let apart_s = live_s - simulated_s;
    assert!(
        (-0.06..0.06 + late_s).contains(&apart_s),
        "{live_s} s, simulated {simulated_s} s: {}",
        outcome.err
    );
}
