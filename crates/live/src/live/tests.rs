use super::*;
use crate::record::Replay;
use slantpath_wire::ip::{Fragmentation, protocol};
use std::net::{Ipv4Addr, UdpSocket};

/// A host that has a packet to send from the start, and notes what it is asked.
struct Witness {
    to_send: Option<Packet>,
    calls: Vec<&'static str>,
}

impl Witness {
    fn new() -> Self {
        let own = IpAddr::from(Ipv4Addr::LOCALHOST);
        let header = IpHeader {
            source: own,
            destination: own,
            protocol: protocol::SCTP,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: 12,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = vec![0; header.header_len() + 12];
        header.emit(&mut bytes);
        Self { to_send: Some(Packet::copied(&bytes, Checksum::Complete)), calls: Vec::new() }
    }

    fn command(&mut self) {
        self.calls.push("command");
    }
}

impl EndSystem for Witness {
    fn handle_packet(&mut self, _now: Instant, _interface: InterfaceId, _packet: &mut Packet) {}

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        self.calls.push("poll");
        *packet = self.to_send.take()?;
        Some(InterfaceId::new(0))
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// Something that is done with a host.
type Act = fn(&mut Live<Witness>);

/// A host that sends to this socket.
fn live_towards(peer: &UdpSocket) -> Live<Witness> {
    let remote_port = peer.local_addr().unwrap().port();
    let config = LiveConfig {
        addresses: vec![Ipv4Addr::LOCALHOST.into()],
        binding: Binding::Listed,
        carriage: Carriage::Udp { local_port: 0, remote_port },
        ports: Vec::new(),
        socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
    };
    let mut live = Live::open(&config, Witness::new()).unwrap();
    live.record(Recorder::new([7; 32]));
    live
}

#[test]
fn a_host_is_drained_once_before_the_first_that_is_done_with_it_whatever_that_is() {
    let command = |live: &mut Live<Witness>| live.command(1, |host, _| host.command());
    let step = |live: &mut Live<Witness>| live.step(Instant::START).map(drop).unwrap();
    let turn = |live: &mut Live<Witness>| live.turn().map(drop).unwrap();
    let peer = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    // A record has the start, and each command.
    let cases: [(Act, usize); 3] = [(command, 3), (step, 1), (turn, 1)];
    for (act, entries) in cases {
        let mut live = live_towards(&peer);
        act(&mut live);
        assert_eq!(live.host().calls[..2], ["poll", "poll"], "the packet, and that there is no other");
        assert_eq!(live.counters().packets_sent, 1);
        act(&mut live);
        let (record, mut told) = (live.take_record(), 0);
        let replayed = Replay::new(&record).unwrap().run_watched(
            &mut Witness::new(),
            |host, _, _, _| host.command(),
            |_, _| told += 1,
        );
        assert_eq!((replayed.unwrap().digest, told), (*live.digest().unwrap(), entries));
    }
}
