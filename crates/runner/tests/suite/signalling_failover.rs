//! Failovers of signalling: between links of M2PA as the packet network below one fails, and between ASPs.

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// A load from London to Boston by a link of M2PA, with another way by Paris.
fn triangle(family: &str, script: &str) -> RunOutput {
    run_text(&format!(
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
    ))
}

fn text<'a>(table: &'a Table, row: usize, name: &str) -> &'a str {
    match table.column(name).unwrap().at(row) {
        CellValue::Text(text) => text,
        other => panic!("{name} is {other:?}"),
    }
}

fn number(table: &Table, row: usize, name: &str) -> Option<f64> {
    match table.column(name).unwrap().at(row) {
        CellValue::F64(number) => Some(number),
        CellValue::Missing => None,
        other => panic!("{name} is {other:?}"),
    }
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
