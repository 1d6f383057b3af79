//! A Linux kernel's own TCP or SCTP as the peer of a test, by `peers/linux-ecn/relay.py`, which also tells the time:
//! the test itself reads no clock.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use slantpath_base::{Duration, Instant, Seed};
use slantpath_wire::ip::{Ecn, Envelope, Fragmentation, IpFields, IpHeader};
use slantpath_wire::{Checksum, Packet};

use crate::{Wire, WireFaults, skip};

/// Task of the kernel's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelProgram {
    /// Listens on port 5000, and receives until the test closes.
    Receives,
    /// Calls port 5000, sends so many bytes (by SCTP in messages of 1,000) and closes.
    Sends(u32),
}

/// One kernel, and one connection or association of it.
#[derive(Debug)]
pub struct KernelPeer {
    relay: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl KernelPeer {
    /// The test's own address.
    pub const OURS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 82, 0, 1));
    /// Address of the kernel.
    pub const THEIRS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 82, 0, 2));
    /// The port of who listens.
    pub const PORT: u16 = 5_000;

    /// The TCP of the kernel that this runs on, with this value of `net.ipv4.tcp_ecn`; nothing, loudly, where
    /// root or a TUN device is missing.
    ///
    /// # Panics
    /// If it does not come up all the same.
    pub fn tcp(program: KernelProgram, ecn: u8) -> Option<Self> {
        Self::start("tcp", program, ecn, &[])
    }

    /// The SCTP of a guest's kernel, with this value of `net.sctp.ecn_enable`; nothing, loudly, where root, a TUN
    /// device, User-Mode Linux or the scripts that start the guest, `shared/peers/linux-sctp`, are missing.
    ///
    /// # Panics
    /// If it does not come up all the same.
    pub fn sctp(program: KernelProgram, ecn: u8) -> Option<Self> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/peers/linux-sctp");
        let Ok(scripts) = scripts.canonicalize() else {
            skip("there is no shared peers/linux-sctp here");
            return None;
        };
        Self::start("sctp", program, ecn, &[scripts.to_str().expect("a path of text")])
    }

    fn start(protocol: &str, program: KernelProgram, ecn: u8, more: &[&str]) -> Option<Self> {
        let (what, bytes) = match program {
            KernelProgram::Receives => ("receive", 0),
            KernelProgram::Sends(bytes) => ("send", bytes),
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/linux-ecn/relay.py");
        let started = Command::new("python3")
            .arg(script)
            .args([protocol, what, &bytes.to_string(), &ecn.to_string()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut relay = match started {
            Ok(relay) => relay,
            Err(error) => {
                skip(&format!("python3: {error}"));
                return None;
            }
        };
        let requests = relay.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(relay.stdout.take().expect("a pipe"));
        let mut line = String::new();
        answers.read_line(&mut line).expect("a line of text");
        match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("up", _) => Some(Self { relay, requests, answers }),
            ("skip", reason) => {
                skip(reason);
                relay.wait().expect("a process that ends");
                None
            }
            _ => panic!("the relay did not come up: {line:?}"),
        }
    }

    /// Hands packets, IP header and all, to the kernel, waits for at most so long until it sends some, and returns
    /// those with the time.
    ///
    /// # Panics
    /// If the relay has ended.
    pub fn exchange(&mut self, packets: &[Vec<u8>], wait: Duration) -> (Instant, Vec<Vec<u8>>) {
        let mut request = wait.as_nanos().to_ne_bytes().to_vec();
        let length = |of: usize| u32::try_from(of).expect("a small number").to_ne_bytes();
        request.extend(length(packets.len()));
        for packet in packets {
            request.extend(length(packet.len()));
            request.extend(packet);
        }
        self.requests.write_all(&request).expect("the relay listens");
        self.requests.flush().expect("the relay listens");
        let now = u64::from_ne_bytes(self.read(8).try_into().expect("eight bytes"));
        let packets = (0..self.number()).map(|_| {
            let len = self.number();
            self.read(len as usize)
        });
        (Instant::from_nanos(now), packets.collect())
    }

    /// Ends it, and returns what the kernel has counted, by the names of `/proc/net/netstat` and `/proc/net/snmp` with
    /// the table in front (`IpExtInCEPkts`), and how many bytes its program `received`.
    ///
    /// # Panics
    /// If the program has not ended by then.
    pub fn end(self) -> BTreeMap<String, u64> {
        let Self { mut relay, requests, mut answers } = self;
        drop(requests);
        let mut text = String::new();
        answers.read_to_string(&mut text).expect("lines of text");
        assert!(relay.wait().expect("a process that ends").success(), "the kernel's program has not ended");
        let count = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        text.lines().filter_map(count).collect()
    }

    fn number(&mut self) -> u32 {
        u32::from_ne_bytes(self.read(4).try_into().expect("four bytes"))
    }

    fn read(&mut self, len: usize) -> Vec<u8> {
        let mut octets = vec![0; len];
        self.answers.read_exact(&mut octets).expect("the relay answers");
        octets
    }
}

/// Sender on a [`KernelLink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelEnd {
    /// The stack under test.
    Ours,
    /// Stack of the kernel.
    Theirs,
}

/// A packet at one end of the link, as it left there or as it came.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Sender of the packet.
    pub from: KernelEnd,
    /// True if the packet has come, at the other end.
    pub has_come: bool,
    /// Instant at which the packet left or came.
    pub at: Instant,
    /// IP header of the packet.
    pub header: IpHeader,
    /// Bytes behind the IP header.
    pub payload: Vec<u8>,
}

impl Passage {
    /// ECN field of its header.
    pub const fn ecn(&self) -> Ecn {
        IpFields::of(&self.header).ecn
    }
}

/// Treatment by the link of the packets of one end: marks and losses. Packets are told by their numbers, from zero,
/// among those that may be marked.
#[derive(Clone, Debug, Default)]
pub struct LinkTreatment {
    /// These get a mark.
    pub marked: Vec<usize>,
    /// These are lost.
    pub lost: Vec<usize>,
}

/// A link that delays, marks and loses between the stack under test and a kernel.
#[derive(Debug)]
pub struct KernelLink {
    kernel: KernelPeer,
    /// From ours, from theirs.
    wires: [Wire<Vec<u8>>; 2],
    treatments: [LinkTreatment; 2],
    markable: [usize; 2],
    now: Instant,
    /// All that has passed either end, in order of time.
    pub passages: Vec<Passage>,
}

impl KernelLink {
    /// A link to this kernel with this delay either way; what it does to packets of ours and of theirs.
    pub fn new(kernel: KernelPeer, one_way: Duration, treatments: [LinkTreatment; 2]) -> Self {
        let wire = |name| Wire::new(WireFaults::none(one_way), Seed::new(1, 0).stream(name));
        let wires = [wire("from ours"), wire("from theirs")];
        Self { kernel, wires, treatments, markable: [0; 2], now: Instant::START, passages: Vec::new() }
    }

    /// The kernel's time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Sends a packet of ours.
    ///
    /// # Panics
    /// If it is too long for IP.
    pub fn send(&mut self, envelope: &Envelope, protocol: u8, packet: &Packet) {
        let header = IpHeader {
            source: envelope.source,
            destination: envelope.destination,
            protocol,
            hop_limit: envelope.fields.hop_limit,
            traffic_class: envelope.fields.traffic_class(),
            payload_len: u16::try_from(packet.len()).expect("a packet that IP can carry"),
            fragmentation: Fragmentation::Forbidden,
        };
        self.put(KernelEnd::Ours, header, &packet.contiguous());
    }

    /// Lets time pass until something comes for us or `deadline` is due, for a second at most.
    ///
    /// # Panics
    /// If the kernel sends what is no IP packet.
    pub fn turn(&mut self, deadline: Option<Instant>) {
        let mut for_kernel = Vec::new();
        while let Some(octets) = self.wires[0].receive(self.now) {
            self.note(KernelEnd::Ours, true, &octets);
            for_kernel.push(octets);
        }
        let next = [deadline, self.wires[0].next_arrival(), self.wires[1].next_arrival()];
        let wait = next.into_iter().flatten().map(|at| at.saturating_since(self.now));
        let wait = wait.min().unwrap_or(Self::LONGEST_WAIT).min(Self::LONGEST_WAIT);
        let (now, of_kernel) = self.kernel.exchange(&for_kernel, wait);
        self.now = now;
        for octets in of_kernel {
            let (header, len) = IpHeader::parse(&octets).expect("an IP packet");
            self.put(KernelEnd::Theirs, header, &octets[len..]);
        }
    }

    /// The next packet that has come for us.
    pub fn receive(&mut self) -> Option<(Envelope, Packet)> {
        let octets = self.wires[1].receive(self.now)?;
        let header = self.note(KernelEnd::Theirs, true, &octets);
        let (source, destination) = (header.source, header.destination);
        let packet = Packet::copied(&octets[header.header_len()..], Checksum::Complete);
        Some((Envelope { source, destination, fields: IpFields::of(&header) }, packet))
    }

    const LONGEST_WAIT: Duration = Duration::from_secs(1);

    /// Ends the kernel's side; returns what it has counted and all that has passed either end.
    pub fn end(self) -> (BTreeMap<String, u64>, Vec<Passage>) {
        (self.kernel.end(), self.passages)
    }

    fn put(&mut self, from: KernelEnd, mut header: IpHeader, payload: &[u8]) {
        let whole = |header: &IpHeader| {
            let mut octets = vec![0; header.header_len()];
            header.emit(&mut octets);
            octets.extend(payload);
            octets
        };
        self.note(from, false, &whole(&header));
        if header.traffic_class & 3 != 0 {
            let number = self.markable[from as usize];
            self.markable[from as usize] += 1;
            let treatment = &self.treatments[from as usize];
            if treatment.lost.contains(&number) {
                return;
            }
            if treatment.marked.contains(&number) {
                header.traffic_class |= 3;
            }
        }
        let octets = whole(&header);
        self.wires[from as usize].send(self.now, octets);
    }

    fn note(&mut self, from: KernelEnd, has_come: bool, octets: &[u8]) -> IpHeader {
        let (header, len) = IpHeader::parse(octets).expect("an IP packet");
        let payload = octets[len..].to_vec();
        self.passages.push(Passage { from, has_come, at: self.now, header, payload });
        header
    }
}
