//! Two endpoints and the two wires between them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Probability, Seed, Stream};
use slantpath_tcp::{
    Chance, ConnectionId, Endpoint, Event, Flags, Input, Output, Segment, Snapshot, TcpConfig,
};
use slantpath_testkit::{Mangle, Wire, WireFaults};
use slantpath_wire::ip::{Ecn, Envelope, IpFields};
use slantpath_wire::{Checksum, Packet};

pub(crate) const PORT: u16 = 5_000;

/// A packet, and what its IP header says.
#[derive(Clone, Debug)]
pub(crate) struct OnWire {
    ip: IpFields,
    packet: Packet,
}

impl Mangle for OnWire {
    fn bits(&self) -> u64 {
        self.packet.bits()
    }

    fn flip(&mut self, bit: u64) {
        self.packet.flip(bit);
    }
}

/// Choice of the packets that a wire marks, of those that may be marked.
pub(crate) enum Marking {
    By(Probability, Stream),
    /// By their numbers among those that may be.
    These(Vec<usize>),
}

/// A segment as it was sent, with offsets relative to the initial sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traced {
    pub(crate) at: Instant,
    pub(crate) segment: Segment,
    pub(crate) len: usize,
    /// As it left.
    pub(crate) ecn: Ecn,
}

/// Random stream from which listeners draw.
pub(crate) fn chance() -> Chance {
    Chance::InTurn(Seed::new(1, 0).stream("listener"))
}

pub(crate) struct Side {
    pub(crate) endpoint: Endpoint,
    pub(crate) stream: Stream,
    pub(crate) address: IpAddr,
    pub(crate) id: Option<ConnectionId>,
    pub(crate) events: Vec<Event>,
    pub(crate) received: Vec<u8>,
    pub(crate) sent: Vec<Traced>,
    pub(crate) marking: Marking,
    /// Number of its packets that may have been marked.
    markable: usize,
    wakeup: Option<Instant>,
}

impl Side {
    fn new(seed: Seed, name: &str, last_octet: u8) -> Self {
        Self {
            endpoint: Endpoint::default(),
            stream: seed.stream(name),
            address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, last_octet)),
            id: None,
            events: Vec::new(),
            received: Vec::new(),
            sent: Vec::new(),
            marking: Marking::These(Vec::new()),
            markable: 0,
            wakeup: None,
        }
    }

    pub(crate) fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, PORT)
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id.expect("there is a connection")
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.endpoint.snapshot(self.id()).expect("the connection is there")
    }

    fn is_next_marked(&mut self) -> bool {
        let number = self.markable;
        self.markable += 1;
        match &mut self.marking {
            Marking::By(probability, stream) => stream.happens(*probability),
            Marking::These(numbers) => numbers.contains(&number),
        }
    }

    /// Drains the endpoint into the wire and the records.
    fn drain(&mut self, now: Instant, wire: &mut Wire<OnWire>) {
        // Far more than any window holds.
        for _ in 0..1_000_000 {
            let mut packet = Packet::default();
            match self.endpoint.poll_output(now, &mut packet) {
                Output::Event(id, event) => {
                    self.id = Some(id);
                    match event {
                        Event::Data(bytes) => self.received.extend_from_slice(&bytes),
                        event => self.events.push(event),
                    }
                }
                Output::Transmit(Envelope { source, destination, fields: mut ip }) => {
                    assert_eq!(source, self.address);
                    let (segment, data) = Segment::parse(&packet, source, destination)
                        .expect("what is sent is well-formed and its checksum right");
                    self.sent.push(Traced { at: now, segment, len: data.len(), ecn: ip.ecn });
                    if ip.ecn != Ecn::NotCapable && self.is_next_marked() {
                        ip.ecn = Ecn::CongestionExperienced;
                    }
                    wire.send(now, OnWire { ip, packet });
                }
                Output::Wait(deadline) => {
                    self.wakeup = deadline;
                    return;
                }
            }
        }
        panic!("it does not stop sending");
    }
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) left: Side,
    pub(crate) right: Side,
    pub(crate) rightwards: Wire<OnWire>,
    pub(crate) leftwards: Wire<OnWire>,
}

impl Pair {
    /// Two endpoints without a connection, and wires with `faults`.
    pub(crate) fn new(seed: u64, faults: WireFaults) -> Self {
        let seed = Seed::new(seed, 0);
        Self {
            now: Instant::START,
            left: Side::new(seed, "left", 1),
            right: Side::new(seed, "right", 2),
            rightwards: Wire::new(faults, seed.stream("rightwards")),
            leftwards: Wire::new(faults, seed.stream("leftwards")),
        }
    }

    /// A pair whose left side has called and whose right side listens.
    pub(crate) fn calling(seed: u64, faults: WireFaults, left: TcpConfig, right: TcpConfig) -> Self {
        let mut pair = Self::new(seed, faults);
        pair.right.endpoint.listen(PORT, right, chance()).unwrap();
        let (from, to) = (pair.left.socket(), pair.right.socket());
        pair.left.id =
            Some(pair.left.endpoint.connect(pair.now, from, to, left, &mut pair.left.stream).unwrap());
        pair.drain();
        pair
    }

    /// A connected pair without faults and with a one-way delay of 50 ms.
    pub(crate) fn connected(left: TcpConfig, right: TcpConfig) -> Self {
        let mut pair = Self::calling(1, WireFaults::none(Duration::from_millis(50)), left, right);
        pair.run_for(Duration::from_millis(150));
        assert!(
            pair.left.events.contains(&Event::Connected) && pair.right.events.contains(&Event::Connected)
        );
        pair
    }

    pub(crate) fn write_left(&mut self, bytes: Bytes) {
        let id = self.left.id();
        self.left.endpoint.write(self.now, id, bytes).unwrap();
        self.drain();
    }

    pub(crate) fn write_right(&mut self, bytes: Bytes) {
        let id = self.right.id();
        self.right.endpoint.write(self.now, id, bytes).unwrap();
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        self.left.drain(self.now, &mut self.rightwards);
        self.right.drain(self.now, &mut self.leftwards);
    }

    pub(crate) fn next_time(&self) -> Option<Instant> {
        let times = [
            self.left.wakeup,
            self.right.wakeup,
            self.rightwards.next_arrival(),
            self.leftwards.next_arrival(),
        ];
        times.into_iter().flatten().min().map(|time| time.max(self.now))
    }

    /// Goes on to the next arrival or deadline; false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some(next) = self.next_time() else { return false };
        self.now = next;
        let (left, right) = (self.left.address, self.right.address);
        while let Some(OnWire { ip, mut packet }) = self.rightwards.receive(self.now) {
            let input = Input::Packet { source: left, destination: right, ip, packet: &mut packet };
            self.right.endpoint.handle_input(self.now, input);
            self.right.drain(self.now, &mut self.leftwards);
        }
        while let Some(OnWire { ip, mut packet }) = self.leftwards.receive(self.now) {
            let input = Input::Packet { source: right, destination: left, ip, packet: &mut packet };
            self.left.endpoint.handle_input(self.now, input);
            self.left.drain(self.now, &mut self.rightwards);
        }
        for side in [&mut self.left, &mut self.right] {
            if side.wakeup.is_some_and(|wakeup| wakeup <= self.now) {
                side.endpoint.handle_input(self.now, Input::Deadline);
            }
        }
        self.drain();
        true
    }

    pub(crate) fn run_for(&mut self, duration: Duration) {
        let until = self.now + duration;
        while self.next_time().is_some_and(|next| next <= until) {
            self.step();
        }
        self.now = until;
    }

    /// Runs until nothing is left to happen, for at most `limit`.
    pub(crate) fn run_to_end(&mut self, limit: Duration) {
        let until = self.now + limit;
        while self.next_time().is_some_and(|next| next <= until) {
            self.step();
        }
    }

    /// Hands a made-up segment to the left side, as if from the right.
    pub(crate) fn inject_left(&mut self, segment: &Segment, data: Bytes) {
        let (source, destination) = (self.right.address, self.left.address);
        let mut packet = segment.emit(data, source, destination, slantpath_tcp::ChecksumPolicy::Complete);
        assert_eq!(packet.checksum(), Checksum::Complete);
        let ip = IpFields::default();
        let input = Input::Packet { source, destination, ip, packet: &mut packet };
        self.left.endpoint.handle_input(self.now, input);
        self.drain();
    }
}

/// Bytes that tell their own position.
pub(crate) fn pattern(len: usize) -> Bytes {
    (0..len).map(|at| (at * 31 + at / 251) as u8).collect::<Vec<u8>>().into()
}

/// Segments with data among those sent, as offset in the stream and length.
pub(crate) fn data_segments(sent: &[Traced]) -> Vec<(u32, usize)> {
    let syn = sent.iter().find(|traced| traced.segment.flags.contains(Flags::SYN)).expect("a SYN");
    let first = syn.segment.sequence.plus(1);
    let with_data = sent.iter().filter(|traced| traced.len > 0);
    with_data.map(|traced| (traced.segment.sequence.distance_from(first), traced.len)).collect()
}
