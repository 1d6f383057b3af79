//! Events at antennas, as tables tell them: from the first instant of a run, and over hours of handovers.

use std::path::Path;

use slantpath_results::Table;
use slantpath_runner::{Scenario, files_in};

use super::{load, number, run_once, text};

#[test]
fn a_gap_at_the_start_and_an_antenna_without_a_satellite_have_a_row_of_their_own_at_0() {
    // A satellite that does not forward joins the first antennas, as soon as `b` is back in service.
    let file = r#"
        [scenario]
        name = "late"
        duration = "60 s"

        [sky]
        epoch = "2026-03-01T00:00:00Z"

        [sky.constellations.geo]
        satellites = { kind = "slots", longitudes = ["0 deg"] }

        [sky.ground]
        min_elevation = "10 deg"

        [sky.sites.a]
        latitude = "40 deg"
        longitude = "5 deg"
        antennas = 2

        [sky.sites.b]
        latitude = "30 deg"
        longitude = "15 deg"

        [[sky.outages]]
        node = "b"
        from = "0 s"
        until = "20 s"

        [sky.access.all]
        rate = "2 Mbit/s"

        [nodes.a]
        kind = "host"
        site = "a"

        [nodes.b]
        kind = "host"
        site = "b"

        [flows.f]
        from = "a"
        to = "b"
        transport = "sctp"
        end = "50 s"
        application = { kind = "constant-rate", message_size = "512 B", interval = "1 s" }
    "#;
    let scenario = Scenario::parse("late.toml", file, &[], files_in(Path::new("")))
        .unwrap_or_else(|error| panic!("{error}"));
    let output = run_once(&scenario);
    let handovers = output.table("handovers").expect("there is a sky");
    let cells = |table: &Table, row: usize, columns: &[&str]| {
        let cells: Vec<String> = columns.iter().map(|column| text(table, row, column)).collect();
        format!("{} {}", number(table, row, "at_s"), cells.join("|"))
    };
    let told: Vec<String> =
        (0..handovers.rows()).map(|row| cells(handovers, row, &["link", "from", "to", "cause"])).collect();
    let expected = [
        "0 sky.a.1|||span begins",
        "0 sky.a.2|||span begins",
        "0 sky.b|||span begins",
        "20 sky.a.1||geo-1|at the other end",
        "20 sky.b||geo-1|outage",
    ];
    assert_eq!(told, expected);
    let paths = output.table("sky_paths").expect("there is a sky");
    let told: Vec<String> =
        (0..paths.rows()).map(|row| cells(paths, row, &["flow", "link", "satellites"])).collect();
    assert_eq!(told, ["0 f|sky.b|", "20 f|sky.b|geo-1"]);
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
}

#[test]
fn an_association_lives_through_a_hundred_handovers_and_every_message_is_accounted_for() {
    let scenario = load(&[
        "scenario.duration=8 h",
        "scenario.warm_up=0 s",
        "flows.telemetry.connect=0 s",
        "flows.telemetry.end=28790 s",
        "flows.telemetry.application.interval=1 s",
        "probes.intervals=1 h",
    ]);
    let output = run_once(&scenario);
    let handovers = output.table("handovers").expect("there is a sky");
    // From one satellite to another, at either end.
    let changes = (0..handovers.rows())
        .filter(|&row| !text(handovers, row, "from").is_empty() && !text(handovers, row, "to").is_empty())
        .count();
    assert!(changes >= 100, "{changes}");
    assert_eq!(output.failures, []);
    let flows = output.table("flows").expect("always");
    let of_flow = |column| number(flows, 0, column);
    // From 1 s on, one each second.
    assert_eq!(of_flow("messages_sent"), 28_789.0);
    assert_eq!(of_flow("messages_delivered"), 28_789.0);
    let wrong = ["messages_corrupt", "messages_out_of_order", "messages_abandoned"];
    assert_eq!(wrong.map(of_flow), [0.0; 3]);
}
