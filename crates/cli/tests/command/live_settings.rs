//! Settings of SCTP that `slantpath echo` and `slantpath load` have as scenarios do.

use crate::live::{LAB, Server, free_port};
use crate::place::Place;

#[test]
fn settings_that_scenarios_have_are_set_at_both_ends_and_again_in_a_repetition() {
    let place = Place::new("live-settings");
    let port = free_port();
    let common = ["--zero-checksum", "dtls", "--multipath", "concurrent", "--association-max-retrans", "7"];
    let of_server = ["--address", "127.0.0.2", "--associations", "1", "--receive-buffer", "20 kB"];
    let server = Server::start(&place, port, &[&of_server[..], &common].concat());
    let udp = port.to_string();
    let load = [
        "load",
        "127.0.0.1",
        "127.0.0.2",
        "--udp",
        &udp,
        "--count",
        "200",
        "--size",
        "1 kB",
        "--streams",
        "3",
    ];
    let own = ["--stream-scheduling", "priority", "--stream-values", "2,1,0", "--send-buffer", "40 kB"];
    let files = ["--json", "load.json", "--record", "load.record"];
    let outcome = place.run(&[&load[..], &own, &common, &files].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let warning = "warning: zero_checksum = \"dtls\": this command does not carry SCTP in DTLS itself; unless a tunnel \
                   does, the 16 bits of UDP's checksum alone find bit errors\n";
    assert!(outcome.err.contains(warning), "{}", outcome.err);
    assert!(outcome.out.contains("\nextensions in use: zero-checksum\n"), "{}", outcome.out);
    let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(json["zero_checksum"], true);
    assert_eq!(json["sctp_associations"][0]["sctpAssocMaxRetr"], 7);
    let chunks = json["paths"].as_array().expect("paths").iter().map(|path| path["data_chunks"].as_u64());
    let chunks: Vec<_> = chunks.collect();
    assert!(
        chunks.len() == 2 && chunks.iter().all(|count| *count > Some(0)),
        "both paths carry DATA: {chunks:?}"
    );
    let replayed = place.run(&["replay", "load.record"]);
    assert_eq!(replayed.status, Some(0), "{}", replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
    server.end();
}

#[test]
fn any_setting_stands_above_a_profile_and_is_told_recorded_and_repeated() {
    let place = Place::new("live-any-setting");
    place.write("leo.toml", "[sctp.leo]\ncongestion_control = \"cubic\"\nsack_delay = \"20 ms\"\n");
    let port = free_port();
    let server = Server::start(&place, port, &["--associations", "1", "--sctp", "max_burst=off"]);
    let udp = format!("--udp={port}");
    let load = ["load", "127.0.0.1", &udp, "--count", "20", "--json", "load.json", "--record", "load.record"];
    let own =
        ["--profile", "leo.toml", "--sctp", "sack_delay=10 ms", "--rto-min", "2 s", "--trace", "load.trace"];
    let more = ["--sctp", "rto_initial=3 s", "--sctp", "rto_min=1500 ms"];
    let outcome = place.run(&[&load[..], &own, &more].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let json = std::fs::read(place.path().join("load.json")).expect("it was asked for");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    let wanted = |settings: &serde_json::Value| {
        ["congestion_control", "sack_delay", "rto_initial", "rto_min", "rto_max"]
            .map(|key| settings[key].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(wanted(&json["settings"]), ["cubic", "10 ms", "3 s", "1.5 s", "60 s"]);
    let trace = std::fs::read_to_string(place.path().join("load.trace")).expect("it was asked for");
    let header: serde_json::Value =
        serde_json::from_str(trace.lines().next().expect("a header")).expect("it is JSON");
    assert_eq!(header["profile"], json["settings"]);
    // What the profile has become does not matter to the record and the trace, which have its values.
    place.write("leo.toml", "[sctp.leo]\ncongestion_control = \"hybla\"\n");
    let replayed = place.run(&["replay", "load.record", "--trace", "again.trace"]);
    assert_eq!(replayed.status, Some(0), "{}", replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
    let again = std::fs::read_to_string(place.path().join("again.trace")).expect("it was asked for");
    assert_eq!(again.lines().next(), trace.lines().next());
    let rebuilt =
        ["explain", "load.trace", "--what-if", "sctp.default.rto_min=1 s", "--rebuilt", "rebuilt.toml"];
    let outcome = place.run(&rebuilt);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let rebuilt = std::fs::read_to_string(place.path().join("rebuilt.toml")).expect("it was asked for");
    let table = "\n[sctp.default]\npreset = \"rfc9260\"\ncongestion_control = \"cubic\"\nrto_initial = \"3 s\"\n\
                 rto_min = \"1.5 s\"\nsack_delay = \"10 ms\"\n";
    assert!(rebuilt.contains(table), "{rebuilt}");
    server.end();
}

#[test]
fn settings_that_cannot_be_are_refused_with_what_would_be_right() {
    let place = Place::new("live-no-settings");
    let udp = format!("--udp={}", free_port());
    let load = |more: &[&str]| place.run(&[&["load", "127.0.0.1", &udp][..], more].concat());
    for (more, right) in [
        (&["--stream-scheduling", "fifo"][..], "--stream-scheduling:1:1"),
        (&["--stream-scheduling", "prioriti"], "did you mean `priority`?"),
        (&["--multipath", "on"], "choices: `off`, `concurrent`"),
        (&["--zero-checksum", "crc32c"], "choices: `dtls`"),
        (&["--receive-buffer", "1 kB"], "it lies between 1500 and 4294967295 bytes"),
        (&["--sctp", "receive_buffer=5 GiB"], "a_rwnd has 32 bits"),
        (&["--sctp", "recieve_buffer=5 kB"], "did you mean `receive_buffer`?"),
        (&["--sctp", "receive_buffer"], "write it like `rto_min=200 ms`"),
        (&["--send-buffer", "0 B"], "a send buffer of 0 B never holds a message of 1 kB"),
        (
            &["--send-buffer", "1 kB", "--size", "2000"],
            "a send buffer of 1 kB never holds a message of 2 kB: give 2 kB or more, or a smaller --size",
        ),
        (
            &["--stream-values", "1,2"],
            "--stream-values say nothing to this scheduler: give --stream-scheduling priority or",
        ),
        (
            &["--stream-scheduling", "priority", "--stream-values", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"],
            "--stream-values: 17 values are more than 16 streams: give fewer",
        ),
        (&["--association-max-retrans", "10001"], "let it be at most 10000"),
        (&["--like", "lab.toml", "--multipath", "concurrent"], "cannot be used with"),
        (&["--like", "lab.toml", "--sctp", "multipath=concurrent"], "cannot be used with"),
    ] {
        let outcome = load(more);
        assert_eq!(outcome.status, Some(2), "{more:?}: {}", outcome.err);
        assert!(outcome.err.contains(right), "{more:?}: {}", outcome.err);
    }
    // Streams are as many as are asked for.
    let seventeen = ["--streams", "17", "--stream-scheduling", "priority", "--stream-values"];
    let values = ["1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "--count", "1", "--multipath", "pooled-v1"];
    let outcome = load(&[&seventeen[..], &values].concat());
    assert_eq!(outcome.status, Some(3), "nobody answers: {}", outcome.err);
    let warning =
        "warning: multipath = \"pooled-v1\": one address of the server makes one path; name others, too\n";
    assert!(outcome.err.contains(warning), "{}", outcome.err);
}

#[test]
fn a_load_like_a_flow_without_checksums_says_where_they_are_left_out() {
    let place = Place::new("live-like-unsummed");
    place.write("lab.toml", &LAB.replace("[sctp.quick]", "[sctp.quick]\nzero_checksum = \"dtls\""));
    let port = free_port();
    let udp = format!("--udp={port}");
    let server = Server::start(&place, port, &["--associations", "2"]);
    let load = ["load", "127.0.0.1", &udp, "--like", "lab.toml", "--flow", "telemetry", "--count", "5"];
    let outcome = place.run(&load);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    // The server has not been told to.
    let said = "\nextensions in use: none live; zero-checksum simulated\n";
    assert!(outcome.out.contains(said), "{}", outcome.out);
    server.end();
}
