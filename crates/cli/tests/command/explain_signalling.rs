//! `slantpath explain` of captures with signalling: failovers as the run and one point on the way tell them.

use serde_json::Value;

use crate::place::Place;

/// Points with two links of M2PA from London, of which one capture sees both: direct to Boston, and by Paris. The
/// direct one brings nothing to Boston from 20.05 s on.
const M2PA: &str = r#"
[scenario]
name = "m2pa"
duration = "40 s"

[nodes]
london = { kind = "host" }
gate = { kind = "router" }
boston = { kind = "host" }
paris = { kind = "host" }

[links]
access = { ends = ["london", "gate"], rate = "10 Mbit/s", delay = "1 ms", family = "FAMILY" }
direct = { ends = ["gate", "boston"], rate = "1 Mbit/s", delay = "30 ms", family = "FAMILY" }
first-half = { ends = ["gate", "paris"], rate = "1 Mbit/s", delay = "10 ms", family = "FAMILY" }
second-half = { ends = ["paris", "boston"], rate = "1 Mbit/s", delay = "40 ms", family = "FAMILY" }

[sctp.default]
SETTING

[signalling.points]
london = { point_code = "1-1-1", restart = "omitted" }
boston = { point_code = "1-1-2", restart = "omitted" }
paris = { point_code = "1-1-3", restart = "omitted", function = "transfer-point" }

[signalling.links]
atlantic = { between = ["london", "boston"], carrier = { kind = "m2pa", primary = "direct" } }
channel = { between = ["london", "paris"], carrier = { kind = "m2pa", primary = "first-half" } }
detour = { between = ["paris", "boston"], carrier = { kind = "m2pa", primary = "second-half" } }

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

[[script]]
at = "20050 ms"
link = "direct"
action = "down"
"#;

/// A gateway whose messages two processes share, over one link that one capture sees. The first is not reached from
/// 30.05 s on.
const M3UA: &str = r#"
[scenario]
name = "m3ua"
duration = "60 s"

[nodes]
london = { kind = "host" }
hub = { kind = "router" }
boston-1 = { kind = "host" }
boston-2 = { kind = "host" }

[links]
access = { ends = ["london", "hub"], rate = "512 kbit/s", delay = "20 ms", family = "FAMILY" }
lan-1 = { ends = ["hub", "boston-1"], rate = "100 Mbit/s", delay = "1 ms", family = "FAMILY" }
lan-2 = { ends = ["hub", "boston-2"], rate = "100 Mbit/s", delay = "1 ms", family = "FAMILY" }

[sctp.default]
SETTING

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
t_r = "5 s"

[signalling.asps]
boston-1 = {}
boston-2 = {}

[signalling.associations.first]
gateway = "london"
asp = "boston-1"

[signalling.associations.second]
gateway = "london"
asp = "boston-2"

[signalling.application_servers.register]
routing_context = 100
dpc = "register"
si = [15]
traffic_mode = "loadshare"
asps = ["boston-1", "boston-2"]

[signalling.load.there]
from = "exchange"
to = ["register"]
links = 4
erlang_per_link = 0.09
lengths = [60, 120, 270]
start = "20 s"

[[script]]
at = "30050 ms"
link = "lan-1"
action = "down"
"#;

/// A run of a scenario with the packets of `access` in `out/access.pcapng`, and the rows of a table of it.
fn run(place: &Place, text: &str, more: &[&str]) {
    place.write("scenario.toml", text);
    let run = ["run", "scenario.toml", "--pcap", "access", "--out", "out"];
    let outcome = place.run(&[&run[..], more].concat());
    // Timers are left as they are by default: the run warns of some.
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
}

fn told(place: &Place, file: &str) -> Value {
    let outcome = place.run(&["explain", file, "--json"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    serde_json::from_str(&outcome.out).expect("JSON")
}

/// The only row of `signalling_failovers`, by its columns.
fn only_failover(place: &Place) -> impl Fn(&str) -> String {
    let table = std::fs::read_to_string(place.path().join("out/signalling_failovers.csv")).expect("a table");
    let rows: Vec<Vec<String>> =
        table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), 2, "{table}");
    move |name| {
        let column = rows[0].iter().position(|column| column == name).expect("a column");
        rows[1][column].clone()
    }
}

#[test]
fn signalling_fails_over_in_a_capture_when_it_does_in_the_run() {
    // M2PA gives its link up by T7, or as its association ends; M3UA hears of nothing but that.
    let cases = [
        ("m2pa", M2PA, "", "m2pa-t7"),
        ("m2pa", M2PA, "association_max_retrans = 1\npath_max_retrans = 0", "m2pa-ended"),
        ("m3ua", M3UA, "association_max_retrans = 2\npath_max_retrans = 1", "m3ua"),
    ];
    for (layer, text, setting, test) in cases {
        for family in ["ipv4", "ipv6"] {
            let place = Place::new(&format!("explain-{test}-{family}"));
            run(&place, &text.replace("FAMILY", family).replace("SETTING", setting), &[]);
            let cell = only_failover(&place);
            let number = |name: &str| cell(name).parse::<f64>().expect("a number");
            assert_eq!((cell("cause").as_str(), number("at_s") > 20.05), ("link down", true), "{layer}");
            let told = told(&place, "out/access.pcapng");
            let all = told["signalling_failovers"].as_array().expect("a list");
            assert_eq!(all.len(), 1, "{test} {family}: {all:?}");
            let [at, unanswered] =
                ["at_s", "unanswered_s"].map(|name| all[0][name].as_f64().expect("a time"));
            let begins = told["directions"].as_array().map(Vec::len);
            // The clock of a capture begins with its first packet.
            assert!(at <= number("at_s") && begins.is_some(), "{at}");
            assert!((unanswered - number("unanswered_s")).abs() < 1e-9, "{test} {family}: {unanswered}");
            assert!(unanswered > number("failover_s"), "{unanswered}");
            assert_eq!(all[0]["layer"].as_str().map(str::to_lowercase).as_deref(), Some(layer));
            let direction = |end: &str| {
                let number = &all[0][end];
                let directions = told["directions"].as_array().expect("a list");
                let of = directions.iter().find(|of| of["association"] == *number).expect("a direction");
                (of["sources"][0].clone(), of["destinations"][0].clone())
            };
            let [(source, former), (same, other)] = ["from", "to"].map(direction);
            assert!(source == same && former != other, "{all:?}");
            let words = place.run(&["explain", "out/access.pcapng"]).out;
            let since = format!("{:.3} ms since the last answered packet", unanswered * 1e3);
            assert!(words.contains(&since), "{words}");
            assert!(
                words.contains("When the former failed, and why, is known to the network alone."),
                "{words}"
            );
        }
    }
}
