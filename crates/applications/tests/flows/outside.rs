//! A real stack outside of the simulation: a host that is driven by hand exchanges its packets with one inside.

use std::net::IpAddr;

use slantpath_applications::{Flows, Host, MessageRecords, ReceiverConfig};
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_host::{Peer, Protocol, SocketId, TransportConfig};
use slantpath_interface::EndSystem as _;
use slantpath_net::{InterfaceId, Network, NetworkBuilder};
use slantpath_wire::Packet;

use crate::fixture::{addresses, bulk, direction, sender};

/// An SCTP sender inside, which connects to a stack outside over a link that loses packets.
struct Inside {
    network: Network<Host>,
    sender: SocketId,
    tun: InterfaceId,
}

fn transport(end: usize, port: u16, peer: Option<Peer>) -> TransportConfig {
    TransportConfig {
        protocol: Protocol::Sctp(Box::default()),
        local_addresses: vec![addresses(0)[end]],
        local_port: port,
        peer,
    }
}

impl Inside {
    fn new(seed: Seed) -> Self {
        let [near, far]: [IpAddr; 2] = addresses(0);
        let mut forward = direction("2 Mbit/s", "30 ms");
        forward.loss = "1 %".parse().unwrap();
        forward.bit_errors = "1e-7".parse().unwrap();
        let mut builder = NetworkBuilder::new();
        let (host, outside) = (builder.host("host"), builder.outside("tun"));
        let link = builder.link("wire", host, outside, forward, direction("2 Mbit/s", "30 ms"));
        builder.address(link.first(), near).address(link.second(), far);
        let graph = builder.build().unwrap();
        let mut host = Host::new(vec![(near, link.first())]);
        host.add_route(far, link.first()).unwrap();
        let peer = Some(Peer { addresses: vec![far], port: 5_000 });
        let config = sender(bulk(1_000, 300_000));
        let sender = host.add_sender(transport(0, 40_000, peer), config, seed, "flows/test");
        Self { network: Network::new(graph, seed, vec![host]), sender, tun: link.second() }
    }
}

/// The stack outside, on a clock of its own: it takes a while to answer, now more, now less.
struct Program {
    host: Host,
    receiver: SocketId,
    slowness: Stream,
    /// Packets sent that the simulation has not been given, each with the instant at which it leaves.
    sent: Vec<(Instant, Vec<u8>)>,
}

impl Program {
    fn new(seed: Seed, interface: InterfaceId) -> Self {
        let [near, far]: [IpAddr; 2] = addresses(0);
        let mut host = Host::new(vec![(far, interface)]);
        host.add_route(near, interface).unwrap();
        let config = sender(bulk(1_000, 300_000));
        let config = ReceiverConfig {
            content: config.content,
            streams: config.streams,
            unordered: config.unordered,
            may_skip: false,
            records: MessageRecords::Times,
            read_rate: None,
            adaptation: config.adaptation,
        };
        let receiver = host.add_receiver(transport(1, 5_000, None), config, seed, "flows/test");
        Self { host, receiver, slowness: seed.stream("outside/slowness"), sent: Vec::new() }
    }

    fn drain(&mut self, now: Instant) {
        let mut packet = Packet::default();
        while self.host.poll_transmit(now, &mut packet).is_some() {
            let late = Duration::from_nanos(self.slowness.below(3_000_000));
            self.sent.push((now + late, packet.observed()));
        }
    }
}

/// Runs both until `end` as a program does: it looks at its clock every so often, and hands over what is there. Gives
/// what the simulation was given.
fn run_live(inside: &mut Inside, program: &mut Program, end: Instant) -> Vec<(Instant, Vec<u8>)> {
    let mut given = Vec::new();
    let network = &mut inside.network;
    while network.now() < end {
        let now = (network.now() + Duration::from_micros(700)).min(end);
        network.run_until(now);
        while let Some(packet) = network.poll_outside() {
            assert!(packet.at <= now && packet.interface == inside.tun);
            let mut packet = Packet::from(packet.packet.observed());
            program.host.handle_packet(now, inside.tun, &mut packet);
            program.drain(now);
        }
        if program.host.deadline().is_some_and(|deadline| deadline <= now) {
            program.host.handle_deadline(now);
            program.drain(now);
        }
        for (at, bytes) in program.sent.drain(..) {
            given.push((at, bytes.clone()));
            network.inject(at, inside.tun, bytes).unwrap();
        }
    }
    given
}

#[test]
fn a_stack_outside_gets_every_message_and_its_packets_repeat_the_run() {
    let (seed, end) = (Seed::new(11, 0), Instant::from_secs(20));
    let mut live = Inside::new(seed);
    let mut program = Program::new(seed, live.tun);
    let given = run_live(&mut live, &mut program, end);
    let received = program.host.receiver_report(program.receiver).unwrap();
    assert_eq!((received.messages_delivered, received.messages_corrupt), (300, 0));
    let sent = live.network.hosts()[0].sender_report(live.sender).unwrap().clone();
    assert!(sent.ended.is_some() && sent.failure.is_none(), "{:?}", sent.failure);
    assert!(sent.messages.iter().any(|message| message.retransmissions > 0));

    // Nobody is outside now; what came from there comes again.
    let mut again = Inside::new(seed);
    assert!(given.len() > 100, "{}", given.len());
    for (at, bytes) in &given {
        again.network.inject(*at, again.tun, bytes.clone()).unwrap();
    }
    again.network.run_until(end);
    assert_eq!(again.network.digest(), live.network.digest());
    assert_eq!(again.network.hosts()[0].sender_report(again.sender), Some(&sent));

    // Another seed loses other packets: what came is then no answer to what is sent.
    let mut other = Inside::new(Seed::new(12, 0));
    for (at, bytes) in given {
        other.network.inject(at, other.tun, bytes).unwrap();
    }
    other.network.run_until(end);
    assert_ne!(other.network.digest(), live.network.digest());
}
