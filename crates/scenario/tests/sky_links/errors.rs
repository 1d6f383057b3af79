//! What links of the sky do to packets, and what is done about it.

use super::{load, number, run_once, text};

/// Half an hour over Iridium, counted from the start.
const HALF_AN_HOUR: [&str; 4] = [
    "scenario.duration=30 min",
    "scenario.warm_up=0 s",
    "flows.telemetry.connect=0 s",
    "flows.telemetry.end=29 min",
];

#[test]
fn each_satellite_that_an_antenna_takes_gets_one_full_header_of_a_flow() {
    let compression = "{ header = \"32 B\", compressed = \"4 B\", refresh_packets = 1000000, \
                       refresh_interval = \"1 h\" }";
    let uplink = format!("sky.access.terminals.uplink.header_compression={compression}");
    let isls = format!("sky.isls.iridium.header_compression={compression}");
    let output = run_once(&load(&[&HALF_AN_HOUR[..], &[&uplink, &isls]].concat()));
    let links = output.table("links").expect("always");
    let handovers = output.table("handovers").expect("there is a sky");
    let row = |antenna: &str, direction: &str| {
        let is_it =
            |&row: &usize| text(links, row, "link") == antenna && text(links, row, "direction") == direction;
        (0..links.rows()).find(is_it).expect("it has one")
    };
    for antenna in ["sky.london", "sky.boston"] {
        let up = row(antenna, "forward");
        let taken = (0..handovers.rows())
            .filter(|&row| text(handovers, row, "link") == antenna && !text(handovers, row, "to").is_empty())
            .count();
        assert!(taken > 1, "{antenna}");
        let carried = number(links, up, "carried_packets");
        assert_eq!(carried - number(links, up, "compressed_packets"), taken as f64, "{antenna}");
        assert_eq!(number(links, row(antenna, "reverse"), "compressed_packets"), 0.0);
    }
    let isls = output.table("inter_satellite_links").expect("there is a sky");
    let sum = |column: &str| (0..isls.rows()).map(|row| number(isls, row, column)).sum::<f64>();
    assert!(sum("compressed_packets") > 0.9 * sum("carried_packets"));
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
}
