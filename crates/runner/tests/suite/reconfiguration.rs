//! Associations that are told what to do while they live: streams that are added and reset, and keys that change.

use slantpath_results::CellValue;
use slantpath_runner::RunOutput;

use crate::cells::cells;
use crate::project;

fn run_with(overrides: &[&str]) -> RunOutput {
    project::run_file("stream-reconfiguration.toml", overrides)
}

fn texts(output: &RunOutput, column: &str) -> Vec<String> {
    let column = output.table("association_commands").unwrap().column(column).unwrap();
    let text = |row| match column.at(row) {
        CellValue::Text(text) => text.to_owned(),
        other => panic!("{other:?}"),
    };
    (0..column.len()).map(text).collect()
}

#[test]
fn each_command_is_carried_out_in_its_time_and_no_message_is_lost_or_out_of_order() {
    let output = run_with(&[]);
    assert_eq!(
        texts(&output, "action"),
        [
            "add-streams",
            "reset-outgoing-streams",
            "use-key",
            "reset-association",
            "use-key",
            "reset-incoming-streams"
        ]
    );
    assert_eq!(texts(&output, "end"), [["sender"; 4].as_slice(), &["receiver"; 2]].concat());
    assert_eq!(texts(&output, "streams"), ["+2 out, +0 in", "1", "", "", "", ""]);
    assert_eq!(texts(&output, "outcome"), ["done"; 6]);
    let took: Vec<f64> = cells(&output, "association_commands", "took_s").into_iter().flatten().collect();
    let [added, reset, key, all, _, incoming] = took[..] else { panic!("{took:?}") };
    assert_eq!(key, 0.0);
    // A round trip of 560 ms, and nearly another before a reset: what was sent before has to be acknowledged.
    assert!((0.56..0.65).contains(&added), "{added}");
    for waits in [reset, all, incoming] {
        assert!((1.0..3.0).contains(&waits), "{waits}");
    }
    let of_flow = |column| cells(&output, "flows", column)[0].unwrap();
    assert_eq!(of_flow("messages_sent"), of_flow("messages_delivered"));
    assert_eq!(of_flow("messages_corrupt") + of_flow("messages_out_of_order"), 0.0);
}

#[test]
fn what_is_authenticated_costs_its_bytes_in_every_packet() {
    let carried = |overrides: &[&str]| {
        let output = run_with(overrides);
        let packets = cells(&output, "links", "carried_packets")[0].unwrap();
        (packets, cells(&output, "links", "carried_bytes")[0].unwrap())
    };
    let quiet = ["links.satellite.loss=0 %"];
    let (packets, with) = carried(&quiet);
    let only = "sctp.secure.authenticated_chunks=[\"re-config\"]";
    let (packets_without, without) = carried(&[quiet[0], only]);
    assert_eq!(packets, packets_without);
    // AUTH with SHA-256 has 40 bytes. All packets have DATA or a SACK but for those of the setup, the shutdown, and of
    // HEARTBEATs and requests, some of which are authenticated anyway.
    let each = (with - without) / packets;
    assert!((39.5..=40.0).contains(&each), "{each}");
}

#[test]
fn an_end_that_knows_no_such_thing_or_is_not_asked_in_time_says_why() {
    // The second reset comes before 30 s have passed; a request before the first is answered waits for its turn.
    let output = run_with(&["flows.sensors.script=[\
            { at = \"20 s\", action = \"reset-association\" }, \
            { at = \"20.1 s\", action = \"add-streams\", incoming = 1 }, \
            { at = \"40 s\", action = \"reset-association\" }, \
            { at = \"119 s\", action = \"reset-streams\" }]"]);
    let outcomes = texts(&output, "outcome");
    assert_eq!(
        outcomes,
        [
            "done",
            "done",
            "refused: an association is reset once in 30 s",
            "refused: there is no established association"
        ]
    );
}
