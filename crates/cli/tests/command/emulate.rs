//! `slantpath emulate`, with real programs: as whoever runs the tests, and as a user without rights.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::place::{Outcome, Place};

/// User and group without rights that root becomes.
const NOBODY: u32 = 65_534;

/// Whoever calls the command, with a directory for the test.
struct Caller {
    place: Place,
    /// A copy of the program that everybody may run, if it is run by somebody without rights.
    copy: Option<std::path::PathBuf>,
}

impl Caller {
    /// Whoever runs the tests, and if that is root, somebody without rights as well. Nobody where the machine refuses
    /// namespaces.
    fn all(test: &str) -> Vec<Self> {
        let mut callers = vec![Self { place: Place::new(test), copy: None }];
        if std::fs::metadata("/proc/self").expect("this process").uid() == 0 {
            // The program may lie where nobody else looks.
            let copy = std::env::temp_dir().join(format!("slantpath-{test}-{}", std::process::id()));
            std::fs::copy(env!("CARGO_BIN_EXE_slantpath"), &copy).expect("a copy");
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("its rights");
            callers.push(Self { place: Place::new(&format!("{test}-nobody")), copy: Some(copy) });
        }
        callers.retain(|caller| {
            let outcome = caller.run(&["--", "true"]);
            let is_refused = outcome.err.contains("namespace");
            if is_refused {
                eprintln!("skipped: {test}: {}", outcome.err.trim());
            } else {
                assert_eq!(outcome.status, Some(0), "{}", outcome.err);
            }
            !is_refused
        });
        callers
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // A machine that tests other things at the time may be late.
        let late = if arguments.contains(&"--late") { &[][..] } else { &["--late", "10 s"][..] };
        let arguments = [&["emulate"], late, arguments].concat();
        let Some(copy) = &self.copy else { return self.place.command(&arguments) };
        let mut command = Command::new(copy);
        command.args(arguments).uid(NOBODY).gid(NOBODY).env("PATH", "/usr/bin:/bin").current_dir("/");
        command
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).output().expect("the program runs").into()
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            let _ = std::fs::remove_file(copy);
        }
    }
}

/// Answers datagrams at port 7000, of either version of IP.
const ECHO: &str = "python3 -c \"
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
s.bind(('::', 7000))
while True:
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
\"";

/// Asks it twenty times, and tells the shortest time in milliseconds.
const ASK: &str = "
import socket, sys, time
family, kind, proto, _, peer = socket.getaddrinfo('far', 7000, type=socket.SOCK_DGRAM)[0]
s = socket.socket(family, kind, proto)
s.settimeout(30)
best = 1e9
for number in range(20):
    begin = time.monotonic()
    s.sendto(b'%d' % number, peer)
    assert s.recv(2000) == b'%d' % number
    best = min(best, time.monotonic() - begin)
print('shortest %d ms' % (1000 * best), flush=True)
";

#[test]
fn programs_meet_over_a_link_that_has_its_delay() {
    for caller in Caller::all("emulate-delay") {
        for family in ["ipv4", "ipv6"] {
            let family = format!("links.link.family={family}");
            let outcome = caller.run(&[
                "--delay", "40 ms", "--set", &family, "--in", "far", ECHO, "--ready", "far:7000", "--",
                "python3", "-c", ASK,
            ]);
            assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
            let told = outcome.out.lines().find_map(|line| line.strip_prefix("near: shortest "));
            let shortest = told.and_then(|told| told.strip_suffix(" ms")).expect(&outcome.out);
            // A machine may be slow, and no packet is faster than its way.
            assert!(shortest.parse::<u32>().expect("a number") >= 80, "{shortest}");
            assert!(outcome.err.contains("near at `link`: "), "{}", outcome.err);
        }
    }
}

#[test]
fn the_status_is_that_of_the_last_program_and_others_are_ended() {
    for caller in Caller::all("emulate-status") {
        let outcome = caller.run(&["--in", "far", "sleep 1000", "--", "sh", "-c", "echo of near; exit 7"]);
        assert_eq!((outcome.status, &*outcome.out), (Some(7), "near: of near\n"), "{}", outcome.err);
        let outcome = caller.run(&["--", "/nowhere/to-be-found"]);
        assert_eq!(outcome.status, Some(1));
        assert!(
            outcome.err.contains("`near`: cannot start the program: `/nowhere/to-be-found`"),
            "{}",
            outcome.err
        );
    }
}

#[test]
fn a_packet_that_leaves_too_late_makes_the_run_void() {
    for caller in Caller::all("emulate-void") {
        let outcome = caller
            .run(&["--late", "1 ns", "--in", "far", ECHO, "--ready", "far:7000", "--", "python3", "-c", ASK]);
        assert_eq!(outcome.status, Some(3), "{}", outcome.err);
        // On a busy machine the process may have had to wait before the first packet left.
        let reasons = ["a packet left ", "this process did not run for "];
        for told in ["warning: void: ", "the run is void: "] {
            let is_told = reasons.iter().any(|reason| outcome.err.contains(&format!("{told}{reason}")));
            assert!(is_told, "{}", outcome.err);
        }
    }
}

/// Processes that come of one, itself among them.
fn descendants(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let own = children.split_whitespace().filter_map(|child| child.parse().ok());
    std::iter::once(process).chain(own.flat_map(descendants)).collect()
}

/// Sends a signal to processes, by name.
fn signal(name: &str, processes: &[u32]) {
    let processes = processes.iter().map(u32::to_string);
    assert!(Command::new("kill").arg(name).args(processes).status().expect("`kill` runs").success());
}

#[test]
fn a_stopped_emulator_makes_the_run_void_though_nothing_was_due() {
    for caller in Caller::all("emulate-stopped") {
        let mut command = caller.command(&["--late", "20 ms", "--", "sh", "-c", "echo up; exec sleep 1000"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut up = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut up).expect("a line");
        let all = descendants(child.id());
        signal("-STOP", &all);
        // It has to be stopped for longer than it may be late. For how much longer does not matter.
        std::thread::sleep(std::time::Duration::from_millis(60));
        signal("-CONT", &all);
        // What is said at once is said before the run ends.
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut told = String::new();
        while !told.contains("warning: void: ") {
            assert_ne!(err.read_line(&mut told).expect("text"), 0, "{told}");
        }
        assert!(told.contains("this process did not run for "), "{told}");
        signal("-TERM", &[child.id()]);
        assert_eq!(child.wait().expect("it has ended").code(), Some(3), "{told}");
    }
}

#[test]
fn nothing_is_left_when_the_command_is_killed() {
    for caller in Caller::all("emulate-killed") {
        let both = "echo up; exec sleep 1000";
        let mut command = caller.command(&["--in", "far", both, "--", "sh", "-c", both]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            out.read_line(line).expect("a line");
        }
        lines.sort();
        assert_eq!(lines, ["far: up\n", "near: up\n"]);
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
        // The pipe ends with the last of all that have it.
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "");
    }
}

#[test]
fn the_results_are_those_of_a_run() {
    let Some(caller) = Caller::all("emulate-results").into_iter().find(|caller| caller.copy.is_none()) else {
        return;
    };
    let outcome = caller.run(&[
        "--loss",
        "50 %",
        "--seed",
        "7",
        "--out",
        "results",
        "--pcap",
        "link",
        "--in",
        "far",
        "sleep 1000",
        "--",
        "python3",
        "-c",
        "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(100):
    s.sendto(b'%d' % number, ('far', 9))
",
    ]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let files = caller.place.files("results");
    let text = |name: &str| {
        let found = files.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("{name}"));
        String::from_utf8_lossy(&found.1).into_owned()
    };
    let interfaces = text("attached_interfaces.csv");
    let rows: Vec<Vec<&str>> = interfaces.lines().map(|line| line.split(',').collect()).collect();
    let cell = |row: usize, name: &str| {
        let place = rows[0].iter().position(|column| *column == name).expect(name);
        rows[row][place]
    };
    assert_eq!((cell(1, "node"), cell(2, "node"), cell(2, "packets_in")), ("far", "near", "100"));
    // The same are lost on any machine.
    assert_eq!(cell(1, "packets_out"), "60");
    assert!(text("manifest.json").contains("\"seed\": 7"));
    assert!(files.iter().any(|(name, bytes)| name == "link.pcapng" && bytes.len() > 60 * 100));
}

#[test]
fn what_cannot_be_emulated_is_told_with_its_cure() {
    let Some(caller) = Caller::all("emulate-wrong").into_iter().next() else { return };
    caller.place.write("two.toml", "[scenario]\nname = \"x\"\nduration = \"1 s\"\n");
    for (arguments, told) in [
        (&["--delay", "250", "--", "true"][..], "a time is written like `250 ms`"),
        (&["--in", "fra", "true"], "--in fra: there is no attached node `fra`: did you mean `far`?"),
        (&["--in", "middle", "true"], "attached nodes: `far`, `near`"),
        (&[], "name a program: --in NODE 'COMMAND', or --shell NODE; nodes: far, near"),
        (&["--ready", "far", "--", "true"], "--ready far: write a node and a port, like `far:5201`"),
        (&["--ready", "far:7", "--", "true"], "--ready far:7: no program runs in `far` that could listen"),
        (&["--root", "nera", "--", "true"], "did you mean `near`?"),
        (&["--late", "5", "--", "true"], "has no unit"),
    ] {
        let outcome = caller.run(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{arguments:?}: {}", outcome.err);
    }
}

#[test]
fn a_scenario_names_its_places() {
    for caller in Caller::all("emulate-scenario") {
        let name = caller.place.path().join("lab.toml").display().to_string();
        if caller.copy.is_some()
            && Command::new("true").current_dir(caller.place.path()).uid(NOBODY).status().is_err()
        {
            // The directory of the tests may be closed to others.
            continue;
        }
        caller.place.write("lab.toml", LAB);
        let outcome = caller.run(&[
            &name,
            "--in",
            "station",
            ECHO,
            "--ready",
            "station:7000",
            "--in",
            "phone",
            "cat /etc/hosts; ip route; ip -6 route; python3 -c \"
import socket
for family in (socket.AF_INET, socket.AF_INET6):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(30)
    s.sendto(b'?', socket.getaddrinfo('station', 7000, family)[0][4])
    print('answered', s.recv(9).decode())
\"",
        ]);
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        for told in ["phone: 10.1.0.1 station\n", "phone: fd00::1 station\n"] {
            assert!(outcome.out.contains(told), "{}", outcome.out);
        }
        assert_eq!(outcome.out.matches("phone: answered ?\n").count(), 2, "{}", outcome.out);
        let outcome = caller.run(&[&name, "--", "true"]);
        assert_eq!(outcome.status, Some(2));
        assert!(outcome.err.contains("say in which node it runs: --in NODE 'true'; nodes: phone, station"));
    }
}

const LAB: &str = r#"
[scenario]
name = "lab"
duration = "1 h"

[nodes]
station.kind = "attached"
phone.kind = "attached"
core.kind = "router"

[links.satellite]
ends = ["station", "core"]
addresses = ["10.1.0.1", "10.1.0.2"]
rate = "20 Mbit/s"
delay = "12 ms"

[links.backup]
ends = ["station", "core"]
addresses = ["fd00::1", "fd00::2"]
rate = "2 Mbit/s"
delay = "3 ms"

[links.radio]
ends = ["phone", "core"]
addresses = ["10.2.0.1", "10.2.0.2"]
rate = "50 Mbit/s"
delay = "1 ms"

[links.radio-6]
ends = ["phone", "core"]
addresses = ["fd00:1::1", "fd00:1::2"]
rate = "50 Mbit/s"
delay = "1 ms"
"#;
