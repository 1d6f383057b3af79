//! The point under test, A, and everything around it: links that do what they are told, and points that say what the
//! test has them say.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::node::{
    Config, DestinationConfig, DiscardReason, Function, LinkConfig, LinkSetConfig, ManagementEvent,
    Mtp3LinkId, Mtp3Timer, Output, Procedure, RouteConfig, SequenceNumbers, Timers,
};
use slantpath_ss7::mtp3::{
    Fsn, ManagementLayout, ManagementMessage, Msu, Node, RoutingLabel, ServiceIndicator, ServiceInformation,
    Slc, Sls, TestMessage,
};
use slantpath_ss7::transfer::{Transfer, TransferIndication};
use slantpath_ss7::{PointCode, PointCodeFormat};

pub(crate) const A: u32 = 1;
pub(crate) const B: u32 = 2;
pub(crate) const C: u32 = 3;
pub(crate) const D: u32 = 4;
pub(crate) const E: u32 = 5;
pub(crate) const F: u32 = 6;

/// The least time: so long before a timer expires, it has not expired.
pub(crate) const MOMENT: Duration = Duration::from_nanos(1);

/// Instant at which links are started that are started at once.
pub(crate) const START: Instant = Instant::from_secs(1);

/// Values of the timers of A, in milliseconds. No two are alike, so that none can stand for another.
const TIMES: [(Mtp3Timer, u64); 25] = [
    (Mtp3Timer::T1, 800),
    (Mtp3Timer::T2, 1_400),
    (Mtp3Timer::T3, 810),
    (Mtp3Timer::T4, 820),
    (Mtp3Timer::T5, 830),
    (Mtp3Timer::T6, 840),
    (Mtp3Timer::T7, 1_500),
    (Mtp3Timer::T8, 1_000),
    (Mtp3Timer::T10, 45_000),
    (Mtp3Timer::T11, 61_000),
    (Mtp3Timer::T12, 1_210),
    (Mtp3Timer::T13, 1_220),
    (Mtp3Timer::T14, 2_500),
    (Mtp3Timer::T15, 2_600),
    (Mtp3Timer::T16, 1_700),
    (Mtp3Timer::T17, 1_450),
    (Mtp3Timer::T18, 20_000),
    (Mtp3Timer::T19, 68_000),
    (Mtp3Timer::T20, 60_500),
    (Mtp3Timer::T21, 64_000),
    (Mtp3Timer::T22, 270_000),
    (Mtp3Timer::T23, 280_000),
    (Mtp3Timer::T24, 500),
    (Mtp3Timer::TestT1, 8_000),
    (Mtp3Timer::TestT2, 62_000),
];

/// A management message that A sent: over which link, to whom, about which link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) over: u16,
    pub(crate) to: u32,
    pub(crate) slc: u8,
    pub(crate) message: ManagementMessage,
}

/// A user's message that A sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) over: u16,
    pub(crate) to: u32,
    pub(crate) sls: u8,
    pub(crate) number: u32,
}

#[derive(Debug)]
pub(crate) struct Tester {
    pub(crate) now: Instant,
    pub(crate) node: Node,
    /// True if the far ends answer link tests.
    pub(crate) answers_tests: bool,
    /// True if links come into service when started.
    pub(crate) aligns: bool,
    /// Messages that each link holds since it was started: the n-th has number n.
    buffers: BTreeMap<u16, Vec<Bytes>>,
    /// The number that each link says it accepted last; none if it cannot.
    pub(crate) bsnt: Option<u32>,
    /// The number after which messages were asked back; none for those never sent.
    pub(crate) asked_after: Vec<(u16, Option<u32>)>,
    pub(crate) requests: Vec<(u16, LinkRequest)>,
    said: Vec<Said>,
    carried: Vec<Carried>,
    pub(crate) tests: Vec<(u16, Vec<u8>)>,
    pub(crate) indications: Vec<TransferIndication>,
    pub(crate) events: Vec<ManagementEvent>,
}

fn links(adjacent: u32, count: u8) -> LinkSetConfig {
    let link = |slc| LinkConfig { name: format!("{slc}"), slc: Slc(slc), sequence: SequenceNumbers::Bits7 };
    LinkSetConfig {
        name: adjacent.to_string(),
        adjacent: PointCode(adjacent),
        links: (0..count).map(link).collect(),
    }
}

fn route(destination: u32, over: &[(u32, u8)]) -> DestinationConfig {
    let routes =
        over.iter().map(|(set, priority)| RouteConfig { link_set: set.to_string(), priority: *priority });
    DestinationConfig { point_code: PointCode(destination), routes: routes.collect() }
}

fn end_point(link_sets: Vec<LinkSetConfig>, destinations: Vec<DestinationConfig>) -> Config {
    let mut config = Config::new("A", PointCode(A));
    config.restart = Procedure::Omitted;
    let set = |timers: Timers, (timer, millis)| timers.with(timer, Duration::from_millis(millis));
    config.timers = TIMES.into_iter().fold(Timers::default(), set);
    config.link_sets = link_sets;
    config.destinations = destinations;
    config
}

/// One link set from A to B: links 0 and up.
pub(crate) fn configuration_a(count: u8) -> Config {
    end_point(vec![links(B, count)], Vec::new())
}

/// A with B (links 0 and 1) and C (2 and 3), which are joined. D lies behind both, B first; E behind B alone.
pub(crate) fn configuration_b() -> Config {
    end_point(
        vec![links(B, 2), links(C, 2)],
        vec![
            route(B, &[(B, 0), (C, 1)]),
            route(C, &[(C, 0), (B, 1)]),
            route(D, &[(B, 0), (C, 1)]),
            route(E, &[(B, 0)]),
        ],
    )
}

/// Variant of [`configuration_b`] with a combined link set to D.
pub(crate) fn configuration_c() -> Config {
    let mut config = configuration_b();
    config.destinations[2] = route(D, &[(B, 0), (C, 0)]);
    config
}

/// A transfers: B (links 0 and 1), C (2 and 3), F (4). D lies behind B first and C second, E behind B alone.
pub(crate) fn configuration_d() -> Config {
    let mut config = configuration_b();
    config.function = Function::TransferPoint;
    config.link_sets.push(links(F, 1));
    config
}

impl Tester {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            now: START,
            node: Node::new(config).unwrap(),
            answers_tests: true,
            aligns: true,
            buffers: BTreeMap::new(),
            bsnt: Some(0),
            asked_after: Vec::new(),
            requests: Vec::new(),
            said: Vec::new(),
            carried: Vec::new(),
            tests: Vec::new(),
            indications: Vec::new(),
            events: Vec::new(),
        }
    }

    /// With every link available and nothing left over from that.
    pub(crate) fn ready(config: Config) -> Self {
        let mut tester = Self::new(config);
        tester.activate_all();
        tester.pass(Duration::from_secs(3));
        tester.forget();
        tester
    }

    pub(crate) fn activate_all(&mut self) {
        let count: usize = self.node.config().link_sets.iter().map(|set| set.links.len()).sum();
        for link in 0..u16::try_from(count).unwrap() {
            self.node.activate(self.now, Mtp3LinkId(link));
            self.drain();
        }
    }

    pub(crate) fn forget(&mut self) {
        self.said.clear();
        self.carried.clear();
        self.requests.clear();
        self.tests.clear();
        self.indications.clear();
        self.events.clear();
        self.asked_after.clear();
    }

    /// Takes the management messages that A sent since this was asked last.
    pub(crate) fn said(&mut self) -> Vec<Said> {
        self.drain();
        core::mem::take(&mut self.said)
    }

    /// The messages alone.
    pub(crate) fn messages(&mut self) -> Vec<ManagementMessage> {
        self.said().into_iter().map(|said| said.message).collect()
    }

    /// The messages with their receivers, in the order of these.
    pub(crate) fn sent(&mut self) -> Vec<(u32, ManagementMessage)> {
        let mut sent: Vec<_> = self.said().into_iter().map(|said| (said.to, said.message)).collect();
        sent.sort_by_key(|(to, _)| *to);
        sent
    }

    pub(crate) fn carried(&mut self) -> Vec<Carried> {
        self.drain();
        core::mem::take(&mut self.carried)
    }

    /// The links that user messages took, without repetition.
    pub(crate) fn links_used(&mut self) -> Vec<u16> {
        let mut links: Vec<_> = self.carried().into_iter().map(|carried| carried.over).collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    pub(crate) fn discarded(&self, reason: DiscardReason) -> u64 {
        self.node.counters().discarded(reason)
    }

    pub(crate) fn is_available(&self, link: u16) -> bool {
        self.node.is_link_available(Mtp3LinkId(link))
    }

    /// A user of A sends a message.
    pub(crate) fn send(&mut self, to: u32, sls: u8, number: u32) {
        let result = self.try_send(to, sls, number);
        assert_eq!(result, Ok(()));
    }

    pub(crate) fn try_send(&mut self, to: u32, sls: u8, number: u32) -> Result<(), DiscardReason> {
        self.try_send_with(to, sls, number, 0)
    }

    pub(crate) fn try_send_with(
        &mut self,
        to: u32,
        sls: u8,
        number: u32,
        priority: u8,
    ) -> Result<(), DiscardReason> {
        let network = self.node.config().network;
        let transfer = Transfer {
            service: ServiceInformation { indicator: ServiceIndicator::SCCP, network, priority },
            label: RoutingLabel { dpc: PointCode(to), opc: PointCode(A), sls: Sls(sls) },
            user_data: Bytes::copy_from_slice(&number.to_be_bytes()),
        };
        let result = self.node.transfer(self.now, &transfer);
        self.drain();
        result
    }

    /// One message for each value of the SLS.
    pub(crate) fn send_all(&mut self, to: u32) {
        for sls in 0..16 {
            self.send(to, sls, u32::from(sls));
        }
    }

    /// A user's message arrives over a link.
    pub(crate) fn bring(&mut self, over: u16, from: u32, to: u32, sls: u8, number: u32) {
        self.bring_with(over, from, to, sls, number, 0);
    }

    pub(crate) fn bring_with(&mut self, over: u16, from: u32, to: u32, sls: u8, number: u32, priority: u8) {
        let network = self.node.config().network;
        let service = ServiceInformation { indicator: ServiceIndicator::SCCP, network, priority };
        let label = RoutingLabel { dpc: PointCode(to), opc: PointCode(from), sls: Sls(sls) };
        self.bring_msu(over, &Msu { service, label, user_part: &number.to_be_bytes() });
    }

    pub(crate) fn bring_msu(&mut self, over: u16, msu: &Msu<'_>) {
        let mut octets = Vec::new();
        msu.emit(PointCodeFormat::Itu, &mut octets);
        self.link(over, LinkIndication::Received(octets.into()));
    }

    /// A point says something to A over a link, about the link with that code.
    pub(crate) fn say(&mut self, over: u16, from: u32, slc: u8, message: ManagementMessage) {
        let mut user_part = Vec::new();
        message.emit(ManagementLayout::Itu, Slc(slc), &mut user_part);
        let network = self.node.config().network;
        let service = ServiceInformation { indicator: ServiceIndicator::MANAGEMENT, network, priority: 0 };
        let label = RoutingLabel { dpc: PointCode(A), opc: PointCode(from), sls: Sls(slc) };
        self.bring_msu(over, &Msu { service, label, user_part: &user_part });
    }

    pub(crate) fn link(&mut self, link: u16, indication: LinkIndication) {
        self.node.handle_link(self.now, Mtp3LinkId(link), indication);
        self.drain();
    }

    /// A link fails and does not come back by itself.
    pub(crate) fn fail(&mut self, link: u16) {
        self.aligns = false;
        self.link(link, LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    }

    /// Links come back, at the latest after T17.
    pub(crate) fn restore(&mut self, link: u16) {
        self.aligns = true;
        self.link(link, LinkIndication::InService);
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.drain();
            match self.node.poll_output(self.now) {
                Output::Wait(Some(deadline)) if deadline <= end => self.now = deadline,
                Output::Wait(_) => break,
                other => panic!("{other:?} was not drained"),
            }
        }
        self.now = end;
        self.drain();
    }

    /// Lets a timer that starts now expire. Nothing happens until the moment when it does.
    pub(crate) fn expire(&mut self, timer: Mtp3Timer) {
        self.expire_since(self.now, timer);
    }

    /// Variant of `expire` for a timer that was started before.
    pub(crate) fn expire_since(&mut self, start: Instant, timer: Mtp3Timer) {
        self.drain();
        let before = self.happened(timer);
        self.pass_until_just_before(start, timer);
        assert_eq!(self.happened(timer), before, "something happened before {timer} expired");
        self.pass(MOMENT);
    }

    /// Lets time pass until the moment before a timer expires, whatever happens meanwhile.
    pub(crate) fn pass_until_just_before(&mut self, start: Instant, timer: Mtp3Timer) {
        let (_, millis) = TIMES.into_iter().find(|(of, _)| *of == timer).unwrap();
        self.pass(start + Duration::from_millis(millis) - MOMENT - self.now);
    }

    /// Counts what A has done, by its kind. Link tests go on beside everything else, and count for their own timers.
    fn happened(&self, timer: Mtp3Timer) -> [usize; 6] {
        let tests = if matches!(timer, Mtp3Timer::TestT1 | Mtp3Timer::TestT2) { self.tests.len() } else { 0 };
        let (said, carried, requests) = (self.said.len(), self.carried.len(), self.requests.len());
        [said, carried, requests, self.indications.len(), self.events.len(), tests]
    }

    fn drain(&mut self) {
        loop {
            match self.node.poll_output(self.now) {
                Output::Wait(_) => return,
                Output::Indication(user, indication) if user == ServiceIndicator::SCCP => {
                    self.indications.push(indication);
                }
                Output::Indication(..) => {}
                Output::Management(event) => self.events.push(event),
                Output::Link(Mtp3LinkId(link), request) => self.request(link, request),
            }
        }
    }

    fn request(&mut self, link: u16, request: LinkRequest) {
        let mut answers = Vec::new();
        match &request {
            LinkRequest::Start => {
                self.buffers.insert(link, Vec::new());
                if self.aligns {
                    answers.push(LinkIndication::InService);
                }
            }
            LinkRequest::RetrieveBsnt => answers.push(match self.bsnt {
                Some(number) => LinkIndication::Bsnt(Fsn(number)),
                None => LinkIndication::BsntNotRetrievable,
            }),
            LinkRequest::RetrieveMessagesAfter(Fsn(number)) => {
                self.asked_after.push((link, Some(*number)));
                let buffer = self.buffers.entry(link).or_default();
                if *number as usize <= buffer.len() {
                    answers.extend(buffer.drain(*number as usize..).map(LinkIndication::Retrieved));
                    answers.push(LinkIndication::RetrievalComplete);
                } else {
                    answers.push(LinkIndication::RetrievalNotPossible);
                }
            }
            // All that was given to the link has been sent.
            LinkRequest::RetrieveUnsent => {
                self.asked_after.push((link, None));
                answers.push(LinkIndication::RetrievalComplete);
            }
            LinkRequest::Transmit(octets) => self.transmitted(link, octets, &mut answers),
            _ => {}
        }
        if !matches!(request, LinkRequest::Transmit(_)) {
            self.requests.push((link, request));
        }
        for answer in answers {
            self.link(link, answer);
        }
    }

    fn transmitted(&mut self, link: u16, octets: &Bytes, answers: &mut Vec<LinkIndication>) {
        let msu = Msu::parse(octets, PointCodeFormat::Itu).unwrap();
        let (to, sls) = (msu.label.dpc.0, msu.label.sls);
        match msu.service.indicator {
            ServiceIndicator::MANAGEMENT => {
                let parsed = ManagementMessage::parse(msu.user_part, ManagementLayout::Itu, sls);
                let (message, slc) = parsed.unwrap();
                self.said.push(Said { over: link, to, slc: slc.0, message });
            }
            ServiceIndicator::TEST => {
                self.tests.push((link, msu.user_part.to_vec()));
                let parsed = TestMessage::parse(msu.user_part, ManagementLayout::Itu, sls).unwrap();
                if let (TestMessage::Sltm(pattern), true) = (parsed.0, self.answers_tests) {
                    answers.push(LinkIndication::Received(answer(&msu, pattern)));
                }
            }
            _ => {
                self.buffers.entry(link).or_default().push(octets.clone());
                let number = u32::from_be_bytes(msu.user_part.try_into().unwrap());
                self.carried.push(Carried { over: link, to, sls: sls.0, number });
            }
        }
    }
}

/// The SLTA for an SLTM.
pub(crate) fn answer(sltm: &Msu<'_>, pattern: &[u8]) -> Bytes {
    let mut user_part = Vec::new();
    TestMessage::Slta(pattern).emit(ManagementLayout::Itu, Slc(sltm.label.sls.0), &mut user_part);
    let mut octets = Vec::new();
    Msu { service: sltm.service, label: sltm.label.reversed(), user_part: &user_part }
        .emit(PointCodeFormat::Itu, &mut octets);
    octets.into()
}
