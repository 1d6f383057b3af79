//! `slantpath explain CAPTURE --what-if`: the messages of a capture over a network that is made of it.

use serde_json::Value;

use crate::place::Place;

/// A flow over a link between a router and the peer, which loses packets and is down for a time. The capture is made
/// half a way from the sender.
const LOSSY: &str = r#"
[scenario]
name = "lossy"
duration = "90 s"

[nodes]
exchange = { kind = "host" }
gate = { kind = "router" }
station = { kind = "host" }

[links.access]
ends = ["exchange", "gate"]
rate = "100 Mbit/s"
delay = "20 ms"
family = "FAMILY"

[links.satellite]
ends = ["gate", "station"]
rate = "100 Mbit/s"
delay = "80 ms"
family = "FAMILY"
forward = { loss = "3 %" }

[flows.calls]
transport = "sctp"
from = "exchange"
to = "station"
application = { kind = "constant-rate", message_size = "200 B", interval = "50 ms" }
end = "60 s"

[[script]]
at = "20 s"
link = "satellite"
action = "down"

[[script]]
at = "24 s"
link = "satellite"
action = "up"
"#;

/// A place with captures of the run at both ends of the router: `satellite` has what the access link has let through.
fn captured(test: &str, family: &str) -> Place {
    let place = Place::new(test);
    place.write("lossy.toml", &LOSSY.replace("FAMILY", family));
    let run = ["run", "lossy.toml", "--pcap", "access", "--pcap", "satellite", "--out", "out"];
    let outcome = place.run(&run);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_messages_of_a_capture_are_made_again_over_the_network_that_it_shows() {
    for (family, file) in [("ipv4", "out/access.pcapng"), ("ipv6", "out/satellite.pcapng")] {
        let place = captured(&format!("explain-what-if-{family}"), family);
        let what_if = ["explain", file, "--what-if", "sctp.default.rto_min=300 ms"];
        let outcome = place.run(&[&what_if[..], &["--json", "--rebuilt", "again.toml"]].concat());
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        let all: Value = serde_json::from_str(&outcome.out).expect("JSON");
        assert_eq!(all["direction"], 1, "the one that sends");
        let path = &all["paths"][0];
        let near = |value: &Value, wanted: f64, share: f64| {
            let value = number(value);
            assert!(
                (value - wanted).abs() <= wanted * share,
                "{value} is not near {wanted}: {}",
                outcome.out
            );
        };
        // Where it was captured half a way from the sender, the handshake tells of the rest.
        near(&path["round_trip_min_s"], 0.2, 0.02);
        near(&path["loss"], 0.03, 0.5);
        let outages = path["outages_s"].as_array().expect("a list");
        assert_eq!(outages.len(), 1, "{outages:?}");
        // Counted from the first message, which leaves a second after the start here.
        near(&outages[0][0], 20.0, 0.1);
        let [was, rebuilt, otherwise] = ["as_it_was", "rebuilt", "otherwise"].map(|run| &all[run]);
        assert_eq!(was["sent"], rebuilt["sent"]);
        near(&rebuilt["acknowledged"], number(&was["acknowledged"]), 0.001);
        near(&rebuilt["chunks_resent"], number(&was["chunks_resent"]), 0.5);
        assert!(number(&rebuilt["acknowledgement_max_s"]) > 4.0, "the outage holds messages up: {rebuilt}");
        // The path is as long as ever while messages wait behind a loss.
        assert!(!all["scenario"].as_str().expect("a string").contains("action = \"set\""), "{}", outcome.out);
        // A time-out comes sooner.
        let mean = |run: &Value| number(&run["acknowledgement_mean_s"]);
        assert!(mean(otherwise) < mean(was), "{}", outcome.out);
        // It is a scenario as any, with the messages beside it.
        let outcome = place.run(&["run", "again.toml", "--json"]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        let words = place.run(&what_if);
        assert_eq!((words.status, words.err.as_str()), (Some(0), ""));
        for line in ["A capture has no settings: those of the rebuilt one are a new profile's.", "path-01"] {
            assert!(words.out.contains(line), "{line}\n{}", words.out);
        }
    }
}

#[test]
fn what_a_capture_cannot_be_made_again_of_is_said_with_what_to_do() {
    let place = captured("explain-what-if-not", "ipv4");
    let told = |file: &str, more: &[&str]| {
        let what_if = ["explain", file, "--what-if", "sctp.default.rto_min=300 ms"];
        let outcome = place.run(&[&what_if[..], more].concat());
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    let silent = "error: out/access.pcapng: direction 2 has sent no message; \
                  `slantpath explain` lists the directions\n";
    assert_eq!(told("out/access.pcapng", &["--direction", "2"]), silent);
    // A setting that the rebuilt scenario does not have is drawn where it was given.
    let wrong = told("out/access.pcapng", &["--what-if", "sctp.default.rto_mim=1 s"]);
    assert!(wrong.contains("rto_mim") && wrong.contains("rto_min"), "{wrong}");
    // Without the answers nothing shows what the paths are like.
    place.write("one-way.toml", &LOSSY.replace("FAMILY", "ipv4").replace("forward = { loss = \"3 %\" }", ""));
    let one_way = one_direction(&std::fs::read(place.path().join("out/access.pcapng")).expect("a capture"));
    std::fs::write(place.path().join("one-way.pcap"), one_way).expect("a file of the test");
    let none = told("one-way.pcap", &[]);
    let wanted = "error: one-way.pcap: nothing that direction 1 sent was acknowledged in it, so that it does not show \
                  what the paths are like; capture where SACKs pass, too";
    assert!(none.starts_with(wanted), "{none}");
}

/// The packets of a capture from 10.0.0.1, as a file of the older format.
fn one_direction(pcapng: &[u8]) -> Vec<u8> {
    let mut reader = slantpath_capture::CaptureReader::open(pcapng).expect("a capture of the program");
    let mut packets = Vec::new();
    while let Some(frame) = reader.next_frame().expect("a whole capture") {
        if frame.bytes.get(12..16) == Some(&[10, 0, 0, 1]) {
            packets.push(frame.bytes.to_vec());
        }
    }
    slantpath_testkit::pcap::write(101, packets)
}
