//! SCTP between two network namespaces over a pair of virtual links: ours and usrsctp in either role, each end a
//! process; what a message costs each end, and beside it what the system takes for writing the packets alone.
//!
//! Needs root. usrsctp is left out where Debian's `libusrsctp-dev` is not installed.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark prints its figures, lasts in real time and stops at the first surprise"
)]

mod end;
mod ratios;
mod sending;
mod usage;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use end::{CROWDS, Task};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use usage::{Usage, run};

/// Whose SCTP an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stack {
    Slantpath,
    Usrsctp,
}

impl Stack {
    const fn name(self) -> &'static str {
        match self {
            Self::Slantpath => "slantpath",
            Self::Usrsctp => "usrsctp",
        }
    }
}

/// Cost of a message to the sender and the receiver.
struct Pair {
    stacks: [Stack; 2],
    usage: [Usage; 2],
}

const MESSAGES: u64 = 100_000;
/// So many times as many where a fifth decides.
const MANY: u64 = 5;
const LENGTH: usize = 1_000;
/// RFC 9260's: at least every second packet is acknowledged.
const SACK_FREQUENCY: u32 = 2;
const ADDRESSES: [&str; 2] = ["10.9.0.1", "10.9.0.2"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == "end") {
        Task::read(&words[1..]).run();
        return ExitCode::SUCCESS;
    }
    if !nix::unistd::geteuid().is_root() {
        println!("live: network namespaces need root: left out");
        return ExitCode::SUCCESS;
    }
    let link = Link::new();
    if words.first().is_some_and(|word| word == "many") {
        many(&link);
        return ExitCode::SUCCESS;
    }
    if words.first().is_some_and(|word| word == "sending") {
        sending::measure(&link, MANY * MESSAGES);
        return ExitCode::SUCCESS;
    }
    let usrsctp = build_usrsctp();
    let messages = words.first().map_or(MESSAGES, |word| word.parse().unwrap());
    for udp_port in [0, 9_899] {
        // Odd, for a median. usrsctp takes its time to connect a thousand times.
        for (associations, rounds) in [(1, 3), (1_000, 1)] {
            let pairs = measure(&link, usrsctp.as_deref(), messages, associations, udp_port, rounds);
            ratios::print_roles(&pairs);
        }
    }
    sending::measure(&link, MANY * messages);
    many(&link);
    ExitCode::SUCCESS
}

/// A server of very many associations.
fn many(link: &Link) {
    println!("a server of associations in UDP, 20,000 messages a second over all of them, heartbeats beside");
    println!("with {}={}", HUGE_PAGES.0, HUGE_PAGES.1);
    for (sack_frequency, acknowledged) in [(2, "as RFC 9260 asks"), (1, "one by one, at once")] {
        println!("acknowledged {acknowledged}");
        println!(
            "{:<24} {:>9} {:>8} {:>20} {:>12}",
            "associations", "a message", "system", "bytes an association", "packets sent"
        );
        let servers = [500, 5_000, 50_000].map(|each| crowd(link, each, sack_frequency));
        ratios::print_crowds(&servers[0], &servers[2]);
    }
}

/// All pairs of ends.
fn measure(
    link: &Link,
    usrsctp: Option<&Path>,
    messages: u64,
    associations: u16,
    udp_port: u16,
    count: usize,
) -> Vec<Pair> {
    let carriage = if udp_port == 0 { "IP" } else { "UDP" };
    println!(
        "{messages} messages of {LENGTH} bytes in {carriage}, {associations} associations: CPU microseconds a message"
    );
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "sender to receiver", "sender", "system", "receiver", "system", "messages/s", "calls", "calls"
    );
    let ours = std::env::current_exe().unwrap();
    let mut stacks = vec![(Stack::Slantpath, ours.as_path())];
    stacks.extend(usrsctp.map(|program| (Stack::Usrsctp, program)));
    let mut pairs = Vec::new();
    for &sender in &stacks {
        pairs.extend(stacks.iter().map(|&receiver| (sender, receiver)));
    }
    let mut measured = Vec::new();
    for (sender, receiver) in pairs {
        let task = |role: &str, end: usize| Task {
            role: role.to_owned(),
            local: ADDRESSES[end].parse().unwrap(),
            peer: ADDRESSES[1 - end].parse().unwrap(),
            port: 5_000,
            associations,
            messages,
            length: LENGTH,
            udp_port,
            sack_frequency: SACK_FREQUENCY,
            rate: 0,
        };
        let (send, receive) = (task("send", 0), task("receive", 1));
        let mut rounds: Vec<[Usage; 2]> =
            (0..count).map(|_| link.exchange((sender, &send), (receiver, &receive))).collect();
        let mut median = |end: usize| {
            rounds.sort_by(|a, b| a[end].micros().total_cmp(&b[end].micros()));
            rounds[count / 2][end]
        };
        let (from, to) = (median(0), median(1));
        let calls = |usage: &Usage| {
            usage.calls.map_or_else(|| "-".to_owned(), |calls| format!("{:.3}", calls / usage.messages))
        };
        println!(
            "{:<24} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>10.0} {:>8} {:>8}",
            format!("{} to {}", sender.0.name(), receiver.0.name()),
            from.micros(),
            from.system_micros(),
            to.micros(),
            to.system_micros(),
            from.messages / from.seconds,
            calls(&from),
            calls(&to)
        );
        measured.push(Pair { stacks: [sender.0, receiver.0], usage: [from, to] });
    }
    measured
}

/// A server with so many associations of each part of a crowd. Of many each has messages so far apart that the server
/// acknowledges them one by one, after SACK.Delay: with a SACK for each packet at once that is no difference.
fn crowd(link: &Link, each: u16, sack_frequency: u32) -> Usage {
    let ours = std::env::current_exe().unwrap();
    let ours = (Stack::Slantpath, ours.as_path());
    let task = |role: &str, local: &str, peer: &str, messages| Task {
        role: role.to_owned(),
        local: local.parse().unwrap(),
        peer: peer.parse().unwrap(),
        associations: each,
        messages,
        udp_port: 9_899,
        sack_frequency,
        ..bare(0)
    };
    let mut server = link.start(1, ours, &task("serve", ADDRESSES[1], ADDRESSES[0], SERVED));
    server.line();
    let mut parts: Vec<End> = CROWD_ADDRESSES
        .iter()
        .map(|own| link.start(0, ours, &task("crowd", own, ADDRESSES[1], RATE)))
        .collect();
    let held = server.line();
    let usage = server.usage();
    parts.iter_mut().for_each(End::kill);
    let all = usize::from(each) * CROWD_ADDRESSES.len();
    let (micros, system) = (usage.micros(), usage.system_micros());
    let packets = usage.packets.unwrap() / usage.messages;
    println!("{all:<24} {micros:>9.2} {system:>8.2} {:>20} {packets:>12.2}", held.trim());
    usage
}

/// Environment variable of a server with very many associations (`docs/live.md`): its allocator asks for huge pages.
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
/// All words of a task but how SACKs are sent.
const USRSCTP_WORDS: usize = 8;
/// One for each program of a crowd.
const CROWD_ADDRESSES: [&str; CROWDS] = [ADDRESSES[0], "10.9.0.3"];
/// Messages a second of each.
const RATE: u64 = 10_000;
/// Messages that are measured: 33 s, so that each association has a HEARTBEAT among them, which come HB.interval and an
/// RTO after each other.
const SERVED: u64 = 660_000;

fn bare(messages: u64) -> Task {
    Task {
        role: String::new(),
        local: ADDRESSES[0].parse().unwrap(),
        peer: ADDRESSES[1].parse().unwrap(),
        port: 5_000,
        associations: 1,
        messages,
        length: LENGTH,
        udp_port: 0,
        sack_frequency: SACK_FREQUENCY,
        rate: 0,
    }
}

fn build_usrsctp() -> Option<PathBuf> {
    if !Path::new("/usr/include/usrsctp.h").exists() {
        println!("usrsctp is left out: apt-get install libusrsctp-dev");
        return None;
    }
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sctp-load-usrsctp");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/sctp-sockets/load.c");
    let [source, output] = [&source, &program].map(|path| path.to_str().unwrap());
    run("cc", &["-O2", source, "-o", output, "-lusrsctp", "-lpthread"]);
    Some(program)
}

/// Two namespaces with a link between them; they go with their value.
struct Link {
    names: [String; 2],
    /// A kernel answers what finds no room with "protocol unreachable", which ends associations, unless somebody drops
    /// it.
    _at_home: Vec<Socket>,
}

impl Link {
    fn new() -> Self {
        let own = std::process::id();
        let names = ["a", "b"].map(|end| format!("sp-bench-{own}-{end}"));
        for name in &names {
            run("ip", &["netns", "add", name]);
            run("ip", &["-n", name, "link", "set", "lo", "up"]);
        }
        let [first, second] = &names;
        run(
            "ip",
            &["link", "add", "v0", "netns", first, "type", "veth", "peer", "name", "v0", "netns", second],
        );
        for (name, address) in names.iter().zip(ADDRESSES) {
            run("ip", &["-n", name, "address", "add", &format!("{address}/24"), "dev", "v0"]);
            run("ip", &["-n", name, "link", "set", "v0", "up"]);
        }
        for more in &CROWD_ADDRESSES[1..] {
            run("ip", &["-n", first, "address", "add", &format!("{more}/24"), "dev", "v0"]);
        }
        let own_namespace = File::open("/proc/thread-self/ns/net").unwrap();
        let at_home = names.iter().map(|name| {
            enter(&File::open(Path::new("/run/netns").join(name)).unwrap());
            let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(132))).unwrap();
            socket.attach_filter(&[SockFilter::new(0x06, 0, 0, 0)]).unwrap();
            socket
        });
        let at_home = at_home.collect();
        enter(&own_namespace);
        Self { names, _at_home: at_home }
    }

    /// Gives the number of packets for which the raw sockets that are open at an end had no room. Packets that a filter
    /// drops are not among them.
    fn dropped(&self, end: usize) -> u64 {
        let words = ["netns", "exec", &self.names[end], "cat", "/proc/net/raw"];
        let output = Command::new("ip").args(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let drops = text.lines().skip(1).map(|line| line.split_whitespace().last().unwrap());
        drops.map(|drops| drops.parse::<u64>().unwrap()).sum()
    }

    /// Sends from one to the other.
    fn exchange(
        &self,
        (sender, send): ((Stack, &Path), &Task),
        (receiver, receive): ((Stack, &Path), &Task),
    ) -> [Usage; 2] {
        let mut receiving = self.start(1, receiver, receive);
        let ready = receiving.line();
        assert!(ready.contains("ready"), "a receiver is not ready: {ready}");
        let sent = self.start(0, sender, send).usage();
        let read = Usage::read(&receiving.line());
        receiving.kill();
        [sent, read]
    }

    fn start(&self, end: usize, (stack, program): (Stack, &Path), task: &Task) -> End {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[end]]).arg(program);
        if stack == Stack::Slantpath {
            command.arg("end");
        }
        if task.role == "serve" {
            command.env(HUGE_PAGES.0, HUGE_PAGES.1);
        }
        let words = task.words();
        // usrsctp's program has its own way with SACKs: every second packet, as RFC 9260 has it.
        let words = if stack == Stack::Usrsctp { &words[..USRSCTP_WORDS] } else { &words[..] };
        let mut child = command.args(words).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        End { child, output }
    }
}

fn enter(namespace: &File) {
    nix::sched::setns(namespace, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
}

impl Drop for Link {
    fn drop(&mut self) {
        for name in &self.names {
            run("ip", &["netns", "del", name]);
        }
    }
}

/// An end that runs.
struct End {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl End {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn usage(mut self) -> Usage {
        let usage = Usage::read(&self.line());
        assert!(self.child.wait().unwrap().success());
        usage
    }
}
