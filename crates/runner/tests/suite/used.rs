//! Share of its time for which the transmitter of a link sends: measured where it sends, whatever becomes of the
//! packets and of its rate.

use slantpath_runner::RunOutput;

use crate::alone::run_text;
use crate::cells::cells;

const RATE: f64 = 1e6;
const SECONDS: f64 = 20.0;

/// Data go forward over a link of 1 Mbit/s for 20 s, in intervals of 3 s.
fn run_with(link: &str, application: &str, more: &str) -> RunOutput {
    run_text(&format!(
        r#"
[scenario]
name = "used"
duration = "20 s"
[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}
[links.l]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
{link}
[flows.f]
transport = "sctp"
from = "a"
to = "b"
application = {application}
[probes]
intervals = "3 s"
messages = false
{more}
"#
    ))
}

const BULK: &str = r#"{ kind = "bulk", total = "unlimited" }"#;
const STEADY: &str = r#"{ kind = "constant-rate", message_size = "1000 B", interval = "20 ms" }"#;

/// Of the direction in which data go, over the whole run and in each interval; the intervals make the whole.
fn used(output: &RunOutput) -> (f64, Vec<f64>) {
    let forward = |table: &str, column: &str| -> Vec<f64> {
        cells(output, table, column).into_iter().step_by(2).map(Option::unwrap).collect()
    };
    let whole = forward("links", "utilisation_ratio")[0];
    let each = forward("link_intervals", "utilisation_ratio");
    let spans = forward("link_intervals", "end_s").into_iter().zip(forward("link_intervals", "start_s"));
    let sum: f64 = spans.zip(&each).map(|((end, start), ratio)| ratio * (end - start)).sum();
    assert!((sum - whole * SECONDS).abs() < 1e-6, "{sum} s in intervals, {} s in all", whole * SECONDS);
    (whole, each)
}

#[test]
fn a_link_that_is_full_is_used_whole_whatever_a_script_makes_of_its_rate() {
    for rate in ["10 Mbit/s", "100 kbit/s"] {
        let script = format!("[[script]]\nat = \"9 s\"\nlink = \"l\"\naction = \"set\"\nrate = \"{rate}\"");
        let (whole, each) = used(&run_with("", BULK, &script));
        assert!(whole > 0.99 && whole <= 1.0, "{whole} with {rate}");
        assert!(each[1..].iter().all(|&ratio| ratio > 0.99 && ratio <= 1.0), "{each:?} with {rate}");
    }
}

#[test]
fn a_link_that_is_down_is_not_used_meanwhile() {
    let script = "[[script]]\nat = \"6 s\"\nlink = \"l\"\naction = \"down\"";
    let (whole, each) = used(&run_with("", BULK, script));
    assert!(each[1] > 0.99, "{each:?}");
    assert_eq!(each[2..], [0.0; 5]);
    assert!(whole > 0.28 && whole <= 0.3, "{whole}");
}

#[test]
fn what_is_sent_takes_its_time_whatever_becomes_of_it() {
    // Packets, their bytes and what more the link sends, as a share of what it could.
    let offered = |output: &RunOutput, overhead: f64| {
        let count = |column: &str| cells(output, "links", column)[0].unwrap();
        8.0 * (count("offered_bytes") + overhead * count("offered_packets")) / RATE / SECONDS
    };
    let plain = [
        ("", 0.0),
        (r#"link_overhead = "26 B""#, 26.0),
        // Lost on the way, and twice at the far end.
        (r#"forward.loss = "20 %""#, 0.0),
        (r#"forward.duplicate = "50 %""#, 0.0),
    ];
    for (link, overhead) in plain {
        let output = run_with(link, STEADY, "");
        let ((whole, _), wanted) = (used(&output), offered(&output, overhead));
        // What is being sent at the end may be missing.
        assert!(whole > 0.2 && (whole - wanted).abs() < 1e-3, "{whole}, not {wanted}, with {link}");
    }
    // What an error hits is retransmitted, and takes its time again; a header that is compressed takes less.
    let repeating = run_with("forward = { loss = \"20 %\", arq = { tries = 9 } }", STEADY, "");
    let compressing =
        run_with("header_compression = { header = \"20 B\", compressed = \"4 B\" }", STEADY, "");
    for (output, factor, tolerance) in [(repeating, 1.25, 0.03), (compressing, 1.0 - 16.0 / 1_048.0, 1e-3)] {
        let ((whole, _), wanted) = (used(&output), factor * offered(&output, 0.0));
        assert!((whole - wanted).abs() < tolerance, "{whole}, not {wanted}");
    }
}
