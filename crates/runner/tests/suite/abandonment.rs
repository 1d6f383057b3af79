//! Flows whose messages may be given up: what the tables say of them.

use slantpath_results::CellValue;
use slantpath_runner::RunOutput;

use crate::cells::cells;
use crate::project;

/// The scenario of several kinds of messages, for as long as a test has time, with so much loss that some are given up
/// in it.
fn run_mixed(overrides: &[&str]) -> RunOutput {
    let short = ["scenario.duration=100 s", "flows.terminal.end=60 s", "links.satellite.loss=5 %"];
    project::run_file("mixed-traffic-over-geo.toml", &[&short, overrides].concat())
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

/// Abandoned messages of a stream, unsent and sent, by policy.
fn by_stream(output: &RunOutput) -> Vec<(String, f64, [f64; 2])> {
    let table = output.table("abandonments").unwrap();
    let policies = table.column("policy").unwrap();
    let [streams, unsent, sent] = ["stream", "unsent_messages", "sent_messages"].map(|column| {
        cells(output, "abandonments", column).into_iter().map(Option::unwrap).collect::<Vec<_>>()
    });
    let row = |row: usize| {
        let CellValue::Text(policy) = policies.at(row) else { panic!("a policy is a string") };
        (policy.to_owned(), streams[row], [unsent[row], sent[row]])
    };
    (0..table.rows()).map(row).collect()
}

#[test]
fn what_is_given_up_is_counted_by_stream_and_policy() {
    let all = |output: &RunOutput| by_stream(output).iter().flat_map(|(.., counts)| *counts).sum::<f64>();
    let output = run_mixed(&[]);
    let [(policy, stream, [_, sent])] = &by_stream(&output)[..] else { panic!("only telemetry is given up") };
    assert_eq!((policy.as_str(), *stream), ("lifetime", 1.0));
    assert!(*sent > 0.0);
    assert_eq!(all(&output), of_flow(&output, "messages_abandoned"));
    // Without the agreement of the peer only what was not sent is given up.
    let output = run_mixed(&["sctp.default.extensions=[]"]);
    assert_eq!(by_stream(&output)[0].2[1], 0.0);
    assert_eq!(all(&output), of_flow(&output, "messages_abandoned"));
    // Counts begin with the end of the warm-up, as those of the flow do.
    let late = run_mixed(&["sctp.default.extensions=[]", "scenario.warm_up=30 s"]);
    assert!(all(&late) > 0.0 && all(&late) < all(&output), "{} and {}", all(&late), all(&output));
    assert_eq!(all(&late), of_flow(&late, "messages_abandoned"));
}

/// Telemetry offers twice what the link carries, and fills a small buffer. Signalling comes all the same: no kind
/// waits until another has found room, and its messages make room for themselves.
#[test]
fn where_the_buffer_is_full_messages_of_a_low_priority_make_room_for_others() {
    let output = run_mixed(&[
        "sctp.default.send_buffer=256 KiB",
        "flows.terminal.application={ kind = \"mixed\", classes = { \
            signalling = { stream = 0, message_size = \"100 B\", interval = \"50 ms\" }, \
            telemetry = { stream = 1, message_size = \"1000 B\", interval = \"2 ms\", priority = 3 } } }",
    ]);
    let [(policy, stream, [unsent, sent])] = &by_stream(&output)[..] else { panic!("one policy") };
    assert_eq!((policy.as_str(), *stream, *sent), ("priority", 1.0, 0.0));
    assert!(*unsent > 0.0);
    let (longest, missing) = delays(&output, 100.0);
    assert!(missing == 0 && longest < 2.0, "{longest} s, {missing} missing");
}

#[test]
fn a_flow_that_gives_nothing_up_has_no_such_table() {
    let plain = "flows.terminal.application={ kind = \"bulk\", total = \"1 MB\" }";
    assert!(run_mixed(&[plain, "flows.terminal.stream_values=[0]"]).table("abandonments").is_none());
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
