//! `slantpath traffic`: the users of a scenario's loads, with gateways that are programs of their own, over the
//! loopback and in UDP.

use std::collections::BTreeMap;

use crate::gateway::Live;
use crate::live::free_port;
use crate::place::Place;

/// Values that let a link come up at once, and a load be short.
const QUICK: [&str; 8] = [
    "--set",
    "signalling.links.atlantic.carrier.proving=\"omitted\"",
    "--set",
    "signalling.load.enquiries.start=\"2 s\"",
    "--set",
    "signalling.load.enquiries.stop=\"4 s\"",
    "--set",
    "signalling.load.enquiries.give_up_after=\"2 s\"",
];

/// The template of `slantpath new gateway`, with UDP ports that are free. Its gateways are at one address.
fn lab(name: &str) -> Place {
    let place = Place::new(name);
    assert_eq!(place.run(&["new", "gateway", "lab.toml"]).status, Some(0));
    let mut text = std::fs::read_to_string(place.path().join("lab.toml")).expect("it was written");
    for port in ["9900", "9901", "9902"] {
        text = text.replace(port, &free_port().to_string());
    }
    place.write("lab.toml", &text);
    place
}

fn gateway(place: &Place, point: &str) -> Live {
    Live::of(place.command(&[&["gateway", "lab.toml", "--point", point][..], &QUICK].concat()))
}

/// The command with these arguments.
fn own(more: [&'static str; 4]) -> Vec<&'static str> {
    [&["traffic", "lab.toml"][..], &more, &QUICK].concat()
}

/// Sums of the columns of a table in a directory of results.
pub(crate) fn sums(place: &Place, directory: &str) -> BTreeMap<String, f64> {
    let path = place.path().join(directory).join("signalling_load.csv");
    let text = std::fs::read_to_string(path).expect("a table");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let mut sums: BTreeMap<String, f64> = header.iter().map(|name| (name.clone(), 0.0)).collect();
    for cells in lines {
        for (name, cell) in header.iter().zip(cells) {
            *sums.get_mut(name).expect("a column") += cell.parse().unwrap_or(0.0);
        }
    }
    sums
}

#[test]
fn both_ends_of_a_load_in_one_program_account_for_every_message_beside_a_run() {
    let place = lab("traffic");
    let ran = place.run(&[&["run", "lab.toml", "--out", "run"][..], &QUICK].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let [london, boston] = ["london", "boston"].map(|point| gateway(&place, point));
    london.until("link=atlantic event=available");
    let traffic = [&["traffic", "lab.toml", "--out", "live", "--like", "run"][..], &QUICK].concat();
    let [out, log] = Live::of(place.command(&traffic)).ended();
    assert!(
        log.contains("event=asp-active at=exchange") && log.contains("event=asp-active at=register"),
        "{log}"
    );
    assert!(out.contains("\nbeside run:\n"), "{out}");
    let [run, live] = ["run", "live"].map(|directory| sums(&place, directory));
    assert_eq!(run.keys().collect::<Vec<_>>(), live.keys().collect::<Vec<_>>());
    let of = |name: &str| live[name];
    assert!(of("sent_messages") > 20.0, "{out}");
    assert_eq!(
        of("sent_messages"),
        of("delivered_messages") + of("late_messages") + of("lost_messages"),
        "{out}"
    );
    assert_eq!(
        (of("lost_messages"), of("repeated_messages"), of("out_of_sequence_messages")),
        (0.0, 0.0, 0.0),
        "{out}"
    );
    // One generator, one seed: the same messages.
    assert_eq!(run["sent_messages"], of("sent_messages"));
    let manifest = std::fs::read_to_string(place.path().join("live/manifest.json")).expect("a manifest");
    assert!(manifest.contains("\"live\""), "{manifest}");
    for gateway in [london, boston] {
        gateway.end();
    }
}

#[test]
fn one_program_at_each_end_knows_what_it_can() {
    let place = lab("traffic-apart");
    let [london, boston] = ["london", "boston"].map(|point| gateway(&place, point));
    london.until("link=atlantic event=available");
    let receiver = Live::of(place.command(&own(["--receive", "enquiries", "--out", "received"])));
    receiver.until("event=asp-active");
    // Both users have one UDP port in the file, and addresses of their own.
    let [out, _] = Live::of(place.command(&own(["--send", "enquiries", "--out", "sent"]))).ended();
    assert!(out.contains("; it arrives elsewhere\n"), "{out}");
    let [out, _] = receiver.ended();
    assert!(out.contains("load enquiries: sent elsewhere\n"), "{out}");
    let [sent, received] = ["sent", "received"].map(|directory| sums(&place, directory));
    assert_eq!(sent["sent_messages"], received["sent_messages"], "{out}");
    assert_eq!(received["delivered_messages"], received["sent_messages"], "{out}");
    assert_eq!(sent["outstanding_messages"], sent["sent_messages"], "nobody knows there");
    assert!(received["delay_min_s"] > 0.0 && received["delay_max_s"] < 60.0, "{out}");
    for gateway in [london, boston] {
        gateway.end();
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_would_do() {
    let place = lab("traffic-refused");
    let refused = |more: &[&str], why: &str| {
        let outcome = place.run(&[&["traffic", "lab.toml"][..], more].concat());
        assert_eq!((outcome.status, outcome.err), (Some(2), format!("error: {why}\n")));
    };
    refused(&["--load", "enquiry"], "there is no load `enquiry`; there are enquiries");
    refused(
        &["--load", "enquiries", "--send", "enquiries"],
        "load `enquiries` is asked for twice: `--load` sends it and keeps its account, `--send` and `--receive` are \
         for two programs",
    );
    refused(
        &["--at", "register=127.0.0.1"],
        "`exchange` and `register` are both at 127.0.0.1: give their nodes addresses of their own by `--at`, or take a \
         program for each",
    );
    refused(
        &["--set", "live.register.udp_port=1234"],
        "`exchange` and `register` are not in UDP at one port: let their nodes have the same `udp_port`, or take a \
         program for each by `--send` and `--receive`",
    );
    refused(
        &["--like", "nowhere"],
        "--like: nowhere/signalling_load.csv: No such file or directory (os error 2); name a directory of `slantpath \
         run --out`",
    );
}
