//! Failovers of signalling: between links of M2PA as the packet network below one fails, and between ASPs.

use std::ops::ControlFlow;

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, run_traced};
use slantpath_trace::{Record, What};

use crate::alone::{parse, run_text};
use crate::failover::told_in_intervals;

/// A load from London to Boston by a link of M2PA, with another way by Paris.
fn triangle(family: &str, script: &str) -> RunOutput {
    run_text(&triangle_text(family, script))
}

fn triangle_text(family: &str, script: &str) -> String {
    format!(
        r#"
[scenario]
name = "triangle"
duration = "40 s"

[nodes]
london = {{ kind = "host" }}
boston = {{ kind = "host" }}
paris = {{ kind = "host" }}

[links]
direct = {{ ends = ["london", "boston"], rate = "1 Mbit/s", delay = "30 ms", family = "{family}" }}
first-half = {{ ends = ["london", "paris"], rate = "1 Mbit/s", delay = "10 ms", family = "{family}" }}
second-half = {{ ends = ["paris", "boston"], rate = "1 Mbit/s", delay = "40 ms", family = "{family}" }}

[signalling.points]
london = {{ point_code = "1-1-1", restart = "omitted" }}
boston = {{ point_code = "1-1-2", restart = "omitted" }}
paris = {{ point_code = "1-1-3", restart = "omitted", function = "transfer-point" }}

[signalling.links]
atlantic = {{ between = ["london", "boston"], carrier = {{ kind = "m2pa", primary = "direct" }} }}
channel = {{ between = ["london", "paris"], carrier = {{ kind = "m2pa", primary = "first-half" }} }}
detour = {{ between = ["paris", "boston"], carrier = {{ kind = "m2pa", primary = "second-half" }} }}

[[signalling.routes]]
from = "london"
to = "boston"
via = "paris"
priority = 1

[[signalling.routes]]
from = "boston"
to = "london"
via = "paris"
priority = 1

[signalling.load.calls]
from = "london"
to = ["boston"]
links = 16
lengths = [60]
erlang_per_link = 0.02
start = "15 s"

{script}"#
    )
}

fn text<'a>(table: &'a Table, row: usize, name: &str) -> &'a str {
    match table.column(name).unwrap().at(row) {
        CellValue::Text(text) => text,
        other => panic!("{name} is {other:?}"),
    }
}

fn number(table: &Table, row: usize, name: &str) -> Option<f64> {
    table.column(name).unwrap().at(row).number()
}

#[test]
fn traffic_of_a_link_fails_over_from_the_instant_at_which_the_network_below_fails() {
    let down = |link: &str| format!("[[script]]\nat = \"20050 ms\"\nlink = \"{link}\"\naction = \"down\"\n");
    for family in ["ipv4", "ipv6"] {
        let output = triangle(family, &down("direct"));
        let table = output.table("signalling_failovers").unwrap();
        let words = |row| ["point", "kind", "from", "to", "cause"].map(|name| text(table, row, name));
        assert_eq!(table.rows(), 1, "{table:?}");
        assert_eq!(words(0), ["london", "link", "atlantic", "channel", "link down"]);
        assert_eq!(number(table, 0, "failed_s"), Some(20.05));
        let time = |name| number(table, 0, name).unwrap();
        // The link goes out of service first: by T7, or as the association ends. MTP3 changes over behind it.
        assert!(time("unavailable_s") > 0.5 && time("unavailable_s") < time("failover_s"), "{table:?}");
        assert!(
            (time("at_s") - 20.05 - time("failover_s")).abs() < 1e-9 && time("failover_s") < 20.0,
            "{table:?}"
        );
        // What is told of the path below is told as of paths of flows.
        let outages = output.table("outages").unwrap();
        let names = ["from", "to", "path", "cause"].map(|name| text(outages, 0, name));
        assert_eq!(names, ["london", "boston", "direct", "link down"]);
        assert_eq!(number(outages, 0, "begin_s"), Some(20.05));
        // A link that carries none of it, fails without a row.
        assert_eq!(triangle(family, &down("second-half")).table("signalling_failovers").unwrap().rows(), 0);
    }
}

#[test]
fn the_interval_in_which_signalling_moves_tells_its_failover() {
    let script = "[probes]\nintervals = \"1 s\"\n\n\
                  [[script]]\nat = \"20050 ms\"\nlink = \"direct\"\naction = \"down\"\n";
    for family in ["ipv4", "ipv6"] {
        let output = triangle(family, script);
        let failovers = output.table("signalling_failovers").unwrap();
        let [at, took] = ["at_s", "failover_s"].map(|name| number(failovers, 0, name).unwrap());
        for (name, subject, end) in
            [("signalling_link_intervals", "link", "point"), ("association_intervals", "association", "host")]
        {
            let table = output.table(name).unwrap();
            let [(row, count, longest)] = told_in_intervals(table)[..] else { panic!("{table:?}") };
            assert_eq!([text(table, row, subject), text(table, row, end)], ["atlantic", "london"]);
            let edges = ["start_s", "end_s"].map(|name| number(table, row, name).unwrap());
            assert!(edges[0] < at && at <= edges[1], "{at}");
            assert!(count == 1.0 && (longest - took).abs() < 1e-9, "{count} {longest} {took}");
        }
        // All that an end can know: since the last answer, which is older than the failure.
        let unanswered = number(failovers, 0, "unanswered_s").unwrap();
        assert!(unanswered > took && unanswered < took + 1.0, "{unanswered} {took}");
    }
}

#[test]
fn traffic_that_management_moves_has_its_reason() {
    let script = |action: &str, rest: &str| {
        format!("[[signalling.script]]\nat = \"20 s\"\naction = \"{action}\"\n{rest}\n")
    };
    let link = "link = \"atlantic\"";
    for (script, cause) in [
        (script("deactivate", link), "deactivated"),
        (script("inhibit", &format!("{link}\npoint = \"london\"")), "inhibited"),
        (script("processor-outage", &format!("{link}\npoint = \"boston\"")), "processor outage"),
    ] {
        let output = triangle("ipv4", &script);
        let table = output.table("signalling_failovers").unwrap();
        assert_eq!((text(table, 0, "from"), text(table, 0, "cause")), ("atlantic", cause), "{table:?}");
        assert_eq!(number(table, 0, "failed_s"), Some(20.0));
        assert!(number(table, 0, "failover_s").is_some_and(|time| (0.0..10.0).contains(&time)), "{table:?}");
    }
}

#[test]
fn associations_that_carry_signalling_are_traced_one_after_the_other() {
    let event = |at: &str, action: &str| {
        format!("[[script]]\nat = \"{at}\"\nlink = \"direct\"\naction = \"{action}\"\n")
    };
    // The association ends soon, and its place is taken by another.
    let profile = "[sctp.default]\nassociation_max_retrans = 1\npath_max_retrans = 0\n";
    let script = format!("{}{}{profile}", event("20 s", "down"), event("28 s", "up"));
    let text = triangle_text("ipv4", &script);
    let scenario = parse(&text);
    let names = ["atlantic", "atlantic@boston", "channel@paris"].map(str::to_owned);
    let request = scenario.trace_request(&names).unwrap();
    let mut told: [Vec<Record>; 3] = Default::default();
    let mut sink = |place: usize, records: &[Record]| {
        told[place].extend_from_slice(records);
        Ok(())
    };
    let mut go_on = |_| ControlFlow::Continue(());
    let output =
        run_traced(&scenario, &RunOptions::default(), &request, &mut sink, &mut go_on).unwrap().unwrap();
    // Nothing of the run is another one for it.
    assert_eq!(output.digest, run_text(&text).digest);
    let count = |place: usize, association: u32, is: fn(&What) -> bool| {
        told[place].iter().filter(|record| record.association == association && is(&record.what)).count()
    };
    for end in [0, 1] {
        let associations = [0, 1].map(|number| count(end, number, |what| matches!(what, What::Up { .. })));
        assert_eq!(associations, [1, 1], "the second is opened when the first has been lost");
        assert_eq!(count(end, 0, |what| matches!(what, What::Closed { .. })), 1);
        assert!(count(end, 1, |what| matches!(what, What::Sent { .. })) > 0);
    }
    assert_eq!(count(2, 0, |what| matches!(what, What::Closed { .. })), 0);
    let header = scenario.trace_header("triangle.toml", &[], &RunOptions::default(), "atlantic@boston");
    let slantpath_trace::TraceOrigin::Simulated { from, to, flow, .. } = &header.origin else {
        panic!("{header:?}")
    };
    assert_eq!([from, to, flow], ["boston", "london", "atlantic@boston"]);
    let error = scenario.trace_request(&["trunk".to_owned()]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "signalling: atlantic@london, atlantic@boston, channel@london, channel@paris, \
         detour@paris, detour@boston"
        ),
        "{error}"
    );
}

/// Rows of the failovers of a run: point, from, to and cause.
fn rows(output: &RunOutput) -> Vec<[String; 4]> {
    let table = output.table("signalling_failovers").unwrap();
    let row = |row| ["point", "from", "to", "cause"].map(|name| text(table, row, name).to_owned());
    (0..table.rows()).map(row).collect()
}

#[test]
fn a_backup_that_is_no_longer_needed_has_not_failed_over() {
    let scenario = include_str!("../../../../scenarios/ss7-over-geo.toml");
    let found = rows(&run_text(scenario));
    let expected = [
        ["london", "line", "association-1", "line failed"],
        ["london", "association-1", "association-2", "deactivated"],
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_outage_that_is_over_is_no_reason_for_a_failover_and_the_warm_up_counts_none() {
    let event = |at: &str, what: &str| format!("[[script]]\nat = \"{at}\"\nlink = \"direct\"\n{what}\n");
    let outage = [event("16 s", "action = \"down\""), event("16050 ms", "action = \"up\"")].concat();
    // Acknowledgements of M2PA come later than T7 from then on.
    let slow = event("20 s", "action = \"set\"\ndelay = \"5 s\"");
    let output = run_text(&triangle_text("ipv4", &format!("{outage}{slow}")));
    assert_eq!(rows(&output), [["london", "atlantic", "channel", "spurious"]]);
    let counts = |output: &RunOutput| {
        let table = output.table("signalling_service").unwrap();
        ["failovers", "spurious_failovers"]
            .map(|name| (0..6).filter_map(|row| number(table, row, name)).sum::<f64>())
    };
    assert_eq!(counts(&output), [0.0, 1.0]);
    let down = event("20050 ms", "action = \"down\"");
    for (warm_up, count) in [("0 s", 1.0), ("20 s", 1.0), ("39 s", 0.0)] {
        let duration = format!("duration = \"40 s\"\nwarm_up = \"{warm_up}\"");
        let text = triangle_text("ipv4", &down).replace("duration = \"40 s\"", &duration);
        let output = run_text(&text);
        assert_eq!((rows(&output).len(), counts(&output)), (1, [count, 0.0]), "{warm_up}");
    }
}
