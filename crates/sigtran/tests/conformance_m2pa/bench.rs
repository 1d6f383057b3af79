//! The test bench: a link under test between a scripted peer and a scripted level 3, in time that the script moves.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::m2pa::{
    Body, Link, LinkConfig, LinkStatus, Message, Output, PAYLOAD_PROTOCOL, Priority, Proving, SequenceNumber,
    Timers, UserData,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

/// The sequence number before the first message.
pub(crate) const NONE: u32 = 0x00ff_ffff;
/// The length that the mapping of Q.781 uses for its messages: 35 octets of data, which is 34 behind the priority.
const MSU_LEN: usize = 34;
/// The least time: so long before a timer expires, it has not expired.
const MOMENT: Duration = Duration::from_nanos(1);

/// A message of the link under test as the scripts speak of it. Streams are checked when it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Ack {
        fsn: u32,
        bsn: u32,
    },
    Alignment,
    Busy,
    BusyEnded,
    Data {
        fsn: u32,
        bsn: u32,
    },
    OutOfService,
    ProcessorOutage,
    ProcessorRecovered {
        fsn: u32,
        bsn: u32,
    },
    ProvingEmergency,
    ProvingNormal,
    /// On the Link Status stream.
    Ready,
    /// On the User Data stream.
    ReadyInSequence {
        fsn: u32,
        bsn: u32,
    },
}

pub(crate) struct Bench {
    pub(crate) link: Link,
    pub(crate) now: Instant,
    sent: VecDeque<Sent>,
    /// The messages behind `sent`, for those that look at octets.
    pub(crate) octets: Vec<Bytes>,
    /// The numbers by which it asks to be told when a message is first sent.
    pub(crate) reports: Vec<u32>,
    indicated: VecDeque<LinkIndication>,
    last: Option<Sent>,
    /// Number of the last message that the peer has received, which its link statuses carry.
    peer_has: u32,
}

/// The settings that the mapping of Q.781 recommends (timers, N2 of 127).
pub(crate) fn config() -> LinkConfig {
    let timers = Timers {
        t1: Duration::from_secs(45),
        t2: Duration::from_secs(5),
        t3: Duration::from_secs(1),
        t4_normal: Duration::from_secs(8),
        t4_emergency: Duration::from_millis(500),
        t5: None,
        t6: Duration::from_secs(4),
        t7: Duration::from_secs(1),
    };
    let proving = Proving::Every { interval: Duration::from_millis(100), filler_octets: 20 };
    LinkConfig { timers, proving, outstanding_max: 127, ..LinkConfig::default() }
}

/// An MSU that says which one it is.
pub(crate) fn msu(number: u8) -> Bytes {
    let mut octets = vec![0x83; MSU_LEN];
    octets[1] = number;
    octets.into()
}

impl Bench {
    /// Without an association.
    pub(crate) fn powered_off(config: LinkConfig) -> Self {
        Self {
            link: Link::new(AssociationNumber(7), config).unwrap(),
            now: Instant::START,
            sent: VecDeque::new(),
            octets: Vec::new(),
            reports: Vec::new(),
            indicated: VecDeque::new(),
            last: None,
            peer_has: NONE,
        }
    }

    /// Associated, and both ends out of service.
    pub(crate) fn out_of_service() -> Self {
        Self::out_of_service_with(config())
    }

    /// Variant of `out_of_service` with proving omitted.
    pub(crate) fn without_proving() -> Self {
        Self::out_of_service_with(LinkConfig { proving: Proving::Omitted, ..config() })
    }

    pub(crate) fn out_of_service_with(config: LinkConfig) -> Self {
        let mut bench = Self::powered_off(config);
        bench.power_on();
        bench.expect(Sent::OutOfService);
        bench.status(LinkStatus::OutOfService);
        bench
    }

    /// Started at both ends and about to prove, or to be ready if proving is omitted.
    pub(crate) fn align(&mut self) {
        self.start();
        self.status(LinkStatus::Alignment);
    }

    /// The level 3 of the link under test starts it.
    pub(crate) fn start(&mut self) {
        self.request(LinkRequest::Start);
        self.expect(Sent::Alignment);
    }

    /// From out of service to the end of normal proving: the link has sent what ends it, which is not yet taken.
    pub(crate) fn prove(&mut self) {
        self.align();
        self.expect(Sent::ProvingNormal);
        self.status(proving_normal());
        self.wait(Duration::from_secs(8));
    }

    /// In service, with nothing sent.
    pub(crate) fn in_service() -> Self {
        let mut bench = Self::out_of_service();
        bench.prove();
        bench.expect(Sent::Ready);
        bench.become_in_service();
        bench
    }

    /// The peer is ready, and the link comes into service.
    pub(crate) fn become_in_service(&mut self) {
        self.status(LinkStatus::Ready);
        // Again, for a peer that was proving still when the first came.
        self.expect(Sent::Ready);
        self.expect_indication(&LinkIndication::InService);
    }

    pub(crate) fn power_on(&mut self) {
        self.transport(TransportInput::Up { outbound_streams: 2 });
    }

    pub(crate) fn transport(&mut self, input: TransportInput) {
        self.link.handle_transport(self.now, input);
        self.drain();
    }

    /// The receiver of the link under test becomes congested, or no more.
    pub(crate) fn receive_congestion(&mut self, is_congested: bool) {
        self.link.handle_receive_congestion(self.now, is_congested);
        self.drain();
    }

    /// A request of level 3.
    pub(crate) fn request(&mut self, request: LinkRequest) {
        self.link.handle_request(self.now, request);
        self.drain();
    }

    /// Level 3 gives a message to send.
    pub(crate) fn send_msu(&mut self, number: u8) {
        self.request(LinkRequest::Transmit(msu(number)));
    }

    /// The peer sends a link status on the stream that it belongs on; Ready on the Link Status stream.
    pub(crate) fn status(&mut self, status: LinkStatus) {
        let stream = match status {
            LinkStatus::ProcessorOutage | LinkStatus::ProcessorRecovered => 1,
            _ => 0,
        };
        self.peer_sends(stream, Body::LinkStatus(status), NONE, self.peer_has);
    }

    /// The peer sends a link status on the User Data stream with these numbers.
    pub(crate) fn in_sequence(&mut self, status: LinkStatus, fsn: u32, bsn: u32) {
        self.peer_sends(1, Body::LinkStatus(status), fsn, bsn);
    }

    /// The peer sends a message.
    pub(crate) fn data(&mut self, fsn: u32, bsn: u32) {
        self.peer_sends(1, data(fsn), fsn, bsn);
    }

    /// The peer sends a message, and level 3 gives one to send before the link is asked what to do.
    pub(crate) fn data_answered_by(&mut self, fsn: u32, bsn: u32, answer: u8) {
        self.link.handle_transport(self.now, from_peer(1, octets(data(fsn), fsn, bsn)));
        self.send_msu(answer);
    }

    /// The peer only acknowledges.
    pub(crate) fn ack(&mut self, fsn: u32, bsn: u32) {
        self.peer_sends(1, Body::Acknowledgement, fsn, bsn);
    }

    pub(crate) fn peer_sends(&mut self, stream: u16, body: Body, fsn: u32, bsn: u32) {
        self.peer_sends_octets(stream, octets(body, fsn, bsn));
    }

    pub(crate) fn peer_sends_octets(&mut self, stream: u16, octets: Vec<u8>) {
        self.transport(from_peer(stream, octets));
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Output::Wait(Some(deadline)) = self.link.poll_output(self.now) {
            if deadline > end {
                break;
            }
            assert!(deadline >= self.now, "a deadline lies in the past");
            self.now = deadline;
            self.link.handle_deadline(self.now);
            self.drain();
        }
        self.now = end;
    }

    /// Lets a timer expire that has so long to go. The link sends and tells nothing until the moment when it does.
    pub(crate) fn expire(&mut self, time: Duration) {
        self.expect_quiet(time - MOMENT);
        self.wait(MOMENT);
    }

    /// The next message that the link has sent, but for repeated proving.
    pub(crate) fn expect(&mut self, message: Sent) {
        assert_eq!(self.sent.pop_front(), Some(message));
    }

    pub(crate) fn expect_all(&mut self, messages: &[Sent]) {
        for message in messages {
            self.expect(*message);
        }
    }

    /// The link has sent nothing more, but for repeated proving.
    pub(crate) fn expect_nothing_sent(&self) {
        assert_eq!(self.sent, []);
    }

    /// The next indication to level 3.
    pub(crate) fn expect_indication(&mut self, indication: &LinkIndication) {
        assert_eq!(self.indicated.pop_front().as_ref(), Some(indication));
    }

    /// A message of the peer that was delivered.
    pub(crate) fn expect_delivered(&mut self, number: u8) {
        self.expect_indication(&LinkIndication::Received(msu(number)));
    }

    /// The link has told level 3 nothing more.
    pub(crate) fn expect_no_indication(&self) {
        assert_eq!(self.indicated, []);
    }

    /// The link sends Out of Service, tells level 3 why, and stays so.
    pub(crate) fn expect_failure(&mut self, reason: OutOfServiceReason) {
        self.expect(Sent::OutOfService);
        self.expect_indication(&LinkIndication::OutOfService(reason));
        self.expect_quiet(Duration::from_secs(200));
    }

    /// The link sends nothing and tells nothing for that long.
    pub(crate) fn expect_quiet(&mut self, duration: Duration) {
        self.wait(duration);
        self.expect_nothing_sent();
        self.expect_no_indication();
    }

    fn drain(&mut self) {
        loop {
            match self.link.poll_output(self.now) {
                Output::Indication(indication) => self.indicated.push_back(indication),
                Output::Transmit(transmit) => self.take(transmit),
                Output::Wait(_) => return,
            }
        }
    }

    fn take(&mut self, transmit: Transmit) {
        assert_eq!((transmit.association, transmit.payload_protocol), (AssociationNumber(7), 5));
        let message = Message::parse(&transmit.octets).unwrap();
        self.octets.push(transmit.octets);
        self.reports.extend(transmit.report);
        let sent = sent(transmit.stream, &message);
        if let Sent::Data { fsn, .. } = sent {
            self.peer_has = fsn;
        }
        let is_repeated_proving =
            matches!(sent, Sent::ProvingNormal | Sent::ProvingEmergency) && self.last == Some(sent);
        self.last = Some(sent);
        if !is_repeated_proving {
            self.sent.push_back(sent);
        }
    }
}

fn data(fsn: u32) -> Body {
    let number = u8::try_from(fsn).unwrap();
    Body::UserData(UserData { priority: Priority::default(), msu: msu(number) })
}

fn octets(body: Body, fsn: u32, bsn: u32) -> Vec<u8> {
    let number = |number| SequenceNumber::new(number).unwrap();
    let mut octets = Vec::new();
    Message { bsn: number(bsn), fsn: number(fsn), body }.emit(&mut octets);
    octets
}

fn from_peer(stream: u16, octets: Vec<u8>) -> TransportInput {
    let (stream, payload_protocol) = (StreamNumber(stream), PAYLOAD_PROTOCOL);
    TransportInput::Message { stream, payload_protocol, octets: octets.into() }
}

fn sent(stream: StreamNumber, message: &Message) -> Sent {
    let (fsn, bsn) = (message.fsn.number(), message.bsn.number());
    match (stream.0, &message.body) {
        (0, Body::LinkStatus(LinkStatus::Alignment)) => Sent::Alignment,
        (0, Body::LinkStatus(LinkStatus::ProvingNormal(_))) => Sent::ProvingNormal,
        (0, Body::LinkStatus(LinkStatus::ProvingEmergency(_))) => Sent::ProvingEmergency,
        (0, Body::LinkStatus(LinkStatus::Ready)) => Sent::Ready,
        (0, Body::LinkStatus(LinkStatus::Busy)) => Sent::Busy,
        (0, Body::LinkStatus(LinkStatus::BusyEnded)) => Sent::BusyEnded,
        (0, Body::LinkStatus(LinkStatus::OutOfService)) => Sent::OutOfService,
        (1, Body::LinkStatus(LinkStatus::Ready)) => Sent::ReadyInSequence { fsn, bsn },
        (1, Body::LinkStatus(LinkStatus::ProcessorOutage)) => Sent::ProcessorOutage,
        (1, Body::LinkStatus(LinkStatus::ProcessorRecovered)) => Sent::ProcessorRecovered { fsn, bsn },
        (1, Body::Acknowledgement) => Sent::Ack { fsn, bsn },
        (1, Body::UserData(_)) => Sent::Data { fsn, bsn },
        (stream, body) => panic!("{body:?} on stream {stream}"),
    }
}

pub(crate) fn proving_normal() -> LinkStatus {
    LinkStatus::ProvingNormal(Bytes::from_static(&[0x5a; 20]))
}

pub(crate) fn proving_emergency() -> LinkStatus {
    LinkStatus::ProvingEmergency(Bytes::from_static(&[0xa5; 20]))
}
