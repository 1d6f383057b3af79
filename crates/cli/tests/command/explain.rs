//! `slantpath run --trace` and `slantpath explain`.

use crate::place::{Place, scenario};

/// The scenario of a study, cut to what the tests look at.
fn study(name: &str) -> String {
    let path = format!("{}/../../studies/{name}/scenario.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a scenario of the project")
}

const SHORT: [&str; 2] = ["--set", "scenario.duration=34 s"];

/// A place with the failover study's trace.
fn failover(test: &str) -> Place {
    let place = Place::new(test);
    place.write("failover.toml", &study("failover"));
    let run = ["run", "failover.toml", "--trace", "signalling=signalling.trace"];
    let outcome = place.run(&[&run[..], &SHORT].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    place
}

#[test]
fn a_failover_is_told_in_words() {
    let place = failover("explain-failover");
    let outcome = place.run(&["explain", "signalling.trace"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
    let one = place.run(&["explain", "signalling.trace", "--path", "10.0.0.9", "--json"]);
    assert_eq!(one.status, Some(2));
    assert!(
        one.err.starts_with("error: signalling.trace: it tells of no path to 10.0.0.9; paths: "),
        "{}",
        one.err
    );
    let link = place.run(&["explain", "signalling.trace", "--path", "primary"]);
    let by_address = place.run(&["explain", "signalling.trace", "--path", "10.0.9.2"]);
    assert_eq!((link.status, link.out), (Some(0), by_address.out));
    let none = place.run(&["explain", "signalling.trace", "--path", "satellite"]);
    let wanted = "error: signalling.trace: --path: `satellite` is neither an address nor the last link of a path; \
                  paths: 10.0.0.2 (alternate), 10.0.9.2 (primary)\n";
    assert!(none.status == Some(2) && none.err == wanted, "{}", none.err);
}

#[test]
fn a_message_beyond_the_trace_is_none_of_it() {
    let place = failover("explain-beyond");
    let told = |message: &str, more: &[&str]| {
        place.run(&[&["explain", "signalling.trace", "--message", message], more].concat())
    };
    let beyond = told("18446744073709551615", &[]);
    assert_eq!((beyond.status, beyond.out.as_str()), (Some(2), ""));
    let wanted = "error: signalling.trace: it tells of no message 18446744073709551615; the last is ";
    let last = beyond.err.strip_prefix(wanted).unwrap_or_else(|| panic!("{}", beyond.err)).trim_end();
    let next = (last.parse::<u64>().unwrap() + 1).to_string();
    assert_eq!(told(last, &[]).status, Some(0));
    assert_eq!((told(&next, &[]).status, told(&next, &["--json"]).status), (Some(2), Some(2)));
}

#[test]
fn a_trace_changes_nothing_and_is_the_same_each_time() {
    let place = Place::new("explain-same");
    place.write("failover.toml", &study("failover"));
    let json = |more: &[&str]| {
        let outcome = place.run(&[&["run", "failover.toml", "--json"], &SHORT[..], more].concat());
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        outcome.out
    };
    let without = json(&[]);
    assert_eq!(without, json(&["--trace", "signalling=one.trace", "--trace", "cross1=cross.trace"]));
    assert_eq!(without, json(&["--trace", "signalling=two.trace"]));
    let read = |name: &str| std::fs::read(place.path().join(name)).expect("it was asked for");
    assert_eq!(read("one.trace"), read("two.trace"));
    assert!(read("cross.trace").len() > 100_000);
}

#[test]
fn another_setting_is_run_beside_the_one_that_was() {
    let place = failover("explain-what-if");
    let what_if = |setting: &str| {
        let outcome = place.run(&["explain", "signalling.trace", "--what-if", setting]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        outcome.out
    };
    insta::assert_snapshot!(what_if("sctp.signalling.path_max_retrans=1"));
    let same = what_if("sctp.signalling.path_max_retrans=2");
    assert!(same.ends_with("\nThe setting makes no difference to what is counted here.\n"), "{same}");
    // The trace says which scenario it is of, and that has to be the same still.
    place.write("failover.toml", &study("failover").replace("\"13 kB\"", "\"14 kB\""));
    let outcome = place.run(&["explain", "signalling.trace", "--what-if", "sctp.cross.rto_min=1 s"]);
    assert_eq!(outcome.status, Some(2));
    let wanted =
        "error: signalling.trace: failover.toml is not the scenario of the trace any more: its hash is ";
    assert!(outcome.err.starts_with(wanted), "{}", outcome.err);
}

#[test]
fn handovers_of_a_sky_are_told_in_words() {
    let place = Place::new("explain-iridium");
    place.write("sctp-over-iridium.toml", &scenario("sctp-over-iridium.toml"));
    place.write("iridium-london-boston.toml", &scenario("iridium-london-boston.toml"));
    let run = ["run", "sctp-over-iridium.toml", "--set", "scenario.duration=15 min"];
    let outcome = place.run(&[&run[..], &["--trace", "telemetry=telemetry.trace"]].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let outcome = place.run(&["explain", "telemetry.trace"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn what_is_no_trace_and_what_cannot_be_traced_is_said() {
    let place = failover("explain-wrong");
    let run = |trace: &str| {
        let outcome = place.run(&["run", "failover.toml", "--trace", trace]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    assert_eq!(run("signalling"), "error: --trace: `signalling` is no FLOW=FILE, like calls=calls.trace\n");
    let unknown = "error: --trace: there is no flow and no association of signalling `voice`; \
                   flows: cross1, cross2, signalling\n";
    assert_eq!(run("voice=voice.trace"), unknown);
    let explain = |file: &str| {
        let outcome = place.run(&["explain", file]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    place.write("none", "neither this nor that");
    assert!(explain("none").starts_with("error: none: line 1: not a trace: "));
    let trace = std::fs::read_to_string(place.path().join("signalling.trace")).expect("a trace");
    let lines: Vec<&str> = trace.lines().collect();
    place.write("wrong.trace", &[&lines[..7], &["{}"]].concat().join("\n"));
    let wanted = "error: wrong.trace: line 8: `event` is missing, or not what stands there in a trace\n";
    assert_eq!(explain("wrong.trace"), wanted);
    place.write("cut.trace", &(lines[..lines.len() - 1].join("\n") + "\n"));
    let outcome = place.run(&["explain", "cut.trace"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains(" s, where the trace is cut off\n"), "{}", outcome.out);
}

/// Two ways to a server, of which the first loses a packet in a hundred and is out of service from 20 s to 32 s.
const TWO_WAYS: &str = r#"
[scenario]
name = "two-ways"
duration = "2 min"
[nodes]
client = { kind = "host" }
server = { kind = "host" }
[links.first]
ends = ["client", "server"]
addresses = ["10.1.0.1", "10.1.0.2"]
rate = "100 Mbit/s"
delay = "20 ms"
[links.first.forward]
loss = "1 %"
[links.second]
ends = ["client", "server"]
addresses = ["10.2.0.1", "10.2.0.2"]
rate = "100 Mbit/s"
delay = "260 ms"
[sctp.default]
path_max_retrans = 2
rto_max = "4 s"
hb_interval = "3 s"
[flows.load]
from = "client"
to = "server"
transport = "sctp"
primary = "first"
when_blocked = "queue"
end = "1 min"
application = { kind = "constant-rate", message_size = "200 B", interval = "20 ms" }
[[script]]
at = "20 s"
link = "first"
action = "down"
[[script]]
at = "32 s"
link = "first"
action = "up"
"#;

/// A place with a trace of the scenario as the command would have written it of real sockets before traces had the
/// settings of the profile: without what the other end knows.
fn as_if_live(test: &str, scenario: &str, command: &[&str]) -> Place {
    let place = Place::new(test);
    place.write("two-ways.toml", scenario);
    let outcome = place.run(&["run", "two-ways.toml", "--trace", "load=simulated.trace"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let trace = std::fs::read_to_string(place.path().join("simulated.trace")).expect("a trace");
    let (head, rest) = trace.split_once('\n').expect("a header");
    let mut head: serde_json::Value = serde_json::from_str(head).expect("a line of JSON");
    head["origin"] = serde_json::json!({ "kind": "live", "command": command });
    let profile = head.as_object_mut().and_then(|head| head.remove("profile")).expect("it is a header");
    assert_eq!(profile["rto_initial"], "1 s", "all settings by their names");
    let known = rest.lines().filter(|line| !line.contains("\"delivered\""));
    let lines = std::iter::once(head.to_string()).chain(known.map(str::to_owned));
    place.write("load.trace", &lines.map(|line| line + "\n").collect::<String>());
    place
}

/// The command of the flow in [`TWO_WAYS`].
const LOAD: [&str; 14] = [
    "load",
    "10.1.0.2",
    "10.2.0.2",
    "--rate",
    "50",
    "--size",
    "200",
    "--for",
    "1 min",
    "--path-max-retrans",
    "2",
    "--rto-max",
    "4 s",
    "--heartbeat=3 s",
];

#[test]
fn the_load_of_a_live_trace_is_made_again_over_the_network_that_it_shows() {
    let place = as_if_live("explain-live", TWO_WAYS, &[&LOAD[..], &["--one-way"]].concat());
    let explain = ["explain", "load.trace", "--what-if", "sctp.default.path_max_retrans=0", "--json"];
    let outcome = place.run(&[&explain[..], &["--rebuilt", "rebuilt.toml"]].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let all: serde_json::Value = serde_json::from_str(&outcome.out).expect("JSON");
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    let near = |value: &serde_json::Value, wanted: f64, share: f64| {
        let value = number(value);
        assert!((value - wanted).abs() <= wanted * share, "{value} is not near {wanted}: {}", outcome.out);
    };
    let [first, second] = [&all["paths"][0], &all["paths"][1]];
    assert_eq!([first["path"].as_str(), second["source"].as_str()], [Some("10.1.0.2"), Some("10.2.0.1")]);
    near(&first["round_trip_min_s"], 0.040, 0.01);
    near(&second["round_trip_min_s"], 0.520, 0.01);
    near(&first["loss"], 0.01, 0.5);
    near(&first["outages_s"][0][0], 20.0, 0.005);
    // Up to the next HEARTBEAT nobody knows that it is back.
    let up = number(&first["outages_s"][0][1]);
    assert!((32.0..42.0).contains(&up), "{up}");
    assert_eq!([first, second].map(|path| path["outages_s"].as_array().map(Vec::len)), [Some(1), Some(0)]);
    // Those that the other path overtook look lost, if their acknowledgement does not come too soon for what was sent
    // again.
    assert!(number(&second["loss"]) < 0.004, "{second}");
    // Over the network that was made of that the load fares as it did.
    let [was, rebuilt, otherwise] = ["as_it_was", "rebuilt", "otherwise"].map(|run| &all[run]);
    assert_eq!(was["failovers"], rebuilt["failovers"]);
    near(&rebuilt["acknowledged"], number(&was["acknowledged"]), 0.01);
    near(&rebuilt["longest_failover_s"], number(&was["longest_failover_s"]), 0.1);
    near(&rebuilt["acknowledgement_gap_s"], number(&was["acknowledgement_gap_s"]), 0.1);
    near(&rebuilt["acknowledgement_mean_s"], number(&was["acknowledgement_mean_s"]), 0.1);
    near(&rebuilt["messages_resent"], number(&was["messages_resent"]), 0.2);
    // A path that is left after its first time-out is left sooner.
    assert!(
        number(&otherwise["longest_failover_s"]) < 0.5 * number(&was["longest_failover_s"]),
        "{}",
        outcome.out
    );
    // It is a scenario as any.
    let outcome = place.run(&["run", "rebuilt.toml"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let outcome = place.run(&explain[..4]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn what_cannot_be_made_again_is_said() {
    let of = |command: &[&str], more: &[&str]| {
        let place = as_if_live("explain-live-not", TWO_WAYS, command);
        let what_if = ["explain", "load.trace", "--what-if", "sctp.default.rto_min=300 ms"];
        let outcome = place.run(&[&what_if[..], more].concat());
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    let wanted =
        "error: load.trace: it is of a server, which sends what others want: give the trace of the load\n";
    assert_eq!(of(&["echo"], &[]), wanted);
    let wanted = "error: load.trace: its load was that of a flow of lab.toml: ask `slantpath run lab.toml \
                  --trace`, whose trace can be made again\n";
    assert_eq!(of(&["load", "10.1.0.2", "--like", "lab.toml"], &[]), wanted);
    let wanted =
        "error: load.trace: its messages have 70000 bytes, and those of a simulated flow 65536 at most\n";
    assert_eq!(of(&["load", "10.1.0.2", "--size", "70000"], &[]), wanted);
    assert_eq!(of(&["paint"], &[]), "error: load.trace: this program has no command `paint`\n");
    // The scenario has no such setting.
    let said = of(&LOAD, &["--what-if", "sctp.default.rto_mim=1 s"]);
    assert!(said.contains("rto_mim") && said.contains("rto_min"), "{said}");
}

#[test]
fn a_load_that_fills_its_path_is_made_again_over_one_that_carries_as_much() {
    let rate = "rate = \"4 Mbit/s\"\nqueue = \"60 kB\"\ndelay = \"20 ms\"";
    let full = TWO_WAYS
        .replacen("rate = \"100 Mbit/s\"\ndelay = \"20 ms\"", rate, 1)
        .replace("loss = \"1 %\"", "loss = \"0.02 %\"")
        .replace("end = \"1 min\"", "end = \"15 s\"");
    let constant = "kind = \"constant-rate\", message_size = \"200 B\", interval = \"20 ms\"";
    // As fast as possible, and at a rate that is more than the path carries.
    let bulk = "kind = \"bulk\", message_size = \"1000 B\", total = \"unlimited\"";
    let too_fast = "kind = \"constant-rate\", message_size = \"1000 B\", interval = \"1 ms\"";
    for (application, said) in [(bulk, &[][..]), (too_fast, &["--rate", "1000"])] {
        let command = [&["load", "10.1.0.2", "10.2.0.2", "--for", "15 s", "--one-way"], said].concat();
        let place = as_if_live("explain-live-full", &full.replace(constant, application), &command);
        let what_if = "sctp.default.congestion_control=cubic";
        let outcome = place.run(&["explain", "load.trace", "--what-if", what_if, "--json"]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        let all: serde_json::Value = serde_json::from_str(&outcome.out).expect("JSON");
        let rate = all["paths"][0]["rate_bit_per_s"].as_f64().expect("it was full");
        assert!((3.6e6..4.4e6).contains(&rate), "{rate}");
        // What waited is no property of the path but its queue's.
        let scenario = all["scenario"].as_str().expect("a string");
        assert!(!scenario.contains("action = \"set\""), "{scenario}");
        let sent = |run: &str| all[run]["acknowledged"].as_f64().expect("a count");
        assert!((0.85..1.15).contains(&(sent("rebuilt") / sent("as_it_was"))), "{}", outcome.out);
    }
}

#[test]
fn a_way_that_never_answers_is_down_and_the_primary_one_stays_it() {
    // The server is called over the second, the first has no way out.
    let dead = TWO_WAYS
        .replace("primary = \"first\"", "primary = \"second\"")
        .replace("at = \"20 s\"", "at = \"0 s\"")
        .replace("at = \"32 s\"", "at = \"119 s\"")
        .replace("end = \"1 min\"", "end = \"15 s\"");
    let command = ["load", "10.2.0.2", "--rate", "50", "--size", "200", "--for", "15 s", "--one-way"];
    let place = as_if_live("explain-live-dead", &dead, &command);
    let what_if = ["explain", "load.trace", "--what-if", "sctp.default.rto_min=300 ms"];
    let outcome = place.run(&[&what_if[..], &["--rebuilt", "rebuilt.toml"]].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let line = |address: &str| outcome.out.lines().find(|line| line.starts_with(address)).unwrap_or_default();
    assert!(line("10.1.0.2").ends_with(" always"), "{}", outcome.out);
    assert!(line("10.2.0.2").ends_with(" never"), "{}", outcome.out);
    let rebuilt = std::fs::read_to_string(place.path().join("rebuilt.toml")).expect("it was asked for");
    let link = line("10.2.0.2").split_whitespace().nth(1).expect("a name");
    assert!(rebuilt.contains(&format!("primary = \"{link}\"")), "{rebuilt}");
    assert!(rebuilt.contains("action = \"down\" # nothing ever came back\n"), "{rebuilt}");
}

/// A flow over a link that loses packets on their way there.
const LOSSY: &str = r#"
[scenario]
name = "lossy"
duration = "60 s"

[nodes]
exchange = { kind = "host" }
station = { kind = "host" }

[links.satellite]
ends = ["exchange", "station"]
rate = "2 Mbit/s"
delay = "100 ms"
forward = { loss = "10 %" }

[flows.calls]
transport = "sctp"
from = "exchange"
to = "station"
application = { kind = "poisson", message_size = "200 B", mean_interval = "300 ms" }
end = "50 s"
"#;

#[test]
fn a_capture_tells_of_an_association_what_its_own_trace_tells() {
    let place = Place::new("explain-capture");
    place.write("lossy.toml", LOSSY);
    let run = ["run", "lossy.toml", "--trace", "calls=calls.trace", "--pcap", "satellite", "--out", "out"];
    let outcome = place.run(&run);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let told = |file: &str| {
        let outcome = place.run(&["explain", file, "--json"]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        serde_json::from_str::<serde_json::Value>(&outcome.out).expect("JSON")
    };
    let [own, captured] = ["calls.trace", "out/satellite.pcapng"].map(told);
    for number in ["sent", "acknowledged", "messages_resent", "chunks_resent", "failovers"] {
        assert_eq!(captured["outcome"][number], own["outcome"][number], "{number}");
    }
    // From outside, what SACKs report while the timer runs looks like their doing: one in ten may be told so.
    let [expired, seen] =
        [&own, &captured].map(|told| told["outcome"]["timeouts"].as_u64().expect("a number"));
    assert!(expired > 3 && seen <= expired && 10 * seen >= 9 * expired, "{seen} of {expired}");
    assert_eq!(captured["directions"][0]["sources"][0], "10.0.0.1");
    let words = place.run(&["explain", "out/satellite.pcapng"]).out;
    for line in [
        "Each direction of an association is told apart:",
        "  1: from 10.0.0.1 port 20000 to 10.0.0.2 port 40000",
        "satellite.pcapng, as it was captured at one point",
        "## Association 1",
    ] {
        assert!(words.lines().any(|told| told == line), "{line}\n{words}");
    }
    assert!(words.contains("T3-rtx has expired") && !words.contains("cwnd"), "{words}");
}

/// A host with one link, and a peer with two behind a router: one capture sees both paths. From 20.05 s on the first
/// brings nothing to the peer, which answers by it all the same.
const TWO_PATHS: &str = r#"
[scenario]
name = "two-paths"
duration = "60 s"

[nodes]
exchange = { kind = "host" }
gate = { kind = "router" }
station = { kind = "host" }

[links]
access = { ends = ["exchange", "gate"], rate = "10 Mbit/s", delay = "1 ms", family = "FAMILY" }
one = { ends = ["gate", "station"], rate = "2 Mbit/s", delay = "100 ms", family = "FAMILY" }
other = { ends = ["gate", "station"], rate = "2 Mbit/s", delay = "250 ms", family = "FAMILY" }

[sctp.default]
SETTING

[flows.calls]
transport = "sctp"
from = "exchange"
to = "station"
primary = "one"
application = { kind = "constant-rate", message_size = "200 B", interval = "100 ms" }

[[script]]
at = "20050 ms"
link = "one"
direction = "forward"
action = "down"
"#;

#[test]
fn a_failover_takes_as_long_in_a_capture_as_in_the_run_and_in_its_trace() {
    for (family, setting) in
        [("ipv4", "path_max_retrans = 2"), ("ipv6", "potentially_failed_max_retrans = 0")]
    {
        let place = Place::new(&format!("explain-failover-{family}"));
        place.write("two.toml", &TWO_PATHS.replace("FAMILY", family).replace("SETTING", setting));
        let run = ["run", "two.toml", "--trace", "calls=calls.trace", "--pcap", "access", "--out", "out"];
        let outcome = place.run(&run);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        let table = std::fs::read_to_string(place.path().join("out/failovers.csv")).expect("a table");
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
        let cell = |name: &str| {
            let column = rows[0].iter().position(|column| *column == name).expect("a column");
            rows[1][column].parse::<f64>().expect("a number")
        };
        assert_eq!((rows.len(), cell("failed_s")), (2, 20.05), "{table}");
        for file in ["calls.trace", "out/access.pcapng"] {
            let outcome = place.run(&["explain", file, "--json"]);
            assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
            let told: serde_json::Value = serde_json::from_str(&outcome.out).expect("JSON");
            assert_eq!(told["outcome"]["failovers"], 1, "{family} {file}");
            let longest = told["outcome"]["longest_failover_s"].as_f64().expect("a time");
            assert!((longest - cell("unanswered_s")).abs() < 1e-9, "{family} {file}: {longest} {table}");
        }
        assert!(cell("unanswered_s") > cell("failover_s") && cell("failover_s") > 0.9);
    }
}

#[test]
fn what_a_capture_cannot_tell_is_said() {
    let place = Place::new("explain-capture-errors");
    let datagrams = slantpath_testkit::pcap::write(101, [[0x45_u8; 40]]);
    std::fs::write(place.path().join("udp.pcap"), &datagrams).expect("a file of the test");
    std::fs::write(place.path().join("empty.trace"), "").expect("a file of the test");
    let told = |arguments: &[&str]| {
        let outcome = place.run(&[&["explain"], arguments].concat());
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    let none = "error: udp.pcap: none of its 1 frames is of an association of SCTP; `slantpath import` tells";
    assert!(told(&["udp.pcap"]).starts_with(none));
    assert!(told(&["udp.pcap", "--what-if", "sctp.default.rto_max=1 s"]).starts_with(none));
    let of_a_trace = "error: empty.trace: `--rto-min` is for captures";
    assert!(told(&["empty.trace", "--rto-min", "1 s"]).starts_with(of_a_trace));
    let codes = "error: empty.trace: `--point-codes` is for captures: a trace has no point codes\n";
    assert_eq!(told(&["empty.trace", "--point-codes", "itu"]), codes);
    let direction = ["empty.trace", "--what-if", "sctp.default.rto_max=1 s", "--direction", "1"];
    assert_eq!(
        told(&direction),
        "error: empty.trace: `--direction` is for captures: a trace is of one sender\n"
    );
}
