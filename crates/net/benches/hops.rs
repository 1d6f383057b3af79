//! Packet-hops per second of CPU time that the network itself reaches: dumbbells whose hosts do next to
//! nothing. Each flow keeps a constant window of packets of 1,500 bytes under way and gets one of 40 bytes
//! back for each.
//!
//! `cargo bench -p slantpath-net` runs all cases, and builds stars of hosts; a number as argument runs so many flows,
//! for a profiler.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    DirectionConfig, EndSystem, InterfaceId, Network, NetworkBuilder, QueueConfig, QueueLimit,
};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

/// Keeps packets of one kind under way.
struct Echo {
    interface: InterfaceId,
    template: Packet,
    to_send: u32,
    received: u64,
    /// Restarted by every packet, like a retransmission timer; never expires.
    deadline: Option<Instant>,
}

impl EndSystem for Echo {
    fn handle_packet(&mut self, now: Instant, _interface: InterfaceId, packet: &mut Packet) {
        self.deadline = Some(now + Duration::from_secs(1));
        self.received += packet.len() as u64;
        self.to_send += 1;
    }

    fn handle_deadline(&mut self, _now: Instant) {
        self.deadline = None;
    }

    fn poll_transmit(&mut self, _now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        self.to_send = self.to_send.checked_sub(1)?;
        packet.clone_from(&self.template);
        Some(self.interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

fn template(source: IpAddr, destination: IpAddr, payload: &'static [u8]) -> Packet {
    let mut packet = Packet::with_tail(&[0; 20], Bytes::from_static(payload), 0, Checksum::Omitted);
    let payload_len = u16::try_from(packet.len()).expect("short");
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::TCP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    header.emit(packet.prepend(header.header_len()));
    packet
}

/// `flows` pairs of hosts over two routers and 100 Mbit/s between them, with a queue of one bandwidth-delay
/// product, half of which the windows fill.
fn dumbbell(flows: u32, round_trip: Duration) -> Network<Echo> {
    let rate = DataRate::from_bits_per_sec(100_000_000);
    let product_packets = u32::try_from(rate.size_in(round_trip).as_bytes() / 1_500).expect("few");
    let queue = QueueConfig::DropTail(QueueLimit::Packets(product_packets));
    let bottleneck = DirectionConfig::new(rate, round_trip / 2, queue.clone());
    let access =
        DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(1), queue);
    let mut builder = NetworkBuilder::new();
    let (left, right) = (builder.router("left"), builder.router("right"));
    builder.link("bottleneck", left, right, bottleneck.clone(), bottleneck);
    let mut hosts = Vec::new();
    for flow in 0..flows {
        let [high, low] = [flow / 250, flow % 250].map(|octet| u8::try_from(octet).expect("below 250"));
        let ends = [[10, 1, high, low], [10, 2, high, low]].map(IpAddr::from);
        let source = builder.host(&format!("source-{flow}"));
        let sink = builder.host(&format!("sink-{flow}"));
        let up = builder.link(&format!("up-{flow}"), source, left, access.clone(), access.clone());
        let down = builder.link(&format!("down-{flow}"), sink, right, access.clone(), access.clone());
        builder.address(up.first(), ends[0]).address(down.first(), ends[1]);
        let window = (product_packets * 3 / 2 / flows).max(1);
        let data = template(ends[0], ends[1], &[7; 1_460]);
        let reply = template(ends[1], ends[0], &[]);
        hosts.push(Echo {
            interface: up.first(),
            template: data,
            to_send: window,
            received: 0,
            deadline: None,
        });
        hosts.push(Echo {
            interface: down.first(),
            template: reply,
            to_send: 0,
            received: 0,
            deadline: None,
        });
    }
    Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), hosts)
}

/// `hosts` hosts around one router, each with a packet for the next.
fn star(hosts: u32) -> Network<Echo> {
    let rate = DataRate::from_bits_per_sec(1_000_000_000);
    let queue = QueueConfig::DropTail(QueueLimit::Packets(10));
    let access = DirectionConfig::new(rate, Duration::from_millis(1), queue);
    let address = |host: u32| IpAddr::from(((10 << 24) | (host % hosts)).to_be_bytes());
    let mut builder = NetworkBuilder::new();
    let hub = builder.router("hub");
    let mut ends = Vec::new();
    for host in 0..hosts {
        let node = builder.host(&format!("host-{host}"));
        let link = builder.link(&format!("link-{host}"), node, hub, access.clone(), access.clone());
        builder.address(link.first(), address(host));
        let template = template(address(host), address(host + 1), &[]);
        ends.push(Echo { interface: link.first(), template, to_send: 1, received: 0, deadline: None });
    }
    Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), ends)
}

/// Nanoseconds that this process has spent on a processor, from the kernel's own account.
fn cpu_nanos() -> u64 {
    let account = std::fs::read_to_string("/proc/self/schedstat").expect("Linux keeps account");
    account.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("a number")
}

fn main() {
    let chosen: Option<u32> = std::env::args().find_map(|argument| argument.parse().ok());
    if chosen.is_none() {
        println!("a star, from nothing to a packet from each host to the next");
        for hosts in [1_000, 4_000] {
            let start = cpu_nanos();
            let mut network = star(hosts);
            network.run_until(Instant::from_millis(2));
            println!(
                "{hosts:5} hosts  {:8.3} ms  {} hops",
                (cpu_nanos() - start) as f64 / 1e6,
                network.packet_hops()
            );
        }
    }
    println!("flows  round trip  packets under way       hops   events  ns/hop  Mhops/s");
    for (flows, millis) in [(10, 20), (10, 250), (100, 20), (100, 250), (1_000, 250)] {
        if chosen.is_some_and(|chosen| chosen != flows) {
            continue;
        }
        let mut network = dumbbell(flows, Duration::from_millis(millis));
        network.run_until(Instant::from_secs(2));
        let (hops, events, start) = (network.packet_hops(), network.events(), cpu_nanos());
        network.run_until(Instant::from_secs(if chosen.is_some() { 10 } else { 60 }));
        let nanos = (cpu_nanos() - start) as f64;
        let (hops, events) = (network.packet_hops() - hops, network.events() - events);
        println!(
            "{flows:5}  {:>10}  {:17}  {hops:9}  {events:7}  {:6.1}  {:7.2}",
            Duration::from_millis(millis).to_string(),
            network.packets_under_way(),
            nanos / hops as f64,
            hops as f64 * 1e3 / nanos,
        );
    }
}
