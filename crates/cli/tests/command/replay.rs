//! `slantpath emulate --record` and `slantpath replay`, each in a process of its own.

use crate::place::Place;

/// An association beside two attached nodes, over a link that goes down.
const LAB: &str = r#"
[scenario]
name = "lab"
duration = "1 h"
seed = 3

[nodes]
near.kind = "attached"
far.kind = "attached"
server.kind = "host"
client.kind = "host"
left.kind = "router"
right.kind = "router"

[links]
core = { ends = ["left", "right"], rate = "2 Mbit/s", delay = "5 ms", loss = "5 %" }
access = { ends = ["near", "left"], rate = "10 Mbit/s", delay = "1 ms" }
exit = { ends = ["right", "far"], rate = "10 Mbit/s", delay = "1 ms" }
serving = { ends = ["left", "server"], rate = "10 Mbit/s", delay = "1 ms" }
asking = { ends = ["right", "client"], rate = "10 Mbit/s", delay = "1 ms" }

[flows.data]
from = "server"
to = "client"
transport = "sctp"
application = { kind = "bulk", message_size = "1 kB", total = "100 kB" }

[[script]]
at = "500 ms"
link = "core"
action = "down"

[[script]]
at = "700 ms"
link = "core"
action = "up"

[[script]]
at = "800 ms"
link = "core"
action = "set"
delay = "20 ms"
"#;

/// Questions to an address at which nobody answers: each is waited for 10 ms.
fn sending() -> &'static str {
    "python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.01)
for n in range(120):
    s.sendto(b\"%3d\" % n * 50, (\"far\", 7000))
    try:
        s.recv(1)
    except TimeoutError:
        pass'"
}

#[test]
fn an_emulation_is_repeated_from_its_record_and_over_another_network() {
    let place = Place::new("replay-emulation");
    place.write("labs/lab.toml", LAB);
    let emulate =
        ["emulate", "labs/lab.toml", "--late", "10 s", "--record", "lab.record", "--in", "near", sending()];
    let emulated = place.run(&emulate);
    if emulated.is_refused_namespaces() {
        return;
    }
    assert_eq!(emulated.status, Some(0), "{}", emulated.err);
    let replayed = place.run(&["replay", "lab.record"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.starts_with("repeated ") && replayed.out.ends_with(" out, all the same\n"));
    let json = |arguments: &[&str]| {
        let outcome = place.run(&[&["replay", "--json"], arguments].concat());
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        serde_json::from_str::<serde_json::Value>(&outcome.out).expect("it is JSON")
    };
    let told = json(&["lab.record"]);
    let near = &told["interfaces"][1];
    assert_eq!((&told["is_same"], &near["node"]), (&true.into(), &"near".into()));
    assert!(near["from"]["packets"].as_u64() >= Some(120), "{told:#}");
    assert!(near["from"]["lost"].as_u64() >= Some(1), "{told:#}");
    // Another network: the same packets come, and none is lost.
    let other = json(&["lab.record", "--set", "links.core.loss=0 %", "--set", "links.exit.delay=101 ms"]);
    let elsewhere = &other["elsewhere"]["interfaces"][1]["from"];
    assert_eq!(elsewhere["packets"], near["from"]["packets"]);
    assert!(elsewhere["delay_mean_s"].as_f64() > Some(0.1), "{other:#}");
    let told = place.run(&["replay", "lab.record", "--set", "links.core.loss=0 %"]).out;
    assert!(told.contains("\nfrom `near` at `access`\n  before  "), "{told}");
    assert!(
        told.ends_with("\nthe packets that came are the same: senders did not react to the other network\n")
    );
    let wrong = place.run(&["replay", "lab.record", "--set", "links.core.los=0 %"]);
    assert_eq!(wrong.status, Some(2), "{}", wrong.err);

    let record = std::fs::read(place.path().join("lab.record")).expect("it was asked for");
    let replay = |bytes: &[u8]| {
        std::fs::write(place.path().join("other.record"), bytes).expect("a file");
        place.run(&["replay", "other.record"])
    };
    let mut changed = record.clone();
    *changed.last_mut().expect("bytes") ^= 1;
    let changed = replay(&changed);
    assert_eq!(changed.status, Some(2), "{}", changed.out);
    assert!(changed.err.starts_with("error: other.record: the record has been changed in its block "));
    let cut = replay(&record[..record.len() - 1]);
    assert_eq!(cut.status, Some(0), "{}", cut.err);
    assert!(cut.out.contains("all the same\nthe record is cut there: "), "{}", cut.out);
}
