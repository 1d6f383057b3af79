//! Captures of signalling, as Wireshark reads them: nothing in them is malformed, stamps of loads included.

use slantpath_runner::{RunOptions, Scenario, files_in, run};
use slantpath_testkit::Tshark;

use crate::effects::{base, folder};

/// Runs a base with captures of two links, and holds each against what it says of its packets.
#[track_caller]
fn hold(name: &str, links: &str, protocol: &str) {
    let settings = [format!("probes.captures={links}")];
    let files = files_in(&folder().join("bases"));
    let scenario = Scenario::parse(name, &base(name), &settings, files).unwrap();
    let output = run(&scenario, &RunOptions::default()).unwrap();
    assert_eq!(output.captures.len(), 2);
    let mut own = 0;
    for capture in &output.captures {
        let tshark = Tshark::of_octets(&format!("{name}-{}", capture.link), &capture.pcapng);
        let Some(rows) = tshark.rows(&["frame.protocols", "_ws.malformed", "_ws.expert.message"]) else {
            return;
        };
        own += rows.iter().filter(|row| row[0].contains(protocol)).count();
        let malformed: Vec<&Vec<String>> = rows
            .iter()
            .filter(|row| !row[1].is_empty() || row[0].contains("isup") || row[2].contains("alformed"))
            .collect();
        assert!(malformed.is_empty(), "{} on {}: {:?}", malformed.len(), capture.link, malformed.first());
    }
    assert!(own > 1_000, "{own} packets of {protocol}");
}

#[test]
fn messages_of_a_load_over_m2pa_are_malformed_for_nobody() {
    hold("m2pa", "[\"first\", \"second\"]", "m2pa");
}

#[test]
fn messages_of_a_load_over_m3ua_are_malformed_for_nobody() {
    hold("gateway", "[\"long\", \"lan-2\"]", "m3ua");
}
