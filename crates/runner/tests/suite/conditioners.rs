//! Traffic conditioning in scenarios: shares of the colours, what the queue behind them drops, and policing.
use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::project;

fn run_with(overrides: &[&str]) -> RunOutput {
    project::run_file("traffic-conditioning.toml", overrides)
}

/// Cells of the row of the satellite's link that leads to the terminal.
fn satellite<const N: usize>(output: &RunOutput, columns: [&str; N]) -> [u64; N] {
    let links = output.table("links").unwrap();
    let is = |links: &Table, row, column: &str, wanted: &str| {
        let cell = links.column(column).unwrap().at(row);
        matches!(cell, CellValue::Text(text) if text == wanted)
    };
    let mut rows = 0..links.rows();
    let row = rows
        .find(|&row| is(links, row, "link", "satellite") && is(links, row, "direction", "forward"))
        .unwrap();
    columns.map(|column| match links.column(column).unwrap().at(row) {
        CellValue::U64(count) => count,
        other => panic!("{other:?} is no count"),
    })
}

const COLOURS: [&str; 3] = ["green_packets", "yellow_packets", "red_packets"];

#[test]
fn connections_are_coloured_in_the_shares_of_their_rates() {
    let output = run_with(&["flows.call.end=1 s"]);
    let [green, yellow, red] = satellite(&output, COLOURS);
    let [offered_bytes] = satellite(&output, ["offered_bytes"]);
    let total = (green + yellow + red) as f64;
    // Each sends R/2: 500 kbit/s of it are green. What it leaves unused while it sends less is lost for ever.
    let rate = offered_bytes as f64 * 8.0 / 40.0;
    let of_bought = green as f64 / total / (2.0 * 500e3 / rate);
    assert!((0.9..1.0).contains(&of_bought), "{of_bought} of what was bought");
    assert!(yellow > 1_000 && red > 1_000 && red < green, "{yellow} and {red}");
    let [early, forced, full, policed] = satellite(
        &output,
        [
            "dropped_early_packets",
            "dropped_forced_packets",
            "dropped_queue_full_packets",
            "dropped_policed_packets",
        ],
    );
    assert!(early + forced > 10, "{early} and {forced}: what is red is dropped as the queue grows");
    assert_eq!([full, policed], [0; 2]);
    // Metered together they have half of it to share.
    let together =
        run_with(&["flows.call.end=1 s", "links.satellite.forward.conditioners.transfers.per=aggregate"]);
    let [green_together, ..] = satellite(&together, COLOURS);
    let ratio = green_together as f64 / green as f64;
    assert!((ratio - 0.5).abs() < 0.05, "{green_together} against {green}");
}

#[test]
fn a_flow_beyond_its_profile_is_policed_and_one_within_is_not() {
    let within = run_with(&["flows.files.application.total=10 kB"]);
    assert_eq!(satellite(&within, ["dropped_policed_packets", "red_packets"]), [0, 0]);
    let [green] = satellite(&within, ["green_packets"]);
    assert!((2_000..=2_004).contains(&green), "{green}: 50 packets a second over 40 s, and heartbeats");
    let beyond =
        run_with(&["flows.files.application.total=10 kB", "flows.call.application.message_size=400 B"]);
    let [policed, red, green, offered, carried] = satellite(
        &beyond,
        ["dropped_policed_packets", "red_packets", "green_packets", "offered_packets", "carried_packets"],
    );
    assert!(policed > 100, "{policed}");
    assert_eq!([red, green + red], [policed, offered]);
    let [carried_bytes] = satellite(&beyond, ["carried_bytes"]);
    assert!(
        carried >= green - 20 && carried_bytes * 8 <= 40 * 90_000 + 8 * 3_000 + 8 * 1_500,
        "{carried_bytes}"
    );
}
