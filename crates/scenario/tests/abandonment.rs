//! Flows whose messages may be given up: what the tables say of them.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "tables/cells.rs"]
mod cells;

use std::path::Path;

use slantpath_scenario::{RunOptions, RunOutput, Scenario, run};

use cells::cells;

/// The scenario of several kinds of messages, for as long as a test has time, with so much loss that some are given up in it.
fn run_mixed(overrides: &[&str]) -> RunOutput {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/mixed-traffic-over-geo.toml");
    let short = ["scenario.duration=100 s", "flows.terminal.end=60 s", "links.satellite.loss=5 %"];
    let overrides: Vec<String> = short.iter().chain(overrides).map(|&text| text.to_owned()).collect();
    let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap()
}

fn of_flow(output: &RunOutput, column: &str) -> f64 {
    cells(output, "flows", column)[0].unwrap()
}

/// The longest delay of messages of so many bytes, and how many have none.
fn delays(output: &RunOutput, bytes: f64) -> (f64, usize) {
    let sizes = cells(output, "messages", "size_bytes");
    let delays = cells(output, "messages", "delay_s");
    let of_size = sizes.iter().zip(&delays).filter(|(size, _)| **size == Some(bytes));
    let (mut longest, mut missing) = (0.0_f64, 0);
    for (_, delay) in of_size {
        match delay {
            Some(delay) => longest = longest.max(*delay),
            None => missing += 1,
        }
    }
    (longest, missing)
}

#[test]
fn every_message_is_delivered_or_was_given_up_and_none_of_those_that_must_arrive_is() {
    let output = run_mixed(&[]);
    let [sent, delivered, abandoned] =
        ["messages_sent", "messages_delivered", "messages_abandoned"].map(|name| of_flow(&output, name));
    assert!(abandoned > 0.0);
    assert!(delivered < sent && delivered + abandoned >= sent, "{sent}: {delivered} and {abandoned}");
    assert_eq!(of_flow(&output, "messages_out_of_order") + of_flow(&output, "messages_corrupt"), 0.0);
    assert_eq!(delays(&output, 100.0).1 + delays(&output, 65_536.0).1, 0, "signalling and files arrive");
    assert!(delays(&output, 200.0).1 > 0, "telemetry may not");
}

#[test]
fn without_the_extensions_all_that_was_sent_arrives_and_short_messages_wait_for_long_ones() {
    let (with, without) = (run_mixed(&[]), run_mixed(&["sctp.default.extensions=[]"]));
    let reliable = run_mixed(&["sctp.default.extensions=[\"interleaving\"]"]);
    // Telemetry that waits expires in any case; what was sent is given up only by agreement.
    let abandoned = |output: &RunOutput| of_flow(output, "messages_abandoned");
    assert!(abandoned(&without) > 0.0);
    assert!(abandoned(&reliable) < abandoned(&with));
    // A message of a file takes longer than the signalling is to wait.
    let longest = |output: &RunOutput| delays(output, 100.0).0;
    assert!(2.0 * longest(&with) < longest(&without), "{} and {}", longest(&with), longest(&without));
}
