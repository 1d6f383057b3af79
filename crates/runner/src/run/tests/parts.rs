//! Checks of the parts of messages' delays, in whole runs.

use slantpath_results::{CellValue, Table};

use super::super::parts::{COUNT, PARTS};
use super::*;

/// A time in whole microseconds.
#[expect(clippy::cast_possible_truncation, reason = "no run is that long")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

fn made(scenario: &Scenario) -> RunOutput {
    let go_on = &mut |_| ControlFlow::Continue(());
    run_asking_every(u64::MAX, scenario, &RunOptions::default(), go_on).unwrap().unwrap()
}

fn number(table: &Table, column: &str, row: usize) -> Option<f64> {
    match table.column(column)?.at(row) {
        CellValue::F64(number) => Some(number),
        CellValue::Missing => None,
        other => panic!("{column}: {other:?}"),
    }
}

/// Of one row, in microseconds.
fn parts(table: &Table, row: usize) -> Option<[i64; COUNT]> {
    let cells = PARTS.map(|(name, _)| number(table, &format!("{name}_s"), row));
    cells[0]?;
    Some(cells.map(|cell| micros(cell.unwrap())))
}

/// Durations cannot be negative and are taken off whole instants: what is left to see is that nothing is missing.
#[test]
fn whatever_happens_the_parts_make_up_the_delay_of_every_message() {
    let mut messages = 0;
    let mut seen = [false; COUNT];
    for scenario in (0..60).map(swarm).chain([first()]) {
        let output = made(&scenario);
        let Some(table) = output.table("messages") else { continue };
        for row in 0..table.rows() {
            let cells = PARTS.map(|(name, _)| number(table, &format!("{name}_s"), row));
            let Some(delay) = number(table, "delay_s", row) else {
                assert_eq!(cells, [None; COUNT]);
                continue;
            };
            let sum: f64 = cells.iter().map(|cell| cell.expect("a delivered message has its parts")).sum();
            assert!((sum - delay).abs() < 1e-9, "{}: {sum} and {delay}", *scenario.scenario.name);
            for (seen, cell) in seen.iter_mut().zip(cells) {
                *seen |= cell.unwrap() > 0.0;
            }
            messages += 1;
        }
    }
    assert!(messages > 10_000, "{messages}");
    // No link of these repeats.
    assert_eq!(seen, PARTS.map(|(name, _)| name != "link_repetition"));
}

/// Watching changes nothing of a run.
#[test]
fn a_run_without_records_has_the_same_digest() {
    for seed in 0..20 {
        let text = case::toml(seed);
        let [with, without] = ["true", "false"]
            .map(|records| made(&scenario(&text, &[&format!("probes.messages={records}")])).digest);
        assert_eq!(with, without, "seed {seed}");
    }
}

/// 100 bytes each 100 ms over a router: 148 bytes take 1.184 ms on the first link and 11.84 ms on the second one.
const TWO_HOPS: &str = r#"
[scenario]
name = "two-hops"
duration = "20 s"

[nodes]
near = { kind = "host" }
router = { kind = "router" }
far = { kind = "host" }

[links.first]
ends = ["near", "router"]
rate = "1 Mbit/s"
delay = "10 ms"

[links.second]
ends = ["router", "far"]
rate = "100 kbit/s"
delay = "50 ms"

[flows.reports]
transport = "sctp"
from = "near"
to = "far"
start = "2 s"
end = "12 s"
application = { kind = "constant-rate", message_size = "100 B", interval = "100 ms" }

[[script]]
at = "4950 ms"
link = "first"
direction = "forward"
action = "set"
loss = 1

[[script]]
at = "5050 ms"
link = "first"
direction = "forward"
action = "set"
loss = 0
"#;

#[test]
fn a_lost_message_is_retransmitted_and_those_behind_it_wait_at_the_receiver() {
    let output = made(&scenario(TWO_HOPS, &[]));
    let table = output.table("messages").unwrap();
    let at = |column: &str, row| micros(number(table, column, row).unwrap());
    assert_eq!(parts(table, 0), Some([0, 0, 0, 13_024, 60_000, 0, 0]));
    let lost = (0..table.rows()).find(|&row| number(table, "retransmitted_s", row).is_some()).unwrap();
    let retransmission = at("retransmitted_s", lost) - at("sent_s", lost);
    assert!(retransmission > 0);
    assert_eq!(parts(table, lost).unwrap()[..2], [0, retransmission]);
    for behind in lost + 1..lost + 4 {
        let parts = parts(table, behind).unwrap();
        assert_eq!(at("delivered_s", behind), at("delivered_s", lost));
        let in_the_network: i64 = parts[2..6].iter().sum();
        assert_eq!(parts[..2], [0, 0]);
        assert_eq!(parts[6], at("delivered_s", lost) - at("sent_s", behind) - in_the_network);
        assert!(parts[6] > 0);
    }
    let flows = output.table("flows").unwrap();
    let means = PARTS.map(|(name, _)| number(flows, &format!("{name}_mean_s"), 0).unwrap());
    assert!((means.iter().sum::<f64>() - number(flows, "delay_mean_s", 0).unwrap()).abs() < 1e-9);
    assert!((means[4] - 0.06).abs() < 1e-12);
}

/// Unordered messages wait for none; TCP's wait as those of one stream do.
#[test]
fn who_waits_at_the_receiver_depends_on_the_order_that_is_asked_for() {
    let waits = |overrides: &[&str]| {
        let output = made(&scenario(TWO_HOPS, overrides));
        let table = output.table("messages").unwrap();
        let waiting = (0..table.rows()).filter(|&row| parts(table, row).unwrap()[6] > 0);
        (table.rows(), waiting.count())
    };
    let [sctp, unordered, tcp] =
        [&[][..], &["flows.reports.unordered=true"], &["flows.reports.transport=tcp"]].map(waits);
    assert!(sctp.1 >= 3 && tcp.1 >= 3, "{sctp:?} {tcp:?}");
    assert_eq!(unordered, (sctp.0, 0));
}
