//! `slantpath emulate --relay`: ports of this machine over an emulated network, without namespaces.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::caller::Caller;

/// A run with relays, and the addresses of their ports.
struct Relayed {
    child: Child,
    told: BufReader<ChildStderr>,
    ports: Vec<SocketAddr>,
}

impl Relayed {
    fn start(caller: &Caller, arguments: &[&str]) -> Self {
        Self::of(caller.command(arguments))
    }

    fn of(mut command: Command) -> Self {
        let count = command.get_args().filter(|argument| *argument == "--relay").count();
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut told = BufReader::new(child.stderr.take().expect("its error stream"));
        let mut ports = Vec::new();
        while ports.len() < count {
            let mut line = String::new();
            assert!(told.read_line(&mut line).expect("a line") > 0, "it has ended: {ports:?}");
            let port = line.strip_prefix("relay: ").and_then(|rest| rest.split(' ').next());
            ports.push(port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line}")));
        }
        Self { child, told, ports }
    }

    /// Ends it as Ctrl-C does. Gives its exit status, and what it said meanwhile.
    fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("`kill` runs").success());
        self.wait()
    }

    fn wait(&mut self) -> (Option<i32>, String) {
        let mut told = String::new();
        self.told.read_to_string(&mut told).expect("its words");
        (self.child.wait().expect("its end").code(), told)
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server of TCP that sends back what comes, until the other half ends. It serves so many peers.
fn echo(peers: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().take(peers) {
            let mut stream = stream.expect("a peer");
            thread::spawn(move || std::io::copy(&mut stream.try_clone().expect("it"), &mut stream));
        }
    });
    address
}

/// A server of UDP that sends back what comes, so many times.
fn echo_datagrams(address: &str, count: usize) -> SocketAddr {
    let socket = UdpSocket::bind(address).expect("a port");
    let address = socket.local_addr().expect("its address");
    thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        for _ in 0..count {
            let (len, from) = socket.recv_from(&mut buffer).expect("a datagram");
            socket.send_to(&buffer[..len], from).expect("it is sent");
        }
    });
    address
}

#[expect(
    clippy::disallowed_types,
    reason = "a delay of the real clock is measured, below which nothing may be"
)]
fn milliseconds_of(act: impl FnOnce()) -> u128 {
    let begin = std::time::Instant::now();
    act();
    begin.elapsed().as_millis()
}

fn asks(port: SocketAddr, datagram: &[u8]) -> Vec<u8> {
    let own = if port.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" };
    let socket = UdpSocket::bind(own).expect("a port");
    socket.set_read_timeout(Some(Duration::from_mins(1))).expect("it has one");
    socket.connect(port).expect("its peer");
    socket.send(datagram).expect("it is sent");
    let mut buffer = vec![0; 65_536];
    let len = socket.recv(&mut buffer).expect("an answer");
    buffer.truncate(len);
    buffer
}

#[test]
fn datagrams_take_the_time_of_the_link_there_and_back_and_keep_their_boundaries() {
    for caller in Caller::each("relay-datagrams") {
        let [v4, v6] = ["127.0.0.1:0", "[::1]:0"].map(|address| echo_datagrams(address, 3));
        let relays = [format!("0:far:{}/udp", v4.port()), format!("[::1]:0:far:{v6}/udp")];
        let relayed =
            Relayed::start(&caller, &["--delay", "40 ms", "--relay", &relays[0], "--relay", &relays[1]]);
        for port in relayed.ports.clone() {
            let took = milliseconds_of(|| assert_eq!(asks(port, b"hello"), b"hello"));
            assert!(took >= 80, "{took} ms");
            // An empty one, and one that IP cuts.
            assert_eq!(asks(port, b""), b"");
            let long: Vec<u8> = (0..40_000_u32).map(|place| place.to_le_bytes()[0]).collect();
            assert_eq!(asks(port, &long), long);
        }
        let (status, told) = relayed.interrupt();
        assert_eq!(status, Some(0), "{told}");
        // 40,000 bytes are 28 fragments: there and back by both relays.
        assert!(told.contains("near at `link`: 60 packets from it, 60 to it, late by "), "{told}");
    }
}

#[test]
fn a_megabyte_crosses_whole_and_halves_end_by_themselves() {
    for caller in Caller::each("relay-stream") {
        let server = echo(20);
        let relay = format!("0:far:{}", server.port());
        let relayed =
            Relayed::start(&caller, &["--delay", "10 ms", "--rate", "100 Mbit/s", "--relay", &relay]);
        let port = relayed.ports[0];
        let crosses = move |count: u32| {
            let sent: Vec<u8> = (0..count).map(|place| (place % 251).to_le_bytes()[0]).collect();
            let mut stream = TcpStream::connect(port).expect("the port");
            let mut writing = stream.try_clone().expect("it");
            let to_write = sent.clone();
            let writer = thread::spawn(move || {
                writing.write_all(&to_write).expect("it takes all");
                writing.shutdown(Shutdown::Write).expect("it is up");
            });
            let mut received = Vec::new();
            stream.read_to_end(&mut received).expect("an end in order");
            writer.join().expect("it writes all");
            assert!(received == sent, "{} of {count} bytes", received.len());
        };
        crosses(1_000_000);
        let others: Vec<_> = (0..19).map(|number| thread::spawn(move || crosses(number * 1_000))).collect();
        for other in others {
            other.join().expect("it crosses");
        }
        let (status, told) = relayed.interrupt();
        assert_eq!(status, Some(0), "{told}");
        assert!(told.contains("20 connections, 0 of them ended by a reset"), "{told}");
        assert!(told.starts_with("a relay of TCP is three connections"), "{told}");
    }
}

#[test]
fn a_low_limit_of_descriptors_is_raised_for_connections_and_not_for_the_program() {
    const COUNT: usize = 100;
    let Some(caller) = Caller::each("relay-descriptors").into_iter().next() else { return };
    let server = echo(COUNT);
    let relay = format!("0:far:{}", server.port());
    // Each connection takes two.
    let of_program = "ulimit -Sn >&2; exec tail -f /dev/null";
    let plain = caller.command(&["--relay", &relay, "--", "sh", "-c", of_program]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -Sn 64 && exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args());
    let mut relayed = Relayed::of(limited);
    // Behind what a relay of TCP is, the program tells its own limit.
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        relayed.told.read_line(line).expect("a line");
    }
    assert_eq!(lines[1], "64\n");
    let call = || TcpStream::connect(relayed.ports[0]).expect("the port");
    let mut streams: Vec<_> = (0..COUNT).map(|_| call()).collect();
    for stream in &mut streams {
        stream.write_all(b"hello").expect("it is taken");
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 5]).expect("an echo");
    }
    drop(streams);
    let (status, told) = relayed.interrupt();
    assert_eq!(status, Some(130), "{told}");
}

#[test]
fn a_server_that_is_absent_and_one_that_breaks_off_reset_the_program() {
    let Some(caller) = Caller::each("relay-reset").into_iter().next() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let [there, absent] = [listener.local_addr().expect("its address").port(), 1];
    let relays = [there, absent].map(|port| format!("0:far:{port}"));
    let relayed = Relayed::start(&caller, &["--delay", "5 ms", "--relay", &relays[0], "--relay", &relays[1]]);
    let breaks_off = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a peer");
        stream.read_exact(&mut [0; 1]).expect("a byte");
        // More lies unread: the system says so by a reset.
    });
    for port in relayed.ports.clone() {
        let mut stream = TcpStream::connect(port).expect("the port");
        stream.write_all(&[0; 10_000]).expect("it is taken");
        let error = stream.read(&mut [0; 1]).expect_err("a reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    breaks_off.join().expect("it has a peer");
    let (status, told) = relayed.interrupt();
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("2 connections, 2 of them ended by a reset"), "{told}");
}

#[test]
fn the_program_behind_it_runs_as_it_is_and_gives_the_status() {
    let Some(caller) = Caller::each("relay-program").into_iter().next() else { return };
    let outcome = caller.run(&["--relay", "0:far:7", "--", "sh", "-c", "echo here; exit 7"]);
    assert_eq!((outcome.status, &*outcome.out), (Some(7), "here\n"), "{}", outcome.err);
    let outcome = caller.run(&["--relay", "0:far:7", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(outcome.status, Some(128 + 9), "{}", outcome.err);
    let outcome = caller.run(&["--relay", "0:far:7", "--", "/nowhere/to-be-found"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("cannot start `/nowhere/to-be-found`"), "{}", outcome.err);
    // It is asked to end with the run, and has time to.
    let waits = "trap 'kill $!; echo asked >&2; exit 0' TERM; tail -f /dev/null & echo ready >&2; wait";
    let mut relayed = Relayed::start(&caller, &["--relay", "0:far:7/udp", "--", "sh", "-c", waits]);
    let mut ready = String::new();
    relayed.told.read_line(&mut ready).expect("a line");
    assert_eq!(ready, "ready\n");
    let (status, told) = relayed.interrupt();
    assert_eq!(status, Some(130), "{told}");
    assert!(told.contains("asked\n"), "{told}");
}

#[test]
fn a_simulated_host_serves_and_the_run_is_recorded_controlled_and_told() {
    let Some(caller) = Caller::each("relay-record").into_iter().next() else { return };
    caller.place.write("lab.toml", LAB);
    let relays = ["0:phone:server:7", "0:phone:server:7/udp"];
    let mut relayed = Relayed::start(
        &caller,
        &[
            "lab.toml",
            "--relay",
            relays[0],
            "--relay",
            relays[1],
            "--record",
            "run.rec",
            "--out",
            "out",
            "--control",
            "control",
        ],
    );
    assert_eq!(asks(relayed.ports[1], b"hello"), b"hello");
    let mut stream = TcpStream::connect(relayed.ports[0]).expect("the port");
    stream.write_all(b"hello").expect("it is taken");
    stream.read_exact(&mut [0; 5]).expect("an echo");
    let status = caller.place.run(&["set", "control", "--status"]);
    assert!(status.out.contains("phone"), "{}{}", status.out, status.err);
    assert_eq!(caller.place.run(&["set", "control", "links.access.loss", "50 %"]).status, Some(0));
    assert_eq!(caller.place.run(&["set", "control", "--stop"]).status, Some(0));
    let (status, told) = relayed.wait();
    assert_eq!(status, Some(0), "{told}");
    assert!(caller.place.names().contains(&"out".to_owned()));
    assert!(caller.place.files("out").iter().any(|(name, _)| name.starts_with("attached_interfaces")));
    let replayed = caller.place.run(&["replay", "run.rec"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("the same"), "{}", replayed.out);
}

#[test]
fn clients_hear_at_which_node_the_program_that_ended_enters() {
    let Some(caller) = Caller::each("relay-events").into_iter().next() else { return };
    caller.place.write("lab.toml", LAB);
    let waits = "until [ -e go ]; do sleep 0.01; done; exit 7";
    let mut relayed = Relayed::start(
        &caller,
        &["lab.toml", "--relay", "0:phone:server:7", "--control", "control", "--", "sh", "-c", waits],
    );
    let mut client = UnixStream::connect(caller.place.path().join("control")).expect("a client");
    client.write_all(b"{\"events\":true}\n").expect("it is asked");
    client.read_exact(&mut [0; 12]).expect("an answer");
    caller.place.write("go", "");
    let (status, told) = relayed.wait();
    assert_eq!(status, Some(7), "{told}");
    let mut events = String::new();
    client.read_to_string(&mut events).expect("events");
    assert!(events.contains("\"node\":\"phone\",\"status\":7"), "{events}");
}

const LAB: &str = r#"
[scenario]
name = "lab"
duration = "1 s"

[nodes]
phone.kind = "attached"
server = { kind = "host", serve = "echo" }

[links.access]
ends = ["phone", "server"]
rate = "10 Mbit/s"
delay = "5 ms"
"#;

#[test]
fn what_cannot_be_relayed_is_told_with_its_cure() {
    let Some(caller) = Caller::each("relay-wrong").into_iter().next() else { return };
    caller.place.write("lab.toml", LAB);
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let in_use = format!("{}:far:7/udp", taken.local_addr().expect("its address").port());
    for (status, arguments, told) in [
        (2, &["--relay", "5000:far"][..], "--relay 5000:far: write a port of this machine"),
        (2, &["--relay", "5000:fra:6000"], "there is no node `fra`: did you mean `far`?"),
        (2, &["--relay", "5000:nera:far:6000"], "there is no attached node `nera`: did you mean `near`?"),
        (2, &["--relay", "5000:far:0"], "a server has a port from 1 to 65535"),
        (2, &["lab.toml", "--relay", "5000:server:7"], "like `5000:NODE:server:6000`"),
        (1, &["lab.toml", "--relay", "5000:phone:server:10.0.0.1:7"], "`server` is simulated"),
        (1, &["--relay", "0:far:7", "--relay", "0:far:10.9.9.9:7"], "cannot be that of two servers"),
        (1, &["--relay", &in_use], "in use"),
        (2, &["--relay", "0:far:7", "--in", "far", "true"], "cannot be used with"),
    ] {
        let outcome = caller.run(arguments);
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{arguments:?}: {}", outcome.err);
    }
}
