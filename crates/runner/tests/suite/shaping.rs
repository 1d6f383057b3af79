//! A router that shapes below the rate of a modem: the queue is where flows take turns, and a call does not wait.

use slantpath_runner::{RunOptions, RunOutput, run};

use crate::cells::cells;
use crate::project;

fn run_with(overrides: &[&str]) -> (RunOutput, usize) {
    let scenario = project::load("shaping.toml", overrides);
    (run(&scenario, &RunOptions::default()).unwrap(), scenario.warnings().len())
}

/// Of the direction of a link by which packets leave: the links are in alphabetical order, forward before reverse.
fn forward(output: &RunOutput, link: usize, column: &str) -> f64 {
    cells(output, "links", column)[2 * link].unwrap()
}

const EDGE: usize = 0;
const SATELLITE: usize = 2;

#[test]
fn a_call_does_not_wait_where_a_router_shapes_and_does_where_the_modem_queues() {
    let (shaped, _) = run_with(&[]);
    let quick = "links.edge.forward.shaper.rate=100 Mbit/s";
    let (unshaped, warnings) = run_with(&[quick]);
    assert_eq!(warnings, 1, "it is told that such a shaper does nothing");
    let voice_ms = |output: &RunOutput| 1e3 * cells(output, "delays", "delay_p99_s")[1].unwrap();
    assert!(voice_ms(&shaped) < 280.0, "{} ms", voice_ms(&shaped));
    assert!(voice_ms(&unshaped) > 2_000.0, "{} ms", voice_ms(&unshaped));
    // The queue is the router's, or the modem's.
    let queues =
        |output: &RunOutput| [EDGE, SATELLITE].map(|link| forward(output, link, "queue_mean_packets"));
    let ([edge, modem], [edge_unshaped, modem_unshaped]) = (queues(&shaped), queues(&unshaped));
    assert!(edge > 10.0 && modem < 1.0 && edge_unshaped < 1.0 && modem_unshaped > 100.0);
    // What passes is what tokens allow at most: 1.9 Mbit/s, and the bucket.
    let passed = forward(&shaped, EDGE, "carried_bytes");
    let allowed = 1.9e6 / 8.0 * 300.0 + 3_000.0;
    assert!(passed <= allowed && passed > 0.85 * allowed, "{passed} of {allowed}");
    assert!(forward(&unshaped, EDGE, "carried_bytes") > allowed);
}
