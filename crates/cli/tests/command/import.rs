//! `slantpath import`: a capture becomes scenarios, and these make the same capture again.

use slantpath_testkit::{pcap, shared};

use crate::place::Place;

/// Several flows over a network that loses packets, so that the capture has retransmissions.
const FLOWS: &str = r#"
[scenario]
name = "captured"
duration = "20 s"

[nodes]
exchange = { kind = "host" }
station = { kind = "host" }

[links.satellite]
ends = ["exchange", "station"]
rate = "2 Mbit/s"
delay = "30 ms"
loss = "3 %"

[flows.calls]
transport = "sctp"
from = "exchange"
to = "station"
streams = 4
application = { kind = "poisson", message_size = "200 B", mean_interval = "40 ms" }
end = "15 s"

[flows.records]
transport = "sctp"
from = "station"
to = "exchange"
application = { kind = "bursts", message_size = "4000 B", burst_size = "12000 B", interval = "3 s" }
end = "15 s"

[flows.files]
transport = "tcp"
from = "exchange"
to = "station"
application = { kind = "constant-rate", message_size = "900 B", interval = "150 ms" }
end = "15 s"
"#;

/// Two points with a link of M2PA.
const SIGNALLING: &str = r#"
[scenario]
name = "captured"
duration = "60 s"

[nodes]
london = { kind = "host" }
boston = { kind = "host" }

[links.satellite]
ends = ["london", "boston"]
rate = "512 kbit/s"
delay = "270 ms"

[sctp.signalling]
rto_min = "300 ms"
sack_delay = "100 ms"

[signalling.points.london]
point_code = "2-15-3"
restart = "omitted"
t4 = "1.2 s"
t5 = "1.2 s"

[signalling.points.boston]
point_code = "3-20-1"
restart = "omitted"
t4 = "1.2 s"
t5 = "1.2 s"

[signalling.links.association]
between = ["london", "boston"]
carrier = { kind = "m2pa", profile = "signalling", t4_emergency = "600 ms" }

[signalling.load.isup]
from = "london"
to = ["boston"]
links = 3
erlang_per_link = 0.1
lengths = [60, 120, 270]
start = "20 s"
"#;

/// Runs a scenario, and imports what a link of it has carried. Gives the traces by their names.
fn captured(place: &Place, scenario: &str, link: &str, imported: &str) -> Vec<(String, Vec<u8>)> {
    let out = format!("run-{imported}");
    let run = place.run(&["run", scenario, "--out", &out, "--pcap", link]);
    assert_eq!((run.status, run.err.as_str()), (Some(0), ""), "{scenario}");
    let capture = format!("{out}/{link}.pcapng");
    let import = place.run(&["import", &capture, "--out", imported]);
    assert_eq!((import.status, import.err.as_str()), (Some(0), ""), "{}", import.out);
    let files = place.files(imported).into_iter();
    files.filter(|(name, _)| !name.contains(".toml")).collect()
}

#[test]
fn flows_that_were_imported_and_run_are_captured_with_equal_sizes_and_instants() {
    let place = Place::new("import-flows");
    place.write("first.toml", FLOWS);
    let first = captured(&place, "first.toml", "satellite", "one");
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sctp-1.csv", "sctp-2.csv", "tcp-1.csv"]);
    assert!(first.iter().all(|(_, lines)| lines.len() > 200));
    let second = captured(&place, "one/flows.toml", "path", "two");
    assert_eq!(first, second);
}

#[test]
fn signalling_that_was_imported_and_run_is_captured_with_equal_lengths_and_instants() {
    let place = Place::new("import-signalling");
    place.write("first.toml", SIGNALLING);
    let loads = |files: Vec<(String, Vec<u8>)>| -> Vec<(String, Vec<u8>)> {
        files.into_iter().filter(|(name, _)| name.starts_with("load-")).collect()
    };
    let first = loads(captured(&place, "first.toml", "satellite", "one"));
    assert!(first.len() == 1 && first[0].1.len() > 5_000);
    let second = loads(captured(&place, "one/signalling.toml", "path", "two"));
    assert_eq!(first, second);
}

/// A capture of two datagrams, a second apart, of one frame that is none, and of the link type.
fn small(link: u32) -> Vec<u8> {
    let ethernet = [&[0; 12][..], &[8, 0]].concat();
    let ip = [0x45, 0, 0, 40, 0, 0, 0, 0, 9, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let udp = [0, 9, 0, 8, 0, 20, 0, 0];
    let datagram = [&ethernet[..], &ip, &udp, &[1; 12]].concat();
    let other = [&[0; 12][..], &[8, 6, 0]].concat();
    pcap::write(link, [datagram.clone(), other, datagram])
}

#[test]
fn an_import_is_told_and_nothing_is_overwritten() {
    let place = Place::new("import-told");
    std::fs::write(place.path().join("lan.pcap"), small(1)).unwrap();
    let imported = place.run(&["import", "lan.pcap"]);
    assert_eq!((imported.status, imported.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(imported.out);
    let files: Vec<String> = place.files("lan").into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["flows.toml", "udp-1.csv"]);
    let before = place.files("lan");
    let again = place.run(&["import", "lan.pcap"]);
    let told = "error: `lan` exists, and nothing is overwritten; name another directory with `--out DIR`, or \
                remove it\n";
    assert_eq!((again.status, again.err.as_str()), (Some(2), told));
    assert_eq!(place.files("lan"), before);
    let json = place.run(&["import", "lan.pcap", "--out", "other", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["flows"][0]["messages"], 2);
    assert_eq!(json["not_used"]["frames without IP"], 1);
}

#[test]
fn what_cannot_be_imported_is_said_with_where_and_what_would_help() {
    let place = Place::new("import-errors");
    let whole = small(1);
    for (name, octets, status, told) in [
        ("empty.pcap", &[][..], 2, "the file is empty; capture again"),
        (
            "text.pcap",
            b"# no capture",
            2,
            "it is no capture: it begins with the bytes [23, 20, 6e, 6f]; give a pcap",
        ),
        (
            "link.pcap",
            &small(147),
            2,
            "its link type is 147 (a user's own), of which nothing is read; capture on",
        ),
        ("none.pcap", &whole[..24], 2, "none of its 0 frames has a message to import; capture where"),
        (
            "cut.pcap",
            &whole[..whole.len() - 3],
            0,
            "at byte 125: the file ends after 67 of 70 bytes, before frame 3 is",
        ),
    ] {
        std::fs::write(place.path().join(name), octets).unwrap();
        let outcome = place.run(&["import", name]);
        let kind = if status == 0 { "warning" } else { "error" };
        let told = format!("{kind}: {name}: {told}");
        assert!(outcome.status == Some(status) && outcome.err.starts_with(&told), "{}", outcome.err);
        let directory = name.trim_end_matches(".pcap");
        assert_eq!(place.path().join(directory).exists(), status == 0, "{name}");
    }
    let filtered = place.run(&["import", "cut.pcap", "--out", "x", "--only", "tcp"]);
    assert_eq!(filtered.status, Some(2));
    assert!(
        filtered.err.contains("1 packets that --only or --port leave out); leave out `--only`"),
        "{}",
        filtered.err
    );
    let absent = place.run(&["import", "absent.pcap"]);
    assert!(absent.status == Some(2) && absent.err.starts_with("error: absent.pcap: "), "{}", absent.err);
}

#[test]
fn a_real_capture_is_imported_and_run() {
    let Some(path) = shared::path("pcap/sctp-test.cap") else { return };
    let place = Place::new("import-real");
    let capture = path.to_string_lossy().into_owned();
    assert_eq!(place.run(&["import", &capture, "--out", "one"]).status, Some(0));
    let first = place.files("one");
    let second = captured(&place, "one/flows.toml", "path", "two");
    let first: Vec<_> = first.into_iter().filter(|(name, _)| !name.contains(".toml")).collect();
    assert_eq!(first, second);
}
