//! A listener that takes a bounded number of connections: a flood of calls, and those that come up beside it.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use slantpath_base::{Instant, Seed, StreamFamily};
use slantpath_tcp::{
    Chance, ChecksumPolicy, Endpoint, Event, Flags, Input, Options, Output, Segment, SequenceNumber,
    TcpConfig,
};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpFields;

const PORT: u16 = 7;
const MOST: usize = 4;
const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

/// An endpoint that listens, and peers of it that are segments alone.
struct Listening(Endpoint);

impl Listening {
    fn new() -> Self {
        let mut endpoint = Endpoint::default();
        let chance = Chance::ByPeer(StreamFamily::new(&mut Seed::new(1, 0).stream("listener")));
        endpoint.listen(PORT, TcpConfig::default(), chance).unwrap();
        endpoint.limit(PORT, MOST);
        Self(endpoint)
    }

    /// Hands a segment from a port of the peer's over; gives what is sent on it, and what is told.
    fn take(&mut self, port: u16, flags: Flags, acknowledgment: SequenceNumber) -> (Vec<Segment>, usize) {
        let sequence = if flags.contains(Flags::SYN) { SequenceNumber(1_000) } else { SequenceNumber(1_001) };
        let (source_port, destination_port) = (port, PORT);
        let options = Options::default();
        let segment = Segment {
            source_port,
            destination_port,
            sequence,
            acknowledgment,
            flags,
            window: 9_000,
            options,
        };
        let mut packet = segment.emit(Bytes::new(), PEER, OWN, ChecksumPolicy::Complete);
        let ip = IpFields::default();
        let input = Input::Packet { source: PEER, destination: OWN, ip, packet: &mut packet };
        self.0.handle_input(Instant::START, input);
        let (mut sent, mut up) = (Vec::new(), 0);
        loop {
            let mut packet = Packet::default();
            match self.0.poll_output(Instant::START, &mut packet) {
                Output::Event(_, event) => up += usize::from(event == Event::Connected),
                Output::Transmit(_) => sent.push(Segment::parse(&packet, OWN, PEER).unwrap().0),
                Output::Wait(_) => return (sent, up),
            }
        }
    }

    /// A call; the number by which it is answered, if it is.
    fn call(&mut self, port: u16) -> Option<SequenceNumber> {
        let (sent, _) = self.take(port, Flags::SYN, SequenceNumber(0));
        sent.first().map(|answer| {
            assert!(answer.flags == Flags::SYN | Flags::ACK, "{answer:?}");
            answer.sequence
        })
    }

    /// The end of a handshake; tells if the connection is up by it.
    fn complete(&mut self, port: u16, answered: SequenceNumber) -> bool {
        self.take(port, Flags::ACK, answered.plus(1)).1 == 1
    }
}

#[test]
fn a_flood_of_calls_is_answered_and_the_oldest_that_is_not_up_gives_way() {
    let mut listening = Listening::new();
    let up = listening.call(1).unwrap();
    assert!(listening.complete(1, up));
    let waiting: Vec<_> = (2..=1_000).map(|port| (port, listening.call(port).unwrap())).collect();
    let (newest, oldest) = (waiting[996..].to_vec(), waiting[995]);
    // The one that gave way is unknown: a reset.
    let (sent, told) = listening.take(oldest.0, Flags::ACK, oldest.1.plus(1));
    assert_eq!((sent[0].flags, told), (Flags::RST, 0));
    for (port, answered) in newest {
        assert!(listening.complete(port, answered), "{port}");
    }
    // All are up now: who comes finds no room, and one that ends makes some.
    assert_eq!(listening.call(2_000), None);
    assert_eq!(listening.0.statistics().calls_beyond_limit, 1);
    listening.take(1, Flags::RST, SequenceNumber(0));
    assert!(listening.call(2_000).is_some());
}

#[test]
fn a_scan_leaves_nothing() {
    let mut listening = Listening::new();
    for port in 1..=100 {
        assert!(listening.call(port).is_some());
        listening.take(port, Flags::RST, SequenceNumber(0));
    }
    assert_eq!(listening.0.deadline().map(|at| at > Instant::START), Some(true), "wake-ups of what is gone");
    for port in 200..200 + MOST as u16 {
        let answered = listening.call(port).unwrap();
        assert!(listening.complete(port, answered), "{port}");
    }
    assert_eq!(listening.0.statistics().calls_beyond_limit, 0);
}
