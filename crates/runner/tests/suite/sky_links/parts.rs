//! Parts of the delays of messages that go over satellites.

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOutput, Scenario};

use super::{BENT_PIPE, LONDON_TO_BOSTON, SHIP_AND_TELEPORT, number, run_once, text};

const PARTS: [&str; 7] = [
    "sender_wait_s",
    "retransmission_s",
    "queueing_s",
    "transmission_s",
    "propagation_s",
    "link_repetition_s",
    "receiver_wait_s",
];

fn run_text(file: &str, sky: &'static str) -> RunOutput {
    let files: slantpath_runner::Files = std::sync::Arc::new(move |_| Ok(sky.to_owned()));
    run_once(&Scenario::parse("f.toml", file, &[], files).unwrap_or_else(|error| panic!("{error}")))
}

/// The rows of messages that were delivered, of which every part must be there and all must make up the delay.
fn delivered(messages: &Table) -> Vec<usize> {
    let is_delivered =
        |&row: &usize| !matches!(messages.column("delay_s").expect("a column").at(row), CellValue::Missing);
    let rows: Vec<usize> = (0..messages.rows()).filter(is_delivered).collect();
    for &row in &rows {
        let sum: f64 = PARTS.iter().map(|part| number(messages, row, part)).sum();
        let delay = number(messages, row, "delay_s");
        assert!((sum - delay).abs() < 1e-9, "message {row}: {sum} s of {delay} s");
    }
    rows
}

/// The messages that went out for the first time within a tenth of a second after a path of the flow began, each with
/// the delay of that path.
fn after_path_changes(output: &RunOutput) -> Vec<(usize, f64)> {
    let paths = output.table("sky_paths").expect("there is a sky");
    let messages = output.table("messages").expect("they are recorded");
    let rows = delivered(messages);
    let mut found = Vec::new();
    for path in (0..paths.rows()).filter(|&row| !text(paths, row, "satellites").is_empty()) {
        let (at, delay) = (number(paths, path, "at_s"), number(paths, path, "propagation_s"));
        let is_next = |&&row: &&usize| {
            let sent = number(messages, row, "first_transmitted_s");
            (at..at + 0.1).contains(&sent) && number(messages, row, "transmissions") == 1.0
        };
        found.extend(rows.iter().find(is_next).map(|&row| (row, delay)));
    }
    found
}

#[test]
fn over_a_bent_pipe_the_way_up_and_down_is_propagation_and_one_link_less_transmits() {
    let output = run_text(BENT_PIPE, SHIP_AND_TELEPORT);
    let messages = output.table("messages").expect("they are recorded");
    // 560 bytes at 5 Mbit/s up and at 1 Gbit/s over the fibre, each to the next nanosecond; the satellite only repeats.
    let sending = 560.0 * 8.0 / 5e6 + 560.0 * 8.0 / 1e9;
    let rows = delivered(messages);
    let alone = rows.iter().filter(|&&row| (number(messages, row, "transmission_s") - sending).abs() < 3e-9);
    assert!(alone.count() > rows.len() * 9 / 10, "a message is one packet");
    // What has no transmitter is never busy.
    let links = output.table("links").expect("always");
    let used = links.column("utilisation_ratio").expect("always");
    for row in 0..links.rows() {
        let is_of_antenna = text(links, row, "link").starts_with("sky.");
        let is_transmitter = !is_of_antenna || text(links, row, "direction") == "forward";
        assert_eq!(matches!(used.at(row), CellValue::F64(_)), is_transmitter, "row {row}");
    }
    let changes = after_path_changes(&output);
    assert!(changes.len() > 2, "{}", changes.len());
    for (row, delay) in changes {
        // In a tenth of a second two links change by some microseconds.
        let propagation = number(messages, row, "propagation_s");
        assert!(
            (propagation - delay).abs() < 10e-6,
            "message {row}: {propagation} s, the path has {delay} s"
        );
    }
}

#[test]
fn over_shared_downlinks_and_handovers_every_link_transmits_and_what_is_held_is_queueing() {
    const SKY: &str = "[topology]\nname = \"f\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"1 h\"\n\
                       [constellations.iridium]\nsatellites = { kind = \"preset\", preset = \"iridium\" }\n\
                       [sites.london]\nlatitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\n\
                       [sites.boston]\nlatitude = \"42.3 deg\"\nlongitude = \"-71.1 deg\"\n\
                       [ground]\nhandover_time = \"2 s\"\n";
    let head = "[scenario]\nname = \"f\"\nduration = \"30 min\"\n[sky]\ntopology = \"sky.toml\"\n";
    let output = run_text(&format!("{head}{LONDON_TO_BOSTON}"), SKY);
    let messages = output.table("messages").expect("they are recorded");
    let rows = delivered(messages);
    // 560 bytes up and down at 2 Mbit/s, and over each link between satellites at 25 Mbit/s.
    let (ground, between) = (2.0 * 560.0 * 8.0 / 2e6, 560.0 * 8.0 / 25e6);
    let links = |row: usize| (number(messages, row, "transmission_s") - ground) / between;
    let whole = rows.iter().filter(|&&row| {
        let links = links(row);
        (links - links.round()).abs() < 1e-4 && (1.0..10.0).contains(&links)
    });
    assert!(whole.count() > rows.len() * 9 / 10, "a message is one packet");
    let changes = after_path_changes(&output);
    assert!(changes.len() > 5, "{}", changes.len());
    for (row, delay) in changes {
        let propagation = number(messages, row, "propagation_s");
        assert!(
            (propagation - delay).abs() < 20e-6,
            "message {row}: {propagation} s, the path has {delay} s"
        );
    }
    // While an antenna looks for its next satellite for two seconds, what is sent waits at it.
    let held = |row: usize| number(messages, row, "queueing_s");
    let longest = rows.iter().map(|&row| held(row)).fold(0.0, f64::max);
    assert!((1.0..2.1).contains(&longest), "{longest} s");
}
