//! `slantpath echo` and `slantpath load`, over the loopback and in UDP.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};

use crate::place::{Outcome, Place};

/// Server of a test: a running `slantpath echo`.
pub(crate) struct Server {
    child: Child,
    first: String,
    out: BufReader<std::process::ChildStdout>,
}

impl Server {
    pub(crate) fn start(place: &Place, udp: u16, more: &[&str]) -> Self {
        let udp = format!("--udp={udp}");
        let arguments = [&["echo", "--address", "127.0.0.1", &udp], more].concat();
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        // It listens once it has said so.
        out.read_line(&mut first).expect("a line");
        Self { child, first, out }
    }

    pub(crate) fn end(mut self) -> String {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("text");
        assert!(self.child.wait().expect("it ends").success());
        rest
    }
}

pub(crate) fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").expect("a socket").local_addr().expect("an address").port()
}

const FILES_OF_A_LOAD: [&str; 6] =
    ["--json", "load.json", "--record", "load.record", "--trace", "load.trace"];

#[test]
fn a_load_is_echoed_measured_and_told_as_a_table_and_as_json() {
    let place = Place::new("live");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1"]);
    assert_eq!(
        server.first,
        format!("echoes what comes to 127.0.0.1, SCTP port 7 in UDP port {port}; Ctrl-C stops\n")
    );
    let udp = format!("--udp={port}");
    let files = FILES_OF_A_LOAD;
    let load =
        ["load", "127.0.0.1", &udp, "--count", "500", "--size", "2000", "--streams", "8", "--out", "kept"];
    let outcome = place.run(&[&load[..], &files].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let row = outcome.out.lines().find(|line| line.starts_with("2000 bytes")).expect("a row");
    assert_eq!(row.split_whitespace().skip(2).take(2).collect::<Vec<_>>(), ["500", "500"], "{}", outcome.out);
    for part in ["latency", "99.9 %", "longest gap", "127.0.0.1  127.0.0.1  active, primary", "deadlines: "] {
        assert!(outcome.out.contains(part), "{}", outcome.out);
    }
    let rest = server.end();
    assert!(
        rest.starts_with("associations: 1, of which 0 failed; 500 messages of 1000000 bytes came, 500 went"),
        "{rest}"
    );
    let files = place.files(".");
    let json = files.iter().find(|(name, _)| name == "load.json").expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json.1).expect("it is JSON");
    assert_eq!((&json["sent"], &json["echoed"]), (&500.into(), &500.into()));
    assert!(json["latency"]["p50_s"].as_f64() <= json["latency"]["max_s"].as_f64());
    let rows = json["sctp_associations"].as_array().expect("rows");
    assert_eq!(rows.len(), 1, "{json}");
    for (name, value) in [
        ("sctpAssocRemPort", serde_json::json!(7)),
        ("sctpAssocRemPrimAddr", "127.0.0.1".into()),
        // As it was at its end.
        ("sctpAssocState", "closed".into()),
        ("sctpAssocOutStreams", 16.into()),
        ("sctpAssocMaxRetr", 10.into()),
    ] {
        assert_eq!(rows[0][name], value, "{name}: {}", rows[0]);
    }
    let remote = &rows[0]["sctpAssocRemAddrTable"][0];
    assert_eq!([&remote["sctpAssocRemAddrActive"], &remote["sctpAssocRemAddrHBActive"]], [true, true]);
    assert_eq!(remote["sctpAssocRemAddrRtx"], json["paths"][0]["retransmissions"]);
    assert_eq!(rows[0]["sctpAssocLocalAddrTable"][0]["sctpAssocLocalAddr"], "127.0.0.1");
    assert!(json["sctp_mib"]["sctpAssocT1expireds"].is_u64(), "{json}");
    is_kept(&place, &load, &json);
    let record = files.iter().find(|(name, _)| name == "load.record").expect("it was asked for");
    assert!(record.1.starts_with(b"slantpath record"));

    // The run again: the same packets, and the same trace, whether or not it was traced the first time.
    let replayed = place.run(&["replay", "load.record", "--trace", "again.trace", "--pcap", "again.pcapng"]);
    assert_eq!(replayed.status, Some(0), "{}", replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("it was asked for");
    let steps = |name: &str| {
        let text = read(name);
        // The end of a live run is told a little later than its last packet.
        text.lines().filter(|line| !line.contains("\"end\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(steps("load.trace"), steps("again.trace"));
    let explained = place.run(&["explain", "load.trace"]);
    assert_eq!(explained.status, Some(0), "{}", explained.err);
    assert!(
        explained.out.contains("\n500 messages were sent, 500 acknowledged, 0 given up; "),
        "{}",
        explained.out
    );
    let packets = std::fs::read(place.path().join("again.pcapng")).expect("it was asked for");
    assert!(packets.len() > 500 * 2_000, "{} bytes", packets.len());
    let asked = place.run(&["explain", "load.trace", "--what-if", "sctp.default.rto_min=1 s"]);
    assert_eq!((asked.status, asked.err.as_str()), (Some(0), ""));
    let row = |name: &str| -> Vec<String> {
        let line = asked.out.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("acknowledged"), ["acknowledged", "500", "500", "500", "messages"], "{}", asked.out);
}

/// Blocks of a record: a place in the file, and content.
fn blocks(record: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut at, mut blocks) = (24, Vec::new());
    while let Some(len) = record[at..].first_chunk() {
        let len = u32::from_be_bytes(*len) as usize;
        blocks.push((at, &record[at + 8..][..len]));
        at += len + 12;
    }
    blocks
}

fn last_block(record: &[u8]) -> usize {
    blocks(record).last().expect("a block").0
}

fn content(record: &[u8]) -> Vec<u8> {
    blocks(record).iter().flat_map(|(_, content)| *content).copied().collect()
}

/// Checks that a directory has what was measured, and that the next load is not written over it.
fn is_kept(place: &Place, load: &[&str], all: &serde_json::Value) {
    let files = place.files("kept");
    let read = |name: &str| -> serde_json::Value {
        let (_, bytes) = files.iter().find(|(of, _)| of == name).expect("it is kept");
        serde_json::from_slice(bytes).expect("it is JSON")
    };
    let (kept, manifest) = (read("load.json"), read("manifest.json"));
    assert_eq!((&kept["kind"], &manifest["kind"]), (&"load".into(), &"load".into()));
    assert_eq!(manifest["files"], serde_json::json!(["load.json"]));
    assert_eq!(kept["command"], serde_json::json!([load, &FILES_OF_A_LOAD].concat()));
    assert_eq!(kept["report"], *all);
    let summary = kept["summary"].as_array().expect("a list");
    let of = |name: &str| summary.iter().find(|one| one["name"] == name).expect("it is summed up");
    assert_eq!((&of("echoed")["value"], &of("latency_max")["unit"]), (&500.into(), &"s".into()));
    assert!(summary.iter().all(|one| one["meaning"].as_str().is_some_and(|meaning| meaning.ends_with('.'))));
    assert_eq!(kept["failovers"], serde_json::json!([]));
    assert!(kept["seconds"].is_array());
    // Before a server is looked for.
    let second = place.run(load);
    assert_eq!(second.status, Some(2));
    assert!(second.err.contains("kept holds results of an earlier command"), "{}", second.err);
}

#[test]
fn a_record_that_is_none_is_cut_off_or_was_changed_is_told_apart() {
    let place = Place::new("live-replayed");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1", "--record", "echo.record"]);
    let udp = format!("--udp={port}");
    assert_eq!(place.run(&["load", "127.0.0.1", &udp, "--count", "5"]).status, Some(0));
    server.end();
    let replay = |record: &[u8]| {
        std::fs::write(place.path().join("other.record"), record).expect("a file");
        place.run(&["replay", "other.record", "--json"])
    };
    let record = std::fs::read(place.path().join("echo.record")).expect("it was asked for");
    let same = replay(&record);
    let told: serde_json::Value = serde_json::from_str(&same.out).expect("it is JSON");
    assert_eq!((same.status, &told["is_same"], &told["command"][0]), (Some(0), &true.into(), &"echo".into()));
    // Without its last block, which has the digest, and may have what was told last.
    let unfinished = replay(&record[..last_block(&record)]);
    let told: serde_json::Value = serde_json::from_str(&unfinished.out).expect("it is JSON");
    assert_eq!((unfinished.status, &told["recorded"]), (Some(0), &serde_json::Value::Null));
    let mut other = record.clone();
    other[40] ^= 1;
    let changed = replay(&other);
    assert_eq!(changed.status, Some(2), "{}", changed.out);
    let damaged =
        "error: other.record: the record has been changed in its block 0, which begins at byte 24\n";
    assert_eq!(changed.err, damaged);
    // Another secret: other cookies, other tags. An older version had no container around what it wrote.
    let mut older = [&b"slantpath live 1"[..], &content(&record)].concat();
    assert_eq!(replay(&older).status, Some(0));
    older[20] ^= 1;
    let changed = replay(&older);
    assert_eq!(changed.status, Some(1), "{}", changed.out);
    assert!(changed.err.starts_with("error: the repetition is another run: "), "{}", changed.err);
    // In its last block: what stands before that is repeated.
    let cut = replay(&record[..record.len() - 1]);
    let told_of_cut: serde_json::Value = serde_json::from_str(&cut.out).expect("it is JSON");
    assert_eq!((cut.status, &told_of_cut["is_cut"], &told["is_cut"]), (Some(0), &true.into(), &false.into()));
    assert_eq!(told_of_cut["digest"], told["digest"]);
    let none = replay(b"slantpath");
    assert_eq!(
        (none.status, none.err.as_str()),
        (Some(2), "error: other.record: not a record of a live run\n")
    );
}

#[test]
fn a_server_that_discards_is_loaded_one_way() {
    let place = Place::new("live-discard");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1", "--discard"]);
    let udp = format!("--udp={port}");
    let outcome = place.run(&["load", "127.0.0.1", &udp, "--count", "100", "--one-way", "--unordered"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(!outcome.out.contains("latency"), "{}", outcome.out);
    assert!(server.end().contains("100 messages of 100000 bytes came, 0 went back"));
}

#[test]
fn what_cannot_be_is_said_at_once_and_by_name() {
    let place = Place::new("live-wrong");
    let port = free_port();
    let udp = format!("--udp={port}");
    let outcome = place.run(&["echo", "--address", "192.0.2.99", &udp]);
    assert_eq!(outcome.status, Some(2));
    assert!(
        outcome.err.starts_with("error: 192.0.2.99 is no address of this machine; it has "),
        "{}",
        outcome.err
    );

    let _taken = UdpSocket::bind(("127.0.0.1", port)).expect("a free port");
    let outcome = place.run(&["echo", "--address", "127.0.0.1", &udp]);
    assert_eq!(outcome.status, Some(1));
    assert_eq!(outcome.err, format!("error: UDP port {port} at 127.0.0.1 is in use\n"));

    // Nobody answers at a port of UDP that somebody else has: refused by those who say so only.
    let outcome = place.run(&["load", "127.0.0.1", &format!("--udp={}", free_port()), "--count", "1"]);
    assert_eq!(outcome.status, Some(3));
    let why = "1 of 1 associations failed: nobody takes associations at that port of the server\n";
    assert!(outcome.err.ends_with(why), "{}", outcome.err);

    let outcome = place.run(&["load", "127.0.0.1", &udp, "--rto-min", "2 s", "--rto-max", "1 s"]);
    assert_eq!(
        (
            outcome.status,
            outcome.err.contains("`rto_min` is 2 s, `rto_max` is 1 s: no time-out satisfies both")
        ),
        (Some(2), true),
        "{}",
        outcome.err
    );
}

#[test]
fn addresses_that_no_host_can_have_are_refused_at_both_ends() {
    let place = Place::new("live-addresses");
    let port = free_port();
    let udp = format!("--udp={port}");
    let refused = |arguments: &[&str], why: &str| {
        let outcome = place.run(arguments);
        assert_eq!((outcome.status, outcome.err), (Some(2), format!("error: {why}\n")), "{arguments:?}");
    };
    for address in ["0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1"] {
        let why = format!("{address} is no address of a single host");
        refused(&["echo", "--address", address, &udp], &why);
        refused(&["load", address, &udp], &why);
        refused(&["load", "127.0.0.1", "--address", address, &udp], &why);
    }
    let why = "fe80::1 holds on its own link alone: give another one";
    refused(&["echo", "--address", "fe80::1", &udp], why);
    refused(&["load", "fe80::1", &udp], why);
    let why = "127.0.0.1 is given twice";
    refused(&["echo", "--address", "127.0.0.1", "--address", "127.0.0.1", &udp], why);
    refused(&["load", "127.0.0.1", "127.0.0.1", &udp], why);
    let why = "no --address is of IPv6, so that none leads to ::1";
    refused(&["load", "::1", "--address", "127.0.0.1", &udp], why);
    let why = "same cannot hold two of --json, --record and --trace";
    refused(&["load", "127.0.0.1", &udp, "--json", "same", "--trace", "same"], why);
    assert_eq!(place.run(&["echo", "--associations", "0", &udp]).status, Some(2));
    let outcome =
        place.run(&["echo", "--address", "127.0.0.1", &udp, "--sack-delay", "2 s", "--json", "none"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("let it be at most 500 ms: RFC 9260, section 6.2"), "{}", outcome.err);
    assert!(!place.path().join("none").exists(), "what cannot be run leaves files alone");
}

#[test]
fn what_will_not_be_as_it_was_asked_for_is_warned_of() {
    let place = Place::new("live-warned");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1"]);
    let udp = format!("--udp={port}");
    let asked =
        ["--lifetime", "10 s", "--extension", "dynamic-addresses", "--address", "127.0.0.1", "--count", "1"];
    let outcome = place.run(&[&["load", "127.0.0.1", "::1", &udp][..], &asked].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    for warning in [
        "warning: no --address is of IPv6, so that none leads to ::1: it is no path\n",
        "warning: --lifetime: without --extension partial-reliability, at both ends, what has been sent once is not \
         given up\n",
        "warning: --extension:1:1: dynamic addresses (RFC 5061) are never agreed on without authentication (RFC 4895): \
         no address will change\n",
    ] {
        assert!(outcome.err.contains(warning), "{}", outcome.err);
    }
    server.end();
}

#[test]
fn a_load_that_is_interrupted_before_it_is_up_is_no_failure() {
    let place = Place::new("live-early");
    // Nobody answers: the socket takes packets, and nobody reads them.
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let udp = format!("--udp={}", silent.local_addr().expect("an address").port());
    let arguments = ["load", "127.0.0.1", &udp, "--json", "load.json"];
    let client =
        place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Its INIT has come: it looks for Ctrl-C by now.
    silent.recv(&mut [0; 2_000]).expect("a packet");
    interrupt(client.id());
    let outcome = Outcome::from(client.wait_with_output().expect("it ends"));
    assert_eq!(outcome.status, Some(130), "{}", outcome.err);
    assert!(outcome.err.ends_with("\nstopped before the end\n"), "{}", outcome.err);
    let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(json["failures"], serde_json::json!(["the association was aborted here: by its user"]));
}

#[test]
fn what_had_not_been_acknowledged_when_the_server_was_gone_is_told() {
    let place = Place::new("live-gone");
    let port = free_port();
    let mut server = Server::start(&place, port, &[]);
    let udp = format!("--udp={port}");
    // As fast as possible, so that something is under way at any time; there is no end but the server's.
    let arguments = ["load", "127.0.0.1", &udp, "--for", "100 s", "--json", "load.json"];
    let client =
        place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut news = BufReader::new(server.child.stderr.take().expect("a pipe"));
    let mut come = String::new();
    news.read_line(&mut come).expect("a line");
    assert!(come.ends_with(" has come\n"), "{come}");
    server.child.kill().expect("it runs");
    server.child.wait().expect("it ends");
    let outcome = Outcome::from(client.wait_with_output().expect("it ends"));
    assert_eq!(outcome.status, Some(3), "{}", outcome.err);
    let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    let unacknowledged = json["unacknowledged"].as_u64().expect("a count");
    assert!((1..=json["sent"].as_u64().expect("a count")).contains(&unacknowledged), "{json}");
    let line =
        format!("\n{unacknowledged} of the messages sent had not been acknowledged when its association");
    assert!(outcome.out.contains(&line), "{}", outcome.out);
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_measured_is_printed_although_a_file_cannot_be_written() {
    let place = Place::new("live-full");
    let port = free_port();
    let udp = format!("--udp={port}");
    // A trace fails while messages are under way, JSON at the end.
    for file in ["--trace", "--json"] {
        let server = Server::start(&place, port, &["--associations", "1"]);
        let outcome = place.run(&["load", "127.0.0.1", &udp, "--count", "300", file, "/dev/full"]);
        assert_eq!(outcome.status, Some(1), "{}", outcome.err);
        assert!(outcome.err.contains("error: /dev/full: No space left on device"), "{}", outcome.err);
        assert!(outcome.out.contains("messages/s") && outcome.out.contains("deadlines: "), "{}", outcome.out);
        // Its association has ended in order.
        let rest = server.end();
        assert!(rest.starts_with("associations: 1, of which 0 failed; "), "{file}: {rest}");
    }
    // A record begins before anything is sent.
    let outcome = place.run(&["load", "127.0.0.1", &udp, "--record", "/dev/full"]);
    assert_eq!((outcome.status, outcome.out.as_str()), (Some(1), ""), "{}", outcome.err);
}

#[test]
fn a_server_that_is_interrupted_ends_its_associations_in_order_and_sums_up() {
    for signal in ["-INT", "-TERM"] {
        ends_in_order_and_sums_up(signal);
    }
}

fn ends_in_order_and_sums_up(signal: &str) {
    let place = Place::new(&format!("live-interrupted{signal}"));
    let port = free_port();
    let mut server = Server::start(&place, port, &["--json", "echo.json"]);
    let udp = format!("--udp={port}");
    // It sends until the server ends.
    let arguments = ["load", "127.0.0.1", &udp, "--rate", "1", "--for", "3600 s"];
    let client =
        place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut news = String::new();
    BufReader::new(server.child.stderr.take().expect("a pipe")).read_line(&mut news).expect("a line");
    assert!(news.ends_with(" has come\n"), "{news}");
    send(signal, server.child.id());
    let rest = server.end();
    let json = std::fs::read_to_string(place.path().join("echo.json")).expect("a file");
    let summary: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(summary["associations"], 1);
    assert!(rest.starts_with("associations: 1, of which 0 failed; "), "{rest}");
    let outcome = Outcome::from(client.wait_with_output().expect("it ends"));
    assert_eq!(outcome.status, Some(3));
    let end = "1 of 1 associations failed: the server has ended the association\n";
    assert!(outcome.err.ends_with(end), "{}", outcome.err);
}

/// Sends what Ctrl-C sends.
fn interrupt(process: u32) {
    send("-INT", process);
}

fn send(signal: &str, process: u32) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status().expect("a program kill");
    assert!(status.success());
}

/// Two hosts and a link of 1 ms; four flows of SCTP.
pub(crate) const LAB: &str = r#"
[scenario]
name = "lab"
duration = "5 s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.lab]
ends = ["a", "b"]
rate = "100 Mbit/s"
delay = "1 ms"
[sctp.quick]
sack_delay = "10 ms"
[flows.bursts]
transport = "sctp"
from = "a"
to = "b"
end = "1 s"
application = { kind = "bursts", message_size = "100 B", burst_size = "500 B", interval = "50 ms" }
[flows.calls]
transport = "sctp"
from = "a"
to = "b"
end = "1 s"
application = { kind = "poisson", message_size = "100 B", mean_interval = "10 ms" }
[flows.telemetry]
transport = "sctp"
profile = "quick"
from = "a"
to = "b"
start = "1 s"
end = "2 s"
count = 2
streams = 3
application = { kind = "constant-rate", message_size = "200 B", interval = "10 ms" }
[flows.files]
transport = "sctp"
from = "b"
to = "a"
start = "4 s"
application = { kind = "bulk", message_size = "1 KiB", total = "100 KiB" }
"#;

#[test]
fn a_load_like_a_flow_stands_beside_its_simulation() {
    let place = Place::new("live-like");
    place.write("lab.toml", LAB);
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "5"]);
    let udp = format!("--udp={port}");
    let like = |flow: &str| {
        let arguments =
            ["load", "127.0.0.1", &udp, "--like", "lab.toml", "--flow", flow, "--json", "both.json"];
        let outcome = place.run(&arguments);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let both = std::fs::read_to_string(place.path().join("both.json")).expect("a file");
        (outcome.out, serde_json::from_str::<serde_json::Value>(&both).expect("it is JSON"))
    };
    let (table, both) = like("telemetry");
    // Two associations of 100 messages each; by the machine's clock the second one may be up too late for its last.
    let simulated = &both["simulated"];
    assert_eq!([&simulated["sent"], &simulated["echoed"], &simulated["sent_bytes"]], [200, 200, 40_000]);
    assert_eq!(both["sent"], both["echoed"]);
    assert_eq!(both["like"]["flow"], "telemetry");
    // Twice 1 ms, and what the other one's packet takes.
    let median = simulated["latency"]["p50_s"].as_f64().expect("a time");
    assert!((0.002..0.0022).contains(&median), "{median}");
    let row = table.lines().find(|line| line.starts_with("back ")).expect("a row");
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<_>>(), ["200", "messages"], "{table}");
    // Twenty bursts of five, and the whole of a file.
    let (_, bursts) = like("bursts");
    assert_eq!(bursts["simulated"]["sent"], 100);
    // A hundred on average, with a deviation of ten, at times that are not equal.
    let (_, calls) = like("calls");
    let sent = calls["simulated"]["sent"].as_u64().expect("a number");
    assert!((60..=140).contains(&sent) && sent != 100, "{sent}");
    let (_, files) = like("files");
    assert_eq!([&files["sent"], &files["simulated"]["sent"]], [100, 100]);
    server.end();
}

/// Three more flows: of bursts with jitter, of several kinds of messages, and one that plays a trace.
const VARIED: &str = r#"
[flows.jittered]
transport = "sctp"
from = "a"
to = "b"
end = "1 s"
application = { kind = "bursts", message_size = "100 B", burst_size = "300 B", interval = "20 ms", jitter = "15 ms" }
[flows.kinds]
transport = "sctp"
from = "a"
to = "b"
end = "1 s"
streams = 2
[flows.kinds.application]
kind = "mixed"
classes.commands = { stream = 1, message_size = "64 B", interval = "100 ms", unordered = true }
classes.telemetry = { stream = 0, message_size = "500 B", messages = 2, interval = "50 ms", lifetime = "500 ms" }
[flows.played]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "trace", file = "played.csv" }
"#;

#[test]
fn a_load_like_a_flow_of_varying_messages_sends_the_same_ones_on_both_paths_and_again_in_a_repetition() {
    let place = Place::new("live-varied");
    place.write("lab.toml", &[LAB, VARIED].concat());
    let lines = (0..40).map(|line| format!("{} ms,{} B\n", 20 * line, 16 + 100 * line));
    place.write("played.csv", &lines.collect::<String>());
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "3"]);
    let udp = format!("--udp={port}");
    let like = |flow: &str, count: Option<u64>| {
        let count = count.map_or_else(Vec::new, |count| vec!["--count".to_owned(), count.to_string()]);
        let load = ["load", "127.0.0.1", &udp, "--like", "lab.toml", "--flow", flow];
        let files = ["--json", "both.json", "--record", "load.record"];
        let count: Vec<&str> = count.iter().map(String::as_str).collect();
        let outcome = place.run(&[&load[..], &files, &count].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let replayed = place.run(&["replay", "load.record"]);
        assert_eq!(replayed.status, Some(0), "{}", replayed.err);
        assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
        let both = std::fs::read_to_string(place.path().join("both.json")).expect("a file");
        (outcome.out, serde_json::from_str::<serde_json::Value>(&both).expect("it is JSON"))
    };
    let counts = |report: &serde_json::Value| {
        ["sent", "echoed", "sent_bytes"].map(|name| report[name].as_u64().expect("a number"))
    };
    // All of a trace, and of the others as many as are counted: a clock could cut one off a little earlier.
    let (out, played) = like("played", None);
    let bytes = (0..40).map(|line| 16 + 100 * line).sum();
    assert_eq!([counts(&played), counts(&played["simulated"])], [[40, 40, bytes]; 2]);
    assert!(out.contains("\n16 to 3916 bytes "), "{out}");
    let (_, jittered) = like("jittered", Some(30));
    assert_eq!([counts(&jittered), counts(&jittered["simulated"])], [[30, 30, 3_000]; 2]);
    let (out, kinds) = like("kinds", Some(50));
    // At 0, 50, 100 ms and so on: 1 and 2, 2, 1 and 2.
    for report in [&kinds, &kinds["simulated"]] {
        assert_eq!(counts(report), [50, 50, 10 * 64 + 40 * 500]);
        let of_kinds = &report["kinds"];
        assert_eq!([&of_kinds["commands"]["echoed"], &of_kinds["telemetry"]["echoed"]], [10, 40]);
        assert!(of_kinds["commands"]["latency"]["p50_s"].as_f64().is_some(), "{of_kinds}");
    }
    let rows: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("kind ")).skip(2).take(4).collect();
    let words = |row: &str| row.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(rows[0]), ["commands", "live", "10", "10"], "{out}");
    assert_eq!(words(rows[1])[..3], ["simulated", "10", "10"], "{out}");
    assert_eq!(words(rows[2]), ["telemetry", "live", "40", "40"], "{out}");
    server.end();
}

#[test]
fn what_no_load_can_be_like_is_said() {
    let place = Place::new("live-unlike");
    let load = |text: &str, more: &[&str]| {
        place.write("lab.toml", text);
        let outcome = place.run(&[&["load", "127.0.0.1", "--like", "lab.toml"], more].concat());
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    let several = load(LAB, &[]);
    assert!(several.contains("name one of bursts, calls, files, telemetry"), "{several}");
    let none = load(LAB, &["--flow", "voice"]);
    assert!(none.contains("there is no flow `voice`; flows: bursts, calls, files, telemetry"), "{none}");
    let tcp = load(&LAB.replacen("\"sctp\"", "\"tcp\"", 1), &["--flow", "bursts"]);
    assert!(tcp.contains("flow `bursts` is one of TCP"), "{tcp}");
    place.write("played.csv", "0 ms,100 B\n5 ms,12 B\n");
    let trace = load(&[LAB, VARIED].concat(), &["--flow", "played"]);
    assert!(trace.contains("message 2 of its trace, `5 ms,12 B`, is too short"), "{trace}");
    let short = LAB.replace("\"200 B\"", "\"10 B\"").replace("streams = 3", "content = \"pattern\"");
    let short = load(&short, &["--flow", "telemetry"]);
    assert!(short.contains("need 16 B for their number, kind and time"), "{short}");
    let twice = load(LAB, &["--flow", "bursts", "--size", "100"]);
    assert!(twice.contains("--like") && twice.contains("--size"), "{twice}");
}

#[test]
fn messages_go_to_the_address_that_is_asked_for_if_it_is_one_of_the_servers() {
    let place = Place::new("live-destination");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1", "--address", "127.0.0.2"]);
    let udp = format!("--udp={port}");
    let load = |peers: &[&str]| {
        let more =
            [&udp, "--destination", "127.0.0.2", "--count", "100", "--rate", "200", "--json", "load.json"];
        place.run(&[&["load"][..], peers, &more].concat())
    };
    let other = load(&["127.0.0.1"]);
    assert_eq!(other.status, Some(2));
    assert!(
        other.err.contains(
            "--destination 127.0.0.2 is none of the server's addresses, 127.0.0.1: name it among them"
        ),
        "{}",
        other.err
    );
    let outcome = load(&["127.0.0.1", "127.0.0.2"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    let of = |address: &str| {
        let paths = json["paths"].as_array().expect("paths").iter();
        paths
            .filter(|path| path["destination"] == address)
            .filter_map(|path| path["data_chunks"].as_u64())
            .sum::<u64>()
    };
    // Until the second address is confirmed, by a HEARTBEAT after the association is up, messages go to the first,
    // which would else get them all.
    assert_eq!(json["echoed"], 100);
    assert!(of("127.0.0.2") > 0, "{json}");
    server.end();
}

#[test]
fn extensions_are_used_if_both_ends_offer_them_and_do_what_is_asked() {
    let place = Place::new("live-extensions");
    std::fs::write(place.path().join("key"), b"a secret").expect("a directory of our own");
    let port = free_port();
    let offered = ["--extension", "partial-reliability,authentication", "--key", "key"];
    let server = Server::start(&place, port, &[&offered[..], &["--associations", "2"]].concat());
    let udp = format!("--udp={port}");
    let load = |more: &[&str]| {
        let load = ["load", "127.0.0.1", &udp, "--count", "50", "--rate", "200", "--json", "load.json"];
        let outcome = place.run(&[&load[..], more].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
        let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
        (outcome.out, json)
    };
    // Nothing is ever sent that has no time to live.
    let (out, json) = load(&[&offered[..], &["--lifetime", "0 ms", "--record", "load.record"]].concat());
    assert!(
        out.contains("\nextensions in use: partial-reliability, authentication\n50 messages were given up\n"),
        "{out}"
    );
    assert_eq!(json["extensions"], serde_json::json!(["partial-reliability", "authentication"]));
    assert_eq!([&json["sent"], &json["echoed"], &json["abandoned"]], [50, 0, 50]);
    let replayed = place.run(&["replay", "load.record"]);
    assert_eq!(replayed.status, Some(0), "{}", replayed.err);
    // What the server does not offer is not used; the path MTU is found without it.
    let (out, json) = load(&["--extension", "nr-sack", "--probe-mtu", "--sack-immediately"]);
    assert!(out.contains("\nextensions in use: none\n"), "{out}");
    assert_eq!([&json["echoed"], &json["paths"][0]["mtu_bytes"]], [50, 1_492]);
    let rest = server.end();
    assert!(rest.starts_with("associations: 2, of which 0 failed; 50 messages"), "{rest}");
}

#[test]
fn an_extension_without_a_meaning_and_a_key_without_a_use_are_refused() {
    let place = Place::new("live-no-extensions");
    let udp = format!("--udp={}", free_port());
    let load = |more: &[&str]| place.run(&[&["load", "127.0.0.1", &udp][..], more].concat());
    let outcome = load(&["--extension", "none"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("choices: `partial-reliability`, `nr-sack`"), "{}", outcome.err);
    let outcome = load(&["--extension", "interleaving", "--key", "key"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("--key needs --extension authentication"), "{}", outcome.err);
}
