//! `slantpath emulate`, with real programs: as whoever runs the tests, and as a user without rights.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::caller::{Caller, NOBODY};

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
fn nobody_waits_for_a_port_at_which_nobody_can_listen_any_more() {
    for caller in Caller::all("emulate-deserted") {
        for server in ["exit 5", "exit 0"] {
            let outcome =
                caller.run(&["--in", "far", server, "--ready", "far:7000", "--", "sh", "-c", "echo up"]);
            assert_eq!((outcome.status, &*outcome.out), (Some(1), ""), "{server}: {}", outcome.err);
            let told = "error: `far`: its program has ended, and nobody listened at port 7000";
            assert!(outcome.err.contains(told), "{server}: {}", outcome.err);
        }
        // One that goes on by itself may listen when its parent has ended.
        let daemon = format!("{ECHO} &");
        let outcome =
            caller.run(&["--in", "far", &daemon, "--ready", "far:7000", "--", "python3", "-c", ASK]);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    }
}

#[test]
fn a_run_goes_on_and_has_its_status_though_nobody_reads_what_is_told() {
    for caller in Caller::all("emulate-unread") {
        for (late, status) in [("10 s", 7), ("1 ns", 3)] {
            // One of each run, so that nothing of another one lies there.
            let results = caller.place.path().join(format!("unread-{status}"));
            std::fs::create_dir(&results).expect("a directory");
            std::fs::set_permissions(&results, PermissionsExt::from_mode(0o777)).expect("its rights");
            let results = results.display().to_string();
            let program = "python3 -c \"$0\"; exit 7";
            let mut command = caller.command(&[
                "--late", late, "--out", &results, "--in", "far", ECHO, "--ready", "far:7000", "--", "sh",
                "-c", program, ASK,
            ]);
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
            let outcome = command.stderr(full).output().expect("the program runs");
            let out = String::from_utf8_lossy(&outcome.stdout);
            assert_eq!(outcome.status.code(), Some(status), "{late}: {out}");
            assert!(out.contains("near: shortest "), "{late}: {out}");
            assert!(Path::new(&results).join("summary.csv").exists(), "{late}");
        }
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
        let (_sender, nobody) = std::sync::mpsc::channel::<()>();
        let _ = nobody.recv_timeout(std::time::Duration::from_millis(60));
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
    // Over a router: no question for neighbours is among what the link loses.
    caller.place.write("results.toml", RESULTS);
    let lab = caller.place.path().join("results.toml").display().to_string();
    let outcome = caller.run(&[
        &lab,
        "--seed",
        "7",
        "--out",
        "results",
        "--pcap",
        "link",
        "--in",
        "far",
        "sleep 1000",
        "--in",
        "near",
        "python3 -c \"
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(100):
    s.sendto(b'%d' % number, ('far', 9))
\"",
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

/// Takes a stream of TCP, and tells its length and its hash.
const SINK: &str = "
import hashlib, socket
s = socket.create_server(('', 7000), family=FAMILY)
peer = s.accept()[0]
data = b''.join(iter(lambda: peer.recv(1 << 20), b''))
print(len(data), hashlib.sha256(data).hexdigest(), flush=True)
";

/// Tells the length and the hash of pseudorandom octets, and sends them there.
const SOURCE: &str = "python3 -c \"
import hashlib, random, socket
data = random.Random(7).randbytes(3 << 20)
print(len(data), hashlib.sha256(data).hexdigest(), flush=True)
while True:
    try:
        s = socket.create_connection(('near', 7000))
        break
    except ConnectionRefusedError:
        pass
s.sendall(data)
\"";

#[test]
fn long_segments_come_out_as_the_octets_that_went_in() {
    for caller in Caller::all("emulate-octets") {
        for (family, python) in [("ipv4", "socket.AF_INET"), ("ipv6", "socket.AF_INET6")] {
            let family = format!("links.link.family={family}");
            let sink = SINK.replace("FAMILY", python);
            // Lost segments are sent once more, and cut in other places.
            let outcome = caller.run(&[
                "--loss", "0.1 %", "--set", &family, "--in", "far", SOURCE, "--", "python3", "-c", &sink,
            ]);
            assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
            let told = |node: &str| outcome.out.lines().find_map(|line| line.strip_prefix(node)).expect(node);
            assert_eq!(told("far: "), told("near: "), "{}", outcome.out);
        }
    }
}

#[test]
fn a_flood_takes_little_memory_and_its_rest_is_counted() {
    const FLOOD: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(30000):
    s.sendto(bytes(1000), ('far', 9))
for line in open('/proc/1/status'):
    if line.startswith('RssAnon:'):
        print('memory', line.split()[1], flush=True)
";
    for caller in Caller::all("emulate-flood") {
        let outcome = caller.run(&["--rate", "1 Mbit/s", "--", "python3", "-c", FLOOD]);
        // A machine that does much else at the time may drop some of them before they are read, which is told.
        assert!(matches!(outcome.status, Some(0 | 3)), "{}", outcome.err);
        let told =
            outcome.out.lines().find_map(|line| line.strip_prefix("near: memory ")).expect(&outcome.err);
        // 30 MB have come, of which a queue of the link and what it shares its memory with is left.
        assert!(told.parse::<u32>().expect("kilobytes") < 16_000, "{told} kB");
    }
}

/// Process that makes the network: a child of a child of the command.
fn inner(outer: u32) -> Option<u32> {
    let parent = |process: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let processes = || {
        let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        names.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    let child = |of: u32| processes().find(|process| parent(*process) == Some(of));
    child(child(outer)?)
}

#[test]
fn frames_that_were_dropped_before_they_were_read_make_the_run_void() {
    const SEND: &str = "
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'', ('far', 9))
open('up', 'w').close()
while not os.path.exists('go'):
    pass
for _ in range(8000):
    s.sendto(b'', ('far', 9))
open('done', 'w').close()
";
    let Some(caller) = Caller::all("emulate-dropped").into_iter().find(|caller| caller.copy.is_none()) else {
        return;
    };
    let mut command = caller.command(&["--", "python3", "-c", SEND]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let wait_for = |name: &str| while !caller.place.path().join(name).exists() {};
    wait_for("up");
    let network = inner(child.id()).expect("the process of the network").to_string();
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &network]).status().expect("it runs").success(), "{name}");
    };
    signal("-STOP");
    caller.place.write("go", "");
    // More frames than the memory holds that is shared with the kernel.
    wait_for("done");
    signal("-CONT");
    let mut err = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "{err}");
    assert!(err.contains("frames were dropped before they were read"), "{err}");
}

#[test]
fn a_rate_that_this_machine_cannot_carry_is_told_before_the_run() {
    for caller in Caller::all("emulate-rate") {
        let told = |arguments: &[&str]| {
            let outcome = caller.run(&[arguments, &["--spin", "20 us", "--", "true"]].concat());
            assert_eq!(outcome.status, Some(0), "{}", outcome.err);
            outcome.err.contains("warning: link `link` has ")
        };
        assert!(told(&["--rate", "10000 Gbit/s"]));
        assert!(!told(&["--rate", "1 Mbit/s"]));
        // Of two places without a rate nobody has asked for one.
        assert!(!told(&[]));
    }
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

[links]
satellite = { ends = ["station", "core"], addresses = ["10.1.0.1", "10.1.0.2"], rate = "20 Mbit/s", delay = "12 ms" }
backup = { ends = ["station", "core"], addresses = ["fd00::1", "fd00::2"], rate = "2 Mbit/s", delay = "3 ms" }
radio = { ends = ["phone", "core"], addresses = ["10.2.0.1", "10.2.0.2"], rate = "50 Mbit/s", delay = "1 ms" }
radio-6 = { ends = ["phone", "core"], addresses = ["fd00:1::1", "fd00:1::2"], rate = "50 Mbit/s", delay = "1 ms" }
"#;

/// A router between two places, and a link that loses half.
const RESULTS: &str = r#"
[scenario]
name = "results"
duration = "1 h"

[nodes]
near.kind = "attached"
far.kind = "attached"
router.kind = "router"

[links]
link = { ends = ["near", "router"], rate = "1 Gbit/s", delay = "1 ms", loss = "50 %" }
exit = { ends = ["router", "far"], rate = "1 Gbit/s", delay = "1 ms" }
"#;

#[test]
fn the_kernel_has_the_buffers_of_its_node() {
    for caller in Caller::all("emulate-buffers") {
        let outcome = caller.run(&[
            "--delay",
            "250 ms",
            "--rate",
            "1 Gbit/s",
            "--set",
            "nodes.near.tcp_wmem=8 MiB",
            "--set",
            "nodes.near.tcp_rmem=64 KiB",
            "--",
            "cat",
            "/proc/sys/net/ipv4/tcp_wmem",
            "/proc/sys/net/ipv4/tcp_rmem",
        ]);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        assert_eq!(outcome.out, "near: 4096\t16384\t8388608\nnear: 4096\t65536\t65536\n");
        for told in ["the way from `near` to `far` holds 62.5 MB", "`tcp_wmem` keeps 8 MiB of a connection"] {
            assert!(outcome.err.contains(told), "{}", outcome.err);
        }
    }
}

/// A place beside a host that serves.
const SERVED: &str = r#"
[scenario]
name = "served"
duration = "1 h"

[nodes]
phone.kind = "attached"
server = { kind = "host", serve = ["echo", "discard", "chargen"] }

[links]
four = { ends = ["phone", "server"], addresses = ["10.2.0.1", "10.2.0.2"], rate = "100 Mbit/s", delay = "2 ms" }
six = { ends = ["phone", "server"], addresses = ["fd00:1::1", "fd00:1::2"], rate = "100 Mbit/s", delay = "2 ms" }
"#;

/// The kernel's own TCP and UDP against ours: everything comes back, whoever reads late is waited for, and ports are
/// open or refused.
const ASK_SERVICES: &str = r"
import os, socket, struct, threading
socket.setdefaulttimeout(30)
CYCLE = b''.join(bytes(32 + (line + at) % 95 for at in range(72)) + b'\r\n' for line in range(95))
def read(s, most):
    came = bytearray()
    while len(came) < most:
        piece = s.recv(65536)
        if not piece:
            break
        came += piece
    return bytes(came)
for host in ('10.2.0.2', 'fd00:1::2'):
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    def datagrams(port):
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.connect((host, port))
        return s
    s = datagrams(7)
    for size in (0, 1, 1400, 5000):
        data = os.urandom(size)
        s.send(data)
        assert s.recv(65536) == data, size
    s = datagrams(19)
    s.send(b'?')
    assert s.recv(65536) in CYCLE
    s = datagrams(4000)
    s.send(b'?')
    try:
        s.recv(1)
        raise SystemExit('nobody is there')
    except ConnectionRefusedError:
        pass
    # More than all buffers hold, of which nothing is read before it waits.
    s = socket.create_connection((host, 7))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    data = os.urandom(300000)
    def send():
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    sender = threading.Thread(target=send)
    sender.start()
    assert read(s, len(data) + 1) == data
    sender.join()
    s = socket.create_connection((host, 9))
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    assert s.recv(1) == b''
    s = socket.create_connection((host, 19))
    came = read(s, 300000)
    assert came == (CYCLE * 60)[:len(came)]
    s.shutdown(socket.SHUT_WR)
    while s.recv(65536):
        pass
    # A reset in the middle, and a scan.
    s = socket.create_connection((host, 19))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()
    found = []
    for port in range(1, 100):
        s = socket.socket(family)
        if s.connect_ex((host, port)) == 0:
            found.append(port)
        s.close()
    assert found == [7, 9, 19], found
    many = [socket.create_connection((host, 7)) for _ in range(100)]
    for number, s in enumerate(many):
        s.sendall(b'%d\n' % number)
    for number, s in enumerate(many):
        told = b'%d\n' % number
        assert read(s, len(told)) == told
    print(host, 'serves', flush=True)
";

#[test]
fn a_simulated_host_serves_programs() {
    for caller in Caller::all("emulate-served") {
        let name = caller.place.path().join("served.toml").display().to_string();
        if caller.copy.is_some()
            && Command::new("true").current_dir(caller.place.path()).uid(NOBODY).status().is_err()
        {
            // The directory of the tests may be closed to others.
            continue;
        }
        caller.place.write("served.toml", SERVED);
        let program = format!("exec python3 -c \"{ASK_SERVICES}\"");
        let outcome = caller.run(&[&name, "--in", "phone", &program]);
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        for told in ["phone: 10.2.0.2 serves\n", "phone: fd00:1::2 serves\n"] {
            assert!(outcome.out.contains(told), "{}", outcome.out);
        }
    }
}
