//! Actions of management on a signalling network by script, and the reports that it hears.
use std::sync::OnceLock;

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;
use crate::project;

/// The quad, which is run once.
fn quad() -> &'static RunOutput {
    static QUAD: OnceLock<RunOutput> = OnceLock::new();
    QUAD.get_or_init(|| project::run_file("ss7-quad.toml", &[]))
}

/// A table as rows of text, with seconds to the millisecond.
fn rows(table: &Table) -> String {
    let cell = |value| match value {
        CellValue::F64(number) => format!("{number:.3}"),
        CellValue::U64(number) => number.to_string(),
        CellValue::Text(word) => word.to_owned(),
        CellValue::Missing => "-".to_owned(),
        other => format!("{other:?}"),
    };
    let mut lines = vec![table.columns().iter().map(|column| column.name().to_owned()).collect::<Vec<_>>()];
    for row in 0..table.rows() {
        lines.push(table.columns().iter().map(|column| cell(column.at(row))).collect());
    }
    lines.iter().map(|line| line.join(",") + "\n").collect()
}

#[test]
fn the_quad_tells_what_management_did_and_what_it_was_refused() {
    let output = quad();
    insta::assert_snapshot!(rows(output.table("signalling_events").unwrap()));
}

/// The sum of a column over the rows of a point.
fn count(output: &RunOutput, table: &str, point: &str, column: &str) -> u64 {
    let table = output.table(table).unwrap_or_else(|| panic!("there is no table {table}"));
    let points = table.column("point").unwrap();
    let cells = table.column(column).unwrap_or_else(|| panic!("there is no column {column}"));
    let own = (0..table.rows()).filter(|row| points.at(*row) == CellValue::Text(point));
    own.map(|row| match cells.at(row) {
        CellValue::U64(number) => number,
        other => panic!("{other:?} is no count"),
    })
    .sum()
}

#[test]
fn the_quad_counts_what_mtp3_and_sccp_did() {
    let output = quad();
    let tables = ["mtp3_links", "mtp3_link_sets", "mtp3_destinations", "mtp3_routes", "signalling_discards"];
    let texts = tables.map(|name| format!("{name}\n{}", rows(output.table(name).unwrap())));
    insta::assert_snapshot!(texts.join("\n"));
    // Wide ones: what is not zero.
    for name in ["mtp3", "sccp"] {
        insta::assert_snapshot!(name, columns(output.table(name).unwrap()));
    }
}

/// A table turned round, without the columns that are zero in every row.
fn columns(table: &Table) -> String {
    let line = |column: &slantpath_results::Column| {
        let cells: Vec<_> = (0..table.rows()).map(|row| column.at(row)).collect();
        let is_zero = cells.iter().all(|cell| *cell == CellValue::U64(0));
        let text = |cell: &CellValue| match cell {
            CellValue::U64(number) => number.to_string(),
            CellValue::Text(word) => (*word).to_owned(),
            other => format!("{other:?}"),
        };
        let cells: Vec<String> = cells.iter().map(text).collect();
        (!is_zero).then(|| format!("{}: {}\n", column.name(), cells.join(" ")))
    };
    table.columns().iter().filter_map(line).collect()
}

#[test]
fn a_transfer_point_that_restarts_gets_no_traffic_before_it_says_so() {
    let output = quad();
    assert_eq!(count(output, "mtp3", "left", "restarts"), 2);
    assert_eq!(count(output, "mtp3", "left", "discarded_restarting_messages"), 0);
}

#[test]
fn every_message_that_mtp3_took_was_delivered_passed_on_waits_or_was_discarded() {
    let output = quad();
    for point in ["exchange", "left", "right", "register"] {
        let all = count(output, "mtp3", point, "discarded_messages");
        let table = output.table("mtp3").unwrap();
        let reasons = table
            .columns()
            .iter()
            .map(slantpath_results::Column::name)
            .filter(|name| name.starts_with("discarded_") && *name != "discarded_messages");
        assert_eq!(reasons.map(|reason| count(output, "mtp3", point, reason)).sum::<u64>(), all, "{point}");
        let sent = count(output, "mtp3_destinations", point, "sent_messages");
        assert_eq!(sent, count(output, "mtp3", point, "sent_messages"), "{point}");
    }
    // What one point controls or prohibits, the others hear.
    for message in ["tfc", "tfp", "tfa"] {
        let [sent, received] = ["sent", "received"].map(|way| {
            let column = format!("{way}_{message}_messages");
            ["exchange", "left", "right", "register"]
                .iter()
                .map(|point| count(output, "mtp3", point, &column))
                .sum::<u64>()
        });
        assert!(sent > 0 && received > 0 && received <= sent, "{message}: {sent} {received}");
    }
}

/// Two points and two lines, of which the second stops at 30 s and starts again at 40 s.
const TWO_LINES: &str = r#"
[scenario]
name = "two-lines"
duration = "70 s"

[signalling.points]
a = { point_code = "1", restart = "omitted", subsystems = [8], sccp = { backup = "b", concerned = ["b"] } }
b = { point_code = "2", restart = "omitted", subsystems = [8] }

[signalling.links]
l1 = { between = ["a", "b"], carrier = { kind = "mtp2", delay = "5 ms" } }
l2 = { between = ["a", "b"], carrier = { kind = "mtp2", delay = "5 ms" } }

[signalling.load.isup]
from = "a"
to = ["b"]
links = 2
erlang_per_link = 0.3
lengths = [60]
start = "20 s"

[[signalling.script]]
at = "30 s"
action = "deactivate"
link = "l2"

[[signalling.script]]
at = "40 s"
action = "activate"
link = "l2"
"#;

fn two_lines(more: &str) -> RunOutput {
    run_text(&format!("{TWO_LINES}{more}"))
}

fn event(at: u64, keys: &str) -> String {
    format!("\n[[signalling.script]]\nat = \"{at} s\"\n{keys}\n")
}

/// Times of an event at a point, in seconds.
fn times(output: &RunOutput, point: &str, link: &str, event: &str) -> Vec<f64> {
    let table = output.table("signalling_events").unwrap();
    let text = |column: &str, row| match table.column(column).unwrap().at(row) {
        CellValue::Text(text) => text.to_owned(),
        _ => String::new(),
    };
    let wanted = |row: &usize| {
        text("point", *row) == point && text("link", *row) == link && text("event", *row) == event
    };
    let at = |row| match table.column("at_s").unwrap().at(row) {
        CellValue::F64(at) => at,
        other => panic!("{other:?} is no time"),
    };
    (0..table.rows()).filter(wanted).map(at).collect()
}

fn lost(output: &RunOutput) -> u64 {
    let load = output.table("signalling_load").unwrap();
    ["lost_messages", "repeated_messages", "out_of_sequence_messages"]
        .iter()
        .flat_map(|name| (0..load.rows()).map(move |row| load.column(name).unwrap().at(row)))
        .map(|cell| match cell {
            CellValue::U64(number) => number,
            other => panic!("{other:?} is no count"),
        })
        .sum()
}

#[test]
fn the_emergency_proving_period_brings_a_link_back_sooner() {
    let normal = times(&two_lines(""), "a", "l2", "available")[1];
    let request = event(35, "action = \"emergency\"\npoint = \"a\"\nlink = \"l2\"");
    let emergency = times(&two_lines(&request), "a", "l2", "available")[1];
    // T4: 8.2 s, and 0.5 s.
    assert!((7.6..7.8).contains(&(normal - emergency)), "{normal} {emergency}");
    let ceases = request + &event(38, "action = \"emergency-ceases\"\npoint = \"a\"\nlink = \"l2\"");
    assert_eq!(times(&two_lines(&ceases), "a", "l2", "available")[1], normal);
}

#[test]
fn a_link_is_inhibited_and_the_last_one_is_not() {
    let inhibit = |at, link| event(at, &format!("action = \"inhibit\"\npoint = \"b\"\nlink = \"{link}\""));
    let script = inhibit(25, "l1") + &inhibit(26, "l2") + &inhibit(27, "l1");
    let script = script + &event(28, "action = \"uninhibit\"\npoint = \"b\"\nlink = \"l1\"");
    let output = two_lines(&script);
    for (point, event) in [("a", "inhibited"), ("b", "inhibited"), ("a", "uninhibited"), ("b", "uninhibited")]
    {
        assert_eq!(times(&output, point, "l1", event).len(), 1, "{point} {event}");
    }
    assert_eq!(times(&output, "b", "l2", "inhibition-refused"), [26.0]);
    assert_eq!(times(&output, "b", "l1", "inhibition-refused"), [27.0]);
    let events = rows(output.table("signalling_events").unwrap());
    assert!(events.contains("26.000,b,l2,second,inhibition-refused,-,would cut off a\n"), "{events}");
    assert!(events.contains("27.000,b,l1,second,inhibition-refused,-,inhibited already\n"), "{events}");
    assert_eq!(lost(&output), 0, "{events}");
}

#[test]
fn an_outage_of_the_processor_moves_traffic_and_loses_nothing() {
    let outage = event(55, "action = \"processor-outage\"\npoint = \"b\"\nlink = \"l1\"");
    let outage = outage + &event(60, "action = \"processor-recovered\"\npoint = \"b\"\nlink = \"l1\"");
    let output = two_lines(&outage);
    assert_eq!(lost(&output), 0);
}

#[test]
fn a_restart_cuts_the_point_off_and_brings_it_back() {
    let output = two_lines(&event(50, "action = \"restart\"\npoint = \"a\""));
    for point in ["a", "b"] {
        for link in ["l1", "l2"] {
            assert_eq!(times(&output, point, link, "unavailable").last().map(|at| at.floor()), Some(50.0));
            assert!(*times(&output, point, link, "available").last().unwrap() > 50.5);
        }
    }
}

#[test]
fn a_subsystem_asks_its_backup_before_it_goes() {
    let output = two_lines(&event(45, "action = \"subsystem-asks\"\npoint = \"a\"\nsubsystem = 8"));
    assert_eq!(times(&output, "a", "", "coordinated-change-granted").len(), 1);
    let cut_off = [1, 2].map(|link| event(44, &format!("action = \"fail\"\nlink = \"l{link}\"")));
    let asks = event(45, "action = \"subsystem-asks\"\npoint = \"a\"\nsubsystem = 8");
    let again = event(46, "action = \"subsystem-asks\"\npoint = \"a\"\nsubsystem = 8");
    let output = two_lines(&(cut_off.concat() + &asks + &again));
    // The second request comes while the first waits for T(coord chg), which is longer than the run.
    assert_eq!(times(&output, "a", "", "coordinated-change-refused"), [46.0]);
}
