//! Cases, and their table.

use std::io::Read as _;
use std::process::Child;
use std::time::Duration;

use slantpath_system::clock::rest;

use crate::place::{ADDRESSES, LIMITED, Place, processor_seconds};

/// Rounds of each measurement, whose median counts.
const ROUNDS: usize = 3;
const PORT: &str = "5201";
/// Octets of a message of iperf3, and how many there are.
const MESSAGE: u64 = 65_536;
const MESSAGES: u64 = 16_000;
/// Octets of a request and of its answer.
const REQUEST: &str = "200";
/// Tries to reach what is being started.
const TRIES: usize = 100;

/// A case by its name.
type Case = (&'static str, fn(&Place));

const CASES: [Case; 3] = [("iperf3", iperf3), ("requests", requests), ("calls", calls)];

pub(crate) fn all(words: &[&str]) {
    if !nix::unistd::geteuid().is_root() {
        println!("sockets: network namespaces need root: left out");
        return;
    }
    let place = Place::new();
    println!("| sockets | asked | found |\n|---|---|---|");
    for (name, case) in CASES {
        if words.is_empty() || words.contains(&name) {
            case(&place);
        }
    }
}

fn row(what: &str, asked: &str, found: &str) {
    println!("| {what} | {asked} | {found} |");
}

/// Outcome of a transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    bits_per_second: f64,
    /// Processor time of both ends a gigabyte, in seconds.
    seconds_a_gigabyte: f64,
}

fn median(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Median of each of the two figures.
fn rounds(mut transfer: impl FnMut() -> Transfer) -> Transfer {
    let all: Vec<Transfer> = (0..ROUNDS).map(|_| transfer()).collect();
    let of = |figure: fn(&Transfer) -> f64| median(all.iter().map(figure).collect());
    Transfer {
        bits_per_second: of(|one| one.bits_per_second),
        seconds_a_gigabyte: of(|one| one.seconds_a_gigabyte),
    }
}

fn ended(mut child: Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}

fn iperf3(place: &Place) {
    let programs = rounds(|| by_iperf3(place));
    let own = rounds(|| in_process(place));
    let gigabits = |transfer: Transfer| transfer.bits_per_second / 1e9;
    let usrsctp = place.usrsctp.as_ref().map(|program| rounds(|| by_usrsctp(place, program)));
    let beside = usrsctp.map_or_else(
        || "usrsctp is left out: apt-get install libusrsctp-dev".to_owned(),
        |usrsctp| {
            let times = programs.bits_per_second / usrsctp.bits_per_second;
            format!("{times:.2} times usrsctp's {:.2}", gigabits(usrsctp))
        },
    );
    row(
        "`iperf3 --sctp`, veth of 1,500, one stream, 64 KiB",
        "1 Gbit/s, 1.5 times usrsctp",
        &format!("{:.2} Gbit/s; {beside}; in process {:.2}", gigabits(programs), gigabits(own)),
    );
    row(
        "processor time of programs and daemons, of that in process",
        "1.6",
        &format!(
            "{:.2} ({:.2} and {:.2} s a gigabyte)",
            programs.seconds_a_gigabyte / own.seconds_a_gigabyte,
            programs.seconds_a_gigabyte,
            own.seconds_a_gigabyte
        ),
    );
}

/// iperf3 at both ends, each behind a daemon of its own.
fn by_iperf3(place: &Place) -> Transfer {
    let before = processor_seconds();
    let sctp = |end: usize| [&place.slantpath, "sctp", "--address", ADDRESSES[end], "--"];
    let server = place.start(1, &[&LIMITED, &sctp(1)[..], &["iperf3", "-s", "-1", "-p", PORT]].concat());
    let total = (MESSAGE * MESSAGES).to_string();
    let client = ["iperf3", "--sctp", "-c", ADDRESSES[1], "-p", PORT, "-l", "64K", "-n", &total, "-J"];
    let mut told = serde_json::Value::Null;
    for _ in 0..TRIES {
        let text = place.command(0, &[&LIMITED, &sctp(0)[..], &client].concat()).output().unwrap().stdout;
        told = serde_json::from_slice(&text).unwrap_or_default();
        if told["end"]["sum_received"]["bytes"].is_number() {
            break;
        }
        rest(Duration::from_millis(50));
    }
    ended(server);
    let sum = &told["end"]["sum_received"];
    let number = |name: &str| sum[name].as_f64().unwrap_or_else(|| panic!("no `{name}` in {told}"));
    Transfer {
        bits_per_second: number("bits_per_second"),
        seconds_a_gigabyte: (processor_seconds() - before) / number("bytes") * 1e9,
    }
}

/// Transfer of the same messages, sent and thrown away within the processes that have the associations.
fn in_process(place: &Place) -> Transfer {
    let before = processor_seconds();
    let words = ["echo", "--discard", "--associations", "1", "--port", PORT, "--address", ADDRESSES[1]];
    let server = place.start(1, &[&LIMITED, &[&*place.slantpath][..], &words].concat());
    let (size, count) = (MESSAGE.to_string(), MESSAGES.to_string());
    let words = ["load", ADDRESSES[1], "--port", PORT, "--size", &size, "--count", &count, "--one-way"];
    let file = std::env::temp_dir().join(format!("slantpath-sockets-{}.json", std::process::id()));
    let json = ["--json", file.to_str().unwrap()];
    let line = [&LIMITED, &[&*place.slantpath][..], &words, &json].concat();
    // Nobody is there until the other process has its port.
    for _ in 0..TRIES {
        if place.command(0, &line).output().unwrap().status.success() {
            break;
        }
        rest(Duration::from_millis(50));
    }
    ended(server);
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let bytes = (MESSAGE * MESSAGES) as f64;
    let seconds = told["span_s"].as_f64().unwrap_or_else(|| panic!("no `span_s` in {told}"));
    Transfer {
        bits_per_second: bytes * 8.0 / seconds,
        seconds_a_gigabyte: (processor_seconds() - before) / bytes * 1e9,
    }
}

/// usrsctp at both ends, each a program of its own, which tells what it has taken.
fn by_usrsctp(place: &Place, program: &str) -> Transfer {
    let (count, length) = (MESSAGES.to_string(), MESSAGE.to_string());
    let words = |role, own: usize| {
        [program, role, ADDRESSES[own], ADDRESSES[1 - own], PORT, "1", &*count, &*length, "0"]
    };
    let mut receiver = place.start(1, &words("receive", 1));
    let mut lines = std::io::BufReader::new(receiver.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap_or_else(|_| panic!("{line:?}"))
    };
    assert!(line()["ready"].is_boolean());
    let sent = place.output(0, &words("send", 0));
    let sent: serde_json::Value = serde_json::from_str(sent.lines().last().unwrap()).unwrap();
    let read = line();
    receiver.kill().unwrap();
    receiver.wait().unwrap();
    let bytes = (MESSAGE * MESSAGES) as f64;
    let number = |told: &serde_json::Value, name: &str| told[name].as_f64().unwrap();
    let seconds: f64 = [&sent, &read].iter().map(|told| number(told, "user") + number(told, "system")).sum();
    Transfer {
        bits_per_second: bytes * 8.0 / number(&read, "seconds"),
        seconds_a_gigabyte: seconds / bytes * 1e9,
    }
}

/// Exchanges a second of two processes, by the door with this name; without one, as they are.
fn exchanges(place: &Place, door: Option<&str>, protocol: &str, outstanding: &str, count: &str) -> f64 {
    let program = &place.exchanges[usize::from(door == Some("preload"))];
    let behind = [&*place.slantpath, "sctp", "--address", ADDRESSES[0], "--door"];
    let words = [program, protocol, ADDRESSES[0], PORT, outstanding, count, REQUEST];
    let mut line: Vec<&str> = Vec::new();
    if let Some(door) = door {
        line.extend(behind);
        line.extend([door, "--"]);
    }
    line.extend(words);
    median((0..ROUNDS).map(|_| place.output(0, &line).trim().parse().unwrap()).collect())
}

fn requests(place: &Place) {
    for (door, asked) in [("notify", "20,000"), ("preload", "")] {
        let many = exchanges(place, Some(door), "sctp", "16", "40000");
        row(
            &format!("requests and answers of 200 bytes a second, 16 outstanding, `--door {door}`"),
            asked,
            &format!("{many:.0}"),
        );
    }
    let udp = exchanges(place, None, "udp", "1", "40000");
    for door in ["notify", "preload"] {
        let serial = exchanges(place, Some(door), "sctp", "1", "10000");
        row(
            &format!("one after the other, `--door {door}`: time of UDP's between the same processes"),
            "4 times",
            &format!("{:.2} ({:.1} and {:.1} µs)", udp / serial, 1e6 / serial, 1e6 / udp),
        );
    }
}

fn calls(place: &Place) {
    const COUNT: &str = "100000";
    let number = |line: &[&str]| -> f64 {
        median((0..ROUNDS).map(|_| place.output(0, line).trim().parse().unwrap()).collect())
    };
    for (door, program) in ["notify", "preload"].into_iter().zip(&place.exchanges) {
        let bare = number(&[program, "calls", COUNT]);
        let behind = [&*place.slantpath, "sctp", "--address", ADDRESSES[0], "--door", door, "--"];
        let served = number(&[&behind[..], &[program, "calls", COUNT]].concat());
        row(
            &format!("a call on another socket, `--door {door}`: beyond what it takes without"),
            "0.3 µs",
            &format!("{:.3} µs ({served:.0} and {bare:.0} ns)", (served - bare) / 1e3),
        );
    }
}
