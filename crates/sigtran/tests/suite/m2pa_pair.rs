//! Two links of M2PA over an association in memory, under random orders, time and failures: what one level 3 gives, the
//! other gets once and in order, by the link or by changeover.
use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sigtran::m2pa::{
    CongestionThreshold, Link, LinkConfig, LinkState, Output, PAYLOAD_PROTOCOL, Proving,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_testkit::{Wire, WireFaults};

/// A message on its way, with its stream.
type Carried = (StreamNumber, Vec<u8>);

/// One end: a link, its level 3, and the two streams towards the other end.
struct End {
    link: Link,
    streams: [Wire<Carried>; 2],
    /// Number of messages that level 3 has given, which are numbered from 0.
    given: u32,
    /// Messages that level 3 has got from the other end, by the link or by changeover.
    got: Vec<u32>,
    /// Since the last start.
    indicated: Vec<LinkIndication>,
    is_started: bool,
    status: u8,
}

struct Pair {
    now: Instant,
    ends: [End; 2],
    is_associated: bool,
    /// Failures of the link that led to changeover.
    changeovers: u32,
}

#[derive(Clone, Debug)]
enum Step {
    Associate,
    Elapse(u64),
    Flush(usize),
    LoseAssociation,
    ReceiveCongestion(usize, bool),
    Request(usize, LinkRequest),
    RestartAssociation,
    Send(usize, u32),
    Start,
    TransportCongestion(usize, bool),
}

fn msu(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn number(msu: &Bytes) -> u32 {
    u32::from_be_bytes(msu[..].try_into().unwrap())
}

const BUFFER_MAX: usize = 40;
const HELD_MAX: usize = 16;

impl Pair {
    /// With that proving, and delays of the two streams.
    fn new(proving: Proving, delays_ms: [u64; 2]) -> Self {
        let config = LinkConfig {
            proving,
            outstanding_max: 8,
            buffer_max: BUFFER_MAX,
            congestion: vec![CongestionThreshold { onset: 16, abatement: 8 }],
            held_max: HELD_MAX,
            ..LinkConfig::default()
        };
        let end = |name: &str| {
            let wire = |stream: usize| {
                let faults = WireFaults::none(Duration::from_millis(delays_ms[stream]));
                Wire::new(faults, Seed::new(1, 0).stream(name))
            };
            End {
                link: Link::new(AssociationNumber(0), config.clone()).unwrap(),
                streams: [wire(0), wire(1)],
                given: 0,
                got: Vec::new(),
                indicated: Vec::new(),
                is_started: false,
                status: 0,
            }
        };
        Self { now: Instant::START, ends: [end("a"), end("b")], is_associated: false, changeovers: 0 }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Associate => self.associate(),
            Step::Elapse(millis) => self.elapse(Duration::from_millis(millis)),
            Step::Flush(end) => self.request(end, LinkRequest::FlushBuffers),
            Step::LoseAssociation => self.lose_association(),
            Step::ReceiveCongestion(end, is_congested) => {
                self.ends[end].link.handle_receive_congestion(self.now, is_congested);
                self.drain(end);
            }
            Step::Request(end, ref request) => self.request(end, request.clone()),
            Step::RestartAssociation => {
                if self.is_associated {
                    self.empty_wires();
                    for end in [0, 1] {
                        self.transport(end, TransportInput::Restart);
                    }
                }
            }
            Step::Send(end, count) => {
                for _ in 0..count {
                    self.send(end);
                }
            }
            Step::Start => self.start(),
            Step::TransportCongestion(end, is_congested) => {
                self.transport(end, TransportInput::Congested(is_congested));
            }
        }
        self.check();
    }

    fn associate(&mut self) {
        if !self.is_associated {
            self.is_associated = true;
            for end in [0, 1] {
                self.transport(end, TransportInput::Up { outbound_streams: 2 });
            }
        }
    }

    fn lose_association(&mut self) {
        if self.is_associated {
            self.is_associated = false;
            self.empty_wires();
            for end in [0, 1] {
                self.transport(end, TransportInput::Down);
            }
        }
    }

    fn empty_wires(&mut self) {
        for wire in self.ends.iter_mut().flat_map(|end| &mut end.streams) {
            while let Some(arrival) = wire.next_arrival() {
                wire.receive(arrival);
            }
        }
    }

    fn start(&mut self) {
        for end in [0, 1] {
            if !self.ends[end].is_started {
                self.ends[end].is_started = true;
                self.request(end, LinkRequest::Start);
            }
        }
    }

    /// Level 3 gives a message once it has started the link; refused ones have no number.
    fn send(&mut self, end: usize) {
        if !self.ends[end].is_started {
            return;
        }
        let accepted = self.ends[end].link.counters().accepted;
        let given = self.ends[end].given;
        self.request(end, LinkRequest::Transmit(msu(given)));
        if self.ends[end].link.counters().accepted > accepted {
            self.ends[end].given += 1;
        } else {
            assert_eq!(self.ends[end].status, 1, "a message is refused before congestion is indicated");
        }
    }

    fn request(&mut self, end: usize, request: LinkRequest) {
        self.ends[end].link.handle_request(self.now, request);
        self.drain(end);
    }

    fn transport(&mut self, end: usize, input: TransportInput) {
        self.ends[end].link.handle_transport(self.now, input);
        self.drain(end);
    }

    /// Does what an end asks for. When its link fails, level 3 changes over.
    fn drain(&mut self, at: usize) {
        loop {
            match self.ends[at].link.poll_output(self.now) {
                Output::Indication(LinkIndication::Received(msu)) => self.get(at, &msu),
                Output::Indication(LinkIndication::Congestion(status)) => self.ends[at].status = status,
                Output::Indication(LinkIndication::RemoteProcessorRecovered) => {
                    self.ends[at].link.handle_request(self.now, LinkRequest::Continue);
                }
                Output::Indication(indication) => self.ends[at].indicated.push(indication),
                Output::Transmit(transmit) => {
                    assert_eq!(transmit.payload_protocol, PAYLOAD_PROTOCOL);
                    if self.is_associated {
                        let wire = &mut self.ends[at].streams[usize::from(transmit.stream.0)];
                        wire.send(self.now, (transmit.stream, transmit.octets.to_vec()));
                    }
                }
                Output::Wait(deadline) => {
                    assert!(
                        deadline.is_none_or(|deadline| deadline >= self.now),
                        "a deadline lies in the past"
                    );
                    break;
                }
            }
        }
        let has_failed = |indication: &LinkIndication| matches!(indication, LinkIndication::OutOfService(_));
        if self.ends[at].is_started && self.ends[at].indicated.iter().any(has_failed) {
            self.change_over();
        }
    }

    /// Level 3 at `at` gets a message of the other end.
    fn get(&mut self, at: usize, msu: &Bytes) {
        let got = &mut self.ends[at].got;
        let next = got.last().map_or(0, |last| last + 1);
        assert!(number(msu) >= next, "{} comes again, or late", number(msu));
        got.push(number(msu));
    }

    /// Both level 3s take the link out of service, tell each other what they have got, and send the rest another way.
    fn change_over(&mut self) {
        self.changeovers += 1;
        for end in [0, 1] {
            self.ends[end].is_started = false;
        }
        let numbers = [0, 1].map(|end| {
            self.request(end, LinkRequest::Stop);
            self.ends[end].indicated.clear();
            self.request(end, LinkRequest::RetrieveBsnt);
            match self.ends[end].indicated[..] {
                [LinkIndication::Bsnt(fsn)] => fsn,
                ref indicated => panic!("no number is indicated but {indicated:?}"),
            }
        });
        for end in [0, 1] {
            self.ends[end].indicated.clear();
            self.request(end, LinkRequest::RetrieveMessagesAfter(numbers[1 - end]));
            let mut indicated = std::mem::take(&mut self.ends[end].indicated);
            assert_eq!(indicated.pop(), Some(LinkIndication::RetrievalComplete));
            for indication in indicated {
                let LinkIndication::Retrieved(msu) = indication else { panic!("{indication:?}") };
                self.get(1 - end, &msu);
            }
        }
        // Nothing of this life of the link arrives in the same instant as what begins the next.
        self.now += Duration::from_millis(1);
    }

    fn elapse(&mut self, duration: Duration) {
        let end = self.now + duration;
        let mut at_once = 0;
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            at_once = if next > self.now { 0 } else { at_once + 1 };
            assert!(at_once < 1_000, "time does not go on");
            self.now = self.now.max(next);
            self.run_due();
        }
        self.now = self.now.max(end);
    }

    fn next_event(&mut self) -> Option<Instant> {
        let now = self.now;
        let arrivals = self.ends.iter().flat_map(|end| &end.streams).filter_map(Wire::next_arrival).min();
        let deadlines = self.ends.iter_mut().filter_map(|end| match end.link.poll_output(now) {
            Output::Wait(deadline) => deadline,
            output => panic!("{output:?} was not asked for"),
        });
        deadlines.chain(arrivals).min()
    }

    fn run_due(&mut self) {
        for at in [0, 1] {
            for stream in [0, 1] {
                while let Some((stream, octets)) = self.ends[at].streams[stream].receive(self.now) {
                    let octets = octets.into();
                    let message =
                        TransportInput::Message { stream, payload_protocol: PAYLOAD_PROTOCOL, octets };
                    self.transport(1 - at, message);
                }
            }
        }
        for at in [0, 1] {
            self.ends[at].link.handle_deadline(self.now);
            self.drain(at);
        }
    }

    /// Checks the invariants, which hold at any time.
    fn check(&self) {
        for end in &self.ends {
            assert!(end.link.to_send() <= BUFFER_MAX && end.link.held() <= HELD_MAX);
            let counters = end.link.counters();
            let gone = counters.acknowledged
                + counters.retrieved
                + counters.discarded.flushed_to_send
                + counters.discarded.not_retrieved;
            assert_eq!(counters.accepted, gone + end.link.to_send() as u64, "{counters:?}");
            assert_eq!(counters.accepted, u64::from(end.given));
        }
    }

    /// Ends with a failure and a changeover, so that all that was given must have arrived.
    fn finish(&mut self) {
        self.check();
        self.start();
        self.lose_association();
        if self.ends[0].is_started {
            self.change_over();
        }
    }

    fn check_all_arrived(&self) {
        for at in [0, 1] {
            let expected: Vec<u32> = (0..self.ends[1 - at].given).collect();
            assert_eq!(self.ends[at].got, expected, "to {at}, after {} changeovers", self.changeovers);
        }
    }
}

fn any_end() -> impl Strategy<Value = usize> {
    0_usize..2
}

/// Orders that lose nothing by themselves.
fn any_step() -> impl Strategy<Value = Step> {
    let request = prop_oneof![
        3 => Just(LinkRequest::LocalProcessorOutage),
        3 => Just(LinkRequest::LocalProcessorRecovered),
        1 => Just(LinkRequest::Continue),
        2 => Just(LinkRequest::Emergency),
        1 => Just(LinkRequest::EmergencyCeases),
        1 => Just(LinkRequest::Stop),
        1 => Just(LinkRequest::RetrieveBsnt),
    ];
    prop_oneof![
        2 => Just(Step::Associate),
        6 => (0_u64..1_500).prop_map(Step::Elapse),
        4 => (8_000_u64..12_000).prop_map(Step::Elapse),
        1 => Just(Step::LoseAssociation),
        2 => (any_end(), any::<bool>()).prop_map(|(end, on)| Step::ReceiveCongestion(end, on)),
        5 => (any_end(), request).prop_map(|(end, request)| Step::Request(end, request)),
        1 => Just(Step::RestartAssociation),
        10 => (any_end(), 1_u32..12).prop_map(|(end, count)| Step::Send(end, count)),
        4 => Just(Step::Start),
        1 => (any_end(), any::<bool>()).prop_map(|(end, on)| Step::TransportCongestion(end, on)),
    ]
}

fn run(pair: &mut Pair, steps: &[Step]) {
    pair.take(&Step::Associate);
    pair.take(&Step::Start);
    for step in steps {
        pair.take(step);
    }
}

const PROVING: Proving = Proving::Every { interval: Duration::from_millis(100), filler_octets: 8 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_message_arrives_once_and_in_order(
        steps in prop::collection::vec(any_step(), 1..80),
        delays_ms in [1_u64..300, 1_u64..300],
    ) {
        let mut pair = Pair::new(PROVING, delays_ms);
        run(&mut pair, &steps);
        pair.finish();
        pair.check_all_arrived();
    }

    #[test]
    fn every_message_arrives_once_without_proving(
        steps in prop::collection::vec(any_step(), 1..80),
        delay_ms in 1_u64..300,
    ) {
        let mut pair = Pair::new(Proving::Omitted, [delay_ms; 2]);
        run(&mut pair, &steps);
        pair.finish();
        pair.check_all_arrived();
    }

    #[test]
    fn flushing_loses_only_what_was_flushed(
        steps in prop::collection::vec(
            prop_oneof![9 => any_step(), 1 => any_end().prop_map(Step::Flush)],
            1..80,
        ),
        delay_ms in 1_u64..300,
    ) {
        let mut pair = Pair::new(PROVING, [delay_ms; 2]);
        run(&mut pair, &steps);
        pair.finish();
        for at in [0, 1] {
            // What was flushed may have arrived before: no more can be missing than was flushed.
            let missing = u64::from(pair.ends[1 - at].given) - pair.ends[at].got.len() as u64;
            prop_assert!(missing <= pair.ends[1 - at].link.counters().discarded.flushed_to_send);
        }
    }
}

/// Courses that random ones found, each of which once delivered a message twice or lost it.
fn check_course(proving: Proving, delay_ms: u64, steps: &[Step]) {
    let mut pair = Pair::new(proving, [delay_ms; 2]);
    run(&mut pair, steps);
    pair.finish();
    pair.check_all_arrived();
}

#[test]
fn what_is_given_before_there_is_an_association_is_kept() {
    check_course(
        Proving::Omitted,
        1,
        &[Step::LoseAssociation, Step::Start, Step::Send(0, 1), Step::Associate],
    );
}

#[test]
fn a_message_that_the_peer_took_after_it_said_ready_is_not_handed_back() {
    let steps = [
        Step::Send(1, 1),
        Step::Elapse(8_478),
        Step::TransportCongestion(1, true),
        Step::Send(0, 1),
        Step::Elapse(195),
    ];
    check_course(PROVING, 70, &steps);
}

#[test]
fn a_ready_of_an_earlier_life_does_not_align() {
    let stop = Step::Request(0, LinkRequest::Stop);
    check_course(
        Proving::Omitted,
        241,
        &[Step::Send(0, 1), Step::Elapse(720), stop, Step::Start, Step::Elapse(89)],
    );
}

#[test]
fn an_outage_that_ends_before_service_does_not_repeat_a_message() {
    let steps = [
        Step::LoseAssociation,
        Step::Start,
        Step::Request(1, LinkRequest::LocalProcessorOutage),
        Step::Send(0, 1),
        Step::Associate,
        Step::Elapse(192),
        Step::Request(1, LinkRequest::LocalProcessorRecovered),
        Step::TransportCongestion(0, true),
        Step::Elapse(192),
    ];
    check_course(Proving::Omitted, 97, &steps);
}

#[test]
fn a_link_without_failures_delivers_by_itself() {
    let mut pair = Pair::new(PROVING, [350, 350]);
    let steps = [Step::Elapse(12_000), Step::Send(0, 10), Step::Send(1, 10), Step::Elapse(5_000)];
    run(&mut pair, &steps);
    assert_eq!(pair.changeovers, 0);
    assert!(pair.ends.iter().all(|end| end.link.state() == LinkState::InService));
    pair.check_all_arrived();
}

#[test]
fn outages_of_both_ends_pass_without_a_changeover() {
    let mut pair = Pair::new(PROVING, [150, 150]);
    let outage = |end| Step::Request(end, LinkRequest::LocalProcessorOutage);
    let recovered = |end| Step::Request(end, LinkRequest::LocalProcessorRecovered);
    let goes_on = |end| Step::Request(end, LinkRequest::Continue);
    let steps = [
        Step::Elapse(12_000),
        Step::Send(0, 10),
        outage(1),
        Step::Send(1, 3),
        Step::Elapse(100),
        outage(0),
        Step::Elapse(1_000),
        recovered(1),
        Step::Elapse(20),
        recovered(0),
        goes_on(0),
        Step::Elapse(100),
        outage(1),
        recovered(1),
        goes_on(1),
        Step::Send(1, 3),
        Step::Elapse(5_000),
    ];
    run(&mut pair, &steps);
    assert_eq!(pair.changeovers, 0);
    assert!(pair.ends.iter().all(|end| end.link.state() == LinkState::InService));
    pair.check_all_arrived();
}

#[test]
fn ends_that_finish_proving_at_different_times_both_come_into_service() {
    for proving in [PROVING, Proving::Omitted] {
        let mut pair = Pair::new(proving, [200, 350]);
        pair.take(&Step::Associate);
        pair.ends[0].is_started = true;
        pair.request(0, LinkRequest::Start);
        pair.take(&Step::Elapse(5_000));
        pair.take(&Step::Start);
        pair.take(&Step::Elapse(3_000));
        // The peer alone hurries, and is done long before.
        pair.request(1, LinkRequest::Emergency);
        pair.take(&Step::Elapse(20_000));
        assert!(pair.ends.iter().all(|end| end.link.state() == LinkState::InService), "{proving:?}");
        assert_eq!(pair.changeovers, 0);
    }
}
