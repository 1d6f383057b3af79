//! Two paths of an association of which one is dead for a time: where DATA goes, and how long messages wait.

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// Two links between two hosts, and one flow over both; `more` is the flow's application and the script.
fn between(geo: &str, backup: &str, profile: &str, more: &str) -> RunOutput {
    run_text(&format!(
        r#"
[scenario]
name = "failover"
duration = "120 s"

[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}

[links]
one = {{ ends = ["a", "b"], {geo} }}
other = {{ ends = ["a", "b"], {backup} }}

[sctp.both]
{profile}

[flows.load]
transport = "sctp"
profile = "both"
from = "a"
to = "b"
primary = "one"
{more}
"#
    ))
}

fn numbers(table: &Table, column: &str) -> Vec<f64> {
    let column = table.column(column).unwrap();
    let cell = |row| match column.at(row) {
        CellValue::F64(number) => Some(number),
        CellValue::U64(number) => Some(number as f64),
        CellValue::Missing => None,
        other => panic!("{other:?} is no number"),
    };
    (0..table.rows()).filter_map(cell).collect()
}

/// The octets of payload that went over each link forwards.
fn carried(output: &RunOutput) -> [f64; 2] {
    let links = output.table("links").unwrap();
    let bytes = numbers(links, "carried_bytes");
    ["one", "other"].map(|name| {
        let is_it = |row: &usize| {
            links.column("link").unwrap().at(*row) == CellValue::Text(name)
                && links.column("direction").unwrap().at(*row) == CellValue::Text("forward")
        };
        (0..links.rows()).filter(is_it).map(|row| bytes[row]).sum()
    })
}

#[test]
fn one_init_lost_over_geo_leaves_the_data_to_geo_and_not_to_the_slow_backup() {
    let output = between(
        "rate = \"10 Mbit/s\", delay = \"270 ms\"",
        "rate = \"64 kbit/s\", delay = \"30 ms\"",
        "",
        r#"
application = { kind = "bulk", total = "4 MB", message_size = "1000 B" }

[[script]]
at = "0 s"
link = "one"
action = "set"
loss = "100 %"

[[script]]
at = "500 ms"
link = "one"
action = "set"
loss = "0 %"
"#,
    );
    let [geo, backup] = carried(&output);
    assert!(geo > 4e6 && backup < 20e3, "{geo} {backup}");
    assert_eq!(numbers(output.table("flows").unwrap(), "messages_delivered"), [4_000.0]);
}

/// The median, the 99th percentile and the longest of what messages waited, in seconds, with these settings, while two
/// paths fail in turn every ten seconds: one dies as the other is well again.
fn failing_in_turn(profile: &str) -> [f64; 3] {
    let turn = |turn: usize| {
        let [dead, well] = if turn.is_multiple_of(2) { ["one", "other"] } else { ["other", "one"] };
        let set = |link, loss| {
            let at = 10 + 10 * turn;
            format!(
                "\n[[script]]\nat = \"{at} s\"\nlink = \"{link}\"\naction = \"set\"\nloss = \"{loss} %\"\n"
            )
        };
        [set(well, 0), set(dead, 100)].concat()
    };
    let application =
        "application = { kind = \"constant-rate\", message_size = \"200 B\", rate = \"16 kbit/s\" }\n";
    let more = application.to_owned() + &(0..10).map(turn).collect::<String>();
    let link = "rate = \"2 Mbit/s\", delay = \"100 ms\"";
    let output = between(link, link, profile, &more);
    let messages = output.table("messages").unwrap();
    let mut delays = numbers(messages, "delay_s");
    assert_eq!(delays.len() + 1, messages.rows(), "the last one is under way at the end");
    delays.sort_by(f64::total_cmp);
    [50, 99, 100].map(|percent| delays[(delays.len() - 1) * percent / 100])
}

/// No longer than the time-outs by which the last active path is found to be dead, and the round trip by which the
/// other one answers that it is asked then, or within RTO.Initial as it is.
#[test]
fn messages_of_paths_that_fail_in_turn_wait_for_the_death_of_the_last_and_no_longer() {
    for (profile, percentile_ms, longest_ms) in [
        ("path_max_retrans = 0", 907, 1_106),
        ("path_max_retrans = 1", 3_007, 3_107),
        ("path_max_retrans = 2", 7_007, 7_107),
        ("potentially_failed_max_retrans = 0", 1_107, 1_207),
        ("rto_min = \"400 ms\"\npath_max_retrans = 2", 2_807, 2_907),
        ("rto_min = \"400 ms\"\npotentially_failed_max_retrans = 0", 912, 1_107),
    ] {
        let [_, percentile, longest] = failing_in_turn(profile);
        let rounded = [percentile, longest].map(|seconds| (seconds * 1e3).round());
        assert_eq!(rounded, [percentile_ms, longest_ms].map(f64::from), "{profile}");
    }
}

/// Cells of a table's only row.
struct OnlyRow<'a>(&'a Table);

impl<'a> OnlyRow<'a> {
    fn of(table: &'a Table) -> Self {
        assert_eq!(table.rows(), 1, "{}", table.name());
        Self(table)
    }

    fn at(&self, column: &str) -> CellValue<'a> {
        self.0.column(column).unwrap().at(0)
    }
}

/// A message each 100 ms over two alike links, and what a script does.
fn steady(family: &str, profile: &str, script: &str) -> RunOutput {
    let application =
        "application = { kind = \"constant-rate\", message_size = \"200 B\", rate = \"16 kbit/s\" }\n";
    let link = format!("family = \"{family}\", rate = \"2 Mbit/s\", delay = \"100 ms\"");
    between(&link, &link, profile, &format!("{application}{script}"))
}

fn seconds(cell: CellValue<'_>) -> f64 {
    if let CellValue::F64(seconds) = cell { seconds } else { panic!("{cell:?} is no time") }
}

/// The parts add up: RTO.Min is 1 s, and a message leaves every 100 ms.
#[test]
fn a_failover_counts_from_the_instant_at_which_the_path_fails() {
    for (family, script, cause) in [
        ("ipv4", "link = \"one\"\naction = \"down\"", "link down"),
        ("ipv6", "link = \"one\"\naction = \"down\"", "link down"),
        ("ipv4", "link = \"one\"\naction = \"set\"\nloss = 1", "all packets lost"),
        ("ipv6", "link = \"one\"\naction = \"set\"\nbit_error_rate = 1", "all packets lost"),
        // Nothing comes back.
        ("ipv4", "link = \"one\"\ndirection = \"reverse\"\naction = \"down\"", "link down"),
    ] {
        let script = format!("[[script]]\nat = \"20050 ms\"\n{script}\n");
        let output = steady(family, "path_max_retrans = 0", &script);
        let row = OnlyRow::of(output.table("failovers").unwrap());
        let names = ["flow", "from_path", "to_path", "cause"].map(|name| row.at(name));
        assert_eq!(names, ["load", "one", "other", cause].map(CellValue::Text));
        let times =
            ["failed_s", "failover_s", "first_timeout_s", "decision_s", "first_arrival_s", "unanswered_s"];
        let [failed, failover, timeout, decision, arrival, unanswered] =
            times.map(|name| seconds(row.at(name)));
        assert!((failed - 20.05).abs() < 1e-9 && (seconds(row.at("at_s")) - failed - failover).abs() < 1e-9);
        // T3-rtx runs from the SACK of what came before.
        assert!((0.8..1.1).contains(&timeout) && (timeout - decision).abs() < 1e-9, "{timeout} {decision}");
        assert!((0.0..0.1).contains(&(failover - decision)), "with the next message: {failover}");
        assert!((0.1..0.11).contains(&(arrival - failover)), "{arrival} {failover}");
        assert!((failover..failover + 0.4).contains(&unanswered), "{unanswered} {failover}");
        let flow = OnlyRow::of(output.table("flows").unwrap());
        assert_eq!(
            [flow.at("failovers"), flow.at("spurious_failovers")],
            [CellValue::U64(1), CellValue::U64(0)]
        );
        assert!((seconds(flow.at("failover_max_s")) - failover).abs() < 1e-9);
        // Messages still arrive where nothing comes back.
        let gap = seconds(flow.at("gap_max_s"));
        let is_one_way = script.contains("reverse");
        assert!(is_one_way && gap < decision || (decision..arrival + 0.1).contains(&gap), "{cause} {gap}");
        let outage = OnlyRow::of(output.table("outages").unwrap());
        let names = ["from", "to", "path", "cause", "link"].map(|name| outage.at(name));
        assert_eq!(names, ["a", "b", "one", cause, "one"].map(CellValue::Text));
        assert_eq!((seconds(outage.at("begin_s")), outage.at("end_s")), (20.05, CellValue::Missing));
        let shares = numbers(output.table("host_paths").unwrap(), "available_share");
        assert!((shares[0] - 20.05 / 120.0).abs() < 1e-9 && shares[1] == 1.0, "{shares:?}");
    }
}

/// Place, count and longest time of the rows of an interval table that tell of failovers.
pub(crate) fn told_in_intervals(table: &Table) -> Vec<(usize, f64, f64)> {
    let number = |column: &str, row| table.column(column).unwrap().at(row).number();
    let counts = (0..table.rows()).map(|row| (row, number("failovers", row).expect("a count")));
    let told = counts.filter(|(_, count)| *count > 0.0);
    told.map(|(row, count)| (row, count, number("failover_max_s", row).expect("a time"))).collect()
}

#[test]
fn the_interval_in_which_traffic_moves_tells_its_failover() {
    let script =
        "[probes]\nintervals = \"1 s\"\n\n[[script]]\nat = \"20050 ms\"\nlink = \"one\"\naction = \"down\"\n";
    for family in ["ipv4", "ipv6"] {
        let output = steady(family, "path_max_retrans = 0", script);
        let row = OnlyRow::of(output.table("failovers").unwrap());
        let (at, took) = (seconds(row.at("at_s")), seconds(row.at("failover_s")));
        let intervals = output.table("flow_intervals").unwrap();
        let [(place, count, longest)] = told_in_intervals(intervals)[..] else { panic!("{intervals:?}") };
        let edge = |name: &str| seconds(intervals.column(name).unwrap().at(place));
        assert!(edge("start_s") < at && at <= edge("end_s"), "{at}");
        assert!(count == 1.0 && (longest - took).abs() < 1e-9, "{count} {longest} {took}");
    }
    // A flow with one path cannot fail over.
    let text = include_str!("../../../../scenarios/first.toml");
    let output = run_text(&format!("{text}\n[probes]\nintervals = \"1 s\"\n"));
    let column = output.table("flow_intervals").unwrap().column("failovers").unwrap();
    assert!(column.len() > 1 && (0..column.len()).all(|row| column.at(row) == CellValue::Missing));
}

#[test]
fn a_failover_of_a_path_that_is_only_slow_is_spurious() {
    let script = "[[script]]\nat = \"20 s\"\nlink = \"one\"\naction = \"set\"\ndelay = \"3 s\"\n";
    let output = steady("ipv4", "path_max_retrans = 0", script);
    let failovers = output.table("failovers").unwrap();
    assert!(failovers.rows() > 0);
    for row in 0..failovers.rows() {
        let cell = |column| failovers.column(column).unwrap().at(row);
        assert_eq!([cell("cause"), cell("failover_s")], [CellValue::Text("spurious"), CellValue::Missing]);
    }
    let flow = OnlyRow::of(output.table("flows").unwrap());
    let counts = ["failovers", "spurious_failovers", "failover_max_s"].map(|name| flow.at(name));
    assert_eq!(counts, [CellValue::U64(0), CellValue::U64(failovers.rows() as u64), CellValue::Missing]);
    assert_eq!(output.table("outages").unwrap().rows(), 0);
}

#[test]
fn an_outage_that_is_over_before_the_decision_counts_and_an_older_one_does_not() {
    let script = |at: &str, action: &str| {
        format!("[[script]]\nat = \"{at}\"\nlink = \"one\"\naction = \"{action}\"\n")
    };
    // The first is too short to be seen. The second is over when T3-rtx expires for the second time.
    let script =
        [script("10 s", "down"), script("10050 ms", "up"), script("20050 ms", "down"), script("22 s", "up")];
    let output = steady("ipv4", "path_max_retrans = 1", &script.concat());
    let failovers = output.table("failovers").unwrap();
    let failed = numbers(failovers, "failed_s");
    assert_eq!(failed, [20.05], "{failovers:?}");
    assert_eq!(numbers(output.table("outages").unwrap(), "end_s"), [10.05, 22.0]);
    let sums = output.table("host_paths").unwrap();
    assert_eq!(numbers(sums, "outages"), [2.0, 0.0]);
    assert!((numbers(sums, "outage_s")[0] - 2.0).abs() < 1e-9);
    assert!((numbers(sums, "outage_max_s")[0] - 1.95).abs() < 1e-9);
}

/// The longest gap of a flow that sends a message each 100 ms for 60 s, with this warm-up. Nothing gets through from
/// the first of the instants to the second.
fn longest_gap(warm_up: &str, outage: &[&str]) -> f64 {
    let set = |at: &str, loss: u8| {
        format!("[[script]]\nat = \"{at}\"\nlink = \"wire\"\naction = \"set\"\nloss = {loss}\n")
    };
    let script: String = outage.iter().zip([1, 0]).map(|(at, loss)| set(at, loss)).collect();
    let output = run_text(&format!(
        r#"
[scenario]
name = "gap"
duration = "60 s"
warm_up = "{warm_up}"

[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}

[links]
wire = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }}

[flows.load]
transport = "sctp"
from = "a"
to = "b"
application = {{ kind = "constant-rate", message_size = "200 B", rate = "16 kbit/s" }}

{script}"#
    ));
    seconds(OnlyRow::of(output.table("flows").unwrap()).at("gap_max_s"))
}

#[test]
fn the_longest_gap_is_that_behind_the_warm_up_and_all_of_the_time_if_nothing_comes() {
    assert!(longest_gap("0 s", &[]) < 0.11);
    let outage = &["5050 ms", "15 s"];
    assert!((9.9..30.0).contains(&longest_gap("0 s", outage)));
    // One that is over before the warm-up ends does not count. One that goes on then counts from its beginning.
    assert!(longest_gap("40 s", outage) < 0.11);
    assert!((9.9..30.0).contains(&longest_gap("10 s", outage)));
    // From the last delivery to the end, and from the start if there was none.
    let last = longest_gap("0 s", &["5050 ms"]);
    assert!((54.9..55.1).contains(&last), "{last}");
    assert!((longest_gap("0 s", &["0 s"]) - 60.0).abs() < 1e-9);
    assert!((longest_gap("20 s", &["0 s"]) - 40.0).abs() < 1e-9);
}
