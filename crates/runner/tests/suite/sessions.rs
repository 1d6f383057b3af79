//! Sessions in scenarios: what is drawn, what comes of it, and what a load that is shared alike takes.

use std::sync::Arc;

use slantpath_runner::{Files, RunOptions, RunOutput, Scenario, run};

use crate::cells::cells;
use crate::project;

fn run_file(overrides: &[&str]) -> RunOutput {
    project::run_file("ftp-sessions.toml", overrides)
}

/// Numbers of a column, without those that are missing.
fn numbers(output: &RunOutput, table: &str, column: &str) -> Vec<f64> {
    cells(output, table, column).into_iter().flatten().collect()
}

/// Of the only row of `session_sources`.
fn count(output: &RunOutput, column: &str) -> f64 {
    let counts = numbers(output, "session_sources", column);
    assert_eq!(counts.len(), 1, "{column}");
    counts[0]
}

#[test]
fn every_session_is_delivered_and_has_a_row() {
    for transport in ["tcp", "sctp"] {
        let output = run_file(&[&format!("sessions.ftp.transport={transport}")]);
        let begun = count(&output, "begun_sessions");
        // Ten a minute for 25 minutes: 250, with a standard deviation of 16.
        assert!((200.0..300.0).contains(&begun), "{begun}");
        assert_eq!(count(&output, "completed_sessions"), begun);
        assert_eq!(count(&output, "failed_sessions") + count(&output, "unfinished_sessions"), 0.0);
        let [sizes, delivered, durations, throughputs, begun_s, last] = [
            "size_bytes",
            "delivered_bytes",
            "duration_s",
            "throughput_bit_per_s",
            "begun_s",
            "last_delivery_s",
        ]
        .map(|column| numbers(&output, "sessions", column));
        assert_eq!((sizes.len() as f64, &sizes), (begun, &delivered));
        assert_eq!(count(&output, "offered_bytes"), sizes.iter().sum::<f64>());
        assert!(
            numbers(&output, "sessions", "number").iter().copied().eq((0..sizes.len()).map(|n| n as f64))
        );
        assert!(begun_s.is_sorted() && begun_s.iter().all(|&at| at < 1_500.0));
        for place in 0..sizes.len() {
            assert!((durations[place] - (last[place] - begun_s[place])).abs() < 1e-9);
            assert!((throughputs[place] - 8.0 * sizes[place] / durations[place]).abs() < 1e-3);
            // A handshake and the way of the first byte take 780 ms.
            assert!(durations[place] > 0.78);
        }
        let again = numbers(&output, "sessions", "retransmissions");
        assert_eq!(again.len(), sizes.len());
        assert_eq!(count(&output, "retransmissions"), again.iter().sum::<f64>());
        assert!(again.iter().sum::<f64>() > 100.0);
    }
}

#[test]
fn what_begins_is_the_same_for_every_size_transport_and_path() {
    let begun = |overrides: &[&str]| numbers(&run_file(overrides), "sessions", "begun_s");
    let all = begun(&[]);
    assert_eq!(begun(&["sessions.ftp.sizes.mean=500 kB"]), all);
    assert_eq!(begun(&["links.satellite.delay=10 ms", "sessions.ftp.transport=sctp"]), all);
    assert_ne!(begun(&["scenario.seed=2"]), all);
    let sizes = |overrides: &[&str]| numbers(&run_file(overrides), "sessions", "size_bytes");
    assert_eq!(sizes(&["links.satellite.delay=10 ms"]), sizes(&[]));
}

#[test]
fn what_is_not_over_is_unfinished_and_what_began_before_the_warm_up_ended_is_left_out() {
    let whole = run_file(&[]);
    let cut = run_file(&["scenario.duration=20 min", "sessions.ftp.end=1199 s"]);
    let unfinished = count(&cut, "unfinished_sessions");
    assert!(unfinished >= 1.0);
    assert_eq!(count(&cut, "begun_sessions"), count(&cut, "completed_sessions") + unfinished);
    let throughputs = numbers(&cut, "sessions", "throughput_bit_per_s");
    assert_eq!(throughputs.len() as f64, count(&cut, "completed_sessions"), "others have none");
    assert!(count(&cut, "delivered_bytes") < count(&cut, "offered_bytes"));
    let warm = run_file(&["scenario.warm_up=10 min"]);
    let later: Vec<f64> =
        numbers(&whole, "sessions", "begun_s").into_iter().filter(|&begun| begun >= 600.0).collect();
    assert_eq!(numbers(&warm, "sessions", "begun_s"), later);
}

#[test]
fn a_link_that_sessions_share_alike_takes_as_long_as_processor_sharing() {
    // With M/G/1 processor sharing a session of x bits at load r takes x / (C (1 - r)) on average, whatever the
    // distribution of sizes is. Flows that take turns of a packet, and windows that fill the link at once, come close.
    let base = [
        "links.satellite.delay=100 us",
        "links.satellite.loss=0",
        "links.satellite.rate=10 Mbit/s",
        "links.satellite.queue=100000 packets",
        "links.satellite.discipline={ kind = \"fq-codel\", target = \"1000 s\", quantum = \"1500 B\" }",
        "scenario.duration=2000 s",
        "scenario.warm_up=100 s",
        "sessions.ftp.arrivals.mean_interval=320 ms",
    ];
    for (sizes, key) in [("fixed", "size"), ("exponential", "mean")] {
        let sizes = format!("sessions.ftp.sizes={{ kind = \"{sizes}\", {key} = \"200 kB\" }}");
        let output = run_file(&[&base[..], &[&sizes]].concat());
        // What was offered over the 1,400 s in which sessions begin, with headers of 40 bytes in 1,500.
        let load = count(&output, "offered_bytes") * 8.0 / 1_400.0 / 1e7 * 1_500.0 / 1_460.0;
        assert!((0.45..0.56).contains(&load), "{load}");
        let expected = 200e3 * 8.0 / 1e7 * 1_500.0 / 1_460.0 / (1.0 - load);
        let ratio = count(&output, "duration_mean_s") / expected;
        assert!((ratio - 1.0).abs() < 0.05, "{sizes}: {ratio} of {expected} s at a load of {load}");
    }
}

#[test]
fn a_trace_says_when_sessions_begin_and_what_they_carry() {
    let text = "\
[scenario]
name = \"traced\"
duration = \"60 s\"
[nodes]
a = { kind = \"host\" }
b = { kind = \"host\" }
[links.wire]
ends = [\"a\", \"b\"]
rate = \"10 Mbit/s\"
delay = \"10 ms\"
[sessions.ftp]
transport = \"tcp\"
from = \"a\"
to = \"b\"
start = \"1 s\"
arrivals = { kind = \"trace\", file = \"fetched.csv\" }
";
    let with = |trace: &'static str| {
        let files: Files = Arc::new(move |name: &str| {
            assert_eq!(name, "fetched.csv");
            Ok(trace.to_owned())
        });
        Scenario::parse("traced.toml", text, &[], files)
    };
    let scenario = with("0.5 s,1 MB\n# two at once\n2 s,10 kB\n2 s,1 B\n").unwrap();
    let output = run(&scenario, &RunOptions::default()).unwrap();
    assert_eq!(numbers(&output, "sessions", "begun_s"), [1.5, 3.0, 3.0]);
    assert_eq!(numbers(&output, "sessions", "delivered_bytes"), [1e6, 1e4, 1.0]);
    for (trace, fault) in [
        ("2 s,1 MB\n1 s,1 MB\n", "1 s is earlier than the line before it"),
        ("1 s,0 B\n", "a session that carries nothing is none"),
        ("1 s\n", "`1 s` is no session"),
    ] {
        let error = with(trace).unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    }
}

#[test]
fn a_connection_to_one_address_of_a_host_is_answered_from_that_address_though_another_way_back_is_shorter() {
    let text = r#"
[scenario]
name = "two-addresses"
duration = "10 s"

[nodes]
server = { kind = "host" }
router = { kind = "router" }
client = { kind = "host" }

[links]
server = { ends = ["server", "router"], rate = "10 Mbit/s", delay = "1 ms" }
near = { ends = ["router", "client"], rate = "10 Mbit/s", delay = "1 ms" }
primary = { ends = ["router", "client"], rate = "10 Mbit/s", delay = "100 ms" }

[sessions.ftp]
transport = "tcp"
from = "server"
to = "client"
primary = "primary"
arrivals = { kind = "constant", interval = "20 s" }
sizes = { kind = "fixed", size = "100 kB" }

[flows.file]
transport = "tcp"
from = "client"
to = "server"
application = { kind = "bulk", total = "100 kB" }
"#;
    let files: Files = Arc::new(|_: &str| unreachable!("no file is named"));
    let scenario = Scenario::parse("two.toml", text, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let output = run(&scenario, &RunOptions::default()).unwrap();
    assert_eq!(count(&output, "completed_sessions"), 1.0);
    assert_eq!(count(&output, "retransmissions"), 0.0);
    assert_eq!(numbers(&output, "flows", "delivered_bytes"), [100_000.0]);
}
