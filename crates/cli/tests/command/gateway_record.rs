//! `slantpath gateway --record`, `--capture` and `--trace`: what a point was told, again in virtual time, and what
//! others read of it.

use slantpath_testkit::Tshark;

use crate::gateway::{LAB, Live};
use crate::live::free_port;
use crate::place::Place;

/// Further tables of the lab: inquiries by global title, which the gateway translates.
const TITLES: &str = r#"
[signalling.load.inquiries]
from = "exchange"
to = ["register"]
routing = "global-title"
translator = "london"
called = ["4912345"]
subsystem = 6
erlang_per_link = 0.2
lengths = [120]
start = "500 ms"

[[signalling.translations]]
at = "london"
digits = "49*"
to = ["register"]
to_subsystem = 6

[[signalling.screening]]
at = "london"
called = "49*"
action = "allow"
copy = true
"#;

#[test]
fn a_gateway_is_repeated_digest_for_digest_and_its_capture_is_read_down_to_sccp() {
    let place = Place::new("gateway-record");
    let lab = LAB.replace("point_code = \"3-20-1\"", "point_code = \"3-20-1\"\nsubsystems = [6]");
    place.write("lab.toml", &[&lab, TITLES].concat());
    let udp = free_port();
    let files = |point: &str| {
        let named = |flag: &str, end: &str| [format!("--{flag}"), format!("{point}{end}")];
        [named("record", ".record"), named("capture", ".pcapng"), named("trace", "-traces")].concat()
    };
    let start = |point: &str, more: &[&str]| {
        let files = files(point);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        Live::start(&place, udp, point, &[&files, more].concat())
    };
    let london = start("london", &["--control", "london.sock", "--copies", "copies.pcapng"]);
    let boston = start("boston", &[]);
    let exchange = start("exchange", &["--load", "there", "--load", "inquiries", "--seed", "7"]);
    boston.until("event=first-message");
    // An order is told, too.
    let inhibited = place.run(&["set", "london.sock", "--do", "action=deactivate", "link=trunk"]);
    assert_eq!(inhibited.status, Some(0), "{}", inhibited.err);
    london.until("link=trunk event=unavailable");
    exchange.end();
    let title = ["gateway", "explain", "lab.toml", "--point", "london", "4912345", "--subsystem", "6"];
    let asked = |more: &[&str]| place.run(&[&title, more].concat());
    let reached = asked(&["--now", "london.sock"]);
    assert_eq!((reached.status, reached.err.as_str()), (Some(0), ""));
    assert_eq!(reached.out, asked(&[]).out);
    boston.end();
    london.until("server=register event=as-down");
    let unreached = asked(&["--now", "london.sock"]);
    assert_eq!(unreached.status, Some(0), "{}", unreached.err);
    let line = "   to subsystem 6 at `register` (3-20-1); not reached now: mtp failure (return cause 5)\n";
    assert!(unreached.out.ends_with(line), "{}", unreached.out);
    let elsewhere = asked(&["--now", "london.sock", "--point", "boston"]);
    assert!(elsewhere.status == Some(2), "{}", elsewhere.out);
    let [out, _] = london.end();
    assert!(
        out.contains("\nscreening signalling.screening.0: ") && !out.contains(": 0 messages matched"),
        "{out}"
    );
    // It is in the record.
    place.write("lab.toml", "");
    for point in ["london", "boston", "exchange"] {
        let record = format!("{point}.record");
        let replayed = place.run(&["replay", &record, "--pcap", "again.pcapng", "--trace", "again"]);
        assert_eq!(replayed.status, Some(0), "{point}: {}{}", replayed.out, replayed.err);
        assert!(replayed.out.starts_with(&format!("slantpath gateway lab.toml --point {point} ")));
        assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
        let read = |name: &str| std::fs::read(place.path().join(name)).expect("it was written");
        // The packets of a repetition are those of the run, to the nanosecond.
        assert!(read("again.pcapng") == read(&format!("{point}.pcapng")), "{point}");
    }
    let told = |trace: &str| {
        let explained = place.run(&["explain", trace]);
        assert_eq!(explained.status, Some(0), "{trace}: {}{}", explained.out, explained.err);
        explained.out
    };
    let both = [told("london-traces/trunk.trace"), told("london-traces/first.trace")];
    assert_ne!(both[0], both[1]);
    for trace in ["boston-traces/first.trace", "exchange-traces/trunk.trace"] {
        assert!(told(trace).contains("closed in order at"), "{}", told(trace));
    }
    let copies = Tshark::of_file(&place.path().join("copies.pcapng"));
    let Some(rows) = copies.rows(&["frame.protocols", "frame.comment"]) else { return };
    assert!(rows.len() > 1, "{rows:#?}");
    for row in rows {
        assert!(row[0].starts_with("mtp3:sccp") && row[1] == "signalling.screening.0", "{row:?}");
    }
    let capture = Tshark::of_file(&place.path().join("london.pcapng"));
    let Some(rows) = capture.rows(&["frame.protocols"]) else { return };
    for words in [":m2pa:mtp3:sccp", ":m3ua:sccp"] {
        assert!(rows.iter().any(|row| row[0].contains(words)), "{words}: {rows:#?}");
    }
    assert_eq!(capture.print(&["-Y", "_ws.malformed"]).as_deref(), Some(""));
}
