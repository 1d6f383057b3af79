//! `slantpath set`: an emulation is changed while real programs use it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::place::Place;

/// Answers datagrams at port 7000.
const ECHO: &str = "exec python3 -c \"
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 7000))
while True:
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
\"";

/// Asks it once for each line, which says for how many seconds an answer is waited for.
const ASK: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer = socket.getaddrinfo('far', 7000, socket.AF_INET)[0][4]
for number, line in enumerate(sys.stdin):
    s.settimeout(float(line))
    s.sendto(b'%d' % number, peer)
    try:
        print('answered' if s.recv(2000) == b'%d' % number else 'confused', flush=True)
    except TimeoutError:
        print('lost', flush=True)
";

/// A running emulation with a socket `control`, whose program asks when it is told to.
struct Emulation {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Emulation {
    /// None where the machine refuses namespaces.
    fn start(place: &Place) -> Option<Self> {
        let outcome = place.run(&["emulate", "--late", "10 s", "--", "true"]);
        if outcome.is_refused_namespaces() {
            return None;
        }
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let arguments = [
            "emulate",
            "--late",
            "10 s",
            "--control",
            "control",
            "--in",
            "far",
            ECHO,
            "--ready",
            "far:7000",
            "--",
            "python3",
            "-c",
            ASK,
        ];
        let mut command = place.command(&arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Self { child, input, output })
    }

    fn ask(&mut self, patience: &str) -> String {
        writeln!(self.input, "{patience}").expect("the program reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }
}

#[test]
fn a_link_is_changed_asked_and_stopped_while_programs_use_it() {
    let place = Place::new("control");
    let Some(mut emulation) = Emulation::start(&place) else { return };
    let set = |arguments: &[&str]| place.run(&[&["set", "control"], arguments].concat());
    assert_eq!(emulation.ask("30"), "near: answered");

    let mut watching = place.command(&["set", "control", "--events", "--status"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut heard_from = BufReader::new(watching.stdout.take().expect("a pipe"));
    let mut heard = String::new();
    // Once the state is told, events are heard.
    heard_from.read_line(&mut heard).expect("a line");
    let lost = set(&["links.link.loss", "100 %", "links.link.reverse.delay", "5 ms"]);
    assert_eq!((lost.status, lost.err.as_str()), (Some(0), ""));
    assert!(lost.out.contains(" s: link link: set loss 1\n"), "{}", lost.out);
    assert!(lost.out.contains(" s: link link reverse: set delay 5 ms\n"), "{}", lost.out);
    assert_eq!(emulation.ask("0.5"), "near: lost");
    let back = set(&["links.link.loss", "0 %"]);
    assert_eq!(back.status, Some(0), "{}", back.err);
    assert_eq!(emulation.ask("30"), "near: answered");
    assert_eq!(set(&["--down", "link"]).status, Some(0));
    assert_eq!(emulation.ask("0.5"), "near: lost");
    assert_eq!(set(&["--up", "link"]).status, Some(0));
    assert_eq!(emulation.ask("30"), "near: answered");

    let status = set(&["--status"]);
    // Five questions came, of which three got through, and one for the other's link address; nobody is late by ten
    // seconds.
    let near = status.out.lines().find(|line| line.starts_with("near at `link`: ")).expect(&status.out);
    let numbers: Vec<u32> = near.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] >= 6 && numbers[1] >= 4 && numbers[2] == 0, "{near}");
    let json: serde_json::Value =
        serde_json::from_str(&set(&["--status", "--json"]).out).expect("it is JSON");
    assert_eq!(json["interfaces"][0]["node"], "far");

    for (arguments, told) in [
        (&["links.lnik.loss", "1 %"][..], "there is no link `lnik`\n  help: did you mean `link`?"),
        (
            &["links.link.los", "1 %"],
            "`los` is nothing that can be set while a network runs\n  help: did you mean",
        ),
        (&["links.link.loss", "1 parsec"], "`1 parsec` does not start with a number"),
        (&["links.link.loss"], "`links.link.loss` has no value"),
        (&[], "say what to set: slantpath set control links.satellite.loss '5 %'"),
    ] {
        let refused = set(arguments);
        assert_eq!(refused.status, Some(2), "{}", refused.err);
        assert!(refused.err.contains(told), "{told}: {}", refused.err);
    }
    let second = place.run(&["emulate", "--control", "control", "--", "true"]);
    assert_eq!(second.status, Some(2), "{}", second.err);
    assert!(second.err.contains("another run is controlled there"), "{}", second.err);

    let stop = set(&["--stop"]);
    assert_eq!((stop.status, stop.out.as_str()), (Some(0), "the run ends\n"));
    let mut told = String::new();
    emulation.child.stderr.take().expect("a pipe").read_to_string(&mut told).expect("text");
    assert_eq!(emulation.child.wait().expect("it ends").code(), Some(0), "{told}");
    heard_from.read_to_string(&mut heard).expect("text");
    assert!(watching.wait().expect("it ends").success());
    for part in [
        "link link: set loss 1",
        "link link: set loss 0",
        "link link: down",
        "link link: up",
        "a program in near ended with 143",
    ] {
        assert!(heard.contains(part), "{part}: {heard}");
    }
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn what_is_no_running_network_is_told() {
    let place = Place::new("control-nobody");
    let absent = place.run(&["set", "control", "--status"]);
    assert_eq!(absent.status, Some(1));
    assert!(
        absent.err.contains("does an emulation or a gateway run with `--control control`?"),
        "{}",
        absent.err
    );
    place.write("file", "");
    let file = place.run(&["emulate", "--control", "file", "--", "true"]);
    // Where namespaces are refused, that is told first.
    assert!(
        file.err.contains("this is no socket, and stays") || file.err.contains("namespace"),
        "{}",
        file.err
    );
    let listener = UnixListener::bind(place.path().join("other")).expect("a socket");
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(b"HTTP/1.1 200 OK\n").expect("a line");
    });
    let answer = place.run(&["set", "other", "--status"]);
    other.join().expect("it ends");
    assert_eq!(answer.status, Some(1));
    assert!(answer.err.contains("what answers is no network that runs"), "{}", answer.err);
}
