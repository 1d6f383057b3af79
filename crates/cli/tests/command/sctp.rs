//! `slantpath sctp`: programs of others with SCTP sockets, over the loopback and in UDP.

use std::path::Path;
use std::process::Command;

use slantpath_testkit::{needs_program, skip};

use crate::live::free_port;
use crate::place::{Outcome, Place};

/// Two ends in one program of Python: what one sends the other sends back, and the end is told. Its arguments are an
/// address, and the exit status.
const PYTHON: &str = r#"
import errno, os, socket, sys, threading
SCTP = 132
address, status = sys.argv[1], int(sys.argv[2])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
listener = socket.socket(family, socket.SOCK_STREAM, SCTP)
listener.bind((address, 0))
listener.listen(5)
def serve():
    end, peer = listener.accept()
    while message := end.recv(70000):
        end.sendall(message)
    end.close()
server = threading.Thread(target=serve)
server.start()
caller = socket.socket(family, socket.SOCK_STREAM, SCTP)
caller.connect(listener.getsockname()[:2])
for message in (b"one", os.urandom(60000), b"x" * 1400, b"last"):
    caller.sendall(message)
    back = b""
    while len(back) < len(message):
        back += caller.recv(20000)
    assert back == message, (len(back), len(message))
caller.shutdown(socket.SHUT_WR)
try:
    sys.exit(f"an end of the peer: {caller.recv(10)}")
except OSError as error:
    assert error.errno == errno.ENOTCONN, error
server.join()
nobody = socket.socket(family, socket.SOCK_STREAM, SCTP)
try:
    nobody.connect((address, 9))
    sys.exit("somebody is there")
except ConnectionRefusedError:
    pass
print("whole")
sys.exit(status)
"#;

/// Runs a program behind the command, over the loopback and in UDP at a port of its own.
pub(crate) fn served(place: &Place, more: &[&str], program: &[&str]) -> Outcome {
    let port = free_port().to_string();
    let (own, peers) = (format!("--listen-udp={port}"), format!("--udp={port}"));
    let at = ["--address", "127.0.0.1", "--address", "::1"];
    place.run(&[&["sctp", &own, &peers], &at[..], more, &["--"], program].concat())
}

pub(crate) fn has(program: &str, arguments: &[&str]) -> bool {
    let found = Command::new(program).args(arguments).output();
    if let Err(error) = &found {
        needs_program(error, &format!("apt-get install {program}"));
    }
    found.is_ok()
}

#[test]
fn python_s_own_sockets_reach_each_other_by_both_doors_in_both_versions_and_its_status_is_the_command_s() {
    if !has("python3", &["--version"]) {
        return;
    }
    let place = Place::new("sctp-python");
    place.write("ends.py", PYTHON);
    for door in ["preload", "notify"] {
        for (address, status) in [("127.0.0.1", "0"), ("::1", "7")] {
            let outcome = served(&place, &["--door", door], &["python3", "ends.py", address, status]);
            assert_eq!(outcome.out, "whole\n", "{door} {address}: {outcome:?}");
            assert_eq!(outcome.status, status.parse().ok(), "{door} {address}: {outcome:?}");
        }
    }
}

/// Lines of programs of others, each against itself: with what asks it for its version, its package, and the doors.
/// `PORT` is one that is free.
const LINES: [(&[&str], &str, &[&str], &str); 3] = [
    (
        // It receives at a socket whose peer has refused.
        &["socat", "-V"],
        "socat",
        &["preload", "notify"],
        "head -c 300000 /dev/urandom > sent
        socat -u SCTP-LISTEN:PORT,bind=127.0.0.1 CREATE:came &
        socat -u OPEN:sent SCTP:127.0.0.1:PORT,retry=100,interval=0.1 && wait && cmp sent came && echo whole",
    ),
    (
        // It waits with `select` for a number that it has just closed, where Linux has its socket.
        &["iperf3", "--version"],
        "iperf3",
        &["preload", "notify"],
        "iperf3 -s -1 -p PORT >server &
        until iperf3 --sctp -c 127.0.0.1 -p PORT -n 2M --nstreams 5 -b 0 >client; do sleep 0.1; done
        wait; grep -q 'Bytes.*receiver' client && echo whole",
    ),
    (
        &["sctp_test", "-h"],
        "lksctp-tools",
        &["preload", "notify"],
        "sctp_test -H 127.0.0.1 -P PORT -l >server & server=$!
        until sctp_test -H 127.0.0.1 -P 0 -h 127.0.0.1 -p PORT -s -x 3 >client; do sleep 0.1; done
        kill $server; grep -q 'sendmsg(sk=' client && echo whole",
    ),
];

#[test]
fn programs_of_others_reach_themselves() {
    for (version, package, doors, line) in LINES {
        if let Err(error) = Command::new(version[0]).args(&version[1..]).output() {
            needs_program(&error, &format!("apt-get install {package}"));
            continue;
        }
        let place = Place::new(&format!("sctp-{package}"));
        for door in doors {
            let line = line.replace("PORT", &free_port().to_string());
            let outcome = served(&place, &["--door", door], &["timeout", "60", "sh", "-c", &line]);
            assert_eq!(outcome.out, "whole\n", "{package} {door}: {outcome:?}");
        }
    }
}

/// Calls of RFC 6458 that few programs make, as Linux has them: `peers/sctp-programs` runs it there, too.
#[test]
fn an_association_begins_as_its_first_message_says_and_a_port_is_shared_at_different_addresses() {
    let place = Place::new("sctp-calls");
    let calls = place.path().join("calls");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/sctp-programs/calls.c");
    let built = Command::new("cc").args(["-O1", "-o"]).arg(&calls).arg(&source).status();
    if let Err(error) = &built {
        return needs_program(error, "apt-get install gcc libc6-dev");
    }
    assert!(built.is_ok_and(|status| status.success()));
    for door in ["preload", "notify"] {
        let line = ["timeout", "60", "./calls", "127.0.0.1", "127.0.0.2", "6000"];
        let outcome = served(&place, &["--address", "127.0.0.2", "--door", door], &line);
        assert_eq!(outcome.out, "whole: calls as Linux has them\n", "{door}: {outcome:?}");
    }
}

/// The library that Go programs have for SCTP, in a static one.
#[test]
fn a_static_program_of_go_reaches_itself_by_its_library() {
    if Command::new("go").arg("version").output().is_err() {
        return skip("no Go here");
    }
    let library = Path::new("/usr/share/gocode");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/sctp-programs/echo.go");
    let mut build = Command::new("go");
    build.args(["build", "-o", "echo"]).arg(&source);
    build.envs([("GO111MODULE", "off"), ("CGO_ENABLED", "0")]).env("GOPATH", library);
    let place = Place::new("sctp-go");
    let built = if library.join("src/github.com/ishidawataru/sctp").exists() {
        build.current_dir(place.path()).status()
    } else {
        Err(std::io::ErrorKind::NotFound.into())
    };
    if let Err(error) = &built {
        return needs_program(error, "apt-get install golang-github-ishidawataru-sctp-dev");
    }
    assert!(built.is_ok_and(|status| status.success()));
    let line = "./echo serve 127.0.0.1 6000 &
        until ./echo call 127.0.0.1 6000; do sleep 0.1; done; wait";
    let outcome = served(&place, &["--door", "notify"], &["timeout", "60", "sh", "-c", line]);
    assert_eq!(outcome.out, "whole: 21405 bytes on their streams, back as they went\n", "{outcome:?}");
}

#[test]
fn what_it_decided_is_traced_captured_and_recorded() {
    if !has("python3", &["--version"]) {
        return;
    }
    let place = Place::new("sctp-trace");
    place.write("ends.py", PYTHON);
    let files = ["--trace", "python.trace", "--capture", "python.pcapng", "--record", "python.record"];
    let outcome = served(&place, &files, &["python3", "ends.py", "127.0.0.1", "0"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let told = place.run(&["replay", "python.record", "--trace", "again.trace", "--pcap", "again.pcapng"]);
    assert!(told.status == Some(0) && told.out.contains("the same as that of the live run"), "{told:?}");
    // Behind the line that says which run it was.
    let explained = ["python.trace", "again.trace"].map(|trace| {
        let told = place.run(&["explain", trace]).out;
        told.split_once("\n## ").map(|(_, told)| told.to_owned())
    });
    assert!(explained[0].is_some());
    assert_eq!(explained[0], explained[1]);
    let told = place.run(&["explain", "python.trace"]);
    assert_eq!(told.status, Some(0), "{told:?}");
    let told = place.run(&["explain", "python.pcapng"]);
    assert_eq!(told.status, Some(0), "{told:?}");
}

#[test]
fn what_cannot_be_served_is_refused_in_a_line_that_says_what_to_do() {
    let place = Place::new("sctp-refused");
    let refused = |arguments: &[&str], why: &str| {
        let outcome = place.run(&[&["sctp"], arguments].concat());
        assert_eq!(outcome.status, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.err.contains(why) && outcome.err.lines().count() == 1, "{arguments:?}: {outcome:?}");
    };
    place.write("text", "no program");
    refused(&[], "name a program behind `--`");
    refused(&["--", "./text"], "neither a program nor a script");
    refused(&["--", "no-such-program"], "is in no directory of PATH");
    refused(&["--serve", "here", "--", "true"], "start it with SLANTPATH_SCTP=here");
    refused(&["--trace", "same", "--capture", "same", "--", "true"], "cannot hold two of");
}

#[test]
fn a_program_that_asks_for_no_sctp_runs_as_ever() {
    let place = Place::new("sctp-plain");
    for door in ["preload", "notify"] {
        let line = ["sh", "-c", "echo out; echo err >&2; cat; exit 3"];
        let outcome = served(&place, &["--door", door], &line);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(3), "out\n"), "{door}: {outcome:?}");
        assert!(outcome.err.ends_with("err\n"), "{door}: {outcome:?}");
    }
}
