//! A link of M2PA against a peer and a level 3 that say anything at any time: it neither panics nor grows, and time
//! goes on.
use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::m2pa::{
    Body, CongestionThreshold, Link, LinkConfig, LinkStatus, Message, Output, Priority, Proving,
    SequenceNumber, Timers, UserData,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp3::Fsn;

#[derive(Clone, Debug)]
enum Step {
    Deadline,
    Elapse(u64),
    /// The next in sequence, as far as the peer can know.
    InSequence,
    Message(u16, u32, u32, Body),
    Octets(u16, u32, Vec<u8>),
    ReceiveCongestion(bool),
    Request(LinkRequest),
    Transport(TransportInput),
}

fn any_status() -> impl Strategy<Value = LinkStatus> {
    prop_oneof![
        3 => Just(LinkStatus::Alignment),
        3 => Just(LinkStatus::ProvingNormal(Bytes::new())),
        3 => Just(LinkStatus::ProvingEmergency(Bytes::new())),
        4 => Just(LinkStatus::Ready),
        2 => Just(LinkStatus::ProcessorOutage),
        2 => Just(LinkStatus::ProcessorRecovered),
        2 => Just(LinkStatus::Busy),
        2 => Just(LinkStatus::BusyEnded),
        1 => Just(LinkStatus::OutOfService),
    ]
}

/// Numbers about where they begin, and any others.
fn any_number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0_u32..4, 4 => Just(0x00ff_ffff), 1 => 0_u32..1 << 24]
}

fn any_message() -> impl Strategy<Value = Step> {
    let msu = prop_oneof![Just(3_usize), Just(20), Just(40)].prop_map(|len| vec![0x83; len]);
    let data =
        msu.prop_map(|msu| Body::UserData(UserData { priority: Priority::default(), msu: msu.into() }));
    let body = prop_oneof![2 => Just(Body::Acknowledgement), 6 => any_status().prop_map(Body::LinkStatus), 3 => data];
    (0_u16..3, any_number(), any_number(), body)
        .prop_map(|(stream, fsn, bsn, body)| Step::Message(stream, fsn, bsn, body))
}

fn any_request() -> impl Strategy<Value = LinkRequest> {
    prop_oneof![
        1 => Just(LinkRequest::Continue),
        1 => Just(LinkRequest::Emergency),
        1 => Just(LinkRequest::EmergencyCeases),
        1 => Just(LinkRequest::FlushBuffers),
        2 => Just(LinkRequest::LocalProcessorOutage),
        2 => Just(LinkRequest::LocalProcessorRecovered),
        1 => Just(LinkRequest::RetrieveBsnt),
        1 => any_number().prop_map(|fsn| LinkRequest::RetrieveMessagesAfter(Fsn(fsn))),
        1 => Just(LinkRequest::RetrieveUnsent),
        5 => Just(LinkRequest::Start),
        1 => Just(LinkRequest::Stop),
        6 => (0_usize..50).prop_map(|len| LinkRequest::Transmit(vec![0x83; len].into())),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Deadline),
        2 => (0_u64..3_000).prop_map(Step::Elapse),
        4 => Just(Step::InSequence),
        10 => any_message(),
        1 => (0_u16..3, 4_u32..6, any::<Vec<u8>>())
            .prop_map(|(stream, protocol, octets)| Step::Octets(stream, protocol, octets)),
        1 => any::<bool>().prop_map(Step::ReceiveCongestion),
        8 => any_request().prop_map(Step::Request),
        3 => prop_oneof![
            any::<bool>().prop_map(TransportInput::Congested),
            Just(TransportInput::Down),
            Just(TransportInput::Restart),
            (0_u16..4).prop_map(|outbound_streams| TransportInput::Up { outbound_streams }),
        ].prop_map(Step::Transport),
    ]
}

const BUFFER_MAX: usize = 12;
const HELD_MAX: usize = 4;

struct Bench {
    link: Link,
    now: Instant,
    taken: u32,
    is_in_service: bool,
}

impl Bench {
    fn new(proving: Proving, t5: Option<Duration>) -> Self {
        let config = LinkConfig {
            timers: Timers { t5, ..Timers::default() },
            proving,
            outstanding_max: 3,
            buffer_max: BUFFER_MAX,
            congestion: vec![CongestionThreshold { onset: 6, abatement: 2 }],
            held_max: HELD_MAX,
            longest_msu: 30,
            ..LinkConfig::default()
        };
        let link = Link::new(AssociationNumber(0), config).unwrap();
        Self { link, now: Instant::START, taken: 0x00ff_ffff, is_in_service: false }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Deadline => {
                if let Output::Wait(Some(deadline)) = self.link.poll_output(self.now) {
                    self.now = self.now.max(deadline);
                    self.link.handle_deadline(self.now);
                }
            }
            Step::Elapse(millis) => {
                self.now += Duration::from_millis(millis);
                self.link.handle_deadline(self.now);
            }
            Step::InSequence => {
                let data = UserData { priority: Priority::default(), msu: Bytes::from_static(&[0x83; 3]) };
                let fsn = (self.taken + 1) & 0x00ff_ffff;
                self.message(1, fsn, 0x00ff_ffff, Body::UserData(data));
            }
            Step::Message(stream, fsn, bsn, body) => self.message(stream, fsn, bsn, body),
            Step::Octets(stream, payload_protocol, octets) => {
                let (stream, octets) = (StreamNumber(stream), octets.into());
                let message = TransportInput::Message { stream, payload_protocol, octets };
                self.link.handle_transport(self.now, message);
            }
            Step::ReceiveCongestion(on) => self.link.handle_receive_congestion(self.now, on),
            Step::Request(request) => self.link.handle_request(self.now, request),
            Step::Transport(input) => self.link.handle_transport(self.now, input),
        }
        self.drain();
    }

    fn message(&mut self, stream: u16, fsn: u32, bsn: u32, body: Body) {
        let number = |number| SequenceNumber::new(number).unwrap();
        let mut octets = Vec::new();
        Message { bsn: number(bsn), fsn: number(fsn), body }.emit(&mut octets);
        let message = TransportInput::Message {
            stream: StreamNumber(stream),
            payload_protocol: 5,
            octets: octets.into(),
        };
        self.link.handle_transport(self.now, message);
    }

    fn drain(&mut self) {
        for _ in 0..100 {
            match self.link.poll_output(self.now) {
                Output::Indication(indication) => self.check_indication(&indication),
                Output::Transmit(transmit) => {
                    let message = Message::parse(&transmit.octets).unwrap();
                    self.taken = message.bsn.number();
                }
                Output::Wait(deadline) => {
                    assert!(deadline.is_none_or(|deadline| deadline > self.now), "time does not go on");
                    self.check();
                    return;
                }
            }
        }
        panic!("the link does not come to rest");
    }

    /// In service is told once, before it is out of service again.
    fn check_indication(&mut self, indication: &LinkIndication) {
        match indication {
            LinkIndication::InService => {
                assert!(!self.is_in_service, "in service is indicated twice");
                self.is_in_service = true;
            }
            LinkIndication::OutOfService(_) => self.is_in_service = false,
            _ => {}
        }
    }

    fn check(&self) {
        assert!(self.link.to_send() <= BUFFER_MAX && self.link.held() <= HELD_MAX);
        let counters = self.link.counters();
        let gone = counters.acknowledged
            + counters.retrieved
            + counters.discarded.flushed_to_send
            + counters.discarded.not_retrieved;
        assert_eq!(counters.accepted, gone + self.link.to_send() as u64, "{counters:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_comes_the_link_neither_panics_nor_grows(
        steps in prop::collection::vec(any_step(), 1..200),
        proves: bool,
        repeats_busy: bool,
    ) {
        let interval = Duration::from_millis(50);
        let proving = if proves { Proving::Every { interval, filler_octets: 4 } } else { Proving::Omitted };
        let mut bench = Bench::new(proving, repeats_busy.then_some(Duration::from_millis(100)));
        bench.take(Step::Transport(TransportInput::Up { outbound_streams: 2 }));
        for step in steps {
            bench.take(step);
        }
    }
}
