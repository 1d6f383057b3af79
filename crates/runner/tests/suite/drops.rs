//! `probes.drops`: each packet that is counted as dropped has a row, and the run is the same.

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// A sender that is too fast for the queue of a lossy link, which goes down and comes back.
fn run_with(probes: &str) -> RunOutput {
    let text = format!(
        r#"
[scenario]
name = "drops"
duration = "5 s"

[nodes]
near = {{ kind = "host" }}
router = {{ kind = "router" }}
far = {{ kind = "host" }}

[links.access]
ends = ["near", "router"]
rate = "10 Mbit/s"
delay = "1 ms"

[links.satellite]
ends = ["router", "far"]
rate = "1 Mbit/s"
delay = "50 ms"
queue = "5 packets"
loss = "1 %"

[flows.reports]
from = "near"
to = "far"
transport = "sctp"
application = {{ kind = "bulk", message_size = "1000 B", total = "unlimited" }}

[[script]]
at = "2 s"
link = "satellite"
action = "down"

[[script]]
at = "3 s"
link = "satellite"
action = "up"

[probes]
{probes}
"#
    );
    run_text(&text)
}

fn texts<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    let column = table.column(column).unwrap();
    let text = |row| match column.at(row) {
        CellValue::Text(text) => text,
        other => panic!("{} holds {other:?}", column.name()),
    };
    (0..table.rows()).map(text).collect()
}

#[test]
fn every_drop_that_is_counted_has_a_row_and_nothing_else_changes() {
    let (plain, recorded) = (run_with(""), run_with("drops = true"));
    assert_eq!(plain.digest, recorded.digest);
    assert!(plain.table("drops").is_none());
    let (drops, links) = (recorded.table("drops").unwrap(), recorded.table("links").unwrap());
    let [link, direction, reason] = ["link", "direction", "reason"].map(|column| texts(drops, column));
    let [of_link, of_direction] = ["link", "direction"].map(|column| texts(links, column));
    let mut seen = Vec::new();
    for row in 0..links.rows() {
        for column in links.columns().iter().filter(|column| column.name().starts_with("dropped_")) {
            let CellValue::U64(counted) = column.at(row) else { continue };
            let name = column.name().trim_start_matches("dropped_").trim_end_matches("_packets");
            let name = name.replace('_', " ");
            let is_of_it = |&drop: &usize| {
                (link[drop], direction[drop], reason[drop]) == (of_link[row], of_direction[row], &*name)
            };
            let found = (0..drops.rows()).filter(is_of_it).count() as u64;
            assert_eq!(found, counted, "{} {}: {name}", of_link[row], of_direction[row]);
            if counted > 0 {
                seen.push((of_direction[row], name));
            }
        }
    }
    for of_it in [("forward", "queue full"), ("forward", "loss"), ("forward", "link down")] {
        assert!(seen.contains(&(of_it.0, of_it.1.to_owned())), "{seen:?}");
    }
    assert!(texts(drops, "protocol").iter().all(|protocol| *protocol == "sctp"));
    // What is sent there is data and acknowledges it; only data has a TSN.
    let tsns = (0..drops.rows()).filter(|&row| drops.column("tsn").unwrap().at(row) != CellValue::Missing);
    assert!(tsns.count() > 0);
}
