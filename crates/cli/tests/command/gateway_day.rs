//! A day of an operator: what a gateway says at each step from its start to its end, under traffic.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gateway::Live;
use crate::gateway_reload::{assert_up_once, lab_at, start, title};
use crate::live::free_port;
use crate::place::Place;

/// Messages a second, of octets as in the lab, and the share of each of as many lines that they fill.
const RATE: f64 = 1_000.0;
const LINES: f64 = 16.0;

/// Line at which the operator makes a mistake.
const FAULT: usize = 400;

/// Another point with a link set of its own, which the reload removes: the last one in the order of names.
const ZURICH: &str = r#"
[nodes.zurich]
kind = "host"

[links.to-zurich]
ends = ["london", "zurich"]
rate = "100 Mbit/s"
delay = "5 ms"

[live.zurich]
addresses = ["127.0.0.5"]

[signalling.points.zurich]
point_code = "2-15-7"
restart = "omitted"
"#;
const LINK_TO_ZURICH: &str = r#"
[signalling.links.zurich]
between = ["london", "zurich"]
carrier = { kind = "m2pa", proving = "omitted", profile = "plain" }
"#;

/// Further links, of which the last brings a port.
fn more_links() -> String {
    let link = |number: u8| {
        format!(
            "\n[signalling.links.trunk-{number}]\nbetween = [\"exchange\", \"london\"]\nslc = {}\n\
             carrier = {{ kind = \"m2pa\", proving = \"omitted\", profile = \"plain\" }}\n",
            number - 1
        )
    };
    [link(2), link(3)].concat()
}

/// The lab of a day, with its load.
fn lab(addresses_of_london: &str) -> String {
    let erlang = format!(
        "line_rate = \"10 Mbit/s\"\nlinks = {LINES}\nerlang_per_link = {:.5}",
        RATE * 480.0 / 1e7 / LINES
    );
    lab_at(addresses_of_london)
        .replace("erlang_per_link = 0.2", &erlang)
        .replace("point_code = \"3-20-1\"", "point_code = \"3-20-1\"\nsubsystems = [6]")
        .replace("routing_context = 100", "routing_context = 100\nregistration = \"dynamic\"")
}

/// The lab after the reload, with a point in its last lines, whose code is at the line of the fault.
fn next_lab(code_of_rome: &str) -> String {
    let mut text = lab("\"127.0.0.2\", \"127.0.0.4\"")
        .replace("[signalling.application_servers.register]", "[signalling.application_servers.home]");
    text += ZURICH;
    text += &more_links();
    text += &title("register");
    let lines = text.lines().count();
    text += &"# Points to come.\n".repeat(FAULT - 2 - lines);
    text + &format!("[signalling.points.rome]\npoint_code = \"{code_of_rome}\"\nnode = \"boston\"\n")
}

/// Words of a line of the log behind its instant.
fn said(line: &str) -> &str {
    line.split_once(' ').expect("an instant").1
}

/// Asks the gateway; gives what it says.
fn set(place: &Place, arguments: &[&str]) -> String {
    let outcome = place.run(&[&["set", "london.sock"], arguments].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    outcome.out
}

/// State of the gateway, part by part: the columns that are named, each row in one line.
fn state(place: &Place, part: &str, columns: &[&str]) -> Vec<String> {
    let status: Value = serde_json::from_str(&set(place, &["--status", "--json"])).expect("it is JSON");
    let cell = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let row = |row: &Value| columns.iter().map(|column| cell(&row[*column])).collect::<Vec<_>>().join(" ");
    status[part].as_array().expect("rows").iter().map(row).collect()
}

fn links(place: &Place) -> Vec<String> {
    state(place, "links", &["link", "link_set", "state"])
}

/// Pairs of addresses of the packets of a capture.
fn pairs_in(pcapng: &[u8]) -> BTreeSet<([u8; 4], [u8; 4])> {
    let mut reader = slantpath_capture::CaptureReader::open(pcapng).expect("a capture");
    let mut pairs = BTreeSet::new();
    while let Some(frame) = reader.next_frame().expect("a whole capture") {
        let address = |at: usize| frame.bytes[at..at + 4].try_into().expect("four octets");
        pairs.insert((address(12), address(16)));
    }
    pairs
}

fn until_said(live: &Live, words: &[&str]) {
    for words in words {
        live.until(words);
    }
}

#[test]
fn a_day_of_an_operator() {
    let place = Place::new("gateway-day");
    place.write("lab.toml", &[&lab("\"127.0.0.2\""), ZURICH, LINK_TO_ZURICH].concat());
    let udp = free_port();

    // It starts, and its process registers.
    let kept = ["--control", "london.sock", "--trace", "traces", "--record", "london.record"];
    let mut london = start(&place, udp, "london", &kept);
    assert_eq!(london.line(), format!("`london` is live at 127.0.0.2, in UDP port {udp}; Ctrl-C stops\n"));
    let zurich = start(&place, udp, "zurich", &[]);
    let boston = start(&place, udp, "boston", &[]);
    until_said(
        &london,
        &["association=first server=register event=registered", "server=register event=as-active"],
    );
    boston.until("association=first server=register event=asp-active");

    // Traffic.
    let exchange = start(&place, udp, "exchange", &["--load", "there"]);
    assert_eq!(said(&boston.until("event=first-message")), "from=4217 to=6305 event=first-message");
    zurich.until("link=zurich event=available");
    let before = ["trunk exchange available", "zurich zurich available"];
    assert_eq!(links(&place), before);

    // A reload with a fault changes nothing.
    place.write("lab.toml", &next_lab("2-15-9"));
    assert_eq!(set(&place, &["--reload"]), "its file is read; its events tell what comes of that\n");
    let refused = "event=reload-refused reason=\"lab.toml:400:14: `9` does not fit 3 bits\\n  help: write a number, or \
                   three with dashes like \\\"2-15-3\\\"\"";
    assert_eq!(said(&london.until("event=reload-refused")), refused);
    assert_eq!(links(&place), before);
    let servers = ["application_server", "state"];
    assert_eq!(state(&place, "application_servers", &servers), ["register active"]);

    // The same without the fault.
    place.write("lab.toml", &next_lab("2-15-6"));
    set(&place, &["--reload"]);
    until_said(&london, &["event=reload-begun", "link=zurich event=unavailable"]);
    let not_offered = "association=trunk address=127.0.0.4 event=address-not-offered reason=\"the ends have not agreed \
                       to `dynamic-addresses`: this holds from the next association on\"";
    assert_eq!(said(&london.until("event=address-not-offered")), not_offered);
    let taken = "event=reloaded reason=\"association trunk-2, trunk-3 added; association zurich removed; own address \
                 127.0.0.4 added; link trunk-2, trunk-3 added; link zurich removed; \
                 translation signalling.translations.0 added; application server of context 100 changed\"";
    assert_eq!(said(&london.until("event=reloaded")), taken);
    zurich.until("association=zurich event=association-ended");
    zurich.end();
    london.until("association=first address=127.0.0.4 event=address-added");
    boston.until("association=first path=127.0.0.4 event=active");
    exchange.hang_up();
    until_said(&london, &["link=trunk-2 event=available", "link=trunk-3 event=available"]);
    let after = ["trunk exchange available", "trunk-2 exchange available", "trunk-3 exchange available"];
    assert_eq!(links(&place), after);
    assert_eq!(state(&place, "application_servers", &servers), ["home active"]);

    // A link is taken out, and activated.
    for (action, event) in [("deactivate", "unavailable"), ("activate", "available")] {
        let told = set(&place, &["--do", &format!("action={action}"), "link=trunk-3"]);
        assert!(told.ends_with(&format!(" s: link trunk-3: {action}\n")), "{told}");
        assert_eq!(
            said(&london.until(&format!("link=trunk-3 event={event}"))),
            format!("link=trunk-3 event={event}")
        );
    }

    // Messages of a point are traced, and packets captured for a while.
    let captured = place.path().join("incident.pcapng");
    let begun = set(&place, &["--capture", "incident.pcapng"]);
    assert_eq!(begun, format!("packets are captured into {}\n", captured.display()));
    let traced = set(&place, &["--trace", "point=exchange", "messages=3"]);
    let left = " s: exchange to register, service 15, 49 octets: left over first after ";
    let came = " s: exchange to register, service 15, 49 octets: arrived over trunk";
    let lines: Vec<&str> = traced.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.contains(left)).count(), 3, "{traced}");
    assert_eq!(lines.iter().filter(|line| line.contains(came)).count(), 3, "{traced}");
    assert_eq!(lines.len(), 6, "{traced}");
    let again = place.run(&["set", "london.sock", "--capture", "other.pcapng"]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("packets are captured already, into "), "{}", again.err);
    let ended = set(&place, &["--end-capture"]);
    assert_eq!(ended, format!("packets were captured into {}\n", captured.display()));
    london.until("event=capture-ended");
    assert_eq!(place.run(&["set", "london.sock", "--end-capture"]).status, Some(2));
    let between = pairs_in(&std::fs::read(&captured).expect("it is there"));
    // The exchange has one address, the process another; the gateway's second one came by the reload.
    assert!(between.contains(&([127, 0, 0, 1], [127, 0, 0, 2])), "{between:?}");
    assert!(between.iter().any(|(from, to)| from[3] % 2 == 0 && to[3] == 3), "{between:?}");

    // Its process is killed; another one takes its place.
    drop(boston);
    until_said(&london, &["server=home event=as-pending", "server=home event=as-down"]);
    assert_eq!(state(&place, "application_servers", &servers), ["home down"]);
    let boston = start(&place, udp, "boston", &[]);
    until_said(&london, &["association=first server=home event=registered", "server=home event=as-active"]);
    boston.until("event=first-message");

    // It shows its state, and where a title goes.
    let routes = state(&place, "routes", &["destination", "is_accessible", "over"]);
    assert_eq!(routes, ["exchange true exchange"]);
    assert_eq!(
        state(&place, "associations", &["association", "state", "times_up"]),
        ["trunk up 1", "trunk-2 up 1", "trunk-3 up 1", "first up 2"]
    );
    let title = ["gateway", "explain", "lab.toml", "--point", "london", "4912345", "--subsystem", "6"];
    let reached = place.run(&[&title[..], &["--now", "london.sock"]].concat());
    let explained = "\
1. `london` (2-15-3) has 4912345 (translation type 0, plan 1, nature 4, subsystem 6)
   `signalling.translations.0` takes it, by its digits `49*`
   to subsystem 6 at `register` (3-20-1)
";
    assert_eq!((reached.status, reached.out.as_str(), reached.err.as_str()), (Some(0), explained, ""));

    // It ends in order; what it has decided and been told is there.
    exchange.end();
    assert_eq!(set(&place, &["--stop"]), "the run ends\n");
    let [out, log] = london.ended();
    let stopping = log.lines().find(|line| line.ends_with("event=stopping")).expect("it says so");
    assert_eq!(said(stopping), "event=stopping");
    assert_up_once(&out, &["trunk", "trunk-2", "trunk-3"]);
    assert!(out.contains(" messages came to user parts; 0 callers were refused\n"), "{out}");
    boston.end();
    let explained = place.run(&["explain", "traces/trunk-3.trace"]);
    assert!(explained.out.contains("closed in order at"), "{}{}", explained.out, explained.err);
    let replayed = place.run(&["replay", "london.record"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
}
