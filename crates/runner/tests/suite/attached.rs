//! Runs whose attached nodes are outside: what comes takes its way, what is for them leaves when it should, and what
//! stands in their place in a run is a host.

use std::io;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_net::InterfaceId;
use slantpath_runner::{
    Attachment, InterfaceCounts, InterfaceReport, Outside, RunOptions, RunOutput, Scenario, Turn, files_in,
    run, run_attached_without_records,
};
use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Packet};

use crate::cells::cells;

/// Two attached nodes and a host around a router. A byte takes 8 µs.
const LAB: &str = r#"
[scenario]
name = "lab"
duration = "10 s"

[nodes]
near.kind = "attached"
far.kind = "attached"
server.kind = "host"
router.kind = "router"

[links.access]
ends = ["near", "router"]
addresses = ["NET1.1", "NET1.2"]
rate = "1 Mbit/s"
delay = "100 ms"

[links.core]
ends = ["router", "far"]
addresses = ["NET2.1", "NET2.2"]
rate = "1 Mbit/s"
delay = "50 ms"

[links.local]
ends = ["router", "server"]
addresses = ["NET3.1", "NET3.2"]
rate = "1 Mbit/s"
delay = "5 ms"

[flows.left-out]
from = "near"
to = "server"
start = "1 s"
transport = "tcp"
application = { kind = "bulk", message_size = "1 kB", total = "20 kB" }
"#;

/// Networks of the lab, by the version of IP.
const NETS: [[&str; 3]; 2] = [["10.1.0", "10.2.0", "10.3.0"], ["fd00:1:", "fd00:2:", "fd00:3:"]];

fn lab(version: usize, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let mut text = LAB.to_owned();
    for (place, net) in NETS[version].into_iter().enumerate() {
        let dot = if version == 0 { "." } else { ":" };
        text = text.replace(&format!("NET{}.", place + 1), &format!("{net}{dot}").replace(":::", "::"));
    }
    Scenario::parse("lab.toml", &text, &overrides, files_in(".".as_ref())).unwrap()
}

/// The address of a host in one of the networks.
fn address(version: usize, net: usize, host: u8) -> IpAddr {
    let text =
        if version == 0 { format!("{}.{host}", NETS[0][net]) } else { format!("{}:{host}", NETS[1][net]) };
    text.parse().unwrap()
}

/// Outside that plays a list of packets, each with its instant and the place of its interface.
struct Played {
    coming: Vec<(Instant, usize, Vec<u8>)>,
    gone: Vec<(Instant, usize, Vec<u8>)>,
    attachments: Vec<Attachment>,
    end: Instant,
    /// Length of a turn, which changes nothing.
    turn: Duration,
    /// Tells of packets in the turn after their own.
    is_late: bool,
}

impl Played {
    fn new(coming: Vec<(Instant, usize, Vec<u8>)>) -> Self {
        let (end, turn) = (Instant::from_secs(5), Duration::from_millis(40));
        Self { coming, gone: Vec::new(), attachments: Vec::new(), end, turn, is_late: false }
    }

    fn interfaces(&self) -> Vec<InterfaceId> {
        self.attachments.iter().flat_map(|node| node.interfaces.iter().map(|own| own.id)).collect()
    }

    fn run(&mut self, scenario: &Scenario) -> RunOutput {
        run_attached_without_records(scenario, &RunOptions::default(), self).unwrap()
    }
}

impl Outside for Played {
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        self.attachments = attachments.to_vec();
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        if turn.now >= self.end {
            return Ok(None);
        }
        let until = (turn.now + self.turn).min(self.end);
        let interfaces = self.interfaces();
        let told = if self.is_late { turn.now } else { until };
        let due = self.coming.iter().take_while(|(at, ..)| *at < told).count();
        for (at, place, packet) in self.coming.drain(..due) {
            turn.inject(at, interfaces[place], packet).unwrap();
        }
        Ok(Some(until))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        let place = self.interfaces().iter().position(|own| *own == interface).unwrap();
        self.gone.push((at, place, packet.observed()));
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let report = |number: u64| InterfaceReport {
            counts: InterfaceCounts {
                packets_in: 10 * number + 1,
                bytes_in: 10 * number + 2,
                packets_out: 10 * number + 3,
                bytes_out: 10 * number + 4,
                late: 10 * number + 5,
                overtaken: 10 * number + 6,
                multicast: 10 * number + 7,
                unreadable: 10 * number + 8,
                unresolved: 10 * number + 9,
                refused: 10 * number + 10,
                lost: 10 * number + 11,
            },
            lateness: Some([1, 2, 3, 4].map(|share| Duration::from_micros(100 * number + share))),
        };
        Ok((1..=self.interfaces().len() as u64).map(report).collect())
    }
}

/// The tables of a run with attached nodes.
pub(crate) fn output() -> RunOutput {
    Played::new(Vec::new()).run(&lab(0, &[]))
}

fn packet(from: IpAddr, to: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let header = IpHeader {
        source: from,
        destination: to,
        protocol,
        hop_limit: 64,
        traffic_class: 0,
        payload_len: u16::try_from(payload.len()).unwrap(),
        fragmentation: Fragmentation::Forbidden,
    };
    let mut bytes = vec![0; header.header_len()];
    header.emit(&mut bytes);
    [&bytes[..], payload].concat()
}

/// A datagram of 125 bytes in all, which takes a millisecond on every link.
pub(crate) fn datagram(from: IpAddr, to: IpAddr, tag: u8) -> Vec<u8> {
    let ip = if from.is_ipv4() { 20 } else { 40 };
    let data = vec![tag; 125 - ip - 8];
    let header = UdpHeader { source_port: 7_000, destination_port: 7_001 };
    let header = header.emit(&[&data], from, to, Checksum::Complete);
    packet(from, to, protocol::UDP, &[&header[..], &data].concat())
}

/// Places of the interfaces: nodes stand in the order of their names.
const FAR: usize = 0;
const NEAR: usize = 1;

#[test]
fn a_packet_takes_the_time_of_its_way_whatever_the_turns() {
    for version in [0, 1] {
        let scenario = lab(version, &[]);
        let [near, far] = [address(version, 0, 1), address(version, 1, 2)];
        let coming: Vec<_> = [(10_000, 1), (10_200, 2), (900_000, 3)]
            .into_iter()
            .map(|(micros, tag)| (Instant::from_nanos(1_000 * micros), NEAR, datagram(near, far, tag)))
            .collect();
        let mut digests = Vec::new();
        for turn in [Duration::from_micros(300), Duration::from_millis(40), Duration::from_secs(9)] {
            let mut played = Played { turn, ..Played::new(coming.clone()) };
            let output = played.run(&scenario);
            // The second waits until the first is sent.
            let expected = [(10_000 + 152_000, 1), (10_000 + 153_000, 2), (900_000 + 152_000, 3)];
            let gone: Vec<(u64, u8)> =
                played.gone.iter().map(|(at, _, packet)| (at.as_nanos() / 1_000, packet[124])).collect();
            assert_eq!(gone, expected);
            for (_, place, packet) in &played.gone {
                let (header, len) = IpHeader::parse(packet).unwrap();
                assert_eq!((*place, header.hop_limit, packet.len()), (FAR, 63, 125));
                UdpHeader::parse(&packet[len..], near, far, Checksum::Complete).unwrap();
            }
            digests.push(output.digest);
        }
        digests.dedup();
        assert_eq!(digests.len(), 1);
    }
}

#[test]
fn a_simulated_host_answers_an_attached_node() {
    for version in [0, 1] {
        let [near, server] = [address(version, 0, 1), address(version, 2, 2)];
        let echo = EchoHeader { kind: EchoKind::Request, identifier: 7, sequence: 9 };
        let number = if version == 0 { protocol::ICMP } else { protocol::ICMPV6 };
        let asked =
            echo.packet(Bytes::from_static(b"is there somebody?"), near, server).contiguous().to_vec();
        let mut played =
            Played::new(vec![(Instant::from_millis(100), NEAR, packet(near, server, number, &asked))]);
        played.run(&lab(version, &[]));
        assert_eq!(played.gone.len(), 1);
        let (at, place, answer) = &played.gone[0];
        let (header, len) = IpHeader::parse(answer).unwrap();
        assert_eq!((*place, header.source, header.destination), (NEAR, server, near));
        assert!(answer[len..].ends_with(b"is there somebody?"));
        let way = Duration::from_millis(210) + Duration::from_micros(4 * 8 * answer.len() as u64);
        assert_eq!(*at, Instant::from_millis(100) + way);
    }
}

#[test]
fn what_ends_at_an_attached_node_is_left_to_it_and_a_run_plays_it() {
    let scenario = lab(0, &[]);
    let output = output();
    assert!(output.table("flows").unwrap().rows() == 0 && output.failures.is_empty());
    assert!(cells(&output, "links", "carried_packets").iter().all(|count| *count == Some(0.0)));
    let played = run(&scenario, &RunOptions::default()).unwrap();
    assert_eq!(cells(&played, "flows", "delivered_bytes"), [Some(20_000.0)]);
    assert!(played.table("attached_interfaces").is_none());
}

#[test]
fn an_attached_node_is_told_what_it_reaches_and_by_which_of_its_links() {
    let mut played = Played::new(Vec::new());
    played.run(&lab(0, &["nodes.router.kind=attached", "flows.left-out.from=router"]));
    let [far, near, router] = &played.attachments[..] else { panic!("three are attached") };
    let reached = |node: &Attachment| -> Vec<(String, String, usize)> {
        let own =
            |(address, name, place): &(IpAddr, String, usize)| (address.to_string(), name.clone(), *place);
        node.reaches.iter().map(own).collect()
    };
    let at = |address: &str, name: &str, place| (address.to_owned(), name.to_owned(), place);
    // An attached node forwards nothing that the network knows of.
    assert_eq!(reached(near), [at("10.1.0.2", "router", 0)]);
    assert_eq!(reached(far), [at("10.2.0.1", "router", 0)]);
    let expected = [at("10.2.0.2", "far", 1), at("10.1.0.1", "near", 0), at("10.3.0.2", "server", 2)];
    assert_eq!(reached(router), expected);
    let links: Vec<&str> = router.interfaces.iter().map(|interface| interface.link.as_str()).collect();
    assert_eq!(links, ["access", "core", "local"]);
    assert_eq!((router.interfaces[0].mtu.as_bytes(), router.interfaces[0].addresses.len()), (1_500, 1));
}

#[test]
fn a_packet_that_comes_late_counts_from_the_present() {
    let [near, far] = [address(0, 0, 1), address(0, 1, 2)];
    // Turns last two seconds, and what has come in one is told at its end.
    let mut played = Played::new(vec![(Instant::from_millis(500), NEAR, datagram(near, far, 1))]);
    (played.turn, played.is_late) = (Duration::from_secs(2), true);
    played.run(&lab(0, &[]));
    let gone: Vec<Instant> = played.gone.iter().map(|(at, ..)| *at).collect();
    assert_eq!(gone, [Instant::from_millis(2_152)]);
}

#[test]
fn intervals_and_the_warm_up_are_those_of_a_run() {
    let [near, far] = [address(0, 0, 1), address(0, 1, 2)];
    let coming = (0..20).map(|number| (Instant::from_millis(200 * number), NEAR, datagram(near, far, 1)));
    let mut played = Played::new(coming.collect());
    let output = played.run(&lab(0, &["scenario.warm_up=2 s", "probes.intervals=1 s"]));
    let sent = cells(&output, "links", "carried_packets");
    // Forward and reverse of `access`, which has the packets from two seconds on.
    assert_eq!(sent[..2], [Some(10.0), Some(0.0)]);
}
