//! Associations of M2PA and M3UA with two paths, of which one fails: they move below a link, or an ASP, that stays in
//! service.

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// Both ways between two hosts, and settings by which an association moves at the first time-out.
fn network(family: &str, script: &str) -> String {
    format!(
        r#"
[scenario]
name = "two-paths"
duration = "45 s"

[nodes]
london = {{ kind = "host" }}
boston = {{ kind = "host" }}

[links]
cable = {{ ends = ["london", "boston"], rate = "1 Mbit/s", delay = "30 ms", family = "{family}" }}
satellite = {{ ends = ["london", "boston"], rate = "1 Mbit/s", delay = "270 ms", family = "{family}" }}

[sctp.signalling]
rto_min = "150 ms"
rto_initial = "300 ms"
sack_delay = "20 ms"
potentially_failed_max_retrans = 0
{script}"#
    )
}

fn m2pa(family: &str, script: &str) -> RunOutput {
    let signalling = r#"
[signalling.points]
london = { point_code = "1-1-1", restart = "omitted" }
boston = { point_code = "1-1-2", restart = "omitted" }

[signalling.links.atlantic]
between = ["london", "boston"]
carrier = { kind = "m2pa", profile = "signalling", primary = "cable" }

[signalling.load.calls]
from = "london"
to = ["boston"]
links = 16
lengths = [60]
erlang_per_link = 0.02
start = "10 s"
"#;
    run_text(&format!("{}{signalling}", network(family, script)))
}

fn m3ua(script: &str) -> RunOutput {
    let signalling = r#"
[signalling.points.exchange]
point_code = "2-15-1"
restart = "omitted"

[signalling.points.london]
point_code = "2-15-3"
function = "transfer-point"
restart = "omitted"

[signalling.points.register]
point_code = "3-20-1"

[signalling.links.line]
between = ["exchange", "london"]
carrier = { kind = "mtp2", delay = "5 ms" }

[[signalling.routes]]
from = "exchange"
to = "register"
via = "london"

[signalling.gateways.london]

[signalling.asps]
boston = {}

[signalling.associations.first]
gateway = "london"
asp = "boston"
profile = "signalling"
primary = "cable"

[signalling.application_servers.register]
routing_context = 100
dpc = "register"
si = [15]
asps = ["boston"]

[signalling.load.there]
from = "exchange"
to = ["register"]
links = 4
erlang_per_link = 0.09
lengths = [60]
start = "10 s"

[signalling.load.back]
from = "register"
to = ["exchange"]
links = 4
erlang_per_link = 0.09
lengths = [60]
start = "10 s"
"#;
    run_text(&format!("{}{signalling}", network("ipv4", script)))
}

fn down(link: &str) -> String {
    format!("[[script]]\nat = \"20050 ms\"\nlink = \"{link}\"\naction = \"down\"\n")
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

/// The failovers of an end: the row of each.
fn rows_of(table: &Table, end: &str) -> Vec<usize> {
    (0..table.rows()).filter(|row| text(table, *row, "flow") == end).collect()
}

/// The sums of the paths of each end: point, name, failovers, spurious ones, the longest.
fn sums(output: &RunOutput) -> Vec<(String, String, [Option<f64>; 3])> {
    let table = output.table("signalling_service").unwrap();
    let of_paths = (0..table.rows()).filter(|row| text(table, *row, "kind") == "path");
    let sums =
        |row| ["failovers", "spurious_failovers", "failover_max_s"].map(|name| number(table, row, name));
    of_paths
        .map(|row| (text(table, row, "point").into(), text(table, row, "name").into(), sums(row)))
        .collect()
}

/// Checks the row of an end whose cable failed at 20.05 s, and gives its failover time.
fn checked(output: &RunOutput, end: &str) -> f64 {
    let table = output.table("failovers").unwrap();
    let [row] = rows_of(table, end)[..] else { panic!("{end}: {table:?}") };
    assert_eq!(
        ["from_path", "to_path", "cause"].map(|name| text(table, row, name)),
        ["cable", "satellite", "link down"]
    );
    assert_eq!(number(table, row, "failed_s"), Some(20.05));
    assert_eq!(number(table, row, "message"), None);
    let names = ["first_timeout_s", "decision_s", "failover_s", "first_arrival_s", "unanswered_s"];
    let [timeout, decision, failover, arrival, unanswered] =
        names.map(|name| number(table, row, name).unwrap());
    assert!(timeout > 0.0 && timeout <= decision && decision <= failover, "{table:?}");
    // One way over the satellite at least; what was lost goes in front, and may take a round trip more.
    assert!((0.27..1.2).contains(&(arrival - failover)), "{table:?}");
    // Since the last answered packet left, which was before the failure.
    assert!((failover..failover + 3.0).contains(&unanswered), "{table:?}");
    failover
}

#[test]
fn an_association_of_m2pa_that_moves_to_another_path_has_its_failover_among_those_of_flows() {
    for family in ["ipv4", "ipv6"] {
        let output = m2pa(family, &down("cable"));
        // The link stays in service all along.
        assert_eq!(output.table("signalling_failovers").unwrap().rows(), 0);
        let took = ["atlantic@london", "atlantic@boston"].map(|end| checked(&output, end));
        let sums = sums(&output);
        let expected = [("london", took[0]), ("boston", took[1])].map(|(point, longest)| {
            (point.to_owned(), "atlantic".to_owned(), [Some(1.0), Some(0.0), Some(longest)])
        });
        assert_eq!(sums, expected);
        // The path that carries nothing new fails without a row.
        assert_eq!(m2pa(family, &down("satellite")).table("failovers").unwrap().rows(), 0);
    }
}

#[test]
fn an_association_of_m3ua_moves_at_the_gateway_and_at_the_asp() {
    let output = m3ua(&down("cable"));
    assert_eq!(output.table("signalling_failovers").unwrap().rows(), 0);
    let took = ["first@london", "first@boston"].map(|end| checked(&output, end));
    let sums = sums(&output);
    assert_eq!(sums.iter().map(|(at, ..)| at.as_str()).collect::<Vec<_>>(), ["london", "boston"]);
    assert_eq!(sums.iter().map(|(.., sums)| sums[2].unwrap()).collect::<Vec<_>>(), took);
}

#[test]
fn a_path_that_only_answers_late_is_left_spuriously() {
    let slow = "[[script]]\nat = \"20 s\"\nlink = \"cable\"\naction = \"set\"\ndelay = \"400 ms\"\n";
    let output = m2pa("ipv4", slow);
    let table = output.table("failovers").unwrap();
    let row = rows_of(table, "atlantic@london")[0];
    assert_eq!(text(table, row, "cause"), "spurious");
    assert_eq!(["failed_s", "failover_s", "first_arrival_s"].map(|name| number(table, row, name)), [None; 3]);
    assert!(number(table, row, "unanswered_s").is_some_and(|time| time > 0.15));
    let [real, spurious, longest] = sums(&output)[0].2;
    assert!(real == Some(0.0) && spurious >= Some(1.0) && longest.is_none(), "{output:?}");
}
