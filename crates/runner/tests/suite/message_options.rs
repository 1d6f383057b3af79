//! Options of single messages: a destination, and a SACK at once.

use slantpath_results::CellValue;
use slantpath_runner::RunOutput;

use crate::cells::cells;
use crate::project;

/// The scenario of two kinds of messages over two orbits, for as long as a test has time.
fn over_two_orbits(overrides: &[&str]) -> RunOutput {
    let short = [
        "scenario.duration=70 s",
        "flows.terminal.end=50 s",
        "flows.terminal.application.classes.files.messages=4",
    ];
    project::run_file("signalling-over-leo-files-over-geo.toml", &[&short, overrides].concat())
}

/// The link that each message of so many bytes took first, in order, and when it was offered.
fn first_links(output: &RunOutput, bytes: f64) -> Vec<(f64, String)> {
    let links = output.table("messages").unwrap().column("first_path").unwrap();
    let sizes = cells(output, "messages", "size_bytes");
    let sent = cells(output, "messages", "sent_s");
    let of_size = (0..sizes.len()).filter(|row| sizes[*row] == Some(bytes));
    of_size
        .map(|row| match links.at(row) {
            CellValue::Text(link) => (sent[row].unwrap(), link.to_owned()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn each_kind_of_message_goes_over_the_link_that_it_names_once_that_is_confirmed() {
    let output = over_two_orbits(&["links.leo.loss=0", "links.geo.loss=0"]);
    let (signalling, files) = (first_links(&output, 100.0), first_links(&output, 65_536.0));
    // The first HEARTBEAT has confirmed the second address a few seconds after the association is up.
    let late = signalling.iter().filter(|(sent, _)| *sent > 5.0);
    assert_eq!(late.clone().count(), 90);
    assert!(late.clone().all(|(_, link)| link == "leo"), "{signalling:?}");
    assert_eq!(files.iter().map(|(_, link)| link.as_str()).collect::<Vec<_>>(), ["geo"; 4]);
}

#[test]
fn a_destination_of_the_flow_holds_for_kinds_that_name_none() {
    let output = over_two_orbits(&[
        "links.leo.loss=0",
        "links.geo.loss=0",
        "flows.terminal.destination=leo",
        "flows.terminal.application.classes.signalling.destination=geo",
    ]);
    let of = |bytes: f64| first_links(&output, bytes).last().unwrap().1.clone();
    assert_eq!([of(100.0), of(65_536.0)], ["geo", "leo"]);
}

#[test]
fn messages_of_a_flow_without_kinds_take_its_destination() {
    let output = over_two_orbits(&[
        "links.leo.loss=0",
        "links.geo.loss=0",
        r#"flows.terminal.application={ kind = "constant-rate", message_size = "200 B", interval = "1 s" }"#,
        "flows.terminal.destination=leo",
    ]);
    let links = first_links(&output, 200.0);
    assert!(links.len() > 40 && links[10..].iter().all(|(_, link)| link == "leo"), "{links:?}");
}

#[test]
fn a_destination_that_fails_is_left_for_a_path_that_works() {
    let output = over_two_orbits(&[
        "links.leo.loss=0",
        "links.geo.loss=0",
        "sctp.default.path_max_retrans=1",
        r#"script=[{ at = "20 s", link = "leo", action = "down" }]"#,
    ]);
    let signalling = first_links(&output, 100.0);
    assert_eq!(signalling.last().unwrap().1, "geo");
    let delays = cells(&output, "messages", "delay_s");
    assert!(delays.iter().all(Option::is_some), "all arrive");
}

/// SRTT of the low path at the end, in seconds: what the delay of SACKs adds to it.
fn srtt_of_leo(overrides: &[&str]) -> f64 {
    let clean = [
        "links.leo.loss=0",
        "links.geo.loss=0",
        "probes.paths=1 s",
        "flows.terminal.application.classes.files.interval=1 h",
    ];
    let output = over_two_orbits(&[&clean, overrides].concat());
    let table = output.table("paths").unwrap();
    let paths = table.column("path").unwrap();
    let srtts = cells(&output, "paths", "srtt_s");
    let last = (0..srtts.len()).rev().find(|row| paths.at(*row) == CellValue::Text("leo")).unwrap();
    srtts[last].unwrap()
}

#[test]
fn a_message_that_asks_for_it_is_acknowledged_at_once_so_that_the_rto_is_that_of_the_path() {
    let kind = "flows.terminal.application.classes.signalling.sack_immediately";
    let [asks, waits] = ["true", "false"].map(|value| srtt_of_leo(&[&format!("{kind}={value}")]));
    assert!((0.05..0.08).contains(&asks), "the round trip is 57 ms: {asks}");
    assert!(waits > asks + 0.1, "SACK.Delay is 200 ms: {waits}");
    // What the flow says holds for kinds that say nothing, and only for those.
    let of_flow = "flows.terminal.sack_immediately=true";
    assert!(srtt_of_leo(&[&format!("{kind}=false"), of_flow]) > asks + 0.1);
    let keys = r#"stream = 0, message_size = "100 B", interval = "500 ms", destination = "leo""#;
    let silent = &format!("flows.terminal.application.classes.signalling={{ {keys} }}");
    assert!(srtt_of_leo(&[silent, of_flow]) < 0.08);
    assert!(srtt_of_leo(&[silent]) > asks + 0.1);
}
